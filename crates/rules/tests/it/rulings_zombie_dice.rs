//! Zombie Dice as the rulebook (section 1) and its sources tell it, played through the `Game` trait.

use necrodome_rules::{
    chance::{Chance, Probability, ScriptError, Scripted, Seeded, enumerate},
    game::{Audience, Game, Logged, Move, Outcome, Rejected, Seat, Silent, restore},
    names::{Names, SetupError},
    options::{Options, parse, split_pair},
    zombie_dice::{
        Action, Colour, Counts, Die, Event, Face, FirstRoll, OutOfDice, Race, RaceRules, Solo, SoloRules,
        Table, TableRules, Tiebreak, TurnEnd, TurnView,
    },
};
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::collections::BTreeMap;

// ---- helpers ----

fn colour(letter: char) -> Colour {
    match letter {
        'G' => Colour::Green,
        'Y' => Colour::Yellow,
        'R' => Colour::Red,
        _ => panic!("no colour: {letter}"),
    }
}

fn face(letter: char) -> Face {
    match letter {
        'B' => Face::Brain,
        'F' => Face::Footsteps,
        'S' => Face::Shotgun,
        _ => panic!("no face: {letter}"),
    }
}

/// The picks of a roll: the colours drawn from the cup, then the faces of the whole hand from green to red.
fn roll(drawn: &str, faces: &str) -> Vec<u32> {
    drawn.chars().map(|c| colour(c) as u32).chain(faces.chars().map(|f| face(f) as u32)).collect()
}

/// A hand written as `GB YF RS`.
fn hand(text: &str) -> Option<[Die; 3]> {
    let die = |word: &str| {
        let mut letters = word.chars();
        Die { colour: colour(letters.next().unwrap()), face: face(letters.next().unwrap()) }
    };
    Some(text.split(' ').map(die).collect::<Vec<_>>().try_into().unwrap())
}

fn dice(green: u8, yellow: u8, red: u8) -> Counts {
    Counts { green, yellow, red }
}

fn names(count: usize) -> Names {
    Names::new((1..=count).map(|number| format!("zombie {number}"))).unwrap()
}

fn json(game: &impl Game) -> String {
    serde_json::to_string(game).unwrap()
}

/// Checks everything that must hold between any two moves.
fn check<G: Game>(game: &G) {
    assert_eq!(game.invariants(), Ok(()));
    assert_eq!(game.to_act().is_empty(), game.outcome().is_some());
    assert_eq!(restore::<G>(&json(game)).unwrap(), *game);
}

/// A new match that needs exactly these picks.
fn start<G: Game>(players: usize, rules: &G::Rules, picks: Vec<u32>) -> G {
    let mut script = Scripted::new(picks);
    let game: G = script.run(|c| G::new(&names(players), rules, c, &mut Silent)).unwrap().unwrap();
    script.finish().unwrap();
    check(&game);
    game
}

/// Plays a move that needs exactly these picks and returns the events.
fn play<G: Game<Action = Action, Event = Event>>(
    game: &mut G,
    choice: Move<Action>,
    picks: Vec<u32>,
) -> Vec<Event> {
    let mut script = Scripted::new(picks);
    let mut log: Vec<Logged<Event>> = Vec::new();
    script.run(|c| game.apply(&[choice], c, &mut log)).unwrap().unwrap();
    script.finish().unwrap();
    check(game);
    assert!(log.iter().all(|logged| logged.audience == Audience::Everyone));
    log.into_iter().map(|logged| logged.event).collect()
}

fn go<G: Game<Action = Action, Event = Event>>(game: &mut G, drawn: &str, faces: &str) -> Vec<Event> {
    play(game, Move::Act(Action::Go), roll(drawn, faces))
}

fn stop<G: Game<Action = Action, Event = Event>>(game: &mut G) -> Vec<Event> {
    play(game, Move::Act(Action::Stop), vec![])
}

fn forfeit<G: Game<Action = Action, Event = Event>>(game: &mut G) -> Vec<Event> {
    play(game, Move::Forfeit, vec![])
}

fn solo() -> Solo {
    start(1, &SoloRules::default(), vec![])
}

fn solo_with(out_of_dice: OutOfDice) -> Solo {
    start(1, &SoloRules { out_of_dice, ..SoloRules::default() }, vec![])
}

fn turn(game: &Solo) -> TurnView {
    game.view(Seat(0)).turn
}

/// The final score; panics while the turn goes on.
fn final_score(game: &Solo) -> i64 {
    game.outcome().expect("the turn is over").scores[0]
}

fn ended(seat: u16, why: TurnEnd, banked: u32, score: u32) -> Event {
    Event::TurnEnded { seat: Seat(seat), why, banked, score }
}

/// Nine more brains from a full cup; one yellow and three red dice are left.
fn eat_nine(game: &mut Solo) {
    go(game, "GGG", "BBB");
    go(game, "GGG", "BBB");
    go(game, "YYY", "BBB");
    assert_eq!(turn(game).cup, dice(0, 1, 3));
}

/// Plays a whole turn of a match with a free first roll: exactly `brains` (at most 10) are banked.
fn bank<G: Game<Action = Action, Event = Event>>(game: &mut G, brains: usize) -> Vec<Event> {
    assert!(brains <= 10, "more brains can end the turn by themselves");
    for (index, drawn) in ["GGG", "GGG", "YYY", "YRR"].into_iter().enumerate().take(brains.div_ceil(3)) {
        let faces = ["FFF", "BFF", "BBF", "BBB"][(brains - 3 * index).min(3)];
        go(game, drawn, faces);
    }
    stop(game)
}

fn bust<G: Game<Action = Action, Event = Event>>(game: &mut G) -> Vec<Event> {
    go(game, "RRR", "SSS")
}

fn race() -> Race {
    start(2, &RaceRules::default(), vec![])
}

/// A table whose first roll is free, so that each move needs only its own dice.
fn table(players: usize, tiebreak: Tiebreak) -> Table {
    let rules = TableRules { first_roll: FirstRoll::Free, tiebreak, ..TableRules::default() };
    start(players, &rules, vec![])
}

fn rounds(game: &mut Table, banked: &[&[usize]]) {
    for round in banked {
        for &brains in *round {
            bank(game, brains);
        }
    }
}

fn scores(game: &Table) -> Vec<u32> {
    game.view(Seat(0)).scores
}

fn parsed<T: Options>(pairs: &[&str]) -> Result<T, String> {
    let pairs: Vec<_> = pairs.iter().map(|pair| split_pair(pair).unwrap()).collect();
    parse(&pairs).map_err(|error| error.to_string())
}

fn refusal<G: Game>(players: usize) -> SetupError {
    let nobody_rolls = &mut Scripted::new([]);
    let game = nobody_rolls.run(|c| G::new(&names(players), &G::Rules::default(), c, &mut Silent)).unwrap();
    game.expect_err("this number of players must be refused")
}

