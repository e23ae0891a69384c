//! The rolls of one turn, from the value of every result back to the value of every choice, for several turns at once.

use super::dice::{FACES, FULL, HANDFULS, Handfuls};

/// The values of `L` turns that are computed together, so that the processor works on several at a time.
#[derive(Debug, Clone)]
pub(crate) struct Sheet<const L: usize> {
    /// The value of each full handful before it is resolved.
    pub last: [[f64; L]; FULL],
    /// Values by handful; see the methods.
    pub kept: [[f64; L]; HANDFULS],
}

impl<const L: usize> Sheet<L> {
    pub fn new() -> Self {
        Sheet { last: [[0.0; L]; FULL], kept: [[0.0; L]; HANDFULS] }
    }

    /// Makes `kept` the value of keeping each handful, with one reroll left.
    pub fn keep_once(&mut self, tables: &Handfuls) {
        self.kept[..FULL].copy_from_slice(&self.last);
        self.reroll(tables);
    }

    /// Makes `kept` the value of keeping each handful, with two rerolls left. Call it after [`keep_once`](Self::keep_once).
    pub fn keep_twice(&mut self, tables: &Handfuls) {
        self.keep_twice_with(tables, |_| {});
    }

    /// Does the same as `keep_twice`, and shows `best` the value of each handful with one reroll left.
    pub fn keep_twice_with(&mut self, tables: &Handfuls, best: impl FnOnce(&[[f64; L]; HANDFULS])) {
        self.choose(tables);
        best(&self.kept);
        self.reroll(tables);
        // Who keeps all six dice has given up the second reroll.
        self.kept[..FULL].copy_from_slice(&self.last);
    }

    /// Returns the value before the first roll. Call it after [`keep_twice`](Self::keep_twice).
    pub fn first_roll(&mut self, tables: &Handfuls) -> [f64; L] {
        self.choose(tables);
        self.before_roll(tables)
    }

    /// The value before the first roll, from the value of each full handful.
    fn before_roll(&self, tables: &Handfuls) -> [f64; L] {
        let mut value = [0.0; L];
        for (kept, probability) in self.kept[..FULL].iter().zip(&tables.probability) {
            for (value, kept) in value.iter_mut().zip(kept) {
                *value += probability * kept;
            }
        }
        value
    }

    /// Goes from [`last`](Self::last) to the value before the first roll, for a player who does not choose the best: `plays`
    /// returns the value of a full handful to them, from the rerolls left and the values of keeping.
    pub fn played(
        &mut self,
        tables: &Handfuls,
        plays: impl Fn(u8, usize, &[[f64; L]; HANDFULS]) -> [f64; L],
    ) -> [f64; L] {
        self.keep_once(tables);
        for rerolls_left in [1, 2] {
            let worth: [[f64; L]; FULL] = std::array::from_fn(|full| plays(rerolls_left, full, &self.kept));
            self.kept[..FULL].copy_from_slice(&worth);
            if rerolls_left == 1 {
                self.reroll(tables);
                self.kept[..FULL].copy_from_slice(&self.last);
            }
        }
        self.before_roll(tables)
    }

    /// Fills in the handfuls that are not full by rolling one die more, each face with probability 1/5.
    fn reroll(&mut self, tables: &Handfuls) {
        for number in FULL..HANDFULS {
            let mut sum = [0.0; L];
            for face in 0..FACES {
                let with = self.kept[usize::from(tables.with[number][face]) % number];
                for (sum, with) in sum.iter_mut().zip(with) {
                    *sum += with;
                }
            }
            self.kept[number] = sum.map(|sum| sum * (1.0 / FACES as f64));
        }
    }

    /// Gives each handful the value of the best part to keep.
    fn choose(&mut self, tables: &Handfuls) {
        for number in (0..HANDFULS).rev() {
            let mut best = self.kept[number];
            for face in 0..FACES {
                let without = self.kept[usize::from(tables.without[number][face])];
                for (best, without) in best.iter_mut().zip(without) {
                    *best = if without > *best { without } else { *best };
                }
            }
            self.kept[number] = best;
        }
    }
}
