//! One tournament. Several threads play it; another watches it and makes reports, as often as they take little of the time.

use super::{
    allowed::Allowed,
    entered::resolve,
    keep,
    shown::{HistoryPoint, TournamentLine, TournamentPace, TournamentState, TournamentView},
};
use crate::{
    Db, Refusal,
    film::{Peak, PeakName, peaks_of},
    live::{Live, Thing, lock, now},
    stream::to_json,
};
use necrodome_arena::{
    entry::EntrySpec,
    process::Launcher,
    tournament::{
        self, Highlight, MomentKind, Moments, Plan, PlayedMatch, Schedule, Speed, Stop, Store, Sums,
        TournamentError, hash_of, packed_replay, report_of,
    },
};
use necrodome_rules::catalog::GameId;
use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How often viewers of a running tournament get news; the next constant is the wait for the first news.
const TICK: Duration = Duration::from_secs(1);
const FIRST_TICK: Duration = Duration::from_millis(150);
/// Reports may take one part in this many of the time.
const SHARE: u32 = 20;
/// How often the shown view is written to the file.
const KEEP_EVERY: Duration = Duration::from_secs(5);

/// How many points the curve of a finished tournament has; the next constant is how long drawing it may take.
const CURVE: usize = 40;
const MOST_DRAWING: Duration = Duration::from_secs(2);

/// What all tournaments share.
#[derive(Debug)]
pub(super) struct Equipment {
    pub launcher: Launcher,
    pub threads: usize,
    pub allowed: Arc<Allowed>,
    pub db: Db,
}

/// The state of a tournament, and what everybody is told about it. The results are in the arena's store, which makes the reports;
/// the only inputs here are changes of the state.
pub(super) struct Progress {
    view: TournamentView,
    /// The current messages, made once for all viewers.
    pub for_guests: Arc<str>,
    pub for_host: Arc<str>,
}

impl Progress {
    fn new(view: TournamentView) -> Self {
        let mut progress = Progress { view, for_guests: "".into(), for_host: "".into() };
        progress.taken(0);
        progress
    }
}

impl Thing for Progress {
    type Id = i64;
    type State = TournamentState;
    type Input = TournamentState;

    fn state(&self) -> &TournamentState {
        &self.view.line.state
    }

    fn apply(state: &mut TournamentState, next: &TournamentState) -> Result<(), Refusal> {
        *state = state.then(*next)?;
        Ok(())
    }

    fn write(db: &Db, id: &i64, _: &[TournamentState], state: &TournamentState) -> Result<(), Refusal> {
        Ok(keep::set_state(db, *id, *state)?)
    }

    fn take(&mut self, next: TournamentState) -> Result<(), Refusal> {
        self.view.line.state = next;
        Ok(())
    }

    fn taken(&mut self, _now: u64) {
        (self.for_guests, self.for_host) = (to_json(&self.view.for_guests()), to_json(&self.view));
    }
}

/// A tournament in the file.
pub(super) struct Tournament {
    pub plan: Plan,
    pub store: Store,
    pub schedule: Schedule,
    pub live: Arc<Live<Progress>>,
    /// The sums from which the standings are made.
    sums: Mutex<Sums>,
    /// The matches that are worth watching.
    moments: Mutex<Moments>,
    game: GameId,
    equipment: Arc<Equipment>,
    /// Whether to stop after the matches that are being played.
    interrupt: AtomicBool,
    playing: Mutex<Option<JoinHandle<()>>>,
}

impl Tournament {
    /// Reads a tournament from the file. If what was last shown of it is out of date, this makes a new report, which may take long.
    pub fn open(store: Store, plan: Plan, equipment: Arc<Equipment>) -> Result<Arc<Self>, Refusal> {
        let (tournament, is_kept) = Self::unseen(store, plan, equipment)?;
        if !is_kept {
            tournament.look_at_all().map_err(Refusal::internal)?;
            tournament.keep();
            tournament.show();
        }
        Ok(Arc::new(tournament))
    }

