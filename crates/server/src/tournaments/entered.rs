//! Turns a page's request for a tournament into a plan, or says what is wrong with it. Nothing from the network is ever taken for a
//! file or a command.

use super::{allowed::Allowed, shown::TournamentPace};
use crate::Refusal;
use necrodome_arena::{
    dice::random_seed,
    entry::{EntryKind, EntrySpec, compat::PREFIX, has_processes, looks_like_file, name_all, versions},
    lineup::{Terms, player},
    process::{Gifts, Launcher, Limits},
    stats::RankBy,
    tournament::{Claims, Format, Plan, PlannedEntry, Schedule, natural_blocks, natural_seats},
};
use necrodome_rules::{
    bot::BotSpec,
    catalog::{GameId, Listed},
    chance::{Seed, Seeded},
    names::Names,
    options, with_game,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The most blocks. A larger number is surely a typing error.
const MAX_BLOCKS: u32 = 10_000_000;
const MAX_ENTRIES: usize = 100;

/// A request of the host for a tournament.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTournament {
    /// The game.
    pub game: String,
    /// Options of the rules that differ from their defaults.
    #[serde(default)]
    pub options: Map<String, Value>,
    /// Who takes part.
    pub entries: Vec<NewEntry>,
    /// Who meets whom: table, round-robin, gauntlet or battle; if left out, the usual format of the game.
    #[serde(default)]
    pub format: Option<String>,
    /// Seats of a match.
    #[serde(default)]
    pub seats: Option<usize>,
    /// How many blocks to play.
    #[serde(default)]
    pub blocks: Option<u32>,
    /// The seed, a number or text; if left out, a random one. Where programs take part, a secret is added to it.
    #[serde(default)]
    pub seed: Option<Seed>,
    /// Whether to stop as soon as neighbours in the standings are told apart.
    #[serde(default)]
    pub until_decided: bool,
    /// Also stop when entries that are not told apart surely differ by less than this.
    #[serde(default)]
    pub margin: Option<f64>,
    /// Stop when a test between two claims is decided.
    #[serde(default)]
    pub test: Option<NewTest>,
    /// What decides the standings of a solved game; if left out, the luck-adjusted results.
    #[serde(default)]
    pub rank_by: Option<RankedBy>,
    /// How fast it is played. The results are the same.
    #[serde(default)]
    pub pace: TournamentPace,
}

/// Two claims about how many Elo points the first of two entries is better than the second: at most `elo0`, or at least `elo1`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTest {
    /// The first claim: at most this many points.
    pub elo0: f64,
    /// The second claim: at least this many points.
    pub elo1: f64,
}

/// What decides the standings of a solved game.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RankedBy {
    /// The luck-adjusted results.
    LuckAdjusted,
    /// The results as they are.
    Plain,
}

impl From<RankedBy> for RankBy {
    fn from(by: RankedBy) -> Self {
        match by {
            RankedBy::LuckAdjusted => RankBy::LuckAdjusted,
            RankedBy::Plain => RankBy::Plain,
        }
    }
}

/// An entry of the tournament.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEntry {
    /// Its name; if left out, the arena chooses one.
    #[serde(default)]
    pub name: Option<String>,
    /// A built-in bot, with parameters as in `stop-at:brains=5`, or one that the host allows.
    pub bot: String,
}

impl NewTournament {
    /// Returns the plan, if it can be played.
    pub(super) fn plan(&self, allowed: &Allowed, launcher: &Launcher) -> Result<Plan, Refusal> {
        let id = self.game.parse::<GameId>()?;
        with_game!(id, G => self.plan_of::<G>(id, allowed, launcher))
    }

