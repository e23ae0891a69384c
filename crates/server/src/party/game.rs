//! A game of Infection in a room: it turns proposals, contacts and commitments of guests into commands in the judge's book.
//!
//! A guest may have one open proposal, and any number of proposals may wait for a guest. The proposer can withdraw a proposal, and
//! the other can decline it. Once it is accepted, both are busy until both have committed: nobody can back out, and a missing
//! commitment counts as none. A phone must not reveal its owner's role, so it offers every commitment to everybody. What a guest
//! cannot do has no effect: a precaution or an antidote of a zombie or without an antibody, and viruses of a human.

use super::{refused::Refused, view::NewsKind};
use necrodome_judge::{
    book::{Book, Record, What},
    script::{Command, Line, Script, Side, Word},
};
use necrodome_rules::{
    game::Seat,
    infection::{
        Commitment, Identity, InfectionRules, InfectionView, Party, PrivateReport, PublicReport, Question,
    },
};
use std::collections::BTreeSet;

/// How often a guest may try the antidote in one turn, whatever their role: more than anybody needs, but not without end.
const MOST_ANTIDOTES: u32 = 100;

/// A proposal that waits for an answer, or a contact that waits for commitments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Contact {
    /// The number of the input that proposed it.
    pub id: u32,
    /// The guest who proposed it, and the other.
    pub seats: [Seat; 2],
    /// The commitments of the two, once the proposal is accepted.
    pub commits: Option<[Option<Commitment>; 2]>,
}

impl Contact {
    /// Returns which of the two a seat is, or `None` if it is neither.
    pub fn side(&self, seat: Seat) -> Option<usize> {
        self.seats.iter().position(|&one| one == seat)
    }
}

/// A contact that took place in this turn, with the commitments that the two chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Meeting {
    pub id: u32,
    pub seats: [Seat; 2],
    pub commits: [Commitment; 2],
}

/// A turn that is over, for one guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Past {
    pub turn: u32,
    pub met: Vec<Seat>,
    pub told: PrivateReport,
}

/// What one guest knows beyond what everybody can see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Knowledge {
    pub told: PrivateReport,
    /// Viruses they have applied since that report.
    pub applied: u32,
    /// How often they have taken the antidote since that report, or tried to.
    pub antidotes: u32,
    /// Proposals they have made in this turn.
    pub proposals: u32,
    /// The guests who declined to meet them in this turn, or did not answer.
    pub turned_down: BTreeSet<Seat>,
    /// What happened to them in this turn, and with whom.
    pub notes: Vec<(NewsKind, Seat)>,
    pub past: Vec<Past>,
}

/// The game, from its start to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Game {
    /// The judge's book. The game has started in it.
    book: Book,
    /// The lines of the book.
    script: Script,
    /// Whether each guest was removed. Their turn ends as soon as it begins.
    absent: Vec<bool>,
    known: Vec<Knowledge>,
    contacts: Vec<Contact>,
    met: Vec<Meeting>,
}

impl Game {
    /// Begins a game.
    pub fn new(names: &[String], zombies: &[bool], rules: &InfectionRules) -> Result<Self, Refused> {
        let comment = " A party of Infection with phones. For the judge only!".to_owned();
        let script = Script::opening(comment, rules, names, zombies);
        let mut book = Book::default();
        for line in &script.lines {
            book.write(line).map_err(|mistake| Refused::Name(mistake.message))?;
        }
        let mut game = Game {
            book,
            script,
            known: Vec::new(),
            absent: vec![false; names.len()],
            contacts: Vec::new(),
            met: Vec::new(),
        };
        game.known = Seat::all(names.len()).iter().map(|&seat| game.fresh(seat)).collect();
        Ok(game)
    }

    /// Returns what a guest knows when they begin.
    fn fresh(&self, seat: Seat) -> Knowledge {
        Knowledge {
            told: self.party().private_report(seat),
            applied: 0,
            antidotes: 0,
            proposals: 0,
            turned_down: BTreeSet::new(),
            notes: Vec::new(),
            past: Vec::new(),
        }
    }

