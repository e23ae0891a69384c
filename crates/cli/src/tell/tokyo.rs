//! Tokyo: each turn with its dice, and the table of monsters.

use super::Tell;
use crate::paint::{self, bold, count, dim, green, red, yellow};
use necrodome_rules::{
    game::{Game, Logged, Seat},
    names::Names,
    tokyo::{Event, Face, Tokyo},
};
use std::io::{self, Write};

fn face(face: Face) -> String {
    match face {
        Face::One => yellow("1").to_string(),
        Face::Two => yellow("2").to_string(),
        Face::Three => yellow("3").to_string(),
        Face::Heal => green("heal").to_string(),
        Face::Attack => red("attack").to_string(),
    }
}

/// Counts the turns.
#[derive(Default)]
pub struct Story {
    turn: u32,
}

/// Tells events; they are all that is needed.
pub fn tell(story: &mut Story, out: &mut impl Write, names: &Names, log: &[Logged<Event>]) -> io::Result<()> {
    let name = |seat: &Seat| paint::name(names, *seat);
    for Logged { event, .. } in log {
        match event {
            Event::TurnStarted { seat, points } => {
                story.turn += 1;
                write!(out, "{} {}", dim(format!("Turn {}", story.turn)), name(seat))?;
                match points {
                    0 => writeln!(out)?,
                    points => writeln!(out, " is in Tokyo: +{}", count(*points, "point"))?,
                }
            }
            Event::Rolled { dice, kept, .. } => {
                let show = |(die, kept): (&Face, &bool)| match kept {
                    true => format!("({})", face(*die)),
                    false => format!("[{}]", face(*die)),
                };
                let dice: Vec<String> = dice.iter().zip(kept).map(show).collect();
                writeln!(out, "  {}", dice.join(" "))?;
            }
            Event::Scored { points, .. } => writeln!(out, "  scores {}", count(*points, "point"))?,
            Event::Hit { seat, damage, health: 0, .. } => {
                writeln!(out, "  hits {} for {damage}, {}", name(seat), red("who is out"))?;
            }
            Event::Hit { seat, damage, health, .. } => {
                writeln!(out, "  hits {} for {damage}, health {health}", name(seat))?;
            }
            Event::Decided { seat, yields: true } => writeln!(out, "  {} leaves Tokyo", name(seat))?,
            Event::Decided { seat, yields: false } => {
                writeln!(out, "  {} stays in Tokyo", name(seat))?;
            }
            Event::Healed { health, .. } => writeln!(out, "  heals to {health}")?,
            Event::Entered { points, .. } => {
                writeln!(out, "  enters Tokyo: +{}", count(*points, "point"))?;
            }
        }
    }
    Ok(())
}

impl Tell for Tokyo {
    type Story = Story;

    fn tell(
        story: &mut Story,
        out: &mut impl Write,
        names: &Names,
        _: &Self,
        log: &[Logged<Event>],
    ) -> io::Result<()> {
        tell(story, out, names, log)
    }

    fn tell_end(out: &mut impl Write, names: &Names, game: &Self) -> io::Result<()> {
        let view = game.view(Seat(0));
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        writeln!(out, "{}", bold("Table"))?;
        for (&seat, monster) in Seat::all(names.len()).iter().zip(&view.monsters) {
            let padding = " ".repeat(width - names[seat].chars().count());
            let health = "#".repeat(monster.health.into()) + &"-".repeat(usize::from(10 - monster.health));
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

    fn score_text(score: i64) -> String {
        count(score.unsigned_abs(), "point")
    }
}
