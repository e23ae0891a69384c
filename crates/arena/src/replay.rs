//! Replays: all inputs of a match, and a hash of everything that came out, so that a replay can prove itself.
//!
//! A replay file is a zstd-compressed list of JSON lines: a header, one line for each step (moves, reasons and random
//! picks), and the end with the outcome and the hash of every event. It holds inputs, not frames.

use crate::dice::Dice;
use necrodome_rules::{
    catalog::{GameId, Listed, UnknownGame},
    chance::{Recorder, ScriptError, Scripted, Seeded},
    game::{Audience, Game, Logged, MAX_SEATS, Move, Outcome, Rejected, Silent},
    misread::in_json,
    names::{Names, SetupError},
};
use necrodome_solve::{Audit, Ledger, Solution};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, DeserializeOwned, IgnoredAny, SeqAccess, Visitor},
};
use std::{
    fmt, fs,
    io::{self, BufRead, BufReader, Read, Write},
    marker::PhantomData,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

/// The word at the start of every replay.
const FORMAT: &str = "necrodome-replay";
/// The version of the format.
const VERSION: u32 = 1;

/// Limits on reading a replay: a small file can unpack to a lot. Nothing beyond a limit is read, and only one step at a time is in
/// memory.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of the file.
    pub packed: usize,
    /// Bytes after unpacking.
    pub unpacked: u64,
    /// Bytes of a line.
    pub line: u64,
    /// Steps of the match.
    pub steps: usize,
    /// The time to read it once, or to play it once.
    pub time: Duration,
}

impl Bounds {
    /// Bounds for the user's own files. No replay of a real match is larger.
    pub const FILE: Bounds = Bounds {
        packed: 256 << 20,
        unpacked: 16 << 30,
        line: 64 << 20,
        steps: 10_000_000,
        time: Duration::MAX,
    };
    /// Bounds for uploads from strangers: a battle of 150 entries with 50 copies each fits.
    pub const UPLOAD: Bounds = Bounds {
        packed: 16 << 20,
        unpacked: 1 << 30,
        line: 4 << 20,
        steps: 200_000,
        time: Duration::from_secs(60),
    };
}

/// The most bytes of the last line, which has an outcome for each seat.
const MAX_END: usize = 128 << 10;

/// How far back a packed replay may refer (as a power of two): this is the memory that unpacking takes.
const MAX_WINDOW: u32 = 23;

/// A recording of a match while it is played.
#[derive(Debug, Clone)]
pub struct Recording<G: Game> {
    names: Names,
    rules: G::Rules,
    /// The picks of the set-up, before the first step.
    first_picks: Vec<u32>,
    pub(crate) steps: Vec<Step<G::Action>>,
    hasher: blake3::Hasher,
    outcome: Option<Outcome>,
}

/// The moves of one step and the picks that followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "A: Deserialize<'de>"))]
pub struct Step<A> {
    /// A move for each seat that was to act.
    #[serde(deserialize_with = "by_seat")]
    pub moves: Vec<Move<A>>,
    /// The players' reasons for them.
    #[serde(default, skip_serializing_if = "all_silent", deserialize_with = "by_seat")]
    pub reasons: Vec<Option<String>>,
    /// The outcomes of chance.
    pub picks: Vec<u32>,
}

fn all_silent(reasons: &[Option<String>]) -> bool {
    reasons.iter().all(Option::is_none)
}

/// Reads a list with one item per seat: a longer one cannot be of a match, and would take many times the memory of its text.
fn by_seat<'de, D: Deserializer<'de>, T: Deserialize<'de>>(json: D) -> Result<Vec<T>, D::Error> {
    struct BySeat<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for BySeat<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            write!(f, "a list of at most {MAX_SEATS}")
        }

        fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Vec<T>, S::Error> {
            let mut all = Vec::new();
            while let Some(one) = list.next_element()? {
                if all.len() == MAX_SEATS {
                    return Err(de::Error::invalid_length(MAX_SEATS + 1, &self));
                }
                all.push(one);
            }
            Ok(all)
        }
    }

    json.deserialize_seq(BySeat(PhantomData))
}

/// The first line. The options are those of the game.
#[derive(Serialize, Deserialize)]
struct Header<R> {
    format: String,
    version: u32,
    game: String,
    options: R,
    #[serde(deserialize_with = "by_seat")]
    entries: Vec<String>,
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

