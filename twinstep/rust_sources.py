"""Whether the compiled Rust module was built from the sources that lie here."""

from __future__ import annotations

from pathlib import Path

#: The crate with the engines' faces towards Python.
FACE = "twinstep_rust"


def sources_hash(root: Path, engine: str = "") -> str:
    """Return the hash of a Cargo workspace's sources; "" if there are none.

    These are `*/src/**/*.rs` and what Cargo builds them with: each Cargo.toml and Cargo.lock.
    FNV-1a of 64 bits over names and bytes, as `rust/twinstep_rust/build.rs` computes it when it
    builds the module. engine: without what belongs to other engines, which are the workspace's
    folders but `twinstep_rust`, and there what is called like one of them.
    """
    found = [
        *root.glob("*/src/**/*.rs"),
        *root.glob("*/Cargo.toml"),
        *(root / name for name in ("Cargo.toml", "Cargo.lock")),
    ]
    files = sorted(
        (path.relative_to(root).as_posix(), path)
        for path in found
        if path.is_file() and path.relative_to(root).parts[0] != "target"
    )
    value = 0xCBF29CE484222325
    engines = {name.partition("/")[0] for name, _ in files if "/" in name} - {FACE}
    for name, path in files:
        if engine and _owner(name, engines) not in ("", engine):
            continue
        for byte in name.encode() + b"\0" + path.read_bytes() + b"\0":
            value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}" if files else ""


def _owner(name: str, engines: set[str]) -> str:
    """Return the engine that a file belongs to, "" if it serves all."""
    first, *rest = name.split("/")
    if first == FACE and rest[0] == "src":
        first = rest[1].removesuffix(".rs")
    return first if first in engines else ""
