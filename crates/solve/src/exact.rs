//! Exact values of bots that are pure functions of their view: the solver shows the bot every view that it can reach,
//! once, and calculates the rest. No simulation, no error bar.

mod table;

pub use crate::tokyo::{Answers, AskedMonster, TokyoBot, TokyoDuel, tokyo};
pub use table::{PerfectAtTable, TableBot, TablePlayer, TablePolicy, TableTurn, table};

use crate::{
    equation::fixed_point,
    race::{self, RaceSolution},
    solo::SoloSolution,
    turn::{Dual, FullGraph, Graph, Position, Spot, Work, evaluate},
};
use necrodome_rules::{
    chance::{Chance as _, Seeded},
    game::Game,
    zombie_dice::{
        Action, FirstRoll, GOAL, Race, RaceRules, RaceView, Solo, SoloRules, SoloView, Turn, TurnView, words,
    },
};
use serde::Serialize;

/// Why a bot has no exact value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Inexact {
    /// Its answer does not depend on the view alone.
    #[error(
        "it answers differently when it is asked again: with {view} it wanted to {first}, then to {again}"
    )]
    Changes {
        /// The view that it was shown.
        view: String,
        /// Its first answer.
        first: String,
        /// Its second answer.
        again: String,
    },
    /// It gave no answer.
    #[error("it did not answer: {0}")]
    Silent(String),
    /// It does not promise that its answer depends on the view alone.
    #[error(
        "it does not promise \"deterministic\": true in its handshake, so it may answer the same question differently"
    )]
    NoPromise,
    /// The other bot has no exact value.
    #[error("{0}")]
    Other(Box<Inexact>),
    /// The match would never end.
    #[error("neither of the two ever banks anything, so with max_rounds=none their match has no end")]
    Endless,
    /// The user interrupted the work.
    #[error("interrupted")]
    Interrupted,
}

/// The exact value of a bot.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Exact {
    /// Its value in solo.
    Solo(ExactSolo),
    /// Its value in the race.
    Race(ExactRace),
}

/// The number of scores at which a race is not over.
const SCORES: usize = GOAL as usize;

/// A bot that is asked for its action in each view.
pub trait Asked<G: Game> {
    /// Returns its action for this view.
    fn act(&mut self, view: &G::View) -> Result<G::Action, Inexact>;

    /// Returns the probability that it rolls with this view. A bot may leave that to chance.
    fn rolls(&mut self, view: &G::View) -> Result<f64, Inexact>
    where
        G: Game<Action = Action>,
    {
        Ok(f64::from(u8::from(self.act(view)? == Action::Go)))
    }

    /// Returns n if every n-th view is to be shown a second time, to see whether the answer is the same.
    fn again(&self) -> usize {
        1
    }
}

/// Returns how often the turn of a bot banks each number of brains, and how many views it was shown. `progress` is called with
/// the share of the questions that have been asked.
fn banks<G: Game<Action = Action>>(
    graph: &FullGraph,
    first_roll: FirstRoll,
    bot: &mut (impl Asked<G> + ?Sized),
    show: impl Fn(TurnView) -> G::View,
    progress: &mut dyn FnMut(f64),
) -> Result<(Vec<f64>, usize), Inexact> {
    let every = bot.again();
    let first_time = every as f64 / (every as f64 + 1.0);
    let mut views = 0;
    let mut answers: Vec<(TurnView, f64)> = Vec::new();
    let mut ask = |view: &TurnView| {
        let rolls = bot.rolls(&show(*view))?;
        if views % every == 0 {
            answers.push((*view, rolls));
        }
        views += 1;
        Ok(rolls)
    };
    let goes = match first_roll {
        FirstRoll::Mandatory => 1.0,
        FirstRoll::Free => ask(&Turn::START.view())?,
    };
    let mut told = |share: f64| progress(share * first_time);
    let mut banks = if goes > 0.0 { graph.banks(&mut ask, &mut told)? } else { vec![1.0] };
    if goes < 1.0 {
        banks.iter_mut().for_each(|chance| *chance *= goes);
        banks[0] += 1.0 - goes;
    }
    // In any other order, so that a bot that counts its questions is found out.
    Seeded::new(views as u64, "ask again", 0).shuffle(&mut answers);
    // Who stops at once is shown one view: asked often enough, a coin shows itself there, too.
    let passes = 64usize.div_ceil(answers.len().max(1));
    let questions = passes * answers.len();
    for (number, (view, first)) in answers.iter().copied().cycle().take(questions).enumerate() {
        progress(first_time + (1.0 - first_time) * number as f64 / questions as f64);
        let again = bot.rolls(&show(view))?;
        if again != first {
            let word = |rolls: f64| match rolls {
                0.0 => "stop".to_owned(),
                1.0 => "roll".to_owned(),
                chance => format!("roll with a probability of {chance}"),
            };
            let view = words::turn(&view);
            return Err(Inexact::Changes { view, first: word(first), again: word(again) });
        }
    }
    Ok((banks, views))
}

