"""Errors that a user can cause, each one clear line that ends with the fix."""

from __future__ import annotations


class UserError(Exception):
    """An error that the user can fix; shown without a traceback, exit code 4."""


class OracleMissing(UserError):
    """The reference cannot run here.

    problem: the missing part. mend: the fix.
    """

    def __init__(self, problem: str, mend: str) -> None:
        super().__init__(f"{problem}: {mend}" if mend else problem)
        self.problem = problem
        self.mend = mend

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.problem, self.mend)


class OracleFailed(Exception):
    """The reference crashed, hung or raised while it was running.

    where: the start and step it had reached, as `start 3, step 141`.
    """

    def __init__(self, what: str, where: str = "") -> None:
        super().__init__(f"{what} at {where}" if where else what)
        self.what = what
        self.where = where


class ContractBroken(Exception):
    """A side returned a value that the contract forbids (shape, dtype, NaN action, name)."""


class CandidateBroken(Exception):
    """The candidate raised, or returned a value that the contract forbids.

    what: one line. detail: the traceback, for the report's log, never shown whole. raised: the name
    of the candidate's own exception, "" where it returned something wrong.
    """

    def __init__(self, what: str, detail: str = "", raised: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.detail = detail
        self.raised = raised
