//! A room as a pure state machine: what comes in changes it or is refused, and the same inputs give the same room.
//!
//! Time and randomness come in as inputs: the seed when it is opened, what has expired, what bots do. So a room is kept as the list of
//! its inputs, and is made again by applying them again.

use super::{bots, game::Game, refused::Refused, view::NewsKind};
use necrodome_rules::{
    chance::{Chance, Seed, Seeded},
    game::Seat,
    infection::{Commitment, InfectionRules, Party},
    names::Names,
    options::Bounded,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A player of a room, counted from 0 as they joined. It stays the same whoever comes and goes.
pub type Number = u32;

/// The most who may come and go before the game starts.
pub(super) const MAX_JOINS: Number = 4 * Party::MAX_PLAYERS as Number;

/// What comes into a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Input {
    /// The room is opened. `limit`: seconds to answer a proposal, and to commit; `turn_limit`: seconds of a turn, or 0; `suited`: how
    /// many zombies and turns there are follows from how many play.
    Open {
        rules: InfectionRules,
        limit: u32,
        #[serde(default)]
        turn_limit: u32,
        #[serde(default)]
        suited: bool,
        seed: Seed,
    },
    /// The host chooses the address that codes carry.
    Address { address: String },
    /// The host chooses what becomes of those who come during the game.
    Latecomers { are: Latecomers },
    /// Somebody joins; `key` is the hash of the key of their seat.
    Join { name: String, key: String },
    /// The host adds a bot.
    AddBot { name: String, bot: String },
    /// Somebody leaves before the start, or is sent away.
    Leave { player: Number },
    /// The zombies are drawn, and the game starts.
    Start,
    /// Somebody wants to meet somebody. The contact is known by the number of this input.
    Propose { from: Number, to: Number },
    /// The other confirms.
    Accept { contact: u32 },
    /// The other does not want to.
    Decline { contact: u32 },
    /// Who proposed it has changed their mind.
    Withdraw { contact: u32 },
    /// One side commits, in secret.
    Commit { contact: u32, player: Number, commit: Commitment },
    /// The time is over.
    Expire { contact: u32 },
    /// Somebody takes the antidote.
    Antidote { player: Number },
    /// Somebody ends their turn.
    End { player: Number },
    /// The host ends the turn of one player.
    EndFor { player: Number },
    /// The host ends the turn of everybody.
    EndTurn { turn: u32 },
    /// The host removes a player during the game.
    Remove { player: Number },
    /// The host lets a bot play for somebody.
    Replace { player: Number, bot: String },
    /// The host offers a seat to a new phone; `ticket` is the hash of what it has to show.
    Offer { player: Number, ticket: String },
    /// A new phone takes a seat that was offered.
    Take { ticket: String, key: String },
    /// The host undoes the last contact.
    Undo { contact: u32, players: [Number; 2] },
    /// The game is over, and the same guests play another one.
    Rematch,
    /// The host closes the room.
    Close,
}

/// What those are who come during the game. They take part from the next turn on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Latecomers {
    /// Humans.
    #[default]
    Humans,
    /// Zombies.
    Zombies,
    /// They wait for the next game.
    Wait,
}

impl Input {
    /// Whether it is a part of a contact.
    fn is_of(&self, number: u32, of: u32) -> bool {
        match self {
            Input::Propose { .. } => number == of,
            Input::Accept { contact }
            | Input::Decline { contact }
            | Input::Withdraw { contact }
            | Input::Commit { contact, .. }
            | Input::Expire { contact } => *contact == of,
            _ => false,
        }
    }
}

/// Whose page an input can change, beside the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touched {
    /// Everybody's.
    Everybody,
    /// Those of two players (or twice the same).
    Players([Number; 2]),
}

/// Who plays for a seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// Somebody with a phone, who has shown the key with this hash.
    Person(String),
    /// A built-in bot.
    Bot(String),
    /// Nobody: the player was removed.
    Nobody,
}

/// A player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Their number in this room.
    pub number: Number,
    /// Their name.
    pub name: String,
    /// Who plays for them.
    pub holder: Holder,
    /// The hash of the ticket that a new phone can take the seat with.
    ticket: Option<String>,
    /// What others scan to meet them.
    pub code: String,
}

/// A room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    rules: InfectionRules,
    pub(super) limit: u32,
    pub(super) turn_limit: u32,
    pub(super) suited: bool,
    seed: Seed,
    /// The address that codes carry, if the host has chosen one.
    pub(super) address: Option<String>,
    pub(super) latecomers: Latecomers,
    /// Games before this one.
    games: u32,
    /// What has come in and was not undone, with its number.
    record: Vec<(u32, Input)>,
    /// The number of the next input.
    next: u32,
    closed: bool,
    joins: Number,
    pub(super) members: Vec<Member>,
    /// Those who have come during the game and do not play yet.
    pub(super) late: Vec<Member>,
    pub(super) game: Option<Game>,
}

