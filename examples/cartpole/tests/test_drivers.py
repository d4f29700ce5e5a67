"""The scripted driver reaches states that random play does not."""

import numpy as np

from twinstep import Start
from twinstep.reference.recording import record
from twinstep_cartpole.contract import EVENTS, STEPS, contract
from twinstep_cartpole.drivers import balancing
from twinstep_cartpole.oracle.bridge import CartPoleOracle


def test_balancing_reaches_the_time_limit_and_every_other_end():
    agreed = contract({})
    seeds = np.stack([np.arange(48), np.zeros(48)], -1).astype(np.uint32)
    oracle = CartPoleOracle(agreed)
    played = record(oracle, agreed, balancing, Start(seeds), STEPS, lambda episode, step: None)
    oracle.close()
    assert played.ended.all()
    assert (played.lengths == STEPS).sum() > 16
    assert played.events is not None
    seen = np.asarray(played.events.any((0, 1)))
    assert seen.all(), np.array(EVENTS)[~seen]
