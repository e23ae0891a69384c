//! Batches of games in which several seats take turns.

use crate::batch::Batch;

/// A batch whose rows are matches of several seats, of which one decides at a time.
///
/// A row's observation is that of the seat that decides, its reward that of the seat that has just acted.
pub trait Seated: Batch {
    /// How many seats a match has.
    fn seats(&self) -> usize;

    /// For each row, the seat that decides now; of a match that is over, the one that decided last.
    fn to_act(&self, out: &mut [u8]);

    /// What the last match that ended in each row gave to all its seats: row by row, zeros where none has ended yet.
    fn final_rewards(&self) -> &[f32];
}
