"""The declaration of an environment: its contract, its oracle, its candidates.

Declarations are cheap to import: they name code by import path and import none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from twinstep.contract import Contract


@dataclass(frozen=True)
class Parameter:
    """A declared parameter; `--set name=value` converts its text with `parse`.

    choices: the allowed values, or None for any that `parse` accepts.
    """

    name: str
    default: Any
    doc: str
    parse: Callable[[str], Any] = int
    choices: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Variant:
    """A named choice of parameters that the suite verifies, as in `pong@fs8`.

    candidates: names of the candidates that claim it; empty for all.
    """

    name: str
    params: Mapping[str, Any]
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True)
class OracleRef:
    """The reference and its bridge.

    title: name and version of the reference. factory: `module:callable`, called as
        `factory(contract)`: in a child process when verifying, in the caller's for `make`.
    probe: `module:callable`, called as `probe(params) -> Probe` in this process; it must not start
        the oracle.
    package: the import package of the bridge; its files are part of every trace's key.
    upstream: import packages of the reference itself. A candidate can import neither.
    limit: seconds without progress after which the oracle counts as hung.
    source: `module:callable -> Path` of the folder with the reference's source, shown where the
        contract's `source_view` is verbatim; "" for none.
    bench: `module:callable`, called as `runners(contract, lanes, steps, threads)` by `twinstep
        bench`; returns `bench.targets.NamedTarget`s: the reference as its own compiled program,
        first as built upstream, then with other flags. "" if no program is faster than the bridge.
    bench_work: environment steps of such a program's round, in the first lanes; 0 for all.
    measured: the variants that a benchmark measures by default; the first one if empty.
    batches: the lanes it measures by default, at most those of the contract's largest batch.
    work: environment steps of a benchmark's round, in all lanes together.
    peers: `module:PEERS`, the `bench.baselines.Baseline`s that `twinstep bench` measures too.
    """

    title: str
    factory: str
    probe: str
    package: str
    limit: float = 60.0
    source: str = ""
    upstream: tuple[str, ...] = ()
    bench: str = ""
    bench_work: int = 0
    measured: tuple[str, ...] = ()
    batches: tuple[int, ...] = (1024, 4096, 16384, 65536)
    work: int = 1 << 20
    peers: str = ""


@dataclass(frozen=True)
class Probe:
    """The answer to "can it run here", found without starting it.

    pins: name -> hash of everything upstream that can change a byte of a trace; empty only
        if the reference is part of this project's own sources.
    problem: why it cannot run ("" if it can). mend: the fix.
    """

    pins: Mapping[str, str]
    problem: str = ""
    mend: str = ""


@dataclass(frozen=True)
class CandidateRef:
    """A fast implementation and the files to edit.

    factory: `module:callable`, called as `factory(contract)`.
    edit: globs of the files that an agent may edit, from the repository's root.
    sources: module name -> `path:symbol`; also "step", the glue between modules, "reset" and
        "restart".
    helpers: module name -> further places of its code, `path` or `path:symbol`, which reports name
        next to its source. Several modules may share one.
    packages: import packages that make up the candidate (hashed for tree seeds).
    requires: installed distributions that it uses, as in requirements. Behind walls it sees these,
        what they and twinstep require, and no others. None for all that are installed.
    probe: `module:callable -> Probe`, or "" if it always runs.
    build: `module:callable -> str`, the identity of a compiled part, or "" if there is none.
    slow_to_compile: whether its programs compile so long that tests count as `slow` if they
        compile the same step once more, in another convention or not at all.
    limit: seconds that one answer may take where it runs in a process of its own.
    shares_programs: whether all variants share their programs (`jax_candidate.Programs`); their
        tests then run in one process.
    tests: the candidate's own test modules; `twinstep mutants` runs them on a planted bug that the
        suite does not notice.
    """

    name: str
    factory: str
    edit: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    helpers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    requires: tuple[str, ...] | None = None
    probe: str = ""
    build: str = ""
    slow_to_compile: bool = False
    shares_programs: bool = False
    limit: float = 600.0
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Environment:
    """One environment under the harness.

    contract: builds the contract from a full set of parameters (data in, data out).
    drivers: drivers by name, `module:callable` each, in addition to the core's own.
    players: of a two-player game, `module:callable` each, an `rl.versus.Player`; the first one is
        the anchor of the ratings of `twinstep elo`.
    narrator: `module:callable`, a `play.command.Narrator` that retells an episode; "" for a line
        per step.
    scene: `module:callable`, a `play.human.Scenes` that shows a player's own view, for people who
        play at the terminal; "" if the game can only be watched.
    reader: `module:callable`, called as `reader(contract, seed u32[2], files) -> Start` with the
        user's files to begin from (decks); UserError if they are not right. "" for none.
    """

    name: str
    contract: Callable[[Mapping[str, Any]], Contract]
    oracle: OracleRef
    candidates: tuple[CandidateRef, ...]
    variants: tuple[Variant, ...] = (Variant("", {}),)
    parameters: tuple[Parameter, ...] = ()
    drivers: Mapping[str, str] = field(default_factory=dict)
    narrator: str = ""
    scene: str = ""
    reader: str = ""
    players: Mapping[str, str] = field(default_factory=dict)
    doc: str = ""

    def params(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters: the defaults, overridden by `chosen`."""
        return {p.name: p.default for p in self.parameters} | dict(chosen)
