//! A table for two: exact values of two ways to play, round by round, with everything that the players can see.
//!
//! Players see how many rounds are finished, so a turn with the same scores in a later round is another question. The solver
//! follows matches from the start and works out how likely each pair of scores is after each round. Anything less likely than
//! [`NEGLIGIBLE`] counts as a tie.

use super::{Asked, Inexact, Policy, Scores, WinChance, banks, policy_banks};
use crate::{
    table::{Standing, TableSolution},
    turn::{FullGraph, Graph, Spot},
};
use necrodome_rules::{
    game::Seat,
    zombie_dice::{GOAL, Table, TableRules, TableView, Tiebreak, TurnView},
};
use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
    sync::Arc,
};

/// The probability below which a pair of scores is ignored. All ignored pairs together are below 1e-12.
const NEGLIGIBLE: f64 = 1e-15;
/// The last round where no option limits the match: two players who have not ended it by then never will.
const MOST_ROUNDS: u32 = 1000;

/// A turn at a table for two, as the player sees it before the dice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TableTurn {
    /// The player's seat: seat 0 begins each round.
    pub seat: Seat,
    /// The player's banked score.
    pub own: u32,
    /// The other player's banked score.
    pub other: u32,
    /// Rounds finished.
    pub rounds: u32,
    /// Whether this is a tiebreak round.
    pub tiebreak: bool,
}

impl TableTurn {
    fn view(&self, turn: TurnView) -> TableView {
        let second = self.seat.0 == 1;
        TableView {
            turn,
            seat: self.seat,
            scores: if second { vec![self.other, self.own] } else { vec![self.own, self.other] },
            playing: vec![Seat(0), Seat(1)],
            played: second.into(),
            rounds: self.rounds,
            tiebreak: self.tiebreak,
        }
    }
}

/// A way to play at a table for two.
pub trait TablePlayer {
    /// Returns how often a turn banks each number of brains (a lost turn banks none).
    fn banks(&mut self, turn: TableTurn) -> Result<Vec<f64>, Inexact>;

    /// The number of states that it has been asked about.
    fn views(&self) -> usize;
}

/// A policy at a table.
#[derive(Debug)]
pub struct TablePolicy<P> {
    graph: Graph,
    rules: TableRules,
    policy: P,
    views: usize,
}

impl<P: Policy> TablePolicy<P> {
    /// Seats a policy.
    pub fn new(rules: &TableRules, policy: P) -> Self {
        TablePolicy { graph: Graph::new(rules.out_of_dice), rules: *rules, policy, views: 0 }
    }
}

impl<P: Policy> TablePlayer for TablePolicy<P> {
    fn banks(&mut self, turn: TableTurn) -> Result<Vec<f64>, Inexact> {
        let scores = Scores::Table(turn);
        let (banks, views) = policy_banks(&self.graph, self.rules.first_roll, &mut self.policy, scores)?;
        self.views += views;
        Ok(banks)
    }

    fn views(&self) -> usize {
        self.views
    }
}

/// A bot at a table, which decides view by view.
#[derive(Debug)]
pub struct TableBot<B> {
    graph: FullGraph,
    rules: TableRules,
    bot: B,
    views: usize,
}

impl<B: Asked<Table>> TableBot<B> {
    /// Seats a bot.
    pub fn new(rules: &TableRules, bot: B) -> Self {
        TableBot { graph: FullGraph::new(rules.out_of_dice), rules: *rules, bot, views: 0 }
    }
}

impl<B: Asked<Table>> TablePlayer for TableBot<B> {
    fn banks(&mut self, turn: TableTurn) -> Result<Vec<f64>, Inexact> {
        let show = |dice| turn.view(dice);
        let (banks, views) = banks(&self.graph, self.rules.first_roll, &mut self.bot, show, &mut |_| {})?;
        self.views += views;
        Ok(banks)
    }

    fn views(&self) -> usize {
        self.views
    }
}

/// The perfect player at a table, who does not count rounds.
#[derive(Debug)]
pub struct PerfectAtTable {
    solution: Arc<TableSolution>,
    rules: TableRules,
    /// The turns that have come up.
    known: HashMap<TableTurn, Vec<f64>>,
}

impl PerfectAtTable {
    /// Seats the perfect player.
    pub fn new(rules: &TableRules, solution: Arc<TableSolution>) -> Self {
        PerfectAtTable { solution, rules: *rules, known: HashMap::new() }
    }

