//! The pages of a party: the board for everybody, a private page for each seat, and the host's desk. Each contains only what its
//! viewer may know.

use super::{
    doors::Doors,
    game::{Contact, Game},
    room::{Holder, Latecomers, Member, Number, Room},
    story::{self, Life},
};
use necrodome_judge::report::{self, Winner};
use necrodome_rules::{
    game::Seat,
    infection::{Commitment, Ending, InfectionRules, PrivateReport, PublicReport, Role},
};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// The most announcements that are shown; earlier ones are left out.
const ANNOUNCEMENTS: usize = 30;
/// The most news that a seat is shown; earlier ones of the turn are left out.
const NEWS: usize = 8;
/// The most players who can share an award. If more did equally well, it is nothing special.
const SHARED: usize = 3;
/// The most finished turns that a seat is shown.
const PAST: usize = 12;

/// How far a party has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Guests join.
    Lobby,
    /// The game goes on.
    Playing,
    /// The game is over.
    Over,
    /// The host has closed the room.
    Closed,
}

/// A room as one viewer sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PartyView {
    /// What hangs on the wall; left out of a stream while it stays the same.
    pub board: Option<Arc<Board>>,
    /// Players who have ended the turn.
    pub ended: Vec<Number>,
    /// When the turn ends for everybody, in milliseconds since 1970 by the server's clock, if the host has set a limit.
    pub turn_deadline: Option<u64>,
    /// Players who have no page open; for the wall and the host.
    pub away: Vec<Number>,
    /// The viewer's own seat, if they have one.
    pub seat: Option<SeatView>,
    /// The host's desk, for the host.
    pub host: Option<HostView>,
}

/// What everybody can see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Board {
    /// How far the party has got.
    pub phase: Phase,
    /// Where guests join.
    pub link: String,
    /// The rules.
    pub rules: InfectionRules,
    /// Whether the rules depend on the number of players.
    pub suited: bool,
    /// Seconds to answer a proposal, and to commit.
    pub limit: u32,
    /// Seconds of a turn, or 0 if there is no limit.
    pub turn_limit: u32,
    /// The turn, from 1.
    pub turn: u32,
    /// All players.
    pub players: Vec<PlayerInfo>,
    /// What was announced at the start and after each turn, the latest last.
    pub announcements: Vec<Announcement>,
    /// Players who have come during the game and do not take part yet.
    pub late: Vec<PlayerInfo>,
    /// How it ended.
    pub result: Option<PartyResult>,
    /// The story of the game, which everybody learns when it is over.
    pub story: Option<Story>,
}

/// What everybody learns when a game is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Story {
    /// All players, with their places in the tree of infections.
    pub lives: Vec<Fate>,
    /// Awards for the best in something.
    pub awards: Vec<Award>,
}

/// One player's game, when it is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fate {
    /// The player.
    pub player: Number,
    /// Whether they were a zombie when they came.
    pub zombie: bool,
    /// What they really were at the end.
    pub role: Role,
    /// Who infected them first, and in which turn. That player was a zombie or infected earlier, so this makes a tree.
    pub first: Option<CaughtBy>,
    /// Who infected them last, if they were not healed.
    pub last: Option<Infected>,
    /// The turn at the end of which they became a zombie.
    pub turned: Option<u32>,
}

/// Who infected somebody, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CaughtBy {
    /// The turn.
    pub turn: u32,
    /// The player who infected them.
    pub by: Number,
}

/// An infection that was not healed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Infected {
    /// The turn.
    pub turn: u32,
    /// The player who infected them.
    pub by: Number,
    /// Whether a precaution would have kept them human.
    pub precaution: bool,
    /// The last turn in which they had an antibody for the antidote.
    pub antidote: Option<u32>,
}

/// An award for the best in something; players with the same number share it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Award {
    /// What it is for.
    pub kind: AwardKind,
    /// Who gets it.
    pub players: Vec<Number>,
    /// The number of contacts, turns, antibodies or infections.
    pub number: u32,
}

/// What an award is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AwardKind {
    /// The most contacts.
    MostContacts,
    /// Infected for the most turns before they were healed or a zombie.
    LongestHidden,
    /// The most antibodies gained by meeting people.
    BestTrader,
    /// The most people infected.
    MostInfected,
}

/// A player, as everybody knows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlayerInfo {
    /// Their number in this room.
    pub number: Number,
    /// Their name.
    pub name: String,
    /// Whether a bot plays for them.
    pub bot: bool,
    /// Whether they were removed.
    pub gone: bool,
}

