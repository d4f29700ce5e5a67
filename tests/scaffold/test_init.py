"""`twinstep init` writes a project that runs as it is, or says in one line why it cannot."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from twinstep.cli import main
from twinstep.compare import autoreset
from twinstep.env.timestep import TimeStep
from twinstep.frames import Start
from twinstep.gates import Lockstep
from twinstep.project import registry
from twinstep.protocols import CANDIDATE_LADDER, ORACLE_LADDER
from twinstep.scaffold.render import TEMPLATES
from twinstep.tests.support import fork_server, init_projects
from twinstep.tests.support.init_projects import fill
from twinstep.tests.support.project_folder import HANGS

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")

ROOT = Path(__file__).parents[2]
CHECKOUT = (ROOT / "pyproject.toml").is_file()
#: Classic control: the state is `unwrapped.state`, seen directly or through a method.
PLACED = ("CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Acrobot-v1")
FILES = {
    ".gitignore", "pyproject.toml", "P/__init__.py", "P/contract.py", "P/declared.py",
    "P/oracle/__init__.py", "P/oracle/bridge.py", "P/oracle/probe.py",
    "P/fast/__init__.py", "P/fast/candidate.py",
}  # fmt: skip
SHORT = ("-q", "-m", "level3", "-p", "no:cacheprovider", "--episodes", "24")
EPISODES = (*SHORT, "-k", "episodes_match")


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An empty folder, made the current one."""
    folder = tmp_path / "mine"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def init(oracle, *more):
    return main(["init", "--oracle", oracle, *more])


def run(folder, *command, **variables):
    """Run a module in a folder as its user does, without twinstep's own checkout."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "CI"))}
    path = [variables.pop("PYTHONPATH", ""), os.environ.get("PYTHONPATH", "")]
    env |= {"PYTHONDONTWRITEBYTECODE": "1", "TWINSTEP_CACHE": str(folder / ".cache")} | variables
    env |= {"PYTHONPATH": os.pathsep.join(filter(None, path))}
    done = fork_server.run(*command, folder=folder, env=env, timeout=HANGS)
    return done.returncode, done.stdout + done.stderr


def complaints(folder):
    """Return ruff's output on a folder under our own settings."""
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or pytest.skip("no ruff")
    output = ""
    for command in (["check", "--quiet"], ["format", "--quiet", "--diff"]):
        settings = ["--no-cache", "--config", str(ROOT / "pyproject.toml")]
        done = subprocess.run(
            [ruff, *command, *settings, "."], cwd=folder, capture_output=True, text=True
        )
        output += done.stdout + done.stderr
    return output


def written(folder):
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in paths}


