//! A plan as a file: everything that a machine must know to play any block of it.

use super::{
    super::{Plan, PlannedEntry, Schedule, Store, StoreError, TournamentDice, TournamentError, crew::Crew},
    Allowed, MOST_PLAN, PartError,
    pack::{Unpacked, is_pack, unpack},
};
use crate::{
    dice::Secret,
    entry::{EntryError, EntryKind, EntrySpec, file_of, is_built_in, is_process},
    model, own,
    process::{Gifts, Launcher, Level, Wish, beyond_system},
};
use necrodome_rules::{
    names::{Names, is_invisible},
    with_game,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    ops::Range,
    path::{Path, PathBuf},
};

const FORMAT: &str = "necrodome-plan";
const VERSION: u32 = 1;
const EXPECTED: &str =
    "a plan: expected a file that `necrodome tournament --plan-out` or `necrodome pack` has written";

/// The text before the plan.
const PREFACE: &str = "\
# The plan of a tournament, for `necrodome shard`, `necrodome pack` and Ray. Do not edit it: an edited plan is another tournament.
# Anyone who knows `secrets` can compute the dice. Keep this file, packs and shards from those who enter bots.

";

/// The text after the plan, followed by a hash of everything before it.
const CHECKSUM: &str = "# checksum: ";

/// A plan as a file.
#[derive(Debug)]
pub struct PlanFile {
    plan: Plan,
    secrets: Vec<Secret>,
    /// The folder that the paths of entries are relative to.
    folder: PathBuf,
    /// The interpreter that runs bots in Python here.
    python: Option<String>,
    /// The folder with its unpacked bots, if they came with it.
    unpacked: Option<Unpacked>,
    /// Whether it comes from a store, and so perhaps from whoever sent a shard.
    pub(super) is_hearsay: bool,
    /// What its programs may do here.
    allowed: Allowed,
    /// The entries whose programs did not start where the plan was written.
    pub(super) not_started: Vec<String>,
    /// The version of necrodome that wrote it.
    made_by: String,
}

/// The facts about a plan for a user who cuts it into parts.
#[derive(Debug, Clone, Serialize)]
pub struct PlanInfo {
    /// The id, different for every tournament.
    pub id: String,
    /// The game.
    pub game: String,
    /// The first block that can be played.
    pub first: u32,
    /// The block after the last one.
    pub blocks: u32,
    /// The number of blocks that belong together: parts should be multiples of it.
    pub unit: u32,
    /// The number of matches in a block.
    pub matches_per_block: usize,
    /// The entries.
    pub entries: Vec<MemberInfo>,
    /// The level of confinement of programs, or `None` if no program takes part.
    pub sandbox: Option<Level>,
    /// What programs are given beyond the usual.
    pub gifts: Gifts,
    /// The version of necrodome.
    pub version: &'static str,
    /// The programs that every machine needs.
    pub interpreters: Vec<String>,
}

/// One of the entries.
#[derive(Debug, Clone, Serialize)]
pub struct MemberInfo {
    /// Its name.
    pub name: String,
    /// The bot, as the user wrote it.
    pub bot: String,
}

/// A plan as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: String,
    version: u32,
    /// The version of necrodome that wrote it.
    made_by: String,
    id: String,
    /// The folder that the paths of entries are relative to, seen from the file.
    folder: PathBuf,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    secrets: Vec<Secret>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    not_started: Vec<String>,
    plan: Value,
}

impl PlanFile {
    /// Returns the plan of a stored tournament with paths relative to `folder`.
    pub fn new(plan: &Plan, store: &Store, folder: &Path) -> Result<Self, PartError> {
        Self::with_secrets(plan.clone(), store.secrets(plan)?, folder)
    }

