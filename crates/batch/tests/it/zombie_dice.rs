//! The kernel of Zombie Dice against its referees: same dice, same actions, same everything.

use crate::arrays::{self, MODES, begun, future, same_for_all};
use necrodome_batch::{
    batched::{Autoreset, BatchError, Batched},
    kernel::{Kernel, Views},
    observe::Observe,
    stream::Stream,
    zombie_dice::{DiceKernel, RaceFormat, SoloFormat, TableFormat},
};
use necrodome_rules::{
    chance::{Chance, Probability, Scripted, enumerate},
    game::{Game, Move, Seat, Silent},
    names::Names,
    options::Bounded,
    zombie_dice::{
        Action, Counts, FirstRoll, OutOfDice, Race, RaceRules, Rolled, Solo, SoloRules, Table, TableRules,
        Tiebreak, Turn, TurnView,
    },
};
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoroshiro64StarStar;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::{collections::BTreeMap, fmt::Debug};

/// The picks of a roll, as the kernel promises to draw them: four words of 16 bits, all drawn again while one of those that
/// are used would be unfair. The words are used up whether the player rolls or not.
fn picks(stream: &mut Xoroshiro64StarStar, cup: Counts, feet: Counts) -> Vec<u32> {
    let draws = 3 - u32::from(feet.total());
    let unfair = |word: u32, outcomes: u32| word * outcomes % 65_536 < 65_536 % outcomes.max(1);
    loop {
        let (first, second) = (stream.next_u32(), stream.next_u32());
        let words = [first >> 16, first & 0xffff, second >> 16];
        let faces = second & 0xffff;
        let outcomes = |draw: u32| u32::from(cup.total()).saturating_sub(draw);
        if unfair(faces, 216) || (0..draws).any(|draw| unfair(words[draw as usize], outcomes(draw))) {
            continue;
        }
        let mut cup = cup.weights();
        let mut hand = feet.weights();
        let mut picks = Vec::new();
        for draw in 0..draws {
            let place = (words[draw as usize] * outcomes(draw)) >> 16;
            let colour = (place >= cup[0]) as usize + (place >= cup[0] + cup[1]) as usize;
            if cup.iter().sum::<u32>() > 0 {
                cup[colour] -= 1;
            }
            hand[colour] += 1;
            picks.push(colour as u32);
        }
        let roll = (faces * 216) >> 16;
        let colours = (0..3).flat_map(|colour| std::iter::repeat_n(colour, hand[colour as usize] as usize));
        for (colour, side) in colours.zip([roll / 36, roll / 6 % 6, roll % 6]) {
            let brains = 3 - colour;
            picks.push((side >= brains) as u32 + (side >= brains + 2) as u32);
        }
        return picks;
    }
}

/// A dice game for the test: what it needs beyond the referee.
trait Format: Observe<Rules: Copy, View: AsRef<TurnView> + PartialEq + Debug> + Sized {
    type Kernel: Views<Game = Self>;
    fn batch(rules: &Self::Rules, rows: usize, threads: usize) -> Batched<Self::Kernel> {
        arrays::batch(rules, *Self::SEATS.start(), rows, threads).unwrap()
    }
    fn first_roll(rules: &Self::Rules) -> FirstRoll;
    fn turn(view: &mut Self::View) -> &mut TurnView;
}

impl Format for Solo {
    type Kernel = DiceKernel<SoloFormat>;
    fn first_roll(rules: &SoloRules) -> FirstRoll {
        rules.first_roll
    }
    fn turn(view: &mut Self::View) -> &mut TurnView {
        &mut view.turn
    }
}

impl Format for Race {
    type Kernel = DiceKernel<RaceFormat>;
    fn first_roll(rules: &RaceRules) -> FirstRoll {
        rules.first_roll
    }
    fn turn(view: &mut Self::View) -> &mut TurnView {
        &mut view.turn
    }
}

impl Format for Table {
    type Kernel = DiceKernel<TableFormat>;
    fn first_roll(rules: &TableRules) -> FirstRoll {
        rules.first_roll
    }
    fn turn(view: &mut Self::View) -> &mut TurnView {
        &mut view.turn
    }
}

