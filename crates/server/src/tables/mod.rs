//! Tables: people play against bots and each other. A table is a game, its options, and seats for people and bots.
//!
//! A match runs on a thread of its own; requests bring the answers of people to it. What a viewer gets is what the referee shows
//! to its seat, and without a seat what everybody may know.

mod coach;
mod games;
mod keep;
mod play;
mod setup;
mod state;

pub(crate) use coach::priced;
pub use coach::{CoachOption, CoachWord};
pub use state::{
    ActAtTable, JoinTable, NewTable, PlayInfo, Scene, SceneOf, TablePhase, TableSeat, TableState,
};

use crate::{
    Config, Db, Refusal, Site, film,
    json::Body,
    keys::{self, IsHost, Key},
    stream,
    tournaments::Tournaments,
};
use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use data_encoding::BASE32_NOPAD;
use games::Seated;
use necrodome_rules::{
    catalog::{GameId, Listed},
    game::Seat,
    with_game,
};
use play::{End, Ground, Look, Running};
use setup::Setup;
use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// A table at which nobody has acted for so long is cleared.
const IDLE: Duration = Duration::from_secs(3600);
/// When all tables are taken, one at which nobody has acted for so long makes room.
const AWAY: Duration = Duration::from_secs(600);

pub(crate) fn routes() -> Router<Site> {
    Router::new()
        .route("/play", get(play_info))
        .route("/tables", post(open))
        .route("/tables/{id}", get(look))
        .route("/tables/{id}/stream", get(follow))
        .route("/tables/{id}/join", post(join))
        .route("/tables/{id}/start", post(begin))
        .route("/tables/{id}/act", post(act))
        .route("/tables/{id}/leave", post(leave))
        .route("/tables/{id}/film", get(show))
        .route("/tables/{id}/replay", get(replay))
}

fn no_such_table() -> Refusal {
    Refusal::missing("there is no such table").hint("tables that nobody plays at are cleared after an hour")
}

/// All tables.
pub(crate) struct Tables {
    db: Db,
    launcher: PathBuf,
    most: usize,
    tables: Mutex<HashMap<String, Arc<Table>>>,
}

struct Table {
    id: String,
    changes: watch::Sender<u64>,
    inner: Mutex<Inner>,
}

