"""A copy of examples/cartpole: the README holds, its tests pass, planted bugs are found."""

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

from twinstep.runner.screening import screen
from twinstep.testing.settings import in_ci
from twinstep.tests.support.project_folder import HANGS

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "cartpole"
PYTHON = [sys.executable, "-m"]
#: Writes the entry points of `pip install -e .`, without a network and into the folder.
INSTALL = [sys.executable, "-c", "from setuptools import setup; setup()", "-q", "egg_info"]

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not EXAMPLE.is_dir(), reason="the example is in the checkout only"),
]


@pytest.fixture(scope="module")
def pinned():
    """The example's exact requirement of its reference; skip or fail without it."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    (pin,) = (name for name in project["dependencies"] if name.startswith("gymnasium"))
    try:
        installed = f"gymnasium=={version('gymnasium')}"
    except PackageNotFoundError:
        installed = "no gymnasium"
    if installed != pin:
        (pytest.fail if in_ci() else pytest.skip)(f"{installed} here: pip install {pin}")
    return pin


@pytest.fixture(scope="module")
def folder(pinned, tmp_path_factory):
    """A copy of the example, declared to this Python as an installed package is."""
    copy = tmp_path_factory.mktemp("project") / "cartpole"
    shutil.copytree(
        EXAMPLE, copy, ignore=shutil.ignore_patterns(".*_cache", ".twinstep", "*.egg-info")
    )
    return copy


@pytest.fixture(scope="module")
def run(folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "CI"))}
    # A stale .pyc would stand for a file edited twice in one second.
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    env |= {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def go(*command):
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, timeout=HANGS
        )
        return done.returncode, done.stdout + done.stderr

    code, text = go(*INSTALL)
    assert code == 0, text
    return go


#: In addition to `from twinstep import ...`: the drivers' stateless noise has no name there.
PUBLIC = {"twinstep", "twinstep.adapters", "twinstep.drivers", "twinstep.exact"}


@pytest.mark.parametrize("folder", ["cartpole/twinstep_cartpole", "notebooks"])
def test_examples_import_the_public_face_alone(folder):
    paths = [p for p in (ROOT / "examples" / folder).rglob("*") if p.suffix in (".py", ".ipynb")]
    assert len(paths) >= 5
    for path in paths:
        modules = re.findall(r"\b(?:from|import) (twinstep(?:\.\w+)*)\b", path.read_text())
        assert set(modules) <= PUBLIC, path


def test_an_agent_may_write_the_examples_own_candidate():
    """The screening of an agent's files lets the public face through."""
    fast = EXAMPLE / "twinstep_cartpole" / "fast"
    own = ["twinstep_cartpole.fast"]
    assert screen(EXAMPLE, fast.glob("*.py"), own) == []
    oracle = screen(EXAMPLE, [EXAMPLE / "twinstep_cartpole" / "oracle" / "bridge.py"], own)
    assert "`gymnasium` may not be imported" in str(oracle[0])


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
    """Leave out text that other machines or further tests of the suite change."""
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


#: Bug -> (file, its text, the planted text, the module that must be blamed).
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
    "the_limit_ends": ("rules.py", "abs(x) > X_LIMIT", "abs(x) >= X_LIMIT", "judge"),
    "angle_another_way": ("rules.py", "12 * 2 * math.pi / 360", "math.radians(12)", "judge"),
    "the_last_reward_is_lost": ("rules.py", "ended & (beyond >= 0)", "ended", "judge"),
    "one_step_more": ("rules.py", ">= STEPS", "> STEPS", "limit"),
    "fused_in_the_angle": ("rules.py", "rounded(TAU * theta_dot)", "TAU * theta_dot", "move"),
    "fused_in_the_speed": ("rules.py", "rounded(TAU * x_acc)", "TAU * x_acc", "push"),
    "fused_in_the_force": ("rules.py", "rounded(swing)", "swing", "push"),
    "divided_by_a_constant": (
        "rules.py",
        "divided(MASS_POLE * (cos * cos), MASS)",
        "MASS_POLE * (cos * cos) / MASS",
        "push",
    ),
    "half_of_the_seed": ("generator.py", "[seed[0], seed[1],", "[seed[0], seed[0] * 0,", "start"),
    "another_order": (
        "rules.py",
        "x, x_dot, theta, theta_dot = drawn",
        "x, theta, x_dot, theta_dot = drawn",
        "start",
    ),
}


@pytest.fixture
def planted(folder):
    """Declare one more candidate per bug: a copy of `fast` with one edit."""
    declared = []
    for name, (file, right, wrong, _) in BUGS.items():
        package = folder / name
        shutil.copytree(folder / "twinstep_cartpole" / "fast", package, dirs_exist_ok=True)
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
    yield
    settings.write_text(whole)


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    ("suite", "glue"), [("properties.test_modules", False), ("interactions.test_steps", True)]
)
def test_each_planted_bug_is_found_and_blamed_on_its_module(run, folder, suite, glue):
    """Level 1 finds bugs inside a module, and blames no other; level 2 finds bugs between them."""
    mine = {name: bug[3] for name, bug in BUGS.items() if (bug[3] == "step") == glue}
    chosen = [word for name in ("jax", *mine) for word in ("--candidate", name)]
    reports = folder / ".twinstep" / "planted"
    code, text = run(
        *PYTHON, "pytest", "--pyargs", f"twinstep.{suite}", "--env", "cartpole", *chosen,
        "--report-dir", str(reports / suite),
    )  # fmt: skip
    assert code == 1, text
    blamed = {}
    for path in (reports / suite).glob("*.json"):
        record = json.loads(path.read_text())
        blamed.setdefault(record["candidate"], set()).add(record["suspects"][0]["module"])
    assert blamed == {name: {module} for name, module in mine.items()}


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


def test_an_environment_without_parameters_or_variants_is_named_cleanly(run):
    code, text = run(sys.executable, "-c", "import twinstep; print(twinstep.make('cartpole-v0'))")
    assert text.strip() == "make('cartpole-v0', 'jax', auto_reset='same-step')", text
    code, text = run(*PYTHON, "twinstep.cli", "envs")
    mine = re.split(r"\n(?=\S)", text[text.index("cartpole (") :])[0]
    assert "variants" not in mine
