"""`twinstep repair` takes Pong from an empty folder to verified: CartPole's test, the long way."""

import ast
import json

import pytest

from twinstep.oracles.pong import upstream
from twinstep.tests.support.requirements import need
from twinstep.tests.support.scripted_agent import ROOT, SCRIPTED, Repaired, series, wrong

PONG = ROOT / "generated" / "pong"
HERE = "generated/pong"
BALL = ("y + BALL_SIZE > HEIGHT", "y + BALL_SIZE >= HEIGHT")
STEP = ("tick=state.tick + 1", "tick=state.tick + 2")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="installed, not a checkout"),
]


def without(path, *names):
    """Return a file's text without some of its functions."""
    text = path.read_text()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            text = text.replace(ast.get_source_segment(text, node), "")
    return text


def tries():
    """Each module when it is asked for: two of them wrong at first, and the step too."""
    real = {path.name: path.read_text() for path in PONG.glob("*.py")}
    begin = {"state.py": real["state.py"], "__init__.py": ""}
    return [
        begin | {"paddles.py": without(PONG / "paddles.py", "opponent_paddle")},
        {"paddles.py": real["paddles.py"]},
        {"ball.py": wrong(real["ball.py"], *BALL)},
        {"ball.py": real["ball.py"]},
        {"sides.py": without(PONG / "sides.py", "right_side")},
        {"sides.py": real["sides.py"]},
        {"serve.py": real["serve.py"]},
        {"observe.py": real["observe.py"]},
        {"step.py": wrong(real["step.py"], *STEP)},
        {"step.py": real["step.py"], "__init__.py": real["__init__.py"]},
    ]


@pytest.fixture(scope="module")
def repaired(tmp_path_factory):
    need(upstream.probe({}))
    made = Repaired.emptied(tmp_path_factory.mktemp("pong"), HERE)
    made.commit(series(HERE, tries()))
    args = ("--env", "pong", "--candidate", "jax", *SCRIPTED, "--phases", "123")
    return made, made.repair(*args)


def test_from_an_empty_folder_to_verified(repaired):
    made, done = repaired
    assert done.returncode == 0, done.stdout + done.stderr
    verdict = json.loads((made.run / "verdict.json").read_text())
    assert all(not pair["missing"] for pair in verdict["pairs"].values())
