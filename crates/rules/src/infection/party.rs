//! The judge's book: who is what, who met whom, and what each player may be told.

use super::{
    classic::{self, Classic},
    contact::{Commitment, Effect, meet},
    seat_set::SeatSet,
};
use crate::{
    game::{Outcome, Seat, within_limit},
    options::Bounded,
};
use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to viruses that find no antibody to cancel: the player carries them, or they are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SurplusVirus {
    /// The player carries them without knowing: they cancel antibodies as they are gained, and are the stock of the
    /// zombie that the player may become.
    #[default]
    Carry,
    /// They are gone.
    Lost,
}

/// The rules of contacts, antidotes and endings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ruleset {
    /// Antibodies, viruses and precautions.
    #[default]
    Standard,
    /// Points, one antidote each, and limits counted in turns.
    Classic,
}

impl Ruleset {
    /// Whether these are the standard rules, which apply by default.
    pub fn is_standard(&self) -> bool {
        *self == Ruleset::Standard
    }

    /// The names of the things that a human and a zombie collect.
    pub fn things(self) -> [&'static str; 2] {
        match self {
            Ruleset::Standard => ["antibody", "virus"],
            Ruleset::Classic => ["handshake", "infection"],
        }
    }
}

/// The options of Infection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InfectionRules {
    /// Which rules: standard (antibodies and viruses) or classic (points).
    // Rules of before are written as they were, so that what was recorded by them proves itself.
    #[serde(skip_serializing_if = "Ruleset::is_standard")]
    #[schemars(extend("default" = "standard"))]
    pub rules: Ruleset,
    /// How many players are zombies at the start.
    pub zombies: Bounded<0, 499>,
    /// The most turns.
    pub max_turns: Bounded<1, MOST_TURNS>,
    /// How many antibodies each human has at the start.
    pub start_antibodies: Bounded<0, 1000>,
    /// How many viruses each zombie has at the start.
    pub start_viruses: Bounded<0, 1000>,
    /// What happens to viruses that find no antibody to cancel: the player carries them, or they are lost.
    pub surplus_virus: SurplusVirus,
    /// Classic rules: how many turns players have to begin a contact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interaction_limit: Option<Bounded<1, 10_000>>,
    /// Classic rules: for how many turns an infection can be cured.
    #[serde(skip_serializing_if = "is_usual")]
    #[schemars(extend("default" = 3))]
    pub antidote_limit: Bounded<0, 10_000>,
}

impl Default for InfectionRules {
    fn default() -> Self {
        InfectionRules {
            rules: Ruleset::Standard,
            zombies: Bounded::new(1),
            max_turns: Bounded::new(8),
            start_antibodies: Bounded::new(0),
            start_viruses: Bounded::new(0),
            surplus_virus: SurplusVirus::Carry,
            interaction_limit: None,
            antidote_limit: ANTIDOTE_LIMIT,
        }
    }
}

impl InfectionRules {
    /// Returns these rules with numbers that give both sides a chance with this many players, according to
    /// `necrodome judge balance --set start_antibodies=3`: with 3 to 300 players, the zombies win between about a third and two thirds
    /// of the games. Parties of any size last five turns, so large ones begin with a larger share of zombies.
    #[must_use]
    pub fn suited(self, players: usize) -> Self {
        let zombies = (players + 6) / 12 + players * players / 5000;
        let zombies = u32::try_from(zombies).unwrap_or(u32::MAX).clamp(1, 499);
        InfectionRules {
            zombies: zombies.try_into().unwrap_or(self.zombies),
            max_turns: Bounded::new(if players < 10 { 4 } else { 5 }),
            start_antibodies: Bounded::new(3),
            ..self
        }
    }

    /// Whether the classic rules apply.
    #[inline]
    pub fn is_classic(&self) -> bool {
        self.rules == Ruleset::Classic
    }

    /// The last turn, or `None` where the classic rules leave the end to the judge.
    pub fn last_turn(&self) -> Option<u32> {
        let turns = self.max_turns.get();
        (!self.is_classic() || turns < MOST_TURNS).then_some(turns)
    }
}

/// The usual limit of the classic rules.
const ANTIDOTE_LIMIT: Bounded<0, 10_000> = Bounded::new(3);

fn is_usual(limit: &Bounded<0, 10_000>) -> bool {
    *limit == ANTIDOTE_LIMIT
}

/// The most turns that a game can have.
const MOST_TURNS: u32 = 10_000;

