"""Fetch the reference: the npm package @pkmn/sim, byte for byte as published.

`npm ci` installs it and its dependencies from the lockfile in this folder, with npm's own check of
the integrity hashes, into `cache_dir()/oracles/pokejax/<hash>/`. Every process that begins to use
that folder compares it with the pin below, file by file.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from twinstep._lib import paths
from twinstep.environment import Probe
from twinstep.errors import OracleMissing

HERE = Path(__file__).parent
PYTHONMONKEY = "1.4.1"
#: sha256 over names and contents of all JavaScript and JSON that node can load, see `tree_hash`.
TREE = "57a55aea800cb7b288ef2927ca6c1c4608fa27ca2dd5a466f284e9dbbb303c48"
#: Environment variable for a folder that holds node_modules/@pkmn/sim, without a network.
FOLDER_VARIABLE = "TWINSTEP_POKEJAX_NPM"

_SILENT: Callable[[str], None] = lambda text: None  # noqa: E731
_MEND = 'pip install "twinstep[pokejax]"'


def lockfile() -> dict[str, Any]:
    """Return the lockfile's packages: path -> version and integrity hash."""
    return json.loads((HERE / "package-lock.json").read_text())["packages"]


def probe(params: Mapping[str, Any]) -> Probe:
    """Return whether the reference can run here, without fetching or starting anything."""
    pins = {
        path.removeprefix("node_modules/"): f"{entry['version']} {entry['integrity']}"
        for path, entry in lockfile().items()
        if path
    }
    pins["files"] = TREE
    try:
        require_engine(params["engine"])
        if not os.environ.get(FOLDER_VARIABLE) and not (_folder() / "node_modules").is_dir():
            _npm()
    except OracleMissing as missing:
        return Probe(pins, missing.problem, missing.mend)
    return Probe(pins)


def require_engine(engine: str) -> None:
    """Raise OracleMissing unless the JavaScript engine is installed."""
    if engine == "node":
        if not shutil.which("node"):
            raise OracleMissing("node is not installed", "install Node.js 18 or newer")
        return
    try:
        found = version("pythonmonkey")
    except PackageNotFoundError:
        raise OracleMissing("pythonmonkey is not installed", _MEND) from None
    if found != PYTHONMONKEY:
        raise OracleMissing(f"pythonmonkey is {found}, the proof is with {PYTHONMONKEY}", _MEND)


@functools.cache
def ensure(report: Callable[[str], None] = _SILENT) -> Path:
    """Return the folder of @pkmn/sim, installing it if need be.

    Raises OracleMissing if it is not available or not as published. Several processes may call it
    at once.
    """
    chosen = os.environ.get(FOLDER_VARIABLE)
    folder = Path(chosen).expanduser() if chosen else _folder()
    modules = folder / "node_modules"
    if chosen and not (modules / "@pkmn" / "sim").is_dir():
        raise OracleMissing(
            f"{FOLDER_VARIABLE}: there is no node_modules/@pkmn/sim in {folder}",
            "unset it, or point it at a folder that `npm ci` filled",
        )
    if not chosen:
        with _locked(folder):
            if modules.is_dir() and tree_hash(modules) == TREE:
                return modules / "@pkmn" / "sim"
            shutil.rmtree(modules, ignore_errors=True)
            _install(folder, report)
    if tree_hash(modules) != TREE:
        mend = f"rm -r {modules}; it is then fetched anew"
        raise OracleMissing(f"the files in {modules} are not those of the pinned packages", mend)
    return modules / "@pkmn" / "sim"


def tree_hash(modules: Path) -> str:
    """Return the sha256 over names and contents of all files that node can load from here."""
    total = hashlib.sha256()
    for path in sorted(path for path in lockfile() if path):
        package = modules.parent / path
        files = [p for p in package.rglob("*") if p.suffix in (".js", ".mjs", ".cjs", ".json")]
        for file in sorted(files):
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            total.update(f"{file.relative_to(modules.parent).as_posix()} {digest}\n".encode())
    return total.hexdigest()


def _folder() -> Path:
    lock = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()[:24]
    return paths.cache_dir() / "oracles" / "pokejax" / lock


def _npm() -> str:
    found = shutil.which("npm")
    if not found:
        raise OracleMissing(
            "npm, which fetches @pkmn/sim, is not installed",
            f"install Node.js, or point {FOLDER_VARIABLE} at a folder with node_modules/@pkmn/sim",
        )
    return found


def _install(folder: Path, report: Callable[[str], None]) -> None:
    """Let npm fill a temporary folder, then move its modules into place."""
    report("fetching @pkmn/sim")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".npm-") as scratch:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, scratch)
        command = (_npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        done = subprocess.run(
            command, cwd=scratch, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
            raise OracleMissing(f"npm could not fetch @pkmn/sim: {said[0]}", "look at the network")
        os.replace(Path(scratch) / "node_modules", folder / "node_modules")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, so that two processes do not both install."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise OracleMissing(
            f"the cache folder {folder} cannot be written ({error.strerror})",
            "set TWINSTEP_CACHE to a folder that can",
        ) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
