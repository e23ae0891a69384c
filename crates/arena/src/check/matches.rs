//! Seeded matches and rare positions, run with the same kind of player that tournaments use.

use super::{
    Candidate, CheckError, Finding, Findings, Wrong, example, json,
    positions::{RarePosition, hunt, line_up},
    seated, shortened,
    trials::Setup,
    wire::Cost,
};
use crate::{
    fault::{Fault, FaultKind},
    lineup::{Terms, player},
    player::{Answer, BuiltInPlayer, MatchStart, Player},
    protocol::{MAX_LISTED, ToBot},
    run::{RunError, run_match},
    stderr,
};
use necrodome_rules::{
    catalog::Listed,
    chance::Seeded,
    game::{Game, Outcome},
    names::Names,
};
use std::{cell::RefCell, rc::Rc};

/// A setup that can be played: its rules, and names with the candidate in the first seat.
pub(super) struct Hall<G: Game> {
    pub(super) setup: Setup<G>,
    pub(super) rules: G::Rules,
    pub(super) names: Names,
    pub(super) opponents: Vec<&'static str>,
    pub(super) stamina: usize,
    pub(super) patience: usize,
}

impl<G: Game> Hall<G> {
    fn title(&self) -> String {
        let seats = match self.setup.seats {
            1 => "1 seat".to_owned(),
            seats => format!("{seats} seats"),
        };
        let set = self.setup.set.replace(' ', ", ");
        if set.is_empty() { seats } else { format!("{seats}, {set}") }
    }

    /// Returns the built-in bot whose answers are shown as examples.
    pub(super) fn example(&self) -> &'static str {
        self.opponents.first().copied().unwrap_or_default()
    }

    /// Returns all seats or, at a large table, the first, the last and one between.
    fn seats(&self) -> Vec<usize> {
        match self.setup.seats {
            seats if seats <= 6 => (0..seats).collect(),
            seats => vec![0, seats / 2, seats - 1],
        }
    }
}

/// After this many failures the remaining checks are skipped: each may cost the whole time limit.
const ENOUGH: usize = 3;

/// What an observer noted about the bot.
#[derive(Default)]
struct Watched {
    decisions: u64,
    costs: Vec<Cost>,
    /// The first mistake: its text, and what came and was expected.
    failure: Option<(String, Wrong)>,
    /// The last line that the arena forgave.
    chatter: Option<Fault>,
    timed_out: bool,
}

/// The candidate under observation. Its match stops at its first mistake.
struct Observed<G: Listed> {
    inner: Box<dyn Player<G>>,
    watched: Rc<RefCell<Watched>>,
    /// The built-in bot whose answers are shown as examples.
    opponent: &'static str,
    /// The last question and answer.
    last: Option<(G::View, Option<String>)>,
}

impl<G: Listed> Observed<G> {
    /// Notes a mistake in the answer to the last question.
    fn note(&mut self, text: String, came: String, hint: Option<String>) {
        let mut watched = self.watched.borrow_mut();
        let Some((view, _)) = &self.last else { return };
        if watched.failure.is_none() {
            let id = watched.decisions;
            let legal = G::few_legal_actions(view, MAX_LISTED);
            let question: ToBot<G::View, G::Action, G::Event, G::Rules> = ToBot::Decide { id, view, legal };
            let expected = example::<G>(self.opponent, view, id);
            let (message, came) = (shortened(&json(&question)), shortened(&came));
            let wrong = Wrong { message, came, expected, hint };
            watched.failure = Some((text, wrong));
        }
    }

    /// Notes misbehaviour that is not an answer to a question.
    fn note_late(&mut self, fault: &Fault) {
        let mut watched = self.watched.borrow_mut();
        watched.failure.get_or_insert_with(|| {
            let expected = "no more than the answers that are asked for".to_owned();
            let (message, came) = ("the end of a match".to_owned(), fault.to_string());
            let wrong = Wrong { message, came, expected, hint: fault.hint.clone() };
            (fault.kind.to_string(), wrong)
        });
    }
}

impl<G: Listed> Player<G> for Observed<G> {
    fn start(&mut self, start: &MatchStart) {
        self.inner.start(start);
    }

    fn hear(&mut self, heard: &[&G::Event]) {
        self.inner.hear(heard);
    }

    fn listens(&self) -> bool {
        self.inner.listens()
    }

