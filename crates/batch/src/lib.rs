//! The games in batches: thousands of matches stepped at once, for training.
//!
//! The referees of `necrodome-rules` define the rules. This crate plays the same games faster, with the state of
//! many matches side by side in plain arrays, and tests prove that the two agree exactly.
//!
//! Games are listed only in this file: those with their own numbers, and those with a kernel.

#![deny(missing_docs)]

pub mod actions;
pub mod batched;
mod bytes;
pub mod field;
mod infection;
pub mod instructions;
pub mod kernel;
pub mod last_bullet;
pub mod numbers;
pub mod observe;
pub mod parts;
pub mod refereed;
pub mod signals;
pub mod stream;
mod threads;
pub mod tokyo;
pub mod versus;
pub mod zombie_dice;

use necrodome_rules::{
    game::Game,
    infection::Infection,
    own_part,
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, Table},
};
use numbers::{Numbers, layout};
use std::sync::Arc;

/// Returns the numbers that were made for a game, or `None`. This is the list of games that have their own;
/// [`numbers::numbers`] has some for any game.
pub fn own_numbers<G: Game>() -> Option<Arc<dyn Numbers<G>>> {
    own_part![
        layout::<Solo>(),
        layout::<Race>(),
        layout::<Table>(),
        layout::<Tokyo>(),
        layout::<Infection>(),
        last_bullet::windows(),
    ]
}

/// Evaluates an expression with a type name bound to the batch of a game; `None` if the game has no batch. This is the list of
/// games that can be played in batches.
///
/// ```
/// use necrodome_batch::with_batch;
/// use necrodome_rules::catalog::GameId;
/// let usual_seats = |id: GameId| with_batch!(id, Batch => Batch::usual_seats());
/// assert_eq!(usual_seats(GameId::LastBullet), Some(20));
/// assert_eq!(usual_seats(GameId::Infection), Some(2));
/// ```
#[macro_export]
macro_rules! with_batch {
    ($game:expr, $Batch:ident => $body:expr) => {
        $crate::with_batch!($game, $Batch => $body;
            ZombieDice => $crate::zombie_dice::TableBatch,
            ZombieDiceSolo => $crate::zombie_dice::SoloBatch,
            ZombieDiceRace => $crate::zombie_dice::RaceBatch,
            LastBullet => $crate::last_bullet::LastBulletBatch,
            Tokyo => $crate::tokyo::TokyoBatch,
            Infection => $crate::refereed::RefereedBatch<::necrodome_rules::infection::Infection>)
    };
    ($game:expr, $Batch:ident => $body:expr; $($id:ident => $of:ty),*) => {
        match $game {
            $(::necrodome_rules::catalog::GameId::$id => {
                type $Batch = $of;
                Some($body)
            })*
            _ => None,
        }
    };
}

/// Evaluates an expression with a type name bound to the kernel of a game, which has [views](kernel::Views); `None` if there is
/// none.
#[macro_export]
macro_rules! with_views {
    ($game:expr, $Kernel:ident => $body:expr) => {
        $crate::with_batch!($game, $Kernel => $body;
            ZombieDice => <$crate::zombie_dice::TableBatch as $crate::batched::HasKernel>::Kernel,
            ZombieDiceSolo => <$crate::zombie_dice::SoloBatch as $crate::batched::HasKernel>::Kernel,
            ZombieDiceRace => <$crate::zombie_dice::RaceBatch as $crate::batched::HasKernel>::Kernel,
            Tokyo => <$crate::tokyo::TokyoBatch as $crate::batched::HasKernel>::Kernel,
            Infection => <$crate::refereed::RefereedBatch<::necrodome_rules::infection::Infection>
                as $crate::batched::HasKernel>::Kernel)
    };
}
