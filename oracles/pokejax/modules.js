'use strict';
/*
 * Parts of a turn alone: the simulator's own functions, called on two Pokemon that are placed
 * in a battle kept for this. The fields are those of the contract's scene; place 0 of a pair is
 * player 1's Pokemon, which acts.
 */

const { BOOSTS, FLAGS, MOVES, STATS, STATUSES } = require('./constants.js');
const { slotsOf, volatiles } = require('./loading.js');

const CONDITIONS = [
  ...FLAGS, 'bide', 'confusion', 'disable', 'lockedmove', 'rage', 'partiallytrapped', 'fakepartiallytrapped',
  'partialtrappinglock', 'substitute', 'twoturnmove',
];
/** The moves that can lock, by a field's place in the list. */
const LOCKING = { locked_move: [37, 80], lock_move: [20, 35, 83, 128], charging: [13, 19, 76, 91, 130, 143] };
/** The fields that make a condition of their own; those that are only FLAGS have none. */
const PRESENCE = {
  bide: 'bide_time', confusion: 'confusion', disable: 'disable_time', lockedmove: 'locked_move', rage: 'rage_accuracy',
  partiallytrapped: 'trapped_duration', fakepartiallytrapped: 'fake_duration', partialtrappinglock: 'lock_move',
  substitute: 'substitute', twoturnmove: 'charging',
};

/** Write the fields of a scene into a battle of two members a side. */
function place(sim, game, scene, seedText) {
  const { battle, names } = game;
  battle.prng = new sim.PRNG(seedText(scene.seed[0], scene.seed[1]));
  battle.lastDamage = scene.last_damage[0];
  battle.log.length = 0;
  battle.lastMoveLine = -1;
  battle.faintQueue.length = 0;
  battle.queue.clear();
  battle.clearActiveMove(true);
  // Positions, members and switches first: conditions point at Pokemon of either side.
  battle.sides.forEach((side, n) => {
    side.pokemon = game.members[n].slice();
    side.active[0] = side.pokemon[0];
    side.pokemon.forEach((pokemon, i) => {
      Object.assign(pokemon, {
        position: i, isActive: i === 0, isStarted: i === 0, fainted: false, faintQueued: false, switchFlag: false,
        beingCalledBack: false, moveThisTurn: '', subFainted: null, trapped: false, maybeTrapped: false,
        maybeDisabled: false,
      });
    });
    side.pokemonLeft = 2;
    side.lastSelectedMove = names.moveOf(scene.selected_move[n]) || '00';
    side.lastSelectedMoveSlot = scene.selected_slot[n];
    side.lastMove = scene.side_last_move[n] ? names.dex.moves.get(names.moveOf(scene.side_last_move[n])) : null;
    side.clearChoice();
  });
  for (const n of [0, 1]) {
    fighter(game, scene, n);
    member(game, scene, n);
  }
}

function status(game, pokemon, number, time, source) {
  pokemon.status = STATUSES[number];
  pokemon.statusState = game.battle.initEffectState({ id: pokemon.status, target: pokemon });
  if (pokemon.status) pokemon.statusState.source = source;
  if (pokemon.status === 'slp') Object.assign(pokemon.statusState, { time, startTime: time });
}

