//! Tokyo: a row as the view of a monster.

use super::{Seen, score};
use necrodome_batch::signals::Ends;
use necrodome_rules::{
    game::Seat,
    tokyo::{self, Face, Monster, Phase, Tokyo, TokyoRules, TokyoView},
};
use necrodome_solve::{Impossible, Solution as _, TokyoSolution, for_two};

/// The view of a row, or `None` if there is no decision.
fn tokyo_view(solution: &TokyoSolution, row: &[i16]) -> Result<Option<TokyoView>, String> {
    let &[phase, rerolls_left, damage, ref rest @ ..] = row else { return Err("an empty row".to_owned()) };
    let (dice, monsters) = rest.split_at(6);
    let mut faces = [Face::One; 6];
    for (face, &number) in faces.iter_mut().zip(dice) {
        let known = usize::try_from(number).ok().and_then(|number| Face::ALL.get(number));
        *face = *known.ok_or_else(|| format!("a die that shows {number}"))?;
    }
    let mut view = TokyoView {
        seat: Seat(0),
        current: Seat(0),
        monsters: Vec::with_capacity(2),
        in_tokyo: None,
        dice: faces,
        phase: Phase::Over,
        turn: 1,
    };
    let mut current = 0;
    for (seat, monster) in (0..).zip(monsters.chunks_exact(4)) {
        let &[health, points, in_tokyo, moves] = monster else { continue };
        let health = u8::try_from(health).ok().filter(|&health| health <= tokyo::MAX_HEALTH);
        let health = health.ok_or_else(|| format!("health_{seat}={}", monster[0]))?;
        view.monsters.push(Monster { health, points: score(points)? });
        if in_tokyo == 1 && view.in_tokyo.replace(Seat(seat)).is_some() {
            return Err("two monsters in Tokyo".to_owned());
        }
        if moves == 1 {
            view.current = Seat(seat);
            current += 1;
        }
    }
    if current != 1 {
        return Err(format!("it is the turn of {current} monsters"));
    }
    let over = view.monsters.iter().any(|monster| !monster.is_alive() || monster.points >= tokyo::GOAL);
    let own_turn = view.current == Seat(0);
    view.phase = match (phase, rerolls_left, damage) {
        (0, 1..=2, _) if !over && own_turn => {
            Phase::Rolling { rerolls_left: rerolls_left.unsigned_abs() as u8 }
        }
        (1, _, 1..=6) if !over && !own_turn => Phase::Yielding { damage: damage.unsigned_abs() as u8 },
        (0..=2, 0..=2, 0..=6) => return Ok(None),
        _ => return Err(format!("phase={phase} with rerolls_left={rerolls_left} and damage={damage}")),
    };
    solution.check(&view).map_err(|why| why.to_string())?;
    Ok(Some(view))
}

/// The number of kept dice of each face: the value of keeping them depends on nothing else.
fn kept(dice: &[Face; 6], mask: usize) -> u32 {
    let marked = dice.iter().enumerate().filter(|(die, _)| mask >> die & 1 == 1);
    marked.map(|(_, &face)| 1 << (4 * face as u32)).sum()
}

impl Seen for Tokyo {
    const ENDS: Ends = Ends::Chance { win: 1.0 };

    /// In place of an illegal action all dice are kept, or a monster stays in Tokyo.
    fn price_illegal(_: &TokyoRules, _: &[i16], values: &mut [f64]) {
        let forfeit = if values[63].is_nan() { values[65] } else { values[63] };
        values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = forfeit);
    }

    fn fits(view: &TokyoView) -> Result<(), Impossible> {
        for_two::<Tokyo>(view.monsters.len(), view.seat)
    }

    fn values(_: &TokyoRules, solution: &TokyoSolution, row: &[i16], out: &mut [f64]) -> Result<(), String> {
        let Some(view) = tokyo_view(solution, row)? else { return Ok(()) };
        for option in solution.prices(&view) {
            match option.action {
                tokyo::Action::Yield => out[64] = option.value,
                tokyo::Action::Stay => out[65] = option.value,
                tokyo::Action::Keep { dice } => {
                    let mask = number(&dice);
                    let alike = kept(&view.dice, mask);
                    let same = (0..64).filter(|&other| kept(&view.dice, other) == alike);
                    same.for_each(|other| out[other] = option.value);
                }
            }
        }
        Ok(())
    }

    fn best(_: &TokyoRules, solution: &TokyoSolution, row: &[i16]) -> Result<u8, String> {
        let Some(view) = tokyo_view(solution, row)? else { return Ok(0) };
        Ok(match solution.best(&view) {
            tokyo::Action::Keep { dice } => number(&dice) as u8,
            tokyo::Action::Yield => 64,
            tokyo::Action::Stay => 65,
        })
    }
}

/// Writes a mask of dice as a number: bit i is die i.
fn number(dice: &[bool; 6]) -> usize {
    (0..).zip(dice).map(|(die, &kept)| usize::from(kept) << die).sum()
}
