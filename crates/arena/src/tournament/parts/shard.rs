//! The results of some blocks of a plan, in one file with a header and a checksum:
//!
//! ```text
//! necrodome-shard 1
//! {"id": ..., "blocks": [0, 64], "size": 9876, "origin": {...}}      one line of JSON
//! the plan, results, faults, replays and efforts                     postcard; compressed by zstd if it is shorter than `size`
//! the BLAKE3 hash of all before it                                   32 bytes
//! ```
//!
//! A stranger may have written the file, so everything in it is checked before it is used.

use super::{
    super::{
        Plan, Schedule, Stop, Store, StoreError, TournamentDice, TournamentError, Update,
        archive::Archive,
        play::{Playing, run_part},
        results,
        schedule::Seatings,
        store::{ChunkRow, ClosingRow, DetailRow, PackedEffort, unpacked},
    },
    Origin, PartError, PlanFile, check_size,
    plan_file::{check_entries, id_of, whole_options},
};
use crate::{
    dice::Secret,
    fault::{Fault, FaultKind, SeatFault},
    ours::SHARD_BEGINS,
    own,
    player::Usage,
    process::Launcher,
};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    collections::BTreeSet,
    io::{self, Read},
    iter,
    ops::Range,
    path::Path,
    sync::atomic::AtomicBool,
    time::Instant,
};

const MAGIC: &[u8] = b"necrodome-shard 1\n";
const EXPECTED: &str = "a shard: expected a file that `necrodome shard` has written";
const OTHER_VERSION: &str = "a shard that this necrodome can read, but one of another version";
/// The largest shard, packed or not, in bytes.
const MOST_BYTES: u64 = 4 << 30;
pub(super) const MOST_HEADER: usize = 64 << 10;
/// The longest log of a program; below, the largest number in an effort.
const MOST_LOG: usize = 1 << 20;
const MOST_EFFORT: u64 = 1 << 48;
/// More faults than a program can have when it ends.
const MOST_LAST_FAULTS: usize = 16;

/// The results of some blocks of a plan.
#[derive(Debug)]
pub struct Shard {
    /// The id of the tournament.
    pub id: String,
    /// The blocks.
    pub blocks: Range<u32>,
    /// The origin of the results.
    pub origin: Origin,
    pub(super) plan: Plan,
    pub(super) secrets: Vec<Secret>,
    pub(super) rows: Rows,
}

/// The header, which identifies a shard before its body is read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Header {
    pub id: String,
    pub blocks: (u32, u32),
    /// The bytes of the body, unpacked.
    size: usize,
    pub origin: Origin,
}

/// The results, as a store keeps them.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Rows {
    pub chunks: Vec<ChunkRow>,
    pub details: Vec<DetailRow>,
    pub closings: Vec<ClosingRow>,
}

#[derive(Serialize, Deserialize)]
struct Body {
    /// JSON, in which fields can be missing and have defaults.
    plan: String,
    secrets: Vec<Secret>,
    rows: Rows,
}

impl Shard {
    /// Plays these blocks of a plan, and no others. Returns `None` if it was interrupted.
    pub fn play(
        file: &PlanFile,
        blocks: Range<u32>,
        launcher: &Launcher,
        threads: usize,
        interrupt: &AtomicBool,
        watch: &mut dyn FnMut(Update),
    ) -> Result<Option<Self>, PartError> {
        let has = file.blocks()?;
        if blocks.is_empty() || blocks.start < has.start || blocks.end > has.end {
            return Err(PartError::Blocks { asked: blocks, has });
        }
        let (plan, entries) = (file.plan(), file.entries()?);
        let launcher = file.launcher(launcher.clone())?;
        let began = Instant::now();
        let mut store = Archive::in_memory()?.insert(plan, file.secrets())?;
        let what = Playing { plan, entries: &entries, part: Some(blocks.clone()), speed: threads.into() };
        if run_part(&what, &launcher, &mut store, interrupt, watch)? == Stop::Interrupted {
            return Ok(None);
        }
        let seconds = began.elapsed().as_secs_f64();
        let origin = Origin { seconds, bots: file.bots(), ..Origin::here(file.sandbox(), threads) };
        let rows = Rows::of(&store)?;
        let (id, secrets) = (file.id(), file.secrets().to_vec());
        Ok(Some(Shard { id, blocks, origin, plan: plan.clone(), secrets, rows }))
    }

