'use strict';
/*
 * A battle that continues from a frame's state. The state is written into the result of the simulator's
 * own State.serializeBattle for a new battle with these teams, and State.deserializeBattle builds
 * the battle from it.
 */

const { BOOSTS, FLAGS, MOVES, SET, STATS, STATUSES, TEAM } = require('./constants.js');

const LETTERS = 'abcdef';

function seedText(high, low) {
  return [high >>> 16, high & 0xffff, low >>> 16, low & 0xffff].join(',');
}

/** The volatile conditions of one side's Pokemon, as they are serialised. */
function volatiles(state, n, names, position) {
  const own = `[Pokemon:p${n + 1}a]`;
  const foe = `[Pokemon:p${2 - n}a]`;
  const found = {};
  const add = (id, extra) => {
    const { name } = names.dex.conditions.get(id);
    found[id] = { id, name, target: own, source: own, sourceSlot: `p${n + 1}a`, effectOrder: 0, ...extra };
  };
  const of = (field) => state[field][n];
  FLAGS.forEach((flag, i) => { if (state.flags[n * FLAGS.length + i]) add(flag, {}); });
  if (found.flinch) found.flinch.duration = 1;
  if (found.leechseed) Object.assign(found.leechseed, { source: foe, sourceSlot: `p${2 - n}a` });
  if (found.residualdmg) found.residualdmg.counter = of('toxic_counter');
  if (of('bide_time')) add('bide', { time: of('bide_time'), damage: of('bide_damage') });
  if (of('confusion')) add('confusion', { time: of('confusion') });
  if (of('disable_time')) {
    add('disable', { time: of('disable_time'), slotIndex: of('disable_slot'), move: names.moveOf(of('disable_move')) });
  }
  if (of('locked_move')) {
    add('lockedmove', { move: names.moveOf(of('locked_move')), time: of('locked_time'), accuracy: of('locked_accuracy') });
  }
  if (of('rage_accuracy')) add('rage', { move: 'rage', accuracy: of('rage_accuracy') });
  const other = (field) => `[Pokemon:p${2 - n}${LETTERS[position(1 - n, of(field))]}]`;
  if (of('trapped_duration')) {
    add('partiallytrapped', {
      duration: of('trapped_duration'), maybeLocked: !!of('trapped_hidden'), source: other('trapped_source'), sourceSlot: `p${2 - n}a`,
      sourceEffect: '[Move:wrap]',
    });
  }
  if (of('fake_duration')) {
    add('fakepartiallytrapped', { duration: of('fake_duration'), counterpart: other('fake_counterpart') });
  }
  if (of('lock_move')) {
    add('partialtrappinglock', {
      move: names.moveOf(of('lock_move')), duration: of('lock_duration'), totalDuration: of('lock_total'),
      damage: of('lock_damage'), locked: other('lock_target'),
    });
  }
  if (of('substitute')) add('substitute', { hp: of('substitute') });
  if (of('charging')) add('twoturnmove', { move: names.moveOf(of('charging')) });
  return found;
}

function slotsOf(dex, ids, pp, virtual, disabled) {
  return ids.flatMap((id, i) => {
    if (!id) return [];
    const move = dex.moves.get(id);
    const slot = {
      move: move.name, id, pp: pp[i], maxpp: pp[i], target: move.target, disabled: !!disabled[i], disabledSource: '', used: false,
    };
    return [virtual[i] ? { ...slot, virtual: true } : slot];
  });
}

/**
 * One Pokemon: `member` is its place in the team, `fights` whether it is the one on the field.
 * Returns the slots of its own moves.
 */
