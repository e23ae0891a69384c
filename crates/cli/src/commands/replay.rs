//! `necrodome replay`: narrates, verifies, inspects or shows a recorded match.

use super::{keep_apart, play_match::print_result, stored, tournament::print::sealed_dice};
use crate::{
    error::Error,
    numbers::whole,
    output_file::OutputFile,
    paint::{bold, count, green},
    tell::{self, teller},
};
use necrodome_arena::{
    dice::Secret,
    replay::{self, Bounds, Moment, Replay, ReplayError, Unpacked},
    tournament::{
        MatchError, Plan, Schedule, Store, TournamentError, match_dice, packed_replay, stored_result,
    },
};
use necrodome_rules::{
    catalog::Listed,
    chance::Seed,
    game::{Outcome, Seat},
    with_game,
};
use necrodome_server::film::{self, Reel, Size};
use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

/// Narrate a recorded match, or prove that it was not changed
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome match zombie-dice greedy cautious --replay mymatch.replay
  necrodome replay mymatch.replay
  necrodome replay mymatch.replay --verify
  necrodome replay mymatch.replay --verify --seed 7 --secret 51d0...   the dice, too
  necrodome replay night.store --verify                           every match of a stored tournament, and its dice
  necrodome replay mymatch.replay --at 7
  necrodome replay mymatch.replay --html mymatch.html            the viewer of the web arena in one file
  necrodome replay one.replay two.replay --html both.html         several matches on one page
  necrodome replay night.store --from 12.0 --save match.replay    block 12, match 0 of a stored tournament")]
pub struct Args {
    /// A replay file, or with --from the store of a tournament; with --html there can be several
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Only re-run it through the referee, and check every event and the hash; for a store, also the result, the dice and the
    /// secret behind them, for all matches unless --from names one
    #[arg(long)]
    verify: bool,
    /// With --verify: the seed of a match that was played alone, to check its dice
    #[arg(long, requires = "verify", conflicts_with = "from")]
    seed: Option<Seed>,
    /// With --verify: the secret of its dice, if it had one
    #[arg(long, value_name = "HEX", requires = "seed")]
    secret: Option<Secret>,
    /// Show the state after this many decisions, as JSON
    #[arg(long, value_name = "DECISIONS", conflicts_with = "verify", value_parser = whole::<usize>)]
    at: Option<usize>,
    /// Take the match from a store: block and number of the match, with the tournament in front if there are several
    #[arg(long, value_name = "BLOCK.MATCH")]
    from: Option<String>,
    /// Write the viewer of the web arena with this match: one file that opens from disk, without a server
    #[arg(long, value_name = "FILE", conflicts_with_all = ["verify", "at"], group = "output")]
    html: Option<PathBuf>,
    /// Save the match to a file
    #[arg(long, value_name = "FILE", group = "output")]
    save: Option<PathBuf>,
    /// Overwrite the file of --html or --save
    #[arg(long, requires = "output")]
    force: bool,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let [file, others @ ..] = args.files.as_slice() else { return Ok(()) };
    if !others.is_empty() && args.html.is_none() {
        return Err(Error::usage(format!("expected one file, got {}", args.files.len()))
            .hint("--html OUT.html shows several matches on one page"));
    }
    let refuse = |error: ReplayError| Error::replay(file, &error);
    let (save, html) = (args.save.as_deref(), args.html.as_deref());
    for file in &args.files {
        keep_apart(&[("FILE", Some(file)), ("--save", save), ("--html", html)])?;
    }
    let claim = |path: &PathBuf| OutputFile::claim(path, args.force);
    let (save, html) =
        (args.save.as_ref().map(claim).transpose()?, args.html.as_ref().map(claim).transpose()?);
    if args.verify && save.is_none() && is_store(file) {
        return verify_store(file, args.from.as_deref());
    }
    if let Some(page_file) = html {
        let show = |path: &PathBuf| {
            let packed = read(path, args.from.as_deref())?;
            film::film(packed, &Size::FILE).map_err(|error| Error::replay(path, &error))
        };
        let films = args.files.iter().map(show).collect::<Result<Vec<_>, _>>()?;
        return page_file.write(page(&films)?);
    }
    let packed = read(file, args.from.as_deref())?;
    if let Some(file) = save {
        return file.write(packed);
    }
    let unpacked = replay::unpack(packed).map_err(refuse)?;
    let id = unpacked.game().map_err(refuse)?;
    with_game!(id, G => show::<G>(args, file, unpacked))
}

/// Returns a page with matches that needs no other file.
pub fn page(films: &[Reel]) -> Result<String, Error> {
    film::page(films).ok_or_else(no_viewer)
}

