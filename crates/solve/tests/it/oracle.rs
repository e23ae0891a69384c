//! The games solved a second time, through the referees and the exact enumerator, and compared with the fast solver.

use crate::common::{PATHS, Turns, Values};
use necrodome_rules::{
    chance::{Chance, Probability, Seeded, enumerate},
    game::{Game, Move, Seat, Silent, restore},
    names::Names,
    tokyo::{Action as Choice, Dice, Face, Monster, Phase, Tokyo, TokyoView},
    zombie_dice::{
        Action, FirstRoll, OutOfDice, Race, RaceRules, Solo, SoloRules, Table, TableRules, Tiebreak,
    },
};
use necrodome_solve::{
    Graph, Place, Position, RaceSolution, SoloSolution, Solution, Solvable, Standing, Start, TableSolution,
    TokyoSolution, TurnPrices, result,
};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const ENDS: [OutOfDice; 2] = [OutOfDice::EndTurn, OutOfDice::RecycleBrains];
const FIRST_ROLLS: [FirstRoll; 2] = [FirstRoll::Free, FirstRoll::Mandatory];
const NEAR: f64 = 1e-12;

/// Nothing is rolled: stopping with the first roll free.
struct NoChance;

impl Chance for NoChance {
    fn uniform(&mut self, _: u32) -> u32 {
        panic!("a step without dice asked for dice")
    }
}

/// The number of brains worth considering. A turn that ends with the dice has at most 13.
fn horizon(out_of_dice: OutOfDice, recycled: u32) -> u32 {
    match out_of_dice {
        OutOfDice::EndTurn => 14,
        OutOfDice::RecycleBrains => recycled,
    }
}

/// Compares every position that a turn can reach below `limit` brains. Returns their number.
fn compare(
    turns: &Turns,
    reachable: &[Vec<bool>],
    values: &Values,
    prices: TurnPrices,
    graph: &Graph,
    limit: u32,
) -> usize {
    let mut count = 0;
    for (extra, layer) in values.layers.iter().enumerate() {
        for (number, node) in turns.nodes.iter().enumerate() {
            let brains = extra as u32 + node.aside;
            if brains >= limit || !reachable[extra][number] {
                continue;
            }
            let layer = layer.as_ref().unwrap();
            let position = Position { brains, ..Position::from(&node.turn) };
            let spot = graph.spot(&position).unwrap_or_else(|| panic!("{position:?} has no spot"));
            let (go, value, stop) = (layer.go[number], layer.value[number], prices.banked(brains));
            assert!(!go.is_nan() && !value.is_nan(), "the oracle does not know {position:?}");
            assert!(
                (prices.value(spot) - value).abs() < NEAR,
                "{position:?}: {} {value}",
                prices.value(spot)
            );
            assert!((prices.go(spot) - go).abs() < NEAR, "{position:?}: {} {go}", prices.go(spot));
            // Where both are worth the same to the last digits, either choice is right.
            if (go - stop).abs() > NEAR {
                assert_eq!(prices.rolls(spot), go > stop, "{position:?}");
            }
            count += 1;
        }
    }
    count
}

fn start(values: &Values, first_roll: FirstRoll) -> f64 {
    let layer = values.layers[0].as_ref().unwrap();
    match first_roll {
        FirstRoll::Free => layer.value[0],
        FirstRoll::Mandatory => layer.go[0],
    }
}

#[test]
fn solo_is_what_the_referee_says() {
    for out_of_dice in ENDS {
        let turns = Turns::new(out_of_dice, true);
        let cap = horizon(out_of_dice, 150);
        let points: Vec<f64> = (0..cap + 3).map(f64::from).collect();
        let low = turns.evaluate(&points, 0.0, cap, false);
        // A roll brings at most 1.5 brains and busts with at least 1/216, so nobody gains more than 324 from here on.
        let more = |(brains, &points): (usize, &f64)| points + if brains as u32 >= cap { 324.0 } else { 0.0 };
        let high: Vec<f64> = points.iter().enumerate().map(more).collect();
        let high = turns.evaluate(&high, 0.0, cap, false);
        let reachable = turns.reachable(cap);
        for first_roll in FIRST_ROLLS {
            let solution = SoloSolution::new(&SoloRules { out_of_dice, first_roll });
            for bound in [&low, &high] {
                assert!((solution.value() - start(bound, first_roll)).abs() < NEAR);
                let limit = horizon(out_of_dice, 30);
                let (prices, graph) = (solution.prices(), solution.graph());
                let compared = compare(&turns, &reachable, bound, prices, graph, limit);
                assert!(compared > 10_000, "{compared}");
            }
        }
    }
}