impl Room {
    /// Opens a room with its first input.
    pub fn open(input: Input) -> Result<Self, Refused> {
        let Input::Open { rules, limit, turn_limit, suited, seed } = input else { return Err(Refused::Open) };
        Ok(Room {
            rules,
            limit,
            turn_limit,
            suited,
            seed,
            address: None,
            latecomers: Latecomers::default(),
            games: 0,
            record: vec![(0, input)],
            next: 1,
            closed: false,
            joins: 0,
            members: Vec::new(),
            late: Vec::new(),
            game: None,
        })
    }

    /// Makes a room again from all its inputs.
    pub fn rebuild(inputs: impl IntoIterator<Item = Input>) -> Result<Self, Refused> {
        let mut inputs = inputs.into_iter();
        let mut room = Room::open(inputs.next().ok_or(Refused::Open)?)?;
        for input in inputs {
            room.apply(input)?;
        }
        Ok(room)
    }

    /// Takes an input. When it is refused, nothing has changed.
    pub fn apply(&mut self, input: Input) -> Result<Touched, Refused> {
        let number = self.next;
        let touched = match input {
            Input::Undo { contact, players } => self.undo(contact, players)?,
            _ => self.carry_out(number, &input)?,
        };
        self.record.push((number, input));
        self.next = number + 1;
        Ok(touched)
    }

    /// The number of the next input: how many have come in.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Whether it is closed for good.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The game as a script for the judge, as far as it has come.
    pub fn script(&self) -> String {
        self.game.as_ref().map(|game| game.script().to_string()).unwrap_or_default()
    }

    /// All players by their seats.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The rules of the game, or before it those that it would have now.
    pub fn rules(&self) -> InfectionRules {
        match &self.game {
            Some(game) => *game.party().rules(),
            None if self.suited => suited(&self.rules, self.members.len()),
            None => self.rules,
        }
    }

    /// The number of the game in this room, from 0, and of its turn, while it goes on.
    pub fn turn_now(&self) -> Option<(u32, u32)> {
        let party = self.party().filter(|party| party.ending().is_none())?;
        Some((self.games, party.turns() + 1))
    }

    /// The state of the game, once it has started.
    pub fn party(&self) -> Option<&Party> {
        self.game.as_ref().map(Game::party)
    }

    /// The player whose phone shows the key with this hash.
    pub fn holder_of(&self, key: &str) -> Option<&Member> {
        let all = self.members.iter().chain(&self.late);
        all.into_iter().find(|member| matches!(&member.holder, Holder::Person(own) if own == key))
    }

    /// The player with this code.
    pub fn with_code(&self, code: &str) -> Option<Number> {
        let mut all = self.members.iter().chain(&self.late);
        let found = all.find(|member| member.code.eq_ignore_ascii_case(code));
        found.map(|member| member.number)
    }

    /// Randomness that nobody else uses for the same purpose.
    pub(super) fn chance(&self, purpose: &str, index: u64) -> Seeded {
        Seeded::new(self.seed, purpose, index)
    }

    fn carry_out(&mut self, number: u32, input: &Input) -> Result<Touched, Refused> {
        if self.closed {
            return Err(Refused::Closed);
        }
        let turn = self.turn_now();
        let touched = self.carry_out_in_turn(number, input)?;
        if turn != self.turn_now() && turn.is_some() {
            self.admit();
        }
        Ok(touched)
    }

    fn carry_out_in_turn(&mut self, number: u32, input: &Input) -> Result<Touched, Refused> {
        match input {
            Input::Open { .. } => return Err(Refused::Open),
            Input::Join { name, key } => self.join(name, Holder::Person(key.clone()))?,
            Input::AddBot { name, bot } => {
                bots::check(bot)?;
                self.join(name, Holder::Bot(bot.clone()))?;
            }
            Input::Leave { player } if self.late.iter().any(|late| late.number == *player) => {
                self.late.retain(|late| late.number != *player);
            }
            Input::Leave { player } => {
                let seat = self.lobby().and_then(|()| self.seat(*player))?;
                self.members.remove(seat.index());
            }
            Input::Start => self.start()?,
            Input::Antidote { player } => {
                let seat = self.seat(*player)?;
                self.playing()?.antidote(seat)?;
                return Ok(Touched::Players([*player; 2]));
            }
            Input::End { player } | Input::EndFor { player } => {
                let seat = self.seat(*player)?;
                self.playing()?.end(seat, matches!(input, Input::EndFor { .. }))?;
            }
            Input::EndTurn { turn } => self.playing()?.end_turn(*turn)?,
            Input::Remove { player } => self.remove(*player)?,
            Input::Replace { player, bot } => self.replace(*player, bot)?,
            Input::Offer { player, ticket } => {
                let seat = self.seat(*player)?;
                self.members[seat.index()].ticket = Some(ticket.clone());
            }
            Input::Take { ticket, key } => self.take(ticket, key)?,
            Input::Undo { players, .. } => {
                // Its effect is in the record already: what it undid is not there. The two are told.
                let [one, other] = [self.seat(players[0])?, self.seat(players[1])?];
                let game = self.playing()?;
                game.note(one, NewsKind::Undone, other);
                game.note(other, NewsKind::Undone, one);
                return Ok(Touched::Players(*players));
            }
            Input::Address { address } => self.address = Some(address.clone()),
            Input::Latecomers { are } => self.latecomers = *are,
            Input::Rematch => self.rematch()?,
            Input::Close => self.closed = true,
            _ => return self.carry_out_contact(number, input),
        }
        Ok(Touched::Everybody)
    }

