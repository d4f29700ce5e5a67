"""Which test an entry of an xfail.toml means, and why it means none.

An entry names a test as a run from the repository's root shows it, and means the same test
wherever the suite lies: `rollouts/test_lockstep.py::...` is also the installed suite's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from twinstep.errors import UserError
from twinstep.project import registry, source_view
from twinstep.project.registry import Pair
from twinstep.testing.expected_failures import EXPECTED, ExpectedFailure


def name_of(item: pytest.Item) -> str:
    """Return the test's name as a run from the repository's root shows it.

    pytest's own depends on the folder and the arguments of the run. A test in no package keeps
    that one.
    """
    root = item.path.parent
    while (root / "__init__.py").is_file():
        root = root.parent
    file, _, rest = item.nodeid.partition("::")
    if root != item.path.parent:
        file = item.path.relative_to(root).as_posix().removeprefix("twinstep/")
    return f"{file}::{rest}"


def attach(
    entries: Iterable[ExpectedFailure],
    pairs: list[Pair],
    items: list[pytest.Item],
    config: pytest.Config,
) -> None:
    """Give each entry to its test among all collected ones; UserError if it fits none.

    An entry whose test this run does not ask for (another candidate, another driver, another
    file) is no error.
    """
    for entry in entries:
        file, _, rest = entry.test.partition("::")
        there = [item for item in items if f"/{item.path.as_posix()}".endswith(f"/{file}")]
        meant = [item for item in there if item.nodeid.partition("::")[2] == rest]
        for item in meant:
            item.stash[EXPECTED] = entry
        if not meant and (why := _wrong(entry.test, pairs, there, config)):
            raise UserError(f"{entry.file}: '{entry.test}' is not a test: {why}")


def _wrong(test: str, pairs: list[Pair], there: list[pytest.Item], config: pytest.Config) -> str:
    """Say why there is no such test, "" if there may be one outside of this run."""
    file, _, rest = test.partition("::")
    name, _, label = rest.removesuffix("]").partition("[")
    source = _source(file, config.rootpath)
    if source is None or not source.is_file():
        return f"there is no file {file}"
    if not re.search(rf"^\s*def {re.escape(name)}\(", source.read_text(), re.MULTILINE):
        return f"{file} has no {name}"
    mine = [pair for pair in pairs if _is_of(label, pair)]
    if not mine:
        known = any(_is_of(label, pair) for pair in _all_pairs(label))
        return "" if known or "+" in label else f"'{label}' names no candidate"
    wanted = config.option.twinstep_driver
    driver = label.removeprefix(f"{mine[0].label}-")
    if wanted and driver in mine[0].subject.contract.drivers and driver not in wanted:
        return ""
    part = config.getoption("lf", False) or any("::" in text for text in config.args)
    collected = any(item.nodeid.partition("::")[2].startswith(f"{name}[") for item in there)
    return f"{name} has no case [{label}]" if collected and not part else ""


def _source(file: str, root: Path) -> Path | None:
    own = root / file
    return source_view.find_source(file) if "/" in file and not own.is_file() else own


def _is_of(label: str, pair: Pair) -> bool:
    return label == pair.label or label.startswith(f"{pair.label}-")


def _all_pairs(label: str) -> list[Pair]:
    envs = [registry.environment(name) for name in registry.names() if label.startswith(name)]
    return [p for env in envs for s in registry.subjects(env, {}) for p in registry.pairs(s)]
