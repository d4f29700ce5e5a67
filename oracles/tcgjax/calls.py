"""The reference's parts alone: implementations of the contract's modules, one board at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twinstep.contract import Module
from twinstep.contracts.tcgjax.cards import ENERGY, Attack, cards
from twinstep.contracts.tcgjax.layout import ACTIONS_COUNT, DECK, STACK, STATE, Then
from twinstep.frames import Fields
from twinstep.oracles.tcgjax import attack, options
from twinstep.oracles.tcgjax.codec import game_of, new_game, state_of
from twinstep.oracles.tcgjax.draws import Draws
from twinstep.oracles.tcgjax.game import Game
from twinstep.oracles.tcgjax.objects import Piece, Pokemon
from twinstep.oracles.tcgjax.observing import observed
from twinstep.protocols import NotCallable

Row = dict[str, Any]
_BLANK = {field.name: np.zeros(field.shape, field.dtype) for field in STATE}
_PLAIN = Attack("", 0, "", "")


def call(module: Module, inputs: Fields) -> Fields:
    """Evaluate a module on inputs [N, ...]."""
    given = {name: np.asarray(value) for name, value in inputs.items()}
    count = len(next(iter(given.values())))
    found = {f.name: np.zeros((count, *f.shape), f.dtype) for f in module.outputs}
    for n in range(count):
        row = {name: values[n] for name, values in given.items()}
        try:
            answer = _CALLS[module.name](row)
        except (AssertionError, LookupError, ValueError) as problem:
            raise NotCallable(f"{module.name}, input {n}: {problem!r}") from problem
        for name, values in found.items():
            values[n] = answer.get(name, 0)
    return found


def _board(row: Row) -> Game:
    """Return the game of a board, in which no choice is open."""
    # A game that is over has no open choice to resume.
    game = game_of({**_BLANK, **row, "winner": np.int8(1)})
    game.winner = 0
    return game


def _both_active(game: Game) -> bool:
    return all(player.slots[0] is not None for player in game.players)


def _on_board(act: Callable[[Game, Row], Row | None]) -> Callable[[Row], Row]:
    """Return a call that acts on a board and returns the state after it and its result."""

    def run(row: Row) -> Row:
        game = _board(row)
        found = act(game, row) or {}
        return {**state_of(game, row), **found}

    return run


def _draws(row: Row, heads: int = 0) -> Draws:
    seed = int(row["seed"][0]), int(row["seed"][1])
    return Draws(seed, heads, int(row["draws"]) + int(row["before"]))


def _coins(row: Row) -> Row:
    draws, again = (_draws(row, int(row["heads_are"])) for _ in range(2))
    heads = sum(draws.coins(int(row["flips"])))
    return {"heads": heads, "run": again.until_tails(), "count": draws.count}


def _pick(row: Row) -> Row:
    draws = _draws(row)
    return {"picked": draws.pick(range(int(row["among"]))), "count": draws.count}


def _shuffle(row: Row) -> Row:
    draws = _draws(row)
    order = draws.shuffle(list(range(int(row["cards_in"]))))
    return {"order": order + [-1] * (DECK - len(order)), "count": draws.count}


def _cost(row: Row) -> Row:
    card = cards()[int(row["card"]) - 1]
    kinds = row["energies"][: int(row["most"])].tolist()
    one = Pokemon([Piece(card, 0, 0)], 0, energy=[ENERGY[kind - 1] for kind in kinds if kind])
    pays = [one.pays(each.cost) for each in card.attacks]
    retreat = options.retreat_cost(card, int(row["fast"]))
    return {"pays": pays + [False] * (2 - len(pays)), "retreat": retreat}


def _damage(game: Game, row: Row) -> Row | None:
    if not _both_active(game):
        return None
    use = attack.Use(game, _PLAIN)
    dealt = use.hit_active(int(row["amount"][0]))
    for slot, one in game.foe.bench():
        use.hit_bench(one, int(row["amount"][slot]))
    return {"dealt": dealt}


def _attack(game: Game, row: Row) -> None:
    place = int(row["nth"])
    if _both_active(game) and place < len(game.me.active.card.attacks):
        game.alone(attack.begun(game, place))


def _play(game: Game, row: Row) -> None:
    me, held = game.me, int(row["held"])
    if held >= len(me.hand):
        return
    piece, one = me.hand[held], me.slots[int(row["onto"])]
    if piece.card.basic or piece.card.kind == "Fossil":
        if me.room() is not None:
            options.bench(game, piece)
    elif piece.card.kind == "Pokemon" and one is not None and len(one.stack) < STACK:
        options.evolve(game, piece, one)


def _retreat(game: Game, row: Row) -> None:
    slot = int(row["to"])
    if not _both_active(game) or game.me.slots[slot] is None:
        return
    one = game.me.active
    if len(one.energy) >= options.retreat_cost(one.card, game.quick):
        game.alone(options.retreat(game, slot))


def _checkup(game: Game, row: Row) -> None:
    if _both_active(game):
        game.expire()
        game.checkup()


def _knockouts(game: Game, row: Row) -> None:
    for player in game.players:
        for slot, one in player.pokemon():
            one.damage += int(row["harm"][player.number, slot])
    game.alone(game.knock_outs(Then(int(row["follows"]))))


def _turn(game: Game, row: Row) -> None:
    game.alone(game.after(Then.NEXT))


def _legal(row: Row) -> Row:
    game = game_of({**_BLANK, **row})
    legal = np.zeros(ACTIONS_COUNT, bool)
    if game.decision is not None:
        legal[list(game.decision.options)] = True
    return {"legal": legal}


def _observation(row: Row) -> Row:
    game = game_of({**_BLANK, **row})
    return {"obs": np.array([observed(game, me) for me in range(2)], np.int16)}


def _reset(row: Row) -> Row:
    game = new_game(row, row["seed"])
    if not all(any(piece.card.basic for piece in player.list) for player in game.players):
        return {}
    game.begin()
    return state_of(game, row)


_CALLS: dict[str, Callable[[Row], Row]] = {
    "coins": _coins,
    "pick": _pick,
    "shuffle": _shuffle,
    "cost": _cost,
    "damage": _on_board(_damage),
    "attack": _on_board(_attack),
    "play": _on_board(_play),
    "retreat": _on_board(_retreat),
    "checkup": _on_board(_checkup),
    "knockouts": _on_board(_knockouts),
    "turn": _on_board(_turn),
    "legal": _legal,
    "observation": _observation,
    "reset": _reset,
}
