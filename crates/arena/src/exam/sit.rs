//! Entries sit an exam: they are asked every question, each as if it came up in a match of its own.
//!
//! Entries are asked at the same time, each on its own thread; those that mostly wait ([`Player::streams`]) get several questions at once.
//! Guests are asked on the calling thread. An answer depends only on the entry and the question, so the order in which entries are asked
//! does not matter.

use super::paper::{Paper, Question};
use crate::{
    entry::{EntryKind, EntrySpec},
    fault::{Fault, FaultKind, Notes, Trouble},
    lineup::{LineupError, Terms, player},
    model::ModelEntry,
    player::{Answer, Effort, MatchStart, Player},
};
use necrodome_models::Run;
use necrodome_rules::{
    bot::Decide,
    catalog::Listed,
    chance::{Chance, Seed, Seeded},
    game::{Game, Move, Outcome, Rejected, Silent},
};
use necrodome_solve::bots::decider;
use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Sender, channel},
    },
    thread,
};

/// An entry that sits the exam.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The name in the report.
    pub name: String,
    /// The entry.
    pub entry: EntrySpec,
    /// The number of earlier candidates that are the same entry. Each copy is asked anew, with its own chance.
    pub copy: u64,
}

impl Candidate {
    /// Returns candidates for these entries and names.
    pub fn all<'a>(entries: &[EntrySpec], names: impl Iterator<Item = &'a str>) -> Vec<Self> {
        let copy = |index: usize| {
            let same = |other: &&EntrySpec| {
                (&other.text, &other.kind) == (&entries[index].text, &entries[index].kind)
            };
            entries[..index].iter().filter(same).count() as u64
        };
        let candidate = |(index, name): (usize, &str)| Candidate {
            name: name.to_owned(),
            entry: entries[index].clone(),
            copy: copy(index),
        };
        names.enumerate().map(candidate).collect()
    }

    /// Returns the player to ask. Built-in bots draw their own chance anew for each question.
    pub fn player<G: Listed>(&self, terms: &Terms<G::Rules>) -> Result<Box<dyn Player<G>>, LineupError> {
        let mut player: Box<dyn Player<G>> = match &self.entry.kind {
            EntryKind::BuiltIn(spec) => {
                Box::new(Asked { decide: decider::<G>(spec, &terms.rules)?, seed: 0 })
            }
            _ => player::<G>(&self.entry, &self.name, terms, Seeded::new(0, "exam", 0))?,
        };
        player.be_copy(self.copy);
        Ok(player)
    }

    /// Returns the seed of the candidate's own chance in a question.
    pub(super) fn seed(&self, exam: Seed, question: usize) -> u32 {
        let purpose = format!("exam {} {}", self.copy, self.entry.text);
        Seeded::new(exam, &purpose, question as u64).uniform(u32::MAX)
    }
}

/// A built-in bot that answers single questions.
struct Asked<G: Game> {
    decide: Decide<G>,
    seed: u32,
}

impl<G: Game> Player<G> for Asked<G> {
    fn start(&mut self, start: &MatchStart) {
        self.seed = start.seed;
    }

    fn hear(&mut self, _: &[&G::Event]) {}

    fn listens(&self) -> bool {
        false
    }

    fn ask(&mut self, _: &G::View) {}

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        let own = || Seeded::new(u64::from(self.seed), "bot", 0);
        Answer::Act((self.decide)(view, &own), None)
    }

    fn refused(&mut self, _: &str) {}

    fn end(&mut self, _: &Outcome) -> Vec<Fault> {
        Vec::new()
    }

    /// As many as there are processors: the bot answers each question independently.
    fn streams(&self) -> usize {
        thread::available_parallelism().map_or(1, usize::from)
    }
}

/// An answer, as the rules treat it.
#[derive(Debug, Clone)]
pub struct Answered<A> {
    /// The move that the rules make of the answer.
    pub choice: Move<A>,
    /// The reason that the entry gave.
    pub reason: Option<String>,
    /// The fault of the answer, if it has one.
    pub fault: Option<Fault>,
    /// What the answer cost.
    pub regret: f64,
    /// What the entry used for the answer.
    pub effort: Effort,
}

/// The reason why there is no answer.
enum Gap {
    /// The user stopped the exam, or a person left.
    Interrupted,
    /// The arena or the endpoint lacks something for this entry.
    Arena(String),
}

/// The answers of an exam.
#[derive(Debug)]
pub struct Sat<A> {
    /// The answers by entry and question, or `None` where a question was not put or not answered.
    pub answers: Vec<Vec<Option<Answered<A>>>>,
    /// Entries that never became ready to play.
    pub absent: Vec<usize>,
    /// Whether the user stopped the whole exam.
    pub interrupted: bool,
    /// By entry: why the arena could not ask all questions, such as an endpoint that fails or a budget that is used up. This does not
    /// count against the entry.
    pub stopped: Vec<Option<String>>,
    /// What went wrong, and what programs have written to standard error.
    pub trouble: Trouble,
}

