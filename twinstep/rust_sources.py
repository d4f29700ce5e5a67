"""Whether the compiled Rust module was built from the sources that lie here."""

from __future__ import annotations

from pathlib import Path


def sources_hash(root: Path) -> str:
    """Return the hash of a Cargo workspace's sources; "" if there are none.

    These are `*/src/**/*.rs` and what Cargo builds them with: each Cargo.toml and Cargo.lock.
    FNV-1a of 64 bits over names and bytes, as `rust/twinstep_rust/build.rs` computes it when it
    builds the module.
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
    for name, path in files:
        for byte in name.encode() + b"\0" + path.read_bytes() + b"\0":
            value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}" if files else ""
