//! Decodes films and compares them with the referee, turn by turn.

use super::*;
use necrodome_arena::{
    fault::Fault,
    player::{Answer, BuiltInPlayer, MatchStart, Player},
    replay::unpack,
    run::run_match,
};
use necrodome_rules::{
    chance::{Chance, Seeded},
    game::Outcome,
    last_bullet::{
        Action, Direction, Event, Kind, LastBulletRules, LastBulletView, Order, ShotResult, Square, Torus,
        built_ins,
    },
    names::Names,
};

/// A bot that walks, shoots at anybody it sees, at itself, at corpses and at nobody, and says so.
struct Madman(Seeded);

impl Player<LastBullet> for Madman {
    fn start(&mut self, _: &MatchStart) {}
    fn hear(&mut self, _: &[&Event]) {}
    fn ask(&mut self, _: &LastBulletView) {}
    fn refused(&mut self, why: &str) {
        panic!("{why}");
    }
    fn end(&mut self, _: &Outcome) -> Vec<Fault> {
        Vec::new()
    }

    fn answer(&mut self, view: &LastBulletView) -> Answer<Action> {
        let mut orders = Vec::new();
        for copy in &view.copies {
            let chance = &mut self.0;
            let target = match chance.uniform(8) {
                0 => Some(copy.number),
                1 => Some(chance.uniform(5000)),
                2 | 3 if !copy.seen.is_empty() => {
                    Some(copy.seen[chance.uniform(copy.seen.len() as u32) as usize].number)
                }
                4 => continue,
                _ => None,
            };
            orders.push(match target {
                Some(target) => Order::Shoot { copy: copy.number, target },
                None => {
                    Order::Move { copy: copy.number, direction: Direction::ALL[self.0.uniform(9) as usize] }
                }
            });
        }
        Answer::Act(Action { orders }, Some(format!("for {}", view.copies.len())))
    }
}

fn replay(seed: u64, madmen: usize, others: &[&str], rules: &LastBulletRules) -> Replay<LastBullet> {
    let mut players: Vec<Box<dyn Player<LastBullet>>> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for place in 0..madmen {
        players.push(Box::new(Madman(Seeded::new(seed, "madman", place as u64))));
        names.push(format!("madman-{place}"));
    }
    for (place, name) in others.iter().enumerate() {
        let found = built_ins().into_iter().find(|bot| bot.name == *name).unwrap();
        let bot = found.build(&name.parse().unwrap(), Seeded::new(seed, name, place as u64)).unwrap();
        players.push(Box::new(BuiltInPlayer(bot)));
        names.push(format!("{name}-{place}"));
    }
    let names = Names::new(names).unwrap();
    let finished = run_match(&names, rules, seed, &mut players, |_, _| {}).unwrap();
    unpack(finished.recording.pack().unwrap().as_slice()).unwrap().parse().unwrap()
}

fn rules(json: serde_json::Value) -> LastBulletRules {
    serde_json::from_value(json).unwrap()
}

/// A piece as a film describes it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Told {
    kind: Kind,
    square: Square,
    bullets: u32,
}

struct Decoder {
    bytes: Vec<u8>,
    at: usize,
    torus: Torus,
    pieces: Vec<Told>,
    shots: Vec<(usize, Option<usize>, bool)>,
}

impl Decoder {
    fn new(film: &BattleFilm) -> Self {
        let torus = Torus::new(film.side);
        let bytes = BASE64.decode(film.stream.as_bytes()).unwrap();
        let mut decoder = Decoder { bytes, at: 0, torus, pieces: Vec::new(), shots: Vec::new() };
        for seat in Seat::all(film.living.len()) {
            for _ in 0..film.copies {
                let square = torus.square(decoder.varint());
                decoder.pieces.push(Told { kind: Kind::Player(*seat), square, bullets: 3 });
            }
        }
        decoder
    }

