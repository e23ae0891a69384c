//! Tokyo for two, solved: the chance to win in every state, the best dice to keep, when to leave Tokyo.

mod dice;
mod duel;
mod export;
mod habits;
mod play;
mod policy;
mod position;
mod rolls;
mod sheet;

pub use duel::{Answers, AskedMonster, TokyoBot, TokyoDuel, tokyo};
pub use play::{PerfectMonster, TokyoMeter};
pub use position::MonsterQuestion;
pub use rolls::Rolls;

use dice::{FULL, Handfuls};
use necrodome_rules::tokyo::{GOAL, MAX_HEALTH};
use policy::KeepPolicy;
use rayon::prelude::*;
use rolls::KnownRolls;
use sheet::Sheet;
use std::sync::OnceLock;

const HEALTH: usize = MAX_HEALTH as usize;
const POINTS: usize = GOAL as usize;
/// The number of turns computed together: with four the sheet fits into the first cache.
const LANES: usize = 4;

/// The mover's place when the turn begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In Tokyo; the points for it are still to come.
    Inside,
    /// Outside; the other monster is in Tokyo.
    Outside,
    /// Outside; nobody is in Tokyo: the first turn of a match.
    Empty,
}

/// The beginning of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Start {
    /// The mover's place.
    pub place: Place,
    /// The mover's health, from 1.
    pub health: u8,
    /// The other's health, from 1.
    pub other_health: u8,
    /// The mover's points, below 20.
    pub points: u8,
    /// The other's points, below 20.
    pub other_points: u8,
}

impl Start {
    /// The beginning of a match.
    pub const MATCH: Start = Start {
        place: Place::Empty,
        health: MAX_HEALTH,
        other_health: MAX_HEALTH,
        points: 0,
        other_points: 0,
    };

    fn number(&self) -> usize {
        let points = usize::from(self.points) * POINTS + usize::from(self.other_points);
        points * HEALTH * HEALTH + (usize::from(self.health) - 1) * HEALTH + usize::from(self.other_health)
            - 1
    }
}

/// The mover's chance at the beginning of the turn, by [`Start::number`].
#[derive(Debug, Clone)]
struct Values {
    inside: Vec<f64>,
    outside: Vec<f64>,
}

impl Values {
    fn new() -> Self {
        let states = POINTS * POINTS * HEALTH * HEALTH;
        Values { inside: vec![0.0; states], outside: vec![0.0; states] }
    }

    /// The values by place, except for the first turn of a match.
    fn of(&self, place: Place) -> &[f64] {
        if place == Place::Inside { &self.inside } else { &self.outside }
    }

    fn of_mut(&mut self, place: Place) -> &mut [f64] {
        if place == Place::Inside { &mut self.inside } else { &mut self.outside }
    }
}

/// Tokyo for two, solved.
#[derive(Debug)]
pub struct TokyoSolution {
    values: Values,
    policy: OnceLock<KeepPolicy>,
    known_rolls: OnceLock<KnownRolls>,
}

impl Default for TokyoSolution {
    fn default() -> Self {
        TokyoSolution::new()
    }
}

impl TokyoSolution {
    /// Solves Tokyo.
    ///
    /// Points never become fewer, and a monster that begins a turn in Tokyo gains two. A turn from inside leads to a higher total
    /// of points; a turn from outside leads to a higher total, or to a turn from inside with the same total. So the solver takes
    /// states by total points, from the most down, and inside before outside.
    pub fn new() -> Self {
        let mut solution =
            TokyoSolution { values: Values::new(), policy: OnceLock::new(), known_rolls: OnceLock::new() };
        for total in (0..2 * POINTS - 1).rev() {
            let own = total.saturating_sub(POINTS - 1)..=total.min(POINTS - 1);
            let batches: Vec<(usize, usize)> = own
                .flat_map(|own| (0..HEALTH * HEALTH).step_by(LANES).map(move |first| (own, first)))
                .collect();
            for place in [Place::Inside, Place::Outside] {
                let solve = |&(own, first): &(usize, usize)| {
                    let start = |lane: usize| Start {
                        place,
                        health: ((first + lane) / HEALTH) as u8 + 1,
                        other_health: ((first + lane) % HEALTH) as u8 + 1,
                        points: own as u8,
                        other_points: (total - own) as u8,
                    };
                    let starts: [Start; LANES] = std::array::from_fn(start);
                    (starts[0].number(), solution.solve_turns(&starts))
                };
                let solved: Vec<(usize, [f64; LANES])> =
                    batches.par_iter().with_min_len(16).map(solve).collect();
                let values = solution.values.of_mut(place);
                for (first, chances) in solved {
                    values[first..first + LANES].copy_from_slice(&chances);
                }
            }
        }
        solution
    }

