//! Infection for bots: the order of questions, what a player knows, and how answers become the judge's commands.
//!
//! In every turn the players are put into a random order and asked one after the other, again and again, until all
//! have ended the turn. A player who is asked picks somebody to meet, with a commitment, or ends their turn; the partner
//! is asked at once for their own commitment, without knowing the other's. Either may take the antidote first.
//!
//! Players know what they were last told and what they did themselves. So a human may always *try* a precaution or an
//! antidote: without an antibody nothing is spent, nothing happens, and nobody tells the player. A zombie may
//! apply the viruses that they know of: those of the last report, less those they have applied since. No answer is refused
//! because of something that the player cannot know.

use super::{
    contact::{Commitment, Effect},
    party::{Ending, Identity, InfectionRules, Party, PrivateReport, PublicReport},
    seat_set::SeatSet,
};
use crate::{
    chance::Chance,
    game::{Audience, Game, Log, Move, Outcome, Rejected, Seat},
    names::{Names, SetupError},
};
use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::ops::RangeInclusive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An answer of a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "InfectionAction")]
pub enum Action {
    /// Meet somebody.
    Contact {
        /// The player to meet.
        with: Seat,
        /// The commitment.
        #[serde(default)]
        commit: Commitment,
        /// Whether to take the antidote first.
        #[serde(default)]
        antidote: bool,
    },
    /// Answer a player who has picked this one.
    Answer {
        /// The commitment.
        #[serde(default)]
        commit: Commitment,
        /// Whether to take the antidote first.
        #[serde(default)]
        antidote: bool,
    },
    /// End the turn: nobody can meet this player any more.
    End {
        /// Whether to take the antidote first.
        #[serde(default)]
        antidote: bool,
    },
}

impl Action {
    fn antidote(&self) -> bool {
        match self {
            Action::Contact { antidote, .. } | Action::Answer { antidote, .. } | Action::End { antidote } => {
                *antidote
            }
        }
    }
}

/// Why an answer is not allowed. Every reason follows from what the player knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// An answer to a contact when asked whom to meet.
    #[error("expected a contact or the end of the turn, got an answer")]
    Choosing,
    /// A contact or an end when asked for a commitment.
    #[error("expected an answer to the contact, got a contact or the end of the turn")]
    Answering,
    /// The other player has ended their turn, was met in this turn, is the player themselves, or does not exist.
    #[error("player {with} can't be met now: expected one of the partners")]
    NoPartner {
        /// The player that the answer names.
        with: Seat,
    },
    /// Everybody must meet somebody in a turn.
    #[error("a player can't end their turn before their first contact while they can still meet somebody")]
    NoContactYet,
    /// A zombie takes no precaution and no antidote.
    #[error("a zombie has no antibodies to spend")]
    Zombie,
    /// A human has no viruses to apply.
    #[error("only zombies apply viruses")]
    NotZombie,
    /// No viruses, or more than the player knows of.
    #[error("expected 1 to {known} viruses, got {count}")]
    Viruses {
        /// The number of viruses in the answer.
        count: u32,
        /// The number of viruses that the player knows of.
        known: u32,
    },
}

/// A question to a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "InfectionQuestion")]
pub enum Question {
    /// No question now.
    Wait,
    /// Meet somebody or end the turn.
    Choose,
    /// Another player has picked this one: what do they commit?
    Answer {
        /// The player who has picked this one.
        to: Seat,
    },
}

/// Everything that a player knows: what they were told, what they did, and what everybody can see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InfectionView {
    /// This player's seat.
    pub seat: Seat,
    /// The question to the player.
    pub question: Question,
    /// The player's report at the end of the last turn (or at the start).
    pub told: PrivateReport,
    /// The viruses that the player has applied since that report, if a zombie. `told` still counts them.
    pub applied: u32,
    /// The report for everybody at the end of the last turn (or at the start).
    pub public: PublicReport,
    /// The most turns.
    pub max_turns: u32,
    /// Whether the player has met anybody in this turn.
    pub has_met: bool,
    /// The players whom this player can still meet in this turn.
    pub partners: SeatSet,
}

