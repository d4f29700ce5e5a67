"""Policies: small networks over flat observations, for training in JAX and playing in NumPy.

Both use the same functions, whose last argument is the array module. With stacked parameters of S
policies (`[S, ...]`), inputs are `[S, N, ...]`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.contract import ActionSpace, Box, Contract, Discrete
from twinstep.errors import UserError
from twinstep.frames import Array
from twinstep.project.registry import load_object

#: name -> f32 array.
Params = dict[str, Array]
#: The logit of an illegal action; its probability is zero, and nothing becomes NaN.
_NEVER = -1e9


@dataclass(frozen=True)
class Policy:
    """An actor and a critic on one trunk of tanh layers, with a GRU after it if `memory`.

    inputs: elements of an observation, or of its encoding by `encode`. action: discrete actions are
    drawn from a masked softmax, real ones from a Gaussian whose standard deviation does not depend
    on the observation; its unit is half the action's range, and values outside are clipped.
    hidden: sizes of the layers. memory: size of the GRU's hidden state, 0 for none.
    """

    inputs: int
    action: ActionSpace
    hidden: tuple[int, ...] = (64, 64)
    memory: int = 0
    encode: Callable[[Array, Any], Array] | None = None

    @classmethod
    def of(
        cls, contract: Contract, hidden: tuple[int, ...], memory: int, encode: str = ""
    ) -> Policy:
        """Return the policy of a contract; see plans.PPO. UserError with more than one player."""
        if contract.players != 1:
            raise UserError(f"{contract.version} has {contract.players} players; PPO trains one")
        size = math.prod(contract.observation.shape)
        encoder = load_object(encode) if encode else None
        if encoder is not None:
            size = encoder(np.zeros((1, size), np.float32), np).shape[-1]
        return cls(size, contract.action, tuple(hidden), memory, encoder)

    @property
    def width(self) -> int:
        """Number of outputs of the actor: logits, or means of the action's elements."""
        if isinstance(self.action, Discrete):
            return self.action.n
        return math.prod(self.action.shape)

    @property
    def layers(self) -> list[tuple[str, int, int, float]]:
        """Name, inputs, outputs and initial gain of each linear layer."""
        sizes = [self.inputs, *self.hidden]
        layers = [
            (f"layer{place}", rows, columns, math.sqrt(2))
            for place, (rows, columns) in enumerate(itertools.pairwise(sizes))
        ]
        last = sizes[-1]
        if self.memory:
            layers.append(("gru", last, 3 * self.memory, 1.0))
            layers.append(("kept", self.memory, 3 * self.memory, 1.0))
            last = self.memory
        return [*layers, ("actor", last, self.width, 0.01), ("critic", last, 1, 1.0)]

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each array of parameters, all f32."""
        shapes: dict[str, tuple[int, ...]] = {}
        for name, rows, columns, _ in self.layers:
            shapes |= {f"{name}_w": (rows, columns), f"{name}_b": (columns,)}
        return shapes | ({"log_std": (self.width,)} if isinstance(self.action, Box) else {})

    def init(self, key: Array) -> Params:
        """Return new parameters, NumPy arrays: orthogonal weights, zero biases.

        NumPy's QR, one matrix at a time: jaxlib's blocks a thread of XLA's pool while it waits for
        other threads of it, and two at once, of policies side by side, deadlock on two cores.
        """
        keys = jax.random.split(key, len(self.hidden) + 4)
        params: Params = {}
        for (name, rows, columns, gain), own in zip(self.layers, keys, strict=False):
            tall = (max(rows, columns), min(rows, columns))
            drawn = np.asarray(jax.random.normal(own, tall, jnp.float32))
            weights, upper = np.linalg.qr(drawn)
            # QR's own choice of signs would not be uniform.
            weights = np.float32(gain) * weights * np.sign(np.diag(upper))
            params[f"{name}_w"] = weights if rows >= columns else weights.T
            params[f"{name}_b"] = np.zeros(columns, np.float32)
        if isinstance(self.action, Box):
            params["log_std"] = np.full(self.width, -0.5, np.float32)
        return params

    def blank(self, *lanes: int) -> np.ndarray:
        """Return the hidden state f32[*lanes, M] at an episode's start."""
        return np.zeros((*lanes, self.memory), np.float32)

    def apply(
        self, params: Params, hidden: Array, obs: Array, is_first: Array, xp: Any = jnp
    ) -> tuple[Array, Array, Array]:
        """Evaluate the network on one observation.

        hidden: the GRU's state f32[..., N, M]. obs: f32[..., N, K]. is_first: bool[..., N], True
        for an episode's first observation, which clears the state beforehand. Returns the new
        state, the actor's outputs f32[..., N, A] and the value f32[..., N].
        """

        def layer(name: str, x: Array) -> Array:
            return x @ params[f"{name}_w"] + params[f"{name}_b"][..., None, :]

        x = obs if self.encode is None else self.encode(obs, xp)
        for place in range(len(self.hidden)):
            x = xp.tanh(layer(f"layer{place}", x))
        if self.memory:
            hidden = xp.where(is_first[..., None], xp.zeros_like(hidden), hidden)
            x = hidden = _gru(layer("gru", x), layer("kept", hidden), hidden, xp)
        return hidden, layer("actor", x), layer("critic", x)[..., 0]

    def noise(self, key: Array, lanes: int) -> Array:
        """Return the noise of `sample` for one step, f32[N, A]: Gumbel or normal."""
        shape = (lanes, self.width)
        if isinstance(self.action, Discrete):
            return jax.random.gumbel(key, shape, jnp.float32)
        return jax.random.normal(key, shape, jnp.float32)

    def numpy_noise(self, rng: np.random.Generator, *lanes: int) -> np.ndarray:
        """Return the same kind of noise from a NumPy generator, f32[*lanes, A]."""
        shape = (*lanes, self.width)
        if isinstance(self.action, Discrete):
            return rng.gumbel(size=shape).astype(np.float32)
        return rng.standard_normal(shape, np.float32)

    def sample(
        self, params: Params, out: Array, noise: Array, legal: Array | None, xp: Any = jnp
    ) -> Array:
        """Draw a choice: int32[..., N], or f32[..., N, A] in units of half the action's range.

        out: of `apply`. legal: bool[..., N, A], or None.
        """
        if isinstance(self.action, Discrete):
            return (_masked(out, legal, xp) + noise).argmax(-1).astype(xp.int32)
        return out + xp.exp(params["log_std"])[..., None, :] * noise

    def actions(self, choice: Array, xp: Any = jnp) -> Array:
        """Return the environment's actions [N, ...] of choices with one batch axis."""
        if isinstance(self.action, Discrete):
            return choice.astype(self.action.dtype)
        middle = (self.action.low + self.action.high) / 2
        half = (self.action.high - self.action.low) / 2
        real = xp.clip(middle + half * choice, self.action.low, self.action.high)
        return real.reshape(len(choice), *self.action.shape).astype(self.action.dtype)

    def log_prob_and_entropy(
        self, params: Params, out: Array, choice: Array, legal: Array | None
    ) -> tuple[Array, Array]:
        """Return both, f32[N], of choices [N, ...]; for one policy's parameters."""
        if isinstance(self.action, Discrete):
            logs = jax.nn.log_softmax(_masked(out, legal, jnp), axis=-1)
            chosen = jnp.take_along_axis(logs, choice[:, None], axis=-1)[:, 0]
            return chosen, -(jnp.exp(logs) * logs).sum(-1)
        log_std = params["log_std"][None]
        unit = (choice - out) * jnp.exp(-log_std)
        each = -0.5 * unit**2 - log_std - 0.5 * math.log(2 * math.pi)
        entropy = (log_std + 0.5 * math.log(2 * math.pi * math.e)).sum()
        return each.sum(-1), jnp.broadcast_to(entropy, each.shape[:1])


def _masked(logits: Array, legal: Array | None, xp: Any) -> Array:
    return logits if legal is None else xp.where(legal, logits, xp.full_like(logits, _NEVER))


def _gru(inner: Array, outer: Array, hidden: Array, xp: Any) -> Array:
    """Return a GRU's next state from both linear maps [..., 3 M]: reset, update, candidate."""
    m = hidden.shape[-1]
    reset = _sigmoid(inner[..., :m] + outer[..., :m], xp)
    update = _sigmoid(inner[..., m : 2 * m] + outer[..., m : 2 * m], xp)
    candidate = xp.tanh(inner[..., 2 * m :] + reset * outer[..., 2 * m :])
    return (1 - update) * candidate + update * hidden


def _sigmoid(x: Array, xp: Any) -> Array:
    return 0.5 * (xp.tanh(0.5 * x) + 1)  # exp would overflow in NumPy
