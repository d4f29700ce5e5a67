"""What a user can do wrong ends in one clear line with the mend, exit code 4, no traceback."""

import ast
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from twinstep.cli import main
from twinstep.project import registry, source_view
from twinstep.tests.support import fork_server
from twinstep.tests.support.project_folder import HANGS

ROOT = Path(__file__).parents[2]
CHECKOUT = (ROOT / "rollouts" / "test_lockstep.py").is_file()

pytestmark = [
    # A long way from end to end.
    pytest.mark.e2e,
    pytest.mark.skipif(not CHECKOUT, reason="runs the checkout's own test files"),
]


def _command(*args):
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--env", "pong", *args]


def _run(*args, folder, **env):
    """Run the suite on the Rust candidate's fastest variant in its own report folder."""
    outputs = ["--report-dir", str(folder / "reports"), "--verdict", str(folder / "verdict.json")]
    env = os.environ | {"CI": "", "PYTHONDONTWRITEBYTECODE": "1"} | env
    command = _command(*args, *outputs)[2:]
    done = fork_server.run(*command, folder=ROOT, env=env, timeout=HANGS)
    return done.returncode, done.stdout + done.stderr


ONE = ("-m", "level3", "--variant", "fs8", "--candidate", "rust", "--driver", "sticky")
REPLAY = (*ONE, "-k", "episodes_match")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--env", "pnog"), "unknown environment 'pnog'; did you mean 'pong'?"),
        (("--set", "frameskip=x"), "parameter frameskip: 'x' is not a value it takes"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_4(args, says, tmp_path):
    """The wording of every other one is tested in test_selection.py, without a run."""
    code, text = _run("--collect-only", *args, folder=tmp_path)
    assert code == 4
    assert says in text
    assert "Traceback" not in text


def test_a_variant_that_refuses_a_value_is_left_out_with_a_line(tmp_path):
    code, text = _run("--collect-only", "--set", "max_score=100", folder=tmp_path)
    assert code == 0
    assert text.startswith("pong@stock+max_score=100 is left out: ")


def test_how_a_candidate_is_called_is_a_repeated_test_in_all_but_its_first_variant(tmp_path):
    chosen = ("--candidate", "rust", "--variant", "fs8", "--variant", "fs1", "--collect-only")

    def listed(marks):
        code, text = _run(*chosen, "-m", marks, "-k", "shipped or batch", folder=tmp_path)
        assert code == 0, text
        return {line.rpartition("::")[2] for line in text.splitlines() if "::" in line}

    every, repeated = listed("level2 or level3"), listed("repeated")
    first = "test_a_batch_equals_its_lanes_one_by_one[pong@fs8-rust]"
    assert {first, first.replace("fs8", "fs1")} <= every
    assert repeated < every
    assert {name for name in repeated if "fs8" in name} == set()
    shipped = {name for name in every - repeated if "fs1" in name and "shipped_env" in name}
    assert len(shipped) == 1
    assert "same-step" in shipped.pop()


def test_warm_traces_never_start_the_oracle(tmp_path):
    """A second run replays cached traces: with no compiler and no worker it still passes."""
    assert _run(*REPLAY, folder=tmp_path)[0] == 0
    broken = tmp_path / "broken"
    broken.mkdir()
    # The child is `python .../_lib/child.py`; a module that shadows nothing else breaks it.
    (broken / "sitecustomize.py").write_text(
        "import sys\nif '_lib/child.py' in str(sys.orig_argv): sys.exit('oracle started')\n"
    )
    code, text = _run(*REPLAY, folder=tmp_path, PYTHONPATH=str(broken))
    assert code == 0, text
    code, text = _run(
        *REPLAY, "--episodes", "3", folder=tmp_path, PYTHONPATH=str(broken),
        TWINSTEP_CACHE=str(tmp_path / "cold"),
    )  # fmt: skip
    assert code == 1, "the trap does not catch a started oracle"


def test_verdict_is_the_same_with_and_without_workers(tmp_path):
    """verdict.json has the same bytes under -n 0 and -n 2, but for the command."""
    files = []
    for workers in ("0", "2"):
        folder = tmp_path / workers
        folder.mkdir()
        code, text = _run(
            "-m", "level1 or level3", "--variant", "fs8", "-n", workers, folder=folder
        )
        assert code == 0, text
        text = (folder / "verdict.json").read_text()
        command = json.loads(text)["command"]
        assert command.startswith("pytest ")
        assert f"-m 'level1 or level3' --variant fs8 -n {workers} " in command
        files.append(text.replace(json.dumps(command), ""))
    assert files[0] == files[1]
    verdict = json.loads(text)
    assert verdict["machine"]["cpu"]
    assert verdict["date"][:2] == "20"
    assert {pair["verdict"] for pair in verdict["pairs"].values()} == {"equal"}


def test_exported_traces_verify_without_the_oracle_and_say_so(tmp_path):
    """--traces replays an export; the verdict says that the traces were imported."""
    file = tmp_path / "pong.twintrace"
    assert _run(*REPLAY, "--export-traces", str(file), folder=tmp_path)[0] == 0
    # Neither the reference nor its archive is to be had.
    alone = {"TWINSTEP_CACHE": str(tmp_path / "empty"), "CC": "no-such-compiler"}
    code, text = _run(*REPLAY, "--traces", str(file), folder=tmp_path, **alone)
    assert code == 0, text
    assert "equal in part (imported traces)" in text
    assert "not compared: lockstep random, lockstep seeking, lockstep tracking" in text
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file.write_bytes(damaged)
    code, text = _run(*REPLAY, "--traces", str(file), folder=tmp_path, **alone)
    assert code == 4, text
    assert "damaged" in text


def test_a_missing_oracle_is_a_skip_here_and_an_error_in_ci(tmp_path):
    """No compiler: a skip with its reason on a developer's machine, a failure under CI=true."""
    alone = {"TWINSTEP_CACHE": str(tmp_path / "empty"), "CC": "no-such-compiler"}
    code, text = _run(*ONE, "-rs", folder=tmp_path, **alone)
    assert code == 0
    assert "no-such-compiler" in text
    for args, env in ((("--require-oracles",), {}), ((), {"CI": "true"})):
        code, text = _run(*ONE, *args, folder=tmp_path, **alone | env)
        assert code == 1
        assert "no-such-compiler" in text


def test_an_unwritable_cache_warns_once_and_the_run_goes_on(tmp_path):
    """A cache below a file cannot be made: traces live for the run, and a warning says so."""
    (tmp_path / "file").write_text("")
    blocked = {"XDG_CACHE_HOME": str(tmp_path), "TWINSTEP_CACHE": ""}
    done = _run(*REPLAY, folder=tmp_path, **blocked)
    assert done[0] == 0, done[1]
    code, text = _run(*REPLAY, folder=tmp_path, TWINSTEP_CACHE=str(tmp_path / "file" / "x"))
    assert "TWINSTEP_CACHE" in text
    assert "Traceback" not in text or code == 0


def test_interrupted_run_leaves_no_half_made_trace_and_no_child(tmp_path):
    """Ctrl-C while the oracle records: pytest stops, the child is gone, the next run passes."""
    cache = tmp_path / "cache"
    env = os.environ | {"TWINSTEP_CACHE": str(cache), "CI": ""}
    args = ("-m", "level3", "--variant", "stock", "--candidate", "rust", "--driver", "tracking")
    outputs = ("--report-dir", str(tmp_path / "r"), "--verdict", str(tmp_path / "v.json"))
    process = subprocess.Popen(
        _command(*args, *outputs),
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    while not list(cache.glob("traces/.draft-*")) and process.poll() is None:
        time.sleep(0.1)
    assert list(cache.glob("traces/.draft-*")), "recording never began"
    os.killpg(process.pid, signal.SIGINT)
    text = process.communicate(timeout=HANGS)[0].decode()
    assert process.returncode == 2, text
    assert not list(cache.glob("traces/.draft-*"))
    assert not [path for path in cache.glob("traces/*") if not path.name.startswith(".lock")]
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout
    mine = [line for line in listed.splitlines() if "twinstep/_lib/child.py" in line]
    assert not [line for line in mine if _session(int(line.split()[0])) == process.pid]


def _session(pid):
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return -1


def test_command_line_errors_are_one_line(tmp_path, capsys):
    """`twinstep replay` of something that is no report ends with the mend and exit code 4."""
    file = tmp_path / "x.json"
    file.write_text("{}")
    assert main(["replay", str(file)]) == 4
    assert "is not a twinstep report" in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "none.json")]) == 4


