//! Replays: all that went into a match, and a hash of all that came out, so that it can prove itself.
//!
//! A replay file is a zstd-compressed list of JSON lines: a header, one line for each step (moves, reasons and random
//! picks), and the end with the outcome and the hash of every event. It holds inputs, not frames.

use necrodome_rules::{
    catalog::{GameId, Listed, UnknownGame},
    chance::{ScriptError, Scripted},
    game::{Audience, Game, Logged, Move, Outcome, Rejected},
    names::{Names, SetupError},
};
use necrodome_solve::{Audit, Ledger, Solution};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
    sync::Arc,
};

/// The word at the start of every replay.
const FORMAT: &str = "necrodome-replay";
/// The version of the format.
const VERSION: u32 = 1;
/// No replay of a real match is larger when unpacked.
const MAX_UNPACKED: u64 = 2 << 30;

/// A match as it is recorded while it is played.
#[derive(Debug, Clone)]
pub struct Recording<G: Game> {
    names: Names,
    rules: G::Rules,
    /// Picks of the set-up, before the first step.
    first_picks: Vec<u32>,
    pub(crate) steps: Vec<Step<G::Action>>,
    hasher: blake3::Hasher,
    outcome: Option<Outcome>,
}

/// The moves of one step and the picks that followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step<A> {
    /// A move for each seat that was to act.
    pub moves: Vec<Move<A>>,
    /// What the players said about them.
    #[serde(default, skip_serializing_if = "all_silent")]
    pub reasons: Vec<Option<String>>,
    /// The outcomes of chance.
    pub picks: Vec<u32>,
}

fn all_silent(reasons: &[Option<String>]) -> bool {
    reasons.iter().all(Option::is_none)
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    game: String,
    options: Value,
    entries: Names,
    picks: Vec<u32>,
}

#[derive(Serialize, Deserialize)]
struct Footer {
    end: Outcome,
    hash: String,
}

impl<G: Game> Recording<G> {
    pub(crate) fn new(names: &Names, rules: &G::Rules) -> Self {
        Recording {
            names: names.clone(),
            rules: rules.clone(),
            first_picks: Vec::new(),
            steps: Vec::new(),
            hasher: blake3::Hasher::new(),
            outcome: None,
        }
    }

    /// How many steps there were.
    pub fn steps(&self) -> u32 {
        self.steps.len() as u32
    }

    /// What chance and the referee did after the last step, or in the set-up.
    pub(crate) fn happened(&mut self, picks: &[u32], log: &[Logged<G::Event>]) {
        match self.steps.last_mut() {
            Some(step) => step.picks.extend_from_slice(picks),
            None => self.first_picks.extend_from_slice(picks),
        }
        hash_events(&mut self.hasher, log);
    }

    pub(crate) fn finish(&mut self, outcome: &Outcome) {
        hash_inputs(&mut self.hasher, &self.names, &self.rules, &self.first_picks, &self.steps);
        hash_json(&mut self.hasher, outcome);
        self.outcome = Some(outcome.clone());
    }
}

impl<G: Listed> Recording<G> {
    /// The replay of a finished match, packed.
    pub fn pack(&self) -> io::Result<Vec<u8>> {
        let Some(outcome) = &self.outcome else {
            return Err(io::Error::other("the match has not ended"));
        };
        let mut out = zstd::Encoder::new(Vec::new(), 9)?;
        let mut line = |value: &dyn erased::Line| -> io::Result<()> {
            value.write(&mut out)?;
            out.write_all(b"\n")
        };
        line(&Header {
            format: FORMAT.into(),
            version: VERSION,
            game: G::ID.into(),
            options: serde_json::to_value(&self.rules)?,
            entries: self.names.clone(),
            picks: self.first_picks.clone(),
        })?;
        for step in &self.steps {
            line(step)?;
        }
        line(&Footer { end: outcome.clone(), hash: self.hasher.finalize().to_string() })?;
        out.finish()
    }
}

/// Serialisation behind a reference, for the one closure that writes lines of several types.
mod erased {
    use serde::Serialize;
    use std::io::{self, Write};

    pub(super) trait Line {
        fn write(&self, out: &mut dyn Write) -> io::Result<()>;
    }

    impl<T: Serialize> Line for T {
        fn write(&self, out: &mut dyn Write) -> io::Result<()> {
            Ok(serde_json::to_writer(out, self)?)
        }
    }
}

