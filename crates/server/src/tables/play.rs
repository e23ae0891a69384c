//! A match at a table. It is played on a separate thread, people's answers come in by requests, and every answer is kept so that
//! the match can be played again up to the present.

use super::{
    LiveTable,
    beats::Follower,
    coach::{self, CoachWord},
    keep::{self, Given},
    seating::Input,
    setup::{self, Programs, SeatSetup, Setup},
    state::{Offer, Scene, TableFault},
};
use crate::{
    Db, Refusal,
    live::{Live, lock, now},
};
use necrodome_arena::{
    entry::{EntryKind, EntrySpec, files_of},
    fault::{Fault, FaultKind},
    lineup::{self, Terms},
    player::{Answer, MatchStart, Player},
    process::{Launcher, Limits},
    run::{RunError, run_match},
};
use necrodome_rules::{
    catalog::Listed,
    chance::{Seed, Seeded},
    game::{Game, Logged, Move, Outcome, Rejected, Seat, Silent},
    misread::in_json,
    names::Names,
    words::Told,
};
use necrodome_solve::{Meter, Solution};
use serde_json::Value;
use std::{
    collections::HashMap,
    iter,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    thread::{self, JoinHandle},
    time::Duration,
};

/// The most steps of a match at a table. A match that takes longer would never end.
const MOST_STEPS: u32 = 20_000;
/// The most lines about past events that a viewer is sent.
const TOLD: usize = 60;
/// The most legal actions that are listed.
const LISTED: usize = 64;

/// A running or finished match of any game.
pub(crate) trait Running: Send + Sync {
    /// Returns what a viewer may see.
    fn look(&self, seat: Option<Seat>) -> MatchView;
    /// Checks a person's answer. Returns the input with it and all answers that are not in the file yet, or the reason why it is refused.
    fn check(&self, seat: Seat, question: u32, action: Value) -> Result<Input, Refusal>;
    /// Takes answers that are now in the file.
    fn take(&self, bots: &[keep::Answer], person: Option<&keep::Answer>) -> Result<(), Refusal>;
    /// Whether the match is over or was broken off.
    fn has_ended(&self) -> bool;
    /// Lets a bot play on for a person who has left.
    fn leave(&self, seat: Seat);
    /// Lets a person who is back play again instead of the bot.
    fn come_back(&self, seat: Seat);
    /// Returns the thread of the match, the first time it is called.
    fn take_thread(&self) -> Option<JoinHandle<()>>;
    /// Breaks the match off; with `keep`, it stays in the file and can be resumed.
    fn close(&self, keep: bool);
}

/// What a viewer sees of a match.
#[derive(Default)]
pub(crate) struct MatchView {
    pub scene: Option<Scene>,
    pub question: Option<u32>,
    /// The seats that have to act, as far as the viewer may know.
    pub to_act: Vec<Seat>,
    /// When the time of those seats runs out.
    pub deadlines: Vec<(Seat, u64)>,
    pub end: Option<End>,
    pub note: Option<String>,
    /// What programs did wrong last.
    pub faults: Vec<(Seat, TableFault)>,
}

/// How a match ended.
#[derive(Debug, Clone)]
pub(crate) enum End {
    Over(Outcome),
    /// It was broken off, for this reason.
    Ended(String),
}

/// What a match needs to know of its table.
pub(crate) struct Ground {
    id: String,
    table: Weak<Live<LiveTable>>,
    db: Db,
    launcher: Launcher,
}

impl Ground {
    pub fn new(table: &Arc<Live<LiveTable>>, launcher: Launcher) -> Self {
        Ground { id: table.id.clone(), table: Arc::downgrade(table), db: table.db().clone(), launcher }
    }
}

struct Match<G: Listed> {
    ground: Ground,
    names: Names,
    /// How long a person may think, if there is a limit.
    clock: Option<Duration>,
    state: Mutex<State<G>>,
    woken: Condvar,
}

