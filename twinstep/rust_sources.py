"""The hash of the Rust sources, to compare with the one compiled into the module."""

from __future__ import annotations

from pathlib import Path

#: The crate with the engines' faces towards Python.
FACE = "twinstep_rust"


def sources_hash(root: Path, engine: str = "") -> str:
    """Return the hash of a Cargo workspace's sources; "" if there are none.

    The sources are `*/src/**/*.rs`, each Cargo.toml and Cargo.lock. FNV-1a of 64 bits over names
    and bytes, as `rust/twinstep_rust/build.rs` computes it when it builds the module. engine:
    leave out the files of other engines: those are the workspace's folders except `twinstep_rust`,
    and the files in it that bear an engine's name.
    """
    paths = [
        *root.glob("*/src/**/*.rs"),
        *root.glob("*/Cargo.toml"),
        *(root / name for name in ("Cargo.toml", "Cargo.lock")),
    ]
    files = sorted(
        (path.relative_to(root).as_posix(), path)
        for path in paths
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
    """Return the engine that a file belongs to, "" for all."""
    first, *rest = name.split("/")
    if first == FACE and rest[0] == "src":
        first = rest[1].removesuffix(".rs")
    return first if first in engines else ""
