"""One decision of both players, up to the next: `commitChoices`, `turnLoop` and `endTurn`.

All draws have the order of sim/battle.ts. In generation 1 a faint ends the turn,
so a forced switch is followed by the end of the turn and nothing has to be remembered.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from twinstep.generated.pokejax.battle import Battle
from twinstep.generated.pokejax.damage import has_type
from twinstep.generated.pokejax.lcg import Draws
from twinstep.generated.pokejax.members import Team, faints, read, switch, write
from twinstep.generated.pokejax.moves import act
from twinstep.generated.pokejax.requests import choose, requests
from twinstep.generated.pokejax.stage import stage
from twinstep.generated.pokejax.state import (
    BURN,
    FAINTED,
    FLAGS,
    FREEZE,
    LISTS,
    MOVE_REQUEST,
    NO_LOCK,
    NO_REQUEST,
    OF_FIGHTER,
    POISONED,
    SPEED,
    SWITCH_REQUEST,
    TOXIC,
    Fighter,
    State,
    pick,
    put,
    stacked,
    swapped,
)
from twinstep.generated.pokejax.tables import GHOST, Move, number
from twinstep.generated.pokejax.words import words

Array = jax.Array

METRONOME = number("metronome")
TRANSFORM = number("transform")
GHOSTS = (92, 93, 94)
TURN_LIMIT = 1000


class Plan(NamedTuple):
    """The pending actions of both sides.

    leaves, target: by side, whether it switches and to which member. second_first: whether the
    second side acts first.
    """

    leaves: tuple[Array, Array]
    target: tuple[Array, Array]
    second_first: Array


def step(state: State, actions: Array) -> State:
    """Play the actions i32[2]; that of a side which does not decide is ignored.

    A finished battle stays as it is.
    """
    (one_team, one), (two_team, two) = (read(state, side) for side in (0, 1))
    over = state.winner != 0
    asked = [state.request[side].astype(jnp.int32) for side in (0, 1)]
    moving = ~over & ((asked[0] == MOVE_REQUEST) | (asked[1] == MOVE_REQUEST))
    forced = (~over & (asked[0] == SWITCH_REQUEST), ~over & (asked[1] == SWITCH_REQUEST))
    battle = Battle(Draws(state.seed[0], state.seed[1]), state.last_damage, state.rules != 0)
    plan = stage(~over, lambda b, f, g: _plans(b, f, g, actions, moving, forced), battle, one, two)
    stopped = _switches(battle, (one, two), (one_team, two_team), plan, moving, forced)
    first, second = swapped(plan.second_first, one, two)
    battle, first, second, stopped = _moves(battle, first, second, stopped)
    one, two = swapped(plan.second_first, first, second)
    goes_on = ~over & ~stopped
    turn = state.turn.astype(jnp.int32) + goes_on.astype(jnp.int32)
    parties = (battle, one, two, one_team, two_team)
    lasts = goes_on & moving
    stage(lasts, lambda b, f, g: residual(b, f, g, lasts), battle, one, two)
    before = state.winner.astype(jnp.int32)
    winner, asks = stage(
        ~over, lambda b, f, g, s, t: _finish(b, f, g, s, t, goes_on, over, before, turn), *parties
    )
    # Where all battles are over the part does not run.
    winner = jnp.where(over, before, winner)
    return build(
        state, battle, (one_team, two_team), (one, two), turn=turn, winner=winner, request=asks
    )


def _plans(
    battle: Battle,
    one: Fighter,
    two: Fighter,
    actions: Array,
    moving: Array,
    forced: tuple[Array, Array],
) -> Plan:
    """Take the choices, sort them, and run the events before the turn."""
    playing = moving | forced[0] | forced[1]
    leaves, targets = [], []
    for side, fighter in enumerate((one, two)):
        fighter.set(playing & ~fighter.fainted, speed=fighter.modified[SPEED])
        leave, target = choose(fighter, actions[side], moving, forced[side])
        leaves.append(leave)
        targets.append(target)
    second_first = sort_actions(battle, [one, two], (leaves[0], leaves[1]), moving, forced)
    tie = (one.speed == two.speed) & moving
    second_first = _before_turn(battle, one, two, second_first, tie)
    return Plan((leaves[0], leaves[1]), (targets[0], targets[1]), second_first)


def sort_actions(
    battle: Battle,
    fighters: list[Fighter],
    leaves: tuple[Array, ...],
    moving: Array,
    forced: tuple[Array, Array],
) -> Array:
    """Sort the two actions by switch, priority, speed; return whether the second side is first."""
    for fighter, leave in zip(fighters, leaves, strict=True):
        fighter.acts = moving & ~leave
    both = moving | (forced[0] & forced[1])
    less, equal = _compare(*map(_key, fighters))
    flip = battle.draws.below(2, both & equal) == 1
    second = jnp.where(equal, flip, ~less)
    return jnp.where(both, second, forced[1])


def _compare(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, Array]:
    """Return whether a sorts before b, and whether they tie."""
    less = a[0] < b[0]
    equal = a[0] == b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        less = less | (equal & (x < y))
        equal = equal & (x == y)
    return less, equal


def _before_turn(
    battle: Battle, one: Fighter, two: Fighter, second_first: Array, tie: Array
) -> Array:
    """Let Thrash and Petal Dance queue themselves again (`BeforeTurn`)."""
    turn = battle.draws.below(2, tie)
    two_starts = jnp.where(tie, turn == 1, two.speed > one.speed)
    a, b = swapped(two_starts, (one.locked_move, one.acts), (two.locked_move, two.acts))
    for index, (locked, acts) in enumerate((a, b)):
        which_two = two_starts if index == 0 else ~two_starts
        inserts = acts & (locked > 0)
        for fighter, mine in ((one, inserts & ~which_two), (two, inserts & which_two)):
            fighter.move = jnp.where(mine, fighter.locked_move, fighter.move)
        mine, other = swapped(which_two, _key(one), _key(two))
        less, equal = _compare(mine, other)
        late = battle.draws.below(2, inserts & equal) == 1
        before = jnp.where(equal, ~late, less)
        second_first = jnp.where(inserts, jnp.where(which_two, before, ~before), second_first)
    battle.draws.skip(tie.astype(jnp.int32))  # Update
    return second_first


def _key(fighter: Fighter) -> tuple[Array, Array, Array]:
    """Return the sorting key of an action.

    A fainted one's speed in the queue is that of its stats, not the one of ties.
    """
    return (
        fighter.acts.astype(jnp.int32),
        -jnp.where(fighter.acts, Move(fighter.move).priority, 0),
        -fighter.modified[SPEED],
    )


def _switches(
    battle: Battle,
    fighters: tuple[Fighter, Fighter],
    teams: tuple[Team, Team],
    plan: Plan,
    moving: Array,
    forced: tuple[Array, Array],
) -> Array:
    """Carry out switches, chosen or forced; return where a newcomer fainted at once."""
    anyone = plan.leaves[0] | plan.leaves[1]
    goes, doomed = stage(
        anyone,
        lambda b, f, g, s, t: _departures(f, g, s, t, plan, moving),
        battle,
        *fighters,
        *teams,
    )
    old = (fighters[0].speed, fighters[1].speed)
    for i in (0, 1):
        target = plan.target[i]
        arrives = goes[i]
        stage(
            arrives,
            lambda f, t, to=target, when=arrives: come_in(t, f, to, when, moving),
            fighters[i],
            teams[i],
        )
    return stage(
        anyone,
        lambda b, f, g: _arrivals(b, f, g, plan.second_first, old, goes, doomed, moving, forced),
        battle,
        *fighters,
    )


Pair = tuple[Array, Array]


def _departures(
    one: Fighter, two: Fighter, one_team: Team, two_team: Team, plan: Plan, moving: Array
) -> tuple[Pair, Pair]:
    """Write leaving Pokemon back; return by side whether it switches, and faints by that."""
    doomed = []
    fighters, teams = (one, two), (one_team, two_team)
    for team, leave, target in zip(teams, plan.leaves, plan.target, strict=True):
        hp, status = pick(team.hp, target), pick(team.status, target)
        most = pick([member[0] for member in team.stats], target)
        sick = (status == BURN) | (status == POISONED) | (status == TOXIC)
        doomed.append(leave & moving & sick & (hp <= jnp.maximum(most // 16, 1)))
    # The second side no longer switches where the first has fainted.
    second = plan.second_first
    goes = (
        plan.leaves[0] & ~(plan.leaves[1] & second & doomed[1]),
        plan.leaves[1] & ~(plan.leaves[0] & ~second & doomed[0]),
    )
    for i in (0, 1):
        write(teams[i], fighters[i])
        # The side that leaves first does not see the other one arrive.
        comes_first = second if i else ~second
        _find_metronome(fighters[1 - i], goes[i] & (comes_first | ~goes[1 - i]))
    return goes, (goes[0] & doomed[0], goes[1] & doomed[1])


def _arrivals(
    battle: Battle,
    one: Fighter,
    two: Fighter,
    second_first: Array,
    old: Pair,
    goes: Pair,
    doomed: Pair,
    moving: Array,
    forced: Pair,
) -> Array:
    """Make the draws of the ties, and let newcomers faint that cannot survive their arrival.

    Update follows a switch and, if nobody fainted, the newcomer's arrival. Of two forced switches
    the second is followed by their sorting, Update, and Update after each arrival.
    """
    twice = forced[0] & forced[1]
    pair = goes[0] & goes[1]
    same = (one.speed == two.speed).astype(jnp.int32)
    # The speeds after the first of two switches: that of the newcomer and of the leaving one.
    midway = jnp.where(second_first, two.speed == old[0], one.speed == old[1]).astype(jnp.int32)
    # A switch sorts before a move: alone, it comes first.
    first_down = jnp.where(second_first, doomed[1], doomed[0])
    last_down = jnp.where(second_first, doomed[0], doomed[1])
    ties = jnp.where(pair, midway, same)
    count = jnp.where(goes[0] | goes[1], jnp.where(pair | ~first_down, 2, 1) * ties, 0)
    count = count + jnp.where(pair, jnp.where(last_down, 1, 2) * same, 0)
    battle.draws.skip(jnp.where(twice, 4 * same, count))
    for side, (fighter, other) in enumerate(((one, two), (two, one))):
        other.set(goes[side], last_move=0)
        faints(fighter, other, doomed[side])
    return doomed[0] | doomed[1]


def _find_metronome(foe: Fighter, when: Array) -> None:
    """Make a Pokemon that binds by Metronome select Metronome again, as its target is leaving."""
    again = when & (foe.lock_move > 0) & (pick(foe.moves, foe.selected_slot) == METRONOME)
    foe.set(again, selected_move=METRONOME)
    foe.set(again & foe.acts, move=METRONOME)


def come_in(team: Team, fighter: Fighter, target: Array, when: Array, moving: Array) -> None:
    switch(team, fighter, target, when)
    sick = (fighter.status == BURN) | (fighter.status == POISONED)
    cost = jnp.maximum(fighter.max_hp // 16, 1)
    # A Pokemon that replaces a fainted one is spared on arrival.
    hurt = when & moving & sick
    fighter.hp = jnp.where(hurt, jnp.maximum(fighter.hp - cost, 0), fighter.hp)


def _moves(
    battle: Battle, first: Fighter, second: Fighter, stopped: Array
) -> tuple[Battle, Fighter, Fighter, Array]:
    """Carry out the moves; the last result says where the turn is over: somebody fainted."""

    def half(_: int, carry: tuple[Battle, Fighter, Fighter, Array]) -> tuple:
        battle, me, foe, stopped = carry
        acts = me.acts & ~stopped
        me.acts = me.acts & ~acts
        act(battle, me, foe, acts)
        down = stage(acts, lambda b, f, g: _after(b, f, g, acts), battle, me, foe)
        return battle, foe, me, stopped | down

    return lax.fori_loop(0, 2, half, (battle, first, second, stopped))


def _after(battle: Battle, me: Fighter, foe: Fighter, acts: Array) -> Array:
    """Let Pokemon without HP faint; return where one did."""
    down = faints(me, foe, acts) | faints(foe, me, acts)
    tie = acts & ~down & (me.speed == foe.speed)
    battle.draws.skip(tie.astype(jnp.int32))  # Update
    return down


def residual(battle: Battle, one: Fighter, two: Fighter, when: Array) -> None:
    """Count down effects of several turns. Handlers of equal speed tie, a Pokemon's own always."""
    counts = []
    for fighter in (one, two):
        fighter.set(when, speed=fighter.modified[SPEED])
        lasting = (fighter.trapped_duration, fighter.fake_duration, fighter.lock_duration)
        present = [each > 0 for each in lasting] + [fighter.flinch]
        counts.append(sum(each.astype(jnp.int32) for each in present))
        fighter.flinch = fighter.flinch & ~when
        for name in ("trapped", "fake", "lock"):
            left = getattr(fighter, f"{name}_duration")
            left = jnp.where(when, jnp.maximum(left - 1, 0), left)
            setattr(fighter, f"{name}_duration", left)
        _forget(fighter, when)
    same = one.speed == two.speed
    apart = jnp.maximum(counts[0] - 1, 0) + jnp.maximum(counts[1] - 1, 0)
    together = jnp.maximum(counts[0] + counts[1] - 1, 0) + 1  # and Update
    battle.draws.skip(jnp.where(when, jnp.where(same, together, apart), 0))


