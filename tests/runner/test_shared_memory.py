"""Arrays between the harness and a candidate's process arrive whole, whoever else writes there."""

import errno
import mmap
import os

import numpy as np
import pytest

from twinstep.runner import shared_memory, wire
from twinstep.runner.shared_memory import CANDIDATE, HALF, HARNESS
from twinstep.runner.wire import Garbled

pytestmark = pytest.mark.skipif(
    not hasattr(os, "memfd_create"), reason="this system has no anonymous files in memory"
)


@pytest.fixture
def sides():
    """The two codecs, and the candidate's own mapping of the memory."""
    with shared_memory.made() as descriptor:
        codecs = [shared_memory.codec(descriptor, side) for side in (HARNESS, CANDIDATE)]
        yield *codecs, mmap.mmap(descriptor, 2 * HALF)


def test_arrays_of_any_shape_and_dtype_arrive_beside_the_pipe(sides):
    harness, candidate, _ = sides
    grid = np.arange(24, dtype=np.float32).reshape(4, 6)
    sent = {
        "odd": np.array([True, False, True]),
        "turned": grid.T,
        "every other": grid[::2, ::-1],
        "none": np.zeros((0, 3), np.int64),
        "one": np.array(0.1, np.float32),
        "wide": np.array([2**63], np.uint64),
    }
    data = harness.encode([sent, "text", None])
    assert grid.tobytes() not in data
    got, text, nothing = candidate.decode(data)
    assert (text, nothing) == ("text", None)
    for name, value in sent.items():
        assert got[name].dtype == np.asarray(value).dtype
        np.testing.assert_array_equal(got[name], value)


def test_what_was_read_does_not_change_when_the_writer_writes_again(sides):
    harness, candidate, memory = sides
    got = harness.decode(candidate.encode(np.arange(1000)))
    memory[:] = b"\xff" * len(memory)
    np.testing.assert_array_equal(got, np.arange(1000))


def test_a_request_amid_another_leaves_the_arrays_of_both_whole(sides):
    """The harness was interrupted: no answer came, and the candidate has yet to read the first."""
    harness, candidate, _ = sides
    first, second = np.arange(100), -np.arange(100)
    one, two = harness.encode(first), harness.encode(second)
    np.testing.assert_array_equal(candidate.decode(one), first)
    np.testing.assert_array_equal(candidate.decode(two), second)
    harness.decode(candidate.encode("both"))
    assert len(harness.encode(first)) < first.nbytes  # the memory is in use again


def test_arrays_beyond_a_half_go_through_the_pipe(sides):
    harness, candidate, _ = sides
    large = np.zeros(HALF + 1, np.uint8)
    large[-1] = 7
    data = harness.encode(large)
    assert len(data) > HALF
    assert candidate.decode(data)[-1] == 7


def test_the_other_side_cannot_shrink_the_memory_under_this_one():
    with shared_memory.made() as descriptor:
        for size in (0, HALF, 3 * HALF):
            with pytest.raises(PermissionError):
                os.ftruncate(descriptor, size)


def test_where_a_limit_forbids_the_memory_all_goes_through_the_pipe(monkeypatch):
    def refused(descriptor, size):
        raise OSError(errno.EFBIG, "File too large")

    monkeypatch.setattr(os, "ftruncate", refused)
    with shared_memory.made() as descriptor:
        assert descriptor is None
        codec = shared_memory.codec(descriptor, HARNESS)
    np.testing.assert_array_equal(codec.decode(codec.encode(np.arange(9))), np.arange(9))


@pytest.mark.parametrize("shape", [[HALF + 1], [-1], [2**62, 4]])
def test_an_array_that_ends_elsewhere_is_refused(sides, shape):
    harness, _, _ = sides
    tree = {"room": {"array": "|u1", "shape": shape}}
    with pytest.raises(Garbled):
        harness.decode(wire._headed(tree))


def test_without_memory_of_its_own_a_message_that_names_it_is_refused():
    with pytest.raises(Garbled):
        wire.unpack(wire._headed({"room": {"v": 1}}))
