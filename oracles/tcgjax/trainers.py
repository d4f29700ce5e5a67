"""Trainer cards (R90 to R104)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twinstep.oracles.tcgjax.game import Course, Game
    from twinstep.oracles.tcgjax.objects import Pokemon


class Trainer:
    """targets(game): legal targets, 0 nothing, 1 + slot; play(game, slot): play it.

    ruling: `R90`.
    """

    def __init__(
        self,
        targets: Callable[[Game], list[int]],
        play: Callable[[Game, int], Any],
        ruling: str | None,
    ) -> None:
        self.targets = targets
        self.play = play
        self.ruling = (ruling or "").rstrip(".")


TRAINERS: dict[str, Trainer] = {}
_BLAZING = ("Ninetales", "Rapidash", "Magmar")
_ROCKS = ("Golem", "Onix")
_SHOCKING = ("Raichu", "Electrode", "Electabuzz")
_TOXIC = ("Muk", "Weezing")


def plain(code: str, playable: Callable[[Game], bool]) -> Callable[[Any], Any]:
    """Register a card that is played on nothing: `play(game)`."""

    def register(play: Callable[[Game], Any]) -> Callable[[Game], Any]:
        targets: Callable[[Game], list[int]] = lambda game: [0] if playable(game) else []  # noqa: E731
        TRAINERS[code] = Trainer(targets, lambda game, _slot: play(game), play.__doc__)
        return play

    return register


def aimed(code: str, fits: Callable[[Pokemon], bool]) -> Callable[[Any], Any]:
    """Register a card that is played on one of the own Pokemon: `play(game, pokemon)`."""

    def register(play: Callable[[Game, Any], Any]) -> Callable[[Game, Any], Any]:
        def targets(game: Game) -> list[int]:
            return [1 + slot for slot, one in game.me.pokemon() if fits(one)]

        TRAINERS[code] = Trainer(
            targets, lambda game, slot: play(game, game.me.slots[slot]), play.__doc__
        )
        return play

    return register


@aimed("potion", lambda one: one.damage > 0)
def potion(_game: Game, one: Pokemon) -> None:
    """R90."""
    one.heal(20)


@plain("x-speed", lambda _game: True)
def x_speed(game: Game) -> None:
    """R91."""
    game.quick += 1


@plain("hand-scope", lambda game: bool(game.foe.hand))
def hand_scope(game: Game) -> None:
    """R92."""
    game.reveal(game.foe)


@plain("pokedex", lambda game: bool(game.me.deck))
def pokedex(game: Game) -> None:
    """R93."""
    game.me.peeked = min(3, len(game.me.deck))


@plain("poke-ball", lambda game: bool(game.me.deck))
def poke_ball(game: Game) -> None:
    """R94."""
    found = [piece for piece in game.me.deck if piece.card.basic]
    if found:
        piece = game.draws.pick(found)
        game.me.deck.remove(piece)
        game.me.hand.append(piece)
    game.shuffle(game.me)


@plain("red-card", lambda game: bool(game.foe.hand))
def red_card(game: Game) -> None:
    """R95."""
    foe = game.foe
    foe.deck += foe.hand
    foe.hand = []
    foe.shown = set()
    game.shuffle(foe)
    game.draw(foe, 3)


@plain("professors-research", lambda game: bool(game.me.deck))
def professors_research(game: Game) -> None:
    """R96."""
    game.draw(game.me, 2)


@aimed("erika", lambda one: one.card.type == "G" and one.damage > 0)
def erika(_game: Game, one: Pokemon) -> None:
    """R97."""
    one.heal(50)


@aimed("misty", lambda one: one.card.type == "W")
def misty(game: Game, one: Pokemon) -> None:
    """R98."""
    game.charge(one, "W", game.draws.until_tails())


@plain("blaine", lambda game: any(one.card.name in _BLAZING for _, one in game.me.pokemon()))
def blaine(game: Game) -> None:
    """R99."""
    game.blaze += 30


def blazing(one: Pokemon) -> bool:
    """Return whether `blaine` applies to it (R60)."""
    return one.card.name in _BLAZING


@plain("koga", lambda game: game.me.active.card.name in _TOXIC and bool(game.me.bench()))
def koga(game: Game) -> Course:
    """R100."""
    me, one = game.me, game.me.active
    me.slots[0] = None
    for piece in one.stack:
        if len(me.hand) < game.rules["hand"]:
            me.hand.append(piece)
            me.shown.add(piece)
        else:
            me.discards.append(piece)
    me.strip(one, list(one.energy))
    yield from game.promote()


@plain("giovanni", lambda _game: True)
def giovanni(game: Game) -> None:
    """R101."""
    game.bonus += 10


@aimed("brock", lambda one: one.card.name in _ROCKS)
def brock(game: Game, one: Pokemon) -> None:
    """R102."""
    game.charge(one, "F")


@plain("sabrina", lambda game: bool(game.foe.bench()))
def sabrina(game: Game) -> Course:
    """R103."""
    return game.push(game.foe)


def _surges(game: Game) -> bool:
    charged = any("L" in one.energy for _, one in game.me.bench())
    return game.me.active.card.name in _SHOCKING and charged


@plain("lt-surge", _surges)
def lt_surge(game: Game) -> None:
    """R104."""
    for _, one in game.me.bench():
        while "L" in one.energy:
            one.energy.remove("L")
            game.me.active.energy.append("L")
