//! A replay as the pages show it: every step with the decision, the events and the scene after it. The referee plays it again, so a
//! film cannot show what did not happen.

mod cut;
mod dice;
mod infection;
pub mod last_bullet;
mod page;
mod studio;
mod tokyo;
mod values;

pub(crate) use dice::HasDice;
pub use dice::{DiceScene, EndedTurn};
pub use infection::{InfectionScene, PlayerNow};
pub use page::page;
pub(crate) use studio::{Studio, routes};
pub use values::{Peak, PeakName, Priced, SeatSum, Unit, ValueEntry, Values};
pub(crate) use values::{is_usual, peaks_of};

use cut::{Part, follow};
use last_bullet::BattleFilm;
use necrodome_arena::replay::{Bounds, Replay, ReplayError, Unpacked, unpack_within};
use necrodome_rules::{
    catalog::{GameId, Listed},
    game::{Game, Logged, Move, Outcome, Seat},
    infection::Infection,
    last_bullet::LastBullet,
    own_part,
    tokyo::Tokyo,
    with_game,
    words::{Ink, Text, Told, name_all},
    zombie_dice as zd,
};
use schemars::JsonSchema;
use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeSeq},
};
use serde_json::{Value, json};
use std::io::{self, ErrorKind, Write};

/// A match to look at.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Film")]
pub struct Film<F = Vec<Frame>> {
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
    /// The last step. Step 0 is the set-up, so there is one frame more. A step of a film is one happening: a decision and what came
    /// of it for one player, or what the referee did for the next one.
    pub steps: u32,
    /// The match, step by step. Empty for a battle.
    pub frames: F,
    /// The battle, if the game is Last Bullet.
    pub battle: Option<BattleFilm>,
    /// The value of the match at every moment, where the game is solved.
    pub values: Option<Values>,
}

/// One step and the scene after it. Actions, events and views are as in the protocol of the game.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Frame {
    /// The player whose step it is; none if it concerns everybody.
    pub player: Option<Seat>,
    /// What the player does, in words: `rolls`, `keeps attack attack`; or what happens to everybody.
    pub words: String,
    /// The turn that it belongs to, from 1.
    pub turn: u32,
    /// The decision; none where the referee played on.
    pub choice: Option<Choice>,
    /// What happened, in order.
    pub events: Vec<Value>,
    /// The same in words.
    pub told: Vec<Told>,
    /// The scene after it: what the game's own board draws, or else the view.
    pub scene: Value,
    /// The view in words.
    pub situation: Text,
    /// The player who decides next; none at the end.
    pub next: Option<Seat>,
}

/// What a seat decided.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Choice {
    /// The action; none if no valid answer came.
    pub action: Option<Value>,
    /// What the bot said about it.
    pub reason: Option<String>,
}

/// A picture of one happening.
struct Shot {
    turn: u32,
    scene: Value,
}

impl Shot {
    fn new(turn: u32, scene: &impl Serialize) -> Self {
        Shot { turn, scene: serde_json::to_value(scene).unwrap_or_default() }
    }
}

/// Takes the states of a match in order, each with the parts that led to it, and returns a picture of each part.
type Camera<G> = Box<dyn FnMut(&G, &[&[Logged<<G as Game>::Event>]]) -> Vec<Shot>>;

/// Returns the camera of a game: its own, or one that shows the view.
fn camera<G: Listed>(replay: &Replay<G>) -> Camera<G> {
    let own: Option<MakeCamera<G>> = own_part![
        dice::camera::<zd::Table> as MakeCamera<zd::Table>,
        dice::camera::<zd::Race> as MakeCamera<zd::Race>,
        dice::camera::<zd::Solo> as MakeCamera<zd::Solo>,
        infection::camera as MakeCamera<Infection>,
        tokyo::camera as MakeCamera<Tokyo>,
    ];
    if let Some(make) = own {
        return make(&replay.rules);
    }
    let names = replay.names.clone();
    let mut turn = 1;
    Box::new(move |game: &G, parts| {
        let shot = Shot::new(turn, &view_of_all(game));
        let mut told = parts.iter().copied().flatten().flat_map(|logged| G::tell(&logged.event, &names));
        turn += u32::from(told.any(|one| one.mark));
        vec![shot]
    })
}

type MakeCamera<G> = fn(&<G as Game>::Rules) -> Camera<G>;

