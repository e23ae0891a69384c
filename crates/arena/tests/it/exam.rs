//! Exams: which questions entries get, and whether the numbers are true.

use necrodome_arena::{
    entry::{EntryKind, EntrySpec, name_all},
    exam::{Answered, Candidate, ExamEntry, ExamReport, Paper, Sat, sit},
    fault::{Fault, FaultKind},
    guest::Invitation,
    lineup::Terms,
    player::{Answer, MatchStart, Player},
    process::Limits,
};
use necrodome_rules::{
    bot::Decide,
    catalog::{GameId, Listed},
    chance::{Probability, Seeded, enumerate},
    game::{Game, Move, Outcome, Seat, Silent},
    names::Names,
    tokyo::{self, Tokyo, TokyoView},
    with_game,
    zombie_dice::{Action, FirstRoll, Solo, SoloRules, SoloView},
};
use necrodome_solve::{bots::decider, solve, solver};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

fn entry(text: &str) -> EntrySpec {
    EntrySpec::parse(text, Path::new(".")).unwrap()
}

fn candidates(entries: &[EntrySpec]) -> Vec<Candidate> {
    Candidate::all(entries, name_all(entries).unwrap().iter())
}

fn terms<G: Listed>(rules: G::Rules) -> Terms<G::Rules> {
    let seats = 2.min(*G::SEATS.end());
    Terms { launcher: PathBuf::new().into(), limits: Limits::default(), rules, seats }
}

fn examined<G: Listed>(paper: &Paper<G>, entries: &[EntrySpec]) -> (ExamReport, Sat<G::Action>) {
    examined_by(G::Rules::default(), paper, entries)
}

fn examined_by<G: Listed>(
    rules: G::Rules,
    paper: &Paper<G>,
    entries: &[EntrySpec],
) -> (ExamReport, Sat<G::Action>) {
    let (candidates, terms) = (candidates(entries), terms::<G>(rules));
    let sat = sit(paper, &candidates, &terms, &AtomicBool::new(false), &mut |_, _| {}).unwrap();
    (ExamReport::new(paper, &terms.rules, &candidates, &sat), sat)
}

fn paper<G: Listed>(positions: usize, seed: u64) -> Paper<G> {
    Paper::set(&G::Rules::default(), positions, seed.into()).unwrap()
}

fn built_ins(texts: &[&str]) -> Vec<EntrySpec> {
    texts.iter().map(|text| entry(text)).collect()
}

#[test]
fn a_perfect_player_has_no_regret_in_any_solved_game() {
    fn check<G: Listed>() {
        if solver::<G>().is_none() {
            assert!(Paper::<G>::set(&G::Rules::default(), 20, 1.into()).is_err());
            return;
        }
        let paper = paper::<G>(60, 7);
        assert_eq!(paper.questions.len(), 60, "{}", G::ID);
        let (report, sat) = examined(&paper, &built_ins(&["random", "optimal"]));
        let [best, random] = &report.entries[..] else { panic!() };
        assert_eq!((best.name.as_str(), best.perfect), ("optimal", Some(1.0)), "{}", G::ID);
        assert!(best.regret.unwrap() <= 1e-12 && best.regret_high.unwrap() > 0.0, "{}: {best:?}", G::ID);
        assert!(best.worst.is_empty() && best.stakes.len() == report.bands.len());
        assert!(random.regret_low.unwrap() > 0.0 && random.worst.len() == 10, "{}", G::ID);
        assert!(report.pairs[0].told_apart && report.complete && !sat.interrupted);
        let weights: f64 =
            report.answers.iter().filter(|row| row.name == "random").map(|row| row.weight).sum();
        assert!((weights - 1.0).abs() < 1e-9, "{weights}");
        let mean: f64 =
            report.answers.iter().filter(|row| row.name == "random").map(|row| row.weight * row.regret).sum();
        assert!((mean - random.regret.unwrap()).abs() < 1e-12);
        let kinds: f64 = random.kinds.iter().map(|kind| kind.share * kind.regret).sum();
        assert!((kinds - mean).abs() < 1e-12, "{}: kinds of decisions do not add up", G::ID);
    }
    for id in GameId::ALL {
        with_game!(id, G => check::<G>());
    }
}

