//! Finds what is sound in a store, and makes a new store from it: blocks that are damaged or missing are restored from the replays of
//! their matches, or played again, which gives the same results.

use super::{
    Archive, BlockResult, Detail, Plan, Schedule, Store, StoreError, TournamentError,
    archive::{connect, seems_ours, to_json},
    chain::{self, CHUNKS, CLOSINGS, DETAILS, Damage, HEADS, PARTS, PLANS, words_of_blocks},
    crew::{Arena, Crew},
    log,
    play::run_name,
    raw::Salvage,
    results,
};
use crate::{
    entry::{EntryError, EntryKind, EntrySpec, files_of, models_of},
    lineup::Terms,
    model,
    process::Launcher,
    replay,
};
use necrodome_models::{Desk, Run};
use necrodome_rules::{catalog::Listed, names::Names, with_game};
use necrodome_solve::solve;
use rusqlite::{
    Connection, params_from_iter,
    types::{Value, ValueRef},
};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::Path,
};

/// The sound and the damaged parts of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// Whether its rows are sealed. Older versions have no seals, and little can be said about them.
    pub sealed: bool,
    /// A hash of all seals. A user who has noted it can check later that nothing was changed. Missing if something is damaged.
    pub seal: Option<String>,
    /// What is damaged.
    pub damage: Vec<Damage>,
    /// The sound parts of each tournament.
    pub tournaments: Vec<Sound>,
}

/// The sound parts of a tournament.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sound {
    /// Its number.
    pub tournament: i64,
    /// Its game, if its plan is sound.
    pub game: Option<String>,
    /// The first and the last block of each stretch with sound results.
    pub blocks: Vec<(u32, u32)>,
    /// The number of its matches with a sound replay or sound faults.
    pub details: usize,
    /// The number of blocks that were stored before rows were sealed: they are as they were found then.
    pub unsealed: u32,
}

/// Finds out what is sound in a store, and what is damaged.
pub fn check(path: &Path) -> Result<Condition, StoreError> {
    let damage = match Archive::read(path) {
        Ok(archive) if !archive.is_sealed() => return unsealed(&archive),
        Ok(archive) => {
            let seal = Some(seal_of(&archive)?);
            // From the tables: bytes of deleted or rolled-back rows may still lie in the file.
            let tournaments = listed(&archive)?;
            return Ok(Condition { sealed: true, seal, damage: Vec::new(), tournaments });
        }
        Err(StoreError::Damaged(what)) => damage(path, what),
        // One changed bit makes another version of this one.
        Err(error @ StoreError::Version { .. }) => vec![Damage::of_file(error.to_string())],
        // Not even its header says that it is ours, but its rows may.
        Err(StoreError::Foreign) => vec![Damage::of_file("the header of the file")],
        Err(other) => return Err(other),
    };
    let salvage = salvage(path)?;
    let sealed = PARTS.iter().any(|part| !salvage.rows(part).is_empty());
    if !(sealed || seems_ours(path)) {
        return Err(StoreError::Foreign);
    }
    Ok(Condition { sealed, seal: None, damage, tournaments: sound(&salvage) })
}

fn salvage(path: &Path) -> Result<Salvage, StoreError> {
    Salvage::of(path).map_err(|_| StoreError::Closed)
}

/// Returns everything that is wrong with a refused file.
fn damage(path: &Path, what: String) -> Vec<Damage> {
    let mut damage: Vec<Damage> = log::examine(path).ok().flatten().into_iter().collect();
    if let Ok(connection) = connect(path) {
        damage.extend(chain::examine(&connection));
    }
    if damage.is_empty() { vec![Damage::of_file(what)] } else { damage }
}

fn seal_of(archive: &Archive) -> Result<String, StoreError> {
    let connection = archive.connection();
    let mut query =
        connection.prepare(&format!("SELECT seal FROM {} ORDER BY tournament, part", HEADS.table))?;
    let mut hasher = blake3::Hasher::new();
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        hasher.update(&row.get::<_, Vec<u8>>(0)?);
    }
    Ok(hasher.finalize().to_string())
}

