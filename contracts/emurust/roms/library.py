"""What the games share: names of the hardware's registers, start-up, small routines, a font.

A game is one or more files of `asm/` with these labels, assembled by `game_rom`:

    setup        LCD off: load tiles and maps. What it needs beyond Common is zero already
    new_game     the first frame: PRNG is seeded
    frame        once a frame, right at the start of the vertical blank: draw, read keys, move.
                 Not called any more after `over` became 1
    wait         comes back at the start of the next vertical blank, keeps bc
    vblank       interrupt routines. wait_halt.asm and others have `wait` with both of them
    timer
    interrupts   what IE holds in play (a constant)
    display      what LCDC holds in play (a constant)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .assembler import Block, Source, cartridge
from .memory import Common, constants

_FOLDER = Path(__file__).with_name("asm")

#: Hardware registers, for `ldh`, by the names of the Pan Docs.
HARDWARE = {
    "P1": 0xFF00, "DIV": 0xFF04, "TIMA": 0xFF05, "TMA": 0xFF06, "TAC": 0xFF07, "IF": 0xFF0F,
    "LCDC": 0xFF40, "STAT": 0xFF41, "SCY": 0xFF42, "SCX": 0xFF43, "LY": 0xFF44, "LYC": 0xFF45,
    "DMA": 0xFF46, "BGP": 0xFF47, "OBP0": 0xFF48, "OBP1": 0xFF49, "WY": 0xFF4A, "WX": 0xFF4B,
    "IE": 0xFFFF,
}  # fmt: skip

#: Bits of what `keys` returns.
KEYS = {
    "A_KEY": 0, "B_KEY": 1, "SELECT_KEY": 2, "START_KEY": 3,
    "RIGHT_KEY": 4, "LEFT_KEY": 5, "UP_KEY": 6, "DOWN_KEY": 7,
}  # fmt: skip

PLACES = {
    "SPRITES": 0xC000,  # 160 bytes, copied to OAM by `copy_sprites`
    "VARIABLES": 0xC100,
    "STACK": 0xE000,
    "TILES": 0x8000,
    "MAP0": 0x9800,
    "MAP1": 0x9C00,
    "OAM": 0xFE00,
    "HRAM_CODE": 0xFF80,
    "VBLANK_ON": 1,
    "TIMER_ON": 4,
}

#: Letters of 3 x 5 dots: five rows, an octal digit each, whose bits are dots.
GLYPHS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717",
    "6": "74757", "7": "71111", "8": "75757", "9": "75717", "A": "25755", "B": "65656",
    "C": "34443", "D": "65556", "E": "74647", "F": "74644", "G": "34553", "H": "55755",
    "I": "72227", "K": "55655", "L": "44447", "M": "57755", "N": "65555", "O": "25552",
    "P": "65644", "R": "65655", "S": "34216", "T": "72222", "U": "55557", "V": "55552",
    "W": "55775", "X": "55255", "Y": "55222", "Z": "71247", "-": "00700",
}  # fmt: skip


def _font() -> Source:
    """8 bytes to a glyph, for the codes from the space to Z."""
    lines = ["font:"]
    for code in range(ord(" "), ord("Z") + 1):
        rows = [int(row) << 4 for row in GLYPHS.get(chr(code), "00000")]
        lines.append("db " + ", ".join(map(str, [0, *rows, 0, 0])))
    return Source("library font", "\n".join([*lines, "font_end:"]))


def source(name: str) -> Source:
    """A file of `asm/`."""
    return Source(name, (_FOLDER / name).read_text(encoding="ascii"))


def game_rom(title: str, names: Sequence[str], variables: Common, banks: int = 2) -> Block:
    """Assembles a game: the library, then its own files of `asm/`."""
    return cartridge(
        [source("start.asm"), source("routines.asm"), _font(), *map(source, names)],
        title=title,
        constants=HARDWARE | KEYS | PLACES | constants(variables),
        banks=banks,
    )
