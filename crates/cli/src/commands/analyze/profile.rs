//! The profile of a bot, by playing and by asking.

use super::{Args, ledger::Unit};
use crate::{
    commands,
    error::Error,
    interrupt, lineup,
    paint::{bold, dim, green, red, yellow},
};
use indicatif::{ProgressBar, ProgressStyle};
use necrodome_arena::{
    entry::{EntryKind, EntrySpec},
    lineup::{LineupError, Table, player},
    player::{MatchStart, Player},
    profile::{Profile, ProfileError, Setting, Surveyed, profile},
    stats::Estimate,
};
use necrodome_rules::{chance::Seeded, game::Seat, names::Names};
use necrodome_solve::{
    Exact, Explain,
    exact::{Asked, Chance, Inexact},
};
use serde::Serialize;
use std::{io::Write, sync::atomic::Ordering, time::Duration};

fn interrupted() -> bool {
    interrupt::flag().load(Ordering::Relaxed)
}

#[derive(Serialize)]
struct Document<'a, R> {
    game: &'static str,
    options: &'a R,
    bot: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<&'a str>,
    unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(flatten)]
    profile: Option<Profile>,
    /// Without playing: what the bot is worth exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<Exact>,
    /// Why there is no exact value.
    #[serde(skip_serializing_if = "Option::is_none")]
    inexact: Option<String>,
}

/// What was asked for, understood.
struct Case<G: Explain> {
    table: Table<G::Rules>,
    entries: Vec<EntrySpec>,
    names: Names,
    seed: u64,
}

impl<G: Explain> Case<G> {
    fn player(&self, seat: usize) -> Result<Box<dyn Player<G>>, LineupError> {
        let chance = Seeded::new(self.seed, "bot", seat as u64);
        player::<G>(&self.entries[seat], &self.names[Seat(seat as u16)], &self.table, chance)
    }

    fn is_process(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.kind, EntryKind::Program(_)))
    }
}

pub fn run<G: Explain>(args: &Args, bot: &str) -> Result<(), Error> {
    let rules = lineup::rules::<G>(&args.set)?;
    let alone = *G::SEATS.end() == 1;
    if alone && args.against.is_some() {
        return Err(Error::Usage(format!("{} is for one: leave out --against", G::ID)));
    }
    let seats = if alone { 1 } else { 2 };
    let solution = G::solve(&rules, seats)?;
    let mut words = vec![bot.to_owned()];
    if !alone {
        words.push(args.against.clone().unwrap_or_else(|| necrodome_solve::OPTIMAL.to_owned()));
    }
    let (entries, names) = lineup::entries(&words)?;
    let table = lineup::table(rules, seats)?;
    let case: Case<G> = Case { table, entries, names, seed: lineup::seed(args.seed)? };
    // A mistake in the line-up shows before anything is played.
    for seat in 0..seats {
        drop(case.player(seat)?);
    }
    interrupt::flag();
    let exact = if args.exact || !case.is_process() { survey(&case, args.against.is_some())? } else { None };
    let (exact, inexact) = match exact {
        Some(Ok(exact)) => (Some(exact), None),
        Some(Err(Inexact::Interrupted)) => return Err(Error::Interrupted),
        Some(Err(Inexact::Other(why))) => (None, Some(format!("{}: {why}", &case.names[Seat(1)]))),
        Some(Err(why)) => (None, Some(format!("{}: {why}", &case.names[Seat(0)]))),
        None => (None, None),
    };
    if args.exact && exact.is_none() {
        return Err(match inexact {
            Some(why) => Error::Inexact(why),
            None => Error::Usage(
                "exact values of bots are worked out for zombie-dice-solo and zombie-dice-race".to_owned(),
            ),
        });
    }
    let profile = if args.exact {
        None
    } else {
        let blocks = args.blocks.unwrap_or(if case.is_process() { 200 } else { 2000 });
        let setting =
            Setting { names: &case.names, rules: &case.table.rules, solution, seed: case.seed, blocks };
        let bar = bar("playing");
        let result =
            profile(&setting, &|| (0..seats).map(|seat| case.player(seat)).collect(), &mut |done, all| {
                bar.set_length(all.into());
                bar.set_position(done.into());
                !interrupted()
            });
        bar.finish_and_clear();
        Some(result.map_err(|error| match error {
            ProfileError::Lineup(error) => error.into(),
            ProfileError::Run(error) => error.into(),
            ProfileError::Setup(source) => Error::Setup { game: G::ID, source },
            ProfileError::Interrupted => Error::Interrupted,
        })?)
    };
    let document = Document {
        game: G::ID,
        options: &case.table.rules,
        bot: &case.names[Seat(0)],
        against: case.names.iter().nth(1),
        unit: if alone { "points" } else { "win_chance" },
        seed: profile.is_some().then_some(case.seed),
        profile,
        exact,
        inexact,
    };
    if args.json { commands::print_json(&document) } else { print(&document, &Unit::of::<G>()) }
}