/// A row as the referee plays it.
struct Refereed<G: Format> {
    rules: G::Rules,
    stream: Xoroshiro64StarStar,
    game: G,
    /// The seat that decides, or decided last.
    seat: Seat,
    final_rewards: Vec<f32>,
}

impl<G: Format> Refereed<G> {
    fn new(rules: G::Rules, seats: usize, seed: u64) -> Self {
        Refereed {
            rules,
            stream: Xoroshiro64StarStar::seed_from_u64(seed),
            game: begin(&rules, seats),
            seat: Seat(0),
            final_rewards: vec![0.0; seats],
        }
    }

    fn reset(&mut self) {
        self.game = begin(&self.rules, self.game.seats());
        self.seat = Seat(0);
    }

    fn turn(&self) -> TurnView {
        *self.game.view(self.seat).as_ref()
    }

    fn is_over(&self) -> bool {
        self.game.to_act().is_empty()
    }

    fn returns(&self) -> f32 {
        let mut returns = vec![0.0; self.game.seats()];
        self.game.returns(&mut returns);
        returns[self.seat.index()]
    }

    /// Plays an action in a match that is not over; returns the reward of the seat that acted.
    fn play(&mut self, action: u8) -> f32 {
        let view = self.game.view(self.seat);
        let turn = self.turn();
        let picks = picks(&mut self.stream, turn.cup, turn.footsteps());
        let before = self.returns();
        let action = G::action(&view, action.into()).unwrap();
        Scripted::new(picks)
            .run(|chance| self.game.apply(&[Move::Act(action)], chance, &mut Silent))
            .unwrap()
            .unwrap();
        self.game.invariants().unwrap();
        let reward = self.returns() - before;
        match self.game.to_act() {
            [] => self.game.returns(&mut self.final_rewards),
            &[seat, ..] => self.seat = seat,
        }
        reward
    }

    fn observe(&self) -> Vec<i16> {
        self.observed_by(self.seat)
    }

    fn observed_by(&self, seat: Seat) -> Vec<i16> {
        let mut obs = vec![-1; G::fields(&self.rules, self.game.seats()).len()];
        G::observe(&self.rules, &self.game.view(seat), &mut obs);
        obs
    }

    /// Checks that a view of the batch is the referee's, except for dice whose colour no longer matters: those fit the rest.
    fn check_view(&self, batch: &Batched<G::Kernel>, row: usize, recycles: bool) {
        let last = self.game.seats() as u16 - 1;
        for seat in [0, last / 2, last, self.seat.0].map(Seat) {
            let (mut own, mut expected) = (batch.view(row, seat), self.game.view(seat));
            let (own_turn, turn) = (G::turn(&mut own), G::turn(&mut expected));
            assert_eq!(own_turn.footsteps(), turn.footsteps());
            assert_eq!(own_turn.hand.is_none(), turn.hand.is_none());
            assert!(own_turn.hand.is_none_or(|hand| hand.is_sorted()));
            if !recycles {
                assert_eq!(own_turn.brain_dice.total(), turn.brain_dice.total());
                let out =
                    own_turn.footsteps().checked_add(own_turn.cup).unwrap().checked_add(own_turn.brain_dice);
                assert!(out.unwrap().weights().iter().zip([6, 4, 3]).all(|(&count, all)| count <= all));
                own_turn.brain_dice = turn.brain_dice;
            }
            own_turn.hand = turn.hand;
            assert_eq!(own, expected);
            let mut obs = vec![-1; batch.width()];
            batch.observe(row, seat, &mut obs);
            assert_eq!(obs, self.observed_by(seat));
        }
    }
}

/// The tests play with a free first roll, or force it by hand: no roll happens when a match begins.
fn begin<G: Format>(rules: &G::Rules, seats: usize) -> G {
    let names = Names::new((0..seats).map(|seat| format!("player {seat}"))).unwrap();
    Scripted::new([]).run(|chance| G::new(&names, rules, chance, &mut Silent).unwrap()).unwrap()
}

