"""Child processes over a pipe: answers, failures, limits, last words and ends."""

import itertools
import os
import signal
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
