//! Exports the whole policy as arrays.

use super::{
    HEALTH, POINTS, ResolvedTurn, Start, TokyoSolution,
    dice::{FACES, FULL, HANDFULS, Handfuls},
};
use crate::export::{Array, Data};

impl TokyoSolution {
    /// Exports the whole policy.
    pub fn arrays(&self) -> Vec<Array> {
        let handfuls = Handfuls::get().all.iter().flatten().copied().collect();
        let mut kept = self.policy().kept(self);
        // The last row is the first turn of a match.
        let first = kept.split_off(kept.len() - 2 * FULL);
        let state = [POINTS as u64, POINTS as u64, HEALTH as u64, HEALTH as u64];
        let values = [&self.values.inside[..], &self.values.outside].concat();
        let array = |name, shape: &[u64], data| Array { name, shape: shape.to_vec(), data };
        vec![
            array("handfuls", &[HANDFULS as u64, FACES as u64], Data::U8(handfuls)),
            array("value", &[&[2], &state[..]].concat(), Data::F64(values)),
            array("first_turn_value", &[], Data::F64(vec![self.value(&Start::MATCH)])),
            array("keep", &[&[2], &state[..], &[2, FULL as u64]].concat(), Data::U16(kept)),
            array("first_turn_keep", &[2, FULL as u64], Data::U16(first)),
            array("leave", &state, Data::U8(self.leaving())),
        ]
    }

    /// Whether to leave Tokyo, by points and health of the monster that was hit and of the attacker, after the attacker has
    /// healed.
    fn leaving(&self) -> Vec<u8> {
        let leaves = |number: usize| {
            let (points, health) = (number / (HEALTH * HEALTH), number % (HEALTH * HEALTH));
            let turn = ResolvedTurn {
                other_points: (points / POINTS) as u8,
                points: (points % POINTS) as u8,
                other_health: (health / HEALTH) as u8 + 1,
                health: (health % HEALTH) as u8 + 1,
            };
            u8::from(turn.enters(&self.values) < turn.held(&self.values))
        };
        (0..POINTS * POINTS * HEALTH * HEALTH).map(leaves).collect()
    }
}
