//! Tables: people play against bots and each other. A table is a game, its options, and seats for people and bots.
//!
//! A match runs on a thread of its own; requests bring the answers of people to it. What a viewer gets is what the referee shows
//! to its seat, and without a seat what everybody may know.

mod coach;
mod keep;
mod play;
mod setup;
mod state;

pub(crate) use coach::priced;
pub use coach::{CoachOption, CoachWord};
pub use state::{ActAtTable, JoinTable, NewTable, Offer, PlayInfo, Scene, TablePhase, TableSeat, TableState};

use crate::{
    Config, Db, Refusal, Site, film,
    json::Body,
    keys::{self, IsHost, Key, KeyHash},
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
use necrodome_rules::{card::Card, catalog::GameId, game::Seat, with_game};
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

/// All tables. What changes them may wait for the file, so it is not for the threads that answer requests.
pub(crate) struct Tables {
    db: Db,
    launcher: PathBuf,
    most: usize,
    /// Held by whoever opens a table: nobody else does until there is room for it.
    opening: Mutex<()>,
    /// Not held while the file is written: every request looks into it.
    tables: Mutex<HashMap<String, Arc<Table>>>,
}

struct Table {
    id: String,
    changes: watch::Sender<u64>,
    /// Held by whoever changes or removes the table, from the first look until it is in the file. Locked before `inner`.
    changing: Mutex<()>,
    /// Not held while the file is written: every viewer looks into it.
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
        let (db, opening, none) = (db.clone(), Mutex::default(), Mutex::default());
        let tables = Tables { db, launcher, most, opening, tables: none };
        for kept in keep::unfinished(&tables.db)? {
            let table = Arc::new(Table::new(kept.id.clone(), kept.setup.clone()));
            if kept.state == "playing" {
                match tables.start(&table, &kept.setup, allowed) {
                    Ok(running) => lock(&table.inner).running = Some(running),
                    Err(why) => {
                        complain!("error: table {} cannot be taken up: {why:?}", kept.id);
                        keep::end(&tables.db, &kept.id, None)?;
                        continue;
                    }
                }
            }
            lock(&tables.tables).insert(kept.id, table);
        }
        Ok(tables)
    }

    /// Ends all threads; the tables stay in the file.
    pub fn close(&self) {
        for table in self.all() {
            if let Some(running) = &lock(&table.inner).running {
                running.close(true);
            }
        }
    }

    fn all(&self) -> Vec<Arc<Table>> {
        lock(&self.tables).values().cloned().collect()
    }

    fn find(&self, id: &str) -> Option<Arc<Table>> {
        lock(&self.tables).get(id).cloned()
    }

    fn get(&self, id: &str) -> Result<Arc<Table>, Refusal> {
        self.find(id).ok_or_else(no_such_table)
    }

    /// Begins a match. Programs that sit at the table have been allowed when it was set up.
    fn start(
        &self,
        table: &Table,
        setup: &Setup,
        allowed: &Tournaments,
    ) -> Result<Arc<dyn Running>, Refusal> {
        let ground = Ground {
            id: table.id.clone(),
            db: self.db.clone(),
            launcher: self.launcher.clone(),
            changes: table.changes.clone(),
        };
        let game = setup::game(&setup.game)?;
        let programs = |name: &str| allowed.program(game, name);
        with_game!(game, G => play::start::<G>(ground, setup.clone(), &programs))
    }

    /// Opens a table.
    fn add(&self, setup: Setup, allowed: &Tournaments) -> Result<Arc<Table>, Refusal> {
        let _alone = lock(&self.opening);
        self.sweep();
        let going: Vec<_> = self.all().into_iter().filter(|table| !table.is_finished()).collect();
        if going.len() >= self.most {
            let longest = going.iter().max_by_key(|table| table.idle());
            if !longest.is_some_and(|table| self.clear(table, AWAY)) {
                return Err(Refusal::full(format!("all {} tables are taken", self.most))
                    .hint("try again in a few minutes"));
            }
        }
        let table = Arc::new(Table::new(new_id()?, setup.clone()));
        self.settle(&table, setup, allowed)?;
        lock(&self.tables).insert(table.id.clone(), table.clone());
        Ok(table)
    }

    /// Clears tables at which nobody plays. What is over stays in the file.
    fn sweep(&self) {
        for table in self.all() {
            self.clear(&table, IDLE);
        }
        // Finished ones can be read from the file: no need for more than a few in memory.
        let mut finished: Vec<_> = self.all().into_iter().filter(|table| table.is_finished()).collect();
        finished.sort_by_key(|table| table.idle());
        let mut tables = lock(&self.tables);
        while tables.len() > 2 * self.most.max(1)
            && let Some(oldest) = finished.pop()
        {
            tables.remove(&oldest.id);
        }
    }

    /// Removes a table if nobody has acted there for longer than this. Gives whether it did.
    fn clear(&self, table: &Table, longer: Duration) -> bool {
        if table.idle() <= longer {
            return false;
        }
        let _alone = lock(&table.changing);
        // Somebody may have acted meanwhile.
        let is_idle = table.idle() > longer;
        is_idle && self.remove(table).inspect_err(|why| complain!("error: a table stays: {why:?}")).is_ok()
    }

    /// Removes a table. The caller holds `changing`.
    fn remove(&self, table: &Table) -> Result<(), Refusal> {
        match table.now().1 {
            Some(running) => running.close(false),
            None => keep::forget(&self.db, &table.id)?,
        }
        lock(&self.tables).remove(&table.id);
        table.changed();
        Ok(())
    }

    /// Changes a table that is still there; one request at a time.
    fn change(
        &self,
        table: &Table,
        change: impl FnOnce(Setup, Option<Arc<dyn Running>>) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let _alone = lock(&table.changing);
        // The last one may have left since the request has found the table.
        self.get(&table.id)?;
        let (setup, running) = table.now();
        change(setup, running)
    }

    /// Keeps a table that has changed before its match, and begins the match when all seats are taken.
    fn settle(&self, table: &Table, setup: Setup, allowed: &Tournaments) -> Result<(), Refusal> {
        let full = setup.is_full();
        keep::table(&self.db, &table.id, &setup, full)?;
        let running = full.then(|| self.start(table, &setup, allowed)).transpose()?;
        table.set(setup, running);
        Ok(())
    }

    fn join(
        &self,
        table: &Table,
        shown: Option<KeyHash>,
        name: &str,
        key: &Key,
        allowed: &Tournaments,
    ) -> Result<(), Refusal> {
        self.change(table, |mut setup, running| {
            if setup.seat_of(shown).is_some() {
                return Err(Refusal::conflict("you have a seat at this table"));
            }
            if running.is_some() {
                return Err(Refusal::conflict("the game has begun, and all seats are taken")
                    .hint("you can watch, or open a table of your own"));
            }
            setup.join(name, key)?;
            self.settle(table, setup, allowed)
        })
    }

    /// Begins with bots on the seats that are still open.
    fn begin(&self, table: &Table, shown: Option<KeyHash>, allowed: &Tournaments) -> Result<(), Refusal> {
        self.change(table, |mut setup, running| {
            own_seat(&setup, shown)?;
            if running.is_some() {
                return Err(Refusal::conflict("the game has begun"));
            }
            setup.fill()?;
            self.settle(table, setup, allowed)
        })
    }

    fn act(
        &self,
        table: &Table,
        shown: Option<KeyHash>,
        ActAtTable { question, action }: ActAtTable,
    ) -> Result<(), Refusal> {
        self.change(table, |setup, running| {
            let seat = own_seat(&setup, shown)?;
            lock(&table.inner).touched = Instant::now();
            let not_yet = || Refusal::conflict("the game has not begun: seats are still open");
            running.ok_or_else(not_yet)?.act(seat, question, action)
        })
    }

    /// Frees a seat; in a match a bot plays on. A table that the last one leaves is removed.
    fn leave(&self, table: &Table, shown: Option<KeyHash>) -> Result<(), Refusal> {
        self.change(table, |mut setup, running| {
            let seat = own_seat(&setup, shown)?;
            if setup.people() == 1 {
                return self.remove(table);
            }
            let place = &mut setup.seats[seat.index()];
            place.key = None;
            match running {
                None => place.name = None,
                Some(_) => {
                    let stand_in = setup::game(&setup.game)?.card().stand_in;
                    place.bot = Some(stand_in.to_owned());
                }
            }
            keep::table(&self.db, &table.id, &setup, running.is_some())?;
            if let Some(running) = &running {
                running.leave(seat);
            }
            table.set(setup, running);
            Ok(())
        })
    }
}

