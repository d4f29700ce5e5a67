"""Each attack of the reference on a small board, by its ruling (R117 to R139)."""

import pytest

from twinstep.contracts.tcgjax.layout import CHOOSE, END, PLAY, Ask
from twinstep.oracles.tcgjax.attack import begun
from twinstep.oracles.tcgjax.attacks import EFFECTS
from twinstep.oracles.tcgjax.objects import Effect
from twinstep.tests.support.tcgjax_boards import (
    NAMES,
    WALL,
    attack,
    attacker,
    board,
    let_coins_be,
    one,
)

HURT = {"damage": 10}
TARGET = one(WALL)


def used(
    effect, coins=(), extra="", me=None, bench=(), foe=TARGET, foes=(), choose=(), **board_has
):
    """Use the attack on a board, make these choices, and return the game in the other's turn."""
    name, energy, place = attacker(effect)
    mine = [one(name, energy + extra, **(me or {})), *bench]
    game = board(mine, [foe, *foes], **board_has)
    if coins:
        let_coins_be(game, *coins)
    attack(game, place)
    for chosen in choose:
        game.step(CHOOSE + chosen)
    return game


def damages(player):
    return [None if slot is None else slot.damage for slot in player.slots]


def foe_damage(*args, **kwargs):
    return used(*args, **kwargs).players[1].active.damage


#: effect, coins, further arguments of `used`, damage of the other's Active Pokemon.
NUMBERS = [
    ("coin-plus-30", "H", {}, 60),
    ("coin-plus-30", "T", {}, 30),
    ("coin-plus-40", "H", {}, 80),
    ("coin-plus-40", "T", {}, 40),
    ("coins2-both-plus-80", "HH", {"foe": one("Venusaur ex")}, 160),
    ("coins2-both-plus-80", "HT", {}, 80),
    ("coins2-both-plus-80", "TT", {}, 80),
    ("coin-plus-40-or-recoil-20", "H", {}, 80),
    ("coin-plus-40-or-recoil-20", "T", {}, 40),
    ("coins2-times-30", "HH", {}, 60),
    ("coins2-times-30", "TT", {}, 0),
    ("coins2-times-50", "HT", {}, 50),
    ("coins2-times-50", "HH", {}, 100),
    ("coins2-times-80", "TH", {"foe": one("Venusaur")}, 80),
    ("coins2-times-100", "TH", {}, 100),
    ("coins4-times-40", "HTTH", {}, 80),
    ("coins4-times-40", "HHTH", {}, 120),
    ("coins4-times-50", "HTTH", {}, 100),
    ("coins-until-tails-times-60", "T", {}, 0),
    ("coins-until-tails-times-60", "HT", {}, 60),
    ("coins-until-tails-times-60", "HHT", {}, 120),
    ("coin-or-nothing", "H", {}, 40),
    ("coin-or-nothing", "T", {}, 0),
    ("extra-water-2-plus-60", "", {}, 80),
    ("extra-water-2-plus-60", "", {"extra": "W"}, 80),
    ("extra-water-2-plus-60", "", {"extra": "WW"}, 140),
    ("extra-water-2-plus-60", "", {"extra": "MM"}, 80),
    ("extra-water-3-plus-70", "", {"extra": "WW"}, 20),
    ("extra-water-3-plus-70", "", {"extra": "WWW"}, 90),
    ("foe-energy-plus-20", "", {"foe": one(WALL, "GRW")}, 90),
    ("foe-energy-plus-20", "", {}, 30),
    ("foe-energy-plus-30", "", {"foe": one(WALL, "GG")}, 120),
    ("damaged-foe-plus-60", "", {}, 10),
    ("damaged-foe-plus-60", "", {"foe": one(WALL, damage=10)}, 80),
    ("poisoned-foe-plus-50", "", {}, 70),
    ("poisoned-foe-plus-50", "", {"foe": one(WALL, poisoned=True)}, 120),
    ("damaged-self-plus-60", "", {"foe": one("Venusaur")}, 40),
    ("damaged-self-plus-60", "", {"foe": one("Venusaur"), "me": HURT}, 100),
    ("bench-times-30", "", {}, 0),
    ("bench-times-30", "", {"bench": ("Pikachu", None, "Machop")}, 60),
    ("bench-lightning-times-30", "", {"bench": ("Pikachu", "Machop", "Zapdos")}, 60),
    ("bench-nidoking-plus-50", "", {}, 80),
    ("bench-nidoking-plus-50", "", {"bench": ("Nidoking", "Muk")}, 130),
    ("drain", "", {"foe": one("Venusaur")}, 50),
    ("recoil-50", "", {"foe": one("Charizard ex")}, 150),
]


