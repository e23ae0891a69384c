//! A game tree for Python: positions without a stream of chance, and all that can follow a decision.

use crate::setup::{self, refuse};
use necrodome_batch::numbers::{Cells, Numbers, numbers};
use necrodome_rules::{
    catalog::Listed,
    chance::{EnumerateError, Enumerator, Probability, Seeded, enumerate},
    game::{self, Game, Move, Seat, Silent},
    names::Names,
    with_game,
};
use numpy::{PyArray1, ToPyArray};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{cmp::Ordering, sync::Arc};

/// The most ways that the dice can fall. No single roll has more: six dice of Tokyo have 46,656.
const MAX_PATHS: u64 = 100_000;

/// A position of a match, at a decision or at the end. It never changes; whatever follows is another position.
#[pyclass(frozen, module = "necrodome._native")]
pub struct Position(Box<dyn AnyPosition>);

/// Positions with their probabilities, which sum to 1, in a fixed order.
type Outcomes = Vec<(Position, f64)>;

#[pymethods]
impl Position {
    /// The positions in which a match can begin. `options` is a JSON object of the rules that differ from the rulebook.
    #[staticmethod]
    #[pyo3(signature = (game, seats, options = "{}"))]
    fn starts(py: Python<'_>, game: &str, seats: usize, options: &str) -> PyResult<Outcomes> {
        with_game!(setup::game(game)?, G => starts::<G>(py, seats, options))
    }

    /// The positions that can follow when the seat to act chooses an action, by its number.
    fn after(&self, py: Python<'_>, action: usize) -> PyResult<Outcomes> {
        self.0.after(py, action)
    }

    /// The seat that decides now; none when the match is over.
    fn to_act(&self) -> Option<u16> {
        self.0.to_act().map(|seat| seat.0)
    }

    /// Everything that a seat may know, as numbers.
    fn observe<'py>(&self, py: Python<'py>, seat: u16) -> PyResult<Bound<'py, PyArray1<i16>>> {
        Ok(self.0.observe(self.seat(seat)?).to_pyarray(py))
    }

    /// The actions that the seat to act may choose, by number.
    fn legal(&self) -> Vec<usize> {
        self.0.legal()
    }

    /// Each seat's return so far.
    fn returns(&self) -> Vec<f32> {
        self.0.returns()
    }

    /// What a seat sees, in words.
    fn situation(&self, seat: u16) -> PyResult<String> {
        Ok(self.0.situation(self.seat(seat)?))
    }

    /// The text that distinguishes positions: the seat to act, and what each seat sees and has got.
    fn key(&self) -> String {
        self.0.key()
    }

    /// Loads a position from the text of `__reduce__`.
    #[staticmethod]
    fn load(saved: &str) -> PyResult<Self> {
        let saved: Saved = serde_json::from_str(saved).map_err(not_saved)?;
        with_game!(setup::game(&saved.game)?, G => load::<G>(&saved))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Position>().getattr("load")?, (self.0.save()?,)))
    }

    fn __copy__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __deepcopy__<'py>(this: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        this
    }

    fn __repr__(&self) -> String {
        format!("<Position {}>", self.0.key())
    }
}

impl Position {
    fn seat(&self, seat: u16) -> PyResult<Seat> {
        let seats = self.0.seats();
        if usize::from(seat) < seats {
            Ok(Seat(seat))
        } else {
            Err(refuse(format!("there is no seat {seat}: expected a number from 0 to {}", seats - 1)))
        }
    }
}

/// A position of any game.
trait AnyPosition: Send + Sync {
    fn seats(&self) -> usize;
    fn after(&self, py: Python<'_>, action: usize) -> PyResult<Outcomes>;
    fn to_act(&self) -> Option<Seat>;
    fn observe(&self, seat: Seat) -> Vec<i16>;
    fn legal(&self) -> Vec<usize>;
    fn returns(&self) -> Vec<f32>;
    fn situation(&self, seat: Seat) -> String;
    fn key(&self) -> String;
    fn save(&self) -> PyResult<String>;
}

/// The JSON of a position.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    game: String,
    state: Value,
}

fn not_saved(error: serde_json::Error) -> PyErr {
    refuse(format!("not a saved position: {error}"))
}

/// The parts that all positions of a match share.
struct Table<G: Game> {
    names: Names,
    numbers: Arc<dyn Numbers<G>>,
}

/// A position of `G`.
struct At<G: Game> {
    table: Arc<Table<G>>,
    reached: Reached<G>,
}

/// A state, with the key that distinguishes it: positions that look the same to everybody are equal, since, for example, the
/// colours of dice that never come back make no difference.
struct Reached<G> {
    game: G,
    key: Key,
}

/// The seat to act, the views of all seats, and their returns (as bits, which can be sorted).
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    to_act: Option<Seat>,
    seen: Vec<Vec<i16>>,
    returns: Vec<u32>,
}

impl<G> PartialEq for Reached<G> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<G> Eq for Reached<G> {}

impl<G> PartialOrd for Reached<G> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<G> Ord for Reached<G> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl<G: Game> Table<G> {
    /// Makes a table whose seats are named by their numbers. Any state of the game shows how to play it by numbers.
    fn new(any: &G) -> PyResult<Arc<Self>> {
        let names = Self::names(any.seats())?;
        Ok(Arc::new(Table { names, numbers: numbers::<G>(&any.view(Seat(0))) }))
    }

    fn names(seats: usize) -> PyResult<Names> {
        Names::new((0..seats).map(|seat| format!("player_{seat}"))).map_err(refuse)
    }

