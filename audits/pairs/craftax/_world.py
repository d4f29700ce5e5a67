"""Craftax-Classic's world, placed in the states of `audits.references.crafter_world`.

Its map has rows before columns, crafter's has columns first. Its chances of spawning are 0, by its
own parameters.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from craftax.craftax_classic.constants import Achievement, BlockType
from craftax.craftax_classic.envs.craftax_state import EnvParams, Inventory, StaticEnvParams
from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnvNoAutoReset

from audits.references.crafter_world import ACHIEVEMENTS, ITEMS, MATERIALS, SIZE
from twinstep import Contract, Frame, JaxCandidate
from twinstep.chance import JaxDraws, Row

NAMES = {"table": "CRAFTING_TABLE", "ripe": "RIPE_PLANT", "": "INVALID"}
#: crafter's number of a material -> Craftax's, and back.
BLOCKS = jnp.array([BlockType[NAMES.get(name, name.upper())].value for name in MATERIALS])
CODES = jnp.zeros(len(BlockType), jnp.int32).at[BLOCKS].set(jnp.arange(len(MATERIALS)))
#: crafter's order of achievements -> Craftax's place.
ORDER = jnp.array([Achievement[name.upper()].value for name in ACHIEVEMENTS])
NEEDS, THINGS = ITEMS[:4], ITEMS[4:]
#: Functions of Craftax that draw beside the sapling's, for creatures that are not there.
OTHERS = ("update_mobs", "spawn_mobs")
NONE = EnvParams(
    spawn_cow_chance=0.0,
    spawn_zombie_base_chance=0.0,
    spawn_zombie_night_chance=0.0,
    spawn_skeleton_chance=0.0,
)


def candidate(
    allowed: tuple[int, ...], row: Row | None = None, creatures: str = ""
) -> Callable[[Contract], JaxCandidate]:
    """Return the factory of Craftax's world. The arguments are those of `crafter.world`."""

    def build(contract: Contract) -> JaxCandidate:
        port = CraftaxClassicSymbolicEnvNoAutoReset(StaticEnvParams(map_size=(SIZE, SIZE)))
        _, begun = CraftaxClassicSymbolicEnvNoAutoReset().reset(jax.random.PRNGKey(0), NONE)
        begun = jax.tree.map(jnp.asarray, begun)
        chosen = jnp.array(allowed)
        sites = {"do_action": "sapling"} | dict.fromkeys(OTHERS, "others")
        draws = JaxDraws(row, sites) if row else None

        def load(fields):
            inner = _placed(begun, fields)
            # Where they are counted, what Craftax's own start holds of creatures stays.
            if creatures != "count":
                inner = _emptied(inner)
            if creatures == "one":
                inner = _with_creatures(inner, fields)
            words = {"draws": fields["draws"]} if row else {}
            return inner, jnp.float32(0), jnp.bool_(False), words

        def step(state, action):
            inner, _, _, words = state
            key, move = jax.random.PRNGKey(0), chosen[action[0]]
            if draws is None:
                _, after, reward, done, _ = port.step_env(key, inner, move, NONE)
            else:
                with draws.of(words["draws"]) as drawing:
                    _, after, reward, done, _ = port.step_env(drawing.key, inner, move, NONE)
                words = drawing.state()
            same = jax.tree.map(lambda new, old: jnp.asarray(new, old.dtype), after, inner)
            return same, reward.astype(jnp.float32), done, words

        def frame(state):
            inner, reward, done, words = state
            shown = _shown(inner) | SHOWN[creatures](inner) | words
            return Frame(
                obs=shown["inventory"][None],
                reward=reward[None],
                terminated=done,
                truncated=jnp.bool_(False),
                acting=jnp.ones(1, bool),
                legal=None,
                state=shown,
            )

        return JaxCandidate(
            contract, reset=lambda start: load(start.fields), step=step, frame=frame, load=load
        )

    return build