def _forget(fighter: Fighter, when: Array) -> None:
    """Zero the values of a lasting effect that is over."""
    fighter.set(when & (fighter.trapped_duration == 0), trapped_hidden=False, trapped_source=0)
    fighter.set(when & (fighter.fake_duration == 0), fake_counterpart=0)
    fighter.set(when & (fighter.lock_duration == 0), **NO_LOCK)


def _finish(
    battle: Battle,
    one: Fighter,
    two: Fighter,
    one_team: Team,
    two_team: Team,
    goes_on: Array,
    over: Array,
    before: Array,
    turn: Array,
) -> tuple[Array, list[Array]]:
    """End the turn or request switches; return the winner and both requests.

    before: the winner so far. turn: the number of the turn that begins.
    """
    fighters, teams = (one, two), (one_team, two_team)
    for team, fighter in zip(teams, fighters, strict=True):
        write(team, fighter)
    lost = [fighter.fainted & ~fighter.others_left for fighter in fighters]
    winner = jnp.where(lost[0] & lost[1], 3, jnp.where(lost[1], 1, jnp.where(lost[0], 2, 0)))
    _end_traps(one, two, goes_on)
    ties = requests(one, goes_on) + requests(two, goes_on)
    battle.draws.skip(jnp.where(goes_on, ties, 0))
    tie = goes_on & (_no_progress(teams, fighters) | (turn > TURN_LIMIT))
    winner = jnp.where(over, before, jnp.where(tie, 3, winner))
    done = winner != 0
    asked = []
    for team, fighter in zip(teams, fighters, strict=True):
        switches = ~goes_on & ~done & fighter.fainted
        replaced = switches & ~over
        team.status = put(team.status, fighter.slot, FAINTED, replaced)
        team.sleep = put(team.sleep, fighter.slot, 0, replaced)
        team.sleep_by_foe = put(team.sleep_by_foe, fighter.slot, False, replaced)
        kind = jnp.where(switches, SWITCH_REQUEST, jnp.where(goes_on, MOVE_REQUEST, NO_REQUEST))
        asked.append(jnp.where(done, NO_REQUEST, kind))
        plays = goes_on & ~done
        fighter.disabled = [flag & plays for flag in fighter.disabled]
        fighter.maybe_locked = fighter.maybe_locked & plays
    return winner, asked


