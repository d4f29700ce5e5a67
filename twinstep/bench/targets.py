"""What `twinstep bench` measures: N lanes that play T steps with given actions in one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from twinstep.contract import Contract
from twinstep.env.timestep import StartTable
from twinstep.frames import Fields
from twinstep.inputs import sampling
from twinstep.project.registry import EnvVariant, variant_of
from twinstep.protocols import offers

AUTO_RESET = "same-step"
#: Lanes that a reference plays without `OracleRef.bench`: each costs the same, and is slow.
FEW = 16


class Target(Protocol):
    """One implementation under measurement, its memory set aside before the clock runs."""

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin episodes of seeds u32[N, 2]; actions [T, N, P, ...] are those of every `play`.

        Converts and copies what it needs. May be called again.
        """
        ...

    def play(self) -> None:
        """Play all T steps from where the latest call ended; only this is timed."""
        ...

    def shown(self) -> Fields:
        """Return what the latest `play` gave: `obs`, `reward`, `terminated`, `truncated`.

        Arrays [T, N, ...]; the player's axis may be left out where there is one player, and
        `truncated` where nothing is. Called once after a `play`.
        """
        ...

    def state(self) -> Fields:
        """Return the state's fields [N, ...] as they are now."""
        ...

    # Optional: dtype and platform, as a candidate's; about, what is known after the first call;
    # ready(), called before a `play`, not timed; after(), what is known after the last one.


class NamedTarget(NamedTuple):
    """A player with the name it has in the table; about: flags and the like, for the result.

    `facts` in about are numbers by name that the variant's table shows: what the work is like.
    """

    name: str
    player: Target
    about: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Job:
    """What one child process measures; a job can be pickled.

    backend: a candidate's name, or "" for the reference. how: `least`, the backend's fastest
    way that writes what the reference writes; `make`, what `twinstep.make(...).rollout` costs,
    in new memory and with `final_obs`; `physics`, steps that write nothing; `ppo`, training; or a
    policy's name.
    played: lanes of the batch that this backend plays, the first ones. cores: the processors it is
    pinned to, one per thread. peer: the name of another implementation that is measured, and not
    the backend; python: the interpreter that has it, "" for this one. folder, variables: the
    checkout that it runs in, "" for this one, and what its process is told.
    """

    env: str
    variant: str
    backend: str
    how: str
    lanes: int
    played: int
    steps: int
    cores: tuple[int, ...]
    peer: str = ""
    python: str = ""
    folder: str = ""
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def threads(self) -> int:
        """As many as cores."""
        return len(self.cores)

    def subject(self) -> EnvVariant:
        """Return the environment's variant."""
        return variant_of(self.env, self.variant)


def actions_of(job: Job, contract: Contract) -> np.ndarray:
    """Return the actions [T, played, P, ...]: the same for every backend of a batch."""
    drawn = sampling.sample_actions(contract, job.steps * job.lanes, np.random.default_rng(0))
    shaped = drawn.reshape(job.steps, job.lanes, *contract.action_layout()[1])
    return np.ascontiguousarray(shaped[:, : job.played])


class BufferTarget:
    """A candidate that writes to arrays it is given: `buffers` and `auto_rollout`."""

    def __init__(self, contract: Contract, candidate: Any, shape: tuple[int, int]) -> None:
        self.dtype, self.platform = candidate.dtype, candidate.platform
        self._table = StartTable(contract)
        self._candidate = candidate
        self._out = candidate.buffers(shape, minimal=True)
        self._state: Any = None
        self._frame: Any = None
        self._actions: Any = None

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """See Target."""
        self._state, _ = self._candidate.reset(self._table.of(seeds))
        self._actions = actions

    def play(self) -> None:
        """See Target."""
        self._state, self._frame, _ = self._candidate.auto_rollout(
            self._state, self._actions, AUTO_RESET, out=self._out
        )

    def shown(self) -> Fields:
        """See Target."""
        names = ("obs", "reward", "terminated", "truncated")
        return {name: getattr(self._frame, name) for name in names}

    def state(self) -> Fields:
        """See Target."""
        return self._candidate.frame(self._state).state if offers(self._candidate, "frame") else {}


class UnwrittenTarget:
    """A candidate outside JAX that plays and writes nothing: `advance`."""

    def __init__(self, contract: Contract, candidate: Any) -> None:
        self.dtype, self.platform = candidate.dtype, candidate.platform
        self._table = StartTable(contract)
        self._candidate = candidate
        self._state: Any = None
        self._actions: Any = None

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """See Target."""
        self._state, _ = self._candidate.reset(self._table.of(seeds))
        self._actions = actions

    def play(self) -> None:
        """See Target."""
        self._state = self._candidate.advance(self._state, self._actions)

    def shown(self) -> Fields:
        """Return nothing."""
        return {}

    def state(self) -> Fields:
        """See Target."""
        return self._candidate.frame(self._state).state
