//! Parties: Infection with phones. The file keeps a room as the list of its inputs. The room itself (`room`, `game`) is pure;
//! clocks, bots and connections are handled here.

mod bots;
pub mod doors;
mod game;
mod refused;
pub mod room;
mod routes;
mod story;
pub mod view;

pub use refused::Refused;
pub(crate) use routes::routes;
pub use routes::{HostOrder, JoinRoom, Joined, OpenRoom, Opened, RoomSummary, SeatAction, SeatOffer};

use crate::{
    Config, Db, Limits, Refusal, Site,
    guard::Visitors,
    keys::KeyHash,
    live::{Live, Open, Thing, now},
    places::{Crowded, Origin, share},
    stream,
};
use doors::Doors;
use necrodome_arena::dice::random_seed;
use necrodome_rules::{
    chance::{Chance, Seed, Seeded},
    infection::Party,
};
use room::{Holder, Input, Number, Room, Touched};
use rusqlite::{Connection, params};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};
use view::{Board, PartyView};

const TABLES: &str = "
-- What came into the rooms of parties, in order: a room is what its inputs make of it.
CREATE TABLE IF NOT EXISTS party_input (
    room TEXT NOT NULL, number INTEGER NOT NULL, input TEXT NOT NULL, PRIMARY KEY (room, number)
) WITHOUT ROWID;
";

/// How often clocks and bots are checked.
const TICK: Duration = Duration::from_millis(200);
/// How often one address may join a room in the long run. Everybody behind it may come at once, even twice; this slows down those who
/// join and leave again and again.
const JOINS_A_MINUTE: u32 = 30;
/// How many letters the id of a room has: enough that nobody can try them all.
const ID_LETTERS: usize = 5;

/// All rooms.
pub(crate) struct Parties {
    rooms: Open<String, Live<LiveRoom>>,
    config: Arc<Config>,
}

/// A room, with the parts that the file does not keep.
pub(crate) struct LiveRoom {
    room: Room,
    id: String,
    config: Arc<Config>,
    link: String,
    board: Arc<Board>,
    /// The deadline of each open proposal and each open contact, by [`now`].
    deadlines: BTreeMap<(u32, bool), u64>,
    /// The game and turn that are going on, and when that turn ends, if there is a limit.
    turn_ends: Option<((u32, u32), u64)>,
    /// When each bot with something to decide will act.
    bots_due: BTreeMap<Number, u64>,
    /// The address that each player joined from, by the hash of the key of their seat, since the server started.
    came_from: BTreeMap<String, Origin>,
    /// How often each address may join.
    joins: Visitors,
    /// How many pages of each player are open.
    here: BTreeMap<Number, usize>,
    /// Counts the changes that can affect everybody's pages, those of one player, and those of the host.
    for_everybody: u64,
    for_player: BTreeMap<Number, u64>,
    for_host: u64,
    /// Counts how often pages are opened and closed.
    comings: u64,
}

/// Somebody who looks at a room.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Viewer {
    /// The hash of the seat's key that they have shown.
    pub key: Option<KeyHash>,
    /// Whether to show them the host's desk.
    pub host: bool,
    /// Whether this is a wall, which shows who is away.
    pub wall: bool,
}