    /// Reads a tournament from the file, and returns whether what was last shown of it is still up to date.
    pub fn unseen(store: Store, plan: Plan, equipment: Arc<Equipment>) -> Result<(Self, bool), Refusal> {
        let id = store.id();
        let game = plan.game.parse()?;
        let schedule = Schedule::of(&plan).map_err(Refusal::internal)?;
        let page = keep::page(&equipment.db, id)?
            .ok_or_else(|| Refusal::missing(format!("there is no tournament {id}")))?;
        let blocks = store.blocks()?;
        let pace = page.view.as_ref().map(|view| view.pace).unwrap_or_default();
        let kept = page.view.filter(|view| view.line.blocks == blocks && view.line.wanted == schedule.end());
        let is_kept = kept.is_some();
        let mut view =
            kept.unwrap_or_else(|| TournamentView::new(id, &plan, &schedule, page.state, page.began));
        view.line.state = page.state;
        view.pace = pace;
        view.played(blocks, &schedule);
        let live = Arc::new(Live::new(id, &equipment.db, Progress::new(view)));
        let (interrupt, playing) = (AtomicBool::new(false), Mutex::new(None));
        let sums = Mutex::new(Sums::new(&plan, &schedule));
        let tournament = Tournament {
            plan,
            store,
            schedule,
            live,
            sums,
            moments: Mutex::default(),
            game,
            equipment,
            interrupt,
            playing,
        };
        Ok((tournament, is_kept))
    }

    pub fn state(&self) -> TournamentState {
        *self.live.lock().state()
    }

    pub fn pace(&self) -> TournamentPace {
        self.live.lock().view.pace
    }

    /// Sets the pace at which it is played when it starts the next time.
    pub fn set_pace(&self, pace: TournamentPace) {
        self.live.lock().view.pace = pace;
        self.keep();
        self.show();
    }

    pub fn line(&self) -> TournamentLine {
        self.live.lock().view.line.clone()
    }

    /// Passes the matches worth watching to `look`, after adding those from matches played since the last time.
    pub fn with_moments<T>(&self, look: impl FnOnce(&Moments) -> T) -> Result<T, Refusal> {
        let mut moments = lock(&self.moments);
        moments.catch_up(&self.schedule, &self.store, |played| self.replay(played))?;
        Ok(look(&moments))
    }

    /// Plays a match again for its best rolls and decisions, as its film shows them. There may be no replay of it, and whoever
    /// opens the match is told why.
    fn replay(&self, played: &PlayedMatch) -> Option<Vec<Highlight>> {
        let packed = packed_replay(&self.plan, &self.store, played.block, played.number).ok()?;
        let highlight = |peak: Peak| {
            let kind = match peak.name {
                PeakName::Luck => MomentKind::Luck,
                PeakName::Mistakes => MomentKind::Mistakes,
                PeakName::Comeback => MomentKind::Comeback,
                PeakName::Turn => return None,
            };
            Some(Highlight { kind, seat: peak.seat.index(), amount: peak.amount, step: Some(peak.step) })
        };
        Some(peaks_of(packed).ok()?.into_iter().filter_map(highlight).collect())
    }

    /// Sends the current view to the viewers.
    fn show(&self) {
        self.live.update(|progress| progress.taken(now()));
    }

    fn keep(&self) {
        let view = self.live.lock().view.clone();
        if let Err(error) = keep::view(&self.equipment.db, &view) {
            complain!("error: {error}");
        }
    }

    /// Sets the state, first in the file.
    pub fn set_state(&self, state: TournamentState) -> Result<(), Refusal> {
        self.live.act(now(), move |_| Ok(vec![state]))
    }

    /// Makes a report of all blocks, and updates the view.
    fn look(&self) -> Result<(), TournamentError> {
        let report = {
            let mut sums = lock(&self.sums);
            sums.catch_up(&self.schedule, &self.store)?;
            report_of(&self.plan, &self.schedule, &self.store, &sums)?
        };
        self.live.lock().view.take(&report);
        Ok(())
    }

