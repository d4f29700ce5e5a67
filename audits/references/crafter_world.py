"""crafter's world, placed in any state, and kept free of creatures that come, go or draw.

The map is small and drawn by the pair. crafter balances its creatures by draws of the world's
generator: it gets one here that always gives the largest number, with which none comes or goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import crafter
import numpy as np
from crafter import constants, objects

from audits.pair import drifting
from twinstep import Contract, Discrete, Field, Frame, Randomness
from twinstep.chance import Draws, Row

SIZE = 11
ITEMS = tuple(constants.items)
ACHIEVEMENTS = tuple(constants.achievements)
#: Number -> material; a cell with a plant counts as `plant` or `ripe`.
MATERIALS = ("", *constants.materials, "plant", "ripe")
COUNTERS = ("hunger", "thirst", "fatigue", "recover")
#: Facing -> step of x and y. The actions from 1 to 4 move there.
WAYS = ((-1, 0), (1, 0), (0, -1), (0, 1))
RIPE, LIMIT = 300, 10000
#: The ground below a plant, and that on which nothing is found.
GRASS, SAND = MATERIALS.index("grass"), MATERIALS.index("sand")

_PLAYER = (
    Field("map", "int32", (SIZE, SIZE), low=1, high=len(MATERIALS) - 1, step=1, doc="[x, y]"),
    Field("grown", "int32", (SIZE, SIZE), low=-1, high=LIMIT, step=1, doc="-1 without a plant"),
    Field("position", "int32", (2,), low=0, high=SIZE - 1, step=1, names=("x", "y")),
    Field("facing", "int32", low=0, high=3, step=1, doc="left, right, up, down"),
    Field("inventory", "int32", (len(ITEMS),), low=0, high=9, step=1, names=ITEMS),
    Field("counters", "float32", (4,), low=-15, high=31, step=0.5, names=COUNTERS),
    Field("sleeping", "bool"),
    Field("achieved", "bool", (len(ACHIEVEMENTS),), names=ACHIEVEMENTS),
    Field("time", "int32", low=0, high=LIMIT - 1, step=1),
)
_ZOMBIE = ("x", "y", "health", "cooldown")
_CREATURES = {
    "": (),
    "count": (Field("count", "int32", (2,), low=0, high=3, step=1, names=("cows", "zombies")),),
    "one": (
        Field("cow", "int32", (3,), low=0, high=SIZE, step=1, names=("x", "y", "health")),
        Field("zombie", "int32", (4,), low=0, high=SIZE, step=1, names=_ZOMBIE),
    ),
}

State = dict[str, Any]


def number(*names: str) -> list[int]:
    """Return the numbers of materials."""
    return [MATERIALS.index(name) for name in names]


def actions(*names: str) -> tuple[int, ...]:
    """Return the numbers of actions, which are the same on both sides; `move` is all four."""
    every = [each for name in names for each in constants.actions if each.startswith(name)]
    return tuple(sorted({constants.actions.index(each) for each in every}))


def drawn(rng: np.random.Generator, materials: list[int], margin: int = 0) -> State:
    """Return a state: a map of these materials, a player on sand, any inventory.

    margin: cells between the player and the world's edge, at least.
    """
    field = rng.choice(materials, (SIZE, SIZE)).astype(np.int32)
    position = rng.integers(margin, SIZE - margin, 2).astype(np.int32)
    field[tuple(position)] = SAND
    inventory = rng.integers(0, 10, len(ITEMS))
    inventory[4:] *= rng.random(len(ITEMS) - 4) < 0.7
    inventory[0] = max(inventory[0], 1)
    low, high = np.array([0, 0, -10, -15]), np.array([25, 20, 30, 25])
    return {
        "map": field,
        "grown": np.full((SIZE, SIZE), -1, np.int32),
        "position": position,
        "facing": np.int32(rng.integers(0, 4)),
        "inventory": inventory.astype(np.int32),
        "counters": (low + np.round(2 * rng.random(4) * (high - low)) / 2).astype(np.float32),
        "sleeping": np.bool_(False),
        "achieved": rng.random(len(ACHIEVEMENTS)) < 0.3,
        "time": np.int32(rng.integers(0, LIMIT - 1)),
    }


def world(
    version: str,
    allowed: tuple[int, ...],
    draw: Callable[[np.random.Generator], State],
    horizon: int = 20,
    row: Row | None = None,
    creatures: str = "",
    drivers: tuple[str, ...] = ("random",),
) -> tuple[Contract, type[Crafter]]:
    """Return contract and oracle. allowed: the actions played. draw: a generator to a start.

    row: words from which collecting a sapling draws. creatures: `one`, where a state has a cow and
    a zombie; `count`, where it has their number, none at the start.
    drivers: one alone, and short episodes, where single states show that the sides differ: each
    report takes a minute.
    """
    fields = (*_PLAYER, *_CREATURES[creatures])

    def begin(rng):
        return draw(rng) | (row.make_start(rng.integers(0, 2**32, 2)) if row else {})

    class Placed(Crafter):
        choices, chance, shown = allowed, row, creatures
        start = staticmethod(begin)

    contract = Contract(
        version=version,
        gates=drifting(1e-6, "reward"),
        params={},
        action=Discrete(len(allowed), tuple(constants.actions[each] for each in allowed)),
        observation=Field("obs", "int32", (len(ITEMS),), names=ITEMS),
        state=(*fields, *(row.state if row else ())),
        starts=(*fields, *(row.starts if row else ())),
        make_start=lambda seed: begin(np.random.default_rng(seed)),
        randomness=Randomness("a whole state is placed in both", parts={"start": ("obs",)}),
        drivers=drivers,
        truncates=False,
        horizon=horizon,
        placed=2048,
    )
    return contract, Placed


class _Still:
    """The generator of a world in which no creature comes or goes."""

    def uniform(self, low=0.0, high=1.0, size=None):
        return np.full(size or (), np.nextafter(high, low))

    def randint(self, low, high):
        return low


class Crafter:
    """One world of crafter as an oracle; its one word for all ends counts as `terminated`."""

    choices: tuple[int, ...]
    chance: Row | None
    shown: str
    start: Callable[[np.random.Generator], State]

    def __init__(self, contract: Contract) -> None:
        self._env = crafter.Env(area=(SIZE, SIZE), seed=0)
        self._env.reset()
        self._draws = Draws(self.chance, {"_do_material": "sapling"}) if self.chance else None

    def reset(self, start):
        return self.load(start.fields)

    def step(self, action):
        if self._draws is None:
            _, reward, done, _ = self._env.step(self.choices[int(action[0])])
        else:
            with self._draws:
                _, reward, done, _ = self._env.step(self.choices[int(action[0])])
        return self._frame(reward, done)

    def places(self, count, seed, dtype):
        rng = np.random.default_rng(seed)
        states = [self.start(rng) for _ in range(count)]
        return {name: np.stack([state[name] for state in states]) for name in states[0]}

    def load(self, state):
        env, world = self._env, self._env._world
        world.reset(seed=0)
        world.random = _Still()
        world._mat_map[:] = np.where(state["grown"] < 0, state["map"], GRASS)
        env._player = player = objects.Player(world, tuple(map(int, state["position"])))
        world.add(player)
        for at in np.argwhere(state["grown"] >= 0):
            plant = objects.Plant(world, at)
            plant.grown = int(state["grown"][tuple(at)])
            world.add(plant)
        player.facing = WAYS[int(state["facing"])]
        player.inventory = dict(zip(ITEMS, state["inventory"].tolist(), strict=True))
        player.achievements = dict(zip(ACHIEVEMENTS, state["achieved"].astype(int), strict=True))
        player.sleeping = bool(state["sleeping"])
        for name, value in zip(COUNTERS, state["counters"].tolist(), strict=True):
            setattr(player, f"_{name}", value)
        player._last_health = env._last_health = player.health
        env._unlocked = {name for name, count in player.achievements.items() if count}
        env._step = int(state["time"])
        if self._draws is not None:
            player.random = self._draws.random_state()
            self._draws.put(state["draws"])
        if self.shown == "one":
            self._load_creatures(state)
        return self._frame(0.0, False)

    def _load_creatures(self, state):
        world = self._env._world
        x, y, health = state["cow"].tolist()
        if health:
            world.add(cow := objects.Cow(world, (x, y)))
            cow.health = health
        x, y, health, cooldown = state["zombie"].tolist()
        if health:
            world.add(zombie := objects.Zombie(world, (x, y), self._env._player))
            zombie.health, zombie.cooldown = health, cooldown

    def close(self):
        pass

    def _frame(self, reward, done):
        env, player = self._env, self._env._player
        field, grown = env._world._mat_map.astype(np.int32), np.full((SIZE, SIZE), -1, np.int32)
        one = {"cow": np.zeros(3, np.int32), "zombie": np.zeros(4, np.int32)}
        count = np.zeros(2, np.int32)
        for thing in env._world.objects:
            x, y = thing.pos
            if isinstance(thing, objects.Plant):
                field[x, y] = MATERIALS.index("ripe" if thing.ripe else "plant")
                grown[x, y] = thing.grown
            elif isinstance(thing, objects.Cow):
                one["cow"][:] = x, y, thing.health
                count[0] += 1
            elif isinstance(thing, objects.Zombie):
                one["zombie"][:] = x, y, thing.health, thing.cooldown
                count[1] += 1
        inventory = np.array([player.inventory[name] for name in ITEMS], np.int32)
        return Frame(
            obs=inventory[None],
            reward=np.array([reward], np.float32),
            terminated=np.bool_(done),
            truncated=np.bool_(False),
            acting=np.ones(1, bool),
            legal=None,
            state={
                "map": field,
                "grown": grown,
                "position": np.array(player.pos, np.int32),
                "facing": np.int32(WAYS.index(tuple(player.facing))),
                "inventory": inventory,
                "counters": np.array([getattr(player, f"_{name}") for name in COUNTERS], "f4"),
                "sleeping": np.bool_(player.sleeping),
                "achieved": np.array([player.achievements[name] > 0 for name in ACHIEVEMENTS]),
                "time": np.int32(env._step),
                **{"": {}, "one": one, "count": {"count": count}}[self.shown],
                **(self._draws.state() if self._draws else {}),
            },
        )
