//! Tournaments: a plan, the schedule that follows from it, workers that play it, the store that keeps it, and a report.

mod archive;
mod chain;
mod crew;
mod estimate;
mod forecast;
mod formats;
mod log;
mod matches;
mod parts;
mod play;
mod raw;
mod repair;
mod report;
mod results;
mod resume;
mod schedule;
mod sealed;
mod search;
mod sense;
mod stages;
mod store;
mod summary;
mod sums;
mod tables;

pub use archive::{Archive, StoreError};
pub use chain::Damage;
pub use estimate::estimate;
pub use forecast::{Forecast, Length, PairForecast, forecast};
pub use formats::Format;
pub use matches::{
    MatchError, PlayedMatch, all_matches, match_dice, match_logs, matches, packed_replay, stored_result,
};
pub use parts::{
    Allowed, Audit, Catch, Difference, Disputed, Merged, Merger, Origin, Packed, PartError, PlanFile,
    PlanInfo, Shard, audit, blocks_to_catch, chance_to_catch, is_pack, merge, merged, pack,
};
pub use play::{Speed, Stop, TournamentError, Update, natural_threads, run, run_at};
pub use repair::{Condition, Repair, Sound, check, repair};
pub use report::{EntryReport, Pair, Regret, Report, Separated, UsageReport, hash_of, report, report_of};
pub use results::{BlockResult, Closing, Detail};
pub use resume::Opened;
pub use schedule::{Schedule, ScheduleError};
pub use sealed::{SealedDice, TournamentDice};
pub use search::{By, Found, Highlight, MatchMoment, MomentKind, Moments, REPLAYED, SEARCHED, Search};
pub use sense::PlanError;
pub use stages::Stage;
pub use store::Store;
pub use sums::Sums;

use crate::{
    entry::{EntrySpec, has_processes, models_of, versions},
    process::{Gifts, Level, Limits},
    stats::RankBy,
};
use formats::Seats;
use necrodome_rules::{
    catalog::{GameId, Listed, UnknownGame},
    chance::Seed,
    names::Names,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{ops::RangeInclusive, path::Path};

/// Returns the default number of seats of a format: one for each entry, or two.
pub fn natural_seats(format: Format, entries: usize, takes: RangeInclusive<usize>) -> usize {
    match formats::rules(format).seats {
        Seats::All => entries,
        Seats::Two | Seats::Any => 2.clamp(*takes.start(), *takes.end()),
    }
}

/// Everything that determines a tournament. Two tournaments with the same plan have the same results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The id of the game.
    pub game: String,
    /// The options of the rules.
    pub options: Value,
    /// The entries: their names, and the bots as the user wrote them.
    pub entries: Vec<PlannedEntry>,
    /// Who meets whom.
    pub format: Format,
    /// How many seats each match has.
    pub seats: usize,
    /// How many blocks are played.
    pub blocks: u32,
    /// The seed of everything. If dice are sealed: the seed of who sits where and, together with a secret, of the dice.
    pub seed: Seed,
    /// Whether to stop as soon as the neighbours in the standings are told apart.
    pub until_decided: bool,
    /// Whether to stop, too, when entries that are not told apart surely differ by no more than this: in win rate, score, or the
    /// share of blocks in which one outscores the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// Whether to stop as soon as a test between two claims about the first two entries is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Claims>,
    /// Whether the luck of the dice counts in the standings.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub rank_by: RankBy,
    /// What processes may use.
    pub limits: Limits,
    /// The lowest level at which programs were confined: a note that is never compared, and not part of the hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Level>,
    /// What programs were given beyond the usual, at any time: also such a note.
    #[serde(default, skip_serializing_if = "Gifts::is_empty")]
    pub gifts: Gifts,
    /// Whether an older necrodome, which seated entries differently, played it. It can be reported, but cannot go on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub older: bool,
    /// Whether more blocks were added after some had been played.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grown: bool,
    /// Which entries met from which block on, if it was not always all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// Whether the dice follow from the seed alone, although programs take part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub public_dice: bool,
    /// The secrets from which the dice follow, together with the seed; empty if no program takes part or dice are public.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sealed_dice: Vec<SealedDice>,
}

/// Two claims about how much better the first of two entries is than the second, in Elo points: at most `elo0`, or at least
/// `elo1`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claims {
    /// At most this much.
    pub elo0: f64,
    /// At least this much.
    pub elo1: f64,
}

/// Whether this is the default, which is not written, so that older plans stay the same.
fn is_usual(rank_by: &RankBy) -> bool {
    *rank_by == RankBy::default()
}