/// Plays a batch beside referees and compares everything after each step. With a mandatory first roll, the test asks the batch
/// to stop where it cannot, and the referee, which leaves the choice free, rolls.
fn agree<G: Format>(rules: [G::Rules; 2], seats: usize, rows: usize, seed: u64, mode: Autoreset, go: u32) {
    agree_for::<G>(rules, seats, rows, seed, mode, go, 100);
}

fn agree_for<G: Format>(
    rules: [G::Rules; 2],
    seats: usize,
    rows: usize,
    seed: u64,
    mode: Autoreset,
    go: u32,
    steps: usize,
) {
    let [rules, free] = rules;
    let recycles = G::fields(&rules, seats).iter().any(|field| field.name == "brain_red");
    let forced = G::first_roll(&rules) == FirstRoll::Mandatory;
    let (mut batch, mut arrays) = begun(arrays::batch::<G::Kernel>(&rules, seats, rows, 1).unwrap(), seed);
    batch.autoreset = mode;
    let referee = |row: usize| Refereed::<G>::new(free, seats, seed.wrapping_add(row as u64));
    let mut referees: Vec<_> = (0..rows).map(referee).collect();
    let mut players = Stream::new(!seed);
    for step in 0..steps {
        let actions: Vec<u8> = (0..rows).map(|_| u8::from(players.uniform(100) < go)).collect();
        let (mut masks, mut to_act) = (vec![false; rows * 2], vec![9; rows]);
        batch.masks(&mut masks);
        batch.step(&actions, &mut arrays.out());
        batch.to_act(&mut to_act);
        for (row, referee) in referees.iter_mut().enumerate() {
            let place = format!("seed {seed}, row {row}, step {step}, {mode:?}");
            let (mut reward, mut terminated) = (0.0, false);
            let mut final_obs = None;
            if !referee.is_over() {
                let fresh = referee.turn().hand.is_none();
                assert_eq!(masks[2 * row..][..2], [!(forced && fresh), true], "{place}");
                reward = referee.play(actions[row] | u8::from(forced && fresh));
                terminated = referee.is_over();
                if terminated && mode == Autoreset::SameStep {
                    final_obs = Some(referee.observe());
                    referee.reset();
                }
            } else if mode == Autoreset::Disabled {
                terminated = true;
            } else {
                referee.reset();
            }
            assert_eq!(arrays.row(row), referee.observe(), "{place}");
            assert_eq!(arrays.rewards[row], reward, "{place}");
            assert_eq!((arrays.terminated[row], arrays.truncated[row]), (terminated, false), "{place}");
            assert_eq!(usize::from(to_act[row]), referee.seat.index(), "{place}");
            if seats > 1 {
                let rewards = &batch.final_rewards()[row * seats..][..seats];
                assert_eq!(rewards, referee.final_rewards, "{place}");
            }
            if (row + step) % 8 == 0 {
                referee.check_view(&batch, row, recycles);
            }
            if let Some(expected) = final_obs {
                assert_eq!(arrays.last_row(<G::Kernel as Kernel>::FINAL_ORDER, row), expected, "{place}");
            }
        }
    }
}

const OUT_OF_DICE: [OutOfDice; 2] = [OutOfDice::EndTurn, OutOfDice::RecycleBrains];
const FIRST_ROLL: [FirstRoll; 2] = [FirstRoll::Free, FirstRoll::Mandatory];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn solo_agrees_with_the_referee(
        out_of_dice in 0..2usize, first_roll in 0..2usize, rows in 1..150usize, seed: u64, mode in 0..3usize, go in 20..=100u32,
    ) {
        let rules = SoloRules { out_of_dice: OUT_OF_DICE[out_of_dice], first_roll: FIRST_ROLL[first_roll] };
        agree::<Solo>([rules, SoloRules { first_roll: FirstRoll::Free, ..rules }], 1, rows, seed, MODES[mode], go);
    }

    #[test]
    fn the_race_agrees_with_the_referee(
        out_of_dice in 0..2usize, first_roll in 0..2usize, rows in 1..150usize, seed: u64, mode in 0..3usize, go in 0..=100u32,
        max_rounds in proptest::option::of(1..12u32),
    ) {
        let rules = RaceRules {
            out_of_dice: OUT_OF_DICE[out_of_dice],
            first_roll: FIRST_ROLL[first_roll],
            max_rounds: max_rounds.map(Bounded::new),
        };
        agree::<Race>([rules, RaceRules { first_roll: FirstRoll::Free, ..rules }], 2, rows, seed, MODES[mode], go);
    }

    #[test]
    fn the_table_agrees_with_the_referee(
        out_of_dice in 0..2usize, first_roll in 0..2usize, until_broken: bool, rows in 1..150usize, seed: u64, mode in 0..3usize,
        go in 0..=100u32, seats in 2..12usize, max_rounds in proptest::option::of(1..12u32),
    ) {
        let rules = TableRules {
            out_of_dice: OUT_OF_DICE[out_of_dice],
            first_roll: FIRST_ROLL[first_roll],
            tiebreak: if until_broken { Tiebreak::UntilBroken } else { Tiebreak::OneRound },
            max_rounds: max_rounds.map(Bounded::new),
        };
        agree::<Table>([rules, TableRules { first_roll: FirstRoll::Free, ..rules }], seats, rows, seed, MODES[mode], go);
    }
}

