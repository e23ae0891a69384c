//! Exact values of two ways to play Tokyo for two: the same states in the same order as the solution, but with the choices of
//! the players instead of the best ones.
//!
//! The dice of a question are sorted: their result does not depend on the order, and 15,625 orders at each of 72,000
//! turns would be too many questions. A bot that looks at the order gets the value that it has with sorted dice.

use super::{
    HEALTH, MonsterQuestion, POINTS, Place, Start, TokyoSolution, Values,
    dice::{DICE, FULL, Handfuls, spread},
    resolved,
    sheet::Sheet,
};
use crate::exact::{Asked, Inexact, WinChance};
use necrodome_rules::{
    game::{Move, Seat},
    tokyo::{Action, Dice, Monster, Phase, Tokyo, TokyoView, words},
};

/// The number of ways to keep dice: bit i is die i + 1.
const KEEPS: usize = 1 << DICE;
/// The number of questions about the dice of a turn: with one reroll left, then with two.
const QUESTIONS: usize = 2 * FULL;
/// The number of turns in one batch of questions: every health of both monsters.
const TURNS: usize = HEALTH * HEALTH;

/// Answers to many questions of one kind. About dice: 64 ways to keep them, where bit i is die i + 1; about Tokyo: leave (0)
/// or stay (1).
#[derive(Debug, Clone, PartialEq)]
pub enum Answers {
    /// One choice for each question.
    Choices(Vec<u8>),
    /// The probability of each choice, for each question.
    Chances(Vec<f64>),
}

/// A monster that is asked for its decisions.
pub trait AskedMonster {
    /// Answers each of these views: either all ask which dice to keep, or all ask whether to leave Tokyo.
    fn answer(&mut self, views: &[TokyoView]) -> Result<Answers, Inexact>;
}

/// A bot that is asked view by view, and a second time for every eighth view.
#[derive(Debug)]
pub struct TokyoBot<B>(pub B);

impl<B: Asked<Tokyo>> AskedMonster for TokyoBot<B> {
    fn answer(&mut self, views: &[TokyoView]) -> Result<Answers, Inexact> {
        let mut choices = Vec::with_capacity(views.len());
        for view in views {
            choices.push(choice(&self.0.act(view)?));
        }
        for (view, &first) in views.iter().zip(&choices).step_by(8).rev() {
            let again = self.0.act(view)?;
            if choice(&again) != first {
                let told = |action| words::choice(view, &Move::Act(action)).to_string();
                return Err(Inexact::Changes {
                    view: format!("{} ({})", words::faces(view.dice), words::place(view)),
                    first: told(action(view, first)),
                    again: told(again),
                });
            }
        }
        Ok(Answers::Choices(choices))
    }
}

fn choice(action: &Action) -> u8 {
    match action {
        Action::Keep { dice } => (0..).zip(dice).map(|(die, &kept)| u8::from(kept) << die).sum(),
        Action::Yield => 0,
        Action::Stay => 1,
    }
}

fn action(view: &TokyoView, choice: u8) -> Action {
    match (view.phase, choice) {
        (Phase::Rolling { .. }, mask) => {
            Action::Keep { dice: std::array::from_fn(|die| mask >> die & 1 == 1) }
        }
        (_, 0) => Action::Yield,
        _ => Action::Stay,
    }
}

/// The exact value of a monster in a match for two.
#[derive(Debug, Clone, Copy)]
pub struct TokyoDuel {
    /// Its chance against the other.
    pub chance: WinChance,
    /// The chance of the best response to the other monster.
    pub best: WinChance,
    /// The chance of an opponent who knows exactly how this monster plays.
    pub best_response: WinChance,
    /// The number of states that it was asked about.
    pub views: usize,
}

