//! States from outside may be damaged or made up: restoring one fails, or gives a state that can be played.

use super::probes::{Probes, probes};
use necrodome_rules::{
    chance::{Chance, Seeded},
    game::{Game, Move, Seat, restore},
    names::Names,
};
use serde_json::Value;

/// Damages saved states of random matches and plays on with those that are still accepted. Returns their number.
pub fn survives_damage<G: Game>(rounds: u64) -> u64 {
    let probes = probes::<G>();
    let mut accepted = 0;
    for seed in 0..rounds {
        let mut random = Seeded::new(seed, "damage", 0);
        let (seats, rules) = &probes.setups[seed as usize % probes.setups.len()];
        let names = Names::new((0..*seats).map(|seat| format!("bot {seat}"))).unwrap();
        let mut game = G::new(&names, rules, &mut random, &mut Vec::new()).unwrap();
        let steps = random.uniform(30);
        play_on(&probes, &mut game, steps, &mut random);
        let mut saved = serde_json::to_value(&game).unwrap();
        for _ in 0..=random.uniform(2) {
            damage(&mut saved, &mut random);
        }
        if let Ok(mut back) = restore::<G>(&saved.to_string()) {
            accepted += 1;
            Seat::all(*seats).iter().filter(|_| back.outcome().is_none()).for_each(|&seat| {
                // Damage may have taken seats away.
                if back.to_act().contains(&seat) {
                    back.view(seat);
                }
            });
            play_on(&probes, &mut back, 30, &mut random);
            back.invariants().unwrap();
        }
    }
    accepted
}

fn play_on<G: Game>(probes: &Probes<G>, game: &mut G, steps: u32, random: &mut Seeded) {
    for _ in 0..steps {
        if game.to_act().is_empty() {
            return;
        }
        let choose = |&seat: &Seat| Move::Act((probes.random_legal)(&game.view(seat), random));
        let moves: Vec<_> = game.to_act().iter().map(choose).collect();
        game.apply(&moves, random, &mut Vec::new()).unwrap();
    }
}

/// Changes one value somewhere in the document.
fn damage(value: &mut Value, random: &mut Seeded) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let index = random.uniform(items.len() as u32) as usize;
            match random.uniform(12) {
                0 => drop(items.remove(index)),
                1 => items.push(items[index].clone()),
                _ => damage(&mut items[index], random),
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            let index = random.uniform(fields.len() as u32) as usize;
            damage(fields.values_mut().nth(index).unwrap(), random);
        }
        Value::Bool(flag) => *flag = !*flag,
        other => {
            const VALUES: [u64; 9] = [0, 1, 2, 3, 13, 20, 255, u32::MAX as u64 - 1, u32::MAX as u64];
            *other = match random.uniform(10) {
                9 => Value::Null,
                pick => VALUES[pick as usize].into(),
            };
        }
    }
}