    /// Makes the final report, with the hash of the results and a curve of the ratings.
    fn look_at_all(&self) -> Result<(), TournamentError> {
        self.look()?;
        self.draw_curve()?;
        let hash = hash_of(&self.plan, &self.store)?;
        self.live.lock().view.hash = Some(hash);
        Ok(())
    }

    /// Computes the ratings or scores at several moments, unless enough points were recorded during play.
    fn draw_curve(&self) -> Result<(), TournamentError> {
        let blocks = self.store.blocks()?;
        if self.live.lock().view.history.len() >= CURVE.min(blocks as usize) {
            return Ok(());
        }
        let begun = Instant::now();
        let mut sums = Sums::new(&self.plan, &self.schedule);
        for point in 1..CURVE as u64 {
            let end = (u64::from(blocks) * point / CURVE as u64) as u32;
            // It is only a picture.
            if end <= sums.blocks() || begun.elapsed() > MOST_DRAWING {
                continue;
            }
            sums.catch_up_to(&self.schedule, &self.store, end)?;
            let report = report_of(&self.plan, &self.schedule, &self.store, &sums)?;
            self.live.lock().view.remember(HistoryPoint::of(&report));
        }
        Ok(())
    }

    /// Stops after the matches that are being played. If its state is still running, the next server resumes it.
    pub fn interrupt(&self) {
        self.interrupt.store(true, Ordering::Relaxed);
    }

    /// Waits until no thread plays any more.
    pub fn join(&self) {
        let playing = lock(&self.playing).take();
        if let Some(playing) = playing {
            // A panic was told already.
            let _ = playing.join();
        }
    }

    /// Plays the missing blocks, on separate threads. Call it only while nobody plays this tournament.
    pub fn start(self: &Arc<Self>) -> Result<(), Refusal> {
        let members = || self.plan.members().map(|member| &self.plan.entries[member]);
        let entries = members().map(|entry| resolve(self.game, &entry.bot, &self.equipment.allowed));
        let entries = entries.collect::<Result<Vec<EntrySpec>, Refusal>>()?;
        let both = members().zip(&entries);
        let mut changed = both.filter(|(planned, entry)| planned.is_other(entry.fingerprint().as_deref()));
        if let Some((planned, _)) = changed.next() {
            let why = format!("the program of {} has changed since this tournament began", planned.name);
            return Err(Refusal::conflict(why).hint("start a new tournament, or put the old program back"));
        }
        // One that ran when the server ended still does.
        if self.state() != TournamentState::Running {
            self.set_state(TournamentState::Running)?;
        }
        self.interrupt.store(false, Ordering::Relaxed);
        let tournament = self.clone();
        let playing = thread::Builder::new().name(format!("tournament {}", self.store.id()));
        let playing =
            playing.spawn(move || tournament.play_to_the_end(&entries)).map_err(Refusal::internal)?;
        *lock(&self.playing) = Some(playing);
        Ok(())
    }

    /// Marks the tournament as failed, and tells the host why.
    pub fn fail(&self, why: String) {
        complain!("error: tournament {}: {why}", self.store.id());
        self.live.lock().view.host.get_or_insert_default().error = Some(why);
        if let Err(error) = self.set_state(TournamentState::Failed) {
            complain!("error: {error}");
        }
        self.keep();
    }

    fn play_to_the_end(&self, entries: &[EntrySpec]) {
        self.live.lock().view.host.get_or_insert_default().error = None;
        let ended = catch_unwind(AssertUnwindSafe(|| self.play(entries)));
        if let Err(why) = ended
            .unwrap_or_else(|_| Err("the arena has made a mistake: the terminal says more".into()))
            .and_then(|stop| self.conclude(stop).map_err(|error| error.to_string()))
        {
            self.fail(why);
        }
    }