    fn reached(&self, game: G) -> Reached<G> {
        let seats = Seat::all(self.names.len());
        let key = Key {
            to_act: game.to_act().first().copied(),
            seen: seats.iter().map(|&seat| self.observe(&game, seat)).collect(),
            returns: self.returns(&game).into_iter().map(f32::to_bits).collect(),
        };
        Reached { game, key }
    }

    fn observe(&self, game: &G, seat: Seat) -> Vec<i16> {
        match self.numbers.observe(game.rules(), &game.view(seat), self.names.len()) {
            Cells::Wide(numbers) => numbers,
            Cells::Narrow(numbers) => numbers.into_iter().map(i16::from).collect(),
        }
    }

    fn returns(&self, game: &G) -> Vec<f32> {
        let mut returns = vec![0.0; self.names.len()];
        self.numbers.returns(game, &mut returns);
        returns
    }
}

fn starts<G: Listed>(py: Python<'_>, seats: usize, options: &str) -> PyResult<Outcomes> {
    let (names, rules) = (Table::<G>::names(seats)?, setup::rules::<G::Rules>(options)?);
    let any = G::new(&names, &rules, &mut Seeded::new(0, "match", 0), &mut Silent).map_err(refuse)?;
    let table = Table::new(&any)?;
    if table.numbers.is_many() || any.to_act().len() > 1 {
        return Err(refuse(format!(
            "{}: expected a game in which one seat decides at a time, not several at once",
            G::ID
        )));
    }
    let found = py.detach(|| {
        every(&table, |chance| G::new(&names, &rules, chance, &mut Silent).map_err(|error| error.to_string()))
    })?;
    Ok(positions(&table, found))
}

/// Checks everything before it becomes a position: text from outside must not break the rules.
fn load<G: Listed>(saved: &Saved) -> PyResult<Position> {
    let game: G = game::restore(&saved.state.to_string())
        .map_err(|error| refuse(format!("a saved position: {error}")))?;
    let table = Table::new(&game)?;
    let reached = table.reached(game);
    Ok(Position(Box::new(At { table, reached })))
}

/// All results of a transition, with the probability of each.
fn every<G: Game>(
    table: &Table<G>,
    mut transition: impl FnMut(&mut Enumerator) -> Result<G, String>,
) -> PyResult<Vec<(Reached<G>, f64)>> {
    let mut refused = None;
    let found = enumerate(MAX_PATHS, |chance| match transition(chance) {
        Ok(game) => Some(table.reached(game)),
        Err(why) => {
            refused = Some(why);
            None
        }
    });
    if let Some(why) = refused {
        return Err(refuse(why));
    }
    // Also where a path has no end and its probability gets too small: turns that are lost before anybody decides.
    let found = found.map_err(|_: EnumerateError| {
        refuse("the dice can fall in too many ways before the next decision: they can't be listed")
    })?;
    let weigh = |(reached, probability): (Option<_>, Probability)| {
        Some((reached?, *probability.numer() as f64 / *probability.denom() as f64))
    };
    Ok(found.into_iter().filter_map(weigh).collect())
}

fn positions<G: Listed>(table: &Arc<Table<G>>, found: Vec<(Reached<G>, f64)>) -> Outcomes {
    let position = |reached| Position(Box::new(At { table: Arc::clone(table), reached }));
    found.into_iter().map(|(reached, probability)| (position(reached), probability)).collect()
}

impl<G: Listed> AnyPosition for At<G> {
    fn seats(&self) -> usize {
        self.table.names.len()
    }

    fn after(&self, py: Python<'_>, action: usize) -> PyResult<Outcomes> {
        let before = &self.reached.game;
        let Some(seat) = self.to_act() else {
            return Err(refuse("the match is over"));
        };
        if !self.legal().contains(&action) {
            return Err(refuse(format!("seat {seat}: action {action} is not possible now")));
        }
        let chosen = self.table.numbers.action(&before.view(seat), &[action]);
        let moves =
            [Move::Act(chosen.map_err(|action| refuse(format!("action {action} is not possible now")))?)];
        let found = py.detach(|| {
            every(&self.table, |chance| {
                let mut game = before.clone();
                game.apply(&moves, chance, &mut Silent).map_err(|error| error.to_string())?;
                Ok(game)
            })
        })?;
        Ok(positions(&self.table, found))
    }

    fn to_act(&self) -> Option<Seat> {
        self.reached.game.to_act().first().copied()
    }

    fn observe(&self, seat: Seat) -> Vec<i16> {
        self.table.observe(&self.reached.game, seat)
    }

    fn legal(&self) -> Vec<usize> {
        let Some(seat) = self.to_act() else {
            return Vec::new();
        };
        let mut marks = vec![false; self.table.numbers.actions(self.seats())];
        self.table.numbers.mask(&self.reached.game.view(seat), &mut marks);
        (0..marks.len()).filter(|&action| marks[action]).collect()
    }

    fn returns(&self) -> Vec<f32> {
        self.table.returns(&self.reached.game)
    }

    fn situation(&self, seat: Seat) -> String {
        G::situation(&self.reached.game.view(seat), &self.table.names).to_string()
    }

    fn key(&self) -> String {
        let turn = self.to_act().map_or("over".to_owned(), |seat| seat.to_string());
        format!("{turn} {:?} {:?}", self.reached.key.seen, self.returns())
    }

    fn save(&self) -> PyResult<String> {
        let state = serde_json::to_value(&self.reached.game).map_err(refuse)?;
        serde_json::to_string(&Saved { game: G::ID.to_owned(), state }).map_err(refuse)
    }
}
