//! Restarts inside a rollout: those of exactly the games that ended, in the step that ended them.

mod frames;

use frames::{Frames, GAMES, actions, params, seeds, start};
use twinstep_pong::Batch;

const STEPS: usize = 400;

/// What one step and then a restart of the games that ended gives; returns the frame as a
/// rollout with restarts should write it, and the games that go on.
fn step_then_restart(mut batch: Batch, actions: &[i32], frameskip: u32) -> (Frames, Batch) {
    let played = Frames::rollout(&mut batch, actions, false);
    batch.restart();
    let begun = Frames::now(&mut batch);
    let mut both = played.clone();
    both.append(begun);
    let over = played.terminated().iter().enumerate();
    let rows: Vec<_> = over
        .map(|(i, over)| if *over { GAMES + i } else { i })
        .collect();
    let merged = both.rows(&rows);
    let next = Batch::load(params(frameskip), GAMES, |name| merged.input(name)).unwrap();
    let frame = merged
        .with("reward", &played, "reward")
        .with("terminated", &played, "terminated")
        .with("final_obs", &played, "obs");
    (frame, next)
}

#[test]
fn a_rollout_with_restarts_is_steps_and_restarts_of_the_games_that_ended() {
    for (frameskip, endings) in [(8, 1000), (1, 50)] {
        let actions = actions(STEPS);
        let whole = Frames::rollout(&mut start(frameskip), &actions, true);
        let mut batch = start(frameskip);
        let mut expected = Frames::new(0);
        for row in actions.chunks(GAMES) {
            let (frame, next) = step_then_restart(batch, row, frameskip);
            expected.append(frame);
            batch = next;
        }
        assert_eq!(whole, expected);
        assert!(whole.endings() > endings);
    }
}

#[test]
fn steps_with_restarts_are_a_rollout_with_restarts() {
    let actions = actions(STEPS);
    let whole = Frames::rollout(&mut start(8), &actions, true);
    let mut batch = start(8);
    let mut single = Frames::new(0);
    for row in actions.chunks(GAMES) {
        single.append(Frames::rollout(&mut batch, row, true));
    }
    assert_eq!(whole, single);
}

#[test]
fn a_game_alone_restarts_as_in_a_batch() {
    let actions = actions(STEPS);
    let together = Frames::rollout(&mut start(8), &actions, true);
    for game in [0, 63, 64, 128, GAMES - 1] {
        let mut alone = Batch::reset(params(8), &seeds()[game..=game], None).unwrap();
        let own: Vec<i32> = actions.iter().skip(game).step_by(GAMES).copied().collect();
        let places: Vec<_> = (0..STEPS).map(|t| t * GAMES + game).collect();
        let frames = Frames::rollout(&mut alone, &own, true);
        assert_eq!(frames, together.rows(&places));
        assert!(frames.endings() > 1);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    // Enough blocks that they are shared out differently.
    let seeds: Vec<_> = (0..700).map(|i| [i, 7]).collect();
    let actions = &actions(STEPS)[..seeds.len() * 70];
    let play = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let mut batch = Batch::reset(params(8), &seeds, None).unwrap();
        let rollout = || Frames::rollout(&mut batch, actions, true);
        pool.unwrap().install(rollout)
    };
    let one = play(1);
    assert!(one.endings() > 1000);
    assert_eq!(one, play(2));
    assert_eq!(one, play(5));
}

#[test]
fn the_present_frame_of_a_game_that_began_anew_has_no_reward_and_no_end() {
    let actions = actions(STEPS);
    let mut batch = start(8);
    let mut ended = 0;
    for row in actions.chunks(GAMES) {
        let played = Frames::rollout(&mut batch, row, true);
        let now = Frames::now(&mut batch);
        assert_eq!(now.endings(), 0);
        for (i, over) in played.terminated().iter().enumerate() {
            let kept = if *over { 0.0 } else { played.f32("reward")[i] };
            assert_eq!(now.f32("reward")[i].to_bits(), kept.to_bits());
        }
        for name in twinstep_pong::state_names().chain(["obs"]) {
            assert_eq!(now.values(name), played.values(name), "{name}");
        }
        ended += played.endings();
    }
    assert!(ended > 1000);
}

#[test]
fn without_restarts_the_final_observation_is_the_observation() {
    let frames = Frames::rollout(&mut start(8), &actions(STEPS), false);
    assert_eq!(frames.values("final_obs"), frames.values("obs"));
    let anew = Frames::rollout(&mut start(8), &actions(STEPS), true);
    assert_ne!(anew.values("final_obs"), anew.values("obs"));
}
