"""Turns of the reference on small boards: R16 to R59, R70 to R89."""

import numpy as np
import pytest

from twinstep.contracts.tcgjax import contract
from twinstep.contracts.tcgjax.layout import (
    ABILITY,
    ATTACH,
    ATTACK,
    CHOOSE,
    END,
    OBSERVATION,
    PLAY,
    RETREAT,
    RULES,
    SCRAP,
    Ask,
)
from twinstep.frames import Start
from twinstep.oracles.tcgjax.bridge import TcgjaxOracle
from twinstep.oracles.tcgjax.draws import Draws, threefry2x32
from twinstep.oracles.tcgjax.game import Illegal
from twinstep.oracles.tcgjax.observing import observed
from twinstep.tests.support.tcgjax_boards import NAMES, WALL, attack, board, let_coins_be, one


def begun(number=0, kind="apex", **rules):
    agreed = contract({"decks": kind, **RULES, **rules})
    oracle = TcgjaxOracle(agreed)
    seed = np.array([number, 11], np.uint32)
    return oracle, oracle.reset(Start(seed, agreed.make_start(seed)))


def names(pieces):
    return [piece.card.name for piece in pieces]


def options(game, first, last):
    return sorted(a - first for a in game.decision.options if first <= a < last)


def plays(game, at=0):
    """Return the targets of the hand's card at this place."""
    return options(game, PLAY + 5 * at, PLAY + 5 * at + 5)


def play(game, target=0, at=0):
    game.step(PLAY + 5 * at + target)


class TestDraws:
    @pytest.mark.parametrize(
        ("key", "counter", "words"),
        [
            ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
            ((2**32 - 1,) * 2, (2**32 - 1,) * 2, (0x1CB996FC, 0xBB002BE7)),
            ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
        ],
    )
    def test_threefry_gives_its_published_known_answers(self, key, counter, words):
        """R11: the test vectors of Random123."""
        assert threefry2x32(key, counter) == words

    def test_each_draw_has_its_own_counter_and_kind(self):
        """R11, R12, R14, R15."""
        draws = Draws((3, 4), 1)
        assert draws.coins(3) == [bool(threefry2x32((3, 4), (0, 0))[0] >> i & 1) for i in range(3)]
        word = threefry2x32((3, 4), (1, 1))[0]
        assert draws.pick("abcde") == "abcde"[word * 5 >> 32]
        words = [w for b in range(2) for w in threefry2x32((3, 4), (2, 2 + 256 * b))][:3]
        order = sorted(range(3), key=words.__getitem__)
        assert draws.shuffle(["a", "b", "c"]) == ["abc"[i] for i in order]
        assert draws.shuffle([]) == []
        assert draws.count == 4

    def test_the_other_side_of_the_coin_is_heads_if_the_rules_say_so(self):
        """R4, R13."""
        one_, other = Draws((1, 2), 1), Draws((1, 2), 0)
        assert one_.coins(8) == [not heads for heads in other.coins(8)]
        for count in range(64):
            flips = Draws((5, 6), 1, count).coins(32)
            assert Draws((5, 6), 1, count).until_tails() == (*flips, False).index(False)