fn as_f64(p: Probability) -> f64 {
    *p.numer() as f64 / *p.denom() as f64
}

fn first_rolls() -> BTreeMap<[Die; 3], Probability> {
    let start = solo();
    enumerate(1000, |chance| {
        let mut game = start.clone();
        game.apply(&[Move::Act(Action::Go)], chance, &mut Silent).unwrap();
        turn(&game).hand.unwrap()
    })
    .unwrap()
}

// ---- the dice ----

#[test]
fn a_turn_starts_with_all_thirteen_dice_in_the_cup_and_an_empty_hand() {
    let view = turn(&solo());
    let none = dice(0, 0, 0);
    assert_eq!(view, TurnView { brains: 0, shotguns: 0, hand: None, cup: dice(6, 4, 3), brain_dice: none });
    assert_eq!(view.cup.total(), 13);
}

#[test]
fn each_colour_has_the_brain_footsteps_and_shotgun_faces_of_the_rulebook() {
    let rolls = first_rolls();
    for (letter, all_three_drawn, faces) in [
        ('G', Probability::new(20, 286), [3, 2, 1]),
        ('Y', Probability::new(4, 286), [2, 2, 2]),
        ('R', Probability::new(1, 286), [1, 2, 3]),
    ] {
        for (face, sides) in Face::ALL.into_iter().zip(faces) {
            let alike = [Die { colour: colour(letter), face }; 3];
            let expected = all_three_drawn * Probability::new(sides * sides * sides, 216);
            assert_eq!(rolls[&alike], expected, "{alike:?}");
        }
    }
}

#[test]
fn the_first_roll_is_distributed_as_thirteen_real_dice_and_sums_to_exactly_one() {
    // Every ordered draw of three of the thirteen dice, every side up.
    let faces = |text: &str| text.chars().map(face).collect::<Vec<_>>();
    let mut cup = vec![(Colour::Green, faces("BBBFFS")); 6];
    cup.extend(vec![(Colour::Yellow, faces("BBFFSS")); 4]);
    cup.extend(vec![(Colour::Red, faces("BFFSSS")); 3]);
    let mut counts: BTreeMap<[Die; 3], u128> = BTreeMap::new();
    for a in 0..13 {
        for b in (0..13).filter(|&b| b != a) {
            for c in (0..13).filter(|&c| c != a && c != b) {
                for sides in 0..216 {
                    let up = [(a, sides % 6), (b, sides / 6 % 6), (c, sides / 36)];
                    let mut hand = up.map(|(die, side)| Die { colour: cup[die].0, face: cup[die].1[side] });
                    hand.sort();
                    *counts.entry(hand).or_default() += 1;
                }
            }
        }
    }
    let all = 13 * 12 * 11 * 216;
    let expected: BTreeMap<_, _> =
        counts.into_iter().map(|(hand, count)| (hand, Probability::new(count, all))).collect();
    let rolls = first_rolls();
    assert_eq!(rolls, expected);
    assert_eq!(rolls.len(), 165, "three of nine kinds of die, with repetition");
    assert_eq!(rolls.values().sum::<Probability>(), Probability::ONE);
}

#[test]
fn the_seeded_sampler_agrees_with_the_exact_first_roll() {
    let exact = first_rolls();
    let samples = 1_000_000;
    let mut chance = Seeded::new(13, "rulings: first roll", 0);
    let mut counts: BTreeMap<[Die; 3], u32> = BTreeMap::new();
    for _ in 0..samples {
        let mut game = Solo::new(&names(1), &SoloRules::default(), &mut chance, &mut Silent).unwrap();
        game.apply(&[Move::Act(Action::Go)], &mut chance, &mut Silent).unwrap();
        *counts.entry(turn(&game).hand.unwrap()).or_default() += 1;
    }
    assert!(counts.keys().all(|hand| exact.contains_key(hand)));
    let mut statistic = 0.0;
    for (hand, &p) in &exact {
        let expected = as_f64(p) * f64::from(samples);
        assert!(expected > 5.0, "too rare for the test: {hand:?}");
        let count = f64::from(counts.get(hand).copied().unwrap_or(0));
        statistic += (count - expected).powi(2) / expected;
    }
    let p_value = ChiSquared::new(exact.len() as f64 - 1.0).unwrap().sf(statistic);
    assert!(p_value > 1e-4, "chi-squared {statistic}, p = {p_value}");
}

#[test]
fn the_order_of_a_hand_carries_no_information() {
    assert!(first_rolls().keys().all(|hand| hand.is_sorted()));
    let after = |drawn: &str, faces: &str| {
        let mut game = solo();
        let events = go(&mut game, drawn, faces);
        (json(&game), events)
    };
    for drawn in ["GRY", "YGR", "YRG", "RGY", "RYG"] {
        assert_eq!(after(drawn, "BFS"), after("GYR", "BFS"));
    }
    for faces in ["BSF", "FBS", "FSB", "SBF", "SFB"] {
        assert_eq!(after("YYY", faces), after("YYY", "BFS"));
    }
}

#[test]
fn a_die_that_is_out_of_the_cup_cannot_be_drawn_again_in_the_turn() {
    let mut game = solo();
    go(&mut game, "RRR", "BBS");
    let fourth_red = Scripted::new(roll("R", "BBB"))
        .run(|c| game.clone().apply(&[Move::Act(Action::Go)], c, &mut Silent))
        .unwrap_err();
    assert!(matches!(fourth_red, ScriptError::Impossible { position: 0, .. }), "{fourth_red}");
    go(&mut game, "GGG", "BBB");
    assert_eq!(turn(&game).cup, dice(3, 4, 0));
}

// ---- a turn ----

#[test]
fn brains_and_shotguns_are_set_aside_and_footsteps_stay_in_the_hand() {
    let mut game = solo();
    let events = go(&mut game, "GYR", "BFS");
    let rolled = Event::Rolled { seat: Seat(0), hand: hand("GB YF RS").unwrap(), brains: 1, shotguns: 1 };
    assert_eq!(events, [rolled]);
    let view = turn(&game);
    assert_eq!((view.brains, view.shotguns), (1, 1));
    assert_eq!(view.hand, hand("GB YF RS"));
    assert_eq!((view.cup, view.brain_dice), (dice(5, 3, 2), dice(1, 0, 0)));
}

#[test]
fn one_footsteps_is_rolled_again_with_two_dice_from_the_cup() {
    let mut game = solo();
    go(&mut game, "GYR", "BFS");
    go(&mut game, "GG", "BBF");
    assert_eq!(turn(&game).hand, hand("GB GB YF"), "the yellow die was rolled again");
    assert_eq!((turn(&game).brains, turn(&game).cup), (3, dice(3, 3, 2)));
}

#[test]
fn two_footsteps_are_rolled_again_with_one_die_from_the_cup() {
    let mut game = solo();
    go(&mut game, "GYR", "FSF");
    go(&mut game, "Y", "BBB");
    assert_eq!(turn(&game).hand, hand("GB YB RB"));
    assert_eq!((turn(&game).brains, turn(&game).shotguns, turn(&game).cup), (3, 1, dice(5, 2, 2)));
}

