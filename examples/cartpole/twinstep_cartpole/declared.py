"""CartPole's declaration: the reference and its candidates. It imports neither of them."""

from __future__ import annotations

from twinstep import CandidateRef, Environment, OracleRef
from twinstep_cartpole.contract import contract

_FAST = "twinstep_cartpole/fast"

CARTPOLE = Environment(
    name="cartpole",
    contract=contract,
    oracle=OracleRef(
        title="Gymnasium 1.4.0 CartPole-v1",
        factory="twinstep_cartpole.oracle.bridge:CartPoleOracle",
        probe="twinstep_cartpole.oracle.upstream:probe",
        package="twinstep_cartpole.oracle",
        source="twinstep_cartpole.oracle.upstream:source",
        upstream=("gymnasium",),
    ),
    candidates=(
        CandidateRef(
            "jax",
            "twinstep_cartpole.fast.candidate:CartPoleJax",
            edit=(f"{_FAST}/**",),
            sources={
                name: f"{_FAST}/rules.py:{name}"
                for name in ("start", "push", "move", "judge", "limit")
            }
            | {"step": f"{_FAST}/candidate.py:step"},
            packages=("twinstep_cartpole.fast",),
        ),
    ),
    drivers={"balancing": "twinstep_cartpole.drivers:balancing"},
    doc="A pole on a cart, kept upright by pushing left or right.",
)
