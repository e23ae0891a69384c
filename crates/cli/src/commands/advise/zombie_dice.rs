//! Zombie Dice: roll or stop.

mod dice;
mod typing;

use super::{Advice, Args, Average, Choice, Unit, parse::Words, percent, print};
use crate::{error::Error, lineup, paint::count};
use dice::Dice;
use necrodome_rules::{
    game::{Game, Seat},
    zombie_dice::{
        Action, Counts, FirstRoll, GOAL, OutOfDice, Race, RaceRules, Solo, SoloRules, Table, TableRules,
    },
};
use necrodome_solve::{Format, Price, Solvable, Spot};
use serde::Serialize;
use typing::{Key, MOST_BRAINS, Typing, read, told};

/// A format of Zombie Dice that can be typed.
pub trait Typed: Solvable + Game<Action = Action>
where
    Self::Solution: Format,
{
    const UNIT: Unit = Unit::Chance;

    /// Whether it has such a word.
    fn knows(key: Key) -> bool;
    fn rules_of_turn(rules: &Self::Rules) -> (OutOfDice, FirstRoll);
    /// How things stand before the turn.
    fn standing(rules: &Self::Rules, typed: &Typing, words: &Words) -> Result<Standing, Error>;
}

/// Whose turn it is, and the scores of the seats.
#[derive(Debug, Clone, Copy, Default)]
pub struct Standing {
    seat: Seat,
    scores: [u32; 2],
    tiebreak: bool,
}

pub fn advise<G: Typed>(args: &Args) -> Result<(), Error>
where
    G::Solution: Format,
{
    let rules = lineup::rules::<G>(&args.set)?;
    let mut words = Words::new(G::ID, &args.state);
    let typed = read(&mut words, G::knows)?;
    let standing = G::standing(&rules, &typed, &words)?;
    let (out_of_dice, first_roll) = G::rules_of_turn(&rules);
    let dice = Dice::new(&typed, out_of_dice, &words)?;
    let solution = G::solve(&rules, *G::SEATS.start())?;

    let Standing { seat, scores, tiebreak } = standing;
    let prices = solution.turn(seat, scores, tiebreak);
    let positions = dice.positions(solution.graph());
    let all: f64 = positions.iter().map(|(_, weight)| weight).sum();
    if positions.is_empty() {
        return words.refuse("no turn comes to these dice");
    }
    let mean = |value: &dyn Fn(Spot) -> f64| {
        positions.iter().map(|&(spot, weight)| weight / all * value(spot)).sum::<f64>()
    };
    let right = mean(&|spot| if prices.rolls(spot) { 1.0 } else { 0.0 });
    let (go, stop) = (mean(&|spot| prices.go(spot)), prices.banked(dice.brains));
    let must_roll = dice.is_fresh() && first_roll == FirstRoll::Mandatory;
    let rolls = must_roll || right > 0.0 && go > stop;

    let choice = |action: Action| Choice {
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
    print::<G, _>(args, &rules, &Advice { text, situation, state, unit: G::UNIT, choices, average })
}

/// What was understood.
#[derive(Serialize)]
struct State {
    brains: u32,
    shotguns: u32,
    feet: Counts,
    /// None where it is not known.
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
    const UNIT: Unit = Unit::Points;

    fn knows(key: Key) -> bool {
        !matches!(key, Key::Score | Key::Seat | Key::Tiebreak)
    }

    fn rules_of_turn(rules: &SoloRules) -> (OutOfDice, FirstRoll) {
        (rules.out_of_dice, rules.first_roll)
    }

    fn standing(_: &SoloRules, _: &Typing, _: &Words) -> Result<Standing, Error> {
        Ok(Standing::default())
    }
}

impl Typed for Race {
    fn knows(key: Key) -> bool {
        !matches!(key, Key::Seat | Key::Tiebreak)
    }

    fn rules_of_turn(rules: &RaceRules) -> (OutOfDice, FirstRoll) {
        (rules.out_of_dice, rules.first_roll)
    }

    fn standing(_: &RaceRules, typed: &Typing, words: &Words) -> Result<Standing, Error> {
        let scores = match typed.scores.as_deref() {
            None => [0; 2],
            Some(&[own, other]) => [own, other],
            Some(more) => {
                return words.refuse(format!("score: expected two numbers, got {}", more.len()));
            }
        };
        match scores.into_iter().find(|&score| score >= GOAL) {
            Some(score) => words.refuse(format!("the race is over: {score} are banked, and {GOAL} win")),
            None => Ok(Standing { scores, ..Standing::default() }),
        }
    }
}

impl Typed for Table {
    fn knows(_: Key) -> bool {
        true
    }

    fn rules_of_turn(rules: &TableRules) -> (OutOfDice, FirstRoll) {
        (rules.out_of_dice, rules.first_roll)
    }

    fn standing(rules: &TableRules, typed: &Typing, words: &Words) -> Result<Standing, Error> {
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
        let wrong = match (seat.0, tiebreak) {
            (_, true) if own < GOAL || other < GOAL => {
                format!(
                    "a tiebreak comes with scores of {GOAL} and more, all brains counted, got {own} and {other}"
                )
            }
            (0, true) if own != other => {
                format!("a tiebreak round begins with equal scores, got {own} and {other}")
            }
            (_, true) if own > other => {
                format!(
                    "before the second's turn of a tiebreak the first cannot be behind, got {own} to {other}"
                )
            }
            (_, false) if own >= GOAL => {
                format!(
                    "with {own} banked you have no turn but in a tiebreak: expected less than {GOAL}, or tiebreak"
                )
            }
            (0, false) if other >= GOAL => {
                format!(
                    "the other has {other}, so no new round begins: say seat second if this is your last turn"
                )
            }
            // Where brain dice go back no solution looks further.
            _ if other > own + MOST_BRAINS => {
                format!("score: expected to be at most {MOST_BRAINS} behind, got {own} to {other}")
            }
            _ => String::new(),
        };
        if !wrong.is_empty() {
            return words.refuse(wrong);
        }
        let scores = if seat.0 == 0 { [own, other] } else { [other, own] };
        Ok(Standing { seat, scores, tiebreak })
    }
}
