//! The list of games: the only place where a new game is registered.

use crate::{
    bot::BuiltIn,
    card::Card,
    game::{Game, Move, Outcome},
    names::Names,
    words::{self, Text, Told},
};
use alloc::{borrow::ToOwned, boxed::Box, string::String, vec, vec::Vec};
use core::{any::Any, fmt, str::FromStr};

/// Makes the list: ids, and the way from an id to the type of its game. `$d` is a dollar sign, for the inner macro.
macro_rules! games {
    ($d:tt { $($id:ident => $($part:ident)::+;)* } { $($hidden:ident => $($of:ident)::+;)* }) => {
        /// A game of the list.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum GameId {
            $($id,)*
            $($hidden,)*
        }

        impl GameId {
            /// All games that are offered to users.
            pub const ALL: [GameId; [$(GameId::$id),*].len()] = [$(GameId::$id),*];
            /// All games, and the examples that can be played by name only.
            pub const WITH_EXAMPLES: &[GameId] = &[$(GameId::$id,)* $(GameId::$hidden),*];
        }

        /// Evaluates an expression with a type name bound to the game with this id.
        ///
        /// ```
        /// use necrodome_rules::{catalog::{GameId, Listed}, with_game};
        /// let title = |id: GameId| with_game!(id, G => G::TITLE);
        /// assert_eq!(title(GameId::Tokyo), "Tokyo");
        /// ```
        #[macro_export]
        macro_rules! with_game {
            ($d game:expr, $d G:ident => $d body:expr) => {{
                match $d game {
                    $($d crate::catalog::GameId::$id => {
                        type $d G = $d crate::$($part)::+;
                        $d body
                    })*
                    $($d crate::catalog::GameId::$hidden => {
                        type $d G = $d crate::$($of)::+;
                        $d body
                    })*
                }
            }};
        }
    };
}

macro_rules! games_and_examples {
    ($d:tt $($examples:tt)*) => {
        games! { $d
            {
                ZombieDice => zombie_dice::Table;
                ZombieDiceSolo => zombie_dice::Solo;
                ZombieDiceRace => zombie_dice::Race;
                LastBullet => last_bullet::LastBullet;
                Infection => infection::Infection;
                Tokyo => tokyo::Tokyo;
            }
            { $($examples)* }
        }
    };
}

#[cfg(not(feature = "example"))]
games_and_examples! { $ }
#[cfg(feature = "example")]
games_and_examples! { $ Pig => pig::Pig; }

impl GameId {
    /// The card of the game.
    pub fn card(self) -> Card {
        with_game!(self, G => G::CARD)
    }

    /// The scores of a match in words, each with its unit.
    pub fn score_words(self, outcome: &Outcome) -> Vec<String> {
        with_game!(self, G => outcome.scores.iter().map(|&score| <G as Listed>::score(score)).collect())
    }

    /// The id as users write it.
    pub fn as_str(self) -> &'static str {
        self.card().id
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for GameId {
    type Err = UnknownGame;

    fn from_str(name: &str) -> Result<Self, UnknownGame> {
        let found = GameId::WITH_EXAMPLES.iter().copied().find(|id| id.as_str() == name);
        found.ok_or_else(|| UnknownGame { name: name.to_owned() })
    }
}

/// The error for a name that belongs to no game.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no game {name:?}: expected one of {}", GameId::ALL.map(GameId::as_str).join(", "))]
pub struct UnknownGame {
    /// The name that was given.
    pub name: String,
}

/// A game of the list: it has a card, built-in bots, and words for what happens.
pub trait Listed: Game {
    /// The game's card.
    const CARD: Card;
    /// Its id.
    const ID: &'static str = Self::CARD.id;
    /// Its name.
    const TITLE: &'static str = Self::CARD.title;

    /// Its built-in bots.
    fn built_ins() -> Vec<BuiltIn<Self>>;

    /// Describes an event in words; empty if it needs none.
    fn tell(event: &Self::Event, _names: &Names) -> Vec<Told> {
        vec![words::of_event(event)]
    }

    /// The dice of an event, in words: `green brain, red shotgun`.
    fn dice(event: &Self::Event, names: &Names) -> String {
        Self::tell(event, names).iter().map(|told| told.text.dice()).collect::<Vec<_>>().join(", ")
    }

    /// Describes what a seat sees, in a few words.
    fn situation(view: &Self::View, _names: &Names) -> Text {
        words::of_json(&serde_json::to_value(view).unwrap_or_default()).into()
    }

    /// Describes a choice as what the player does: `rolls`, `keeps attack attack`.
    fn choice(_view: &Self::View, choice: &Move<Self::Action>, _names: &Names) -> Text {
        words::of_choice(choice)
    }

    /// Describes an action as an offer to the player: `roll`, `keep attack attack`.
    fn label(_view: &Self::View, action: &Self::Action, _names: &Names) -> String {
        words::of_json(&serde_json::to_value(action).unwrap_or_default())
    }

    /// An action for the authors of bots to copy, where legal ones can't be listed.
    fn example(_view: &Self::View) -> Option<Self::Action> {
        None
    }

    /// The key for an action, at the terminal and in the browser. Actions without a key are numbered.
    fn key(_view: &Self::View, _action: &Self::Action) -> Option<char> {
        None
    }

    /// A score with its unit.
    fn score(score: i64) -> String {
        words::count(score.unsigned_abs(), "point")
    }
}

/// Finds the part of type `T` in a room's parts for one game; see [`own_part!`](crate::own_part).
pub fn part<T: 'static>(parts: impl IntoIterator<Item = Box<dyn Any>>) -> Option<T> {
    parts.into_iter().find_map(|part| part.downcast::<T>().ok()).map(|part| *part)
}

/// Finds the part (controls, trials, a film) that a room made for one game, by its type, in the list of all its parts, or `None`
/// if the room has none for this game: then a plain part, which fits every game, takes its place.
#[macro_export]
macro_rules! own_part {
    ($($part:expr),* $(,)?) => {
        $crate::catalog::part([$(::std::boxed::Box::new($part) as ::std::boxed::Box<dyn ::core::any::Any>),*])
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_game_is_found_by_its_id() {
        for &id in GameId::WITH_EXAMPLES {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        let unknown = "tokio".parse::<GameId>().unwrap_err().to_string();
        assert!(
            unknown.starts_with("there is no game \"tokio\": expected one of zombie-dice, "),
            "{unknown}"
        );
    }

    /// Bots that a card names exist, under its rules; `optimal` belongs to the solver.
    #[test]
    fn cards_name_bots_that_exist() {
        fn check<G: Listed>() {
            let card = G::CARD;
            let known: Vec<&str> = G::built_ins().iter().map(|bot| bot.name).collect();
            let line_up = card.entries().map(|(_, bot)| bot);
            let named = card.opponents.iter().copied().chain(line_up).chain([card.stand_in]);
            for bot in named {
                let name = bot.split(':').next().unwrap_or(bot);
                assert!(known.contains(&name), "{}: {bot}", card.id);
            }
            let players = card.opponents.len() + 1;
            assert!(G::SEATS.contains(&players), "{}: {players} players", card.id);
            assert!(players <= card.most_people, "{}", card.id);
        }
        for &id in GameId::WITH_EXAMPLES {
            with_game!(id, G => check::<G>());
        }
    }
}
