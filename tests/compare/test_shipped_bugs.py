"""Bugs planted in auto-reset itself: the as-shipped test of level 3 finds every one."""

import jax.numpy as jnp
import pytest

from twinstep.env import jax_engine
from twinstep.env.jax_engine import JaxEngine
from twinstep.frames import Start
from twinstep.rollouts import test_shipped
from twinstep.testing.lab import Divergence


def _nowhere(self, terminated, before, after):
    return after


def _everywhere(self, terminated, before, after):
    return _RESTARTED(self, jnp.ones_like(terminated), before, after)


def _from_the_seed(self, terminated, before, after):
    fresh = self._begin(Start(jnp.zeros((len(terminated), 2), jnp.uint32), {}))
    return jax_engine._choose(terminated, fresh, after)


def _late_final(self, rows, state, last):
    state, steps = _SAME_STEP(self, rows, state, last)
    return state, steps._replace(final_obs=steps.obs)


def _lost_end(self, rows, state, last):
    state, steps = _SAME_STEP(self, rows, state, last)
    return state, steps._replace(terminated=jnp.zeros_like(steps.terminated))


def _plays_on(self, rows, before, inner):
    state, steps = _NEXT_STEP(self, rows, before, inner)
    return state._replace(inner=inner), steps


_RESTARTED, _SAME_STEP, _NEXT_STEP = (
    JaxEngine._restarted,
    JaxEngine._same_step,
    JaxEngine._next_step,
)
BUGS = {
    "no lane is reset": ("same-step", "_restarted", _nowhere),
    "every lane is reset": ("same-step", "_restarted", _everywhere),
    "a fresh start in place of the reference's restart": (
        "same-step",
        "_restarted",
        _from_the_seed,
    ),
    "the final observation is the next episode's": ("same-step", "_same_step", _late_final),
    "the end is not reported": ("same-step", "_same_step", _lost_end),
    "no lane is reset, next-step": ("next-step", "_restarted", _nowhere),
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

    def planted(self, terminated, before, after):
        near = jnp.arange(len(terminated)) < 4096
        return _RESTARTED(self, terminated & near, before, after)

    fs8.test, fs8.level, fs8.driver, fs8.notes = "largest", 3, "", {}
    monkeypatch.setattr(JaxEngine, "_restarted", planted)
    with pytest.raises(Divergence, match="lane"):
        test_shipped.test_recorded_lanes_match_inside_the_largest_batch(fs8)
