"""Cases: the inputs of one comparison, small enough to keep, replay and hand on.

A case gives both sides the same inputs, so that their answers can be compared. There are four
kinds: a whole `episode` (start and actions), `step` (a state and actions from there), `restart`
(a state) and `module` (a module and its inputs).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from twinstep._lib.json_values import from_json, to_json
from twinstep.compare.arrays import Rules, differs, error, first_misses, frames_differ
from twinstep.compare.lockstep import RAISED
from twinstep.contract import Contract, Discrete, Field, Role
from twinstep.errors import CandidateBroken, UserError
from twinstep.frames import Start
from twinstep.gates import Lockstep
from twinstep.inputs.batching import replay_batch
from twinstep.reference.process import OracleProcess
from twinstep.runner.runner import Runner

KINDS = ("episode", "step", "restart", "module")


@dataclass(frozen=True)
class Case:
    """The inputs of one comparison, without batch axes.

    kind: one of KINDS. start: for an episode; for a step or restart the start that puts the
    oracle into some legal episode before the state is loaded. actions: [T, P, ...]; an episode's
    are made legal as they are played, but for those that `action_mask.kept` marked.
    state: the loaded state fields. module, inputs: for a module call.
    """

    kind: str
    start: Start
    actions: np.ndarray
    state: dict[str, np.ndarray] = field(default_factory=dict)
    module: str = ""
    inputs: dict[str, np.ndarray] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the case as plain JSON values; actions as runs [action, count]."""
        from twinstep.diagnosis.shrink import runs_of

        return {
            "kind": self.kind,
            "seed": to_json(self.start.seed),
            "start": {name: to_json(value) for name, value in sorted(self.start.fields.items())},
            "actions": [[to_json(action), count] for action, count in runs_of(self.actions)],
            "state": {name: to_json(value) for name, value in sorted(self.state.items())},
            "module": self.module,
            "inputs": {name: to_json(value) for name, value in sorted(self.inputs.items())},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], contract: Contract) -> Case:
        """Return the case that `to_json` was given; UserError if it does not fit the contract."""
        try:
            if data["kind"] not in KINDS:
                raise ValueError(f"kind {data['kind']}")
            name = data["module"]
            case = cls(
                data["kind"],
                Start(
                    from_json(data["seed"], np.uint32, (2,)),
                    _values(data["start"], contract.starts),
                ),
                _actions(data["actions"], contract),
                _values(data["state"], contract.state),
                name,
                _values(data["inputs"], contract.module(name).inputs if name else ()),
            )
            case._require_whole(contract)
        except (LookupError, ValueError, TypeError, AttributeError, OverflowError) as problem:
            raise UserError(
                f"the case does not fit contract {contract.version} ({problem!r}): "
                "it was kept for another version"
            ) from problem
        return case

    def _require_whole(self, contract: Contract) -> None:
        """Raise KeyError for a field that its kind of case needs and it does not have."""
        if self.kind == "module":
            needed, there = contract.module(self.module).inputs, self.inputs
        else:
            needed, there = contract.starts, self.start.fields
        loaded = [f for f in contract.state if f.role in (Role.COMPARED, Role.HIDDEN)]
        lacking = [f.name for f in needed if f.name not in there]
        if self.kind in ("step", "restart"):
            lacking += [f.name for f in loaded if f.name not in self.state]
        if lacking:
            raise KeyError(*lacking)


@dataclass(frozen=True)
class Answer:
    """The answers of both sides to a case.

    step: the first step that differs, -1 if none does. paths: what differs there.
    before: the oracle's frame before that step ({} at a reset, for a module, or where none
    was recorded). oracle, candidate: both frames at that step, or a module's outputs.
    history: the oracle's frames [step, ...] before the difference.
    played: the actions after mapping to legal ones. module: of a module's case, else "".
    compared: path -> the gate under which it was compared there; {} where both sides agree.
    raised: the candidate's exception where it raised in place of an answer; `paths` then has the
    one path `raised IndexError`, and `candidate` is empty.
    """

    step: int
    paths: tuple[str, ...]
    before: dict[str, np.ndarray]
    oracle: dict[str, np.ndarray]
    candidate: dict[str, np.ndarray]
    history: dict[str, np.ndarray]
    played: np.ndarray
    module: str = ""
    compared: dict[str, Lockstep] = field(default_factory=dict)
    raised: CandidateBroken | None = None

    @property
    def agrees(self) -> bool:
        """True if both sides gave the same answer."""
        return self.step < 0


