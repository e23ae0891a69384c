//! Whole policies as arrays, for programs that load tables.

use crate::{
    race::RaceSolution,
    solo::SoloSolution,
    table::{Standing, TableSolution},
    turn::{Graph, TurnPrices},
};
use necrodome_rules::zombie_dice::GOAL;

/// An array with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Its name.
    pub name: &'static str,
    /// Its shape; the last index varies fastest.
    pub shape: Vec<u64>,
    /// Its elements.
    pub data: Data,
}

/// The elements of an array.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Data {
    U8(Vec<u8>),
    U16(Vec<u16>),
    F64(Vec<f64>),
}

fn states(graph: &Graph) -> Array {
    let columns = graph.columns();
    let shape = vec![graph.len() as u64, (columns.len() / graph.len()) as u64];
    Array { name: "states", shape, data: Data::U8(columns) }
}

fn layers(extras: &[u32]) -> Array {
    let data = Data::U16(extras.iter().map(|&extra| extra as u16).collect());
    Array { name: "gone_back", shape: vec![extras.len() as u64], data }
}

/// The policies of many turns, and their values before the first roll.
fn policies<'a>(
    names: [&'static str; 2],
    turns: &[TurnPrices<'a>],
    shape: &[u64],
    extras: &[u32],
    graph: &Graph,
) -> [Array; 2] {
    let rolls = turns.iter().flat_map(|turn| turn.policy(extras)).collect();
    let values = turns.iter().map(|turn| turn.start()).collect();
    let inner = [extras.len() as u64, graph.len() as u64];
    [
        Array { name: names[0], shape: [shape, &inner].concat(), data: Data::U8(rolls) },
        Array { name: names[1], shape: shape.to_vec(), data: Data::F64(values) },
    ]
}

fn all_scores() -> impl Iterator<Item = (u32, u32)> {
    (0..GOAL).flat_map(|own| (0..GOAL).map(move |other| (own, other)))
}

const SCORES: u64 = GOAL as u64;

impl SoloSolution {
    /// Exports the whole policy.
    pub fn arrays(&self) -> Vec<Array> {
        let extras = self.extras();
        let turns = policies(["roll", "value"], &[self.prices()], &[], &extras, self.graph());
        let distribution = self.distribution();
        let shape = vec![distribution.len() as u64];
        let scores = Array { name: "score_probability", shape, data: Data::F64(distribution) };
        [states(self.graph()), layers(&extras), scores].into_iter().chain(turns).collect()
    }
}

impl RaceSolution {
    /// Exports the whole policy.
    pub fn arrays(&self) -> Vec<Array> {
        let extras = self.extras();
        let turns: Vec<TurnPrices> = all_scores().map(|(own, other)| self.prices(own, other)).collect();
        let turns = policies(["roll", "value"], &turns, &[SCORES, SCORES], &extras, self.graph());
        [states(self.graph()), layers(&extras)].into_iter().chain(turns).collect()
    }
}

impl TableSolution {
    /// Exports the whole policy.
    pub fn arrays(&self) -> Vec<Array> {
        let (graph, extras) = (self.graph(), self.extras());
        let scores = [SCORES, SCORES];
        let prices = |standing: &dyn Fn(u32, u32) -> Standing| -> Vec<TurnPrices> {
            all_scores().map(|(own, other)| self.prices(standing(own, other))).collect()
        };
        let first = prices(&|own, other| Standing::First { own, other });
        let second = prices(&|own, other| Standing::Second { own, other });
        let behind = 0..2 * GOAL;
        let chase: Vec<TurnPrices> =
            behind.clone().map(|behind| self.prices(Standing::Chase { behind })).collect();
        let tiebreak: Vec<TurnPrices> =
            behind.map(|behind| self.prices(Standing::TiebreakSecond { behind })).collect();
        let tiebreak_first = [self.prices(Standing::TiebreakFirst)];
        let mut arrays = vec![states(graph), layers(&extras)];
        arrays.extend(policies(["first_roll", "first_value"], &first, &scores, &extras, graph));
        arrays.extend(policies(["second_roll", "second_value"], &second, &scores, &extras, graph));
        arrays.extend(policies(["chase_roll", "chase_value"], &chase, &[2 * SCORES], &extras, graph));
        let names = ["tiebreak_first_roll", "tiebreak_first_value"];
        arrays.extend(policies(names, &tiebreak_first, &[], &extras, graph));
        let names = ["tiebreak_second_roll", "tiebreak_second_value"];
        arrays.extend(policies(names, &tiebreak, &[2 * SCORES], &extras, graph));
        arrays
    }
}
