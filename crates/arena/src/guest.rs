//! Players inside the program that runs the arena, such as objects of Python. They play on the thread that runs the match or
//! the tournament, get views directly, and are not timed.

use crate::{lineup::Terms, player::Player};
use necrodome_rules::{catalog::Listed, game::Game};
use std::{any::Any, fmt, sync::Arc};

/// Makes a player of one game from its name at the table and the terms.
type Come<G> = Box<dyn Fn(&str, &Terms<<G as Game>::Rules>) -> Box<dyn Player<G>> + Send + Sync>;

/// An invitation that brings a guest to the table.
#[derive(Clone)]
pub struct Invitation(Arc<dyn Any + Send + Sync>);

impl Invitation {
    /// Returns an invitation to matches of one game; the function makes the player.
    pub fn new<G: Listed>(
        come: impl Fn(&str, &Terms<G::Rules>) -> Box<dyn Player<G>> + Send + Sync + 'static,
    ) -> Self {
        let come: Come<G> = Box::new(come);
        Invitation(Arc::new(come))
    }

    /// Returns the guest as a player, if the invitation is to this game.
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
