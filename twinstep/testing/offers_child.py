"""A child process that builds the candidates of a run and tells what they offer.

Under pytest-xdist the controller prints the header and writes the verdict, and candidate code never
runs where a verdict is made. So a child finds the facts, once for all workers.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from twinstep._lib import paths
from twinstep._lib.spawn import child_command
from twinstep.testing.applicability import gather, plain
from twinstep.testing.harness import Harness
from twinstep.testing.selection import Selection, choose
from twinstep.testing.settings import RunSettings, keep_apart

#: Seconds after which nothing is known: then every check is collected, and says what hangs.
LIMIT = 300


def ask(selection: Selection, isolate: bool, oracles: bool) -> Mapping[str, Any]:
    """Return `applicability.plain` of the selected pairs; {} if the child fails or hangs."""
    request = {"selection": asdict(selection), "isolate": isolate, "oracles": oracles}
    with tempfile.TemporaryDirectory(prefix="twinstep-offers-") as folder:
        answer = Path(folder, "answer.json")
        command = child_command(__name__, 0, answer, json.dumps(request))
        nothing = subprocess.DEVNULL
        try:
            subprocess.run(command, stdin=nothing, stdout=nothing, stderr=nothing, timeout=LIMIT)
            return json.loads(answer.read_text())
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return {}


def serve(_: int, answer: str, request: str) -> None:
    """Run in the child: write the facts to the file `answer`."""
    asked = json.loads(request)
    keep_apart(asked["isolate"])
    harness = Harness(RunSettings(isolate=asked["isolate"]))
    try:
        pairs = choose(Selection(**asked["selection"])).pairs
        found = plain(gather(pairs, harness, asked["oracles"]))
    finally:
        harness.close()
    paths.write_atomically(Path(answer), json.dumps(found).encode())
