//! Parses the words for a turn and the scores.

use crate::{
    commands::advise::parse::{KeyNames, Words},
    error::Error,
    paint::count,
};
use necrodome_rules::{
    game::Seat,
    zombie_dice::{Colour, Counts, DICE},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Brains,
    Shotguns,
    Feet,
    Cup,
    BrainDice,
    Score,
    Seat,
    Tiebreak,
}

const NAMES: &KeyNames<Key> = &[
    ("brains", Key::Brains),
    // Without these two, the first letters would fit brain-dice as well.
    ("brain", Key::Brains),
    ("b", Key::Brains),
    ("shotguns", Key::Shotguns),
    ("feet", Key::Feet),
    ("footsteps", Key::Feet),
    ("cup", Key::Cup),
    ("brain-dice", Key::BrainDice),
    ("score", Key::Score),
    ("scores", Key::Score),
    ("seat", Key::Seat),
    ("tiebreak", Key::Tiebreak),
];

/// The most brains of one turn. More practically never come up: the chance is below 1e-20, even if brain dice go back.
pub const MOST_BRAINS: u32 = 99;
const MOST_SCORE: u32 = 999;

/// Dice set aside: how many, and their colours if they are known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pile {
    pub number: u32,
    pub colours: Option<Counts>,
}

/// The parsed words.
#[derive(Debug, Default)]
pub struct Typing {
    pub brains: Pile,
    pub shotguns: Pile,
    pub feet: Counts,
    pub cup: Option<Counts>,
    pub brain_dice: Option<Counts>,
    pub scores: Option<Vec<u32>>,
    pub seat: Option<Seat>,
    pub tiebreak: bool,
}

/// Parses all words; `knows` says which of them the format uses.
pub fn read(words: &mut Words, knows: fn(Key) -> bool) -> Result<Typing, Error> {
    let names: Vec<_> = NAMES.iter().copied().filter(|&(_, key)| knows(key)).collect();
    let (mut typed, mut seen) = (Typing::default(), Vec::new());
    while let Some((name, key)) = words.key(&names, &mut seen)? {
        match key {
            Key::Brains => typed.brains = pile(words, name)?,
            Key::Shotguns => typed.shotguns = pile(words, name)?,
            Key::Feet => typed.feet = colours(words, name)?,
            Key::BrainDice => typed.brain_dice = Some(colours(words, name)?),
            Key::Cup => typed.cup = Some(cup(words)?),
            Key::Score => {
                let scores = words.numbers(name, 0..=MOST_SCORE)?;
                if scores.len() < 2 {
                    let came = words.got();
                    return words.refuse(format!(
                        "score: expected two numbers, your own and the other's (score 7 9), {}",
                        scores.first().map_or(came, |one| format!("got only {one}"))
                    ));
                }
                typed.scores = Some(scores);
            }
            Key::Seat => {
                let seat = words.take(|word| match word {
                    "first" | "1" | "1st" => Some(Seat(0)),
                    "second" | "2" | "2nd" => Some(Seat(1)),
                    _ => None,
                });
                if seat.is_none() {
                    let got = words.got();
                    return words.refuse(format!("seat: expected first or second, {got}"));
                }
                typed.seat = seat;
            }
            Key::Tiebreak => typed.tiebreak = true,
        }
    }
    Ok(typed)
}

fn colour(word: &str) -> Option<Colour> {
    let names = [
        ("green", Colour::Green),
        ("easy", Colour::Green),
        ("yellow", Colour::Yellow),
        ("medium", Colour::Yellow),
        ("red", Colour::Red),
        ("hard", Colour::Red),
    ];
    names.into_iter().find(|(name, _)| name.starts_with(word)).map(|(_, colour)| colour)
}

/// Parses a number, colours, or a number and as many colours.
fn pile(words: &mut Words, key: &str) -> Result<Pile, Error> {
    if words.take(|word| (word == "none").then_some(())).is_some() {
        return Ok(Pile { number: 0, colours: None });
    }
    let number = words.number(key, 0..=MOST_BRAINS)?;
    let dice = words.take_all(colour);
    match number {
        None if dice.is_empty() => {
            let got = words.got();
            words.refuse(format!("{key}: expected a number or colours ({key} 2, {key} green red), {got}"))
        }
        Some(number) if !dice.is_empty() && number as usize != dice.len() => {
            words.refuse(format!("{key}: expected {}, got {}", count(number, "colour"), dice.len()))
        }
        _ => {
            let number = number.unwrap_or(dice.len() as u32);
            let colours = if dice.is_empty() { None } else { Some(counts(words, &dice)?) };
            Ok(Pile { number, colours })
        }
    }
}

/// Parses colours, all of which must be given.
fn colours(words: &mut Words, key: &str) -> Result<Counts, Error> {
    match pile(words, key)? {
        Pile { colours: Some(colours), .. } => Ok(colours),
        Pile { number: 0, .. } => Ok(Counts::default()),
        Pile { number, .. } => {
            words.refuse(format!("{key}: expected colours ({key} green red), got only the number {number}"))
        }
    }
}

fn counts(words: &Words, dice: &[Colour]) -> Result<Counts, Error> {
    let mut counts = Counts::default();
    for &colour in dice {
        // As many as there are at most: thousands of words are no reason to count wrong.
        counts[colour] = (counts[colour] + 1).min(100);
    }
    enough(words, counts)?;
    Ok(counts)
}

/// Refuses more dice of a colour than the game has.
pub fn enough(words: &Words, counts: Counts) -> Result<(), Error> {
    match Colour::ALL.into_iter().find(|&colour| counts[colour] > DICE[colour]) {
        Some(colour) => {
            let (name, all) = (name(colour), DICE[colour]);
            words.refuse(format!("{} {name} dice, but there are only {all}", counts[colour]))
        }
        None => Ok(()),
    }
}

fn cup(words: &mut Words) -> Result<Counts, Error> {
    let numbers = words.numbers("cup", 0..=13)?;
    let &[green, yellow, red] = &numbers[..] else {
        return words.refuse(format!(
            "cup: expected three numbers, the green, yellow and red dice left in it (cup 3 2 1), got {}",
            if numbers.is_empty() { "none".to_owned() } else { numbers.len().to_string() }
        ));
    };
    let cup = Counts { green: green as u8, yellow: yellow as u8, red: red as u8 };
    enough(words, cup)?;
    Ok(cup)
}

/// Returns `green green red`.
pub fn told(counts: Counts) -> String {
    let dice = Colour::ALL.into_iter().flat_map(|c| std::iter::repeat_n(name(c), counts[c].into()));
    dice.collect::<Vec<_>>().join(" ")
}

fn name(colour: Colour) -> &'static str {
    match colour {
        Colour::Green => "green",
        Colour::Yellow => "yellow",
        Colour::Red => "red",
    }
}
