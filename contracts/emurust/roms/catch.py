"""Catch: a ball falls, a paddle catches it. Sleeps in HALT until the vertical blank.

The ball falls 3 pixels every 2 frames and drifts sideways, bouncing off the walls. The paddle is
32 pixels wide and as fast as the ball falls. A caught ball scores one point, a missed ball costs a
life. Three variants of one game differ in how they wait for the next frame, for the benchmark of
emulators: a poll of LY, of STAT, of a flag that the interrupt routine sets.
"""

from __future__ import annotations

from dataclasses import dataclass

from .assembler import Block
from .library import game_rom
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


def _game(name: str, wait: str, doc: str) -> Game:
    def build() -> Block:
        return game_rom(name.upper().replace("_", " "), ["catch.asm", wait], Catch())

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


CATCH = _game("catch", "wait_halt.asm", "a ball falls, a paddle catches it; sleeps in HALT")
POLL_LY = _game("poll_ly", "wait_ly.asm", "catch that polls LY")
POLL_STAT = _game("poll_stat", "wait_stat.asm", "catch that polls the mode in STAT")
POLL_FLAG = _game("poll_flag", "wait_flag.asm", "catch that polls a flag set by the interrupt")
