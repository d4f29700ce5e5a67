"""Auto-reset of a JAX engine: all lanes that end begin a new episode, and no others."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from twinstep.env.jax_engine import JaxEngine, _First
from twinstep.frames import Frame
from twinstep.jax_candidate import Programs
from twinstep.tests.toys.drift import DRIFT

CONTRACT = DRIFT.contract(DRIFT.params({}))
#: Enough for several passes over the lanes that are reset together.
LANES, STEPS = 200, 12


def _reset(start):
    mark = start.seed[0] * np.uint32(100) + start.seed[1]
    return {"mark": mark, "wide": jnp.broadcast_to(mark, (80,)), "clock": jnp.int32(0)}


def _step(state, action):
    return state | {"clock": state["clock"] + 1}


def _frame(state):
    # Three in four lanes end together, every third step; the others at various steps.
    first = state["mark"] // np.uint32(100)
    length = jnp.where(first % np.uint32(4) > 0, 3, 2 + (first % np.uint32(7)).astype(jnp.int32))
    odd = (state["wide"] != state["mark"]).any()
    obs = jnp.stack([state["mark"].astype(jnp.int32), state["clock"], odd.astype(jnp.int32)])
    one, no = jnp.ones(1), jnp.bool_(False)
    return Frame(obs[None], one, no, state["clock"] >= length, one > 0, None, {})


def _expected(mode):
    """Return the observations [T, N, 3] and the ends [T, N], from a loop over each lane."""
    shown, ended = np.zeros((STEPS, LANES, 3), int), np.zeros((STEPS, LANES), bool)
    for lane in range(LANES):
        length = 3 if lane % 4 else 2 + lane % 7
        episode, clock, waits = 0, 0, False
        for t in range(STEPS):
            clock, waited = clock + 1, waits
            if waited:
                episode, clock = episode + 1, 0
            ended[t, lane] = waits = clock >= length
            if mode == "same-step":
                waits = False
                if ended[t, lane]:
                    episode, clock = episode + 1, 0
            shown[t, lane] = lane * 100 + episode, clock, 0
    return shown, ended


def _played(mode, lanes_axis):
    pure = Programs(reset=_reset, step=_step, frame=_frame, lanes=lanes_axis).pure
    engine = JaxEngine(CONTRACT, pure, mode)
    seeds = np.stack([np.arange(LANES), np.zeros(LANES)], -1).astype(np.uint32)
    state, _ = engine.reset(None, seeds)
    actions = np.zeros((STEPS, LANES, 1), np.float32)
    _, steps = jax.jit(engine.rollout)(None, state, actions)
    return np.asarray(steps.obs), np.asarray(steps.truncated)


@pytest.mark.parametrize("lanes_axis", [0, -1])
@pytest.mark.parametrize("mode", ["same-step", "next-step"])
def test_every_lane_that_ends_begins_its_next_episode_and_no_other_does(mode, lanes_axis):
    shown, ended = _played(mode, lanes_axis)
    wanted, over = _expected(mode)
    np.testing.assert_array_equal(ended, over)
    np.testing.assert_array_equal(shown, wanted)


BUGS = {
    "only the first pass counts": ("taken", lambda self: self.left),
    "one too many": ("taken", lambda self: self.taken | (jnp.arange(LANES) == 1)),
    "the next one's episode": ("_rank", lambda self: jnp.maximum(self._rank - 1, 0)),
    "the next one's row": ("place", lambda self: jnp.roll(self.place, 1)),
}


@pytest.mark.parametrize("name", BUGS)
def test_a_lane_that_is_missed_or_mistaken_is_found(name, monkeypatch):
    field, value = BUGS[name]
    plain = _First.__init__

    def planted(self, left, few):
        plain(self, left, few)
        self.left = left
        setattr(self, field, value(self))

    monkeypatch.setattr(_First, "__init__", planted)
    with pytest.raises(AssertionError):
        test_every_lane_that_ends_begins_its_next_episode_and_no_other_does("same-step", 0)