@pytest.mark.parametrize(("effect", "coins", "having", "damage"), NUMBERS)
def test_an_attacks_number_is_its_rulings(effect, coins, having, damage):
    """R117, R118, R119, R120, R121, R122, R127. Poison adds 10 after the turn (R72)."""
    poison = 10 if having.get("foe", TARGET)[2].get("poisoned") else 0
    assert foe_damage(effect, [coins] if coins else (), **having) == damage + poison


def test_recoil_and_heads_or_recoil_hurt_the_attacker_alone():
    """R117, R126, R63."""
    assert used("recoil-20").players[0].active.damage == 20
    assert used("recoil-50", foe=one("Charizard ex")).players[0].active.damage == 50
    assert used("coin-plus-40-or-recoil-20", ["T"]).players[0].active.damage == 20
    assert used("coin-plus-40-or-recoil-20", ["H"]).players[0].active.damage == 0


def test_a_snipe_asks_for_a_pokemon_of_the_other_player_and_hits_it():
    """R123, R56, R62."""
    for effect, amount in (("snipe-30", 30), ("snipe-50", 50)):
        game = used(effect, foes=(None, "Pikachu"))
        assert game.decision.ask == Ask.DAMAGE
        assert set(game.decision.options) == {CHOOSE + 4, CHOOSE + 6}
        game.step(CHOOSE + 6)
        assert damages(game.players[1]) == [0, None, amount, None]
        assert damages(used(effect, choose=[4]).players[1])[0] == amount


def test_stretching_reaches_the_bench_alone_and_nothing_where_there_is_none():
    """R123, R49."""
    game = used("snipe-bench-30", foes=("Pikachu",))
    assert set(game.decision.options) == {CHOOSE + 5}
    game.step(CHOOSE + 5)
    assert damages(game.players[1])[:2] == [0, 30]
    alone = used("snipe-bench-30")
    assert alone.player == 1
    assert damages(alone.players[1])[0] == 0


def test_a_splash_hits_the_active_and_all_of_the_bench_without_weakness():
    """R124, R61: Charmander is weak to Water, the attacker's type."""
    game = used("splash-bench-10", foes=("Charmander", None, "Pikachu"))
    assert damages(game.players[1]) == [80, 10, None, 10]


def test_four_random_hits_are_dealt_at_once():
    """R125."""
    game = used("random-4-times-50", foe=one(WALL), foes=("Venusaur ex", "Charizard ex"))
    given = [d for d in damages(game.players[1]) if d is not None]
    gone = 4 - sum(given) // 50
    assert sum(given) + 50 * gone == 200
    assert game.draws.count == 50 + 4 + (game.player == 1)  # R29


def test_hurting_ones_own_bench_asks_whom():
    """R126."""
    game = used("hurt-own-bench-30", bench=("Pikachu", "Machop"))
    assert set(game.decision.options) == {CHOOSE + 1, CHOOSE + 2}
    assert game.players[1].active.damage == 0
    game.step(CHOOSE + 2)
    assert damages(game.players[0]) == [0, 0, 30, None]
    assert game.players[1].active.damage == 100


def test_healing_takes_damage_off_the_attacker():
    """R127, R66."""
    assert used("heal-self-30", me={"damage": 50}).players[0].active.damage == 20
    assert used("heal-self-10", me={"damage": 0}).players[0].active.damage == 0
    drained = used("drain", me={"damage": 60}, foe=one("Venusaur"))
    assert drained.players[0].active.damage == 10
    # Weakness counts: Snorlax takes 70 from a Fighting attack of 50.
    assert used("drain", me={"damage": 100}).players[0].active.damage == 30


def test_who_falls_by_a_counter_heals_no_more():
    """R69, R68."""
    for effect, most in (("heal-self-30", 160), ("drain", 140)):
        falls = used(effect, me={"damage": most - 20}, foe=one("Poliwrath"))
        assert falls.players[1].points == 1
        stays = used(effect, me={"damage": most - 30}, foe=one("Poliwrath"))
        assert stays.players[0].active.damage < most - 10


