//! The information that every page needs: the games with their options and bots, and whether the viewer is the host.

use crate::{Site, keys::IsHost};
use axum::{Json, Router, extract::State, routing::get};
use necrodome_arena::{
    lineup::{self, BotInfo},
    tournament::BLOCKS_OF_SLOW_BOTS,
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    options::{self, OptionInfo},
    with_game,
};
use necrodome_solve::solver;
use schemars::JsonSchema;
use serde::Serialize;

/// The information that every page needs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SiteInfo {
    /// The version of the arena.
    pub version: &'static str,
    /// Whether this viewer is the host.
    pub host: bool,
    /// All games.
    pub games: Vec<GameInfo>,
}

/// A game.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GameInfo {
    /// Its id.
    pub id: &'static str,
    /// Its name.
    pub title: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
    /// What a bot of it must know, in a sentence or two.
    pub hint: &'static str,
    /// The fewest seats of a match.
    pub min_seats: usize,
    /// The most seats of a match.
    pub max_seats: usize,
    /// The usual format of its tournaments: `table`, `round-robin` and so on.
    pub format: &'static str,
    /// The built-in bots of a tournament without a line-up, some with a name: `patient=stop-at:brains=5`.
    pub line_up: &'static [&'static str],
    /// The blocks of a tournament of built-in bots, unless somebody asks for another number.
    pub blocks: u32,
    /// The same with programs.
    pub blocks_of_programs: u32,
    /// Whether it is solved exactly, for one or two seats and the usual rules.
    pub solved: bool,
    /// The options of its rules.
    pub options: Vec<OptionInfo>,
    /// Its built-in bots.
    pub bots: Vec<BotInfo>,
    /// The programs that the host lets into tournaments, by name; told to the host only.
    pub allowed: Vec<String>,
}

impl GameInfo {
    fn of<G: Listed>() -> Self {
        GameInfo {
            id: G::ID,
            title: G::TITLE,
            about: G::CARD.about,
            hint: G::CARD.hint,
            min_seats: *G::SEATS.start(),
            max_seats: *G::SEATS.end(),
            format: G::CARD.format.as_str(),
            line_up: G::CARD.line_up,
            blocks: G::CARD.blocks,
            blocks_of_programs: G::CARD.blocks.min(BLOCKS_OF_SLOW_BOTS),
            solved: solver::<G>().is_some(),
            options: options::describe::<G::Rules>(),
            bots: lineup::bots::<G>(),
            allowed: Vec::new(),
        }
    }
}

pub(crate) fn routes() -> Router<Site> {
    Router::new().route("/site", get(site))
}

async fn site(State(site): State<Site>, IsHost(host): IsHost) -> Json<SiteInfo> {
    let info = |id: GameId| GameInfo {
        allowed: if host { site.tournaments().allowed().names(id) } else { Vec::new() },
        ..with_game!(id, G => GameInfo::of::<G>())
    };
    let games = GameId::ALL.into_iter().map(info).collect();
    Json(SiteInfo { version: env!("CARGO_PKG_VERSION"), host, games })
}
