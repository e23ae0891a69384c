//! A kernel for any game in which one seat decides at a time: the referee plays every match.

use crate::{
    actions::HOLD,
    batched::{Autoreset, Batched},
    field::Field,
    kernel::{Kernel, Views},
    observe::Observe,
    parts::Chunk,
    stream::Stream,
};
use necrodome_rules::{
    game::{self, Game, Move, Seat, Silent},
    names::{Names, SetupError},
};
use serde::Serialize;
use std::ops::Range;

/// Matches played by their referees.
pub type RefereedBatch<G> = Batched<Refereed<G>>;

/// Names and rules that go together.
#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub struct Refereed<G: Observe> {
    names: Names,
    rules: G::Rules,
}

/// A match, and the view of the seat that decides.
#[derive(Debug, Clone)]
pub struct RefereedMatch<G: Game> {
    game: G,
    /// The seat that decides, or decided last.
    seat: Seat,
    view: G::View,
    /// Each seat's return so far.
    returns: Vec<f32>,
    stream: Stream,
}

impl<G: Observe> RefereedMatch<G> {
    /// Takes a match from its referee; `last` is the seat that decided last, if it is over.
    fn new(game: G, last: Seat, stream: Stream) -> Self {
        let seat = game.to_act().first().copied().unwrap_or(last);
        let mut returns = vec![0.0; game.seats()];
        game.returns(&mut returns);
        RefereedMatch { view: game.view(seat), game, seat, returns, stream }
    }

    fn is_over(&self) -> bool {
        self.game.to_act().is_empty()
    }

    /// Plays an action and returns the reward of the seat that acted.
    fn play(&mut self, action: u8) -> f32 {
        let actor = self.seat;
        let before = self.returns[actor.index()];
        self.act(G::action(&self.view, action.into()));
        if let Some(&seat) = self.game.to_act().first() {
            self.seat = seat;
        }
        self.game.refresh_view(self.seat, &mut self.view);
        self.game.returns(&mut self.returns);
        self.returns[actor.index()] - before
    }

    /// Plays an action, or its legal part, or a forfeit: the last is always accepted.
    fn act(&mut self, action: Option<G::Action>) {
        if let Some(action) = action {
            let rest = G::salvage(&self.view, &action);
            if self.apply(Move::Act(action)) || rest.is_some_and(|rest| self.apply(Move::Act(rest))) {
                return;
            }
        }
        self.apply(Move::Forfeit);
    }

    fn apply(&mut self, choice: Move<G::Action>) -> bool {
        self.game.apply(&[choice], &mut self.stream, &mut Silent).is_ok()
    }
}

impl<G: Observe> Refereed<G> {
    /// Starts a match. One in which nobody has to decide is no episode: then it starts another.
    fn new_match(&self, mut stream: Stream) -> RefereedMatch<G> {
        loop {
            let game =
                G::new(&self.names, &self.rules, &mut stream, &mut Silent).expect("the set-up was tried out");
            if !game.to_act().is_empty() {
                return RefereedMatch::new(game, Seat::default(), stream);
            }
        }
    }
}

impl<G: Observe> Kernel for Refereed<G> {
    type Game = G;
    type Cell = i16;
    type Block = RefereedMatch<G>;
    /// An observation.
    type Scratch = Vec<i16>;
    /// The JSON of names and rules.
    type Basis = String;
    /// The referee's JSON and who decided last, then the stream.
    type Saved = ((String, u16), Stream);

    fn new(rules: &G::Rules, seats: usize) -> Result<Self, SetupError> {
        let actions = G::actions(seats);
        if actions > HOLD.into() {
            let most = (2..seats).take_while(|&seats| G::actions(seats) <= HOLD.into()).last().unwrap_or(2);
            return Err(SetupError::Seats { expected: *G::SEATS.start()..=most, came: seats });
        }
        let names = Names::new((1..=seats).map(|seat| format!("player {seat}")))?;
        G::new(&names, rules, &mut Stream::new(0), &mut Silent)?;
        Ok(Refereed { names, rules: rules.clone() })
    }

    fn fields(&self) -> Vec<Field> {
        G::fields(&self.rules, self.names.len())
    }

    fn actions(&self) -> usize {
        G::actions(self.names.len())
    }