class TestTheBeginning:
    def test_hands_have_five_cards_and_a_basic_first(self):
        """R16, R17, R18."""
        for number in range(20):
            oracle, frame = begun(number)
            game = oracle.game
            for player in game.players:
                assert len(player.hand) == 5
                assert player.hand[0].card.basic
                assert len(player.deck) == 15
                assert player.next
            assert frame.state["draws"] == 1 + 2 * 2 + 2
            assert game.decision.asked == game.first

    def test_either_player_may_go_first(self):
        """R16."""
        assert {begun(number)[0].game.first for number in range(20)} == {0, 1}

    def test_both_place_and_the_second_sees_nothing_of_the_first(self):
        """R19, R20."""
        oracle, _ = begun()
        game = oracle.game
        first = game.first
        assert game.decision.ask == Ask.ACTIVE
        assert plays(game) == [1]
        play(game, 1)
        assert game.decision.ask == Ask.BENCH
        game.step(END)
        assert game.decision.asked == 1 - first
        seen = observed(game, 1 - first)
        other = [v for v, name in zip(seen, OBSERVATION, strict=True) if name.startswith("other ")]
        assert not any(other)
        play(game, 1)
        game.step(END)
        assert (game.turn, game.player) == (1, first)
        seen = dict(zip(OBSERVATION, observed(game, 1 - first), strict=True))
        assert seen["other active card 1"] == game.players[first].active.card.number

    def test_a_fossil_does_not_begin(self):
        """R9, R19."""
        for number in range(200):
            game = begun(number)[0].game
            hand = game.players[game.first].hand
            held = [at for at, piece in enumerate(hand) if piece.card.kind == "Fossil"]
            for at in held:
                assert not plays(game, at)
            if held:
                return
        raise AssertionError("no hand with a fossil")


class TestATurn:
    def test_the_first_turn_draws_but_has_no_energy(self):
        """R27, R28, R29."""
        oracle, _ = begun()
        game = oracle.game
        for _ in range(2):
            play(game, 1)
            game.step(END)
        me, foe = game.me, game.foe
        assert (len(me.hand), me.current) == (5, "")
        assert not options(game, ATTACH, ATTACH + 4)
        coming = foe.next
        game.step(END)
        assert game.turn == 2
        assert (foe.current, len(foe.hand)) == (coming, 5)

    def test_energy_is_attached_once_and_gone_if_not(self):
        """R30, R75."""
        game = board([one("Pikachu"), "Bulbasaur"])
        game.me.current = "G"
        game.resume(Ask.TURN)
        assert options(game, ATTACH, ATTACH + 4) == [0, 1]
        game.step(ATTACH + 1)
        assert game.me.slots[1].energy == ["G"]
        assert not options(game, ATTACH, ATTACH + 4)
        other = board([one("Pikachu")])
        other.me.current = "G"
        other.resume(Ask.TURN)
        other.step(END)
        assert other.players[0].current == ""
        assert not other.players[0].spent

    def test_a_basic_takes_the_free_slot_with_the_lowest_number(self):
        """R21, R32, R22."""
        game = board(["Pikachu", "Machop", None, "Vulpix"], hand=["Bulbasaur", "Erika", "Abra"])
        assert plays(game) == [0]
        play(game)
        assert game.me.slots[2].card.name == "Bulbasaur"
        assert names(game.me.hand) == ["Erika", "Abra"]
        assert plays(game, 1) == []

    def test_drawing_stops_at_a_full_hand_and_an_empty_deck(self):
        """R2, R25, R26."""
        game = board(["Pikachu"], their_hand=["Potion"] * 10)
        game.step(END)
        assert len(game.me.hand) == 10
        assert len(game.me.deck) == 20 - 11
        game = board(["Pikachu"])
        game.foe.deck = []
        game.step(END)
        assert (game.me.hand, game.winner) == ([], 0)

    def test_an_action_that_is_not_legal_names_its_ruling_and_changes_nothing(self):
        """R51."""
        oracle, frame = begun()
        with pytest.raises(Illegal, match=r"action 62 is not legal now \(R19\)"):
            oracle.step(np.array([ATTACK, ATTACK]))
        again = oracle._frame()
        assert all(np.array_equal(frame.state[name], again.state[name]) for name in frame.state)
        game = board(["Pikachu"])
        with pytest.raises(Illegal, match=r"action 55 is not legal now \(R45\)"):
            game.step(RETREAT)
        with pytest.raises(Illegal, match="no such action"):
            game.step(-1)


