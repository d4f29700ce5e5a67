//! Sine and cosine of vectors, to about one unit in the last place.
//!
//! The angle minus its multiple of pi/2 is exact except for the last subtraction: with fused
//! operations the first one loses nothing, because its result is a multiple of the last digit of pi/2's
//! first part and below 1.

use crate::generated::trigonometry as numbers;
use crate::real::Real;
use crate::vector::{MOST_LANES, Vector};

/// The differences between the two kinds of numbers.
pub struct Constants {
    sin: &'static [f64],
    cos: &'static [f64],
    quarter: [f64; 3],
    /// Adding and subtracting it rounds to whole numbers, which stand in its last bits.
    rounder: f64,
}

impl Constants {
    pub(crate) const F32: Self = Self {
        sin: &numbers::SIN_32,
        cos: &numbers::COS_32,
        quarter: numbers::QUARTER_32,
        rounder: 1.5 * (1_u64 << 23) as f64,
    };
    pub(crate) const F64: Self = Self {
        sin: &numbers::SIN_64,
        cos: &numbers::COS_64,
        quarter: numbers::QUARTER_64,
        rounder: 1.5 * (1_u64 << 52) as f64,
    };
}

/// The standard library computes larger angles, lane by lane.
const FAR: f64 = 1e5;

/// Returns sine and cosine.
#[inline(always)]
pub(crate) fn sin_cos<V: Vector>(angle: V) -> (V, V) {
    let bound = V::of(angle.token(), FAR);
    if V::FUSES && !V::any(V::not(angle.abs().le(bound))) {
        return near(angle);
    }
    far(angle)
}

#[inline(always)]
fn near<V: Vector>(angle: V) -> (V, V) {
    use crate::real::Types;
    let numbers = &<V::Scalar as Types>::TRIGONOMETRY;
    let token = angle.token();
    let rounder = V::of(token, numbers.rounder);
    let shifted = angle.mul_add(V::of(token, std::f64::consts::FRAC_2_PI), rounder);
    let turns = shifted - rounder;
    let mut rest = angle;
    for part in numbers.quarter {
        rest = turns.neg_mul_add(V::of(token, part), rest);
    }
    let square = rest * rest;
    let sin = (polynomial(numbers.sin, square) * square).mul_add(rest, rest);
    let cos = polynomial(numbers.cos, square).mul_sub(square, V::of(token, 0.5));
    let cos = cos.mul_add(square, V::of(token, 1.0));
    // By quarters: (s, c), (c, -s), (-s, -c), (-c, s).
    let odd = shifted.bit::<0>();
    let (one, other) = (V::select(odd, cos, sin), V::select(odd, sin, cos));
    let next = shifted + V::of(token, 1.0);
    (
        V::select(shifted.bit::<1>(), -one, one),
        V::select(next.bit::<1>(), -other, other),
    )
}

#[inline(always)]
fn polynomial<V: Vector>(terms: &[f64], x: V) -> V {
    let mut sum = V::of(x.token(), terms[terms.len() - 1]);
    for term in terms[..terms.len() - 1].iter().rev() {
        sum = sum.mul_add(x, V::of(x.token(), *term));
    }
    sum
}

/// Lane by lane where an angle is large or not a number, or products are rounded by themselves. The
/// other lanes get the same results as alone.
#[inline(never)]
fn far<V: Vector>(angle: V) -> (V, V) {
    let (near_sin, near_cos) = near(angle);
    let zero = V::Scalar::of(0.0);
    let (mut sin, mut cos) = ([zero; MOST_LANES], [zero; MOST_LANES]);
    let mut angles = sin;
    near_sin.store(&mut sin, 0);
    near_cos.store(&mut cos, 0);
    angle.store(&mut angles, 0);
    for (k, angle) in angles.iter().enumerate().take(V::LANES) {
        let is_near = angle.to_f64().abs() <= FAR;
        if !(V::FUSES && is_near) {
            (sin[k], cos[k]) = angle.sin_cos();
        }
    }
    (
        V::load(angle.token(), &sin, 0),
        V::load(angle.token(), &cos, 0),
    )
}
