"""A third vote on the cards' effects: parse the sentences and compare them with the records.

The records of the fast engine (generated/tcgjax/effects.csv) are written by hand. A small grammar
parses each card's sentence into the same columns. It contains only words of the game's template
language, and nothing of the records; a sentence with words left over counts as unread. Differences
are printed, unless vote.csv names the ruling of RULES.md that settles them.

Usage: python tools/tcgjax/vote.py [--source FILE] (or TCGJAX_SOURCE)
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from cards import Codes, chosen, normalised

HERE = Path(__file__).resolve().parent
RECORDS = HERE.parents[1] / "generated" / "tcgjax" / "effects.csv"
SETTLED = HERE / "vote.csv"
VARIABLE = "TCGJAX_SOURCE"

#: Noun phrase -> short word; a phrase that contains another one comes before it.
_WORDS = (
    (r"\(.*?\)", " "),
    (r"pok.mon|this card", "mon"),
    (r"(the defending|your opponent's active) mon", "foe"),
    (r"(this|the attacking) mon", "self"),
    (r"your opponent's benched (basic )?mon", r"\1foes-bench"),
    (r"your opponent's mon", "foes"),
    (r"(your opponent's|their) hand", "foe-hand"),
    (r"your opponent's next turn,?|their next turn", "soon"),
    (r"your opponent", "they"),
    (r"(from |in )?(your|the) energy zone", "zone"),
    (r"(in|to|into) the active spot", "active"),
    (r"\b(a|an|1|the)( amount of)? (?=\{)", ""),
    (r"\{(\w)\} energy", r"energy-\1"),
    (r"\{(\w)\} mon", r"mon-\1"),
    (r"\bit to\b", "to"),
    (r"this attack (also )?does\b", "do"),
    (r"self (also )?does\b", "do"),
    (r"both of them are heads", "both heads"),
    (r"flip a coin", "flip 1 coin"),
)  # fmt: skip
_N, _E = r"(\d+)", r"energy-(\w)"
#: Patterns in those words -> columns; \1 stands for a group. Each that fits is taken away.
_CLAUSES: tuple[tuple[str, dict[str, str]], ...] = (
    (r"flip 1 coin until you get tails", {"coins": "99"}),
    (rf"flip {_N} coins?", {"coins": r"\1"}),
    (rf"if both heads, do {_N} more damage", {"both": r"\1"}),
    (rf"if heads, do {_N} more damage", {"plus": r"\1"}),
    (rf"if tails, do {_N} damage to itself", {"tails": r"\1"}),
    (r"if tails, .*nothing", {"use": "nothing"}),
    (rf"do {_N} damage for each heads", {"times": r"\1"}),
    (r"for each heads|equal to the number of heads", {"per_heads": "1"}),
    (r"if heads,", {"use": "needed"}),
    (
        rf"at least {_N} extra {_E} attached, do {_N} more damage",
        {"count": "extra", "extra": r"\1", "count_type": r"\2", "count_plus": r"\3"},
    ),
    (
        rf"do {_N} more damage for each energy attached to foe",
        {"count": "foe-energy", "count_plus": r"\1"},
    ),
    (
        rf"if (foe|self) has damage .*?{_N} more damage",
        {"count": r"\1-damaged", "count_plus": r"\2"},
    ),
    (rf"if foe is poisoned, do {_N} more damage", {"count": "foe-poisoned", "count_plus": r"\1"}),
    (
        rf"do {_N} damage .*your benched mon-(\w)",
        {"count_type": r"\2", "count": "bench", "count_times": r"\1"},
    ),
    (rf"do {_N} damage .*each of your benched mon", {"count": "bench", "count_times": r"\1"}),
    (
        rf"do {_N} more damage .*each of your benched (.+?)(?=\.)",
        {"count": "bench", "count_plus": r"\1", "names": r"\2"},
    ),
    (rf"do {_N} damage to itself", {"self_damage": r"\1"}),
    (rf"do {_N} damage to each of foes-bench", {"spread": r"\1"}),
    (rf"do {_N} damage to 1 of foes-bench", {"aim": "foe-bench", "aim_damage": r"\1"}),
    (rf"do {_N} damage to 1 of foes", {"aim": "foe", "aim_damage": r"\1"}),
    (rf"do {_N} damage to 1 of your benched mon", {"aim": "own-bench", "aim_damage": r"\1"}),
    (rf"1 of foes is chosen at random {_N} times", {"picks": r"\1"}),
    (rf"for each time .*chosen, do {_N} damage to it", {"pick_damage": r"\1"}),
    (rf"if self .*damaged .*do {_N} .*self", {"counter": r"\1", "where": "never"}),
    (r"heal from self the same amount.*", {"drain": "1"}),
    (rf"heal {_N} damage from self", {"heal": r"\1"}),
    (rf"heal {_N} damage from each of your mon", {"heal": r"\1", "each": "1"}),
    (rf"heal {_N} damage from 1 of your mon-g", {"heal": r"\1", "where": "grass"}),
    (rf"heal {_N} damage from 1 of your mon", {"heal": r"\1", "where": "own"}),
    (r"foe is now (asleep|paralyzed)", {"condition": r"\1"}),
    (r"foe is now poisoned|make foe poisoned", {"poison": "1"}),
    (r"(during soon )?foe can't attack( during soon)?", {"no_attack": "1"}),
    (r"during soon foe can't retreat", {"no_retreat": "1"}),
    (rf"during soon attacks .*foe do -{_N} .*", {"weaken": r"\1"}),
    (rf"during soon self takes -{_N} damage from attacks", {"guard": r"\1"}),
    (r"during soon prevent .*self", {"immune": "1"}),
    (rf"self takes -{_N} damage from attacks", {"shell": r"\1", "where": "never"}),
    (r"as long as self is active,", {"where": "never", "silence": "1"}),
    (r"they can't use any supporter .*during soon", {"no_supporters": "1"}),
    (r"they can't use any supporter .*foe-hand", {}),
    (r"discard all energy from self", {"discard": "all"}),
    (rf"discard {_N} {_E} from self", {"discards": r"\1", "discard": r"\2"}),
    (rf"discard {_E} from self", {"discard": r"\1", "discards": "1"}),
    (r"discard a random energy from foe", {"discard_foe": "1"}),
    (r"discard a random card from foe-hand", {"discard_hand": "1"}),
    (rf"take {_E} zone", {"attach": r"\1"}),
    (r"and attach to self", {"attach_to": "self"}),
    (r"attach to (1 of )?your benched mon-(\w)( in any way you like)?", {"attach_to": "choice"}),
    (r"attach to mon-p active", {"attach_to": "active", "where": "active-psychic"}),
    (r"choose 1 of your mon-w", {"where": "water"}),
    (r"attach to that mon", {"attach_to": "target"}),
    (
        r"attach to your (.+?)(?=\.)",
        {"attach_to": "target", "where": "names-target", "names": r"\1"},
    ),
    (r"they shuffles foe-hand .*draws (\d+) .*", {"pile": "hand-under", "foe_draw": r"\1"}),
    (r"they shuffles their active .*", {"pile": "foe-under"}),
    (r"draw a .*", {"draw": "1"}),
    (rf"draw {_N} .*", {"draw": r"\1"}),
    (r"look .*top card .*", {"peek": "1"}),
    (rf"look .*top {_N} .*", {"peek": r"\1"}),
    (r"they reveals foe-hand", {"reveal": "1"}),
    (r"put . random mon-g .*hand", {"search": "grass", "search_to": "hand"}),
    (r"put . random basic .*hand", {"search": "basic", "search_to": "hand"}),
    (
        r"put . random (\S+) from .*bench",
        {"search": "names", "names": r"\1", "search_to": "bench"},
    ),
    (
        r"put your (.+?) active .*hand",
        {"names": r"\1", "pile": "take-back", "where": "names-active"},
    ),
    (
        r"move all energy-l .*benched mon to your (.+?) active",
        {"names": r"\1", "pile": "gather", "where": "names-active"},
    ),
    (r"switch self with .*benched mon", {"ask": "switch"}),
    (r"switch out foe .*", {"ask": "push"}),
    (r"switch in .*basic foes-bench active", {"ask": "pull"}),
    (rf"this turn, attacks .*your mon do \+{_N} .*foe", {"bonus": r"\1"}),
    (rf"this turn, attacks .*your (.+?) do \+{_N} .*foe", {"names": r"\1", "blaze": r"\2"}),
    (rf"this turn, .*retreat .*{_N} less", {"quick": r"\1"}),
    (r"choose 1 of foes.*attacks .*if .*energy.*nothing", {"copy": "1"}),
    (r"play .*as if .*retreat", {"where": "never"}),
    (r"if self is active,", {"where": "active"}),
)  # fmt: skip
#: Words that may be left when all is read.
_FILLERS = {"", "once", "during", "your", "turn", "you", "may", "and", "if", "self", "has"}


def parsed(kind: str, sentence: str, names: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return a sentence's columns of the record, and the words left unread.

    kind: attack, ability, trainer. names: of Pokemon, in small letters -> as written.
    """
    text = normalised(sentence)
    for pattern, word in _WORDS:
        text = re.sub(pattern, word, text)
    text = re.sub(r"\s+", " ", text)
    found: dict[str, str] = {}
    for pattern, columns in _CLAUSES:
        match = re.search(pattern, text)
        if match:
            text = f"{text[: match.start()]} {text[match.end() :]}"
            found = {name: match.expand(value) for name, value in columns.items()} | found
    left = [word for word in re.split(r"[\s.,]+", text) if word not in _FILLERS]
    if "names" in found:
        listed = re.split(r",? or |, ", found["names"])
        left += [name for name in listed if name not in names]
        found["names"] = "|".join(names.get(name, name) for name in listed)
    for column in ("discard", "attach", "count_type"):
        if column in found and len(found[column]) == 1:
            found[column] = found[column].upper()
    if found.get("attach_to") == "self":
        found["attach_to"] = "active" if kind == "attack" else "target"
    if kind == "ability" and found.get("aim") == "foe":
        del found["aim"]  # outside an attack nobody attacks: the damage is asked for by itself
        found["ask"] = "snipe"
    if kind != "attack":
        found.setdefault("where", "always")
    return found, left


