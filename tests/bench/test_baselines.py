"""`twinstep bench` of physics and of peers: other work is said, never measured as equal."""

import json

import pytest

from twinstep.candidates.rust import build as rust
from twinstep.cli import main
from twinstep.oracles.halfcheetah import upstream as mujoco

PEERS = """
import dataclasses

from twinstep.contracts.halfcheetah.declaration import HALFCHEETAH
from twinstep.bench.baselines import Baseline
from twinstep.candidates.halfcheetah.rust_halfcheetah import HalfCheetahRust32
from twinstep.environment import CandidateRef
from twinstep.oracles.halfcheetah.peer_physics import MjStep


class Lazy(HalfCheetahRust32):
    # Planted: the second half of a rollout's steps is not played.
    def advance(self, state, actions):
        return super().advance(state, actions[: len(actions) // 2])


class Heavy(MjStep):
    # Planted: a peer that says it has the same model, and steps half as often.
    def begin(self, seeds, actions):
        super().begin(seeds, actions[::2])


class Weak(HalfCheetahRust32):
    # Planted: actions of half the size.
    def auto_rollout(self, state, actions, when="same-step", out=None):
        return super().auto_rollout(state, actions / 2, when, out)


def broken(contract, job):
    import no_such_module


PEERS = (
    Baseline("mj_step", "mujoco", MjStep, "physics", "reference"),
    Baseline("slower", "mujoco", MjStep, "physics", "same", "the same again", work_at_most=8),
    Baseline("absent", "mujoco", broken, "physics", "same"),
    Baseline("elsewhere", "no_such_module", broken, "physics", "same"),
    Baseline("heavy", "mujoco", Heavy, "physics", "same"),
)
CHEETAH = dataclasses.replace(
    HALFCHEETAH,
    name="cheetah",
    oracle=dataclasses.replace(HALFCHEETAH.oracle, peers="planted_peers:PEERS"),
)
LAZY = CandidateRef("lazy", "planted_peers:Lazy")
WEAK = CandidateRef("weak", "planted_peers:Weak")
"""


@pytest.fixture
def cheetah(tmp_path, monkeypatch):
    problem = mujoco.probe({}).problem or rust.probe({}).problem
    if problem:
        pytest.skip(problem)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.twinstep.envs]\ncheetah = "planted_peers:CHEETAH"\n[tool.twinstep.candidates]\n'
        '"cheetah.lazy" = "planted_peers:LAZY"\n"cheetah.weak" = "planted_peers:WEAK"\n'
    )
    (tmp_path / "planted_peers.py").write_text(PEERS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bench(*args):
    return main(["bench", *args])


SMALL = ("--batch", "64", "--steps", "8", "--rounds", "2", "--threads", "1")


def test_peers_and_physics_are_measured_beside_backends_that_may_differ_in_bits(cheetah, capsys):
    """A peer that cannot start, or does other work, is said and left out; a slow one plays less."""
    assert bench("cheetah", "--backend", "rust", "--backend", "rust64", *SMALL) == 0, (
        capsys.readouterr().err
    )
    result = json.loads((cheetah / "benchmarks/cheetah.json").read_text())
    whole, physics = result["cells"]
    assert "obs" not in whole["compared"]
    assert {"terminated", "truncated", "state.elapsed"} <= set(whole["compared"])
    found = {r["name"]: r for r in physics["results"]}
    assert list(found) == ["mj_step", "rust", "rust64", "slower"]
    assert found["slower"]["steps"] == 1
    # Equal rates would be ratios of 1, though one played an eighth of the other's steps.
    fair = [found["rust"]["to_peers"]["slower"][n] / found["rust"]["ratio"]["plain"][n]
            for n in ("min", "max")]  # fmt: skip
    assert fair[0] > 0.05
    assert fair[1] < 20
    absent, heavy = physics["left_out"]
    assert absent.startswith("the process of absent: ModuleNotFoundError")
    assert "heavy has a mean elapsed squared of 16" in heavy
    table = (cheetah / "benchmarks/cheetah.md").read_text()
    assert "Bits may differ here" in table
    assert "- slower: the same again" in table
    assert "- not measured: the process of absent: ModuleNotFoundError" in table


def test_a_reference_that_cannot_start_is_never_left_out(cheetah, capsys):
    file = cheetah / "planted_peers.py"
    file.write_text(
        file.read_text().replace(
            '"mujoco", MjStep, "physics", "ref', '"mujoco", broken, "physics", "ref'
        )
    )
    assert bench("cheetah", "--backend", "rust", *SMALL) == 1
    assert "No module named 'no_such_module'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("backend", "says"),
    [
        ("lazy", "lazy has a mean elapsed squared of 16, the reference (mj_step) of 64"),
        ("weak", "weak has a mean return"),
    ],
)
def test_work_that_is_not_like_the_references_fails_the_command(cheetah, backend, says, capsys):
    assert bench("cheetah", "--backend", backend, *SMALL) == 1
    assert says in capsys.readouterr().err
