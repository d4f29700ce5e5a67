"""The effects of attacks, one by one (R117 to R138)."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from twinstep.contracts.tcgjax.layout import Ask
from twinstep.oracles.tcgjax import objects

if TYPE_CHECKING:
    from twinstep.oracles.tcgjax.attack import Use
    from twinstep.oracles.tcgjax.objects import Pokemon

Choices = Generator[Any, int, None]
Hits = list[tuple["Pokemon", int]]


class Effect:
    """The effect of an attack beyond its plain damage, or instead of it. This one adds nothing."""

    coins = 0

    def flip(self, use: Use) -> None:
        """R55."""
        if self.coins:
            use.coins = use.game.flip(self.coins)

    def fails(self, use: Use) -> bool:
        """Return whether the attack does nothing (R59)."""
        return False

    def choose(self, use: Use) -> Choices:
        """R56."""
        yield from ()

    def number(self, use: Use) -> int:
        """Return the damage for the other's Active Pokemon before R60."""
        return use.attack.damage

    def bench(self, use: Use) -> Hits:
        """Return the damage of the other's Benched Pokemon before R62."""
        return []

    def own(self, use: Use) -> Hits:
        """Return the damage of the own Pokemon (R63)."""
        return []

    def after(self, use: Use, left: int) -> Choices:
        """Apply the other effects (R57). left: choices still to make, where one continues it."""
        yield from ()


def bench_of(use: Use, player: Any, letter: str = "") -> list[tuple[Any, int]]:
    """Return the spots of a player's Bench, of one type if a letter is given."""
    return [(player, slot) for slot, one in player.bench() if letter in ("", one.card.type)]


class CoinPlus(Effect):
    """R117."""

    def __init__(self, amount: int, coins: int = 1) -> None:
        self.amount = amount
        self.coins = coins

    def number(self, use: Use) -> int:
        return use.attack.damage + self.amount * all(use.coins)


class CoinPlusOrRecoil(CoinPlus):
    """R117."""

    def own(self, use: Use) -> Hits:
        return [] if use.heads else [(use.one, 20)]


class CoinsTimes(Effect):
    """R118."""

    def __init__(self, coins: int, amount: int) -> None:
        self.coins = coins
        self.amount = amount

    def number(self, use: Use) -> int:
        return self.amount * use.heads


class UntilTails(Effect):
    """R118."""

    def flip(self, use: Use) -> None:
        use.coins = [True] * use.game.draws.until_tails()

    def number(self, use: Use) -> int:
        return 60 * use.heads


class CoinOrNothing(Effect):
    """R119."""

    coins = 1

    def fails(self, use: Use) -> bool:
        return not use.heads


class ExtraWater(Effect):
    """R120."""

    def __init__(self, count: int, amount: int) -> None:
        self.count = count
        self.amount = amount

    def number(self, use: Use) -> int:
        cost, energy = use.attack.cost, use.one.energy
        water = energy.count("W") - cost.count("W")
        extra = min(water, len(energy) - len(cost))
        return use.attack.damage + self.amount * (extra >= self.count)


class FoeEnergyPlus(Effect):
    """R121."""

    def __init__(self, amount: int) -> None:
        self.amount = amount

    def number(self, use: Use) -> int:
        return use.attack.damage + self.amount * len(use.foe.active.energy)


class DamagedFoePlus(Effect):
    """R121."""

    def number(self, use: Use) -> int:
        return use.attack.damage + 60 * bool(use.foe.active.damage)


class PoisonedFoePlus(Effect):
    """R121."""

    def number(self, use: Use) -> int:
        return use.attack.damage + 50 * use.foe.active.poisoned


class DamagedSelfPlus(Effect):
    """R121."""

    def number(self, use: Use) -> int:
        return use.attack.damage + 60 * bool(use.one.damage)


class BenchTimes(Effect):
    """R122."""

    def __init__(self, letter: str = "") -> None:
        self.letter = letter

    def number(self, use: Use) -> int:
        return 30 * len(bench_of(use, use.me, self.letter))


