//! The profile of a bot, from its matches and from its answers in every state.

use super::{Args, ledger::Scale};
use crate::{
    commands::{self, trouble},
    error::Error,
    interrupt, lineup,
    paint::{bold, dim, fill, green, red, width, wrapped, yellow},
    progress::Progress,
};
use necrodome_arena::{
    entry::{EntryKind, EntrySpec, models_of},
    fault::{Fault, Notes, Trouble},
    lineup::{LineupError, Terms, player},
    player::{MatchStart, Player},
    profile::{Profile, ProfileError, ProfilePlan, Surveyed, profile},
    stats::Estimate,
};
use necrodome_models::Run;
use necrodome_rules::{
    catalog::Listed,
    chance::{Seed, Seeded},
    game::Seat,
    names::Names,
};
use necrodome_solve::{
    Exact, Solution, Solver, Unsolved,
    exact::{Asked, Inexact, WinChance},
    solver,
};
use serde::Serialize;
use std::{
    io::{self, Write},
    sync::{Arc, atomic::Ordering},
};

fn interrupted() -> bool {
    interrupt::flag().load(Ordering::Relaxed)
}

#[derive(Serialize)]
struct ProfileDocument<'a, R> {
    game: &'static str,
    options: &'a R,
    bot: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<&'a str>,
    unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<Seed>,
    #[serde(flatten)]
    profile: Option<Profile>,
    /// What went wrong when no match was played: the bot was only asked, or did not start.
    #[serde(flatten)]
    trouble: Option<Trouble>,
    /// The exact value of the bot, found without playing.
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<Exact>,
    /// Why there is no exact value.
    #[serde(skip_serializing_if = "Option::is_none")]
    inexact: Option<String>,
}

/// The parsed command: who plays what.
struct Case<G: Listed> {
    terms: Terms<G::Rules>,
    entries: Vec<EntrySpec>,
    names: Names,
    seed: Seed,
    solver: Solver<G>,
}

impl<G: Listed> Case<G> {
    fn player(&self, seat: usize) -> Result<Box<dyn Player<G>>, LineupError> {
        let chance = Seeded::new(self.seed, "bot", seat as u64);
        player::<G>(&self.entries[seat], &self.names[Seat(seat as u16)], &self.terms, chance)
    }

    /// Whether a player is slow to answer, and so is not asked in every state.
    fn is_slow(&self) -> bool {
        self.entries.iter().any(|entry| !matches!(entry.kind, EntryKind::BuiltIn(_)))
    }

    /// The usual number of blocks.
    fn blocks(&self) -> u32 {
        match self.is_slow() {
            _ if !models_of(&self.entries).is_empty() => 10,
            true => 200,
            false => 2000,
        }
    }
}

