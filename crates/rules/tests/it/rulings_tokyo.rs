//! Tokyo as the rulebook (section 4) and its source tell it, played through the `Game` trait.

use necrodome_rules::{
    chance::{Chance, Probability, Scripted, Seeded, enumerate},
    game::{Audience, Game, Logged, Move, Outcome, Rejected, Seat, Silent, restore},
    names::{Names, SetupError},
    options::{parse, split_pair},
    tokyo::{Action, Dice, Event, Face, Illegal, Phase, Tokyo, TokyoRules},
};
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::collections::BTreeMap;

// ---- helpers ----

/// Dice that bring nothing: no points, no attack, no healing.
const NOTHING: &str = "112233";
const ALL: [bool; 6] = [true; 6];
const NONE: [bool; 6] = [false; 6];

/// Dice written as `123HA1`.
fn faces(text: &str) -> Vec<Face> {
    let face = |letter| match letter {
        '1' => Face::One,
        '2' => Face::Two,
        '3' => Face::Three,
        'H' => Face::Heal,
        'A' => Face::Attack,
        _ => panic!("no face: {letter}"),
    };
    text.chars().map(face).collect()
}

fn dice(text: &str) -> Dice {
    faces(text).try_into().unwrap()
}

fn picks(text: &str) -> Vec<u32> {
    faces(text).into_iter().map(|face| face as u32).collect()
}

fn names(count: usize) -> Names {
    Names::new((1..=count).map(|number| format!("monster {number}"))).unwrap()
}

fn json(game: &Tokyo) -> String {
    serde_json::to_string(game).unwrap()
}

/// Checks everything that must hold between any two moves.
fn check(game: &Tokyo) {
    assert_eq!(game.invariants(), Ok(()));
    assert_eq!(game.to_act().is_empty(), game.outcome().is_some());
    assert_eq!(restore::<Tokyo>(&json(game)).unwrap(), *game);
}

/// A match with this first roll.
fn start(monsters: usize, rolled: &str) -> Tokyo {
    start_with(monsters, &TokyoRules::default(), rolled)
}

fn start_with(monsters: usize, rules: &TokyoRules, rolled: &str) -> Tokyo {
    let mut script = Scripted::new(picks(rolled));
    let game = script.run(|c| Tokyo::new(&names(monsters), rules, c, &mut Silent)).unwrap().unwrap();
    script.finish().unwrap();
    check(&game);
    game
}

/// Plays a move after which exactly these dice are rolled, and returns the events.
fn play(game: &mut Tokyo, choice: Move<Action>, rolled: &str) -> Vec<Event> {
    let mut script = Scripted::new(picks(rolled));
    let mut log: Vec<Logged<Event>> = Vec::new();
    script.run(|c| game.apply(&[choice], c, &mut log)).unwrap().unwrap();
    script.finish().unwrap();
    check(game);
    assert!(log.iter().all(|logged| logged.audience == Audience::Everyone));
    log.into_iter().map(|logged| logged.event).collect()
}

fn keep(game: &mut Tokyo, kept: [bool; 6], rolled: &str) -> Vec<Event> {
    play(game, Move::Act(Action::Keep { dice: kept }), rolled)
}

/// Keeps the six dice; `next` is the first roll of the next turn, or empty if none follows in this step.
fn resolve(game: &mut Tokyo, next: &str) -> Vec<Event> {
    keep(game, ALL, next)
}

fn yield_tokyo(game: &mut Tokyo, next: &str) -> Vec<Event> {
    play(game, Move::Act(Action::Yield), next)
}

fn stay(game: &mut Tokyo, next: &str) -> Vec<Event> {
    play(game, Move::Act(Action::Stay), next)
}

/// Resolves the turns of these dice, one after the other, after the dice that lie on the table.
fn resolve_all(game: &mut Tokyo, turns: &[&str]) {
    for next in turns {
        resolve(game, next);
    }
}

fn health(game: &Tokyo) -> Vec<u8> {
    game.view(Seat(0)).monsters.iter().map(|monster| monster.health).collect()
}

fn points(game: &Tokyo) -> Vec<u32> {
    game.view(Seat(0)).monsters.iter().map(|monster| monster.points).collect()
}

fn in_tokyo(game: &Tokyo) -> Option<Seat> {
    game.view(Seat(0)).in_tokyo
}

fn phase(game: &Tokyo) -> Phase {
    game.view(Seat(0)).phase
}

fn winners(game: &Tokyo) -> Vec<Seat> {
    game.outcome().expect("the match is over").winners().collect()
}

fn parsed(pair: &str) -> Result<TokyoRules, String> {
    parse(&[split_pair(pair).unwrap()]).map_err(|error| error.to_string())
}

