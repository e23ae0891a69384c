//! The table for two: rounds, a last round when somebody has 13, tiebreaks.
//!
//! The first player of a round and the second play different games. The first may reach 13 and must then wait for
//! the second's last turn, so they want a lead; the second wins on the spot with 13 if the first has less, and otherwise
//! has one turn to catch up. A shared win counts one half.

use crate::{
    equation::fixed_point,
    position::Impossible,
    solution::Worth,
    turn::{Dual, Ends, Graph, LEAST_BUST, Layers, TurnPrices, TurnValues, Work, evaluate, lay_side_by_side},
};
use necrodome_rules::{
    game::Seat,
    words::count,
    zombie_dice::{FirstRoll, GOAL, OutOfDice, Tiebreak},
};
use rayon::prelude::*;

/// The number of scores at which a round is not the last.
const SCORES: usize = GOAL as usize;

/// Whose turn it is, and how things stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The first player of the round moves; both have less than 13.
    First {
        /// Their score.
        own: u32,
        /// The other's score.
        other: u32,
    },
    /// The second player of the round moves; both have less than 13.
    Second {
        /// Their score.
        own: u32,
        /// The other's score.
        other: u32,
    },
    /// The first player has reached 13: it is the second's last turn, at least 1 brain behind.
    Chase {
        /// Brains behind.
        behind: u32,
    },
    /// A tiebreak round begins.
    TiebreakFirst,
    /// The second player's turn in a tiebreak round, behind the first by this much.
    TiebreakSecond {
        /// Brains behind.
        behind: u32,
    },
}

/// The table for two, solved.
#[derive(Debug)]
pub struct TableSolution {
    graph: Graph,
    /// The turns by the mover's score and the other's.
    first: Vec<TurnValues>,
    second: Vec<TurnValues>,
    chase: Chase,
    tiebreak_first: TurnValues,
    tiebreak_chase: Chase,
}

/// The last turn of a round, when the other player has already finished theirs: one evaluation for every deficit, since
/// only the brains that are still missing matter.
#[derive(Debug)]
struct Chase {
    /// The largest deficit in a chase.
    furthest: u32,
    /// The turn of a player who is behind; it begins with `furthest - behind` brains.
    behind: TurnValues,
    /// The turn of a player who is level: a lost turn is a tie, too.
    level: TurnValues,
}

/// The largest deficit that matters in a chase. A turn that ends with the dice has at most 13 brains, so the chances beyond are
/// exactly 0; with recycling the chance to bank more than this is below 1e-22, less than any rounding error.
fn furthest(out_of_dice: OutOfDice) -> u32 {
    match out_of_dice {
        OutOfDice::EndTurn => 13 + GOAL,
        OutOfDice::RecycleBrains => 100,
    }
}

/// The values of the ends of a chase if a tie is worth `tie`.
fn chase_ends(furthest: u32, tie: Dual) -> Vec<Dual> {
    let mut banked = vec![[0.0; 2]; furthest as usize];
    banked.extend([tie, [1.0, 0.0]]);
    banked
}

/// The chance to catch up, by brains behind, if a tie is worth `tie`.
fn chase_chances(
    graph: &Graph,
    first_roll: FirstRoll,
    furthest: u32,
    tie: Dual,
    work: &mut Work,
) -> Vec<Dual> {
    let banked = chase_ends(furthest, tie);
    let ends = Ends { banked: &banked, bust: [0.0; 2], caps: [furthest + 1; 3], layers: Layers::Every };
    let mut chances = evaluate(graph, &ends, first_roll, work, None);
    chances.reverse();
    let level = Ends { banked: &[tie, [1.0, 0.0]], bust: tie, caps: [1; 3], layers: Layers::Turn };
    chances[0] = evaluate(graph, &level, first_roll, work, None)[0];
    chances
}

