//! Last Bullet as a story: a line for each turn with losses, the number of survivors over time, and the board at the end.

use crate::{
    paint::{self, bold, dim, green, of_entry, red},
    tell::Teller,
};
use necrodome_rules::{
    game::{Logged, Seat},
    last_bullet::{Event, Kind, LastBullet, Square, words::seat_of},
    names::Names,
    words::count,
};
use std::{
    collections::BTreeMap,
    io::{self, Write},
};

/// How many turns pass between two counts of the survivors.
const CENSUS_EVERY: u32 = 25;

/// When the survivors were last counted.
#[derive(Default)]
struct Census {
    last: Option<u32>,
}

/// The ways to lose a copy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Loss {
    Shot,
    Buried,
    Bitten,
}

pub fn teller() -> Box<dyn Teller<LastBullet>> {
    Box::new(Census::default())
}

impl Teller<LastBullet> for Census {
    fn tell(
        &mut self,
        out: &mut dyn Write,
        names: &Names,
        game: &LastBullet,
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
            let clock = dim(format!("clock {:>4}", game.clock()));
            paint::line(out, 0, &format!("{clock}  {}", parts.join(", ")))?;
        }
        for (seat, score) in gone {
            writeln!(
                out,
                "            {} {}",
                paint::name(names, seat),
                red(format!("is gone, score {score}"))
            )?;
        }
        if self.last.is_none_or(|last| game.clock() >= last + CENSUS_EVERY) {
            self.last = Some(game.clock());
            census(out, names, game)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, names: &Names, game: &LastBullet) -> io::Result<()> {
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
}

/// Returns a letter for each entry. After 26 entries, the letters start again.
pub fn letter(seat: Seat) -> char {
    char::from(b'A' + (seat.index() % 26) as u8)
}

/// Prints how many pieces of each kind are on the board.
fn census(out: &mut dyn Write, names: &Names, game: &LastBullet) -> io::Result<()> {
    let mut living = vec![0; names.len()];
    let (mut zombies, mut corpses) = (0u32, 0u32);
    for piece in game.pieces() {
        match piece.kind {
            Kind::Player(seat) => living[seat.index()] += 1,
            Kind::Zombie => zombies += 1,
            Kind::Corpse => corpses += 1,
        }
    }
    let alive =
        |&seat: &Seat| format!("{} {} {}", letter(seat), paint::name(names, seat), living[seat.index()]);
    let mut parts = vec![bold(format!("clock {:>4}", game.clock())).to_string()];
    parts.extend(Seat::all(names.len()).iter().map(alive));
    parts.extend([count(zombies, "zombie"), count(corpses, "corpse")]);
    paint::line(out, 0, &parts.join("  "))
}
