"""Imports point down one list of floors, and no two packages import each other in a circle."""

import ast
from pathlib import Path

import pytest

import twinstep

ROOT = Path(twinstep.__file__).parent
#: Package or module of twinstep -> its floor. A higher floor may import lower ones; packages of
#: one floor must not import each other. Modules of the face share a floor and may.
FLOORS = {
    "__main__": 15, "cli": 14,
    "mutation": 12, "repair": 12,
    "bench": 11, "scaffold": 11, "testing": 11,
    "diagnosis": 10, "rl": 10,
    "compare": 9, "play": 9,
    "adapters": 8, "reference": 8,
    "env": 7,
    "runner": 6,
    "inputs": 5, "inward": 5,
    "chance": 4, "project": 4,
    "face": 3,
    "walls": 2,
    "_lib": 1,
}  # fmt: skip
FACE = {
    "", "action_mask", "contract", "drivers", "environment", "errors", "exact", "frames",
    "further_drivers", "gates", "jax_candidate", "late", "plans", "protocols", "rust_sources",
}  # fmt: skip
#: The upward imports that stay: those of the lazy entry point, and the errors that _lib raises.
ALLOWED = {
    ("__init__.py", "env.make"), ("__init__.py", "env.timestep"),
    ("__init__.py", "project.registry"), ("_lib/*", "errors"), ("_lib/*", ""),
}  # fmt: skip


def _package(module):
    """Return the package of a module's dotted name below twinstep."""
    first = module.partition(".")[0]
    return "face" if first in FACE else first


def _home(file):
    """Return the package of a file's path below twinstep."""
    first = file.partition("/")[0].removesuffix(".py")
    return _package("" if first == "__init__" else first)


def _imports(tree, names):
    """Yield (line, dotted name below twinstep) of every import, function-level ones included.

    names: every module below twinstep, which tells `from package import module` from a symbol.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "twinstep":
                    yield node.lineno, alias.name.partition(".")[2]
        elif isinstance(node, ast.ImportFrom) and node.module:
            package, _, base = node.module.partition(".")
            if package != "twinstep":
                continue
            for alias in node.names:
                # A public name is an import of the module behind it.
                lazy = "" if base else twinstep._HOME.get(alias.name, "")
                whole = lazy or f"{base}.{alias.name}".strip(".")
                yield node.lineno, whole if lazy or whole in names else base


def arrows(root):
    """Yield (file, line, imported name) of every import of the core by itself."""
    files = [
        path
        for path in sorted(root.rglob("*.py"))
        if _home(path.relative_to(root).as_posix()) in FLOORS
    ]
    names = {".".join(path.relative_to(root).with_suffix("").parts) for path in files}
    names |= {name.removesuffix(".__init__") for name in names}
    for path in files:
        inner = path.relative_to(root)
        if not (inner.parts[0] == "scaffold" and "templates" in inner.parts):
            for line, name in _imports(ast.parse(path.read_text()), names):
                yield inner.as_posix(), line, name


def _is_allowed(file, name):
    return not {(file, name), (f"{file.partition('/')[0]}/*", name)}.isdisjoint(ALLOWED)


def upward(root):
    """Return a line for each import that does not point down."""
    found = []
    for file, line, name in arrows(root):
        here = _home(file)
        there = _package(name)
        if there == here or _is_allowed(file, name):
            continue
        if FLOORS.get(there, 99) >= FLOORS[here]:
            below = sorted(n for n, floor in FLOORS.items() if floor < FLOORS[here])
            found.append(
                f"twinstep/{file}:{line}: {here} imports twinstep.{name}; it may import "
                f"{', '.join(below)}"
            )
    return found


def circles(root):
    """Return each import circle between packages, as the list of its packages."""
    graph = {}
    for file, _, name in arrows(root):
        here = _home(file)
        if not _is_allowed(file, name):
            graph.setdefault(here, set()).add(_package(name))

    def reached(start):
        seen, todo = set(), [start]
        while todo:
            for name in graph.get(todo.pop(), set()) - {start} - seen:
                seen.add(name)
                todo.append(name)
        return seen

    reach = {name: reached(name) for name in graph}
    joined = ([a, b] for a in graph for b in graph if a < b)
    return sorted([a, b] for a, b in joined if b in reach[a] and a in reach[b])


def test_every_import_points_down():
    assert not upward(ROOT), "\n".join(upward(ROOT))


def test_no_packages_import_each_other_in_a_circle():
    assert not circles(ROOT)


def test_the_core_does_not_import_the_repositorys_own_packages():
    """Names of environments' packages are no floor: an import of one would be listed as upward."""
    assert {_package(name) for _, _, name in arrows(ROOT)} <= FLOORS.keys()


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("project/planted.py", "from twinstep.runner import runner\n", "project/planted.py:1: "),
        ("env/planted.py", "def f():\n    import twinstep.bench.table\n", "env/planted.py:2: "),
        ("inputs/planted.py", "from twinstep import scaffold\n", "imports twinstep.scaffold"),
        ("project/planted.py", "from twinstep import make\n", "imports twinstep.env.make"),
        ("frames.py", "from twinstep.project.registry import names\n", "it may import _lib"),
    ],
)
def test_a_planted_import_is_named_with_file_line_and_what_is_allowed(tmp_path, file, text, says):
    for folder in ("project", "runner", "env", "bench", "inputs", "scaffold"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / file).write_text(text)
    (line,) = upward(tmp_path)
    assert says in line
    assert "it may import" in line


def test_a_planted_circle_is_named(tmp_path):
    for folder, imported in (("play", "diagnosis"), ("diagnosis", "play")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.py").write_text(f"import twinstep.{imported}.x\n")
    assert circles(tmp_path) == [["diagnosis", "play"]]


#: Folders with a room for each environment, and the tables made for them.
ROOMS = {
    "candidates", "contracts", "generated", "interactions", "oracles", "properties", "rollouts",
    "tests", "transfer",
}  # fmt: skip


def beyond_the_face(suites):
    """Yield a line for each import of an environment's own tests that is not public."""
    for path in sorted(suites.rglob("*.py")):
        inner = path.relative_to(suites)
        if inner.parts[0] not in ("properties", "interactions", "rollouts") or len(inner.parts) < 3:
            continue
        for line, name in _imports(ast.parse(path.read_text()), set()):
            if name.partition(".")[0] not in FACE | ROOMS and name != "testing":
                yield f"{inner}:{line}: twinstep.{name} is not public"


def test_an_environments_own_tests_import_public_names_alone():
    assert not list(beyond_the_face(ROOT.parent))


def test_an_import_beyond_the_face_is_noticed(tmp_path):
    home = tmp_path / "properties" / "pong"
    home.mkdir(parents=True)
    (home / "test_a.py").write_text(
        "from twinstep import Field\nfrom twinstep.testing import Case\n"
        "from twinstep.testing.lab import Lab\nfrom twinstep.compare import arrays\n"
    )
    assert list(beyond_the_face(tmp_path)) == [
        "properties/pong/test_a.py:3: twinstep.testing.lab is not public",
        "properties/pong/test_a.py:4: twinstep.compare is not public",
    ]
