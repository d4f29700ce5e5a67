"""Level 3: the inputs of every bug that was ever fixed ask the oracle again, for ever."""

import pytest

from twinstep.diagnosis.regressions import kept
from twinstep.testing import ask

pytestmark = pytest.mark.level3


@pytest.mark.needs(
    when=lambda facts, row: kept("rollouts", facts.pair.subject.contract),
    why="no regression is kept for these parameters",
)
def test_fixed_bugs_stay_fixed(twinstep_lab):
    """Every kept episode agrees for every candidate that has its parameters."""
    cases = kept("rollouts", twinstep_lab.contract)
    for name, case in cases:
        if not ask(case, twinstep_lab.oracle, twinstep_lab.runner, twinstep_lab.rules).agrees:
            twinstep_lab.fail_with_case(case, f"Regression {name}.")
