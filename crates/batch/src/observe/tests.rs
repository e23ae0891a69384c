//! Tests of the layouts, by hand and by playing.

use super::*;
use necrodome_rules::{
    chance::{Chance, Seeded},
    game::{Move, Silent},
    infection::Infection,
    names::Names,
    options::parse,
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, Table},
};
use std::collections::HashMap;

fn rules<G: Game>(pairs: &[(&str, &str)]) -> G::Rules {
    let pairs: Vec<_> = pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    parse(&pairs).unwrap()
}

fn names(seats: usize) -> Names {
    Names::new((0..seats).map(|seat| format!("p{seat}"))).unwrap()
}

/// The observation, with the name of each number.
fn named<G: Observe>(rules: &G::Rules, view: &G::View, seats: usize) -> HashMap<String, i16> {
    let fields = G::fields(rules, seats);
    let mut out = vec![-1; fields.len()];
    G::observe(rules, view, &mut out);
    fields.into_iter().zip(out).map(|(field, number)| (field.name, number)).collect()
}

/// Plays random matches and checks, for every seat at every decision: numbers are within their fields, the mask marks exactly
/// the legal actions of the view, each action has one number, and rewards fit the outcome.
fn conformance<G: Observe>(seats: usize, pairs: &[(&str, &str)], matches: u64) {
    let rules = rules::<G>(pairs);
    let fields = G::fields(&rules, seats);
    let distinct: std::collections::HashSet<_> = fields.iter().map(|field| &field.name).collect();
    assert_eq!(distinct.len(), fields.len(), "names are distinct");
    assert!(fields.iter().all(|field| field.about.ends_with('.')));
    let actions = G::actions(seats);
    let mut chance = Seeded::new(1, "observe", seats as u64);
    for seed in 0..matches {
        let mut dice = Seeded::new(seed, "match", 0);
        let mut game = G::new(&names(seats), &rules, &mut dice, &mut Silent).unwrap();
        let (mut out, mut mask, mut returns) =
            (vec![0; fields.len()], vec![false; actions], vec![0.0; seats]);
        loop {
            for &seat in Seat::all(seats) {
                G::observe(&rules, &game.view(seat), &mut out);
                for (field, number) in fields.iter().zip(&out) {
                    assert!((field.low..=field.high).contains(number), "{field:?}: {number}");
                }
            }
            let [seat] = *game.to_act() else { break };
            let view = game.view(seat);
            mask.fill(true);
            G::mask(&view, &mut mask);
            let legal: Vec<_> = G::legal_actions(&view).unwrap().collect();
            let marked: Vec<usize> = (0..actions).filter(|&index| mask[index]).collect();
            let mut seen: Vec<G::Action> = Vec::new();
            for &index in &marked {
                let action = G::action(&view, index).unwrap();
                assert!(legal.contains(&action), "{action:?} is marked");
                assert!(!seen.contains(&action), "{action:?} has two numbers");
                seen.push(action);
            }
            for index in (0..actions).filter(|&index| !mask[index]) {
                let action = G::action(&view, index);
                assert!(action.is_none_or(|action| !legal.contains(&action)), "{index} is not marked");
            }
            assert_eq!(G::action(&view, actions), None);
            let choice = marked[chance.uniform(marked.len() as u32) as usize];
            let action = G::action(&view, choice).unwrap();
            game.apply(&[Move::Act(action)], &mut dice, &mut Silent).unwrap();
        }
        game.returns(&mut returns);
        let outcome = game.outcome().unwrap();
        for (a, b) in Seat::all(seats).iter().flat_map(|&a| Seat::all(seats).iter().map(move |&b| (a, b))) {
            let (a, b) = (a.index(), b.index());
            let (places, got) =
                (outcome.places[b].cmp(&outcome.places[a]), returns[a].total_cmp(&returns[b]));
            assert_eq!(places, got, "{outcome:?} {returns:?}");
        }
    }
}

#[test]
fn observations_masks_and_rewards_fit_the_games() {
    conformance::<Solo>(1, &[], 300);
    conformance::<Solo>(1, &[("out_of_dice", "recycle_brains"), ("first_roll", "mandatory")], 300);
    conformance::<Race>(2, &[], 100);
    conformance::<Race>(2, &[("out_of_dice", "recycle_brains"), ("max_rounds", "3")], 100);
    conformance::<Table>(2, &[], 40);
    conformance::<Table>(5, &[("tiebreak", "until_broken")], 20);
    conformance::<Table>(7, &[("out_of_dice", "recycle_brains"), ("max_rounds", "4")], 20);
    conformance::<Tokyo>(2, &[], 10);
    conformance::<Tokyo>(6, &[("max_turns", "12")], 10);
    conformance::<Infection>(2, &[("zombies", "1")], 30);
    conformance::<Infection>(7, &[("zombies", "2"), ("start_viruses", "9"), ("start_antibodies", "3")], 30);
}

/// Equal observations (and equal rules) must mean equal chances: an observation holds all numbers that a roll works with.
#[test]
fn the_dice_of_a_turn_can_be_read_off() {
    for out_of_dice in ["end_turn", "recycle_brains"] {
        let rules = rules::<Solo>(&[("out_of_dice", out_of_dice)]);
        let mut seen: HashMap<Vec<i16>, _> = HashMap::new();
        for seed in 0..3000 {
            let mut dice = Seeded::new(seed, "match", 0);
            let mut game = Solo::new(&names(1), &rules, &mut dice, &mut Silent).unwrap();
            for _ in 0..12 {
                if game.to_act().is_empty() {
                    break;
                }
                let view = game.view(Seat(0));
                let mut out = vec![0; Solo::fields(&rules, 1).len()];
                Solo::observe(&rules, &view, &mut out);
                let mut turn = view.turn;
                let feet = turn.footsteps();
                // What does not matter any more: which dice lie aside.
                turn.hand = None;
                if out_of_dice == "end_turn" {
                    turn.brain_dice = Default::default();
                }
                assert_eq!(*seen.entry(out).or_insert((turn, feet)), (turn, feet));
                game.apply(&[Move::Act(necrodome_rules::zombie_dice::Action::Go)], &mut dice, &mut Silent)
                    .unwrap();
            }
        }
        assert!(seen.len() > 500, "{}", seen.len());
    }
}