    fn play(&self, entries: &[EntrySpec]) -> Result<Stop, String> {
        let Equipment { launcher, threads, .. } = &*self.equipment;
        let mut store = self.store.clone();
        let played = AtomicU32::new(self.line().blocks);
        thread::scope(|scope| {
            let (ends, ended) = mpsc::channel();
            scope.spawn(|| self.watch(&played, ended));
            let mut note = |update: tournament::Update| played.store(update.blocks, Ordering::Relaxed);
            let (plan, stop) = (&self.plan, &self.interrupt);
            let speed = Speed { threads: *threads, lasts: self.pace().lasts() };
            let result = tournament::run_at(plan, entries, launcher, &mut store, speed, stop, &mut note);
            drop::<mpsc::Sender<()>>(ends);
            result.map_err(|error| error.to_string())
        })
    }

    /// Updates the view until the play has ended.
    fn watch(&self, played: &AtomicU32, ended: Receiver<()>) {
        let mut pace = Pace::new(played.load(Ordering::Relaxed));
        let (mut next_look, mut kept) = (Instant::now(), Instant::now());
        let mut wait = FIRST_TICK;
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(wait) {
            wait = TICK;
            let blocks = played.load(Ordering::Relaxed);
            let is_new = blocks > self.live.lock().view.seen;
            if is_new && Instant::now() >= next_look {
                let begun = Instant::now();
                if let Err(error) = self.look() {
                    // The play itself will find out whether it can go on.
                    complain!("error: {error}");
                }
                next_look = Instant::now() + begun.elapsed() * SHARE;
            }
            pace.note(&mut self.live.lock().view, blocks, &self.schedule);
            self.show();
            if kept.elapsed() >= KEEP_EVERY {
                self.keep();
                kept = Instant::now();
            }
        }
        pace.note(&mut self.live.lock().view, played.load(Ordering::Relaxed), &self.schedule);
    }

    /// Makes the final report, and sets the final state.
    fn conclude(&self, stop: Stop) -> Result<(), Refusal> {
        let blocks = self.store.blocks()?;
        self.look_at_all().map_err(Refusal::internal)?;
        let mut progress = self.live.lock();
        let view = &mut progress.view;
        view.played(blocks, &self.schedule);
        view.eta = None;
        if view.seconds > 0.0 {
            view.rate = view.line.matches as f64 / view.seconds;
        }
        drop(progress);
        match stop {
            Stop::Done => self.set_state(TournamentState::Finished)?,
            Stop::Decided | Stop::Close => self.set_state(TournamentState::Decided)?,
            // Whoever interrupted it has set the state; if nobody has, the next server goes on.
            Stop::Interrupted => {}
        }
        self.keep();
        self.show();
        Ok(())
    }
}

/// The speed of play over the last seconds, since machines and matches vary.
struct Pace {
    lately: VecDeque<(Instant, u32)>,
    noted: Instant,
}

impl Pace {
    const LATELY: usize = 10;

    fn new(blocks: u32) -> Self {
        let now = Instant::now();
        Pace { lately: VecDeque::from([(now, blocks)]), noted: now }
    }

    fn note(&mut self, view: &mut TournamentView, blocks: u32, schedule: &Schedule) {
        let now = Instant::now();
        view.seconds += now.duration_since(self.noted).as_secs_f64();
        self.noted = now;
        view.played(blocks, schedule);
        if let Some(&(then, before)) = self.lately.front() {
            let seconds = now.duration_since(then).as_secs_f64().max(1e-3);
            let pace = f64::from(blocks.saturating_sub(before)) / seconds;
            view.rate = pace * view.matches_of_block as f64;
            view.eta = (pace > 0.0).then(|| f64::from(schedule.end().saturating_sub(blocks)) / pace);
        }
        self.lately.push_back((now, blocks));
        if self.lately.len() > Self::LATELY {
            self.lately.pop_front();
        }
    }
}
