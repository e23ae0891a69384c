//! Stories: a match in words, as it goes on. The words of each game are its own (`necrodome_rules`); here they are printed, and
//! a game may have a teller of its own.

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

/// Tells a match to somebody who may hear everything.
pub trait Teller<G: Game> {
    /// Tells what happened since the last decision.
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

/// The teller of a game: its own, or one that tells every event in a line.
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

/// Tells events, one line each. Where nothing is hidden, turn follows turn, and the name of a player stands above theirs.
#[derive(Default)]
pub struct Story {
    /// Whose turn is told.
    current: Option<Seat>,
    /// Lines since a turn began or ended.
    lines: u32,
    /// Whether the game says where turns begin and end; otherwise one ends when another player does something.
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
            _ if told.mark && !own => writeln!(out, "{}", sentence())?,
            Some(seat)
                if headed && !own && (self.current.is_none() || self.lines == 0 || !self.has_marks) =>
            {
                writeln!(out, "{}\n  {}", paint::name(names, seat), paint::text(&told.text))?;
                self.current = Some(seat);
            }
            _ if own => writeln!(out, "  {}", paint::text(&told.text))?,
            _ => writeln!(out, "  {}", sentence())?,
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

/// What somebody said about a decision.
pub fn reason(out: &mut dyn Write, reason: &str) -> io::Result<()> {
    writeln!(out, "  {}", dim(format!("reason: {reason:?}")))
}
