//! Turns per second at the start of a match, views included, and how the cost grows with the number of pieces.

use crate::Tally;
use criterion::Criterion;
use necrodome_rules::{
    bot::{Bot, BotSpec},
    catalog::Listed,
    chance::Seeded,
    game::{Game, Seat, Silent},
    last_bullet::{LastBullet, LastBulletRules, LastBulletView, Seen},
    names::Names,
    play::decide,
};
use std::collections::HashMap;

const LINE_UP: [&str; 5] = ["gunner", "runner", "huddle", "wander", "stand-still"];
/// Turns played from the start of each match.
const TURNS: u64 = 20;
const COPIES: usize = 50;

struct Field {
    start: LastBullet,
    bots: Vec<Box<dyn Bot<LastBullet>>>,
    views: Vec<LastBulletView>,
}

fn field(entries: usize) -> Field {
    let names = Names::new((0..entries).map(|entry| format!("entry {entry}"))).unwrap();
    let rules = LastBulletRules::default();
    assert_eq!(rules.copies.get() as usize, COPIES);
    let start = LastBullet::new(&names, &rules, &mut Seeded::new(3, "bench", 0), &mut Silent).unwrap();
    let built_ins = LastBullet::built_ins();
    let build = |seat: usize| {
        let spec: BotSpec = LINE_UP[seat % LINE_UP.len()].parse().unwrap();
        let bot = built_ins.iter().find(|bot| bot.name == spec.name).unwrap();
        bot.build(&spec, Seeded::new(3, "bot", seat as u64)).unwrap()
    };
    let views = Seat::all(entries).iter().map(|&seat| start.view(seat)).collect();
    Field { bots: (0..entries).map(build).collect(), views, start }
}

/// Plays the first turns of a match, through views, bots and referee.
fn first_turns(field: &mut Field, chance: &mut Seeded) -> u64 {
    let mut game = field.start.clone();
    let mut moves = Vec::new();
    for _ in 0..TURNS {
        decide(&game, &mut field.bots, &mut field.views, &mut moves);
        game.apply(&moves, chance, &mut Silent).unwrap();
    }
    assert_eq!(u64::from(game.clock()), TURNS);
    game.invariants().unwrap();
    TURNS
}

/// The views of one turn in the plain way: for each copy a dense window, looked up in a hash map.
fn plain_views(game: &LastBullet, entries: usize) -> Vec<Vec<Vec<Seen>>> {
    let board: HashMap<(i32, i32), _> =
        game.pieces().iter().map(|piece| ((piece.square.x.into(), piece.square.y.into()), piece)).collect();
    let side = i32::from(game.side());
    let mut views = vec![Vec::new(); entries];
    for piece in game.pieces() {
        let Some(seat) = piece.player() else { continue };
        let (x, y) = (i32::from(piece.square.x), i32::from(piece.square.y));
        let mut seen = Vec::new();
        for dy in -8..=8 {
            for dx in -8..=8 {
                let at = ((x + dx).rem_euclid(side), (y + dy).rem_euclid(side));
                if let (Some(other), false) = (board.get(&at), (dx, dy) == (0, 0)) {
                    let (dx, dy) = (dx as i8, dy as i8);
                    seen.push(Seen { dx, dy, who: other.kind.into(), number: other.number });
                }
            }
        }
        views[seat.index()].push(seen);
    }
    views
}

pub fn bench(criterion: &mut Criterion, tally: &Tally) {
    let mut chance = Seeded::new(4, "bench", 0);
    let mut small = field(20);
    let plain = "last-bullet: plain views only, 1k";
    let game = small.start.clone();
    tally.bench(criterion, plain, "turns", None, || {
        assert_eq!(plain_views(&game, 20).len(), 20);
        1
    });
    let expected = plain_views(&game, 20);
    for (view, expected) in small.views.iter().zip(expected) {
        let seen: Vec<Vec<Seen>> = view.copies.iter().map(|copy| copy.seen.clone()).collect();
        assert_eq!(seen, expected, "the views differ from the plain ones");
    }

    let mut sizes = Vec::new();
    for (entries, label) in [(20, "1k"), (80, "4k"), (320, "16k")] {
        let name = format!("last-bullet: whole turns, {label}");
        let field = if entries == 20 { &mut small } else { &mut field(entries) };
        let baseline = (entries == 20).then_some(plain);
        tally.bench(criterion, &name, "turns", baseline, || first_turns(field, &mut chance));
        sizes.push((entries * COPIES, tally.rate(&name)));
    }
    println!("\nlast-bullet: cost of a turn for each piece");
    let cost = |&(pieces, rate): &(usize, Option<f64>)| Some((pieces, 1e9 / rate? / pieces as f64));
    let costs: Vec<_> = sizes.iter().filter_map(cost).collect();
    for (pieces, nanoseconds) in &costs {
        println!("  {pieces:>6} pieces: {nanoseconds:>5.0} ns, {:.2}x", nanoseconds / costs[0].1);
        // Not when the benchmarks are only tried out, with one iteration each.
        let measured = std::env::args().any(|arg| arg == "--bench");
        assert!(
            !measured || nanoseconds / costs[0].1 < 3.0,
            "the cost for each piece grows with their number"
        );
    }
}