def sentences(source: Path) -> list[tuple[str, str, str]]:
    """Return (code, kind, sentence) for every text of the chosen sets, each once."""
    codes = Codes(HERE / "codes.csv")
    found: dict[tuple[str, str, str], None] = {}

    def add(kind: str, sentence: str | None, card: dict[str, Any]) -> None:
        if sentence:
            code = codes.of(kind, sentence, card["id"])
            found[code, kind, normalised(sentence)] = None

    for card in chosen(json.loads(source.read_bytes())):
        if card["category"] == "Trainer":
            add("trainer", card["effect"], card)
        for ability in card.get("abilities") or ():
            add("ability", ability["effect"], card)
        for attack in card.get("attacks") or ():
            add("attack", attack["effect"], card)
    return list(found)


def names_of(source: Path) -> dict[str, str]:
    """Return names of Pokemon, in small letters -> as written."""
    cards = chosen(json.loads(source.read_bytes()))
    return {card["name"].lower(): card["name"] for card in cards if card["category"] == "Pokemon"}


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def disagreements(source: Path, records: Path) -> list[tuple[str, str, str, str]]:
    """Return (code, column, the sentence's value, the record's value) for each difference."""
    table = {row.pop("code"): row for row in rows(records)}
    names = names_of(source)
    found = []
    for code, kind, sentence in sentences(source):
        read, left = parsed(kind, sentence, names)
        if left:
            found.append((code, "unread", str(len(left)), ""))
        known = table.get(code, {})
        for column in {**known, **read}:
            if read.get(column, "") != known.get(column, ""):
                found.append((code, column, read.get(column, ""), known.get(column, "")))
    return found


def main() -> int:
    """Print every disagreement; return 1 if one is not settled, or a settled one is gone."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, help="the JSON list of cards")
    parser.add_argument("--records", type=Path, default=RECORDS)
    options = parser.parse_args()
    named = os.environ.get(VARIABLE)
    source = options.source or (Path(named) if named else None)
    if source is None:
        sys.exit(f"no source of sentences: give --source or set {VARIABLE}")
    settled = {tuple(row.values())[:4]: row["ruling"] for row in rows(SETTLED)}
    found = disagreements(source, options.records)
    for each in found:
        code, column, read, known = each
        why = f"settled by {settled[each]}" if each in settled else "NOT SETTLED"
        print(f"{code}: {column}: sentence {read or '-'}, record {known or '-'}: {why}")
    stale = sorted(set(settled) - set(found))
    for each in stale:
        print(f"{each[0]}: {each[1]}: settled in {SETTLED.name}, but they agree")
    wrong = [each for each in found if each not in settled]
    print(f"{len(sentences(source))} sentences, {len(found)} differences, {len(wrong)} not settled")
    return int(bool(wrong or stale))


if __name__ == "__main__":
    sys.exit(main())
