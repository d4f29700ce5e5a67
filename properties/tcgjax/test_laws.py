"""Level 1: laws that a step obeys, each checked in the reference and in the candidate alone.

Two sides that are wrong in the same way agree; a law is a third opinion. The boards are those
of level 2, which are rare in games.
"""

import weakref

import numpy as np
import pytest

from twinstep.contracts.tcgjax.cards import ENERGY, cards
from twinstep.contracts.tcgjax.layout import (
    ATTACH,
    ATTACK,
    DECK,
    END,
    PLAY,
    RETREAT,
    SCRAP,
    Ask,
    Zone,
)
from twinstep.oracles.tcgjax.codec import game_of, state_of
from twinstep.oracles.tcgjax.game import Illegal
from twinstep.testing import chunk_lanes, some_starts

pytestmark = [
    pytest.mark.level1, pytest.mark.environment("tcgjax"), pytest.mark.one_variant,
]  # fmt: skip

BOARDS = 1024
SIDES = ["reference", "candidate"]


def _table(of):
    """Return [C + 1]: a fact of each card by its number."""
    return np.array([0, *(of(card) for card in cards())])


HP, POINTS = _table(lambda card: card.hp), _table(lambda card: card.points)


def _played(lab, side, states, actions):
    """Return the states and masks [N, ...] after one step of one side."""
    if side == "reference":
        frames, _ = lab.oracle.steps(states, actions[None], some_starts(lab.contract, len(actions)))
        return {path: values[0] for path, values in frames.items()}
    parts = []
    for begin in range(0, len(actions), chunk_lanes(lab.contract)):
        some = slice(begin, begin + chunk_lanes(lab.contract))
        held = {name: values[some] for name, values in states.items()}
        parts.append(lab.runner.play_from(held, actions[None, some]))
    return {path: np.concatenate([part[path][0] for part in parts]) for path in parts[0]}


#: Each side's step from the boards, so that every law uses the same one step.
_MADE = weakref.WeakKeyDictionary()


def _stepped(lab, side):
    """Return states, actions i32[N, 2] and frames after a step of one side, computed once."""
    made = _MADE.setdefault(lab, {})
    if side not in made:
        states, actions = _boards(lab)
        made[side] = states, actions, _played(lab, side, states, actions)
    return made[side]


def _boards(lab):
    states = lab.oracle.places(BOARDS, 11, "")
    actions = states.pop("action")
    return states, actions


@pytest.fixture(params=SIDES)
def twinstep_step(twinstep_lab, request):
    """Return states before, the acting player's action i32[N], and states after, of one side."""
    states, actions, frames = _stepped(twinstep_lab, request.param)
    after = {p.removeprefix("state."): v for p, v in frames.items() if p.startswith("state.")}
    return states, actions[np.arange(BOARDS), states["asked"]], after


def _top(state):
    """Return i64[N, 2, 4]: the number of the top card of each slot, 0 of an empty one."""
    found = []
    for slot in range(4):
        inside = state["zone"] == Zone.STACKS + slot
        at = np.where(inside, state["place"], -1).argmax(-1)
        number = np.take_along_axis(state["cards"], at[..., None], -1)[..., 0]
        found.append(np.where(inside.any(-1), number, 0))
    return np.stack(found, -1).astype(int)


def test_every_card_stays_in_one_pile_without_gaps_and_hands_are_bounded(twinstep_step):
    """P1, P3."""
    before, _, after = twinstep_step
    assert (after["cards"] == before["cards"]).all()
    for zone in range(Zone.STACKS + 4):
        inside = after["zone"] == zone
        size = inside.sum(-1)[..., None]
        places = np.sort(np.where(inside, after["place"], DECK + np.arange(DECK)), -1)
        assert (np.where(np.arange(DECK) < size, places, np.arange(DECK)) == np.arange(DECK)).all()
        if zone == Zone.HAND:
            grown = size[..., 0] > (before["zone"] == zone).sum(-1)
            assert (size[..., 0] <= before["rules"][:, 1:2])[grown].all()


def test_energy_in_play_and_discarded_never_becomes_less(twinstep_step):
    """P2: by player and type."""
    before, _, after = twinstep_step
    totals = [
        state["energy"].astype(int).sum(2) + state["discarded"].astype(int)
        for state in (before, after)
    ]
    assert (totals[1] >= totals[0]).all()
    assert (after["discarded"] >= before["discarded"]).all()
    assert (totals[1] > totals[0]).any()


