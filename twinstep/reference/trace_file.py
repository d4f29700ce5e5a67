"""One chunk of recorded episodes, in memory and as a file.

A chunk holds N episodes time-major: `frames[path][t, lane]` is the frame after `t` steps,
`actions[t, lane]` the action that leads from frame t to t + 1. Episodes are ragged:
`lengths[lane]` actions count, the rest is zero.

The file is a JSON header and one compressed block per path and window of time, so that a
reader never holds more than a window. Values are stored as exclusive-or with the frame
before: an unchanged value costs nothing. (Grouping bytes of equal weight took a quarter more
space and time.) A field declared `large` also has a 16-byte digest per frame, so that a
comparison need not unpack it.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
import zstandard

from twinstep.action_mask import is_illegal, kept
from twinstep.contract import Contract
from twinstep.errors import UserError
from twinstep.frames import Start
from twinstep.inputs.batching import WINDOW

#: Incremented whenever a written byte would change.
FORMAT = 2
_MAGIC = b"twinstep-trace\n"


class TraceDamaged(UserError):
    """A trace file is cut short, altered, gone or of another kind."""


@dataclass
class Chunk:
    """N recorded episodes.

    frames: path -> [T + 1, N, ...]. actions: [T, N, P, ...]. lengths: i32[N].
    ended: bool[N], True where the reference terminated or truncated the last frame (else the
    recording stopped at the horizon). events: bool[T + 1, N, E] or None. restarted: path ->
    [N, ...], the reference's auto-reset frames after a terminated episode; {} if it has none.
    """

    starts: Start
    frames: dict[str, np.ndarray]
    actions: np.ndarray
    lengths: np.ndarray
    ended: np.ndarray
    events: np.ndarray | None = None
    restarted: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def lanes(self) -> int:
        """Number of episodes."""
        return len(self.lengths)

    @property
    def windows(self) -> int:
        """Number of windows that cover the longest episode."""
        return max(1, -(-int(self.lengths.max(initial=0)) // WINDOW))

    def window(self, number: int, paths: list[str]) -> dict[str, np.ndarray]:
        """Return frames [W + 1, N, ...] from t = number * WINDOW; the first is the one before."""
        begin = number * WINDOW
        return {path: self.frames[path][begin : begin + WINDOW + 1] for path in paths}

    def window_actions(self, number: int) -> np.ndarray:
        """Return the actions [W, N, P, ...] of a window; W may be short at the end."""
        return self.actions[number * WINDOW : (number + 1) * WINDOW]


def digests(values: np.ndarray) -> np.ndarray:
    """Return the 16-byte digest u8[T, N, 16] of values [T, N, ...]."""
    flat = np.ascontiguousarray(values)
    out = np.empty((*flat.shape[:2], 16), np.uint8)
    for t in range(flat.shape[0]):
        for lane in range(flat.shape[1]):
            sum16 = hashlib.blake2b(flat[t, lane].tobytes(), digest_size=16).digest()
            out[t, lane] = np.frombuffer(sum16, np.uint8)
    return out


def _pack(values: np.ndarray) -> bytes:
    """Compress [T, ...] as exclusive-or with the row before."""
    width = int(np.prod(values.shape[1:], dtype=np.int64))
    raw = np.ascontiguousarray(values).reshape(values.shape[0], width).view(np.uint8)
    delta = raw.copy()
    delta[1:] ^= raw[:-1]
    return zstandard.ZstdCompressor(level=1).compress(delta.tobytes())


def _unpack(data: bytes, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    try:
        raw = zstandard.ZstdDecompressor().decompress(data, max_output_size=max(size, 1))
    except zstandard.ZstdError as error:
        raise TraceDamaged(f"a block does not unpack ({error})") from error
    if len(raw) != size:
        raise TraceDamaged("a block has the wrong size")
    if not size:
        return np.zeros(shape, dtype)
    # By the row's widest words: eight times as fast as byte by byte.
    word = next(width for width in (8, 4, 2, 1) if size // shape[0] % width == 0)
    rows = np.frombuffer(raw, f"u{word}").reshape(shape[0], -1)
    return np.bitwise_xor.accumulate(rows, axis=0).view(dtype).reshape(shape)


def write(path: Path, chunk: Chunk, contract: Contract) -> str:
    """Write a chunk and return the file's sha256. The caller makes it appear atomically."""
    large = {f"state.{f.name}" for f in contract.state if f.large}
    if contract.observation.large:
        large.add("obs")
    blocks: list[tuple[str, int, list[int], str, bytes]] = []

    def add(name: str, window: int, values: np.ndarray) -> None:
        blocks.append((name, window, list(values.shape), values.dtype.str, _pack(values)))

    for window in range(chunk.windows):
        # Each block starts with its own first row, so that it unpacks by itself. The frame
        # before a window is the last one of the window before; only the first has frame 0.
        rows = slice(window * WINDOW + (window > 0), (window + 1) * WINDOW + 1)
        for name, values in chunk.frames.items():
            add(f"frame:{name}", window, values[rows])
            if name in large:
                add(f"digest:{name}", window, digests(values[rows]))
        add("actions", window, chunk.window_actions(window))
        if chunk.events is not None:
            add("events", window, chunk.events[rows])
    add("seed", 0, np.asarray(chunk.starts.seed, np.uint32))
    for name, value in chunk.starts.fields.items():
        add(f"start:{name}", 0, np.asarray(value))
    for name, value in chunk.restarted.items():
        add(f"restarted:{name}", 0, value)

    index, offset = [], 0
    for name, window, shape, dtype, data in blocks:
        index.append([name, window, shape, dtype, offset, len(data)])
        offset += len(data)
    header = {
        "format": FORMAT,
        "lengths": chunk.lengths.tolist(),
        "ended": chunk.ended.astype(int).tolist(),
        "blocks": index,
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    total = hashlib.sha256()
    with path.open("wb") as file:
        for part in (_MAGIC, struct.pack("<Q", len(text)), text, *(b[4] for b in blocks)):
            file.write(part)
            total.update(part)
    return total.hexdigest()


class ChunkFile:
    """A chunk on disk; same reading interface as `Chunk`, one window at a time.

    Raises TraceDamaged if the file's bytes do not have the given sha256.
    """

    def __init__(self, path: Path, sha256: str) -> None:
        self._file: BinaryIO = path.open("rb")
        if hashlib.file_digest(self._file, "sha256").hexdigest() != sha256:
            self._file.close()
            raise TraceDamaged(f"{path.name} does not have the recorded sha256")
        try:
            self._read_header()
        except (struct.error, ValueError, LookupError, TypeError) as error:
            self._file.close()
            raise TraceDamaged(f"{path.name} is no trace file ({error!r})") from error
        self._starts: Start | None = None
        self._last: dict[tuple[str, int], np.ndarray] = {}

    def _read_header(self) -> None:
        self._file.seek(0)
        if self._file.read(len(_MAGIC)) != _MAGIC:
            raise ValueError("it begins otherwise")
        (size,) = struct.unpack("<Q", self._file.read(8))
        if size > os.fstat(self._file.fileno()).st_size:
            raise ValueError("it is cut short")
        header = json.loads(self._file.read(size))
        self._base = len(_MAGIC) + 8 + size
        self._blocks = {(b[0], b[1]): b[2:] for b in header["blocks"]}
        self.lengths = np.array(header["lengths"], np.int32)
        self.ended = np.array(header["ended"], bool)

    @property
    def starts(self) -> Start:
        """The batched starts of the chunk's episodes."""
        if self._starts is None:
            names = {n.partition(":")[2]: n for n, _ in self._blocks if n.startswith("start:")}
            fields = {name: self._read(block, 0) for name, block in names.items()}
            self._starts = Start(self._read("seed", 0), fields)
        return self._starts

    @property
    def lanes(self) -> int:
        """Number of episodes."""
        return len(self.lengths)

    @property
    def windows(self) -> int:
        """Number of windows that cover the longest episode."""
        return max(1, -(-int(self.lengths.max(initial=0)) // WINDOW))

    @property
    def restarted(self) -> dict[str, np.ndarray]:
        """Frames after the reference's auto-reset, path -> [N, ...]; may be empty."""
        names = [n for n, _ in self._blocks if n.startswith("restarted:")]
        return {name.partition(":")[2]: self._read(name, 0) for name in names}

    @property
    def paths(self) -> list[str]:
        """The stored frame paths, in order."""
        found = (n.partition(":")[2] for n, _ in self._blocks if n.startswith("frame:"))
        return sorted(set(found))

    def has_digest(self, path: str) -> bool:
        """Return True if the path is stored with digests."""
        return (f"digest:{path}", 0) in self._blocks

    def window(self, number: int, paths: list[str], kind: str = "frame") -> dict[str, np.ndarray]:
        """Return frames [W + 1, N, ...] from t = number * WINDOW; the first is the one before.

        kind `digest` gives the digests of large fields in the frames' place.
        """
        return {path: self._with_before(f"{kind}:{path}", number) for path in paths}

    def new_rows(self, number: int, paths: list[str], kind: str = "frame") -> dict[str, np.ndarray]:
        """Return a window's frames without the one before; the first window's has frame 0 too."""
        return {path: self._read(f"{kind}:{path}", number) for path in paths}

    def window_actions(self, number: int) -> np.ndarray:
        """Return the actions [W, N, P, ...] of a window; W may be short at the end."""
        return self._read("actions", number)

    def actions_of(self, lane: int) -> np.ndarray:
        """Return the actions [length, P, ...] of one lane."""
        parts = [self.window_actions(number)[:, lane] for number in range(self.windows)]
        return np.concatenate(parts)[: int(self.lengths[lane])]

    def asked_of(self, lane: int) -> np.ndarray:
        """Return `actions_of` a lane with those marked that the mask forbade, to be kept so.

        See `action_mask.kept`.
        """
        actions = self.actions_of(lane)
        if "legal" not in self.paths or not len(actions):
            return actions
        masks = [self.new_rows(n, ["legal"])["legal"][:, lane] for n in range(self.windows)]
        return kept(actions, is_illegal(actions, np.concatenate(masks)[: len(actions)]))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _with_before(self, name: str, number: int) -> np.ndarray:
        values = self._read(name, number)
        if number == 0:
            return values
        before = self._last.get((name, number - 1))
        if before is None:
            before = self._read(name, number - 1)[-1:]
        return np.concatenate([before, values])

    def _read(self, name: str, number: int) -> np.ndarray:
        shape, dtype, offset, size = self._blocks[name, number]
        self._file.seek(self._base + offset)
        values = _unpack(self._file.read(size), np.dtype(dtype), tuple(shape))
        if name.startswith(("frame:", "digest:")):
            # Reading goes forward in time: keep each path's newest last row only.
            self._last.pop((name, number - 1), None)
            self._last[name, number] = values[-1:].copy()
        return values
