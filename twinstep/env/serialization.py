"""Save and load states: the contract's fields under a schema version, equal for all backends."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from twinstep._lib import npz
from twinstep.contract import Contract, Role, canonical_json
from twinstep.errors import UserError
from twinstep.frames import Frame

#: Grows when the meaning of a written byte changes.
SCHEMA = 1


def pack(contract: Contract, frame: Frame, seed: np.ndarray, ended: np.ndarray) -> bytes:
    """Pack N lanes: a frame's inner fields [N, ...], seeds u32[N, 2], ended bool[N]."""
    head = {
        "schema": SCHEMA,
        "contract": contract.version,
        "params": {name: contract.params[name] for name in sorted(contract.params)},
    }
    file = io.BytesIO()
    text = np.frombuffer(canonical_json(head).encode(), np.uint8)
    fields: dict[str, Any] = {f"state.{n}": np.asarray(v) for n, v in frame.state.items()}
    np.savez_compressed(file, head=text, seed=seed, ended=ended, **fields)
    return file.getvalue()


def unpack(contract: Contract, data: bytes) -> tuple[dict[str, np.ndarray], Any, Any]:
    """Return the fields, seeds and ended of `pack`; UserError if of another environment."""
    not_so = "this is not a saved state"
    arrays = npz.arrays_of(data, not_so)
    head = npz.head_of(arrays, not_so)
    try:
        seed, ended = arrays.pop("seed"), arrays.pop("ended")
    except KeyError as error:
        raise UserError(f"{not_so} ({error})") from error
    if head.get("schema") != SCHEMA:
        raise UserError(f"the state has schema {head.get('schema')}; this twinstep reads {SCHEMA}")
    wanted = {name: contract.params[name] for name in sorted(contract.params)}
    if (head.get("contract"), head.get("params")) != (contract.version, wanted):
        raise UserError(
            f"the state is of {head.get('contract')} with {head.get('params')}, the environment is "
            f"{contract.version} with {wanted}"
        )
    fields = {name.removeprefix("state."): value for name, value in arrays.items()}
    lanes = ended.shape[0] if ended.ndim == 1 else -1
    if not len(seed):
        seed = np.zeros((max(lanes, 0), 2), np.uint32)
    if why := _problem(contract, fields, lanes, seed, ended):
        raise UserError(f"{not_so} ({why})")
    return fields, seed, ended


def _problem(
    contract: Contract, fields: dict[str, np.ndarray], lanes: int, seed: Any, ended: Any
) -> str:
    """Return what the arrays lack of a state of so many lanes, "" if they are one."""
    known = {field.name: field for field in contract.state}
    if unknown := sorted(fields.keys() - known.keys()):
        return f"`{unknown[0]}` is no field of it"
    compared = [field for field in contract.state if field.role is Role.COMPARED]
    if missing := [field.name for field in compared if field.name not in fields]:
        return f"`{missing[0]}` is missing"
    if ended.dtype != bool or (seed.dtype, seed.shape) != (np.dtype(np.uint32), (lanes, 2)):
        return "its lanes' seeds and ends do not fit"
    for name, value in fields.items():
        shape, kind = (lanes, *known[name].shape), np.dtype(known[name].dtype).kind
        if value.shape != shape or value.dtype.kind != kind:
            return f"`{name}` is {value.dtype}{list(value.shape)}, expected {kind}{list(shape)}"
    return ""