def test_what_an_attack_does_to_itself_is_left_out_where_it_falls_by_a_counter():
    """R69, R68: seen in the attack alone, because a knock-out discards all energy and effects."""
    name, cost, place = attacker("discard-all")
    most = NAMES[name].hp
    for damage, left in ((most - 20, len(cost)), (most - 30, 0)):
        game = board([one(name, cost, damage=damage)], [one("Poliwrath")])
        game.alone(begun(game, place))
        assert len(game.players[0].active.energy) == left


def test_conditions_come_from_attacks():
    """R128."""
    assert used("poison").players[1].active.poisoned
    asleep = used("sleep", ["T"])  # the coin of R72
    assert asleep.players[1].active.condition == "Asleep"
    assert used("sleep", ["H"]).players[1].active.condition == ""
    assert used("coin-paralyze", ["H"]).players[1].active.condition == "Paralyzed"
    assert used("coin-paralyze", ["T"]).players[1].active.condition == ""


@pytest.mark.parametrize(
    ("effect", "coins", "name", "amount"),
    [
        ("no-attack", (), "no_attack", 0),
        ("coin-no-attack", ["H"], "no_attack", 0),
        ("no-retreat", (), "no_retreat", 0),
        ("weaken-20", (), "weakened", 20),
    ],
)
def test_an_effect_on_the_other_lasts_until_its_next_turn_has_ended(effect, coins, name, amount):
    """R129, R130, R77, R75."""
    game = used(effect, coins)
    found = game.players[1].active.effects[name]
    assert (found.until, found.amount) == (6, amount)
    assert game.turn == 6
    game.step(END)
    assert name not in game.players[1].active.effects


def test_tails_leaves_the_other_able_to_attack():
    """R129."""
    assert not used("coin-no-attack", ["T"]).players[1].active.effects


@pytest.mark.parametrize(
    ("effect", "coins", "name"), [("guard-20", (), "guarded"), ("coin-immune", ["H"], "immune")]
)
def test_a_shield_lasts_through_the_others_turn(effect, coins, name):
    """R130."""
    game = used(effect, coins)
    assert game.players[0].active.effects[name].until == 6
    game.step(END)
    assert name not in game.players[0].active.effects
    assert not used("coin-immune", ["T"]).players[0].active.effects


def test_headache_forbids_supporters_for_a_turn():
    """R131, R44."""
    game = used("no-supporters", their_hand=["Sabrina", "Giovanni"])
    assert not [action for action in game.decision.options if PLAY <= action < PLAY + 5 * 2]
    assert game.players[1].no_supporters == 6
    game.step(END)
    assert game.players[1].no_supporters == 0


@pytest.mark.parametrize(
    ("effect", "extra", "left"),
    [
        ("discard-fire", "", []),
        ("discard-fire", "RW", ["R", "W"]),
        ("discard-fire-2", "", ["M", "M"]),
        ("discard-psychic-2", "P", ["M", "M", "P"]),
        ("discard-all", "WG", []),
    ],
)
def test_an_attack_discards_its_own_energy(effect, extra, left):
    """R132."""
    game = used(effect, extra=extra)
    assert sorted(game.players[0].active.energy) == left
    assert sum(game.players[0].spent.values()) > 0


def test_a_random_energy_of_the_other_goes():
    """R133."""
    game = used("discard-random-energy", foe=one(WALL, "GRW"))
    assert len(game.players[1].active.energy) == 2
    assert game.draws.count == 50 + 1 + 1
    assert used("discard-random-energy").draws.count == 50 + 1
    heads = used("coin-discard-random-energy", ["H"], foe=one(WALL, "G"))
    tails = used("coin-discard-random-energy", ["T"], foe=one(WALL, "G"))
    assert heads.players[1].active.energy == []
    assert tails.players[1].active.energy == ["G"]


def test_attacks_attach_energy():
    """R134, R105."""
    assert used("charge-self-metal").players[0].active.energy.count("M") == 2
    game = used("attach-bench-grass", bench=("Bulbasaur", "Pikachu"), choose=[1])
    assert game.players[0].slots[1].energy == ["G"]
    assert used("attach-bench-grass", bench=("Pikachu",)).player == 1
    game = used("coins3-attach-bench-fire", ["HTH"], bench=("Charmander", "Vulpix", "Pikachu"))
    assert (game.decision.ask, game.decision.left) == (Ask.ATTACH, 2)
    game.step(CHOOSE + 1)
    assert (game.decision.ask, game.decision.left) == (Ask.ATTACH, 1)
    game.step(CHOOSE + 2)
    assert [slot.energy for slot in game.players[0].slots[1:]] == [["R"], ["R"], []]
    assert used("coins3-attach-bench-fire", ["TTT"], bench=("Charmander",)).player == 1