/// The exact probability of everything visible after one roll and after two.
fn exact(rolls: usize) -> BTreeMap<(u32, u8, Counts, Counts), Probability> {
    let seen = |chance: &mut _| {
        let mut turn = Turn::START;
        for _ in 0..rolls {
            if turn.roll(OutOfDice::EndTurn, chance) != Rolled::GoOn {
                break;
            }
        }
        (turn.brains(), turn.shotguns(), turn.cup(), turn.footsteps())
    };
    enumerate(1_000_000, seen).unwrap()
}

/// Compares the kernel's dice with the exact distribution, by chi-squared.
#[test]
fn the_dice_are_fair() {
    let rows = 8192;
    let counts =
        |cells: &[i16]| Counts { green: cells[0] as u8, yellow: cells[1] as u8, red: cells[2] as u8 };
    for rolls in [1, 2] {
        let exact = exact(rolls);
        let mut seen: BTreeMap<_, u64> = BTreeMap::new();
        let rounds = 60;
        for round in 0..rounds {
            let (mut batch, mut arrays) =
                begun(Solo::batch(&SoloRules::default(), rows, 1), round * rows as u64);
            batch.autoreset = Autoreset::Disabled;
            for _ in 0..rolls {
                batch.step(&vec![1; rows], &mut arrays.out());
            }
            for row in 0..rows {
                let obs = arrays.row(row);
                let key = (obs[0] as u32, obs[1] as u8, counts(&obs[2..5]), counts(&obs[5..8]));
                *seen.entry(key).or_default() += 1;
            }
        }
        let total = (rounds * rows as u64) as f64;
        assert!(seen.keys().all(|key| exact.contains_key(key)), "something impossible happened");
        // Outcomes too rare for the test are taken together.
        let (mut squares, mut classes) = (0.0, 0);
        let (mut rare_expected, mut rare_seen) = (0.0, 0.0);
        for (key, probability) in &exact {
            let expected = total * *probability.numer() as f64 / *probability.denom() as f64;
            let count = seen.get(key).copied().unwrap_or_default() as f64;
            if expected < 10.0 {
                rare_expected += expected;
                rare_seen += count;
            } else {
                squares += (count - expected).powi(2) / expected;
                classes += 1;
            }
        }
        if rare_expected > 0.0 {
            squares += (rare_seen - rare_expected).powi(2) / rare_expected;
            classes += 1;
        }
        let p = 1.0 - ChiSquared::new(f64::from(classes - 1)).unwrap().cdf(squares);
        assert!((1e-4..1.0 - 1e-4).contains(&p), "{rolls} rolls: p = {p}, {classes} classes");
    }
}

/// Seats that stop as soon as they have anything reach the goal together often: many tiebreaks, some of them long. A
/// hundred steps do not end a match of many, so these matches go on.
#[test]
fn long_tables_agree_with_the_referee() {
    for (seats, tiebreak) in
        [(2, Tiebreak::UntilBroken), (5, Tiebreak::OneRound), (99, Tiebreak::UntilBroken)]
    {
        for mode in MODES {
            let rules = TableRules { tiebreak, first_roll: FirstRoll::Free, ..Default::default() };
            let (rows, steps) = if seats == 99 { (1, 3000) } else { (66, 600) };
            agree_for::<Table>([rules; 2], seats, rows, 5, mode, 55, steps);
        }
    }
}

