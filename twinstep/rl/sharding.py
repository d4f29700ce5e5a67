"""Training on several devices: every array has its lanes, or its training seeds, spread over them.

Where the devices divide the seeds, each device trains policies of its own, and nothing is sent.
Else one policy's lanes are spread, and the compiled program adds up the gradients across devices.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from twinstep.errors import UserError

_AXIS = "lanes"


def mesh_of(devices: int, seeds: int, lanes: int) -> Mesh | None:
    """Return the mesh of all devices, of several processes too; None for a single one.

    devices: how many, 0 for all there are. UserError where they cannot share the work alike.
    """
    found = jax.devices()
    count = devices or len(found)
    if not 1 <= count <= len(found):
        raise UserError(f"--devices {count}: there are {len(found)}")
    if count == 1:
        return None
    if seeds % count and (seeds > 1 or lanes % count):
        raise UserError(
            f"{count} devices cannot share {seeds} seeds of {lanes} lanes alike: a multiple of "
            f"{count} seeds, or one seed of a multiple of {count} lanes"
        )
    return Mesh(np.array(found[:count]), (_AXIS,))


def spread(mesh: Mesh, learner: Any, player: Any) -> tuple[Any, Any]:
    """Return ppo.Trainer's two sides on the mesh's devices.

    Leaves of the learner have the seeds first, [S, ...]; those of the player [S, N, ...], but the
    environment's own, which has S * N lanes along its leaves' first or last axis.
    """
    seeds, lanes = player.fresh.shape
    apart = not seeds % mesh.size
    axis = 0 if apart else 1

    def of_env(leaf: Any) -> Any:
        ends = [place for place in (0, -1) if np.shape(leaf)[place:][:1] == (seeds * lanes,)]
        return _place(mesh, leaf, ends[0] if ends else None)

    env = jax.tree.map(of_env, player.env)
    rows = jax.tree.map(lambda leaf: _place(mesh, leaf, axis), player._replace(env=None))
    learner = jax.tree.map(lambda leaf: _place(mesh, leaf, 0 if apart else None), learner)
    return learner, rows._replace(env=env)


def _place(mesh: Mesh, leaf: Any, axis: int | None) -> Any:
    names: list[str | None] = [None] * np.ndim(leaf)
    if axis is not None and np.ndim(leaf):
        names[axis] = _AXIS
    return _placed(leaf, NamedSharding(mesh, PartitionSpec(*names)))


def _placed(leaf: Any, sharding: NamedSharding) -> Any:
    """Return an array where it belongs; each process has all of it and gives its own part."""
    if jax.process_count() == 1:
        return jax.device_put(leaf, sharding)
    if isinstance(leaf, jax.Array) and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(_placed(jax.random.key_data(leaf), sharding))
    held = np.asarray(leaf)
    return jax.make_array_from_callback(held.shape, sharding, lambda part: held[part])


def whole(tree: Any, mesh: Mesh | None) -> Any:
    """Return a tree whose every array this process holds in full. All of them must ask for it."""
    if mesh is None or jax.process_count() == 1:
        return tree
    return jax.jit(lambda held: held, out_shardings=NamedSharding(mesh, PartitionSpec()))(tree)
