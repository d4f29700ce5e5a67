"""Trace sets in one file, to verify a candidate on a machine without the oracle."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

from twinstep.errors import UserError
from twinstep.reference.cache_key import key_of
from twinstep.reference.trace_file import TraceDamaged
from twinstep.reference.trace_set import MANIFEST, TraceSet, read_set


def export(sets: list[TraceSet], path: Path) -> None:
    """Write trace sets to one file, which `read_export` opens on another machine.

    The same sets give the same bytes.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with tarfile.open(draft, "w") as tar:
            for held in sorted(sets, key=lambda s: key_of(s.manifest["material"])):
                name = key_of(held.manifest["material"])
                files = [MANIFEST, *(entry["file"] for entry in held.manifest["chunks"])]
                for file in sorted(files):
                    info = tar.gettarinfo(str(held.folder / file), f"{name}/{file}")
                    info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
                    info.mode = 0o644
                    with (held.folder / file).open("rb") as data:
                        tar.addfile(info, data)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def read_export(path: Path, folder: Path) -> list[TraceSet]:
    """Unpack an exported file into `folder` and return its sets.

    Raises UserError if the file is not a whole export, or a set does not fit its manifest.
    """
    try:
        with tarfile.open(path, "r:") as tar:
            tar.extractall(folder, filter="data")
    except (OSError, ValueError, tarfile.TarError) as error:
        raise UserError(f"{path} is not a readable trace export ({error})") from error
    sets = []
    for inner in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            sets.append(read_set(inner))
            if key_of(sets[-1].manifest["material"]) != inner.name:
                raise TraceDamaged("it belongs to another key")
        except TraceDamaged as error:
            raise UserError(
                f"{path} is damaged: set {inner.name[:8]}: {error}; export it again"
            ) from error
    if not sets:
        raise UserError(f"{path} holds no traces")
    return sets
