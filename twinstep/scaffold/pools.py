"""Inspection of an EnvPool as a candidate: it cannot be placed, so the reference follows it."""

from __future__ import annotations

import warnings
from importlib.metadata import version
from typing import Any

import numpy as np

from twinstep.errors import UserError
from twinstep.scaffold import placing, spaces
from twinstep.scaffold.introspect import ReferenceFacts
from twinstep.scaffold.making import first_line, import_package
from twinstep.scaffold.twins import Twin, require_alike

#: The pool's own first observation.
_FIRST = """\
import envpool

number = int(seed[0] ^ seed[1]) & 0x7FFFFFFF
pool = envpool.make_gymnasium("{id}", num_envs=1, seed=[number])
obs = np.ravel(pool.reset()[0][0])
pool.close()"""


def envpool(id: str, facts: ReferenceFacts) -> Twin:
    """Inspect the EnvPool `id`; UserError unless its spaces are the reference's."""
    package = import_package("envpool")
    title = f"envpool's {id}"
    firsts, limit, space = [], 0, None
    with warnings.catch_warnings():  # of its own spaces, with each pool
        warnings.simplefilter("ignore")
        for seed in range(placing.TRIED):
            pool = _made(package, id, seed)
            firsts.append(np.asarray(pool.reset()[0])[0])
            limit = int(getattr(pool.spec.config, "max_episode_steps", 0))
            space = pool.action_space
            pool.close()
    require_alike(
        facts, title, spaces.action_of(space, title), firsts[0].shape, firsts[0].dtype.name
    )
    asked = facts.placing is not None and bool(facts.placing.read_off)
    fixed = facts.fixed and all(np.array_equal(first, facts.first[0]) for first in firsts)
    why = facts.unplaceable or "the reference's state is not to be read off its observation"
    return Twin(
        "envpool",
        title,
        "port",
        {"envpool": version("envpool")},
        limit,
        False,
        f"an EnvPool cannot be placed, and {why}",
        alike="every episode of both begins with the same observation" if fixed else "",
        asked=asked and not fixed,
        values={
            "fasttitle": title,
            "fastnames": "from_envpool",
            "adapter": "from_envpool",
            "fastid": id,
            **dict.fromkeys(("fastimports", "fastenv", "fastpart", "paths", "clockfield"), ""),
            "firstobs": _FIRST.format(id=id),
        },
    )


def _made(package: Any, id: str, seed: int) -> Any:
    try:
        return package.make_gymnasium(id, num_envs=1, seed=[seed])
    except Exception as error:  # the library's own
        raise UserError(f"--candidate envpool:{id}: {first_line(error)}") from error
