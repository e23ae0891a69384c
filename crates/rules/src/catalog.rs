//! The list of games: the one place where a new game is entered.

use crate::{
    bot::BuiltIn,
    game::Game,
    infection::{self, Infection},
    last_bullet::{self, LastBullet},
    tokyo::{self, Tokyo},
    zombie_dice::{self, Race, Solo, Table},
};
use alloc::vec::Vec;
use core::fmt;

/// A game that is offered to users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum GameId {
    ZombieDice,
    ZombieDiceSolo,
    ZombieDiceRace,
    LastBullet,
    Infection,
    Tokyo,
}

/// Evaluates an expression with a type name bound to the game of an id.
///
/// ```
/// use necrodome_rules::{catalog::{GameId, Listed}, with_game};
/// let title = |id: GameId| with_game!(id, G => G::TITLE);
/// assert_eq!(title(GameId::Tokyo), "Tokyo");
/// ```
#[macro_export]
macro_rules! with_game {
    ($id:expr, $G:ident => $body:expr) => {{
        use $crate::catalog::GameId;
        macro_rules! bind {
            ($game:ty) => {{
                type $G = $game;
                $body
            }};
        }
        match $id {
            GameId::ZombieDice => bind!($crate::zombie_dice::Table),
            GameId::ZombieDiceSolo => bind!($crate::zombie_dice::Solo),
            GameId::ZombieDiceRace => bind!($crate::zombie_dice::Race),
            GameId::LastBullet => bind!($crate::last_bullet::LastBullet),
            GameId::Infection => bind!($crate::infection::Infection),
            GameId::Tokyo => bind!($crate::tokyo::Tokyo),
        }
    }};
}

impl GameId {
    /// All games.
    pub const ALL: [GameId; 6] = [
        GameId::ZombieDice,
        GameId::ZombieDiceSolo,
        GameId::ZombieDiceRace,
        GameId::LastBullet,
        GameId::Infection,
        GameId::Tokyo,
    ];

    /// The id as users write it.
    pub fn as_str(self) -> &'static str {
        with_game!(self, G => G::ID)
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What users are told about a game, and who plays it out of the box.
pub trait Listed: Game {
    /// Its id.
    const ID: &'static str;
    /// Its name.
    const TITLE: &'static str;
    /// What it is, in one sentence.
    const ABOUT: &'static str;

    /// Its built-in bots.
    fn built_ins() -> Vec<BuiltIn<Self>>;
}

impl Listed for Table {
    const ID: &'static str = "zombie-dice";
    const TITLE: &'static str = "Zombie Dice";
    const ABOUT: &'static str =
        "Push your luck at a table of many: the most brains win when somebody has 13.";

    fn built_ins() -> Vec<BuiltIn<Self>> {
        zombie_dice::built_ins()
    }
}

impl Listed for Solo {
    const ID: &'static str = "zombie-dice-solo";
    const TITLE: &'static str = "Zombie Dice, solo";
    const ABOUT: &'static str = "One turn of Zombie Dice as a decision problem: as many brains as you dare.";

    fn built_ins() -> Vec<BuiltIn<Self>> {
        zombie_dice::built_ins()
    }
}

impl Listed for Race {
    const ID: &'static str = "zombie-dice-race";
    const TITLE: &'static str = "Zombie Dice, race";
    const ABOUT: &'static str = "Two players, alternate turns: the first to bank 13 brains wins on the spot.";

    fn built_ins() -> Vec<BuiltIn<Self>> {
        zombie_dice::built_ins()
    }
}

impl Listed for LastBullet {
    const ID: &'static str = "last-bullet";
    const TITLE: &'static str = "Last Bullet";
    const ABOUT: &'static str =
        "King of the hill on a torus: hundreds of survivors, rising zombies, three bullets.";

    fn built_ins() -> Vec<BuiltIn<Self>> {
        last_bullet::built_ins()
    }
}

impl Listed for Infection {
    const ID: &'static str = "infection";
    const TITLE: &'static str = "Infection";
    const ABOUT: &'static str =
        "A party game of hidden infection, with a judge who tells each player only so much.";

    fn built_ins() -> Vec<BuiltIn<Self>> {
        infection::built_ins()
    }
}

impl Listed for Tokyo {
    const ID: &'static str = "tokyo";
    const TITLE: &'static str = "Tokyo";
    const ABOUT: &'static str =
        "Monsters, six dice, keep and reroll: 20 points or the last one standing wins.";

    fn built_ins() -> Vec<BuiltIn<Self>> {
        tokyo::built_ins()
    }
}
