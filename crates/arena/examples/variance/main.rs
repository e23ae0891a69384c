//! What shared dice and the order of the seats do to the errors of a tournament:
//! `cargo run --release -p necrodome-arena --example variance [SECONDS]`, with the seconds for each line (1).
//!
//! The first table has ratios of variances: the variance of the difference of two win rates in a block, when the matches of a group share
//! dice, over the same with independent dice. Below 1, sharing pays. The second table seats twins at one table and counts how often a t test
//! on blocks tells them apart; 5% is right.

#![allow(clippy::unwrap_used)]

mod keyed;

use keyed::{Followed, keyed, mix};
use necrodome_arena::lineup::Maker;
use necrodome_rules::{
    bot::{Bot, BotSpec},
    chance::{Chance, Seeded},
    game::{Move, Outcome, Seat, Silent},
    infection::Infection,
    last_bullet::LastBullet,
    names::Names,
    options,
    play::{Memory, decide, play_with},
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, Table},
};
use std::{env, time::Instant};

fn main() {
    let seconds = env::args().nth(1).map_or(1.0, |seconds| seconds.parse().unwrap());
    println!("Variance of a difference of win rates (solo: of scores), against independent dice\n");
    println!("{:<14} {:<58} {:>7} {:>7} {:>7}", "game, seats", "line-up", "stream", "keyed", "blocks");
    for bots in [
        "greedy stop-at:shotguns=2,brains=8",
        "stop-at:shotguns=2,brains=5 stop-at:shotguns=2,brains=4",
        "optimal greedy",
        "greedy cautious",
        "greedy random",
    ] {
        ratios::<Race>(bots, seconds);
        ratios::<Table>(&bots.replace("optimal", "stop-at:brains=6"), seconds);
        ratios::<Solo>(bots, seconds);
    }
    for bots in [
        "greedy greedy cautious",
        "greedy cautious random",
        "stop-at:shotguns=2,brains=5 stop-at:shotguns=2,brains=4 greedy",
    ] {
        ratios::<Table>(bots, seconds);
        ratios::<Table>(&format!("{bots} stop-at:shotguns=1"), seconds);
    }
    for bots in [
        "point-hunter point-hunter:flee=6",
        "angry angry:flee=5",
        "angry optimal",
        "angry point-hunter",
        "angry random",
        "angry angry point-hunter",
        "angry point-hunter random",
        "point-hunter point-hunter:flee=6 point-hunter:flee=4",
        "angry point-hunter random point-hunter:flee=3",
    ] {
        ratios::<Tokyo>(bots, seconds);
    }
    for bots in
        ["careful spreader random", "careful careful spreader", "careful:reserve=1 careful spreader random"]
    {
        ratios::<Infection>(bots, seconds);
    }
    for bots in ["gunner runner", "gunner gunner:range=3", "runner wander", "gunner runner huddle"] {
        ratios::<LastBullet>(bots, seconds);
    }

    println!("\nTwins at one table (the first two entries), independent dice\n");
    println!(
        "{:<37} {:>7} {:>10} {:>11} {:>13}",
        "", "matches", "apart at 50", "500 blocks", "var per match"
    );
    twins::<Tokyo>("angry angry point-hunter random", seconds);
    twins::<Tokyo>("angry angry point-hunter point-hunter:flee=3 angry:flee=5", seconds);
    twins::<Tokyo>("point-hunter point-hunter random random random angry", seconds);
    twins::<Table>("greedy greedy cautious random stop-at:shotguns=1", seconds);
    twins::<Table>("greedy greedy cautious random stop-at:brains=6 stop-at:brains=3 random random", seconds);
}

#[derive(Clone, Copy, PartialEq)]
enum Dice {
    /// Each match has its own seed.
    Independent,
    /// All seatings of a group begin with the same stream.
    Stream,
    /// All seatings of a group meet the same dice at the same place of the match.
    Keyed,
}

/// Entries that play matches.
struct Field<'a, G: Followed> {
    rules: G::Rules,
    makers: Vec<Maker<'a, G>>,
    names: Names,
    memory: Memory<G>,
}

fn specs(bots: &str) -> Vec<BotSpec> {
    bots.split(' ').map(|bot| bot.parse().unwrap()).collect()
}

