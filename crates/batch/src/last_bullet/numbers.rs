//! Last Bullet as numbers: an entry has a row for each of its survivors.

use super::observe::{ACTIONS, CELLS, fields, mask, observe, order};
use crate::{
    field::Field,
    numbers::{Cells, Numbers},
};
use necrodome_rules::last_bullet::{Action, CopyView, LastBullet, LastBulletRules, LastBulletView};
use std::sync::Arc;

/// Makes the numbers of Last Bullet: the windows of the survivors.
pub(crate) fn windows() -> Arc<dyn Numbers<LastBullet>> {
    Arc::new(Windows)
}

struct Windows;

impl Numbers<LastBullet> for Windows {
    fn is_many(&self) -> bool {
        true
    }

    fn decisions(&self, view: &LastBulletView) -> Vec<u32> {
        view.copies.iter().map(|copy| copy.number).collect()
    }

    fn fields(&self, _: &LastBulletRules, _: usize) -> Vec<Field> {
        fields()
    }

    fn observe(&self, _: &LastBulletRules, view: &LastBulletView, _: usize) -> Cells {
        let mut cells = vec![0; view.copies.len() * CELLS];
        let rows = view.copies.iter().zip(cells.chunks_exact_mut(CELLS));
        rows.for_each(|(copy, out)| observe(view, copy, out));
        Cells::Narrow(cells)
    }

    fn actions(&self, _: usize) -> usize {
        ACTIONS
    }

    fn mask(&self, view: &LastBulletView, out: &mut [bool]) {
        let rows = view.copies.iter().zip(out.chunks_exact_mut(ACTIONS));
        rows.for_each(|(copy, out)| mask(copy, out));
    }

    fn action(&self, view: &LastBulletView, chosen: &[usize]) -> Result<Action, usize> {
        let order = |(copy, &action): (&CopyView, &usize)| order(copy, action).ok_or(action);
        Ok(Action { orders: view.copies.iter().zip(chosen).map(order).collect::<Result<_, _>>()? })
    }
}