def build(
    state: State,
    battle: Battle,
    teams: tuple[Team, Team],
    fighters: tuple[Fighter, Fighter],
    **given: Array | list[Array],
) -> State:
    """Return the State of a step's working objects."""
    values: dict[str, object] = dict(given)
    values["seed"] = [battle.draws.high, battle.draws.low]
    values["last_damage"] = battle.last_damage
    for name in words("hp status sleep sleep_by_foe fainted sub_fainted pp seen revealed order"):
        values[name] = [getattr(team, name) for team in teams]
    for name in (*OF_FIGHTER, *LISTS):
        values[name] = [getattr(fighter, name) for fighter in fighters]
    values["flags"] = [[getattr(fighter, flag) for flag in FLAGS] for fighter in fighters]
    fields = {name: stacked(name, value) for name, value in values.items()}
    same = {name: getattr(state, name) for name in ("rules", "team", "base_stats")}
    return State(**fields, **same)


def _end_traps(one: Fighter, two: Fighter, when: Array) -> None:
    """Release bindings whose other end is gone, first player first (`endTurn`)."""
    for fighter, foe in ((one, two), (two, one)):
        there = foe.slot == fighter.lock_target
        ends = when & (fighter.lock_move > 0)
        ends = ends & ~(there & (foe.hp > 0) & (foe.trapped_duration > 0))
        fighter.set(ends, **NO_LOCK)
        there = foe.slot == fighter.trapped_source
        ends = when & (fighter.trapped_duration > 0)
        ends = ends & ~(there & (foe.hp > 0) & (foe.lock_move > 0))
        fighter.set(ends, trapped_duration=0, trapped_hidden=False, trapped_source=0)
        there = foe.slot == fighter.fake_counterpart
        ends = when & (fighter.fake_duration > 0)
        ends = ends & ~(there & (foe.hp > 0) & (foe.fake_duration > 0))
        fighter.set(ends, fake_duration=0, fake_counterpart=0)


