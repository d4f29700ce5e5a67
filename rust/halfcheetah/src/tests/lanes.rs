//! Batches: what lanes, instructions and episodes have to do with each other.

use super::{Draws, here};
use crate::batch::{AutoReset, Batch};
use crate::block::{JOINTS, MOTORS};
use crate::output::Fields;
use crate::random::start;
use crate::real::{Isa, Real};

/// The state after `steps` steps, `[N, 28]` with the reward.
fn played<T: Real>(isa: Isa, seeds: &[[u32; 2]], steps: usize) -> Vec<T> {
    let mut batch = Batch::<T>::reset(isa, 1000, seeds).unwrap();
    let n = seeds.len();
    let mut actions = vec![0.0; steps * n * MOTORS];
    for (place, action) in actions.iter_mut().enumerate() {
        // A lane's actions come from its seed and the time, not from its place.
        let (t, lane) = (place / MOTORS / n, place / MOTORS % n);
        let mut draws =
            Draws(u64::from(seeds[lane][0]) << 20 | (t * MOTORS + place % MOTORS) as u64);
        draws.next(0.0, 1.0);
        *action = draws.next(-1.5, 1.5) as f32;
    }
    batch
        .rollout(steps, &actions, nothing(), AutoReset::Off)
        .unwrap();
    let (mut qpos, mut qvel) = (vec![T::default(); n * 9], vec![T::default(); n * 9]);
    let (mut warm, mut reward) = (qpos.clone(), vec![T::default(); n]);
    let fields = Fields {
        reward: Some(&mut reward),
        qpos: Some(&mut qpos),
        qvel: Some(&mut qvel),
        qacc_warmstart: Some(&mut warm),
        ..nothing()
    };
    batch.write(fields).unwrap();
    let mut all = Vec::new();
    for lane in 0..n {
        for field in [&qpos, &qvel, &warm] {
            all.extend_from_slice(&field[lane * 9..lane * 9 + 9]);
        }
        all.push(reward[lane]);
    }
    all
}

fn nothing<'a, T>() -> Fields<'a, T> {
    Fields {
        obs: None,
        final_obs: None,
        reward: None,
        truncated: None,
        qpos: None,
        qvel: None,
        qacc_warmstart: None,
        elapsed: None,
    }
}

fn independent<T: Real>() {
    for isa in here() {
        let seeds: Vec<_> = (0..50).map(|k| [k, k % 3]).collect();
        let whole = played::<T>(isa, &seeds, 60);
        let backwards: Vec<_> = seeds.iter().rev().copied().collect();
        let turned = played::<T>(isa, &backwards, 60);
        for lane in [0, 1, 7, 15, 16, 33, 49] {
            let wanted = &whole[lane * 28..lane * 28 + 28];
            assert_eq!(&turned[(49 - lane) * 28..(49 - lane) * 28 + 28], wanted);
            assert_eq!(played::<T>(isa, &seeds[lane..=lane], 60), wanted);
            let few = played::<T>(isa, &seeds[lane.saturating_sub(3)..=lane], 60);
            assert_eq!(&few[few.len() - 28..], wanted);
        }
    }
}

#[test]
fn a_lane_does_not_depend_on_others() {
    independent::<f32>();
    independent::<f64>();
}

#[test]
fn instructions_agree() {
    let seeds: Vec<_> = (0..40).map(|k| [k, 0]).collect();
    let portable = played::<f64>(Isa::Portable, &seeds, 10);
    for isa in here() {
        let other = played::<f64>(isa, &seeds, 10);
        for (a, b) in portable.iter().zip(&other) {
            assert!((a - b).abs() < 1e-7 * (1.0 + a.abs()), "{isa:?}: {a} {b}");
        }
    }
    // Both fuse, and so round alike.
    if Isa::Avx2.is_here() && Isa::Avx512.is_here() {
        assert_eq!(
            played::<f64>(Isa::Avx2, &seeds, 60),
            played::<f64>(Isa::Avx512, &seeds, 60)
        );
        assert_eq!(
            played::<f32>(Isa::Avx2, &seeds, 60),
            played::<f32>(Isa::Avx512, &seeds, 60)
        );
    }
}

#[test]
fn a_lost_state_begins_again_from_zeros() {
    for isa in here() {
        let mut qpos = vec![0.1; 2 * JOINTS];
        qpos[3] = f64::NAN;
        let elapsed = [0, 0];
        let zeros = vec![0.0; 2 * JOINTS];
        let load =
            |qpos: &[f64]| Batch::load(isa, 1000, qpos, &zeros, &zeros, &elapsed, None).unwrap();
        let (mut lost, mut tame) = (load(&qpos), load(&zeros));
        let mut after = [vec![0.0; 2 * JOINTS], vec![0.0; 2 * JOINTS]];
        for (batch, to) in [&mut lost, &mut tame].into_iter().zip(&mut after) {
            // The first lane has controls, which are lost too; MuJoCo takes none of a bad six.
            let mut actions = [0.0; 2 * MOTORS];
            if to[0] == 0.0 {
                actions[MOTORS] = f32::NAN;
                actions[MOTORS + 1] = 1.0;
            }
            batch
                .rollout(1, &actions, nothing(), AutoReset::Off)
                .unwrap();
            let fields = Fields {
                qpos: Some(to),
                ..nothing()
            };
            batch.write(fields).unwrap();
        }
        assert_eq!(after[0][..JOINTS], after[1][..JOINTS]);
        assert!(after[0].iter().all(|value| value.is_finite()));
    }
}

#[test]
fn episodes_follow_each_other() {
    let seeds: Vec<_> = (0..20).map(|k| [k, 5]).collect();
    for auto_reset in [AutoReset::SameStep, AutoReset::NextStep] {
        let mut batch = Batch::<f64>::reset(Isa::Portable, 3, &seeds).unwrap();
        let steps = 8;
        let actions = vec![0.5; steps * 20 * MOTORS];
        let (mut qpos, mut qvel) = (vec![0.0; steps * 180], vec![0.0; steps * 180]);
        let mut truncated = vec![false; steps * 20];
        let mut elapsed = vec![0; steps * 20];
        let fields = Fields {
            qpos: Some(&mut qpos),
            qvel: Some(&mut qvel),
            truncated: Some(&mut truncated),
            elapsed: Some(&mut elapsed),
            ..nothing()
        };
        batch.rollout(steps, &actions, fields, auto_reset).unwrap();
        let first = if auto_reset == AutoReset::SameStep {
            2
        } else {
            3
        };
        for lane in 0..20 {
            let (q, v) = start([lane as u32, 6]);
            let place = (first * 20 + lane) * 9;
            assert_eq!(qpos[place..place + 9], q);
            assert_eq!(qvel[place..place + 9], v);
            assert_eq!(elapsed[first * 20 + lane], 0);
            assert!(truncated[2 * 20 + lane] && !truncated[3 * 20 + lane]);
            assert!(!truncated[20 + lane]);
        }
        assert!(batch.seeds().all(|seed| seed[1] == 7));
    }
}
