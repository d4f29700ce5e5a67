"""A copy of the project for as long as its planted bugs are asked: edits do not reach it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from twinstep._lib import paths
from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.mutation.planting import source_files
from twinstep.project.workspace import copy_project, import_path


@contextlib.contextmanager
def frozen(ref: CandidateRef, folder: Path) -> Iterator[None]:
    """Let the processes that are started here work in a copy of the candidate's project.

    A campaign takes hours and starts processes all along, which would import, and run the tests
    of, whatever lies there by then. What is installed for good, out of a wheel, is not copied.

    folder: where the copy is made. UserError as `project_of`, and where the project cannot be
    copied.
    """
    project = project_of(ref)
    if project is None:
        yield
        return
    made = folder / "project"
    try:
        copy_project(project, made)
    except OSError as error:
        why = error.args[0][0][-1] if isinstance(error, shutil.Error) else error
        raise UserError(
            f"{project} cannot be copied ({why}): mend that, or set TMPDIR to a folder with room"
        ) from error
    parts = import_path(made)
    here, path = Path.cwd(), list(sys.path)
    more = {
        "PYTHONPATH": os.pathsep.join(filter(None, (parts, os.environ.get("PYTHONPATH")))),
        "TWINSTEP_CACHE": str(paths.cache_dir()),  # which may be given from the folder left here
    }
    before = {name: os.environ[name] for name in more if name in os.environ}
    os.environ.update(more)
    sys.path[:0] = parts.split(os.pathsep)  # handed to processes that are spawned
    os.chdir(made)
    try:
        yield
    finally:
        os.chdir(here)
        sys.path[:] = path
        for name in more:
            del os.environ[name]
        os.environ.update(before)


def project_of(ref: CandidateRef) -> Path | None:
    """Return the folder that a candidate's files are named from, None if no project is there.

    UserError where the current folder has such a file too, and another one is imported.
    """
    sources = source_files(ref)
    root = Path(sources[0].file.resolve().as_posix().removesuffix(f"/{sources[0].path}"))
    for source in sources:
        here = Path(source.path)
        if here.is_file() and not here.samefile(source.file):
            raise UserError(
                f"{here} is here, but that of {root} is imported: run this there, or install the "
                "project that lies here"
            )
    return root if (root / "pyproject.toml").is_file() else None
