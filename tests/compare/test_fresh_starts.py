"""Starts of two sides are alike in distribution, or a sentence says how they are not."""

import numpy as np
import pytest

from twinstep.compare.fresh_starts import compare

COUNT = 1000


def _named(path, index):
    return path + "".join(f"[{i}]" for i in index)


def _compared(one, other):
    return compare({"obs": one}, {"obs": other}, _named)


def _drawn(number, wide=0.05, elements=3):
    return np.random.default_rng(number).uniform(-wide, wide, (COUNT, elements))


def _dealt(number, most=4):
    return np.random.default_rng(number).integers(0, most, (COUNT, 1))


@pytest.mark.parametrize("number", range(20))
def test_starts_drawn_alike_are_alike(number):
    found = _compared(_drawn(2 * number), _drawn(2 * number + 1).astype(np.float32))
    assert found.differences == ()
    assert found.seen == "a shift of 0.36 sd would be seen"
    assert not _compared(_dealt(2 * number), _dealt(2 * number + 1)).differences


def test_the_difference_that_is_told_is_seen():
    rng = np.random.default_rng(5)
    seen = [
        bool(_compared(rng.normal(size=(COUNT, 3)), 0.36 + rng.normal(size=(COUNT, 3))).differences)
        for _ in range(40)
    ]
    assert sum(seen) >= 36


def test_rounding_is_no_difference():
    drawn = _drawn(1)
    assert not _compared(drawn, np.nextafter(drawn.astype(np.float32), np.float32(1))).differences
    tenth = np.full((COUNT, 1), 0.1)
    assert not _compared(tenth, np.nextafter(tenth.astype(np.float32), np.float32(1))).differences


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        (_drawn(1), _drawn(2, wide=0.5), "(10 times as wide), the reference's in -0.049"),
        (_drawn(1), _drawn(2, wide=0.056), "times as wide), the reference's in"),
        (_drawn(1), _drawn(2) * 0 + 0.25, "is always 0.25, the reference's in -0.049"),
        (_drawn(1) * 0 + 0.25, _drawn(2), "the reference's is 0.25"),
        (_drawn(1), np.round(_drawn(2), 3), "is dealt from few values, the reference's takes any"),
        (np.round(_drawn(1), 3), _drawn(2), "takes any value, the reference's is dealt from few"),
        (_drawn(1), _drawn(2) ** 3 * 400, "has a mean of"),
        (_dealt(1, 5), np.minimum(_dealt(2, 6), 4), "is 4 in"),
        (_dealt(1, 4), _dealt(2, 5), "0 to 4 (1.33 times as wide), the reference's in 0 to 3"),
        (
            _drawn(1),
            np.repeat(_drawn(2, elements=1), 3, 1),
            "go together in another way: their rank correlation is 1.00",
        ),
    ],
)  # fmt: skip
def test_what_is_not_alike_is_told(one, other, says):
    found = _compared(one, other)
    assert says in found.differences[0]


def test_an_element_shown_twice_is_told_once_by_its_fields_name():
    one, other = _drawn(1, elements=1), _drawn(2, wide=0.5, elements=1)
    sides = [{"obs": side, "state.x": side[:, 0]} for side in (one, other)]
    (told,) = compare(*sides, _named).differences
    assert told.startswith("`state.x` lies in")


def test_infinite_and_undefined_values_are_values():
    holed = _drawn(2)
    holed[::2] = np.nan
    assert _compared(_drawn(1), holed).differences
    assert not _compared(holed, holed).differences


def test_where_nothing_varies_nothing_would_be_seen():
    same = np.zeros((COUNT, 2))
    assert _compared(same, same).seen == "no element varies"
