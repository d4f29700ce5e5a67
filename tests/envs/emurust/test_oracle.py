"""The bridge to PyBoy: episodes, alone and in parallel."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import twinstep
from twinstep.contracts.emurust.declaration import EMURUST
from twinstep.contracts.emurust.roms.games import GAMES
from twinstep.frames import Frame, Start, flatten, unflatten
from twinstep.properties.emurust.program import Program
from twinstep.tests.support.emurust_oracles import (
    actions,
    closing,
    contract_of,
    need_reference,
    same,
    start,
    whole,
)


@pytest.fixture(scope="module", autouse=True)
def _reference() -> None:
    need_reference()


@pytest.fixture
def oracle() -> Iterator[Any]:
    from twinstep.oracles.emurust.bridge import EmuRustOracle

    yield from closing(EmuRustOracle)


@pytest.fixture
def boy() -> Iterator[Any]:
    from twinstep.oracles.emurust.boy import Boy

    yield from closing(Boy)


@pytest.mark.parametrize("variant", EMURUST.variants, ids=lambda v: v.name)
def test_frames_are_as_the_contract_says(oracle, variant):
    contract = contract_of(**variant.params)
    play = oracle(contract)
    frames = [play.reset(start(contract, 1)), play.step(actions(contract, 1)[0])]
    for frame in frames:
        named = flatten(frame)
        for path, (dtype, shape) in contract.layout().items():
            assert (np.asarray(named[path]).dtype, np.shape(named[path])) == (dtype, shape), path
    hidden = play.hidden()
    for field in contract.hidden:
        value = hidden[field.name]
        assert (value.dtype, value.shape) == (np.dtype(field.dtype), field.shape), field.name


@pytest.mark.parametrize("name", ["catch", "breakout", "random"])
def test_same_start_and_actions_give_the_same_frames(oracle, name):
    """Also in a PyBoy that has played other episodes before."""
    contract = contract_of(rom=name)
    one, other = oracle(contract), oracle(contract)
    other.reset(start(contract, 77))
    for action in actions(contract, 3, seed=9):
        other.step(action)
    assert not same(one.reset(start(contract, 5)), other.reset(start(contract, 5)))
    for action in actions(contract, 6):
        assert not same(one.step(action), other.step(action))


@pytest.mark.parametrize("name", ["breakout", "random"])
def test_lanes_are_the_same_episodes_side_by_side(oracle, name):
    """Also lanes that stand still, restart, or come from PyBoys that have played before."""
    contract = contract_of(rom=name)
    alone, offered = [oracle(contract) for _ in range(3)], oracle(contract)
    starts = [start(contract, seed) for seed in (5, 6, 7)]
    offered.lanes(2).reset(stacked(starts[1:]))
    lanes = offered.lanes(3)
    ours = [each.reset(first) for each, first in zip(alone, starts, strict=True)]
    agree(ours, lanes.reset(stacked(starts)))
    held = np.array([actions(contract, 5, seed) for seed in range(3)])
    for step in range(4):
        if step == 2:
            ours[2] = alone[2].reset(starts[0])
            agree(ours, lanes.begin(stacked(starts[:1]), np.array([2])))
        live = np.array([True, step != 1, True])
        for lane in np.flatnonzero(live):
            ours[lane] = alone[lane].step(held[lane, step])
        agree(ours, lanes.step(held[:, step], live))
        events = [each.events() for each in alone]
        np.testing.assert_array_equal(lanes.events()[live], np.array(events)[live])
    alone[0].load(whole(alone[1], ours[1]))
    lanes.load({name: value[None] for name, value in whole(alone[1], ours[1]).items()}, [0])
    ours[0] = alone[0].step(held[0, 4])
    agree(ours, lanes.step(held[:, 4], np.array([True, False, False])))


def test_lean_lanes_leave_out_the_state_and_nothing_else(oracle):
    contract = contract_of(rom="explorer")
    starts, held = stacked([start(contract, seed) for seed in (5, 6)]), actions(contract, 2)
    offered = oracle(contract)
    lean, whole_ones = offered.lanes(2).lean(), oracle(contract).lanes(2)
    for mine, theirs in (
        (lean.reset(starts), whole_ones.reset(starts)),
        (lean.step(held, np.ones(2, bool)), whole_ones.step(held, np.ones(2, bool))),
    ):
        assert not mine.state
        assert not same(mine._replace(state=lean.fields()), theirs)
    assert offered.lanes(2).reset(starts).state, "lanes asked for anew have it"


def test_the_references_environment_has_a_frames_state_when_asked():
    env = twinstep.make("emurust-v0", "oracle")
    state, _ = env.reset(3, 2)
    state, step = env.step(state, np.ones((2, 1), np.int32))
    frame = env.frame(state)
    np.testing.assert_array_equal(frame.obs[:, 0], step.obs)
    np.testing.assert_array_equal(frame.state["screen"], step.obs)
    assert set(frame.state) == {field.name for field in env.contract.shown}
    env.close()


def stacked(starts: list[Start]) -> Start:
    fields = {name: np.stack([each.fields[name] for each in starts]) for name in starts[0].fields}
    return Start(np.stack([each.seed for each in starts]), fields)


def agree(frames: list[Frame], batch: Frame) -> None:
    for lane, frame in enumerate(frames):
        named = flatten(batch)
        assert not same(frame, unflatten({path: row[lane] for path, row in named.items()})), lane


def test_what_an_episode_leaves_in_a_mappers_registers_is_gone_in_the_next(boy):
    """A saved state does not restore the bank at 0000: MBC1, with another one there."""
    program = Program(3, 64, 3).code("di\nld a, 1\nld [$C000], a\nld a, 10\nld [0], a\nld a, 1")
    program.code("ld [$4000], a\nld [$6000], a").rest()
    played = boy(program.rom())
    seen = []
    for _ in range(2):
        played.begin()
        played.play(2, True)
        seen.append({**played.shown(), **played.hidden()})
    assert seen[0]["wram"][0] == 1
    assert not [name for name, value in seen[0].items() if not np.array_equal(value, seen[1][name])]
    # Once loaded, such a state continues where it was: in the other bank, which is empty.
    played.begin()
    played.load(seen[0])
    ends = []
    for _ in range(2):
        played.load(seen[0])
        played.play(1, True)
        ends.append(played.shown())
        played.begin()
    assert ends[0]["pc"] == ends[1]["pc"] != seen[0]["pc"]


def test_an_oracle_that_nobody_closes_ends_without_a_word():
    code = (
        "import numpy, twinstep; env = twinstep.make('emurust-v0', 'oracle');"
        "state, _ = env.reset(0, 2); print(env.step(state, numpy.zeros((2, 1), int))[1].reward)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("[0. 0.]", "")


def test_seed_and_wait_come_from_the_start(oracle, boy):
    """As in the contract's docstring: the same played by hand, the hash written separately."""
    contract = contract_of()
    play, gameboy = oracle(contract), boy(GAMES["catch"].rom)
    waits = set()
    for low, high in [(0, 0), (1, 0), (0, 1), (2**32 - 1, 5)]:
        frame = play.reset(start(contract, low, high))
        key = _h32(low ^ _h32(high))
        waits.add(_h32(key ^ 0x9E3779B9) % 16)
        gameboy.begin()
        gameboy.memory[0xC105], gameboy.memory[0xC106] = key & 255, key >> 8 & 255
        for _ in range(16 + _h32(key ^ 0x9E3779B9) % 16):
            gameboy.play(1, True)
        for name, value in gameboy.shown().items():
            assert np.array_equal(value, frame.state[name]), name
    assert len(waits) > 1


