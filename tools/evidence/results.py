"""The committed results: where each lies, and what is no result of this program."""

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
#: Results in the folder that are of no single environment.
_OF_ALL = ("ablation", "neighbours")


@dataclass(frozen=True)
class Results:
    """A folder of results, and that of the candidates' packages, each with its verdict."""

    folder: Path
    candidates: Path

    def there(self, *parts: str) -> Path:
        """Return the path of a result."""
        return self.folder.joinpath(*parts)

    def names(self, *parts: str) -> list[str]:
        """Return the stems of the JSON files in a folder: those of the paper first, in its order.

        Drafts of a campaign that is under way are left out.
        """
        files = [path.stem for path in self.there(*parts).glob("*.json")]
        return paper.ordered(
            name for name in files if not name.endswith(".part") and (parts or name not in _OF_ALL)
        )

    def verdict_file(self, env: str) -> Path:
        """Return the path of the verdict that an environment's candidates bring along."""
        return self.candidates / env / PACKAGED

    def gpu_verdict_file(self, env: str) -> Path:
        """Return the path of their verdict of a GPU, which may be missing."""
        return self.candidates / env / PACKAGED_GPU

    def verified(self) -> list[str]:
        """Return the environments whose candidates bring a verdict along."""
        return paper.ordered(file.parent.name for file in self.candidates.glob(f"*/{PACKAGED}"))

    def out(self, *parts: str, usual: Collection[str] = ()) -> str:
        """Return ` --out FOLDER` as a command needs it to write there, "" where it does anyway.

        usual: the folders below `benchmarks` of the command's default.
        """
        where = self.there(*parts)
        return "" if where == DEFAULT.joinpath(*usual) else f" --out {quoted(where)}"


def results(folder: Path) -> Results:
    """Return the results in a folder, beside the verdicts of the candidates that are installed."""
    # However the folder is spelled: its path stands in the commands of what is missing.
    with contextlib.suppress(ValueError):
        folder = folder.resolve().relative_to(Path.cwd())
    return Results(folder, package_folder("twinstep.candidates"))


def quoted(path: Path) -> str:
    """Return a path as a command of a shell names it."""
    return shlex.quote(path.as_posix())


def read(path: Path, parts: Collection[str], schemas: Collection[int] = (1,)) -> Found | None:
    """Return a result; None if there is no such file.

    parts: names that it must have. schemas: its `schema` is one of them; () if it has none.
    UserError for what cannot be read, is no JSON, or is of another program or version.
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
    """Turn what a result lacks deeper inside into a UserError that names its file."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration) as error:
        raise UserError(
            f"{path} is not as twinstep writes it ({error!r}): restore it, or measure it again"
        ) from error
