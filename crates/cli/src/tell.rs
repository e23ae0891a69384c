//! Stories: a match in words while it is played. The words of each game are in `necrodome_rules`; they are printed here. A game may
//! also bring its own teller.

use crate::{
    games,
    paint::{self, dim},
};
use necrodome_rules::{
    catalog::Listed,
    game::{Game, Logged, Seat},
    names::Names,
    words::Told,
};
use std::io::{self, Write};

/// Narrates a match for somebody who may know everything.
pub trait Teller<G: Game> {
    /// Narrates what happened since the last decision.
    fn tell(
        &mut self,
        out: &mut dyn Write,
        names: &Names,
        game: &G,
        log: &[Logged<G::Event>],
    ) -> io::Result<()>;

    /// Shows the end, before the result.
    fn end(&mut self, _: &mut dyn Write, _: &Names, _: &G) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the teller of a game: its own, or one that tells every event in a line.
pub fn teller<G: Listed>() -> Box<dyn Teller<G>> {
    games::own::<Box<dyn Teller<G>>>().unwrap_or_else(|| Box::new(Story::default()))
}

impl<G: Listed> Teller<G> for Story {
    fn tell(
        &mut self,
        out: &mut dyn Write,
        names: &Names,
        _: &G,
        log: &[Logged<G::Event>],
    ) -> io::Result<()> {
        self.tell::<G>(out, names, log.iter().map(|logged| &logged.event))
    }
}

/// Tells events, one line each. In games without secrets, turns follow each other, and each turn has the player's name above it.
#[derive(Default)]
pub struct Story {
    /// The player whose turn is being told.
    current: Option<Seat>,
    /// How many lines there were since a turn began or ended.
    lines: u32,
    /// Whether the game marks where turns begin and end. Otherwise a turn ends when another player does something.
    has_marks: bool,
}

impl Story {
    pub fn tell<'a, G: Listed>(
        &mut self,
        out: &mut dyn Write,
        names: &Names,
        events: impl IntoIterator<Item = &'a G::Event>,
    ) -> io::Result<()> {
        let told = events.into_iter().flat_map(|event| G::tell(event, names));
        told.into_iter().try_for_each(|told| self.line(out, names, &told, G::CARD.open))
    }

    fn line(&mut self, out: &mut dyn Write, names: &Names, told: &Told, headed: bool) -> io::Result<()> {
        let sentence = || paint::text(&told.sentence(names));
        let own = headed && told.seat.is_some() && told.seat == self.current;
        match told.seat {
            _ if told.mark && !own => paint::line(out, 0, &sentence())?,
            Some(seat)
                if headed && !own && (self.current.is_none() || self.lines == 0 || !self.has_marks) =>
            {
                writeln!(out, "{}", paint::name(names, seat))?;
                paint::line(out, 2, &paint::text(&told.text))?;
                self.current = Some(seat);
            }
            _ if own => paint::line(out, 2, &paint::text(&told.text))?,
            _ => paint::line(out, 2, &sentence())?,
        }
        if told.mark {
            self.has_marks = true;
            (self.current, self.lines) = (if own { None } else { told.seat }, 0);
        } else {
            self.lines += 1;
        }
        Ok(())
    }
}

/// Prints the reason that a player gave for a decision.
pub fn reason(out: &mut dyn Write, reason: &str) -> io::Result<()> {
    paint::line(out, 2, &dim(format!("reason: {reason:?}")).to_string())
}