#[test]
fn three_footsteps_are_rolled_again_without_a_draw() {
    let mut game = solo();
    go(&mut game, "GGR", "FFF");
    assert_eq!((turn(&game).brains, turn(&game).shotguns, turn(&game).cup), (0, 0, dice(4, 4, 2)));
    go(&mut game, "", "BFS");
    assert_eq!(turn(&game).hand, hand("GB GF RS"));
    assert_eq!((turn(&game).brains, turn(&game).shotguns, turn(&game).cup), (1, 1, dice(4, 4, 2)));
}

#[test]
fn without_footsteps_three_new_dice_are_drawn() {
    let mut game = solo();
    go(&mut game, "GYR", "BBS");
    go(&mut game, "GGY", "FFF");
    assert_eq!(turn(&game).hand, hand("GF GF YF"));
    assert_eq!(turn(&game).cup, dice(3, 2, 2));
}

#[test]
fn stopping_banks_one_point_for_each_brain() {
    let mut game = solo();
    go(&mut game, "GGG", "BBF");
    go(&mut game, "YY", "BBS");
    assert_eq!(stop(&mut game), [ended(0, TurnEnd::Stopped, 4, 4)]);
    assert_eq!(game.outcome(), Some(Outcome { places: vec![1], scores: vec![4], turns: 1 }));
}

#[test]
fn stopping_with_two_shotguns_is_safe() {
    let mut game = solo();
    go(&mut game, "RRG", "BSS");
    assert_eq!(turn(&game).shotguns, 2);
    stop(&mut game);
    assert_eq!(final_score(&game), 1);
}

#[test]
fn three_shotguns_in_one_roll_end_the_turn_with_nothing() {
    let mut game = solo();
    let events = go(&mut game, "RRR", "SSS");
    assert_eq!(events[1..], [ended(0, TurnEnd::Busted, 0, 0)]);
    assert_eq!(final_score(&game), 0);
}

#[test]
fn the_third_shotgun_ends_the_turn_with_nothing_whatever_was_eaten_before() {
    let mut game = solo();
    go(&mut game, "GGG", "BBS");
    go(&mut game, "GGG", "BBS");
    assert_eq!((turn(&game).brains, turn(&game).shotguns), (4, 2));
    let events = go(&mut game, "YYY", "BBS");
    assert_eq!(events[1..], [ended(0, TurnEnd::Busted, 0, 0)]);
    assert_eq!(final_score(&game), 0);
}

#[test]
fn more_than_three_shotguns_bust_too() {
    for (faces, shotguns) in [("BSS", 4), ("SSS", 5)] {
        let mut game = solo();
        go(&mut game, "RRR", "BSS");
        let events = go(&mut game, "GGY", faces);
        assert!(matches!(events[0], Event::Rolled { shotguns: s, .. } if s == shotguns), "{events:?}");
        assert_eq!(events[1..], [ended(0, TurnEnd::Busted, 0, 0)]);
    }
}

#[test]
fn a_third_shotgun_that_leaves_exactly_three_dice_busts() {
    for rule in [OutOfDice::EndTurn, OutOfDice::RecycleBrains] {
        let mut game = solo_with(rule);
        go(&mut game, "GGG", "BBB");
        go(&mut game, "GGG", "BBB");
        go(&mut game, "YYY", "BSS");
        let events = go(&mut game, "YRR", "SFF");
        assert_eq!(turn(&game).cup.total(), 1);
        assert_eq!(events[1..], [ended(0, TurnEnd::Busted, 0, 0)]);
    }
}

#[test]
fn a_third_shotgun_that_leaves_too_few_dice_busts() {
    for (rule, faces) in
        [(OutOfDice::EndTurn, "SBB"), (OutOfDice::EndTurn, "SBF"), (OutOfDice::RecycleBrains, "SBB")]
    {
        let mut game = solo_with(rule);
        go(&mut game, "GGG", "BBB");
        go(&mut game, "GGG", "BBB");
        go(&mut game, "YYY", "BSS");
        let events = go(&mut game, "YRR", faces);
        assert_eq!(events[1..], [ended(0, TurnEnd::Busted, 0, 0)], "{rule:?} {faces}");
        assert_eq!(final_score(&game), 0);
    }
}

// ---- out of dice ----

#[test]
fn the_turn_ends_and_banks_when_one_die_is_left() {
    let mut game = solo();
    eat_nine(&mut game);
    let events = go(&mut game, "YRR", "BBB");
    assert_eq!(events[1..], [ended(0, TurnEnd::OutOfDice, 12, 12)]);
    assert_eq!(final_score(&game), 12);
}

#[test]
fn the_turn_ends_and_banks_when_cup_and_footsteps_hold_two_dice() {
    let mut game = solo();
    eat_nine(&mut game);
    let events = go(&mut game, "YRR", "BBF");
    assert_eq!(events[1..], [ended(0, TurnEnd::OutOfDice, 11, 11)]);

    let mut no_cup = solo();
    eat_nine(&mut no_cup);
    go(&mut no_cup, "YRR", "BFF");
    let events = go(&mut no_cup, "R", "BFF");
    assert_eq!(turn(&no_cup).cup.total(), 0);
    assert_eq!(events[1..], [ended(0, TurnEnd::OutOfDice, 11, 11)]);
}

#[test]
fn two_shotguns_do_not_keep_a_turn_that_ran_out_of_dice_from_banking() {
    let mut game = solo();
    eat_nine(&mut game);
    let events = go(&mut game, "YRR", "BSS");
    assert_eq!(events[1..], [ended(0, TurnEnd::OutOfDice, 10, 10)]);
}

#[test]
fn the_turn_goes_on_with_exactly_three_dice_in_cup_and_hand() {
    let mut game = solo();
    eat_nine(&mut game);
    go(&mut game, "YRR", "BFF");
    assert_eq!((game.outcome(), turn(&game).cup), (None, dice(0, 0, 1)));
    go(&mut game, "R", "FFF");
    assert_eq!((game.outcome(), turn(&game).cup), (None, dice(0, 0, 0)));
    let events = go(&mut game, "", "BBB");
    assert_eq!(events[1..], [ended(0, TurnEnd::OutOfDice, 13, 13)], "all thirteen dice are brains");
}

#[test]
fn the_turn_can_be_stopped_when_exactly_three_dice_are_left() {
    let mut game = solo();
    eat_nine(&mut game);
    go(&mut game, "YRR", "BFF");
    assert_eq!(stop(&mut game), [ended(0, TurnEnd::Stopped, 10, 10)]);
}

