//! The tournaments that a new arena plays at its first start, so that its lists are not empty. They are real tournaments between
//! built-in bots, and take only a second.

use super::{NewEntry, NewTournament};
use necrodome_arena::tournament::Plan;
use necrodome_rules::{catalog::GameId, chance::Seed};

/// The games, and the number of blocks of each. The race is solved, so that its films show luck and mistakes.
const SAMPLES: [(&str, u32); 3] = [("zombie-dice-race", 40), ("tokyo", 40), ("zombie-dice", 100)];

/// The seed of all samples. A plan with another seed is not a sample.
const SEED: u64 = 0x5a4d_504c;

/// Returns the sample tournaments.
pub(super) fn all() -> impl Iterator<Item = NewTournament> {
    SAMPLES.into_iter().filter_map(|(game, blocks)| {
        let card = game.parse::<GameId>().ok()?.card();
        let entry = |(name, bot): (Option<&str>, &str)| NewEntry {
            name: name.map(str::to_owned),
            bot: bot.to_owned(),
        };
        Some(NewTournament {
            game: game.to_owned(),
            entries: card.entries().map(entry).collect(),
            blocks: Some(blocks),
            seed: Some(Seed::from(SEED)),
            ..NewTournament::default()
        })
    })
}

/// Whether a tournament is a sample.
pub(super) fn is_sample(plan: &Plan) -> bool {
    plan.seed == Seed::from(SEED)
}
