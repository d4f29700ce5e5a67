//! The engine against itself: a batch is many single games, a rollout is many steps, a copy and
//! a loaded state go on alike. Whether the rules are the reference's is the harness's question.

use twinstep_pong::{Actions, Batch, Fields, Input, OBSERVATION, Output, Params, state_names};

const GAMES: usize = 131; // two full blocks and a part of one
const STEPS: usize = 300;

/// The values of a frame, `[T, N]` or `[T, N, 8]`, as bits: equality is that of bits.
#[derive(Clone, Debug, PartialEq)]
struct Frames {
    obs: Vec<f32>,
    reward: Vec<f32>,
    terminated: Vec<bool>,
    ball_vy: Vec<f32>,
    score_l: Vec<u32>,
    tick: Vec<i32>,
    draws: Vec<u32>,
}

impl Frames {
    fn new(rows: usize) -> Self {
        Self {
            obs: vec![f32::NAN; rows * OBSERVATION],
            reward: vec![f32::NAN; rows],
            terminated: vec![false; rows],
            ball_vy: vec![f32::NAN; rows],
            score_l: vec![u32::MAX; rows],
            tick: vec![-1; rows],
            draws: vec![u32::MAX; rows],
        }
    }

    fn fields(&mut self) -> Fields<'_> {
        vec![
            ("obs", Output::F32(&mut self.obs)),
            ("reward", Output::F32(&mut self.reward)),
            ("terminated", Output::Bool(&mut self.terminated)),
            ("ball_vy", Output::F32(&mut self.ball_vy)),
            ("score_l", Output::U32(&mut self.score_l)),
            ("tick", Output::I32(&mut self.tick)),
            ("draws", Output::U32(&mut self.draws)),
        ]
    }

    fn append(&mut self, other: Self) {
        self.obs.extend(other.obs);
        self.reward.extend(other.reward);
        self.terminated.extend(other.terminated);
        self.ball_vy.extend(other.ball_vy);
        self.score_l.extend(other.score_l);
        self.tick.extend(other.tick);
        self.draws.extend(other.draws);
    }
}

fn params(frameskip: u32) -> Params {
    Params {
        frameskip,
        continuous: false,
        max_score: 2,
    }
}

fn seeds() -> Vec<[u32; 2]> {
    (0..GAMES as u32).map(|i| [i, 7]).collect()
}

fn actions() -> Vec<i32> {
    let mut word = 1u32;
    let mut next = || {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (word >> 16) as i32 % 3
    };
    (0..GAMES * STEPS).map(|_| next()).collect()
}

fn rollout(batch: &mut Batch, steps: usize, actions: &[i32]) -> Frames {
    let mut frames = Frames::new(steps * batch.games());
    batch
        .rollout(steps, Actions::Discrete(actions), frames.fields())
        .unwrap();
    frames
}

#[test]
fn a_rollout_is_its_steps() {
    for frameskip in [1, 8] {
        let start = Batch::reset(params(frameskip), &seeds(), None).unwrap();
        let actions = actions();
        let whole = rollout(&mut start.clone(), STEPS, &actions);
        let mut batch = start;
        let mut single = Frames::new(0);
        for row in actions.chunks(GAMES) {
            single.append(rollout(&mut batch, 1, row));
        }
        assert_eq!(whole, single);
        assert!(whole.terminated.contains(&true) || frameskip == 1);
        assert!(whole.reward.contains(&-1.0) && whole.reward.contains(&0.1));
    }
}

#[test]
fn a_batch_is_its_games() {
    let actions = actions();
    let together = rollout(
        &mut Batch::reset(params(8), &seeds(), None).unwrap(),
        STEPS,
        &actions,
    );
    for game in [0, 63, 64, 128, GAMES - 1] {
        let mut alone = Batch::reset(params(8), &[seeds()[game]], None).unwrap();
        let own: Vec<i32> = actions.iter().skip(game).step_by(GAMES).copied().collect();
        let frames = rollout(&mut alone, STEPS, &own);
        for t in 0..STEPS {
            let place = t * GAMES + game;
            let seen = &together.obs[place * OBSERVATION..][..OBSERVATION];
            assert_eq!(&frames.obs[t * OBSERVATION..][..OBSERVATION], seen);
            assert_eq!(frames.reward[t], together.reward[place]);
            assert_eq!(frames.terminated[t], together.terminated[place]);
            assert_eq!(frames.draws[t], together.draws[place]);
        }
    }
}

