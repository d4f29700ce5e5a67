"""Narration of a battle: sentences for the terminal, and a replay for Showdown's public viewer."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Start
from twinstep.play.command import Told

#: The viewer loaded by replays saved from Showdown.
VIEWER = "https://play.pokemonshowdown.com/js/replay-embed.js"

_STATUS = {
    "brn": "burned",
    "par": "paralysed",
    "slp": "asleep",
    "frz": "frozen",
    "psn": "poisoned",
    "tox": "badly poisoned",
}
#: The log's minor lines whose name says enough.
_NOTES = {
    "-crit": "a critical hit",
    "-supereffective": "super effective",
    "-resisted": "not very effective",
    "-immune": "it has no effect",
    "-miss": "it missed",
    "-fail": "it failed",
    "-ohko": "a one-hit KO",
    "-mustrecharge": "it must recharge",
}


def narrate(oracle: Any, contract: Contract, start: Start, actions: np.ndarray) -> Told:
    """Narrate a battle: the lines of the simulator's log, and replay files (.log and .html)."""
    log = public(oracle.log(start, actions))
    title = f"{contract.params['format']}: p1 vs. p2"
    return Told(sentences(log), {".log": "\n".join(log) + "\n", ".html": page(title, log)})


def public(log: str) -> list[str]:
    """Return a log's lines as spectators see them, exact HP included.

    After `|split|` comes a line for the player concerned, then one for everybody else. The
    lines of wall clock are left out.
    """
    lines, skip = [], 0
    for line in log.split("\n"):
        if skip:
            skip -= 1
            if not skip:
                continue
        elif line.startswith("|split|"):
            skip = 2
            continue
        if not line.startswith(("|t:|", "|debug|")):
            lines.append(line)
    return lines


def page(title: str, log: list[str]) -> str:
    """Return a page as Showdown saves replays: the log, and a link to its viewer."""
    text = "\n".join(log).replace("</", "<\\/")
    return (
        '<!DOCTYPE html>\n<meta charset="utf-8" />\n'
        f"<title>{html.escape(title)}</title>\n"
        '<div class="wrapper replay-wrapper">\n'
        '<input type="hidden" name="replayid" value="twinstep" />\n'
        '<div class="battle"></div><div class="battle-log"></div>\n'
        '<div class="replay-controls"></div><div class="replay-controls-2"></div>\n'
        f'<script type="text/plain" class="battle-log-data">{text}</script>\n'
        f'</div>\n<script src="{VIEWER}"></script>\n'
    )


def sentences(log: list[str]) -> list[str]:
    """Return a log as sentences: turns, moves, HP, faints and the winner."""
    told: list[str] = []
    for line in log:
        if sentence := _sentence(line.split("|")[1:]):
            told.append(sentence)
    return told


def _sentence(parts: list[str]) -> str:
    kind, rest = (parts[0], parts[1:]) if parts else ("", [])
    who = _name(rest[0]) if rest else ""
    if kind == "turn":
        return f"\nTurn {rest[0]}"
    if kind in ("switch", "drag"):
        return f"{who} comes in ({rest[2]} HP)"
    if kind == "move":
        return f"{who} uses {rest[1]}"
    if kind in ("-damage", "-heal"):
        why = next((f", {p[7:]}" for p in rest[2:] if p.startswith("[from] ")), "")
        return f"  {who}: {rest[1]} HP{why}"
    if kind == "-status":
        return f"  {who} is {_STATUS.get(rest[1], rest[1])}"
    if kind == "-curestatus":
        return f"  {who} is no longer {_STATUS.get(rest[1], rest[1])}"
    if kind in ("-boost", "-unboost"):
        sign = "+" if kind == "-boost" else "-"
        return f"  {who}: {rest[1]} {sign}{rest[2]}"
    if kind in ("-start", "-end", "-activate"):
        return f"  {who}: {rest[1].removeprefix('move: ')} {kind[1:]}s"
    if kind == "cant":
        return f"{who} cannot move ({_STATUS.get(rest[1], rest[1])})"
    if kind == "faint":
        return f"{who} faints"
    if kind == "win":
        return f"\n{rest[0]} wins"
    if kind == "tie":
        return "\nA tie"
    return f"  {_NOTES[kind]}" if kind in _NOTES else ""


def _name(ident: str) -> str:
    """Turn `p1a: Tauros` into `p1's Tauros`."""
    side, _, name = ident.partition(": ")
    return f"{side[:2]}'s {name}" if name else ident
