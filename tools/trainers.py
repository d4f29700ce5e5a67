"""Test twinstep together with other projects' packages: `make trainers` runs it after `make setup`.

`python tools/trainers.py [--build] [NAME ...]`. `rejax`, `sb3` and `puffer` train Pong with other
projects' trainers; `inward` proves pairs whose port is another library's environment; `audit` runs
the witnesses of the public pairs and two pairs in short; `plugins` runs the suite's plugin beside
other pytest plugins. No name: all of them. Each has a lock with hashes and an environment of its
own under `.venv-trainers/`, rebuilt when the lock changes. A skipped test is a failure there.
`peers`, in which `twinstep bench halfcheetah` measures other projects, is built only if named and
has no tests. With `--build` none is run, and the path of each Python is printed. Standard library
only.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".venv-trainers"
WHEELS = ROOT / ".venv" / "setup" / "wheel"
TESTS = "tests"
PIP = ("--quiet", "--disable-pip-version-check", "--no-input", "--no-compile")
#: Name of an environment -> its tests, below TESTS.
TRAINERS = {
    "rejax": ("adapters/test_trainers_rejax.py",),
    "sb3": (
        "adapters/test_trainers_sb3.py",
        "adapters/test_sb3_adapter.py",
        "adapters/test_torch_adapter.py",
        "adapters/test_trainers_torch.py",
        "adapters/test_adapter_bugs.py::test_torch_tensors_that_are_late_by_a_step_are_found",
        "adapters/test_adapter_bugs.py::test_a_vec_env_that_tells_an_end_wrongly_is_found",
    ),
    "puffer": ("adapters/test_trainers_puffer.py",),
    "inward": ("inward", "scaffold/test_init_gymnax.py", "scaffold/test_init_libraries.py"),
    "audit": ("audits",),
    "plugins": ("testing/test_foreign_plugins.py",),
}
#: Environments that are only built.
UNTESTED = ("peers",)


def lock_of(name: str) -> Path:
    return ROOT / "tools" / "locks" / f"{name}.lock"


def key(name: str) -> str:
    """Return the hash of all that an environment is made of, except the Rust wheel."""
    parts = [sys.version, os.path.realpath(sys.executable), str(ROOT), *PIP]
    text = "\0".join([*parts, lock_of(name).read_text(), (ROOT / "pyproject.toml").read_text()])
    return hashlib.sha256(text.encode()).hexdigest()


def run(*command: str | Path) -> int:
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL).returncode


def build(name: str) -> Path:
    """Return the Python of an environment; build the environment if it is missing or outdated."""
    folder = HOME / name
    stamp, python = folder / "stamp", folder / "bin" / "python"
    # -I: a PYTHONPATH or a user's site folder must not pass for an installed package.
    pip = (python, "-I", "-m", "pip", "install", *PIP)
    if not (stamp.exists() and stamp.read_text() == key(name)):
        began = time.monotonic()
        shutil.rmtree(folder, ignore_errors=True)
        # --no-deps: the lock is complete, except for what its packages need only on a GPU.
        for command in (
            (os.path.realpath(sys.executable), "-m", "venv", folder),
            (*pip, "--no-deps", "--require-hashes", "-r", lock_of(name)),
            (*pip, "--no-deps", "--no-build-isolation", "-e", "."),
        ):
            if run(*command):
                sys.exit(f"{name}: {' '.join(map(str, command))} failed")
        stamp.write_text(key(name))
        size = sum(path.lstat().st_size for path in folder.rglob("*")) / 1e6
        print(f"{name}: installed {size:,.0f} MB in {time.monotonic() - began:.0f} s", flush=True)
    wheels = list(WHEELS.glob("*.whl"))
    if not wheels or run(*pip, "--no-deps", "--no-index", "--force-reinstall", *wheels):
        sys.exit("the Rust module cannot be installed: run `make setup`")
    return python


def test(name: str) -> int:
    """Run the tests of an environment; return 0 if all passed and none was skipped."""
    report = HOME / name / "report.xml"
    tests = [f"{TESTS}/{each}" for each in TRAINERS[name]]
    options = ("-m", "slow or not slow", "--durations=5", "-rsP", f"--junitxml={report}")
    code = run(build(name), "-m", "pytest", *options, *tests)
    if code == 0 and "<skipped" in report.read_text():
        print(f"{name}: a test was skipped: nothing is proven", file=sys.stderr)
        return 1
    return code


def main() -> None:
    only_build = sys.argv[1:2] == ["--build"]
    names, known = sys.argv[1 + only_build :] or list(TRAINERS), (*TRAINERS, *UNTESTED)
    for name in names:
        if name not in known:
            sys.exit(f"unknown trainer '{name}' (known: {', '.join(known)})")
    for name in names if only_build else set(names) & set(UNTESTED):
        print(build(name))
    tested = [] if only_build else [name for name in names if name in TRAINERS]
    sys.exit(max((test(name) for name in tested), default=0))


if __name__ == "__main__":
    main()
