"""Build the walls from inside, then become the program.

Three processes: the outer one waits for the program's end and repeats it; the first of the new
process table builds the walls and collects what ends; the program is its child. The program holds
no capability and sees neither of the two's memory.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import sys
from typing import Any, NoReturn

from . import kernel, landlock, seccomp

#: The variable with the View as JSON; the program's environment does not have it.
VARIABLE = "TWINSTEP_WALLS"
#: Exit code where a wall cannot be built; standard error says which.
UNBUILT = 125
#: The user that the program is, inside.
_USER = 1000
#: Descriptors from 3 on are the program's alone: the end of its pipe is seen by their closing.
_MOST = 1 << 16
#: The program's user outside, where root starts it, less a process number.
_FOREIGN = 1 << 30
_NODES = ("null", "zero", "full", "random", "urandom")
_PLAIN = kernel.MS_NOSUID | kernel.MS_NODEV
_READ_ONLY_NOW = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY
#: Added to a signal's number, the exit code of the first process after the program died of it.
_SIGNALLED = 128
_NEW = (
    kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUTS | kernel.CLONE_NEWCGROUP
)  # fmt: skip


def main(command: list[str]) -> NoReturn:
    """Run a command behind the walls that the environment variable describes."""
    view = json.loads(os.environ.pop(VARIABLE))
    # Root outside would stay root to the kernel, which limits no number of its processes. What
    # writes to folders of the outside has to be their owner.
    readable = all(_is_public(path) for path, _ in view["read"])
    foreign = os.getuid() == 0 and not view["write"] and readable
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        _unshare(_NEW if view["network"] else _NEW | kernel.CLONE_NEWNET, foreign)
        first = os.fork()
    except OSError as error:
        _unbuilt(error)
    if first:
        os.closerange(3, _MOST)
        _repeat(os.waitpid(first, 0)[1])
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        # Its own memory and environment are closed to the program, which is the same user.
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        _build(view)
        program = os.fork()
        if not program:
            _become(view, command, foreign)
        os.closerange(3, _MOST)
        kernel.limit_capabilities()
        kernel.drop_capabilities()
    except OSError as error:
        _unbuilt(error)
    while True:
        ended, status = os.wait()
        if ended == program:
            # The kernel ends whatever else still runs in this process table.
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else _SIGNALLED - code)


def _unshare(flags: int, foreign: bool) -> None:
    """Leave the namespaces of the outside; `_USER` is this user inside, or one of no file's."""
    user, group = os.getuid(), os.getgid()
    if not foreign:
        kernel.unshare(flags)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{_USER} {user} 1")
        _write("/proc/self/gid_map", f"{_USER} {group} 1")
        return
    # Only a process outside may map a user who is not its own.
    waits, goes = os.pipe()
    helper = os.fork()
    if not helper:
        os.close(goes)
        try:
            if os.read(waits, 1):
                for name in ("uid_map", "gid_map"):
                    other = _FOREIGN + os.getppid()
                    _write(f"/proc/{os.getppid()}/{name}", f"0 0 1\n{_USER} {other} 1\n")
        except OSError as error:
            _unbuilt(error)
        os._exit(0)
    kernel.unshare(flags)
    os.write(goes, b"x")
    if os.waitpid(helper, 0)[1]:
        raise kernel.Refused("users of the namespace", errno.EPERM)
    os.close(waits)
    os.close(goes)


def _is_public(path: str) -> bool:
    """Return whether any user may read what is at a path, once it is reached."""
    need = 0o5 if os.path.isdir(path) else 0o4
    return os.stat(path).st_mode & need == need


def _become(view: dict[str, Any], command: list[str], foreign: bool) -> NoReturn:
    """Give up every right and run the command. Never returns."""
    try:
        os.setsid()
        _limit(view)
        kernel.limit_capabilities()
        if foreign:
            os.setgroups([])
            os.setresgid(_USER, _USER, _USER)
            os.setresuid(_USER, _USER, _USER)
        kernel.drop_capabilities()
        writable = [shown for _, shown in view["write"]]
        landlock.restrict([*writable, "/tmp", "/dev"], view["network"])
        seccomp.restrict(view["network"])
        os.execvp(command[0], command)
    except OSError as error:
        _unbuilt(error)


def _limit(view: dict[str, Any]) -> None:
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: view["memory"],
        resource.RLIMIT_NPROC: view["processes"],
        resource.RLIMIT_FSIZE: view["file_size"],
    }
    for kind, most in limits.items():
        if most or kind == resource.RLIMIT_CORE:
            _, hard = resource.getrlimit(kind)
            value = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (value, value))