impl Chase {
    fn new(graph: &Graph, first_roll: FirstRoll, furthest: u32, tie: f64, work: &mut Work) -> Self {
        let tie = [tie, 0.0];
        let banked = chase_ends(furthest, tie);
        let ends = Ends { banked: &banked, bust: [0.0; 2], caps: [furthest + 1; 3], layers: Layers::Every };
        let behind = TurnValues::chances(graph, &ends, first_roll, work);
        let level = Ends { banked: &[tie, [1.0, 0.0]], bust: tie, caps: [1; 3], layers: Layers::Turn };
        let level = TurnValues::chances(graph, &level, first_roll, work);
        Chase { furthest, behind, level }
    }

    #[inline]
    fn prices<'a>(&'a self, graph: &'a Graph, behind: u32) -> TurnPrices<'a> {
        match behind {
            0 => self.level.prices(graph),
            _ => TurnPrices {
                shift: i64::from(self.furthest) - i64::from(behind),
                ..self.behind.prices(graph)
            },
        }
    }

    fn chances(&self) -> Vec<f64> {
        let mut chances: Vec<f64> = self.behind.starts.iter().rev().copied().collect();
        chances[0] = self.level.starts[0];
        chances
    }
}

impl TableSolution {
    /// The value of a turn at these scores, for the first player of the round or the second.
    pub(crate) fn worth(&self, scores: Option<[u32; 2]>, seat: Option<Seat>) -> Result<Worth, Impossible> {
        let ([own, other], seat) = (scores.unwrap_or([0; 2]), seat.unwrap_or(Seat(0)));
        let (who, scores) = if seat.0 == 0 { ("first", [own, other]) } else { ("second", [other, own]) };
        let standing = Standing::of(seat, scores, own >= GOAL && other >= GOAL)?;
        let meaning = match standing {
            Standing::First { .. } | Standing::Second { .. } => {
                format!(
                    "chance to win for the player to move, {who} in the round, with {own} against {other}"
                )
            }
            Standing::Chase { behind } => {
                let behind = count(behind, "brain");
                format!("chance to win for the {who} in the round, with one turn left and {behind} behind")
            }
            Standing::TiebreakFirst => "chance to win for the first in a tiebreak round".to_owned(),
            Standing::TiebreakSecond { behind } => {
                format!("chance to win for the second in a tiebreak round, {} behind", count(behind, "brain"))
            }
        };
        Ok(Worth::new(self.prices(standing).start(), meaning))
    }

    /// Solves the table.
    pub fn new(out_of_dice: OutOfDice, first_roll: FirstRoll, tiebreak: Tiebreak) -> Self {
        let graph = Graph::new(out_of_dice);
        let work = &mut Work::default();
        let furthest = furthest(out_of_dice);
        // The first's chance in a tiebreak round, if a tie after it is worth `tie` to the first.
        let tiebreak_round = |tie: Dual, work: &mut Work| {
            let chances = chase_chances(&graph, first_roll, furthest, [1.0 - tie[0], -tie[1]], work);
            let banked: Vec<Dual> = chances.iter().map(|chance| [1.0 - chance[0], -chance[1]]).collect();
            let ends = lead_ends(&banked, 0, chances[0][0], |lead| chances[lead][0]);
            evaluate(&graph, &ends, first_roll, work, None)[0]
        };
        let tie_in_tiebreak = match tiebreak {
            Tiebreak::OneRound => 0.5,
            Tiebreak::UntilBroken => fixed_point(0.5, |tie| tiebreak_round([tie, 1.0], work)),
        };
        let tiebreak_chase = Chase::new(&graph, first_roll, furthest, 1.0 - tie_in_tiebreak, work);
        let chances = tiebreak_chase.chances();
        let banked: Vec<Dual> = chances.iter().map(|chance| [1.0 - chance, 0.0]).collect();
        let ends = lead_ends(&banked, 0, chances[0], |lead| chances[lead]);
        let tiebreak_first = TurnValues::chances(&graph, &ends, first_roll, work);
        let chase = Chase::new(&graph, first_roll, furthest, 1.0 - tiebreak_first.starts[0], work);

        let rounds = Rounds::new(&graph, first_roll, chase.chances(), work);
        let (first, second) = rounds.solve();
        let mut solution = TableSolution { graph, first, second, chase, tiebreak_first, tiebreak_chase };
        let TableSolution { graph, first, second, chase, tiebreak_first, tiebreak_chase } = &mut solution;
        let chases =
            [chase, tiebreak_chase].into_iter().flat_map(|chase| [&mut chase.behind, &mut chase.level]);
        lay_side_by_side(graph, first.iter_mut().chain(second).chain([tiebreak_first]).chain(chases));
        solution
    }