    /// Returns the plan of a stored tournament, with the bots of the plan or pack in `file`; without a file, bots are looked up from the
    /// current folder. Refuses the plan of another tournament.
    pub fn of_store(plan: &Plan, store: &Store, file: Option<&Path>) -> Result<Self, PartError> {
        let stored = Self::new(plan, store, Path::new("."))?;
        let Some(path) = file else { return Ok(PlanFile { is_hearsay: true, ..stored }) };
        let file = Self::read(path)?;
        match file.id() == stored.id() {
            true => Ok(file),
            false => {
                let what = "its plan is not that of the store".to_owned();
                Err(PartError::OtherPlan { path: path.to_owned(), what })
            }
        }
    }

    /// Returns a plan with the secrets that it is committed to.
    pub(super) fn with_secrets(
        mut plan: Plan,
        secrets: Vec<Secret>,
        folder: &Path,
    ) -> Result<Self, PartError> {
        check_entries(&plan).map_err(PartError::Unsuitable)?;
        plan.check().map_err(TournamentError::from)?;
        // Whether secrets were told is a matter of the store.
        plan.sealed_dice.iter_mut().for_each(|sealed| sealed.secret = None);
        TournamentDice::new(&plan, &secrets)?;
        Ok(PlanFile {
            plan,
            secrets,
            folder: folder.to_owned(),
            python: None,
            unpacked: None,
            is_hearsay: false,
            allowed: Allowed::default(),
            not_started: Vec::new(),
            made_by: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }

    /// Returns the version of necrodome that wrote the plan.
    pub fn made_by(&self) -> &str {
        &self.made_by
    }

    /// Returns the same plan with this interpreter for Python files.
    pub fn run_by(self, python: Option<String>) -> Self {
        PlanFile { python, ..self }
    }

    /// Returns the same plan for a host that allows its programs this much.
    pub fn allowing(self, allowed: Allowed) -> Self {
        PlanFile { allowed, ..self }
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the secrets of its dice.
    pub(super) fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    /// Returns the folder that the paths of entries are relative to.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A hash of the files of its bots, if they travel with it.
    pub fn bots(&self) -> Option<String> {
        self.unpacked.as_ref().map(|unpacked| unpacked.bots.clone())
    }

    /// Returns the id, different for every tournament: a hash of everything that the results follow from.
    pub fn id(&self) -> String {
        id_of(&self.plan)
    }

    /// Returns the plan as text, for a file in `folder`.
    pub fn text(&self, folder: &Path) -> Result<String, PartError> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let from = if real(folder) == real(&self.folder) { PathBuf::from(".") } else { real(&self.folder) };
        let plan = serde_json::to_value(&self.plan).unwrap_or_default();
        let made_by = self.made_by.clone();
        let (id, secrets, not_started) = (self.id(), self.secrets.clone(), self.not_started.clone());
        let (format, version) = (FORMAT.into(), VERSION);
        let written = Written { format, version, made_by, id, folder: from, secrets, not_started, plan };
        let written = serde_json::to_value(written).unwrap_or_default();
        let text = toml::to_string_pretty(&in_toml(&written))
            .map_err(|error| PartError::Unsuitable(format!("the plan cannot be written as TOML: {error}")))?;
        let text = format!("{PREFACE}{text}");
        let text = format!("{text}{CHECKSUM}{}\n", blake3::hash(text.as_bytes()));
        super::check_size(text.len()).map_err(PartError::Unsuitable)?;
        Ok(text)
    }

    /// Reads a plan, or unpacks one with its bots.
    pub fn read(path: &Path) -> Result<Self, PartError> {
        if is_pack(path) {
            let unpacked = unpack(path)?;
            let file = Self::parse(&unpacked.plan, unpacked.folder.path(), path)?;
            return Ok(PlanFile {
                folder: unpacked.folder.path().to_owned(),
                unpacked: Some(unpacked),
                ..file
            });
        }
        let bytes = own::read_bytes(path, MOST_PLAN).map_err(PartError::file(path))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| PartError::Foreign { path: path.to_owned(), expected: EXPECTED })?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self::parse(&text, folder, path)
    }

    fn parse(text: &str, folder: &Path, path: &Path) -> Result<Self, PartError> {
        let foreign = || PartError::Foreign { path: path.to_owned(), expected: EXPECTED };
        let edited = || PartError::Edited { path: path.to_owned() };
        let table: toml::Table = text.parse().map_err(|_| foreign())?;
        if table.get("format").and_then(toml::Value::as_str) != Some(FORMAT) {
            return Err(foreign());
        }
        match table.get("version").and_then(toml::Value::as_integer) {
            Some(version) if version == i64::from(VERSION) => {}
            came => {
                let came = came.map_or("none".to_owned(), |came| came.to_string());
                return Err(PartError::damaged(
                    path,
                    format!("it has version {came}, and this necrodome reads version {VERSION}"),
                ));
            }
        }
        let is_whole =
            |(body, sum): (&str, &str)| blake3::hash(body.as_bytes()).to_hex().as_str() == sum.trim();
        if !text.rsplit_once(CHECKSUM).is_some_and(is_whole) {
            return Err(edited());
        }
        let written: Written = table.try_into().map_err(|_| edited())?;
        let mut plan: Plan = serde_json::from_value(written.plan).map_err(|_| edited())?;
        if id_of(&plan) != written.id {
            plan.options = whole_options(&plan).map_err(|_| edited())?;
        }
        if id_of(&plan) != written.id {
            return Err(edited());
        }
        let file = Self::with_secrets(plan, written.secrets, &folder.join(written.folder))?;
        Ok(PlanFile { not_started: written.not_started, made_by: written.made_by, ..file })
    }

    /// Returns the members of the plan, in its order, as they are here. Checks that they are unchanged and can be run.
    pub fn entries(&self) -> Result<Vec<EntrySpec>, PartError> {
        let entry = |planned: &PlannedEntry| -> Result<EntrySpec, PartError> {
            let refuse = |why| PartError::Entry { name: planned.name.clone(), why };
            // Whoever parses an entry may read and compile its file.
            self.check_inside(planned, file_of(&planned.bot, &self.folder))?;
            let mut spec = EntrySpec::parse(&planned.bot, &self.folder).map_err(refuse)?;
            self.check_program(planned, &spec)?;
            self.python.iter().for_each(|python| spec.run_by(python));
            Ok(EntrySpec { name: Some(planned.name.clone()), ..spec })
        };
        let members: Vec<&PlannedEntry> =
            self.plan.members().map(|member| &self.plan.entries[member]).collect();
        let entries = members.iter().map(|planned| entry(planned)).collect::<Result<Vec<_>, _>>()?;
        let both = || members.iter().zip(&entries);
        let changed = both().filter(|(planned, entry)| planned.is_other(entry.fingerprint().as_deref()));
        let names: Vec<String> = changed.map(|(planned, _)| planned.name.clone()).collect();
        if !names.is_empty() {
            return Err(StoreError::OtherProgram { names }.into());
        }
        for (planned, entry) in both() {
            let name = planned.name.clone();
            entry.check().map_err(|why| match why {
                EntryError::NoProgram { runner: program, .. } => PartError::NoInterpreter { name, program },
                why => PartError::Entry { name, why },
            })?;
        }
        Ok(entries)
    }

    /// Refuses files that were not packed: the author of a pack may be a stranger, and a bot can read every file that it names.
    fn check_inside(
        &self,
        planned: &PlannedEntry,
        files: impl IntoIterator<Item = PathBuf>,
    ) -> Result<(), PartError> {
        if self.unpacked.is_none() {
            return Ok(());
        }
        let root = self.folder.canonicalize().map_err(PartError::file(&self.folder))?;
        let mut real = files.into_iter().filter_map(|file| file.canonicalize().ok());
        match real.find(|file| !file.starts_with(&root)) {
            None => Ok(()),
            Some(outside) => {
                let (name, outside) = (&planned.name, outside.display());
                Err(PartError::Unsuitable(format!("{name}: {outside} lies outside of the pack")))
            }
        }
    }

    /// Refuses what a program can read beyond the pack. Refuses a command that perhaps only a shard has named, unless it runs a file that is
    /// here and has the fingerprint of the plan.
    fn check_program(&self, planned: &PlannedEntry, spec: &EntrySpec) -> Result<(), PartError> {
        let EntryKind::Program(program) = &spec.kind else { return Ok(()) };
        if self.is_hearsay && program.files().is_empty() {
            let what = "the store names a command, and no file that could be checked: name the plan that you wrote (--plan)";
            return Err(PartError::Unsuitable(format!("{}: {what}", planned.name)));
        }
        // One that was compiled here runs where its own files cannot be.
        match program.sources.is_empty() {
            true => self.check_inside(planned, program.files().into_iter().chain([program.folder.clone()])),
            false => self.check_inside(planned, program.sources.clone()),
        }
    }

    /// Returns the launcher with the confinement and the gifts of the plan, if this machine has them and its user allows them. For a plan that
    /// may have come with a shard, gifts are refused, and the confinement is the strictest that this machine offers.
    pub fn launcher(&self, launcher: Launcher) -> Result<Launcher, PartError> {
        let Some(mut level) = self.plan.sandbox else {
            self.check_allowed()?;
            // No process takes part.
            return Ok(launcher.at(self.allowed.least));
        };
        if self.is_hearsay {
            if !self.plan.gifts.is_empty() {
                return Err(PartError::Unsuitable(format!(
                    "the store says that programs are given {}: name the plan that you wrote (--plan) to give it again",
                    self.plan.gifts
                )));
            }
            level = level.max(launcher.clone().confined(Wish::Auto)?.level());
        }
        self.allowed.check(&self.plan, Some(level))?;
        let confined = launcher.confined(Wish::Named(level))?;
        confined.giving(self.plan.gifts.clone()).map_err(PartError::NoVariable)
    }

    /// Refuses a plan that asks for more than is allowed, before anything is tried.
    pub fn check_allowed(&self) -> Result<(), PartError> {
        self.allowed.check(&self.plan, self.plan.sandbox)
    }

    /// Returns the level of confinement of programs, or `None` if no program takes part.
    pub fn sandbox(&self) -> Option<Level> {
        self.plan.sandbox
    }

    /// Returns the blocks that can be played: those of the last stage.
    pub fn blocks(&self) -> Result<Range<u32>, PartError> {
        let schedule = Schedule::of(&self.plan)?;
        Ok(schedule.stage()..schedule.end())
    }

    /// Returns how many blocks belong together. A part may begin elsewhere, but then programs also play the earlier blocks of that group.
    pub fn unit(&self) -> Result<u32, PartError> {
        let schedule = Schedule::of(&self.plan)?;
        if !self.plan.has_programs() {
            return Ok(1);
        }
        let id = self.plan.game().map_err(TournamentError::Plan)?;
        Ok(with_game!(id, G => Crew::<G>::shard(&schedule, schedule.stage())))
    }

    /// Returns the facts about the plan. Its bots must be here, unchanged, and with the programs that run them.
    pub fn info(&self) -> Result<PlanInfo, PartError> {
        let (blocks, schedule) = (self.blocks()?, Schedule::of(&self.plan)?);
        let member = |member: usize| {
            let PlannedEntry { name, bot, .. } = &self.plan.entries[member];
            MemberInfo { name: name.clone(), bot: bot.clone() }
        };
        Ok(PlanInfo {
            id: self.id(),
            game: self.plan.game.clone(),
            first: blocks.start,
            blocks: blocks.end,
            unit: self.unit()?,
            matches_per_block: schedule.matches(schedule.stage()),
            entries: self.plan.members().map(member).collect(),
            sandbox: self.sandbox(),
            gifts: self.plan.gifts.clone(),
            version: env!("CARGO_PKG_VERSION"),
            interpreters: self.interpreters()?,
        })
    }

    /// Returns what each program can read of this machine's user; nothing for a pack, whose programs read only what came with it.
    pub fn readable(&self) -> Result<Vec<(String, Vec<PathBuf>)>, PartError> {
        if self.unpacked.is_some() {
            return Ok(Vec::new());
        }
        let of_entry = |entry: EntrySpec| match (entry.name, entry.kind) {
            (Some(name), EntryKind::Program(program)) => Some((name, beyond_system(&program))),
            _ => None,
        };
        Ok(self.entries()?.into_iter().filter_map(of_entry).collect())
    }

    /// Returns the programs that are found by name, which every machine needs.
    fn interpreters(&self) -> Result<Vec<String>, PartError> {
        let mut all: Vec<String> = Vec::new();
        for entry in self.entries()? {
            if let EntryKind::Program(program) = &entry.kind {
                all.extend(program.words.first().filter(|word| !word.contains('/')).cloned());
            }
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }
}

/// Returns the id of a tournament, different for every one. Notes do not count, nor whether secrets were revealed.
pub(super) fn id_of(plan: &Plan) -> String {
    let mut plan = Plan { sandbox: None, gifts: Default::default(), ..plan.clone() };
    plan.entries.iter_mut().for_each(|entry| entry.runs_with = None);
    plan.sealed_dice.iter_mut().for_each(|sealed| sealed.secret = None);
    let text = serde_json::to_string(&plan).unwrap_or_default();
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

/// Says why the entries of a plan cannot be played in parts, if they cannot. Looks at no file of theirs: the plan may be a stranger's.
pub(super) fn check_entries(plan: &Plan) -> Result<(), String> {
    for PlannedEntry { name, bot, fingerprint, .. } in plan.members().map(|member| &plan.entries[member]) {
        let what = if bot.starts_with(model::PREFIX) {
            "is a language model, whose calls are kept and paid in one place"
        } else if fingerprint.is_none() && !is_built_in(bot) {
            "is a person, an object inside this program, or a program without a fingerprint, and cannot travel"
        } else {
            continue;
        };
        return Err(format!("{name} {what}: play this tournament on one machine"));
    }
    if plan.sandbox.is_none() && plan.members().any(|member| is_process(&plan.entries[member].bot)) {
        return Err(
            "the plan does not say how programs are confined: write a new one with `necrodome tournament ... --plan-out`"
                .to_owned(),
        );
    }
    // A report prints it, as a line of its own.
    let mut notes = plan.entries.iter().filter_map(|entry| entry.runs_with.as_ref());
    if notes.any(|text| text.contains(is_invisible)) {
        return Err("what programs are said to run with has control or invisible characters".to_owned());
    }
    Names::new(plan.entries.iter().map(|entry| &entry.name)).map(drop).map_err(|error| error.to_string())
}

/// Returns the options, including those that TOML cannot write: it has no null.
pub(super) fn whole_options(plan: &Plan) -> Result<Value, String> {
    let id = plan.game()?;
    with_game!(id, G => serde_json::to_value(plan.rules::<G>()?).map_err(|error| error.to_string()))
}

/// Turns JSON into TOML: without nulls, and with numbers that are too large for TOML as text.
fn in_toml(value: &Value) -> toml::Value {
    match value {
        Value::Null => toml::Value::String(String::new()),
        Value::Bool(value) => (*value).into(),
        Value::String(text) => text.clone().into(),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(number), ..) => number.into(),
            (None, Some(number), _) => number.to_string().into(),
            (None, None, number) => number.unwrap_or_default().into(),
        },
        Value::Array(list) => toml::Value::Array(list.iter().map(in_toml).collect()),
        Value::Object(table) => {
            let keys = table.iter().filter(|(_, value)| !value.is_null());
            toml::Value::Table(keys.map(|(key, value)| (key.clone(), in_toml(value))).collect())
        }
    }
}
