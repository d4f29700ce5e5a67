"""Level 1: the one-step witnesses of every bug that was ever fixed ask the oracle again."""

import pytest

from twinstep.diagnosis.case import ask
from twinstep.diagnosis.regressions import kept

pytestmark = pytest.mark.level1


@pytest.mark.needs(
    when=lambda facts, row: kept("properties", facts.pair.subject.contract),
    why="no witness is kept for these parameters",
)
def test_fixed_witnesses_stay_fixed(lab):
    """Every kept witness agrees for every candidate that has its parameters."""
    cases = kept("properties", lab.contract)
    for name, case in cases:
        needs = {"module": "call", "restart": "restart"}.get(case.kind, "load")
        if not lab.runner.offers(needs):
            continue
        if not ask(case, lab.oracle, lab.runner, lab.rules).agrees:
            lab.require_agreement(case, f"Witness {name}.")