#[test]
fn recycled_brain_dice_go_back_into_the_cup_by_colour_and_keep_their_points() {
    let mut game = solo_with(OutOfDice::RecycleBrains);
    eat_nine(&mut game);
    go(&mut game, "YRR", "BBS");
    assert_eq!((game.outcome(), turn(&game).brains), (None, 11), "rolling can go on");
    // 6 green, 4 yellow and 1 red brain die join the last red die; the red shotgun die stays out.
    go(&mut game, "GYR", "BFF");
    let view = turn(&game);
    assert_eq!((view.brains, view.shotguns), (12, 1));
    assert_eq!((view.cup, view.brain_dice), (dice(5, 3, 1), dice(1, 0, 0)));
    // The footsteps are rolled again as ever.
    go(&mut game, "G", "BBB");
    assert_eq!(turn(&game).hand, hand("GB YB RB"));
    assert_eq!((turn(&game).brains, turn(&game).cup), (15, dice(4, 3, 1)));
    assert_eq!(stop(&mut game), [ended(0, TurnEnd::Stopped, 15, 15)]);
}

#[test]
fn recycled_dice_are_drawn_with_the_odds_of_their_colours() {
    let mut game = solo_with(OutOfDice::RecycleBrains);
    eat_nine(&mut game);
    go(&mut game, "YRR", "BBS");
    let colours = enumerate(1000, |chance| {
        let mut next = game.clone();
        next.apply(&[Move::Act(Action::Go)], chance, &mut Silent).unwrap();
        turn(&next).hand.unwrap().map(|die| die.colour)
    })
    .unwrap();
    // Twelve dice: 6 green, 4 yellow, 2 red.
    let (g, y, r) = (Colour::Green, Colour::Yellow, Colour::Red);
    assert_eq!(colours[&[g, g, g]], Probability::new(20, 220));
    assert_eq!(colours[&[y, y, y]], Probability::new(4, 220));
    assert_eq!(colours[&[g, y, r]], Probability::new(48, 220));
    assert_eq!(colours[&[y, r, r]], Probability::new(4, 220));
    assert_eq!(colours.get(&[r, r, r]), None);
}

#[test]
fn footsteps_stay_in_the_hand_when_brains_are_recycled() {
    let mut game = solo_with(OutOfDice::RecycleBrains);
    eat_nine(&mut game);
    go(&mut game, "YRR", "BFF");
    go(&mut game, "R", "BFF");
    assert_eq!((game.outcome(), turn(&game).brains), (None, 11));
    go(&mut game, "G", "BSF");
    let view = turn(&game);
    assert_eq!(view.hand, hand("GB RF RS"));
    assert_eq!((view.brains, view.shotguns), (12, 1));
    assert_eq!((view.cup, view.brain_dice), (dice(5, 4, 1), dice(1, 0, 0)));
}

#[test]
fn nothing_is_recycled_while_cup_and_footsteps_hold_three_dice() {
    let mut game = solo_with(OutOfDice::RecycleBrains);
    eat_nine(&mut game);
    go(&mut game, "YRR", "BFF");
    let recycled = Scripted::new(roll("G", "BBB"))
        .run(|c| game.clone().apply(&[Move::Act(Action::Go)], c, &mut Silent))
        .unwrap_err();
    assert!(matches!(recycled, ScriptError::Impossible { position: 0, .. }), "{recycled}");
    go(&mut game, "R", "FFF");
    assert_eq!(turn(&game).brain_dice, dice(6, 4, 0));
    go(&mut game, "", "FFF");
    assert_eq!((turn(&game).brain_dice, turn(&game).cup), (dice(6, 4, 0), dice(0, 0, 0)));
}

#[test]
fn brain_dice_can_be_recycled_again_and_again_until_a_bust_takes_all_points() {
    let mut game = solo_with(OutOfDice::RecycleBrains);
    for round in 1..=3 {
        // The one die that was left is drawn together with the recycled twelve.
        eat_nine(&mut game);
        go(&mut game, "YRR", "BBB");
        assert_eq!((game.outcome(), turn(&game).brains), (None, 12 * round));
    }
    let events = go(&mut game, "RRR", "SSS");
    assert_eq!(events[1..], [ended(0, TurnEnd::Busted, 0, 0)]);
    assert_eq!(final_score(&game), 0);
}

#[test]
fn a_turn_that_recycles_can_bank_more_than_thirteen() {
    let mut game = solo_with(OutOfDice::RecycleBrains);
    eat_nine(&mut game);
    go(&mut game, "YRR", "BBB");
    go(&mut game, "GGG", "BBB");
    assert_eq!(stop(&mut game), [ended(0, TurnEnd::Stopped, 15, 15)]);
}

// ---- the first roll ----

#[test]
fn the_defaults_are_those_of_the_rulebook() {
    let SoloRules { out_of_dice, first_roll } = SoloRules::default();
    assert_eq!((out_of_dice, first_roll), (OutOfDice::EndTurn, FirstRoll::Free));
    let RaceRules { out_of_dice, first_roll, .. } = RaceRules::default();
    assert_eq!((out_of_dice, first_roll), (OutOfDice::EndTurn, FirstRoll::Free));
    let TableRules { out_of_dice, first_roll, tiebreak, .. } = TableRules::default();
    assert_eq!((out_of_dice, first_roll), (OutOfDice::EndTurn, FirstRoll::Mandatory));
    assert_eq!(tiebreak, Tiebreak::OneRound);
}

#[test]
fn stopping_before_the_first_roll_banks_nothing() {
    let mut alone = solo();
    assert_eq!(stop(&mut alone), [ended(0, TurnEnd::Stopped, 0, 0)]);
    assert_eq!(final_score(&alone), 0);

    let mut two = race();
    assert_eq!(stop(&mut two), [ended(0, TurnEnd::Stopped, 0, 0)]);
    assert_eq!(two.to_act(), [Seat(1)]);

    let mut many = table(3, Tiebreak::OneRound);
    assert_eq!(stop(&mut many), [ended(0, TurnEnd::Stopped, 0, 0)]);
    assert_eq!((many.to_act(), scores(&many)), (&[Seat(1)][..], vec![0, 0, 0]));
}

#[test]
fn a_mandatory_first_roll_is_made_before_the_first_decision_alone() {
    let rules = SoloRules { first_roll: FirstRoll::Mandatory, ..SoloRules::default() };
    let mut game: Solo = start(1, &rules, roll("GYR", "BBF"));
    assert_eq!((turn(&game).hand, turn(&game).brains), (hand("GB YB RF"), 2));
    go(&mut game, "GG", "FFF");
    stop(&mut game);
    assert_eq!(final_score(&game), 2);
}

#[test]
fn a_mandatory_first_roll_can_bust_before_any_decision() {
    let rules = SoloRules { first_roll: FirstRoll::Mandatory, ..SoloRules::default() };
    let game: Solo = start(1, &rules, roll("RRR", "SSS"));
    assert_eq!((game.to_act(), final_score(&game)), (&[][..], 0));
}

