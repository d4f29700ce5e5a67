"""The parts of `twinstep repair` alone: its memory, agents' command lines, builds, wrong usage."""

import ctypes
import fcntl
import json
import os
import re
import resource
import site
import subprocess
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace

import pytest

import twinstep
from twinstep._lib.removal import scratch_folder
from twinstep.environment import Probe
from twinstep.errors import UserError
from twinstep.project import cargo, processes, workspace
from twinstep.project.commits import FILE, Commits, File
from twinstep.project.repository import Repository, git
from twinstep.project.workspace import (
    TooMuch,
    changed,
    may_edit,
    read_file,
    snapshot,
    with_references,
)
from twinstep.repair import (
    agent_state,
    agents,
    attempt,
    checks,
    command,
    loop,
    sandbox,
    tamper_check,
    verifier,
)
from twinstep.repair.agent_state import StateCopy
from twinstep.repair.journal import Journal, require_whole
from twinstep.repair.presets import PRESETS
from twinstep.testing.reporting import _last_words
from twinstep.tests.support import tiny_rust
from twinstep.tests.support.deep_folder import nested
from twinstep.tests.support.namespaces import needs_namespaces
from twinstep.tests.support.scripted_agent import Repaired
from twinstep.walls.view import variables, walled


def never():
    raise AssertionError("it was done before")


def test_what_a_journal_has_is_read_and_not_done_again(tmp_path):
    Journal(tmp_path).done("check", lambda: {"good": True})
    again = Journal(tmp_path)
    assert again.replaying
    assert again.done("check", never) == {"kind": "check", "good": True}
    assert not again.replaying


@pytest.mark.parametrize("line", ["{}", "[]", "null", '{"kind": 3}', "no JSON", "[" * 100_000])
def test_a_journal_that_is_none_is_one_line(tmp_path, line):
    (tmp_path / "log.jsonl").write_text(f'{{"kind": "begin"}}\n{line}\n')
    with pytest.raises(UserError, match=r"log\.jsonl cannot be read"):
        Journal(tmp_path)


BEGUN = {"kind": "begin", "env": "duel", "candidate": "mine", "base": "0", "agent": "a",
         "phases": "3", "sandbox": True, "tries": 1, "iterations": 1, "episodes": 1, "workers": 1,
         "check_minutes": 1.0, "budget_usd": 0.0, "hours": 0.0}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ({**BEGUN, "env": 3}, "line 1 has no valid `env`"),
        ({**BEGUN, "phases": 3}, "line 1 has no valid `phases`"),
        ({"kind": "more"}, "line 1 has no valid `tries`"),
        ({"kind": "more", "tries": "many"}, "line 1 has no valid `tries`"),
        ({"kind": "try"}, "line 1 has no valid `number`"),
        ({"kind": "end", "code": 0, "why": "", "commit": ""}, "line 1 has no valid `files`"),
        ({"kind": "other"}, "line 1 is no entry"),
        ({**BEGUN, "hours": float("nan")}, "NaN is no number"),
    ],
)
def test_a_journal_whose_entries_lack_something_is_one_line(tmp_path, line, says):
    (tmp_path / "log.jsonl").write_text(json.dumps(BEGUN) + "\n")
    require_whole(tmp_path / "log.jsonl")
    (tmp_path / "log.jsonl").write_text(json.dumps(line) + "\n")
    with pytest.raises(UserError, match=says):
        require_whole(tmp_path / "log.jsonl")


@pytest.mark.parametrize("flag", ["--check-minutes", "--hours", "--budget-usd"])
@pytest.mark.parametrize("value", ["nan", "inf", "-1"])
def test_a_limit_that_is_no_number_is_one_line(tmp_path, flag, value):
    made = Repaired.duel(tmp_path)
    made.commit("")
    done = made.repair("--env", "duel", "--candidate", "mine", "--agent", "scripted", flag, value)
    assert done.returncode == 4
    assert done.stderr.startswith(f"twinstep: {flag} ")


