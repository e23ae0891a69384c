//! Tournaments on the page: started by the host, played in the background, watched by everybody. They are kept in the file with
//! every result, so that they go on after a restart.

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
    EntryLog, FaultLine, HistoryPoint, HostOnly, Interval, Meeting, Standing, TournamentLine,
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

/// Replays that are made at the same time.
const REPLAYS: usize = 4;
/// Searches at the same time: each reads all matches.
const SEARCHES: usize = 2;
/// Whoever waits longer for their search is told to come back.
const PATIENCE: Duration = Duration::from_secs(15);

/// All tournaments of the file.
pub(crate) struct Tournaments {
    equipment: Arc<Equipment>,
    /// How many may run at the same time.
    limit: usize,
    /// Those that somebody has looked at, or that run. Whoever is alone with it decides who runs.
    open: Open<i64, Tournament>,
    /// Held while a tournament is read from the file: its report may take long, and one at a time is enough.
    reading: Arc<tokio::sync::Mutex<()>>,
    replays: Arc<Semaphore>,
    searches: Arc<Semaphore>,
}

/// Why tournaments cannot be offered.
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
    /// Takes up what was running when the server ended.
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

    /// Begins what a new arena has to show. It is no loss if one cannot be played.
    fn begin_samples(&self) {
        for sample in samples::all() {
            let plan = sample.plan(self.allowed(), &self.equipment.launcher);
            if let Err(why) = plan.and_then(|plan| self.begin(&plan)) {
                complain!("warning: a sample of {} cannot be played: {why}", sample.game);
            }
        }
    }

    /// The programs that the host lets in.
    pub fn allowed(&self) -> &Arc<Allowed> {
        &self.equipment.allowed
    }

    /// The tournament with this number, if it was read already.
    fn get(&self, id: i64) -> Option<Arc<Tournament>> {
        self.open.find(&id)
    }

    /// The tournament with this number. Whoever calls this while others could holds `reading`.
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

    /// A place among those who search.
    async fn search(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        let full = || Refusal::full("too many are searching for matches").hint("try again in a moment");
        match timeout(PATIENCE, self.searches.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(full()),
        }
    }

    /// Refuses if as many run as may.
    fn check_room(&self) -> Result<(), Refusal> {
        let is_running = |one: &&Arc<Tournament>| one.state() == TournamentState::Running;
        let running = self.open.all().iter().filter(is_running).count();
        if running < self.limit {
            return Ok(());
        }
        Err(Refusal::full(format!("{running} tournaments are running, and no more can"))
            .hint("pause or cancel one, or wait until one has finished"))
    }

    /// Begins a tournament.
    fn begin(&self, plan: &Plan) -> Result<i64, Refusal> {
        let _alone = self.open.alone();
        self.check_room()?;
        let Opened { store, plan, .. } = self.equipment.db.archive().begun(plan, None)?;
        let id = store.id();
        keep::add(&self.equipment.db, id, TournamentState::Paused, now())?;
        let tournament = Tournament::open(store, plan, self.equipment.clone())?;
        self.open.add(id, tournament).start()?;
        Ok(id)
    }

    /// Goes on with one that waits.
    fn resume(&self, tournament: &Arc<Tournament>) -> Result<(), Refusal> {
        tournament.state().then(TournamentState::Running)?;
        // Its last matches may still be played.
        tournament.join();
        let _alone = self.open.alone();
        self.check_room()?;
        tournament.start()
    }

    /// Makes it wait, or ends it.
    fn stop(&self, tournament: &Tournament, state: TournamentState) -> Result<(), Refusal> {
        let _alone = self.open.alone();
        tournament.set_state(state)?;
        tournament.interrupt();
        Ok(())
    }

    /// The latest tournaments, newest first, and the first of those without a report. Makes none: the list must not wait for it.
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

    /// Stops the play; what was running goes on with the next server.
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

/// Seconds since 1970.
fn now() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}
