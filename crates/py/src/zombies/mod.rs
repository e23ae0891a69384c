//! Zombie Dice for bots written for other programs.
//!
//! Zombies of the module `zombiedice` roll by a call, stop by returning, and look at a dict of the game.
//! [`ZombieTable`] lets them play in this process, on the arena's referee; [`ZombieSeat`] plays for one of them in a process of
//! the arena. Both show the dice in the same way. [`ZombieTurn`] is for programs that play turn by turn.

mod alone;
#[cfg(target_os = "linux")]
mod seat;
mod shown;
mod table;

pub use alone::{ZombieHand, ZombieTurn};
#[cfg(target_os = "linux")]
pub use seat::ZombieSeat;
pub use table::ZombieTable;

use necrodome_rules::zombie_dice::TurnEnd;
use pyo3::{create_exception, exceptions::PyBaseException, prelude::*};

create_exception!(
    necrodome._native,
    TurnOver,
    PyBaseException,
    "The turn is over, though the zombie would roll on. No `Exception`, so that a zombie that catches those does not catch it."
);

/// Decides what `roll()` does after the end of a turn: it returns `None` after the third shotgun, as in the module, and raises
/// `TurnOver` after any other end, which the module does not know.
fn rolled_after(end: TurnEnd) -> PyResult<()> {
    match end {
        TurnEnd::Busted => Ok(()),
        _ => Err(TurnOver::new_err("the turn is over")),
    }
}
