"""`twinstep breakdown ENV`: the shares of an iteration of PPO, by backend and size of network."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twinstep._lib import machine, paths
from twinstep._lib.progress import on_a_terminal
from twinstep.errors import UserError
from twinstep.plans import MOST
from twinstep.project import registry
from twinstep.project.registry import variant_of

# JAX takes seconds to import, and every command imports this file.
if TYPE_CHECKING:
    from twinstep.bench.breakdown import Iteration, Seconds
    from twinstep.rl.training.settings import TrainingSettings

SCHEMA = 1
SIZES = ("2M", "20M", "200M")
#: Parameters above which a network is measured on an accelerator only.
LARGE = 50_000_000
_UNITS = {"": 1, "k": 1_000, "M": 1_000_000}
ORACLE = "oracle"


@dataclass(frozen=True)
class BreakdownRequest:
    """A requested breakdown. sizes: parameters of the network. lanes, steps: of a batch."""

    env: str
    variant: str
    backends: tuple[str, ...]
    sizes: tuple[int, ...]
    rounds: int
    lanes: int
    steps: int

    def command(self) -> str:
        """Return the command line of this measurement."""
        options = [("--variant", self.variant)] if self.variant else []
        options += [("--backend", name) for name in self.backends]
        options += [("--size", written(size)) for size in self.sizes]
        counts = {"--rounds": self.rounds, "--lanes": self.lanes, "--steps": self.steps}
        words = [f"{name} {value}" for name, value in [*options, *counts.items()]]
        return " ".join([f"twinstep breakdown {self.env}", *words])


def add_to(commands: Any) -> None:
    """Add the subcommand's parser."""
    parser = commands.add_parser("breakdown", help="where the time of a training iteration goes")
    add = parser.add_argument
    add("env", help="the environment's name")
    add("--variant", default="", help="default: the first that level 4 trains in")
    add("--backend", action="append", default=[],
        help="more than once; default: `oracle` and every candidate that can run here")  # fmt: skip
    add("--size", action="append", default=[], metavar="N",
        help=f"parameters of the network, more than once; default: {', '.join(SIZES)}")  # fmt: skip
    add("--rounds", type=int, default=5, help="iterations that are timed; default: 5")
    add("--lanes", type=int, default=64, help="of a batch; default: 64")
    add("--steps", type=int, default=8, help="of each lane in a batch; default: 8")
    add("--out", type=Path, default=Path("benchmarks/breakdown"), help="folder of results")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    request = _request(args)
    if not paths.writable(args.out):
        raise UserError(f"--out {args.out}: results cannot be written there")
    progress = on_a_terminal()
    try:
        result = record(request, progress)
    finally:
        progress("")
    from tools.evidence.time_shares import text

    file = args.out / f"{request.env}.json"
    print(text(request.env, request.env, result))
    if all("not_measured" in row for row in result["rows"]):
        raise UserError(f"nothing was measured, and {file} is left as it is")
    try:
        paths.write_atomically(file, (json.dumps(result, indent=1) + "\n").encode())
    except OSError as error:
        raise UserError(
            f"{file} cannot be written ({error.strerror}): its table is above"
        ) from error
    print(f"written: {file}")
    return 0


def record(request: BreakdownRequest, progress: Callable[[str], None]) -> dict[str, Any]:
    """Run all requested measurements and return the result."""
    rows = [row for size in request.sizes for row in _rows(request, size, progress)]
    peaks = [peak for row in rows for peak in row.get("peaks", [])]
    return {
        "schema": SCHEMA,
        "environment": variant_of(request.env, request.variant).contract.version,
        "variant": request.variant,
        "command": request.command(),
        "lanes": request.lanes,
        "steps": request.steps,
        "peak": statistics.median(peaks) if peaks else 0.0,
        "rows": rows,
        **machine.made(),
    }


