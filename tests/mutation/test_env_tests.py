"""An environment's own tests on planted bugs, and the filed answers of its oracle."""

import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from twinstep.errors import UserError
from twinstep.mutation import env_test_stage, env_tests
from twinstep.mutation.cached_oracle import FilingOracle
from twinstep.mutation.campaign import Plan, prepare
from twinstep.mutation.check_order import Watch
from twinstep.mutation.env_test_stage import run_own_tests
from twinstep.mutation.env_tests import OwnTests, from_the_root, groups
from twinstep.mutation.runner import MutantRunner
from twinstep.mutation.verdict import Kill
from twinstep.project import registry
from twinstep.reference.process import OracleProcess

pytestmark = pytest.mark.e2e

PONG = registry.environment("pong")
JAX = next(ref for ref in PONG.candidates if ref.name == "jax")


def _reaped_by_another_thread(real, *how):
    """Wait for a process so that a pool's thread reaps it first, but records that last."""
    late = threading.current_thread() is threading.main_thread()
    time.sleep(0.2 * late)
    try:
        return real(*how)
    finally:
        time.sleep(0.5 * (not late))


@pytest.mark.parametrize("count", [1, 2])
def test_a_survivor_is_asked_of_the_environments_own_tests_and_an_equivalent_one_passes(
    monkeypatch, tmp_path, count
):
    monkeypatch.setattr(os, "waitpid", partial(_reaped_by_another_thread, os.waitpid))
    every = prepare(Plan("pong", "jax"))
    ball = next(m for m in every.mutants if m.path.endswith("ball.py") and m.what == "< to >=")
    same = next(iter(every.equivalent))
    known = [{"id": name, "class": "survivor", "path": "", "line": 1, "what": "", "kills": {}}
             for name in (ball.id, same)]  # fmt: skip
    told = []
    every.rows = known
    ask = partial(run_own_tests, every, told.append, tmp_path, count)
    assert len(list(ask())) == 2
    first, second = known
    assert (first["own"], first["class"]) == (True, "killed")
    assert (second["own"], second["class"]) == (False, "survivor")
    (kill,) = first["kills"].values()
    assert kill["check"].startswith("properties/pong/test_quirk_limits.py::")
    assert first["first"] == 1
    assert list(ask()) == []
    assert not multiprocessing.active_children()


_DRAWN = """
import hypothesis, pathlib, pytest
from hypothesis import strategies as st

pytestmark = [pytest.mark.level1, pytest.mark.environment("pong"), pytest.mark.one_variant]

@hypothesis.settings(suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(drawn=st.lists(st.integers()))
def test_notes(twinstep_lab, drawn):
    with pathlib.Path("notes").open("a") as file:
        print(drawn, file=file)
    assert len(drawn) < 3
"""
_AS_OWN = (
    "from twinstep.mutation import env_tests as t; t.packages = lambda env: ['drawn']; t._main"
)


def test_hypothesis_thinks_up_the_same_for_each_bug_whatever_it_found_before(tmp_path):
    (tmp_path / "drawn").mkdir()
    (tmp_path / "drawn" / "__init__.py").touch()
    (tmp_path / "drawn" / "test_drawn.py").write_text(_DRAWN)
    places = os.pathsep.join((str(tmp_path), str(Path(env_tests.__file__).parents[2])))
    notes, found, said = tmp_path / "notes", tmp_path / "found", []
    asked = [sys.executable, "-c", f"{_AS_OWN}('pong', 'jax', '-', 'found', 'answers', 'no')"]
    for _ in range(2):
        subprocess.run(asked, cwd=tmp_path, env=os.environ | {"PYTHONPATH": places}, check=True)
        assert json.loads(found.read_text())["detail"] == "assert 3 < 3"
        said.append(notes.read_text())
        notes.unlink()
    assert said[0] == said[1]


_TWO = """
import pytest

pytestmark = [pytest.mark.level1, pytest.mark.environment("pong"), pytest.mark.one_variant]

def test_one(twinstep_lab):
    assert False, "one"

@pytest.mark.parametrize("way", ["here", "there"])
def test_two(twinstep_lab, way):
    assert False, f"two, {way}"
"""
_TWO_THERE = "properties/drawn/test_two.py::test_two[pong@fs8-jax-there]"


