"""The bridge to PyBoy: starts, rewards, ends; states taken apart, loaded and continued."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from twinstep.contract import Contract
from twinstep.contracts.emurust import EMURUST
from twinstep.contracts.emurust_cartridge import MAPPERS, read_header
from twinstep.contracts.emurust_state import HIDDEN, SHOWN, record_dtype
from twinstep.contracts.roms.games import GAMES
from twinstep.contracts.roms.random_programs import random_program
from twinstep.errors import OracleMissing
from twinstep.frames import Frame, Start, flatten
from twinstep.oracles.emurust import upstream

KEPT = {item.name for item in SHOWN + HIDDEN}


@pytest.fixture(scope="module", autouse=True)
def _reference() -> None:
    problem = upstream.probe({})
    if problem.problem:
        if os.environ.get("CI", "").lower() in ("true", "1"):
            raise OracleMissing(problem.problem, problem.mend)
        pytest.skip(f"{problem.problem}: {problem.mend}")


def contract_of(**params: Any) -> Contract:
    return EMURUST.contract(EMURUST.params(params))


@pytest.fixture
def oracle() -> Iterator[Any]:
    """A maker of oracles that closes them."""
    from twinstep.oracles.emurust.bridge import EmuRustOracle

    made: list[Any] = []

    def make(contract: Contract) -> Any:
        made.append(EmuRustOracle(contract))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def boy() -> Iterator[Any]:
    """A maker of Boys that closes them."""
    from twinstep.oracles.emurust.boy import Boy

    made: list[Any] = []

    def make(rom: bytes) -> Any:
        made.append(Boy(rom))
        return made[-1]

    yield make
    for each in made:
        each.close()


def start(contract: Contract, low: int, high: int = 0) -> Start:
    seed = np.array([low, high], np.uint32)
    return Start(seed, contract.make_start(seed) if contract.make_start else {})


def actions(contract: Contract, steps: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, contract.action.n, (steps, 1), np.int32)  # type: ignore[union-attr]


def same(one: Frame, other: Frame) -> list[str]:
    """The paths in which two frames differ."""
    a, b = flatten(one), flatten(other)
    return [name for name in a if not np.array_equal(a[name], b[name])]


def whole(oracle: Any, frame: Frame) -> dict[str, np.ndarray]:
    return {**frame.state, **oracle.hidden()}


# Episodes.


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


def test_seed_and_wait_come_from_the_start(oracle, boy):
    """As the contract's docstring says: the same played by hand, the hash written down apart."""
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
    """The paddle never moves: five balls missed end it, those caught are points."""
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
from twinstep.contracts.roms.memory import Bits, Change, New, Rules, Value
rules = Rules(
    reward=(Bits(Value(0xC102), 0.5), New((Value(0xC102),), 10.0), Change(Value(0xC109), 0.25)),
    actions=((), ("left",), ("right",)),
    seed=Value(0xC105, 2),
    start_frames=16,
)
"""


def test_bits_and_new_values_are_rewards(oracle, tmp_path):
    """Against sums of our own, from the paddle's place and the count of frames in catch."""
    path = tmp_path / "rules.py"
    path.write_text(RULES)
    contract = contract_of(rules=str(path), frame_skip=8)
    assert set(contract.data) == {"rom", "rules"}
    play = oracle(contract)
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


# States.


@pytest.mark.parametrize("name", GAMES)
def test_a_loaded_state_continues_as_the_episode_itself(oracle, name):
    contract = contract_of(rom=name)
    one, other = oracle(contract), oracle(contract)
    frame = one.reset(start(contract, 2))
    other.reset(start(contract, 9))
    for number, action in enumerate(actions(contract, 8, seed=3)):
        other.step((action + 1) % contract.action.n)  # type: ignore[union-attr]
        other.load(whole(one, frame))
        frame = one.step(action)
        assert not same(frame, other.step(action)), number
        hidden, again = one.hidden(), other.hidden()
        assert [n for n in hidden if not np.array_equal(hidden[n], again[n])] == []


def played(boy: Any, rng: np.random.Generator, held: int, frames: int = 1) -> int:
    now = int(rng.integers(256))
    boy.hold(now, held)
    boy.play(frames, True)
    return now


