'use strict';
/*
 * Writes contracts/pokejax/teams.json: teams of the format gen1randombattle, as the package
 * pokemon-showdown generates them from consecutive seeds. @pkmn/sim has no generator of its own.
 * Usage: node tools/pokejax/teams.js FOLDER_OF_pokemon-showdown COUNT OUTPUT
 */
const fs = require('fs');
const path = require('path');

const [folder, count, output] = process.argv.slice(2);
const { Teams, Dex } = require(path.resolve(folder));
const dex = Dex.mod('gen1');
const STATS = ['hp', 'atk', 'def', 'spa', 'spd', 'spe'];

const teams = [];
for (let i = 0; i < Number(count); i++) {
  const team = Teams.generate('gen1randombattle', { seed: `${i >>> 16},${i & 0xffff},1,1` });
  teams.push(team.map((set) => {
    const moves = set.moves.map((move) => dex.moves.get(move).num);
    while (moves.length < 4) moves.push(0);
    return [
      dex.species.get(set.species).num, set.level, ...moves,
      ...STATS.map((stat) => set.ivs[stat]), ...STATS.map((stat) => set.evs[stat]),
    ];
  }));
}
const version = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).version;
fs.writeFileSync(output, [
  '{',
  '"generated_by": "tools/pokejax/teams.js",',
  `"source": "pokemon-showdown ${version}, gen1randombattle, seeds 0,0,1,1 to 0,${Number(count) - 1},1,1",`,
  '"teams": [',
  teams.map((team) => JSON.stringify(team)).join(',\n'),
  ']',
  '}',
  '',
].join('\n'));
