"""What `twinstep bench` measures: N lanes that play T steps with given actions in one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from twinstep import peering, registry, sampling
from twinstep.contract import Contract
from twinstep.frames import Fields
from twinstep.recording import offers
from twinstep.registry import Subject
from twinstep.running import Runner
from twinstep.timestep import StartTable

AUTO_RESET = "same-step"
#: Lanes that a reference plays without `OracleRef.bench`: each costs the same, and is slow.
FEW = 16


class Player(Protocol):
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


class Entry(NamedTuple):
    """A player with the name it has in the table; about: flags and the like, for the result.

    `facts` in about are numbers by name that the variant's table shows: what the work is like.
    """

    name: str
    player: Player
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

    def subject(self) -> Subject:
        """Return the environment's variant."""
        return variant_of(self.env, self.variant)


def variant_of(env: str, name: str) -> Subject:
    """Return a variant by name; UserError if there is none."""
    known = {s.variant.name: s for s in registry.subjects(registry.environment(env), {})}
    if name not in known:
        raise registry.unknown(f"variant of {env}", name, known)
    return known[name]


def actions_of(job: Job, contract: Contract) -> np.ndarray:
    """Return the actions [T, played, P, ...]: the same for every backend of a batch."""
    drawn = sampling.sample_actions(contract, job.steps * job.lanes, np.random.default_rng(0))
    shaped = drawn.reshape(job.steps, job.lanes, *contract.action_layout()[1])
    return np.ascontiguousarray(shaped[:, : job.played])


def entries(job: Job) -> list[Entry]:
    """Return what a job's process measures; empty if the backend has no such way to play."""
    subject = job.subject()
    contract = subject.contract
    if job.peer:
        return [peering.find(subject, job.peer).entry(contract, job)]
    if job.how == "physics":
        return _physics(subject, job)
    if job.how == "ppo":
        from twinstep.training_players import training_entries

        return training_entries(subject, job)
    if job.how not in ("least", "make"):
        from twinstep.policy_players import policy_entries

        return policy_entries(subject, job)
    if not job.backend:
        if subject.env.oracle.bench:
            make = registry.load_object(subject.env.oracle.bench)
            return list(make(contract, job.played, job.steps, job.threads))
        return [Entry("through its bridge", _through_make(subject, "oracle"))]
    if job.how == "make":
        return [Entry(f"{job.backend}, make().rollout", _through_make(subject, job.backend))]
    candidate = Runner.of(registry.pairs(subject, [job.backend])[0]).candidate
    if hasattr(candidate, "pure"):
        from twinstep.jax_players import CompiledPlayer

        return [Entry(job.backend, CompiledPlayer(_made(subject, job.backend)))]
    if offers(candidate, "auto_rollout") and offers(candidate, "buffers"):
        about = {"facts": candidate.facts()} if offers(candidate, "facts") else {}
        player = BufferPlayer(contract, candidate, (job.steps, job.played))
        return [Entry(job.backend, player, about)]
    return []


class BufferPlayer:
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
        """See Player."""
        self._state, _ = self._candidate.reset(self._table.of(seeds))
        self._actions = actions

    def play(self) -> None:
        """See Player."""
        self._state, self._frame, _ = self._candidate.auto_rollout(
            self._state, self._actions, AUTO_RESET, out=self._out
        )

    def shown(self) -> Fields:
        """See Player."""
        names = ("obs", "reward", "terminated", "truncated")
        return {name: getattr(self._frame, name) for name in names}

    def state(self) -> Fields:
        """See Player."""
        return self._candidate.frame(self._state).state if offers(self._candidate, "frame") else {}


class UnwrittenPlayer:
    """A candidate outside JAX that plays and writes nothing: `advance`."""

    def __init__(self, contract: Contract, candidate: Any) -> None:
        self.dtype, self.platform = candidate.dtype, candidate.platform
        self._table = StartTable(contract)
        self._candidate = candidate
        self._state: Any = None
        self._actions: Any = None

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """See Player."""
        self._state, _ = self._candidate.reset(self._table.of(seeds))
        self._actions = actions

    def play(self) -> None:
        """See Player."""
        self._state = self._candidate.advance(self._state, self._actions)

    def shown(self) -> Fields:
        """Return nothing."""
        return {}

    def state(self) -> Fields:
        """See Player."""
        return self._candidate.frame(self._state).state


def _physics(subject: Subject, job: Job) -> list[Entry]:
    candidate = Runner.of(registry.pairs(subject, [job.backend])[0]).candidate
    if hasattr(candidate, "pure"):
        from twinstep.jax_players import UnwrittenJax

        return [Entry(job.backend, UnwrittenJax(subject.contract, candidate))]
    if offers(candidate, "advance") and offers(candidate, "frame"):
        return [Entry(job.backend, UnwrittenPlayer(subject.contract, candidate))]
    return []


def _made(subject: Subject, backend: str) -> Any:
    from twinstep.env import Env

    return Env(subject, backend, AUTO_RESET)


def _through_make(subject: Subject, backend: str) -> Player:
    from twinstep.jax_players import MadePlayer

    return MadePlayer(_made(subject, backend))