/// A player's real role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Healthy.
    Human,
    /// Infected; counts as human, and is told so.
    Infected,
    /// A zombie.
    Zombie,
}

/// A player's identity, as they are told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// Human or infected: nobody is told which of the two.
    Human,
    /// A zombie.
    Zombie,
}

/// A player, as the judge knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// Their real role.
    pub role: Role,
    /// Antibodies; 0 for a zombie.
    pub antibodies: u32,
    /// A zombie's stock, or the viruses that a human carries without knowing.
    pub viruses: u32,
    /// Whether they have ended their turn.
    pub ended: bool,
    /// The number of others they have met in this turn.
    pub contacts: u16,
}

impl Player {
    /// Their identity, as they are told it.
    pub fn identity(&self) -> Identity {
        match self.role {
            Role::Human | Role::Infected => Identity::Human,
            Role::Zombie => Identity::Zombie,
        }
    }

    /// Their stock, as they are told it: antibodies of a human, viruses of a zombie.
    pub fn stock(&self) -> u32 {
        match self.identity() {
            Identity::Human => self.antibodies,
            Identity::Zombie => self.viruses,
        }
    }

    /// Checks that they can pay for a commitment. `seat` is their own seat, for the error.
    #[inline]
    fn can_pay(&self, seat: Seat, commitment: Commitment) -> Result<(), Refused> {
        let zombie = self.role == Role::Zombie;
        match commitment {
            Commitment::None => Ok(()),
            Commitment::Precaution if zombie => Err(Refused::Zombie { seat }),
            Commitment::Precaution if self.antibodies == 0 => Err(Refused::NoAntibody { seat }),
            Commitment::Precaution => Ok(()),
            Commitment::Virus { .. } if !zombie => Err(Refused::NotZombie { seat }),
            Commitment::Virus { count: 0 } => Err(Refused::ZeroViruses { seat }),
            Commitment::Virus { count } if count > self.viruses => {
                Err(Refused::TooManyViruses { seat, count, has: self.viruses })
            }
            Commitment::Virus { .. } => Ok(()),
        }
    }
}

/// The report that a player gets at the end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrivateReport {
    /// Their identity, as they are told it.
    pub identity: Identity,
    /// Their antibodies (human) or viruses (zombie). In the classic rules players are not told their points.
    pub stock: u32,
    /// The antidotes they have left, in the classic rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub antidotes: Option<u32>,
}

/// The report that everybody gets at the end of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PublicReport {
    /// Turns finished.
    pub turns: u32,
    /// Players who count as human.
    pub humans: u16,
    /// Zombies, in the classic rules with the infected.
    pub zombies: u16,
    /// The most antibodies any one human has; points in the classic rules.
    pub most_antibodies: u32,
    /// The most viruses any one zombie has; points in the classic rules.
    pub most_viruses: u32,
    /// The rules that this report belongs to.
    #[serde(default, skip_serializing_if = "Ruleset::is_standard")]
    pub rules: Ruleset,
}

/// How a game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Ending {
    /// No human is left.
    ZombiesWin,
    /// Exactly one human is left.
    SurvivorWins {
        /// The survivor.
        seat: Seat,
    },
    /// The last turn is over: the humans win, ranked by antibodies.
    HumansWin,
}

/// Why a command was not carried out. Only for the judge: it may reveal a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Refused {
    #[error("the game is over")]
    Over,
    #[error("the game is full")]
    Full,
    #[error("by the classic rules nobody can join late")]
    NoLatecomers,
    #[error("player {seat} does not exist")]
    NoSuchPlayer { seat: Seat },
    #[error("player {seat} can't meet themselves")]
    Itself { seat: Seat },
    #[error("players {a} and {b} have already met in this turn")]
    Again { a: Seat, b: Seat },
    #[error("player {seat} has ended their turn")]
    Ended { seat: Seat },
    #[error("player {seat} has no antidote left")]
    NoAntidote { seat: Seat },
    #[error("player {seat} commits something, but the classic rules have no commitments")]
    NoCommitments { seat: Seat },
    #[error("player {seat} has no antibody to spend")]
    NoAntibody { seat: Seat },
    #[error("player {seat} is a zombie, and zombies have no antibodies")]
    Zombie { seat: Seat },
    #[error("player {seat} is not a zombie, and only zombies apply viruses")]
    NotZombie { seat: Seat },
    #[error("player {seat} applies no virus: expected at least 1")]
    ZeroViruses { seat: Seat },
    #[error("player {seat} applies {count} viruses but has {has}")]
    TooManyViruses { seat: Seat, count: u32, has: u32 },
}

