//! Vectors of 256 bits, by AVX2 and fused multiply-add. SAFETY: see `x86`.

use std::arch::x86_64::*;

use super::x86::{Mask, vector};

vector! {
    /// 8 lanes of f32.
    F32x8(__m256) of f32, 8 lanes, masks __m256,
    with Avx2 on "avx2,fma"
    set _mm256_set1_ps, zero _mm256_setzero_ps, load _mm256_loadu_ps, store _mm256_storeu_ps,
    add _mm256_add_ps, sub _mm256_sub_ps, mul _mm256_mul_ps, div _mm256_div_ps,
    min _mm256_min_ps, max _mm256_max_ps,
    mul_add _mm256_fmadd_ps, mul_sub _mm256_fmsub_ps, neg_mul_add _mm256_fnmadd_ps
    {
        #[inline(always)]
        fn abs(self) -> Self {
            // SAFETY: see `x86`.
            unsafe { Self(_mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0)) }
        }
        #[inline(always)]
        fn lt(self, other: Self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0)) }
        }
        #[inline(always)]
        fn le(self, other: Self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0)) }
        }
        #[inline(always)]
        fn ne(self, other: Self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm256_cmp_ps::<_CMP_NEQ_UQ>(self.0, other.0)) }
        }
        #[inline(always)]
        fn bit<const BIT: u32>(self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe {
                let bit = _mm256_set1_epi32(1 << BIT);
                let found = _mm256_and_si256(_mm256_castps_si256(self.0), bit);
                Mask(_mm256_castsi256_ps(_mm256_cmpeq_epi32(found, bit)))
            }
        }
        #[inline(always)]
        fn select(which: Self::Mask, yes: Self, no: Self) -> Self {
            // SAFETY: see `x86`.
            unsafe { Self(_mm256_blendv_ps(no.0, yes.0, which.0)) }
        }
        #[inline(always)]
        fn or(one: Self::Mask, other: Self::Mask) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm256_or_ps(one.0, other.0)) }
        }
        #[inline(always)]
        fn and(one: Self::Mask, other: Self::Mask) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm256_and_ps(one.0, other.0)) }
        }
        #[inline(always)]
        fn not(which: Self::Mask) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe {
                let all = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
                Mask(_mm256_xor_ps(which.0, all))
            }
        }
        #[inline(always)]
        fn bits(which: Self::Mask) -> u32 {
            // SAFETY: see `x86`.
            unsafe { _mm256_movemask_ps(which.0) as u32 }
        }
        #[inline(always)]
        fn any(which: Self::Mask) -> bool {
            Self::bits(which) != 0
        }
    }
}

vector! {
    /// 4 lanes of f64.
    F64x4(__m256d) of f64, 4 lanes, masks __m256d,
    with Avx2 on "avx2,fma"
    set _mm256_set1_pd, zero _mm256_setzero_pd, load _mm256_loadu_pd, store _mm256_storeu_pd,
    add _mm256_add_pd, sub _mm256_sub_pd, mul _mm256_mul_pd, div _mm256_div_pd,
    min _mm256_min_pd, max _mm256_max_pd,
    mul_add _mm256_fmadd_pd, mul_sub _mm256_fmsub_pd, neg_mul_add _mm256_fnmadd_pd
    {
        #[inline(always)]
        fn abs(self) -> Self {
            // SAFETY: see `x86`.
            unsafe { Self(_mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0)) }
        }
        #[inline(always)]
        fn lt(self, other: Self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0)) }
        }
        #[inline(always)]
        fn le(self, other: Self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm256_cmp_pd::<_CMP_LE_OQ>(self.0, other.0)) }
        }
        #[inline(always)]
        fn ne(self, other: Self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm256_cmp_pd::<_CMP_NEQ_UQ>(self.0, other.0)) }
        }
        #[inline(always)]
        fn bit<const BIT: u32>(self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe {
                let bit = _mm256_set1_epi64x(1 << BIT);
                let found = _mm256_and_si256(_mm256_castpd_si256(self.0), bit);
                Mask(_mm256_castsi256_pd(_mm256_cmpeq_epi64(found, bit)))
            }
        }
        #[inline(always)]
        fn select(which: Self::Mask, yes: Self, no: Self) -> Self {
            // SAFETY: see `x86`.
            unsafe { Self(_mm256_blendv_pd(no.0, yes.0, which.0)) }
        }
        #[inline(always)]
        fn or(one: Self::Mask, other: Self::Mask) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm256_or_pd(one.0, other.0)) }
        }
        #[inline(always)]
        fn and(one: Self::Mask, other: Self::Mask) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm256_and_pd(one.0, other.0)) }
        }
        #[inline(always)]
        fn not(which: Self::Mask) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe {
                let all = _mm256_castsi256_pd(_mm256_set1_epi32(-1));
                Mask(_mm256_xor_pd(which.0, all))
            }
        }
        #[inline(always)]
        fn bits(which: Self::Mask) -> u32 {
            // SAFETY: see `x86`.
            unsafe { _mm256_movemask_pd(which.0) as u32 }
        }
        #[inline(always)]
        fn any(which: Self::Mask) -> bool {
            Self::bits(which) != 0
        }
    }
}
