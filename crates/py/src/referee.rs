//! A referee for Python: one match of any game, with its stream of chance.

use crate::setup::{self, refuse};
use necrodome_batch::{
    field::Field,
    numbers::{Cells, Numbers, numbers},
};
use necrodome_rules::{
    card::Card,
    catalog::Listed,
    chance::Seeded,
    game::{self, Game, Logged, Move, Rejected, Seat, Silent},
    misread::in_json,
    names::Names,
    with_game,
};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use schemars::schema_for;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The most legal actions that are listed, as in the bot protocol.
const MOST_LEGAL: usize = 256;

/// A match of one game: it says whose turn it is, shows each seat its view (as JSON or as numbers) and plays on with the
/// seats' actions. Wrong input is a `ValueError` and changes nothing.
#[pyclass(module = "necrodome._native")]
pub struct Referee(Box<dyn AnyMatch>);

#[pymethods]
impl Referee {
    /// Starts a new match. `options` is a JSON object of the rules that differ from the rulebook.
    #[new]
    #[pyo3(signature = (game, names, seed, options = "{}"))]
    fn new(game: &str, names: Vec<String>, seed: u64, options: &str) -> PyResult<Self> {
        let names = Names::new(names).map_err(refuse)?;
        let new: Box<dyn AnyMatch> = with_game!(setup::game(game)?, G => Box::new(Match::<G>::new(names, setup::rules(options)?, seed)?));
        Ok(Referee(new))
    }

    /// Loads a saved match.
    #[staticmethod]
    fn load(saved: &str) -> PyResult<Self> {
        let id = setup::game(&saved_game(saved)?)?;
        let loaded: Box<dyn AnyMatch> = with_game!(id, G => Box::new(Match::<G>::load(saved)?));
        Ok(Referee(loaded))
    }

