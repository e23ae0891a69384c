//! `necrodome match`: one match, narrated.

use super::{print_json, trouble};
use crate::{
    error::Error,
    lineup,
    output_file::OutputFile,
    paint::{self, bold, count, dim},
    tell::{reason as reason_line, teller},
};
use necrodome_arena::{
    dice::Dice,
    entry::{EntryKind, has_processes},
    player::{Answer, Player, Through},
    run::run_match,
};
use necrodome_rules::{
    catalog::Listed,
    game::{Game, Outcome, Seat},
    names::Names,
    with_game,
};
use std::{
    cell::RefCell,
    io::{self, BufWriter, Write},
    path::PathBuf,
    rc::Rc,
};

/// Play one match and narrate it
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome match zombie-dice greedy cautious random
  necrodome match zombie-dice-solo stop-at:brains=5,shotguns=2 --seed 7
  necrodome match last-bullet gunner runner huddle --set copies=20 --quiet
  necrodome match infection careful spreader random random random --set start_antibodies=3
  necrodome match zombie-dice greedy ./mybot.py --replay mymatch.replay
  necrodome match zombie-dice human greedy ./mybot.py
  necrodome match zombie-dice greedy 'Ada=cmd:python3 -u my_bot.py --fast' --json
  necrodome match zombie-dice greedy compat:zombiedice:my_bots.py:MyZombie
  necrodome match last-bullet gunner compat:zombies:MyBot.java
  necrodome match tokyo llm:small point-hunter --models models.toml --budget 0.10

A bot is a built-in (see `necrodome bots`), a file (./mybot.py, .js, .rb, .jar, .java, .wasm, or an executable), a
command (cmd:...), a source file inside WebAssembly (wasm:mybot.py, wasm:mybot.js), or a class that was written for another program
(compat:KIND:FILE.py:CLASS with KIND zombiedice, gamezombies or godzilla; needs the Python package; compat:zombies:FILE_OR_FOLDER[:CLASS] with
a bot in Java or another language of the JVM, see `necrodome docs zombies`; needs a JDK), each with an optional NAME= in front.
llm:NAME is a language model with a table [models.NAME] in the file of --models (see `necrodome docs models`).
`human` is you, at most once in a match; you see only what your seat may know.
The same seed, game, options and bots give the same match. If a program takes part, the dice also follow from a secret, so that the
program cannot compute them; the match ends with the command that plays it again.
A bot that does not start forfeits all its decisions: the match has a result, and the exit code is 1.")]
pub struct Args {
    /// What to play (see `necrodome games`)
    pub(super) game: String,
    /// The players, one for each seat
    #[arg(value_name = "BOT")]
    pub(super) bots: Vec<String>,
    #[command(flatten)]
    pub(super) dice: lineup::DiceFlags,
    /// Set an option of the rules; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    pub(super) set: Vec<String>,
    /// Save the match, so that it can be narrated and verified again
    #[arg(long, value_name = "FILE")]
    pub(super) replay: Option<PathBuf>,
    /// Overwrite the file of --replay
    #[arg(long, requires = "replay")]
    pub(super) force: bool,
    /// Print one JSON document with the result instead of the story
    #[arg(long)]
    pub(super) json: bool,
    /// Print the result only
    #[arg(long, short)]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) programs: lineup::ProgramFlags,
    #[command(flatten)]
    pub(super) models: lineup::ModelFlags,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let id = lineup::game(&args.game)?;
    with_game!(id, G => play::<G>(args))
}

