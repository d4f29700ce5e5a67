"""The trace cache: recorded episodes on disk, found again by what they depend on.

An entry is a folder `traces/<key>` of chunk files and a manifest. The key hashes everything
that can change a byte: the upstream files' pins, our bridge's sources, the driver's, the
recorder's, the contract, the starts and the horizon. It is computed without starting the
oracle. An entry appears whole or not at all; one that does not check out is recorded again.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import inspect
import json
import os
import shutil
import tarfile
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from twinstep import drivers, paths, recording, registry, tracefile
from twinstep.contract import canonical_json
from twinstep.errors import UserError
from twinstep.frames import Start
from twinstep.registry import Subject
from twinstep.seeds import files_hash, package_folder
from twinstep.tracefile import ChunkFile, TraceDamaged

#: Gigabytes the cache may hold; TWINSTEP_CACHE_GB overrides it.
DEFAULT_GIGABYTES = 10.0
#: Episodes per chunk; a candidate replays a chunk in one batch.
LANES = 128


class CacheWarning(UserWarning):
    """The cache cannot be used as it should; the run goes on without it."""


@dataclass(frozen=True)
class TraceSet:
    """Recorded episodes of one driver: a folder with a checked manifest."""

    folder: Path
    manifest: dict[str, Any]

    def chunks(self) -> Iterator[ChunkFile]:
        """Open each chunk in turn. Raises TraceDamaged if a file is not what was recorded."""
        for entry in self.manifest["chunks"]:
            chunk = ChunkFile(self.folder / entry["file"], entry["sha256"])
            try:
                yield chunk
            finally:
                chunk.close()

    def total(self, name: str) -> int:
        """Sum a count over the chunks: episodes, steps, terminated, truncated, cut."""
        return sum(entry[name] for entry in self.manifest["chunks"])

    def events(self) -> dict[str, int]:
        """Return how often each declared event happened."""
        total: dict[str, int] = {}
        for entry in self.manifest["chunks"]:
            for name, count in entry["events"].items():
                total[name] = total.get(name, 0) + count
        return total

    def measures(self) -> dict[str, float]:
        """Return each declared measure over all chunks."""
        found: dict[str, list[float]] = {}
        for entry in self.manifest["chunks"]:
            for name, value in entry["measures"].items():
                found.setdefault(name, []).append(value)
        reducers = {m["name"]: m["reduce"] for m in self.manifest["reduce"]}
        return {n: min(v) if reducers[n] == "min" else max(v) for n, v in found.items()}


def material(subject: Subject, driver: str, starts: Start, horizon: int) -> dict[str, Any]:
    """Return everything that can change a byte of these traces, by name."""
    module = inspect.getsource(inspect.getmodule(registry.load_object(subject.driver(driver))))  # type: ignore[arg-type]
    start_bytes = hashlib.sha256(starts.seed.tobytes())
    for name, value in sorted(starts.fields.items()):
        start_bytes.update(name.encode() + b"\0" + value.tobytes())
    return {
        "format": tracefile.FORMAT,
        "environment": subject.env.name,
        "contract": subject.contract.digest(),
        "upstream": dict(subject.probe.pins),
        "bridge": files_hash([package_folder(subject.env.oracle.package)]),
        "driver": driver,
        "driver_source": hashlib.sha256(module.encode()).hexdigest(),
        "recorder": sources_of(recording, tracefile, drivers),
        "starts": start_bytes.hexdigest(),
        "episodes": len(starts.seed),
        "horizon": horizon,
        "lanes": LANES,
    }


def sources_of(*modules: ModuleType) -> str:
    """Return the sha256 of these modules' sources."""
    text = "".join(inspect.getsource(module) for module in modules)
    return hashlib.sha256(text.encode()).hexdigest()


def key_of(parts: dict[str, Any]) -> str:
    """Return the entry's name for what it depends on."""
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:40]