struct State<G: Listed> {
    /// The state of the game, or `None` until the set-up is done.
    game: Option<G>,
    step: u32,
    seats: Vec<Place<G>>,
    log: Vec<Logged<G::Event>>,
    /// The spectators, as one follower, and each person.
    followers: Vec<Follower<G>>,
    /// Answers of bots that are not in the file yet.
    unkept: Vec<keep::Answer>,
    end: Option<End>,
    note: Option<String>,
    closed: Option<Closed>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Closed {
    keep: bool,
}

/// The state of a seat.
struct Place<G: Listed> {
    /// How many questions it was asked, which is the number of the latest one.
    asked: u32,
    /// Whether it has answered the latest question.
    answered: bool,
    /// The answer, until the match takes it.
    action: Option<G::Action>,
    /// Whether the person has left, so that a bot answers for them.
    left: bool,
    /// When the person's time runs out (milliseconds since 1970), if there is a clock.
    deadline: Option<u64>,
    /// The step of its last decision, followed by the length of the log at that time.
    decided: Option<u32>,
    since: usize,
    coach: Option<CoachWord>,
    /// What its program did wrong last.
    fault: Option<Fault>,
}

/// Begins a match, or resumes it after its recorded answers.
pub(crate) fn start<G: Listed>(
    ground: Ground,
    setup: Setup,
    programs: Programs,
    given: Given,
) -> Result<Arc<dyn Running>, Refusal> {
    let bots = setup.bots::<G>(programs)?;
    let names = setup.names()?;
    let rules: G::Rules = serde_json::from_value(setup.options.clone()).map_err(Refusal::internal)?;
    let place = |seat: &SeatSetup| Place {
        asked: 0,
        answered: false,
        action: None,
        left: seat.left,
        deadline: None,
        decided: None,
        since: 0,
        coach: None,
        fault: None,
    };
    let people = setup.seats.iter().zip(Seat::all(names.len())).filter(|(seat, _)| seat.key.is_some());
    let viewers = iter::once(None).chain(people.map(|(_, &seat)| Some(seat)));
    let state = State {
        followers: viewers.map(|viewer| Follower::new(viewer, &rules)).collect(),
        game: None,
        step: 0,
        seats: setup.seats.iter().map(place).collect(),
        log: Vec::new(),
        unkept: Vec::new(),
        end: None,
        note: None,
        closed: None,
        thread: None,
    };
    let table = Arc::new(Match::<G> {
        ground,
        names: names.clone(),
        clock: setup.clock.map(|seconds| Duration::from_secs(seconds.into())),
        state: Mutex::new(state),
        woken: Condvar::new(),
    });
    let own = table.clone();
    let thread = thread::Builder::new()
        .name("table".to_owned())
        .spawn(move || own.run(&setup, &names, &rules, bots, given))
        .map_err(Refusal::internal)?;
    table.lock().thread = Some(thread);
    Ok(table)
}

impl<G: Listed> Match<G> {
    fn lock(&self) -> MutexGuard<'_, State<G>> {
        lock(&self.state)
    }

    fn changed(&self) {
        if let Some(table) = self.ground.table.upgrade() {
            table.tell();
        }
    }

    /// Plays the match, on its own thread.
    fn run(
        self: Arc<Self>,
        setup: &Setup,
        names: &Names,
        rules: &G::Rules,
        bots: Vec<Option<EntrySpec>>,
        given: Given,
    ) {
        let played = catch_unwind(AssertUnwindSafe(|| self.play(setup, names, rules, &bots, given)));
        let closed = self.lock().closed;
        if closed.is_some_and(|closed| closed.keep) {
            return;
        }
        let id = &self.ground.id;
        let end = match played {
            Ok(Ok((outcome, replay))) => match keep::end(&self.ground.db, id, Some((&outcome, replay))) {
                Ok(()) => End::Over(outcome),
                Err(why) => lost(&why),
            },
            Ok(Err(why)) => {
                let kept = keep::end(&self.ground.db, id, None);
                kept.map_or_else(|why| lost(&why), |()| End::Ended(why))
            }
            Err(_) => {
                let kept = keep::end(&self.ground.db, id, None);
                kept.map_or_else(|why| lost(&why), |()| lost(&"a table has panicked"))
            }
        };
        self.lock().end = Some(end);
        self.changed();
    }

