"""A snapshot of the project for the time of a campaign, which later edits do not reach."""

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
    """Run processes that are started in this context in a copy of the candidate's project.

    A campaign takes hours and starts processes throughout, which would import and test whatever
    the project holds by then. A package installed from a wheel is not copied.

    folder: parent of the copy. UserError as `project_of`, and if the project cannot be copied.
    """
    project = project_of(ref)
    if project is None:
        yield
        return
    copy = folder / "project"
    try:
        copy_project(project, copy)
    except OSError as error:
        why = error.args[0][0][-1] if isinstance(error, shutil.Error) else error
        raise UserError(
            f"{project} cannot be copied ({why}): mend that, or set TMPDIR to a folder with room"
        ) from error
    parts = import_path(copy)
    here, path = Path.cwd(), list(sys.path)
    more = {
        "PYTHONPATH": os.pathsep.join(filter(None, (parts, os.environ.get("PYTHONPATH")))),
        "TWINSTEP_CACHE": str(paths.cache_dir()),  # it may be relative to the folder left here
    }
    before = {name: os.environ[name] for name in more if name in os.environ}
    os.environ.update(more)
    sys.path[:0] = parts.split(os.pathsep)  # inherited by spawned processes
    os.chdir(copy)
    try:
        yield
    finally:
        os.chdir(here)
        sys.path[:] = path
        for name in more:
            del os.environ[name]
        os.environ.update(before)


def project_of(ref: CandidateRef) -> Path | None:
    """Return the root folder of a candidate's files, None if it is no project.

    UserError if the current folder has such a file too, but the imported one is another.
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
