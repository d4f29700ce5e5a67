"""A third party's project in an empty folder: one more candidate of Duel.

The candidate is a copy of the toy's own, in the package `fastduel`; `plant` adds a bug to it and
`mend` removes it. The installed suite runs in a forked child.
"""

import inspect
import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

from twinstep.tests.support import fork_server
from twinstep.tests.toys import duel

PYPROJECT = """
[tool.twinstep.envs]
duel = "twinstep.tests.toys.duel:DUEL"

[tool.twinstep.candidates]
"duel.mine" = "fastduel.declared:MINE"
"""
DECLARED = """
from twinstep.environment import CandidateRef

MINE = CandidateRef(
    "mine",
    "fastduel.rules:Vector",
    edit=("fastduel/rules.py",),
    sources={"step": "fastduel/rules.py:_frame", "take": "fastduel/rules.py:take"},
    packages=("fastduel",),
)
"""
HEAD = f"import numpy as np\n\nfrom twinstep.frames import Frame\n\nROUNDS = {duel.ROUNDS}\n\n\n"
#: Passing stays legal for a player who decides alone with one stone left.
RIGHT = "legal[:, :, 0] = acting.all(1)[:, None] & acting"
WRONG = "legal[:, :, 0] = (acting.all(1) | (heap == 1))[:, None] & acting"
#: A bug in an episode's first step, at which no test of level 2 begins.
EARLY = "legal[:, :, 0] = (acting.all(1) | (rounds == 1))[:, None] & acting"
#: A bug in the module that can be called alone.
TAKES = "left = np.minimum(first, heap)"
TAKES_ALL = "left = np.minimum(first, heap + 1)"

#: What the project's own run leaves out is slow to import and of no use to it.
QUICK = ("-p", "no:hypothesispytest", "-p", "no:cacheprovider", "-q")
#: The one candidate, in few and short episodes.
SHORT = ("--candidate", "mine", "--driver", "random", "--driver", "sticky", "--episodes", "24")

#: Seconds after which a child counts as hung: far beyond what the slowest machine needs.
HANGS = 3600


class Run(NamedTuple):
    """The outcome of a run of the suite; verdict: {} if it wrote none."""

    code: int
    text: str
    verdict: dict[str, Any]


class Folder:
    """A folder in which child processes run the command.

    fork: False where each child is to be a new interpreter, as where a test is about what is
    imported or about a run that is not twinstep's. variables: of the environment.
    """

    def __init__(self, folder, cache=None, *, fork=True, **variables):
        self.folder, self._fork = folder, fork
        self.reports = folder / ".twinstep" / "reports"
        self._env = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "CI"))}
        # A file edited twice in one second could keep a stale .pyc.
        self._env |= {"PYTHONDONTWRITEBYTECODE": "1"}
        self._env |= {"TWINSTEP_CACHE": str(cache)} if cache else {}
        self._env |= variables

    def twinstep(self, *args):
        return self._child("twinstep.cli", *map(str, args))

    def start(self, *args):
        """Start a command in the background."""
        command = [sys.executable, "-m", "twinstep.cli", *map(str, args)]
        return subprocess.Popen(
            command, cwd=self.folder, env=self._env, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def _child(self, *command, **variables):
        env = self._env | variables
        return fork_server.run(
            *command, folder=self.folder, env=env, timeout=HANGS, fork=self._fork
        )


class Project(Folder):
    """A folder with a pyproject.toml, whose text may be given, and the package `fastduel`."""

    def __init__(self, folder, cache, pyproject=PYPROJECT, **variables):
        super().__init__(folder, cache, **variables)
        self.package = folder / "fastduel"
        self.package.mkdir(parents=True)
        (folder / "pyproject.toml").write_text(pyproject)
        (self.package / "__init__.py").write_text("")
        (self.package / "declared.py").write_text(DECLARED)
        self.mend()

    @property
    def rules(self):
        """Return the candidate's file."""
        return self.package / "rules.py"

    def mend(self):
        self.rules.write_text(HEAD + inspect.getsource(duel.Vector))

    def plant(self, right=RIGHT, wrong=WRONG):
        """Plant a bug; the default one is in no module that can be called alone."""
        text = self.rules.read_text()
        assert right in text
        self.rules.write_text(text.replace(right, wrong))

    def pytest(self, *args, suite="rollouts.test_lockstep", env="duel", fresh=True, **variables):
        """Run a part of the installed suite: by default the episodes, on `mine` alone.

        fresh: delete the verdict of the run before.
        """
        if fresh:
            (self.folder / ".twinstep" / "verdict.json").unlink(missing_ok=True)
        suites = [f"twinstep.{name}" for name in suite.split()]
        chosen = args or SHORT
        done = self._child(
            "pytest", "--pyargs", *suites, *QUICK, "--env", env, *chosen, **variables
        )
        verdict = self.folder / ".twinstep" / "verdict.json"
        return Run(
            done.returncode,
            done.stdout + done.stderr,
            json.loads(verdict.read_text()) if verdict.is_file() else {},
        )

    def record(self, name):
        """Return a report's record."""
        return json.loads((self.reports / f"{name}.json").read_text())
