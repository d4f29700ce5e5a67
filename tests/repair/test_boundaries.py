"""No file and no import name is the agent's and the judge's."""

from dataclasses import replace

import pytest

from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.commits import FILE, Commits, File
from twinstep.project.repository import Repository, git
from twinstep.repair.boundaries import clash, new_names, require_apart
from twinstep.tests.support.scripted_agent import Repaired


@pytest.fixture
def duel(tmp_path, monkeypatch):
    """A third party's project as the current folder: the environment and its candidate."""
    made = Repaired.duel(tmp_path)
    monkeypatch.chdir(made.folder)
    monkeypatch.syspath_prepend(made.folder)
    (made.folder / "fastduel" / "oracle.py").write_text("from fastduel import tables\n")
    (made.folder / "fastduel" / "tables.py").write_text("rows = 1\n")
    env = registry.environment("duel")
    mine = next(ref for ref in env.candidates if ref.name == "mine")
    oracle = replace(env.oracle, factory="fastduel.oracle:Oracle")
    return replace(env, oracle=oracle), mine


@pytest.mark.parametrize("name", ["declared.py", "__init__.py"])
def test_a_candidates_own_declaration_is_the_judges_with_what_lies_around_it(duel, name):
    """`edit="fastduel/*"` is natural where the package holds the declaration too."""
    _, mine = duel
    env = registry.environment("duel")
    require_apart(env, mine)
    with pytest.raises(UserError, match=f"fastduel/{name} is imported by what judges 'mine'"):
        require_apart(env, replace(mine, edit=("fastduel/rules.py", f"fastduel/{name}")))


@pytest.mark.parametrize("name", ["oracle.py", "tables.py", "__init__.py"])
def test_what_the_judge_imports_may_not_be_edited(duel, name):
    env, mine = duel
    require_apart(env, mine)
    with pytest.raises(UserError, match=f"fastduel/{name} is imported by what judges 'mine'"):
        require_apart(env, replace(mine, edit=("fastduel/rules.py", f"fastduel/{name}")))


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("src/numpy/__init__.py", ["numpy"]),
        ("src/sitecustomize.py", ["sitecustomize.py"]),
        ("sitecustomize.py", ["sitecustomize.py"]),
        ("src/early.pth", ["early.pth"]),
        ("src/mine/deep/numpy.py", []),
        ("README.md", []),
    ],
)
def test_a_new_name_at_the_top_of_the_search_path_is_seen(tmp_path, path, names):
    root = tmp_path / "user"
    (root / "src" / "mine").mkdir(parents=True)
    (root / "src" / "mine" / "__init__.py").write_text("")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "begin")
    user = Repository(root, root.relative_to(root))
    base = user.head()
    own = Commits.of(tmp_path / "own.git", user, base)
    commit = own.commit(base, {path: File(FILE, b"")}, "")
    assert new_names(own, root, commit, base, ("**",)) == names
    assert new_names(own, root, base, base, ("**",)) == []
    # What is not an agent's to edit was put there by the run, as its regressions are.
    assert new_names(own, root, commit, base, ("src/mine/**",)) == []


def test_names_that_are_one_on_another_system_are_seen():
    """A checkout there has one of the two, and another candidate than was checked."""
    assert clash(["fast/rules.py", "fast/Rules.py"]) == "fast/rules.py and fast/Rules.py"
    assert clash(["fast/caf\u00e9.py", "fast/cafe\u0301.py"])
    assert clash(["fast/rules.py", "slow/rules.py", "fast/rules_.py"]) == ""
