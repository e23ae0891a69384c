//! Stories: what happened in a match, in words, for each game.

pub mod infection;
pub mod last_bullet;
pub mod tokyo;
pub mod zombie_dice;

use necrodome_rules::{game::Logged, names::Names};
use necrodome_solve::Solvable;
use std::io::{self, Write};

/// A game that can be told.
pub trait Tell: Solvable {
    /// What the teller remembers between two decisions.
    type Story: Default;

    /// Tells what happened since the last decision.
    fn tell(
        story: &mut Self::Story,
        out: &mut impl Write,
        names: &Names,
        game: &Self,
        log: &[Logged<Self::Event>],
    ) -> io::Result<()>;

    /// Shows the end, before the result.
    fn tell_end(_: &mut impl Write, _: &Names, _: &Self) -> io::Result<()> {
        Ok(())
    }

    /// A score with what it counts.
    fn score_text(score: i64) -> String;
}