/// An announcement to everybody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Announcement {
    /// The report.
    pub report: PublicReport,
    /// The players who met nobody in that turn, and so broke a rule.
    pub met_nobody: Vec<Number>,
}

/// How a party ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PartyResult {
    /// Who won.
    pub ending: PartyEnding,
    /// The winners, best first.
    pub winners: Vec<PartyWinner>,
}

/// Who won.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartyEnding {
    /// No human is left.
    ZombiesWin,
    /// One human is left.
    SurvivorWins,
    /// The last turn is over.
    HumansWin,
}

/// A winner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PartyWinner {
    /// The rank, from 1; equals share it.
    pub rank: u16,
    /// The player.
    pub player: Number,
    /// The antibodies that decided the rank, if they did.
    pub antibodies: Option<u32>,
}

/// What one player knows and can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeatView {
    /// Their number.
    pub number: Number,
    /// Their name: the board has it once they take part.
    pub name: String,
    /// The code that others scan to meet them.
    pub code: String,
    /// The game, once they take part: from its start or, for those who come later, from the next turn.
    pub play: Option<Play>,
}

impl Member {
    fn seat_view(&self, play: Option<Play>) -> SeatView {
        SeatView { number: self.number, name: self.name.clone(), code: self.code.clone(), play }
    }
}

/// The game as one player knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Play {
    /// The last report that they were given.
    pub told: PrivateReport,
    /// Viruses they have applied since that report.
    pub applied: u32,
    /// How often they have taken the antidote since that report, or tried to.
    pub antidotes: u32,
    /// Whether they may end their turn.
    pub may_end: bool,
    /// Whom they have met in this turn.
    pub met: Vec<Met>,
    /// The proposal that they have made.
    pub proposal: Option<Proposal>,
    /// Proposals that wait for them.
    pub waiting: Vec<Proposal>,
    /// The contact that they are in.
    pub contact: Option<OpenContact>,
    /// What happened to them in this turn, the latest last.
    pub news: Vec<News>,
    /// The turns that are over, the latest last.
    pub past: Vec<PastTurn>,
}

/// A contact of this turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Met {
    /// The other player.
    pub with: Number,
    /// The player's commitment.
    pub committed: Commitment,
}

/// A proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Proposal {
    /// The other player.
    pub with: Number,
    /// When it lapses, in milliseconds since 1970 by the server's clock.
    pub deadline: u64,
}

/// A contact that waits for commitments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenContact {
    /// The other player.
    pub with: Number,
    /// When missing commitments count as none, in milliseconds since 1970 by the server's clock.
    pub deadline: u64,
    /// The player's commitment so far.
    pub committed: Option<Commitment>,
}

/// News for one player about their own contacts and proposals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct News {
    /// Its number in this turn, from 0.
    pub number: usize,
    /// What happened.
    pub what: NewsKind,
    /// The other player.
    pub with: Number,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NewsKind {
    /// The two have met.
    Met,
    /// The other declined.
    Declined,
    /// The other did not answer.
    Lapsed,
    /// The other withdrew their proposal.
    Withdrawn,
    /// The host has undone the contact.
    Undone,
}

/// A turn that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PastTurn {
    /// Its number, from 1.
    pub turn: u32,
    /// Whom the player met.
    pub met: Vec<Number>,
    /// The report that they were given at its end.
    pub told: PrivateReport,
}

/// The host's desk. It reveals nobody's role, since the host may play too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostView {
    /// All players.
    pub players: Vec<HostPlayer>,
    /// The last contact of this turn, which can be undone.
    pub last: Option<[Number; 2]>,
    /// Proposals and contacts that are open.
    pub open: Vec<OpenPair>,
    /// The role of people who come during the game.
    pub latecomers: Latecomers,
    /// How guests can reach the server.
    pub doors: Doors,
}

/// A player, as the host sees them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostPlayer {
    /// Their number.
    pub number: Number,
    /// Whether their page is open somewhere.
    pub connected: bool,
    /// Whether they have met somebody in this turn.
    pub has_met: bool,
    /// The bot that plays for them.
    pub bot: Option<String>,
}

/// Two players who are about to meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenPair {
    /// The player who proposed it, and the other.
    pub players: [Number; 2],
    /// Whether the other has accepted.
    pub accepted: bool,
}

/// What the judge knows, for a host who asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JudgeView {
    /// All players.
    pub players: Vec<JudgedPlayer>,
    /// The whole record in words.
    pub report: String,
}

