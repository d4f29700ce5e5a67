"""A project that `twinstep init` writes around a JavaScript module which draws by itself."""

import pytest

from twinstep.cli import main
from twinstep.environment import Probe
from twinstep.inward import node_version
from twinstep.tests.support.init_projects import fill
from twinstep.tests.support.init_runs import EPISODES, SHORT, init, run
from twinstep.tests.support.requirements import need

# A long way from end to end.
pytestmark = pytest.mark.e2e

NODE = Probe({}, "" if node_version() else "there is no Node.js", "install it")


@pytest.fixture(autouse=True)
def _node():
    need(NODE)


SOURCE = """
const { WON } = require("./rules.js");
class Run {
  constructor() { this.at = 0; }
  reset() { this.at = Math.floor(3 * Math.random()); return [this.at]; }
  step(action) {
    this.at += 1 + Math.floor(6 * Math.random()) + action;
    return { obs: [this.at], reward: this.at === WON ? 1 : 0, done: this.at >= WON };
  }
}
module.exports = { Run };
"""
BRIDGE = [
    ("            # FILL IN the reset: its arguments, and where the observation is.\n", ""),
    ("            # FILL IN the step: its arguments, and where its results are.\n", ""),
]
CONTRACT = [
    ("#: FILL IN the actions: Discrete", "#: Discrete"),
    ("#: FILL IN the observation: its", "#: Its"),
    ('"float32", (4,))', '"float32", (1,))'),
    ("FILL IN the row: the most", "It has the most"),
    ("ROW = Row(8)", "ROW = Row(1)"),
]
CANDIDATE = [
    ("from jax import Array\n", "from jax import Array, random\n"),
    (
        '    raise NotImplementedError("write `_begun` in twinstep_run/fast/candidate.py")\n',
        "    at = jnp.floor(3 * random.uniform(key))\n"
        "    no = jnp.bool_(False)\n"
        "    return Results(at[None], jnp.float32(0), no, no)\n",
    ),
    (
        '    raise NotImplementedError("write `_moved` in twinstep_run/fast/candidate.py")\n',
        "    at = before.obs[0] + 1 + jnp.floor(6 * random.uniform(key)) + action\n"
        "    won = (at == 20).astype(jnp.float32)\n"
        "    return Results(at[None], won, at >= 20, jnp.bool_(False))\n",
    ),
]


@pytest.fixture
def project(empty):
    """A folder with the project of a module beside it."""
    beside = empty.parent / "upstream"
    beside.mkdir()
    (beside / "run.js").write_text(SOURCE)
    (beside / "rules.js").write_text("exports.WON = 20;")
    return empty


def test_a_modules_project_is_red_by_name_then_green_then_finds_a_slip(project, capsys):
    assert init("node:../upstream/run.js") == 0
    printed = capsys.readouterr().out
    assert "It draws with Math.random, which both sides then do from one row of words." in printed
    code, text = run(project, "pytest", *EPISODES)
    assert code == 1
    assert "still to be filled in: the reset" in text
    assert "Traceback" not in text
    fill(project / "twinstep_run/oracle/bridge.py", BRIDGE)
    fill(project / "twinstep_run/contract.py", CONTRACT)
    fill(project / "twinstep_run/fast/candidate.py", CANDIDATE)
    code, text = run(project, "pytest", *SHORT)
    assert code == 0, text
    assert "run-jax (float32 on cpu): equal" in text
    fill(project / "twinstep_run/fast/candidate.py", [("floor(6 *", "floor(5 *")])
    code, text = run(project, "pytest", *EPISODES)
    assert code == 1
    assert "run-jax fails level 3: `obs" in text, text
    (project.parent / "upstream/rules.js").write_text("exports.WON = 21;")
    code, text = run(project, "pytest", *EPISODES, "-rs")
    assert "rules.js is not the file that was pinned" in text


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (None, "No such file or directory"),
        ("const = 1", "Node.js cannot load it: it.js: SyntaxError"),
        ("require('nothing-such')", "Node.js cannot load it: it.js: Error: Cannot find module"),
        ("exports.reset = () => 0", "have `reset` and `step` in their names (it exports reset)"),
    ],
    ids=["missing", "syntax", "package", "step"],
)
def test_what_is_no_environment_is_one_line_and_nothing_is_written(empty, source, says, capsys):
    if source is not None:
        (empty.parent / "it.js").write_text(source)
    assert main(["init", "--oracle", "node:../it.js"]) == 4
    assert says in capsys.readouterr().err
    assert not list(empty.iterdir())
