"""Train one run in several processes, on one machine or on several.

All processes run the same command, each on its own devices. The first one keeps the run's folder;
the others write to a scratch folder, which is removed at the end.
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

#: Seconds to wait for the other processes.
WAIT = 120.0
#: Files needed to resume; policies and event files are the first process's own.
_NEEDED = ("checkpoint.npz", "metrics.csv")


@dataclass(frozen=True)
class Hosts:
    """This process's rank: process `index` of `count`; all meet at `coordinator`."""

    coordinator: str
    count: int
    index: int

    @property
    def leads(self) -> bool:
        """True if this process keeps the run's folder."""
        return self.index == 0


def hosts_of(text: str) -> Hosts:
    """Parse `HOST:PORT,COUNT,INDEX`. UserError for anything else."""
    match = re.fullmatch(r"([^,\s]+:\d+),(\d+),(\d+)", text)
    if not match:
        raise UserError(
            f"--hosts {text}: the first process's address, how many there are and which one this "
            "is are needed, as in 10.0.0.1:1234,4,0"
        )
    hosts = Hosts(match[1], int(match[2]), int(match[3]))
    if hosts.count < 2 or hosts.index >= hosts.count:
        raise UserError(f"--hosts {text}: at least 2 processes are needed, counted from 0")
    return hosts


@contextlib.contextmanager
def together(hosts: Hosts, seconds: float = WAIT) -> Iterator[None]:
    """Join the other processes within `seconds`; at the end of the context all leave together."""
    # If a process is missing, JAX itself would abort this one with a stack trace.
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
        message = str(error).splitlines()[0][:200]
        raise UserError(f"--hosts: {hosts.coordinator} cannot be used ({message})") from error
    finally:
        alarm.cancel()
    yield
    # Not after an error: it would wait for the others.
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
    """Yield the run's folder in the process that keeps it, and a scratch copy in any other."""
    if hosts is None or hosts.leads:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="twinstep-") as scratch:
        if (folder / "checkpoint.npz").is_file():
            for name in _NEEDED:
                shutil.copyfile(folder / name, Path(scratch) / name)
        yield Path(scratch)


def agreed(due: bool) -> bool:
    """Return the first process's answer: clocks differ, and a checkpoint needs all processes."""
    if jax.process_count() == 1:
        return due
    return bool(multihost_utils.broadcast_one_to_all(np.array(due)))
