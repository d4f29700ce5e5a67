"""Run a candidate for the harness: checked frames, any length, any optional method."""

from __future__ import annotations

import contextlib
import itertools
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from twinstep._lib.machine import has_accelerator
from twinstep._lib.said import first_line, trace_of
from twinstep.contract import Contract, Role
from twinstep.environment import CandidateRef
from twinstep.errors import CandidateBroken, UserError
from twinstep.frames import Frame, Start, flatten, stack_starts, take_lanes
from twinstep.inputs.batching import WINDOW, chunk_lanes, replay_batch
from twinstep.project import registry
from twinstep.project.registry import Pair
from twinstep.project.source_hash import package_folder
from twinstep.protocols import ModuleCall, offers
from twinstep.runner.import_guard import Isolation
from twinstep.runner.state_types import changed_types

#: Rows per batch of module calls.
CALLS = 256
#: The most lanes that are loaded and played together.
LOADED = 4096
#: The exception of an isolated candidate that is no answer to a case: its process is gone by then.
_ENDED = "CandidateDied"
#: A compiled candidate's batches above level 3's size are padded to multiples of this.
FILLED = 32


def broken_by(
    candidate: CandidateRef, error: BaseException, ran_before: bool = False
) -> CandidateBroken | None:
    """Return an error that came out of a candidate's own files as its failure, else None.

    For candidates called without a Runner, as by `make`. Every exception counts, pytest's skip
    included. A UserError is about the project, whose contract may be in the same file, unless the
    same calls of the same project succeeded before.
    """
    if isinstance(error, CandidateBroken):
        return error
    if type(error) is UserError and not ran_before:
        return None
    folders = [_home(candidate.factory.partition(":")[0])]
    for name in candidate.packages:
        with contextlib.suppress(UserError):
            folders.append(package_folder(name))
    files = {Path(frame.f_code.co_filename) for frame, _ in traceback.walk_tb(error.__traceback__)}
    if not any(file.is_relative_to(home) for file in files for home in folders if home):
        return None
    text = f"the candidate raised {type(error).__name__}: {first_line(error)}"
    return CandidateBroken(text, trace_of(error))


def _home(module: str) -> Path | None:
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file) if file else None


