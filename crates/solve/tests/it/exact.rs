//! Exact values of bots: the questions, the results, and the bots that get caught.

use crate::common::{Turns, hands_of, on_all_cores};
use necrodome_rules::{
    bot::{Bot, BotSpec},
    chance::Seeded,
    game::{Game, Seat, Silent, restore},
    names::Names,
    options::Bounded,
    play::{Memory, play_with},
    tokyo::{Phase, Tokyo, TokyoRules, TokyoView},
    zombie_dice::{
        Action, Colour, Counts, DICE, FirstRoll, OutOfDice, Race, RaceRules, RaceView, Rolled, Solo,
        SoloRules, SoloView, Table, TableRules, TableView, Tiebreak, Turn, TurnView,
    },
};
use necrodome_solve::{
    Position, Solution, Solvable,
    exact::{
        self, Answers, Asked, AskedMonster, Inexact, PerfectAtTable, Policy, RaceProfile, Scores, TableBot,
        TablePlayer, TablePolicy, TableTurn, TokyoBot,
    },
    result,
};
use std::collections::BTreeSet;

const NEAR: f64 = 1e-12;
const ENDS: [OutOfDice; 2] = [OutOfDice::EndTurn, OutOfDice::RecycleBrains];

fn all_solo_rules() -> impl Iterator<Item = SoloRules> {
    let first_rolls = [FirstRoll::Free, FirstRoll::Mandatory];
    ENDS.into_iter()
        .flat_map(move |out_of_dice| first_rolls.map(|first_roll| SoloRules { out_of_dice, first_roll }))
}

/// A bot under examination.
struct Asking<G: Game> {
    bot: Box<dyn Bot<G>>,
    calls: usize,
    again: usize,
}

impl<G: Game> Asking<G> {
    fn new(bot: impl Bot<G> + 'static) -> Self {
        Asking { bot: Box::new(bot), calls: 0, again: 1 }
    }
}

impl<G: Game> Asked<G> for Asking<G> {
    fn act(&mut self, view: &G::View) -> Result<G::Action, Inexact> {
        self.calls += 1;
        Ok(self.bot.act(view))
    }

    fn again(&self) -> usize {
        self.again
    }
}

fn built_in<G: Solvable>(name: &str) -> Box<dyn Bot<G>> {
    let spec: BotSpec = name.parse().unwrap();
    let kind = G::built_ins().into_iter().find(|bot| bot.name == spec.name).unwrap();
    kind.build(&spec, Seeded::new(1, "bot", 0)).unwrap()
}

#[test]
fn the_perfect_player_scores_what_the_solution_says() {
    for rules in all_solo_rules() {
        let solution = Solo::solve(&rules, 1).unwrap();
        let exact = exact::solo(&rules, &mut Asking::new(Solo::optimal(&rules)), |_| {}).unwrap();
        assert!((exact.score - solution.value()).abs() < NEAR, "{exact:?}");
        assert_eq!(exact.best, solution.value());
        assert!((exact.distribution.iter().sum::<f64>() - 1.0).abs() < NEAR);
        // Found on two different graphs.
        let other = solution.distribution();
        for score in 0..exact.distribution.len().max(other.len()) {
            let [one, two] = [&exact.distribution, &other].map(|chances| chances.get(score).unwrap_or(&0.0));
            assert!((one - two).abs() < NEAR, "{score}: {one} {two}");
        }
        for name in ["cautious", "greedy", "stop-at:brains=2", "stop-at"] {
            let exact = exact::solo(&rules, &mut Asking::new(built_in::<Solo>(name)), |_| {}).unwrap();
            assert!(exact.score < exact.best - 0.1, "{name}: {}", exact.score);
            assert!((exact.distribution.iter().sum::<f64>() - 1.0).abs() < NEAR);
        }
    }
}

/// A bot that looks at the scores: bold when it is behind or the other is close, shy when it is ahead.
#[derive(Clone, Copy)]
struct Moody;

impl Bot<Race> for Moody {
    fn act(&mut self, view: &RaceView) -> Action {
        let bold = view.opponent_score >= 9 && view.score + view.turn.brains < 13;
        let limit = if view.score > view.opponent_score { 2 } else { 4 };
        let go = bold || (view.turn.shotguns < 2 && view.turn.brains < limit);
        if go { Action::Go } else { Action::Stop }
    }
}

