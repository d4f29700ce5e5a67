//! Batches: lanes, instructions and episodes.

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
        .rollout(steps, &actions, Fields::default(), AutoReset::Off)
        .unwrap();
    let (mut qpos, mut qvel) = (vec![T::default(); n * 9], vec![T::default(); n * 9]);
    let (mut warm, mut reward) = (qpos.clone(), vec![T::default(); n]);
    let fields = Fields {
        reward: Some(&mut reward),
        qpos: Some(&mut qpos),
        qvel: Some(&mut qvel),
        qacc_warmstart: Some(&mut warm),
        ..Fields::default()
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

/// The positions after one step from these positions and velocities, one row of actions for each.
fn one_step<T: Real>(isa: Isa, qpos: &[T], qvel: &[T], actions: &[f32]) -> Vec<T> {
    let (warm, elapsed) = (vec![T::default(); qpos.len()], vec![0; qpos.len() / JOINTS]);
    let mut batch = Batch::load(isa, 1000, qpos, qvel, &warm, &elapsed, None).unwrap();
    let mut after = warm;
    let fields = Fields {
        qpos: Some(&mut after),
        ..Fields::default()
    };
    batch.rollout(1, actions, fields, AutoReset::Off).unwrap();
    after
}

#[test]
fn a_lost_state_begins_again_from_zeros() {
    for isa in here() {
        // The first lane loses its state, and its control with it. MuJoCo ignores all six if one is bad.
        let zeros = [0.0; 2 * JOINTS];
        let mut qpos = zeros;
        qpos[3] = f64::NAN;
        let mut actions = [1.0; 2 * MOTORS];
        actions[MOTORS] = f32::NAN;
        let found = one_step(isa, &qpos, &zeros, &actions);
        let wanted = one_step(isa, &zeros, &zeros, &[0.0; 2 * MOTORS]);
        assert_eq!(found, wanted);
    }
}

#[test]
fn accelerations_that_are_none_begin_a_fall() {
    for isa in here() {
        let zeros = [0.0; JOINTS];
        let mut qvel = zeros;
        qvel[4] = 1e7;
        let found = one_step(isa, &zeros, &qvel, &[1.0; MOTORS]);
        let wanted = one_step(isa, &zeros, &zeros, &[0.0; MOTORS]);
        for (a, b) in found.iter().zip(&wanted) {
            assert!((a - b).abs() < 1e-9, "{isa:?}: {a} {b}");
        }
    }
}

/// Lanes that turn so fast that their accelerations lie on both sides of MuJoCo's limit.
fn falling_alone<T: Real>() {
    for isa in here() {
        let lanes = 512;
        let (mut qpos, mut qvel) = (vec![T::default(); lanes * JOINTS], Vec::new());
        for lane in 0..lanes {
            // Every fourth one touches the floor.
            qpos[lane * JOINTS + 1] = T::of(if lane % 4 == 0 { -0.1 } else { 1.0 });
            let mut row = [T::default(); JOINTS];
            row[4] = T::of(4e4 * (1.0 + lane as f64 / 100.0));
            qvel.extend(row);
        }
        let actions = vec![0.0; lanes * MOTORS];
        let among = one_step(isa, &qpos, &qvel, &actions);
        for lane in 0..lanes {
            let own = lane * JOINTS..(lane + 1) * JOINTS;
            let alone = one_step(isa, &qpos[own.clone()], &qvel[own.clone()], &[0.0; MOTORS]);
            assert_eq!(among[own], alone, "{isa:?}: {lane}");
        }
    }
}

#[test]
fn a_fall_does_not_depend_on_others() {
    falling_alone::<f32>();
    falling_alone::<f64>();
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
            ..Fields::default()
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

        // Where episodes ended at once, the remaining frame holds nothing of the step.
        let mut batch = Batch::<f64>::reset(Isa::Portable, 3, &seeds).unwrap();
        let actions = &actions[..3 * 20 * MOTORS];
        batch
            .rollout(3, actions, Fields::default(), auto_reset)
            .unwrap();
        let (mut reward, mut truncated) = ([1.0; 20], [true; 20]);
        let fields = Fields {
            reward: Some(&mut reward),
            truncated: Some(&mut truncated),
            ..Fields::default()
        };
        batch.write(fields).unwrap();
        let is_next = auto_reset == AutoReset::NextStep;
        assert!(truncated.iter().all(|truncated| *truncated == is_next));
        assert!(reward.iter().all(|reward| (*reward != 0.0) == is_next));
    }
}