/// Three monsters; seat 0 has died in Tokyo on the turn of seat 2, who entered; seat 1 has these dice.
fn with_seat_0_dead(rolled: &str) -> Tokyo {
    let mut game = start(3, NOTHING);
    resolve(&mut game, "AAAAAA");
    resolve(&mut game, "");
    stay(&mut game, "AAAA12");
    resolve(&mut game, rolled);
    assert_eq!((health(&game), in_tokyo(&game)), (vec![0, 10, 10], Some(Seat(2))));
    game
}

// ---- the start and the rolling ----

#[test]
fn monsters_start_with_ten_health_no_points_and_an_empty_tokyo() {
    for monsters in 2..=6 {
        let game = start(monsters, "123HA1");
        assert_eq!((health(&game), points(&game)), (vec![10; monsters], vec![0; monsters]));
        assert_eq!((in_tokyo(&game), game.to_act()), (None, &[Seat(0)][..]));
        assert_eq!(
            (game.view(Seat(1)).dice, phase(&game)),
            (dice("123HA1"), Phase::Rolling { rerolls_left: 2 })
        );
    }
}

#[test]
fn the_dice_can_be_rolled_again_twice_and_kept_dice_stay_as_they_are() {
    let mut game = start(2, "123HA1");
    let kept = [true, false, false, false, false, true];
    let events = keep(&mut game, kept, "11AH");
    assert_eq!(events, [Event::Rolled { seat: Seat(0), dice: dice("111AH1"), kept }]);
    assert_eq!((game.to_act(), phase(&game)), (&[Seat(0)][..], Phase::Rolling { rerolls_left: 1 }));
    assert_eq!(
        (game.view(Seat(1)).dice, points(&game)),
        (dice("111AH1"), vec![0, 0]),
        "nothing is resolved yet"
    );
    // After the second reroll there is no further question: five ones, and a point for entering.
    keep(&mut game, [true, true, true, false, false, true], &("1H".to_owned() + NOTHING));
    assert_eq!((points(&game), game.to_act()), (vec![1 + 2 + 1, 0], &[Seat(1)][..]));
}

#[test]
fn keeping_none_rolls_all_six_dice_again() {
    let mut game = start(2, "333333");
    keep(&mut game, NONE, "222222");
    keep(&mut game, NONE, &("111111".to_owned() + NOTHING));
    assert_eq!(points(&game), [1 + 3 + 1, 0], "only the last roll counts");
}

#[test]
fn a_die_that_was_kept_may_be_rolled_later() {
    let mut game = start(2, "333112");
    keep(&mut game, [true, true, true, false, false, false], "112");
    keep(&mut game, [false, false, false, true, true, true], &("111".to_owned() + NOTHING));
    assert_eq!(points(&game), [1 + 2 + 1, 0], "five ones and a two");
}

#[test]
fn keeping_all_six_ends_the_rolling_after_the_first_roll_and_after_the_second() {
    let mut game = start(2, "333112");
    resolve(&mut game, "112233");
    assert_eq!((points(&game), game.to_act()), (vec![3 + 1, 0], &[Seat(1)][..]));
    keep(&mut game, [false, false, true, true, true, true], "22");
    assert_eq!(game.view(Seat(0)).dice, dice("222233"));
    resolve(&mut game, NOTHING);
    assert_eq!(points(&game), [4 + 2, 3], "four twos, and two for starting in Tokyo");
}

#[test]
fn every_set_of_dice_may_be_kept() {
    let game = start(2, "123HA1");
    let actions: Vec<_> = Tokyo::legal_actions(&game.view(Seat(0))).unwrap().collect();
    assert_eq!(actions.len(), 64);
    for action in actions {
        let Action::Keep { dice: kept } = action else { panic!("{action:?} while rolling") };
        let rolled = "3".repeat(kept.iter().filter(|&&kept| !kept).count());
        let mut next = game.clone();
        if kept == ALL {
            resolve(&mut next, NOTHING);
        } else {
            keep(&mut next, kept, &rolled);
            let before = game.view(Seat(0)).dice;
            let expected: Vec<_> = (0..6).map(|i| if kept[i] { before[i] } else { Face::Three }).collect();
            assert_eq!(next.view(Seat(0)).dice.to_vec(), expected);
        }
    }
}

#[test]
fn six_dice_are_distributed_exactly_and_sum_to_one() {
    let rolls = sorted_rolls();
    assert_eq!(rolls.len(), 210, "six of five symbols, with repetition");
    assert_eq!(rolls.values().sum::<Probability>(), Probability::ONE);
    let factorial = |n: usize| (1..=n as u128).product::<u128>();
    for (roll, p) in rolls {
        let orders = Face::ALL.iter().fold(factorial(6), |orders, face| {
            orders / factorial(roll.iter().filter(|die| *die == face).count())
        });
        assert_eq!(p, Probability::new(orders, 15625), "{roll:?}");
    }
}