class BenchNidokingPlus(Effect):
    """R122."""

    def number(self, use: Use) -> int:
        kings = sum(one.card.name == "Nidoking" for _, one in use.me.bench())
        return use.attack.damage + 50 * kings


class Snipe(Effect):
    """R123."""

    def __init__(self, amount: int, first: int = 0) -> None:
        self.amount = amount
        self.first = first

    def choose(self, use: Use) -> Choices:
        spots = [(use.foe, slot) for slot, _ in use.foe.pokemon() if slot >= self.first]
        if spots:
            use.target = yield from use.game.choose(Ask.DAMAGE, use.me, spots)

    def number(self, use: Use) -> int:
        return self.amount if use.target == (use.foe, 0) else 0

    def bench(self, use: Use) -> Hits:
        if use.target is None or use.target[1] == 0:
            return []
        return [(use.foe.slots[use.target[1]], self.amount)]  # type: ignore[list-item]


class SplashBench(Effect):
    """R124."""

    def bench(self, use: Use) -> Hits:
        return [(one, 10) for _, one in use.foe.bench()]


class RandomTargets(Effect):
    """R125."""

    def choose(self, use: Use) -> Choices:
        slots = [slot for slot, _ in use.foe.pokemon()]
        use.picked = [use.game.draws.pick(slots) for _ in range(4)]
        yield from ()

    def number(self, use: Use) -> int:
        return 50 * use.picked.count(0)

    def bench(self, use: Use) -> Hits:
        return [(one, 50 * use.picked.count(slot)) for slot, one in use.foe.bench()]


class Recoil(Effect):
    """R126."""

    def __init__(self, amount: int) -> None:
        self.amount = amount

    def own(self, use: Use) -> Hits:
        return [(use.one, self.amount)]


class HurtOwnBench(Effect):
    """R126."""

    def choose(self, use: Use) -> Choices:
        spots = bench_of(use, use.me)
        if spots:
            use.target = yield from use.game.choose(Ask.DAMAGE, use.me, spots)

    def own(self, use: Use) -> Hits:
        return [(use.me.slots[use.target[1]], 30)] if use.target else []  # type: ignore[list-item]


class OnSelf(Effect):
    """An effect on the attacker alone, unless it is about to be knocked out (R69)."""

    def after(self, use: Use, left: int) -> Choices:
        if not use.one.falling and (not self.coins or use.heads):
            self.touch(use, use.one)
        yield from ()

    def touch(self, use: Use, one: Pokemon) -> None:
        """Apply it."""
        raise NotImplementedError


class HealSelf(OnSelf):
    """R127."""

    def __init__(self, amount: int) -> None:
        self.amount = amount

    def touch(self, use: Use, one: Pokemon) -> None:
        one.heal(self.amount)


class Drain(OnSelf):
    """R127."""

    def touch(self, use: Use, one: Pokemon) -> None:
        one.heal(use.dealt)


class OnVictim(Effect):
    """An effect on the other's Active Pokemon alone, where it may be touched (R69, R80)."""

    def after(self, use: Use, left: int) -> Choices:
        victim = use.victim()
        if victim is not None and (not self.coins or use.heads):
            self.touch(use, victim)
        yield from ()

    def touch(self, use: Use, victim: Pokemon) -> None:
        """Apply it."""
        raise NotImplementedError


class Sleep(OnVictim):
    """R128."""

    def touch(self, use: Use, victim: Pokemon) -> None:
        victim.condition = objects.ASLEEP


class Poison(OnVictim):
    """R128."""

    def touch(self, use: Use, victim: Pokemon) -> None:
        victim.poisoned = True


class CoinParalyze(OnVictim):
    """R128."""

    coins = 1

    def touch(self, use: Use, victim: Pokemon) -> None:
        victim.condition = objects.PARALYZED