def test_a_branch_that_cannot_be_set_is_one_line_and_nothing_is_lost(tmp_path, capsys):
    root = tmp_path / "user"
    root.mkdir()
    (root / "a").write_text("1")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "begin")
    user = Repository(root, Path())
    base = user.head()
    run = tmp_path / "run"
    run.mkdir()
    own = Commits.of(run / "commits.git", user, base)
    newest = own.commit(base, {"a": File(FILE, b"2")}, "")
    # A branch of the name that a folder of branches needs.
    git(root, "branch", "twinstep")
    command._deliver(own, user, run, newest, base)
    said = capsys.readouterr().err
    assert said.startswith("twinstep: branch twinstep/run could not be set (git update-ref fails: ")
    fetched = said.rpartition("`git fetch ")[2].rstrip("`\n").split()
    git(root, "fetch", "--quiet", *fetched)
    assert git(root, "show", "FETCH_HEAD:a") == b"2"


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"no hexadecimal digits", None])
def test_a_key_that_is_none_is_one_line(tmp_path, data):
    file = tmp_path / "holdout.key"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(UserError, match=r"holdout\.key cannot be read"):
        command._key(file)


def test_a_line_that_was_cut_off_is_no_entry(tmp_path):
    journal = Journal(tmp_path)
    journal.done("begin", dict)
    journal.done("check", lambda: {"good": True})
    path = tmp_path / "log.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    again = Journal(tmp_path)
    assert [entry["kind"] for entry in again.entries] == ["begin"]
    again.done("begin", never)
    again.done("check", lambda: {"good": False})
    assert [entry.get("good") for entry in Journal(tmp_path).entries] == [None, False]


def test_a_journal_of_another_course_is_refused(tmp_path):
    Journal(tmp_path).done("check", dict)
    with pytest.raises(UserError, match="has 'check' where 'try' is due.*begin a new run"):
        Journal(tmp_path).done("try", never)


def test_more_tries_take_the_end_back_and_keep_its_line(tmp_path):
    journal = Journal(tmp_path)
    journal.done("begin", dict)
    journal.done("end", lambda: {"code": 1})
    Journal(tmp_path).grant(3)
    again = Journal(tmp_path)
    assert (again.more, [entry["kind"] for entry in again.entries]) == (3, ["begin"])
    assert '"end"' in (tmp_path / "log.jsonl").read_text()


