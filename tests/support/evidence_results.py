"""Results as the commands write them, with numbers chosen by a test."""

import functools
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from twinstep.plans import PPO
from twinstep.rl import elo
from twinstep.rl.training import command as train
from twinstep.rl.training import loop
from twinstep.rl.training.evaluation import Row
from twinstep.rl.training.metrics import NAMES, Metrics
from twinstep.rl.training.policy_player import POLICY
from twinstep.rl.training.settings import TrainingSettings

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = ROOT / "benchmarks"
VERDICTS = ROOT / "candidates"
MADE = {
    "machine": {
        "cpu": "Test CPU", "architecture": "x86_64", "cores_used": 1, "cores_online": 2,
        "isa": ["avx"], "os": "Test OS", "libc": "",
    },
    "versions": {"twinstep": "0.0.7", "jax": "1.2.3"},
    "date": "2026-11-26",
}  # fmt: skip
SPREAD = {"median": 0.25, "min": 0.2, "max": 0.3}
#: Marks tests that draw a picture.
drawn = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None,
    reason="draws with matplotlib, of the extra `report`",
)


def put(at, data):
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(json.dumps(data))


def committed(name):
    return json.loads((COMMITTED / name).read_text())


def rows(section, *begin):
    """Return the cells of a section's table rows that begin with these cells."""
    text = section.markdown("")
    cells = [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [row for row in cells if row[: len(begin)] == list(begin)]


def shares(**other):
    return {
        "backend": "oracle", "size": 2_000_000, "parameters": 2_001_234, "operations": 1e12,
        "shares": [], "environment_share": SPREAD, "transfer_share": {**SPREAD, "median": 0.05},
        "model_share": {**SPREAD, "median": 0.7}, "flop_use": {**SPREAD, "median": 0.4},
    } | other  # fmt: skip


def timed(rows):
    return {
        "schema": 1, "environment": "tcgjax-v0", "variant": "apex", "command": "twinstep breakdown",
        "peak": 2.5e11, "lanes": 64, "steps": 128, "rows": rows, **MADE,
    }  # fmt: skip


def trained(where, backend, scores, seeds=(0, 1), **other):
    """Write a run as `twinstep train` does, with these scores [B, S] of its batches."""
    small = PPO(lanes=32, steps=8, minibatches=4, hidden=(8,))
    settings = TrainingSettings("pong", "fs8", backend, 256 * len(scores), tuple(seeds), ppo=small)
    where.mkdir(parents=True)
    (where / "settings.toml").write_text(settings.toml())
    metrics = Metrics(where, settings.seeds, 256, 0)
    curve = {name: np.zeros((len(scores), len(seeds))) for name in NAMES}
    metrics.add(curve | {"return": np.array(scores, float)}, 1.0)
    metrics.close()
    last = np.array(scores[-1], float)
    done = loop.Done(len(scores), 256 * len(scores), 1.0, 1.0, {"w": np.zeros(2)}, last)
    played = [Row("oracle", "", 128, (3.0, 5.0), 2.5, 5.5, 0.25)]
    train._keep(where / POLICY, done.params)
    train._write_result(where, settings, done, played)


@functools.cache
def rated():
    """Return cached ratings of four players from 40 games per pair: fitting takes seconds."""
    won = {
        ("random", "good"): 10, ("random", "runs/a"): 20, ("random", "runs/b"): 5,
        ("good", "runs/a"): 30, ("good", "runs/b"): 15, ("runs/a", "runs/b"): 8,
    }  # fmt: skip
    games = {pair: np.repeat([0.0, 1.0], [40 - wins, wins]) for pair, wins in won.items()}
    return elo.rated(["random", "good", "runs/a", "runs/b"], games)


def round_robin(**policies):
    table = rated()
    return table, {
        "schema": 1, "environment": "tcgjax-v0", "variant": "apex", "backend": "jax", "games": 40,
        **elo._plain(table), "policies": policies, "command": "twinstep elo tcgjax", **MADE,
    }  # fmt: skip
