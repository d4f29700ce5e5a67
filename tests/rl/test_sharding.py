"""Training on several (virtual CPU) devices gives the same as training on one."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from twinstep.errors import UserError
from twinstep.rl.sharding import mesh_of
from twinstep.tests.support.project_folder import HANGS

#: Trains on one device and on all four; prints numbers and what each device holds.
CHILD = """
import json
import numpy as np
from twinstep.plans import PPO
from twinstep.rl.ppo import Trainer
from twinstep.rl.sharding import mesh_of
from twinstep.tests.toys import tasks

# Lanes and layers of one size: a width must not be taken for lanes.
ppo = PPO(lanes=16, steps=4, minibatches=2, hidden=(16,), memory=16, learning_rate=1e-4)

def trained(devices, seeds):
    trainer = Trainer(tasks.make("cue"), ppo, mesh_of(devices, len(seeds), ppo.lanes))
    learner, player, rows = trainer.advance(*trainer.spread(*trainer.begin(seeds)))
    shown = {"obs": player.obs, "actor": learner.params["actor_w"], "clock": player.env.inner.clock}
    return {
        "params": {n: np.asarray(v).tolist() for n, v in learner.params.items()},
        "rows": {n: rows[n].tolist() for n in ("reward", "entropy")},
        "held": {n: [s.data.shape for s in v.addressable_shards] for n, v in shown.items()},
    }

runs = [[trained(devices, seeds) for devices in (1, 0)] for seeds in ([3, 4, 5, 6], [3])]
print(json.dumps(runs))
"""


@pytest.fixture(scope="module")
def trained():
    """The results of one device and of four: with four seeds, and with one."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        env=os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"},
        capture_output=True, text=True, timeout=HANGS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_devices_that_share_the_seeds_learn_what_one_device_learns(trained):
    one, four = trained[0]
    assert four["held"] == {
        "obs": [[1, 16, 2]] * 4, "actor": [[1, 16, 3]] * 4, "clock": [[16]] * 4,
    }  # fmt: skip
    _require_alike(one, four)


def test_devices_that_share_the_lanes_learn_what_one_device_learns(trained):
    one, four = trained[1]
    assert four["held"] == {
        "obs": [[1, 4, 2]] * 4, "actor": [[1, 16, 3]] * 4, "clock": [[4]] * 4,
    }  # fmt: skip
    _require_alike(one, four)


def _require_alike(one, other):
    """Alike up to the order of sums, after eight batches; the same steps were played."""
    for kind in ("params", "rows"):
        for name, values in one[kind].items():
            np.testing.assert_allclose(
                other[kind][name], values, rtol=1e-4, atol=2e-5, err_msg=f"{kind} {name}"
            )


def test_devices_that_cannot_share_the_work_are_one_clear_line():
    with pytest.raises(UserError, match="--devices 3: there are"):
        mesh_of(3, 3, 8)
    with pytest.raises(UserError, match="--devices -1: there are"):
        mesh_of(-1, 3, 8)
    assert mesh_of(1, 1, 8) is None
