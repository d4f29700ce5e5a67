'use strict';
/*
 * Battles of Pokemon Showdown's simulator as rows of integers. The same file is loaded in-process by
 * PythonMonkey and by a node subprocess (node_main.js). It takes the simulator's module as an argument,
 * reads its objects and never writes to them, except where a state is loaded.
 *
 * One row of int32 holds a frame: the sections of LAYOUT, in this order, each with its length.
 * Python compares LAYOUT with the contract before it reads a row.
 */

const { BOOSTS, FLAGS, FORMATS, MOVES, SET, STATS, STATUSES, TEAM } = require('./constants.js');
const { EVENTS, happened } = require('./events.js');
const { loaded } = require('./loading.js');
const { OBSERVED, observe } = require('./observation.js');

const CANNOT_MOVE = 166;
const NO_TYPE = 15;

const perSide = (length) => 2 * length;
const LAYOUT = [
  ['obs', perSide(OBSERVED)], ['terminated', 1], ['reward', 2], ['acting', 2], ['legal', perSide(10)],
  ['seed', 2], ['turn', 1], ['last_damage', 1], ['winner', 1], ['request', 2],
  ['order', perSide(TEAM)], ['selected_move', 2], ['selected_slot', 2], ['side_last_move', 2],
  ['rules', 1], ['team', perSide(TEAM * SET)], ['base_stats', perSide(TEAM * 6)],
  ['hp', perSide(TEAM)], ['status', perSide(TEAM)], ['sleep', perSide(TEAM)],
  ['sleep_by_foe', perSide(TEAM)], ['fainted', perSide(TEAM)], ['sub_fainted', perSide(TEAM)],
  ['pp', perSide(TEAM * MOVES)], ['seen', perSide(TEAM)], ['revealed', perSide(TEAM * MOVES)],
  ['species', 2], ['types', perSide(2)], ['stats', perSide(5)], ['modified', perSide(5)],
  ['boosts', perSide(7)], ['speed', 2], ['transformed', 2], ['moves', perSide(MOVES)],
  ['move_pp', perSide(MOVES)], ['virtual', perSide(MOVES)], ['disabled', perSide(MOVES)],
  ['last_move', 2], ['maybe_locked', 2], ['flags', perSide(FLAGS.length)],
  ['bide_time', 2], ['bide_damage', 2], ['confusion', 2],
  ['disable_time', 2], ['disable_slot', 2], ['disable_move', 2],
  ['locked_move', 2], ['locked_time', 2], ['locked_accuracy', 2], ['rage_accuracy', 2],
  ['trapped_duration', 2], ['trapped_hidden', 2], ['trapped_source', 2],
  ['fake_duration', 2], ['fake_counterpart', 2],
  ['lock_move', 2], ['lock_duration', 2], ['lock_total', 2], ['lock_damage', 2], ['lock_target', 2],
  ['toxic_counter', 2], ['substitute', 2], ['charging', 2],
];
const widthOf = (layout) => layout.reduce((sum, [, length]) => sum + length, 0);
const WIDTH = widthOf(LAYOUT);
const STATE = LAYOUT.slice(LAYOUT.findIndex(([name]) => name === 'seed'));
const STATE_WIDTH = widthOf(STATE);