@pytest.mark.parametrize(
    ("how", "said", "dollars"),
    [
        ("json:total_cost_usd", '{"type": "result", "total_cost_usd": 0.25}', 0.25),
        ("json:usage.cost", 'noise\n{"usage": {"cost": 1}}\n{"other": 2}\n', 1.0),
        ("json:total_cost_usd", "it broke off", None),
        ("json:is_error", '{"is_error": true}', None),
        (r"regex:\$([0-9.]+) session", "Cost: $0.1 message, $0.1 session.\n$0.3 session", 0.3),
        (r"regex:\$([0-9.]+) session", "nothing", None),
        ("", '{"total_cost_usd": 0.25}', None),
    ],
)
def test_a_cost_is_what_the_agent_says_or_unknown(how, said, dollars):
    assert agents.cost_of(how, said) == dollars


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty folder in which agents are declared."""
    monkeypatch.chdir(tmp_path)
    return lambda table: (tmp_path / "pyproject.toml").write_text(table)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_command_and_needs_no_project(project, name):
    found = agents.find(name, PRESETS)
    assert found.command[0] == name
    assert found.env


def test_a_project_replaces_a_preset(project):
    project('[tool.twinstep.agents.claude]\ncommand = "mine {prompt}"\ntimeout = 3\n')
    found = agents.find("claude", PRESETS)
    assert (found.command, found.timeout, found.cost) == (("mine", "{prompt}"), 3.0, "")


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("", "unknown agent 'claud'; did you mean 'claude'?"),
        ("[tool.twinstep.agents.claud]\ntimeout = 3", "needs a `command`"),
        ('[tool.twinstep.agents.claud]\ncommand = "x"\ntime = 3', "`time = 3` is not understood"),
        ('[tool.twinstep.agents.claud]\ncommand = "x"\ntimeout = "3"', "is not understood"),
        ('[tool.twinstep.agents.claud]\ncommand = "x"\ncost = "dollars"', "cost is `json:KEY`"),
        ('[tool.twinstep.agents.claud]\ncommand = "x"\ncost = "regex:("', "no regular expression"),
        ('[tool.twinstep.agents.claud]\ncommand = "x \'y"', "is no command line"),
        ('[tool.twinstep.agents.claud]\ncommand = " "', "names no program"),
        ('[tool.twinstep.agents.claud]\ncommand = "x"\ntimeout = nan', "seconds above 0, not nan"),
        ('[tool.twinstep.agents.claud]\ncommand = "x"\ntimeout = -1', "seconds above 0, not -1"),
    ],
)
def test_an_agent_that_is_not_declared_right_is_one_line(project, table, says):
    project(table)
    with pytest.raises(UserError) as refused:
        agents.find("claud", PRESETS)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


ECHO = "import os, sys; print(open(sys.argv[1]).read() if sys.argv[1:] else sys.stdin.read())"


@pytest.mark.parametrize("words", [(), (agents.PROMPT,)])
def test_the_prompt_comes_as_a_file_or_on_standard_input(tmp_path, words):
    agent = agents.Agent("echo", (sys.executable, "-c", ECHO, *words))
    ended, cost = agents.ask(agent, "do it\n" * 20000, tmp_path, tmp_path / "1.log", {}, 60.0)
    assert ended.said.count("do it") == 20000
    assert (ended.code, cost) == (0, None)


def test_an_agents_log_keeps_none_of_its_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("A_KEY", "hush-hush")
    monkeypatch.setenv("ANOTHER_KEY", "of no concern")
    said = "import os; print(os.environ['A_KEY'], os.environ.get('ANOTHER_KEY'))"
    # Early in a long log too, of which only the end is read back.
    said += "; print('.' * (2 << 20))"
    agent = agents.Agent("tells", (sys.executable, "-c", said), env=("A_KEY",))
    agents.ask(agent, "", tmp_path, tmp_path / "1.log", {}, 60.0)
    assert (tmp_path / "1.log").read_text().startswith("*** None\n...")


def test_what_an_agent_has_locked_is_seen_as_not_readable(tmp_path):
    """As a user without root's powers, whom rights stop: in a process of its own."""
    program = f"""
import os, sys
sys.path[:0] = {[p for p in sys.path if p]!r}
from pathlib import Path
from twinstep.project.workspace import read_file, snapshot
from twinstep._lib.removal import remove
if os.geteuid() == 0:
    os.setuid(65534)
folder = Path({str(tmp_path)!r}, "mine")
(folder / "locked" / "inner").mkdir(parents=True)
(folder / "a.py").write_text("1")
before = snapshot(folder)
os.chmod(folder / "a.py", 0)
os.chmod(folder / "locked", 0)
after = snapshot(folder, before)
assert after == {{"a.py": "not readable", "locked": "not readable"}}, after
assert read_file(folder, "a.py") is None and read_file(folder, "locked/inner/x") is None
remove(folder)
"""
    for place in (tmp_path, *tmp_path.parents):
        if place.stat().st_uid == os.geteuid() and place != Path("/tmp"):
            place.chmod(0o777)
        if place.parent == Path("/tmp"):
            break
    subprocess.run([sys.executable, "-I", "-c", program], check=True, cwd=tmp_path)


