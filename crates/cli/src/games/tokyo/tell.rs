//! Tokyo: the table of monsters at the end.

use crate::{
    paint::{self, bold, dim, red},
    tell::{Story, Teller},
};
use necrodome_rules::{
    game::{Game, Logged, Seat},
    names::Names,
    tokyo::{Event, MAX_HEALTH, Tokyo},
    words::count,
};
use std::io::{self, Write};

#[derive(Default)]
struct WithMonsters {
    story: Story,
    /// Whether the signs of the dice were explained.
    explained: bool,
}

pub fn teller() -> Box<dyn Teller<Tokyo>> {
    Box::new(WithMonsters::default())
}

impl Teller<Tokyo> for WithMonsters {
    fn tell(
        &mut self,
        out: &mut dyn Write,
        names: &Names,
        _: &Tokyo,
        log: &[Logged<Event>],
    ) -> io::Result<()> {
        let keeps = |logged: &Logged<Event>| matches!(&logged.event, Event::Rolled { kept, .. } if kept.contains(&true));
        if !self.explained && log.iter().any(keeps) {
            self.explained = true;
            paint::line(out, 2, &dim("(die): kept; [die]: rolled").to_string())?;
        }
        self.story.tell::<Tokyo>(out, names, log.iter().map(|logged| &logged.event))
    }

    fn end(&mut self, out: &mut dyn Write, names: &Names, game: &Tokyo) -> io::Result<()> {
        let view = game.view(Seat(0));
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        writeln!(out, "{}", bold("Table"))?;
        for (&seat, monster) in Seat::all(names.len()).iter().zip(&view.monsters) {
            let padding = " ".repeat(width - names[seat].chars().count());
            let health =
                "#".repeat(monster.health.into()) + &"-".repeat(usize::from(MAX_HEALTH - monster.health));
            let place = if view.in_tokyo == Some(seat) { "in Tokyo" } else { "" };
            let out_of_it = if monster.is_alive() { place } else { "out" };
            let points = count(monster.points, "point");
            writeln!(
                out,
                "  {}{padding}  {}  {points:>9}  {out_of_it}",
                paint::name(names, seat),
                red(health)
            )?;
        }
        Ok(())
    }
}
