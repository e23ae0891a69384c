//! Tables: people play against bots and each other. A table consists of a game, its options, and seats for people and bots.
//!
//! Each match runs on a separate thread; requests bring it the answers of people. A person gets what the referee shows to their
//! seat, and a spectator what everybody may know.

mod beats;
mod coach;
mod keep;
mod play;
mod presence;
mod seating;
mod setup;
mod state;

pub(crate) use coach::priced;
pub use coach::{CoachOption, CoachWord};
pub use state::{
    ActAtTable, Beat, JoinTable, NewTable, Offer, OptionBound, PlayInfo, ReplaceAtTable, Scene, TablePhase,
    TableSeat, TableState,
};

use crate::{
    Config, Db, Refusal, Site,
    json::Body,
    keys::{self, IsHost, Key, KeyHash},
    live::{Live, Open, Thing, lock, now},
    places::{Crowded, Origin, share},
    stream,
    tournaments::Allowed,
};
use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use data_encoding::BASE32_NOPAD;
use keep::Given;
use necrodome_arena::process::Launcher;
use necrodome_rules::{
    card::{Bound, Card},
    catalog::GameId,
    game::Seat,
    with_game,
};
use play::{End, Ground, MatchView, Running};
use presence::{Page, Presence};
use seating::{Input, Seating};
use setup::Setup;
use std::{
    sync::{Arc, Mutex, Weak},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// How long a table stays after somebody last acted there.
const IDLE: Duration = Duration::from_secs(3600);
/// When all tables are taken, how long one must have been idle to make room for another.
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
        .route("/tables/{id}/return", post(come_back))
        .route("/tables/{id}/replace", post(replace))
        .route("/tables/{id}/rematch", post(rematch))
        .route("/tables/{id}/film", get(show))
        .route("/tables/{id}/replay", get(replay))
}

fn no_such_table() -> Refusal {
    Refusal::missing("there is no such table").hint("tables that nobody plays at are cleared after an hour")
}

/// All tables.
pub(crate) struct Tables {
    db: Db,
    house: Arc<House>,
    most: usize,
    /// The most open tables that one address may have opened.
    most_of_one: usize,
    /// How long somebody must be away before others may let a bot play for them.
    patience: Duration,
    open: Open<String, Live<LiveTable>>,
    /// Held while the table of a rematch is opened, so that the other players join the same one.
    rematch: Mutex<()>,
}

/// What all tables share.
struct House {
    launcher: Launcher,
    allowed: Arc<Allowed>,
}

/// A table, with the parts that the file does not keep.
pub(crate) struct LiveTable {
    table: Weak<Live<LiveTable>>,
    house: Arc<House>,
    seating: Seating,
    running: Option<Arc<dyn Running>>,
    /// When somebody last acted.
    touched: Instant,
    /// The address it was opened from; unknown after a restart.
    opened_by: Option<Origin>,
    presence: Presence,
    patience: Duration,
    /// The table of the rematch, once somebody has opened it.
    next: Option<String>,
}

impl Tables {
    /// Resumes all tables that were not over when the server ended.
    pub fn open(config: &Config, db: &Db, allowed: &Arc<Allowed>) -> rusqlite::Result<Self> {
        keep::prepare(db)?;
        let house = House { launcher: config.launcher.clone(), allowed: allowed.clone() };
        let (db, most) = (db.clone(), config.limits.tables);
        let most_of_one = share(most, config.limits.address_share);
        let tables = Tables {
            db,
            house: Arc::new(house),
            most,
            most_of_one,
            patience: config.limits.patience,
            open: Open::default(),
            rematch: Mutex::default(),
        };
        for kept in keep::unfinished(&tables.db)? {
            let given = keep::given(&tables.db, &kept.id)?;
            let table = tables.table(kept.id.clone(), Seating::again(kept.setup, &given), None);
            if let Err(why) = table.update(|table| table.start(given)) {
                complain!("error: table {} cannot be taken up: {why}", kept.id);
                keep::end(&tables.db, &kept.id, None)?;
                continue;
            }
            tables.open.add(kept.id, table);
        }
        Ok(tables)
    }