    /// Seats a latecomer in the next seat, unless the book refuses. Returns whether it worked.
    pub fn join(&mut self, name: &str, zombie: bool) -> bool {
        let seat = Seat(self.known.len() as u16);
        let word = Word::new(name.to_owned());
        let command = if zombie { Command::Zombie(word) } else { Command::Human(word) };
        if !self.write(Some(command), None) {
            return false;
        }
        let known = self.fresh(seat);
        self.known.push(known);
        self.absent.push(false);
        true
    }

    /// Returns the judge's book.
    pub fn book(&self) -> &Book {
        &self.book
    }

    /// Returns the state of the game.
    pub fn party(&self) -> &Party {
        // The last line of the opening starts the game, and `new` has written it.
        self.book.party().expect("a game in which the book has started")
    }

    /// Writes a line into the book. Returns whether the book accepted it.
    fn write(&mut self, command: Option<Command>, comment: Option<String>) -> bool {
        let line = Line::new(self.script.next_number(), command, comment);
        let is_written = self.book.write(&line).is_ok();
        if is_written {
            self.script.lines.push(line);
        }
        is_written
    }

    /// Returns the open proposals and contacts.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Returns the contacts of this turn.
    pub fn met(&self) -> &[Meeting] {
        &self.met
    }

    /// Returns all announcements, each with the guests who had met nobody.
    pub fn announced(&self) -> impl DoubleEndedIterator<Item = (&PublicReport, &[Seat])> {
        self.book.records().iter().filter_map(|record| match &record.what {
            What::Started { public, .. } => Some((public, &[][..])),
            What::TurnClosed { public, without_contact, .. } => Some((public, &without_contact[..])),
            What::Joined { .. } | What::Contact { .. } | What::Antidote { .. } | What::Ended { .. } => None,
        })
    }

    /// Returns what a guest knows.
    pub fn known(&self, seat: Seat) -> &Knowledge {
        &self.known[seat.index()]
    }

    /// Returns the record, as a script for the judge.
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// Returns an open proposal or contact.
    pub fn contact(&self, id: u32) -> Result<&Contact, Refused> {
        self.contacts.iter().find(|contact| contact.id == id).ok_or(Refused::NoSuchContact)
    }

    /// Returns the contact for which a guest is busy until both have committed, or `None` if there is none.
    pub fn busy(&self, seat: Seat) -> Option<&Contact> {
        self.contacts.iter().find(|contact| contact.commits.is_some() && contact.side(seat).is_some())
    }

    /// Returns the open proposal that a guest has made, or `None` if there is none.
    pub fn proposal(&self, seat: Seat) -> Option<&Contact> {
        self.contacts.iter().find(|contact| contact.commits.is_none() && contact.seats[0] == seat)
    }

    /// Returns the proposals that wait for a guest.
    pub fn waiting(&self, seat: Seat) -> impl Iterator<Item = &Contact> {
        self.contacts.iter().filter(move |contact| contact.commits.is_none() && contact.seats[1] == seat)
    }

    /// Returns the view of a bot in this seat. It leaves out the guests who have turned the bot down, so the bot does not ask them again.
    pub fn view(&self, seat: Seat, question: Question) -> InfectionView {
        let known = self.known(seat);
        let turned_down = |other: &Seat| known.turned_down.contains(other);
        let announced = self.announced().next_back().map(|(public, _)| public.clone());
        InfectionView {
            seat,
            question,
            told: known.told,
            applied: known.applied,
            public: announced.unwrap_or_else(|| self.party().public_report()),
            max_turns: self.party().rules().max_turns.get(),
            has_met: self.has_met(seat),
            partners: self.party().partners(seat).iter().filter(|other| !turned_down(other)).collect(),
        }
    }

    fn has_met(&self, seat: Seat) -> bool {
        self.party().players()[seat.index()].contacts > 0
    }

    /// Whether a guest may end their turn: after a contact, or when everybody they could still meet has turned them down.
    pub fn may_end(&self, seat: Seat) -> bool {
        let turned_down = &self.known(seat).turned_down;
        self.has_met(seat) || self.party().partners(seat).iter().all(|other| turned_down.contains(&other))
    }