def test_points_are_those_of_what_was_knocked_out(twinstep_step):
    """P8: and at no open turn stands a Pokemon with as much damage as HP."""
    before, action, after = twinstep_step
    top = _top(after)
    settled = np.isin(after["ask"], [Ask.TURN, Ask.PROMOTE]) & (after["winner"] == 0)
    fallen = (top > 0) & (after["damage"] >= HP[top])
    assert not fallen[settled].any()
    assert (top[:, :, 0] > 0)[settled & (after["ask"] == Ask.TURN)].all()
    gone = np.zeros((BOARDS, 2), int)
    for slot in range(4):
        left = (before["zone"] == Zone.STACKS + slot) & (after["zone"] == Zone.DISCARD)
        gone += np.where(left.any(-1), POINTS[_top(before)[:, :, slot]], 0)
    given = (after["points"] - before["points"])[:, ::-1].astype(int)
    # R35, R100: Pokemon that leave play by their own player's will give nothing.
    willing = ((action >= SCRAP) & (action < SCRAP + 4)) | (
        (action >= PLAY) & (action < ATTACH) & (before["points"] == after["points"]).all(-1)
    )
    assert (given == gone)[~willing].all()
    assert given.any()


def test_who_leaves_the_active_spot_and_who_evolves_has_no_conditions(twinstep_step):
    """P5, P7: R40, R48."""
    before, action, after = twinstep_step
    retreats = (action >= RETREAT) & (action < RETREAT + 3) & (after["ask"] == Ask.TURN)
    one = (action >= PLAY) & (action < ATTACH) & ((action - PLAY) % 5 == 1)
    me = before["player"]
    lane = np.arange(BOARDS)
    grown = (after["zone"] == Zone.STACKS).sum(-1) > (before["zone"] == Zone.STACKS).sum(-1)
    evolves = one & grown[lane, me]
    assert retreats.sum() > 5
    assert evolves.any()
    for name in ("condition", "poisoned", "burned", "no_attack", "no_retreat", "immune", "guarded"):
        assert not after[name][lane, me][retreats | evolves].any(), name
    for name in ("damage", "energy"):
        assert (after[name] == before[name])[evolves].all(), name


def test_a_turn_that_is_ended_draws_and_hurts_as_the_checkup_says(twinstep_step):
    """P6, P11: R72; a coin for each Burned and each Asleep one, a pick of energy."""
    before, action, after = twinstep_step
    ends = (action == END) & (before["ask"] == Ask.TURN)
    drawn = after["draws"].astype(int) - before["draws"]
    coins = before["burned"].sum(-1) + (before["condition"] == 1).sum(-1)
    assert ends.sum() > 20
    assert (drawn == coins + (after["turn"] > before["turn"]))[ends].all()
    hurt = before["damage"][:, :, 0] + 20 * before["burned"]
    hurt = hurt + before["poisoned"] * before["rules"][:, 2:3]
    stands = (hurt < HP[_top(before)[:, :, 0]]) & ends[:, None]
    assert (after["damage"][:, :, 0] == hurt)[stands].all()
    lane, me = np.arange(BOARDS), before["player"]
    kept = ends & stands[lane, me]
    assert (after["condition"][lane, me] != 2)[kept].all()
    other = ends & stands[lane, 1 - me] & (before["condition"][lane, 1 - me] == 2)
    assert (after["condition"][lane, 1 - me] == 2)[other].all()
    attached = (action >= ATTACH) & (action < RETREAT)
    assert not drawn[attached].any()


@pytest.mark.parametrize("side", SIDES)
def test_swapping_the_seats_swaps_what_comes(twinstep_lab, side):
    """P13: no rule looks at a player's number; the draws are those of the game, not of a seat."""
    states, actions, after = _stepped(twinstep_lab, side)
    other = _played(twinstep_lab, side, _mirrored(states), actions[:, ::-1].copy())
    named = {p.removeprefix("state."): v for p, v in after.items() if p.startswith("state.")}
    for name, want in _mirrored(named).items():
        assert (other[f"state.{name}"] == want).all(), name
    for path in ("obs", "legal", "acting", "reward"):
        assert (other[path] == after[path][:, ::-1]).all(), path


def _mirrored(state):
    """Return a state with its seats swapped."""
    alone = ("rules", "seed")
    new = {n: v if n in alone or v.ndim == 1 else v[:, ::-1].copy() for n, v in state.items()}
    for name in ("first", "player"):
        new[name] = 1 - state[name]
    new["asked"] = np.where(state["winner"] > 0, 0, 1 - state["asked"]).astype(np.int8)
    winner = state["winner"]
    new["winner"] = np.where(np.isin(winner, (1, 2)), 3 - winner, winner).astype(np.int8)
    return new


def test_an_illegal_action_changes_nothing(twinstep_lab):
    """P9, P10: every action of 128 that the mask forbids, on both sides."""
    states, _ = _boards(twinstep_lab)
    few = {name: values[:8] for name, values in states.items()}
    for n in range(8):
        state = {name: values[n] for name, values in few.items()}
        legal = set(game_of(state).decision.options)
        rows = {name: np.repeat(values[n : n + 1], 128, 0) for name, values in few.items()}
        every = np.repeat(np.arange(128, dtype=np.int32)[:, None], 2, 1)
        after = _played(twinstep_lab, "candidate", rows, every)
        same = np.ones(128, bool)
        for name, values in rows.items():
            same &= (after[f"state.{name}"] == values).reshape(128, -1).all(-1)
        assert set(np.flatnonzero(~same)) <= legal
        game = game_of(state)
        for action in set(range(128)) - legal:
            with pytest.raises(Illegal):
                game.step(action)
        assert all(np.array_equal(v, state[k]) for k, v in state_of(game, state).items())


