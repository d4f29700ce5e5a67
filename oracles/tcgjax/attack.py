"""The course of an attack (R52 to R69): coins, choices, damage, other effects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinstep.contracts.tcgjax.cards import Attack, cards
from twinstep.contracts.tcgjax.layout import CHOOSE, Ask
from twinstep.oracles.tcgjax.attacks import EFFECTS, Effect
from twinstep.oracles.tcgjax.objects import CONFUSED, Player, Pokemon
from twinstep.oracles.tcgjax.trainers import blazing

if TYPE_CHECKING:
    from twinstep.oracles.tcgjax.game import Course, Game

COPY = "copy"
_PLAIN = Effect()


class Use:
    """An attack in use. heads: its coins; target: the chosen target; dealt: R127's."""

    def __init__(self, game: Game, attack: Attack) -> None:
        self.game = game
        self.me: Player = game.me
        self.foe: Player = game.foe
        self.one: Pokemon = game.me.active
        self.attack = attack
        self.effect = EFFECTS[attack.effect] if attack.effect else _PLAIN
        self.coins: list[bool] = []
        self.target: tuple[Player, int] | None = None
        self.picked: list[int] = []
        self.dealt = 0

    @property
    def heads(self) -> int:
        """Return the number of heads."""
        return sum(self.coins)

    def victim(self) -> Pokemon | None:
        """Return the other's Active Pokemon where an effect may touch it (R69, R80)."""
        one = self.foe.slots[0]
        return None if one is None or one.falling or one.immune else one

    def hit_active(self, number: int) -> int:
        """R60: do damage to the other's Active Pokemon and return how much."""
        one = self.foe.active
        if number <= 0 or one.immune:
            return 0
        number += self.game.bonus + (self.game.blaze if blazing(self.one) else 0)
        number = max(number - self._weakened(), 0)
        if number and one.card.weakness and one.card.weakness == self.one.card.type:
            number += self.game.rules["weakness"]
            self.game.event("weakness", "R61")
        guarded = one.effects["guarded"].amount if "guarded" in one.effects else 0
        number = max(number - self._shell(one) - guarded, 0)
        one.damage += number
        self.game.say("R60", f"{number} damage to {one.card.name}")
        return number

    def hit_bench(self, one: Pokemon, number: int) -> None:
        """R62."""
        one.damage += max(number - self._weakened() - self._shell(one), 0)

    def _weakened(self) -> int:
        return self.one.effects["weakened"].amount if "weakened" in self.one.effects else 0

    def _shell(self, one: Pokemon) -> int:
        for amount in (10, 20):
            if one.has(f"ability-shell-{amount}"):
                self.game.event(f"ability-shell-{amount}", "R116")
                return amount
        return 0


def begun(game: Game, place: int) -> Course:
    """Use an attack of the Active Pokemon: R54, then the rest."""
    one = game.me.active
    if one.condition == CONFUSED and not game.flip(1)[0]:
        return
    game.attack = 2 * one.card.number + place
    yield from _used(game)


def resumed(game: Game, ask: Ask, left: int) -> Course:
    """Go on with `game.attack` at an open choice."""
    if ask in (Ask.COPY, Ask.DAMAGE):
        yield from _used(game)
    else:
        use = Use(game, _attack(game.attack))
        yield from use.effect.after(use, left)


def _attack(number: int) -> Attack:
    return cards()[number // 2 - 1].attacks[number % 2]


def _used(game: Game) -> Course:
    if _attack(game.attack).effect == COPY:
        game.event(COPY, "R139")
        copied = yield from _copied(game)
        if copied is None:
            return
        game.attack = copied
        if not game.me.active.pays(_attack(copied).cost):
            return
    yield from _resolved(Use(game, _attack(game.attack)))


def _copied(game: Game) -> Course:
    """R139: return the number of the chosen attack, None if there is none to choose."""
    from twinstep.oracles.tcgjax.game import Decision

    found: dict[int, int] = {}
    for slot, one in game.foe.pokemon():
        for place, attack in enumerate(one.card.attacks):
            if attack.effect != COPY:
                found[CHOOSE + 2 * slot + place] = 2 * one.card.number + place
    if not found:
        return None
    chosen = yield Decision(Ask.COPY, game.player, found)
    return found[chosen]


def _resolved(use: Use) -> Course:
    """R55 to R57."""
    game, effect = use.game, use.effect
    effect.flip(use)
    if effect.fails(use):
        return
    yield from effect.choose(use)
    if use.attack.effect:
        game.event(use.attack.effect, (effect.__doc__ or "").partition(".")[0])
    number = effect.number(use)
    bench = effect.bench(use)
    own = effect.own(use)
    use.dealt = use.hit_active(number)
    for one, amount in bench:
        use.hit_bench(one, amount)
    for one, amount in own:
        one.damage += amount  # R63
    if use.dealt and use.foe.active.has("ability-counter-20"):
        use.one.damage += 20
        game.event("ability-counter-20", "R68")
    yield from effect.after(use, 0)
