//! One match as the kernel plays it: a few bytes, and rules without branches.
//!
//! Every function here is inlined into a loop over the matches of a block, which the compiler vectorises as long
//! as nothing depends on a branch. Conditions are masks of eight bits, all or none: only AVX-512 has room for single bits.

use super::{dice::Dice, observe};
use necrodome_rules::tokyo::{GOAL, MAX_HEALTH};

pub(super) const ROLLING: u8 = 0;
pub(super) const YIELDING: u8 = 1;
pub(super) const OVER: u8 = 2;

/// The value of `in_tokyo` when nobody is there.
pub(super) const NOBODY: u8 = u8::MAX;
/// The most monsters in a match.
pub(super) const MAX_SEATS: usize = 6;
/// The most numbers in an observation.
pub(super) const MAX_FIELDS: usize = fields(MAX_SEATS);

/// The action that leaves Tokyo; the numbers below it are the masks of dice to keep.
pub(super) const YIELD: u8 = observe::YIELD as u8;

const KEEP_ALL: u8 = 63;
const REROLLS: u8 = 2;
const HEAL: u8 = 3;
const ATTACK: u8 = 4;

/// The number of numbers in an observation.
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
    /// The rerolls left; 0 when nobody rolls.
    pub(super) rerolls_left: u8,
    /// The damage of the hit; 0 when nobody may yield.
    pub(super) damage: u8,
    /// The seat that decides now, or made the last decision of a match that is over.
    pub(super) seat: u8,
    /// Whether this turn is the last, as a mask.
    pub(super) last_turn: u8,
    /// Whether the action that was just played began a turn, as a mask.
    pub(super) began: u8,
}

