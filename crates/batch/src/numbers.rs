//! Plays any game by numbers, with or without a layout of its own, one decision or many at a time.

use crate::{
    field::Field,
    observe::{Observe, by_place},
    own_numbers,
};
use necrodome_rules::game::Game;
use serde_json::Value;
use std::sync::Arc;

/// The numbers of an observation, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cells {
    /// Numbers of 16 bits.
    Wide(Vec<i16>),
    /// Numbers of 8 bits, where there are many.
    Narrow(Vec<u8>),
}

/// Translates a game into numbers. A seat has as many rows as it has decisions to make now.
pub trait Numbers<G: Game>: Send + Sync {
    /// Whether a seat can make several decisions at once, each with its own observation.
    fn is_many(&self) -> bool {
        false
    }
    /// The number of each decision that a seat with this view makes: the survivor; 0 if there is only one.
    fn decisions(&self, _view: &G::View) -> Vec<u32> {
        vec![0]
    }
    /// The meaning of each number in a row.
    fn fields(&self, rules: &G::Rules, seats: usize) -> Vec<Field>;
    /// Writes all rows.
    fn observe(&self, rules: &G::Rules, view: &G::View, seats: usize) -> Cells;
    /// The number of actions.
    fn actions(&self, seats: usize) -> usize;
    /// Marks the actions that are legal, row by row.
    fn mask(&self, view: &G::View, out: &mut [bool]);
    /// The action for these numbers, one for each row. On `Err`, the number that is not possible.
    fn action(&self, view: &G::View, chosen: &[usize]) -> Result<G::Action, usize>;
    /// Writes each seat's return so far.
    fn returns(&self, game: &G, out: &mut [f32]) {
        match game.outcome() {
            Some(outcome) => out.copy_from_slice(&by_place(&outcome)),
            None => out.fill(0.0),
        }
    }
}

/// Returns the numbers of a game: its own, or numbers read off its first view.
///
/// ```
/// use necrodome_batch::numbers::numbers;
/// use necrodome_rules::{game::{Game, Seat, Silent}, last_bullet::LastBullet, names::Names, chance::Seeded};
/// let (names, rules) = (Names::new(["a", "b"]).unwrap(), Default::default());
/// let game = LastBullet::new(&names, &rules, &mut Seeded::new(1, "match", 0), &mut Silent).unwrap();
/// let view = game.view(Seat(0));
/// assert_eq!(numbers::<LastBullet>(&view).decisions(&view).len(), 50);
/// ```
pub fn numbers<G: Game>(first: &G::View) -> Arc<dyn Numbers<G>> {
    own_numbers::<G>().unwrap_or_else(|| Arc::new(Plain::new(first)))
}

/// Returns the numbers of a game with a layout.
pub(crate) fn layout<G: Observe>() -> Arc<dyn Numbers<G>> {
    Arc::new(Layout)
}

/// Numbers for one decision at a time, by the layout of the game.
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

/// The most actions in a game without a layout, where the number of an action is its index in the list of legal ones.
const MOST_ACTIONS: usize = 64;

/// Numbers for any game: the numbers and flags in its first view, each in its place. Text is left out.
struct Plain {
    /// The place of each number in the JSON of a view, as a JSON pointer.
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
