"""Heavy: 32 sparks under gravity and wind. Thousands of instructions a frame, then HALT.

Positions and speeds are 16-bit fixed point; sparks bounce off floor and walls, lose speed, and are
thrown up again. Touching one of the 28 bright sparks is a point, one of the 4 dark ones costs one
of five lives (and then none for a second). It ends with the last life or after 3,600 frames.

For an emulator it is real work between two frames: 16-bit arithmetic, table look-ups, shifts of
the prefixed opcodes, memory copies (sprites go to a film of the last 8 frames), up to 34 sprites.
"""

from __future__ import annotations

from dataclasses import dataclass

from .assembler import Block
from .library import game_rom
from .memory import Change, Common, Game, Value


@dataclass(frozen=True)
class Heavy(Common):
    """Variables of heavy."""

    score: Value = Value(0xC100, 2, "bright sparks touched")
    lives: Value = Value(0xC102, 1, "5 at first")
    player: Value = Value(0xC103, 1, "left edge, 0 to 144")
    safe: Value = Value(0xC108, 1, "frames for which dark sparks do no harm")
    ticks: Value = Value(0xC109, 1, "frames played, modulo 256")
    left: Value = Value(0xC10A, 2, "frames left, 3600 at first")
    dirty: Value = Value(0xC10C, 1, "1 when the numbers on the screen are old")
    sparks: Value = Value(0xC300, 2, "32 of x, y, speed_x, speed_y in 1/256 pixels", 128)
    film: Value = Value(0xD000, 1, "sprites of the last 8 frames, 256 bytes each", 2048)


def _build() -> Block:
    return game_rom("HEAVY", ["heavy.asm", "heavy_sparks.asm", "wait_halt.asm"], Heavy())


HEAVY = Game(
    name="heavy",
    build=_build,
    variables=Heavy(),
    buttons=("left", "right"),
    reward=(Change(Heavy().score),),
    done=Heavy().over,
    doc="32 sparks in fixed-point arithmetic: thousands of instructions between two HALTs",
)
