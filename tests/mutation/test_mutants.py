"""Planted bugs: each operator makes its edit, and the code is as before once the bug is removed."""

import argparse
import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from twinstep._lib.stats import wilson
from twinstep.cli import main
from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.mutation import command, equivalents, judge
from twinstep.mutation.campaign import Plan, located, prepare
from twinstep.mutation.check_order import Watch
from twinstep.mutation.effects import answered, effect, tolerant
from twinstep.mutation.equivalence_evidence import _BatchedReference
from twinstep.mutation.judge import Question
from twinstep.mutation.planting import all_mutants, planted
from twinstep.mutation.python_operators import OPERATORS, mutants_of
from twinstep.mutation.results import sample_before, settled_before
from twinstep.mutation.sampling import chosen
from twinstep.mutation.verdict import Judgement, Kill
from twinstep.project import registry
from twinstep.testing.harness import Harness
from twinstep.testing.reference import Reference
from twinstep.testing.settings import RunSettings
from twinstep.tests.toys import duel

MADE = {
    "x = a < b": {"x = a <= b", "x = a >= b"},
    "x = a == b": {"x = a != b", "x = a >= b", "x = a <= b"},
    "x = a + b": {"x = a - b"},
    "x = a // b": {"x = a * b"},
    "x = a & b": {"x = a | b"},
    "x = a and b": {"x = a or b"},
    "x = 5": {"x = 6"},
    "x = 0": {"x = 1", "x = -1"},
    "x = 0x0F": {"x = 0x10"},
    "x = True": {"x = False"},
    "x = a[1]": {"x = a[2]"},
    "x = jnp.where(a, b, c)": {"x = jnp.where(a, c, b)"},
    "x = jnp.clip(a, b, c)": {"x = (a)"},
    "x = jnp.minimum(a, b)": {"x = (a)", "x = (b)"},
    "x = -a": {"x = a"},
    "x = ~a": {"x = a"},
    "x = not a": {"x = a"},
    "def f(a: int = b) -> 'x < 1': 'text 1 < 2'": set(),
    "assert a < 1, f'{b + 1}'": set(),
}


def _applied(text):
    source = text.encode()
    return {one.applied(source).decode() for one in mutants_of(source, "m.py", "m")}


@pytest.mark.parametrize("text", MADE)
def test_an_operator_makes_what_it_says_and_nothing_else(text):
    assert _applied(text) == MADE[text]


def test_of_a_long_table_eight_numbers_are_changed_from_its_first_to_its_last():
    numbers = lambda count: ", ".join(str(n) for n in range(100, 100 + count))  # noqa: E731
    changed = [one.what for one in mutants_of(f"x = ({numbers(99)})".encode(), "m.py", "m")]
    assert len(changed) == 8
    assert (changed[0], changed[-1]) == ("100 to 101", "198 to 199")
    assert len(mutants_of(f"x = [{numbers(64)}]".encode(), "m.py", "m")) == 64
    named = f"x = ({numbers(99)}, y + 1)".encode()
    assert len(mutants_of(named, "m.py", "m")) == 99 + 2


def test_every_operator_is_tested():
    made = {one.operator for text in MADE for one in mutants_of(text.encode(), "m.py", "m")}
    assert made == set(OPERATORS)


def test_a_mutant_keeps_its_name_where_lines_move_and_twins_have_two():
    source = b"x = a < b\ny = 1\nx = a < b\n"
    before = [one.id for one in mutants_of(source, "m.py", "m")]
    after = [one.id for one in mutants_of(b"\n\n# more\n" + source, "m.py", "m")]
    assert before == after
    assert len(set(before)) == len(before)
    assert before != [one.id for one in mutants_of(source, "n.py", "n")]


@pytest.fixture(scope="module")
def ref():
    env = next(e for e in map(registry.environment, registry.names()) if e.name == "pong")
    return next(one for one in env.candidates if one.name == "jax")