    /// The id of the game.
    #[getter]
    fn game(&self) -> &'static str {
        self.0.game()
    }

    /// The names of the seats.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.names().iter().map(str::to_owned).collect()
    }

    /// All rules of this match, as a JSON object.
    #[getter]
    fn rules(&self) -> PyResult<String> {
        self.0.rules()
    }

    /// The meaning of each number in an observation: a JSON list of name, about, low and high.
    fn fields(&self) -> PyResult<String> {
        json(&self.0.fields())
    }

    /// The number of actions.
    fn actions(&self) -> usize {
        self.0.actions()
    }

    /// The seats that decide now; none when the match is over.
    fn to_act(&self) -> Vec<u16> {
        self.0.to_act().iter().map(|seat| seat.0).collect()
    }

    /// The decisions that a seat makes now, by number: its living survivors in Last Bullet, just 0 in other games.
    fn decisions(&self, seat: u16) -> PyResult<Vec<u32>> {
        Ok(self.0.decisions(self.seat(seat)?))
    }

    /// Everything that a seat may know, as JSON.
    fn view(&self, seat: u16) -> PyResult<String> {
        self.0.view(self.seat(seat)?)
    }

    /// What a seat sees, in words.
    fn situation(&self, seat: u16) -> PyResult<String> {
        Ok(self.0.situation(self.seat(seat)?))
    }

    /// Whether nothing is hidden.
    #[getter]
    fn open(&self) -> bool {
        self.0.is_open()
    }

    /// Everything that a seat may know, as numbers; in Last Bullet a row for each decision.
    fn observe<'py>(&self, py: Python<'py>, seat: u16) -> PyResult<Bound<'py, PyAny>> {
        self.0.observe(py, self.seat(seat)?)
    }

    /// The mask of the legal actions of a seat, all false if it is not to act. In Last Bullet a row for each decision.
    fn mask<'py>(&self, py: Python<'py>, seat: u16) -> PyResult<Bound<'py, PyAny>> {
        self.0.mask(py, self.seat(seat)?)
    }

    /// Plays on with actions by number: one for each decision of each seat that is to act, in order.
    fn step(&mut self, actions: Vec<i64>) -> PyResult<()> {
        self.0.step(&actions)
    }

    /// Plays on with actions as JSON: a list with one for each seat that is to act. `null` is no action (the game's rule for a bad
    /// action applies).
    fn apply(&mut self, actions: &str) -> PyResult<()> {
        self.0.apply(actions)
    }

    /// Whether an action as JSON is legal for the only seat that is to act. Raises an error if it is not an action of this game.
    fn is_legal(&self, action: &str) -> PyResult<bool> {
        self.0.is_legal(action)
    }

    /// The action of a built-in bot in a seat that is to act, as JSON. Bots have no memory; `seed` is for bots that
    /// toss coins.
    fn bot_action(&self, bot: &str, seat: u16, seed: u64) -> PyResult<String> {
        let seat = self.seat(seat)?;
        if !self.0.to_act().contains(&seat) {
            return Err(refuse(format!("seat {seat} is not to act")));
        }
        self.0.bot_action(bot, seat, seed)
    }

    /// The events of the last step (or of the start) that a seat may hear of, in words, a sentence for each.
    fn story(&self, seat: u16) -> PyResult<Vec<String>> {
        Ok(self.0.story(self.seat(seat)?))
    }

    /// The legal actions of a seat that is to act, each as a label for players and as JSON, or None if there are too many.
    fn labels(&self, seat: u16) -> PyResult<Option<Vec<(String, String)>>> {
        self.0.labels(self.seat(seat)?)
    }

    /// The action that is played for an answer of a seat that is to act, both as JSON, and what is wrong with the answer. A bad
    /// answer becomes what the game's rule leaves of it: `null` if nothing is left.
    fn read(&self, seat: u16, answer: &str) -> PyResult<(String, Option<String>)> {
        let seat = self.seat(seat)?;
        match self.0.to_act().iter().position(|&other| other == seat) {
            Some(place) => self.0.read(place, answer),
            None => Err(refuse(format!("seat {seat} is not to act"))),
        }
    }

    /// The score of each seat with its unit, once the match is over.
    fn scores(&self) -> Option<Vec<String>> {
        self.0.scores()
    }

    /// The legal actions of a seat that is to act, as a JSON list; null if there are too many.
    fn legal(&self, seat: u16) -> PyResult<String> {
        self.0.legal(self.seat(seat)?)
    }

    /// The action with a number, for a seat that is to act, as JSON; null if there is none.
    fn action(&self, seat: u16, number: usize) -> PyResult<String> {
        self.0.action(self.seat(seat)?, number)
    }

    /// The reward of each seat in the last step.
    fn rewards(&self) -> Vec<f32> {
        self.0.rewards().to_vec()
    }

    /// How the match ended, as JSON, or None while it goes on.
    fn outcome(&self) -> PyResult<Option<String>> {
        self.0.outcome()
    }

    /// The events of the last step (or of the start), as a JSON list: those that a seat may hear of, or all.
    #[pyo3(signature = (seat = None))]
    fn events(&self, seat: Option<u16>) -> PyResult<String> {
        self.0.events(seat.map(|seat| self.seat(seat)).transpose()?)
    }

    /// The whole state as JSON, secrets included.
    fn state(&self) -> PyResult<String> {
        self.0.state()
    }

    /// The whole match as JSON, with its stream of chance.
    fn save(&self) -> PyResult<String> {
        self.0.save()
    }

    /// Resumes a saved match of the same game, names and rules.
    fn restore(&mut self, saved: &str) -> PyResult<()> {
        let (came, expected) = (saved_game(saved)?, self.0.game());
        if came != expected {
            return Err(refuse(format!("a saved match of {came}: expected one of {expected}")));
        }
        self.0.restore(saved)
    }

    /// Replaces the stream of chance from here on.
    fn reseed(&mut self, seed: u64) {
        self.0.reseed(seed);
    }

    /// Copies the match. The copy goes on as this one would.
    fn clone(&self) -> Referee {
        Referee(self.0.boxed())
    }

    fn __copy__(&self) -> Referee {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Referee {
        self.clone()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Referee>().getattr("load")?, (self.save()?,)))
    }

    fn __repr__(&self) -> String {
        format!("<Referee of {} for {}>", self.0.game(), self.0.names().iter().collect::<Vec<_>>().join(", "))
    }
}

