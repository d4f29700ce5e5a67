"""An agent in bubblewrap, which can write to its own folder and cannot see the run's."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import twinstep
from twinstep.errors import UserError

PROGRAM = "bwrap"


def require() -> None:
    """UserError if bubblewrap is not installed."""
    if shutil.which(PROGRAM) is None:
        raise UserError("--sandbox needs bubblewrap: install it (`apt install bubblewrap`)")


def around(runs: Path, folder: Path, prompt: Path, state: Sequence[str]) -> list[str]:
    """Return the words before an agent's command.

    Everything is read-only except its folder, a /tmp of its own and the files of its own state
    (`state`, "~" for the home folder). The folder of runs is empty except for its folder and the
    prompt, so that the secret of hidden seeds is invisible. The network and the user's other
    readable files stay: an agent has to reach its model, and reads its key from its own state.
    """
    words = [PROGRAM, "--die-with-parent", "--unshare-pid", "--ro-bind", "/", "/"]
    words += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    # Python and this package stay visible even if they lie in /tmp.
    for path in (sys.prefix, str(Path(twinstep.__file__).parents[1])):
        words += ["--ro-bind", path, path]
    words += ["--tmpfs", str(runs)]
    for path in (str(Path(name).expanduser()) for name in state):
        words += ["--bind-try", path, path]
    words += ["--bind", str(folder), str(folder), "--ro-bind", str(prompt), str(prompt)]
    return [*words, "--chdir", str(folder), "--"]
