//! The dice to keep in every state, worked out once and then looked up.

use super::{
    HEALTH, LANES, POINTS, Place, Start, TokyoSolution,
    dice::{FULL, HANDFULS, Handful, Handfuls},
    rolls::number,
    sheet::Sheet,
};
use crate::solution::apart;
use rayon::prelude::*;
use std::sync::OnceLock;

/// The number of choices in one turn: with one reroll left, then with two.
const CHOICES: usize = 2 * FULL;
const STARTS: usize = POINTS * POINTS * HEALTH * HEALTH;
/// The number of batches. A batch holds turns that differ only in the other's health, which come up together. The first turn
/// of a match comes last and is alone.
const BATCHES: usize = 2 * STARTS / LANES + 1;

/// The dice to keep in the turns of a batch, by turn, rerolls left and full handful, as a [`share`].
type Batch = [u8; LANES * CHOICES];

/// The dice to keep for every beginning of a turn that has come up.
#[derive(Debug)]
pub(super) struct KeepPolicy {
    batches: Box<[OnceLock<Box<Batch>>]>,
    /// The index of the first part, by full handful.
    first_part: [u16; FULL],
    /// The parts of full handfuls, by [`share`].
    parts: Vec<Handful>,
}

impl KeepPolicy {
    pub fn new() -> Self {
        let mut parts = Vec::new();
        let mut first_part = [0; FULL];
        for (first, full) in first_part.iter_mut().zip(&Handfuls::get().all) {
            *first = parts.len() as u16;
            let shares = full.iter().map(|n| n + 1).product();
            parts.extend((0..shares).map(|share| unshare(full, share)));
        }
        KeepPolicy { batches: (0..BATCHES).map(|_| OnceLock::new()).collect(), first_part, parts }
    }

    /// The part to keep of a full handful.
    pub fn keep(&self, solution: &TokyoSolution, start: &Start, rerolls_left: u8, full: usize) -> Handful {
        let number = number(start);
        let batch = self.batches[number / LANES].get_or_init(|| batch(solution, number / LANES));
        let choice = number % LANES * CHOICES + usize::from(rerolls_left.clamp(1, 2) - 1) * FULL + full;
        self.parts[usize::from(self.first_part[full]) + usize::from(batch[choice])]
    }

    /// The number of the handful to keep, for each beginning of a turn, rerolls left (1, 2) and full handful.
    pub fn kept(&self, solution: &TokyoSolution) -> Vec<u16> {
        let tables = Handfuls::get();
        let mut all = vec![0; (2 * STARTS + 1) * CHOICES];
        let fill = |(number, kept): (usize, &mut [u16])| {
            let batch = batch(solution, number);
            for (place, (kept, &choice)) in kept.iter_mut().zip(batch.iter()).enumerate() {
                let share = usize::from(self.first_part[place % FULL]) + usize::from(choice);
                *kept = tables.number(&self.parts[share]) as u16;
            }
        };
        apart(|| all.par_chunks_mut(LANES * CHOICES).enumerate().for_each(fill));
        all
    }
}

/// Works out the dice to keep in all turns of a batch.
fn batch(solution: &TokyoSolution, number: usize) -> Box<Batch> {
    let mut choices = Box::new([0; LANES * CHOICES]);
    match number * LANES {
        first if first < 2 * STARTS => {
            let starts = std::array::from_fn(|lane| start(first + lane));
            fill::<LANES>(solution, &starts, &mut *choices);
        }
        _ => fill::<1>(solution, &[Start::MATCH], &mut choices[..CHOICES]),
    }
    choices
}

/// The beginning of a turn with this number, inside before outside.
fn start(number: usize) -> Start {
    let (rest, health) = (number / (HEALTH * HEALTH), number % (HEALTH * HEALTH));
    Start {
        place: if rest < POINTS * POINTS { Place::Inside } else { Place::Outside },
        health: (health / HEALTH) as u8 + 1,
        other_health: (health % HEALTH) as u8 + 1,
        points: (rest / POINTS % POINTS) as u8,
        other_points: (rest % POINTS) as u8,
    }
}

fn fill<const L: usize>(solution: &TokyoSolution, starts: &[Start; L], choices: &mut [u8]) {
    let tables = Handfuls::get();
    let sheet = &mut Sheet::<L>::new();
    solution.fill_last(starts, sheet);
    sheet.keep_once(tables);
    let mut note = |sheet: &Sheet<L>, offset: usize| {
        let best = best_kept(sheet, tables);
        for (full, best) in best[..FULL].iter().enumerate() {
            for (lane, &kept) in best.iter().enumerate() {
                let share = share(&tables.all[full], &tables.all[kept as usize]);
                choices[lane * CHOICES + offset + full] = share;
            }
        }
    };
    note(sheet, 0);
    sheet.keep_twice(tables);
    note(sheet, FULL);
}

/// The number of the best part to keep, by handful; of equals the part with more dice. Numbers are
/// carried as floats beside the values, so that the processor chooses several at a time.
fn best_kept<const L: usize>(sheet: &Sheet<L>, tables: &Handfuls) -> [[f64; L]; HANDFULS] {
    let mut values = sheet.kept;
    let mut numbers = [[0.0; L]; HANDFULS];
    for number in (0..HANDFULS).rev() {
        let mut best = values[number];
        let mut kept = [number as f64; L];
        for &without in &tables.without[number] {
            let without = usize::from(without);
            for lane in 0..L {
                let better = values[without][lane] > best[lane];
                best[lane] = if better { values[without][lane] } else { best[lane] };
                kept[lane] = if better { numbers[without][lane] } else { kept[lane] };
            }
        }
        values[number] = best;
        numbers[number] = kept;
    }
    numbers
}

/// Writes a part of a handful as one number below 64.
fn share(full: &Handful, part: &Handful) -> u8 {
    full.iter().zip(part).fold(0, |share, (full, part)| share * (full + 1) + part)
}

fn unshare(full: &Handful, mut share: u8) -> Handful {
    let mut part = *full;
    for count in part.iter_mut().rev() {
        let base = *count + 1;
        *count = share % base;
        share /= base;
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_starts_come_back() {
        for full in &Handfuls::get().all[..FULL] {
            for share_number in 0..full.iter().map(|n| n + 1).product::<u8>() {
                assert_eq!(share(full, &unshare(full, share_number)), share_number);
            }
        }
        for number in (0..2 * STARTS).step_by(77) {
            let start = start(number);
            let offset = if start.place == Place::Inside { 0 } else { STARTS };
            assert_eq!(offset + start.number(), number);
        }
    }
}
