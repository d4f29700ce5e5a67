"""Narration of a game in sentences, with the rulings that each step applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from twinstep.contract import Contract
from twinstep.contracts.tcgjax.cards import ENERGY
from twinstep.contracts.tcgjax.layout import (
    ABILITY,
    ATTACH,
    ATTACK,
    CHOOSE,
    END,
    PLAY,
    RETREAT,
    SCRAP,
    STADIUM,
    Ask,
)
from twinstep.frames import Start
from twinstep.oracles.tcgjax.bridge import TcgjaxOracle
from twinstep.oracles.tcgjax.game import Game, Illegal
from twinstep.oracles.tcgjax.objects import Player, Pokemon
from twinstep.play.command import Told
from twinstep.play.human import Scene

_SLOTS = ("Active", "Bench 1", "Bench 2", "Bench 3")
_ENDS = ("", "player 0 wins", "player 1 wins", "a tie")


def narrate(oracle: TcgjaxOracle, contract: Contract, start: Start, actions: np.ndarray) -> Told:
    """Narrate a game: each turn's board, the players' actions, and the rulings behind them."""
    oracle.reset(start)
    game = oracle.game
    lines = [f"player {n}: {_list(player)}" for n, player in enumerate(game.players)]
    lines += _course(oracle, actions)
    lines += ["", *board(game), _ENDS[game.winner] or "the game goes on"]
    return Told(lines)


def scene(contract: Contract, start: Start, actions: np.ndarray, player: int) -> Scene:
    """Show a player's knowledge: recent events, the board, its hand and legal actions."""
    oracle = TcgjaxOracle(contract)
    oracle.reset(start)
    told = list(_course(oracle, actions, player))
    game, me = oracle.game, oracle.game.players[player]
    shown = ["", *board(game, player)]
    if game.winner:
        return Scene(told, [*shown, _ENDS[game.winner]], {}, str)
    asked = game.decision
    legal = sorted(asked.options) if asked is not None and asked.asked == player else []
    hand = ", ".join(piece.card.name for piece in me.hand) or "nothing"
    shown += [f"  hand: {hand}", f"  energy: {me.current or 'none'} now, {me.next} next turn"]
    return Scene(told, shown, {action: words(game, action) for action in legal}, _refused(game))


def _refused(game: Game) -> Callable[[int], str]:
    def say(action: int) -> str:
        try:
            game.step(action)
        except Illegal as illegal:
            return str(illegal)
        raise AssertionError(f"action {action} is legal")

    return say


def _course(oracle: TcgjaxOracle, actions: np.ndarray, viewer: int | None = None) -> Iterator[str]:
    """Play a game that has begun; yield its events as a player sees them, or all for None."""
    game, turn = oracle.game, 0
    for action in actions:
        if game.decision is None:
            return
        if game.turn != turn:
            turn = game.turn
            yield from ("", f"turn {turn}, player {game.player}", *board(game, viewer))
        asked = game.decision.asked
        # Cards placed before the first turn lie face down (R20).
        seen = game.turn or viewer in (None, asked)
        does = words(game, int(action[asked])) if seen else "places a card, or has placed"
        yield f"  player {asked} {does}"
        oracle.step(action)
        yield from (f"    {told}" for told in game.story)


def words(game: Game, action: int) -> str:
    """Return in words the meaning of an action of the acting player."""
    assert game.decision is not None
    player = game.players[game.decision.asked]
    if action == END:
        return "ends" if game.turn else "has placed"
    if PLAY <= action < ATTACH:
        at, target = divmod(action - PLAY, 5)
        card = player.hand[at].card.name
        return f"plays {card}" + (f" on {_SLOTS[target - 1]}" if target else "")
    if action < RETREAT:
        return f"attaches {player.current} to {_named(player, action - ATTACH)}"
    if action < ABILITY:
        return f"retreats for {_named(player, 1 + action - RETREAT)}"
    if action < ATTACK:
        return f"uses the ability of {_named(player, action - ABILITY)}"
    if action < STADIUM:
        attack = player.active.card.attacks[action - ATTACK]
        what = " ".join(filter(None, (f"{attack.damage}{attack.sign}", attack.effect)))
        return f"attacks with {player.active.card.name}: {what}"
    if action < CHOOSE:
        return f"discards {_named(player, action - SCRAP)}"
    return f"chooses {_chosen(game, player, action - CHOOSE)}"


def _chosen(game: Game, player: Player, what: int) -> str:
    assert game.decision is not None
    if game.decision.ask == Ask.PAY:
        return f"to discard {ENERGY[what]}"
    if game.decision.ask == Ask.COPY:
        return f"attack {1 + what % 2} of {_named(game.other(player), what // 2)}"
    side = player if what < 4 else game.other(player)
    return _named(side, what % 4)


def _named(player: Player, slot: int) -> str:
    one = player.slots[slot]
    return f"{one.card.name if one else 'nothing'} ({_SLOTS[slot]})"


def board(game: Game, viewer: int | None = None) -> list[str]:
    """Return both sides, a line each, as a player sees them; None sees all."""
    lines = []
    for player in game.players:
        if not game.turn and viewer not in (None, player.number):
            lines.append(f"  [{player.number}] face down")
            continue
        shown = ", ".join(_shown(one) for _, one in player.pokemon())
        counts = f"{player.points} points, {len(player.hand)} in hand, {len(player.deck)} in deck"
        lines.append(f"  [{player.number}] {counts}: {shown or 'nothing in play'}")
    return lines


def _shown(one: Pokemon) -> str:
    states = [one.condition, "Poisoned" * one.poisoned, "Burned" * one.burned, *one.effects]
    extra = " ".join(filter(None, states))
    hp = max(one.card.hp - one.damage, 0)
    return " ".join(
        filter(None, (f"{one.card.name} {hp}/{one.card.hp}", "".join(one.energy), extra))
    )


def _list(player: Player) -> str:
    return ", ".join(piece.card.name for piece in player.list) + f" ({player.types})"
