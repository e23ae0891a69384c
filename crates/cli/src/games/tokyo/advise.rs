//! Advice on Tokyo for two: which dice to keep, and when to leave.

use crate::{
    commands::advise::{
        Advice, Advisor, Args, PricedChoice, ROUNDING, Unit,
        parse::{KeyNames, Words, number},
        print,
    },
    error::Error,
    paint::count,
};
use necrodome_rules::{
    catalog::Listed,
    tokyo::{Action, Dice, Face, MAX_HEALTH, Tokyo, TokyoRules, TokyoView, words},
};
use necrodome_solve::{MonsterQuestion, Place, Price, Solution, Solvable};
use serde::Serialize;
use std::ops::RangeInclusive;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Health,
    Points,
    In,
    Out,
    Empty,
    Dice,
    Rerolls,
    Hit,
    Heals,
}

const NAMES: &KeyNames<Key> = &[
    ("health", Key::Health),
    ("points", Key::Points),
    ("in", Key::In),
    ("inside", Key::In),
    ("out", Key::Out),
    ("outside", Key::Out),
    ("empty", Key::Empty),
    ("dice", Key::Dice),
    ("rerolls", Key::Rerolls),
    ("hit", Key::Hit),
    ("heals", Key::Heals),
];

/// A limit above the points that anybody can have, so that the error can say who has won.
const MOST_POINTS: u32 = 99;

#[derive(Debug, Default)]
struct Typing {
    health: Option<[u8; 2]>,
    points: Option<[u32; 2]>,
    place: Option<Place>,
    dice: Option<Vec<Face>>,
    rerolls: Option<u8>,
    hit: bool,
    heals: Option<u8>,
}

/// The position as it was understood.
#[derive(Serialize)]
struct State {
    /// The player's health and the opponent's.
    health: [u8; 2],
    points: [u32; 2],
    #[serde(serialize_with = "word")]
    place: Place,
    #[serde(flatten)]
    asked: AskedAbout,
}

/// Writes a place as people type it.
fn word<S: serde::Serializer>(place: &Place, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match place {
        Place::Inside => "in",
        Place::Outside => "out",
        Place::Empty => "empty",
    })
}

#[derive(Serialize)]
#[serde(untagged)]
enum AskedAbout {
    Rolling { dice: Dice, rerolls: u8 },
    Hit { hit: bool, heals: u8 },
}

pub fn advisor() -> Advisor<Tokyo> {
    Advisor { examples: EXAMPLES, words: WORDS, advise }
}

const EXAMPLES: &[&str] = &[
    "tokyo health 6 4 points 12 15 in dice 1 1 2 3 heal attack rerolls 2",
    "tokyo health 3 8 points 10 12 hit",
];

const WORDS: &str = "\
Tokyo (for two):
  health OWN OTHER         from 1 to 10 (10 10 if left out)
  points OWN OTHER         as they are now, with the two for this turn in Tokyo (0 0 if left out)
  in | out | empty         you are in Tokyo, the other is, or nobody (the first turn)
  dice SIX FACES           1, 2, 3, heal (h), attack (a)
  rerolls 1|2              how often you may still reroll (2 if left out)
  hit                      you are in Tokyo, were hit and live: stay or leave?
  heals N                  heal dice that the attacker has still to use";

fn advise(args: &Args, rules: &TokyoRules) -> Result<(), Error> {
    let mut words = Words::new(Tokyo::ID, &args.state);
    let typed = read(rules, &mut words)?;
    let state = State::new(&typed, &words)?;
    let view = state.view();
    let solution = Tokyo::solve(rules, 2)?;
    solution.check(&view).or_else(|why| words.refuse(why))?;
    let mut choices: Vec<PricedChoice<Action>> =
        solution.prices(&view).into_iter().map(|price| choice(&view, price)).collect();
    // Of those that are worth the same, the one that keeps the most dice.
    let step = |choice: &PricedChoice<Action>| (choice.price.value / ROUNDING).round();
    choices.sort_by(|a, b| {
        step(b).total_cmp(&step(a)).then_with(|| kept(&b.price.action).cmp(&kept(&a.price.action)))
    });
    let text = choices.first().map_or(String::new(), |best| sentence(&view, &best.price.action));
    let situation = state.told();
    print::<Tokyo, _>(
        args,
        rules,
        &Advice { text, situation, state, unit: Unit::Chance, choices, average: None },
    )
}