/// Works out the chances of a monster against another, or against the perfect player; `progress` is called with the share of
/// the questions that have been asked.
pub fn tokyo(
    solution: &TokyoSolution,
    one: &mut dyn AskedMonster,
    other: Option<&mut dyn AskedMonster>,
    progress: &mut dyn FnMut(f64),
) -> Result<TokyoDuel, Inexact> {
    let against = if other.is_some() { Who::Other } else { Who::Perfect };
    let mut matches = vec![Match::new(Who::One, against), Match::new(Who::Best, Who::One)];
    if against == Who::Other {
        matches.push(Match::new(Who::Best, Who::Other));
    }
    let mut asking = Asking { solution, one, other, views: 0 };
    let mut asked = 0;
    for total in (0..2 * POINTS - 1).rev() {
        let own = total.saturating_sub(POINTS - 1)..=total.min(POINTS - 1);
        for place in [Place::Inside, Place::Outside] {
            for own in own.clone() {
                progress(asked as f64 / (2 * POINTS * POINTS) as f64);
                asked += 1;
                let starts = starts(place, own as u8, (total - own) as u8);
                if comes_up(&starts[0]) {
                    fill(&mut matches, &mut asking, &starts)?;
                }
            }
        }
    }
    let chances = first_turns(&mut matches, &mut asking)?;
    let even = solution.value(&Start::MATCH);
    let best = chances.get(2).copied();
    let best = best.unwrap_or(WinChance { first: even, second: 1.0 - even, mean: 0.5 });
    Ok(TokyoDuel { chance: chances[0], best, best_response: chances[1], views: asking.views })
}

/// A way to play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    /// The monster whose value is wanted.
    One,
    /// The opponent.
    Other,
    /// The perfect player.
    Perfect,
    /// The player who knows how the other plays.
    Best,
}

/// Two ways to play, and the value of each turn to the mover.
struct Match {
    who: [Who; 2],
    values: [Values; 2],
}

impl Match {
    fn new(one: Who, other: Who) -> Self {
        Match { who: [one, other], values: [Values::new(), Values::new()] }
    }
}

/// All turns with these points, by health.
fn starts(place: Place, points: u8, other_points: u8) -> Vec<Start> {
    let start = |health: usize| Start {
        place,
        health: (health / HEALTH) as u8 + 1,
        other_health: (health % HEALTH) as u8 + 1,
        points,
        other_points,
    };
    (0..TURNS).map(start).collect()
}

/// Whether a match can reach a turn: the monster in Tokyo has a point for entering.
fn comes_up(start: &Start) -> bool {
    match start.place {
        Place::Inside => start.points > 0,
        Place::Outside => start.other_points > 0,
        Place::Empty => true,
    }
}

/// Whether the two points for Tokyo win at once.
fn wins_at_once(start: &Start) -> bool {
    start.place == Place::Inside && usize::from(start.points) + 2 >= POINTS
}

/// A player's choices in some turns.
#[derive(Default)]
struct Plan {
    /// The dice that the player keeps, by turn, rerolls left and full handful; `None` for perfect play.
    keeps: Option<Keeps>,
    /// The probability that the player leaves Tokyo after a hit, by turn of the attacker and full handful; `None` for perfect play,
    /// or if nobody is hit.
    leaves: Option<Vec<f64>>,
}

enum Keeps {
    /// The number of the handful that is kept.
    Handful(Vec<u16>),
    /// The probability of each way to keep dice.
    Chances(Vec<f64>),
}

/// The two monsters that are asked.
struct Asking<'a, 'b> {
    solution: &'a TokyoSolution,
    one: &'a mut dyn AskedMonster,
    other: Option<&'b mut dyn AskedMonster>,
    views: usize,
}

impl Asking<'_, '_> {
    /// Asks for a player's choices in these turns, as mover and as defender.
    fn plan(&mut self, who: Who, starts: &[Start]) -> Result<Plan, Inexact> {
        let outside = starts[0].place == Place::Outside;
        match who {
            Who::Best => Ok(Plan::default()),
            Who::Perfect => Ok(self.perfect(starts, outside)),
            Who::One | Who::Other => {
                let keeps = if wins_at_once(&starts[0]) { None } else { Some(self.keeps(who, starts)?) };
                Ok(Plan { keeps, leaves: if outside { Some(self.leaves(who, starts)?) } else { None } })
            }
        }
    }

    fn answer(&mut self, who: Who, views: &[TokyoView]) -> Result<Answers, Inexact> {
        match (who, &mut self.other) {
            (Who::Other, Some(other)) => other.answer(views).map_err(|why| Inexact::Other(Box::new(why))),
            _ => {
                self.views += views.len();
                self.one.answer(views)
            }
        }
    }