class TestEvolution:
    def test_it_needs_a_turn_in_play_and_keeps_damage_and_energy(self):
        """R38, R39, R40, R24."""
        having = {"damage": 30, "poisoned": True, "used": True}
        game = board([one("Bulbasaur", "GG", **having), "Bulbasaur"], hand=["Ivysaur"])
        assert plays(game) == [1, 2]
        play(game, 1)
        now = game.me.active
        assert names(now.stack) == ["Bulbasaur", "Ivysaur"]
        assert (now.damage, now.energy, now.entered) == (30, ["G", "G"], 5)
        assert not now.poisoned
        assert not now.used

    @pytest.mark.parametrize(("turn", "entered"), [(1, 0), (2, 0), (5, 5)])
    def test_it_waits(self, turn, entered):
        """R39."""
        game = board([one("Bulbasaur")], hand=["Ivysaur"], turn=turn)
        game.me.active.entered = entered
        game.resume(Ask.TURN)
        assert plays(game) == []

    def test_from_the_beginning_it_may_come_on_turn_three(self):
        """R39."""
        game = board([one("Bulbasaur")], hand=["Ivysaur"], turn=3)
        game.me.active.entered = 0
        game.resume(Ask.TURN)
        assert plays(game) == [1]

    def test_it_comes_on_its_own_kind_alone(self):
        """R38."""
        game = board(["Ivysaur", "Bulbasaur"], hand=["Venusaur"])
        assert plays(game) == [1]


class TestFossils:
    def test_one_is_played_cannot_retreat_and_may_be_discarded(self):
        """R33, R34, R35, R36."""
        game = board(["Pikachu"], hand=["Helix Fossil"])
        play(game)
        fossil = game.me.slots[1]
        assert (fossil.card.hp, fossil.card.type) == (40, "C")
        game = board([one("Helix Fossil", "GG"), "Pikachu"])
        assert not options(game, RETREAT, RETREAT + 3)
        game.step(SCRAP)
        assert game.decision.ask == Ask.PROMOTE
        game.step(CHOOSE + 1)
        assert game.me.active.card.name == "Pikachu"
        assert (game.foe.points, game.me.spent["G"]) == (0, 2)
        assert game.turn == 5
        assert options(board(["Helix Fossil"]), SCRAP, SCRAP + 4) == []
        assert options(board(["Pikachu", "Helix Fossil"]), SCRAP, SCRAP + 4) == [1]

    def test_one_evolves_and_gives_a_point(self):
        """R33, R38."""
        game = board(["Helix Fossil"], hand=["Omanyte"])
        assert plays(game) == [1]
        game = board([one("Raichu", "LLL")], ["Helix Fossil", "Pikachu"])
        attack(game, 0)
        assert game.players[0].points == 1