def _no_progress(teams: tuple[Team, Team], fighters: tuple[Fighter, Fighter]) -> Array:
    """Return whether the battle can go on forever (`maybeTriggerEndlessBattleClause`, gen 1)."""
    ghosts, copies = [], []
    for team, fighter in zip(teams, fighters, strict=True):
        all_ghosts = all_copies = fighter.slot >= 0
        for i in range(6):
            absent = ~team.present(i) | team.fainted[i]
            fights = fighter.slot == i
            kind = team.set_[i][0]
            ghost = jnp.where(
                fights,
                has_type(fighter, GHOST),
                (kind == GHOSTS[0]) | (kind == GHOSTS[1]) | (kind == GHOSTS[2]),
            )
            all_ghosts = all_ghosts & (absent | ghost)
            all_copies = all_copies & (absent | _only_transform(team, fighter, i))
        ghosts.append(all_ghosts)
        copies.append(all_copies)
    stuck = fighters[0].slot >= 0
    for side, (team, fighter) in enumerate(zip(teams, fighters, strict=True)):
        for i in range(6):
            absent = ~team.present(i) | team.fainted[i]
            fights = fighter.slot == i
            frozen = team.status[i] == FREEZE
            idle = _only_transform(team, fighter, i) & copies[1 - side]
            empty = jnp.where(fights, _all(fighter.move_pp), _all(team.pp[i]))
            stuck = stuck & (absent | frozen | idle | (empty & ghosts[1 - side]))
    return stuck


def _only_transform(team: Team, fighter: Fighter, i: int) -> Array:
    fights = fighter.slot == i
    moves = [
        jnp.where(fights, own, kept)
        for own, kept in zip(fighter.moves, team.set_[i][2:6], strict=True)
    ]
    only = (moves[0] == TRANSFORM) | (moves[0] == 0)
    for move in moves[1:]:
        only = only & ((move == TRANSFORM) | (move == 0))
    return only


def _all(pp: list[Array]) -> Array:
    return (pp[0] | pp[1] | pp[2] | pp[3]) == 0