    fn table(&self, id: String, seating: Seating, opened_by: Option<Origin>) -> Arc<Live<LiveTable>> {
        Arc::new_cyclic(|table| {
            let (table, house) = (table.clone(), self.house.clone());
            let touched = Instant::now();
            let (running, presence, next) = (None, Presence::default(), None);
            let patience = self.patience;
            let live =
                LiveTable { table, house, seating, running, touched, opened_by, presence, patience, next };
            Live::new(id, &self.db, live)
        })
    }

    /// Ends all matches; the tables stay in the file.
    pub fn close(&self) {
        for table in self.open.all() {
            if let Some(running) = &table.lock().running {
                running.close(true);
            }
        }
    }

    fn find(&self, id: &str) -> Result<Arc<Live<LiveTable>>, Refusal> {
        self.open.find(id).ok_or_else(no_such_table)
    }

    /// Opens a table.
    fn add(&self, setup: Setup, origin: Origin) -> Result<Arc<Live<LiveTable>>, Refusal> {
        let _alone = self.open.alone();
        self.sweep();
        let mut going = self.open.all();
        going.retain(|table| !table.lock().is_finished());
        let own = going.iter().filter(|table| table.lock().opened_by == Some(origin));
        if going.len() < self.most && own.count() >= self.most_of_one {
            let refusal = Crowded::Here.refuse("tables");
            return Err(refusal.hint("leave a table that you do not play at any more"));
        }
        if going.len() >= self.most {
            let longest = going.iter().max_by_key(|table| table.lock().idle());
            if !longest.is_some_and(|table| self.clear(table, AWAY)) {
                return Err(Refusal::full(format!("all {} tables are taken", self.most))
                    .hint("try again in a few minutes"));
            }
        }
        let table = self.table(new_id()?, Seating::new(setup), Some(origin));
        table.act(now(), |_| Ok(vec![Input::Open]))?;
        Ok(self.open.add(table.id.clone(), table))
    }

    /// Removes tables where nobody plays. Finished matches stay in the file.
    fn sweep(&self) {
        for table in self.open.all() {
            self.clear(&table, IDLE);
        }
        // Finished ones can be read from the file: no need for more than a few in memory.
        let all = self.open.all();
        let mut finished: Vec<_> = all.iter().filter(|table| table.lock().is_finished()).collect();
        finished.sort_by_key(|table| table.lock().idle());
        let excess = all.len().saturating_sub(2 * self.most.max(1));
        for oldest in finished.into_iter().rev().take(excess) {
            self.open.remove(&oldest.id);
        }
    }

    /// Removes a table if nobody has acted there for longer than `longer`. Returns whether the table is gone.
    fn clear(&self, table: &Arc<Live<LiveTable>>, longer: Duration) -> bool {
        if table.lock().idle() <= longer {
            return false;
        }
        let live = table.clone();
        let cleared = self.act(table, move |_| {
            // Somebody may have acted meanwhile.
            let is_idle = live.lock().idle() > longer;
            Ok(is_idle.then_some(Input::Clear).into_iter().collect())
        });
        if let Err(why) = cleared.or_else(Refusal::unless_ours) {
            complain!("error: a table stays: {why}");
        }
        table.lock().seating.is_gone()
    }

    /// Applies inputs to a table, and removes it if the last person has left.
    fn act(
        &self,
        table: &Live<LiveTable>,
        wanted: impl FnOnce(&Seating) -> Result<Vec<Input>, Refusal> + Send + 'static,
    ) -> Result<(), Refusal> {
        table.act(now(), wanted)?;
        if table.lock().seating.is_gone() {
            self.open.remove(&table.id);
        }
        Ok(())
    }

    fn join(
        &self,
        table: &Live<LiveTable>,
        shown: Option<KeyHash>,
        name: String,
        key: KeyHash,
    ) -> Result<(), Refusal> {
        self.act(table, move |seating| match seating.setup.seat_of(shown) {
            Some(_) => Err(Refusal::conflict("you have a seat at this table")),
            None => Ok(vec![Input::Join { name, key }]),
        })
    }

