"""All games, by name."""

from __future__ import annotations

from .breakout import BREAKOUT
from .catch import CATCH, POLL_FLAG, POLL_LY, POLL_STAT
from .explorer import EXPLORER
from .heavy import HEAVY
from .memory import Game

GAMES: dict[str, Game] = {
    game.name: game for game in (CATCH, EXPLORER, BREAKOUT, HEAVY, POLL_LY, POLL_STAT, POLL_FLAG)
}
