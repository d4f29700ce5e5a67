"""The order of levels, own tests and other variants in a campaign, and its repeated checks."""

import json

import pytest

from twinstep.mutation import command, runner
from twinstep.mutation.campaign import Plan, prepare
from twinstep.mutation.check_order import Watch
from twinstep.mutation.command import command_of
from twinstep.mutation.report import markdown
from twinstep.mutation.results import ResultFile, settled_before
from twinstep.mutation.verdict import Judgement
from twinstep.tests.support.campaign_rows import row_of, survivor_of


@pytest.fixture
def campaign():
    return prepare(Plan("pong", "jax", sample=6))


EARLY, LATE = [{"levels": (1, 2)}], [{"levels": (3,)}, {"elsewhere": True}]


@pytest.mark.parametrize(
    ("env", "candidate", "order"),
    [
        ("pong", "jax", [*EARLY, "own", *LATE]),
        ("halfcheetah", "jax64", [*EARLY, "own", *LATE]),
        ("pong", "rust", [{"levels": (1, 2, 3)}, "own", {"elsewhere": True}]),
        ("pokejax", "jax", [{"levels": (1, 2, 3)}, {"elsewhere": True}, "own"]),
    ],
)
def test_what_tells_soonest_is_asked_first_and_survivors_are_asked_everything(
    monkeypatch, tmp_path, env, candidate, order
):
    campaign = prepare(Plan(env, candidate, sample=3))
    asked_for = []

    def found(campaign, mutants, count, show, folder, work):
        asked_for.append(work.keywords)
        levels = work.keywords.get("levels", ())
        for mutant in mutants:
            yield survivor_of(campaign, mutant.id) | {"seconds": {str(n): 0.1 for n in levels}}

    def own(env, ref, rows, *_):
        asked_for.append("own")
        return iter(())

    monkeypatch.setattr(command, "rows", found)
    monkeypatch.setattr(command, "run_own_tests", own)
    list(command._asked(campaign, 1, print, tmp_path))
    assert asked_for == order
    for row in campaign.rows:
        assert set(row["seconds"]) == {"1", "2", "3"}
        assert row["everywhere"]


def test_what_own_tests_notice_or_is_proven_is_not_asked_of_level_3_and_what_that_notices_is_killed(
    campaign, monkeypatch, tmp_path
):
    names = [mutant.id for mutant in campaign.mutants[:3]]
    campaign.rows = [row_of(campaign, names[0]), *(survivor_of(campaign, n) for n in names[1:])]
    campaign.equivalent = {names[2]: "why"}
    campaign.rows[1]["effect"] = {}
    campaign.rows[2]["class"] = "equivalent"
    asked_for = []

    def found(campaign, mutants, count, show, folder, work):
        asked_for.append([mutant.id for mutant in mutants])
        kills = {"3": {"check": "c", "how": "difference", "detail": "d"}}
        more = {"first": 3, "kills": kills, "seconds": {"3": 2.0}}
        yield row_of(campaign, names[1]) | more

    monkeypatch.setattr(command, "rows", found)
    for _ in range(2):
        list(command.late(campaign, 1, print, tmp_path))
    assert asked_for == [names[1:2]]
    assert [row["class"] for row in campaign.rows] == ["killed", "killed", "equivalent"]
    row = campaign.rows[1]
    assert (row["first"], row["seconds"]) == (3, {"1": 0.5, "3": 2.0})
    assert not row.keys() & {"diff", "effect"}


def test_a_pass_asks_its_levels_and_those_to_be_asked_at_every_level_all(
    campaign, monkeypatch, tmp_path
):
    first, *_, last = campaign.mutants
    campaign.plan = Plan("pong", "jax", sample=6, matrix=1, alone=True)
    asked_for = []

    def judged(reference, pair, mutant, question, watch):
        asked_for.append((mutant and mutant.id, question.levels))
        return Judgement({}, dict.fromkeys(question.levels, 0.0))

    monkeypatch.setattr(runner, "judge", judged)
    for mutants in ([last], [last, first]):
        bench = runner.MutantRunner(campaign, Watch(), tmp_path, mutants, (1, 2))
        for mutant in mutants:
            bench.row(mutant, {}, elsewhere=False)
        bench.row(last, {}, elsewhere=True)
        bench.close()
    few, every = (1, 2), (1, 2, 3)
    others = [pair for one in campaign.pairs[1:] for pair in ((None, every), (last.id, every))]
    want = [(None, few), (last.id, few), *others]
    want += [(None, every), (last.id, few), (first.id, every), *others]
    assert asked_for == want


