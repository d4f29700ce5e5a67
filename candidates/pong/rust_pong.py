"""Pong in Rust as a candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinstep.candidates.pong.explain import explain
from twinstep.candidates.rust_build import build, probe
from twinstep.contract import Contract
from twinstep.frames import Array, Fields, Frame, Start
from twinstep.protocols import ModuleCall

if TYPE_CHECKING:
    from twinstep_rust import PongBatch  # pyright: ignore[reportMissingImports]

__all__ = ["PongRust", "build", "probe"]


class PongRust:
    """The engine of `rust/pong`, batched. A state is the engine's own object.

    A step changes the object it is given and returns it. Frames are new arrays each time,
    except that `obs` and `state["last_obs"]` are one piece of memory. With rng=stock the
    table of draws is no field of the frame, so that no frame can be loaded: `load` is
    missing then.
    """

    dtype = "float32"
    platform = "cpu"

    def __init__(self, contract: Contract) -> None:
        import twinstep_rust  # pyright: ignore[reportMissingImports]

        self.contract = contract
        self._rust = twinstep_rust
        self._rules = {
            key: contract.params[key] for key in ("frameskip", "continuous", "max_score")
        }
        self._stock = contract.params["rng"] == "stock"
        self._action = np.dtype(contract.action.dtype)
        hidden = ("last_obs", "log")
        self._fields = [(f.name, np.dtype(f.dtype)) for f in contract.state if f.name not in hidden]
        if not self._stock:
            self.load = self._load

    def reset(self, starts: Start) -> tuple[PongBatch, Frame]:
        """Begin one episode per lane; seeds u32[N, 2]."""
        tables = None
        if self._stock:
            tables = np.ascontiguousarray(starts.fields["draw_table"], np.uint32)
        seeds = np.ascontiguousarray(starts.seed, np.uint32)
        state = self._rust.PongBatch.reset(seeds, tables=tables, **self._rules)
        return state, self.frame(state)

    def step(
        self, state: PongBatch, actions: Array, out: dict[str, np.ndarray] | None = None
    ) -> tuple[PongBatch, Frame]:
        """Apply actions [N, 1], i32 or f32; the state given is consumed.

        out: arrays from `buffers((N,))`, as for `rollout`.
        """
        out = self.buffers((state.games,)) if out is None else out
        state.step(self._flat(actions, (state.games,)), out)
        return state, self._frame(out)

    def rollout(
        self, state: PongBatch, actions: Array, out: dict[str, np.ndarray] | None = None
    ) -> tuple[PongBatch, Frame]:
        """Apply actions [T, N, 1] in one call; frames come with leading [T, N].

        out: arrays from `buffers((T, N))` to write to, instead of new ones: fresh memory
        costs more than the games. Arrays left out of it are not written; `obs`, `reward`
        and `terminated` are the minimum.
        """
        shape = (len(actions), state.games)
        out = self.buffers(shape) if out is None else out
        state.rollout(self._flat(actions, shape), out)
        return state, self._frame(out)

    def auto_step(
        self,
        state: PongBatch,
        actions: Array,
        when: str = "same-step",
        out: dict[str, np.ndarray] | None = None,
    ) -> tuple[PongBatch, Frame, np.ndarray | None]:
        """Apply actions [N, 1]; lanes that ended begin their next episode as `restart` does.

        when: with "same-step" they do so at once: obs and state are those after the restart,
        reward and terminated the step's own. With "next-step" they do not play the step after,
        but show the new episode's first frame. Returns also the final observations [N, 1, 8]:
        those of the terminal frames where lanes ended, `obs` elsewhere; None if `out`, arrays
        from `buffers((N,))`, has no `final_obs`.
        """
        shape = (state.games,)
        out = self.buffers(shape, final_obs=True) if out is None else out
        state.step(self._flat(actions, shape), out, auto_restart=when)
        return state, *self._with_final(out)

    def auto_rollout(
        self,
        state: PongBatch,
        actions: Array,
        when: str = "same-step",
        out: dict[str, np.ndarray] | None = None,
    ) -> tuple[PongBatch, Frame, np.ndarray | None]:
        """`auto_step` with actions [T, N, 1] in one call; all arrays with leading [T, N]."""
        shape = (len(actions), state.games)
        out = self.buffers(shape, final_obs=True) if out is None else out
        state.rollout(self._flat(actions, shape), out, auto_restart=when)
        return state, *self._with_final(out)

    def frame(self, state: PongBatch) -> Frame:
        """Return the present frame, nothing played. A lane that was restarted has no reward."""
        out = self.buffers((state.games,))
        state.write(out)
        return self._frame(out)

    def copy(self, state: PongBatch) -> PongBatch:
        """Return a state that a later step does not change."""
        return state.copy()

    def restart(self, state: PongBatch) -> tuple[PongBatch, Frame]:
        """Begin the next episode in all lanes; the state given is consumed."""
        state.restart()
        return state, self.frame(state)

    def call(self, module: str, inputs: Fields) -> dict[str, np.ndarray]:
        """Evaluate one module on inputs with a leading N."""
        given = {
            field.name: np.ascontiguousarray(inputs[field.name], field.dtype)
            for field in self.contract.module(module).inputs
        }
        rules = self._rules
        return self._rust.pong_call(module, given, rules["continuous"], rules["max_score"])

    def explain(self, state: Fields, action: Array) -> list[ModuleCall]:
        """List the module calls of one step of one lane."""
        return explain(self.call, self.contract, state, action)

    def buffers(
        self, shape: tuple[int, ...], minimal: bool = False, final_obs: bool = False
    ) -> dict[str, np.ndarray]:
        """Return new arrays for the fields of frames; shape: (N,) or (T, N).

        minimal: without the state's. final_obs: with one for `auto_rollout`'s, [..., 8].
        """
        fields = [] if minimal else self._fields
        out = {name: np.empty(shape, dtype) for name, dtype in fields}
        for name in ("obs", "final_obs") if final_obs else ("obs",):
            out[name] = np.empty((*shape, 8), np.float32)
        out["reward"] = np.empty(shape, np.float32)
        # Zeros: any other byte than 0 and 1 would not be a bool.
        out["terminated"] = np.zeros(shape, bool)
        return out

    def _load(self, fields: Fields) -> PongBatch:
        wanted = [(f.name, f.dtype) for f in self.contract.state if f.name != "log"]
        given = {name: np.ascontiguousarray(fields[name], dtype) for name, dtype in wanted}
        return self._rust.PongBatch.load(given, **self._rules)

    def _flat(self, actions: Array, shape: tuple[int, ...]) -> np.ndarray:
        # The only player's axis goes; the rest is for the engine to check.
        actions = np.asarray(actions)
        if actions.shape != (*shape, 1):
            raise ValueError(f"actions have shape {actions.shape}, expected {(*shape, 1)}")
        if actions.dtype != self._action:
            raise ValueError(f"actions have dtype {actions.dtype}, expected {self._action}")
        return np.ascontiguousarray(actions[..., 0])

    def _with_final(self, out: dict[str, np.ndarray]) -> tuple[Frame, np.ndarray | None]:
        final = out.get("final_obs")
        return self._frame(out), None if final is None else final[..., None, :]

    @staticmethod
    def _frame(out: dict[str, np.ndarray]) -> Frame:
        fields = dict(out)
        obs, reward = fields.pop("obs"), fields.pop("reward")
        terminated = fields.pop("terminated")
        fields.pop("final_obs", None)
        return Frame(
            obs=obs[..., None, :],
            reward=reward[..., None],
            terminated=terminated,
            truncated=np.broadcast_to(False, terminated.shape),
            acting=np.broadcast_to(True, (*terminated.shape, 1)),
            legal=None,
            state=fields | {"last_obs": obs},
        )
