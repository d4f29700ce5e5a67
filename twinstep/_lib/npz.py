"""Read files of named arrays that may be damaged."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

from twinstep.errors import UserError


def arrays_of(data: bytes, not_so: str) -> dict[str, np.ndarray]:
    """Return the arrays of an npz file's bytes. UserError that begins with `not_so`."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    # One flipped bit can cause zipfile's NotImplementedError or TokenError of NumPy's header.
    except Exception as error:
        reason = " ".join(str(error).split())[:100] or type(error).__name__
        raise UserError(f"{not_so} ({reason})") from error


def head_of(arrays: dict[str, np.ndarray], not_so: str) -> dict[str, Any]:
    """Remove the JSON object named `head` from the arrays and return it."""
    try:
        head = json.loads(arrays.pop("head").tobytes())
    except (KeyError, ValueError, RecursionError) as error:
        raise UserError(f"{not_so} ({error})") from error
    if not isinstance(head, dict):
        raise UserError(f"{not_so} (its head is no object)")
    return head
