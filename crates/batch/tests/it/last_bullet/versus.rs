//! A learner's entry against opponents: the referee's matches with the same bots, in every mode, inside or outside.

use super::{Style, UNTOUCHED, choose, rules};
use crate::arrays::{Arrays, MODES};
use necrodome_batch::{
    batched::{Autoreset, BatchError, BatchSetup},
    last_bullet::{
        observe::{ACTIONS, CELLS, mask, observe, order},
        versus::LastBulletVersusBatch,
    },
    stream::Stream,
    versus::{LearnerSeat, LineUp, Opponent},
};
use necrodome_rules::{
    bot::{BotSpec, Decide},
    chance::Seeded,
    game::{Game, Move, Seat, Silent},
    last_bullet::{Action, CopyView, LastBullet, LastBulletRules, LastBulletView, built_ins},
    names::{Names, SetupError},
};

fn bot(spec: &str) -> Decide<LastBullet> {
    let spec: BotSpec = spec.parse().unwrap();
    built_ins().iter().find(|bot| bot.name == spec.name).unwrap().decide(&spec).unwrap()
}

fn inside(specs: &[&str], seat: LearnerSeat) -> LineUp<LastBullet> {
    LineUp { opponents: specs.iter().map(|spec| Opponent::Inside(bot(spec))).collect(), seat }
}

/// Makes a batch of a learner that rotates through all seats, against bots.
pub fn against(specs: &[&str], rules: &LastBulletRules, matches: usize) -> LastBulletVersusBatch {
    begun(inside(specs, LearnerSeat::Rotating), rules, 0, (matches, 1)).0
}

/// A batch with the seeds from `seed` on, after its reset.
fn begun(
    line_up: LineUp<LastBullet>,
    rules: &LastBulletRules,
    seed: u64,
    (matches, threads): (usize, usize),
) -> (LastBulletVersusBatch, Arrays<u8>) {
    let (seats, autoreset) = (line_up.opponents.len() + 1, Autoreset::NextStep);
    let setup = BatchSetup { rules: *rules, seats, matches, threads, autoreset };
    let mut batch = LastBulletVersusBatch::against(&setup, line_up).unwrap();
    let mut arrays = Arrays::new(&batch, UNTOUCHED);
    (0..matches).for_each(|one| batch.seed(one, seed + one as u64));
    batch.reset(None, &mut arrays.out());
    (batch, arrays)
}

fn masks(batch: &LastBulletVersusBatch) -> Vec<bool> {
    let mut masks = vec![false; batch.rows() * ACTIONS];
    batch.masks(&mut masks);
    masks
}

fn alive(batch: &LastBulletVersusBatch) -> Vec<bool> {
    let mut alive = vec![false; batch.rows()];
    batch.alive(&mut alive);
    alive
}

fn seats(batch: &LastBulletVersusBatch) -> Vec<u8> {
    let mut seats = vec![None; batch.matches()];
    batch.learner(&mut seats);
    seats.into_iter().map(Option::unwrap).collect()
}

/// The referee's match with the same bots.
struct Twin {
    names: Names,
    rules: LastBulletRules,
    bots: Vec<Decide<LastBullet>>,
    seed: u64,
    decisions: u64,
    stream: Stream,
    seat: u8,
    game: LastBullet,
}

impl Twin {
    fn new(specs: &[&str], rules: LastBulletRules, seed: u64, seat: u8) -> Self {
        let names = Names::new((0..=specs.len()).map(|entry| format!("entry {entry}"))).unwrap();
        let mut stream = Stream::new(seed);
        let game = begin(&names, &rules, &mut stream, seat);
        let bots = specs.iter().map(|spec| bot(spec)).collect();
        Twin { names, rules, bots, seed, decisions: 0, stream, seat, game }
    }

    fn restart(&mut self, seat: u8) {
        self.seat = seat;
        self.game = begin(&self.names, &self.rules, &mut self.stream, seat);
    }

    fn own(&self) -> LastBulletView {
        self.game.view(Seat(self.seat.into()))
    }

    /// The copy of a row: rows are the copies of the entry, dead or alive.
    fn row(&self, copy: &CopyView) -> usize {
        copy.number as usize - usize::from(self.seat) * self.rules.copies.get() as usize
    }

    fn is_over(&self) -> bool {
        self.game.to_act().is_empty() || self.own().copies.is_empty()
    }

    fn play(&mut self, actions: &[u8]) {
        let mut moves = Vec::new();
        for &seat in self.game.to_act() {
            let view = self.game.view(seat);
            moves.push(Move::Act(if seat == Seat(self.seat.into()) {
                let order = |copy| order(copy, actions[self.row(copy)].into()).unwrap();
                Action { orders: view.copies.iter().map(order).collect() }
            } else {
                let (seed, number) = (self.seed, self.decisions);
                self.decisions += 1;
                let bot = &self.bots[seat.index() - usize::from(seat.0 > self.seat.into())];
                bot(&view, &|| Seeded::new(seed, "opponent", number))
            }));
        }
        self.game.apply(&moves, &mut self.stream, &mut Silent).unwrap();
    }

