//! What was seen in many games: counts, which add up in any order, and the report made from them.

use super::interval::{Estimate, Histogram, Quantile, Share};
use necrodome_rules::infection::{Ending, Party, Role};
use serde::Serialize;

/// What the judge knows between two turns. (Zombies are the rest.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Who count as human: the infected do.
    pub humans: u16,
    /// How many of them are infected.
    pub infected: u16,
}

impl State {
    pub(super) fn of(party: &Party) -> Self {
        let count = |role| party.players().iter().filter(|player| player.role == role).count() as u16;
        let infected = count(Role::Infected);
        State { humans: count(Role::Human) + infected, infected }
    }
}

/// Games by the number of players of a kind.
type Counts = Vec<u32>;

/// One kind of player in all games.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Curve {
    /// By turn, from 0: the games that came so far, by the number at the end of the turn.
    now: Vec<Counts>,
    /// By turn, from 0: the games that ended with it, likewise.
    last: Vec<Counts>,
}

/// What was seen in many games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    players: usize,
    games: u64,
    humans: Curve,
    infected: Curve,
    /// By turn, from 0: the games that ended with it, by how they ended (see `place`).
    endings: Vec<[u64; 3]>,
}

/// Zombies, survivor, humans.
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

    /// By turn: all games, those that are over with what they ended with.
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
    /// Nothing seen yet.
    pub fn new(players: usize) -> Self {
        let (humans, infected) = (Curve::default(), Curve::default());
        Tally { players, games: 0, humans, infected, endings: Vec::new() }
    }

    /// Games seen.
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

    /// All that was seen here and there.
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

    /// How the games ended if the last turn had been this one: zombies, survivor, humans. Nobody plays otherwise
    /// because of how many turns there are.
    pub(super) fn endings_within(&self, turns: usize) -> [u64; 3] {
        let mut counts = [0; 3];
        for ended in self.endings.iter().take(turns + 1) {
            counts.iter_mut().zip(ended).for_each(|(count, more)| *count += more);
        }
        counts[2] += self.games - counts.iter().sum::<u64>();
        counts
    }

    /// How many turns the games took if the last turn had been this one.
    pub(super) fn lengths_within(&self, turns: usize) -> Histogram {
        let mut lengths = vec![0; turns + 1];
        for (turn, ended) in self.endings.iter().enumerate() {
            lengths[turn.min(turns)] += ended.iter().sum::<u64>();
        }
        Histogram(lengths)
    }

    /// What it comes to, if anything was seen.
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

/// What the games came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// How many were played.
    pub games: u64,
    /// No human was left.
    pub zombies_win: Share,
    /// Exactly one human was left.
    pub survivor_wins: Share,
    /// At least two humans were left after the last turn.
    pub humans_win: Share,
    /// How many turns a game took.
    pub length: Spread,
    /// The start, and the end of each turn that any game came to. A game that is over counts with how it ended.
    pub turns: Vec<TurnReport>,
}

/// All games at the end of one turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TurnReport {
    /// Turns finished.
    pub turn: usize,
    /// Games that go on.
    pub running: Share,
    /// Who count as human, the infected among them.
    pub humans: Spread,
    /// Zombies.
    pub zombies: Spread,
    /// Who count as human but are infected, as only the judge knows.
    pub infected: Spread,
}

/// How a number is spread over the games.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    #[serde(flatten)]
    pub mean: Estimate,
    /// A quarter of the games has no more.
    pub lower_quartile: Quantile,
    /// Half of the games have no more.
    pub median: Quantile,
    /// Three quarters of the games have no more.
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
