"""Declaration of HalfCheetah: its oracle and its candidates, named by import path."""

from __future__ import annotations

from typing import Any

from twinstep.contracts.halfcheetah import contract
from twinstep.environment import CandidateRef, Environment, OracleRef, Parameter

_JAX = "generated/halfcheetah"


_RUST = "rust/halfcheetah/src"


_SOURCES = {
    "kinematics": "kinematics.py:poses",
    "mass_matrix": "inertia.py:matrix",
    "bias": "forces.py:bias",
    "forces": "forces.py:passive",
    "contacts": "constraints.py:distance",
    "rows": "constraints.py:contact",
    "newton": "newton.py:solve",
    "euler": "dynamics.py:euler",
    "substep": "dynamics.py:substep",
    "reward": "dynamics.py:price_of",
    "reset": "reset.py:reset",
    "step": "dynamics.py:step",
}


#: Further places where a module's work is done.
_HELPERS = {
    "newton": ("constraints.py:stiffness", "constraints.py:pushing", "linear.py"),
    "euler": ("linear.py",),
    "step": ("state.py",),
    "reset": ("dynamics.py:reset", "ziggurat.py"),
}


#: The handwritten part of the Rust engine; the rest is generated from the same files as JAX.
_BY_HAND = {
    "newton": "newton.rs:newton",
    "euler": "substep.rs:move_on",
    "substep": "substep.rs:substep",
    "reset": "random.rs:start",
    "step": "batch.rs:step",
}


_OWN_TESTS = "twinstep.tests.envs.halfcheetah"
_TESTS = tuple(f"{_OWN_TESTS}.test_{part}" for part in ("lanes", "reset", "rounds"))


def _candidate(name: str, factory: str, **more: Any) -> CandidateRef:
    rust = name.startswith("rust")
    sources = {module: f"{_JAX}/{place}" for module, place in _SOURCES.items()}
    if rust:
        sources |= {module: f"{_RUST}/{place}" for module, place in _BY_HAND.items()}
    packages = ("twinstep.generated.halfcheetah", "twinstep.candidates.halfcheetah")
    return CandidateRef(
        name,
        f"twinstep.candidates.halfcheetah.{factory}",
        edit=(f"{_JAX}/**", f"{_RUST}/**") if rust else (f"{_JAX}/**",),
        sources=sources,
        helpers={
            module: tuple(f"{_JAX}/{place}" for place in places)
            for module, places in _HELPERS.items()
            if sources[module].startswith(_JAX)
        },
        packages=(*packages, "twinstep.candidates.rust") if rust else packages,
        requires=None if rust else (),
        slow_to_compile=not rust,
        tests=() if rust else _TESTS,
        **more,
    )


_BUILT = {
    "probe": "twinstep.candidates.halfcheetah.rust_halfcheetah:probe",
    "build": "twinstep.candidates.halfcheetah.rust_halfcheetah:build",
}


HALFCHEETAH = Environment(
    name="halfcheetah",
    contract=contract,
    oracle=OracleRef(
        title="Gymnasium HalfCheetah-v5 on MuJoCo 3.14.0",
        factory="twinstep.oracles.halfcheetah.bridge:HalfCheetahOracle",
        probe="twinstep.oracles.halfcheetah.upstream:probe",
        package="twinstep.oracles.halfcheetah",
        upstream=("gymnasium", "mujoco"),
        bench="twinstep.oracles.halfcheetah.native:runners",
        work=1 << 16,
        peers="twinstep.oracles.halfcheetah.peers:PEERS",
    ),
    candidates=(
        _candidate("jax", "jax_halfcheetah:HalfCheetahJax32"),
        _candidate("jax64", "jax_halfcheetah:HalfCheetahJax64"),
        _candidate("rust", "rust_halfcheetah:HalfCheetahRust32", **_BUILT),
        _candidate("rust64", "rust_halfcheetah:HalfCheetahRust64", **_BUILT),
    ),
    parameters=(Parameter("max_episode_steps", 1000, "steps after which an episode is truncated"),),
    drivers={"trained": "twinstep.rollouts.halfcheetah.drivers:trained"},
    doc="A planar cheetah runs to the right: seven bodies, six motors, contact with the floor.",
)
