"""The reference as a whole environment for `twinstep bench`: PyBoys in threads or in processes.

Each way does all the work of an environment: it plays the frames, reads the reward's bytes, copies
the observation, and begins the next episode by loading a saved state. PyBoy's tick lets other
threads run meanwhile, and its memory reads do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twinstep.bench.lane_pool import InProcesses, InThreads
from twinstep.bench.targets import NamedTarget
from twinstep.contract import Contract
from twinstep.contracts.emurust.choice import cartridge_of
from twinstep.env.timestep import next_seeds
from twinstep.errors import UserError
from twinstep.frames import Fields
from twinstep.oracles.emurust.episode import Episode

_SLICE = "twinstep.oracles.emurust.native:Slice"


class Slice:
    """Some lanes in turn: N episodes, one PyBoy each; see lane_pool.Slice."""

    def __init__(self, params: Mapping[str, Any], lanes: int) -> None:
        rom, _ = cartridge_of(params)
        if rom is None:
            raise UserError(f"rom={params['rom']}: choose one cartridge to be measured")
        self._seeds = np.zeros((lanes, 2), np.uint32)
        self._episodes = [Episode(params, rom) for _ in range(lanes)]

    def begin(self, seeds: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]."""
        self._seeds = seeds.copy()
        for episode, seed in zip(self._episodes, seeds, strict=True):
            episode.begin(seed)

    def play(self, actions: np.ndarray, out: dict[str, np.ndarray]) -> None:
        """Play actions i32[T, N, 1]; out: [T, N, ...] by name."""
        for t, row in enumerate(actions[:, :, 0].tolist()):
            for lane, episode in enumerate(self._episodes):
                out["reward"][t, lane] = episode.step(row[lane])
                ended, cut = episode.terminated, episode.truncated
                out["terminated"][t, lane], out["truncated"][t, lane] = ended, cut
                if ended or cut:
                    self._seeds[lane] = next_seeds(self._seeds[lane])
                    episode.begin(self._seeds[lane])
                out["obs"][t, lane] = episode.observation()

    def state(self) -> Fields:
        """Return the shown fields [N, ...]."""
        shown = [episode.fields() for episode in self._episodes]
        return {name: np.stack([fields[name] for fields in shown]) for name in shown[0]}


def runners(contract: Contract, lanes: int, steps: int, threads: int) -> list[NamedTarget]:
    """Return the reference's ways to play N lanes for T steps; with one thread the plain one."""
    about = {"facts": {"Frames per step": contract.params["frame_skip"]}}
    if threads == 1:
        return [
            NamedTarget(
                "PyBoy, one after another", InThreads(_SLICE, contract, lanes, steps), about
            )
        ]
    return [
        NamedTarget(
            "PyBoy in processes", InProcesses(_SLICE, contract, lanes, steps, threads), about
        ),
        NamedTarget("PyBoy in threads", InThreads(_SLICE, contract, lanes, steps, threads), about),
    ]