/// A policy that depends only on what matters for the rest of the turn, and on the scores: the same positions that the
/// solutions use. It may leave a decision to chance, and decides many positions at once.
pub trait Policy {
    /// Returns the probability to roll in each of these positions of a turn.
    fn rolls(&mut self, scores: Scores, positions: &[Position]) -> Result<Vec<f64>, Inexact>;
}

/// The parts of the match, besides the dice of the turn, that a player sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scores {
    /// Nothing: the player is alone.
    Solo,
    /// The banked scores of both players.
    Race {
        /// This player's score.
        own: u32,
        /// The other player's score.
        other: u32,
    },
    /// Everything visible at a table for two.
    Table(TableTurn),
}

/// Does the same as [`banks`], for a policy.
fn policy_banks(
    graph: &Graph,
    first_roll: FirstRoll,
    policy: &mut (impl Policy + ?Sized),
    scores: Scores,
) -> Result<(Vec<f64>, usize), Inexact> {
    let mut asked = 0;
    let banks = graph.banks(first_roll, |spots: &[Spot]| {
        asked += spots.len();
        let positions: Vec<Position> = spots.iter().map(|&spot| graph.position(spot)).collect();
        policy.rolls(scores, &positions)
    });
    Ok((banks?, asked))
}

/// The exact value of a bot in solo.
#[derive(Debug, Clone, Serialize)]
pub struct ExactSolo {
    /// Its expected score.
    pub score: f64,
    /// The highest possible expected score.
    pub best: f64,
    /// The probability of each score.
    pub distribution: Vec<f64>,
    /// The number of views that the bot was shown.
    pub views: usize,
}

/// Works out the expected score of a bot in solo; `progress` is called with the share of the questions that have been asked.
pub fn solo(
    rules: &SoloRules,
    bot: &mut (impl Asked<Solo> + ?Sized),
    mut progress: impl FnMut(f64),
) -> Result<ExactSolo, Inexact> {
    let graph = FullGraph::new(rules.out_of_dice);
    let (distribution, views) =
        banks(&graph, rules.first_roll, bot, |turn| SoloView { turn }, &mut progress)?;
    Ok(ExactSolo::new(rules, distribution, views))
}

/// Works out the expected score of a policy in solo.
pub fn solo_policy(rules: &SoloRules, policy: &mut (impl Policy + ?Sized)) -> Result<ExactSolo, Inexact> {
    let graph = Graph::new(rules.out_of_dice);
    let (distribution, views) = policy_banks(&graph, rules.first_roll, policy, Scores::Solo)?;
    Ok(ExactSolo::new(rules, distribution, views))
}

impl ExactSolo {
    fn new(rules: &SoloRules, distribution: Vec<f64>, views: usize) -> Self {
        let score = (0..).zip(&distribution).map(|(brains, chance)| f64::from(brains) * chance).sum();
        ExactSolo { score, best: SoloSolution::new(rules).value(), distribution, views }
    }
}

/// The chances to win a match from its start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WinChance {
    /// The chance of the player who moves first.
    pub first: f64,
    /// The chance of the player who moves second.
    pub second: f64,
    /// The average of both seats.
    pub mean: f64,
}

