"""Level 3: where starts are placed, those that a port draws itself are like the reference's."""

import pytest

from twinstep.testing import require_alike_starts

pytestmark = pytest.mark.level3

STARTS = 1000


@pytest.mark.needs("contract.starts", "oracle.fresh", "candidate.fresh")
def test_starts_of_its_own_are_like_the_references(twinstep_lab):
    """Range, values and frequencies of each element, and each two together, are alike."""
    require_alike_starts(twinstep_lab, STARTS)