/// [`Logged`], by reference.
#[derive(Serialize)]
struct Hashed<'a, E> {
    audience: &'a Audience,
    event: &'a E,
}

fn hash_events<E: Serialize>(hasher: &mut blake3::Hasher, log: &[Logged<E>]) {
    for Logged { audience, event } in log {
        // Who sees what follows from the state. Replays from before it was told have the same hashes.
        let audience = if let Audience::Seats(_) = audience { &Audience::Judge } else { audience };
        hash_json(hasher, &Hashed { audience, event });
    }
}

/// Names, options, picks, moves and reasons: what could be changed without changing what happens.
fn hash_inputs(
    hasher: &mut blake3::Hasher,
    names: &Names,
    rules: &impl Serialize,
    picks: &[u32],
    steps: &[impl Serialize],
) {
    hash_json(hasher, &(names, rules, picks));
    steps.iter().for_each(|step| hash_json(hasher, step));
}

fn hash_json(hasher: &mut blake3::Hasher, value: &impl Serialize) {
    // Writing to a hasher cannot fail, and the types of events have no maps with odd keys.
    let _ = serde_json::to_writer(&mut *hasher, value);
    hasher.update(b"\n");
}

/// Why a replay cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("this is not a necrodome replay ({0})")]
    Foreign(String),
    /// It was written by another version.
    #[error("the replay has format version {came}, and this necrodome reads version {VERSION}")]
    Version {
        /// The version of the file.
        came: u32,
    },
    /// It stops in the middle.
    #[error("the replay is cut off after {steps} steps")]
    Cut {
        /// Complete steps in the file.
        steps: usize,
    },
    /// A line makes no sense.
    #[error("line {line} of the replay: {why}")]
    Line {
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// The options or names do not make a match.
    #[error("the replay's set-up is refused: {0}")]
    Setup(#[from] SetupError),
    /// The referee does not accept a move.
    #[error("step {step} of the replay is against the rules: {why}")]
    Rejected {
        /// Which step, from 1.
        step: usize,
        /// Why.
        why: String,
    },
    /// The picks do not fit the match.
    #[error("step {step} of the replay: {why}")]
    Picks {
        /// Which step, from 1; 0 is the set-up.
        step: usize,
        /// Why.
        why: ScriptError,
    },
    /// It is too large for those who asked.
    #[error("the replay is too large: {0}")]
    TooLarge(String),
    /// It was changed: the events or the outcome are not those that were recorded.
    #[error("the replay was changed: it {0}")]
    Changed(&'static str),
}

/// A replay that was read and parsed, but not yet played.
#[derive(Debug, Clone)]
pub struct Replay<G: Game> {
    /// The names of the entries.
    pub names: Names,
    /// The rules.
    pub rules: G::Rules,
    first_picks: Vec<u32>,
    /// All steps.
    pub steps: Vec<Step<G::Action>>,
    /// The outcome as recorded.
    pub outcome: Outcome,
    hash: String,
}

/// The lines of a replay file; the first tells which game it is.
#[derive(Debug)]
pub struct Unpacked {
    /// The id of the game.
    pub game: String,
    header: String,
    lines: Vec<String>,
}

/// Reads a replay file, and no more of its contents than the game's id.
pub fn open(path: &Path) -> Result<Unpacked, ReplayError> {
    unpack(fs::File::open(path)?)
}

/// Unpacks a replay, and reads no more of it than the game's id.
pub fn unpack(packed: impl Read) -> Result<Unpacked, ReplayError> {
    unpack_within(packed, MAX_UNPACKED)
}

/// Unpacks a replay, unless it has more than `limit` bytes then: a small file can hold a lot.
pub fn unpack_within(packed: impl Read, limit: u64) -> Result<Unpacked, ReplayError> {
    let foreign = |why: &dyn ToString| ReplayError::Foreign(why.to_string());
    let decoder = zstd::Decoder::new(packed).map_err(|e| foreign(&e))?;
    let mut lines = Vec::new();
    let mut left = limit.saturating_add(1);
    for line in BufReader::new(decoder.take(left)).lines() {
        match line {
            Ok(line) => {
                left = left.saturating_sub(line.len() as u64 + 1);
                lines.push(line);
            }
            Err(error) if lines.is_empty() => return Err(foreign(&error)),
            // The file is cut off or damaged: an empty line takes the place of the final record.
            Err(_) => {
                lines.push(String::new());
                break;
            }
        }
    }
    if left == 0 {
        return Err(ReplayError::TooLarge(format!("expected at most {limit} bytes when unpacked")));
    }
    if lines.is_empty() {
        return Err(foreign(&"the file is empty"));
    }
    let header = lines.remove(0);
    #[derive(Deserialize)]
    struct Peek {
        format: String,
        version: u32,
        game: String,
    }
    let peek: Peek = serde_json::from_str(&header).map_err(|e| foreign(&e))?;
    if peek.format != FORMAT {
        return Err(foreign(&peek.format));
    }
    if peek.version != VERSION {
        return Err(ReplayError::Version { came: peek.version });
    }
    Ok(Unpacked { game: peek.game, header, lines })
}

impl Unpacked {
    /// The game that it is a match of.
    pub fn game(&self) -> Result<GameId, ReplayError> {
        self.game.parse().map_err(|unknown: UnknownGame| ReplayError::Foreign(unknown.to_string()))
    }

    /// Parses the rest as a match of `G`.
    pub fn parse<G: Game>(mut self) -> Result<Replay<G>, ReplayError> {
        let at = |line: usize| move |why: serde_json::Error| ReplayError::Line { line, why: why.to_string() };
        let header: Header = serde_json::from_str(&self.header).map_err(at(1))?;
        let rules: G::Rules = serde_json::from_value(header.options).map_err(at(1))?;
        let footer = self.lines.pop().and_then(|line| serde_json::from_str::<Footer>(&line).ok());
        let Some(footer) = footer else { return Err(ReplayError::Cut { steps: self.lines.len() }) };
        let steps = self.lines.iter().enumerate();
        let steps = steps.map(|(i, line)| serde_json::from_str(line).map_err(at(i + 2)));
        Ok(Replay {
            names: header.entries,
            rules,
            first_picks: header.picks,
            steps: steps.collect::<Result<_, _>>()?,
            outcome: footer.end,
            hash: footer.hash,
        })
    }
}

impl<G: Listed> Replay<G> {
    /// What every decision cost and every roll gave. The replay proves itself on the way.
    pub fn ledger(&self, solution: Arc<dyn Solution<G>>) -> Result<Ledger<G>, ReplayError> {
        let mut audit = Audit::new(solution);
        let mut before: Option<G> = None;
        self.play(|step, game, log| {
            if let Some((before, step)) = before.as_ref().zip(self.steps.get(step.wrapping_sub(1))) {
                audit.decide(before, &step.moves);
            }
            audit.happen(log);
            before = Some(game.clone());
            Ok(())
        })?;
        Ok(audit.finish(&self.outcome))
    }
}

impl<G: Game> Replay<G> {
    /// Plays the replay through the referee. `watch` is called after the set-up (step 0) and after each step. At the end
    /// the hash of all events must be the recorded one.
    pub fn play(
        &self,
        mut watch: impl FnMut(usize, &G, &[Logged<G::Event>]) -> io::Result<()>,
    ) -> Result<(), ReplayError> {
        let mut hasher = blake3::Hasher::new();
        let mut log = Vec::new();
        let picks_of = |step: usize| move |why| ReplayError::Picks { step, why };
        let mut script = Scripted::new(self.first_picks.as_slice());
        let game = script.run(|chance| G::new(&self.names, &self.rules, chance, &mut log));
        let mut game = game.map_err(picks_of(0))??;
        script.finish().map_err(picks_of(0))?;
        watch(0, &game, &log)?;
        hash_events(&mut hasher, &log);
        for (number, step) in (1..).zip(&self.steps) {
            log.clear();
            let mut script = Scripted::new(step.picks.as_slice());
            let applied = script.run(|chance| game.apply(&step.moves, chance, &mut log));
            let refused =
                |why: Rejected<G::Illegal>| ReplayError::Rejected { step: number, why: why.to_string() };
            applied.map_err(picks_of(number))?.map_err(refused)?;
            script.finish().map_err(picks_of(number))?;
            watch(number, &game, &log)?;
            hash_events(&mut hasher, &log);
        }
        let outcome = game.outcome().ok_or(ReplayError::Changed("stops before the match is over"))?;
        if outcome != self.outcome {
            return Err(ReplayError::Changed("ends differently than it says"));
        }
        hash_inputs(&mut hasher, &self.names, &self.rules, &self.first_picks, &self.steps);
        hash_json(&mut hasher, &outcome);
        if hasher.finalize().to_string() != self.hash {
            return Err(ReplayError::Changed("has other contents than those that were recorded"));
        }
        Ok(())
    }
}
