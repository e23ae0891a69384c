//! A person as a player: keys and drawn dice on a terminal, lines of text on a plain pipe.
//!
//! A game may bring its own [`Controls`]; any other is played from a menu of its legal actions. Everything that is shown comes from
//! the view of the seat and from events that the seat may hear of.

pub mod dice;
mod hint;
pub mod keys;
mod lines;
mod menu;
pub mod restore;

pub use lines::expected;

use crate::{
    games,
    paint::{is_dumb, line},
};
use hint::Coach;
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

/// The person's seat, and how they see the game.
pub struct OwnSeat {
    pub seat: Seat,
    pub names: Names,
    /// Whether dice and boards are drawn, rather than described in words.
    pub drawn: bool,
}

/// The meaning of a line of text.
pub enum Meant<A> {
    /// A choice.
    Act(A),
    /// What is shown has changed, so the question is asked again.
    Again,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Gone {
    /// The person has left.
    #[error("You leave the table.")]
    Left,
    /// The input has ended.
    #[error("The input ended before the match did.")]
    InputEnded,
    /// The terminal or the pipe is broken.
    #[error("The terminal can't be used any more: {0}")]
    Io(#[from] io::Error),
}

/// How a person plays a game: what they hear, how a question looks, and how keys and words become an action.
pub trait Controls<G: Game> {
    /// Shows what the person has heard.
    fn hear(&mut self, out: &mut dyn Write, place: &OwnSeat, heard: &[&G::Event]) -> io::Result<()>;

    /// Shows what the choice is about.
    fn show(&mut self, out: &mut dyn Write, place: &OwnSeat, view: &G::View) -> io::Result<()>;

    /// Returns what can be typed now, on a plain pipe.
    fn words(&self, place: &OwnSeat, view: &G::View) -> String;

    /// Parses a typed line, or says what was expected.
    fn read(&mut self, place: &OwnSeat, view: &G::View, line: &str) -> Result<Meant<G::Action>, String>;

    /// Reads keys until there is a choice.
    fn by_keys(&mut self, keys: &mut Keys, place: &OwnSeat, view: &G::View) -> Result<G::Action, Gone>;
}

/// Returns the controls of a game: its own, or a menu of the legal actions.
fn controls<G: Listed>() -> Box<dyn Controls<G>> {
    games::own::<Box<dyn Controls<G>>>().unwrap_or_else(|| Box::new(Menu::default()))
}

/// How the person answers: with keys or with lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Console {
    Keys,
    Lines,
}

impl Console {
    fn here() -> Self {
        if at_terminal() { Console::Keys } else { Console::Lines }
    }
}

/// Whether a person sits at a terminal that can do more than lines.
pub fn at_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb()
}

/// The person at this terminal.
pub struct Human<G: Listed> {
    console: Console,
    place: Option<OwnSeat>,
    controls: Box<dyn Controls<G>>,
    /// Gives hints where the game is solved.
    coach: Option<Coach<G>>,
    /// Whether something could not be shown: a person cannot play a game that they do not see.
    unseen: bool,
}

impl<G: Listed> Human<G> {
    /// Makes a player. It uses keys if both input and output are a terminal.
    pub fn new(rules: &G::Rules, seats: usize) -> Self {
        let coach = Coach::new(rules, seats);
        Human { console: Console::here(), place: None, controls: controls(), coach, unseen: false }
    }

    fn note(&mut self, written: io::Result<()>) {
        self.unseen |= written.is_err();
    }

    fn choose(&mut self, view: &G::View) -> Result<G::Action, Gone> {
        // A match always starts with `start`.
        let Some(place) = &self.place else { return Err(Gone::Left) };
        let give_hint = self.coach.as_ref().map(|coach| || coach.hint(view, &place.names));
        let hint = give_hint.as_ref().map(|hint| hint as &dyn Fn() -> String);
        loop {
            let action = match self.console {
                Console::Keys => {
                    self.controls.by_keys(&mut Keys { hint, interrupted: false }, place, view)?
                }
                Console::Lines => Lines.ask::<G>(&mut *self.controls, place, view, hint)?,
            };
            // The last net: a slip of the person is asked again, never punished.
            if G::legal_actions(view).is_none_or(|mut legal| legal.any(|allowed| allowed == action)) {
                return Ok(action);
            }
            writeln!(anstream::stdout(), "The rules don't allow that now.")?;
        }
    }
}

impl<G: Listed> Player<G> for Human<G> {
    fn start(&mut self, start: &MatchStart) {
        let drawn = self.console == Console::Keys;
        self.place = Some(OwnSeat { seat: start.seat, names: start.names.clone(), drawn });
        self.controls = controls();
        let how = match (drawn, self.coach.is_some()) {
            (true, true) => "? shows the rules, h gives a hint, q quits",
            (true, false) => "? shows the rules, q quits",
            (false, true) => "one line for each answer; ? shows the rules, hint gives a hint, quit leaves",
            (false, false) => "one line for each answer; ? shows the rules, quit leaves",
        };
        let text = format!("{}: you are {} ({how})", G::TITLE, &start.names[start.seat]);
        let said = line(&mut anstream::stdout(), 0, &text);
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
                let _ = line(&mut anstream::stdout(), 0, &why.to_string());
                Answer::Quit
            }
        }
    }

    fn refused(&mut self, why: &str) {
        let said = line(&mut anstream::stdout(), 0, &format!("The referee refuses: {why}"));
        self.note(said);
    }

    fn end(&mut self, _: &Outcome) -> Vec<Fault> {
        self.controls = controls();
        Vec::new()
    }
}
