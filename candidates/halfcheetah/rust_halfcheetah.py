"""HalfCheetah in Rust as a candidate, in single and in double precision.

The engine computes with the widest vectors that the processor has. The environment variable
TWINSTEP_ISA takes others: `portable` (any processor), `avx2` (AVX2 with fused multiply-add) or
`avx512` (AVX-512F). The last two give equal bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinstep.candidates.halfcheetah.explain import explain
from twinstep.candidates.rust_build import build, probe
from twinstep.contract import Contract
from twinstep.frames import Array, Fields, Frame, Start
from twinstep.protocols import ModuleCall

if TYPE_CHECKING:
    from twinstep_rust import HalfCheetahBatch  # pyright: ignore[reportMissingImports]

__all__ = ["HalfCheetahRust32", "HalfCheetahRust64", "build", "probe"]


class _HalfCheetahRust:
    """The engine of `rust/halfcheetah`, batched. A state is the engine's own object.

    A step changes the object it is given and returns it. Frames are new arrays each time. isa:
    the instructions that states made now compute with.
    """

    dtype = ""
    platform = "cpu"

    def __init__(self, contract: Contract) -> None:
        import twinstep_rust  # pyright: ignore[reportMissingImports]

        self.contract = contract
        self._rust = twinstep_rust
        self._real = np.dtype(self.dtype)
        self._how = {
            "dtype": self.dtype,
            "max_episode_steps": int(contract.params["max_episode_steps"]),
        }
        #: What a state has, with its dtypes here.
        self._state: dict[str, tuple[np.dtype, tuple[int, ...]]] = {
            name: (self._real, (9,)) for name in ("qpos", "qvel", "qacc_warmstart")
        }
        self._state["elapsed"] = (np.dtype(np.int32), ())

    @property
    def isa(self) -> str:
        """Return `portable`, `avx2` or `avx512`."""
        return self._rust.halfcheetah_isa()

    def reset(self, starts: Start) -> tuple[HalfCheetahBatch, Frame]:
        """Begin one episode per lane; seeds u32[N, 2]."""
        seeds = np.ascontiguousarray(starts.seed, np.uint32)
        state = self._rust.HalfCheetahBatch.reset(seeds, **self._how)
        return state, self.frame(state)

    def step(
        self, state: HalfCheetahBatch, actions: Array, out: dict[str, np.ndarray] | None = None
    ) -> tuple[HalfCheetahBatch, Frame]:
        """Apply actions f32[N, 1, 6]; the state given is consumed.

        out: arrays from `buffers((N,))`, as for `rollout`.
        """
        shape = (state.lanes,)
        out = self.buffers(shape) if out is None else out
        state.step(self._flat(actions, shape), out)
        return state, self._frame(out)

    def rollout(
        self, state: HalfCheetahBatch, actions: Array, out: dict[str, np.ndarray] | None = None
    ) -> tuple[HalfCheetahBatch, Frame]:
        """Apply actions [T, N, 1, 6] in one call; frames come with leading [T, N].

        out: arrays from `buffers((T, N))` to write to, instead of new ones. Arrays left out of it
        are not written; `obs`, `reward` and `truncated` are the minimum.
        """
        shape = (len(actions), state.lanes)
        out = self.buffers(shape) if out is None else out
        state.rollout(self._flat(actions, shape), out)
        return state, self._frame(out)

    def advance(self, state: HalfCheetahBatch, actions: Array) -> HalfCheetahBatch:
        """Apply actions [T, N, 1, 6] and write nothing; the state given is consumed."""
        state.rollout(self._flat(actions, (len(actions), state.lanes)), {})
        return state

    def auto_step(
        self,
        state: HalfCheetahBatch,
        actions: Array,
        when: str = "same-step",
        out: dict[str, np.ndarray] | None = None,
    ) -> tuple[HalfCheetahBatch, Frame, np.ndarray | None]:
        """Apply actions [N, 1, 6]; lanes that ended begin an episode with the seed (a, b + 1).

        when: with "same-step" they do so at once: obs and state are those of the new episode,
        reward and truncated the step's own. With "next-step" they do not play the step after, but
        show the new episode's first frame. Returns also the final observations [N, 1, 17]: those
        of the last frames where lanes ended, `obs` elsewhere; None if `out`, arrays from
        `buffers((N,))`, has no `final_obs`.
        """
        shape = (state.lanes,)
        out = self.buffers(shape, final_obs=True) if out is None else out
        state.step(self._flat(actions, shape), out, auto_reset=when)
        return state, *self._with_final(out)

    def auto_rollout(
        self,
        state: HalfCheetahBatch,
        actions: Array,
        when: str = "same-step",
        out: dict[str, np.ndarray] | None = None,
    ) -> tuple[HalfCheetahBatch, Frame, np.ndarray | None]:
        """`auto_step` with actions [T, N, 1, 6] in one call; all arrays with leading [T, N]."""
        shape = (len(actions), state.lanes)
        out = self.buffers(shape, final_obs=True) if out is None else out
        state.rollout(self._flat(actions, shape), out, auto_reset=when)
        return state, *self._with_final(out)

    def frame(self, state: HalfCheetahBatch) -> Frame:
        """Return the present frame, nothing played. A lane that was reset has no reward."""
        out = self.buffers((state.lanes,))
        state.write(out)
        return self._frame(out)

    def copy(self, state: HalfCheetahBatch) -> HalfCheetahBatch:
        """Return a state that a later step does not change."""
        return state.copy()

    def load(self, fields: Fields, seeds: Array | None = None) -> HalfCheetahBatch:
        """Continue from a frame's state. seeds: u32[N, 2] of the running episodes, else (0, 0)."""
        given = {
            name: np.ascontiguousarray(fields[name], dtype)
            for name, (dtype, _) in self._state.items()
        }
        running = None if seeds is None else np.ascontiguousarray(seeds, np.uint32)
        return self._rust.HalfCheetahBatch.load(given, seeds=running, **self._how)

    def call(self, module: str, inputs: Fields) -> dict[str, np.ndarray]:
        """Evaluate one module on inputs with a leading N."""
        given = {}
        for field in self.contract.module(module).inputs:
            dtype = np.uint32 if field.name == "seed" else np.float64
            given[field.name] = np.ascontiguousarray(inputs[field.name], dtype)
        return self._rust.halfcheetah_call(module, given, self.dtype)

    def explain(self, state: Fields, action: Array) -> list[ModuleCall]:
        """List the module calls of one step of one lane."""
        return explain(self.call, self.contract, state, action)

    def buffers(
        self, shape: tuple[int, ...], minimal: bool = False, final_obs: bool = False
    ) -> dict[str, np.ndarray]:
        """Return new arrays for the fields of frames; shape: (N,) or (T, N).

        minimal: without the state's. final_obs: with one for `auto_rollout`'s, [..., 17].
        """
        state = {} if minimal else self._state
        out = {name: np.empty((*shape, *own), dtype) for name, (dtype, own) in state.items()}
        for name in ("obs", "final_obs") if final_obs else ("obs",):
            out[name] = np.empty((*shape, 17), self._real)
        out["reward"] = np.empty(shape, self._real)
        # Zeros: any other byte than 0 and 1 would not be a bool.
        out["truncated"] = np.zeros(shape, bool)
        return out

    def _flat(self, actions: Array, shape: tuple[int, ...]) -> np.ndarray:
        # The only player's axis goes.
        actions = np.asarray(actions)
        if actions.shape != (*shape, 1, 6):
            raise ValueError(f"actions have shape {actions.shape}, expected {(*shape, 1, 6)}")
        if actions.dtype != np.float32:
            raise ValueError(f"actions have dtype {actions.dtype}, expected float32")
        return np.ascontiguousarray(actions.reshape(*shape, 6))

    def _with_final(self, out: dict[str, np.ndarray]) -> tuple[Frame, np.ndarray | None]:
        final = out.get("final_obs")
        return self._frame(out), None if final is None else final[..., None, :]

    @staticmethod
    def _frame(out: dict[str, np.ndarray]) -> Frame:
        fields = dict(out)
        obs, reward = fields.pop("obs"), fields.pop("reward")
        truncated = fields.pop("truncated")
        fields.pop("final_obs", None)
        return Frame(
            obs=obs[..., None, :],
            reward=reward[..., None],
            terminated=np.broadcast_to(False, truncated.shape),
            truncated=truncated,
            acting=np.broadcast_to(True, (*truncated.shape, 1)),
            legal=None,
            state=fields,
        )


class HalfCheetahRust32(_HalfCheetahRust):
    """HalfCheetah in float32."""

    dtype = "float32"


class HalfCheetahRust64(_HalfCheetahRust):
    """HalfCheetah in float64."""

    dtype = "float64"