pub fn run<G: Listed>(args: &Args, bot: &str) -> Result<(), Error> {
    let rules = lineup::rules::<G>(&args.set)?;
    let alone = *G::SEATS.end() == 1;
    if alone && args.against.is_some() {
        return Err(Error::usage(format!("{} is for one: leave out --against", G::ID)));
    }
    let seats = if alone { 1 } else { 2 };
    let solver = solver::<G>().ok_or(Unsolved::Game { game: G::ID })?;
    let solution = (solver.solve)(&rules, seats)?;
    let mut words = vec![bot.to_owned()];
    if !alone {
        words.push(args.against.clone().unwrap_or_else(|| necrodome_solve::OPTIMAL.to_owned()));
    }
    let (entries, names, desk) = args.models.entries(&words)?;
    let terms = lineup::terms(rules, &entries, &args.programs)?;
    let case: Case<G> = Case { terms, entries, names, seed: lineup::seed(args.seed)?, solver };
    // A mistake in the line-up shows before anything is played.
    for seat in 0..seats {
        drop(case.player(seat)?);
    }
    interrupt::flag();
    let mut trouble = None;
    let mut absent = None;
    let exact = if args.exact || !case.is_slow() {
        let Survey { exact, absent: who, trouble: told } = survey(&case, args.against.is_some())?;
        (trouble, absent) = (Some(told), who);
        exact
    } else {
        None
    };
    if interrupted() {
        return Err(lineup::interrupted(desk.as_ref(), case.seed));
    }
    let (exact, inexact) = match exact {
        Some(Ok(exact)) => (Some(exact), None),
        Some(Err(Inexact::Other(why))) => (None, Some(format!("{}: {why}", &case.names[Seat(1)]))),
        Some(Err(why)) => (None, Some(format!("{}: {why}", &case.names[Seat(0)]))),
        None => (None, None),
    };
    let mut profile = None;
    if !args.exact {
        let blocks = args.blocks.unwrap_or_else(|| case.blocks());
        let played = play(&case, solution, blocks);
        lineup::tell_spent(desk.as_ref());
        if interrupted() {
            return Err(lineup::interrupted(desk.as_ref(), case.seed));
        }
        match played? {
            Ok(played) => (profile, trouble) = (Some(played), None),
            Err((name, told)) => (absent, trouble) = (Some(name), Some(told)),
        }
    }
    let stopped = profile.as_ref().and_then(|profile| profile.stopped.as_ref());
    let failed = match (absent, &inexact) {
        (Some(name), _) => {
            let at = case.names.iter().position(|own| *own == name).unwrap_or_default();
            Some(Error::no_start(&name, &trouble::check_bot(G::ID, &case.entries[at])))
        }
        _ if stopped.is_some() => {
            let why = stopped.map_or("", String::as_str);
            let failed =
                Error::failure(format!("not all blocks were played, through no fault of the bots: {why}"));
            Some(lineup::how_to_go_on(desk.as_ref(), failed, "", &lineup::again_with(case.seed)))
        }
        (None, Some(why)) if args.exact => Some(Error::failure(format!("no exact value of {why}"))),
        (None, None) if args.exact && exact.is_none() => {
            let text = "exact values of bots are worked out for zombie-dice-solo and zombie-dice-race";
            return Err(Error::usage(text));
        }
        _ => None,
    };
    let document = ProfileDocument {
        game: G::ID,
        options: &case.terms.rules,
        bot: &case.names[Seat(0)],
        against: case.names.iter().nth(1),
        unit: if alone { "points" } else { "win_chance" },
        seed: profile.is_some().then_some(case.seed),
        profile,
        trouble,
        exact,
        inexact: inexact.filter(|_| failed.is_none()),
    };
    if args.json {
        commands::print_json(&document)?;
    } else {
        print(&document, &Scale::of::<G>())?;
    }
    failed.map_or(Ok(()), Err)
}

/// Plays the blocks. Returns a profile, or the player who did not start and what went wrong.
fn play<G: Listed>(
    case: &Case<G>,
    solution: Arc<dyn Solution<G>>,
    blocks: u32,
) -> Result<Result<Profile, (String, Trouble)>, Error> {
    let Case { terms, names, seed, solver, .. } = case;
    let models = models_of(&case.entries);
    let options = serde_json::to_string(&terms.rules).unwrap_or_default();
    let run = Run { name: &format!("analyze {} {seed} {options}", G::ID), goes_on: false, is_dry: false };
    models.iter().try_for_each(|model| model.begin(&run))?;
    // Decisions that cost money are paid for once.
    let mend = models.is_empty();
    let plan = ProfilePlan {
        names,
        rules: &terms.rules,
        solver: solver.clone(),
        solution,
        seed: *seed,
        blocks,
        mend,
    };
    let players = || (0..case.names.len()).map(|seat| case.player(seat)).collect();
    let mut progress = Progress::new("playing");
    let result = profile(&plan, &players, &mut |done, all| {
        progress.show(f64::from(done) / f64::from(all));
        !interrupted()
    });
    match result {
        Ok(profile) => {
            if profile.stopped.is_none() {
                models.iter().try_for_each(|model| model.finish())?;
            }
            Ok(Ok(profile))
        }
        Err(ProfileError::NoStart { name, trouble }) => Ok(Err((name, trouble))),
        Err(ProfileError::Lineup(error)) => Err(error.into()),
        Err(ProfileError::Run(error)) => Err(error.into()),
        Err(ProfileError::Setup(error)) => Err(Error::setup(G::ID, &error)),
        Err(ProfileError::Interrupted) => Err(Error::interrupted()),
    }
}

/// The result of asking bots in every state.
struct Survey {
    /// `None` if no exact values are computed, or a bot did not start.
    exact: Option<Result<Exact, Inexact>>,
    /// The bot that did not start.
    absent: Option<String>,
    trouble: Trouble,
}