/// Returns the view of everybody or, in a game with secrets, the views of the seats to act: a film keeps no secrets.
fn view_of_all<G: Listed>(game: &G) -> Value {
    let view = |seat: Seat| serde_json::to_value(game.view(seat)).unwrap_or_default();
    if G::CARD.open {
        view(Seat(0))
    } else {
        json!({ "to_act": game.to_act().iter().map(|&seat| view(seat)).collect::<Vec<_>>() })
    }
}

/// The largest film that may be made. Even a small replay can have a large film, so a film is written frame by frame, up to this size.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// The replay.
    pub replay: Bounds,
    /// Bytes of JSON.
    pub json: usize,
    /// Bytes of the stream of a battle. Three thousand turns of twenty entries take three megabytes.
    pub battle: usize,
    /// Whether to price matches with unusual rules too.
    pub solve_anything: bool,
}

impl Size {
    /// The limits for a page that anybody may request.
    pub const PAGE: Size =
        Size { replay: Bounds::UPLOAD, json: 20 << 20, battle: 12 << 20, solve_anything: false };
    /// The limits for a file on the user's own machine. A larger one would be slow to open.
    pub const FILE: Size =
        Size { replay: Bounds::FILE, json: 200 << 20, battle: 24 << 20, solve_anything: true };
}

/// The most steps of a match that is priced: each needs a list of options, which is a lot to send.
const MAX_PRICED: usize = 2_000;

/// A film, ready to be shown.
#[derive(Debug, Clone)]
pub struct Reel {
    /// What it shows, in a few words.
    pub title: String,
    /// A [`Film`] in JSON.
    pub json: Vec<u8>,
}

/// Makes the film of a packed replay of any game. The replay proves itself before any of it is shown.
pub fn film(packed: impl Into<Vec<u8>>, size: &Size) -> Result<Reel, ReplayError> {
    let unpacked = unpack_within(packed, &size.replay)?;
    match unpacked.game()? {
        GameId::LastBullet => {
            let replay: Replay<LastBullet> = unpacked.parse()?;
            let battle = Some(last_bullet::battle(&replay, size.battle)?);
            let none: [Frame; 0] = [];
            reel(&Film { battle, ..titled(&replay, None, none) }, size)
        }
        other => with_game!(other, G => film_of::<G>(unpacked, size)),
    }
}

fn film_of<G: Listed>(unpacked: Unpacked, size: &Size) -> Result<Reel, ReplayError> {
    let replay: Replay<G> = unpacked.parse()?;
    let (mut said, mut frames) = (None, 0);
    follow(&replay, |moment, parts| {
        let told = moment.log.iter().flat_map(|logged| G::tell(&logged.event, &replay.names));
        said = told.filter(|one| one.mark && one.seat.is_none()).last();
        frames += parts.len();
        Ok(())
    })?;
    let is_priced = replay.steps <= MAX_PRICED && (size.solve_anything || is_usual::<G>(&replay.rules));
    let values = if is_priced { values::values(&replay)? } else { None };
    let frames = Frames { replay: &replay, count: frames };
    let steps = frames.count.saturating_sub(1) as u32;
    reel(&Film { values, steps, ..titled(&replay, said, frames) }, size)
}

/// Returns a film without its battle and its values. `said` is the game's own announcement at the end.
fn titled<G: Listed, F>(replay: &Replay<G>, said: Option<Told>, frames: F) -> Film<F> {
    Film {
        game: G::ID,
        title: G::TITLE,
        names: replay.names.iter().map(str::to_owned).collect(),
        options: serde_json::to_value(&replay.rules).unwrap_or_default(),
        scores: replay.outcome.scores.iter().map(|&score| G::score(score)).collect(),
        outcome: replay.outcome.clone(),
        result: result(replay, said),
        steps: replay.steps as u32,
        frames,
        battle: None,
        values: None,
    }
}

/// Returns the result of a match in words. Where a side has won, that is the game's own announcement at the end.
fn result<G: Listed>(replay: &Replay<G>, said: Option<Told>) -> String {
    let (names, outcome) = (&replay.names, &replay.outcome);
    if names.len() == 1 {
        return format!("{}: {}", &names[Seat(0)], G::score(outcome.scores[0]));
    }
    let winners: Vec<Seat> = outcome.winners().collect();
    match (winners.as_slice(), said) {
        ([winner], _) => format!("{} wins", &names[*winner]),
        (_, Some(told)) => told.text.to_string(),
        (winners, None) if winners.len() <= 4 => format!("{} share the win", name_all(names, winners)),
        (winners, None) => format!("{} share the win", winners.len()),
    }
}

