//! Vectors against the standard library.

use super::{Draws, here};
use crate::real::{Real, run};
use crate::trigonometry::sin_cos;
use crate::vector::{MOST_LANES, Task, Vector};

/// Compares each operation with that of single numbers.
struct Operations;

impl<V: Vector> Task<V> for Operations {
    type Output = ();

    fn run(self, token: V::Token) {
        let mut draws = Draws(1);
        let mut row = || [(); MOST_LANES].map(|()| V::Scalar::of(draws.next(-2.0, 2.0)));
        let (mut x, y, z) = (row(), row(), row());
        x[0] = y[0];
        let (a, b, c) = (
            V::load(token, &x, 0),
            V::load(token, &y, 0),
            V::load(token, &z, 0),
        );
        let check = |found: V, wanted: &dyn Fn(f64, f64, f64) -> f64| {
            let mut found_row = [V::Scalar::default(); MOST_LANES];
            found.store(&mut found_row, 0);
            for k in 0..V::LANES {
                let wanted = wanted(x[k].to_f64(), y[k].to_f64(), z[k].to_f64());
                let off = (found_row[k].to_f64() - wanted).abs();
                let unit = 2.0_f64.powi(if size_of::<V::Scalar>() == 4 {
                    -22
                } else {
                    -51
                });
                assert!(off <= unit * (1.0 + wanted.abs()), "lane {k}: {off}");
            }
        };
        check(a + b, &|x, y, _| x + y);
        check(a - b, &|x, y, _| x - y);
        check(a * b, &|x, y, _| x * y);
        check(a / b, &|x, y, _| x / y);
        check(-a, &|x, _, _| -x);
        check(a.mul_add(b, c), &|x, y, z| x * y + z);
        check(a.mul_sub(b, c), &|x, y, z| x * y - z);
        check(a.neg_mul_add(b, c), &|x, y, z| z - x * y);
        check(a.min(b), &|x, y, _| x.min(y));
        check(a.max(b), &|x, y, _| x.max(y));
        check(a.abs(), &|x, _, _| x.abs());
        check(V::of(token, 0.5), &|_, _, _| 0.5);
        check(V::zero(token), &|_, _, _| 0.0);
        check(V::select(a.lt(b), a, c), &|x, y, z| {
            if x < y { x } else { z }
        });
        check(V::select(a.le(b), a, c), &|x, y, z| {
            if x <= y { x } else { z }
        });
        check(V::select(a.ne(b), a, c), &|x, y, z| {
            if x != y { x } else { z }
        });
        let (less, more) = (a.lt(b), c.lt(b));
        check(V::select(V::or(less, more), a, c), &|x, y, z| {
            if x < y || z < y { x } else { z }
        });
        check(V::select(V::and(less, more), a, c), &|x, y, z| {
            if x < y && z < y { x } else { z }
        });
        check(V::select(V::not(less), a, c), &|x, y, z| {
            if x < y { z } else { x }
        });
        let mut bits = 0;
        for k in 0..V::LANES {
            bits |= u32::from(x[k].to_f64() < y[k].to_f64()) << k;
        }
        assert_eq!(V::bits(less), bits);
        assert_eq!(V::any(less), bits != 0);
        assert!(!V::any(a.lt(a)));
        // NaN equals no number; min and max of NaN with another give the other.
        let none = V::of(token, f64::NAN);
        assert!(V::any(none.ne(none)) && !V::any(none.le(none)));
        check(none.min(b), &|_, y, _| y);
        check(none.max(b), &|_, y, _| y);
    }
}

#[test]
fn operations_are_those_of_numbers() {
    for isa in here() {
        run::<f32, _, _>(isa, Operations);
        run::<f64, _, _>(isa, Operations);
    }
}

/// The largest error of sine and cosine in units of the last place.
struct Trigonometry(f64);

impl<V: Vector> Task<V> for Trigonometry {
    type Output = f64;

    fn run(self, token: V::Token) -> f64 {
        let mut draws = Draws(2);
        let mut worst = 0.0_f64;
        let digits = if size_of::<V::Scalar>() == 4 { 24 } else { 53 };
        for _ in 0..20_000 {
            let angles = [(); MOST_LANES].map(|()| V::Scalar::of(draws.next(-self.0, self.0)));
            let (sin, cos) = sin_cos(V::load(token, &angles, 0));
            let (mut sins, mut cosines) = (angles, angles);
            sin.store(&mut sins, 0);
            cos.store(&mut cosines, 0);
            for k in 0..V::LANES {
                let wanted = angles[k].to_f64().sin_cos();
                for (found, wanted) in [(sins[k], wanted.0), (cosines[k], wanted.1)] {
                    let unit = 2.0_f64.powi(wanted.abs().log2().floor() as i32 + 1 - digits);
                    worst = worst.max((found.to_f64() - wanted).abs() / unit);
                }
            }
        }
        worst
    }
}

#[test]
fn sine_and_cosine_are_right_to_the_last_places() {
    for isa in here() {
        for range in [1.0, 10.0, 1e3, 1e5, 1e8] {
            let single = run::<f32, _, _>(isa, Trigonometry(range));
            let double = run::<f64, _, _>(isa, Trigonometry(range));
            println!("{} {range:e}: {single:.2} {double:.2}", isa.name());
            assert!(
                single < 1.5 && double < 2.0,
                "{isa:?} {range}: {single} {double}"
            );
        }
    }
}

/// The number of lanes whose sine or cosine depends on large angles in other lanes.
struct FarNeighbours;

impl<V: Vector> Task<V> for FarNeighbours {
    type Output = usize;

    fn run(self, token: V::Token) -> usize {
        let mut draws = Draws(5);
        let mut count = 0;
        for _ in 0..1000 {
            let near = [(); MOST_LANES].map(|()| V::Scalar::of(draws.next(-4.0, 4.0)));
            let mut mixed = near;
            (mixed[0], mixed[1]) = (V::Scalar::of(1e6), V::Scalar::of(f64::NAN));
            let [near, mixed] = [near, mixed].map(|angles| {
                let (sin, cos) = sin_cos(V::load(token, &angles, 0));
                let mut rows = [[V::Scalar::default(); MOST_LANES]; 2];
                sin.store(&mut rows[0], 0);
                cos.store(&mut rows[1], 0);
                rows
            });
            for (near, mixed) in near.iter().zip(&mixed) {
                for k in 2..V::LANES {
                    count += usize::from(near[k].bits() != mixed[k].bits());
                }
            }
        }
        count
    }
}

#[test]
fn large_angles_do_not_change_their_neighbours() {
    for isa in here() {
        assert_eq!(run::<f32, _, _>(isa, FarNeighbours), 0, "{isa:?}");
        assert_eq!(run::<f64, _, _>(isa, FarNeighbours), 0, "{isa:?}");
    }
}