def _values(data: dict[str, Any], declared: tuple[Field, ...]) -> dict[str, np.ndarray]:
    fields = {field.name: field for field in declared}
    return {n: from_json(v, fields[n].dtype, fields[n].shape) for n, v in data.items()}


def _actions(runs: list[Any], contract: Contract) -> np.ndarray:
    """Return the actions [T, P, ...] of runs. Raises ValueError for impossible ones."""
    dtype, shape = contract.action_layout()
    parts = [np.zeros((0, *shape), dtype)]
    for action, count in runs:
        value = from_json(action, dtype, (1, *shape))
        space = contract.action
        if isinstance(space, Discrete):
            # Negative: an illegal one that is asked as it is.
            least = -space.n if contract.masked else 0
            if not ((value >= least) & (value < space.n)).all():
                raise ValueError(f"action {action} of {space.n}")
        if not 0 < count <= _MOST:
            raise ValueError(f"{count} steps")
        parts.append(np.repeat(value, count, 0))
    return np.concatenate(parts)


#: The most steps in a run of equal actions; more is a damaged file.
_MOST = 10**6


def ask(case: Case, oracle: OracleProcess, runner: Runner, rules: Rules) -> Answer:
    """Run a case on both sides."""
    if case.kind == "episode":
        return ask_episodes([(case.start, case.actions)], oracle, runner, rules)[0]
    if case.kind == "module":
        return _ask_module(case, oracle, runner, rules)
    state = {name: value[None] for name, value in case.state.items()}
    begin = _batched(case.start)
    before = {f"state.{name}": value for name, value in case.state.items()}
    if case.kind == "restart":
        want = {p: v[None] for p, v in oracle.restarts(state, begin).items()}
        got = {p: v[None] for p, v in runner.restart(runner.load(state))[1].items()}
    else:
        want, _ = oracle.steps(state, case.actions[:, None], begin)
        got, failure = _played_from(state, case.actions[:, None], runner)
        if failure:
            at = len(got["reward"]) if got else 0
            if at:
                before = {path: values[at - 1, 0] for path, values in want.items()}
            rows = {path: values[:, 0] for path, values in want.items()}
            agreed = not got or not frames_differ(
                {path: values[:at] for path, values in want.items()}, got, rules.one_step()
            )
            if agreed:
                return _raising(at + 1, before, rows, at, case.actions, failure)
            want = {path: values[:at] for path, values in want.items()}
    gates = rules.one_step()
    differences = frames_differ(want, got, gates)
    count = len(want["reward"])
    misses = first_misses(differences, np.ones((count, 1), bool), 1)
    if not misses:
        return _agreement(case.actions)
    at = misses[0].step - 1
    if at:
        before = {path: values[at - 1, 0] for path, values in want.items()}
    return Answer(
        at + 1,
        misses[0].paths,
        before,
        {path: values[at, 0] for path, values in want.items()},
        {path: values[at, 0] for path, values in got.items()},
        {path: values[:at, 0] for path, values in want.items()},
        case.actions,
        compared=gates,
    )


def ask_episodes(
    trials: list[tuple[Start, np.ndarray]], oracle: OracleProcess, runner: Runner, rules: Rules
) -> list[Answer]:
    """Play given actions from each start on both sides, under lockstep gates.

    The first frame is compared under all gates.
    """
    together = replay_batch(runner.contract)
    answers: list[Answer] = []
    for begin in range(0, len(trials), together):
        answers += _ask_some(trials[begin : begin + together], oracle, runner, rules)
    return answers