    fn plan_of<G: Listed>(
        &self,
        id: GameId,
        allowed: &Allowed,
        launcher: &Launcher,
    ) -> Result<Plan, Refusal> {
        if self.entries.len() > MAX_ENTRIES {
            let came = self.entries.len();
            return Err(Refusal::bad(format!("expected at most {MAX_ENTRIES} entries, got {came}")));
        }
        let pair = |(name, value): (&String, &Value)| (name.clone(), options::plain(value));
        let pairs: Vec<(String, String)> = self.options.iter().map(pair).collect();
        let rules: G::Rules = options::parse(&pairs).map_err(Refusal::bad)?;
        let wanted = |entry: &NewEntry| resolve(id, &entry.bot, allowed);
        let kinds = self.entries.iter().map(wanted).collect::<Result<Vec<EntrySpec>, _>>()?;
        let names = self.names()?;
        let format = match &self.format {
            None => id.card().format,
            Some(name) => Format::named(name).ok_or_else(|| {
                let all = Format::ALL.map(Format::as_str).join(", ");
                Refusal::bad(format!("there is no format {name:?}")).hint(format!("expected one of {all}"))
            })?,
        };
        let planned =
            |(((entry, kind), runs_with), name): (((&NewEntry, &EntrySpec), Option<String>), &str)| {
                PlannedEntry {
                    name: name.into(),
                    bot: entry.bot.trim().to_owned(),
                    fingerprint: kind.fingerprint(),
                    runs_with,
                    left: false,
                }
            };
        let plan = Plan {
            game: G::ID.into(),
            options: serde_json::to_value(&rules).map_err(Refusal::internal)?,
            entries: self
                .entries
                .iter()
                .zip(&kinds)
                .zip(versions(&kinds))
                .zip(names.iter())
                .map(planned)
                .collect(),
            format,
            seats: self.seats.unwrap_or_else(|| natural_seats(format, self.entries.len(), G::SEATS)),
            blocks: self.blocks.unwrap_or_else(|| natural_blocks(id, &kinds)),
            seed: self.seed.map_or_else(random_seed, Ok).map_err(Refusal::internal)?,
            until_decided: self.until_decided,
            margin: self.margin,
            sandbox: has_processes(&kinds).then(|| launcher.level()),
            gifts: if has_processes(&kinds) { launcher.gifts().clone() } else { Gifts::default() },
            test: self.test.map(|NewTest { elo0, elo1 }| Claims { elo0, elo1 }),
            rank_by: self.rank_by.map(RankBy::from).unwrap_or_default(),
            limits: Limits::default(),
            older: false,
            grown: false,
            stages: Vec::new(),
            public_dice: false,
            sealed_dice: Vec::new(),
        };
        plan.check().map_err(|error| {
            let refusal = Refusal::bad(&error);
            error.hint().map_or(refusal.clone(), |hint| refusal.hint(hint))
        })?;
        if !(1..=MAX_BLOCKS).contains(&plan.blocks) {
            let came = plan.blocks;
            return Err(Refusal::bad(format!("blocks: expected 1 to {MAX_BLOCKS}, got {came}")));
        }
        Schedule::new(&plan, G::SEATS).map_err(Refusal::bad)?;
        try_line_up::<G>(&kinds, &names, &plan, rules)?;
        Ok(plan)
    }

    /// Returns the names in the request, and names for the entries without one.
    fn names(&self) -> Result<Names, Refusal> {
        let spec = |entry: &NewEntry| {
            let name = entry.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
            // Made names are those of built-in bots: an allowed one is called by its name too.
            let bot = BotSpec { name: entry.bot.trim().to_owned(), params: Vec::new() };
            EntrySpec {
                name: name.map(str::to_owned),
                text: entry.bot.clone(),
                kind: EntryKind::BuiltIn(bot),
            }
        };
        let specs: Vec<EntrySpec> = self.entries.iter().map(spec).collect();
        name_all(&specs).map_err(Refusal::bad)
    }
}

/// Returns the entry for a name that the host allows or for a built-in bot, but never for a path or a command.
pub(super) fn resolve(game: GameId, written: &str, allowed: &Allowed) -> Result<EntrySpec, Refusal> {
    let text = written.trim().to_owned();
    if let Some(program) = allowed.entry(game, &text) {
        return Ok(program);
    }
    if text == "human"
        || ["cmd:", PREFIX].iter().any(|&kind| text.starts_with(kind))
        || looks_like_file(&text)
    {
        return Err(Refusal::bad(format!("expected a bot by its name, got {text:?}"))
            .hint("programs take part when the host names them in bots.toml (necrodome serve --bots)"));
    }
    let spec: BotSpec = text.parse().map_err(|error| Refusal::bad(format!("bot {text:?}: {error}")))?;
    Ok(EntrySpec { name: None, text, kind: EntryKind::BuiltIn(spec) })
}

/// Builds every entry once, so that a mistake in the line-up shows before anything starts.
fn try_line_up<G: Listed>(
    entries: &[EntrySpec],
    names: &Names,
    plan: &Plan,
    rules: G::Rules,
) -> Result<(), Refusal> {
    let terms = Terms { launcher: PathBuf::new().into(), limits: plan.limits, rules, seats: plan.seats };
    for (entry, name) in entries.iter().zip(names.iter()) {
        player::<G>(entry, name, &terms, Seeded::new(0, "trial", 0)).map_err(Refusal::bad)?;
    }
    Ok(())
}