#[test]
fn questions_follow_from_the_seed_and_answers_from_the_question() {
    let views = |paper: &Paper<Solo>| -> Vec<SoloView> {
        paper.questions.iter().map(|question| question.view.clone()).collect()
    };
    let (one, same, other) = (paper::<Solo>(50, 1), paper::<Solo>(50, 1), paper::<Solo>(50, 2));
    assert_eq!(views(&one), views(&same));
    assert_ne!(views(&one), views(&other));
    for (index, view) in views(&one).iter().enumerate() {
        assert!(!views(&one)[..index].contains(view), "asked twice: {view:?}");
    }
    // Whoever else is asked, an entry answers the same; its twin tosses other coins.
    let choices = |sat: &Sat<Action>, entry: usize| -> Vec<Move<Action>> {
        sat.answers[entry].iter().map(|answer| answer.as_ref().unwrap().choice.clone()).collect()
    };
    let (_, alone) = examined(&one, &built_ins(&["random"]));
    let (report, all) = examined(&one, &built_ins(&["greedy", "random", "twin=random", "mirror=greedy"]));
    assert_eq!(choices(&alone, 0), choices(&all, 1));
    assert_ne!(choices(&all, 1), choices(&all, 2));
    assert_eq!(choices(&all, 0), choices(&all, 3));
    let pair = |one: &str, other: &str| {
        let found = report.pairs.iter().find(|pair| {
            [&pair.one, &pair.other].map(String::as_str).contains(&one)
                && [&pair.one, &pair.other].map(String::as_str).contains(&other)
        });
        found.unwrap().clone()
    };
    let (coins, mirrors) = (pair("random", "twin"), pair("greedy", "mirror"));
    assert!(coins.null && !coins.told_apart && coins.same < 0.9, "{coins:?}");
    assert!(mirrors.null && !mirrors.told_apart && mirrors.same == 1.0 && mirrors.difference == 0.0);
    assert!(!pair("greedy", "random").null);
}

/// Gives bad answers, and counts what it hears.
struct Clumsy(fn(&TokyoView) -> Answer<tokyo::Action>);

impl Player<Tokyo> for Clumsy {
    fn start(&mut self, _: &MatchStart) {}

    fn hear(&mut self, heard: &[&<Tokyo as Game>::Event]) {
        assert!(!heard.is_empty());
    }

    fn ask(&mut self, _: &TokyoView) {}

    fn answer(&mut self, view: &TokyoView) -> Answer<tokyo::Action> {
        (self.0)(view)
    }

    fn refused(&mut self, _: &str) {}

    fn end(&mut self, _: &Outcome) -> Vec<Fault> {
        Vec::new()
    }
}

fn guest(name: &str, answer: fn(&TokyoView) -> Answer<tokyo::Action>) -> EntrySpec {
    let kind = EntryKind::Guest(Invitation::new::<Tokyo>(move |_, _| Box::new(Clumsy(answer))));
    EntrySpec { name: Some(name.to_owned()), text: name.to_owned(), kind }
}