    fn carry_out_contact(&mut self, number: u32, input: &Input) -> Result<Touched, Refused> {
        let seats = match input {
            Input::Propose { from, to } => [self.seat(*from)?, self.seat(*to)?],
            Input::Commit { player, .. } => [self.seat(*player)?; 2],
            _ => [Seat(0); 2],
        };
        let game = self.playing()?;
        let id = match input {
            Input::Accept { contact }
            | Input::Decline { contact }
            | Input::Withdraw { contact }
            | Input::Commit { contact, .. }
            | Input::Expire { contact } => *contact,
            _ => number,
        };
        let pair = if id == number { seats } else { game.contact(id)?.seats };
        match input {
            Input::Propose { .. } => game.propose(id, seats[0], seats[1])?,
            Input::Accept { .. } => game.accept(id)?,
            Input::Decline { .. } => game.decline(id)?,
            Input::Withdraw { .. } => game.withdraw(id)?,
            Input::Commit { commit, .. } => game.commit(id, seats[0], *commit)?,
            _ => game.expire(id)?,
        }
        Ok(Touched::Players(pair.map(|seat| self.members[seat.index()].number)))
    }

    fn lobby(&self) -> Result<(), Refused> {
        if self.game.is_some() { Err(Refused::Started) } else { Ok(()) }
    }

    fn playing(&mut self) -> Result<&mut Game, Refused> {
        self.game.as_mut().ok_or(Refused::NotStarted)
    }

    /// Whether somebody is here, if only for the next turn.
    pub(super) fn has(&self, player: Number) -> bool {
        self.members.iter().chain(&self.late).any(|member| member.number == player)
    }

    /// The seat of a player.
    pub(super) fn seat(&self, player: Number) -> Result<Seat, Refused> {
        let place = self.members.iter().position(|member| member.number == player);
        place.map(|place| Seat(place as u16)).ok_or(Refused::NoSuchPlayer)
    }

    fn join(&mut self, name: &str, holder: Holder) -> Result<(), Refused> {
        if self.members.len() + self.late.len() == Party::MAX_PLAYERS || self.joins == MAX_JOINS {
            return Err(Refused::Full);
        }
        if name.contains('"') {
            return Err(Refused::Name(format!("expected a name without quotes, got {name:?}")));
        }
        let names = self.members.iter().chain(&self.late).map(|member| member.name.as_str());
        Names::new(names.chain([name])).map_err(|error| Refused::Name(error.to_string()))?;
        let number = self.joins;
        let code = self.new_code();
        self.joins += 1;
        let member = Member { number, name: name.to_owned(), holder, ticket: None, code };
        match self.game {
            None => self.members.push(member),
            Some(_) => self.late.push(member),
        }
        Ok(())
    }

    /// A turn is over: those who have come late play from now on, as the host says.
    fn admit(&mut self) {
        let zombies = self.latecomers == Latecomers::Zombies;
        let Some(game) = self.game.as_mut().filter(|game| game.party().ending().is_none()) else { return };
        if self.latecomers == Latecomers::Wait {
            return;
        }
        for member in std::mem::take(&mut self.late) {
            // A name that this book does not take keeps its owner waiting; those of the room are all different.
            match game.join(&member.name, zombies) {
                true => self.members.push(member),
                false => self.late.push(member),
            }
        }
    }

    /// Another game of all who are still there, with zombies drawn anew.
    fn rematch(&mut self) -> Result<(), Refused> {
        if self.party().ok_or(Refused::NotStarted)?.ending().is_none() {
            return Err(Refused::NotOver);
        }
        let mut next = self.clone();
        next.members.retain(|member| member.holder != Holder::Nobody);
        next.members.append(&mut next.late);
        (next.game, next.games) = (None, self.games + 1);
        next.start()?;
        *self = next;
        Ok(())
    }

