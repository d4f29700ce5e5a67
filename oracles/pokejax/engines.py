"""Engines for the bridge's JavaScript: PythonMonkey in this process, or a node subprocess."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from twinstep.oracles.pokejax.upstream import HERE


class BridgeError(RuntimeError):
    """The bridge's JavaScript, or the simulator under it, threw."""


class Engine(Protocol):
    """Call `handle` of serve.js."""

    def integers(self, operation: str, text: str, given: np.ndarray) -> np.ndarray:
        """Return the i32 array that an operation returns; BridgeError if it throws."""
        ...

    def text(self, operation: str, text: str, given: np.ndarray) -> str:
        """Return the text that an operation returns; BridgeError if it throws."""
        ...

    def close(self) -> None:
        """Free the engine's resources."""
        ...


class InProcess:
    """PythonMonkey. One JavaScript context per process, of the main thread."""

    def __init__(self, simulator: Path) -> None:
        import pythonmonkey

        self._error = pythonmonkey.SpiderMonkeyError
        # JavaScript loads the simulator: objects that pass through Python are converted as a whole.
        main: Any = pythonmonkey.require(str(HERE / "inside_main.js"))
        self._handle: Any = main.openInside(str(simulator))

    def integers(self, operation: str, text: str, given: np.ndarray) -> np.ndarray:
        """See Engine."""
        answer = self._call(operation, text, given)
        # Copied at once: the view points into memory that JavaScript's collector takes back.
        return np.frombuffer(answer, np.int32).copy()

    def text(self, operation: str, text: str, given: np.ndarray) -> str:
        """See Engine."""
        return str(self._call(operation, text, given))

    def close(self) -> None:
        """Do nothing: the context stays with the process."""

    def _call(self, operation: str, text: str, given: np.ndarray) -> Any:
        whole = np.ascontiguousarray(given, np.int32).reshape(-1)
        try:
            if whole.size:
                # Nothing runs in JavaScript between this call and the copy.
                np.frombuffer(self._handle("inbox", "", whole.size), np.int32)[:] = whole
            return self._handle(operation, text, whole.size)
        except self._error as error:
            raise BridgeError(str(error)) from None


class Node:
    """node as a subprocess; see node_main.js for the protocol."""

    def __init__(self, simulator: Path) -> None:
        self._process = subprocess.Popen(
            ["node", str(HERE / "node_main.js"), str(simulator)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def integers(self, operation: str, text: str, given: np.ndarray) -> np.ndarray:
        """See Engine."""
        return np.frombuffer(self._call(operation, text, given), np.int32).copy()

    def text(self, operation: str, text: str, given: np.ndarray) -> str:
        """See Engine."""
        return self._call(operation, text, given).decode()

    def close(self) -> None:
        """End the subprocess."""
        process = self._process
        if process.stdin:
            process.stdin.close()
        process.wait(10)
        if process.stdout:
            process.stdout.close()

    def received(self) -> np.ndarray:
        """Return the i32 array of the answer to the last request; BridgeError if it threw."""
        return np.frombuffer(self._answer(), np.int32).copy()

    def _call(self, operation: str, text: str, given: np.ndarray) -> bytes:
        self.send(operation, text, given)
        return self._answer()

    def send(self, operation: str, text: str, given: np.ndarray) -> None:
        """Send an operation without waiting for its answer."""
        stdin = self._process.stdin
        assert stdin is not None
        parts = (
            operation.encode(),
            text.encode(),
            np.ascontiguousarray(given, np.int32).tobytes(),
        )
        try:
            stdin.write(struct.pack("<III", *map(len, parts)) + b"".join(parts))
            stdin.flush()
        except BrokenPipeError:
            raise BridgeError(f"node ended with status {self._process.wait()}") from None

    def _answer(self) -> bytes:
        kind, length = struct.unpack("<II", self._read(8))
        answer = self._read(length)
        if kind == 2:
            raise BridgeError(answer.decode(errors="replace"))
        return answer

    def _read(self, count: int) -> bytes:
        assert self._process.stdout is not None
        answer = self._process.stdout.read(count)
        if len(answer) != count:
            raise BridgeError(f"node ended with status {self._process.wait()}")
        return answer


def start(engine: str, simulator: Path) -> Engine:
    """Start `pythonmonkey` or `node` with the simulator of this folder."""
    return Node(simulator) if engine == "node" else InProcess(simulator)