#[test]
fn what_cannot_be_used_is_priced_as_the_rules_make_of_it() {
    let paper = paper::<Tokyo>(40, 3);
    let silent = guest("silent", |_| Answer::Fault(Fault::new(FaultKind::Refused, "no")));
    // Whatever the phase is, the other phase's answer.
    let wrong = guest("wrong", |view| {
        let action = match view.phase {
            tokyo::Phase::Rolling { .. } => tokyo::Action::Yield,
            _ => tokyo::Action::Keep { dice: [true; 6] },
        };
        Answer::Act(action, Some("because".to_owned()))
    });
    let (report, sat) = examined(&paper, &[silent, wrong, entry("optimal")]);
    for (index, kind) in [(0, FaultKind::Refused), (1, FaultKind::Illegal)] {
        for (question, answered) in paper.questions.iter().zip(&sat.answers[index]) {
            let answered: &Answered<_> = answered.as_ref().unwrap();
            let forfeit = paper.solution.price(&question.view, &Move::Forfeit);
            assert_eq!(answered.choice, Move::Forfeit);
            assert!((answered.regret - (question.best - forfeit)).abs() < 1e-12);
        }
        let name = ["silent", "wrong"][index];
        let told = report.entries.iter().find(|entry| entry.name == name).unwrap();
        assert_eq!((told.unusable_by_kind[&kind], told.lost_by_kind[&kind], told.lost), (40, 40, 40));
        assert_eq!(report.trouble.faults.iter().find(|fault| fault.name == name).unwrap().count, 40);
    }
    let wrong = report.entries.iter().find(|entry| entry.name == "wrong").unwrap();
    assert_eq!(wrong.worst[0].reason.as_deref(), Some("because"));
    assert!(wrong.worst[0].fault.as_ref().unwrap().starts_with("illegal: "));
}

#[test]
fn who_stops_keeps_what_was_answered() {
    let paper = paper::<Solo>(40, 3);
    let (candidates, terms) =
        (candidates(&built_ins(&["greedy", "random"])), terms::<Solo>(SoloRules::default()));
    let quit = AtomicBool::new(false);
    let sat =
        sit(&paper, &candidates, &terms, &quit, &mut |done, _| quit.store(done >= 10, Ordering::Relaxed));
    // Threads that answer faster than anybody looks may be done already.
    let sat = sat.unwrap();
    let answered = sat.answers.iter().flatten().flatten().count();
    assert!((10..=80).contains(&answered) && (answered == 80 || sat.interrupted));
    let quit = AtomicBool::new(true);
    let sat = sit(&paper, &candidates, &terms, &quit, &mut |_, _| {}).unwrap();
    let report = ExamReport::new(&paper, &terms.rules, &candidates, &sat);
    assert_eq!((sat.interrupted, report.complete, report.entries[0].regret), (true, false, None));
}

#[test]
fn an_entry_that_cannot_be_asked_stops_nobody_else_and_has_no_rank() {
    let paper = self::paper::<Tokyo>(40, 3);
    let far = guest("far", |_| Answer::Arena("no network".to_owned()));
    let brief = guest("brief", |view| match view.phase {
        tokyo::Phase::Rolling { .. } => Answer::Act(tokyo::Action::Keep { dice: [true; 6] }, None),
        _ => Answer::Arena("the budget is used up".to_owned()),
    });
    let (report, sat) = examined(&paper, &[far, brief, entry("random"), entry("optimal")]);
    assert!(!report.complete && !sat.interrupted);
    let names: Vec<&str> = report.entries.iter().map(|entry| entry.name.as_str()).collect();
    // Whatever its few answers were worth, who is not complete comes after all who are.
    assert_eq!(names, ["optimal", "random", "far", "brief"]);
    let [optimal, random, far, brief] = &report.entries[..] else { panic!() };
    assert_eq!((optimal.answered, random.answered, optimal.complete), (40, 40, true));
    let ranks = |entry: &ExamEntry| entry.rank.map(|rank| (rank.best, rank.worst));
    assert_eq!((ranks(optimal), ranks(random)), (Some((1, 1)), Some((2, 2))));
    assert_eq!((ranks(far), far.stopped.as_deref(), far.regret), (None, Some("no network"), None));
    assert!((1..40).contains(&brief.answered) && ranks(brief).is_none() && !brief.complete);
    assert_eq!((far.unusable, brief.lost), (0, 0));
    // It is compared by what it did answer.
    let pair = report.pairs.iter().find(|pair| pair.other == "brief" && pair.one == "optimal").unwrap();
    assert_eq!(pair.questions, brief.answered);
    assert!(report.pairs.iter().all(|pair| pair.difference >= 0.0));
}

