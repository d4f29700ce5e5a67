"""What the tests of one process share because it is costly.

One oracle process a subject, one compiled candidate a pair, one trace cache.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from twinstep.project.registry import EnvVariant, Pair
from twinstep.reference import answers
from twinstep.reference.cache import TraceCache, TraceSet
from twinstep.testing.lab import Lab
from twinstep.testing.reference import Reference
from twinstep.testing.settings import RunSettings


@dataclass
class Harness:
    """Everything shared by the tests of one process.

    imported: trace sets read from an export, in place of the oracle.
    """

    settings: RunSettings
    imported: list[TraceSet] = field(default_factory=list)
    cache: TraceCache = field(default_factory=TraceCache)
    _references: dict[str, Reference] = field(default_factory=dict)
    _labs: dict[str, Lab] = field(default_factory=dict)

    def reference(self, subject: EnvVariant) -> Reference:
        """Return the subject's reference, made once."""
        if subject.label not in self._references:
            self._references[subject.label] = Reference(self, subject)
        return self._references[subject.label]

    def lab(self, pair: Pair) -> Lab:
        """Return the pair's lab, made once."""
        if pair.label not in self._labs:
            self._labs[pair.label] = Lab(pair, self.reference(pair.subject))
        return self._labs[pair.label]

    def rest(self, subject: EnvVariant | None) -> None:
        """Drop what takes memory and is no longer asked; the next question begins it anew.

        subject: the variant that is asked next, whose oracle goes on; None for none.
        """
        for lab in self._labs.values():
            lab.rest()
        for reference in self._references.values():
            if reference.subject is not subject:
                reference.rest()

    def close(self) -> None:
        """End all oracle processes and remove what was temporary."""
        for reference in self._references.values():
            reference.close()
        self.cache.close()
        answers.evict()
