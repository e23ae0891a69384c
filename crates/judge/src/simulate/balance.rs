//! Finds the number of zombies and of turns that makes the fairest game.
//!
//! All cells with the same number of zombies share their games: no bot's play depends on the number of turns,
//! so a game of many turns also shows how a shorter one would have ended. The rows race: each round drops the rows
//! whose cells can no longer be the fairest.

use super::{
    SimulateError, Simulator, Tally,
    interval::{Estimate, Share},
    sized,
};
use necrodome_rules::{bot::BotSpec, chance::Seed, infection::InfectionRules};
use serde::Serialize;

/// The threshold for dropping a row. It is stricter than 95%, since rows are examined after every round.
const DROP_Z: f64 = 3.5;
/// The games of each row in the first round; each round doubles them.
const FIRST_ROUND: u64 = 250;

/// The limits of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bounds {
    /// The most zombies, at least 1.
    pub max_zombies: u32,
    /// The most turns, at least 1.
    pub max_turns: u32,
    /// The games of each row that stays in the race.
    pub games: u64,
}

/// A number of zombies and of turns, with the results of its games.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cell {
    /// The number of zombies at the start.
    pub zombies: u32,
    /// The most turns.
    pub turns: u32,
    /// The number of games played.
    pub games: u64,
    /// How often no human was left.
    pub zombies_win: Share,
    /// How often exactly one human was left.
    pub survivor_wins: Share,
    /// How often at least two humans were left after the last turn.
    pub humans_win: Share,
    /// The distance of the zombies' chance from one half.
    pub unfairness: Estimate,
    /// The number of turns in a game.
    pub length: Estimate,
}

impl Cell {
    fn of(tally: &Tally, zombies: u32, turns: u32) -> Self {
        let games = tally.games();
        let [zombies_win, survivor_wins, humans_win] =
            tally.endings_within(turns as usize).map(|count| Share::of(count, games));
        Cell {
            zombies,
            turns,
            games,
            zombies_win,
            survivor_wins,
            humans_win,
            unfairness: unfairness(zombies_win),
            length: tally.lengths_within(turns as usize).mean(1, turns as usize),
        }
    }
}

/// The distance of a chance from one half.
fn unfairness(share: Share) -> Estimate {
    let [low, high] = [share.low, share.high].map(|end| (end - 0.5).abs());
    let fair = share.low <= 0.5 && 0.5 <= share.high;
    Estimate {
        mean: (share.rate - 0.5).abs(),
        low: if fair { 0.0 } else { low.min(high) },
        high: low.max(high),
    }
}

/// All cells, and the recommended one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Balance {
    /// The cell with the shortest games among all that may be the fairest.
    pub recommended: Cell,
    /// The number of cells that may be the fairest, as far as these games can tell.
    pub candidates: usize,
    /// All cells by zombies, then by turns.
    pub cells: Vec<Cell>,
}

impl Balance {
    /// The largest number of turns that made a difference: with more turns, every game would have ended the same way.
    pub fn useful_turns(&self) -> u32 {
        useful(&self.cells).map(|cell| cell.turns).max().unwrap_or(1)
    }

    /// The cells, the fairest first; among equals the shorter game. Cells with turns that no game used are left out.
    pub fn fairest(&self) -> Vec<&Cell> {
        let mut cells: Vec<&Cell> = useful(&self.cells).collect();
        let key = |cell: &Cell| (cell.unfairness.mean, cell.length.mean, cell.turns);
        cells.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
        });
        cells
    }
}

/// A number of zombies, with all its games.
struct Row {
    zombies: u32,
    simulator: Simulator,
    tally: Tally,
}

impl Row {
    fn unfairness(&self, turns: u32, z: f64) -> Estimate {
        let [zombies, ..] = self.tally.endings_within(turns as usize);
        unfairness(Share::with_z(zombies, self.tally.games(), z))
    }
}

/// Runs the race on the threads of the current pool. `plan` is called with the largest possible number of games, whenever it
/// changes; `progress` is as in [`Simulator::run`].
pub fn balance(
    players: usize,
    rules: &InfectionRules,
    plays: [&BotSpec; 2],
    bounds: &Bounds,
    seed: impl Into<Seed>,
    plan: &dyn Fn(u64),
    progress: &(dyn Fn(u64) -> bool + Sync),
) -> Result<Option<Balance>, SimulateError> {
    let seed = seed.into();
    let row = |zombies| row(players, rules, plays, bounds, zombies);
    let mut rows = (1..=bounds.max_zombies).map(row).collect::<Result<Vec<Row>, _>>()?;
    let mut racing: Vec<usize> = (0..rows.len()).collect();
    let (mut done, mut played) = (0, 0);
    while done < bounds.games && !racing.is_empty() {
        plan(played + racing.len() as u64 * (bounds.games - done));
        let target = if done == 0 { FIRST_ROUND } else { 2 * done }.min(bounds.games);
        for &index in &racing {
            let row = &mut rows[index];
            let more = row.simulator.run(seed, done..target, progress)?;
            row.tally = more.merge(&row.tally);
        }
        played += racing.len() as u64 * (target - done);
        done = target;
        let turns = 1..=bounds.max_turns;
        let of_row = |index: usize| turns.clone().map(move |turns| (index, turns));
        let best = racing
            .iter()
            .flat_map(|&index| of_row(index))
            .map(|(index, turns)| rows[index].unfairness(turns, DROP_Z).high)
            .fold(f64::INFINITY, f64::min);
        racing.retain(|&index| {
            of_row(index).any(|(index, turns)| rows[index].unfairness(turns, DROP_Z).low <= best)
        });
    }
    let cells = rows
        .iter()
        .filter(|row| row.tally.games() > 0)
        .flat_map(|row| (1..=bounds.max_turns).map(|turns| Cell::of(&row.tally, row.zombies, turns)));
    Ok(choose(cells.collect()))
}

fn row(
    players: usize,
    rules: &InfectionRules,
    [humans, zombie_play]: [&BotSpec; 2],
    bounds: &Bounds,
    zombies: u32,
) -> Result<Row, SimulateError> {
    let rules = sized(rules, zombies, bounds.max_turns)?;
    let simulator = Simulator::new(players, rules, humans, zombie_play)?;
    Ok(Row { zombies, simulator, tally: Tally::new(players) })
}

/// Picks the recommended cell.
fn choose(cells: Vec<Cell>) -> Option<Balance> {
    let best = cells.iter().map(|cell| cell.unfairness.high).fold(f64::INFINITY, f64::min);
    let candidates = || useful(&cells).filter(|cell| cell.unfairness.low <= best);
    let shorter = |a: &&Cell, b: &&Cell| {
        a.length.mean.total_cmp(&b.length.mean).then(a.turns.cmp(&b.turns)).then(a.zombies.cmp(&b.zombies))
    };
    let recommended = *candidates().min_by(shorter)?;
    Some(Balance { recommended, candidates: candidates().count(), cells })
}

/// The cells in which some game has used the last turn.
fn useful(cells: &[Cell]) -> impl Iterator<Item = &Cell> {
    cells.iter().enumerate().filter_map(|(place, cell)| {
        let before = place.checked_sub(1).map(|place| &cells[place]);
        let new = |before: &Cell| before.zombies != cell.zombies || before.length.mean != cell.length.mean;
        before.is_none_or(new).then_some(cell)
    })
}