def generated(folder, name, module, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    return importlib.import_module(f"twinstep_{name}.{module}")


def test_a_project_begins_with_reset_and_step_alone(empty, capsys):
    assert init("gymnasium:MountainCar-v0") == 0
    assert written(empty) == {name.replace("P/", "twinstep_mountaincar/") for name in FILES}
    bridge = ast.parse((empty / "twinstep_mountaincar/oracle/bridge.py").read_text())
    (reference,) = (node for node in bridge.body if isinstance(node, ast.ClassDef))
    methods = [node.name for node in reference.body if isinstance(node, ast.FunctionDef)]
    assert methods == ["__init__", "reset", "step", "close"]
    printed = capsys.readouterr().out
    assert "\nNext: pytest -m level3\n" in printed
    for line in (
        f"oracle.load: {ORACLE_LADDER['load']}",
        f"oracle.call: {ORACLE_LADDER['call']}",
        f"oracle.events: {ORACLE_LADDER['events']}",
        f"candidate.load: {CANDIDATE_LADDER['load']}",
        "a driver of your own: what random play never reaches",
    ):
        assert line in printed


def test_a_named_folder_is_made_and_the_way_there_is_said(empty, capsys):
    assert init("gymnasium:CartPole-v1", "--name", "pole", "new/one") == 0
    assert "twinstep_pole/declared.py" in written(empty / "new" / "one")
    assert "Next: cd new/one && pytest -m level3" in capsys.readouterr().out


@pytest.mark.skipif(not CHECKOUT, reason="ruff and its settings are in the checkout")
@pytest.mark.parametrize("what", [*PLACED, "FrozenLake-v1", "header"])
def test_what_is_written_passes_our_own_lint(what, empty):
    if what == "header":
        (empty / "env.h").write_text(init_projects.HEADER)
        assert init("header:env.h") == 0
    else:
        assert init(f"gymnasium:{what}", "--name", "mine") == 0
    assert not complaints(empty)


@pytest.mark.parametrize("id", PLACED)
def test_the_generated_bridge_plays_the_references_own_episodes(id, empty, monkeypatch):
    """Placed at a start of the reference's own, the bridge plays the same episode."""
    name = "bridge_" + id.partition("-")[0].lower()
    assert init(f"gymnasium:{id}", "--name", name) == 0
    contract = generated(empty, name, "contract", monkeypatch).contract({})
    oracle = generated(empty, name, "oracle.bridge", monkeypatch).Reference(contract)
    env = gymnasium.make(id)
    for seed in range(8):
        obs, _ = env.reset(seed=seed)
        frame = oracle.reset(Start(np.array([99, 0], np.uint32), {"state": env.unwrapped.state}))
        env.action_space.seed(seed)
        for _ in range(50):
            assert frame.obs.dtype == contract.observation.dtype
            assert frame.obs[0].tobytes() == obs.tobytes()
            action = env.action_space.sample()
            obs, reward, terminated, truncated, _ = env.step(action)
            frame = oracle.step(np.asarray(action)[None])
            assert frame.reward[0] == np.float32(reward)
            assert (frame.terminated, frame.truncated) == (terminated, truncated)
            if terminated or truncated:
                break
    assert contract.horizon == env.spec.max_episode_steps


@pytest.mark.parametrize("id", PLACED)
def test_starts_vary_and_stay_in_the_range_of_the_references_own(id, empty, monkeypatch):
    name = "starts_" + id.partition("-")[0].lower()
    assert init(f"gymnasium:{id}", "--name", name) == 0
    make_start = generated(empty, name, "contract", monkeypatch).make_start
    drawn = np.stack([make_start(np.array([n, n // 7], np.uint32))["state"] for n in range(500)])
    env = gymnasium.make(id)
    own = np.stack([(env.reset(seed=seed), env.unwrapped.state)[1] for seed in range(5000)])
    assert drawn.dtype == np.float32
    assert (drawn >= own.min(0) - 1e-6).all()
    assert (drawn <= own.max(0) + 1e-6).all()
    spread, whole = np.ptp(drawn, 0), np.ptp(own, 0)
    assert (spread >= 0.95 * whole).all()


def test_a_project_says_that_its_runs_are_twinsteps(empty):
    assert init("gymnasium:MountainCar-v0") == 0
    tool = tomllib.loads((empty / "pyproject.toml").read_text())["tool"]
    assert tool["pytest"]["ini_options"]["twinstep"] is True
    assert tool["pytest"]["ini_options"]["addopts"][:3] == ["--pyargs", "--env", "mountaincar"]


IMPORTS = re.compile(r"^ *(?:from|import) (twinstep(?:\.\w+)*)\b", re.MULTILINE)


@pytest.mark.parametrize("what", ["MountainCar-v0", "FrozenLake-v1", "header"])
def test_a_project_imports_the_public_face_alone(what, empty):
    (empty / "env.h").write_text(init_projects.HEADER)
    oracle = "header:env.h" if what == "header" else f"gymnasium:{what}"
    assert init(oracle, "--name", "mine") == 0
    for path in empty.rglob("*.py"):
        assert set(IMPORTS.findall(path.read_text())) <= {"twinstep"}, path


@pytest.mark.parametrize(
    "path", sorted(TEMPLATES.rglob("*.txt")), ids=lambda path: path.parent.name
)
def test_no_template_imports_more_than_the_public_face(path):
    """Of every condition, gymnax's too."""
    assert set(IMPORTS.findall(path.read_text())) <= {"twinstep"}


def test_a_derived_name_that_is_taken_gives_the_next_free_one(empty, capsys, monkeypatch):
    """The README's own example in a checkout, where examples/cartpole is installed."""
    names = [*registry.names(), "mountaincar", "mountaincar2"]
    monkeypatch.setattr(registry, "names", lambda: names)
    assert init("gymnasium:MountainCar-v0") == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = (line for line in lines if "already" in line)
    assert line == (
        "There is an environment 'mountaincar' already, so this one is 'mountaincar3': --name "
        "gives another."
    )
    assert written(empty) == {name.replace("P/", "twinstep_mountaincar3/") for name in FILES}
    declared = generated(empty, "mountaincar3", "declared", monkeypatch).MOUNTAINCAR3
    assert declared.name == "mountaincar3"
    assert declared.contract({}).version == "mountaincar3-v0"
    assert '"--env", "mountaincar3"' in (empty / "pyproject.toml").read_text()


def test_a_free_name_is_kept_without_a_word(empty, capsys):
    assert init("gymnasium:MountainCar-v0") == 0
    assert "already" not in capsys.readouterr().out


def test_starts_that_cannot_be_placed_are_said_and_marked(empty, capsys):
    assert init("gymnasium:FrozenLake-v1") == 0
    (line,) = (text for text in capsys.readouterr().out.splitlines() if "NOT matched" in text)
    assert "twinstep_frozenlake/" in line
    for place in ("contract.py", "oracle/bridge.py"):
        assert "FILL IN" in (empty / "twinstep_frozenlake" / place).read_text()


def test_a_state_that_does_not_hold_everything_is_not_placed(slides):
    """Hidden's wind is drawn at reset and is not in `unwrapped.state`."""
    code, text = run(slides, "twinstep.cli", "init", "--oracle", "gymnasium:slides:Hidden-v0")
    assert code == 0
    assert "NOT matched (placing the reference's `unwrapped.state` does not give" in text


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["gymnasium"], "--oracle gymnasium: write gymnasium:ID or header:FILE"),
        (["pettingzoo:x"], "--oracle pettingzoo:x: write gymnasium:ID or header:FILE"),
        (["gymnasium:CartPol-v1"], "doesn't exist. Did you mean: `CartPole`?"),
        (["gymnasium:Blackjack-v1"], "observes Tuple, which is not one array: wrap it"),
        (["gymnasium:MountainCar-v0", "--candidate", "brax:x"], "write gymnax:ID, or leave it out"),
        (["gymnasium:CartPole-v1", "--name", "Pole"], "'Pole' is no name: choose small letters"),
        (["gymnasium:CartPole-v1", "--name", "pong"], "'pong' already: choose another --name"),
        (["header:env.h", "--name", "pong"], "'pong' already: choose another --name"),
        (["header:no.h"], "--oracle header:no.h: No such file or directory"),
        (["header:env.h", "--candidate", "gymnax:x"], "leave it out"),
        (["header:Env.2.h"], "'Env.2' is no name: choose small letters, digits and _ with --name"),
        (["gymnasium:CartPole-v1", "env.h"], "env.h is no folder: name an empty one"),
    ],
)
def test_what_cannot_be_begun_is_one_line_and_writes_nothing(args, says, empty, capsys):
    (empty / "env.h").write_text(init_projects.HEADER)
    assert init(*args) == 4
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.err.startswith("twinstep: ")
    assert printed.err.count("\n") == 1
    assert not printed.out
    assert written(empty) == {"env.h"}


def test_a_missing_package_is_one_line_with_the_pip_command(empty, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnax", None)
    assert init("gymnasium:MountainCar-v0", "--candidate", "gymnax:MountainCar-v0") == 4
    assert capsys.readouterr().err == "twinstep: gymnax is not installed: pip install gymnax\n"
    monkeypatch.delitem(sys.modules, "gymnax")
    for text, says in (
        ("import no_such_part.inner", "needs no_such_part, which is missing: pip install no_such"),
        ("1 / 0", "cannot be imported (division by zero): pip install --force-reinstall gymnax"),
    ):
        (empty / "gymnax.py").write_text(text)
        code, output = run(
            empty, "twinstep.cli", "init", "--oracle", "gymnasium:MountainCar-v0",
            "--candidate", "gymnax:MountainCar-v0",
        )  # fmt: skip
        assert code == 4
        assert f"twinstep: gymnax {says}" in output
        assert output.count("\n") == 1
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    assert init("gymnasium:MountainCar-v0") == 4
    expected = "twinstep: gymnasium is not installed: pip install gymnasium\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize("taken", ["pyproject.toml", "twinstep_mountaincar"])
def test_nothing_that_exists_is_overwritten(taken, empty, capsys):
    (empty / taken).write_text("mine")
    assert init("gymnasium:MountainCar-v0") == 4
    assert f"{taken} exists, and init overwrites nothing" in capsys.readouterr().err
    assert written(empty) == {taken}
    assert (empty / taken).read_text() == "mine"


def test_what_lies_beside_the_project_is_kept(empty):
    (empty / ".gitignore").write_text("mine")
    assert init("gymnasium:MountainCar-v0") == 0
    assert (empty / ".gitignore").read_text() == "mine"


# ---- the projects run -------------------------------------------------------------------


@pytest.fixture
def slides(empty):
    """A folder from which the module `slides` and a package `gymnax` can be imported."""
    (empty / "slides.py").write_text(init_projects.GYMNASIUM)
    return empty


def _gymnax(folder, limit, more):
    (folder / "gymnax.py").write_text(init_projects.GYMNAX % limit + more)
    info = folder / "gymnax-9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gymnax\nVersion: 9.9\n")


BOTH = ("init", "--oracle", "gymnasium:slides:Slide-v0", "--candidate", "gymnax:Slide-v0")


INTERFACES = pytest.mark.parametrize(
    ("limit", "more"),
    [(init_projects.TOGETHER, ""), (init_projects.APART, init_projects.APARTLY)],
    ids=["0.x", "1.0"],
)


@pytest.mark.skipif(not CHECKOUT, reason="ruff and its settings are in the checkout")
@INTERFACES
def test_what_is_written_for_gymnax_passes_our_own_lint(slides, limit, more):
    _gymnax(slides, limit, more)
    assert run(slides, "twinstep.cli", *BOTH)[0] == 0
    for beside in ("gymnax.py", "slides.py"):
        (slides / beside).unlink()
    assert not complaints(slides)


@INTERFACES
def test_a_gymnax_twin_that_is_equal_is_green_and_one_that_is_not_is_red(slides, limit, more):
    """Ends and the time limit too, in both of gymnax's interfaces; its fields in another order."""
    _gymnax(slides, limit, more)
    code, text = run(slides, "twinstep.cli", *BOTH)
    assert code == 0, text
    assert "Starts are matched" in text
    assert (
        'PARTS = (\n    "at",\n    "speed",\n)'
        in (slides / "twinstep_slide/fast/candidate.py").read_text()
    )
    code, text = run(slides, "pytest", *EPISODES)
    assert code == 0, text
    assert "slide-gymnax (float32 on cpu): equal" in text
    assert "terminated" in text
    assert "truncated" in text
    toy = slides / "gymnax.py"
    fill(toy, [("jnp.abs(after.at) > 2", "jnp.abs(after.at) > 2.5")])
    code, text = run(slides, "pytest", *EPISODES)
    assert code == 1, text
    assert "`terminated` is False, oracle True" in text
    assert "1-minimal" in text
    assert text.count("  twinstep replay ") == 1


def test_a_report_without_a_case_shows_none(slides):
    """The comparison as shipped ends in a sentence: no case of it can be replayed."""
    _gymnax(slides, init_projects.APART, init_projects.APARTLY)
    assert run(slides, "twinstep.cli", *BOTH)[0] == 0
    fill(slides / "gymnax.py", [("-jnp.abs(state.at)", "-jnp.abs(after.at)")])
    code, text = run(slides, "pytest", *SHORT, "-k", "auto_resets and off or players or vector")
    assert code == 1, text
    for kind in ("off", "same-step", "next-step"):
        assert f"`make(..., auto_reset='{kind}')` with driver random: `reward` is -0." in text
    for word in ("Counterexample", "it differs at reset", "twinstep replay", "module ?", "E   "):
        assert word not in text
    assert text.count("Found by ") == 5


def test_an_array_that_differs_is_shown_by_its_first_element_that_does():
    """Eight digits of both sides may be equal."""
    want = np.array([[[0.5, 0.1, 0.3]]], np.float32)
    got = want.copy()
    got[0, 0, 1] = np.nextafter(np.float32(0.1), np.float32(1))
    message = autoreset.mismatch(
        autoreset.ExpectedSteps(np.zeros((1, 1)), {"obs": want}, np.ones((1, 1), bool)),
        TimeStep(got, *[None] * 6),
        {"obs": Lockstep()},
    )
    assert message == "`obs[1]` is 0.10000001, expected 0.1, at step 1 of lane 0"


def test_only_what_is_of_this_environment_is_collected_and_once(empty):
    """Its own settings name it, and so may the command line; tests of others are left out."""
    assert init("gymnasium:MountainCar-v0") == 0
    alone, twice = (
        [line for line in run(empty, "pytest", "-q", "--collect-only", *more)[1].splitlines()
         if "::" in line]
        for more in ([], ["--env", "mountaincar"])
    )  # fmt: skip
    assert alone == twice
    assert "test_lockstep.py::test_episodes_match[mountaincar-jax-random]" in alone
    assert not [line for line in alone if "pong" in line or "quirk" in line]


def test_a_broken_pyproject_is_one_line(empty, capsys):
    (empty / "pyproject.toml").write_text("mine")
    assert main(["envs"]) == 4
    assert "pyproject.toml cannot be read: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("n, shape = 2, ()", "n, shape = 3, ()",
         "the action spaces differ: gymnasium's slides:Slide-v0 has Discrete(2), gymnax's Slide-v0 "
         "has Discrete(3); choose two that agree"),
        ("9.0, (2,)", "9.0, (3,)",
         "the observations differ: gymnasium's slides:Slide-v0 has shape [2], gymnax's Slide-v0 "
         "has [3]; choose two that agree"),
        ('if id != "Slide-v0"', "if True",
         "--candidate gymnax:Slide-v0: Slide-v0 is not known"),
    ],
)  # fmt: skip
def test_two_environments_that_do_not_fit_are_refused_in_one_line(slides, old, new, says):
    _gymnax(slides, init_projects.APART, init_projects.APARTLY)
    fill(slides / "gymnax.py", [(old, new)])
    code, text = run(slides, "twinstep.cli", *BOTH)
    assert (code, text) == (4, f"twinstep: {says}\n")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("max_steps_in_episode: object = 12", "max_steps_in_episode: object = 13",
         "The time limits differ: 12 steps in the reference, 13 in the candidate."),
        ("jnp.array([state.at, state.speed])", "jnp.array([state.at + 1, state.speed])",
         "Starts are NOT matched (no fields of gymnax's state give the reference's observation"),
    ],
)  # fmt: skip
def test_a_difference_that_is_seen_at_once_is_said_and_found_by_the_suite(slides, old, new, says):
    _gymnax(slides, init_projects.APART, init_projects.APARTLY)
    fill(slides / "gymnax.py", [(old, new)])
    code, text = run(slides, "twinstep.cli", *BOTH)
    assert code == 0
    assert says in text
    code, text = run(slides, "pytest", *EPISODES)
    assert code == 1, text
    assert "slide-gymnax fails level 3" in text