def test_a_planted_bug_is_imported_and_gone_afterwards(ref):
    mutant = next(one for one in all_mutants(ref) if one.operator == "constant")
    with planted(ref, None):
        __import__(mutant.module)
        kept = sys.modules[mutant.module]
    __import__(mutant.module)
    before = sys.modules[mutant.module]
    assert before is not kept
    with planted(ref, mutant):
        __import__(mutant.module)
        inside = sys.modules[mutant.module]
        assert inside is not before
        original = compile(Path(before.__file__).read_bytes(), before.__file__, "exec")
        assert inside.__loader__.get_code(mutant.module) != original
    assert sys.modules[mutant.module] is before


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that gives the candidate of a project as `init` writes it, with a rule."""

    def write(rule):
        package = tmp_path / "inits" / "fast"
        package.mkdir(parents=True)
        (tmp_path / "inits" / "__init__.py").write_text("")
        (package / "__init__.py").write_text('"""The fast twin."""\n')
        (package / "candidate.py").write_text(rule)
        monkeypatch.syspath_prepend(tmp_path)
        factory, globs = "inits.fast.candidate:Fast", ("inits/fast/**",)
        return CandidateRef("jax", factory, packages=("inits.fast",), edit=globs)

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "inits"]:
        del sys.modules[name]


def test_bugs_are_planted_in_a_factorys_module_where_no_other_holds_the_rules(written):
    found = all_mutants(written("def rule(x):\n    return x + 1\n"))
    assert found
    assert {mutant.module for mutant in found} == {"inits.fast.candidate"}


def test_a_candidate_with_nothing_to_plant_a_bug_in_is_one_line(written, monkeypatch):
    ref = written("class Fast:\n    pass\n")
    env = replace(registry.environment("pong"), candidates=(ref,))
    monkeypatch.setattr(registry, "environment", lambda name: env)
    with pytest.raises(UserError, match="'jax' has nothing to plant a bug in: .*candidate.py"):
        prepare(Plan("pong", "jax"))


def test_a_package_keeps_its_functions_where_one_has_a_modules_name(ref):
    package = importlib.import_module(ref.packages[0])
    kept = dict(vars(package))
    assert callable(kept["step"])
    assert f"{ref.packages[0]}.step" in sys.modules
    with planted(ref, all_mutants(ref)[0]):
        assert importlib.import_module(ref.packages[0]) is not package
    assert importlib.import_module(ref.packages[0]) is package
    assert dict(vars(package)) == kept


def test_a_share_lies_in_its_own_interval():
    """Of none in 6 rounding once put the lower edge above 0."""
    for count in range(1, 200):
        for hits in range(count + 1):
            low, high = wilson(hits, count)
            assert 0 <= low <= hits / count <= high <= 1
    assert wilson(0, 0) == (0, 1)


def test_a_sample_is_the_same_for_a_seed_and_has_all_strata(ref):
    every = all_mutants(ref)
    some = chosen(every, 40, 3)
    assert some == chosen(every, 40, 3) != chosen(every, 40, 4)
    assert len(some) == len({one.id for one in some}) == 40
    assert len({one.operator for one in some}) >= 7
    assert chosen(every, 0, 3) == every


def test_a_bug_that_an_adapter_calls_its_users_mistake_is_noticed_and_a_users_own_is_none(
    monkeypatch,
):
    """`env.reset` passes on an adapter's message about a cartridge that its library refuses."""
    ref = CandidateRef("vector", "twinstep.tests.toys.duel:Vector")
    lab = SimpleNamespace(pair=SimpleNamespace(candidate=ref))
    raised = "raise UserError('no such cartridge')"

    def ask_of(file):
        code = compile(raised, file, "exec")
        check = lambda: exec(code, {"UserError": UserError})  # noqa: E731, S102
        monkeypatch.setattr(judge, "checks", lambda *_: [("reset", check)])
        return judge.run_levels(lab, Question(levels=(1,)), Watch())

    (kill,) = ask_of(duel.__file__).kills.values()
    assert kill.detail == "the candidate raised UserError: no such cartridge"
    with pytest.raises(UserError, match="no such cartridge"):
        ask_of(judge.__file__)