/// The state of a game, driven by a judge's commands. A refused command changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Saved")]
pub struct Party {
    rules: InfectionRules,
    players: Vec<Player>,
    /// The pairs who met in this turn: a bit for each ordered pair.
    met: PairSet,
    /// Turns finished.
    turns: u32,
    ending: Option<Ending>,
    /// The classic state of each player; empty under the standard rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    classic: Vec<Classic>,
    /// The players who have not ended the turn. `players` holds this too, but finding partners needs it as a set.
    #[serde(skip_serializing)]
    open: SeatSet,
}

/// The JSON of a [`Party`].
#[derive(Deserialize)]
struct Saved {
    rules: InfectionRules,
    players: Vec<Player>,
    met: PairSet,
    turns: u32,
    ending: Option<Ending>,
    #[serde(default)]
    classic: Vec<Classic>,
}

impl From<Saved> for Party {
    fn from(Saved { rules, players, met, turns, ending, classic }: Saved) -> Self {
        let open = open(&players);
        Party { rules, players, met, turns, ending, classic, open }
    }
}

/// Makes a player for the start of the game.
fn fresh(zombie: bool, rules: &InfectionRules) -> Player {
    // The classic rules count points here, from nothing.
    let stock = |start: u32| if rules.is_classic() { 0 } else { start };
    Player {
        role: if zombie { Role::Zombie } else { Role::Human },
        antibodies: if zombie { 0 } else { stock(rules.start_antibodies.get()) },
        viruses: if zombie { stock(rules.start_viruses.get()) } else { 0 },
        ended: false,
        contacts: 0,
    }
}

fn open(players: &[Player]) -> SeatSet {
    // More are refused by the invariants.
    let players = players.iter().take(Party::MAX_PLAYERS);
    (0..).map(Seat).zip(players).filter(|(_, player)| !player.ended).map(|(seat, _)| seat).collect()
}

impl Party {
    /// The most players a game can have.
    pub const MAX_PLAYERS: usize = 500;

    /// Starts a new game. `zombies[i]` says whether player `i` starts as a zombie.
    pub fn new(zombies: &[bool], rules: &InfectionRules) -> Self {
        let players: Vec<Player> = zombies.iter().map(|&zombie| fresh(zombie, rules)).collect();
        let classic =
            zombies.iter().filter(|_| rules.is_classic()).map(|&zombie| Classic::new(zombie)).collect();
        let met = PairSet::new(players.len());
        Saved { rules: *rules, met, players, turns: 0, ending: None, classic }.into()
    }

    /// Adds a late player, with the same start as everybody. They take part from now on.
    pub fn join(&mut self, zombie: bool) -> Result<Seat, Refused> {
        if self.is_closed() {
            return Err(Refused::Over);
        }
        if self.rules.is_classic() {
            return Err(Refused::NoLatecomers);
        }
        if self.players.len() == Self::MAX_PLAYERS {
            return Err(Refused::Full);
        }
        let seat = Seat(self.players.len() as u16);
        self.players.push(fresh(zombie, &self.rules));
        self.met = self.met.grown();
        self.open.insert(seat);
        Ok(seat)
    }

    /// All players, as the judge knows them.
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    /// The classic state of a player; `None` under the standard rules.
    pub fn classic(&self, seat: Seat) -> Option<&Classic> {
        self.classic.get(seat.index())
    }

    /// The rules of this game.
    pub fn rules(&self) -> &InfectionRules {
        &self.rules
    }

    /// Turns finished.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// How the game ended, or `None` while it goes on.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Whether two players have met in this turn.
    #[inline]
    pub fn have_met(&self, a: Seat, b: Seat) -> bool {
        self.met.contains(a, b)
    }

    /// Whether two players could still meet in this turn.
    #[inline]
    pub fn can_meet(&self, a: Seat, b: Seat) -> bool {
        let ended = |seat: Seat| self.players[seat.index()].ended;
        a != b && !ended(a) && !ended(b) && !self.have_met(a, b)
    }

    /// The players whom a player could still meet in this turn.
    pub fn partners(&self, seat: Seat) -> SeatSet {
        let mut partners = SeatSet::default();
        self.refresh_partners(seat, &mut partners);
        partners
    }

