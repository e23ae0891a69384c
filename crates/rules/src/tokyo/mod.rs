//! Tokyo (rulebook section 4): six dice, keep and reroll, yield or stay.

mod bots;
mod card;
mod dice;
mod referee;
pub mod words;

pub use bots::built_ins;
pub use dice::{Dice, Face, victory_points};
pub use referee::{Action, Event, GOAL, Illegal, MAX_HEALTH, Monster, Phase, Tokyo, TokyoRules, TokyoView};
