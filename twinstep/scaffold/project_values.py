"""The values and conditions with which the templates of a Gymnasium project are filled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from twinstep.contract import Discrete
from twinstep.scaffold import element_names, placing, reach, spaces
from twinstep.scaffold.introspect import ReferenceFacts
from twinstep.scaffold.placing import Placing
from twinstep.scaffold.render import Files, files_of, imports_of, indented, inward, rows
from twinstep.scaffold.twins import Twin

if TYPE_CHECKING:
    from twinstep.scaffold.gate_rules import Proposal

#: Most steps of an episode in a contract: a longer time limit is cut, for a suite of minutes.
HORIZON = 2000


def package_of(name: str) -> str:
    """Return the package of an environment's project."""
    return f"twinstep_{name}"


def common(name: str, title: str, requirements: list[str]) -> dict[str, Any]:
    """Return the values that every project needs."""
    dependencies = ", ".join(f'"{requirement}"' for requirement in ["twinstep", *requirements])
    return {
        "name": name,
        "dashed": name.replace("_", "-"),
        "package": package_of(name),
        "constant": name.upper(),
        "title": title,
        "dependencies": dependencies,
    }


def used(facts: ReferenceFacts, twin: Twin | None) -> Placing | None:
    """Return the way in which both sides are placed, None if one of them cannot be."""
    possible = facts.placing is not None and facts.placing.drawn
    return facts.placing if possible and (twin is None or twin.placed) else None


def clocked(facts: ReferenceFacts, twin: Twin | None) -> bool:
    """Return whether the state of both sides counts the steps towards a wrapper's time limit."""
    return bool(used(facts, twin) and facts.clock and (twin is None or twin.clock))


def loads(facts: ReferenceFacts, twin: Twin | None) -> bool:
    """Return whether both sides can continue from a state in the middle of an episode."""
    placed = used(facts, twin)
    return bool(placed and placed.exact and (not facts.clock or clocked(facts, twin)))


def alike(facts: ReferenceFacts, twin: Twin | None) -> str:
    """Return the reason why starts are equal though nothing is placed, "" if there is none."""
    if used(facts, twin) or (twin and twin.asked):
        return ""
    return (twin.alike if twin else facts.fixed and "every episode begins and goes on alike") or ""