/// Writes a film, unless it is too large.
fn reel<F: Serialize>(film: &Film<F>, size: &Size) -> Result<Reel, ReplayError> {
    let title = match film.names.as_slice() {
        names @ [_, _, ..] if names.len() <= 4 => format!("{}: {}", film.title, names.join(" and ")),
        [name] => format!("{}: {name}", film.title),
        names => format!("{}: {} players", film.title, names.len()),
    };
    let mut sheet = Sheet { json: Vec::new(), limit: size.json };
    match serde_json::to_writer(&mut sheet, film) {
        Ok(()) => Ok(Reel { title, json: sheet.json }),
        Err(error) if error.is_io() => {
            Err(ReplayError::TooLarge(format!("its film would have more than {} MB", size.json >> 20)))
        }
        Err(error) => Err(io::Error::from(error).into()),
    }
}

/// A buffer that takes bytes up to a limit.
struct Sheet {
    json: Vec<u8>,
    limit: usize,
}

impl Write for Sheet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.json.len() + bytes.len() > self.limit {
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.json.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The frames of a match, each made only when it is written.
struct Frames<'a, G: Listed> {
    replay: &'a Replay<G>,
    count: usize,
}

impl<G: Listed> Serialize for Frames<'_, G> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut list = out.serialize_seq(Some(self.count))?;
        let mut failed = None;
        let shown = shoot(self.replay, |frame| {
            list.serialize_element(&frame).map_err(|error| {
                failed = Some(error);
                ReplayError::TooLarge("no frame more can be written".to_owned())
            })
        });
        match failed {
            Some(error) => Err(error),
            None => shown.map_err(S::Error::custom).and_then(|()| list.end()),
        }
    }
}

/// Plays a match and makes a frame of each happening.
fn shoot<G: Listed>(
    replay: &Replay<G>,
    mut show: impl FnMut(Frame) -> Result<(), ReplayError>,
) -> Result<(), ReplayError> {
    let names = &replay.names;
    let mut camera = camera::<G>(replay);
    // What whoever is about to decide sees.
    let mut asked: Option<G::View> = None;
    follow(replay, |moment, parts| {
        let game = moment.game;
        let mut chosen = asked.take().zip(moment.step).and_then(|(view, step)| {
            let chosen = step.moves.first()?;
            let action = match chosen {
                Move::Act(action) => Some(serde_json::to_value(action).unwrap_or_default()),
                Move::Forfeit => None,
            };
            let choice = Choice { action, reason: step.reasons.first().cloned().flatten() };
            Some((choice, G::choice(&view, chosen, names).to_string()))
        });
        let next = game.to_act().first().copied();
        asked = next.map(|seat| game.view(seat));
        let situation = G::situation(asked.as_ref().unwrap_or(&game.view(Seat(0))), names);
        let logs: Vec<&[Logged<G::Event>]> = parts.iter().map(|part| part.log).collect();
        for (Part { player, log }, Shot { turn, scene }) in parts.iter().zip(camera(game, &logs)) {
            let told: Vec<Told> = log.iter().flat_map(|logged| G::tell(&logged.event, names)).collect();
            let (choice, words) =
                chosen.take().map_or_else(|| (None, heading(&told)), |(choice, words)| (Some(choice), words));
            let events =
                log.iter().map(|logged| serde_json::to_value(&logged.event).unwrap_or_default()).collect();
            let situation = situation.clone();
            show(Frame { player: *player, words, turn, choice, events, told, scene, situation, next })?;
        }
        Ok(())
    })
}

/// Returns a short heading: what the player does, without the dice; or, if it concerns everybody, the beginning of the text.
fn heading(told: &[Told]) -> String {
    let Some(one) = told.iter().find(|one| one.mark || one.seat.is_some()) else { return String::new() };
    let plain =
        |span: &&necrodome_rules::words::Span| !matches!(span.ink, Ink::Die(_) | Ink::KeptDie(_) | Ink::Dim);
    let spans = one.text.0.iter().filter(plain).map(|span| span.text.as_str());
    match one.seat {
        Some(_) => spans.collect::<Vec<_>>().concat().split_whitespace().collect::<Vec<_>>().join(" "),
        None => spans.take(1).collect::<String>().trim_end_matches(':').to_owned(),
    }
}
