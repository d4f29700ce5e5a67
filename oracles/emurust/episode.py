"""An episode in a PyBoy: start, steps, rewards and end, computed from memory by the rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twinstep.contracts.emurust.choice import cartridge_of
from twinstep.contracts.emurust.handover import BUTTONS
from twinstep.contracts.emurust.roms.memory import SEEN_BITS, Bits, Change, New, Rules, Value, read
from twinstep.frames import Fields
from twinstep.oracles.emurust.boy import Boy

_GOLDEN = 0x9E3779B9


def h32(x: int) -> int:
    """Return the 32-bit hash that turns a seed into an episode's start; see the contract."""
    x ^= x >> 16
    x = x * 0x7FEB352D & 0xFFFFFFFF
    x ^= x >> 15
    x = x * 0x846CA68B & 0xFFFFFFFF
    return x ^ x >> 16


class Episode:
    """Episodes with one cartridge, one after another."""

    def __init__(self, params: Mapping[str, Any], rom: bytes) -> None:
        self._skip, self._limit = params["frame_skip"], params["max_episode_steps"]
        self._observe = params["observe"]
        _, self._rules = cartridge_of(params)
        self._sets = [_buttons(names) for names in self._rules.actions]
        self._held = 0
        self.boy = Boy(rom)
        self.score = Score(self._rules)
        self.elapsed = 0

    def begin(self, seed: Any) -> None:
        """Begin the episode of the seed u32[2]."""
        rules, boy = self._rules, self.boy
        low, high = (int(word) for word in np.asarray(seed))
        key = h32(low ^ h32(high))
        boy.begin()
        boy.play(rules.seed_frame, False)
        if rules.seed is not None:
            for byte in range(rules.seed.size):
                boy.memory[rules.seed.address + byte] = key >> 8 * byte & 0xFF
        wait = h32(key ^ _GOLDEN) % rules.waits
        boy.play(rules.start_frames - rules.seed_frame + wait, True)
        self._held = self.elapsed = 0
        self.score.begin(boy.memory)

    def step(self, action: int) -> float:
        """Hold an action's buttons for a step; return its reward."""
        held = self._sets[action]
        before = self.score.look(self.boy.memory)
        self.boy.hold(held, self._held)
        self._held = held
        self.boy.play(self._skip, True)
        self.elapsed += 1
        return self.score.reward(before, self.boy.memory)

    def load(self, state: Fields) -> None:
        """Continue from a state, shown and hidden."""
        self.boy.load(state)
        # A line of the joypad is 0 while its button is held.
        lines = int(state["joypad_buttons"]) | int(state["joypad_directions"]) << 4
        self._held = ~lines & 0xFF
        self.elapsed = int(state["elapsed"])
        if "seen" in state:
            self.score.seen = np.array(state["seen"])

    @property
    def terminated(self) -> bool:
        """Return whether the rules end the game here."""
        return self._rules.done is not None and read(self.boy.memory, self._rules.done) != 0

    @property
    def truncated(self) -> bool:
        """Return whether the episode has had all its steps."""
        return self.elapsed >= self._limit

    def fields(self) -> dict[str, np.ndarray]:
        """Return the state's shown fields."""
        state = self.boy.shown()
        state["elapsed"] = np.array(self.elapsed, np.int32)
        if self.score.seen.size:
            state["seen"] = self.score.seen.copy()
        return state

    def observation(self) -> np.ndarray:
        """Return the agent's observation, u8[...]."""
        if self._observe == "values":
            memory, values = self.boy.memory, self._rules.observed.values()
            return np.array([memory[at] for value in values for at in _places(value)], np.uint8)
        screen = self.boy.screen()
        return screen[::2, ::2] if self._observe == "half" else screen


class Score:
    """The rules' reward, and the combinations that an episode has seen."""

    def __init__(self, rules: Rules) -> None:
        self._parts = rules.reward
        self._news = [part for part in rules.reward if isinstance(part, New)]
        self.seen = np.zeros((len(self._news), SEEN_BITS // 8), np.uint8)

    def begin(self, memory: Any) -> None:
        """Begin an episode: values of its first frame count as seen."""
        self.seen[:] = 0
        for number, part in enumerate(self._news):
            self._see(number, part, memory)

    def look(self, memory: Any) -> list[int]:
        """Return the numbers from which the parts of the reward are counted; 0 for a New."""
        return [0 if isinstance(part, New) else read(memory, part.value) for part in self._parts]

    def reward(self, before: list[int], memory: Any) -> float:
        """Return the reward of the step that led to the present memory."""
        total, number = 0.0, 0
        for part, then in zip(self._parts, before, strict=True):
            if isinstance(part, Change):
                total += part(then, read(memory, part.value))
            elif isinstance(part, Bits):
                now = read(memory, part.value)
                total += part.weight * (now.bit_count() - then.bit_count())
            else:
                total += part.weight * self._see(number, part, memory)
                number += 1
        return total

    def _see(self, number: int, part: New, memory: Any) -> int:
        """Mark a New's values as seen; return 1 if they had not been, else 0."""
        mixed = 0x811C9DC5
        for value in part.values:
            for place in _places(value):
                mixed = (mixed ^ memory[place]) * 0x01000193 & 0xFFFFFFFF
        bit = (mixed >> 16 ^ mixed) & SEEN_BITS - 1
        fresh = not self.seen[number, bit >> 3] >> (bit & 7) & 1
        self.seen[number, bit >> 3] |= 1 << (bit & 7)
        return int(fresh)


def _places(value: Value) -> range:
    return range(value.address, value.address + value.size * value.count)


def _buttons(names: tuple[str, ...]) -> int:
    return sum(1 << BUTTONS.index(name) for name in names)