    fn keeps(&mut self, who: Who, starts: &[Start]) -> Result<Keeps, Inexact> {
        let tables = Handfuls::get();
        let views: Vec<TokyoView> = starts.iter().flat_map(keep_questions).collect();
        Ok(match self.answer(who, &views)? {
            Answers::Choices(masks) => {
                let kept = masks.iter().zip(&views).map(|(&mask, view)| {
                    tables.kept(&view.dice, std::array::from_fn(|die| mask >> die & 1 == 1)) as u16
                });
                Keeps::Handful(kept.collect())
            }
            Answers::Chances(chances) => Keeps::Chances(chances),
        })
    }

    fn leaves(&mut self, who: Who, starts: &[Start]) -> Result<Vec<f64>, Inexact> {
        let mut leaves = vec![0.0; starts.len() * FULL];
        let (mut views, mut places) = (Vec::new(), Vec::new());
        for (turn, start) in starts.iter().enumerate() {
            for full in 0..FULL {
                if let Some(view) = leave_question(start, full) {
                    views.push(view);
                    places.push(turn * FULL + full);
                }
            }
        }
        if views.is_empty() {
            return Ok(leaves);
        }
        match self.answer(who, &views)? {
            Answers::Choices(choices) => {
                places.iter().zip(choices).for_each(|(&place, choice)| {
                    leaves[place] = f64::from(u8::from(choice == 0));
                });
            }
            Answers::Chances(chances) => {
                places
                    .iter()
                    .zip(chances.chunks_exact(2))
                    .for_each(|(&place, chances)| leaves[place] = chances[0]);
            }
        }
        Ok(leaves)
    }

    fn perfect(&self, starts: &[Start], outside: bool) -> Plan {
        let tables = Handfuls::get();
        let policy = self.solution.policy();
        let kept = starts.iter().flat_map(|start| {
            (0..QUESTIONS).map(move |question| {
                let (rerolls_left, full) = ((question / FULL) as u8 + 1, question % FULL);
                tables.number(&policy.keep(self.solution, start, rerolls_left, full)) as u16
            })
        });
        let leave = |start: &Start, full: usize| {
            let result = &tables.results[usize::from(tables.result[full])];
            let mut leaves = 0.0;
            let decide = |held: f64, enters: f64| {
                leaves = f64::from(u8::from(enters < held));
                0.0
            };
            resolved(&self.solution.values, start, result, decide);
            leaves
        };
        let leaves = || starts.iter().flat_map(|start| (0..FULL).map(|full| leave(start, full))).collect();
        Plan { keeps: Some(Keeps::Handful(kept.collect())), leaves: outside.then(leaves) }
    }
}

/// The questions about the dice: with one reroll left, then with two, for every full handful.
fn keep_questions(start: &Start) -> impl Iterator<Item = TokyoView> {
    let start = *start;
    let bonus = if start.place == Place::Inside { 2 } else { 0 };
    let points = [u32::from(start.points) + bonus, start.other_points.into()];
    (0..QUESTIONS).map(move |question| {
        let question =
            MonsterQuestion::Keep { dice: sorted(question % FULL), rerolls: (question / FULL) as u8 + 1 };
        question.view([start.health, start.other_health], points, start.place)
    })
}

/// The question whether the monster in Tokyo leaves, if there is one.
fn leave_question(start: &Start, full: usize) -> Option<TokyoView> {
    let tables = Handfuls::get();
    let result = tables.results[usize::from(tables.result[full])];
    let points = start.points + result.points;
    let health = start.other_health.saturating_sub(result.attacks);
    let asked = result.attacks > 0 && health > 0 && usize::from(points) < POINTS;
    asked.then(|| TokyoView {
        seat: Seat(0),
        current: Seat(1),
        monsters: vec![
            Monster { health, points: start.other_points.into() },
            Monster { health: start.health, points: points.into() },
        ],
        in_tokyo: Some(Seat(0)),
        dice: sorted(full),
        phase: Phase::Yielding { damage: result.attacks },
        turn: 1,
    })
}

/// Writes a full handful as sorted dice.
fn sorted(full: usize) -> Dice {
    spread(&Handfuls::get().all[full])
}

