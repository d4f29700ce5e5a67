//! Vectors of lanes: one trait, and a type per kind of processor and number.
//!
//! All functions of a vector are `inline(always)`. They are fast only inside [`Vector::enter`], which
//! compiles a task for the vector's instructions. They are sound anywhere: making a vector takes a
//! token, and only a processor with the instructions gives one.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
#[cfg(target_arch = "x86_64")]
mod token;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::real::Real;

pub use portable::Portable;
#[cfg(target_arch = "x86_64")]
pub use {
    avx2::{F32x8, F64x4},
    avx512::{F32x16, F64x8},
    token::{Avx2, Avx512},
};

/// Lanes of the longest vector.
pub const MOST_LANES: usize = 16;

/// A piece of work that is compiled for the instructions of a vector type.
pub trait Task<V: Vector> {
    type Output;
    /// Does the work. Implementations are always inlined.
    fn run(self, token: V::Token) -> Self::Output;
}

/// Numbers in lanes that are independent of each other.
pub trait Vector:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    type Scalar: Real;
    /// One truth per lane.
    type Mask: Copy;
    /// Proof that the processor has the vector's instructions.
    type Token: Copy;
    const LANES: usize;
    /// Whether `mul_add` rounds once.
    const FUSES: bool;

    /// The same number in all lanes.
    fn of(token: Self::Token, value: f64) -> Self;
    fn zero(token: Self::Token) -> Self;
    /// The lanes from `row[at]` on.
    fn load(token: Self::Token, row: &[Self::Scalar], at: usize) -> Self;
    fn store(self, row: &mut [Self::Scalar], at: usize);
    /// The token that it was made with.
    fn token(self) -> Self::Token;

    /// `self * by + plus`, rounded once if [`FUSES`](Self::FUSES).
    fn mul_add(self, by: Self, plus: Self) -> Self;
    /// `self * by - less`.
    fn mul_sub(self, by: Self, less: Self) -> Self;
    /// `from - self * by`.
    fn neg_mul_add(self, by: Self, from: Self) -> Self;
    /// The smaller one; `other` where a lane is not a number.
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn lt(self, other: Self) -> Self::Mask;
    fn le(self, other: Self) -> Self::Mask;
    fn ne(self, other: Self) -> Self::Mask;
    /// Whether bit `BIT` of a lane's representation is set.
    fn bit<const BIT: u32>(self) -> Self::Mask;

    fn select(which: Self::Mask, yes: Self, no: Self) -> Self;
    fn or(one: Self::Mask, other: Self::Mask) -> Self::Mask;
    fn and(one: Self::Mask, other: Self::Mask) -> Self::Mask;
    fn not(which: Self::Mask) -> Self::Mask;
    /// Lane 0 is the lowest bit.
    fn bits(which: Self::Mask) -> u32;
    fn any(which: Self::Mask) -> bool;

    /// Runs a task, compiled for these instructions and apart from the caller.
    fn enter<K: Task<Self>>(token: Self::Token, task: K) -> K::Output;
}
