"""The engine's parts alone, on a scene: implementations of the contract's modules.

Every function takes a module's inputs for one scene, by name, and may be batched with `vmap`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.contracts.pokejax.layout import STATE
from twinstep.contracts.pokejax.modules import (
    CALLED,
    CONDITIONS,
    DEFAULTS,
    LOCKING,
    RAGE,
    SCENE,
    scene_team,
)
from twinstep.generated.pokejax import damage as damages
from twinstep.generated.pokejax import members
from twinstep.generated.pokejax.after import after_move_self
from twinstep.generated.pokejax.batch import lanes_last
from twinstep.generated.pokejax.battle import Battle
from twinstep.generated.pokejax.before import before_move
from twinstep.generated.pokejax.effects import boost
from twinstep.generated.pokejax.episode import born, full_pp
from twinstep.generated.pokejax.lcg import Draws
from twinstep.generated.pokejax.members import Team
from twinstep.generated.pokejax.moves import act
from twinstep.generated.pokejax.requests import legal
from twinstep.generated.pokejax.stage import stage
from twinstep.generated.pokejax.state import (
    DTYPES,
    MOVE_REQUEST,
    SLEEP,
    TOXIC,
    Fighter,
    State,
    pick,
)
from twinstep.generated.pokejax.status import catch
from twinstep.generated.pokejax.tables import NO_TYPE, Move
from twinstep.generated.pokejax.turn import build, come_in, residual, sort_actions

Array = jax.Array
Fields = dict[str, Array]

#: The conditions that are no flags, with their fields; the first marks the condition as present.
_OF_CONDITION = {
    "bide": ("bide_time", "bide_damage"),
    "confusion": ("confusion",),
    "disable": ("disable_time", "disable_slot"),
    "lockedmove": ("locked_move", "locked_time", "locked_accuracy"),
    "rage": ("rage_accuracy",),
    "partiallytrapped": ("trapped_duration", "trapped_hidden", "trapped_source"),
    "fakepartiallytrapped": ("fake_duration", "fake_counterpart"),
    "partialtrappinglock": (
        *("lock_move", "lock_duration", "lock_total", "lock_damage", "lock_target"),
    ),
    "substitute": ("substitute",),
    "twoturnmove": ("charging",),
}


class Scene(NamedTuple):
    """state: as placed. all: bool[...], True. one acts; two is its foe."""

    state: State
    all: Array
    battle: Battle
    teams: tuple[Team, Team]
    one: Fighter
    two: Fighter

    def run(self, part: Callable[..., Any]) -> Any:
        """Call part(battle, one, two), which may write to them."""
        return stage(self.all, part, self.battle, self.one, self.two)

    def result(self, module: str, **found: Array) -> Fields:
        """Return the module's outputs: fields of the present state, and the results."""
        stage(self.all, _write, *self.teams, self.one, self.two)
        # Decided at the end of a step; no module returns it.
        same = {name: getattr(self.state, name) for name in ("turn", "winner", "request")}
        after = build(self.state, self.battle, self.teams, (self.one, self.two), **same)
        return _outputs(module, {**after._asdict(), **found})


def _write(one_team: Team, two_team: Team, one: Fighter, two: Fighter) -> Array:
    members.write(one_team, one)
    members.write(two_team, two)
    return one.slot


def _outputs(module: str, found: Fields) -> Fields:
    declared = next(m for m in CALLED if m.name == module).outputs
    return {field.name: found[field.name].astype(field.dtype) for field in declared}


def _scene(given: Fields) -> Scene:
    name, value = next(iter((n, v) for n, v in given.items() if n in SCENE))
    batch = value.shape[len(SCENE[name].shape) :]

    def wide(array: Any) -> Array:
        array = jnp.asarray(array)
        return jnp.broadcast_to(array.reshape(*array.shape, *[1] * len(batch)), array.shape + batch)

    placed = {**{name: wide(value) for name, value in DEFAULTS.items()}, **given}
    state = _placed(placed, wide)
    (one_team, one), (two_team, two) = (members.read(state, side) for side in (0, 1))
    battle = Battle(Draws(state.seed[0], state.seed[1]), state.last_damage, state.rules != 0)
    one.move = pick([one.moves[i] for i in range(4)], one.selected_slot)
    rages = jnp.where(one.rage_accuracy > 0, RAGE, 0)
    for lock in (one.lock_move, one.charging, one.locked_move, rages):
        one.move = jnp.where(lock > 0, lock, one.move)
    always = jnp.ones(batch, jnp.bool_)
    return Scene(state, always, battle, (one_team, two_team), one, two)


