"""Text and pictures of `python -m tools.evidence` on training agree with the runs' files."""

import pytest

from tools.evidence import bench_results, curves, document, figures, ratings, time_shares
from tools.evidence.command import main as evidence_main
from tools.evidence.results import Results
from twinstep.errors import UserError
from twinstep.rl import elo
from twinstep.rl.training.settings import TrainingSettings
from twinstep.tests.support.evidence_results import (
    COMMITTED,
    drawn,
    put,
    round_robin,
    rows,
    shares,
    timed,
    trained,
)

pytestmark = pytest.mark.skipif(
    not COMMITTED.is_dir(), reason="reads the results that lie in the repository"
)


@pytest.fixture
def empty(tmp_path):
    """No results at all, and no verdicts."""
    return Results(tmp_path / "found", tmp_path / "candidates")


# Where the time goes


def test_shares_of_an_iterations_time(empty):
    one = shares(backend="jax", size=200_000_000)
    del one["transfer_share"]
    left = {"backend": "jax", "size": 20_000_000, "not_measured": "64 GB are needed"}
    put(empty.there("breakdown", "tcgjax.json"), timed([shares(), one, left]))
    put(empty.there("gpu", "breakdown", "tcgjax.json"), timed([left]))
    # Where nothing was measured, it is missing.
    section = time_shares.breakdown(empty)
    assert section.measured == ["tcgjax"]
    assert "tcgjax on a GPU" in {each.what for each in section.missing}
    (row,) = rows(section, "the reference", "2M")
    assert row == [
        "the reference", "2M", "2,001,234", "25 % (20 to 30)", "5 % (20 to 30)", "70 % (20 to 30)",
        "40 % (20 to 30)", "1,000,000,000,000", "35 %",
    ]  # fmt: skip
    (row,) = rows(section, "jax", "200M")
    assert (row[4], row[-1]) == ("not told apart", "3 %")
    for median in (-0.02, 0.02):
        below = {"median": median, "min": -0.2, "max": 0.1}
        put(empty.there("breakdown", "tcgjax.json"), timed([shares(environment_share=below)]))
        (row,) = rows(time_shares.breakdown(empty), "the reference", "2M")
        assert row[3] == f"{100 * median:.0f} % (-20 to 10), below the noise"
    put(empty.there("gpu", "breakdown", "tcgjax.json"), timed([shares()]))
    with pytest.raises(UserError, match="was measured without a GPU"):
        time_shares.breakdown(empty)
    empty.there("gpu", "breakdown", "tcgjax.json").unlink()
    for row in rows(section, "jax", "20M"):
        assert (row[3], row[-1]) == ("not measured: 64 GB are needed", "18 %")
    assert "64 lanes x 128 steps; peak 250 GFLOP/s; `twinstep breakdown`; Test CPU" in (
        section.markdown("")
    )
    # Where nothing was measured there is nothing to draw.
    (picture,) = section.pictures
    assert picture.name == "breakdown-tcgjax.png"
    assert picture.panels[0].labels == ["the reference, 2M", "jax, 200M"]
    assert dict(picture.panels[0].parts) == {
        "environment": [25, 25], "transfer": [5, 0], "model": [70, 70],
    }  # fmt: skip


# Training


