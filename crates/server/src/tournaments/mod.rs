//! Tournaments on the pages: started by the host, played in the background, watched by everybody. The file keeps them with every
//! result, so they go on after a restart.

mod allowed;
mod entered;
mod found;
mod keep;
mod played;
mod requests;
mod samples;
mod shown;

pub(crate) use allowed::Allowed;
pub use allowed::BotsError;
pub use entered::{NewEntry, NewTournament};
pub use found::{MatchFault, MatchLogs, MomentLine, MomentList, MomentName};
pub use requests::{MatchLine, MatchPage, TournamentList, TournamentStarted};
pub(crate) use requests::{latest, routes};
pub use shown::{
    EntryLog, FaultLine, HistoryPoint, HostOnly, Interval, Meeting, Standing, TournamentLine, TournamentPace,
    TournamentState, TournamentView,
};

use crate::{Config, Db, Refusal, live::Open};
use necrodome_arena::tournament::{Opened, Plan, Schedule, StoreError};
use played::{Equipment, Tournament};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// The most replays that are made at the same time.
const REPLAYS: usize = 4;
/// The most searches at the same time: each reads all matches.
const SEARCHES: usize = 2;
/// The longest wait for a search to start; after that the visitor is asked to come back later.
const PATIENCE: Duration = Duration::from_secs(15);

/// All tournaments in the file.
pub(crate) struct Tournaments {
    equipment: Arc<Equipment>,
    /// The most tournaments that may run at the same time.
    limit: usize,
    /// The tournaments that are running, or that somebody has looked at. The thread that holds `alone` decides which ones run.
    open: Open<i64, Tournament>,
    /// Held while a tournament is read from the file: making its report may take long, so only one is read at a time.
    reading: Arc<tokio::sync::Mutex<()>>,
    replays: Arc<Semaphore>,
    searches: Arc<Semaphore>,
}

/// Why the tournaments cannot be opened.
pub(crate) enum OpenError {
    Store(StoreError),
    Bots(BotsError),
}

impl<E: Into<StoreError>> From<E> for OpenError {
    fn from(error: E) -> Self {
        OpenError::Store(error.into())
    }
}

impl Tournaments {
    /// Opens all tournaments, and resumes those that were running when the server ended.
    pub fn open(config: &Config, db: &Db) -> Result<Self, OpenError> {
        let allowed = config.bots.as_deref().map(Allowed::read).transpose().map_err(OpenError::Bots)?;
        keep::prepare(db)?;
        for (store, plan) in db.archive().stores()? {
            // Tournaments of the command line are in the same file.
            // What has no schedule is refused when somebody looks at it.
            let done = store.blocks()? >= Schedule::of(&plan).map_or(plan.blocks, |schedule| schedule.end());
            let state = if done { TournamentState::Finished } else { TournamentState::Paused };
            keep::add(db, store.id(), state, now())?;
        }
        let running = keep::in_state(db, TournamentState::Running)?;
        let equipment = Equipment {
            launcher: config.launcher.clone(),
            threads: config.threads.max(1),
            allowed: Arc::new(allowed.unwrap_or_default()),
            db: db.clone(),
        };
        let tournaments = Tournaments {
            equipment: Arc::new(equipment),
            limit: config.limits.tournaments,
            open: Open::default(),
            reading: Arc::default(),
            replays: Arc::new(Semaphore::new(REPLAYS)),
            searches: Arc::new(Semaphore::new(SEARCHES)),
        };
        for id in running {
            match tournaments.read(id) {
                Ok(tournament) => tournament.start().unwrap_or_else(|why| tournament.fail(why.to_string())),
                Err(why) => complain!("error: tournament {id} cannot be taken up: {why}"),
            }
        }
        if config.samples && keep::is_empty(db)? {
            tournaments.begin_samples();
        }
        Ok(tournaments)
    }

    /// Starts the sample tournaments of a new arena, all at once. If one cannot be played, the arena does without it.
    fn begin_samples(&self) {
        for sample in samples::all() {
            let plan = sample.plan(self.allowed(), &self.equipment.launcher);
            if let Err(why) = plan.and_then(|plan| self.add(&plan, sample.pace)) {
                complain!("warning: a sample of {} cannot be played: {why}", sample.game);
            }
        }
    }

    /// Returns the programs that the host allows.
    pub fn allowed(&self) -> &Arc<Allowed> {
        &self.equipment.allowed
    }

    /// Returns the tournament with this number, or `None` if it has not been read yet.
    fn get(&self, id: i64) -> Option<Arc<Tournament>> {
        self.open.find(&id)
    }

