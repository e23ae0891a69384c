//! The trials of each game: numbers of seats, options, and positions that bots stumble over.

mod infection;
mod last_bullet;
mod tokyo;
mod zombie_dice;

use necrodome_rules::{catalog::Listed, game::Game, own_part};

/// Tests whether a view is the wanted one.
pub(super) type Wanted<G> = fn(&<G as Game>::View) -> bool;

/// A kind of match to play, and the positions to show from it.
pub(super) struct Setup<G: Game> {
    /// The number of seats.
    pub seats: usize,
    /// Options of the rules, `name=value`, with spaces between.
    pub set: &'static str,
    /// The number of matches for each seat that is tried.
    pub matches: usize,
    /// Positions to show: a description, the built-in bots that get there, and the test that recognises it.
    pub positions: Vec<(&'static str, &'static [&'static str], Wanted<G>)>,
}

/// Everything that the bots of a game are tried with.
pub(super) struct Trials<G: Game> {
    /// The bot's opponents. The first one's answers are shown as examples.
    pub opponents: Vec<&'static str>,
    /// The number of matches that one process must last.
    pub stamina: usize,
    /// The number of steps to search for a position.
    pub patience: usize,
    /// The setups to play. The protocol is checked with the first.
    pub setups: Vec<Setup<G>>,
}

/// Returns the trials of a game: its own, or the usual ones for any game.
pub(super) fn trials<G: Listed>() -> Trials<G> {
    let own = own_part![
        zombie_dice::solo(),
        zombie_dice::race(),
        zombie_dice::table(),
        last_bullet::trials(),
        infection::trials(),
        tokyo::trials(),
    ];
    own.unwrap_or_else(usual)
}

/// The usual trials: few seats and many, the usual rules, and no particular position.
fn usual<G: Listed>() -> Trials<G> {
    const MANY: usize = 12;
    let (least, most) = (*G::SEATS.start(), *G::SEATS.end());
    let few = 2.clamp(least, most);
    let mut setups = vec![Setup { seats: few, set: "", matches: 10, positions: Vec::new() }];
    if most > few {
        setups.push(Setup { seats: most.min(MANY.max(least)), set: "", matches: 3, positions: Vec::new() });
    }
    let opponents = G::built_ins().iter().map(|bot| bot.name).collect();
    Trials { opponents, stamina: 50, patience: 100_000, setups }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{names, positions::hunt, rules_with};
    use necrodome_rules::{catalog::GameId, with_game};

    /// Every position comes up with the game's own options, and a built-in bot's answer to it is legal.
    fn positions_exist<G: Listed>() {
        let Trials { opponents, patience, setups, .. } = trials::<G>();
        for setup in setups {
            let rules = rules_with::<G>(setup.set, &[]).unwrap();
            let names = names("me", setup.seats).unwrap();
            for (what, bots, wanted) in setup.positions {
                let position = hunt::<G>(&names, &rules, bots, patience, wanted);
                let position = position.unwrap_or_else(|| panic!("{}: {what}", G::ID));
                assert_eq!(&position.names[position.seat], "me", "{}: {what}", G::ID);
                assert!(wanted(&position.view), "{}: {what}", G::ID);
                let mut bots = crate::check::positions::line_up::<G>(&opponents, 1, 0).unwrap();
                position.judge(&bots[0].act(&position.view)).unwrap();
            }
        }
    }

    #[test]
    fn all_positions_come_up() {
        for &id in GameId::WITH_EXAMPLES {
            with_game!(id, G => positions_exist::<G>());
        }
    }
}
