"""Common base of all batched Rust engines as candidates: arrays in, frames out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Array, Frame

#: The dtype and, after the axes of lanes, the shape of a field.
Layout = tuple[np.dtype, tuple[int, ...]]


class RustCandidate:
    """An engine of `twinstep_rust`, batched. A state is the engine's own object.

    A step changes the given object and returns it. Frames are new arrays each time, unless
    buffers are given.

    layouts: the fields that an engine writes, by name: `obs`, `reward`, `terminated` or `truncated`
    (an engine ends episodes by one of them), and those of the state.
    """

    dtype = "float32"
    platform = "cpu"

    def __init__(self, contract: Contract, layouts: Mapping[str, Layout]) -> None:
        import twinstep_rust  # pyright: ignore[reportMissingImports]

        self.contract = contract
        self._rust = twinstep_rust
        self._layouts = dict(layouts)
        self._action: Layout = contract.action_layout()

    def step(
        self, state: Any, actions: Array, out: dict[str, np.ndarray] | None = None
    ) -> tuple[Any, Frame]:
        """Apply actions [N, 1, ...]; the state given is consumed.

        out: arrays from `buffers((N,))`, as for `rollout`.
        """
        shape = (state.lanes,)
        out = self.buffers(shape) if out is None else out
        state.step(self._flat(actions, shape), out)
        return state, self._frame(out)

    def rollout(
        self, state: Any, actions: Array, out: dict[str, np.ndarray] | None = None
    ) -> tuple[Any, Frame]:
        """Apply actions [T, N, 1, ...] in one call; frames come with leading [T, N].

        out: arrays from `buffers((T, N))` to write to, instead of new ones: fresh memory can cost
        more than playing. Arrays left out of it are not written; `obs`, `reward` and the end flag
        are required.
        """
        shape = (len(actions), state.lanes)
        out = self.buffers(shape) if out is None else out
        state.rollout(self._flat(actions, shape), out)
        return state, self._frame(out)

    def auto_step(
        self,
        state: Any,
        actions: Array,
        when: str = "same-step",
        out: dict[str, np.ndarray] | None = None,
    ) -> tuple[Any, Frame, np.ndarray | None]:
        """Apply actions [N, 1, ...]; lanes that ended begin their next episode.

        when: with "same-step" they do so at once: obs and state are those of the new episode,
        reward and end flag the step's own. With "next-step" they do not play the step after, but
        show the new episode's first frame. Also returns the final observations [N, 1, ...]: those
        of the last frames where lanes ended, `obs` elsewhere; None if `out`, arrays from
        `buffers((N,))`, has no `final_obs`.
        """
        shape = (state.lanes,)
        out = self.buffers(shape, final_obs=True) if out is None else out
        state.step(self._flat(actions, shape), out, auto_reset=when)
        return state, *self._with_final(out)

    def auto_rollout(
        self,
        state: Any,
        actions: Array,
        when: str = "same-step",
        out: dict[str, np.ndarray] | None = None,
    ) -> tuple[Any, Frame, np.ndarray | None]:
        """`auto_step` with actions [T, N, 1, ...] in one call; all arrays with leading [T, N]."""
        shape = (len(actions), state.lanes)
        out = self.buffers(shape, final_obs=True) if out is None else out
        state.rollout(self._flat(actions, shape), out, auto_reset=when)
        return state, *self._with_final(out)

    def frame(self, state: Any) -> Frame:
        """Return the present frame; nothing is played. A lane that was reset has no reward."""
        out = self.buffers((state.lanes,))
        state.write(out)
        return self._frame(out)

    def copy(self, state: Any) -> Any:
        """Return a state that a later step does not change."""
        return state.copy()

    def buffers(
        self, shape: tuple[int, ...], minimal: bool = False, final_obs: bool = False
    ) -> dict[str, np.ndarray]:
        """Return new arrays for the fields of frames; shape: (N,) or (T, N).

        minimal: without the state's fields. final_obs: with one for `auto_rollout`.
        """
        out = {}
        for name, (dtype, own) in self._layouts.items():
            if minimal and name not in ("obs", "reward", "terminated", "truncated"):
                continue
            # Zeros, because any byte other than 0 and 1 would not be a bool.
            new = np.zeros if dtype.kind == "b" else np.empty
            out[name] = new((*shape, *own), dtype)
            if name == "obs" and final_obs:
                out["final_obs"] = np.empty_like(out["obs"])
        return out

    def _flat(self, actions: Array, shape: tuple[int, ...]) -> np.ndarray:
        actions = np.asarray(actions)
        dtype, own = self._action
        if actions.shape != (*shape, *own):
            raise ValueError(f"actions have shape {actions.shape}, expected {(*shape, *own)}")
        if actions.dtype != dtype:
            raise ValueError(f"actions have dtype {actions.dtype}, expected {dtype}")
        # Drop the only player's axis.
        return np.ascontiguousarray(actions.reshape(*shape, *own[1:]))

    def _with_final(self, out: dict[str, np.ndarray]) -> tuple[Frame, np.ndarray | None]:
        final = out.get("final_obs")
        return self._frame(out), None if final is None else self._of_player(final)

    def _of_player(self, obs: np.ndarray) -> np.ndarray:
        # The only player's axis comes before an observation's own.
        return np.expand_dims(obs, -1 - len(self._layouts["obs"][1]))

    def _frame(self, out: dict[str, np.ndarray]) -> Frame:
        fields = {name: value for name, value in out.items() if name != "final_obs"}
        obs, reward = fields.pop("obs"), fields.pop("reward")
        ends = {name: fields.pop(name, None) for name in ("terminated", "truncated")}
        never = np.broadcast_to(False, reward.shape)
        return Frame(
            obs=self._of_player(obs),
            reward=reward[..., None],
            terminated=never if ends["terminated"] is None else ends["terminated"],
            truncated=never if ends["truncated"] is None else ends["truncated"],
            acting=np.broadcast_to(True, (*reward.shape, 1)),
            legal=None,
            state=fields,
        )
