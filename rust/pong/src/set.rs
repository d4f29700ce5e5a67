//! Sets of the games of a block.

use crate::block::LANES;

/// Some of the [`LANES`] games of a block; iterates over their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Set(u64);

const _: () = assert!(LANES == u64::BITS as usize);

impl Set {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ALL: Self = Self(u64::MAX);

    #[inline(always)]
    pub(crate) fn add(&mut self, game: usize) {
        self.0 |= 1 << game;
    }

    /// Adds the games among the eight from `first` on whose flag is 1; the other flags are 0.
    #[inline(always)]
    pub(crate) fn add_eight(&mut self, first: usize, flags: [u8; 8]) {
        // The product has byte k of the flags at bit 56 + k.
        let gathered = u64::from_le_bytes(flags).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        self.0 |= gathered << first;
    }

    #[inline(always)]
    pub(crate) fn has(self, game: usize) -> bool {
        self.0 >> game & 1 != 0
    }

    /// The members among the eight games from `first` on.
    #[inline(always)]
    pub(crate) fn within(self, first: usize) -> Self {
        Self(self.0 & (0xFF << first))
    }

    #[inline(always)]
    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl Iterator for Set {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let game = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(game)
    }
}

#[cfg(test)]
mod tests {
    use super::{LANES, Set};

    #[test]
    fn eight_flags_are_the_games_that_they_flag() {
        for pattern in 0..=u8::MAX {
            for first in [0, 8, 56] {
                let mut set = Set::NONE;
                set.add_eight(first, std::array::from_fn(|k| pattern >> k & 1));
                let games: Vec<_> = (0..8).filter(|k| pattern >> k & 1 == 1).collect();
                assert!(set.eq(games.iter().map(|k| first + k)));
                let has = (0..LANES).filter(|game| set.has(*game));
                assert!(has.eq(games.iter().map(|k| first + k)));
            }
        }
    }

    #[test]
    fn a_set_without_itself_is_empty() {
        assert_eq!(Set::ALL.without(Set::ALL), Set::NONE);
        assert_eq!(Set::ALL.count(), 64);
    }
}
