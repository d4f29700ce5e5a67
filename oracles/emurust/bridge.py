"""PyBoy as an environment: the emurust oracle."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.contracts.emurust.choice import cartridge_of
from twinstep.frames import Fields, Frame, Start
from twinstep.oracles.emurust.episode import Episode


class EmuRustOracle:
    """One episode; see protocols.Oracle.

    stateful: whether frames have the state. Reading it takes longer than a step of a calm game.
    """

    stateful = True

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._rom, _ = cartridge_of(contract.params)
        self._episode = None if self._rom is None else Episode(contract.params, self._rom)
        self._spare: list[EmuRustOracle] = []
        self._events = np.zeros(len(contract.events), bool)

    def reset(self, start: Start) -> Frame:
        """Begin the episode of the seed u32[2], with the cartridge of the field `rom` if any."""
        if "rom" in start.fields:
            rom = np.asarray(start.fields["rom"], np.uint8).tobytes()
            if rom != self._rom:
                self._free()
                self._episode, self._rom = Episode(self._contract.params, rom), rom
        episode = self._playing()
        episode.begin(start.seed)
        return self._frame(episode, 0.0)

    def step(self, action: Any) -> Frame:
        """Hold the buttons of an action [1] for a step."""
        episode = self._playing()
        return self._frame(episode, episode.step(int(np.asarray(action)[0])))

    def load(self, state: Fields) -> None:
        """Continue from a state, shown and hidden."""
        self._playing().load(state)
        self._events[:] = False

    def hidden(self) -> dict[str, np.ndarray]:
        """Return the hidden fields of the present state."""
        return self._playing().boy.hidden()

    def fields(self) -> dict[str, np.ndarray]:
        """Return the shown fields of the present state."""
        return self._playing().fields()

    def events(self) -> np.ndarray:
        """Return bool[E]: which contract.events the latest reset or step caused."""
        return self._events.copy()

    def lanes(self, count: int) -> Any:
        """Return `count` episodes side by side; see protocols.Lanes."""
        from twinstep.oracles.emurust.lanes import EmuRustLanes

        # Kept for reuse: a PyBoy is expensive to create.
        missing = count - len(self._spare)
        self._spare += [EmuRustOracle(self._contract) for _ in range(missing)]
        return EmuRustLanes(self._contract, self._spare[:count])

    def close(self) -> None:
        """Free all PyBoys."""
        for oracle in self._spare:
            oracle.close()
        self._spare.clear()
        self._free()

    def _free(self) -> None:
        if self._episode is not None:
            self._episode.boy.close()
            self._episode = None

    def _playing(self) -> Episode:
        assert self._episode is not None, "no episode has begun: the cartridge is not known"
        return self._episode

    def _frame(self, episode: Episode, reward: float) -> Frame:
        self._events[:] = reward > 0  # "scored", where there are rewards
        return Frame(
            obs=episode.observation()[None],
            reward=np.array([reward], np.float32),
            terminated=np.bool_(episode.terminated),
            truncated=np.bool_(episode.truncated),
            acting=np.ones(1, bool),
            legal=None,
            state=episode.fields() if self.stateful else {},
        )
