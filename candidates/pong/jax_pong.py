"""Pong in JAX as a candidate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from twinstep.candidates.pong.explain import explain
from twinstep.contract import Contract
from twinstep.frames import Array, Frame
from twinstep.jax_candidate import JaxCandidate
from twinstep.late import Package

if TYPE_CHECKING:
    from twinstep.generated.pong.state import State

pong = Package("twinstep.generated.pong")


class PongJax(JaxCandidate):
    """`twinstep.generated.pong`, batched.

    With rng=stock the table of draws is no field of the frame, so no frame can be
    loaded and `load` is missing.
    """

    def __init__(self, contract: Contract) -> None:
        chosen = {name: contract.params[name] for name in ("frameskip", "continuous", "max_score")}
        stock = contract.params["rng"] == "stock"

        def params() -> Any:
            return pong.state.Params(**chosen)

        super().__init__(
            contract,
            reset=lambda start: pong.step.reset(
                start.seed, params(), start.fields.get("draw_table")
            ),
            step=lambda state, action: pong.step.step(state, action[0], params()),
            restart=lambda state: pong.step.restart(state, params()),
            frame=_frame,
            load=None if stock else _load,
            modules=_modules(params),
            explain=explain,
            strict=True,
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
    state = pong.state
    known = {name: jnp.asarray(fields[name]) for name in state.State._fields if name in fields}
    known["last_obs"] = state.Observation(*(known["last_obs"][i] for i in range(8)))
    return state.State(
        **known, draw_table=None, reward=jnp.float32(0.0), terminated=jnp.bool_(False)
    )


def _modules(params: Callable[[], Any]) -> dict[str, Callable[..., dict[str, Array]]]:
    def named(*names: str) -> Callable[[tuple[Array, ...]], dict[str, Array]]:
        return lambda values: dict(zip(names, values, strict=True))

    return {
        "agent_paddle": lambda **x: named("paddle_yr", "paddle_dir")(
            pong.paddles.agent_paddle(**x, params=params())
        ),
        "opponent_paddle": lambda **x: {"paddle_yl": pong.paddles.opponent_paddle(**x)},
        "ball": lambda **x: named("ball_x", "ball_y", "ball_vy")(pong.ball.move(**x)),
        "left_side": lambda **x: pong.sides.left_side(**x, params=params())._asdict(),
        "right_side": lambda **x: pong.sides.right_side(**x, params=params())._asdict(),
        "serve": lambda **x: pong.serve.serve(**x)._asdict(),
        "observe": lambda **x: {"obs": jnp.stack(pong.observe.observe(**x, params=params()))},
    }
