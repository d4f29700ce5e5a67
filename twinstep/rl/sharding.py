"""Training on several devices: arrays are sharded along their lanes or their training seeds.

If the number of devices divides the seeds, each device trains its own policies without
communication. Otherwise one policy's lanes are sharded, and the compiled program sums gradients
across devices.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from twinstep.errors import UserError

_AXIS = "lanes"


def mesh_of(devices: int, seeds: int, lanes: int) -> Mesh | None:
    """Return the mesh of all devices, of several processes too; None for a single device.

    devices: their number, 0 for all. UserError if they cannot share the work evenly.
    """
    available = jax.devices()
    count = devices or len(available)
    if not 1 <= count <= len(available):
        raise UserError(f"--devices {count}: there are {len(available)}")
    if count == 1:
        return None
    if seeds % count and (seeds > 1 or lanes % count):
        raise UserError(
            f"{count} devices cannot share {seeds} seeds of {lanes} lanes alike: a multiple of "
            f"{count} seeds, or one seed of a multiple of {count} lanes"
        )
    return Mesh(np.array(available[:count]), (_AXIS,))


def spread(mesh: Mesh, learner: Any, player: Any) -> tuple[Any, Any]:
    """Return ppo.Trainer's learner and player on the mesh's devices.

    Leaves of the learner are [S, ...], those of the player [S, N, ...]; leaves of the environment's
    own state have S * N lanes along their first or last axis.
    """
    seeds, lanes = player.is_first.shape
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
    """Return an array with a sharding; each process holds all of it and places its own part."""
    if jax.process_count() == 1:
        return jax.device_put(leaf, sharding)
    if isinstance(leaf, jax.Array) and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(_placed(jax.random.key_data(leaf), sharding))
    values = np.asarray(leaf)
    return jax.make_array_from_callback(values.shape, sharding, lambda part: values[part])


def whole(tree: Any, mesh: Mesh | None) -> Any:
    """Return a tree with all arrays in full on this process. All processes must call it."""
    if mesh is None or jax.process_count() == 1:
        return tree
    return jax.jit(lambda full: full, out_shardings=NamedSharding(mesh, PartitionSpec()))(tree)
