"""A scripted agent without a model: each try runs a function of a prepared series.

A series is source text with a function `tryN()` for each try; without one, the agent does nothing.
The agent is a command line in the project's own pyproject.toml, like a model's.
"""

import json
import subprocess
import sys
from pathlib import Path

from twinstep.tests.support.namespaces import GIVEN
from twinstep.tests.support.project_folder import Folder, Project

ROOT = Path(__file__).parents[2]
#: How it is asked for. A machine that builds no wall runs it without, and tests/walls says so.
SCRIPTED = ("--agent", "scripted", *(() if GIVEN else ("--no-sandbox",)))

AGENT = """
import os
import sys
from pathlib import Path

def write(name, text):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)

def change(name, old, new):
    text = Path(name).read_text()
    assert old in text, f"{old!r} is not in {name}"
    write(name, text.replace(old, new))

%s

prompt = sys.stdin.read()
number = os.environ["TWINSTEP_TRY"]
globals().get(f"try{number}", globals().get("every", lambda: None))()
print(f"worked on {os.environ['TWINSTEP_MODULE']}")
print('{"cost": 0.25}')
"""
TABLE = """
[tool.twinstep.agents.scripted]
command = [{python!r}, "agent.py"]
cost = "json:cost"
timeout = {timeout}
"""


def series(here, tries):
    """Return a series that writes these files, {name: text} for each try, below a folder."""
    return "\n".join(
        f"def try{number}():\n"
        + "".join(f"    write('{here}/{name}', {text!r})\n" for name, text in files.items())
        for number, files in enumerate(tries, 1)
    )


def wrong(text, right, planted):
    """Return a text with a planted bug."""
    assert right in text
    return text.replace(right, planted)


class Repaired:
    """A project in its own repository, and the run of a series in it."""

    @classmethod
    def emptied(cls, folder, here):
        """Return a clone of this repository with one of its folders emptied."""
        clone = cls(Folder(folder / "project"))
        subprocess.run(["git", "clone", "-q", "--no-local", ROOT, clone.folder], check=True)
        for path in (clone.folder / here).iterdir():
            path.unlink()
        return clone

    @classmethod
    def duel(cls, folder, **variables):
        """Return the toy's project."""
        return cls(Project(folder / "project", folder / "cache", **variables))

    def __init__(self, project):
        self.project = project
        self.folder = self.project.folder

    def commit(self, series, timeout=60):
        """Commit the project as it is, together with a scripted agent."""
        (self.folder / "agent.py").write_text(AGENT % series)
        table = TABLE.format(python=sys.executable, timeout=timeout)
        with (self.folder / "pyproject.toml").open("a") as file:
            file.write(table)
        (self.folder / ".gitignore").write_text(".twinstep/\n")
        for args in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "begin")):
            who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")
            subprocess.run(["git", *who, *args], cwd=self.folder, check=True)

    def repair(self, *args):
        """Run `twinstep repair`; return the finished process."""
        return self.project.twinstep("repair", *args)

    @property
    def run(self):
        """The folder of the only run."""
        (folder,) = (self.folder / ".twinstep" / "runs").iterdir()
        return folder

    def log(self, kind=""):
        """Return the journal's entries of a kind."""
        lines = (self.run / "log.jsonl").read_text().splitlines()
        return [entry for entry in map(json.loads, lines) if kind in ("", entry["kind"])]