def gymnasium_files(
    name: str, facts: ReferenceFacts, twin: Twin | None, gates: Proposal | None
) -> Files:
    """Return the texts of a project whose reference has Gymnasium's interface.

    gates: what was measured of one step from the same state, None before that.
    """
    placed, asked = used(facts, twin), bool(twin and twin.asked)
    versions = facts.versions | (dict(twin.versions) if twin else {})
    values = common(name, facts.title, [f"{k}=={v}" for k, v in versions.items()])
    package = package_of(name)
    glue = f"{package}/fast/candidate.py"
    places = twin.places if twin and twin.places[0] else (f"{glue}:reset", f"{glue}:step")
    starts = placed is not None or asked
    unmatched = not starts and not alike(facts, twin)
    values |= {
        "candidate": twin.kind if twin else "jax",
        "upstream": _tuple(dict.fromkeys([facts.module, *facts.making.refused])),
        "edit": _tuple([f"{package}/fast/**", *(twin.edit if twin else ())]),
        "resetplace": places[0],
        "stepplace": places[1],
        "fastpackages": _tuple([f"{package}.fast", *(twin.packages if twin else ())]),
        "versions": rows(f'"{k}": "{v}"' for k, v in facts.versions.items()),
        "top": facts.module.partition(".")[0],
        "file": facts.file,
        "sha256": facts.sha256,
        "reader": facts.making.reader,
        "maker": facts.making.maker,
        "event": f"self.{facts.inner}.done",
        "players": facts.players,
        "imports": imports_of(facts.making.imports, starts or unmatched, ("Any",)),
        "make": indented(facts.making.body),
        "inner": facts.inner,
        "horizon": min(facts.horizon or 1000, HORIZON),
        # An object may truncate where nobody has played so far.
        "truncates": bool(facts.horizon) or not facts.making.limited,
        "resets": f"{placing.RESETS:,}",
        "steps": f"{reach.STEPS:,}",
        "towrite": "`reset` and `step`",
        "dtype": facts.dtype,
        # JAX has no wider numbers by default.
        "fastdtype": facts.dtype.replace("64", "32"),
        "shape": list(facts.shape),
        "axes": "".join(f", {size}" for size in facts.action.shape),
        "action": spaces.code_of(facts.action),
        "alike": alike(facts, twin),
    }
    rules = gates.rules if gates else ()
    conditions = {
        "upstream": True,
        "makes": facts.making.maker == "make",
        "several": facts.players > 1,
        "placed": placed is not None,
        "starts": starts,
        "asked": asked,
        "alike": bool(alike(facts, twin)),
        "unmatched": unmatched,
        "placing": starts or unmatched,
        "masked": facts.masked and bool(twin and twin.masked),
        "endless": not facts.ends,
        "gated": bool(rules),
        **(twin.conditions if twin else {}),
    }
    hooks = ["place=place"] if starts else []
    if not facts.wide:
        hooks.append("seed=lambda start: int(start.seed[0]) >> 1")
    names: tuple[str, ...] = ()
    if placed:
        more, names = _placed_values(facts, placed, twin)
        values |= more
        conditions |= _placed_conditions(facts, placed, twin)
        hooks.append("fields=show")
    elif asked and twin and facts.placing:
        values |= _start_values(facts.placing)
        first = twin.values["firstobs"].replace("PACKAGE", package)
        values["askstart"] = indented(f'{first}\nreturn {{"state": {facts.placing.read_off}}}')
        names = element_names.of_observation(facts.module)
    if conditions.get("loads"):
        hooks.append("load=load")
    own = _elements(placed, twin) if placed else ()
    conditions["named"] = bool(names) and names != own
    conditions["constants"] = placed is not None or bool(names)
    shown = "ELEMENTS" if names == own else "NAMES"
    more = f", names={shown}" if names else ""
    values |= {
        "hooks": "".join(f", {hook}" for hook in hooks),
        "names": rows(f'"{each}"' for each in names),
        "observation": f'Field("obs", "{facts.dtype}", {facts.shape!r}{more})',
        "spaces": _imports(facts, conditions, rules),
        "gates": "".join(f"    {rule}\n" for rule in rules),
        "gatewords": "\n".join(f"#: {line}" for line in (gates.words if gates else ())),
        **(twin.values if twin else {}),
    }
    return files_of(("gymnasium", twin.template if twin else "jax"), values, conditions)


def _start_values(placed: Placing) -> dict[str, Any]:
    return {
        "count": len(placed.starts),
        "observe": placed.observe,
        "putstart": indented(placed.way.start).lstrip(),
    }


