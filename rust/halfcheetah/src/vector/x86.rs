//! What the vectors of x86-64 have in common: one intrinsic per operation, under its own name.
//!
//! SAFETY of all intrinsics here and in the two modules that use this: vectors are only made inside
//! [`Vector::enter`](super::Vector::enter), whose caller knows that the processor has them. Memory
//! is checked by the slices it is taken from.

/// A vector of `$lanes` lanes. `$own`: what masks are made with, which differs most.
macro_rules! vector {
    (
        $(#[$about:meta])*
        $name:ident($register:ty) of $scalar:ty, $lanes:literal lanes, masks $mask:ty, on $isa:literal
        set $set:ident, zero $zero:ident, load $load:ident, store $store:ident,
        add $add:ident, sub $sub:ident, mul $mul:ident, div $div:ident,
        min $min:ident, max $max:ident,
        mul_add $mul_add:ident, mul_sub $mul_sub:ident, neg_mul_add $neg_mul_add:ident
        { $($own:tt)* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name($register);

        vector!(@operator $name: Add add $add, Sub sub $sub, Mul mul $mul, Div div $div);

        impl std::ops::Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                // SAFETY: see the head of `x86`.
                unsafe { Self($sub($set(-0.0), self.0)) }
            }
        }

        impl crate::vector::Vector for $name {
            type Scalar = $scalar;
            type Mask = $mask;
            const LANES: usize = $lanes;
            const FUSES: bool = true;

            #[inline(always)]
            fn of(value: f64) -> Self {
                // SAFETY: see the head of `x86`.
                unsafe { Self($set(value as $scalar)) }
            }
            #[inline(always)]
            fn zero() -> Self {
                // SAFETY: see the head of `x86`.
                unsafe { Self($zero()) }
            }
            #[inline(always)]
            fn load(row: &[$scalar], at: usize) -> Self {
                let row = &row[at..at + $lanes];
                // SAFETY: see the head of `x86`.
                unsafe { Self($load(row.as_ptr())) }
            }
            #[inline(always)]
            fn store(self, row: &mut [$scalar], at: usize) {
                let row = &mut row[at..at + $lanes];
                // SAFETY: see the head of `x86`.
                unsafe { $store(row.as_mut_ptr(), self.0) }
            }
            #[inline(always)]
            fn mul_add(self, by: Self, plus: Self) -> Self {
                // SAFETY: see the head of `x86`.
                unsafe { Self($mul_add(self.0, by.0, plus.0)) }
            }
            #[inline(always)]
            fn mul_sub(self, by: Self, less: Self) -> Self {
                // SAFETY: see the head of `x86`.
                unsafe { Self($mul_sub(self.0, by.0, less.0)) }
            }
            #[inline(always)]
            fn neg_mul_add(self, by: Self, from: Self) -> Self {
                // SAFETY: see the head of `x86`.
                unsafe { Self($neg_mul_add(self.0, by.0, from.0)) }
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                // SAFETY: see the head of `x86`.
                unsafe { Self($min(self.0, other.0)) }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                // SAFETY: see the head of `x86`.
                unsafe { Self($max(self.0, other.0)) }
            }
            #[target_feature(enable = $isa)]
            #[inline(never)]
            unsafe fn enter<K: crate::vector::Task<Self>>(task: K) -> K::Output {
                task.run()
            }
            $($own)*
        }
    };
    (@operator $type:ident: $($operator:ident $name:ident $intrinsic:ident),*) => {$(
        impl std::ops::$operator for $type {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                // SAFETY: see the head of `x86`.
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        }
    )*};
}

pub(crate) use vector;
