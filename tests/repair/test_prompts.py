"""Prompts: complete, within their length, and with only the permitted parts of the reference."""

import ast
import dataclasses
import io
import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from twinstep.cli import main
from twinstep.compare.arrays import Rules
from twinstep.contract import Contract, canonical_json
from twinstep.environment import Environment, Probe
from twinstep.errors import OracleMissing, UserError
from twinstep.gates import GateRule, Lockstep
from twinstep.project import registry, source_view
from twinstep.project.registry import EnvVariant, Pair
from twinstep.reference.process import OracleProcess
from twinstep.repair import prompts
from twinstep.repair.prompts import bench_text, length_budget
from twinstep.runner.runner import Runner
from twinstep.testing.reference import Reference
from twinstep.tests.toys.drift import DRIFT
from twinstep.tests.toys.duel import DUEL
from twinstep.tests.toys.veiled import VEILED

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "cartpole"
HARDWARE = "a machine of two cores"
REPORT = """# pong-jax fails level 3: `state.win` is 1, oracle 0, at step 3 of 3
## Fix
Edit only `generated/pong/**`.
Replay: `twinstep replay .twinstep/reports/0123abcd.json`
```python
# a comment of the source
```
## Done when
`pytest -m "level1 or level3" --env pong --candidate jax` passes; other seeds are run too.
"""

pytestmark = pytest.mark.skipif(not (ROOT / "contracts").is_dir(), reason="reads the checkout")


def _example() -> Environment:
    """The example's environment, which no entry point of this installation declares."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLE))
        return registry.load_object("twinstep_cartpole.declared:CARTPOLE")


def _environments() -> list[Environment]:
    declared = [registry.environment(name) for name in registry.names()]
    names = {env.name for env in declared}
    return declared + ([] if "cartpole" in names else [_example()]) + [DUEL, DRIFT, VEILED]


def _pair(env: Environment, candidate: str) -> Pair:
    pairs = (pair for v in env.variants for pair in registry.pairs(EnvVariant(env, v), [candidate]))
    return next(pairs)


ENVIRONMENTS = _environments()
PAIRS = [_pair(env, ref.name) for env in ENVIRONMENTS for ref in env.candidates]


def _of(name: str, candidate: str) -> Pair:
    return next(p for p in PAIRS if (p.subject.env.name, p.candidate.name) == (name, candidate))


def _everything(pair: Pair) -> dict[str, str]:
    """Return every prompt of a pair by kind and module."""
    made = {}
    present = prompts.present(pair)
    for module in prompts.known(pair):
        others = [name for name in present if name != module]
        made[f"translation {module}"] = prompts.translation(pair, module, others)
        made[f"repair {module}"] = prompts.repair(pair, "3 of 15 fail", module, 2, "Renamed x.")
    for module in pair.subject.contract.modules:
        made[f"tests {module.name}"] = prompts.tests(pair, module.name)
    made["repair"] = prompts.repair(pair, "3 of 15 fail: the first frame")
    measured = bench_text.measured(pair, ROOT / "benchmarks")
    made["optimisation"] = prompts.optimisation(pair, *measured)
    return made


@pytest.fixture(scope="module")
def made():
    """All prompts by pair, made in the repository's root."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.syspath_prepend(str(EXAMPLE))
        return {pair.label: _everything(pair) for pair in PAIRS}


@pytest.fixture
def here(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(EXAMPLE))


@pytest.fixture(params=[pair.label for pair in PAIRS])
def texts(request, made):
    return made[request.param]


# ---- every prompt of every environment --------------------------------------------------


def test_every_prompt_has_a_length_that_agents_read_whole(texts):
    for name, text in texts.items():
        assert 1500 < len(text) <= prompts.CAP, f"{name}: {len(text)}"


def test_no_prompt_has_a_placeholder_left(texts):
    for name, text in texts.items():
        assert not re.findall(r"\$\w+|\$\{", text), name


def test_no_prompt_names_a_folder_of_this_machine(texts):
    for name, text in texts.items():
        for folder in (ROOT, Path.home(), Path(sys.prefix)):
            assert f"{folder}/" not in text, name
        assert not re.findall(r"(?<![\w.`/<*])/(?:home|root|tmp|usr|Users|opt)/\w+", text), name


