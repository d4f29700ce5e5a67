"""Begin projects with `twinstep init` and run them, for the tests of this folder."""

import atexit
import functools
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from twinstep.cli import main
from twinstep.tests.support import fork_server, init_projects
from twinstep.tests.support.project_folder import HANGS

ROOT = Path(__file__).parents[2]
CHECKOUT = (ROOT / "pyproject.toml").is_file()
SHORT = ("-q", "-m", "level3", "-p", "no:cacheprovider", "--episodes", "24")
EPISODES = (*SHORT, "-k", "episodes_match")
#: The toy's two libraries.
BOTH = ("init", "--oracle", "gymnasium:slides:Slide-v0", "--candidate", "gymnax:Slide-v0")


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


@functools.cache
def _begun(oracle, name):
    """Begin a project once for all tests; return its folder."""
    folder = Path(tempfile.mkdtemp(prefix="begun-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    assert init(oracle, "--name", name, str(folder)) == 0
    return folder


def begin(folder, oracle, name="mine"):
    """Put a project into an empty folder, as `init` without a candidate writes it."""
    shutil.copytree(_begun(oracle, name), folder, dirs_exist_ok=True)


def gymnax(folder, limit=init_projects.APART, more=init_projects.APARTLY, edits=()):
    """Put the toy's two libraries into a folder, gymnax's edited."""
    (folder / "slides.py").write_text(init_projects.GYMNASIUM)
    (folder / "gymnax.py").write_text(init_projects.GYMNAX % limit + more)
    init_projects.fill(folder / "gymnax.py", edits)
    info = folder / "gymnax-9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gymnax\nVersion: 9.9\n")


@functools.cache
def _slide(limit, more):
    folder = Path(tempfile.mkdtemp(prefix="slide-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    gymnax(folder, limit, more)
    code, text = run(folder, "twinstep.cli", *BOTH)
    assert code == 0, text
    return folder, text


def begin_slide(folder, limit=init_projects.APART, more=init_projects.APARTLY):
    """Put the toy's project and its two libraries into an empty folder; return init's output."""
    made, text = _slide(limit, more)
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return text
