//! The vectors of x86-64: one intrinsic per operation, under its own name.
//!
//! SAFETY of all intrinsics here and in the two modules that use this: an operation takes a token, a
//! vector or a mask. A token exists only where the processor has the instructions, and vectors and
//! masks are made from a token or from each other. Memory is checked by the slices it is taken from.

/// One truth per lane, in a register or its bits.
#[derive(Clone, Copy, Debug)]
pub struct Mask<R>(pub(super) R);

/// A vector of `$lanes` lanes. `$own`: what masks are made with, which differs most.
macro_rules! vector {
    (
        $(#[$about:meta])*
        $name:ident($register:ty) of $scalar:ty, $lanes:literal lanes, masks $mask:ty,
        with $token:ident on $isa:literal
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
            type Mask = crate::vector::x86::Mask<$mask>;
            type Token = crate::vector::token::$token;
            const LANES: usize = $lanes;
            const FUSES: bool = true;

            #[inline(always)]
            fn of(_: Self::Token, value: f64) -> Self {
                // SAFETY: see the head of `x86`.
                unsafe { Self($set(value as $scalar)) }
            }
            #[inline(always)]
            fn zero(_: Self::Token) -> Self {
                // SAFETY: see the head of `x86`.
                unsafe { Self($zero()) }
            }
            #[inline(always)]
            fn load(_: Self::Token, row: &[$scalar], at: usize) -> Self {
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
            #[inline(always)]
            fn token(self) -> Self::Token {
                // The vector was made with one.
                crate::vector::token::$token(())
            }
            #[inline(always)]
            fn enter<K: crate::vector::Task<Self>>(token: Self::Token, task: K) -> K::Output {
                #[target_feature(enable = $isa)]
                #[inline(never)]
                fn compiled<K: crate::vector::Task<$name>>(
                    token: crate::vector::token::$token,
                    task: K,
                ) -> K::Output {
                    task.run(token)
                }
                // SAFETY: see the head of `x86`.
                unsafe { compiled(token, task) }
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
