//! A room as a pure state machine: each input changes it or is refused, and the same inputs give the same room.
//!
//! Time and randomness are inputs, too: the seed when the room is opened, what has expired, what bots do. So a room is kept as the
//! list of its inputs, and rebuilt by applying them again.

use super::{bots, game::Game, refused::Refused, view::NewsKind};
use necrodome_rules::{
    chance::{Chance, Seed, Seeded},
    game::Seat,
    infection::{Commitment, InfectionRules, Party},
    names::Names,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A player of a room, counted from 0 in the order in which they joined. It never changes, even when others come and go.
pub type Number = u32;

/// The most players who may ever join, including those who leave: so many that nobody can use them up by joining and leaving, but the
/// file stays small.
const MAX_JOINS: Number = 200 * Party::MAX_PLAYERS as Number;

/// An input of a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Input {
    /// The room is opened. `limit`: seconds to answer a proposal, and to commit; `turn_limit`: seconds of a turn, or 0; `suited`:
    /// whether the number of zombies and turns depends on the number of players.
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
    /// The host chooses what to do with people who come during the game.
    Latecomers { are: Latecomers },
    /// Somebody joins; `key` is the hash of the key of their seat.
    Join { name: String, key: String },
    /// The host adds a bot.
    AddBot { name: String, bot: String },
    /// Somebody leaves before the start, or the host sends them away.
    Leave { player: Number },
    /// The zombies are drawn, and the game starts.
    Start,
    /// A player wants to meet another. The contact is identified by the number of this input.
    Propose { from: Number, to: Number },
    /// The other player accepts.
    Accept { contact: u32 },
    /// The other player declines.
    Decline { contact: u32 },
    /// The proposer withdraws the proposal.
    Withdraw { contact: u32 },
    /// One side commits, in secret.
    Commit { contact: u32, player: Number, commit: Commitment },
    /// The time to answer or to commit is up.
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
    /// The host lets a bot play for a player.
    Replace { player: Number, bot: String },
    /// The host offers a seat to a new phone; `ticket` is the hash of the ticket that the phone has to show.
    Offer { player: Number, ticket: String },
    /// A new phone takes a seat that was offered.
    Take { ticket: String, key: String },
    /// The host undoes the last contact.
    Undo { contact: u32, players: [Number; 2] },
    /// The game is over, and the same guests start another one.
    Rematch,
    /// The host closes the room.
    Close,
}

/// The role of people who come during the game. They take part from the next turn on.
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
    /// Whether this input, with its number, is part of the contact `of`.
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

/// Whose page an input can change, besides the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touched {
    /// Everybody's.
    Everybody,
    /// The pages of two players (or one player, twice).
    Players([Number; 2]),
}

/// Who plays for a seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// A person with a phone that has shown the key with this hash.
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
    /// The hash of the ticket with which a new phone can take the seat.
    ticket: Option<String>,
    /// The code that others scan to meet them.
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
    /// The address in the codes, if the host has chosen one.
    pub(super) address: Option<String>,
    pub(super) latecomers: Latecomers,
    /// Games before this one.
    games: u32,
    /// The inputs that were not undone, with their numbers.
    record: Vec<(u32, Input)>,
    /// The number of the next input.
    next: u32,
    closed: bool,
    joins: Number,
    pub(super) members: Vec<Member>,
    /// The players who have come during the game and do not take part yet.
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

    /// Rebuilds a room from all its inputs.
    pub fn rebuild(inputs: impl IntoIterator<Item = Input>) -> Result<Self, Refused> {
        let mut inputs = inputs.into_iter();
        let mut room = Room::open(inputs.next().ok_or(Refused::Open)?)?;
        for input in inputs {
            room.apply(input)?;
        }
        Ok(room)
    }

    /// Takes an input. An input that is refused changes nothing.
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

    /// Returns the number of the next input, which is the number of inputs so far.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Whether the room is closed for good.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns the game so far as a script for the judge.
    pub fn script(&self) -> String {
        self.game.as_ref().map(|game| game.script().to_string()).unwrap_or_default()
    }

    /// Returns all players by their seats.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns the rules of the game or, before it starts, the rules that it would have now.
    pub fn rules(&self) -> InfectionRules {
        match &self.game {
            Some(game) => *game.party().rules(),
            None if self.suited => self.rules.suited(self.members.len()),
            None => self.rules,
        }
    }

    /// Returns the number of the current game in this room, from 0, and of its turn, or `None` if no game is going on.
    pub fn turn_now(&self) -> Option<(u32, u32)> {
        let party = self.party().filter(|party| party.ending().is_none())?;
        Some((self.games, party.turns() + 1))
    }

    /// Returns the state of the game, once it has started.
    pub fn party(&self) -> Option<&Party> {
        self.game.as_ref().map(Game::party)
    }

    /// Returns the hashes of the keys of all seats that people have.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        let all = self.members.iter().chain(&self.late);
        all.filter_map(|member| match &member.holder {
            Holder::Person(key) => Some(key.as_str()),
            Holder::Bot(_) | Holder::Nobody => None,
        })
    }

    /// Returns the player whose phone shows the key with this hash.
    pub fn holder_of(&self, key: &str) -> Option<&Member> {
        let all = self.members.iter().chain(&self.late);
        all.into_iter().find(|member| matches!(&member.holder, Holder::Person(own) if own == key))
    }

    /// Returns the player with this code.
    pub fn with_code(&self, code: &str) -> Option<Number> {
        let mut all = self.members.iter().chain(&self.late);
        let found = all.find(|member| member.code.eq_ignore_ascii_case(code));
        found.map(|member| member.number)
    }

    /// Returns randomness that nothing else uses for the same purpose.
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

    /// Returns the seat of a player.
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

    /// Lets latecomers take part after the end of a turn, in the role that the host has chosen.
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

    /// Starts another game with all who are still there, and draws new zombies.
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

    /// Makes a code that nobody in this room has.
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

    /// Rebuilds the room without its last contact. It cannot go back beyond the end of a turn: nothing that guests were told then
    /// can be taken back.
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

/// Letters and digits that are not easily confused.
const LETTERS: &[u8; 28] = b"ABCDEFGHJKLMNPQRTUVWXY346789";

/// Makes a code that is easy to read aloud and type.
pub(super) fn code(chance: &mut impl Chance, length: usize) -> String {
    (0..length).map(|_| char::from(LETTERS[chance.uniform(LETTERS.len() as u32) as usize])).collect()
}
