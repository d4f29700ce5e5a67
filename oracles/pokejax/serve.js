'use strict';
/*
 * The bridge as one function: handle(operation, text, integers) -> Int32Array or text. PythonMonkey
 * calls it in-process; as a program it answers node's standard input, see nodeMain.
 */

const { bridge, LAYOUT, WIDTH, EVENTS } = require('./battle.js');
const { explained } = require('./explaining.js');

const TEAMS = 2 * 6 * 18;
const STATE = LAYOUT.slice(LAYOUT.findIndex(([name]) => name === 'seed'));
const STATE_WIDTH = STATE.reduce((sum, [, length]) => sum + length, 0);

/** handle(operation, text, integers) over one copy of the simulator. */
function server(sim) {
  const { Game } = bridge(sim);
  const groups = new Map();

  const seed = (high, low) => [high >>> 16, high & 0xffff, low >>> 16, low & 0xffff].join(',');
  const begun = (format, ints, at) => new Game(format, seed(ints[at], ints[at + 1]), ints.slice(at + 2, at + 2 + TEAMS));
  const unpacked = (ints, at) => {
    const state = {};
    let place = at;
    for (const [name, length] of STATE) {
      state[name] = ints.slice(place, place + length);
      place += length;
    }
    return state;
  };
  const rows = (games) => {
    const out = new Int32Array(games.length * WIDTH);
    games.forEach((game, i) => { if (game) game.pack(out, i * WIDTH); });
    return out;
  };

  const operations = {
    layout: () => JSON.stringify({ layout: LAYOUT, events: EVENTS }),

    /** text: format. ints: group, then per game the lane, seed's words and teams. All rows. */
    reset(format, ints) {
      const [group, lanes] = ints;
      const games = groups.get(group) || [];
      games.length = lanes;
      groups.set(group, games);
      for (let at = 2; at < ints.length; at += 3 + TEAMS) games[ints[at]] = begun(format, ints, at + 1);
      return rows(games);
    },

    /** ints: group, then per lane: lives, two actions. */
    step(_, ints) {
      const games = groups.get(ints[0]);
      games.forEach((game, i) => {
        const at = 1 + 3 * i;
        if (ints[at]) game.step(ints[at + 1], ints[at + 2]);
      });
      return rows(games);
    },

    /** text: format. ints: group, then per game the lane and its state. */
    load(format, ints) {
      const games = groups.get(ints[0]);
      for (let at = 1; at < ints.length; at += 1 + STATE_WIDTH) {
        games[ints[at]] = Game.load(format, unpacked(ints, at + 1));
      }
      return new Int32Array(0);
    },

    /** ints: group. One row of 0 and 1 per lane. */
    events(_, ints) {
      const games = groups.get(ints[0]);
      const out = new Int32Array(games.length * EVENTS.length);
      games.forEach((game, i) => { if (game) game.events(out, i * EVENTS.length); });
      return out;
    },

    /** text: format. ints: seed's words, teams, actions. A whole battle: all of its rows. */
    play(format, ints) {
      const game = begun(format, ints, 0);
      const found = [];
      for (let at = 2 + TEAMS; ; at += 2) {
        const row = new Int32Array(WIDTH);
        game.pack(row, 0);
        found.push(row);
        if (game.battle.ended || at >= ints.length) break;
        game.step(ints[at], ints[at + 1]);
      }
      const out = new Int32Array(found.length * WIDTH);
      found.forEach((row, i) => out.set(row, i * WIDTH));
      return out;
    },

    /** text: format. ints: a state and two actions. The step's log and draws, as text. */
    explain(format, ints) {
      const game = Game.load(format, unpacked(ints, 0));
      return explained(game, ints[STATE_WIDTH], ints[STATE_WIDTH + 1]);
    },

    close(_, ints) {
      groups.delete(ints[0]);
      return new Int32Array(0);
    },
  };

  return (operation, text, ints) => operations[operation](text, ints);
}

/** Build `handle` over the simulator in this folder. */
const open = (folder) => server(require(folder));

module.exports = { open };
