"""The targets of `twinstep bench`: N lanes that play T steps with given actions in one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from twinstep.contract import Contract
from twinstep.env.timestep import StartTable
from twinstep.environment import CandidateRef
from twinstep.frames import Fields
from twinstep.inputs import sampling
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, variant_of
from twinstep.protocols import offers

AUTO_RESET = "same-step"
#: Lanes of a reference without `OracleRef.bench`: each costs the same, and is slow.
FEW = 16


class Target(Protocol):
    """One implementation under measurement; it allocates its memory before the clock runs."""

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin episodes of seeds u32[N, 2]; every `play` takes the actions [T, N, P, ...].

        Converts and copies its inputs. May be called again.
        """
        ...

    def play(self) -> None:
        """Continue for T steps from the latest call's end; only this is timed."""
        ...

    def shown(self) -> Fields:
        """Return the latest `play`'s `obs`, `reward`, `terminated` and `truncated` [T, N, ...].

        The player axis may be missing if there is one player, and `truncated` if nothing is
        truncated. Called once after a `play`.
        """
        ...

    def state(self) -> Fields:
        """Return the current state's fields [N, ...]."""
        ...

    # Optional: dtype and platform, as a candidate's; about, facts after the first call; ready(),
    # called untimed before a `play`; after(), facts after the last one.


class NamedTarget(NamedTuple):
    """A target with its name in the table. about: flags and the like, for the result.

    `facts` in about describe the work: numbers by name, shown at the variant's table.
    """

    name: str
    player: Target
    about: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Job:
    """The work of one measured child process, picklable.

    backend: a candidate's name, or "" for the reference. how: `least`, the backend's fastest way to
    write the reference's outputs; `make`, `twinstep.make(...).rollout` with new memory and
    `final_obs`; `physics`, steps that write nothing; `ppo`, training; or a policy's name.
    played: the number of first lanes of the batch that this backend plays. cores: the processors
    that it is pinned to, one per thread. peer: the name of a baseline to measure in place of the
    backend; python: its interpreter, "" for this one. folder: the checkout that it runs in, ""
    for this one. variables: further environment variables. declared: import paths of the
    environment and of the candidate's factory, for a process behind walls: no project is there.
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
    declared: tuple[str, ...] = ()

    @property
    def threads(self) -> int:
        """The number of threads: one per core."""
        return len(self.cores)

    def subject(self) -> EnvVariant:
        """Return the environment's variant."""
        if not self.declared:
            return variant_of(self.env, self.variant)
        locator, factory = self.declared
        mine = CandidateRef(self.backend, factory)
        env = replace(registry.load_object(locator), candidates=(mine,))
        return next(s for s in registry.subjects(env, {}) if s.variant.name == self.variant)


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