/// Fills in the values of these turns, in all matches and for both seats.
fn fill(matches: &mut [Match], asking: &mut Asking<'_, '_>, starts: &[Start]) -> Result<(), Inexact> {
    let first = starts[0].number();
    if wins_at_once(&starts[0]) {
        for values in matches.iter_mut().flat_map(|played| &mut played.values) {
            values.of_mut(starts[0].place)[first..first + starts.len()].fill(1.0);
        }
        return Ok(());
    }
    let plans = Plans::ask(matches, asking, starts)?;
    for played in matches {
        for seat in 0..2 {
            let (mover, defender) = (plans.of(played.who[seat]), plans.of(played.who[1 - seat]));
            let worth = |(turn, start): (usize, &Start)| {
                worth(start, turn, mover, defender, &played.values[1 - seat])
            };
            let worth: Vec<f64> = starts.iter().enumerate().map(worth).collect();
            played.values[seat].of_mut(starts[0].place)[first..first + starts.len()].copy_from_slice(&worth);
        }
    }
    Ok(())
}

/// The choices of all players in some turns.
struct Plans(Vec<(Who, Plan)>);

impl Plans {
    fn ask(matches: &[Match], asking: &mut Asking<'_, '_>, starts: &[Start]) -> Result<Self, Inexact> {
        let mut plans: Vec<(Who, Plan)> = Vec::new();
        for who in matches.iter().flat_map(|played| played.who) {
            if plans.iter().all(|(known, _)| *known != who) {
                plans.push((who, asking.plan(who, starts)?));
            }
        }
        Ok(Plans(plans))
    }

    fn of(&self, who: Who) -> &Plan {
        static BEST: Plan = Plan { keeps: None, leaves: None };
        self.0.iter().find(|(known, _)| *known == who).map_or(&BEST, |(_, plan)| plan)
    }
}

/// The value of a turn to its mover, if the other's turns are worth `next` to the other.
fn worth(start: &Start, turn: usize, mover: &Plan, defender: &Plan, next: &Values) -> f64 {
    let tables = Handfuls::get();
    let mut sheet = Sheet::<1>::new();
    for (full, last) in sheet.last.iter_mut().enumerate() {
        let result = &tables.results[usize::from(tables.result[full])];
        *last = [resolved(next, start, result, |held, enters| match &defender.leaves {
            Some(leaves) => {
                let leaves = leaves[turn * FULL + full];
                leaves * enters + (1.0 - leaves) * held
            }
            None => held.min(enters),
        })];
    }
    let [value] = match &mover.keeps {
        None => {
            sheet.keep_once(tables);
            sheet.keep_twice(tables);
            sheet.first_roll(tables)
        }
        Some(Keeps::Handful(kept)) => sheet.played(tables, |rerolls_left, full, values| {
            let question = usize::from(rerolls_left - 1) * FULL + full;
            values[usize::from(kept[turn * QUESTIONS + question])]
        }),
        Some(Keeps::Chances(chances)) => sheet.played(tables, |rerolls_left, full, values| {
            let question = turn * QUESTIONS + usize::from(rerolls_left - 1) * FULL + full;
            let ways = &ways()[full];
            let chances = &chances[question * KEEPS..(question + 1) * KEEPS];
            [chances.iter().zip(ways).map(|(chance, &kept)| chance * values[usize::from(kept)][0]).sum()]
        }),
    };
    value
}

/// The handful that is kept, by full handful and way to keep its sorted dice.
fn ways() -> &'static [[u16; KEEPS]] {
    static WAYS: std::sync::LazyLock<Vec<[u16; KEEPS]>> = std::sync::LazyLock::new(|| {
        let tables = Handfuls::get();
        let kept = |full: usize, mask: usize| {
            tables.kept(&sorted(full), std::array::from_fn(|die| mask >> die & 1 == 1)) as u16
        };
        (0..FULL).map(|full| std::array::from_fn(|mask| kept(full, mask))).collect()
    });
    &WAYS
}

/// Works out the chances of the first player of each match in both seats.
fn first_turns(matches: &mut [Match], asking: &mut Asking<'_, '_>) -> Result<Vec<WinChance>, Inexact> {
    let plans = Plans::ask(matches, asking, &[Start::MATCH])?;
    let chance = |played: &Match| {
        let begins = |seat: usize| {
            let (mover, defender) = (plans.of(played.who[seat]), plans.of(played.who[1 - seat]));
            worth(&Start::MATCH, 0, mover, defender, &played.values[1 - seat])
        };
        let (first, second) = (begins(0), 1.0 - begins(1));
        WinChance { first, second, mean: (first + second) / 2.0 }
    };
    Ok(matches.iter().map(chance).collect())
}