def _placed(placed: Fields, wide: Callable[[Any], Array]) -> State:
    there = {
        name: (placed["conditions"] == index).any(1) for index, name in enumerate(CONDITIONS, 1)
    }
    there["residualdmg"] = there["residualdmg"] | (placed["status"] == TOXIC)
    there["bide"] = there["bide"] & ~there["partialtrappinglock"]
    values = {
        field.name: wide(jnp.zeros(field.shape, DTYPES.get(field.name, jnp.uint8)))
        for field in STATE
    }
    alike = [field.name for field in STATE if SCENE.get(field.name, field).shape == field.shape]
    values |= {name: placed[name] for name in alike if name in placed}
    placed = {**placed, **{name: _locking(name, placed[name]) for name in LOCKING}}
    for name, fields in _OF_CONDITION.items():
        for field in fields:
            values[field] = jnp.where(there[name], placed[field], jnp.zeros_like(placed[field]))
    values["flags"] = jnp.stack([there[name] for name in CONDITIONS[:11]], 1)
    values["toxic_counter"] = jnp.where(
        there["residualdmg"], placed["toxic_counter"], jnp.zeros_like(placed["toxic_counter"])
    )
    second = jnp.where(placed["single"], jnp.uint8(NO_TYPE), placed["types"][:, 1])
    values["types"] = jnp.stack([placed["types"][:, 0], second], 1)
    virtual = placed["virtual"] | placed["transformed"][:, None]
    values["virtual"] = virtual
    values["moves"] = jnp.where(virtual, placed["virtual_moves"], placed["own_moves"])
    values["move_pp"] = jnp.where(virtual, placed["virtual_pp"], placed["pp"])
    slots = [values["moves"][:, i] for i in range(4)]
    meant = pick(slots, placed["disable_slot"])
    values["disable_move"] = jnp.where(there["disable"], meant, jnp.zeros_like(meant))

    team = wide(scene_team())
    for column, field in ((0, "own_species"), (1, "level")):
        team = team.at[:, 0, column].set(placed[field])
    values["team"] = team.at[:, 0, 2:6].set(placed["own_moves"])
    behind = [[team[side, 1, k].astype(jnp.int32) for k in range(18)] for side in (0, 1)]
    stats = jnp.stack([jnp.stack(born(member)) for member in behind]).astype(jnp.int16)
    most = placed["hp"] + placed["missing"]
    own = jnp.concatenate([most[:, None], placed["own_stats"]], 1)
    values["base_stats"] = _members(values["base_stats"], own, stats)
    down = placed["bench_fainted"]
    whole = jnp.where(down, jnp.zeros_like(most), stats[:, 0])
    values["hp"] = _members(values["hp"], placed["hp"], whole)
    values["fainted"] = _members(values["fainted"], jnp.zeros_like(down), down)
    full = jnp.stack([jnp.stack([full_pp(move) for move in member[2:6]]) for member in behind])
    values["pp"] = _members(values["pp"], placed["pp"], full.astype(jnp.uint8))
    for field, dozing in (("status", None), ("sleep", 1), ("sleep_by_foe", placed["bench_by_foe"])):
        mine, other = placed[field], placed["bench_status"]
        if dozing is not None:
            mine = jnp.where(placed["status"] == SLEEP, mine, jnp.zeros_like(mine))
            naps = placed["bench_status"] == SLEEP
            other = jnp.where(naps, dozing, jnp.zeros_like(dozing)).astype(mine.dtype)
        values[field] = _members(values[field], mine, other)
    never = jnp.zeros_like(down)
    values["sub_fainted"] = _members(values["sub_fainted"], placed["sub_fainted"], never)
    values["order"] = wide(jnp.tile(jnp.arange(6, dtype=jnp.uint8), (2, 1)))
    values["request"] = values["request"] + MOVE_REQUEST
    return State(**{**values, "rules": placed["clauses"].astype(jnp.uint8)})


def _locking(name: str, place: Array) -> Array:
    """Return the moves that a field of LOCKING stands for."""
    return jnp.asarray(np.array(LOCKING[name], np.uint8))[place]


def _members(blank: Array, first: Array, second: Array) -> Array:
    """Return [2, 6, ...] with these two members on each side."""
    return blank.at[:, 0].set(first).at[:, 1].set(second)


def generator(given: Fields) -> Fields:
    """Draw a number below n."""
    draws = Draws(given["seed"][0], given["seed"][1])
    draws.skip(given["skipped"].astype(jnp.int32))
    drawn = draws.below(given["n"].astype(jnp.uint32), given["n"] > 0)
    seed = jnp.stack([draws.high, draws.low])
    return _outputs("generator", {"drawn": drawn, "seed": seed})


def member(given: Fields) -> Fields:
    """Make a Pokemon: its stats and PP."""
    row = [given["own_species"], given["level"]]
    row += [given[name][i] for name in ("moves", "iv", "ev") for i in range(len(given[name]))]
    numbers = [value.astype(jnp.int32) for value in row]
    pp = jnp.stack([full_pp(move) for move in numbers[2:6]])
    return _outputs("member", {"born": jnp.stack(born(numbers)), "pp_born": pp})


def boosts(given: Fields) -> Fields:
    """Raise or lower one stage."""
    scene = _scene(given)
    amount = given["amount"].astype(jnp.int32)
    change = jnp.where(given["lowers"], -amount, amount)
    mask = jnp.left_shift(jnp.int32(1), given["stat"].astype(jnp.int32))
    changed = scene.run(lambda battle, me, foe: boost(me, mask, change, scene.all))
    return scene.result("boosts", changed=changed)


