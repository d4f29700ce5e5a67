"""The bodies of the suite's generic tests, by level, as functions of a lab."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

from twinstep.project import registry
from twinstep.testing.applicability import Facts, needs_of, why_not
from twinstep.testing.lab import Lab
from twinstep.testing.run import DRIVER, MODULE

_TESTS = {
    1: (
        "properties.test_modules:test_module_matches_the_oracle",
        "properties.test_randomness:test_the_first_frame_matches_the_oracle_for_any_seed",
        "properties.test_regressions:test_fixed_witnesses_stay_fixed",
    ),
    2: (
        "interactions.test_steps:test_step_from_placed_states_matches_the_oracle",
        "interactions.test_steps:test_restart_of_placed_states_matches_the_oracle",
        "interactions.test_limits:test_the_last_steps_before_the_limit_match_the_oracle",
        "interactions.test_state:test_oracles_state_continues_in_the_candidate",
        "interactions.test_state:test_candidates_state_continues_in_the_oracle",
        "interactions.test_state:test_hidden_state_matches_the_oracle",
        "interactions.test_batches:test_a_batch_equals_its_lanes_one_by_one",
        "interactions.test_batches:test_rollout_equals_the_step_loop",
    ),
    3: (
        "rollouts.test_lockstep:test_episodes_match",
        "rollouts.test_lockstep:test_steps_from_the_oracles_states_match",
        "rollouts.test_lockstep:test_episodes_stay_together_as_long_as_the_gate_asks",
        "rollouts.test_lockstep:test_whole_episodes_are_alike_on_average",
        "rollouts.test_regressions:test_fixed_bugs_stay_fixed",
        "rollouts.test_shipped:test_shipped_environment_matches_the_oracle_through_auto_resets",
        "rollouts.test_shipped:test_shipped_steps_from_the_oracles_states_match",
        "rollouts.test_shipped:test_recorded_lanes_match_inside_the_largest_batch",
        "rollouts.test_shipped:test_recorded_lanes_match_inside_the_largest_batch_from_their_starts",
    ),
}


def checks(lab: Lab, level: int, shipped: bool = True) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield a level's checks by name: each test once for every module or driver it takes.

    shipped: True to include the tests of the shipped environment.
    """
    candidate = lab.pair.candidate
    for path in _TESTS[level]:
        test = registry.load_object(f"twinstep.{path}")
        if candidate.slow_to_compile and "test_batches" in path:
            continue
        # The core resets a JAX candidate; a compiled one resets its lanes itself.
        if "test_shipped" in path and not (candidate.build and shipped):
            continue
        marks = _marks(test)
        if not all(lab.pair.has_gates(kind) for kind in marks.get("gates", ())[:1]):
            continue
        wanted = inspect.signature(test).parameters
        rows: list[dict[str, Any]] = [{}]
        if MODULE in wanted:
            # The others cannot be called: they only own fields.
            rows = [{MODULE: module.name} for module in lab.contract.modules if module.inputs]
        elif DRIVER in wanted:
            rows = [{DRIVER: driver} for driver in lab.contract.drivers]
        elif "parametrize" in marks:
            name, values = marks["parametrize"]
            rows = [{name: _bare(value)} for value in values]
        place = path.replace(".", "/").replace(":", ".py::")
        facts, needs = Facts.of(lab), needs_of(test)
        for row in rows:
            if why_not(facts, needs, row):
                continue
            label = f"[{next(iter(row.values()))}]" if row else ""
            yield place + label, functools.partial(test, lab, **row)


def _bare(value: Any) -> Any:
    """Return a parameter's value without the marks of `pytest.param`."""
    return value.values[0] if hasattr(value, "marks") else value


def _marks(test: Callable[..., None]) -> dict[str, tuple[Any, ...]]:
    """Return name -> arguments of the marks of a test and its module; the test's own win."""
    near = getattr(test, "pytestmark", [])
    far = getattr(sys.modules[test.__module__], "pytestmark", [])
    every = [*(far if isinstance(far, list) else [far]), *near]
    return {mark.name: mark.args for mark in (getattr(m, "mark", m) for m in every)}