function restore(entry, state, n, member, fights, names) {
  const at = n * TEAM + member;
  const own = `[Pokemon:p${n + 1}${LETTERS[entry.position]}]`;
  entry.hp = state.hp[at];
  entry.status = STATUSES[state.status[at]];
  entry.statusState = { id: entry.status, effectOrder: 0 };
  if (entry.status) entry.statusState.target = own;
  if (entry.status === 'slp') {
    const source = state.sleep_by_foe[at] ? `[Pokemon:p${2 - n}a]` : own;
    Object.assign(entry.statusState, { time: state.sleep[at], startTime: state.sleep[at], source });
  }
  entry.fainted = entry.faintQueued = !!state.fainted[at];
  entry.subFainted = state.sub_fainted[at] ? true : null;
  entry.previouslySwitchedIn = state.seen[at] ? 1 : 0;
  entry.isActive = entry.isStarted = fights && !entry.fainted;
  const ids = Array.from(state.team.slice(at * SET + 2, at * SET + 6)).map(names.moveOf);
  const pp = Array.from(state.pp.slice(at * MOVES, (at + 1) * MOVES));
  const none = [0, 0, 0, 0];
  const base = slotsOf(names.dex, ids, pp, none, none);
  entry.moveSlots = base;
  delete entry.baseMoveSlots;
  if (!fights) {
    // Its drops were applied again when it left.
    for (const [stat, status, divisor] of [['spe', 'par', 4], ['atk', 'brn', 2]]) {
      if (entry.status === status) entry.modifiedStats[stat] = Math.max(Math.floor(entry.storedStats[stat] / divisor), 1);
    }
    return base;
  }
  const four = (field) => Array.from(state[field].slice(n * MOVES, (n + 1) * MOVES));
  const virtual = four('virtual');
  entry.moveSlots = slotsOf(names.dex, four('moves').map(names.moveOf), four('move_pp'), virtual, four('disabled'));
  entry.species = `[Species:${names.speciesOf(state.species[n])}]`;
  entry.types = [0, 1].map((i) => names.typeOf(state.types[n * 2 + i])).filter(Boolean);
  STATS.forEach((stat, i) => {
    entry.storedStats[stat] = state.stats[n * 5 + i];
    entry.modifiedStats[stat] = state.modified[n * 5 + i];
  });
  BOOSTS.forEach((stat, i) => { entry.boosts[stat] = state.boosts[n * 7 + i]; });
  entry.speed = state.speed[n];
  entry.transformed = !!state.transformed[n];
  entry.lastMove = state.last_move[n] ? `[Move:${names.moveOf(state.last_move[n])}]` : null;
  entry.maybeLocked = !!state.maybe_locked[n];
  entry.switchFlag = state.request[n] === 2;
  return base;
}

/** Return the battle that continues from `state`; game: a new one with the same teams. */
function loaded(sim, game, state) {
  const { names } = game;
  const saved = JSON.parse(JSON.stringify(sim.State.serializeBattle(game.battle)));
  const position = (n, member) => Array.from(state.order.slice(n * TEAM, (n + 1) * TEAM)).indexOf(member);
  const switching = state.request[0] === 2 || state.request[1] === 2;
  const over = state.winner[0] !== 0;
  Object.assign(saved, {
    prng: seedText(state.seed[0], state.seed[1]), turn: state.turn[0], lastDamage: state.last_damage[0],
    requestState: over ? '' : switching ? 'switch' : 'move', midTurn: switching, queue: [], log: [], sentLogPos: 0, ended: over,
  });
  if (over) saved.winner = ['', 'p1', 'p2', ''][state.winner[0]];
  const own = [];
  saved.sides.forEach((side, n) => {
    const members = side.pokemon;
    side.pokemon = members.map((_, i) => members[state.order[n * TEAM + i]]);
    own[n] = side.pokemon.map((entry, i) => {
      entry.position = i;
      return restore(entry, state, n, state.order[n * TEAM + i], i === 0, names);
    });
    side.pokemon[0].volatiles = volatiles(state, n, names, position);
    side.team = members.map((_, member) => position(n, member) + 1).join('');
    side.active = [`[Pokemon:p${n + 1}a]`];
    side.pokemonLeft = side.pokemon.filter((entry) => !entry.fainted).length;
    side.lastSelectedMove = names.moveOf(state.selected_move[n]) || '00';
    side.lastSelectedMoveSlot = state.selected_slot[n];
    side.lastMove = state.side_last_move[n] ? `[Move:${names.moveOf(state.side_last_move[n])}]` : null;
    side.faintedThisTurn = state.request[n] === 2 ? `[Pokemon:p${n + 1}a]` : null;
    if (over) side.activeRequest = null;
    else delete side.activeRequest;
  });
  const battle = sim.State.deserializeBattle(saved);
  battle.sides.forEach((side, n) => {
    side.clearChoice();
    // Own moves that are shown are the same objects. deserializeBattle sees to that, but fails where
    // fewer are shown than there are own ones, as after Transform into a Pokemon with three moves.
    side.pokemon.forEach((pokemon, i) => {
      pokemon.baseMoveSlots = own[n][i].map((slot, k) => {
        const shown = pokemon.moveSlots[k];
        return shown && shown.id === slot.id && !shown.virtual ? shown : slot;
      });
    });
  });
  return battle;
}

module.exports = { loaded, slotsOf, volatiles };
