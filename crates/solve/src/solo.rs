//! Solo: the perfect way to play a single turn.

use crate::{
    position::{Impossible, refuse},
    solution::Worth,
    turn::{Banked, Ends, Graph, LEAST_BUST, Layers, TurnPrices, TurnValues, Work},
};
use necrodome_rules::{
    catalog::Listed,
    game::Seat,
    zombie_dice::{OutOfDice, Solo, SoloRules},
};

/// Solo, solved.
#[derive(Debug)]
pub struct SoloSolution {
    rules: SoloRules,
    graph: Graph,
    turn: TurnValues,
}

impl SoloSolution {
    /// Solves solo.
    pub fn new(rules: &SoloRules) -> Self {
        let graph = Graph::new(rules.out_of_dice);
        let caps = caps(rules.out_of_dice);
        let banked: Vec<_> = (0..caps[0] + 16).map(|brains| [f64::from(brains), 0.0]).collect();
        let ends = Ends { banked: &banked, bust: [0.0; 2], caps, layers: Layers::Turn };
        let turn = TurnValues::new(&graph, &ends, rules.first_roll, &mut Work::default(), Banked::Points);
        SoloSolution { rules: *rules, graph, turn }
    }

    /// The expected score under perfect play.
    pub fn value(&self) -> f64 {
        self.turn.starts[0]
    }

    /// The value of the turn; there are no scores or seats to choose.
    pub(crate) fn worth(&self, scores: Option<[u32; 2]>, seat: Option<Seat>) -> Result<Worth, Impossible> {
        if scores.is_some() || seat.is_some() {
            return refuse(format!("{} is one turn of one player, without scores and seats", Solo::ID));
        }
        let worth = Worth::new(self.value(), "expected score of a perfect player");
        Ok(Worth { distribution: Some(self.distribution()), ..worth })
    }

    /// The probability of each final score under perfect play.
    pub fn distribution(&self) -> Vec<f64> {
        self.turn.distribution(&self.graph, self.rules.first_roll)
    }

    /// The price of every choice in the turn.
    pub fn prices(&self) -> TurnPrices<'_> {
        self.turn.prices(&self.graph)
    }

    /// The positions of the turn.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The number of positions with a value of their own.
    pub fn positions(&self) -> usize {
        self.turn.positions()
    }

    /// The layers that have values.
    pub(crate) fn extras(&self) -> Vec<u32> {
        self.turn.extras()
    }

    /// The rules.
    pub fn rules(&self) -> &SoloRules {
        &self.rules
    }
}

/// The number of brains, by shotguns, with which it is right to stop, whatever else is on the table.
///
/// A turn that ends when the dice run out never holds more than thirteen brains. With recycling there is no such limit, but
/// the following argument gives one. A roll brings at most 3 x 1/2 = 1.5 brains on average (no die has more than three brains on
/// six sides), and loses all B brains with at least the probability `p` of [`LEAST_BUST`]. So with B >= 1.5 / p the expected
/// score after one more roll is at most B. Neither brains nor shotguns ever become fewer, and `p` grows with the shotguns, so
/// the same holds ever after: from there on the score to be banked is a supermartingale that is never negative, and no
/// rule for stopping does better on average than to stop at once. The cap is exact, not an approximation.
fn caps(out_of_dice: OutOfDice) -> [u32; 3] {
    match out_of_dice {
        OutOfDice::EndTurn => [14; 3],
        OutOfDice::RecycleBrains => LEAST_BUST.map(|bust| (1.5 / bust).ceil() as u32),
    }
}
