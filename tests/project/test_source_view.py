"""Lines that a report names: methods by their class, a module's own names before nested ones."""

import pytest

from twinstep.project.source_view import candidate_source, line_in

PYTHON = """
class Walk:
    def step(self, a):
        pass

    class Inner:
        @property
        def deep(self):
            return 1


def outer():
    def helper():
        pass


def helper(
    a,
):
    return a


def step():
    return 2
"""


@pytest.mark.parametrize(
    ("symbol", "line"),
    [
        ("Walk", 2), ("Walk.step", 3), ("step", 23), ("Walk.Inner.deep", 8), ("helper", 17),
        ("deep", 8), ("Walk.none", 0), ("Other.step", 0), ("none", 0), ("", 0),
    ],
)  # fmt: skip
def test_a_symbol_is_found_where_it_is_defined(symbol, line):
    assert line_in(PYTHON, symbol) == line


@pytest.mark.parametrize("symbol", ["step", "Walk.step"])
def test_a_function_of_rust_is_found_by_its_name(symbol):
    assert line_in("impl Walk {\n    pub(crate) fn step(&self) {}\n}\n", symbol) == 2


@pytest.mark.parametrize(
    ("symbol", "shown"),
    [
        ("Walk.step", "    def step(self, a):\n        pass"),
        ("helper", "def helper(\n    a,\n):\n    return a"),
        ("Walk.Inner.deep", "        def deep(self):\n            return 1"),
    ],
)
def test_the_whole_definition_is_shown_and_nothing_after_it(symbol, shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "walk.py").write_text(PYTHON)
    record = {"suspects": [{"place": f"walk.py:{line_in(PYTHON, symbol)}"}]}
    assert candidate_source(record).partition("```python\n")[2] == f"{shown}\n```"
