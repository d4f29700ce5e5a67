//! What cannot be seen from outside.

mod lanes;
mod search;
mod starts;
mod vectors;

use crate::real::Isa;

fn here() -> impl Iterator<Item = Isa> {
    Isa::ALL.into_iter().filter(|isa| isa.is_here())
}

/// Numbers that look random: the same ones each time.
struct Draws(u64);

impl Draws {
    fn next(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        low + (high - low) * (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
