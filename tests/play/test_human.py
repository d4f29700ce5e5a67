"""`twinstep play --human`: a person at the terminal, and games that begin from files."""

from pathlib import Path

import numpy as np
import pytest

import twinstep
from twinstep import cli
from twinstep.contracts.tcgjax import start_from
from twinstep.contracts.tcgjax.cards import cards
from twinstep.contracts.tcgjax.declaration import TCGJAX
from twinstep.play import human
from twinstep.project import registry
from twinstep.project.registry import EnvVariant

DECKS = [
    Path(twinstep.__file__).parents[1] / f"examples/tcgjax/{name}.txt"
    for name in ("lightning", "psychic")
]
SUBJECT = EnvVariant(TCGJAX, TCGJAX.variants[0])
CONTRACT = SUBJECT.contract


class Person:
    """Types given lines first, then always the last action offered; keeps what was shown."""

    def __init__(self, *typed):
        self.typed, self.shown, self.offered = list(typed), [], 0

    def tell(self, line):
        self.shown.append(line)
        number = line[:5].strip()
        if number.isdecimal():
            self.offered = int(number)

    def ask(self, _):
        line = self.typed.pop(0) if self.typed else str(self.offered)
        if isinstance(line, type):
            raise line
        return line


def play(person, humans, seed=1):
    """Play the sample decks; return the actions."""
    start = start_from(CONTRACT, np.array([seed, 0], np.uint32), DECKS)
    oracle = registry.load_object(TCGJAX.oracle.factory)(CONTRACT)
    driver = registry.load_object(SUBJECT.driver("scripted"))
    return human.play(SUBJECT, oracle, driver, start, humans, person.ask, person.tell)


def test_a_person_plays_a_whole_game_and_sees_the_rulings_and_its_end():
    person = Person()
    play(person, [0])
    text = "\n".join(person.shown)
    assert "turn 1, player " in text
    assert "R60: " in text
    assert person.shown[-1] in ("player 0 wins", "player 1 wins", "a tie")
    # Once each: a line is not told again when the next scene is shown.
    assert text.count("R16: ") == 0
    assert sum(line.startswith("turn 2,") for line in person.shown) == 1


def test_a_person_may_play_both_sides_and_the_driver_none():
    person = Person()
    play(person, [0, 1])
    asked = {line for line in person.shown if line.startswith("You are player")}
    assert asked == {"You are player 0:", "You are player 1:"}


def test_a_player_is_not_shown_the_other_hand_nor_what_lies_face_down():
    person = Person()
    play(person, [1])
    first = "\n".join(person.shown[: person.shown.index("You are player 1:")])
    assert "[0] face down" in first
    own = {cards()[n - 1].name for n in start_from(CONTRACT, np.zeros(2, np.uint32), DECKS)
           .fields["cards"][1]}  # fmt: skip
    others = {"Pikachu ex", "Zapdos ex", "Voltorb", "Electrode", "X Speed"} - own
    assert not [name for name in others if name in first]
    hands = [line for line in person.shown if line.startswith("  hand: ")]
    assert hands
    assert not [line for line in hands if any(name in line for name in others)]


def test_an_illegal_action_is_refused_with_its_ruling_and_changes_nothing():
    wrong, right = Person("51", "999", "two", ""), Person()
    assert np.array_equal(play(wrong, [0]), play(right, [0]))
    refused = "\n".join(wrong.shown[:20])
    assert "action 51 is not legal now (R19)" in refused
    assert "action 999 is not legal now" in refused
    assert "'two' is no number of an action." in refused


@pytest.mark.parametrize("leave", ["q", "QUIT", EOFError, KeyboardInterrupt])
def test_a_person_may_leave_at_any_time(leave):
    person = Person(str(Person().offered), leave)
    play(person, [0])
    assert person.shown[-1].startswith("\nThe game was left after ")


def test_a_game_between_decks_of_files_is_told(capsys):
    assert cli.main(["play", "tcgjax", "--start", *map(str, DECKS)]) == 0
    told = capsys.readouterr().out
    assert "player 0: Pikachu ex, Pikachu ex, Zapdos ex" in told
    assert "player 1: Mewtwo ex" in told


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("pong", "--human", "0"), "--human: pong cannot be played by hand, only watched"),
        (("tcgjax", "--human", "me"), "--human me: a player's number, from 0"),
        (("tcgjax", "--human", "2"), "--human 2: tcgjax has players 0 to 1"),
        (("pong", "--start", "x"), "--start: pong begins from a seed alone"),
        (("tcgjax", "--start", "x"), "two deck files, player 0's and player 1's, not 1"),
        (("tcgjax", "--start", "x", "y"), "the deck x cannot be read"),
    ],
)
def test_what_cannot_be_played_is_one_line_and_exit_code_4(args, says, capsys):
    assert cli.main(["play", *args]) == 4
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("2 A1 999 Nobody", "line 4: no card A1 999 is known"),
        ("2 A1 096 Pikachu ex", "4 cards named Pikachu ex: at most 2 (R8)"),
        ("", "has 18 cards: a deck has 20 (R7)"),
        ("nothing", "is neither 'energy: ...' nor like"),
    ],
)
def test_a_deck_that_is_not_legal_is_refused_with_its_line_or_ruling(line, says, tmp_path, capsys):
    lines = DECKS[0].read_text(encoding="utf-8").splitlines()
    lines[3] = line
    (tmp_path / "bad.txt").write_text("\n".join(lines), encoding="utf-8")
    assert cli.main(["play", "tcgjax", "--start", str(tmp_path / "bad.txt"), str(DECKS[1])]) == 4
    assert says in capsys.readouterr().err
