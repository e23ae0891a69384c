//! Advice on Zombie Dice: roll or stop.

mod dice;
mod typing;

use crate::{
    commands::advise::{Advice, Advisor, Args, Average, PricedChoice, Unit, parse::Words, percent, print},
    error::Error,
    paint::count,
};
use dice::KnownDice;
use necrodome_rules::{
    game::{Game, Seat},
    zombie_dice::{
        Action, Counts, FirstRoll, GOAL, OutOfDice, Race, RaceRules, Solo, SoloRules, Table, TableRules,
    },
};
use necrodome_solve::{Price, Solvable, Spot, Standing, TurnSolution, race_goes_on};
use serde::Serialize;
use typing::{Key, Typing, read, told};

/// A format of Zombie Dice whose positions can be typed.
pub trait Typed: Solvable + Game<Action = Action>
where
    Self::Solution: TurnSolution,
{
    const EXAMPLES: &[&str];

    /// Whether the format uses this word.
    fn knows(key: Key) -> bool;
    fn rules_of_turn(rules: &Self::Rules) -> (OutOfDice, FirstRoll);
    /// Returns whose turn it is and the scores before the turn.
    fn scoreboard(rules: &Self::Rules, typed: &Typing, words: &Words) -> Result<Scoreboard, Error>;
}

/// Whose turn it is, and the scores of the seats.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scoreboard {
    seat: Seat,
    scores: [u32; 2],
    tiebreak: bool,
}

pub fn advisor<G: Typed>() -> Advisor<G>
where
    G::Solution: TurnSolution,
{
    Advisor { examples: G::EXAMPLES, words: WORDS, advise: advise::<G> }
}

const WORDS: &str = "\
Zombie Dice:
  brains N, shotguns N     how many, or the colours of their dice, or both: brains 2 green red
  feet COLOURS             those of the footsteps: green, yellow, red (g, y, r; easy, medium, hard)
  cup GREEN YELLOW RED     dice left in the cup
  brain-dice COLOURS       brain dice still set aside, where others have gone back into the cup
  score OWN OTHER          banked so far (race and table; 0 0 if left out)
  seat first|second        who begins the rounds of a table (for two)
  tiebreak                 a tiebreak round of a table; the scores are all that is banked
Without any dice it is the position before the first roll. If colours are not known, the advice
is an average over all that they can be, by their probability.";

fn advise<G: Typed>(args: &Args, rules: &G::Rules) -> Result<(), Error>
where
    G::Solution: TurnSolution,
{
    let mut words = Words::new(G::ID, &args.state);
    let typed = read(&mut words, G::knows)?;
    let scoreboard = G::scoreboard(rules, &typed, &words)?;
    let (out_of_dice, first_roll) = G::rules_of_turn(rules);
    let dice = KnownDice::new(&typed, out_of_dice, &words)?;
    let solution = G::solve(rules, *G::SEATS.start())?;

    let Scoreboard { seat, scores, tiebreak } = scoreboard;
    let prices = solution.turn(seat, scores, tiebreak);
    let positions = dice.positions(solution.graph()).or_else(|why| words.refuse(why))?;
    let all: f64 = positions.iter().map(|(_, weight)| weight).sum();
    let mean = |value: &dyn Fn(Spot) -> f64| {
        positions.iter().map(|&(spot, weight)| weight / all * value(spot)).sum::<f64>()
    };
    let right = mean(&|spot| if prices.rolls(spot) { 1.0 } else { 0.0 });
    let (go, stop) = (mean(&|spot| prices.go(spot)), prices.banked(dice.brains));
    let must_roll = dice.is_fresh() && first_roll == FirstRoll::Mandatory;
    let rolls = must_roll || right > 0.0 && go > stop;

    let choice = |action: Action| PricedChoice {
        label: if action == Action::Go { "roll" } else { "stop" }.to_owned(),
        price: Price { action, value: if action == Action::Go { go } else { stop } },
    };
    let choices = match (must_roll, rolls) {
        (true, _) => vec![choice(Action::Go)],
        (false, true) => vec![choice(Action::Go), choice(Action::Stop)],
        (false, false) => vec![choice(Action::Stop), choice(Action::Go)],
    };
    let text = match (rolls, dice.brains) {
        _ if must_roll => "Roll: the first roll is no choice.".to_owned(),
        (true, _) => "Roll.".to_owned(),
        (false, 0) => "Stop: bank nothing.".to_owned(),
        (false, brains) => format!("Stop: bank {}.", count(brains, "brain")),
    };
    let average = (positions.len() > 1).then(|| {
        let best_is_right = if rolls { right } else { 1.0 - right };
        let name = if rolls { "rolling" } else { "stopping" };
        let remark = match best_is_right {
            right if right > 1.0 - 1e-9 => format!("{name} is right whatever the colours are"),
            right => format!("{name} is right in {} of them: it depends on the colours", percent(right)),
        };
        Average { positions: positions.len(), best_is_right, missing: dice.missing(out_of_dice), remark }
    });
    let state = State {
        brains: dice.brains,
        shotguns: dice.shots.number,
        feet: dice.feet,
        cup: dice.cup,
        brain_dice: dice.aside.colours,
        shotgun_dice: dice.shots.colours,
        score: G::knows(Key::Score).then(|| [scores[seat.index()], scores[1 - seat.index()]]),
        seat: G::knows(Key::Seat).then_some(if seat.0 == 0 { "first" } else { "second" }),
        tiebreak: G::knows(Key::Tiebreak).then_some(tiebreak),
    };
    let situation = state.told(dice.is_fresh());
    print::<G, _>(args, rules, &Advice { text, situation, state, unit: Unit::of::<G>(), choices, average })
}

