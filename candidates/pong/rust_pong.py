"""Pong in Rust as a candidate."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from twinstep.candidates.pong.explain import explain
from twinstep.candidates.rust import build as built
from twinstep.candidates.rust.build import probe
from twinstep.candidates.rust.candidate import RustCandidate
from twinstep.contract import Contract
from twinstep.frames import Array, Fields, Frame, Start
from twinstep.protocols import ModuleCall

if TYPE_CHECKING:
    from twinstep_rust import PongBatch  # pyright: ignore[reportMissingImports]

__all__ = ["PongRust", "build", "probe"]


build = partial(built.build, "pong")


class PongRust(RustCandidate):
    """The engine of `rust/pong`.

    A frame's `obs` and `state["last_obs"]` share memory. With rng=stock the table of draws is
    no field of the frame, so no frame can be loaded and `load` is missing.
    """

    def __init__(self, contract: Contract) -> None:
        hidden = ("last_obs", "log")
        layouts = {f.name: (np.dtype(f.dtype), ()) for f in contract.state if f.name not in hidden}
        layouts |= {
            "obs": (np.dtype(np.float32), (8,)),
            "reward": (np.dtype(np.float32), ()),
            "terminated": (np.dtype(bool), ()),
        }
        super().__init__(contract, layouts)
        self._rules = {
            key: contract.params[key] for key in ("frameskip", "continuous", "max_score")
        }
        self._stock = contract.params["rng"] == "stock"
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

    def _load(self, fields: Fields) -> PongBatch:
        wanted = [(f.name, f.dtype) for f in self.contract.state if f.name != "log"]
        given = {name: np.ascontiguousarray(fields[name], dtype) for name, dtype in wanted}
        return self._rust.PongBatch.load(given, **self._rules)

    def _frame(self, out: dict[str, np.ndarray]) -> Frame:
        frame = super()._frame(out)
        return frame._replace(state={**frame.state, "last_obs": out["obs"]})
