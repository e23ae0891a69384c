//! A table of zombies in this process.

use super::{TurnOver, rolled_after, shown::Shown};
use crate::setup::{self, refuse};
use necrodome_rules::{
    chance::Seeded,
    game::{Audience, Game, Log, Move, Seat},
    names::Names,
    zombie_dice::{Action, Die, Event, Table, TableRules, TurnEnd},
};
use pyo3::{prelude::*, types::PyDict};
use std::collections::VecDeque;

/// Games, one after the other, turn by turn: call `begin`, then `roll` as often as the zombie calls it, then `stop`.
#[pyclass(module = "necrodome._native")]
pub struct ZombieTable {
    rules: TableRules,
    shown: Shown,
    game: Option<(Table, Seeded)>,
    happened: Happened,
    /// Why the turn is over, if it is.
    ended: Option<TurnEnd>,
}

/// The events that were not shown yet.
struct Happened(VecDeque<Event>);

impl Log<Event> for Happened {
    fn record(&mut self, _: Audience, event: Event) {
        self.0.push_back(event);
    }
}

#[pymethods]
impl ZombieTable {
    /// Makes the table. `options` is a JSON object of the rules that differ from the rulebook, `state` the dict that zombies look at,
    /// and `die` makes a rolled die from the words for its colour and face.
    #[new]
    fn new(py: Python<'_>, options: &str, state: Py<PyDict>, die: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (rules, shown) = (setup::rules(options)?, Shown::new(py, state, die)?);
        Ok(ZombieTable { rules, shown, game: None, happened: Happened(VecDeque::new()), ended: None })
    }

    /// Begins a game.
    fn start(&mut self, seats: usize, seed: u64) -> PyResult<()> {
        let names = Names::new((0..seats).map(|seat| format!("seat {seat}"))).map_err(refuse)?;
        let mut chance = Seeded::new(seed, "match", 0);
        self.happened.0.clear();
        let game = Table::new(&names, &self.rules, &mut chance, &mut self.happened).map_err(refuse)?;
        self.game = Some((game, chance));
        self.shown.reseed(seed);
        Ok(())
    }

    /// Begins the next turn. Returns its seat, or None when the game is over.
    fn begin(&mut self, py: Python<'_>) -> PyResult<Option<u16>> {
        self.ended = None;
        // A mandatory first roll has been made already, and may have been the last one.
        let rolled = self.happened.0.iter().find_map(|event| match event {
            Event::Rolled { seat, .. } => Some(*seat),
            _ => None,
        });
        let to_act = || self.game.as_ref().and_then(|(game, _)| game.to_act().first().copied());
        let Some(seat) = rolled.or_else(to_act) else { return Ok(None) };
        self.shown.begin(py)?;
        Ok(Some(seat.0))
    }

    /// Rolls. Returns None after the third shotgun. Raises `TurnOver` after any other end of the turn.
    fn roll<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if let Some(end) = self.ended {
            return rolled_after(end).map(|()| None);
        }
        let hand = match self.made() {
            Some(hand) => hand,
            None => {
                self.play(Move::Act(Action::Go))?;
                self.made().ok_or_else(|| TurnOver::new_err("there is no game"))?
            }
        };
        self.shown.land(py, hand).map(Some)
    }

    /// Ends the turn, if it is not over yet; `lost` if its brains do not count. Returns the scores of all players.
    fn stop(&mut self, lost: bool) -> PyResult<Vec<i64>> {
        // Whoever has not looked at a mandatory roll has made it all the same.
        if self.ended.is_none() && self.made().is_none_or(|_| self.ended.is_none()) {
            self.play(if lost { Move::Forfeit } else { Move::Act(Action::Stop) })?;
            self.take_end();
        }
        let Some((game, _)) = &self.game else { return Ok(Vec::new()) };
        Ok(game.view(Seat(0)).scores.into_iter().map(i64::from).collect())
    }
}

impl ZombieTable {
    fn play(&mut self, choice: Move<Action>) -> PyResult<()> {
        let Some((game, chance)) = &mut self.game else { return Ok(()) };
        game.apply(&[choice], chance, &mut self.happened).map_err(refuse)
    }

    /// The roll that was made and not yet shown; the turn may have ended with it.
    fn made(&mut self) -> Option<[Die; 3]> {
        while let Some(event) = self.happened.0.pop_front() {
            if let Event::Rolled { hand, .. } = event {
                self.take_end();
                return Some(hand);
            }
        }
        None
    }

    fn take_end(&mut self) {
        if let Some(Event::TurnEnded { why, .. }) = self.happened.0.front() {
            self.ended = Some(*why);
            self.happened.0.pop_front();
        }
    }
}
