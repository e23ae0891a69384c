//! Plays what was computed: the perfect players at the referee's tables, millions of turns from fixed seeds.

use crate::common::on_all_cores;
use necrodome_rules::{
    bot::{Bot, BotSpec},
    chance::Seeded,
    game::{Game, Outcome, Silent},
    names::Names,
    options::Bounded,
    play::{Memory, play_with},
    tokyo::{Tokyo, TokyoRules},
    zombie_dice::{FirstRoll, OutOfDice, Race, RaceRules, Solo, SoloRules, Table, TableRules, Tiebreak},
};
use necrodome_solve::{
    Solution, Solvable,
    exact::{self, Asked, Inexact, PerfectAtTable, RaceProfile, TableBot, TokyoBot},
    result,
};

/// The values of many matches to seat 0.
#[derive(Default)]
struct Sample {
    matches: u64,
    turns: u64,
    sum: f64,
    squares: f64,
    /// By the score of seat 0.
    scores: Vec<u64>,
}

impl Sample {
    fn add(&mut self, outcome: &Outcome) {
        let worth = result(outcome);
        self.matches += 1;
        self.turns += u64::from(outcome.turns);
        self.sum += worth;
        self.squares += worth * worth;
        let score = outcome.scores[0] as usize;
        self.scores.resize(self.scores.len().max(score + 1), 0);
        self.scores[score] += 1;
    }

    fn merge(mut self, other: Sample) -> Self {
        self.matches += other.matches;
        self.turns += other.turns;
        self.sum += other.sum;
        self.squares += other.squares;
        self.scores.resize(self.scores.len().max(other.scores.len()), 0);
        self.scores.iter_mut().zip(other.scores).for_each(|(own, other)| *own += other);
        self
    }

    /// How many standard errors the mean is above `expected`.
    fn deviation(&self, expected: f64) -> f64 {
        let matches = self.matches as f64;
        let mean = self.sum / matches;
        let variance = self.squares / matches - mean * mean;
        (mean - expected) / (variance / matches).sqrt()
    }

    fn check(&self, what: &str, expected: f64) {
        let (mean, deviation) = (self.sum / self.matches as f64, self.deviation(expected));
        println!(
            "{what}: {} matches, {} turns, {mean:.6} ({expected:.6}), {deviation:+.2}",
            self.matches, self.turns
        );
        assert!(deviation.abs() < 4.0, "{what}: {mean} and not {expected}: {deviation} standard errors");
    }
}

/// Plays matches on all cores. Each share has its own stream, so the result does not depend on the cores.
fn play<G: Game>(
    rules: &G::Rules,
    matches: u64,
    seed: u64,
    bots: impl Fn() -> Vec<Box<dyn Bot<G>>> + Sync,
) -> Sample
where
    G::Rules: Sync,
{
    const SHARES: usize = 16;
    let share = |share: usize| {
        let (mut bots, mut memory) = (bots(), Memory::default());
        let names = Names::new(["a", "b"].into_iter().take(bots.len())).unwrap();
        let mut chance = Seeded::new(seed, "monte carlo", share as u64);
        let mut sample = Sample::default();
        for _ in 0..matches.div_ceil(SHARES as u64) {
            let mut game = G::new(&names, rules, &mut chance, &mut Silent).unwrap();
            sample.add(&play_with(&mut memory, &mut game, &mut bots, &mut chance, &mut Silent).unwrap());
        }
        sample
    };
    // Floats are added in the order of the shares.
    on_all_cores(SHARES, share).into_iter().fold(Sample::default(), Sample::merge)
}

fn perfect<G: Solvable>(rules: &G::Rules, seats: usize) -> Vec<Box<dyn Bot<G>>> {
    (0..seats).map(|_| -> Box<dyn Bot<G>> { Box::new(G::optimal(rules)) }).collect()
}

fn built_in<G: Solvable>(spec: &str) -> Box<dyn Bot<G>> {
    let spec: BotSpec = spec.parse().unwrap();
    let kind = G::built_ins().into_iter().find(|bot| bot.name == spec.name).unwrap();
    kind.build(&spec, Seeded::new(3, "bot", 0)).unwrap()
}