    /// Returns the number of matches.
    pub fn matches(&self) -> Result<u64, PartError> {
        let schedule = Schedule::of(&self.plan)?;
        Ok(schedule.matches_before(self.blocks.end) - schedule.matches_before(self.blocks.start))
    }

    /// Returns the contents of its file.
    pub fn bytes(&self) -> Result<Vec<u8>, PartError> {
        let Shard { id, blocks, origin, plan, secrets, rows } = self;
        let written = |error: String| PartError::Unsuitable(format!("the shard cannot be written: {error}"));
        #[derive(Serialize)]
        struct Borrowed<'a> {
            plan: String,
            secrets: &'a [Secret],
            rows: &'a Rows,
        }
        let plan = serde_json::to_string(plan).map_err(|error| written(error.to_string()))?;
        check_size(plan.len()).map_err(written)?;
        let body = postcard::to_allocvec(&Borrowed { plan, secrets, rows });
        let body = body.map_err(|error| written(error.to_string()))?;
        if body.len() as u64 > MOST_BYTES {
            let size = body.len() >> 20;
            return Err(written(format!(
                "it has {size} MB, more than {}: play smaller parts",
                MOST_BYTES >> 20
            )));
        }
        let (id, blocks) = (id.clone(), (blocks.start, blocks.end));
        let header = Header { id, blocks, size: body.len(), origin: origin.clone() };
        let mut bytes = MAGIC.to_vec();
        bytes.extend(serde_json::to_vec(&header).map_err(|error| written(error.to_string()))?);
        bytes.push(b'\n');
        bytes.extend(compress(body).map_err(|error| written(error.to_string()))?);
        bytes.extend(blake3::hash(&bytes).as_bytes());
        Ok(bytes)
    }

    /// Reads a shard from a file.
    pub fn read(path: &Path) -> Result<Self, PartError> {
        Self::parse(&own::read_bytes(path, MOST_BYTES).map_err(PartError::file(path))?, path)
    }

    /// Reads a shard from the contents of its file, and checks all of it; `path` is for errors.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, PartError> {
        let (Header { id, blocks, size, origin }, body) = Header::parse(bytes, path)?;
        let damaged = |what: &str| PartError::damaged(path, what);
        let Some(body) = body.len().checked_sub(blake3::OUT_LEN).map(|end| &body[..end]) else {
            return Err(damaged("the file ends where its hash should be"));
        };
        let (signed, sum) = bytes.split_at(bytes.len() - blake3::OUT_LEN);
        if blake3::hash(signed).as_bytes() != sum {
            return Err(damaged("its contents do not match the hash at its end"));
        }
        let unpacked = decompress(body, size).map_err(|what| damaged(&what))?;
        let read = postcard::take_from_bytes(&unpacked).ok();
        let Some((Body { plan, secrets, mut rows }, [])) = read else {
            return Err(damaged("its contents are not those of a shard"));
        };
        check_size(plan.len()).map_err(|what| damaged(&what))?;
        let plan: Plan = serde_json::from_str(&plan).map_err(|_| damaged("its plan cannot be read"))?;
        if id_of(&plan) != id {
            return Err(damaged("its plan is not the one that it names"));
        }
        plan.check().map_err(TournamentError::from)?;
        check_entries(&plan).and_then(|()| whole_options(&plan).map(drop)).map_err(|what| damaged(&what))?;
        TournamentDice::new(&plan, &secrets).map_err(|_| damaged("its secrets do not fit its plan"))?;
        if origin.sandbox != plan.sandbox {
            return Err(damaged("it says that its programs were confined otherwise than its plan demands"));
        }
        let schedule = Schedule::of(&plan)?;
        let blocks = blocks.0..blocks.1;
        if blocks.is_empty() || blocks.end > schedule.end() {
            return Err(damaged("it has blocks that its plan does not have"));
        }
        rows.check(&plan, &schedule, &blocks).map_err(|what| damaged(&what))?;
        Ok(Shard { id, blocks, origin, plan, secrets, rows })
    }
}

impl Header {
    /// Reads the header of a shard but not the rest of its file.
    pub fn read(path: &Path) -> Result<Self, PartError> {
        let mut start = Vec::new();
        own::open_to_read(path)
            .and_then(|file| file.take((MAGIC.len() + MOST_HEADER) as u64).read_to_end(&mut start))
            .map_err(PartError::file(path))?;
        Ok(Self::parse(&start, path)?.0)
    }