def _ask_some(
    trials: list[tuple[Start, np.ndarray]], oracle: OracleProcess, runner: Runner, rules: Rules
) -> list[Answer]:
    truths = oracle.replays(trials)
    plays = [(start, truth[1]) for (start, _), truth in zip(trials, truths, strict=True)]
    failures: list[CandidateBroken | None] = [None] * len(plays)
    try:
        shown = runner.replays(plays)
    except CandidateBroken as error:
        if not error.raised:
            raise
        # In a batch one lane's exception hides the others' answers.
        alone = [runner.alone(*play) for play in plays]
        shown, failures = [got for got, _ in alone], [failure for _, failure in alone]
        if not any(failures):
            raise
    answers = []
    for (truth, played, _), got, failure in zip(truths, shown, failures, strict=True):
        want = {path: values[: len(got["reward"])] for path, values in truth.items()}
        lane_want = {path: values[:, None] for path, values in want.items()}
        lane_got = {path: values[:, None] for path, values in got.items()}
        # The first frame is one step from the start: resync and window gates apply too.
        want_first, got_first = (
            {path: values[:1] for path, values in named.items()} for named in (lane_want, lane_got)
        )
        gates = rules.one_step()
        differences = frames_differ(want_first, got_first, gates)
        misses = first_misses(differences, np.ones((1, 1), bool), 0)
        if not misses:
            gates = rules.lockstep()
            differences = frames_differ(lane_want, lane_got, gates)
            misses = first_misses(differences, np.ones((len(want["reward"]), 1), bool), 0)
        if not misses and failure:
            at = len(want["reward"])
            before = {path: values[-1] for path, values in want.items()}
            answers.append(_raising(at, before, truth, at, played[:at], failure))
            continue
        if not misses:
            answers.append(_agreement(played))
            continue
        at = misses[0].step
        answers.append(
            Answer(
                at,
                misses[0].paths,
                {path: values[at - 1] for path, values in want.items()} if at else {},
                {path: values[at] for path, values in want.items()},
                {path: values[at] for path, values in got.items()},
                {path: values[:at] for path, values in want.items()},
                played[:at],
                compared=gates,
            )
        )
    return answers


def _played_from(
    state: dict[str, np.ndarray], actions: np.ndarray, runner: Runner
) -> tuple[dict[str, np.ndarray], CandidateBroken | None]:
    """Play from a loaded state as far as the candidate gets: its frames, and its failure."""
    try:
        return runner.play_from(state, actions), None
    except CandidateBroken as error:
        if not error.raised:
            raise
        if len(actions) == 1:
            return {}, error
        got, earlier = _played_from(state, actions[:-1], runner)
        return got, earlier or error


def _raising(
    step: int,
    before: dict[str, np.ndarray],
    truth: dict[str, np.ndarray],
    row: int,
    played: np.ndarray,
    failure: CandidateBroken,
) -> Answer:
    """Return the answer of a candidate that raises in a step; row: that step's in `truth`."""
    oracle = {path: values[row] for path, values in truth.items()}
    history = {path: values[:row] for path, values in truth.items()}
    paths = (f"{RAISED}{failure.raised}",)
    return Answer(step, paths, before, oracle, {}, history, played, raised=failure)


def _ask_module(case: Case, oracle: OracleProcess, runner: Runner, rules: Rules) -> Answer:
    inputs = {name: value[None] for name, value in case.inputs.items()}
    want = oracle.call(case.module, inputs)
    got = runner.call(case.module, inputs)
    paths = outputs_differ(runner.contract, rules, case.module, want, got)
    outputs = runner.contract.module(case.module).outputs
    return Answer(
        0 if paths else -1,
        tuple(sorted(paths)),
        {},
        {path: values[0] for path, values in want.items()},
        {path: values[0] for path, values in got.items()},
        {},
        case.actions,
        case.module,
        {output.name: rules.outputs[case.module, output.name] for output in outputs},
    )


