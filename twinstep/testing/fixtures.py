"""`lab` and `reference`, as the tests of the suite call the plugin's fixtures.

Each folder of the suite imports them in its conftest.py, so that no other project's fixtures of
these names are touched.
"""

from __future__ import annotations

import pytest

from twinstep.testing.harness import Lab, Reference


@pytest.fixture
def lab(twinstep_lab: Lab) -> Lab:
    """One candidate with its reference."""
    return twinstep_lab


@pytest.fixture
def reference(twinstep_reference: Reference) -> Reference:
    """The oracle of one variant, with its contract and traces."""
    return twinstep_reference