    /// The price of every choice in a turn.
    #[inline]
    pub fn prices(&self, standing: Standing) -> TurnPrices<'_> {
        let at = |own: u32, other: u32| own as usize * SCORES + other as usize;
        match standing {
            Standing::First { own, other } => self.first[at(own, other)].prices(&self.graph),
            Standing::Second { own, other } => self.second[at(own, other)].prices(&self.graph),
            Standing::Chase { behind } => self.chase.prices(&self.graph, behind),
            Standing::TiebreakFirst => self.tiebreak_first.prices(&self.graph),
            Standing::TiebreakSecond { behind } => self.tiebreak_chase.prices(&self.graph, behind),
        }
    }

    /// The positions of a turn.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The layers that have values at any score.
    pub(crate) fn extras(&self) -> Vec<u32> {
        let turns = self.first.iter().chain(&self.second).chain([&self.tiebreak_first]);
        turns.map(TurnValues::extras).max_by_key(Vec::len).unwrap_or_default()
    }

    /// The number of positions with a value of their own.
    pub fn positions(&self) -> usize {
        let chases = [&self.chase, &self.tiebreak_chase];
        let chases = chases.into_iter().flat_map(|chase| [&chase.behind, &chase.level]);
        let turns = self.first.iter().chain(&self.second).chain([&self.tiebreak_first]).chain(chases);
        turns.map(TurnValues::positions).sum()
    }
}

/// The ends of the first player's turn, where they stop once their lead is safe enough.
///
/// `from` is the number of brains that ends the rounds (the player reaches 13); `lead(brains)` is the other's
/// chance to catch up then, and `other` a lower bound of the other's chance after a lost turn. Why it is right to stop:
/// a roll busts with at least the probability p of [`LEAST_BUST`], and whatever the player does later, a roll that does not
/// bust is worth at most 1. So rolling is worth at most (1 - p) + p (1 - other) = 1 - p other, and stopping is worth 1 - lead:
/// where `lead <= p other` it is right to stop, and it stays right, since the lead only grows.
fn lead_ends(banked: &[Dual], from: usize, other: f64, lead: impl Fn(usize) -> f64) -> Ends<'_> {
    let caps = LEAST_BUST.map(|bust| {
        let safe = (from..banked.len()).find(|&brains| lead(brains) <= bust * other);
        safe.unwrap_or(banked.len()) as u32
    });
    Ends { banked, bust: banked[0], caps, layers: Layers::Turn }
}

/// The game before the last round.
struct Rounds<'a> {
    graph: &'a Graph,
    first_roll: FirstRoll,
    /// The second player's chance to catch up, by brains behind.
    chase: Vec<f64>,
    /// A lower bound of the second player's chance before their turn, by their score: to reach 13 in this very turn.
    at_once: Vec<f64>,
    /// The first player's chance, by the mover's score and the other's.
    first: [[f64; SCORES]; SCORES],
    second: [[f64; SCORES]; SCORES],
}

impl<'a> Rounds<'a> {
    fn new(graph: &'a Graph, first_roll: FirstRoll, chase: Vec<f64>, work: &mut Work) -> Self {
        let sprint = chase_chances(graph, first_roll, GOAL, [0.0; 2], work);
        let at_once = (0..SCORES).map(|score| sprint[SCORES - 1 - score][0]).collect();
        let zero = [[0.0; SCORES]; SCORES];
        Rounds { graph, first_roll, chase, at_once, first: zero, second: zero }
    }

