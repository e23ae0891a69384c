//! A person as a player: keys and drawn dice on a terminal, lines of text on a plain pipe.
//!
//! [`Playable`] is what each game adds: what the person hears, how a question looks, and how keys and words become
//! an action. Everything shown comes from the view of the seat and from events that the seat may hear of.

mod dice;
mod infection;
mod keys;
mod last_bullet;
mod lines;
pub mod restore;
mod tokyo;
mod zombie_dice;

use crate::{paint::is_dumb, tell::Tell};
use keys::Keys;
use lines::Lines;
use necrodome_arena::{
    fault::Fault,
    player::{Answer, MatchStart, Player},
};
use necrodome_rules::{
    game::{Logged, Outcome, Seat},
    names::Names,
};
use std::io::{self, IsTerminal, Write};

/// Where the person sits.
pub struct Place {
    seat: Seat,
    names: Names,
    /// Whether dice and boards are drawn; plain words otherwise.
    drawn: bool,
}

/// What a line of text means.
pub enum Said<A> {
    /// A choice.
    Act(A),
    /// Something has changed in what is shown, and the question comes again.
    Again,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Gone {
    /// The person has left.
    #[error("You leave the table.")]
    Left,
    /// The pipe is empty.
    #[error("The input has ended before the match.")]
    InputEnded,
    /// The terminal or the pipe is broken.
    #[error("The terminal cannot be used any more: {0}")]
    Io(#[from] io::Error),
}

/// A game that a person can play.
pub trait Playable: Tell {
    /// The rules on half a screen.
    const RULES: &'static str;
    /// Whom `necrodome play` invites when nobody is named.
    const OPPONENTS: &'static [&'static str];
    /// What the place remembers between two questions.
    type Memory: Default;

    /// Whether the person may hear of this.
    fn may_hear(place: &Place, logged: &Logged<Self::Event>) -> bool {
        logged.audience.includes(place.seat)
    }

    /// Tells what the person has heard; `log` holds nothing else.
    fn hear(
        memory: &mut Self::Memory,
        out: &mut impl Write,
        place: &Place,
        log: &[Logged<Self::Event>],
    ) -> io::Result<()>;

    /// Shows what the choice is about.
    fn show(
        memory: &mut Self::Memory,
        out: &mut impl Write,
        place: &Place,
        view: &Self::View,
    ) -> io::Result<()>;

    /// What can be typed now, on a plain pipe.
    fn words(view: &Self::View) -> &'static str;

    /// Reads a typed line, or says what was expected.
    fn read(
        memory: &mut Self::Memory,
        place: &Place,
        view: &Self::View,
        line: &str,
    ) -> Result<Said<Self::Action>, String>;

    /// Asks for keys until there is a choice.
    fn by_keys(
        memory: &mut Self::Memory,
        keys: &mut Keys,
        place: &Place,
        view: &Self::View,
    ) -> Result<Self::Action, Gone>;
}

/// How the person is asked.
enum Desk {
    Keys(Keys),
    Lines(Lines),
}

impl Desk {
    fn here() -> Self {
        if at_terminal() { Desk::Keys(Keys) } else { Desk::Lines(Lines) }
    }
}

/// Whether somebody sits at a terminal that can do more than lines.
pub fn at_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb()
}

/// The person at this terminal.
pub struct Human<G: Playable> {
    desk: Desk,
    place: Option<Place>,
    memory: G::Memory,
    /// Whether something could not be shown: a game that is not seen cannot be played.
    unseen: bool,
}

impl<G: Playable> Human<G> {
    /// Sits down; keys are used where both input and output are a terminal.
    pub fn new() -> Self {
        Human { desk: Desk::here(), place: None, memory: G::Memory::default(), unseen: false }
    }

    fn note(&mut self, written: io::Result<()>) {
        self.unseen |= written.is_err();
    }

    fn choose(&mut self, view: &G::View) -> Result<G::Action, Gone> {
        // A match always starts with `start`.
        let Some(place) = &self.place else { return Err(Gone::Left) };
        loop {
            let action = match &mut self.desk {
                Desk::Keys(keys) => G::by_keys(&mut self.memory, keys, place, view)?,
                Desk::Lines(lines) => lines.ask::<G>(&mut self.memory, place, view)?,
            };
            // The last net: a slip of the person is asked again, never punished.
            if G::legal_actions(view).is_none_or(|mut legal| legal.any(|allowed| allowed == action)) {
                return Ok(action);
            }
            writeln!(anstream::stdout(), "The rules do not allow that now.")?;
        }
    }
}

impl<G: Playable> Player<G> for Human<G> {
    fn start(&mut self, start: &MatchStart) {
        let drawn = matches!(self.desk, Desk::Keys(_));
        self.place = Some(Place { seat: start.seat, names: start.names.clone(), drawn });
        self.memory = G::Memory::default();
        let how = if drawn {
            "? shows the rules, q quits"
        } else {
            "one line for each answer; ? shows the rules, quit leaves"
        };
        let mut out = anstream::stdout();
        let said = writeln!(out, "{}: you are {} ({how})", G::TITLE, &start.names[start.seat]);
        self.note(said);
    }

    fn hear(&mut self, _: Seat, log: &[Logged<G::Event>]) {
        let Some(place) = &self.place else { return };
        let heard: Vec<_> = log.iter().filter(|logged| G::may_hear(place, logged)).cloned().collect();
        if !heard.is_empty() {
            let mut out = anstream::stdout().lock();
            let told = G::hear(&mut self.memory, &mut out, place, &heard).and_then(|()| out.flush());
            self.note(told);
        }
    }

    fn ask(&mut self, _: &G::View) {}

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        if self.unseen {
            return Answer::Quit;
        }
        match self.choose(view) {
            Ok(action) => Answer::Act(action, None),
            Err(why) => {
                // Gives back a terminal that was taken over before anything is said.
                self.memory = G::Memory::default();
                // Nobody is there to be told if this fails.
                let _ = writeln!(anstream::stdout(), "{why}");
                Answer::Quit
            }
        }
    }

    fn refused(&mut self, why: &str) {
        let said = writeln!(anstream::stdout(), "The referee refuses: {why}");
        self.note(said);
    }

    fn end(&mut self, _: &Outcome) -> Vec<Fault> {
        self.memory = G::Memory::default();
        Vec::new()
    }
}
