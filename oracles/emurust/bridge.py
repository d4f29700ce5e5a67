"""PyBoy as an environment: the emurust oracle. Rewards and ends are read from memory by rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.contracts.emurust import cartridge_of
from twinstep.contracts.emurust_handover import BUTTONS
from twinstep.contracts.roms.memory import SEEN_BITS, Bits, Change, New, Rules, Value, read
from twinstep.frames import Fields, Frame, Start
from twinstep.oracles.emurust.boy import Boy

_GOLDEN = 0x9E3779B9


def h32(x: int) -> int:
    """Return the 32-bit hash by which a seed becomes an episode's start; see the contract."""
    x ^= x >> 16
    x = x * 0x7FEB352D & 0xFFFFFFFF
    x ^= x >> 15
    x = x * 0x846CA68B & 0xFFFFFFFF
    return x ^ x >> 16


class EmuRustOracle:
    """One episode; see protocols.Oracle."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        params = contract.params
        self._skip, self._limit = params["frame_skip"], params["max_episode_steps"]
        self._rom, self._rules = cartridge_of(params)
        self._boy = Boy(self._rom) if self._rom is not None else None
        self._score = Score(self._rules)
        self._sets = [_buttons(names) for names in self._rules.actions]
        self._held = self._elapsed = 0
        self._spare: list[EmuRustOracle] = []
        self._events = np.zeros(len(contract.events), bool)

    def reset(self, start: Start) -> Frame:
        """Begin the episode of the seed u32[2], with the cartridge of the field `rom` if any."""
        self._cartridge(start).begin()
        self._start(np.asarray(start.seed))
        return self._frame(0.0)

    def _start(self, seed: np.ndarray) -> None:
        """Play from the hand-over to where the episode of the seed u32[2] begins."""
        rules, boy = self._rules, self._playing()
        low, high = (int(word) for word in seed)
        key = h32(low ^ h32(high))
        boy.play(rules.seed_frame, False)
        if rules.seed is not None:
            for byte in range(rules.seed.size):
                boy.memory[rules.seed.address + byte] = key >> 8 * byte & 0xFF
        wait = h32(key ^ _GOLDEN) % rules.waits
        boy.play(rules.start_frames - rules.seed_frame + wait, True)
        self._held = self._elapsed = 0
        self._score.begin(boy.memory)

    def step(self, action: Any) -> Frame:
        """Hold the buttons of an action [1] for a step."""
        return self._frame(self._advance(int(np.asarray(action)[0])))

    def _advance(self, action: int) -> float:
        """Play a step; return its reward."""
        boy = self._playing()
        held = self._sets[action]
        before = self._score.look(boy.memory)
        boy.hold(held, self._held)
        self._held = held
        boy.play(self._skip, True)
        self._elapsed += 1
        return self._score.reward(before, boy.memory)

    def load(self, state: Fields) -> None:
        """Continue from a state, shown and hidden."""
        boy = self._playing()
        boy.load(state)
        # A line of the joypad is 0 while its button is held.
        lines = int(state["joypad_buttons"]) | int(state["joypad_directions"]) << 4
        self._held = ~lines & 0xFF
        self._elapsed = int(state["elapsed"])
        self._score.seen = np.array(state["seen"]) if "seen" in state else self._score.seen
        self._events[:] = False

    def hidden(self) -> dict[str, np.ndarray]:
        """Return the hidden fields of the present state."""
        return self._playing().hidden()

    def events(self) -> np.ndarray:
        """Return bool[E]: which contract.events the latest reset or step brought about."""
        return self._events.copy()

    def lanes(self, count: int) -> Any:
        """Return `count` episodes side by side; see protocols.Lanes."""
        from twinstep.oracles.emurust.lanes import EmuRustLanes

        # Kept for the next time: a PyBoy is dear to make.
        more = range(len(self._spare), count)
        self._spare += [EmuRustOracle(self._contract) for _ in more]
        return EmuRustLanes(self._contract, self._spare[:count])

    def close(self) -> None:
        """Free PyBoy."""
        for oracle in self._spare:
            oracle.close()
        if self._boy is not None:
            self._boy.close()

    def _cartridge(self, start: Start) -> Boy:
        """Return the Game Boy with the start's cartridge in it."""
        if "rom" in start.fields:
            rom = np.asarray(start.fields["rom"], np.uint8).tobytes()
            if self._boy is None or rom != self._rom:
                if self._boy is not None:
                    self._boy.close()
                self._boy, self._rom = Boy(rom), rom
        return self._playing()

    def _playing(self) -> Boy:
        assert self._boy is not None, "no episode has begun: the cartridge is not known"
        return self._boy

    def _frame(self, reward: float) -> Frame:
        state = self._playing().shown()
        state["elapsed"] = np.array(self._elapsed, np.int32)
        if self._score.seen.size:
            state["seen"] = self._score.seen.copy()
        ended, truncated = self._ends()
        happened = {"scored": reward > 0, "lost": reward < 0, "ended": ended, "cut": truncated}
        self._events = np.array([happened[name] for name in self._contract.events])
        return Frame(
            obs=self._observation()[None],
            reward=np.array([reward], np.float32),
            terminated=np.bool_(ended),
            truncated=np.bool_(truncated),
            acting=np.ones(1, bool),
            legal=None,
            state=state,
        )

    def _ends(self) -> tuple[bool, bool]:
        """Return whether the episode is terminated, and whether it is truncated."""
        rules = self._rules
        over = rules.done is not None and read(self._playing().memory, rules.done) != 0
        return over, self._elapsed >= self._limit

    def _observation(self) -> np.ndarray:
        kind, boy = self._contract.params["observe"], self._playing()
        if kind == "values":
            values = self._rules.observed.values()
            places = [boy.memory[at] for value in values for at in _places(value)]
            return np.array(places, np.uint8)
        return boy.screen()[::2, ::2] if kind == "half" else boy.screen()


class Score:
    """The rules' reward, and what an episode has seen."""

    def __init__(self, rules: Rules) -> None:
        self._parts = rules.reward
        self._news = [part for part in rules.reward if isinstance(part, New)]
        self.seen = np.zeros((len(self._news), SEEN_BITS // 8), np.uint8)

    def begin(self, memory: Any) -> None:
        """Begin an episode: what its first frame shows counts as seen."""
        self.seen[:] = 0
        for number, part in enumerate(self._news):
            self._see(number, part, memory)

    def look(self, memory: Any) -> list[int]:
        """Return what the parts of the reward are counted from; 0 for a New."""
        return [0 if isinstance(part, New) else read(memory, part.value) for part in self._parts]

    def reward(self, before: list[int], memory: Any) -> float:
        """Return the reward of a step, in which the memory became what it is."""
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