def test_prompts_are_the_same_each_time(made, here):
    for pair in PAIRS:
        assert _everything(pair) == made[pair.label], pair.label


def test_prompts_are_the_same_under_another_seed_of_hashes(made):
    pair = _of("tcgjax", "jax")
    code = (
        "import sys; from twinstep.cli import main;"
        "main('prompt translation --env tcgjax --candidate jax --module attack'.split())"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert texts == {made[pair.label]["translation attack"]}


def test_every_prompt_says_what_may_be_edited_and_what_judges_it(made):
    for pair in PAIRS:
        chosen = f"--env {pair.subject.env.name} --candidate {pair.candidate.name}"
        modules = {m.name for m in pair.subject.contract.modules}
        for name, text in made[pair.label].items():
            kind, _, module = name.partition(" ")
            for glob in pair.candidate.edit if kind != "tests" else ():
                assert f"`{glob}`" in text, name
            alone = f"`pytest -m level1 {chosen} --module {module}`"
            whole = f"`pytest -m level3 {chosen}`"
            every = f'`pytest -m "level1 or level2 or level3" {chosen}`'
            assert (alone if module in modules else whole if module else every) in text, name


def test_a_prompt_has_all_that_the_contract_says_of_its_module(made):
    for pair in PAIRS:
        for module in pair.subject.contract.modules:
            text = made[pair.label][f"translation {module.name}"]
            for field in (*module.inputs, *module.outputs):
                head = f"| `{field.name}` | {field.dtype} | {list(field.shape)} |"
                assert head in text, f"{module.name}.{field.name}"
                if field.high is not None and field in module.inputs:
                    assert f"{field.low:.10g} to {field.high:.10g}" in text
            for value in module.landmarks:
                assert f"{value:.10g}" in text.split("from each other: ")[1].splitlines()[0]
            assert module.doc in text
            assert pair.subject.contract.randomness.scheme in text
            for parameter in pair.subject.env.parameters:
                assert parameter.doc in text


def test_the_glue_is_told_every_path_of_a_frame(made):
    for pair in PAIRS:
        text = made[pair.label]["translation step"]
        for path in pair.subject.contract.layout():
            assert f"| `{path}` |" in text, f"{pair.label}: {path}"


def test_checklist_and_bans_are_of_the_language_the_module_is_written_in(made):
    for pair in PAIRS:
        for module in prompts.known(pair):
            text = made[pair.label][f"translation {module}"]
            rust = pair.candidate.sources.get(module, "").partition(":")[0].endswith(".rs")
            assert ("div_euclid" in text) == rust, f"{pair.label} {module}"
            assert ("lax.fori_loop" in text) != rust
            assert ("std::process" in text) == rust
    assert "rayon" not in made["pong@fs8-jax"]["optimisation"]
    assert "One program for a whole rollout" in made["pong@fs8-jax"]["optimisation"]
    assert "Bounds checks" in made["pong@fs8-rust"]["optimisation"]


def test_prompts_forbid_what_the_oracle_is_made_of(made):
    for pair in PAIRS:
        oracle = pair.subject.env.oracle
        for name, text in made[pair.label].items():
            banned = () if name.startswith("tests") else (oracle.package, *oracle.upstream)
            assert all(f"`{package}`" in text for package in banned), name


def test_the_core_of_prompts_names_no_environment():
    known = [env.name for env in ENVIRONMENTS]
    for path in sorted((ROOT / "twinstep" / "repair" / "prompts").iterdir()):
        if path.suffix == ".md":
            texts = [path.read_text()]
        elif path.suffix == ".py":
            nodes = ast.walk(ast.parse(path.read_text()))
            texts = [n.value for n in nodes if isinstance(n, ast.Constant)]
        else:
            continue
        for text in texts:
            words = set(re.findall(r"\w+", str(text).lower()))
            assert not words & set(known), f"{path.name}: {words & set(known)}"


# ---- written modules --------------------------------------------------------------------


def test_written_modules_are_named_with_place_and_head_and_others_are_not(here):
    pair = _of("pong", "jax")
    text = prompts.translation(pair, "right_side", ["ball"])
    line = next(line for line in text.splitlines() if line.startswith("- ball: written"))
    path, number = re.search(r"`([\w/.]+):(\d+)`", line).groups()
    assert (ROOT / path).read_text().splitlines()[int(number) - 1].startswith("def move(")
    assert "ball_x: Array, ball_y: Array" in text
    assert "- agent_paddle: not written yet; its place: `generated/pong/paddles.py" in text
    assert "- left_side: not written yet" in text
    assert "serve: " not in text.split("## What it needs")[1].split("## ")[0]


def test_an_unknown_module_is_one_line_with_a_suggestion():
    pair = _of("pong", "jax")
    asked = [
        lambda: prompts.translation(pair, "servee"),
        lambda: prompts.translation(pair, "ball", ["servee"]),
        lambda: prompts.tests(pair, "servee"),
        lambda: prompts.repair(pair, "x", "servee"),
    ]
    for ask in asked:
        with pytest.raises(UserError, match=r"unknown module of pong@fs8 'servee'; did you mean"):
            ask()
    with pytest.raises(UserError, match="unknown module"):
        prompts.tests(pair, "step")
    with pytest.raises(UserError, match="unknown module"):
        prompts.translation(_of("pokejax", "jax"), "restart")


# ---- what may be shown of the reference -------------------------------------------------

SECRET = "a line that only the reference has"


def sources() -> Path:
    """Where the made-up reference lies."""
    return Path(sources.folder)


def missing() -> Path:
    raise OracleMissing("there is no archive", "fetch it")


def ready(params) -> Probe:
    return Probe({})


@pytest.fixture
def viewed(tmp_path, monkeypatch):
    """Return a function: Pong with a reference of this test's own, under a view."""
    monkeypatch.setattr(sources, "folder", str(tmp_path), raising=False)
    lines = [f"x = {number}  # {SECRET} {number}" for number in range(1, 300)]
    (tmp_path / "pong.h").write_text("\n".join(lines))
    pong = _of("pong", "jax")

    def pair(view, **oracle):
        ref = {"source": f"{__name__}:sources", "probe": f"{__name__}:ready"} | oracle
        env = dataclasses.replace(
            pong.subject.env,
            oracle=dataclasses.replace(pong.subject.env.oracle, **ref),
            contract=lambda p: dataclasses.replace(pong.subject.env.contract(p), source_view=view),
        )
        return Pair(EnvVariant(env, pong.subject.variant), pong.candidate)

    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    return pair


def test_verbatim_shows_the_lines_of_the_module_and_no_others(viewed):
    text = prompts.translation(viewed("verbatim"), "ball")
    shown = [int(n) for n in re.findall(rf"{SECRET} (\d+)", text)]
    assert shown == list(range(157, 164))
    assert " 157  x = 157" in text
    for text in (
        prompts.tests(viewed("verbatim"), "ball"),
        prompts.repair(viewed("verbatim"), "x", "ball"),
    ):
        assert [int(n) for n in re.findall(rf"{SECRET} (\d+)", text)] == shown
    glue = prompts.translation(viewed("verbatim"), "step")
    assert [int(n) for n in re.findall(rf"{SECRET} (\d+)", glue)] == list(range(94, 223))


@pytest.mark.parametrize("view", ["location", "rules"])
def test_no_line_of_the_reference_is_shown_under_other_views(viewed, view):
    pair = viewed(view)
    for name, text in _everything(pair).items():
        assert SECRET not in text, name
    text = prompts.translation(pair, "ball")
    assert ("`pong.h:157-163`" in text) == (view == "location")
    unasked = viewed(view, probe=f"{__name__}:sources")  # takes no parameters: raises if asked
    assert SECRET not in prompts.translation(unasked, "ball")
    oracle = viewed("verbatim").subject.env.oracle
    assert source_view.reference_lines(oracle, "verbatim", "pong.h:7") == [
        (7, f"x = 7  # {SECRET} 7")
    ]
    assert source_view.reference_lines(oracle, view, "pong.h:7") == []


def test_a_reference_that_is_not_at_hand_leaves_its_place(viewed):
    for oracle in ({"source": f"{__name__}:missing"}, {"source": ""}):
        try:
            text = prompts.translation(viewed("verbatim", **oracle), "ball")
        except OracleMissing:  # would be a skip
            pytest.fail("there is no prompt without the reference")
        assert "The reference has it at `pong.h:157-163`." in text
        assert SECRET not in text


def test_the_shipped_references_are_shown_as_their_contracts_allow(made):
    views = {pair.label: pair.subject.contract.source_view for pair in PAIRS}
    assert views["emurust@catch-rust"] == "location"
    assert views["tcgjax@apex-jax"] == "rules"
    for pair in PAIRS:
        shown = pair.subject.contract.source_view == "verbatim" and pair.subject.env.oracle.source
        for name, text in made[pair.label].items():
            if not shown:
                assert "with the reference's own line numbers" not in text, name


def _long_lines(folder: Path, pattern: str) -> set[str]:
    files = sorted(folder.rglob(pattern))
    lines = {line.strip() for file in files for line in file.read_text().splitlines()}
    return {line for line in lines if len(line) > 40}


@pytest.mark.parametrize(
    ("env", "candidate", "package", "pattern"),
    [("emurust", "rust", "pyboy", "*.py"), ("halfcheetah", "jax", "gymnasium", "half_cheetah*.py")],
)
def test_no_line_of_an_upstream_package_is_in_a_prompt(made, env, candidate, package, pattern):
    try:
        folder = Path(str(distribution(package).locate_file(package)))
    except PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    lines = _long_lines(folder, pattern)
    assert lines
    for name, text in made[_of(env, candidate).label].items():
        assert not {line.strip() for line in text.splitlines()} & lines, name


def test_no_line_of_a_ruled_reference_is_in_a_prompt(made):
    lines = _long_lines(ROOT / "oracles" / "tcgjax", "*.py")
    for name, text in made["tcgjax@apex-jax"].items():
        assert not {line.strip() for line in text.splitlines()} & lines, name
        assert name.startswith("optimisation") or "`oracles/tcgjax/RULES.md`" in text
    assert "by R81 to R84." in made["tcgjax@apex-jax"]["translation knockouts"]
    assert "game.py" not in made["tcgjax@apex-jax"]["translation knockouts"]


# ---- length -----------------------------------------------------------------------------


def test_what_is_too_long_is_cut_at_lines_the_least_important_first_and_says_so(viewed):
    pair = viewed("verbatim")
    whole = prompts.repair(pair, REPORT, "ball")
    long = REPORT + "".join(f"row {number} of the report\n" for number in range(3000))
    text = prompts.repair(pair, long, "ball")
    assert len(text) <= prompts.CAP < len(long)
    assert "more lines are left out: read `pong.h:157-163` of the reference.)" in text
    assert "more lines are left out: read the report's own file.)" in text
    assert "row 5 of the report" in text
    assert len(text) > prompts.CAP - 200, "more is cut than must be"
    tail = whole[whole.index("## What a candidate may not do") :]
    assert text.endswith(tail), "what follows a part that is cut stays"


def test_what_no_part_can_give_up_is_cut_at_the_end():
    text = prompts.repair(_of("pong", "jax"), REPORT, last="It did this.\n" * 4000)
    assert len(text) <= prompts.CAP
    assert text.endswith("It did this.\n(The end of this text is cut: it was too long.)\n")
    assert "# Mend pong" in text


def test_a_block_is_fenced_by_more_than_its_lines_have():
    part = length_budget.fenced(["````", "x"], "c", "there")
    assert str(part).splitlines() == ["`````c", "````", "x", "`````"]
    long = length_budget.fenced(["````", *["x" * 90] * 9], "c", "there")
    assert str(long.shorter(600)).startswith("`````c\n````\nx")
    assert "x\n`````\n\n(8 more lines are left out: read there.)" in str(long.shorter(600))


# ---- the kinds --------------------------------------------------------------------------


def test_a_repair_prompt_has_the_report_whole_below_its_own_headings():
    text = prompts.repair(_of("pong", "jax"), REPORT, "ball", tries=3, last="It changed a sign.")
    assert "### pong-jax fails level 3: `state.win` is 1" in text
    assert "\n# a comment of the source\n" in text
    assert "Ask the case again with `twinstep replay .twinstep/reports/0123abcd.json`" in text
    assert 'when this passes: `pytest -m "level1 or level3" --env pong --candidate jax`' in text
    assert "tried 3 times before" in text
    assert "The last try: It changed a sign." in text
    assert "Loosen nothing" in text
    first = prompts.repair(_of("pong", "jax"), REPORT)
    assert "Tried before" not in first
    assert "The cause is looked for" not in first


def test_gates_are_told_for_the_types_they_hold_for(made):
    exact = "every output: equal to the bit"
    assert exact in made["pong@fs8-jax"]["translation ball"]
    ends = "- on a gpu, `obs`: abs(candidate - reference) <= 2e-07"
    observe = made["pong@fs8-jax"]["translation observe"]
    assert ends in observe
    assert "- everywhere else, `obs`: equal to the bit" in observe
    bias = made["halfcheetah-rust"]["translation bias"]
    assert "computed in float32, `qfrc_bias`: abs(candidate - reference) <= 0.0084 + 1e-05" in bias
    assert "equal to the bit" not in bias.split("## What must hold")[1].split("##")[0]


def test_the_first_rule_that_matches_is_the_one_told():
    pair = _of("duel", "vector")
    rules = (
        GateRule(Lockstep(atol=0.5), candidate="another"),
        GateRule(Lockstep(atol=0.25), fields="obs"),
        GateRule(Lockstep(atol=0.125), fields="*"),
    )
    contract = dataclasses.replace(pair.subject.contract, gates=rules)
    env = dataclasses.replace(pair.subject.env, contract=lambda params: contract)
    text = prompts.translation(Pair(EnvVariant(env, pair.subject.variant), pair.candidate), "step")
    assert "- `obs`: abs(candidate - reference) <= 0.25" in text
    gates = text.split("## What must hold")[1].split("##")[0]
    assert gates.count("`obs`") == 1
    assert "0.5" not in gates
    assert "equal to the bit" not in gates


def test_an_optimisation_prompt_has_the_candidates_own_speeds(made):
    result = json.loads((ROOT / "benchmarks" / "pong.json").read_text())
    text = made["pong@fs8-rust"]["optimisation"]
    rows = [line for line in text.splitlines() if re.match(r"\| \d+ \| \d+ \|", line)]
    own = [c for c in result["cells"] if any(r["backend"] == "rust" for r in c["results"])]
    assert sum("| rust |" in row for row in rows) == len(own)
    assert not any("| jax" in row for row in rows)
    assert sum("(best)" in row for row in rows) == len(own)
    assert result["machine"]["cpu"] in text
    assert text.index("### fs8") < text.index("### fs1")
    assert "twinstep bench pong --backend rust --variant fs8" in text


def test_without_a_benchmark_the_prompt_says_so(tmp_path):
    told, hardware = bench_text.measured(_of("pong", "rust"), tmp_path)
    text = prompts.optimisation(_of("pong", "rust"), told, hardware)
    assert "Not measured yet" in text
    (tmp_path / "pong.md").write_text("| only a table |\n")
    assert bench_text.measured(_of("pong", "rust"), tmp_path)[0] == "| only a table |\n"
    (tmp_path / "pong.json").write_text(canonical_json({"schema": 1, "request": {}, "cells": [{}]}))
    with pytest.raises(UserError, match="is not as twinstep bench writes it"):
        bench_text.measured(_of("pong", "rust"), tmp_path)


def test_the_shape_of_a_test_is_python_that_uses_what_there_is(made):
    owners = {"lab.reference": Reference, "lab.runner": Runner, "lab.oracle": OracleProcess}
    for label, module in (("pong@fs8-jax", "ball"), ("emurust@catch-rust", "processor")):
        block = re.findall(r"```python\n(.*?)```", made[label][f"tests {module}"], re.DOTALL)[-1]
        ast.parse(block)
        asked = re.findall(r"(lab\.\w+)\.(\w+)\(", block)
        assert len(asked) >= 2
        for owner, name in asked:
            known = owners.get(owner) or {"lab.contract": Contract, "lab.rules": Rules}[owner]
            assert hasattr(known, name), f"{owner}.{name}"
        for module, name in re.findall(r"from (twinstep\S+) import (\w+)", block):
            assert callable(registry.load_object(f"{module}:{name}"))


# ---- the command ------------------------------------------------------------------------


def _asked(capsys, *args):
    code = main(["prompt", *args])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_prints_each_kind_and_starts_no_oracle(here, capsys, monkeypatch, made):
    def started(*args, **kwargs):
        raise AssertionError("an oracle is started")

    monkeypatch.setattr(OracleProcess, "__init__", started)
    monkeypatch.setattr("sys.stdin", io.StringIO("5 of 9 fail: Apache\n"))
    kinds = {
        "translation": ("--module", "ball"),
        "tests": ("--module", "ball"),
        "optimisation": (),
        "repair": ("--report", "-"),
    }
    for kind, more in kinds.items():
        code, out, err = _asked(capsys, kind, "--env", "pong", *more)
        assert (code, err) == (0, "")
        if kind != "repair":
            assert out == made["pong@fs8-jax"][f"{kind} {'ball' if more else ''}".strip()]
    assert "5 of 9 fail: Apache" in out
    code, out, _ = _asked(capsys, "tests", "--env", "pong", "--candidate", "rust", "--variant",
                          "stock", "--module", "ball")  # fmt: skip
    assert "--candidate rust --module ball" in out
    assert "`rng` = stock" in out


def test_a_report_is_read_as_markdown_and_as_json(here, capsys, tmp_path):
    kept = sorted((ROOT / "rollouts" / "regressions").glob("*.json"))
    assert kept
    code, _, err = _asked(capsys, "repair", "--env", "pong", "--report", str(kept[0]))
    assert (code, err.count("\n")) == (4, 1), "a regression is no report"
    record = _record("pong", "jax")
    (tmp_path / "a.json").write_text(json.dumps(record))
    code, out, err = _asked(capsys, "repair", "--env", "pong", "--report", str(tmp_path / "a.json"))
    assert (code, err) == (0, "")
    assert "### pong@fs8-jax fails level 3" in out
    assert "The cause is looked for in `ball`" in out
    assert "Replay: `twinstep replay ../" in out, "an absolute path is written as a relative one"
    (tmp_path / "a.md").write_text(REPORT)
    code, out, _ = _asked(capsys, "repair", "--env", "pong", "--report", str(tmp_path / "a.md"))
    assert "### pong-jax fails level 3" in out


def _record(env, candidate):
    """A report's record with nothing but a sentence."""
    return {
        "schema": 1, "twinstep": "0", "environment": env, "variant": "fs8",
        "params": dict(_of(env, candidate).subject.contract.params), "contract": "pong-v0",
        "candidate": candidate, "oracle": {"title": "x", "pins": {}},
        "context": {"level": 3, "test": "t", "driver": "", "counts": {}, "clusters": [],
                    "shrunk_from": 0, "minimal": True, "note": "it is wrong"},
        "case": {"kind": "episode", "seed": [0, 0], "start": {}, "actions": [[[0], 1]], "state": {},
                 "module": "", "inputs": {}},
        "step": 0, "diff": [], "differing_values": 0, "agree": {}, "draws": None,
        "one_step": None, "witness": None, "call": None, "near": None,
        "suspects": [{"module": "ball", "why": "w", "place": "", "symbol": "", "source": ""}],
        "last_steps": {"names": [], "rows": []}, "edit": [], "id": "0123abcd",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("translation", "--env", "pong"), "say which with --module: agent_paddle, opponent_pad"),
        (("tests", "--env", "pong"), "say which with --module: agent_paddle"),
        (("tests", "--env", "pong", "--module", "bal"), "'bal'; did you mean 'ball'?"),
        (("repair", "--env", "pong"), "name its .md or .json with --report"),
        (("repair", "--env", "pong", "--report", "no.md"), "--report no.md cannot be read"),
        (("repair", "--env", "pong", "--report", "no.json"), "no.json is not a twinstep report"),
        (("tests", "--env", "pong", "--module", "ball", "--report", "x"), "--report goes with re"),
        (("optimisation", "--env", "pnog"), "unknown environment 'pnog'; did you mean 'pong'?"),
        (("optimisation", "--env", "pong", "--candidate", "jx"), "unknown candidate of pong 'jx'"),
        (("optimisation", "--env", "pong", "--variant", "fs9"), "unknown variant of pong 'fs9'"),
    ],
)
def test_what_a_user_can_do_wrong_is_one_line_and_exit_code_4(here, capsys, args, says):
    code, out, err = _asked(capsys, *args)
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert says in err


def test_a_report_of_another_candidate_is_refused(here, capsys, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(_record("pong", "rust")))
    code, _, err = _asked(capsys, "repair", "--env", "pong", "--report", str(tmp_path / "a.json"))
    assert code == 4
    assert "is of pong-rust: choose --env pong --candidate rust" in err
