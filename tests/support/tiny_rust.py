"""A Rust library of one file, without dependencies."""

CARGO = """
[package]
name = "tiny"
version = "0.1.0"
edition = "2021"

[lib]
crate-type = ["cdylib"]
"""
LOCK = 'version = 3\n\n[[package]]\nname = "tiny"\nversion = "0.1.0"\n'


def write(project, source):
    """Write `rust/tiny` of a project; return the file with its source."""
    crate = project / "rust" / "tiny"
    (crate / "src").mkdir(parents=True)
    (crate / "Cargo.toml").write_text(CARGO)
    (crate / "Cargo.lock").write_text(LOCK)
    (crate / "src" / "lib.rs").write_text(source)
    return crate / "src" / "lib.rs"
