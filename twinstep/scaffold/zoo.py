"""Inspection of a PettingZoo environment as a reference: all its agents act in one space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twinstep.contract import Discrete
from twinstep.errors import UserError
from twinstep.scaffold import introspect, placing, spaces
from twinstep.scaffold.introspect import ReferenceFacts
from twinstep.scaffold.making import Making, import_package, object_of

_KINDS = "pettingzoo:MODULE or pettingzoo:MODULE:CALLABLE"


def making_of(what: str) -> Making:
    """Return the code of a module of PettingZoo's, or of a callable. UserError if it is none."""
    given, place = f"pettingzoo:{what}", what
    if ":" not in what:
        import_package("pettingzoo")
        # A module of PettingZoo's has `env`, where its agents act in turn, or `parallel_env` alone.
        module = object_of("oracle", _KINDS, given, f"{what}:__name__").imports[-1]
        names = vars(import_package(module))
        name = next((each for each in ("env", "parallel_env") if each in names), "env")
        place = f"{what}:{name}"
    return object_of("oracle", _KINDS, given, place).read_by("oracle_from_pettingzoo")


def reference(making: Making) -> ReferenceFacts:
    """Inspect the environment of `making`; UserError if it cannot be a reference here."""
    env = making()
    agents = getattr(env, "possible_agents", None)
    if not agents or not callable(getattr(env, "action_space", None)):
        raise UserError(
            f"--oracle {making.given}: a {type(env).__name__} has no agents with spaces: give a "
            "PettingZoo environment"
        )
    title = making.title
    actions = [spaces.action_of(env.action_space(agent), title) for agent in agents]
    if any(action != actions[0] for action in actions):
        raise UserError(f"{title}: its agents act in different spaces: wrap it")
    first = [_first(env, agents[0], seed) for seed in range(placing.TRIED)]
    seen, masked = first[0]
    if seen.dtype.kind not in "biuf":
        raise UserError(f"{title}: an agent's observation is not one array: wrap it")
    module = type(env.unwrapped).__module__
    file, digest = introspect.source_of(module)
    versions = introspect.versions_of("pettingzoo", module)
    env.close()
    return ReferenceFacts(
        making,
        introspect.title_of(making, versions),
        actions[0],
        seen.shape,
        seen.dtype.name,
        horizon=0,
        clock=False,
        masked=masked and isinstance(actions[0], Discrete),
        module=module,
        file=file,
        sha256=digest,
        versions=versions,
        first=np.stack([obs for obs, _ in first]),
        # Chance in play shows itself in the episodes that the suite compares.
        fixed=all(np.array_equal(obs, seen) for obs, _ in first),
        inner="env.unwrapped",
        placing=None,
        unplaceable="PettingZoo's environments are not placed",
        players=len(agents),
    )


def _first(env: Any, agent: str, seed: int) -> tuple[np.ndarray, bool]:
    """Return an agent's first observation, and whether it has a mask."""
    answer = env.reset(seed=seed)
    in_turn = callable(getattr(env, "observe", None))
    obs = env.observe(agent) if in_turn else answer[0][agent]
    info = (env.infos if in_turn else answer[1]).get(agent, {})
    parts = obs if isinstance(obs, Mapping) else {}
    return np.asarray(parts.get("observation", obs)), "action_mask" in {**parts, **info}