def test_a_result_names_no_folder_of_the_machine():
    said = "/home/me/run 1/rules.py:3: open('/tmp/x/y') gave 1/2, hp of a/b.py, /dev/null"
    assert Kill(1, "check", "crash", said).named() == {
        "check": "check", "how": "crash",
        "detail": "run 1/rules.py:3: open('y') gave 1/2, hp of a/b.py, null",
    }  # fmt: skip


def test_checks_that_notice_much_for_their_time_come_first_in_a_file():
    watch = Watch()
    kill = Kill(1, "slow", "difference", "")
    for path, spent, kills in (
        ("a.py", {(1, "slow"): 8.0, (1, "quick"): 0.1}, {1: kill}),
        ("a.py", {(1, "quick"): 0.1}, {1: replace(kill, check="quick")}),
        ("b.py", {(1, "quick"): 0.1, (1, "slow"): 8.0}, {1: kill}),
        ("b.py", {(1, "quick"): 0.1, (1, "slow"): 8.0}, {}),
    ):
        watch.path = path
        watch.learn(Judgement(kills, {}, "", spent))
    assert watch.worth(1, "quick") > watch.worth(1, "slow")
    assert watch.worth(2, "quick") > watch.worth(1, "slow")  # of that nothing is known
    quick = watch.worth(1, "quick")
    watch.path = "a.py"
    assert watch.worth(1, "quick") > quick  # it noticed one of two there, and none of two in b.py


def test_only_gates_that_leave_room_have_bugs_below_them():
    contracts = {
        name: registry.subjects(registry.environment(name), {})[0].contract
        for name in ("pong", "halfcheetah")
    }
    # Pong's observation may be off by 2e-7 on a GPU, and only there.
    assert {name: tolerant(one, "jax") for name, one in contracts.items()} == {
        "pong": False,
        "halfcheetah": True,
    }


def test_the_effect_of_a_bug_is_where_it_changes_most():
    before = {"a.x": np.array([1.0, 2.0, np.nan, 4.0]), "b.y": np.array([5, 6])}
    assert effect(before, before) == {"where": "", "largest": 0.0, "share": 0.0}
    after = {"a.x": np.array([1.0, 2.5, np.nan, 4.25]), "b.y": np.array([5, 6])}
    assert effect(before, after) == {"where": "a.x", "largest": 0.5, "share": 0.5}
    after = before | {"a.x": np.array([np.nan, 2.0, np.nan, 4.0])}
    assert effect(before, after) == {"where": "a.x", "largest": None, "share": 0.25}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[equivalent]]\nid = 'x'\nbefore = 'a'\nafter = 'b'\nreason = 'c'", "no mutant 'x'"),
        ("[[equivalent]]\nid = 'x'", "no `before`"),
        ("[other]\nx = 1", "holds `other`"),
        ("][", "cannot be read"),
    ],
)
def test_a_wrong_list_of_equivalents_is_refused(ref, tmp_path, monkeypatch, text, says):
    path = tmp_path / "mutants.toml"
    path.write_text(text)
    monkeypatch.setattr(equivalents, "path_of", lambda ref: path)
    with pytest.raises(UserError, match=says):
        equivalents.read(ref)


@pytest.mark.parametrize(
    "wrong", [["nosuch"], ["pong", "--levels", "4"], ["pong", "--sample", "x"],
              ["pong", "--candidate", "nosuch"], ["pong", "--workers", "0"],
              ["pong", "--matrix", "-1"]]
)  # fmt: skip
def test_a_wrong_option_is_one_line(capsys, wrong):
    assert main(["mutants", *wrong]) == 4
    said = capsys.readouterr().err
    assert said.startswith("twinstep: ")
    assert said.count("\n") == 1