    /// Returns the number of steps.
    pub fn steps(&self) -> u32 {
        self.steps.len() as u32
    }

    /// Adds the picks and events that followed the last step or, if there was none, the set-up.
    pub(crate) fn happened(&mut self, picks: &[u32], log: &[Logged<G::Event>]) {
        match self.steps.last_mut() {
            Some(step) => step.picks.extend_from_slice(picks),
            None => self.first_picks.extend_from_slice(picks),
        }
        hash_events(&mut self.hasher, log);
    }

    pub(crate) fn finish(&mut self, outcome: &Outcome) {
        hash_setup(&mut self.hasher, &self.names, &self.rules, &self.first_picks);
        self.steps.iter().for_each(|step| hash_json(&mut self.hasher, step));
        hash_json(&mut self.hasher, outcome);
        self.outcome = Some(outcome.clone());
    }
}

impl<G: Listed> Recording<G> {
    /// Returns the replay of a finished match, packed.
    pub fn pack(&self) -> io::Result<Vec<u8>> {
        let Some(outcome) = &self.outcome else {
            return Err(io::Error::other("the match has not ended"));
        };
        let mut out = Packer::default();
        let mut line = |value: &dyn erased::Line| -> io::Result<()> {
            value.write(&mut out)?;
            out.write_all(b"\n")
        };
        line(&Header {
            format: FORMAT.into(),
            version: VERSION,
            game: G::ID.into(),
            options: &self.rules,
            entries: self.names.clone().into(),
            picks: self.first_picks.clone(),
        })?;
        for step in &self.steps {
            line(step)?;
        }
        line(&Footer { end: outcome.clone(), hash: self.hasher.finalize().to_string() })?;
        out.finish()
    }
}

/// The effort of packing.
const EFFORT: i32 = 9;

/// Packs what is written to it. A short text is packed as a whole: for text of unknown length, clearing the tables takes longer than playing
/// a match of dice.
#[derive(Default)]
struct Packer {
    text: Vec<u8>,
    long: Option<zstd::Encoder<'static, Vec<u8>>>,
}

impl Packer {
    /// The longest text that is packed as a whole, in bytes.
    const SHORT: usize = 1 << 20;

    fn finish(self) -> io::Result<Vec<u8>> {
        match self.long {
            None => zstd::bulk::compress(&self.text, EFFORT),
            Some(long) => long.finish(),
        }
    }
}

