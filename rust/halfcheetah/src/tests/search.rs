//! The search for the accelerations.

use super::{Draws, here};
use crate::block::{JOINTS, MOTORS};
use crate::constraints::Constraints;
use crate::newton::full_steps;
use crate::real::{Real, run};
use crate::substep::{Lanes, acceleration};
use crate::vector::{MOST_LANES, Task, Vector};

/// States with several contacts and limits, and an arbitrary begin of the search.
fn placed<T: Real>(draws: &mut Draws) -> [[T; MOST_LANES]; 4 * JOINTS] {
    let mut rows = [[T::default(); MOST_LANES]; 4 * JOINTS];
    for (k, row) in rows.iter_mut().enumerate() {
        for value in row {
            *value = T::of(match k {
                0 => 0.0,
                1 => draws.next(-0.65, -0.3),
                2 => draws.next(-3.2, 3.2),
                3..9 => draws.next(-1.3, 1.3),
                9..18 => draws.next(-10.0, 10.0),
                18..27 => draws.next(-1000.0, 1000.0),
                _ => draws.next(-1.5, 1.5),
            });
        }
    }
    rows
}

/// The state and controls of rows; `of` makes each vector.
fn loaded<V: Vector>(
    token: V::Token,
    rows: &[[V::Scalar; MOST_LANES]; 4 * JOINTS],
    of: impl Fn(&[V::Scalar; MOST_LANES]) -> V,
) -> (Lanes<V>, [V; MOTORS]) {
    let take = |first: usize| {
        let mut vectors = [V::zero(token); JOINTS];
        for (k, to) in vectors.iter_mut().enumerate() {
            *to = of(&rows[first + k]);
        }
        vectors
    };
    let lanes = Lanes {
        q: take(0),
        v: take(9),
        warm: take(18),
    };
    let mut control = [V::zero(token); MOTORS];
    control.copy_from_slice(&take(27)[..MOTORS]);
    (lanes, control)
}

fn stored<V: Vector>(vectors: [V; JOINTS]) -> [[V::Scalar; MOST_LANES]; JOINTS] {
    vectors.map(|vector| {
        let mut row = [V::Scalar::default(); MOST_LANES];
        vector.store(&mut row, 0);
        row
    })
}

/// The largest difference between searches with full steps and along lines, relative.
struct Searches;

impl<V: Vector> Task<V> for Searches {
    type Output = f64;

    fn run(self, token: V::Token) -> f64 {
        let mut draws = Draws(3);
        let mut worst = 0.0_f64;
        for _ in 0..100 {
            let rows = placed::<V::Scalar>(&mut draws);
            let (lanes, control) = loaded::<V>(token, &rows, |row| V::load(token, row, 0));
            let mut constraints = Constraints::new(token);
            let mut found = |full| stored(acceleration(&lanes, &control, &mut constraints, full));
            let (whole, along) = (found(10), found(0));
            for (one, other) in whole.iter().zip(along) {
                for k in 0..V::LANES {
                    assert!(one[k].to_f64().is_finite());
                    let off = (one[k] - other[k]).to_f64().abs();
                    worst = worst.max(off / (1.0 + one[k].to_f64().abs()));
                }
            }
        }
        worst
    }
}

#[test]
fn a_search_along_lines_finds_the_same() {
    for isa in here() {
        let double = run::<f64, _, _>(isa, Searches);
        let single = run::<f32, _, _>(isa, Searches);
        println!("{}: {double:e} {single:e}", isa.name());
        // Like MuJoCo, it stops where the next step promises little.
        assert!(double < 5e-3, "{isa:?}: {double}");
        assert!(single < 1e-1, "{isa:?}: {single}");
    }
}

/// The number of lanes whose result depends on their neighbours.
struct Neighbours;

impl<V: Vector> Task<V> for Neighbours {
    type Output = usize;

    fn run(self, token: V::Token) -> usize {
        let mut draws = Draws(4);
        let mut count = 0;
        for _ in 0..30 {
            let rows = placed::<V::Scalar>(&mut draws);
            let (lanes, control) = loaded::<V>(token, &rows, |row| V::load(token, row, 0));
            let mut constraints = Constraints::new(token);
            for full in [0, full_steps::<V::Scalar>()] {
                let among = stored(acceleration(&lanes, &control, &mut constraints, full));
                assert!(!constraints.is_free());
                for lane in 0..V::LANES {
                    let one =
                        |row: &[V::Scalar; MOST_LANES]| V::load(token, &[row[lane]; MOST_LANES], 0);
                    let (lanes, control) = loaded::<V>(token, &rows, one);
                    let alone = stored(acceleration(&lanes, &control, &mut constraints, full));
                    let differ = |(a, b): (&[V::Scalar; MOST_LANES], &[V::Scalar; MOST_LANES])| {
                        a[lane].bits() != b[0].bits()
                    };
                    count += usize::from(among.iter().zip(&alone).any(differ));
                }
            }
        }
        count
    }
}

#[test]
fn a_search_does_not_depend_on_neighbours() {
    for isa in here() {
        assert_eq!(run::<f64, _, _>(isa, Neighbours), 0, "{isa:?}");
        assert_eq!(run::<f32, _, _>(isa, Neighbours), 0, "{isa:?}");
    }
}
