"""Several processes that train one run together, on a machine each or beside each other.

All run the same command and each learns with its own devices. The first one keeps the run's folder;
what the others would write there goes to a scratch folder, which is removed in the end.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np
from jax.experimental import multihost_utils

from twinstep.errors import UserError

#: Seconds that a process waits for the others.
WAIT = 120.0
#: What a run goes on from; policies and event files are the first process's own.
_NEEDED = ("checkpoint.npz", "metrics.csv")


@dataclass(frozen=True)
class Hosts:
    """Where this process stands: process `index` of `count`; all meet at `coordinator`."""

    coordinator: str
    count: int
    index: int

    @property
    def leads(self) -> bool:
        """Whether this process keeps the run's folder."""
        return self.index == 0


def hosts_of(text: str) -> Hosts:
    """Return what `HOST:PORT,COUNT,INDEX` says. UserError if it says nothing of the kind."""
    found = re.fullmatch(r"([^,\s]+:\d+),(\d+),(\d+)", text)
    if not found:
        raise UserError(
            f"--hosts {text}: the first process's address, how many there are and which one this "
            "is are needed, as in 10.0.0.1:1234,4,0"
        )
    made = Hosts(found[1], int(found[2]), int(found[3]))
    if made.count < 2 or made.index >= made.count:
        raise UserError(f"--hosts {text}: at least 2 processes are needed, counted from 0")
    return made


@contextlib.contextmanager
def together(hosts: Hosts, seconds: float = WAIT) -> Iterator[None]:
    """Meet the other processes, who have so long to come; at the end all leave together."""
    # Where somebody does not come, JAX itself aborts the process with a stack trace.
    alarm = threading.Timer(seconds, _nobody_came, (hosts, seconds))
    alarm.daemon = True
    alarm.start()
    try:
        jax.distributed.initialize(
            hosts.coordinator,
            hosts.count,
            hosts.index,
            initialization_timeout=int(2 * seconds) + 10,
        )
    except (RuntimeError, ValueError) as error:
        said = str(error).splitlines()[0][:200]
        raise UserError(f"--hosts: {hosts.coordinator} cannot be used ({said})") from error
    finally:
        alarm.cancel()
    yield
    # Not after an error: the others would be waited for.
    jax.distributed.shutdown()


def _nobody_came(hosts: Hosts, seconds: float) -> None:
    print(
        f"twinstep: process {hosts.index} of {hosts.count} met no others at {hosts.coordinator}: "
        f"begin all of them within {seconds:.0f} s, each with an index of its own, where that "
        "address can be reached",
        file=sys.stderr,
        flush=True,
    )
    os._exit(4)


@contextlib.contextmanager
def own_folder(folder: Path, hosts: Hosts | None) -> Iterator[Path]:
    """Give the run's folder to the process that keeps it, and a scratch copy to any other."""
    if hosts is None or hosts.leads:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="twinstep-") as scratch:
        if (folder / "checkpoint.npz").is_file():
            for name in _NEEDED:
                shutil.copyfile(folder / name, Path(scratch) / name)
        yield Path(scratch)


def agreed(due: bool) -> bool:
    """Return what the first process says: clocks differ, and a checkpoint takes all of them."""
    if jax.process_count() == 1:
        return due
    return bool(multihost_utils.broadcast_one_to_all(np.array(due)))