/// A match between turns: who has banked what, whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    scores: [u32; 2],
    mover: usize,
    tiebreak: bool,
}

/// The result of the end of a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
enum After {
    /// The match is over, with this result to seat 0.
    Over(f64),
    Next(Match),
}

/// A turn with `brains` brains, ready to stop. The value of banking does not depend on `out_of_dice`; with recycling a
/// turn may have any number of brains.
fn turn_with(brains: u32) -> String {
    let hand = match brains {
        0 => "null",
        _ => {
            r#"[{"colour":"green","face":"brain"},{"colour":"green","face":"brain"},{"colour":"green","face":"brain"}]"#
        }
    };
    let none = r#"{"green":0,"yellow":0,"red":0}"#;
    let dice = r#"{"green":6,"yellow":4,"red":3}"#;
    format!(r#"{{"brains":{brains},"brain_dice":{none},"shotgun_dice":{none},"hand":{hand},"cup":{dice}}}"#)
}

/// A format for two, as far as the ends of turns are concerned.
trait Duel: Game<Action = Action> {
    fn state(at: Match, brains: u32, tiebreak: Tiebreak) -> Self;
    fn between_turns(&self) -> Match;
}

impl Duel for Race {
    fn state(at: Match, brains: u32, _: Tiebreak) -> Self {
        let Match { scores: [a, b], mover, .. } = at;
        let rules = r#"{"out_of_dice":"recycle_brains","first_roll":"free","max_rounds":null}"#;
        let turn = turn_with(brains);
        let json = format!(
            r#"{{"rules":{rules},"scores":[{a},{b}],"mover":{mover},"turn":{turn},"turns":20,"over":false}}"#
        );
        restore(&json).unwrap()
    }

    fn between_turns(&self) -> Match {
        let view = self.view(Seat(0));
        Match { scores: [view.score, view.opponent_score], mover: self.to_act()[0].index(), tiebreak: false }
    }
}

impl Duel for Table {
    fn state(at: Match, brains: u32, tiebreak: Tiebreak) -> Self {
        let Match { scores: [a, b], mover, tiebreak: playing_off } = at;
        let rule = serde_json::to_string(&tiebreak).unwrap();
        let rules = format!(
            r#"{{"out_of_dice":"recycle_brains","first_roll":"free","tiebreak":{rule},"max_rounds":null}}"#
        );
        let turn = turn_with(brains);
        let json = format!(
            r#"{{"rules":{rules},"scores":[{a},{b}],"playing":[0,1],"mover":{mover},"turn":{turn},"rounds":9,"tiebreak":{playing_off},"over":false,"turns":18}}"#
        );
        restore(&json).unwrap()
    }

    fn between_turns(&self) -> Match {
        let view = self.view(Seat(0));
        let mut scores = [view.scores[0], view.scores[1]];
        if view.tiebreak {
            // In a tiebreak only the lead matters, and the first never trails.
            scores = [13 + scores[0] - scores[1], 13];
        }
        Match { scores, mover: self.to_act()[0].index(), tiebreak: view.tiebreak }
    }
}

/// The end of a turn that the mover wants.
fn wins(at: Match) -> After {
    After::Over(if at.mover == 0 { 1.0 } else { 0.0 })
}

/// Ends a turn with `banked` brains; `None` for a lost turn.
fn end_turn<D: Duel>(at: Match, banked: Option<u32>, tiebreak: Tiebreak) -> After {
    let mut game = D::state(at, banked.unwrap_or(1), tiebreak);
    let choice = if banked.is_some() { Move::Act(Action::Stop) } else { Move::Forfeit };
    game.apply(&[choice], &mut NoChance, &mut Silent).unwrap();
    match game.outcome() {
        Some(outcome) => After::Over(result(&outcome)),
        None => After::Next(game.between_turns()),
    }
}

/// Solves a format for two from some scores on.
struct Solver<'a, D> {
    turns: &'a Turns,
    first_roll: FirstRoll,
    tiebreak: Tiebreak,
    cap: u32,
    /// The chance of the mover.
    solved: BTreeMap<Match, f64>,
    /// The ends of the mover's turn: banked brains, and a lost turn.
    ends: BTreeMap<Match, (Vec<After>, After)>,
    format: std::marker::PhantomData<D>,
}