def test_no_agent_is_asked_where_the_disk_is_full_or_the_reference_missing(tmp_path, monkeypatch):
    bench = attempt.Workbench(tmp_path, None, tmp_path, None, None)
    monkeypatch.setattr(attempt, "ROOM", 1 << 60)
    with pytest.raises(UserError, match=r"has room for .* free some, then `twinstep repair"):
        bench.ask(1, {}, "", "", 1.0)
    probe = Probe({}, "no such library", "pip install it")
    pair = SimpleNamespace(subject=SimpleNamespace(label="duel", probe=probe))
    monkeypatch.setattr(command, "_pairs", lambda env, candidate: [pair])
    with pytest.raises(UserError, match="duel: no such library: pip install it"):
        command._require_reference(None, None)


@needs_namespaces
def test_of_an_agents_state_a_renewed_key_comes_back_and_nothing_else(tmp_path, monkeypatch):
    """A hook in its settings would be run by its next session, outside all walls."""
    home, scratch, work = (tmp_path / name for name in ("home", "scratch", "work"))
    (home / "logs").mkdir(parents=True)
    key, lone = home / "key.json", tmp_path / "lone.json"
    key.write_text('{"token": "old"}')
    lone.write_text('{"token": "old"}')
    (home / "link").symlink_to(key)
    scratch.mkdir()
    work.mkdir()
    agent = agents.Agent("a", (), state=(str(home), str(lone), str(tmp_path / "none")),
                         returns=(str(key), str(lone), str(home / "link")))  # fmt: skip
    state = StateCopy(agent.state, scratch / "state")
    program = f"""
import os
home = {str(home)!r}
assert open(home + "/key.json").read() == '{{"token": "old"}}'
for name in ("settings.json", "key.json", "logs/one"):
    open(os.path.join(home, name), "w").write('{{"token": "new"}}')
os.unlink(home + "/link"); os.symlink("/etc/passwd", home + "/link")
open({str(lone)!r}, "w").write("no JSON")
"""
    view = sandbox.view_of(scratch, work, tmp_path / "none", state.shown)
    done = subprocess.run(
        walled([sys.executable, "-c", program]), env=variables(view), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert key.read_text() == '{"token": "old"}'
    assert state.give_back(agent.returns) == [str(key)]
    assert key.read_text() == '{"token": "new"}'
    assert key.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in home.iterdir()) == ["key.json", "link", "logs"]
    assert not list((home / "logs").iterdir())
    assert lone.read_text() == '{"token": "old"}'
    assert state.give_back(agent.returns) == []
    monkeypatch.setattr(agent_state, "TOTAL", 10)
    with pytest.raises(UserError, match="name the parts that it needs in `state`"):
        StateCopy(agent.state, scratch / "again")


def test_a_check_that_does_not_apply_is_known_by_its_name_and_row_and_pair():
    checks = {
        "interactions/test_batches.py::test_compiled_equals_eager": "needs candidate.eager",
        "a.py::test_rows[same-step]": "needs this auto-reset",
    }
    pairs = {"p": {"does_not_apply": checks}, "q": {"does_not_apply": {}}}
    found = verifier.Result(verdict={"pairs": pairs})
    for place in ("", "twinstep/", "tree/twinstep/"):
        eager = f"{place}interactions/test_batches.py::test_compiled_equals_eager"
        assert found.does_not_apply(f"{eager}[p]")
        assert not found.does_not_apply(f"{eager}[q]"), "of a pair that offers it"
        assert not found.does_not_apply(f"other_{eager}[p]") or place
    assert found.does_not_apply("twinstep/a.py::test_rows[p-same-step]")
    assert not found.does_not_apply("twinstep/a.py::test_rows[p-off]"), "another row of it"
    assert not found.does_not_apply("twinstep/a.py::test_row[p]")


def test_a_run_without_episodes_does_not_say_verified():
    assert loop.word_of_success("every check passed") == "verified"
    made = object.__new__(loop.Loop)
    made._phases = (1, 2)
    assert made._asked() == "no episode was played, but every check of phase 1 and 2"
    assert loop.word_of_success(f"{made._asked()} passed") == "not verified"
    made._phases = (3,)
    assert made._asked() == "every check"


