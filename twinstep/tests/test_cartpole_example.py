"""examples/cartpole, from a copy in an empty folder: its README holds, its tests pass, its bugs die."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from twinstep.harness import in_ci

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "cartpole"
PYTHON = [sys.executable, "-m"]
#: What `pip install -e .` writes of the entry points, without a network and into the folder.
INSTALL = [sys.executable, "-c", "from setuptools import setup; setup()", "-q", "egg_info"]

pytestmark = pytest.mark.skipif(not EXAMPLE.is_dir(), reason="the example is in the checkout only")


@pytest.fixture(scope="module")
def pinned():
    """The exact requirement of the example's own pyproject.toml; skip or fail where it is missing."""
    told = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["dependencies"]
    (pin,) = (name for name in told if name.startswith("gymnasium"))
    try:
        found = f"gymnasium=={version('gymnasium')}"
    except PackageNotFoundError:
        found = "no gymnasium"
    if found != pin:
        (pytest.fail if in_ci() else pytest.skip)(f"{found} here: pip install {pin}")
    return pin


@pytest.fixture(scope="module")
def folder(pinned, tmp_path_factory):
    """A copy of the example, declared to this Python as an installed package is."""
    made = tmp_path_factory.mktemp("project") / "cartpole"
    shutil.copytree(
        EXAMPLE, made, ignore=shutil.ignore_patterns(".*_cache", ".twinstep", "*.egg-info")
    )
    return made


@pytest.fixture(scope="module")
def run(folder, tmp_path_factory):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "CI"))}
    # A stale .pyc would stand for a file edited twice in one second.
    env |= {"TWINSTEP_CACHE": str(tmp_path_factory.mktemp("cache")), "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip

    def go(*command):
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, timeout=600
        )
        return done.returncode, done.stdout + done.stderr

    code, text = go(*INSTALL)
    assert code == 0, text
    return go


def _steps():
    """Return (command, lines shown below it) of the README, in order."""
    steps = []
    for block in re.findall(
        r"```console\n(.*?)```", (EXAMPLE / "README.md").read_text(), re.DOTALL
    ):
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], []))
            elif line != "...":
                steps[-1][1].append(line)
    return steps


def _command(text):
    words = shlex.split(text)
    if words[:2] == ["pip", "install"]:
        return INSTALL
    module = {"pytest": ["pytest", "-p", "no:cacheprovider"], "twinstep": ["twinstep.cli"]}
    return [*PYTHON, *module[words[0]], *words[1:]] if words[0] in module else words


def _plain(line):
    """Leave out what other machines and further tests of the suite change."""
    line = re.sub(r"<!-- id \w{8} -->", "<!-- id -->", line)
    return re.sub(r"\d+ (passed|skipped)", r"n \1", line).rstrip()


def test_every_command_of_the_readme_prints_what_it_shows(run):
    steps = _steps()
    assert len(steps) == 6
    for command, shown in steps:
        code, text = run(*_command(command))
        assert code == any("fails level" in line for line in shown), f"{command}\n{text}"
        printed = iter([_plain(line) for line in text.splitlines()])
        for line in shown:
            assert _plain(line) in printed, f"{command}\nprints no (further) line\n{line}\n\n{text}"


def test_the_examples_own_tests_pass(run):
    code, text = run(*PYTHON, "pytest", "tests", "-q", "-p", "no:cacheprovider")
    assert code == 0, text


def test_the_entry_point_is_declared_and_the_reference_pinned_alike(pinned):
    own = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())
    envs = own["project"]["entry-points"]["twinstep.envs"]
    assert envs == {"cartpole": "twinstep_cartpole.declared:CARTPOLE"}
    assert "twinstep" not in own.get("tool", {}), "an installed project needs entry points only"
    root = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert root["optional-dependencies"]["cartpole"] == [pinned]


def test_the_workflow_runs_what_the_readme_runs():
    workflow = (EXAMPLE / ".github" / "workflows" / "verify.yml").read_text()
    gate = _steps()[-1][0]
    assert gate in re.sub(r"\s+", " ", workflow)


