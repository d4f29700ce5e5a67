"""Activated abilities (R106 to R114). Abilities always at work are in the code they affect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from twinstep.oracles.tcgjax.objects import ASLEEP, Pokemon

if TYPE_CHECKING:
    from twinstep.oracles.tcgjax.game import Course, Game


class Ability:
    """usable(game, slot): whether its player may use it; use(game, slot): do it. ruling: `R106`."""

    def __init__(
        self, usable: Callable[[Game, int], bool], use: Callable[[Game, int], Any]
    ) -> None:
        self.usable = usable
        self.use = use
        self.ruling = (use.__doc__ or "").rstrip(".")


ABILITIES: dict[str, Ability] = {}


def _always(_game: Game, _slot: int) -> bool:
    return True


def _active(_game: Game, slot: int) -> bool:
    return slot == 0


def ability(code: str, usable: Callable[[Game, int], bool] = _always) -> Callable[[Any], Any]:
    """Register the implementation of an ability."""

    def register(use: Callable[[Game, int], Any]) -> Callable[[Game, int], Any]:
        ABILITIES[code] = Ability(usable, use)
        return use

    return register


def _hurt(game: Game, _slot: int) -> bool:
    return any(one.damage for _, one in game.me.pokemon())


@ability("ability-heal-each-20", _hurt)
def heal_each(game: Game, _slot: int) -> None:
    """R106."""
    for _, one in game.me.pokemon():
        one.heal(20)


def _can_pull(game: Game, slot: int) -> bool:
    return slot == 0 and any(one.card.stage == "Basic" for _, one in game.foe.bench())


@ability("ability-pull-basic", _can_pull)
def pull_basic(game: Game, _slot: int) -> Course:
    """R107."""
    return game.pull()


@ability("ability-snipe-20")
def snipe(game: Game, _slot: int) -> Course:
    """R108."""
    return game.snipe()


def _one(game: Game, slot: int) -> Pokemon:
    found = game.me.slots[slot]
    assert found is not None
    return found


@ability("ability-charge-self-lightning")
def charge_self(game: Game, slot: int) -> None:
    """R109."""
    game.charge(_one(game, slot), "L")


def _psychic(game: Game, _slot: int) -> bool:
    return game.me.active.card.type == "P"


@ability("ability-charge-active-psychic", _psychic)
def charge_active(game: Game, _slot: int) -> None:
    """R110."""
    game.charge(game.me.active, "P")


@ability("ability-coin-sleep")
def coin_sleep(game: Game, _slot: int) -> None:
    """R111."""
    if game.flip(1)[0]:
        game.foe.active.condition = ASLEEP


@ability("ability-poison", _active)
def poison(game: Game, _slot: int) -> None:
    """R112."""
    game.foe.active.poisoned = True


@ability("ability-push", lambda game, _slot: bool(game.foe.bench()))
def push(game: Game, _slot: int) -> Course:
    """R113."""
    return game.push(game.foe)


@ability("ability-peek", lambda game, _slot: bool(game.me.deck))
def peek(game: Game, _slot: int) -> None:
    """R114."""
    game.me.peeked = max(game.me.peeked, 1)