#[test]
fn nobody_does_better_against_the_perfect_player_or_than_the_best_response() {
    let end_turn = RaceRules::default();
    let recycle = RaceRules { out_of_dice: OutOfDice::RecycleBrains, ..end_turn };
    type Make = fn(&RaceRules) -> Box<dyn Bot<Race>>;
    let optimal: Make = |rules| Box::new(Race::optimal(rules));
    let asked: [(RaceRules, Make); 4] = [
        (end_turn, optimal),
        (recycle, optimal),
        (end_turn, |_| built_in("greedy")),
        (end_turn, |_| Box::new(Moody)),
    ];
    let ask = |(rules, make): &(RaceRules, Make)| {
        let mut bot = Asking::new(make(rules));
        bot.again = 3;
        let mut heard = Vec::new();
        let profile = RaceProfile::ask(rules, &mut bot, |share| heard.push(share)).unwrap();
        assert!(heard.is_sorted() && heard[0] == 0.0, "{heard:?}");
        assert!(heard.windows(2).all(|pair| pair[1] - pair[0] < 0.01), "also within one turn");
        assert!(heard.last().is_some_and(|&share| 0.99 < share && share <= 1.0), "{heard:?}");
        // Every third view of each of the 169 turns was shown twice.
        let twice = bot.calls - profile.views;
        assert!(
            (profile.views / 3..profile.views / 3 + 169).contains(&twice),
            "{twice} of {}",
            profile.views
        );
        profile
    };
    let mut asked = on_all_cores(asked.len(), |number| ask(&asked[number]));
    let (recycled, perfect) = (asked.remove(1), asked.remove(0));

    for (rules, played) in [(end_turn, &perfect), (recycle, &recycled)] {
        let solution = Race::solve(&rules, 2).unwrap();
        let known = RaceProfile::optimal(&rules, &solution);
        let value = solution.value(0, 0);
        let no_limit = RaceRules { max_rounds: None, ..rules };
        let chances = [
            played.against(&known, &rules).unwrap(),
            known.against(played, &rules).unwrap(),
            played.against(played, &no_limit).unwrap(),
            played.against_optimal(&rules, &solution),
            played.best_response(&rules, &solution),
        ];
        for chance in chances {
            assert!((chance.first - value).abs() < NEAR, "{chance:?} {value}");
            assert!((chance.second - (1.0 - value)).abs() < NEAR, "{chance:?} {value}");
            assert!((chance.mean - 0.5).abs() < NEAR);
        }
    }

    let solution = Race::solve(&end_turn, 2).unwrap();
    let everyone = [&perfect, &asked[0], &asked[1]];
    for (number, bot) in everyone.into_iter().enumerate() {
        let best = bot.best_response(&end_turn, &solution);
        for rival in everyone {
            let against = |one: &RaceProfile, other: &RaceProfile| one.against(other, &end_turn).unwrap();
            let (chance, other) = (against(rival, bot), against(bot, rival));
            assert!((chance.first + other.second - 1.0).abs() < NEAR, "one of them wins");
            assert!((chance.second + other.first - 1.0).abs() < NEAR);
            assert!(best.first > chance.first - NEAR && best.second > chance.second - NEAR);
        }
        let (against_perfect, of_perfect) =
            (bot.against_optimal(&end_turn, &solution), perfect.against(bot, &end_turn).unwrap());
        let value = solution.value(0, 0);
        assert!(against_perfect.first < value + NEAR && against_perfect.second < 1.0 - value + NEAR);
        if number > 0 {
            // These two make mistakes: that costs them something, and who knows them takes more.
            assert!(of_perfect.mean > 0.51 && best.mean > of_perfect.mean + 1e-4, "{best:?} {of_perfect:?}");
        }
    }

    // And a profile is what its bot does, at the right scores.
    let chance = asked[1].against(&asked[0], &end_turn).unwrap();
    let mut chance_of_dice = Seeded::new(8, "exact", 0);
    let names = Names::new(["moody", "greedy"]).unwrap();
    let mut bots: Vec<Box<dyn Bot<Race>>> = vec![Box::new(Moody), built_in("greedy")];
    let (mut memory, matches) = (Memory::default(), 200_000);
    let mut wins = 0.0;
    for _ in 0..matches {
        let mut race = Race::new(&names, &end_turn, &mut chance_of_dice, &mut Silent).unwrap();
        wins +=
            result(&play_with(&mut memory, &mut race, &mut bots, &mut chance_of_dice, &mut Silent).unwrap());
    }
    let matches = f64::from(matches);
    let error = (chance.first * (1.0 - chance.first) / matches).sqrt();
    assert!((wins / matches - chance.first).abs() < 4.0 * error, "{} {chance:?}", wins / matches);
}