    fn ask(&mut self, view: &G::View) {
        self.last = Some((view.clone(), None));
        self.watched.borrow_mut().decisions += 1;
        self.inner.ask(view);
    }

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        // An illegal action is seen only by the referee, after the answer.
        if self.watched.borrow().failure.is_some() {
            let _ = self.inner.answer(view);
            return Answer::Quit;
        }
        let answer = self.inner.answer(view);
        let effort = self.inner.take_effort();
        match &answer {
            Answer::Act(action, _) => {
                let action = json(action);
                if let Some((_, came)) = &mut self.last {
                    *came = Some(action);
                }
                if effort.decisions == 1 {
                    let cost = if effort.fuel > 0 { Cost::Fuel(effort.fuel) } else { Cost::Cpu(effort.cpu) };
                    self.watched.borrow_mut().costs.push(cost);
                }
            }
            Answer::Partly { fault, .. } | Answer::Fault(fault) => {
                self.watched.borrow_mut().timed_out |= fault.kind == FaultKind::Timeout;
                self.note(fault.kind.to_string(), fault.detail.clone(), fault.hint.clone());
                return Answer::Quit;
            }
            Answer::Quit | Answer::Arena(_) => {}
        }
        answer
    }

    fn refused(&mut self, why: &str) {
        let came = self.last.as_ref().and_then(|(_, came)| came.clone()).unwrap_or_default();
        self.note(format!("illegal: {why}"), came, None);
        self.inner.refused(why);
    }

    fn end(&mut self, outcome: &Outcome) -> Vec<Fault> {
        let faults = self.inner.end(outcome);
        for fault in &faults {
            match fault.kind.is_warning() {
                true => self.watched.borrow_mut().chatter = Some(fault.clone()),
                false => self.note_late(fault),
            }
        }
        faults
    }

    fn close(&mut self) -> (Vec<Fault>, String) {
        self.inner.close()
    }
}

/// Plays all matches and shows all positions.
pub(super) fn check<G: Listed>(
    candidate: &Candidate,
    halls: &[Hall<G>],
    notes: &mut Findings,
) -> Result<(), CheckError> {
    let mut costs = Vec::new();
    let mut timed_out = false;
    let mut failures = 0;
    for (index, hall) in halls.iter().enumerate() {
        if failures >= ENOUGH {
            notes.add(Finding::skipped("matches", format!("{}: not tried any more", hall.title())));
            continue;
        }
        let mut room = Room::enter(candidate, hall)?;
        failures += room.matches(notes)?;
        if index == 0 && failures == 0 {
            failures += room.stamina(notes)?;
        }
        for (what, bots, wanted) in &hall.setup.positions {
            if failures >= ENOUGH {
                notes.add(Finding::skipped("position", format!("{what}: not tried any more")));
                continue;
            }
            match hunt(&hall.names, &hall.rules, bots, hall.patience, *wanted) {
                Some(position) => failures += room.position(candidate, what, &position, notes)?,
                None => notes.add(Finding::skipped(
                    "position",
                    format!("{what}: does not come up with these options"),
                )),
            }
        }
        failures += room.leave(notes);
        let watched = room.watched.borrow();
        costs.extend_from_slice(&watched.costs);
        timed_out |= watched.timed_out;
    }
    notes.add(cost_finding(candidate, costs, timed_out));
    Ok(())
}

/// Returns the finding about the cost of the bot's decisions.
fn cost_finding(candidate: &Candidate, mut costs: Vec<Cost>, timed_out: bool) -> Finding {
    costs.sort_unstable();
    let (Some(&largest), Some(&median)) = (costs.last(), costs.get(costs.len() / 2)) else {
        return Finding::skipped("cpu", "no decision was measured");
    };
    let text = format!(
        "a decision took {} {} in the median of {}, {} at most, where {} are allowed",
        median.number(),
        median.unit(),
        costs.len(),
        largest.number(),
        largest.allowed(&candidate.limits).number()
    );
    match timed_out {
        true => Finding::fail("cpu", format!("ran out of time; otherwise {text}"), None),
        false => Finding::ok("cpu", text),
    }
}

/// One setup, with one process of the candidate.
struct Room<'a, G: Listed> {
    hall: &'a Hall<G>,
    watched: Rc<RefCell<Watched>>,
    /// The candidate, taken out while it plays a match.
    candidate: Option<Box<dyn Player<G>>>,
    played: usize,
}

impl<'a, G: Listed> Room<'a, G> {
    fn enter(candidate: &Candidate, hall: &'a Hall<G>) -> Result<Self, CheckError> {
        let watched = Rc::new(RefCell::new(Watched::default()));
        let inner = inner_player(candidate, hall)?;
        let observed = Observed { inner, watched: watched.clone(), opponent: hall.example(), last: None };
        Ok(Room { hall, watched, candidate: Some(Box::new(observed)), played: 0 })
    }

