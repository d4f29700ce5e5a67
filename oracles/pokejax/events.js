'use strict';
/* The events of a step, from the log's lines: the coverage that the report counts. */

const LINES = [
  '-crit', '-miss', '-immune', '-supereffective', '-resisted', '-fail', '-notarget', '-ohko', '-mustrecharge',
  '-prepare', '-transform', '-unboost', '-boost', '-heal', '-nothing', '-hitcount', 'faint', 'switch', 'win', 'tie',
  '-clearallboost', '-fieldactivate',
];
const CANNOT = ['slp', 'frz', 'par', 'flinch', 'partiallytrapped', 'recharge', 'Disable'];
const STATUSES = ['brn', 'par', 'slp', 'frz', 'psn', 'tox'];
const STARTS = [
  'confusion', 'Disable', 'Substitute', 'Bide', 'Mist', 'Mimic', 'Reflect', 'Light Screen', 'typechange',
  'move: Leech Seed', 'move: Focus Energy',
];
const ENDS = ['confusion', 'Disable', 'Substitute', 'Bide'];
const ACTIVATES = ['confusion', 'Substitute', 'Bide', 'move: Haze', 'move: Mist'];
const HITS = ['2', '3', '4', '5'];
const HINTS = {
  'pp underflow': 'the move will underflow',
  'desync clause': 'Desync Clause Mod activated',
  'missed by 1 in 256': 'moves with 100% accuracy can still miss',
  'roll-over': 'a stat will roll over',
  'division by zero': 'avoids division by zero',
  'counted toxic': "Toxic's counter is retained",
  'leech seed with toxic': "Leech Seed's damage is affected",
  'boost at 999': 'boosting a stat at 999',
  'drop at 1': 'dropping a stat at 1',
  'recovery fails': 'recovery moves fail',
  'recharge slept through': 'who has just used Hyper Beam|that has just used Hyper Beam',
  'binding ends recharge': 'partial trapping moves negate the recharge',
  'semi-invulnerable glitch': 'it will remain semi-invulnerable',
  'explosion breaks substitute': 'will not take damage if it breaks a Substitute',
  'rage builds by a miss': 'causes the target to build Rage',
  'substitute takes confusion': "hurts itself due to confusion",
  'confused through substitute': 'can confuse targets with a Substitute',
  'bide forgets': "Bide's accumulated damage is reset",
  'soft lock': 'the sleep counter will not decrease|will become soft-locked|the move execution will never resolve',
  'sleep clause': 'Sleep Clause Mod prevents',
};
const CLAUSES = ['Freeze Clause activated.', 'This battle cannot progress'];

const MOVE_COUNT = 165;
const named = [];
const places = new Map();
const add = (key, name) => { places.set(key, named.length); named.push(name); };
for (const line of LINES) add(line, line.replace('-', ''));
for (const why of CANNOT) add(`cant ${why}`, `cannot move: ${why}`);
for (const status of STATUSES) add(`-status ${status}`, `caught ${status}`);
for (const status of STATUSES) add(`-curestatus ${status}`, `cured ${status}`);
for (const start of STARTS) add(`-start ${start}`, `began ${start.replace('move: ', '')}`);
for (const end of ENDS) add(`-end ${end}`, `ended ${end}`);
for (const what of ACTIVATES) add(`-activate ${what}`, `active ${what.replace('move: ', '')}`);
for (const hits of HITS) add(`-hitcount ${hits}`, `${hits} hits`);
for (const from of ['Recoil', 'confusion', 'drain', 'psn', 'brn', 'Leech Seed', 'Metronome', 'Mirror Move']) add(`from ${from}`, `from ${from}`);
for (const hint of Object.keys(HINTS)) add(`hint ${hint}`, hint);
for (const clause of CLAUSES) add(`clause ${clause}`, clause.replace('.', ''));
const FIRST_MOVE = named.length;

/** Names of the events; those of moves, by number, follow the others. */
const EVENTS = [...named, ...Array.from({ length: MOVE_COUNT }, (_, i) => `move ${i + 1}`)];

/** Write to out[base ...] the events in the log from line `from` on. */
function happened(log, from, out, base, names) {
  const note = (key) => {
    const place = places.get(key);
    if (place !== undefined) out[base + place] = 1;
  };
  for (let i = 0; i < EVENTS.length; i++) out[base + i] = 0;
  for (let at = from; at < log.length; at++) {
    const parts = log[at].split('|');
    const kind = parts[1];
    note(kind);
    for (const part of parts) if (part.startsWith('[from] ')) note(`from ${part.slice(7).replace('move: ', '')}`);
    if (kind === 'move') out[base + FIRST_MOVE + names.move(names.dex.moves.get(parts[3])) - 1] = 1;
    else if (['cant', '-status', '-curestatus', '-start', '-end', '-activate', '-hitcount'].includes(kind)) note(`${kind} ${parts[3]}`);
    else if (kind === '-hint') {
      for (const [name, texts] of Object.entries(HINTS)) {
        if (texts.split('|').some((text) => log[at].includes(text))) note(`hint ${name}`);
      }
    } else if (kind === '-message') {
      for (const clause of CLAUSES) if (log[at].includes(clause)) note(`clause ${clause}`);
    }
  }
}

module.exports = { EVENTS, happened };
