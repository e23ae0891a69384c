//! Players that live in the program that runs the arena, such as objects of Python. They speak the bot protocol, but no pipe
//! lies between, and nobody measures their time.

use crate::{
    fault::{Fault, FaultKind},
    player::{Answer, MatchStart, Player},
    process::{Message, parse_act, parse_ready, to_line},
    protocol::{MAX_LISTED, PROTOCOL, ToBot},
};
use necrodome_rules::{
    catalog::Listed,
    game::{Logged, Outcome, Seat},
};
use serde::Serialize;
use std::{fmt, sync::Arc};

/// Whoever answers messages of the bot protocol.
pub trait Guest: Send {
    /// A message that wants no answer.
    fn tell(&mut self, message: &str);

    /// A message that wants an answer: `hello` or `decide`.
    fn ask(&mut self, message: &str) -> Result<String, Silence>;

    /// The last answer was no action of the game, or against its rules.
    fn refused(&mut self, why: &str);
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// The guest has failed: the game's rule for a bad action applies.
    Fault(Fault),
    /// The match is not to go on.
    Quit,
}

/// Brings a guest to each thread that plays.
#[derive(Clone)]
pub struct Invitation(Arc<dyn Fn() -> Box<dyn Guest> + Send + Sync>);

impl Invitation {
    /// An invitation that is answered by this function.
    pub fn new(come: impl Fn() -> Box<dyn Guest> + Send + Sync + 'static) -> Self {
        Invitation(Arc::new(come))
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

/// A guest as a player.
pub struct GuestPlayer<G: Listed> {
    guest: Box<dyn Guest>,
    name: String,
    rules: G::Rules,
    seats: usize,
    greeted: bool,
    wants_events: bool,
    deterministic: bool,
    /// Why it cannot be asked in this match.
    away: Option<Silence>,
    next_id: u64,
}

impl<G: Listed> GuestPlayer<G> {
    /// A guest that is greeted when its first match begins.
    pub fn new(invitation: &Invitation, name: &str, rules: &G::Rules, seats: usize) -> Self {
        GuestPlayer {
            guest: (invitation.0)(),
            name: name.to_owned(),
            rules: rules.clone(),
            seats,
            greeted: false,
            wants_events: false,
            deterministic: false,
            away: None,
            next_id: 0,
        }
    }

    fn tell(&mut self, message: &Message<G>) {
        self.guest.tell(&text(message));
    }

    fn greet(&mut self) -> Result<(), Silence> {
        let hello: Message<G> = ToBot::Hello {
            protocol: PROTOCOL,
            game: G::ID,
            options: &self.rules,
            seats: self.seats,
            name: &self.name,
        };
        let answer = self.guest.ask(&text(&hello))?;
        let no_start = |why| Silence::Fault(Fault::new(FaultKind::NoStart, why));
        let ready = parse_ready(answer.as_bytes()).map_err(no_start)?;
        (self.wants_events, self.deterministic, self.greeted) = (ready.events, ready.deterministic, true);
        Ok(())
    }

    fn decide(&mut self, view: &G::View) -> Result<(G::Action, Option<String>), Silence> {
        if let Some(away) = &self.away {
            return Err(away.clone());
        }
        self.next_id += 1;
        let legal = G::legal_actions(view).filter(|actions| actions.len() <= MAX_LISTED);
        let question: Message<G> = ToBot::Decide { id: self.next_id, view, legal };
        let answer = self.guest.ask(&text(&question))?;
        parse_act(answer.as_bytes(), self.next_id).map_err(|fault| {
            self.guest.refused(&fault.detail);
            Silence::Fault(fault)
        })
    }
}

/// Messages are JSON, which is text.
fn text(message: &impl Serialize) -> String {
    String::from_utf8(to_line(message)).unwrap_or_default()
}

impl<G: Listed> Player<G> for GuestPlayer<G> {
    fn start(&mut self, start: &MatchStart) {
        self.away = if self.greeted { None } else { self.greet().err() };
        let names: Vec<String> = start.names.iter().map(str::to_owned).collect();
        self.tell(&ToBot::Start { seat: start.seat, names: &names, seed: start.seed });
    }

    fn hear(&mut self, seat: Seat, log: &[Logged<G::Event>]) {
        if !self.wants_events {
            return;
        }
        let heard = log.iter().filter(|logged| logged.audience.includes(seat));
        let events: Vec<&G::Event> = heard.map(|logged| &logged.event).collect();
        if !events.is_empty() {
            self.tell(&ToBot::Events { events });
        }
    }

    fn ask(&mut self, _: &G::View) {}

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        match self.decide(view) {
            Ok((action, reason)) => Answer::Act(action, reason),
            Err(Silence::Fault(fault)) => Answer::Fault(fault),
            Err(Silence::Quit) => Answer::Quit,
        }
    }

    fn refused(&mut self, why: &str) {
        self.guest.refused(why);
    }

    fn end(&mut self, outcome: &Outcome) -> Vec<Fault> {
        self.tell(&ToBot::End { outcome });
        Vec::new()
    }

    fn is_deterministic(&self) -> bool {
        self.deterministic
    }
}
