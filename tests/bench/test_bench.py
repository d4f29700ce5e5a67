"""`twinstep bench`: equal work is proven, unequal work fails, claims are checked. No times."""

import copy
import json
import os
import shlex

import pytest

from twinstep import cli
from twinstep.bench import claims
from twinstep.bench.command import _request
from twinstep.candidates.pong import rust_pong
from twinstep.cli import main
from twinstep.oracles.pong import upstream
from twinstep.tests.support.requirements import need

PYPROJECT = """
[tool.twinstep.envs]
skipping = "planted:SKIPPING"
hiding = "planted:HIDING"
bridged = "planted:BRIDGED"
counted = "planted:COUNTED"
untrained = "planted:UNTRAINED"
duel = "twinstep.tests.toys.duel:DUEL"

[tool.twinstep.candidates]
"bridged.greedy" = "planted:GREEDY"
"bridged.mortal" = "planted:MORTAL"
"bridged.generous" = "planted:GENEROUS"
"""
PLANTED = """
import dataclasses
import os
from types import SimpleNamespace

from twinstep.candidates.pong.rust_pong import PongRust
from twinstep.contracts.pong.declaration import PONG
from twinstep.environment import CandidateRef
from twinstep.oracles.pong import native


class Greedy(PongRust):
    def auto_rollout(self, state, actions, when="same-step", out=None):
        state, frame, final = super().auto_rollout(state, actions, when, out)
        frame.reward[-1, 3] += 0.25
        return state, frame, final


class Mortal(PongRust):
    def auto_rollout(self, state, actions, when="same-step", out=None):
        os._exit(7)


class Generous(PongRust):
    def auto_step(self, state, actions, when="same-step", out=None):
        state, frame, final = super().auto_step(state, actions, when, out)
        frame.reward[3] += 0.25
        return state, frame, final


def _wrong(part, ready):
    # The plain build, and one that plays on parts of the arrays.
    class Wrong(native.CompiledPong):
        def play(self):
            whole = self._buffers
            self._buffers = SimpleNamespace(**{n: part(n, a) for n, a in vars(whole).items()})
            super().play()
            self._buffers = whole

    Wrong.ready = ready

    def runners(contract, lanes, steps, threads):
        plain = native.runners(contract, lanes, steps, threads)[0]
        wrong = Wrong(contract, plain.player._libraries, plain.player._buffers, 64)
        return [plain, plain._replace(name="wrong", player=wrong)]

    return runners


# The last row still holds what the plain build wrote.
skips = _wrong(lambda name, array: array[:-1], lambda self: None)
# The games are played and not shown.
hides = _wrong(lambda name, array: array.copy() if name == "obs" else array,
               native.CompiledPong.ready)


def _with(bench):
    return dataclasses.replace(PONG, oracle=dataclasses.replace(PONG.oracle, bench=bench))


SKIPPING, HIDING = _with("planted:skips"), _with("planted:hides")
BRIDGED = dataclasses.replace(_with(""), name="bridged")


def _untrained(params):
    return dataclasses.replace(PONG.contract(params), transfer=None)


UNTRAINED = dataclasses.replace(PONG, name="untrained", contract=_untrained)


def counted(contract, lanes, steps, threads):
    plain = native.runners(contract, lanes, steps, threads)[0]
    facts = {"frames per step": contract.params["frameskip"]}
    return [plain._replace(about={**plain.about, "facts": facts})]


_COUNTED = dataclasses.replace(PONG.oracle, bench="planted:counted", measured=("fs8", "fs1"),
                               batches=(3, 5, 10**6))
COUNTED = dataclasses.replace(PONG, name="counted", oracle=_COUNTED)
GREEDY = CandidateRef("greedy", "planted:Greedy")
MORTAL = CandidateRef("mortal", "planted:Mortal")
GENEROUS = CandidateRef("generous", "planted:Generous")
"""
TINY = ("--batch", "70", "--steps", "30", "--rounds", "2", "--threads", "1")


@pytest.fixture(autouse=True)
def _runs_here():
    need(rust_pong.probe({}))
    need(upstream.probe({}))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("bench")
    (made / "pyproject.toml").write_text(PYPROJECT)
    (made / "planted.py").write_text(PLANTED)
    return made


@pytest.fixture(autouse=True)
def _inside(folder, monkeypatch):
    monkeypatch.chdir(folder)


def bench(*args):
    return main(["bench", *map(str, args)])