/// Returns the condition of a store of an older version, in which SQLite finds no damage.
fn unsealed(archive: &Archive) -> Result<Condition, StoreError> {
    let mut tournaments = listed(archive)?;
    for (tournament, (store, _)) in tournaments.iter_mut().zip(archive.stores()?) {
        (tournament.details, tournament.unsealed) = (0, store.blocks()?);
    }
    Ok(Condition { sealed: false, seal: None, damage: Vec::new(), tournaments })
}

/// Returns the tournaments of a store without damage.
fn listed(archive: &Archive) -> Result<Vec<Sound>, StoreError> {
    let mut tournaments = Vec::new();
    for (store, plan) in archive.stores()? {
        let (id, blocks) = (store.id(), store.blocks()?);
        let connection = archive.connection();
        let number = |query: &str| connection.query_row(query, [id], |row| row.get::<_, u32>(0));
        tournaments.push(Sound {
            tournament: id,
            game: Some(plan.game),
            blocks: (blocks > 0).then(|| (0, blocks - 1)).into_iter().collect(),
            details: number("SELECT count(*) FROM details WHERE tournament = ?1")? as usize,
            unsealed: number("SELECT max(unsealed) FROM plans WHERE tournament = ?1")?,
        });
    }
    Ok(tournaments)
}

fn sound(salvage: &Salvage) -> Vec<Sound> {
    let mut ids: Vec<i64> =
        PARTS.iter().flat_map(|part| salvage.rows(part).keys().map(|(id, _)| *id)).collect();
    ids.sort_unstable();
    ids.dedup();
    let sound = |tournament: i64| {
        let of = Tournament { salvage, id: tournament };
        let mut blocks: Vec<(u32, u32)> = Vec::new();
        for Range { start, end } in of.chunks().map(|(range, _)| range).filter(|range| !range.is_empty()) {
            match blocks.last_mut() {
                Some((_, last)) if *last + 1 == start => *last = end - 1,
                _ => blocks.push((start, end - 1)),
            }
        }
        Sound {
            tournament,
            game: of.plan().map(|plan| plan.game),
            blocks,
            details: of.rows(&DETAILS).count(),
            unsealed: of.rows(&PLANS).filter_map(|row| number(&row[2])).max().unwrap_or(0) as u32,
        }
    };
    ids.into_iter().map(sound).collect()
}

fn number(value: &Value) -> Option<i64> {
    if let Value::Integer(number) = value { Some(*number) } else { None }
}

/// The sound rows of one tournament.
#[derive(Clone, Copy)]
struct Tournament<'a> {
    salvage: &'a Salvage,
    id: i64,
}

impl<'a> Tournament<'a> {
    fn rows(self, part: &chain::Part) -> impl Iterator<Item = &'a Vec<Value>> {
        let all = (self.id, Vec::new())..(self.id + 1, Vec::new());
        self.salvage.rows(part).range(all).map(|(_, row)| row)
    }

    /// Returns the plan that applies.
    fn plan(self) -> Option<Plan> {
        match self.rows(&PLANS).last()?.last()? {
            Value::Text(plan) => serde_json::from_str(plan).ok(),
            _ => None,
        }
    }

    /// Returns the sound chunks, in order, with their blocks.
    fn chunks(self) -> impl Iterator<Item = (Range<u32>, &'a Vec<Value>)> {
        self.rows(&CHUNKS).filter_map(|row| {
            let (first, blocks) =
                (u32::try_from(number(&row[1])?).ok()?, u32::try_from(number(&row[2])?).ok()?);
            Some((first..first.checked_add(blocks)?, row))
        })
    }

    /// Returns the sound details of a block.
    fn details(self, block: u32) -> impl Iterator<Item = &'a Vec<Value>> {
        let of_block = (self.id, vec![block.into()])..(self.id, vec![i64::from(block) + 1]);
        self.salvage.rows(&DETAILS).range(of_block).map(|(_, row)| row)
    }

    /// Returns how many rows of a part are lost.
    fn lost(self, part: &chain::Part) -> i64 {
        let written = self.salvage.written.get(&(self.id, part.table.to_owned())).copied().unwrap_or(0);
        (written - self.rows(part).count() as i64).max(0)
    }
}