    /// Whether a bot in this seat might have an antibody left for the antidote, as far as it can know. It counts one for each
    /// contact, the most that a contact gives, so it never misses one.
    pub fn may_try_antidote(&self, seat: Seat) -> bool {
        let known = self.known(seat);
        let most = known.told.stock + u32::from(self.party().players()[seat.index()].contacts);
        known.told.identity == Identity::Human && known.antidotes < most
    }

    fn going_on(&self) -> Result<(), Refused> {
        if self.party().ending().is_some() { Err(Refused::Over) } else { Ok(()) }
    }

    fn word(&self, seat: Seat) -> Word {
        Word::new(self.name(seat))
    }

    fn name(&self, seat: Seat) -> String {
        self.book.names()[seat.index()].clone()
    }

    fn not_busy(&self, seat: Seat) -> Result<(), Refused> {
        match self.busy(seat) {
            Some(_) => Err(Refused::Busy { name: self.name(seat) }),
            None => Ok(()),
        }
    }

    fn not_ended(&self, seat: Seat) -> Result<(), Refused> {
        self.going_on()?;
        let ended = self.party().players()[seat.index()].ended;
        if ended { Err(Refused::Ended { name: self.name(seat) }) } else { Ok(()) }
    }

    /// Proposes that one guest meets another.
    pub fn propose(&mut self, id: u32, from: Seat, to: Seat) -> Result<(), Refused> {
        self.not_ended(from)?;
        if from == to {
            return Err(Refused::Itself);
        }
        self.not_ended(to)?;
        if self.party().have_met(from, to) {
            return Err(Refused::Again { name: self.name(to) });
        }
        self.not_busy(from)?;
        if let Some(open) = self.proposal(from) {
            return Err(Refused::HasProposed { name: self.name(open.seats[1]) });
        }
        if self.waiting(from).any(|contact| contact.seats[0] == to) {
            return Err(Refused::AcceptInstead { name: self.name(to) });
        }
        // Enough for everybody several times, and an end to pestering.
        if self.known(from).proposals as usize >= 20 + 3 * self.known.len() {
            return Err(Refused::TooManyProposals);
        }
        self.known[from.index()].proposals += 1;
        self.contacts.push(Contact { id, seats: [from, to], commits: None });
        Ok(())
    }

    /// Accepts a proposal. Now both have to commit.
    pub fn accept(&mut self, id: u32) -> Result<(), Refused> {
        let [from, to] = self.open_proposal(id)?;
        self.not_busy(to)?;
        self.not_busy(from)?;
        if let Some(own) = self.proposal(to) {
            return Err(Refused::HasProposed { name: self.name(own.seats[1]) });
        }
        if let Some(contact) = self.contacts.iter_mut().find(|contact| contact.id == id) {
            contact.commits = Some([None; 2]);
        }
        Ok(())
    }

    /// Declines a proposal.
    pub fn decline(&mut self, id: u32) -> Result<(), Refused> {
        let [from, to] = self.open_proposal(id)?;
        self.drop_proposal(id, [from, to], NewsKind::Declined);
        Ok(())
    }

    /// Withdraws a proposal for the guest who made it.
    pub fn withdraw(&mut self, id: u32) -> Result<(), Refused> {
        let [from, to] = self.open_proposal(id)?;
        self.contacts.retain(|contact| contact.id != id);
        self.note(to, NewsKind::Withdrawn, from);
        Ok(())
    }

    /// Ends the waiting: a proposal lapses, a missing commitment counts as none.
    pub fn expire(&mut self, id: u32) -> Result<(), Refused> {
        self.going_on()?;
        let contact = self.contact(id)?.clone();
        match contact.commits {
            None => self.drop_proposal(id, contact.seats, NewsKind::Lapsed),
            Some(_) => self.resolve(&contact),
        }
        Ok(())
    }

    fn open_proposal(&self, id: u32) -> Result<[Seat; 2], Refused> {
        self.going_on()?;
        match self.contact(id)? {
            Contact { seats, commits: None, .. } => Ok(*seats),
            _ => Err(Refused::Accepted),
        }
    }