    /// The header of a shard, and what comes after it.
    pub(super) fn parse<'a>(bytes: &'a [u8], path: &Path) -> Result<(Self, &'a [u8]), PartError> {
        let expected = if bytes.starts_with(SHARD_BEGINS.as_bytes()) { OTHER_VERSION } else { EXPECTED };
        let foreign = || PartError::Foreign { path: path.to_owned(), expected };
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(foreign)?;
        let end = rest.iter().take(MOST_HEADER).position(|&byte| byte == b'\n');
        let header = end.and_then(|end| Some((serde_json::from_slice(&rest[..end]).ok()?, &rest[end + 1..])));
        header.ok_or_else(|| PartError::damaged(path, "its header cannot be read"))
    }
}

/// Compresses the body of a shard, unless it became so small that it would be taken for a bomb.
fn compress(body: Vec<u8>) -> io::Result<Vec<u8>> {
    let packed = zstd::bulk::compress(&body, 1)?;
    let fits = packed.len() < body.len() && body.len() <= most_unpacked(packed.len());
    Ok(if fits { packed } else { body })
}

/// Unpacks the body of a shard to the size that the header claims.
fn decompress(body: &[u8], size: usize) -> Result<Cow<'_, [u8]>, String> {
    if size == body.len() {
        return Ok(Cow::Borrowed(body));
    }
    if size > most_unpacked(body.len()) {
        return Err(format!("{} KB of it would become {} MB", body.len() >> 10, size >> 20));
    }
    match zstd::bulk::decompress(body, size) {
        Ok(unpacked) if unpacked.len() == size => Ok(Cow::Owned(unpacked)),
        _ => Err("it cannot be unpacked".to_owned()),
    }
}

/// Returns the largest size that `packed` bytes may unpack to: a small file must not fill the memory.
fn most_unpacked(packed: usize) -> usize {
    const FREE: usize = 16 << 20;
    const TIMES: usize = 100;
    packed.saturating_mul(TIMES).saturating_add(FREE).min(MOST_BYTES as usize)
}

/// Whether a program can misbehave like this when it is closed: what comes with a decision belongs to a match.
fn is_of_the_end(kind: FaultKind) -> bool {
    !kind.is_of_model() && !kind.is_survivable()
}

/// Returns a hint for the author of a bot. A hint speaks for the arena, so none is taken from a file.
fn hint(kind: FaultKind) -> Option<String> {
    let says = match kind {
        FaultKind::Chatter | FaultKind::Flood => {
            "standard output is for answers: print to standard error instead"
        }
        FaultKind::Garbage => "an answer is JSON in one line, and nothing else",
        FaultKind::IgnoredSigterm => "end when standard input ends",
        FaultKind::LeftChildren => "end the processes that the bot has started before it ends",
        _ => return None,
    };
    Some(says.to_owned())
}

/// Misbehaviour by entry and kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    /// All of it.
    pub all: BTreeSet<(usize, FaultKind)>,
    /// What is not compared by match, because it belongs to none or depends on the machine: forgiven misbehaviour, and that at the ends
    /// of programs.
    pub beside: BTreeSet<(usize, FaultKind)>,
}

impl Rows {
    /// Adds the misbehaviour of these rows.
    pub(super) fn misbehaviour(&self, schedule: &Schedule, kinds: &mut Kinds) -> Result<(), StoreError> {
        let damaged = |_| StoreError::Damaged("what went wrong in some matches cannot be read".into());
        let mut seatings = Seatings::of(schedule);
        for detail in &self.details {
            let faults: Vec<SeatFault> = serde_json::from_str(&detail.faults).map_err(damaged)?;
            if faults.is_empty() {
                continue;
            }
            let seated = seatings.of_match(detail.block, detail.number);
            for SeatFault { seat, fault: Fault { kind, .. }, .. } in &faults {
                let Some(&entry) = seated.get(seat.index()) else { continue };
                kinds.all.insert((entry, *kind));
                if kind.is_warning() {
                    kinds.beside.insert((entry, *kind));
                }
            }
        }
        for closing in &self.closings {
            let faults: Vec<Fault> = serde_json::from_str(&closing.faults).map_err(damaged)?;
            let at_the_end = faults.iter().map(|fault| (closing.entry as usize, fault.kind));
            kinds.all.extend(at_the_end.clone());
            kinds.beside.extend(at_the_end);
        }
        Ok(())
    }

