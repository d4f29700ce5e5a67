"""A player's legal actions in a turn (R30 to R47), and the actions that are no card's effect."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from twinstep.contracts.tcgjax.cards import ENERGY, Card
from twinstep.contracts.tcgjax.layout import (
    ABILITY,
    ATTACH,
    ATTACK,
    CHOOSE,
    END,
    PLAY,
    RETREAT,
    SCRAP,
    STADIUM,
    Ask,
)
from twinstep.oracles.tcgjax.abilities import ABILITIES
from twinstep.oracles.tcgjax.objects import ASLEEP, PARALYZED, Piece, Player, Pokemon
from twinstep.oracles.tcgjax.trainers import TRAINERS

if TYPE_CHECKING:
    from twinstep.oracles.tcgjax.game import Course, Game

Options = dict[int, Callable[[], Any]]
#: Rulings to cite when an action of a kind is refused.
_RULINGS = (
    (END, "R50"), (PLAY, "R32, R33, R38, R39, R41, R43, R44"), (ATTACH, "R30"), (RETREAT, "R45"),
    (ABILITY, "R76, R106 to R114"), (ATTACK, "R52"), (STADIUM, "no stadium is known"),
    (SCRAP, "R35"), (CHOOSE, "R49, R50"),
)  # fmt: skip


def ruling(game: Game, action: int) -> str:
    """Return the rulings that decide whether such an action is legal."""
    if game.decision is not None and game.decision.ask != Ask.TURN and action < CHOOSE:
        return "R50" if game.turn else "R19"
    return next((name for first, name in reversed(_RULINGS) if action >= first), "no such action")


def attack_of(action: int) -> int | None:
    """Return the attack's place on the card, if the action is an attack."""
    return action - ATTACK if ATTACK <= action < STADIUM else None


def basics(player: Player, target: int) -> dict[int, None]:
    """R19: return the actions that put a Basic of the hand into play."""
    hand = enumerate(player.hand)
    return {PLAY + 5 * at + target: None for at, piece in hand if piece.card.basic}


def of_turn(game: Game) -> Options:
    """Return all legal actions of the player whose turn it is, with their implementations."""
    found: Options = {END: lambda: None}
    for at, piece in enumerate(game.me.hand):
        for target, act in _plays(game, piece):
            found[PLAY + 5 * at + target] = act
    if game.me.current:
        for slot, one in game.me.pokemon():
            found[ATTACH + slot] = partial(_attach, game, one)
    for slot in _retreats(game):
        found[RETREAT + slot - 1] = partial(retreat, game, slot)
    for slot, one in game.me.pokemon():
        ability = ABILITIES.get(one.card.ability)
        if ability and not one.used and ability.usable(game, slot):
            found[ABILITY + slot] = partial(_use, game, slot, one)
        if one.card.kind == "Fossil" and (slot or game.me.bench()):
            found[SCRAP + slot] = partial(_scrap, game, slot)
    one = game.me.active
    if one.condition not in (ASLEEP, PARALYZED) and "no_attack" not in one.effects:
        for place, attack in enumerate(one.card.attacks):
            if one.pays(attack.cost):
                found[ATTACK + place] = lambda: None
    return found


def _plays(game: Game, piece: Piece) -> list[tuple[int, Callable[[], Any]]]:
    """Return the legal targets of a card of the hand, with their implementations."""
    card, me = piece.card, game.me
    if card.basic or card.kind == "Fossil":
        return [(0, partial(bench, game, piece))] if me.room() else []
    if card.kind == "Pokemon":
        return [
            (1 + slot, partial(evolve, game, piece, one))
            for slot, one in me.pokemon()
            if card.evolves_from == one.card.name and game.turn > 2 and one.entered < game.turn
        ]
    if card.kind == "Supporter" and (game.supporter or _forbidden(game)):
        return []
    trainer = TRAINERS[card.ability]
    return [(target, partial(_play, game, piece, target)) for target in trainer.targets(game)]


def _forbidden(game: Game) -> bool:
    """R44."""
    shadow = game.foe.active.has("ability-no-supporters")
    if shadow and any(piece.card.kind == "Supporter" for piece in game.me.hand):
        game.happened.add("ability-no-supporters")
    return bool(game.me.no_supporters) or shadow


def bench(game: Game, piece: Piece) -> None:
    """R32, R33."""
    game.me.leave_hand(piece)
    game.me.put(piece, game.turn)
    if piece.card.kind == "Fossil":
        game.event("fossil", "R33")


def evolve(game: Game, piece: Piece, one: Pokemon) -> None:
    """R38, R40."""
    game.me.leave_hand(piece)
    one.stack.append(piece)
    one.entered, one.used = game.turn, False
    one.free()
    game.event("evolved", "R38")


def _play(game: Game, piece: Piece, target: int) -> Any:
    """R41, R42."""
    game.me.toss(piece)
    if piece.card.kind == "Supporter":
        game.supporter = True
    trainer = TRAINERS[piece.card.ability]
    game.event(piece.card.ability, trainer.ruling)
    return trainer.play(game, target - 1)


def _attach(game: Game, one: Pokemon) -> None:
    """R30."""
    one.energy.append(game.me.current)
    game.me.current = ""
    game.event("attached", "R30")


def _use(game: Game, slot: int, one: Pokemon) -> Any:
    """R76."""
    one.used = True
    ability = ABILITIES[one.card.ability]
    game.event(one.card.ability, ability.ruling)
    return ability.use(game, slot)


def _scrap(game: Game, slot: int) -> Course:
    """R35."""
    game.me.discard(slot)
    game.event("fossil discarded", "R35")
    yield from game.promote()


def retreat_cost(card: Card, quick: int) -> int:
    """R46."""
    return max(card.retreat - quick, 0)


def _cost(game: Game) -> int:
    return retreat_cost(game.me.active.card, game.quick)


def _retreats(game: Game) -> list[int]:
    """R34, R45: return the Bench slots that the Active Pokemon may change places with."""
    one = game.me.active
    held = one.condition in (ASLEEP, PARALYZED) or "no_retreat" in one.effects
    if game.retreated or held or one.card.kind == "Fossil" or len(one.energy) < _cost(game):
        return []
    return [slot for slot, _ in game.me.bench()]


def retreat(game: Game, slot: int) -> Course:
    """R45."""
    game.retreated = True
    game.event("retreated", "R45")
    yield from pay(game, slot, _cost(game))


def pay(game: Game, slot: int, left: int) -> Course:
    """R47: discard `left` energies of the Active Pokemon, then change places."""
    from twinstep.oracles.tcgjax.game import Decision

    one = game.me.active
    while left and left < len(one.energy) and len(set(one.energy)) > 1:
        kinds = {CHOOSE + ENERGY.index(letter): letter for letter in set(one.energy)}
        chosen = yield Decision(Ask.PAY, game.player, kinds, left, slot)
        game.me.strip(one, [kinds[chosen]])
        game.event("paid by choice", "R47")
        left -= 1
    game.me.strip(one, one.energy[:left])
    game.me.swap(slot)
