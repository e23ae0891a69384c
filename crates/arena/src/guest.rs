//! Players that live in the program that runs the arena, such as objects of Python. They play on the thread that runs the match or
//! the tournament, are given views as they are, and nobody measures their time.

use crate::{lineup::Terms, player::Player};
use necrodome_rules::{catalog::Listed, game::Game};
use std::{any::Any, fmt, sync::Arc};

/// Makes a player of one game: from its name at the table, and the terms.
type Come<G> = Box<dyn Fn(&str, &Terms<<G as Game>::Rules>) -> Box<dyn Player<G>> + Send + Sync>;

/// Brings a guest to the table.
#[derive(Clone)]
pub struct Invitation(Arc<dyn Any + Send + Sync>);

impl Invitation {
    /// An invitation to matches of one game, answered by this function.
    pub fn new<G: Listed>(
        come: impl Fn(&str, &Terms<G::Rules>) -> Box<dyn Player<G>> + Send + Sync + 'static,
    ) -> Self {
        let come: Come<G> = Box::new(come);
        Invitation(Arc::new(come))
    }

    /// The guest, if it was invited to this game.
    pub(crate) fn player<G: Listed>(
        &self,
        name: &str,
        terms: &Terms<G::Rules>,
    ) -> Option<Box<dyn Player<G>>> {
        self.0.downcast_ref::<Come<G>>().map(|come| come(name, terms))
    }
}

impl fmt::Debug for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Invitation")
    }
}

impl PartialEq for Invitation {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Invitation {}