def _placed(begun: Any, fields: Any) -> Any:
    """Return a state with these fields."""
    items = dict(zip(ITEMS, fields["inventory"], strict=True))
    grown = fields["grown"].T
    plants = begun.growing_plants_mask.shape[0]
    rows, columns = jnp.nonzero(grown >= 0, size=plants, fill_value=0)
    there = jnp.arange(plants) < (grown >= 0).sum()
    hunger, thirst, fatigue, recover = fields["counters"]
    return begun.replace(
        map=BLOCKS[fields["map"]].T.astype(begun.map.dtype),
        mob_map=jnp.zeros((SIZE, SIZE), begun.mob_map.dtype),
        player_position=fields["position"][::-1].astype(begun.player_position.dtype),
        player_direction=(fields["facing"] + 1).astype(begun.player_direction.dtype),
        **{f"player_{name}": items[name].astype(jnp.int32) for name in NEEDS},
        inventory=Inventory(**{name: items[name].astype(jnp.int32) for name in THINGS}),
        player_hunger=hunger,
        player_thirst=thirst,
        player_fatigue=fatigue,
        player_recover=recover,
        is_sleeping=fields["sleeping"],
        achievements=jnp.zeros_like(begun.achievements).at[ORDER].set(fields["achieved"]),
        growing_plants_positions=jnp.stack([rows, columns], 1).astype(jnp.int32),
        growing_plants_age=jnp.where(there, grown[rows, columns], 0).astype(jnp.int32),
        growing_plants_mask=there,
        timestep=fields["time"].astype(jnp.int32),
    )


def _emptied(state: Any) -> Any:
    """Return a state without creatures, and without what is kept of those that are gone."""
    herds = {name: getattr(state, name) for name in ("zombies", "cows", "skeletons", "arrows")}
    return state.replace(
        **{name: jax.tree.map(jnp.zeros_like, herd) for name, herd in herds.items()}
    )


def _with_creatures(state: Any, fields: Any) -> Any:
    """Return a state with its cow and zombie, each the first of its kind."""
    for name, mobs in (("cow", "cows"), ("zombie", "zombies")):
        x, y, health, *cooldown = fields[name]
        herd = getattr(state, mobs)
        herd = herd.replace(
            position=herd.position.at[0].set(jnp.stack([y, x])),
            health=herd.health.at[0].set(health),
            mask=herd.mask.at[0].set(health > 0),
        )
        if cooldown:
            herd = herd.replace(attack_cooldown=herd.attack_cooldown.at[0].set(cooldown[0]))
        there = state.mob_map[y, x] | (health > 0)
        state = state.replace(**{mobs: herd}, mob_map=state.mob_map.at[y, x].set(there))
    return state


def _shown(state: Any) -> dict[str, Any]:
    """Return a state's fields in crafter's numbers."""
    rows, columns = state.growing_plants_positions.T
    ages = jnp.where(state.growing_plants_mask, state.growing_plants_age, -1)
    grown = jnp.full((SIZE, SIZE), -1, jnp.int32).at[rows, columns].max(ages)
    needs = [getattr(state, f"player_{name}") for name in NEEDS]
    things = [getattr(state.inventory, name) for name in THINGS]
    counters = ("hunger", "thirst", "fatigue", "recover")
    return {
        "map": CODES[state.map].T,
        "grown": grown.T,
        "position": state.player_position[::-1].astype(jnp.int32),
        "facing": state.player_direction.astype(jnp.int32) - 1,
        "inventory": jnp.stack([*needs, *things]).astype(jnp.int32),
        "counters": jnp.stack([getattr(state, f"player_{name}") for name in counters]),
        "sleeping": state.is_sleeping,
        "achieved": state.achievements[ORDER],
        "time": state.timestep.astype(jnp.int32),
    }


def _creatures(state: Any) -> dict[str, Any]:
    """Return the first cow and zombie, zeros where there is none."""
    seen = {}
    for name, mobs in (("cow", state.cows), ("zombie", state.zombies)):
        row, column = mobs.position[0]
        numbers = [column, row, mobs.health[0]]
        numbers += [mobs.attack_cooldown[0]] if name == "zombie" else []
        seen[name] = jnp.where(mobs.mask[0], jnp.stack(numbers).astype(jnp.int32), 0)
    return seen


def _count(state: Any) -> dict[str, Any]:
    """Return the numbers of cows and zombies."""
    return {"count": jnp.stack([state.cows.mask.sum(), state.zombies.mask.sum()]).astype(jnp.int32)}


#: `creatures` -> the fields of them.
SHOWN = {"": lambda state: {}, "one": _creatures, "count": _count}