/// The position as it was understood.
#[derive(Serialize)]
struct State {
    brains: u32,
    shotguns: u32,
    feet: Counts,
    /// The dice in the cup, or `None` if they are not known.
    cup: Option<Counts>,
    brain_dice: Option<Counts>,
    shotgun_dice: Option<Counts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<[u32; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seat: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tiebreak: Option<bool>,
}

impl State {
    fn told(&self, is_fresh: bool) -> String {
        let mut parts = Vec::new();
        if self.tiebreak == Some(true) {
            parts.push("tiebreak".to_owned());
        }
        if let Some(seat) = self.seat {
            parts.push(format!("{seat} in the round"));
        }
        if let Some([own, other]) = self.score {
            parts.push(format!("{own} to {other} banked"));
        }
        if is_fresh {
            parts.push("before the first roll".to_owned());
            return parts.join(", ");
        }
        let pile = |number: u32, thing: &str, colours: Option<Counts>| {
            let colours = colours.filter(|colours| colours.total() > 0);
            count(number, thing) + &colours.map_or(String::new(), |colours| format!(" ({})", told(colours)))
        };
        match self.brain_dice {
            Some(aside) if self.brains > aside.total().into() => {
                let back = self.brains - u32::from(aside.total());
                let still = if aside.total() == 0 { "none" } else { &told(aside) };
                parts.push(format!("{} brains ({back} went back, still set aside: {still})", self.brains));
            }
            aside => parts.push(pile(self.brains, "brain", aside)),
        }
        parts.push(pile(self.shotguns, "shotgun", self.shotgun_dice));
        parts.push(match self.feet.total() {
            0 => "no footsteps".to_owned(),
            _ => format!("feet {}", told(self.feet)),
        });
        parts.push(match self.cup {
            Some(cup) => format!("cup {} {} {}", cup.green, cup.yellow, cup.red),
            None => "colours in the cup not known".to_owned(),
        });
        parts.join(", ")
    }
}

impl Typed for Solo {
    const EXAMPLES: &[&str] = &["zombie-dice-solo brains 4 shotguns 1 feet green yellow"];

    fn knows(key: Key) -> bool {
        !matches!(key, Key::Score | Key::Seat | Key::Tiebreak)
    }

    fn rules_of_turn(rules: &SoloRules) -> (OutOfDice, FirstRoll) {
        (rules.out_of_dice, rules.first_roll)
    }

    fn scoreboard(_: &SoloRules, _: &Typing, _: &Words) -> Result<Scoreboard, Error> {
        Ok(Scoreboard::default())
    }
}

impl Typed for Race {
    const EXAMPLES: &[&str] = &["zombie-dice-race score 7 9 brains 3 shotguns 2 feet green green cup 3 2 1"];

    fn knows(key: Key) -> bool {
        !matches!(key, Key::Seat | Key::Tiebreak)
    }

    fn rules_of_turn(rules: &RaceRules) -> (OutOfDice, FirstRoll) {
        (rules.out_of_dice, rules.first_roll)
    }

    fn scoreboard(_: &RaceRules, typed: &Typing, words: &Words) -> Result<Scoreboard, Error> {
        let scores = match typed.scores.as_deref() {
            None => [0; 2],
            Some(&[own, other]) => [own, other],
            Some(more) => {
                return words.refuse(format!("score: expected two numbers, got {}", more.len()));
            }
        };
        race_goes_on(scores[0], scores[1]).or_else(|why| words.refuse(why))?;
        Ok(Scoreboard { scores, ..Scoreboard::default() })
    }
}

impl Typed for Table {
    const EXAMPLES: &[&str] = &["zombie-dice score 11 14 seat second brains green green red shotguns yellow"];

    fn knows(_: Key) -> bool {
        true
    }

    fn rules_of_turn(rules: &TableRules) -> (OutOfDice, FirstRoll) {
        (rules.out_of_dice, rules.first_roll)
    }

    fn scoreboard(rules: &TableRules, typed: &Typing, words: &Words) -> Result<Scoreboard, Error> {
        let (own, other) = match typed.scores.as_deref() {
            None => (0, 0),
            Some(&[own, other]) => (own, other),
            // It says for how many it is solved.
            Some(more) => {
                Self::solve(rules, more.len())?;
                (0, 0)
            }
        };
        let tiebreak = typed.tiebreak;
        let seat = match typed.seat {
            Some(seat) => seat,
            // Only the second has a turn when the other has reached the goal.
            None if other >= GOAL && !tiebreak => Seat(1),
            None => return words.refuse("say who begins the rounds: seat first if you do, else seat second"),
        };
        let scores = if seat.0 == 0 { [own, other] } else { [other, own] };
        Standing::of(seat, scores, tiebreak).or_else(|why| words.refuse(why))?;
        Ok(Scoreboard { seat, scores, tiebreak })
    }
}