impl Drop for Tables {
    /// Nobody can ask any more. Whoever opens the file next must not find it in use.
    fn drop(&mut self) {
        self.close();
        for table in self.all() {
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
        Table { id, changes: watch::Sender::new(0), changing: Mutex::default(), inner }
    }

    fn now(&self) -> (Setup, Option<Arc<dyn Running>>) {
        let inner = lock(&self.inner);
        (inner.setup.clone(), inner.running.clone())
    }

    /// Shows what is in the file by now.
    fn set(&self, setup: Setup, running: Option<Arc<dyn Running>>) {
        *lock(&self.inner) = Inner { setup, running, touched: Instant::now() };
        self.changed();
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
    let game = setup::game(&setup.game).ok();
    let card = game.map(GameId::card);
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
        game: card.map_or("", |card| card.id),
        title: card.map_or("", |card| card.title),
        rules: card.map_or("", |card| card.rules),
        options: setup.options.clone(),
        phase,
        seats: setup.seats.iter().enumerate().map(seat).collect(),
        you: you.map(|seat| seat as u16),
        question,
        link: format!("{address}/tables/{id}"),
        coach: setup.coach && note.is_none(),
        note: why.or(note),
        scene,
        scores: outcome.as_ref().zip(game).map(|(outcome, game)| game.score_words(outcome)),
        outcome,
    }
}

async fn play_info() -> Json<Vec<PlayInfo>> {
    let value = |text: &str| serde_json::from_str(text).unwrap_or_default();
    let info = |card: Card| PlayInfo {
        game: card.id,
        opponents: card.opponents.to_vec(),
        options: card
            .options_for_people
            .iter()
            .map(|(name, text)| ((*name).to_owned(), value(text)))
            .collect(),
        most_seats: card.most_people,
        rules: card.rules,
    };
    Json(GameId::ALL.into_iter().map(|id| info(id.card())).collect())
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
    let table = site.aside(|site| site.tables().add(setup, site.tournaments())).await?;
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
    let wanted = id.clone();
    let kept = site.aside(move |site| Ok(keep::find(site.db(), &wanted)?)).await?;
    let kept = kept.ok_or_else(no_such_table)?;
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
    let (key, shown) = (Key::random(), keys::shown(&headers, "table", &id));
    let (own, joined) = (key.clone(), table.clone());
    let join = move |site: &Site| site.tables().join(&joined, shown, &name, &own, site.tournaments());
    site.aside(join).await?;
    Ok(seated(&site, &table, &key, StatusCode::OK))
}

/// The seat of whoever asks.
fn own_seat(setup: &Setup, shown: Option<KeyHash>) -> Result<Seat, Refusal> {
    let seat = setup.seat_of(shown);
    seat.map(|seat| Seat(seat as u16))
        .ok_or_else(|| Refusal::forbidden("you have no seat at this table").hint("join it, or watch"))
}

async fn begin(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Refusal> {
    let (table, shown) = (site.tables().get(&id)?, keys::shown(&headers, "table", &id));
    site.aside(move |site| site.tables().begin(&table, shown, site.tournaments())).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn act(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(action): Body<ActAtTable>,
) -> Result<StatusCode, Refusal> {
    let (table, shown) = (site.tables().get(&id)?, keys::shown(&headers, "table", &id));
    site.aside(move |site| site.tables().act(&table, shown, action)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn leave(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Refusal> {
    let (table, shown) = (site.tables().get(&id)?, keys::shown(&headers, "table", &id));
    site.aside(move |site| site.tables().leave(&table, shown)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The packed replay of a table that is over.
async fn packed(site: &Site, id: &str) -> Result<Vec<u8>, Refusal> {
    let id = id.to_owned();
    site.aside(move |site| keep::replay(site.db(), &id)).await
}

async fn show(State(site): State<Site>, Path(id): Path<String>) -> Result<Response, Refusal> {
    film::show(&site, packed(&site, &id).await?).await
}

async fn replay(State(site): State<Site>, Path(id): Path<String>) -> Result<Response, Refusal> {
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{id}.replay\"")),
    ];
    Ok((headers, packed(&site, &id).await?).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn waiting_table(site: &Site, ada: &Key) -> Arc<Table> {
        let wanted = json!({ "game": "tokyo", "name": "Ada", "friends": 2 });
        let setup = Setup::new(&serde_json::from_value(wanted).unwrap(), ada, &|_| None).unwrap();
        site.tables().add(setup, site.tournaments()).unwrap()
    }

    /// A request finds its table first and changes it later: here somebody else's request comes between.
    #[test]
    fn nobody_sits_down_at_a_table_that_is_gone() {
        let site = Site::open(Config::default()).unwrap();
        let (tables, ada, bea) = (site.tables(), Key::random(), Key::random());
        let join = |table: &Table| tables.join(table, None, "Bea", &bea, site.tournaments());

        let table = waiting_table(&site, &ada);
        tables.leave(&table, Some(ada.hash())).unwrap();
        assert_eq!(join(&table), Err(no_such_table()));
        assert!(keep::find(site.db(), &table.id).unwrap().is_none(), "nothing of it is in the file");

        let table = waiting_table(&site, &ada);
        while !tables.clear(&table, Duration::ZERO) {}
        assert_eq!(join(&table), Err(no_such_table()));

        let table = waiting_table(&site, &ada);
        join(&table).unwrap();
        tables.leave(&table, Some(ada.hash())).unwrap();
        assert_eq!(tables.get(&table.id).unwrap().now().0.seat_of(Some(bea.hash())), Some(1));
        assert_eq!(keep::find(site.db(), &table.id).unwrap().unwrap().setup.people(), 1);
    }
}
