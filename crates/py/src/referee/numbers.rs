//! Views and actions as numbers: the layouts of `necrodome_batch::observe` for the games that have one, and a plain one for any
//! other game.

use necrodome_batch::{
    field::Field,
    last_bullet::observe as last_bullet,
    observe::{Observe, by_place},
};
use necrodome_rules::{
    game::Game,
    infection::Infection,
    last_bullet::{Action as Orders, CopyView, LastBullet, LastBulletRules, LastBulletView},
    own_part,
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, Table},
};
use serde_json::Value;
use std::sync::Arc;

/// The numbers of an observation, row by row.
pub enum Cells {
    Wide(Vec<i16>),
    Narrow(Vec<u8>),
}

/// How a game is played by numbers. A seat has as many rows as it has decisions to make now.
pub trait Numbers<G: Game>: Send + Sync {
    /// Whether a seat makes any number of decisions, each with an observation of its own.
    fn is_many(&self) -> bool {
        false
    }
    /// The number of each decision that a seat with this view makes: the survivor; 0 where there is but one.
    fn decisions(&self, _view: &G::View) -> Vec<u32> {
        vec![0]
    }
    /// What the numbers of a row mean.
    fn fields(&self, rules: &G::Rules, seats: usize) -> Vec<Field>;
    /// All rows.
    fn observe(&self, rules: &G::Rules, view: &G::View, seats: usize) -> Cells;
    /// How many actions there are.
    fn actions(&self, seats: usize) -> usize;
    /// Marks the actions that are legal, row by row.
    fn mask(&self, view: &G::View, out: &mut [bool]);
    /// What a seat does when it chooses these numbers, one for each row; otherwise the number that is not possible.
    fn action(&self, view: &G::View, chosen: &[usize]) -> Result<G::Action, usize>;
    /// What each seat has got so far.
    fn returns(&self, game: &G, out: &mut [f32]) {
        match game.outcome() {
            Some(outcome) => out.copy_from_slice(&by_place(&outcome)),
            None => out.fill(0.0),
        }
    }
}

/// The numbers of a game: its own layout, or one that is read off its first view.
pub fn numbers<G: Game>(first: &G::View) -> Arc<dyn Numbers<G>> {
    let own: Option<Arc<dyn Numbers<G>>> = own_part![
        layout::<Solo>(),
        layout::<Race>(),
        layout::<Table>(),
        layout::<Tokyo>(),
        layout::<Infection>(),
        Arc::new(Windows) as Arc<dyn Numbers<LastBullet>>,
    ];
    own.unwrap_or_else(|| Arc::new(Plain::new(first)))
}

fn layout<G: Observe>() -> Arc<dyn Numbers<G>> {
    Arc::new(Layout)
}

/// A game with a layout.
struct Layout;

impl<G: Observe> Numbers<G> for Layout {
    fn fields(&self, rules: &G::Rules, seats: usize) -> Vec<Field> {
        G::fields(rules, seats)
    }

    fn observe(&self, rules: &G::Rules, view: &G::View, seats: usize) -> Cells {
        let mut row = vec![0; G::fields(rules, seats).len()];
        G::observe(rules, view, &mut row);
        Cells::Wide(row)
    }

    fn actions(&self, seats: usize) -> usize {
        G::actions(seats)
    }

    fn mask(&self, view: &G::View, out: &mut [bool]) {
        G::mask(view, out);
    }

    fn action(&self, view: &G::View, chosen: &[usize]) -> Result<G::Action, usize> {
        G::action(view, chosen[0]).ok_or(chosen[0])
    }

    fn returns(&self, game: &G, out: &mut [f32]) {
        game.returns(out);
    }
}

/// The windows of survivors.
struct Windows;

impl Numbers<LastBullet> for Windows {
    fn is_many(&self) -> bool {
        true
    }

    fn decisions(&self, view: &LastBulletView) -> Vec<u32> {
        view.copies.iter().map(|copy| copy.number).collect()
    }