    fn varint(&mut self) -> usize {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.bytes[self.at];
            self.at += 1;
            number |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return number;
            }
        }
    }

    fn list(&mut self) -> Vec<usize> {
        let count = self.varint();
        let mut next = 0;
        let mut places = Vec::new();
        for _ in 0..count {
            next += self.varint() + 1;
            places.push(next - 1);
        }
        places
    }

    fn turn(&mut self) {
        self.shots.clear();
        for _ in 0..self.varint() {
            let (shooter, code) = (self.varint(), self.varint());
            self.shots.push((shooter, (code / 2).checked_sub(1), code % 2 == 1));
        }
        for place in self.list() {
            self.pieces[place].kind = Kind::Corpse;
        }
        let walking = |place: &usize| self.pieces[*place].kind != Kind::Corpse;
        let walking: Vec<usize> = (0..self.pieces.len()).filter(walking).collect();
        for five in walking.chunks(5) {
            let mut word = u16::from_le_bytes([self.bytes[self.at], self.bytes[self.at + 1]]);
            self.at += 2;
            for &place in five {
                let (dx, dy) = Direction::ALL[usize::from(word % 9)].offset();
                word /= 9;
                self.pieces[place].square = self.torus.step(self.pieces[place].square, dx, dy);
            }
            assert_eq!(word, 0);
        }
        if let Some(place) = self.varint().checked_sub(1) {
            if place == self.pieces.len() {
                let square = self.torus.square(self.varint());
                self.pieces.push(Told { kind: Kind::Zombie, square, bullets: 0 });
            }
            self.pieces[place].kind = Kind::Zombie;
        }
        for place in self.list() {
            self.pieces[place].kind = Kind::Zombie;
        }
        for place in self.list() {
            self.pieces[place].bullets = self.varint() as u32;
        }
    }
}

fn living_at(film: &BattleFilm, seat: usize, turn: u32) -> u32 {
    film.living[seat].iter().rev().find(|&&(from, _)| from <= turn).unwrap().1
}

/// Checks that every piece, shot and curve agrees with the referee in every turn.
fn check(replay: &Replay<LastBullet>) -> BattleFilm {
    let film = battle(replay, usize::MAX).unwrap();
    let mut decoder = Decoder::new(&film);
    let mut numbers: Vec<u32> = (0..decoder.pieces.len() as u32).collect();
    replay
        .play(|turn, game, log| {
            decoder.turn();
            let expected: Vec<Told> = game
                .pieces()
                .iter()
                .map(|piece| Told { kind: piece.kind, square: piece.square, bullets: piece.bullets })
                .collect();
            assert!(decoder.pieces == expected, "turn {turn}");
            let shots = log.iter().filter_map(|logged| match logged.event {
                Event::Shot { result: ShotResult::NoBullet, .. } => None,
                Event::Shot { number, target, result, .. } => Some((
                    number as usize,
                    numbers.iter().position(|&number| number == target),
                    result == ShotResult::Hit,
                )),
                _ => None,
            });
            assert_eq!(decoder.shots, shots.collect::<Vec<_>>(), "turn {turn}");
            numbers = game.pieces().iter().map(|piece| piece.number).collect();
            let count = |kind| expected.iter().filter(|piece| piece.kind == kind).count() as u32;
            for (place, &seat) in Seat::all(replay.names.len()).iter().enumerate() {
                assert_eq!(living_at(&film, place, turn as u32), count(Kind::Player(seat)));
            }
            assert_eq!(film.zombies[turn], count(Kind::Zombie));
            assert_eq!(film.corpses[turn], count(Kind::Corpse));
            Ok(())
        })
        .unwrap();
    assert_eq!(decoder.at, decoder.bytes.len(), "nothing is left over");
    assert_eq!(film.turns as usize, replay.steps);
    film
}