    /// Makes `partners` equal to `self.partners(seat)`, reusing its memory.
    #[inline(always)]
    pub fn refresh_partners(&self, seat: Seat, partners: &mut SeatSet) {
        if self.players[seat.index()].ended {
            return partners.clear();
        }
        partners.set_to_difference(&self.open, self.met.row(seat));
        partners.remove(seat);
    }

    /// Plays a contact of two players, each with a commitment. Returns the effect on each, in the same order.
    #[inline]
    pub fn contact(
        &mut self,
        (a, a_commits): (Seat, Commitment),
        (b, b_commits): (Seat, Commitment),
    ) -> Result<[Effect; 2], Refused> {
        let before = [self.active(a)?, self.active(b)?];
        if a == b {
            return Err(Refused::Itself { seat: a });
        }
        if self.have_met(a, b) {
            return Err(Refused::Again { a, b });
        }
        self.can_commit(before[0], a, a_commits)?;
        self.can_commit(before[1], b, b_commits)?;
        let was = before.map(|player| player.role);
        let (classic, surplus) = (self.rules.is_classic(), self.rules.surplus_virus);
        let Ok([one, other]) = self.players.get_disjoint_mut([a.index(), b.index()]) else {
            return Err(Refused::Itself { seat: a });
        };
        if classic {
            classic::meet(one, other);
            self.classic[a.index()].idle_turns = 0;
        } else {
            meet((one, a_commits), (other, b_commits), surplus);
        }
        one.contacts += 1;
        other.contacts += 1;
        let rules = self.rules.rules;
        let effects = [effect(was[0], one, rules), effect(was[1], other, rules)];
        self.met.insert(a, b);
        self.settle_again();
        Ok(effects)
    }

    /// Gives a player the antidote: an infected player becomes human, a human wastes it. It costs an antibody or,
    /// under the classic rules, the player's only antidote.
    pub fn antidote(&mut self, seat: Seat) -> Result<Effect, Refused> {
        let was = self.player(seat)?.role;
        if self.rules.is_classic() {
            let (known, player) = (&mut self.classic[seat.index()], &mut self.players[seat.index()]);
            if known.antidotes == 0 {
                return Err(Refused::NoAntidote { seat });
            }
            known.antidote(player);
            self.settle_again();
        } else {
            self.can_pay(seat, Commitment::Precaution)?;
            let player = &mut self.players[seat.index()];
            player.antibodies -= 1;
            player.role = Role::Human;
        }
        Ok(effect(was, &self.players[seat.index()], self.rules.rules))
    }

    /// Works out the ending again, because the classic rules let a judge go on after the end.
    #[inline]
    fn settle_again(&mut self) {
        if self.ending.is_some() {
            self.ending = self.find_ending();
        }
    }

    /// Ends a player's turn. Close the turn when everybody has ended theirs ([`Party::all_ended`]).
    pub fn end(&mut self, seat: Seat) -> Result<(), Refused> {
        self.active(seat)?;
        self.players[seat.index()].ended = true;
        self.open.remove(seat);
        Ok(())
    }

    /// Whether everybody has ended their turn.
    pub fn all_ended(&self) -> bool {
        self.open.is_empty()
    }

    /// The players who would break a rule if the turn closed now: they have met nobody. The classic rules allow that.
    pub fn offenders(&self) -> Vec<Seat> {
        if self.rules.is_classic() { Vec::new() } else { self.without_contact().collect() }
    }

