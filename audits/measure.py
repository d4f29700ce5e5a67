"""The gates of rounding's size that `twinstep init` would write for a pair."""

from __future__ import annotations

import importlib
from typing import Any

from audits.pair import module_of
from twinstep.contract import Contract
from twinstep.jax_candidate import JaxCandidate
from twinstep.scaffold.trial import measure


class _Ports:
    """A pair's candidate in either dtype, as `init`'s modules offer it.

    Its class has hooks with a dtype (`twinstep.inward`), or it is a function that takes one.
    """

    DTYPE = "float32"

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def Fast(self, contract: Contract) -> Any:  # noqa: N802
        if not hasattr(self._kind, "hooks"):
            return self._kind(contract, dtype=self.DTYPE)
        hooks = {**self._kind.hooks, "dtype": self.DTYPE}
        return type("Port", (self._kind,), {"hooks": hooks})(contract)


def lines(name: str) -> list[str]:
    """Return the gates' bounds, as `pair.rounding` takes them, and each larger difference."""
    pair = importlib.import_module(module_of(name))
    if not isinstance(pair.Candidate(pair.CONTRACT), JaxCandidate):
        return [f"{name}: its candidate is not in JAX: nothing is measured"]
    oracle = pair.Oracle(pair.CONTRACT)
    try:
        broken, proposal = measure(_Ports(pair.Candidate), oracle, pair.CONTRACT)
    finally:
        oracle.close()
    if proposal is None:
        return [f"{name}: {broken or 'one side has no `load`'}: nothing is measured"]
    rules = [rule for rule in proposal.rules if 'dtype="float32"' in rule]
    return [f"{name}:", *rules, *proposal.findings]
