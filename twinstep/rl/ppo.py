"""PPO on `twinstep.make`: plain JAX and optax, several training seeds side by side.

trained = train(twinstep.make("pong-v0"), PPO(), seeds=[0, 1, 2], steps=3_000_000)

Rollouts of a traceable environment run inside one compiled scan; any other environment steps on the
host, between the same compiled functions. Lanes of all seeds share one batch of environments, but a
seed's parameters see only its own lanes.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from twinstep.contract import Discrete
from twinstep.env.timestep import TimeStep
from twinstep.errors import UserError
from twinstep.frames import Array
from twinstep.plans import CHUNK, PPO
from twinstep.rl.double_buffer import Parts, joined
from twinstep.rl.policies import Params, Policy
from twinstep.rl.ppo_loss import advantages, flat, loss
from twinstep.rl.sharding import spread
from twinstep.rl.versus import Arena


class Trained(NamedTuple):
    """The result of training. S seeds, B batches.

    policy: the network. params: name -> f32[S, ...], NumPy. curves: name -> f32[B, S], for each
    batch: `reward` (mean per step), `return` (mean return of the finished episodes, NaN if there
    are none), `entropy`, `value_loss`, `ratio_kl` (approximate KL divergence of the update).
    """

    policy: Policy
    params: Params
    curves: dict[str, np.ndarray]


class Learner(NamedTuple):
    """The learner's state of one seed, or of all seeds with leading [S]."""

    params: Params
    opt: Any
    key: Array


class _Player(NamedTuple):
    """The environments' state: the policies' next inputs, [S, N, ...], and the returns so far.

    env: the environments' own state; on the host a tuple of states, see double_buffer.Parts.
    is_first: the observation begins an episode. hidden: the GRU's state before it.
    """

    env: Any
    obs: Array
    legal: Array | None
    is_first: Array
    hidden: Array
    total: Array


class _Row(NamedTuple):
    """One step of a batch; `hidden` is the GRU's state after it. Stacked: [T, S, N, ...]."""

    obs: Array
    legal: Array | None
    is_first: Array
    hidden: Array
    choice: Array
    log_prob: Array
    value: Array
    reward: Array
    terminated: Array
    truncated: Array
    final_obs: Array
    total: Array


