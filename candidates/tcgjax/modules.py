"""The engine's parts alone, on one board: implementations of the contract's modules.

Every function takes a module's inputs for one board, by name, and may be batched with `vmap`.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from twinstep.contracts.tcgjax.cards import ATTACKS, ENERGY
from twinstep.contracts.tcgjax.layout import ATTACK as FIRST_ATTACK
from twinstep.contracts.tcgjax.layout import DECK, PLAY, RETREAT, STACK, STATE, Ask, Then, Zone
from twinstep.contracts.tcgjax.modules import CALLED, MANY
from twinstep.generated.tcgjax import attack as attacks
from twinstep.generated.tcgjax import cards, deck, energy, moves, play, status, turn
from twinstep.generated.tcgjax.cards import FOSSIL, POKEMON
from twinstep.generated.tcgjax.legal import mask
from twinstep.generated.tcgjax.observe import observe
from twinstep.generated.tcgjax.state import Game, State, closed, opened
from twinstep.generated.tcgjax.threefry import Draws, heads_among, heads_until_tails

Array = jax.Array
Fields = dict[str, Array]

_OUTPUTS = {module.name: module.outputs for module in CALLED}


def _outputs(module: str, found: Fields) -> Fields:
    return {f.name: found[f.name].astype(f.dtype) for f in _OUTPUTS[module]}


def _state(given: Fields) -> State:
    """Return the state of these fields; without `asked` among them, whose turn it is acts."""
    blank = {field.name: jnp.zeros(field.shape, field.dtype) for field in STATE}
    known = {name: value for name, value in given.items() if name in blank}
    return State(**{**blank, "asked": given.get("player", blank["asked"]), **known})


def _result(module: str, game: Game, state: State, **found: Array) -> Fields:
    """Return the board after a part, and the part's results."""
    fields = closed(game, state)._asdict()
    fields["asked"] = jnp.where(fields["ask"] == 0, jnp.int8(0), fields["asked"])
    return _outputs(module, {**fields, **found})


def _both_active(game: Game) -> Array:
    return game.me.there[0] & game.foe.there[0]


def _draws(given: Fields, heads: Array) -> Draws:
    draws = Draws(given["seed"], given["draws"], heads)
    draws.made = given["before"].astype(jnp.int32)
    return draws


def _drawn(module: str, given: Fields, draws: Draws, **found: Array) -> Fields:
    count = given["draws"] + draws.made.astype(jnp.uint32)
    return _outputs(module, {"count": count, **found})


def coins(given: Fields) -> Fields:
    """Flip coins."""
    draws = _draws(given, given["heads_are"].astype(jnp.int32))
    flipped = draws.coins(jnp.bool_(True))
    heads = heads_among(flipped, given["flips"].astype(jnp.int32))
    return _drawn("coins", given, draws, heads=heads, run=heads_until_tails(flipped))


def pick(given: Fields) -> Fields:
    """Pick one of some things."""
    draws = _draws(given, jnp.int32(1))
    picked = draws.pick(given["among"].astype(jnp.int32), jnp.bool_(True))
    return _drawn("pick", given, draws, picked=picked)


def shuffle(given: Fields) -> Fields:
    """Shuffle some cards."""
    draws = _draws(given, jnp.int32(1))
    numbers = jnp.arange(DECK, dtype=jnp.int32)
    among = numbers < given["cards_in"].astype(jnp.int32)
    place = deck.shuffled(draws.shuffle(jnp.bool_(True)), numbers, among)
    lies = among[None, :] & (place[None, :] == numbers[:, None])
    order = jnp.sum(jnp.where(lies, numbers[None, :] + 1, 0), axis=1, dtype=jnp.int32) - 1
    return _drawn("shuffle", given, draws, order=order)


def cost(given: Fields) -> Fields:
    """Return whether energies pay a cost."""
    kinds = jnp.arange(1, len(ENERGY) + 1, dtype=jnp.int32)
    counts = jnp.arange(MANY, dtype=jnp.int32) < given["most"].astype(jnp.int32)
    each = given["energies"].astype(jnp.int32)[:, None] == kinds[None, :]
    held = jnp.sum(each & counts[:, None], axis=0, dtype=jnp.int32)
    card = given["card"].astype(jnp.int32)
    known = cards.Attacks(ATTACKS * card + jnp.arange(ATTACKS, dtype=jnp.int32))
    full, fast = cards.fact("retreat", cards.words(card)), given["fast"].astype(jnp.int32)
    return _outputs("cost", {"pays": known.paid(held), "retreat": energy.cheaper(full, fast)})


def damage(given: Fields) -> Fields:
    """Do an attack's damage."""
    state = _state(given)
    game = opened(state)
    dealt = attacks.landed(game, given["amount"].astype(jnp.int32))
    dealt = jnp.where(_both_active(game), dealt, 0)
    game.foe.damage = game.foe.damage + dealt
    return _result("damage", game, state, dealt=dealt[0])