/// What is known of a game before it is played, as a JSON object; `action` is the JSON Schema of an action.
#[pyfunction]
pub fn card(game: &str) -> PyResult<String> {
    let id = setup::game(game)?;
    let Card { title, about, rules, hint, opponents, .. } = id.card();
    let (seats, action) =
        with_game!(id, G => ([*G::SEATS.start(), *G::SEATS.end()], schema_for!(<G as Game>::Action)));
    json(&serde_json::json!({
        "title": title, "about": about, "rules": rules, "hint": hint, "opponents": opponents, "seats": seats, "action": action,
    }))
}

impl Referee {
    fn seat(&self, seat: u16) -> PyResult<Seat> {
        let seats = self.0.names().len();
        if usize::from(seat) < seats {
            Ok(Seat(seat))
        } else {
            Err(refuse(format!("there is no seat {seat}: expected a number from 0 to {}", seats - 1)))
        }
    }
}

/// A match of any game.
trait AnyMatch: Send + Sync {
    fn game(&self) -> &'static str;
    fn names(&self) -> &Names;
    fn rules(&self) -> PyResult<String>;
    fn fields(&self) -> Vec<Field>;
    fn actions(&self) -> usize;
    fn to_act(&self) -> &[Seat];
    fn decisions(&self, seat: Seat) -> Vec<u32>;
    fn view(&self, seat: Seat) -> PyResult<String>;
    fn situation(&self, seat: Seat) -> String;
    fn is_open(&self) -> bool;
    fn observe<'py>(&self, py: Python<'py>, seat: Seat) -> PyResult<Bound<'py, PyAny>>;
    fn mask<'py>(&self, py: Python<'py>, seat: Seat) -> PyResult<Bound<'py, PyAny>>;
    fn step(&mut self, chosen: &[i64]) -> PyResult<()>;
    fn apply(&mut self, actions: &str) -> PyResult<()>;
    fn is_legal(&self, action: &str) -> PyResult<bool>;
    fn bot_action(&self, bot: &str, seat: Seat, seed: u64) -> PyResult<String>;
    fn story(&self, seat: Seat) -> Vec<String>;
    fn labels(&self, seat: Seat) -> PyResult<Option<Vec<(String, String)>>>;
    fn read(&self, place: usize, answer: &str) -> PyResult<(String, Option<String>)>;
    fn scores(&self) -> Option<Vec<String>>;
    fn legal(&self, seat: Seat) -> PyResult<String>;
    fn action(&self, seat: Seat, number: usize) -> PyResult<String>;
    fn rewards(&self) -> &[f32];
    fn outcome(&self) -> PyResult<Option<String>>;
    fn events(&self, seat: Option<Seat>) -> PyResult<String>;
    fn state(&self) -> PyResult<String>;
    fn save(&self) -> PyResult<String>;
    fn restore(&mut self, saved: &str) -> PyResult<()>;
    fn reseed(&mut self, seed: u64);
    fn boxed(&self) -> Box<dyn AnyMatch>;
}

/// A match of `G`.
#[derive(Clone)]
struct Match<G: Game> {
    names: Names,
    rules: G::Rules,
    game: G,
    chance: Seeded,
    numbers: Arc<dyn Numbers<G>>,
    /// The number of numbers in an observation.
    columns: usize,
    /// The events of the last step.
    log: Vec<Logged<G::Event>>,
    /// Each seat's return so far, and its reward in the last step.
    returns: Vec<f32>,
    rewards: Vec<f32>,
}