class TestRetreat:
    def test_it_changes_places_once_a_turn_for_its_cost(self):
        """R45, R46, R48, R53."""
        game = board([one("Pikachu", "LL", poisoned=True), "Machop", None, "Vulpix"])
        assert options(game, RETREAT, RETREAT + 3) == [0, 2]
        game.step(RETREAT + 2)
        left = game.me.slots[3]
        assert (left.card.name, left.energy, left.poisoned) == ("Pikachu", ["L"], False)
        assert game.me.spent["L"] == 1
        game.me.active.energy = ["R", "R", "R"]
        game.resume(Ask.TURN)
        assert not options(game, RETREAT, RETREAT + 3)

    @pytest.mark.parametrize("condition", ["Asleep", "Paralyzed"])
    def test_a_sleeper_stays(self, condition):
        """R45, R52."""
        game = board([one("Pikachu", "LLLL", condition=condition), "Machop"])
        assert not options(game, RETREAT, RETREAT + 3)
        assert not options(game, ATTACK, ATTACK + 3)

    def test_the_player_chooses_among_kinds_of_energy(self):
        """R47."""
        game = board([one("Snorlax", "GGRWL"), "Machop"])
        game.step(RETREAT)
        assert (game.decision.ask, game.decision.left, game.decision.arg) == (Ask.PAY, 4, 1)
        assert options(game, CHOOSE, CHOOSE + 32) == [0, 1, 2, 3]
        game.step(CHOOSE)
        assert options(game, CHOOSE, CHOOSE + 32) == [0, 1, 2, 3]
        game.step(CHOOSE + 1)
        game.step(CHOOSE + 2)
        game.step(CHOOSE + 3)
        assert game.me.slots[1].energy == ["G"]
        assert game.me.active.card.name == "Machop"

    def test_nothing_is_asked_where_all_must_go_or_all_are_alike(self):
        """R47."""
        for energy in ("GRWL", "GGGGGG"):
            game = board([one("Snorlax", energy), "Machop"])
            game.step(RETREAT)
            assert game.me.active.card.name == "Machop"
            assert len(game.me.slots[1].energy) == len(energy) - 4

    def test_x_speed_makes_it_cheaper_this_turn(self):
        """R46, R91, R75."""
        game = board([one("Pikachu"), "Machop"], hand=["X Speed", "X Speed"])
        assert not options(game, RETREAT, RETREAT + 3)
        play(game)
        play(game)
        assert options(game, RETREAT, RETREAT + 3) == [0]
        game.step(END)
        assert game.quick == 0


class TestAttacks:
    def test_costs_are_paid_by_having_the_energy(self):
        """R52, R53."""
        for energy, able in (("", []), ("GC", []), ("GG", [0]), ("GW", [0]), ("WW", [])):
            game = board([one("Bulbasaur", energy.replace("C", ""))])
            assert options(game, ATTACK, ATTACK + 3) == able
        game = board([one("Bulbasaur", "GG")])
        attack(game, 0)
        assert game.players[0].active.energy == ["G", "G"]
        assert game.player == 1  # R31, R58

    def test_the_confused_flip_first(self):
        """R54, R59."""
        for coin, damage in (("T", 0), ("H", 40)):
            game = board([one("Bulbasaur", "GG", condition="Confused")])
            let_coins_be(game, coin)
            attack(game, 0)
            assert game.players[1].active.damage == damage
            assert game.turn == 6

    def test_effects_forbid_attack_and_retreat(self):
        """R45, R52, R78."""
        game = board([one("Omastar", "WWW")], [one("Bulbasaur", "GG"), "Machop"])
        attack(game, 0)
        assert not options(game, ATTACK, ATTACK + 3)
        game = board([one("Arbok", "DD")], [one("Bulbasaur", "GG"), "Machop"])
        attack(game, 0)
        assert not options(game, RETREAT, RETREAT + 3)
        assert options(game, ATTACK, ATTACK + 3)