/// Rolls once and stops; at some scores it does not even roll.
struct Timid(fn(u32, u32) -> bool);

impl Asked<Race> for Timid {
    fn act(&mut self, view: &RaceView) -> Result<Action, Inexact> {
        let rolls = view.turn.hand.is_none() && (self.0)(view.score, view.opponent_score);
        Ok(if rolls { Action::Go } else { Action::Stop })
    }
}

#[test]
fn a_race_without_end_has_no_value() {
    let limited = RaceRules::default();
    let endless = RaceRules { max_rounds: None, ..limited };
    let [never, shy, once] = [|_, _| false, |own, other| own + other < 10, |_, _| true]
        .map(|rolls| RaceProfile::ask(&endless, &mut Timid(rolls), |_| {}).unwrap());
    for (one, other) in [(&never, &never), (&never, &shy), (&shy, &shy)] {
        assert!(matches!(one.against(other, &endless), Err(Inexact::Endless)));
    }
    let tie = never.against(&never, &limited).unwrap();
    assert_eq!((tie.first, tie.second), (0.5, 0.5), "nobody has banked anything");
    assert_eq!(never.against(&once, &endless).unwrap().mean, 0.0);
    // With two rounds the limit is felt; it counts turns of each.
    let short = RaceRules { max_rounds: Some(Bounded::new(2)), ..limited };
    let [two, many] = [&short, &limited].map(|rules| once.against(&once, rules).unwrap());
    assert!((two.first - 0.5).abs() < NEAR, "both have had as many turns: {two:?}");
    assert!(many.first > 0.51 && (many.first - once.against(&once, &endless).unwrap().first).abs() < NEAR);
}

/// Neither bot banks at one pair of scores, but not the same pair: sooner or later one of them does.
#[test]
fn a_race_that_ends_has_a_value() {
    let rules = RaceRules { max_rounds: None, ..RaceRules::default() };
    let [one, other] = [|own, other| (own, other) != (5, 5), |own, other| (own, other) != (3, 3)]
        .map(|rolls: fn(u32, u32) -> bool| RaceProfile::ask(&rules, &mut Timid(rolls), |_| {}).unwrap());
    let chance = one.against(&other, &rules).unwrap();
    assert!((0.3..0.7).contains(&chance.mean), "{chance:?}");
}

/// Stops at every `every`-th question, whatever it sees.
struct Counting {
    every: usize,
    asked: usize,
}

impl<G: Game<Action = Action>> Asked<G> for Counting {
    fn act(&mut self, _: &G::View) -> Result<Action, Inexact> {
        self.asked += 1;
        Ok(if self.asked.is_multiple_of(self.every) { Action::Stop } else { Action::Go })
    }
}

#[test]
fn who_answers_differently_when_asked_again_is_found_out() {
    for rules in all_solo_rules() {
        let random = exact::solo(&rules, &mut Asking::new(built_in::<Solo>("random")), |_| {});
        assert!(matches!(random, Err(Inexact::Changes { .. })), "{random:?}");
        // Also if the change comes seldom, or after most of the questions.
        for every in [2, 1000, 30_001] {
            check_counting(&rules, every);
        }
    }
    let rules = RaceRules::default();
    let random = RaceProfile::ask(&rules, &mut Asking::new(built_in::<Race>("random")), |_| {});
    assert!(matches!(random, Err(Inexact::Changes { .. })));
    let counting = RaceProfile::ask(&rules, &mut Counting { every: 2, asked: 0 }, |_| {});
    assert!(matches!(counting, Err(Inexact::Changes { .. })));
}

fn check_counting(rules: &SoloRules, every: usize) {
    let counting = exact::solo(rules, &mut Counting { every, asked: 0 }, |_| {});
    let Err(Inexact::Changes { first, again, .. }) = counting else { panic!("{every}: {counting:?}") };
    assert_ne!(first, again);
}

/// In the reverse order question i of n comes back as question 2n + 1 - i: a bot with a period that divides 2n + 1 gives
/// the same answer to both.
#[test]
fn who_counts_in_odd_numbers_is_found_out_too() {
    for rules in all_solo_rules() {
        for every in (3..40).step_by(2) {
            check_counting(&rules, every);
        }
    }
}