#[test]
fn a_film_shows_what_the_referee_saw() {
    let small = rules(serde_json::json!({ "copies": 12 }));
    for seed in 0..6 {
        check(&replay(seed, 2, &["gunner", "runner", "huddle", "wander", "stand-still"], &small));
    }
    // A crowded field, where nearly every zombie rises on somebody; and one that ends by the clock.
    let crowded = rules(serde_json::json!({ "copies": 60, "density": 0.9 }));
    check(&replay(7, 3, &["gunner", "runner"], &crowded));
    let short = rules(serde_json::json!({ "copies": 5, "max_turns": 9 }));
    assert_eq!(check(&replay(8, 1, &["runner"], &short)).turns, 9);
}

#[test]
fn what_is_worth_a_look_is_listed_by_turn() {
    let film = check(&replay(3, 0, &["gunner", "huddle", "runner", "gunner"], &LastBulletRules::default()));
    let turns: Vec<u32> = film.notable.iter().map(|notable| notable.turn).collect();
    assert!(turns.is_sorted());
    let told = |words: &str| {
        let says = |notable: &&Notable| notable.told.text.to_string().starts_with(words);
        film.notable.iter().filter(says).collect::<Vec<_>>()
    };
    assert_eq!(told("is gone").len(), 4, "nobody outlives a match without a limit");
    for (seat, curve) in film.living.iter().enumerate() {
        let (turn, living) = *curve.last().unwrap();
        assert_eq!(living, 0);
        let out = told(&format!("is gone: lived to clock {}", turn - 1));
        let seat = Some(Seat(seat as u16));
        assert!(out.iter().any(|notable| notable.turn == turn && notable.told.seat == seat), "{seat:?}");
    }
    assert_eq!(told("is the first to lose a survivor to a bite").len(), 1);
    assert_eq!(told("is the only entry left").len(), 1);
    let of = |kind| film.notable.iter().filter(|notable| notable.kind == kind).count();
    let kinds = [NotableKind::Gone, NotableKind::Bite, NotableKind::Alone, NotableKind::Half];
    assert_eq!(kinds.map(of), [4, 1, 1, 4]);
    assert_eq!(told("has lost half of their survivors").len(), 4);
}

#[test]
fn reasons_are_told_with_the_turn_they_were_given_in() {
    let film = check(&replay(1, 2, &[], &rules(serde_json::json!({ "copies": 4 }))));
    assert!(film.said.len() > 4);
    for said in &film.said {
        let living = living_at(&film, said.seat.index(), said.turn);
        assert_eq!(said.reason, format!("for {living}"));
    }
    assert_eq!(film.silent_from, None);
}

#[test]
fn too_much_talk_is_left_out_from_a_turn_on() {
    let mut talk = Talk::default();
    let long = vec![Some("x".repeat(MAX_SAID / 2 - SAYING))];
    for turn in 0..4 {
        talk.turn(turn, &[Seat(0)], &long);
    }
    assert_eq!((talk.said.len(), talk.silent_from), (2, Some(2)));
}

#[test]
fn what_is_too_large_for_a_page_is_refused_with_the_reason() {
    let replay = replay(2, 0, &["runner", "gunner"], &rules(serde_json::json!({ "copies": 10 })));
    let refused = |limits: Limits| battle_within(&limits, &replay).unwrap_err().to_string();
    let turns = replay.steps;
    assert!(turns > 5);
    assert!(battle_within(&Limits { turns, copies: 20, ..LIMITS }, &replay).is_ok());
    assert_eq!(
        refused(Limits { turns: 5, ..LIMITS }),
        format!(
            "the replay is too large: {turns} turns, and 5 is the limit \
             (`necrodome replay` tells it in words)"
        )
    );
    assert!(refused(Limits { copies: 19, ..LIMITS }).contains(": 20 copies, and 19 is the limit"));
    assert!(refused(Limits { squares: 300.0, ..LIMITS }).contains(": 333 squares, and 300 is the limit"));
    assert!(refused(Limits { stream: 60, ..LIMITS }).contains(": more than 60 bytes by turn "));
}