fn sorted_rolls() -> BTreeMap<Dice, Probability> {
    enumerate(15625, |chance| {
        let game = Tokyo::new(&names(2), &TokyoRules::default(), chance, &mut Silent).unwrap();
        let mut roll = game.view(Seat(0)).dice;
        roll.sort();
        roll
    })
    .unwrap()
}

#[test]
fn dice_that_are_rolled_again_show_each_symbol_equally_often() {
    let game = start(2, "123HA1");
    let rolls = enumerate(25, |chance| {
        let mut next = game.clone();
        let kept = [true, false, true, true, false, true];
        next.apply(&[Move::Act(Action::Keep { dice: kept })], chance, &mut Silent).unwrap();
        next.view(Seat(0)).dice
    })
    .unwrap();
    assert_eq!(rolls.len(), 25);
    for (roll, p) in rolls {
        assert_eq!(p, Probability::new(1, 25));
        assert_eq!([roll[0], roll[2], roll[3], roll[5]].to_vec(), faces("13H1"));
    }
}

#[test]
fn the_seeded_sampler_agrees_with_the_exact_roll_of_six_dice() {
    let exact = sorted_rolls();
    let (samples, names, rules) = (1_000_000, names(2), TokyoRules::default());
    let mut chance = Seeded::new(20, "rulings: six dice", 0);
    let mut counts: BTreeMap<Dice, u32> = BTreeMap::new();
    for _ in 0..samples {
        let mut roll = Tokyo::new(&names, &rules, &mut chance, &mut Silent).unwrap().view(Seat(0)).dice;
        roll.sort();
        *counts.entry(roll).or_default() += 1;
    }
    let mut statistic = 0.0;
    for (roll, p) in &exact {
        let expected = *p.numer() as f64 / *p.denom() as f64 * f64::from(samples);
        assert!(expected > 5.0, "too rare for the test: {roll:?}");
        let count = f64::from(counts.get(roll).copied().unwrap_or(0));
        statistic += (count - expected).powi(2) / expected;
    }
    let p_value = ChiSquared::new(exact.len() as f64 - 1.0).unwrap().sf(statistic);
    assert!(p_value > 1e-4, "chi-squared {statistic}, p = {p_value}");
}

// ---- points ----

#[test]
fn the_six_examples_of_the_source_bring_their_points() {
    for (rolled, expected) in
        [("123HA1", 0), ("1222AH", 2), ("3333H1", 4), ("H111A1", 2), ("111HHA", 1), ("1111HA", 2)]
    {
        // Seat 1 plays while seat 0 is in Tokyo and stays there, so that nothing else brings it points.
        let mut game = start(2, NOTHING);
        resolve(&mut game, rolled);
        let attacked = rolled.contains('A');
        let mut events = resolve(&mut game, if attacked { "" } else { NOTHING });
        if attacked {
            events.extend(stay(&mut game, NOTHING));
        }
        assert_eq!(points(&game)[1], expected, "{rolled}");
        let scored = events.iter().filter(|event| matches!(event, Event::Scored { .. })).collect::<Vec<_>>();
        if expected == 0 {
            assert_eq!(scored, [] as [&Event; 0], "{rolled}");
        } else {
            assert_eq!(scored, [&Event::Scored { seat: Seat(1), points: expected }], "{rolled}");
        }
    }
}

#[test]
fn each_further_die_of_a_number_brings_one_point_and_two_sets_count_both() {
    for (rolled, expected) in [
        ("111223", 1),
        ("111112", 3),
        ("111111", 4),
        ("222222", 5),
        ("333331", 5),
        ("333333", 6),
        ("112233", 0),
        ("121212", 1 + 2),
        ("313131", 1 + 3),
        ("222333", 2 + 3),
    ] {
        let mut game = start(2, NOTHING);
        resolve(&mut game, rolled);
        resolve(&mut game, NOTHING);
        assert_eq!(points(&game)[1], expected, "{rolled}");
    }
}

#[test]
fn a_monster_that_starts_its_turn_in_tokyo_gets_two_points() {
    let mut game = start(2, NOTHING);
    resolve(&mut game, NOTHING);
    assert_eq!((points(&game), in_tokyo(&game)), (vec![1, 0], Some(Seat(0))));
    let events = resolve(&mut game, NOTHING);
    assert_eq!(events[0], Event::TurnStarted { seat: Seat(0), points: 2 });
    assert_eq!(points(&game), [3, 0], "before the first decision of the turn");
    let events = resolve(&mut game, NOTHING);
    assert_eq!(events[0], Event::TurnStarted { seat: Seat(1), points: 0 });
    assert_eq!(points(&game), [3, 0], "staying in Tokyo brings nothing more");
}