/// Checks that perfect players against each other are worth what the solution says. Returns the sample.
fn check_value<G: Solvable>(rules: &G::Rules, seats: usize, matches: u64, seed: u64) -> Sample
where
    G::Rules: Sync,
{
    let solution = G::solve(rules, seats).unwrap();
    let sample = play::<G>(rules, matches, seed, || perfect::<G>(rules, seats));
    sample.check(&format!("{} {rules:?}", G::ID), solution.start());
    sample
}

const ENDS: [OutOfDice; 2] = [OutOfDice::EndTurn, OutOfDice::RecycleBrains];

#[test]
fn solo_scores_what_the_solution_says() {
    let mut turns = 0;
    for (out_of_dice, seed) in ENDS.into_iter().zip(100..) {
        let rules = SoloRules { out_of_dice, ..SoloRules::default() };
        let sample = check_value::<Solo>(&rules, 1, 5_000_000, seed);
        turns += sample.turns;
        // Every score as often as it should, those that hardly ever come taken together.
        let distribution = Solo::solve(&rules, 1).unwrap().distribution();
        assert!((distribution.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let matches = sample.matches as f64;
        let mut rest = (0.0, 0.0);
        let (mut chi_square, mut bins) = (0.0, 0);
        let mut add = |expected: f64, came: f64| {
            chi_square += (came - expected).powi(2) / expected;
            bins += 1;
        };
        for score in 0..distribution.len().max(sample.scores.len()) {
            let expected = matches * distribution.get(score).copied().unwrap_or(0.0);
            let came = sample.scores.get(score).copied().unwrap_or(0) as f64;
            if expected < 25.0 {
                rest = (rest.0 + expected, rest.1 + came);
            } else {
                let deviation = (came - expected) / (expected * (1.0 - expected / matches)).sqrt();
                assert!(deviation.abs() < 5.0, "{score}: {came} of {matches}, expected {expected}");
                add(expected, came);
            }
        }
        assert!(rest.1 < rest.0 + 5.0 * rest.0.sqrt() + 5.0, "rare scores: {rest:?}");
        // Mean bins - 1, variance twice that.
        let freedom = f64::from(bins - 1);
        assert!(
            bins > 8 && chi_square < freedom + 4.0 * (2.0 * freedom).sqrt(),
            "{chi_square} for {bins} bins"
        );
    }
    assert!(turns >= 10_000_000, "{turns}");
}

#[test]
fn races_are_won_as_often_as_the_solution_says() {
    let mut turns = 0;
    for (out_of_dice, seed) in ENDS.into_iter().zip(200..) {
        let rules = RaceRules { out_of_dice, ..RaceRules::default() };
        turns += check_value::<Race>(&rules, 2, 550_000, seed).turns;
    }
    assert!(turns >= 10_000_000, "{turns}");
}

#[test]
fn tables_for_two_are_won_as_often_as_the_solution_says() {
    let (mut turns, mut seed) = (0, 300);
    for out_of_dice in ENDS {
        for tiebreak in [Tiebreak::OneRound, Tiebreak::UntilBroken] {
            for first_roll in [FirstRoll::Free, FirstRoll::Mandatory] {
                let rules = TableRules { out_of_dice, first_roll, tiebreak, ..TableRules::default() };
                turns += check_value::<Table>(&rules, 2, 125_000, seed).turns;
                seed += 1;
            }
        }
    }
    assert!(turns >= 10_000_000, "{turns}");
}

#[test]
fn tokyo_is_won_as_often_as_the_solution_says() {
    let turns = check_value::<Tokyo>(&TokyoRules::default(), 2, 800_000, 400).turns;
    assert!(turns >= 10_000_000, "{turns}");
}

struct Asking<G: Game>(Box<dyn Bot<G>>);

impl<G: Game> Asked<G> for Asking<G> {
    fn act(&mut self, view: &G::View) -> Result<G::Action, Inexact> {
        Ok(self.0.act(view))
    }
}

#[test]
fn built_in_bots_lose_as_often_as_the_exact_value_says() {
    let cases = [
        (OutOfDice::EndTurn, "cautious"),
        (OutOfDice::EndTurn, "greedy"),
        (OutOfDice::RecycleBrains, "stop-at:brains=4,shotguns=2"),
    ];
    on_all_cores(cases.len(), |number| {
        let (out_of_dice, name) = cases[number];
        let rules = RaceRules { out_of_dice, ..RaceRules::default() };
        let optimal = RaceProfile::optimal(&rules, &Race::solve(&rules, 2).unwrap());
        let profile = RaceProfile::ask(&rules, &mut Asking(built_in::<Race>(name)), |_| {}).unwrap();
        let chance = optimal.against(&profile, &rules).unwrap();
        let perfect = || -> Box<dyn Bot<Race>> { Box::new(Race::optimal(&rules)) };
        let first = play::<Race>(&rules, 100_000, 500, || vec![perfect(), built_in(name)]);
        first.check(&format!("optimal, {name}"), chance.first);
        let second = play::<Race>(&rules, 100_000, 501, || vec![built_in(name), perfect()]);
        second.check(&format!("{name}, optimal"), 1.0 - chance.second);
    });
}

#[test]
fn built_in_bots_score_in_solo_what_the_exact_value_says() {
    for out_of_dice in ENDS {
        let rules = SoloRules { out_of_dice, ..SoloRules::default() };
        for (name, seed) in
            ["cautious", "greedy", "stop-at:brains=3", "stop-at:brains=11,shotguns=2"].into_iter().zip(600..)
        {
            let exact = exact::solo(&rules, &mut Asking(built_in::<Solo>(name)), |_| {}).unwrap();
            let sample = play::<Solo>(&rules, 300_000, seed, || vec![built_in::<Solo>(name)]);
            sample.check(name, exact.score);
            let matches = sample.matches as f64;
            for (score, chance) in exact.distribution.iter().enumerate().filter(|(_, p)| *p * matches > 25.0)
            {
                let came = sample.scores.get(score).copied().unwrap_or(0) as f64;
                let deviation = (came - matches * chance) / (matches * chance * (1.0 - chance)).sqrt();
                assert!(
                    deviation.abs() < 5.0,
                    "{name} scores {score}: {came} of {matches}, expected {chance}"
                );
            }
        }
    }
}

#[test]
fn a_table_for_two_is_worth_to_a_bot_what_play_gives() {
    // A limit, so that few rounds are asked about, and all ways to end come up.
    let max_rounds = Some(Bounded::new(5));
    for (tiebreak, name) in [(Tiebreak::OneRound, "greedy"), (Tiebreak::UntilBroken, "stop-at:brains=4")] {
        let rules = TableRules { tiebreak, max_rounds, ..TableRules::default() };
        let solution = Table::solve(&TableRules { tiebreak, ..TableRules::default() }, 2).unwrap();
        let mut bot = TableBot::new(&rules, Asking(built_in::<Table>(name)));
        let mut perfect = PerfectAtTable::new(&rules, solution);
        let chance = exact::table(&rules, &mut bot, &mut perfect, &mut |_| {}).unwrap();
        let perfect = || -> Box<dyn Bot<Table>> { Box::new(Table::optimal(&rules)) };
        let first = play::<Table>(&rules, 50_000, 700, || vec![built_in(name), perfect()]);
        first.check(&format!("{name}, optimal"), chance.first);
        let second = play::<Table>(&rules, 50_000, 701, || vec![perfect(), built_in(name)]);
        second.check(&format!("optimal, {name}"), 1.0 - chance.second);
    }
}

#[test]
fn tokyo_is_worth_to_a_bot_what_play_gives() {
    let rules = TokyoRules::default();
    let solution = Tokyo::solve(&rules, 2).unwrap();
    let asked = |name: &str| TokyoBot(Asking(built_in::<Tokyo>(name)));
    let (mut angry, mut hunter) = (asked("angry"), asked("point-hunter"));
    let exact = exact::tokyo(&solution, &mut angry, Some(&mut hunter), &mut |_| {}).unwrap();
    let first = play::<Tokyo>(&rules, 50_000, 800, || vec![built_in("angry"), built_in("point-hunter")]);
    first.check("angry, point-hunter", exact.chance.first);
    let second = play::<Tokyo>(&rules, 50_000, 801, || vec![built_in("point-hunter"), built_in("angry")]);
    second.check("point-hunter, angry", 1.0 - exact.chance.second);
    assert!(exact.best.mean > exact.chance.mean && exact.best_response.mean > 1.0 - exact.chance.mean);
}