def test_an_equivalent_bug_is_asked_again_unless_levels_1_and_2_were(campaign, tmp_path):
    names = [mutant.id for mutant in campaign.mutants[:2]]
    campaign.rows = [survivor_of(campaign, name) for name in names]
    campaign.rows[1]["seconds"] = {"1": 0.5, "2": 0.5}
    ResultFile(tmp_path / "pong", campaign, 1, command_of(campaign.plan)).write(stopped=True)
    campaign.equivalent = dict.fromkeys(names, "why")
    assert [row["id"] for row in settled_before(tmp_path / "pong", campaign)] == names[1:]


@pytest.mark.parametrize(
    ("early", "said"),
    [([1, 2], "before level 3 and the other variants"), ([1, 2, 3], "before the other variants"),
     (True, "before the other variants"), ([], ""), (False, "")]
)  # fmt: skip
def test_a_table_says_what_own_tests_were_asked_before(campaign, tmp_path, early, said):
    campaign.rows = [row_of(campaign, campaign.mutants[0].id) | {"own": True}]
    ResultFile(tmp_path / "pong", campaign, 1, command_of(campaign.plan)).write(stopped=False)
    found = json.loads((tmp_path / "pong.json").read_text())
    assert found["own_first"] == [1, 2]
    text = markdown(found | {"own_first": early})
    assert f"of its own ({said}), until" in text if said else "of its own, until" in text
    assert f"own tests, asked {said}:" in text if said else "own tests only:" in text


def test_a_table_says_how_many_equivalent_bugs_were_not_asked_the_last_level(campaign, tmp_path):
    equal = [survivor_of(campaign, mutant.id) | {"class": "equivalent", "reason": "why"}
             for mutant in campaign.mutants[:3]]  # fmt: skip
    equal[2]["seconds"] = {"1": 0.5, "2": 0.5, "3": 0.5}
    file = ResultFile(tmp_path / "pong", campaign, 1, command_of(campaign.plan))
    texts = []
    for campaign.rows in (equal, equal[2:]):
        file.write(stopped=False)
        texts.append(markdown(json.loads((tmp_path / "pong.json").read_text())))
    assert "adapter; 2 of these were not asked level 3." in texts[0]
    assert "beside the candidate's adapter.\n" in texts[1]


def test_what_another_variant_notices_is_killed_there_and_what_none_does_is_asked_once(
    campaign, monkeypatch, tmp_path
):
    names = [mutant.id for mutant in campaign.mutants[:3]]
    campaign.rows = [row_of(campaign, names[0]), *(survivor_of(campaign, n) for n in names[1:])]
    asked_for = []

    def found(campaign, mutants, count, show, folder, work):
        asked_for.append([mutant.id for mutant in mutants])
        assert work.keywords == {"elsewhere": True}
        yield row_of(campaign, names[2]) | {"variant": "fs1", "seconds": {"2": 9.0}}
        yield survivor_of(campaign, names[1]) | {"variant": "fs1", "seconds": {"3": 9.0}}

    monkeypatch.setattr(command, "rows", found)
    for _ in range(2):
        list(command.elsewhere(campaign, 1, print, tmp_path))
    assert [set(some) for some in asked_for] == [set(names[1:])]
    classes = [(row["class"], row["variant"], "diff" in row) for row in campaign.rows]
    assert classes == [
        ("killed", "fs8", False),
        ("survivor", "fs8", True),
        ("killed", "fs1", False),
    ]
    # Each row's seconds are those of its variant.
    assert [row["seconds"] for row in campaign.rows] == [{"1": 0.5}, {"1": 0.5}, {"2": 9.0}]


def test_a_table_that_was_stopped_says_how_many_survivors_may_yet_be_killed(campaign, tmp_path):
    campaign.rows = [survivor_of(campaign, mutant.id) for mutant in campaign.mutants[:4]]
    asked = {"own": False, "everywhere": True}
    whole = {"seconds": {"1": 0.5, "2": 0.5, "3": 0.5}}
    for row, more in zip(campaign.rows, (asked, whole, asked | whole, whole), strict=True):
        row |= more
    campaign.rows[3] |= {"everywhere": True}
    file = ResultFile(tmp_path / "pong", campaign, 1, command_of(campaign.plan))
    texts = []
    for stopped in (True, False):
        file.write(stopped)
        texts.append(markdown(json.loads((tmp_path / "pong.json").read_text())))
    assert "4 survive; 3 were not yet asked of everything." in texts[0]
    assert "4 survive. Not counted" in texts[1]
