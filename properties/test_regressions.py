"""Level 1: the one-step witnesses of every bug that was ever fixed ask the oracle again."""

import pytest

from twinstep.diagnosis.regressions import kept
from twinstep.testing import ask

pytestmark = pytest.mark.level1


@pytest.mark.needs(
    when=lambda facts, row: kept("properties", facts.pair.subject.contract),
    why="no witness is kept for these parameters",
)
def test_fixed_witnesses_stay_fixed(twinstep_lab):
    """Every kept witness agrees for every candidate that has its parameters."""
    cases = kept("properties", twinstep_lab.contract)
    for name, case in cases:
        needs = {"module": "call", "restart": "restart"}.get(case.kind, "load")
        if not twinstep_lab.runner.offers(needs):
            continue
        if not ask(case, twinstep_lab.oracle, twinstep_lab.runner, twinstep_lab.rules).agrees:
            twinstep_lab.fail_with_case(case, f"Witness {name}.")
