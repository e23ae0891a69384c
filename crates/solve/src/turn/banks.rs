//! Works out how often a turn banks each number of brains, for any policy.

use super::graph::{ALL_FEET, Graph, Spot};
use necrodome_rules::zombie_dice::FirstRoll;
use std::collections::BTreeMap;

/// The probability below which a layer counts as stopped: with recycling a player can roll on forever, and busts sooner or later.
/// All ignored layers together are below a rounding error.
const NEGLIGIBLE: f64 = 1e-20;

impl Graph {
    /// Returns how often a turn banks each number of brains (a lost turn banks none). `decide` returns the probability to roll
    /// in each of some spots: once for all spots before brain dice go back into the cup, then once for each number
    /// of brains that have gone back.
    pub(crate) fn banks<E>(
        &self,
        first_roll: FirstRoll,
        mut decide: impl FnMut(&[Spot]) -> Result<Vec<f64>, E>,
    ) -> Result<Vec<f64>, E> {
        let states = self.states.len();
        let mut banked = vec![0.0; 1];
        let mut bank = |brains: u32, mass: f64| {
            if mass > 0.0 {
                banked.resize(banked.len().max(brains as usize + 1), 0.0);
                banked[brains as usize] += mass;
            }
        };
        // By brains that have gone back, and state: how often it is decided there.
        let mut layers = BTreeMap::from([(0, vec![0.0; states])]);
        layers.entry(0).and_modify(|first| first[self.start()] = 1.0);
        while let Some((extra, mut mass)) = layers.pop_first() {
            if mass.iter().sum::<f64>() < NEGLIGIBLE {
                mass.iter().enumerate().for_each(|(state, &mass)| bank(self.brains(state, extra), mass));
                continue;
            }
            let mut spots = self.reachable(&mass, extra);
            let mut rolls = vec![0.0; states];
            if first_roll == FirstRoll::Mandatory && extra == 0 {
                rolls[self.start()] = 1.0;
                spots.retain(|spot| spot.state as usize != self.start());
            }
            for (spot, chance) in spots.iter().zip(decide(&spots)?) {
                rolls[spot.state as usize] = chance;
            }
            let mut thrown = vec![0.0; self.throws.len()];
            for state in 0..states {
                let (own, chance) = (mass[state], rolls[state]);
                let drawn = thrown.get(self.thrown[state] as usize).copied();
                if own == 0.0 && drawn.is_none_or(|drawn| drawn == 0.0) {
                    continue;
                }
                let (rolling, resting) = match drawn {
                    // Three footsteps: some throws come back to where they were. So many are made in all:
                    // r = drawn + chance (own + r/27), solved for r.
                    Some(drawn) => {
                        let rolling = (drawn + chance * own) / (1.0 - chance * ALL_FEET);
                        (rolling, (own + rolling * ALL_FEET) * (1.0 - chance))
                    }
                    None => (own * chance, own * (1.0 - chance)),
                };
                bank(self.brains(state, extra), resting);
                bank(0, rolling * self.bust[state]);
                for (target, weight) in self.edges(state) {
                    let moved = rolling * weight;
                    if target < states {
                        mass[target] += moved;
                    } else if target < states + thrown.len() {
                        thrown[target - states] += moved;
                    } else {
                        let slot = self.slots[target - states - thrown.len()];
                        let brains = extra + u32::from(slot.aside);
                        match slot.state {
                            Some(state) if moved > 0.0 => {
                                let later = layers.entry(brains).or_insert_with(|| vec![0.0; states]);
                                later[state as usize] += moved;
                            }
                            Some(_) => {}
                            None => bank(brains, moved),
                        }
                    }
                }
            }
        }
        Ok(banked)
    }

    /// The spots of a layer that rolls can reach from the spots with any mass, in order.
    fn reachable(&self, mass: &[f64], extra: u32) -> Vec<Spot> {
        let states = self.states.len();
        let mut reached: Vec<bool> = mass.iter().map(|&mass| mass > 0.0).collect();
        for state in 0..states {
            if !reached[state] {
                continue;
            }
            for (target, _) in self.edges(state) {
                if target < states {
                    reached[target] = true;
                } else if let Some(&three) = self.throws.get(target - states) {
                    // The dice that were drawn may all show footsteps.
                    reached[three as usize] = true;
                }
            }
        }
        (0..states).filter(|&state| reached[state]).map(|state| self.spot_at(state, extra)).collect()
    }
}
