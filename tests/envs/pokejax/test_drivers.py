"""The policies that wear battles down follow their descriptions, and play nothing illegal."""

import numpy as np
import pytest

from twinstep.contracts.pokejax import contract
from twinstep.contracts.pokejax.declaration import POKEJAX
from twinstep.frames import Frame, Start
from twinstep.project.registry import load_object

CONTRACT = contract(POKEJAX.params({"teams": "families"}))
LANES = 4000


def _chosen(driver, **slots):
    """Return the first player's actions i32[N] where its slots have these values."""
    obs = np.zeros((LANES, 2, 263), np.int16)
    names = list(CONTRACT.observation.names)
    for name, values in slots.items():
        for i, value in enumerate(values):
            obs[:, 0, names.index(f"slot_{i + 1}_{name}")] = value
    legal = np.zeros((LANES, 2, 10), bool)
    legal[:, 0, [0, 1, 3, 5, 9]] = True
    one, no = np.zeros((LANES, 2), np.float32), np.zeros(LANES, bool)
    frame = Frame(obs, one, no, no, legal.any(-1), legal, {})
    seed = np.stack([np.arange(LANES), np.ones(LANES)], -1).astype(np.uint32)
    act = load_object(POKEJAX.drivers[driver])(CONTRACT, Start(seed, {}))
    actions = act(frame, 7)
    assert (actions[:, 1] == 0).all()
    assert np.take_along_axis(legal[:, 0], actions[:, :1], -1).all()
    return np.bincount(actions[:, 0], minlength=10) / LANES


@pytest.mark.parametrize(
    ("driver", "slots"),
    [
        ("stall", {"power": (90, 0, 0, 0)}),
        ("exhaust", {"pp": (9, 3, 1, 3), "power": (0, 80, 0, 90)}),
    ],
)
def test_moves_without_power_and_those_with_the_fewest_pp_come_first(driver, slots):
    """Slots 2 and 4 share the decisions that do not slip: slot 3 is illegal."""
    share = _chosen(driver, **slots)
    assert share[[1, 3]].sum() > 0.875
    assert share[[1, 3]].min() > 0.35
    assert 0 < share[[5, 9]].min() < 0.06


def test_one_slot_alone_is_the_least():
    assert _chosen("exhaust", pp=(2, 9, 0, 9))[0] > 0.875