struct Inner {
    setup: Setup,
    running: Option<Arc<dyn Running>>,
    /// When somebody last did something.
    touched: Instant,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tables {
    /// Takes up all tables that were not over when the server ended.
    pub fn open(config: &Config, db: &Db, allowed: &Tournaments) -> rusqlite::Result<Self> {
        keep::prepare(db)?;
        let (launcher, most) = (config.launcher.clone(), config.limits.tables);
        let tables = Tables { db: db.clone(), launcher, most, tables: Mutex::default() };
        for kept in keep::unfinished(db)? {
            let table = Arc::new(Table::new(kept.id.clone(), kept.setup));
            if kept.state == "playing"
                && let Err(why) = tables.start(&table, &mut lock(&table.inner), allowed)
            {
                eprintln!("error: table {} cannot be taken up: {why:?}", kept.id);
                keep::end(db, &kept.id, None)?;
                continue;
            }
            lock(&tables.tables).insert(kept.id, table);
        }
        Ok(tables)
    }

    /// Ends all threads; the tables stay in the file.
    pub fn close(&self) {
        for table in lock(&self.tables).values() {
            if let Some(running) = &lock(&table.inner).running {
                running.close(true);
            }
        }
    }

    /// Begins a match. Programs that sit at the table have been allowed when it was set up.
    fn start(&self, table: &Arc<Table>, inner: &mut Inner, allowed: &Tournaments) -> Result<(), Refusal> {
        let ground = Ground {
            id: table.id.clone(),
            db: self.db.clone(),
            launcher: self.launcher.clone(),
            changes: table.changes.clone(),
        };
        let setup = inner.setup.clone();
        let game = setup::game(&setup.game)?;
        let programs = |name: &str| allowed.program(game, name);
        let running = with_game!(game, G => play::start::<G>(ground, setup, &programs)?);
        inner.running = Some(running);
        Ok(())
    }

    fn add(&self, setup: Setup, allowed: &Tournaments) -> Result<Arc<Table>, Refusal> {
        let mut tables = lock(&self.tables);
        self.sweep(&mut tables);
        let going = || tables.values().filter(|table| !table.is_finished());
        if going().count() >= self.most {
            let longest = going().max_by_key(|table| table.idle()).filter(|table| table.idle() > AWAY);
            let Some(longest) = longest.map(|table| table.id.clone()) else {
                return Err(Refusal::full(format!("all {} tables are taken", self.most))
                    .hint("try again in a few minutes"));
            };
            self.clear(&mut tables, &longest);
        }
        let table = Arc::new(Table::new(new_id()?, setup));
        let mut inner = lock(&table.inner);
        let full = inner.setup.is_full();
        keep::table(&self.db, &table.id, &inner.setup, full)?;
        if full {
            self.start(&table, &mut inner, allowed)?;
        }
        drop(inner);
        tables.insert(table.id.clone(), table.clone());
        Ok(table)
    }

    /// Clears tables at which nobody plays. What is over stays in the file.
    fn sweep(&self, tables: &mut HashMap<String, Arc<Table>>) {
        let idle: Vec<String> =
            tables.values().filter(|table| table.idle() > IDLE).map(|table| table.id.clone()).collect();
        for id in idle {
            self.clear(tables, &id);
        }
        // Finished ones can be read from the file: no need for more than a few in memory.
        while tables.len() > 2 * self.most.max(1) {
            let finished = tables.values().filter(|table| table.is_finished());
            let Some(oldest) = finished.max_by_key(|table| table.idle()).map(|table| table.id.clone()) else {
                break;
            };
            tables.remove(&oldest);
        }
    }

    fn clear(&self, tables: &mut HashMap<String, Arc<Table>>, id: &str) {
        let Some(table) = tables.remove(id) else { return };
        match &lock(&table.inner).running {
            Some(running) => running.close(false),
            None => {
                if let Err(why) = keep::forget(&self.db, id) {
                    eprintln!("error: a table cannot be forgotten: {why}");
                }
            }
        }
        table.changed();
    }

    fn find(&self, id: &str) -> Option<Arc<Table>> {
        lock(&self.tables).get(id).cloned()
    }

    fn get(&self, id: &str) -> Result<Arc<Table>, Refusal> {
        self.find(id).ok_or_else(no_such_table)
    }
}

impl Drop for Tables {
    /// Nobody can ask any more. Whoever opens the file next must not find it in use.
    fn drop(&mut self) {
        self.close();
        for table in lock(&self.tables).values() {
            let thread = lock(&table.inner).running.as_ref().and_then(|running| running.take_thread());
            // A thread that has panicked has said so already.
            let _ = thread.map(JoinHandle::join);
        }
    }
}

/// Nobody guesses it: the link is the invitation.
fn new_id() -> Result<String, Refusal> {
    let mut bytes = [0; 10];
    getrandom::fill(&mut bytes).map_err(Refusal::internal)?;
    Ok(BASE32_NOPAD.encode(&bytes).to_lowercase())
}

impl Table {
    fn new(id: String, setup: Setup) -> Self {
        let inner = Mutex::new(Inner { setup, running: None, touched: Instant::now() });
        Table { id, changes: watch::Sender::new(0), inner }
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    fn idle(&self) -> Duration {
        lock(&self.inner).touched.elapsed()
    }

    fn is_finished(&self) -> bool {
        lock(&self.inner).running.as_ref().is_some_and(|running| running.has_ended())
    }

    /// The table as whoever holds this key may see it.
    fn state(&self, address: &str, headers: &HeaderMap) -> TableState {
        let inner = lock(&self.inner);
        let you = inner.setup.seat_of(keys::shown(headers, "table", &self.id));
        let look = inner.running.as_ref().map(|running| running.look(you.map(|seat| Seat(seat as u16))));
        told(&self.id, &inner.setup, address, you, look)
    }
}

/// All that a viewer is told of a table.
fn told(id: &str, setup: &Setup, address: &str, you: Option<usize>, look: Option<Look>) -> TableState {
    let (game, title) = match setup::game(&setup.game) {
        Ok(game) => with_game!(game, G => (G::ID, G::TITLE)),
        Err(_) => ("", ""),
    };
    let waiting = look.is_none();
    let Look { scene, question, to_act, end, note } = look.unwrap_or_default();
    let phase = match (&end, &scene) {
        (Some(End::Over(_)), _) => TablePhase::Over,
        (Some(End::Ended(_)), _) => TablePhase::Ended,
        _ if waiting => TablePhase::Waiting,
        (None, None) => TablePhase::Preparing,
        (None, Some(_)) => TablePhase::Playing,
    };
    let seat = |(place, seat): (usize, &setup::SeatSetup)| TableSeat {
        name: seat.name.clone(),
        bot: seat.bot.clone(),
        to_act: to_act.contains(&Seat(place as u16)),
    };
    let (outcome, why) = match end {
        Some(End::Over(outcome)) => (Some(outcome), None),
        Some(End::Ended(why)) => (None, Some(why)),
        None => (None, None),
    };
    TableState {
        id: id.to_owned(),
        game,
        title,
        options: setup.options.clone(),
        phase,
        seats: setup.seats.iter().enumerate().map(seat).collect(),
        you: you.map(|seat| seat as u16),
        question,
        link: format!("{address}/tables/{id}"),
        coach: setup.coach && note.is_none(),
        note: why.or(note),
        scene,
        outcome,
    }
}

async fn play_info() -> Json<Vec<PlayInfo>> {
    fn of<G: Seated>() -> PlayInfo {
        let value = |text: &str| serde_json::from_str(text).unwrap_or_default();
        PlayInfo {
            game: G::ID,
            opponents: G::OPPONENTS.to_vec(),
            options: G::OPTIONS.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect(),
            most_seats: G::MOST_SEATS,
        }
    }
    Json(GameId::ALL.into_iter().map(|id| with_game!(id, G => of::<G>())).collect())
}

async fn open(
    State(site): State<Site>,
    IsHost(host): IsHost,
    Body(wanted): Body<NewTable>,
) -> Result<Response, Refusal> {
    let key = Key::random();
    let game = setup::game(&wanted.game)?;
    // Strangers play against built-in bots only.
    let programs = |name: &str| site.tournaments().program(game, name).filter(|_| host);
    let setup = Setup::new(&wanted, &key, &programs)?;
    let table = site.tables().add(setup, site.tournaments())?;
    Ok(seated(&site, &table, &key, StatusCode::CREATED))
}

/// The answer to whoever has taken a seat: the table as it sees it, and the key that proves it.
fn seated(site: &Site, table: &Table, key: &Key, status: StatusCode) -> Response {
    let inner = lock(&table.inner);
    let you = inner.setup.seat_of(Some(key.hash()));
    let look = inner.running.as_ref().map(|running| running.look(you.map(|seat| Seat(seat as u16))));
    let state = told(&table.id, &inner.setup, &site.config().address, you, look);
    keys::with_seat("table", &table.id, key, (status, Json(state)))
}

async fn look(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<TableState>, Refusal> {
    let address = &site.config().address;
    if let Some(table) = site.tables().find(&id) {
        return Ok(Json(table.state(address, &headers)));
    }
    // One that is over is read from the file.
    let kept = keep::find(site.db(), &id)?.ok_or_else(no_such_table)?;
    let end = match kept.outcome {
        Some(outcome) => End::Over(outcome),
        None => End::Ended("The match was broken off.".to_owned()),
    };
    let you = kept.setup.seat_of(keys::shown(&headers, "table", &id));
    let look = Look { end: Some(end), ..Look::default() };
    Ok(Json(told(&id, &kept.setup, address, you, Some(look))))
}

async fn follow(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let table = site.tables().get(&id)?;
    let changes = table.changes.subscribe();
    let address = site.config().address.clone();
    let tables = site.clone();
    stream::live(&site, changes, move || {
        // A table that was cleared has no more to say.
        tables.tables().find(&id)?;
        Some(stream::to_json(&table.state(&address, &headers)))
    })
}

async fn join(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(JoinTable { name }): Body<JoinTable>,
) -> Result<Response, Refusal> {
    let table = site.tables().get(&id)?;
    let key = Key::random();
    {
        let mut inner = lock(&table.inner);
        if inner.setup.seat_of(keys::shown(&headers, "table", &id)).is_some() {
            return Err(Refusal::conflict("you have a seat at this table"));
        }
        if inner.running.is_some() {
            return Err(Refusal::conflict("the game has begun, and all seats are taken")
                .hint("you can watch, or open a table of your own"));
        }
        inner.setup.join(&name, &key)?;
        inner.touched = Instant::now();
        settle(&site, &table, &mut inner)?;
    }
    table.changed();
    Ok(seated(&site, &table, &key, StatusCode::OK))
}

/// Keeps a table that has changed before its match, and begins the match when all seats are taken.
fn settle(site: &Site, table: &Arc<Table>, inner: &mut Inner) -> Result<(), Refusal> {
    let full = inner.setup.is_full();
    keep::table(site.db(), &table.id, &inner.setup, full)?;
    if full {
        site.tables().start(table, inner, site.tournaments())?;
    }
    Ok(())
}

/// The seat of whoever asks.
fn own_seat(inner: &Inner, headers: &HeaderMap, id: &str) -> Result<Seat, Refusal> {
    let seat = inner.setup.seat_of(keys::shown(headers, "table", id));
    seat.map(|seat| Seat(seat as u16))
        .ok_or_else(|| Refusal::forbidden("you have no seat at this table").hint("join it, or watch"))
}

async fn begin(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Refusal> {
    let table = site.tables().get(&id)?;
    {
        let mut inner = lock(&table.inner);
        own_seat(&inner, &headers, &id)?;
        if inner.running.is_some() {
            return Err(Refusal::conflict("the game has begun"));
        }
        inner.setup.fill()?;
        inner.touched = Instant::now();
        settle(&site, &table, &mut inner)?;
    }
    table.changed();
    Ok(StatusCode::NO_CONTENT)
}

async fn act(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(ActAtTable { question, action }): Body<ActAtTable>,
) -> Result<StatusCode, Refusal> {
    let table = site.tables().get(&id)?;
    let (seat, running) = {
        let mut inner = lock(&table.inner);
        let seat = own_seat(&inner, &headers, &id)?;
        inner.touched = Instant::now();
        (seat, inner.running.clone())
    };
    let Some(running) = running else {
        return Err(Refusal::conflict("the game has not begun: seats are still open"));
    };
    running.act(seat, question, action)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn leave(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Refusal> {
    let table = site.tables().get(&id)?;
    {
        let mut inner = lock(&table.inner);
        let seat = own_seat(&inner, &headers, &id)?;
        if inner.setup.people() == 1 {
            drop(inner);
            let tables = site.tables();
            tables.clear(&mut lock(&tables.tables), &id);
            return Ok(StatusCode::NO_CONTENT);
        }
        let running = inner.running.clone();
        let place = &mut inner.setup.seats[seat.index()];
        place.key = None;
        match running {
            None => place.name = None,
            Some(running) => {
                let game = setup::game(&inner.setup.game)?;
                let stand_in = with_game!(game, G => G::STAND_IN);
                inner.setup.seats[seat.index()].bot = Some(stand_in.to_owned());
                running.leave(seat);
            }
        }
        inner.touched = Instant::now();
        let playing = inner.running.is_some();
        keep::table(site.db(), &id, &inner.setup, playing)?;
    }
    table.changed();
    Ok(StatusCode::NO_CONTENT)
}

async fn show(State(site): State<Site>, Path(id): Path<String>) -> Result<Response, Refusal> {
    film::show(&site, keep::replay(site.db(), &id)?).await
}

async fn replay(State(site): State<Site>, Path(id): Path<String>) -> Result<Response, Refusal> {
    let replay = keep::replay(site.db(), &id)?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{id}.replay\"")),
    ];
    Ok((headers, replay).into_response())
}