/// The result of a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// The steps that were done, in sentences.
    pub done: Vec<String>,
    /// The things that could not be done.
    pub lost: Vec<String>,
    /// The number of lost blocks.
    pub blocks_lost: u32,
    /// Language models whose tables are missing, so that blocks are lost.
    pub models_missing: BTreeSet<String>,
}

/// The means to play blocks again.
#[derive(Clone, Copy)]
struct Again<'a> {
    launcher: &'a Launcher,
    desk: Option<&'a Desk>,
}

/// Makes a new store of everything that is sound in a damaged one, and plays what is missing again. Call it from the folder in which the
/// tournaments were begun. Language models are asked through the desk.
pub fn repair(
    path: &Path,
    new: &Path,
    launcher: &Launcher,
    desk: Option<&Desk>,
) -> Result<Repair, TournamentError> {
    let salvage = salvage(path)?;
    if PARTS.iter().all(|part| salvage.rows(part).is_empty()) {
        return Err(StoreError::Damaged("no sound row was found".into()).into());
    }
    let mut repair = Repair::default();
    if salvage.mended > 0 {
        let rows = if salvage.mended == 1 { "1 row".to_owned() } else { format!("{} rows", salvage.mended) };
        repair.done.push(format!("{rows}: the one bit that had changed was found and put right"));
    }
    let archive = Archive::open(new)?;
    let launcher = &launcher.clone().hiding(archive.files()).hiding([path.to_owned(), log::path_of(path)]);
    let again = Again { launcher, desk };
    for Sound { tournament: id, .. } in sound(&salvage) {
        let of = Tournament { salvage: &salvage, id };
        match of.plan() {
            Some(plan) => mend(of, &plan, &archive, again, &mut repair)?,
            None => repair.lost.push(format!("tournament {id}: its plan is damaged, and says nothing else")),
        }
    }
    if let Err(error) = copy_others(path, &archive) {
        repair.lost.push(format!("what `necrodome serve` may have kept beside tournaments ({error})"));
    }
    chain::refuse(&chain::examine(&archive.connection()))?;
    Ok(repair)
}