#: Name -> (file, what stands there, what is planted, the module that must be blamed).
BUGS = {
    "semi_implicit_euler": (
        "candidate.py",
        "    x, theta = rules.move(state.x, state.x_dot, state.theta, state.theta_dot)\n"
        "    x_dot, theta_dot = rules.push(state.x_dot, state.theta, state.theta_dot, action)\n",
        "    x_dot, theta_dot = rules.push(state.x_dot, state.theta, state.theta_dot, action)\n"
        "    x, theta = rules.move(state.x, x_dot, state.theta, theta_dot)\n",
        "step",
    ),
    "an_end_hides_the_time_limit": (
        "candidate.py",
        "    elapsed, truncated = rules.limit(state.elapsed)\n",
        "    elapsed, truncated = rules.limit(state.elapsed)\n    truncated &= ~terminated\n",
        "step",
    ),
    "observation_of_before_the_step": (
        "candidate.py",
        "    parts = (state.x, state.x_dot,",
        "    parts = (state.x - rules.TAU * state.x_dot, state.x_dot,",
        "step",
    ),
    "the_limit_ends": ("rules.py", "(jnp.abs(x) > X_LIMIT)", "(jnp.abs(x) >= X_LIMIT)", "judge"),
    "twelve_degrees_by_another_way": (
        "rules.py", "12 * 2 * math.pi / 360", "math.radians(12)", "judge",
    ),
    "the_last_reward_is_lost": ("rules.py", "ended & (beyond >= 0)", "ended", "judge"),
    "one_step_more": ("rules.py", ">= STEPS", "> STEPS", "limit"),
    "fused_in_the_speed": ("rules.py", "x_dot + rounded(TAU * x_acc)", "x_dot + TAU * x_acc", "push"),
    "fused_in_the_force": ("rules.py", "force + rounded(swing)", "force + swing", "push"),
    "divided_by_a_constant": (
        "rules.py", "divided(MASS_POLE * (cos * cos), MASS)", "MASS_POLE * (cos * cos) / MASS", "push",
    ),
    "sine_rounded_to_f32": (
        "rules.py", "jnp.sin(theta), jnp.cos(theta)",
        "jnp.sin(theta.astype(jnp.float32)).astype(jnp.float64), jnp.cos(theta)", "push",
    ),
    "half_of_the_seed": ("generator.py", "[seed[0], seed[1],", "[seed[0], jnp.uint32(0),", "start"),
    "drawn_in_another_order": (
        "rules.py", "x, x_dot, theta, theta_dot = drawn", "x, theta, x_dot, theta_dot = drawn", "start",
    ),
}  # fmt: skip


def test_each_planted_bug_is_caught_and_blamed_on_its_module(run, folder):
    """Levels 1 and 2 on one more candidate per bug: a copy of `fast` with one edit."""
    declared = []
    for name, (file, right, wrong, _) in BUGS.items():
        package = folder / name
        shutil.copytree(folder / "twinstep_cartpole" / "fast", package)
        for path in package.glob("*.py"):
            path.write_text(path.read_text().replace("twinstep_cartpole.fast", name))
        text = (package / file).read_text()
        assert text.count(right) == 1, name
        (package / file).write_text(text.replace(right, wrong))
        ref = f"from twinstep.environment import CandidateRef\nREF = CandidateRef('{name}', "
        (package / "declared.py").write_text(f"{ref}'{name}.candidate:CartPoleJax')\n")
        declared.append(f'"cartpole.{name}" = "{name}.declared:REF"')
    settings = folder / "pyproject.toml"
    whole = settings.read_text()
    settings.write_text("\n".join([whole, "[tool.twinstep.candidates]", *declared]))
    chosen = [word for name in ("jax", *BUGS) for word in ("--candidate", name)]
    suites = ["twinstep.properties.test_modules", "twinstep.interactions.test_steps"]
    try:
        code, text = run(*PYTHON, "pytest", "--pyargs", *suites, "--env", "cartpole", *chosen, "-q")
    finally:
        settings.write_text(whole)
    assert code == 1, text
    verdict = json.loads((folder / ".twinstep" / "verdict.json").read_text())
    found = {label: pair["verdict"] for label, pair in verdict["pairs"].items()}
    assert found.pop("cartpole-jax") == "equal"
    assert found == {f"cartpole-{name}": "differs" for name in BUGS}
    blamed = {}
    for path in (folder / ".twinstep" / "reports").glob("*.json"):
        record = json.loads(path.read_text())
        blamed.setdefault(record["candidate"], set()).update(
            suspect["module"] for suspect in record["suspects"][:1]
        )
    assert {name: blamed[name] for name in BUGS} == {name: {b[3]} for name, b in BUGS.items()}


def test_without_gymnasium_the_levels_are_skipped_with_the_mend(run, folder, pinned):
    """A trap in place of the package's metadata, as on a machine that has not installed it."""
    trap = folder / "sitecustomize.py"
    trap.write_text(
        "import importlib.metadata as m\n"
        "true = m.distribution\n"
        "def distribution(name):\n"
        "    if name == 'gymnasium': raise m.PackageNotFoundError(name)\n"
        "    return true(name)\n"
        "m.distribution = distribution\n"
    )
    try:
        code, text = run(
            *PYTHON, "pytest", "--pyargs", "twinstep.rollouts", "--env", "cartpole", "-q", "-rs"
        )
    finally:
        trap.unlink()
    assert code == 0, text
    assert f"gymnasium is not installed: pip install {pinned}" in text
    assert " passed" not in text