#[test]
fn a_mandatory_first_roll_is_made_for_each_turn_of_a_race() {
    let rules = RaceRules { first_roll: FirstRoll::Mandatory, ..RaceRules::default() };
    let picks = [roll("RRR", "SSS"), roll("GGG", "BBB")].concat();
    let mut game: Race = start(2, &rules, picks);
    assert_eq!(game.to_act(), [Seat(1)], "the first player busted without a decision");
    let events = play(&mut game, Move::Act(Action::Stop), roll("GGG", "BFF"));
    assert_eq!(events[0], ended(1, TurnEnd::Stopped, 3, 3));
    let rolled = Event::Rolled { seat: Seat(0), hand: hand("GB GF GF").unwrap(), brains: 1, shotguns: 0 };
    assert_eq!(events[1..], [rolled]);
    assert_eq!(game.view(Seat(0)).turn.brains, 1);
}

#[test]
fn the_first_roll_of_each_turn_at_a_table_comes_before_its_first_decision() {
    let mut game: Table = start(3, &TableRules::default(), roll("GGG", "BBB"));
    assert_eq!((game.to_act(), game.view(Seat(2)).turn.hand), (&[Seat(0)][..], hand("GB GB GB")));
    // The second player busts at once, and the third has rolled when asked.
    let picks = [roll("RRR", "SSS"), roll("GYY", "BBF")].concat();
    let events = play(&mut game, Move::Act(Action::Stop), picks);
    assert_eq!(events[0], ended(0, TurnEnd::Stopped, 3, 3));
    assert_eq!(events[2], ended(1, TurnEnd::Busted, 0, 0));
    assert_eq!((game.to_act(), game.view(Seat(2)).turn.brains), (&[Seat(2)][..], 2));
}

#[test]
fn a_free_first_roll_leaves_the_dice_in_the_cup_until_somebody_goes() {
    let mut game = table(2, Tiebreak::OneRound);
    assert_eq!((game.view(Seat(0)).turn.hand, game.view(Seat(0)).turn.cup), (None, dice(6, 4, 3)));
    bank(&mut game, 2);
    assert_eq!((game.view(Seat(1)).turn.hand, game.view(Seat(1)).turn.cup), (None, dice(6, 4, 3)));
}

// ---- solo ----

#[test]
fn rewards_are_changes_of_the_provisional_score_and_sum_to_the_final_score() {
    let rewards = |moves: &[(Move<Action>, Vec<u32>)]| {
        let mut game = solo();
        let mut before = i64::from(game.provisional_score());
        assert_eq!(before, 0);
        let mut rewards = Vec::new();
        for (choice, picks) in moves {
            play(&mut game, choice.clone(), picks.clone());
            let now = i64::from(game.provisional_score());
            rewards.push(now - before);
            before = now;
        }
        assert_eq!(rewards.iter().sum::<i64>(), final_score(&game));
        rewards
    };
    let go = |drawn, faces| (Move::Act(Action::Go), roll(drawn, faces));
    let stop = || (Move::Act(Action::Stop), vec![]);
    assert_eq!(rewards(&[go("GGG", "BBF"), go("YY", "BFF"), stop()]), [2, 1, 0]);
    assert_eq!(rewards(&[go("GGG", "BBS"), go("YYR", "FSB"), go("YY", "BBS")]), [2, 1, -3]);
    assert_eq!(rewards(&[go("GGG", "BBF"), (Move::Forfeit, vec![])]), [2, -2]);
    assert_eq!(rewards(&[stop()]), [0]);
    let to_the_end = [go("GGG", "BBB"), go("GGG", "BBB"), go("YYY", "BBB"), go("YRR", "BBB")];
    assert_eq!(rewards(&to_the_end), [3, 3, 3, 3]);
}

#[test]
fn a_forfeit_ends_a_solo_turn_with_nothing() {
    let mut game = solo();
    go(&mut game, "GGG", "BBB");
    assert_eq!(forfeit(&mut game), [ended(0, TurnEnd::Forfeited, 0, 0)]);
    assert_eq!(final_score(&game), 0);
}

/// When a policy stops, and its exactly known mean score under the default rules.
type Policy = (fn(&TurnView) -> bool, f64);
const STOP_AT_ONE_SHOTGUN: Policy = (|turn| turn.shotguns >= 1, 1.646317750);
const STOP_AT_TWO_SHOTGUNS: Policy = (|turn| turn.shotguns >= 2, 2.087459223);
const STOP_AT_THREE_BRAINS: Policy = (|turn| turn.brains >= 3, 1.856856057);

#[test]
fn a_million_turns_of_simple_policies_come_close_to_their_known_means() {
    for (stops, known) in [STOP_AT_ONE_SHOTGUN, STOP_AT_TWO_SHOTGUNS, STOP_AT_THREE_BRAINS] {
        let mut chance = Seeded::new(2013, "rulings: policies", 0);
        let (turns, start) = (1_000_000, solo());
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..turns {
            let mut game = start.clone();
            let score = loop {
                if let Some(outcome) = game.outcome() {
                    break outcome.scores[0] as f64;
                }
                let choice = if stops(&turn(&game)) { Action::Stop } else { Action::Go };
                game.apply(&[Move::Act(choice)], &mut chance, &mut Silent).unwrap();
            };
            sum += score;
            squares += score * score;
        }
        let mean = sum / f64::from(turns);
        let standard_error = ((squares / f64::from(turns) - mean * mean) / f64::from(turns)).sqrt();
        assert!((mean - known).abs() < 4.0 * standard_error, "{mean}, expected {known}");
    }
}

/// The mean score of a policy from here, by enumeration of all rolls.
fn exact_mean(game: &Solo, stops: fn(&TurnView) -> bool, memo: &mut BTreeMap<Solo, f64>) -> f64 {
    if let Some(outcome) = game.outcome() {
        return outcome.scores[0] as f64;
    }
    assert!(turn(game).brains <= 13, "thirteen dice have no more brains: {game:?}");
    if stops(&turn(game)) {
        return f64::from(turn(game).brains);
    }
    if let Some(&known) = memo.get(game) {
        return known;
    }
    let next = enumerate(1000, |chance| {
        let mut next = game.clone();
        next.apply(&[Move::Act(Action::Go)], chance, &mut Silent).unwrap();
        next
    })
    .unwrap();
    assert_eq!(next.values().sum::<Probability>(), Probability::ONE);
    // Three footsteps can follow on the same three footsteps for ever.
    let again = next.get(game).map_or(0.0, |&p| as_f64(p));
    let others = next.iter().filter(|(next, _)| *next != game);
    let sum: f64 = others.map(|(next, &p)| as_f64(p) * exact_mean(next, stops, memo)).sum();
    memo.insert(game.clone(), sum / (1.0 - again));
    sum / (1.0 - again)
}

#[test]
fn simple_policies_enumerated_exactly_have_their_known_means() {
    for (stops, known) in [STOP_AT_ONE_SHOTGUN, STOP_AT_TWO_SHOTGUNS, STOP_AT_THREE_BRAINS] {
        let exact = exact_mean(&solo(), stops, &mut BTreeMap::new());
        assert!((exact - known).abs() < 1e-9, "{exact}, expected {known}");
    }
}

