//! `necrodome advise`: what to do in a position that a person types, and what anything else costs.

mod parse;
mod tokyo;
mod zombie_dice;

use super::print_json;
use crate::{
    error::Error,
    lineup,
    paint::{bold, dim},
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    with_game,
    zombie_dice::{Race, Solo, Table},
};
use necrodome_solve::Price;
use serde::Serialize;
use std::io::{BufWriter, Write};

/// Say what is best in a position, and what every other choice costs
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome advise zombie-dice-solo brains 4 shotguns 1 feet green yellow
  necrodome advise zombie-dice-race score 7 9 brains 3 shotguns 2 feet green green cup 3 2 1
  necrodome advise zombie-dice score 11 14 seat second brains green green red shotguns yellow
  necrodome advise tokyo health 6 4 points 12 15 in dice 1 1 2 3 heal attack rerolls 2
  necrodome advise tokyo health 3 8 points 10 12 hit

Words come in any order, separated by spaces, commas or =, and can be cut short: b=4 sh=1 f=g,y.

Zombie Dice:
  brains N, shotguns N     how many, or the colours of their dice, or both: brains 2 green red
  feet COLOURS             those of the footsteps: green, yellow, red (g, y, r; easy, medium, hard)
  cup GREEN YELLOW RED     dice left in the cup
  brain-dice COLOURS       brain dice still set aside, where others have gone back into the cup
  score OWN OTHER          banked so far (race and table; 0 0 if left out)
  seat first|second        who begins the rounds of a table (for two)
  tiebreak                 a tiebreak round of a table; the scores are all that is banked
Without any dice it is the position before the first roll. Where colours are not known, all that
they can be count, each by its probability.

Tokyo (for two):
  health OWN OTHER         from 1 to 10 (10 10 if left out)
  points OWN OTHER         as they are now, with the two for this turn in Tokyo (0 0 if left out)
  in | out | empty         you are in Tokyo, the other is, or nobody (the first turn)
  dice SIX FACES           1, 2, 3, heal (h), attack (a)
  rerolls 1|2              how often you may still reroll (2 if left out)
  hit                      you are in Tokyo, were hit and live: stay or leave?
  heals N                  heal dice that the attacker has still to use

Values are chances to win (a shared win counts one half), in solo expected points, if everybody
plays perfectly from there.")]
pub struct Args {
    /// The game (see `necrodome games`)
    game: String,
    /// What is on the table
    #[arg(value_name = "STATE", allow_negative_numbers = true)]
    state: Vec<String>,
    /// Set an option of the rules; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Error> {
    match lineup::game(&args.game)? {
        GameId::ZombieDice => zombie_dice::advise::<Table>(args),
        GameId::ZombieDiceSolo => zombie_dice::advise::<Solo>(args),
        GameId::ZombieDiceRace => zombie_dice::advise::<Race>(args),
        GameId::Tokyo => tokyo::advise(args),
        other => with_game!(other, G => unsolved::<G>(&args.set)),
    }
}

/// A game that has no solution says so, whatever its state.
pub fn unsolved<G: Listed>(set: &[String]) -> Result<(), Error> {
    let rules = lineup::rules::<G>(set)?;
    necrodome_solve::solve::<G>(&rules, *G::SEATS.start())?;
    Ok(())
}

/// What values count.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Points,
    Chance,
}

impl Unit {
    fn heading(self) -> &'static str {
        match self {
            Unit::Points => "points",
            Unit::Chance => "chance to win",
        }
    }

    fn value(self, value: f64) -> String {
        match self {
            Unit::Points => format!("{value:.3}"),
            Unit::Chance => percent(value),
        }
    }

    /// What something costs, in words.
    fn cost(self, cost: f64) -> String {
        let (text, least, of) = match self {
            Unit::Points => (format!("{cost:.3}"), "0.001", "points"),
            Unit::Chance => (format!("{:.2}", cost * 100.0), "0.01", "% of winning"),
        };
        match text.parse() {
            Ok(0.0) if cost < ROUNDING => "nothing".to_owned(),
            Ok(0.0) => format!("less than {least} {of}"),
            _ => format!("{text} {of}"),
        }
    }
}

