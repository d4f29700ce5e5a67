"""The reference as a whole: invariants of its games, its boards, its narration."""

import re

import numpy as np
import pytest

from twinstep.contracts.tcgjax.declaration import TCGJAX
from twinstep.contracts.tcgjax.layout import DECK, RULES, Ask, Zone
from twinstep.frames import flatten
from twinstep.inputs.seeds import seeds, starts_of
from twinstep.oracles.tcgjax.bridge import TcgjaxOracle
from twinstep.oracles.tcgjax.narrator import narrate
from twinstep.project import registry
from twinstep.reference.recording import record

VARIANTS = [variant.name for variant in TCGJAX.variants]


@pytest.fixture(scope="module", params=VARIANTS)
def games(request):
    """Return a contract, its oracle, starts and 12 recorded games."""
    (subject,) = registry.subjects(TCGJAX, {}, [request.param])
    agreed = subject.contract
    oracle = TcgjaxOracle(agreed)
    starts = starts_of(agreed, seeds("public", 12, "tcgjax"))
    loose = registry.load_object(subject.driver("loose"))
    return agreed, oracle, starts, record(oracle, agreed, loose, starts, 1500, lambda *_: None)


def _states(chunk):
    """Return the fields of all states [N, ...] of the recorded games."""
    valid = np.arange(len(chunk.frames["reward"]))[:, None] <= chunk.lengths
    return {
        path.removeprefix("state."): values[valid]
        for path, values in chunk.frames.items()
        if path.startswith("state.")
    }


def test_every_card_is_in_one_place_and_its_pile_has_no_gaps(games):
    """Twenty cards a player; hands within their limit, at most three on benches and in stacks."""
    agreed, _, _, chunk = games
    state = _states(chunk)
    for zone in range(Zone.STACKS + 4):
        inside = state["zone"] == zone
        size = inside.sum(-1)
        places = np.where(inside, state["place"], DECK + np.arange(DECK))
        wanted = np.arange(DECK)
        found = np.sort(places, -1)
        filled = wanted < size[..., None]
        assert (np.where(filled, found, wanted) == wanted).all()
        if zone == Zone.HAND:
            assert size.max() <= agreed.params["hand"]
        if zone >= Zone.STACKS:
            assert size.max() <= 3
    assert not (state["shown"] & (state["zone"] != Zone.HAND)).any()
    assert (state["peeked"] <= (state["zone"] == Zone.DECK).sum(-1)).all()


def test_an_empty_slot_has_nothing(games):
    """Damage, energy, marks and conditions belong to Pokemon."""
    state = _states(games[3])
    slots = [(state["zone"] == Zone.STACKS + slot).any(-1) for slot in range(4)]
    there = np.stack(slots, -1)
    for name in ("damage", "entered", "used"):
        assert not (state[name][~there]).any(), name
    assert not state["energy"][~there].any()
    for name in ("condition", "poisoned", "burned", "no_attack", "immune", "weakened"):
        assert not state[name][~there[..., 0]].any(), name


def test_exactly_one_player_acts_until_the_game_is_over(games):
    """R50, R82: the acting player has legal actions, the other one none."""
    chunk = games[3]
    valid = np.arange(len(chunk.frames["reward"]))[:, None] <= chunk.lengths
    acting, legal = chunk.frames["acting"][valid], chunk.frames["legal"][valid]
    over = chunk.frames["terminated"][valid]
    assert (acting.sum(-1) == ~over).all()
    assert (legal.any(-1) == acting).all()
    state = _states(chunk)
    assert ((state["winner"] > 0) == over).all()
    assert not state["ask"][over].any()


def test_energy_is_neither_lost_nor_made(games):
    """R30, R36: attached energy is in play or was discarded; both only grow."""
    chunk = games[3]
    for lane in range(chunk.lanes):
        frames = slice(0, int(chunk.lengths[lane]) + 1)
        total = chunk.frames["state.energy"][frames, lane].sum((1, 2, 3)).astype(int)
        total += chunk.frames["state.discarded"][frames, lane].sum((1, 2)).astype(int)
        assert (np.diff(total) >= 0).all()


def test_a_game_loaded_at_any_choice_goes_on_as_it_did(games):
    """State after state, put into another game."""
    agreed, _, _, chunk = games
    other = TcgjaxOracle(agreed)
    asked = set()
    for lane in range(4):
        for t in range(int(chunk.lengths[lane])):
            state = {f.name: chunk.frames[f"state.{f.name}"][t, lane] for f in agreed.state}
            other.load(state)
            asked.add(int(state["ask"]))
            after = flatten(other.step(chunk.actions[t, lane]))
            for path, value in after.items():
                assert np.array_equal(value, chunk.frames[path][t + 1, lane]), (lane, t, path)
    assert {Ask.ACTIVE, Ask.BENCH, Ask.TURN, Ask.PROMOTE} <= asked


def test_a_story_names_a_ruling_in_every_line(games):
    """The narrator knows every action, too."""
    agreed, oracle, starts, chunk = games
    rulings = {f"R{n}" for n in range(1, 140)}
    for lane in range(3):
        start = starts._replace(
            seed=starts.seed[lane], fields={k: v[lane] for k, v in starts.fields.items()}
        )
        told = narrate(oracle, agreed, start, chunk.actions[: chunk.lengths[lane], lane]).lines
        said = [line.strip() for line in told if line.startswith("    ")]
        assert said
        for line in said:
            assert re.match(r"(R\d+)[:,]", line), line
            assert line.partition(":")[0].split(",")[0] in rulings, line
        assert told[-1] in ("player 0 wins", "player 1 wins", "a tie")


def test_boards_meet_every_effect_and_ask_every_choice():
    """The boards of level 2's single steps."""
    (subject,) = registry.subjects(TCGJAX, {}, ["apex"])
    oracle = TcgjaxOracle(subject.contract)
    placed = oracle.places(8192, 0)
    actions = placed.pop("action")
    assert set(placed["ask"].tolist()) == set(range(12)) - {Ask.ACTIVE, Ask.BENCH}
    met = np.zeros(len(subject.contract.events), int)
    for n in range(len(actions)):
        oracle.load({name: value[n] for name, value in placed.items()})
        oracle.step(actions[n])
        met += oracle.events()
    never = [name for name, count in zip(subject.contract.events, met, strict=True) if not count]
    assert never == []


@pytest.mark.parametrize(
    ("name", "value"),
    {"weakness": 40, "hand": 5, "poison": 30, "heads": 0, "turns": 9, "points": 1}.items(),
)
def test_each_value_of_the_rules_matters(name, value):
    """R1 to R6 are parameters: another value of any of them changes the course of games."""
    assert name in RULES
    played = []
    for settings in ({}, {name: str(value)}):
        (subject,) = registry.subjects(TCGJAX, settings, ["invented"])
        starts = starts_of(subject.contract, seeds("public", 24, "tcgjax"))
        loose = registry.load_object(subject.driver("loose"))
        oracle = TcgjaxOracle(subject.contract)
        chunk = record(oracle, subject.contract, loose, starts, 1500, lambda *_: None)
        fields = ("draws", "damage", "turn", "zone")
        played.append([int(chunk.frames[f"state.{field}"].sum()) for field in fields])
    assert played[0] != played[1]
