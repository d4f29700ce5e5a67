"""EmuRust as a candidate: Game Boys in Rust."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from twinstep.candidates.rust import build as built
from twinstep.candidates.rust.build import probe
from twinstep.candidates.rust.candidate import Layout, RustCandidate
from twinstep.contract import Contract
from twinstep.contracts.emurust.choice import cartridge_of
from twinstep.contracts.emurust.handover import BUTTONS
from twinstep.contracts.emurust.roms.memory import New, Rules, Value
from twinstep.contracts.emurust.state import HIDDEN, SHOWN
from twinstep.errors import UserError
from twinstep.frames import Array, Fields, Frame, Start

if TYPE_CHECKING:
    from twinstep_rust import EmuRustBatch, EmuRustPlay  # pyright: ignore[reportMissingImports]

__all__ = ["EmuRust", "build", "probe"]


build = partial(built.build, "emurust")

#: Frames over which instructions are counted.
_COUNTED = 1200
#: The fields of a machine's record, in order; other fields of a state belong to the episode.
_RECORD = tuple(item.name for item in SHOWN + HIDDEN)


class EmuRust(RustCandidate):
    """The engine of `rust/emurust`.

    Frames have the shown fields; `frame` adds the hidden ones. Where starts bring the cartridge,
    no frame has it, so none can be loaded and `load` is missing.
    """

    any_size = True

    def __init__(self, contract: Contract) -> None:
        rom, rules = cartridge_of(contract.params)
        layouts = {field.name: _layout(field) for field in contract.shown}
        layouts |= {
            "obs": _layout(contract.observation),
            "reward": (np.dtype(np.float32), ()),
            "terminated": (np.dtype(bool), ()),
            "truncated": (np.dtype(bool), ()),
        }
        super().__init__(contract, layouts)
        self._hidden = {field.name: _layout(field) for field in contract.hidden}
        layouts = {name: _layout(contract.state_field(name)) for name in _RECORD}
        self._record = np.dtype([(name, *layout) for name, layout in layouts.items()])
        self._cartridge = rom
        self._rom = None if rom is None else np.frombuffer(rom, np.uint8)[None]
        self._play = self._play_of(rules, contract.params)
        if self._rom is not None:
            self.load = self._load

    def facts(self) -> dict[str, float]:
        """Return memory, and a frame's instructions, counted over 20 seconds of random buttons."""
        if self._cartridge is None:
            return {}
        from twinstep_rust import emurust_instructions  # pyright: ignore[reportMissingImports]

        count = emurust_instructions(self._cartridge, _COUNTED, 1)
        state, _ = self.reset(Start(np.zeros((1, 2), np.uint32), {}))
        return {
            "Instructions per frame, those that only wait included": count / _COUNTED,
            "KB per environment, besides the ROM": state.bytes_per_lane / 1024,
        }

    def reset(self, starts: Start) -> tuple[EmuRustBatch, Frame]:
        """Begin one episode per lane; seeds u32[N, 2]. UserError for an unsupported cartridge."""
        roms = self._rom
        if roms is None:
            roms = np.ascontiguousarray(starts.fields["rom"], np.uint8)
        seeds = np.ascontiguousarray(starts.seed, np.uint32)
        try:
            state = self._rust.EmuRustBatch.reset(self._play, roms, seeds)
        except ValueError as error:
            raise UserError(f"rom={self.contract.params['rom']}: {error}") from None
        return state, super().frame(state)

    def frame(self, state: EmuRustBatch) -> Frame:
        """Return the present frame with the state's hidden fields; nothing is played."""
        out = self.buffers((state.lanes,))
        for name, (dtype, own) in self._hidden.items():
            out[name] = np.empty((state.lanes, *own), dtype)
        state.write(out)
        return self._frame(out)

    def advance(self, state: EmuRustBatch, actions: Array) -> EmuRustBatch:
        """Apply actions [T, N, 1] and write nothing; the state given is consumed."""
        state.rollout(self._flat(actions, (len(actions), state.lanes)), {})
        return state

    def _load(self, fields: Fields, seeds: Array | None = None) -> EmuRustBatch:
        """Continue from a state with its hidden fields; [N, ...] each.

        seeds: u32[N, 2] of the running episodes, or (0, 0) without them.
        """
        records = np.empty(len(fields["pc"]), self._record)
        for name in _RECORD:
            records[name] = fields[name]
        episode = {
            field.name: np.ascontiguousarray(fields[field.name], field.dtype)
            for field in self.contract.shown
            if field.name not in _RECORD
        }
        running = None if seeds is None else np.ascontiguousarray(seeds, np.uint32)
        raw = records.view(np.uint8).reshape(len(records), self._record.itemsize)
        return self._rust.EmuRustBatch.load(self._play, self._rom, raw, episode, seeds=running)

    def _play_of(self, rules: Rules, params: Mapping[str, Any]) -> EmuRustPlay:
        observe = params["observe"]
        if observe == "values":
            observe = [_all_of(value) for value in rules.observed.values()]
        return self._rust.EmuRustPlay(
            reward=[_part(part) for part in rules.reward],
            done=rules.done and _first_of(rules.done),
            buttons=[sum(1 << BUTTONS.index(name) for name in held) for held in rules.actions],
            observe=observe,
            frame_skip=params["frame_skip"],
            max_episode_steps=params["max_episode_steps"],
            seed=rules.seed and _first_of(rules.seed),
            seed_frame=rules.seed_frame,
            start_frames=rules.start_frames,
            waits=rules.waits,
            record=[
                (
                    name,
                    self._record[name].itemsize // self._record[name].base.itemsize,
                    self._record[name].base.name,
                )
                for name in _RECORD
            ],
        )


def _layout(field: Any) -> Layout:
    return np.dtype(field.dtype), field.shape


def _first_of(value: Value) -> tuple[int, int]:
    """Return the place of a value's number, its first if it names several."""
    return value.address, value.size


def _all_of(value: Value) -> tuple[int, int]:
    return value.address, value.size * value.count


def _part(part: Any) -> tuple[str, list[tuple[int, int]], float]:
    if isinstance(part, New):
        return "new", [_all_of(value) for value in part.values], part.weight
    return type(part).__name__.lower(), [_first_of(part.value)], part.weight
