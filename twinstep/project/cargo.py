"""Build the extension modules in Rust that a checkout needs before it can be imported."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from twinstep._lib import paths
from twinstep.errors import UserError
from twinstep.project import processes
from twinstep.project.workspace import import_path, read_file
from twinstep.walls.view import View, python_folders, variables, walled

#: Limit of a build, seconds.
LIMIT = 1800.0
#: The most bytes of a built library.
LIBRARY = 1 << 30
#: The variables that say where the toolchain is.
_HOMES = ("CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN")
#: Files of CARGO_HOME with the user's logins.
_LOGINS = ("credentials", "credentials.toml")
#: What a compiler and a linker need of the system.
_BUILDS = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")


def build(project: Path, globs: Sequence[str], run: Path, apart: bool) -> dict[str, str]:
    """Compile the Cargo workspaces around a candidate's globs; return variables for imports.

    The build uses no network, the locked versions, and the run's earlier builds. apart: behind
    walls, where the compiler sees the workspace and the toolchain alone: sources can name any file,
    and what a compiler says of it comes back to who wrote them. UserError with the compiler's first
    error if it does not compile.
    """
    workspaces = {workspace: None for glob in globs if (workspace := workspace_of(project, glob))}
    if not workspaces:
        return {}
    place = project / ".twinstep" / "built"
    place.mkdir(parents=True, exist_ok=True)
    for workspace in workspaces:
        name = workspace.relative_to(project).as_posix().replace("/", "_")
        with _dated(workspace, run / f"built-{name}.json"):
            target = run / "target"
            libraries = compiled(workspace, target, run / "build.log", apart=apart)
        for library in libraries:
            inner = read_file(target, os.path.relpath(library, target), LIBRARY)
            if inner is None or inner[0] == "120000":
                raise UserError(f"cargo built no library {library.name}")
            (place / f"{library.stem.removeprefix('lib')}.abi3.so").write_bytes(inner[1])
    return {"PYTHONPATH": f"{place}:{import_path(project)}"}


@contextlib.contextmanager
def _dated(workspace: Path, record: Path) -> Iterator[None]:
    """Set the files' times so that Cargo rebuilds exactly the files that changed.

    Cargo compares a file's time with that of its last build, wherever that file lay. A commit's
    files have the commit's time: an older commit's files would pass for those of a newer build.

    record: the files' hashes at the last build; no file if that build failed halfway.
    """
    try:
        last = json.loads(record.read_text())
    except (OSError, ValueError):
        last = {}
    record.unlink(missing_ok=True)
    files = [path for path in workspace.rglob("*") if path.is_file() and not path.is_symlink()]
    hashes = {}
    for path in files:
        name = path.relative_to(workspace).as_posix()
        hashes[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        os.utime(path, (0, 0) if last.get(name) == hashes[name] else None)
    yield
    paths.write_atomically(record, json.dumps(hashes).encode())


def workspace_of(project: Path, glob: str) -> Path | None:
    """Return the folder of the outermost Cargo.toml above a glob's files."""
    folder = (project / (glob.partition("*")[0] + "x")).parent
    above = [one for one in (folder, *folder.parents) if one.is_relative_to(project)]
    with_manifest = [one for one in above if (one / "Cargo.toml").is_file()]
    return with_manifest[-1] if with_manifest else None


def cargo(
    words: Sequence[str],
    folder: Path,
    target: Path,
    log: Path,
    limit: float,
    more: Mapping[str, str],
    apart: bool = False,
) -> processes.Ended:
    """Run cargo on the package in a folder as a release, offline, with the locked versions.

    words: the command and its options. target: the folder of the build. limit: seconds.
    more: variables. apart: behind walls. UserError if it cannot be started.
    """
    command = ["cargo", *words, "--release", "--offline", "--locked"]
    command += ["--manifest-path", str(folder / "Cargo.toml")]
    chosen = {n: os.environ[n] for n in _HOMES if n in os.environ}
    if apart:
        home, found = Path.home(), shutil.which(command[0])
        chosen = {"CARGO_HOME": f"{home}/.cargo", "RUSTUP_HOME": f"{home}/.rustup", **chosen}
        target.mkdir(parents=True, exist_ok=True)
        view = View(
            (
                *(*_BUILDS, *python_folders(), sys.prefix, str(folder), *chosen.values()),
                # The compiler lies beside it, wherever the registry is.
                *([str(Path(found).parent)] if found else []),
            ),
            # The registry's login, and the run's own folder, which may lie in one of these.
            hide=(*(f"{chosen['CARGO_HOME']}/{n}" for n in _LOGINS), str(target.parent)),
            write=(str(target),),
            cwd=str(folder),
        )
        env = {n: os.environ[n] for n in ("PATH", "LANG", "LC_ALL") if n in os.environ}
        env |= {"HOME": "/tmp", **variables(view)}
        command = walled([found, *command[1:]]) if found else command
    else:
        env = {n: v for n, v in os.environ.items() if not n.startswith(("CARGO_", "RUST"))}
    env |= {**chosen, "CARGO_TARGET_DIR": str(target), "PYO3_PYTHON": sys.executable, **more}
    try:
        return processes.run(command, folder, env, limit, log)
    except OSError as error:
        raise UserError(f"cargo cannot be started ({error.strerror}): install Rust") from error


def compiled(
    workspace: Path,
    target: Path,
    log: Path,
    more: Mapping[str, str] = MappingProxyType({}),
    *,
    apart: bool = False,
) -> list[Path]:
    """Return the dynamic libraries of a workspace's own crates.

    more: variables for cargo. apart: behind walls. UserError with the compiler's first error if it
    does not compile.
    """
    words = ["build", "--workspace", "--message-format=json"]
    done = cargo(words, workspace, target, log, LIMIT, more, apart)
    messages = []
    for line in log.read_text(errors="replace").splitlines():
        if line.startswith("{"):
            messages.append(json.loads(line))
    if done.code:
        errors = [
            m["message"]["rendered"]
            for m in messages
            if m.get("reason") == "compiler-message" and m["message"]["level"] == "error"
        ]
        text = errors[0] if errors else done.said.strip()[-2000:]
        raise UserError(f"it does not compile:\n{text}")
    return [
        Path(name)
        for m in messages
        if m.get("reason") == "compiler-artifact" and "cdylib" in m["target"]["kind"]
        for name in m["filenames"]
        if name.endswith((".so", ".dylib"))
    ]