    /// Returns the tournament with this number, and reads it if necessary. The caller must hold `reading`, unless nobody else can
    /// call this.
    fn read(&self, id: i64) -> Result<Arc<Tournament>, Refusal> {
        if let Some(tournament) = self.get(id) {
            return Ok(tournament);
        }
        let missing = || Refusal::missing(format!("there is no tournament {id}"));
        let (store, plan) = self.equipment.db.archive().store(id)?.ok_or_else(missing)?;
        let tournament = Tournament::open(store, plan, self.equipment.clone())?;
        // One that has just begun is there already, and is being played.
        Ok(self.open.add(id, tournament))
    }

    /// Waits for a place among the searches.
    async fn search(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        let full = || Refusal::full("too many are searching for matches").hint("try again in a moment");
        match timeout(PATIENCE, self.searches.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(full()),
        }
    }

    /// Refuses if no more tournaments may run.
    fn check_room(&self) -> Result<(), Refusal> {
        let is_running = |one: &&Arc<Tournament>| one.state() == TournamentState::Running;
        let running = self.open.all().iter().filter(is_running).count();
        if running < self.limit {
            return Ok(());
        }
        Err(Refusal::full(format!("{running} tournaments are running, and no more can"))
            .hint("pause or cancel one, or wait until one has finished"))
    }

    /// Begins a tournament, if one more may run.
    fn begin(&self, plan: &Plan, pace: TournamentPace) -> Result<i64, Refusal> {
        let _alone = self.open.alone();
        self.check_room()?;
        self.add(plan, pace)
    }

    /// Adds a tournament and starts it. Call it only while no other is begun.
    fn add(&self, plan: &Plan, pace: TournamentPace) -> Result<i64, Refusal> {
        let Opened { store, plan, .. } = self.equipment.db.archive().begun(plan, None)?;
        let id = store.id();
        keep::add(&self.equipment.db, id, TournamentState::Paused, now())?;
        let tournament = Tournament::open(store, plan, self.equipment.clone())?;
        let tournament = self.open.add(id, tournament);
        tournament.set_pace(pace);
        tournament.start()?;
        Ok(id)
    }

    /// Resumes a tournament that is paused or has failed.
    fn resume(&self, tournament: &Arc<Tournament>) -> Result<(), Refusal> {
        tournament.state().then(TournamentState::Running)?;
        // Its last matches may still be played.
        tournament.join();
        let _alone = self.open.alone();
        self.check_room()?;
        tournament.start()
    }

    /// Plays the rest of a show as fast as possible.
    fn hurry(&self, tournament: &Arc<Tournament>) -> Result<(), Refusal> {
        // Held until it plays again: whoever pauses it meanwhile waits.
        let _alone = self.open.alone();
        let runs = match tournament.state() {
            TournamentState::Running => true,
            TournamentState::Paused => false,
            over => return Err(Refusal::conflict(format!("it is {} already", over.as_str()))),
        };
        if tournament.pace() == TournamentPace::Fast {
            return Err(Refusal::conflict("it is played as fast as possible already"));
        }
        if runs {
            tournament.interrupt();
            tournament.join();
        }
        tournament.set_pace(TournamentPace::Fast);
        // Its last matches may have ended it.
        if tournament.state() == TournamentState::Running { tournament.start() } else { Ok(()) }
    }

    /// Pauses or cancels a tournament.
    fn stop(&self, tournament: &Tournament, state: TournamentState) -> Result<(), Refusal> {
        let _alone = self.open.alone();
        tournament.set_state(state)?;
        tournament.interrupt();
        Ok(())
    }

    /// Returns the lines of the latest tournaments, newest first, and the first tournament without a report. Makes no reports,
    /// since the list must not wait for them.
    fn lines(&self, count: usize) -> Result<(Vec<TournamentLine>, Option<i64>), Refusal> {
        let (mut lines, mut unseen) = (Vec::new(), None);
        for (id, kept) in keep::lines(&self.equipment.db, count)? {
            if let Some(line) = self.get(id).map(|tournament| tournament.line()).or(kept) {
                lines.push(line);
                continue;
            }
            match self.line_without_report(id) {
                Ok(line) => {
                    lines.push(line);
                    unseen = unseen.or(Some(id));
                }
                // One that cannot be shown must not hide the others.
                Err(why) => complain!("error: tournament {id}: {why}"),
            }
        }
        Ok((lines, unseen))
    }

    fn line_without_report(&self, id: i64) -> Result<TournamentLine, Refusal> {
        let missing = || Refusal::missing(format!("there is no tournament {id}"));
        let (store, plan) = self.equipment.db.archive().store(id)?.ok_or_else(missing)?;
        Ok(Tournament::unseen(store, plan, self.equipment.clone())?.0.line())
    }

    /// Stops all play. The next server resumes the tournaments that were running.
    pub fn close(&self) {
        self.open.all().iter().for_each(|tournament| tournament.interrupt());
    }
}

impl Drop for Tournaments {
    fn drop(&mut self) {
        self.close();
        self.open.all().iter().for_each(|tournament| tournament.join());
    }
}

/// Returns seconds since 1970.
fn now() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}
