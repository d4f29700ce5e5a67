"""Each trainer and each ability of the reference, by its ruling."""

import re
from pathlib import Path

import pytest

from twinstep.contracts.tcgjax.layout import ABILITY, CHOOSE, END, PLAY, Ask
from twinstep.oracles.tcgjax import game as game_module
from twinstep.oracles.tcgjax.abilities import ABILITIES
from twinstep.oracles.tcgjax.draws import Draws
from twinstep.oracles.tcgjax.trainers import TRAINERS
from twinstep.tests.support.tcgjax_boards import WALL, board, let_coins_be, one

HURT = {"damage": 60}


def names(pieces):
    return [piece.card.name for piece in pieces]


def options(game, first, last):
    return sorted(a - first for a in game.decision.options if first <= a < last)


def plays(game, at=0):
    return options(game, PLAY + 5 * at, PLAY + 5 * at + 5)


def played(card, mine, theirs=(WALL,), target=0, hand=(), **having):
    """Play a card as the first of the hand and return the game."""
    game = board(mine, theirs, hand=[card, *hand], **having)
    game.step(PLAY + target)
    return game


class TestItems:
    def test_potion(self):
        """R90, R42, R66."""
        assert plays(board([one("Pikachu"), one("Machop", **HURT)], hand=["Potion"])) == [2]
        game = played("Potion", ["Pikachu", one("Machop", damage=10)], target=2)
        assert game.me.slots[1].damage == 0
        assert names(game.me.discards) == ["Potion"]

    def test_hand_scope(self):
        """R92, R43."""
        assert plays(board(["Pikachu"], hand=["Hand Scope"])) == []
        game = played("Hand Scope", ["Pikachu"], their_hand=["Erika", "Potion"])
        assert game.foe.shown == set(game.foe.hand)

    def test_pokedex(self):
        """R93."""
        assert played("Pokédex", ["Pikachu"]).me.peeked == 3

    def test_poke_ball(self):
        """R94, R25."""
        game = played("Poké Ball", ["Pikachu"])
        assert [piece.card.basic for piece in game.me.hand] == [True]
        assert len(game.me.deck) == 20 - 3
        assert game.draws.count == 50 + 2
        none = board(["Pikachu"], hand=["Poké Ball"])
        none.me.deck = [piece for piece in none.me.deck if piece.card.name == "none"]
        none.resume(Ask.TURN)
        assert plays(none) == []

    def test_red_card(self):
        """R95, R87."""
        assert plays(board(["Pikachu"], hand=["Red Card"])) == []
        game = board(["Pikachu"], hand=["Red Card"], their_hand=["Erika"] * 5)
        game.foe.peeked = 2
        game.step(PLAY)
        assert len(game.foe.hand) == 3
        assert len(game.foe.deck) == 19 - 3
        assert (game.foe.peeked, game.foe.shown) == (0, set())


