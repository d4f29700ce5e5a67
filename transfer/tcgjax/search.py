"""Players that try their actions on the engine, in games imagined from their observation.

Both try the actions that the script prefers. Where no game can be imagined well (before turn 1,
a promotion, a payment for a retreat), and in the turn of the other player, they follow the script.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from twinstep.contracts.tcgjax.layout import Ask
from twinstep.frames import Array
from twinstep.generated import tcgjax
from twinstep.generated.tcgjax import State
from twinstep.transfer.tcgjax import facts
from twinstep.transfer.tcgjax.heuristics import scripted, wanted
from twinstep.transfer.tcgjax.imagined import imagined
from twinstep.transfer.tcgjax.seen import Seen
from twinstep.transfer.tcgjax.value import worth

#: The value of a won game: above any position, but too low for one lucky draw to decide.
_WON = 4000
#: Actions before the turn's end need some gain, however small.
_FIRST = 1 << 16
#: Rows that NumPy sends to the compiled function at a time, so that it is compiled once.
_ROWS = 64
#: Choices that are left to the script.
_SCRIPTED = (Ask.ACTIVE, Ask.BENCH, Ask.PROMOTE, Ask.PAY, Ask.PUSHED)


class _Tries(NamedTuple):
    """The settings of a search. actions: tried at most. samples: of hidden cards and draws, each.

    ahead: the most steps that the script plays on afterwards, up to the player's own next turn.
    margin: the average lead over the script's action that another needs, or draws that are
    lucky in few samples would decide.
    """

    actions: int
    samples: int
    ahead: int
    margin: int


_GREEDY = _Tries(actions=24, samples=2, ahead=0, margin=0)
_EXPECTIMAX = _Tries(actions=8, samples=4, ahead=24, margin=40)


def greedy(obs: Array, legal: Array, word: Array, xp: Any = np) -> Array:
    """Try each action, once in each of two imagined games; see heuristics.py for the arguments.

    Actions that keep the turn are played if they improve the position, the best first; otherwise
    the turn is ended in the best way. At most 24 actions are tried, those that the script prefers.
    """
    return _searched(_GREEDY, obs, legal, word, xp)


def expectimax(obs: Array, legal: Array, word: Array, xp: Any = np) -> Array:
    """Try actions; take the one with the best mean over chance and the other player's answers.

    The first ply is any of 8 actions at most, those that the script prefers; the second the
    rest of the turn and the other player's whole turn, as the script plays them. Each is played in
    the same four imagined games, which differ in hidden cards and in draws.
    """
    return _searched(_EXPECTIMAX, obs, legal, word, xp)


def _searched(tries: _Tries, obs: Array, legal: Array, word: Array, xp: Any) -> Array:
    plain = scripted(obs, legal, word, xp)
    seen = Seen(obs, xp)
    ask = seen.one("ask")
    thinks = legal.any(-1) & (seen.one("turn") > 0) & (seen.one("my turn") == 1)
    for left in _SCRIPTED:
        thinks = thinks & (ask != int(left))
    # One action is no choice.
    thinks = thinks & (legal.sum(-1) > 1)
    if xp is not np:
        return xp.where(thinks, _best(tries, obs, legal, word), plain)
    rows, best = np.flatnonzero(thinks), plain.copy()
    for first in range(0, len(rows), _ROWS):
        part = rows[first : first + _ROWS]
        padded = np.resize(part, _ROWS)
        found = _best(tries, obs[padded], legal[padded], word[padded])
        best[part] = np.asarray(found)[: len(part)]
    return best


@partial(jax.jit, static_argnums=0)
def _best(tries: _Tries, obs: Array, legal: Array, word: Array) -> Array:
    """Return i32[N], the best action of each row."""
    count = len(obs)
    liked = jnp.where(legal, wanted(obs, word, jnp), jnp.int32(-(2**30)))
    _, actions = lax.top_k(liked, tries.actions)
    actions = actions.astype(jnp.int32)
    allowed = jnp.take_along_axis(legal, actions, -1)
    # Rows times samples times actions, as one flat batch; a sample is the same for all actions.
    seeds = jnp.stack(
        [jnp.repeat(word, tries.samples), jnp.tile(_numbers(tries.samples), count)], -1
    )
    games = jax.vmap(imagined)(jnp.repeat(obs, tries.samples, 0), seeds)
    games = jax.tree.map(lambda leaf: jnp.repeat(leaf, tries.actions, 0), games)
    words = jnp.repeat(word, tries.samples * tries.actions)
    tried = jnp.repeat(actions, tries.samples, 0).reshape(-1)
    turn = games.turn
    games = jax.vmap(tcgjax.step)(games, jnp.stack([tried, tried], -1))
    if tries.ahead:
        games = _played_on(games, turn, words, tries.ahead)
        values = _value(games)
    else:
        before = jnp.repeat(worth(obs, jnp), tries.samples * tries.actions)
        values = _at_once(games, before)
    shape = (count, tries.samples, tries.actions)
    total = values.reshape(shape).sum(1, dtype=jnp.int32)
    # The script's own choice comes first.
    first = jnp.arange(tries.actions, dtype=jnp.int32)[None, :] == 0
    total = total + jnp.where(first, tries.samples * tries.margin, 0)
    place = jnp.where(allowed, total, jnp.int32(-(2**30))).argmax(-1)
    return jnp.take_along_axis(actions, place[:, None], -1)[:, 0]


def _numbers(count: int) -> Array:
    return jnp.arange(1, count + 1, dtype=jnp.uint32)


def _value(games: State) -> Array:
    """Return i32[B]: the value of games to their first player."""
    winner = games.winner.astype(jnp.int32)
    ends = jnp.where(winner == 1, _WON, jnp.where(winner == 2, -_WON, 0))
    return jnp.where(winner > 0, ends, worth(jax.vmap(tcgjax.view)(games).obs[:, 0], jnp))


def _at_once(games: State, before: Array) -> Array:
    """Return i32[B]: the value of games after one action, ordered by priority."""
    attack = games.attack.astype(jnp.int32)
    goes_on = (games.player == 0) & (attack == 0) & (games.winner == 0)
    opened = ((games.ask > 0) & (games.asked == 0)).astype(jnp.int32)
    # An attack whose target is still open has done nothing yet.
    value = _value(games) + jnp.asarray(facts.USUAL)[attack]
    gain = value + opened - before
    return jnp.where(goes_on, gain + jnp.where(gain > 0, _FIRST, -_FIRST), value - before)


def _played_on(games: State, turn: Array, words: Array, ahead: int) -> State:
    """Let the script play both sides up to the first player's next turn, at most so many steps."""
    rows = jnp.arange(len(words), dtype=jnp.int32)

    def goes_on(games: State) -> Array:
        again = (games.player == 0) & (games.turn > turn)
        return (games.winner == 0) & ~again

    def one(carry: tuple[Array, State]) -> tuple[Array, State]:
        number, games = carry
        shown = jax.vmap(tcgjax.view)(games)
        asked = games.asked.astype(jnp.int32)
        answer = _script(shown.obs[rows, asked], shown.legal[rows, asked], words, number)
        # No action is legal in a game that has come far enough, so it stays as it is (R51).
        action = jnp.where(goes_on(games), answer, jnp.int32(-1))
        return number + 1, jax.vmap(tcgjax.step)(games, jnp.stack([action, action], -1))

    def open_(carry: tuple[Array, State]) -> Array:
        return (carry[0] < ahead) & goes_on(carry[1]).any()

    return lax.while_loop(open_, one, (jnp.int32(0), games))[1]


def _script(obs: Array, legal: Array, words: Array, number: Array) -> Array:
    shifted = words + number.astype(jnp.uint32) * jnp.uint32(0x9E3779B1)
    return scripted(obs, legal, shifted, jnp)