fn kept(action: &Action) -> usize {
    match action {
        Action::Keep { dice } => dice.iter().filter(|&&kept| kept).count(),
        // Who does not mind stays: it is what a monster does that says nothing.
        Action::Stay => 1,
        Action::Yield => 0,
    }
}

fn choice(view: &TokyoView, price: Price<Action>) -> PricedChoice<Action> {
    let label = match price.action {
        Action::Keep { dice } if dice == [true; 6] => "keep all".to_owned(),
        Action::Keep { dice } if dice == [false; 6] => "reroll all".to_owned(),
        Action::Keep { dice } => format!("keep {}", words::faces(marked(view, dice))),
        Action::Stay => "stay".to_owned(),
        Action::Yield => "leave".to_owned(),
    };
    PricedChoice { label, price }
}

fn marked(view: &TokyoView, marks: [bool; 6]) -> impl Iterator<Item = Face> {
    view.dice.into_iter().zip(marks).filter(|(_, marked)| *marked).map(|(die, _)| die)
}

fn sentence(view: &TokyoView, action: &Action) -> String {
    match *action {
        Action::Keep { dice } => match kept(action) {
            6 => "Keep all six dice.".to_owned(),
            0 => "Reroll all six dice.".to_owned(),
            kept => {
                let rerolled = ["one", "two", "three", "four", "five"][5 - kept];
                format!("Keep {}, reroll {rerolled}.", words::faces(marked(view, dice)))
            }
        },
        Action::Stay => "Stay in Tokyo.".to_owned(),
        Action::Yield => "Leave Tokyo.".to_owned(),
    }
}

fn read(rules: &TokyoRules, words: &mut Words) -> Result<Typing, Error> {
    let (mut typed, mut seen) = (Typing::default(), Vec::new());
    while let Some((name, key)) = words.key(NAMES, &mut seen)? {
        match key {
            Key::Health => {
                let health = both(rules, words, name, 1..=MAX_HEALTH.into())?;
                typed.health = Some(health.map(|health| health as u8));
            }
            Key::Points => typed.points = Some(both(rules, words, name, 0..=MOST_POINTS)?),
            Key::In => place(&mut typed, Place::Inside, words)?,
            Key::Out => place(&mut typed, Place::Outside, words)?,
            Key::Empty => place(&mut typed, Place::Empty, words)?,
            Key::Dice => {
                typed.dice = Some(words.take_all(faces).into_iter().flatten().collect());
                // No key begins with a digit.
                if let Some(word) = words.take(number) {
                    return words.refuse(format!("dice: expected 1, 2, 3, heal or attack, got {word}"));
                }
            }
            Key::Rerolls => typed.rerolls = Some(one(words, name, 1..=2)?),
            Key::Hit => typed.hit = true,
            Key::Heals => typed.heals = Some(one(words, name, 0..=5)?),
        }
    }
    Ok(typed)
}

/// Parses one number.
fn one(words: &mut Words, key: &str, range: RangeInclusive<u32>) -> Result<u8, Error> {
    match words.number(key, range)? {
        Some(number) => Ok(number as u8),
        None => {
            let got = words.got();
            words.refuse(format!("{key}: expected a number, {got}"))
        }
    }
}

/// Parses a number for each of the two.
fn both(
    rules: &TokyoRules,
    words: &mut Words,
    key: &str,
    range: RangeInclusive<u32>,
) -> Result<[u32; 2], Error> {
    let numbers = words.numbers(key, range)?;
    if let [own, other] = numbers[..] {
        return Ok([own, other]);
    }
    if numbers.len() > 2 {
        // It says for how many it is solved.
        Tokyo::solve(rules, numbers.len())?;
    }
    let came = match numbers[..] {
        [] => words.got(),
        [one] => format!("got only {one}"),
        _ => format!("got {}", numbers.len()),
    };
    words.refuse(format!("{key}: expected two numbers, your own and the other's ({key} 6 4), {came}"))
}

fn place(typed: &mut Typing, place: Place, words: &Words) -> Result<(), Error> {
    match typed.place.replace(place) {
        Some(_) => words.refuse("expected one of in, out and empty, got two of them"),
        None => Ok(()),
    }
}