impl<'a, D: Duel + Sync> Solver<'a, D> {
    fn new(
        turns: &'a Turns,
        first_roll: FirstRoll,
        tiebreak: Tiebreak,
        cap: u32,
        roots: impl IntoIterator<Item = Match>,
    ) -> Self {
        let mut solver = Solver {
            turns,
            first_roll,
            tiebreak,
            cap,
            solved: BTreeMap::new(),
            ends: BTreeMap::new(),
            format: std::marker::PhantomData,
        };
        let mut open: Vec<Match> = roots.into_iter().collect();
        while let Some(at) = open.pop() {
            if solver.ends.contains_key(&at) {
                continue;
            }
            let banked: Vec<After> =
                (0..=cap + 2).map(|brains| end_turn::<D>(at, Some(brains), solver.tiebreak)).collect();
            let lost = end_turn::<D>(at, None, solver.tiebreak);
            let enough = banked.iter().position(|&after| after == wins(at)).unwrap_or(banked.len());
            assert!(banked[enough..].iter().all(|&after| after == wins(at)), "more brains win too: {at:?}");
            let nexts = banked.iter().take(cap as usize + 1).chain([&lost]);
            open.extend(nexts.filter_map(|after| match after {
                After::Next(next) => Some(*next),
                After::Over(_) => None,
            }));
            solver.ends.insert(at, (banked, lost));
        }
        solver.solve();
        solver
    }

    /// Points only become more, so the matches at the same scores (or in the same tiebreak) depend on each other and on
    /// what is solved already. They do so through the first seat's turn.
    fn solve(&mut self) {
        let group = |at: &Match| match at.tiebreak {
            true => (0, [0; 2]),
            false => (100 - at.scores[0] - at.scores[1], at.scores),
        };
        let groups: BTreeSet<_> = self.ends.keys().map(group).collect();
        for wanted in groups {
            let members: Vec<Match> = self.ends.keys().filter(|at| group(at) == wanted).copied().collect();
            let (firsts, others): (Vec<Match>, Vec<Match>) = members.iter().partition(|at| at.mover == 0);
            let Some(&first) = firsts.first() else {
                self.update(&others);
                continue;
            };
            assert_eq!(firsts.len(), 1);
            settle(|x| {
                self.solved.insert(first, x);
                self.update(&others);
                self.update(&[first]);
                self.solved[&first]
            });
        }
    }

    fn update(&mut self, matches: &[Match]) {
        let value = |&at: &Match| {
            // Who has won by stopping cannot do better.
            let (banked, _) = &self.ends[&at];
            let wins = banked.iter().position(|&after| after == wins(at)).unwrap_or(banked.len());
            let values = self.values(at, self.cap.min(wins as u32));
            (at, start(&values, self.first_roll))
        };
        let values: Vec<(Match, f64)> = matches.par_iter().map(value).collect();
        self.solved.extend(values);
    }

    /// The values within a turn, for a player who stops with `cap` brains.
    fn values(&self, at: Match, cap: u32) -> Values {
        let to_mover = |to_first: f64| if at.mover == 0 { to_first } else { 1.0 - to_first };
        let worth = |after: &After| match after {
            After::Over(result) => to_mover(*result),
            // What is not reached within the cap is not there.
            After::Next(next) => match self.solved.get(next) {
                Some(value) if next.mover == at.mover => *value,
                Some(value) => 1.0 - value,
                None => f64::NAN,
            },
        };
        let (banked, lost) = &self.ends[&at];
        let mut banked: Vec<f64> = banked.iter().map(worth).collect();
        // Beyond the cap: as if one more did not help.
        for brains in self.cap as usize + 1..banked.len() {
            banked[brains] = banked[self.cap as usize];
        }
        self.turns.evaluate(&banked, worth(lost), cap, false)
    }
}

/// Finds the x with f(x) = x by the secant through the last two points: exact as soon as the best play does not change.
fn settle(mut f: impl FnMut(f64) -> f64) {
    let (mut x0, mut y0) = (0.5, f(0.5));
    let mut x = y0;
    for _ in 0..100 {
        let y = f(x);
        if (y - x).abs() < 4e-16 {
            return;
        }
        let slope = (y - y0) / (x - x0);
        let next = x + (y - x) / (1.0 - slope);
        (x0, y0) = (x, y);
        x = if (0.0..=1.0).contains(&next) { next } else { y };
    }
    panic!("no rest: f({x0}) = {y0}");
}

fn late(scores: &[u32]) -> Vec<Match> {
    let pairs = scores.iter().flat_map(|&a| scores.iter().map(move |&b| [a, b]));
    pairs.flat_map(|scores| [0, 1].map(|mover| Match { scores, mover, tiebreak: false })).collect()
}