def train(
    env: Arena,
    ppo: PPO,
    seeds: Sequence[int],
    steps: int,
    progress: Callable[[str], None] = lambda text: None,
) -> Trained:
    """Train one policy per seed for at least `steps` environment steps each.

    env: an environment with same-step auto-reset and one player. Lane k of training seed s begins
    with the environment seed (s * lanes + k, 0). The same seeds give the same result on the same
    machine. UserError if the environment does not fit.
    """
    if env.auto_reset != "same-step":
        raise UserError(f"PPO needs auto_reset='same-step', not '{env.auto_reset}'")
    trainer = Trainer(env, ppo)
    with trainer.precision():
        learner, player = trainer.begin(list(seeds))
        batches = -(-steps // (ppo.lanes * ppo.steps))
        curves = []
        # The same number of batches in every backend, compiled together or not.
        while len(curves) * trainer.together < -(-batches // CHUNK) * CHUNK:
            learner, player, rows = trainer.advance(learner, player)
            curves.append(rows)
            done = min(batches, len(curves) * trainer.together)
            if done % CHUNK == 0 or done == batches:
                progress(f"PPO on {env.backend}, {len(seeds)} seeds: batch {done} of {batches}")
    whole = {name: np.concatenate([c[name] for c in curves]) for name in curves[0]}
    return Trained(trainer.policy, {n: np.asarray(v) for n, v in learner.params.items()}, whole)


class Trainer:
    """The compiled functions of `train` for one environment and one choice of settings.

    mesh: the devices that share the work, None for one. UserError if they cannot share it. chunk:
    batches of one compiled program, if the environment can be part of it.
    """

    def __init__(self, env: Arena, ppo: PPO, mesh: Mesh | None = None, chunk: int = CHUNK) -> None:
        if mesh is not None and not env.traceable:
            raise UserError(f"{env.backend} runs on the host: it trains on one device")
        self._env, self._ppo, self._mesh = env, ppo, mesh
        self._batches = chunk
        self.policy = Policy.of(env.contract, ppo.hidden, ppo.memory, ppo.encode)
        clipped = optax.clip_by_global_norm(ppo.norm)
        updates = ppo.anneal * ppo.epochs * ppo.minibatches
        falling = optax.linear_schedule(ppo.learning_rate, 0.0, updates)
        rate = falling if updates else ppo.learning_rate
        self._optimizer = optax.chain(clipped, optax.adam(rate, eps=1e-5))
        self._parts = Parts(env, ppo.lanes, ppo.double_buffer and not env.traceable)
        self._act = jax.jit(self._acted, static_argnames="part")
        self._keys = jax.jit(jax.vmap(self._split))
        self._update = jax.jit(jax.vmap(self._learn, in_axes=(0, 0, 1, 0)), donate_argnums=0)
        self.chunk = jax.jit(self._chunk, donate_argnums=(0, 1))

    def begin(self, seeds: list[int]) -> tuple[Learner, _Player]:
        """Return new policies and their first observations."""
        count, lanes = len(seeds), self._ppo.lanes
        words = np.array(seeds, np.uint32)[:, None] * np.uint32(lanes)
        words = words + np.arange(lanes, dtype=np.uint32)
        lane_seeds = np.stack([words, np.zeros_like(words)], -1)
        if self._env.traceable:
            state, now = self._env.reset(lane_seeds.reshape(-1, 2))
        else:
            state, now = self._parts.reset(lane_seeds)
        grid = (count, lanes)
        player = _Player(
            state,
            _features(now.obs, grid),
            _legal(now, grid),
            np.ones(grid, bool),
            self.policy.blank(*grid),
            np.zeros(grid, np.float32),
        )
        return self._learners(seeds), player

    def spread(self, learner: Learner, player: _Player) -> tuple[Learner, _Player]:
        """Return both on the mesh's devices, where `advance` keeps them."""
        if self._mesh is None:
            return learner, player
        both = spread(self._mesh, learner, player)
        shardings = jax.tree.map(lambda leaf: leaf.sharding, both)
        whole = NamedSharding(self._mesh, PartitionSpec())
        self.chunk = jax.jit(self._chunk, donate_argnums=(0, 1), out_shardings=(*shardings, whole))
        return both

    @property
    def together(self) -> int:
        """Number of batches per `advance`: more than one if they are one compiled program."""
        return self._batches if self._env.traceable else 1

    def least_bytes(self, seeds: int) -> int:
        """Return a lower bound of the memory that training needs, in bytes.

        It counts a batch's rows, a shuffled copy of their policy inputs, parameters, gradients and
        Adam's two moments.
        """
        contract, ppo = self._env.contract, self._ppo
        chosen = 1 if isinstance(self.policy.action, Discrete) else self.policy.width
        # The choice, its log-probability, the value, reward and return; three flags and a mask.
        words = 3 * math.prod(contract.observation.shape) + ppo.memory + chosen + 4
        flags = 3 + (self.policy.width if contract.masked else 0)
        parameters = sum(math.prod(shape) for shape in self.policy.shapes().values())
        return seeds * (ppo.lanes * ppo.steps * (4 * words + flags) + 4 * 4 * parameters)

    def precision(self) -> contextlib.AbstractContextManager[Any]:
        """Return the context to train in: with float64 environments x64 is on, and the trainer,
        whose dtypes are all explicit, stays in float32."""
        wide = self._env.traceable and self._env.dtype == "float64"
        return jax.enable_x64(True) if wide else contextlib.nullcontext()

    def advance(
        self, learner: Learner, player: _Player
    ) -> tuple[Learner, _Player, dict[str, np.ndarray]]:
        """Roll out and learn `together` batches. Consumes both arguments. Statistics: f32[B, S]."""
        if self._env.traceable:
            learner, player, rows = self.chunk(learner, player)
            return learner, player, {name: np.asarray(values) for name, values in rows.items()}
        learner, player, row = self.batch_on_host(learner, player)
        return learner, player, {name: np.asarray(values)[None] for name, values in row.items()}

    def batch_on_host(
        self, learner: Learner, player: _Player
    ) -> tuple[Learner, _Player, dict[str, Array]]:
        """Roll out and learn one batch with the environments outside the compiled functions."""
        key, shuffle, steps = self._keys(learner.key)
        states, players = list(player.env), self._parts.split(player._replace(env=None))
        count = len(players)
        acted: list[Any] = [None] * count
        rows: list[_Row] = []
        for turn in range((self._ppo.steps + 1) * count):
            t, part = divmod(turn, count)
            if t > 0:
                now = self._parts.result(states, part)
                players[part], row = self._after(players[part], None, now, *acted[part], xp=np)
                rows.append(row)
            if t < self._ppo.steps:
                seen = self._to_device(_seen(players[part]))
                acted[part] = self._act(learner.params, seen, steps[:, t], part=part)
                chosen = self._actions(self._to_host(acted[part][0]), np)
                self._parts.submit(states, part, np.asarray(chosen))
        stacked = self._joined(rows)
        learner, stats = self._update(learner._replace(key=key), shuffle, stacked, player.hidden)
        return learner, joined(players)._replace(env=tuple(states)), stats

    def _to_device(self, seen: Any) -> Any:
        """Return the policy's inputs on its device: the compiled function moves them by itself."""
        return seen

    def _to_host(self, choice: Array) -> np.ndarray:
        return np.asarray(choice)

    def _joined(self, rows: list[_Row]) -> _Row:
        """Join the parts' steps, in turn, into one batch [T, S, N, ...] on the host."""
        parts = self._parts.lanes

        def filled(*leaves: Array) -> np.ndarray:
            seeds, _, *own = leaves[0].shape
            shape = (self._ppo.steps, seeds, self._ppo.lanes, *own)
            batch = np.empty(shape, leaves[0].dtype)
            for turn, leaf in enumerate(leaves):
                batch[turn // len(parts), :, parts[turn % len(parts)]] = leaf
            return batch

        return jax.tree.map(filled, *rows)

    def _acted(
        self, params: Params, seen: Any, keys: Array, part: int = 0
    ) -> tuple[Array, Array, Array, Array]:
        """Return the results of `_act` for all seeds in a part of their lanes."""
        act = partial(_act, self.policy, self._ppo.lanes, self._parts.lanes[part])
        return jax.vmap(act)(params, seen, keys)

    def _chunk(
        self, learner: Learner, player: _Player
    ) -> tuple[Learner, _Player, dict[str, Array]]:
        """Roll out and learn several batches, all compiled; statistics have a leading [B]."""

        def batch(carry: Any, _: None) -> tuple[Any, dict[str, Array]]:
            learner, player = carry
            key, shuffle, steps = self._keys(learner.key)

            def one(player: _Player, keys: Array) -> tuple[_Player, _Row]:
                choice, *rest = self._act(learner.params, _seen(player), keys)
                state, now = self._env.step(player.env, self._actions(choice, jnp))
                return self._after(player, state, now, choice, *rest, xp=jnp)

            before = player.hidden
            player, rows = lax.scan(one, player, steps.swapaxes(0, 1))
            learner, stats = self._update(learner._replace(key=key), shuffle, rows, before)
            return (learner, player), stats

        player = jax.tree.map(jnp.asarray, player)
        (learner, player), stats = lax.scan(batch, (learner, player), None, self._batches)
        return learner, player, stats

    def _learners(self, seeds: list[int]) -> Learner:
        pairs = [jax.random.split(jax.random.key(np.uint32(seed))) for seed in seeds]
        params_of = [self.policy.init(make) for make, _ in pairs]
        params = {name: jnp.stack([one[name] for one in params_of]) for name in params_of[0]}
        optimizer = jax.vmap(self._optimizer.init)(params)
        return Learner(params, optimizer, jnp.stack([key for _, key in pairs]))

    def _split(self, key: Array) -> tuple[Array, Array, Array]:
        key, shuffle, steps = jax.random.split(key, 3)
        return key, shuffle, jax.random.split(steps, self._ppo.steps)

    def _actions(self, choice: Array, xp: Any) -> Array:
        return self.policy.actions(choice.reshape(-1, *choice.shape[2:]), xp)

    def _after(
        self,
        player: _Player,
        state: Any,
        now: TimeStep,
        choice: Array,
        log_prob: Array,
        value: Array,
        hidden: Array,
        xp: Any,
    ) -> tuple[_Player, _Row]:
        """Return the player after a step, and the step as a row of the batch."""
        lanes = player.obs.shape[:2]
        reward = now.reward.reshape(lanes).astype(np.float32)
        terminated, truncated = now.terminated.reshape(lanes), now.truncated.reshape(lanes)
        total = player.total + reward
        ended = terminated | truncated
        row = _Row(
            player.obs, player.legal, player.is_first, hidden, choice, log_prob, value,
            reward, terminated, truncated, _features(now.final_obs, lanes), total,
        )  # fmt: skip
        player = _Player(
            state,
            _features(now.obs, lanes),
            _legal(now, lanes),
            ended,
            hidden,
            xp.where(ended, xp.zeros_like(total), total),
        )
        return player, row

    def _learn(
        self, learner: Learner, shuffle: Array, rows: _Row, before: Array
    ) -> tuple[Learner, dict[str, Array]]:
        """Update one seed's policy from its batch [T, N, ...]. before: state at its start."""
        ppo, policy = self._ppo, self.policy
        ended: Array = rows.terminated | rows.truncated
        # The next observation of the same episode: after an end, `obs` is the next episode's.
        hidden = flat(rows.hidden)
        outputs = policy.apply(
            learner.params, hidden, flat(rows.final_obs), jnp.zeros(len(hidden), bool)
        )
        following = outputs[2].reshape(ended.shape)
        advantage = advantages(
            rows.reward, rows.value, following, rows.terminated, rows.truncated, ppo.gamma, ppo.lam
        )
        data = (
            rows.obs, rows.legal, rows.is_first, rows.choice, rows.log_prob,
            advantage, advantage + rows.value,
        )  # fmt: skip
        # Lane first: minibatches are whole lanes, so that hidden states can be replayed.
        lanes = jax.tree.map(lambda x: x.swapaxes(0, 1), data), before

        def minibatch(carry: Any, part: Any) -> tuple[Any, dict[str, Array]]:
            params, opt = carry
            grads, stats = jax.grad(partial(loss, policy, ppo), has_aux=True)(params, *part)
            with jax.numpy_dtype_promotion("standard"):  # Optax raises a float to an integer power
                updates, opt = self._optimizer.update(grads, opt, params)
            return (optax.apply_updates(params, updates), opt), stats

        def epoch(carry: Any, key: Array) -> tuple[Any, dict[str, Array]]:
            order = jax.random.permutation(key, ppo.lanes)
            parts = jax.tree.map(
                lambda x: x[order].reshape(
                    ppo.minibatches, ppo.lanes // ppo.minibatches, *x.shape[1:]
                ),
                lanes,
            )
            return lax.scan(minibatch, carry, parts)

        keys = jax.random.split(shuffle, ppo.epochs)
        (params, opt), stats = lax.scan(epoch, (learner.params, learner.opt), keys)
        episodes = ended.sum(dtype=jnp.int32).astype(jnp.float32)
        stats = {name: values.mean() for name, values in stats.items()} | {
            "reward": rows.reward.mean(),
            "return": jnp.where(ended, rows.total, jnp.zeros_like(rows.total)).sum() / episodes,
        }
        return learner._replace(params=params, opt=opt), stats


def _seen(player: _Player) -> tuple[Array, Array, Array, Array | None]:
    """Return the policies' inputs; the environment's own state is not batched by seeds."""
    return player.hidden, player.obs, player.is_first, player.legal


def _features(obs: Array, grid: tuple[int, ...]) -> Array:
    return obs.reshape(*grid, -1).astype(np.float32)


def _legal(now: TimeStep, grid: tuple[int, ...]) -> Array | None:
    return None if now.legal is None else now.legal.reshape(*grid, -1)


def _act(
    policy: Policy,
    lanes: int,
    part: slice,
    params: Params,
    seen: tuple[Array, Array, Array, Array | None],
    key: Array,
) -> tuple[Array, Array, Array, Array]:
    """Return a seed's choices in a part of its lanes, their log-probabilities, the values and the
    new hidden state. A lane's noise does not depend on the part."""
    *inputs, legal = seen
    hidden, out, value = policy.apply(params, *inputs)
    choice = policy.sample(params, out, policy.noise(key, lanes)[part], legal)
    log_prob, _ = policy.log_prob_and_entropy(params, out, choice, legal)
    return choice, log_prob, value, hidden
