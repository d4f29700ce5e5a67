"""`twinstep repair` takes examples/cartpole from empty files to policies that play alike."""

import ast
import json
import shutil
from pathlib import Path

import pytest

from twinstep.tests.examples.test_cartpole_example import EXAMPLE, pinned  # noqa: F401
from twinstep.tests.support.project_folder import Folder
from twinstep.tests.support.scripted_agent import SCRIPTED, Repaired

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(not EXAMPLE.is_dir(), reason="the example is in the checkout only"),
]

FAST = "twinstep_cartpole/fast"
DECLARED = '\n[tool.twinstep.envs]\ncartpole = "twinstep_cartpole.declared:CARTPOLE"\n'
#: Four policies from either side, trained for a second each. Their scores, of 500 at most, spread
#: widely: with two a side, the machine's rounding decided whether they came within half the range.
BUDGET = "transfer=Transfer(margin=400.0, solved=15.0, gap=0.0, steps=8192, ppo=TRAINING,"
BUDGET += " seeds=4, tries=16, episodes=16)"


def cut(path, names):
    """Return a file's text without some of its functions, and these functions' texts."""
    text = path.read_text()
    nodes = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
    parts = {name: ast.get_source_segment(text, nodes[name]) for name in names}
    for part in parts.values():
        text = text.replace(f"\n\n{part}\n", "")
    return text, parts


@pytest.fixture(scope="module")
def repaired(pinned, tmp_path_factory):  # noqa: F811
    """The example with neither rules nor step, and an agent that writes some of it wrong."""
    made = Repaired(Folder(tmp_path_factory.mktemp("cartpole") / "project"))
    folder = made.folder
    shutil.copytree(
        EXAMPLE, folder, ignore=shutil.ignore_patterns(".*_cache", ".twinstep", "*.egg-info")
    )
    with (folder / "pyproject.toml").open("a") as file:
        file.write(DECLARED)
    contract = folder / "twinstep_cartpole" / "contract.py"
    asked = contract.read_text()
    begin = asked.index("transfer=Transfer(")
    contract.write_text(asked[:begin] + BUDGET + asked[asked.index("),", begin) + 1 :])
    rules, adapter = folder / FAST / "rules.py", folder / FAST / "candidate.py"
    head, parts = cut(rules, ("start", "push", "move", "judge", "limit"))
    glue, steps = cut(adapter, ("step",))
    rules.write_text('"""The five parts of CartPole."""\n')
    adapter.write_text(glue)
    wrong = parts["judge"].replace("jnp.abs(x) > X_LIMIT", "jnp.abs(x) >= X_LIMIT")
    early = steps["step"].replace("rules.judge(x, theta,", "rules.judge(state.x, theta,")
    assert wrong != parts["judge"]
    assert early != steps["step"]
    others = [parts[name] for name in ("start", "push", "move", "limit")]
    whole = "\n\n\n".join([head.rstrip(), *others, wrong]) + "\n"
    made.commit(f"""
RULES, ADAPTER = "{FAST}/rules.py", "{FAST}/candidate.py"

def try1():
    write(RULES, {whole!r})

def try2():
    change(RULES, {wrong!r}, {parts["judge"]!r})

def try3():
    write(ADAPTER, Path(ADAPTER).read_text() + "\\n\\n" + {early!r} + "\\n")

def try4():
    change(ADAPTER, {early!r}, {steps["step"]!r})
""")
    done = made.repair("--env", "cartpole", *SCRIPTED, "--workers", "1")
    return made, done


class TestCartPole:
    """One run over all four levels."""

    def test_from_empty_files_to_verified(self, repaired):
        made, done = repaired
        assert done.returncode == 0, done.stdout + done.stderr
        verdict = json.loads((made.run / "verdict.json").read_text())
        assert verdict["pairs"]["cartpole-jax"]["levels"].keys() == {"level1", "level2", "level3"}

    def test_modules_come_first_then_the_step(self, repaired):
        made, _ = repaired
        asked = [(entry["phase"], entry["module"]) for entry in made.log("try")]
        assert asked[:3] == [("1", "start"), ("1", "judge"), ("1", "step")]
        assert len(asked) == 4

    def test_policies_were_trained_and_played_in_both(self, repaired):
        made, _ = repaired
        (last,) = [entry for entry in made.log("check") if entry["phase_levels"] == [4]]
        assert last["good"]
        assert last["passed"] >= 3

    def test_what_is_not_written_is_asked_for_and_what_is_wrong_is_reported(self, repaired):
        made, _ = repaired
        prompts = [Path(made.run, "tries", f"{n}.md").read_text() for n in (1, 2, 3)]
        assert "`start`" in prompts[0]
        assert "Minimal counterexample" not in prompts[0]
        assert "judge" in prompts[1]
        assert "Counterexample (one module call)" in prompts[1]
        assert "`step`" in prompts[2]
