"""Other libraries' environments as candidates, and as oracles, without glue code.

The adapters of `twinstep.adapters` lead outward, to trainers; these lead inward. Each function
returns a class, built as `factory(contract)`, which a declaration names: `from_*` a candidate,
`oracle_from_*` an oracle; a class of your own calls JavaScript through `NodeModule`. No library is
imported before its function is called. `Hooks` and `GymHooks` list what they may be told.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twinstep.inward._gym_episode import GymHooks
    from twinstep.inward._library import Hooks
    from twinstep.inward._paths import at_paths
    from twinstep.inward.brax import from_brax
    from twinstep.inward.dm_env import oracle_from_dm_env
    from twinstep.inward.envpool import from_envpool
    from twinstep.inward.functional import from_functional
    from twinstep.inward.gym_objects import from_gym, oracle_from_gym
    from twinstep.inward.gymnax import from_gymnax
    from twinstep.inward.jumanji import from_jumanji
    from twinstep.inward.navix import from_navix
    from twinstep.inward.node import NodeModule, node_version
    from twinstep.inward.pettingzoo import oracle_from_pettingzoo
    from twinstep.inward.pgx import from_pgx
    from twinstep.inward.vector import from_vector

__all__ = [
    "GymHooks",
    "Hooks",
    "NodeModule",
    "at_paths",
    "from_brax",
    "from_envpool",
    "from_functional",
    "from_gym",
    "from_gymnax",
    "from_jumanji",
    "from_navix",
    "from_pgx",
    "from_vector",
    "node_version",
    "oracle_from_dm_env",
    "oracle_from_gym",
    "oracle_from_pettingzoo",
]

#: Public names whose module is called otherwise than `from_MODULE`.
_HOMES = {
    "GymHooks": "_gym_episode",
    "Hooks": "_library",
    "NodeModule": "node",
    "node_version": "node",
    "at_paths": "_paths",
    "from_gym": "gym_objects",
    "oracle_from_dm_env": "dm_env",
    "oracle_from_gym": "gym_objects",
    "oracle_from_pettingzoo": "pettingzoo",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in __all__:
        raise AttributeError(f"module 'twinstep.inward' has no attribute '{name}'")
    home = _HOMES.get(name, name.removeprefix("from_"))
    return getattr(importlib.import_module(f"twinstep.inward.{home}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
