//! One lane, for any processor.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{Task, Vector};
use crate::real::Real;

/// One number. Products are rounded before they are added.
///
/// An array of lanes would let the compiler look for vectors in thousands of operations, for many
/// minutes.
#[derive(Clone, Copy, Debug)]
pub struct Portable<T>(T);

macro_rules! operators {
    ($($operator:ident $name:ident),*) => {$(
        impl<T: Real> $operator for Portable<T> {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Self(self.0.$name(other.0))
            }
        }
    )*};
}
operators!(Add add, Sub sub, Mul mul, Div div);

impl<T: Real> Neg for Portable<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl<T: Real> Vector for Portable<T> {
    type Scalar = T;
    type Mask = bool;
    type Token = ();
    const LANES: usize = 1;
    const FUSES: bool = false;

    #[inline(always)]
    fn of((): (), value: f64) -> Self {
        Self(T::of(value))
    }
    #[inline(always)]
    fn zero((): ()) -> Self {
        Self(T::default())
    }
    #[inline(always)]
    fn load((): (), row: &[T], at: usize) -> Self {
        Self(row[at])
    }
    #[inline(always)]
    fn store(self, row: &mut [T], at: usize) {
        row[at] = self.0;
    }
    #[inline(always)]
    fn mul_add(self, by: Self, plus: Self) -> Self {
        self * by + plus
    }
    #[inline(always)]
    fn mul_sub(self, by: Self, less: Self) -> Self {
        self * by - less
    }
    #[inline(always)]
    fn neg_mul_add(self, by: Self, from: Self) -> Self {
        from - self * by
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if self.0 < other.0 { self } else { other }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self.0 > other.0 { self } else { other }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.abs())
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self.0 < other.0
    }
    #[inline(always)]
    fn le(self, other: Self) -> bool {
        self.0 <= other.0
    }
    #[inline(always)]
    fn ne(self, other: Self) -> bool {
        self.0 != other.0
    }
    #[inline(always)]
    fn bit<const BIT: u32>(self) -> bool {
        self.0.bits() >> BIT & 1 == 1
    }
    #[inline(always)]
    fn select(which: bool, yes: Self, no: Self) -> Self {
        if which { yes } else { no }
    }
    #[inline(always)]
    fn or(one: bool, other: bool) -> bool {
        one | other
    }
    #[inline(always)]
    fn and(one: bool, other: bool) -> bool {
        one & other
    }
    #[inline(always)]
    fn not(which: bool) -> bool {
        !which
    }
    #[inline(always)]
    fn bits(which: bool) -> u32 {
        which.into()
    }
    #[inline(always)]
    fn any(which: bool) -> bool {
        which
    }
    #[inline(always)]
    fn token(self) {}
    #[inline(never)]
    fn enter<K: Task<Self>>((): (), task: K) -> K::Output {
        task.run(())
    }
}
