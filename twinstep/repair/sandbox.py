"""An agent behind walls: it writes in its own folder, and does not see the run's."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import twinstep
from twinstep.errors import UserError
from twinstep.walls.standing import standing
from twinstep.walls.view import View

#: How a run's record says that the agent had no wall around it.
TRUST = "the agent ran without walls: the verdict rests on trust"


def require() -> None:
    """UserError if no wall can be built here."""
    if not standing().namespaces:
        raise UserError(
            f"no wall can be built around the agent here ({standing().why}): --no-sandbox runs it "
            "without one, and the verdict then rests on trust"
        )


def view_of(runs: Path, folder: Path, prompt: Path, state: Sequence[tuple[str, str]] = ()) -> View:
    """Return the view of an agent that works in a folder.

    Everything is read-only but its folder, a /tmp of its own and the copies of its own state
    (`state`: a copy, and the place where it finds it). The folder of runs is empty except for its
    folder and the prompt, so that the secret of hidden seeds does not exist for it. The sockets of
    the machine's services do not either. The network and the user's other readable files stay: an
    agent has to reach its model.
    """
    # Python and this package stay visible where they lie in /tmp.
    own = [sys.prefix, sys.base_prefix, *twinstep.__path__, str(prompt)]
    return View(
        read=("/", *own, os.path.realpath("/etc/resolv.conf")),
        hide=(str(runs), "/run"),
        write=(str(folder), *(copy for copy, _ in state)),
        moved=tuple(state),
        cwd=str(folder),
        network=True,
        devices=tuple(map(str, Path("/dev").glob("nvidia*"))),
        scratch=8 << 30,
    )