/// A message from a thread.
enum News<A> {
    Answer(usize, Box<Answered<A>>),
    Absent,
    Closed(Vec<Fault>, String),
}

/// The state that all threads share.
struct Room<'a, G: Listed> {
    paper: &'a Paper<G>,
    candidates: &'a [Candidate],
    terms: &'a Terms<G::Rules>,
    /// Whether the user wants to stop.
    quit: &'a AtomicBool,
    /// By entry: the number of the next question.
    next: Vec<AtomicUsize>,
    /// Whether all threads must stop.
    interrupted: AtomicBool,
    /// By entry: why the arena asks it no more questions.
    stopped: Mutex<Vec<Option<String>>>,
}

/// Returns the language models among the candidates.
fn models(candidates: &[Candidate]) -> impl Iterator<Item = &ModelEntry> {
    candidates.iter().filter_map(|candidate| match &candidate.entry.kind {
        EntryKind::Model(model) => Some(model),
        _ => None,
    })
}

/// Begins the exam in the book of calls: the same exam goes on where it was, and finds its answers again. A dry run changes nothing.
pub(super) fn begin<G: Listed>(
    paper: &Paper<G>,
    candidates: &[Candidate],
    rules: &G::Rules,
    is_dry: bool,
) -> Result<(), LineupError> {
    let options = serde_json::to_string(rules).unwrap_or_default();
    let name = &format!("exam {} {} {} {options}", G::ID, paper.positions, paper.seed);
    models(candidates).try_for_each(|model| Ok(model.begin(&Run { name, goes_on: false, is_dry })?))
}

/// Puts all questions to all candidates. `progress` is called with the number of answers so far and the total.
pub fn sit<G: Listed>(
    paper: &Paper<G>,
    candidates: &[Candidate],
    terms: &Terms<G::Rules>,
    quit: &AtomicBool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Sat<G::Action>, LineupError> {
    // A mistake in the line-up shows before anything is asked.
    candidates.iter().try_for_each(|candidate| candidate.player::<G>(terms).map(drop))?;
    begin(paper, candidates, &terms.rules, false)?;
    let questions = paper.questions.len();
    let room = Room {
        paper,
        candidates,
        terms,
        quit,
        next: candidates.iter().map(|_| AtomicUsize::new(0)).collect(),
        interrupted: AtomicBool::new(false),
        stopped: Mutex::new(vec![None; candidates.len()]),
    };
    let mut answers: Vec<Vec<Option<Answered<G::Action>>>> =
        candidates.iter().map(|_| vec![None; questions]).collect();
    let (mut absent, mut closings, mut done) = (Vec::new(), Vec::new(), 0);
    let mut file = |entry: usize, news: News<G::Action>| match news {
        News::Answer(question, answered) => {
            answers[entry][question] = Some(*answered);
            done += 1;
            progress(done, questions * candidates.len());
        }
        News::Absent => absent.push(entry),
        News::Closed(faults, log) => closings.push((entry, faults, log)),
    };
    let is_guest = |entry: &usize| matches!(candidates[*entry].entry.kind, EntryKind::Guest(_));
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        for entry in (0..candidates.len()).filter(|entry| !is_guest(entry)) {
            let (sender, room) = (sender.clone(), &room);
            scope.spawn(move || room.seat(scope, entry, sender));
        }
        drop(sender);
        for entry in (0..candidates.len()).filter(is_guest) {
            if let Ok(mut player) = candidates[entry].player::<G>(terms) {
                room.ask_all(entry, &mut *player, &mut |news| file(entry, news));
            }
        }
        receiver.iter().for_each(|(entry, news)| file(entry, news));
    });
    // In the order of the questions, whoever was quicker.
    let mut notes = Notes::default();
    for (entry, answers) in answers.iter().enumerate() {
        for (question, answered) in (1..).zip(answers) {
            if let Some(fault) = answered.as_ref().and_then(|answered| answered.fault.as_ref()) {
                notes.fault(entry, fault, || format!("question {question}"));
            }
        }
    }
    for (entry, faults, log) in closings {
        faults.iter().for_each(|fault| notes.fault(entry, fault, || "the end".to_owned()));
        notes.log(entry, &log);
    }
    let name = |entry: usize| candidates[entry].name.clone();
    let stopped = room.stopped.into_inner().unwrap_or_else(PoisonError::into_inner);
    let interrupted = room.interrupted.into_inner();
    if !interrupted && stopped.iter().all(Option::is_none) {
        models(candidates).try_for_each(ModelEntry::finish)?;
    }
    absent.sort_unstable();
    absent.dedup();
    Ok(Sat { answers, absent, interrupted, stopped, trouble: notes.named(name) })
}

