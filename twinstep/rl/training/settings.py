"""The settings of a training run: from a contract's plan, a small TOML file and the command."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import reprlib
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twinstep.errors import UserError
from twinstep.plans import CHUNK, PPO, Transfer
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, variant_of

#: Value of `against` for self-play.
SELF = "self"


@dataclass(frozen=True)
class TrainingSettings:
    """A training run.

    env, variant: the environment; backend: one of its candidates, or `oracle`. steps: environment
    steps of each policy, rounded up to CHUNK batches. seeds: training seeds, one policy each.
    against: in a two-player game, a declared player, `module:callable` (see versus.Player), the
    folder of a run, or `self`; "" with a single player. shaping: `module:callable`, a potential for
    reward shaping during training; "" for none. ppo: PPO's settings.
    """

    env: str
    variant: str
    backend: str
    steps: int
    seeds: tuple[int, ...] = (0,)
    against: str = ""
    shaping: str = ""
    ppo: PPO = PPO()

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise UserError(f"steps = {self.steps}: at least 1 is needed")
        for name in ("variant", "backend", "against", "shaping"):
            _require_text(name, getattr(self, name))
        _require_text("ppo.encode", self.ppo.encode)
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise UserError(f"seeds = {list(self.seeds)}: one or more, each once")
        if not all(0 <= seed < 2**31 // self.ppo.lanes for seed in self.seeds):
            raise UserError(
                f"seeds = {list(self.seeds)}: with {self.ppo.lanes} lanes each lies in "
                f"[0, {2**31 // self.ppo.lanes})"
            )

    @property
    def batches(self) -> int:
        """Number of batches of each policy: whole CHUNKs, the same in every backend."""
        return -(-self.steps // (self.ppo.lanes * self.ppo.steps * CHUNK)) * CHUNK

    def subject(self) -> EnvVariant:
        """Return the environment's variant."""
        return variant_of(self.env, self.variant)

    def toml(self) -> str:
        """Return the TOML that `read` accepts, with every value explicit."""
        plain = dataclasses.asdict(self)
        table = plain.pop("ppo")
        lines = [f"{name} = {_toml(value)}" for name, value in plain.items()]
        lines += ["", "[ppo]"] + [f"{name} = {_toml(value)}" for name, value in table.items()]
        return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """Return a value in the common syntax of JSON and TOML; U+007F needs an escape in TOML."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\x7f", "\\u007f")


def _require_text(name: str, value: str) -> None:
    """UserError for bytes of a command line that are not UTF-8: no file could hold them."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UserError(f"{name} = {value!r} is no text: write it in UTF-8") from error


def settle(
    env: str, file: Path | None, chosen: Mapping[str, Any], assigned: Sequence[str] = ()
) -> TrainingSettings:
    """Return the settings of a new run: the plan, overridden by a file, then by the command.

    file: TOML with the fields of TrainingSettings and a table `[ppo]`, all optional. assigned:
    further lines of the file, such as `ppo.lanes=64`. chosen: options of the command line, by
    field. UserError for an unknown name or a wrong value.
    """
    given = read(file) if file else {}
    for line in assigned:
        more = _assigned(line)
        given = {**given, **more, "ppo": {**given.get("ppo", {}), **more.get("ppo", {})}}
    where = str(file) if file and not assigned else f"{file} and --set" if file else "--set"
    if given.get("env", env) != env:
        raise UserError(f"{where}: its `env` is {given['env']}, and the command says {env}")
    declared = registry.environment(env)
    variant = str({**given, **chosen}.get("variant", declared.variants[0].name))
    plan = variant_of(env, variant).contract.transfer
    settings = _planned(env, variant, declared.candidates[0].name, plan)
    ppo = _replaced(settings.ppo, given.pop("ppo", {}), f"{where}: ppo.")
    # Values that the command overrides are checked, too.
    return _replaced(_replaced(settings, given, f"{where}: ", ppo=ppo), chosen, "--")


def read(file: Path) -> dict[str, Any]:
    """Return the content of a TOML file, its names checked. UserError if it cannot be read."""
    try:
        given = tomllib.loads(file.read_text())
    except OSError as error:
        raise UserError(f"{file} cannot be read ({error.strerror})") from error
    # A number of thousands of digits is a plain ValueError.
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file} is no TOML: {error}") from error
    return _known(given, str(file))


def _assigned(line: str) -> dict[str, Any]:
    """Return the content of a line of TOML, in which strings need no quotes."""
    name, equals, value = line.partition("=")
    for text in (line, f"{name}={_toml(value.strip())}") if equals else ():
        with contextlib.suppress(ValueError, RecursionError):
            return _known(tomllib.loads(text), "--set")
    raise UserError(f"--set {line}: write NAME=VALUE, as in `--set ppo.lanes=64`")


def _known(given: dict[str, Any], where: str) -> dict[str, Any]:
    """UserError if a name is no setting."""
    if not isinstance(given.get("ppo", {}), dict):
        raise UserError(f"{where}: `ppo` is a table, [ppo]")
    for kind, table, prefix in ((TrainingSettings, given, ""), (PPO, given.get("ppo", {}), "ppo.")):
        names = [field.name for field in dataclasses.fields(kind)]
        for name in table:
            if name not in names:
                problem = registry.unknown("key", f"{prefix}{name}", [prefix + n for n in names])
                raise UserError(f"{where}: {problem}")
    return given


def load(folder: Path, whole: bool = False) -> TrainingSettings:
    """Return the settings of the run in a folder. UserError if there is none.

    whole: True if all PPO settings must be there, too; otherwise missing ones have their defaults.
    """
    file = folder / "settings.toml"
    if not file.is_file():
        raise UserError(f"{folder} holds no training run (no settings.toml)")
    given = read(file)
    missing = [each.name for each in dataclasses.fields(TrainingSettings) if each.name not in given]
    if whole and not missing:
        own = [each.name for each in dataclasses.fields(PPO)]
        missing = [f"ppo.{name}" for name in own if name not in given["ppo"]]
    if missing:
        raise UserError(f"{file} lacks {missing[0]}: it was not written by a run")
    ppo = _replaced(PPO(), given.pop("ppo"), f"{file}: ppo.")
    return _replaced(TrainingSettings("", "", "", 1), given, f"{file}: ", ppo=ppo)


def _planned(env: str, variant: str, backend: str, plan: Transfer | None) -> TrainingSettings:
    plan = plan or Transfer(0.0, 0.0)
    return TrainingSettings(
        env, variant, backend, plan.steps, against=plan.opponent, shaping=plan.shaping, ppo=plan.ppo
    )


def _replaced(settings: Any, given: Mapping[str, Any], where: str, **more: Any) -> Any:
    """Return a dataclass with new values, each of its field's type."""
    values: dict[str, Any] = {}
    for name, value in given.items():
        kind = type(getattr(settings, name))
        if kind is tuple and isinstance(value, list):
            fine, value = all(type(part) is int for part in value), tuple(value)
        elif kind is float and type(value) is int:
            fine = abs(value) <= sys.float_info.max
            value = float(value) if fine else value
        else:
            fine = type(value) is kind
        if not fine:
            words = "list of whole numbers" if kind is tuple else kind.__name__
            raise UserError(f"{where}{name} = {reprlib.repr(value)} is no {words}")
        values[name] = value
    try:
        return dataclasses.replace(settings, **values, **more)
    except ValueError as error:
        raise UserError(f"{where}{error}") from error
