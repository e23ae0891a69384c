//! Last Bullet: a line for each turn in which somebody was lost, the curve of the living, and the board at the end.

use super::Tell;
use crate::paint::{self, bold, count, dim, green, of_entry, red};
use necrodome_rules::{
    game::{Logged, Seat},
    last_bullet::{Event, Kind, LastBullet, Square, WhoIs},
    names::Names,
};
use std::{
    collections::BTreeMap,
    io::{self, Write},
};

/// A line with the numbers of the living comes every so many turns.
const CENSUS_EVERY: u32 = 25;

/// The clock of the last census.
#[derive(Default)]
pub struct Story {
    census: Option<u32>,
}

/// The ways to lose a copy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Loss {
    Shot,
    Buried,
    Bitten,
}

fn seat_of(who: WhoIs) -> Option<Seat> {
    who.0.checked_sub(2).map(Seat)
}

impl Tell for LastBullet {
    type Story = Story;

    fn tell(
        story: &mut Story,
        out: &mut impl Write,
        names: &Names,
        game: &Self,
        log: &[Logged<Event>],
    ) -> io::Result<()> {
        let mut losses: BTreeMap<(Loss, Seat), u32> = BTreeMap::new();
        let mut lose = |loss, seat| *losses.entry((loss, seat)).or_default() += 1;
        let mut zombies_shot = 0u32;
        let mut gone = Vec::new();
        for Logged { event, .. } in log {
            match event {
                Event::Rose { replaced: Some(replaced), .. } => {
                    if let Some(seat) = seat_of(replaced.who) {
                        lose(Loss::Buried, seat);
                    }
                }
                Event::Bitten { seat, .. } => lose(Loss::Bitten, *seat),
                Event::Killed { who, .. } => match seat_of(*who) {
                    Some(seat) => lose(Loss::Shot, seat),
                    None => zombies_shot += 1,
                },
                Event::EntryOut { seat, score } => gone.push((*seat, *score)),
                Event::Rose { replaced: None, .. } | Event::Shot { .. } | Event::Scavenged { .. } => {}
            }
        }
        let mut parts: Vec<String> = Vec::new();
        for ((loss, seat), number) in losses {
            let how = match loss {
                Loss::Shot => "shot",
                Loss::Buried => "under a rising zombie",
                Loss::Bitten => "bitten",
            };
            parts.push(format!("{number} {} {how}", paint::name(names, seat)));
        }
        if zombies_shot > 0 {
            parts.push(green(format!("{} shot", count(zombies_shot, "zombie"))).to_string());
        }
        if !parts.is_empty() {
            writeln!(out, "{}  {}", dim(format!("clock {:>4}", game.clock())), parts.join(", "))?;
        }
        for (seat, score) in gone {
            writeln!(
                out,
                "            {} {}",
                paint::name(names, seat),
                red(format!("is gone, score {score}"))
            )?;
        }
        if story.census.is_none_or(|last| game.clock() >= last + CENSUS_EVERY) {
            story.census = Some(game.clock());
            census(out, names, game)?;
        }
        Ok(())
    }

    fn tell_end(out: &mut impl Write, names: &Names, game: &Self) -> io::Result<()> {
        census(out, names, game)?;
        writeln!(out, "{}", dim("z zombie, x corpse, letters: the living by entry"))?;
        for y in 0..game.side() {
            for x in 0..game.side() {
                match game.piece_at(Square { x, y }).map(|piece| piece.kind) {
                    None => write!(out, "{}", dim('.'))?,
                    Some(Kind::Zombie) => write!(out, "{}", green('z'))?,
                    Some(Kind::Corpse) => write!(out, "x")?,
                    Some(Kind::Player(seat)) => write!(out, "{}", of_entry(seat.index(), letter(seat)))?,
                }
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn score_text(score: i64) -> String {
        format!("lived to clock {score}")
    }
}

/// A letter for each entry; they start again after 26.
pub fn letter(seat: Seat) -> char {
    char::from(b'A' + (seat.index() % 26) as u8)
}

/// How many of each are on the board.
fn census(out: &mut impl Write, names: &Names, game: &LastBullet) -> io::Result<()> {
    let mut living = vec![0; names.len()];
    let (mut zombies, mut corpses) = (0u32, 0u32);
    for piece in game.pieces() {
        match piece.kind {
            Kind::Player(seat) => living[seat.index()] += 1,
            Kind::Zombie => zombies += 1,
            Kind::Corpse => corpses += 1,
        }
    }
    write!(out, "{}  ", bold(format!("clock {:>4}", game.clock())))?;
    for &seat in Seat::all(names.len()) {
        write!(out, "{} {} {}  ", letter(seat), paint::name(names, seat), living[seat.index()])?;
    }
    writeln!(out, "{}  {}", count(zombies, "zombie"), count(corpses, "corpse"))
}
