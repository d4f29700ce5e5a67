"""Game Boys of the Rust module for tests, without contract and reference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from twinstep.candidates.rust.build import probe
from twinstep.contracts.emurust.cartridge import Cartridge, read_header
from twinstep.contracts.emurust.handover import BUTTONS
from twinstep.contracts.emurust.roms.games import GAMES
from twinstep.contracts.emurust.roms.memory import Bits, Change, New, Rules, Value
from twinstep.contracts.emurust.state import HIDDEN, SHOWN, record_dtype, shape_of
from twinstep.tests.support.requirements import need

#: Bytes that a play stores for each New.
MEMORY = 4096


def need_the_module() -> None:
    """Skip the test (fail it in CI) if the module is not built from the sources here."""
    need(probe({}))


def place(value: Value) -> tuple[int, int]:
    return value.address, value.size


def part(each: Change | Bits | New) -> tuple[str, list[tuple[int, int]], float]:
    values = each.values if isinstance(each, New) else (each.value,)
    return type(each).__name__.lower(), [place(value) for value in values], each.weight


def record_of(cartridge: Cartridge) -> list[tuple[str, int, str]]:
    return [
        (item.name, int(np.prod(shape_of(item, cartridge))), np.dtype(item.dtype).name)
        for item in SHOWN + HIDDEN
    ]


def play_of(rom: bytes, rules: Rules, **more: Any) -> Any:
    """Return an EmuRustPlay. more: arguments that differ from the rules or the usual values."""
    import twinstep_rust  # pyright: ignore[reportMissingImports]

    usual = {
        "reward": [part(each) for each in rules.reward],
        "done": rules.done and place(rules.done),
        "buttons": [sum(1 << BUTTONS.index(b) for b in buttons) for buttons in rules.actions],
        "observe": "full",
        "frame_skip": 24,
        "max_episode_steps": 160,
        "seed": rules.seed and place(rules.seed),
        "seed_frame": rules.seed_frame,
        "start_frames": rules.start_frames,
        "waits": rules.waits,
        "record": record_of(read_header(rom)),
    }
    return twinstep_rust.EmuRustPlay(**usual | more)


class Boys:
    """Lanes of one game in the Rust module."""

    def __init__(self, rom: bytes, play: Any, batch: Any, width: tuple[int, ...], new: int) -> None:
        self.rom, self.play, self.batch = rom, play, batch
        cartridge = read_header(rom)
        byte, flag = np.dtype(np.uint8), np.dtype(bool)
        self.layouts = {
            "obs": (byte, width),
            "reward": (np.dtype(np.float32), ()),
            "terminated": (flag, ()),
            "truncated": (flag, ()),
            "elapsed": (np.dtype(np.int32), ()),
            "seen": (byte, (new, MEMORY)),
        }
        for item in SHOWN + HIDDEN:
            self.layouts[item.name] = (np.dtype(item.dtype), shape_of(item, cartridge))

    @classmethod
    def begin(
        cls,
        game: str,
        seeds: np.ndarray,
        *,
        rules: Rules | None = None,
        width: tuple[int, ...] = (144, 160),
        **more: Any,
    ) -> Boys:
        """Begin an episode per seed. rules: by default the game's, with a reward for novelty."""
        import twinstep_rust  # pyright: ignore[reportMissingImports]

        rom = GAMES[game].rom
        if rules is None:
            own = GAMES[game].rules
            new = New(tuple(own.observed.values())[:5], 0.25)
            rules = replace(own, reward=(*own.reward, new))
        play = play_of(rom, rules, **more)
        batch = twinstep_rust.EmuRustBatch.reset(play, bytes_of(rom)[None], seeds)
        news = sum(isinstance(each, New) for each in rules.reward)
        return cls(rom, play, batch, width, news)

    def other(self, batch: Any) -> Boys:
        """Return the same game with another batch."""
        boys = object.__new__(Boys)
        boys.__dict__ = self.__dict__ | {"batch": batch}
        return boys

    def copy(self) -> Boys:
        return self.other(self.batch.copy())

    def load(self, state: dict[str, np.ndarray], **more: Any) -> Boys:
        """Continue from a state of `look`."""
        records = np.zeros(len(state["pc"]), record_dtype(read_header(self.rom)))
        for name in records.dtype.names or ():
            records[name] = state[name]
        raw = records.view(np.uint8).reshape(len(records), -1)
        batch = type(self.batch).load(self.play, bytes_of(self.rom)[None], raw, state, **more)
        return self.other(batch)

    def buffers(self, *shape: int, final: bool = False) -> dict[str, np.ndarray]:
        out = {name: np.zeros((*shape, *own), dtype) for name, (dtype, own) in self.layouts.items()}
        if final:
            out["final_obs"] = np.zeros_like(out["obs"])
        return out

    def look(self) -> dict[str, np.ndarray]:
        """Return all fields of the present frame."""
        out = self.buffers(self.batch.lanes)
        self.batch.write(out)
        return out

    def step(self, actions: np.ndarray, mode: str = "off") -> dict[str, np.ndarray]:
        """Play a step with actions [N]; return all fields, and `final_obs`."""
        out = self.buffers(self.batch.lanes, final=True)
        self.batch.step(np.ascontiguousarray(actions, np.int32), out, auto_reset=mode)
        return out

    def rollout(self, actions: np.ndarray, mode: str = "off") -> dict[str, np.ndarray]:
        """Play steps with actions [T, N]; return all fields, and `final_obs`."""
        out = self.buffers(len(actions), self.batch.lanes, final=True)
        self.batch.rollout(np.ascontiguousarray(actions, np.int32), out, auto_reset=mode)
        return out


def bytes_of(rom: bytes) -> np.ndarray:
    return np.frombuffer(rom, np.uint8)


def seeds(count: int, first: int = 0) -> np.ndarray:
    return np.stack([np.arange(first, first + count), np.full(count, 3)], -1).astype(np.uint32)


def actions_of(game: str, *shape: int) -> np.ndarray:
    """Return random actions, the same each time."""
    rng = np.random.default_rng(0)
    return rng.integers(0, len(GAMES[game].rules.actions), shape).astype(np.int32)


def assert_equal(got: dict[str, np.ndarray], expected: dict[str, np.ndarray], where: Any) -> None:
    """Assert that every field is equal bit for bit."""
    assert got.keys() == expected.keys()
    for name, value in got.items():
        assert value.tobytes() == np.ascontiguousarray(expected[name]).tobytes(), (name, where)