#[test]
fn the_current_monster_must_enter_an_empty_tokyo_for_one_point() {
    let mut game = start(3, NOTHING);
    let events = resolve(&mut game, NOTHING);
    assert_eq!(events[0], Event::Entered { seat: Seat(0), points: 1 });
    assert_eq!((points(&game), in_tokyo(&game)), (vec![1, 0, 0], Some(Seat(0))));
    resolve(&mut game, NOTHING);
    assert_eq!((points(&game), in_tokyo(&game)), (vec![1, 0, 0], Some(Seat(0))), "it is full now");
}

// ---- twenty points ----

#[test]
fn twenty_points_at_the_start_of_a_turn_win_before_any_roll() {
    // 6 + 1, then 2 + 6, then 2 + 1: 18 after the third turn of seat 0.
    let mut game = start(2, "333333");
    resolve_all(&mut game, &[NOTHING, "333333", NOTHING, "111223", NOTHING]);
    assert_eq!((points(&game), game.to_act()), (vec![18, 0], &[Seat(1)][..]));
    let events = resolve(&mut game, "");
    assert_eq!(events, [Event::TurnStarted { seat: Seat(0), points: 2 }]);
    assert_eq!((points(&game), winners(&game)), (vec![20, 0], vec![Seat(0)]));
}

#[test]
fn twenty_points_by_dice_win_before_the_attacks_of_the_same_dice() {
    let mut game = start(2, "333333");
    resolve_all(&mut game, &[NOTHING, "333333", NOTHING, "333AAA"]);
    assert_eq!(points(&game), [17, 0]);
    let events = resolve(&mut game, "");
    assert_eq!(events, [Event::Scored { seat: Seat(0), points: 3 }]);
    assert_eq!((health(&game), winners(&game)), (vec![10, 10], vec![Seat(0)]));
    assert_eq!(game.outcome(), Some(Outcome { places: vec![1, 2], scores: vec![20, 0], turns: 5 }));
}

#[test]
fn twenty_points_by_dice_win_outside_tokyo_before_entering_it() {
    let mut game = start(2, NOTHING);
    resolve_all(&mut game, &["333333", NOTHING, "333333", NOTHING, "333333", NOTHING, "333AAH"]);
    assert_eq!(points(&game), [7, 18]);
    let events = resolve(&mut game, "");
    assert_eq!(events, [Event::Scored { seat: Seat(1), points: 3 }]);
    assert_eq!((points(&game), in_tokyo(&game), winners(&game)), (vec![7, 21], Some(Seat(0)), vec![Seat(1)]));
}

#[test]
fn nineteen_points_do_not_win_and_the_point_for_entering_can_be_the_twentieth() {
    let mut game = start(2, NOTHING);
    resolve_all(&mut game, &["333333", NOTHING, "333333", NOTHING, "333333", NOTHING, "111223", NOTHING]);
    assert_eq!((points(&game), game.outcome()), (vec![9, 19], None));
    resolve(&mut game, "A11223");
    resolve(&mut game, "");
    assert_eq!((phase(&game), points(&game)), (Phase::Yielding { damage: 1 }, vec![9, 19]));
    let mut other = game.clone();
    let events = yield_tokyo(&mut game, "");
    assert_eq!(events.last(), Some(&Event::Entered { seat: Seat(1), points: 1 }));
    assert_eq!((points(&game), winners(&game)), (vec![9, 20], vec![Seat(1)]));
    // Staying in Tokyo keeps the match going.
    stay(&mut other, NOTHING);
    assert_eq!((points(&other), other.outcome()), (vec![11, 19], None));
}

// ---- attacks and yielding ----

#[test]
fn attacks_from_outside_hit_nobody_while_tokyo_is_empty() {
    let mut game = start(3, "AAAAAA");
    let events = resolve(&mut game, NOTHING);
    assert_eq!(health(&game), [10, 10, 10]);
    assert_eq!(events[0], Event::Entered { seat: Seat(0), points: 1 });
}

#[test]
fn attacks_from_outside_hit_only_the_monster_in_tokyo() {
    let mut game = start(4, NOTHING);
    resolve(&mut game, NOTHING);
    resolve(&mut game, "AAA112");
    let events = resolve(&mut game, "");
    assert_eq!(events, [Event::Hit { by: Seat(2), seat: Seat(0), damage: 3, health: 7 }]);
    assert_eq!(health(&game), [7, 10, 10, 10]);
}

#[test]
fn attacks_from_inside_hit_everyone_outside_and_nobody_is_asked_to_yield() {
    let mut game = start(4, NOTHING);
    resolve_all(&mut game, &[NOTHING, NOTHING, NOTHING, "AA1123"]);
    let events = resolve(&mut game, NOTHING);
    let hit = |seat| Event::Hit { by: Seat(0), seat: Seat(seat), damage: 2, health: 8 };
    assert_eq!(events[..3], [hit(1), hit(2), hit(3)]);
    assert_eq!((health(&game), in_tokyo(&game)), (vec![10, 8, 8, 8], Some(Seat(0))));
    assert_eq!((game.to_act(), phase(&game)), (&[Seat(1)][..], Phase::Rolling { rerolls_left: 2 }));
}

