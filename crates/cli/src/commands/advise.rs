//! `necrodome advise`: what to do in a position that a person types, and the cost of every other choice.

pub mod parse;

use super::print_json;
use crate::{
    error::Error,
    games, lineup,
    paint::{bold, dim, line},
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    game::Game,
    with_game,
};
use necrodome_solve::{Price, Unsolved};
use serde::Serialize;
use std::io::{self, BufWriter, Write};

/// Say what is best in a position, and what every other choice costs
#[derive(clap::Args)]
#[command(after_help = help())]
pub struct Args {
    /// The game (see `necrodome games`)
    game: String,
    /// The position, in words
    #[arg(value_name = "STATE", allow_negative_numbers = true)]
    pub state: Vec<String>,
    /// Set an option of the rules; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The advice of a game on positions that people type.
pub struct Advisor<G: Game> {
    /// Some positions to start with: the words after `necrodome advise`.
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
         Write words in any order, separated by spaces, commas or =; they can be shortened: b=4 sh=1 f=g,y.\n\n{}\n\n\
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

/// The unit of values.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Points,
    Chance,
}

impl Unit {
    /// Returns the unit of a game: points for a game with one seat.
    pub fn of<G: Listed>() -> Self {
        if *G::SEATS.end() == 1 { Unit::Points } else { Unit::Chance }
    }

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

    /// Returns a cost in words.
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

/// Values that differ by less count as equal.
pub const ROUNDING: f64 = 1e-12;

pub fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// A choice and its price.
pub struct PricedChoice<A> {
    pub label: String,
    pub price: Price<A>,
}

impl<A> PricedChoice<A> {
    /// Returns what another choice costs if this is the best.
    fn cost_of(&self, other: &Self) -> f64 {
        (self.price.value - other.price.value).max(0.0)
    }
}

/// The advice on a position.
pub struct Advice<A, S> {
    /// The best choice, in a sentence.
    pub text: String,
    /// The position as it was understood, for people.
    pub situation: String,
    /// The position as it was understood, for programs.
    pub state: S,
    pub unit: Unit,
    /// The choices, the best first.
    pub choices: Vec<PricedChoice<A>>,
    /// The average, if part of the state is not known.
    pub average: Option<Average>,
}

/// How values were averaged over everything that the state leaves open.
#[derive(Serialize)]
pub struct Average {
    /// How many different positions fit the state.
    pub positions: usize,
    /// The probability that the best action is also the best in the true position.
    pub best_is_right: f64,
    /// The words that would make the result exact.
    pub missing: String,
    /// How much the best action depends on the unknown part, in words.
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
    /// `None` if there is only one choice.
    cost_of_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    average: Option<&'a Average>,
}

/// How many choices are shown to people.
const SHOWN: usize = 5;

/// Writes the first few choices with their values and costs, the best first.
pub fn write_choices<A>(out: &mut dyn Write, unit: Unit, choices: &[PricedChoice<A>]) -> io::Result<()> {
    let shown = &choices[..choices.len().min(SHOWN)];
    let width = shown.iter().map(|choice| choice.label.len()).max().unwrap_or(0);
    writeln!(out, "{}", dim(format!("  {:width$}  {:>13}  {:>9}", "", unit.heading(), "cost")))?;
    for (place, choice) in shown.iter().enumerate() {
        let value = unit.value(choice.price.value);
        let cost = if place == 0 { String::new() } else { unit.value(shown[0].cost_of(choice)) };
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
    Ok(())
}

pub fn print<G: Listed, S: Serialize>(
    args: &Args,
    rules: &G::Rules,
    advice: &Advice<G::Action, S>,
) -> Result<(), Error> {
    let Advice { text, situation, state, unit, choices, average } = advice;
    let Some(best) = choices.first() else {
        return Err(Error::usage(format!("{}: there is nothing to decide in this position", G::ID)));
    };
    let cost = |choice: &PricedChoice<G::Action>| best.cost_of(choice);
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
    line(&mut out, 0, &bold(text).to_string())?;
    line(&mut out, 0, &dim(situation).to_string())?;
    writeln!(out)?;
    write_choices(&mut out, *unit, choices)?;
    if let Some(second) = second {
        writeln!(out)?;
        line(&mut out, 0, &format!("second best: {}, costs {}", second.label, unit.cost(cost(second))))?;
    }
    if let Some(Average { positions, missing, remark, .. }) = average {
        let average = format!("an average over the {positions} positions that fit, weighted by probability");
        line(&mut out, 0, &format!("not exact: {average}"))?;
        line(&mut out, 0, remark)?;
        line(&mut out, 0, &format!("to make it exact, add {missing}"))?;
    }
    out.flush()?;
    Ok(())
}
