"""Mutation campaigns: a bug that ends a process is one level's verdict; no result is lost."""

import contextlib
import errno
import json
import os
import signal
import time
from dataclasses import replace

import pytest

from twinstep.cli import main
from twinstep.errors import UserError
from twinstep.mutation import command, runner, workers
from twinstep.mutation.campaign import Plan, prepare
from twinstep.mutation.check_order import Watch
from twinstep.mutation.command import command_of
from twinstep.mutation.planting import source_files
from twinstep.mutation.report import markdown
from twinstep.mutation.results import ResultFile
from twinstep.mutation.verdict import Judgement, Kill
from twinstep.mutation.workers import rows
from twinstep.tests.support.campaign_rows import row_of

pytestmark = pytest.mark.e2e


@pytest.fixture
def campaign():
    return prepare(Plan("pong", "jax", sample=6))


def _answers(pipe, plan, names, core, folder):
    """Return the settled kills; exit, hang or fail depending on the bug's place in the campaign."""
    campaign = prepare(plan)
    places = {mutant.id: place for place, mutant in enumerate(campaign.mutants)}
    pipe.send(("at", None, 1, "check", 60.0))
    pipe.send(("ready",))
    while (asked := pipe.recv()) is not None:
        name, settled = asked
        pipe.send(("at", "fs8", 1, "one", 60.0))
        pipe.send(("at", "fs8", 2, "two", 0.5))
        if places[name] == 1 and not settled:
            os._exit(0)
        if places[name] == 2 and not settled:
            time.sleep(600)
        known = {level: (kill.how, kill.check) for (_, level), kill in settled.items()}
        pipe.send(("row", {"id": name, "known": known}))


def _ends_at_once(pipe, plan, names, core, folder):
    pipe.send(("ready",))
    pipe.recv()
    pipe.send(("at", None, 3, "some check", 60.0))
    os._exit(1)


def _breaks(pipe, plan, names, core, folder):
    pipe.send(("error", "Traceback: of this program"))


@pytest.mark.parametrize("count", [1, 2])
def test_a_bug_that_ends_or_stops_its_process_is_noticed_by_that_level_alone(
    campaign, monkeypatch, tmp_path, count
):
    monkeypatch.setattr(workers, "GRACE", 0.5)
    found = list(rows(campaign, campaign.mutants, count, lambda text: None, tmp_path, _answers))
    names = [mutant.id for mutant in campaign.mutants]
    assert sorted(row["id"] for row in found) == sorted(names)
    known = {row["id"]: row["known"] for row in found if row["known"]}
    assert known == {names[1]: {2: ("crash", "two")}, names[2]: {2: ("time", "two")}}


def test_a_process_that_ends_without_a_bug_is_no_verdict(campaign, tmp_path):
    with pytest.raises(UserError, match="ended at some check without a planted bug"):
        list(rows(campaign, campaign.mutants, 1, lambda text: None, tmp_path, _ends_at_once))


def test_another_variant_plays_as_many_episodes_as_a_run_does_however_few_the_first_one_does(
    campaign, monkeypatch, tmp_path
):
    """Averages over few episodes differ even between equal candidates."""
    played = []

    def judged(reference, *_):
        played.append(reference.harness.settings.episodes)
        return Judgement({}, {})

    monkeypatch.setattr(runner, "judge", judged)
    for count in (5, 200):
        campaign.plan = replace(campaign.plan, episodes=count)
        bench = runner.MutantRunner(campaign, Watch(), tmp_path)
        for pair in campaign.pairs[:2]:
            bench._prepared(pair)
        bench.close()
    assert played == [5, 100, 200, 200]


def test_the_variant_that_noticed_most_bugs_is_asked_first(campaign, monkeypatch, tmp_path):
    asked_of = []
    third = campaign.name_of(campaign.pairs[3])

    def judged(reference, pair, mutant, question, watch):
        if mutant is not None:
            asked_of.append(watch.variant)
        noticed = mutant is not None and watch.variant == third
        return Judgement({1: Kill(1, "check", "difference", "")} if noticed else {}, {1: 0.0})

    monkeypatch.setattr(runner, "judge", judged)
    campaign.plan = replace(campaign.plan, alone=True)
    bench = runner.MutantRunner(campaign, Watch(), tmp_path)
    for mutant in campaign.mutants[:2]:
        assert bench.row(mutant, {}, elsewhere=True)["variant"] == third
    bench.close()
    assert asked_of == [*map(campaign.name_of, campaign.pairs[1:4]), third]


