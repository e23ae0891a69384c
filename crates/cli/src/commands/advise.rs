//! `necrodome advise`: what to do in a position that a person types, and what anything else costs.

pub mod parse;

use super::print_json;
use crate::{
    error::Error,
    games, lineup,
    paint::{bold, dim},
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    game::Game,
    with_game,
};
use necrodome_solve::{Price, Unsolved};
use serde::Serialize;
use std::io::{BufWriter, Write};

/// Say what is best in a position, and what every other choice costs
#[derive(clap::Args)]
#[command(after_help = help())]
pub struct Args {
    /// The game (see `necrodome games`)
    game: String,
    /// What is on the table
    #[arg(value_name = "STATE", allow_negative_numbers = true)]
    pub state: Vec<String>,
    /// Set an option of the rules; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// What a game has to say about the positions that people type.
pub struct Advisor<G: Game> {
    /// Some positions to begin with: what follows `necrodome advise`.
    pub examples: &'static [&'static str],
    /// The words that make a position, and what they mean.
    pub words: &'static str,
    /// Reads a position and prints the advice.
    pub advise: fn(&Args, &G::Rules) -> Result<(), Error>,
}

fn help() -> String {
    let (mut examples, mut words) = (String::new(), Vec::new());
    for id in GameId::ALL {
        with_game!(id, G => if let Some(advisor) = games::own::<Advisor<G>>() {
            for example in advisor.examples {
                examples += &format!("  necrodome advise {example}\n");
            }
            if !words.contains(&advisor.words) {
                words.push(advisor.words);
            }
        });
    }
    format!(
        "Examples:\n{examples}\n\
         Words come in any order, separated by spaces, commas or =, and can be cut short: b=4 sh=1 f=g,y.\n\n{}\n\n\
         Values are chances to win (a shared win counts one half), in solo expected points, if everybody\n\
         plays perfectly from there.",
        words.join("\n\n")
    )
}

pub fn run(args: &Args) -> Result<(), Error> {
    with_game!(lineup::game(&args.game)?, G => advise::<G>(args))
}

fn advise<G: Listed>(args: &Args) -> Result<(), Error> {
    let rules = lineup::rules::<G>(&args.set)?;
    match games::own::<Advisor<G>>() {
        Some(advisor) => (advisor.advise)(args, &rules),
        None => Err(Unsolved::Game { game: G::ID }.into()),
    }
}

/// What values count.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
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
pub const ROUNDING: f64 = 1e-12;

pub fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// One thing that can be done.
pub struct PricedChoice<A> {
    pub label: String,
    pub price: Price<A>,
}

/// What is said about a position.
pub struct Advice<A, S> {
    /// What to do, in a sentence.
    pub text: String,
    /// What was understood, for people.
    pub situation: String,
    /// What was understood, for programs.
    pub state: S,
    pub unit: Unit,
    /// The best first.
    pub choices: Vec<PricedChoice<A>>,
    /// Only where something is not known.
    pub average: Option<Average>,
}

/// Values that are averages over all that the state leaves open.
#[derive(Serialize)]
pub struct Average {
    /// Positions that fit and differ.
    pub positions: usize,
    /// The probability that the best action is the best in the true one.
    pub best_is_right: f64,
    /// What would make it exact.
    pub missing: String,
    /// How far the best action depends on it, in words.
    #[serde(skip)]
    pub remark: String,
}

#[derive(Serialize)]
struct AdviceDocument<'a, R, S, A> {
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

/// How many choices people are shown.
const SHOWN: usize = 5;

pub fn print<G: Listed, S: Serialize>(
    args: &Args,
    rules: &G::Rules,
    advice: &Advice<G::Action, S>,
) -> Result<(), Error> {
    let Advice { text, situation, state, unit, choices, average } = advice;
    let Some(best) = choices.first() else {
        return Err(Error::usage(format!("{}: nothing is to be decided there", G::ID)));
    };
    let cost = |choice: &PricedChoice<G::Action>| (best.price.value - choice.price.value).max(0.0);
    let second = choices.get(1);
    if args.json {
        return print_json(&AdviceDocument {
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