impl InfectionView {
    /// Viruses that the player knows they have.
    pub fn known_viruses(&self) -> u32 {
        match self.told.identity {
            Identity::Human => 0,
            Identity::Zombie => self.told.stock.saturating_sub(self.applied),
        }
    }

    /// The possible commitments: nothing, a try at a precaution, or viruses that the player knows of.
    fn commitments(&self) -> impl Iterator<Item = Commitment> + '_ {
        let precaution = (self.told.identity == Identity::Human).then_some(Commitment::Precaution);
        let viruses = (1..=self.known_viruses()).map(|count| Commitment::Virus { count });
        [Commitment::None].into_iter().chain(precaution).chain(viruses)
    }

    /// Whether the player may end their turn: after a contact, or when nobody is left to meet.
    pub fn may_end(&self) -> bool {
        self.has_met || self.partners.is_empty()
    }
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "InfectionEvent")]
pub enum Event {
    /// Two players meet. Only they hear of it.
    Met {
        /// The player who picked the other.
        seat: Seat,
        /// The player who was picked.
        with: Seat,
    },
    /// The commitments of both players, and the effects. For the judge.
    Resolved {
        /// The two players.
        seats: [Seat; 2],
        /// The commitment that each made and paid for.
        commitments: [Commitment; 2],
        /// Whether each tried a precaution without an antibody.
        failed: [bool; 2],
        /// The effect of the contact on each.
        effects: [Effect; 2],
    },
    /// A player took the antidote, or tried to. For the judge.
    Antidote {
        /// The player.
        seat: Seat,
        /// The effect of the antidote; null when there was no antibody to spend.
        effect: Option<Effect>,
    },
    /// A player ended their turn.
    Ended {
        /// The player.
        seat: Seat,
    },
    /// An infected player without antibodies became a zombie. For the judge: others learn it from their reports.
    Turned {
        /// The player.
        seat: Seat,
    },
    /// A player met nobody in the turn and so broke a rule.
    MetNobody {
        /// The player.
        seat: Seat,
    },
    /// The report for one player, at the start and at the end of each turn.
    Told {
        /// The player.
        seat: Seat,
        /// The report.
        report: PrivateReport,
    },
    /// The report for everybody, at the start and at the end of each turn.
    Announced {
        /// The report.
        report: PublicReport,
    },
    /// The game is over.
    Over {
        /// How the game ended.
        ending: Ending,
    },
}

/// A game of bots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Infection {
    party: Party,
    /// The players in the order in which they are asked in this turn.
    order: Vec<Seat>,
    /// The index in `order` of the player who is asked.
    asked: usize,
    /// A contact that waits for the partner's commitment.
    pending: Option<Pending>,
    /// The last report of each player.
    told: Vec<PrivateReport>,
    /// Viruses that each zombie has applied since then.
    applied: Vec<u32>,
    announced: PublicReport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Pending {
    commit: Commitment,
    with: Seat,
}

impl Infection {
    /// The judge's book.
    pub fn party(&self) -> &Party {
        &self.party
    }

    fn start_turn(&mut self, chance: &mut impl Chance, log: &mut impl Log<Event>) {
        self.announced = self.party.public_report();
        log.record(Audience::Everyone, Event::Announced { report: self.announced.clone() });
        for &seat in Seat::all(self.told.len()) {
            let report = self.party.private_report(seat);
            self.told[seat.index()] = report;
            self.applied[seat.index()] = 0;
            log.record(Audience::Seat(seat), Event::Told { seat, report });
        }
        match self.party.ending() {
            Some(ending) => log.record(Audience::Everyone, Event::Over { ending }),
            None => {
                chance.shuffle(&mut self.order);
                self.asked = 0;
            }
        }
    }

    /// The player who is asked.
    fn mover(&self) -> Seat {
        self.order[self.asked]
    }

    /// The player who has to answer now, or `None` when the game is over.
    #[inline]
    fn acting(&self) -> Option<Seat> {
        match (self.party.ending(), self.pending) {
            (Some(_), _) => None,
            (None, Some(pending)) => Some(pending.with),
            (None, None) => Some(self.mover()),
        }
    }

