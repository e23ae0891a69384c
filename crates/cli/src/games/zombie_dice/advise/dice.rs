//! The dice of a turn: whether they are possible, and what they can be if some colours are unknown.

use super::typing::{Pile, Typing, enough};
use crate::{commands::advise::parse::Words, error::Error, paint::count};
use necrodome_rules::zombie_dice::{Colour, Counts, DICE, OutOfDice};
use necrodome_solve::{Graph, Position, Spot};

/// The known dice of a turn, after the checks.
pub struct KnownDice {
    pub brains: u32,
    /// The brain dice on the table. With recycling, they are fewer than the brains.
    pub aside: Pile,
    pub shots: Pile,
    pub feet: Counts,
    pub cup: Option<Counts>,
}

/// One way to assign colours to all dice.
struct Colouring {
    aside: Counts,
    shots: Counts,
    cup: Counts,
    /// A weight in proportion to its probability.
    weight: f64,
}

const ALL: u32 = 13;

impl KnownDice {
    pub fn new(typed: &Typing, out_of_dice: OutOfDice, words: &Words) -> Result<Self, Error> {
        let &Typing { brains, shotguns: shots, feet, cup, .. } = typed;
        let aside = aside(typed, out_of_dice, words)?;
        check_number(typed, aside, words)?;
        let known = |number: u32, colours| if number == 0 { Some(Counts::default()) } else { colours };
        let mut dice = KnownDice {
            brains: brains.number,
            aside: Pile { number: aside, colours: known(aside, aside_colours(typed, aside, words)?) },
            shots: Pile { number: shots.number, colours: known(shots.number, shots.colours) },
            feet,
            cup,
        };
        let piles = [dice.aside.colours, dice.shots.colours, Some(feet), cup].into_iter().flatten();
        enough(words, piles.fold(Counts::default(), plus))?;
        match dice.ways()[..] {
            // What follows from the rest is known, too.
            [Colouring { aside, shots, cup, .. }] => {
                (dice.aside.colours, dice.shots.colours, dice.cup) = (Some(aside), Some(shots), Some(cup));
            }
            // What went back tells something about the shotguns, but not in a way that can be counted from here.
            _ if brains.number > aside && out_of_dice == OutOfDice::RecycleBrains => {
                return words.refuse(
                    "where brain dice have gone back, the colours of the shotguns must be known (shotguns red)",
                );
            }
            _ => {}
        }
        Ok(dice)
    }

    pub fn is_fresh(&self) -> bool {
        self.brains == 0 && self.shots.number == 0 && self.feet.total() == 0
    }

    /// Returns every way to colour the unknown dice.
    fn ways(&self) -> Vec<Colouring> {
        let mut ways = Vec::new();
        for aside in self.aside.colourings() {
            for shots in self.shots.colourings() {
                let cup = minus(DICE, plus(plus(aside, shots), self.feet));
                let Some(cup) = cup.filter(|&cup| self.cup.is_none_or(|known| known == cup)) else {
                    continue;
                };
                // A draw without replacement, and the face that each die set aside shows. Footsteps are as likely with
                // every colour, so they tell nothing.
                let weight = Colour::ALL.map(|colour| {
                    let [brain, _, shotgun] = colour.sides().map(|sides| f64::from(sides) / 6.0);
                    let piles = [aside, shots, self.feet, cup].map(|pile| factorial(pile[colour]));
                    let ways = factorial(DICE[colour]) / piles.iter().product::<f64>();
                    ways * brain.powi(aside[colour].into()) * shotgun.powi(shots[colour].into())
                });
                ways.push(Colouring { aside, shots, cup, weight: weight.iter().product() });
            }
        }
        ways
    }

    /// Returns the positions that fit, with their weights. Positions of equal value count as one.
    pub fn positions(&self, graph: &Graph) -> Result<Vec<(Spot, f64)>, String> {
        let mut positions: Vec<(Spot, f64)> = Vec::new();
        let mut why = "no turn comes to these dice".to_owned();
        for Colouring { shots, cup, weight, .. } in self.ways() {
            match graph.find(&Position { cup, feet: self.feet, shots, brains: self.brains }) {
                Ok(spot) => match positions.iter_mut().find(|(other, _)| *other == spot) {
                    Some((_, sum)) => *sum += weight,
                    None => positions.push((spot, weight)),
                },
                Err(impossible) => why = impossible.to_string(),
            }
        }
        if positions.is_empty() { Err(why) } else { Ok(positions) }
    }