/// Copies a tournament into a new file, repaired.
fn mend(
    of: Tournament,
    plan: &Plan,
    archive: &Archive,
    player: Again,
    repair: &mut Repair,
) -> Result<(), TournamentError> {
    let (id, schedule) = (of.id, Schedule::of(plan)?);
    let add = |part: &chain::Part, row: &[Value]| -> Result<(), StoreError> {
        let values: Vec<ValueRef> = row[1..].iter().map(ValueRef::from).collect();
        Ok(part.append(&archive.connection(), id, [&values])?)
    };
    archive.connection().execute_batch("BEGIN").map_err(StoreError::from)?;
    for part in PARTS.iter().filter(|part| ![PLANS, CHUNKS, DETAILS, CLOSINGS].contains(part)) {
        of.rows(part).try_for_each(|row| add(part, row))?;
        if of.lost(part) > 0 {
            repair.lost.push(format!("tournament {id}: some of its {}", part.table));
        }
    }
    for (revision, row) in of.rows(&PLANS).enumerate() {
        let mut row = row.clone();
        row[1] = Value::Integer(revision as i64);
        add(&PLANS, &row)?;
    }
    if of.lost(&PLANS) > 0 {
        repair
            .lost
            .push(format!("tournament {id}: a change of its plan, such as more blocks or another line-up"));
    }
    archive.connection().execute_batch("COMMIT").map_err(StoreError::from)?;
    let mut store = Store::new(archive.clone(), id);
    let (mut next, mut kept) = (0, 0);
    let has_lost_details = of.lost(&DETAILS) > 0;
    let beyond =
        of.rows(&DETAILS).last().and_then(|row| u32::try_from(number(&row[1])? + 1).ok()).unwrap_or(0);
    let gap_at_the_end = of.chunks().last().map_or(0, |(range, _)| range.end).max(beyond);
    let end = [(gap_at_the_end..gap_at_the_end, None)];
    for (range, row) in of.chunks().map(|(range, row)| (range, Some(row))).chain(end) {
        if range.start > next {
            let gap = next..range.start;
            let words = words_of_blocks((gap.start, gap.end - 1));
            match make_again(of, &store, plan, &schedule, gap, player) {
                Ok((blocks, how)) => {
                    store.append(&blocks)?;
                    repair.done.push(format!("tournament {id}: {words}: {how}"));
                }
                Err(why) => {
                    repair.lost.push(format!("tournament {id}: {words} and all that came after: {why}"));
                    repair.blocks_lost += gap_at_the_end - next;
                    if player.desk.is_none() {
                        repair.models_missing.extend(models_in(plan, &schedule, next..range.start));
                    }
                    break;
                }
            }
        }
        let Some(row) = row else { break };
        let mut again = BTreeMap::new();
        // Where a program takes part, all matches have details, elsewhere none has.
        let is_bare = |block: &u32| has_lost_details && of.details(*block).count() < schedule.matches(*block);
        for block in range.clone().filter(is_bare) {
            match details_again(of, &store, plan, &schedule, (block, row), player) {
                Ok(details) => {
                    repair.done.push(format!(
                        "tournament {id}: replay and faults of block {block}: made again by playing it again"
                    ));
                    again.insert(block, details);
                }
                Err(why) => {
                    repair.lost.push(format!("tournament {id}: replay and faults of block {block}: {why}"));
                }
            }
        }
        archive.connection().execute_batch("BEGIN").map_err(StoreError::from)?;
        add(&CHUNKS, row)?;
        for block in range.clone() {
            let mut details: Vec<Vec<Value>> = of.details(block).cloned().collect();
            details.extend(again.remove(&block).into_iter().flatten());
            // A chain is made in the order of its rows.
            details.sort_by_key(|row| number(&row[2]));
            details.iter().try_for_each(|row| add(&DETAILS, row))?;
        }
        archive.connection().execute_batch("COMMIT").map_err(StoreError::from)?;
        kept += range.len();
        next = range.end;
    }
    repair.done.push(format!("tournament {id}: {kept} blocks were sound, and are kept"));
    for (place, row) in of.rows(&CLOSINGS).enumerate() {
        let mut row = row.clone();
        row[1] = Value::Integer(place as i64);
        add(&CLOSINGS, &row)?;
    }
    if of.lost(&CLOSINGS) > 0 {
        repair.lost.push(format!("tournament {id}: what {} programs said at their end", of.lost(&CLOSINGS)));
    }
    Ok(())
}

/// Restores missing details of a block whose results are sound: plays it again, which must give the stored results.
fn details_again(
    of: Tournament,
    store: &Store,
    plan: &Plan,
    schedule: &Schedule,
    (block, row): (u32, &Vec<Value>),
    player: Again,
) -> Result<Vec<Vec<Value>>, String> {
    let stored = match (&row[3], number(&row[1])) {
        (Value::Blob(results), Some(first)) => {
            let place = usize::try_from(i64::from(block) - first).ok();
            place.and_then(|place| results::blocks(results, schedule, first as u32).nth(place).flatten())
        }
        _ => None,
    };
    let id = plan.game()?;
    let again =
        with_game!(id, G => from_play::<G>(store, plan, schedule, block..block + 1, player))?.swap_remove(0);
    if stored.is_none() || results::blocks(&again.packed, schedule, block).next().flatten() != stored {
        return Err("played again, it ended otherwise".into());
    }
    let there: Vec<i64> = of.details(block).filter_map(|row| number(&row[2])).collect();
    let missing = again.details.into_iter().filter(|detail| !there.contains(&detail.number.into()));
    let row = |Detail { number, faults, replay }: Detail| {
        let (faults, replay) = (Value::Text(to_json(&faults)), replay.map_or(Value::Null, Value::Blob));
        vec![of.id.into(), block.into(), number.into(), faults, replay]
    };
    Ok(missing.map(row).collect())
}