// ---- race ----

#[test]
fn the_players_of_a_race_take_alternate_turns_and_each_sees_both_scores() {
    let mut game = race();
    for (seat, brains, own, other) in [(0, 2, 2, 0), (1, 3, 3, 2), (0, 1, 3, 3), (1, 4, 7, 3)] {
        assert_eq!(game.to_act(), [Seat(seat)]);
        bank(&mut game, brains);
        let view = game.view(Seat(seat));
        assert_eq!((view.score, view.opponent_score), (own, other));
        let opposite = game.view(Seat(1 - seat));
        assert_eq!((opposite.score, opposite.opponent_score), (other, own));
        assert_eq!(view.turn.cup, dice(6, 4, 3), "the next turn starts with all dice");
    }
}

#[test]
fn banking_exactly_thirteen_wins_a_race_on_the_spot() {
    let mut game = race();
    bank(&mut game, 10);
    bank(&mut game, 10);
    assert_eq!((game.reward(Seat(0)), game.reward(Seat(1))), (0, 0));
    bank(&mut game, 3);
    let outcome = Outcome { places: vec![1, 2], scores: vec![13, 10], turns: 3 };
    assert_eq!(game.outcome(), Some(outcome));
    assert_eq!((game.reward(Seat(0)), game.reward(Seat(1))), (10, -10));
}

#[test]
fn twelve_do_not_win_a_race() {
    let mut game = race();
    for brains in [6, 0, 6] {
        bank(&mut game, brains);
    }
    assert_eq!((game.to_act(), game.view(Seat(0)).score), (&[Seat(1)][..], 12));
    assert_eq!((game.reward(Seat(0)), game.reward(Seat(1))), (0, 0));
}

#[test]
fn the_second_player_wins_a_race_with_more_than_thirteen() {
    let mut game = race();
    for brains in [10, 10, 2, 9] {
        bank(&mut game, brains);
    }
    let outcome = Outcome { places: vec![2, 1], scores: vec![12, 19], turns: 4 };
    assert_eq!(game.outcome(), Some(outcome));
    assert_eq!((game.reward(Seat(0)), game.reward(Seat(1))), (-10, 10));
}

#[test]
fn brains_that_are_not_banked_do_not_win_a_race() {
    let mut game = race();
    bank(&mut game, 10);
    bank(&mut game, 0);
    go(&mut game, "GGG", "BBB");
    assert_eq!((game.to_act(), game.view(Seat(0)).score), (&[Seat(0)][..], 10), "13 in sight, 10 banked");
    bust(&mut game);
    assert_eq!((game.to_act(), game.view(Seat(0)).score), (&[Seat(1)][..], 10));
}

#[test]
fn a_turn_that_runs_out_of_dice_can_win_a_race() {
    let mut game = race();
    bank(&mut game, 1);
    bank(&mut game, 5);
    for drawn in ["GGG", "GGG", "YYY"] {
        go(&mut game, drawn, "BBB");
    }
    let events = go(&mut game, "YRR", "BBB");
    assert_eq!(events[1..], [ended(0, TurnEnd::OutOfDice, 12, 13)]);
    assert_eq!(game.outcome().unwrap().winners().collect::<Vec<_>>(), [Seat(0)]);
}

#[test]
fn a_forfeit_in_a_race_ends_the_turn_with_nothing_and_the_race_goes_on() {
    let mut game = race();
    bank(&mut game, 4);
    go(&mut game, "GGG", "BBB");
    assert_eq!(forfeit(&mut game), [ended(1, TurnEnd::Forfeited, 0, 0)]);
    go(&mut game, "GGG", "BBB");
    assert_eq!(forfeit(&mut game), [ended(0, TurnEnd::Forfeited, 0, 4)], "what was banked stays");
    assert_eq!(game.to_act(), [Seat(1)]);
}

#[test]
fn recycling_works_in_a_race() {
    let rules = RaceRules { out_of_dice: OutOfDice::RecycleBrains, ..RaceRules::default() };
    let mut game: Race = start(2, &rules, vec![]);
    for (drawn, faces) in [("GGG", "BBB"), ("GGG", "BBB"), ("YYY", "BBB"), ("YRR", "BBB"), ("GRY", "BBB")] {
        go(&mut game, drawn, faces);
    }
    assert_eq!(game.view(Seat(0)).turn.cup, dice(5, 3, 2));
    stop(&mut game);
    assert_eq!(game.outcome().unwrap().scores, [15, 0]);
}

#[test]
fn a_race_ends_after_max_rounds_for_the_higher_score() {
    let rules: RaceRules = parsed(&["max_rounds=2"]).unwrap();
    let mut game: Race = start(2, &rules, vec![]);
    for brains in [1, 2, 0] {
        bank(&mut game, brains);
        assert_eq!(game.outcome(), None);
    }
    stop(&mut game);
    assert_eq!(game.outcome().unwrap().places, [2, 1]);
    assert_eq!((game.reward(Seat(0)), game.reward(Seat(1))), (-10, 10));
}

// ---- table ----

#[test]
fn all_players_of_a_table_take_turns_in_the_order_of_the_seats() {
    let mut game = table(99, Tiebreak::OneRound);
    for round in 0..2 {
        for seat in 0..99 {
            assert_eq!((game.to_act(), game.view(Seat(5)).rounds), (&[Seat(seat)][..], round));
            bank(&mut game, usize::from(seat % 3));
        }
    }
    assert_eq!(scores(&game)[..4], [0, 2, 4, 0]);
}

#[test]
fn the_others_finish_the_round_when_somebody_has_thirteen() {
    let mut game = table(4, Tiebreak::OneRound);
    rounds(&mut game, &[&[0, 10, 10, 1]]);
    bank(&mut game, 2);
    bank(&mut game, 3);
    assert_eq!((scores(&game), game.to_act()), (vec![2, 13, 10, 1], &[Seat(2)][..]));
    bank(&mut game, 1);
    assert_eq!(game.to_act(), [Seat(3)]);
    bank(&mut game, 5);
    // Seat 0 came before in this round and gets no further turn.
    let outcome = Outcome { places: vec![4, 1, 2, 3], scores: vec![2, 13, 11, 6], turns: 8 };
    assert_eq!(game.outcome(), Some(outcome));
}

#[test]
fn the_most_brains_win_even_if_another_reached_thirteen_first() {
    let mut game = table(3, Tiebreak::OneRound);
    rounds(&mut game, &[&[10, 10, 10], &[3, 6, 2]]);
    assert_eq!(game.outcome().unwrap().places, [2, 1, 3]);
    assert_eq!(game.outcome().unwrap().scores, [13, 16, 12]);
}

#[test]
fn the_match_ends_at_once_when_the_last_of_the_round_reaches_thirteen_alone() {
    let mut game = table(2, Tiebreak::OneRound);
    rounds(&mut game, &[&[6, 10]]);
    bank(&mut game, 6);
    assert_eq!(game.outcome(), None);
    bank(&mut game, 3);
    assert_eq!(game.outcome().unwrap().winners().collect::<Vec<_>>(), [Seat(1)]);
}

