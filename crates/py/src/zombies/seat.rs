//! A zombie in a process of the arena.
//!
//! The arena asks, and waits for an answer; but a zombie is called once per turn, and calls `roll()` itself. So `roll` answers
//! "go" to the open question, and reads on until it knows the result.

use super::{TurnOver, rolled_after, shown::Shown};
use crate::setup::refuse;
use necrodome_arena::protocol::PROTOCOL;
use necrodome_rules::{
    misread::in_json,
    zombie_dice::{Die, Face, TurnEnd, TurnView},
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{
    borrow::Cow,
    collections::VecDeque,
    fs::File,
    io::{self, BufRead, BufReader, Write},
    os::fd::AsFd,
};

/// The connection between the arena and one zombie. `next` says what to do; during a turn the zombie calls
/// `roll`, and `stop` follows the turn.
#[pyclass(module = "necrodome._native")]
pub struct ZombieSeat {
    input: BufReader<File>,
    output: File,
    line: Vec<u8>,
    shown: Shown,
    queue: VecDeque<Item>,
    /// The zombie's seat.
    #[pyo3(get)]
    number: usize,
    /// The names of all players, by seat.
    #[pyo3(get)]
    names: Vec<String>,
    /// The seed of the zombie's own randomness.
    #[pyo3(get)]
    seed: u32,
    /// The scores of all players, by seat.
    #[pyo3(get)]
    scores: Vec<i64>,
    /// The question that waits for an answer.
    asked: Option<u64>,
    /// A roll that was made and not yet shown.
    fresh: Option<[Die; 3]>,
    /// Why the turn is over, if it is.
    ended: Option<TurnEnd>,
}

/// A message from the arena, as far as it matters.
enum Item {
    Hello,
    Start {
        seat: usize,
        names: Vec<String>,
        seed: u32,
    },
    /// The zombie has rolled.
    Rolled([Die; 3]),
    TurnEnded {
        seat: usize,
        why: TurnEnd,
        score: i64,
    },
    Decide {
        id: u64,
        view: Box<RawValue>,
    },
    End {
        scores: Vec<i64>,
    },
}

/// A message, reduced to the parts that matter here. Unknown parts are ignored.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    id: Option<u64>,
    /// The view. It is read only when a turn begins: events report the rolls after that.
    #[serde(borrow)]
    view: Option<&'a RawValue>,
    #[serde(borrow)]
    events: Option<Vec<Event<'a>>>,
    seat: Option<usize>,
    names: Option<Vec<String>>,
    seed: Option<u32>,
    outcome: Option<Outcome>,
}

#[derive(Deserialize)]
struct View {
    turn: TurnView,
}

#[derive(Deserialize)]
struct Outcome {
    scores: Vec<i64>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    seat: Option<usize>,
    hand: Option<[Die; 3]>,
    why: Option<TurnEnd>,
    score: Option<i64>,
}

#[pymethods]
impl ZombieSeat {
    /// Speaks over the standard input and output of this process. It keeps copies of both, so that others can be put in their place.
    #[new]
    fn new(py: Python<'_>, state: Py<PyDict>, die: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(ZombieSeat {
            input: BufReader::new(io::stdin().as_fd().try_clone_to_owned()?.into()),
            output: io::stdout().as_fd().try_clone_to_owned()?.into(),
            line: Vec::new(),
            shown: Shown::new(py, state, die)?,
            queue: VecDeque::new(),
            number: 0,
            names: Vec::new(),
            seed: 0,
            scores: Vec::new(),
            asked: None,
            fresh: None,
            ended: None,
        })
    }

    /// Returns what to do: "start" of a match, "turn" or "end". None if there are no more matches.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        while let Some(item) = self.take(py)? {
            match item {
                Item::Hello => {
                    let ready = format!("{{\"type\":\"ready\",\"protocol\":{PROTOCOL},\"events\":true}}\n");
                    self.output.write_all(ready.as_bytes())?;
                }
                Item::Start { seat, names, seed } => {
                    (self.number, self.seed) = (seat, seed);
                    self.scores = vec![0; names.len()];
                    self.names = names;
                    self.forget_turn();
                    self.shown.reseed(seed.into());
                    return Ok(Some("start"));
                }
                // The first roll of a turn may be mandatory: it was made before the zombie could ask for it.
                Item::Rolled(hand) => self.fresh = Some(hand),
                Item::TurnEnded { seat, why, score } => {
                    self.score(seat, score);
                    if seat == self.number && self.fresh.is_some() {
                        // The mandatory roll was the last one. The zombie is to have its turn all the same, and to see it.
                        self.ended = Some(why);
                        self.shown.begin(py)?;
                        return Ok(Some("turn"));
                    }
                }
                Item::Decide { id, view } => {
                    self.asked = Some(id);
                    self.begin_turn(py, &turn_of(&view)?)?;
                    return Ok(Some("turn"));
                }
                Item::End { scores } => {
                    self.scores = scores;
                    return Ok(Some("end"));
                }
            }
        }
        Ok(None)
    }

    /// Rolls. Returns None after the third shotgun. Raises `TurnOver` after any other end of the turn, and if the match goes on without it.
    fn roll<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if self.fresh.is_none() {
            if let Some(end) = self.ended {
                return rolled_after(end).map(|()| None);
            }
            self.go(py)?;
        }
        let Some(hand) = self.fresh.take() else { return Err(TurnOver::new_err("the turn is over")) };
        self.shown.land(py, hand).map(Some)
    }

    /// Ends the turn, if it is not over yet.
    fn stop(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.ended.is_none() {
            // If the match has gone on without the turn, nobody waits for an answer.
            self.answer(py, "stop").or_else(|error| match error.is_instance_of::<TurnOver>(py) {
                true => Ok(()),
                false => Err(error),
            })?;
        }
        self.forget_turn();
        Ok(())
    }
}

