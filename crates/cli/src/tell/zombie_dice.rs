//! Zombie Dice: the dice in their colours, roll by roll.

use super::Tell;
use crate::paint::{self, Painted, bold, count, dim, green, red, yellow};
use necrodome_rules::{
    game::{Logged, Seat},
    names::Names,
    zombie_dice::{Colour, Die, Event, Face, Race, Solo, Table, TurnEnd},
};
use std::io::{self, Write};

fn die(die: Die) -> Painted<String> {
    let (paint, colour): (fn(String) -> Painted<String>, _) = match die.colour {
        Colour::Green => (green, "green"),
        Colour::Yellow => (yellow, "yellow"),
        Colour::Red => (red, "red"),
    };
    let face = match die.face {
        Face::Brain => "brain",
        Face::Footsteps => "footsteps",
        Face::Shotgun => "shotgun",
    };
    paint(format!("[{colour} {face}]"))
}

/// Whose turn was told last.
#[derive(Default)]
pub struct Story {
    current: Option<Seat>,
}

/// Tells events of any format.
pub fn tell(story: &mut Story, out: &mut impl Write, names: &Names, log: &[Logged<Event>]) -> io::Result<()> {
    for Logged { event, .. } in log {
        match event {
            Event::Rolled { seat, hand, brains, shotguns } => {
                if story.current != Some(*seat) {
                    writeln!(out, "{}", paint::name(names, *seat))?;
                    story.current = Some(*seat);
                }
                let [a, b, c] = hand.map(die);
                let sum = format!("{}, {}", count(*brains, "brain"), count(*shotguns, "shotgun"));
                writeln!(out, "  {a} {b} {c}  {}", dim(sum))?;
            }
            Event::TurnEnded { seat, why, banked, score } => {
                if story.current != Some(*seat) {
                    writeln!(out, "{}", paint::name(names, *seat))?;
                }
                story.current = None;
                let what = match why {
                    TurnEnd::Stopped => format!("stops and banks {banked}"),
                    TurnEnd::OutOfDice => format!("is out of dice and banks {banked}"),
                    TurnEnd::Busted => "is shot three times and gets nothing".to_owned(),
                    TurnEnd::Forfeited => "gave no valid answer and gets nothing".to_owned(),
                };
                writeln!(out, "  {what}, score {}", bold(score))?;
            }
            Event::TiebreakStarted { seats } => {
                let tied: Vec<_> = seats.iter().map(|&seat| paint::name(names, seat).to_string()).collect();
                writeln!(out, "{} {} are tied and play another round", bold("Tiebreak:"), tied.join(", "))?;
            }
        }
    }
    Ok(())
}

macro_rules! tell_format {
    ($game:ty) => {
        impl Tell for $game {
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

            fn score_text(score: i64) -> String {
                count(score.unsigned_abs(), "brain")
            }
        }
    };
}

tell_format!(Solo);
tell_format!(Race);
tell_format!(Table);
