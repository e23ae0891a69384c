//! Last Bullet, in agent steps, windows included.
//!
//! Only living survivors count: an agent step is one action of a living survivor, played, and the observation after it. Matches
//! are played to their ends, one after the other, so the time includes zombies, the dead and new worlds. The referee
//! plays the same matches with the same actions, which is checked; its time is that of the turns and of all views.
//!
//! Every turn is played several times and its shortest time counts, so that other programs on the machine matter little.

use crate::{arrays::Arrays, compare};
use necrodome_batch::{
    batched::{Autoreset, BatchSetup},
    last_bullet::LastBulletBatch,
    last_bullet::observe::{ACTIONS, CELLS, WINDOW, observe, order},
    stream::Stream,
};
use necrodome_rules::{
    chance::Chance,
    game::{Game, Move, Seat, Silent},
    last_bullet::{Action, Direction, LastBullet, LastBulletRules, LastBulletView},
    names::Names,
};
use std::time::{Duration, Instant};

const ENTRIES: usize = 20;
const COPIES: usize = 50;
/// The number of turns: several matches.
const TURNS: usize = 400;
/// The number of turns at the beginning of a match, when most survivors are alive.
const OPENING: usize = 20;
const SEED: u64 = 1;

/// Chooses an action from an observation.
type Policy = fn(row: usize, seen: &[u8], chance: &mut Stream) -> u8;

/// Any action, most of them shots.
fn random(_: usize, _: &[u8], chance: &mut Stream) -> u8 {
    chance.uniform(ACTIONS as u32) as u8
}

/// Plays entries that stand, wander, flee, and shoot what comes near.
fn mixture(row: usize, seen: &[u8], chance: &mut Stream) -> u8 {
    let habit = row / COPIES % 4;
    match (habit, nearest_zombie(seen)) {
        (0, _) => Direction::Stay as u8,
        (1, _) => chance.uniform(9) as u8,
        (3, Some((dx, dy))) if dx.abs().max(dy.abs()) <= 2 && seen[CELLS - 1] > 0 => {
            (9 + (dy + 5) * 11 + dx + 5) as u8
        }
        (_, Some((dx, dy))) => Direction::toward(-dx, -dy) as u8,
        (_, None) => chance.uniform(9) as u8,
    }
}

fn nearest_zombie(seen: &[u8]) -> Option<(i32, i32)> {
    let zombies = (0..WINDOW * WINDOW).filter(|&square| seen[square] == 2);
    let offset = |square: usize| ((square % WINDOW) as i32 - 8, (square / WINDOW) as i32 - 8);
    zombies.map(offset).min_by_key(|&(dx, dy): &(i32, i32)| dx.abs().max(dy.abs()))
}

/// The turns played, and their results.
struct Played {
    worlds: usize,
    /// The actions of each turn, and how many of them were those of the living.
    actions: Vec<Vec<u8>>,
    living: Vec<usize>,
    end: LastBulletBatch,
    obs: Vec<u8>,
}

impl Played {
    /// The agent steps in these turns, in millions per second.
    fn rate(&self, times: &[Duration], turns: std::ops::Range<usize>) -> f64 {
        let steps: usize = self.living[turns.clone()].iter().sum();
        steps as f64 / times[turns].iter().sum::<Duration>().as_secs_f64() / 1e6
    }
}

fn begin(worlds: usize) -> (LastBulletBatch, Arrays<u8>) {
    let rules = LastBulletRules::default();
    let autoreset = Autoreset::SameStep;
    let mut batch =
        LastBulletBatch::new(&BatchSetup { rules, seats: ENTRIES, matches: worlds, threads: 1, autoreset })
            .unwrap();
    (0..worlds).for_each(|world| batch.seed(world, SEED + world as u64));
    let mut arrays = Arrays::new(batch.rows(), CELLS);
    batch.reset(None, &mut arrays.out());
    (batch, arrays)
}