#[test]
fn a_table_tells_who_plays_after_whom() {
    let json = r#"{"turn":{"brains":2,"shotguns":1,"hand":null,"cup":{"green":4,"yellow":4,"red":2},
        "brain_dice":{"green":2,"yellow":0,"red":0}},"seat":2,"scores":[14,3,14,14],"playing":[0,2,3],"played":1,
        "rounds":6,"tiebreak":true}"#;
    let view = serde_json::from_str(json).unwrap();
    let named = named::<Table>(&Default::default(), &view, 4);
    let get = |name: &str| named[name];
    assert_eq!((get("brains"), get("cup_green"), get("rounds"), get("tiebreak")), (2, 4, 6, 1));
    assert_eq!(["score_0", "score_1", "score_2", "score_3"].map(get), [14, 14, 14, 3]);
    assert_eq!(["turn_0", "turn_1", "turn_2", "turn_3"].map(get), [2, 1, 3, 0]);
}

#[test]
fn tokyo_is_told_from_the_own_seat_on() {
    let json = r#"{"seat":1,"current":2,"monsters":[{"health":0,"points":5},{"health":4,"points":7},
        {"health":9,"points":1}],"in_tokyo":1,"dice":["one","two","three","heal","attack","attack"],
        "phase":{"type":"yielding","damage":2},"turn":9}"#;
    let view = serde_json::from_str(json).unwrap();
    let mut out = vec![0; 9 + 4 * 3];
    Tokyo::observe(&Default::default(), &view, &mut out);
    assert_eq!(out, [1, 0, 2, 0, 1, 2, 3, 4, 4, 4, 7, 1, 0, 9, 1, 0, 1, 0, 5, 0, 0]);
    assert_eq!(Tokyo::fields(&Default::default(), 3).len(), out.len());
    let keep = Tokyo::action(&view, 0b10_0001).unwrap();
    let json = serde_json::to_string(&keep).unwrap();
    assert_eq!(json, r#"{"type":"keep","dice":[true,false,false,false,false,true]}"#);
}

#[test]
fn infection_tells_others_by_their_distance() {
    let json = r#"{"seat":2,"question":{"type":"answer","to":0},"told":{"identity":"zombie","stock":7},"applied":1,
        "public":{"turns":3,"humans":3,"zombies":1,"most_antibodies":4,"most_viruses":7},"max_turns":8,
        "has_met":true,"partners":[0,3]}"#;
    let view = serde_json::from_str(json).unwrap();
    let named = named::<Infection>(&Default::default(), &view, 4);
    let get = |name: &str| named[name];
    assert_eq!(["question", "identity", "stock", "applied"].map(get), [2, 1, 7, 1]);
    assert_eq!(["turns", "turns_left", "has_met"].map(get), [3, 5, 1]);
    assert_eq!(["other_1", "other_2", "other_3"].map(get), [1, 2, 0]);
    let text = |index| serde_json::to_string(&Infection::action(&view, index)).unwrap();
    assert_eq!(text(1 + 6), r#"{"type":"answer","commit":{"type":"virus","count":6},"antidote":false}"#);
    assert_eq!(
        text(1 + 7 + 1),
        r#"{"type":"contact","with":3,"commit":{"type":"precaution"},"antidote":false}"#
    );
    assert_eq!(text(29), r#"{"type":"end","antidote":true}"#);
    assert_eq!(text(58), "null");
}

#[test]
fn places_are_worth_the_same_in_all() {
    let worth = |places: &[u16]| {
        by_place(&Outcome { places: places.to_vec(), scores: vec![0; places.len()], turns: 1 })
    };
    assert_eq!(worth(&[2, 1]), [-1.0, 1.0]);
    assert_eq!(worth(&[1, 1]), [0.0, 0.0]);
    assert_eq!(worth(&[3, 1, 2, 5, 4]), [0.0, 1.0, 0.5, -1.0, -0.5]);
    assert_eq!(worth(&[1, 3, 1, 4]), [2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0, -1.0]);
    assert_eq!(worth(&[1, 2, 2]), [1.0, -0.5, -0.5]);
    assert_eq!(worth(&[1]), [0.0]);
}

#[test]
fn a_race_gives_ten() {
    let mut dice = Seeded::new(3, "match", 0);
    let mut game = Race::new(&names(2), &Default::default(), &mut dice, &mut Silent).unwrap();
    let mut returns = [9.0; 2];
    while let [seat] = *game.to_act() {
        game.returns(&mut returns);
        assert_eq!(returns, [0.0; 2]);
        let index = usize::from(game.view(seat).turn.brains < 2);
        let action = Race::action(&game.view(seat), index).unwrap();
        game.apply(&[Move::Act(action)], &mut dice, &mut Silent).unwrap();
    }
    game.returns(&mut returns);
    assert_eq!(returns, [game.reward(Seat(0)) as f32, game.reward(Seat(1)) as f32]);
    assert_eq!(returns[0].abs(), 10.0);
}
