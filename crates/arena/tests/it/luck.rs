//! Luck-adjusted results: they are unbiased, and more precise than plain ones. The truth is known exactly.

use necrodome_arena::{
    entry::EntrySpec,
    lineup::built_in,
    stats::Adjusted,
    tournament::{Format, Plan, PlannedEntry, Report, Schedule, Store, report, run},
};
use necrodome_rules::{
    bot::{Bot, BotSpec},
    catalog::Listed,
    chance::Seeded,
    game::Game,
    zombie_dice::{Action, Race, RaceRules, Solo, SoloRules},
};
use necrodome_solve::{
    Solvable,
    exact::{Asked, Inexact, RaceProfile, solo},
};
use std::{path::Path, sync::atomic::AtomicBool};

fn tournament<G: Listed>(bots: &[&str], blocks: u32, seed: u64) -> Report {
    let rules = G::Rules::default();
    let seats = 2.clamp(*G::SEATS.start(), *G::SEATS.end());
    let plan = Plan {
        options: serde_json::to_value(&rules).unwrap(),
        ..Plan::new(
            G::ID,
            bots.iter().map(|bot| PlannedEntry::new(*bot, *bot)).collect(),
            Format::RoundRobin,
            seats,
            blocks,
            seed,
        )
    };
    let entries: Vec<EntrySpec> =
        bots.iter().map(|bot| EntrySpec::parse(bot, Path::new(".")).unwrap()).collect();
    let mut store = Store::in_memory(&plan).unwrap();
    run(&plan, &entries, &"unused".into(), &mut store, 2, &AtomicBool::new(false), &mut |_| {}).unwrap();
    report(&plan, &Schedule::new(&plan, G::SEATS).unwrap(), &store).unwrap()
}

fn adjusted(report: &Report, name: &str) -> (f64, Adjusted) {
    let entry = report.standings.iter().find(|entry| entry.name == name).unwrap();
    (entry.record.win_rate.unwrap().mean, entry.luck_adjusted.unwrap())
}

struct BuiltIn<G: Game>(Box<dyn Bot<G>>);

impl<G: Game<Action = Action>> Asked<G> for BuiltIn<G> {
    fn act(&mut self, view: &G::View) -> Result<Action, Inexact> {
        Ok(self.0.act(view))
    }
}

fn asked<G: Listed>(name: &str) -> BuiltIn<G> {
    let spec: BotSpec = name.parse().unwrap();
    BuiltIn(built_in(&spec, &G::Rules::default(), Seeded::new(0, "test", 0)).unwrap())
}

/// The chance of one bot against another, seats changed.
fn exact_race(one: &str, other: &str) -> f64 {
    let rules = RaceRules::default();
    let profile = |name| RaceProfile::ask(&rules, &mut asked::<Race>(name), |_| {}).unwrap();
    profile(one).against(&profile(other), &rules).unwrap().mean
}

#[test]
fn a_long_tournament_comes_near_the_truth_and_nearer_without_luck() {
    let truth = exact_race("greedy", "cautious");
    let report = tournament::<Race>(&["greedy", "cautious"], 4000, 1);
    let (_, adjusted) = adjusted(&report, "greedy");
    let half = (adjusted.estimate.high.unwrap() - adjusted.estimate.low.unwrap()) / 2.0;
    // The interval is 1.96 standard errors to each side.
    assert!((adjusted.estimate.mean - truth).abs() < 4.0 * half / 1.96, "{adjusted:?} and {truth}");
    assert!(adjusted.variance_ratio.unwrap() < 0.5, "{adjusted:?}");
}

#[test]
fn many_short_tournaments_are_right_on_average() {
    // Where the estimate is biased, it shows in the mean of many; where the interval lies, in how often it holds.
    for (bots, blocks) in
        [(["greedy", "cautious"], 60), (["greedy", "stop-at:brains=2"], 60), (["optimal", "greedy"], 12)]
    {
        let truth = match bots[0] {
            "optimal" => 1.0 - exact_race(bots[1], "optimal"),
            one => exact_race(one, bots[1]),
        };
        const RUNS: u32 = 400;
        let (mut sum, mut squares, mut plain_squares, mut held) = (0.0, 0.0, 0.0, 0);
        for seed in 0..RUNS {
            let report = tournament::<Race>(&bots, blocks, u64::from(seed));
            let (plain, adjusted) = adjusted(&report, bots[0]);
            let error = adjusted.estimate.mean - truth;
            sum += error;
            squares += error * error;
            plain_squares += (plain - truth) * (plain - truth);
            let (low, high) = (adjusted.estimate.low.unwrap(), adjusted.estimate.high.unwrap());
            held += u32::from(low <= truth && truth <= high);
        }
        let mean = sum / f64::from(RUNS);
        let spread = (squares / f64::from(RUNS)).sqrt();
        assert!(mean.abs() < 4.0 * spread / f64::from(RUNS).sqrt(), "{bots:?}: biased by {mean}");
        assert!(squares < 0.6 * plain_squares, "{bots:?}: {squares} and plainly {plain_squares}");
        // 380 are expected with a standard deviation of 4.4; those of few blocks are on the safe side.
        assert!((355..=398).contains(&held), "{bots:?}: {held} of {RUNS} intervals hold the truth");
    }
}

#[test]
fn solo_adjusts_the_score() {
    let report = tournament::<Solo>(&["cautious", "optimal"], 3000, 5);
    for name in ["cautious", "optimal"] {
        let truth = match name {
            "optimal" => Solo::solve(&SoloRules::default(), 1).unwrap().value(),
            name => solo(&SoloRules::default(), &mut asked::<Solo>(name), |_| {}).unwrap().score,
        };
        let (_, adjusted) = adjusted(&report, name);
        assert!((adjusted.estimate.mean - truth).abs() < 0.06, "{adjusted:?} and {truth}");
        assert!(adjusted.variance_ratio.unwrap() < 0.2, "{adjusted:?}");
    }
    // The perfect player makes no mistakes, so without luck nothing varies.
    assert!(adjusted(&report, "optimal").1.variance_ratio.unwrap() < 1e-4);
}

#[test]
fn games_that_are_not_solved_have_no_such_column() {
    let report = tournament::<necrodome_rules::infection::Infection>(&["careful", "random"], 2, 1);
    assert!(report.standings.iter().all(|entry| entry.luck_adjusted.is_none()));
}