/// The JSON of a match.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved<R> {
    game: String,
    names: Names,
    rules: R,
    state: Value,
    chance: Seeded,
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(refuse)
}

fn not_saved(error: serde_json::Error) -> PyErr {
    refuse(format!("not a saved match: {error}"))
}

/// Reads the game of a saved match.
fn saved_game(saved: &str) -> PyResult<String> {
    #[derive(Deserialize)]
    struct Game {
        game: String,
    }
    serde_json::from_str(saved).map(|Game { game }| game).map_err(not_saved)
}

impl<G: Listed> Match<G> {
    fn new(names: Names, rules: G::Rules, seed: u64) -> PyResult<Self> {
        let (mut chance, mut log) = (Seeded::new(seed, "match", 0), Vec::new());
        let game = G::new(&names, &rules, &mut chance, &mut log).map_err(refuse)?;
        Ok(Match::from_parts(names, rules, game, chance, log))
    }

    fn from_parts(
        names: Names,
        rules: G::Rules,
        game: G,
        chance: Seeded,
        log: Vec<Logged<G::Event>>,
    ) -> Self {
        let (mut returns, rewards) = (vec![0.0; names.len()], vec![0.0; names.len()]);
        let numbers = numbers::<G>(&game.view(Seat(0)));
        numbers.returns(&game, &mut returns);
        let columns = numbers.fields(&rules, names.len()).len();
        Match { names, rules, game, chance, numbers, columns, log, returns, rewards }
    }

    /// Checks everything before it becomes a match: text from outside must not break the rules.
    fn load(saved: &str) -> PyResult<Self> {
        let Saved { names, rules, state, chance, .. }: Saved<G::Rules> =
            serde_json::from_str(saved).map_err(not_saved)?;
        let game: G =
            game::restore(&state.to_string()).map_err(|error| refuse(format!("a saved match: {error}")))?;
        if game.seats() != names.len() {
            let (seats, names) = (game.seats(), names.len());
            return Err(refuse(format!("a saved match: {names} names for {seats} seats")));
        }
        if *game.rules() != rules {
            return Err(refuse("a saved match: its state was played by other rules"));
        }
        Ok(Match::from_parts(names, rules, game, chance, Vec::new()))
    }

    fn play(&mut self, moves: &[Move<G::Action>]) -> PyResult<()> {
        let mut log = Vec::new();
        self.game.apply(moves, &mut self.chance, &mut log).map_err(refuse)?;
        self.log = log;
        let before = self.returns.clone();
        self.numbers.returns(&self.game, &mut self.returns);
        let change = |(after, before): (&f32, &f32)| after - before;
        self.rewards = self.returns.iter().zip(&before).map(change).collect();
        Ok(())
    }

    /// Checks whether the rules accept this action from the seat at `place` among those to act, whatever the others do.
    fn attempt(&self, place: usize, action: &G::Action) -> Result<(), String> {
        let mut moves = vec![Move::Forfeit; self.game.to_act().len()];
        moves[place] = Move::Act(action.clone());
        let applied = self.game.clone().apply(&moves, &mut self.chance.clone(), &mut Silent);
        applied.map_err(|rejected| match rejected {
            Rejected::Illegal { why, .. } => why.to_string(),
            other => other.to_string(),
        })
    }

    /// The rows of a seat as an array: a vector, or a matrix if there can be several rows.
    fn rows<'py, T: Element>(
        &self,
        py: Python<'py>,
        numbers: Vec<T>,
        columns: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rows = numbers.len() / columns;
        let array = PyArray1::from_vec(py, numbers);
        if self.numbers.is_many() {
            Ok(array.reshape([rows, columns])?.into_any())
        } else {
            Ok(array.into_any())
        }
    }
}

