"""The filter of system calls, run by hand, against the numbers of the kernel's own headers."""

import errno
import re
import struct
from pathlib import Path

import pytest

from twinstep.walls import seccomp

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL = 0x7FFF0000, 0x80000000
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def _answer(program, machine, number, first=0):
    """Run a classic BPF program on the kernel's description of a call."""
    data = struct.pack("<IIQ6Q", number, machine, 0, first, 0, 0, 0, 0, 0)
    lines = list(struct.iter_unpack("HBBI", program))
    at, value = 0, 0
    while True:
        code, yes, no, k = lines[at]
        at += 1
        if code == 0x06:
            return k
        if code == 0x20:
            (value,) = struct.unpack_from("<I", data, k)
        else:
            holds = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[code]
            at += yes if holds else no


def _denied(machine):
    column = list(MACHINES).index(machine)
    return {name: row[column] for name, row in seccomp._DENIED.items() if row[column] is not None}


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_denied_gives_eperm_and_all_else_passes(machine, network):
    program = seccomp.program(machine, network)
    denied = _denied(machine)
    column = list(MACHINES).index(machine)
    special = {seccomp._CLONE3[column], seccomp._SOCKET[column]}
    for number in range(500):
        answer = _answer(program, MACHINES[machine], number)
        if number in denied.values():
            assert answer == 0x50000 | errno.EPERM, number
        elif number not in special:
            assert answer == ALLOW, number


@pytest.mark.parametrize("machine", MACHINES)
def test_clone_may_make_threads_and_processes_and_no_namespace(machine):
    column = list(MACHINES).index(machine)
    for network in (False, True):
        program = seccomp.program(machine, network)
        clone = seccomp._CLONE[column]
        assert _answer(program, MACHINES[machine], clone, 0x3D0F00) == ALLOW  # a thread's
        assert _answer(program, MACHINES[machine], clone, 17) == ALLOW
        for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
            assert _answer(program, MACHINES[machine], clone, flag | 17) == 0x50000 | errno.EPERM
        clone3 = _answer(program, MACHINES[machine], seccomp._CLONE3[column])
        assert clone3 == 0x50000 | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_unix_sockets_open_without_the_network_and_no_other_and_not_with_it(machine):
    number = seccomp._SOCKET[list(MACHINES).index(machine)]
    apart = seccomp.program(machine, network=False)
    whole = seccomp.program(machine, network=True)
    assert _answer(apart, MACHINES[machine], number, 1) == ALLOW
    assert _answer(whole, MACHINES[machine], number, 1) == 0x50000 | errno.EAFNOSUPPORT
    for family in (0, 2, 10, 16, 17, 40):
        assert _answer(apart, MACHINES[machine], number, family) == 0x50000 | errno.EAFNOSUPPORT
        assert _answer(whole, MACHINES[machine], number, family) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_another_machines_calls_end_the_process(machine):
    program = seccomp.program(machine, network=True)
    assert _answer(program, 0x40000003, 1) == KILL
    if machine == "x86_64":
        assert _answer(program, MACHINES[machine], 0x40000000 | 1) == 0x50000 | errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_the_kernels(machine):
    if not HEADERS[machine].exists():
        pytest.skip("the kernel's headers are not installed")
    text = HEADERS[machine].read_text()
    known = {
        name.removeprefix("3264_"): int(number)
        for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", text)
    }
    column = list(MACHINES).index(machine)
    own = {"clone": seccomp._CLONE, "clone3": seccomp._CLONE3, "socket": seccomp._SOCKET}
    named = _denied(machine) | {name: row[column] for name, row in own.items()}
    assert {name: known.get(name) for name in named} == named