    fn play(
        self: &Arc<Self>,
        setup: &Setup,
        names: &Names,
        rules: &G::Rules,
        bots: &[Option<EntrySpec>],
        mut given: Given,
    ) -> Result<(Outcome, Vec<u8>), String> {
        let solution = setup.coach.then(|| necrodome_solve::solve::<G>(rules, names.len()));
        let solution = match solution {
            Some(Err(why)) => {
                self.lock().note = Some(format!("There is no coach: {why}."));
                None
            }
            Some(Ok(solution)) => Some(solution),
            None => None,
        };
        let lineup = Terms {
            launcher: self.ground.launcher.clone().hiding(files_of(bots.iter().flatten())),
            limits: Limits::default(),
            rules: rules.clone(),
            seats: names.len(),
        };
        let mut players: Vec<Box<dyn Player<G>>> = Vec::new();
        for (&seat, bot) in Seat::all(names.len()).iter().zip(bots) {
            let chance = Seeded::new(setup.seed, "bot", u64::from(seat.0));
            let bot = bot.as_ref().map(|entry| lineup::player::<G>(entry, &names[seat], &lineup, chance));
            let bot = bot.transpose().map_err(|why| why.to_string())?;
            let mine: Vec<u32> =
                given.keys().filter(|(of, _)| *of == seat.0).map(|(_, step)| *step).collect();
            let given = mine.into_iter().filter_map(|step| Some((step, given.remove(&(seat.0, step))?)));
            players.push(Box::new(AtTable {
                table: self.clone(),
                seat,
                given: given.collect(),
                bot,
                spare: None,
                solution: solution.clone(),
                seed: setup.seed,
            }));
        }
        let mut meter = solution.clone().map(|solution| solution.meter());
        let finished = run_match(names, rules, setup.dice(), &mut players, |game: &G, log| {
            self.publish(game, log, meter.as_mut());
        });
        for player in &mut players {
            player.close();
        }
        match finished {
            Ok(finished) => {
                let replay = finished.recording.pack().map_err(|why| why.to_string())?;
                Ok((finished.outcome, replay))
            }
            Err(RunError::Quit) => Err("The match was broken off.".to_owned()),
            Err(other) => Err(other.to_string()),
        }
    }

    /// Makes a step visible to everybody.
    fn publish(&self, game: &G, log: &[Logged<G::Event>], meter: Option<&mut LuckMeter<G>>) {
        let mut state = self.lock();
        let step = state.step;
        if let Some(meter) = meter {
            note_luck(&mut state.seats, step, log, meter);
        }
        if state.game.is_some() {
            state.step += 1;
        }
        for &seat in game.to_act() {
            let is_person = state.followers.iter().any(|follower| follower.seat() == Some(seat));
            let place = &mut state.seats[seat.index()];
            place.asked += 1;
            place.answered = false;
            place.deadline = self.clock.filter(|_| is_person && !place.left).map(deadline);
        }
        let from = state.log.len();
        state.followers.iter_mut().for_each(|follower| follower.follow(game, log, from));
        state.log.extend_from_slice(log);
        state.game = Some(game.clone());
        drop(state);
        self.changed();
    }

    /// Writes the answers of bots to the file.
    fn keep_answers(&self) {
        let bots = self.lock().unkept.clone();
        let Some(table) = self.ground.table.upgrade() else { return };
        let kept = table.act(now(), |_| Ok(vec![Input::Answers { bots, person: None }]));
        if let Err(why) = kept
            && self.lock().closed.is_none()
        {
            // The match goes on; they are kept with the person's answer, or that is refused.
            complain!("error: a table cannot be kept: {why}");
        }
    }

