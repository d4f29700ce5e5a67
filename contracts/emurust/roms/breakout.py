"""Breakout: a ball, a paddle, bricks. The timer's interrupt moves the ball, MBC1 banks hold levels.

The timer's interrupt moves the ball at 95, 105 or 117 steps a second, by the level; the paddle and
the screen move once a frame. The ball's new direction depends on where it meets the paddle. Levels
are banks 1, 2 and 3 in turn: speed, palette, tiles, bricks, and the routine that returns a brick's
worth, which runs in that bank. It ends with the last of three lives, never by winning.

An emulator gets two interrupts with HALT, code and data in switched banks, and an LCD that is
switched off and on in mid-game, at each new level.
"""

from __future__ import annotations

from dataclasses import dataclass

from .assembler import Block
from .library import game_rom
from .memory import Change, Common, Game, Value


@dataclass(frozen=True)
class Breakout(Common):
    """Variables of breakout."""

    score: Value = Value(0xC100, 2, "1 to 5 for a brick, by the level's rule")
    lives: Value = Value(0xC102, 1, "3 at first")
    level: Value = Value(0xC103, 1, "levels done")
    paddle: Value = Value(0xC104, 1, "left edge, 0 to 136")
    ball_x: Value = Value(0xC108, 1, "left edge, 0 to 152")
    ball_y: Value = Value(0xC109, 1, "top edge, 16 to 144")
    speed_x: Value = Value(0xC10A, 1, "pixels to the right in a step: -2, -1, 1, 2")
    speed_y: Value = Value(0xC10B, 1, "pixels down in a step: -1, 1")
    event: Value = Value(0xC10C, 1, "0 in play, 1 the ball is lost, 2 the level is done")
    bricks_left: Value = Value(0xC10D, 1, "bricks that are not yet gone")
    bank: Value = Value(0xC10F, 1, "the bank that is shown at $4000: 1, 2, 3")
    frame_begins: Value = Value(0xC110, 1, "1 after the interrupt of the vertical blank")
    dirty: Value = Value(0xC111, 1, "1 when the numbers on the screen are old")
    painted: Value = Value(0xC112, 1, "how many entries `paint` has")
    paint: Value = Value(0xC120, 1, "bricks to be drawn again in the next vertical blank", 16)
    bricks: Value = Value(
        0xC200, 1, "6 rows of 16, of which 10 are used: hits it takes, 0 to 2", 96
    )


def _build() -> Block:
    names = ["breakout.asm", "breakout_ball.asm", "breakout_levels.asm"]
    return game_rom("BREAKOUT", names, Breakout(), banks=4)


BREAKOUT = Game(
    name="breakout",
    build=_build,
    variables=Breakout(),
    buttons=("left", "right"),
    reward=(Change(Breakout().score),),
    done=Breakout().over,
    doc="ball, paddle, bricks; the timer's interrupt moves the ball, levels lie in MBC1 banks",
)
