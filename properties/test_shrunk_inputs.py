"""Level 1: module inputs that Hypothesis thinks up, and shrinks to the simplest that differs."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twinstep.frames import take_lanes
from twinstep.testing import Case, outputs_differ, some_starts, takes_whole_state

pytestmark = pytest.mark.level1

#: Rows per call; a call costs more than a row, and a batch of fixed size is compiled once.
ROWS = 16
#: Nothing nearer to zero is drawn, but zero itself.
TINY = 1e-30
#: Examples of sixteen inputs each: a fifth of what the profile gives to a test.
EXAMPLES = max(5, settings.default.max_examples // 5)


def _values(field):
    """Return a strategy for one field's value, on its grid and inside its range."""
    dtype = np.dtype(field.dtype)
    if dtype.kind == "b":
        one = st.booleans()
    elif field.low is None or field.high is None:
        one = st.just(0)
    elif field.step:
        steps = int((field.high - field.low) // field.step)
        # From the value nearest to zero outwards, so that shrinking leads there.
        zero = round(min(max(-field.low / field.step, 0), steps))
        grid = st.integers(-zero, steps - zero)
        one = grid.map(lambda k, z=zero: field.low + (k + z) * field.step)
    else:
        width = 64 if dtype.itemsize == 8 else 32
        low, high = (float(dtype.type(edge)) for edge in (field.low, field.high))
        # XLA flushes subnormal numbers to zero on a CPU, quotients too: out of scope.
        reals = st.floats(low, high, width=width, allow_nan=False, allow_subnormal=False)
        one = reals.map(lambda x: x if abs(x) >= TINY else 0.0)
    size = int(np.prod(field.shape, dtype=np.int64))
    if not field.shape:
        return one
    return st.lists(one, min_size=size, max_size=size).map(
        lambda values: np.reshape(values, field.shape)
    )


def _is_drawn_here(facts, row):
    """Boards that only the reference places are those of `test_modules`."""
    contract = facts.pair.subject.contract
    places = facts.oracle is not None and "places" in facts.oracle
    return not (places and takes_whole_state(contract.module(row["twinstep_module"]), contract))


@pytest.mark.needs(
    *("candidate.call", "oracle.call"), when=_is_drawn_here, why="only the reference places these"
)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_module_agrees_on_inputs_that_hypothesis_finds(twinstep_lab, twinstep_module, data):
    """Sixteen inputs a call; the report shows the simplest one that differs."""
    declared = twinstep_lab.contract.module(twinstep_module)
    row = st.fixed_dictionaries({field.name: _values(field) for field in declared.inputs})
    rows = data.draw(st.lists(row, min_size=1, max_size=ROWS))
    rows += rows[:1] * (ROWS - len(rows))
    inputs = {f.name: np.array([r[f.name] for r in rows]).astype(f.dtype) for f in declared.inputs}
    want, got = (
        twinstep_lab.oracle.call(twinstep_module, inputs),
        twinstep_lab.runner.call(twinstep_module, inputs),
    )
    found = outputs_differ(twinstep_lab.contract, twinstep_lab.rules, twinstep_module, want, got)
    if not found:
        return
    at = int(np.flatnonzero(np.logical_or.reduce(list(found.values())))[0])
    dtype, shape = twinstep_lab.contract.action_layout()
    case = Case(
        "module",
        take_lanes(some_starts(twinstep_lab.contract, 1), 0),
        np.zeros((0, *shape), dtype),
        module=twinstep_module,
        inputs={name: values[at] for name, values in inputs.items()},
    )
    twinstep_lab.fail_with_case(case)
