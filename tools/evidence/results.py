"""The committed results: their paths, and checks that reject foreign or damaged files."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.evidence import paper
from twinstep.errors import UserError
from twinstep.project.source_hash import PACKAGED, PACKAGED_GPU, package_folder

Found = Mapping[str, Any]
DEFAULT = Path("benchmarks")
#: Results in the folder that belong to no single environment.
_OF_ALL = ("ablation", "neighbours")


@dataclass(frozen=True)
class Results:
    """A folder of results, and the folder of the candidates' packages with their verdicts."""

    folder: Path
    candidates: Path

    def there(self, *parts: str) -> Path:
        """Return the path of a result."""
        return self.folder.joinpath(*parts)

    def names(self, *parts: str) -> list[str]:
        """Return the stems of the JSON files in a folder: the paper's first, in its order.

        Partial results of a running campaign are left out.
        """
        files = [path.stem for path in self.there(*parts).glob("*.json")]
        return paper.ordered(
            name for name in files if not name.endswith(".part") and (parts or name not in _OF_ALL)
        )

    def verdict_file(self, env: str) -> Path:
        """Return the path of the verdict in the package of an environment's candidates."""
        return self.candidates / env / PACKAGED

    def gpu_verdict_file(self, env: str) -> Path:
        """Return the path of their verdict on a GPU, which may be missing."""
        return self.candidates / env / PACKAGED_GPU

    def verified(self) -> list[str]:
        """Return the environments with a verdict in their candidates' package."""
        return paper.ordered(file.parent.name for file in self.candidates.glob(f"*/{PACKAGED}"))

    def out(self, *parts: str, usual: Collection[str] = ()) -> str:
        """Return the option ` --out FOLDER` for a command, "" if that is the command's default.

        usual: the subfolders of `benchmarks` in that default.
        """
        where = self.there(*parts)
        return "" if where == DEFAULT.joinpath(*usual) else f" --out {quoted(where)}"


def results(folder: Path) -> Results:
    """Return the results in a folder, with the verdicts of the installed candidates."""
    # Relative, however it is spelled: the path is printed in the commands of missing results.
    with contextlib.suppress(ValueError):
        folder = folder.resolve().relative_to(Path.cwd())
    return Results(folder, package_folder("twinstep.candidates"))


def quoted(path: Path) -> str:
    """Return a path quoted for a shell."""
    return shlex.quote(path.as_posix())


def read(path: Path, parts: Collection[str], schemas: Collection[int] = (1,)) -> Found | None:
    """Return a result; None if there is no such file.

    parts: keys that it must have. schemas: allowed values of its `schema`; () if it has none.
    UserError for a file that cannot be read, is not JSON, or is of another program or version.
    """
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"{path} is damaged: it is no JSON ({error}); restore it, or measure it again"
        ) from error
    if not isinstance(found, dict):
        raise UserError(f"{path} is no result of twinstep: restore it, or measure it again")
    if schemas and found.get("schema") not in schemas:
        known = " or ".join(map(str, sorted(schemas)))
        raise UserError(
            f"{path} is of schema {found.get('schema')!r}, and this twinstep reads {known}: "
            "measure it again, or use the twinstep that wrote it"
        )
    if lacking := [name for name in parts if name not in found]:
        raise UserError(f"{path} lacks `{lacking[0]}`: restore it, or measure it again")
    return found


@contextlib.contextmanager
def whole(path: Path) -> Iterator[None]:
    """Turn errors from a result's missing inner parts into a UserError that names its file."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration) as error:
        raise UserError(
            f"{path} is not as twinstep writes it ({error!r}): restore it, or measure it again"
        ) from error