impl<const N: usize> Lane<N> {
    /// Makes a new match after its first roll.
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
            began: !0,
        }
    }

    /// Plays an action. A match that is over stays unchanged.
    #[inline(always)]
    pub(super) fn play(self, action: u8, again: Dice, fresh: Dice) -> Self {
        let Lane { mut health, mut points, mut dice, mut in_tokyo, mut current, .. } = self;
        let rolling = is(self.phase, ROLLING);
        let yielding = is(self.phase, YIELDING);

        // Step 2. An action that does not fit is a bad one: it keeps all dice here, and stays in Tokyo below.
        let keeps_all = !rolling | !less(action, YIELD);
        let kept = action | keeps_all;
        each::<6>(|die| dice[die] = pick(is(kept & (1 << die), 0), again[die], dice[die]));
        let rerolls_left = self.rerolls_left.wrapping_sub(1) & !keeps_all & !is(action, KEEP_ALL);
        let stands = is(rerolls_left, 0);
        let rolls_on = rolling & !stands;
        let resolves = rolling & stands;

        // Step 3: points.
        let own = seats_that_are::<N>(current);
        let scored = victory_points(&dice) & resolves;
        add(&mut points, own, scored);
        let won = resolves & !less(at(&points, own), GOAL as u8);

        // Step 3: attacks. Nobody is hit by 0. Who is inside hits all others, the others hit who is inside.
        let hit = count(&dice, ATTACK) & resolves & !won;
        let inside = is(in_tokyo, current);
        let holds = seats_that_are::<N>(in_tokyo);
        let (mut alive, mut fallen) = (N as u8, 0);
        each::<N>(|seat| {
            health[seat] = health[seat].saturating_sub(hit & (holds[seat] ^ inside));
            let dead = is(health[seat], 0);
            // A mask is minus one as a number.
            alive = alive.wrapping_add(dead);
            fallen |= dead & holds[seat];
        });
        in_tokyo = pick(fallen, NOBODY, in_tokyo);
        let won = won | (resolves & is(alive, 1));
        let asks = !is(hit, 0) & !won & !is(in_tokyo, NOBODY) & !inside;

        // The end of step 3, after a decision too: healing.
        let yields = yielding & is(action, YIELD);
        in_tokyo = pick(yields, NOBODY, in_tokyo);
        let finishes = yielding | (resolves & !won & !asks);
        let heals = count(&dice, HEAL) & finishes & !is(in_tokyo, current);
        each::<N>(|seat| health[seat] = health[seat].wrapping_add(heals & own[seat]).min(MAX_HEALTH));

        // Step 4.
        let enters = finishes & is(in_tokyo, NOBODY);
        in_tokyo = pick(enters, current, in_tokyo);
        add(&mut points, own, enters & 1);
        let ends = finishes & (!less(at(&points, own), GOAL as u8) | self.last_turn);

        // Step 1 of the next turn.
        let began = finishes & !ends;
        current = pick(began, next_alive(&health, current), current);
        let next = seats_that_are::<N>(current);
        add(&mut points, next, began & is(in_tokyo, current) & 2);
        let won_asleep = began & !less(at(&points, next), GOAL as u8);
        let rolls_first = began & !won_asleep;
        each::<6>(|die| dice[die] = pick(rolls_first, fresh[die], dice[die]));

        let over = is(self.phase, OVER) | won | ends | won_asleep;
        Lane {
            health,
            points,
            dice,
            in_tokyo,
            current,
            // None of these is so together with another.
            phase: (asks & YIELDING) | (over & OVER),
            rerolls_left: (rolls_first & REROLLS) | (rolls_on & rerolls_left),
            damage: asks & hit,
            seat: pick(asks, in_tokyo, pick(over, self.seat, current)),
            last_turn: self.last_turn,
            began,
        }
    }

    /// Returns the match as it was before, if `holds`.
    #[inline(always)]
    pub(super) fn unless(mut self, holds: u8, before: Self) -> Self {
        each::<N>(|seat| {
            self.health[seat] = pick(holds, before.health[seat], self.health[seat]);
            self.points[seat] = pick(holds, before.points[seat], self.points[seat]);
        });
        each::<6>(|die| self.dice[die] = pick(holds, before.dice[die], self.dice[die]));
        Lane {
            in_tokyo: pick(holds, before.in_tokyo, self.in_tokyo),
            current: pick(holds, before.current, self.current),
            phase: pick(holds, before.phase, self.phase),
            rerolls_left: pick(holds, before.rerolls_left, self.rerolls_left),
            damage: pick(holds, before.damage, self.damage),
            seat: pick(holds, before.seat, self.seat),
            began: self.began & !holds,
            ..self
        }
    }

    /// The numbers that the seat sees; those after the last are 0.
    #[inline(always)]
    pub(super) fn observe(&self) -> [u8; MAX_FIELDS] {
        let mut obs = [0; MAX_FIELDS];
        (obs[0], obs[1], obs[2]) = (self.phase, self.rerolls_left, self.damage);
        each::<6>(|die| obs[3 + die] = self.dice[die]);
        let health = from_seat(self.health, self.seat);
        let points = from_seat(self.points, self.seat);
        // Nobody is further away than anybody.
        let in_tokyo = distance::<N>(self.seat, self.in_tokyo) | is(self.in_tokyo, NOBODY);
        let current = distance::<N>(self.seat, self.current);
        each::<N>(|steps| {
            let first = 9 + 4 * steps;
            obs[first] = health[steps];
            obs[first + 1] = points[steps];
            obs[first + 2] = is(in_tokyo, steps as u8) & 1;
            obs[first + 3] = is(current, steps as u8) & 1;
        });
        obs
    }

    /// The final rewards of the seats: +1 for the first place, -1 for the last, the others evenly between them; seats
    /// that tie share the mean.
    pub(super) fn rewards(&self) -> [f32; N] {
        let rank = |seat: usize| if self.health[seat] > 0 { self.points[seat] + 1 } else { 0 };
        core::array::from_fn(|seat| {
            let better = (0..N).filter(|&other| rank(other) > rank(seat)).count();
            let worse = (0..N).filter(|&other| rank(other) < rank(seat)).count();
            (worse as f32 - better as f32) / (N - 1) as f32
        })
    }
}