impl<G: Listed> AnyMatch for Match<G> {
    fn game(&self) -> &'static str {
        G::ID
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn rules(&self) -> PyResult<String> {
        json(&self.rules)
    }

    fn fields(&self) -> Vec<Field> {
        self.numbers.fields(&self.rules, self.names.len())
    }

    fn actions(&self) -> usize {
        self.numbers.actions(self.names.len())
    }

    fn to_act(&self) -> &[Seat] {
        self.game.to_act()
    }

    fn decisions(&self, seat: Seat) -> Vec<u32> {
        self.numbers.decisions(&self.game.view(seat))
    }

    fn view(&self, seat: Seat) -> PyResult<String> {
        json(&self.game.view(seat))
    }

    fn situation(&self, seat: Seat) -> String {
        G::situation(&self.game.view(seat), &self.names).to_string()
    }

    fn is_open(&self) -> bool {
        G::CARD.open
    }

    fn observe<'py>(&self, py: Python<'py>, seat: Seat) -> PyResult<Bound<'py, PyAny>> {
        let view = self.game.view(seat);
        match self.numbers.observe(&self.rules, &view, self.names.len()) {
            Cells::Wide(numbers) => self.rows(py, numbers, self.columns),
            Cells::Narrow(numbers) => self.rows(py, numbers, self.columns),
        }
    }

    fn mask<'py>(&self, py: Python<'py>, seat: Seat) -> PyResult<Bound<'py, PyAny>> {
        let view = self.game.view(seat);
        let columns = self.actions();
        let mut marks = vec![false; columns * self.numbers.decisions(&view).len()];
        if self.to_act().contains(&seat) {
            self.numbers.mask(&view, &mut marks);
        }
        self.rows(py, marks, columns)
    }

    fn step(&mut self, chosen: &[i64]) -> PyResult<()> {
        let most = self.actions() - 1;
        if let Some(wrong) = chosen.iter().find(|&&action| !(0..=most as i64).contains(&action)) {
            return Err(refuse(format!("there is no action {wrong}: expected a number from 0 to {most}")));
        }
        let chosen: Vec<usize> = chosen.iter().map(|&action| action as usize).collect();
        let (mut rest, mut expected) = (&chosen[..], 0);
        let mut moves = Vec::new();
        for &seat in self.game.to_act() {
            let view = self.game.view(seat);
            let rows = self.numbers.decisions(&view).len();
            expected += rows;
            let Some((own, others)) = rest.split_at_checked(rows) else {
                rest = &[];
                continue;
            };
            rest = others;
            let action = self
                .numbers
                .action(&view, own)
                .map_err(|action| refuse(format!("seat {seat}: action {action} is not possible now")))?;
            moves.push(Move::Act(action));
        }
        if expected == 0 {
            return Err(refuse("the match is over"));
        }
        if expected != chosen.len() {
            return Err(refuse(format!(
                "expected an action for each decision ({expected}), got {}",
                chosen.len()
            )));
        }
        self.play(&moves)
    }

    fn apply(&mut self, actions: &str) -> PyResult<()> {
        let actions: Vec<Option<G::Action>> = serde_json::from_str(actions).map_err(|error| {
            refuse(format!("expected a list of actions of {}: {}", G::ID, in_json(&error)))
        })?;
        let moves: Vec<_> =
            actions.into_iter().map(|action| action.map_or(Move::Forfeit, Move::Act)).collect();
        self.play(&moves)
    }

    fn is_legal(&self, action: &str) -> PyResult<bool> {
        let action: Option<G::Action> = serde_json::from_str(action).map_err(|error| {
            refuse(format!("an opponent: {action} is no action of {}: {}", G::ID, in_json(&error)))
        })?;
        Ok(action.is_some_and(|action| self.clone().play(&[Move::Act(action)]).is_ok()))
    }

    fn bot_action(&self, bot: &str, seat: Seat, seed: u64) -> PyResult<String> {
        let mut bot = setup::built_in::<G>(bot, &self.rules, Seeded::new(seed, "bot", 0))?;
        json(&bot.act(&self.game.view(seat)))
    }

    fn story(&self, seat: Seat) -> Vec<String> {
        let heard = self.log.iter().filter(|logged| logged.audience.includes(seat));
        let told = heard.flat_map(|logged| G::tell(&logged.event, &self.names));
        told.map(|told| told.sentence(&self.names).to_string()).collect()
    }

    fn labels(&self, seat: Seat) -> PyResult<Option<Vec<(String, String)>>> {
        let view = self.game.view(seat);
        let labelled = |action: G::Action| Ok((G::label(&view, &action, &self.names), json(&action)?));
        G::few_legal_actions(&view, MOST_LEGAL)
            .map(|actions| actions.into_iter().map(labelled).collect())
            .transpose()
    }

    fn read(&self, place: usize, answer: &str) -> PyResult<(String, Option<String>)> {
        let answer: Value = serde_json::from_str(answer).map_err(refuse)?;
        let (action, mut wrong) = match G::read_action(&answer) {
            Ok(read) => read,
            Err(error) => {
                return Ok(("null".to_owned(), Some(format!("no action of {}: {}", G::ID, in_json(&error)))));
            }
        };
        if let Err(why) = self.attempt(place, &action) {
            wrong = Some(why);
            let saved = G::salvage(&self.game.view(self.to_act()[place]), &action);
            return Ok((json(&saved.filter(|saved| self.attempt(place, saved).is_ok()))?, wrong));
        }
        Ok((json(&action)?, wrong))
    }

    fn scores(&self) -> Option<Vec<String>> {
        self.game.outcome().map(|outcome| outcome.scores.iter().map(|&score| G::score(score)).collect())
    }

    fn legal(&self, seat: Seat) -> PyResult<String> {
        json(&G::few_legal_actions(&self.game.view(seat), MOST_LEGAL))
    }

    fn action(&self, seat: Seat, number: usize) -> PyResult<String> {
        json(&self.numbers.action(&self.game.view(seat), &[number]).ok())
    }

    fn rewards(&self) -> &[f32] {
        &self.rewards
    }

    fn outcome(&self) -> PyResult<Option<String>> {
        self.game.outcome().map(|outcome| json(&outcome)).transpose()
    }

    fn events(&self, seat: Option<Seat>) -> PyResult<String> {
        let heard = |logged: &&Logged<G::Event>| seat.is_none_or(|seat| logged.audience.includes(seat));
        json(&self.log.iter().filter(heard).map(|logged| &logged.event).collect::<Vec<_>>())
    }

    fn state(&self) -> PyResult<String> {
        json(&self.game)
    }

    fn save(&self) -> PyResult<String> {
        let state = serde_json::to_value(&self.game).map_err(refuse)?;
        let (game, names, rules) = (G::ID.to_owned(), self.names.clone(), self.rules.clone());
        json(&Saved { game, names, rules, state, chance: self.chance.clone() })
    }

    fn restore(&mut self, saved: &str) -> PyResult<()> {
        let loaded = Match::<G>::load(saved)?;
        if loaded.names != self.names {
            let names = |names: &Names| names.iter().collect::<Vec<_>>().join(", ");
            let (came, expected) = (names(&loaded.names), names(&self.names));
            return Err(refuse(format!("a saved match of {came}: expected one of {expected}")));
        }
        if loaded.rules != self.rules {
            let (came, expected) = (json(&loaded.rules)?, self.rules()?);
            return Err(refuse(format!("a saved match with the rules {came}: expected {expected}")));
        }
        *self = loaded;
        Ok(())
    }

    fn reseed(&mut self, seed: u64) {
        self.chance = Seeded::new(seed, "match from here on", 0);
    }

    fn boxed(&self) -> Box<dyn AnyMatch> {
        Box::new(self.clone())
    }
}