#[test]
fn only_the_final_dice_attack() {
    let mut game = start(2, NOTHING);
    resolve(&mut game, "AAAAAA");
    keep(&mut game, NONE, "AAA123");
    keep(&mut game, [false, false, true, true, true, true], "12");
    assert_eq!((health(&game), phase(&game)), (vec![9, 10], Phase::Yielding { damage: 1 }));
}

#[test]
fn the_monster_in_tokyo_decides_to_yield_knowing_the_damage() {
    let mut game = start(3, NOTHING);
    resolve(&mut game, "AAAA12");
    resolve(&mut game, "");
    assert_eq!(game.to_act(), [Seat(0)], "not the attacker");
    let view = game.view(Seat(0));
    assert_eq!((view.phase, view.current), (Phase::Yielding { damage: 4 }, Seat(1)));
    assert_eq!((view.monsters[0].health, view.in_tokyo), (6, Some(Seat(0))));
    assert!(Tokyo::legal_actions(&view).unwrap().eq([Action::Yield, Action::Stay]));
}

#[test]
fn a_monster_that_yields_leaves_tokyo_to_the_attacker_at_once() {
    let mut game = start(3, NOTHING);
    resolve(&mut game, "AA1122");
    resolve(&mut game, "");
    let events = yield_tokyo(&mut game, NOTHING);
    assert_eq!(events[0], Event::Decided { seat: Seat(0), yields: true });
    assert_eq!(events[1], Event::Entered { seat: Seat(1), points: 1 });
    assert_eq!((points(&game), in_tokyo(&game)), (vec![1, 1, 0], Some(Seat(1))));
    assert_eq!((health(&game), game.to_act()), (vec![8, 10, 10], &[Seat(2)][..]), "the damage stays");
    // Outside, the start of a turn brings nothing; inside it does.
    resolve(&mut game, NOTHING);
    assert_eq!((points(&game), game.to_act()), (vec![1, 1, 0], &[Seat(0)][..]));
    resolve(&mut game, NOTHING);
    assert_eq!((points(&game), game.to_act()), (vec![1, 3, 0], &[Seat(1)][..]));
}

#[test]
fn a_monster_that_stays_keeps_tokyo() {
    let mut game = start(3, NOTHING);
    resolve(&mut game, "AA1122");
    resolve(&mut game, "");
    let events = stay(&mut game, NOTHING);
    assert_eq!(events[0], Event::Decided { seat: Seat(0), yields: false });
    assert_eq!((points(&game), in_tokyo(&game)), (vec![1, 0, 0], Some(Seat(0))));
    assert_eq!((health(&game), game.to_act()), (vec![8, 10, 10], &[Seat(2)][..]));
}

#[test]
fn nobody_is_asked_to_yield_without_damage() {
    let mut game = start(2, NOTHING);
    resolve(&mut game, "HHH112");
    resolve(&mut game, NOTHING);
    assert_eq!((game.to_act(), phase(&game)), (&[Seat(0)][..], Phase::Rolling { rerolls_left: 2 }));
    assert_eq!(in_tokyo(&game), Some(Seat(0)));
}

#[test]
fn a_monster_that_dies_in_tokyo_is_not_asked_and_the_attacker_enters() {
    let mut game = start(3, NOTHING);
    resolve(&mut game, "AAAAAA");
    resolve(&mut game, "");
    stay(&mut game, "AAAA12");
    assert_eq!((health(&game), game.to_act()), (vec![4, 10, 10], &[Seat(2)][..]));
    let events = resolve(&mut game, NOTHING);
    assert_eq!(events[0], Event::Hit { by: Seat(2), seat: Seat(0), damage: 4, health: 0 });
    assert_eq!(events[1], Event::Entered { seat: Seat(2), points: 1 });
    assert_eq!((points(&game), in_tokyo(&game)), (vec![1, 0, 1], Some(Seat(2))));
    assert_eq!(game.outcome(), None, "two are alive");
}

#[test]
fn more_damage_than_health_leaves_no_health() {
    let mut game = start(3, NOTHING);
    resolve(&mut game, "AAAAAA");
    resolve(&mut game, "");
    stay(&mut game, "AAAAAA");
    resolve(&mut game, NOTHING);
    assert_eq!((health(&game), in_tokyo(&game)), (vec![0, 10, 10], Some(Seat(2))));
}

