"""What does not apply to a candidate is not collected, and the verdict says why."""

import pytest

from twinstep.project import registry
from twinstep.protocols import CANDIDATE_LADDER
from twinstep.testing.applicability import Facts, Offers, from_plain, needs_of, plain, why_not
from twinstep.tests.toys.duel import DUEL

PAIR = registry.pairs(registry.subjects(DUEL, {})[0], ["vector"])[0]
KNOWN = Facts(PAIR, Offers(("load", "call"), "float32", "cpu"), ("load",))
UNKNOWN = Facts(PAIR, None, None)


def _why(facts, *conditions, row=None, **more):
    return why_not(facts, [(conditions, more)], row or {})


def test_the_first_condition_that_does_not_hold_is_named():
    assert _why(KNOWN, "candidate.load", "oracle.load") == ""
    assert _why(KNOWN, "candidate.load", "oracle.call", "candidate.eager") == "needs oracle.call"
    assert _why(KNOWN, "not candidate.load") == "needs not candidate.load"
    assert _why(KNOWN, "package.numpy", "package.nowhere") == "needs package.nowhere"
    assert _why(KNOWN, "contract.masked", "not contract.hidden", "rules.lockstep") == ""
    assert _why(KNOWN, "rules.from_states") == "needs rules.from_states"


def test_make_does_for_a_jax_candidate_what_it_does_not_do_itself():
    jax = Facts(PAIR, Offers(("pure", "load"), "float32", "cpu"), ())
    for method in ("auto_step", "frame"):
        assert _why(jax, f"shipped.{method}") == ""
        assert _why(jax, f"candidate.{method}") == f"needs candidate.{method}"
        assert _why(KNOWN, f"shipped.{method}") == f"needs shipped.{method}"
        assert method not in jax.lacking()["vector"]
    assert _why(jax, "shipped.call") == "needs shipped.call"


def test_what_is_not_known_counts_as_offered_and_as_lacking():
    """Then the test runs, and says what is wrong."""
    assert _why(UNKNOWN, "candidate.eager", "not oracle.call", "rules.horizons") == ""


def test_a_condition_on_the_tests_own_parameters():
    when = {"when": lambda facts, row: row["mode"] == "off", "why": "only without auto-reset"}
    assert _why(KNOWN, row={"mode": "off"}, **when) == ""
    assert _why(KNOWN, row={"mode": "same-step"}, **when) == "only without auto-reset"


@pytest.mark.parametrize(
    "condition", ["candidate.loda", "shipped.loda", "oracle.clal", "contract.nothing", "x.y"]
)
def test_a_condition_of_a_name_that_nobody_has_is_an_error(condition):
    """Or a misspelt one would silently leave the test out for every candidate."""
    with pytest.raises((AssertionError, AttributeError)):
        _why(KNOWN, condition)


def test_an_isolated_candidate_is_not_in_process():
    assert _why(KNOWN, "run.in_process") == ""
    apart = Facts(PAIR, KNOWN.candidate, KNOWN.oracle, isolated=True)
    assert _why(apart, "run.in_process") == "needs run.in_process"


def test_every_method_that_is_not_offered_is_named_with_what_it_unlocks():
    lacking = KNOWN.lacking()
    # Starts that come from seeds alone are compared one by one: `fresh` would unlock nothing.
    needless = ("load", "call", "fresh")
    assert lacking["vector"] == {
        name: text for name, text in CANDIDATE_LADDER.items() if name not in needless
    }
    assert "fresh" not in lacking["oracle"]
    assert "load" not in lacking["oracle"]
    assert UNKNOWN.lacking() == {}


def test_a_worker_gets_the_same_facts():
    for facts in (KNOWN, UNKNOWN):
        again = from_plain(plain({PAIR.label: facts}), [PAIR])[PAIR.label]
        assert again == facts
    assert from_plain({}, [PAIR])[PAIR.label] == UNKNOWN


def test_marks_of_a_test_and_of_its_module_are_both_read():
    from twinstep.rollouts.test_adapters import test_gymnax_steps_match_the_oracle as test

    conditions = [c for args, _ in needs_of(test) for c in args]
    assert set(conditions) >= {"run.in_process", "candidate.pure"}


def test_the_verdict_lists_what_applies_and_what_does_not(project):
    run = project.pytest("--candidate", "mine", suite="interactions.test_batches")
    assert "skipped" not in run.text, run.text
    pair = run.verdict["pairs"]["duel-mine"]
    assert "interactions/test_batches.py::test_a_run_equals_its_repetition" in pair["applies"]
    why = {name.partition("::")[2]: reason for name, reason in pair["does_not_apply"].items()}
    assert why == {
        "test_compiled_equals_eager": "needs candidate.eager",
        "test_rollout_equals_the_step_loop": "needs candidate.rollout",
    }
