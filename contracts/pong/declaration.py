"""Declaration of Pong: its oracle and its candidates, named by import path."""

from __future__ import annotations

from twinstep.contracts.pong import contract
from twinstep.environment import CandidateRef, Environment, OracleRef, Parameter, Variant


def _flag(text: str) -> bool:
    return {"true": True, "1": True, "false": False, "0": False}[text.lower()]


_JAX = "generated/pong"


_RUST = "rust/pong/src"


_MODULES = (
    "agent_paddle",
    "opponent_paddle",
    "ball",
    "left_side",
    "right_side",
    "serve",
    "observe",
)


PONG = Environment(
    name="pong",
    contract=contract,
    oracle=OracleRef(
        title="PufferLib 3.0.0 C Pong",
        factory="twinstep.oracles.pong.bridge:PongOracle",
        probe="twinstep.oracles.pong.upstream:probe",
        package="twinstep.oracles.pong",
        source="twinstep.oracles.pong.upstream:ensure_sources",
        upstream=("pufferlib",),
        bench="twinstep.oracles.pong.native:runners",
    ),
    candidates=(
        CandidateRef(
            "jax",
            "twinstep.candidates.pong.jax_pong:PongJax",
            edit=(f"{_JAX}/**",),
            sources={
                "agent_paddle": f"{_JAX}/paddles.py:agent_paddle",
                "opponent_paddle": f"{_JAX}/paddles.py:opponent_paddle",
                "ball": f"{_JAX}/ball.py:move",
                "left_side": f"{_JAX}/sides.py:left_side",
                "right_side": f"{_JAX}/sides.py:right_side",
                "serve": f"{_JAX}/serve.py:serve",
                "observe": f"{_JAX}/observe.py:observe",
                "step": f"{_JAX}/step.py:step",
                "reset": f"{_JAX}/step.py:reset",
                "restart": f"{_JAX}/step.py:restart",
            },
            packages=("twinstep.generated.pong", "twinstep.candidates.pong"),
            requires=(),
        ),
        CandidateRef(
            "rust",
            "twinstep.candidates.pong.rust_pong:PongRust",
            edit=("rust/pong/**",),
            sources={name: f"{_RUST}/{name}.rs:{name}" for name in _MODULES}
            | {
                "step": f"{_RUST}/step.rs:step",
                "reset": f"{_RUST}/episode.rs:reset",
                "restart": f"{_RUST}/episode.rs:restart",
            },
            packages=("twinstep.candidates.pong", "twinstep.candidates.rust"),
            probe="twinstep.candidates.pong.rust_pong:probe",
            build="twinstep.candidates.pong.rust_pong:build",
        ),
    ),
    variants=(
        Variant("fs8", {"frameskip": 8}),
        Variant("fs1", {"frameskip": 1}),
        Variant("fs1-cont", {"frameskip": 1, "continuous": True}),
        Variant("fs8-cont", {"frameskip": 8, "continuous": True}),
        Variant("stock", {"frameskip": 8, "rng": "stock"}),
    ),
    parameters=(
        Parameter("frameskip", 8, "frames played per step (pong.ini: 8; the class: 1)"),
        Parameter("continuous", False, "real-valued paddle direction", _flag, (False, True)),
        Parameter("max_score", 21, "points that end an episode"),
        Parameter("rng", "hash", "injected draws, or the C library's own", str, ("hash", "stock")),
    ),
    drivers={"tracking": "twinstep.rollouts.pong.drivers:tracking"},
    doc="Two paddles, one ball; the agent plays the right side to 21 points.",
)
