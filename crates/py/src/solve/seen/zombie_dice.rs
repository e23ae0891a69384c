//! Zombie Dice: where a turn stands, by its dice and the scores.

use super::{Seen, score};
use necrodome_rules::{
    game::Seat,
    zombie_dice::{
        Colour, Counts, DICE, GOAL, OutOfDice, Race, RaceRules, Solo, SoloRules, Table, TableRules, TableView,
    },
};
use necrodome_solve::{
    Graph, Impossible, Position, RaceSolution, SoloSolution, Spot, Standing, TableSolution, TurnPrices,
    for_two,
};

/// Three counts of dice by colour.
fn counts(numbers: &[i16]) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for (colour, &number) in Colour::ALL.into_iter().zip(numbers) {
        counts[colour] = u8::try_from(number)
            .ok()
            .filter(|&count| count <= DICE[colour])
            .ok_or_else(|| format!("{number} dice of a colour that has {}", DICE[colour]))?;
    }
    Ok(counts)
}

/// How many numbers of a row tell the turn; those behind them tell the scores.
pub fn turn_width(out_of_dice: OutOfDice) -> usize {
    match out_of_dice {
        OutOfDice::EndTurn => 8,
        OutOfDice::RecycleBrains => 11,
    }
}

/// Where a turn stands; none if it is over.
fn spot(graph: &Graph, row: &[i16]) -> Result<Option<Spot>, String> {
    let [brains, shotguns] = [row[0], row[1]];
    let brains = u32::try_from(brains).map_err(|_| format!("{brains} brains"))?;
    let shotguns = u8::try_from(shotguns).map_err(|_| format!("{shotguns} shotguns"))?;
    let (cup, feet) = (counts(&row[2..5])?, counts(&row[5..8])?);
    let mut room = Counts::default();
    for colour in Colour::ALL {
        let used = cup[colour] + feet[colour];
        room[colour] = DICE[colour].checked_sub(used).ok_or("more dice of a colour than there are")?;
    }
    let mut shots = Counts::default();
    match graph.out_of_dice() {
        // Their colours are not told and do not matter: any that there are dice for.
        OutOfDice::EndTurn => {
            let mut left = shotguns;
            for colour in Colour::ALL {
                shots[colour] = left.min(room[colour]);
                left -= shots[colour];
            }
            let dice = brains + u32::from(shotguns) + u32::from(cup.total() + feet.total());
            if left > 0 || dice != u32::from(DICE.total()) {
                return Err(format!("{dice} dice, not {}", DICE.total()));
            }
        }
        OutOfDice::RecycleBrains => {
            let aside = counts(&row[8..11])?;
            for colour in Colour::ALL {
                shots[colour] =
                    room[colour].checked_sub(aside[colour]).ok_or("more dice of a colour than there are")?;
            }
            if shots.total() != shotguns {
                return Err(format!("the other dice leave {} shotguns, not {shotguns}", shots.total()));
            }
        }
    }
    if shotguns >= 3 || cup.total() + feet.total() < 3 {
        return Ok(None);
    }
    let position = Position { cup, feet, shots, brains };
    graph.find(&position).map(Some).map_err(|why| why.to_string())
}

/// Stop is 0, go is 1.
fn price(prices: TurnPrices<'_>, spot: Spot, brains: i16, out: &mut [f64]) {
    out.copy_from_slice(&[prices.banked(brains.unsigned_abs().into()), prices.go(spot)]);
}

macro_rules! dice {
    ($rules:ty, $solution:ty) => {
        fn values(_: &$rules, solution: &$solution, row: &[i16], out: &mut [f64]) -> Result<(), String> {
            if let Some((prices, spot)) = Self::at(solution, row)? {
                price(prices, spot, row[0], out);
            }
            Ok(())
        }

        fn best(_: &$rules, solution: &$solution, row: &[i16]) -> Result<u8, String> {
            let at = Self::at(solution, row)?;
            Ok(at.is_some_and(|(prices, spot)| prices.rolls(spot)).into())
        }
    };
}

/// A format of Zombie Dice.
trait Dice {
    type Solved;

    /// The prices of the turn, and where it stands; none if nothing can be decided.
    fn at<'a>(solution: &'a Self::Solved, row: &[i16]) -> Result<Option<(TurnPrices<'a>, Spot)>, String>;
}

impl Dice for Solo {
    type Solved = SoloSolution;

    fn at<'a>(solution: &'a SoloSolution, row: &[i16]) -> Result<Option<(TurnPrices<'a>, Spot)>, String> {
        Ok(spot(solution.graph(), row)?.map(|spot| (solution.prices(), spot)))
    }
}

impl Dice for Race {
    type Solved = RaceSolution;

    fn at<'a>(solution: &'a RaceSolution, row: &[i16]) -> Result<Option<(TurnPrices<'a>, Spot)>, String> {
        let scores = &row[turn_width(solution.graph().out_of_dice())..];
        let (own, other) = (score(scores[0])?, score(scores[1])?);
        let spot = spot(solution.graph(), row)?;
        Ok(spot.filter(|_| own < GOAL && other < GOAL).map(|spot| (solution.prices(own, other), spot)))
    }
}

impl Dice for Table {
    type Solved = TableSolution;

    fn at<'a>(solution: &'a TableSolution, row: &[i16]) -> Result<Option<(TurnPrices<'a>, Spot)>, String> {
        let [_, tiebreak, own, turn, other, others_turn] = row[turn_width(solution.graph().out_of_dice())..]
        else {
            return Err("a table for two has two scores".to_owned());
        };
        let spot = spot(solution.graph(), row)?;
        let standing = standing(tiebreak == 1, score(own)?, score(other)?, turn, others_turn)?;
        Ok(spot.zip(standing).map(|(spot, standing)| (solution.prices(standing), spot)))
    }
}

/// How things stand for the one whose turn it is; none if it is not its turn or the match is over.
fn standing(
    tiebreak: bool,
    own: u32,
    other: u32,
    turn: i16,
    others_turn: i16,
) -> Result<Option<Standing>, String> {
    let second = match (turn, others_turn) {
        (2, 1) => false,
        (2, 3) => true,
        (1, 2) | (3, 2) => return Ok(None),
        _ => return Err(format!("turn_0={turn} with turn_1={others_turn}")),
    };
    let over = match tiebreak {
        true => own > other,
        false => own >= GOAL || !second && other >= GOAL,
    };
    if over {
        return Ok(None);
    }
    let scores = if second { [other, own] } else { [own, other] };
    Standing::of(Seat(second.into()), scores, tiebreak).map(Some).map_err(|why| why.to_string())
}

impl Seen for Solo {
    dice!(SoloRules, SoloSolution);
}

impl Seen for Race {
    dice!(RaceRules, RaceSolution);
}

impl Seen for Table {
    fn fits(view: &TableView) -> Result<(), Impossible> {
        for_two::<Table>(view.scores.len(), view.seat)
    }

    dice!(TableRules, TableSolution);
}