def test_of_an_endless_log_the_end_is_kept_without_secrets(tmp_path, monkeypatch):
    """A sparse file of terabytes was read whole, after the agent had been paid."""
    monkeypatch.setenv("A_KEY", "hush-hush")
    said = "import os; os.ftruncate(1, 8 << 40); os.lseek(1, 0, 2); print(os.environ['A_KEY'])"
    agent = agents.Agent("long", (sys.executable, "-c", said), env=("A_KEY",))
    agents.ask(agent, "", tmp_path, tmp_path / "1.log", {}, 60.0)
    text = (tmp_path / "1.log").read_text()
    assert text.startswith("(the first part of 8796093022")
    assert text.endswith("***\n")


def test_an_agents_words_are_no_error_whatever_they_are(tmp_path):
    assert agents.cost_of("json:cost", "[" * 100_000) is None
    agent = agents.Agent("echo", (sys.executable, "-c", ECHO))
    ended, _ = agents.ask(agent, "a\udcffb", tmp_path, tmp_path / "1.log", {}, 60.0)
    assert ended.said == "a\\udcffb\n"


def test_names_of_files_say_nothing_to_a_terminal():
    name = "a\nverified: merge it\x1b[2J\udcff\u202e"
    assert workspace.printable(name) == r"a\nverified: merge it\x1b[2J\udcff\u202e"


def test_folders_beside_each_other_need_no_more_descriptors_than_one(tmp_path):
    for number in range(300):
        (tmp_path / f"d{number}").mkdir()
        (tmp_path / f"d{number}" / "a").write_text("1")
    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 60, most))
    try:
        assert len(snapshot(tmp_path)) == 300
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, most))


def test_a_command_that_is_not_there_is_one_line(tmp_path):
    agent = agents.Agent("none", ("no-such-program",))
    with pytest.raises(UserError, match="agent 'none' cannot be started: no-such-program"):
        agents.ask(agent, "", tmp_path, tmp_path / "1.log", {}, 60.0)


def test_only_named_files_may_be_edited_and_none_that_decides_what_is_built():
    globs = ("generated/pong/**", "rust/pong/**")
    assert may_edit(globs, "generated/pong/ball.py")
    assert may_edit(globs, "rust/pong/src/lib.rs")
    assert not may_edit(globs, "generated/pokejax/move.py")
    assert not may_edit(globs, "rust/pong/Cargo.toml")


@pytest.mark.parametrize(
    "path", ["fast/.gitattributes", "fast/.GitModules", "fast/.git/config", "fast/git~1/x",
             "fast/a\u200d.py", "fast/a\n.py", "fast/a\\b.py", "fast/a\udcff.py",
             "fast/verdict.json", "fast/Mutants.toml", "fast/rust-toolchain.toml",
             "fast/package.json", "fast/.vscode/tasks.json", "fast/.claude/settings.json"],
)  # fmt: skip
def test_what_git_a_tool_or_the_file_system_could_read_in_its_own_way_may_not_be_edited(path):
    assert not may_edit(("**",), path)
    assert may_edit(("**",), "fast/rules.py")


def test_what_changed_is_seen_file_by_file_and_links_as_links(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "same.py").write_text("1")
    (tmp_path / "gone.py").write_text("1")
    before = snapshot(tmp_path)
    (tmp_path / "gone.py").unlink()
    (tmp_path / "inner" / "new.py").write_text("2")
    (tmp_path / "inner" / "new.py").chmod(0o755)
    (tmp_path / "link.py").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "same.pyc").write_text("")
    touched = changed(before, snapshot(tmp_path))
    assert touched == ["gone.py", "inner/new.py", "link.py", "pipe"]
    assert [read_file(tmp_path, path) for path in touched] == [
        None, ("100755", b"2"), ("120000", b"/etc/hostname"), None
    ]  # fmt: skip


