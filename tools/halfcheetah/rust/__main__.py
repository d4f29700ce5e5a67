"""Write the Rust of HalfCheetah's physics from its description in Python.

    python -m tools.halfcheetah.rust [--check]

`python tools/halfcheetah/rust` does the same. The functions of `generated/halfcheetah` are called
with symbols instead of numbers; what comes back is a graph of scalar operations, which is written
out. --check writes nothing and exits with 1 if the files differ.
"""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # run by its folder
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    __package__ = "rust"

from .blocks import BLOCKS
from .emitting import function
from .tables import HEADER, structures, tables, ziggurat_tables
from .trigonometry import trigonometry

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "rust" / "halfcheetah" / "src" / "generated"


def files() -> dict[str, str]:
    """Return file name -> text of all generated files."""
    made = {"structures.rs": structures(), "tables.rs": tables(), "trigonometry.rs": trigonometry()}
    made["ziggurat.rs"] = ziggurat_tables()
    for name, doc, *pieces in BLOCKS:
        text = ""
        for about, title, computing, shapes in pieces:
            text += "\n" + function(about, title, computing, **shapes)
        kinds = ("Contact", "Limit", "Load", "Motion", "Pose", "Rows")
        used = [kind for kind in kinds if f"{kind}<" in text or f"{kind} {{" in text]
        uses = f"use super::structures::{{{', '.join(used)}}};\n"
        uses += "use crate::vector::Vector;\n"
        if "sin_cos(" in text:
            uses += "use crate::trigonometry::sin_cos;\n"
        made[f"{name}.rs"] = HEADER.format(doc) + uses + text
    return made


def main() -> None:
    """Write the files, or compare them."""
    made = files()
    if sys.argv[1:] == ["--check"]:
        stale = [name for name, text in made.items() if not same(FOLDER / name, text)]
        if stale:
            sys.exit(
                f"not what the description gives: {', '.join(stale)}; run this without --check"
            )
        return
    if sys.argv[1:]:
        sys.exit(__doc__)
    for name, text in made.items():
        (FOLDER / name).write_text(text)


def same(path: Path, text: str) -> bool:
    """Return True if a file has this text."""
    return path.is_file() and path.read_text() == text


if __name__ == "__main__":
    main()
