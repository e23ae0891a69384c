//! Language models over HTTP: what a model is, calls that are kept, paced and paid for. Knows nothing of games.
//!
//! All calls go through one door, [`Desk::ask`].

#![deny(missing_docs)]

mod ask;
mod book;
mod budget;
mod desk;
mod http;
mod key;
mod money;
mod pace;
mod table;
#[cfg(feature = "testing")]
pub mod testing;
mod wait;
mod wire;

pub use ask::{AskError, Finish, Form, Message, Question, Reply, Role, Tokens};
pub use book::{Book, BookError, Call};
pub use budget::{Budget, Spent, Tally};
pub use desk::{Answers, Desk, ModelError, Patience, Trial};
pub use money::{Money, MoneyError, Price};
pub use table::{Legal, Model, Models, TableError};