def types(given: Fields) -> Fields:
    """Look up the effect of types on a move."""
    scene = _scene(given)
    move = Move(given["move"].astype(jnp.int32))

    def look(battle: Battle, me: Fighter, foe: Fighter) -> tuple[Array, Array]:
        by = [damages.effectiveness(move.type, kind) for kind in foe.types]
        both = [jnp.where(each == -2, 0, each) for each in by]
        return damages.immune(foe, move), both[0] + both[1]

    immune, effect = scene.run(look)
    return _outputs("types", {"immune": immune, "effect": effect})


def damage(given: Fields) -> Fields:
    """Compute the damage of a move to the foe."""
    scene = _scene(given)
    move = Move(given["move"].astype(jnp.int32))

    def roll(battle: Battle, me: Fighter, foe: Fighter) -> tuple[Array, Array]:
        hurts = (move.category != damages.STATUS) & ~move.at_self
        hurts = hurts & ~damages.immune(foe, move)
        found = damages.damage_of(battle, me, foe, move, hurts)
        return jnp.where(hurts & ~found.fails, found.amount, 0), found.fails

    amount, fails = scene.run(roll)
    return scene.result("damage", amount=amount, fails=fails)


def status(given: Fields) -> Fields:
    """Give player 2's Pokemon a status."""
    scene = _scene(given)
    new = given["new_status"].astype(jnp.int32)
    takes = scene.run(lambda battle, me, foe: catch(battle, foe, new, given["by_foe"], scene.all))
    return scene.result("status", takes=takes)


def before(given: Fields) -> Fields:
    """Run the checks that may keep a Pokemon from moving."""
    scene = _scene(given)
    goes = scene.run(
        lambda battle, me, foe: before_move(battle, me, foe, Move(me.move).at_self, scene.all)
    )
    return scene.result("before", goes=goes)


def after(given: Fields) -> Fields:
    """Apply the damage of poison, burn and Leech Seed."""
    scene = _scene(given)

    def suffer(battle: Battle, me: Fighter, foe: Fighter) -> Array:
        after_move_self(me, foe, scene.all)
        return me.slot

    scene.run(suffer)
    return scene.result("after")


def ends(given: Fields) -> Fields:
    """Count down effects that last for turns."""
    scene = _scene(given)

    def count(battle: Battle, me: Fighter, foe: Fighter) -> Array:
        residual(battle, me, foe, scene.all)
        return me.slot

    scene.run(count)
    return scene.result("residual")


def order(given: Fields) -> Fields:
    """Sort both players' actions."""
    scene = _scene(given)
    never = ~scene.all

    def sort(battle: Battle, one: Fighter, two: Fighter) -> Array:
        one.move, two.move = (
            given["chosen"][0].astype(jnp.int32),
            given["chosen"][1].astype(jnp.int32),
        )
        leaves = (given["leaves"][0], given["leaves"][1])
        return sort_actions(battle, [one, two], leaves, scene.all, (never, never))

    second = scene.run(sort)
    return scene.result("order", second_first=second)


def may(given: Fields) -> Fields:
    """Return both players' legal choices at the beginning of a turn."""
    scene = _scene(given)

    def ask(team: Team, fighter: Fighter) -> Array:
        present = [team.present(i) for i in members.SIX]
        flags = legal(fighter, present, team.fainted, scene.all, ~scene.all)
        return jnp.stack(flags)

    pairs = zip(scene.teams, (scene.one, scene.two), strict=True)
    both = [stage(scene.all, ask, team, fighter) for team, fighter in pairs]
    return _outputs("legal", {"legal": jnp.stack(both)})


def switch(given: Fields) -> Fields:
    """Send in player 1's other member."""
    scene = _scene(given)

    def come(team: Team, fighter: Fighter) -> Array:
        members.write(team, fighter)
        come_in(team, fighter, jnp.ones_like(fighter.slot), scene.all, scene.all)
        return fighter.slot

    stage(scene.all, come, scene.teams[0], scene.one)
    return scene.result("switch")


def move(given: Fields) -> Fields:
    """Use the move in the selected slot."""
    scene = _scene(given)
    act(scene.battle, scene.one, scene.two, scene.all)
    return scene.result("move")


def _called(function: Callable[[Fields], Fields]) -> Callable[..., Fields]:
    laid = lanes_last(function)
    return lambda **inputs: laid(inputs)


CALLS: dict[str, Callable[..., Fields]] = {
    name: _called(function)
    for name, function in {
        "generator": generator,
        "member": member,
        "boosts": boosts,
        "types": types,
        "damage": damage,
        "status": status,
        "before": before,
        "after": after,
        "residual": ends,
        "order": order,
        "legal": may,
        "switch": switch,
        "move": move,
    }.items()
}
assert tuple(CALLS) == tuple(module.name for module in CALLED)
