//! One match, as the kernel plays it: a few bytes, and rules without branches.
//!
//! Every function here is inlined into a loop over the matches of a block, which the compiler turns into vectors as long
//! as nothing depends on a branch: hence `&` and `|` for conditions, and sums over seats where one is meant.

// An index goes through several columns at once: the form that becomes vectors, and the shortest.
#![allow(clippy::needless_range_loop)]

use super::{dice::Dice, observe};
use necrodome_rules::tokyo::{GOAL, MAX_HEALTH};

pub(super) const ROLLING: u8 = 0;
pub(super) const YIELDING: u8 = 1;
pub(super) const OVER: u8 = 2;

/// Nobody is in Tokyo.
pub(super) const NOBODY: u8 = u8::MAX;
/// The most monsters of a match.
pub(super) const MAX_SEATS: usize = 6;
/// The most numbers of an observation.
pub(super) const MAX_FIELDS: usize = fields(MAX_SEATS);

/// The action that leaves Tokyo; below it are the masks of dice to keep.
pub(super) const YIELD: u8 = observe::YIELD as u8;

const KEEP_ALL: u8 = 63;
const REROLLS: u8 = 2;
const HEAL: u8 = 3;
const ATTACK: u8 = 4;

/// How many numbers an observation has.
pub(super) const fn fields(seats: usize) -> usize {
    9 + 4 * seats
}

/// A match of `N` monsters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lane<const N: usize> {
    pub(super) health: [u8; N],
    pub(super) points: [u8; N],
    pub(super) dice: Dice,
    /// A seat, or [`NOBODY`].
    pub(super) in_tokyo: u8,
    pub(super) current: u8,
    pub(super) phase: u8,
    /// 0 when nobody rolls.
    pub(super) rerolls_left: u8,
    /// 0 when nobody may yield.
    pub(super) damage: u8,
    /// Who decides now, or made the last decision of a match that is over.
    pub(super) seat: u8,
    /// 1 if this turn is the last.
    pub(super) last_turn: u8,
    /// 1 if the action that was just played began a turn.
    pub(super) began: u8,
}

impl<const N: usize> Lane<N> {
    /// A new match after its first roll.
    #[inline(always)]
    pub(super) fn begin(dice: Dice) -> Self {
        Lane {
            health: [MAX_HEALTH; N],
            points: [0; N],
            dice,
            in_tokyo: NOBODY,
            current: 0,
            phase: ROLLING,
            rerolls_left: REROLLS,
            damage: 0,
            seat: 0,
            last_turn: 0,
            began: 1,
        }
    }

    /// Plays an action. A match that is over stays as it is.
    #[inline(always)]
    pub(super) fn play(self, action: u8, again: Dice, fresh: Dice) -> Self {
        let Lane { mut health, mut points, mut dice, mut in_tokyo, mut current, .. } = self;
        let rolling = self.phase == ROLLING;
        let yielding = self.phase == YIELDING;

        // Step 2. An action that does not fit is a bad one: it keeps all dice here, and stays in Tokyo below.
        let kept = if action < YIELD { action } else { KEEP_ALL };
        for die in 0..6 {
            dice[die] = if rolling & (kept & (1 << die) == 0) { again[die] } else { dice[die] };
        }
        let rerolls_left = if kept == KEEP_ALL { 0 } else { self.rerolls_left.wrapping_sub(1) };
        let rolls_on = rolling & (rerolls_left != 0);
        let resolves = rolling & (rerolls_left == 0);

        // Step 3: points.
        let scored = if resolves { victory_points(&dice) } else { 0 };
        add(&mut points, current, scored);
        let won = resolves & (at(&points, current) >= GOAL as u8);

        // Step 3: attacks. Nobody is hit by 0.
        let attacks = count(&dice, ATTACK);
        let hit = if resolves & !won { attacks } else { 0 };
        let inside = in_tokyo == current;
        let mut alive = 0;
        for seat in 0..N {
            let is_target = (inside & (seat as u8 != current)) | (!inside & (seat as u8 == in_tokyo));
            health[seat] = health[seat].saturating_sub(if is_target { hit } else { 0 });
            alive += u8::from(health[seat] > 0);
        }
        let fallen = at(&health, in_tokyo) == 0;
        in_tokyo = if fallen { NOBODY } else { in_tokyo };
        let won = won | (resolves & (alive == 1));
        let asks = (hit != 0) & !won & (in_tokyo != NOBODY) & !inside;

        // The end of step 3, after a decision too: healing.
        let yields = yielding & (action == YIELD);
        in_tokyo = if yields { NOBODY } else { in_tokyo };
        let finishes = yielding | (resolves & !won & !asks);
        let heals = if finishes & (in_tokyo != current) { count(&dice, HEAL) } else { 0 };
        for seat in 0..N {
            let healed = (health[seat] + heals).min(MAX_HEALTH);
            health[seat] = if seat as u8 == current { healed } else { health[seat] };
        }

        // Step 4.
        let enters = finishes & (in_tokyo == NOBODY);
        in_tokyo = if enters { current } else { in_tokyo };
        add(&mut points, current, u8::from(enters));
        let ends = finishes & ((at(&points, current) >= GOAL as u8) | (self.last_turn != 0));

        // Step 1 of the next turn.
        let began = finishes & !ends;
        current = if began { next_alive(&health, current) } else { current };
        let lives_there = began & (in_tokyo == current);
        add(&mut points, current, if lives_there { 2 } else { 0 });
        let won_asleep = began & (at(&points, current) >= GOAL as u8);
        let rolls_first = began & !won_asleep;
        for die in 0..6 {
            dice[die] = if rolls_first { fresh[die] } else { dice[die] };
        }

        let over = (self.phase == OVER) | won | ends | won_asleep;
        let phase = if over {
            OVER
        } else if asks {
            YIELDING
        } else {
            ROLLING
        };
        let seat = if over { self.seat } else { current };
        Lane {
            health,
            points,
            dice,
            in_tokyo,
            current,
            phase,
            rerolls_left: if rolls_first {
                REROLLS
            } else if rolls_on {
                rerolls_left
            } else {
                0
            },
            damage: if asks { hit } else { 0 },
            seat: if asks { in_tokyo } else { seat },
            last_turn: self.last_turn,
            began: u8::from(began),
        }
    }