class TestDamage:
    def test_weakness_adds_to_what_is_not_zero(self):
        """R1, R60, R61."""
        for foe, damage in (("Bulbasaur", 40), ("Squirtle", 40)):
            game = board([one("Bulbasaur", "GG")], [foe])
            attack(game, 0)
            assert game.players[1].active.damage == damage
        game = board([one("Bulbasaur", "GG")], ["Onix"])
        attack(game, 0)
        assert game.players[1].active.damage == 60

    def test_the_order_is_bonus_weakening_weakness_protection(self):
        """R60, R101, R78, R116."""
        game = board([one("Pikachu", "L")], [one("Cloyster")], bonus=10)
        attack(game, 0)  # 20 + 10 + weakness 20 - 10
        assert game.players[1].active.damage == 40
        game = board([one("Pikachu", "L")], ["Gyarados"])
        game.me.active.effects = {"weakened": _effect(5, 20)}
        attack(game, 0)  # 20 - 20: 0, so no weakness
        assert game.players[1].active.damage == 0
        game = board([one("Pikachu", "L")], ["Gyarados"])
        game.foe.active.effects = {"guarded": _effect(5, 20)}
        attack(game, 0)  # 20 + 20 - 20
        assert game.players[1].active.damage == 20

    def test_an_immune_pokemon_feels_nothing_of_an_attack(self):
        """R80."""
        game = board([one("Venomoth", "G")], [WALL])
        game.foe.active.effects = {"immune": _effect(5)}
        attack(game, 0)
        foe = game.players[1].active
        assert (foe.damage, foe.poisoned) == (0, False)

    def test_a_counter_hurts_the_attacker_even_if_its_owner_falls(self):
        """R68."""
        game = board([one("Bulbasaur", "GG")], ["Poliwrath"])
        attack(game, 0)
        assert game.players[0].active.damage == 20
        game = board([one("Pikachu", "L")], [one("Poliwrath", damage=140), "Machop"])
        attack(game, 0)
        assert game.players[0].active.damage == 20
        assert game.players[0].points == 1

    def test_shells_protect_the_bench_too(self):
        """R62, R116."""
        game = board([one("Zebstrika", "L")], [WALL, "Cloyster", "Melmetal"])
        attack(game, 0)
        game.step(CHOOSE + 4 + 2)
        assert game.players[1].slots[2].damage == 10
        game = board([one("Zebstrika", "L")], [WALL, "Cloyster"])
        attack(game, 0)
        game.step(CHOOSE + 4 + 1)
        assert game.players[1].slots[1].damage == 20


def _effect(until, amount=0):
    from twinstep.oracles.tcgjax.objects import Effect

    return Effect(until, amount)


class TestAfterATurn:
    def test_poison_burn_and_coins_come_in_order(self):
        """R3, R70, R71, R72."""
        burned = {"poisoned": True, "burned": True, "condition": "Asleep"}
        game = board([one(WALL, **burned)], [one(WALL, condition="Asleep")])
        let_coins_be(game, "H", "T", "H")
        game.step(END)
        mine, theirs = (player.active for player in game.players)
        assert (mine.damage, mine.burned, mine.poisoned) == (30, False, True)
        assert (mine.condition, theirs.condition) == ("Asleep", "")

    def test_paralysis_ends_after_its_owners_turn(self):
        """R72."""
        game = board([one(WALL)], [one(WALL, condition="Paralyzed")])
        game.step(END)
        assert game.players[1].active.condition == "Paralyzed"
        game.step(END)
        assert game.players[1].active.condition == ""

    def test_a_coin_is_flipped_for_who_is_about_to_fall(self):
        """R73, R74, R81."""
        falling = {"poisoned": True, "condition": "Asleep", "damage": 140}
        game = board([one(WALL, **falling), "Machop"])
        before = game.draws.count
        game.step(END)
        assert game.draws.count == before + 1
        assert (game.decision.ask, game.decision.asked) == (Ask.PROMOTE, 0)
        assert game.decision.then == 2
        game.step(CHOOSE + 1)
        assert (game.turn, game.player, game.players[1].points) == (6, 1, 1)

    def test_what_was_played_for_the_turn_is_over(self):
        """R75, R76."""
        game = board(["Pikachu"], hand=["Giovanni"])
        play(game)
        assert (game.supporter, game.bonus) == (True, 10)
        game.step(END)
        assert (game.supporter, game.bonus, game.retreated) == (False, 0, False)


