"""The plugin's fixtures: `twinstep_lab`, a candidate with its reference; `twinstep_reference`.

`collection` parametrises both, and the parameters `twinstep_module` and `twinstep_driver`.
"""

from __future__ import annotations

import pytest

from twinstep.project.registry import EnvVariant, Pair
from twinstep.testing import xfail_tests
from twinstep.testing.lab import Lab
from twinstep.testing.reference import Reference
from twinstep.testing.run import RUN
from twinstep.testing.settings import in_ci

#: The lab of an item, which its report is made from.
LAB_OF_ITEM = pytest.StashKey[Lab]()


@pytest.fixture
def twinstep_reference(request: pytest.FixtureRequest) -> Reference:
    """The oracle of one variant, with its contract and traces."""
    subject: EnvVariant = request.param
    _require_oracle(request, subject)
    return request.config.stash[RUN].harness.reference(subject)


@pytest.fixture
def twinstep_lab(request: pytest.FixtureRequest) -> Lab:
    """One candidate with its reference."""
    pair: Pair = request.param
    if not request.config.option.twinstep_traces:
        _require_oracle(request, pair.subject)
    if pair.probe.problem:
        _missing(request, f"candidate {pair.label}: {pair.probe.problem}", pair.probe.mend)
    lab = request.config.stash[RUN].harness.lab(pair)
    lab.test = xfail_tests.name_of(request.node)
    lab.level = next((n for n in range(1, 5) if request.node.get_closest_marker(f"level{n}")), 0)
    lab.driver = ""
    lab.notes = {}
    request.node.stash[LAB_OF_ITEM] = lab
    return lab


def _require_oracle(request: pytest.FixtureRequest, subject: EnvVariant) -> None:
    if subject.probe.problem:
        _missing(request, f"oracle of {subject.label}: {subject.probe.problem}", subject.probe.mend)


def _missing(request: pytest.FixtureRequest, problem: str, mend: str) -> None:
    text = f"{problem}: {mend}" if mend else problem
    if request.config.option.twinstep_require or in_ci():
        pytest.fail(text, pytrace=False)
    pytest.skip(text)