/// Where a roll leads while the turn goes on, and the chance that it ends.
type Roll = (Vec<(Solo, f64)>, f64);

fn share_of(chance: &Probability) -> f64 {
    *chance.numer() as f64 / *chance.denom() as f64
}

/// Solo by enumeration: what a roll leads to from each state.
#[derive(Default)]
struct Tree(BTreeMap<Solo, Roll>);

impl Tree {
    fn roll(&mut self, game: &Solo) -> &Roll {
        self.0.entry(game.clone()).or_insert_with(|| {
            let outcomes = enumerate(1_000_000, |chance| {
                let mut next = game.clone();
                next.apply(&[Move::Act(Action::Go)], chance, &mut Silent).unwrap();
                // All ends are one.
                (!next.to_act().is_empty()).then_some(next)
            });
            let outcomes = outcomes.unwrap();
            let ends = outcomes.get(&None).map_or(0.0, share_of);
            (outcomes.into_iter().filter_map(|(next, share)| Some((next?, share_of(&share)))).collect(), ends)
        })
    }

    /// The mean of a value over the decisions of a match, each as likely, and the share of decisions that have one. `rolls` is the
    /// chance that the player rolls.
    fn mean(
        &mut self,
        rules: &SoloRules,
        rolls: &dyn Fn(&SoloView) -> f64,
        value: &dyn Fn(&SoloView) -> Option<f64>,
    ) -> [f64; 2] {
        let names = Names::new(["a"]).unwrap();
        let starts =
            enumerate(1_000_000, |chance| Solo::new(&names, rules, chance, &mut Silent).unwrap()).unwrap();
        // By state: how likely it is, and the expected sums over all decisions so far if it comes.
        let mut level: BTreeMap<Solo, [f64; 3]> = starts
            .into_iter()
            .filter(|(start, _)| !start.to_act().is_empty())
            .map(|(start, share)| (start, [share_of(&share), 0.0, 0.0]))
            .collect();
        let mut means = [0.0; 2];
        for decisions in 1..40 {
            let mut next_level: BTreeMap<Solo, [f64; 3]> = BTreeMap::new();
            for (game, [chance, sum, count]) in level {
                // What is left out is worth a millionth in all.
                if chance < 1e-9 {
                    continue;
                }
                let view = game.view(Seat(0));
                let own = value(&view);
                let sums = [sum + chance * own.unwrap_or(0.0), count + own.map_or(0.0, |_| chance)];
                let go = rolls(&view);
                let (nexts, ends) = if go > 0.0 { self.roll(&game) } else { &(Vec::new(), 1.0) };
                let ends = 1.0 - go + go * ends;
                means = [0, 1].map(|part| means[part] + ends * sums[part] / f64::from(decisions));
                for (next, step) in nexts {
                    let all = next_level.entry(next.clone()).or_default();
                    let more = [chance, sums[0], sums[1]].map(|mass| go * step * mass);
                    *all = [0, 1, 2].map(|part| all[part] + more[part]);
                }
            }
            level = next_level;
        }
        means
    }
}