def test_switching_and_pushing():
    """R135, R103, R48."""
    game = used("switch-self", bench=("Pikachu",), me={"poisoned": True}, choose=[1])
    assert game.players[0].active.card.name == "Pikachu"
    assert not game.players[0].slots[1].poisoned
    game = used("push", foe=one("Venusaur"), foes=("Pikachu", "Machop"))
    assert (game.decision.ask, game.decision.asked) == (Ask.PUSHED, 1)
    game.step(CHOOSE + 2)
    assert game.players[1].active.card.name == "Machop"
    assert used("push", foe=one("Venusaur")).player == 1
    # R69: a Pokemon about to be knocked out is not switched.
    game = used("push", foe=one("Pikachu"), foes=("Machop",))
    assert game.decision.ask == Ask.PROMOTE


def test_hands_and_decks():
    """R136, R137."""
    assert len(used("draw-1").players[0].hand) == 1
    shown = used("reveal-hand", their_hand=["Erika", "Potion"])
    assert len(shown.players[1].shown) == 2
    heads = used("coin-discard-hand", ["H"], their_hand=["Erika"])
    assert [piece.card.name for piece in heads.players[1].discards] == ["Erika"]
    assert not used("coin-discard-hand", ["T"], their_hand=["Erika"]).players[1].discards
    found = used("search-grass-to-hand")
    assert [piece.card.name for piece in found.players[0].hand] == ["Bulbasaur"]
    nothing = used("call-nidoran")
    assert not nothing.players[0].bench()
    assert nothing.draws.count == 50 + 1 + 1  # shuffled all the same, and R29
    full = used("call-nidoran", bench=("Pikachu", "Machop", "Vulpix"))
    assert full.draws.count == 50 + 1


def test_a_called_pokemon_comes_to_the_bench():
    """R137, R21."""
    name, energy, place = attacker("call-nidoran")
    game = board([one(name, energy)], hand=["Nidoran♂"])
    player = game.players[0]
    player.deck.append(player.hand.pop())
    attack(game, place)
    assert player.slots[1].card.name == "Nidoran♂"


def test_a_wingbeat_shuffles_the_active_away():
    """R138, R82, R83."""
    game = used("coin-shuffle-foe", ["H"], foe=one(WALL, "GG"), foes=("Pikachu",))
    assert game.decision.ask == Ask.PROMOTE
    assert len(game.players[1].deck) == 20 - 1
    assert game.players[1].spent["G"] == 2
    assert used("coin-shuffle-foe", ["H"]).winner == 1
    assert used("coin-shuffle-foe", ["T"]).winner == 0


def test_a_copy_is_the_chosen_attack_if_its_cost_is_paid():
    """R139."""
    game = used("copy", foe=one("Venusaur", damage=20), extra="GGMM")
    assert game.decision.ask == Ask.COPY
    game.step(CHOOSE)
    assert game.players[1].active.damage == 100
    poor = used("copy", foe=one("Venusaur"), choose=[0])
    assert poor.players[1].active.damage == 0
    assert used("copy", foe=one("Ditto")).player == 1


def test_coins_are_flipped_even_if_nobody_can_be_hurt():
    """R55, R80."""
    shielded = one(WALL, effects={"immune": Effect(5)})
    game = used("coins2-times-30", ["HH"], foe=shielded)
    assert game.players[1].active.damage == 0
    before = used("charge-self-metal").draws.count
    assert game.draws.count - _coins_at("HH") == before - 50 + 1


def _coins_at(text):
    game = board(["Pikachu"])
    let_coins_be(game, text)
    return game.draws.count


def test_all_damage_comes_before_all_else():
    """R57, R65, R69: a Pokemon felled by the damage does not sleep: no coin of R72 is flipped."""
    game = used("sleep", foe=one("Pikachu"), foes=("Machop",))
    assert game.decision.ask == Ask.PROMOTE
    assert game.draws.count == 50
    both = used("splash-bench-10", foe=one("Pikachu"), foes=(one("Machop", damage=60), "Vulpix"))
    assert both.players[0].points == 2


def test_every_effect_of_an_attack_is_used_in_this_file():
    with open(__file__, encoding="utf-8") as file:
        text = file.read()
    assert not [code for code in EFFECTS if f'"{code}"' not in text]
