"""HalfCheetah in Rust as a candidate, in single and in double precision.

The engine computes with the processor's widest vectors. The environment variable TWINSTEP_ISA
selects others: `portable` (any processor), `avx2` (AVX2 with fused multiply-add) or
`avx512` (AVX-512F). The last two give equal bits.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from twinstep.candidates.halfcheetah.explain import explain
from twinstep.candidates.rust import build as built
from twinstep.candidates.rust.build import probe
from twinstep.candidates.rust.candidate import Layout, RustCandidate
from twinstep.contract import Contract
from twinstep.frames import Array, Fields, Frame, Start
from twinstep.protocols import ModuleCall

if TYPE_CHECKING:
    from twinstep_rust import HalfCheetahBatch  # pyright: ignore[reportMissingImports]

__all__ = ["HalfCheetahRust32", "HalfCheetahRust64", "build", "probe"]


build = partial(built.build, "halfcheetah")


class _HalfCheetahRust(RustCandidate):
    """The engine of `rust/halfcheetah`. isa: the instruction set of states created now."""

    def __init__(self, contract: Contract) -> None:
        real = np.dtype(self.dtype)
        state: dict[str, Layout] = dict.fromkeys(("qpos", "qvel", "qacc_warmstart"), (real, (9,)))
        state["elapsed"] = (np.dtype(np.int32), ())
        layouts = state | {
            "obs": (real, (17,)),
            "reward": (real, ()),
            "truncated": (np.dtype(bool), ()),
        }
        super().__init__(contract, layouts)
        #: The fields of a state, with their dtypes here.
        self._state = {name: dtype for name, (dtype, _) in state.items()}
        self._how = {
            "dtype": self.dtype,
            "max_episode_steps": int(contract.params["max_episode_steps"]),
        }

    @property
    def isa(self) -> str:
        """Return `portable`, `avx2` or `avx512`."""
        return self._rust.halfcheetah_isa()

    def reset(self, starts: Start) -> tuple[HalfCheetahBatch, Frame]:
        """Begin one episode per lane; seeds u32[N, 2]."""
        seeds = np.ascontiguousarray(starts.seed, np.uint32)
        state = self._rust.HalfCheetahBatch.reset(seeds, **self._how)
        return state, self.frame(state)

    def load(self, fields: Fields, seeds: Array | None = None) -> HalfCheetahBatch:
        """Continue from a frame's state. seeds: u32[N, 2] of the running episodes, or (0, 0)."""
        given = {
            name: np.ascontiguousarray(fields[name], dtype) for name, dtype in self._state.items()
        }
        running = None if seeds is None else np.ascontiguousarray(seeds, np.uint32)
        return self._rust.HalfCheetahBatch.load(given, seeds=running, **self._how)

    def advance(self, state: HalfCheetahBatch, actions: Array) -> HalfCheetahBatch:
        """Apply actions [T, N, 1, 6] and write nothing; the state given is consumed."""
        state.rollout(self._flat(actions, (len(actions), state.lanes)), {})
        return state

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


class HalfCheetahRust32(_HalfCheetahRust):
    """HalfCheetah in float32."""

    dtype = "float32"


class HalfCheetahRust64(_HalfCheetahRust):
    """HalfCheetah in float64."""

    dtype = "float64"
