"""A game retold in sentences, with the rulings that each step applied."""

from __future__ import annotations

import numpy as np

from twinstep.contract import Contract
from twinstep.contracts.tcgjax_cards import ENERGY
from twinstep.contracts.tcgjax_layout import (
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
from twinstep.oracles.tcgjax.game import Game
from twinstep.oracles.tcgjax.objects import Player, Pokemon
from twinstep.play import Told

_SLOTS = ("Active", "Bench 1", "Bench 2", "Bench 3")
_ENDS = ("", "player 0 wins", "player 1 wins", "a tie")


def narrate(oracle: TcgjaxOracle, contract: Contract, start: Start, actions: np.ndarray) -> Told:
    """Retell a game: each turn's board, what the players did, and by which rulings."""
    oracle.reset(start)
    game = oracle.game
    lines = [f"player {n}: {_list(player)}" for n, player in enumerate(game.players)]
    turn = 0
    for action in actions:
        if game.decision is None:
            break
        if game.turn != turn:
            turn = game.turn
            lines += ["", f"turn {turn}, player {game.player}", *board(game)]
        asked = game.decision.asked
        lines.append(f"  player {asked} {words(game, int(action[asked]))}")
        oracle.step(action)
        lines += [f"    {told}" for told in game.story]
    lines += ["", *board(game), _ENDS[game.winner] or "the game goes on"]
    return Told(lines)


def words(game: Game, action: int) -> str:
    """Return in words what an action of the player who is asked means."""
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


def board(game: Game) -> list[str]:
    """Return both sides, a line each."""
    lines = []
    for player in game.players:
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