class Runner:
    """A candidate behind checks. Every array it returns is NumPy, in the contract's layout."""

    def __init__(
        self,
        contract: Contract,
        candidate: Any,
        name: str,
        isolation: contextlib.AbstractContextManager[None] | None = None,
    ) -> None:
        self.contract = contract
        self.isolation = isolation or contextlib.nullcontext()
        self.candidate = candidate
        self.name = name
        self.dtype: str = candidate.dtype
        self.platform: str = candidate.platform
        self._any_size: bool = getattr(candidate, "any_size", False)
        self._compared = contract.compared_paths()
        self._layout = contract.layout()

    @classmethod
    def isolated(cls, pair: Pair) -> Runner:
        """Build the pair's candidate in a process of its own; see remote.py.

        Raises CandidateBroken if it cannot be built, or if its programs may not be trusted.
        """
        from twinstep.runner.remote import RemoteCandidate

        candidate = _guard("be built", lambda: RemoteCandidate(pair))
        if candidate.refused:
            raise CandidateBroken(candidate.refused[0])
        _require_platform(candidate.platform)
        return cls(pair.subject.contract, candidate, pair.candidate.name)

    @classmethod
    def of(cls, pair: Pair) -> Runner:
        """Build the pair's candidate. Raises CandidateBroken if it cannot be built."""
        factory = pair.candidate.factory
        isolation = Isolation(pair)
        with isolation:
            candidate = _guard(
                "be built", lambda: registry.load_object(factory)(pair.subject.contract)
            )
        missing = [n for n in ("reset", "step") if not offers(candidate, n)]
        missing += [n for n in ("dtype", "platform") if not hasattr(candidate, n)]
        if missing:
            raise CandidateBroken(f"{factory} has no {' and no '.join(missing)}")
        for name in ("dtype", "platform"):
            if not isinstance(getattr(candidate, name), str):
                word = getattr(candidate, name)
                raise CandidateBroken(f"{factory}: `{name}` is {word!r}, not a text as 'float32'")
        _require_platform(candidate.platform)
        return cls(pair.subject.contract, candidate, pair.candidate.name, isolation)

    def offers(self, method: str) -> bool:
        """Return True if the candidate has the optional method."""
        return offers(self.candidate, method)

    def eager(self) -> Runner:
        """Return the same candidate without compilation."""
        candidate = self._guard("be made eager", lambda: self.candidate.eager())
        return Runner(self.contract, candidate, self.name)

    def reset(self, starts: Start) -> tuple[Any, dict[str, np.ndarray]]:
        """Begin one episode per lane; frames path -> [N, ...]."""
        state, frame = self._guard("reset", lambda: _two(self.candidate.reset(starts), "reset"))
        return state, self._checked("reset", frame, (len(np.asarray(starts.seed)),))

    def fresh(self, seeds: np.ndarray) -> dict[str, np.ndarray]:
        """Begin an episode of its own from each seed u32[N, 2], not placed; path -> [N, ...]."""
        frame = self._guard("draw its own starts", lambda: self.candidate.fresh(seeds))
        return self._checked("fresh", frame, (len(seeds),))

    def step(self, state: Any, actions: np.ndarray) -> tuple[Any, dict[str, np.ndarray]]:
        """Apply actions [N, P, ...]; frames path -> [N, ...]."""
        state, frame = self._guard(
            "step", lambda: _two(self.candidate.step(state, actions), "step")
        )
        return state, self._checked("step", frame, (len(actions),))

    def rollout(self, state: Any, actions: np.ndarray) -> tuple[Any, dict[str, np.ndarray]]:
        """Apply actions [T, N, P, ...]; frames path -> [T, N, ...].

        Uses the candidate's own rollout if it has one. For a candidate that is compiled for each
        size, T is padded to the window's length, so that it compiles once.
        """
        if not self.offers("rollout"):
            return self.step_loop(state, actions)
        steps = len(actions)
        length = steps if self._any_size else WINDOW
        padded = np.zeros((length, *actions.shape[1:]), actions.dtype)
        padded[:steps] = actions
        try:
            made = self._guard(
                "roll out", lambda: _two(self.candidate.rollout(state, padded), "rollout")
            )
        except CandidateBroken as error:
            raise self.explained(error) or error from error.__cause__
        state, frame = made
        named = self._checked("rollout", frame, (length, actions.shape[1]))
        return state, {path: values[:steps] for path, values in named.items()}

    def step_loop(self, state: Any, actions: np.ndarray) -> tuple[Any, dict[str, np.ndarray]]:
        """Apply actions [T, N, P, ...] one step at a time; frames path -> [T, N, ...]."""
        rows = []
        for action in actions:
            state, named = self.step(state, action)
            rows.append({path: values.copy() for path, values in named.items()})
        if not rows:
            lanes = actions.shape[1]
            empty = {
                p: np.zeros((0, lanes, *self._layout[p][1]), self._layout[p][0])
                for p in self._compared
            }
            return state, empty
        return state, {path: np.stack([row[path] for row in rows]) for path in rows[0]}

    def alone(
        self, start: Start, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], CandidateBroken | None]:
        """Play one episode in a batch of one, step by step, as far as it gets.

        Returns frames path -> [t + 1, ...], and the failure of step t + 1 if it raises. Raises
        CandidateBroken if reset fails, or a step returns what the contract forbids.
        """
        state, named = self.reset(stack_starts([start]))
        rows, failure = [named], None
        for action in actions:
            try:
                state, named = self.step(state, action[None])
            except CandidateBroken as error:
                if not error.raised:
                    raise
                failure = error
                break
            rows.append(named)
        return {path: np.stack([row[path][0] for row in rows]) for path in named}, failure

    def load(self, states: dict[str, np.ndarray]) -> Any:
        """Continue from state fields [N, ...]."""
        return self._guard("load", lambda: self.candidate.load(states))

    def present(self, state: Any) -> dict[str, np.ndarray]:
        """Return the state's own fields [N, ...], hidden ones included, without a step."""
        frame = self._guard("give its frame", lambda: self.candidate.frame(state))
        lanes = self._guard("give its frame", lambda: len(np.asarray(frame.reward)))
        if not isinstance(frame.state, Mapping):
            raise CandidateBroken(f"frame gave `state` as {_kind(frame.state)}, not named arrays")
        named = _arrays("frame", frame.state)
        fields = [f for f in self.contract.state if f.role is not Role.IRRELEVANT]
        expected = {f.name: (np.dtype(f.dtype), (lanes, *f.shape)) for f in fields}
        self._require("frame", named, expected, (lanes,))
        return {name: np.array(named[name]) for name in expected}

    def restart(self, state: Any) -> tuple[Any, dict[str, np.ndarray]]:
        """Apply the reference's auto-reset to all lanes; frames path -> [N, ...]."""
        made = self._guard("restart", lambda: _two(self.candidate.restart(state), "restart"))
        state, frame = made
        lanes = self._guard("restart", lambda: len(np.asarray(frame.reward)))
        return state, self._checked("restart", frame, (lanes,))

    def play_from(
        self, states: dict[str, np.ndarray], actions: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Load states [N, ...] and apply actions [H, N, P, ...]; frames path -> [H, N, ...].

        More than LOADED lanes are played in parts. A compiled candidate's batch is padded with
        copies of its first lanes, so that few sizes are compiled: level 3's own where that
        suffices.
        """
        parts, lanes = [], actions.shape[1]
        filled = max(chunk_lanes(self.contract), -(-lanes // FILLED) * FILLED)
        filled = lanes if self._any_size else filled
        order = np.arange(filled) % lanes
        for begin in range(0, filled, LOADED):
            some = order[begin : begin + LOADED]
            state = self.load({name: values[some] for name, values in states.items()})
            parts.append(self.step_loop(state, actions[:, some])[1])
        return {p: np.concatenate([part[p] for part in parts], 1)[:, :lanes] for p in parts[0]}

    def call(self, module: str, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Evaluate a module on inputs with a leading N, checked against its declared outputs.

        The candidate gets CALLS rows at a time, the last batch padded with copies of the first row,
        so that a compiled candidate compiles once.
        """
        lanes = len(next(iter(inputs.values())))
        order = np.arange(-(-lanes // CALLS) * CALLS) % lanes
        parts = [
            self._call(module, {n: values[rows] for n, values in inputs.items()})
            for rows in order.reshape(-1, CALLS)
        ]
        return {name: np.concatenate([p[name] for p in parts])[:lanes] for name in parts[0]}

    def _call(self, module: str, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        out = self._guard(f"call {module}", lambda: self.candidate.call(module, inputs))
        lanes = len(next(iter(inputs.values())))
        declared = self.contract.module(module).outputs
        if not isinstance(out, Mapping):
            raise CandidateBroken(f"module {module} returned {_kind(out)}, not named arrays")
        named = _arrays(f"module {module}", out)
        expected = {f.name: (np.dtype(f.dtype), (lanes, *f.shape)) for f in declared}
        self._require(f"module {module}", named, expected, (lanes,))
        return {f.name: named[f.name] for f in declared}

    def explain(self, state: dict[str, np.ndarray], action: np.ndarray) -> list[ModuleCall]:
        """List the module calls of one step from a single state."""
        return self._guard("explain a step", lambda: self.candidate.explain(state, action))

    def windows(
        self, starts: Start, actions: Callable[[int], np.ndarray], count: int, lanes: int
    ) -> Iterator[dict[str, np.ndarray]]:
        """Replay whole episodes: frame 0 of all lanes first, then one window after the other.

        actions(number) gives a window's actions [W, n, P, ...]. The batch is padded to
        `lanes` by repeating the first start for a candidate that is compiled for sizes.
        """
        n = len(np.asarray(starts.seed))
        more = 0 if self._any_size else max(0, lanes - n)
        fill = np.concatenate([np.arange(n), np.zeros(more, np.int64)])
        state, named = self.reset(take_lanes(starts, fill))
        yield {path: values[None, :n] for path, values in named.items()}
        for number in range(count):
            window = actions(number)[:, fill]
            if len(window):
                state, named = self.rollout(state, window)
                yield {path: values[:, :n] for path, values in named.items()}

    def replays(self, trials: list[tuple[Start, np.ndarray]]) -> list[dict[str, np.ndarray]]:
        """Play given actions [T, P, ...] from each single start; frames path -> [T + 1, ...]."""
        out: list[dict[str, np.ndarray]] = []
        few = replay_batch(self.contract)
        for group in _groups(trials, few, alike=bool(self.contract.illegal)):
            longest = max(len(actions) for _, actions in group)
            dtype, shape = self.contract.action_layout()
            padded = np.zeros((longest, len(group), *shape), dtype)
            for lane, (_, actions) in enumerate(group):
                padded[: len(actions), lane] = actions
            seeds = np.stack([np.asarray(start.seed) for start, _ in group])
            fields = {
                name: np.stack([np.asarray(start.fields[name]) for start, _ in group])
                for name in group[0][0].fields
            }
            windows = self.windows(
                Start(seeds, fields),
                lambda w, padded=padded: padded[w * WINDOW : (w + 1) * WINDOW],
                -(-longest // WINDOW),
                few,
            )
            parts = [{path: v[:, : len(group)].copy() for path, v in w.items()} for w in windows]
            for lane, (_, actions) in enumerate(group):
                out.append(
                    {
                        path: np.concatenate([part[path][:, lane] for part in parts])[
                            : len(actions) + 1
                        ]
                        for path in parts[0]
                    }
                )
        return out

    def _checked(self, what: str, frame: Frame, leading: tuple[int, ...]) -> dict[str, np.ndarray]:
        if any(not hasattr(frame, name) for name in Frame._fields):
            raise CandidateBroken(f"{what} returned {_kind(frame)}, not a Frame")
        if not isinstance(frame.state, Mapping):
            raise CandidateBroken(f"{what} gave `state` as {_kind(frame.state)}, not named arrays")
        named = _arrays(what, flatten(frame))
        expected = {
            path: (self._layout[path][0], (*leading, *self._layout[path][1]))
            for path in self._compared
        }
        self._require(what, named, expected, leading)
        # A copy: the candidate may reuse its buffers. A rollout's are read before that.
        keep = np.asarray if what == "rollout" else np.array
        return {path: keep(named[path]) for path in self._compared}

    def _require(
        self,
        what: str,
        named: dict[str, np.ndarray],
        expected: dict[str, tuple[np.dtype, tuple[int, ...]]],
        leading: tuple[int, ...],
    ) -> None:
        for path, (dtype, shape) in expected.items():
            if path not in named:
                raise CandidateBroken(f"{what} gave no `{path}`, which the contract compares")
            value = named[path]
            if value.dtype != dtype and not self._narrower(value.dtype, dtype):
                raise CandidateBroken(
                    f"{what} gave `{path}` as {value.dtype}, the contract says {dtype}"
                )
            if value.shape != shape:
                raise CandidateBroken(
                    f"{what} gave `{path}` in shape {_text(value.shape, leading)}, the contract "
                    f"says {_text(shape, leading)}"
                )
        for path in sorted(named.keys() - expected.keys()):
            if path not in self._layout and what in ("reset", "step", "rollout", "restart"):
                raise CandidateBroken(f"{what} gave `{path}`, which the contract does not name")

    def explained(self, error: Exception) -> CandidateBroken | None:
        """Return an error as what a step does to the state's types, None if it does nothing."""
        if changed := changed_types(self.candidate):
            what = f"the candidate's step changes the types of its state: {changed}"
            return CandidateBroken(what, getattr(error, "detail", ""))
        return None

    def _guard(self, what: str, act: Callable[[], Any]) -> Any:
        with self.isolation:
            return _guard(what, act)

    def _narrower(self, got: np.dtype, want: np.dtype) -> bool:
        """Accept a float32 candidate of a float64 contract; its gate decides the tolerance.

        Nothing wider: it would be compared after rounding. Nothing below float32, which no contract
        of a field means.
        """
        return want == np.float64 and got == np.float32 == np.dtype(self.dtype)


def _require_platform(name: str) -> None:
    """Raise CandidateBroken for an accelerator that this machine does not have.

    Gates may be wider there, and the candidate's word alone decides nothing.
    """
    if name != "cpu" and not has_accelerator():
        raise CandidateBroken(
            f"`platform` is {name!r}, and this machine has no accelerator: it computes on 'cpu'"
        )


def _groups(
    trials: list[tuple[Start, np.ndarray]], most: int, alike: bool
) -> Iterator[list[tuple[Start, np.ndarray]]]:
    """Yield the trials in their order, at most so many together; `alike`: of one length.

    Shorter ones are filled with actions that may be illegal.
    """
    for _, alike_ones in itertools.groupby(trials, lambda trial: len(trial[1]) if alike else 0):
        group = list(alike_ones)
        yield from (group[begin : begin + most] for begin in range(0, len(group), most))


def _two(answer: Any, what: str) -> tuple[Any, Any]:
    if isinstance(answer, tuple) and len(answer) == 2:
        return answer
    raise CandidateBroken(f"{what} returned {_kind(answer)}, not a state and a Frame")


def _kind(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _text(shape: tuple[int, ...], leading: tuple[int, ...]) -> str:
    """Return `[N, 2, 3]`: a bug has the same message in every batch, unless it is the batch's."""
    begin, rest = shape[: len(leading)], shape[len(leading) :]
    names = ("T", "N")[-len(leading) :]
    same = [
        name if here == want else str(here)
        for name, here, want in zip(names, begin, leading, strict=False)
    ]
    return f"[{', '.join([*same, *map(str, rest)])}]"


def _arrays(what: str, named: Mapping[str, Any]) -> dict[str, np.ndarray]:
    out = {}
    for path, value in named.items():
        if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
            # Its arithmetic is another one for whoever uses it, and its numbers alone are compared.
            kind = type(value).__name__
            raise CandidateBroken(f"{what} gave `{path}` as a {kind}, expected a plain ndarray")
        try:
            out[path] = np.asarray(value)
        except Exception as error:
            why = f"{type(error).__name__}: {first_line(error)}"
            raise CandidateBroken(
                f"{what} gave `{path}` as {_kind(value)} that is no array ({why})",
                trace_of(error),
            ) from error
    return out


def _guard(what: str, act: Callable[[], Any]) -> Any:
    """Run the candidate's code. Every exception is its failure, pytest's skip included."""
    try:
        return act()
    except (CandidateBroken, KeyboardInterrupt):
        raise
    except BaseException as error:
        text = f"the candidate cannot {what}: {type(error).__name__}: {first_line(error)}"
        # A candidate in its own process sends its traceback along.
        detail = getattr(error, "detail", None) or trace_of(error)
        raised = type(error).__name__
        raise CandidateBroken(text, detail, "" if raised in _ENDED else raised) from error
