"""The four kinds of prompts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from string import Template

from twinstep.contract import Module
from twinstep.project import registry
from twinstep.project.registry import Pair
from twinstep.repair.prompts import contract_text, locations
from twinstep.repair.prompts.length_budget import Part, render, template_text
from twinstep.runner import screening

_LANGUAGES = {"jax": "JAX", "rust": "Rust"}
_UNTOLD = "The part of a step that gives the outputs below."
_GLUE = {
    "step": "One step: the glue that calls the modules in the reference's order and keeps the "
    "rest of the state. A frame after it has the fields below.",
    "reset": "The beginning of an episode from a start (a seed and what a seed cannot carry). The "
    "first frame has the fields below.",
    "restart": "The reference's own auto-reset: what it does at an episode's end before it "
    "returns. The frame is the one that the reference gives in place of the terminal one.",
}
#: The order in which parts of too long a prompt are cut.
_ORDER = ("facts", "parts", "needs", "source", "outputs", "inputs", "gates")


def translation(pair: Pair, module: str, written: Sequence[str] = ()) -> str:
    """Return the prompt for one module, or for the glue `step`, `reset` or `restart`.

    written: names of existing modules, which are shown with their places. UserError for a name that
    the contract lacks.
    """
    names = locations.known(pair)
    for name in (module, *written):
        if name not in names:
            raise registry.unknown(f"module of {pair.subject.label}", name, names)
    declared = _declared(pair, module)
    values = _about(pair, module) | {
        "doc": (declared.doc if declared else _GLUE[module]) or _UNTOLD,
        "adapter": locations.adapter(pair),
        "head": _head(pair, module),
        "more": _more(pair, declared),
        "needs": contract_text.needs(pair, module, written),
        "facts": contract_text.facts(pair),
        "forbidden": _forbidden(pair, module),
        "checklist": template_text(locations.language(pair.candidate, module)),
    }
    return render("translation", values, _ORDER)


def tests(pair: Pair, module: str) -> str:
    """Return the prompt for level 1 tests of one module; UserError if there is no such module."""
    names = [m.name for m in pair.subject.contract.modules]
    if module not in names:
        raise registry.unknown(f"module of {pair.subject.label}", module, names)
    declared = pair.subject.contract.module(module)
    name = pair.subject.env.name
    folder = f"properties/{name}" if Path("properties").is_dir() else "tests"
    values = _about(pair, module) | {
        "name": name,
        "doc": declared.doc or _UNTOLD,
        "generic": "One generic test compares it with the reference on thousands of random inputs."
        if declared.inputs
        else "It has no inputs of its own, so that no generic test asks it.",
        "file": f"{folder}/test_{module}.py",
        "facts": contract_text.facts(pair),
        "shape": Template(
            template_text("shape_call" if declared.inputs else "shape_step")
        ).substitute(module=module, name=name, folder=f"{folder}/"),
    }
    return render("tests", values, _ORDER)


def repair(pair: Pair, report: str, module: str = "", tries: int = 0, last: str = "") -> str:
    """Return the prompt to fix one difference.

    report: a failure report's Markdown, or a plain sentence. module: the suspect, "" if unknown.
    tries: number of earlier tries. last: summary of the last try.
    """
    names = locations.known(pair)
    if module and module not in names:
        raise registry.unknown(f"module of {pair.subject.label}", module, names)
    command = _command(pair, module) if module else _levels(pair)
    if stated := re.search(r"^`(pytest [^`]+)` passes", report, re.MULTILINE):
        command = stated[1]
    replayed = re.search(r"`(twinstep replay [^`]+)`", report)
    where = ""
    if module:
        where = f"- The cause is looked for in `{module}`: {locations.place_of(pair, module)}.\n"
    values = _common(pair) | {
        "candidate": pair.candidate.name,
        "where": where,
        "replay": replayed[1] if replayed else command,
        "command": command,
        "history": _history(tries, last),
        "report": Part(tuple(_lowered(report)), "the report's own file"),
        "source": locations.reference_source(pair, module or "step"),
        "forbidden": _forbidden(pair, module),
    }
    return render("repair", values, ("source", "report"))


def optimisation(pair: Pair, speeds: str, hardware: str) -> str:
    """Return the prompt for speed, once all levels are green.

    speeds: the measurements as Markdown, or a sentence that there are none. hardware: the machine.
    """
    variant = pair.subject.variant.name
    bench = f"twinstep bench {pair.subject.env.name} --backend {pair.candidate.name}"
    names = locations.known(pair)
    lines = [
        f"- {name}: {locations.place_of(pair, name)}" for name in names if _sourced(pair, name)
    ]
    values = _common(pair) | {
        "candidate": pair.candidate.name,
        "adapter": locations.adapter(pair),
        "command": _levels(pair),
        "bench": bench + (f" --variant {variant}" if variant else ""),
        "speeds": Part(tuple(speeds.strip().splitlines()), "the benchmark's own file"),
        "hardware": hardware,
        "about": contract_text.environment(pair),
        "parts": Part(tuple(lines), locations.contract_place(pair.subject.env)),
        "gates": contract_text.gates(pair, "step"),
        "forbidden": _forbidden(pair, "step"),
        "checklist": template_text(f"{locations.language(pair.candidate, 'step')}_speed"),
    }
    return render("optimisation", values, ("speeds", "parts", "gates"))


# ---- values that several kinds share ----------------------------------------------------


def _common(pair: Pair) -> dict[str, str | Part]:
    masked = pair.subject.contract.masked
    ends = "rewards, ends and legal actions" if masked else "rewards and ends"
    return {
        "environment": pair.subject.env.name,
        "edit": locations.edit(pair),
        "compared": f"every field of the state, observations, {ends}",
    }


def _about(pair: Pair, module: str) -> dict[str, str | Part]:
    """Return the values about one module that translation and tests share."""
    contract = pair.subject.contract
    declared = _declared(pair, module)
    values = _common(pair) | {
        "module": module,
        "language": _LANGUAGES[locations.language(pair.candidate, module)],
        "place": locations.place_of(pair, module),
        "command": _command(pair, module),
        "about": contract_text.environment(pair),
        "gates": contract_text.gates(pair, module),
        "random": contract_text.randomness(contract),
        "source": locations.reference_source(pair, module),
    }
    if declared is None:
        start = (
            contract_text.fields(pair, contract.starts) if contract.starts else "A seed, u32[2]."
        )
        given = {
            "step": "The state and one action.",
            "restart": "The state after an episode's end.",
        }
        return values | {
            "inputs": given.get(module, start),
            "outputs": contract_text.frame_layout(pair),
            "owned": "",
            "landmarks": "see the modules.",
        }
    marks = ", ".join(f"{value:.10g}" for value in declared.landmarks)
    return values | {
        "inputs": contract_text.fields(pair, declared.inputs),
        "outputs": contract_text.fields(pair, declared.outputs),
        "owned": contract_text.owned(pair, declared),
        "landmarks": f"{marks}." if marks else "the ends of the ranges.",
    }


def _declared(pair: Pair, module: str) -> Module | None:
    names = {m.name for m in pair.subject.contract.modules}
    return pair.subject.contract.module(module) if module in names else None


def _sourced(pair: Pair, module: str) -> bool:
    return bool(pair.candidate.sources.get(module))


def _chosen(pair: Pair) -> str:
    return f"--env {pair.subject.env.name} --candidate {pair.candidate.name}"


def _command(pair: Pair, module: str) -> str:
    """Return the command that judges a module alone, or the glue in whole episodes."""
    if _declared(pair, module) is None:
        return f"pytest -m level3 {_chosen(pair)}"
    return f"pytest -m level1 {_chosen(pair)} --module {module}"


def _levels(pair: Pair) -> str:
    return f'pytest -m "level1 or level2 or level3" {_chosen(pair)}'


def _more(pair: Pair, declared: Module | None) -> str:
    """Name the other checks of a module that cannot be called alone, and the ones after level 1."""
    if declared is not None and not declared.inputs:
        return (
            "The reference cannot be called for this module alone on inputs of your choice. Its "
            "fields are compared after whole steps: run "
            f'`pytest -m "level2 or level3" {_chosen(pair)}` too.'
        )
    if declared is not None:
        return (
            "Levels 2 and 3 follow once all modules are there: they play whole steps and episodes."
        )
    return "Once the modules are green alone, what differs lies in the glue or in their order."


def _head(pair: Pair, module: str) -> str:
    """Return the module's present signature as a sentence, "" if it is not written."""
    head = " ".join(text.strip() for text in locations.signature(pair, module))
    return f" Its head is there; keep it as it is:\n  `{head}`" if head else ""


