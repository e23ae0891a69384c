//! Which dice to keep in every state, ready to be looked up.

use super::{
    HEALTH, LANES, POINTS, Place, Start, TokyoSolution,
    dice::{FULL, HANDFULS, Handful, Handfuls},
    sheet::Sheet,
};
use rayon::prelude::*;

/// The choices of one turn: with one reroll left, then with two.
const CHOICES: usize = 2 * FULL;
const STARTS: usize = POINTS * POINTS * HEALTH * HEALTH;

/// For every beginning of a turn, rerolls left and handful, what to keep of it, as a [`share`].
#[derive(Debug)]
pub(super) struct KeepPolicy {
    choices: Vec<u8>,
}

impl KeepPolicy {
    pub fn new(solution: &TokyoSolution) -> Self {
        // Inside, outside, and the first turn of a match.
        let mut choices = vec![0; (2 * STARTS + 1) * CHOICES];
        let (usual, first) = choices.split_at_mut(2 * STARTS * CHOICES);
        usual.par_chunks_mut(LANES * CHOICES).enumerate().for_each_init(
            Sheet::new,
            |sheet, (chunk, choices)| {
                let start = |lane: usize| start(chunk * LANES + lane);
                fill::<LANES>(solution, &std::array::from_fn(start), sheet, choices);
            },
        );
        fill::<1>(solution, &[Start::MATCH], &mut Sheet::new(), first);
        KeepPolicy { choices }
    }

    /// The handful to keep of a full one.
    pub fn keep(&self, start: &Start, rerolls_left: u8, full: usize) -> Handful {
        let number = match start.place {
            Place::Inside => start.number(),
            Place::Outside => STARTS + start.number(),
            Place::Empty => 2 * STARTS,
        };
        let choice = number * CHOICES + usize::from(rerolls_left.clamp(1, 2) - 1) * FULL + full;
        unshare(&Handfuls::get().all[full], self.choices[choice])
    }

    /// The number of the handful to keep, for each beginning of a turn, rerolls left (1, 2) and full handful.
    pub fn kept(&self) -> Vec<u16> {
        let tables = Handfuls::get();
        let kept = |(number, &choice): (usize, &u8)| {
            tables.number(&unshare(&tables.all[number % FULL], choice)) as u16
        };
        self.choices.iter().enumerate().map(kept).collect()
    }
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

fn fill<const L: usize>(
    solution: &TokyoSolution,
    starts: &[Start; L],
    sheet: &mut Sheet<L>,
    choices: &mut [u8],
) {
    let tables = Handfuls::get();
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

/// For every handful the number of the best one that can be kept of it; of equals the one with more dice. Numbers are
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

/// A part of a handful as one number below 64.
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