#[test]
fn late_races_are_what_the_referee_says() {
    for out_of_dice in ENDS {
        let turns = Turns::new(out_of_dice, true);
        // Who has won by stopping cannot do better: what comes far beyond is out of sight.
        let cap = horizon(out_of_dice, 24);
        let reachable = turns.reachable(cap);
        let mut roots = late(&[9, 10, 11, 12]);
        if out_of_dice == OutOfDice::RecycleBrains {
            // Far behind it takes more than one cup.
            roots = late(&[12]);
            roots.extend([[2, 12], [12, 2]].map(|scores| Match { scores, mover: 0, tiebreak: false }));
        }
        for first_roll in FIRST_ROLLS {
            let race = RaceSolution::new(out_of_dice, first_roll);
            let solver = Solver::<Race>::new(&turns, first_roll, Tiebreak::OneRound, cap, roots.clone());
            for (at, value) in &solver.solved {
                let (own, other) = (at.scores[at.mover], at.scores[1 - at.mover]);
                assert!((race.value(own, other) - value).abs() < NEAR, "{at:?}");
            }
            for &at in &roots {
                let (own, other) = (at.scores[at.mover], at.scores[1 - at.mover]);
                let (prices, graph) = (race.prices(own, other), race.graph());
                let limit = horizon(out_of_dice, 20);
                let compared = compare(&turns, &reachable, &solver.values(at, cap), prices, graph, limit);
                assert!(compared > 10_000, "{compared}");
            }
        }
    }
}

fn standing(at: Match) -> Standing {
    let [first, second] = at.scores;
    match (at.tiebreak, at.mover) {
        (true, 0) => Standing::TiebreakFirst,
        (true, _) => Standing::TiebreakSecond { behind: first - second },
        (false, 0) => Standing::First { own: first, other: second },
        (false, _) if first >= 13 => Standing::Chase { behind: first - second },
        (false, _) => Standing::Second { own: second, other: first },
    }
}

#[test]
fn late_tables_are_what_the_referee_says() {
    for tiebreak in [Tiebreak::OneRound, Tiebreak::UntilBroken] {
        let turns = Turns::new(OutOfDice::EndTurn, true);
        let cap = 14;
        let reachable = turns.reachable(cap);
        for first_roll in FIRST_ROLLS {
            let table = TableSolution::new(OutOfDice::EndTurn, first_roll, tiebreak);
            // The last chases: as far behind as can be.
            let chases = (13..=25).map(|lead| Match { scores: [lead, 0], mover: 1, tiebreak: false });
            let roots = late(&[10, 11, 12]).into_iter().chain(chases);
            let solver = Solver::<Table>::new(&turns, first_roll, tiebreak, cap, roots);
            assert!(solver.solved.len() > 80, "{}", solver.solved.len());
            for (&at, value) in &solver.solved {
                let prices = table.prices(standing(at));
                assert!((prices.start() - value).abs() < NEAR, "{at:?}: {} {value}", prices.start());
                compare(&turns, &reachable, &solver.values(at, cap), prices, table.graph(), cap);
            }
        }
    }
}

#[test]
fn late_tables_with_recycling_are_what_the_referee_says() {
    let turns = Turns::new(OutOfDice::RecycleBrains, true);
    // A turn comes to so many brains with less than 1e-13, however it is played.
    let cap = 60;
    let mut far = vec![0.0; cap as usize];
    far.push(1.0);
    assert!(turns.evaluate(&far, 0.0, cap, false).layers[0].as_ref().unwrap().value[0] < 1e-13);
    let reachable = turns.reachable(cap);
    for (tiebreak, first_roll) in
        [(Tiebreak::OneRound, FirstRoll::Mandatory), (Tiebreak::UntilBroken, FirstRoll::Free)]
    {
        let table = TableSolution::new(OutOfDice::RecycleBrains, first_roll, tiebreak);
        let solver = Solver::<Table>::new(&turns, first_roll, tiebreak, cap, late(&[12]));
        for (&at, value) in &solver.solved {
            let prices = table.prices(standing(at));
            assert!((prices.start() - value).abs() < NEAR, "{at:?}: {} {value}", prices.start());
            if at.scores[0] < 18 {
                compare(&turns, &reachable, &solver.values(at, cap), prices, table.graph(), 20);
            }
        }
    }
}

fn exactly(probability: &Probability) -> f64 {
    *probability.numer() as f64 / *probability.denom() as f64
}

/// The value of a state to seat 0.
fn worth<G: Solvable>(game: &G, solution: &G::Solution) -> f64 {
    if let Some(outcome) = game.outcome() {
        return result(&outcome);
    }
    let seat = game.to_act()[0];
    let prices = solution.prices(&game.view(seat));
    let best = prices.iter().map(|price| price.value).fold(f64::NEG_INFINITY, f64::max);
    if seat.0 == 0 { best } else { 1.0 - best }
}

