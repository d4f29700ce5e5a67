"""What the suites' files mark for pytest is a test, or a fixture with the suite's prefix.

A test that was renamed by mistake would not be collected, and nobody would miss it.
"""

import ast
from pathlib import Path

import pytest

import twinstep.interactions
import twinstep.properties
import twinstep.rollouts
import twinstep.transfer

SUITES = (
    twinstep.properties, twinstep.interactions, twinstep.rollouts, twinstep.transfer,
)  # fmt: skip
FILES = [f for suite in SUITES for f in sorted(Path(suite.__path__[0]).rglob("test_*.py"))]


def _strangers(text):
    """Return the marked functions that are neither a test nor a fixture with the prefix."""
    found = []
    for node in ast.parse(text).body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("test_"):
            continue
        marks = [ast.unparse(mark) for mark in node.decorator_list]
        is_fixture = any(mark.startswith("pytest.fixture") for mark in marks)
        is_marked = any(mark.startswith("pytest.") for mark in marks) or "test_" in node.name
        if is_marked and not (is_fixture and node.name.startswith("twinstep_")):
            found.append(node.name)
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_what_is_marked_is_a_test_or_a_prefixed_fixture(file):
    assert not _strangers(file.read_text())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("@pytest.mark.level1\ndef twinstep_test_a(twinstep_lab): pass", "twinstep_test_a"),
        ("@pytest.fixture\ndef place(): pass", "place"),
        ("def twinstep_test_b(): pass", "twinstep_test_b"),
    ],
)
def test_a_renamed_test_and_an_unprefixed_fixture_are_found(text, name):
    assert _strangers(text) == [name]
    assert not _strangers("def helper(): pass")
