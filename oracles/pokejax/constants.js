'use strict';
/* Sizes, and the simulator's names in the order of their numbers. */

const STATS = ['atk', 'def', 'spa', 'spd', 'spe'];

module.exports = {
  FORMATS: ['gen1customgame', 'gen1randombattle', 'gen1ou'],
  MOVES: 4,
  TEAM: 6,
  SET: 18, // species, level, 4 moves, 6 IVs, 6 EVs
  STATS,
  BOOSTS: [...STATS, 'accuracy', 'evasion'],
  STATUSES: ['', 'brn', 'par', 'slp', 'frz', 'psn', 'tox', 'fnt'],
  FLAGS: [
    'flinch', 'focusenergy', 'invulnerability', 'leechseed', 'lightscreen', 'mist', 'mustrecharge',
    'reflect', 'minimize', 'defensecurl', 'residualdmg',
  ],
};