    fn drop_proposal(&mut self, id: u32, [from, to]: [Seat; 2], what: NewsKind) {
        self.contacts.retain(|contact| contact.id != id);
        self.known[from.index()].turned_down.insert(to);
        self.note(from, what, to);
    }

    pub fn note(&mut self, seat: Seat, what: NewsKind, with: Seat) {
        self.known[seat.index()].notes.push((what, with));
    }

    /// Takes one side's commitment. When both have committed, the contact takes place.
    pub fn commit(&mut self, id: u32, seat: Seat, commit: Commitment) -> Result<(), Refused> {
        self.going_on()?;
        let contact = self.contact(id)?;
        let side = contact.side(seat).ok_or(Refused::NoSuchContact)?;
        let commits = contact.commits.ok_or(Refused::NotAccepted)?;
        if commits[side].is_some() {
            return Err(Refused::Committed);
        }
        if commit == (Commitment::Virus { count: 0 }) {
            return Err(Refused::NoVirus);
        }
        let Some(contact) = self.contacts.iter_mut().find(|contact| contact.id == id) else {
            return Err(Refused::NoSuchContact);
        };
        let commits = contact.commits.get_or_insert([None; 2]);
        commits[side] = Some(commit);
        if commits.iter().all(Option::is_some) {
            let contact = contact.clone();
            self.resolve(&contact);
        }
        Ok(())
    }

    /// Returns the commitment that takes effect: a zombie applies at most the viruses that it knows of, and a guest who cannot pay
    /// commits nothing.
    fn payable(&self, seat: Seat, wanted: Commitment) -> Commitment {
        let known = self.view(seat, Question::Wait).known_viruses();
        let paid = match wanted {
            Commitment::Virus { count } => Commitment::Virus { count: count.min(known) },
            Commitment::None | Commitment::Precaution => wanted,
        };
        self.party().can_pay(seat, paid).map_or(Commitment::None, |()| paid)
    }

    /// Carries out the contact. What a guest cannot pay for does not happen, and nobody is told.
    fn resolve(&mut self, contact: &Contact) {
        self.contacts.retain(|other| other.id != contact.id);
        let seats = contact.seats;
        let wanted = contact.commits.unwrap_or_default().map(Option::unwrap_or_default);
        let paid = [0, 1].map(|i| self.payable(seats[i], wanted[i]));
        let mut tried = None;
        for i in 0..2 {
            if paid[i] == Commitment::None && wanted[i] != Commitment::None {
                let name = self.name(seats[i]);
                let what = if wanted[i] == Commitment::Precaution { "a precaution" } else { "viruses" };
                let before = tried.map_or(String::new(), |tried| format!("{tried} #"));
                tried = Some(format!("{before} {name} tried {what} in vain"));
            }
            if let Commitment::Virus { count } = paid[i] {
                self.known[seats[i].index()].applied += count;
            }
        }
        let [one, other] = [0, 1].map(|i| Side { name: self.word(seats[i]), commit: paid[i] });
        // Whatever the book could refuse was checked when the contact was proposed, and holds until the turn is over.
        if self.write(Some(Command::Interact(one, other)), tried) {
            self.met.push(Meeting { id: contact.id, seats, commits: wanted });
            self.note(seats[0], NewsKind::Met, seats[1]);
            self.note(seats[1], NewsKind::Met, seats[0]);
        }
    }

    /// Takes the antidote for a guest. For a zombie, or without an antibody, it has no effect, and they are not told.
    pub fn antidote(&mut self, seat: Seat) -> Result<(), Refused> {
        self.going_on()?;
        if self.known(seat).antidotes >= MOST_ANTIDOTES {
            return Err(Refused::TooManyAntidotes);
        }
        self.known[seat.index()].antidotes += 1;
        match self.party().can_pay(seat, Commitment::Precaution) {
            Ok(()) => self.write(Some(Command::Antidote(self.word(seat))), None),
            Err(_) => {
                let tried = format!(" {} tried the antidote in vain", self.name(seat));
                self.write(None, Some(tried))
            }
        };
        Ok(())
    }

