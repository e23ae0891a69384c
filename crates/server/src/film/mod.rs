//! A replay as the pages show it: every step with what was decided, what happened and how it looked then. The referee plays it
//! again, so a film cannot show what did not happen.

mod dice;
mod infection;
pub mod last_bullet;
mod page;
mod studio;
mod values;

pub use dice::{DiceScene, EndedTurn};
pub use infection::{InfectionScene, PlayerNow};
pub use page::page;
pub(crate) use studio::{Studio, routes, show};
pub use values::{Priced, SeatSum, Unit, ValueEntry, Values};

use last_bullet::BattleFilm;
use necrodome_arena::replay::{Replay, ReplayError, Unpacked, unpack_within};
use necrodome_rules::{
    catalog::{GameId, Listed},
    game::{Game, Logged, Move, Outcome, Seat},
    infection::Infection,
    last_bullet::LastBullet,
    own_part, with_game,
    words::{Text, Told, name_all},
    zombie_dice as zd,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
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
    /// The same in a sentence.
    pub result: String,
    /// The scores by seat, with what they count.
    pub scores: Vec<String>,
    /// How many steps there were. Frame 0 is the set-up, so there is one frame more.
    pub steps: u32,
    /// The match, step by step: frame 0 is the set-up. None of a battle.
    pub frames: Vec<Frame>,
    /// The match, if it is one of Last Bullet.
    pub battle: Option<BattleFilm>,
    /// What the match was worth at every moment, where the game is solved.
    pub values: Option<Values>,
}

/// One step, and how it looked after it. Actions, events and views are as the protocol of the game writes them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Frame {
    /// What was decided; nothing in the set-up.
    pub choice: Option<Choice>,
    /// What happened, in order.
    pub events: Vec<Value>,
    /// The same in words.
    pub told: Vec<Told>,
    /// How it looked then: what the game's own board draws, or else the view.
    pub scene: Value,
    /// The view in words.
    pub situation: Text,
    /// Who decides next; nobody at the end.
    pub next: Option<Seat>,
}

/// What a seat decided.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Choice {
    /// Who.
    pub seat: Seat,
    /// What; nothing if no valid answer came.
    pub action: Option<Value>,
    /// The same in words: `rolls`, `keeps attack attack`.
    pub words: String,
    /// What the bot said about it.
    pub reason: Option<String>,
}

/// Looks at the states of a match, one after the other, each with what led to it, and shows them to those who watch.
type Camera<G> = Box<dyn FnMut(&G, &[Logged<<G as Game>::Event>]) -> Value>;

/// The camera of a game: its own, or one that shows the view.
fn camera<G: Listed>(rules: &G::Rules) -> Camera<G> {
    let own: Option<MakeCamera<G>> = own_part![
        dice::camera::<zd::Table> as MakeCamera<zd::Table>,
        dice::camera::<zd::Race> as MakeCamera<zd::Race>,
        dice::camera::<zd::Solo> as MakeCamera<zd::Solo>,
        infection::camera as MakeCamera<Infection>,
    ];
    own.map_or_else(|| Box::new(|game: &G, _: &[_]| view_of_all(game)) as Camera<G>, |make| make(rules))
}

type MakeCamera<G> = fn(&<G as Game>::Rules) -> Camera<G>;

/// What everybody sees, or where things are hidden what each seat sees: a film keeps no secrets.
fn view_of_all<G: Listed>(game: &G) -> Value {
    let view = |seat: Seat| serde_json::to_value(game.view(seat)).unwrap_or_default();
    if G::CARD.open {
        view(Seat(0))
    } else {
        json!({ "to_act": game.to_act().iter().map(|&seat| view(seat)).collect::<Vec<_>>() })
    }
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
    match unpacked.game()? {
        GameId::LastBullet => {
            let replay: Replay<LastBullet> = unpacked.parse()?;
            let battle = Some(last_bullet::battle(&replay)?);
            Ok(Film { battle, ..titled(&replay, Vec::new()) })
        }
        other => with_game!(other, G => film_of::<G>(unpacked)),
    }
}

/// A match without its battle and its values.
fn titled<G: Listed>(replay: &Replay<G>, frames: Vec<Frame>) -> Film {
    Film {
        game: G::ID,
        title: G::TITLE,
        names: replay.names.iter().map(str::to_owned).collect(),
        options: serde_json::to_value(&replay.rules).unwrap_or_default(),
        scores: replay.outcome.scores.iter().map(|&score| G::score(score)).collect(),
        outcome: replay.outcome.clone(),
        result: result(replay, &frames),
        steps: replay.steps.len() as u32,
        frames,
        battle: None,
        values: None,
    }
}

/// How a match ended. Where a side has won, the game has said so at the end.
fn result<G: Listed>(replay: &Replay<G>, frames: &[Frame]) -> String {
    let (names, outcome) = (&replay.names, &replay.outcome);
    if names.len() == 1 {
        return format!("{}: {}", &names[Seat(0)], G::score(outcome.scores[0]));
    }
    let winners: Vec<Seat> = outcome.winners().collect();
    let told = frames.last().and_then(|end| end.told.iter().rfind(|one| one.mark && one.seat.is_none()));
    match (winners.as_slice(), told) {
        ([winner], _) => format!("{} wins", &names[*winner]),
        (_, Some(told)) => told.text.to_string(),
        (winners, None) if winners.len() <= 4 => format!("{} share the win", name_all(names, winners)),
        (winners, None) => format!("{} share the win", winners.len()),
    }
}

fn film_of<G: Listed>(unpacked: Unpacked) -> Result<Film, ReplayError> {
    let replay: Replay<G> = unpacked.parse()?;
    let steps = replay.steps.len();
    if steps > MAX_STEPS {
        let why = format!("it has {steps} steps, and at most {MAX_STEPS} are shown");
        return Err(ReplayError::TooLarge(why));
    }
    let frames = frames(&replay)?;
    let values = if steps > MAX_PRICED { None } else { values::values(&replay)? };
    Ok(Film { values, ..titled(&replay, frames) })
}

fn frames<G: Listed>(replay: &Replay<G>) -> Result<Vec<Frame>, ReplayError> {
    let mut frames = Vec::with_capacity(replay.steps.len() + 1);
    let mut camera = camera::<G>(&replay.rules);
    // Who is about to decide, and what it sees.
    let mut asked: Option<(Seat, G::View)> = None;
    replay.play(|step, game, log| {
        let made = asked.take().zip(replay.steps.get(step.wrapping_sub(1)));
        let choice = made.and_then(|((seat, view), step)| {
            let chosen = step.moves.first()?;
            let action = match chosen {
                Move::Act(action) => Some(serde_json::to_value(action).unwrap_or_default()),
                Move::Forfeit => None,
            };
            let words = G::choice(&view, chosen, &replay.names).to_string();
            Some(Choice { seat, action, words, reason: step.reasons.first().cloned().flatten() })
        });
        asked = game.to_act().first().map(|&seat| (seat, game.view(seat)));
        let next = asked.as_ref().map(|(seat, _)| *seat);
        let events =
            log.iter().map(|logged| serde_json::to_value(&logged.event).unwrap_or_default()).collect();
        let told = log.iter().flat_map(|logged| G::tell(&logged.event, &replay.names)).collect();
        let view = asked.as_ref().map_or_else(|| game.view(Seat(0)), |(_, view)| view.clone());
        let situation = G::situation(&view, &replay.names);
        frames.push(Frame { choice, events, told, scene: camera(game, log), situation, next });
        Ok(())
    })?;
    Ok(frames)
}
