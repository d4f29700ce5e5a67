//! The random starts of episodes: NumPy's draws from a seed, bit for bit.
//!
//! `numpy.random.Generator(PCG64(SeedSequence(seed)))`, as Gymnasium makes it.

use crate::block::JOINTS;
use crate::generated::ziggurat::{HEIGHTS, INSIDE, PER_RIGHT, RIGHT, WIDTHS};

/// PCG64: a linear congruence of 128 bits, of which each draw gives 64.
struct Generator {
    state: u128,
    increment: u128,
}

/// One of SeedSequence's running multipliers, hashing words one after the other.
struct Hash {
    constant: u32,
    multiplier: u32,
}

impl Hash {
    fn next(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let word = word.wrapping_mul(self.constant);
        word ^ word >> 16
    }
}

/// SeedSequence of an integer given by its words (low, high): four words of 64 bits.
fn seed_sequence(seed: [u32; 2]) -> [u64; 4] {
    let mut hash = Hash {
        constant: 0x43b0_d7e5,
        multiplier: 0x931e_8875,
    };
    // Words that an integer does not have are 0.
    let mut pool = [seed[0], seed[1], 0, 0].map(|word| hash.next(word));
    for from in 0..4 {
        for to in 0..4 {
            if from != to {
                let mixed = pool[to].wrapping_mul(0xca01_f9dd);
                let mixed = mixed.wrapping_sub(hash.next(pool[from]).wrapping_mul(0x4973_f715));
                pool[to] = mixed ^ mixed >> 16;
            }
        }
    }
    let mut hash = Hash {
        constant: 0x8b51_f9dd,
        multiplier: 0x58f3_8ded,
    };
    let mut state = [0; 4];
    for (k, to) in state.iter_mut().enumerate() {
        let low = hash.next(pool[2 * k % 4]);
        let high = hash.next(pool[(2 * k + 1) % 4]);
        *to = u64::from(low) | u64::from(high) << 32;
    }
    state
}

impl Generator {
    fn new(seed: [u32; 2]) -> Self {
        let words = seed_sequence(seed).map(u128::from);
        let mut made = Self {
            state: 0,
            increment: (words[2] << 64 | words[3]) << 1 | 1,
        };
        made.advance();
        made.state = made.state.wrapping_add(words[0] << 64 | words[1]);
        made.advance();
        made
    }

    fn advance(&mut self) {
        let multiplier = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
        self.state = self.state.wrapping_mul(multiplier);
        self.state = self.state.wrapping_add(self.increment);
    }

    fn next(&mut self) -> u64 {
        self.advance();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// In [0, 1).
    fn real(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.real()
    }

    /// By the ziggurat: layers of equal area under the density, with a tail behind the last.
    fn normal(&mut self) -> f64 {
        loop {
            let word = self.next();
            let layer = (word & 0xff) as usize;
            let place = word >> 9 & 0x000f_ffff_ffff_ffff;
            let is_negative = word >> 8 & 1 == 1;
            let x = place as f64 * WIDTHS[layer];
            let x = if is_negative { -x } else { x };
            if place < INSIDE[layer] {
                return x;
            }
            if layer == 0 {
                return self.tail(place >> 8 & 1 == 1);
            }
            let (below, above) = (HEIGHTS[layer], HEIGHTS[layer - 1]);
            if (above - below) * self.real() + below < (-0.5 * x * x).exp() {
                return x;
            }
        }
    }

    fn tail(&mut self, is_negative: bool) -> f64 {
        loop {
            let x = -PER_RIGHT * (-self.real()).ln_1p();
            let y = -(-self.real()).ln_1p();
            if y + y > x * x {
                return if is_negative { -(RIGHT + x) } else { RIGHT + x };
            }
        }
    }
}

/// The positions and velocities that `env.reset(seed=...)` draws; words (low, high) of the seed.
pub fn start(seed: [u32; 2]) -> ([f64; JOINTS], [f64; JOINTS]) {
    let mut generator = Generator::new(seed);
    let qpos = [(); JOINTS].map(|()| generator.uniform(-0.1, 0.1));
    let qvel = [(); JOINTS].map(|()| 0.1 * generator.normal());
    (qpos, qvel)
}
