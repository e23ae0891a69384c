//! Zombie Dice: every roll and every end of a turn. The dice of a finished turn stay on the table until the next roll.

use super::Draw;
use crate::film::HasDice;
use necrodome_rules::{
    game::{Game, Seat},
    zombie_dice::{Event, RaceView, SoloView, TableView, Turn, TurnView},
};

/// A view of Zombie Dice that can be updated event by event.
pub(super) trait Dice {
    fn show(&mut self, turn: TurnView);
    /// Sets the banked score of a seat at the end of its turn.
    fn bank(&mut self, _seat: Seat, _own: Seat, _score: u32) {}
    /// Sets the seat whose turn it is.
    fn mover(&mut self, _seat: Seat) {}
    fn tiebreak(&mut self, _seats: &[Seat]) {}
}

impl Dice for SoloView {
    fn show(&mut self, turn: TurnView) {
        self.turn = turn;
    }
}

impl Dice for RaceView {
    fn show(&mut self, turn: TurnView) {
        self.turn = turn;
    }

    fn bank(&mut self, seat: Seat, own: Seat, score: u32) {
        *(if seat == own { &mut self.score } else { &mut self.opponent_score }) = score;
    }
}

impl Dice for TableView {
    fn show(&mut self, turn: TurnView) {
        self.turn = turn;
    }

    fn bank(&mut self, seat: Seat, _: Seat, score: u32) {
        if let Some(own) = self.scores.get_mut(seat.index()) {
            *own = score;
        }
    }

    fn mover(&mut self, seat: Seat) {
        let place = self.playing.iter().position(|&other| other == seat);
        let place = place.unwrap_or_default() as u16;
        if place < self.played {
            self.rounds += 1;
        }
        self.played = place;
    }

    fn tiebreak(&mut self, seats: &[Seat]) {
        self.playing = seats.to_vec();
        (self.tiebreak, self.played) = (true, 0);
        self.rounds += 1;
    }
}

pub(super) fn draw<G>(rules: &G::Rules) -> Draw<G>
where
    G: Game<Event = Event, Rules: HasDice, View: Dice>,
{
    let (mut turn, out_of_dice) = (Turn::START, rules.out_of_dice());
    Box::new(move |view, event, own| {
        match event {
            Event::Rolled { seat, hand, .. } => {
                turn.land(*hand, out_of_dice);
                view.mover(*seat);
                view.show(turn.view());
            }
            Event::TurnEnded { seat, score, .. } => {
                turn = Turn::START;
                view.bank(*seat, own, *score);
            }
            Event::TiebreakStarted { seats } => view.tiebreak(seats),
        }
        true
    })
}
