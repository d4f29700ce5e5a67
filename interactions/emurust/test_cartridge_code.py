"""Level 2: code that switches the bank it lies in, and code at the end of bank 0."""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program

pytestmark = [pytest.mark.level2, pytest.mark.environment("emurust"), pytest.mark.one_variant]

MBC1, MBC2, MBC3, MBC5 = 0x01, 0x05, 0x11, 0x19


@pytest.mark.parametrize("kind", [MBC1, MBC2, MBC3, MBC5])
def test_a_bank_is_switched_under_the_running_code(twinstep_lab, kind):
    """The next instruction is the new bank's; calls, returns and interrupts continue in it."""
    banks = 8
    program = Program(kind, banks).code("di").write("TAC", 5).write("IE", 4)
    program.put(0x50, bytes((0xC3, 0x00, 0x60)))  # the timer's handler lies in the banks too
    program.code("ld hl, $C000\nld b, 1\nei").jump(0x4000)
    for bank in range(1, banks):
        start = bank * 0x4000
        # After the switch the same address continues with other bytes.
        text = f"""
            ld a, {bank * 17}
            ld [hl+], a
            ld a, b
            add a, {bank * 2 + 1}
            and 7
            ld b, a
            ld [$2100], a
            ld a, {bank}
            ld [hl+], a
            inc b
            call $4100
            ld a, h
            and $C7
            ld h, a
            jp $4000
        """
        program.data[start : start + 0x40] = Program().put(0, text).data[:0x40]
        program.put(start + 0x100, f"ld a, {bank}\nld [hl+], a\nret") if bank == 1 else None
        program.data[start + 0x100 : start + 0x105] = bytes((0x3E, bank, 0x22, 0xC9, 0x00))
        handler = Program().put(0, f"push af\nld a, {bank}\nld [$C900], a\npop af\nreti").data[:16]
        program.data[start + 0x2000 : start + 0x2010] = handler
    console.play(twinstep_lab, [program.rom()], steps=10)


@pytest.mark.parametrize("banks", [2, 4, 8])
def test_code_across_the_end_of_bank_0(twinstep_lab, banks):
    """PyBoy fetches opcodes at 3FFE and 3FFF from the end of the bank before the switched one.

    With bank 0 switched in it would read outside its memory, so nothing could be required.
    """
    rng = np.random.default_rng(51)
    programs = []
    opcodes = (0x3C, 0x04, 0x0C, 0x14, 0x1C, 0x3E, 0x06, 0x01, 0x80, 0xC6, 0xCB, 0x18, 0xF0)
    for _ in range(6 if banks == 2 else 2):
        program = Program(MBC1 if banks > 2 else 0, banks).code("di\nld hl, $C000\nld b, 1")
        again = program.at
        program.code(f"ld a, b\ninc a\nand {banks - 1}\nld b, a\nld [$2000], a")
        program.code("xor a\nld c, a\nld d, a")
        program.code("ld e, a\npush bc\njp $3FF8")
        for bank in range(banks):
            end = bank * 0x4000 + 0x3FF8
            program.data[end : end + 4] = bytes(4)
            # The end of one bank and the beginning of the next fit together in each order.
            program.data[end + 4 : end + 8] = bytes(int(rng.choice(opcodes[:5])) for _ in range(4))
            if bank & 1:  # the opcode at 3FFE takes the byte behind it
                program.data[end + 6] = int(rng.choice((0x3E, 0x06, 0xC6, 0x01)))
            last = int(rng.choice(opcodes))
            program.data[end + 7] = last
            start = bank * 0x4000
            if bank:
                program.data[start : start + 4] = bytes((0x00, 0x00, 0x04, 0x0C))
                program.data[start + 4 : start + 7] = bytes((0xC3, 0x00, 0x3E))
        program.put(
            0x3E00,
            "ld [hl+], a\nld a, b\nld [hl+], a\nld a, c\nld [hl+], a\nld a, d\nld [hl+], a\n"
            "ld a, e\nld [hl+], a\npop bc\nld a, h\nand $C7\nld h, a\n" + f"jp {again}",
        )
        programs.append(program.rom())
    console.play(twinstep_lab, programs, steps=4)
