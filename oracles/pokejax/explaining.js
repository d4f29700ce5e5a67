'use strict';
/*
 * A step in the simulator's own words, for a failure report: the lines of its log, and the place where
 * each number was drawn. The generator is wrapped for this one step of a battle that is discarded.
 */

const OUTSIDE = /prng\.js|explaining\.js|\b(random|randomChance|sample)(@| \().*battle\.js/;
/** Functions that sort and shuffle for others: their caller is named, too. */
const FOR_OTHERS = /^(speedSort|eachEvent|fieldEvent|runEvent)\b/;

/** The functions and lines that asked for a draw, from a stack of V8 or of SpiderMonkey. */
function site(stack) {
  const found = [];
  for (const line of stack.split('\n').slice(1)) {
    if (OUTSIDE.test(line) || !/\.js/.test(line)) continue;
    const file = /([\w-]+\.js):(\d+)/.exec(line);
    const name = /at (?:new )?([\w.<>]+) \(|^([\w./<]+)@/.exec(line.trim());
    // Without its class, which SpiderMonkey does not report.
    const called = ((name && (name[1] || name[2])) || 'anonymous').split('.').pop();
    found.push(`${called} (${file ? `${file[1]}:${file[2]}` : '?'})`);
    if (!FOR_OTHERS.test(found[found.length - 1])) break;
  }
  return found.join(' < ') || 'unknown';
}

/** Call `told(value, site)` for every draw; return a function that ends that. */
function listen({ rng }, told) {
  const next = rng.next.bind(rng);
  rng.next = () => {
    const value = next();
    told(value, site(new Error().stack));
    return value;
  };
  return () => delete rng.next;
}

/** Play actions and count the places of draws; return the seed at the end as well. */
function counted(game, actions) {
  const places = {};
  const stop = listen(game.battle.prng, (_, place) => { places[place] = (places[place] || 0) + 1; });
  for (let at = 0; at < actions.length && !game.battle.ended; at += 2) game.step(actions[at], actions[at + 1]);
  stop();
  const words = game.battle.prng.getSeed().split(',').map(Number);
  return { places, seed: [words[0] * 65536 + words[1], words[2] * 65536 + words[3]] };
}

function explained(game, first, second) {
  const { battle } = game;
  const draws = [];
  const stop = listen(battle.prng, (value, place) => {
    draws.push(`${(value >>> 0).toString(16).padStart(8, '0')} ${place}`);
  });
  const from = battle.log.length;
  game.step(first, second);
  stop();
  const lines = battle.log.slice(from).filter((line) => line && line !== '|' && !line.startsWith('|t:|'));
  return [...lines, `${draws.length} draws:`, ...draws.map((draw, i) => `${i + 1}. ${draw}`)].join('\n');
}

module.exports = { counted, explained };
