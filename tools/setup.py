"""Build `.venv/`, the Rust module and the type checker: `make setup` runs it.

Four stages, each with a stamp under `.venv/setup/` that holds a hash of the stage's inputs. A stage
with a matching stamp is skipped. The stamp is removed when a stage starts and written when it
succeeds, so that a failed or interrupted stage is repeated. Standard library only.
"""

import sys

# First, and in old syntax, so that an old Python reaches it and prints one line.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        "twinstep needs Python 3.11 or newer; this is {}.{} ({}). Mend: install a newer one, then "
        "`make setup PYTHON=python3.11`".format(*sys.version_info[:2], sys.executable)
    )

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STATE = VENV / "setup"
# Never .venv/bin/python itself, which is deleted when the environment is rebuilt.
BASE_PYTHON = os.path.realpath(sys.executable)
CARGO_MIN = (1, 89)
RUSTUP = (
    "Debian 13/Ubuntu 24.04 and newer: `apt install rustup`, then `rustup default stable`; "
    "elsewhere: rustup, the Rust project's installer"
)
TAIL_LINES = 25


class Stage(NamedTuple):
    """One stage of the set-up."""

    name: str
    title: str
    inputs: Callable[[], Iterable[bytes]]
    made: Callable[[], bool]  # True while the stage's product exists
    build: Callable[["Log"], None]


class StageError(Exception):
    """A command of a stage failed; its output is in the stage's log."""


class Log:
    """Runs the commands of one stage with their output in one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")

    def run(self, *command: str | Path, env: dict[str, str] | None = None) -> None:
        with self.path.open("ab") as out:
            out.write(("$ " + " ".join(map(str, command)) + "\n").encode())
            out.flush()
            child = subprocess.Popen(
                command,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
            )
            try:
                code = child.wait()
            except BaseException:
                child.terminate()
                child.wait()
                raise
        if code != 0:
            raise StageError(f"{Path(command[0]).name} ended with status {code}")

    def tail(self) -> str:
        text = self.path.read_text(errors="replace").splitlines()
        return "\n".join(text[-TAIL_LINES:])


def files(*paths: Path) -> Iterable[bytes]:
    """Yield name and content of each file."""
    for path in paths:
        yield str(path.relative_to(ROOT)).encode()
        yield path.read_bytes()


# Stage 1: third-party Python packages, exactly those of the lock.


def packages_inputs() -> Iterable[bytes]:
    yield sys.version.encode()
    yield BASE_PYTHON.encode()
    yield str(ROOT).encode()  # scripts in .venv/bin name their folder: a moved checkout is rebuilt
    yield from files(ROOT / "requirements.lock")


def build_packages(_: Log) -> None:
    # From scratch, so that no package of an older lock stays behind. This also deletes the other
    # stages' stamps, since their products are gone.
    shutil.rmtree(VENV, ignore_errors=True)
    log = Log(STATE / "packages.log")
    log.run(BASE_PYTHON, "-m", "venv", VENV)
    pip(log, "--require-hashes", "-r", "requirements.lock")


def pip(log: Log, *arguments: str | Path) -> None:
    # -I: a PYTHONPATH or a user's site folder must not pass for an installed package.
    quiet = ("--disable-pip-version-check", "--no-input")
    log.run(PYTHON, "-I", "-m", "pip", "install", *quiet, *arguments)


# Stage 2: twinstep itself and the examples, editable, for their entry points and package maps.

PROJECTS = [ROOT, *sorted(path.parent for path in ROOT.glob("examples/*/pyproject.toml"))]


def twinstep_inputs() -> Iterable[bytes]:
    yield from files(*(project / "pyproject.toml" for project in PROJECTS))


def build_twinstep(log: Log) -> None:
    chosen = [word for project in PROJECTS for word in ("-e", str(project))]
    pip(log, "--no-deps", "--no-build-isolation", *chosen)


# Stage 3: the Rust engines, one wheel.


def rust_inputs() -> Iterable[bytes]:
    for name in ("RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET"):
        yield os.environ.get(name, "").encode()
    paths = []
    for folder, folders, names in os.walk(ROOT / "rust"):
        folders[:] = [name for name in folders if name != "target" and name[0] != "."]
        paths += [Path(folder, name) for name in names]
    yield from files(*sorted(paths))


def build_rust(log: Log) -> None:
    wheels = STATE / "wheel"
    shutil.rmtree(wheels, ignore_errors=True)
    log.run(
        *(VENV / "bin" / "maturin", "build", "--release", "--locked"),
        *("--manifest-path", ROOT / "rust" / "twinstep_rust" / "Cargo.toml"),
        *("--interpreter", PYTHON, "--compatibility", "linux", "--out", wheels),
    )
    (wheel,) = wheels.glob("*.whl")
    pip(log, "--no-deps", "--no-index", "--force-reinstall", wheel)
    log.run(PYTHON, "-c", "import twinstep_rust; print(twinstep_rust.version())")


# Stage 4: the type checker.


def node_inputs() -> Iterable[bytes]:
    yield from files(ROOT / "package.json", ROOT / "package-lock.json", ROOT / ".npmrc")


def build_node(log: Log) -> None:
    log.run("npm", "ci", "--no-progress")


def installed(*patterns: str) -> Callable[[], bool]:
    """Return a check that each pattern matches a file in the environment's packages."""

    def check() -> bool:
        return all(any(VENV.glob(f"lib/python3*/site-packages/{each}")) for each in patterns)

    return check