def test_nothing_is_read_through_a_folder_that_became_a_link(tmp_path):
    outside, mine = tmp_path / "outside", tmp_path / "mine"
    for folder in (outside, mine):
        folder.mkdir()
    (outside / "key").write_text("secret")
    (mine / "folder").symlink_to(outside)
    assert snapshot(mine) == {"folder": f"link to {outside}"}
    assert read_file(mine, "folder/key") is None


@pytest.mark.parametrize("number", [3000, 70])
def test_a_folder_beyond_all_measure_is_refused(tmp_path, number):
    # pytest itself could not remove it.
    with scratch_folder("deep-", tmp_path) as folder:
        before = snapshot(folder)
        nested(folder, number)
        with pytest.raises(TooMuch, match="more than 64 folders deep"):
            snapshot(folder, before)


def test_more_files_or_bytes_than_any_implementation_has_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "MOST", 3)
    monkeypatch.setattr(workspace, "TOTAL", 100)
    for number in range(5):
        (tmp_path / f"{number}.py").write_text("x" * 60)
    before = snapshot(tmp_path)
    assert snapshot(tmp_path, before) == before
    (tmp_path / "new.py").write_text("x" * 101)
    with pytest.raises(TooMuch, match="MB of new files"):
        snapshot(tmp_path, before)
    (tmp_path / "new.py").write_text("")
    for number in range(3):
        (tmp_path / f"more{number}.py").write_text("")
    with pytest.raises(TooMuch, match="more than 3 new files"):
        snapshot(tmp_path, before)


def test_what_a_verdict_hangs_on_is_watched(tmp_path, monkeypatch):
    made = Repaired.duel(tmp_path)
    made.commit("")
    monkeypatch.chdir(made.folder)
    places = tamper_check.watched(made.folder, tmp_path / "run")
    packages = [Path(name) for name in site.getsitepackages()]
    for place in (*packages, *map(Path, twinstep.__path__), made.folder / ".git" / "hooks"):
        assert place in places


def test_a_change_is_seen_whose_size_and_time_were_restored(tmp_path):
    for name in ("a.py", "b.pyc", "c.py"):
        (tmp_path / name).write_text("right")
    before = tamper_check.states([tmp_path])
    about = (tmp_path / "a.py").stat()
    (tmp_path / "a.py").write_text("wrong")
    os.utime(tmp_path / "a.py", ns=(about.st_atime_ns, about.st_mtime_ns))
    assert (tmp_path / "a.py").stat().st_mtime_ns == about.st_mtime_ns
    after = tamper_check.states([tmp_path])
    assert tamper_check.damaged(before, after) == [str(tmp_path / "a.py")]


def test_a_cache_gets_what_references_need_and_no_traces(tmp_path, monkeypatch):
    monkeypatch.setenv("TWINSTEP_CACHE", str(tmp_path / "mine"))
    for name in ("oracles/one/file", "traces/two"):
        (tmp_path / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / name).write_text(name)
    with_references(tmp_path / "run")
    found = [p.relative_to(tmp_path / "run") for p in (tmp_path / "run").rglob("*") if p.is_file()]
    assert found == [Path("oracles/one/file")]
    with_references(tmp_path / "run")


def test_a_module_that_fails_without_a_report_is_told_in_its_tests_words(tmp_path, monkeypatch):
    """It panics, for example; another module's bug belongs in another prompt."""
    monkeypatch.setattr(checks.report, "read", lambda path: {"suspects": [{"module": "ball"}],
                                                             "case": {}})  # fmt: skip
    (tmp_path / "aa.md").write_text("about ball")
    why = {"test[p-ball]": "report aa", "test[p-side]": "it panics", "more[p-side]": "it panics"}
    found = checks.CheckResult("level 1", False, 0, tuple(why), why, "", ("aa",), "ball")
    told = checks.Checks(None, SimpleNamespace(reports=tmp_path), "base")
    assert told.text(found, "side") == "3 of 3 fail:\nit panics"
    assert told.text(found, "ball") == told.text(found, "") == "about ball"