def test_again_takes_over_what_is_settled_at_its_new_lines(ref, tmp_path):
    one, two, three, four, five, six, seven, eight = mutants = all_mutants(ref)[:8]
    noticed = {"3": {"how": "difference"}}
    # Own tests come before level 3, which mutants listed as equivalent do not run.
    asked = {"1": 1.0, "2": 1.0}
    rows = [
        {"id": one.id, "class": "killed", "kills": {"1": {}}},
        {"id": two.id, "class": "survivor", "kills": {}},
        {"id": three.id, "class": "survivor", "kills": {}, "seconds": asked},
        {"id": "gone", "class": "killed", "kills": {}},
        {"id": four.id, "class": "killed", "kills": noticed, "suspect": "nosuch"},
        {"id": five.id, "class": "refuted", "kills": {"1": {}}},
        {"id": six.id, "class": "killed", "kills": {"1": {}}, "full": False},
        {"id": seven.id, "class": "killed", "kills": noticed},
        {"id": eight.id, "class": "survivor", "kills": {}, "seconds": {"1": 1.0}},
    ]
    rows = [{**row, "line": -1} for row in rows]
    (tmp_path / "pong.json").write_text(json.dumps({"mutants": rows}))
    called = {three.id: "why", five.id: "why", eight.id: "why"}
    campaign = replace(prepare(Plan("pong", "jax")), mutants=mutants, equivalent=called)
    first, second = settled_before(tmp_path / "pong", campaign)
    assert (first["id"], first["class"], first["line"]) == (one.id, "killed", one.line)
    assert (second["id"], second["class"], second["line"]) == (three.id, "equivalent", three.line)
    assert second["reason"] == "why"
    # Mutants that do not run at every level are settled by any kill.
    few = replace(campaign, plan=replace(campaign.plan, matrix=3))
    assert [row["id"] for row in settled_before(tmp_path / "pong", few)] == [
        mutant.id for mutant in (one, three, four, six, seven)
    ]
    with pytest.raises(UserError, match="no earlier result"):
        settled_before(tmp_path / "nosuch", campaign)


def test_an_earlier_sample_stays_where_code_changes_and_what_is_gone_is_made_good(ref, tmp_path):
    mutants = all_mutants(ref)
    before = [mutant.id for mutant in chosen(mutants, 60, 0)]
    gone = set(before[:5])
    left = [mutant for mutant in mutants if mutant.id not in gone]
    after = [mutant.id for mutant in chosen(left, 60, 0, before)]
    assert len(set(after)) == len(after) == 60
    assert set(before) - gone <= set(after)
    assert [m.id for m in mutants if m.id in set(after)] == after
    few = chosen(mutants, 20, 0, before)
    assert len(few) == 20
    assert {mutant.id for mutant in few} <= set(before)
    assert len({mutant.path for mutant in few}) > len({mutant.path for mutant in mutants}) // 2
    # The one that a run was to have, whatever it came to.
    stem = tmp_path / "pong"
    rows = [{"id": name} for name in before]
    stem.with_suffix(".json").write_text(json.dumps({"mutants": rows}))
    assert sample_before(stem, "--again") == sample_before(stem, "--resume") == tuple(before)
    stem.with_suffix(".part.json").write_text(json.dumps({"mutants": rows, "sampled": ["a"]}))
    assert sample_before(stem, "--resume") == ("a",)
    assert sample_before(stem, "--again") == tuple(before)


@pytest.mark.parametrize(
    ("suspect", "bug", "where"),
    [
        ("a", ("a.py", "one"), "function"),
        ("a", ("a.py", "two"), "file"),
        ("a", ("more.py", "of_a"), "helper"),
        ("a", ("more.py", "of_none"), "elsewhere"),
        ("a", ("all.py", "any"), "helper"),
        ("b", ("a.py", "one"), "elsewhere"),
        ("b", ("all.py", "any"), "helper"),
        ("b", ("more.py", "of_a"), "elsewhere"),
        ("b", ("other.py", "one"), "shared"),
        ("nosuch", ("a.py", "one"), "elsewhere"),
    ],
)
def test_a_suspect_holds_a_bug_in_its_file_or_in_what_is_declared_as_its_helpers(
    ref, suspect, bug, where
):
    declared = {"a": ("more.py:of_a", "all.py"), "b": ("all.py",)}
    made = replace(ref, sources={"a": "a.py:one", "b": "b.py:one"}, helpers=declared)
    mutant = replace(all_mutants(ref)[0], path=bug[0], symbol=bug[1])
    pair = replace(prepare(Plan("pong", "jax")).pair, candidate=made)
    assert located(pair, mutant, suspect) == where


