"""Compile a candidate's Rust code with one bug, in a copy of the project."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.mutation.python_operators import Mutant
from twinstep.project.cargo import cargo, compiled, workspace_of
from twinstep.project.workspace import copy_project, import_path

#: Settings for fast recompilation that compute the same: Rust has no other rounding, and overflow
#: wraps in any release build.
_QUICK = {
    "CARGO_INCREMENTAL": "1",
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "64",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1",
}


class Workshop:
    """A copy of the project in the current folder, whose Cargo workspaces are compiled.

    Build products of an earlier workshop in the folder are reused.

    project: the copy. modules: import names of the compiled libraries, set by the first build.
    place: the folder to import them from.
    """

    def __init__(self, ref: CandidateRef, folder: Path) -> None:
        self._folder = folder
        self.project = folder / "tree"
        shutil.rmtree(self.project, ignore_errors=True)
        copy_project(Path.cwd(), self.project)
        workspaces = {workspace_of(self.project, glob): None for glob in ref.edit}
        self._workspaces = [path for path in workspaces if path is not None]
        if not self._workspaces:
            raise UserError(f"candidate '{ref.name}' has no Cargo.toml above its files")
        crates = {_crate_of(self.project, glob): None for glob in ref.edit}
        self._crates = [path for path in crates if path is not None]
        self.place = folder / "built"
        self.modules: tuple[str, ...] = ()

    @property
    def import_path(self) -> str:
        """The PYTHONPATH under which the build and the copy hide installed packages."""
        return os.pathsep.join((str(self.place), import_path(self.project)))

    def build(self, mutant: Mutant | None) -> None:
        """Compile with a mutant (None: as it is). UserError if it does not compile."""
        with self.built(mutant):
            pass

    @contextlib.contextmanager
    def built(self, mutant: Mutant | None) -> Iterator[None]:
        """Compile with a mutant, which stays in the copy's source until the context ends."""
        file = self.project / mutant.path if mutant else None
        before = file.read_bytes() if file else b""
        if mutant and file:
            file.write_bytes(mutant.applied(before))
        try:
            self._compile()
            yield
        finally:
            if file:
                file.write_bytes(before)

    def tested(self, limit: float) -> str:
        """Run the crates' own tests, `limit` seconds each; return the first failure, "" if none.

        Call it while a mutant is in the source.
        """
        for crate in self._crates:
            target, log = self._folder / "target", self._folder / "test.log"
            done = cargo(["test"], crate, target, log, limit, _QUICK)
            if done.timed_out:
                return f"not done after {limit:g} s"
            if done.code:
                lines = done.said.splitlines()
                failed = [line for line in lines if re.fullmatch(r"test .* \.\.\. FAILED", line)]
                # A test that ends its process has no such line.
                ended = re.findall(r"signal: [^)]*", done.said)
                return (failed or ended or ["cargo test fails"])[0][:200]
        return ""

    def _compile(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir(parents=True)
        names = []
        for workspace in self._workspaces:
            target, log = self._folder / "target", self._folder / "build.log"
            for library in compiled(workspace, target, log, _QUICK):
                names.append(library.stem.removeprefix("lib"))
                # A copy: the compiler overwrites its output in place.
                shutil.copyfile(library, self.place / f"{names[-1]}.abi3.so")
        self.modules = tuple(names)


def _crate_of(project: Path, glob: str) -> Path | None:
    """Return the folder of the nearest Cargo.toml above a glob's files."""
    folder = (project / (glob.partition("*")[0] + "x")).parent
    above = [one for one in (folder, *folder.parents) if one.is_relative_to(project)]
    return next((one for one in above if (one / "Cargo.toml").is_file()), None)
