//! Tournaments that a new arena shows from the start, so that nobody finds empty lists. They are real ones, between built-in bots,
//! and over in a second.

use super::{NewEntry, NewTournament};
use necrodome_arena::tournament::Plan;
use necrodome_rules::{catalog::GameId, chance::Seed};

/// The games, and how many blocks of each.
const SAMPLES: [(&str, u32); 2] = [("tokyo", 40), ("zombie-dice", 100)];

/// The seed of all of them. A plan with another one is no sample.
const SEED: u64 = 0x5a4d_504c;

/// What is played in a new arena.
pub(super) fn all() -> impl Iterator<Item = NewTournament> {
    SAMPLES.into_iter().filter_map(|(game, blocks)| {
        let line_up = game.parse::<GameId>().ok()?.card().line_up;
        let entry = |bot: &&str| NewEntry { name: None, bot: (*bot).to_owned() };
        Some(NewTournament {
            game: game.to_owned(),
            entries: line_up.iter().map(entry).collect(),
            blocks: Some(blocks),
            seed: Some(Seed::from(SEED)),
            ..NewTournament::default()
        })
    })
}

/// Whether a tournament is one of them.
pub(super) fn is_sample(plan: &Plan) -> bool {
    plan.seed == Seed::from(SEED)
}