class Last(OnVictim):
    """R129, R130. An effect on the other's Active Pokemon until its next turn has ended."""

    def __init__(self, name: str, amount: int = 0, coins: int = 0) -> None:
        self.name = name
        self.amount = amount
        self.coins = coins

    def touch(self, use: Use, victim: Pokemon) -> None:
        victim.effects[self.name] = objects.Effect(use.game.turn + 1, self.amount)


class Shield(OnSelf):
    """R130. An effect on the attacker until the other's next turn has ended."""

    def __init__(self, name: str, amount: int = 0, coins: int = 0) -> None:
        self.name = name
        self.amount = amount
        self.coins = coins

    def touch(self, use: Use, one: Pokemon) -> None:
        one.effects[self.name] = objects.Effect(use.game.turn + 1, self.amount)


class NoSupporters(Effect):
    """R131."""

    def after(self, use: Use, left: int) -> Choices:
        use.foe.no_supporters = use.game.turn + 1
        yield from ()


class DiscardOwn(OnSelf):
    """R132."""

    def __init__(self, letter: str = "", count: int = 99) -> None:
        self.letter = letter
        self.count = count

    def touch(self, use: Use, one: Pokemon) -> None:
        fitting = [letter for letter in one.energy if self.letter in ("", letter)]
        use.me.strip(one, fitting[: self.count])


class DiscardRandom(OnVictim):
    """R133."""

    def __init__(self, coins: int = 0) -> None:
        self.coins = coins

    def touch(self, use: Use, victim: Pokemon) -> None:
        if victim.energy:
            in_order = [letter for letter in "GRWLPFDM" for _ in range(victim.energy.count(letter))]
            use.foe.strip(victim, [use.game.draws.pick(in_order)])


class ChargeSelf(OnSelf):
    """R134."""

    def touch(self, use: Use, one: Pokemon) -> None:
        use.game.charge(one, "M")


class AttachBench(Effect):
    """R134."""

    def __init__(self, letter: str, coins: int = 0) -> None:
        self.letter = letter
        self.coins = coins

    def after(self, use: Use, left: int) -> Choices:
        spots = bench_of(use, use.me, self.letter)
        left = left or (use.heads if self.coins else 1)
        while spots and left:
            _, slot = yield from use.game.choose(Ask.ATTACH, use.me, spots, left)
            one = use.me.slots[slot]
            assert one is not None
            use.game.charge(one, self.letter)
            left -= 1


class SwitchSelf(Effect):
    """R135."""

    def after(self, use: Use, left: int) -> Choices:
        spots = bench_of(use, use.me)
        if spots and not use.one.falling:  # R69
            _, slot = yield from use.game.choose(Ask.SWITCH, use.me, spots)
            use.me.swap(slot)


class Push(Effect):
    """R135."""

    def after(self, use: Use, left: int) -> Choices:
        if use.victim() is not None and use.foe.bench():
            yield from use.game.push(use.foe)


class DrawCard(Effect):
    """R136."""

    def after(self, use: Use, left: int) -> Choices:
        use.game.draw(use.me)
        yield from ()


class RevealHand(Effect):
    """R136."""

    def after(self, use: Use, left: int) -> Choices:
        use.game.reveal(use.foe)
        yield from ()


class CoinDiscardHand(Effect):
    """R136."""

    coins = 1

    def after(self, use: Use, left: int) -> Choices:
        if use.heads and use.foe.hand:
            use.foe.toss(use.game.draws.pick(use.foe.hand))
        yield from ()


class SearchGrass(Effect):
    """R137."""

    def after(self, use: Use, left: int) -> Choices:
        me = use.me
        if len(me.hand) < use.game.rules["hand"]:
            found = [p for p in me.deck if p.card.kind == "Pokemon" and p.card.type == "G"]
            if found:
                piece = use.game.draws.pick(found)
                me.deck.remove(piece)
                me.hand.append(piece)
            use.game.shuffle(me)
        yield from ()


