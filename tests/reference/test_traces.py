"""Trace files: what was recorded comes back bit for bit, and nothing else is believed."""

import hashlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twinstep.inputs.batching import WINDOW
from twinstep.reference.trace_file import ChunkFile, TraceDamaged, digests, write
from twinstep.tests.support.recorded_traces import CONTRACT, chunk_of


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 2 * WINDOW + 3), min_size=1, max_size=4), st.integers(0, 9))
def test_ragged_episodes_come_back_bit_for_bit(tmp_path, lengths, seed):
    chunk = chunk_of(np.random.default_rng(seed), lengths)
    path = tmp_path / "x.chunk"
    read = ChunkFile(path, write(path, chunk, CONTRACT))
    assert read.lengths.tolist() == lengths
    assert np.array_equal(read.starts.seed, chunk.starts.seed)
    assert np.array_equal(read.starts.fields["team"], chunk.starts.fields["team"])
    assert np.array_equal(read.restarted["reward"], chunk.restarted["reward"])
    paths = list(chunk.frames)
    for number in range(chunk.windows):
        got, want = read.window(number, paths), chunk.window(number, paths)
        for name in paths:
            assert got[name].dtype == want[name].dtype
            assert np.array_equal(got[name], want[name]), (name, number)
        assert np.array_equal(read.window_actions(number), chunk.window_actions(number))
        ram = read.window(number, ["state.ram"], "digest")["state.ram"]
        assert np.array_equal(ram, digests(want["state.ram"]))
    for lane, length in enumerate(lengths):
        assert np.array_equal(read.actions_of(lane), chunk.actions[:length, lane])
    read.close()


def test_any_altered_byte_is_noticed(tmp_path):
    path = tmp_path / "x.chunk"
    sha = write(path, chunk_of(np.random.default_rng(0), [9, 4]), CONTRACT)
    whole = path.read_bytes()
    for place in (0, 30, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(TraceDamaged):
            ChunkFile(path, sha)
    path.write_bytes(whole[:-1])
    with pytest.raises(TraceDamaged):
        ChunkFile(path, sha)


@pytest.mark.parametrize(
    "data", [b"", b"twinstep-trace\n", b"twinstep-trace\n" + b"\1" * 8, b"x" * 99]
)
def test_a_file_that_is_no_trace_is_noticed_whatever_its_manifest_says(tmp_path, data):
    path = tmp_path / "x.chunk"
    path.write_bytes(data)
    with pytest.raises(TraceDamaged, match="no trace file"):
        ChunkFile(path, hashlib.sha256(data).hexdigest())