    /// The lists of a match take about as much as its JSON, and those of the view, too.
    fn bytes_of_a_match(&self) -> usize {
        let one = self.new_match(Stream::new(0));
        size_of::<RefereedMatch<G>>() + 2 * serde_json::to_string(&one.game).map_or(0, |text| text.len())
    }

    fn scratch(&self) -> Vec<i16> {
        vec![0; self.fields().len()]
    }

    fn begun(&self, seeds: Range<u64>, _: &mut Vec<i16>) -> RefereedMatch<G> {
        self.new_match(Stream::new(seeds.start))
    }

    fn seed(one: &mut RefereedMatch<G>, _: usize, seed: u64) {
        one.stream = Stream::new(seed);
    }

    fn begin(&self, one: &mut RefereedMatch<G>, _: usize, _: &mut Vec<i16>) {
        *one = self.new_match(one.stream.clone());
    }

    fn step(&self, chunk: Chunk<'_, Self>, actions: &[u8], autoreset: Autoreset) {
        let Chunk { blocks, scratch: obs, mut out } = chunk;
        let seats = self.names.len();
        for (row, (one, &action)) in blocks.iter_mut().zip(actions).enumerate() {
            let had_ended = one.is_over();
            let holds = action == HOLD;
            out.rewards[row] = if had_ended || holds { 0.0 } else { one.play(action) };
            let is_over = one.is_over();
            if is_over
                && !had_ended
                && let Some(kept) = out.final_rewards.get_mut(row * seats..(row + 1) * seats)
            {
                kept.copy_from_slice(&one.returns);
            }
            let begins = autoreset.begins(had_ended, is_over) && !holds;
            if begins {
                if !had_ended {
                    G::observe(&self.rules, &one.view, obs);
                    out.final_obs.set_row(row, obs.iter().copied());
                }
                self.begin(one, 0, obs);
            }
            G::observe(&self.rules, &one.view, obs);
            out.obs.set_row(row, obs.iter().copied());
            out.terminated[row] = is_over && !(begins && had_ended);
            out.truncated[row] = false;
        }
    }

    fn tell(&self, chunk: &mut Chunk<'_, Self>) {
        let Chunk { blocks, scratch: obs, out } = chunk;
        for (row, one) in blocks.iter().enumerate() {
            G::observe(&self.rules, &one.view, obs);
            out.obs.set_row(row, obs.iter().copied());
            out.terminated[row] = one.is_over();
            out.truncated[row] = false;
        }
    }

    fn mask(&self, one: &RefereedMatch<G>, _: usize, out: &mut [bool]) {
        G::mask(&one.view, out);
    }

    fn is_legal(&self, one: &RefereedMatch<G>, _: usize, _: usize, action: u8) -> bool {
        let mut mask = vec![false; self.actions()];
        G::mask(&one.view, &mut mask);
        one.is_over() || mask[usize::from(action)]
    }

    fn to_act(one: &RefereedMatch<G>, _: usize) -> u8 {
        one.seat.index() as u8
    }

    fn basis(&self) -> String {
        serde_json::to_string(self).expect("rules are written in JSON everywhere")
    }

    fn save(one: &RefereedMatch<G>, _: usize) -> Self::Saved {
        let game = serde_json::to_string(&one.game).expect("referees are written in JSON everywhere");
        ((game, one.seat.0), one.stream.clone())
    }

    fn restore(
        &self,
        one: &mut RefereedMatch<G>,
        _: usize,
        ((game, last), stream): Self::Saved,
    ) -> Result<(), String> {
        let game: G = game::restore(&game).map_err(|why| why.to_string())?;
        let seats = self.names.len();
        if game.seats() != seats || usize::from(last) >= seats {
            let came = game.seats();
            return Err(format!(
                "expected one of {seats} seats to have decided last, got seat {last} of {came}"
            ));
        }
        *one = RefereedMatch::new(game, Seat(last), stream);
        Ok(())
    }
}

impl<G: Observe> Views for Refereed<G> {
    fn rules(&self) -> &G::Rules {
        &self.rules
    }

    fn view(&self, one: &RefereedMatch<G>, _: usize, seat: Seat) -> G::View {
        one.game.view(seat)
    }

    fn refresh_view(&self, one: &RefereedMatch<G>, _: usize, seat: Seat, view: &mut G::View) {
        one.game.refresh_view(seat, view);
    }
}