def _history(tries: int, last: str) -> str:
    """Return the section on earlier tries, "" if there are none."""
    if not tries and not last:
        return ""
    times = "once" if tries == 1 else f"{tries} times"
    lines = ["## Tried before"]
    if tries:
        lines.append(
            f"It was tried {times} before, and this still differs. Do not do the same again: if "
            "the cause was thought to be clear, the assumption under it is what to check."
        )
    if last:
        lines.append(f"The last try: {last.strip()}")
    return "\n".join(lines)


def _lowered(report: str) -> list[str]:
    """Return a report's lines with its headings demoted below the prompt's own."""
    lines, fenced = [], False
    for line in report.strip().splitlines():
        fenced ^= line.startswith("```")
        lines.append(f"##{line}" if line.startswith("#") and not fenced else line)
    return lines


def _forbidden(pair: Pair, module: str) -> str:
    """Return the rules of the screening of an agent's files."""
    oracle = pair.subject.env.oracle
    banned = ", ".join(f"`{name}`" for name in (oracle.package, *oracle.upstream))
    lines = [
        f"- Import nothing of the reference: not {banned}. What it answers may not be kept "
        "either: no recorded frames, no table of answers.",
        "- No files are written, no sockets, no processes, no environment variables, no clock. "
        "Data that a module needs is read from a table beside it.",
        f"- Files end in {', '.join(screening.SOURCES)}. None is called "
        f"{', '.join(screening.NAMES)} or like a test; none is a link or executable. A table has "
        f"at most {screening.TABLE_BYTES >> 10} kB, all together "
        f"{screening.TABLES_BYTES >> 10} kB.",
    ]
    if locations.language(pair.candidate, module) == "jax":
        lines += [
            f"- Imports: {', '.join(screening.PACKAGES)}, and the candidate's own packages.",
            f"- No callbacks out of a compiled program, no `eval` or `exec`. More than "
            f"{screening.CONSTANTS} constants in one file are a table.",
        ]
    else:
        lines.append(
            "- No `std::process`, `std::net`, `std::fs`, `std::env`, `std::os`, no `include!` and "
            "its kin, no assembly, no procedural macros, no build script, nothing foreign linked."
        )
    lines.append("- Nothing looks at whether it is being tested.")
    return "\n".join(lines)