def state_of(boy: Any) -> dict[str, np.ndarray]:
    return {**boy.shown(), **boy.hidden()}


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_states_are_whole_and_asking_for_them_changes_nothing(boy, seed):
    """Three Game Boys: never asked; asked at each frame; loaded at each frame."""
    rom, rng = random_program(seed), np.random.default_rng(seed)
    alone, asked, loaded = boy(rom), boy(rom), boy(rom)
    held = 0
    for _ in range(10):
        state, before = state_of(asked), held
        loaded.load(state)
        twin = rng.bit_generator.state
        for each in (alone, asked, loaded):
            rng.bit_generator.state = twin
            held = played(each, rng, before)
        found = alone.save()
        assert not alone.saved.differences(found, asked.save())
        assert not alone.saved.differences(found, loaded.save())


def header(kind: int, ram: int = 0, banks: int = 4) -> bytes:
    """A cartridge that counts in its RAM and switches banks."""
    rom = bytearray(0x4000 * banks)
    code = "3e0aea0000 2100a0 34 2c 7e ea0020 ea0040 18f6"
    rom[0x100 : 0x100 + len(bytes.fromhex(code))] = bytes.fromhex(code)
    rom[0x147:0x14A] = bytes((kind, banks.bit_length() - 2, ram))
    rom[0x14D] = -sum(byte + 1 for byte in rom[0x134:0x14D]) & 0xFF
    return bytes(rom)


@pytest.mark.parametrize("kind", MAPPERS)
@pytest.mark.parametrize("ram", [0, 3])
def test_saved_states_are_taken_apart_and_put_together(boy, kind, ram):
    rom = header(kind, ram)
    one, other = boy(rom), boy(rom)
    dtype = record_dtype(read_header(rom))
    for _ in range(3):
        one.play(3, True)
        state = state_of(one)
        assert set(state) == KEPT
        for name in dtype.names or ():
            assert (state[name].dtype, state[name].shape) == (dtype[name].base, dtype[name].shape)
        blob = one.save()
        assert not one.saved.differences(blob, one.saved.compose(state))
        other.load(state)
        assert not one.saved.differences(blob, other.save())
    # Without a mapper reads of the RAM give FF, which the program counts up to 0.
    assert state["cart_ram"].any() != (kind == 0)


def test_what_a_saved_state_lacks_is_set_and_found(boy):
    gameboy = boy(GAMES["catch"].rom)
    state = state_of(gameboy)
    for after_ei in (0, 1):
        for line in (-1, 0, 57, 142, 143, 254):
            halted = np.uint8(1)
            gameboy.load(
                state | {"halted": halted, "halted_after_ei": after_ei, "window_line": line}
            )
            found = gameboy.hidden()
            assert (found["halted_after_ei"], found["window_line"]) == (after_ei, line)


@pytest.mark.parametrize(("lcdc", "mode"), [(0x91, 1), (0x91, 0), (0x11, 0)])
def test_flags_that_a_saved_state_lacks_are_set_and_found(boy, lcdc, mode):
    gameboy = boy(GAMES["catch"].rom)
    state = state_of(gameboy)
    io = state["io"].copy()
    io[0x40] = lcdc
    state |= {"io": io, "stat": np.uint8(0x80 | mode), "halted": np.uint8(0)}
    for written in (0, 1) if lcdc < 0x80 else (0,):
        for shows in (0, 1):
            gameboy.load(state | {"lyc_written_while_off": written, "stat_shows_mode_0": shows})
            for _ in range(2):  # finding them changes nothing
                found = gameboy.hidden()
                both = found["lyc_written_while_off"], found["stat_shows_mode_0"]
                assert both == (written, shows)


def test_an_unknown_part_of_a_saved_state_is_an_error(boy):
    from twinstep.oracles.emurust.saved import UnknownState

    gameboy = boy(GAMES["catch"].rom)
    blob = bytearray(gameboy.save())
    for at, problem in (
        (9170, "fixed_sound"),
        (10828, "sound_clock"),
        (len(blob) - 9, "fixed_super"),
    ):
        wrong = blob.copy()
        wrong[at] ^= 1
        with pytest.raises(UnknownState, match=problem):
            gameboy.saved.fields_of(bytes(wrong))