def test_bugs_are_told_alike_or_different_beside_the_candidate_without_them(capsys):
    differs, breaks, same = "6e0ef89688", "7432ce8cea", "5a3af3ab62"
    options = ["mutants", "cartpole", "--states", "16385", "--alike"]
    assert main([*options, differs, breaks, same]) == 1
    told = dict(line.split(" in cartpole-jax: ") for line in capsys.readouterr().out.splitlines())
    assert told.keys() == {differs, breaks, same}
    assert told[differs].startswith("differs in start.x, start.x_dot, start.theta and")
    assert "cannot call start" in told[breaks]
    asked = "32,768 inputs of each module and 32,768 placed states"
    assert told[same] == f"nothing differs in {asked}"
    assert main([*options, same, "--module", "push"]) == 0
    assert capsys.readouterr().out.endswith(": nothing differs in 32,768 inputs of push\n")


@pytest.mark.parametrize("what", ["push.x_dot", "step: state.x"])
def test_one_number_that_differs_in_the_last_lot_is_told(what, monkeypatch, capsys):
    """Of a module called alone, and of a step from placed states."""
    asked = []

    def answers(runner, reference, only):
        asked.append(answered(runner, reference, only))
        if len(asked) == 4:  # the bug's second batch
            asked[-1][what] = asked[-1][what].copy()
            asked[-1][what].flat[-1] += 1
        return asked[-1]

    monkeypatch.setattr("twinstep.mutation.equivalence_evidence.answered", answers)
    assert main(["mutants", "cartpole", "--states", "16385", "--alike", "5a3af3ab62"]) == 1
    assert capsys.readouterr().out == f"5a3af3ab62 in cartpole-jax: differs in {what}\n"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--alike", "0000000000"], "no bug of cartpole's jax"),
        (["--alike", "5a3af3ab62", "--module", "pull"], "--module pull: one of "),
        (["--alike", "5a3af3ab62", "--states", "0"], "--states 0: a whole number from 1"),
        (["--alike", "5a3af3ab62", "--resume"], "leave out --resume"),
        (["--module", "push"], "--module and --states are for --alike"),
    ],
)
def test_what_cannot_be_asked_alike_is_said_in_one_line(wrong, said, tmp_path, capsys):
    # A campaign that began in its place should be short, and leave the results as they are.
    short = ["--sample", "1", "--levels", "1", "--out", str(tmp_path)]
    assert main(["mutants", "cartpole", *short, *wrong]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_batches_of_inputs_differ_from_each_other_and_from_the_suites():
    subject = registry.subjects(registry.environment("halfcheetah"), {})[0]
    batches = _BatchedReference(Harness(RunSettings()), subject)
    suite = Reference(Harness(RunSettings()), subject)
    euler = subject.contract.module("euler")

    def draw(reference):
        states, actions = reference.states(8, "placed")
        return states["qpos"], actions, reference.module_inputs(euler, 8, "module")["acceleration"]

    try:
        drawn = [draw(suite)]
        for batch in (0, 1, 0):
            batches.begin(batch)
            drawn.append(draw(batches))
    finally:
        batches.close()
        suite.close()
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert all((a != b).any() for a, b in zip(drawn[one], drawn[other], strict=True))
    assert all((a == b).all() for a, b in zip(drawn[1], drawn[3], strict=True))


@pytest.mark.parametrize(("env", "meant"), [("pong", "jax"), ("emurust", "rust")])
def test_without_a_name_the_first_candidate_is_meant_where_none_is_jax(env, meant):
    """What `init` writes calls its candidate like the library that ports."""
    parser = argparse.ArgumentParser()
    command.add_to(parser.add_subparsers())
    assert command.plan_of(parser.parse_args(["mutants", env])).candidate == meant