#[test]
fn neither_threads_nor_other_rows_change_an_episode() {
    same_for_all(300, |rows, threads| begun(Solo::batch(&SoloRules::default(), rows, threads), 9));
    same_for_all(300, |rows, threads| begun(Race::batch(&RaceRules::default(), rows, threads), 9));
    same_for_all(300, |rows, threads| begun(Table::batch(&TableRules::default(), rows, threads), 9));
}

#[test]
fn a_reset_begins_the_marked_matches_only() {
    let (mut batch, mut arrays) = begun(Race::batch(&RaceRules::default(), 70, 1), 3);
    let before = future(&mut batch, &mut arrays, Autoreset::Disabled, 90).pop().unwrap();
    let which: Vec<bool> = (0..70).map(|row| row % 3 == 0).collect();
    batch.reset(Some(&which), &mut arrays.out());
    let start = [0, 0, 6, 4, 3, 0, 0, 0, 0, 0];
    for (row, &marked) in which.iter().enumerate() {
        assert_eq!(arrays.row(row), if marked { start.to_vec() } else { before.row(row) }, "row {row}");
        assert_eq!(arrays.terminated[row], before.terminated[row] && !marked, "row {row}");
    }
    assert!(before.terminated.iter().any(|&over| over), "some matches were over");
}

#[test]
fn a_saved_batch_has_the_same_future() {
    let rules = RaceRules {
        max_rounds: Some(Bounded::new(5)),
        out_of_dice: OutOfDice::RecycleBrains,
        ..Default::default()
    };
    let (mut original, mut arrays) = begun(Race::batch(&rules, 100, 1), 21);
    future(&mut original, &mut arrays, Autoreset::NextStep, 60);
    let state = original.save();
    let (mut other, mut other_arrays) = begun(Race::batch(&rules, 100, 2), 1);
    other.restore(&state).unwrap();
    assert_eq!(other.save(), state);
    assert_eq!(other.final_rewards(), original.final_rewards());
    for mode in MODES {
        other_arrays.final_obs.clone_from(&arrays.final_obs);
        let expected = future(&mut original, &mut arrays, mode, 60);
        assert_eq!(future(&mut other, &mut other_arrays, mode, 60), expected, "{mode:?}");
    }
}

#[test]
fn what_was_not_saved_by_such_a_batch_is_refused() {
    let (mut one, mut arrays) = begun(Solo::batch(&SoloRules::default(), 5, 1), 21);
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
    let recycles = SoloRules { out_of_dice: OutOfDice::RecycleBrains, ..Default::default() };
    let others = [
        Solo::batch(&recycles, 5, 1).save(),
        Solo::batch(&SoloRules::default(), 6, 1).save(),
        Race::batch(&RaceRules::default(), 5, 1).save(),
    ];
    for other in others {
        let why = refusal(&other);
        assert!(why.starts_with(r#"expected the state of 5 matches with {"first_roll":"#), "{why}");
    }
    let nothing = arrays::batch::<DiceKernel<SoloFormat>>(&SoloRules::default(), 1, 0, 1);
    assert_eq!(nothing.unwrap_err(), BatchError::Empty { matches: 0, threads: 1 });
}

#[test]
fn fields_are_told() {
    let names = |fields: Vec<necrodome_batch::field::Field>| -> Vec<String> {
        fields.into_iter().map(|field| field.name).collect()
    };
    let batch = Race::batch(&RaceRules::default(), 1, 1);
    let expected =
        "brains shotguns cup_green cup_yellow cup_red feet_green feet_yellow feet_red score opponent_score";
    assert_eq!(names(batch.fields()).join(" "), expected);
    assert_eq!((batch.actions(), batch.matches(), batch.seats()), (2, 1, 2));
    assert_eq!(Solo::action(&begin::<Solo>(&SoloRules::default(), 1).view(Seat(0)), 1), Some(Action::Go));
}
