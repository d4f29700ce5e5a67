"""The harness's side of a candidate in its own process: a stand-in with the same methods."""

from __future__ import annotations

import functools
import os
import tempfile
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from twinstep._lib.rpc import ChildProcess, Ended, Silent, ending
from twinstep._lib.spawn import child_command
from twinstep.frames import Array, Fields, Frame, Start
from twinstep.project import registry
from twinstep.project.registry import Pair
from twinstep.protocols import ModuleCall
from twinstep.runner import server, shared_memory
from twinstep.runner.candidate_view import view_of
from twinstep.runner.wire import Garbled, Held
from twinstep.walls.enter import UNBUILT
from twinstep.walls.standing import standing
from twinstep.walls.view import variables, walled

#: The environment variables that a candidate's process inherits.
KNOWN = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_CACHE_HOME", "TWINSTEP_CACHE", "PYTHONPATH",
    "JAX_PLATFORMS", "JAX_COMPILATION_CACHE_DIR", "XLA_FLAGS", "CUDA_VISIBLE_DEVICES",
)  # fmt: skip
#: A candidate's working directory: a folder without files of the project.
NOWHERE = tempfile.gettempdir()
#: The variables that name folders, behind walls: nothing is kept there.
_INSIDE = {
    "HOME": "/tmp", "TMPDIR": "/tmp", "XDG_CACHE_HOME": "/tmp/cache",
    "TWINSTEP_CACHE": "/tmp/cache/twinstep", "JAX_COMPILATION_CACHE_DIR": "",
}  # fmt: skip


class CandidateDied(Exception):
    """The candidate's process ended, hung or sent an invalid answer."""


class CandidateRaised(Exception):
    """An exception of the candidate in its process. Its class has the name of the candidate's."""


class RemoteState:
    """A state that the candidate's process keeps under a number, as long as this object lives."""

    def __init__(self, held: Held, freed: list[int]) -> None:
        self.held = held
        weakref.finalize(self, freed.append, held.number)


class CandidateProcess:
    """A pair's candidate in a process of its own, behind walls where any can be built.

    An exception of the candidate comes back under its own name. CandidateDied is raised if the
    process ends, stays silent for the candidate's `limit`, or sends an invalid answer. A dead
    process is not restarted.
    """

    def __init__(self, pair: Pair, module: str, *more: Any) -> None:
        """Start it. module: the one whose `serve` answers. more: of its first request."""
        self._child = _started(pair, module)
        self._freed: list[int] = []
        self._limit = pair.candidate.limit
        #: Ends the process.
        self.close = weakref.finalize(self, self._child.kill)
        subject = pair.subject
        #: What it answers to the first request.
        self.about: Any = self._exchange(
            (
                registry.locator(subject.env.name),
                subject.variant.name,
                dict(subject.contract.params),
                pair.candidate.name,
                pair.candidate.factory,
                *more,
            )
        )

    def ask(self, *request: Any) -> Any:
        """Make a request, with the numbers of states that nobody needs any more."""
        freed, self._freed[:] = list(self._freed), []
        return self._exchange((*request, freed))

    def state(self, held: Any) -> RemoteState:
        """Return the handle of a state in an answer."""
        if not isinstance(held, Held):
            raise CandidateDied("it sent no state where it owes one")
        return RemoteState(held, self._freed)

    def _exchange(self, request: tuple[Any, ...]) -> Any:
        try:
            kind, *rest = self._child.ask(request, self._limit)
        except Silent:
            self.close()
            raise CandidateDied(f"its process said nothing for {self._limit:g} s") from None
        except Ended as end:
            text = f"its process {ending(end.code, 'ended by itself')}"
            text = "a wall around its process could not be built" if end.code == UNBUILT else text
            raise CandidateDied(text) from None
        except (Garbled, TypeError, ValueError) as error:
            self.close()
            raise CandidateDied(f"its process sent what is no answer ({error})") from None
        if kind == "ok":
            return rest[0]
        name, text, trace = (str(part) for part in rest)
        raise _named(name, trace)(text)


