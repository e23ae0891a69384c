//! Turns per second of four monsters: two angry, two point-hunters.

use crate::{
    Tally,
    baseline::{Mean, Xorshift},
};
use criterion::Criterion;
use necrodome_rules::{
    bot::BotSpec,
    catalog::Listed,
    chance::Seeded,
    game::{Game, Silent},
    names::Names,
    play::play,
    tokyo::{Tokyo, TokyoRules},
};

const PLAIN: &str = "tokyo: plain loop";
const LINE_UP: [&str; 4] = ["angry", "point-hunter", "angry", "point-hunter"];
const MATCHES: usize = 50;

/// Plays a whole match with the policies written into it. Returns the number of turns.
fn plain_match(random: &mut Xorshift) -> u64 {
    let (mut health, mut points, mut tokyo) = ([10i32; 4], [0u32; 4], usize::MAX);
    let (mut turns, mut current) = (0, 0);
    loop {
        turns += 1;
        let inside = tokyo == current;
        if inside {
            points[current] += 2;
            if points[current] >= 20 {
                return turns;
            }
        }
        let hunter = current % 2 == 1;
        let mut dice = [0u32; 6];
        let mut keep = [false; 6];
        for roll in 0..3 {
            for (die, kept) in dice.iter_mut().zip(keep) {
                if !kept {
                    *die = random.below(5);
                }
            }
            if roll == 2 {
                break;
            }
            let mut counts = [0; 5];
            dice.iter().for_each(|&die| counts[die as usize] += 1);
            let best =
                if counts[2] >= counts[0].max(counts[1]) { 2 } else { u32::from(counts[1] >= counts[0]) };
            let heals = !inside && health[current] <= if hunter { 4 } else { 3 };
            let wanted = |die: u32| die == if hunter { best } else { 4 } || heals && die == 3;
            keep = dice.map(wanted);
            if keep == [true; 6] {
                break;
            }
        }
        let mut counts = [0u32; 5];
        dice.iter().for_each(|&die| counts[die as usize] += 1);
        for (number, &alike) in (1..).zip(&counts[..3]) {
            if alike >= 3 {
                points[current] += number + alike - 3;
            }
        }
        if points[current] >= 20 {
            return turns;
        }
        let damage = counts[4] as i32;
        for (seat, health) in health.iter_mut().enumerate() {
            let target = if inside { seat != current } else { seat == tokyo };
            if damage > 0 && target && *health > 0 {
                *health = (*health - damage).max(0);
                let flees = *health <= if seat % 2 == 1 { 5 } else { 3 };
                if tokyo == seat && flees {
                    tokyo = usize::MAX;
                }
            }
        }
        if health.iter().filter(|&&health| health > 0).count() == 1 {
            return turns;
        }
        if !inside {
            health[current] = (health[current] + counts[3] as i32).min(10);
        }
        if tokyo == usize::MAX {
            tokyo = current;
            points[current] += 1;
            if points[current] >= 20 {
                return turns;
            }
        }
        current = (1..=4).map(|step| (current + step) % 4).find(|&seat| health[seat] > 0).unwrap();
    }
}

pub fn bench(criterion: &mut Criterion, tally: &Tally) {
    let mut random = Xorshift::new(5);
    let mut plain = Mean::default();
    tally.bench(criterion, PLAIN, "turns", None, || {
        (0..MATCHES)
            .map(|_| {
                let turns = plain_match(&mut random);
                plain.add(turns as f64);
                turns
            })
            .sum()
    });

    let names = Names::new((0..4).map(|seat| format!("monster {seat}"))).unwrap();
    let built_ins = Tokyo::built_ins();
    let build = |name: &str| {
        let spec: BotSpec = name.parse().unwrap();
        built_ins.iter().find(|bot| bot.name == name).unwrap().build(&spec, Seeded::new(0, "bot", 0)).unwrap()
    };
    let mut bots: Vec<_> = LINE_UP.into_iter().map(build).collect();
    let mut chance = Seeded::new(5, "bench", 0);
    let mut referee = Mean::default();
    let name = "tokyo: referee, four monsters";
    tally.bench(criterion, name, "turns", Some(PLAIN), || {
        (0..MATCHES)
            .map(|_| {
                let mut game = Tokyo::new(&names, &TokyoRules::default(), &mut chance, &mut Silent).unwrap();
                let turns = play(&mut game, &mut bots, &mut chance, &mut Silent).unwrap().turns;
                referee.add(turns.into());
                u64::from(turns)
            })
            .sum()
    });
    if tally.rate(PLAIN).is_some() && tally.rate(name).is_some() {
        referee.assert_near(plain.value(), plain.error(), "turns of a match by the referee");
    }
}
