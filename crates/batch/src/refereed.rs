//! A match played by its referee: any game in which one seat decides at a time.

use crate::{field::Field, observe::Observe, rows::Lane, stream::Stream};
use necrodome_rules::{
    game::{self, Move, Seat, Silent},
    names::{Names, SetupError},
};
use serde::Serialize;

/// A match and what the seat that decides sees of it.
#[derive(Debug, Clone)]
pub struct Refereed<G: Observe> {
    game: G,
    /// Who decides, or decided last.
    seat: Seat,
    view: G::View,
    /// What each seat has got so far.
    returns: Vec<f32>,
}

/// Names and rules that go together.
#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub struct Setup<G: Observe> {
    names: Names,
    rules: G::Rules,
}

impl<G: Observe> Setup<G> {
    /// Refuses rules or a number of seats with which there is no match.
    pub fn new(seats: usize, rules: G::Rules) -> Result<Self, SetupError> {
        let names = Names::new((1..=seats).map(|seat| format!("player {seat}")))?;
        G::new(&names, &rules, &mut Stream::new(0), &mut Silent)?;
        Ok(Setup { names, rules })
    }
}

impl<G: Observe> Refereed<G> {
    fn apply(&mut self, choice: Move<G::Action>, stream: &mut Stream) -> bool {
        self.game.apply(&[choice], stream, &mut Silent).is_ok()
    }

    /// Plays an action, what can stand of it, or none: the last is always accepted.
    fn act(&mut self, action: Option<G::Action>, stream: &mut Stream) {
        if let Some(action) = action {
            let rest = G::salvage(&self.view, &action);
            if self.apply(Move::Act(action), stream)
                || rest.is_some_and(|rest| self.apply(Move::Act(rest), stream))
            {
                return;
            }
        }
        self.apply(Move::Forfeit, stream);
    }
}

impl<G> Lane for Refereed<G>
where
    G: Observe<Rules: Send + Sync, View: Send> + Send,
{
    type Setup = Setup<G>;
    /// The referee's JSON, and who decided last.
    type Saved = (String, u16);

    fn fields(setup: &Setup<G>) -> Vec<Field> {
        G::fields(&setup.rules, setup.names.len())
    }

    fn actions(setup: &Setup<G>) -> usize {
        G::actions(setup.names.len())
    }

    fn seats(setup: &Setup<G>) -> usize {
        setup.names.len()
    }

    fn begin(setup: &Setup<G>, stream: &mut Stream) -> Self {
        let game = G::new(&setup.names, &setup.rules, stream, &mut Silent).expect("the set-up was tried out");
        let seat = game.to_act().first().copied().unwrap_or_default();
        let mut returns = vec![0.0; setup.names.len()];
        game.returns(&mut returns);
        Refereed { view: game.view(seat), game, seat, returns }
    }

    fn play(&mut self, action: u8, stream: &mut Stream) -> f32 {
        let actor = self.seat;
        let before = self.returns[actor.index()];
        self.act(G::action(&self.view, action.into()), stream);
        if let Some(&seat) = self.game.to_act().first() {
            self.seat = seat;
        }
        self.game.refresh_view(self.seat, &mut self.view);
        self.game.returns(&mut self.returns);
        self.returns[actor.index()] - before
    }

    fn is_over(&self) -> bool {
        self.game.to_act().is_empty()
    }

    fn seat(&self) -> usize {
        self.seat.index()
    }

    fn observe(&self, setup: &Setup<G>, out: &mut [i16]) {
        G::observe(&setup.rules, &self.view, out);
    }

    fn mask(&self, out: &mut [bool]) {
        G::mask(&self.view, out);
    }

    fn returns(&self, out: &mut [f32]) {
        out.copy_from_slice(&self.returns);
    }

    fn save(&self) -> (String, u16) {
        let game = serde_json::to_string(&self.game).expect("referees are written in JSON everywhere");
        (game, self.seat.0)
    }

    fn restore(setup: &Setup<G>, (game, seat): (String, u16)) -> Result<Self, String> {
        let game: G = game::restore(&game).map_err(|why| why.to_string())?;
        let seat = game.to_act().first().copied().unwrap_or(Seat(seat));
        let seats = setup.names.len();
        if seat.index() >= seats {
            return Err(format!("expected one of {seats} seats to have decided last, got seat {seat}"));
        }
        let mut returns = vec![0.0; seats];
        game.returns(&mut returns);
        Ok(Refereed { view: game.view(seat), game, seat, returns })
    }
}
