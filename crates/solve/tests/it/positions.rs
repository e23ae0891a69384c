//! Positions made by hand are accepted if a match can reach them, and refused with a reason otherwise.

use necrodome_rules::{
    bot::Bot,
    chance::Seeded,
    game::{Seat, Silent},
    names::Names,
    options::{parse, split_pair},
    play::{Memory, play_with},
    tokyo::{Face, Monster, Phase, Tokyo, TokyoView},
    zombie_dice::{Counts, DICE, OutOfDice, Race, RaceView, Solo, SoloRules, Table, TurnView},
};
use necrodome_solve::{Position, Solution, Solvable};
use std::sync::Arc;

/// Asks another bot, after checking the view.
struct Checked<G: Solvable>(Box<dyn Bot<G>>, Arc<G::Solution>);

impl<G: Solvable> Bot<G> for Checked<G> {
    fn act(&mut self, view: &G::View) -> G::Action {
        if let Err(why) = self.1.check(view) {
            panic!("{}: {why}: {}", G::ID, serde_json::to_string(view).unwrap());
        }
        self.0.act(view)
    }
}

fn all_of_a_match<G: Solvable>(set: &[&str]) {
    let set: Vec<_> = set.iter().map(|option| split_pair(option).unwrap()).collect();
    let rules: G::Rules = parse(&set).unwrap();
    let seats = *G::SEATS.start();
    let solution = G::solve(&rules, seats).unwrap();
    let names = Names::new((0..seats).map(|seat| format!("seat {seat}"))).unwrap();
    let mut chance = Seeded::new(7, "positions", 0);
    for kind in G::built_ins() {
        let spec = kind.name.parse().unwrap();
        let checked = |bot| Box::new(Checked::<G>(bot, solution.clone())) as Box<dyn Bot<G>>;
        let mut bots: Vec<_> = (0..seats as u64)
            .map(|seat| checked(kind.build(&spec, Seeded::new(1, "bot", seat)).unwrap()))
            .collect();
        for _ in 0..200 {
            let mut game = G::new(&names, &rules, &mut chance, &mut Silent).unwrap();
            let memory = &mut Memory::default();
            play_with(memory, &mut game, &mut bots, &mut chance, &mut Silent).unwrap();
        }
    }
}

#[test]
fn what_a_referee_asks_is_a_position() {
    for set in [&[][..], &["out_of_dice=recycle_brains"], &["first_roll=free"], &["first_roll=mandatory"]] {
        all_of_a_match::<Solo>(set);
        all_of_a_match::<Race>(set);
        all_of_a_match::<Table>(set);
    }
    all_of_a_match::<Table>(&["tiebreak=until_broken", "out_of_dice=recycle_brains"]);
    all_of_a_match::<Tokyo>(&[]);
}

fn turn(brains: u32, shotguns: u8, cup: Counts, brain_dice: Counts) -> TurnView {
    TurnView { brains, shotguns, hand: None, cup, brain_dice }
}