/// Copies the other tables of the file, such as those of `necrodome serve`, as far as SQLite can read them.
fn copy_others(path: &Path, archive: &Archive) -> Result<(), StoreError> {
    let old = connect(path)?;
    let new = archive.connection();
    let mut query =
        old.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")?;
    let tables = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for table in tables {
        let (name, sql): (String, String) = table?;
        if PARTS.iter().chain([&HEADS]).any(|part| part.table == name) {
            continue;
        }
        new.execute_batch(&sql)?;
        copy(&old, &new, &name)?;
    }
    Ok(())
}

fn copy(old: &Connection, new: &Connection, table: &str) -> Result<(), StoreError> {
    let table = format!("\"{}\"", table.replace('"', "\"\""));
    let mut query = old.prepare(&format!("SELECT * FROM {table}"))?;
    let columns = query.column_count();
    let mut insert =
        new.prepare(&format!("INSERT INTO {table} VALUES ({})", vec!["?"; columns].join(", ")))?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let values: Vec<Value> = (0..columns).map(|column| row.get(column)).collect::<Result<_, _>>()?;
        insert.execute(params_from_iter(values))?;
    }
    Ok(())
}

/// Restores blocks, and says how; or says why they cannot be restored.
fn make_again(
    of: Tournament,
    store: &Store,
    plan: &Plan,
    schedule: &Schedule,
    gap: Range<u32>,
    player: Again,
) -> Result<(Vec<BlockResult>, String), String> {
    const FROM_REPLAYS: &str = "made again from the replays of their matches";
    let id = plan.game()?;
    let has_models = !models_in(plan, schedule, gap.clone()).is_empty();
    with_game!(id, G => {
        let replayed = || from_replays::<G>(of, plan, schedule, gap.clone());
        let played = || from_play::<G>(store, plan, schedule, gap.clone(), player);
        // A replay does not say what calls took, but the book does.
        if !has_models && let Some(blocks) = replayed() {
            return Ok((blocks, FROM_REPLAYS.to_owned()));
        }
        match played() {
            Ok(blocks) => Ok((blocks, "played again".to_owned())),
            Err(why) => match replayed() {
                Some(blocks) => Ok((blocks, format!("{FROM_REPLAYS}, without what their calls took: {why}"))),
                None => Err(why),
            },
        }
    })
}

/// Returns the entries that play in some blocks.
fn seated(schedule: &Schedule, blocks: Range<u32>) -> BTreeSet<usize> {
    blocks.flat_map(|block| schedule.seatings(block).concat()).collect()
}

/// Returns the language models that play in some blocks.
fn models_in(plan: &Plan, schedule: &Schedule, blocks: Range<u32>) -> BTreeSet<String> {
    let bots = seated(schedule, blocks).into_iter().map(|entry| &plan.entries[entry].bot);
    bots.filter(|bot| model::is_model(bot)).cloned().collect()
}

/// Restores blocks from replays, if all their matches were kept.
fn from_replays<G: Listed>(
    of: Tournament,
    plan: &Plan,
    schedule: &Schedule,
    gap: Range<u32>,
) -> Option<Vec<BlockResult>> {
    let rules = plan.rules::<G>().ok()?;
    let mut meter = solve::<G>(&rules, plan.seats).ok().map(|solution| solution.meter());
    gap.map(|block| {
        let mut result = BlockResult { block, ..BlockResult::default() };
        let kept: BTreeMap<i64, &Vec<Value>> =
            of.details(block).filter_map(|row| Some((number(&row[2])?, row))).collect();
        for number in 0..schedule.matches(block) as u32 {
            let [.., Value::Text(faults), Value::Blob(packed)] = &kept.get(&number.into())?[..] else {
                return None;
            };
            let replay = replay::unpack(&packed[..]).ok()?.parse::<G>().ok()?;
            let mut events = Vec::new();
            let played = replay.play(|_, _: &G, log| {
                events.extend(log.iter().map(|logged| logged.event.clone()));
                Ok(())
            });
            played.ok()?;
            result.luck.extend(meter.as_mut().map(|meter| meter.luck_of(&events) as f32));
            result.push(&replay.outcome);
            let faults = serde_json::from_str(faults).ok()?;
            result.details.push(Detail { number, faults, replay: Some(packed.clone()) });
        }
        Some(result)
    })
    .collect()
}

