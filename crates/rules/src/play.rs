//! Plays a match between bots of this program from one decision to the next.

use crate::{
    bot::Bot,
    chance::Chance,
    game::{Game, Log, Move, Outcome, Rejected, Seat},
};
use alloc::{boxed::Box, vec::Vec};

/// Plays `game` to its end, one bot for each seat.
///
/// Built-in bots play by the rules: a rejected action is a bug of theirs, and returned as it is. The memory of views
/// and moves is reused, so that a decision allocates nothing unless the bot does.
pub fn play<G: Game>(
    game: &mut G,
    bots: &mut [Box<dyn Bot<G>>],
    chance: &mut impl Chance,
    log: &mut impl Log<G::Event>,
) -> Result<Outcome, Rejected<G::Illegal>> {
    let mut views: Vec<G::View> = Seat::all(bots.len()).iter().map(|&seat| game.view(seat)).collect();
    let mut moves = Vec::with_capacity(bots.len());
    loop {
        if let Some(outcome) = game.outcome() {
            return Ok(outcome);
        }
        decide(game, bots, &mut views, &mut moves);
        game.apply(&moves, chance, log)?;
    }
}

/// Asks the bots of all seats that are to act, each with its own view.
pub fn decide<G: Game>(
    game: &G,
    bots: &mut [Box<dyn Bot<G>>],
    views: &mut [G::View],
    moves: &mut Vec<Move<G::Action>>,
) {
    moves.clear();
    for &seat in game.to_act() {
        let view = &mut views[seat.index()];
        game.refresh_view(seat, view);
        moves.push(Move::Act(bots[seat.index()].act(view)));
    }
}
