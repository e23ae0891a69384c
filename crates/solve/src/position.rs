//! Checks of positions that somebody made by hand: whether a match can reach them, and if not, why. Everything that takes
//! positions from people or programs asks here, so that all accept and refuse the same ones.

use crate::{
    solution::Solvable,
    table::Standing,
    turn::{Graph, Position, Spot},
};
use necrodome_rules::{
    game::Seat,
    words::count,
    zombie_dice::{Colour, DICE, GOAL, OutOfDice, TurnView, words},
};

/// Why no match reaches a position: a sentence without its full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Impossible(String);

pub(crate) fn refuse<T>(why: impl Into<String>) -> Result<T, Impossible> {
    Err(Impossible(why.into()))
}

/// Refuses a view that does not belong to a match for two.
pub fn for_two<G: Solvable>(seats: usize, seat: Seat) -> Result<(), Impossible> {
    match seats {
        2 if seat.index() < 2 => Ok(()),
        2 => refuse(format!("seat {seat} in a match of two")),
        _ => refuse(format!("{} is solved for two seats, and this view is of {seats}", G::ID)),
    }
}

impl Position {
    /// Reads the position of a view, if its numbers agree.
    pub(crate) fn of(view: &TurnView) -> Result<Position, Impossible> {
        let feet = view.footsteps();
        for colour in Colour::ALL {
            let piles = [view.cup, feet, view.brain_dice].map(|pile| u32::from(pile[colour]));
            enough(colour, piles.iter().sum())?;
        }
        let position = Position::from(view);
        match position.shots.total() {
            shots if shots == view.shotguns => Ok(position),
            shots => {
                refuse(format!("the other dice leave {}, not {}", count(shots, "shotgun"), view.shotguns))
            }
        }
    }
}

fn enough(colour: Colour, dice: u32) -> Result<(), Impossible> {
    match u32::from(DICE[colour]) {
        all if dice > all => {
            refuse(format!("{dice} {} dice, but there are only {all}", words::colour(colour)))
        }
        _ => Ok(()),
    }
}

impl Graph {
    /// Finds the spot of a position, or says why no turn reaches it.
    pub fn find(&self, position: &Position) -> Result<Spot, Impossible> {
        let Position { cup, feet, shots, brains } = *position;
        let total = u32::from(DICE.total());
        for colour in Colour::ALL {
            enough(colour, [cup, feet, shots].iter().map(|pile| u32::from(pile[colour])).sum())?;
        }
        let [cup, feet, shots] = [cup, feet, shots].map(|pile| u32::from(pile.total()));
        if shots >= 3 {
            return refuse(format!("with {shots} shotguns the turn is over, and its brains are lost"));
        }
        if feet > 3 {
            return refuse(format!("{feet} footsteps, but a hand has only three dice"));
        }
        // Brains whose dice are set aside, and those whose dice have gone back into the cup.
        let aside = total - cup - feet - shots;
        let Some(back) = brains.checked_sub(aside) else {
            return refuse(format!("{}, but only {}", count(aside, "brain die"), count(brains, "brain")));
        };
        let recycles = self.out_of_dice() == OutOfDice::RecycleBrains;
        if back > 0 && !recycles {
            return refuse(format!(
                "{}, but {}: none go back into the cup unless out_of_dice=recycle_brains",
                count(brains, "brain"),
                count(aside, "brain die")
            ));
        }
        if cup + feet < 3 {
            let then = match recycles {
                false => format!("the turn is over and banks {}", count(brains, "brain")),
                true => "the brain dice go back into the cup: count them there".to_owned(),
            };
            return refuse(format!("only {} left to roll, so {then}", count(cup + feet, "die")));
        }
        // All brain dice go back at once, so those that are aside were rolled since.
        let out = aside + shots + feet;
        if (back == 0 || aside > 0) && (1..3).contains(&out) {
            return refuse(format!(
                "after a roll at least three dice are out of the cup, got {out} (brains, shotguns and footsteps)"
            ));
        }
        // Brain dice go back when at most two dice are left: at least 11 less the shotguns, each time.
        let least = total - 2 - shots;
        let fits = |times: u32| (least * times..=total * times).contains(&back);
        if back > 0 && !(1..=back).any(fits) {
            return refuse(format!(
                "{} cannot have gone back into the cup: expected {least} to {total} each time",
                count(back, "brain die")
            ));
        }
        self.spot(position).map_or_else(|| refuse("no turn comes to these dice"), Ok)
    }
}

/// Checks that a race goes on with these scores.
pub fn race_goes_on(own: u32, other: u32) -> Result<(), Impossible> {
    match own.max(other) {
        score if score >= GOAL => refuse(format!("the race is over: {score} are banked, and {GOAL} win")),
        _ => Ok(()),
    }
}

/// The largest deficit that solutions hold: the chance to make up for more is below 1e-20.
const FURTHEST: u32 = 99;

impl Standing {
    /// The standing of `seat`, whose turn it is, by the scores of both.
    pub fn of(seat: Seat, scores: [u32; 2], tiebreak: bool) -> Result<Standing, Impossible> {
        let second = seat.0 == 1;
        let [own, other] = if second { [scores[1], scores[0]] } else { scores };
        refuse(match (second, tiebreak) {
            (_, true) if own < GOAL || other < GOAL => {
                format!("a tiebreak comes with scores of {GOAL} and more, got {own} and {other}")
            }
            (false, true) if own != other => {
                format!("a tiebreak round begins with equal scores, got {own} and {other}")
            }
            (true, true) if own > other => {
                format!(
                    "before the second's turn of a tiebreak the first cannot be behind, got {own} to {other}"
                )
            }
            (_, false) if own >= GOAL => {
                format!("with {own} banked there is no turn but in a tiebreak: expected less than {GOAL}")
            }
            (false, false) if other >= GOAL => {
                format!("the other has {other}, so no new round begins: only the second has a last turn")
            }
            _ if other > own + FURTHEST => {
                format!("expected to be at most {FURTHEST} behind, got {own} to {other}")
            }
            (false, true) => return Ok(Standing::TiebreakFirst),
            (true, true) => return Ok(Standing::TiebreakSecond { behind: other - own }),
            (false, false) => return Ok(Standing::First { own, other }),
            (true, false) if other >= GOAL => return Ok(Standing::Chase { behind: other - own }),
            (true, false) => return Ok(Standing::Second { own, other }),
        })
    }
}
