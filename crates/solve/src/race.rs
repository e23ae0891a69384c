//! The race, solved: the mover's chance to win at every pair of scores, in every position of a turn.

use crate::{
    equation::fixed_point,
    position::{Impossible, race_goes_on, refuse},
    solution::Worth,
    turn::{Dual, Ends, Graph, Layers, TurnPrices, TurnValues, Work, evaluate, lay_side_by_side},
};
use necrodome_rules::{
    catalog::Listed,
    game::Seat,
    zombie_dice::{FirstRoll, GOAL, OutOfDice, Race},
};
use rayon::prelude::*;

/// The number of scores at which the race is not over.
const SCORES: usize = GOAL as usize;

/// The race, solved.
#[derive(Debug)]
pub struct RaceSolution {
    graph: Graph,
    /// The turns by the mover's score and the other's.
    turns: Vec<TurnValues>,
}

/// The mover's chance, by both scores.
pub(crate) type Chances = [[f64; SCORES]; SCORES];

impl RaceSolution {
    /// Solves the race.
    pub fn new(out_of_dice: OutOfDice, first_roll: FirstRoll) -> Self {
        let graph = Graph::new(out_of_dice);
        let mut chances: Chances = [[0.0; SCORES]; SCORES];
        let mut solved: Vec<Option<TurnValues>> = (0..SCORES * SCORES).map(|_| None).collect();
        // A turn that banks something leads to a higher total, so the totals are solved from the highest down. At one
        // total only (a, b) and (b, a) depend on each other: by a lost turn.
        for total in (0..2 * SCORES - 1).rev() {
            let pairs = (0..=total / 2).filter(|low| total - low < SCORES).map(|low| (low, total - low));
            let pairs: Vec<(usize, usize)> = pairs.collect();
            let done: Vec<_> = pairs
                .into_par_iter()
                .map_init(Work::default, |work, (a, b)| {
                    (a, b, solve_pair(&graph, first_roll, &chances, a, b, work))
                })
                .collect();
            for (a, b, [low, high]) in done {
                chances[a][b] = low.starts[0];
                chances[b][a] = high.starts[0];
                solved[b * SCORES + a] = Some(high);
                solved[a * SCORES + b] = Some(low);
            }
        }
        let mut turns: Vec<TurnValues> = solved.into_iter().flatten().collect();
        lay_side_by_side(&graph, turns.iter_mut());
        RaceSolution { graph, turns }
    }

    /// The mover's chance before the turn, by both scores (below 13).
    pub fn value(&self, own: u32, other: u32) -> f64 {
        self.prices(own, other).start()
    }

    /// The value of a turn at these scores; both seats have the same values.
    pub(crate) fn worth(&self, scores: Option<[u32; 2]>, seat: Option<Seat>) -> Result<Worth, Impossible> {
        if seat.is_some() {
            return refuse(format!("{} has the same value in both seats: the mover's", Race::ID));
        }
        let [own, other] = scores.unwrap_or([0; 2]);
        race_goes_on(own, other)?;
        let meaning =
            format!("chance to win for the player to move, with {own} brains banked against {other}");
        Ok(Worth::new(self.value(own, other), meaning))
    }

    /// The price of every choice in a turn at these scores (below 13).
    #[inline]
    pub fn prices(&self, own: u32, other: u32) -> TurnPrices<'_> {
        self.turns[own as usize * SCORES + other as usize].prices(&self.graph)
    }

    /// The positions of a turn.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The layers that have values at any score.
    pub(crate) fn extras(&self) -> Vec<u32> {
        self.turns.iter().map(TurnValues::extras).max_by_key(Vec::len).unwrap_or_default()
    }

    /// The number of positions with a value of their own.
    pub fn positions(&self) -> usize {
        self.turns.iter().map(TurnValues::positions).sum()
    }
}

/// The values of the ends of a turn at `own` to `other`, if a turn that banks nothing is worth `lost`.
pub(crate) fn ends_at(next: impl Fn(usize) -> f64, own: usize, lost: Dual) -> Vec<Dual> {
    let end = |brains: usize| match own + brains {
        _ if brains == 0 => lost,
        score if score >= SCORES => [1.0, 0.0],
        score => [1.0 - next(score), 0.0],
    };
    (0..=SCORES - own).map(end).collect()
}

pub(crate) fn ends<'a>(banked: &'a [Dual], own: usize) -> Ends<'a> {
    // A player who can win by stopping stops.
    Ends { banked, bust: banked[0], caps: [(SCORES - own) as u32; 3], layers: Layers::Turn }
}

fn solve_pair(
    graph: &Graph,
    first_roll: FirstRoll,
    chances: &Chances,
    a: usize,
    b: usize,
    work: &mut Work,
) -> [TurnValues; 2] {
    // The chance at `own` to `other`, if the other's chance after a lost turn is `theirs`, and its slope by `theirs`.
    let turn = |own: usize, other: usize, theirs: f64, work: &mut Work| {
        let banked = ends_at(|score| chances[other][score], own, [1.0 - theirs, -1.0]);
        evaluate(graph, &ends(&banked, own), first_roll, work, None)[0]
    };
    let chance_b = fixed_point(0.5, |chance_b| {
        let [chance_a, slope_a] = turn(a, b, chance_b, work);
        let [chance_b, slope_b] = turn(b, a, chance_a, work);
        [chance_b, slope_a * slope_b]
    });
    let [chance_a, _] = turn(a, b, chance_b, work);
    let mut final_turn = |own: usize, other: usize, theirs: f64| {
        let banked = ends_at(|score| chances[other][score], own, [1.0 - theirs, 0.0]);
        TurnValues::chances(graph, &ends(&banked, own), first_roll, work)
    };
    [final_turn(a, b, chance_b), final_turn(b, a, chance_a)]
}