def test_every_backend_and_every_build_of_the_reference_does_the_same_work(tmp_path, capsys):
    """The run itself compares all checksums."""
    assert bench("pong", *TINY, "--out", tmp_path) == 0, capsys.readouterr().err
    result = json.loads((tmp_path / "pong.json").read_text())
    (cell,) = result["cells"]
    held = cell["results"]
    assert {r["checksum"] for r in held} == {cell["checksum"]}
    assert all(r["state_compared"] for r in held)
    assert len([r for r in held if not r["backend"]]) == 12
    assert {r["name"] for r in held if r["backend"]} == {
        f"{name}{how}" for name in ("jax", "rust") for how in ("", ", make().rollout")
    }
    assert sum(r["best_reference"] for r in held) == 1
    table = (tmp_path / "pong.md").read_text()
    assert "GPU: not measured" in table
    assert "-O3 -march=native -ffp-contract=off -ffinite-math-only" in table
    assert result["command"] in table


def test_an_environment_says_what_is_measured_and_what_the_work_is_like(tmp_path, capsys):
    """Variants, lanes (those beyond the largest batch left out) and facts for the table."""
    options = ("--backend", "rust", "--steps", "9", "--rounds", "1", "--threads", "1")
    assert bench("counted", *options, "--out", tmp_path) == 0, capsys.readouterr().err
    result = json.loads((tmp_path / "counted.json").read_text())
    measured = [(cell["variant"], cell["lanes"]) for cell in result["cells"]]
    assert measured == [("fs8", 3), ("fs8", 5), ("fs1", 3), ("fs1", 5)]
    table = (tmp_path / "counted.md").read_text()
    fs8, fs1 = table.split("## fs8")[1].split("## fs1")
    assert "frames per step: 8." in fs8
    assert "frames per step: 1." in fs1


