//! Positions that are rare but real. Built-in bots play until one comes up.

use super::{seated, trials::Wanted};
use crate::lineup::built_in;
use necrodome_rules::{
    bot::Bot,
    catalog::Listed,
    chance::Seeded,
    game::{Game, Move, Rejected, Seat, Silent},
    names::Names,
    play::decide,
};

/// A moment of a match in which a seat is to decide.
#[derive(Debug, Clone)]
pub(super) struct RarePosition<G: Game> {
    pub(super) game: G,
    /// The names at the table, with the candidate's in the seat that decides.
    pub(super) names: Names,
    pub(super) seat: Seat,
    pub(super) view: G::View,
}

impl<G: Game> RarePosition<G> {
    /// Checks that the rules allow this action here; the error says why they do not.
    pub(super) fn judge(&self, action: &G::Action) -> Result<(), String> {
        let choice = |&seat: &Seat| match seat == self.seat {
            true => Move::Act(action.clone()),
            false => Move::Forfeit,
        };
        let moves: Vec<_> = self.game.to_act().iter().map(choice).collect();
        match self.game.clone().apply(&moves, &mut Seeded::new(0, "check", 0), &mut Silent) {
            Ok(()) => Ok(()),
            Err(Rejected::Illegal { why, .. }) => Err(why.to_string()),
            Err(other) => Err(other.to_string()),
        }
    }
}

/// Returns the first position in which a seat that is to decide sees what is wanted, or `None` if it does not come up in reasonable
/// time. The candidate's name, the first one, moves to that seat.
pub(super) fn hunt<G: Listed>(
    names: &Names,
    rules: &G::Rules,
    bots: &[&str],
    patience: usize,
    wanted: Wanted<G>,
) -> Option<RarePosition<G>> {
    let mut left = patience;
    for seed in 0.. {
        if let Some(found) = hunt_in::<G>(seed, names, rules, bots, wanted, &mut left) {
            // Names have nothing to do with chance: the same seed leads to the same position.
            let names = seated(names, found.seat.index()).ok()?;
            return hunt_in(seed, &names, rules, bots, wanted, &mut patience.clone());
        }
        // Matches without any decision use up patience, too.
        left = left.checked_sub(1)?;
    }
    None
}

/// Looks for a position in one match.
fn hunt_in<G: Listed>(
    seed: u64,
    names: &Names,
    rules: &G::Rules,
    bots: &[&str],
    wanted: Wanted<G>,
    patience: &mut usize,
) -> Option<RarePosition<G>> {
    let mut chance = Seeded::new(seed, "match", 0);
    let mut game = G::new(names, rules, &mut chance, &mut Silent).ok()?;
    let mut bots = line_up::<G>(bots, names.len(), seed)?;
    let mut views: Vec<G::View> = Seat::all(names.len()).iter().map(|&seat| game.view(seat)).collect();
    let mut moves = Vec::new();
    while game.outcome().is_none() {
        decide(&game, &mut bots, &mut views, &mut moves);
        let found = game.to_act().iter().find(|seat| wanted(&views[seat.index()]));
        if let Some(&seat) = found {
            let view = views.swap_remove(seat.index());
            return Some(RarePosition { game, names: names.clone(), seat, view });
        }
        *patience = patience.checked_sub(1)?;
        game.apply(&moves, &mut chance, &mut Silent).ok()?;
    }
    None
}

/// Returns built-in bots for all seats, in rotation.
pub(super) fn line_up<G: Listed>(bots: &[&str], seats: usize, seed: u64) -> Option<Vec<Box<dyn Bot<G>>>> {
    let bot = |seat: usize| {
        let spec = bots[seat % bots.len()].parse().ok()?;
        built_in::<G>(&spec, &G::Rules::default(), Seeded::new(seed, "bot", seat as u64)).ok()
    };
    (0..seats).map(bot).collect()
}
