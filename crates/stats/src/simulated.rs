//! Games of known strengths for the tests.

use super::{Block, MatchResult};
use necrodome_rules::chance::{Chance, Seeded};

/// A match whose scores are -10 times the places.
pub(super) fn game(entries: &[usize], places: &[u16]) -> MatchResult {
    let scores = places.iter().map(|&place| -10 * i64::from(place)).collect();
    MatchResult { entries: entries.to_vec(), places: places.to_vec(), scores }
}

/// Blocks in which all entries meet in every rotation, each match by the law of Plackett and Luce.
pub(super) fn table(strengths: &[f64], blocks: usize, seed: u64) -> Vec<Block> {
    let all: Vec<usize> = (0..strengths.len()).collect();
    let mut chance = Seeded::new(seed, "test", 0);
    (0..blocks).map(|_| rotations(&all, strengths, &mut chance)).collect()
}

/// As many blocks of each pair.
pub(super) fn round_robin(strengths: &[f64], blocks: usize, seed: u64) -> Vec<Block> {
    let mut chance = Seeded::new(seed, "test", 1);
    let mut played = Vec::new();
    for _ in 0..blocks {
        for a in 0..strengths.len() {
            for b in a + 1..strengths.len() {
                played.push(rotations(&[a, b], strengths, &mut chance));
            }
        }
    }
    played
}

fn rotations(entries: &[usize], strengths: &[f64], chance: &mut Seeded) -> Block {
    let mut seating = entries.to_vec();
    let mut games = Vec::new();
    for _ in entries {
        let weights: Vec<f64> = seating.iter().map(|&entry| strengths[entry]).collect();
        games.push(game(&seating, &drawn_places(&weights, chance)));
        seating.rotate_left(1);
    }
    Block { games }
}

/// Places drawn one after the other, each in proportion to the weights that are left.
pub(super) fn drawn_places(weights: &[f64], chance: &mut Seeded) -> Vec<u16> {
    let mut places = vec![0; weights.len()];
    for place in 1..=weights.len() as u16 {
        let free: Vec<usize> = (0..weights.len()).filter(|&seat| places[seat] == 0).collect();
        let mut left = unit(chance) * free.iter().map(|&seat| weights[seat]).sum::<f64>();
        let drawn = free.iter().copied().find(|&seat| {
            left -= weights[seat];
            left < 0.0
        });
        places[drawn.unwrap_or(free[0])] = place;
    }
    places
}

/// A number from 0 up to 1.
pub(super) fn unit(chance: &mut Seeded) -> f64 {
    f64::from(chance.uniform(1 << 30)) / f64::from(1 << 30)
}