#[test]
fn a_monster_with_one_health_left_survives_and_is_asked() {
    let mut game = start(2, NOTHING);
    resolve(&mut game, "AAAAAA");
    resolve(&mut game, "");
    stay(&mut game, NOTHING);
    resolve(&mut game, "AAA112");
    resolve(&mut game, "");
    assert_eq!((health(&game), phase(&game)), (vec![1, 10], Phase::Yielding { damage: 3 }));
    yield_tokyo(&mut game, NOTHING);
    assert_eq!((in_tokyo(&game), game.outcome()), (Some(Seat(1)), None));
}

#[test]
fn dead_monsters_are_skipped_and_cannot_be_hit() {
    let mut game = with_seat_0_dead(NOTHING);
    assert_eq!(game.to_act(), [Seat(1)], "seat 0 comes after seat 2, but is dead");
    resolve(&mut game, "AA1122");
    assert_eq!(game.to_act(), [Seat(2)]);
    let events = resolve(&mut game, NOTHING);
    let hits: Vec<_> = events.iter().filter(|event| matches!(event, Event::Hit { .. })).collect();
    assert_eq!(hits, [&Event::Hit { by: Seat(2), seat: Seat(1), damage: 2, health: 8 }]);
    assert_eq!((health(&game), game.to_act()), (vec![0, 8, 10], &[Seat(1)][..]));
}

// ---- healing ----

#[test]
fn each_heal_outside_tokyo_restores_one_health() {
    let mut game = start(2, NOTHING);
    resolve_all(&mut game, &[NOTHING, "AAAA12", "HH1123"]);
    assert_eq!(health(&game), [10, 6]);
    let events = resolve(&mut game, NOTHING);
    assert_eq!(events[0], Event::Healed { seat: Seat(1), health: 8 });
    assert_eq!(health(&game), [10, 8]);
}

#[test]
fn nobody_heals_beyond_ten() {
    let mut game = start(2, NOTHING);
    resolve_all(&mut game, &["HHHHHH", "AA1123", "HHHHHH"]);
    assert_eq!(health(&game), [10, 8], "heals at full health do nothing");
    resolve(&mut game, NOTHING);
    assert_eq!(health(&game), [10, 10]);
}

#[test]
fn nobody_heals_inside_tokyo() {
    let mut game = start(2, NOTHING);
    resolve(&mut game, "AAA112");
    resolve(&mut game, "");
    stay(&mut game, "HHHHHH");
    assert_eq!((health(&game), game.to_act()), (vec![7, 10], &[Seat(0)][..]));
    let events = resolve(&mut game, NOTHING);
    assert_eq!(health(&game), [7, 10]);
    assert!(!events.iter().any(|event| matches!(event, Event::Healed { .. })), "{events:?}");
}

#[test]
fn points_come_before_attacks_then_healing_and_entering_is_last() {
    // Seat 1 is hit down to 5 first.
    let mut game = start(2, NOTHING);
    resolve_all(&mut game, &[NOTHING, "AAAAA1", "111AHH"]);
    assert_eq!((health(&game), points(&game)), (vec![10, 5], vec![3, 0]));
    let events = resolve(&mut game, "");
    let hit = Event::Hit { by: Seat(1), seat: Seat(0), damage: 1, health: 9 };
    assert_eq!(events, [Event::Scored { seat: Seat(1), points: 1 }, hit]);
    assert_eq!(health(&game), [9, 5], "no healing before the decision");
    let mut stayed = game.clone();
    let events = yield_tokyo(&mut game, NOTHING);
    let healed = Event::Healed { seat: Seat(1), health: 7 };
    let entered = Event::Entered { seat: Seat(1), points: 1 };
    assert_eq!(events[..3], [Event::Decided { seat: Seat(0), yields: true }, healed.clone(), entered]);
    assert_eq!((health(&game), points(&game)), (vec![9, 7], vec![3, 2]));
    // The attacker heals as well when it does not enter.
    let events = stay(&mut stayed, NOTHING);
    assert_eq!(events[1], healed);
    assert_eq!(in_tokyo(&stayed), Some(Seat(0)));
}

#[test]
fn an_attacker_that_kills_the_monster_in_tokyo_heals_before_it_enters() {
    let mut game = start(3, NOTHING);
    resolve_all(&mut game, &[NOTHING, NOTHING, "AAA112", "AAAAAA"]);
    assert_eq!(health(&game), [10, 7, 7]);
    resolve(&mut game, "");
    stay(&mut game, "AAAAHH");
    let events = resolve(&mut game, NOTHING);
    let healed = Event::Healed { seat: Seat(2), health: 9 };
    assert_eq!(events[1..3], [healed, Event::Entered { seat: Seat(2), points: 1 }]);
    assert_eq!(health(&game), [0, 7, 9]);
}

// ---- the end ----