class RemoteCandidate:
    """A Candidate (see protocols.py) whose code runs in another process.

    It has the candidate's optional methods except those of auto-reset.
    """

    def __init__(self, pair: Pair) -> None:
        self._adopt(CandidateProcess(pair, server.__name__), 0)

    def _adopt(self, process: CandidateProcess, side: int) -> None:
        about = process.about
        self.dtype, self.platform = str(about["dtype"]), str(about["platform"])
        self.any_size = bool(about["any_size"])
        #: The forbidden contents of its compiled programs, a line each.
        self.refused = [str(line) for line in about["refused"]]
        #: What `make` needs of it and nobody can call here.
        self.ships = tuple(str(name) for name in about["ships"])
        self._process, self._side = process, side
        for name in about["methods"]:
            if name in server.METHODS:
                setattr(self, name, getattr(self, f"_{name}"))

    def reset(self, starts: Start) -> tuple[RemoteState, Frame]:
        """Begin one episode per lane of the batched start."""
        return self._moved("reset", starts)

    def step(self, state: RemoteState, actions: Array) -> tuple[RemoteState, Frame]:
        """Apply actions [N, P, ...]; the state given is consumed."""
        return self._moved("step", state.held, np.asarray(actions))

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def _rollout(self, state: RemoteState, actions: Array) -> tuple[RemoteState, Frame]:
        return self._moved("rollout", state.held, np.asarray(actions))

    def _restart(self, state: RemoteState) -> tuple[RemoteState, Frame]:
        return self._moved("restart", state.held)

    def _load(self, fields: Fields) -> RemoteState:
        return self._state(self._ask("load", {n: np.asarray(v) for n, v in fields.items()}))

    def _fresh(self, seeds: Array) -> Frame:
        return self._ask("fresh", np.asarray(seeds))

    def _copy(self, state: RemoteState) -> RemoteState:
        return self._state(self._ask("copy", state.held))

    def _frame(self, state: RemoteState) -> Frame:
        return self._ask("frame", state.held)

    def _call(self, module: str, inputs: Fields) -> dict[str, np.ndarray]:
        return self._ask("call", module, {n: np.asarray(v) for n, v in inputs.items()})

    def _explain(self, state: Fields, action: Array) -> list[ModuleCall]:
        fields = {n: np.asarray(v) for n, v in state.items()}
        return self._ask("explain", fields, np.asarray(action))

    def _eager(self) -> RemoteCandidate:
        other = object.__new__(RemoteCandidate)
        other._adopt(self._process, int(self._ask("eager")))
        return other

    def _moved(self, method: str, *args: Any) -> tuple[RemoteState, Frame]:
        answer = self._ask(method, *args)
        if not (isinstance(answer, tuple) and len(answer) == 2):
            return answer
        return self._state(answer[0]), answer[1]

    def _state(self, held: Any) -> RemoteState:
        return self._process.state(held)

    def _ask(self, method: str, *args: Any) -> Any:
        return self._process.ask(self._side, method, args)


def _named(name: str, trace: str) -> type[Exception]:
    """Return an exception with the name and the traceback that the candidate's had."""
    from twinstep.errors import CandidateBroken

    if name == CandidateBroken.__name__:
        return CandidateBroken
    bases = (CandidateRaised,)
    return type(name if name.isidentifier() else "Exception", bases, {"detail": trace})


def _started(pair: Pair, module: str) -> ChildProcess:
    words, given = command_of(pair, module)
    with shared_memory.made() as memory:
        also = () if memory is None else (memory,)
        return ChildProcess.run(
            lambda descriptor: words(descriptor, *also),
            given,
            cwd=NOWHERE,
            codec=shared_memory.codec(memory, shared_memory.HARNESS),
            log=False,
            group=True,
            also=also,
        )


def command_of(pair: Pair, module: str) -> tuple[Callable[..., list[str]], dict[str, str]]:
    """Return the command line of a module's `serve`, given its arguments, and its variables.

    It is behind walls where any can be built, with the view of the pair's candidate.
    """
    passed = {name: os.environ[name] for name in KNOWN if name in os.environ}
    # Python would write its bytecode next to the sources.
    passed["PYTHONDONTWRITEBYTECODE"] = "1"
    if not standing().namespaces:
        return functools.partial(child_command, module), passed
    view = view_of(pair)

    def words(*arguments: object) -> list[str]:
        return walled(child_command(module, *arguments, inside=view.inside))

    return words, passed | variables(view) | _INSIDE