    /// A code that nobody in this room has.
    fn new_code(&self) -> String {
        let mut chance = self.chance("party code", self.joins.into());
        loop {
            let code = code(&mut chance, 4);
            if self.with_code(&code).is_none() {
                return code;
            }
        }
    }

    fn start(&mut self) -> Result<(), Refused> {
        self.lobby()?;
        let rules = self.rules();
        let (players, zombies) = (self.members.len(), rules.zombies.get() as usize);
        if players < 2 {
            return Err(Refused::TooFew { players });
        }
        if zombies >= players {
            return Err(Refused::Zombies { zombies, players });
        }
        let mut roles: Vec<bool> = (0..players).map(|player| player < zombies).collect();
        self.chance("party roles", self.games.into()).shuffle(&mut roles);
        let names: Vec<String> = self.members.iter().map(|member| member.name.clone()).collect();
        self.game = Some(Game::new(&names, &roles, &rules)?);
        Ok(())
    }

    fn remove(&mut self, player: Number) -> Result<(), Refused> {
        let seat = self.seat(player)?;
        if self.members[seat.index()].holder == Holder::Nobody {
            return Err(Refused::NoSuchPlayer);
        }
        self.playing()?.remove(seat)?;
        let member = &mut self.members[seat.index()];
        (member.holder, member.ticket) = (Holder::Nobody, None);
        Ok(())
    }

    fn replace(&mut self, player: Number, bot: &str) -> Result<(), Refused> {
        bots::check(bot)?;
        let seat = self.seat(player)?;
        self.playing()?.return_to(seat);
        let member = &mut self.members[seat.index()];
        (member.holder, member.ticket) = (Holder::Bot(bot.to_owned()), None);
        Ok(())
    }

    fn take(&mut self, ticket: &str, key: &str) -> Result<(), Refused> {
        let offered = |member: &Member| member.ticket.as_deref() == Some(ticket);
        let place = self.members.iter().position(offered).ok_or(Refused::Ticket)?;
        let member = &mut self.members[place];
        (member.holder, member.ticket) = (Holder::Person(key.to_owned()), None);
        if let Some(game) = &mut self.game {
            game.return_to(Seat(place as u16));
        }
        Ok(())
    }

    /// Makes the room again without its last contact. Not beyond the end of a turn: what was told then cannot be taken back.
    fn undo(&mut self, contact: u32, players: [Number; 2]) -> Result<Touched, Refused> {
        if self.closed {
            return Err(Refused::Closed);
        }
        let game = self.playing()?;
        if game.party().ending().is_some() {
            return Err(Refused::Over);
        }
        let last = game.met().last().ok_or(Refused::NothingToUndo)?;
        let (id, seats) = (last.id, last.seats);
        if id != contact || seats.map(|seat| self.members[seat.index()].number) != players {
            return Err(Refused::OtherContact);
        }
        let turn = self.party().map(Party::turns);
        let mut inputs = self.record.iter().filter(|(number, input)| !input.is_of(*number, contact));
        let mut room = Room::open(inputs.next().ok_or(Refused::Open)?.1.clone())?;
        for (number, input) in inputs {
            room.carry_out(*number, input).map_err(|_| Refused::Depends)?;
            room.record.push((*number, input.clone()));
        }
        if room.party().map(Party::turns) != turn {
            return Err(Refused::Depends);
        }
        room.next = self.next;
        // The two are told, as they are when this is done again.
        room.carry_out(self.next, &Input::Undo { contact, players })?;
        *self = room;
        // A proposal that had been dropped on the way may be open again.
        Ok(Touched::Everybody)
    }
}

/// What makes a fair game of so many, by `necrodome judge balance --set start_antibodies=3`: the zombies win about every second one,
/// and most of the humans live to see the middle of it.
fn suited(rules: &InfectionRules, players: usize) -> InfectionRules {
    let zombies = u32::try_from((players + 6) / 12).unwrap_or(u32::MAX).clamp(1, 499);
    InfectionRules {
        zombies: zombies.try_into().unwrap_or(rules.zombies),
        max_turns: Bounded::new(if players < 10 { 4 } else { 5 }),
        start_antibodies: Bounded::new(3),
        ..*rules
    }
}

/// Letters and digits that nobody takes for each other.
const LETTERS: &[u8; 28] = b"ABCDEFGHJKLMNPQRTUVWXY346789";

/// A code to be read aloud and typed.
pub(super) fn code(chance: &mut impl Chance, length: usize) -> String {
    (0..length).map(|_| char::from(LETTERS[chance.uniform(LETTERS.len() as u32) as usize])).collect()
}
