//! Observations as positions of the solutions.

mod tokyo;
mod zombie_dice;

use necrodome_batch::observe::Observe;
use necrodome_rules::game::Seat;
use necrodome_solve::Solvable;
pub use zombie_dice::turn_width;

/// A game whose observations have exact values. `Err` says why a row is no position of the game.
pub trait Seen: Solvable + Observe {
    /// Whether a view fits the solution.
    fn check(_: &Self::View) -> Result<(), String> {
        Ok(())
    }

    /// Writes the value of every action; leaves what is there where nothing can be decided.
    fn values(
        rules: &Self::Rules,
        solution: &Self::Solution,
        row: &[i16],
        out: &mut [f64],
    ) -> Result<(), String>;

    /// The number of the best action; 0 where nothing can be decided.
    fn best(rules: &Self::Rules, solution: &Self::Solution, row: &[i16]) -> Result<u8, String>;
}

/// A score.
fn score(number: i16) -> Result<u32, String> {
    u32::try_from(number).map_err(|_| format!("a score of {number}"))
}

fn for_two(game: &str, seats: usize, seat: Seat) -> Result<(), String> {
    match seats {
        2 if seat.index() < 2 => Ok(()),
        2 => Err(format!("seat {seat} at a match of two")),
        _ => Err(format!("{game} is solved for two seats, and this view is of {seats}")),
    }
}
