"""Bugs planted in Rust: their places, and the levels' judgement of some in Pong's engine."""

import contextlib
import ctypes
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.mutation import forked
from twinstep.mutation.campaign import Plan, prepare
from twinstep.mutation.check_order import Watch
from twinstep.mutation.judge import Question
from twinstep.mutation.planting import all_mutants, source_files
from twinstep.mutation.python_operators import OPERATORS
from twinstep.mutation.rust_build import Workshop
from twinstep.mutation.rust_operators import rust_mutants_of
from twinstep.mutation.rust_tokens import tokens
from twinstep.mutation.suite_checks import checks
from twinstep.mutation.verdict import Judgement
from twinstep.mutation.workers import rows
from twinstep.project import registry
from twinstep.testing.harness import Harness
from twinstep.testing.settings import RunSettings
from twinstep.tests.support import tiny_rust

#: A line of source, and its mutants.
LINES = {
    "let x = a + b * c;": {"a - b", "b + c"},
    "if a < b { f() } else { g() }": {"a <= b", "a >= b", "!(a < b)"},
    "x = y == z;": {"y != z"},
    "ok = p && !q;": {"p || ", "&& q"},
    "let m = n & 0x0F;": {"n | 0x0F", "0x10"},
    "v -= -w;": {"v += ", "-= w"},
    "t[0] = 7u8;": {"t[1]", "8u8"},
    "let s = r.min(3.5).max(q);": {"r.max(q)", "r.min(4.5)", "r.min(3.5);"},
    "let k = h.wrapping_add(true as u32);": {"wrapping_sub", "false"},
    "for i in 0..=n { go(i) }": {"1..=n", "0..n"},
    "let z = a >> 3;": {"a << 3", "a >> 4"},
    "x ^= y;": {"x |= y"},
}
#: Source in which nothing can be planted.
ALONE = """
//! A file of 1 + 2.
#![allow(dead_code)]
use std::{f32::consts::PI, ops::Add as _};

#[derive(Clone, Copy)]
pub struct Row<const N: usize = 4> { pub held: [u8; 16] }

enum Kind { One = 1, Two = 2 }

/* if a < b { /* 1 + 1 */ true } */
fn head<'a, T: Add<Output = T> + 'a>(x: &'a [T; 8], y: Option<u8>) -> Result<&'a T, String>
where
    T: Copy + Add,
{
    let text = "1 + 1 < 3 // no \\" comment";
    let raw = r#"true && "false""#;
    let letter = '\\'';
    let typed: Vec<[u8; 4]> = Vec::<[u8; 4]>::new();
    assert!(a + 1 < b, "{} {}", c, 3);
    debug_assert_eq!(d, 4);
    let many = [typed; 8];
    match y { Some(_) | None => Ok(&x) }
}

#[cfg(test)]
mod tests {
    fn inside() { a + 1 }
}

#[test]
fn alone() { b - 2 }
"""


def planted(source):
    """Return a function's lines with each of its bugs."""
    whole = f"fn f() {{\n{source}\n}}\n".encode()
    found = rust_mutants_of(whole, "f.rs")
    assert all(one.symbol == "f" for one in found)
    return [one.applied(whole).decode().splitlines()[1] for one in found]


@pytest.mark.parametrize("line", LINES)
def test_every_kind_of_bug_is_found_in_code(line):
    made = planted(line)
    assert all(text != line for text in made)
    assert len(set(made)) == len(made)
    for part in LINES[line]:
        assert any(part in text for text in made), (part, made)


def test_nothing_is_planted_in_types_texts_comments_attributes_imports_and_tests():
    found = rust_mutants_of(ALONE.encode(), "a.rs")
    assert [(one.line, one.what) for one in found] == []


def test_all_operators_are_known_and_each_occurs():
    found = {one.operator for line in LINES for one in rust_mutants_of(line.encode(), "f.rs")}
    assert found == set(OPERATORS)


def test_a_bugs_name_stays_where_lines_move_and_is_its_own():
    source = b"fn f() {\n    a + 1;\n    a + 1;\n}\n"
    before = [one.id for one in rust_mutants_of(source, "f.rs")]
    assert before == [one.id for one in rust_mutants_of(b"// more\n\n" + source, "f.rs")]
    assert len(set(before)) == len(before)


def test_what_is_no_rust_is_refused():
    with pytest.raises(ValueError, match="no Rust at byte 4"):
        tokens(b"let `")
    with pytest.raises(ValueError, match="without an end"):
        tokens(b"/* /* */")


def test_files_of_tests_and_examples_are_no_candidates():
    emurust = registry.environment("emurust")
    paths = [source.path for source in source_files(emurust.candidates[0])]
    assert "rust/emurust/src/timer.rs" in paths
    assert "rust/twinstep_rust/src/emurust/lane.rs" in paths
    assert not [path for path in paths if "/tests/" in path or "/examples/" in path]


