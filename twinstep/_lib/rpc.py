"""Child processes that answer requests over a pipe: start, ask, limit, last words, end.

Both ends name a codec: `PICKLE` among this program's own processes, one that decodes plain data
alone (runner/wire.py) where the other end is not trusted. Each request has a number, and its answer
the same: an answer that nobody waited for, because an exception came between, is never taken for
that of a later request.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import re
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection, Pipe
from typing import Any, NamedTuple

#: Seconds between two looks at a child's heartbeat.
_LOOK = 0.2
#: Seconds that a child whose pipe is closed may take to end.
_ENDING = 5.0
#: What faulthandler writes before the stack of the thread that got the signal.
_STACK = "Current thread "
#: A request's number, before its bytes and before those of its answer.
_NUMBER = struct.Struct("<Q")
#: Bytes that are read at once.
_PART = 1 << 22


class Codec(NamedTuple):
    """How a message becomes bytes and is read again. most: bytes of the largest that is read."""

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes | memoryview], Any]
    most: int = 1 << 62


PICKLE = Codec(pickle.dumps, pickle.loads)


class Ended(Exception):
    """The child ended or closed its pipe. code: its exit code, None while it runs still."""

    def __init__(self, code: int | None) -> None:
        self.code = code
        super().__init__(ending(code))


class Silent(Exception):
    """The child gave no answer, and no heartbeat, within the limit."""


def ending(code: int | None, exited: str = "ended") -> str:
    """Describe the end of a child. exited: the verb for an end with an exit code."""
    if code is None:
        return "closed its pipe"
    if code >= 0:
        return f"{exited} with exit code {code}"
    named = {int(number): number.name for number in signal.Signals}
    return f"crashed ({named.get(-code, f'signal {-code}')})"


class ChildProcess:
    """One child process and this end of its pipe."""

    def __init__(self, process: Any, pipe: Connection, codec: Codec = PICKLE) -> None:
        self.pipe = pipe
        self._process, self._codec = process, codec
        self._log: Any = None
        self._number = 0
        self._unread = bytearray()
        self._group = self._killed = False

    @classmethod
    def run(
        cls,
        command: Callable[[int], list[str]],
        env: Mapping[str, str],
        *,
        cwd: str | None = None,
        codec: Codec = PICKLE,
        log: bool = True,
        group: bool = False,
        also: Sequence[int] = (),
    ) -> ChildProcess:
        """Start a command line that is given the descriptor of the child's end.

        log: keep the output for `last_words`, else drop it. group: the child leads a process group
        and takes all of it along when it is killed. also: further descriptors that it inherits.
        """
        ours, theirs = Pipe()
        output = tempfile.TemporaryFile() if log else None  # noqa: SIM115 - as long as the child
        sink = subprocess.DEVNULL if output is None else output
        with theirs:
            process = subprocess.Popen(
                command(theirs.fileno()),
                pass_fds=[theirs.fileno(), *also],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                env=dict(env),
                cwd=cwd,
                start_new_session=group,
            )
        child = cls(process, ours, codec)
        child._log, child._group = output, group
        return child

    @classmethod
    def spawn(cls, target: Callable[..., None], *args: Any) -> ChildProcess:
        """Start `target(pipe, *args)` with multiprocessing, whose resource tracker it shares."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        with theirs:
            process = context.Process(target=target, args=(theirs, *args), daemon=True)
            process.start()
        return cls(process, ours)

    @property
    def pid(self) -> int:
        """The process ID."""
        return self._process.pid

    def ask(
        self, request: Any, limit: float | None = None, beat: Callable[[], Any] | None = None
    ) -> Any:
        """Send a request and return its answer; see `receive`. ValueError: it is no answer to it.

        An interruption kills the child: nobody waits for it any more. After another exception it
        can be asked again.
        """
        self._number += 1
        # One end for all of it: older answers, one a second, would put it off for ever.
        ends = None if limit is None or beat is not None else time.monotonic() + limit
        try:
            self._send(_NUMBER.pack(self._number) + self._codec.encode(request))
            while True:
                data = self._receive(limit, beat, ends)
                if len(data) < _NUMBER.size:
                    raise ValueError("it has no number")
                (number,) = _NUMBER.unpack_from(data)
                if number == self._number:
                    return self._codec.decode(data[_NUMBER.size :])
                if number > self._number:
                    raise ValueError(f"it answers request {number} of {self._number}")
        except KeyboardInterrupt:
            self.kill()
            raise

    def send(self, request: Any) -> None:
        """Send a message that `serve` does not read. Raises Ended."""
        self._send(self._codec.encode(request))

    def _send(self, data: bytes) -> None:
        try:
            self.pipe.send_bytes(data)
        except OSError:
            raise Ended(self.exit_code(_ENDING)) from None
        except BaseException:
            self.kill()  # a part of the message is sent, and no other can follow it
            raise

    def receive(self, limit: float | None = None, beat: Callable[[], Any] | None = None) -> Any:
        """Return the next message. Raises Ended, or Silent after `limit` seconds.

        beat: reads a value that changes while the child works; the limit then counts from the
        latest change.
        """
        ends = None if limit is None or beat is not None else time.monotonic() + limit
        return self._codec.decode(self._receive(limit, beat, ends))

    def _receive(
        self, limit: float | None, beat: Callable[[], Any] | None, ends: float | None
    ) -> memoryview:
        """Return the next message's bytes, framed as multiprocessing's connections do.

        What has come so far is kept if an exception ends the wait, and each wait has its limit
        even in the middle of a message: a child may stop there.
        """
        try:
            self._fill(4, limit, beat, ends)
            (size,) = struct.unpack_from("!i", self._unread)
            begin = 4
            if size == -1:
                self._fill(12, limit, beat, ends)
                (size,) = struct.unpack_from("!Q", self._unread, 4)
                begin = 12
            if not 0 <= size <= self._codec.most:
                raise ValueError(f"a message of {size} bytes")
            self._fill(begin + size, limit, beat, ends)
        except (EOFError, OSError):  # an OSError: it ended amid a message
            raise Ended(self.exit_code(_ENDING)) from None
        # Nothing beyond the message was read: it is handed on without a copy.
        data, self._unread = memoryview(self._unread)[begin:], bytearray()
        return data

    def _fill(
        self, size: int, limit: float | None, beat: Callable[[], Any] | None, ends: float | None
    ) -> None:
        """Read until `size` bytes are there."""
        while len(self._unread) < size:
            left = limit if ends is None else max(0.0, ends - time.monotonic())
            self._wait(left, beat)
            part = os.read(self.pipe.fileno(), min(size - len(self._unread), _PART))
            if not part:
                raise EOFError
            self._unread += part

    def _wait(self, limit: float | None, beat: Callable[[], Any] | None) -> None:
        if beat is None or limit is None:
            if not self.pipe.poll(limit):
                raise Silent
            return
        latest, since = beat(), time.monotonic()
        while not self.pipe.poll(_LOOK):
            now = beat()
            if now != latest:
                latest, since = now, time.monotonic()
            elif time.monotonic() - since > limit:
                raise Silent

    def exit_code(self, patience: float | None = None) -> int | None:
        """Wait for the end, at most `patience` seconds. None: the child runs still."""
        if not isinstance(self._process, subprocess.Popen):
            self._process.join(patience)
            return self._process.exitcode
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(patience)
        return None

    def log(self, text: str) -> None:
        """Append to the child's output."""
        self._log.write(text.encode())

    def last_words(self) -> str:
        """Return the output's last line, or where Python was when a signal came, else ""."""
        self._log.seek(0)
        log = self._log.read().decode(errors="replace").strip()
        _, crashed, stack = log.rpartition(_STACK)
        lines = stack.splitlines()[1:2] if crashed else log.splitlines()[-1:]
        return re.sub(r'"[^"]*/', '"', lines[0]).strip()[:200] if lines else ""

    def close(self, patience: float = 2.0) -> None:
        """Close the pipe, which ends the child; kill it after `patience` seconds. Idempotent."""
        self.pipe.close()
        if self.exit_code(patience) is None:
            self.kill()
        if self._log is not None:
            self._log.close()

    def kill(self) -> None:
        """End the process, or its whole group, whatever it does. Idempotent."""
        self.pipe.close()
        if self._killed:  # the number may be another process's by now
            return
        self._killed = True
        if self._group:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        else:
            self._process.kill()
        self.exit_code()


def serve(
    pipe: Connection,
    answer: Callable[[Any], Any],
    failure: Callable[[BaseException], Any],
    codec: Codec = PICKLE,
) -> None:
    """Answer requests until the other end closes its pipe.

    failure: the answer for what `answer` raised; it may raise in its turn, and ends the loop.
    """
    while True:
        try:
            data = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        number, request = data[: _NUMBER.size], codec.decode(data[_NUMBER.size :])
        try:
            said = codec.encode(answer(request))
        except BaseException as error:
            said = codec.encode(failure(error))
        try:
            pipe.send_bytes(number + said)
        except OSError:
            return
