'use strict';
/*
 * A player's observation, from the simulator's objects: only facts of its own request and the battle's
 * log. The order is that of the contract's observation.
 */

const { BOOSTS, STATS } = require('./constants.js');

const SHOWN = [
  'substitute', 'reflect', 'lightscreen', 'leechseed', 'mist', 'focusenergy', 'confusion',
  'invulnerability', 'mustrecharge', 'bide', 'rage',
];
const OWN_MEMBER = 20;
const FOE_MEMBER = 10;
const OBSERVED = 4 + 10 + SHOWN.length + 3 + 4 * 7 + 6 * OWN_MEMBER + 13 + SHOWN.length + 3 + 6 * FOE_MEMBER;

/** HP as the log shows it to the other player: JavaScript's own floats decide where it rounds up. */
function percent(pokemon) {
  const shown = Math.ceil(pokemon.hp / pokemon.maxhp * 100);
  return shown === 100 && pokemon.hp < pokemon.maxhp ? 99 : shown;
}

function effectiveness(move, foe, names) {
  if (!move.type || move.type === '???') return 0;
  const taken = foe.types.map((type) => names.dex.types.get(type).damageTaken[move.type]);
  if (taken.includes(3)) return -3;
  return taken.reduce((sum, kind) => sum + (kind === 1 ? 1 : kind === 2 ? -1 : 0), 0);
}

/** Write one player's observation to out[at ...]. */
function observe(game, side, out, at) {
  const { names } = game;
  const begin = at;
  const put = (value) => { out[at++] = Number(value); };
  const me = side.active[0];
  const foe = side.foe.active[0];
  const asked = game.request(side);
  const status = (pokemon) => (pokemon.fainted ? 7 : names.status(pokemon.status));
  const legal = new Array(10).fill(0);
  game.legal(side, legal, 0);
  const left = (members) => members.filter((pokemon) => !pokemon.fainted).length;

  put(game.battle.turn);
  put(asked);
  put(left(game.members[side.n]));
  put(left(game.members[side.foe.n]));

  const body = (pokemon) => {
    put(names.species(pokemon.species));
    put(names.type(pokemon.types[0]));
    put(names.type(pokemon.types[1]));
  };
  const shown = (pokemon) => {
    for (const stat of BOOSTS) put(pokemon.boosts[stat]);
    for (const id of SHOWN) put(id in pokemon.volatiles);
    put(pokemon.transformed);
    put(names.move(pokemon.volatiles.twoturnmove?.move));
  };
  body(me);
  shown(me);
  put(asked === 1 && !!side.activeRequest.active[0].trapped && !!me.getLockedMove());
  for (let i = 0; i < 4; i++) {
    const slot = me.moveSlots[i];
    const move = slot && names.dex.moves.get(slot.id);
    put(names.move(slot?.id));
    put(slot ? slot.pp : 0);
    put(move ? names.type(move.type === '???' ? '' : move.type) : 15);
    put(move ? move.basePower : 0);
    put(move && move.accuracy !== true ? move.accuracy : 0);
    put(move ? effectiveness(move, foe, names) : 0);
    put(legal[i]);
  }
  for (let i = 0; i < 6; i++) {
    const pokemon = game.members[side.n][i];
    if (!pokemon) {
      at += OWN_MEMBER;
      continue;
    }
    put(names.species(pokemon.baseSpecies));
    put(pokemon.level);
    put(pokemon.hp);
    put(pokemon.baseMaxhp);
    put(status(pokemon));
    put(pokemon === me);
    put(pokemon.fainted);
    for (const stat of STATS) put(pokemon.baseStoredStats[stat]);
    for (let j = 0; j < 4; j++) put(names.move(pokemon.baseMoveSlots[j]?.id));
    for (let j = 0; j < 4; j++) put(pokemon.baseMoveSlots[j] ? pokemon.baseMoveSlots[j].pp : 0);
  }
  body(foe);
  put(foe.level);
  put(percent(foe));
  put(status(foe));
  shown(foe);
  put(names.move(foe.volatiles.disable?.move));
  for (let rank = 0; rank < 6; rank++) {
    const index = game.seen[side.foe.n][rank];
    if (index === undefined) {
      at += FOE_MEMBER;
      continue;
    }
    const pokemon = game.members[side.foe.n][index];
    put(names.species(pokemon.baseSpecies));
    put(pokemon.level);
    put(percent(pokemon));
    put(status(pokemon));
    put(pokemon === foe);
    put(pokemon.fainted);
    const revealed = pokemon.baseMoveSlots.map((slot, i) => (
      game.shown[side.foe.n].has(index * 4 + i) ? names.move(slot.id) : 0));
    while (revealed.length < 4) revealed.push(0);
    for (const move of revealed.sort((a, b) => a - b)) put(move);
  }
  if (at !== begin + OBSERVED) throw new Error(`an observation has ${at - begin} values, not ${OBSERVED}`);
}

module.exports = { OBSERVED, observe };