/// Checks that one step of the referee, over all its outcomes, brings on average what the price says. Plays at random;
/// returns the number of prices checked.
fn check_steps<G>(rules: &G::Rules, seats: usize, states: usize) -> usize
where
    G: Solvable<Action = Action> + Ord,
{
    let solution = G::solve(rules, seats).unwrap();
    let names = Names::new(["a", "b"].into_iter().take(seats)).unwrap();
    let mut chance = Seeded::new(11, "steps", 0);
    let mut checked = 0;
    for _ in 0..states {
        // Somewhere in a match between two who toss a coin that likes to roll.
        let mut game = G::new(&names, rules, &mut chance, &mut Silent).unwrap();
        for _ in 0..chance.uniform(if seats == 1 { 6 } else { 60 }) {
            let before = game.clone();
            let action = if chance.uniform(3) == 0 { Action::Stop } else { Action::Go };
            game.apply(&[Move::Act(action)], &mut chance, &mut Silent).unwrap();
            if game.to_act().is_empty() {
                game = before;
                break;
            }
        }
        let seat = game.to_act()[0];
        let view = game.view(seat);
        for choice in [Move::Act(Action::Go), Move::Act(Action::Stop), Move::Forfeit] {
            let price = solution.price(&view, &choice);
            let nexts = enumerate(PATHS, |chance| {
                let mut next = game.clone();
                next.apply(std::slice::from_ref(&choice), chance, &mut Silent).unwrap();
                next
            });
            let mean = |(next, p): (&G, &Probability)| exactly(p) * worth(next, &solution);
            let to_first: f64 = nexts.unwrap().iter().map(mean).sum();
            let to_mover = if seat.0 == 0 { to_first } else { 1.0 - to_first };
            assert!((to_mover - price).abs() < NEAR, "{choice:?} in {game:?}: {price}, and not {to_mover}");
            checked += 1;
        }
    }
    checked
}

#[test]
fn prices_are_means_over_all_that_the_referee_can_do() {
    let mut checked = 0;
    for out_of_dice in ENDS {
        let first_roll = FirstRoll::Free;
        checked += check_steps::<Solo>(&SoloRules { out_of_dice, first_roll }, 1, 150);
        checked += check_steps::<Race>(&RaceRules { out_of_dice, first_roll, max_rounds: None }, 2, 150);
        for tiebreak in [Tiebreak::OneRound, Tiebreak::UntilBroken] {
            let rules = TableRules { out_of_dice, first_roll, tiebreak, max_rounds: None };
            checked += check_steps::<Table>(&rules, 2, 150);
        }
    }
    assert!(checked > 3000, "{checked}");
}

/// The number of dice that show each face.
type Handful = [u8; 5];

fn handful(dice: impl IntoIterator<Item = Face>) -> Handful {
    dice.into_iter().fold(Handful::default(), |mut handful, face| {
        handful[face as usize] += 1;
        handful
    })
}

/// Rolls the given faces.
struct Loaded<'a>(std::slice::Iter<'a, Face>);

impl Chance for Loaded<'_> {
    fn uniform(&mut self, n: u32) -> u32 {
        assert_eq!(n, 5, "five faces, all equally likely");
        *self.0.next().unwrap_or(&Face::One) as u32
    }
}

/// The beginning of a monster's turn; the points for being in Tokyo are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Night {
    monsters: [Monster; 2],
    in_tokyo: Option<Seat>,
    current: Seat,
}

impl Night {
    /// With dice that do not matter yet and two rerolls left.
    fn game(&self) -> Tokyo {
        self.game_with([Face::One; 6])
    }

    fn game_with(&self, dice: Dice) -> Tokyo {
        let monsters = serde_json::to_string(&self.monsters).unwrap();
        let in_tokyo = serde_json::to_string(&self.in_tokyo).unwrap();
        let dice = serde_json::to_string(&dice).unwrap();
        let phase = serde_json::to_string(&Phase::Rolling { rerolls_left: 2 }).unwrap();
        let current = self.current;
        restore(&format!(
            r#"{{"rules":{{"max_turns":null}},"monsters":{monsters},"in_tokyo":{in_tokyo},"current":{current},"dice":{dice},"phase":{phase},"turn":30}}"#
        ))
        .unwrap()
    }

    fn of(view: &TokyoView) -> Self {
        let monsters = [view.monsters[0], view.monsters[1]];
        Night { monsters, in_tokyo: view.in_tokyo, current: view.current }
    }