/** Build the functions of the bridge over one copy of the simulator. */
function bridge(sim) {
  const dex = sim.Dex.mod('gen1');
  const numbered = (all) => all.filter((entry) => entry.gen === 1 && !entry.isNonstandard)
    .sort((a, b) => a.num - b.num);
  const speciesByNumber = numbered(dex.species.all().slice());
  const movesByNumber = numbered(dex.moves.all().slice());
  const numberOfMove = new Map(movesByNumber.map((move) => [move.id, move.num]));
  // The package pokemon-showdown says 'nomove'.
  numberOfMove.set('', 0).set('00', 0).set('nomove', 0).set('cannotmove', CANNOT_MOVE);
  const numberOfSpecies = new Map(speciesByNumber.map((species) => [species.id, species.num]));
  const types = dex.types.all().filter((type) => !type.isNonstandard).map((type) => type.name).sort();
  const numberOfType = new Map(types.map((name, i) => [name, i]));

  const known = (map, id, what) => {
    const number = map.get(id);
    if (number === undefined) throw new Error(`the bridge knows no ${what} '${id}'`);
    return number;
  };
  const numberOfStatus = new Map(STATUSES.map((status, i) => [status, i]));
  /** Numbers of the simulator's names, and back. A move of null is none. */
  const names = {
    numberOf: (id) => known(numberOfMove, id, 'move'),
    move: (move) => (move ? known(numberOfMove, typeof move === 'string' ? move : move.id, 'move') : 0),
    moveOf: (number) => (number === CANNOT_MOVE ? 'cannotmove' : number ? movesByNumber[number - 1].id : ''),
    species: (species) => known(numberOfSpecies, species.id, 'species'),
    speciesOf: (number) => speciesByNumber[number - 1].id,
    type: (type) => (type ? known(numberOfType, type, 'type') : NO_TYPE),
    typeOf: (number) => types[number],
    status: (status) => known(numberOfStatus, status, 'status'),
    dex,
  };
  const moveNumber = names.move;

  /** Turn one side's team of TEAM * SET integers (level 0: no such member) into Showdown's sets. */
  function sets(team) {
    const members = [];
    const names = new Set();
    for (let i = 0; i < TEAM; i++) {
      const row = Array.from(team.slice(i * SET, (i + 1) * SET));
      if (!row[1]) continue;
      const species = speciesByNumber[row[0] - 1].name;
      let name = species;
      while (names.has(name)) name += '+';
      names.add(name);
      const spread = (from) => ({
        hp: row[from], atk: row[from + 1], def: row[from + 2], spa: row[from + 3], spd: row[from + 4], spe: row[from + 5],
      });
      members.push({
        name, species, level: row[1], gender: 'N', ability: 'No Ability', item: '', nature: '',
        moves: row.slice(2, 6).filter(Boolean).map((number) => movesByNumber[number - 1].id),
        ivs: spread(6), evs: spread(12),
      });
    }
    return members;
  }

  /** One battle and the data that Showdown does not keep: identities, and facts that were shown. */
  class Game {
    constructor(rules, seed, teams) {
      this.rules = rules;
      this.teams = Array.from(teams);
      this.shown = [new Set(), new Set()];
      // Members in the order in which they first came in.
      this.seen = [[], []];
      // The fighting Pokemon by the log, and whether it is a copy of its foe.
      this.active = [0, 0];
      this.copies = [false, false];
      this.read = 0;
      this.latest = 0;
      this.names = names;
      this.battle = new sim.Battle({ formatid: FORMATS[rules], seed });
      this.battle.setPlayer('p1', { name: 'p1', team: sets(this.teams.slice(0, TEAM * SET)) });
      this.battle.setPlayer('p2', { name: 'p2', team: sets(this.teams.slice(TEAM * SET)) });
      this.members = this.battle.sides.map((side) => side.pokemon.slice());
      this.readLog();
    }

    /** Continue from a frame's state: an object of arrays by field, in the order of LAYOUT. */
    static load(state) {
      const game = new Game(state.rules[0], '0,0,0,1', state.team);
      game.battle = loaded(sim, game, state);
      const sides = game.battle.sides;
      game.members = sides.map((side) => {
        const members = [];
        side.pokemon.forEach((pokemon, i) => { members[state.order[side.n * TEAM + i]] = pokemon; });
        return members;
      });
      for (const n of [0, 1]) {
        const ranks = Array.from(state.seen.slice(n * TEAM, (n + 1) * TEAM));
        game.seen[n] = ranks.map((rank, i) => [rank, i]).filter(([rank]) => rank).sort((a, b) => a[0] - b[0]).map(([, i]) => i);
        game.shown[n] = new Set();
        for (let i = 0; i < TEAM * MOVES; i++) if (state.revealed[n * TEAM * MOVES + i]) game.shown[n].add(i);
        game.active[n] = state.order[n * TEAM];
        game.copies[n] = !!state.transformed[n];
      }
      game.read = game.latest = game.battle.log.length;
      return game;
    }

    /** The EVENTS in the latest lines of the log. */
    events(out, base) {
      happened(this.battle.log, this.latest, out, base, names);
    }

    /** Showdown's sets from one side's integers. */
    setsOf(team) {
      return sets(team);
    }

    index(pokemon) {
      return this.members[pokemon.side.n].indexOf(pokemon);
    }

    /** Record the moves that the log shows as chosen by the Pokemon itself, while it is no copy. */
    readLog() {
      const log = this.battle.log;
      this.latest = this.read;
      for (; this.read < log.length; this.read++) {
        const parts = log[this.read].split('|');
        if (!['move', 'switch', '-transform'].includes(parts[1])) continue;
        const n = Number(parts[2][1]) - 1;
        if (parts[1] === 'switch') {
          this.active[n] = this.members[n].findIndex((p) => p.name === parts[2].slice(5));
          this.copies[n] = false;
          if (!this.seen[n].includes(this.active[n])) this.seen[n].push(this.active[n]);
        } else if (parts[1] === '-transform') {
          this.copies[n] = true;
        } else if (!this.copies[n] && !parts.some((part) => part.startsWith('[from]'))) {
          const pokemon = this.members[n][this.active[n]];
          const slot = pokemon.baseMoveSlots.findIndex((s) => s.move === parts[3]);
          if (slot >= 0) this.shown[n].add(this.active[n] * MOVES + slot);
        }
      }
    }

    request(side) {
      const request = side.activeRequest;
      if (this.battle.ended || !request || request.wait) return 0;
      return request.forceSwitch ? 2 : 1;
    }

    /** Play both sides' actions; the action of a side that does not decide is ignored. */
    step(first, second) {
      const chosen = [first, second];
      const sides = this.battle.sides;
      for (const side of sides) {
        if (!this.request(side)) continue;
        const action = chosen[side.n];
        let choice = `move ${action + 1}`;
        if (action >= MOVES) choice = `switch ${side.pokemon.indexOf(this.members[side.n][action - MOVES]) + 1}`;
        if (!side.choose(choice)) throw new Error(`${side.id} cannot choose '${choice}': ${side.choice.error}`);
      }
      this.battle.commitChoices();
      this.readLog();
    }

    legal(side, out, at) {
      const kind = this.request(side);
      if (kind === 1) {
        const active = side.activeRequest.active[0];
        active.moves.forEach((move, i) => { out[at + i] = move.disabled ? 0 : 1; });
        if (active.trapped) return;
      }
      if (!kind) return;
      for (let i = 1; i < side.pokemon.length; i++) {
        if (!side.pokemon[i].fainted) out[at + MOVES + this.index(side.pokemon[i])] = 1;
      }
    }

    /** Write both players' observations to out[at ...]; return the end of the written part. */
    look(out, at) {
      this.battle.sides.forEach((side, n) => observe(this, side, out, at + n * OBSERVED));
      return at + 2 * OBSERVED;
    }

    /** Write a whole row to out[base ...]. */
    pack(out, base) {
      const battle = this.battle;
      let at = base;
      const put = (value) => { out[at++] = value; };
      const both = (f) => { f(battle.sides[0]); f(battle.sides[1]); };
      const winner = this.winner();
      at = this.look(out, at);
      put(battle.ended ? 1 : 0);
      put(winner === 1 ? 1 : winner === 2 ? -1 : 0);
      put(winner === 2 ? 1 : winner === 1 ? -1 : 0);
      both((side) => put(this.request(side) ? 1 : 0));
      both((side) => {
        for (let i = 0; i < 10; i++) out[at + i] = 0;
        this.legal(side, out, at);
        at += 10;
      });
      this.packState(out, at);
    }

    winner() {
      const { battle } = this;
      return battle.ended ? (battle.winner === 'p1' ? 1 : battle.winner === 'p2' ? 2 : 3) : 0;
    }

    /** Write the state part of a row to out[base ...]. */
    packState(out, base) {
      const battle = this.battle;
      let at = base;
      const put = (value) => { out[at++] = value; };
      const sides = battle.sides;
      const both = (f) => { f(sides[0]); f(sides[1]); };
      const members = (f) => both((side) => {
        for (let i = 0; i < TEAM; i++) put(i < this.members[side.n].length ? Number(f(this.members[side.n][i], i, side)) : 0);
      });
      const seed = battle.prng.getSeed().split(',').map(Number);
      put((seed[0] << 16) | seed[1]);
      put((seed[2] << 16) | seed[3]);
      put(battle.turn);
      put(battle.lastDamage);
      put(this.winner());
      both((side) => put(this.request(side)));
      both((side) => {
        for (let i = 0; i < TEAM; i++) put(i < side.pokemon.length ? this.index(side.pokemon[i]) : i);
      });
      both((side) => put(moveNumber(side.lastSelectedMove)));
      both((side) => put(side.lastSelectedMoveSlot));
      both((side) => put(moveNumber(side.lastMove)));
      put(this.rules);
      for (const value of this.teams) put(value);
      both((side) => {
        for (let i = 0; i < TEAM; i++) {
          const pokemon = this.members[side.n][i];
          put(pokemon ? pokemon.baseMaxhp : 0);
          for (const stat of STATS) put(pokemon ? pokemon.baseStoredStats[stat] : 0);
        }
      });
      members((pokemon) => pokemon.hp);
      members((pokemon) => names.status(pokemon.status));
      members((pokemon) => (pokemon.status === 'slp' ? pokemon.statusState.time : 0));
      members((pokemon) => pokemon.status === 'slp' && !pokemon.statusState.source?.isAlly(pokemon));
      members((pokemon) => pokemon.fainted);
      members((pokemon) => !!pokemon.subFainted);
      both((side) => {
        for (let i = 0; i < TEAM; i++) {
          for (let j = 0; j < MOVES; j++) put(this.members[side.n][i]?.baseMoveSlots[j]?.pp ?? 0);
        }
      });
      members((pokemon, i, side) => this.seen[side.n].indexOf(i) + 1);
      both((side) => {
        for (let i = 0; i < TEAM * MOVES; i++) put(this.shown[side.n].has(i) ? 1 : 0);
      });
      const actives = (f) => both((side) => put(Number(f(side.active[0], side))));
      const slots = (f) => both((side) => {
        for (let i = 0; i < MOVES; i++) {
          const slot = side.active[0].moveSlots[i];
          put(slot ? Number(f(slot, side)) : 0);
        }
      });
      actives((pokemon) => names.species(pokemon.species));
      both((side) => {
        for (let i = 0; i < 2; i++) put(names.type(side.active[0].types[i]));
      });
      both((side) => { for (const stat of STATS) put(side.active[0].storedStats[stat]); });
      both((side) => { for (const stat of STATS) put(side.active[0].modifiedStats[stat]); });
      both((side) => { for (const stat of BOOSTS) put(side.active[0].boosts[stat]); });
      actives((pokemon) => pokemon.speed);
      actives((pokemon) => pokemon.transformed);
      slots((slot) => moveNumber(slot.id));
      slots((slot) => slot.pp);
      slots((slot) => !!slot.virtual);
      // Both are set again at the end of each turn; the remains of one in mid-turn mean nothing.
      slots((slot, side) => this.request(side) === 1 && slot.disabled);
      actives((pokemon) => moveNumber(pokemon.lastMove));
      actives((pokemon, side) => this.request(side) === 1 && pokemon.maybeLocked);
      both((side) => { for (const flag of FLAGS) put(side.active[0].volatiles[flag] ? 1 : 0); });
      const volatile = (id, f) => actives((pokemon) => {
        const state = pokemon.volatiles[id];
        return state ? f(state) : 0;
      });
      volatile('bide', (v) => v.time);
      volatile('bide', (v) => v.damage);
      volatile('confusion', (v) => v.time);
      volatile('disable', (v) => v.time);
      volatile('disable', (v) => v.slotIndex);
      volatile('disable', (v) => moveNumber(v.move));
      volatile('lockedmove', (v) => moveNumber(v.move));
      volatile('lockedmove', (v) => v.time);
      volatile('lockedmove', (v) => v.accuracy);
      volatile('rage', (v) => v.accuracy);
      volatile('partiallytrapped', (v) => v.duration);
      volatile('partiallytrapped', (v) => !!v.maybeLocked);
      volatile('partiallytrapped', (v) => this.index(v.source));
      volatile('fakepartiallytrapped', (v) => v.duration);
      volatile('fakepartiallytrapped', (v) => this.index(v.counterpart));
      volatile('partialtrappinglock', (v) => moveNumber(v.move));
      volatile('partialtrappinglock', (v) => v.duration);
      volatile('partialtrappinglock', (v) => v.totalDuration);
      volatile('partialtrappinglock', (v) => v.damage);
      volatile('partialtrappinglock', (v) => this.index(v.locked));
      volatile('residualdmg', (v) => v.counter);
      volatile('substitute', (v) => v.hp);
      volatile('twoturnmove', (v) => moveNumber(v.move));
      if (at !== base + STATE_WIDTH) throw new Error(`a state has ${at - base} integers, not ${STATE_WIDTH}`);
    }
  }

  return { Game };
}

module.exports = { bridge, LAYOUT, STATE, STATE_WIDTH, WIDTH, EVENTS };
