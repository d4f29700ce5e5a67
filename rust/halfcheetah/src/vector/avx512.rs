//! Vectors of 512 bits: AVX-512F.
//!
//! SAFETY of all intrinsics here: vectors are only made inside [`Vector::enter`], whose caller
//! knows that the processor has them. Memory is checked by the slices it is taken from.

use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{Task, Vector};

macro_rules! operators {
    ($type:ident: $($operator:ident $name:ident $intrinsic:ident),*) => {$(
        impl $operator for $type {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                // SAFETY: see the head of the file.
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        }
    )*};
}

/// 16 lanes of f32.
#[derive(Clone, Copy, Debug)]
pub struct F32x16(__m512);

operators!(F32x16: Add add _mm512_add_ps, Sub sub _mm512_sub_ps, Mul mul _mm512_mul_ps, Div div _mm512_div_ps);

impl Neg for F32x16 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_sub_ps(_mm512_set1_ps(-0.0), self.0)) }
    }
}

impl Vector for F32x16 {
    type Scalar = f32;
    type Mask = __mmask16;
    const LANES: usize = 16;
    const FUSES: bool = true;

    #[inline(always)]
    fn of(value: f64) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_set1_ps(value as f32)) }
    }
    #[inline(always)]
    fn zero() -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_setzero_ps()) }
    }
    #[inline(always)]
    fn load(row: &[f32], at: usize) -> Self {
        let row = &row[at..at + 16];
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_loadu_ps(row.as_ptr())) }
    }
    #[inline(always)]
    fn store(self, row: &mut [f32], at: usize) {
        let row = &mut row[at..at + 16];
        // SAFETY: see the head of the file.
        unsafe { _mm512_storeu_ps(row.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn mul_add(self, by: Self, plus: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_fmadd_ps(self.0, by.0, plus.0)) }
    }
    #[inline(always)]
    fn mul_sub(self, by: Self, less: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_fmsub_ps(self.0, by.0, less.0)) }
    }
    #[inline(always)]
    fn neg_mul_add(self, by: Self, from: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_fnmadd_ps(self.0, by.0, from.0)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_min_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_max_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_abs_ps(self.0)) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn ne(self, other: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn bit<const BIT: u32>(self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm512_test_epi32_mask(_mm512_castps_si512(self.0), _mm512_set1_epi32(1 << BIT)) }
    }
    #[inline(always)]
    fn select(which: Self::Mask, yes: Self, no: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_mask_blend_ps(which, no.0, yes.0)) }
    }
    #[inline(always)]
    fn or(one: Self::Mask, other: Self::Mask) -> Self::Mask {
        one | other
    }
    #[inline(always)]
    fn and(one: Self::Mask, other: Self::Mask) -> Self::Mask {
        one & other
    }
    #[inline(always)]
    fn not(which: Self::Mask) -> Self::Mask {
        !which
    }
    #[inline(always)]
    fn bits(which: Self::Mask) -> u32 {
        which.into()
    }
    #[inline(always)]
    fn any(which: Self::Mask) -> bool {
        which != 0
    }
    #[target_feature(enable = "avx512f")]
    #[inline(never)]
    unsafe fn enter<K: Task<Self>>(task: K) -> K::Output {
        task.run()
    }
}

/// 8 lanes of f64.
#[derive(Clone, Copy, Debug)]
pub struct F64x8(__m512d);

operators!(F64x8: Add add _mm512_add_pd, Sub sub _mm512_sub_pd, Mul mul _mm512_mul_pd, Div div _mm512_div_pd);

impl Neg for F64x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_sub_pd(_mm512_set1_pd(-0.0), self.0)) }
    }
}

impl Vector for F64x8 {
    type Scalar = f64;
    type Mask = __mmask8;
    const LANES: usize = 8;
    const FUSES: bool = true;

    #[inline(always)]
    fn of(value: f64) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_set1_pd(value)) }
    }
    #[inline(always)]
    fn zero() -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_setzero_pd()) }
    }
    #[inline(always)]
    fn load(row: &[f64], at: usize) -> Self {
        let row = &row[at..at + 8];
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_loadu_pd(row.as_ptr())) }
    }
    #[inline(always)]
    fn store(self, row: &mut [f64], at: usize) {
        let row = &mut row[at..at + 8];
        // SAFETY: see the head of the file.
        unsafe { _mm512_storeu_pd(row.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn mul_add(self, by: Self, plus: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_fmadd_pd(self.0, by.0, plus.0)) }
    }
    #[inline(always)]
    fn mul_sub(self, by: Self, less: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_fmsub_pd(self.0, by.0, less.0)) }
    }
    #[inline(always)]
    fn neg_mul_add(self, by: Self, from: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_fnmadd_pd(self.0, by.0, from.0)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_min_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_max_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_abs_pd(self.0)) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm512_cmp_pd_mask::<_CMP_LE_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn ne(self, other: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn bit<const BIT: u32>(self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm512_test_epi64_mask(_mm512_castpd_si512(self.0), _mm512_set1_epi64(1 << BIT)) }
    }
    #[inline(always)]
    fn select(which: Self::Mask, yes: Self, no: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm512_mask_blend_pd(which, no.0, yes.0)) }
    }
    #[inline(always)]
    fn or(one: Self::Mask, other: Self::Mask) -> Self::Mask {
        one | other
    }
    #[inline(always)]
    fn and(one: Self::Mask, other: Self::Mask) -> Self::Mask {
        one & other
    }
    #[inline(always)]
    fn not(which: Self::Mask) -> Self::Mask {
        !which
    }
    #[inline(always)]
    fn bits(which: Self::Mask) -> u32 {
        which.into()
    }
    #[inline(always)]
    fn any(which: Self::Mask) -> bool {
        which != 0
    }
    #[target_feature(enable = "avx512f")]
    #[inline(never)]
    unsafe fn enter<K: Task<Self>>(task: K) -> K::Output {
        task.run()
    }
}
