//! The web arena: `app(site)` is all of it, and can be called without a socket.
//!
//! Each capability is a module with its state, its routes and its message types. Everything that comes over a socket is treated as
//! hostile: `guard` checks every request, `keys` identifies visitors, and viewers see only what the referees let them see.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

/// Prints a line for the person who runs the server. The server goes on even if nobody can read the line any more.
macro_rules! complain {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

mod db;
pub mod film;
mod guard;
pub mod home;
pub mod info;
mod json;
pub mod keys;
pub mod learn;
mod listen;
mod live;
mod pages;
pub mod party;
mod places;
mod refusal;
pub mod schema;
mod site;
mod stream;
pub mod tables;
pub mod tournaments;

pub use db::Db;
pub use listen::{Listening, listen, room_for_connections};
pub use pages::included as pages_included;
pub use refusal::Refusal;
pub use site::{Config, Limits, ServeError, Site};

use axum::{Router, extract::DefaultBodyLimit, routing::get};

/// Returns all pages and all requests as one router.
pub fn app(site: Site) -> Router {
    let api = Router::new()
        .merge(film::routes())
        .merge(home::routes())
        .merge(info::routes())
        .merge(party::routes())
        .merge(learn::routes())
        .merge(tables::routes())
        .merge(tournaments::routes())
        .fallback(async || Refusal::missing("there is no such request"))
        .layer(DefaultBodyLimit::max(site.limits().body));
    let router = Router::new()
        .nest("/api", api)
        .route("/host/{key}", get(keys::become_host))
        .fallback(pages::page)
        .with_state(site.clone());
    guard::around(router, site)
}
