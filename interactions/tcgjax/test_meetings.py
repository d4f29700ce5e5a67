"""Level 2: rulings that meet in one step or a few, on directed boards.

The reference and the candidate play each board with the same actions and agree in every field. If
one number of RULES.md determines the outcome, it is checked in the reference, too.
"""

import numpy as np
import pytest

from twinstep.contracts.tcgjax.layout import ABILITY, ATTACK, CHOOSE, END, PLAY, RETREAT, Ask
from twinstep.frames import flatten
from twinstep.oracles.tcgjax.bridge import TcgjaxOracle
from twinstep.oracles.tcgjax.codec import state_of
from twinstep.oracles.tcgjax.objects import Effect
from twinstep.testing import frames_differ
from twinstep.tests.support.tcgjax_boards import WALL, board, let_coins_be, one

pytestmark = [
    pytest.mark.level2, pytest.mark.environment("tcgjax"), pytest.mark.one_variant,
]  # fmt: skip


def _state(game):
    """Return the fields of a board's state."""
    fixed = {
        "rules": np.array(list(game.rules.values()), np.int16),
        "cards": np.array([[p.card.number for p in side.list] for side in game.players], np.int16),
        "types": np.array(
            [sum(1 << "GRWLPFDM".index(c) for c in side.types) for side in game.players], np.uint8
        ),
        "seed": np.array(game.draws.seed, np.uint32),
    }
    return state_of(game, fixed)


def _both(lab, game, *actions):
    """Play actions from a board on both sides, which must agree; return the reference's game."""
    state = _state(game)
    oracle = TcgjaxOracle(lab.contract)
    oracle.load(state)
    given = np.array([[[action, action]] for action in actions], np.int32)
    frames = [flatten(oracle.step(action[0])) for action in given]
    want = {path: np.stack([frame[path] for frame in frames])[:, None] for path in frames[0]}
    got = lab.runner.play_from({name: value[None] for name, value in state.items()}, given)
    found = frames_differ(want, got, lab.rules.one_step())
    assert not found, sorted(found)
    return oracle.game


def test_an_attack_and_a_counter_knock_out_both_and_the_points_tie(twinstep_lab):
    """R68, R81, R82: both are discarded at once, and both have enough points."""
    game = board([one("Raichu", "LLL", damage=80)], [one("Poliwrath", damage=140)])
    game.me.points = game.foe.points = 2
    ended = _both(twinstep_lab, game, ATTACK)
    assert (ended.winner, [p.points for p in ended.players]) == (3, [3, 3])


def test_both_actives_die_and_the_one_whose_turn_it_is_not_chooses_first(twinstep_lab):
    """R83: then the turn continues to its end."""
    game = board(
        [one("Raichu", "LLL", damage=80), "Pikachu"], [one("Poliwrath", damage=140), "Machop"]
    )
    asked = _both(twinstep_lab, game, ATTACK)
    assert (asked.decision.ask, asked.decision.asked) == (Ask.PROMOTE, 1)
    asked = _both(twinstep_lab, game, ATTACK, CHOOSE + 1)
    assert (asked.decision.ask, asked.decision.asked) == (Ask.PROMOTE, 0)
    ended = _both(twinstep_lab, game, ATTACK, CHOOSE + 1, CHOOSE + 1)
    assert (ended.turn, [p.active.card.name for p in ended.players]) == (6, ["Pikachu", "Machop"])


def test_a_forced_switch_is_the_others_choice_and_the_attack_hits_who_came(twinstep_lab):
    """R103, R60: then a knock-out gives the points of the Pokemon that stands there."""
    foes = [WALL, "Squirtle", one("Pikachu", damage=50)]
    game = board([one("Raichu", "LLL")], foes, hand=["Sabrina"])
    asked = _both(twinstep_lab, game, PLAY)
    assert (asked.decision.ask, asked.decision.asked) == (Ask.PUSHED, 1)
    ended = _both(twinstep_lab, game, PLAY, CHOOSE + 2, ATTACK)
    assert ended.players[0].points == 1
    assert ended.decision.ask == Ask.PROMOTE


def test_who_evolves_while_poisoned_is_not_hurt_at_the_checkup(twinstep_lab):
    """R40, R72."""
    game = board([one("Bulbasaur", poisoned=True, damage=20)], hand=["Ivysaur"])
    ended = _both(twinstep_lab, game, PLAY + 1, END)
    assert (ended.players[0].active.damage, ended.players[0].active.poisoned) == (20, False)


def test_who_was_paralyzed_retreats_in_the_turn_after_next(twinstep_lab):
    """R45, R72: not in its own turn, after which it is over."""
    game = board([one("Pikachu", "LL", condition="Paralyzed"), "Machop"])
    assert RETREAT not in game.decision.options
    ended = _both(twinstep_lab, game, END, END, RETREAT)
    assert ended.me.active.card.name == "Machop"


