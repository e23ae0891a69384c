//! Controls for any game: the view in words, and a menu of the legal actions.

use super::{Controls, Gone, Keys, Meant, OwnSeat, lines::expected};
use crate::{paint, tell::Story};
use necrodome_rules::catalog::Listed;
use ratatui::crossterm::event::KeyCode;
use std::io::{self, Write};

/// The most actions that a menu lists. If there are more, the person types an action as JSON.
const MOST: usize = 35;
/// Keys for actions that have none of their own.
const KEYS: &str = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The controls of a game that does not bring its own.
#[derive(Default)]
pub struct Menu(Story);

/// Returns the legal actions with their keys, or `None` if there are too many.
fn choices<G: Listed>(view: &G::View) -> Vec<(char, G::Action)> {
    let actions = G::few_legal_actions(view, MOST).unwrap_or_default();
    let key = |(action, numbered): (G::Action, char)| (G::key(view, &action).unwrap_or(numbered), action);
    actions.into_iter().zip(KEYS.chars()).map(key).collect()
}

/// Returns `[r] roll, [h] hold`.
fn listed<G: Listed>(place: &OwnSeat, view: &G::View) -> String {
    let choice =
        |(key, action): (char, G::Action)| format!("[{key}] {}", G::label(view, &action, &place.names));
    choices::<G>(view).into_iter().map(choice).collect::<Vec<_>>().join(", ")
}

impl<G: Listed> Controls<G> for Menu {
    fn hear(&mut self, out: &mut dyn Write, place: &OwnSeat, heard: &[&G::Event]) -> io::Result<()> {
        self.0.tell::<G>(out, &place.names, heard.iter().copied())
    }

    fn show(&mut self, out: &mut dyn Write, place: &OwnSeat, view: &G::View) -> io::Result<()> {
        paint::line(out, 2, &paint::text(&G::situation(view, &place.names)))
    }

    fn words(&self, place: &OwnSeat, view: &G::View) -> String {
        match listed::<G>(place, view) {
            none if none.is_empty() => "an action as JSON".to_owned(),
            choices => choices,
        }
    }

    fn read(&mut self, place: &OwnSeat, view: &G::View, line: &str) -> Result<Meant<G::Action>, String> {
        let wanted = line.to_lowercase();
        let is_meant = |(key, action): &(char, G::Action)| {
            key.to_string().to_lowercase() == wanted
                || G::label(view, action, &place.names).to_lowercase() == wanted
        };
        if let Some((_, action)) = choices::<G>(view).into_iter().find(is_meant) {
            return Ok(Meant::Act(action));
        }
        let written = serde_json::from_str(line);
        written.map(Meant::Act).map_err(|_| expected(&Controls::<G>::words(self, place, view), line))
    }

    fn by_keys(&mut self, keys: &mut Keys, place: &OwnSeat, view: &G::View) -> Result<G::Action, Gone> {
        Controls::<G>::show(self, &mut anstream::stdout(), place, view)?;
        let choices = choices::<G>(view);
        keys.ask(G::CARD.rules, &format!("{}?", listed::<G>(place, view)), |pressed| {
            let KeyCode::Char(letter) = pressed else { return None };
            choices.iter().find(|(key, _)| *key == letter).map(|(_, action)| action.clone())
        })
    }
}