    /// Ends a guest's turn; the last guest closes the turn. The host may end it for a guest who has met nobody.
    pub fn end(&mut self, seat: Seat, by_host: bool) -> Result<(), Refused> {
        self.not_ended(seat)?;
        self.not_busy(seat)?;
        if !by_host && !self.may_end(seat) {
            return Err(Refused::NoContactYet);
        }
        self.leave_turn(seat);
        self.close_if_all_ended();
        Ok(())
    }

    /// Ends the turn for everybody, for the host. Contacts that were accepted take place, with missing commitments counted as none;
    /// proposals lapse.
    pub fn end_turn(&mut self, turn: u32) -> Result<(), Refused> {
        self.going_on()?;
        if turn != self.party().turns() + 1 {
            return Err(Refused::OtherTurn { turn, now: self.party().turns() + 1 });
        }
        for contact in self.contacts.clone().iter().filter(|contact| contact.commits.is_some()) {
            self.resolve(contact);
        }
        self.close_turn();
        Ok(())
    }

    /// Removes a guest for good: they meet nobody and end every turn at once. An open contact with them does not take place.
    pub fn remove(&mut self, seat: Seat) -> Result<(), Refused> {
        self.going_on()?;
        if self.absent.iter().filter(|absent| !**absent).count() <= 2 {
            return Err(Refused::TooFewLeft);
        }
        self.absent[seat.index()] = true;
        if let Some(open) = self.busy(seat).cloned() {
            self.contacts.retain(|contact| contact.id != open.id);
            let other = if open.seats[0] == seat { open.seats[1] } else { open.seats[0] };
            self.note(other, NewsKind::Withdrawn, seat);
        }
        if !self.party().players()[seat.index()].ended {
            self.leave_turn(seat);
            self.close_if_all_ended();
        }
        Ok(())
    }

    /// Lets somebody play for a guest who was removed. They take part from the next turn on.
    pub fn return_to(&mut self, seat: Seat) {
        self.absent[seat.index()] = false;
    }

    /// Ends one guest's turn and drops the proposals from and to them.
    fn leave_turn(&mut self, seat: Seat) {
        let gone: Vec<Contact> =
            self.contacts.iter().filter(|contact| contact.side(seat).is_some()).cloned().collect();
        for Contact { id, seats, .. } in gone {
            if seats[0] == seat {
                self.contacts.retain(|contact| contact.id != id);
                self.note(seats[1], NewsKind::Withdrawn, seat);
            } else {
                self.drop_proposal(id, seats, NewsKind::Declined);
            }
        }
        self.write(Some(Command::End(self.word(seat))), None);
    }

    /// Closes the turn if the last guest has ended it.
    fn close_if_all_ended(&mut self) {
        if matches!(self.book.records().last(), Some(Record { what: What::TurnClosed { .. }, .. })) {
            self.close_turn();
        }
    }

    fn close_turn(&mut self) {
        // Behind the last END it only says so; without it, it does so.
        self.write(Some(Command::NextTurn), None);
        self.contacts.clear();
        let turn = self.party().turns();
        let met = std::mem::take(&mut self.met);
        for &seat in Seat::all(self.known.len()) {
            let others = met.iter().filter_map(|meeting| match meeting.seats {
                [a, b] if a == seat => Some(b),
                [a, b] if b == seat => Some(a),
                _ => None,
            });
            let told = self.party().private_report(seat);
            let known = &mut self.known[seat.index()];
            known.past.push(Past { turn, met: others.collect(), told });
            known.told = told;
            (known.applied, known.antidotes, known.proposals) = (0, 0, 0);
            known.turned_down.clear();
            known.notes.clear();
        }
        if self.party().ending().is_none() {
            let absent = Seat::all(self.known.len()).iter().filter(|seat| self.absent[seat.index()]);
            for seat in absent.copied().collect::<Vec<_>>() {
                self.leave_turn(seat);
            }
        }
    }
}