def _rows(
    request: BreakdownRequest, size: int, progress: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return a row for each backend, with interleaved rounds.

    The machine's peak is measured in each round: its speed depends on other processes.
    """
    from twinstep.rl import flops

    sides = [_Side(request, name, size) for name in request.backends]
    able = [side for side in sides if not side.lack]
    try:
        for side in able:
            progress(f"{written(size)} parameters: starting {side.name}")
            side.begin()
        for turn in range(request.rounds):
            peak = flops.peak() if able else 0.0
            place = turn % max(1, len(able))  # nobody always begins
            for side in able[place:] + able[:place]:
                word = f"round {turn + 1} of {request.rounds}, {side.name}"
                progress(f"{written(size)} parameters: {word}")
                side.play(turn, peak)
    finally:
        for side in able:
            side.close()
    return [side.row() for side in sides]


class _Side:
    """One backend with a network of one size. lack: the reason if it is not measured, or "" """

    def __init__(self, request: BreakdownRequest, name: str, size: int) -> None:
        self.name, self._size, self._request = name, size, request
        self.lack = _lacking(request, name, size)
        self._arena: Any = None
        self._iteration: Iteration | None = None
        self._taken: list[Seconds] = []
        self._peaks: list[float] = []

    def begin(self) -> None:
        """Build environment and network, and compile the iteration."""
        from twinstep.bench.breakdown import iteration_of
        from twinstep.rl.training.arenas import arena_of

        settings = _settings(self._request, self.name)
        self._arena = arena_of(settings)
        hidden = _hidden(self._arena.contract, settings, self._size)
        self._ppo = replace(settings.ppo, hidden=hidden)
        with self._memory():
            self._iteration = iteration_of(self._arena, self._ppo)
            self._iteration.play(0)

    def play(self, turn: int, peak: float) -> None:
        """Play a round if memory suffices. peak: the machine's, in operations per second."""
        with self._memory():
            if self._iteration is not None:
                self._taken.append(self._iteration.play(turn))
                self._peaks.append(peak)

    def close(self) -> None:
        """Free environment and network."""
        self._iteration = None
        if self._arena is not None:
            self._arena.close()

    @contextlib.contextmanager
    def _memory(self) -> Iterator[None]:
        import jax

        try:
            yield
        except (MemoryError, jax.errors.JaxRuntimeError) as error:
            if not isinstance(error, MemoryError) and "RESOURCE_EXHAUSTED" not in str(error):
                raise
            self.lack, self._iteration = "memory does not suffice", None

    def row(self) -> dict[str, Any]:
        """Return the result."""
        if self.lack:
            return {"backend": self.name, "size": self._size, "not_measured": self.lack}
        from twinstep.bench.rounds import spread
        from twinstep.rl import flops
        from twinstep.rl.policies import Policy

        ppo, taken = self._ppo, self._taken
        policy = Policy.of(self._arena.contract, ppo.hidden, ppo.memory, ppo.encode)
        work = flops.of_an_iteration(policy, ppo)
        copies = [each.transfer for each in taken if each.transfer is not None]
        model = [each.whole - each.environment - (each.transfer or 0.0) for each in taken]

        def share(parts: Sequence[float]) -> dict[str, float]:
            return spread([part / each.whole for part, each in zip(parts, taken, strict=True)])

        return {
            "backend": self.name,
            "size": self._size,
            "parameters": flops.parameters(policy),
            "hidden": list(ppo.hidden),
            "epochs": ppo.epochs,
            "operations": work,
            "seconds": [each._asdict() for each in taken],
            "environment_share": share([each.environment for each in taken]),
            "transfer_share": share(copies) if copies else None,
            "model_share": share(model),
            "peaks": self._peaks,
            "flop_use": spread(
                [work / spent / peak for spent, peak in zip(model, self._peaks, strict=True)]
            ),
        }


def _lacking(request: BreakdownRequest, backend: str, size: int) -> str:
    """Return the reason why a row cannot be measured here, or ""."""
    import jax

    subject = variant_of(request.env, request.variant)
    if size > LARGE and jax.default_backend() == "cpu":
        return "no accelerator"
    probe = subject.probe if backend == ORACLE else registry.pairs(subject, [backend])[0].probe
    return f"{probe.problem}: {probe.mend}" if probe.problem else ""


def _settings(request: BreakdownRequest, backend: str) -> TrainingSettings:
    """Return level 4's settings in batches of the request's size, each learned whole."""
    from twinstep.rl.training.settings import settle

    settings = settle(request.env, None, {"variant": request.variant, "backend": backend})
    batch = {"lanes": request.lanes, "steps": request.steps, "minibatches": 1}
    return replace(settings, ppo=replace(settings.ppo, **batch))


def _hidden(contract: Any, settings: TrainingSettings, size: int) -> tuple[int, int]:
    """Return two layers of equal width for a network of about `size` parameters."""
    from twinstep.rl import flops
    from twinstep.rl.policies import Policy

    def parameters(width: int) -> int:
        ppo = settings.ppo
        policy = Policy.of(contract, (width, width), ppo.memory, ppo.encode)
        return flops.parameters(policy)

    if parameters(1) > size:
        raise UserError(f"--size {written(size)}: the smallest network has {parameters(1):,}")
    low, high = 1, int(size**0.5) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if parameters(middle) <= size else (low, middle)
    return (low, low)


def _request(args: argparse.Namespace) -> BreakdownRequest:
    for name in ("rounds", "lanes", "steps"):
        if not 1 <= getattr(args, name) <= MOST:
            raise UserError(f"--{name} {getattr(args, name)}: it lies between 1 and {MOST}")
    declared = registry.environment(args.env)
    every = registry.subjects(declared, {})
    if args.variant:
        subject = variant_of(args.env, args.variant)
    else:
        subject = next((s for s in every if s.contract.transfer is not None), every[0])
    known = [ORACLE, *(candidate.name for candidate in declared.candidates)]
    for name in args.backend:
        if name not in known:
            raise registry.unknown(f"backend of {args.env}", name, known)
    able = [name for name in known[1:] if not registry.pairs(subject, [name])[0].probe.problem]
    return BreakdownRequest(
        args.env,
        subject.variant.name,
        tuple(dict.fromkeys(args.backend)) or (ORACLE, *able),
        tuple(dict.fromkeys(_parsed(text) for text in args.size or SIZES)),
        args.rounds,
        args.lanes,
        args.steps,
    )


def _parsed(text: str) -> int:
    found = re.fullmatch(r"(\d+)([kM]?)", text)
    size = int(found[1]) * _UNITS[found[2]] if found else 0
    if size < 1:
        raise UserError(f"--size {text}: a number of parameters like 20M or 500k is needed")
    return size


def written(size: int) -> str:
    """Format a number of parameters for --size."""
    unit = next(unit for unit in ("M", "k", "") if size % _UNITS[unit] == 0)
    return f"{size // _UNITS[unit]}{unit}"
