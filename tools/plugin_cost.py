"""Measure the plugin's cost in a foreign project's run, side by side with `-p no:twinstep`.

`.venv/bin/python tools/plugin_cost.py [ROUNDS]` runs `pytest -q` over one empty test in a folder of
its own, in turn with and without the plugin, and prints medians and the spread of the difference,
in processor time.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from twinstep._lib import machine


def seconds(folder: str, *more: str) -> float:
    """Return the processor seconds of one run: a busy machine changes them little."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *more]
    begin = os.times()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    end = os.times()
    return end.children_user + end.children_system - begin.children_user - begin.children_system


def main() -> None:
    rounds = int(sys.argv[1]) if sys.argv[1:] else 20
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_one.py").write_text("def test_one(): pass\n")
        seconds(folder)  # files read once
        pairs = [(seconds(folder), seconds(folder, "-p", "no:twinstep")) for _ in range(rounds)]
    costs = sorted(1e3 * (one - other) for one, other in pairs)
    ours, others = (1e3 * statistics.median(each) for each in zip(*pairs, strict=True))
    low, high = costs[rounds // 4], costs[3 * rounds // 4]
    print(machine.made())
    print(f"with {ours:.0f} ms, without {others:.0f} ms, {rounds} rounds in turn")
    print(f"cost {statistics.median(costs):.1f} ms, quartiles {low:.1f} to {high:.1f}")


if __name__ == "__main__":
    main()