/// Values that differ by less are the same.
const ROUNDING: f64 = 1e-12;

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// One thing that can be done.
struct Choice<A> {
    label: String,
    price: Price<A>,
}

/// What is to be told.
struct Advice<A, S> {
    /// What to do, in a sentence.
    text: String,
    /// What was understood, for people.
    situation: String,
    /// What was understood, for programs.
    state: S,
    unit: Unit,
    /// The best first.
    choices: Vec<Choice<A>>,
    /// There where something is not known.
    average: Option<Average>,
}

/// Values that are averages over all that the state leaves open.
#[derive(Serialize)]
struct Average {
    /// Positions that fit and differ.
    positions: usize,
    /// The probability that the best action is the best in the true one.
    best_is_right: f64,
    /// What would make it exact.
    missing: String,
    /// How far the best action depends on it, in words.
    #[serde(skip)]
    remark: String,
}

#[derive(Serialize)]
struct Document<'a, R, S, A> {
    game: &'static str,
    options: &'a R,
    state: &'a S,
    exact: bool,
    unit: Unit,
    advice: &'a str,
    best: &'a A,
    values: Vec<&'a Price<A>>,
    /// None where there is no choice.
    cost_of_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    average: Option<&'a Average>,
}

/// So many choices are shown to people.
const SHOWN: usize = 5;

fn print<G: Listed, S: Serialize>(
    args: &Args,
    rules: &G::Rules,
    advice: &Advice<G::Action, S>,
) -> Result<(), Error> {
    let Advice { text, situation, state, unit, choices, average } = advice;
    let Some(best) = choices.first() else {
        return Err(Error::Usage(format!("{}: nothing is to be decided there", G::ID)));
    };
    let cost = |choice: &Choice<G::Action>| (best.price.value - choice.price.value).max(0.0);
    let second = choices.get(1);
    if args.json {
        return print_json(&Document {
            game: G::ID,
            options: rules,
            state,
            exact: average.is_none(),
            unit: *unit,
            advice: text,
            best: &best.price.action,
            values: choices.iter().map(|choice| &choice.price).collect(),
            cost_of_second: second.map(cost),
            average: average.as_ref(),
        });
    }
    let mut out = BufWriter::new(anstream::stdout().lock());
    writeln!(out, "{}", bold(text))?;
    writeln!(out, "{}", dim(situation))?;
    writeln!(out)?;
    let shown = &choices[..choices.len().min(SHOWN)];
    let width = shown.iter().map(|choice| choice.label.len()).max().unwrap_or(0);
    writeln!(out, "{}", dim(format!("  {:width$}  {:>13}  {:>9}", "", unit.heading(), "cost")))?;
    for (place, choice) in shown.iter().enumerate() {
        let value = unit.value(choice.price.value);
        let cost = if place == 0 { String::new() } else { unit.value(cost(choice)) };
        let line = format!("  {:width$}  {value:>13}  {cost:>9}", choice.label);
        let line = line.trim_end();
        match place {
            0 => writeln!(out, "{}", bold(line))?,
            _ => writeln!(out, "{line}")?,
        }
    }
    if choices.len() > SHOWN {
        writeln!(out, "{}", dim(format!("  and {} more", choices.len() - SHOWN)))?;
    }
    if let Some(second) = second {
        writeln!(out, "\nsecond best: {}, costs {}", second.label, unit.cost(cost(second)))?;
    }
    if let Some(Average { positions, missing, remark, .. }) = average {
        writeln!(out, "not exact: an average over the {positions} positions that fit, by their probability")?;
        writeln!(out, "{remark}")?;
        writeln!(out, "to make it exact, add {missing}")?;
    }
    out.flush()?;
    Ok(())
}
