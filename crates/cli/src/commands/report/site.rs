//! A stored tournament as a folder of pages that need no server: collects their contents, and writes them.

use super::pages;
use crate::{
    commands::{analyze::ledger::Scale, replay::narrate, tournament::print},
    error::{Error, ExitKind},
    output_file::{OutputFile, say_written},
    paint::count,
};
use necrodome_arena::{
    fault::harmless,
    model::is_model,
    profile::{Habit, PlayedBlock, habits, regret_per_match},
    replay::unpack,
    stderr,
    tournament::{
        MatchError, Plan, PlannedEntry, PlayedMatch, Report, Schedule, SealedDice, Store, TournamentError,
        all_matches, packed_replay,
    },
};
use necrodome_models::Book;
use necrodome_rules::{catalog::Listed, game::Seat};
use necrodome_solve::solver;
use serde_json::Value;
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// How many matches are told for each bot.
const FILMS: usize = 5;
/// The most lines of a story; the middle of a longer one is left out.
const LINES: usize = 400;
/// The most lines of a bot's log, the last ones.
const LOG: usize = 200;
/// In how many matches of all bots together habits are looked for.
const AUDITED: u64 = 2000;

/// The contents of a bot's page besides the report.
#[derive(Default)]
pub struct Bot {
    pub films: Vec<Film>,
    pub conduct: Option<Conduct>,
    pub log: Vec<String>,
}

/// A match in words.
pub struct Film {
    pub title: String,
    /// The text that a terminal would show, or why there is none.
    pub story: Result<String, String>,
    pub faults: Vec<String>,
    /// Its place in the store: `12.0`.
    pub place: String,
}

/// The cost of a bot's decisions in the matches that were examined.
pub struct Conduct {
    pub matches: usize,
    pub cost_of_match: String,
    pub habits: Vec<Habit>,
    pub scale: Scale,
}

/// The pages. Their files are claimed before the work begins.
pub struct Site {
    folder: PathBuf,
    files: Vec<OutputFile>,
}

impl Site {
    /// Claims a folder. It must be new or empty, unless `force` is given. Other files in it stay there.
    pub fn claim(folder: &Path, plan: &Plan, force: bool) -> Result<Self, Error> {
        match fs::read_dir(folder).map(|mut there| there.next().is_some()) {
            Ok(true) if !force => {
                return Err(Error::new(ExitKind::Exists, format!("{} is not empty", folder.display()))
                    .hint("choose a new folder, or write into this one with --force (other files stay)"));
            }
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Error::unwritten(folder, &error));
            }
            Ok(_) | Err(_) => {}
        }
        let names = std::iter::once("index.html".to_owned()).chain(plan.members().map(pages::file));
        let paths: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
        // A link would lead out of the folder.
        let is_odd = |path: &&PathBuf| path.symlink_metadata().is_ok_and(|there| !there.is_file());
        if let Some(path) = paths.iter().find(is_odd) {
            let why = format!("{} is not a plain file, and is left as it is", path.display());
            return Err(Error::new(ExitKind::Exists, why).hint("choose a new folder"));
        }
        let files = OutputFile::claim_all(paths, force)?;
        Ok(Site { folder: folder.to_owned(), files })
    }

    /// Writes all pages; `file` is the path of the store.
    pub fn write<G: Listed>(
        &self,
        report: &Report,
        schedule: &Schedule,
        store: &Store,
        file: &Path,
    ) -> Result<(), Error> {
        let bots = gather::<G>(report, schedule, store)?;
        let [index, files @ ..] = &self.files[..] else { return Ok(()) };
        // The page that leads to the others comes last.
        for (file, entry) in files.iter().zip(report.plan.members()) {
            file.write_silently(pages::bot(report, entry, &bots[entry], G::CARD.title).into_string())?;
        }
        index.write_silently(pages::index(report, G::CARD.title, &again::<G>(report, file)).into_string())?;
        say_written(&format!(
            "{} ({})",
            self.folder.join("index.html").display(),
            count(self.files.len() as u64, "page")
        ));
        Ok(())
    }
}

