"""Write contracts/tcgjax/cards.csv: the facts of Pokemon TCG Pocket's cards, without sentences.

The source is a JSON list of cards made from the public project tcgdex/cards-database (MIT), folder
"Pokémon TCG Pocket", commit d9083b73db080979123ebf5e9e97338d4e0745b2: English fields only, one
entry per printed card. codes.csv maps the hash of a card's normalised sentence to a code of ours;
errata.csv replaces wrong numbers.

Usage: python tools/tcgjax/cards.py --source FILE [--output FOLDER] [--any-source]
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHA256 = "3acb00ead9cc737715edf3271cb9c75a1d47c231059f999d18a62c7f5d87302a"
#: Genetic Apex, and the promotional cards that every player begins with.
SETS = {"A1": range(1, 1000), "P-A": range(1, 8)}
ATTACKS = 2
COLUMNS = (
    "id", "name", "kind", "stage", "evolves_from", "type", "hp", "weakness", "retreat", "points",
    "ability",
    *(f"{name}{n}" for n in range(1, ATTACKS + 1) for name in ("cost", "damage", "sign", "effect")),
)  # fmt: skip
#: A letter per type of energy, as in a cost: `WWC`.
LETTERS = {
    "Grass": "G", "Fire": "R", "Water": "W", "Lightning": "L", "Psychic": "P", "Fighting": "F",
    "Darkness": "D", "Metal": "M", "Dragon": "N", "Colorless": "C",
}  # fmt: skip


def normalised(sentence: str) -> str:
    """Return a sentence without the differences between printings."""
    plain = sentence.translate({0x2019: "'", 0x2212: "-", 0x2014: "-", 0xD7: "x"})
    return " ".join(plain.lower().split())


def fingerprint(sentence: str) -> str:
    """Return the first 16 hex digits of the sha256 of a normalised sentence."""
    return hashlib.sha256(normalised(sentence).encode()).hexdigest()[:16]


class Codes:
    """Kind of text and fingerprint -> code of an effect."""

    def __init__(self, path: Path) -> None:
        rows = list(csv.DictReader(path.open(encoding="utf-8", newline="")))
        self._codes = {(row["text"], row["fingerprint"]): row["code"] for row in rows}

    def of(self, kind: str, sentence: str | None, card: str) -> str:
        """Return the code of a card's sentence; SystemExit if there is none."""
        if not sentence:
            return ""
        found = self._codes.get((kind, fingerprint(sentence)))
        if found is None:
            sys.exit(
                f"{card}: no code for its {kind}, fingerprint {fingerprint(sentence)}: "
                "add a row to tools/tcgjax/codes.csv"
            )
        return found


def row_of(card: dict[str, Any], codes: Codes) -> dict[str, str]:
    """Return the facts of one entry of the source."""
    row = dict.fromkeys(COLUMNS, "") | {"id": card["id"], "name": card["name"]}
    if card["category"] == "Trainer":
        code = codes.of("trainer", card["effect"], card["id"])
        row |= {"kind": "Fossil" if code == "fossil" else card["trainerType"], "ability": code}
        if code == "fossil":
            row |= {"stage": "Basic", "type": "C", "hp": "40", "retreat": "0", "points": "1"}
        return row
    (kind,) = card["types"]
    weak = [LETTERS[weakness["type"]] for weakness in card.get("weaknesses", [])]
    (ability,) = card.get("abilities") or [{"effect": None}]
    row |= {
        "kind": "Pokemon",
        "stage": card["stage"],
        "evolves_from": card.get("evolveFrom", ""),
        "type": LETTERS[kind],
        "hp": str(card["hp"]),
        "weakness": "".join(weak),
        "retreat": str(card.get("retreat", 0)),
        "points": "2" if card.get("suffix") == "EX" else "1",
        "ability": codes.of("ability", ability["effect"], card["id"]),
    }
    for n, attack in enumerate(card["attacks"], 1):
        damage, sign = re.fullmatch(r"(\d*)([+x]?)", normalised(attack["damage"] or "")).groups()  # type: ignore[union-attr]
        row |= {
            f"cost{n}": "".join(LETTERS[kind] for kind in attack["cost"]) or "0",
            f"damage{n}": damage or "0",
            f"sign{n}": sign,
            f"effect{n}": codes.of("attack", attack["effect"], card["id"]),
        }
    return row


def _place(card: dict[str, Any]) -> tuple[int, int]:
    of, number = card["id"].rsplit(" ", 1)
    return (list(SETS).index(of), int(number)) if of in SETS else (-1, 0)


def chosen(cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries of SETS, in their order."""
    numbers = list(SETS.values())
    kept = [card for card in cards if (at := _place(card))[0] >= 0 and at[1] in numbers[at[0]]]
    return sorted(kept, key=_place)


def mend(rows: list[dict[str, str]], path: Path) -> None:
    """Apply the errata; SystemExit if one no longer fits."""
    known = {row["id"]: row for row in rows}
    for fix in csv.DictReader(path.open(encoding="utf-8", newline="")):
        row = known.get(fix["id"])
        if row is None or row[fix["column"]] != fix["source"]:
            sys.exit(f"{path.name}: {fix['id']} has no {fix['column']} {fix['source']}")
        row[fix["column"]] = fix["ours"]


def main() -> None:
    """Read the source; write the table and its origin."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="the JSON list of cards")
    parser.add_argument("--output", type=Path, default=HERE.parents[1] / "contracts" / "tcgjax")
    parser.add_argument("--any-source", action="store_true", help="accept another source's hash")
    chosen_options = parser.parse_args()
    data = chosen_options.source.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256 and not chosen_options.any_source:
        sys.exit(
            f"{chosen_options.source} has sha256 {found}, not {SHA256} (--any-source takes it)"
        )
    codes = Codes(HERE / "codes.csv")
    rows = [row_of(card, codes) for card in chosen(json.loads(data))]
    mend(rows, chosen_options.output / "errata.csv")
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    table = text.getvalue().encode()
    (chosen_options.output / "cards.csv").write_bytes(table)
    (chosen_options.output / "cards.toml").write_text(
        "# Where cards.csv comes from. Written by tools/tcgjax/cards.py.\n"
        'project = "tcgdex/cards-database (MIT), folder Pokémon TCG Pocket"\n'
        'commit = "d9083b73db080979123ebf5e9e97338d4e0745b2"\n'
        f'source_sha256 = "{found}"\n'
        f'sha256 = "{hashlib.sha256(table).hexdigest()}"\n',
        encoding="utf-8",
    )
    print(f"{len(rows)} cards")


if __name__ == "__main__":
    main()