/// Asks the bot of the first seat, and also the other if it was named.
fn survey<G: Listed>(case: &Case<G>, other: bool) -> Result<Survey, Error> {
    let mut notes = Notes::default();
    let name = |seat: usize| case.names[Seat(seat as u16)].to_owned();
    let seats = if other { 2 } else { 1 };
    let mut asked = Vec::new();
    for seat in 0..seats {
        let mut player = case.player(seat)?;
        let process = case.entries[seat].kind.remembers();
        if process {
            // The handshake comes with the first match.
            player.start(&MatchStart { seat: Seat(0), names: &case.names, seed: 1 });
        }
        let started = player.has_started();
        if process && !player.is_deterministic() {
            note(&mut notes, seat, player.close());
            let why = if seat == 0 { Inexact::NoPromise } else { Inexact::Other(Inexact::NoPromise.into()) };
            let (exact, absent) = if started { (Some(Err(why)), None) } else { (None, Some(name(seat))) };
            return Ok(Survey { exact, absent, trouble: notes.named(name) });
        }
        // Built-in bots are asked everything twice; a process every eighth view, for the sake of time.
        asked.push(Surveyed::new(player, &case.names, if process { 8 } else { 1 }, interrupted));
    }
    let mut progress = Progress::new("asking");
    let (bot, rival) = asked.split_at_mut(1);
    let rival = rival.first_mut().map(|rival| rival as &mut dyn Asked<G>);
    let exact = (case.solver.exact)(&case.terms.rules, &mut bot[0], rival, &mut |share| progress.show(share));
    drop(progress);
    for (seat, asked) in asked.iter_mut().enumerate() {
        note(&mut notes, seat, asked.close());
    }
    Ok(Survey { exact, absent: None, trouble: notes.named(name) })
}

fn note(notes: &mut Notes, seat: usize, (faults, log): (Vec<Fault>, String)) {
    faults.iter().for_each(|fault| notes.fault(seat, fault, || "the questions".to_owned()));
    notes.log(seat, &log);
}

/// Describes what a bot would gain without its habits: `it would win 4.2 points more (3.3 to 5.1)`.
fn gained(alone: bool, gain: &Estimate) -> String {
    let (does, factor, digits) = if alone { ("score", 1.0, 3) } else { ("win", 100.0, 1) };
    let size = |value: f64| format!("{:.digits$}", value * factor);
    let (gain, more) = if gain.mean < 0.0 { (gain.opposite(), "less") } else { (*gain, "more") };
    let points = format!("it would {does} {} points {more}", size(gain.mean));
    match gain.low.zip(gain.high) {
        Some((low, high)) if low > 0.0 => {
            green(format!("{points} ({} to {})", size(low), size(high))).to_string()
        }
        _ => format!("{points} (no clear difference)"),
    }
}

/// The width of the column with the kinds of decisions.
const WHERE: usize = 32;
/// The width of the other columns: two numbers, and a cost with its interval.
const NUMBERS: usize = 48;
/// The width of the column with those whose exact chance is known.
const NAME: usize = 32;

/// Writes a row of a table. A name that is too long for its column has a line of its own.
fn row(out: &mut dyn Write, name: &str, width: usize, cells: &str) -> io::Result<()> {
    if name.chars().count() < width {
        return writeln!(out, "{name:<width$}{cells}");
    }
    wrapped(name, 0).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    writeln!(out, "{:<width$}{cells}", "")
}

