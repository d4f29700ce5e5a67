"""Conversion between a game and the contract's state fields."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from twinstep.contracts.tcgjax.cards import ENERGY, cards
from twinstep.contracts.tcgjax.layout import BASICS, DECK, PLAYERS, RULES, SLOTS, STATE, Ask, Zone
from twinstep.frames import Fields
from twinstep.oracles.tcgjax.game import Game
from twinstep.oracles.tcgjax.objects import (
    ASLEEP,
    CONFUSED,
    PARALYZED,
    Effect,
    Piece,
    Player,
    Pokemon,
)

_CONDITIONS = ("", ASLEEP, PARALYZED, CONFUSED)
#: State field -> the effect whose last turn it is; those with an amount have a field for it.
_UNTIL = {
    "no_attack": "no_attack", "no_retreat": "no_retreat", "immune": "immune",
    "weakened_until": "weakened", "guarded_until": "guarded",
}  # fmt: skip
_AMOUNTS = ("weakened", "guarded")


def new_game(fields: Fields, seed: np.ndarray) -> Game:
    """Return a game that has not begun, from a start's or a state's fields without batch axis."""
    rules = {name: int(value) for name, value in zip(RULES, fields["rules"], strict=True)}
    table = cards()
    lists = [[table[number - 1] for number in row] for row in fields["cards"].tolist()]
    types = ["".join(ENERGY[i] for i in range(BASICS) if int(m) >> i & 1) for m in fields["types"]]
    return Game(rules, (int(seed[0]), int(seed[1])), lists, types)


def state_of(game: Game, start: Fields) -> dict[str, Any]:
    """Return the state's fields; start: its rules, cards, types and seed, which never change."""
    out = {f.name: np.zeros(f.shape, f.dtype) for f in STATE}
    for name in ("rules", "cards", "types", "seed"):
        out[name][...] = start[name]
    for player in game.players:
        _write_player(out, player)
    for name in ("supporter", "retreated", "bonus", "blaze", "quick", "first", "player", "turn"):
        out[name][...] = getattr(game, name)
    out["draws"][...] = game.draws.count
    out["winner"][...] = game.winner
    out["attack"][...] = game.attack
    asked = game.decision
    if asked is not None:
        for name in ("ask", "asked", "left", "arg", "then"):
            out[name][...] = getattr(asked, name)
    return out


def _write_player(out: dict[str, np.ndarray], player: Player) -> None:
    n = player.number
    zones = [
        (Zone.DECK, player.deck),
        (Zone.HAND, player.hand),
        (Zone.DISCARD, player.discards),
        *((Zone.STACKS + slot, one.stack) for slot, one in player.pokemon()),
    ]
    for zone, pieces in zones:
        for place, piece in enumerate(pieces):
            out["zone"][n, piece.place] = zone
            out["place"][n, piece.place] = place
    for piece in player.shown:
        out["shown"][n, piece.place] = True
    for slot, one in player.pokemon():
        out["damage"][n, slot] = one.damage
        out["entered"][n, slot] = one.entered
        out["used"][n, slot] = one.used
        out["energy"][n, slot] = [one.energy.count(letter) for letter in ENERGY]
    active = player.slots[0]
    if active is not None:
        out["condition"][n] = _CONDITIONS.index(active.condition)
        out["poisoned"][n], out["burned"][n] = active.poisoned, active.burned
        for name, effect in _UNTIL.items():
            if effect in active.effects:
                out[name][n] = active.effects[effect].until
        for name in _AMOUNTS:
            if name in active.effects:
                out[name][n] = active.effects[name].amount
    for name in ("points", "peeked", "no_supporters"):
        out[name][n] = getattr(player, name)
    out["current"][n] = 1 + ENERGY.index(player.current) if player.current else 0
    out["next"][n] = 1 + ENERGY.index(player.next)
    out["discarded"][n] = [player.spent[letter] for letter in ENERGY]


def game_of(state: Fields) -> Game:
    """Return the game of a state without batch axis."""
    game = new_game(state, state["seed"])
    game.draws.count = int(state["draws"])
    for player in game.players:
        _read_player(state, player)
    for name in ("bonus", "blaze", "quick", "first", "player", "turn", "winner", "attack"):
        setattr(game, name, int(state[name]))
    game.supporter, game.retreated = bool(state["supporter"]), bool(state["retreated"])
    if not game.winner:
        ask = Ask(int(state["ask"]))
        game.resume(ask, int(state["left"]), int(state["arg"]), int(state["then"]))
    return game


def _read_player(state: Fields, player: Player) -> None:
    n = player.number
    zones, places = state["zone"][n].tolist(), state["place"][n].tolist()

    def of(zone: int) -> list[Piece]:
        found = [piece for piece in player.list if zones[piece.place] == zone]
        return sorted(found, key=lambda piece: places[piece.place])

    player.deck, player.hand, player.discards = map(of, (Zone.DECK, Zone.HAND, Zone.DISCARD))
    player.shown = {piece for piece in player.list if state["shown"][n, piece.place]}
    for slot in range(SLOTS):
        stack = of(Zone.STACKS + slot)
        if stack:
            counts = zip(ENERGY, state["energy"][n, slot].tolist(), strict=True)
            player.slots[slot] = Pokemon(
                stack,
                int(state["entered"][n, slot]),
                int(state["damage"][n, slot]),
                [letter for letter, count in counts for _ in range(count)],
                bool(state["used"][n, slot]),
            )
    active = player.slots[0]
    if active is not None:
        active.condition = _CONDITIONS[int(state["condition"][n])]
        active.poisoned, active.burned = bool(state["poisoned"][n]), bool(state["burned"][n])
        for name, effect in _UNTIL.items():
            if state[name][n]:
                amount = int(state[effect][n]) if effect in _AMOUNTS else 0
                active.effects[effect] = Effect(int(state[name][n]), amount)
    for name in ("points", "peeked", "no_supporters"):
        setattr(player, name, int(state[name][n]))
    player.current = ("", *ENERGY)[int(state["current"][n])]
    player.next = ("", *ENERGY)[int(state["next"][n])]
    player.spent = Counter(dict(zip(ENERGY, state["discarded"][n].tolist(), strict=True)))


assert PLAYERS == 2
assert DECK == 20
