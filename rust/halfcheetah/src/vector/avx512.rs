//! Vectors of 512 bits, by AVX-512F. SAFETY: see `x86`.

use std::arch::x86_64::*;

use super::x86::{Mask, vector};

vector! {
    /// 16 lanes of f32.
    F32x16(__m512) of f32, 16 lanes, masks __mmask16,
    with Avx512 on "avx512f"
    set _mm512_set1_ps, zero _mm512_setzero_ps, load _mm512_loadu_ps, store _mm512_storeu_ps,
    add _mm512_add_ps, sub _mm512_sub_ps, mul _mm512_mul_ps, div _mm512_div_ps,
    min _mm512_min_ps, max _mm512_max_ps,
    mul_add _mm512_fmadd_ps, mul_sub _mm512_fmsub_ps, neg_mul_add _mm512_fnmadd_ps
    {
        #[inline(always)]
        fn abs(self) -> Self {
            // SAFETY: see `x86`.
            unsafe { Self(_mm512_abs_ps(self.0)) }
        }
        #[inline(always)]
        fn lt(self, other: Self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0)) }
        }
        #[inline(always)]
        fn le(self, other: Self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0)) }
        }
        #[inline(always)]
        fn ne(self, other: Self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(self.0, other.0)) }
        }
        #[inline(always)]
        fn bit<const BIT: u32>(self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe {
                let bit = _mm512_set1_epi32(1 << BIT);
                Mask(_mm512_test_epi32_mask(_mm512_castps_si512(self.0), bit))
            }
        }
        #[inline(always)]
        fn select(which: Self::Mask, yes: Self, no: Self) -> Self {
            // SAFETY: see `x86`.
            unsafe { Self(_mm512_mask_blend_ps(which.0, no.0, yes.0)) }
        }
        #[inline(always)]
        fn or(one: Self::Mask, other: Self::Mask) -> Self::Mask {
            Mask(one.0 | other.0)
        }
        #[inline(always)]
        fn and(one: Self::Mask, other: Self::Mask) -> Self::Mask {
            Mask(one.0 & other.0)
        }
        #[inline(always)]
        fn not(which: Self::Mask) -> Self::Mask {
            Mask(!which.0)
        }
        #[inline(always)]
        fn bits(which: Self::Mask) -> u32 {
            which.0.into()
        }
        #[inline(always)]
        fn any(which: Self::Mask) -> bool {
            which.0 != 0
        }
    }
}

vector! {
    /// 8 lanes of f64.
    F64x8(__m512d) of f64, 8 lanes, masks __mmask8,
    with Avx512 on "avx512f"
    set _mm512_set1_pd, zero _mm512_setzero_pd, load _mm512_loadu_pd, store _mm512_storeu_pd,
    add _mm512_add_pd, sub _mm512_sub_pd, mul _mm512_mul_pd, div _mm512_div_pd,
    min _mm512_min_pd, max _mm512_max_pd,
    mul_add _mm512_fmadd_pd, mul_sub _mm512_fmsub_pd, neg_mul_add _mm512_fnmadd_pd
    {
        #[inline(always)]
        fn abs(self) -> Self {
            // SAFETY: see `x86`.
            unsafe { Self(_mm512_abs_pd(self.0)) }
        }
        #[inline(always)]
        fn lt(self, other: Self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, other.0)) }
        }
        #[inline(always)]
        fn le(self, other: Self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm512_cmp_pd_mask::<_CMP_LE_OQ>(self.0, other.0)) }
        }
        #[inline(always)]
        fn ne(self, other: Self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe { Mask(_mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(self.0, other.0)) }
        }
        #[inline(always)]
        fn bit<const BIT: u32>(self) -> Self::Mask {
            // SAFETY: see `x86`.
            unsafe {
                let bit = _mm512_set1_epi64(1 << BIT);
                Mask(_mm512_test_epi64_mask(_mm512_castpd_si512(self.0), bit))
            }
        }
        #[inline(always)]
        fn select(which: Self::Mask, yes: Self, no: Self) -> Self {
            // SAFETY: see `x86`.
            unsafe { Self(_mm512_mask_blend_pd(which.0, no.0, yes.0)) }
        }
        #[inline(always)]
        fn or(one: Self::Mask, other: Self::Mask) -> Self::Mask {
            Mask(one.0 | other.0)
        }
        #[inline(always)]
        fn and(one: Self::Mask, other: Self::Mask) -> Self::Mask {
            Mask(one.0 & other.0)
        }
        #[inline(always)]
        fn not(which: Self::Mask) -> Self::Mask {
            Mask(!which.0)
        }
        #[inline(always)]
        fn bits(which: Self::Mask) -> u32 {
            which.0.into()
        }
        #[inline(always)]
        fn any(which: Self::Mask) -> bool {
            which.0 != 0
        }
    }
}
