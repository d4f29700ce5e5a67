"""Drawn decks are legal and meet every effect; an illegal file's error names the ruling."""

from collections import Counter

import numpy as np
import pytest

from twinstep.contracts.tcgjax import SETS
from twinstep.contracts.tcgjax.cards import cards, number_of
from twinstep.contracts.tcgjax.decks import Deck, checked, drawer, read, written
from twinstep.contracts.tcgjax.events import HAPPENINGS, events_of
from twinstep.errors import UserError

GOOD = "energy: Grass\n" + "".join(f"2 A1 {n:03d} and its name\n" for n in range(1, 11))


def drawn(kind, count):
    make = drawer(SETS[kind])
    return [deck for n in range(count) for deck in make(np.array([n, 3], np.uint32))]


@pytest.mark.parametrize("kind", SETS)
def test_drawn_decks_are_legal_and_their_attacks_are_met(kind):
    met = Counter()
    for deck in drawn(kind, 400):
        checked(deck, "a drawn deck")
        for card in {cards()[number - 1] for number in deck.cards}:
            assert card.set in SETS[kind]
            met.update({card.ability, *(attack.effect for attack in card.attacks)})
    effects = set(events_of(SETS[kind])) - set(HAPPENINGS)
    assert min(met[code] for code in effects) >= 5


def test_a_seed_gives_the_same_decks_and_another_seed_others():
    make = drawer(SETS["apex"])
    one, same, other = (make(np.array([n, 9], np.uint32)) for n in (1, 1, 2))
    assert one == same
    assert one != other


@pytest.mark.parametrize("kind", SETS)
def test_a_written_deck_is_read_again(kind, tmp_path):
    for deck in drawn(kind, 10):
        path = tmp_path / "deck.txt"
        path.write_text(written(deck), encoding="utf-8")
        assert read(path) == deck


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD.replace("2 A1 010", "1 A1 010"), r"19 cards: a deck has 20 \(R7\)"),
        (GOOD.replace("2 A1 010", "2 A1 227"), r"4 cards named Bulbasaur: at most 2 \(R8\)"),
        (GOOD.replace("energy: Grass", ""), r"0 types of energy: 1 to 3 \(R10\)"),
        (GOOD.replace("energy: Grass", "energy: Dragon"), r"line 1: 'Dragon' is no type .* \(R10"),
        (GOOD.replace("2 A1 010", "2 A1 999"), r"line 11: no card A1 999 is known"),
        (GOOD.replace("2 A1 010", "two A1 010"), r"line 11: 'two A1 010.*' is neither"),
    ],
)
def test_a_file_that_is_no_deck_says_what_is_wrong_and_where(text, says, tmp_path):
    path = tmp_path / "deck.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=says):
        read(path)


def test_a_deck_without_a_basic_pokemon_names_its_ruling():
    listed = [number_of(f"A1 {n}") for n in ("216", "217", "218")] * 2
    listed += [number_of(f"P-A {n:03d}") for n in range(1, 8)] * 2
    with pytest.raises(UserError, match=r"no Basic Pokemon: .* \(R9\)"):
        checked(Deck(tuple(listed), (0,)), "it")


def test_a_deck_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UserError, match=r"the deck .*missing.txt cannot be read"):
        read(tmp_path / "missing.txt")
