//! Restarts inside a rollout: those of exactly the games that ended, in the step that ended them
//! or in the next.

mod frames;

use frames::{Frames, GAMES, actions, params, seeds, start};
use twinstep_pong::AutoRestart::{NextStep, Off, SameStep};
use twinstep_pong::Batch;

const STEPS: usize = 400;

/// Takes the rows of `restarted` for the games that are `wanted`, of `played` for the others;
/// returns them and games in these states.
fn merge(played: &Frames, restarted: Frames, wanted: &[bool], frameskip: u32) -> (Frames, Batch) {
    let mut both = played.clone();
    both.append(restarted);
    let games = wanted.iter().enumerate();
    let rows: Vec<_> = games
        .map(|(i, yes)| i + usize::from(*yes) * GAMES)
        .collect();
    let merged = both.rows(&rows);
    let next = Batch::load(params(frameskip), GAMES, |name| merged.input(name)).unwrap();
    (merged, next)
}

/// The present frame after a restart of all games.
fn restarted(mut batch: Batch) -> Frames {
    batch.restart();
    Frames::now(&mut batch)
}

#[test]
fn a_rollout_with_restarts_is_steps_and_restarts_of_the_games_that_ended() {
    for (frameskip, endings) in [(8, 1000), (1, 50), (64, 9000)] {
        let actions = actions(STEPS);
        let whole = Frames::rollout(&mut start(frameskip), &actions, SameStep);
        let mut batch = start(frameskip);
        let mut expected = Frames::new(0);
        for row in actions.chunks(GAMES) {
            let played = Frames::rollout(&mut batch, row, Off);
            let (frame, next) = merge(&played, restarted(batch), played.terminated(), frameskip);
            let frame = frame.with("reward", &played, "reward");
            let frame = frame.with("terminated", &played, "terminated");
            expected.append(frame.with("final_obs", &played, "obs"));
            batch = next;
        }
        assert_eq!(whole, expected);
        assert!(whole.endings() > endings);
    }
}

#[test]
fn with_restarts_in_the_next_step_games_that_ended_do_not_play_it() {
    // In 64 frames a game that wrongly plays on gets a reward or ends again.
    for (frameskip, endings) in [(8, 1000), (1, 50), (64, 9000)] {
        let actions = actions(STEPS);
        let whole = Frames::rollout(&mut start(frameskip), &actions, NextStep);
        let mut batch = start(frameskip);
        let mut waiting = vec![false; GAMES];
        let mut expected = Frames::new(0);
        for row in actions.chunks(GAMES) {
            let begun = restarted(batch.clone());
            let played = Frames::rollout(&mut batch, row, Off);
            let (frame, next) = merge(&played, begun, &waiting, frameskip);
            waiting = frame.terminated().to_vec();
            expected.append(frame);
            batch = next;
        }
        assert_eq!(whole, expected);
        assert!(whole.endings() > endings);
    }
}

#[test]
fn steps_with_restarts_are_a_rollout_with_restarts() {
    for when in [SameStep, NextStep] {
        let actions = actions(STEPS);
        let whole = Frames::rollout(&mut start(8), &actions, when);
        let mut batch = start(8);
        let mut single = Frames::new(0);
        for row in actions.chunks(GAMES) {
            single.append(Frames::rollout(&mut batch, row, when));
        }
        assert_eq!(whole, single);
    }
}

#[test]
fn restarted_and_loaded_games_do_not_wait_for_the_next_step() {
    let mut batch = start(8);
    let actions = actions(STEPS);
    let (head, rest) = actions.split_at(200 * GAMES);
    let played = Frames::rollout(&mut batch, head, NextStep);
    assert!(played.terminated()[199 * GAMES..].contains(&true));
    batch.restart();
    let now = Frames::now(&mut batch);
    let mut loaded = Batch::load(params(8), GAMES, |name| now.input(name)).unwrap();
    let row = &rest[..GAMES];
    let stepped = Frames::rollout(&mut batch.clone(), row, Off);
    assert_eq!(Frames::rollout(&mut batch, row, NextStep), stepped);
    assert_eq!(Frames::rollout(&mut loaded, row, NextStep), stepped);
}

#[test]
fn a_game_alone_restarts_as_in_a_batch() {
    let actions = actions(STEPS);
    let together = Frames::rollout(&mut start(8), &actions, SameStep);
    for game in [0, 63, 64, 128, GAMES - 1] {
        let mut alone = Batch::reset(params(8), &seeds()[game..=game], None).unwrap();
        let own: Vec<i32> = actions.iter().skip(game).step_by(GAMES).copied().collect();
        let places: Vec<_> = (0..STEPS).map(|t| t * GAMES + game).collect();
        let frames = Frames::rollout(&mut alone, &own, SameStep);
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
        let rollout = || Frames::rollout(&mut batch, actions, SameStep);
        pool.unwrap().install(rollout)
    };
    let one = play(1);
    assert!(one.endings() > 1000);
    assert_eq!(one, play(2));
    assert_eq!(one, play(5));
    assert_eq!(one, play(20)); // more than there are blocks
}

#[test]
fn the_present_frame_of_a_game_that_began_anew_has_no_reward_and_no_end() {
    let actions = actions(STEPS);
    let mut batch = start(8);
    let mut ended = 0;
    for row in actions.chunks(GAMES) {
        let played = Frames::rollout(&mut batch, row, SameStep);
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
    let frames = Frames::rollout(&mut start(8), &actions(STEPS), Off);
    assert_eq!(frames.values("final_obs"), frames.values("obs"));
    let anew = Frames::rollout(&mut start(8), &actions(STEPS), SameStep);
    assert_ne!(anew.values("final_obs"), anew.values("obs"));
}
