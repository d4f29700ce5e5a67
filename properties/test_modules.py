"""Level 1: every declared module alone, on inputs that sit where behaviour changes."""

import numpy as np
import pytest

from twinstep.frames import take_lanes
from twinstep.testing import Case, outputs_differ, some_starts

pytestmark = pytest.mark.level1

#: Inputs per module; a batch of fixed size is compiled once.
INPUTS = 16384


@pytest.mark.needs("candidate.call", "oracle.call")
def test_module_matches_the_oracle(twinstep_lab, twinstep_module):
    """The module called alone gives the oracle's outputs, input by input."""
    declared = twinstep_lab.contract.module(twinstep_module)
    inputs = twinstep_lab.reference.module_inputs(
        declared, INPUTS, "module", twinstep_module, dtype=twinstep_lab.runner.dtype
    )
    want = twinstep_lab.oracle.call(twinstep_module, inputs)
    got = twinstep_lab.runner.call(twinstep_module, inputs)
    found = outputs_differ(twinstep_lab.contract, twinstep_lab.rules, twinstep_module, want, got)
    if not found:
        return
    wrong = np.zeros(INPUTS, bool)
    for rows in found.values():
        wrong |= rows
    at = _plainest(inputs, np.flatnonzero(wrong))
    case = Case(
        "module",
        take_lanes(some_starts(twinstep_lab.contract, 1), 0),
        np.zeros(
            (0, *twinstep_lab.contract.action_layout()[1]), twinstep_lab.contract.action_layout()[0]
        ),
        module=twinstep_module,
        inputs={name: values[at] for name, values in inputs.items()},
    )
    twinstep_lab.fail_with_case(
        case, f"{int(wrong.sum())} of {INPUTS} inputs differ; the plainest:"
    )


def _plainest(inputs, rows):
    """Return the row whose inputs are nearest to zero and to whole numbers."""
    weight = np.zeros(len(rows))
    for values in inputs.values():
        if values.dtype.kind in "iuf":
            flat = values[rows].reshape(len(rows), -1).astype(np.float64)
            weight += np.log1p(np.abs(flat)).sum(1) + 10 * (flat != np.round(flat)).sum(1)
    return int(rows[weight.argmin()])


def test_module_inputs_are_varied(twinstep_reference):
    """The level 1 domain of every module is not a single point."""
    for module in twinstep_reference.contract.modules:
        inputs = twinstep_reference.module_inputs(module, 256, "varied", module.name)
        for field in module.inputs:
            if field.low != field.high or field.dtype == "bool":
                assert len(np.unique(inputs[field.name])) > 1, f"{module.name}.{field.name}"
