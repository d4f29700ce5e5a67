"""A project that `twinstep init` writes around a binary library which draws by itself."""

import shutil
import subprocess

import pytest

from twinstep.cli import main
from twinstep.tests.support.init_projects import fill
from twinstep.tests.support.init_runs import EPISODES, SHORT, init, run

pytestmark = [
    # A long way from end to end.
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]

SOURCE = """
#include <stdlib.h>
#include <time.h>
static int at;
void run_reset(float *obs) { srand(time(NULL)); at = rand() % 3; obs[0] = at; }
float run_step(int action, float *obs, unsigned char *over) {
    at += 1 + rand() % 6 + action;
    obs[0] = at;
    *over = at >= 20;
    return at == 20 ? 1 : 0;
}
"""
_OBS = "so that self._obs has the observation"
BRIDGE = [
    ("    # FILL IN the types: results that are no int, and arguments", "    # Arguments"),
    ("    # loaded.run_reset.argtypes = [ctypes.c_void_p]\n", ""),
    ("    # loaded.run_step.restype", "    loaded.run_step.restype"),
    (f"            # FILL IN the reset: call it {_OBS}.\n", ""),
    (
        f"            # FILL IN the step: call it {_OBS}, and take its results.\n",
        "            over = np.zeros(1, np.uint8)\n",
    ),
    (
        "reward, over = self._c.run_step(int(action[0]), _pointer(self._obs)), False",
        "reward = self._c.run_step(int(action[0]), _pointer(self._obs), _pointer(over))",
    ),
    ("return self._frame(reward, over)", "return self._frame(reward, bool(over[0]))"),
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
        "    at = (random.bits(key) >> 1) % 3\n"
        "    no = jnp.bool_(False)\n"
        "    return Results(at[None].astype(jnp.float32), jnp.float32(0), no, no)\n",
    ),
    (
        '    raise NotImplementedError("write `_moved` in twinstep_run/fast/candidate.py")\n',
        "    at = before.obs[0] + 1 + ((random.bits(key) >> 1) % 6).astype(jnp.float32) + action\n"
        "    won = (at == 20).astype(jnp.float32)\n"
        "    return Results(at[None], won, at >= 20, jnp.bool_(False))\n",
    ),
]


@pytest.fixture
def project(empty):
    """A folder with the project of a library beside it."""
    beside = empty.parent / "upstream"
    beside.mkdir()
    (beside / "run.c").write_text(SOURCE)
    command = ["cc", "-O2", "-shared", "-fPIC", "-s", "run.c", "-o", "run.so"]
    subprocess.run(command, cwd=beside, check=True)
    return empty


def test_a_librarys_project_is_red_by_name_then_green_then_finds_a_slip(project, capsys):
    assert init("library:../upstream/run.so") == 0
    printed = capsys.readouterr().out
    assert "It draws with rand, which both sides then do from one row of words." in printed
    code, text = run(project, "pytest", *EPISODES)
    assert code == 1
    assert "still to be filled in: the types" in text
    assert "Traceback" not in text
    fill(project / "twinstep_run/oracle/bridge.py", BRIDGE)
    fill(project / "twinstep_run/contract.py", CONTRACT)
    fill(project / "twinstep_run/fast/candidate.py", CANDIDATE)
    code, text = run(project, "pytest", *SHORT)
    assert code == 0, text
    assert "run-jax (float32 on cpu): equal" in text
    fill(project / "twinstep_run/fast/candidate.py", [("% 6)", "% 5)")])
    code, text = run(project, "pytest", *EPISODES)
    assert code == 1
    assert "run-jax fails level 3: `obs" in text, text
    (project.parent / "upstream/run.so").write_bytes(b"")
    code, text = run(project, "pytest", *EPISODES, "-rs")
    assert "run.so is not the file that was pinned" in text


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (None, "No such file or directory"),
        (b"no", "this is no shared library of 64-bit Linux (ELF)"),
        (b"\x7fELF\x02\x01" + b"\xff" * 90, "this is no shared library of 64-bit Linux (ELF)"),
    ],
    ids=["missing", "text", "damaged"],
)
def test_what_is_no_library_is_one_line_and_nothing_is_written(empty, data, says, capsys):
    if data is not None:
        (empty.parent / "it.so").write_bytes(data)
    assert main(["init", "--oracle", "library:../it.so"]) == 4
    assert says in capsys.readouterr().err
    assert not list(empty.iterdir())


def test_a_library_without_a_step_is_one_line(empty, capsys):
    (empty.parent / "it.c").write_text("int it_reset(void) { return 0; }")
    command = ["cc", "-shared", "-fPIC", "it.c", "-o", "it.so"]
    subprocess.run(command, cwd=empty.parent, check=True)
    assert main(["init", "--oracle", "library:../it.so"]) == 4
    assert "no function of it has `step` in its name (it has it_reset)" in capsys.readouterr().err
    assert main(["init", "--oracle", "library:../it.so", "--candidate", "gymnax:x"]) == 4
    assert "a library's twin is a skeleton in JAX; leave it out" in capsys.readouterr().err