    fn plays(&self, turn: TableTurn) -> Vec<f64> {
        let scores = if turn.seat.0 == 1 { [turn.other, turn.own] } else { [turn.own, turn.other] };
        // Further behind than solutions look there is nothing to win.
        let Ok(standing) = Standing::of(turn.seat, scores, turn.tiebreak) else { return vec![1.0] };
        let prices = self.solution.prices(standing);
        let decide = |spots: &[Spot]| {
            Ok::<_, Infallible>(spots.iter().map(|&spot| f64::from(u8::from(prices.rolls(spot)))).collect())
        };
        match self.solution.graph().banks(self.rules.first_roll, decide) {
            Ok(banks) => banks,
            Err(never) => match never {},
        }
    }
}

impl TablePlayer for PerfectAtTable {
    fn banks(&mut self, turn: TableTurn) -> Result<Vec<f64>, Inexact> {
        let turn = TableTurn { rounds: 0, ..turn };
        if let Some(known) = self.known.get(&turn) {
            return Ok(known.clone());
        }
        let plays = self.plays(turn);
        self.known.insert(turn, plays.clone());
        Ok(plays)
    }

    fn views(&self) -> usize {
        0
    }
}

/// Works out the chance of one player against another in both seats; `progress` is called with the share of the matches that
/// is played out.
pub fn table(
    rules: &TableRules,
    one: &mut dyn TablePlayer,
    other: &mut dyn TablePlayer,
    progress: &mut dyn FnMut(f64),
) -> Result<WinChance, Inexact> {
    let first = duel(rules, [one, other], &mut |share| progress(share / 2.0))?;
    let second = 1.0 - duel(rules, [other, one], &mut |share| progress((1.0 + share) / 2.0))?;
    Ok(WinChance { first, second, mean: (first + second) / 2.0 })
}

/// Both scores after a turn, and whether the round is a tiebreak.
type Standings = BTreeMap<(u32, u32, bool), f64>;

/// The chance of the player who sits first.
fn duel(
    rules: &TableRules,
    [first, second]: [&mut dyn TablePlayer; 2],
    progress: &mut dyn FnMut(f64),
) -> Result<f64, Inexact> {
    let mut won = 0.0;
    let mut open = Standings::from([((0, 0, false), 1.0)]);
    for rounds in 0.. {
        let left: f64 = open.values().sum();
        progress(1.0 - left);
        if left == 0.0 {
            break;
        }
        if rounds == MOST_ROUNDS && rules.max_rounds.is_none() {
            return Err(Inexact::Endless);
        }
        let mut between = Standings::new();
        for ((a, b, tiebreak), mass) in open {
            let turn = TableTurn { seat: Seat(0), own: a, other: b, rounds, tiebreak };
            for (brains, chance) in (0..).zip(first.banks(turn)?) {
                *between.entry((a + brains, b, tiebreak)).or_default() += mass * chance;
            }
        }
        won += forget(&mut between);
        open = Standings::new();
        let last = rules.max_rounds.is_some_and(|max| rounds + 1 == max.get());
        for ((a, b, tiebreak), mass) in between {
            let turn = TableTurn { seat: Seat(1), own: b, other: a, rounds, tiebreak };
            for (brains, chance) in (0..).zip(second.banks(turn)?) {
                let b = b + brains;
                let reached = a.max(b) >= GOAL;
                let played_out = tiebreak && rules.tiebreak == Tiebreak::OneRound;
                if last || reached && (a != b || played_out) {
                    won += mass * chance * share(a, b);
                } else {
                    *open.entry((a, b, reached)).or_default() += mass * chance;
                }
            }
        }
        won += forget(&mut open);
    }
    Ok(won)
}

/// The value of these final scores to the first player.
fn share(a: u32, b: u32) -> f64 {
    if a == b { 0.5 } else { f64::from(u8::from(a > b)) }
}

/// Drops results that are too unlikely to matter; returns their value to the first player.
fn forget(standings: &mut Standings) -> f64 {
    let mut forgotten = 0.0;
    standings.retain(|_, mass| {
        let keeps = *mass >= NEGLIGIBLE;
        forgotten += if keeps { 0.0 } else { *mass };
        keeps
    });
    forgotten / 2.0
}
