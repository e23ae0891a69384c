//! The race and the table solved as their limits on rounds define them: from the last round back to the first. With
//! enough rounds that is the same as the game without a limit.

use crate::common::Turns;
use necrodome_rules::zombie_dice::{FirstRoll, OutOfDice, Tiebreak};
use necrodome_solve::{ROUNDS, RaceSolution, Standing, TableSolution};
use rayon::prelude::*;

/// Scores at which a match is not over.
const SCORES: usize = 13;
const NEAR: f64 = 1e-12;

/// The mover's chance, by both scores.
type Chances = [[f64; SCORES]; SCORES];

/// The value before the turn, for several matches at once: banking b brains is worth `banked[b]`, a lost turn
/// `bust`; with `cap` brains the player stops.
fn turn<const L: usize>(
    turns: &Turns,
    first_roll: FirstRoll,
    banked: &[[f64; L]],
    bust: [f64; L],
    cap: usize,
) -> [f64; L] {
    let worth = |brains: usize| &banked[brains.min(banked.len() - 1)];
    // By brains that have gone back into the cup: none, or at least nine.
    let mut layers: Vec<Vec<[f64; L]>> = vec![Vec::new(); cap + 1];
    let mut start = [0.0; L];
    for extra in (0..=cap).rev().filter(|&extra| extra == 0 || extra >= 9) {
        let mut values = vec![[0.0; L]; turns.nodes.len()];
        for (number, node) in turns.nodes.iter().enumerate().rev() {
            let brains = extra + node.aside as usize;
            if brains >= cap {
                continue;
            }
            let mut go = bust.map(|bust| node.bust * bust);
            let mut add = |weight: f64, value: &[f64; L]| {
                for (sum, value) in go.iter_mut().zip(value) {
                    *sum += weight * value;
                }
            };
            for &(gain, weight) in &node.out {
                add(weight, worth(brains + gain as usize));
            }
            for edge in &node.edges {
                let after = brains + edge.gain as usize;
                let layer = after - turns.nodes[edge.target].aside as usize;
                match layer {
                    _ if after >= cap => add(edge.weight, worth(after)),
                    _ if layer == extra => add(edge.weight, &values[edge.target]),
                    _ => add(edge.weight, &layers[layer][edge.target]),
                }
            }
            for lane in 0..L {
                // Three footsteps are the same question again.
                let again = go[lane] / (1.0 - node.again);
                values[number][lane] = again.max(worth(brains)[lane]);
            }
            if number == 0 && extra == 0 {
                start = match first_roll {
                    FirstRoll::Free => values[0],
                    FirstRoll::Mandatory => go,
                };
            }
        }
        layers[extra] = values;
    }
    start
}

/// The chances when no round is left: the higher score wins.
fn no_rounds_left() -> Chances {
    let chance = |own: usize, other: usize| match own.cmp(&other) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Greater => 1.0,
    };
    std::array::from_fn(|own| std::array::from_fn(|other| chance(own, other)))
}

/// The turns at all scores, when `after(own, other)` is the mover's chance after a turn: `own` may be 13 and more.
fn all_scores(
    turns: &Turns,
    first_roll: FirstRoll,
    cap: impl Fn(usize) -> usize + Sync,
    after: impl Fn(usize, usize) -> f64 + Sync,
) -> Chances {
    let at = |own: usize| {
        let banked: Vec<[f64; SCORES]> =
            (0..=cap(own)).map(|brains| std::array::from_fn(|other| after(own + brains, other))).collect();
        turn(turns, first_roll, &banked, banked[0], cap(own))
    };
    let rows: Vec<[f64; SCORES]> = (0..SCORES).into_par_iter().map(at).collect();
    rows.try_into().unwrap()
}

