"""Fetch the reference: PufferLib's source archive, its two files, the compiled library.

Nothing of PufferLib is built or installed. The archive is found by package name on the
user's own package index, checked against its sha256, and deleted after the two needed files
are extracted. Everything lies under `cache_dir()/oracles/pong/<hash>/` and is checked by
hash at every use, so a damaged file is simply created again.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from twinstep._lib import paths
from twinstep.environment import Probe
from twinstep.errors import OracleMissing

PACKAGE = "pufferlib"
VERSION = "3.0.0"
SDIST_SHA256 = "7df3a3e3f5f894d78d2a1f5374097890aec01473183e748abefe4f3faa10eaa9"
#: The files of the archive that are kept: name here -> (path in the archive, sha256).
FILES = {
    "pong.h": (
        f"{PACKAGE}-{VERSION}/pufferlib/ocean/pong/pong.h",
        "47c08b8ed9f90c92bb6569cdc0be6999f1586f5abe11cf7777a6b9861a74f669",
    ),
    # Declares the functions that pong.h's drawing code calls; the linker drops that code.
    "raylib.h": (
        f"{PACKAGE}-{VERSION}/raylib-5.5_linux_amd64/include/raylib.h",
        "afb287ecd313de61e0000921375190b7e1cc35cd381ad6caf914489473a3c871",
    ),
}
#: As upstream builds it, without link-time optimisation. No -march and no contraction: a fused
#: multiply-add rounds once where the reference rounds twice. pong.h lacks stdio.h.
FLAGS = (
    "-O2",
    "-fwrapv",
    "-ffp-contract=off",
    "-include",
    "stdio.h",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-ffunction-sections",
    "-Wl,--gc-sections",
)
#: Environment variable for a copy of the archive, for machines without a network.
ARCHIVE_VARIABLE = "TWINSTEP_PONG_SDIST"

_DRIVER = Path(__file__).with_name("oracle.c")
_SILENT: Callable[[str], None] = lambda text: None  # noqa: E731


def probe(params: Mapping[str, Any]) -> Probe:
    """Return whether the reference can run here, without fetching or compiling anything.

    The pins are the sha256 of the archive, of the two files and of the flags. The compiler is no
    pin: without contraction, every compiler gives the same IEEE arithmetic.
    """
    pins = {name: sha256 for name, (_, sha256) in FILES.items()}
    pins["archive"] = SDIST_SHA256
    pins["flags"] = hashlib.sha256(" ".join(FLAGS).encode()).hexdigest()
    try:
        _compiler()
        if not _have_files(_source_folder()):
            _archive_source()
    except OracleMissing as missing:
        return Probe(pins, missing.problem, missing.mend)
    return Probe(pins)


def ensure(stock: bool, report: Callable[[str], None] = _SILENT) -> Path:
    """Return the compiled reference, fetching and compiling the missing parts.

    stock: draw from the C library's rand() instead of injected draws. report: receives a few
    words about slow steps. Raises OracleMissing if it is not available. Several processes may
    call it at once.
    """
    return build(_DRIVER, [*FLAGS, "-DSTOCK"] if stock else FLAGS, report)


def build(driver: Path, flags: Sequence[str], report: Callable[[str], None] = _SILENT) -> Path:
    """Return `driver`, a C file in this folder, compiled with these flags against pong.h.

    As `ensure`. With -march=native the library belongs to processors like this one.
    """
    sources = ensure_sources(report)
    compiler = _compiler()
    # The local compiler and machine are part of the name: a home folder may be shared.
    parts = [SDIST_SHA256, *flags, _version_of(compiler), platform.machine()]
    parts += [sha256 for _, sha256 in FILES.values()]
    parts += [_processor()] if "-march=native" in flags else []
    # A driver may include oracle.c.
    drivers = b"".join(path.read_bytes() for path in sorted({_DRIVER, driver}))
    folder = _folder("\0".join(parts).encode() + b"\0" + drivers)
    with _locked(folder):
        for held in sorted(folder.glob("oracle-*.so")):
            if held.stem == f"oracle-{_sha256(held)}":
                return held
            held.unlink()
        report("compiling the reference")
        return _compile([*compiler, *flags], sources, driver, folder)


def ensure_sources(report: Callable[[str], None] = _SILENT) -> Path:
    """Return the folder that holds pong.h and raylib.h, byte-equal to their pins.

    Fetches the archive (60 MB) if need be. Raises OracleMissing if it is not available.
    """
    folder = _source_folder()
    if _have_files(folder):
        return folder
    with _locked(folder):
        if not _have_files(folder):
            for left in folder.glob(".archive-*"):  # left by a killed process
                shutil.rmtree(left, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=folder, prefix=".archive-") as scratch:
                extract(archive(Path(scratch), report), folder, FILES)
    return folder


# ---- cached files -----------------------------------------------------------------------


def _folder(content: bytes) -> Path:
    return paths.cache_dir() / "oracles" / "pong" / hashlib.sha256(content).hexdigest()[:24]


def _source_folder() -> Path:
    return _folder(SDIST_SHA256.encode())


def _have_files(folder: Path) -> bool:
    return all(_sha256(folder / name) == sha256 for name, (_, sha256) in FILES.items())


def _sha256(path: Path) -> str:
    """Return the file's sha256, "" if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, so that two processes do not both fetch 60 MB."""
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


# ---- the archive ------------------------------------------------------------------------


