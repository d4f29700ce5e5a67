"""Checkpoints: the complete state to resume a run bit for bit, in one file."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from twinstep._lib import npz, paths
from twinstep.errors import UserError

#: Grows when a written byte changes its meaning.
SCHEMA = 2


def write(path: Path, head: Mapping[str, Any], tree: Any) -> None:
    """Write a tree of arrays (JAX's random keys included) with a header of plain JSON values."""
    text = json.dumps({"schema": SCHEMA, **head}, sort_keys=True).encode()
    arrays = {f"leaf{i}": _plain(leaf) for i, leaf in enumerate(jax.tree.leaves(tree))}
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, head=np.frombuffer(text, np.uint8), **arrays)
    paths.write_atomically(path, file.getvalue())


def head_of(path: Path) -> dict[str, Any]:
    """Return a checkpoint's header. UserError if it is no checkpoint or has another schema."""
    return _read(path)[0]


def read(path: Path, like: Any) -> Any:
    """Return the tree of a checkpoint; like: a tree of the same structure, shapes and dtypes."""
    _, arrays = _read(path)
    leaves, structure = jax.tree.flatten(like)
    names = [f"leaf{i}" for i in range(len(leaves))]
    if set(arrays) != set(names):
        raise UserError(f"{path} holds {len(arrays)} arrays and this run has {len(leaves)}")
    return jax.tree.unflatten(
        structure,
        [_like(path, arrays[name], leaf) for name, leaf in zip(names, leaves, strict=True)],
    )


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    not_so = f"{path} is no checkpoint"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{not_so} ({error.strerror})") from error
    arrays = npz.arrays_of(data, not_so)
    head = npz.head_of(arrays, not_so)
    if head.get("schema") != SCHEMA:
        raise UserError(
            f"{path} is of another version: it has schema {head.get('schema')}, this twinstep "
            f"reads {SCHEMA}; begin anew"
        )
    return head, arrays


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _plain(leaf: Any) -> np.ndarray:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _like(path: Path, array: np.ndarray, leaf: Any) -> Any:
    plain = _plain(leaf)
    if (array.shape, array.dtype) != (plain.shape, plain.dtype):
        raise UserError(
            f"{path} is of another run: {array.dtype}{list(array.shape)} where this one has "
            f"{plain.dtype}{list(plain.shape)}"
        )
    return jax.random.wrap_key_data(jnp.asarray(array)) if _is_key(leaf) else array
