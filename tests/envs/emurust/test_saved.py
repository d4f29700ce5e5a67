"""PyBoy's saved states: split into fields, composed, loaded, continued."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from twinstep.contracts.emurust.cartridge import MAPPERS, read_header
from twinstep.contracts.emurust.roms.games import GAMES
from twinstep.contracts.emurust.roms.random_programs import random_program
from twinstep.contracts.emurust.state import HIDDEN, SHOWN, record_dtype
from twinstep.tests.support.emurust_oracles import (
    actions,
    closing,
    contract_of,
    need_reference,
    same,
    start,
    whole,
)

KEPT = {item.name for item in SHOWN + HIDDEN}


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
    for written in (0, 1, 0) if lcdc < 0x80 else (0,):
        for shows in (0, 1, 0):
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
        (10812, "fixed_sound_cycles"),
        (10828, "sound_clock"),
        (len(blob) - 9, "fixed_super"),
    ):
        wrong = blob.copy()
        wrong[at] ^= 1
        with pytest.raises(UnknownState, match=problem):
            gameboy.saved.fields_of(bytes(wrong))
