//! Tournaments on the page: started by the host, played in the background, watched by everybody. They are kept in the file with
//! every result, so that they go on after a restart.

mod allowed;
mod entered;
mod kept;
mod played;
mod requests;
mod shown;

pub use allowed::BotsError;
pub use entered::{NewEntry, NewTournament};
pub use requests::{MatchLine, MatchPage, TournamentList, TournamentStarted};
pub(crate) use requests::{latest, routes};
pub use shown::{
    EntryLog, FaultLine, HistoryPoint, HostOnly, Interval, Meeting, Standing, TournamentLine,
    TournamentState, TournamentView,
};

use crate::{Config, Refusal};
use allowed::Allowed;
use kept::Kept;
use necrodome_arena::{
    entry::{EntryKind, EntrySpec},
    tournament::{Archive, Plan, StoreError},
};
use necrodome_rules::catalog::GameId;
use played::{Equipment, Tournament};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};
use tokio::sync::Semaphore;

/// Replays that are made at the same time.
const REPLAYS: usize = 4;

/// All tournaments of the file.
pub(crate) struct Tournaments {
    archive: Archive,
    equipment: Arc<Equipment>,
    /// How many may run at the same time.
    limit: usize,
    /// Those that somebody has looked at, or that run. Whoever holds it decides alone who runs. Not held while a report is made:
    /// the list looks into it.
    open: Mutex<BTreeMap<i64, Arc<Tournament>>>,
    /// Held while a tournament is read from the file: its report may take long, and one at a time is enough.
    reading: Arc<tokio::sync::Mutex<()>>,
    replays: Arc<Semaphore>,
}

/// Why tournaments cannot be offered.
pub(crate) enum OpenError {
    Store(StoreError),
    Bots(BotsError),
}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> Self {
        OpenError::Store(error)
    }
}

impl Tournaments {
    /// Takes up what was running when the server ended.
    pub fn open(config: &Config, archive: &Archive) -> Result<Self, OpenError> {
        let allowed = config.bots.as_deref().map(Allowed::read).transpose().map_err(OpenError::Bots)?;
        let kept = Kept::open(archive)?;
        for (store, plan) in archive.stores()? {
            // Tournaments of the command line are in the same file.
            let done = store.blocks()? >= plan.blocks;
            let state = if done { TournamentState::Finished } else { TournamentState::Paused };
            kept.add(store.id(), state, now())?;
        }
        let running = kept.in_state(TournamentState::Running)?;
        let equipment = Equipment {
            launcher: config.launcher.clone(),
            threads: config.threads.max(1),
            allowed: allowed.unwrap_or_default(),
            kept,
        };
        let tournaments = Tournaments {
            archive: archive.clone(),
            equipment: Arc::new(equipment),
            limit: config.limits.tournaments,
            open: Mutex::default(),
            reading: Arc::default(),
            replays: Arc::new(Semaphore::new(REPLAYS)),
        };
        for id in running {
            let Ok(tournament) = tournaments.read(id) else { continue };
            if let Err(refusal) = tournament.start() {
                tournament.fail(refusal.to_string());
            }
        }
        Ok(tournaments)
    }

    /// The names of the programs that may play a game.
    pub fn allowed(&self, game: GameId) -> Vec<String> {
        self.equipment.allowed.names(game)
    }

