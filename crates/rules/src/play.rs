//! Plays a match between built-in bots, one decision after the other.

use crate::{
    bot::Bot,
    chance::Chance,
    game::{Game, Log, Move, Outcome, Rejected, Seat},
};
use alloc::{boxed::Box, vec::Vec};

/// Plays `game` to its end, one bot for each seat.
///
/// Built-in bots play by the rules: a rejected action is a bug in the bot, and returned as it is. Views and moves
/// reuse their memory, so a decision allocates nothing unless the bot does.
pub fn play<G: Game>(
    game: &mut G,
    bots: &mut [Box<dyn Bot<G>>],
    chance: &mut impl Chance,
    log: &mut impl Log<G::Event>,
) -> Result<Outcome, Rejected<G::Illegal>> {
    play_with(&mut Memory::default(), game, bots, chance, log)
}

/// Views and moves, reused from match to match.
pub struct Memory<G: Game> {
    views: Vec<G::View>,
    moves: Vec<Move<G::Action>>,
}

impl<G: Game> Default for Memory<G> {
    fn default() -> Self {
        Memory { views: Vec::new(), moves: Vec::new() }
    }
}

/// Plays a match like [`play`], for many matches in a row.
pub fn play_with<G: Game>(
    memory: &mut Memory<G>,
    game: &mut G,
    bots: &mut [impl Bot<G>],
    chance: &mut impl Chance,
    log: &mut impl Log<G::Event>,
) -> Result<Outcome, Rejected<G::Illegal>> {
    let Memory { views, moves } = memory;
    views.truncate(bots.len());
    let missing = &Seat::all(bots.len())[views.len()..];
    views.extend(missing.iter().map(|&seat| game.view(seat)));
    while !game.to_act().is_empty() {
        ask(game, bots, views, moves);
        game.apply(moves, chance, log)?;
    }
    game.outcome().ok_or(Rejected::Over)
}

/// Asks the bots of all seats that are to act, each with its own view.
pub fn decide<G: Game>(
    game: &G,
    bots: &mut [Box<dyn Bot<G>>],
    views: &mut [G::View],
    moves: &mut Vec<Move<G::Action>>,
) {
    ask(game, bots, views, moves);
}

#[inline]
fn ask<G: Game>(game: &G, bots: &mut [impl Bot<G>], views: &mut [G::View], moves: &mut Vec<Move<G::Action>>) {
    moves.clear();
    for &seat in game.to_act() {
        let view = &mut views[seat.index()];
        game.refresh_view(seat, view);
        moves.push(Move::Act(bots[seat.index()].act(view)));
    }
}
