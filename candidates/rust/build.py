"""Presence of the compiled Rust module, and the sources it was built from, for all engines."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twinstep.environment import Probe
from twinstep.rust_sources import sources_hash


def probe(params: Mapping[str, Any]) -> Probe:
    """Return whether the compiled module is present and fits the sources, if there are any."""
    if importlib.util.find_spec("twinstep_rust") is None:
        return Probe({}, "the Rust module twinstep_rust is not built", "run `make setup`")
    here = sources_hash(Path(__file__).resolve().parents[2] / "rust")
    if here and here != build():
        return Probe({}, "twinstep_rust was built from other sources", "run `make setup`")
    return Probe({})


def build(engine: str = "") -> str:
    """Return the hash of the sources from which the compiled module, or one engine, was built."""
    import twinstep_rust  # pyright: ignore[reportMissingImports]

    return twinstep_rust.sources(engine)