def test_a_game_that_is_over_stays_as_it_is(twinstep_lab):
    """P12: there is one outcome, nobody acts, and no action changes anything."""
    for side in SIDES:
        _, _, after = _stepped(twinstep_lab, side)
        over = after["terminated"]
        assert over.sum() > 20
        assert (over == (after["state.winner"] > 0)).all()
        assert (after["acting"].sum(-1) == ~over).all()
        assert not after["legal"][over].any()
        assert (after["reward"].sum(-1) == 0).all()
    ended = {p.removeprefix("state."): v[over] for p, v in after.items() if p.startswith("state.")}
    again = _played(twinstep_lab, "candidate", ended, np.zeros((int(over.sum()), 2), np.int32))
    for name, values in ended.items():
        assert (again[f"state.{name}"] == values).all(), name
    for n in range(int(over.sum())):
        with pytest.raises(Illegal):
            game_of({name: values[n] for name, values in ended.items()}).step(END)


#: Attacks [C + 1, 2] that any energy pays and that do damage and nothing else.
VANILLA = np.zeros((len(cards()) + 1, 2), bool)
for _number, _card in enumerate(cards(), 1):
    for _place, _attack in enumerate(_card.attacks[:2]):
        VANILLA[_number, _place] = not _attack.effect and set(_attack.cost) <= {"C"}


@pytest.mark.parametrize("side", SIDES)
def test_energies_of_other_types_make_the_same_step_with_those_types(twinstep_lab, side):
    """P14: where no card names a type: ends, attachments, vanilla attacks."""
    states, actions, after = _stepped(twinstep_lab, side)
    lane, ask = np.arange(BOARDS), states["ask"]
    mine = actions[lane, states["asked"]]
    active = _top(states)[lane, states["player"], 0]
    attacks = VANILLA[active, np.clip(mine - ATTACK, 0, 1)] & np.isin(mine - ATTACK, (0, 1))
    attached = (mine >= ATTACH) & (mine < RETREAT)
    plain = ((mine == END) | attached | attacks) & (ask == Ask.TURN)
    assert min((plain & some).sum() for some in (mine == END, attached, attacks)) > 5
    other = _relabelled({name: values[plain] for name, values in states.items()})
    got = _played(twinstep_lab, side, other, actions[plain])
    want = {p.removeprefix("state."): v[plain] for p, v in after.items() if "state." in p}
    # The next type is picked among the deck's types in their order, which stays.
    picked = want["turn"] > states["turn"][plain]
    for name, values in _relabelled(want).items():
        same = (got[f"state.{name}"] == values).reshape(len(picked), -1).all(-1)
        assert (same | (picked & (name == "next"))).all(), name


def _relabelled(state):
    """Return a state where each energy is of the next type: Grass is Fire, Metal is Grass."""
    new = dict(state)
    for name in ("energy", "discarded"):
        new[name] = np.roll(state[name], 1, -1)
    for name in ("current", "next"):
        kind = state[name]
        new[name] = np.where(kind > 0, kind % len(ENERGY) + 1, 0).astype(kind.dtype)
    return new


#: Attacks whose damage only weakness changes.
PLAIN = ("bonus", "blaze", "weakened", "weakened_until", "guarded", "guarded_until", "immune")
TYPE = _table(lambda card: ord(card.type or " "))
WEAK = _table(lambda card: ord(card.weakness or "-"))
SHELL = _table(lambda card: card.ability.startswith("ability-shell"))


@pytest.mark.parametrize("side", SIDES)
def test_weakness_adds_its_number_to_damage_of_its_type_alone(twinstep_lab, side):
    """P4; R60, R61: every type against every weakness; damage of 0 stays 0."""
    inputs = twinstep_lab.reference.module_inputs(
        twinstep_lab.contract.module("damage"), 16384, "weakness"
    )
    inputs |= {name: np.zeros_like(inputs[name]) for name in PLAIN}
    asked = twinstep_lab.oracle if side == "reference" else twinstep_lab.runner
    dealt = asked.call("damage", inputs)["dealt"].astype(np.int64)
    actives, row = _top(inputs)[..., 0], np.arange(len(dealt))
    mine, foe = actives[row, inputs["player"]], actives[row, 1 - inputs["player"]]
    counted = (mine > 0) & (foe > 0) & ~SHELL[foe].astype(bool)
    amount = inputs["amount"][:, 0].astype(np.int64)
    weak = TYPE[mine] == WEAK[foe]
    extra = np.where(weak & (amount > 0), inputs["rules"][:, 0], 0)
    assert (dealt == amount + extra)[counted].all()
    met = {*zip(TYPE[mine][counted].tolist(), WEAK[foe][counted].tolist(), strict=True)}
    of = [card for card in cards() if card.kind == "Pokemon"]
    assert met >= {(ord(one.type), ord(two.weakness or "-")) for one in of for two in of}
    assert (weak & counted & (amount == 0)).any()