def attack(given: Fields) -> Fields:
    """Use an attack of the Active Pokemon."""
    state = _state(given)
    game = opened(state)
    nth = given["nth"].astype(jnp.int32)
    there = cards.Attacks(ATTACKS * game.me.fact("number")[0] + nth).there
    move = moves.meant(FIRST_ATTACK + nth)._replace(attacks=there & _both_active(game))
    none = jnp.int32(0)
    stays = moves.Retreat(jnp.bool_(False), none, none)
    turn.take_effect(game, move, none, jnp.bool_(False), stays)
    return _result("attack", game, state)


def put(given: Fields) -> Fields:
    """Put a card of the hand into play."""
    state = _state(given)
    game = opened(state)
    me, held, onto = game.me, given["held"].astype(jnp.int32), given["onto"].astype(jnp.int32)
    card = (me.zone == int(Zone.HAND)) & (me.place == held)
    words = (deck.chosen(me.cards[0], card), deck.chosen(me.cards[1], card))
    kind, stage = cards.fact("kind", words), cards.fact("stage", words)
    size = deck.chosen(me.size, deck.at(onto))
    fits = jnp.where(stage > 0, (size > 0) & (size < STACK), jnp.any(me.size[1:] == 0))
    plays = jnp.any(card) & (kind <= FOSSIL) & fits
    move = moves.meant(PLAY + 5 * held + 1 + onto)._replace(plays=plays)
    moves.play_card(game, move)
    return _result("play", game, state)


def retreat(given: Fields) -> Fields:
    """Retreat for a Pokemon of the Bench."""
    state = _state(given)
    game = opened(state)
    me, slot = game.me, given["to"].astype(jnp.int32)
    enough = jnp.sum(me.energy[0], dtype=jnp.int32) >= energy.retreat_cost(game)
    goes = enough & _both_active(game) & jnp.any(deck.at(slot, me.benched))
    move = moves.meant(RETREAT + slot - 1)._replace(retreats=goes)
    begun = moves.retreat(game, move)
    # As in a whole step, whose attack part takes long to compile.
    turn.ask(game, begun.left > 0, int(Ask.PAY), left=begun.left, arg=begun.slot)
    deck.swap(me, begun.slot, begun.goes)
    return _result("retreat", game, state)


def checkup(given: Fields) -> Fields:
    """End effects that end with a turn; apply conditions after it."""
    state = _state(given)
    game = opened(state)
    there = _both_active(game)
    status.expire(game, there)
    status.checkup(game, there)
    return _result("checkup", game, state)


def knockouts(given: Fields) -> Fields:
    """Knock out every Pokemon that is due."""
    state = _state(given)
    game = opened(state)
    harm = given["harm"].astype(jnp.int32)
    turned = state.player == 1
    for side, own in ((game.me, turned), (game.foe, ~turned)):
        amount = jnp.where(own, harm[1], harm[0])
        side.damage = side.damage + jnp.where(side.there, amount, 0)
    always = game.winner == 0
    follows = given["follows"].astype(jnp.int32)
    turn.knock_out(game, always)
    turn.close(game, follows == int(Then.NEXT))
    turn.promote(game, always, follows)
    return _result("knockouts", game, state)


def next_turn(given: Fields) -> Fields:
    """Begin the other player's turn."""
    state = _state(given)
    game = opened(state)
    turn.next_turn(game, game.winner == 0)
    return _result("turn", game, state)


def legal(given: Fields) -> Fields:
    """Return the legal actions of the acting player."""
    return _outputs("legal", {"legal": mask(opened(_state(given)))})


def observation(given: Fields) -> Fields:
    """Return both players' observations."""
    return _outputs("observation", {"obs": observe(_state(given))})


def reset(given: Fields) -> Fields:
    """Begin a game."""
    words = cards.words(given["cards"])
    basic = (cards.fact("kind", words) == POKEMON) & (cards.fact("stage", words) == 0)
    begins = jnp.all(jnp.any(basic, axis=1))
    state = play.reset(given["seed"], given["rules"], given["cards"], given["types"])
    found = {
        name: jnp.where(begins, value, jnp.zeros_like(value))
        for name, value in state._asdict().items()
    }
    return _outputs("reset", found)


def _called(function: Callable[[Fields], Fields]) -> Callable[..., Fields]:
    return lambda **inputs: function(inputs)


CALLS: dict[str, Callable[..., Fields]] = {
    name: _called(function)
    for name, function in {
        "coins": coins,
        "pick": pick,
        "shuffle": shuffle,
        "cost": cost,
        "damage": damage,
        "attack": attack,
        "play": put,
        "retreat": retreat,
        "checkup": checkup,
        "knockouts": knockouts,
        "turn": next_turn,
        "legal": legal,
        "observation": observation,
        "reset": reset,
    }.items()
}
assert tuple(CALLS) == tuple(module.name for module in CALLED)