fn play<G: Listed>(args: &Args) -> Result<(), Error> {
    let rules = lineup::rules::<G>(&args.set)?;
    let (entries, names, desk) = args.models.entries(&args.bots)?;
    names.expect_seats(G::SEATS).map_err(|error| Error::setup(G::ID, &error))?;
    let with_human = entries.iter().any(|entry| entry.kind == EntryKind::Human);
    if with_human && (args.json || args.quiet) {
        return Err(Error::usage("a human must be asked: leave out --json and --quiet"));
    }
    let (seed, secret) = args.dice.of_match(&entries)?;
    let dice = secret.as_ref().map_or(Dice::from(seed), |secret| secret.dice(seed));
    let file = args.replay.as_ref().map(|path| OutputFile::claim(path, args.force)).transpose()?;
    let terms = lineup::terms(rules, &entries, &args.programs)?;
    let reasons = Reasons::default();
    let players = lineup::players::<G>(&entries, &names, &terms, dice)?;
    let mut players: Vec<_> = players.into_iter().map(|player| heard(player, reasons.clone())).collect();

    let mut out = BufWriter::new(anstream::stdout().lock());
    // A person hears the story at its own place, without what others must not know.
    let tells = !args.json && !args.quiet && !with_human;
    let mut last = None;
    let mut story = teller::<G>();
    let mut told = Ok(());
    let finished = run_match(&names, &terms.rules, dice, &mut players, |game: &G, log| {
        if tells && told.is_ok() {
            let mut reasons = reasons.take().into_iter();
            let said = reasons.try_for_each(|reason| reason_line(&mut out, &reason));
            told = said.and_then(|()| story.tell(&mut out, &names, game, log));
            if told.is_ok() && game.to_act().is_empty() {
                told = story.end(&mut out, &names, game);
            }
        }
        if with_human && game.to_act().is_empty() {
            last = Some(game.clone());
        }
    });
    let finished = finished.map_err(|error| match error {
        necrodome_arena::run::RunError::Setup(error) => Error::setup(G::ID, &error),
        other => lineup::how_to_go_on(desk.as_ref(), other.into(), "", ""),
    });
    let failed = |_: &Error| lineup::tell_spent(desk.as_ref());
    let mut finished = finished.inspect_err(failed)?;
    let logs = finished.close(&mut players);
    lineup::tell_spent(desk.as_ref());
    let print = || -> Result<(), Error> {
        told?;
        if args.json {
            return print_json(&finished.document(
                &entries,
                &names,
                &terms.rules,
                (seed, secret.as_ref()),
                &logs,
            ));
        }
        if let Some(game) = last {
            story.end(&mut out, &names, &game)?;
        }
        print_result::<G>(&mut out, &names, &finished.outcome)?;
        trouble::print_match(&mut out, &names, &finished.faults, &logs)?;
        if names.iter().zip(&players).all(|(_, player)| player.has_started()) {
            trouble::hint_at_checks(&mut out, G::ID, &entries, &finished.faults)?;
        }
        writeln!(out, "{}", dim(format!("{}, seed {seed}", count(finished.outcome.turns, "turn"))))?;
        if has_processes(&entries) {
            let level = terms.launcher.level();
            writeln!(out, "{}", dim(format!("programs were confined: {level} ({})", level.about())))?;
        }
        if let Some(secret) = &secret {
            writeln!(out, "{}", dim(format!("the same dice again: --seed {seed} --secret {secret}")))?;
        } else if args.dice.public_dice {
            writeln!(out, "{}", dim(format!("the same dice again: --seed {seed} --public-dice")))?;
        }
        Ok(out.flush()?)
    };
    // Neither depends on the other: a reader who has seen enough still gets the file.
    let printed = print();
    if let Some(file) = file {
        file.write(finished.recording.pack()?)?;
    }
    printed?;
    let absent: Vec<usize> = (0..players.len()).filter(|&seat| !players[seat].has_started()).collect();
    let Some(&first) = absent.first() else { return Ok(()) };
    let absent: Vec<&str> = absent.iter().map(|&seat| &names[Seat(seat as u16)]).collect();
    Err(Error::no_start(&absent.join(", "), &trouble::check_bot(G::ID, &entries[first])))
}

/// What players said about their choices in the last step.
type Reasons = Rc<RefCell<Vec<String>>>;

/// Returns a player whose reasons are told along with the story.
fn heard<G: Game>(player: Box<dyn Player<G>>, reasons: Reasons) -> Box<dyn Player<G>> {
    Box::new(Through::new(player, move |_: &G::View, answer| {
        if let Answer::Act(_, Some(reason)) | Answer::Partly { reason: Some(reason), .. } = &answer {
            reasons.borrow_mut().push(reason.clone());
        }
        answer
    }))
}

/// Prints the places with names and scores.
pub fn print_result<G: Listed>(out: &mut impl Write, names: &Names, outcome: &Outcome) -> io::Result<()> {
    let mut seats: Vec<_> = Seat::all(names.len()).to_vec();
    seats.sort_by_key(|seat| outcome.places[seat.index()]);
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    writeln!(out, "{}", bold("Result"))?;
    for seat in seats {
        let padding = " ".repeat(width - names[seat].chars().count());
        let place = outcome.places[seat.index()];
        let score = G::score(outcome.scores[seat.index()]);
        writeln!(out, "  {place:>2}. {}{padding}  {score}", paint::name(names, seat))?;
    }
    Ok(())
}
