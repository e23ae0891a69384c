//! Zombie Dice: the position of a turn, by its dice and the scores.

use super::{Seen, score};
use necrodome_batch::signals::{BEHIND, Ends, SCORES, TurnFormat, TurnState, TurnTable};
use necrodome_rules::{
    game::Seat,
    zombie_dice::{
        Colour, Counts, DICE, FirstRoll, GOAL, OutOfDice, Race, RaceRules, Solo, SoloRules, Table,
        TableRules, TableView, WIN_REWARD,
    },
};
use necrodome_solve::{
    Graph, Impossible, Position, RaceSolution, SoloSolution, Spot, Standing, TableSolution, TurnPrices,
    for_two,
};

/// Reads three counts of dice by colour.
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

/// The number of numbers in a row that describe the turn; those after them are the scores.
pub fn turn_width(out_of_dice: OutOfDice) -> usize {
    match out_of_dice {
        OutOfDice::EndTurn => 8,
        OutOfDice::RecycleBrains => 11,
    }
}

/// Chooses colours for shotguns whose colours are unknown and do not matter: any dice left in the game. Also returns the number of
/// shotguns for which there are no dice.
fn any_shots(room: Counts, shotguns: u8) -> (Counts, u8) {
    let (mut shots, mut left) = (Counts::default(), shotguns);
    for colour in Colour::ALL {
        shots[colour] = left.min(room[colour]);
        left -= shots[colour];
    }
    (shots, left)
}

/// The spot of a turn that ends with the dice, or `None` if no turn reaches it.
fn spot_of(graph: &Graph, state: &TurnState) -> Option<Spot> {
    let counts = |[green, yellow, red]: [u8; 3]| Counts { green, yellow, red };
    let (cup, feet) = (counts(state.cup), counts(state.feet));
    let mut room = Counts::default();
    for colour in Colour::ALL {
        room[colour] = DICE[colour].checked_sub(cup[colour] + feet[colour])?;
    }
    let (shots, left) = any_shots(room, state.shotguns);
    let position = Position { cup, feet, shots, brains: state.brains.into() };
    graph.spot(&position).filter(|_| left == 0 && cup.total() + feet.total() >= 3)
}

