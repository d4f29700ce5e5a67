"""Explorer: walk a small round world and see all of it. Sleeps in HALT until the vertical blank.

The world is 32 x 32 cells of 8 x 8 pixels, exactly the background map, and has no edge: going on to
the right one comes back from the left. The walls are drawn from the seed. The reward is a new cell
walked on; such cells change their look. Four ghosts wander; a touch costs one of three lives and
sends the ghost to the far side. It ends with the last life or after 3,600 frames of play.

For an emulator it is a background that scrolls in both directions by pixels (the player stays in
the middle of the screen), a window with a status line, sprites copied by DMA and cut off at the
edges, map changes in the vertical blank, and an LCD switched off and on as the world is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

from .assembler import Block
from .library import game_rom
from .memory import Change, Common, Game, Value


@dataclass(frozen=True)
class Explorer(Common):
    """Variables of explorer. Positions are pixels modulo 256; a cell's are multiples of 8."""

    seen: Value = Value(0xC100, 2, "how many cells have been walked on, up to 1024")
    lives: Value = Value(0xC102, 1, "3 at first")
    x: Value = Value(0xC103)
    y: Value = Value(0xC104)
    step_x: Value = Value(0xC108, 1, "pixels to the right in a frame: -2, 0, 2")
    step_y: Value = Value(0xC109, 1, "pixels down in a frame: -2, 0, 2")
    left: Value = Value(0xC10A, 2, "frames left, 3600 at first")
    dirty: Value = Value(0xC10C, 1, "1 when the status line is old")
    paint: Value = Value(0xC110, 2, "map address of a cell to be painted as seen, or 0")
    ghosts: Value = Value(0xC120, 1, "four ghosts of x, y, step_x, step_y", 16)
    bitmap: Value = Value(0xC200, 1, "bit x & 7 of byte y * 4 + x / 8: the cell was seen", 128)
    world: Value = Value(0xC300, 1, "a byte for each cell, row by row: 1 is a wall", 1024)


def _build() -> Block:
    return game_rom("EXPLORER", ["explorer.asm", "explorer_moves.asm", "wait_halt.asm"], Explorer())


EXPLORER = Game(
    name="explorer",
    build=_build,
    variables=Explorer(),
    buttons=("up", "down", "left", "right"),
    reward=(Change(Explorer().seen),),
    done=Explorer().over,
    doc="walk a round world among ghosts; a new cell is a point; scrolls, window, sprites",
)
