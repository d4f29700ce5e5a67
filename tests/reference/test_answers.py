"""A question is asked of the reference once, and again as soon as anything about it changes."""

import os

import numpy as np
import pytest

from twinstep._lib import paths
from twinstep.environment import Variant
from twinstep.errors import OracleFailed
from twinstep.inputs.seeds import seeds, starts_of
from twinstep.project.registry import EnvVariant
from twinstep.protocols import NotCallable
from twinstep.reference import answers, cache_key, process
from twinstep.reference.answers import FiledOracle
from twinstep.tests.toys.broken import REFUSING
from twinstep.tests.toys.duel import DUEL
from twinstep.tests.toys.faulty import FAULTY

TAKE = {"heap": np.array([9, 2]), "first": np.array([3, 1]), "second": np.array([1, 2])}
PROJECT = """
[tool.twinstep.envs]
duel = "twinstep.tests.toys.duel:DUEL"
faulty = "twinstep.tests.toys.faulty:FAULTY"
refusing = "twinstep.tests.toys.broken:REFUSING"
"""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Give a function that asks a fresh process, and returns the answer and how many it started."""
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TWINSTEP_CACHE", str(tmp_path / "cache"))

    def ask(question, env=DUEL, **params):
        oracle = FiledOracle(EnvVariant(env, Variant("", env.params(params))))
        before = process.started
        try:
            return question(oracle), process.started - before
        finally:
            oracle.close()

    return ask


def _take(oracle):
    return oracle.call("take", TAKE)


def _replayed(oracle):
    starts = starts_of(oracle.subject.contract, seeds("public", 2, "duel"))
    one = type(starts)(starts.seed[0], {n: v[0] for n, v in starts.fields.items()})
    return oracle.replays([(one, np.ones((5, 2), np.int32))])


def _same(one, other):
    """Whether two answers are of the same types, dtypes and bytes."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[n], other[n]) for n in one)
    if isinstance(one, list | tuple):
        return type(one) is type(other) and all(map(_same, one, other))
    return one == other


@pytest.mark.parametrize("question", [_take, _replayed])
def test_a_second_run_starts_no_reference_and_has_the_same_answer(asked, question):
    first, started = asked(question)
    again, started_again = asked(question)
    assert (started, started_again) == (1, 0)
    assert _same(first, again)


def test_the_optional_methods_are_filed_too(asked):
    def offered(oracle):
        return [oracle.offers(name) for name in ("load", "explain")]

    assert asked(offered) == ([True, False], 1)
    assert asked(offered) == ([True, False], 0)


@pytest.mark.parametrize("name", ["sources_below", "sources_of"])
def test_other_sources_of_the_bridge_or_the_harness_are_asked_anew(asked, monkeypatch, name):
    asked(_take)
    monkeypatch.setattr(cache_key, name, lambda *_: "other")
    assert asked(_take)[1] == 1


def test_another_environment_and_another_question_are_asked_anew(asked, monkeypatch):
    asked(_take)
    monkeypatch.setitem(TAKE, "heap", np.array([9, 3]))
    assert asked(_take)[1] == 1
    assert asked(lambda oracle: oracle.offers("load"), FAULTY)[1] == 1


def test_a_file_that_a_parameter_names_counts_by_its_content(asked, tmp_path):
    contents = {}
    for name, text in (("one", "same"), ("two", "same"), ("three", "other")):
        path = tmp_path / name
        path.write_text(text)
        params = FAULTY.params({"fault": str(path)})
        oracle = FiledOracle(EnvVariant(FAULTY, Variant("", params)))
        contents[name] = oracle._path("call")
    assert contents["one"] == contents["two"] != contents["three"]


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda data: b"", lambda data: b"x" * 99]
)
def test_a_damaged_answer_is_asked_again(asked, damage):
    first, _ = asked(_take)
    for path in answers.filed_in().iterdir():
        path.write_bytes(damage(path.read_bytes()))
    again, started = asked(_take)
    assert started == 1
    assert _same(first, again)


def test_no_bit_of_what_is_filed_can_change_an_answer(asked):
    """A third of all single bits gave another answer of the reference, which was then kept."""
    right, _ = asked(_take)
    offered, _ = asked(lambda oracle: [oracle.offers(name) for name in ("load", "call", "fresh")])
    for path in answers.filed_in().iterdir():
        whole = path.read_bytes()
        for place in range(0, 8 * len(whole), 7):
            damaged = bytearray(whole)
            damaged[place // 8] ^= 1 << place % 8
            path.write_bytes(damaged)
            with pytest.raises(ValueError, match="is damaged"):
                answers._read(path)
        path.write_bytes(damaged)
    again, started = asked(_take)
    assert started == 1
    assert _same(again, right)
    assert asked(lambda o: [o.offers(n) for n in ("load", "call", "fresh")]) == (offered, 1)


def test_an_answer_in_the_place_of_another_is_none(asked):
    asked(_take)
    asked(_replayed)
    one, two = sorted(answers.filed_in().iterdir())
    one.write_bytes(two.read_bytes())
    with pytest.raises(ValueError, match="is damaged"):
        answers._read(one)


def test_a_refusal_is_an_answer(asked):
    def refused(oracle):
        with pytest.raises(NotCallable, match="no stones of that kind"):
            oracle.call("take", TAKE)

    assert asked(refused, REFUSING)[1] == 1
    assert asked(refused, REFUSING)[1] == 0


def test_a_failure_is_not_filed(asked):
    def fails(oracle):
        starts = starts_of(oracle.subject.contract, seeds("public", 1, "faulty"))
        one = type(starts)(starts.seed[0], {})
        with pytest.raises(OracleFailed, match="in the reference"):
            oracle.replays([(one, np.zeros((5, 1), np.int32))])

    assert asked(fails, FAULTY, fault="raise")[1] == 1
    assert asked(fails, FAULTY, fault="raise")[1] == 1


def test_answers_are_given_where_none_can_be_filed(asked, monkeypatch):
    monkeypatch.setattr(paths, "write_atomically", _full)
    assert asked(_take)[1] == 1
    assert asked(_take)[1] == 1


def _full(path, data):
    raise OSError(28, "No space left on device")


def test_the_answers_unused_for_longest_go_first_and_none_in_use(asked):
    folder = answers.filed_in()
    folder.mkdir(parents=True)
    named = {"old": "0" * 40, "older": "1" * 40, "new": "2" * 40, "mine": "thesis.tex"}
    for name, age in (("old", 9e4), ("older", 1e5), ("new", 0), ("mine", 1e6)):
        path = folder / named[name]
        path.write_bytes(bytes(100))
        used = path.stat().st_mtime - age
        os.utime(path, (used, used))

    def left():
        return {name for name, file in named.items() if (folder / file).exists()}

    answers.evict(250)
    assert left() == {"old", "new", "mine"}
    answers.evict(0)
    assert left() == {"new", "mine"}, "a user's own file is no answer"
