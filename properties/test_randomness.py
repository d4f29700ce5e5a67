"""Level 1: seeds matter. On both sides, with the same answers."""

import numpy as np
import pytest

from twinstep.action_mask import legalise
from twinstep.frames import Start, flatten, take_lanes
from twinstep.testing import Case, frames_differ, sample_actions, some_starts, starts_of

pytestmark = pytest.mark.level1

SEEDS = 64
#: Steps in which a word of the seed must show.
STEPS = 16


def _signature(named):
    """Return one bytes object per lane of everything in the frames."""
    lanes = len(named["reward"])
    return [
        b"".join(np.asarray(v[lane]).tobytes() for v in named.values()) for lane in range(lanes)
    ]


def _require_parts_vary(contract, named):
    for part, paths in contract.randomness.parts.items():
        values = {
            b"".join(np.asarray(named[p][lane]).tobytes() for p in paths) for lane in range(SEEDS)
        }
        assert len(values) > 1, f"the {part} is the same for {SEEDS} seeds"
    parts = list(contract.randomness.parts.items())
    for one, other in ((a, b) for a in parts for b in parts if a != b):
        seen = {}
        for lane in range(SEEDS):
            key, value = (
                b"".join(np.asarray(named[p][lane]).tobytes() for p in paths)
                for paths in (one[1], other[1])
            )
            seen.setdefault(key, set()).add(value)
        if len(seen) == SEEDS:
            continue  # real numbers: no two seeds share them
        assert any(len(values) > 1 for values in seen.values()), (
            f"the {other[0]} never varies while the {one[0]} stays"
        )


@pytest.mark.needs("contract.randomness.parts")
def test_oracles_starts_vary_in_every_randomised_part(twinstep_reference):
    """Different seeds give different episodes, each randomised part by itself."""
    starts = some_starts(twinstep_reference.contract, SEEDS)
    frames = [flatten(twinstep_reference.oracle.reset(take_lanes(starts, i))) for i in range(SEEDS)]
    named = {path: np.stack([f[path] for f in frames]) for path in frames[0]}
    _require_parts_vary(twinstep_reference.contract, named)


@pytest.mark.needs("contract.randomness.parts")
def test_candidates_starts_vary_in_every_randomised_part(twinstep_lab):
    """Lanes with different seeds differ, each randomised part by itself."""
    _, named = twinstep_lab.runner.reset(some_starts(twinstep_lab.contract, SEEDS))
    _require_parts_vary(twinstep_lab.contract, named)


@pytest.mark.needs("rules.one_step")
def test_the_first_frame_matches_the_oracle_for_any_seed(twinstep_lab):
    """All 64 bits of a seed lead both sides to the same start."""
    contract, rng = twinstep_lab.contract, twinstep_lab.reference.rng("any seed")
    drawn = rng.integers(0, 2**32, (4 * SEEDS, 2), np.uint32)
    drawn[::4, 0] = 0
    drawn[1::4, 1] = 0
    starts = starts_of(contract, drawn)
    dtype, shape = contract.action_layout()
    none = np.zeros((0, *shape), dtype)
    singles = [take_lanes(starts, lane) for lane in range(len(drawn))]
    rows = [frames for frames, _, _ in twinstep_lab.oracle.replays([(s, none) for s in singles])]
    want = {path: np.stack([row[path][0] for row in rows]) for path in rows[0]}
    _, got = twinstep_lab.runner.reset(starts)
    found = frames_differ(want, got, twinstep_lab.rules.one_step())
    if found:
        wrong = np.logical_or.reduce(list(found.values()))
        lane = int(np.flatnonzero(wrong)[0])
        note = f"{int(wrong.sum())} of {len(drawn)} seeds differ; the first:"
        twinstep_lab.fail_with_case(Case("episode", singles[lane], none), note)


def test_same_seed_gives_the_same_episode(twinstep_lab):
    """Two resets with the same start, and two lanes with it, are equal to the last bit."""
    starts = some_starts(twinstep_lab.contract, SEEDS)
    first = _signature(twinstep_lab.runner.reset(starts)[1])
    assert _signature(twinstep_lab.runner.reset(starts)[1]) == first
    same = take_lanes(starts, np.zeros(SEEDS, np.int64))
    assert set(_signature(twinstep_lab.runner.reset(same)[1])) == {first[0]}


# A start's fields were made for its seed. Without a randomised part a seed may change nothing.
@pytest.mark.needs("not contract.starts", "contract.randomness.parts")
def test_both_words_of_the_seed_matter(twinstep_lab):
    """A seed is 64 bits: changing either word changes some episode's start or course."""
    starts = some_starts(twinstep_lab.contract, SEEDS)
    rng = twinstep_lab.reference.rng("words")
    actions = [sample_actions(twinstep_lab.contract, SEEDS, rng) for _ in range(STEPS)]

    def played(seed):
        state, named = twinstep_lab.runner.reset(Start(seed, starts.fields))
        yield _signature(named)
        for action in actions:
            if twinstep_lab.contract.masked:
                action = legalise(action, named["legal"])
            state, named = twinstep_lab.runner.step(state, action)
            yield _signature(named)

    for word in (0, 1):
        seed = np.array(starts.seed)
        seed[:, word] ^= np.uint32(0x5BD1E995)
        pairs = zip(played(starts.seed), played(seed), strict=True)
        if not any(one != other for one, other in pairs):
            twinstep_lab.fail(f"Word {word} of the seed changes nothing in {STEPS} steps.")


@pytest.mark.needs("candidate.restart", "contract.randomness.parts")
def test_consecutive_restarts_differ(twinstep_lab):
    """The auto-reset does not begin the same episode again and again."""
    contract = twinstep_lab.contract
    state, first = twinstep_lab.runner.reset(some_starts(contract, SEEDS))
    seen = [first]
    actions = sample_actions(contract, SEEDS, twinstep_lab.reference.rng("restarts"))
    for _ in range(8):
        for _ in range(20):
            state, _ = twinstep_lab.runner.step(state, actions)
        state, named = twinstep_lab.runner.restart(state)
        seen.append(named)
    signatures = [_signature(named) for named in seen]
    alike = sum(len({s[lane] for s in signatures}) == 1 for lane in range(SEEDS))
    assert alike < SEEDS, "every restart gives the same frame"
