//! Agent steps of Last Bullet per second on one core, windows included, by the batch and by the referee.
//!
//! Only survivors who live count: an agent step is a living survivor's action, played, and what it sees then. Whole
//! episodes are played, one after the other, and the time of the zombies, the dead and the resets is in it. How actions
//! are chosen is not timed. The referee plays the same matches with the same actions, which is checked; its time is that of
//! the turns and of all views.

#![allow(clippy::unwrap_used)]

use necrodome_batch::{
    batch::{Autoreset, Batch, Out},
    last_bullet::LastBulletBatch,
    observe::last_bullet::{ACTIONS, CELLS, WINDOW, observe, order},
    stream::Stream,
};
use necrodome_rules::{
    chance::Chance,
    game::{Game, Move, Seat, Silent},
    last_bullet::{Action, Direction, LastBullet, LastBulletRules, LastBulletView},
    names::Names,
};
use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

const ENTRIES: usize = 20;
const SEED: u64 = 1;
/// For how long each measurement goes on, about.
const LONG: Duration = Duration::from_millis(1500);

/// How long this thread has really run: others on the machine do not count.
fn clock() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

/// Chooses an action from an observation.
type Policy = fn(row: usize, seen: &[u8], chance: &mut Stream) -> u8;

/// Any action, most of them shots.
fn random(_: usize, _: &[u8], chance: &mut Stream) -> u8 {
    chance.uniform(ACTIONS as u32) as u8
}

/// Entries that stand, wander, flee, and shoot what comes near.
fn mixture(row: usize, seen: &[u8], chance: &mut Stream) -> u8 {
    let habit = row / 50 % 4;
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

/// What a run came to.
struct Run {
    agent_steps: u64,
    time: Duration,
    episodes: u64,
    /// The actions of all steps.
    played: Vec<Vec<u8>>,
}

impl Run {
    fn rate(&self) -> f64 {
        self.agent_steps as f64 / self.time.as_secs_f64() / 1e6
    }
}

/// Plays a batch until it has taken long enough.
fn run(worlds: usize, policy: Policy) -> (Run, LastBulletBatch, Vec<u8>) {
    let mut batch = LastBulletBatch::new(worlds, ENTRIES, &LastBulletRules::default(), 1).unwrap();
    (0..worlds).for_each(|world| batch.seed(world, SEED + world as u64));
    let rows = batch.rows();
    let (mut obs, mut final_obs) = (vec![0; rows * CELLS], vec![0; rows * CELLS]);
    let (mut rewards, mut terminated, mut truncated) =
        (vec![0.0; rows], vec![false; rows], vec![false; rows]);
    let mut out = Out {
        obs: &mut obs,
        final_obs: &mut final_obs,
        rewards: &mut rewards,
        terminated: &mut terminated,
        truncated: &mut truncated,
    };
    batch.reset(None, &mut out);
    let mut chance = Stream::new(7);
    let mut run = Run { agent_steps: 0, time: Duration::ZERO, episodes: 0, played: Vec::new() };
    let mut alive = vec![false; rows];
    while run.time < LONG {
        batch.alive(&mut alive);
        let choose = |(row, seen)| if alive[row] { policy(row, seen, &mut chance) } else { 0 };
        let actions: Vec<u8> = out.obs.chunks_exact(CELLS).enumerate().map(choose).collect();
        run.agent_steps += batch.living() as u64;
        let start = clock();
        batch.step(&actions, Autoreset::SameStep, &mut out);
        run.time += clock() - start;
        run.episodes += (0..worlds).filter(|&world| batch.clock(world) == 0).count() as u64;
        run.played.push(actions);
    }
    (run, batch, obs)
}

/// The referee plays the first world of a run again. Its agent steps and their time.
fn referee(run: &Run, batch: &LastBulletBatch, obs: &[u8]) -> Run {
    let names = Names::new((0..ENTRIES).map(|entry| format!("entry {entry}"))).unwrap();
    let rules = LastBulletRules::default();
    let mut stream = Stream::new(SEED);
    let begin = |stream: &mut Stream| LastBullet::new(&names, &rules, stream, &mut Silent).unwrap();
    let mut game = begin(&mut stream);
    let mut views: Vec<LastBulletView> = Seat::all(ENTRIES).iter().map(|&seat| game.view(seat)).collect();
    let mut again = Run { agent_steps: 0, time: Duration::ZERO, episodes: 0, played: Vec::new() };
    for actions in &run.played {
        let moves: Vec<_> = game
            .to_act()
            .iter()
            .map(|seat| {
                let orders = views[seat.index()].copies.iter();
                let orders = orders.map(|copy| order(copy, actions[copy.number as usize].into()).unwrap());
                Move::Act(Action { orders: orders.collect() })
            })
            .collect();
        again.agent_steps += views.iter().map(|view| view.copies.len() as u64).sum::<u64>();
        let start = clock();
        game.apply(&moves, &mut stream, &mut Silent).unwrap();
        while game.to_act().is_empty() {
            game = begin(&mut stream);
        }
        for (&seat, view) in Seat::all(ENTRIES).iter().zip(&mut views) {
            game.refresh_view(seat, view);
        }
        again.time += clock() - start;
    }
    let pieces = game.pieces().iter().map(|piece| (piece.kind, piece.square, piece.bullets));
    assert!(pieces.eq(batch.pieces(0)), "the same match has come to another position");
    let mut seen = [0; CELLS];
    for view in &views {
        for copy in &view.copies {
            observe(view, copy, &mut seen);
            assert!(seen == obs[copy.number as usize * CELLS..][..CELLS], "it looks different");
        }
    }
    again
}

fn main() {
    let policies: [(&str, Policy); 2] = [("random actions", random), ("a mixture of habits", mixture)];
    for (name, policy) in policies {
        for worlds in [1, 16] {
            let (ours, batch, obs) = run(worlds, policy);
            let theirs = referee(&ours, &batch, &obs);
            println!(
                "{name}, {worlds} worlds of {ENTRIES} x 50: {:.1} million agent steps/s, the referee {:.1}: {:.1}x \
                 ({} episodes, {} of {} survivors alive on average)",
                ours.rate(),
                theirs.rate(),
                ours.rate() / theirs.rate(),
                ours.episodes,
                ours.agent_steps / (ours.played.len() * worlds) as u64,
                batch.rows_of_a_world(),
            );
        }
    }
}