def test_a_compiled_candidate_is_asked_without_a_bug_before_one_is_compiled_in_its_place(
    monkeypatch, tmp_path
):
    campaign = prepare(Plan("pong", "rust", sample=1))
    asked_of = []

    class Shop:
        def __init__(self, *_):
            self.held = "nothing"

        def build(self, mutant):
            self.held = mutant

    def judged(ask, question, watch, shop):
        asked_of.append((watch.variant, shop.held))
        return Judgement({}, {})

    monkeypatch.setattr(runner, "Workshop", Shop)
    monkeypatch.setattr(runner, "judge", lambda *_: Judgement({}, {}))
    monkeypatch.setattr(runner, "judged", judged)
    bench = runner.MutantRunner(campaign, Watch(), tmp_path)
    bench.begin(elsewhere=True)
    (mutant,) = campaign.mutants
    bench.row(mutant, {}, elsewhere=True)
    bench.close()
    names = [campaign.name_of(pair) for pair in campaign.pairs[1:]]
    assert len(names) > 1
    assert asked_of == [(None, None)] * len(names) + [(name, mutant) for name in names]


def test_an_error_of_the_program_is_no_verdict(campaign, tmp_path):
    with pytest.raises(RuntimeError, match="of this program"):
        list(rows(campaign, campaign.mutants, 1, lambda text: None, tmp_path, _breaks))


def _full_disk(pipe, plan, names, core, folder):
    def full(plan):
        raise OSError(errno.ENOSPC, "No space left on device", "/some/file")

    workers.prepare = full
    workers.work(pipe, plan, names, core, folder)


def test_a_full_disk_is_one_line_and_no_verdict(campaign, tmp_path):
    with pytest.raises(UserError, match="No space left on device: '/some/file'"):
        list(rows(campaign, campaign.mutants, 1, lambda text: None, tmp_path, _full_disk))