/// Falls silent after this many questions.
struct Mute(usize);

impl<G: Game<Action = Action>> Asked<G> for Mute {
    fn act(&mut self, _: &G::View) -> Result<Action, Inexact> {
        self.0 = self.0.checked_sub(1).ok_or(Inexact::Silent("gone".to_owned()))?;
        Ok(Action::Go)
    }
}

#[test]
fn who_does_not_answer_has_no_value() {
    for rules in all_solo_rules() {
        for questions in [0, 1, 100] {
            let silent = exact::solo(&rules, &mut Mute(questions), |_| {});
            assert_eq!(silent.unwrap_err(), Inexact::Silent("gone".to_owned()));
        }
    }
}

/// Rolls up to this many brains, whatever it sees, and remembers.
struct Witness {
    seen: BTreeSet<TurnView>,
    stop: u32,
}

impl Asked<Solo> for Witness {
    fn act(&mut self, view: &SoloView) -> Result<Action, Inexact> {
        self.seen.insert(view.turn);
        Ok(if view.turn.brains < self.stop { Action::Go } else { Action::Stop })
    }

    fn again(&self) -> usize {
        usize::MAX
    }
}

/// The view as a match.
fn restored(view: &TurnView, rules: &SoloRules) -> Solo {
    let feet = view.footsteps();
    let mut shots = Counts::default();
    for colour in Colour::ALL {
        shots[colour] = DICE[colour] - view.cup[colour] - feet[colour] - view.brain_dice[colour];
    }
    let json = |value: &dyn Fn() -> serde_json::Result<String>| value().unwrap();
    let [brain_dice, shotgun_dice, cup] =
        [view.brain_dice, shots, view.cup].map(|counts| json(&|| serde_json::to_string(&counts)));
    let hand = json(&|| serde_json::to_string(&view.hand));
    let rules = json(&|| serde_json::to_string(rules));
    let turn = format!(
        r#"{{"brains":{},"brain_dice":{brain_dice},"shotgun_dice":{shotgun_dice},"hand":{hand},"cup":{cup}}}"#,
        view.brains
    );
    restore(&format!(r#"{{"rules":{rules},"turn":{turn},"banked":null}}"#)).unwrap()
}

#[test]
fn bots_are_shown_what_the_referee_would_show_them() {
    for rules in all_solo_rules() {
        let mut witness = Witness { seen: BTreeSet::new(), stop: 20 };
        let exact = exact::solo(&rules, &mut witness, |_| {}).unwrap();
        assert_eq!(exact.views, witness.seen.len(), "each view once");
        let solution = Solo::solve(&rules, 1).unwrap();
        for view in witness.seen.iter().step_by(37) {
            let solo = restored(view, &rules);
            assert_eq!(solo.view(Seat(0)).turn, *view);
            assert!(solution.graph().spot(&Position::from(view)).is_some(), "{view:?}");
        }
        // All that the referee can come to, and nothing else.
        let turns = Turns::new(rules.out_of_dice, true);
        let mut reachable = BTreeSet::new();
        if rules.first_roll == FirstRoll::Free {
            reachable.insert(Turn::START.view());
        }
        for node in &turns.nodes {
            for (hand, _) in hands_of(node.turn, rules.out_of_dice) {
                let mut turn = node.turn;
                if turn.land(hand, rules.out_of_dice) == Some(Rolled::GoOn) {
                    reachable.insert(turn.view());
                }
            }
        }
        match rules.out_of_dice {
            OutOfDice::EndTurn => assert_eq!(witness.seen, reachable),
            // The same dice come with other numbers of brains too.
            OutOfDice::RecycleBrains => {
                let dice = |view: &TurnView| TurnView { brains: 0, ..*view };
                let [seen, reachable] =
                    [&witness.seen, &reachable].map(|views| views.iter().map(dice).collect::<BTreeSet<_>>());
                assert_eq!(seen, reachable);
            }
        }
    }
}

/// Rolls with a probability that depends on all that matters: as a bot, which sees views, and as a policy.
struct Wavering;

impl Wavering {
    fn chance(score: u32, other: u32, at: &Position) -> f64 {
        let dice = |counts: Counts| f64::from(counts.green) + 2.0 * f64::from(counts.yellow);
        let fear = 0.7 * f64::from(at.shots.total()) + 0.3 * f64::from(at.brains) - 0.1 * dice(at.cup);
        let fear = fear - 0.2 * dice(at.feet) + 0.05 * (f64::from(score) - f64::from(other));
        match (fear * 4.0).sin() {
            sure if sure > 0.9 => 0.0,
            bold if bold < -0.9 => 1.0,
            between => 0.5 - between / 2.0,
        }
    }
}

impl Asked<Solo> for Wavering {
    fn act(&mut self, _: &SoloView) -> Result<Action, Inexact> {
        Err(Inexact::Silent("it has only chances".to_owned()))
    }

    fn rolls(&mut self, view: &SoloView) -> Result<f64, Inexact> {
        Ok(Wavering::chance(0, 0, &Position::from(&view.turn)))
    }
}

impl Asked<Race> for Wavering {
    fn act(&mut self, _: &RaceView) -> Result<Action, Inexact> {
        Err(Inexact::Silent("it has only chances".to_owned()))
    }

    fn rolls(&mut self, view: &RaceView) -> Result<f64, Inexact> {
        Ok(Wavering::chance(view.score, view.opponent_score, &Position::from(&view.turn)))
    }

    fn again(&self) -> usize {
        64
    }
}

impl Asked<Table> for Wavering {
    fn act(&mut self, _: &TableView) -> Result<Action, Inexact> {
        Err(Inexact::Silent("it has only chances".to_owned()))
    }

    fn rolls(&mut self, view: &TableView) -> Result<f64, Inexact> {
        let own = view.seat.index();
        let (score, other) = (view.scores[own], view.scores[1 - own]);
        Ok(Wavering::chance(score, other, &Position::from(&view.turn)))
    }

    fn again(&self) -> usize {
        64
    }
}

impl Policy for Wavering {
    fn rolls(&mut self, scores: Scores, positions: &[Position]) -> Result<Vec<f64>, Inexact> {
        let (score, other) = match scores {
            Scores::Solo => (0, 0),
            Scores::Race { own, other } | Scores::Table(TableTurn { own, other, .. }) => (own, other),
        };
        Ok(positions.iter().map(|position| Wavering::chance(score, other, position)).collect())
    }
}

struct Coin(Seeded);

impl Bot<Solo> for Coin {
    fn act(&mut self, view: &SoloView) -> Action {
        use necrodome_rules::chance::Chance;
        let chance = Wavering::chance(0, 0, &Position::from(&view.turn));
        let go = f64::from(self.0.uniform(1 << 30)) < chance * f64::from(1 << 30);
        if go { Action::Go } else { Action::Stop }
    }
}

#[test]
fn a_policy_with_chances_is_worth_the_same_on_both_graphs_and_in_play() {
    for rules in all_solo_rules() {
        let bot = exact::solo(&rules, &mut Wavering, |_| {}).unwrap();
        let policy = exact::solo_policy(&rules, &mut Wavering).unwrap();
        assert!(policy.views < bot.views, "{} {}", policy.views, bot.views);
        assert!((bot.score - policy.score).abs() < NEAR, "{bot:?} {policy:?}");
        let longest = bot.distribution.len().max(policy.distribution.len());
        for score in 0..longest {
            let [one, two] = [&bot, &policy].map(|exact| exact.distribution.get(score).unwrap_or(&0.0));
            assert!((one - two).abs() < NEAR, "{score}: {one} {two}");
        }
        let names = Names::new(["coin"]).unwrap();
        let mut dice = Seeded::new(9, "exact", 0);
        let mut coin: Vec<Box<dyn Bot<Solo>>> = vec![Box::new(Coin(Seeded::new(9, "coin", 0)))];
        let (mut memory, turns) = (Memory::default(), 200_000);
        let mut sum = 0.0;
        for _ in 0..turns {
            let mut solo = Solo::new(&names, &rules, &mut dice, &mut Silent).unwrap();
            sum += result(&play_with(&mut memory, &mut solo, &mut coin, &mut dice, &mut Silent).unwrap());
        }
        let square = |(score, chance): (usize, &f64)| (score as f64 - bot.score).powi(2) * chance;
        let error = (bot.distribution.iter().enumerate().map(square).sum::<f64>() / f64::from(turns)).sqrt();
        let mean = sum / f64::from(turns);
        assert!((mean - bot.score).abs() < 4.0 * error, "{mean} {} +- {error}", bot.score);
    }
    let rules = RaceRules::default();
    let bot = RaceProfile::ask(&rules, &mut Wavering, |_| {}).unwrap();
    let policy = RaceProfile::of_policy(&rules, &mut Wavering).unwrap();
    let solution = Race::solve(&rules, 2).unwrap();
    let [one, two] = [&bot, &policy].map(|profile| profile.against_optimal(&rules, &solution));
    assert!((one.first - two.first).abs() < NEAR && (one.second - two.second).abs() < NEAR);
}

#[test]
fn the_perfect_player_is_even_with_itself_at_a_table_and_in_tokyo() {
    for (out_of_dice, tiebreak) in [
        (OutOfDice::EndTurn, Tiebreak::OneRound),
        (OutOfDice::EndTurn, Tiebreak::UntilBroken),
        (OutOfDice::RecycleBrains, Tiebreak::OneRound),
    ] {
        let rules = TableRules { out_of_dice, tiebreak, ..TableRules::default() };
        let solution = Table::solve(&rules, 2).unwrap();
        let [mut one, mut other] = [(); 2].map(|()| PerfectAtTable::new(&rules, solution.clone()));
        let chance = exact::table(&rules, &mut one, &mut other, &mut |_| {}).unwrap();
        assert!((chance.first - solution.start()).abs() < NEAR, "{chance:?} {}", solution.start());
        assert!((chance.mean - 0.5).abs() < NEAR, "{chance:?}");
    }
    let solution = Tokyo::solve(&TokyoRules::default(), 2).unwrap();
    let mut perfect = TokyoBot(Asking::new(Tokyo::optimal(&TokyoRules::default())));
    let exact = exact::tokyo(&solution, &mut perfect, None, &mut |_| {}).unwrap();
    assert!((exact.chance.first - solution.start()).abs() < NEAR, "{exact:?}");
    assert!((exact.best_response.first - solution.start()).abs() < NEAR, "{exact:?}");
    assert!((exact.chance.mean - 0.5).abs() < NEAR && (exact.best_response.mean - 0.5).abs() < NEAR);
}

#[test]
fn a_policy_and_a_bot_that_play_alike_are_worth_the_same_at_a_table() {
    let rules = TableRules { max_rounds: Some(Bounded::new(2)), ..TableRules::default() };
    let mut perfect = PerfectAtTable::new(&rules, Table::solve(&TableRules::default(), 2).unwrap());
    let mut policy = TablePolicy::new(&rules, Wavering);
    let policy_chance = exact::table(&rules, &mut policy, &mut perfect, &mut |_| {}).unwrap();
    let mut bot = TableBot::new(&rules, Wavering);
    let bot_chance = exact::table(&rules, &mut bot, &mut perfect, &mut |_| {}).unwrap();
    assert!((policy_chance.first - bot_chance.first).abs() < NEAR, "{policy_chance:?} {bot_chance:?}");
    assert!((policy_chance.second - bot_chance.second).abs() < NEAR, "{policy_chance:?} {bot_chance:?}");
    assert!(policy.views() < bot.views());
}

/// Keeps all its dice and stays in Tokyo: with certainty, or by the toss of a coin that always shows the same side.
struct Keeper {
    tosses: bool,
}

impl AskedMonster for Keeper {
    fn answer(&mut self, views: &[TokyoView]) -> Result<Answers, Inexact> {
        let options = if matches!(views[0].phase, Phase::Rolling { .. }) { 64 } else { 2 };
        Ok(match self.tosses {
            false => Answers::Choices(vec![options - 1; views.len()]),
            true => {
                let mut chances = vec![0.0; options.into()];
                chances[usize::from(options) - 1] = 1.0;
                Answers::Chances(chances.repeat(views.len()))
            }
        })
    }
}

#[test]
fn monsters_may_toss_coins_if_they_say_so() {
    let solution = Tokyo::solve(&TokyoRules::default(), 2).unwrap();
    let (mut one, mut other) = (Keeper { tosses: false }, Keeper { tosses: true });
    let exact = exact::tokyo(&solution, &mut one, Some(&mut other), &mut |_| {}).unwrap();
    assert!((exact.chance.mean - 0.5).abs() < NEAR, "{exact:?}");
    assert!((exact.best.first - exact.best_response.first).abs() < NEAR, "{exact:?}");
    assert!(exact.best.mean > 0.6, "{exact:?}");
    let mut random = TokyoBot(Asking::new(built_in::<Tokyo>("random")));
    let random = exact::tokyo(&solution, &mut random, None, &mut |_| {});
    assert!(matches!(random, Err(Inexact::Changes { .. })), "{random:?}");
}
