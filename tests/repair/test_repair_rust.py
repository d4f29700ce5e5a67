"""`twinstep repair` takes Pong's Rust engine from an empty `src` to verified.

Nothing of the module can be imported until the crate compiles, so that the first try writes all of
it: a part that panics, one that is wrong, and a wrong step.
"""

import json
from pathlib import Path

import pytest

from twinstep.oracles.pong import upstream
from twinstep.tests.support.requirements import need
from twinstep.tests.support.scripted_agent import ROOT, SCRIPTED, Repaired, series, wrong

HERE = "rust/pong/src"
RIGHT = {path.name: path.read_text() for path in (ROOT / HERE).glob("*.rs")}
BALL = ("y + BALL_SIZE > HEIGHT", "y + BALL_SIZE >= HEIGHT")
STEP = ("wrapping_add(1)", "wrapping_add(2)")
PANICS = "pub fn opponent_paddle(_: f32, _: f32) -> f32 {\n    todo!()\n}\n"

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="installed, not a checkout"),
]


def tries():
    """All of it; then a part at a time, of which one does not compile at first."""
    paddle = RIGHT["opponent_paddle.rs"]
    first = RIGHT | {"opponent_paddle.rs": PANICS}
    first |= {"ball.rs": wrong(RIGHT["ball.rs"], *BALL), "step.rs": wrong(RIGHT["step.rs"], *STEP)}
    return [
        first,
        {
            "opponent_paddle.rs": wrong(
                RIGHT["opponent_paddle.rs"], "paddle_yl + hold", "paddle + hold"
            )
        },
        {"opponent_paddle.rs": paddle},
        {"ball.rs": RIGHT["ball.rs"]},
        {"step.rs": RIGHT["step.rs"]},
    ]


@pytest.fixture(scope="module")
def repaired(tmp_path_factory):
    need(upstream.probe({}))
    made = Repaired.emptied(tmp_path_factory.mktemp("pong"), HERE)
    made.commit(series(HERE, tries()))
    args = ("--env", "pong", "--candidate", "rust", *SCRIPTED, "--phases", "123")
    return made, made.repair(*args)


def test_from_an_empty_folder_to_verified(repaired):
    made, done = repaired
    assert done.returncode == 0, done.stdout + done.stderr
    verdict = json.loads((made.run / "verdict.json").read_text())
    assert all(not pair["missing"] for pair in verdict["pairs"].values())


def test_modules_come_one_by_one_as_soon_as_the_crate_compiles(repaired):
    made, _ = repaired
    modules = [entry["module"] for entry in made.log("try")]
    assert modules[1:] == ["opponent_paddle", "opponent_paddle", "ball", "step"]


def test_a_module_that_panics_is_told_so_and_not_what_another_does(repaired):
    made, _ = repaired
    asked = Path(made.run, "tries", "2.md").read_text()
    assert "the candidate cannot call opponent_paddle: PanicException: not yet" in asked
    assert "Counterexample" not in asked


def test_a_try_that_does_not_compile_is_undone_and_told_with_the_compilers_words(repaired):
    made, _ = repaired
    assert [entry["number"] for entry in made.log("undo")] == [2]
    prompts = [Path(made.run, "tries", f"{n}.md").read_text() for n in (2, 3)]
    assert ["cannot find value `paddle`" in text for text in prompts] == [False, True]