def test_bugs_are_asked_by_lot_so_that_those_done_are_a_sample(campaign):
    every = prepare(Plan("pong", "jax"))
    places = [(mutant.path, mutant.line) for mutant in every.mutants]
    assert places != sorted(places)
    assert every.mutants == prepare(Plan("pong", "jax")).mutants
    half = places[: len(places) // 2]
    assert {path for path, _ in half} == {path for path, _ in places}


def test_one_more_byte_in_a_candidates_files_makes_other_sources(campaign, monkeypatch, tmp_path):
    *others, last = source_files(campaign.pair.candidate)
    file = tmp_path / last.file.name
    file.write_bytes(last.file.read_bytes() + b"\n")
    changed = [*others, replace(last, file=file)]
    monkeypatch.setattr("twinstep.mutation.campaign.source_files", lambda ref: changed)
    assert prepare(campaign.plan).sources != campaign.sources != ""


def test_what_is_done_is_kept_and_taken_up_again(campaign, tmp_path, monkeypatch):
    monkeypatch.setattr("twinstep.mutation.results._OFTEN", 0.0)
    stem, command = tmp_path / "pong", command_of(campaign.plan)
    file = ResultFile(stem, campaign, 1, command)
    with pytest.raises(UserError, match="no earlier result"):
        file.begun()
    campaign.rows = [row_of(campaign, mutant.id) for mutant in campaign.mutants[:2]]
    file.keep()
    assert not stem.with_suffix(".json").exists()
    assert ResultFile(stem, campaign, 1, command).begun() == campaign.in_order()
    file.write(stopped=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pong.json", "pong.md"]
    assert ResultFile(stem, campaign, 1, command).begun() == campaign.in_order()
    proven = campaign.mutants[1].id
    campaign.rows[1] |= {"class": "survivor", "kills": {}, "diff": []}
    file.write(stopped=True)
    campaign.equivalent[proven] = "proven since"
    said = json.loads(stem.with_suffix(".json").read_text())
    stem.with_suffix(".json").write_text(json.dumps(said | {"kept": 2}))
    (row,) = [row for row in ResultFile(stem, campaign, 1, command).begun() if row["id"] == proven]
    assert (row["class"], row["reason"]) == ("equivalent", "proven since")
    assert campaign.kept == 2
    with pytest.raises(UserError, match="go on with the same options"):
        ResultFile(stem, campaign, 1, "another command").begun()
    said = json.loads(stem.with_suffix(".json").read_text())
    stem.with_suffix(".json").write_text(json.dumps(said | {"sources": "other"}))
    with pytest.raises(UserError, match="not that of"):
        ResultFile(stem, campaign, 1, command).begun()


@contextlib.contextmanager
def _handled(number, how):
    """Have a signal handled in this way, whatever the caller of pytest ignores, as nohup does."""
    before = signal.signal(number, how)
    try:
        yield
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_campaign_that_is_ended_writes_what_is_done(
    campaign, monkeypatch, tmp_path, capsys, name
):
    number = getattr(signal, name)
    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL

    def found(*_):
        yield row_of(campaign, campaign.mutants[0].id)
        os.kill(os.getpid(), number)
        time.sleep(10)

    monkeypatch.setattr(command, "rows", found)
    options = ["--sample", "6", "--out", str(tmp_path)]
    with _handled(number, usual):
        assert main(["mutants", "pong", *options]) == 130
        assert signal.getsignal(number) == usual
    assert "interrupted" in capsys.readouterr().err
    written = json.loads((tmp_path / "pong.json").read_text())
    assert ([row["id"] for row in written["mutants"]], written["stopped"]) == (
        [campaign.mutants[0].id], True,
    )  # fmt: skip


def test_a_campaign_that_is_ended_leaves_an_earlier_complete_result_as_it_was(campaign, tmp_path):
    file = ResultFile(tmp_path / "pong", campaign, 1, command_of(campaign.plan))
    campaign.rows = [row_of(campaign, mutant.id) for mutant in campaign.mutants]
    file.write(stopped=False)
    before = [(tmp_path / f"pong.{end}").read_bytes() for end in ("json", "md")]
    campaign.rows = campaign.rows[:1]
    file.write(stopped=True)
    assert [(tmp_path / f"pong.{end}").read_bytes() for end in ("json", "md")] == before
    assert [row["id"] for row in file.begun()] == [campaign.mutants[0].id]
    file.write(stopped=False)
    assert not (tmp_path / "pong.part.json").exists()
    assert len(json.loads((tmp_path / "pong.json").read_text())["mutants"]) == 1


def test_a_signal_that_is_ignored_ends_no_command(campaign, monkeypatch, tmp_path):
    def found(*_):
        os.kill(os.getpid(), signal.SIGHUP)
        yield row_of(campaign, campaign.mutants[0].id)

    monkeypatch.setattr(command, "rows", found)
    with _handled(signal.SIGHUP, signal.SIG_IGN):
        assert main(["mutants", "pong", "--sample", "1", "--out", str(tmp_path)]) == 0


def test_the_table_takes_a_levels_share_from_bugs_that_were_asked_at_all(campaign, tmp_path):
    plan = Plan("pong", "jax", sample=6, matrix=1)
    made = prepare(plan)
    made.rows = [row_of(made, mutant.id) for mutant in made.mutants[:3]]
    for row in made.rows[1:]:
        row["full"] = False
    ResultFile(tmp_path / "pong", made, 1, command_of(plan)).write(stopped=False)
    text = markdown(json.loads((tmp_path / "pong.json").read_text()))
    assert "| 1 | 1 of 1, 100.0 %" in text
    assert "3 of 3 mutants are killed" in text
    assert "1 of the mutants, drawn at random, are asked at every level" in text


def test_a_campaign_goes_on_where_it_ended(tmp_path, capsys):
    options = ["mutants", "cartpole", "--sample", "3", "--matrix", "1", "--levels", "1"]
    assert main([*options, "--out", str(tmp_path)]) == 0
    path = tmp_path / "cartpole.json"
    found = json.loads(path.read_text())
    assert [row["class"] for row in found["mutants"]].count("killed") >= 2
    kept = found["mutants"][0] | {"what": "kept"}
    path.write_text(json.dumps(found | {"mutants": [kept]}))
    assert main([*options, "--out", str(tmp_path), "--resume"]) == 0
    again = json.loads(path.read_text())
    assert sorted(row["id"] for row in again["mutants"]) == sorted(
        row["id"] for row in found["mutants"]
    )
    assert kept in again["mutants"]
    assert not again["stopped"]