/// The exact value of a bot in the race.
#[derive(Debug, Clone, Serialize)]
pub struct ExactRace {
    /// Its chance against the perfect player.
    pub against_optimal: WinChance,
    /// Its chance against the other bot, if there is one.
    pub against: Option<WinChance>,
    /// The chance of an opponent who knows exactly how it plays and replies perfectly.
    pub best_response: WinChance,
    /// The number of views that the bot was shown.
    pub views: usize,
}

/// A bot's play in the race: at each pair of scores, how often its turn banks each number of brains.
#[derive(Debug, Clone)]
pub struct RaceProfile {
    /// The banks, by the bot's score and the other's.
    banks: Vec<Vec<f64>>,
    /// The number of views that the bot was shown.
    pub views: usize,
}

impl RaceProfile {
    /// Asks a bot at every pair of scores; `progress` is called with the share of the questions that have been asked.
    pub fn ask(
        rules: &RaceRules,
        bot: &mut (impl Asked<Race> + ?Sized),
        mut progress: impl FnMut(f64),
    ) -> Result<Self, Inexact> {
        let graph = FullGraph::new(rules.out_of_dice);
        let mut profile = RaceProfile { banks: Vec::with_capacity(SCORES * SCORES), views: 0 };
        for own in 0..GOAL {
            for other in 0..GOAL {
                let show = |turn| RaceView { turn, score: own, opponent_score: other };
                let done = profile.banks.len() as f64;
                let mut told = |share: f64| progress((done + share) / (SCORES * SCORES) as f64);
                let (banks, views) = banks(&graph, rules.first_roll, bot, show, &mut told)?;
                profile.banks.push(banks);
                profile.views += views;
            }
        }
        Ok(profile)
    }

    /// Asks a policy at every pair of scores.
    pub fn of_policy(rules: &RaceRules, policy: &mut (impl Policy + ?Sized)) -> Result<Self, Inexact> {
        let graph = Graph::new(rules.out_of_dice);
        let mut profile = RaceProfile { banks: Vec::with_capacity(SCORES * SCORES), views: 0 };
        for own in 0..GOAL {
            for other in 0..GOAL {
                let (banks, views) =
                    policy_banks(&graph, rules.first_roll, policy, Scores::Race { own, other })?;
                profile.banks.push(banks);
                profile.views += views;
            }
        }
        Ok(profile)
    }

    /// How often the first turn of a match banks each number of brains.
    pub fn first_turn(&self) -> &[f64] {
        &self.banks[0]
    }

    /// Works out how the perfect player plays.
    pub fn optimal(rules: &RaceRules, solution: &RaceSolution) -> Self {
        let scores = (0..GOAL).flat_map(|own| (0..GOAL).map(move |other| (own, other)));
        let banks = scores.map(|(own, other)| solution.prices(own, other).distribution(rules.first_roll));
        RaceProfile { banks: banks.collect(), views: 0 }
    }

    /// Works out its chance against another bot. The limit on rounds counts here: two bots may take any time.
    pub fn against(&self, other: &RaceProfile, rules: &RaceRules) -> Result<WinChance, Inexact> {
        match rules.max_rounds {
            Some(rounds) => Ok(limited_duel(self, other, rounds.get())),
            None => {
                let never = |profile: &RaceProfile, own: usize, other: usize| {
                    profile.banks[own * SCORES + other][0] >= 1.0
                };
                let mut scores = (0..SCORES).flat_map(|a| (0..SCORES).map(move |b| (a, b)));
                if scores.any(|(a, b)| never(self, a, b) && never(other, b, a)) {
                    return Err(Inexact::Endless);
                }
                Ok(duel(
                    |own, rival, ends| self.turn(own, rival, ends),
                    |own, rival, ends| other.turn(own, rival, ends),
                ))
            }
        }
    }

    /// Works out its chance against the perfect player. The match ends long before any limit on rounds that is solved.
    pub fn against_optimal(&self, rules: &RaceRules, solution: &RaceSolution) -> WinChance {
        let optimal = RaceProfile::optimal(rules, solution);
        duel(
            |own, rival, ends| self.turn(own, rival, ends),
            |own, rival, ends| optimal.turn(own, rival, ends),
        )
    }

