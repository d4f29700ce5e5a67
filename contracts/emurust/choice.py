"""The cartridge and the rules chosen by emurust's parameters, with one-line errors."""

from __future__ import annotations

import functools
import runpy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from twinstep.errors import UserError

from .cartridge import RAM_BANK, Cartridge, read_header
from .handover import BUTTONS
from .roms.games import GAMES
from .roms.memory import Rules
from .roms.pokemon_red import POKEMON_RED

#: ROMs supplied by the start, and the properties that all of them share.
BROUGHT = ("random", "given")
_PLAIN = Cartridge(kind=0, rom_banks=2, ram_size=RAM_BANK)
#: Without rules: every button alone, some pairs of them, no reward, no end.
NO_RULES = Rules(
    actions=(
        (), *((name,) for name in BUTTONS), ("a", "right"), ("a", "left"), ("b", "up"),
        ("start", "select"), ("left", "right", "up", "down"), BUTTONS,
    ),
)  # fmt: skip
#: A random program's first frame ends at the LCD's first check, before any of the program has run.
_RANDOM_RULES = replace(NO_RULES, start_frames=2)
#: Rules that `rules` can name.
NAMED = {"pokemon_red": POKEMON_RED}


@functools.cache
def _file(path: str) -> bytes:
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        games = ", ".join((*GAMES, *BROUGHT))
        raise UserError(
            f"rom={path}: no such game ({games}), and no file that can be read ({error.strerror})"
        ) from None


@functools.cache
def _rules_file(path: str) -> Rules:
    if not Path(path).expanduser().is_file():
        raise UserError(
            f"rules={path}: neither one of {', '.join(NAMED)} nor a Python file that is there"
        )
    try:
        found = runpy.run_path(str(Path(path).expanduser())).get("rules")
    except Exception as error:
        raise UserError(f"rules={path}: the file fails with {error!r}") from error
    if not isinstance(found, Rules):
        raise UserError(f"rules={path}: the file makes no `rules = Rules(...)`")
    return found


def cartridge_of(params: Mapping[str, Any]) -> tuple[bytes | None, Rules]:
    """Return the cartridge's bytes, None where the start brings them, and its rules.

    Raises UserError, in one line, for anything that is missing or cannot be played.
    """
    rom, rules = params["rom"], params["rules"]
    game = GAMES.get(rom)
    if not rules:
        without = _RANDOM_RULES if rom == "random" else NO_RULES
        chosen = game.rules if game is not None else without
    else:
        chosen = NAMED[rules] if rules in NAMED else _rules_file(rules)
    _require(chosen)
    if rom in BROUGHT:
        return None, chosen
    return (game.rom if game is not None else _file(rom)), chosen


def header_of(params: Mapping[str, Any]) -> Cartridge:
    """Return the cartridge's header; the required one if the start supplies the cartridge."""
    rom, _ = cartridge_of(params)
    return _PLAIN if rom is None else read_header(rom, f"rom={params['rom']}")


def _require(rules: Rules) -> None:
    """Raise UserError for invalid rules."""
    if not rules.actions or rules.actions[0] != ():
        raise UserError("rules: the first action holds no button: ()")
    for name in {name for names in rules.actions for name in names}:
        if name not in BUTTONS:
            raise UserError(f"rules: no button is called '{name}' (there are {', '.join(BUTTONS)})")
    for value in rules.values():
        last = value.address + value.size * value.count - 1
        if not (
            0xC000 <= value.address <= last <= 0xDFFF or 0xFF80 <= value.address <= last < 0xFFFF
        ):
            raise UserError(f"rules: ${value.address:04X} is not in WRAM or HRAM")
    if rules.start_frames < max(1, rules.seed_frame) or rules.seed_frame < 0 or rules.waits < 1:
        raise UserError(
            "rules: start_frames and waits are 1 at least, seed_frame between 0 and start_frames"
        )