    /// The observations and masks of the rows, and whether their survivors live.
    fn told(&self) -> (Vec<u8>, Vec<bool>, Vec<bool>) {
        let copies = self.rules.copies.get() as usize;
        let mut seen = vec![[0; CELLS]; copies];
        let mut can = vec![std::array::from_fn::<bool, ACTIONS, _>(|action| action == 4); copies];
        let mut lives = vec![false; copies];
        let view = self.own();
        for copy in &view.copies {
            let row = self.row(copy);
            observe(&view, copy, &mut seen[row]);
            mask(copy, &mut can[row]);
            lives[row] = !self.game.to_act().is_empty();
        }
        (seen.into_flattened(), can.into_flattened(), lives)
    }
}

fn begin(names: &Names, rules: &LastBulletRules, stream: &mut Stream, seat: u8) -> LastBullet {
    loop {
        let game = LastBullet::new(names, rules, stream, &mut Silent).unwrap();
        if !game.to_act().is_empty() && !game.view(Seat(seat.into())).copies.is_empty() {
            return game;
        }
    }
}

/// Plays matches beside the referee. Returns how many have ended, and how many survivors were cut off.
fn compare(
    specs: &[&str],
    seat: LearnerSeat,
    rules: LastBulletRules,
    mode: Autoreset,
    style: Style,
    steps: usize,
) -> (u32, usize) {
    let seed = 9;
    let (mut batch, mut arrays) = begun(inside(specs, seat), &rules, seed, (1, 1));
    batch.autoreset = mode;
    let mut twin = Twin::new(specs, rules, seed, seats(&batch)[0]);
    let mut chance = Stream::new(77);
    let (mut ended, mut cut) = (0, 0);
    for step in 0..steps {
        let (seen, can, lives) = twin.told();
        assert!(
            arrays.obs == seen && masks(&batch) == can && alive(&batch) == lives,
            "step {step}, {mode:?}"
        );
        let had_ended = twin.is_over();
        let actions = choose(style, &can, &mut chance);
        batch.step(&actions, &mut arrays.out());
        if !had_ended {
            twin.play(&actions);
        }
        let (last, _, _) = twin.told();
        let view = twin.own();
        let still: Vec<usize> = view.copies.iter().map(|copy| twin.row(copy)).collect();
        let over = twin.is_over();
        for (row, &lived) in lives.iter().enumerate() {
            let (played, lives) = (lived && !had_ended, still.contains(&row));
            assert_eq!(arrays.rewards[row], f32::from(played && lives));
            assert_eq!(arrays.terminated[row], played && !lives);
            assert_eq!(arrays.truncated[row], played && lives && over);
            cut += usize::from(arrays.truncated[row]);
        }
        ended += u32::from(over && !had_ended);
        let begins = match mode {
            Autoreset::NextStep => had_ended,
            Autoreset::SameStep => over,
            Autoreset::Disabled => false,
        };
        if begins {
            if mode == Autoreset::SameStep {
                assert!(arrays.final_obs == last);
            }
            twin.restart(seats(&batch)[0]);
        }
    }
    (ended, cut)
}

#[test]
fn a_learner_meets_what_a_referee_would_show_it() {
    let bots = ["gunner", "wander", "huddle:fear=5", "runner", "stand-still"];
    for mode in MODES {
        for seat in
            [LearnerSeat::Fixed(0), LearnerSeat::Fixed(3), LearnerSeat::Fixed(5), LearnerSeat::Rotating]
        {
            let (ended, _) = compare(&bots, seat, rules(6, 0.12, None), mode, Style::Mixed, 300);
            assert!(ended > if mode == Autoreset::Disabled { 0 } else { 2 }, "{ended} matches, {mode:?}");
        }
        let (_, cut) = compare(&bots, LearnerSeat::Fixed(1), rules(4, 0.06, Some(7)), mode, Style::Walk, 60);
        assert!(cut > 0, "{mode:?}");
    }
    // One survivor each, which often does not live to decide.
    let (ended, _) =
        compare(&["gunner"], LearnerSeat::Rotating, rules(1, 1.0, None), MODES[0], Style::Walk, 400);
    assert!(ended > 5, "{ended}");
}

#[test]
fn entries_without_a_number_of_their_own_are_seen_right() {
    let bots = vec!["huddle"; 255];
    for seat in [0, 252] {
        compare(&bots, LearnerSeat::Fixed(seat), rules(2, 0.3, None), MODES[0], Style::Mixed, 12);
    }
    let line_up = inside(&vec!["runner"; 256], LearnerSeat::Rotating);
    let setup =
        BatchSetup { rules: rules(1, 0.3, None), seats: 257, matches: 1, threads: 1, autoreset: MODES[0] };
    let refused = LastBulletVersusBatch::against(&setup, line_up).unwrap_err();
    assert!(matches!(refused, BatchError::Game(SetupError::Seats { came: 257, .. })), "{refused}");
}