def outputs_differ(
    contract: Contract,
    rules: Rules,
    module: str,
    oracle: dict[str, np.ndarray],
    candidate: dict[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Return output name -> bool[N] where a module's outputs differ, under their fields' gates."""
    differences = {}
    for output in contract.module(module).outputs:
        name = output.name
        gate = rules.outputs[module, name]
        wrong = differs(np.asarray(oracle[name]), np.asarray(candidate[name]), gate)
        if wrong.any():
            differences[name] = wrong.reshape(len(wrong), -1).any(-1)
    return differences


def elements_that_differ(
    contract: Contract, answer: Answer
) -> list[tuple[str, Any, Any, Any, float, Lockstep]]:
    """List (name, before, oracle, candidate, error, gate) of every element that differs.

    Vectors are split into their named elements: `obs.ball_x`.
    """
    rows: list[tuple[str, Any, Any, Any, float, Lockstep]] = []
    if answer.raised:
        return rows
    # Single values are more readable than the vectors that contain them.
    for path in sorted(answer.paths, key=lambda p: (np.asarray(answer.oracle[p]).size > 1, p)):
        gate = answer.compared[path]
        want, got = np.asarray(answer.oracle[path]), np.asarray(answer.candidate[path])
        before = np.asarray(answer.before[path]) if path in answer.before else None
        wrong = differs(want, got, gate)
        sizes = error(want, got)
        names = element_names(contract, path)
        for place in np.argwhere(wrong):
            index = tuple(int(i) for i in place)
            label = path + _suffix(list(index), names)
            old = before[index] if before is not None else None
            rows.append((label, old, want[index], got[index], float(sizes[index]), gate))
    return rows


def elements_that_agree(contract: Contract, answer: Answer, most: int = 8) -> list[tuple[str, Any]]:
    """List (name, oracle's value) of what was compared and agrees, in the contract's order.

    Arrays of up to `most` elements: whole where all agree, else element by element.
    """
    rows = []
    for path, gate in answer.compared.items():
        want = np.asarray(answer.oracle[path])
        if want.size > most:
            continue
        if path not in answer.paths:
            rows.append((path, want))
            continue
        names = element_names(contract, path)
        for place in np.argwhere(~differs(want, np.asarray(answer.candidate[path]), gate)):
            index = tuple(int(i) for i in place)
            rows.append((path + _suffix(list(index), names), want[index]))
    return rows


def elements_not_compared(
    contract: Contract, answer: Answer, most: int = 8
) -> list[tuple[str, Any, Any]]:
    """List (name, oracle, candidate) of elements in other bits that have gates of their own.

    They are those of small arrays that an episode in lockstep does not compare: a resync gate's.
    """
    rows = []
    for path in () if answer.raised else contract.compared_paths():
        if answer.module or path in answer.compared or path not in answer.oracle:
            continue
        want, got = np.asarray(answer.oracle[path]), np.asarray(answer.candidate[path])
        if want.size > most:
            continue
        names = element_names(contract, path)
        for place in np.argwhere(differs(want, got, Lockstep())):
            index = tuple(int(i) for i in place)
            rows.append((path + _suffix(list(index), names), want[index], got[index]))
    return rows


def element_name(contract: Contract, path: str, index: tuple[int, ...]) -> str:
    """Return the name of one element of a frame path, `obs.ball_x` or `state.board[0][1]`."""
    return path + _suffix(list(index), element_names(contract, path))


def element_names(contract: Contract, path: str) -> tuple[str, ...]:
    """Return the names of a path's elements along its last axis, if it has any."""
    if path == "obs":
        return contract.observation.names
    try:
        return contract.state_field(path.removeprefix("state.")).names
    except KeyError:
        return ()


def _suffix(index: list[int], names: tuple[str, ...]) -> str:
    if len(index) == 0:
        return ""
    if names:
        player = "".join(f"[{i}]" for i in index[:-1] if len(index) > 1 and i)
        return f"{player}.{names[index[-1]]}"
    return "".join(f"[{i}]" for i in index) if index != [0] else ""


def _agreement(played: np.ndarray) -> Answer:
    return Answer(-1, (), {}, {}, {}, {}, played)


def _batched(start: Start) -> Start:
    return Start(
        np.asarray(start.seed)[None],
        {name: np.asarray(value)[None] for name, value in start.fields.items()},
    )
