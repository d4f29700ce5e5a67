"""Level 1: a player's observation and mask depend on nothing hidden from it (R86 to R89).

At states of recorded games, everything that is hidden from player p is replaced: the generator, the
other player's unshown cards in hand and in the deck, the order of both decks as far as
p does not know it, and the other player's knowledge.
"""

import jax
import numpy as np
import pytest

from twinstep.contracts.tcgjax.cards import cards
from twinstep.contracts.tcgjax.layout import DECK, Zone
from twinstep.generated import tcgjax
from twinstep.generated.tcgjax import State
from twinstep.oracles.tcgjax.codec import game_of
from twinstep.oracles.tcgjax.observing import observed

pytestmark = [pytest.mark.level1, pytest.mark.environment("tcgjax")]

STATES = 600


def _states(lab, rng):
    """Return states [STATES, ...] of recorded games, none of them over."""
    chunks = lab.traces("loose").chunks()
    chunk = next(chunks)
    paths = [f"state.{field.name}" for field in lab.contract.state]
    frames = chunk.window(0, paths)
    lane = rng.integers(0, chunk.lanes, STATES)
    at = rng.integers(0, np.minimum(chunk.lengths[lane], len(frames[paths[0]])))
    chunks.close()
    return {path.removeprefix("state."): values[at, lane] for path, values in frames.items()}


def hidden_changed(state, p, rng):
    """Return a state with everything replaced that player p may not know."""
    new = {name: values.copy() for name, values in state.items()}
    foe = 1 - p
    new["seed"] = rng.integers(0, 2**32, 2).astype(np.uint32)
    new["draws"] = rng.integers(0, 1000, ()).astype(np.uint32)
    for player in (p, foe):
        deck = new["zone"][player] == Zone.DECK
        known = new["peeked"][p] if player == p else 0
        loose = np.flatnonzero(deck & (new["place"][player] >= known))
        new["place"][player, loose] = rng.permutation(new["place"][player, loose])
    hand = (new["zone"][foe] == Zone.HAND) & ~new["shown"][foe]
    unseen = np.flatnonzero(hand | (new["zone"][foe] == Zone.DECK))
    # Which of them are in the hand, and where, is as hidden as their identity.
    order = rng.permutation(unseen)
    for name in ("zone", "place"):
        new[name][foe, unseen] = new[name][foe, order]
    new["cards"][foe, unseen] = rng.integers(1, len(cards()) + 1, len(unseen))
    new["types"][foe] = rng.integers(1, 256)
    new["peeked"][foe] = rng.integers(0, 4)
    own = new["zone"][p] == Zone.HAND
    new["shown"][p] = own & (rng.random(DECK) < 0.5)
    return new


#: Compiled once: the variants differ in their starts alone.
_VIEW = jax.jit(jax.vmap(tcgjax.view))


def _view(states):
    seen = _VIEW(State(**states))
    return {"obs": np.asarray(seen.obs), "legal": np.asarray(seen.legal)}


@pytest.mark.parametrize("player", [0, 1])
def test_view_and_mask_stay_where_only_hidden_things_change(twinstep_lab, player):
    """On both sides, each of which builds its own observation."""
    rng = twinstep_lab.reference.rng("hidden", str(player))
    states = _states(twinstep_lab, rng)
    rows = [{name: values[n] for name, values in states.items()} for n in range(STATES)]
    changed = [hidden_changed(row, player, rng) for row in rows]
    others = {name: np.stack([row[name] for row in changed]) for name in states}
    names = twinstep_lab.contract.observation.names
    one, two = (_view(each) for each in (states, others))
    for path in ("obs", "legal"):
        wrong = np.argwhere((one[path][:, player] != two[path][:, player]).reshape(STATES, -1))
        assert not len(wrong), (path, names[wrong[0, 1]] if path == "obs" else wrong[0])
    # The other player's own view does change, which proves the replacement.
    assert (one["obs"][:, 1 - player] != two["obs"][:, 1 - player]).any(-1).mean() > 0.95
    for row, other in zip(rows, changed, strict=True):
        games = [game_of(each) for each in (row, other)]
        seen = [observed(game, player) for game in games]
        assert seen[0] == seen[1], names[np.argmax(np.array(seen[0]) != np.array(seen[1]))]
        asked = [game.decision for game in games]
        assert asked[0] is not None
        assert asked[1] is not None
        if asked[0].asked == player:
            assert set(asked[0].options) == set(asked[1].options)