/// Records everything that is written in some steps, with actions that depend only on match, step and row.
fn film(
    (batch, arrays): &mut (LastBulletVersusBatch, Arrays<u8>),
    mode: Autoreset,
    mut ask: impl FnMut(&mut LastBulletVersusBatch),
) -> Vec<Arrays<u8>> {
    batch.autoreset = mode;
    let each = batch.rows() / batch.matches();
    let mut told = Vec::new();
    for step in 0..60 {
        let choose = |(row, mask): (usize, &[bool])| {
            choose(
                Style::Mixed,
                mask,
                &mut Stream::new(((row / each) * 1_000_000 + step * 1000 + row % each) as u64),
            )[0]
        };
        let actions: Vec<u8> = masks(batch).chunks_exact(ACTIONS).enumerate().map(choose).collect();
        ask(batch);
        batch.step(&actions, &mut arrays.out());
        told.push(arrays.clone());
    }
    told
}

#[test]
fn matches_are_the_same_in_any_company_and_on_any_number_of_threads() {
    let rules = rules(6, 0.1, Some(25));
    for mode in MODES {
        let play = |matches, threads| {
            let line_up = inside(&["wander", "gunner"], LearnerSeat::Rotating);
            film(&mut begun(line_up, &rules, 3, (matches, threads)), mode, |_| ())
        };
        let expected = play(7, 1);
        assert!(play(7, 3) == expected);
        for (few, all) in play(2, 2).iter().zip(&expected) {
            assert!(few.obs == all.obs[..few.obs.len()]);
            assert_eq!((&few.rewards[..], &few.terminated[..]), (&all.rewards[..12], &all.terminated[..12]));
        }
    }
}

/// A policy that sees numbers.
fn policy(seen: &[u8], mask: &[bool]) -> u8 {
    let hash = seen.iter().fold(7u64, |hash, &cell| hash.wrapping_mul(31).wrapping_add(cell.into()));
    choose(Style::Mixed, mask, &mut Stream::new(hash))[0]
}

#[test]
fn it_makes_no_difference_who_asks_the_opponents() {
    let by_numbers = || -> Decide<LastBullet> {
        Box::new(|view, _| {
            let orders = view.copies.iter().map(|copy| {
                let (mut seen, mut can) = ([0; CELLS], [false; ACTIONS]);
                observe(view, copy, &mut seen);
                mask(copy, &mut can);
                // A shot at nobody has a number, but no order of a bot in Rust.
                let chosen = policy(&seen, &can);
                order(copy, if can[usize::from(chosen)] { chosen } else { 4 }.into()).unwrap()
            });
            Action { orders: orders.collect() }
        })
    };
    let rules = rules(6, 0.1, Some(25));
    for mode in MODES {
        let opponents = vec![
            Opponent::Inside(by_numbers()),
            Opponent::Inside(bot("gunner")),
            Opponent::Inside(by_numbers()),
        ];
        let expected = film(
            &mut begun(LineUp { opponents, seat: LearnerSeat::Rotating }, &rules, 5, (3, 1)),
            mode,
            |_| (),
        );
        let opponents = vec![Opponent::Outside, Opponent::Inside(bot("gunner")), Opponent::Outside];
        let mut asked = 0;
        let told = film(
            &mut begun(LineUp { opponents, seat: LearnerSeat::Rotating }, &rules, 5, (3, 2)),
            mode,
            |batch| {
                let questions = batch.questions(&[true, false, true]);
                let rows = questions.obs.chunks_exact(CELLS).zip(questions.masks.chunks_exact(ACTIONS));
                let answers: Vec<u8> = rows
                    .map(|(seen, can)| {
                        let chosen = policy(seen, can);
                        if can[usize::from(chosen)] { chosen } else { 4 }
                    })
                    .collect();
                assert_eq!(answers.len(), questions.matches().len());
                asked += answers.len();
                batch.answer(&questions, &answers);
            },
        );
        assert!(told == expected, "{mode:?}");
        assert!(asked > 100, "{asked}");
    }
}

#[test]
fn what_is_saved_goes_on() {
    let rules = rules(6, 0.1, Some(25));
    let line_up = |seat| inside(&["wander", "gunner"], seat);
    for seat in [LearnerSeat::Fixed(2), LearnerSeat::Rotating] {
        let mut run = begun(line_up(seat), &rules, 3, (4, 1));
        film(&mut run, MODES[0], |_| ());
        let saved = run.0.save();
        let expected = film(&mut run, MODES[0], |_| ());
        let mut again = begun(line_up(seat), &rules, 50, (4, 2));
        again.0.restore(&saved).unwrap();
        assert_eq!(again.0.save(), saved);
        assert!(film(&mut again, MODES[0], |_| ()) == expected);
        let mut other = begun(line_up(LearnerSeat::Fixed(0)), &rules, 3, (4, 1)).0;
        assert!(
            other.restore(&saved).unwrap_err().contains("restore it into a batch like the one"),
            "{seat:?}"
        );
    }
}
