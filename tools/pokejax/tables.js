'use strict';
/*
 * Writes generated/pokejax/tables.json from the simulator's data: moves, species and types of
 * generation 1 as numbers. Usage: node tools/pokejax/tables.js FOLDER_OF_@pkmn/sim OUTPUT
 */
const fs = require('fs');
const path = require('path');

const [folder, output] = process.argv.slice(2);
const sim = require(path.resolve(folder));
const dex = sim.Dex.mod('gen1');
const numbered = (all) => all.filter((entry) => entry.gen === 1 && !entry.isNonstandard)
  .sort((a, b) => a.num - b.num);

const types = dex.types.all().filter((type) => !type.isNonstandard).map((type) => type.name).sort();
const STATUSES = ['', 'brn', 'par', 'slp', 'frz', 'psn', 'tox'];
const STATS = ['atk', 'def', 'spa', 'spd', 'spe', 'accuracy', 'evasion'];
const CATEGORIES = ['Physical', 'Special', 'Status'];

/** The stats that a boost names, as a bit mask, and its one amount. */
function boosts(table) {
  const named = Object.entries(table || {});
  const amounts = new Set(named.map(([, amount]) => amount));
  if (amounts.size > 1) throw new Error(`one amount expected: ${JSON.stringify(table)}`);
  return [named.reduce((mask, [stat]) => mask | 1 << STATS.indexOf(stat), 0), [...amounts][0] || 0];
}

function move(entry) {
  const secondaries = entry.secondaries || [];
  if (secondaries.length > 1) throw new Error(`${entry.id} has two secondary effects`);
  const secondary = secondaries[0] || {};
  const [stats, amount] = boosts(entry.boosts);
  const [secondaryStats, secondaryAmount] = boosts(secondary.boosts);
  const hits = Array.isArray(entry.multihit) ? 5 : entry.multihit || 1;
  return {
    id: entry.id,
    name: entry.name,
    type: types.indexOf(entry.type),
    power: entry.basePower,
    accuracy: entry.accuracy === true ? 0 : entry.accuracy,
    category: CATEGORIES.indexOf(entry.category),
    pp: entry.pp,
    priority: entry.priority,
    high_critical: entry.critRatio === 2,
    at_self: entry.target === 'self',
    ohko: !!entry.ohko,
    fixed_damage: entry.damage === 'level' ? -1 : entry.damage || 0,
    hits,
    recoil: entry.recoil ? Math.round(entry.recoil[1] / entry.recoil[0]) : 0,
    drains: !!entry.drain,
    self_destructs: !!entry.selfdestruct,
    ignores_immunity: !!(entry.ignoreImmunity ?? entry.category === 'Status'),
    status: STATUSES.indexOf(entry.status || ''),
    volatile: entry.volatileStatus || '',
    self_volatile: entry.self?.volatileStatus || '',
    boost_stats: stats,
    boost_amount: amount,
    secondary_chance: secondary.chance
      ? Math.ceil(secondary.chance * 256 / 100) - (secondary.volatileStatus === 'confusion' ? 1 : 0) : 0,
    secondary_status: STATUSES.indexOf(secondary.status || ''),
    secondary_volatile: secondary.volatileStatus || '',
    secondary_stats: secondaryStats,
    secondary_amount: secondaryAmount,
    called_by_metronome: !!entry.flags.metronome,
  };
}

const tables = {
  generated_by: 'tools/pokejax/tables.js',
  source: `@pkmn/sim ${JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).version}`,
  types,
  statuses: STATUSES,
  effectiveness: types.map((attacking) => types.map((defending) => {
    const taken = dex.types.get(defending).damageTaken[attacking];
    return taken === 3 ? -2 : taken === 1 ? 1 : taken === 2 ? -1 : 0;
  })),
  status_immunity: Object.fromEntries(types.map((type) => [type, STATUSES.filter(
    (status) => status && dex.types.get(type).damageTaken[status] === 3)]).filter(([, list]) => list.length)),
  moves: numbered(dex.moves.all().slice()).map(move),
  species: numbered(dex.species.all().slice()).map((entry) => ({
    name: entry.name,
    types: entry.types.map((type) => types.indexOf(type)),
    stats: ['hp', ...STATS.slice(0, 5)].map((stat) => entry.baseStats[stat]),
  })),
};

// One move or species a line: a diff of a new version then says what changed.
const lines = Object.entries(tables).map(([key, value]) => (
  ['moves', 'species', 'effectiveness'].includes(key)
    ? `"${key}": [\n${value.map((row) => '  ' + JSON.stringify(row)).join(',\n')}\n]`
    : `"${key}": ${JSON.stringify(value)}`));
fs.writeFileSync(output, `{\n${lines.join(',\n')}\n}\n`);