    /// The players who have met nobody in this turn.
    pub fn without_contact(&self) -> impl Iterator<Item = Seat> + '_ {
        let seats = Seat::all(self.players.len()).iter().copied();
        seats.filter(|seat| self.players[seat.index()].contacts == 0)
    }

    /// Closes the turn for everybody: the infected lose an antibody, those who have none become zombies, and the game may
    /// end. Returns the players who became zombies.
    pub fn next_turn(&mut self) -> Result<Vec<Seat>, Refused> {
        let over = self.ending.is_some() && self.rules.last_turn().is_some();
        if over || self.turns >= MOST_TURNS {
            return Err(Refused::Over);
        }
        let mut turned = Vec::new();
        for (&seat, player) in Seat::all(self.players.len()).iter().zip(&mut self.players) {
            if self.rules.is_classic() {
                if self.classic[seat.index()].end_turn(player, &self.rules) {
                    turned.push(seat);
                }
            } else if player.role == Role::Infected {
                player.antibodies = player.antibodies.saturating_sub(1);
                if player.antibodies == 0 {
                    player.role = Role::Zombie;
                    turned.push(seat);
                }
            }
            player.ended = false;
            player.contacts = 0;
        }
        self.met.clear();
        self.open.clear();
        Seat::all(self.players.len()).iter().for_each(|&seat| self.open.insert(seat));
        self.turns += 1;
        self.ending = self.find_ending();
        Ok(turned)
    }

    fn find_ending(&self) -> Option<Ending> {
        let mut humans = Seat::all(self.players.len())
            .iter()
            .filter(|seat| self.side(&self.players[seat.index()]) == Identity::Human);
        match (humans.next(), humans.next()) {
            (None, _) => Some(Ending::ZombiesWin),
            (Some(&seat), None) => Some(Ending::SurvivorWins { seat }),
            _ if self.turns >= self.rules.max_turns.get() => Some(Ending::HumansWin),
            _ => None,
        }
    }

    /// The side on which a player counts: the infected are humans, or zombies under the classic rules.
    #[inline]
    fn side(&self, player: &Player) -> Identity {
        match player.role {
            Role::Infected if self.rules.is_classic() => Identity::Zombie,
            _ => player.identity(),
        }
    }

    /// The report that a player gets at the end of a turn.
    pub fn private_report(&self, seat: Seat) -> PrivateReport {
        let player = &self.players[seat.index()];
        match self.classic(seat) {
            Some(known) => PrivateReport { identity: known.told, stock: 0, antidotes: Some(known.antidotes) },
            None => PrivateReport { identity: player.identity(), stock: player.stock(), antidotes: None },
        }
    }

    /// The report that everybody gets at the end of a turn.
    pub fn public_report(&self) -> PublicReport {
        let (turns, rules) = (self.turns, self.rules.rules);
        let mut report =
            PublicReport { turns, humans: 0, zombies: 0, most_antibodies: 0, most_viruses: 0, rules };
        for player in &self.players {
            let (count, most, stock) = match self.side(player) {
                Identity::Human => (&mut report.humans, &mut report.most_antibodies, player.antibodies),
                Identity::Zombie => (&mut report.zombies, &mut report.most_viruses, player.viruses),
            };
            *count += 1;
            *most = stock.max(*most);
        }
        report
    }

    /// Places and scores. A loser scores 0, a winner 1, plus their antibodies at the end of the last turn. Under the
    /// classic rules winners always add their points, and the infected have not won.
    pub fn outcome(&self) -> Option<Outcome> {
        let ending = self.ending?;
        if self.rules.is_classic() {
            let winner = if ending == Ending::ZombiesWin { Role::Zombie } else { Role::Human };
            let score =
                |player: &Player| if player.role == winner { 1 + i64::from(player.stock()) } else { 0 };
            let scores: Vec<i64> = self.players.iter().map(score).collect();
            return Some(Outcome::ranked(&scores.clone(), scores, self.turns));
        }
        let score = |player: &Player| match (ending, player.identity()) {
            (Ending::ZombiesWin, Identity::Zombie) | (Ending::SurvivorWins { .. }, Identity::Human) => 1,
            (Ending::HumansWin, Identity::Human) => 1 + i64::from(player.antibodies),
            _ => 0,
        };
        let scores: Vec<i64> = self.players.iter().map(score).collect();
        Some(Outcome::ranked(&scores.clone(), scores, self.turns))
    }

    /// Whether the game takes no more commands. Under the classic rules a judge may write on after the end: old scripts do,
    /// and their result is the state at the end of the script.
    #[inline]
    fn is_closed(&self) -> bool {
        self.ending.is_some() && !self.rules.is_classic()
    }

    /// Finds a player in a game that is not over.
    #[inline]
    fn player(&self, seat: Seat) -> Result<&Player, Refused> {
        if self.is_closed() {
            return Err(Refused::Over);
        }
        self.players.get(seat.index()).ok_or(Refused::NoSuchPlayer { seat })
    }

    /// Finds a player who has not ended their turn.
    #[inline]
    fn active(&self, seat: Seat) -> Result<&Player, Refused> {
        match self.player(seat)? {
            player if player.ended => Err(Refused::Ended { seat }),
            player => Ok(player),
        }
    }

    /// Checks that a player can pay for a commitment.
    #[inline]
    pub fn can_pay(&self, seat: Seat, commitment: Commitment) -> Result<(), Refused> {
        self.can_commit(self.player(seat)?, seat, commitment)
    }

    #[inline]
    fn can_commit(&self, player: &Player, seat: Seat, commitment: Commitment) -> Result<(), Refused> {
        if self.rules.is_classic() && commitment != Commitment::None {
            return Err(Refused::NoCommitments { seat });
        }
        player.can_pay(seat, commitment)
    }

    /// Checks everything that must hold at any time.
    pub fn invariants(&self) -> Result<(), String> {
        let count = self.players.len();
        if !(2..=Self::MAX_PLAYERS).contains(&count) || self.met.players != count {
            return Err(format!("{count} players, met {}", self.met.players));
        }
        self.met.invariants()?;
        if self.open != open(&self.players) {
            return Err("who has ended the turn is not clear".to_string());
        }
        for (&seat, player) in Seat::all(count).iter().zip(&self.players) {
            if player.role == Role::Zombie && player.antibodies > 0 {
                return Err(format!("zombie {seat} has antibodies"));
            }
            if player.role != Role::Zombie && player.antibodies > 0 && player.viruses > 0 {
                return Err(format!("player {seat} has antibodies and carries viruses"));
            }
            let carries = player.role != Role::Zombie && player.viruses > 0;
            if carries && self.rules.surplus_virus == SurplusVirus::Lost {
                return Err(format!("player {seat} carries viruses that should be lost"));
            }
            within_limit([player.antibodies, player.viruses])?;
            let met = Seat::all(count).iter().filter(|&&other| self.have_met(seat, other)).count();
            if met != usize::from(player.contacts) || self.have_met(seat, seat) {
                return Err(format!("player {seat} met {met}, but has {} contacts", player.contacts));
            }
        }
        if self.turns > self.rules.max_turns.get() {
            return Err("the game goes on after its last turn".to_string());
        }
        if self.classic.len() != if self.rules.is_classic() { count } else { 0 } {
            return Err(format!("{} players of the classic rules, {count} players", self.classic.len()));
        }
        let ending = if self.turns == 0 { None } else { self.find_ending() };
        // Points and roles that count for the end change within a turn by the classic rules; it ends with the turn.
        let within = self.rules.is_classic() && self.ending.is_none();
        if self.ending != ending && !within {
            return Err(format!("the ending is {:?}, should be {ending:?}", self.ending));
        }
        Ok(())
    }
}

