//! Parties: Infection with phones. Rooms live in memory and are kept in the file as the list of what came in.
//!
//! An input is in the file before anybody is told that it was taken, so a server that is killed loses nothing. The room itself
//! (`room`, `game`) is pure; clocks and bots are here.

mod bots;
mod game;
mod refused;
pub mod room;
mod routes;
pub mod view;

pub use refused::Refused;
pub(crate) use routes::routes;
pub use routes::{HostOrder, JoinRoom, Joined, OpenRoom, Opened, RoomSummary, SeatAction, SeatOffer};

use crate::{Db, Refusal, Site, keys::KeyHash, stream};
use necrodome_rules::chance::{Chance, Seeded};
use room::{Input, Number, Room, Touched};
use rusqlite::{Connection, params};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock},
    time::{Duration, SystemTime},
};
use tokio::sync::watch;
use view::{Board, PartyView};

const TABLES: &str = "
-- What came into the rooms of parties, in order: a room is what its inputs make of it.
CREATE TABLE IF NOT EXISTS party_input (
    room TEXT NOT NULL, number INTEGER NOT NULL, input TEXT NOT NULL, PRIMARY KEY (room, number)
) WITHOUT ROWID;
";

/// How often clocks and bots are looked at.
const TICK: Duration = Duration::from_millis(200);
/// A room is known by so many letters: too many to try them all.
const ID_LETTERS: usize = 5;

/// All rooms.
pub struct Parties {
    /// Held by whoever opens a room: nobody else does until it is in the file.
    opening: Mutex<()>,
    /// Not held while the file is written: every request looks into it.
    rooms: RwLock<BTreeMap<String, Arc<Live>>>,
}