def _h32(x: int) -> int:
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ x >> shift) * factor % 2**32
    return x ^ x >> 16


def test_catchs_score_is_the_reward_and_its_end_the_end(oracle):
    """The paddle never moves: five missed balls end it, caught ones are points."""
    contract = contract_of(max_episode_steps=1000)
    play = oracle(contract)
    variables = GAMES["catch"].variables
    frame, total = play.reset(start(contract, 3)), 0.0
    over = variables.over.address - 0xC000
    while not frame.terminated:
        assert not frame.state["wram"][over]
        frame = play.step(np.zeros(1, np.int32))
        total += float(frame.reward[0])
        assert play.events().tolist() == [frame.reward[0] > 0]
        assert frame.state["elapsed"] < 200
    wram = frame.state["wram"]
    assert wram[over]
    assert wram[variables.score.address - 0xC000] == total
    assert wram[variables.lives.address - 0xC000] == 0
    assert not frame.truncated


def test_an_episode_is_cut_at_its_limit(oracle):
    contract = contract_of(max_episode_steps=3)
    play = oracle(contract)
    play.reset(start(contract, 3))
    assert [bool(play.step(a).truncated) for a in actions(contract, 3)] == [False, False, True]


def test_buttons_reach_the_game(oracle):
    contract = contract_of()
    play = oracle(contract)
    at = GAMES["catch"].variables.paddle.address - 0xC000
    places = []
    for action in (1, 2):
        play.reset(start(contract, 3))
        places.append(int(play.step(np.array([action], np.int32)).state["wram"][at]))
    assert places[0] < places[1]