fn gather<G: Listed>(report: &Report, schedule: &Schedule, store: &Store) -> Result<Vec<Bot>, Error> {
    let plan = &report.plan;
    let mut bots: Vec<Bot> = plan.entries.iter().map(|_| Bot::default()).collect();
    for closing in store.closings().map_err(TournamentError::from)? {
        let lines = stderr::lines(&closing.log).map(|line| line.chars().map(visible).collect());
        let log = &mut bots[closing.entry].log;
        log.extend::<Vec<String>>(lines.collect());
        log.drain(..log.len().saturating_sub(LOG));
    }
    for (entry, conduct) in conducts::<G>(report, schedule, store)?.into_iter().enumerate() {
        // Who has never started has no habits.
        bots[entry].conduct = conduct.filter(|_| !report.never_started(&plan.entries[entry].name));
    }
    for (entry, matches) in worst(plan, schedule, store)?.into_iter().enumerate() {
        for played in &matches {
            bots[entry].films.push(film::<G>(plan, store, entry, played)?);
        }
    }
    Ok(bots)
}

/// Returns a character as a page shows it.
fn visible(c: char) -> char {
    if c == '\t' { c } else { harmless(c) }
}

/// Returns the matches of each entry that are worth telling, the worst first.
fn worst(plan: &Plan, schedule: &Schedule, store: &Store) -> Result<Vec<Vec<PlayedMatch>>, Error> {
    let mut worst: Vec<Vec<((bool, f64), PlayedMatch)>> = vec![Vec::new(); plan.entries.len()];
    for played in all_matches(schedule, store) {
        let played = played.map_err(TournamentError::from)?;
        for (seat, &entry) in played.entries.iter().enumerate() {
            let Some(key) = badness(&played, seat) else { continue };
            let list = &mut worst[entry];
            let before = |other: &(bool, f64)| other.0.cmp(&key.0).then(other.1.total_cmp(&key.1)).is_ge();
            let place = list.partition_point(|(other, _)| before(other));
            if place < FILMS {
                list.insert(place, (key, played.clone()));
                list.truncate(FILMS);
            }
        }
    }
    Ok(worst.into_iter().map(|list| list.into_iter().map(|(_, played)| played).collect()).collect())
}

/// Rates how bad a match was for a seat: whether it misbehaved, then how much less it got than its luck gave it. `None` if it won.
fn badness(played: &PlayedMatch, seat: usize) -> Option<(bool, f64)> {
    let (faulty, result) = (played.faults[seat] > 0, &played.result);
    let (place, score) = (result.places[seat], result.scores[seat] as f64);
    let alone = result.places.len() == 1;
    let worth = if alone { score } else { f64::from(u8::from(place == 1)) };
    let best = result.scores.iter().copied().max().unwrap_or(0) as f64;
    let bad = match played.luck_of(seat) {
        // What went wrong first is what led to the rest.
        _ if faulty => -f64::from(played.block),
        Some(luck) => f64::from(luck) - worth,
        None if alone => -score,
        // Behind more others is worse, then behind by more.
        None => f64::from(place) * 1e9 + (best - score),
    };
    (faulty || alone || place > 1).then_some((faulty, bad))
}

