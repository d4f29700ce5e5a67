"""Catch: a ball falls, a paddle catches it. Sleeps in HALT until the vertical blank.

The ball falls 3 pixels every 2 frames and drifts sideways, bouncing off the walls; the paddle is
32 pixels wide and goes as fast as the ball falls. A ball caught counts one, a ball missed costs a
life. Three variants of one game differ in how they wait for the next frame, for the benchmark of
emulators: a poll of LY, of STAT, of a flag that the interrupt routine sets.
"""

from __future__ import annotations

from dataclasses import dataclass

from .assembler import Block, Source
from .library import WAIT_HALT, game_rom, tile
from .memory import Change, Common, Game, Value


@dataclass(frozen=True)
class Catch(Common):
    """Variables of catch."""

    score: Value = Value(0xC100, 1, "balls caught, modulo 256")
    lives: Value = Value(0xC101, 1, "5 at first")
    paddle: Value = Value(0xC102, 1, "left edge, 0 to 128")
    ball_x: Value = Value(0xC103, 1, "left edge, 0 to 152")
    ball_y: Value = Value(0xC104, 1, "top edge, 16 to 129")
    drift: Value = Value(0xC108, 1, "pixels to the right every second frame, -2 to 2")
    ticks: Value = Value(0xC109, 1, "frames played, modulo 256")
    dirty: Value = Value(0xC10A, 1, "1 when the numbers on the screen are old")
    flag: Value = Value(0xC10F, 1, "poll_flag: 1 after the interrupt of the vertical blank")


GAME = Source(
    "catch",
    f"""
display = 0b10010011        ; LCD on, tiles at $8000, sprites and background
PADDLE_Y = 136
BALL_BOTTOM = PADDLE_Y - 8
PADDLE_WIDTH = 32

pictures:
{
        tile('''
    |  .##.  |
    | .++##. |
    |.+..+##.|
    |#+..+###|
    |##++####|
    |.######.|
    | .####. |
    |  .##.  |''')
    }
{
        tile('''
    |########|
    |#++++++#|
    |#......#|
    |########|
    |        |
    |        |
    |        |
    |        |''')
    }
pictures_end:

setup:
    ld hl, TILES
    ld de, pictures
    ld bc, pictures_end - pictures
    call copy
    ld hl, MAP0 + 1
    ld de, text
    ld bc, text_end - text
    call copy
    ld hl, OAM + 4          ; sprite 0 is the ball, 1 to 4 are the paddle
    ld b, 4
.paddle:
    ld [hl], PADDLE_Y + 16
    inc hl
    inc hl
    ld [hl], 1
    inc hl
    inc hl
    dec b
    jr nz, .paddle
    ret
text:
    db "SCORE      LIVES"
text_end:

new_game:
    ld a, 5
    ld [lives], a
    ld a, 64
    ld [paddle], a
drop:                       ; a new ball
    ld a, 1
    ld [dirty], a
    ld a, 16
    ld [ball_y], a
    call random
    and 127
    add a, 12
    ld [ball_x], a
    call random
    and 3
    dec a
    ld [drift], a
    ret

frame:
    ; Draw first: the vertical blank lasts 4560 cycles.
    ld hl, OAM
    ld a, [ball_y]
    add a, 16
    ld [hl+], a
    ld a, [ball_x]
    add a, 8
    ld [hl], a
    ld a, [paddle]
    ld c, 8
    add a, c
    ld [OAM + 5], a
    add a, c
    ld [OAM + 9], a
    add a, c
    ld [OAM + 13], a
    add a, c
    ld [OAM + 17], a
    ld a, [dirty]
    or a
    call nz, numbers

    ld hl, ticks
    inc [hl]
    ld a, [hl]
    and 1
    inc a
    ld c, a                 ; c = pixels to go in this frame, 1 and 2 in turn

    ld hl, paddle
    call keys
    bit LEFT_KEY, b
    jr z, .not_left
    ld a, [hl]
    sub c
    jr nc, .paddle_moved
    xor a
    jr .paddle_moved
.not_left:
    bit RIGHT_KEY, b
    jr z, .ball
    ld a, [hl]
    add a, c
    cp 160 - PADDLE_WIDTH
    jr c, .paddle_moved
    ld a, 160 - PADDLE_WIDTH
.paddle_moved:
    ld [hl], a

.ball:
    bit 0, c                ; sideways in every second frame
    jr z, .down
    ld a, [drift]
    ld b, a
    ld a, [ball_x]
    add a, b
    cp 153
    jr nc, .wall
    ld [ball_x], a
    jr .down
.wall:
    xor a
    sub b
    ld [drift], a
.down:
    ld hl, ball_y
    ld a, [hl]
    add a, c
    ld [hl], a
    cp BALL_BOTTOM
    ret c

    ld hl, paddle           ; caught if they overlap by a pixel
    ld a, [ball_x]
    add a, 7
    sub [hl]
    cp PADDLE_WIDTH + 7
    jr nc, .missed
    ld hl, score
    inc [hl]
    jp drop
.missed:
    ld hl, lives
    dec [hl]
    jp nz, drop
    ld a, 1
    ld [over], a

numbers:
    xor a
    ld [dirty], a
    ld de, MAP0 + 7
    ld a, [score]
    call print_byte
    ld de, MAP0 + 18
    ld a, [lives]
    add a, '0'
    ld [de], a
    ret
""",
)

POLL_LY = Source(
    "poll LY",
    """
interrupts = 0
wait:
    ldh a, [LY]             ; a frame may be done within the line that it began in
    cp 144
    jr z, wait
.poll:
    ldh a, [LY]
    cp 144
    jr nz, .poll
    ret
vblank:
timer:
    reti
""",
)

POLL_STAT = Source(
    "poll STAT",
    """
interrupts = 0
wait:
    ldh a, [STAT]           ; mode 1 is the vertical blank
    and 3
    cp 1
    jr z, wait
.poll:
    ldh a, [STAT]
    and 3
    cp 1
    jr nz, .poll
    ret
vblank:
timer:
    reti
""",
)

POLL_FLAG = Source(
    "poll flag",
    """
interrupts = VBLANK_ON
wait:
    xor a
    ld [flag], a
.poll:
    ld a, [flag]
    or a
    jr z, .poll
    ret
vblank:
    push af
    ld a, 1
    ld [flag], a
    pop af
timer:
    reti
""",
)


def _game(name: str, wait: Source, doc: str) -> Game:
    def build() -> Block:
        return game_rom(name.upper().replace("_", " "), [GAME, wait], Catch())

    variables = Catch()
    return Game(
        name=name,
        build=build,
        variables=variables,
        buttons=("left", "right"),
        reward=(Change(variables.score),),
        done=variables.over,
        doc=doc,
    )


CATCH = _game("catch", WAIT_HALT, "a ball falls, a paddle catches it; sleeps in HALT")
POLL_LY_GAME = _game("poll_ly", POLL_LY, "catch that polls LY")
POLL_STAT_GAME = _game("poll_stat", POLL_STAT, "catch that polls the mode in STAT")
POLL_FLAG_GAME = _game("poll_flag", POLL_FLAG, "catch that polls a flag set by the interrupt")
