//! Tournaments of known strengths for the tests.

use super::{Design, Match, Measure, Tally};
use necrodome_rules::chance::{Chance, Seeded};

/// A match by entries and places; scores are -10 times the places.
pub(super) type Game = (Vec<usize>, Vec<u16>);

/// The sums of blocks of matches.
pub(super) fn tally(design: Design, blocks: impl IntoIterator<Item = Vec<Game>>) -> Tally {
    let mut tally = Tally::new(design);
    for block in blocks {
        let scores: Vec<Vec<i64>> = block
            .iter()
            .map(|(_, places)| places.iter().map(|&place| -10 * i64::from(place)).collect())
            .collect();
        let matches = block.iter().zip(&scores);
        tally.add(matches.map(|((entries, places), scores)| Match { entries, places, scores, luck: None }));
    }
    tally
}

/// The design of a tournament decided by win rates.
pub(super) fn by_wins(entries: usize, seats: usize) -> Design {
    Design { entries, seats, measure: Measure::WinRate, rotates: true }
}

/// Blocks in which all entries meet in every rotation, each match by the law of Plackett and Luce.
pub(super) fn table(strengths: &[f64], blocks: usize, seed: u64) -> Vec<Vec<Game>> {
    let all: Vec<usize> = (0..strengths.len()).collect();
    let mut chance = Seeded::new(seed, "test", 0);
    (0..blocks).map(|_| rotations(&all, strengths, &mut chance)).collect()
}

/// Blocks in which every pair meets.
pub(super) fn round_robin(strengths: &[f64], blocks: usize, seed: u64) -> Vec<Vec<Game>> {
    let mut chance = Seeded::new(seed, "test", 1);
    let mut block = || {
        let mut games = Vec::new();
        for a in 0..strengths.len() {
            for b in a + 1..strengths.len() {
                games.extend(rotations(&[a, b], strengths, &mut chance));
            }
        }
        games
    };
    (0..blocks).map(|_| block()).collect()
}

fn rotations(entries: &[usize], strengths: &[f64], chance: &mut Seeded) -> Vec<Game> {
    let mut seating = entries.to_vec();
    let mut games = Vec::new();
    for _ in entries {
        let weights: Vec<f64> = seating.iter().map(|&entry| strengths[entry]).collect();
        games.push((seating.clone(), drawn_places(&weights, chance)));
        seating.rotate_left(1);
    }
    games
}

/// Draws the places one after the other, each in proportion to the remaining weights.
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

/// A number from 0 to below 1.
pub(super) fn unit(chance: &mut Seeded) -> f64 {
    f64::from(chance.uniform(1 << 30)) / f64::from(1 << 30)
}
