//! Infection (rulebook section 3): a party game for a large group, judged by somebody who knows everything.
//!
//! [`Party`] is the referee: it takes a judge's commands (contacts, antidotes, ends of turns) and tells each player
//! only what the rules allow. [`Infection`] lets bots play it: it asks the players one after the other and turns
//! their answers into the judge's commands.

mod bots;
mod card;
mod classic;
mod contact;
mod party;
mod rounds;
mod seat_set;
pub mod words;

pub use bots::built_ins;
pub use classic::Classic;
pub use contact::{Commitment, Effect, after_contact};
pub use party::{
    Ending, Identity, InfectionRules, Party, Player, PrivateReport, PublicReport, Refused, Role, Ruleset,
    SurplusVirus,
};
pub use rounds::{Action, Event, Illegal, Infection, InfectionView, Question};
pub use seat_set::SeatSet;