def test_a_skeleton_says_which_file_to_write(empty):
    assert init("gymnasium:MountainCar-v0") == 0
    code, text = run(empty, "pytest", *EPISODES)
    assert code == 1
    assert "write `reset` in twinstep_mountaincar/fast/candidate.py" in text
    assert "Traceback" not in text


#: The example's rules behind a skeleton's reset and step, as a stranger would write them.
POLE = (
    ("    obs: Array\n    reward", "    parts: Array\n    obs: Array\n    reward"),
    ("dtype=\"float32\"", "dtype=\"float64\""),
    ('    raise NotImplementedError("write `reset` in twinstep_pole/fast/candidate.py")',
     "    parts = start.fields['state'].astype(jnp.float64)\n"
     "    obs = parts.astype(jnp.float32)\n"
     "    return State(parts, obs, jnp.float32(0), jnp.bool_(False), jnp.bool_(False))"),
    ('    raise NotImplementedError("write `step` in twinstep_pole/fast/candidate.py")',
     "    x, x_dot, theta, theta_dot = state.parts\n"
     "    after = rules.move(x, x_dot, theta, theta_dot)\n"
     "    speeds = rules.push(x_dot, theta, theta_dot, action[0])\n"
     "    parts = jnp.stack([after[0], speeds[0], after[1], speeds[1]])\n"
     "    ended, reward, _ = rules.judge(after[0], after[1], jnp.int32(-1))\n"
     "    return State(parts, parts.astype(jnp.float32), reward, ended, jnp.bool_(False))"),
    ("import jax.numpy as jnp\n",
     "import jax.numpy as jnp\n\nfrom twinstep_cartpole.fast import rules\n"),
)  # fmt: skip