impl Plan {
    /// Returns a plan with the usual rules and limits that plays all its blocks.
    pub fn new(
        game: &str,
        entries: Vec<PlannedEntry>,
        format: Format,
        seats: usize,
        blocks: u32,
        seed: impl Into<Seed>,
    ) -> Self {
        Plan {
            game: game.to_owned(),
            options: Value::Object(Default::default()),
            entries,
            format,
            seats,
            blocks,
            seed: seed.into(),
            until_decided: false,
            margin: None,
            test: None,
            rank_by: RankBy::default(),
            limits: Limits::default(),
            sandbox: None,
            gifts: Gifts::default(),
            older: false,
            grown: false,
            stages: Vec::new(),
            public_dice: false,
            sealed_dice: Vec::new(),
        }
    }

    /// Returns the members, who are in the standings: the numbers of all entries except those that have left.
    pub fn members(&self) -> impl Iterator<Item = usize> {
        (0..self.entries.len()).filter(|&entry| !self.entries[entry].left)
    }

    /// Returns the number of an entry.
    pub(crate) fn place_of(&self, entry: &PlannedEntry) -> Option<usize> {
        self.entries.iter().position(|own| own.is_same(entry))
    }

    /// Puts things that belong to the entries of the `asked` plan into the order of this plan, which continues with them.
    pub fn in_order<T>(&self, asked: &Plan, of_entries: Vec<T>) -> Vec<T> {
        let mut numbered: Vec<_> = asked.entries.iter().zip(of_entries).collect();
        // By name: a program that was changed is under the same name twice, but the old one was renamed.
        numbered.sort_by_key(|(entry, _)| self.entries.iter().position(|own| own.name == entry.name));
        numbered.into_iter().map(|(_, thing)| thing).collect()
    }

    /// Whether the tournament may stop before all blocks are played.
    pub fn stops_early(&self) -> bool {
        self.until_decided || self.test.is_some()
    }

    /// Returns the game, or why the plan has none.
    pub(crate) fn game(&self) -> Result<GameId, String> {
        self.game.parse().map_err(|unknown: UnknownGame| unknown.to_string())
    }

    /// Returns the rules, or why these options do not fit `G`.
    pub(crate) fn rules<G: Listed>(&self) -> Result<G::Rules, String> {
        serde_json::from_value(self.options.clone())
            .map_err(|error| format!("its options are not those of {}: {error}", G::ID))
    }
}

/// An entry in a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedEntry {
    /// Its name.
    pub name: String,
    /// The bot, as the user wrote it.
    pub bot: String,
    /// The fingerprint of its program or language model; none for a built-in bot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Whether it has left the tournament.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
    /// What its program ran with when the tournament was begun or continued, such as `Python 3.12.3`: a note that is never
    /// compared, and not part of the hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_with: Option<String>,
}

impl PlannedEntry {
    /// Returns a built-in bot with a name.
    pub fn new(name: impl Into<String>, bot: impl Into<String>) -> Self {
        PlannedEntry { name: name.into(), bot: bot.into(), ..PlannedEntry::default() }
    }

    /// Whether the other entry has the same name and is written the same. The path of a program may differ.
    fn is_same(&self, other: &PlannedEntry) -> bool {
        let programs = self.fingerprint.is_some() && other.fingerprint.is_some();
        self.name == other.name && (self.bot == other.bot || programs)
    }

    /// Whether a program with this fingerprint is a different one. Older plans have no fingerprints.
    pub fn is_other(&self, fingerprint: Option<&str>) -> bool {
        self.fingerprint.is_some() && self.fingerprint.as_deref() != fingerprint
    }
}

/// Returns the entries as a plan stores them.
pub fn planned(entries: &[EntrySpec], names: &Names) -> Vec<PlannedEntry> {
    let entry = |(entry, name): (&EntrySpec, &str)| PlannedEntry {
        name: name.into(),
        bot: entry.text.clone(),
        fingerprint: entry.fingerprint(),
        left: false,
        runs_with: None,
    };
    entries.iter().zip(names.iter()).map(entry).collect()
}