impl Parties {
    /// Rebuilds all rooms that were open.
    pub(crate) fn open(db: &Db, config: &Config) -> rusqlite::Result<Self> {
        let connection = db.lock();
        connection.execute_batch(TABLES)?;
        let closed = serde_json::to_string(&Input::Close).unwrap_or_default();
        let mut query = connection.prepare(
            "SELECT DISTINCT room FROM party_input WHERE room NOT IN (SELECT room FROM party_input WHERE input = ?1)",
        )?;
        let ids: Vec<String> = query.query_map([closed], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let parties = Parties { rooms: Open::default(), config: Arc::new(config.clone()) };
        for id in ids {
            match read(&connection, &id)? {
                Ok(room) => drop(parties.add(db, id, room)),
                Err(why) => complain!("error: the room {id} cannot be opened again: {why}"),
            }
        }
        Ok(parties)
    }

    fn add(&self, db: &Db, id: String, room: Room) -> Arc<Live<LiveRoom>> {
        let live = LiveRoom::new(id.clone(), self.config.clone(), room);
        self.rooms.add(id.clone(), Arc::new(Live::new(id, db, live)))
    }

    /// Opens a room.
    pub(crate) fn create(&self, site: &Site, open: Input) -> Result<String, Refusal> {
        let _alone = self.rooms.alone();
        let is_open = |live: &Live<LiveRoom>| !live.lock().room.is_closed();
        if self.rooms.all().iter().filter(|live| is_open(live)).count() >= site.limits().rooms {
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
        self.rooms.retain(is_open);
        self.add(site.db(), id.clone(), room);
        Ok(id)
    }

    /// Returns the room with this id, in upper or lower case.
    pub(crate) fn find(&self, id: &str) -> Result<Arc<Live<LiveRoom>>, Refusal> {
        self.rooms.find(&id.to_ascii_uppercase()).ok_or_else(|| {
            Refusal::missing("there is no such room")
                .hint("the code stands on the wall; it may be closed by now")
        })
    }
}

impl Thing for LiveRoom {
    type Id = String;
    type State = Room;
    type Input = Input;

    fn state(&self) -> &Room {
        &self.room
    }

    fn apply(room: &mut Room, input: &Input) -> Result<(), Refusal> {
        room.apply(input.clone()).map(drop).map_err(refuse)
    }

    fn write(db: &Db, id: &String, inputs: &[Input], room: &Room) -> Result<(), Refusal> {
        let mut connection = db.lock();
        let transaction = connection.transaction()?;
        for (number, input) in (room.next() - inputs.len() as u32..).zip(inputs) {
            write(&transaction, id, number, input)?;
        }
        Ok(transaction.commit()?)
    }

    fn take(&mut self, input: Input) -> Result<(), Refusal> {
        match self.room.apply(input).map_err(Refusal::internal)? {
            Touched::Everybody => self.for_everybody += 1,
            Touched::Players(players) => {
                players.iter().for_each(|player| *self.for_player.entry(*player).or_default() += 1);
            }
        }
        self.for_host += 1;
        Ok(())
    }

    fn taken(&mut self, now: u64) {
        self.set_clocks(now);
        self.set_link();
        let board = self.room.board(&self.link);
        if *self.board != board {
            self.board = Arc::new(board);
        }
    }
}

/// Sends a viewer their page whenever it changes.
fn follow(
    live: &Arc<Live<LiveRoom>>,
    site: &Site,
    origin: Origin,
    viewer: Viewer,
) -> Result<axum::response::Response, Refusal> {
    let mut presence = Presence { live: live.clone(), of: None };
    let mut last: Option<(Stamp, Arc<str>)> = None;
    let mut shown: Option<Arc<Board>> = None;
    live.follow(site, origin, move |live| {
        let room = live.lock();
        let stamp = room.stamp(viewer);
        if let Some((of, json)) = &last
            && *of == stamp
        {
            return Some(json.clone());
        }
        let mut seen = room.look(viewer);
        drop(room);
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

/// Identifies the contents of a page: the same stamp means the same page.
type Stamp = (u64, u64, u64, Option<Number>);

impl LiveRoom {
    fn new(id: String, config: Arc<Config>, room: Room) -> Self {
        let board = Arc::new(room.board(""));
        let address_share = config.limits.address_share;
        let mut live = LiveRoom {
            room,
            id,
            config,
            link: String::new(),
            board,
            turn_ends: None,
            deadlines: BTreeMap::new(),
            bots_due: BTreeMap::new(),
            came_from: BTreeMap::new(),
            joins: Visitors::per_minute(JOINS_A_MINUTE, 2 * share(Party::MAX_PLAYERS, address_share)),
            here: BTreeMap::new(),
            for_everybody: 0,
            for_player: BTreeMap::new(),
            for_host: 0,
            comings: 0,
        };
        // Who was to answer when the server ended gets the whole time again.
        live.taken(now());
        live
    }

    /// Sets the link in the codes: to the address that the host has chosen, as long as it leads to this server.
    fn set_link(&mut self) {
        let chosen = self.room.address.as_ref().filter(|chosen| Doors::of(&self.config).lead_to(chosen));
        let address = chosen.unwrap_or(&self.config.address);
        self.link = format!("{address}/party/{}", self.id);
    }

    /// Sets the deadlines of new proposals, contacts and turns, and drops those of the ones that are gone.
    fn set_clocks(&mut self, now: u64) {
        let turn_limit = u64::from(self.room.turn_limit) * 1000;
        self.turn_ends = self.room.turn_now().filter(|_| turn_limit > 0).map(|turn| match self.turn_ends {
            Some((of, time)) if of == turn => (of, time),
            _ => (turn, now.saturating_add(turn_limit)),
        });
        let limit = u64::from(self.room.limit) * 1000;
        let open = self.room.open_contacts();
        self.deadlines = open
            .map(|contact| {
                (contact, self.deadlines.get(&contact).copied().unwrap_or(now.saturating_add(limit)))
            })
            .collect();
    }

    /// Notes the address of a phone that is about to get a seat with this key. `room` is the state that it joins.
    fn note_origin(&mut self, room: &Room, key: &str, origin: Origin) {
        // Whoever was refused or has left is forgotten.
        let held: BTreeSet<&str> = room.keys().collect();
        self.came_from.retain(|key, _| held.contains(key.as_str()));
        self.came_from.insert(key.to_owned(), origin);
    }

    /// Refuses an address that already has its share of the seats, or that joins too often. `room` is the state that it wants to join.
    fn check_crowd(&self, room: &Room, origin: Origin, limits: &Limits) -> Result<(), Refusal> {
        let seated = room.keys().filter(|&key| self.came_from.get(key) == Some(&origin)).count();
        if seated >= share(Party::MAX_PLAYERS, limits.address_share) {
            return Err(Crowded::Here.refuse("players"));
        }
        match self.joins.may_ask(origin) {
            true => Ok(()),
            false => Err(Refusal::too_often("this address joins too often").hint("wait a few seconds")),
        }
    }

    fn player_of(&self, viewer: Viewer) -> Option<Number> {
        Some(self.room.holder_of(&viewer.key?.to_text())?.number)
    }

    fn stamp(&self, viewer: Viewer) -> Stamp {
        let player = self.player_of(viewer);
        let of_player = player.and_then(|player| self.for_player.get(&player)).copied().unwrap_or_default();
        let of_host = match viewer {
            Viewer { host: true, .. } => self.for_host,
            Viewer { wall: true, .. } => self.comings,
            _ => 0,
        };
        (self.for_everybody, of_player, of_host, player)
    }

    fn look(&self, viewer: Viewer) -> PartyView {
        let deadline = |contact: u32| {
            let times = self.deadlines.range((contact, false)..=(contact, true));
            times.map(|(_, time)| *time).next_back().unwrap_or_default()
        };
        let seat = self.player_of(viewer).and_then(|player| self.room.seat_view(player, deadline));
        let connected = |player: Number| self.here.get(&player).is_some_and(|count| *count > 0);
        let persons = self.room.members().iter().filter(|member| matches!(member.holder, Holder::Person(_)));
        let away = persons.map(|member| member.number).filter(|&player| !connected(player));
        PartyView {
            board: Some(self.board.clone()),
            ended: self.room.ended(),
            turn_deadline: self.turn_ends.map(|(_, time)| time),
            away: if viewer.host || viewer.wall { away.collect() } else { Vec::new() },
            seat,
            host: viewer.host.then(|| self.room.host_view(connected, Doors::of(&self.config))),
        }
    }
}

/// An open page, so that the host sees whose phone is connected.
struct Presence {
    live: Arc<Live<LiveRoom>>,
    of: Option<Number>,
}

impl Presence {
    /// Sets the player to whom the page belongs.
    fn player(&mut self, of: Option<Number>) {
        if of == self.of {
            return;
        }
        let before = std::mem::replace(&mut self.of, of);
        self.live.update(|room| {
            if let Some(count) = before.and_then(|player| room.here.get_mut(&player)) {
                *count = count.saturating_sub(1);
            }
            if let Some(player) = of {
                *room.here.entry(player).or_default() += 1;
            }
            room.for_host += 1;
            room.comings += 1;
        });
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.player(None);
    }
}

/// Checks clocks and bots until the server ends.
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

/// Does what is due at a time (milliseconds since 1970, by the server's clock): lets what has waited too long expire, and lets bots act.
pub fn tick(site: &Site, now: u64) {
    for live in site.parties().rooms.all() {
        let due = live.lock().due(now, site.config().bot_pace);
        for contact in due.expired {
            let expired = live.act(now, move |_| Ok(vec![Input::Expire { contact }]));
            // It may just have been answered.
            if let Err(refusal) = expired.or_else(Refusal::unless_ours) {
                complain!("error: a contact in room {}: {refusal}", live.id);
            }
        }
        if let Some(turn) = due.turn {
            let ended = live.act(now, move |_| Ok(vec![Input::EndTurn { turn }]));
            // The last guest may just have ended it.
            if let Err(refusal) = ended.or_else(Refusal::unless_ours) {
                complain!("error: the turn in room {}: {refusal}", live.id);
            }
        }
        for player in due.bots {
            let done = live.act(now, move |room| Ok(bots::inputs(room, player)));
            if let Err(refusal) = done {
                complain!("error: the bot of player {player} in room {}: {refusal}", live.id);
            }
        }
    }
}

struct Due {
    expired: Vec<u32>,
    /// The turn whose time is up.
    turn: Option<u32>,
    bots: Vec<Number>,
}

impl LiveRoom {
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
        let turn = self.turn_ends.filter(|(_, time)| *time <= now).map(|((_, turn), _)| turn);
        Due { expired, turn, bots: due }
    }
}

fn random() -> Seed {
    // Without randomness from the system no room is safe.
    random_seed().expect("the system gives random bytes")
}

/// Turns a refusal of the room into one for the network.
fn refuse(why: Refused) -> Refusal {
    match why {
        Refused::NoSuchPlayer => Refusal::missing(why),
        Refused::Ticket => Refusal::forbidden(why).hint("ask the host for a new one"),
        Refused::Name(_) | Refused::Bot(_) | Refused::NoVirus | Refused::Itself => Refusal::bad(why),
        Refused::Full => Refusal::full(why),
        _ => Refusal::conflict(why),
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

/// Rebuilds a room from the file.
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