impl<'a, G: Followed> Field<'a, G> {
    fn new(specs: &'a [BotSpec]) -> Self {
        // A battle with all its copies takes a second.
        let settings: &[_] = if G::ID == "last-bullet" { &["copies=5", "max_turns=60"] } else { &[] };
        let settings: Vec<_> = settings.iter().map(|pair| options::split_pair(pair).unwrap()).collect();
        let rules = options::parse(&settings).unwrap();
        let makers = specs.iter().map(|spec| Maker::find(spec, &rules).unwrap()).collect();
        let names = Names::new((0..specs.len()).map(|entry| format!("entry {entry}"))).unwrap();
        Field { rules, makers, names, memory: Memory::default() }
    }

    fn play(&mut self, seating: &[usize], seed: u64, dice: Dice) -> Outcome {
        let build = |&entry: &usize| -> Box<dyn Bot<G>> {
            self.makers[entry].build(&|| Seeded::new(seed, "bot", entry as u64)).unwrap()
        };
        let mut bots: Vec<Box<dyn Bot<G>>> = seating.iter().map(build).collect();
        let names = self.names.seated(seating);
        if dice != Dice::Keyed {
            let mut chance = Seeded::new(seed, "match", 0);
            let mut game = G::new(&names, &self.rules, &mut chance, &mut Silent).unwrap();
            return play_with(&mut self.memory, &mut game, &mut bots, &mut chance, &mut Silent).unwrap();
        }
        let (mut chance, mut log) = keyed::<G>(seed, seating.len());
        let mut game = G::new(&names, &self.rules, &mut chance, &mut log).unwrap();
        let mut views: Vec<G::View> = Seat::all(seating.len()).iter().map(|&seat| game.view(seat)).collect();
        let mut moves: Vec<Move<G::Action>> = Vec::new();
        while !game.to_act().is_empty() {
            decide(&game, &mut bots, &mut views, &mut moves);
            chance.moved::<G>(&moves[0]);
            game.apply(&moves, &mut chance, &mut log).unwrap();
        }
        game.outcome().unwrap()
    }

    /// Returns the win rate of each entry in a block, or its score if it plays alone.
    fn block(&mut self, block: u64, seatings: &[Vec<usize>], dice: Dice) -> Vec<f64> {
        let mut rates = vec![0.0; self.makers.len()];
        for (number, seating) in seatings.iter().enumerate() {
            let number = if dice == Dice::Independent { number as u64 + 1 } else { 0 };
            let outcome = self.play(seating, mix(block << 20 | number), dice);
            let winners = outcome.winners().count() as f64;
            for (seat, &entry) in seating.iter().enumerate() {
                rates[entry] += match (seating.len(), outcome.places[seat]) {
                    (1, _) => outcome.scores[seat] as f64,
                    (_, 1) => 1.0 / winners / seatings.len() as f64,
                    _ => 0.0,
                };
            }
        }
        rates
    }
}

/// Mean and variance of a sample.
fn moments(sample: &[f64]) -> (f64, f64) {
    let count = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / count;
    (mean, sample.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0))
}

/// Prints the range of the ratios over all pairs of different entries.
fn ratios<G: Followed>(bots: &str, seconds: f64) {
    let specs = specs(bots);
    let entries: Vec<usize> = (0..specs.len()).collect();
    let mut field = Field::<G>::new(&specs);
    let seats = if G::SEATS == (1..=1) { 1 } else { entries.len() };
    let seatings =
        if seats == 1 { entries.iter().map(|&entry| vec![entry]).collect() } else { orders(&entries) };
    let pairs: Vec<(usize, usize)> = entries
        .iter()
        .flat_map(|&b| (0..b).map(move |a| (a, b)))
        .filter(|&(a, b)| specs[a] != specs[b])
        .collect();
    let start = Instant::now();
    let (mut block, mut rates) = (0, [const { Vec::new() }; 3]);
    while start.elapsed().as_secs_f64() < seconds || block < 100 {
        for (dice, rates) in [Dice::Independent, Dice::Stream, Dice::Keyed].into_iter().zip(&mut rates) {
            rates.push(field.block(block, &seatings, dice));
        }
        block += 1;
    }
    let variances = rates.map(|rates| -> Vec<f64> {
        let of_pair = |&(a, b): &(usize, usize)| rates.iter().map(|rates| rates[a] - rates[b]).collect();
        pairs
            .iter()
            .map(|pair| {
                let sample: Vec<f64> = of_pair(pair);
                moments(&sample).1
            })
            .collect()
    });
    let range = |shared: &[f64]| {
        let ratios = shared.iter().zip(&variances[0]).map(|(shared, independent)| shared / independent);
        let (least, most) = ratios.fold((f64::MAX, 0f64), |(least, most), r| (least.min(r), most.max(r)));
        if pairs.len() == 1 { format!("{most:.2}") } else { format!("{least:.1}-{most:.1}") }
    };
    let what = format!("{} {seats}", G::ID.trim_start_matches("zombie-"));
    println!("{what:<14} {bots:<58} {:>7} {:>7} {block:>7}", range(&variances[1]), range(&variances[2]));
}