impl Write for Packer {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if let Some(long) = &mut self.long {
            return long.write(part);
        }
        self.text.extend_from_slice(part);
        if self.text.len() > Self::SHORT {
            let mut long = zstd::Encoder::new(Vec::new(), EFFORT)?;
            long.write_all(&std::mem::take(&mut self.text))?;
            self.long = Some(long);
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
            out.write_all(&serde_json::to_vec(self)?)
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

/// Hashes names, options and picks. Like moves and reasons, they are hashed since they could be changed without changing the events.
fn hash_setup(hasher: &mut blake3::Hasher, names: &Names, rules: &impl Serialize, picks: &[u32]) {
    hash_json(hasher, &(names, rules, picks));
}

fn hash_json(hasher: &mut blake3::Hasher, value: &impl Serialize) {
    // The types of events have no maps with odd keys, so it cannot fail. Hashing a line at once takes half as long as bit by bit.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    hasher.update(&line);
}

/// The reason why a replay cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is not a replay.
    #[error("this is not a necrodome replay ({0})")]
    Foreign(String),
    /// It was written by another version.
    #[error("the replay has format version {came}, and this necrodome reads version {VERSION}")]
    Version {
        /// The version of the file.
        came: u32,
    },
    /// It ends in the middle.
    #[error("the replay is cut off after {steps} steps")]
    Cut {
        /// Complete steps in the file.
        steps: usize,
    },
    /// A line makes no sense.
    #[error("line {line} of the replay: {why}")]
    Line {
        /// The line, counted from 1.
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
        /// The step, counted from 1.
        step: usize,
        /// The reason.
        why: String,
    },
    /// The picks do not fit the match.
    #[error("step {step} of the replay: {why}")]
    Picks {
        /// The step, counted from 1; 0 is the set-up.
        step: usize,
        /// The reason.
        why: ScriptError,
    },
    /// The dice are not those that follow from the seed, or the seed and the secret.
    #[error("step {step} of the replay has other dice than those that follow from the seed and the secret")]
    Dice {
        /// The step, counted from 1; 0 is the set-up.
        step: usize,
    },
    /// It is larger than the bounds.
    #[error("the replay is too large: {0}")]
    TooLarge(String),
    /// It was changed: the events or the outcome are not the recorded ones.
    #[error("the replay was changed: it {0}")]
    Changed(&'static str),
}

/// A replay that was read once, so it is known to be complete, but not yet played. It stays packed: steps are read again when needed.
#[derive(Debug, Clone)]
pub struct Replay<G: Game> {
    /// The names of the entries.
    pub names: Names,
    /// The rules.
    pub rules: G::Rules,
    first_picks: Vec<u32>,
    /// The number of steps.
    pub steps: usize,
    /// The recorded outcome.
    pub outcome: Outcome,
    hash: String,
    packed: Vec<u8>,
    bounds: Bounds,
}

/// A packed replay of a known game.
#[derive(Debug)]
pub struct Unpacked {
    /// The id of the game.
    pub game: String,
    packed: Vec<u8>,
    bounds: Bounds,
}

/// A match at one moment: in step 0 it is set up.
#[derive(Debug)]
pub struct Moment<'a, G: Game> {
    /// The step, counted from 0.
    pub number: usize,
    /// The decisions of the step, or `None` for the set-up.
    pub step: Option<&'a Step<G::Action>>,
    /// The state after it.
    pub game: &'a G,
    /// The events of the step.
    pub log: &'a [Logged<G::Event>],
}

/// Opens a replay file and reads only the game's id from it.
pub fn open(path: &Path) -> Result<Unpacked, ReplayError> {
    unpack(read(fs::File::open(path)?, &Bounds::FILE)?)
}

/// Reads a packed replay, unless it is larger than the bounds.
pub fn read(file: impl Read, bounds: &Bounds) -> Result<Vec<u8>, ReplayError> {
    let mut packed = Vec::new();
    file.take(bounds.packed as u64 + 1).read_to_end(&mut packed)?;
    bounds.check_packed(&packed)?;
    Ok(packed)
}

/// Reads only the game's id from a packed replay.
pub fn unpack(packed: impl Into<Vec<u8>>) -> Result<Unpacked, ReplayError> {
    unpack_within(packed, &Bounds::FILE)
}

/// Does the same with other bounds.
pub fn unpack_within(packed: impl Into<Vec<u8>>, bounds: &Bounds) -> Result<Unpacked, ReplayError> {
    let (packed, bounds) = (packed.into(), *bounds);
    bounds.check_packed(&packed)?;
    let foreign = |why: &dyn ToString| ReplayError::Foreign(short(why));
    let mut lines = Lines::new(&packed, bounds)?;
    let header = lines.next()?.ok_or_else(|| foreign(&"the file is empty"))?;
    #[derive(Deserialize)]
    struct Peek {
        format: String,
        version: u32,
        game: String,
    }
    let peek: Peek = serde_json::from_slice(header).map_err(|error| foreign(&in_json(&error)))?;
    if peek.format != FORMAT {
        return Err(foreign(&peek.format));
    }
    if peek.version != VERSION {
        return Err(ReplayError::Version { came: peek.version });
    }
    drop(lines);
    Ok(Unpacked { game: peek.game, packed, bounds })
}

impl Bounds {
    fn check_packed(&self, packed: &[u8]) -> Result<(), ReplayError> {
        match packed.len() > self.packed {
            true => {
                Err(ReplayError::TooLarge(format!("expected a file of at most {}", size(self.packed as u64))))
            }
            false => Ok(()),
        }
    }
}

fn unpackable() -> ReplayError {
    ReplayError::Foreign("it is not compressed as replays are".to_owned())
}

/// Returns what is wrong, in short: it may quote the file, and that may be long.
fn short(why: &dyn ToString) -> String {
    why.to_string().chars().take(300).collect()
}

/// Returns a number of bytes in words.
fn size(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{bytes} bytes"),
        megabytes => format!("{megabytes} MB"),
    }
}

/// The lines of a packed replay, one at a time.
struct Lines<'a> {
    reader: BufReader<io::Take<zstd::Decoder<'a, &'a [u8]>>>,
    bounds: Bounds,
    begun: Instant,
    line: Vec<u8>,
    /// The number of lines read.
    number: usize,
}