    /// The mover's chance at the beginning of a turn.
    pub fn value(&self, start: &Start) -> f64 {
        match start.place {
            Place::Inside | Place::Outside => self.values.of(start.place)[start.number()],
            Place::Empty => self.solve_turns::<1>(&[*start])[0],
        }
    }

    /// The number of beginnings of turns with a value of their own.
    fn turns(&self) -> usize {
        self.values.inside.len() + self.values.outside.len() + 1
    }

    /// The dice to keep in every state, worked out on demand.
    fn policy(&self) -> &KeepPolicy {
        self.policy.get_or_init(KeepPolicy::new)
    }

    /// The rolls of turns that have come up, for meters of luck.
    fn known_rolls(&self) -> &KnownRolls {
        self.known_rolls.get_or_init(KnownRolls::new)
    }

    fn solve_turns<const L: usize>(&self, starts: &[Start; L]) -> [f64; L] {
        let tables = Handfuls::get();
        let mut sheet = Sheet::<L>::new();
        self.fill_last(starts, &mut sheet);
        sheet.keep_once(tables);
        sheet.keep_twice(tables);
        let mut values = sheet.first_roll(tables);
        for (value, start) in values.iter_mut().zip(starts) {
            if start.place == Place::Inside && usize::from(start.points) + 2 >= POINTS {
                *value = 1.0;
            }
        }
        values
    }

    /// Fills in the value of every full handful to the mover.
    fn fill_last<const L: usize>(&self, starts: &[Start; L], sheet: &mut Sheet<L>) {
        let tables = Handfuls::get();
        let mut worth = [[0.0; L]; FULL];
        for (worth, result) in worth.iter_mut().zip(&tables.results) {
            for (worth, start) in worth.iter_mut().zip(starts) {
                *worth = resolved(&self.values, start, result, f64::min);
            }
        }
        for (last, &result) in sheet.last.iter_mut().zip(&tables.result) {
            *last = worth[usize::from(result)];
        }
    }
}

/// The value of the result of the dice to the mover, if the other's turns are worth `values` to the other. A monster that
/// was hit in Tokyo decides with `leave`, which gets the mover's value if it stays and if it leaves.
fn resolved(
    values: &Values,
    start: &Start,
    result: &dice::Result,
    leave: impl FnOnce(f64, f64) -> f64,
) -> f64 {
    let bonus = if start.place == Place::Inside { 2 } else { 0 };
    let points = start.points + bonus + result.points;
    if usize::from(points) >= POINTS {
        return 1.0;
    }
    // Nobody is hit on the first turn, when Tokyo is empty.
    let damage = if start.place == Place::Empty { 0 } else { result.attacks };
    let other_health = start.other_health.saturating_sub(damage);
    if other_health == 0 {
        return 1.0;
    }
    let turn = ResolvedTurn { points, other_health, health: start.health, other_points: start.other_points };
    let healed = ResolvedTurn { health: (start.health + result.heals).min(MAX_HEALTH), ..turn };
    match start.place {
        Place::Inside => turn.stays(values),
        Place::Outside if damage == 0 => healed.held(values),
        Place::Outside => leave(healed.held(values), healed.enters(values)),
        Place::Empty => healed.enters(values),
    }
}

/// A turn after its dice are resolved: all that is open is who is in Tokyo for the other's move.
#[derive(Debug, Clone, Copy)]
struct ResolvedTurn {
    health: u8,
    other_health: u8,
    points: u8,
    other_points: u8,
}

impl ResolvedTurn {
    /// The mover's value when the other's turn begins.
    fn next(&self, values: &Values, place: Place) -> f64 {
        let start = Start {
            place,
            health: self.other_health,
            other_health: self.health,
            points: self.other_points,
            other_points: self.points,
        };
        1.0 - values.of(place)[start.number()]
    }

    /// The mover's value if the mover stays in Tokyo.
    fn stays(&self, values: &Values) -> f64 {
        self.next(values, Place::Outside)
    }

    /// The mover's value if the other stays in Tokyo.
    fn held(&self, values: &Values) -> f64 {
        self.next(values, Place::Inside)
    }

    /// The mover's value if the mover enters Tokyo, for a point.
    fn enters(&self, values: &Values) -> f64 {
        if usize::from(self.points) + 1 >= POINTS {
            return 1.0;
        }
        ResolvedTurn { points: self.points + 1, ..*self }.next(values, Place::Outside)
    }
}
