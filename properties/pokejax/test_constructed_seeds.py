"""Level 1: rare draws on purpose. The generator is invertible, so any draw has a seed.

Each row of DRAWS puts one draw of a move on both sides of a change of the outcome, in the
reference and in the candidate: the last number with one outcome and the first with the other.
"""

import numpy as np
import pytest

from twinstep.contracts.pokejax.modules import CONDITIONS, DEFAULTS

# Modules are called in the first variant.
pytestmark = [
    pytest.mark.level1,
    pytest.mark.environment("pokejax"),
    pytest.mark.one_variant,
]

MULTIPLIER, INCREMENT = 0x5D588B656C078965, 0x269EC3
INVERSE = pow(MULTIPLIER, -1, 2**64)
BURN, PARALYSIS, SLEEP = 1, 2, 3
#: Seeds for each value of a draw.
SEEDS = 64

#: A draw: the move, additions to the scene, the draw's index in the step (from 1) and its number
#: of values, the last value with one outcome, the field that shows it.
DRAWS = {
    "a move of 100 % misses once in 256": (1, {}, 1, 256, 254, "hp"),
    "a move of 70 % misses from 178 on": (59, {}, 1, 256, 177, "hp"),
    "a critical hit, by the species' speed": (1, {}, 2, 256, 49, "hp"),
    "a move of many critical hits fails to be one at 255": (163, {}, 2, 256, 254, "hp"),
    "a burn by 26 of 256": (53, {}, 4, 256, 25, "status"),
    "a paralysis by 77 of 256": (34, {"types": 1}, 4, 256, 76, "status"),
    "a flinch by 26 of 256": (44, {}, 4, 256, 25, "flags"),
    "confusion by 25 of 256": (60, {}, 4, 256, 24, "confusion"),
    "full paralysis by 63 of 256": (1, {"status": PARALYSIS}, 1, 256, 62, "pp"),
    "one of two confused hits itself": (1, {"conditions": "confusion"}, 1, 256, 127, "pp"),
}  # fmt: skip