/// The user's wishes for a tournament. Anything left open is chosen to fit the game.
#[derive(Debug, Clone, Default)]
pub struct Wishes<'a> {
    /// Who meets whom.
    pub format: Option<&'a str>,
    /// How many seats each match has.
    pub seats: Option<usize>,
    /// How many blocks are played.
    pub blocks: Option<u32>,
    /// The seed of everything.
    pub seed: Option<Seed>,
    /// Whether the dice follow from the seed alone, even if programs take part.
    pub public_dice: bool,
    /// Whether to stop as soon as the neighbours in the standings are told apart.
    pub until_decided: bool,
    /// The difference that is too small to play on for.
    pub margin: Option<f64>,
    /// Claims to test.
    pub test: Option<Claims>,
    /// Whether the luck of the dice counts in the standings.
    pub rank_by: RankBy,
    /// The names of the entries that meet now; all entries if it is empty.
    pub only: &'a [String],
    /// The limits on processes.
    pub limits: Limits,
    /// How strictly processes are confined.
    pub sandbox: Option<Level>,
    /// What processes are given beyond the usual.
    pub gifts: Gifts,
    /// The file that keeps the tournament.
    pub store: Option<&'a Path>,
}

impl Wishes<'_> {
    /// Returns the plan of the tournament. If no seed is given, an existing store supplies it.
    pub fn plan<G: Listed, E: From<TournamentError>>(
        &self,
        game: GameId,
        entries: &[EntrySpec],
        names: &Names,
        rules: &G::Rules,
        spare_seed: impl FnOnce() -> Result<Seed, E>,
    ) -> Result<Plan, E> {
        let format = match self.format {
            None => game.card().format,
            Some(name) => {
                let unknown = || ScheduleError::Format { name: name.to_owned() };
                Format::named(name).ok_or_else(unknown).map_err(TournamentError::from)?
            }
        };
        let mut plan = Plan {
            game: G::ID.into(),
            // Rules have no maps with odd keys, so this cannot fail.
            options: serde_json::to_value(rules).unwrap_or_default(),
            entries: planned(entries, names),
            format,
            seats: self.seats.unwrap_or_else(|| natural_seats(format, entries.len(), G::SEATS)),
            blocks: self.blocks.unwrap_or_else(|| natural_blocks(game, entries)),
            seed: self.seed.unwrap_or_default(),
            until_decided: self.until_decided,
            margin: self.margin,
            test: self.test,
            rank_by: self.rank_by,
            limits: self.limits,
            sandbox: self.sandbox.filter(|_| has_processes(entries)),
            gifts: if has_processes(entries) { self.gifts.clone() } else { Gifts::default() },
            older: false,
            grown: false,
            stages: Vec::new(),
            public_dice: self.public_dice,
            sealed_dice: Vec::new(),
        };
        plan.stages.extend(self.only(&plan)?);
        for (entry, version) in plan.entries.iter_mut().zip(versions(entries)) {
            entry.runs_with = version;
        }
        plan.check().map_err(TournamentError::from)?;
        if self.seed.is_none() {
            let stored = self.store.filter(|path| path.exists()).and_then(|path| Archive::read(path).ok());
            plan.seed = match stored.and_then(|archive| archive.seed_of(&plan).ok().flatten()) {
                Some(seed) => seed,
                None => spare_seed()?,
            };
        }
        Ok(plan)
    }
}

impl Wishes<'_> {
    /// Returns the stage in which only the entries in `only` meet.
    fn only(&self, plan: &Plan) -> Result<Option<Stage>, TournamentError> {
        if self.only.is_empty() {
            return Ok(None);
        }
        let place = |name: &String| {
            let unknown = || ScheduleError::Nobody {
                name: name.clone(),
                names: plan.entries.iter().map(|entry| entry.name.clone()).collect(),
            };
            plan.entries.iter().position(|entry| entry.name == *name).ok_or_else(unknown)
        };
        let mut entries = self.only.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        entries.sort_unstable();
        entries.dedup();
        if !stages::can_change(plan) {
            return Err(ScheduleError::Everybody { format: plan.format.as_str() }.into());
        }
        if plan.format == Format::Gauntlet && entries[0] != 0 {
            return Err(ScheduleError::First { name: plan.entries[0].name.clone() }.into());
        }
        Ok(Some(Stage { first: 0, entries }))
    }
}

/// The most blocks of a tournament with slow bots, by default.
pub const BLOCKS_OF_SLOW_BOTS: u32 = 200;
/// The same with language models, which cost money.
const BLOCKS_OF_MODELS: u32 = 10;

/// Returns the default number of blocks: enough for a result, in a reasonable time.
pub fn natural_blocks(game: GameId, entries: &[EntrySpec]) -> u32 {
    let slow = entries.iter().any(|entry| entry.kind.remembers());
    let blocks = game.card().blocks;
    match slow {
        _ if !models_of(entries).is_empty() => blocks.min(BLOCKS_OF_MODELS),
        true => blocks.min(BLOCKS_OF_SLOW_BOTS),
        false => blocks,
    }
}
