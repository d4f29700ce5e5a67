"""What --env, --candidate, --driver, --variant and --set choose, and what they refuse."""

import dataclasses
import re
from types import SimpleNamespace

import pytest

from twinstep._lib import paths
from twinstep.cli import main
from twinstep.contract import Contract, Discrete, Field, Randomness
from twinstep.environment import CandidateRef, Environment, OracleRef, Parameter, Probe, Variant
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.testing import session
from twinstep.testing.harness import Harness
from twinstep.testing.options import OPTIONS
from twinstep.testing.selection import Selection, choose
from twinstep.testing.settings import RunSettings


def contract(params):
    if params["stock"] and params["most"] != 21:
        raise UserError("the stock generator goes with most=21")
    return Contract(
        "knobs-v0", dict(params), Discrete(2), Field("obs", "int32"), (), Randomness("none")
    )


def probe(params):
    return Probe({})


_HERE = "twinstep.tests.testing.test_selection"
KNOBS = Environment(
    "knobs",
    contract,
    OracleRef("a toy", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.toys"),
    (CandidateRef("fast", f"{_HERE}:Fast"), CandidateRef("native", f"{_HERE}:Fast")),
    variants=(
        Variant("stock", {"stock": 1}),
        Variant("fs1", {}),
        Variant("fs8", {"skip": 8}, candidates=("native",)),
    ),
    parameters=(
        Parameter("skip", 1, "frames a step"),
        Parameter("most", 21, "points"),
        Parameter("stock", 0, "the stock generator"),
    ),
)
DECLARED = f"""
[tool.twinstep.envs]
knobs = "{_HERE}:KNOBS"
duel = "twinstep.tests.toys.duel:DUEL"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A project that declares two environments; the installed ones are left out."""
    (tmp_path / "pyproject.toml").write_text(DECLARED)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "entry_points", lambda group: [])
    return tmp_path


def labels(*args, **asked):
    return [pair.label for pair in choose(Selection(*args, **asked)).pairs]


def refusal(**asked):
    with pytest.raises(UserError) as refused:
        choose(Selection(**asked))
    return str(refused.value)


def test_without_options_everything_declared_is_chosen():
    assert labels() == [
        "duel-vector", "duel-wrongmask", "duel-wrongtake", "duel-wrongstep", "knobs@stock-fast",
        "knobs@stock-native", "knobs@fs1-fast", "knobs@fs1-native", "knobs@fs8-native",
    ]  # fmt: skip


def test_a_run_without_any_environment_is_no_error(folder):
    (folder / "pyproject.toml").unlink()
    registry._tables.cache_clear()
    assert labels() == []
    assert "nothing to verify" in refusal(variants=["fs8"])


def test_a_name_that_no_environment_knows_is_an_error_without_env_too():
    assert refusal(variants=["fs9"]).startswith("unknown variant 'fs9'; did you mean 'fs")
    assert refusal(candidates=["fats"]).startswith("unknown candidate 'fats'; did you mean 'fast'?")
    assert refusal(drivers=["rndom"]).startswith("unknown driver 'rndom'; did you mean 'random'?")


def test_a_name_that_one_environment_knows_chooses_that_one():
    assert labels(variants=["fs8"]) == ["knobs@fs8-native"]
    assert labels(candidates=["fast"], variants=["fs1"]) == ["knobs@fs1-fast"]