    fn of(store: &Store) -> Result<Self, StoreError> {
        Ok(Rows {
            chunks: store.chunk_rows()?,
            details: store.detail_rows()?,
            closings: store.closing_rows()?,
        })
    }

    /// Says what is wrong with the rows, if anything is. Replaces the hints to authors by those of this machine.
    fn check(&mut self, plan: &Plan, schedule: &Schedule, blocks: &Range<u32>) -> Result<(), String> {
        let mut next = blocks.start;
        let is_solved = self.chunks.iter().any(|chunk| !chunk.luck.is_empty());
        for chunk in &self.chunks {
            let end = chunk.first.checked_add(chunk.blocks).filter(|&end| end <= blocks.end);
            let Some(end) = end.filter(|&end| chunk.first == next && end > next) else {
                return Err(format!("block {next} is missing, or comes twice"));
            };
            if results::ends(&chunk.results, schedule, next..end).is_none() {
                return Err(format!("the results of blocks {next} to {} cannot be read", end - 1));
            }
            let matches = schedule.matches_before(end) - schedule.matches_before(next);
            let (floats, rest) = chunk.luck.as_chunks::<4>();
            let fits = floats.len() as u64 == if is_solved { matches } else { 0 } && rest.is_empty();
            if !fits || !floats.iter().all(|&bytes| f32::from_le_bytes(bytes).is_finite()) {
                return Err(format!("the luck of blocks {next} to {} cannot be read", end - 1));
            }
            let efforts: Option<Vec<PackedEffort>> = serde_json::from_str(&chunk.efforts).ok();
            // Language models do not travel, so nobody has paid for calls.
            let sensible = |packed: &PackedEffort| match packed {
                PackedEffort::Numbers(numbers) => {
                    numbers.iter().all(|&number| number < MOST_EFFORT)
                        && unpacked(packed.clone()).usage == Usage::default()
                }
                PackedEffort::Answered(..) | PackedEffort::Unusable(..) => false,
            };
            if !efforts.is_some_and(|all| all.len() <= plan.entries.len() && all.iter().all(sensible)) {
                return Err(format!("what blocks {next} to {} took cannot be read", end - 1));
            }
            next = end;
        }
        if next != blocks.end {
            return Err(format!("block {next} is missing"));
        }
        let places = self.details.iter().map(|detail| (detail.block, detail.number));
        if !places.is_sorted_by(|one, other| one < other) {
            return Err("its matches are not in order".to_owned());
        }
        let is_program =
            |entry: usize| plan.entries.get(entry).is_some_and(|entry| entry.fingerprint.is_some());
        let mut seatings = Seatings::of(schedule);
        for detail in &mut self.details {
            let there =
                blocks.contains(&detail.block) && (detail.number as usize) < schedule.matches(detail.block);
            let faults: Option<Vec<SeatFault>> = serde_json::from_str(&detail.faults).ok();
            let Some(mut faults) = faults.filter(|_| there) else {
                return Err(format!("match {}.{} cannot be read", detail.block, detail.number));
            };
            if faults.is_empty() {
                continue;
            }
            let seated = seatings.of_match(detail.block, detail.number);
            for SeatFault { seat, fault, .. } in &mut faults {
                if !seated.get(seat.index()).is_some_and(|&entry| is_program(entry))
                    || fault.kind.is_of_model()
                {
                    let (block, number) = (detail.block, detail.number);
                    return Err(format!(
                        "match {block}.{number} has misbehaviour that nobody in it can have"
                    ));
                }
                fault.hint = hint(fault.kind);
            }
            detail.faults = serde_json::to_string(&faults).unwrap_or_default();
        }
        // Where programs take part all moves are kept, so that they can be compared.
        let matches = schedule.matches_before(blocks.end) - schedule.matches_before(blocks.start);
        let replays = self.details.iter().filter(|detail| detail.replay.is_some()).count() as u64;
        if plan.has_programs() && replays != matches {
            return Err(format!("it has {replays} replays of {matches} matches"));
        }
        if !plan.has_programs() && replays > 0 {
            return Err("it has replays, though no program takes part".to_owned());
        }
        // A program ends at most once in each match, and once in the blocks before that it has to play as well.
        let most = matches.saturating_mul(plan.seats as u64).saturating_add(plan.entries.len() as u64);
        if self.closings.len() as u64 > most {
            return Err(format!("its programs ended {} times", self.closings.len()));
        }
        for closing in &mut self.closings {
            let there = is_program(closing.entry as usize) && closing.log.len() <= MOST_LOG;
            let faults: Option<Vec<Fault>> = serde_json::from_str(&closing.faults).ok();
            let can_be = |faults: &Vec<Fault>| {
                faults.len() <= MOST_LAST_FAULTS && faults.iter().all(|fault| is_of_the_end(fault.kind))
            };
            let Some(mut faults) = faults.filter(|faults| there && can_be(faults)) else {
                return Err("what a program said at its end cannot be read".to_owned());
            };
            faults.iter_mut().for_each(|fault| fault.hint = hint(fault.kind));
            closing.faults = serde_json::to_string(&faults).unwrap_or_default();
        }
        Ok(())
    }