class TestSupporters:
    def test_one_a_turn(self):
        """R41, R31."""
        game = played("Giovanni", ["Pikachu"], hand=["Professor's Research"])
        assert plays(game) == []

    def test_professors_research(self):
        """R96."""
        assert len(played("Professor's Research", ["Pikachu"]).me.hand) == 2

    def test_erika(self):
        """R97."""
        mine = [one("Pikachu", **HURT), one("Bulbasaur", **HURT), "Bulbasaur"]
        assert plays(board(mine, hand=["Erika"])) == [2]
        assert played("Erika", mine, target=2).me.slots[1].damage == 10

    def test_misty(self):
        """R98, R13, R105."""
        assert plays(board(["Pikachu", "Squirtle"], hand=["Misty"])) == [2]
        game = board(["Pikachu", "Squirtle"], hand=["Misty"])
        let_coins_be(game, "HHT")
        game.step(PLAY + 2)
        assert game.me.slots[1].energy == ["W", "W"]

    def test_blaine(self):
        """R99, R60."""
        assert plays(board(["Pikachu"], hand=["Blaine"])) == []
        game = played("Blaine", [one("Magmar", "RR")], ["Charizard"])
        game.step(62)
        assert game.players[1].active.damage == 80
        game = played("Blaine", [one("Pikachu", "L"), "Magmar"])
        game.step(62)
        assert game.players[1].active.damage == 20

    def test_koga(self):
        """R100, R48, R88."""
        assert plays(board(["Muk"], hand=["Koga"])) == []
        assert plays(board(["Pikachu", "Muk"], hand=["Koga"])) == []
        game = played("Koga", [one("Weezing", "DD", **HURT), "Machop"])
        assert (game.decision.ask, game.decision.then) == (Ask.PROMOTE, 0)
        assert names(game.me.hand) == ["Weezing"]
        assert game.me.shown == set(game.me.hand)
        game.step(CHOOSE + 1)
        assert (game.turn, game.me.active.card.name, game.me.spent["D"]) == (5, "Machop", 2)

    def test_koga_with_a_hand_that_gets_full(self):
        """R100, R2."""
        game = board(["Muk", "Machop", "Grimer"], hand=["Koga", *["Potion"] * 9])
        stack = game.me.active.stack
        stack.insert(0, game.me.slots[2].stack[0])
        game.me.slots[2] = None
        game.resume(Ask.TURN)
        game.step(PLAY)
        assert names(game.me.hand)[-1] == "Grimer"
        assert names(game.me.discards) == ["Koga", "Muk"]

    def test_brock(self):
        """R102."""
        assert plays(board(["Pikachu", "Onix", "Golem"], hand=["Brock"])) == [2, 3]
        assert played("Brock", ["Onix"], target=1).me.active.energy == ["F"]

    def test_sabrina(self):
        """R103, R44."""
        assert plays(board(["Pikachu"], hand=["Sabrina"])) == []
        game = played("Sabrina", ["Pikachu"], [one(WALL, poisoned=True), "Machop", "Vulpix"])
        assert (game.decision.ask, game.decision.asked) == (Ask.PUSHED, 1)
        assert options(game, CHOOSE, CHOOSE + 32) == [1, 2]
        game.step(CHOOSE + 2)
        assert game.foe.active.card.name == "Vulpix"
        assert not game.foe.slots[2].poisoned
        assert game.decision.ask == Ask.TURN

    def test_lt_surge(self):
        """R104."""
        assert plays(board(["Raichu", one("Machop", "F")], hand=["Lt. Surge"])) == []
        assert plays(board(["Pikachu", one("Machop", "L")], hand=["Lt. Surge"])) == []
        game = played("Lt. Surge", ["Raichu", one("Machop", "LFL"), one("Vulpix", "L")])
        assert game.me.active.energy == ["L"] * 3
        assert [slot.energy for slot in game.me.slots[1:3]] == [["F"], []]


