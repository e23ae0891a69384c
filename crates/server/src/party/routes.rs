//! Requests to rooms, from the host, from guests and from the wall.

use super::{
    LiveRoom, Viewer, bots,
    doors::Doors,
    random, refuse,
    room::{Input, Latecomers, Member, Number, Room},
    view::{JudgeView, PartyView, Phase},
};
use crate::{
    Refusal, Site,
    json::Body,
    keys::{self, Host, IsHost, Key},
    live::{Live, now},
    places::Origin,
};
use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use necrodome_rules::{
    infection::{Commitment, InfectionRules},
    options::Bounded,
};
use qrcode::{EcLevel, QrCode, render::svg};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The settings of a new room.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OpenRoom {
    /// The rules; if left out, those that suit the number of players when the game starts.
    pub rules: Option<InfectionRules>,
    /// Seconds to answer a proposal, and to commit.
    pub limit: Bounded<5, 600>,
    /// Seconds after which a turn ends for everybody; 0 for no limit.
    pub turn_limit: Bounded<0, 86_400>,
}

impl Default for OpenRoom {
    fn default() -> Self {
        OpenRoom { rules: None, limit: Bounded::new(45), turn_limit: Bounded::new(0) }
    }
}

/// A room that was opened.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Opened {
    /// Its id, which is in its address.
    pub id: String,
}

/// A room in the host's list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RoomSummary {
    /// Its id.
    pub id: String,
    /// Whether it has started, and so on.
    pub phase: Phase,
    /// How many players there are.
    pub players: usize,
    /// The turn, from 1.
    pub turn: u32,
}

/// A request to join a room.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum JoinRoom {
    /// As a new player.
    New {
        /// The name to play under.
        name: String,
    },
    /// As a player who is already there, with a link from the host.
    Offered {
        /// The ticket in the link.
        ticket: String,
    },
}

/// Somebody has joined. The key of the seat is in a cookie.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Joined {
    /// Their number in this room.
    pub number: Number,
}

/// An action of a player.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum SeatAction {
    /// Proposes to meet somebody, or accepts if they have proposed it already.
    Propose {
        /// The other player.
        to: Number,
    },
    /// The same, by the code that the other player shows.
    Scan {
        /// The code.
        code: String,
    },
    /// Accepts somebody's proposal.
    Accept {
        /// The other player.
        with: Number,
    },
    /// Declines somebody's proposal.
    Decline {
        /// The other player.
        with: Number,
    },
    /// Withdraws their own proposal.
    Withdraw,
    /// Commits to the contact that they are busy with.
    Commit {
        /// The other player.
        with: Number,
        /// The commitment.
        commit: Commitment,
    },
    /// Takes the antidote.
    Antidote,
    /// Ends the turn.
    End,
    /// Leaves before the start.
    Leave,
}

/// An order of the host.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum HostOrder {
    /// Starts the game.
    Start,
    /// Adds bots before the start.
    AddBots {
        /// The bot, as written on the command line.
        bot: String,
        /// How many.
        count: Bounded<1, 100>,
    },
    /// Removes a player. Before the start, it is as if they had never joined; later, they end every turn at once.
    Remove {
        /// The player.
        player: Number,
    },
    /// Lets a bot play for somebody.
    Replace {
        /// The player.
        player: Number,
        /// The bot, as written on the command line.
        bot: String,
    },
    /// Ends the turn of one player.
    EndFor {
        /// The player.
        player: Number,
    },
    /// Ends the turn of everybody.
    EndTurn {
        /// The turn, so that two requests do not end two turns.
        turn: u32,
    },
    /// Undoes the last contact.
    Undo {
        /// Its two players, so that no other contact is undone.
        players: [Number; 2],
    },
    /// Chooses the address that codes carry.
    Address {
        /// One of those that guests can use.
        address: String,
    },
    /// Chooses what to do with people who come during the game.
    Latecomers {
        /// Their role.
        are: Latecomers,
    },
    /// Starts another game with the same guests when this one is over.
    Rematch,
    /// Closes the room for good.
    Close,
}

/// The player whose seat is offered to a new phone.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Offer {
    player: Number,
}

/// A seat that is offered: the first person to open the link takes it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SeatOffer {
    /// The link.
    pub link: String,
    /// The link as a picture (SVG).
    pub picture: String,
}

