"""A signal ends a command, even where Python drops the exception that it raises."""

import gc
import os
import signal
import subprocess
import sys
import time
import weakref

import pytest

from twinstep._lib import interrupts
from twinstep._lib.interrupts import ended_as_by_ctrl_c

NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def _as_in_a_terminal():
    """Set the handlers of a terminal: background jobs ignore Ctrl-C, nohup a closed terminal."""
    usual = [
        signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.signal(signal.SIGHUP, signal.SIG_DFL),
    ]
    yield
    for number, handler in zip((signal.SIGINT, signal.SIGHUP), usual, strict=True):
        signal.signal(number, handler)


class _Thing:
    pass


def _in_a_collection(stop):
    def begins(phase, info):
        gc.callbacks.remove(begins)
        stop()

    gc.callbacks.append(begins)
    gc.collect()


def _in_a_weak_reference(stop):
    thing = _Thing()
    reference = weakref.ref(thing, lambda _: stop())
    del thing
    assert reference() is None


def _in_a_finaliser(stop):
    class Ending:
        def __del__(self):
            stop()

    Ending()


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("where", [_in_a_collection, _in_a_weak_reference, _in_a_finaliser])
def test_a_signal_that_comes_inside_a_callback_still_ends_the_command(where, number):
    usual = signal.getsignal(number)

    def command():
        where(lambda: os.kill(os.getpid(), number))
        time.sleep(10)
        pytest.fail("the signal was lost")

    with pytest.raises(KeyboardInterrupt), ended_as_by_ctrl_c():
        command()
    assert signal.getsignal(number) == usual


@pytest.fixture
def slow_hook(monkeypatch):
    """Make the hook outlast the delay, as on a busy machine: returns the calls so far."""
    calls = []
    soon = interrupts._interrupt_soon

    def slow():
        soon()
        calls.append(None)
        if len(calls) <= 3:
            time.sleep(0.1)  # the next signal arrives now, inside the hook

    monkeypatch.setattr(interrupts, "_AGAIN", 0.001)
    monkeypatch.setattr(interrupts, "_interrupt_soon", slow)
    return calls


@pytest.mark.parametrize("number", NUMBERS)
def test_an_interruption_that_falls_inside_the_hook_comes_again(slow_hook, number, capsys):
    def command():
        _in_a_finaliser(lambda: os.kill(os.getpid(), number))
        time.sleep(10)
        pytest.fail("the signal was lost")

    with pytest.raises(KeyboardInterrupt), ended_as_by_ctrl_c():
        command()
    assert len(slow_hook) > 1, "no signal fell inside the hook"
    assert capsys.readouterr().err == ""


def test_a_hook_that_may_be_interrupted_loses_the_signal(slow_hook, monkeypatch, capsys):
    """The planted bug: raising wherever the signal arrives."""
    monkeypatch.setattr(interrupts, "_inside_hook", lambda frame: False)
    with ended_as_by_ctrl_c():
        _in_a_finaliser(lambda: os.kill(os.getpid(), signal.SIGTERM))
        time.sleep(0.3)
    assert "Exception ignored in sys.unraisablehook" in capsys.readouterr().err


def test_a_second_ctrl_c_inside_the_hook_is_not_lost(monkeypatch):
    """The hook's other work takes time too: it prints a finaliser's own error."""
    shown = []

    def slow(lost):
        os.kill(os.getpid(), signal.SIGINT)
        shown.append(lost.exc_type)

    def fails():
        raise ValueError("of a finaliser")

    monkeypatch.setattr(sys, "__unraisablehook__", slow)

    def command():
        _in_a_finaliser(fails)
        time.sleep(10)
        pytest.fail("the signal was lost")

    with pytest.raises(KeyboardInterrupt), ended_as_by_ctrl_c():
        command()
    assert shown == [ValueError]


def test_what_else_is_dropped_is_shown_as_before(capsys):
    def fails():
        raise ValueError("of a finaliser")

    with ended_as_by_ctrl_c():
        _in_a_finaliser(fails)
        assert sys.unraisablehook is not sys.__unraisablehook__
    assert "of a finaliser" in capsys.readouterr().err


def test_a_signal_that_is_ignored_stays_ignored():
    usual = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ended_as_by_ctrl_c():
            os.kill(os.getpid(), signal.SIGHUP)
            time.sleep(0.05)
    finally:
        signal.signal(signal.SIGHUP, usual)


def test_an_interrupted_command_ends_without_pythons_own_end():
    """At Python's end XLA's threads crash if they are busy, as in half of the interrupted runs."""
    script = (
        "import atexit, os, signal, sys\n"
        "from twinstep import cli\n"
        "from twinstep.project import registry\n"
        "def ends(name):\n"
        "    print('said before')\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "registry.environment = ends\n"
        "atexit.register(print, 'its own end')\n"
        "sys.argv = ['twinstep', 'play', 'pong']\n"
        "sys.exit(cli.main())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stdout == "said before\n"
    assert done.stderr == "twinstep: interrupted\n"
