"""Accepted and refused inputs of Game Boys in Rust, on both sides of each limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from twinstep.contracts.emurust.cartridge import MAPPERS, read_header
from twinstep.contracts.emurust.roms.games import GAMES
from twinstep.contracts.emurust.roms.memory import Rules
from twinstep.tests.support.game_boys import Boys, bytes_of, need_the_module, play_of, seeds

CATCH = GAMES["catch"].rom
#: Hidden fields with the largest number that each may hold.
MOST = {
    **dict.fromkeys(
        (
            *("ime", "ime_delay", "halted", "halted_after_ei", "stopped", "interrupt_queued"),
            *("dma_active", "dma_reading", "lcd_frame_done", "lcd_first_frame", "lcd_reset"),
            *("window_reached", "lyc_written_while_off", "stat_shows_mode_0", "serial_internal"),
            *("ram_enabled", "banking_mode"),
        ),
        1,
    ),
    "interrupt_flags": 31,
    "dma_index": 160,
    "lcd_next_mode": 3,
    "lcd_transition": 2,
    "window_line": 254,
    "joypad_directions": 15,
    "joypad_buttons": 15,
    "bank_low": 31,
    "bank_high": 3,
}


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    need_the_module()


def begin(rom: bytes, **more: Any) -> Any:
    import twinstep_rust  # pyright: ignore[reportMissingImports]

    play = play_of(CATCH, Rules(actions=((),)), **more)
    return twinstep_rust.EmuRustBatch.reset(play, bytes_of(rom)[None], seeds(1))


def changed(**header: int) -> bytes:
    """CATCH with other bytes in its header, `at_147=3`, and the checksum that fits them."""
    rom = bytearray(CATCH)
    for place, value in header.items():
        rom[int(place.removeprefix("at_"), 16)] = value
    rom[0x14D] = -sum(byte + 1 for byte in rom[0x134:0x14D]) & 0xFF
    return bytes(rom)


def test_a_wrong_checksum_is_told_with_the_one_there_is_and_the_one_there_should_be() -> None:
    rom = bytearray(changed(at_14E=0x5A))
    should = rom[0x14D]
    rom[0x14D] = should ^ 0x21
    with pytest.raises(ValueError, match=rf"is \${should ^ 0x21:02X}, it should be \${should:02X}"):
        begin(bytes(rom))


@pytest.mark.parametrize("kind", range(256))
def test_every_cartridge_type_is_played_or_refused_by_its_number(kind: int) -> None:
    rom = changed(at_147=kind)
    if kind not in MAPPERS:
        with pytest.raises(ValueError, match=rf"cartridge type \${kind:02X} "):
            begin(rom)
    else:
        assert read_header(rom) is not None
        assert begin(rom).lanes == 1


def boys_of(rom: bytes) -> Boys:
    play = play_of(rom, Rules(actions=((),)), frame_skip=1)
    import twinstep_rust  # pyright: ignore[reportMissingImports]

    batch = twinstep_rust.EmuRustBatch.reset(play, bytes_of(rom)[None], seeds(1))
    return Boys(rom, play, batch, (144, 160), 0)


def require_limit(rom: bytes, field: str, most: int) -> None:
    """The largest value is loaded, the next one is refused by name."""
    boys = boys_of(rom)
    state = boys.look()
    state[field][0] = most
    boys.load(state)
    state[field][0] = most + 1
    with pytest.raises(ValueError, match=f"the state's {field} cannot be {most + 1}$"):
        boys.load(state)


@pytest.mark.parametrize("field", MOST)
def test_a_state_is_taken_up_to_each_fields_largest_value_and_no_further(field: str) -> None:
    require_limit(changed(at_147=3, at_149=3), field, MOST[field])


#: Cartridge type, code of the RAM's size, banks of ROM; a field with its largest value there.
BANKS = (
    (0x00, 0, 2, "rom_bank", 1),
    (0x19, 0, 3, "rom_bank", 2),
    (0x19, 0, 256, "rom_bank", 255),
    (0x00, 0, 2, "ram_bank", 0),
    (0x03, 0, 2, "ram_bank", 3),
    (0x13, 3, 2, "ram_bank", 15),
    (0x1B, 3, 2, "ram_bank", 3),
    (0x1B, 4, 2, "ram_bank", 15),
    (0x1B, 5, 2, "ram_bank", 7),
)


@pytest.mark.parametrize(("kind", "ram", "banks", "field", "most"), BANKS)
def test_a_state_names_banks_that_the_cartridge_has(
    kind: int, ram: int, banks: int, field: str, most: int
) -> None:
    rom = changed(at_147=kind, at_149=ram) + bytes((banks - 2) * 0x4000)
    if most < 255:
        require_limit(rom, field, most)
    boys = boys_of(rom)
    state = boys.look()
    state[field][0] = most
    assert boys.load(state).look()[field].tolist() == [most]


def test_a_clocks_registers_are_banks_and_what_lies_between_is_none() -> None:
    boys = boys_of(changed(at_147=0x13, at_149=3))
    state = boys.look()
    taken = []
    for bank in range(256):
        state["ram_bank"][0] = bank
        try:
            taken.append(boys.load(state).look()["ram_bank"].tolist()[0])
        except ValueError:
            continue
    assert taken == [0, 1, 2, 3, *range(8, 16)]


def test_a_motor_is_on_or_off_and_one_cartridge_alone_has_a_banking_mode() -> None:
    boys = boys_of(changed(at_147=0x1E, at_149=3))
    state = boys.look()
    taken = []
    for motor in range(256):
        state["motor"][0] = motor
        try:
            taken.append(boys.load(state).look()["motor"].tolist()[0])
        except ValueError as refused:
            assert str(refused).endswith(f"the state's motor cannot be {motor}")  # noqa: PT017
    assert taken == [0, 8]
    state["motor"][0] = 0
    state["banking_mode"][0] = 1
    with pytest.raises(ValueError, match="the state's banking_mode cannot be 1$"):
        boys.load(state)


@pytest.mark.parametrize("value", [*range(1, 0x80), *range(0x81, 0x100)])
def test_a_serial_port_is_active_as_the_reference_has_it_or_not_at_all(value: int) -> None:
    boys = Boys.begin("catch", seeds(1))
    state = boys.look()
    for good in (0, 0x80):
        state["serial_active"][0] = good
        assert boys.load(state).look()["serial_active"].tolist() == [good]
    state["serial_active"][0] = value
    with pytest.raises(ValueError, match=f"the state's serial_active cannot be {value}$"):
        boys.load(state)


def test_a_step_has_an_hour_of_frames_at_most() -> None:
    most = 60 * 60 * 60
    assert play_of(CATCH, GAMES["catch"].rules, frame_skip=most) is not None
    with pytest.raises(ValueError, match="frame"):
        play_of(CATCH, GAMES["catch"].rules, frame_skip=most + 1)


def test_a_step_of_one_frame_in_an_episode_of_one_step_can_be() -> None:
    state = begin(CATCH, frame_skip=1, max_episode_steps=1)
    out = {"truncated": np.zeros(1, bool)}
    state.step(np.zeros(1, np.int32), out)
    assert out["truncated"].tolist() == [True]