def test_envs_lists_what_can_run(capsys):
    """`twinstep envs` names every environment, its oracle, candidates and parameters."""
    assert main(["envs"]) == 0
    text = capsys.readouterr().out
    for word in ("pong", "PufferLib", "candidate jax", "candidate rust", "--set frameskip="):
        assert word in text


def test_candidates_import_nothing_of_the_oracles():
    """Oracle and candidate share nothing but the contract."""
    for folder in ("candidates", "generated", "contracts"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                names = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                if isinstance(node, ast.ImportFrom):
                    names = [node.module or ""]
                    names += [f"{node.module}.{alias.name}" for alias in node.names]
                bad = [name for name in names if name.startswith("twinstep.oracles")]
                assert not bad, f"{path.relative_to(ROOT)} imports {bad}"


def test_a_report_finds_the_line_of_every_declared_source():
    """A symbol that was renamed or moved would leave the report without the place to edit."""
    for name in registry.names():
        for candidate in registry.environment(name).candidates:
            for module, declared in candidate.sources.items():
                path, _, symbol = declared.partition(":")
                assert source_view.line_of(path, symbol), f"{candidate.name}: {module}: {declared}"


def test_the_core_names_no_environment():
    """Everything an environment needs is in its contract."""
    known = ("pong", "halfcheetah", "emurust", "pokejax", "tcgjax", "cartpole", "duel", "drift")
    for path in sorted((ROOT / "twinstep").glob("*.py")):
        tree = ast.parse(path.read_text())
        docs = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) else getattr(node, "id", "")
            if isinstance(text, str) and id(node) not in docs:
                assert not any(name in text.lower() for name in known), f"{path.name}: {text}"
