"""Bugs planted in auto-reset itself: the as-shipped test of level 3 finds every one."""

import jax.numpy as jnp
import pytest

from twinstep import jax_engine
from twinstep.harness import Divergence
from twinstep.jax_engine import EnvState, JaxEngine
from twinstep.rollouts import test_shipped
from twinstep.timestep import next_seeds


def _never(self, rows, state, terminated, truncated):
    return state


def _everywhere(self, rows, state, terminated, truncated):
    return _RENEWED(self, rows, state, jnp.ones_like(terminated), truncated)


def _from_the_seed(self, rows, state, terminated, truncated):
    seed = jnp.where(terminated[:, None], next_seeds(state.seed), state.seed)
    return EnvState(self._compact_reset(rows, state.inner, seed, terminated), seed, state.ended)


def _late_final(self, rows, state, last):
    state, steps = _SAME_STEP(self, rows, state, last)
    return state, steps._replace(final_obs=steps.obs)


def _lost_end(self, rows, state, last):
    state, steps = _SAME_STEP(self, rows, state, last)
    return state, steps._replace(terminated=jnp.zeros_like(steps.terminated))


def _plays_on(self, rows, before, after, frame):
    state, steps = _NEXT_STEP(self, rows, before, after, frame)
    return state._replace(inner=after.inner), steps


_RENEWED, _SAME_STEP, _NEXT_STEP = (
    JaxEngine._renewed,
    JaxEngine._same_step,
    JaxEngine._next_step,
)
BUGS = {
    "no lane is reset": ("same-step", "_renewed", _never),
    "every lane is reset": ("same-step", "_renewed", _everywhere),
    "a fresh start in place of the reference's restart": ("same-step", "_renewed", _from_the_seed),
    "the final observation is the next episode's": ("same-step", "_same_step", _late_final),
    "the end is not reported": ("same-step", "_same_step", _lost_end),
    "no lane is reset, next-step": ("next-step", "_renewed", _never),
    "a lane that waits plays its old episode on": ("next-step", "_next_step", _plays_on),
}


@pytest.fixture(autouse=True)
def _compiled_anew(fs8):
    """What was compiled without the bug, or with it, is not used by anybody else."""
    engines = fs8.runner.candidate.pure.engines
    engines.clear()
    yield
    engines.clear()


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_in_auto_reset_is_found(fs8, monkeypatch, name):
    mode, method, planted = BUGS[name]
    fs8.test, fs8.level, fs8.driver, fs8.notes = name, 3, "", {}
    monkeypatch.setattr(JaxEngine, method, planted)
    with pytest.raises(Divergence, match="auto_reset"):
        test_shipped.test_shipped_environment_matches_the_oracle_through_auto_resets(fs8, mode)


def test_lanes_that_depend_on_their_place_are_found_in_the_largest_batch(fs8, monkeypatch):
    """Planted: beyond the first 4,096 lanes nothing is ever reset."""

    def planted(self, rows, state, terminated, truncated):
        near = jnp.arange(len(terminated)) < 4096
        return _RENEWED(self, rows, state, terminated & near, truncated)

    fs8.test, fs8.level, fs8.driver, fs8.notes = "largest", 3, "", {}
    monkeypatch.setattr(jax_engine.JaxEngine, "_renewed", planted)
    with pytest.raises(Divergence, match="lane"):
        test_shipped.test_recorded_lanes_match_inside_the_largest_batch(fs8)