#[test]
fn dice_that_no_turn_comes_to_are_refused() {
    let counts = |green, yellow, red| Counts { green, yellow, red };
    let race = Race::solve(&Default::default(), 2).unwrap();
    let none = Counts::default();
    let ask = |turn: TurnView, score| {
        race.check(&RaceView { turn, score, opponent_score: 0 }).unwrap_err().to_string()
    };
    assert_eq!(
        ask(turn(0, 3, counts(6, 4, 0), none), 0),
        "with 3 shotguns the turn is over, and its brains are lost"
    );
    assert_eq!(ask(turn(0, 1, DICE, none), 0), "the other dice leave 0 shotguns, not 1");
    assert_eq!(ask(turn(0, 0, counts(7, 4, 3), none), 0), "7 green dice, but there are only 6");
    assert_eq!(
        ask(turn(0, 0, counts(250, 4, 3), counts(250, 0, 0)), 0),
        "500 green dice, but there are only 6"
    );
    assert_eq!(
        ask(turn(12, 0, counts(1, 0, 0), counts(5, 4, 3)), 0),
        "only 1 die left to roll, so the turn is over and banks 12 brains"
    );
    assert_eq!(
        ask(turn(13, 0, counts(5, 4, 3), counts(1, 0, 0)), 0),
        "13 brains, but 1 brain die: none go back into the cup unless out_of_dice=recycle_brains"
    );
    assert_eq!(ask(turn(1, 0, counts(3, 4, 3), counts(3, 0, 0)), 0), "3 brain dice, but only 1 brain");
    assert!(
        ask(turn(1, 0, counts(5, 4, 3), counts(1, 0, 0)), 0).starts_with("after a roll at least three dice")
    );
    assert_eq!(ask(turn(0, 0, DICE, none), 13), "the race is over: 13 are banked, and 13 win");

    let rules = SoloRules { out_of_dice: OutOfDice::RecycleBrains, ..SoloRules::default() };
    let solo = Solo::solve(&rules, 1).unwrap();
    let position = Position { cup: DICE, feet: none, shots: none, brains: 5 };
    assert_eq!(
        solo.graph().find(&position).unwrap_err().to_string(),
        "5 brain dice cannot have gone back into the cup: expected 11 to 13 each time"
    );
}

#[test]
fn monsters_that_no_match_knows_are_refused() {
    let tokyo = Tokyo::solve(&Default::default(), 2).unwrap();
    let view =
        |health: [u8; 2], points: [u32; 2], in_tokyo: Option<u16>, phase: Phase, current: u16| TokyoView {
            seat: Seat(0),
            current: Seat(current),
            monsters: vec![
                Monster { health: health[0], points: points[0] },
                Monster { health: health[1], points: points[1] },
            ],
            in_tokyo: in_tokyo.map(Seat),
            dice: [Face::One; 6],
            phase,
            turn: 1,
        };
    let (rolls, hit) = (Phase::Rolling { rerolls_left: 2 }, Phase::Yielding { damage: 1 });
    assert!(tokyo.check(&view([10, 10], [0, 0], None, rolls, 0)).is_ok());
    assert!(tokyo.check(&view([3, 8], [10, 12], Some(0), hit, 1)).is_ok());
    for (position, why) in [
        (view([0, 8], [1, 1], Some(0), rolls, 0), "you have health 0: expected 1 to 10"),
        (view([5, 11], [1, 1], Some(0), rolls, 0), "the other has health 11: expected 1 to 10"),
        (view([5, 5], [1, 20], Some(0), rolls, 0), "the other has won with 20 points"),
        (view([5, 5], [1, 1], None, rolls, 0), "Tokyo is empty only on the first turn"),
        (view([5, 5], [1, 0], Some(1), rolls, 0), "so they have at least 1 point"),
        (view([5, 5], [1, 0], Some(7), rolls, 0), "seat 7 in Tokyo"),
        (view([5, 5], [2, 0], Some(0), rolls, 0), "at least 3 points"),
        (view([5, 5], [3, 1], Some(0), rolls, 1), "the other rolls the dice"),
        (view([5, 5], [3, 1], Some(0), Phase::Rolling { rerolls_left: 3 }, 0), "1 or 2 rerolls"),
        (view([5, 5], [3, 1], Some(1), hit, 1), "only a monster in Tokyo"),
        (view([10, 5], [3, 1], Some(0), hit, 1), "health below 10"),
        (view([9, 5], [0, 1], Some(0), hit, 1), "at least 1 point"),
        (view([9, 5], [1, 1], Some(0), Phase::Yielding { damage: 0 }, 1), "1 to 6"),
        (view([9, 5], [1, 1], Some(0), Phase::Over, 1), "the match is over"),
    ] {
        let said = tokyo.check(&position).unwrap_err().to_string();
        assert!(said.contains(why), "{said}, not {why}");
    }
    let three = TokyoView {
        monsters: vec![Monster { health: 5, points: 5 }; 3],
        ..view([5, 5], [5, 5], Some(0), rolls, 0)
    };
    assert_eq!(
        tokyo.check(&three).unwrap_err().to_string(),
        "tokyo is solved for two seats, and this view is of 3"
    );
}