    /// Waits a moment before a bot tries again to answer for a person who has left.
    fn pause(&self, seat: Seat) {
        let nothing_new = |state: &mut State<G>| {
            let place = &state.seats[seat.index()];
            state.closed.is_none() && place.left && place.action.is_none()
        };
        let waited = self.woken.wait_timeout_while(self.lock(), Duration::from_secs(1), nothing_new);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits for a person's answer, or until they have left, their time is up or the table is closed.
    fn wait(&self, seat: Seat) -> Waited<G::Action> {
        let mut tried = false;
        let mut state = self.lock();
        loop {
            if state.closed.is_some() {
                return Waited::Closed;
            }
            let place = &mut state.seats[seat.index()];
            if let Some(action) = place.action.take() {
                return Waited::Act(action);
            }
            if place.left {
                return Waited::Left;
            }
            // Before a person is waited for, and thus before their answer can come.
            if !tried && !state.unkept.is_empty() {
                tried = true;
                drop(state);
                self.keep_answers();
                state = self.lock();
                continue;
            }
            let Some((clock, deadline)) = self.clock.zip(state.seats[seat.index()].deadline) else {
                state = self.woken.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = Duration::from_millis(deadline.saturating_sub(now()));
            if left.is_zero() {
                // If nobody can answer for them now, it is tried again.
                state.seats[seat.index()].deadline = Some(self::deadline(clock));
                return Waited::Late;
            }
            state = self.woken.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Returns when the time is up for somebody whose clock starts now.
fn deadline(clock: Duration) -> u64 {
    now() + clock.as_millis() as u64
}

fn lost(why: &dyn std::fmt::Display) -> End {
    complain!("error: {why}");
    End::Ended("The arena has made a mistake.".to_owned())
}

/// An answer in the file: an action with its reason, or none.
type Kept<G> = Option<(<G as Game>::Action, Option<String>)>;

type LuckMeter<G> = Box<dyn Meter<<G as Game>::Event>>;

/// Records the luck of a roll for the coach: the first roll after a decision, if the player who decided made it.
fn note_luck<G: Listed>(
    seats: &mut [Place<G>],
    step: u32,
    log: &[Logged<G::Event>],
    meter: &mut LuckMeter<G>,
) {
    let mut first = true;
    for logged in log {
        meter.record(logged.audience.clone(), logged.event.clone());
        let Some(roll) = meter.take() else { continue };
        let Some(place) = seats.get_mut(roll.seat.index()) else { continue };
        if first
            && place.decided == Some(step)
            && let Some(word) = place.coach.as_mut()
        {
            let luck = roll.after - roll.before;
            word.luck = Some(if roll.seat.0 == 0 { luck } else { -luck });
        }
        first = false;
    }
}

enum Waited<A> {
    Act(A),
    Left,
    /// The time is up.
    Late,
    Closed,
}

/// The player in a seat of a table. It gives the recorded answers first, then those of the bot or the person.
struct AtTable<G: Listed> {
    table: Arc<Match<G>>,
    seat: Seat,
    given: HashMap<u32, String>,
    bot: Option<Box<dyn Player<G>>>,
    /// The bot that plays for a person who has left, or whose time is up.
    spare: Option<Box<dyn Player<G>>>,
    solution: Option<Arc<dyn Solution<G>>>,
    seed: Seed,
}

impl<G: Listed> AtTable<G> {
    /// Returns the recorded answer to this step, if there is one.
    fn again(&mut self, step: u32) -> Option<Answer<G::Action>> {
        let text = self.given.remove(&step)?;
        let kept: Kept<G> = serde_json::from_str(&text).ok()?;
        Some(match kept {
            Some((action, reason)) => Answer::Act(action, reason),
            None => Answer::Fault(Fault::new(FaultKind::Garbage, "no valid answer, before a restart")),
        })
    }

    fn ask_bot(&mut self, step: u32, view: &G::View) -> Answer<G::Action> {
        let Some(bot) = &mut self.bot else { return Answer::Quit };
        let answer = bot.answer(view);
        let kept = match &answer {
            Answer::Act(action, reason) | Answer::Partly { action, reason, .. } => {
                serde_json::to_string(&Some((action, reason)))
            }
            Answer::Fault(_) => Ok("null".to_owned()),
            Answer::Quit | Answer::Arena(_) => return Answer::Quit,
        };
        self.table.lock().unkept.push((step, self.seat, kept.unwrap_or_default()));
        if let Answer::Fault(fault) | Answer::Partly { fault, .. } = &answer {
            self.note(fault.clone());
        }
        answer
    }

    /// What the program of this seat did wrong; the page shows it. A hint stays until there is another one: what follows from the
    /// first mistake has none.
    fn note(&self, fault: Fault) {
        let noted = &mut self.table.lock().seats[self.seat.index()].fault;
        if fault.hint.is_some() || noted.as_ref().is_none_or(|before| before.hint.is_none()) {
            *noted = Some(fault);
        }
    }

    /// Lets the coach price a person's decision. The coach says nothing about a decision that was not their own.
    fn decided(&self, view: &G::View, action: &G::Action, is_own: bool) {
        let question = self.table.lock().seats[self.seat.index()].asked;
        let names = &self.table.names;
        let solution = self.solution.as_ref().filter(|_| is_own);
        let word = solution.map(|solution| coach::price(&**solution, question, view, action, names));
        let mut state = self.table.lock();
        let (step, since) = (state.step, state.log.len());
        let place = &mut state.seats[self.seat.index()];
        (place.coach, place.decided, place.since, place.answered) = (word, Some(step), since, true);
    }

    /// Builds the bot that plays for a person who has left, or whose time is up.
    fn stand_in(&self) -> Option<Box<dyn Player<G>>> {
        let entry = setup::bot::<G>(G::CARD.stand_in, &|_| None).ok().map(|entry| entry.kind);
        let Some(EntryKind::BuiltIn(spec)) = entry else { return None };
        let chance = Seeded::new(self.seed, "stand-in", u64::from(self.seat.0));
        let built = G::built_ins().into_iter().find(|bot| bot.name == spec.name)?;
        let built = built.build(&spec, chance).ok()?;
        Some(Box::new(necrodome_arena::player::BuiltInPlayer(built)))
    }

    /// Lets a bot answer for a person who has left, or whose time is up, as if they had answered themselves. Returns whether the
    /// bot's answer counts: if the person's own answer came first, that one does.
    fn answer_for(&mut self, step: u32, view: &G::View) -> bool {
        if self.spare.is_none() {
            self.spare = self.stand_in();
        }
        let Some(Answer::Act(action, reason)) = self.spare.as_mut().map(|bot| bot.answer(view)) else {
            return false;
        };
        let Ok(kept) = serde_json::to_string(&Some((action, reason))) else { return false };
        let (bots, person) = (self.table.lock().unkept.clone(), Some((step, self.seat, kept)));
        let Some(table) = self.table.ground.table.upgrade() else { return false };
        table.act(now(), |_| Ok(vec![Input::Answers { bots, person }])).is_ok()
    }
}

impl<G: Listed> Player<G> for AtTable<G> {
    fn start(&mut self, start: &MatchStart) {
        if let Some(bot) = &mut self.bot {
            bot.start(start);
        }
    }

    fn hear(&mut self, heard: &[&G::Event]) {
        if let Some(bot) = &mut self.bot {
            bot.hear(heard);
        }
    }

    fn listens(&self) -> bool {
        self.bot.as_ref().is_some_and(|bot| bot.listens())
    }

    fn ask(&mut self, view: &G::View) {
        let step = self.table.lock().step;
        if let Some(bot) = &mut self.bot
            && !self.given.contains_key(&step)
        {
            bot.ask(view);
        }
    }

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        let (step, closed) = {
            let state = self.table.lock();
            (state.step, state.closed)
        };
        if closed.is_some() || step >= MOST_STEPS {
            return Answer::Quit;
        }
        if let Some(answer) = self.again(step) {
            if let (None, Answer::Act(action, _)) = (&self.bot, &answer) {
                self.decided(view, action, true);
            }
            return answer;
        }
        if self.bot.is_some() {
            return self.ask_bot(step, view);
        }
        let mut is_own = true;
        loop {
            match self.table.wait(self.seat) {
                Waited::Act(action) => {
                    self.decided(view, &action, is_own);
                    return Answer::Act(action, None);
                }
                Waited::Late => is_own = !self.answer_for(step, view) && is_own,
                Waited::Left if self.answer_for(step, view) => is_own = false,
                // They have answered before they left, or the file cannot be written now.
                Waited::Left => self.table.pause(self.seat),
                Waited::Closed => return Answer::Quit,
            }
        }
    }

    fn refused(&mut self, why: &str) {
        if let Some(bot) = &mut self.bot {
            bot.refused(why);
            self.note(Fault::new(FaultKind::Illegal, why));
        }
    }

    fn end(&mut self, outcome: &Outcome) -> Vec<Fault> {
        self.bot.as_mut().map(|bot| bot.end(outcome)).unwrap_or_default()
    }

    fn close(&mut self) -> (Vec<Fault>, String) {
        self.bot.as_mut().map(|bot| bot.close()).unwrap_or_default()
    }
}

impl<G: Listed> State<G> {
    /// What programs did wrong last. A hint may quote a legal action: it waits until nothing is secret any more.
    fn faults(&self) -> Vec<(Seat, TableFault)> {
        let is_open = G::CARD.open || self.end.is_some();
        let told = |fault: &Fault| TableFault {
            kind: fault.kind.as_str(),
            hint: fault.hint.clone().filter(|_| is_open),
        };
        let places = Seat::all(self.seats.len()).iter().zip(&self.seats);
        places.filter_map(|(&seat, place)| Some((seat, told(place.fault.as_ref()?)))).collect()
    }

    /// Returns the number of the question that a seat has to answer, or `None` if it has none.
    fn question(&self, seat: Seat) -> Option<u32> {
        let asked = self.game.as_ref()?.to_act().contains(&seat) && self.end.is_none();
        let place = self.seats.get(seat.index())?;
        (asked && !place.answered && !place.left).then_some(place.asked)
    }

    fn scene(&self, seat: Option<Seat>, names: &Names) -> Option<Scene> {
        let game = self.game.as_ref()?;
        let hears = |logged: &&Logged<G::Event>| Follower::<G>::hears(seat, logged);
        let tell = |logged: &Logged<G::Event>| G::tell(&logged.event, names);
        let place = seat.and_then(|seat| self.seats.get(seat.index()));
        let since = place.map_or(0, |place| place.since).min(self.log.len());
        let fresh = self.log[since..].iter().filter(hears).flat_map(tell).count();
        let mut told: Vec<Told> = self
            .log
            .iter()
            .rev()
            .filter(hears)
            .flat_map(|logged| tell(logged).into_iter().rev())
            .take(TOLD)
            .collect();
        told.reverse();
        let follower = self.followers.iter().find(|follower| follower.seat() == seat);
        let lines = |event: &G::Event| G::tell(event, names).len();
        let (heard, beats) = follower.map_or_else(Default::default, |one| one.since(since, lines));
        let through = seat.unwrap_or_default();
        let view = (seat.is_some() || G::CARD.open).then(|| game.view(through));
        let asked = seat.and_then(|seat| self.question(seat));
        let asked = view.as_ref().filter(|_| asked.is_some());
        let offer = |view: &G::View, action: G::Action| Offer {
            label: G::label(view, &action, names),
            key: G::key(view, &action),
            action: serde_json::to_value(action).unwrap_or_default(),
        };
        let legal = asked.and_then(|view| {
            let actions = G::few_legal_actions(view, LISTED)?;
            Some(actions.into_iter().map(|action| offer(view, action)).collect())
        });
        Some(Scene {
            seat: through.0,
            fresh: fresh.min(told.len()),
            told,
            heard,
            beats,
            legal,
            coach: place.and_then(|place| place.coach.clone()),
            situation: view.as_ref().map(|view| G::situation(view, names)),
            view: view.and_then(|view| serde_json::to_value(view).ok()),
        })
    }

    /// Checks that the referee would accept this action from a seat. The other seats and the dice do not matter for that.
    fn try_out(&self, seat: Seat, action: &G::Action) -> Result<(), Refusal> {
        let Some(game) = &self.game else { return Err(not_asked()) };
        let choose = |&other: &Seat| {
            if other == seat { Move::Act(action.clone()) } else { Move::Forfeit }
        };
        let moves: Vec<Move<G::Action>> = game.to_act().iter().map(choose).collect();
        match game.clone().apply(&moves, &mut Seeded::new(0, "trial", 0), &mut Silent) {
            Ok(()) => Ok(()),
            Err(Rejected::Illegal { why, .. }) => {
                Err(Refusal::bad(format!("the rules do not allow that: {why}")))
            }
            Err(other) => Err(Refusal::bad(other)),
        }
    }
}

fn not_asked() -> Refusal {
    Refusal::conflict("it is not your turn to decide")
}

impl<G: Listed> Running for Match<G> {
    fn look(&self, seat: Option<Seat>) -> MatchView {
        let state = self.lock();
        let asked = state.game.as_ref().map(|game| game.to_act().to_vec()).unwrap_or_default();
        let is_shown = |&other: &Seat| {
            let open = state.seats.get(other.index()).is_some_and(|place| !place.answered);
            open && (G::CARD.open || Some(other) == seat)
        };
        let to_act: Vec<Seat> = asked.into_iter().filter(is_shown).collect();
        let deadline = |&seat: &Seat| Some((seat, state.seats[seat.index()].deadline?));
        MatchView {
            scene: state.scene(seat, &self.names),
            question: seat.and_then(|seat| state.question(seat)),
            deadlines: to_act.iter().filter_map(deadline).collect(),
            to_act,
            faults: state.faults(),
            end: state.end.clone(),
            note: state.note.clone(),
        }
    }

    fn check(&self, seat: Seat, question: u32, action: Value) -> Result<Input, Refusal> {
        let state = self.lock();
        if state.end.is_some() || state.closed.is_some() {
            return Err(Refusal::conflict("the match is over"));
        }
        match state.question(seat) {
            None => return Err(not_asked()),
            Some(asked) if asked != question => {
                return Err(Refusal::conflict(format!(
                    "expected an answer to question {asked}, got one to question {question}"
                )));
            }
            Some(_) => {}
        }
        let action: G::Action = serde_json::from_value(action)
            .map_err(|why| Refusal::bad(format!("this is no action of {}: {}", G::TITLE, in_json(&why))))?;
        state.try_out(seat, &action)?;
        let kept = serde_json::to_string(&Some((&action, None::<String>))).map_err(Refusal::internal)?;
        Ok(Input::Answers { bots: state.unkept.clone(), person: Some((state.step, seat, kept)) })
    }

    fn take(&self, bots: &[keep::Answer], person: Option<&keep::Answer>) -> Result<(), Refusal> {
        let mut state = self.lock();
        // They stand in the order in which they came; bots may have answered meanwhile, and two people may have brought the same.
        let last = bots.last().and_then(|last| state.unkept.iter().position(|unkept| unkept == last));
        if let Some(last) = last {
            state.unkept.drain(..=last);
        }
        let Some((_, seat, text)) = person else { return Ok(()) };
        let kept: Kept<G> = serde_json::from_str(text).map_err(Refusal::internal)?;
        // Without this answer the match has not gone on.
        let place = &mut state.seats[seat.index()];
        place.answered = true;
        place.action = kept.map(|(action, _)| action);
        drop(state);
        self.woken.notify_all();
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.lock().end.is_some()
    }

    fn leave(&self, seat: Seat) {
        if let Some(place) = self.lock().seats.get_mut(seat.index()) {
            place.left = true;
        }
        self.woken.notify_all();
    }

    fn come_back(&self, seat: Seat) {
        if let Some(place) = self.lock().seats.get_mut(seat.index()) {
            place.left = false;
            place.deadline = self.clock.map(deadline);
        }
        self.woken.notify_all();
    }

    fn take_thread(&self) -> Option<JoinHandle<()>> {
        self.lock().thread.take()
    }

    fn close(&self, keep: bool) {
        let mut state = self.lock();
        state.closed = Some(Closed { keep: keep && state.closed.is_none_or(|closed| closed.keep) });
        drop(state);
        self.woken.notify_all();
    }
}