fn far(a: &Chances, b: &Chances) -> f64 {
    a.as_flattened().iter().zip(b.as_flattened()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn a_race_of_many_rounds_is_the_race() {
    for (out_of_dice, first_roll) in [
        (OutOfDice::EndTurn, FirstRoll::Free),
        (OutOfDice::EndTurn, FirstRoll::Mandatory),
        (OutOfDice::RecycleBrains, FirstRoll::Free),
    ] {
        let turns = Turns::new(out_of_dice, out_of_dice == OutOfDice::RecycleBrains);
        let race = RaceSolution::new(out_of_dice, first_roll);
        let solved: Chances =
            std::array::from_fn(|own| std::array::from_fn(|other| race.value(own as u32, other as u32)));
        let mut first = no_rounds_left();
        let mut second;
        let mut rounds = 0;
        loop {
            let turn = |next: &Chances| {
                let after =
                    |own: usize, other: usize| if own >= SCORES { 1.0 } else { 1.0 - next[other][own] };
                all_scores(&turns, first_roll, |own| SCORES - own, after)
            };
            second = turn(&first);
            let before = std::mem::replace(&mut first, turn(&second));
            rounds += 1;
            if rounds == 3 {
                assert!((first[0][0] - solved[0][0]).abs() > 1e-3, "three rounds are felt");
            }
            // A round before does not make a difference larger: the rounds that are left out add up to less than 2e-14.
            if rounds == ROUNDS || far(&first, &before) < 1e-16 {
                break;
            }
        }
        println!("{out_of_dice:?}, {first_roll:?}: {rounds} rounds, {:e}", first[0][0] - solved[0][0]);
        assert!((first[0][0] - solved[0][0]).abs() < NEAR);
        assert!(far(&first, &solved) < NEAR, "{:e}", far(&first, &solved));
        assert!(far(&second, &solved) < NEAR, "{:e}", far(&second, &solved));
    }
}

/// The most brains that a turn that ends with the dice can bank; a player who is further behind has lost.
const MOST: usize = 13;
const CHASES: usize = MOST + 1;

#[test]
fn a_table_of_many_rounds_is_the_table() {
    for (tiebreak, first_roll) in
        [(Tiebreak::OneRound, FirstRoll::Mandatory), (Tiebreak::UntilBroken, FirstRoll::Free)]
    {
        let turns = Turns::new(OutOfDice::EndTurn, false);
        let table = TableSolution::new(OutOfDice::EndTurn, first_roll, tiebreak);
        let solved = |standing: fn(u32, u32) -> Standing| -> Chances {
            let chance = |own: usize, other: usize| table.prices(standing(own as u32, other as u32)).start();
            std::array::from_fn(|own| std::array::from_fn(|other| chance(own, other)))
        };
        let solved_first = solved(|own, other| Standing::First { own, other });
        let solved_second = solved(|own, other| Standing::Second { own, other });
        // The chance to catch up, by brains behind, if a tie is worth so much.
        let chase = |tie: f64| {
            let worth = |brains: usize, behind: usize| match brains.cmp(&behind) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => tie,
                std::cmp::Ordering::Greater => 1.0,
            };
            let banked: Vec<[f64; CHASES]> =
                (0..=MOST + 1).map(|brains| std::array::from_fn(|behind| worth(brains, behind))).collect();
            turn(&turns, first_roll, &banked, banked[0], MOST + 1)
        };
        let (mut first, mut tiebreak_first) = (no_rounds_left(), 0.5);
        let (mut second, mut rounds);
        rounds = 0;
        loop {
            // A tie is played off in the rounds that are left; in a tiebreak that depends on the rules.
            let tie = 1.0 - tiebreak_first;
            let catch_up = chase(tie);
            let tiebreak_second = chase(if tiebreak == Tiebreak::OneRound { 0.5 } else { tie });
            let banked: Vec<[f64; 1]> = tiebreak_second.iter().map(|chance| [1.0 - chance]).collect();
            let [next_tiebreak] = turn(&turns, first_roll, &banked, banked[0], MOST + 1);

            let after = |own: usize, other: usize| if own >= SCORES { 1.0 } else { 1.0 - first[other][own] };
            second = all_scores(&turns, first_roll, |own| SCORES - own, after);
            let after = |own: usize, other: usize| match own {
                0..SCORES => 1.0 - second[other][own],
                _ => 1.0 - catch_up.get(own - other).copied().unwrap_or(0.0),
            };
            let next_first = all_scores(&turns, first_roll, |_| MOST + 1, after);
            let moved = far(&first, &next_first).max((tiebreak_first - next_tiebreak).abs());
            (first, tiebreak_first) = (next_first, next_tiebreak);
            rounds += 1;
            if rounds == 3 {
                assert!((first[0][0] - solved_first[0][0]).abs() > 1e-3, "three rounds are felt");
            }
            if rounds == ROUNDS || moved < 1e-16 {
                break;
            }
        }
        println!("{tiebreak:?}: {rounds} rounds, {:e}", first[0][0] - solved_first[0][0]);
        assert!((first[0][0] - solved_first[0][0]).abs() < NEAR);
        assert!(far(&first, &solved_first) < NEAR, "{:e}", far(&first, &solved_first));
        assert!(far(&second, &solved_second) < NEAR, "{:e}", far(&second, &solved_second));
        assert!((table.prices(Standing::TiebreakFirst).start() - tiebreak_first).abs() < NEAR);
    }
}