/// The values of all turns side by side.
fn table(
    format: TurnFormat,
    first_roll: FirstRoll,
    graph: &Graph,
    turns: &[TurnPrices<'_>],
) -> Option<TurnTable> {
    if graph.out_of_dice() != OutOfDice::EndTurn {
        return None;
    }
    let go = |state: &TurnState, out: &mut [f32]| {
        if let Some(spot) = spot_of(graph, state) {
            out.iter_mut().zip(turns).for_each(|(out, prices)| *out = prices.go(spot) as f32);
        }
    };
    let stop = |brains, turn: usize| turns[turn].banked(brains);
    Some(TurnTable::new(format, first_roll == FirstRoll::Mandatory, go, stop))
}

/// Prices a first roll that is not optional.
fn price_forced(first_roll: FirstRoll, row: &[i16], values: &mut [f64]) {
    if must_go(first_roll, row) {
        values[0] = values[1];
    }
}

/// The spot of a turn, or `None` if it is over.
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
        OutOfDice::EndTurn => {
            let left;
            (shots, left) = any_shots(room, shotguns);
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

/// Prices the actions: stop is 0, go is 1.
fn price(prices: TurnPrices<'_>, spot: Spot, brains: i16, out: &mut [f64]) {
    out.copy_from_slice(&[prices.banked(brains.unsigned_abs().into()), prices.go(spot)]);
}

/// Whether a row is before a first roll that is mandatory: then the only legal action is to go.
fn must_go(first_roll: FirstRoll, row: &[i16]) -> bool {
    // Nothing is set aside while all dice are in the cup; thirteen brains can all be back in it.
    first_roll == FirstRoll::Mandatory
        && row[0] == 0
        && row[2..5].iter().sum::<i16>() == i16::from(DICE.total())
}

macro_rules! dice {
    ($rules:ty, $solution:ty, $format:expr) => {
        fn turn_table(rules: &$rules, solution: &$solution) -> Option<TurnTable> {
            table($format, rules.first_roll, solution.graph(), &Self::turns(solution))
        }

        fn price_illegal(rules: &$rules, row: &[i16], values: &mut [f64]) {
            price_forced(rules.first_roll, row, values);
        }

        fn values(rules: &$rules, solution: &$solution, row: &[i16], out: &mut [f64]) -> Result<(), String> {
            if let Some((prices, spot)) = Self::at(solution, row)? {
                price(prices, spot, row[0], out);
                if must_go(rules.first_roll, row) {
                    out[0] = f64::NAN;
                }
            }
            Ok(())
        }

        fn best(rules: &$rules, solution: &$solution, row: &[i16]) -> Result<u8, String> {
            let at = Self::at(solution, row)?;
            let goes =
                |(prices, spot): (TurnPrices<'_>, Spot)| must_go(rules.first_roll, row) || prices.rolls(spot);
            Ok(at.is_some_and(goes).into())
        }
    };
}

/// A format of Zombie Dice.
trait Dice {
    type Solved;

    /// The prices of the turn, and its spot, or `None` if there is no decision.
    fn at<'a>(solution: &'a Self::Solved, row: &[i16]) -> Result<Option<(TurnPrices<'a>, Spot)>, String>;

    /// The prices of all turns, in the order of [`TurnFormat`].
    fn turns(solution: &Self::Solved) -> Vec<TurnPrices<'_>>;
}

/// Both scores of a turn, the mover's first.
fn squares() -> impl Iterator<Item = (u32, u32)> {
    let scores = 0..SCORES as u32;
    scores.clone().flat_map(move |own| scores.clone().map(move |other| (own, other)))
}

impl Dice for Solo {
    type Solved = SoloSolution;

    fn at<'a>(solution: &'a SoloSolution, row: &[i16]) -> Result<Option<(TurnPrices<'a>, Spot)>, String> {
        Ok(spot(solution.graph(), row)?.map(|spot| (solution.prices(), spot)))
    }

    fn turns(solution: &SoloSolution) -> Vec<TurnPrices<'_>> {
        vec![solution.prices()]
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

    fn turns(solution: &RaceSolution) -> Vec<TurnPrices<'_>> {
        squares().map(|(own, other)| solution.prices(own, other)).collect()
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

    fn turns(solution: &TableSolution) -> Vec<TurnPrices<'_>> {
        // Nobody is further behind than a turn and twelve brains.
        let behind = 0..BEHIND as u32;
        let first = squares().map(|(own, other)| Standing::First { own, other });
        let second = squares().map(|(own, other)| Standing::Second { own, other });
        let chase = behind.clone().map(|behind| Standing::Chase { behind: behind.clamp(1, 25) });
        let tiebreak = behind.map(|behind| Standing::TiebreakSecond { behind: behind.min(13) });
        let all = first.chain(second).chain(chase).chain(tiebreak).chain([Standing::TiebreakFirst]);
        all.map(|standing| solution.prices(standing)).collect()
    }
}

/// The standing of the seat whose turn it is, or `None` if it is not its turn or the match is over.
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
    const ENDS: Ends = Ends::Score { field: 0 };

    dice!(SoloRules, SoloSolution, TurnFormat::Solo);
}

impl Seen for Race {
    const ENDS: Ends = Ends::Chance { win: WIN_REWARD as f32 };

    dice!(RaceRules, RaceSolution, TurnFormat::Race);
}

impl Seen for Table {
    const ENDS: Ends = Ends::Chance { win: 1.0 };

    fn fits(view: &TableView) -> Result<(), Impossible> {
        for_two::<Table>(view.scores.len(), view.seat)
    }

    dice!(TableRules, TableSolution, TurnFormat::Table);
}