#[test]
fn the_last_one_standing_wins_at_once_without_entering_tokyo() {
    let mut game = start(2, "333333");
    resolve(&mut game, "AAAAAA");
    resolve(&mut game, "");
    stay(&mut game, NOTHING);
    resolve(&mut game, "AAAA12");
    let events = resolve(&mut game, "");
    assert_eq!(events, [Event::Hit { by: Seat(1), seat: Seat(0), damage: 4, health: 0 }]);
    let outcome = Outcome { places: vec![2, 1], scores: vec![9, 0], turns: 4 };
    assert_eq!((game.outcome(), phase(&game)), (Some(outcome), Phase::Over));
}

#[test]
fn an_attack_from_inside_can_leave_one_standing() {
    let mut game = start(3, NOTHING);
    resolve_all(&mut game, &[NOTHING, NOTHING, "AAAAAA", NOTHING, NOTHING, "AAAA12"]);
    assert_eq!(health(&game), [10, 4, 4]);
    resolve(&mut game, "");
    assert_eq!((health(&game), winners(&game)), (vec![10, 0, 0], vec![Seat(0)]));
}

#[test]
fn a_match_has_no_limit_of_turns_by_default_and_ends_after_max_turns_if_set() {
    assert_eq!(TokyoRules::default().max_turns, None);
    let rules = parsed("max_turns=3").unwrap();
    let mut game = start_with(2, &rules, "333112");
    resolve_all(&mut game, &["333333", NOTHING]);
    assert_eq!((points(&game), game.outcome()), (vec![6, 6], None));
    resolve(&mut game, "");
    assert_eq!(game.outcome(), Some(Outcome { places: vec![1, 1], scores: vec![6, 6], turns: 3 }));
}

#[test]
fn the_living_with_the_most_points_win_after_max_turns() {
    let mut game = start_with(3, &parsed("max_turns=3").unwrap(), "333333");
    resolve(&mut game, "AAAAAA");
    resolve(&mut game, "");
    stay(&mut game, "AAAA12");
    resolve(&mut game, "");
    assert_eq!((health(&game), points(&game)), (vec![0, 10, 10], vec![7, 0, 1]));
    assert_eq!(game.outcome().unwrap().places, [3, 2, 1]);
}

#[test]
fn the_decision_to_yield_belongs_to_the_last_turn_of_max_turns() {
    let mut game = start_with(2, &parsed("max_turns=2").unwrap(), NOTHING);
    resolve(&mut game, "A11223");
    resolve(&mut game, "");
    assert_eq!(game.outcome(), None);
    yield_tokyo(&mut game, "");
    assert_eq!(game.outcome().unwrap().scores, [1, 1]);
}

// ---- moves that are not accepted ----

#[test]
fn a_forfeit_while_rolling_keeps_all_dice() {
    let mut game = start(2, "333112");
    play(&mut game, Move::Forfeit, NOTHING);
    assert_eq!((points(&game), game.to_act()), (vec![3 + 1, 0], &[Seat(1)][..]));
}

#[test]
fn a_forfeit_when_asked_to_yield_stays_in_tokyo() {
    let mut game = start(2, NOTHING);
    resolve(&mut game, "AA1122");
    resolve(&mut game, "");
    let events = play(&mut game, Move::Forfeit, NOTHING);
    assert_eq!(events[0], Event::Decided { seat: Seat(0), yields: false });
    assert_eq!((health(&game), in_tokyo(&game)), (vec![8, 10], Some(Seat(0))));
}

fn refused(game: &mut Tokyo, moves: &[Move<Action>]) -> Rejected<Illegal> {
    let before = json(game);
    let mut log: Vec<Logged<Event>> = Vec::new();
    let result = Scripted::new([]).run(|c| game.apply(moves, c, &mut log)).unwrap();
    assert_eq!((json(game), log), (before, vec![]), "nothing may change");
    result.expect_err("must be refused")
}

#[test]
fn yield_and_stay_are_refused_while_rolling() {
    let mut game = start(2, "123HA1");
    for action in [Action::Yield, Action::Stay] {
        let expected = Rejected::Illegal { seat: Seat(0), why: Illegal::Rolling };
        assert_eq!(refused(&mut game, &[Move::Act(action)]), expected);
    }
    keep(&mut game, NONE, "AAAAAA");
    assert!(matches!(refused(&mut game, &[Move::Act(Action::Yield)]), Rejected::Illegal { .. }));
}

#[test]
fn keep_is_refused_from_a_monster_that_is_asked_to_yield() {
    let mut game = start(2, NOTHING);
    resolve(&mut game, "AA1122");
    resolve(&mut game, "");
    for kept in [ALL, NONE] {
        let expected = Rejected::Illegal { seat: Seat(0), why: Illegal::Yielding };
        assert_eq!(refused(&mut game, &[Move::Act(Action::Keep { dice: kept })]), expected);
    }
}

