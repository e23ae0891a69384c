//! The kernel of Tokyo against its referee: same dice, same actions, same everything.

use crate::arrays::{self, Arrays, MODES, begun, future, same_for_all};
use necrodome_batch::{batched::Autoreset, observe::Observe, stream::Stream, tokyo::TokyoBatch};
use necrodome_rules::{
    chance::{Chance, Scripted},
    game::{Game, Move, Seat, Silent},
    names::Names,
    options::Bounded,
    tokyo::{Action, Phase, Tokyo, TokyoRules},
};
use proptest::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const ACTIONS: usize = 66;

/// The two rolls of the stream's next accepted word, as the kernel promises to draw them.
fn rolls(stream: &mut Stream) -> [Vec<u32>; 2] {
    const ROLLS: u64 = 15_625;
    loop {
        let word = stream.word();
        let products = [word >> 32, word & 0xffff_ffff].map(|half| half * ROLLS);
        if products.iter().all(|product| product % (1 << 32) >= (1 << 32) % ROLLS) {
            let dice = |product: u64| (0..6).map(|die| (product >> 32) as u32 / 5u32.pow(die) % 5).collect();
            return products.map(dice);
        }
    }
}

/// A row as the referee plays it.
struct Refereed {
    rules: TokyoRules,
    names: Names,
    stream: Stream,
    game: Tokyo,
    /// The seat that decides, or decided last.
    seat: Seat,
    final_rewards: Vec<f32>,
}

impl Refereed {
    fn new(rules: TokyoRules, seats: usize, seed: u64) -> Self {
        let names = Names::new((0..seats).map(|seat| format!("monster {seat}"))).unwrap();
        let mut stream = Stream::new(seed);
        let game = Self::begin(&names, &rules, &mut stream);
        Refereed { rules, names, stream, game, seat: Seat(0), final_rewards: vec![0.0; seats] }
    }

    fn begin(names: &Names, rules: &TokyoRules, stream: &mut Stream) -> Tokyo {
        let [_, fresh] = rolls(stream);
        let mut script = Scripted::new(fresh);
        let game = script.run(|chance| Tokyo::new(names, rules, chance, &mut Silent).unwrap()).unwrap();
        script.finish().unwrap();
        game
    }

    fn reset(&mut self) {
        self.game = Self::begin(&self.names, &self.rules, &mut self.stream);
        self.seat = Seat(0);
    }

    fn is_over(&self) -> bool {
        self.game.to_act().is_empty()
    }

    /// Plays an action in a match that is not over; returns the reward of the seat that acted.
    fn play(&mut self, action: u8) -> f32 {
        let view = self.game.view(self.seat);
        let action = Tokyo::action(&view, action.into()).unwrap();
        let is_legal = Tokyo::legal_actions(&view).unwrap().any(|legal| legal == action);
        let [again, fresh] = rolls(&mut self.stream);
        let mut picks = match (view.phase, action) {
            (Phase::Rolling { .. }, Action::Keep { dice }) => {
                again.into_iter().zip(dice).filter(|(_, kept)| !kept).map(|(die, _)| die).collect()
            }
            _ => Vec::new(),
        };
        picks.extend(fresh);
        let choice = if is_legal { Move::Act(action) } else { Move::Forfeit };
        Scripted::new(picks).run(|chance| self.game.apply(&[choice], chance, &mut Silent)).unwrap().unwrap();
        self.game.invariants().unwrap();
        match self.game.to_act() {
            [] => self.game.returns(&mut self.final_rewards),
            &[seat, ..] => self.seat = seat,
        }
        if self.is_over() { self.final_rewards[self.seat.index()] } else { 0.0 }
    }

    fn observe(&self) -> Vec<i16> {
        let view = self.game.view(self.seat);
        let mut obs = vec![-1; Tokyo::fields(&self.rules, self.names.len()).len()];
        Tokyo::observe(&self.rules, &view, &mut obs);
        obs
    }

    fn mask(&self) -> Vec<bool> {
        let mut mask = vec![true; ACTIONS];
        Tokyo::mask(&self.game.view(self.seat), &mut mask);
        mask
    }

    /// Chooses a random action: a legal one, or any.
    fn choose(&self, players: &mut Stream, legal: bool) -> u8 {
        let mask = self.mask();
        let choices: Vec<u8> =
            (0..ACTIONS as u8).filter(|&action| !legal || mask[usize::from(action)]).collect();
        match choices.len() {
            0 => 0,
            count => choices[players.uniform(count as u32) as usize],
        }
    }
}