    fn fields(&self, _: &LastBulletRules, _: usize) -> Vec<Field> {
        last_bullet::fields()
    }

    fn observe(&self, _: &LastBulletRules, view: &LastBulletView, _: usize) -> Cells {
        let mut cells = vec![0; view.copies.len() * last_bullet::CELLS];
        let rows = view.copies.iter().zip(cells.chunks_exact_mut(last_bullet::CELLS));
        rows.for_each(|(copy, out)| last_bullet::observe(view, copy, out));
        Cells::Narrow(cells)
    }

    fn actions(&self, _: usize) -> usize {
        last_bullet::ACTIONS
    }

    fn mask(&self, view: &LastBulletView, out: &mut [bool]) {
        let rows = view.copies.iter().zip(out.chunks_exact_mut(last_bullet::ACTIONS));
        rows.for_each(|(copy, out)| last_bullet::mask(copy, out));
    }

    fn action(&self, view: &LastBulletView, chosen: &[usize]) -> Result<Orders, usize> {
        let order = |(copy, &action): (&CopyView, &usize)| last_bullet::order(copy, action).ok_or(action);
        Ok(Orders { orders: view.copies.iter().zip(chosen).map(order).collect::<Result<_, _>>()? })
    }
}

/// Actions of a game without a layout: the number of an action is its place in the list of the legal ones.
const MOST_ACTIONS: usize = 64;

/// Any game: the numbers and flags that are in its first view, each in its place. Text is left out.
struct Plain {
    /// Where each number is in the JSON of a view, as a JSON pointer.
    places: Vec<String>,
}

impl Plain {
    fn new(view: &impl serde::Serialize) -> Self {
        fn walk(value: &Value, place: &str, places: &mut Vec<String>) {
            match value {
                Value::String(_) => {}
                Value::Null | Value::Bool(_) | Value::Number(_) => places.push(place.to_owned()),
                Value::Array(items) => {
                    items
                        .iter()
                        .enumerate()
                        .for_each(|(i, item)| walk(item, &format!("{place}/{i}"), places));
                }
                Value::Object(fields) => {
                    fields.iter().for_each(|(name, item)| walk(item, &format!("{place}/{name}"), places));
                }
            }
        }
        let mut places = Vec::new();
        walk(&serde_json::to_value(view).unwrap_or_default(), "", &mut places);
        Plain { places }
    }
}

impl<G: Game> Numbers<G> for Plain {
    fn fields(&self, _: &G::Rules, _: usize) -> Vec<Field> {
        let field = |place: &String| {
            let name = place.trim_start_matches('/').replace('/', "_");
            Field::new(name, format!("{place} of the view; -1 where there is none."), i16::MIN, i16::MAX)
        };
        self.places.iter().map(field).collect()
    }

    fn observe(&self, _: &G::Rules, view: &G::View, _: usize) -> Cells {
        let view = serde_json::to_value(view).unwrap_or_default();
        let number = |place: &String| match view.pointer(place) {
            Some(Value::Bool(flag)) => i16::from(*flag),
            Some(Value::Number(number)) => {
                number.as_f64().map_or(-1, |number| number.clamp(i16::MIN.into(), i16::MAX.into()) as i16)
            }
            _ => -1,
        };
        Cells::Wide(self.places.iter().map(number).collect())
    }

    fn actions(&self, _: usize) -> usize {
        MOST_ACTIONS
    }

    fn mask(&self, view: &G::View, out: &mut [bool]) {
        let legal = G::few_legal_actions(view, MOST_ACTIONS).unwrap_or_default().len();
        out[..legal].fill(true);
    }

    fn action(&self, view: &G::View, chosen: &[usize]) -> Result<G::Action, usize> {
        let mut legal = G::few_legal_actions(view, MOST_ACTIONS).unwrap_or_default();
        if chosen[0] < legal.len() { Ok(legal.swap_remove(chosen[0])) } else { Err(chosen[0]) }
    }
}
