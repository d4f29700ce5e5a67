"""Errors that a user can cause. Each is one clear line that ends with the mend."""

from __future__ import annotations


class UserError(Exception):
    """Something the user can put right; shown without a traceback, exit code 4."""


class OracleMissing(UserError):
    """The reference cannot run here.

    problem: what is missing. mend: what to do about it.
    """

    def __init__(self, problem: str, mend: str) -> None:
        super().__init__(f"{problem}: {mend}" if mend else problem)
        self.problem = problem
        self.mend = mend

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.problem, self.mend)


class OracleFailed(Exception):
    """The reference crashed, hung or raised while it was running.

    where: which start and step it had reached, as `start 3 (seed 3,0), step 141`.
    """

    def __init__(self, what: str, where: str = "") -> None:
        super().__init__(f"{what} at {where}" if where else what)
        self.what = what
        self.where = where


class ContractBroken(Exception):
    """A side returned something the contract does not allow (shape, dtype, NaN action, name)."""


class CandidateBroken(Exception):
    """The candidate raised, or returned what the contract does not allow.

    what: one line. detail: the traceback, kept for the report's log, never shown whole.
    """

    def __init__(self, what: str, detail: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.detail = detail