    /// Seats somebody at the table of the rematch: the first player opens it, the others join. Returns the key of the new seat, or
    /// `None` if they have it already.
    fn again(
        &self,
        table: &Arc<Live<LiveTable>>,
        shown: Option<KeyHash>,
        (origin, host): (Origin, bool),
    ) -> Result<(Arc<Live<LiveTable>>, Option<Key>), Refusal> {
        let _alone = lock(&self.rematch);
        let (setup, next, is_finished) = {
            let table = table.lock();
            (table.seating.setup.clone(), table.next.clone(), table.is_finished())
        };
        let seat = setup.seat_of(shown).ok_or_else(|| Refusal::forbidden("you had no seat at this table"))?;
        if !is_finished {
            return Err(Refusal::conflict("the match goes on"));
        }
        let (name, key) = (setup.seats[seat.index()].name.clone().unwrap_or_default(), Key::random());
        if let Some(next) = next.and_then(|id| self.open.find(&id)) {
            let sits = |seat: &setup::SeatSetup| seat.name.as_ref() == Some(&name) && seat.bot.is_none();
            if next.lock().seating.setup.seats.iter().any(sits) {
                return Ok((next, None));
            }
            self.join(&next, None, name, key.hash())?;
            return Ok((next, Some(key)));
        }
        let programs = |name: &str| self.house.allowed.entry(setup.game().ok()?, name);
        let setup = Setup::new(&setup.again(name)?, &key, &programs, host)?;
        let next = self.add(setup, origin)?;
        table.update(|table| table.next = Some(next.id.clone()));
        Ok((next, Some(key)))
    }

    /// Gives a person back their seat, on which a bot has played for them.
    fn come_back(&self, table: &Arc<Live<LiveTable>>, shown: Option<KeyHash>) -> Result<(), Refusal> {
        let live = table.clone();
        self.act(table, move |seating| {
            if seating.setup.seat_of(shown).is_some() {
                return Err(Refusal::conflict("no bot plays for you: the seat is yours"));
            }
            let none = || Refusal::forbidden("you have left no seat at this table");
            let seat = seating.setup.left_by(shown).ok_or_else(none)?;
            if live.lock().is_finished() {
                return Err(Refusal::conflict("the match is over"));
            }
            Ok(vec![Input::Return(seat)])
        })
    }

    /// Applies an input from the seat of the person with this key.
    fn take(
        &self,
        table: &Arc<Live<LiveTable>>,
        shown: Option<KeyHash>,
        wanted: impl FnOnce(&Live<LiveTable>, Seat) -> Result<Input, Refusal> + Send + 'static,
    ) -> Result<(), Refusal> {
        let live = table.clone();
        self.act(table, move |seating| {
            if seating.is_gone() {
                return Err(no_such_table());
            }
            let seat = seating.setup.seat_of(shown);
            let none = || Refusal::forbidden("you have no seat at this table").hint("join it, or watch");
            Ok(vec![wanted(&live, seat.ok_or_else(none)?)?])
        })
    }
}

impl Drop for Tables {
    /// Ends all matches and waits for their threads, so that the next process to open the file does not find it in use.
    fn drop(&mut self) {
        self.close();
        for table in self.open.all() {
            let thread = table.lock().running.as_ref().and_then(|running| running.take_thread());
            // A thread that has panicked has said so already.
            let _ = thread.map(JoinHandle::join);
        }
    }
}

/// Makes a new id. Nobody can guess it, since the link is the invitation.
fn new_id() -> Result<String, Refusal> {
    let mut bytes = [0; 10];
    getrandom::fill(&mut bytes).map_err(Refusal::internal)?;
    Ok(BASE32_NOPAD.encode(&bytes).to_lowercase())
}

impl Thing for LiveTable {
    type Id = String;
    type State = Seating;
    type Input = Input;

    fn state(&self) -> &Seating {
        &self.seating
    }

    fn apply(seating: &mut Seating, input: &Input) -> Result<(), Refusal> {
        seating.apply(input)
    }

    fn write(db: &Db, id: &String, inputs: &[Input], seating: &Seating) -> Result<(), Refusal> {
        Ok(keep::inputs(db, id, inputs, seating)?)
    }

    fn take(&mut self, input: Input) -> Result<(), Refusal> {
        self.seating.apply(&input)?;
        match (&self.running, &input) {
            (Some(running), _) if self.seating.is_gone() => running.close(false),
            (Some(running), Input::Leave(seat)) => running.leave(*seat),
            (Some(running), Input::Return(seat)) => running.come_back(*seat),
            (Some(running), Input::Answers { bots, person }) => return running.take(bots, person.as_ref()),
            (Some(_), _) => {}
            (None, _) if !self.seating.is_gone() => self.start(Given::default())?,
            (None, _) => {}
        }
        self.touched = Instant::now();
        Ok(())
    }
}