def _build(view: dict[str, Any]) -> None:
    """Make a file system of the view alone, and its folder the root."""
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    # Any folder that is always there; its files come back when the root has changed.
    base = "/tmp"
    kernel.mount("tmpfs", base, "tmpfs", _PLAIN, "mode=0755")
    os.mkdir(f"{base}/old")
    os.mkdir(f"{base}/new")
    kernel.pivot_root(base, f"{base}/old")
    os.chdir("/")
    kernel.mount("tmpfs", "/new", "tmpfs", _PLAIN, "mode=0755")
    places = [(*place, kind) for kind in ("read", "hide", "write") for place in view[kind]]
    whole = ["/", "/"] in view["read"]
    if whole:
        _bind("/", "/")
    _own_folders(view)
    for path, target in view["links"].items():
        os.makedirs(os.path.dirname(f"/new{path}"), exist_ok=True)
        os.symlink(target, f"/new{path}")
    covered = []
    # Outer folders first; at one place, what is seen before what is hidden.
    for path, shown, kind in sorted(places, key=lambda place: place[1].count("/")):
        if kind == "hide":
            covered += _cover(shown)
        elif path != "/":
            _bind(path, shown, writable=kind == "write")
    os.makedirs(f"/new{view['cwd']}", exist_ok=True)
    for path in [*covered, "/new/dev", *([] if whole else ["/new"])]:
        kernel.mount("none", path, flags=kernel.MS_NOSUID | _READ_ONLY_NOW)
    os.chdir("/new")
    kernel.pivot_root(".", ".")
    kernel.detach(".")
    os.chdir(view["cwd"])


def _own_folders(view: dict[str, Any]) -> None:
    """Mount a table of these processes alone, a few devices, and the scratch."""
    for name in ("proc", "dev", "tmp"):
        os.makedirs(f"/new/{name}", exist_ok=True)
    try:
        # Read-only: root outside may write the kernel's settings, whatever namespace it is in.
        flags = _PLAIN | kernel.MS_NOEXEC | kernel.MS_RDONLY
        kernel.mount("proc", "/new/proc", "proc", flags)
    except kernel.Refused:  # inside a container that masks parts of its own
        kernel.mount("tmpfs", "/new/proc", "tmpfs", _PLAIN | kernel.MS_RDONLY, "mode=0555")
    kernel.mount("tmpfs", "/new/dev", "tmpfs", kernel.MS_NOSUID, "mode=0755")
    nodes = [f"/dev/{node}" for node in _NODES]
    for name in (*nodes, *(path for path, _ in view["devices"])):
        _bind(name, name, writable=True, devices=True)
    os.symlink("/proc/self/fd", "/new/dev/fd")
    size = f"size={view['scratch']},mode=1777"
    os.mkdir("/new/dev/shm")
    for path in ("/new/dev/shm", "/new/tmp"):
        kernel.mount("tmpfs", path, "tmpfs", _PLAIN, size)


def _bind(path: str, shown: str, *, writable: bool = False, devices: bool = False) -> None:
    """Show a file or a folder of the outside at a place."""
    source, target = f"/old{path}", f"/new{shown}"
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb"):
            pass
    kernel.mount(source, target, flags=kernel.MS_BIND | kernel.MS_REC)
    kernel.protect(target, writable=writable, devices=devices)


def _cover(path: str) -> list[str]:
    """Hide what lies at a path; return the mounts that must not be written to in the end."""
    target = f"/new{path}"
    if not os.path.isdir(target):
        if not os.path.exists(target):
            return []
        with open("/empty", "wb"):
            pass
        kernel.mount("/empty", target, flags=kernel.MS_BIND)
    else:
        kernel.mount("tmpfs", target, "tmpfs", _PLAIN, "mode=0755")
    return [target]


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _repeat(status: int) -> NoReturn:
    """End as the program did: with its exit code, or by its signal."""
    code = os.waitstatus_to_exitcode(status)
    number = -code if code < 0 else code - _SIGNALLED
    if 0 < number < signal.NSIG:
        os.kill(os.getpid(), number)
    os._exit(code)


def _unbuilt(error: OSError) -> NoReturn:
    sys.stderr.write(f"walls: {error.strerror}\n")
    sys.stderr.flush()
    os._exit(UNBUILT)