PACKAGES = Stage("packages", "Python packages", packages_inputs, PYTHON.exists, build_packages)
TWINSTEP = Stage(
    "twinstep", "twinstep", twinstep_inputs, installed("twinstep-*/RECORD"), build_twinstep
)
RUST = Stage("rust", "Rust module", rust_inputs, installed("twinstep_rust/*.so"), build_rust)
NODE = Stage(
    "node", "type checker", node_inputs, (ROOT / "node_modules/pyright").exists, build_node
)
STAGES = (PACKAGES, TWINSTEP, RUST, NODE)


def key(stage: Stage) -> str:
    """Return the hash of the stage's inputs and of this script."""
    total = hashlib.sha256(Path(__file__).read_bytes())
    for part in stage.inputs():
        total.update(len(part).to_bytes(8, "little") + part)
    return total.hexdigest()


def stamp_of(stage: Stage) -> Path:
    return STATE / f"{stage.name}.stamp"


def is_current(stage: Stage) -> bool:
    try:
        return stage.made() and stamp_of(stage).read_text() == key(stage)
    except FileNotFoundError:
        return False


def missing_tools() -> list[str]:
    """Return one line for each missing tool, with the way to get it."""
    lines = []
    debian = "Debian/Ubuntu: `apt install %s`; elsewhere: %s"
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        how = debian % ("python3-venv", "a Python build that has its venv and ensurepip modules")
        lines.append(f"Python's venv module ({sys.executable} lacks it). {how}")
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        how = debian % ("gcc libc6-dev", "gcc or clang")
        lines.append(f"a C compiler (cc, gcc or clang). {how}")
    cargo = "cargo {}.{} or newer".format(*CARGO_MIN)
    if not shutil.which("cargo"):
        lines.append(f"{cargo}. {RUSTUP}")
    elif not is_current(RUST):
        answer = subprocess.run(["cargo", "--version"], capture_output=True, text=True, cwd=ROOT)
        version = re.match(r"cargo (\d+)\.(\d+)", answer.stdout)
        if not version or tuple(map(int, version.groups())) < CARGO_MIN:
            says = (answer.stdout or answer.stderr).strip().partition("\n")[0]
            lines.append(f"{cargo}; the one here says '{says}'. {RUSTUP}")
    if not shutil.which("npm"):
        lines.append("npm. " + debian % ("npm", "Node.js, which brings it"))
    return lines


def show(text: str, end: str = "\n") -> None:
    print(text, end=end, flush=True)


def stop(text: str, code: int = 1) -> NoReturn:
    print(text, file=sys.stderr, flush=True)
    sys.exit(code)


def take_turn() -> int:
    """Wait until no other set-up of this checkout runs; the lock ends with the process."""
    handle = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        show("waiting for another `make setup` in this checkout to end")
        fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def do(number: int, stage: Stage) -> None:
    """Build one stage and stamp it, or stop with the end of its log."""
    show(f"[{number}/{len(STAGES)}] {stage.title} ... ", end="")
    began = time.monotonic()
    log = Log(STATE / f"{stage.name}.log")
    stamp_of(stage).unlink(missing_ok=True)
    before = key(stage)
    try:
        stage.build(log)
    except (StageError, OSError) as error:
        show("failed")
        tail = log.tail() if log.path.exists() else ""
        stop(f"{tail}\n{stage.title}: {error}; the whole log: {log.path.relative_to(ROOT)}")
    draft = stamp_of(stage).with_suffix(".draft")
    draft.write_text(before)
    draft.replace(stamp_of(stage))
    show(f"{time.monotonic() - began:.0f} s")


def main() -> None:
    missing = missing_tools()
    if missing:
        stop("\n".join(f"missing: {line}" for line in missing))
    turn = take_turn()
    for number, stage in enumerate(STAGES, 1):
        if not is_current(stage):
            do(number, stage)
    os.close(turn)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        show("")
        stop("stopped; `make setup` takes it up again at this stage", 130)