@pytest.mark.parametrize(
    ("names", "first"), [("", "one"), (f", 'nosuch', {_TWO_THERE!r}", "two, there")]
)
def test_tests_that_are_named_run_first(tmp_path, names, first):
    (tmp_path / "properties" / "drawn").mkdir(parents=True)
    (tmp_path / "properties" / "drawn" / "__init__.py").touch()
    (tmp_path / "properties" / "drawn" / "test_two.py").write_text(_TWO)
    places = os.pathsep.join(
        (str(tmp_path / "properties"), str(Path(env_tests.__file__).parents[2]))
    )
    call = f"{_AS_OWN}('pong', 'jax', '-', 'found', 'answers', 'no'{names})"
    more = os.environ | {"PYTHONPATH": places}
    subprocess.run([sys.executable, "-c", call], cwd=tmp_path, env=more, check=True)
    found = json.loads((tmp_path / "found").read_text())
    assert found["detail"].startswith(f"AssertionError: {first}")


def test_the_tests_that_a_candidate_names_are_a_run_of_their_own_and_first_if_one_is_named():
    cheetah = next(r for r in registry.environment("halfcheetah").candidates if r.name == "jax64")
    suite = ["twinstep.properties.halfcheetah", "twinstep.interactions.halfcheetah"]
    named = [f"{cheetah.tests[0].removeprefix('twinstep.').replace('.', '/')}.py::test", "other"]
    for names, order in (((), 1), (named, -1), (named[::-1], 1)):
        first, second = groups("halfcheetah", cheetah, names)[::order]
        assert first[-2:] == suite
        assert second[-len(cheetah.tests) :] == list(cheetah.tests)
    assert [words[-1] for words in groups("pong", JAX, named)] == ["twinstep.properties.pong"]


def test_what_noticed_bugs_of_a_file_is_asked_first_of_the_next_one(monkeypatch, tmp_path):
    campaign = prepare(Plan("pong", "jax"))
    ball = [one for one in campaign.mutants if one.path.endswith("ball.py")]
    rows = [{"id": one.id, "class": "survivor", "path": one.path, "line": 1, "kills": {}}
            for one in ball[:4]]  # fmt: skip
    other = {"own": True, "class": "killed", "path": "other.py", "kills": {"1": {"check": "o"}}}
    given, checks = [], ["a", "b", "b", "c"]

    class Spied(env_test_stage.OwnTests):
        def begin(self):
            pass

        def ask(self, mutant, first=()):
            given.append(list(first))
            return Kill(1, checks[len(given) - 1], "difference", "")

    monkeypatch.setattr(env_test_stage, "OwnTests", Spied)
    campaign.rows = [other, *rows]
    list(run_own_tests(campaign, lambda text: None, tmp_path))
    assert given == [[], ["a"], ["a", "b"], ["b", "a"]]


def test_own_tests_whose_process_is_ended_from_outside_are_no_verdict(tmp_path):
    campaign = prepare(Plan("pong", "jax"))
    campaign.rows = rows = [
        {"id": one.id, "class": "survivor", "path": "", "line": 1, "what": "", "kills": {}}
        for one in campaign.mutants[:5]
    ]

    def ends(text):
        if ", 1 of 5" in text:
            for process in multiprocessing.active_children():
                process.kill()

    with pytest.raises(UserError, match="ended from outside"):
        list(run_own_tests(campaign, ends, tmp_path, 2))
    assert any("own" not in row for row in rows)


def test_a_pool_that_closes_while_it_starts_a_process_is_one_clear_line(monkeypatch, tmp_path):
    campaign = prepare(Plan("pong", "jax"))
    campaign.rows = [
        {"id": one.id, "class": "survivor", "path": "", "line": 1, "what": "", "kills": {}}
        for one in campaign.mutants[:2]
    ]

    def closed(pool):
        raise OSError("handle is closed")

    monkeypatch.setattr(ProcessPoolExecutor, "_adjust_process_count", closed)
    monkeypatch.setattr(OwnTests, "begin", lambda tests: None)
    monkeypatch.setattr(OwnTests, "limits", (1.0, 1.0), raising=False)
    with pytest.raises(UserError, match="ended from outside"):
        list(run_own_tests(campaign, lambda text: None, tmp_path, 2))


@pytest.fixture
def asked_of(monkeypatch):
    """Yield a list of the requests to the oracles' processes."""
    methods, real = [], OracleProcess._ask

    def spied(self, method, *args, **more):
        methods.append(method)
        return real(self, method, *args, **more)

    monkeypatch.setattr(OracleProcess, "_ask", spied)
    return methods


