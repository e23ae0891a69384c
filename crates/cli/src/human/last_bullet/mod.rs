//! Last Bullet for a person: one survivor is steered, the others of the entry stay and are its spare lives.

mod news;
mod screen;
mod window;

use super::{Gone, Keys, Place, Playable, Said, lines::expected, restore::FullScreen};
use crate::{
    paint::{bold, count, dim, green, of_entry},
    tell::last_bullet::letter,
};
use necrodome_rules::{
    game::Logged,
    last_bullet::{Action, CopyView, Direction, Event, LastBullet, LastBulletView, Order},
};
use std::io::{self, Write};
use window::{Cell, targets};

/// What the place remembers.
#[derive(Default)]
pub struct Memory {
    /// The number of the survivor that is steered.
    steered: Option<u32>,
    /// What has happened to the entry since the last question.
    news: Vec<String>,
    /// The whole terminal, once the window has been drawn.
    screen: Option<FullScreen>,
}

impl Memory {
    /// The survivor that is steered: the same as before while it lives, or the next one.
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

impl Playable for LastBullet {
    const RULES: &'static str = "\
Outlive everybody else; your score is the last clock at which one of yours lived.
The board wraps around. You see 8 squares far, a gun reaches 5.
Each turn a zombie rises somewhere. Whoever is next to a zombie is bitten.
Then all decide at once: a step in eight directions, a shot, or stay.
Zombies walk toward the nearest of the living that they see.
A shot kills what it hits. Next to a corpse its bullets are yours.
Two who want the same square both stay where they are.
You steer one survivor (@). Your others (o) stay, and are your spare lives.";
    const OPPONENTS: &'static [&'static str] = &["gunner", "runner", "huddle"];
    type Memory = Memory;

    fn may_hear(place: &Place, logged: &Logged<Event>) -> bool {
        news::is_own(place.seat, &logged.event)
    }

    fn hear(
        memory: &mut Memory,
        out: &mut impl Write,
        place: &Place,
        log: &[Logged<Event>],
    ) -> io::Result<()> {
        let is_out = log.iter().any(|logged| matches!(logged.event, Event::EntryOut { .. }));
        let steered = memory.steered;
        memory.news.extend(log.iter().filter_map(|logged| news::line(steered, &logged.event)));
        if is_out {
            // No question will follow: the terminal goes back to plain text.
            memory.screen = None;
        }
        if is_out || !place.drawn {
            for line in memory.news.drain(..) {
                writeln!(out, "  {line}")?;
            }
        }
        Ok(())
    }

    fn show(memory: &mut Memory, out: &mut impl Write, _: &Place, view: &LastBulletView) -> io::Result<()> {
        let Some(copy) = memory.survivor(view) else { return Ok(()) };
        for line in memory.news.drain(..) {
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

    fn words(_: &LastBulletView) -> &'static str {
        "north, northeast, ..., stay, shoot NUMBER, or next (survivor)"
    }

    fn read(
        memory: &mut Memory,
        _: &Place,
        view: &LastBulletView,
        line: &str,
    ) -> Result<Said<Action>, String> {
        let Some(copy) = memory.survivor(view) else { return Ok(Said::Act(Action::default())) };
        let line = line.to_lowercase();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["next"] => {
                memory.next(view);
                Ok(Said::Again)
            }
            ["shoot", number] => {
                let in_range =
                    targets(view, copy).into_iter().find(|target| number.parse() == Ok(target.number));
                match in_range {
                    _ if copy.bullets == 0 => Err("You have no bullet.".to_owned()),
                    Some(target) => Ok(Said::Act(shoot(copy, target.number))),
                    None => Err(expected("the number of somebody within range 5", number)),
                }
            }
            [word] => match direction(word) {
                Some(direction) => Ok(Said::Act(walk(copy, direction))),
                None => Err(expected(Self::words(view), word)),
            },
            _ => Err(expected(Self::words(view), &line)),
        }
    }

    fn by_keys(
        memory: &mut Memory,
        keys: &mut Keys,
        place: &Place,
        view: &LastBulletView,
    ) -> Result<Action, Gone> {
        screen::ask(memory, keys, place, view)
    }
}

fn walk(copy: &CopyView, direction: Direction) -> Action {
    Action { orders: vec![Order::Move { copy: copy.number, direction }] }
}

fn shoot(copy: &CopyView, target: u32) -> Action {
    Action { orders: vec![Order::Shoot { copy: copy.number, target }] }
}

/// A direction by its name or its first letters.
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
