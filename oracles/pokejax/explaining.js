'use strict';
/*
 * A step in the simulator's own words, for a failure report: the lines of its log, and where each
 * number was drawn. The generator is wrapped for this one step of a battle that is thrown away.
 */

const OUTSIDE = /prng\.js|explaining\.js|Battle\.(random|randomChance|sample)\b/;

/** The function and line that asked for a draw, from a stack of V8 or of SpiderMonkey. */
function site(stack) {
  for (const line of stack.split('\n').slice(1)) {
    if (OUTSIDE.test(line) || !/\.js/.test(line)) continue;
    const file = /([\w-]+\.js):(\d+)/.exec(line);
    const name = /at (?:new )?([\w.<>]+) \(|^([\w./<]+)@/.exec(line.trim());
    return `${(name && (name[1] || name[2])) || 'anonymous'} (${file ? `${file[1]}:${file[2]}` : '?'})`;
  }
  return 'unknown';
}

function explained(game, first, second) {
  const { battle } = game;
  const { rng } = battle.prng;
  const next = rng.next.bind(rng);
  const draws = [];
  rng.next = () => {
    const value = next();
    draws.push(`${(value >>> 0).toString(16).padStart(8, '0')} ${site(new Error().stack)}`);
    return value;
  };
  const from = battle.log.length;
  game.step(first, second);
  delete rng.next;
  const lines = battle.log.slice(from).filter((line) => line && line !== '|' && !line.startsWith('|t:|'));
  return [...lines, `${draws.length} draws:`, ...draws.map((draw, i) => `${i + 1}. ${draw}`)].join('\n');
}

module.exports = { explained };
