"""A subject's oracle and its traces, as the tests of a process share them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twinstep.contract import Contract, Module
from twinstep.env import host_engine, timestep
from twinstep.env.timestep import StartTable
from twinstep.environment import CandidateRef
from twinstep.frames import Start
from twinstep.inputs import batching
from twinstep.inputs.batching import autoreset_size, chunk_lanes
from twinstep.inputs.sampling import sample_actions, sample_module, sample_states
from twinstep.inputs.seeds import seeds, shipped_seeds, starts_of
from twinstep.project.registry import EnvVariant, Pair
from twinstep.reference import autoreset_recording
from twinstep.reference.actions_seen import actions_seen
from twinstep.reference.answers import FiledOracle
from twinstep.reference.cache import TraceSet, key_of, material, sources_of
from twinstep.reference.process import OracleProcess
from twinstep.reference.ranges_seen import Ranges, ranges_seen
from twinstep.testing.settings import NeedsOracle

if TYPE_CHECKING:
    from twinstep.testing.harness import Harness


#: Bytes of one recording that are kept in memory between tests.
_KEPT = 64 << 20


class Reference:
    """A subject's oracle and its traces. The oracle's process starts at its first question."""

    def __init__(self, harness: Harness, subject: EnvVariant) -> None:
        self.harness = harness
        self.subject = subject
        self.contract: Contract = subject.contract
        self._oracle: OracleProcess | None = None
        self._crashes: list[str] = []
        self._sets: dict[tuple[str, str, int], TraceSet] = {}
        self._recordings: dict[tuple[str, str], autoreset_recording.Recording] = {}
        self._placed: dict[tuple[int, str], dict[str, np.ndarray]] = {}
        self._idle: dict[str, dict[str, list[int]] | None] = {}
        self._reached: dict[str, tuple[Ranges, list[float]]] = {}

    @property
    def drivers(self) -> list[str]:
        """The names of the drivers that this run plays."""
        wanted, subject = self.harness.settings.drivers, self.subject
        if not wanted:
            return list(self.contract.drivers)
        # A further one that is declared may be asked for too.
        known = dict.fromkeys([*self.contract.drivers, *subject.env.drivers])
        return [name for name in known if name in wanted]

    @property
    def oracle(self) -> OracleProcess:
        """The oracle. Raises NeedsOracle when the run works from exported traces."""
        if self.harness.imported:
            raise NeedsOracle("this test asks the oracle; the run has only exported traces")
        if self._oracle is None:
            self._oracle = FiledOracle(self.subject)
        return self._oracle

    @property
    def crashes(self) -> list[str]:
        """The oracle's crashes that did not repeat, a line each."""
        return self._crashes + (self._oracle.crashes if self._oracle else [])

    def rng(self, *parts: object) -> np.random.Generator:
        """Return the generator for a test's own draws: the same in every run."""
        words = "/".join([self.subject.label, *map(str, parts)]).encode()
        return np.random.default_rng(list(words))

    def module_inputs(
        self, module: Module, count: int, *parts: object, dtype: str = "float64"
    ) -> dict[str, np.ndarray]:
        """Draw inputs [count, ...] of a module's level 1 domain.

        parts: as of `rng`. dtype: what the candidate computes in; what the reference places is
        no nearer to an edge than that resolves.
        """
        rng = self.rng(*parts)
        drawn = sample_module(module, count, rng)
        placed = self._places(count, dtype)
        # A placed action has an axis of players, a module's input has none.
        return {n: placed[n].reshape(v.shape) if n in placed else v for n, v in drawn.items()}

    def states(
        self, count: int, *parts: object, dtype: str = "float64"
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Draw placed states [count, ...] and an action [count, P, ...] for each.

        parts and dtype: as of `module_inputs`.
        """
        rng = self.rng(*parts)
        drawn = sample_states(self.contract, count, rng)
        actions = sample_actions(self.contract, count, rng)
        placed = self._places(count, dtype)
        return {n: placed.get(n, v) for n, v in drawn.items()}, placed.get("action", actions)

    def _places(self, count: int, dtype: str) -> dict[str, np.ndarray]:
        """Return what the reference places, {} if it cannot; the same for all tests."""
        key = count, dtype
        if key not in self._placed:
            offered = self.oracle.offers("places")
            seed = int(self.rng("places").integers(2**31))
            self._placed[key] = self.oracle.places(count, seed, dtype) if offered else {}
        return self._placed[key]

    def traces(
        self, driver: str, episodes: int = 0, pair: Pair | None = None, first: int = 0
    ) -> TraceSet:
        """Return recorded episodes of a driver: imported, cached, or recorded now.

        pair: whose run it is. Without one the seeds are the public ones, whatever was asked for.
        first: the number of the first seed.
        """
        settings = self.harness.settings
        count = episodes or settings.episodes
        # What asks the oracle alone, such as coverage, is a claim about the public seeds: no
        # candidate's edit could mend what other seeds do not reach.
        kind = settings.seeds if pair else "public"
        owner = pair.label if pair and kind == "tree" else kind
        known = self._sets.get((driver, owner, count)) if not first else None
        if known is None:
            asked = range(first, first + count)
            known = self._find(driver, asked, kind, pair.candidate if pair else None)
            if not first:
                self._sets[driver, owner, count] = known
        return known

    def _find(
        self, driver: str, asked: range, kind: str, candidate: CandidateRef | None
    ) -> TraceSet:
        if self.harness.imported:
            return self._imported(driver)
        drawn = seeds(kind, asked.stop, self.subject.env.name, candidate)[asked.start :]
        return self.recorded(driver, starts_of(self.contract, drawn), self.contract.horizon)

    def recorded(self, driver: str, starts: Start, horizon: int) -> TraceSet:
        """Return the episodes of these starts, of at most `horizon` steps: cached, or recorded now.

        Raises NeedsOracle where only exported traces are at hand.
        """
        if self.harness.imported:
            raise NeedsOracle("exported traces have the episodes they have")
        settings, contract = self.harness.settings, self.contract
        path, count = self.subject.driver(driver), len(np.asarray(starts.seed))

        def record(folder: str) -> list[dict[str, Any]]:
            settings.progress(f"recording {count} episodes of {self.subject.label}-{driver}")
            return self.oracle.record(path, starts, horizon, chunk_lanes(contract), folder)

        reduce = [{"name": m.name, "reduce": m.reduce} for m in contract.measures]
        parts = material(self.subject, driver, starts, horizon)
        return self.harness.cache.get(parts, record, reduce)

    def idle_actions(self, traces: TraceSet) -> dict[str, list[int]] | None:
        """Return which actions were never `legal`, and which of the others never `taken`.

        None where actions are real numbers.
        """
        key = key_of(traces.manifest["material"])
        if key not in self._idle:
            seen = actions_seen(self.contract, traces)
            self._idle[key] = seen and {
                "legal": np.flatnonzero(~seen.legal).tolist(),
                "taken": np.flatnonzero(seen.legal & ~seen.taken).tolist(),
            }
        return self._idle[key]

    def reached(self, traces: TraceSet) -> tuple[Ranges, list[float]]:
        """Return the ranges of the state that episodes reach, and their lengths.

        Lengths are the least, the median and the largest number of steps.
        """
        key = key_of(traces.manifest["material"])
        if key not in self._reached:
            self._reached[key] = ranges_seen(self.contract, traces)
        return self._reached[key]

    def autoreset_traces(self, driver: str, kind: str = "public") -> TraceSet:
        """Return lanes recorded under same-step auto-reset: cached, or recorded now.

        kind: of their seeds.
        """
        size = autoreset_size(self.contract)
        known = self._sets.get((driver, f"shipped-{kind}", size.steps))
        if known is not None:
            return known
        settings, contract = self.harness.settings, self.contract
        begin = shipped_seeds(kind, size.lanes, self.subject.env.name)
        path = self.subject.driver(driver)

        def record(folder: str) -> list[dict[str, Any]]:
            settings.progress(f"recording {self.subject.label}-{driver} under auto-reset")
            return self.oracle.record_shipped(path, begin, folder)

        starts = StartTable(contract).of(begin)
        parts = material(self.subject, driver, starts, size.steps)
        made_by = (autoreset_recording, host_engine, timestep, batching)
        parts["shipped"] = sources_of(*made_by)
        held = self._sets[driver, f"shipped-{kind}", size.steps] = self.harness.cache.get(
            parts, record, []
        )
        return held

    def autoreset_steps(self, driver: str, kind: str = "public") -> autoreset_recording.Recording:
        """Return the steps of `autoreset_traces` in memory; small ones are kept there."""
        known = self._recordings.get((driver, kind))
        if known is None:
            known = autoreset_recording.read_recording(self.autoreset_traces(driver, kind))
            if known.nbytes <= _KEPT:
                self._recordings[driver, kind] = known
        return known

    def _imported(self, driver: str) -> TraceSet:
        for held in self.harness.imported:
            parts = held.manifest["material"]
            same = parts["environment"] == self.subject.env.name
            if same and parts["driver"] == driver and parts["contract"] == self.contract.digest():
                return held
        raise NeedsOracle(f"the exported traces hold no {self.subject.label}-{driver}")

    def rest(self) -> None:
        """End the oracle's process and drop recordings; the next question begins them anew."""
        self._crashes = self.crashes
        self.close()
        self._oracle = None
        self._recordings.clear()

    def close(self) -> None:
        """End the oracle's process."""
        if self._oracle is not None:
            self._oracle.close()
