"""Become a worker behind walls: `python -m twinstep.bench.walled_worker ENV VARIANT BACKEND FD`.

It runs in the checkout that is measured, where it says what the candidate sees, and imports no file
of the candidate's.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from twinstep.bench import worker
from twinstep.project import registry
from twinstep.runner.remote import NOWHERE, command_of


def main(env: str, variant: str, backend: str, descriptor: str) -> NoReturn:
    """Replace this program by the worker."""
    pair = registry.pairs(registry.variant_of(env, variant), [backend])[0]
    words, given = command_of(pair, worker.__name__)
    own = {name: os.environ[name] for name in worker.SETTINGS if name in os.environ}
    command = words(descriptor)
    os.chdir(NOWHERE)
    os.execve(command[0], command, given | own)


if __name__ == "__main__":
    main(*sys.argv[1:])