    /// The match as it was before, if `holds`.
    #[inline(always)]
    pub(super) fn unless(self, holds: bool, before: Self) -> Self {
        let pick = |before: u8, after: u8| if holds { before } else { after };
        Lane {
            health: core::array::from_fn(|seat| pick(before.health[seat], self.health[seat])),
            points: core::array::from_fn(|seat| pick(before.points[seat], self.points[seat])),
            dice: core::array::from_fn(|die| pick(before.dice[die], self.dice[die])),
            in_tokyo: pick(before.in_tokyo, self.in_tokyo),
            current: pick(before.current, self.current),
            phase: pick(before.phase, self.phase),
            rerolls_left: pick(before.rerolls_left, self.rerolls_left),
            damage: pick(before.damage, self.damage),
            seat: pick(before.seat, self.seat),
            last_turn: self.last_turn,
            began: pick(0, self.began),
        }
    }

    /// The numbers that the seat sees; those after the last are 0.
    #[inline(always)]
    pub(super) fn observe(&self) -> [u8; MAX_FIELDS] {
        let mut obs = [0; MAX_FIELDS];
        obs[0] = self.phase;
        obs[1] = self.rerolls_left;
        obs[2] = self.damage;
        obs[3..9].copy_from_slice(&self.dice);
        let health = from_seat(self.health, self.seat);
        let points = from_seat(self.points, self.seat);
        let in_tokyo = distance::<N>(self.seat, self.in_tokyo);
        let current = distance::<N>(self.seat, self.current);
        for steps in 0..N {
            let monster = &mut obs[9 + 4 * steps..][..4];
            monster[0] = health[steps];
            monster[1] = points[steps];
            monster[2] = u8::from((in_tokyo == steps as u8) & (self.in_tokyo != NOBODY));
            monster[3] = u8::from(current == steps as u8);
        }
        obs
    }

    /// What the end gives to each seat: +1 for the first place, -1 for the last, the others evenly between them; those
    /// who tie share the mean.
    pub(super) fn rewards(&self) -> [f32; N] {
        let rank = |seat: usize| if self.health[seat] > 0 { self.points[seat] + 1 } else { 0 };
        core::array::from_fn(|seat| {
            let better = (0..N).filter(|&other| rank(other) > rank(seat)).count();
            let worse = (0..N).filter(|&other| rank(other) < rank(seat)).count();
            (worse as f32 - better as f32) / (N - 1) as f32
        })
    }
}

/// What a seat has; 255 of nobody.
#[inline(always)]
fn at<const N: usize>(of: &[u8; N], seat: u8) -> u8 {
    (0..N).fold(u8::MAX, |found, one| if one as u8 == seat { of[one] } else { found })
}

#[inline(always)]
fn add<const N: usize>(to: &mut [u8; N], seat: u8, more: u8) {
    for (one, count) in to.iter_mut().enumerate() {
        *count += if one as u8 == seat { more } else { 0 };
    }
}

/// The first living monster after `current`, around the table.
#[inline(always)]
fn next_alive<const N: usize>(health: &[u8; N], current: u8) -> u8 {
    let (mut first, mut after) = (NOBODY, NOBODY);
    for seat in (0..N as u8).rev() {
        let alive = health[seat as usize] > 0;
        first = if alive { seat } else { first };
        after = if alive & (seat > current) { seat } else { after };
    }
    if after == NOBODY { first } else { after }
}

/// How many dice show a face.
#[inline(always)]
fn count(dice: &Dice, face: u8) -> u8 {
    dice.iter().map(|&die| u8::from(die == face)).sum()
}

/// Three alike are worth their number, each further one a point more.
#[inline(always)]
fn victory_points(dice: &Dice) -> u8 {
    let worth = |face: u8| match count(dice, face) {
        alike @ 3.. => alike + face - 2,
        _ => 0,
    };
    worth(0) + worth(1) + worth(2)
}

/// How many steps around the table it is from one seat to another.
#[inline(always)]
fn distance<const N: usize>(from: u8, to: u8) -> u8 {
    to.wrapping_sub(from).wrapping_add(if to < from { N as u8 } else { 0 })
}

/// Turns the table so that `seat` comes first, by 1, 2 and 4 places.
#[inline(always)]
fn from_seat<const N: usize>(mut of: [u8; N], seat: u8) -> [u8; N] {
    for places in [1, 2, 4] {
        let turns = seat & places != 0;
        of = core::array::from_fn(|one| if turns { of[(one + places as usize) % N] } else { of[one] });
    }
    of
}