def test_without_its_sources_there_is_nothing_to_plant_in(tmp_path, monkeypatch):
    (pong,) = (c for c in registry.environment("pong").candidates if c.name == "rust")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="no Rust files to plant bugs in"):
        all_mutants(pong)


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A candidate whose only Rust is a function, and its bugs."""
    source = '#[unsafe(no_mangle)]\npub extern "C" fn two(x: i32) -> i32 {\n    x + 1\n}\n'
    source += "#[test]\nfn it_adds() {\n    assert_eq!(two(1), 2);\n}\n"
    tiny_rust.write(tmp_path / "project", source)
    monkeypatch.chdir(tmp_path / "project")
    return CandidateRef("tiny", "tiny:Tiny", edit=("rust/tiny/**",), build="tiny:build")


def test_a_bug_is_compiled_in_a_copy_and_stands_in_its_source_until_it_was_asked(tiny, tmp_path):
    (bug,) = (one for one in all_mutants(tiny) if one.what == "+ to -")
    shop = Workshop(tiny, tmp_path / "shop")
    file = shop.project / bug.path
    answers = []
    for mutant in (None, bug, None):
        with shop.built(mutant):
            assert ("x - 1" in file.read_text()) == (mutant is bug)
            (library,) = shop.place.iterdir()
            copy = library.rename(tmp_path / f"{len(answers)}.so")  # dlopen knows files by name
            answers.append((ctypes.CDLL(copy).two(5), shop.tested(60.0)))
        assert "x + 1" in file.read_text()
    assert answers == [(6, ""), (4, "test it_adds ... FAILED"), (6, "")]
    ends = replace(
        bug, edits=((*bug.edits[0][:2], b"; std::process::abort(); #[allow(unused)] -"),)
    )
    with shop.built(ends):
        assert shop.tested(60.0).startswith("signal: 6")
    loops = replace(bug, edits=((*bug.edits[0][:2], b"; loop {} #[allow(unused)] -"),))
    with shop.built(loops):
        assert shop.tested(5.0) == "not done after 5 s"
    assert shop.modules == ("tiny",)
    assert "x + 1" in Path(bug.path).read_text()
    broken = replace(bug, edits=((0, 0, b"no Rust "),))
    with pytest.raises(UserError, match="it does not compile"):
        shop.build(broken)


def test_a_workshop_in_the_place_of_an_earlier_one_has_none_of_its_bugs(tiny, tmp_path):
    (bug,) = (one for one in all_mutants(tiny) if one.what == "+ to -")
    os.utime(bug.path, (0, 0))
    Workshop(tiny, tmp_path / "shop").build(bug)
    shop = Workshop(tiny, tmp_path / "shop")
    shop.build(None)
    (library,) = shop.place.iterdir()
    assert ctypes.CDLL(library).two(5) == 6


class _NoShop:
    """A workshop that has built nothing."""

    modules, place = (), Path()


def _asked(levels):
    def ask(question, watch):
        settled = dict(question.settled)
        for level in question.levels:
            watch.begins(level, f"check {level}", 0.5)
            if level not in settled:
                levels[level]()
        return Judgement(settled, {})

    return ask


def _spins():
    while True:
        pass


def _judged_one():
    ask = _asked({1: lambda: os._exit(0), 2: lambda: None, 3: _spins})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forked, "_GRACE", 0.5)
        return forked.judged(ask, Question(), Watch(), _NoShop)


def _judged_all():
    class Never(_NoShop):
        modules = ("a_module_that_nobody_imports",)

    ask = _asked(dict.fromkeys((1, 2, 3), lambda: os._exit(0)))
    return forked.judged(ask, Question(), Watch(), Never)


def _judged_error():
    return forked.judged(_asked({1: lambda: 1 // 0}), Question(), Watch(), _NoShop)


def _afresh(do):
    """Run it in a process without JAX's threads, since the process is forked."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(do).result()


def test_a_bug_that_ends_or_hangs_the_copy_is_noticed_by_that_level_alone():
    found = _afresh(_judged_one)
    assert {level: kill.how for level, kill in found.kills.items()} == {1: "crash", 3: "time"}
    assert found.kills[3].check == "check 3"


def test_a_bug_that_ends_every_copy_is_noticed_by_every_level():
    found = _afresh(_judged_all)
    assert [kill.how for kill in found.kills.values()] == ["crash"] * 3


def test_an_error_in_the_copy_is_no_verdict():
    with pytest.raises(UserError, match=r"(?s)could not be judged.*ZeroDivisionError"):
        _afresh(_judged_error)


def test_a_compiled_candidate_is_asked_as_it_ships_and_one_in_jax_is_not():
    subject = registry.subjects(registry.environment("pong"), {})[0]
    named = {}
    with contextlib.closing(Harness(RunSettings())) as harness:
        for pair in registry.pairs(subject):
            for shipped in (True, False):
                names = [name for name, _ in checks(harness.lab(pair), 3, shipped)]
                named[pair.candidate.name, shipped] = [n for n in names if "test_shipped" in n]
    assert not named["jax", True] + named["jax", False] + named["rust", False]
    assert [name.partition("[")[2] for name in named["rust", True]][:3] == [
        "off]", "same-step]", "next-step]",
    ]  # fmt: skip


@pytest.mark.slow
def test_bugs_are_compiled_and_judged_and_one_that_panics_is_a_crash(tmp_path):
    campaign = prepare(Plan("pong", "rust", matrix=0))
    wrong = _named(campaign, "ball.rs", "ball", "+ to -")
    panics = _named(campaign, "batch.rs", "load", "+ to -")
    # Only what ships restarts by itself, and calls the engine past the suite's guard.
    ships = _named(campaign, "block.rs", "over", "+ to -")
    made = rows(campaign, [wrong, panics, ships], 1, lambda text: None, tmp_path)
    found = {row["id"]: row for row in made}
    assert found[wrong.id]["class"] == "killed"
    assert found[wrong.id]["kills"]["1"]["how"] == "difference"
    assert found[panics.id]["class"] == "killed"
    assert found[panics.id]["kills"]["1"]["how"] == "crash"
    assert "PanicException" in found[panics.id]["kills"]["1"]["detail"]
    assert found[ships.id]["first"] == 3
    assert found[ships.id]["kills"]["3"]["how"] in ("crash", "difference")
    assert "test_shipped" in found[ships.id]["kills"]["3"]["check"]
    assert all(row["compiling"] > 0 for row in found.values())


def _named(campaign, file, symbol, what):
    return next(
        one
        for one in all_mutants(campaign.pair.candidate)
        if one.path.endswith(file) and (one.symbol, one.what) == (symbol, what)
    )
