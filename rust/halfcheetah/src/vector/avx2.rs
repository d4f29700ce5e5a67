//! Vectors of 256 bits: AVX2 and fused multiply-add.
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

/// 8 lanes of f32.
#[derive(Clone, Copy, Debug)]
pub struct F32x8(__m256);

operators!(F32x8: Add add _mm256_add_ps, Sub sub _mm256_sub_ps, Mul mul _mm256_mul_ps, Div div _mm256_div_ps);

impl Neg for F32x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_sub_ps(_mm256_set1_ps(-0.0), self.0)) }
    }
}

impl Vector for F32x8 {
    type Scalar = f32;
    type Mask = __m256;
    const LANES: usize = 8;
    const FUSES: bool = true;

    #[inline(always)]
    fn of(value: f64) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_set1_ps(value as f32)) }
    }
    #[inline(always)]
    fn zero() -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_setzero_ps()) }
    }
    #[inline(always)]
    fn load(row: &[f32], at: usize) -> Self {
        let row = &row[at..at + 8];
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_loadu_ps(row.as_ptr())) }
    }
    #[inline(always)]
    fn store(self, row: &mut [f32], at: usize) {
        let row = &mut row[at..at + 8];
        // SAFETY: see the head of the file.
        unsafe { _mm256_storeu_ps(row.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn mul_add(self, by: Self, plus: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_fmadd_ps(self.0, by.0, plus.0)) }
    }
    #[inline(always)]
    fn mul_sub(self, by: Self, less: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_fmsub_ps(self.0, by.0, less.0)) }
    }
    #[inline(always)]
    fn neg_mul_add(self, by: Self, from: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_fnmadd_ps(self.0, by.0, from.0)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_min_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_max_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0)) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn ne(self, other: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_cmp_ps::<_CMP_NEQ_UQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn bit<const BIT: u32>(self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe {
            let bit = _mm256_set1_epi32(1 << BIT);
            let found = _mm256_and_si256(_mm256_castps_si256(self.0), bit);
            _mm256_castsi256_ps(_mm256_cmpeq_epi32(found, bit))
        }
    }
    #[inline(always)]
    fn select(which: Self::Mask, yes: Self, no: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_blendv_ps(no.0, yes.0, which)) }
    }
    #[inline(always)]
    fn or(one: Self::Mask, other: Self::Mask) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_or_ps(one, other) }
    }
    #[inline(always)]
    fn and(one: Self::Mask, other: Self::Mask) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_and_ps(one, other) }
    }
    #[inline(always)]
    fn not(which: Self::Mask) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe {
            let all = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
            _mm256_xor_ps(which, all)
        }
    }
    #[inline(always)]
    fn bits(which: Self::Mask) -> u32 {
        // SAFETY: see the head of the file.
        unsafe { _mm256_movemask_ps(which) as u32 }
    }
    #[inline(always)]
    fn any(which: Self::Mask) -> bool {
        Self::bits(which) != 0
    }
    #[target_feature(enable = "avx2,fma")]
    #[inline(never)]
    unsafe fn enter<K: Task<Self>>(task: K) -> K::Output {
        task.run()
    }
}

/// 4 lanes of f64.
#[derive(Clone, Copy, Debug)]
pub struct F64x4(__m256d);

operators!(F64x4: Add add _mm256_add_pd, Sub sub _mm256_sub_pd, Mul mul _mm256_mul_pd, Div div _mm256_div_pd);

impl Neg for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_sub_pd(_mm256_set1_pd(-0.0), self.0)) }
    }
}

impl Vector for F64x4 {
    type Scalar = f64;
    type Mask = __m256d;
    const LANES: usize = 4;
    const FUSES: bool = true;

    #[inline(always)]
    fn of(value: f64) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_set1_pd(value)) }
    }
    #[inline(always)]
    fn zero() -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_setzero_pd()) }
    }
    #[inline(always)]
    fn load(row: &[f64], at: usize) -> Self {
        let row = &row[at..at + 4];
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_loadu_pd(row.as_ptr())) }
    }
    #[inline(always)]
    fn store(self, row: &mut [f64], at: usize) {
        let row = &mut row[at..at + 4];
        // SAFETY: see the head of the file.
        unsafe { _mm256_storeu_pd(row.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn mul_add(self, by: Self, plus: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_fmadd_pd(self.0, by.0, plus.0)) }
    }
    #[inline(always)]
    fn mul_sub(self, by: Self, less: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_fmsub_pd(self.0, by.0, less.0)) }
    }
    #[inline(always)]
    fn neg_mul_add(self, by: Self, from: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_fnmadd_pd(self.0, by.0, from.0)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_min_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_max_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0)) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_cmp_pd::<_CMP_LE_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn ne(self, other: Self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_cmp_pd::<_CMP_NEQ_UQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn bit<const BIT: u32>(self) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe {
            let bit = _mm256_set1_epi64x(1 << BIT);
            let found = _mm256_and_si256(_mm256_castpd_si256(self.0), bit);
            _mm256_castsi256_pd(_mm256_cmpeq_epi64(found, bit))
        }
    }
    #[inline(always)]
    fn select(which: Self::Mask, yes: Self, no: Self) -> Self {
        // SAFETY: see the head of the file.
        unsafe { Self(_mm256_blendv_pd(no.0, yes.0, which)) }
    }
    #[inline(always)]
    fn or(one: Self::Mask, other: Self::Mask) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_or_pd(one, other) }
    }
    #[inline(always)]
    fn and(one: Self::Mask, other: Self::Mask) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe { _mm256_and_pd(one, other) }
    }
    #[inline(always)]
    fn not(which: Self::Mask) -> Self::Mask {
        // SAFETY: see the head of the file.
        unsafe {
            let all = _mm256_castsi256_pd(_mm256_set1_epi32(-1));
            _mm256_xor_pd(which, all)
        }
    }
    #[inline(always)]
    fn bits(which: Self::Mask) -> u32 {
        // SAFETY: see the head of the file.
        unsafe { _mm256_movemask_pd(which) as u32 }
    }
    #[inline(always)]
    fn any(which: Self::Mask) -> bool {
        Self::bits(which) != 0
    }
    #[target_feature(enable = "avx2,fma")]
    #[inline(never)]
    unsafe fn enter<K: Task<Self>>(task: K) -> K::Output {
        task.run()
    }
}
