"""Runs that take seconds, for tests of `twinstep train`."""

import csv

from twinstep.rl.training import loop

SMALL = """
steps = 16000
seeds = [0, 3]
[ppo]
lanes = 32
steps = 8
minibatches = 4
hidden = [8]
memory = 4
"""


def train(folder, settings, progress=lambda text: None, every=0.0):
    """Begin a run, or resume it."""
    return loop.train(folder, settings, progress, every, new=not folder.exists())


def stop_at(batch):
    """Return a progress function that ends a run like Ctrl-C."""

    def progress(text):
        if text.startswith(f"batch {batch} "):
            raise KeyboardInterrupt

    return progress


def curve(folder):
    return list(csv.DictReader((folder / "metrics.csv").read_text().splitlines()))


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