    /// The program that plays a game under this name, if the host allows it.
    pub fn program(&self, game: GameId, name: &str) -> Option<EntrySpec> {
        let program = self.equipment.allowed.program(game, name)?;
        Some(EntrySpec { name: None, text: name.to_owned(), kind: EntryKind::Program(program.clone()) })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<i64, Arc<Tournament>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tournament with this number, if it was read already.
    fn get(&self, id: i64) -> Option<Arc<Tournament>> {
        self.lock().get(&id).cloned()
    }

    /// The tournament with this number. Whoever calls this while others could holds `reading`.
    fn read(&self, id: i64) -> Result<Arc<Tournament>, Refusal> {
        if let Some(tournament) = self.get(id) {
            return Ok(tournament);
        }
        let missing = || Refusal::missing(format!("there is no tournament {id}"));
        let (store, plan) = self.archive.store(id)?.ok_or_else(missing)?;
        let tournament = Tournament::open(store, plan, self.equipment.clone())?;
        // One that has just begun is there already, and is being played.
        Ok(self.lock().entry(id).or_insert(tournament).clone())
    }

    /// Refuses if as many run as may.
    fn check_room(&self, open: &BTreeMap<i64, Arc<Tournament>>) -> Result<(), Refusal> {
        let running = open.values().filter(|one| one.state() == TournamentState::Running).count();
        if running < self.limit {
            return Ok(());
        }
        Err(Refusal::full(format!("{running} tournaments are running, and no more can"))
            .hint("pause or cancel one, or wait until one has finished"))
    }

    /// Begins a tournament.
    fn begin(&self, plan: &Plan) -> Result<i64, Refusal> {
        let mut open = self.lock();
        self.check_room(&open)?;
        let store = self.archive.begin(plan)?;
        let id = store.id();
        self.equipment.kept.add(id, TournamentState::Paused, now())?;
        let tournament = Tournament::open(store, plan.clone(), self.equipment.clone())?;
        open.insert(id, tournament.clone());
        tournament.start()?;
        Ok(id)
    }

    /// Goes on with one that waits.
    fn resume(&self, tournament: &Arc<Tournament>) -> Result<(), Refusal> {
        let waits = || match tournament.state() {
            TournamentState::Paused | TournamentState::Failed => Ok(()),
            other => Err(Refusal::conflict(format!("it is {}, and cannot go on", other.as_str()))),
        };
        waits()?;
        // Its last matches may still be played.
        tournament.join();
        let open = self.lock();
        waits()?;
        self.check_room(&open)?;
        tournament.start()
    }

    /// Makes it wait, or ends it.
    fn stop(&self, tournament: &Tournament, state: TournamentState) -> Result<(), Refusal> {
        let _alone = self.lock();
        let now = tournament.state();
        let waits = matches!(now, TournamentState::Paused | TournamentState::Failed);
        if now == TournamentState::Running || (waits && state == TournamentState::Cancelled) {
            return Ok(tournament.stop(Some(state))?);
        }
        Err(Refusal::conflict(format!("it is {} already", now.as_str())))
    }

    /// The latest tournaments, newest first, and the first of those without a report. Makes none: the list must not wait for it.
    fn lines(&self, count: usize) -> Result<(Vec<TournamentLine>, Option<i64>), Refusal> {
        let (mut lines, mut unseen) = (Vec::new(), None);
        for (id, kept) in self.equipment.kept.lines(count)? {
            if let Some(line) = self.get(id).map(|tournament| tournament.line()).or(kept) {
                lines.push(line);
            } else if let Ok(line) = self.line_without_report(id) {
                lines.push(line);
                unseen = unseen.or(Some(id));
            }
            // One that cannot be shown must not hide the others.
        }
        Ok((lines, unseen))
    }

    fn line_without_report(&self, id: i64) -> Result<TournamentLine, Refusal> {
        let missing = || Refusal::missing(format!("there is no tournament {id}"));
        let (store, plan) = self.archive.store(id)?.ok_or_else(missing)?;
        Ok(Tournament::unseen(store, plan, self.equipment.clone())?.0.line())
    }

    /// Stops the play; what was running goes on with the next server.
    pub fn close(&self) {
        for tournament in self.lock().values() {
            // Without a new state nothing is written, so this cannot fail.
            let _ = tournament.stop(None);
        }
    }
}

impl Drop for Tournaments {
    fn drop(&mut self) {
        self.close();
        let open = std::mem::take(&mut *self.lock());
        open.values().for_each(|tournament| tournament.join());
    }
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}