#[test]
fn a_written_state_continues_exactly_when_loaded() {
    let actions = actions();
    let mut batch = Batch::reset(params(8), &seeds(), None).unwrap();
    rollout(&mut batch, 50, &actions[..50 * GAMES]);
    let mut floats = vec![vec![0f32; GAMES]; 7];
    let (mut scores, mut counts) = (vec![vec![0u32; GAMES]; 4], vec![vec![0i32; GAMES]; 3]);
    let mut obs = vec![0f32; GAMES * OBSERVATION];
    let (mut f, mut u, mut i) = (floats.iter_mut(), scores.iter_mut(), counts.iter_mut());
    let fields = state_names().map(|name| {
        let output = match name {
            "last_obs" => Output::F32(&mut []),
            "score_l" | "score_r" | "rng_key" | "draws" => Output::U32(u.next().unwrap()),
            "tick" | "n_bounces" | "win" => Output::I32(i.next().unwrap()),
            _ => Output::F32(f.next().unwrap()),
        };
        (name, output)
    });
    batch
        .write(fields.filter(|(name, _)| *name != "last_obs").collect())
        .unwrap();
    batch
        .write(vec![("last_obs", Output::F32(&mut obs))])
        .unwrap();
    let get = |wanted: &str| {
        let of_kind = |kind: &[&str]| {
            let same = state_names().filter(|name| kind.contains(name));
            same.take_while(|name| *name != wanted).count()
        };
        let whole = ["score_l", "score_r", "rng_key", "draws"];
        let count = ["tick", "n_bounces", "win"];
        if wanted == "last_obs" {
            return Ok(Input::F32(&obs));
        } else if whole.contains(&wanted) {
            return Ok(Input::U32(&scores[of_kind(&whole)]));
        } else if count.contains(&wanted) {
            return Ok(Input::I32(&counts[of_kind(&count)]));
        }
        Ok(Input::F32(
            &floats[state_names().take_while(|name| *name != wanted).count()],
        ))
    };
    let mut loaded = Batch::load(params(8), GAMES, get).unwrap();
    let rest = &actions[50 * GAMES..];
    assert_eq!(
        rollout(&mut loaded, STEPS - 50, rest),
        rollout(&mut batch, STEPS - 50, rest)
    );
}

#[test]
fn a_recorded_table_serves_what_it_holds() {
    // Even draws serve with vy = -1, odd ones flat.
    let tables: Vec<u32> = (0..GAMES as u32)
        .flat_map(|game| [game % 2, 0, 1])
        .collect();
    let mut batch = Batch::reset(params(8), &seeds(), Some(&tables)).unwrap();
    let mut first = Frames::new(GAMES);
    batch.write(first.fields()).unwrap();
    for (game, vy) in first.ball_vy.iter().enumerate() {
        assert_eq!(*vy, if game % 2 == 0 { -1.0 } else { 0.0 });
    }
    // More serves than the table has, and steps past the end of episodes, do no harm.
    rollout(&mut batch, STEPS, &actions());
}

#[test]
fn a_restart_keeps_the_round_and_clears_the_scores() {
    let mut batch = Batch::reset(params(8), &seeds(), None).unwrap();
    let frames = rollout(&mut batch, STEPS, &actions());
    batch.restart();
    let mut next = Frames::new(GAMES);
    batch.write(next.fields()).unwrap();
    assert!(next.score_l.iter().all(|score| *score == 0));
    assert!(next.terminated.iter().all(|over| !over));
    assert_eq!(next.draws, frames.draws[(STEPS - 1) * GAMES..]);
    assert_eq!(next.ball_vy, frames.ball_vy[(STEPS - 1) * GAMES..]);
}

#[test]
fn wrong_arguments_are_errors() {
    let mut batch = Batch::reset(params(1), &seeds(), None).unwrap();
    let zeros = vec![0; GAMES];
    let short = batch.rollout(1, Actions::Discrete(&zeros[1..]), Vec::new());
    assert!(short.unwrap_err().contains("expected 131"));
    let real = vec![0.0; GAMES];
    assert!(
        batch
            .rollout(1, Actions::Continuous(&real), Vec::new())
            .is_err()
    );
    assert!(
        batch
            .write(vec![("no_such_field", Output::U32(&mut []))])
            .is_err()
    );
    assert!(batch.write(vec![("obs", Output::F32(&mut []))]).is_err());
    assert!(
        batch
            .write(vec![("tick", Output::U32(&mut vec![0; GAMES]))])
            .is_err()
    );
    assert!(Batch::reset(params(1), &[], None).is_err());
    assert!(Batch::reset(params(1), &seeds(), Some(&[1, 2])).is_err());
    assert!(Batch::load(params(1), 1, |name| Err(format!("no {name}"))).is_err());
}
