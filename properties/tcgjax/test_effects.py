"""Level 1: each effect of a card is used alone, on boards drawn for it, and both sides agree.

The seeds are chosen so that its coins show heads and tails. The things it refers to are present on
some boards and absent on others. Where they are absent, a use may be illegal on both sides. The
choices that an effect opens are made in a second step and a third. One batch holds all boards.
"""

import random

import numpy as np
import pytest

from twinstep.action_mask import nth_legal
from twinstep.contracts.tcgjax.cards import codes
from twinstep.frames import take_lanes
from twinstep.properties.tcgjax.boards import FORBIDS, NEEDS, TARGETS, draw, fields
from twinstep.testing import Case, frames_differ, some_starts

# Cards of all codes are on these boards, so that one variant is enough.
pytestmark = [
    pytest.mark.level1,
    pytest.mark.environment("tcgjax"),
    pytest.mark.one_variant,
]

#: Boards of all codes together: as many as level 2 steps at once, so that it is one program.
BOARDS = 4096
STEPS = 3
#: Seeds to give boards.
SEEDS = 512
#: Coins that a seed is sorted by; those until tails show at most as many heads in a row.
COINS = 4
_PLAYED = {}


class Played:
    """Both sides' results on all boards.

    boards; code: place in codes(), of each. heads: bool[N, COINS], the next coins. legal: bool[N,
    128], the mask at the beginning, both sides'; used: bool[N], the effect was used first. steps:
    for each step states, actions i32[N, 2], frames by path [1, N, ...] of both sides, events
    bool[N, E].
    """

    def __init__(self, lab):
        rng = random.Random(11)
        names = codes()
        self.code = np.arange(BOARDS) % len(names)
        self.boards = [draw(names[code], rng) for code in self.code]
        pool = _seeds(lab)
        # Boards of one code take turns in the outcomes of their first coins.
        chosen = [pool[(n // len(names)) % len(pool)] for n in range(BOARDS)]
        chosen = [options[rng.randrange(len(options))] for options in chosen]
        self.heads = np.array([coins for _, _, coins in chosen])
        states = [
            fields(board, seed, draws, rng)
            for board, (seed, draws, _) in zip(self.boards, chosen, strict=True)
        ]
        states = {name: np.stack([row[name] for row in states]) for name in states[0]}
        self.legal = [side.call("legal", states)["legal"] for side in (lab.oracle, lab.runner)]
        wanted = np.array([board.wanted for board in self.boards]) & self.legal[0]
        number = np.array([rng.randrange(1 << 16) for _ in range(BOARDS)], np.int32)
        self.used = wanted.any(1)
        # Where it cannot be used, the turn is ended: action 0, the result of `nth_legal`.
        first = nth_legal(number, wanted).astype(np.int32)
        self._play(lab, states, np.stack([first, first], 1), number)

    def _play(self, lab, states, actions, number):
        self.steps = []
        starts = some_starts(lab.contract, BOARDS)
        for _ in range(STEPS):
            want, events = lab.oracle.steps(states, actions[None], starts)
            got = lab.runner.play_from(states, actions[None])
            self.steps.append((states, actions, want, got, events[0]))
            on = ~want["terminated"][0]
            shape = lambda values, like=on: like.reshape(-1, *[1] * (values.ndim - 1))  # noqa: E731
            # A game that is over takes its last step again.
            states = {
                name: np.where(shape(old), want[f"state.{name}"][0], old)
                for name, old in states.items()
            }
            number = number // 7 + 3
            then = nth_legal(np.stack([number, number], 1), want["legal"][0]).astype(np.int32)
            actions = np.where(on[:, None], then, actions)


def _seeds(lab):
    """Return lists of (seed, draws, coins bool[COINS]), one list for each prefix of coins."""
    rng = np.random.default_rng(7)
    given = {
        "seed": rng.integers(0, 2**32, (SEEDS, 2)).astype(np.uint32),
        "draws": rng.integers(0, 200, SEEDS).astype(np.uint32),
        "before": np.zeros(SEEDS, np.uint8),
        "heads_are": np.ones(SEEDS, np.int8),
    }
    flips = [np.full(SEEDS, n, np.uint8) for n in range(1, COINS + 1)]
    heads = [lab.oracle.call("coins", {**given, "flips": n})["heads"] for n in flips]
    coins = np.diff(np.stack(heads, 1), axis=1, prepend=np.int8(0)) > 0
    found = {}
    for seed, draws, row in zip(given["seed"], given["draws"], coins, strict=True):
        found.setdefault(tuple(row.tolist()), []).append((seed, draws, row))
    assert len(found) == 2**COINS
    # First all alike, then the others.
    return [found[key] for key in sorted(found, key=lambda key: min(sum(key), COINS - sum(key)))]


def _played(lab):
    if lab.pair.label not in _PLAYED:
        _PLAYED.clear()
        _PLAYED[lab.pair.label] = Played(lab)
    return _PLAYED[lab.pair.label]


@pytest.mark.parametrize("code", codes())
def test_an_effect_is_the_references(twinstep_lab, code):
    """Used on its boards, with all its choices, an effect does the same on both sides."""
    played = _played(twinstep_lab)
    rows = np.flatnonzero(played.code == codes().index(code))
    want, got = (mask[rows] for mask in played.legal)
    assert np.array_equal(want, got), f"legal actions differ on board {rows[(want != got).any(1)]}"
    for states, actions, *frames, _ in played.steps:
        # Every frame is cut to the boards of this code, to be compared as one step from states.
        mine = [{path: values[:, rows] for path, values in frame.items()} for frame in frames]
        wrong = np.zeros(len(rows), bool)
        for where in frames_differ(*mine, twinstep_lab.rules.from_placed()).values():
            wrong |= where.reshape(-1, len(rows)).any(0)
        if wrong.any():
            at = int(rows[wrong.argmax()])
            case = Case(
                "step",
                take_lanes(some_starts(twinstep_lab.contract, 1), 0),
                actions[None, at],
                {name: values[at] for name, values in states.items()},
            )
            twinstep_lab.fail_with_case(
                case, f"{code}: {wrong.sum()} of {len(rows)} boards differ:"
            )
    _require_both(twinstep_lab, played, code, rows)


def _require_both(lab, played, code, rows):
    """Fail unless the boards show both outcomes of everything the effect depends on."""
    boards = [played.boards[row] for row in rows]
    used = played.used[rows]
    # A choice of a target comes before the effect's event.
    events = np.any([step[4] for step in played.steps], 0)
    happened = events[rows, lab.contract.events.index(code)]
    speaks = TARGETS.get(code)
    if speaks is not None:
        there = np.array([speaks(board) for board in boards])
        assert there.any(), f"{code}: what it speaks of is never there"
        assert not there.all(), f"{code}: what it speaks of is always there"
        if code in NEEDS:
            assert not used[~there].any(), f"{code} was used without what it needs"
            assert used[there].any()
        else:
            assert used[~there].any()
            assert used[there].any() != (code in FORBIDS)
    assert happened.any(), f"{code} never happened"
    if "coin" in code or code == "misty":
        sure = used & ~np.array([board.confused for board in boards])
        first = played.heads[rows, 0][sure]
        assert first.any(), f"{code}: no coin showed heads"
        assert not first.all(), f"{code}: no coin showed tails"
