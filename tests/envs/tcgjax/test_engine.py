"""The engine in JAX against the reference: two programs by two authors from one set of rules.

Without the harness and its reports; levels 1 to 3 compare the same two.
"""

import csv
from pathlib import Path

import jax
import numpy as np
import pytest

from twinstep.candidates.tcgjax.jax_tcgjax import TcgjaxJax
from twinstep.contracts.tcgjax.cards import codes
from twinstep.contracts.tcgjax.declaration import TCGJAX
from twinstep.frames import flatten
from twinstep.generated import tcgjax
from twinstep.generated.tcgjax import State, status
from twinstep.inputs.seeds import seeds, starts_of
from twinstep.oracles.tcgjax.bridge import TcgjaxOracle
from twinstep.project import registry
from twinstep.reference.recording import record

GAMES, BOARDS = 24, 2048


def _subject(variant):
    (subject,) = registry.subjects(TCGJAX, {}, [variant])
    return subject


@pytest.mark.parametrize("driver", ["busy", "loose"])
@pytest.mark.parametrize("variant", [variant.name for variant in TCGJAX.variants])
def test_games_agree_in_every_field_at_every_decision(variant, driver):
    subject = _subject(variant)
    agreed = subject.contract
    starts = starts_of(agreed, seeds("public", GAMES, "tcgjax"))
    policy = registry.load_object(subject.driver(driver))
    chunk = record(TcgjaxOracle(agreed), agreed, policy, starts, 1500, lambda *_: None)
    candidate = TcgjaxJax(agreed)
    state, frame = candidate.reset(starts)
    for t in range(len(chunk.actions) + 1):
        live = t <= chunk.lengths
        for path, value in flatten(frame).items():
            got, want = np.asarray(value)[live], chunk.frames[path][t][live]
            assert np.array_equal(got, want), (path, t)
        if t < len(chunk.actions):
            state, frame = candidate.step(state, chunk.actions[t])


def _boards_differ(step):
    """Return the fields in which a step from drawn boards differs from the reference's."""
    oracle = TcgjaxOracle(_subject("apex").contract)
    placed = oracle.places(BOARDS, 5)
    actions = placed.pop("action")
    got = {name: np.asarray(value) for name, value in step(State(**placed), actions).items()}
    found = set()
    for n in range(BOARDS):
        oracle.load({name: value[n] for name, value in placed.items()})
        want = flatten(oracle.step(actions[n]))
        found |= {path for path, value in got.items() if not np.array_equal(value[n], want[path])}
    return found


def _step(state, action):
    after = tcgjax.step(state, action)
    seen = tcgjax.view(after)
    shown = {"obs": seen.obs, "legal": seen.legal, "reward": seen.reward}
    return shown | {f"state.{name}": value for name, value in after._asdict().items()}


def test_a_step_from_boards_that_play_never_reaches_agrees():
    assert _boards_differ(jax.jit(jax.vmap(_step))) == set()


def test_a_slip_of_one_number_is_found_on_boards(monkeypatch):
    monkeypatch.setattr(status, "BURN", 10)
    found = _boards_differ(jax.jit(jax.vmap(lambda *given: _step(*given))))
    assert {"state.damage", "obs"} <= found


def test_the_engine_has_a_record_for_every_code():
    table = Path(tcgjax.__file__).with_name("effects.csv")
    with table.open(encoding="utf-8", newline="") as file:
        assert {row["code"] for row in csv.DictReader(file)} == set(codes())