fn effect(was: Role, after: &Player, rules: Ruleset) -> Effect {
    Effect { was, is: after.role, antibodies: after.antibodies, viruses: after.viruses, rules }
}

/// A symmetric set of pairs of seats, as rows of bits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PairSet {
    players: usize,
    bits: Vec<u64>,
}

impl PairSet {
    fn new(players: usize) -> Self {
        PairSet { players, bits: vec![0; players * players.div_ceil(64)] }
    }

    /// Returns the same pairs, with room for one more seat.
    fn grown(&self) -> Self {
        let mut grown = PairSet::new(self.players + 1);
        let seats = Seat::all(self.players);
        for &a in seats {
            seats.iter().filter(|&&b| self.contains(a, b)).for_each(|&b| grown.insert(a, b));
        }
        grown
    }

    #[inline]
    fn place(&self, a: Seat, b: Seat) -> (usize, u64) {
        (a.index() * self.players.div_ceil(64) + b.index() / 64, 1 << (b.index() % 64))
    }

    /// The seats that met a player, as bits.
    fn row(&self, seat: Seat) -> &[u64] {
        let words = self.players.div_ceil(64);
        &self.bits[seat.index() * words..][..words]
    }

    #[inline]
    fn contains(&self, a: Seat, b: Seat) -> bool {
        let (word, bit) = self.place(a, b);
        self.bits[word] & bit != 0
    }

    #[inline]
    fn insert(&mut self, a: Seat, b: Seat) {
        for (one, other) in [(a, b), (b, a)] {
            let (word, bit) = self.place(one, other);
            self.bits[word] |= bit;
        }
    }

    fn clear(&mut self) {
        self.bits.fill(0);
    }

    fn invariants(&self) -> Result<(), String> {
        if self.bits.len() != self.players * self.players.div_ceil(64) {
            return Err(format!("{} words for {} players", self.bits.len(), self.players));
        }
        let seats = Seat::all(self.players);
        let symmetric = |&a: &Seat| seats.iter().all(|&b| self.contains(a, b) == self.contains(b, a));
        if seats.iter().all(symmetric) { Ok(()) } else { Err("a contact is not symmetric".to_string()) }
    }
}