    #[inline]
    fn question(&self, seat: Seat) -> Question {
        match self.pending {
            _ if self.party.ending().is_some() => Question::Wait,
            Some(pending) if pending.with == seat => Question::Answer { to: self.mover() },
            None if self.mover() == seat => Question::Choose,
            _ => Question::Wait,
        }
    }

    /// Plays on with the answer of the one player who is to act: [`Game::apply`] for callers who play many games.
    pub fn answer(
        &mut self,
        action: &Action,
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<(), Rejected<Illegal>> {
        let Some(seat) = self.acting() else { return Err(Rejected::Over) };
        self.check(seat, action).map_err(|why| Rejected::Illegal { seat, why })?;
        if action.antidote() {
            self.take_antidote(seat, log);
        }
        match *action {
            Action::Contact { with, commit, .. } => {
                log.record(Audience::Pair(seat, with), Event::Met { seat, with });
                self.pending = Some(Pending { commit, with });
            }
            Action::Answer { commit, .. } => {
                if let Some(pending) = self.pending.take() {
                    self.resolve(pending, commit, log);
                }
                self.pass_on(chance, log);
            }
            Action::End { .. } => {
                // The go comes only to those who have not ended.
                if self.party.end(seat).is_ok() {
                    log.record(Audience::Everyone, Event::Ended { seat });
                }
                self.pass_on(chance, log);
            }
        }
        Ok(())
    }

    /// Asks the next player who has not ended the turn, or closes the turn.
    #[inline]
    fn pass_on(&mut self, chance: &mut impl Chance, log: &mut impl Log<Event>) {
        let plays = |seat: &Seat| !self.party.players()[seat.index()].ended;
        let (before, after) = self.order.split_at(self.asked + 1);
        let next = after.iter().position(plays).map(|place| place + before.len());
        match next.or_else(|| before.iter().position(plays)) {
            Some(place) => self.asked = place,
            None => self.close_turn(chance, log),
        }
    }

    fn close_turn(&mut self, chance: &mut impl Chance, log: &mut impl Log<Event>) {
        for seat in self.party.offenders() {
            log.record(Audience::Everyone, Event::MetNobody { seat });
        }
        // Only an ended game refuses, and nobody acts in one.
        if let Ok(turned) = self.party.next_turn() {
            for seat in turned {
                log.record(Audience::Judge, Event::Turned { seat });
            }
            self.start_turn(chance, log);
        }
    }

    /// Tries the antidote; without an antibody nothing happens.
    fn take_antidote(&mut self, seat: Seat, log: &mut impl Log<Event>) {
        let effect = self.party.antidote(seat).ok();
        log.record(Audience::Judge, Event::Antidote { seat, effect });
    }

    /// Plays the contact, once both sides have committed.
    #[inline]
    fn resolve(&mut self, pending: Pending, answer: Commitment, log: &mut impl Log<Event>) {
        let seats = [self.mover(), pending.with];
        let mut commitments = [pending.commit, answer];
        let mut failed = [false; 2];
        for i in 0..2 {
            // A precaution that cannot be paid does not happen; everything else was checked before.
            if self.party.can_pay(seats[i], commitments[i]).is_err() {
                commitments[i] = Commitment::None;
                failed[i] = true;
            }
            if let Commitment::Virus { count } = commitments[i] {
                self.applied[seats[i].index()] += count;
            }
        }
        let contact = self.party.contact((seats[0], commitments[0]), (seats[1], commitments[1]));
        if let Ok(effects) = contact {
            log.record(Audience::Judge, Event::Resolved { seats, commitments, failed, effects });
        }
    }

    /// Checks whether `seat` may give this answer. The result depends on nothing that the seat's view does not show.
    #[inline]
    fn check(&self, seat: Seat, action: &Action) -> Result<(), Illegal> {
        let identity = self.told[seat.index()].identity;
        let commit = match (*action, self.pending) {
            (Action::Answer { .. }, None) => return Err(Illegal::Choosing),
            (Action::Contact { .. } | Action::End { .. }, Some(_)) => return Err(Illegal::Answering),
            (Action::Contact { with, .. }, None) if !self.can_meet(seat, with) => {
                return Err(Illegal::NoPartner { with });
            }
            (Action::End { .. }, None) if !self.may_end(seat) => return Err(Illegal::NoContactYet),
            (Action::End { .. }, None) => Commitment::None,
            (Action::Contact { commit, .. } | Action::Answer { commit, .. }, _) => commit,
        };
        if action.antidote() && identity == Identity::Zombie {
            return Err(Illegal::Zombie);
        }
        self.check_commitment(seat, commit)
    }

    #[inline]
    fn check_commitment(&self, seat: Seat, commit: Commitment) -> Result<(), Illegal> {
        let told = self.told[seat.index()];
        match (told.identity, commit) {
            (_, Commitment::None) | (Identity::Human, Commitment::Precaution) => Ok(()),
            (Identity::Zombie, Commitment::Precaution) => Err(Illegal::Zombie),
            (Identity::Human, Commitment::Virus { .. }) => Err(Illegal::NotZombie),
            (Identity::Zombie, Commitment::Virus { count }) => {
                let known = told.stock.saturating_sub(self.applied[seat.index()]);
                if (1..=known).contains(&count) { Ok(()) } else { Err(Illegal::Viruses { count, known }) }
            }
        }
    }

    #[inline]
    fn can_meet(&self, seat: Seat, with: Seat) -> bool {
        with.index() < self.told.len() && self.party.can_meet(seat, with)
    }

    #[inline]
    fn may_end(&self, seat: Seat) -> bool {
        self.party.players()[seat.index()].contacts > 0 || self.party.partners(seat).is_empty()
    }

    /// Returns the move for a bad action: end the turn, or meet the first possible partner; commit nothing.
    fn fallback(&self, seat: Seat) -> Action {
        let first = if self.may_end(seat) { None } else { self.party.partners(seat).nth(0) };
        match (self.pending, first) {
            (Some(_), _) => Action::Answer { commit: Commitment::None, antidote: false },
            (None, Some(with)) => Action::Contact { with, commit: Commitment::None, antidote: false },
            (None, None) => Action::End { antidote: false },
        }
    }
}

impl Game for Infection {
    const SEATS: RangeInclusive<usize> = 2..=Party::MAX_PLAYERS;
    type Rules = InfectionRules;
    type Action = Action;
    type View = InfectionView;
    type Event = Event;
    type Illegal = Illegal;

