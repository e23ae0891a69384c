//! Rolls per second of a turn by the policy `greedy`, whose value is known exactly.

use crate::{
    Tally,
    baseline::{Mean, Xorshift},
};
use criterion::Criterion;
use necrodome_rules::{
    bot::BotSpec,
    catalog::Listed,
    chance::Seeded,
    game::{Audience, Log},
    names::Names,
    play::play,
    zombie_dice::{Event, Race, Solo, Table},
};

/// The exact value of one turn of `greedy` (stop at two shotguns).
const GREEDY: f64 = 2.087459223;
const PLAIN: &str = "zombie-dice: plain loop";

/// Counts rolls.
#[derive(Default)]
struct Rolls(u64);

impl Log<Event> for Rolls {
    fn record(&mut self, _: Audience, event: Event) {
        self.0 += u64::from(matches!(event, Event::Rolled { .. }));
    }
}

/// Plays a turn as a tight loop without any of the referee's bookkeeping. Returns the score and the rolls.
fn plain_turn(random: &mut Xorshift) -> (u32, u64) {
    const SIDES: [[u32; 2]; 3] = [[3, 5], [2, 4], [1, 3]];
    let mut cup = [6u32, 4, 3];
    let (mut left, mut brains, mut shotguns, mut rolls) = (13, 0, 0, 0);
    let mut feet = [0u32; 3];
    loop {
        rolls += 1;
        let mut hand = feet;
        for _ in feet.iter().sum()..3 {
            let draw = random.below(left);
            let colour = usize::from(draw >= cup[0]) + usize::from(draw >= cup[0] + cup[1]);
            cup[colour] -= 1;
            left -= 1;
            hand[colour] += 1;
        }
        feet = [0; 3];
        for colour in 0..3 {
            for _ in 0..hand[colour] {
                let side = random.below(6);
                if side < SIDES[colour][0] {
                    brains += 1;
                } else if side < SIDES[colour][1] {
                    feet[colour] += 1;
                } else {
                    shotguns += 1;
                }
            }
        }
        if shotguns >= 3 {
            return (0, rolls);
        }
        if shotguns >= 2 || left + feet.iter().sum::<u32>() < 3 {
            return (brains, rolls);
        }
    }
}

/// Plays matches of `greedy` against itself through the ordinary referee. Returns the rolls.
fn matches<G: Listed<Event = Event>>(
    count: usize,
    chance: &mut Seeded,
    mut result: impl FnMut(&[i64]),
) -> u64 {
    let seats = *G::SEATS.start();
    let names = Names::new((0..seats).map(|seat| format!("greedy {seat}"))).unwrap();
    let spec: BotSpec = "greedy".parse().unwrap();
    let greedy = G::built_ins().into_iter().find(|bot| bot.name == spec.name).unwrap();
    let mut bots: Vec<_> =
        (0..seats).map(|seat| greedy.build(&spec, Seeded::new(0, "bot", seat as u64)).unwrap()).collect();
    let rules = G::Rules::default();
    let mut rolls = Rolls::default();
    for _ in 0..count {
        let mut game = G::new(&names, &rules, chance, &mut rolls).unwrap();
        result(&play(&mut game, &mut bots, chance, &mut rolls).unwrap().scores);
    }
    rolls.0
}

pub fn bench(criterion: &mut Criterion, tally: &Tally) {
    const TURNS: usize = 1000;
    let mut random = Xorshift::new(7);
    let mut mean = Mean::default();
    tally.bench(criterion, PLAIN, "rolls", None, || {
        (0..TURNS)
            .map(|_| {
                let (score, rolls) = plain_turn(&mut random);
                mean.add(score.into());
                rolls
            })
            .sum()
    });
    if tally.rate(PLAIN).is_some() {
        mean.assert_near(GREEDY, 0.0, "the plain loop");
    }

    let mut chance = Seeded::new(7, "bench", 0);
    let mut mean = Mean::default();
    let solo = "zombie-dice-solo: referee, greedy";
    tally.bench(criterion, solo, "rolls", Some(PLAIN), || {
        matches::<Solo>(TURNS, &mut chance, |scores| mean.add(scores[0] as f64))
    });
    if tally.rate(solo).is_some() {
        mean.assert_near(GREEDY, 0.0, "the referee");
    }

    let check =
        |scores: &[i64]| assert!(scores.iter().any(|&score| score >= 13), "nobody has 13: {scores:?}");
    tally.bench(criterion, "zombie-dice-race: referee, greedy", "rolls", Some(PLAIN), || {
        matches::<Race>(100, &mut chance, check)
    });
    tally.bench(criterion, "zombie-dice: referee, two greedy", "rolls", Some(PLAIN), || {
        matches::<Table>(100, &mut chance, check)
    });
}