/// Calls `work` for each of `COUNT` dice or seats, at most six. Not a loop: a loop over lanes becomes vectors only if it contains
/// no other loop, and the compiler unrolls small ones too late.
#[inline(always)]
pub(super) fn each<const COUNT: usize>(mut work: impl FnMut(usize)) {
    const { assert!(COUNT <= 6) };
    macro_rules! work {
        ($($one:literal)*) => { $(if COUNT > $one { work($one) })* };
    }
    work!(0 1 2 3 4 5);
}

/// Returns all bits if two numbers are the same, or none.
#[inline(always)]
pub(super) fn is(one: u8, other: u8) -> u8 {
    u8::from(one == other).wrapping_neg()
}

/// Returns all bits if `a` is less than `b`, or none, for numbers below 128: vectors compare signed bytes.
#[inline(always)]
fn less(a: u8, b: u8) -> u8 {
    u8::from((a as i8) < (b as i8)).wrapping_neg()
}

/// Returns the first number if the mask is set, else the second.
#[inline(always)]
fn pick(mask: u8, one: u8, other: u8) -> u8 {
    other ^ ((one ^ other) & mask)
}

/// Marks one seat, as a mask for each.
#[inline(always)]
fn seats_that_are<const N: usize>(seat: u8) -> [u8; N] {
    let mut are = [0; N];
    each::<N>(|one| are[one] = is(seat, one as u8));
    are
}

/// The value of the marked seat.
#[inline(always)]
fn at<const N: usize>(of: &[u8; N], marked: [u8; N]) -> u8 {
    let mut found = 0;
    each::<N>(|one| found |= of[one] & marked[one]);
    found
}

#[inline(always)]
fn add<const N: usize>(to: &mut [u8; N], marked: [u8; N], more: u8) {
    each::<N>(|one| to[one] = to[one].wrapping_add(more & marked[one]));
}

/// The first living monster after `current`, around the table, while the match goes on.
#[inline(always)]
fn next_alive<const N: usize>(health: &[u8; N], current: u8) -> u8 {
    if N == 2 {
        return current ^ 1;
    }
    let (mut first, mut after) = (NOBODY, NOBODY);
    each::<N>(|place| {
        let seat = (N - 1 - place) as u8;
        let alive = !is(health[usize::from(seat)], 0);
        first = pick(alive, seat, first);
        after = pick(alive & less(current, seat), seat, after);
    });
    pick(is(after, NOBODY), first, after)
}

/// The number of dice that show a face.
#[inline(always)]
fn count(dice: &Dice, face: u8) -> u8 {
    let mut count = 0u8;
    each::<6>(|die| count = count.wrapping_sub(is(dice[die], face)));
    count
}

/// The points for numbers: three alike are worth the number, each further one a point more.
#[inline(always)]
fn victory_points(dice: &Dice) -> u8 {
    let mut points = 0u8;
    each::<3>(|face| {
        let alike = count(dice, face as u8);
        let worth = alike.wrapping_add(face as u8).wrapping_sub(2);
        points = points.wrapping_add(worth & less(2, alike));
    });
    points
}

/// The number of steps around the table from one seat to another.
#[inline(always)]
fn distance<const N: usize>(from: u8, to: u8) -> u8 {
    let steps = to.wrapping_sub(from);
    steps.wrapping_add(less(steps, 0) & N as u8)
}

/// Turns the table so that `seat` comes first, by steps of 1, 2 and 4 places.
#[inline(always)]
fn from_seat<const N: usize>(mut of: [u8; N], seat: u8) -> [u8; N] {
    each::<3>(|bit| {
        let places = 1 << bit;
        if places < N {
            let turns = is(seat & places as u8, places as u8);
            let from = of;
            each::<N>(|one| of[one] = pick(turns, from[(one + places) % N], from[one]));
        }
    });
    of
}