def test_what_a_failure_says_last_is_no_rule_of_a_group():
    group = ExceptionGroup("two", [ValueError("first"), KeyError("second")])
    assert _last_words("".join(traceback.format_exception(group))) == "KeyError: 'second'"
    assert _last_words("Traceback\n  a line\nValueError: it\n") == "ValueError: it"
    assert _last_words(" \n") == "it failed without a word"


@pytest.mark.parametrize("apart", [False, pytest.param(True, marks=needs_namespaces)])
def test_a_library_in_rust_is_built_from_the_checkout(tmp_path, apart):
    project, run = tmp_path / "project", tmp_path / "run"
    source = tiny_rust.write(project, 'pub extern "C" fn one() -> i32 { 1 }')
    made = cargo.build(project, ("rust/tiny/**",), run, apart)
    built = project / ".twinstep" / "built" / "tiny.abi3.so"
    assert built.is_file()
    assert made["PYTHONPATH"].startswith(str(built.parent))
    source.write_text("fn one() -> i32 { true }")
    with pytest.raises(UserError, match=r"(?s)it does not compile:.*mismatched types"):
        cargo.build(project, ("rust/tiny/**",), run, apart)


@needs_namespaces
def test_a_compiler_sees_no_secret_that_sources_could_have_it_say(tmp_path, monkeypatch):
    """A blank before `!` passed the screening, and the error came back in the next prompt."""
    run, home = tmp_path / "run", tmp_path  # the run may lie where a compiler has to look
    run.mkdir()
    for place in (key := run / "holdout.key", login := home / "credentials.toml"):
        place.write_text("hush-hush")
    monkeypatch.setenv("CARGO_HOME", str(home))
    monkeypatch.setenv("A_KEY", "hush-hush")
    read = 'const X: &str = include_str ! ("{}"); const Y: () = panic!("{{}}", X);'
    asks = 'const X: Option<&str> = option_env ! ("A_KEY"); const Y: () = panic!("{}", X.unwrap());'
    for number, text in enumerate((read.format(key), read.format(login), asks)):
        project = tmp_path / f"project{number}"
        tiny_rust.write(project, text)
        with pytest.raises(UserError, match="hush-hush"):
            cargo.build(project, ("rust/tiny/**",), run, apart=False)
        with pytest.raises(UserError, match="does not compile") as said:
            cargo.build(project, ("rust/tiny/**",), run, apart=True)
        assert "hush-hush" not in str(said.value)
        # It ran, and found no file, an empty one, or no variable.
        assert re.search("couldn't read|evaluation panicked: \n|`None`", str(said.value))


def test_a_library_that_is_a_link_is_not_taken(tmp_path, monkeypatch):
    project, run = tmp_path / "project", tmp_path / "run"
    tiny_rust.write(project, 'pub extern "C" fn one() -> i32 { 1 }')
    (run / "target").mkdir(parents=True)
    (tmp_path / "secret").write_text("hush-hush")
    (run / "target" / "libtiny.so").symlink_to(tmp_path / "secret")
    found = [run / "target" / "libtiny.so"]
    monkeypatch.setattr(cargo, "compiled", lambda *_, **__: found)
    with pytest.raises(UserError, match=r"no library libtiny\.so"):
        cargo.build(project, ("rust/tiny/**",), run, apart=False)


def test_python_alone_needs_no_build(tmp_path):
    assert cargo.build(tmp_path, ("generated/pong/**",), tmp_path / "run", True) == {}