def _placed_values(
    facts: ReferenceFacts, placed: Placing, twin: Twin | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the values of placed starts, and the names of the observation's elements."""
    clock = clocked(facts, twin)
    fields = [
        _field(name, placed.dtype, each)
        for name, each in zip(_elements(placed, twin), placed.played, strict=True)
    ]
    if clock:
        fields.append(f'Field("time", "int32", low=0, high={facts.horizon - 1}, step=1)')
    ends = [_ends(each) for each in placed.starts]
    names = element_names.of_observation(facts.module) or placed.way.seen
    if not names and placed.shown:
        names = _elements(placed, twin)
    narrow = placed.dtype == "float32"
    values = {
        "statefields": rows(fields),
        "slice": "[:-1]" if clock else "",
        "low": rows(low for low, _ in ends),
        "high": rows(high for _, high in ends),
        "grid": rows(repr(each.step) for each in placed.starts),
        **_start_values(placed),
        "putlater": indented(placed.way.resume).lstrip(),
        "read": placed.way.read,
        "towrite": "`step`" if placed.shown else "`_observed` and `step`",
        "showntype": "jnp.float32" if narrow else "DTYPE",
        "loadtime": 'fields["time"]' if clock else "jnp.int32(0)",
        "replacetime": ", time=time" if clock else "",
        "showtime": ' | {"time": state.inner.time}' if clock else "",
        "timeword": " time: i32[], steps so far." if clock else "",
        "resettime": ", jnp.int32(0)" if clock else "",
        "loadtimeof": ', fields["time"]' if clock else "",
        "timeargument": ", time: Array" if clock else "",
        "timevalue": "time, " if clock else "",
        "showclock": ' | {"time": time}' if clock else "",
        "showtimeof": ' | {"time": state.time}' if clock else "",
    }
    return values, names if facts.shape == (len(names),) else ()


def _elements(placed: Placing, twin: Twin | None) -> tuple[str, ...]:
    """Return the names of the state's elements: as documented, else the twin's own."""
    known = placed.names or (twin.parts if twin else ())
    count = len(placed.starts)
    return known if len(known) == count else tuple(f"state_{n}" for n in range(count))


def _placed_conditions(
    facts: ReferenceFacts, placed: Placing, twin: Twin | None
) -> dict[str, bool]:
    dealt = any(each.step for each in placed.starts)
    loading = loads(facts, twin)
    return {
        "loads": loading,
        "clock": clocked(facts, twin),
        "loadsclock": loading and clocked(facts, twin),
        "dealt": dealt,
        "undealt": not dealt,
        "shown": placed.shown,
        "unshown": not placed.shown,
        "unplaced": not placed.free,
    }


def _imports(facts: ReferenceFacts, conditions: dict[str, bool], rules: tuple[str, ...]) -> str:
    kind = "Discrete" if isinstance(facts.action, Discrete) else "Box"
    words = {kind, "Contract", "Field", "Randomness"}
    if conditions["gated"]:
        words |= {"GateRule"}
        words |= {gate for gate in ("Lockstep", "Resync") if any(gate in rule for rule in rules)}
    return ", ".join(sorted(words))


def _field(name: str, dtype: str, each: reach.Range) -> str:
    low, high = _ends(each)
    step = f", step={each.step!r}" if each.step else ""
    return f'Field("{name}", "{dtype}", low={low}, high={high}{step})'


def _ends(each: reach.Range) -> tuple[str, str]:
    return (repr(each.low), repr(each.high)) if each.step else inward(each.low, each.high)


def _tuple(names: Iterable[str]) -> str:
    """Return the items of a tuple, as they stand between its brackets."""
    quoted = [f'"{name}"' for name in names]
    return ", ".join(quoted) + ("," if len(quoted) == 1 else "")


def notes(name: str, facts: ReferenceFacts, twin: Twin | None) -> list[str]:
    """Return what to say of the two sides before anything is measured."""
    placed = used(facts, twin)
    if placed:
        lines = [
            "Starts are matched: both sides are put into the same state, drawn from the range of "
            f"{placing.RESETS:,} of the reference's own."
        ]
        if not loads(facts, twin):
            lines.append(_without_load(facts, twin))
    elif twin and twin.asked:
        lines = [
            f"Starts are matched: the reference is put where {twin.title} begins, which has no "
            "`load`."
        ]
        if np.dtype(facts.dtype).kind == "f":
            lines.append("Rounding adds up in its episodes: `--tolerance 1e-4` is a first look.")
    elif words := alike(facts, twin):
        lines = [f"Starts are matched: {words}."]
    else:
        why = facts.unplaceable or (twin.unmatched if twin else "")
        lines = [
            f"Starts are NOT matched ({why}): fill in the places marked FILL IN in "
            f"{package_of(name)}/ before any episode can agree."
        ]
    if not facts.ends:
        lines.append("No episode of random play ended: `ends=False` in contract.py says so.")
    if twin and facts.making.is_endless:
        lines.append(f"The reference is made without its time limit: {twin.title} has none.")
    if twin and twin.limit and not facts.horizon:
        lines.append(
            f"The time limits differ: {twin.limit} steps in the candidate, none seen in the "
            "reference. Only an episode that lasts so long shows it."
        )
    if twin and facts.clock and twin.limit and twin.limit != facts.horizon:
        lines.append(
            f"The time limits differ: {facts.horizon} steps in the reference, {twin.limit} in "
            "the candidate."
        )
    if facts.horizon > HORIZON:
        lines.append(
            f"Episodes are cut after {HORIZON:,} steps, the reference's limit is "
            f"{facts.horizon:,}: `horizon` in contract.py."
        )
    if not isinstance(facts.action, Discrete) and facts.action.beyond > 1:
        lines.append(
            f"The reference answers actions beyond its range: they are drawn up to "
            f"{facts.action.beyond:g} times as far (`beyond` in contract.py)."
        )
    return lines


def _without_load(facts: ReferenceFacts, twin: Twin | None) -> str:
    placed = used(facts, twin)
    if placed and placed.exact and twin:
        return f"`load` is not written: {twin.title} shows no count of the steps."
    return (
        "`load` is not written: put into a state in the middle of an episode, the reference does "
        "not go on to the last bit as it did."
    )