fn bar(what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
    let bar = ProgressBar::new(0).with_message(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Asks the bot of the first seat, and the other if it was named; none where that is not worked out.
fn survey<G: Explain>(case: &Case<G>, other: bool) -> Result<Option<Result<Exact, Inexact>>, Error> {
    let mut bot = match asked(case, 0)? {
        Ok(bot) => bot,
        Err(why) => return Ok(Some(Err(why))),
    };
    let mut rival = match other.then(|| asked(case, 1)).transpose()?.transpose() {
        Ok(rival) => rival,
        Err(why) => return Ok(Some(Err(why))),
    };
    let bar = bar("asking");
    let rival = rival.as_mut().map(|rival| rival as &mut dyn Asked<G>);
    let exact = G::exact(&case.table.rules, &mut bot, rival, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    Ok(exact)
}

/// A player to be asked, if it is a function of what it sees as far as one can know.
fn asked<G: Explain>(case: &Case<G>, seat: usize) -> Result<Result<Surveyed<G>, Inexact>, Error> {
    let mut player = case.player(seat)?;
    let process = matches!(case.entries[seat].kind, EntryKind::Program(_));
    if process {
        // The handshake comes with the first match.
        player.start(&MatchStart { seat: Seat(0), names: &case.names, seed: 1 });
        if !player.is_deterministic() {
            let why = Inexact::NoPromise;
            return Ok(Err(if seat == 0 { why } else { Inexact::Other(Box::new(why)) }));
        }
    }
    // Built-in bots are asked everything twice; a process every eighth view, for the sake of time.
    Ok(Ok(Surveyed::new(player, &case.names, if process { 8 } else { 1 }, interrupted)))
}

fn estimate(unit: &Unit, estimate: Option<&Estimate>) -> String {
    let Some(Estimate { mean, low, high }) = estimate else { return "-".into() };
    let half = low.zip(*high).map(|(low, high)| unit.show((high - low) / 2.0));
    half.map_or(unit.show(*mean), |half| format!("{} ±{half}", unit.show(*mean)))
}

fn print<R>(document: &Document<R>, unit: &Unit) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    let bot = document.bot;
    let against = document.against.map_or(String::new(), |other| format!(" against {other}"));
    if let Some(profile) = &document.profile {
        let seed = document.seed.unwrap_or(0);
        let (matches, decisions) = (profile.matches, profile.decisions);
        writeln!(out, "{}{against}: {matches} matches, {decisions} decisions, seed {seed}", bold(bot))?;
        let line = |out: &mut dyn Write, name: &str, value: Option<&Estimate>| {
            writeln!(out, "  {name:<28}{}", estimate(unit, value))
        };
        line(&mut out, "result", profile.result.as_ref())?;
        line(&mut out, "result, luck taken out", profile.luck_adjusted.as_ref())?;
        line(&mut out, "cost of a match", profile.regret_per_match.as_ref())?;
        line(&mut out, "cost of a decision", profile.regret_per_decision.as_ref())?;
        writeln!(
            out,
            "\n{}",
            dim(format!("{:<40}{:>10}{:>10}  cost of a match", "where", "decisions", "mistakes"))
        )?;
        for kind in &profile.kinds {
            let cost = estimate(unit, kind.regret_per_match.as_ref());
            writeln!(out, "{:<40}{:>10}{:>10}  {cost}", kind.kind, kind.decisions, kind.mistakes)?;
        }
        if profile.habits.is_empty() {
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
            writeln!(out, "{place:>2}. {}: costs {cost} each time, {often}", habit.habit)?;
        }
        if let Some(cured) = &profile.without_habits {
            let gain = estimate(unit, cured.gain.as_ref());
            let result = estimate(unit, cured.luck_adjusted.as_ref());
            writeln!(out, "without these habits: {} better, {result} (luck taken out)", green(gain))?;
        }
        writeln!(out)?;
    }
    match &document.exact {
        Some(Exact::Solo(exact)) => {
            writeln!(out, "{} scores {:.12} on average, exactly", bold(bot), exact.score)?;
            let share = 100.0 * exact.score / exact.best;
            writeln!(out, "  the best there is: {:.12}; it gets {share:.2}% of that", exact.best)?;
            writeln!(out, "{}", dim(format!("asked in {} states", exact.views)))?;
        }
        Some(Exact::Race(exact)) => {
            let line = |out: &mut dyn Write, name: String, chance: &Chance| {
                let Chance { first, second, mean } = chance;
                writeln!(out, "  {name:<44}{mean:>16.12}{first:>16.12}{second:>16.12}")
            };
            let head = format!(
                "  {:<44}{:>16}{:>16}{:>16}",
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
        writeln!(out, "{}", yellow(format!("no exact value of {why}")))?;
    }
    Ok(())
}