class TestKnockOuts:
    def test_points_are_two_for_an_ex(self):
        """R81, R36, R23."""
        for foe, points in (("Pikachu", 1), ("Pikachu ex", 2)):
            game = board([one("Raichu", "LLL")], [one(foe, "LG"), "Machop"])
            attack(game, 0)
            assert game.players[0].points == points
            assert names(game.players[1].discards) == [foe]
            assert game.players[1].spent == {"L": 1, "G": 1}
            assert (game.decision.ask, game.decision.asked) == (Ask.PROMOTE, 1)
            assert game.decision.then == 1
            game.step(CHOOSE + 1)
            assert game.turn == 6

    def test_three_points_or_no_pokemon_left_win_at_once(self):
        """R6, R82, R85."""
        game = board([one("Raichu", "LLL")], ["Pikachu", "Machop"])
        game.me.points = 2
        attack(game, 0)
        assert (game.winner, game.decision) == (1, None)
        game = board([one("Raichu", "LLL")], ["Pikachu"])
        attack(game, 0)
        assert game.winner == 1
        assert game.turn == 5

    def test_both_at_once_is_a_tie(self):
        """R82."""
        game = board([one("Golem", "FFFF", damage=120)], ["Pikachu"])
        attack(game, 0)
        assert game.winner == 3

    def test_if_both_must_choose_the_other_player_does_first(self):
        """R83, R49, R50."""
        game = board([one("Golem", "FFFF", damage=120), "Machop"], ["Pikachu", "Vulpix"])
        attack(game, 0)
        assert game.decision.asked == 1
        assert set(game.decision.options) == {CHOOSE + 1}
        game.step(CHOOSE + 1)
        assert game.decision.asked == 0
        game.step(CHOOSE + 1)
        assert game.turn == 6

    def test_the_last_turn_ends_in_a_tie_before_anybody_chooses(self):
        """R5, R84."""
        game = board([one("Pikachu")], [one(WALL, poisoned=True, damage=140), "Vulpix"], turn=30)
        game.step(END)
        assert (game.winner, game.decision) == (3, None)
        game = board([one("Pikachu")], turn=29)
        game.step(END)
        assert (game.winner, game.turn) == (0, 30)

    def test_rewards_are_one_minus_one_or_nothing(self):
        """R85."""
        for number in range(40):
            oracle, frame = begun(number)
            rng = np.random.default_rng(number)
            while not frame.terminated:
                assert not frame.reward.any()
                legal = np.argwhere(frame.legal)
                action = np.zeros(2, np.int32)
                who, chosen = legal[rng.integers(len(legal))]
                action[who] = chosen
                frame = oracle.step(action)
            winner = int(frame.state["winner"])
            wanted = {1: [1, -1], 2: [-1, 1], 3: [0, 0]}[winner]
            assert frame.reward.tolist() == wanted
            assert not frame.acting.any()
            if winner != 3:
                return
        raise AssertionError("nobody won")


class TestKnowledge:
    def test_an_observation_holds_what_its_player_knows(self):
        """R86, R87, R88, R37."""
        game = board(["Pikachu"], hand=["Pokédex"], their_hand=["Erika", "Potion"])
        game.foe.shown = {game.foe.hand[1]}
        play(game)
        seen = dict(zip(OBSERVATION, observed(game, 0), strict=True))
        numbers = [piece.card.number for piece in game.me.deck[:3]]
        assert [seen[f"top {n}"] for n in range(3)] == numbers
        assert (seen["other hand 0"], seen["other hand 1"]) == (0, NAMES["Potion"].number)
        assert seen["other hand"] == 2
        other = dict(zip(OBSERVATION, observed(game, 1), strict=True))
        assert not any(other[f"top {n}"] for n in range(3))
        assert other["my hand 0"] == NAMES["Erika"].number
        game.step(END)
        game.step(END)
        assert game.players[0].peeked == 2

    def test_a_card_out_of_the_deck_is_not_shown(self):
        """R89, R94."""
        game = board(["Pikachu"], hand=["Poké Ball"])
        play(game)
        assert game.me.hand[0].card.basic
        assert not game.me.shown


def test_an_ability_is_used_once_a_turn_by_each_pokemon():
    """R76, R108."""
    game = board(["Greninja", "Greninja"], [WALL])
    game.step(ABILITY)
    game.step(CHOOSE + 4)
    assert options(game, ABILITY, ABILITY + 4) == [1]
    game.step(ABILITY + 1)
    game.step(CHOOSE + 4)
    assert game.foe.active.damage == 40
