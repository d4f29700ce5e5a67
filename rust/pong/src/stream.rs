//! Copies that leave the caches alone.

/// Types whose bytes are all initialised, so that they may be copied as anything.
///
/// # Safety
/// The type has no padding.
pub(crate) unsafe trait Solid: Copy {}

// SAFETY: numbers and truth values have no padding.
unsafe impl Solid for f32 {}
// SAFETY: as above.
unsafe impl Solid for i32 {}
// SAFETY: as above.
unsafe impl Solid for u32 {}
// SAFETY: as above.
unsafe impl Solid for bool {}

/// Makes the copies of this thread visible to everybody when it is dropped.
pub(crate) struct Fence;

impl Drop for Fence {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 has SSE.
        #[allow(unused_unsafe)]
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
    }
}

/// Copies past the caches. Plain stores would first fetch what they overwrite.
///
/// # Safety
/// This thread drops a [`Fence`] before anybody reads `to`.
#[inline(always)]
pub(crate) unsafe fn copy<T: Solid>(from: &[T], to: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let bytes = size_of_val(from);
        let to_start = to.as_mut_ptr().cast::<__m128i>();
        if to_start.is_aligned()
            && bytes.is_multiple_of(size_of::<__m128i>())
            && from.len() == to.len()
        {
            let from = from.as_ptr().cast::<__m128i>();
            for k in 0..bytes / size_of::<__m128i>() {
                // SAFETY: both are as long, `to` is aligned, and `T` has no padding. Every x86-64 has
                // SSE2. The fence is the caller's.
                unsafe { _mm_stream_si128(to_start.add(k), _mm_loadu_si128(from.add(k))) };
            }
            return;
        }
    }
    to.copy_from_slice(from);
}