@pytest.mark.skipif(not CHECKOUT, reason="the example is in the checkout only")
def test_a_skeleton_that_is_filled_in_is_equal_to_gymnasium_and_a_slip_is_found(empty):
    """The real CartPole and a candidate in float64, then a candidate with a wrong sign."""
    assert init("gymnasium:CartPole-v1", "--name", "pole") == 0
    candidate = empty / "twinstep_pole/fast/candidate.py"
    fill(candidate, POLE)
    path = {"PYTHONPATH": str(ROOT / "examples" / "cartpole")}
    code, text = run(empty, "pytest", *EPISODES, **path)
    assert code == 0, text
    fill(candidate, [("[after[0], speeds[0], after[1]", "[after[0], -speeds[0], after[1]")])
    code, text = run(empty, "pytest", *EPISODES, **path)
    assert code == 1, text
    assert "shrunk from 1 to 1 steps, 1-minimal" in text


def test_a_candidate_cannot_call_the_reference(empty):
    """A twin that calls Gymnasium's own class would agree with it and prove nothing."""
    assert init("gymnasium:MountainCar-v0") == 0
    with (empty / "twinstep_mountaincar/fast/candidate.py").open("a") as file:
        file.write("import gymnasium\nENV = gymnasium.make('MountainCar-v0')\n")
    code, text = run(empty, "pytest", *EPISODES)
    assert code == 1
    assert "gymnasium.envs.classic_control.mountain_car belongs to the oracle" in text


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"gymnasium": "', '"gymnasium": "0', "the proof is against 01."),
        ('SHA256 = "', 'SHA256 = "0', "mountain_car.py is not as it was: reinstall gymnasium"),
        ('"gymnasium": "', '"gymnosium": "', "gymnosium is not installed: pip install gymnosium=="),
    ],
)
def test_another_reference_than_the_one_pinned_is_refused(old, new, says, empty):
    assert init("gymnasium:MountainCar-v0") == 0
    fill(empty / "twinstep_mountaincar/oracle/probe.py", [(old, new)])
    code, text = run(empty, "pytest", *EPISODES, "-rs")
    assert code == 0
    assert says in text
    assert " passed" not in text


