//! The two kinds of numbers, and the instructions that compute with them.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::error::Error;
use crate::trigonometry::Constants;
#[cfg(target_arch = "x86_64")]
use crate::vector::{self, F32x8, F32x16, F64x4, F64x8};
use crate::vector::{Portable, Task, Vector};

/// Instructions that an engine is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// Those of every processor.
    Portable,
    /// AVX2 with fused multiply-add.
    Avx2,
    /// AVX-512F.
    Avx512,
}

impl Isa {
    /// All of them, the widest last.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];

    /// The name in TWINSTEP_ISA.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Whether this processor has the instructions.
    pub fn is_here(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            Self::Portable => true,
            Self::Avx2 => vector::Avx2::detect().is_some(),
            Self::Avx512 => vector::Avx512::detect().is_some(),
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self == Self::Portable
        }
    }

    /// The widest of this processor, or those that the environment variable TWINSTEP_ISA names.
    pub fn choose() -> Result<Self, Error> {
        let Ok(wanted) = std::env::var("TWINSTEP_ISA") else {
            let mut here = Self::ALL.into_iter().filter(|isa| isa.is_here());
            return Ok(here.next_back().unwrap_or(Self::Portable));
        };
        match Self::ALL.into_iter().find(|isa| isa.name() == wanted) {
            Some(isa) if isa.is_here() => Ok(isa),
            Some(isa) => Err(Error::WantedIsa(isa)),
            None => Err(Error::UnknownIsa(wanted)),
        }
    }
}

/// f32 or f64.
pub trait Real:
    Copy
    + Default
    + PartialOrd
    + Send
    + Sync
    + std::fmt::Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Types
    + 'static
{
    /// Whether the distance of a step is summed up, not taken as the difference of two positions.
    const SUMS_TRAVEL: bool;
    /// Whether the search for accelerations takes MuJoCo's steps, not the fewest.
    const AS_MUJOCO: bool;
    /// Whether accelerations are corrected once after they are found.
    const REFINES: bool;

    /// The nearest number of this kind.
    fn of(value: f64) -> Self;
    /// The same number.
    fn to_f64(self) -> f64;
    /// The number without its sign.
    fn abs(self) -> Self;
    /// Its sine and cosine, by the standard library.
    fn sin_cos(self) -> (Self, Self);
    /// The representation.
    fn bits(self) -> u64;
}

/// The types and constants of a kind of number.
pub trait Types: Sized {
    /// One lane.
    type Portable: Vector<Scalar = Self, Token = ()>;
    /// Lanes of 256 bits.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Vector<Scalar = Self, Token = vector::Avx2>;
    /// Lanes of 512 bits.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Vector<Scalar = Self, Token = vector::Avx512>;
    /// The numbers of sine and cosine.
    const TRIGONOMETRY: Constants;
}

macro_rules! real {
    ($type:ident, $avx2:ident, $avx512:ident, $constants:ident) => {
        impl Real for $type {
            const SUMS_TRAVEL: bool = size_of::<Self>() == 4;
            const AS_MUJOCO: bool = size_of::<Self>() == 8;
            const REFINES: bool = size_of::<Self>() == 4;

            #[inline(always)]
            fn of(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }
            fn sin_cos(self) -> (Self, Self) {
                self.sin_cos()
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                self.to_bits().into()
            }
        }

        impl Types for $type {
            type Portable = Portable<Self>;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = $avx2;
            #[cfg(target_arch = "x86_64")]
            type Avx512 = $avx512;
            const TRIGONOMETRY: Constants = Constants::$constants;
        }
    };
}
real!(f32, F32x8, F32x16, F32);
real!(f64, F64x4, F64x8, F64);

/// Runs a task with the vectors of these instructions; panics if the processor lacks them.
#[cfg(target_arch = "x86_64")]
pub(crate) fn run<T: Real, O, K>(isa: Isa, task: K) -> O
where
    K: Task<T::Portable, Output = O> + Task<T::Avx2, Output = O> + Task<T::Avx512, Output = O>,
{
    // Detection is one look at remembered flags.
    match isa {
        Isa::Portable => T::Portable::enter((), task),
        Isa::Avx2 => T::Avx2::enter(vector::Avx2::detect().expect("AVX2"), task),
        Isa::Avx512 => T::Avx512::enter(vector::Avx512::detect().expect("AVX-512F"), task),
    }
}

/// Runs a task; there is one kind of vector here.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn run<T: Real, O, K: Task<T::Portable, Output = O>>(isa: Isa, task: K) -> O {
    assert!(isa.is_here());
    T::Portable::enter((), task)
}