class TestAbilities:
    def test_healing_each(self):
        """R106."""
        assert not options(board(["Butterfree"]), ABILITY, ABILITY + 4)
        game = board(["Butterfree", one("Machop", **HURT), one("Vulpix", damage=10)])
        game.step(ABILITY)
        assert [slot.damage for slot in game.me.slots[:3]] == [0, 40, 0]

    def test_pulling_a_basic(self):
        """R107."""
        foes = [WALL, "Ivysaur", "Machop", "Helix Fossil"]
        assert not options(board(["Pikachu", "Victreebel"], foes), ABILITY, ABILITY + 4)
        assert not options(board(["Victreebel"], foes[:2]), ABILITY, ABILITY + 4)
        game = board(["Victreebel"], foes)
        game.step(ABILITY)
        assert options(game, CHOOSE, CHOOSE + 32) == [6, 7]
        game.step(CHOOSE + 6)
        assert game.foe.active.card.name == "Machop"

    def test_sniping_may_knock_out(self):
        """R108, R64, R83."""
        game = board(["Greninja"], [one("Charmander", damage=40), "Machop"])
        game.step(ABILITY)
        assert (game.decision.ask, game.decision.asked) == (Ask.SNIPE, 0)
        game.step(CHOOSE + 4)
        assert (game.decision.ask, game.decision.asked, game.decision.then) == (Ask.PROMOTE, 1, 0)
        game.step(CHOOSE + 1)
        assert (game.decision.ask, game.turn, game.me.points) == (Ask.TURN, 5, 1)
        other = board(["Greninja"], ["Charmander"])
        other.step(ABILITY)
        other.step(CHOOSE + 4)
        assert other.foe.active.damage == 20  # no weakness

    def test_charging(self):
        """R109, R110, R105."""
        game = board(["Pikachu", "Magneton"])
        game.step(ABILITY + 1)
        assert game.me.slots[1].energy == ["L"]
        assert not options(board(["Pikachu", "Gardevoir"]), ABILITY, ABILITY + 4)
        game = board(["Jynx", "Gardevoir"])
        game.step(ABILITY + 1)
        assert game.me.active.energy == ["P"]

    @pytest.mark.parametrize(("coin", "condition"), [("H", "Asleep"), ("T", "")])
    def test_sending_to_sleep(self, coin, condition):
        """R111, R70."""
        game = board(["Hypno"], [one(WALL, condition="")])
        let_coins_be(game, coin)
        game.step(ABILITY)
        assert game.foe.active.condition == condition

    def test_poisoning(self):
        """R112."""
        assert not options(board(["Pikachu", "Weezing"]), ABILITY, ABILITY + 4)
        game = board(["Weezing"])
        game.step(ABILITY)
        assert game.foe.active.poisoned

    def test_pushing(self):
        """R113."""
        assert not options(board(["Pidgeot"]), ABILITY, ABILITY + 4)
        game = board(["Pidgeot"], [WALL, "Machop"])
        game.step(ABILITY)
        assert (game.decision.ask, game.decision.asked) == (Ask.PUSHED, 1)
        game.step(CHOOSE + 1)
        assert game.foe.active.card.name == "Machop"
        assert game.decision.ask == Ask.TURN

    def test_peeking(self):
        """R114, R87."""
        game = board(["Porygon"])
        game.step(ABILITY)
        assert game.me.peeked == 1
        game.me.peeked = 3
        game.me.active.used = False
        game.resume(Ask.TURN)
        game.step(ABILITY)
        assert game.me.peeked == 3

    def test_a_shadow_forbids_supporters_while_it_is_active(self):
        """R115, R44."""
        assert plays(board(["Pikachu"], ["Gengar ex"], hand=["Giovanni"])) == []
        assert plays(board(["Pikachu"], [WALL, "Gengar ex"], hand=["Giovanni"])) == [0]


def test_an_effects_of_a_turn_is_gone_after_it():
    """R79, R75."""
    game = board(["Pikachu"], no_supporters=0)
    game.foe.no_supporters = 6
    game.step(END)
    assert game.me.no_supporters == 6
    game.step(END)
    assert game.foe.no_supporters == 0


def _told():
    """Return the rulings in force, and the text of all tests of this game."""
    rulings = Path(game_module.__file__).with_name("RULES.md").read_text(encoding="utf-8")
    tests = Path(__file__).parent.glob("test_*.py")
    return rulings, "".join(path.read_text(encoding="utf-8") for path in tests)


def test_every_trainer_and_every_ability_has_a_ruling_that_a_test_names():
    rulings, tests = _told()
    for code in (*TRAINERS, *ABILITIES):
        ruling = re.search(rf"\*\*(R\d+)\*\* `{code}`", rulings)
        assert ruling, code
        assert re.search(rf"\b{ruling[1]}\b", tests), code


def test_every_ruling_is_named_by_a_test():
    rulings, tests = _told()
    given = re.findall(r"\*\*(R\d+)\*\* (\(withdrawn)?", rulings)
    assert [name for name, _ in given] == [f"R{n + 1}" for n in range(len(given))]
    named = set(re.findall(r"\bR\d+\b", tests))
    assert [name for name, withdrawn in given if not withdrawn and name not in named] == []


def test_the_boards_coins_are_those_that_were_asked_for():
    game = board(["Pikachu"])
    let_coins_be(game, "HT", "T")
    draws = Draws(game.draws.seed, 1, game.draws.count)
    assert [draws.coins(2), draws.coins(1)] == [[True, False], [False]]
