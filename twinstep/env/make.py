"""`twinstep.make`: an environment as shipped, batched; `env.verdict` says what was verified.

env = twinstep.make("pong-v0")
state, step = env.reset(seed=0, lanes=4096)
state, step = env.step(state, actions)
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import jax
import numpy as np

from twinstep.contract import ActionSpace, Contract, Field
from twinstep.env import finite_check, serialization
from twinstep.env.host_engine import NativeEngine, OracleEngine
from twinstep.env.jax_engine import compiled_engine
from twinstep.env.spaces import BoxSpace, DiscreteSpace, action_space, observation_space
from twinstep.env.timestep import StartTable, TimeStep, lane_seeds, with_players
from twinstep.environment import Variant
from twinstep.errors import OracleMissing, UserError
from twinstep.frames import Array, Fields, Frame, Start
from twinstep.jax_candidate import JaxCandidate
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, Pair
from twinstep.project.verdicts import Verdict, jax_settings, verdict_of
from twinstep.protocols import offers
from twinstep.runner.runner import Runner

ORACLE = "oracle"


def make(
    id: str,
    backend: str = "",
    *,
    auto_reset: str = "same-step",
    starts: Start | None = None,
    debug: bool = False,
    **params: Any,
) -> Env:
    """Return an environment.

    id: `pong-v0`. backend: one of its candidates (default: the first), or `oracle` for the
    slow reference itself. auto_reset: `same-step` (a step that ends an episode returns the
    next one's first observation, and the last in `final_obs`), `next-step` (the next step of
    that lane begins the episode and ignores its action), or `off`. starts: batched starts
    from which later episodes are drawn, for environments whose starts have fields.
    debug: whether step and rollout raise UserError for an action or a number of the state that is
    not finite; without it they treat such numbers as the reference does.
    params: the environment's parameters, as in `twinstep envs`.

    Raises UserError (one line with the fix) for anything unknown or missing.
    """
    env = registry.environment(_name_of(id))
    declared = {parameter.name: parameter for parameter in env.parameters}
    for name, value in params.items():
        if name not in declared:
            raise registry.unknown(f"parameter of {env.name}", name, declared)
        kind = type(declared[name].default)
        if declared[name].default is not None and type(value) is not kind:
            raise UserError(f"parameter {name}: {value!r} is no {kind.__name__}")
        choices = declared[name].choices
        if choices is not None and value not in choices:
            raise UserError(
                f"parameter {name}: {value!r} is none of {', '.join(map(str, choices))}"
            )
    subject = EnvVariant(env, Variant("", params))
    if subject.contract.version != id:
        raise UserError(f"unknown environment '{id}': this twinstep has {subject.contract.version}")
    if auto_reset not in subject.contract.auto_resets:
        raise registry.unknown("auto_reset", auto_reset, subject.contract.auto_resets)
    return Env(subject, backend or env.candidates[0].name, auto_reset, starts, debug)


def _name_of(id: str) -> str:
    names = registry.names()
    if id in names:
        raise UserError(f"environments have versions: write '{_version(id)}'")
    name = id.rpartition("-v")[0]
    if name not in names:
        versions = []
        for known in names:
            with contextlib.suppress(UserError):  # a broken declaration concerns only its own id
                versions.append(_version(known))
        raise registry.unknown("environment", id, versions)
    return name


def _version(name: str) -> str:
    return EnvVariant(registry.environment(name), Variant("", {})).contract.version


class Env:
    """A batched environment. A state is opaque; a step consumes its state.

    id, backend, auto_reset: as given to `make`. contract: the verified one. traceable: whether
    reset, step and rollout may be called inside the caller's own jit, vmap and scan. independent:
    whether states of several resets may be stepped in turn. dtype, platform: the backend's.
    """

    def __init__(
        self,
        subject: EnvVariant,
        backend: str,
        auto_reset: str,
        starts: Start | None = None,
        debug: bool = False,
    ) -> None:
        self.contract: Contract = subject.contract
        self.id = self.contract.version
        self.backend = backend
        self.auto_reset = auto_reset
        self._debug = debug
        self._table = StartTable(self.contract, starts)
        self._action_dtype = self.contract.action_layout()[0]
        self._most_lanes = 0
        self._subject = subject
        self._pair: Pair | None = None
        self.traceable, self.independent = False, backend != ORACLE
        self._is_jax = self._wide = False
        if backend == ORACLE:
            self.dtype, self.platform = "reference", "cpu"
            self._engine: Any = self._oracle_engine()
        else:
            self._pair = registry.pairs(subject, [backend])[0]
            self._engine = self._candidate_engine(self._pair)
        engine = self._engine
        methods = engine.reset, engine.step, engine.rollout, engine.frame
        if self.traceable:
            jitted, rows = self._compiled, jax.tree.map(np.asarray, self._table.rows)
            begin, step, rollout = (
                functools.partial(method, rows)
                for method in (jitted.reset, jitted.step, jitted.rollout)
            )
            methods = begin, step, rollout, jitted.frame
        self._reset, self._step, self._rollout, self._frame = methods

    def reset(
        self, seed: int | Array = 0, lanes: int | None = None, *, num_envs: int | None = None
    ) -> tuple[Any, TimeStep]:
        """Begin an episode in every lane.

        seed: lane k of `lanes` (default 1) begins with seed (seed + k, 0); or u32[N, 2],
        every lane's own. num_envs: Gymnasium's name for `lanes`.
        """
        if lanes is not None and num_envs is not None:
            raise ValueError(f"lanes={lanes} and num_envs={num_envs} mean the same: give one")
        count = lanes if num_envs is None else num_envs
        if isinstance(seed, int | np.integer):
            seeds: Any = lane_seeds(int(seed), 1 if count is None else count)
        else:
            seeds = seed
            if seeds.ndim != 2 or seeds.shape[1] != 2:
                raise ValueError(f"seeds have shape {list(seeds.shape)}; expected [N, 2]")
            if num_envs not in (None, len(seeds)):
                raise ValueError(f"num_envs={num_envs}, but there are {len(seeds)} seeds")
        self._most_lanes = max(self._most_lanes, len(seeds))
        with self._precision():
            return self._reset(seeds)

    def step(self, state: Any, actions: Array) -> tuple[Any, TimeStep]:
        """Apply actions [N, ...], with more than one player [N, P, ...]."""
        if self._debug:
            self._require_finite("step", state, actions)
        with self._precision():
            return self._step(state, with_players(self.contract, self._array(actions), 1))

    def rollout(self, state: Any, actions: Array) -> tuple[Any, TimeStep]:
        """Apply actions [T, N, ...] in one call; time steps have a leading [T, N]."""
        if self._debug:
            self._require_finite("rollout", state, actions)
        with self._precision():
            return self._rollout(state, with_players(self.contract, self._array(actions), 2))

    def frame(self, state: Any) -> Frame:
        """Return the present frame: the observation and all inner fields by name.

        UserError where the backend has no `frame`.
        """
        if self.backend != ORACLE and not self.traceable and not self._shows():
            raise UserError(f"backend '{self.backend}' of {self.id} has no `frame`")
        with self._precision():
            return self._frame(state)

    def clone(self, state: Any) -> Any:
        """Return a state that a later step does not consume."""
        if self.traceable:
            return jax.tree.map(lambda leaf: leaf.copy(), state)
        if not hasattr(self._engine, "clone"):
            raise UserError(f"a state of backend '{self.backend}' cannot be cloned")
        return self._engine.clone(state)

    def save(self, state: Any) -> bytes:
        """Return a state as bytes that any backend of this environment can restore.

        UserError where the contract names no state, or the backend does not show it.
        """
        if not self.contract.state:
            raise UserError(f"the contract of {self.id} names no state: there is nothing to save")
        seed = np.asarray(getattr(state, "seed", np.zeros((0, 2), np.uint32)))
        frame = self.frame(state)
        ended = np.asarray(frame.terminated) | np.asarray(frame.truncated)
        return serialization.pack(
            self.contract, frame, seed, ended & (self.auto_reset == "next-step")
        )

    def restore(self, data: bytes) -> Any:
        """Return the saved state. UserError if it is of another environment."""
        fields, seed, ended = serialization.unpack(self.contract, data)
        loadable = self._engine._pure.load is not None if self.traceable else self._loads()
        if not loadable:
            raise UserError(f"backend '{self.backend}' cannot load a state of {self.id}")
        return self._load(fields, seed, ended)

    @property
    def observation(self) -> Field:
        """One player's observation: dtype, shape, range and the names of its elements."""
        return self.contract.observation

    @property
    def action(self) -> ActionSpace:
        """The action space."""
        return self.contract.action

    @property
    def observation_space(self) -> BoxSpace:
        """One player's observation space in Gymnasium's terms: low, high, shape, dtype."""
        return observation_space(self.contract.observation)

    @property
    def action_space(self) -> DiscreteSpace | BoxSpace:
        """One player's action space in Gymnasium's terms: n, or low and high; shape, dtype."""
        return action_space(self.contract.action)

    def decode(self, obs: Array) -> dict[str, Array]:
        """Split an observation [..., K] by the names of its elements."""
        names = self.contract.observation.names
        if not names:
            return {"obs": obs}
        return {name: obs[..., place] for place, name in enumerate(names)}

    @property
    def verdict(self) -> Verdict:
        """The verdict on exactly this backend, device, auto-reset and choice of parameters.

        It is of as many lanes as were reset, and of JAX's present settings where they matter.
        """
        given = jax_settings() if self._is_jax else {}
        return verdict_of(
            self._subject,
            self._pair,
            self.platform,
            self.auto_reset,
            lanes=self._most_lanes,
            settings={k: v for k, v in given.items() if not (self._wide and k.endswith("x64"))},
        )

    def close(self) -> None:
        """Free the resources; only the oracle has any."""
        if self.backend == ORACLE:
            self._engine.close()

    def __repr__(self) -> str:
        chosen = self.contract.params
        params = "".join(f", {name}={chosen[name]!r}" for name in sorted(chosen))
        return f"make('{self.id}', '{self.backend}', auto_reset='{self.auto_reset}'{params})"

    def _candidate_engine(self, pair: Pair) -> Any:
        if pair.probe.problem:
            raise UserError(f"backend {self.backend}: {pair.probe.problem}: {pair.probe.mend}")
        candidate = Runner.of(pair).candidate
        self.dtype, self.platform = candidate.dtype, candidate.platform
        self._is_jax = isinstance(candidate, JaxCandidate)
        self._wide = self._is_jax and self.dtype == "float64"
        if isinstance(candidate, JaxCandidate) and not self._resets_itself(candidate):
            self.traceable = True
            self._compiled = compiled_engine(self.contract, candidate.pure, self.auto_reset)
            return self._compiled.engine
        return NativeEngine(self.contract, candidate, self.auto_reset, self._table)

    def _resets_itself(self, candidate: Any) -> bool:
        """Whether the candidate's own auto-reset is what ships; `make` has one for JAX's lanes."""
        return self.auto_reset != "off" and offers(candidate, "auto_step")

    def _oracle_engine(self) -> OracleEngine:
        probe = self._subject.probe
        if probe.problem:
            raise OracleMissing(probe.problem, probe.mend)
        factory = registry.load_object(self._subject.env.oracle.factory)
        return OracleEngine(
            self.contract, lambda: factory(self.contract), self.auto_reset, self._table, lean=True
        )

    def _load(self, fields: Fields, seed: Array, ended: Array) -> Any:
        self._most_lanes = max(self._most_lanes, len(ended))
        with self._precision():
            return self._engine.load(fields, seed, ended)

    def _require_finite(self, what: str, state: Any, actions: Array) -> None:
        finite_check.require_finite(what, {"actions": actions})
        named = self.frame(state).state
        finite_check.require_finite(what, {f"state.{name}": value for name, value in named.items()})

    def _loads(self) -> bool:
        return self.backend != ORACLE and hasattr(self._engine._candidate, "load")

    def _shows(self) -> bool:
        return hasattr(self._engine._candidate, "frame")

    def _array(self, actions: Array) -> Array:
        """Return actions as the contract has them: a candidate meets no other layout or dtype.

        It may not write to the caller's either. ValueError for numbers that this would change.
        """
        dtype = self._action_dtype
        mine = actions if isinstance(actions, jax.Array) else np.asarray(actions)
        if mine.dtype != dtype:
            if not np.can_cast(mine.dtype, dtype, "same_kind"):
                raise ValueError(f"actions are {mine.dtype}; expected {dtype}")
            mine = mine.astype(dtype)
        if isinstance(mine, np.ndarray):
            mine = np.ascontiguousarray(mine).view()
            mine.flags.writeable = False
        return mine

    def _precision(self) -> contextlib.AbstractContextManager[Any]:
        return jax.enable_x64(True) if self._wide else contextlib.nullcontext()
