"""Child processes over a pipe: answers, failures, limits, last words and ends."""

import itertools
import os
import pickle
import signal
import struct
import sys
import time

import pytest

from twinstep._lib.rpc import ChildProcess, Ended, Silent, ending, serve


def _act(request):
    """Do what a request names, in the child."""
    word, value = request
    if word == "raise":
        raise ValueError(value)
    if word == "kill":
        os.kill(os.getpid(), value)
    if word == "exit":
        os._exit(value)
    if word == "sleep":
        time.sleep(value)
    return word, value


def _answers(pipe):
    serve(pipe, _act, lambda error: repr(error))


@pytest.fixture
def child():
    child = ChildProcess.spawn(_answers)
    yield child
    child.kill()


def test_requests_are_answered_and_failures_reported(child):
    assert child.ask(("echo", 3)) == ("echo", 3)
    assert child.ask(("raise", "no")) == "ValueError('no')"
    assert child.ask(("echo", 4)) == ("echo", 4)
    child.close()
    assert child.exit_code() == 0


@pytest.mark.parametrize(
    ("request_", "code", "text"),
    [
        (("exit", 7), 7, "ended with exit code 7"),
        (("kill", signal.SIGKILL), -signal.SIGKILL, "crashed (SIGKILL)"),
    ],
)
def test_an_end_is_raised_with_its_code_and_stays(child, request_, code, text):
    for _ in range(2):
        with pytest.raises(Ended) as end:
            child.ask(request_)
        assert end.value.code == code
        assert str(end.value) == text


class _Stopped(Exception):
    """What a time limit of the test's own raises in the middle of a wait."""


def _stops():
    raise _Stopped


def test_an_answer_that_nobody_waited_for_is_not_taken_for_a_later_one(child):
    """pytest-timeout's exception comes at any moment, and the oracle is asked again after it."""
    with pytest.raises(_Stopped):
        child.ask(("sleep", 0.5), limit=60, beat=_stops)
    with pytest.raises(_Stopped):
        child.ask(("sleep", 0.1), limit=60, beat=_stops)
    assert child.ask(("echo", 1)) == ("echo", 1)


def test_a_request_that_was_sent_in_part_is_followed_by_no_other(child, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(type(child.pipe), "send_bytes", lambda *_: _stops())
        with pytest.raises(_Stopped):
            child.ask(("echo", 1))
    with pytest.raises(Ended):
        child.ask(("echo", 2))


def _slowly(pipe):
    """Answer each request in two parts, with a pause between."""
    while True:
        request = pipe.recv_bytes()
        body = request[:8] + pickle.dumps(f"answer to {pickle.loads(request[8:])}")
        frame = struct.pack("!i", len(body)) + body
        os.write(pipe.fileno(), frame[:9])
        time.sleep(0.5)
        os.write(pipe.fileno(), frame[9:])


def test_an_answer_that_came_in_part_is_read_to_its_end_before_the_next():
    child = ChildProcess.spawn(_slowly)
    assert child.ask("first", limit=60) == "answer to first"
    looks = itertools.count(1)
    with pytest.raises(_Stopped):
        child.ask("second", limit=60, beat=lambda: next(looks) < 3 or _stops())
    assert child._unread
    assert child.ask("third", limit=60) == "answer to third"
    child.kill()


def _floods(pipe):
    """Answer one request, and the second with the answer to the first, over and over."""
    first = pipe.recv_bytes()
    pipe.send_bytes(first)
    pipe.recv_bytes()
    while True:
        pipe.send_bytes(first)
        time.sleep(0.05)


def test_old_answers_do_not_put_off_the_limit():
    child = ChildProcess.spawn(_floods)
    child.ask("first", limit=60)
    begin = time.monotonic()
    with pytest.raises(Silent):
        child.ask("second", limit=0.5)
    assert time.monotonic() - begin < 20
    child.kill()


def test_a_child_that_stops_amid_an_answer_is_silent():
    child = ChildProcess.spawn(_slowly)
    child.ask("first", limit=60)
    with pytest.raises(Silent):
        child.ask("second", limit=0.2)
    child.kill()


@pytest.mark.parametrize(
    "frame",
    [
        struct.pack("!i", 3) + b"abc",  # no number
        struct.pack("!i", 8) + struct.pack("<Q", 7),  # of a request that was never sent
        struct.pack("!i", -5),
        struct.pack("!iQ", -1, 1 << 63),  # more than there is
    ],
)
def test_what_is_no_answer_is_refused(frame):
    asked = ChildProcess.spawn(_writes, frame)
    with pytest.raises(ValueError, match=r"it has no number|it answers request|a message of"):
        asked.ask("x", limit=60)
    asked.kill()


def _writes(pipe, frame):
    """Answer a request with these bytes."""
    pipe.recv_bytes()
    os.write(pipe.fileno(), frame)
    time.sleep(60)


def test_silence_is_raised_unless_the_heartbeat_changes(child):
    with pytest.raises(Silent):
        child.ask(("sleep", 600), limit=0.1)
    child.kill()
    other = ChildProcess.spawn(_answers)
    beats = itertools.count()
    assert other.ask(("sleep", 1), limit=0.3, beat=lambda: next(beats)) == ("sleep", 1)
    other.close()


def test_the_last_words_of_a_program_are_kept():
    script = "import sys; print('a'); print('the end'); sys.exit(3)"
    child = ChildProcess.run(lambda _: [sys.executable, "-c", script], os.environ)
    with pytest.raises(Ended, match="exit code 3"):
        child.receive()
    assert child.last_words() == "the end"
    child.close()


def test_signals_without_a_name_are_described():
    assert ending(-40) == "crashed (signal 40)"
    assert ending(None) == "closed its pipe"