/// A batch with the seeds from `seed` on, after its reset.
fn batch(rules: &TokyoRules, seats: usize, rows: usize, threads: usize, seed: u64) -> (TokyoBatch, Arrays) {
    begun(arrays::batch(rules, seats, rows, threads).unwrap(), seed)
}

/// Plays a batch beside referees and compares everything after each step. Of a hundred actions, `legal` are legal, the others
/// may be.
fn agree(rules: TokyoRules, seats: usize, rows: usize, seed: u64, steps: usize, mode: Autoreset, legal: u32) {
    let (mut batch, mut arrays) = batch(&rules, seats, rows, 1, seed);
    batch.autoreset = mode;
    let referee = |row: usize| Refereed::new(rules, seats, seed.wrapping_add(row as u64));
    let mut referees: Vec<_> = (0..rows).map(referee).collect();
    let mut players = Stream::new(!seed);
    let mut final_obs = arrays.final_obs.clone();
    for step in 0..steps {
        let mut choose = |referee: &Refereed| {
            let legal = players.uniform(100) < legal;
            referee.choose(&mut players, legal)
        };
        let actions: Vec<u8> = referees.iter().map(&mut choose).collect();
        batch.step(&actions, &mut arrays.out());

        let (mut masks, mut to_act) = (vec![false; rows * ACTIONS], vec![0; rows]);
        batch.masks(&mut masks);
        batch.to_act(&mut to_act);
        for (row, referee) in referees.iter_mut().enumerate() {
            let (mut reward, mut terminated) = (0.0, false);
            if !referee.is_over() {
                reward = referee.play(actions[row]);
                terminated = referee.is_over();
                if terminated && mode == Autoreset::SameStep {
                    let seen = referee.observe();
                    final_obs[row * seen.len()..][..seen.len()].copy_from_slice(&seen);
                    referee.reset();
                }
            } else if mode == Autoreset::Disabled {
                terminated = true;
            } else {
                referee.reset();
            }
            let place = format!("{seats} monsters, seed {seed}, row {row}, step {step}, {mode:?}");
            assert_eq!(arrays.row(row), referee.observe(), "{place}");
            assert_eq!(arrays.rewards[row], reward, "{place}");
            assert_eq!((arrays.terminated[row], arrays.truncated[row]), (terminated, false), "{place}");
            assert_eq!(masks[row * ACTIONS..][..ACTIONS], referee.mask(), "{place}");
            assert_eq!(usize::from(to_act[row]), referee.seat.index(), "{place}");
            assert_eq!(batch.final_rewards()[row * seats..][..seats], referee.final_rewards, "{place}");
            for seat in (0..seats as u16).map(Seat) {
                assert_eq!(batch.view(row, seat), referee.game.view(seat), "{place}");
            }
        }
        assert_eq!(arrays.final_obs, final_obs, "{seats} monsters, seed {seed}, step {step}, {mode:?}");
    }
}