def test_a_commit_is_compiled_as_it_is_whatever_was_compiled_before(tmp_path):
    """Cargo goes by the times of files, and these lie in a new folder each time."""
    root, run = tmp_path / "project", tmp_path / "run"
    source = '#[unsafe(no_mangle)]\npub extern "C" fn answer() -> i32 {\n    NUMBER\n}\n'
    tiny_rust.write(root, source)
    run.mkdir()
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "begin")
    base = git(root, "rev-parse", "HEAD").decode().strip()
    own = Commits.of(tmp_path / "own", Repository(root, Path()), base)
    commits = {}
    for number, text in ((1, "1"), (2, "2"), (3, "not a number")):
        changed_file = File(FILE, source.replace("NUMBER", text).encode())
        commits[number] = own.commit(base, {"rust/tiny/src/lib.rs": changed_file}, text)
    for place, number in enumerate((1, 2, 1, 1, 3, 2, 3, 1)):
        folder = tmp_path / f"check-{place}"
        folder.mkdir()
        project = own.unpack(commits[number], folder)
        if number == 3:
            with pytest.raises(UserError, match="does not compile"):
                cargo.build(project, ("rust/tiny/**",), run, apart=False)
            assert not list(run.glob("built-*")), "another crate of it may have been compiled"
            continue
        cargo.build(project, ("rust/tiny/**",), run, apart=False)
        (library,) = (project / ".twinstep" / "built").iterdir()
        assert ctypes.CDLL(library).answer() == number
        compiled = '"fresh":false' in (run / "build.log").read_text()
        assert compiled == (place != 3), "what is known is compiled again, or not at all"


def test_a_command_ends_with_what_it_started(tmp_path):
    log = tmp_path / "log"
    ended = processes.run(
        ["sh", "-c", "setsid sleep 1000 & sleep 1000 & echo said"], tmp_path, {}, 20.0, log
    )
    assert (ended.code, ended.said, ended.leftovers) == (0, "said\n", 2)


DUEL = ("--env", "duel", "--candidate", "mine", "--agent", "scripted")


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    made = Repaired.duel(tmp_path_factory.mktemp("ready"))
    made.commit("")
    return made


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((), "say --env and --agent, or --resume and a run's name"),
        (("--env", "deul", "--agent", "scripted"), "did you mean 'duel'?"),
        ((*DUEL[:2], "--candidate", "mien", *DUEL[4:]), "did you mean 'mine'?"),
        ((*DUEL[:4], "--agent", "scirpted"), "did you mean 'scripted'?"),
        ((*DUEL[:2], "--candidate", "vector", *DUEL[4:]), "declares no `edit`"),
        ((*DUEL, "--tries", "0"), "--tries 0: must be above 0"),
        ((*DUEL, "--phases", "21"), "--phases 21: digits of 1 to 4 in order"),
        (("--resume", "nothing"), "unknown run 'nothing'"),
        (("--env", "duel", "--agent", "codex", "--candidate", "mine", "--budget-usd", "1"),
         "agent 'codex' does not say what it costs"),
        (("--env", "duel", "--agent", "aider", "--candidate", "mine"), "there is no program aider"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line_and_exit_code_4(ready, args, says):
    done = ready.repair(*args)
    assert done.returncode == 4, done.stdout + done.stderr
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (ready.folder / ".twinstep" / "runs").exists()


def test_a_changed_file_must_be_committed_first(ready):
    rules = ready.project.rules
    text = rules.read_text()
    rules.write_text(text + "\n")
    done = ready.repair(*DUEL)
    rules.write_text(text)
    assert done.returncode == 4
    assert done.stderr == (
        "twinstep: fastduel/rules.py is changed: commit it first, a run begins from a commit\n"
    )


def test_without_a_repository_there_is_nothing_to_begin_from(tmp_path):
    made = Repaired.duel(tmp_path)
    done = made.repair(*DUEL)
    assert done.returncode == 4
    assert "this folder is in no git repository" in done.stderr
    assert "git init && git add . && git commit" in done.stderr


def test_a_run_that_is_under_way_is_not_begun_twice(tmp_path):
    made = Repaired.duel(tmp_path)
    made.commit("")
    run = made.folder / ".twinstep" / "runs" / "one"
    run.mkdir(parents=True)
    (run / "log.jsonl").write_text(json.dumps({"kind": "begin"}) + "\n")
    with (run / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = made.repair("--resume", "one")
    assert done.returncode == 4
    assert "run one is under way in another process" in done.stderr
