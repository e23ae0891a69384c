//! The results of many games: counts, which add up in any order, and the report made from them.

use super::interval::{Estimate, Histogram, Quantile, Share};
use necrodome_rules::infection::{Ending, Party, Role};
use serde::Serialize;

/// The judge's knowledge between two turns. (Zombies are the rest.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Players who count as human, the infected among them.
    pub humans: u16,
    /// The number of infected players among them.
    pub infected: u16,
}

impl State {
    pub(super) fn of(party: &Party) -> Self {
        let count = |role| party.players().iter().filter(|player| player.role == role).count() as u16;
        let infected = count(Role::Infected);
        State { humans: count(Role::Human) + infected, infected }
    }
}

/// The number of games for each number of players of a kind.
type Counts = Vec<u32>;

/// One kind of player in all games.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Curve {
    /// For each turn, from 0: the games that got this far, by the number of these players at the end of the turn.
    now: Vec<Counts>,
    /// For each turn, from 0: the games that ended with it, by the same number.
    last: Vec<Counts>,
}

/// The results of many games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    players: usize,
    games: u64,
    humans: Curve,
    infected: Curve,
    /// For each turn, from 0: the games that ended with it, by how they ended (see `place`).
    endings: Vec<[u64; 3]>,
}

/// The index of an ending: zombies, survivor, humans.
fn place(ending: Ending) -> usize {
    match ending {
        Ending::ZombiesWin => 0,
        Ending::SurvivorWins { .. } => 1,
        Ending::HumansWin => 2,
    }
}

impl Curve {
    fn add(&mut self, values: impl ExactSizeIterator<Item = u16> + Clone, players: usize) {
        let turns = values.len();
        while self.now.len() < turns {
            self.now.push(vec![0; players + 1]);
            self.last.push(vec![0; players + 1]);
        }
        for (turn, value) in values.clone().enumerate() {
            self.now[turn][usize::from(value)] += 1;
        }
        if let Some(value) = values.last() {
            self.last[turns - 1][usize::from(value)] += 1;
        }
    }

    fn merge(&mut self, other: &Curve) {
        for (mine, theirs) in [(&mut self.now, &other.now), (&mut self.last, &other.last)] {
            for (turn, counts) in theirs.iter().enumerate() {
                match mine.get_mut(turn) {
                    Some(mine) => mine.iter_mut().zip(counts).for_each(|(mine, count)| *mine += count),
                    None => mine.push(counts.clone()),
                }
            }
        }
    }

    /// For each turn: all games, those that are over with their final number.
    fn carried(&self, players: usize) -> impl Iterator<Item = Histogram> + '_ {
        let mut over = vec![0; players + 1];
        self.now.iter().zip(&self.last).map(move |(now, last)| {
            let all = now.iter().zip(&over).map(|(&now, over)| u64::from(now) + over).collect();
            over.iter_mut().zip(last).for_each(|(over, &last)| *over += u64::from(last));
            Histogram(all)
        })
    }
}

impl Tally {
    /// Makes a tally without games.
    pub fn new(players: usize) -> Self {
        let (humans, infected) = (Curve::default(), Curve::default());
        Tally { players, games: 0, humans, infected, endings: Vec::new() }
    }

    /// The number of games.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Adds a game: its states at the start and after each turn, and how it ended.
    pub fn add(&mut self, turns: &[State], ending: Ending) {
        self.games += 1;
        self.humans.add(turns.iter().map(|state| state.humans), self.players);
        self.infected.add(turns.iter().map(|state| state.infected), self.players);
        if self.endings.len() < turns.len() {
            self.endings.resize(turns.len(), [0; 3]);
        }
        if let Some(last) = turns.len().checked_sub(1) {
            self.endings[last][place(ending)] += 1;
        }
    }

    /// Adds up two tallies.
    pub fn merge(mut self, other: &Tally) -> Self {
        self.games += other.games;
        self.humans.merge(&other.humans);
        self.infected.merge(&other.infected);
        if self.endings.len() < other.endings.len() {
            self.endings.resize(other.endings.len(), [0; 3]);
        }
        for (mine, theirs) in self.endings.iter_mut().zip(&other.endings) {
            mine.iter_mut().zip(theirs).for_each(|(mine, count)| *mine += count);
        }
        self
    }

