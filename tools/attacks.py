"""Take each defence of tests/attacks.toml out once: its test must fail, and pass with it.

`python tools/attacks.py [ID ...]` edits the checkout's own files one after the other and writes
each back; a file with uncommitted changes is refused, so that `git checkout FILE` mends what a
killed run leaves. It prints a line for each attack; exit code 1 if a defence is not missed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from twinstep._lib.removal import scratch_folder

ROOT = Path(__file__).parents[1]


def passes(test: str) -> bool:
    """Return whether a test passes."""
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", ""]
    # Without its defence a test may leave what pytest cannot remove.
    with scratch_folder("twinstep-attacks-", Path(tempfile.gettempdir())) as base:
        words += ["--basetemp", str(base / "t"), test]
        return not subprocess.run(words, cwd=ROOT, capture_output=True, check=False).returncode


def changed(file: str) -> bool:
    """Return whether a file differs from its commit."""
    return bool(subprocess.run(["git", "diff", "--quiet", "HEAD", "--", file], cwd=ROOT).returncode)


def problem(attack: dict[str, str]) -> str:
    """Return what is wrong with an attack's row, "" if its test needs the defence."""
    file = ROOT / attack["file"]
    whole = file.read_text()
    if changed(attack["file"]):
        return f"{attack['file']} has uncommitted changes"
    if whole.count(attack["gone"]) != 1:
        return f"{attack['file']} has {attack['gone']!r} {whole.count(attack['gone'])} times"
    if not passes(attack["test"]):
        return "its test does not pass"
    try:
        file.write_text(whole.replace(attack["gone"], attack["left"]))
        return "its test passes without the defence" if passes(attack["test"]) else ""
    finally:
        file.write_text(whole)


def main() -> int:
    """Try the rows that are named, or all."""
    rows = tomllib.loads((ROOT / "tests" / "attacks.toml").read_text())["attack"]
    wanted = [row for row in rows if not sys.argv[1:] or row["id"] in sys.argv[1:]]
    wrong = 0
    for row in wanted:
        why = problem(row)
        wrong += bool(why)
        said = why or "its test fails without the defence"
        print(f"{row['id']}: {row['what']}: {said}", flush=True)
    print(f"{len(wanted) - wrong} of {len(wanted)} defences are missed by their tests")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
