//! Tokens: proofs that the processor has some instructions.
//!
//! They are made here after a look at the processor, and in [`x86`](super::x86) from vectors.

/// Proof that the processor has AVX2 and fused multiply-add.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(pub(super) ());

impl Avx2 {
    /// The proof, if the processor has them.
    #[inline]
    pub fn detect() -> Option<Self> {
        let is_here = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        is_here.then_some(Self(()))
    }
}

/// Proof that the processor has AVX-512F.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(pub(super) ());

impl Avx512 {
    /// The proof, if the processor has them.
    #[inline]
    pub fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx512f").then_some(Self(()))
    }
}
