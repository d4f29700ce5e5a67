"""Refuse the system calls that no engine needs and that kernels were broken by.

The namespaces and the read-only view are the walls. This filter keeps a program from the calls
with which walls of this kind have been climbed: new namespaces, mounts, tracing, kernel keys,
rings, loadable programs. All of them fail with EPERM. Without `network`, only Unix sockets open;
with it, all but these, by which a program would reach the machine's services as its user.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

from . import kernel

#: Audit number of the machine's own calling convention.
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
#: Calls that always fail: name -> number on x86_64, on aarch64 (None: it has no such call).
_DENIED: dict[str, tuple[int, int | None]] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "unshare": (272, 97), "setns": (308, 268),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "quotactl": (179, 60),
    "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142), "acct": (163, 89),
    "syslog": (103, 116), "sethostname": (170, 161), "setdomainname": (171, 162),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "fanotify_init": (300, 262), "iopl": (172, None),
    "ioperm": (173, None), "modify_ldt": (154, None),
}  # fmt: skip
_CLONE, _CLONE3, _SOCKET = (56, 220), (435, 435), (41, 198)
#: Of an x86_64 kernel: calls of 32-bit pointers, which would pass under other numbers.
_X32 = 0x40000000
_NAMESPACES = (
    kernel.CLONE_NEWNS | kernel.CLONE_NEWCGROUP | kernel.CLONE_NEWUTS | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | 0x80
)  # fmt: skip
_AF_UNIX = 1

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
#: Offsets in the kernel's description of a call: number, machine, the first argument's low half.
_NUMBER, _MACHINE, _FIRST = 0, 4, 16
_PR_SET_SECCOMP, _FILTER = 22, 2


def program(machine: str, network: bool) -> bytes:
    """Return the filter for a machine, in the kernel's instructions. KeyError: an unknown one."""
    architecture, column = _ARCHITECTURE[machine], list(_ARCHITECTURE).index(machine)
    denied = [numbers[column] for numbers in _DENIED.values()]
    lines = [
        _line(_LOAD, _MACHINE),
        _line(_EQUAL, architecture, yes=1),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        lines += [_line(_AT_LEAST, _X32, no=1), _line(_RETURN, _ERROR | errno.EPERM)]
    for number in denied:
        if number is not None:
            lines += [_line(_EQUAL, number, no=1), _line(_RETURN, _ERROR | errno.EPERM)]
    # The C library falls back to `clone`, whose flags a filter can read.
    lines += [_line(_EQUAL, _CLONE3[column], no=1), _line(_RETURN, _ERROR | errno.ENOSYS)]
    lines += [
        _line(_EQUAL, _CLONE[column], no=3),
        _line(_LOAD, _FIRST),
        _line(_ANY_BIT, _NAMESPACES, no=5),
        _line(_RETURN, _ERROR | errno.EPERM),
    ]
    lines += [
        _line(_EQUAL, _SOCKET[column], no=3),
        _line(_LOAD, _FIRST),
        _line(_EQUAL, _AF_UNIX, no=1) if network else _line(_EQUAL, _AF_UNIX, yes=1),
        _line(_RETURN, _ERROR | errno.EAFNOSUPPORT),
    ]
    return b"".join([*lines, _line(_RETURN, _ALLOW)])


def _line(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def restrict(network: bool) -> None:
    """Install the filter for this process and its children, if it knows the machine's calls.

    Raises kernel.Refused where the kernel takes no filter.
    """
    if platform.machine() not in _ARCHITECTURE:
        return
    data = program(platform.machine(), network)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_char_p)]

    installed = Program(len(data) // 8, data)
    kernel.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.addressof(installed))