/// The exact regret of a deterministic bot in the population that exams of solo are drawn from.
fn exact(tree: &mut Tree, rules: &SoloRules, bot: &str) -> f64 {
    let policy = |text: &str| -> Decide<Solo> { decider::<Solo>(&text.parse().unwrap(), rules).unwrap() };
    let goes =
        |policy: &Decide<Solo>, view: &SoloView| policy(view, &|| Seeded::new(0, "t", 0)) == Action::Go;
    let (asked, solution) = (policy(bot), solve::<Solo>(rules, 1).unwrap());
    let value = |view: &SoloView| {
        let prices = solution.prices(view);
        let [go, stop] = [prices[0].value, prices[1].value];
        let chosen = if goes(&asked, view) { go } else { stop };
        ((go - stop).abs() > 1e-9).then_some(go.max(stop) - chosen)
    };
    let weight = 0.5 / Solo::CARD.line_up.len() as f64;
    let ordinary = Solo::CARD.entries().map(|(_, text)| (text, weight));
    let mut sums = [0.0; 2];
    for (text, weight) in ordinary.chain([("optimal", 0.5)]) {
        let bot = policy(text);
        let rolls =
            |view: &SoloView| if text == "random" { 0.5 } else { f64::from(u8::from(goes(&bot, view))) };
        let [value, share] = tree.mean(rules, &rolls, &value);
        sums = [sums[0] + weight * value, sums[1] + weight * share];
    }
    sums[0] / sums[1]
}

fn regret(report: &ExamReport, name: &str) -> (f64, [f64; 2]) {
    let entry = report.entries.iter().find(|entry| entry.name == name).unwrap();
    (entry.regret.unwrap(), [entry.regret_low.unwrap(), entry.regret_high.unwrap()])
}

#[test]
fn regret_is_that_of_an_exact_enumeration_and_intervals_hold_as_often_as_they_say() {
    const BOTS: [&str; 2] = ["greedy", "cautious"];
    let entries = built_ins(&BOTS);
    for first_roll in [FirstRoll::Free, FirstRoll::Mandatory] {
        let rules = SoloRules { first_roll, ..SoloRules::default() };
        let mut tree = Tree::default();
        let truths = BOTS.map(|bot| exact(&mut tree, &rules, bot));
        // Many positions: close to the truth.
        let large = Paper::<Solo>::set(&rules, 1500, 1.into()).unwrap();
        let (report, _) = examined_by(rules, &large, &entries);
        for (bot, truth) in BOTS.iter().zip(truths) {
            let (regret, [low, high]) = regret(&report, bot);
            assert!((regret - truth).abs() < 0.12 * truth, "{first_roll:?}, {bot}: {regret} is not {truth}");
            assert!(low <= truth && truth <= high, "{first_roll:?}, {bot}: {low} to {high} without {truth}");
        }
        // The first decision of all turns alike makes intervals wider than they need be: it is one question, and counts for 40%.
        let least_missed = if first_roll == FirstRoll::Free { 0 } else { 1 };
        // Few positions, many times: no bias, and the interval holds.
        let (runs, mut held, mut sums, mut squares) = (120, [0; 2], [0.0; 2], [0.0; 2]);
        for seed in 0..runs {
            let small = Paper::<Solo>::set(&rules, 60, (1000 + seed).into()).unwrap();
            let (report, _) = examined_by(rules, &small, &entries);
            for (index, bot) in BOTS.iter().enumerate() {
                let (regret, [low, high]) = regret(&report, bot);
                held[index] += u64::from(low <= truths[index] && truths[index] <= high);
                let off = regret - truths[index];
                (sums[index], squares[index]) = (sums[index] + off, squares[index] + off * off);
            }
        }
        for index in 0..2 {
            let count = runs as f64;
            let (bias, error) = (sums[index] / count, (squares[index] / count / count).sqrt());
            println!(
                "{first_roll:?}, {}: {}, bias {bias} ±{error}, held {}",
                BOTS[index], truths[index], held[index]
            );
            assert!(bias.abs() < 4.0 * error, "{first_roll:?}, {}: bias {bias} ±{error}", BOTS[index]);
            // 114 expected, standard deviation 2.4; a little less for few mistakes of very different size.
            assert!(
                (103..=runs - least_missed).contains(&held[index]),
                "{first_roll:?}, {}: {} of {runs}",
                BOTS[index],
                held[index]
            );
        }
    }
}