def test_curves_of_a_pair_are_means_over_the_seeds_with_a_band(empty):
    nan = float("nan")
    trained(empty.there("runs", "b-fast"), "jax", [[nan, nan], [1, nan], [2, 6]])
    trained(empty.there("runs", "a-slow"), "oracle", [[0.5], [1], [1.5]], seeds=(4,))
    section = curves.training(empty)
    (picture,) = section.pictures
    assert picture.name == "training-pong.png"
    (panel,) = picture.panels
    slow, fast = panel.lines
    assert (slow.label, fast.label) == ("the reference, 1 seed", "jax, 2 seeds")
    assert (list(fast.x), fast.y, fast.low, fast.high) == ([512, 768], [1, 4], [1, 2], [1, 6])
    assert list(slow.x) == [256, 512, 768]
    assert rows(section, "pong-v0, fs8") == [
        ["pong-v0, fs8", "", "the reference", "4", "768", "1.5 (1.5 to 1.5)", "a-slow"],
        ["pong-v0, fs8", "", "jax", "0, 1", "768", "4 (2 to 6)", "b-fast"],
    ]
    assert rows(section, "b-fast") == [
        ["b-fast", "the reference", "", "2", "128", "4 [2.5, 5.5]", "25 %"]
    ]
    text = section.markdown("")
    assert "train pong --config" in text
    assert "settings.toml --evaluate 128`" in text
    whats = [each.what for each in section.missing]
    assert not [what for what in whats if what.startswith("pong")]
    assert "tcgjax, trained in the reference" in whats


def test_curves_of_two_backends_are_compared_digit_by_digit(empty):
    scores = [[1.0], [2.0], [3.0]]
    for name, backend, last in (("a", "oracle", 3.0), ("b", "jax", 3.0), ("c", "rust", 3.0001)):
        trained(empty.there("runs", name), backend, [*scores[:2], [last]], seeds=(4,))
    trained(empty.there("runs", "d"), "oracle", scores, seeds=(5,))
    trained(empty.there("runs", "e"), "rust", scores, seeds=(4,))
    text = curves.training(empty).markdown("")
    told = [line for line in text.splitlines() if line.startswith("- ") and " and " in line]
    assert told == [
        "- a and b: the same, all 3 rows of `metrics.csv`",
        "- a and c: apart from batch 3 on",
        "- a and e: the same, all 3 rows of `metrics.csv`",
        "- b and c: apart from batch 3 on",
        "- b and e: the same, all 3 rows of `metrics.csv`",
    ]


def test_runs_that_differ_in_more_than_the_backend_are_apart(empty):
    trained(empty.there("runs", "a"), "jax", [[1, 2]])
    trained(empty.there("runs", "b"), "jax", [[1, 2]])
    file = empty.there("runs", "b", "settings.toml")
    file.write_text(file.read_text().replace('variant = "fs8"', 'variant = "fs1"'))
    (picture,) = curves.training(empty).pictures
    assert [panel.title for panel in picture.panels] == ["pong-v0, fs1", "pong-v0, fs8"]


@pytest.mark.parametrize(
    ("file", "change", "word"),
    [
        ("result.json", None, "holds no result.json: its run did not end"),
        ("result.json", lambda text: text[:-9], "is damaged"),
        ("metrics.csv", None, "cannot be read"),
        ("metrics.csv", lambda text: "x" + text, "is no curve of a run"),
        ("metrics.csv", lambda text: text + "1,x,0,,,,,\n", "is not as twinstep writes it"),
        ("settings.toml", lambda text: "= " + text, "is no TOML"),
        ("settings.toml", None, "holds no training run"),
    ],
)
def test_a_damaged_run_is_one_clear_line(empty, capsys, file, change, word):
    trained(empty.there("runs", "a"), "jax", [[1, 2]])
    path = empty.there("runs", "a", file)
    if change:
        path.write_text(change(path.read_text()))
    else:
        path.unlink()
    assert evidence_main(["--check", "--out", str(empty.folder)]) == 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert word in said
    assert str(path.parent) in said


# Elo


def test_ratings_are_shown_as_elo_prints_them(empty):
    table, found = round_robin()
    put(empty.there("elo", "tcgjax.json"), found)
    section = ratings.ratings(empty)
    assert "\n".join(elo.lines(table)) in section.markdown("")
    assert "40 games of each pair in jax; `twinstep elo tcgjax`; Test CPU" in section.markdown("")
    (picture,) = section.pictures
    (panel,) = picture.panels
    assert panel.labels[0] == "runs/b"
    assert panel.values[0][0] == table.elo[3]
    assert [each.what for each in section.missing] == [
        "pokejax, players", "pokejax, policies as they learn", "tcgjax, policies as they learn",
    ]  # fmt: skip