    /// Works out the chance of an opponent who knows exactly how this bot plays and replies perfectly.
    pub fn best_response(&self, rules: &RaceRules, solution: &RaceSolution) -> WinChance {
        let mut work = Work::default();
        let respond = |own: usize, _: usize, ends: &[Dual]| {
            evaluate(solution.graph(), &race::ends(ends, own), rules.first_roll, &mut work, None)[0]
        };
        duel(respond, |own, rival, ends| self.turn(own, rival, ends))
    }

    /// The value of a turn if its ends have these values; ends beyond the last are worth as much as the last.
    fn turn(&self, own: usize, other: usize, ends: &[Dual]) -> Dual {
        let mut value = [0.0; 2];
        for (brains, chance) in self.banks[own * SCORES + other].iter().enumerate() {
            let end = ends[brains.min(ends.len() - 1)];
            value = [value[0] + chance * end[0], value[1] + chance * end[1]];
        }
        value
    }
}

/// The chances of one bot against another if the higher score wins after `rounds` rounds. Works backwards from the last turn,
/// by rounds left, and stops as soon as more rounds change nothing.
fn limited_duel(one: &RaceProfile, other: &RaceProfile, rounds: u32) -> WinChance {
    let from = |first: &RaceProfile, second: &RaceProfile| {
        // The chance of the first, by both scores, with no turn left.
        let mut chances = [[0.0; SCORES]; SCORES];
        for (a, row) in chances.iter_mut().enumerate() {
            for (b, chance) in row.iter_mut().enumerate() {
                *chance = if a == b { 0.5 } else { f64::from(u8::from(a > b)) };
            }
        }
        for _ in 0..rounds {
            let before = chances;
            let mut after_first = [[0.0; SCORES]; SCORES];
            for a in 0..SCORES {
                for b in 0..SCORES {
                    // The second's turn, valued for the first.
                    let banks = second.banks[b * SCORES + a].iter().enumerate();
                    let value = |(brains, chance): (usize, &f64)| {
                        if b + brains >= SCORES { 0.0 } else { chance * before[a][b + brains] }
                    };
                    after_first[a][b] = banks.map(value).sum();
                }
            }
            for a in 0..SCORES {
                for b in 0..SCORES {
                    let banks = first.banks[a * SCORES + b].iter().enumerate();
                    let value = |(brains, chance): (usize, &f64)| {
                        chance * if a + brains >= SCORES { 1.0 } else { after_first[a + brains][b] }
                    };
                    chances[a][b] = banks.map(value).sum();
                }
            }
            if chances == before {
                break;
            }
        }
        chances[0][0]
    };
    let (first, second) = (from(one, other), 1.0 - from(other, one));
    WinChance { first, second, mean: (first + second) / 2.0 }
}

/// The chances of one way to play against another. A way to play turns the values of the ends of a turn into the value
/// of the turn.
fn duel(
    mut one: impl FnMut(usize, usize, &[Dual]) -> Dual,
    mut other: impl FnMut(usize, usize, &[Dual]) -> Dual,
) -> WinChance {
    // By the mover's score and its rival's.
    let mut ones = [[0.0; SCORES]; SCORES];
    let mut others = [[0.0; SCORES]; SCORES];
    for total in (0..2 * SCORES - 1).rev() {
        for a in (0..SCORES).filter(|&a| (a..a + SCORES).contains(&total)) {
            let b = total - a;
            let mut of_one = |theirs: f64| {
                let ends = race::ends_at(|score| others[b][score], a, [1.0 - theirs, -1.0]);
                one(a, b, &ends)
            };
            let mut of_other = |theirs: f64| {
                let ends = race::ends_at(|score| ones[a][score], b, [1.0 - theirs, -1.0]);
                other(b, a, &ends)
            };
            let chance = fixed_point(0.5, |chance| {
                let [first, first_slope] = of_one(chance);
                let [second, second_slope] = of_other(first);
                [second, first_slope * second_slope]
            });
            let [first, _] = of_one(chance);
            others[b][a] = chance;
            ones[a][b] = first;
        }
    }
    let (first, second) = (ones[0][0], 1.0 - others[0][0]);
    WinChance { first, second, mean: (first + second) / 2.0 }
}