class CallNidoran(Effect):
    """R137."""

    def after(self, use: Use, left: int) -> Choices:
        me = use.me
        if me.room() is not None:
            found = [piece for piece in me.deck if piece.card.name == "Nidoran♂"]
            if found:
                piece = use.game.draws.pick(found)
                me.deck.remove(piece)
                me.put(piece, use.game.turn)
            use.game.shuffle(me)
        yield from ()


class CoinShuffleFoe(OnVictim):
    """R138."""

    coins = 1

    def touch(self, use: Use, victim: Pokemon) -> None:
        foe = use.foe
        foe.strip(victim, list(victim.energy))
        foe.slots[0] = None
        foe.deck += victim.stack
        use.game.shuffle(foe)


EFFECTS: dict[str, Effect] = {
    "coin-plus-30": CoinPlus(30),
    "coin-plus-40": CoinPlus(40),
    "coins2-both-plus-80": CoinPlus(80, coins=2),
    "coin-plus-40-or-recoil-20": CoinPlusOrRecoil(40),
    "coins2-times-30": CoinsTimes(2, 30),
    "coins2-times-50": CoinsTimes(2, 50),
    "coins2-times-80": CoinsTimes(2, 80),
    "coins2-times-100": CoinsTimes(2, 100),
    "coins4-times-40": CoinsTimes(4, 40),
    "coins4-times-50": CoinsTimes(4, 50),
    "coins-until-tails-times-60": UntilTails(),
    "coin-or-nothing": CoinOrNothing(),
    "extra-water-2-plus-60": ExtraWater(2, 60),
    "extra-water-3-plus-70": ExtraWater(3, 70),
    "foe-energy-plus-20": FoeEnergyPlus(20),
    "foe-energy-plus-30": FoeEnergyPlus(30),
    "damaged-foe-plus-60": DamagedFoePlus(),
    "poisoned-foe-plus-50": PoisonedFoePlus(),
    "damaged-self-plus-60": DamagedSelfPlus(),
    "bench-times-30": BenchTimes(),
    "bench-lightning-times-30": BenchTimes("L"),
    "bench-nidoking-plus-50": BenchNidokingPlus(),
    "snipe-30": Snipe(30),
    "snipe-50": Snipe(50),
    "snipe-bench-30": Snipe(30, first=1),
    "splash-bench-10": SplashBench(),
    "random-4-times-50": RandomTargets(),
    "recoil-20": Recoil(20),
    "recoil-50": Recoil(50),
    "hurt-own-bench-30": HurtOwnBench(),
    "heal-self-10": HealSelf(10),
    "heal-self-30": HealSelf(30),
    "drain": Drain(),
    "sleep": Sleep(),
    "poison": Poison(),
    "coin-paralyze": CoinParalyze(),
    "no-attack": Last("no_attack"),
    "coin-no-attack": Last("no_attack", coins=1),
    "no-retreat": Last("no_retreat"),
    "weaken-20": Last("weakened", 20),
    "guard-20": Shield("guarded", 20),
    "coin-immune": Shield("immune", coins=1),
    "no-supporters": NoSupporters(),
    "discard-fire": DiscardOwn("R", 1),
    "discard-fire-2": DiscardOwn("R", 2),
    "discard-psychic-2": DiscardOwn("P", 2),
    "discard-all": DiscardOwn(),
    "discard-random-energy": DiscardRandom(),
    "coin-discard-random-energy": DiscardRandom(coins=1),
    "charge-self-metal": ChargeSelf(),
    "attach-bench-grass": AttachBench("G"),
    "coins3-attach-bench-fire": AttachBench("R", coins=3),
    "switch-self": SwitchSelf(),
    "push": Push(),
    "draw-1": DrawCard(),
    "reveal-hand": RevealHand(),
    "coin-discard-hand": CoinDiscardHand(),
    "search-grass-to-hand": SearchGrass(),
    "call-nidoran": CallNidoran(),
    "coin-shuffle-foe": CoinShuffleFoe(),
}