fn play(worlds: usize, policy: Policy) -> Played {
    let (mut batch, mut arrays) = begin(worlds);
    let mut chance = Stream::new(7);
    let mut alive = vec![false; batch.rows()];
    let (mut played, mut living) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        batch.alive(&mut alive);
        let choose = |(row, seen)| if alive[row] { policy(row, seen, &mut chance) } else { 0 };
        let actions: Vec<u8> = arrays.out().obs.chunks_exact(CELLS).enumerate().map(choose).collect();
        living.push(batch.living());
        batch.step(&actions, &mut arrays.out());
        played.push(actions);
    }
    Played { worlds, actions: played, living, end: batch, obs: arrays.out().obs.to_vec() }
}

/// Plays everything `times` times. Returns the shortest time of each turn.
fn time_batch(played: &Played, times: usize) -> Vec<Duration> {
    let mut best = vec![Duration::MAX; TURNS];
    for _ in 0..times {
        let (mut batch, mut arrays) = begin(played.worlds);
        for (actions, best) in played.actions.iter().zip(&mut best) {
            let start = Instant::now();
            batch.step(actions, &mut arrays.out());
            *best = start.elapsed().min(*best);
        }
        assert!(batch.save() == played.end.save(), "the same actions have led elsewhere");
    }
    best
}

/// Does the same for the referee, with the first world.
fn time_referee(played: &Played, times: usize) -> Vec<Duration> {
    let names = Names::new((0..ENTRIES).map(|entry| format!("entry {entry}"))).unwrap();
    let rules = LastBulletRules::default();
    let begin = |stream: &mut Stream| LastBullet::new(&names, &rules, stream, &mut Silent).unwrap();
    let mut best = vec![Duration::MAX; TURNS];
    for _ in 0..times {
        let mut stream = Stream::new(SEED);
        let mut game = begin(&mut stream);
        let mut views: Vec<_> = Seat::all(ENTRIES).iter().map(|&seat| game.view(seat)).collect();
        for (actions, best) in played.actions.iter().zip(&mut best) {
            let moves: Vec<_> =
                game.to_act().iter().map(|seat| decide(&views[seat.index()], actions)).collect();
            let start = Instant::now();
            game.apply(&moves, &mut stream, &mut Silent).unwrap();
            while game.to_act().is_empty() {
                game = begin(&mut stream);
            }
            for (&seat, view) in Seat::all(ENTRIES).iter().zip(&mut views) {
                game.refresh_view(seat, view);
            }
            *best = start.elapsed().min(*best);
        }
        check(&game, &views, played);
    }
    best
}

fn decide(view: &LastBulletView, actions: &[u8]) -> Move<Action> {
    let order = |copy| order(copy, actions[copy.number as usize].into()).unwrap();
    Move::Act(Action { orders: view.copies.iter().map(order).collect() })
}

/// Checks that the referee's match has reached the same position, and that all views agree.
fn check(game: &LastBullet, views: &[LastBulletView], played: &Played) {
    let pieces = game.pieces().iter().map(|piece| (piece.kind, piece.square, piece.bullets));
    assert!(pieces.eq(played.end.pieces(0)), "the same match has come to another position");
    let mut seen = [0; CELLS];
    for (view, copy) in views.iter().flat_map(|view| view.copies.iter().map(move |copy| (view, copy))) {
        observe(view, copy, &mut seen);
        assert!(seen == played.obs[copy.number as usize * CELLS..][..CELLS], "it looks different");
    }
}

pub fn bench(measured: bool) {
    let times = |times| if measured { times } else { 1 };
    let policies: [(&str, Policy); 2] = [("random actions", random), ("a mixture of habits", mixture)];
    for (name, policy) in policies {
        let name = format!("Last Bullet, {ENTRIES} entries of {COPIES}, {name}");
        let played = play(1, policy);
        let (ours, theirs) = (time_batch(&played, times(30)), time_referee(&played, times(5)));
        for (part, turns) in [("whole matches", 0..TURNS), ("the first 20 turns", 0..OPENING)] {
            let (ours, theirs) = (played.rate(&ours, turns.clone()), played.rate(&theirs, turns));
            compare(&format!("{name}, {part}"), ours, theirs, 3.0);
        }
        let many = play(16, policy);
        let rate = many.rate(&time_batch(&many, times(5)), 0..TURNS);
        println!("{name}, whole matches, 16 worlds: {rate:6.1} million steps/s");
    }
}