/// A room, and those who look at it.
pub(crate) struct Live {
    id: String,
    link: String,
    /// The room with what is just being written to the file. Only who writes looks at it, so nobody else waits for the file, and
    /// nobody sees what could still be lost. Locked before `state`.
    draft: Mutex<Room>,
    /// What waits to be carried out. Whoever gets the draft next does all of it, and the file is written once.
    queue: Mutex<Vec<Job>>,
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

/// What somebody wants of the room as it is then.
type Wanted = Box<dyn FnOnce(&Room) -> Result<Vec<Input>, Refusal> + Send>;

/// What somebody wants, and what came of it.
struct Job {
    wanted: Wanted,
    done: Arc<OnceLock<Result<(), Refusal>>>,
}

struct State {
    room: Room,
    board: Arc<Board>,
    /// When each open proposal and each open contact ends, in milliseconds since 1970.
    deadlines: BTreeMap<(u32, bool), u64>,
    /// When each bot that has something to decide acts.
    bots_due: BTreeMap<Number, u64>,
    /// How many pages of each player are open.
    here: BTreeMap<Number, usize>,
    /// Counts what can change the page of everybody, of one player, of the host.
    for_everybody: u64,
    for_player: BTreeMap<Number, u64>,
    for_host: u64,
}

/// Who looks at a room.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Viewer {
    /// The key of a seat that it has shown.
    pub key: Option<KeyHash>,
    /// Whether to show it the host's desk.
    pub host: bool,
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Parties {
    /// Makes all rooms again that were open.
    pub(crate) fn open(db: &Db, address: &str) -> rusqlite::Result<Self> {
        let connection = db.lock();
        connection.execute_batch(TABLES)?;
        let closed = serde_json::to_string(&Input::Close).unwrap_or_default();
        let mut query = connection.prepare(
            "SELECT DISTINCT room FROM party_input WHERE room NOT IN (SELECT room FROM party_input WHERE input = ?1)",
        )?;
        let ids: Vec<String> = query.query_map([closed], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut rooms = BTreeMap::new();
        for id in ids {
            match read(&connection, &id)? {
                Ok(room) => {
                    rooms.insert(id.clone(), Arc::new(Live::new(id, address, room)));
                }
                Err(why) => complain!("error: the room {id} cannot be opened again: {why}"),
            }
        }
        Ok(Parties { opening: Mutex::default(), rooms: RwLock::new(rooms) })
    }

    /// Opens a room.
    pub(crate) fn create(&self, site: &Site, open: Input) -> Result<String, Refusal> {
        let _alone = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = |live: &Arc<Live>| !live.lock().room.is_closed();
        if self.all().iter().filter(|live| is_open(live)).count() >= site.limits().rooms {
            return Err(Refusal::full(format!("there are {} rooms already", site.limits().rooms))
                .hint("close one that is not needed any more"));
        }
        let id = loop {
            let mut chance = Seeded::new(random(), "party room", 0);
            let id = room::code(&mut chance, ID_LETTERS);
            if !is_used(&site.db().lock(), &id)? {
                break id;
            }
        };
        // Only what can be opened again is kept.
        let room = Room::open(open.clone()).map_err(refuse)?;
        write(&site.db().lock(), &id, 0, &open)?;
        let mut rooms = self.rooms.write().unwrap_or_else(PoisonError::into_inner);
        rooms.retain(|_, live| is_open(live));
        rooms.insert(id.clone(), Arc::new(Live::new(id.clone(), &site.config().address, room)));
        Ok(id)
    }

    /// A room by its id, in capital letters or not.
    pub(crate) fn find(&self, id: &str) -> Result<Arc<Live>, Refusal> {
        let rooms = self.rooms.read().unwrap_or_else(PoisonError::into_inner);
        rooms.get(&id.to_ascii_uppercase()).cloned().ok_or_else(|| {
            Refusal::missing("there is no such room")
                .hint("the code stands on the wall; it may be closed by now")
        })
    }

    fn all(&self) -> Vec<Arc<Live>> {
        self.rooms.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

impl Live {
    fn new(id: String, address: &str, room: Room) -> Self {
        let link = format!("{address}/party/{id}");
        let board = Arc::new(room.board(&link));
        let draft = Mutex::new(room.clone());
        let mut state = State {
            room,
            board,
            deadlines: BTreeMap::new(),
            bots_due: BTreeMap::new(),
            here: BTreeMap::new(),
            for_everybody: 0,
            for_player: BTreeMap::new(),
            for_host: 0,
        };
        // Who was to answer when the server ended gets the whole time again.
        state.set_clocks(now());
        Live {
            id,
            link,
            draft,
            queue: Mutex::default(),
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out what `wanted` makes of the room as it is then: all of it, or nothing. It is in the file before this returns.
    pub(crate) fn act(
        &self,
        db: &Db,
        now: u64,
        wanted: impl FnOnce(&Room) -> Result<Vec<Input>, Refusal> + Send + 'static,
    ) -> Result<(), Refusal> {
        let done = Arc::new(OnceLock::new());
        let job = Job { wanted: Box::new(wanted), done: done.clone() };
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push(job);
        let mut draft = self.draft.lock().unwrap_or_else(PoisonError::into_inner);
        if done.get().is_none() {
            self.work_off(&mut draft, db, now);
        }
        drop(draft);
        done.get().cloned().unwrap_or_else(|| Err(Refusal::internal("nobody has carried out a job")))
    }

    /// Carries out all that waits.
    fn work_off(&self, draft: &mut Room, db: &Db, now: u64) {
        let jobs = std::mem::take(&mut *self.queue.lock().unwrap_or_else(PoisonError::into_inner));
        // After a panic the draft may be ahead of the file.
        if draft.next() != self.lock().room.next() {
            *draft = self.lock().room.clone();
        }
        let first = draft.next();
        let mut taken = Vec::new();
        let mut answers = Vec::new();
        for Job { wanted, done } in jobs {
            answers.push((done, self.try_on(draft, &mut taken, wanted)));
        }
        let kept = keep(db, &self.id, first, &taken).and_then(|()| self.publish(taken, now));
        if kept.is_err() {
            *draft = self.lock().room.clone();
        }
        for (done, answer) in answers {
            // Each is answered once.
            let _ = done.set(answer.and(kept.clone()));
        }
    }

    /// Has the draft take what is wanted; `taken` are the inputs that it has taken since it was like the room.
    fn try_on(
        &self,
        draft: &mut Room,
        taken: &mut Vec<Input>,
        wanted: impl FnOnce(&Room) -> Result<Vec<Input>, Refusal>,
    ) -> Result<(), Refusal> {
        let inputs = wanted(draft)?;
        for (place, input) in inputs.iter().enumerate() {
            if let Err(why) = draft.apply(input.clone()) {
                // What is refused has changed nothing, but what came before it in the same breath has.
                if place > 0 {
                    *draft = self.lock().room.clone();
                    taken
                        .iter()
                        .try_for_each(|input| draft.apply(input.clone()).map(drop))
                        .map_err(refuse)?;
                }
                return Err(refuse(why));
            }
        }
        taken.extend(inputs);
        Ok(())
    }

    /// Shows what is in the file by now.
    fn publish(&self, inputs: Vec<Input>, now: u64) -> Result<(), Refusal> {
        if inputs.is_empty() {
            return Ok(());
        }
        let mut state = self.lock();
        state.take(inputs)?;
        state.set_clocks(now);
        let board = state.room.board(&self.link);
        if *state.board != board {
            state.board = Arc::new(board);
        }
        drop(state);
        self.tell();
        Ok(())
    }

    /// Has everybody look again.
    fn tell(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// What a viewer sees now.
    pub(crate) fn look(&self, viewer: Viewer) -> PartyView {
        self.lock().look(viewer)
    }

    /// What a viewer sees, whenever it changes.
    pub(crate) fn follow(
        self: &Arc<Self>,
        site: &Site,
        viewer: Viewer,
    ) -> Result<axum::response::Response, Refusal> {
        let mut presence = Presence { live: self.clone(), of: None };
        let live = self.clone();
        let mut last: Option<(Stamp, Arc<str>)> = None;
        let mut shown: Option<Arc<Board>> = None;
        stream::live(site, self.changes.subscribe(), move || {
            let state = live.lock();
            let stamp = state.stamp(viewer);
            if let Some((of, json)) = &last
                && *of == stamp
            {
                return Some(json.clone());
            }
            let mut seen = state.look(viewer);
            drop(state);
            presence.player(seen.seat.as_ref().map(|seat| seat.number));
            if let (Some(before), Some(board)) = (&shown, &seen.board)
                && Arc::ptr_eq(before, board)
            {
                seen.board = None;
            } else {
                shown = seen.board.clone();
            }
            let json = stream::to_json(&seen);
            last = Some((stamp, json.clone()));
            Some(json)
        })
    }
}

/// What a page was made of: the same stamp, the same page.
type Stamp = (u64, u64, u64, Option<Number>);

impl State {
    /// Takes inputs that the draft has taken, and that are in the file.
    fn take(&mut self, inputs: Vec<Input>) -> Result<(), Refusal> {
        for input in inputs {
            // The draft was the same room, so this one takes it, too.
            match self.room.apply(input).map_err(Refusal::internal)? {
                Touched::Everybody => self.for_everybody += 1,
                Touched::Players(players) => {
                    players.iter().for_each(|player| *self.for_player.entry(*player).or_default() += 1);
                }
            }
            self.for_host += 1;
        }
        Ok(())
    }

    /// Gives a time to what has begun to wait, and forgets that of what waits no more.
    fn set_clocks(&mut self, now: u64) {
        let limit = u64::from(self.room.limit) * 1000;
        let open = self.room.open_contacts();
        self.deadlines = open
            .map(|contact| {
                (contact, self.deadlines.get(&contact).copied().unwrap_or(now.saturating_add(limit)))
            })
            .collect();
    }

    fn player_of(&self, viewer: Viewer) -> Option<Number> {
        Some(self.room.holder_of(&viewer.key?.to_text())?.number)
    }

    fn stamp(&self, viewer: Viewer) -> Stamp {
        let player = self.player_of(viewer);
        let of_player = player.and_then(|player| self.for_player.get(&player)).copied().unwrap_or_default();
        let of_host = if viewer.host { self.for_host } else { 0 };
        (self.for_everybody, of_player, of_host, player)
    }

    fn look(&self, viewer: Viewer) -> PartyView {
        let deadline = |contact: u32| {
            let times = self.deadlines.range((contact, false)..=(contact, true));
            times.map(|(_, time)| *time).next_back().unwrap_or_default()
        };
        let seat = self.player_of(viewer).and_then(|player| self.room.seat_view(player, deadline));
        let connected = |player: Number| self.here.get(&player).is_some_and(|count| *count > 0);
        PartyView {
            board: Some(self.board.clone()),
            ended: self.room.ended(),
            seat,
            host: viewer.host.then(|| self.room.host_view(connected)),
        }
    }
}

/// A page that is open: the host sees whose phone is there.
struct Presence {
    live: Arc<Live>,
    of: Option<Number>,
}

impl Presence {
    /// Whose page it is.
    fn player(&mut self, of: Option<Number>) {
        if of == self.of {
            return;
        }
        let before = std::mem::replace(&mut self.of, of);
        let mut state = self.live.lock();
        if let Some(count) = before.and_then(|player| state.here.get_mut(&player)) {
            *count = count.saturating_sub(1);
        }
        if let Some(player) = of {
            *state.here.entry(player).or_default() += 1;
        }
        state.for_host += 1;
        drop(state);
        self.live.tell();
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.player(None);
    }
}

/// Looks at clocks and bots until the server ends.
pub(crate) async fn keep_time(site: Site) {
    let mut closing = site.closing();
    loop {
        tokio::select! {
            () = tokio::time::sleep(TICK) => {}
            _ = closing.wait_for(|closing| *closing) => return,
        }
        let site = site.clone();
        // The file may make us wait, and requests should not wait with us.
        if tokio::task::spawn_blocking(move || tick(&site, now())).await.is_err() {
            complain!("error: the clock of a party has panicked");
        }
    }
}

/// What is due at a time (milliseconds since 1970): expires what waits for too long, and lets bots act.
pub fn tick(site: &Site, now: u64) {
    for live in site.parties().all() {
        let due = live.lock().due(now, site.config().bot_pace);
        for contact in due.expired {
            // It may just have been answered.
            let _ = live.act(site.db(), now, move |_| Ok(vec![Input::Expire { contact }]));
        }
        for player in due.bots {
            let done = live.act(site.db(), now, move |room| Ok(bots::inputs(room, player)));
            if let Err(refusal) = done {
                complain!("error: the bot of player {player} in room {}: {refusal:?}", live.id);
            }
        }
    }
}

struct Due {
    expired: Vec<u32>,
    bots: Vec<Number>,
}

impl State {
    fn due(&mut self, now: u64, pace: Duration) -> Due {
        let over = self.deadlines.iter().filter(|(_, time)| **time <= now);
        let expired = over.map(|((contact, _), _)| *contact).collect();
        let acting = bots::to_act(&self.room);
        self.bots_due.retain(|player, _| acting.contains(player));
        let pace = u32::try_from(pace.as_millis()).unwrap_or(u32::MAX);
        let mut chance = self.room.chance("party pace", self.room.next().into());
        let mut due = Vec::new();
        for player in acting {
            // Half as long to one and a half times as long, whatever there is to decide.
            let mut wait = || u64::from(pace / 2) + u64::from(chance.uniform(pace.saturating_add(1)));
            let time =
                *self.bots_due.entry(player).or_insert_with(|| now + if pace == 0 { 0 } else { wait() });
            if time <= now {
                self.bots_due.remove(&player);
                due.push(player);
            }
        }
        Due { expired, bots: due }
    }
}

fn random() -> u64 {
    // Without randomness from the system no room is safe.
    getrandom::u64().expect("the system gives random bytes")
}

/// Writes inputs to the file, the first with this number: all of them, or none.
fn keep(db: &Db, id: &str, first: u32, inputs: &[Input]) -> Result<(), Refusal> {
    if inputs.is_empty() {
        return Ok(());
    }
    let mut connection = db.lock();
    let transaction = connection.transaction()?;
    for (number, input) in (first..).zip(inputs) {
        write(&transaction, id, number, input)?;
    }
    transaction.commit()?;
    Ok(())
}

/// How a refusal of the room is told over the wire.
fn refuse(why: Refused) -> Refusal {
    match why {
        Refused::NoSuchPlayer => Refusal::missing(why.to_string()),
        Refused::Ticket => Refusal::forbidden(why.to_string()).hint("ask the host for a new one"),
        Refused::Name(_) | Refused::Bot(_) | Refused::Viruses { .. } | Refused::Itself => {
            Refusal::bad(why.to_string())
        }
        Refused::Full => Refusal::full(why.to_string()),
        _ => Refusal::conflict(why.to_string()),
    }
}

fn write(connection: &Connection, room: &str, number: u32, input: &Input) -> Result<(), Refusal> {
    let text = serde_json::to_string(input).map_err(Refusal::internal)?;
    let mut insert = connection.prepare_cached("INSERT INTO party_input VALUES (?1, ?2, ?3)")?;
    insert.execute(params![room, number, text])?;
    Ok(())
}

fn is_used(connection: &Connection, room: &str) -> rusqlite::Result<bool> {
    connection
        .query_row("SELECT EXISTS (SELECT 1 FROM party_input WHERE room = ?1)", [room], |row| row.get(0))
}

/// Makes a room again from the file.
fn read(connection: &Connection, room: &str) -> rusqlite::Result<Result<Room, Refused>> {
    let mut query = connection.prepare("SELECT input FROM party_input WHERE room = ?1 ORDER BY number")?;
    let rows = query.query_map([room], |row| row.get::<_, String>(0))?;
    let mut inputs = Vec::new();
    for row in rows {
        match serde_json::from_str(&row?) {
            Ok(input) => inputs.push(input),
            Err(_) => return Ok(Err(Refused::Open)),
        }
    }
    Ok(Room::rebuild(inputs))
}
