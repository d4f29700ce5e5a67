"""What the games share: names of the hardware's registers, start-up, small routines, a font.

A game is a source with these labels, assembled by `game_rom`:

    setup        LCD off: load tiles and maps. What it needs beyond Common is zero already
    new_game     the first frame: PRNG is seeded
    frame        once a frame, right at the start of the vertical blank: draw, read keys, move.
                 Not called any more after `over` became 1
    wait         comes back at the start of the next vertical blank, keeps bc
    vblank       interrupt routine; `timer` too where interrupts = TIMER_ON is set
    interrupts   what IE holds in play (a constant)
    display      what LCDC holds in play (a constant)
"""

from __future__ import annotations

from collections.abc import Sequence

from .assembler import Block, Source, cartridge
from .memory import Common, constants

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

START = Source(
    "library start",
    """
org $40
    jp vblank
org $50
    jp timer
org $100
    nop
    jp start

org $150
start:
    di
    ld sp, STACK
.blank:                     ; the LCD may be switched off in the vertical blank only
    ldh a, [LY]
    cp 144
    jr nz, .blank
    xor a
    ldh [LCDC], a
    ldh [IF], a
    ld a, interrupts
    ldh [IE], a
    ld a, 0b11100100        ; shades in their natural order
    ldh [BGP], a
    ldh [OBP0], a
    ldh [OBP1], a
    ; All variables become zero but the seed: whoever pokes it may do so at any time before the
    ; game begins.
    ld hl, SPRITES
    ld bc, prng - SPRITES
    ld d, 0
    call fill
    ld hl, prng + 2
    ld bc, $C800 - (prng + 2)
    call fill
    ld hl, OAM
    ld bc, 160
    call fill
    ld hl, MAP0
    ld bc, 2 * 1024
    ld d, ' '
    call fill
    ld hl, TILES + ' ' * 16
    ld de, font
    ld bc, font_end - font
.glyph:                     ; the font has one byte for a row, tiles have two: all ink is colour 3
    ld a, [de]
    inc de
    ld [hl+], a
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, .glyph
    ld hl, HRAM_CODE
    ld de, sprite_copier
    ld bc, sprite_copier_end - sprite_copier
    call copy
    call setup
    ld a, display
    ldh [LCDC], a
    ei
    ld b, 3                 ; a few frames of quiet, in which the seed may be poked
.quiet:
    call wait
    dec b
    jr nz, .quiet
    ld hl, prng
    ld a, [hl+]
    or [hl]
    jr nz, .seeded
    ld [hl], $1D            ; the generator's only fixed point is 0
    dec hl
    ld [hl], $2B
.seeded:
    call random             ; seeds that lie close give first numbers that lie close
    call random
    call new_game
    ld a, 1
    ld [playing], a
main:
    call wait
    ld a, [over]
    or a
    jr nz, main
    call frame
    jr main
""",
)

ROUTINES = Source(
    "library routines",
    """
; Copies bc bytes from de to hl.
copy:
    ld a, [de]
    inc de
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, copy
    ret

; Writes bc times the byte d to hl.
fill:
    ld a, d
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, fill
    ret

; a = the next random byte. xorshift with 7, 9, 8 on 16 bits. Changes hl.
random:
    ld a, [prng]
    ld l, a
    ld a, [prng + 1]
    ld h, a
    rra                     ; x ^= x << 7. The high byte of x << 7 is h0 l7 l6 ... l1,
    ld a, l
    rra
    xor h
    ld h, a
    ld a, l                 ; the low one is l0 and zeros
    rrca
    and $80
    xor l
    ld l, a
    ld a, h                 ; x ^= x >> 9
    srl a
    xor l
    ld l, a
    xor h                   ; x ^= x << 8
    ld h, a
    ld [prng + 1], a
    ld a, l
    ld [prng], a
    add a, h                ; not a plain byte of the state: one could be had for each state
    ret

; a = bits of the keys held. Changes b.
keys:
    ld a, $20               ; the line of the four directions is selected by a zero in bit 4
    ldh [P1], a
    ldh a, [P1]
    ldh a, [P1]
    cpl
    and $0F
    swap a
    ld b, a
    ld a, $10
    ldh [P1], a
    ldh a, [P1]
    ldh a, [P1]
    cpl
    and $0F
    or b
    ld b, a
    ld a, $30
    ldh [P1], a
    ld a, b
    ret

; Copies the 160 bytes at SPRITES to OAM. Runs in high RAM, the only memory that is safe meanwhile.
sprite_copier:
    ld a, high(SPRITES)
    ldh [DMA], a
    ld a, 40
.busy:
    dec a
    jr nz, .busy
    ret
sprite_copier_end:
copy_sprites = HRAM_CODE

; Writes hl in four digits at de. Changes a, b, c, hl.
print_word:
    ld bc, -1000
    call print_digit
print_hundreds:
    ld bc, -100
    call print_digit
    ld bc, -10
    call print_digit
    ld a, l
    add a, '0'
    ld [de], a
    inc de
    ret
print_digit:                ; how often -bc goes into hl
    ld a, '0' - 1
.again:
    inc a
    add hl, bc
    jr c, .again
    ld [de], a
    inc de
    ld a, l                 ; once too often
    sub c
    ld l, a
    ld a, h
    sbc a, b
    ld h, a
    ret

; Writes a in three digits at de. Changes a, b, c, hl.
print_byte:
    ld l, a
    ld h, 0
    jr print_hundreds
""",
)

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


def tile(picture: str) -> str:
    """A tile as `db` lines, from eight rows of eight of the characters ` .+#`, light to dark."""
    rows = [row.strip().strip("|") for row in picture.strip().splitlines()]
    assert [len(row) for row in rows] == [8] * 8, picture
    lines = []
    for row in rows:
        shades = [" .+#".index(dot) for dot in row]
        low, high = (
            sum((shade >> bit & 1) << 7 - x for x, shade in enumerate(shades)) for bit in (0, 1)
        )
        lines.append(f"db {low}, {high}")
    return "\n".join(lines)


#: `wait` and `vblank` of a game that sleeps until the vertical blank.
WAIT_HALT = Source(
    "library wait",
    """
interrupts = VBLANK_ON
wait:
    halt
    nop
    ret
vblank:
timer:
    reti
""",
)


def game_rom(title: str, sources: Sequence[Source], variables: Common, banks: int = 2) -> Block:
    """Assembles a game: the library, then its own sources. See the module for what it must have."""
    return cartridge(
        [START, ROUTINES, _font(), *sources],
        title=title,
        constants=HARDWARE | KEYS | PLACES | constants(variables),
        banks=banks,
    )