    fn start(&self) -> Start {
        let own = self.monsters[self.current.index()];
        let other = self.monsters[1 - self.current.index()];
        let (place, bonus) = match self.in_tokyo {
            None => (Place::Empty, 0),
            Some(seat) if seat == self.current => (Place::Inside, 2),
            Some(_) => (Place::Outside, 0),
        };
        Start {
            place,
            health: own.health,
            other_health: other.health,
            points: own.points as u8 - bonus,
            other_points: other.points as u8,
        }
    }
}

/// All handfuls that can be rolled, in any order, and what becomes of them.
struct Handfuls {
    /// Six dice.
    full: Vec<(Handful, Dice)>,
    /// For every handful that can be kept: which of `full` it becomes, with its probability.
    rolls: BTreeMap<Handful, Vec<(usize, f64)>>,
    /// For every one of `full` what can be kept of it, with the marks.
    keeps: Vec<BTreeMap<Handful, [bool; 6]>>,
}

impl Handfuls {
    fn new() -> Self {
        let rolled = |dice: u32| {
            let roll = |chance: &mut necrodome_rules::chance::Enumerator| {
                handful((0..dice).map(|_| Face::ALL[chance.uniform(5) as usize]))
            };
            enumerate(5u64.pow(dice), roll).unwrap()
        };
        let rolled: Vec<BTreeMap<Handful, Probability>> = (0..=6).map(rolled).collect();
        let spread = |handful: &Handful| {
            let faces = Face::ALL.iter().zip(handful);
            let faces: Vec<Face> = faces.flat_map(|(&face, &n)| vec![face; n.into()]).collect();
            Dice::try_from(faces).unwrap()
        };
        let full: Vec<(Handful, Dice)> =
            rolled[6].keys().map(|handful| (*handful, spread(handful))).collect();
        let number = |handful: &Handful| full.binary_search_by_key(handful, |(other, _)| *other).unwrap();
        let mut rolls = BTreeMap::new();
        for (size, kept) in
            rolled.iter().enumerate().flat_map(|(size, all)| all.keys().map(move |k| (size, k)))
        {
            let with = |(more, p): (&Handful, &Probability)| {
                (number(&std::array::from_fn(|face| kept[face] + more[face])), exactly(p))
            };
            rolls.insert(*kept, rolled[6 - size].iter().map(with).collect());
        }
        let keeps = |(_, dice): &(Handful, Dice)| {
            let marks = |mask: u32| std::array::from_fn(|die| mask >> die & 1 == 1);
            let kept = |marks: &[bool; 6]| {
                handful(dice.iter().zip(marks).filter(|(_, kept)| **kept).map(|(&d, _)| d))
            };
            (0..64).map(marks).map(|marks| (kept(&marks), marks)).collect()
        };
        let keeps = full.iter().map(keeps).collect();
        Handfuls { full, rolls, keeps }
    }
}

/// Tokyo from some turns on, each of them by asking the referee what its dice lead to.
struct City<'a> {
    handfuls: Handfuls,
    /// The source of the values of the turns after this one; `None` to work them out, up to the end.
    later: Option<&'a TokyoSolution>,
    /// The chance of the mover.
    solved: BTreeMap<Night, f64>,
}

/// The choices of one turn.
struct Rolling {
    /// The value of keeping these dice, with one reroll left and with two.
    keep: [BTreeMap<Handful, f64>; 2],
    start: f64,
}

