"""What the hooks of one pytest process share."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

from twinstep.project.registry import Pair
from twinstep.testing import applicability, offers_child, xdist
from twinstep.testing.applicability import Facts
from twinstep.testing.expected_failures import ExpectedFailure
from twinstep.testing.harness import Harness
from twinstep.testing.selection import Selection

#: The fixtures by which a test works on a pair, or on a variant of an environment.
LAB, REFERENCE = "twinstep_lab", "twinstep_reference"
#: The parameters of a test that runs once for each module of the contract, or for each driver.
MODULE, DRIVER = "twinstep_module", "twinstep_driver"
#: The key of a worker's input that holds what its controller knows of the candidates.
OFFERS = "twinstep_offers"


@dataclass
class Run:
    """One process's part of a run.

    notes: a line for each variant or environment that is left out. checks: label of a pair -> check
    -> "" where it applies, else the condition that does not hold.
    """

    pairs: list[Pair]
    notes: list[str]
    selection: Selection
    harness: Harness
    groups: xdist.Groups
    expected: list[ExpectedFailure]
    checks: dict[str, dict[str, str]] = field(default_factory=dict)
    _facts: dict[str, Facts] = field(default_factory=dict)

    def facts(self, config: pytest.Config) -> dict[str, Facts]:
        """Return label -> facts: from the controller, from a child, or found in this process."""
        if self._facts or not self.pairs:
            return self._facts
        oracles = not self.harness.imported
        if (given := getattr(config, "workerinput", None)) is not None:
            self._facts = applicability.from_plain(json.loads(given.get(OFFERS, "{}")), self.pairs)
        elif config.pluginmanager.has_plugin("dsession"):
            found = offers_child.ask(self.selection, self.harness.settings.isolate, oracles)
            self._facts = applicability.from_plain(found, self.pairs)
        else:
            self._facts = applicability.gather(self.pairs, self.harness, oracles)
        return self._facts

    def note(self, label: str, check: str, reason: str) -> None:
        """Note that a check applies to a pair (reason ""), or why it does not."""
        checks = self.checks.setdefault(label, {})
        if checks.get(check, " "):
            checks[check] = reason


RUN = pytest.StashKey[Run]()
