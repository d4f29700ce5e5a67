'use strict';
/*
 * Battles played continuously in one call, for measuring the reference: no Python between two steps.
 * Episodes begin as in `twinstep.make`: a lane's seed picks a row of a table and replaces the
 * seed in it.
 */

const { OBSERVED } = require('./observation.js');

/** The integers per step of a lane, with and without the observations. */
const WITH = 2 * OBSERVED + 3;
const WITHOUT = 3;

/** The legal action for a drawn one: itself, or the (drawn mod count)-th legal one. */
function legalised(game, side, drawn, legal) {
  legal.fill(0);
  game.legal(side, legal, 0);
  if (legal[drawn]) return drawn;
  let count = 0;
  for (const flag of legal) count += flag;
  if (!count) return 0;
  let rank = drawn % count;
  for (let action = 0; ; action++) if (legal[action] && rank-- === 0) return action;
}

class Running {
  /** begun(ints, at) makes a game; ints: rows, then a start each; lanes, then a seed each. */
  constructor(begun, width, ints) {
    this.begun = begun;
    this.width = width;
    this.count = ints[0];
    this.table = ints.slice(1, 1 + this.count * width);
    const seeds = ints.slice(2 + this.count * width);
    this.seeds = Array.from({ length: ints[1 + this.count * width] }, (_, i) => [seeds[2 * i], seeds[2 * i + 1]]);
    this.games = this.seeds.map((seed) => this.start(seed));
  }

  start([first, second]) {
    const row = ((first + Math.imul(second, 0x9E3779B1)) >>> 0) % this.count;
    const given = this.table.slice(row * this.width, (row + 1) * this.width);
    given[0] = first;
    given[1] = second;
    return this.begun(given, 0);
  }

  /** Play actions, [steps, lanes, 2]; return the results of each step of each lane. */
  play(steps, observes, actions) {
    const { games } = this;
    const width = observes ? WITH : WITHOUT;
    const out = new Int32Array(steps * games.length * width);
    const legal = new Array(10);
    let at = 0;
    for (let t = 0; t < steps; t++) {
      for (let lane = 0; lane < games.length; lane++) {
        const [one, two] = games[lane].battle.sides;
        const from = (t * games.length + lane) * 2;
        const chosen = legalised(games[lane], one, actions[from], legal);
        games[lane].step(chosen, legalised(games[lane], two, actions[from + 1], legal));
        const winner = games[lane].winner();
        out[at] = winner ? 1 : 0;
        out[at + 1] = winner === 1 ? 1 : winner === 2 ? -1 : 0;
        out[at + 2] = winner === 2 ? 1 : winner === 1 ? -1 : 0;
        if (winner) {
          this.seeds[lane][1]++;
          games[lane] = this.start(this.seeds[lane]);
        }
        if (observes) games[lane].look(out, at + 3);
        at += width;
      }
    }
    return out;
  }
}

module.exports = { Running };