@pytest.mark.slow
def test_training_gives_one_policy_in_the_reference_and_in_a_backend(tmp_path, capsys):
    """PPO end to end, with its time split; a backend that pays otherwise learns otherwise."""
    options = ("--threads", "1", "--rounds", "1", "--out", tmp_path)
    beside, alone = (
        (*options, *TINY[:-2], "--train"),
        (*options, "--variant", "fs8", "--train-only"),
    )
    assert bench("bridged", "--backend", "rust", *beside) == 0, capsys.readouterr().err
    assert bench("bridged", "--backend", "rust", *alone) == 0, capsys.readouterr().err
    found = json.loads((tmp_path / "bridged.json").read_text())["cells"]
    assert [cell["work"] for cell in found] == ["environment", "training"]
    result = json.loads((tmp_path / "training" / "bridged.json").read_text())
    (cell,) = result["cells"]
    assert cell["work"] == "training"
    assert result["command"].endswith("--train-only")
    oracle, rust = cell["results"]
    assert oracle["policy"] == rust["policy"]
    assert oracle["policy"] == rust["policy"]
    assert 0 < rust["environment_share"]["median"] < 1
    assert "## fs8, PPO" in (tmp_path / "bridged.md").read_text()
    told = (tmp_path / "training" / "bridged.md").read_text()
    assert "## fs8, PPO" in told
    assert "checksum" not in told
    assert f"- date: {result['date']}" in told
    assert bench("bridged", "--backend", "generous", *alone) == 1
    assert "generous, PPO learned another policy" in capsys.readouterr().err


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_two_threads_do_the_work_of_one(tmp_path):
    options = ("--backend", "rust", "--threads", "2", *TINY)
    assert bench("pong", *options, "--out", tmp_path) == 0
    cells = json.loads((tmp_path / "pong.json").read_text())["cells"]
    assert [cell["threads"] for cell in cells] == [2, 1]
    assert cells[0]["checksum"] == cells[1]["checksum"]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("skipping", "--backend", "rust"), "the reference (wrong) differs"),
        (("hiding", "--backend", "rust"), "(wrong) differs from the reference"),
        (("bridged", "--backend", "greedy"), "greedy differs from the reference"),
        (("bridged", "--backend", "mortal"), "the process of mortal ended"),
    ],
)
def test_unequal_work_fails_the_command(args, says, tmp_path, capsys):
    assert bench(*args, *TINY, "--out", tmp_path) == 1
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_claims_hold_fail_and_are_refused(tmp_path, capsys):
    """A reference without its own program is measured through its bridge, in fewer lanes."""
    command = ("bridged", "--backend", "rust", *TINY, "--out", tmp_path)
    assert bench(*command) == 0
    file = tmp_path / "bridged.json"
    result = json.loads(file.read_text())
    (cell,) = result["cells"]
    assert {r["lanes_played"] for r in cell["results"]} == {16, 70}
    assert "the first 16 lanes" in (tmp_path / "bridged.md").read_text()

    huge, doctored = copy.deepcopy(result), copy.deepcopy(result)
    for spread, made in (({"min": 0.0, "max": 1e12}, huge), ({"min": 1e9, "max": 1e9}, doctored)):
        for held in made["cells"][0]["results"]:
            for ratio in held["ratio"].values():
                ratio.update(spread)
    # Without options, what was committed is measured again, but for peers that are not here.
    huge["request"]["peers"] = "no/python"
    file.write_text(json.dumps(huge))
    assert bench("bridged", "--verify-claims", "--out", tmp_path) == 0
    said = capsys.readouterr().out
    assert "peers are left out: --peers no/python: no program to run: `make trainers" in said
    assert "5 of 5 claims hold" in said
    file.write_text(json.dumps(doctored))
    before = file.read_bytes()
    assert bench("bridged", "--verify-claims", "--out", tmp_path) == 1
    said = capsys.readouterr().out
    assert "FAILS  fs8, 1 thread, 70 lanes, rust to the best reference" in said
    assert "1 of 5 claims hold" in said
    assert file.read_bytes() == before

    again = copy.deepcopy(huge)
    again["cells"][0]["checksum"] = "0"
    assert len(claims.compare(again, result, 0.25)[1]) == 1
    again["cells"][0]["threads"] = 64
    assert "not in the committed result" in claims.compare(again, result, 0.25)[1][0]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("pnog",), "unknown environment 'pnog'; did you mean 'pong'?"),
        (("pong", "--variant", "fs9"), "unknown variant of pong 'fs9'"),
        (("pong", "--variant", "stock"), "pong@stock has no same-step auto-reset"),
        (("pong", "--backend", "jx"), "unknown candidate of pong 'jx'; did you mean 'jax'?"),
        (("untrained", "--train"), "--train: no variant of untrained declares a `transfer`"),
        (("untrained", "--train-only"), "no variant of untrained declares a `transfer`"),
        (("pong", "--train-only", "--batch", "8"), "--train-only plays level 4's batches"),
        (("pong", "--policy", "lstm"), "unknown policy 'lstm'"),
        (("pong", "--batch", "0"), "--batch 0: a number of at least 1"),
        (("pong", "--steps", "few"), "--steps few: a number"),
        (("pong", "--threads", "4096"), "this process may use"),
        (("pong", "--slack", "-1"), "--slack -1: a number of at least 0"),
        (("pong", "--verify-claims"), "measure once without --verify-claims"),
        (("pong", "--out", "/dev/null/here"), "results cannot be written there"),
        (("duel",), "duel-v0 has no `auto_step`"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_4(args, says, capsys):
    assert bench(*args) == 4
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("emurust", "--train-only"),
        ("pong", "--train", "--variant", "fs8", "--batch", "8"),
        ("halfcheetah", "--backend", "rust", "--rounds", "3", "--steps", "5"),
    ],
)
def test_the_command_that_a_result_names_asks_for_the_same(words):
    parser = cli._parser()
    asked = _request(parser.parse_args(["bench", *words]))
    again = shlex.split(asked.command())
    assert _request(parser.parse_args(again[1:])) == asked
    if words == ("emurust", "--train-only"):
        assert asked.variants == ("catch-values", "breakout-values")  # not those of random play


def test_a_table_is_shown_even_where_it_cannot_be_written(tmp_path, capsys):
    need(upstream.probe({}))
    (tmp_path / "pong.json").mkdir()
    assert bench("pong", "--backend", "rust", *TINY, "--out", tmp_path) == 4
    said = capsys.readouterr()
    assert "| rust" in said.out
    assert said.err.endswith("pong.json cannot be written (Is a directory): its table is above\n")
    assert said.err.count("\n") == 1


@pytest.mark.slow
def test_a_policy_in_the_loop_is_measured(tmp_path, capsys):
    args = ("pong", "--backend", "jax", "--policy", "mlp", *TINY, "--out", tmp_path)
    assert bench(*args) == 0, capsys.readouterr().err
    (cell,) = json.loads((tmp_path / "pong.json").read_text())["policies"]
    assert cell["results"][0]["parameters"] == 4996
    assert cell["results"][0]["checksum"] != cell["results"][1]["checksum"]
    assert "With a policy in the loop" in (tmp_path / "pong.md").read_text()