    /// How the games would have ended if the last turn had been this one: zombies, survivor, humans. No bot's play depends
    /// on the number of turns.
    pub(super) fn endings_within(&self, turns: usize) -> [u64; 3] {
        let mut counts = [0; 3];
        for ended in self.endings.iter().take(turns + 1) {
            counts.iter_mut().zip(ended).for_each(|(count, more)| *count += more);
        }
        counts[2] += self.games - counts.iter().sum::<u64>();
        counts
    }

    /// The number of turns that the games would have taken if the last turn had been this one.
    pub(super) fn lengths_within(&self, turns: usize) -> Histogram {
        let mut lengths = vec![0; turns + 1];
        for (turn, ended) in self.endings.iter().enumerate() {
            lengths[turn.min(turns)] += ended.iter().sum::<u64>();
        }
        Histogram(lengths)
    }

    /// Makes the report, or returns `None` if there are no games.
    pub fn report(&self, max_turns: usize) -> Option<Report> {
        if self.games == 0 {
            return None;
        }
        let [zombies, survivor, humans] =
            self.endings_within(max_turns).map(|games| Share::of(games, self.games));
        let players = self.players;
        let curves = self.humans.carried(players).zip(self.infected.carried(players));
        let mut running = self.games;
        let turn = |(turn, (humans, infected)): (usize, (Histogram, Histogram))| {
            running -= self.endings[turn].iter().sum::<u64>();
            let zombies = Histogram(humans.0.iter().rev().copied().collect());
            let spread = |histogram: &Histogram| match (turn, histogram.only()) {
                // The start is known, not estimated.
                (0, Some(value)) => Spread::of(histogram, value, value),
                _ => Spread::of(histogram, 0, players),
            };
            TurnReport {
                turn,
                running: Share::of(running, self.games),
                humans: spread(&humans),
                zombies: spread(&zombies),
                infected: spread(&infected),
            }
        };
        Some(Report {
            games: self.games,
            zombies_win: zombies,
            survivor_wins: survivor,
            humans_win: humans,
            length: Spread::of(&self.lengths_within(max_turns), 1, max_turns),
            turns: curves.enumerate().map(turn).collect(),
        })
    }
}

/// The report on the games.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The number of games.
    pub games: u64,
    /// How often no human was left.
    pub zombies_win: Share,
    /// How often exactly one human was left.
    pub survivor_wins: Share,
    /// How often at least two humans were left after the last turn.
    pub humans_win: Share,
    /// The number of turns in a game.
    pub length: Spread,
    /// The start, and the end of each turn that some game reached. A game that is over counts with its final state.
    pub turns: Vec<TurnReport>,
}

/// The state of all games at the end of one turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TurnReport {
    /// Turns finished.
    pub turn: usize,
    /// The games that are not over yet.
    pub running: Share,
    /// Players who count as human, the infected among them.
    pub humans: Spread,
    /// Zombies.
    pub zombies: Spread,
    /// Players who count as human but are infected, which only the judge knows.
    pub infected: Spread,
}

/// The distribution of a number over the games.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    #[serde(flatten)]
    pub mean: Estimate,
    /// The value that a quarter of the games does not exceed.
    pub lower_quartile: Quantile,
    /// The value that half of the games do not exceed.
    pub median: Quantile,
    /// The value that three quarters of the games do not exceed.
    pub upper_quartile: Quantile,
}

impl Spread {
    fn of(histogram: &Histogram, lowest: usize, highest: usize) -> Self {
        Spread {
            mean: histogram.mean(lowest, highest),
            lower_quartile: histogram.quantile(0.25),
            median: histogram.quantile(0.5),
            upper_quartile: histogram.quantile(0.75),
        }
    }

    /// The three quartiles.
    pub fn quartiles(&self) -> [Quantile; 3] {
        [self.lower_quartile, self.median, self.upper_quartile]
    }
}