/// How a viewer wants to look at a room.
#[derive(Debug, Default, Deserialize)]
struct LookAs {
    /// `wall`: show only what everybody sees, whoever asks.
    #[serde(rename = "as")]
    who: Option<String>,
}

pub(crate) fn routes() -> Router<Site> {
    Router::new()
        .route("/party", get(list).post(open))
        .route("/party/{id}", get(look))
        .route("/party/{id}/stream", get(follow))
        .route("/party/{id}/join", post(join))
        .route("/party/{id}/act", post(act))
        .route("/party/{id}/host", post(order))
        .route("/party/{id}/offer", post(offer))
        .route("/party/{id}/judge", get(judge))
        .route("/party/{id}/script", get(script))
        .route("/party/{id}/qr.svg", get(join_picture))
        .route("/party/{id}/code.svg", get(code_picture))
}

async fn list(State(site): State<Site>, _: Host) -> Json<Vec<RoomSummary>> {
    let summary = |live: Arc<Live<LiveRoom>>| {
        let board = live.lock().board.clone();
        RoomSummary {
            id: live.id.clone(),
            phase: board.phase,
            players: board.players.len(),
            turn: board.turn,
        }
    };
    Json(site.parties().rooms.all().into_iter().map(summary).collect())
}

async fn open(
    State(site): State<Site>,
    _: Host,
    Body(room): Body<OpenRoom>,
) -> Result<Json<Opened>, Refusal> {
    if room.rules.is_some_and(|rules| rules.is_classic()) {
        let refusal = Refusal::bad("a room plays by the standard rules, not by the classic ones");
        return Err(refusal.hint("necrodome judge keeps the book of a classic party"));
    }
    let input = Input::Open {
        rules: room.rules.unwrap_or_default(),
        limit: room.limit.get(),
        turn_limit: room.turn_limit.get(),
        suited: room.rules.is_none(),
        seed: random(),
    };
    let id = site.aside(|site| site.parties().create(site, input)).await?;
    Ok(Json(Opened { id }))
}

/// Applies the inputs that `wanted` chooses to a room.
async fn carry_out(
    site: Site,
    live: Arc<Live<LiveRoom>>,
    wanted: impl FnOnce(&Room) -> Result<Vec<Input>, Refusal> + Send + 'static,
) -> Result<(), Refusal> {
    site.aside(move |_| live.act(now(), wanted)).await
}

fn viewer(live: &Live<LiveRoom>, headers: &HeaderMap, host: bool, look: &LookAs) -> Viewer {
    match look.who.as_deref() {
        Some("wall") => Viewer { key: None, host: false, wall: true },
        _ => Viewer { key: keys::shown(headers, "party", &live.id), host, wall: false },
    }
}

async fn look(
    State(site): State<Site>,
    Path(id): Path<String>,
    IsHost(host): IsHost,
    Query(look): Query<LookAs>,
    headers: HeaderMap,
) -> Result<Json<PartyView>, Refusal> {
    let live = site.parties().find(&id)?;
    let viewer = viewer(&live, &headers, host, &look);
    let seen = live.lock().look(viewer);
    Ok(Json(seen))
}

async fn follow(
    State(site): State<Site>,
    origin: Origin,
    Path(id): Path<String>,
    IsHost(host): IsHost,
    Query(look): Query<LookAs>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let live = site.parties().find(&id)?;
    super::follow(&live, &site, origin, viewer(&live, &headers, host, &look))
}

async fn join(
    State(site): State<Site>,
    Path(id): Path<String>,
    origin: Origin,
    headers: HeaderMap,
    Body(wanted): Body<JoinRoom>,
) -> Result<Response, Refusal> {
    let live = site.parties().find(&id)?;
    let shown = keys::shown(&headers, "party", &live.id).map(keys::KeyHash::to_text);
    let key = Key::random();
    let hash = key.hash().to_text();
    let own = hash.clone();
    let (joined, limits) = (live.clone(), *site.limits());
    carry_out(site, live.clone(), move |room| {
        if let Some(member) = shown.and_then(|shown| room.holder_of(&shown)) {
            return Err(Refusal::conflict(format!("this browser plays as {} already", member.name)));
        }
        // Here, where requests are carried out one after the other, so that no two get the last place of an address.
        let mut live = joined.lock();
        if matches!(wanted, JoinRoom::New { .. }) {
            live.check_crowd(room, origin, &limits)?;
        }
        live.note_origin(room, &own, origin);
        drop(live);
        Ok(vec![match wanted {
            JoinRoom::New { name } => Input::Join { name: name.trim().to_owned(), key: own },
            JoinRoom::Offered { ticket } => {
                Input::Take { ticket: Key::from_text(&ticket).hash().to_text(), key: own }
            }
        }])
    })
    .await?;
    // Nobody else knows the key yet, so nobody can have left the seat.
    let number = live.lock().room.holder_of(&hash).map(|member| member.number).unwrap_or_default();
    Ok(keys::with_seat("party", &live.id, &key, Json(Joined { number })))
}