    /// Works out the values of the first and the second player's turns.
    fn solve(mut self) -> (Vec<TurnValues>, Vec<TurnValues>) {
        let mut turns: [Vec<Option<TurnValues>>; 2] =
            [(); 2].map(|()| (0..SCORES * SCORES).map(|_| None).collect());
        // A turn that banks something leads to a higher total. At one total only the two turns of one round depend on
        // each other: by two lost turns.
        for total in (0..2 * SCORES - 1).rev() {
            let pairs: Vec<(usize, usize)> =
                (0..SCORES).filter(|&a| (a..a + SCORES).contains(&total)).map(|a| (a, total - a)).collect();
            let done: Vec<_> = pairs
                .into_par_iter()
                .map_init(Work::default, |work, (a, b)| (a, b, self.solve_pair(a, b, work)))
                .collect();
            for (a, b, [first, second]) in done {
                self.first[a][b] = first.starts[0];
                self.second[b][a] = second.starts[0];
                turns[0][a * SCORES + b] = Some(first);
                turns[1][b * SCORES + a] = Some(second);
            }
        }
        let [first, second] = turns.map(|turns| turns.into_iter().flatten().collect());
        (first, second)
    }

    /// The values of the ends of the first player's turn at a to b.
    fn first_banked(&self, a: usize, b: usize, lost: Dual) -> Vec<Dual> {
        let end = |brains: usize| match a + brains {
            _ if brains == 0 => lost,
            score if score < SCORES => [1.0 - self.second[b][score], 0.0],
            score => [1.0 - self.catch_up(score - b), 0.0],
        };
        (0..self.chase.len() + SCORES).map(end).collect()
    }

    fn catch_up(&self, behind: usize) -> f64 {
        self.chase.get(behind).copied().unwrap_or(0.0)
    }

    fn first_ends<'b>(&self, a: usize, b: usize, banked: &'b [Dual]) -> Ends<'b> {
        lead_ends(banked, SCORES - a, self.at_once[b], |brains| self.catch_up(a + brains - b))
    }

    /// The values of the ends of the second player's turn at b to a: with 13 they win, since the first has less.
    fn second_banked(&self, a: usize, b: usize, lost: Dual) -> Vec<Dual> {
        crate::race::ends_at(|score| self.first[a][score], b, lost)
    }

    fn solve_pair(&self, a: usize, b: usize, work: &mut Work) -> [TurnValues; 2] {
        // The first's chance by the second's after a lost turn, and the second's by the first's.
        let first = |second: f64, work: &mut Work| {
            let banked = self.first_banked(a, b, [1.0 - second, -1.0]);
            let ends = self.first_ends(a, b, &banked);
            evaluate(self.graph, &ends, self.first_roll, work, None)[0]
        };
        let second = |first: f64, work: &mut Work| {
            let banked = self.second_banked(a, b, [1.0 - first, -1.0]);
            evaluate(self.graph, &crate::race::ends(&banked, b), self.first_roll, work, None)[0]
        };
        let chance = fixed_point(0.5, |chance| {
            let [first, first_slope] = first(chance, work);
            let [second, second_slope] = second(first, work);
            [second, first_slope * second_slope]
        });
        let [lost, _] = first(chance, work);
        let banked = self.first_banked(a, b, [1.0 - chance, 0.0]);
        let ends = self.first_ends(a, b, &banked);
        let first = TurnValues::chances(self.graph, &ends, self.first_roll, work);
        let banked = self.second_banked(a, b, [1.0 - lost, 0.0]);
        let ends = crate::race::ends(&banked, b);
        [first, TurnValues::chances(self.graph, &ends, self.first_roll, work)]
    }
}