    /// Plays one match, or does nothing if there is no candidate to play.
    fn play(&mut self, seat: usize) -> Result<(), CheckError> {
        let Some(candidate) = self.candidate.take() else { return Ok(()) };
        let seed = self.played as u64 + 1;
        self.played += 1;
        let names = seated(&self.hall.names, seat)?;
        let others = line_up::<G>(&self.hall.opponents, names.len() - 1, seed).unwrap_or_default();
        let mut players: Vec<Box<dyn Player<G>>> = Vec::with_capacity(names.len());
        players.extend(others.into_iter().map(|bot| Box::new(BuiltInPlayer(bot)) as Box<dyn Player<G>>));
        players.insert(seat, candidate);
        let result = run_match(&names, &self.hall.rules, seed, &mut players, |_: &G, _| {});
        self.candidate = Some(players.swap_remove(seat));
        match result {
            Err(RunError::Setup(error)) => Err(error.into()),
            // Broken off at a mistake, which has been noted.
            _ => Ok(()),
        }
    }

    fn failure(&self) -> Option<(String, Wrong)> {
        self.watched.borrow().failure.clone()
    }

    /// Reports the failure, or that all was fine. Returns the number of failures.
    fn conclude(&mut self, check: &'static str, about: &str, fine: String, notes: &mut Findings) -> usize {
        let failure = self.watched.borrow_mut().failure.take();
        if let Some(fault) = self.watched.borrow_mut().chatter.take() {
            notes.chatter(&fault);
        }
        match failure {
            Some((text, wrong)) => {
                notes.add(Finding::fail(check, format!("{about}: {text}"), Some(wrong)));
                1
            }
            None => {
                notes.add(Finding::ok(check, format!("{about}: {fine}")));
                0
            }
        }
    }

    /// Plays seeded matches in every seat.
    fn matches(&mut self, notes: &mut Findings) -> Result<usize, CheckError> {
        let seats = self.hall.seats();
        for _ in 0..self.hall.setup.matches {
            for &seat in &seats {
                if self.failure().is_none() {
                    self.play(seat)?;
                }
            }
        }
        let decisions = self.watched.borrow().decisions;
        let every = if seats.len() == self.hall.setup.seats { "every seat" } else { "three seats" };
        let fine = format!("{} matches in {every}, {decisions} decisions, all legal", self.played);
        Ok(self.conclude("matches", &self.hall.title(), fine, notes))
    }

    /// Plays many more matches in the same process.
    fn stamina(&mut self, notes: &mut Findings) -> Result<usize, CheckError> {
        let seats = self.hall.seats();
        for number in 0..self.hall.stamina {
            if self.failure().is_none() {
                self.play(seats[number % seats.len()])?;
            }
        }
        let about = format!("{} matches in one process", self.played);
        Ok(self.conclude("stamina", &about, "all in order".to_owned(), notes))
    }

    /// Shows a position in the middle of a match, as a restarted bot sees it.
    fn position(
        &mut self,
        candidate: &Candidate,
        what: &str,
        position: &RarePosition<G>,
        notes: &mut Findings,
    ) -> Result<usize, CheckError> {
        if self.candidate.is_none() {
            *self = Room::enter(candidate, self.hall)?;
        }
        let Some(player) = &mut self.candidate else { return Ok(0) };
        player.start(&MatchStart { seat: position.seat, names: &position.names, seed: 1 });
        player.ask(&position.view);
        if let Answer::Act(action, _) = player.answer(&position.view)
            && let Err(why) = position.judge(&action)
        {
            player.refused(&why);
        }
        player.end(&no_outcome(self.hall.setup.seats));
        Ok(self.conclude("position", what, "a legal answer".to_owned(), notes))
    }

    /// Ends the process. Returns the number of failures.
    fn leave(&mut self, notes: &mut Findings) -> usize {
        let Some(mut candidate) = self.candidate.take() else { return 0 };
        let (faults, log) = candidate.close();
        notes.add_log(stderr::without_headings(&log).as_bytes());
        for fault in &faults {
            let check = if fault.kind == FaultKind::LeftChildren { "processes" } else { "end of input" };
            // Each process ends in the same way: once is enough.
            if !notes.has_failed(check) {
                notes.add(Finding::fail(check, format!("{}: {fault}", self.hall.title()), None));
            }
        }
        faults.len()
    }
}

fn inner_player<G: Listed>(candidate: &Candidate, hall: &Hall<G>) -> Result<Box<dyn Player<G>>, CheckError> {
    let terms = Terms {
        launcher: candidate.launcher.clone(),
        limits: candidate.limits,
        rules: hall.rules.clone(),
        seats: hall.setup.seats,
    };
    Ok(player::<G>(candidate.entry, candidate.name, &terms, Seeded::new(1, "bot", 0))?)
}

/// Returns an outcome without a single winner.
pub(super) fn no_outcome(seats: usize) -> Outcome {
    Outcome { places: vec![1; seats], scores: vec![0; seats], turns: 1 }
}
