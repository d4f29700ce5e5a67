"""Rules for Pokemon Red or Blue (the English cartridges), played from the user's own ROM file.

Addresses are public knowledge (the pret/pokered disassembly's symbols, the Data Crystal wiki). The
reward encourages exploration: new places, badges, levels of the party, and Pokemon owned. An
episode has no end of its own.

    env = twinstep.make("emurust-v0", rom="red.gb", rules="pokemon_red", max_episode_steps=2048)
"""

from __future__ import annotations

from .memory import Bits, Change, New, Rules, Value

PARTY = Value(0xD163, 1, "Pokemon in the party, 0 to 6")
LEVELS = tuple(
    Value(0xD18C + 44 * place, 1, f"level of the party's Pokemon {place + 1}") for place in range(6)
)
BADGES = Value(0xD356, 1, "a bit for each badge")
MAP = Value(0xD35E, 1, "the map")
Y = Value(0xD361, 1, "in steps")
X = Value(0xD362, 1, "in steps")
OWNED = Value(0xD2F7, 19, "a bit for each kind of Pokemon owned")
IN_BATTLE = Value(0xD057, 1, "0 none, 1 wild, 2 trainer, 255 lost")

POKEMON_RED = Rules(
    reward=(
        New((MAP, X, Y), 0.01),
        New((MAP,), 0.5),
        Bits(BADGES, 5.0),
        Bits(OWNED, 1.0),
        *(Change(level, 0.2) for level in LEVELS),
    ),
    actions=((), ("a",), ("b",), ("start",), ("right",), ("left",), ("up",), ("down",)),
    observed={
        "party": PARTY,
        "badges": BADGES,
        "map": MAP,
        "x": X,
        "y": Y,
        "in_battle": IN_BATTLE,
        **{f"level_{place + 1}": level for place, level in enumerate(LEVELS)},
    },
    start_frames=60,
    waits=60,
)
