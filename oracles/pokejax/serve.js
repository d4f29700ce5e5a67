'use strict';
/*
 * The bridge as one function: handle(operation, text, integers) -> Int32Array or text. PythonMonkey
 * calls it in-process; as a program it answers node's standard input, see nodeMain.
 */

const { bridge, LAYOUT, STATE, STATE_WIDTH, WIDTH, EVENTS } = require('./battle.js');
const { counted, explained } = require('./explaining.js');
const { called } = require('./modules.js');
const { Running } = require('./running.js');

/** Seed, rules, teams. */
const START = 2 + 1 + 2 * 6 * 18;

/** handle(operation, text, integers) over one copy of the simulator. */
function server(sim) {
  const { Game } = bridge(sim);
  const groups = new Map();
  const scenes = {};
  let running;

  const seed = (high, low) => [high >>> 16, high & 0xffff, low >>> 16, low & 0xffff].join(',');
  const begun = (ints, at) => new Game(ints[at + 2], seed(ints[at], ints[at + 1]), ints.slice(at + 3, at + START));
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

    /** ints: group, lanes, then per game the lane and its start. All rows. */
    reset(_, ints) {
      const [group, lanes] = ints;
      const games = groups.get(group) || [];
      games.length = lanes;
      groups.set(group, games);
      for (let at = 2; at < ints.length; at += 1 + START) games[ints[at]] = begun(ints, at + 1);
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

    /** ints: group, then per game the lane and its state. */
    load(_, ints) {
      const games = groups.get(ints[0]);
      for (let at = 1; at < ints.length; at += 1 + STATE_WIDTH) {
        games[ints[at]] = Game.load(unpacked(ints, at + 1));
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

    /** ints: a start, actions. A whole battle: all of its rows. */
    play(_, ints) {
      const game = begun(ints, 0);
      const found = [];
      for (let at = START; ; at += 2) {
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

    /** ints: a start, actions. The places of draws, and the last seed, as JSON. */
    draws: (_, ints) => JSON.stringify(counted(begun(ints, 0), ints.slice(START))),

    /** ints: a start, actions. The log of the resulting battle. */
    log(_, ints) {
      const game = begun(ints, 0);
      for (let at = START; at < ints.length && !game.battle.ended; at += 2) game.step(ints[at], ints[at + 1]);
      return game.battle.log.join('\n');
    },

    /** ints: a state and two actions. The step's log and draws, as text. */
    explain(_, ints) {
      const game = Game.load(unpacked(ints, 0));
      return explained(game, ints[STATE_WIDTH], ints[STATE_WIDTH + 1]);
    },

    /** text: the module to call, see modules.js. ints: rows of its inputs. Rows of its outputs. */
    call(text, ints) {
      return called({ sim, Game, LAYOUT, seedText: seed, games: scenes }, JSON.parse(text), ints);
    },

    /** ints: rows of a table, each a start, then lanes with their seeds, both after their number. */
    run_begin(_, ints) {
      running = new Running(begun, START, ints);
      return new Int32Array(0);
    },

    /** ints: steps, whether to observe, actions. The results of every step of every lane. */
    run(_, ints) {
      return running.play(ints[0], ints[1], ints.subarray(2));
    },

    /** All rows of the lanes in their present state. */
    run_rows: () => rows(running.games),

    close(_, ints) {
      groups.delete(ints[0]);
      return new Int32Array(0);
    },
  };

  return (operation, text, ints) => operations[operation](text, ints);
}

/** Build `handle` over the simulator in this folder. */
function open(folder) {
  const sim = require(folder);
  // The package pokemon-showdown, which a test compares with ours, does not export State.
  return server(sim.State ? sim : { ...sim, ...require(`${folder}/dist/sim/state.js`) });
}

module.exports = { open };
