"""Pong in JAX as a candidate."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from twinstep.candidates.pong.explain import explain
from twinstep.contract import Contract
from twinstep.frames import Array, Frame
from twinstep.generated import pong
from twinstep.generated.pong import ball, observe, paddles, serve, sides
from twinstep.generated.pong.state import Observation, State
from twinstep.jax_candidate import JaxCandidate


class PongJax(JaxCandidate):
    """`twinstep.generated.pong`, batched.

    With rng=stock the table of draws is no field of the frame, so that no frame can be
    loaded: `load` is missing then.
    """

    def __init__(self, contract: Contract) -> None:
        params = pong.Params(
            frameskip=contract.params["frameskip"],
            continuous=contract.params["continuous"],
            max_score=contract.params["max_score"],
        )
        stock = contract.params["rng"] == "stock"
        super().__init__(
            contract,
            reset=lambda start: pong.reset(start.seed, params, start.fields.get("draw_table")),
            step=lambda state, action: pong.step(state, action[0], params),
            restart=lambda state: pong.restart(state, params),
            frame=_frame,
            load=None if stock else _load,
            modules=_modules(params),
            explain=explain,
        )


def _frame(state: State) -> Frame:
    obs = jnp.stack(state.last_obs)
    hidden = ("draw_table", "reward", "terminated")
    fields = {
        name: value
        for name, value in state._asdict().items()
        if name not in hidden and value is not None
    }
    return Frame(
        obs=obs[None],
        reward=state.reward[None],
        terminated=state.terminated,
        truncated=jnp.bool_(False),
        acting=jnp.ones(1, bool),
        legal=None,
        state=fields | {"last_obs": obs},
    )


def _load(fields: dict[str, Array]) -> State:
    known = {name: jnp.asarray(fields[name]) for name in State._fields if name in fields}
    known["last_obs"] = Observation(*(known["last_obs"][i] for i in range(8)))
    return State(**known, draw_table=None, reward=jnp.float32(0.0), terminated=jnp.bool_(False))


def _modules(params: pong.Params) -> dict[str, Callable[..., dict[str, Array]]]:
    def named(*names: str) -> Callable[[tuple[Array, ...]], dict[str, Array]]:
        return lambda values: dict(zip(names, values, strict=True))

    return {
        "agent_paddle": lambda **x: named("paddle_yr", "paddle_dir")(
            paddles.agent_paddle(**x, params=params)
        ),
        "opponent_paddle": lambda **x: {"paddle_yl": paddles.opponent_paddle(**x)},
        "ball": lambda **x: named("ball_x", "ball_y", "ball_vy")(ball.move(**x)),
        "left_side": lambda **x: sides.left_side(**x, params=params)._asdict(),
        "right_side": lambda **x: sides.right_side(**x, params=params)._asdict(),
        "serve": lambda **x: serve.serve(**x)._asdict(),
        "observe": lambda **x: {"obs": jnp.stack(observe.observe(**x, params=params))},
    }
