//! A whole battle of Last Bullet for the field in the browser: the changes of each turn, packed, with curves and notable moments.
//! Turn `n` shows the field when the clock reads `n` and everybody is about to decide.

mod curves;
mod notable;
mod stream;

#[cfg(test)]
mod tests;

use curves::Curves;
use data_encoding::BASE64;
use necrodome_arena::replay::{Moment, Replay, ReplayError};
use necrodome_rules::{
    game::{Game, Seat},
    last_bullet::LastBullet,
};
use notable::Watcher;
pub use notable::{Notable, NotableKind};
use schemars::JsonSchema;
use serde::Serialize;
use stream::Writer;

/// The largest battle that a page can show. A larger one would be slow to replay, to send and to draw.
struct Limits {
    /// Copies of all entries.
    copies: u64,
    /// Squares of the board.
    squares: f64,
    /// Turns, even if little happens in them.
    turns: usize,
    /// Bytes of the stream.
    stream: usize,
}

const LIMITS: Limits =
    Limits { copies: 50_000, squares: (2048 * 2048) as f64, turns: 200_000, stream: usize::MAX };

/// The most bytes of reasons that are kept; the rest is left out. Each reason also costs `SAYING` bytes, even an empty one.
const MAX_SAID: usize = 2 << 20;
const SAYING: usize = 40;

/// A battle to look at.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BattleFilm {
    /// The side of the torus.
    pub side: u16,
    /// Copies of each entry; piece `i` belongs to the entry on seat `i / copies` while it lives.
    pub copies: u32,
    /// The last turn. The first is 0.
    pub turns: u32,
    /// What happens, in base64: see `film/last_bullet/stream.rs`.
    pub stream: String,
    /// How many copies of each entry live: `[turn, living]` at turn 0 and whenever it changes.
    pub living: Vec<Vec<(u32, u32)>>,
    /// Zombies, for each turn.
    pub zombies: Vec<u32>,
    /// Corpses, for each turn.
    pub corpses: Vec<u32>,
    /// What is worth a look, by turn.
    pub notable: Vec<Notable>,
    /// What the bots said, by turn.
    pub said: Vec<Said>,
    /// The first turn whose reasons are left out, because there are too many.
    pub silent_from: Option<u32>,
}

/// Why a bot did what it did.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Said {
    /// The turn in which it decided.
    pub turn: u32,
    /// The entry.
    pub seat: Seat,
    /// Its words.
    pub reason: String,
}

/// Plays a replay and films it, in at most `stream` bytes.
pub fn battle(replay: &Replay<LastBullet>, stream: usize) -> Result<BattleFilm, ReplayError> {
    battle_within(&Limits { stream, ..LIMITS }, replay)
}

fn battle_within(limits: &Limits, replay: &Replay<LastBullet>) -> Result<BattleFilm, ReplayError> {
    limits.check(replay)?;
    let (seats, copies) = (replay.names.len(), replay.rules.copies.get());
    let mut shooting: Option<(Writer, Curves, Watcher)> = None;
    let mut talk = Talk::default();
    let mut to_act: Vec<Seat> = Vec::new();
    replay.follow(|Moment { number: turn, step, game, log }| {
        let (writer, curves, watcher) = shooting.get_or_insert_with(|| {
            (
                Writer::new(game, seats, copies as usize),
                Curves::new(seats),
                Watcher::new(&replay.names, copies),
            )
        });
        writer.turn(game, log);
        curves.turn(turn as u32, game);
        watcher.turn(turn as u32, game, log);
        if let Some(step) = step {
            talk.turn(turn as u32 - 1, &to_act, &step.reasons);
        }
        to_act.clear();
        to_act.extend(game.to_act());
        match writer.len() > limits.stream {
            true => Err(too_much(format!("more than {} bytes by turn {turn}", limits.stream))),
            false => Ok(()),
        }
    })?;
    let Some((writer, curves, watcher)) = shooting else { return Err(ReplayError::Cut { steps: 0 }) };
    Ok(BattleFilm {
        side: writer.side(),
        copies,
        turns: replay.steps as u32,
        stream: BASE64.encode(&writer.finish()),
        living: curves.living,
        zombies: curves.zombies,
        corpses: curves.corpses,
        notable: watcher.finish(),
        said: talk.said,
        silent_from: talk.silent_from,
    })
}

impl Limits {
    /// Refuses a battle that is too large, before any of it is played.
    fn check(&self, replay: &Replay<LastBullet>) -> Result<(), ReplayError> {
        let copies = replay.names.len() as u64 * u64::from(replay.rules.copies.get());
        let squares = copies as f64 / f64::from(replay.rules.density);
        let turns = replay.steps;
        let why = if copies > self.copies {
            format!("{copies} copies, and {} is the limit", self.copies)
        } else if squares > self.squares {
            format!("{squares:.0} squares, and {} is the limit", self.squares)
        } else if turns > self.turns {
            format!("{turns} turns, and {} is the limit", self.turns)
        } else {
            return Ok(());
        };
        Err(too_much(why))
    }
}

fn too_much(why: String) -> ReplayError {
    ReplayError::TooLarge(format!("{why} (`necrodome replay` tells it in words)"))
}

/// The reasons that bots give, up to a limit.
#[derive(Default)]
struct Talk {
    said: Vec<Said>,
    bytes: usize,
    silent_from: Option<u32>,
}

impl Talk {
    fn turn(&mut self, turn: u32, to_act: &[Seat], reasons: &[Option<String>]) {
        for (&seat, reason) in to_act.iter().zip(reasons) {
            let Some(reason) = reason else { continue };
            self.bytes += SAYING + reason.len();
            if self.bytes > MAX_SAID {
                self.silent_from.get_or_insert(turn);
                return;
            }
            self.said.push(Said { turn, seat, reason: reason.clone() });
        }
    }
}
