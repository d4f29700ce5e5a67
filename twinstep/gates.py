"""Gates: the conditions on a field under which an implementation counts as equal.

A gate is declared in the contract per candidate, field, dtype and platform. `lockstep`
is the rule: same start, same actions, every step, no correction. `resync` and `window`
are for continuous physics only, where the reference itself, started a rounding error off,
leaves any tolerance within a hundred steps. `distribution` is for what no seed makes equal.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass


@dataclass(frozen=True)
class Lockstep:
    """Whole episodes, never corrected: |candidate - oracle| <= atol + rtol * |oracle|.

    The default, atol = rtol = 0, is equality of bits: -0.0 differs from 0.0, and a NaN
    equals only a NaN at the same place. signed_zeros: False if -0.0 and 0.0 are one value; a
    tolerance never tells them apart.
    """

    atol: float = 0.0
    rtol: float = 0.0
    signed_zeros: bool = True

    @property
    def exact(self) -> bool:
        """True if the gate requires equal bits."""
        return self.atol == 0.0 and self.rtol == 0.0 and self.signed_zeros


@dataclass(frozen=True)
class Resync:
    """One step from the oracle's own state, for every step of every episode.

    max: bound of every error. above: pairs (threshold, fraction); at most that fraction of the
    errors may exceed the threshold. A median gate is (threshold, 0.5). Maximum and fractions are
    both needed: a solver with too few iterations is perfect at the 99.9 % quantile and wrong by
    1.4 at the maximum.
    """

    max: float
    above: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Window:
    """Windows of `steps` steps, each from the oracle's own state: no error exceeds `max`.

    above: as in Resync, over all steps of all windows.
    """

    steps: int
    max: float
    above: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Distribution:
    """First frames and single steps of episodes that each side draws for itself, as distributions.

    For a pair in which neither side can be placed and each draws its own chance, so that no seed
    gives both the same episode. One of the first `steps` steps of each of `episodes` episodes is
    compared with the step before it and its action, by tests of exchangeability.
    """

    episodes: int = 1000
    steps: int = 64


@dataclass(frozen=True)
class Horizon:
    """Steps for which whole episodes from the same start, never corrected, stay together.

    An episode parts where an error first exceeds `eps`. The median episode must stay for `median`
    steps, every one for `least`. It adds to another gate of the path, in a contract's `further`.
    """

    eps: float
    median: int
    least: int = 0


@dataclass(frozen=True)
class Averages:
    """Averages over whole episodes from the same start, shown equivalent by TOST (alpha 0.05).

    They are the return for `reward`, and element by element the mean over an episode and the mean
    of its square for any other path. Episodes are paired by their start. margin: the difference
    of the averages over all episodes that is allowed, in standard deviations of the reference's
    episodes. It belongs into a contract's `further`, like a horizon.
    """

    margin: float


Gate = Lockstep | Resync | Window | Distribution
Further = Horizon | Averages


@dataclass(frozen=True)
class GateRule:
    """A gate and its scope. Patterns are shell globs; the first matching rule decides.

    fields: frame paths (`obs`, `state.q*`); modules' outputs (`newton.qacc`), which also match by
    their bare name and by the path of their field; steps from placed states
    (`placed.state.qvel`), which also match by their path. dtype and platform are the candidate's
    own (`float32`; `cpu`, `gpu`). name: its name in reports.
    """

    gate: Gate | Further
    fields: str = "*"
    candidate: str = "*"
    dtype: str = "*"
    platform: str = "*"
    name: str = ""

    def fits(self, *names: str, candidate: str, dtype: str, platform: str) -> bool:
        """Return whether the rule is for this candidate and for any of these names."""
        pairs = ((candidate, self.candidate), (dtype, self.dtype), (platform, self.platform))
        return all(fnmatch.fnmatchcase(value, pattern) for value, pattern in pairs) and any(
            fnmatch.fnmatchcase(name, self.fields) for name in names
        )
