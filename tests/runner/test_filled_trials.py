"""Trials that are played side by side get no actions of which a game allows none."""

import numpy as np

from twinstep.frames import Start
from twinstep.runner.runner import Runner
from twinstep.tests.reports import go


def test_a_shorter_trial_is_not_filled_with_actions_that_may_be_illegal():
    """The port raises at suicide, which a fill of zeros is where black has both points beside."""
    contract = go.contract({})
    runner = Runner(contract, go.Right(contract), "right")
    start = Start(np.zeros(2, np.uint32))
    moves = np.array([[1, 0], [0, 15], [4, 0], [0, 14], [5, 0]], np.int32)
    rows = runner.replays([(start, moves), (start, moves[:3]), (start, moves[:3]), (start, moves)])
    assert [len(row["reward"]) for row in rows] == [6, 4, 4, 6]
    assert (rows[0]["obs"][:4] == rows[1]["obs"]).all()