/// A player, as the judge knows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JudgedPlayer {
    /// Their number.
    pub number: Number,
    /// Their real role.
    pub role: Role,
    /// Their antibodies.
    pub antibodies: u32,
    /// A zombie's stock, or what a human carries without knowing.
    pub viruses: u32,
}

impl Room {
    /// Returns how far the party has got.
    pub fn phase(&self) -> Phase {
        match &self.game {
            _ if self.is_closed() => Phase::Closed,
            None => Phase::Lobby,
            Some(game) if game.party().ending().is_some() => Phase::Over,
            Some(_) => Phase::Playing,
        }
    }

    fn number(&self, seat: Seat) -> Number {
        self.members[seat.index()].number
    }

    fn numbers(&self, seats: &[Seat]) -> Vec<Number> {
        seats.iter().map(|&seat| self.number(seat)).collect()
    }

    /// Returns what everybody can see.
    pub fn board(&self, link: &str) -> Board {
        let announced = self.game.iter().flat_map(Game::announced).rev().take(ANNOUNCEMENTS);
        let mut announcements: Vec<Announcement> = announced
            .map(|(report, met_nobody)| Announcement {
                report: report.clone(),
                met_nobody: self.numbers(met_nobody),
            })
            .collect();
        announcements.reverse();
        Board {
            phase: self.phase(),
            link: link.to_owned(),
            rules: self.rules(),
            suited: self.suited,
            limit: self.limit,
            turn_limit: self.turn_limit,
            turn: self.party().map_or(0, |party| party.turns() + u32::from(party.ending().is_none())),
            players: self.members.iter().map(player_info).collect(),
            announcements,
            late: self.late.iter().map(player_info).collect(),
            result: self.result(),
            story: self.story(),
        }
    }

    fn story(&self) -> Option<Story> {
        let book = self.game.as_ref()?.book();
        let party = book.party().filter(|party| party.ending().is_some())?;
        let lives = story::lives(book);
        let players = lives.iter().zip(party.players()).zip(&self.members);
        let fates = players.map(|((life, player), member)| Fate {
            player: member.number,
            zombie: life.zombie,
            role: player.role,
            first: life.first.map(|(turn, by)| CaughtBy { turn, by: self.number(by) }),
            last: life.last.map(|last| Infected {
                turn: last.turn,
                by: self.number(last.by),
                precaution: last.precaution,
                antidote: last.antidote,
            }),
            turned: life.turned,
        });
        let best = [
            (AwardKind::MostContacts, 1, (|life| life.contacts) as fn(&Life) -> u32),
            (AwardKind::MostInfected, 1, |life| life.infected),
            // Everybody who is infected is it for a turn.
            (AwardKind::LongestHidden, 2, |life| life.hidden),
            (AwardKind::BestTrader, 1, |life| life.gained),
        ];
        let awards = best.into_iter().filter_map(|(kind, least, of)| {
            let number = lives.iter().map(of).max().filter(|&most| most >= least)?;
            let best = lives.iter().zip(&self.members).filter(|(life, _)| of(life) == number);
            let players: Vec<Number> = best.map(|(_, member)| member.number).collect();
            (players.len() <= SHARED).then_some(Award { kind, players, number })
        });
        Some(Story { lives: fates.collect(), awards: awards.collect() })
    }

    fn result(&self) -> Option<PartyResult> {
        let book = self.game.as_ref()?.book();
        let ending = book.party()?.ending()?;
        let winner = |winner: Winner| PartyWinner {
            rank: winner.rank,
            player: self.number(winner.seat),
            antibodies: winner.antibodies,
        };
        let winners = report::winners(book).into_iter().map(winner).collect();
        let ending = match ending {
            Ending::ZombiesWin => PartyEnding::ZombiesWin,
            Ending::SurvivorWins { .. } => PartyEnding::SurvivorWins,
            Ending::HumansWin => PartyEnding::HumansWin,
        };
        Some(PartyResult { ending, winners })
    }

    /// Returns the players who have ended the turn.
    pub fn ended(&self) -> Vec<Number> {
        let Some(party) = self.party() else { return Vec::new() };
        let ended = self.members.iter().zip(party.players()).filter(|(_, player)| player.ended);
        ended.map(|(member, _)| member.number).collect()
    }

