"""HalfCheetah in JAX as a candidate, in float32 and in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from twinstep.candidates.halfcheetah.explain import explain
from twinstep.contract import Contract
from twinstep.frames import Array, Frame
from twinstep.generated import halfcheetah
from twinstep.generated.halfcheetah import modules
from twinstep.generated.halfcheetah.state import State
from twinstep.jax_candidate import JaxCandidate

_FIELDS = ("qpos", "qvel", "qacc_warmstart", "elapsed")


class HalfCheetahJax(JaxCandidate):
    """`twinstep.generated.halfcheetah`, batched."""

    def __init__(self, contract: Contract, dtype: str) -> None:
        most = contract.params["max_episode_steps"]

        def frame(state: State) -> Frame:
            return Frame(
                obs=jnp.concatenate([state.qpos[1:], state.qvel])[None],
                reward=state.reward[None],
                terminated=jnp.bool_(False),
                truncated=state.elapsed >= most,
                acting=jnp.ones(1, bool),
                legal=None,
                state={name: getattr(state, name) for name in _FIELDS},
            )

        def load(fields: dict[str, Array]) -> State:
            held = [jnp.asarray(fields[name], dtype) for name in _FIELDS[:3]]
            return State(*held, jnp.asarray(fields["elapsed"]), jnp.zeros((), dtype))

        super().__init__(
            contract,
            reset=lambda start: halfcheetah.reset(start.seed, dtype),
            step=lambda state, action: halfcheetah.step(state, action[0]),
            frame=frame,
            load=load,
            modules={name: _call(part, dtype) for name, part in modules.MODULES.items()},
            explain=explain,
            dtype=dtype,
            strict=True,
        )


class HalfCheetahJax32(HalfCheetahJax):
    """In float32."""

    def __init__(self, contract: Contract) -> None:
        super().__init__(contract, "float32")


class HalfCheetahJax64(HalfCheetahJax):
    """In float64."""

    def __init__(self, contract: Contract) -> None:
        super().__init__(contract, "float64")


def _call(part: Callable[..., dict[str, Array]], dtype: str) -> Callable[..., dict[str, Array]]:
    def call(**inputs: Any) -> dict[str, Array]:
        kept = ("action", "seed")  # float32 and whole numbers on both sides
        given = {n: v if n in kept else jnp.asarray(v, dtype) for n, v in inputs.items()}
        return part(**given, **({"dtype": dtype} if "seed" in inputs else {}))

    return call