class TraceCache:
    """Finds trace sets, or has them recorded.

    An unwritable or full folder is no error: traces then live in a temporary folder for as
    long as this object does, and one warning says so.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or paths.cache_dir()) / "traces"
        self._spare: tempfile.TemporaryDirectory[str] | None = None
        self._warned = False

    def get(
        self,
        parts: dict[str, Any],
        record: Callable[[str], list[dict[str, Any]]],
        reduce: list[dict[str, str]],
    ) -> TraceSet:
        """Return the set for `parts`, calling `record(folder)` where it is not there yet.

        reduce: name and reduction of each measure, kept in the manifest.
        """
        key = key_of(parts)
        if self._spare is not None:
            spare = Path(self._spare.name) / key
            if (manifest := _manifest(spare)) is not None:
                return TraceSet(spare, manifest)
        if (held := self._read(key, parts)) is not None:
            return held
        if paths.writable(self.root):
            try:
                with self._lock(key):
                    # Another run may have recorded it while this one waited.
                    if (held := self._read(key, parts)) is not None:
                        return held
                    made = self._make(self.root, key, parts, record, reduce)
                    self.evict(keep=key)
                    return made
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
                    raise
                self._warn_unusable(f"trace cache {self.root}: {error.strerror}")
        else:
            self._warn_unusable(f"trace cache {self.root} cannot be written")
        return self._in_spare(key, parts, record, reduce)

    def close(self) -> None:
        """Remove the temporary folder that stood in for an unusable cache, if there was one."""
        if self._spare is not None:
            self._spare.cleanup()
            self._spare = None

    def find(self, key: str) -> TraceSet | None:
        """Return the entry with this key if it is held and fits its name."""
        manifest = _manifest(self.root / key)
        if manifest is None or key_of(manifest["material"]) != key:
            return None
        return TraceSet(self.root / key, manifest)

    def entries(self) -> list[tuple[str, float, int, dict[str, Any]]]:
        """List (key, time of last use, bytes, key material) of what is cached, oldest first."""
        found = []
        for folder in self.root.glob("*/") if self.root.is_dir() else ():
            if folder.name.startswith("."):
                continue
            size = sum(path.stat().st_size for path in folder.iterdir())
            manifest = _manifest(folder) or {"material": {}}
            found.append((folder.name, folder.stat().st_mtime, size, manifest["material"]))
        return sorted(found, key=lambda entry: entry[1])

    def evict(self, keep: str = "", limit: float | None = None) -> list[str]:
        """Drop the entries used longest ago until the cache is within its limit."""
        if limit is None:
            limit = _gigabytes() * 1e9
        held = self.entries()
        total = sum(size for _, _, size, _ in held)
        dropped = []
        for key, _, size, _ in held:
            if total <= limit:
                break
            if key != keep:
                self.drop(key)
                dropped.append(key)
                total -= size
        return dropped

    def drop(self, key: str) -> None:
        """Remove an entry; a reader that has its files open is not disturbed."""
        grave = self.root / f".dropped-{key}-{os.getpid()}"
        with contextlib.suppress(FileNotFoundError):
            os.rename(self.root / key, grave)
            shutil.rmtree(grave, ignore_errors=True)

    def _read(self, key: str, parts: dict[str, Any]) -> TraceSet | None:
        folder = self.root / key
        manifest = _manifest(folder)
        if manifest is None:
            if folder.is_dir():
                self._warn(f"cached trace {key[:8]} has no readable manifest; recording it again")
                self.drop(key)
            return None
        held = TraceSet(folder, manifest)
        try:
            if manifest["material"] != parts:
                raise TraceDamaged("it belongs to other sources")
            for _ in held.chunks():
                pass
        except (TraceDamaged, OSError, ValueError, KeyError) as error:
            self._warn(f"cached trace {key[:8]} is not usable ({error}); recording it again")
            self.drop(key)
            return None
        with contextlib.suppress(OSError):
            os.utime(folder)
        return held

    def _make(
        self,
        root: Path,
        key: str,
        parts: dict[str, Any],
        record: Callable[[str], list[dict[str, Any]]],
        reduce: list[dict[str, str]],
    ) -> TraceSet:
        draft = Path(tempfile.mkdtemp(prefix=f".draft-{key[:8]}-", dir=root))
        try:
            manifest = {"material": parts, "chunks": record(str(draft)), "reduce": reduce}
            (draft / "manifest.json").write_text(canonical_json(manifest))
            os.rename(draft, root / key)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return TraceSet(root / key, manifest)

    def _in_spare(
        self,
        key: str,
        parts: dict[str, Any],
        record: Callable[[str], list[dict[str, Any]]],
        reduce: list[dict[str, str]],
    ) -> TraceSet:
        if self._spare is None:
            self._spare = tempfile.TemporaryDirectory(prefix="twinstep-traces-")
        root = Path(self._spare.name)
        try:
            return self._make(root, key, parts, record, reduce)
        except OSError as error:
            raise UserError(
                f"traces can be written neither to {self.root} nor to {root} "
                f"({error.strerror}): free some space or set TWINSTEP_CACHE"
            ) from error

    @contextlib.contextmanager
    def _lock(self, key: str) -> Iterator[None]:
        # A few lasting lock files: removing one while another run waits on it would let two in.
        with (self.root / f".lock-{key[:2]}").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _warn(self, text: str) -> None:
        warnings.warn(text, CacheWarning, stacklevel=3)

    def _warn_unusable(self, why: str) -> None:
        """Say once that nothing is kept."""
        if not self._warned:
            self._warned = True
            self._warn(f"{why}: traces are recorded anew in each run; set TWINSTEP_CACHE")


def export(sets: list[TraceSet], path: Path) -> None:
    """Write trace sets to one file, which `read_export` opens on another machine.

    The same sets give the same bytes.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with tarfile.open(draft, "w") as tar:
            for held in sorted(sets, key=lambda s: key_of(s.manifest["material"])):
                name = key_of(held.manifest["material"])
                for file in sorted(held.folder.iterdir()):
                    info = tar.gettarinfo(str(file), f"{name}/{file.name}")
                    info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
                    info.mode = 0o644
                    with file.open("rb") as data:
                        tar.addfile(info, data)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def read_export(path: Path, folder: Path) -> list[TraceSet]:
    """Unpack an exported file into `folder` and return its sets.

    Raises UserError if the file is not a whole export, or a set does not fit its manifest.
    """
    try:
        with tarfile.open(path) as tar:
            tar.extractall(folder, filter="data")
    except (OSError, tarfile.TarError) as error:
        raise UserError(f"{path} is not a readable trace export ({error})") from error
    sets = []
    for inner in sorted(folder.iterdir()):
        manifest = _manifest(inner)
        if manifest is None or key_of(manifest["material"]) != inner.name:
            raise UserError(f"{path}: set {inner.name[:8]} does not fit its manifest")
        sets.append(TraceSet(inner, manifest))
        try:
            for _ in sets[-1].chunks():
                pass
        except (TraceDamaged, OSError) as error:
            raise UserError(f"{path} is damaged: {error}; export it again") from error
    if not sets:
        raise UserError(f"{path} holds no traces")
    return sets


def _manifest(folder: Path) -> dict[str, Any] | None:
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
        return manifest if {"material", "chunks", "reduce"} <= manifest.keys() else None
    except (OSError, ValueError, AttributeError):
        return None


def _gigabytes() -> float:
    text = os.environ.get("TWINSTEP_CACHE_GB", "")
    try:
        return float(text) if text else DEFAULT_GIGABYTES
    except ValueError as error:
        raise UserError(f"TWINSTEP_CACHE_GB is '{text}', not a number of gigabytes") from error
