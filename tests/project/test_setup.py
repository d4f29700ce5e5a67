"""The set-up names all missing tools, with the way to get them, before it does anything."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "setup.py"
pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="the set-up is in the checkout only")

CARGO = "echo 'cargo 1.90.0 (840b83a10 2025-07-30)'"
GOOD = {"cc": "", "cargo": CARGO, "npm": ""}


@pytest.fixture
def script(tmp_path):
    """A copy in an empty project, where a set-up that goes on has nothing to do."""
    path = tmp_path / "tools" / "setup.py"
    path.parent.mkdir()
    path.write_text(SCRIPT.read_text())
    return path


@pytest.fixture
def missing(script, tmp_path, monkeypatch):
    """Return a call that lists the missing tools if only these exist: name -> shell script."""
    spec = importlib.util.spec_from_file_location("setup_under_test", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Imported under a name of its own, which no other module can find.
    spec.loader.exec_module(module)

    def ask(tools, packages=("venv", "ensurepip")):
        folder = tmp_path / f"bin{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        for name, text in tools.items():
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        monkeypatch.setattr(
            module.importlib.util, "find_spec", lambda name: True if name in packages else None
        )
        return module.missing_tools()

    yield ask
    monkeypatch.undo()


@pytest.mark.parametrize("compiler", ["cc", "gcc", "clang"])
def test_nothing_is_missing_where_all_tools_are(missing, compiler):
    assert missing({compiler: "", "cargo": CARGO, "npm": ""}) == []


@pytest.mark.parametrize(
    ("tool", "begins", "way"),
    [
        ("cc", "a C compiler (cc, gcc or clang). ", "`apt install gcc libc6-dev`"),
        ("cargo", "cargo 1.89 or newer. ", "`apt install rustup`, then `rustup default stable`"),
        ("npm", "npm. ", "`apt install npm`"),
    ],
)
def test_a_missing_tool_is_named_with_the_way_to_get_it(missing, tool, begins, way):
    (line,) = missing({name: text for name, text in GOOD.items() if name != tool})
    assert line.startswith(begins)
    assert way in line
    # Not every system is Debian.
    assert "; elsewhere: " in line
    assert "\n" not in line


@pytest.mark.parametrize("package", ["venv", "ensurepip"])
def test_a_python_without_venv_is_named_with_the_way_to_get_it(missing, package):
    (line,) = missing(GOOD, [name for name in ("venv", "ensurepip") if name != package])
    assert line.startswith("Python's venv module (")
    assert "`apt install python3-venv`" in line


@pytest.mark.parametrize(
    ("cargo", "says"),
    [
        ("echo 'cargo 1.84.1 (66221abde 2024-11-19)'", "'cargo 1.84.1 (66221abde 2024-11-19)'"),
        ("echo 'cargo 0.99.0'", "'cargo 0.99.0'"),
        ("echo 'error: no default toolchain is set\nhelp: x' >&2; exit 1", "'error: no default t"),
    ],
)
def test_a_cargo_that_is_too_old_or_has_no_toolchain_is_named(missing, cargo, says):
    (line,) = missing(GOOD | {"cargo": cargo})
    assert line.startswith(f"cargo 1.89 or newer; the one here says {says}")
    assert "rustup default stable" in line
    assert "\n" not in line
    assert missing(GOOD | {"cargo": "echo 'cargo 1.89.0'"}) == []
    assert missing(GOOD | {"cargo": "echo 'cargo 2.0.0'"}) == []


def test_all_that_is_missing_is_named_at_once_before_anything_is_built(script, tmp_path):
    (tmp_path / "bin").mkdir()
    done = subprocess.run(
        [sys.executable, script],
        env={"PATH": str(tmp_path / "bin")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["missing:", "a"],
        ["missing:", "cargo"],
        ["missing:", "npm."],
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "tools"]


OLD = """
import sys
sys.version_info = (3, 10, 12, "final", 0)
exec(compile(open({path!r}).read(), {path!r}, "exec"), {{"__file__": {path!r}}})
"""


def test_a_python_that_is_too_old_is_one_line_with_the_way_on(script):
    done = subprocess.run(
        [sys.executable, "-c", OLD.format(path=str(script))], capture_output=True, text=True
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("twinstep needs Python 3.11 or newer; this is 3.10 (")
    assert sys.executable in line
    assert "Mend: install a newer one, then `make setup PYTHON=python3.11`" in line


def test_an_old_python_can_read_the_script_as_far_as_that_line():
    """Otherwise a SyntaxError comes first."""
    ast.parse(SCRIPT.read_text(), feature_version=(3, 7))


def test_make_without_any_python_names_it_with_the_way_to_get_it():
    done = subprocess.run(
        ["make", "setup", "PYTHON=no-such-python"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert line.startswith("missing: no-such-python, 3.11 or newer. ")
    assert "`apt install python3 python3-venv`" in line