async fn act(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(action): Body<SeatAction>,
) -> Result<StatusCode, Refusal> {
    let live = site.parties().find(&id)?;
    let shown = keys::shown(&headers, "party", &live.id).map(keys::KeyHash::to_text);
    carry_out(site, live, move |room| {
        let member = shown.and_then(|shown| room.holder_of(&shown)).ok_or_else(|| {
            Refusal::forbidden("this browser has no seat in this room")
                .hint("join, or ask the host for a link")
        })?;
        inputs_of(room, member, action)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the inputs that an action of a player stands for, in the current state of the room.
fn inputs_of(room: &Room, member: &Member, action: SeatAction) -> Result<Vec<Input>, Refusal> {
    let player = member.number;
    let gone = || Refusal::conflict("there is no such proposal or contact any more");
    match action {
        SeatAction::Propose { to } => Ok(meet(room, player, to)),
        SeatAction::Scan { code } => match room.with_code(code.trim()) {
            Some(to) => Ok(meet(room, player, to)),
            None => Err(Refusal::missing("nobody in this room has this code")),
        },
        SeatAction::Accept { with } => {
            room.proposal_between(with, player).map(|contact| accept(room, player, contact)).ok_or_else(gone)
        }
        SeatAction::Decline { with } => room
            .proposal_between(with, player)
            .map(|contact| vec![Input::Decline { contact }])
            .ok_or_else(gone),
        SeatAction::Withdraw => {
            room.proposal_by(player).map(|contact| vec![Input::Withdraw { contact }]).ok_or_else(gone)
        }
        SeatAction::Commit { with, commit } => {
            let contact = room.contact_between(player, with).ok_or_else(gone)?;
            Ok(vec![Input::Commit { contact, player, commit }])
        }
        SeatAction::Antidote => Ok(vec![Input::Antidote { player }]),
        SeatAction::End => Ok(vec![Input::End { player }]),
        SeatAction::Leave => Ok(vec![Input::Leave { player }]),
    }
}

/// Returns the inputs to propose a contact, or to accept it if the other has proposed it.
fn meet(room: &Room, player: Number, other: Number) -> Vec<Input> {
    match room.proposal_between(other, player) {
        Some(contact) => accept(room, player, contact),
        None => vec![Input::Propose { from: player, to: other }],
    }
}

/// Returns the inputs to accept a proposal; the player's own open proposal is withdrawn.
fn accept(room: &Room, player: Number, contact: u32) -> Vec<Input> {
    let own = room.proposal_by(player).map(|contact| Input::Withdraw { contact });
    own.into_iter().chain([Input::Accept { contact }]).collect()
}

async fn order(
    State(site): State<Site>,
    Path(id): Path<String>,
    _: Host,
    Body(order): Body<HostOrder>,
) -> Result<StatusCode, Refusal> {
    let live = site.parties().find(&id)?;
    let doors = Doors::of(site.config());
    carry_out(site, live, move |room| {
        Ok(vec![match order {
            HostOrder::Address { address } if !doors.lead_to(&address) => {
                return Err(Refusal::bad(format!("guests cannot use {address:?}"))
                    .hint(format!("expected one of {}", doors.addresses.join(", "))));
            }
            HostOrder::Address { address } => Input::Address { address },
            HostOrder::Latecomers { are } => Input::Latecomers { are },
            HostOrder::Rematch => Input::Rematch,
            HostOrder::AddBots { bot, count } => {
                let names = bots::free_names(room).take(count.get() as usize);
                return Ok(names.map(|name| Input::AddBot { name, bot: bot.clone() }).collect());
            }
            HostOrder::Start => Input::Start,
            HostOrder::Remove { player } if room.party().is_none() || room.is_late(player) => {
                Input::Leave { player }
            }
            HostOrder::Remove { player } => Input::Remove { player },
            HostOrder::Replace { player, bot } => Input::Replace { player, bot },
            HostOrder::EndFor { player } => Input::EndFor { player },
            HostOrder::EndTurn { turn } => Input::EndTurn { turn },
            HostOrder::Undo { players } => {
                let (contact, _) =
                    room.last_contact().ok_or_else(|| refuse(super::Refused::NothingToUndo))?;
                Input::Undo { contact, players }
            }
            HostOrder::Close => Input::Close,
        }])
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn offer(
    State(site): State<Site>,
    Path(id): Path<String>,
    _: Host,
    Body(Offer { player }): Body<Offer>,
) -> Result<Json<SeatOffer>, Refusal> {
    let live = site.parties().find(&id)?;
    let ticket = Key::random();
    let input = Input::Offer { player, ticket: ticket.hash().to_text() };
    carry_out(site, live.clone(), move |_| Ok(vec![input])).await?;
    // Behind `#` it is sent to no server on the way, and stands in no log.
    let link = format!("{}#seat={}", live.lock().link, ticket.to_text());
    Ok(Json(SeatOffer { picture: picture(&link)?, link }))
}

async fn judge(
    State(site): State<Site>,
    Path(id): Path<String>,
    _: Host,
) -> Result<Json<JudgeView>, Refusal> {
    let live = site.parties().find(&id)?;
    // Telling the whole game takes a while, and nobody should wait for it.
    let room = live.lock().room.clone();
    site.aside(move |_| Ok(Json(room.judge_view()))).await
}

async fn script(State(site): State<Site>, Path(id): Path<String>, _: Host) -> Result<Response, Refusal> {
    let live = site.parties().find(&id)?;
    let text = live.lock().room.script();
    if text.is_empty() {
        return Err(Refusal::conflict("the game has not started, so there is nothing to export"));
    }
    let file = format!("attachment; filename=\"party-{}.txt\"", live.id);
    let headers =
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::CONTENT_DISPOSITION, file.as_str())];
    Ok((headers, text).into_response())
}

async fn join_picture(State(site): State<Site>, Path(id): Path<String>) -> Result<Response, Refusal> {
    svg_of(&site.parties().find(&id)?.lock().link)
}

/// Returns the code that a player shows to others: a link that proposes a contact.
async fn code_picture(
    State(site): State<Site>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let live = site.parties().find(&id)?;
    let shown = keys::shown(&headers, "party", &live.id).map(keys::KeyHash::to_text);
    let room = live.lock();
    match shown.and_then(|shown| room.room.holder_of(&shown)) {
        Some(member) => svg_of(&format!("{}?meet={}", room.link, member.code)),
        None => Err(Refusal::forbidden("this browser has no seat in this room")),
    }
}

fn svg_of(text: &str) -> Result<Response, Refusal> {
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], picture(text)?).into_response())
}

/// Draws a QR code. It is black on white in every theme, so that all phones can read it.
fn picture(text: &str) -> Result<String, Refusal> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).map_err(Refusal::internal)?;
    Ok(code
        .render::<svg::Color>()
        .min_dimensions(320, 320)
        .dark_color(svg::Color("#000000"))
        .light_color(svg::Color("#ffffff"))
        .build())
}

impl Room {
    /// Whether a player has come during the game and does not take part yet.
    fn is_late(&self, player: Number) -> bool {
        self.late.iter().any(|late| late.number == player)
    }

    fn proposal_between(&self, from: Number, to: Number) -> Option<u32> {
        let (game, from, to) = (self.game.as_ref()?, self.seat(from).ok()?, self.seat(to).ok()?);
        game.proposal(from).filter(|contact| contact.seats[1] == to).map(|contact| contact.id)
    }

    fn proposal_by(&self, from: Number) -> Option<u32> {
        Some(self.game.as_ref()?.proposal(self.seat(from).ok()?)?.id)
    }

    fn contact_between(&self, player: Number, other: Number) -> Option<u32> {
        let (game, seat, other) = (self.game.as_ref()?, self.seat(player).ok()?, self.seat(other).ok()?);
        game.busy(seat).filter(|contact| contact.side(other).is_some()).map(|contact| contact.id)
    }
}