/// Prints how often twins are told apart, by how a block seats them.
fn twins<G: Followed>(bots: &str, seconds: f64) {
    let specs = specs(bots);
    let entries: Vec<usize> = (0..specs.len()).collect();
    let mut field = Field::<G>::new(&specs);
    println!("{}: {bots}", G::ID);
    type Seatings = fn(&[usize]) -> Vec<Vec<usize>>;
    let ways: [(&str, bool, Seatings); 5] = [
        ("rotations of one order", false, rotations),
        ("a Williams square", false, williams),
        ("rotations, a new order each block", true, rotations),
        ("a Williams square, new each block", true, williams),
        ("all orders", false, orders),
    ];
    for (name, shuffles, seatings) in ways {
        if entries.len() > 4 && name == "all orders" {
            continue;
        }
        let (mut chance, mut order, mut differences) =
            (Seeded::new(1, "seatings", 0), entries.clone(), Vec::new());
        let size = seatings(&order).len();
        let start = Instant::now();
        while start.elapsed().as_secs_f64() < 5.0 * seconds {
            if shuffles {
                chance.shuffle(&mut order);
            }
            let rates = field.block(differences.len() as u64, &seatings(&order), Dice::Independent);
            differences.push(rates[0] - rates[1]);
        }
        // The quantiles of Student's t.
        let apart = [(50, 2.0096), (500, 1.9647)].map(|(blocks, t): (usize, f64)| {
            let tournaments = differences.chunks_exact(blocks);
            let all = tournaments.len();
            let apart = tournaments.filter(|sample| {
                let (mean, variance) = moments(sample);
                mean.abs() > t * (variance / blocks as f64).sqrt()
            });
            if all < 20 {
                "too few".into()
            } else {
                format!("{:.0}%", 100.0 * apart.count() as f64 / all as f64)
            }
        });
        let variance = moments(&differences).1 * size as f64;
        println!("  {name:<35} {size:>7} {:>10} {:>11} {variance:>13.4}", apart[0], apart[1]);
    }
}

fn orders(entries: &[usize]) -> Vec<Vec<usize>> {
    let begin_with = |(place, &first): (usize, &usize)| {
        let others = [&entries[..place], &entries[place + 1..]].concat();
        orders(&others).into_iter().map(move |rest| [&[first], &rest[..]].concat())
    };
    match entries {
        [] => vec![Vec::new()],
        _ => entries.iter().enumerate().flat_map(begin_with).collect(),
    }
}

fn rotations(order: &[usize]) -> Vec<Vec<usize>> {
    (0..order.len()).map(|by| [&order[by..], &order[..by]].concat()).collect()
}

/// Returns seatings with every entry on every seat once, and right behind every other entry once (twice if the number is odd).
fn williams(order: &[usize]) -> Vec<Vec<usize>> {
    let seats = order.len();
    // 0, 1, -1, 2, -2...
    let row = |by: usize| {
        (0..seats).map(move |seat| if seat % 2 == 1 { by + seat / 2 + 1 } else { by + seats - seat / 2 })
    };
    let square = (0..seats).map(|by| row(by).map(|entry| order[entry % seats]).collect());
    let square: Vec<Vec<usize>> = square.collect();
    let mirror = square.iter().map(|row| row.iter().rev().copied().collect());
    match seats % 2 {
        0 => square,
        _ => square.iter().cloned().chain(mirror).collect(),
    }
}