impl LiveTable {
    /// Begins the match if all seats are taken, or resumes it after the answers in `given`. Programs at the table were checked when
    /// it was set up.
    fn start(&mut self, given: Given) -> Result<(), Refusal> {
        let Some(table) = self.table.upgrade().filter(|_| self.seating.setup.is_full()) else {
            return Ok(());
        };
        let setup = self.seating.setup.clone();
        let ground = Ground::new(&table, self.house.launcher.clone());
        let game = setup.game()?;
        let programs = |name: &str| self.house.allowed.entry(game, name);
        let running = with_game!(game, G => play::start::<G>(ground, setup, &programs, given))?;
        self.running = Some(running);
        Ok(())
    }

    fn idle(&self) -> Duration {
        self.touched.elapsed()
    }

    fn is_finished(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.has_ended())
    }

    /// Returns the table as the person with this key may see it.
    fn view(&self, id: &str, address: &str, key: Option<KeyHash>) -> TableState {
        let you = self.seating.setup.seat_of(key);
        let seen = self.running.as_ref().map(|running| running.look(you));
        let mut state = told(id, &self.seating.setup, address, you, seen);
        for (place, seat) in state.seats.iter_mut().enumerate() {
            let is_person = self.seating.setup.seats[place].has_person();
            seat.away_since = self.presence.away_since(Seat(place as u16)).filter(|_| is_person);
        }
        let left = self.seating.setup.left_by(key).filter(|_| !self.is_finished());
        state.replaced = left.map(|seat| seat.0);
        state.watching = self.presence.watching();
        state.patience = self.patience.as_secs();
        state.next.clone_from(&self.next);
        state
    }

    /// Refuses unless others may let a bot play for the person in this seat.
    fn may_replace(&self, seat: Seat) -> Result<(), Refusal> {
        let setup = &self.seating.setup;
        if !setup.is_full() || !setup.seats.get(seat.index()).is_some_and(|seat| seat.has_person()) {
            return Err(Refusal::conflict("nobody plays on this seat"));
        }
        let Some(since) = self.presence.away_since(seat) else {
            return Err(Refusal::conflict("they are here"));
        };
        if Duration::from_millis(now().saturating_sub(since)) < self.patience {
            return Err(Refusal::conflict(format!(
                "they have been away for less than {} seconds",
                self.patience.as_secs()
            ))
            .hint("give them a moment"));
        }
        Ok(())
    }
}

/// Returns everything that a viewer is told about a table.
fn told(id: &str, setup: &Setup, address: &str, you: Option<Seat>, seen: Option<MatchView>) -> TableState {
    let game = setup.game().ok();
    let card = game.map(GameId::card);
    let waiting = seen.is_none();
    let MatchView { scene, question, to_act, deadlines, end, note, mut faults } = seen.unwrap_or_default();
    let phase = match (&end, &scene) {
        (Some(End::Over(_)), _) => TablePhase::Over,
        (Some(End::Ended(_)), _) => TablePhase::Ended,
        _ if waiting => TablePhase::Waiting,
        (None, None) => TablePhase::Preparing,
        (None, Some(_)) => TablePhase::Playing,
    };
    let mut fault = |place: usize| {
        let at = faults.iter().position(|(seat, _)| seat.index() == place)?;
        Some(faults.swap_remove(at).1)
    };
    let seat = |(place, seat): (usize, &setup::SeatSetup)| TableSeat {
        name: seat.name.clone(),
        bot: seat.bot.clone(),
        to_act: to_act.contains(&Seat(place as u16)),
        deadline: deadlines.iter().find(|(of, _)| of.index() == place).map(|(_, deadline)| *deadline),
        away_since: None,
        left: seat.left,
        fault: fault(place),
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
        you: you.map(|seat| seat.0),
        replaced: None,
        question,
        link: format!("{address}/tables/{id}"),
        coach: setup.coach && note.is_none(),
        clock: setup.clock,
        watching: 0,
        patience: 0,
        next: None,
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
        bounds: card
            .bounds_for_people
            .iter()
            .map(|&Bound { option, least, most }| OptionBound { option, least, most })
            .collect(),
        rules: card.rules,
    };
    Json(GameId::ALL.into_iter().map(|id| info(id.card())).collect())
}