def seeds_for(k, n, value, count, rng):
    """Return seeds u32[count, 2] whose k-th draw below n is this value."""
    # (word * n) >> 32 == value for words in [low, high).
    low, high = -(-(value << 32) // n), -(-((value + 1) << 32) // n)
    found = []
    for _ in range(count):
        x = int(rng.integers(low, high)) << 32 | int(rng.integers(2**32))
        for _ in range(k):
            x = (x - INCREMENT) * INVERSE % 2**64
        found.append([x >> 32, x & 0xFFFFFFFF])
    return np.array(found, np.uint32)


def scene(contract, move, count, **given):
    """Return inputs of the module `move`: `count` scenes with a user of this move."""
    inputs = {
        f.name: np.repeat(DEFAULTS[f.name][None], count, 0) for f in contract.module("move").inputs
    }
    inputs["own_moves"][:, 0, 0] = move
    for name, value in given.items():
        if name == "conditions":
            inputs[name][:, 0, 0] = CONDITIONS.index(value) + 1
            inputs["confusion"][:] = 5
        else:
            inputs[name][:, 0 if name == "status" else 1] = value
    return inputs


def both(lab, inputs):
    """Call both sides; require every output to be equal; return the reference's."""
    want, got = lab.oracle.call("move", inputs), lab.runner.call("move", inputs)
    wrong = [name for name in want if not np.array_equal(want[name], got[name])]
    assert not wrong, f"{', '.join(wrong)} differ"
    return want


def test_seeds_are_built_as_the_reference_draws(twinstep_lab):
    rng = np.random.default_rng(0)
    for k, n, value in ((1, 256, 255), (3, 39, 0), (8, 256, 62)):
        given = {
            "seed": seeds_for(k, n, value, 16, rng),
            "n": np.full(16, n, np.uint16),
            "skipped": np.full(16, k - 1, np.uint8),
        }
        assert (twinstep_lab.oracle.call("generator", given)["drawn"] == value).all()


@pytest.mark.parametrize("what", DRAWS)
def test_the_outcome_changes_at_the_same_draw_in_both(twinstep_lab, what):
    """One draw is set to the last value of one outcome and to the next one."""
    move, given, k, n, last, shown = DRAWS[what]
    rng = np.random.default_rng(0)
    outcomes = []
    for value in (last, last + 1):
        inputs = scene(twinstep_lab.contract, move, SEEDS, **given)
        inputs["seed"] = seeds_for(k, n, value, SEEDS, rng)
        outcomes.append(both(twinstep_lab, inputs)[shown])
    low, high = ({each.tobytes() for each in one} for one in outcomes)
    assert low != high, f"{what}: {shown} does not show it"


@pytest.mark.parametrize(
    ("move", "k", "n", "field", "kinds"),
    [
        (147, 2, 7, "sleep", 7),
        (48, 2, 4, "confusion", 4),
        (35, 4, 8, "lock_total", 4),
        (117, 1, 2, "bide_time", 2),
        (50, 3, 8, "disable_time", 8),
        # Six of 163 charge first, which is remembered as Metronome.
        (118, 1, 163, "last_move", 158),
    ],
)
def test_every_value_of_a_draw_has_the_references_outcome(twinstep_lab, move, k, n, field, kinds):
    """The durations of sleep, confusion, binding, Bide and Disable, and the moves of Metronome."""
    rng = np.random.default_rng(0)
    # Four seeds each, because earlier draws may make the move miss.
    inputs = scene(twinstep_lab.contract, move, 4 * n)
    inputs["seed"] = np.concatenate([seeds_for(k, n, value, 4, rng) for value in range(n)])
    found = both(twinstep_lab, inputs)[field]
    assert len(set(found.reshape(-1).tolist()) - {0}) == kinds


def _named(*names):
    """Return the numbers of a member's conditions, two at most."""
    return ([CONDITIONS.index(name) + 1 for name in names] + [0, 0])[:2]


@pytest.mark.parametrize(
    ("lock", "field"),
    [
        ("twoturnmove", "charging"),
        ("lockedmove", "locked_move"),
        ("partialtrappinglock", "lock_move"),
        ("bide", "bide_time"),
    ],
)
def test_one_left_with_1_hp_by_its_confusion_stops_what_it_was_at(twinstep_lab, lock, field):
    inputs = scene(twinstep_lab.contract, 33, SEEDS)
    inputs["conditions"][:, 0] = _named("confusion", lock)
    # It hits itself for 35.
    inputs["confusion"][:], inputs["bide_time"][:], inputs["hp"][:, 0] = 5, 3, 36
    inputs["seed"] = seeds_for(1, 256, 128, SEEDS, np.random.default_rng(0))
    want = both(twinstep_lab, inputs)
    assert (want["hp"][:, 0, 0] == 1).all()
    assert (want[field][:, 0] == 0).all()


@pytest.mark.parametrize(("stored", "stage"), [(0, 0), (1, 1)])
def test_a_bide_of_nothing_builds_no_rage(twinstep_lab, stored, stage):
    inputs = scene(twinstep_lab.contract, 33, SEEDS)
    inputs["conditions"][:, 0], inputs["conditions"][:, 1] = _named("bide"), _named("rage")
    inputs["bide_damage"][:] = stored
    want = both(twinstep_lab, inputs)
    assert (want["bide_time"][:, 0] == 0).all()
    assert (want["boosts"][:, 1, 0] == stage).all()


@pytest.mark.parametrize(
    ("pp", "slots"), [([0, 20, 0, 20], {1, 3}), ([0, 0, 20, 0], {2}), ([0, 0, 0, 0], set())]
)
def test_disable_draws_among_moves_that_have_pp(twinstep_lab, pp, slots):
    inputs = scene(twinstep_lab.contract, 50, SEEDS)
    inputs["own_moves"][:, 1], inputs["pp"][:, 1] = [33, 34, 35, 36], pp
    inputs["seed"] = np.random.default_rng(0).integers(0, 2**32, (SEEDS, 2)).astype(np.uint32)
    want = both(twinstep_lab, inputs)
    hit = want["disable_time"][:, 1] > 0
    assert set(want["disable_slot"][hit, 1].tolist()) == slots


@pytest.mark.parametrize(
    ("hp", "missing", "gain"),
    [
        (100, 254, 177),
        (100, 255, 0),
        (256, 255, 255),
        (300, 255, 0),
        (300, 511, 0),
        (512, 511, 511),
    ],
)
def test_one_that_lacks_255_or_511_hp_recovers_only_with_a_multiple_of_256(
    twinstep_lab, hp, missing, gain
):
    inputs = scene(twinstep_lab.contract, 105, SEEDS)
    inputs["hp"][:, 0], inputs["missing"][:, 0] = hp, missing
    want = both(twinstep_lab, inputs)
    assert (want["hp"][:, 0, 0] == hp + gain).all()