/// Parses a face by name, or several in one word: `112ha`.
fn faces(word: &str) -> Option<Vec<Face>> {
    let whole = match word {
        "one" => Some(Face::One),
        "two" => Some(Face::Two),
        "three" => Some(Face::Three),
        _ if "heal".starts_with(word) => Some(Face::Heal),
        _ if "attack".starts_with(word) => Some(Face::Attack),
        _ => None,
    };
    let letter = |letter: char| match letter {
        '1' => Some(Face::One),
        '2' => Some(Face::Two),
        '3' => Some(Face::Three),
        'h' => Some(Face::Heal),
        'a' => Some(Face::Attack),
        _ => None,
    };
    whole.map_or_else(|| word.chars().map(letter).collect(), |face| Some(vec![face]))
}

impl State {
    fn new(typed: &Typing, words: &Words) -> Result<Self, Error> {
        Ok(State {
            health: typed.health.unwrap_or([MAX_HEALTH; 2]),
            points: typed.points.unwrap_or([0; 2]),
            place: whereabouts(typed, words)?,
            asked: if typed.hit { hit(typed, words)? } else { rolling(typed, words)? },
        })
    }

    fn view(&self) -> TokyoView {
        let question = match self.asked {
            AskedAbout::Rolling { dice, rerolls } => MonsterQuestion::Keep { dice, rerolls },
            AskedAbout::Hit { heals, .. } => MonsterQuestion::Leave { heals },
        };
        question.view(self.health, self.points, self.place)
    }

    fn told(&self) -> String {
        let place = match self.place {
            Place::Inside => "in Tokyo",
            Place::Outside => "outside Tokyo",
            Place::Empty => "Tokyo is empty",
        };
        let asked = match self.asked {
            AskedAbout::Rolling { dice, rerolls } => {
                format!("dice {}, {} left", words::faces(dice), count(rerolls, "reroll"))
            }
            AskedAbout::Hit { heals: 0, .. } => "hit".to_owned(),
            AskedAbout::Hit { heals, .. } => format!("hit, the attacker has {} to use", count(heals, "heal")),
        };
        let ([own, other], [points, others]) = (self.health, self.points);
        format!("{place}, health {own} to {other}, points {points} to {others}, {asked}")
    }
}

/// Returns where the player stands.
fn whereabouts(typed: &Typing, words: &Words) -> Result<Place, Error> {
    let is_start = typed.health.is_none_or(|both| both == [MAX_HEALTH; 2])
        && typed.points.is_none_or(|both| both == [0; 2]);
    match typed.place {
        Some(Place::Outside | Place::Empty) if typed.hit => {
            words.refuse("hit is for the monster in Tokyo: expected in, or nothing about the place")
        }
        Some(place) => Ok(place),
        None if typed.hit => Ok(Place::Inside),
        None if is_start => Ok(Place::Empty),
        None => words.refuse("say where you are: in if you are in Tokyo, out if the other is"),
    }
}

fn hit(typed: &Typing, words: &Words) -> Result<AskedAbout, Error> {
    if typed.dice.is_some() || typed.rerolls.is_some() {
        return words.refuse(
            "hit asks whether to leave Tokyo: leave out dice and rerolls (of the attacker's dice only heals N matter)",
        );
    }
    Ok(AskedAbout::Hit { hit: true, heals: typed.heals.unwrap_or(0) })
}

fn rolling(typed: &Typing, words: &Words) -> Result<AskedAbout, Error> {
    if typed.heals.is_some() {
        return words.refuse(
            "heals are those of an attacker: say hit, too, or name your dice (dice 1 1 2 3 heal attack)",
        );
    }
    let dice = typed.dice.as_deref().unwrap_or_default();
    let Ok(dice) = Dice::try_from(dice) else {
        let came = if dice.is_empty() { "none".to_owned() } else { dice.len().to_string() };
        return words.refuse(format!(
            "dice: expected six of 1, 2, 3, heal and attack (dice 1 1 2 3 heal attack), got {came}"
        ));
    };
    Ok(AskedAbout::Rolling { dice, rerolls: typed.rerolls.unwrap_or(2) })
}
