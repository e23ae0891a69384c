//! Language models over HTTP: their tables, and calls that are kept, paced and paid for. This crate knows nothing of games.
//!
//! All calls go through [`Desk::ask`]:
//!
//! ```no_run
//! use necrodome_models::{Answers, Book, Budget, Desk, Message, Models, Question, Role};
//! use serde_json::value::RawValue;
//! use std::{path::Path, sync::Arc};
//!
//! let table = "[models.local]\nbase_url = 'http://127.0.0.1:8080/v1'\nmodel = 'tiny'";
//! let models = Models::parse(table, Path::new("models.toml"))?;
//! let book = Book::open(Path::new("calls.db"))?;
//! let desk = Desk::new(models, Some(book), Answers::Reuse, Budget::default(), Arc::default())?;
//! let model = desk.model("local")?;
//!
//! let schema = r#"{"type": "object", "properties": {"action": {"type": "integer"}}, "required": ["action"]}"#;
//! let schema = Arc::from(RawValue::from_string(schema.into())?);
//! let form = desk.form(&model, &schema)?;
//! let messages = vec![Message { role: Role::User, text: "1 or 2?".into() }];
//! let reply = desk.ask(&model, &Question { messages, schema, form, salt: 0 })?;
//! println!("{} for {:?}", reply.text, reply.cost);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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

pub use ask::{AskError, Finish, Form, Message, Question, Raise, Reply, Role, Tokens};
pub use book::{Book, BookError, Call, Texts, Wanted};
pub use budget::{Budget, Spent, Tally};
pub use desk::{Answers, Desk, DeskError, DeskWishes, Look, ModelError, Patience, Run, Trial};
pub use key::KeyEnv;
pub use money::{Money, MoneyError, Price};
pub use table::{Disguise, Legal, Model, Models, Samples, TableError};