/// A line after the first.
enum Line<A> {
    Step(Step<A>),
    End(Footer),
}

impl<'a> Lines<'a> {
    fn new(packed: &'a [u8], bounds: Bounds) -> Result<Self, ReplayError> {
        let mut decoder = zstd::Decoder::with_buffer(packed).map_err(|_| unpackable())?;
        decoder.window_log_max(MAX_WINDOW).map_err(|_| unpackable())?;
        let reader = BufReader::new(decoder.take(bounds.unpacked.saturating_add(1)));
        Ok(Lines { reader, bounds, begun: Instant::now(), line: Vec::new(), number: 0 })
    }

    /// Returns the next line, or `None` at the end and where the file is cut off or damaged.
    fn next(&mut self) -> Result<Option<&[u8]>, ReplayError> {
        self.line.clear();
        let read = (&mut self.reader).take(self.bounds.line + 1).read_until(b'\n', &mut self.line);
        self.number += 1;
        let too_large = |why: String| Err(ReplayError::TooLarge(why));
        if self.reader.get_ref().limit() == 0 {
            return too_large(format!("expected at most {} when unpacked", size(self.bounds.unpacked)));
        }
        match read {
            Ok(0) => Ok(None),
            Ok(_) if self.line.len() as u64 > self.bounds.line => {
                too_large(format!("line {} has more than {}", self.number, size(self.bounds.line)))
            }
            Ok(_) if self.begun.elapsed() > self.bounds.time => {
                too_large(format!("it takes longer than {} seconds", self.bounds.time.as_secs()))
            }
            Ok(_) => Ok(Some(&self.line)),
            Err(_) if self.number == 1 => Err(unpackable()),
            Err(_) => Ok(None),
        }
    }

    /// Returns the next step, or the end.
    fn step<A: DeserializeOwned>(&mut self) -> Result<Line<A>, ReplayError> {
        // The first line is the header.
        let (line, steps, most) = (self.number + 1, self.number - 1, self.bounds.steps);
        let cut = ReplayError::Cut { steps };
        let Some(text) = self.next()? else { return Err(cut) };
        let why = match serde_json::from_slice(text) {
            Ok(_) if steps == most => {
                return Err(ReplayError::TooLarge(format!("it has more than {steps} steps")));
            }
            Ok(step) => return Ok(Line::Step(step)),
            Err(why) => why,
        };
        let footer = if text.len() > MAX_END { None } else { serde_json::from_slice(text).ok() };
        let is_last = match self.reader.fill_buf() {
            Ok(rest) => rest.is_empty(),
            Err(_) => return Err(cut),
        };
        match footer {
            Some(footer) if is_last => Ok(Line::End(footer)),
            None if is_last => Err(cut),
            _ => Err(ReplayError::Line { line, why: short(&why) }),
        }
    }
}

impl Unpacked {
    /// Returns the game that was played.
    pub fn game(&self) -> Result<GameId, ReplayError> {
        self.game.parse().map_err(|unknown: UnknownGame| ReplayError::Foreign(short(&unknown)))
    }

    /// Parses the rest as a match of `G`.
    pub fn parse<G: Game>(self) -> Result<Replay<G>, ReplayError> {
        let Unpacked { packed, bounds, .. } = self;
        let mut lines = Lines::new(&packed, bounds)?;
        let header = lines.next()?.ok_or(ReplayError::Cut { steps: 0 })?;
        let bad = |why: &dyn ToString| ReplayError::Line { line: 1, why: short(why) };
        let header: Header<G::Rules> = serde_json::from_slice(header).map_err(|why| bad(&why))?;
        let mut steps = 0;
        // Actions are read when they are played.
        let footer = loop {
            match lines.step::<IgnoredAny>()? {
                Line::Step(_) => steps += 1,
                Line::End(footer) => break footer,
            }
        };
        drop(lines);
        Ok(Replay {
            names: Names::new(header.entries).map_err(|why| bad(&why))?,
            rules: header.options,
            first_picks: header.picks,
            steps,
            outcome: footer.end,
            hash: footer.hash,
            packed,
            bounds,
        })
    }
}