# ---- a C header -------------------------------------------------------------------------


@pytest.fixture
def walk(empty):
    if not shutil.which(os.environ.get("CC", "cc").split()[0]):
        pytest.skip("no C compiler")
    beside = empty.parent / "upstream"
    beside.mkdir()
    (beside / "env.h").write_text(init_projects.HEADER)
    (beside / "side.h").write_text("#define SIDE 5\n")
    assert init("header:../upstream/env.h", "--name", "walk") == 0
    return empty


def test_each_place_in_a_headers_project_is_named_until_it_is_filled_in(walk):
    package = walk / "twinstep_walk"
    places = [*[("oracle/oracle.c", place) for place in init_projects.FILLED_C],
              *[("contract.py", place) for place in init_projects.FILLED_CONTRACT]]  # fmt: skip
    named = []
    for file, (old, new) in places:
        if "FILL IN the " in old:
            what = old.partition("FILL IN the ")[2].partition(":")[0]
            with pytest.raises(
                Exception, match=f"{file}:[0-9]+: still to be filled in: the {what}$"
            ):
                _library(package)
            named.append(what)
        fill(package / file, [(old, new)])
    assert named == ["struct", "fields", "reset", "step", "actions", "observation", "randomness"]
    assert _library(package)


def _library(package):
    """Compile in a new process each time, as the oracle's does."""
    code = "from twinstep_walk.oracle import bridge; print(bridge.library())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=package.parent, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return done.stdout