fn film<G: Listed>(plan: &Plan, store: &Store, entry: usize, played: &PlayedMatch) -> Result<Film, Error> {
    let PlayedMatch { block, number, entries, result, .. } = played;
    let own = entries.iter().position(|&other| other == entry).unwrap_or(0);
    let name = |seat: usize| plan.entries[entries[seat]].name.as_str();
    let others: Vec<&str> = (0..entries.len()).filter(|&seat| seat != own).map(name).collect();
    let mut title = format!("Block {block}, match {number}");
    if !others.is_empty() {
        title +=
            &format!(" against {}: place {} of {}", others.join(", "), result.places[own], entries.len());
    }
    title += &format!(", {}", G::score(result.scores[own]));
    if let Some(luck) = played.luck_of(own) {
        title += &format!(", luck {}", Scale::of::<G>().gain(luck.into()));
    }
    let faults = store.faults(*block..*block + 1).map_err(TournamentError::from)?;
    let faults = faults.into_iter().filter(|(_, of, _)| of == number).flat_map(|(_, _, faults)| faults);
    let told = |fault: necrodome_arena::fault::SeatFault| {
        format!("{}, step {}: {}", name(fault.seat.index()), fault.step, fault.fault)
    };
    let faults: Vec<String> = faults.filter(|fault| fault.seat.index() < entries.len()).map(told).collect();
    let story = match packed_replay(plan, store, *block, *number) {
        Ok(packed) => story::<G>(&packed),
        Err(MatchError::Tournament(error)) => return Err(error.into()),
        Err(error) => Err(error.to_string()),
    };
    Ok(Film { title, story, faults, place: format!("{block}.{number}") })
}

/// Returns a replay as the terminal narrates it.
fn story<G: Listed>(packed: &[u8]) -> Result<String, String> {
    let mut out = Vec::new();
    let replay =
        unpack(packed).and_then(|unpacked| unpacked.parse::<G>()).map_err(|error| error.to_string())?;
    narrate(&replay, &mut out).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&out);
    let lines: Vec<&str> = text.lines().collect();
    let (first, last) = (LINES / 2, lines.len().saturating_sub(LINES / 2));
    if last <= first {
        return Ok(text.into_owned());
    }
    let left_out = format!("... {} left out ...", count((last - first) as u64, "line"));
    Ok([&lines[..first], &[&left_out], &lines[last..]].concat().join("\n"))
}

/// Returns the cost of each entry's decisions, from a sample of blocks, or `None` for each if the game is not solved.
fn conducts<G: Listed>(
    report: &Report,
    schedule: &Schedule,
    store: &Store,
) -> Result<Vec<Option<Conduct>>, Error> {
    let plan = &report.plan;
    let none = || plan.entries.iter().map(|_| None).collect();
    let rules = serde_json::from_value::<G::Rules>(plan.options.clone()).ok();
    let Some((solver, rules)) = solver::<G>().zip(rules) else { return Ok(none()) };
    let Ok(solution) = (solver.solve)(&rules, plan.seats) else { return Ok(none()) };
    let mut played: Vec<Vec<PlayedBlock>> = plan.entries.iter().map(|_| Vec::new()).collect();
    let mut audited = vec![0; plan.entries.len()];
    let of_block = schedule.matches_before(report.blocks) / u64::from(report.blocks.max(1));
    let wanted = (AUDITED / of_block.max(1)).clamp(1, report.blocks.max(1).into());
    for sample in 0..wanted.min(report.blocks.into()) {
        let block = (sample * u64::from(report.blocks) / wanted) as u32;
        let mut of_block: Vec<Option<PlayedBlock>> = plan.entries.iter().map(|_| None).collect();
        for (number, seating) in schedule.seatings(block).iter().enumerate() {
            // A match that was not kept, or cannot be told any more, says nothing of anybody's habits.
            let Ok(packed) = packed_replay(plan, store, block, number as u32) else { continue };
            let Ok(replay) = unpack(&*packed).and_then(|unpacked| unpacked.parse::<G>()) else { continue };
            let Ok(ledger) = replay.ledger(solution.clone()) else { continue };
            for (&seat, &entry) in Seat::all(seating.len()).iter().zip(seating) {
                audited[entry] += 1;
                of_block[entry].get_or_insert_default().add(&ledger, seat, &solver, &*solution);
            }
        }
        played.iter_mut().zip(of_block).for_each(|(all, block)| all.extend(block));
    }
    let conduct = |(blocks, matches): (Vec<PlayedBlock>, usize)| {
        let scale = Scale::of::<G>();
        let cost_of_match = scale.estimate(Some(&regret_per_match(&blocks)?));
        Some(Conduct { matches, cost_of_match, habits: habits(&blocks), scale })
    };
    Ok(played.into_iter().zip(audited).map(conduct).collect())
}