function fighter(game, scene, n) {
  const { battle, names } = game;
  const [pokemon] = game.members[n];
  const [foe] = game.members[1 - n];
  const species = (number) => names.dex.species.get(names.speciesOf(number));
  pokemon.level = pokemon.set.level = scene.level[n];
  pokemon.baseSpecies = species(scene.own_species[n]);
  pokemon.set.species = pokemon.baseSpecies.name;
  pokemon.species = species(scene.species[n]);
  pokemon.hp = scene.hp[n];
  pokemon.maxhp = pokemon.baseMaxhp = scene.hp[n] + scene.missing[n];
  const five = (field) => Object.fromEntries(STATS.map((stat, i) => [stat, scene[field][n * 5 + i]]));
  pokemon.baseStoredStats = { hp: pokemon.maxhp, ...five('own_stats') };
  pokemon.storedStats = five('stats');
  pokemon.modifiedStats = five('modified');
  BOOSTS.forEach((stat, i) => { pokemon.boosts[stat] = scene.boosts[n * BOOSTS.length + i]; });
  pokemon.types = (scene.single[n] ? [0] : [0, 1]).map((i) => names.typeOf(scene.types[n * 2 + i]));
  pokemon.speed = scene.speed[n];
  pokemon.transformed = !!scene.transformed[n];
  pokemon.subFainted = scene.sub_fainted[n] ? true : null;
  pokemon.maybeLocked = !!scene.maybe_locked[n];
  pokemon.lastMove = scene.last_move[n] ? names.dex.moves.get(names.moveOf(scene.last_move[n])) : null;
  status(game, pokemon, scene.status[n], scene.sleep[n], scene.sleep_by_foe[n] ? foe : pokemon);

  const four = (field) => Array.from(scene[field].slice(n * MOVES, (n + 1) * MOVES));
  const virtual = four('virtual').map((is) => is || scene.transformed[n]);
  const mixed = (a, b) => virtual.map((is, i) => (is ? b[i] : a[i]));
  const own = four('own_moves').map(names.moveOf);
  const none = [0, 0, 0, 0];
  const base = slotsOf(names.dex, own, four('pp'), none, none);
  const shown = slotsOf(
    names.dex, mixed(own, four('virtual_moves').map(names.moveOf)), mixed(four('pp'), four('virtual_pp')), virtual, none);
  pokemon.baseMoveSlots = base;
  // A slot of its own shares one object with the team's record.
  pokemon.moveSlots = base.map((slot, i) => (virtual[i] ? shown[i] : slot));
  four('disabled').forEach((off, i) => { pokemon.moveSlots[i].disabled = !!off; });

  const there = new Set(Array.from(scene.conditions.slice(n * 2, n * 2 + 2)).filter(Boolean).map((c) => CONDITIONS[c - 1]));
  if (pokemon.status === 'tox') there.add('residualdmg');
  if (there.has('partialtrappinglock')) there.delete('bide');
  const state = { ...scene, flags: [], disable_move: [] };
  for (const [field, moves] of Object.entries(LOCKING)) state[field] = Array.from(scene[field], (place) => moves[place]);
  for (const [id, field] of Object.entries(PRESENCE)) if (!there.has(id)) state[field] = [0, 0];
  FLAGS.forEach((flag, i) => { state.flags[n * FLAGS.length + i] = there.has(flag) ? 1 : 0; });
  state.disable_move[n] = names.numberOf(pokemon.moveSlots[scene.disable_slot[n]].id);
  const found = volatiles(state, n, names, (_, index) => index);
  pokemon.volatiles = {};
  for (const [id, effect] of Object.entries(found)) {
    for (const [key, value] of Object.entries(effect)) {
      const points = typeof value === 'string' && /^\[Pokemon:p(\d)([ab])\]$/.exec(value);
      if (points) effect[key] = game.members[points[1] - 1][points[2] === 'a' ? 0 : 1];
    }
    pokemon.volatiles[id] = battle.initEffectState(effect);
  }
}

/** The member behind: healthy except for its status. */
function member(game, scene, n) {
  const pokemon = game.members[n][1];
  pokemon.hp = scene.bench_fainted[n] ? 0 : pokemon.maxhp;
  pokemon.fainted = pokemon.faintQueued = !!scene.bench_fainted[n];
  status(game, pokemon, scene.bench_status[n], 1, scene.bench_by_foe[n] ? game.members[1 - n][0] : pokemon);
  pokemon.volatiles = {};
  pokemon.lastMove = null;
  pokemon.transformed = false;
  pokemon.species = pokemon.baseSpecies;
  pokemon.types = pokemon.species.types.slice();
  for (const stat of BOOSTS) pokemon.boosts[stat] = 0;
  const five = () => Object.fromEntries(STATS.map((stat) => [stat, pokemon.baseStoredStats[stat]]));
  pokemon.storedStats = five();
  pokemon.modifiedStats = five();
  if (pokemon.status === 'par') pokemon.modifyStat('spe', 0.25);
  if (pokemon.status === 'brn') pokemon.modifyStat('atk', 0.5);
  pokemon.moveSlots = pokemon.baseMoveSlots.slice();
}

/** The selected slot's action as the queue would carry it out: move and target. */
function chosen({ battle, me, names }, number) {
  const [action] = battle.queue.resolveAction({ choice: 'move', pokemon: me, moveid: names.moveOf(number), targetLoc: 0 });
  const move = battle.dex.getActiveMove(action.move);
  return { move, at: action.targetLoc, target: battle.getTarget(me, move, action.targetLoc) };
}
function selected({ me, names, given }) {
  const { rage, lockedmove, twoturnmove, partialtrappinglock } = me.volatiles;
  const lock = rage || lockedmove || twoturnmove || partialtrappinglock;
  return names.numberOf(lock ? lock.move : me.moveSlots[given.selected_slot[0]].id);
}

