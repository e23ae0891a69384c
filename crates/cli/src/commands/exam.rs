//! `necrodome exam`: decisions instead of matches, each priced exactly.

mod chart;
mod page;
mod print;
mod tables;

use super::{analyze::ledger::Scale, costs, keep_apart, print_json, trouble};
use crate::{
    error::Error, interrupt, lineup, numbers::within, output_file::OutputFile, paint::say, progress::Progress,
};
use necrodome_arena::{
    entry::{EntrySpec, models_of, name_all},
    exam::{
        Candidate, ExamReport, LEAST_POSITIONS, MOST_POSITIONS, NoEstimate, Paper, PaperError, estimate, sit,
    },
};
use necrodome_rules::{catalog::Listed, chance::Seed, with_game};
use necrodome_solve::solved;
use std::path::{Path, PathBuf};

/// Ask entries for decisions, and price each answer exactly
#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  necrodome exam zombie-dice-solo greedy random optimal
  necrodome exam tokyo ./mybot.py random angry optimal --positions 500
  necrodome exam tokyo ./mybot.py --null                 and once more: what differs then is noise
  necrodome exam zombie-dice ./old.py ./new.py --html exam.html --svg exam.svg
  necrodome exam zombie-dice-race greedy --json
  necrodome exam tokyo llm:small random optimal --models models.toml --budget 1.00
  necrodome exam tokyo llm:small --models models.toml --dry-run    what would it cost?

All entries answer the same questions: positions from perfect and from ordinary play, more of them where more is
at stake. Regret is how much more the best option was worth: a chance to win, or points in a game for one. The same
--seed, --positions and rules give the same questions. After an unusable answer the game's rule for a bad action
applies. If an endpoint fails or a budget is used up, the arena stops asking that entry; the others finish, and the exit
code is 1. Ctrl-C ends the exam and reports what was answered. `necrodome docs exam` says what the numbers mean.

Solved games: {} (for two at most).", solved().join(", ")))]
#[command(group = clap::ArgGroup::new("exam files").multiple(true))]
pub struct Args {
    /// The game
    game: String,
    /// Who sits the exam: built-in bots, files, commands
    #[arg(required = true)]
    entries: Vec<String>,
    /// How many positions to draw
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = within(LEAST_POSITIONS..=MOST_POSITIONS))]
    positions: usize,
    /// The seed of the questions
    #[arg(long, default_value = "0")]
    seed: Seed,
    /// Set an option of the rules; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// Let the first entry sit the exam twice, to show what differs by chance alone
    #[arg(long)]
    null: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write a row for each entry as comma-separated values
    #[arg(long, value_name = "FILE", group = "exam files")]
    csv: Option<PathBuf>,
    /// Write every answer as comma-separated values
    #[arg(long, value_name = "FILE", group = "exam files")]
    csv_answers: Option<PathBuf>,
    /// Write one page with everything, which opens without a server
    #[arg(long, value_name = "FILE", group = "exam files")]
    html: Option<PathBuf>,
    /// Write a chart of regret against cost
    #[arg(long, value_name = "FILE", group = "exam files")]
    svg: Option<PathBuf>,
    /// Estimate what language models would still cost, without the answers that are kept. For that, each model is asked for at most
    /// three decisions, which cost money; with --answers only, none is
    #[arg(long, conflicts_with = "exam files")]
    dry_run: bool,
    /// Overwrite existing files
    #[arg(long, requires = "exam files")]
    force: bool,
    #[command(flatten)]
    programs: lineup::ProgramFlags,
    #[command(flatten)]
    models: lineup::ModelFlags,
}

/// The files that will be written.
struct Files {
    csv: Option<OutputFile>,
    csv_answers: Option<OutputFile>,
    html: Option<OutputFile>,
    svg: Option<OutputFile>,
}

impl Files {
    fn claim(args: &Args) -> Result<Self, Error> {
        keep_apart(&[
            ("--csv", args.csv.as_deref()),
            ("--csv-answers", args.csv_answers.as_deref()),
            ("--html", args.html.as_deref()),
            ("--svg", args.svg.as_deref()),
        ])?;
        let claim = |path: &Option<PathBuf>| {
            path.as_deref().map(|path: &Path| OutputFile::claim(path, args.force)).transpose()
        };
        Ok(Files {
            csv: claim(&args.csv)?,
            csv_answers: claim(&args.csv_answers)?,
            html: claim(&args.html)?,
            svg: claim(&args.svg)?,
        })
    }