    fn new(
        names: &Names,
        rules: &InfectionRules,
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<Self, SetupError> {
        names.expect_seats(Self::SEATS)?;
        let (players, zombies) = (names.len(), rules.zombies.get() as usize);
        if zombies >= players {
            let why = format!("expected fewer zombies than players ({players}), got {zombies}");
            return Err(SetupError::Option { option: "zombies", why });
        }
        let mut roles = vec![false; players];
        roles[..zombies].fill(true);
        chance.shuffle(&mut roles);
        let party = Party::new(&roles, rules);
        let announced = party.public_report();
        let mut game = Infection {
            order: Seat::all(players).to_vec(),
            asked: 0,
            pending: None,
            told: vec![PrivateReport { identity: Identity::Human, stock: 0, antidotes: None }; players],
            applied: vec![0; players],
            announced,
            party,
        };
        game.start_turn(chance, log);
        Ok(game)
    }

    fn seats(&self) -> usize {
        self.party.players().len()
    }

    fn rules(&self) -> &InfectionRules {
        self.party.rules()
    }

    fn to_act(&self) -> &[Seat] {
        self.acting().map_or(&[], Seat::alone)
    }

    fn view(&self, seat: Seat) -> InfectionView {
        InfectionView {
            seat,
            question: self.question(seat),
            told: self.told[seat.index()],
            applied: self.applied[seat.index()],
            public: self.announced.clone(),
            max_turns: self.party.rules().max_turns.get(),
            has_met: self.party.players()[seat.index()].contacts > 0,
            partners: self.party.partners(seat),
        }
    }

    #[inline(always)]
    fn refresh_view(&self, seat: Seat, view: &mut InfectionView) {
        let InfectionView { seat: whose, question, told, applied, public, max_turns, has_met, partners } =
            view;
        *whose = seat;
        *question = self.question(seat);
        *told = self.told[seat.index()];
        *applied = self.applied[seat.index()];
        public.clone_from(&self.announced);
        *max_turns = self.party.rules().max_turns.get();
        *has_met = self.party.players()[seat.index()].contacts > 0;
        self.party.refresh_partners(seat, partners);
    }

    /// Lists the actions lazily: with many partners and viruses there are millions.
    fn legal_actions(view: &InfectionView) -> Option<impl Iterator<Item = Action>> {
        let chooses = view.question == Question::Choose;
        let answers = matches!(view.question, Question::Answer { .. });
        let partners = move || view.partners.iter().filter(move |_| chooses);
        let with_antidote = move |antidote| {
            let contacts = partners().flat_map(move |with| {
                view.commitments().map(move |commit| Action::Contact { with, commit, antidote })
            });
            let end = (chooses && view.may_end()).then_some(Action::End { antidote });
            let answer = move |commit| Action::Answer { commit, antidote };
            let answers = answers.then(|| view.commitments().map(answer)).into_iter().flatten();
            contacts.chain(end).chain(answers)
        };
        let antidotes: &[bool] =
            if view.told.identity == Identity::Human { &[false, true] } else { &[false] };
        Some(antidotes.iter().copied().flat_map(with_antidote))
    }

    fn apply(
        &mut self,
        moves: &[Move<Action>],
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<(), Rejected<Illegal>> {
        self.check_count(moves)?;
        match &moves[0] {
            Move::Act(action) => self.answer(action, chance, log),
            Move::Forfeit => match self.acting() {
                Some(seat) => self.answer(&self.fallback(seat), chance, log),
                None => Err(Rejected::Over),
            },
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        self.party.outcome()
    }

    fn invariants(&self) -> Result<(), String> {
        self.party.invariants()?;
        let players = self.party.players();
        let mut order = self.order.clone();
        order.sort_unstable();
        if order != Seat::all(players.len()) || self.asked >= players.len() {
            return Err(format!("player {} of the order {:?}", self.asked, self.order));
        }
        if self.told.len() != players.len() || self.applied.len() != players.len() {
            return Err(format!("{} reports for {} players", self.told.len(), players.len()));
        }
        // Within a turn nobody becomes a zombie, so what was announced at its start still holds, but for the infected
        // that the classic rules count.
        let (told, now) = (&self.announced, self.party.public_report());
        let infected = self.party.rules().is_classic();
        if told.turns != now.turns || !infected && (told.humans, told.zombies) != (now.humans, now.zombies) {
            return Err(format!("{told:?} was announced, but it is {now:?}"));
        }
        for (&seat, player) in Seat::all(players.len()).iter().zip(players) {
            let (told, applied) = (self.told[seat.index()], self.applied[seat.index()]);
            if told.identity != self.party.private_report(seat).identity {
                return Err(format!("player {seat} is not what they were told"));
            }
            if told.identity == Identity::Zombie && told.stock.saturating_sub(applied) > player.viruses {
                return Err(format!("zombie {seat} has fewer viruses than they know of"));
            }
            let most = if told.identity == Identity::Human { 0 } else { told.stock };
            if applied > most {
                return Err(format!("player {seat} has applied {applied} viruses of {most}"));
            }
        }
        if self.party.ending().is_some() {
            return if self.pending.is_none() { Ok(()) } else { Err("a contact after the end".to_string()) };
        }
        if players[self.mover().index()].ended {
            return Err("it is the go of somebody who has ended the turn".to_string());
        }
        let fits = |pending: &Pending| {
            self.check_commitment(self.mover(), pending.commit).is_ok()
                && self.can_meet(self.mover(), pending.with)
        };
        match self.pending {
            Some(pending) if !fits(&pending) => Err(format!("an impossible contact is waiting: {pending:?}")),
            _ => Ok(()),
        }
    }
}
