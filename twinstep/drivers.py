"""Drivers: the policies that pick actions while a trace is recorded.

A driver is `factory(contract, starts, look) -> act(frame, t) -> actions [N, P, ...]`. It is
pure in the starts, the frames so far and its own counter `t`, so that a lane's episode does
not depend on the other lanes. `look(actions [H, N, P, ...]) -> bool [N, E]` plays a few
steps ahead on a copy of the oracle and returns the declared events that would happen; it is
None where the oracle cannot load a state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from twinstep._lib.hashing import noise
from twinstep.action_mask import legalise
from twinstep.contract import Box, Contract, Discrete
from twinstep.frames import Frame, Start

Act = Callable[[Frame, int], np.ndarray]
Look = Callable[[np.ndarray], np.ndarray]


class Driver(Protocol):
    """Builds the policy for one batch of episodes."""

    def __call__(self, contract: Contract, starts: Start, look: Look | None) -> Act:
        """Return the policy."""
        ...


def _draw(contract: Contract, seed: np.ndarray, t: int, salt: int) -> np.ndarray:
    """Return one action [N, P, ...] per lane and player, uniform over the action space."""
    dtype, shape = contract.action_layout()
    flat = [
        noise(seed, t, salt * 64 + place) for place in range(int(np.prod(shape, dtype=np.int64)))
    ]
    words = np.stack(flat, -1).reshape(len(seed), *shape)
    if isinstance(contract.action, Discrete):
        return (words % np.uint32(contract.action.n)).astype(dtype)
    box: Box = contract.action
    middle, half = (box.low + box.high) / 2, (box.high - box.low) / 2 * box.beyond
    unit = words.astype(np.float64) / 2**31 - 1.0
    # One draw in eight lies on an end of the range, where clamps are.
    unit = np.where(words % 8 == 7, np.sign(unit), unit)
    return (middle + half * unit).astype(dtype)


def random(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Draw uniformly from the legal actions at each step."""
    seed = np.asarray(starts.seed)
    return lambda frame, t: legalise(_draw(contract, seed, t, 1), _legal(frame))


def sticky(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Hold an action for 8 steps on average, which reaches clamps that random play does not."""
    seed = np.asarray(starts.seed)
    previous: list[np.ndarray] = []

    def act(frame: Frame, t: int) -> np.ndarray:
        actions = _draw(contract, seed, t, 2)
        if previous:
            renew = (noise(seed, t, 3) % 8 == 0).reshape(-1, *([1] * (actions.ndim - 1)))
            actions = np.where(renew, actions, previous.pop())
        previous.append(actions)
        return legalise(actions, _legal(frame))

    return act


def seeking(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Seek the events that the episode has seen least, by looking ahead on a copy of the oracle.

    Every 12 steps each lane tries 6 plans of two held actions and follows the one with the
    rarest events in its own episode so far. Without `look` it plays like `sticky`.
    """
    if look is None:
        return sticky(contract, starts)
    seed = np.asarray(starts.seed)
    lanes, length, plans = len(seed), 12, 6
    seen = np.zeros((lanes, len(contract.events)))
    chosen: dict[int, np.ndarray] = {}

    def plan(t: int, number: int) -> np.ndarray:
        first = _draw(contract, seed, t, 4 + 2 * number)
        second = _draw(contract, seed, t, 5 + 2 * number)
        turn = noise(seed, t, 30 + number) % length
        late = np.arange(length)[:, None] >= turn
        return np.where(late.reshape(*late.shape, *([1] * (first.ndim - 1))), second, first)

    def act(frame: Frame, t: int) -> np.ndarray:
        if t % length == 0:
            tries = np.stack([plan(t, number) for number in range(plans)])
            events = np.stack([look(actions) for actions in tries])
            worth = (events / (1.0 + seen) ** 2).sum(-1)
            best = worth.argmax(0)
            seen[:] += events[best, np.arange(lanes)]
            chosen[0] = tries[best, :, np.arange(lanes)]
        return legalise(chosen[0][:, t % length], _legal(frame))

    return act


def careless(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Draw an illegal action in one step of eight, as a policy that knows no mask may.

    The others are drawn from the legal actions.
    """
    seed = np.asarray(starts.seed)

    def act(frame: Frame, t: int) -> np.ndarray:
        actions, legal = _draw(contract, seed, t, 7), _legal(frame)
        allowed = legalise(actions, legal)
        if legal is None:
            return allowed
        free = (noise(seed, t, 8) % 8 == 0)[:, None] & ~legal.all(-1) & legal.any(-1)
        return np.where(free, legalise(actions, ~legal), allowed)

    return act


def _legal(frame: Frame) -> Any:
    return None if frame.legal is None else np.asarray(frame.legal)


#: Drivers whose actions depend on no frame, unless some actions are illegal.
BLIND = ("random", "sticky")
#: Drivers that look ahead in the oracle, and so cannot play on a candidate.
LOOKING = ("seeking",)
#: The drivers of every environment; a declaration may add its own.
CORE: dict[str, str] = {
    "random": "twinstep.drivers:random",
    "sticky": "twinstep.drivers:sticky",
    "seeking": "twinstep.drivers:seeking",
    "careless": "twinstep.drivers:careless",
}
