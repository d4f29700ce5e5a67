"""A step that changes the types of its state is told by the field's name, not by XLA's loop."""

import numpy as np
import pytest

from twinstep.errors import CandidateBroken
from twinstep.inputs.sampling import some_starts
from twinstep.project.registry import EnvVariant, Pair
from twinstep.runner.runner import Runner
from twinstep.runner.state_types import changed_types
from twinstep.tests.toys import glide, wander


def _contract():
    return wander.contract({"tolerant": 0})


def test_a_field_that_changes_its_dtype_is_named():
    assert changed_types(wander.OtherType(_contract())) == "`place` from bool to int32"


@pytest.mark.parametrize("made", [wander.Jax, wander.LongerRing, glide.Fast])
def test_a_state_that_keeps_its_types_and_a_candidate_without_jax_have_none(made):
    assert changed_types(made(_contract())) == ""


def test_a_rollout_that_cannot_be_compiled_for_it_says_so(monkeypatch):
    env = wander.WANDER
    (ref,) = (ref for ref in env.candidates if ref.name == "othertype")
    runner = Runner.of(Pair(EnvVariant(env, env.variants[0]), ref))
    monkeypatch.setattr(runner, "_require", lambda *_: None)  # the frame is wrong at reset, too
    state, _ = runner.reset(some_starts(_contract(), 2))
    with pytest.raises(CandidateBroken, match="changes the types of its state: `place` from bool"):
        runner.rollout(state, np.zeros((4, 2, 1), "int32"))
