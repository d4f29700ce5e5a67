"""PPO iterations that measure the environment's share of their time.

Outside JAX the loop itself is clocked. Where environment and network are one compiled program, no
clock fits between them. There the same program is also run with a second batch of environments in
every step, and the additional time is the environment's.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from twinstep.bench.training_targets import Clocked
from twinstep.env.timestep import TimeStep
from twinstep.frames import Array
from twinstep.plans import PPO
from twinstep.rl.ppo import Learner, Trainer
from twinstep.rl.versus import Arena


class Seconds(NamedTuple):
    """Seconds of one iteration. whole: of PPO training. environment: the environment's part.
    transfer: the part of copies between host and device and into a batch; None where there are no
    separate copies. clocked: seconds of all programs run for the measurement.
    """

    whole: float
    environment: float
    transfer: float | None
    clocked: float


class Iteration(Protocol):
    """One backend's."""

    def play(self, turn: int) -> Seconds:
        """Play and learn one more batch; turn: the number of the round."""
        ...


def iteration_of(arena: Arena, ppo: PPO) -> Iteration:
    """Return the iteration of an environment, with fresh parameters."""
    return _Fused(arena, ppo) if arena.traceable else _Hosted(arena, ppo)


class _Drawn(Trainer):
    """A trainer that draws its parameters on the device.

    Their values do not affect times, and orthogonal matrices of 200M parameters would take minutes.
    """

    def _learners(self, seeds: list[int]) -> Any:
        shapes = self.policy.shapes()

        def drawn(key: Array) -> Any:
            keys = dict(zip(shapes, jax.random.split(key, len(shapes)), strict=True))
            params = {
                name: jax.random.normal(keys[name], shape, jnp.float32)
                / np.float32(max(1, shape[0]) ** 0.5)
                for name, shape in shapes.items()
            }
            return params, self._optimizer.init(params), key

        keys = jnp.stack([jax.random.key(np.uint32(seed)) for seed in seeds])
        return Learner(*jax.jit(jax.vmap(drawn))(keys))


class _Timed(_Drawn):
    """A trainer on the host that waits for its device before each copy, and counts the copies."""

    copies = 0.0

    def _to_device(self, seen: Any) -> Any:
        return self._copied(seen)

    def _to_host(self, choice: Array) -> np.ndarray:
        jax.block_until_ready(choice)
        begun = time.perf_counter()
        made = super()._to_host(choice)
        self.copies += time.perf_counter() - begun
        return made

    def _joined(self, rows: list[Any]) -> Any:
        jax.block_until_ready(rows)
        begun = time.perf_counter()
        made = super()._joined(rows)
        self.copies += time.perf_counter() - begun
        return self._copied(made)

    def _copied(self, tree: Any) -> Any:
        begun = time.perf_counter()
        made = jax.block_until_ready(jax.device_put(tree))
        self.copies += time.perf_counter() - begun
        return made


class _Hosted:
    def __init__(self, arena: Arena, ppo: PPO) -> None:
        self._arena = Clocked(arena)
        own: Any = self._arena
        # Overlapping parts have no separate shares.
        self._trainer = _Timed(own, dataclasses.replace(ppo, double_buffer=False))
        self._learner, self._player = self._trainer.begin([0])

    def play(self, turn: int) -> Seconds:
        self._arena.seconds = self._trainer.copies = 0.0
        begun = time.perf_counter()
        self._learner, self._player, _ = jax.block_until_ready(
            self._trainer.batch_on_host(self._learner, self._player)
        )
        whole = time.perf_counter() - begun
        return Seconds(whole, self._arena.seconds, self._trainer.copies, whole)


class _Fused:
    def __init__(self, arena: Arena, ppo: PPO) -> None:
        doubled: Any = Doubled(arena)
        self._trainers = [_Drawn(arena, ppo, chunk=1), _Drawn(doubled, ppo, chunk=1)]
        with self._trainers[0].precision():
            self._learner, first = self._trainers[0].begin([0])
            self._players = [first, self._trainers[1].begin([0])[1]]

    def play(self, turn: int) -> Seconds:
        """Alternate the order of the two programs, so that neither always begins."""
        order = (0, 1) if turn % 2 == 0 else (1, 0)
        taken = dict((which, self._one(which)) for which in order)
        return Seconds(taken[0], taken[1] - taken[0], None, taken[1])

    def _one(self, which: int) -> float:
        trainer = self._trainers[which]
        with trainer.precision():
            begun = time.perf_counter()
            self._learner, self._players[which], _ = jax.block_until_ready(
                trainer.chunk(self._learner, self._players[which])
            )
            return time.perf_counter() - begun


class DoubledState(NamedTuple):
    """first, second: the environment's own. legal: of the second, bool[N, A] or None. seen: f32[N],
    the sum of the second's outputs, so that no compiler removes any of them.
    """

    first: Any
    second: Any
    legal: Array | None
    seen: Array


class Doubled:
    """An environment with a second, hidden one of as many lanes that is stepped along.

    The second begins with other seeds and gets the first one's actions, or legal ones instead. It
    waits for the first, and the network waits for it: run in parallel, its cost would be too small.
    """

    def __init__(self, arena: Arena) -> None:
        self._inner = arena

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def reset(self, seeds: Array) -> tuple[DoubledState, TimeStep]:
        """Begin both."""
        first, now = self._inner.reset(seeds)
        other = np.asarray(seeds) ^ np.array([1 << 31, 0], np.uint32)
        second, shown = self._inner.reset(other)
        return DoubledState(first, second, shown.legal, _sum(shown, np)), now

    def step(self, state: DoubledState, actions: Array) -> tuple[DoubledState, TimeStep]:
        """Step both."""
        xp: Any = jnp if isinstance(actions, Tracer) else np
        first, now = self._inner.step(state.first, actions)
        own = _once_known(_sum(now, xp), _possible(actions, state.legal, xp), xp)
        second, shown = self._inner.step(state.second, own)
        seen = _sum(shown, xp)
        now = now._replace(obs=_once_known(seen, now.obs, xp))
        return DoubledState(first, second, shown.legal, state.seen + seen), now


def _once_known(seen: Array, values: Array, xp: Any) -> Array:
    """Return the values unchanged, after the sum is computed: no compiler knows that the sum never
    equals the one number."""
    wide = seen.reshape(-1, *[1] * (values.ndim - 1))
    return xp.where(wide == np.float32(-1.5e38), xp.zeros_like(values), values)


def _possible(actions: Array, legal: Array | None, xp: Any) -> Array:
    """Return the legal actions unchanged, and the first legal one in place of the others."""
    if legal is None:
        return actions
    flat = actions.reshape(-1)
    rows: Array = legal.reshape(len(flat), -1)
    fine = xp.take_along_axis(rows, flat[:, None].astype(xp.int32), axis=-1)[:, 0]
    return xp.where(fine, flat, rows.argmax(-1).astype(flat.dtype)).reshape(actions.shape)


def _sum(shown: TimeStep, xp: Any) -> Array:
    total = xp.zeros(len(shown.reward), np.float32)
    for values in shown:
        if values is not None:
            total = total + values.reshape(len(total), -1).astype(np.float32).sum(-1)
    return total
