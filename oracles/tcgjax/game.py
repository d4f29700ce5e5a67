"""A game from its beginning to its end: turns, choices, knock-outs.

The course of a game is a generator that yields a Decision wherever a player has to choose, and
continues with the chosen action. `resume` begins such a course at any open choice, so that a game
can continue from its state.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple

from twinstep.contracts.tcgjax.cards import ENERGY, Card
from twinstep.contracts.tcgjax.layout import CHOOSE, END, PLAY, Ask, Then
from twinstep.oracles.tcgjax import attack, options
from twinstep.oracles.tcgjax.draws import Draws
from twinstep.oracles.tcgjax.objects import ASLEEP, PARALYZED, Player, Pokemon

Course = Generator["Decision", int, None]
Spot = tuple[Player, int]


class Decision(NamedTuple):
    """A player's open decision: `options` maps each legal action to its meaning."""

    ask: Ask
    asked: int
    options: Mapping[int, Any]
    left: int = 0
    arg: int = 0
    then: int = 0


class Illegal(Exception):
    """An action that the rulings do not allow; nothing changed (R51)."""


class _Over(Exception):
    """The game has ended."""


class Game:
    """One game. rules: R1 to R6 by name; lists: both deck lists; types: letters of both (R10)."""

    def __init__(
        self,
        rules: Mapping[str, int],
        seed: tuple[int, int],
        lists: list[list[Card]],
        types: list[str],
    ) -> None:
        self.rules = rules
        self.draws = Draws(seed, rules["heads"])
        self.players = [Player(n, lists[n], types[n]) for n in range(2)]
        self.first = self.player = self.turn = self.winner = 0
        self.supporter = self.retreated = False
        self.bonus = self.blaze = self.quick = 0
        self.attack = 0
        self.decision: Decision | None = None
        self.happened: set[str] = set()
        self.story: list[str] = []
        self._course: Course

    @property
    def me(self) -> Player:
        """Return the player whose turn it is."""
        return self.players[self.player]

    @property
    def foe(self) -> Player:
        """Return the other player."""
        return self.players[1 - self.player]

    def other(self, player: Player) -> Player:
        """Return a player's opponent."""
        return self.players[1 - player.number]

    # -- the outside ---------------------------------------------------------------------------

    def begin(self) -> None:
        """R16 to R19."""
        self.first = self.player = 0 if self.flip(1)[0] else 1
        self.say("R16", f"player {self.first} goes first")
        for player in self.players:
            basic = self.draws.pick([piece for piece in player.list if piece.card.basic])
            rest = [piece for piece in player.list if piece is not basic]
            player.deck = self.draws.shuffle(rest)
            player.hand = [basic, *player.deck[:4]]
            del player.deck[:4]
        for player in self.players:
            player.next = self.draws.pick(player.types)
        self.resume(Ask.ACTIVE)

    def step(self, action: int) -> None:
        """Play the acting player's action; Illegal, with a ruling, if it is not allowed."""
        self.happened, self.story = set(), []
        if self.decision is None:
            raise Illegal(f"action {action}: the game is over (R82)")
        if action not in self.decision.options:
            raise Illegal(f"action {action} is not legal now ({options.ruling(self, action)})")
        self._advance(action)

    def resume(self, ask: Ask, left: int = 0, arg: int = 0, then: int = 0) -> None:
        """Begin the course at an open choice."""
        self.alone(self._from(ask, left, arg, Then(then)))

    def alone(self, part: Course) -> None:
        """Run one part of a course by itself, to its first choice or its end."""
        self._course = self._to_the_end(part)
        self._advance(None)

    def _to_the_end(self, part: Course) -> Course:
        try:
            yield from part
        except _Over:
            return

    def _advance(self, action: int | None) -> None:
        try:
            self.decision = next(self._course) if action is None else self._course.send(action)
        except StopIteration:
            self.decision = None
            self.attack = 0

    # -- the course ----------------------------------------------------------------------------

    def _from(self, ask: Ask, left: int, arg: int, then: Then) -> Course:
        yield from self._finish(ask, left, arg, then)
        while True:
            yield from self._turn()

    def _finish(self, ask: Ask, left: int, arg: int, then: Then) -> Course:
        """Run from an open choice until the turn goes on, or the next one begins."""
        if ask in (Ask.ACTIVE, Ask.BENCH):
            yield from self._placing(ask)
        elif ask == Ask.PROMOTE:
            yield from self._promotions(then)
            yield from self.after(then)
        elif ask == Ask.PAY:
            yield from options.pay(self, arg, left)
        elif ask == Ask.PULL:
            yield from self.pull()
        elif ask == Ask.SNIPE:
            yield from self.snipe()
        elif ask == Ask.PUSHED and not self.attack:
            yield from self.push(self.foe)
        elif ask != Ask.TURN:
            yield from attack.resumed(self, ask, left)
            yield from self.ended_by_attack()

    def _placing(self, ask: Ask) -> Course:
        """R19."""
        while True:
            player = self.me
            if ask == Ask.ACTIVE:
                chosen = yield self._ask(ask, player, options.basics(player, target=1))
                piece = player.hand[(chosen - PLAY) // 5]
                player.leave_hand(piece)
                player.slots[0] = Pokemon([piece], 0)
            while True:
                free = options.basics(player, target=0) if player.room() else {}
                chosen = yield self._ask(Ask.BENCH, player, {END: None, **free})
                if chosen == END:
                    break
                piece = player.hand[(chosen - PLAY) // 5]
                player.leave_hand(piece)
                player.put(piece, 0)
            if self.player != self.first:
                break
            self.player, ask = 1 - self.player, Ask.ACTIVE
        self.player = self.first
        self.begin_turn()

    def begin_turn(self) -> None:
        """R27 to R29."""
        self.turn += 1
        self.say("R28", f"turn {self.turn}: player {self.player} draws")
        self.draw(self.me)
        if self.turn > 1:
            self.me.current = self.me.next
            self.me.next = self.draws.pick(self.me.types)

    def _turn(self) -> Course:
        """R31: a player's actions until the turn has ended."""
        while True:
            legal = options.of_turn(self)
            chosen = yield self._ask(Ask.TURN, self.me, legal)
            if chosen == END:
                yield from self._end_turn()
                return
            place = options.attack_of(chosen)
            if place is not None:
                yield from attack.begun(self, place)
                yield from self.ended_by_attack()
                return
            yield from legal[chosen]() or ()

    def ended_by_attack(self) -> Course:
        """R58."""
        self.attack = 0
        yield from self.knock_outs(Then.CHECKUP)
        yield from self._end_turn()

    def _end_turn(self) -> Course:
        """R75, R72, R74."""
        self.expire()
        self.checkup()
        yield from self.knock_outs(Then.NEXT)
        yield from self.after(Then.NEXT)

    def expire(self) -> None:
        """R75."""
        self.me.current = ""
        self.supporter = self.retreated = False
        self.bonus = self.blaze = self.quick = 0
        for player in self.players:
            if player.no_supporters <= self.turn:
                player.no_supporters = 0
            for _, one in player.pokemon():
                one.used = False
                one.effects = {k: v for k, v in one.effects.items() if v.until > self.turn}

    def after(self, then: Then) -> Course:
        """Run the continuation once nobody has to promote any more."""
        if then == Then.CHECKUP:
            yield from self._end_turn()
        elif then == Then.NEXT:
            self.player = 1 - self.player
            self.begin_turn()

    def checkup(self) -> None:
        """R72, R73."""
        both = [self.me.active, self.foe.active]
        for one in both:
            if one.poisoned:
                one.damage += self.rules["poison"]
                self.event("poison damage", "R72")
        for one in both:
            one.damage += 20 * one.burned
        for one in both:
            if one.burned and self.flip(1)[0]:
                one.burned = False
        for one in both:
            if one.condition == ASLEEP:
                self.event("asleep", "R72")
                if self.flip(1)[0]:
                    one.condition = ""
        if both[0].condition == PARALYZED:
            both[0].condition = ""
            self.event("paralysis over", "R72")

    # -- knock-outs and choices that several effects share -----------------------------------------

    def knock_outs(self, then: Then) -> Course:
        """R81 to R84."""
        fallen = [0, 0]
        for player in (self.me, self.foe):
            for slot, one in player.pokemon():
                if one.falling:
                    fallen[player.number] += 1
                    player.discard(slot)
                    self.other(player).points += one.card.points
                    self.say("R81", f"player {player.number}'s {one.card.name} is knocked out")
        if sum(fallen):
            names = {Then.TURN: "by ability", Then.CHECKUP: "by attack", Then.NEXT: "after a turn"}
            self.event(f"knock-out {names[then]}", "R81")
        if fallen[self.player]:
            self.event("knock-out of one's own", "R81")
        if all(fallen):
            self.event("both knocked out", "R81")
        self._judge()
        if then == Then.NEXT and self.turn >= self.rules["turns"]:
            self.event("tie after the last turn", "R84")
            self._end(3)
        yield from self._promotions(then)

    def _judge(self) -> None:
        """R82."""
        rich = [player.points >= self.rules["points"] for player in self.players]
        gone = [not player.pokemon() for player in self.players]
        wins = [rich[0] or gone[1], rich[1] or gone[0]]
        if all(wins):
            self.event("tie of both", "R82")
            self._end(3)
        if any(wins):
            winner = wins.index(True)
            self.event("won by points" if rich[winner] else "won without Pokemon left", "R82")
            self._end(1 + winner)

    def _end(self, winner: int) -> None:
        self.winner = winner
        raise _Over

    def _promotions(self, then: Then) -> Course:
        """R83."""
        for player in (self.foe, self.me):
            if player.slots[0] is None:
                bench = [(player, slot) for slot, _ in player.bench()]
                _, slot = yield from self.choose(Ask.PROMOTE, player, bench, then=then)
                player.swap(slot)
                self.event(f"promotion of player {player.number}", "R83")

    def promote(self) -> Course:
        """R35, R100: the player whose turn it is chooses a new Active Pokemon."""
        yield from self._promotions(Then.TURN)

    def push(self, victim: Player) -> Course:
        """R103."""
        bench = [(victim, slot) for slot, _ in victim.bench()]
        _, slot = yield from self.choose(Ask.PUSHED, victim, bench)
        victim.swap(slot)

    def pull(self) -> Course:
        """R107."""
        basics = [(self.foe, slot) for slot, one in self.foe.bench() if one.card.stage == "Basic"]
        _, slot = yield from self.choose(Ask.PULL, self.me, basics)
        self.foe.swap(slot)

    def snipe(self) -> Course:
        """R108."""
        spots = [(self.foe, slot) for slot, _ in self.foe.pokemon()]
        _, slot = yield from self.choose(Ask.SNIPE, self.me, spots)
        one = self.foe.slots[slot]
        assert one is not None
        one.damage += 20
        yield from self.knock_outs(Then.TURN)

    def choose(
        self, ask: Ask, player: Player, spots: list[Spot], left: int = 0, then: Then = Then.TURN
    ) -> Generator[Decision, int, Spot]:
        """Let a player choose one of these Pokemon."""
        named = {CHOOSE + slot + 4 * (owner is not player): (owner, slot) for owner, slot in spots}
        chosen = yield Decision(ask, player.number, named, left, then=then)
        return named[chosen]

    def _ask(
        self, ask: Ask, player: Player, legal: Mapping[int, Callable[..., Any] | None]
    ) -> Decision:
        return Decision(ask, player.number, legal)

    # -- building blocks of effects ---------------------------------------------------------------

    def flip(self, count: int) -> list[bool]:
        """R12."""
        found = self.draws.coins(count)
        for heads in found:
            self.event("heads" if heads else "tails", "R12")
        return found

    def draw(self, player: Player, count: int = 1) -> None:
        """R25, R87."""
        for _ in range(count):
            if player.deck and len(player.hand) < self.rules["hand"]:
                player.hand.append(player.deck.pop(0))
                player.peeked = max(player.peeked - 1, 0)
            else:
                self.event("played on an empty deck or a full hand", "R25")

    def shuffle(self, player: Player) -> None:
        """R15, R87."""
        player.deck = self.draws.shuffle(player.deck)
        player.peeked = 0

    def reveal(self, player: Player) -> None:
        """R88."""
        player.shown |= set(player.hand)

    def charge(self, one: Pokemon, letter: str, count: int = 1) -> None:
        """R105."""
        assert letter in ENERGY
        one.energy += [letter] * count

    def event(self, name: str, ruling: str) -> None:
        """Record an event."""
        self.happened.add(name)
        self.story.append(f"{ruling}: {name}")

    def say(self, ruling: str, text: str) -> None:
        """Log a sentence."""
        self.story.append(f"{ruling}: {text}")