async fn open(
    State(site): State<Site>,
    IsHost(host): IsHost,
    origin: Origin,
    Body(wanted): Body<NewTable>,
) -> Result<Response, Refusal> {
    let key = Key::random();
    let game = wanted.game.parse::<GameId>()?;
    // Strangers play against built-in bots only.
    let allowed = site.tournaments().allowed();
    let programs = |name: &str| allowed.entry(game, name).filter(|_| host);
    let setup = Setup::new(&wanted, &key, &programs, host)?;
    let table = site.aside(move |site| site.tables().add(setup, origin)).await?;
    Ok(seated(&site, &table, &key, StatusCode::CREATED))
}

/// Returns the answer to somebody who has taken a seat: the table as they see it, and the key that proves the seat is theirs.
fn seated(site: &Site, table: &Live<LiveTable>, key: &Key, status: StatusCode) -> Response {
    let state = table.lock().view(&table.id, &site.config().address, Some(key.hash()));
    keys::with_seat("table", &table.id, key, (status, Json(state)))
}

async fn look(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<TableState>, Refusal> {
    let (address, shown) = (&site.config().address, keys::shown(&headers, "table", &id));
    if let Ok(table) = site.tables().find(&id) {
        let state = table.lock().view(&id, address, shown);
        return Ok(Json(state));
    }
    // One that is over is read from the file.
    let wanted = id.clone();
    let kept = site.aside(move |site| Ok(keep::find(site.db(), &wanted)?)).await?;
    let kept = kept.ok_or_else(no_such_table)?;
    let end = match kept.outcome {
        Some(outcome) => End::Over(outcome),
        None => End::Ended("The match was broken off.".to_owned()),
    };
    let seen = MatchView { end: Some(end), ..MatchView::default() };
    Ok(Json(told(&id, &kept.setup, address, kept.setup.seat_of(shown), Some(seen))))
}

async fn follow(
    State(site): State<Site>,
    origin: Origin,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let table = site.tables().find(&id)?;
    let (address, shown) = (site.config().address.clone(), keys::shown(&headers, "table", &id));
    let seat = table.lock().seating.setup.seat_of(shown);
    let page = Page::open(&table, seat);
    table.follow(&site, origin, move |table| {
        // The page is open as long as the stream is.
        let _ = &page;
        let table = table.lock();
        // A table that was cleared has no more to say.
        (!table.seating.is_gone()).then(|| stream::to_json(&table.view(&id, &address, shown)))
    })
}

async fn join(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(JoinTable { name }): Body<JoinTable>,
) -> Result<Response, Refusal> {
    let table = site.tables().find(&id)?;
    let (key, shown) = (Key::random(), keys::shown(&headers, "table", &id));
    let (own, joined) = (key.hash(), table.clone());
    site.aside(move |site| site.tables().join(&joined, shown, name, own)).await?;
    Ok(seated(&site, &table, &key, StatusCode::OK))
}

/// Applies an input from the seat of the person who sends the request.
async fn take(
    site: Site,
    id: &str,
    headers: &HeaderMap,
    wanted: impl FnOnce(&Live<LiveTable>, Seat) -> Result<Input, Refusal> + Send + 'static,
) -> Result<StatusCode, Refusal> {
    let (table, shown) = (site.tables().find(id)?, keys::shown(headers, "table", id));
    site.aside(move |site| site.tables().take(&table, shown, wanted)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Begins the match, with bots in the seats that are still open.
async fn begin(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Refusal> {
    take(site, &id, &headers, |_, _| Ok(Input::Fill)).await
}

async fn act(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(ActAtTable { question, action }): Body<ActAtTable>,
) -> Result<StatusCode, Refusal> {
    let check = move |table: &Live<LiveTable>, seat| {
        let mut table = table.lock();
        table.touched = Instant::now();
        let running = table.running.clone();
        drop(table);
        let not_yet = || Refusal::conflict("the game has not begun: seats are still open");
        running.ok_or_else(not_yet)?.check(seat, question, action)
    };
    take(site, &id, &headers, check).await
}

/// Frees a seat. During a match a bot plays until the person comes back.
async fn leave(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Refusal> {
    take(site, &id, &headers, |_, seat| Ok(Input::Leave(seat))).await
}

/// Gives a person back their seat, on which a bot has played for them.
async fn come_back(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Refusal> {
    let (table, shown) = (site.tables().find(&id)?, keys::shown(&headers, "table", &id));
    site.aside(move |site| site.tables().come_back(&table, shown)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lets a bot play for somebody who has been away for long.
async fn replace(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(ReplaceAtTable { seat }): Body<ReplaceAtTable>,
) -> Result<StatusCode, Refusal> {
    let seat = Seat(seat);
    let check = move |table: &Live<LiveTable>, own: Seat| {
        if own == seat {
            return Err(Refusal::conflict("this is your own seat").hint("leave the table instead"));
        }
        table.lock().may_replace(seat)?;
        Ok(Input::Leave(seat))
    };
    take(site, &id, &headers, check).await
}

/// Lets the same people play again, at another table.
async fn rematch(
    State(site): State<Site>,
    IsHost(host): IsHost,
    origin: Origin,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let (table, shown) = (site.tables().find(&id)?, keys::shown(&headers, "table", &id));
    let (next, key) = site.aside(move |site| site.tables().again(&table, shown, (origin, host))).await?;
    match key {
        Some(key) => Ok(seated(&site, &next, &key, StatusCode::OK)),
        None => {
            let shown = keys::shown(&headers, "table", &next.id);
            let state = next.lock().view(&next.id, &site.config().address, shown);
            Ok(Json(state).into_response())
        }
    }
}

/// Returns the packed replay of a table that is over.
async fn packed(site: &Site, id: &str) -> Result<Vec<u8>, Refusal> {
    let id = id.to_owned();
    site.aside(move |site| keep::replay(site.db(), &id)).await
}

async fn show(State(site): State<Site>, origin: Origin, Path(id): Path<String>) -> Result<Response, Refusal> {
    let customer = site.studio().enter(origin)?;
    site.studio().show(customer, packed(&site, &id).await?, false).await
}

async fn replay(
    State(site): State<Site>,
    origin: Origin,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let customer = site.studio().enter(origin)?;
    let packed = packed(&site, &id).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{id}.replay\"")),
    ];
    Ok(customer.send(headers, packed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn waiting_table(site: &Site, ada: &Key) -> Arc<Live<LiveTable>> {
        let wanted = json!({ "game": "zombie-dice", "name": "Ada", "friends": 2 });
        let setup = Setup::new(&serde_json::from_value(wanted).unwrap(), ada, &|_| None, false).unwrap();
        site.tables().add(setup, Origin::of([127, 0, 0, 1].into())).unwrap()
    }

    /// A request first finds its table and changes it later. Here another request comes in between.
    #[test]
    fn nobody_sits_down_at_a_table_that_is_gone() {
        let site = Site::open(Config::default()).unwrap();
        let (tables, ada, bea) = (site.tables(), Key::random(), Key::random());
        let join = |table: &Live<LiveTable>| tables.join(table, None, "Bea".to_owned(), bea.hash());
        let leave = |table: &Arc<_>| tables.take(table, Some(ada.hash()), |_, seat| Ok(Input::Leave(seat)));

        let table = waiting_table(&site, &ada);
        leave(&table).unwrap();
        assert_eq!(join(&table), Err(no_such_table()));
        assert!(keep::find(site.db(), &table.id).unwrap().is_none(), "nothing of it is in the file");
        assert!(tables.find(&table.id).is_err());

        let table = waiting_table(&site, &ada);
        while !tables.clear(&table, Duration::ZERO) {}
        assert_eq!(join(&table), Err(no_such_table()));

        let table = waiting_table(&site, &ada);
        join(&table).unwrap();
        leave(&table).unwrap();
        let seating = tables.find(&table.id).unwrap().lock().seating.clone();
        assert_eq!(seating.setup.seat_of(Some(bea.hash())), Some(Seat(1)));
        assert_eq!(keep::find(site.db(), &table.id).unwrap().unwrap().setup.people(), 1);
    }
}