def test_observations_are_the_picture_half_of_it_or_the_values(oracle):
    full, half, values = (oracle(contract_of(observe=kind)) for kind in ("full", "half", "values"))
    contract = contract_of(observe="values")
    frames = [play.reset(start(contract, 3)) for play in (full, half, values)]
    for action in [None, *actions(contract, 3)]:
        if action is not None:
            frames = [play.step(action) for play in (full, half, values)]
        picture = frames[0].state["screen"]
        assert picture.min() == 0
        assert picture.max() == 3
        assert np.array_equal(frames[0].obs[0], picture)
        assert np.array_equal(frames[1].obs[0], picture[::2, ::2])
        named = dict(zip(contract.observation.names, frames[2].obs[0], strict=True))
        wram = frames[2].state["wram"]
        for name, value in named.items():
            assert value == wram[getattr(GAMES["catch"].variables, name).address - 0xC000]


RULES = """
from twinstep.contracts.emurust.roms.memory import Bits, Change, New, Rules, Value
rules = Rules(
    reward=(Bits(Value(0xC102), 0.5), New((Value(0xC102),), 10.0), Change(Value(0xC109), 0.25)),
    actions=((), ("left",), ("right",)),
    seed=Value(0xC105, 2),
    start_frames=16,
)
"""


def test_bits_and_new_values_are_rewards(oracle, tmp_path):
    """Against our own sums, from the paddle's place and the count of frames in catch."""
    path = tmp_path / "rules.py"
    path.write_text(RULES)
    contract = contract_of(rules=str(path), frame_skip=8)
    assert set(contract.data) == {"rom", "rules"}
    play = oracle(contract)
    play.reset(start(contract, 3))
    for action in actions(contract, 5):  # what an earlier episode saw is new again
        play.step(action)
    before = play.reset(start(contract, 3)).state
    had, news = {int(before["wram"][0x102])}, 0
    for action in actions(contract, 40):
        frame = play.step(action)
        old, new = (int(s["wram"][0x102]) for s in (before, frame.state))
        ticks = [int(s["wram"][0x109]) for s in (before, frame.state)]
        wanted = 0.5 * (new.bit_count() - old.bit_count()) + 10.0 * (new not in had)
        wanted += 0.25 * ((ticks[1] - ticks[0]) % 256)
        assert frame.reward[0] == wanted
        news += new not in had
        had.add(new)
        before = frame.state
    assert 5 < news < 40
    assert int(np.unpackbits(before["seen"]).sum()) == len(had)
