"""The rules as a candidate: state, frame, step, and the modules by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from twinstep import Contract, Frame, JaxCandidate, ModuleCall, Start
from twinstep_cartpole.fast import rules


class State(NamedTuple):
    """One episode: the contract's fields (f64[], i32[], u32[8]), then the last step's results."""

    x: Array
    x_dot: Array
    theta: Array
    theta_dot: Array
    elapsed: Array
    beyond: Array
    rng: Array
    reward: Array
    terminated: Array
    truncated: Array


RESULTS = ("reward", "terminated", "truncated")


class CartPoleJax(JaxCandidate):
    """See twinstep.Candidate."""

    def __init__(self, contract: Contract) -> None:
        super().__init__(
            contract,
            reset=reset,
            step=lambda state, action: step(state, action[0]),
            frame=frame,
            load=load,
            modules={part.name: _named(contract, part.name) for part in contract.modules},
            explain=explain,
            dtype="float64",
        )


def reset(start: Start) -> State:
    """Begin the episode of a seed u32[2]."""
    x, x_dot, theta, theta_dot, rng = rules.start(start.seed)
    return load(dict(x=x, x_dot=x_dot, theta=theta, theta_dot=theta_dot, rng=rng,
                     elapsed=jnp.int32(0), beyond=jnp.int32(-1)))  # fmt: skip


def step(state: State, action: Array) -> State:
    """Apply an action i32[]."""
    x, theta = rules.move(state.x, state.x_dot, state.theta, state.theta_dot)
    x_dot, theta_dot = rules.push(state.x_dot, state.theta, state.theta_dot, action)
    terminated, reward, beyond = rules.judge(x, theta, state.beyond)
    elapsed, truncated = rules.limit(state.elapsed)
    return State(
        x, x_dot, theta, theta_dot, elapsed, beyond, state.rng, reward, terminated, truncated
    )


def frame(state: State) -> Frame:
    """Return the frame of a state."""
    parts = (state.x, state.x_dot, state.theta, state.theta_dot)
    return Frame(
        obs=jnp.stack(parts).astype(jnp.float32)[None],
        reward=state.reward[None],
        terminated=state.terminated,
        truncated=state.truncated,
        acting=jnp.ones(1, bool),
        legal=None,
        state={name: value for name, value in state._asdict().items() if name not in RESULTS},
    )


def load(fields: Mapping[str, Any]) -> State:
    """Continue from a frame's state."""
    values = {name: fields[name] for name in State._fields if name not in RESULTS}
    return State(**values, reward=jnp.float32(0), terminated=jnp.bool_(False),
                 truncated=jnp.bool_(False))  # fmt: skip


def _named(contract: Contract, name: str) -> Callable[..., dict[str, Array]]:
    """Look a module up when it is called, so that one can be tested before all are written."""
    outputs = [field.name for field in contract.module(name).outputs]
    return lambda **inputs: dict(zip(outputs, getattr(rules, name)(**inputs), strict=True))


def explain(
    call: Callable[[str, Mapping[str, Any]], dict[str, Array]],
    contract: Contract,
    state: Mapping[str, Any],
    action: Array,
) -> list[ModuleCall]:
    """List the module calls of one step of one lane, in order.

    call: evaluates a module on inputs with a leading N. state: a frame's, of one lane.
    action: [1].
    """
    before: dict[str, Any] = dict(state) | {"action": np.asarray(action)[0]}
    after = dict(before)
    calls = []
    for name in ("move", "push", "judge", "limit"):
        source = after if name == "judge" else before
        inputs = {f.name: np.asarray(source[f.name], f.dtype) for f in contract.module(name).inputs}
        outputs = call(name, {key: value[None] for key, value in inputs.items()})
        single = {key: np.asarray(value)[0] for key, value in outputs.items()}
        calls.append(ModuleCall(name, inputs, single))
        after |= single
    return calls