#[test]
fn a_wrong_number_of_moves_is_refused() {
    let mut game = start(2, NOTHING);
    let all = Move::Act(Action::Keep { dice: ALL });
    assert_eq!(refused(&mut game, &[]), Rejected::Count { expected: 1, came: 0 });
    assert_eq!(refused(&mut game, &[all.clone(), all]), Rejected::Count { expected: 1, came: 2 });
}

#[test]
fn every_move_is_refused_after_the_end() {
    let mut game = start_with(2, &parsed("max_turns=1").unwrap(), NOTHING);
    resolve(&mut game, "");
    for choice in [Move::Act(Action::Keep { dice: ALL }), Move::Act(Action::Stay), Move::Forfeit] {
        assert_eq!(refused(&mut game, &[choice]), Rejected::Over);
    }
    assert_eq!(refused(&mut game, &[]), Rejected::Over);
    assert_eq!(Tokyo::legal_actions(&game.view(Seat(0))).unwrap().count(), 0);
}

#[test]
fn actions_in_json_name_exactly_six_dice() {
    let parse = |text: &str| serde_json::from_str::<Action>(text).ok();
    let kept = [true, false, false, true, true, false];
    assert_eq!(
        parse(r#"{"type":"keep","dice":[true,false,false,true,true,false]}"#),
        Some(Action::Keep { dice: kept })
    );
    assert_eq!(parse(r#"{"type":"yield"}"#), Some(Action::Yield));
    assert_eq!(parse(r#"{"type":"stay"}"#), Some(Action::Stay));
    for bad in [
        r#"{"type":"keep","dice":[true,false,false,true,true]}"#,
        r#"{"type":"keep","dice":[true,false,false,true,true,false,true]}"#,
        r#"{"type":"keep","dice":[1,0,0,1,1,0]}"#,
        r#"{"type":"keep"}"#,
        r#"{"type":"roll"}"#,
        r#""stay""#,
    ] {
        assert_eq!(parse(bad), None, "{bad}");
    }
}

#[test]
fn a_refreshed_view_equals_a_new_one() {
    let mut game = start(3, NOTHING);
    let mut stale = game.view(Seat(2));
    resolve(&mut game, "AA1122");
    resolve(&mut game, "");
    game.refresh_view(Seat(1), &mut stale);
    assert_eq!(stale, game.view(Seat(1)));
    assert_eq!((stale.seat, stale.phase), (Seat(1), Phase::Yielding { damage: 2 }));
}

#[test]
fn random_matches_keep_their_invariants_and_end_with_one_winner() {
    for index in 0..600 {
        let mut chance = Seeded::new(99, "rulings: random play", index);
        let monsters = 2 + index as usize % 5;
        let mut game =
            Tokyo::new(&names(monsters), &TokyoRules::default(), &mut chance, &mut Silent).unwrap();
        while game.outcome().is_none() {
            let actions: Vec<_> = Tokyo::legal_actions(&game.view(game.to_act()[0])).unwrap().collect();
            let choice = match chance.uniform(20) {
                0 => Move::Forfeit,
                _ => Move::Act(actions[chance.uniform(actions.len() as u32) as usize]),
            };
            game.apply(&[choice], &mut chance, &mut Silent).unwrap();
            check(&game);
        }
        let winners = winners(&game);
        assert_eq!(winners.len(), 1);
        let alive = health(&game).iter().filter(|&&health| health > 0).count();
        let winner = winners[0].index();
        assert!(health(&game)[winner] > 0);
        assert!(points(&game)[winner] >= 20 || alive == 1, "{game:?}");
    }
}

// ---- set-up ----

#[test]
fn tokyo_takes_two_to_six_monsters() {
    for monsters in [0, 1, 7, 100] {
        let result = Scripted::new([])
            .run(|c| Tokyo::new(&names(monsters), &TokyoRules::default(), c, &mut Silent))
            .unwrap();
        let error = result.unwrap_err();
        assert_eq!(error, SetupError::Seats { expected: 2..=6, came: monsters });
        assert_eq!(error.to_string(), format!("expected 2 to 6 players, got {monsters}"));
    }
}

#[test]
fn options_of_tokyo_that_do_not_exist_or_fit_are_refused_with_the_valid_ones() {
    let error = parsed("max_turn=5").unwrap_err();
    assert_eq!(error, r#"unknown option "max_turn": expected max_turns"#);
    for value in ["0", "-3", "1.5", "1000001", "never"] {
        let expected = "for option max_turns: expected a whole number from 1 to 1000000, or none";
        assert_eq!(
            parsed(&format!("max_turns={value}")).unwrap_err(),
            format!("bad value {value:?} {expected}")
        );
    }
    assert_eq!(parsed("max_turns=none"), Ok(TokyoRules::default()));
}
