"""Level 0: the cards' facts match their source, and are consistent."""

import hashlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import twinstep
from twinstep.contracts.tcgjax import cards as tcgjax_cards
from twinstep.contracts.tcgjax.cards import (
    COLORLESS,
    DRAGON,
    ENERGY,
    KINDS,
    STAGES,
    cards,
    codes,
    number_of,
)
from twinstep.oracles.tcgjax.abilities import ABILITIES
from twinstep.oracles.tcgjax.attack import COPY
from twinstep.oracles.tcgjax.attacks import EFFECTS
from twinstep.oracles.tcgjax.trainers import TRAINERS

HERE = Path(tcgjax_cards.__file__).parent
TOOL = Path(twinstep.__file__).parents[1] / "tools" / "tcgjax" / "cards.py"
#: Abilities that are always at work, and codes that are no effect.
PASSIVE = {
    "ability-counter-20", "ability-shell-10", "ability-shell-20", "ability-no-supporters",
}  # fmt: skip
FOUND = {card.name for card in cards()}
FIGHTERS = [card for card in cards() if card.kind == "Pokemon"]


def test_the_table_is_the_one_its_provenance_speaks_of():
    told = tomllib.loads((HERE / "cards.toml").read_text(encoding="utf-8"))
    table = (HERE / "cards.csv").read_bytes()
    assert hashlib.sha256(table).hexdigest() == told["sha256"]


def test_the_table_is_made_anew_from_its_source(tmp_path):
    source = os.environ.get("TCGJAX_SOURCE")
    if not source or not TOOL.is_file():
        pytest.skip("set TCGJAX_SOURCE to the JSON list of cards (see tools/tcgjax/cards.py)")
    (tmp_path / "errata.csv").write_bytes((HERE / "errata.csv").read_bytes())
    command = [sys.executable, str(TOOL), "--source", source, "--output", str(tmp_path)]
    subprocess.run(command, check=True)
    for name in ("cards.csv", "cards.toml"):
        assert (tmp_path / name).read_bytes() == (HERE / name).read_bytes(), name


def test_genetic_apex_is_whole():
    printed = [f"A1 {n:03d}" for n in range(1, 287)] + [f"P-A {n:03d}" for n in range(1, 8)]
    assert all(number_of(name) for name in printed)
    assert number_of("A1 287") is None
    assert len({number_of(name) for name in printed}) == 232


def test_a_reprint_has_the_number_of_its_first_printing():
    assert number_of("A1 251") == number_of("A1 004")
    assert cards()[number_of("A1 004") - 1].name == "Venusaur ex"


@pytest.mark.parametrize("card", cards(), ids=lambda card: card.id)
def test_a_cards_facts_are_within_their_bounds(card):
    assert card.kind in KINDS
    types = {*ENERGY, DRAGON, COLORLESS}
    if card.kind in ("Item", "Supporter"):
        assert card.ability
        assert not any((card.hp, card.type, card.attacks, card.stage, card.points))
        return
    assert card.stage in STAGES
    assert card.type in types
    assert card.weakness in {"", *ENERGY}
    assert 30 <= card.hp <= 250
    assert card.hp % 10 == 0
    assert 0 <= card.retreat <= 4
    assert card.points == (2 if card.name.endswith(" ex") else 1)
    assert bool(card.evolves_from) == (card.stage != "Basic")
    for attack in card.attacks:
        assert 1 <= len(attack.cost) <= 5
        assert set(attack.cost) <= {*ENERGY, COLORLESS}
        assert 0 <= attack.damage <= 250
        assert attack.damage % 10 == 0


@pytest.mark.parametrize(
    "card", [card for card in cards() if card.evolves_from], ids=lambda card: card.id
)
def test_a_line_of_evolution_ends_at_a_basic_one_stage_below_the_other(card):
    before = [other for other in cards() if other.name == card.evolves_from]
    assert before
    assert {STAGES.index(other.stage) + 1 for other in before} == {STAGES.index(card.stage)}


@pytest.mark.parametrize(
    "attack", list(dict.fromkeys(a for c in FIGHTERS for a in c.attacks)), ids=lambda a: a.effect
)
def test_the_sign_beside_a_number_agrees_with_the_effects_name(attack):
    kinds = {"+": "plus", "x": "times"}
    assert (attack.sign in kinds) == any(kind in attack.effect for kind in kinds.values()) or (
        attack.effect == "random-4-times-50"
    )
    if attack.sign:
        assert kinds[attack.sign] in attack.effect
    if attack.sign == "x":
        assert attack.effect.endswith(f"times-{attack.damage}")


def test_every_code_is_known_to_the_reference_and_it_knows_no_other():
    known = {*ABILITIES, *EFFECTS, *TRAINERS, *PASSIVE, COPY, "fossil"}
    assert known == set(codes())


def test_the_invented_cards_carry_no_real_name():
    invented = {card.name for card in cards() if card.set == "X"}
    assert not invented & {card.name for card in cards() if card.set != "X"}