def _archive_source() -> Path | None:
    """Return the user's own copy of the archive, None to fetch it. OracleMissing if neither."""
    if given := os.environ.get(ARCHIVE_VARIABLE):
        path = Path(given).expanduser()
        if not path.is_file():
            raise OracleMissing(
                f"{ARCHIVE_VARIABLE} names no file: {given}",
                f"point it at {PACKAGE}-{VERSION}.tar.gz or unset it",
            )
        return path
    if importlib.util.find_spec("unearth") is None:
        raise OracleMissing(
            f"{PACKAGE} {VERSION}'s source is not there and unearth, which fetches it, is "
            "not installed",
            f"pip install twinstep[pong], or point {ARCHIVE_VARIABLE} at "
            f"{PACKAGE}-{VERSION}.tar.gz",
        )
    return None


def archive(scratch: Path, report: Callable[[str], None] = _SILENT) -> Path:
    """Return the checked archive: the user's copy, or a new one in `scratch`.

    Raises OracleMissing if neither is there.
    """
    path = _archive_source() or _download(scratch, report)
    if (found := _sha256(path)) != SDIST_SHA256:
        raise OracleMissing(
            f"{path.name} has sha256 {found or '(unreadable)'}, not the pinned {SDIST_SHA256}",
            f"get {PACKAGE} {VERSION}'s source archive from a package index you trust and "
            f"point {ARCHIVE_VARIABLE} at it",
        )
    return path


def _download(scratch: Path, report: Callable[[str], None]) -> Path:
    import unearth  # here, so that a machine which has the files does not need it

    report(f"looking for {PACKAGE} {VERSION}'s source archive")
    mend = f"check the network and pip's index-url, or point {ARCHIVE_VARIABLE} at the archive"
    path = scratch / f"{PACKAGE}-{VERSION}.tar.gz"
    try:
        finder = unearth.PackageFinder(
            index_urls=_index_urls(), no_binary=[PACKAGE], ignore_compatibility=True
        )
        best = finder.find_best_match(f"{PACKAGE}=={VERSION}", allow_yanked=True).best
        if best is None:
            raise OracleMissing(f"the package index has no source of {PACKAGE} {VERSION}", mend)
        url = best.link.url_without_fragment
        with finder.session.get_stream(url) as answer, path.open("wb") as file:
            answer.raise_for_status()
            total, got, shown = int(answer.headers.get("content-length", 0)), 0, -1
            for block in answer.iter_bytes(1 << 20):
                file.write(block)
                got += len(block)
                if total and got * 10 // total != shown:
                    shown = got * 10 // total
                    report(f"fetching {path.name}: {got >> 20} of {total >> 20} MB")
    except OracleMissing:
        raise
    # The HTTP library below unearth may change; any exception means that there is no archive.
    except Exception as error:
        why = str(error).splitlines()[:1] or [""]
        raise OracleMissing(
            f"{PACKAGE} {VERSION}'s source could not be fetched ({type(error).__name__}: {why[0]})",
            mend,
        ) from error
    return path


def _index_urls() -> list[str]:
    """Return the index of the user's pip configuration; none for unearth's default."""
    if chosen := os.environ.get("PIP_INDEX_URL"):
        return [chosen]
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"],
        capture_output=True,
        text=True,
    )
    # pip fails where it is not configured, and may not be installed at all.
    chosen = asked.stdout.strip() if asked.returncode == 0 else ""
    return [chosen] if chosen else []


def extract(archived: Path, folder: Path, files: Mapping[str, tuple[str, str]]) -> None:
    """Write files of the archive into a folder. files: as FILES. Raises OracleMissing."""
    wanted = {path: name for name, (path, _) in files.items()}
    with tarfile.open(archived, "r:gz") as tar:
        for member in tar:
            if (name := wanted.get(member.name)) is None:
                continue
            file = tar.extractfile(member)
            data = file.read() if file else b""
            if hashlib.sha256(data).hexdigest() != files[name][1]:
                raise OracleMissing(f"{member.name} in {archived.name} is not as pinned", "")
            paths.write_atomically(folder / name, data)
            del wanted[member.name]
            if not wanted:
                return
    raise OracleMissing(f"{archived.name} holds no {', '.join(wanted)}", "")


# ---- the compiler -----------------------------------------------------------------------


def _compiler() -> list[str]:
    """Return the command of the C compiler: CC if set, else cc or gcc or clang."""
    chosen = os.environ.get("CC", "").split()
    for command in [chosen] if chosen else [["cc"], ["gcc"], ["clang"]]:
        if shutil.which(command[0]):
            return command
    raise OracleMissing(
        f"no C compiler ({' '.join(chosen) or 'cc, gcc or clang'})",
        "install gcc or set CC",
    )


def compiler_name() -> str:
    """Return the first line of the C compiler's version output."""
    return _version_of(_compiler()).partition("\n")[0]


def _version_of(compiler: list[str]) -> str:
    return subprocess.run([*compiler, "--version"], capture_output=True, text=True).stdout


def _processor() -> str:
    """Return the inputs of -march=native: processor model and instruction set."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
        return "\n".join(x for x in lines if x.startswith(("model", "cpu family", "flags")))
    return platform.processor()


def _compile(command: list[str], sources: Path, driver: Path, folder: Path) -> Path:
    """Compile a driver against the pinned files; the result carries its own sha256 as name."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".build-") as scratch:
        draft = Path(scratch) / "oracle.so"
        done = subprocess.run(
            [*command, "-I", str(sources), str(driver), "-lm", "-o", str(draft)],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0 or not draft.exists():
            said = next((line for line in done.stderr.splitlines() if "error" in line), "")
            raise OracleMissing(
                f"the reference does not compile with {command[0]}: {said or done.stderr[-200:]}",
                "install gcc and the C library's headers (libc6-dev)",
            )
        built = folder / f"oracle-{_sha256(draft)}.so"
        os.replace(draft, built)
    return built