/// Returns the error for a program without the viewer.
pub fn no_viewer() -> Error {
    Error::usage("the viewer is not included: this necrodome was built where Node.js was missing")
        .hint("install Node.js 20 or newer with npm and build again")
}

/// The first bytes of every SQLite file.
const STORE: &[u8] = b"SQLite format 3";

/// Reads a packed replay from a file, or that of a match in a store.
pub fn read(path: &Path, from: Option<&str>) -> Result<Vec<u8>, Error> {
    let refuse = |error: ReplayError| Error::replay(path, &error);
    let failed = |error: io::Error| refuse(error.into());
    if let Some(place) = from {
        fs::metadata(path).map_err(failed)?;
        return from_store(path, place);
    }
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    if file.fill_buf().map_err(failed)?.starts_with(STORE) {
        let path = path.display();
        let hint = "--from BLOCK.MATCH says which match, such as --from 12.0";
        return Err(Error::usage(format!("{path} is the store of a tournament")).hint(hint));
    }
    replay::read(file, &Bounds::FILE).map_err(refuse)
}

fn is_store(path: &Path) -> bool {
    let mut start = [0; STORE.len()];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == STORE
}

/// Reads the packed replay of a match in a store.
fn from_store(path: &Path, place: &str) -> Result<Vec<u8>, Error> {
    let (tournament, block, number) = numbers(place)?;
    let (store, plan) = stored(path, tournament, "--from {}.12.0")?;
    packed_replay(&plan, &store, block, number).map_err(|error| refused(path, error))
}

/// Parses the tournament, block and number of a match.
fn numbers(place: &str) -> Result<(Option<u32>, u32, u32), Error> {
    let numbers: Option<Vec<u32>> = place.split('.').map(|number| number.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[block, number]) => Ok((None, block, number)),
        Some(&[tournament, block, number]) => Ok((Some(tournament), block, number)),
        _ => Err(Error::usage(format!("expected --from BLOCK.MATCH such as 12.0, got {place:?}"))),
    }
}

fn refused(path: &Path, error: MatchError) -> Error {
    match error {
        MatchError::Tournament(TournamentError::Store(error)) => Error::store(path, &error),
        other => Error::usage(other.to_string()),
    }
}