def test_each_environment_that_is_named_must_know_a_name():
    known = refusal(envs=["knobs", "duel"], variants=["fs8"])
    assert known.startswith("unknown variant of duel 'fs8'")


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("envs", "knosb", "unknown environment 'knosb'; did you mean 'knobs'?"),
        ("candidates", "fats", "unknown candidate of knobs 'fats'; did you mean 'fast'?"),
        ("drivers", "rndom", "unknown driver of knobs 'rndom'; did you mean 'random'?"),
        ("variants", "fs9", "unknown variant of knobs 'fs9'; did you mean 'fs"),
        ("settings", "skpi=3", "unknown parameter of knobs 'skpi'; did you mean 'skip'?"),
        ("settings", "skip=x", "parameter skip: 'x' is not a value it takes"),
        ("settings", "skip", "--set skip: write it as --set NAME=VALUE"),
    ],
)
def test_a_wrong_name_or_value_of_a_named_environment_is_an_error(option, value, says):
    assert refusal(**{"envs": ["knobs"], option: [value]}).startswith(says)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"episodes": 0}, "--episodes 0: at least 1 is needed"),
        ({"traces": "no-such-file"}, "--traces no-such-file: there is no such file"),
        ({"seeds": "holdout"}, "set TWINSTEP_HOLDOUT_KEY"),
        ({"seeds": "tree", "traces": "pyproject.toml"}, "traces have the seeds they have"),
    ],
)
def test_a_wrong_option_that_chooses_no_pair_is_an_error(options, says, monkeypatch):
    monkeypatch.delenv("TWINSTEP_HOLDOUT_KEY", raising=False)
    given = {words["dest"]: words.get("default", False) for words in OPTIONS.values()}
    given |= {f"twinstep_{name}": value for name, value in options.items()}
    with pytest.raises(UserError, match=re.escape(says)):
        session._opened(SimpleNamespace(option=SimpleNamespace(**given)))


def test_choosing_nothing_at_all_is_an_error():
    said = refusal(envs=["knobs"], variants=["fs8"], candidates=["fast"])
    assert said == "nothing to verify: no candidate fits --env knobs --variant fs8 --candidate fast"


def test_a_driver_that_nothing_chosen_plays_is_an_error():
    assert "unknown driver of what is verified 'seeking'" in refusal(
        envs=["knobs"], drivers=["seeking"]
    )


def test_a_declared_driver_beside_the_contracts_plays_only_by_name():
    env = dataclasses.replace(KNOBS, drivers={"late": "drivers:late"})
    subject = registry.subjects(env, {})[0]

    def drivers(*wanted):
        return Harness(RunSettings(drivers=wanted)).reference(subject).drivers

    assert drivers() == ["random", "sticky"]
    assert drivers("late") == ["late"]
    assert drivers("late", "random") == ["random", "late"]


def test_a_value_without_its_environment_is_refused():
    said = "--set skip=8: say whose parameter it is, with --env (known: duel, knobs)"
    assert refusal(settings=["skip=8"]) == said


def test_a_variant_keeps_its_name_under_a_value():
    here = ["knobs@fs1+most=100-fast", "knobs@fs1+most=100-native"]
    for name in ("fs1", "fs1+most=100"):
        assert labels(["knobs"], variants=[name], settings=["most=100"]) == here


def test_variants_that_refuse_a_value_are_left_out_with_a_line():
    choice = choose(Selection(["knobs"], settings=["most=100"]))
    assert {p.subject.variant.name for p in choice.pairs} == {"fs1+most=100", "fs8+most=100"}
    said = "knobs@stock+most=100 is left out: the stock generator goes with most=21"
    assert choice.notes == [said]


def test_a_variant_that_was_asked_for_by_name_may_not_refuse():
    said = refusal(envs=["knobs"], variants=["stock"], settings=["most=100"])
    assert said == "the stock generator goes with most=21"


def test_a_value_that_all_variants_refuse_is_an_error():
    said = refusal(envs=["knobs"], settings=["most=100", "stock=1"])
    assert said == "the stock generator goes with most=21"


def test_of_variants_made_equal_the_one_that_was_asked_for_stays():
    there = ["knobs@fs1+skip=8-fast", "knobs@fs1+skip=8-native"]
    assert labels(["knobs"], settings=["skip=8"])[2:] == there
    assert labels(["knobs"], variants=["fs8"], settings=["skip=1"]) == ["knobs@fs8+skip=1-native"]


@pytest.mark.parametrize("chosen", ["", "~nobody-of-this-name/cache"])
def test_without_a_home_folder_the_mend_is_named(monkeypatch, capsys, chosen):
    def homeless(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("TWINSTEP_CACHE", chosen)
    monkeypatch.setattr(paths.Path, "expanduser", homeless)
    assert main(["cache"]) == 4
    assert capsys.readouterr().err.endswith(": set TWINSTEP_CACHE\n")
