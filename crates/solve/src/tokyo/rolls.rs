//! The values of one turn's rolls, worked out once for each beginning of a turn and then looked up.

use super::{
    HEALTH, POINTS, Place, Start, TokyoSolution,
    dice::{FACES, FIVE, FULL, HANDFULS, Handfuls, RESULTS},
    sheet::Sheet,
};
use necrodome_rules::tokyo::Dice;
use std::sync::{
    OnceLock,
    atomic::{AtomicUsize, Ordering},
};

/// The number of beginnings of turns in Tokyo; there are as many outside.
const STARTS: usize = POINTS * POINTS * HEALTH * HEALTH;

/// The most turns to keep: less than 200 MB. The turns that come up most are met first.
const MOST: usize = 32_000;

/// The rolls of one turn with the value of every choice to the mover: a list of values, indexed by `ValueOf`.
///
/// The list holds the value before the first roll; then the values of the results of the dice; then, with one reroll left and
/// with two, the value of each full handful, and the value of keeping each handful of four dice or fewer. Values of
/// keeping five dice are not in the list, since they follow from those of six.
#[derive(Debug, Clone)]
pub struct Rolls([f64; VALUES]);

/// The index of a value in [`Rolls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueOf(u16);

const LAST: usize = 1;
const ONE_LEFT: usize = LAST + RESULTS;
/// The number of values for each number of rerolls left.
const LEVEL: usize = FULL + HANDFULS - FIVE;
const VALUES: usize = ONE_LEFT + 2 * LEVEL;
/// The first index beyond the list: keeping five dice with no, one or two rerolls left after the next.
const FIVE_KEPT: usize = 1024;

impl ValueOf {
    /// The value before the first roll.
    pub const START: ValueOf = ValueOf(0);

    /// The value of six dice, with this many rerolls left.
    pub fn rolled(tables: &Handfuls, full: usize, rerolls_left: u8) -> Self {
        ValueOf(match rerolls_left {
            0 => LAST + usize::from(tables.result[full]),
            left => ONE_LEFT + usize::from(left.min(2) - 1) * LEVEL + full,
        } as u16)
    }

    /// The value of keeping a handful, with this many rerolls left.
    pub fn kept(tables: &Handfuls, handful: usize, rerolls_left: u8) -> Self {
        let level = usize::from(rerolls_left.clamp(1, 2) - 1);
        match handful {
            // Who keeps all six dice has given up the other rerolls.
            0..FULL => ValueOf::rolled(tables, handful, 0),
            FULL..FIVE => ValueOf((FIVE_KEPT * (level + 1) + handful) as u16),
            _ => ValueOf((ONE_LEFT + level * LEVEL + FULL + handful - FIVE) as u16),
        }
    }
}

impl Rolls {
    pub(super) fn new(solution: &TokyoSolution, start: &Start) -> Self {
        let tables = Handfuls::get();
        let mut sheet = Sheet::<1>::new();
        let mut values = [0.0; VALUES];
        solution.fill_last(&[*start], &mut sheet);
        for (&result, [value]) in tables.result.iter().zip(sheet.last) {
            values[LAST + usize::from(result)] = value;
        }
        let (once, twice) = values[ONE_LEFT..].split_at_mut(LEVEL);
        let copy = |to: &mut [f64], from: &[[f64; 1]]| to.copy_from_slice(from.as_flattened());
        sheet.keep_once(tables);
        copy(&mut once[FULL..], &sheet.kept[FIVE..]);
        sheet.keep_twice_with(tables, |best| copy(&mut once[..FULL], &best[..FULL]));
        copy(&mut twice[FULL..], &sheet.kept[FIVE..]);
        let [start] = sheet.first_roll(tables);
        copy(&mut twice[..FULL], &sheet.kept[..FULL]);
        values[0] = start;
        Rolls(values)
    }

    /// The value of keeping the marked dice.
    pub fn keep(&self, dice: &Dice, kept: [bool; 6], rerolls_left: u8) -> f64 {
        let tables = Handfuls::get();
        self.get(ValueOf::kept(tables, tables.kept(dice, kept), rerolls_left))
    }

    /// The value of these dice with `rerolls_left` rerolls left; with none, before they are resolved.
    pub fn rolled(&self, dice: &Dice, rerolls_left: u8) -> f64 {
        let tables = Handfuls::get();
        self.get(ValueOf::rolled(tables, tables.kept(dice, [true; 6]), rerolls_left))
    }

    pub(super) fn get(&self, ValueOf(place): ValueOf) -> f64 {
        let place = usize::from(place);
        if place < VALUES {
            return self.0[place];
        }
        let tables = Handfuls::get();
        let rerolls_left = (place / FIVE_KEPT - 1) as u8;
        let with = tables.with[place % FIVE_KEPT].map(|full| {
            let ValueOf(place) = ValueOf::rolled(tables, full.into(), rerolls_left);
            self.0[usize::from(place)]
        });
        with.iter().sum::<f64>() * (1.0 / FACES as f64)
    }
}

/// The rolls of the turns that have come up, shared by all threads.
#[derive(Debug)]
pub(super) struct KnownRolls {
    /// The rolls, by the number of the beginning of the turn.
    turns: Box<[OnceLock<Box<Rolls>>]>,
    kept: AtomicUsize,
}

impl KnownRolls {
    pub fn new() -> Self {
        let turns = (0..2 * STARTS + 1).map(|_| OnceLock::new()).collect();
        KnownRolls { turns, kept: AtomicUsize::new(0) }
    }

    /// The rolls of a turn, or `None` if they are not known.
    pub fn get(&self, number: usize) -> Option<&Rolls> {
        self.turns[number].get().map(|rolls| &**rolls)
    }

    /// Whether the rolls of a turn are known.
    pub fn has(&self, number: usize) -> bool {
        self.turns[number].get().is_some()
    }

    /// Keeps the rolls of a turn that has come up. Returns them if there is no room for more.
    pub fn learn(&self, solution: &TokyoSolution, start: &Start) -> Option<Rolls> {
        if self.kept.load(Ordering::Relaxed) >= MOST {
            return Some(Rolls::new(solution, start));
        }
        self.turns[number(start)].get_or_init(|| {
            self.kept.fetch_add(1, Ordering::Relaxed);
            Box::new(Rolls::new(solution, start))
        });
        None
    }
}

/// The number of a beginning of a turn: inside, outside, and the first turn of a match.
pub(super) fn number(start: &Start) -> usize {
    match start.place {
        Place::Inside => start.number(),
        Place::Outside => STARTS + start.number(),
        Place::Empty => 2 * STARTS,
    }
}
