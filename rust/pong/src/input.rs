//! Inputs of a batch: actions, and the values of a state.

use crate::block::{LANES, Row};

/// Actions `[T, N]`, of the kind that [`Params::continuous`](crate::Params::continuous) asks for.
#[derive(Clone, Copy, Debug)]
pub enum Actions<'a> {
    /// 0 stay, 1 up (+y), 2 down. Any other number stays.
    Discrete(&'a [i32]),
    /// Directions of the paddle itself.
    Continuous(&'a [f32]),
}

impl Actions<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Discrete(values) => values.len(),
            Self::Continuous(values) => values.len(),
        }
    }

    /// Prefetches the actions from `first` on. A game's next action is a whole row of the batch away,
    /// which no processor guesses by itself.
    #[inline(always)]
    pub(crate) fn fetch(&self, first: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let start = match self {
                Self::Discrete(values) => values.as_ptr().cast::<i8>(),
                Self::Continuous(values) => values.as_ptr().cast(),
            };
            for line in (0..LANES * size_of::<f32>()).step_by(64) {
                let place = start.wrapping_add(first * size_of::<f32>() + line);
                // SAFETY: every x86-64 has SSE, and any address may be prefetched.
                #[allow(unused_unsafe)]
                unsafe {
                    _mm_prefetch::<_MM_HINT_T0>(place)
                };
            }
        }
    }

    /// The actions from `first` on, for at most [`LANES`] games; zeros for the rest of them.
    pub(crate) fn row(&self, first: usize, count: usize) -> Row<f32> {
        let mut row = [0.0; LANES];
        match self {
            // The reference's buffer holds floats and compares them with 0.0, 1.0 and 2.0.
            Self::Discrete(values) => {
                for (to, from) in row.iter_mut().zip(&values[first..first + count]) {
                    *to = *from as f32;
                }
            }
            Self::Continuous(values) => {
                row[..count].copy_from_slice(&values[first..first + count]);
            }
        }
        row
    }
}

/// Values of a field for [`Batch::load`](crate::Batch::load): `[N]`, or `[N, 8]` of `last_obs`.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Floats.
    F32(&'a [f32]),
    /// Signed integers.
    I32(&'a [i32]),
    /// Unsigned integers.
    U32(&'a [u32]),
}
