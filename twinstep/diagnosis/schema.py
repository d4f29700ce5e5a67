"""The schema of a failure report's record: readers may rely on every part."""

from __future__ import annotations

from typing import Any

#: Name -> the types of its value.
Shape = dict[str, type | tuple[type, ...]]

_RECORD: Shape = {
    "id": str,
    "environment": str,
    "variant": str,
    "params": dict,
    "contract": str,
    "candidate": str,
    "context": dict,
    "case": dict,
    "step": int,
    "diff": list,
    "differing_values": int,
    "agree": dict,
    "witness": (dict, type(None)),
    "suspects": list,
    "edit": list,
}
_CONTEXT: Shape = {
    "level": int,
    "test": str,
    "driver": str,
    "counts": dict,
    "clusters": list,
    "shrunk_from": int,
    "minimal": bool,
    "note": str,
}
_CASE: Shape = {
    "kind": str,
    "seed": list,
    "start": dict,
    "actions": list,
    "state": dict,
    "module": str,
    "inputs": dict,
}
_DIFFERENCE: Shape = {"path": str}
_SUSPECT: Shape = {"module": str, "why": str, "place": str, "source": str}


def check(record: Any) -> None:
    """Raise ValueError, which names the missing part, if `record` is incomplete."""
    _require("it", record, _RECORD)
    _require("its context", record["context"], _CONTEXT)
    for name in ("case", "witness"):
        if record[name] is not None:
            _require(f"its {name}", record[name], _CASE)
            if not all(isinstance(run, list) and len(run) == 2 for run in record[name]["actions"]):
                raise ValueError(f"the actions of its {name} are no runs [action, count]")
    for row in record["diff"]:
        _require("a row of its diff", row, _DIFFERENCE)
        if not {"oracle", "candidate"} <= row.keys():
            raise ValueError("a row of its diff lacks a side")
    for suspect in record["suspects"]:
        _require("a suspect of it", suspect, _SUSPECT)


def _require(what: str, value: Any, shape: Shape) -> None:
    if not isinstance(value, dict):
        raise ValueError(f"{what} is no table")
    for name, kind in shape.items():
        if name not in value:
            raise ValueError(f"{what} has no `{name}`")
        if not isinstance(value[name], kind):
            raise ValueError(f"`{name}` of {what} is {type(value[name]).__name__}")