/// Plays blocks again, with the entries that are still here and unchanged.
fn from_play<G: Listed>(
    store: &Store,
    plan: &Plan,
    schedule: &Schedule,
    gap: Range<u32>,
    Again { launcher, desk }: Again,
) -> Result<Vec<BlockResult>, String> {
    let words = |error: TournamentError| error.to_string();
    let names =
        Names::new(plan.entries.iter().map(|entry| &entry.name)).map_err(|error| error.to_string())?;
    let mut entries: Vec<Option<EntrySpec>> = vec![None; plan.entries.len()];
    for entry in seated(schedule, gap.clone()) {
        let planned = &plan.entries[entry];
        let (name, bot) = (&planned.name, &planned.bot);
        let spec = match EntrySpec::parse_with(bot, Path::new("."), desk) {
            Err(EntryError::Model(why)) => return Err(format!("{name} ({bot}): {why}")),
            spec => spec.ok(),
        };
        let is_same = |spec: &EntrySpec| match spec.kind {
            EntryKind::BuiltIn(_) => planned.fingerprint.is_none(),
            EntryKind::Program(_) | EntryKind::Wasm(_) | EntryKind::Model(_) => {
                !planned.is_other(spec.fingerprint().as_deref())
            }
            EntryKind::Guest(_) | EntryKind::Human => false,
        };
        let gone =
            || format!("{name} ({bot}) is not here as it was; put it back, and repair the store again");
        entries[entry] = Some(spec.filter(is_same).ok_or_else(gone)?);
    }
    let rules = plan.rules::<G>()?;
    let programs: Vec<EntrySpec> = entries.iter().flatten().cloned().collect();
    // The answers that it had then, if it had asked for fresh ones.
    let run = Run { name: &run_name(plan), goes_on: true, is_dry: false };
    models_of(&programs).iter().try_for_each(|model| model.begin(&run)).map_err(|error| error.to_string())?;
    let launcher = launcher.clone().hiding(files_of(&programs));
    let terms = Terms { launcher, limits: plan.limits, rules, seats: plan.seats };
    let entries: Vec<Option<&EntrySpec>> = entries.iter().map(Option::as_ref).collect();
    let dice = &store.dice(plan).map_err(|error| error.to_string())?;
    let planned = &plan.entries;
    let keeps_replays = store.keeps_replays();
    let (entries_here, names, terms) = (&entries, &names, &terms);
    let arena = Arena::<G> { planned, entries: entries_here, names, terms, schedule, dice, keeps_replays };
    let mut crew = Crew::new(&arena).map_err(words)?;
    let remembers = entries.iter().flatten().any(|entry| entry.kind.remembers());
    let mut blocks = Vec::new();
    let mut block = gap.start;
    let mut shard = None;
    while block < gap.end {
        let began =
            plan.stages.iter().map(|stage| stage.first).filter(|first| *first <= block).max().unwrap_or(0);
        // What a program remembers, it remembers from the beginning of its shard.
        let first = match remembers && !crew.forgets(block) {
            true => block - (block - began) % Crew::<G>::shard(schedule, began),
            false => block,
        };
        if shard != Some(first) {
            shard = Some(first);
            crew.begin_shard().map_err(words)?;
            for earlier in first..block {
                crew.play_block(earlier, &|| false).map_err(words)?;
            }
        }
        blocks.extend(crew.play_block(block, &|| false).map_err(words)?);
        block += 1;
    }
    crew.close();
    Ok(blocks)
}