impl<'a, G: Listed> Room<'a, G> {
    /// Asks one entry, in as many streams as it allows.
    fn seat<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        entry: usize,
        sender: Sender<(usize, News<G::Action>)>,
    ) {
        // It could be made a moment ago.
        let Ok(mut player) = self.candidates[entry].player::<G>(self.terms) else { return };
        let streams = player.streams().clamp(1, self.paper.questions.len());
        for _ in 1..streams {
            let sender = sender.clone();
            scope.spawn(move || {
                if let Ok(mut player) = self.candidates[entry].player::<G>(self.terms) {
                    self.ask_all(entry, &mut *player, &mut |news| _ = sender.send((entry, news)));
                }
            });
        }
        self.ask_all(entry, &mut *player, &mut |news| _ = sender.send((entry, news)));
    }

    /// Puts the remaining questions to a player.
    fn ask_all(&self, entry: usize, player: &mut dyn Player<G>, tell: &mut dyn FnMut(News<G::Action>)) {
        loop {
            if self.quit.load(Ordering::Relaxed) {
                self.interrupted.store(true, Ordering::Relaxed);
            }
            let number = self.next[entry].fetch_add(1, Ordering::Relaxed);
            let Some(question) = self.paper.questions.get(number) else { break };
            if self.interrupted.load(Ordering::Relaxed) {
                break;
            }
            match self.ask(entry, number, question, player) {
                Ok(answered) => tell(News::Answer(number, Box::new(answered))),
                Err(gap) => {
                    self.give_up(entry, gap);
                    break;
                }
            }
            if !player.has_started() {
                tell(News::Absent);
                self.ask_no_more(entry);
                break;
            }
        }
        let (faults, log) = player.close();
        tell(News::Closed(faults, log));
    }

    /// Stops all entries after an interrupt. If the arena lacks something for one entry, only that entry stops; the first reason counts.
    fn give_up(&self, entry: usize, gap: Gap) {
        match gap {
            Gap::Arena(why) if !self.quit.load(Ordering::Relaxed) => {
                let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
                stopped[entry].get_or_insert(why);
                self.ask_no_more(entry);
            }
            _ => self.interrupted.store(true, Ordering::Relaxed),
        }
    }

    /// Skips the questions that an entry was not asked yet.
    fn ask_no_more(&self, entry: usize) {
        self.next[entry].store(self.paper.questions.len(), Ordering::Relaxed);
    }

    /// Puts one question.
    fn ask(
        &self,
        entry: usize,
        number: usize,
        question: &Question<G>,
        player: &mut dyn Player<G>,
    ) -> Result<Answered<G::Action>, Gap> {
        let names = self.paper.names(question);
        let seed = self.candidates[entry].seed(self.paper.seed, number);
        player.start(&MatchStart { seat: question.seat, names: &names, seed });
        if player.listens() && !question.heard.is_empty() {
            player.hear(&question.heard.iter().collect::<Vec<_>>());
        }
        player.ask(&question.view);
        let (action, reason, fault) = match player.answer(&question.view) {
            Answer::Act(action, reason) => (Some(action), reason, None),
            Answer::Partly { action, reason, fault } => (Some(action), reason, Some(fault)),
            Answer::Fault(fault) => (None, None, Some(fault)),
            Answer::Quit => return Err(Gap::Interrupted),
            Answer::Arena(what) => return Err(Gap::Arena(what)),
        };
        let (choice, illegal) = action.map_or((Move::Forfeit, None), |action| by_the_rules(question, action));
        if let Some(fault) = &illegal {
            player.refused(&fault.detail);
        }
        let regret = self.paper.regret(question, &choice);
        Ok(Answered { choice, reason, fault: illegal.or(fault), regret, effort: player.take_effort() })
    }
}

/// Returns the move that the rules make of an action, and what was wrong with it.
fn by_the_rules<G: Game>(question: &Question<G>, action: G::Action) -> (Move<G::Action>, Option<Fault>) {
    let refused = |action: &G::Action| {
        let moves = [Move::Act(action.clone())];
        let applied = question.game.clone().apply(&moves, &mut Seeded::new(0, "exam", 0), &mut Silent);
        match applied {
            Err(Rejected::Illegal { why, .. }) => Some(why.to_string()),
            _ => None,
        }
    };
    let Some(why) = refused(&action) else { return (Move::Act(action), None) };
    let saved = G::salvage(&question.view, &action).filter(|saved| refused(saved).is_none());
    (saved.map_or(Move::Forfeit, Move::Act), Some(Fault::new(FaultKind::Illegal, why)))
}