    /// Returns the outcome of each of some blocks, in order, for comparison. The rows have all of them.
    pub(super) fn came_to(
        &self,
        schedule: &Schedule,
        blocks: Range<u32>,
    ) -> impl Iterator<Item = Result<CameTo, StoreError>> {
        let damaged = || StoreError::Damaged("the results of some blocks cannot be read".into());
        let (mut place, mut ends): (usize, Option<Vec<usize>>) = (0, None);
        let mut block = blocks.start;
        iter::from_fn(move || {
            (block < blocks.end).then_some(())?;
            while self.chunks.get(place).is_some_and(|chunk| chunk.first + chunk.blocks <= block) {
                (place, ends) = (place + 1, None);
            }
            let chunk = self.chunks.get(place)?;
            if ends.is_none() {
                ends = results::ends(&chunk.results, schedule, chunk.first..chunk.first + chunk.blocks);
            }
            let Some(ends) = &ends else { return Some(Err(damaged())) };
            let number = (block - chunk.first) as usize;
            let start = number.checked_sub(1).map_or(0, |before| ends[before]);
            let mut result = blake3::Hasher::new();
            result.update(&chunk.results[start..ends[number]]);
            if !chunk.luck.is_empty() {
                let before =
                    |block| 4 * (schedule.matches_before(block) - schedule.matches_before(chunk.first));
                let Some(luck) = chunk.luck.get(before(block) as usize..before(block + 1) as usize) else {
                    return Some(Err(damaged()));
                };
                result.update(luck);
            }
            let (mut moves, mut kept) = (blake3::Hasher::new(), false);
            let mut faults = blake3::Hasher::new();
            let first = self.details.partition_point(|detail| detail.block < block);
            for detail in self.details[first..].iter().take_while(|detail| detail.block == block) {
                let Ok(known) = serde_json::from_str::<Vec<SeatFault>>(&detail.faults) else {
                    return Some(Err(damaged()));
                };
                // In words they may tell of times and paths, and warnings depend on the machine.
                for SeatFault { seat, step, fault } in known.iter().filter(|one| !one.fault.kind.is_warning())
                {
                    let text = format!("{} {seat:?} {step} {};", detail.number, fault.kind);
                    faults.update(text.as_bytes());
                }
                if let Some(replay) = &detail.replay {
                    kept = true;
                    moves.update(&detail.number.to_le_bytes()).update(blake3::hash(replay).as_bytes());
                }
            }
            let moves = kept.then(|| *moves.finalize().as_bytes());
            let faults = *faults.finalize().as_bytes();
            let came = CameTo { block, result: *result.finalize().as_bytes(), faults, moves };
            block += 1;
            Some(Ok(came))
        })
    }
}

/// The outcome of a block, as hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CameTo {
    pub block: u32,
    /// A hash of the results and the luck.
    result: [u8; blake3::OUT_LEN],
    /// A hash of the faults: which seat, when and of what kind.
    faults: [u8; blake3::OUT_LEN],
    /// A hash of all moves, if they were kept.
    pub moves: Option<[u8; blake3::OUT_LEN]>,
}

impl CameTo {
    /// Says in words how two outcomes differ, if they do.
    pub fn differs(&self, other: &CameTo) -> Option<&'static str> {
        if self.result != other.result {
            return Some("ended in two ways");
        }
        if self.faults != other.faults {
            return Some("has other misbehaviour, though it ended alike");
        }
        let moves = self.moves.zip(other.moves);
        moves
            .is_some_and(|(one, other)| one != other)
            .then_some("was played in two ways, though it ended alike")
    }
}
