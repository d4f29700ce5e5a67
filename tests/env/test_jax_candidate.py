"""A JAX candidate's compiled programs are its own, never another candidate's."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from twinstep.frames import Frame, Start
from twinstep.jax_candidate import JaxCandidate
from twinstep.tests.toys.drift import DRIFT

ADDED = 1.0


def _reset(start):
    return jnp.float32(0.0)


def _step(state, action):
    return state + ADDED


@dataclasses.dataclass
class Step:
    """A callable without a hash, as every plain dataclass."""

    added: float

    def __call__(self, state, action):
        return state + self.added


def _frame(state):
    one = jnp.ones(1)
    return Frame(state[None], one, jnp.bool_(False), jnp.bool_(False), one > 0, None, {})


def _played(step):
    ours = JaxCandidate(DRIFT.contract(DRIFT.params({})), reset=_reset, step=step, frame=_frame)
    state, _ = ours.reset(Start(np.zeros((2, 2), np.uint32), {}))
    _, frame = ours.step(state, np.zeros((2, 1), np.float32))
    return np.asarray(frame.obs).tolist()


def test_two_candidates_of_one_function_share_no_program(monkeypatch):
    """The meaning of the function's global names may have changed in between."""
    assert _played(_step) == [[1.0], [1.0]]
    monkeypatch.setitem(globals(), "ADDED", 5.0)
    assert _played(_step) == [[5.0], [5.0]]


@pytest.mark.parametrize("added", [2.0, 3.0])
def test_a_function_needs_no_hash(added):
    assert _played(Step(added)) == [[added], [added]]
