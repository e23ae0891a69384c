//! A person as a player: keys and drawn dice on a terminal, lines of text on a plain pipe.
//!
//! A game may have [`Controls`] of its own; any other is played from a menu of its legal actions. Everything shown comes from the
//! view of the seat and from events that the seat may hear of.

pub mod dice;
pub mod keys;
mod lines;
mod menu;
pub mod restore;

pub use lines::expected;

use crate::{games, paint::is_dumb};
use keys::Keys;
use lines::Lines;
use menu::Menu;
use necrodome_arena::{
    fault::Fault,
    player::{Answer, MatchStart, Player},
};
use necrodome_rules::{
    catalog::Listed,
    game::{Game, Outcome, Seat},
    names::Names,
};
use std::io::{self, IsTerminal, Write};

/// The person's seat, and how it is shown.
pub struct OwnSeat {
    pub seat: Seat,
    pub names: Names,
    /// Whether dice and boards are drawn; plain words otherwise.
    pub drawn: bool,
}

/// What a line of text means.
pub enum Meant<A> {
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

/// How a person plays a game: what they hear, how a question looks, and how keys and words become an action.
pub trait Controls<G: Game> {
    /// Tells what the person has heard.
    fn hear(&mut self, out: &mut dyn Write, place: &OwnSeat, heard: &[&G::Event]) -> io::Result<()>;

    /// Shows what the choice is about.
    fn show(&mut self, out: &mut dyn Write, place: &OwnSeat, view: &G::View) -> io::Result<()>;

    /// What can be typed now, on a plain pipe.
    fn words(&self, place: &OwnSeat, view: &G::View) -> String;

    /// Reads a typed line, or says what was expected.
    fn read(&mut self, place: &OwnSeat, view: &G::View, line: &str) -> Result<Meant<G::Action>, String>;

    /// Asks for keys until there is a choice.
    fn by_keys(&mut self, keys: &mut Keys, place: &OwnSeat, view: &G::View) -> Result<G::Action, Gone>;
}

/// The controls of a game: its own, or a menu of the legal actions.
fn controls<G: Listed>() -> Box<dyn Controls<G>> {
    games::own::<Box<dyn Controls<G>>>().unwrap_or_else(|| Box::new(Menu::default()))
}

/// How the person is asked: with keys or with lines.
enum Console {
    Keys(Keys),
    Lines(Lines),
}

impl Console {
    fn here() -> Self {
        if at_terminal() { Console::Keys(Keys) } else { Console::Lines(Lines) }
    }
}

/// Whether somebody sits at a terminal that can do more than lines.
pub fn at_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb()
}

/// The person at this terminal.
pub struct Human<G: Listed> {
    console: Console,
    place: Option<OwnSeat>,
    controls: Box<dyn Controls<G>>,
    /// Whether something could not be shown: a game that is not seen cannot be played.
    unseen: bool,
}

impl<G: Listed> Human<G> {
    /// Sits down; keys are used where both input and output are a terminal.
    pub fn new() -> Self {
        Human { console: Console::here(), place: None, controls: controls(), unseen: false }
    }

    fn note(&mut self, written: io::Result<()>) {
        self.unseen |= written.is_err();
    }

    fn choose(&mut self, view: &G::View) -> Result<G::Action, Gone> {
        // A match always starts with `start`.
        let Some(place) = &self.place else { return Err(Gone::Left) };
        loop {
            let action = match &mut self.console {
                Console::Keys(keys) => self.controls.by_keys(keys, place, view)?,
                Console::Lines(lines) => lines.ask::<G>(&mut *self.controls, place, view)?,
            };
            // The last net: a slip of the person is asked again, never punished.
            if G::legal_actions(view).is_none_or(|mut legal| legal.any(|allowed| allowed == action)) {
                return Ok(action);
            }
            writeln!(anstream::stdout(), "The rules do not allow that now.")?;
        }
    }
}

impl<G: Listed> Player<G> for Human<G> {
    fn start(&mut self, start: &MatchStart) {
        let drawn = matches!(self.console, Console::Keys(_));
        self.place = Some(OwnSeat { seat: start.seat, names: start.names.clone(), drawn });
        self.controls = controls();
        let how = if drawn {
            "? shows the rules, q quits"
        } else {
            "one line for each answer; ? shows the rules, quit leaves"
        };
        let mut out = anstream::stdout();
        let said = writeln!(out, "{}: you are {} ({how})", G::TITLE, &start.names[start.seat]);
        self.note(said);
    }

    fn hear(&mut self, heard: &[&G::Event]) {
        let Some(place) = &self.place else { return };
        if !heard.is_empty() {
            let mut out = anstream::stdout().lock();
            let told = self.controls.hear(&mut out, place, heard).and_then(|()| out.flush());
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
                self.controls = controls();
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
        self.controls = controls();
        Vec::new()
    }
}