#[test]
fn twelve_and_ties_below_thirteen_do_not_end_a_table_game() {
    let mut game = table(2, Tiebreak::OneRound);
    rounds(&mut game, &[&[10, 10], &[2, 2]]);
    assert_eq!((game.to_act(), scores(&game)), (&[Seat(0)][..], vec![12, 12]));
    assert!(!game.view(Seat(0)).tiebreak);
}

#[test]
fn only_those_tied_for_the_lead_play_a_tiebreak_and_it_adds_to_their_scores() {
    let mut game = table(4, Tiebreak::OneRound);
    rounds(&mut game, &[&[10, 10, 9, 10]]);
    bank(&mut game, 1);
    bank(&mut game, 4);
    bank(&mut game, 4);
    let events = bank(&mut game, 4);
    let tied = vec![Seat(1), Seat(3)];
    assert_eq!(events.last(), Some(&Event::TiebreakStarted { seats: tied.clone() }));
    assert_eq!((scores(&game), game.to_act()), (vec![11, 14, 13, 14], &[Seat(1)][..]));
    assert_eq!((game.view(Seat(0)).tiebreak, game.view(Seat(0)).playing), (true, tied));
    bank(&mut game, 1);
    assert_eq!(game.to_act(), [Seat(3)]);
    bank(&mut game, 2);
    let outcome = Outcome { places: vec![4, 2, 3, 1], scores: vec![11, 15, 13, 16], turns: 10 };
    assert_eq!(game.outcome(), Some(outcome));
}

#[test]
fn a_tie_for_second_place_needs_no_tiebreak() {
    let mut game = table(3, Tiebreak::UntilBroken);
    rounds(&mut game, &[&[10, 10, 10], &[3, 4, 3]]);
    assert_eq!(game.outcome().unwrap().places, [2, 1, 2]);
}

#[test]
fn those_still_tied_after_one_tiebreak_round_share_the_win() {
    let mut game = table(3, Tiebreak::OneRound);
    rounds(&mut game, &[&[10, 10, 10], &[3, 3, 2]]);
    bank(&mut game, 2);
    bank(&mut game, 2);
    let outcome = game.outcome().unwrap();
    assert_eq!((outcome.places, outcome.scores), (vec![1, 1, 3], vec![15, 15, 12]));
}

#[test]
fn two_who_share_the_lead_of_a_tiebreak_of_three_share_the_win() {
    let mut game = table(3, Tiebreak::OneRound);
    rounds(&mut game, &[&[10, 10, 10], &[3, 3, 3]]);
    bank(&mut game, 2);
    bust(&mut game);
    bank(&mut game, 2);
    assert_eq!(game.outcome().unwrap().places, [1, 3, 1]);
    assert_eq!(game.outcome().unwrap().scores, [15, 13, 15]);
}

#[test]
fn tiebreaks_go_on_among_those_still_tied_until_one_leads() {
    let mut game = table(4, Tiebreak::UntilBroken);
    rounds(&mut game, &[&[10, 10, 10, 0], &[3, 3, 3, 0]]);
    bank(&mut game, 2);
    bank(&mut game, 1);
    let events = bank(&mut game, 2);
    assert_eq!(events.last(), Some(&Event::TiebreakStarted { seats: vec![Seat(0), Seat(2)] }));
    // A second and a third tiebreak among the two.
    for _ in 0..2 {
        assert_eq!((game.to_act(), game.outcome()), (&[Seat(0)][..], None));
        bust(&mut game);
        assert_eq!(game.to_act(), [Seat(2)]);
        stop(&mut game);
    }
    bank(&mut game, 1);
    bank(&mut game, 0);
    let outcome = game.outcome().unwrap();
    assert_eq!((outcome.places, outcome.scores), (vec![1, 3, 2, 4], vec![16, 14, 15, 0]));
}

#[test]
fn a_forfeit_at_a_table_ends_the_turn_with_nothing_and_the_match_goes_on() {
    let mut game = table(3, Tiebreak::OneRound);
    assert_eq!(forfeit(&mut game), [ended(0, TurnEnd::Forfeited, 0, 0)], "before the first roll");
    go(&mut game, "GGG", "BBB");
    assert_eq!(forfeit(&mut game), [ended(1, TurnEnd::Forfeited, 0, 0)]);
    assert_eq!((game.to_act(), scores(&game)), (&[Seat(2)][..], vec![0, 0, 0]));
}

#[test]
fn a_table_game_ends_after_max_rounds_for_the_highest_score() {
    let rules: TableRules = parsed(&["max_rounds=2", "first_roll=free"]).unwrap();
    let mut game: Table = start(3, &rules, vec![]);
    rounds(&mut game, &[&[1, 2, 3]]);
    assert_eq!(game.outcome(), None);
    rounds(&mut game, &[&[2, 4, 1]]);
    let outcome = Outcome { places: vec![3, 1, 2], scores: vec![3, 6, 4], turns: 6 };
    assert_eq!(game.outcome(), Some(outcome));
}

#[test]
fn a_refreshed_view_equals_a_new_one() {
    let mut game = table(3, Tiebreak::OneRound);
    let mut stale = game.view(Seat(2));
    rounds(&mut game, &[&[10, 10, 10], &[1, 4, 4]]);
    go(&mut game, "GYR", "BFS");
    game.refresh_view(Seat(1), &mut stale);
    assert_eq!(stale, game.view(Seat(1)));
    assert!(stale.tiebreak);
}

// ---- moves that are not accepted, and random play ----

#[test]
fn moves_that_do_not_fit_are_refused_and_change_nothing() {
    fn refused<G: Game<Action = Action, Event = Event>>(
        game: &mut G,
        moves: &[Move<Action>],
    ) -> Rejected<G::Illegal> {
        let before = json(game);
        let mut log: Vec<Logged<Event>> = Vec::new();
        let result = Scripted::new([]).run(|c| game.apply(moves, c, &mut log)).unwrap();
        assert_eq!((json(game), log), (before, vec![]));
        result.expect_err("must be refused")
    }
    let (none, one, two) = ([], [Move::Act(Action::Go)], [Move::Act(Action::Go), Move::Act(Action::Go)]);
    let mut alone = solo();
    assert_eq!(refused(&mut alone, &none), Rejected::Count { expected: 1, came: 0 });
    assert_eq!(refused(&mut alone, &two), Rejected::Count { expected: 1, came: 2 });
    stop(&mut alone);
    assert_eq!(refused(&mut alone, &one), Rejected::Over);
    assert_eq!(refused(&mut alone, &none), Rejected::Over);

    let mut pair = race();
    assert_eq!(refused(&mut pair, &two), Rejected::Count { expected: 1, came: 2 });
    for brains in [10, 0, 3] {
        bank(&mut pair, brains);
    }
    assert_eq!(refused(&mut pair, &[Move::Forfeit]), Rejected::Over);

    let mut many = table(2, Tiebreak::OneRound);
    assert_eq!(refused(&mut many, &none), Rejected::Count { expected: 1, came: 0 });
    rounds(&mut many, &[&[10, 0], &[3, 0]]);
    assert_eq!(refused(&mut many, &one), Rejected::Over);
}