def test_policies_of_one_backend_are_a_curve_over_their_steps(empty):
    about = {"backend": "jax", "against": "scripted"}
    runs = {"runs/b": {**about, "steps": 300}, "runs/a": {**about, "steps": 900}}
    table, found = round_robin(**runs)
    put(empty.there("elo", "tcgjax.json"), found)
    section = ratings.ratings(empty)
    (picture,) = section.pictures
    (line,) = picture.panels[1].lines
    assert line.label == "trained in jax, against scripted"
    assert list(line.x) == [300, 900]
    assert list(line.y) == [table.elo[3], table.elo[2]]
    assert line.high[0] == table.elo[3] + table.spread[3]
    assert [name for name, _ in picture.panels[1].levels] == ["random", "good"]
    assert "tcgjax, policies as they learn" not in {each.what for each in section.missing}


def test_one_policy_is_no_curve(empty):
    about = {"backend": "jax", "against": "scripted", "steps": 300}
    put(empty.there("elo", "tcgjax.json"), round_robin(**{"runs/a": about})[1])
    section = ratings.ratings(empty)
    assert len(section.pictures[0].panels) == 1
    assert "tcgjax, policies as they learn" in {each.what for each in section.missing}


# Pictures


@drawn
def test_every_kind_of_picture_is_drawn_alike_each_time(empty):
    trained(empty.there("runs", "a"), "jax", [[0, 1], [1, 3]])
    trained(empty.there("runs", "b"), "oracle", [[0, 1], [1, 3]])
    about = {"backend": "jax", "against": ""}
    found = round_robin(**{"runs/b": {**about, "steps": 900}, "runs/a": {**about, "steps": 300}})[1]
    put(empty.there("elo", "tcgjax.json"), found)
    put(empty.there("breakdown", "tcgjax.json"), timed([shares()]))
    pictures = [p for part in document.sections(empty) for p in part.pictures]
    assert [p.name for p in pictures] == [
        "breakdown-tcgjax.png", "training-pong.png", "elo-tcgjax.png",
    ]  # fmt: skip
    for picture in pictures:
        assert figures.png(picture) == figures.png(picture)


def test_a_runs_command_names_whom_it_was_evaluated_against(empty):
    settings = TrainingSettings("tcgjax", "apex", "jax", 256, (0,), against="scripted")
    for against, options in (
        (["scripted"], ""),
        (["scripted", "random"], " --opponent scripted --opponent random"),
        (["random"], " --opponent random"),
    ):
        held = {"evaluation": [{"episodes": 64, "against": name} for name in against]}
        run = curves.Run("a run", settings, held, "", {})
        file = empty.there("runs", "a run", "settings.toml")
        command = f"twinstep train tcgjax --config '{file}' --evaluate 64{options}"
        assert curves._command(empty, run) == command


def test_a_rated_policy_says_how_it_was_trained(empty):
    about = {"backend": "jax", "against": "scripted", "steps": 1000}
    _, found = round_robin(**{"runs/a": about})
    put(empty.there("elo", "tcgjax.json"), found)
    said = "- `runs/a`: trained in jax against scripted for 1,000 steps"
    assert said in ratings.ratings(empty).markdown("")


@pytest.mark.parametrize("other", [{"rows": None}, {"rows": [3]}, {"machine": 3}])
def test_a_damaged_breakdown_is_one_clear_line(other, empty):
    put(empty.there("gpu", "breakdown", "tcgjax.json"), timed([shares()]) | other)
    with pytest.raises(UserError, match=r"tcgjax.json is not as twinstep writes it"):
        time_shares.breakdown(empty)


def test_a_benchmark_of_an_environment_that_is_not_installed_has_no_age():
    assert bench_results.older("elsewhere", {"jax": "a hash"}) == []