    /// Returns the words that would leave nothing unknown.
    pub fn missing(&self, out_of_dice: OutOfDice) -> String {
        let piles = [("brains", self.aside), ("shotguns", self.shots)];
        let open = piles.into_iter().filter(|(_, pile)| pile.colours.is_none());
        // With the cup, the colours of one pile tell those of the other.
        let skipped = usize::from(self.cup.is_some());
        let open: Vec<&str> = open.map(|(name, _)| name).skip(skipped).collect();
        let words: Vec<String> = open.iter().map(|name| format!("{name} green ...")).collect();
        let colours = format!("the colours of the {} ({})", open.join(" and the "), words.join(" "));
        match out_of_dice {
            OutOfDice::EndTurn => format!("{colours}, or what is left in the cup (cup GREEN YELLOW RED)"),
            OutOfDice::RecycleBrains => colours,
        }
    }
}

/// Lists everything that was typed: `3 brains, 2 shotguns, 2 feet, 7 in the cup`.
fn listed(typed: &Typing) -> String {
    let feet = match typed.feet.total() {
        1 => "1 foot".to_owned(),
        feet => format!("{feet} feet"),
    };
    let cup = typed.cup.map_or(String::new(), |cup| format!(", {} in the cup", cup.total()));
    let [brains, shotguns] = [typed.brains.number, typed.shotguns.number];
    format!("{}, {}, {feet}{cup}", count(brains, "brain"), count(shotguns, "shotgun"))
}

/// Returns how many brain dice are on the table.
fn aside(typed: &Typing, out_of_dice: OutOfDice, words: &Words) -> Result<u32, Error> {
    let [brains, shots] = [typed.brains.number, typed.shotguns.number];
    match (typed.brain_dice, out_of_dice, typed.cup) {
        (Some(dice), ..) => Ok(dice.total().into()),
        (None, OutOfDice::EndTurn, _) => Ok(brains),
        (None, OutOfDice::RecycleBrains, Some(cup)) => {
            let others = u32::from(cup.total() + typed.feet.total()) + shots;
            Ok(ALL.saturating_sub(others).min(brains))
        }
        (None, OutOfDice::RecycleBrains, None) if brains + shots + 3 > ALL => words.refuse(format!(
            "with {} fewer than three dice would be left, so brain dice have gone back into the cup: say what is in it \
             (cup 5 3 2), and the colours of the shotguns",
            listed(typed)
        )),
        (None, OutOfDice::RecycleBrains, None) => Ok(brains),
    }
}

/// Refuses more dice than the game has, or fewer if all are named.
fn check_number(typed: &Typing, aside: u32, words: &Words) -> Result<(), Error> {
    let out = aside + typed.shotguns.number + u32::from(typed.feet.total());
    let dice = out + typed.cup.map_or(0, |cup| cup.total().into());
    if dice > ALL || typed.cup.is_some() && dice < ALL {
        return words.refuse(format!("that makes {dice} dice, but there are {ALL}: {}", listed(typed)));
    }
    Ok(())
}

fn aside_colours(typed: &Typing, aside: u32, words: &Words) -> Result<Option<Counts>, Error> {
    let Pile { number: brains, colours } = typed.brains;
    match (colours, typed.brain_dice) {
        (Some(_), _) if brains > aside => words.refuse(format!(
            "{} have gone back into the cup: say how many brains there are (brains {brains}), and with brain-dice the \
             colours that are still set aside",
            count(brains - aside, "brain die")
        )),
        (Some(colours), Some(dice)) if colours != dice => {
            words.refuse("brains and brain-dice have different colours")
        }
        (colours, dice) => Ok(colours.or(dice)),
    }
}

impl Pile {
    fn colourings(&self) -> Vec<Counts> {
        if let Some(colours) = self.colours {
            return vec![colours];
        }
        let number = self.number.min(ALL) as u8;
        let mut colourings = Vec::new();
        for green in 0..=number.min(DICE.green) {
            for yellow in 0..=(number - green).min(DICE.yellow) {
                let red = number - green - yellow;
                if red <= DICE.red {
                    colourings.push(Counts { green, yellow, red });
                }
            }
        }
        colourings
    }
}

/// Adds two piles. No pile has more than thirteen dice.
fn plus(a: Counts, b: Counts) -> Counts {
    Counts { green: a.green + b.green, yellow: a.yellow + b.yellow, red: a.red + b.red }
}

fn minus(a: Counts, b: Counts) -> Option<Counts> {
    Some(Counts {
        green: a.green.checked_sub(b.green)?,
        yellow: a.yellow.checked_sub(b.yellow)?,
        red: a.red.checked_sub(b.red)?,
    })
}

fn factorial(n: u8) -> f64 {
    (1..=n).map(f64::from).product()
}
