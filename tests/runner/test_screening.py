"""What an agent's files may be and say: each thing that is refused, and all that ships is not."""

import os
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from twinstep.frames import Frame
from twinstep.jax_candidate import JaxCandidate
from twinstep.runner import callbacks, screening
from twinstep.runner.screening import screen
from twinstep.tests.toys.drift import DRIFT

ROOT = Path(screening.__file__).parents[2]
OWN = ("mine",)
REFUSED = {
    "import os": "`os` may not be imported by a candidate",
    "from twinstep.oracles.pong import bridge": "`twinstep.oracles.pong.bridge` may not be",
    "import pyboy": "`pyboy` may not be imported by a candidate",
    "import importlib": "`importlib` may not be imported by a candidate",
    "from twinstep import oracles": "`twinstep.oracles` may not be imported by a candidate",
    "import numpyro": "`numpyro` may not be imported by a candidate",
    "x = eval('1')": "`eval` may not be used by a candidate",
    "x = __import__('os')": "`__import__` may not be used by a candidate",
    "x = open('/etc/passwd').read()": "files may only be read, by",
    "from pathlib import Path\nPath('x').open('w')": "files may only be read, by",
    "from pathlib import Path\nPath('x').write_text('')": "`.write_text` may not be used",
    "import jax\nx = jax.pure_callback(f, s)": "`.pure_callback` may not be used by a candidate",
    "import jax.numpy as jnp\njnp.where = None": "what is imported may not be changed",
    "import numpy as np\nsetattr(np, 'where', None)": "what is imported may not be changed",
    "from jax import lax\nlax.scan = None": "what is imported may not be changed",
    "x = ().__class__.__mro__": "`.__mro__` may not be used by a candidate",
    "def f(:": "it is no Python (",
    "x = " + "-" * 20_000 + "1": "it is no Python (it is nested too deeply)",
    "x" + ".a" * 50_000: "it is no Python (it is nested too deeply)",
    "x = [" + "1, " * 1501 + "]": "1501 constants: more than 1500 are a table",
}
RUST = {
    "use std::process::Command;": "no processes, sockets, files or environment",
    "let x = std :: fs::read(\"x\");": "no processes, sockets, files or environment",
    'const T: &[u8] = include_bytes!("../../oracle.bin");': "no include",
    "use proc_macro::TokenStream;": "no procedural macros",
    'extern "C" { fn system(c: *const u8); }': "nothing foreign is linked",
    "#[unsafe(no_mangle)] fn write() {}": "nothing foreign is linked",
    '#[cfg_attr(all(), path = "../../oracle.rs")] mod oracle;': "nothing foreign is linked",
    '#[unsafe(link_section = ".init_array")] static A: fn() = early;': "nothing foreign is linked",
}  # fmt: skip


def _said(folder, name, text):
    path = folder / name
    path.write_text(text)
    return [str(one) for one in screen(folder, [path], OWN)]


@pytest.mark.parametrize("text", REFUSED)
def test_python_that_reaches_out_is_refused_with_its_line(tmp_path, text):
    said = _said(tmp_path, "step.py", text + "\n")
    line = text.count("\n") + 1
    assert any(s.startswith(f"step.py:{line}: {REFUSED[text]}") for s in said), said


@pytest.mark.parametrize("text", RUST)
def test_rust_that_reaches_out_is_refused_with_its_line(tmp_path, text):
    (said,) = _said(tmp_path, "lib.rs", f"\n{text}\n")
    assert said.startswith(f"lib.rs:2: {RUST[text]}")


def test_rust_may_speak_of_it_in_a_comment(tmp_path):
    assert not _said(tmp_path, "lib.rs", "// std::process would be wrong\n")


@pytest.mark.parametrize(
    "name", ["conftest.py", "test_mine.py", "sitecustomize.py", "build.rs", "x.pth", "x.so", ".hid"]
)
def test_a_file_that_tools_would_run_is_refused(tmp_path, name):
    assert len(_said(tmp_path, name, "")) == 1


def test_a_link_an_executable_a_large_file_and_no_text_are_refused(tmp_path):
    (tmp_path / "far.py").symlink_to("/etc/hostname")
    (tmp_path / "run.py").write_text("")
    os.chmod(tmp_path / "run.py", 0o755)
    (tmp_path / "table.csv").write_text("0" * (screening.TABLE_BYTES + 1))
    (tmp_path / "bytes.py").write_bytes(b"\xff")
    said = [one.place for one in screen(tmp_path, tmp_path.iterdir(), OWN)]
    assert said == ["bytes.py", "far.py", "run.py", "table.csv"]


def test_many_tables_are_refused_as_one_large_one_is(tmp_path):
    for number in range(screening.TABLES_BYTES // screening.TABLE_BYTES + 1):
        (tmp_path / f"{number}.csv").write_text("0" * screening.TABLE_BYTES)
    (said,) = screen(tmp_path, tmp_path.iterdir(), OWN)
    assert "bytes of tables" in said.why


@pytest.mark.parametrize(
    "text",
    [
        "from __future__ import annotations\nimport jax.numpy as jnp\nfrom jax import lax",
        "from mine.state import State\nfrom . import rules\nfrom twinstep.contracts import pong",
        "class A:\n    def f(self, name):\n        self.x = 1\n        setattr(self, name, 2)",
        "import csv\nfrom pathlib import Path\nx = Path(__file__).with_name('t.csv').open()",
    ],
)
def test_what_an_engine_needs_is_allowed(tmp_path, text):
    assert not _said(tmp_path, "step.py", text + "\n")


def _shipped():
    return sorted(p.name for p in (ROOT / "generated").iterdir() if (p / "__init__.py").is_file())


@pytest.mark.skipif(not (ROOT / "generated").is_dir(), reason="installed, not a checkout")
def test_all_that_ships_passes():
    assert _shipped()
    for name in _shipped():
        folder = ROOT / "generated" / name
        files = [p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
        assert screen(ROOT, files, [f"twinstep.generated.{name}"]) == []


def _called_back(x):
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), jnp.float32), x)


def _frame(state):
    one = jnp.ones(1)
    return Frame(state[None], one, jnp.bool_(False), jnp.bool_(False), one > 0, None, {})


def _candidate(step):
    contract = DRIFT.contract(DRIFT.params({}))
    return JaxCandidate(contract, reset=lambda start: jnp.float32(0), step=step, frame=_frame)


@pytest.mark.parametrize("inside", ["plain", "jit", "scan", "cond"])
def test_a_program_that_calls_back_into_python_is_refused(inside):
    steps = {
        "plain": lambda state, action: _called_back(state),
        "jit": lambda state, action: jax.jit(_called_back)(state),
        "scan": lambda state, action: jax.lax.scan(
            lambda c, _: (_called_back(c), None), state, None, length=2
        )[0],
        "cond": lambda state, action: jax.lax.cond(state > 0, _called_back, lambda x: x, state),
    }
    (said,) = callbacks.refused_programs(_candidate(steps[inside]))
    assert said.startswith("step calls back into Python (pure_callback)")


def test_a_program_that_only_computes_is_not_refused():
    assert callbacks.refused_programs(_candidate(lambda state, action: state + 1)) == []
