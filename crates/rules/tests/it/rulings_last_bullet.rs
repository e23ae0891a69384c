//! The rulings of Last Bullet (rulebook, section 2), each played out on a board.
//!
//! Written from the rulebook. Positions are described in text (see [`scene`]), and so are orders (see
//! [`orders`]).

use necrodome_rules::{
    chance::{Chance, Probability, Recorder, Scripted, Seeded, enumerate},
    game::{Audience, Game, Logged, Move, Rejected, Seat, Silent, restore},
    last_bullet::{
        Action, Direction, Event, Illegal, Kind, LastBullet, LastBulletRules, NOBODY, Order, Piece, Replaced,
        ShotResult, Square, WhoIs,
    },
    names::{Names, SetupError},
    options,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

// ---- Helpers ----------------------------------------------------------------------------------------------

/// The eight squares around one, as offsets.
const AROUND: [(i32, i32); 8] = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

/// All offsets up to a length, but not 0.
fn around(reach: i32) -> impl Iterator<Item = (i32, i32)> {
    let all = (-reach..=reach).flat_map(move |dy| (-reach..=reach).map(move |dx| (dx, dy)));
    all.filter(|&offset| offset != (0, 0))
}

/// Chebyshev length.
fn length((dx, dy): (i32, i32)) -> i32 {
    dx.abs().max(dy.abs())
}

/// The middle, the middles of the edges and the corners of the smallest board.
const PLACES: [(i32, i32); 9] =
    [(8, 8), (0, 8), (16, 8), (8, 0), (8, 16), (0, 0), (16, 0), (0, 16), (16, 16)];

/// A position at the time of decision. Pieces are separated by spaces, each `name@x,y`, with `#number` after
/// the name and `*bullets` at the end where they matter. `Zombie` and `DeadBody` are what they say; any other
/// name is a living copy, entries in the order of their first mention. An entry with fewer copies than the
/// others has lost some: zombies and dead bodies take their places. Numbers of living copies are 0, 1, 2...
/// in the order of the entries.
fn scene(side: u16, pieces: &str) -> LastBullet {
    scene_with(side, pieces, |_| {})
}

/// Makes a scene like `scene`, with a change in the JSON of the state.
fn scene_with(side: u16, pieces: &str, edit: impl FnOnce(&mut Value)) -> LastBullet {
    let mut entries: Vec<&str> = Vec::new();
    let mut living: Vec<Vec<Value>> = Vec::new();
    let mut others: Vec<Value> = Vec::new();
    for text in pieces.split_whitespace() {
        let (who, place) = text.split_once('@').unwrap();
        let (name, number) = who.split_once('#').unwrap_or((who, ""));
        let (place, bullets) = place.split_once('*').unwrap_or((place, "0"));
        let (x, y) = place.split_once(',').unwrap();
        let [x, y, bullets]: [u32; 3] = [x, y, bullets].map(|n| n.parse().unwrap());
        let number: usize = number.parse().unwrap_or(1000 + others.len());
        let square = json!({"x": x, "y": y});
        let dead = match name {
            "Zombie" => "zombie",
            "DeadBody" => "corpse",
            _ => {
                let seat = entries.iter().position(|&entry| entry == name).unwrap_or_else(|| {
                    entries.push(name);
                    living.push(Vec::new());
                    entries.len() - 1
                });
                living[seat].push(json!({"kind": {"player": seat}, "square": square, "bullets": bullets}));
                continue;
            }
        };
        others.push(json!({"kind": dead, "number": number, "square": square, "bullets": bullets}));
    }
    let copies = living.iter().map(Vec::len).max().unwrap();
    let mut all: Vec<Value> = Vec::new();
    let mut others = others.into_iter();
    for entry in &mut living {
        for slot in 0..copies {
            all.push(match entry.get_mut(slot) {
                Some(piece) => {
                    piece["number"] = json!(all.len());
                    piece.take()
                }
                None => others.next().expect("a zombie or dead body in place of a lost copy"),
            });
        }
    }
    all.extend(others);
    let squares = u64::from(side) * u64::from(side);
    let millionths = ((entries.len() * copies) as u64 * 1_000_000).div_ceil(squares);
    let mut state = json!({
        "rules": {"copies": copies, "density": millionths as f64 / 1e6, "max_turns": null},
        "entries": entries,
        "clock": 0,
        "pieces": all,
        "numbers": {"given": 5000, "key": [0, 0, 0, 0]},
        "scores": vec![0; entries.len()],
        "over": false,
    });
    edit(&mut state);
    let game: LastBullet = restore(&state.to_string()).unwrap();
    assert_eq!(game.side(), side);
    game
}

/// The number of the piece named by `#number` or by a name that only one piece has.
fn number(game: &LastBullet, who: &str) -> u32 {
    if let Some(number) = who.strip_prefix('#') {
        return number.parse().unwrap();
    }
    let mut named = game.pieces().iter().filter(|piece| game.name(piece.kind.into()) == who);
    let number = named.next().unwrap_or_else(|| panic!("nobody is {who}")).number;
    assert_eq!(named.next(), None, "more than one is {who}");
    number
}

/// Reads the orders of all entries, written `ann east, bob shoots cat, #3 southwest`. A piece that is not named stays.
fn orders(game: &LastBullet, text: &str) -> Vec<Move<Action>> {
    let mut actions = vec![Action::default(); game.to_act().len()];
    for order in text.split(',').map(str::trim).filter(|order| !order.is_empty()) {
        let words: Vec<&str> = order.split_whitespace().collect();
        let copy = number(game, words[0]);
        let seat = game.pieces().iter().find(|piece| piece.number == copy).and_then(Piece::player).unwrap();
        let order = match words[1..] {
            ["shoots", target] => Order::Shoot { copy, target: number(game, target) },
            [direction] => Order::Move { copy, direction: serde_json::from_value(json!(direction)).unwrap() },
            _ => panic!("not an order: {order}"),
        };
        let place = game.to_act().iter().position(|&acts| acts == seat).unwrap();
        actions[place].orders.push(order);
    }
    actions.into_iter().map(Move::Act).collect()
}

/// Plays steps 4 to 8 with these orders, and steps 1 to 3 of the next turn. The turn must ask for all picks.
fn play(game: &mut LastBullet, text: &str, picks: &[u32]) -> Vec<Event> {
    apply(game, &orders(game, text), picks)
}

fn apply(game: &mut LastBullet, moves: &[Move<Action>], picks: &[u32]) -> Vec<Event> {
    logged(game, moves, picks).into_iter().map(|logged| logged.event).collect()
}

/// Plays a turn like `turn`, and returns who hears of each event.
fn turn_log(game: &mut LastBullet, text: &str, rises: (i32, i32)) -> Vec<Logged<Event>> {
    let picks = [index(game.side(), rises)];
    logged(game, &orders(game, text), &picks)
}

fn logged(game: &mut LastBullet, moves: &[Move<Action>], picks: &[u32]) -> Vec<Logged<Event>> {
    let mut script = Scripted::new(picks);
    let mut log: Vec<Logged<Event>> = Vec::new();
    script.run(|chance| game.apply(moves, chance, &mut log)).unwrap().unwrap();
    script.finish().unwrap();
    game.invariants().unwrap();
    log
}

/// Plays a turn in which no zombie wanders: the only pick is where the next one rises.
fn turn(game: &mut LastBullet, text: &str, rises: (i32, i32)) -> Vec<Event> {
    let picks = [index(game.side(), rises)];
    play(game, text, &picks)
}

/// The number of a square, rows from the north; coordinates beyond the edges wrap around.
fn index(side: u16, at: (i32, i32)) -> u32 {
    let (x, y) = wrap(side, at);
    (y * i32::from(side) + x) as u32
}

fn wrap(side: u16, (x, y): (i32, i32)) -> (i32, i32) {
    (x.rem_euclid(side.into()), y.rem_euclid(side.into()))
}

fn square(side: u16, at: (i32, i32)) -> Square {
    let (x, y) = wrap(side, at);
    Square { x: x as u16, y: y as u16 }
}

fn beside((x, y): (i32, i32), (dx, dy): (i32, i32)) -> (i32, i32) {
    (x + dx, y + dy)
}

/// `name@x,y`, wrapped around.
fn put(name: &str, side: u16, at: (i32, i32)) -> String {
    let (x, y) = wrap(side, at);
    format!("{name}@{x},{y}")
}

fn piece(game: &LastBullet, x: i32, y: i32) -> Option<Piece> {
    game.piece_at(square(game.side(), (x, y))).copied()
}

/// The piece on a square: `name`, `name*bullets`, or an empty text.
fn at(game: &LastBullet, x: i32, y: i32) -> String {
    piece(game, x, y).map_or(String::new(), |piece| label(game, &piece))
}

fn label(game: &LastBullet, piece: &Piece) -> String {
    let name = game.name(piece.kind.into());
    if piece.bullets == 0 { name.to_string() } else { format!("{name}*{}", piece.bullets) }
}

/// Everything on the board, by square, without identity numbers.
fn everything(game: &LastBullet) -> BTreeMap<Square, String> {
    game.pieces().iter().map(|piece| (piece.square, label(game, piece))).collect()
}

fn json_of<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

fn scores(game: &LastBullet) -> Vec<u32> {
    serde_json::from_value(serde_json::to_value(game).unwrap()["scores"].clone()).unwrap()
}

fn names(names: &[&str]) -> Names {
    Names::new(names).unwrap()
}

fn rules(json: Value) -> LastBulletRules {
    serde_json::from_value(json).unwrap()
}

fn start(entries: usize, options: Value, seed: u64) -> LastBullet {
    let names = Names::new((0..entries).map(|i| format!("entry{i}"))).unwrap();
    let mut chance = PlainNumbers(Seeded::new(seed, "test", 0));
    LastBullet::new(&names, &rules(options), &mut chance, &mut Silent).unwrap()
}

/// Gives the secret order of identity numbers the key 0, so that they are counted; all else is the inner chance's.
struct PlainNumbers<C>(C);

impl<C: Chance> Chance for PlainNumbers<C> {
    fn uniform(&mut self, n: u32) -> u32 {
        if n == u32::MAX { 0 } else { self.0.uniform(n) }
    }
}

/// Orders at random: mostly moves and shots at somebody seen, some at nobody, some copies without any.
fn random_moves(game: &LastBullet, chance: &mut Seeded) -> Vec<Move<Action>> {
    let mut moves = Vec::new();
    for &seat in game.to_act() {
        let mut orders = Vec::new();
        for copy in game.view(seat).copies {
            let seen = copy.seen.len() as u32;
            let copy_number = copy.number;
            match chance.uniform(12) {
                0 => {}
                1 => orders.push(Order::Shoot { copy: copy_number, target: chance.uniform(300) }),
                2 => orders.push(Order::Shoot { copy: copy_number, target: copy_number }),
                3..6 if seen > 0 => {
                    let target = copy.seen[chance.uniform(seen) as usize].number;
                    orders.push(Order::Shoot { copy: copy_number, target });
                }
                _ => {
                    let direction = Direction::ALL[chance.uniform(9) as usize];
                    orders.push(Order::Move { copy: copy_number, direction });
                }
            }
        }
        moves.push(if chance.uniform(20) == 0 { Move::Forfeit } else { Move::Act(Action { orders }) });
    }
    moves
}

// ---- Set-up -----------------------------------------------------------------------------------------------

#[test]
fn the_side_is_the_root_of_pieces_over_density_but_at_least_17() {
    for (entries, copies, density, side) in [
        (1, 50, 0.06, 29),  // 833.3
        (2, 50, 0.06, 41),  // 1666.7
        (5, 50, 0.06, 65),  // 4166.7
        (1, 1, 0.06, 17),   // 16.7: too small
        (1, 17, 0.06, 17),  // 283.3
        (1, 18, 0.06, 18),  // 300
        (1, 24, 0.06, 20),  // 400, a square
        (3, 50, 0.06, 50),  // 2500, a square
        (1, 151, 0.06, 51), // a little more
        (12, 50, 0.06, 100),
        (27, 50, 0.06, 150),
        (1, 289, 1.0, 17), // every square is taken
        (1, 290, 1.0, 18),
        (2, 162, 1.0, 18),
        (1, 1, 0.0025, 20),
        (1, 1, 0.002499, 21),
    ] {
        let game = start(entries, json!({"copies": copies, "density": density}), 1);
        assert_eq!(game.side(), side, "{entries} entries, {copies} copies, density {density}");
        assert_eq!(game.view(Seat(0)).side, side);
    }
}

#[test]
fn the_side_is_the_smallest_that_holds_the_density() {
    let mut chance = Seeded::new(1, "sides", 0);
    for seed in 0..100 {
        let (entries, copies) = (1 + chance.uniform(5), 1 + chance.uniform(60));
        let millionths = u64::from(20_000 + chance.uniform(980_001));
        let options = json!({"copies": copies, "density": millionths as f64 / 1e6});
        let side = u64::from(start(entries as usize, options, seed).side());
        let holds = |side: u64| side * side * millionths >= u64::from(entries * copies) * 1_000_000;
        assert!(holds(side) && (side == 17 || !holds(side - 1)), "{entries} {copies} {millionths}: {side}");
    }
}

#[test]
fn the_defaults_are_fifty_copies_at_six_percent_without_a_last_turn() {
    let json = serde_json::to_value(LastBulletRules::default()).unwrap();
    assert_eq!(json, json!({"copies": 50, "density": 0.06, "max_turns": null}));
}

#[test]
fn each_copy_starts_on_its_own_square_with_three_bullets() {
    // On a full board the zombie that rises replaces one copy and bites the eight around it.
    let game = start(1, json!({"copies": 289, "density": 1.0}), 3);
    let players: Vec<&Piece> = game.pieces().iter().filter(|piece| piece.player().is_some()).collect();
    assert_eq!((game.pieces().len(), players.len()), (289, 280));
    assert!(players.iter().all(|piece| piece.bullets == 3));
    assert_eq!(everything(&game).len(), 289, "each on its own square");
    for seed in 0..50 {
        let game = start(4, json!({"copies": 20}), seed);
        assert_eq!(everything(&game).len(), game.pieces().len());
        for (index, piece) in game.pieces()[..80].iter().enumerate() {
            let seat = Seat((index / 20) as u16);
            assert!(piece.kind == Kind::Zombie || (piece.player(), piece.bullets) == (Some(seat), 3));
        }
    }
}

#[test]
fn the_start_square_and_the_first_rise_are_uniformly_random() {
    let (names, rules) = (names(&["ann"]), rules(json!({"copies": 1})));
    let starts = enumerate(289 * 289, |chance| {
        let mut log: Vec<Logged<Event>> = Vec::new();
        let game = LastBullet::new(&names, &rules, &mut PlainNumbers(chance), &mut log).unwrap();
        let rose = log.iter().find_map(|logged| match logged.event {
            Event::Rose { square, .. } => Some(square),
            _ => None,
        });
        (game.pieces()[0].square, rose.unwrap())
    })
    .unwrap();
    assert_eq!(starts.len(), 289 * 289);
    assert!(starts.values().all(|&probability| probability == Probability::new(1, 289 * 289)));
}

#[test]
fn a_density_of_zero_or_above_one_is_refused() {
    for bad in ["0", "-0.1", "1.1", "2", "1e9", "null", "\"half\""] {
        let json = format!(r#"{{"density": {bad}}}"#);
        assert!(serde_json::from_str::<LastBulletRules>(&json).is_err(), "{bad}");
        let pair = ("density".to_string(), bad.to_string());
        let error = options::parse::<LastBulletRules>(&[pair]).unwrap_err().to_string();
        assert!(error.contains("option density: expected a number from "), "{error}");
    }
    assert!(serde_json::from_str::<LastBulletRules>(r#"{"density": 1}"#).is_ok());
}

#[test]
fn a_board_that_would_be_too_large_is_refused_with_its_side() {
    let rules = rules(json!({"copies": 50, "density": 0.000001}));
    let new = LastBullet::new(&names(&["ann"]), &rules, &mut Seeded::new(1, "test", 0), &mut Silent);
    let error = new.unwrap_err();
    assert!(matches!(error, SetupError::Option { option: "density", .. }));
    // The root of 50 million is 7071.07.
    assert!(error.to_string().contains("7072"), "{error}");
}

#[test]
fn the_names_of_zombies_and_corpses_are_taken_in_any_case() {
    for taken in ["Zombie", "zombie", "ZOMBIE", "zOmBiE", "DeadBody", "deadbody", "DEADBODY", "deadBody"] {
        for table in [vec![taken], vec!["ann", taken]] {
            let names = names(&table);
            let new = LastBullet::new(
                &names,
                &LastBulletRules::default(),
                &mut Seeded::new(1, "t", 0),
                &mut Silent,
            );
            assert!(matches!(new, Err(SetupError::Name { name, .. }) if name == taken), "{taken}");
        }
    }
    for free in ["Zombies", "Dead Body", "Undead"] {
        let rules = LastBulletRules::default();
        let new = LastBullet::new(&names(&[free]), &rules, &mut Seeded::new(1, "t", 0), &mut Silent);
        assert!(new.is_ok(), "{free}");
    }
}

// ---- Steps 1 and 2: rising and biting ---------------------------------------------------------------------

#[test]
fn a_zombie_rises_on_an_empty_square() {
    let mut game = scene(17, "ann@2,2*3");
    let events = turn(&mut game, "", (10, 9));
    assert_eq!(at(&game, 10, 9), "Zombie");
    assert_eq!(game.pieces().len(), 2);
    let number = number(&game, "Zombie");
    let rose = Event::Rose { square: Square { x: 10, y: 9 }, number, replaced: None };
    assert_eq!(events, [rose]);
}

#[test]
fn a_zombie_that_rises_under_a_player_replaces_it_and_its_bullets_are_lost() {
    let mut game = scene(17, "ann@2,2*3 bob@10,9*3");
    let events = turn(&mut game, "", (10, 9));
    assert_eq!(at(&game, 10, 9), "Zombie");
    assert_eq!(game.pieces().len(), 2);
    assert_eq!(game.to_act(), [Seat(0)]);
    let replaced = Some(Replaced { who: WhoIs::entry(Seat(1)), number: 1 });
    assert!(matches!(events[0], Event::Rose { replaced: was, .. } if was == replaced), "{events:?}");
    assert_eq!(events[1], Event::EntryOut { seat: Seat(1), score: 0 });
}

#[test]
fn a_zombie_that_rises_under_a_corpse_replaces_it_and_frees_the_square() {
    let mut game = scene(17, "ann@2,9 DeadBody#90@10,9*3");
    let events = turn(&mut game, "", (10, 9));
    assert_eq!(at(&game, 10, 9), "Zombie");
    let replaced = Some(Replaced { who: WhoIs::CORPSE, number: 90 });
    assert!(matches!(events[0], Event::Rose { replaced: was, .. } if was == replaced), "{events:?}");
    // It walks away, and nothing is left behind.
    turn(&mut game, "", (15, 0));
    assert_eq!((at(&game, 9, 9), at(&game, 10, 9)), ("Zombie".into(), String::new()));
}

#[test]
fn a_zombie_that_rises_under_a_zombie_is_somebody_new() {
    let mut game = scene(17, "ann@2,9 Zombie#90@10,9");
    // The old one takes a step to 9,9 first.
    let events = turn(&mut game, "", (9, 9));
    assert_eq!(game.pieces().len(), 2);
    assert!(piece(&game, 9, 9).is_some_and(|zombie| zombie.kind == Kind::Zombie && zombie.number != 90));
    let replaced = Some(Replaced { who: WhoIs::ZOMBIE, number: 90 });
    assert!(matches!(events[0], Event::Rose { replaced: was, .. } if was == replaced), "{events:?}");
}

#[test]
fn a_zombie_bites_within_distance_one_across_all_edges_and_corners() {
    for place in PLACES {
        for (dx, dy) in around(2) {
            let mut game = scene(17, &put("ann", 17, place));
            turn(&mut game, "", beside(place, (dx, dy)));
            let bitten = length((dx, dy)) <= 1;
            let expected = if bitten { "Zombie" } else { "ann" };
            assert_eq!(at(&game, place.0, place.1), expected, "{place:?}, zombie at {dx},{dy}");
            assert_eq!(game.outcome().is_some(), bitten);
        }
    }
}

#[test]
fn whoever_is_bitten_gets_a_new_number_and_loses_its_bullets() {
    let mut game = scene(17, "ann@5,5*3 bob@12,12*3");
    let events = turn(&mut game, "", (6, 6));
    let bitten = piece(&game, 5, 5).unwrap();
    assert_eq!((bitten.kind, bitten.bullets), (Kind::Zombie, 0));
    let rose = piece(&game, 6, 6).unwrap().number;
    assert!(![0, 1, rose].contains(&bitten.number));
    assert!(
        events.contains(&Event::Bitten { seat: Seat(0), number: 0, zombie: bitten.number }),
        "{events:?}"
    );
}

#[test]
fn a_bite_makes_no_chain_in_the_same_turn() {
    // The zombie rises in the west of ann; the others stand shoulder to shoulder in the east of her.
    let mut game = scene(17, "ann@5,5 bob@6,5 cat@7,5 dan@8,5");
    turn(&mut game, "", (4, 5));
    assert_eq!([5, 6, 7, 8].map(|x| at(&game, x, 5)), ["Zombie", "bob", "cat", "dan"]);
    // Each wants the square of somebody who stays, so nobody moves, and the next one is bitten.
    turn(&mut game, "", (8, 13));
    assert_eq!([5, 6, 7, 8].map(|x| at(&game, x, 5)), ["Zombie", "Zombie", "cat", "dan"]);
}

#[test]
fn all_who_stand_next_to_zombies_are_bitten_at_once() {
    let ring: Vec<String> =
        AROUND.iter().enumerate().map(|(i, &d)| put(&format!("p{i}"), 17, beside((0, 0), d))).collect();
    let mut game = scene(17, &format!("{} far@8,8", ring.join(" ")));
    turn(&mut game, "", (0, 0));
    assert_eq!(game.to_act(), [Seat(8)]);
    let zombies = game.pieces().iter().filter(|piece| piece.kind == Kind::Zombie);
    let numbers: BTreeSet<u32> = zombies.map(|zombie| zombie.number).collect();
    assert_eq!(numbers.len(), 9);
}

#[test]
fn a_corpse_is_not_bitten_and_does_not_bite() {
    let mut game = scene(17, "ann@5,5 DeadBody#90@6,5");
    turn(&mut game, "", (7, 5));
    assert_eq!([5, 6, 7].map(|x| at(&game, x, 5)), ["ann", "DeadBody", "Zombie"]);
    assert_eq!(piece(&game, 6, 5).unwrap().number, 90);
}

// ---- Step 3: scoring --------------------------------------------------------------------------------------

#[test]
fn an_entry_scores_the_last_clock_at_which_it_had_a_living_copy() {
    let pieces = "ann@5,5 ann@14,1 bob@10,10 bob@12,12 cat@1,10 cat@2,15";
    let mut game = scene_with(17, pieces, |state| {
        state["clock"] = json!(7);
        state["scores"] = json!([7, 7, 7]);
    });
    // Both copies of bob are bitten at the start of turn 8.
    turn(&mut game, "", (11, 11));
    assert_eq!((game.clock(), scores(&game)), (8, vec![8, 7, 8]));
    let events = turn(&mut game, "", (5, 5));
    assert_eq!((game.clock(), scores(&game)), (9, vec![9, 7, 9]), "ann has another copy");
    assert!(!events.iter().any(|event| matches!(event, Event::EntryOut { .. })));
}

#[test]
fn whoever_dies_before_the_first_decision_scores_zero() {
    let rules = rules(json!({"copies": 1}));
    let mut script = Scripted::new([index(17, (5, 5)), 1, 2, 3, 4, index(17, (6, 6))]);
    let mut log: Vec<Logged<Event>> = Vec::new();
    let game =
        script.run(|chance| LastBullet::new(&names(&["ann"]), &rules, chance, &mut log)).unwrap().unwrap();
    script.finish().unwrap();
    assert_eq!([(5, 5), (6, 6)].map(|(x, y)| at(&game, x, y)), ["Zombie", "Zombie"]);
    assert_eq!(game.to_act(), []);
    let outcome = game.outcome().unwrap();
    assert_eq!((outcome.scores, outcome.places), (vec![0], vec![1]));
}

#[test]
fn whoever_is_shot_scores_the_clock_of_that_turn() {
    let mut game = scene_with(17, "ann@5,5*3 bob@7,5", |state| {
        state["clock"] = json!(4);
        state["scores"] = json!([4, 4]);
    });
    let events = turn(&mut game, "ann shoots bob", (13, 13));
    assert_eq!(scores(&game), [5, 4]);
    assert!(events.contains(&Event::EntryOut { seat: Seat(1), score: 4 }));
    play(&mut game, "ann shoots ann", &[]);
    let outcome = game.outcome().unwrap();
    assert_eq!((outcome.scores, outcome.places), (vec![5, 4], vec![1, 2]));
}

#[test]
fn entries_that_live_equally_long_share_a_place() {
    let mut game = scene(17, "ann@5,5*3 bob@7,5*3 cat@9,9");
    turn(&mut game, "", (9, 10));
    play(&mut game, "ann shoots bob, bob shoots ann", &[]);
    let outcome = game.outcome().unwrap();
    assert_eq!((outcome.scores, outcome.places), (vec![1, 1, 0], vec![1, 1, 3]));
}

// ---- Step 4: zombies decide -------------------------------------------------------------------------------

/// The step of a zombie at 12,12 on a board of side 25 with these players, as an offset.
fn zombie_step(players: &[(i32, i32)], picks: &[u32]) -> (i32, i32) {
    let centre = (12, 12);
    let all: Vec<String> =
        players.iter().enumerate().map(|(i, &d)| put(&format!("p{i}"), 25, beside(centre, d))).collect();
    let mut game = scene(25, &format!("{} Zombie#90@12,12", all.join(" ")));
    let picks: Vec<u32> = picks.iter().copied().chain([index(25, (0, 0))]).collect();
    play(&mut game, "", &picks);
    let zombie = game.pieces().iter().find(|piece| piece.number == 90).unwrap();
    (i32::from(zombie.square.x) - 12, i32::from(zombie.square.y) - 12)
}

#[test]
fn a_zombie_steps_toward_the_nearest_player_it_sees() {
    for (dx, dy) in around(8) {
        if length((dx, dy)) > 1 {
            let step = zombie_step(&[(dx, dy)], &[]);
            assert_eq!(step, (dx.signum(), dy.signum()), "a player at {dx},{dy}");
        }
    }
    assert_eq!(zombie_step(&[(-5, 0), (4, 4)], &[]), (1, 1), "4 is nearer than 5");
    assert_eq!(zombie_step(&[(-4, -4), (0, 5)], &[]), (-1, -1), "distance is Chebyshev");
    assert_eq!(zombie_step(&[(9, 0), (0, -8)], &[]), (0, -1), "9 is not seen");
}

#[test]
fn a_zombie_goes_for_the_westmost_of_the_nearest_and_then_for_the_northmost() {
    assert_eq!(zombie_step(&[(3, -3), (-3, 3)], &[]), (-1, 1));
    assert_eq!(zombie_step(&[(-3, 3), (3, -3)], &[]), (-1, 1));
    assert_eq!(zombie_step(&[(-3, 3), (-3, -1), (-2, -3)], &[]), (-1, -1));
    assert_eq!(zombie_step(&[(-3, 2), (-3, 1)], &[]), (-1, 1));
    assert_eq!(zombie_step(&[(0, 4), (0, -4)], &[]), (0, -1));
    assert_eq!(zombie_step(&[(1, -4), (0, 4)], &[]), (0, 1), "west counts before north");
    assert_eq!(zombie_step(&[(4, 4), (4, -4), (4, 0)], &[]), (1, -1));
}

#[test]
fn westmost_is_meant_as_the_zombie_sees_it_across_the_edge() {
    // The zombie stands at the western edge; bob is in the west of it, at the far end of the board.
    let mut game = scene(17, "ann@3,8 bob@14,8 Zombie#90@0,8");
    turn(&mut game, "", (8, 0));
    assert_eq!(at(&game, 16, 8), "Zombie");
    // And at the northern edge, where cat is in the north of it.
    let mut game = scene(17, "ann@8,3 cat@8,14 Zombie#90@8,0");
    turn(&mut game, "", (0, 8));
    assert_eq!(at(&game, 8, 16), "Zombie");
}

#[test]
fn a_zombie_without_a_player_in_sight_makes_one_of_nine_moves_at_random() {
    for far in [(9, 0), (-9, 9), (0, -9)] {
        let steps: BTreeSet<(i32, i32)> = (0..9).map(|pick| zombie_step(&[far], &[pick])).collect();
        let nine: BTreeSet<(i32, i32)> = AROUND.into_iter().chain([(0, 0)]).collect();
        assert_eq!(steps, nine, "each pick is a move of its own");
    }
    // All nine are equally likely.
    let game = scene(25, "ann@3,12 Zombie#90@12,12");
    let moves = orders(&game, "");
    let rise = 625;
    let squares = enumerate(9 * rise, |chance| {
        let mut game = game.clone();
        game.apply(&moves, chance, &mut Silent).unwrap();
        game.pieces().iter().find(|piece| piece.number == 90).map(|zombie| zombie.square)
    })
    .unwrap();
    // With 1 in 625 the next zombie rises under it.
    let expected = Probability::new(624, 9 * 625);
    let kept: Vec<_> = squares.iter().filter(|(square, _)| square.is_some()).collect();
    assert_eq!(kept.len(), 9);
    assert!(kept.iter().all(|&(_, &probability)| probability == expected), "{kept:?}");
}

#[test]
fn zombies_do_not_follow_zombies_or_corpses() {
    let mut game = scene(25, "ann@22,12 Zombie#90@12,12 Zombie#91@10,12 DeadBody#92@14,14");
    // Both wander: one stays, the other too; were anybody followed, the script would be left over.
    play(&mut game, "", &[4, 4, index(25, (2, 2))]);
    assert_eq!((at(&game, 12, 12), at(&game, 10, 12)), ("Zombie".into(), "Zombie".into()));
}

#[test]
fn zombies_decide_from_the_positions_before_anybody_moves() {
    // Ann leaves the sight of the zombie, cat leaves the nearest square: both are followed to where they
    // were.
    let mut game = scene(25, "ann@20,12 Zombie#90@12,12");
    turn(&mut game, "ann east", (1, 1));
    assert_eq!((at(&game, 13, 12), at(&game, 21, 12)), ("Zombie".into(), "ann".into()));
    let mut game = scene(25, "bob@16,12 cat@12,9 Zombie#90@12,12");
    turn(&mut game, "cat northwest, bob west", (1, 1));
    assert_eq!(at(&game, 12, 11), "Zombie");
}

// ---- Views ------------------------------------------------------------------------------------------------

#[test]
fn a_copy_sees_exactly_eight_squares_far_across_all_edges_and_corners() {
    let side = 25;
    for place in [(12, 12), (0, 12), (24, 12), (12, 0), (12, 24), (0, 0), (24, 0), (0, 24), (24, 24)] {
        for (dx, dy) in around(9) {
            let corpse = put("DeadBody#90", side, beside(place, (dx, dy)));
            let game = scene(side, &format!("{} {corpse}", put("ann", side, place)));
            let view = serde_json::to_value(game.view(Seat(0))).unwrap();
            let seen = length((dx, dy)) <= 8;
            let expected = if seen { json!([[dx, dy, 1, 90]]) } else { json!([]) };
            assert_eq!(view["copies"][0]["seen"], expected, "from {place:?}, a corpse at {dx},{dy}");
        }
    }
}

#[test]
fn on_the_smallest_board_a_copy_sees_every_other_piece_once() {
    let all: Vec<String> = (0..289)
        .map(|i| (i % 17, i / 17))
        .filter(|&at| at != (3, 14))
        .map(|at| put("DeadBody", 17, at))
        .collect();
    let game = scene(17, &format!("ann@3,14 {}", all.join(" ")));
    let view = game.view(Seat(0));
    let places: BTreeSet<(i8, i8)> = view.copies[0].seen.iter().map(|seen| (seen.dx, seen.dy)).collect();
    let numbers: BTreeSet<u32> = view.copies[0].seen.iter().map(|seen| seen.number).collect();
    assert_eq!((view.copies[0].seen.len(), places.len(), numbers.len()), (288, 288, 288));
    assert!(places.iter().all(|&(dx, dy)| dx.abs() <= 8 && dy.abs() <= 8 && (dx, dy) != (0, 0)));
}

#[test]
fn a_view_tells_of_each_copy_what_the_rules_say_and_never_more() {
    let pieces = "ann@5,5*3 ann@7,5*1 bob@6,3*2 Zombie#90@1,1 DeadBody#91@5,8*2";
    let game = scene_with(17, pieces, |state| {
        state["clock"] = json!(6);
        state["scores"] = json!([6, 6]);
    });
    let view = serde_json::to_value(game.view(Seat(0))).unwrap();
    assert_eq!(
        view,
        json!({
            "clock": 6,
            "side": 17,
            "names": ["Zombie", "DeadBody", "ann", "bob"],
            "me": 2,
            "copies": [
                {"number": 0, "x": 5, "y": 5, "bullets": 3,
                 "seen": [[-4, -4, 0, 90], [1, -2, 3, 2], [2, 0, 2, 1], [0, 3, 1, 91]]},
                {"number": 1, "x": 7, "y": 5, "bullets": 1,
                 "seen": [[-6, -4, 0, 90], [-1, -2, 3, 2], [-2, 0, 2, 0], [-2, 3, 1, 91]]},
            ],
        })
    );
}

#[test]
fn a_dead_copy_sees_nothing_and_is_seen_as_what_it_has_become() {
    let mut game = scene(17, "ann@5,5*3 bob@7,5*3");
    turn(&mut game, "ann shoots bob", (5, 13));
    assert_eq!(game.view(Seat(1)).copies, []);
    let seen = &game.view(Seat(0)).copies[0].seen;
    let corpse = seen.iter().find(|seen| (seen.dx, seen.dy) == (2, 0)).unwrap();
    assert_eq!((corpse.who, corpse.number), (WhoIs::CORPSE, piece(&game, 7, 5).unwrap().number));
    assert_ne!(corpse.number, 1);
}

#[test]
fn an_entry_hears_what_happens_to_its_own_copies_and_what_they_see() {
    // Ann is shot in sight of Bob and far from Cleo.
    let mut game = scene(51, "ann@5,5 bob@7,5*1 cleo@40,40");
    let log = turn_log(&mut game, "bob shoots ann", (20, 42));
    let heard = |seat: u16| -> Vec<String> {
        let own = log.iter().filter(|logged| logged.audience.includes(Seat(seat)));
        own.map(|logged| serde_json::to_value(&logged.event).unwrap()["type"].to_string()).collect()
    };
    let [shot, killed, out] = ["shot", "killed", "entry_out"].map(|kind| format!("{kind:?}"));
    assert_eq!(heard(0), [shot.clone(), killed.clone(), out], "its own end");
    assert_eq!(heard(1), [shot, killed], "what it sees, but not that nobody of Ann's is left");
    assert!(heard(2).is_empty(), "{:?}", heard(2));
    assert!(log.iter().all(|logged| matches!(logged.audience, Audience::Seats(_))));
}

/// People and bots hear the same, whatever happens: who hears of an event has a copy in it, or one that sees its square.
#[test]
fn nobody_hears_of_what_it_cannot_see() {
    let mut chance = Seeded::new(4, "events", 0);
    let mut game = start(3, json!({"copies": 10, "density": 0.01}), 4);
    let (mut seen, mut unseen) = (0, 0);
    while game.outcome().is_none() {
        let mut log: Vec<Logged<Event>> = Vec::new();
        let moves = random_moves(&game, &mut chance);
        game.apply(&moves, &mut chance, &mut log).unwrap();
        for Logged { audience, event } in &log {
            let Event::Rose { square, replaced: None, .. } = event else { continue };
            for &seat in Seat::all(3) {
                // Nobody moves between the rise and the next decision; whoever was bitten since does not look any more.
                let sees = game.pieces().iter().any(|piece| {
                    let near = |a: u16, b: u16| {
                        let steps = (i32::from(a) - i32::from(b)).rem_euclid(game.side().into());
                        steps.min(i32::from(game.side()) - steps) <= 8
                    };
                    piece.player() == Some(seat)
                        && near(piece.square.x, square.x)
                        && near(piece.square.y, square.y)
                });
                assert!(!sees || audience.includes(seat), "{seat} sees {square:?}");
                if audience.includes(seat) { seen += 1 } else { unseen += 1 }
            }
        }
    }
    assert!(seen > 10 && unseen > 10, "{seen} {unseen}");
}

// ---- Step 5: shots ----------------------------------------------------------------------------------------

#[test]
fn a_shot_hits_within_five_squares_and_not_at_six_across_all_edges_and_corners() {
    for place in PLACES {
        for (dx, dy) in around(6) {
            let (x, y) = beside(place, (dx, dy));
            let mut game = scene(17, &format!("{}*3 {}", put("ann", 17, place), put("bob", 17, (x, y))));
            let events = turn(&mut game, "ann shoots bob", beside(place, (8, 8)));
            let hit = length((dx, dy)) <= 5;
            assert_eq!(at(&game, x, y), if hit { "DeadBody" } else { "bob" }, "{place:?}, bob at {dx},{dy}");
            assert_eq!(at(&game, place.0, place.1), "ann*2", "the bullet is spent and ann stays");
            let result = if hit { ShotResult::Hit } else { ShotResult::Missed };
            assert_eq!(events[0], Event::Shot { seat: Seat(0), number: 0, target: 1, result });
        }
    }
}

#[test]
fn the_range_counts_before_anybody_moves() {
    let mut game = scene(17, "ann@3,8*3 bob@8,8 cat@9,8");
    turn(&mut game, "ann shoots bob, bob east, cat west", (3, 0));
    assert_eq!([8, 9].map(|x| at(&game, x, 8)), ["DeadBody", "cat"], "bob is hit and blocks cat");
    let mut game = scene(17, "ann@3,8*3 bob@9,8");
    turn(&mut game, "ann shoots bob, bob west", (3, 0));
    assert_eq!((at(&game, 3, 8), at(&game, 8, 8)), ("ann*2".into(), "bob".into()));
}

#[test]
fn players_can_shoot_themselves() {
    let mut game = scene(17, "ann@3,3*3 bob@10,10");
    turn(&mut game, "ann shoots ann", (16, 9));
    assert_eq!(at(&game, 3, 3), "DeadBody*2");
    assert_eq!(game.to_act(), [Seat(1)]);
}

#[test]
fn two_who_shoot_each_other_both_die() {
    let mut game = scene(17, "ann@3,3*3 bob@6,6*1 cat@13,13");
    turn(&mut game, "ann shoots bob, bob shoots ann", (13, 3));
    assert_eq!((at(&game, 3, 3), at(&game, 6, 6)), ("DeadBody*2".into(), "DeadBody".into()));
    assert_eq!(game.to_act(), [Seat(2)]);
}

#[test]
fn a_ring_of_shooters_all_die() {
    let mut game = scene(17, "ann@3,3*3 bob@4,6*3 cat@6,4*3");
    play(&mut game, "ann shoots bob, bob shoots cat, cat shoots ann", &[]);
    assert_eq!([(3, 3), (4, 6), (6, 4)].map(|(x, y)| at(&game, x, y)), ["DeadBody*2"; 3]);
    assert!(game.outcome().is_some());
}

#[test]
fn several_shots_at_one_target_are_all_spent() {
    let mut game = scene(17, "ann@3,3*3 bob@6,6*2 cat@4,7*3");
    turn(&mut game, "ann shoots cat, bob shoots cat", (12, 12));
    assert_eq!((at(&game, 3, 3), at(&game, 6, 6)), ("ann*2".into(), "bob*1".into()));
    assert_eq!(at(&game, 4, 7), "DeadBody*3");
    assert_eq!(game.pieces().iter().filter(|piece| piece.kind == Kind::Corpse).count(), 1);
}

#[test]
fn a_shot_at_an_unknown_number_spends_the_bullet() {
    for unknown in [2, 999, u32::MAX] {
        let mut game = scene(17, "ann@3,3*3 bob@4,6");
        let events = turn(&mut game, &format!("ann shoots #{unknown}"), (12, 12));
        assert_eq!((at(&game, 3, 3), at(&game, 4, 6)), ("ann*2".into(), "bob".into()));
        let result = ShotResult::Missed;
        assert_eq!(events[0], Event::Shot { seat: Seat(0), number: 0, target: unknown, result });
    }
}

#[test]
fn a_shot_at_an_identity_of_the_past_misses() {
    let mut game = scene(17, "ann@3,3*3 bob@6,6");
    turn(&mut game, "", (7, 7));
    assert_eq!(at(&game, 6, 6), "Zombie");
    turn(&mut game, "ann shoots #1", (12, 12));
    // Bob's zombie stepped toward ann.
    assert_eq!((at(&game, 3, 3), at(&game, 5, 5)), ("ann*2".into(), "Zombie".into()));
}

#[test]
fn without_a_bullet_nothing_happens() {
    let mut game = scene(17, "ann@3,3 bob@4,6*3");
    let events = turn(&mut game, "ann shoots bob, bob south", (12, 12));
    assert_eq!((at(&game, 3, 3), at(&game, 4, 7)), ("ann".into(), "bob*3".into()));
    let result = ShotResult::NoBullet;
    assert_eq!(events[0], Event::Shot { seat: Seat(0), number: 0, target: 1, result });
    // Nor can she shoot herself.
    turn(&mut game, "ann shoots ann", (12, 14));
    assert_eq!(at(&game, 3, 3), "ann");
}

#[test]
fn a_zombie_that_is_shot_becomes_a_corpse_where_it_stands_with_a_new_identity() {
    let mut game = scene(17, "ann@3,3*3 Zombie#90@6,6");
    let events = turn(&mut game, "ann shoots Zombie", (12, 12));
    let corpse = piece(&game, 6, 6).unwrap();
    assert_eq!((corpse.kind, corpse.bullets), (Kind::Corpse, 0));
    assert!(corpse.number != 90 && corpse.number != number(&game, "Zombie"));
    assert!(events.contains(&Event::Killed { who: WhoIs::ZOMBIE, number: 90, corpse: corpse.number }));
}

#[test]
fn a_player_that_is_shot_becomes_a_corpse_with_a_new_identity_and_does_not_move() {
    let mut game = scene(17, "ann@3,3*3 bob@6,6*2");
    let events = turn(&mut game, "ann shoots bob, bob north", (12, 12));
    let corpse = piece(&game, 6, 6).unwrap();
    assert_eq!((corpse.kind, corpse.bullets), (Kind::Corpse, 2));
    assert!(corpse.number > 1);
    let who = WhoIs::entry(Seat(1));
    assert!(events.contains(&Event::Killed { who, number: 1, corpse: corpse.number }));
    assert_eq!(at(&game, 6, 5), "");
}

#[test]
fn a_shot_at_a_corpse_only_spends_the_bullet() {
    let mut game = scene(17, "ann@3,3*1 DeadBody#90@6,6*2");
    turn(&mut game, "ann shoots DeadBody", (12, 12));
    assert_eq!((at(&game, 3, 3), at(&game, 6, 6)), ("ann".into(), "DeadBody*2".into()));
    assert_eq!(piece(&game, 6, 6).unwrap().number, 90);
}

#[test]
fn a_copy_can_shoot_another_copy_of_its_own_entry() {
    let mut game = scene(17, "ann@3,3*3 ann@6,6*3");
    turn(&mut game, "#0 shoots #1", (12, 12));
    assert_eq!((at(&game, 3, 3), at(&game, 6, 6)), ("ann*2".into(), "DeadBody*3".into()));
}

#[test]
fn bullets_run_out_after_three_shots() {
    let mut game = scene(25, "ann@3,3*3 DeadBody#90@6,6");
    for (shot, left) in ["ann*2", "ann*1", "ann", "ann"].into_iter().enumerate() {
        // Zombies rise out of sight and stay where they are.
        let mut picks = vec![4; shot];
        picks.push(index(25, (14, 10 + shot as i32)));
        play(&mut game, "ann shoots DeadBody", &picks);
        assert_eq!(at(&game, 3, 3), left);
    }
}

// ---- Step 6: moves ----------------------------------------------------------------------------------------

/// Plays a turn on the smallest board and returns the squares of the named players after it.
fn moved<const N: usize>(pieces: &str, text: &str, who: [&str; N]) -> [(i32, i32); N] {
    let mut game = scene(17, pieces);
    turn(&mut game, text, (13, 13));
    who.map(|name| {
        let number = number(&game, name);
        let piece = game.pieces().iter().find(|piece| piece.number == number).unwrap();
        (piece.square.x.into(), piece.square.y.into())
    })
}

#[test]
fn all_nine_moves_lead_where_they_say_across_all_edges_and_corners() {
    let moves = [
        ("northwest", (-1, -1)),
        ("north", (0, -1)),
        ("northeast", (1, -1)),
        ("west", (-1, 0)),
        ("stay", (0, 0)),
        ("east", (1, 0)),
        ("southwest", (-1, 1)),
        ("south", (0, 1)),
        ("southeast", (1, 1)),
    ];
    for place in PLACES {
        for (name, offset) in moves {
            let mut game = scene(17, &format!("{}*2", put("ann", 17, place)));
            turn(&mut game, &format!("ann {name}"), beside(place, (8, 8)));
            let (x, y) = beside(place, offset);
            assert_eq!(at(&game, x, y), "ann*2", "{name} from {place:?}");
            assert_eq!(game.pieces().len(), 2);
        }
    }
}

#[test]
fn two_who_want_the_same_square_stay() {
    let places = moved("ann@3,3 bob@5,3", "ann east, bob west", ["ann", "bob"]);
    assert_eq!(places, [(3, 3), (5, 3)]);
    let across = moved("ann@16,0 bob@1,1", "ann east, bob northwest", ["ann", "bob"]);
    assert_eq!(across, [(16, 0), (1, 1)], "also around the edge");
}

#[test]
fn three_who_want_the_same_square_stay() {
    let pieces = "ann@3,3 bob@5,3 cat@4,5 dan@8,8";
    let text = "ann east, bob west, cat northeast, dan west";
    assert_eq!(
        moved(pieces, "ann southeast, bob southwest, cat north, dan west", ["ann", "bob", "cat", "dan"]),
        [(3, 3), (5, 3), (4, 5), (7, 8)]
    );
    // When only two of them collide the third is free.
    assert_eq!(moved(pieces, text, ["ann", "bob", "cat"]), [(3, 3), (5, 3), (5, 4)]);
}

#[test]
fn a_conflict_cascades_to_those_who_counted_on_a_free_square() {
    // Ann and bob collide; cat follows ann, dan follows cat, eve follows dan diagonally.
    let places = moved(
        "ann@4,4 bob@6,4 cat@3,4 dan@2,4 eve@1,5 fay@7,5",
        "ann east, bob west, cat east, dan east, eve northeast, fay northwest",
        ["ann", "bob", "cat", "dan", "eve", "fay"],
    );
    assert_eq!(places, [(4, 4), (6, 4), (3, 4), (2, 4), (1, 5), (7, 5)]);
}

#[test]
fn a_chain_with_a_free_square_at_its_head_moves_as_one() {
    let places = moved(
        "ann@4,4 bob@3,4 cat@2,4 dan@1,4",
        "ann east, bob east, cat east, dan east",
        ["ann", "bob", "cat", "dan"],
    );
    assert_eq!(places, [(5, 4), (4, 4), (3, 4), (2, 4)]);
}

#[test]
fn swapping_places_is_allowed_and_so_is_going_round_in_a_circle() {
    assert_eq!(moved("ann@3,3 bob@4,4", "ann southeast, bob northwest", ["ann", "bob"]), [(4, 4), (3, 3)]);
    assert_eq!(moved("ann@0,3 bob@16,3", "ann west, bob east", ["ann", "bob"]), [(16, 3), (0, 3)]);
    let circle = moved(
        "ann@3,3 bob@4,3 cat@4,4 dan@3,4",
        "ann east, bob south, cat west, dan north",
        ["ann", "bob", "cat", "dan"],
    );
    assert_eq!(circle, [(4, 3), (4, 4), (3, 4), (3, 3)]);
}

#[test]
fn a_swap_is_undone_when_a_third_wants_one_of_the_squares() {
    let places = moved("ann@3,3 bob@4,3 cat@5,3", "ann east, bob west, cat west", ["ann", "bob", "cat"]);
    assert_eq!(places, [(3, 3), (4, 3), (5, 3)]);
}

#[test]
fn a_corpse_blocks_its_square() {
    let places = moved("ann@3,3 bob@3,4 DeadBody@4,3", "ann east, bob north", ["ann", "bob", "DeadBody"]);
    assert_eq!(places, [(3, 3), (3, 4), (4, 3)]);
}

#[test]
fn whoever_stays_blocks_its_square() {
    assert_eq!(moved("ann@3,3 bob@4,3", "ann east, bob stay", ["ann", "bob"]), [(3, 3), (4, 3)]);
    assert_eq!(moved("ann@3,3 bob@4,3", "ann east", ["ann", "bob"]), [(3, 3), (4, 3)], "without an order");
    let shooter = moved("ann@3,3 bob@4,3*1", "ann east, bob shoots #77", ["ann", "bob"]);
    assert_eq!(shooter, [(3, 3), (4, 3)], "a shooter stays");
}

#[test]
fn a_player_and_a_zombie_who_want_the_same_square_stay() {
    let mut game = scene(17, "ann@5,3 Zombie#90@7,3");
    turn(&mut game, "ann east", (12, 12));
    assert_eq!([5, 6, 7].map(|x| at(&game, x, 3)), ["ann", "", "Zombie"]);
    // Two zombies block each other the same way.
    let mut game = scene(17, "ann@5,8 Zombie#90@4,3 Zombie#91@6,3");
    turn(&mut game, "", (15, 15));
    assert_eq!([(4, 3), (6, 3), (5, 4)].map(|(x, y)| at(&game, x, y)), ["Zombie", "Zombie", ""]);
}

#[test]
fn a_player_and_a_zombie_may_swap_places() {
    // Side by side at the time of decision: the zombie was made by the last bites. First the swap, then the
    // bite.
    let mut game = scene(17, "ann@5,3*3 Zombie#90@6,3 bob@12,3");
    turn(&mut game, "ann east", (12, 12));
    assert_eq!(piece(&game, 5, 3).unwrap().number, 90);
    assert_eq!(at(&game, 6, 3), "Zombie", "ann, bitten");
    assert!(piece(&game, 6, 3).unwrap().number != 0);
}

// ---- Step 7: scavenging -----------------------------------------------------------------------------------

#[test]
fn a_corpse_is_scavenged_from_all_eight_squares_around_it_and_no_further() {
    for place in PLACES {
        for (dx, dy) in around(2) {
            let (x, y) = beside(place, (dx, dy));
            let mut game = scene(17, &format!("{} {}*3", put("ann", 17, (x, y)), put("DeadBody", 17, place)));
            turn(&mut game, "", beside(place, (8, 8)));
            let near = length((dx, dy)) <= 1;
            let expected = if near { ["ann*3", "DeadBody"] } else { ["ann", "DeadBody*3"] };
            assert_eq!([at(&game, x, y), at(&game, place.0, place.1)], expected, "{place:?} {dx},{dy}");
        }
    }
}

#[test]
fn bullets_are_shared_equally_and_the_remainder_is_lost() {
    for (bullets, each) in [(1, "*0"), (2, "*0"), (3, "*1"), (5, "*1"), (6, "*2"), (8, "*2"), (9, "*3")] {
        let mut game = scene(17, &format!("ann@4,4 bob@6,6 cat@5,6 DeadBody@5,5*{bullets}"));
        turn(&mut game, "", (13, 13));
        let each = if each == "*0" { "" } else { each };
        assert_eq!(
            [at(&game, 4, 4), at(&game, 6, 6), at(&game, 5, 6), at(&game, 5, 5)],
            [format!("ann{each}"), format!("bob{each}"), format!("cat{each}"), "DeadBody".into()],
            "{bullets} bullets"
        );
    }
}

#[test]
fn copies_of_one_entry_each_get_a_share() {
    let mut game = scene(17, "ann@4,4 ann@6,6 bob@6,4 bob@12,2 DeadBody@5,5*8");
    turn(&mut game, "", (13, 13));
    assert_eq!([(4, 4), (6, 6), (6, 4)].map(|(x, y)| at(&game, x, y)), ["ann*2", "ann*2", "bob*2"]);
}

#[test]
fn a_player_next_to_several_corpses_takes_from_each() {
    // Both stand next to the corpse with 5, only ann next to the one with 2, only bob next to the one with 1.
    let mut game = scene(17, "ann@4,4 bob@6,4*1 cat@12,12 DeadBody@5,4*5 DeadBody@3,3*2 DeadBody@7,5*1");
    turn(&mut game, "", (0, 12));
    assert_eq!((at(&game, 4, 4), at(&game, 6, 4)), ("ann*4".into(), "bob*4".into()));
    assert_eq!([(5, 4), (3, 3), (7, 5)].map(|(x, y)| at(&game, x, y)), ["DeadBody"; 3]);
}

#[test]
fn zombies_take_no_bullets_and_no_share() {
    // The zombie wants to go through the corpse toward ann and cannot.
    let mut game = scene(17, "ann@7,8 DeadBody@8,8*3 Zombie#90@9,8");
    turn(&mut game, "", (7, 0));
    assert_eq!([7, 8, 9].map(|x| at(&game, x, 8)), ["ann*3", "DeadBody", "Zombie"]);
    let mut game = scene(17, "ann@1,8 DeadBody@8,8*3 Zombie#90@9,8");
    turn(&mut game, "", (1, 0));
    assert_eq!([1, 8, 9].map(|x| at(&game, x, 8)), ["ann", "DeadBody*3", "Zombie"]);
}

#[test]
fn a_corpse_is_scavenged_in_the_turn_of_its_death_by_those_who_are_near_after_the_moves() {
    // Bob is shot: cat comes, dan leaves, eve stays.
    let pieces = "ann@5,9*1 bob@5,5*3 cat@7,7 dan@4,4 eve@5,6";
    let mut game = scene(17, pieces);
    let text = "ann shoots bob, cat northwest, dan northwest";
    let events = turn(&mut game, text, (14, 14));
    assert_eq!(
        [(5, 9), (5, 5), (6, 6), (3, 3), (5, 6)].map(|(x, y)| at(&game, x, y)),
        ["ann", "DeadBody", "cat*1", "dan", "eve*1"]
    );
    let taken = events.iter().filter(|event| matches!(event, Event::Scavenged { bullets: 1, .. }));
    assert_eq!(taken.count(), 2);
}

#[test]
fn the_dead_take_nothing_from_each_other() {
    let mut game = scene(17, "ann@5,5*3 bob@6,6*3 cat@12,5");
    turn(&mut game, "ann shoots bob, bob shoots ann", (0, 12));
    assert_eq!((at(&game, 5, 5), at(&game, 6, 6)), ("DeadBody*2".into(), "DeadBody*2".into()));
}

#[test]
fn scavenged_bullets_can_be_shot() {
    let mut game = scene(17, "ann@5,5 DeadBody#90@6,6*2");
    turn(&mut game, "", (13, 13));
    turn(&mut game, "ann shoots DeadBody", (13, 0));
    assert_eq!(at(&game, 5, 5), "ann*1");
}

// ---- Step 8: the end --------------------------------------------------------------------------------------

#[test]
fn the_match_ends_when_the_last_player_is_shot_and_no_zombie_rises_any_more() {
    let mut game = scene_with(17, "ann@3,3*1 bob@4,4*1", |state| {
        state["clock"] = json!(11);
        state["scores"] = json!([11, 11]);
    });
    play(&mut game, "ann shoots bob, bob shoots ann", &[]);
    assert_eq!((game.clock(), game.to_act()), (12, &[][..]));
    assert_eq!(game.outcome().unwrap().scores, [11, 11]);
    assert_eq!(game.outcome().unwrap().turns, 12);
}

#[test]
fn the_match_ends_when_the_last_player_is_bitten() {
    let mut game = scene(17, "ann@3,3*1 Zombie#90@13,3");
    turn(&mut game, "", (4, 4));
    assert_eq!(game.to_act(), []);
    assert_eq!(game.outcome().unwrap().scores, [0]);
}

#[test]
fn nothing_can_be_done_in_a_match_that_is_over() {
    let mut game = scene(17, "ann@3,3*1");
    play(&mut game, "ann shoots ann", &[]);
    let before = json_of(&game);
    for moves in [vec![], vec![Move::Forfeit]] {
        let result = Scripted::new([]).run(|chance| game.apply(&moves, chance, &mut Silent)).unwrap();
        assert_eq!(result, Err(Rejected::Over));
        assert_eq!(json_of(&game), before);
    }
    assert_eq!(restore::<LastBullet>(&before).unwrap(), game);
}

#[test]
fn the_match_goes_on_while_one_player_lives() {
    let mut game = scene(17, "ann@3,3*1 bob@8,8");
    turn(&mut game, "ann shoots bob", (12, 12));
    assert_eq!(game.to_act(), [Seat(0)]);
    assert_eq!(game.outcome(), None);
}

#[test]
fn the_match_ends_at_max_turns() {
    let mut game = scene_with(17, "ann@3,3 bob@8,8", |state| {
        state["rules"]["max_turns"] = json!(2);
    });
    turn(&mut game, "", (13, 13));
    assert_eq!(game.outcome(), None);
    play(&mut game, "ann east", &[]);
    let outcome = game.outcome().unwrap();
    assert_eq!((outcome.turns, outcome.scores, outcome.places), (2, vec![1, 1], vec![1, 1]));
    assert_eq!(at(&game, 4, 3), "ann", "the last turn is played to its end");
    assert_eq!(game.to_act(), []);
}

#[test]
fn matches_without_max_turns_come_to_an_end() {
    for seed in 0..5 {
        let mut chance = Seeded::new(seed, "end", 0);
        let mut game = start(2, json!({"copies": 10}), seed);
        while game.outcome().is_none() {
            let moves = random_moves(&game, &mut chance);
            game.apply(&moves, &mut chance, &mut Silent).unwrap();
        }
        assert!(game.pieces().iter().all(|piece| piece.player().is_none()));
    }
}

// ---- Bad actions ------------------------------------------------------------------------------------------

#[test]
fn all_copies_of_an_entry_that_forfeits_stay() {
    let mut game = scene(17, "ann@3,3*3 ann@8,8*3 bob@4,3*3 bob@5,12*3");
    let mut moves = orders(&game, "#2 west, #3 north");
    moves[0] = Move::Forfeit;
    apply(&mut game, &moves, &[index(17, (12, 1))]);
    assert_eq!(
        [(3, 3), (8, 8), (4, 3), (5, 11)].map(|(x, y)| at(&game, x, y)),
        ["ann*3", "ann*3", "bob*3", "bob*3"]
    );
}

#[test]
fn copies_without_an_order_stay() {
    let mut game = scene(17, "ann@3,3*3 ann@8,8*3");
    turn(&mut game, "#1 north", (13, 0));
    assert_eq!((at(&game, 3, 3), at(&game, 8, 7)), ("ann*3".into(), "ann*3".into()));
}

#[test]
fn orders_that_are_not_allowed_are_rejected_and_change_nothing() {
    // Bob's second copy, number 3, has become the zombie.
    let pieces = "ann@3,3*3 ann@1,10*3 bob@8,8*3 cat@5,13*3 cat@7,13*3 Zombie#90@13,3 DeadBody#91@13,13";
    let mut game = scene(17, pieces);
    let before = json_of(&game);
    let north = |copy| Order::Move { copy, direction: Direction::North };
    let shot = |copy| Order::Shoot { copy, target: 0 };
    let good = |orders: Vec<Order>| Move::Act(Action { orders });
    let not_yours = |seat, copy| Rejected::Illegal { seat: Seat(seat), why: Illegal::NotYours { copy } };
    let twice = |seat, copy| Rejected::Illegal { seat: Seat(seat), why: Illegal::Twice { copy } };
    for (name, moves, why) in [
        ("another's copy", [good(vec![north(2)]), good(vec![]), good(vec![])], not_yours(0, 2)),
        ("another's shot", [good(vec![shot(2)]), good(vec![]), good(vec![])], not_yours(0, 2)),
        ("a dead copy", [good(vec![]), good(vec![north(3)]), good(vec![])], not_yours(1, 3)),
        ("a zombie", [good(vec![]), good(vec![north(90)]), good(vec![])], not_yours(1, 90)),
        ("a corpse", [good(vec![]), good(vec![shot(91)]), good(vec![])], not_yours(1, 91)),
        ("nobody", [good(vec![]), good(vec![]), good(vec![north(u32::MAX)])], not_yours(2, u32::MAX)),
        ("twice", [good(vec![north(0), north(1), north(0)]), good(vec![]), good(vec![])], twice(0, 0)),
        ("a move and a shot", [good(vec![shot(1), north(1)]), good(vec![]), good(vec![])], twice(0, 1)),
        (
            "good ones first",
            [good(vec![north(0)]), good(vec![shot(2)]), good(vec![north(0)])],
            not_yours(2, 0),
        ),
    ] {
        let mut log: Vec<Logged<Event>> = Vec::new();
        let result = Scripted::new([]).run(|chance| game.apply(&moves, chance, &mut log));
        assert_eq!(result, Ok(Err(why)), "{name}: refused before chance is asked");
        assert_eq!((json_of(&game), log.len()), (before.clone(), 0), "{name}");
    }
}

/// Reads and salvages ann's orders as the arena does. Returns the orders that stand, and what was malformed.
fn played(game: &LastBullet, orders: Value) -> (Vec<Order>, Option<String>) {
    let (action, malformed) = LastBullet::read_action(&json!({ "orders": orders })).unwrap();
    let action = LastBullet::salvage(&game.view(Seat(0)), &action).unwrap();
    (action.orders, malformed)
}

#[test]
fn a_malformed_order_costs_the_copy_it_names_and_no_other() {
    let game = scene(17, "ann@3,3*3 ann@8,8*3 bob@5,12*3 bob@12,5*3");
    let good = json!({"type": "move", "copy": 1, "direction": "north"});
    let north = Order::Move { copy: 1, direction: Direction::North };
    let stay = Order::Move { copy: 0, direction: Direction::Stay };
    let waste = Order::Shoot { copy: 0, target: NOBODY };
    for (bad, comes_to, says) in [
        (json!({"type": "move", "copy": 0, "direction": "up"}), Some(stay), "copy 0 stays"),
        (
            json!({"type": "move", "copy": 0, "direction": 5}),
            Some(stay),
            "(expected a string or an object, got 5)",
        ),
        (json!({"type": "move", "copy": 0}), Some(stay), "(expected a key \"direction\" in this object)"),
        (
            json!({"type": "move", "copy": 0, "direction": "north", "speed": 2}),
            Some(stay),
            "(unknown key \"speed\": ",
        ),
        (json!({"type": "fly", "copy": 0}), Some(stay), "expected one of \"move\", \"shoot\", got \"fly\""),
        (json!({"copy": 0, "direction": "north"}), Some(stay), "(expected a key \"type\" in this object)"),
        (json!({"type": "shoot", "copy": 0}), Some(waste), "copy 0 wastes its shot"),
        (
            json!({"type": "shoot", "copy": 0, "target": "bob"}),
            Some(waste),
            "the fourth one of an entry of `seen`, and not the text \"bob\")",
        ),
        (json!({"type": "shoot", "copy": 0, "target": [1, 2, 0, 4]}), Some(waste), "`seen`, and not a list)"),
        (json!({"type": "shoot", "copy": 0}), Some(waste), "(an order to shoot has a `target`: "),
        (
            json!({"type": "shoot", "copy": 0, "target": -1}),
            Some(waste),
            "expected a whole number, 0 or more, got -1)",
        ),
        (json!({"type": "move", "direction": "north"}), None, "order 1 names no copy"),
        (
            json!({"type": "move", "copy": "0", "direction": "north"}),
            None,
            "(`copy` must be the `number` of a copy, not the text \"0\")",
        ),
        (json!({"type": "move", "copy": -1, "direction": "north"}), None, "order 1 names no copy"),
        (json!({"type": "move", "copy": 1u64 << 32, "direction": "north"}), None, "order 1 names no copy"),
        (json!("north"), None, "order 1 names no copy: \"north\""),
        (json!(null), None, "order 1 names no copy"),
        (json!([0, "north"]), None, "order 1 names no copy"),
        (json!(["move", 0, "north"]), None, "order 1 names no copy"),
    ] {
        let (orders, malformed) = played(&game, json!([bad, good]));
        assert_eq!(orders, comes_to.into_iter().chain([north]).collect::<Vec<_>>(), "{bad}");
        let malformed = malformed.unwrap_or_else(|| panic!("{bad} is well-formed"));
        assert!(malformed.starts_with("order 1 ") && malformed.contains(says), "{bad}: {malformed}");
    }
    assert_eq!(played(&game, json!([good])), (vec![north], None));
}

#[test]
fn malformed_orders_are_counted_and_quoted_in_short() {
    let game = scene(17, "ann@3,3*3 bob@8,8*3");
    let long = "x".repeat(10_000);
    let (orders, malformed) =
        played(&game, json!([long, 7, {"type": "move", "copy": 0, "direction": "west"}, []]));
    assert_eq!(orders, [Order::Move { copy: 0, direction: Direction::West }]);
    let malformed = malformed.unwrap();
    assert!(malformed.ends_with("; and 2 more like it") && malformed.len() < 300, "{malformed}");
}

#[test]
fn an_action_without_a_list_of_orders_is_none() {
    for bad in [json!({}), json!([]), json!("north"), json!({"orders": 7}), json!({"orders": [], "more": 1})]
    {
        assert!(LastBullet::read_action(&bad).is_err(), "{bad}");
    }
    let order = json!({"type": "move", "copy": 0, "direction": "north"});
    for (bad, says) in [
        (json!([order]), "expected an object with `orders`, as in {\"orders\": [...]}, got a list"),
        (order, "expected the orders of all copies, as in {\"orders\": [...]}, got one order: move"),
    ] {
        assert_eq!(LastBullet::read_action(&bad).unwrap_err().to_string(), says);
    }
}

#[test]
fn a_copy_that_is_ordered_twice_does_the_first() {
    let game = scene(17, "ann@3,3*3 ann@8,8*3 bob@5,12*3 bob@12,5*3");
    let north = |copy| json!({"type": "move", "copy": copy, "direction": "north"});
    let shot = json!({"type": "shoot", "copy": 0, "target": 2});
    let (orders, malformed) = played(&game, json!([shot, north(0), north(2), north(1), shot]));
    let first = [Order::Shoot { copy: 0, target: 2 }, Order::Move { copy: 1, direction: Direction::North }];
    assert_eq!((orders.as_slice(), malformed), (first.as_slice(), None));
    // A malformed order is one, too.
    let (orders, _) = played(&game, json!([{"type": "move", "copy": 0}, north(0)]));
    assert_eq!(orders, [Order::Move { copy: 0, direction: Direction::Stay }]);
}

#[test]
fn a_malformed_shot_spends_its_bullet() {
    let mut game = scene(17, "ann@3,3*3 ann@8,8*3 bob@4,3*3 bob@12,5*3");
    let (orders, _) = played(&game, json!([{"type": "shoot", "copy": 0, "target": "the nearest"}]));
    let moves = [Move::Act(Action { orders }), Move::Forfeit];
    apply(&mut game, &moves, &[index(17, (13, 13))]);
    assert_eq!([(3, 3), (4, 3)].map(|(x, y)| at(&game, x, y)), ["ann*2", "bob*3"]);
}

#[test]
fn a_wrong_number_of_moves_is_rejected_and_changes_nothing() {
    let mut game = scene(17, "ann@3,3*3 bob@8,8*3");
    let before = json_of(&game);
    for came in [0, 1, 3] {
        let moves = vec![Move::Forfeit; came];
        let result = Scripted::new([]).run(|chance| game.apply(&moves, chance, &mut Silent)).unwrap();
        assert_eq!(result, Err(Rejected::Count { expected: 2, came }));
        assert_eq!(json_of(&game), before);
    }
}

#[test]
fn only_entries_with_a_living_copy_are_asked() {
    let mut game = scene(17, "ann@3,3*3 bob@8,8*3 cat@3,8");
    turn(&mut game, "ann shoots bob", (13, 13));
    assert_eq!(game.to_act(), [Seat(0), Seat(2)]);
    turn(&mut game, "cat south", (13, 0));
    assert_eq!(at(&game, 3, 9), "cat");
}

// ---- No outcome depends on an order -----------------------------------------------------------------------

#[test]
fn the_order_of_the_orders_in_an_action_does_not_matter() {
    for seed in 0..10 {
        let mut chance = Seeded::new(seed, "order", 0);
        let mut game = start(3, json!({"copies": 15, "density": 0.15}), seed);
        for _ in 0..60 {
            if game.outcome().is_some() {
                break;
            }
            let moves = random_moves(&game, &mut chance);
            let mut shuffled = moves.clone();
            for entry in &mut shuffled {
                if let Move::Act(action) = entry {
                    chance.shuffle(&mut action.orders);
                }
            }
            let (mut other, mut same_chance) = (game.clone(), chance.clone());
            let (mut log, mut other_log): (Vec<Logged<Event>>, Vec<Logged<Event>>) = (Vec::new(), Vec::new());
            game.apply(&moves, &mut chance, &mut log).unwrap();
            other.apply(&shuffled, &mut same_chance, &mut other_log).unwrap();
            assert_eq!(json_of(&game), json_of(&other));
            assert_eq!(json_of(&log), json_of(&other_log));
        }
    }
}

#[test]
fn the_order_of_the_entries_does_not_matter() {
    let mut chance = Seeded::new(9, "seats", 0);
    for _ in 0..200 {
        // A dozen players in a crowded corner, each with some order, and two zombies.
        let mut squares: Vec<(i32, i32)> = (0..36).map(|i| (i % 6, i / 6)).collect();
        chance.shuffle(&mut squares);
        let names: Vec<String> = (0..12).map(|i| format!("p{i}")).collect();
        let mut players: Vec<String> = Vec::new();
        let mut orders: Vec<String> = Vec::new();
        for (name, &at) in names.iter().zip(&squares) {
            players.push(format!("{}*{}", put(name, 17, at), chance.uniform(3)));
            orders.push(match chance.uniform(4) {
                0 => format!("{name} shoots {}", names[chance.uniform(12) as usize]),
                _ => {
                    let direction = Direction::ALL[chance.uniform(9) as usize];
                    format!("{name} {}", serde_json::to_value(direction).unwrap().as_str().unwrap())
                }
            });
        }
        let rest = "Zombie#90@8,3 Zombie#91@3,8 DeadBody#92@12,12*3";
        let rises = (13, 13);
        let mut game = scene(17, &format!("{} {rest}", players.join(" ")));
        turn(&mut game, &orders.join(","), rises);
        chance.shuffle(&mut players);
        let mut other = scene(17, &format!("{} {rest}", players.join(" ")));
        turn(&mut other, &orders.join(","), rises);
        assert_eq!(everything(&game), everything(&other), "{players:?} {orders:?}");
    }
}

// ---- The whole turn, by the book --------------------------------------------------------------------------

/// A piece in the plain telling of a turn: `number` is `None` where the rules give a new one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Plain {
    kind: Kind,
    number: Option<u32>,
    at: (i32, i32),
    bullets: u32,
}

/// The shortest offset from one square to another, for squares that are less than half a board apart.
fn offset(side: i32, from: (i32, i32), to: (i32, i32)) -> (i32, i32) {
    let along = |d: i32| (d + side / 2).rem_euclid(side) - side / 2;
    (along(to.0 - from.0), along(to.1 - from.1))
}

fn apart(side: i32, a: (i32, i32), b: (i32, i32)) -> i32 {
    length(offset(side, a, b))
}

fn plain(game: &LastBullet) -> Vec<Plain> {
    let pieces = game.pieces().iter();
    pieces
        .map(|p| Plain {
            kind: p.kind,
            number: Some(p.number),
            at: (p.square.x.into(), p.square.y.into()),
            bullets: p.bullets,
        })
        .collect()
}

fn lives(piece: &Plain) -> bool {
    matches!(piece.kind, Kind::Player(_))
}

/// Steps 4 to 8 and then 1 and 2, as the rulebook tells them, without a care for speed. `picks` are the moves
/// of the zombies that see nobody, in the order of the pieces, and then the square where the next zombie
/// rises.
fn by_the_book(game: &LastBullet, moves: &[Move<Action>], picks: &[u32]) -> Vec<Plain> {
    let side = i32::from(game.side());
    let mut picks = picks.iter().copied();
    let mut pieces = plain(game);
    let orders: Vec<Order> = moves
        .iter()
        .flat_map(|m| match m {
            Move::Act(action) => action.orders.clone(),
            Move::Forfeit => Vec::new(),
        })
        .collect();
    // 4: decisions.
    let before = pieces.clone();
    let mut steps: Vec<(i32, i32)> = before
        .iter()
        .map(|zombie| {
            if zombie.kind != Kind::Zombie {
                return (0, 0);
            }
            let prey = before
                .iter()
                .filter(|p| lives(p) && apart(side, zombie.at, p.at) <= 8)
                .map(|p| (apart(side, zombie.at, p.at), offset(side, zombie.at, p.at)))
                .min();
            match prey {
                Some((_, (dx, dy))) => (dx.signum(), dy.signum()),
                None => Direction::ALL[picks.next().unwrap() as usize].offset(),
            }
        })
        .collect();
    let mut hit = vec![false; pieces.len()];
    for order in orders {
        match order {
            Order::Move { copy, direction } => {
                let place = before.iter().position(|p| p.number == Some(copy)).unwrap();
                steps[place] = direction.offset();
            }
            // 5: shots.
            Order::Shoot { copy, target } => {
                let place = before.iter().position(|p| p.number == Some(copy)).unwrap();
                if pieces[place].bullets == 0 {
                    continue;
                }
                pieces[place].bullets -= 1;
                if let Some(target) = before.iter().position(|p| p.number == Some(target)) {
                    hit[target] |= apart(side, before[place].at, before[target].at) <= 5;
                }
            }
        }
    }
    for (place, piece) in pieces.iter_mut().enumerate() {
        if hit[place] && piece.kind != Kind::Corpse {
            (piece.kind, piece.number) = (Kind::Corpse, None);
            steps[place] = (0, 0);
        }
    }
    // 6: moves.
    let mut wants: Vec<(i32, i32)> =
        before.iter().zip(&steps).map(|(p, &step)| wrap(game.side(), beside(p.at, step))).collect();
    loop {
        let wanted = wants.clone();
        let contested = |at| wanted.iter().filter(|&&want| want == at).count() > 1;
        for (want, home) in wants.iter_mut().zip(&before) {
            if contested(*want) {
                *want = home.at;
            }
        }
        if wants == wanted {
            break;
        }
    }
    pieces.iter_mut().zip(wants).for_each(|(piece, want)| piece.at = want);
    // 7: scavenging.
    for corpse in 0..pieces.len() {
        let Plain { kind, at, bullets, .. } = pieces[corpse];
        let near: Vec<usize> =
            (0..pieces.len()).filter(|&i| lives(&pieces[i]) && apart(side, at, pieces[i].at) == 1).collect();
        if kind == Kind::Corpse && !near.is_empty() {
            near.iter().for_each(|&i| pieces[i].bullets += bullets / near.len() as u32);
            pieces[corpse].bullets = 0;
        }
    }
    // 8, and then 1 and 2 of the next turn.
    if pieces.iter().any(lives) {
        let at = picks.next().unwrap() as i32;
        let at = (at % side, at / side);
        pieces.retain(|piece| piece.at != at);
        pieces.push(Plain { kind: Kind::Zombie, number: None, at, bullets: 0 });
        let zombies: Vec<(i32, i32)> =
            pieces.iter().filter(|p| p.kind == Kind::Zombie).map(|p| p.at).collect();
        for piece in pieces.iter_mut().filter(|piece| lives(piece)) {
            if zombies.iter().any(|&zombie| apart(side, zombie, piece.at) <= 1) {
                (piece.kind, piece.number, piece.bullets) = (Kind::Zombie, None, 0);
            }
        }
    }
    assert_eq!(picks.next(), None, "all picks have a use");
    pieces
}

/// Plays a random match and compares every turn with the plain telling.
fn follow(entries: usize, options: Value, seed: u64) -> u32 {
    let mut chance = Seeded::new(seed, "follow", 0);
    let mut game = start(entries, options, seed);
    let mut last_alive = vec![0; entries];
    let mut used: BTreeSet<u32> = game.pieces().iter().map(|piece| piece.number).collect();
    while game.outcome().is_none() && game.clock() < 150 {
        let moves = random_moves(&game, &mut chance);
        let before = game.clone();
        let mut recorder = Recorder::new(&mut chance);
        game.apply(&moves, &mut recorder, &mut Silent).unwrap();
        game.invariants().unwrap();
        let mut expected = by_the_book(&before, &moves, recorder.picks());
        assert_eq!(game.clock(), before.clock() + 1);
        for piece in plain(&game) {
            let place = expected.iter().position(|other| other.at == piece.at).unwrap();
            let mut other = expected.swap_remove(place);
            if other.number.is_none() {
                // A new identity: never used before.
                assert!(used.insert(piece.number.unwrap()), "{piece:?}");
                other.number = piece.number;
            }
            assert_eq!(piece, other, "seed {seed}, clock {}", game.clock());
            if let Kind::Player(seat) = piece.kind {
                last_alive[seat.index()] = game.clock();
            }
        }
        assert_eq!(expected, []);
        assert_eq!(scores(&game), last_alive);
        see(&game);
    }
    game.clock()
}

/// Compares all views with the definition: each copy sees all pieces within distance 8.
fn see(game: &LastBullet) {
    let (side, pieces) = (i32::from(game.side()), plain(game));
    for seat in (0..scores(game).len()).map(|seat| Seat(seat as u16)) {
        let view = game.view(seat);
        let own: Vec<&Plain> = pieces.iter().filter(|p| p.kind == Kind::Player(seat)).collect();
        assert_eq!(view.copies.len(), own.len());
        for copy in view.copies {
            let me = own.iter().find(|p| p.number == Some(copy.number)).unwrap();
            assert_eq!((me.at, me.bullets), ((copy.x.into(), copy.y.into()), copy.bullets));
            let seen: BTreeSet<(i32, i32, WhoIs, u32)> =
                copy.seen.iter().map(|s| (s.dx.into(), s.dy.into(), s.who, s.number)).collect();
            let others = pieces.iter().filter(|p| p.number != me.number && apart(side, me.at, p.at) <= 8);
            let expected = others.map(|p| {
                let (dx, dy) = offset(side, me.at, p.at);
                (dx, dy, p.kind.into(), p.number.unwrap())
            });
            assert_eq!(seen, expected.collect());
            assert_eq!(seen.len(), copy.seen.len());
        }
    }
}

#[test]
fn random_matches_on_the_smallest_board_follow_the_rulebook_turn_by_turn() {
    let turns: u32 = (0..60).map(|seed| follow(4, json!({"copies": 12}), seed)).sum();
    assert!(turns > 300, "{turns}");
}

#[test]
fn random_matches_on_larger_boards_follow_the_rulebook_turn_by_turn() {
    let sides = [(3, json!({"copies": 6, "density": 0.012})), (2, json!({"copies": 10, "density": 0.01}))];
    for (entries, options) in sides {
        let turns: u32 = (0..15).map(|seed| follow(entries, options.clone(), seed)).sum();
        assert!(turns > 200, "{turns}");
    }
}

#[test]
fn random_matches_on_a_crowded_board_follow_the_rulebook_turn_by_turn() {
    let turns: u32 = (0..20).map(|seed| follow(3, json!({"copies": 90, "density": 0.95}), seed)).sum();
    assert!(turns > 60, "{turns}");
}

// ---- Nothing hidden is shown ------------------------------------------------------------------------------

#[test]
fn nothing_outside_the_windows_of_an_entry_changes_its_view() {
    let mut changes = 0;
    for seed in 0..30 {
        let mut chance = Seeded::new(seed, "hidden", 0);
        let mut game = start(3, json!({"copies": 3, "density": 0.004}), seed);
        let side = i32::from(game.side());
        for _ in 0..25 {
            if game.outcome().is_some() {
                break;
            }
            let moves = random_moves(&game, &mut chance);
            game.apply(&moves, &mut chance, &mut Silent).unwrap();
            for &seat in game.to_act() {
                let own: Vec<(i32, i32)> =
                    plain(&game).iter().filter(|p| p.kind == Kind::Player(seat)).map(|p| p.at).collect();
                let hidden = |at: (i32, i32)| own.iter().all(|&mine| apart(side, mine, at) > 8);
                let mut state = serde_json::to_value(&game).unwrap();
                let mut free: Vec<(i32, i32)> = (0..side * side).map(|i| (i % side, i / side)).collect();
                free.retain(|&(x, y)| hidden((x, y)) && at(&game, x, y).is_empty());
                chance.shuffle(&mut free);
                for (piece, now) in state["pieces"].as_array_mut().unwrap().iter_mut().zip(plain(&game)) {
                    let mine = now.kind == Kind::Player(seat);
                    if !mine && piece["bullets"] != json!(0) {
                        piece["bullets"] = json!(0);
                        changes += 1;
                    }
                    if hidden(now.at) && chance.uniform(4) > 0 {
                        let (x, y) = free.pop().unwrap();
                        piece["square"] = json!({"x": x, "y": y});
                        if !lives(&now) {
                            piece["kind"] = json!(["zombie", "corpse"][chance.uniform(2) as usize]);
                            piece["number"] = json!(9000 + free.len());
                        }
                        changes += 1;
                    }
                }
                for other in Seat::all(3).iter().filter(|&&other| other != seat) {
                    state["scores"][other.index()] = json!(0);
                }
                state["numbers"]["given"] = json!(20_000);
                let (x, y) = free.pop().unwrap();
                let number = 19_000;
                let square = json!({"x": x, "y": y});
                let risen = json!({"kind": "zombie", "number": number, "square": square, "bullets": 0});
                state["pieces"].as_array_mut().unwrap().push(risen);
                let other: LastBullet = restore(&state.to_string()).unwrap();
                assert_eq!(json_of(&other.view(seat)), json_of(&game.view(seat)), "seed {seed}");
            }
        }
    }
    assert!(changes > 1000, "{changes}");
}

#[test]
fn a_view_that_is_refreshed_equals_a_new_one() {
    let mut chance = Seeded::new(2, "refresh", 0);
    let mut game = start(3, json!({"copies": 10, "density": 0.1}), 2);
    let mut kept = game.view(Seat(0));
    while game.outcome().is_none() {
        for &seat in Seat::all(3) {
            // The memory of another entry's view is reused: nothing of it may stay.
            game.refresh_view(seat, &mut kept);
            assert_eq!(json_of(&kept), json_of(&game.view(seat)));
        }
        let moves = random_moves(&game, &mut chance);
        game.apply(&moves, &mut chance, &mut Silent).unwrap();
    }
}

// ---- States from outside ----------------------------------------------------------------------------------

#[test]
fn a_saved_match_goes_on_as_if_it_had_not_been_saved() {
    let mut chance = Seeded::new(6, "saved", 0);
    let mut game = start(3, json!({"copies": 10, "density": 0.1}), 6);
    while game.outcome().is_none() {
        let mut other: LastBullet = restore(&json_of(&game)).unwrap();
        assert_eq!(other, game);
        let moves = random_moves(&game, &mut chance);
        let mut same = chance.clone();
        game.apply(&moves, &mut chance, &mut Silent).unwrap();
        other.apply(&moves, &mut same, &mut Silent).unwrap();
        assert_eq!(json_of(&other), json_of(&game));
    }
    assert_eq!(restore::<LastBullet>(&json_of(&game)).unwrap().outcome(), game.outcome());
}

#[test]
fn states_that_no_match_can_reach_are_refused() {
    let good = serde_json::to_value(scene(17, "ann@3,3*3 bob@8,8*3 Zombie#90@13,3")).unwrap();
    assert!(restore::<LastBullet>(&good.to_string()).is_ok());
    type Edit = fn(&mut Value);
    let edits: [(&str, Edit); 9] = [
        ("two on one square", |s| s["pieces"][1]["square"] = s["pieces"][0]["square"].clone()),
        ("off the board", |s| s["pieces"][0]["square"]["x"] = json!(17)),
        ("two with one number", |s| s["pieces"][2]["number"] = json!(1)),
        ("a number of the future", |s| s["numbers"]["given"] = json!(88)),
        ("too many bullets", |s| s["pieces"][0]["bullets"] = json!(4)),
        ("a score above the clock", |s| s["scores"][0] = json!(1)),
        ("too few scores", |s| s["scores"] = json!([0])),
        ("a reserved name", |s| s["entries"][1] = json!("zombie")),
        ("over while somebody lives", |s| s["over"] = json!(true)),
    ];
    for (name, edit) in edits {
        let mut state = good.clone();
        edit(&mut state);
        assert!(restore::<LastBullet>(&state.to_string()).is_err(), "{name}");
    }
}