/** Each takes the scene and returns its results other than the battle's state. */
const MODULES = {
  boosts: ({ me, given }) => {
    const amount = given.amount[0] * (given.lowers[0] ? -1 : 1);
    return { changed: [me.boostBy({ [BOOSTS[given.stat[0]]]: amount })] };
  },
  types: ({ battle, foe, names, given }) => {
    const move = battle.dex.getActiveMove(names.moveOf(given.move[0]));
    // As tryMoveHit settles it before its checks.
    if (move.ignoreImmunity === undefined) move.ignoreImmunity = move.category === 'Status';
    return { immune: [!foe.runImmunity(move)], effect: [foe.runEffectiveness(move)] };
  },
  damage: ({ battle, me, foe, names, given }) => {
    const move = battle.dex.getActiveMove(names.moveOf(given.move[0]));
    if (move.ignoreImmunity === undefined) move.ignoreImmunity = move.category === 'Status';
    battle.setActiveMove(move, me, foe);
    const immune = !foe.runImmunity(move);
    // Moves without damage, and Bide, never reach it.
    const asks = move.category !== 'Status' && move.target !== 'self';
    const amount = asks && battle.actions.getDamage(me, foe, move);
    return { amount: [Number(amount || 0)], fails: [asks && !immune && amount === false] };
  },
  status: ({ me, foe, given }) => {
    const took = foe.setStatus(STATUSES[given.new_status[0]], given.by_foe[0] ? me : foe);
    return { takes: [!!took] };
  },
  before: (scene) => {
    const { battle, me } = scene;
    const { move, target } = chosen(scene, selected(scene));
    battle.setActiveMove(move, me, target);
    return { goes: [!!battle.runEvent('BeforeMove', me, target, move)] };
  },
  after: ({ battle, me, foe }) => {
    battle.runEvent('AfterMoveSelf', me, foe, battle.dex.getActiveMove('tackle'));
    return {};
  },
  residual: ({ battle }) => {
    battle.updateSpeed();
    battle.fieldEvent('Residual');
    battle.eachEvent('Update');
    return {};
  },
  order: ({ battle, names, given }) => {
    battle.sides.forEach((side, n) => {
      const [pokemon, other] = side.pokemon;
      if (given.leaves[n]) battle.queue.addChoice({ choice: 'switch', pokemon, target: other });
      else battle.queue.addChoice({ choice: 'move', pokemon, moveid: names.moveOf(given.chosen[n]), targetLoc: 0 });
    });
    battle.queue.sort();
    return { second_first: [battle.queue.list[0].pokemon.side.n === 1] };
  },
  legal: ({ battle, game }) => {
    const legal = new Array(20).fill(0);
    const requests = battle.getRequests('move');
    battle.sides.forEach((side, n) => {
      side.activeRequest = requests[n];
      game.legal(side, legal, n * 10);
    });
    return { legal };
  },
  switch: ({ battle, me }) => {
    const newcomer = me.side.pokemon[1];
    battle.actions.switchIn(newcomer, 0);
    battle.actions.runSwitch(newcomer);
    return {};
  },
  move: (scene) => {
    const { battle, me } = scene;
    const { move, at } = chosen(scene, selected(scene));
    battle.actions.runMove(move, me, at);
    return {};
  },
};

/** Modules that need no scene. */
const ALONE = {
  generator: ({ sim, seedText, given }) => {
    const prng = new sim.PRNG(seedText(given.seed[0], given.seed[1]));
    for (let i = 0; i < given.skipped[0]; i++) prng.random(2);
    const drawn = prng.random(given.n[0]);
    const words = prng.getSeed().split(',').map(Number);
    return { drawn: [drawn], seed: [(words[0] << 16) | words[1], (words[2] << 16) | words[3]] };
  },
  member: ({ sim, game, given }) => {
    const row = [given.own_species[0], given.level[0], ...given.moves, ...given.iv, ...given.ev];
    const [set] = game.setsOf(row);
    const pokemon = new sim.Pokemon(set, game.battle.sides[0]);
    return {
      born: [pokemon.baseMaxhp, ...STATS.map((stat) => pokemon.baseStoredStats[stat])],
      pp_born: pokemon.baseMoveSlots.map((slot) => slot.pp),
    };
  },
};

/**
 * Call a module on rows of integers. told: its name, [field, length] of each row's inputs in turn, and
 * [field, length] of the outputs. Returns one row of outputs for each.
 */
function called({ sim, Game, LAYOUT, seedText, games }, told, ints) {
  const sum = (fields) => fields.reduce((total, [, length]) => total + length, 0);
  const [width, answers] = [sum(told.inputs), sum(told.outputs)];
  const count = ints.length / width;
  const out = new Int32Array(count * answers);
  const places = new Map();
  let begin = 0;
  for (const [name, length] of LAYOUT) {
    places.set(name, begin);
    begin += length;
  }
  const row = new Int32Array(begin);
  // Rules by number: of a custom game, or with the clauses of a random battle.
  const battle = (rules) => {
    games[rules] ??= new Game(rules, '0,0,0,1', told.team);
    return games[rules];
  };
  let at = 0;
  for (let i = 0; i < count; i++) {
    const given = {};
    let from = i * width;
    for (const [name, length] of told.inputs) {
      given[name] = ints.subarray(from, from + length);
      from += length;
    }
    const game = battle(given.clauses ? given.clauses[0] : 0);
    let found;
    if (told.module in ALONE) {
      found = ALONE[told.module]({ sim, game, seedText, given });
    } else {
      place(sim, game, given, seedText);
      const [me, foe] = [game.members[0][0], game.members[1][0]];
      found = MODULES[told.module]({ battle: game.battle, game, me, foe, names: game.names, given });
      game.packState(row, places.get('seed'));
    }
    for (const [name, length] of told.outputs) {
      const source = found[name] || row;
      const start = found[name] ? 0 : places.get(name);
      for (let k = 0; k < length; k++) out[at++] = Number(source[start + k]);
    }
  }
  return out;
}

module.exports = { called };