impl<G: Listed> Replay<G> {
    /// Returns what every decision cost and every roll gave. It also checks the replay as it is played.
    pub fn ledger(&self, solution: Arc<dyn Solution<G>>) -> Result<Ledger<G>, ReplayError> {
        let mut audit = Audit::new(solution);
        let mut before: Option<G> = None;
        self.follow(|moment| {
            if let Some((before, step)) = before.as_ref().zip(moment.step) {
                audit.decide(before, &step.moves);
            }
            audit.happen(moment.log);
            before = Some(moment.game.clone());
            Ok(())
        })?;
        Ok(audit.finish(&self.outcome))
    }
}

impl<G: Game> Replay<G> {
    /// Throws the dice of a match with this seed again, and compares them with those in the replay.
    pub fn check_dice(&self, dice: Dice) -> Result<(), ReplayError> {
        let mut chance = Recorder::new(Seeded::new(dice.dice, "match", 0));
        let mut game = G::new(&self.names, &self.rules, &mut chance, &mut Silent)?;
        let mut seen = 0;
        let mut compare = |step: usize, thrown: &[u32], picks: &[u32]| {
            let same = thrown[seen..] == *picks;
            seen = thrown.len();
            if same { Ok(()) } else { Err(ReplayError::Dice { step }) }
        };
        compare(0, chance.picks(), &self.first_picks)?;
        let mut number = 0;
        let mut steps = self.lines()?;
        while let Line::Step(step) = steps.step::<G::Action>()? {
            number += 1;
            let applied = game.apply(&step.moves, &mut chance, &mut Silent);
            applied.map_err(|why| ReplayError::Rejected { step: number, why: why.to_string() })?;
            compare(number, chance.picks(), &step.picks)?;
        }
        Ok(())
    }

    /// Plays the replay through the referee. `watch` is called after the set-up (step 0) and after each step. At the end
    /// the hash of all events must equal the recorded one.
    pub fn play(
        &self,
        mut watch: impl FnMut(usize, &G, &[Logged<G::Event>]) -> io::Result<()>,
    ) -> Result<(), ReplayError> {
        self.follow(|moment| Ok(watch(moment.number, moment.game, moment.log)?))
    }

    /// Does the same for callers that also want to see the moves.
    pub fn follow(
        &self,
        mut watch: impl FnMut(Moment<G>) -> Result<(), ReplayError>,
    ) -> Result<(), ReplayError> {
        let mut hasher = blake3::Hasher::new();
        let mut log = Vec::new();
        let picks_of = |step: usize| move |why| ReplayError::Picks { step, why };
        let mut script = Scripted::new(self.first_picks.as_slice());
        let game = script.run(|chance| G::new(&self.names, &self.rules, chance, &mut log));
        let mut game = game.map_err(picks_of(0))??;
        script.finish().map_err(picks_of(0))?;
        watch(Moment { number: 0, step: None, game: &game, log: &log })?;
        hash_events(&mut hasher, &log);
        let mut steps = self.lines()?;
        let mut number = 0;
        while let Line::Step(step) = steps.step::<G::Action>()? {
            number += 1;
            log.clear();
            let mut script = Scripted::new(step.picks.as_slice());
            let applied = script.run(|chance| game.apply(&step.moves, chance, &mut log));
            let refused =
                |why: Rejected<G::Illegal>| ReplayError::Rejected { step: number, why: why.to_string() };
            applied.map_err(picks_of(number))?.map_err(refused)?;
            script.finish().map_err(picks_of(number))?;
            watch(Moment { number, step: Some(&step), game: &game, log: &log })?;
            hash_events(&mut hasher, &log);
        }
        let outcome = game.outcome().ok_or(ReplayError::Changed("stops before the match is over"))?;
        if outcome != self.outcome {
            return Err(ReplayError::Changed("ends differently than it says"));
        }
        // The steps come after all events, so they are read once more.
        hash_setup(&mut hasher, &self.names, &self.rules, &self.first_picks);
        let mut steps = self.lines()?;
        while let Line::Step(step) = steps.step::<G::Action>()? {
            hash_json(&mut hasher, &step);
        }
        hash_json(&mut hasher, &outcome);
        if hasher.finalize().to_string() != self.hash {
            return Err(ReplayError::Changed("has other contents than those that were recorded"));
        }
        Ok(())
    }

    /// Returns the lines after the first.
    fn lines(&self) -> Result<Lines<'_>, ReplayError> {
        let mut lines = Lines::new(&self.packed, self.bounds)?;
        lines.next()?;
        Ok(lines)
    }
}
