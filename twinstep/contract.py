"""The contract between a reference and its fast implementation, as data.

A contract holds names, shapes, ranges and rules. It never holds code that computes an
observation, a mask or a transition: a bug in a function that both sides call is invisible.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from twinstep.errors import UserError
from twinstep.gates import Further, Gate, GateRule, Lockstep
from twinstep.plans import Transfer


class Role(enum.Enum):
    """The role of a state field. Every field of the reference's state has one.

    COMPARED: must agree, and `load` needs it.
    HIDDEN: compared and required by `load`, but expensive to read. Frames omit it; the oracle's
        `hidden()` is called only where a state is handed over, as in a one-step witness.
    DERIVED: must agree, but follows from other fields, so `load` may ignore it.
    IRRELEVANT: not compared; a generic test perturbs it and requires that nothing else changes.
    """

    COMPARED = "compared"
    HIDDEN = "hidden"
    DERIVED = "derived"
    IRRELEVANT = "irrelevant"


@dataclass(frozen=True)
class Field:
    """One named array.

    shape: without the leading batch axes. low, high: the closed range that tests draw from; for
        a state field the known range of its reachable values.
    step: the grid that tests draw from (1 for whole numbers in a float; 0 for any value).
    names: names of the elements along the last axis, used in reports.
    large: stored as per-step digests plus compressed deltas (RAM, pixels).

    UserError unless a range is two numbers in order, and each element has a name or none has.
    """

    name: str
    dtype: str
    shape: tuple[int, ...] = ()
    low: float | None = None
    high: float | None = None
    step: float = 0.0
    role: Role = Role.COMPARED
    names: tuple[str, ...] = ()
    large: bool = False
    doc: str = ""

    def __post_init__(self) -> None:
        for name in ("low", "high", "step"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Real) and value == value):
                raise UserError(
                    f"field '{self.name}': {name} is {value!r}: give one number, and elements of "
                    "another range a field of their own"
                )
        if self.low is not None and self.high is not None and self.low > self.high:
            raise UserError(f"field '{self.name}': low {self.low} is above high {self.high}")
        if self.names and (*self.shape[-1:],) != (len(self.names),):
            raise UserError(
                f"field '{self.name}': {len(self.names)} names for the last axis of shape "
                f"{list(self.shape)}"
            )


@dataclass(frozen=True)
class Discrete:
    """Actions 0 .. n-1, held as int32. names: the meaning of each action, for reports."""

    n: int
    names: tuple[str, ...] = ()

    dtype = "int32"
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Box:
    """Real-valued actions in [low, high], held in `dtype` with `shape`.

    beyond: tests also draw actions up to this factor outside the range, because a reference may
    clip, clamp or charge for them in its own way. 1 stays inside.
    """

    low: float
    high: float
    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    beyond: float = 1.0


ActionSpace = Discrete | Box


@dataclass(frozen=True)
class Module:
    """A part of the step that both sides can call alone through `call(name, inputs)`.

    inputs: the arrays it takes; their ranges are its level 1 domain. `action` may be one.
    outputs: the arrays it returns. By an output named like a frame path (`reward`, `obs`) or a
        state field, the module owns that field: differences are attributed by ownership where
        the module cannot be called.
    owns: the fields it owns instead, if its outputs include fields of other modules.
    needs: modules that come before it; reports name the first differing one in this order.
    landmarks: constants at which its behaviour may change; tests put inputs on them, next
        to them, and at these distances from each other.
    source: its place in the reference (`pong.h:88-97`); shown as `source_view` allows.
    """

    name: str
    inputs: tuple[Field, ...]
    outputs: tuple[Field, ...]
    needs: tuple[str, ...] = ()
    landmarks: tuple[float, ...] = ()
    source: str = ""
    doc: str = ""
    owns: tuple[str, ...] | None = None

    def owned(self) -> set[str]:
        """Return the names of the fields that the module owns."""
        return {f.name for f in self.outputs} if self.owns is None else set(self.owns)


@dataclass(frozen=True)
class Measure:
    """A number printed with the coverage: a frame path reduced by `max`, `min` or `absmax`."""

    name: str
    path: str
    reduce: str = "absmax"


@dataclass(frozen=True)
class Randomness:
    """The scheme by which both sides draw the same numbers.

    scheme: one sentence, printed in the header.
    draws: the state field that counts draws, compared like any other; "" if there is none.
    parts: named randomised parts of an episode's start and the frame paths that show them;
        generic tests require that each varies, and varies without the others.
    between: `module:callable`, called as `between(before, after)` with two states' fields; returns
        the count of numbers drawn in between, None if it is unknown. "" if there is no such call.
    """

    scheme: str
    draws: str = ""
    parts: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    between: str = ""


@dataclass(frozen=True)
class Contract:
    """The whole agreement on one environment under one choice of parameters.

    version: `pong-v0`; grows when behaviour or observation changes.
    observation: one player's observation; `names` name its slices.
    starts: the fields of `Start.fields`; make_start fills them from a seed, None without fields.
    gates: the first that matches a path decides its comparison; exact lockstep without a match.
    further: additional gates; every one that matches must hold.
    events: things that happen in the reference, counted as coverage.
    drivers: names of the policies that level 3 plays; None for `random` and `sticky`, and
        `careless` where some actions are illegal and may be asked.
    illegal: the reference's answer to an illegal action, where none may be asked: `it raises`. ""
        where the reference goes on, and a candidate must go on likewise.
    free_seed: whether any seed goes with any start's fields; a shipped environment then takes only
        the fields from its table of starts, and keeps the lane's own seed.
    horizon: steps after which the recording cuts an episode that has not ended.
    shipped: maximum lanes and minimum steps of a recording through auto-resets; fewer for a slow
        reference.
    reset_mode: the reference's own step at an episode's end: `none`, `same-step` or `next-step`.
        With `same-step`, `restart` on both sides gives the frame that the reference returned in
        place of the terminal one.
    truncates: whether the reference ever truncates an episode by itself.
    ends: whether an episode ever ends; False where only the horizon cuts it.
    auto_resets: the kinds of auto-reset that `twinstep.make` offers; only `off` for a variant
        that exists for its proof alone.
    largest_batch: the most lanes that `twinstep bench` measures; verified as shipped.
    placed: number of placed states of level 2; 0 where fields drawn one by one give impossible
        states. Not part of the digest.
    data: name -> sha256 of files that parameters name and that change the game (a ROM).
    source_view: the part of the reference that reports may show: `verbatim`, `location`, `rules`.
    transfer: the settings of level 4, None without one. full_transfer: the same with the budget
        of a GPU (`--full-budget`). Neither is part of the digest: they change no trace.
    """

    version: str
    params: Mapping[str, Any]
    action: ActionSpace
    observation: Field
    state: tuple[Field, ...]
    randomness: Randomness
    reward_dtype: str = "float32"
    players: int = 1
    masked: bool = False
    starts: tuple[Field, ...] = ()
    make_start: Callable[[np.ndarray], dict[str, np.ndarray]] | None = None
    modules: tuple[Module, ...] = ()
    gates: tuple[GateRule, ...] = ()
    further: tuple[GateRule, ...] = ()
    events: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    drivers: tuple[str, ...] = None  # type: ignore[assignment]
    illegal: str = ""
    free_seed: bool = False
    horizon: int = 1000
    shipped: tuple[int, int] = (32, 768)
    reset_mode: str = "none"
    truncates: bool = True
    ends: bool = True
    auto_resets: tuple[str, ...] = ("off", "same-step", "next-step")
    largest_batch: int = 65536
    placed: int = 16384
    data: Mapping[str, str] = dataclasses.field(default_factory=dict)
    source_view: str = "verbatim"
    transfer: Transfer | None = None
    full_transfer: Transfer | None = None

    def __post_init__(self) -> None:
        if self.drivers is None:
            careless = ("careless",) if self.masked and not self.illegal else ()
            object.__setattr__(self, "drivers", ("random", "sticky", *careless))

    @property
    def shown(self) -> tuple[Field, ...]:
        """The state fields that frames include."""
        return tuple(f for f in self.state if f.role is not Role.HIDDEN)

    @property
    def hidden(self) -> tuple[Field, ...]:
        """The state fields that frames omit."""
        return tuple(f for f in self.state if f.role is Role.HIDDEN)

    def state_field(self, name: str) -> Field:
        """Return the state field called `name`; KeyError if there is none."""
        for field in self.state:
            if field.name == name:
                return field
        raise KeyError(name)

    def module(self, name: str) -> Module:
        """Return the module called `name`; KeyError if there is none."""
        for module in self.modules:
            if module.name == name:
                return module
        raise KeyError(name)

    def layout(self) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
        """Return the dtype and single-lane shape of every path of a frame."""
        players = (self.players,)
        paths: dict[str, tuple[np.dtype, tuple[int, ...]]] = {
            "obs": (np.dtype(self.observation.dtype), players + self.observation.shape),
            "reward": (np.dtype(self.reward_dtype), players),
            "terminated": (np.dtype(bool), ()),
            "truncated": (np.dtype(bool), ()),
            "acting": (np.dtype(bool), players),
        }
        if self.masked:
            assert isinstance(self.action, Discrete)
            paths["legal"] = (np.dtype(bool), (*players, self.action.n))
        for field in self.shown:
            paths[f"state.{field.name}"] = (np.dtype(field.dtype), field.shape)
        return paths

    def action_layout(self) -> tuple[np.dtype, tuple[int, ...]]:
        """Return the dtype and single-lane shape of an action, players first."""
        return np.dtype(self.action.dtype), (self.players, *self.action.shape)

    def gate(self, *names: str, candidate: str, dtype: str, platform: str) -> Gate:
        """Return the gate of a frame path: the first rule that matches, else exact lockstep.

        names: the path, or the names of a module's output (`newton.qacc`, `qacc`).
        """
        rule = self.rule(*names, candidate=candidate, dtype=dtype, platform=platform)
        assert not isinstance(rule.gate, Further), "one of a contract's further gates"
        return rule.gate

    def rule(self, *names: str, candidate: str, dtype: str, platform: str) -> GateRule:
        """Return the rule whose gate `gate` returns."""
        for rule in self.gates:
            if rule.fits(*names, candidate=candidate, dtype=dtype, platform=platform):
                return rule
        return GateRule(Lockstep())

    def compared_paths(self) -> list[str]:
        """Return the frame paths that must agree, in frame order."""
        irrelevant = {f"state.{f.name}" for f in self.state if f.role is Role.IRRELEVANT}
        return [path for path in self.layout() if path not in irrelevant]

    def digest(self) -> str:
        """Return the sha256 of the contract's canonical JSON. Documentation does not count."""
        return hashlib.sha256(canonical_json(_plain(self)).encode()).hexdigest()


#: Fields that change no trace.
_NO_MATTER = (
    "doc",
    "source",
    "owns",
    "between",
    "transfer",
    "full_transfer",
    "placed",
    "ends",
    "illegal",
)
#: Omitted at these values, so that contracts older than the field keep their digest.
_LATER = {"data": {}, "shipped": (32, 768), "free_seed": False, "signed_zeros": True}


def canonical_json(value: Any) -> str:
    """Return the canonical JSON text of `value`: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            f.name: _plain(getattr(value, f.name))
            for f in dataclasses.fields(value)
            if f.name not in _NO_MATTER
            and not (f.name in _LATER and getattr(value, f.name) == _LATER[f.name])
        }
        return {"": type(value).__name__, **fields}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    if callable(value):
        return f"{value.__module__}:{value.__qualname__}"
    return value
