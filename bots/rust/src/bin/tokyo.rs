//! Tokyo: plays its dice perfectly, for its own idea of what a roll is worth.
//!
//! The idea: give each final roll a worth in this position, then work backwards. With one roll left, a roll
//! is worth the best choice of dice to keep, each choice the mean over what the others can show; with two
//! left, the same again. Only how many dice show each face counts, so there are 210 different rolls of six.

use example_bots::{list, number, play};
use serde_json::{Value, json};
use std::collections::HashMap;

const FACES: [&str; 5] = ["one", "two", "three", "heal", "attack"];
const HEAL: usize = 3;
const ATTACK: usize = 4;

/// How many dice show each face.
type Counts = [i64; 5];

/// Gives each final roll its worth in victory points, more or less.
struct Position {
    health: i64,
    points: i64,
    inside: bool,
    /// The health of those whom an attack hits.
    targets: Vec<i64>,
}

impl Position {
    fn read(view: &Value) -> Position {
        let seat = number(&view["seat"]);
        let me = &view["monsters"][seat as usize];
        let inside = view["in_tokyo"] == seat;
        let hits = |other: i64| if inside { other != seat } else { view["in_tokyo"] == other };
        let monsters = list(&view["monsters"]).iter().zip(0..);
        let targets = monsters.filter(|&(_, other)| hits(other)).map(|(other, _)| number(&other["health"]));
        Position {
            health: number(&me["health"]),
            points: number(&me["points"]),
            inside,
            targets: targets.filter(|&health| health > 0).collect(),
        }
    }

    fn worth(&self, roll: Counts) -> f64 {
        let alike = (0..3).filter(|&face| roll[face] >= 3).map(|face| face as i64 + 1 + roll[face] - 3);
        let points = alike.sum::<i64>();
        let wins = if self.points + points >= 20 { 100. } else { 0. };
        let fear = 0.3 + 0.15 * (8 - self.health).max(0) as f64;
        let healed = if self.inside { 0 } else { roll[HEAL].min(10 - self.health) };
        let attack = |&health: &i64| {
            let knocked_out = if roll[ATTACK] >= health { 8. } else { 0. };
            0.7 * roll[ATTACK].min(health) as f64 + knocked_out
        };
        points as f64 + wins + fear * healed as f64 + self.targets.iter().map(attack).sum::<f64>()
    }

    /// The worth of a roll with so many rolls left.
    fn best(&self, roll: Counts, rolls: i64, known: &mut HashMap<(Counts, i64), f64>) -> f64 {
        if rolls == 0 {
            return self.worth(roll);
        }
        if let Some(&worth) = known.get(&(roll, rolls)) {
            return worth;
        }
        let mut best = f64::MIN;
        for kept in choices(roll) {
            best = best.max(self.mean(kept, rolls - 1, known));
        }
        known.insert((roll, rolls), best);
        best
    }

    /// The mean worth of keeping these dice and rolling the others. Die by die, so that every step is an
    /// average of five.
    fn mean(&self, kept: Counts, rolls: i64, known: &mut HashMap<(Counts, i64), f64>) -> f64 {
        if kept.iter().sum::<i64>() == 6 {
            return self.best(kept, rolls, known);
        }
        // Negative numbers of rolls name the halfway results in the same table.
        let key = (kept, -1 - rolls);
        if let Some(&mean) = known.get(&key) {
            return mean;
        }
        let mut sum = 0.;
        for face in 0..5 {
            let mut next = kept;
            next[face] += 1;
            sum += self.mean(next, rolls, known);
        }
        known.insert(key, sum / 5.);
        sum / 5.
    }
}

/// All choices of dice to keep, all of them first.
fn choices(roll: Counts) -> Vec<Counts> {
    let mut choices = vec![[0; 5]];
    for face in 0..5 {
        let with = |kept: &Counts| {
            let kept = *kept;
            (0..=roll[face]).rev().map(move |count| {
                let mut next = kept;
                next[face] = count;
                next
            })
        };
        choices = choices.iter().flat_map(with).collect();
    }
    choices
}

fn keep(view: &Value) -> (Value, String) {
    let position = Position::read(view);
    let dice: Vec<usize> =
        list(&view["dice"]).iter().filter_map(|die| FACES.iter().position(|&face| *die == face)).collect();
    let mut roll = [0; 5];
    dice.iter().for_each(|&face| roll[face] += 1);
    let rolls = number(&view["phase"]["rerolls_left"]);

    let mut known = HashMap::new();
    let (mut best, mut worth) = (roll, f64::MIN);
    for kept in choices(roll) {
        let mean = position.mean(kept, rolls - 1, &mut known);
        if mean > worth + 1e-9 {
            (best, worth) = (kept, mean);
        }
    }
    let mut left = best;
    let keeps: Vec<bool> = dice
        .iter()
        .map(|&face| {
            left[face] -= 1;
            left[face] >= 0
        })
        .collect();
    (json!({"type": "keep", "dice": keeps}), format!("worth {worth:.2}"))
}

fn choose(view: &Value) -> (Value, String) {
    if view["phase"]["type"] != "yielding" {
        return keep(view);
    }
    // Stay as long as one can expect to live until the next turn: each rival deals about two.
    let me = &view["monsters"][number(&view["seat"]) as usize];
    let rivals =
        list(&view["monsters"]).iter().filter(|other| number(&other["health"]) > 0).count() as i64 - 1;
    let stays = number(&me["health"]) > 2 + 2 * rivals.min(2);
    let action = if stays { "stay" } else { "yield" };
    (json!({"type": action}), format!("{} health against {rivals}", me["health"]))
}

fn main() -> std::io::Result<()> {
    play(choose)
}
