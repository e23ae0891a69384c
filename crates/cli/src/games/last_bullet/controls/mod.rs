//! Last Bullet for a person: they steer one survivor; the entry's others stay where they are, as spare lives.

mod news;
mod screen;
mod window;

use super::tell::letter;
use crate::{
    human::{Controls, Gone, Meant, OwnSeat, expected, keys::Keys, restore::FullScreen},
    paint::{bold, count, dim, green, of_entry},
};
use necrodome_rules::last_bullet::{Action, CopyView, Direction, Event, LastBullet, LastBulletView, Order};
use std::io::{self, Write};
use window::{Cell, targets};

/// Which survivor is steered, and the news that the person has not seen yet.
#[derive(Default)]
struct Steering {
    /// The number of the survivor that is steered.
    steered: Option<u32>,
    /// What has happened to the entry since the last question.
    news: Vec<String>,
    /// The whole terminal, once the window has been drawn.
    screen: Option<FullScreen>,
}

impl Steering {
    /// Returns the survivor that is steered: the same one while it lives, then the next.
    fn survivor<'a>(&mut self, view: &'a LastBulletView) -> Option<&'a CopyView> {
        let same = view.copies.iter().find(|copy| Some(copy.number) == self.steered);
        let copy = same.or(view.copies.first())?;
        if self.steered.is_some_and(|number| number != copy.number) {
            self.news.push("You go on with another survivor.".to_owned());
        }
        self.steered = Some(copy.number);
        Some(copy)
    }

    /// Steers the next survivor.
    fn next(&mut self, view: &LastBulletView) {
        let place = view.copies.iter().position(|copy| Some(copy.number) == self.steered).unwrap_or(0);
        self.steered = view.copies.get((place + 1) % view.copies.len().max(1)).map(|copy| copy.number);
    }
}

pub fn controls() -> Box<dyn Controls<LastBullet>> {
    Box::new(Steering::default())
}

impl Controls<LastBullet> for Steering {
    fn hear(&mut self, out: &mut dyn Write, place: &OwnSeat, heard: &[&Event]) -> io::Result<()> {
        let own = |event: &&&Event| news::is_own(place.seat, event);
        let is_out = heard.iter().filter(own).any(|event| matches!(event, Event::EntryOut { .. }));
        let steered = self.steered;
        // There is room for the last ones: those of one's own matter most.
        let (own, others): (Vec<&Event>, Vec<&Event>) = heard.iter().partition(|event| own(event));
        self.news.extend(others.into_iter().chain(own).filter_map(|event| news::line(steered, place, event)));
        if is_out {
            // No question will follow: the terminal goes back to plain text.
            self.screen = None;
        }
        if is_out || !place.drawn {
            for line in self.news.drain(..) {
                writeln!(out, "  {line}")?;
            }
        }
        Ok(())
    }

    fn show(&mut self, out: &mut dyn Write, _: &OwnSeat, view: &LastBulletView) -> io::Result<()> {
        let Some(copy) = self.survivor(view) else { return Ok(()) };
        for line in self.news.drain(..) {
            writeln!(out, "  {line}")?;
        }
        for row in window::cells(view, copy) {
            for cell in row {
                match cell {
                    Cell::Empty => write!(out, "{} ", dim('.'))?,
                    Cell::Zombie => write!(out, "{} ", green('z'))?,
                    Cell::Corpse => write!(out, "x ")?,
                    Cell::Steered => write!(out, "{} ", bold('@'))?,
                    Cell::Own => write!(out, "{} ", bold('o'))?,
                    Cell::Other(seat) => write!(out, "{} ", of_entry(seat.index(), letter(seat)))?,
                }
            }
            writeln!(out)?;
        }
        for target in targets(view, copy) {
            let (dx, dy) = (i32::from(target.dx), i32::from(target.dy));
            writeln!(out, "  {}: {}", target.number, window::whereabouts(view, target.who, dx, dy))?;
        }
        let others = count(view.copies.len() as u64 - 1, "spare survivor");
        writeln!(out, "clock {}, {}, {others}", view.clock, count(copy.bullets, "bullet"))
    }

    fn words(&self, _: &OwnSeat, _: &LastBulletView) -> String {
        ANSWERS.to_owned()
    }

    fn read(&mut self, _: &OwnSeat, view: &LastBulletView, line: &str) -> Result<Meant<Action>, String> {
        let Some(copy) = self.survivor(view) else { return Ok(Meant::Act(Action::default())) };
        let line = line.to_lowercase();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["next"] => {
                self.next(view);
                Ok(Meant::Again)
            }
            ["shoot", number] => {
                let in_range =
                    targets(view, copy).into_iter().find(|target| number.parse() == Ok(target.number));
                match in_range {
                    _ if copy.bullets == 0 => Err("You have no bullet.".to_owned()),
                    Some(target) => Ok(Meant::Act(shoot(copy, target.number))),
                    None => Err(expected("the number of somebody within range 5", number)),
                }
            }
            [word] => match direction(word) {
                Some(direction) => Ok(Meant::Act(walk(copy, direction))),
                None => Err(expected(ANSWERS, word)),
            },
            _ => Err(expected(ANSWERS, &line)),
        }
    }

    fn by_keys(&mut self, keys: &mut Keys, place: &OwnSeat, view: &LastBulletView) -> Result<Action, Gone> {
        screen::ask(self, keys, place, view)
    }
}

/// What can be typed.
const ANSWERS: &str = "north, northeast, ..., stay, shoot NUMBER, or next (survivor)";

fn walk(copy: &CopyView, direction: Direction) -> Action {
    Action { orders: vec![Order::Move { copy: copy.number, direction }] }
}

fn shoot(copy: &CopyView, target: u32) -> Action {
    Action { orders: vec![Order::Shoot { copy: copy.number, target }] }
}

/// Parses a direction by its name or its first letters.
fn direction(word: &str) -> Option<Direction> {
    Some(match word {
        "north" | "n" => Direction::North,
        "northeast" | "ne" => Direction::Northeast,
        "east" | "e" => Direction::East,
        "southeast" | "se" => Direction::Southeast,
        "south" | "s" => Direction::South,
        "southwest" | "sw" => Direction::Southwest,
        "west" | "w" => Direction::West,
        "northwest" | "nw" => Direction::Northwest,
        "stay" | "." => Direction::Stay,
        _ => return None,
    })
}