def _filled(walk):
    fill(walk / "twinstep_walk/oracle/oracle.c", init_projects.FILLED_C)
    fill(walk / "twinstep_walk/contract.py", init_projects.FILLED_CONTRACT)
    fill(walk / "twinstep_walk/fast/candidate.py", init_projects.FILLED_JAX)


def test_a_headers_project_is_red_by_name_then_green_then_finds_a_slip(walk):
    code, text = run(walk, "pytest", *EPISODES)
    assert code == 1
    assert "twinstep_walk/oracle/oracle.c:17: still to be filled in: the struct" in text
    assert "Traceback" not in text
    _filled(walk)
    code, text = run(walk, "pytest", *SHORT)
    assert code == 0, text
    assert "walk-jax (float32 on cpu): equal" in text
    fill(walk / "twinstep_walk/fast/candidate.py", [("1.0, -0.25", "1.0, -0.5")])
    code, text = run(walk, "pytest", *EPISODES)
    assert code == 1
    assert "`reward` is -0.5, oracle -0.25, at step 1 of 1" in text


@pytest.mark.parametrize(
    ("file", "old", "new", "code", "says"),
    [
        ("twinstep_walk/oracle/oracle.c", "float obs[2];", "float obs[3];", 1,
         "oracle.c's Result has 24 bytes, observation and STATE in contract.py make 20"),
        ("twinstep_walk/oracle/oracle.c", "walk_step(", "wlk_step(", 1,
         "the reference does not compile: "),
        ("../upstream/env.h", "-0.25f", "-0.5f", 0,
         "env.h is not the file that was pinned: restore it"),
        ("../upstream/side.h", "5", "6", 0, "side.h is not the file that was pinned: restore it"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_headers_project_is_said(walk, file, old, new, code, says):
    _filled(walk)
    fill(walk / file, [(old, new)])
    ended, text = run(walk, "pytest", *EPISODES, "-rs")
    assert ended == code, text
    assert says in text
    assert " passed" not in text


# ---- gymnax itself ----------------------------------------------------------------------


def test_gymnax_differs_in_the_last_bits_of_its_first_step_until_it_computes_in_float64(empty):
    """A true finding, shrunk to one step, and its fix: both sides begin in the same state."""
    pytest.importorskip("gymnax", reason="gymnax is not installed", exc_type=ImportError)
    assert init("gymnasium:CartPole-v1", "--candidate", "gymnax:CartPole-v1") == 0
    (package,) = (path.name for path in empty.glob("twinstep_cartpole*"))
    code, text = run(empty, "pytest", *EPISODES)
    assert code == 1, text
    assert "at step 1 of 1" in text
    assert "`obs.x_dot` is" in text
    assert "at reset" not in text
    candidate = empty / package / "fast/candidate.py"
    fill(candidate, [('DTYPE = "float32"', 'DTYPE = "float64"')])
    code, text = run(empty, "pytest", *SHORT)
    assert code == 0, text
    assert f"{package.removeprefix('twinstep_')}-gymnax (float64 on cpu): equal" in text


@pytest.mark.parametrize("id", PLACED)
def test_gymnaxs_state_is_matched_for_all_of_classic_control(id, empty, capsys):
    pytest.importorskip("gymnax", reason="gymnax is not installed", exc_type=ImportError)
    assert init(f"gymnasium:{id}", "--candidate", f"gymnax:{id}") == 0
    assert "Starts are matched" in capsys.readouterr().out