impl City<'_> {
    /// The value to `seat` of a state between two turns, or in the middle of a yield.
    fn worth(&mut self, game: &Tokyo, seat: Seat) -> f64 {
        if let Some(outcome) = game.outcome() {
            let to_first = result(&outcome);
            return if seat.0 == 0 { to_first } else { 1.0 - to_first };
        }
        let decides = game.to_act()[0];
        let view = game.view(decides);
        let value = match view.phase {
            Phase::Yielding { .. } => {
                let [leave, stay] = [Choice::Yield, Choice::Stay].map(|choice| self.after(game, choice));
                leave.max(stay)
            }
            _ => match self.later {
                Some(tokyo) => tokyo.value(&Night::of(&view).start()),
                None => self.value(Night::of(&view)),
            },
        };
        if decides == seat { value } else { 1.0 - value }
    }

    /// The value of a choice to the player who makes it; the dice of the next turn are not looked at.
    fn after(&mut self, game: &Tokyo, choice: Choice) -> f64 {
        let seat = game.to_act()[0];
        let mut next = game.clone();
        next.apply(&[Move::Act(choice)], &mut Loaded([].iter()), &mut Silent).unwrap();
        self.worth(&next, seat)
    }

    fn value(&mut self, night: Night) -> f64 {
        if let Some(&value) = self.solved.get(&night) {
            return value;
        }
        let value = self.rolling(night).start;
        self.solved.insert(night, value);
        value
    }

    fn rolling(&mut self, night: Night) -> Rolling {
        let game = night.game();
        let mut last = Vec::with_capacity(self.handfuls.full.len());
        for number in 0..self.handfuls.full.len() {
            let (_, dice) = self.handfuls.full[number];
            last.push(self.after(&with_dice(&game, &dice, 1), Choice::Keep { dice: [true; 6] }));
        }
        let handfuls = &self.handfuls;
        let reroll = |values: &[f64]| -> BTreeMap<Handful, f64> {
            let mean = |rolls: &Vec<(usize, f64)>| rolls.iter().map(|(full, p)| p * values[*full]).sum();
            handfuls.rolls.iter().map(|(kept, rolls)| (*kept, mean(rolls))).collect()
        };
        let choose = |kept: &BTreeMap<Handful, f64>| -> Vec<f64> {
            let best =
                |keeps: &BTreeMap<Handful, [bool; 6]>| keeps.keys().map(|k| kept[k]).fold(0.0, f64::max);
            handfuls.keeps.iter().map(best).collect()
        };
        let once = reroll(&last);
        let mut twice = reroll(&choose(&once));
        // Who keeps all six is done.
        for ((full, _), &value) in handfuls.full.iter().zip(&last) {
            twice.insert(*full, value);
        }
        let first = choose(&twice);
        let start = handfuls.rolls[&Handful::default()].iter().map(|(full, p)| p * first[*full]).sum();
        Rolling { keep: [once, twice], start }
    }
}

/// The same turn after these dice have come.
fn with_dice(game: &Tokyo, dice: &Dice, rerolls_left: u8) -> Tokyo {
    let mut game = game.clone();
    for left in (rerolls_left..2).rev() {
        let none = Choice::Keep { dice: [false; 6] };
        game.apply(&[Move::Act(none)], &mut Loaded(dice.iter()), &mut Silent).unwrap();
        assert_eq!(game.view(Seat(0)).phase, Phase::Rolling { rerolls_left: left });
    }
    game
}

#[test]
fn late_nights_in_tokyo_are_what_the_referee_says() {
    let tokyo = TokyoSolution::new();
    let mut city = City { handfuls: Handfuls::new(), later: None, solved: BTreeMap::new() };
    let mut nights = Vec::new();
    for points in [[17, 17], [18, 17], [17, 19], [19, 19]] {
        for code in 0..100u8 {
            let health = [1 + code % 10, 1 + code / 10];
            let monsters = [0, 1].map(|seat| Monster { health: health[seat], points: points[seat] });
            for in_tokyo in [None, Some(Seat(0)), Some(Seat(1))] {
                nights.extend([Seat(0), Seat(1)].map(|current| Night { monsters, in_tokyo, current }));
            }
        }
    }
    for &night in &nights {
        city.value(night);
    }
    assert!(city.solved.len() > 2000, "{}", city.solved.len());
    for (night, value) in &city.solved {
        let fast = tokyo.value(&night.start());
        assert!((fast - value).abs() < NEAR, "{night:?}: {fast} {value}");
    }
    let mut yields = 0;
    for night in nights.iter().step_by(97) {
        let rolling = city.rolling(*night);
        let rolls = tokyo.rolls(&night.start());
        let game = night.game();
        for number in 0..city.handfuls.full.len() {
            let (full, dice) = city.handfuls.full[number];
            for (kept, &marks) in &city.handfuls.keeps[number] {
                for left in [1, 2] {
                    let (fast, slow) =
                        (rolls.keep(&dice, marks, left), rolling.keep[usize::from(left) - 1][kept]);
                    assert!(
                        (fast - slow).abs() < NEAR,
                        "{night:?} keeps {kept:?} of {full:?}: {fast} {slow}"
                    );
                }
            }
            // The prices of a view, and of the decision that may follow it.
            if number % 10 > 0 {
                continue;
            }
            let game = with_dice(&game, &dice, 1);
            let view = game.view(night.current);
            let prices = tokyo.prices(&view);
            assert_eq!(prices.len(), city.handfuls.keeps[number].len(), "each handful is listed once");
            for price in prices {
                let Choice::Keep { dice: marks } = price.action else { panic!("{price:?}") };
                let kept = handful(dice.iter().zip(marks).filter(|(_, kept)| *kept).map(|(&die, _)| die));
                assert!((price.value - rolling.keep[0][&kept]).abs() < NEAR);
                assert_eq!(price.value, tokyo.price(&view, &Move::Act(price.action)));
            }
            let mut next = game.clone();
            let keep = Choice::Keep { dice: [true; 6] };
            next.apply(&[Move::Act(keep)], &mut Loaded([].iter()), &mut Silent).unwrap();
            let Some(&seat) = next.to_act().first() else { continue };
            let view = next.view(seat);
            if let Phase::Yielding { .. } = view.phase {
                yields += 1;
                for choice in [Choice::Yield, Choice::Stay] {
                    let (fast, slow) = (tokyo.price(&view, &Move::Act(choice)), city.after(&next, choice));
                    assert!((fast - slow).abs() < NEAR, "{choice:?} in {view:?}: {fast} {slow}");
                }
                assert_eq!(tokyo.price(&view, &Move::Forfeit), tokyo.price(&view, &Move::Act(Choice::Stay)));
            }
        }
    }
    assert!(yields > 20, "{yields}");
}

