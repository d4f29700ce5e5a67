"""Generated files of HalfCheetah match their sources."""

import subprocess
import sys
from pathlib import Path

import pytest

from twinstep.oracles.halfcheetah import upstream
from twinstep.tests.support.project_folder import HANGS
from twinstep.tests.support.requirements import need

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("command", [("model.py", "gymnasium", "--check"), ("rust", "--check")])
def test_generated_files_are_what_their_tools_write(command):
    """MuJoCo's numbers, and the Rust generated from the description: only the tool changes them."""
    if not (ROOT / "tools").is_dir():
        pytest.skip("the tools are in the repository alone")
    tool, *args = command
    if "gymnasium" in args:
        need(upstream.probe({}))
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "halfcheetah" / tool, *args],
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