/// How to play a tournament again.
pub struct Again {
    pub command: String,
    /// The book of calls, if language models took part: without it, they would answer differently.
    pub book: Option<String>,
}

/// Returns the command that plays this tournament again.
fn again<G: Listed>(report: &Report, file: &Path) -> Again {
    let plan = &report.plan;
    let has_models = plan.members().any(|member| is_model(&plan.entries[member].bot));
    let book = has_models.then(|| book_of(file));
    let mut words = vec!["necrodome".to_owned(), "tournament".to_owned(), plan.game.clone()];
    let entry = |PlannedEntry { name, bot, .. }: &PlannedEntry| match name {
        name if name == bot || name.contains([':', '/', '=']) => bot.clone(),
        name => format!("{name}={bot}"),
    };
    // The line-up of a tournament without bots comes by itself.
    if plan.entries.iter().all(|entry| entry.bot != crate::commands::tournament::BUNDLED) {
        words.extend(plan.members().map(|member| entry(&plan.entries[member])));
    }
    let mut set = |flag: &str, value: String| words.extend([format!("--{flag}"), value]);
    set("format", plan.format.as_str().to_owned());
    set("seats", plan.seats.to_string());
    // What stops by itself stops at the same block again.
    set("blocks", if plan.stops_early() { plan.blocks } else { report.blocks }.to_string());
    set("seed", plan.seed.to_string());
    if let [SealedDice { first: 0, secret: Some(secret), .. }] = &plan.sealed_dice[..] {
        set("secret", secret.to_string());
    }
    let usual = serde_json::to_value(G::Rules::default()).unwrap_or_default();
    for (option, value) in changed(&plan.options, &usual) {
        set("set", format!("{option}={value}"));
    }
    let limits = |limits| serde_json::to_value(limits).unwrap_or_default();
    for (limit, value) in changed(&limits(&plan.limits), &limits(&Default::default())) {
        set(&limit.replace('_', "-"), value);
    }
    if plan.until_decided {
        set("until", "decided".to_owned());
    }
    if let Some(margin) = plan.margin {
        set("margin", margin.to_string());
    }
    if let Some(test) = plan.test {
        set("test", format!("{},{}", test.elo0, test.elo1));
    }
    if plan.rank_by != Default::default() {
        set("rank-by", "plain".to_owned());
    }
    if let Some(book) = &book {
        // The plan does not know where the tables were.
        set("models", "FILE".to_owned());
        set("answers", "only".to_owned());
        set("calls", book.clone());
    }
    if plan.public_dice {
        words.push("--public-dice".to_owned());
    }
    Again { command: shell_words::join(words), book }
}

/// Returns the file name of the book of calls if it is beside the store; it may be elsewhere. The path is private.
fn book_of(store: &Path) -> String {
    let beside = Book::beside(store);
    let name = beside.file_name().filter(|_| beside.exists());
    name.map_or("BOOK".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns the values of an object that differ from the usual ones, as users write them.
fn changed(values: &Value, usual: &Value) -> Vec<(String, String)> {
    let values = values.as_object().into_iter().flatten();
    let written = |value: &Value| match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    values
        .filter(|(name, value)| usual[name.as_str()] != **value)
        .map(|(name, value)| (name.clone(), written(value)))
        .collect()
}

/// Formats a percentage with one decimal and its interval.
pub fn percent(estimate: &necrodome_arena::stats::Estimate) -> String {
    print::estimate(Some(estimate), 100.0, 1)
}