/// Verifies one match of a store, or all of a tournament: each proves itself and ends with the stored result, and its dice follow
/// from what was sealed before the first match.
fn verify_store(path: &Path, from: Option<&str>) -> Result<(), Error> {
    let (tournament, place) = match from.map(|from| (from, from.parse())) {
        None => (None, None),
        Some((_, Ok(tournament))) => (Some(tournament), None),
        Some((place, Err(_))) => {
            let (tournament, block, number) = numbers(place)?;
            (tournament, Some((block, number)))
        }
    };
    let (store, plan) = stored(path, tournament, "--from {}")?;
    let failed = |error: TournamentError| refused(path, error.into());
    let mut out = BufWriter::new(anstream::stdout().lock());
    let what = match place {
        Some((block, number)) => {
            let packed = packed_replay(&plan, &store, block, number);
            let steps = verify_match(path, &plan, &store, (block, number), packed)?;
            count(steps as u64, "step")
        }
        None => {
            let schedule = Schedule::of(&plan).map_err(failed)?;
            let (mut verified, mut without) = (0_u64, Vec::new());
            for block in 0..store.blocks().map_err(|error| failed(error.into()))? {
                for number in 0..schedule.matches(block) as u32 {
                    match packed_replay(&plan, &store, block, number) {
                        Err(MatchError::NotKept) => without.push(format!("{block}.{number}")),
                        packed => {
                            verify_match(path, &plan, &store, (block, number), packed)?;
                            verified += 1;
                        }
                    }
                }
            }
            if !without.is_empty() {
                return Err(no_replays(path, verified, &without));
            }
            count(verified, "match")
        }
    };
    let dice = if plan.older { "" } else { ", the dice" };
    let agree = format!("{what}, every event, the hashes{dice} and the stored results agree");
    writeln!(out, "{}: {agree}", green("verified"))?;
    for line in sealed_dice(&plan) {
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}

/// Returns the error for matches of programs that cannot be verified because their replays are missing.
fn no_replays(path: &Path, verified: u64, without: &[String]) -> Error {
    const NAMED: usize = 10;
    let (file, verified) = (path.display(), count(verified, "match"));
    let mut named = without[..without.len().min(NAMED)].join(", ");
    if without.len() > NAMED {
        named += &format!(" and {} more", without.len() - NAMED);
    }
    let without = count(without.len() as u64, "match");
    Error::failure(format!("{file}: {verified} verified, but no replay is there of {without}: {named}"))
        .hint(format!("`necrodome store check {file}` tells whether the store was damaged"))
}

/// Verifies a match of a store. Returns its number of steps.
fn verify_match(
    path: &Path,
    plan: &Plan,
    store: &Store,
    (block, number): (u32, u32),
    packed: Result<Vec<u8>, MatchError>,
) -> Result<usize, Error> {
    let packed = packed.map_err(|error| refused(path, error))?;
    let dice = match_dice(plan, store, block, number).map_err(|error| refused(path, error))?;
    let stored = stored_result(plan, store, block, number).map_err(|error| refused(path, error))?;
    let file = path.display();
    let failed = |error: ReplayError| Error::failure(format!("{file}: match {block}.{number}: {error}"));
    let unpacked = replay::unpack(packed.as_slice()).map_err(failed)?;
    with_game!(unpacked.game().map_err(failed)?, G => {
        let replay: Replay<G> = unpacked.parse().map_err(failed)?;
        replay.play(|_, _, _| Ok(())).map_err(failed)?;
        // Older versions threw them otherwise.
        if !plan.older {
            replay.check_dice(dice).map_err(failed)?;
        }
        if stored != replay.outcome {
            let told =
                |outcome: &Outcome| format!("places {:?}, scores {:?}", outcome.places, outcome.scores);
            let (stored, played) = (told(&stored), told(&replay.outcome));
            return Err(Error::failure(format!(
                "{file}: match {block}.{number} is stored with {stored}, but it ends with {played}"
            ))
            .hint("the store was changed after the match was played, or by another version of its bots"));
        }
        Ok(replay.steps)
    })
}

fn show<G: Listed>(args: &Args, file: &Path, unpacked: Unpacked) -> Result<(), Error> {
    let failed = |error| match error {
        ReplayError::Io(error) => error.into(),
        error => Error::replay(file, &error),
    };
    let replay: Replay<G> = unpacked.parse().map_err(failed)?;
    let mut out = BufWriter::new(anstream::stdout().lock());
    if args.verify {
        replay.play(|_, _, _| Ok(())).map_err(failed)?;
        let mut agree = "every event and the hash agree";
        if let Some(seed) = args.seed {
            let dice = args.secret.as_ref().map_or(seed.into(), |secret| secret.dice(seed));
            replay.check_dice(dice).map_err(failed)?;
            agree = "every event, the hash and the dice agree";
        }
        writeln!(out, "{}: {} steps, {agree}", green("verified"), replay.steps)?;
        return Ok(out.flush()?);
    }
    if let Some(at) = args.at {
        let last = replay.steps;
        if at > last {
            let decisions = count(last as u64, "decision");
            return Err(Error::usage(format!(
                "--at {at}: the match has {decisions}, so expected a number from 0 to {last}"
            )));
        }
        return show_step(&replay, at, &mut out).map_err(failed);
    }
    narrate(&replay, &mut out).map_err(failed)?;
    Ok(out.flush()?)
}

/// Narrates the match from its beginning to its result.
pub fn narrate<G: Listed>(replay: &Replay<G>, out: &mut impl Write) -> Result<(), ReplayError> {
    let mut story = teller::<G>();
    replay.follow(|Moment { step, game, log, .. }| {
        for reason in step.iter().flat_map(|step| &step.reasons).flatten() {
            tell::reason(out, reason)?;
        }
        story.tell(out, &replay.names, game, log)?;
        if game.to_act().is_empty() {
            story.end(out, &replay.names, game)?;
        }
        Ok(())
    })?;
    Ok(print_result::<G>(out, &replay.names, &replay.outcome)?)
}

/// Prints the state after a step, and the moves that are made from it.
fn show_step<G: Listed>(replay: &Replay<G>, at: usize, out: &mut impl Write) -> Result<(), ReplayError> {
    let last = replay.steps;
    let mut asked: Vec<Seat> = Vec::new();
    replay.follow(|Moment { number, step, game, log }| {
        if number == at {
            writeln!(out, "{} {number} of {last}", bold("decision"))?;
            teller::<G>().tell(out, &replay.names, game, log)?;
            writeln!(out, "{} {}", bold("state"), serde_json::to_string(game).map_err(io::Error::from)?)?;
            asked = game.to_act().to_vec();
        } else if number == at + 1 {
            let moves = step.iter().flat_map(|step| &step.moves);
            for (&seat, choice) in asked.iter().zip(moves) {
                let choice = serde_json::to_string(choice).map_err(io::Error::from)?;
                writeln!(out, "{} {}: {choice}", bold("next"), &replay.names[seat])?;
            }
        }
        Ok(())
    })?;
    Ok(out.flush()?)
}