#[test]
fn agrees_with_the_referee_for_many_episodes() {
    for seats in 2..=6 {
        for mode in MODES {
            agree(TokyoRules::default(), seats, 100, 77, 300, mode, 95);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn agrees_with_the_referee(
        seats in 2..=6usize,
        rows in 1..140usize,
        seed: u64,
        mode in 0..3usize,
        max_turns in proptest::option::of(1..40u32),
        legal in 0..=100u32,
    ) {
        let rules = TokyoRules { max_turns: max_turns.map(Bounded::new) };
        agree(rules, seats, rows, seed, 80, MODES[mode], legal);
    }
}

fn chi_squared(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let squares = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    1.0 - ChiSquared::new((counts.len() - 1) as f64).unwrap().cdf(squares)
}

/// First rolls (after a reset) and rerolled dice: every way in which six dice can fall is equally likely.
#[test]
fn all_rolls_are_equally_likely() {
    let rows = 4096;
    let (mut batch, mut arrays) = batch(&TokyoRules::default(), 2, rows, 1, 5);
    batch.autoreset = Autoreset::Disabled;
    let (mut first, mut again) = (vec![0; 15_625], vec![0; 15_625]);
    for _ in 0..80 {
        batch.reset(None, &mut arrays.out());
        for rolls in [&mut first, &mut again] {
            for row in 0..rows {
                let dice = &arrays.row(row)[3..9];
                rolls[dice.iter().fold(0, |roll, &die| roll * 5 + die as usize)] += 1;
            }
            batch.step(&vec![0; rows], &mut arrays.out());
        }
    }
    for (what, rolls) in [("first", first), ("again", again)] {
        let p = chi_squared(&rolls);
        assert!((1e-4..1.0 - 1e-4).contains(&p), "{what}: p = {p}");
    }
}

#[test]
fn neither_threads_nor_other_rows_change_an_episode() {
    same_for_all(300, |rows, threads| batch(&TokyoRules::default(), 3, rows, threads, 9));
}

#[test]
fn a_reset_begins_the_marked_matches_only() {
    let (mut batch, mut arrays) = batch(&TokyoRules::default(), 2, 70, 1, 3);
    let before = future(&mut batch, &mut arrays, Autoreset::Disabled, 20).pop().unwrap();
    let which: Vec<bool> = (0..70).map(|row| row % 3 == 0).collect();
    batch.seed(0, 3);
    batch.reset(Some(&which), &mut arrays.out());
    for (row, &marked) in which.iter().enumerate() {
        let is_new = arrays.row(row)[..3] == [0, 2, 0] && arrays.row(row)[9..] == [10, 0, 0, 1, 10, 0, 0, 0];
        assert_eq!(is_new, marked, "row {row}");
        assert!(is_new || arrays.row(row) == before.row(row), "row {row}");
        assert_eq!(arrays.terminated[row], before.terminated[row] && !marked, "row {row}");
    }
    assert_eq!(arrays.row(0), Refereed::new(TokyoRules::default(), 2, 3).observe(), "seeded anew");
}

#[test]
fn a_saved_batch_has_the_same_future() {
    let rules = TokyoRules { max_turns: Some(Bounded::new(25)) };
    let (mut original, mut arrays) = batch(&rules, 4, 100, 1, 21);
    future(&mut original, &mut arrays, Autoreset::NextStep, 60);
    let state = original.save();
    let (mut other, mut other_arrays) = batch(&rules, 4, 100, 2, 1);
    other.restore(&state).unwrap();
    assert_eq!(other.save(), state);
    assert_eq!(other.final_rewards(), original.final_rewards());
    for mode in MODES {
        // Only what was never written differs: final observations of before.
        other_arrays.final_obs.clone_from(&arrays.final_obs);
        let expected = future(&mut original, &mut arrays, mode, 60);
        assert_eq!(future(&mut other, &mut other_arrays, mode, 60), expected, "{mode:?}");
    }
}

#[test]
fn what_was_not_saved_by_such_a_batch_is_refused() {
    let rules = TokyoRules::default();
    let (mut one, mut arrays) = batch(&rules, 3, 5, 1, 21);
    future(&mut one, &mut arrays, Autoreset::NextStep, 30);
    let state = one.save();
    let refusal = |bytes: &[u8]| {
        let mut other = one.clone();
        let why = other.restore(bytes).expect_err("refused");
        assert_eq!(other.save(), state, "nothing has changed");
        why
    };
    assert!(refusal(&[]).starts_with("expected a saved state, got 0 bytes"));
    assert!(refusal(&state[..state.len() - 1]).contains("with a wrong checksum"));
    for (seats, rows, max_turns) in [(4, 5, None), (3, 6, None), (3, 5, Some(Bounded::new(9)))] {
        let (other, _) = batch(&TokyoRules { max_turns }, seats, rows, 1, 21);
        let why = refusal(&other.save());
        let expected =
            r#"expected the state of 5 matches with {"rules":{"max_turns":null},"seats":3} and 15 final"#;
        assert!(why.starts_with(expected), "{why}");
    }
}

#[test]
fn a_bad_set_up_is_refused() {
    let rules = TokyoRules::default();
    let refusal = |seats, rows, threads| {
        let made: Result<TokyoBatch, _> = arrays::batch(&rules, seats, rows, threads);
        made.unwrap_err().to_string()
    };
    assert_eq!(refusal(7, 1, 1), "expected 2 to 6 players, got 7");
    assert_eq!(refusal(1, 1, 1), "expected 2 to 6 players, got 1");
    assert_eq!(refusal(2, 0, 1), "expected at least one match and one thread, got 0 and 1");
    assert_eq!(refusal(2, 1, 0), "expected at least one match and one thread, got 1 and 0");
}
