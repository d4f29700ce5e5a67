"""Compile a candidate's Rust with one bug in it, beside the source that is there."""

from __future__ import annotations

import shutil
from pathlib import Path

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.mutants.sites import Mutant
from twinstep.repair.building import compiled, workspace_of

#: What is quick to compile again, and computes the same: the language has no other rounding, and
#: overflow is wrapped in any release build.
_QUICK = {
    "CARGO_INCREMENTAL": "1",
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "64",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1",
}


class Workshop:
    """A copy of the Cargo workspaces that a candidate's `edit` globs lie in.

    modules: import names of what is compiled, known after the first build. place: the folder to be
    imported from.
    """

    def __init__(self, ref: CandidateRef, folder: Path) -> None:
        self._folder = folder
        self._tree = folder / "tree"
        root = Path.cwd()
        found = {workspace_of(root, glob): None for glob in ref.edit}
        self._workspaces = [path.relative_to(root) for path in found if path is not None]
        if not self._workspaces:
            raise UserError(f"candidate '{ref.name}' has no Cargo.toml above its files")
        for inner in self._workspaces:
            left = shutil.ignore_patterns("target", "__pycache__")
            shutil.copytree(root / inner, self._tree / inner, ignore=left)
        self.place = folder / "built"
        self.modules: tuple[str, ...] = ()

    def build(self, mutant: Mutant | None) -> None:
        """Compile with a mutant (None: as it is). UserError if it does not compile."""
        file = self._tree / mutant.path if mutant else None
        before = file.read_bytes() if file else b""
        if mutant and file:
            file.write_bytes(mutant.applied(before))
        try:
            self._compile()
        finally:
            if file:
                file.write_bytes(before)

    def _compile(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir(parents=True)
        names = []
        for inner in self._workspaces:
            target, log = self._folder / "target", self._folder / "build.log"
            for library in compiled(self._tree / inner, target, log, _QUICK):
                names.append(library.stem.removeprefix("lib"))
                # A file of its own: the compiler writes into the one that it made.
                shutil.copyfile(library, self.place / f"{names[-1]}.abi3.so")
        self.modules = tuple(names)
