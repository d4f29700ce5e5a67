//! The engine against itself: a batch is many single games, a rollout is many steps, a copy and
//! a loaded state go on alike. Whether the rules are the reference's is the harness's question.

mod frames;

use frames::{Frames, GAMES, actions, params, seeds, start};
use twinstep_pong::AutoRestart::Off;
use twinstep_pong::{Actions, Batch, Input, Output, Params};

const STEPS: usize = 300;

#[test]
fn a_rollout_is_its_steps() {
    for frameskip in [1, 8] {
        let actions = actions(STEPS);
        let whole = Frames::rollout(&mut start(frameskip), &actions, Off);
        let mut batch = start(frameskip);
        let mut single = Frames::new(0);
        for row in actions.chunks(GAMES) {
            single.append(Frames::rollout(&mut batch, row, Off));
        }
        assert_eq!(whole, single);
        assert!(whole.endings() > 0 || frameskip == 1);
        let rewards = whole.f32("reward");
        assert!(rewards.contains(&-1.0) && rewards.contains(&0.1));
    }
}

#[test]
fn a_batch_is_its_games() {
    let actions = actions(STEPS);
    let together = Frames::rollout(&mut start(8), &actions, Off);
    for game in [0, 63, 64, 128, GAMES - 1] {
        let mut alone = Batch::reset(params(8), &seeds()[game..=game], None).unwrap();
        let own: Vec<i32> = actions.iter().skip(game).step_by(GAMES).copied().collect();
        let places: Vec<_> = (0..STEPS).map(|t| t * GAMES + game).collect();
        let frames = Frames::rollout(&mut alone, &own, Off);
        assert_eq!(frames, together.rows(&places));
    }
}

#[test]
fn frames_too_many_for_the_caches_are_its_steps() {
    // Their observations take another way to memory, also where it is not aligned.
    let steps = 1_200;
    let actions = actions(steps);
    let whole = Frames::rollout(&mut start(1), &actions, Off);
    let mut batch = start(1);
    let mut parts = Frames::new(0);
    for part in actions.chunks(GAMES * 100) {
        parts.append(Frames::rollout(&mut batch, part, Off));
    }
    assert_eq!(whole, parts);
    let mut moved = vec![0.0; actions.len() * 8 + 1];
    let fields = vec![("obs", Output::F32(&mut moved[1..]))];
    let discrete = Actions::Discrete(&actions);
    start(1).rollout(steps, discrete, fields, Off).unwrap();
    assert_eq!(moved[1..], *whole.f32("obs"));
}

#[test]
fn a_written_state_continues_exactly_when_loaded() {
    let actions = actions(STEPS);
    let (head, rest) = actions.split_at(50 * GAMES);
    let mut batch = start(8);
    Frames::rollout(&mut batch, head, Off);
    let now = Frames::now(&mut batch);
    let mut loaded = Batch::load(params(8), GAMES, |name| now.input(name)).unwrap();
    assert_eq!(
        Frames::rollout(&mut loaded, rest, Off),
        Frames::rollout(&mut batch, rest, Off)
    );
}

#[test]
fn a_recorded_table_serves_what_it_holds() {
    // Even draws serve with vy = -1, odd ones flat.
    let tables: Vec<u32> = (0..GAMES as u32)
        .flat_map(|game| [game % 2, 0, 1])
        .collect();
    let mut batch = Batch::reset(params(8), &seeds(), Some(&tables)).unwrap();
    for (game, vy) in Frames::now(&mut batch).f32("ball_vy").iter().enumerate() {
        assert_eq!(*vy, if game % 2 == 0 { -1.0 } else { 0.0 });
    }
    // More serves than the table has are its last one, which is flat.
    let frames = Frames::rollout(&mut batch, &actions(STEPS), Off);
    let begins = frames.i32("tick").iter().map(|tick| *tick == 0);
    let late = frames.u32("draws").iter().map(|draws| *draws > 3);
    let served = begins.zip(late).zip(frames.f32("ball_vy"));
    let after_its_end: Vec<_> = served.filter(|((new, late), _)| *new && *late).collect();
    assert!(after_its_end.len() > GAMES);
    assert!(after_its_end.iter().all(|(_, vy)| **vy == 0.0));
}

#[test]
fn a_restart_keeps_the_round_and_clears_the_scores() {
    let mut batch = start(8);
    let frames = Frames::rollout(&mut batch, &actions(STEPS), Off);
    batch.restart();
    let next = Frames::now(&mut batch);
    assert!(next.u32("score_l").iter().all(|score| *score == 0));
    assert!(next.f32("reward").iter().all(|reward| *reward == 0.0));
    assert_eq!(next.endings(), 0);
    let last = (STEPS - 1) * GAMES;
    assert_eq!(next.u32("draws"), &frames.u32("draws")[last..]);
    assert_eq!(next.f32("ball_vy"), &frames.f32("ball_vy")[last..]);
}

#[test]
fn wrong_arguments_are_errors() {
    let mut batch = start(1);
    let zeros = vec![0; GAMES];
    let short = batch.rollout(1, Actions::Discrete(&zeros[1..]), Vec::new(), Off);
    assert!(short.unwrap_err().to_string().contains("expected 131"));
    let real = vec![0.0; GAMES];
    let real = Actions::Continuous(&real);
    assert!(batch.rollout(1, real, Vec::new(), Off).is_err());
    let (mut whole, mut counts) = (vec![0; GAMES], vec![0; GAMES * 8]);
    for (name, output) in [
        ("no_such_field", Output::U32(&mut [])),
        ("obs", Output::F32(&mut [])),
        ("tick", Output::U32(&mut whole)),
        ("final_obs", Output::I32(&mut counts)),
    ] {
        assert!(batch.write(vec![(name, output)]).is_err(), "{name}");
    }
    assert!(Batch::reset(params(1), &[], None).is_err());
    let point = |max_score| Params {
        max_score,
        ..params(1)
    };
    assert!(Batch::reset(params(0), &seeds(), None).is_err());
    assert!(Batch::reset(point(0), &seeds(), None).is_err());
    assert!(Batch::reset(point(1), &seeds(), None).is_ok());
    assert!(Batch::reset(params(1), &seeds(), Some(&[1, 2])).is_err());
    assert!(Batch::load(params(1), 1, |_| None).is_err());
    let few = Frames::new(1);
    let error = Batch::load(params(1), 2, |name| few.input(name))
        .err()
        .unwrap();
    assert!(error.to_string().ends_with("has 1 elements, expected 2"));
    let narrow = |name: &str| match name {
        "last_obs" => Some(Input::F32(&[0.0; 8])),
        _ => whole_input(name),
    };
    let error = Batch::load(params(1), 2, narrow).err().unwrap();
    let expected = "field last_obs has 8 elements, expected 16";
    assert_eq!(error.to_string(), expected);
}

/// Zeros for two games.
fn whole_input(name: &str) -> Option<Input<'static>> {
    Some(match name {
        "tick" | "n_bounces" | "win" => Input::I32(&[0; 2]),
        "score_l" | "score_r" | "rng_key" | "draws" => Input::U32(&[0; 2]),
        _ => Input::F32(&[0.0; 2]),
    })
}

#[test]
fn no_steps_are_no_frames() {
    let mut batch = start(8);
    let before = Frames::now(&mut batch);
    assert_eq!(Frames::rollout(&mut batch, &[], Off), Frames::new(0));
    assert_eq!(Frames::now(&mut batch), before);
}