impl ZombieSeat {
    fn forget_turn(&mut self) {
        (self.asked, self.fresh, self.ended) = (None, None, None);
    }

    fn score(&mut self, seat: usize, score: i64) {
        if let Some(place) = self.scores.get_mut(seat) {
            *place = score;
        }
    }

    /// Begins a turn of the zombie, or joins one that had begun: its process was restarted, or it was not told of the first roll.
    fn begin_turn(&mut self, py: Python<'_>, turn: &TurnView) -> PyResult<()> {
        self.ended = None;
        if let (Some(hand), None) = (turn.hand, self.fresh) {
            let count = |face| hand.iter().filter(|die| die.face == face).count() as u32;
            if (count(Face::Brain), count(Face::Shotgun)) != (turn.brains, turn.shotguns.into()) {
                return self.shown.join(py, turn);
            }
            self.fresh = Some(hand);
        }
        self.shown.begin(py)
    }

    fn go(&mut self, py: Python<'_>) -> PyResult<()> {
        self.answer(py, "go")?;
        while self.fresh.is_none() && self.ended.is_none() {
            match self.next_of_turn(py)? {
                Item::Rolled(hand) => self.fresh = Some(hand),
                // Whoever tells of no events shows the hand.
                Item::Decide { id, view } => (self.asked, self.fresh) = (Some(id), turn_of(&view)?.hand),
                Item::TurnEnded { seat, why, score } => {
                    self.score(seat, score);
                    self.ended = (seat == self.number).then_some(why);
                }
                _ => {}
            }
        }
        // The end of the turn, if this was it, is told together with the roll.
        if let Some(&Item::TurnEnded { seat, why, score }) = self.queue.front()
            && seat == self.number
        {
            self.score(seat, score);
            self.ended = Some(why);
            self.queue.pop_front();
        }
        Ok(())
    }

    fn answer(&mut self, py: Python<'_>, action: &str) -> PyResult<()> {
        while self.asked.is_none() {
            if let Item::Decide { id, .. } = self.next_of_turn(py)? {
                self.asked = Some(id);
            }
        }
        let id = self.asked.take().unwrap_or_default();
        let answer = format!("{{\"id\":{id},\"action\":{{\"type\":\"{action}\"}}}}\n");
        Ok(self.output.write_all(answer.as_bytes())?)
    }

    /// Reads the next item of the turn.
    fn next_of_turn(&mut self, py: Python<'_>) -> PyResult<Item> {
        let over = || TurnOver::new_err("the match has gone on");
        match self.take(py)?.ok_or_else(over)? {
            item @ (Item::Start { .. } | Item::End { .. }) => {
                self.queue.push_front(item);
                Err(over())
            }
            item => Ok(item),
        }
    }

    /// The next item, or `None` if the arena has no more.
    fn take(&mut self, py: Python<'_>) -> PyResult<Option<Item>> {
        while self.queue.is_empty() {
            self.line.clear();
            // Threads of the zombie go on meanwhile.
            if py.detach(|| self.input.read_until(b'\n', &mut self.line))? == 0 {
                return Ok(None);
            }
            if !self.line.trim_ascii().is_empty() {
                self.read()?;
            }
        }
        Ok(self.queue.pop_front())
    }

    fn read(&mut self) -> PyResult<()> {
        let message: Message = serde_json::from_slice(&self.line).map_err(|error| {
            let line = String::from_utf8_lossy(&self.line);
            PyValueError::new_err(format!(
                "expected a message of the bot protocol, got {line:?}: {}",
                in_json(&error)
            ))
        })?;
        let item = match message {
            Message { events: Some(events), .. } => {
                let number = self.number;
                self.queue.extend(events.into_iter().filter_map(|event| event.item(number)));
                None
            }
            Message { id: Some(id), view: Some(view), .. } => {
                Some(Item::Decide { id, view: view.to_owned() })
            }
            Message { names: Some(names), seat: Some(seat), seed, .. } => {
                Some(Item::Start { seat, names, seed: seed.unwrap_or_default() })
            }
            Message { outcome: Some(Outcome { scores }), .. } => Some(Item::End { scores }),
            Message { kind, .. } => (kind == "hello").then_some(Item::Hello),
        };
        self.queue.extend(item);
        Ok(())
    }
}

/// Reads the dice in a view.
fn turn_of(view: &RawValue) -> PyResult<TurnView> {
    let view: View = serde_json::from_str(view.get()).map_err(refuse)?;
    Ok(view.turn)
}

impl Event<'_> {
    /// Translates the message for the zombie in this seat.
    fn item(self, number: usize) -> Option<Item> {
        match self {
            Event { kind, seat: Some(seat), hand: Some(hand), .. } if kind == "rolled" => {
                (seat == number).then_some(Item::Rolled(hand))
            }
            Event { seat: Some(seat), why: Some(why), score: Some(score), .. } => {
                Some(Item::TurnEnded { seat, why, score })
            }
            _ => None,
        }
    }
}