def test_supporters_wait_while_an_ability_forbids_them_and_no_longer(twinstep_lab):
    """R44, R115: a push takes the Pokemon that forbids out of the Active Spot."""
    game = board(["Pidgeot", "Pikachu"], ["Gengar ex", "Machop"], hand=["Giovanni"])
    assert PLAY not in game.decision.options
    ended = _both(twinstep_lab, game, ABILITY, CHOOSE + 1, PLAY)
    assert ended.bonus == 10


def test_a_bonus_weakness_a_weakening_and_a_guard_add_up_in_this_order(twinstep_lab):
    """R60: 40 + 10 - 20, then weakness 20, then 20 less."""
    game = board([one("Bulbasaur", "GG")], ["Onix"], bonus=10)
    game.me.active.effects = {"weakened": Effect(5, 20)}
    game.foe.active.effects = {"guarded": Effect(5, 20)}
    assert _both(twinstep_lab, game, ATTACK).players[1].active.damage == 30


@pytest.mark.parametrize("bonus", [0, 10])
def test_what_weakening_takes_away_whole_knows_no_weakness(twinstep_lab, bonus):
    """R60: 20 - 20 is 0 and stays so."""
    game = board([one("Pikachu", "L")], ["Gyarados"], bonus=bonus)
    game.me.active.effects = {"weakened": Effect(5, 20)}
    assert _both(twinstep_lab, game, ATTACK).players[1].active.damage == (bonus and bonus + 20)


def test_a_fossil_gives_a_point_when_knocked_out_and_none_when_discarded(twinstep_lab):
    """R33, R35."""
    game = board([one("Raichu", "LLL")], ["Helix Fossil", "Pikachu"])
    assert _both(twinstep_lab, game, ATTACK).players[0].points == 1
    game = board(["Helix Fossil", "Pikachu"])
    ended = _both(twinstep_lab, game, 66, CHOOSE + 1)
    assert (ended.foe.points, ended.turn) == (0, 5)


def test_nothing_is_drawn_from_an_empty_deck_nor_into_a_full_hand(twinstep_lab):
    """R25, R26, R96."""
    game = board(["Pikachu"], their_hand=["Potion"] * 10)
    assert len(_both(twinstep_lab, game, END).me.hand) == 10
    game = board(["Pikachu"])
    game.foe.discards, game.foe.deck = game.foe.deck, []
    ended = _both(twinstep_lab, game, END)
    assert (ended.me.hand, ended.winner) == ([], 0)
    game = board(["Pikachu"], hand=["Professor's Research"] + ["Potion"] * 9)
    assert len(_both(twinstep_lab, game, PLAY).me.hand) == 10


def test_points_at_the_last_checkup_come_before_the_tie(twinstep_lab):
    """R82, R84: turn 30, and the other's Active Pokemon falls by poison."""
    game = board(["Pikachu"], [one(WALL, damage=140, poisoned=True), "Machop"], turn=30)
    assert _both(twinstep_lab, game, END).winner == 3
    game.me.points = 2
    assert _both(twinstep_lab, game, END).winner == 1


def test_an_effect_ends_with_the_active_spot_and_does_not_come_back(twinstep_lab):
    """R48, R77: a Pokemon that cannot attack goes to the Bench and comes back."""
    game = board(["Pikachu", one("Bulbasaur", "GG")], [one(WALL)])
    game.me.active.effects = {"no_attack": Effect(7), "weakened": Effect(7, 20)}
    game.me.active.energy = ["L", "L"]
    assert ATTACK not in game.decision.options
    ended = _both(twinstep_lab, game, RETREAT, END, END, RETREAT)
    assert (ended.me.active.card.name, ended.me.active.effects) == ("Pikachu", {})
    assert ATTACK in ended.decision.options


def test_all_coins_of_a_checkup_are_flipped_also_for_who_falls(twinstep_lab):
    """R72, R73: poison, burn, both burn coins' draws, then sleep."""
    game = board(
        [one("Pikachu", damage=50, poisoned=True, burned=True, condition="Asleep"), "Machop"]
    )
    let_coins_be(game, "T")
    before = game.draws.count
    ended = _both(twinstep_lab, game, END)
    assert ended.decision.ask == Ask.PROMOTE
    assert ended.draws.count == before + 2


def test_one_damage_is_damage(twinstep_lab):
    """R121, R106: only rule parameters of 1 lead to it; all cards' numbers are multiples of 10."""
    hit = _both(twinstep_lab, board([one("Primeape", "FF", damage=1)], [one("Venusaur")]), ATTACK)
    assert hit.players[1].active.damage == 100
    healed = _both(twinstep_lab, board([one("Butterfree", damage=1)]), ABILITY)
    assert healed.players[0].active.damage == 0
