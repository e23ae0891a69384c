//! The web arena: `app(site)` is the whole of it, and can be asked without a socket.
//!
//! Each capability is a module with its state, its routes and the types of its messages. What comes over a socket is hostile until
//! proven otherwise: `guard` stands before everything, `keys` says who is who, and what a viewer sees is built from what the
//! referees let them see.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

/// A line for whoever runs the server. That nobody reads it any more must not stop what goes on.
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

/// All pages and all requests.
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
