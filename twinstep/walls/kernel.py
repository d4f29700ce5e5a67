"""System calls of Linux that Python does not offer, by their numbers."""

from __future__ import annotations

import ctypes
import os
import platform

#: Numbers of calls before Linux 5, which differ by machine; later calls have one number everywhere.
_OLD = {
    "x86_64": {"pivot_root": 155, "capset": 126},
    "aarch64": {"pivot_root": 41, "capset": 91},
}
_NEW = {
    "mount_setattr": 442, "landlock_create_ruleset": 444, "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}  # fmt: skip

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID = (
    0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000,
)  # fmt: skip
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = (
    1, 2, 4, 8, 0x20, 0x1000, 0x4000, 0x40000,
)  # fmt: skip
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 24, 38, 47
PR_SET_DUMPABLE = 4
_CAP_AMBIENT_CLEAR_ALL = 4
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID, _MOUNT_ATTR_NODEV = 1, 2, 4
_CAPABILITY_VERSION = 0x20080522


class Refused(OSError):
    """The kernel refused a call. step: which wall could not be built, its text."""

    def __init__(self, step: str, number: int) -> None:
        super().__init__(number, f"{step}: {os.strerror(number)}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _require(result: int, step: str) -> int:
    if result < 0:
        raise Refused(step, ctypes.get_errno())
    return result


def call(name: str, *args: object) -> int:
    """Make a system call by name; return its result, negative if it fails (see `ctypes.errno`)."""
    number = _NEW.get(name) or _OLD.get(platform.machine(), {}).get(name)
    if number is None:
        ctypes.set_errno(38)  # ENOSYS
        return -1
    function = _libc().syscall
    function.restype = ctypes.c_long
    return function(ctypes.c_long(number), *args)


def unshare(flags: int) -> None:
    """Leave the parent's namespaces. Raises Refused."""
    _require(_libc().unshare(ctypes.c_int(flags)), "namespaces")


def prctl(option: int, *values: int) -> None:
    """Set a property of this process. Raises Refused."""
    words = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    _require(_libc().prctl(ctypes.c_int(option), *words), f"prctl {option}")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or a folder in another place. Raises Refused."""
    words = [os.fsencode(text) if text else None for text in (source, target, kind)]
    data = options.encode() if options else None
    result = _libc().mount(*words, ctypes.c_ulong(flags), data)
    _require(result, f"mount {kind or source} at {target}")


def detach(target: str) -> None:
    """Take a mounted tree away. Raises Refused."""
    _require(_libc().umount2(os.fsencode(target), ctypes.c_int(MNT_DETACH)), f"unmount {target}")


def protect(target: str, *, writable: bool = False, devices: bool = False) -> None:
    """Make a mounted tree read-only, without set-user-ID programs and devices, unless allowed."""

    class Attributes(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint64) for name in ("on", "off", "propagation", "userns_fd")]

    bits = _MOUNT_ATTR_NOSUID
    bits |= 0 if writable else _MOUNT_ATTR_RDONLY
    bits |= 0 if devices else _MOUNT_ATTR_NODEV
    about = Attributes(bits, 0, 0, 0)
    result = call(
        "mount_setattr",
        ctypes.c_int(_AT_FDCWD),
        os.fsencode(target),
        ctypes.c_uint(_AT_RECURSIVE),
        ctypes.byref(about),
        ctypes.c_size_t(ctypes.sizeof(about)),
    )
    _require(result, f"protect {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root folder; the one before lies at `old` from then on. Raises Refused."""
    _require(call("pivot_root", os.fsencode(new), os.fsencode(old)), "change the root folder")


def limit_capabilities() -> None:
    """Let no program started from here hold a capability, whatever its file says."""
    libc = _libc()
    libc.prctl(PR_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for number in range(64):
        if libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(number), 0, 0, 0) < 0:
            break  # the kernel has no more of them


def drop_capabilities() -> None:
    """Give up every capability that this process holds, for good. Raises Refused."""

    class Header(ctypes.Structure):
        _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]

    none = (ctypes.c_uint32 * 6)()
    header = Header(_CAPABILITY_VERSION, 0)
    _require(call("capset", ctypes.byref(header), none), "drop all capabilities")
    prctl(PR_SET_NO_NEW_PRIVS, 1)