    fn write(&self, title: &str, report: &ExamReport, scale: &Scale) -> Result<(), Error> {
        if let Some(file) = &self.csv {
            file.fill(&mut |out| tables::entries(report, out))?;
        }
        if let Some(file) = &self.csv_answers {
            file.fill(&mut |out| tables::answers(report, out))?;
        }
        if let Some(file) = &self.html {
            file.write(page::exam(title, report, scale).into_string())?;
        }
        if let Some(file) = &self.svg {
            file.write(chart::draw(title, report, scale).map_err(std::io::Error::other)?)?;
        }
        Ok(())
    }
}

pub fn run(args: &Args) -> Result<(), Error> {
    with_game!(lineup::game(&args.game)?, G => exam::<G>(args))
}

/// Says which tables of models ask the same: their answers are the same, too, and show nothing about chance.
fn tell_alike(entries: &[EntrySpec]) {
    let models = models_of(entries);
    for (place, model) in models.iter().enumerate() {
        if let Some(other) = models[..place].iter().find(|other| other.fingerprint() == model.fingerprint()) {
            say(format_args!(
                "note: the tables {} and {} ask alike, so they share their answers: name one twice (or use --null) to see what chance does",
                other.model().name,
                model.model().name
            ));
        }
    }
}

fn exam<G: Listed>(args: &Args) -> Result<(), Error> {
    let rules = lineup::rules::<G>(&args.set)?;
    let (mut entries, _, desk) = args.models.entries(&args.entries)?;
    if args.null {
        entries.push(entries[0].twin()?);
    }
    tell_alike(&entries);
    let names = name_all(&entries)?;
    let candidates = Candidate::all(&entries, names.iter());
    let mut terms = lineup::terms(rules, &entries, &args.programs)?;
    terms.seats = 2.clamp(*G::SEATS.start(), *G::SEATS.end());
    for candidate in &candidates {
        drop(candidate.player::<G>(&terms)?);
    }
    if args.dry_run && desk.is_none() {
        return Err(Error::usage(
            "--dry-run means nothing without an entry llm:NAME: other answers cost nothing",
        ));
    }
    let files = Files::claim(args)?;
    let paper = Paper::<G>::set(&terms.rules, args.positions, args.seed).map_err(refused::<G>)?;
    if args.dry_run {
        let estimate = estimate(&paper, &candidates, &terms);
        lineup::tell_spent(desk.as_ref());
        let stopped = |error: NoEstimate| {
            lineup::how_to_go_on(desk.as_ref(), Error::failure(error.to_string()), "", "")
        };
        let estimate = estimate.map_err(stopped)?;
        return costs::tell(&estimate, &lineup::the_book(desk.as_ref()), args.json);
    }
    let quit = interrupt::flag();
    let mut progress = Progress::new("asking");
    let sat = sit(&paper, &candidates, &terms, quit, &mut |done, all| {
        progress.show(done as f64 / all as f64);
    })?;
    drop(progress);
    lineup::tell_spent(desk.as_ref());
    let report = ExamReport::new(&paper, &terms.rules, &candidates, &sat);
    let scale = Scale::of::<G>();
    let printed = if args.json { print_json(&report) } else { print::report(G::TITLE, &report, &scale) };
    files.write(G::TITLE, &report, &scale)?;
    printed?;
    let open: Vec<String> = report
        .entries
        .iter()
        .filter(|entry| entry.stopped.is_some())
        .map(|entry| print::unfinished(entry, report.questions))
        .collect();
    match sat.absent.first() {
        _ if sat.interrupted => Err(Error::interrupted()),
        _ if !open.is_empty() => {
            let what =
                format!("the exam is not complete, through no fault of the entries: {}", open.join("; "));
            let again = "run the same command again: it asks the same questions, and calls that were kept are not paid again";
            let stopped = lineup::hint_at_costs(desk.as_ref(), Error::failure(what));
            Err(lineup::how_to_go_on(desk.as_ref(), stopped, "", again))
        }
        Some(&absent) => {
            Err(Error::no_start(&candidates[absent].name, &trouble::check_bot(G::ID, &entries[absent])))
        }
        None => Ok(()),
    }
}

fn refused<G: Listed>(error: PaperError) -> Error {
    match error {
        PaperError::Unsolved(error) => {
            Error::from(error).hint("`necrodome tournament` compares entries in any game")
        }
        PaperError::Bot(error) => error.into(),
        PaperError::Setup(error) => Error::setup(G::ID, &error),
        PaperError::Nothing => Error::failure(format!("{}: {error}", G::ID)),
    }
}
