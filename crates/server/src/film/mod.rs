//! A replay as the pages show it: every step with what was decided, what happened and how it looked then. The referee plays it
//! again, so a film cannot show what did not happen.

mod dice;
mod infection;
pub mod last_bullet;
mod page;
mod studio;
mod tokyo;
mod values;

pub use dice::{DiceScene, EndedTurn};
pub use infection::{InfectionScene, PlayerNow};
pub use page::page;
pub(crate) use studio::{Studio, routes, show};
pub use values::{Priced, SeatSum, Unit, ValueEntry, Values};

use last_bullet::BattleFilm;
use necrodome_arena::replay::{Replay, ReplayError, Unpacked, unpack_within};
use necrodome_rules::{
    catalog::GameId,
    game::{Game, Logged, Move, Outcome, Seat},
    infection::{self as inf, Infection},
    last_bullet::LastBullet,
    names::Names,
    tokyo::{self as tok, TokyoView},
    zombie_dice::{self as zd, RaceView, SoloView, TableView},
};
use necrodome_solve::Explain;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::io::Read;

/// A match to look at.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Film {
    /// The id of the game.
    pub game: &'static str,
    /// The name of the game.
    pub title: &'static str,
    /// The names of the entries, by seat.
    pub names: Vec<String>,
    /// The options of the rules.
    pub options: Value,
    /// How it ended.
    pub outcome: Outcome,
    /// How many steps there were. Frame 0 is the set-up, so there is one frame more.
    pub steps: u32,
    /// The match, step by step; none of Last Bullet.
    pub footage: Option<Footage>,
    /// The match, if it is one of Last Bullet.
    pub battle: Option<BattleFilm>,
    /// What the match was worth at every moment, where the game is solved.
    pub values: Option<Values>,
}

/// The frames of a match. Frame 0 is the set-up, then one for each step.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "game", content = "frames", rename_all = "kebab-case")]
pub enum Footage {
    /// Zombie Dice at a table.
    ZombieDice(Vec<Frame<zd::Action, DiceScene<TableView>, zd::Event>>),
    /// One turn of Zombie Dice.
    ZombieDiceSolo(Vec<Frame<zd::Action, DiceScene<SoloView>, zd::Event>>),
    /// A race of two.
    ZombieDiceRace(Vec<Frame<zd::Action, DiceScene<RaceView>, zd::Event>>),
    /// Tokyo.
    Tokyo(Vec<Frame<tok::Action, TokyoView, tok::Event>>),
    /// Infection.
    Infection(Vec<Frame<inf::Action, InfectionScene, inf::Event>>),
}

/// One step, and how it looked after it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "{S}Frame")]
pub struct Frame<A, S, E> {
    /// What was decided; nothing in the set-up.
    pub choice: Option<Choice<A>>,
    /// What happened, in order.
    pub events: Vec<E>,
    /// How it looked then.
    pub scene: S,
    /// Who decides next; nobody at the end.
    pub next: Option<Seat>,
}

/// What a seat decided.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "{A}Choice")]
pub struct Choice<A> {
    /// Who.
    pub seat: Seat,
    /// What; nothing if no valid answer came.
    pub action: Option<A>,
    /// The same in words: `rolls`, `keeps attack attack`.
    pub words: String,
    /// What the bot said about it.
    pub reason: Option<String>,
}

/// The frames of a match of `G`.
type Frames<G> = Vec<Frame<<G as Game>::Action, <G as Filmed>::Scene, <G as Game>::Event>>;

/// A game that is shown frame by frame.
trait Filmed: Explain {
    /// How a state looks to those who watch.
    type Scene;

    /// Looks at the states of a match, one after the other, each with what led to it.
    fn camera(rules: &Self::Rules) -> impl FnMut(&Self, &[Logged<Self::Event>]) -> Self::Scene;

    /// A choice in words.
    fn words(view: &Self::View, choice: &Move<Self::Action>, _names: &Names) -> String {
        Self::choice(view, choice)
    }

    /// The finished footage.
    fn footage(frames: Frames<Self>) -> Footage;
}

/// Bytes of an unpacked replay that is filmed.
const MAX_UNPACKED: u64 = 256 << 20;
/// Steps of a match that is filmed.
const MAX_STEPS: usize = 50_000;
/// Steps of a match that is priced: a list of options for each is a lot to send.
const MAX_PRICED: usize = 4_000;

/// The film of a packed replay of any game. The replay proves itself on the way.
pub fn film(packed: impl Read) -> Result<Film, ReplayError> {
    let unpacked = unpack_within(packed, MAX_UNPACKED)?;
    let unknown = || ReplayError::Foreign(format!("there is no game {:?}", unpacked.game));
    let id = GameId::ALL.into_iter().find(|id| id.as_str() == unpacked.game).ok_or_else(unknown)?;
    match id {
        GameId::ZombieDice => film_of::<zd::Table>(unpacked),
        GameId::ZombieDiceSolo => film_of::<zd::Solo>(unpacked),
        GameId::ZombieDiceRace => film_of::<zd::Race>(unpacked),
        GameId::Tokyo => film_of::<tok::Tokyo>(unpacked),
        GameId::Infection => film_of::<Infection>(unpacked),
        GameId::LastBullet => {
            let replay: Replay<LastBullet> = unpacked.parse()?;
            let battle = Some(last_bullet::battle(&replay)?);
            Ok(Film { battle, ..titled(&replay) })
        }
    }
}

/// All but the pictures.
fn titled<G: Explain>(replay: &Replay<G>) -> Film {
    Film {
        game: G::ID,
        title: G::TITLE,
        names: replay.names.iter().map(str::to_owned).collect(),
        options: serde_json::to_value(&replay.rules).unwrap_or_default(),
        outcome: replay.outcome.clone(),
        steps: replay.steps.len() as u32,
        footage: None,
        battle: None,
        values: None,
    }
}

fn film_of<G: Filmed>(unpacked: Unpacked) -> Result<Film, ReplayError> {
    let replay: Replay<G> = unpacked.parse()?;
    let steps = replay.steps.len();
    if steps > MAX_STEPS {
        let why = format!("it has {steps} steps, and at most {MAX_STEPS} are shown");
        return Err(ReplayError::TooLarge(why));
    }
    let footage = Some(G::footage(frames(&replay)?));
    let values = if steps > MAX_PRICED { None } else { values::values(&replay)? };
    Ok(Film { footage, values, ..titled(&replay) })
}

fn frames<G: Filmed>(replay: &Replay<G>) -> Result<Frames<G>, ReplayError> {
    let mut frames = Vec::with_capacity(replay.steps.len() + 1);
    let mut camera = G::camera(&replay.rules);
    // Who is about to decide, and what it sees.
    let mut asked: Option<(Seat, G::View)> = None;
    replay.play(|step, game, log| {
        let made = asked.take().zip(replay.steps.get(step.wrapping_sub(1)));
        let choice = made.and_then(|((seat, view), step)| {
            let chosen = step.moves.first()?;
            let action = match chosen {
                Move::Act(action) => Some(action.clone()),
                Move::Forfeit => None,
            };
            let words = G::words(&view, chosen, &replay.names);
            Some(Choice { seat, action, words, reason: step.reasons.first().cloned().flatten() })
        });
        asked = game.to_act().first().map(|&seat| (seat, game.view(seat)));
        let next = asked.as_ref().map(|(seat, _)| *seat);
        let events = log.iter().map(|logged| logged.event.clone()).collect();
        frames.push(Frame { choice, events, scene: camera(game, log), next });
        Ok(())
    })?;
    Ok(frames)
}