def test_a_filed_answer_is_that_of_the_same_question_and_nothing_is_filed_beside_a_bug(
    asked_of, tmp_path
):
    subjects = [registry.EnvVariant(PONG, variant) for variant in PONG.variants[:2]]
    inputs = {"paddle_yl": np.float32([100, 200]), "ball_y": np.float32([300, 20])}

    def answer(learning, subject=subjects[0], **changed):
        oracle = FilingOracle(tmp_path / "answers", learning, subject)
        try:
            return oracle.call("opponent_paddle", inputs | changed)["paddle_yl"].tolist()
        finally:
            oracle.close()

    first = answer(False)
    assert [answer(True), answer(False), answer(True)] == [first] * 3
    assert asked_of.count("call") == 2
    for _ in range(2):  # another question, another variant: both are asked each time
        assert answer(False, ball_y=np.float32([20, 300])) != first
        answer(False, subjects[1])
    assert asked_of.count("call") == 6
    assert len(list((tmp_path / "answers").iterdir())) == 1


def test_the_process_after_one_that_a_bug_has_ended_asks_the_oracle_nothing_anew(
    asked_of, tmp_path
):
    campaign = prepare(Plan("pong", "jax", levels=(1,), sample=1, alone=True))

    def begin():
        bench = MutantRunner(campaign, Watch(), tmp_path, campaign.mutants)
        bench.begin(elsewhere=False)
        row = bench.row(campaign.mutants[0], {}, elsewhere=False)
        bench.close()
        return row["class"], row["kills"]

    first = begin()
    assert "call" in asked_of
    del asked_of[:]
    assert begin() == first
    assert set(asked_of) == {"open"}  # it is begun, and said what it offers


def test_a_parameter_that_names_a_file_counts_by_what_the_file_holds(monkeypatch, tmp_path):
    asked_of = []
    monkeypatch.setattr(OracleProcess, "_ask", lambda *_, **__: asked_of.append(1))

    def ask(value):
        contract = SimpleNamespace(params={"rom": value})
        oracle = FilingOracle(tmp_path, True, SimpleNamespace(env=PONG, contract=contract))
        oracle.call("opponent_paddle", {})
        return len(asked_of)

    names = [tmp_path / name for name in ("a.gb", "b.gb", "c.gb")]
    for name, held in zip(names, (b"one", b"one", b"two"), strict=True):
        name.write_bytes(held)
    assert [ask(str(name)) for name in names] == [1, 1, 2]
    assert [ask(value) for value in ("", 3, "given", 3)] == [3, 4, 5, 5]


@pytest.mark.parametrize(
    "before", ["", "twinstep/", "/home/properties/twinstep/", "../site-packages/twinstep/"]
)
def test_a_table_names_own_tests_from_the_repositorys_root(before):
    for name in (
        "interactions/pong/test_a.py::test_b[a/properties/c]",
        "properties/pong/test_a.py",
    ):
        assert from_the_root(before + name) == name
    name = "tests/envs/pong/test_a.py::test_b"
    assert from_the_root("rollouts/" + name) == name
    assert from_the_root(before.removesuffix("twinstep/") + name) == name
    assert from_the_root("own tests") == "own tests"


def test_a_failing_test_outside_pytests_root_is_named_with_its_folders_and_has_its_own_level(
    tmp_path,
):
    """For two files of one name pytest reports only the last part, the same for both."""
    (tmp_path / "root").mkdir()
    body = "import pytest\n@pytest.mark.level{}\ndef test_b():\n    assert {}\n"
    files = []
    for suite, level, holds in (("properties", 1, True), ("interactions", 2, False)):
        files.append(tmp_path / suite / "pong" / "test_a.py")
        files[-1].parent.mkdir(parents=True)
        files[-1].write_text(body.format(level, holds))
    run = """
import sys, pytest
from twinstep.mutation.env_tests import _First
first = _First(())
quiet = ["-q", "-p", "no:cacheprovider", "-p", "no:twinstep", "--import-mode", "importlib"]
pytest.main([*quiet, "--rootdir", *sys.argv[1:]], plugins=[first])
print(first.kill.level, first.kill.check)
"""
    command = [sys.executable, "-c", run, tmp_path / "root", *files]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path / "root")
    assert found.stdout.splitlines()[-1:] == ["2 interactions/pong/test_a.py::test_b"], found.stderr