#[test]
fn random_matches_of_every_format_keep_their_invariants_to_the_end() {
    fn random<G: Game<Action = Action>>(players: usize, rules: &str, index: u64) -> Outcome {
        let rules: G::Rules = serde_json::from_str(rules).unwrap();
        let mut chance = Seeded::new(99, "rulings: random play", index);
        let mut game = G::new(&names(players), &rules, &mut chance, &mut Silent).unwrap();
        loop {
            check(&game);
            if let Some(outcome) = game.outcome() {
                return outcome;
            }
            let choice = match chance.uniform(20) {
                0 => Move::Forfeit,
                1..7 => Move::Act(Action::Stop),
                _ => Move::Act(Action::Go),
            };
            game.apply(&[choice], &mut chance, &mut Silent).unwrap();
        }
    }
    for index in 0..200 {
        for out_of_dice in ["end_turn", "recycle_brains"] {
            for first_roll in ["free", "mandatory"] {
                let rules = format!(r#"{{"out_of_dice":"{out_of_dice}","first_roll":"{first_roll}"}}"#);
                random::<Solo>(1, &rules, index);
                let race = random::<Race>(2, &rules, index);
                assert_eq!(race.scores.iter().filter(|&&score| score >= 13).count(), 1);
                let table = random::<Table>(2 + index as usize % 4, &rules, index);
                let best = table.scores.iter().max().unwrap();
                assert!(*best >= 13);
                let winners = table.winners().map(|seat| table.scores[seat.index()]);
                assert!(winners.eq(table.scores.iter().filter(|&score| score == best).copied()));
            }
        }
    }
}

// ---- set-up ----

#[test]
fn a_table_takes_two_to_ninety_nine_players() {
    for players in [0, 1, 100] {
        let error = refusal::<Table>(players);
        assert_eq!(error, SetupError::Seats { expected: 2..=99, came: players });
        assert_eq!(error.to_string(), format!("expected 2 to 99 players, got {players}"));
    }
    for players in [2, 99] {
        let game: Table = start(players, &TableRules::default(), roll("GGG", "BBB"));
        assert_eq!(scores(&game).len(), players);
    }
}

#[test]
fn solo_takes_one_player_and_a_race_two() {
    for players in [0, 2, 3] {
        let error = refusal::<Solo>(players);
        assert_eq!(error, SetupError::Seats { expected: 1..=1, came: players });
        assert_eq!(error.to_string(), format!("expected exactly 1 player, got {players}"));
    }
    for players in [0, 1, 3] {
        let error = refusal::<Race>(players);
        assert_eq!(error, SetupError::Seats { expected: 2..=2, came: players });
        assert_eq!(error.to_string(), format!("expected exactly 2 players, got {players}"));
    }
}

#[test]
fn a_name_that_is_taken_is_refused() {
    for (first, second) in [("Rob", "Rob"), ("Rob", "rOB"), ("Zoë", "ZOË")] {
        let error = Names::new([first, "other", second]).unwrap_err().to_string();
        assert!(error.contains("is taken"), "{error}");
    }
    assert!(Names::new(["Rob", "Bob"]).is_ok());
}

#[test]
fn names_with_control_characters_are_refused() {
    for control in ['\0', '\t', '\n', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{202e}', '\u{200d}'] {
        let name = format!("a{control}b");
        let error = Names::new([&name]).unwrap_err();
        assert!(matches!(&error, SetupError::Name { name: told, .. } if *told == name), "{error}");
        let told = error.to_string();
        assert!(told.contains("control or invisible characters"), "{told}");
        assert!(!told.contains(control), "the message must not repeat the character itself: {told:?}");
    }
}

#[test]
fn names_may_have_forty_characters_and_no_more() {
    for letter in ["x", "ß", "脳"] {
        assert!(Names::new([letter.repeat(40)]).is_ok());
        let error = Names::new([letter.repeat(41)]).unwrap_err().to_string();
        assert!(error.contains("longer than 40 characters"), "{error}");
    }
    assert!(Names::new([""]).is_err());
}

#[test]
fn an_unknown_option_is_refused_with_the_valid_ones() {
    let error = parsed::<TableRules>(&["out_off_dice=end_turn"]).unwrap_err();
    for part in ["\"out_off_dice\"", "out_of_dice", "first_roll", "tiebreak", "max_rounds"] {
        assert!(error.contains(part), "{error}");
    }
    let error = parsed::<SoloRules>(&["tiebreak=one_round"]).unwrap_err();
    assert_eq!(error, r#"unknown option "tiebreak": expected one of first_roll, out_of_dice"#);
    assert!(parsed::<RaceRules>(&["tiebreak=one_round"]).unwrap_err().contains("unknown option"));
}

#[test]
fn a_bad_value_is_refused_with_the_valid_ones() {
    for (pair, message) in [
        (
            "out_of_dice=stop",
            r#"bad value "stop" for option out_of_dice: expected end_turn or recycle_brains"#,
        ),
        (
            "out_of_dice=none",
            r#"bad value "none" for option out_of_dice: expected end_turn or recycle_brains"#,
        ),
        ("first_roll=1", r#"bad value "1" for option first_roll: expected free or mandatory"#),
        ("tiebreak=two", r#"bad value "two" for option tiebreak: expected one_round or until_broken"#),
    ] {
        assert_eq!(parsed::<TableRules>(&[pair]).unwrap_err(), message);
    }
    for value in ["0", "-1", "1000001", "2.5", "many", "true"] {
        let error = parsed::<TableRules>(&[&format!("max_rounds={value}")]).unwrap_err();
        let expected = "for option max_rounds: expected a whole number from 1 to 1000000, or none";
        assert_eq!(error, format!("bad value {value:?} {expected}"));
    }
}

#[test]
fn good_values_are_taken_by_name() {
    let pairs = ["out_of_dice=recycle_brains", "first_roll=free", "tiebreak=until_broken", "max_rounds=none"];
    let rules: TableRules = parsed(&pairs).unwrap();
    let expected = TableRules {
        out_of_dice: OutOfDice::RecycleBrains,
        first_roll: FirstRoll::Free,
        tiebreak: Tiebreak::UntilBroken,
        max_rounds: None,
    };
    assert_eq!(rules, expected);
    assert_eq!(parsed::<RaceRules>(&[]), Ok(RaceRules::default()));
    let rules: SoloRules = parsed(&["first_roll=mandatory"]).unwrap();
    assert_eq!(rules, SoloRules { first_roll: FirstRoll::Mandatory, ..SoloRules::default() });
}