/// Every turn is worth what the referee makes of it, if the turns after it are worth what the solution says. The total of
/// points grows with every second turn at least, so there is no other solution.
#[test]
fn any_night_in_tokyo_leads_to_the_next() {
    let tokyo = TokyoSolution::new();
    let mut city = City { handfuls: Handfuls::new(), later: Some(&tokyo), solved: BTreeMap::new() };
    let mut chance = Seeded::new(12, "nights", 0);
    let [mut leaves, mut stays] = [0, 0];
    for _ in 0..600 {
        let mut monster = || Monster { health: 1 + chance.uniform(10) as u8, points: chance.uniform(18) };
        let mut monsters = [monster(), monster()];
        let (inside, current) = (Seat(chance.uniform(2) as u16), Seat(chance.uniform(2) as u16));
        if inside == current {
            monsters[inside.index()].points += 2;
        }
        let night = Night { monsters, in_tokyo: Some(inside), current };
        let rolling = city.rolling(night);
        let (fast, rolls) = (tokyo.value(&night.start()), tokyo.rolls(&night.start()));
        assert!((fast - rolling.start).abs() < NEAR, "{night:?}: {fast} {}", rolling.start);
        for ((_, dice), keeps) in city.handfuls.full.iter().zip(&city.handfuls.keeps) {
            for (kept, &marks) in keeps {
                for left in [1, 2] {
                    let (fast, slow) =
                        (rolls.keep(dice, marks, left), rolling.keep[usize::from(left) - 1][kept]);
                    assert!((fast - slow).abs() < NEAR, "{night:?} keeps {kept:?}: {fast} {slow}");
                }
            }
        }
        // One attack from outside, the rest no use: does the other leave?
        let dice = [Face::Attack, Face::One, Face::One, Face::Two, Face::Two, Face::Three];
        let mut next = with_dice(&night.game(), &dice, 1);
        let keep = Choice::Keep { dice: [true; 6] };
        next.apply(&[Move::Act(keep)], &mut Loaded([].iter()), &mut Silent).unwrap();
        if let Some(&seat) = next.to_act().first()
            && let Phase::Yielding { .. } = next.view(seat).phase
        {
            let [leave, stay] = [Choice::Yield, Choice::Stay].map(|choice| city.after(&next, choice));
            *(if leave > stay { &mut leaves } else { &mut stays }) += 1;
            let best = tokyo.best(&next.view(seat));
            assert_eq!(best == Choice::Yield, leave > stay, "{night:?}: {leave} {stay}");
        }
    }
    assert!(leaves > 20 && stays > 20, "both come up: {leaves} {stays}");
}

/// The oracle assumes that the dice of a reroll are independent of each other and of their places.
#[test]
fn rerolled_dice_are_all_alike() {
    let monsters = [Monster { health: 3, points: 18 }, Monster { health: 4, points: 17 }];
    let dice = [Face::Three, Face::Attack, Face::Heal, Face::One, Face::Attack, Face::Two];
    let game = Night { monsters, in_tokyo: Some(Seat(1)), current: Seat(0) }.game_with(dice);
    let handfuls = Handfuls::new();
    for marks in [[true, true, false, true, true, false], [false, true, false, false, true, false]] {
        let nexts = enumerate(625, |chance| {
            let mut next = game.clone();
            next.apply(&[Move::Act(Choice::Keep { dice: marks })], chance, &mut Silent).unwrap();
            handful(next.view(Seat(0)).dice)
        });
        let kept = handful(dice.into_iter().zip(marks).filter(|(_, kept)| *kept).map(|(die, _)| die));
        let nexts: Vec<(Handful, f64)> = nexts.unwrap().iter().map(|(all, p)| (*all, exactly(p))).collect();
        let expected: Vec<(Handful, f64)> =
            handfuls.rolls[&kept].iter().map(|(full, p)| (handfuls.full[*full].0, *p)).collect();
        assert_eq!(nexts, expected);
    }
}