    /// Returns what one player knows, or `None` if they are not in this room. `deadline` gives the deadline of a proposal or contact.
    pub fn seat_view(&self, player: Number, deadline: impl Fn(u32) -> u64) -> Option<SeatView> {
        if let Some(late) = self.late.iter().find(|late| late.number == player) {
            return Some(late.seat_view(None));
        }
        let seat = self.seat(player).ok()?;
        let play = self.game.as_ref().map(|game| self.play(game, seat, deadline));
        Some(self.members[seat.index()].seat_view(play))
    }

    fn play(&self, game: &Game, seat: Seat, deadline: impl Fn(u32) -> u64) -> Play {
        let known = game.known(seat);
        let on = game.party().ending().is_none();
        let other = |pair: [Seat; 2]| self.number(if pair[0] == seat { pair[1] } else { pair[0] });
        let proposal =
            |contact: &Contact| Proposal { with: other(contact.seats), deadline: deadline(contact.id) };
        let mine = game.met().iter().filter(|meeting| meeting.seats.contains(&seat));
        let news = known.notes.iter().enumerate().skip(known.notes.len().saturating_sub(NEWS));
        let past = known.past.iter().skip(known.past.len().saturating_sub(PAST));
        Play {
            told: known.told,
            applied: known.applied,
            antidotes: known.antidotes,
            may_end: on && !game.party().players()[seat.index()].ended && game.may_end(seat),
            met: mine
                .map(|meeting| Met {
                    with: other(meeting.seats),
                    committed: meeting.commits[usize::from(meeting.seats[1] == seat)],
                })
                .collect(),
            proposal: game.proposal(seat).map(proposal),
            waiting: game.waiting(seat).map(proposal).collect(),
            contact: game.busy(seat).map(|contact| OpenContact {
                with: other(contact.seats),
                deadline: deadline(contact.id),
                committed: contact.commits.unwrap_or_default()[usize::from(contact.seats[1] == seat)],
            }),
            news: news
                .map(|(number, &(what, with))| News { number, what, with: self.number(with) })
                .collect(),
            past: past
                .map(|past| PastTurn { turn: past.turn, met: self.numbers(&past.met), told: past.told })
                .collect(),
        }
    }

    /// Returns the host's desk.
    pub fn host_view(&self, connected: impl Fn(Number) -> bool, doors: Doors) -> HostView {
        let has_met = |place: usize| self.party().is_some_and(|party| party.players()[place].contacts > 0);
        let player = |(place, member): (usize, &Member)| HostPlayer {
            number: member.number,
            connected: connected(member.number),
            has_met: has_met(place),
            bot: match &member.holder {
                Holder::Bot(bot) => Some(bot.clone()),
                _ => None,
            },
        };
        let game = self.game.as_ref().filter(|game| game.party().ending().is_none());
        let open = game.map_or(&[][..], Game::contacts).iter().map(|contact| OpenPair {
            players: contact.seats.map(|seat| self.number(seat)),
            accepted: contact.commits.is_some(),
        });
        HostView {
            players: self.members.iter().enumerate().map(player).collect(),
            latecomers: self.latecomers,
            doors,
            last: self.last_contact().map(|(_, players)| players),
            open: open.collect(),
        }
    }

    /// Returns the last contact of this turn and its two players.
    pub fn last_contact(&self) -> Option<(u32, [Number; 2])> {
        let last = self.game.as_ref()?.met().last()?;
        Some((last.id, last.seats.map(|seat| self.number(seat))))
    }

    /// Returns the numbers of the open proposals and contacts, and whether they are accepted.
    pub fn open_contacts(&self) -> impl Iterator<Item = (u32, bool)> {
        let contacts = self.game.as_ref().map_or(&[][..], Game::contacts);
        contacts.iter().map(|contact| (contact.id, contact.commits.is_some()))
    }

    /// Returns what the judge knows.
    pub fn judge_view(&self) -> JudgeView {
        let players = self.party().map_or(&[][..], |party| party.players());
        let judged = self.members.iter().zip(players).map(|(member, player)| JudgedPlayer {
            number: member.number,
            role: player.role,
            antibodies: player.antibodies,
            viruses: player.viruses,
        });
        let report = self.game.as_ref().map(|game| report::judge(game.book()));
        JudgeView { players: judged.collect(), report: report.unwrap_or_default() }
    }
}

fn player_info(member: &Member) -> PlayerInfo {
    PlayerInfo {
        number: member.number,
        name: member.name.clone(),
        bot: matches!(member.holder, Holder::Bot(_)),
        gone: member.holder == Holder::Nobody,
    }
}