fn print<R>(document: &ProfileDocument<R>, unit: &Scale) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    let bot = document.bot;
    let against = document.against.map_or(String::new(), |other| format!(" against {other}"));
    if let Some(profile) = &document.profile {
        let seed = document.seed.unwrap_or_default();
        let (matches, decisions) = (profile.matches, profile.decisions);
        let head = format!("{}{against}: {matches} matches, {decisions} decisions, seed {seed}", bold(bot));
        wrapped(&head, 0).iter().try_for_each(|line| writeln!(out, "{line}"))?;
        let line = |out: &mut dyn Write, name: &str, value: Option<&Estimate>| {
            writeln!(out, "  {name:<28}{}", unit.estimate(value))
        };
        line(&mut out, "result", profile.result.as_ref())?;
        line(&mut out, "luck-adjusted result", profile.luck_adjusted.as_ref())?;
        line(&mut out, "cost of a match", profile.regret_per_match.as_ref())?;
        line(&mut out, "cost of a decision", profile.regret_per_decision.as_ref())?;
        let wide = WHERE.min(width().saturating_sub(NUMBERS));
        let head = format!("{:<wide$}{:>10}{:>10}  cost of a match", "where", "decisions", "mistakes");
        writeln!(out, "\n{}", dim(head))?;
        for kind in &profile.kinds {
            let cost = unit.estimate(kind.regret_per_match.as_ref());
            let numbers = format!("{:>10}{:>10}  {cost}", kind.decisions, kind.mistakes);
            row(&mut out, &kind.kind, wide, &numbers)?;
        }
        if profile.decisions == 0 {
            writeln!(out, "\n{}", yellow("no block was played to its end"))?;
        } else if profile.habits.is_empty() {
            writeln!(out, "\n{}", green("every decision was the best there was"))?;
        } else {
            writeln!(
                out,
                "\n{} {}",
                bold("the most expensive habits"),
                dim("(where something else was better)")
            )?;
        }
        for (place, habit) in (1..).zip(&profile.habits) {
            let often = match habit.matches_between {
                between if between < 1.5 => format!("met {:.1} times a match", 1.0 / between),
                between => format!("met once in {between:.0} matches"),
            };
            let cost = red(unit.show(habit.cost));
            let text = format!("{place:>2}. {}: costs {cost} each time, {often}", habit.habit);
            fill(&text, 0, "    ", width()).iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
        if let Some(gain) = profile.without_habits.as_ref().and_then(|cured| cured.gain.as_ref()) {
            // The habits cost most in the matches in which they were found, so their sum says too much.
            let text =
                format!("in new matches without these habits {}", gained(document.unit == "points", gain));
            wrapped(&text, 0).iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
        writeln!(out)?;
    }
    match &document.exact {
        Some(Exact::Solo(exact)) => {
            let text = format!("{} scores {:.12} on average, exactly", bold(bot), exact.score);
            wrapped(&text, 0).iter().try_for_each(|line| writeln!(out, "{line}"))?;
            let share = 100.0 * exact.score / exact.best;
            writeln!(out, "  the best there is: {:.12}; it gets {share:.2}% of that", exact.best)?;
            writeln!(out, "{}", dim(format!("asked in {} states", exact.views)))?;
        }
        Some(Exact::Race(exact)) => {
            let line = |out: &mut dyn Write, name: String, chance: &WinChance| {
                let WinChance { first, second, mean } = chance;
                row(out, &name, NAME, &format!("{mean:>16.12}{first:>16.12}{second:>16.12}"))
            };
            let head = format!(
                "{:<NAME$}{:>16}{:>16}{:>16}",
                "exact chances to win", "mean", "moving first", "second"
            );
            writeln!(out, "{}", dim(head))?;
            line(&mut out, format!("{bot} against optimal"), &exact.against_optimal)?;
            if let Some(against) = &exact.against {
                line(
                    &mut out,
                    format!("{bot}{}", document.against.map_or(String::new(), |o| format!(" against {o}"))),
                    against,
                )?;
            }
            line(&mut out, format!("best response to {bot}"), &exact.best_response)?;
            writeln!(out, "{}", dim(format!("asked in {} states", exact.views)))?;
        }
        None => {}
    }
    if let Some(why) = &document.inexact {
        let text = format!("no exact value of {why}");
        wrapped(&text, 0).iter().try_for_each(|line| writeln!(out, "{}", yellow(line)))?;
    }
    let trouble = document.profile.as_ref().map(|profile| &profile.trouble).or(document.trouble.as_ref());
    if let Some(trouble) = trouble {
        trouble::print(&mut out, trouble)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_told_in_points_and_without_figures_where_nothing_is_clear() {
        let gain = |mean, low, high| Estimate { mean, low: Some(low), high: Some(high) };
        let told = |alone, gain| anstream::adapter::strip_str(&gained(alone, &gain)).to_string();
        for (alone, gain, expected) in [
            (false, gain(0.0421, 0.0331, 0.0511), "it would win 4.2 points more (3.3 to 5.1)"),
            (false, gain(-0.0091, -0.0345, 0.0163), "it would win 0.9 points less (no clear difference)"),
            (false, gain(-0.02, -0.03, -0.01), "it would win 2.0 points less (1.0 to 3.0)"),
            (true, gain(0.25, 0.125, 0.375), "it would score 0.250 points more (0.125 to 0.375)"),
            (
                true,
                Estimate { mean: 0.25, low: None, high: None },
                "it would score 0.250 points more (no clear difference)",
            ),
        ] {
            assert_eq!(told(alone, gain), expected);
        }
    }
}
