//! Signals for training: what the decisions of a step were worth, by exact values from the solver.
//!
//! [`TurnTable`] has the values of every position of a turn of Zombie Dice side by side, so that a batch of observations is
//! priced with one look-up per row. [`Signals`] keeps the values of the next step's actions, and splits the result of each step:
//! what the action gave away (*regret*), and what the dice and the opponents gave (*luck*).

// An index goes through several columns at once: the form that becomes vectors, and the shortest.
#![allow(clippy::needless_range_loop)]

use crate::{instructions::arch, parts::lanes_of};
use pulp::NullaryFnOnce;

/// The number of counts of each colour in the cup, zero included.
const CUP: [usize; 3] = [7, 5, 4];
/// The number of ways to have at most three footsteps.
const FEET: usize = 20;
const SHOTGUNS: usize = 3;
const STATES: usize = CUP[0] * CUP[1] * CUP[2] * FEET * SHOTGUNS;
const DICE: i16 = 13;
/// The number of counts of brains in a turn, from 0 on.
const BRAINS: usize = 16;
/// The number of rows that are looked up together.
const ROWS: usize = 64;

/// The values of each row's actions to the seat that decides.
pub trait Prices: Send + Sync {
    /// The number of actions.
    fn actions(&self) -> usize;

    /// Prices observations that lie field by field: writes the value of every action, action by action, and the best of
    /// each row. Rows without a decision may get any value.
    fn look_up(&self, obs: &[i16], values: &mut [f32], best: &mut [f32]);
}

/// A format of Zombie Dice, which says how observations identify a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnFormat {
    /// There is only one turn.
    Solo,
    /// Turns differ by both scores: 13 times the own, and the other's.
    Race,
    /// A table of two: see `TurnFormat::table`.
    Table,
}

/// The number of scores from which a turn begins in a race.
pub const SCORES: usize = 13;
/// The number of deficits that the second player of a round can have, zero included.
pub const BEHIND: usize = 32;

impl TurnFormat {
    /// The number of turns.
    pub const fn turns(self) -> usize {
        match self {
            TurnFormat::Solo => 1,
            TurnFormat::Race => SCORES * SCORES,
            TurnFormat::Table => 2 * SCORES * SCORES + 2 * BEHIND + 1,
        }
    }

    /// The number of a turn at a table: the turns of the first and of the second player by both scores; then those of the second
    /// by their deficit, when the first has 13, and in a tiebreak; last the first's in a tiebreak. No branches, as in [`number`].
    #[inline(always)]
    fn table(tiebreak: bool, second: bool, own: i16, other: i16) -> u16 {
        const SQUARES: u16 = (SCORES * SCORES) as u16;
        let (own, other) = (own.max(0) as u16, other.max(0) as u16);
        let behind = other.saturating_sub(own).min(BEHIND as u16 - 1);
        let most = SCORES as u16 - 1;
        let by_scores = own.min(most) * SCORES as u16 + other.min(most) + if second { SQUARES } else { 0 };
        let by_distance = 2 * SQUARES + behind + if tiebreak { BEHIND as u16 } else { 0 };
        let decides_last = second & (tiebreak | (other > most));
        let turn = if decides_last { by_distance } else { by_scores };
        if tiebreak & !second { 2 * SQUARES + 2 * BEHIND as u16 } else { turn }
    }

    /// The numbers of the turns in some rows.
    #[inline(always)]
    fn turn_numbers(self, column: &impl Fn(usize) -> [i16; ROWS]) -> [u16; ROWS] {
        let mut turns = [0; ROWS];
        match self {
            TurnFormat::Solo => {}
            TurnFormat::Race => {
                let (own, other) = (column(8), column(9));
                let score = |brains: i16| brains.clamp(0, SCORES as i16 - 1) as u16;
                for i in 0..ROWS {
                    turns[i] = score(own[i]) * SCORES as u16 + score(other[i]);
                }
            }
            TurnFormat::Table => {
                let (tiebreak, own, other, others_turn) = (column(9), column(10), column(12), column(13));
                for i in 0..ROWS {
                    // The other has had its turn of this round.
                    turns[i] = Self::table(tiebreak[i] == 1, others_turn[i] == 3, own[i], other[i]);
                }
            }
        }
        turns
    }
}

/// A position of a turn, as an observation shows it.
#[derive(Debug, Clone, Copy)]
pub struct TurnState {
    /// Dice in the cup, by colour.
    pub cup: [u8; 3],
    /// Footsteps in the hand, by colour.
    pub feet: [u8; 3],
    /// Shotguns, below 3.
    pub shotguns: u8,
    /// Brains; the dice not counted elsewhere show them.
    pub brains: u8,
    number: usize,
}

/// The values of every position in every turn of a format, side by side. For turns that end with the dice.
#[derive(Debug)]
pub struct TurnTable {
    format: TurnFormat,
    /// Whether the first roll is made whatever the action.
    forced: bool,
    /// The value of going on, by state and turn.
    go: Vec<f32>,
    /// The value of stopping, by turn and brains.
    stop: Vec<f32>,
}

impl TurnTable {
    /// Fills a table. `go` writes the value of going on in a state of each turn (and in some states that no turn has,
    /// where it may leave zeros); `stop` returns the value of stopping with a number of brains.
    pub fn new(
        format: TurnFormat,
        forced: bool,
        go: impl Fn(&TurnState, &mut [f32]),
        stop: impl Fn(u32, usize) -> f64,
    ) -> Self {
        let turns = format.turns();
        let mut values = vec![0.0; STATES * turns];
        for state in states() {
            go(&state, &mut values[state.number * turns..][..turns]);
        }
        let stops = (0..turns).flat_map(|turn| (0..BRAINS as u32).map(move |brains| (turn, brains)));
        let stop = stops.map(|(turn, brains)| stop(brains, turn) as f32).collect();
        TurnTable { format, forced, go: values, stop }
    }
}

/// All states of the dice in which the turn goes on.
fn states() -> impl Iterator<Item = TurnState> {
    let triples = |[g, y, r]: [usize; 3]| {
        (0..g * y * r).map(move |code| [code / (y * r), code / r % y, code % r].map(|n| n as u8))
    };
    let total = |dice: [u8; 3]| dice.iter().sum::<u8>();
    let feet = triples([4; 3]).filter(move |&feet| total(feet) <= 3);
    let both = triples(CUP).flat_map(move |cup| feet.clone().map(move |feet| (cup, feet)));
    both.flat_map(|both| (0..SHOTGUNS as u8).map(move |shotguns| (both, shotguns))).filter_map(
        move |((cup, feet), shotguns)| {
            let brains = (DICE as u8).checked_sub(total(cup) + total(feet) + shotguns)?;
            let wide = |dice: [u8; 3]| dice.map(u16::from);
            let number = usize::from(number(wide(cup), wide(feet), shotguns.into()));
            Some(TurnState { cup, feet, shotguns, brains, number })
        },
    )
}

/// The number of a state. No branches: it is worked out for many rows at a time.
#[inline(always)]
fn number(cup: [u16; 3], feet: [u16; 3], shotguns: u16) -> u16 {
    let cup = (cup[0] * CUP[1] as u16 + cup[1]) * CUP[2] as u16 + cup[2];
    // Triples with a sum of at most three, in order.
    let [green, yellow, red] = feet;
    let from = |count: u16, least: u16, step: u16| if count > least { step } else { 0 };
    let before_green = from(green, 0, 10) + from(green, 1, 6) + from(green, 2, 3);
    let before_yellow = (yellow * (4 - green.min(3))).wrapping_sub(from(yellow, 1, 1) + from(yellow, 2, 2));
    let feet = before_green + before_yellow + red;
    ((cup * FEET as u16 + feet) * SHOTGUNS as u16 + shotguns.min(2)).min(STATES as u16 - 1)
}

impl Prices for TurnTable {
    fn actions(&self) -> usize {
        2
    }

    fn look_up(&self, obs: &[i16], values: &mut [f32], best: &mut [f32]) {
        arch().dispatch(LookUp { table: self, obs, values, best });
    }
}

struct LookUp<'a> {
    table: &'a TurnTable,
    obs: &'a [i16],
    values: &'a mut [f32],
    best: &'a mut [f32],
}

impl NullaryFnOnce for LookUp<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let LookUp { table, obs, values, best } = self;
        let rows = best.len();
        let (stop, go) = values.split_at_mut(rows);
        let turns = table.format.turns();
        for (block, start) in (0..rows).step_by(ROWS).enumerate() {
            let count = ROWS.min(rows - start);
            let column = |field: usize| -> [i16; ROWS] { lanes_of(&obs[field * rows..][..rows], block) };
            let (stop, go) = (&mut stop[start..][..count], &mut go[start..][..count]);
            let (numbers, brains) = (state_numbers(&column), column(0));
            // First where the values are, then the values: tables are larger than the cache, and as many of them are waited
            // for at once as there is nothing else to do in between.
            let mut places = ([0u32; ROWS], [0u32; ROWS]);
            let turn_numbers = table.format.turn_numbers(&column);
            for i in 0..ROWS {
                let turn = u32::from(turn_numbers[i]);
                places.0[i] = u32::from(numbers[i]) * turns as u32 + turn;
                places.1[i] = turn * BRAINS as u32 + brains[i].clamp(0, BRAINS as i16 - 1) as u32;
            }
            look_up(&table.go, &places.0, go);
            if table.format == TurnFormat::Solo {
                stop.iter_mut().zip(brains).for_each(|(stop, brains)| *stop = brains.into());
            } else {
                look_up(&table.stop, &places.1, stop);
            }
            if table.forced {
                let (green, yellow, red) = (column(2), column(3), column(4));
                for (i, stop) in stop.iter_mut().enumerate() {
                    *stop = select(green[i] + yellow[i] + red[i] == DICE, go[i], *stop);
                }
            }
            for (best, (&stop, &go)) in best[start..][..count].iter_mut().zip(stop.iter().zip(&*go)) {
                *best = if go > stop { go } else { stop };
            }
        }
    }
}

/// Looks up numbers in a table, by their places.
#[inline(always)]
fn look_up(table: &[f32], places: &[u32; ROWS], out: &mut [f32]) {
    for (out, &place) in out.iter_mut().zip(places) {
        *out = table[place as usize];
    }
}

/// The numbers of the states in some rows.
#[inline(always)]
fn state_numbers(column: &impl Fn(usize) -> [i16; ROWS]) -> [u16; ROWS] {
    let mut numbers = [0; ROWS];
    let (shots, c0, c1, c2) = (column(1), column(2), column(3), column(4));
    let (f0, f1, f2) = (column(5), column(6), column(7));
    for i in 0..ROWS {
        let cup = [c0[i] as u16, c1[i] as u16, c2[i] as u16];
        let feet = [f0[i] as u16, f1[i] as u16, f2[i] as u16];
        numbers[i] = number(cup, feet, shots[i] as u16);
    }
    numbers
}

/// The rule for the value of a match's end, from its reward.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ends {
    /// The score: the count in the position before the last step, plus the reward of that step. This field of an
    /// observation holds the count.
    Score {
        /// The field.
        field: usize,
    },
    /// A chance to win: 1 for this reward, 0 for its negative.
    Chance {
        /// The reward of a win.
        win: f32,
    },
}

/// One step, as the signals see it.
#[derive(Debug)]
pub struct Stepped<'a> {
    /// The actions played.
    pub actions: &'a [u8],
    /// The rewards of the game.
    pub rewards: &'a [f32],
    /// Matches that ended in this step, or had ended.
    pub terminated: &'a [bool],
    /// Observations after the step.
    pub obs: &'a [i16],
    /// The rows in which the other side decides next. Empty for games with one side.
    pub passed: &'a [bool],
}

/// Keeps the values of every row's actions, and splits each step into its regret and its luck.
pub struct Signals {
    prices: Box<dyn Prices>,
    ends: Ends,
    /// The values of all actions, action by action, and the best of each row.
    values: Vec<f32>,
    best: Vec<f32>,
    /// The count in the position, for [`Ends::Score`].
    counted: Vec<f32>,
    /// The rows without a decision, because their match is over.
    idle: Vec<bool>,
    /// How much less the action was worth than the best one.
    pub regret: Vec<f32>,
    /// How much more the next position was worth than the action.
    pub luck: Vec<f32>,
}

impl std::fmt::Debug for Signals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signals").field("ends", &self.ends).field("rows", &self.best.len()).finish()
    }
}

impl Signals {
    /// Makes signals for `rows` rows. Call [`look`](Signals::look) first.
    pub fn new(prices: Box<dyn Prices>, ends: Ends, rows: usize) -> Self {
        let zeros = || vec![0.0; rows];
        Signals {
            values: vec![0.0; rows * prices.actions()],
            best: zeros(),
            counted: zeros(),
            idle: vec![false; rows],
            regret: zeros(),
            luck: zeros(),
            prices,
            ends,
        }
    }

    /// The value of each row's position to the seat that decides; undefined where the match is over.
    pub fn best(&self) -> &[f32] {
        &self.best
    }

    /// Looks at observations without a step, as after a reset. `over` marks the matches without a decision.
    pub fn look(&mut self, obs: &[i16], over: &[bool]) {
        self.prices.look_up(obs, &mut self.values, &mut self.best);
        self.idle.copy_from_slice(over);
        self.count(obs);
    }

    fn count(&mut self, obs: &[i16]) {
        if let Ends::Score { field } = self.ends {
            let rows = self.counted.len();
            let numbers = &obs[field * rows..][..rows];
            self.counted.iter_mut().zip(numbers).for_each(|(counted, &number)| *counted = number.into());
        }
    }

    /// Works out the regret and the luck of a step. `begun_anew`: matches that have ended have begun anew.
    pub fn step(&mut self, stepped: &Stepped<'_>, begun_anew: bool) {
        let Signals { prices, ends, values, best, counted, idle, regret, luck } = self;
        let rows = best.len();
        let chosen = Chosen { actions: stepped.actions, values, best, idle, regret, luck, rows };
        arch().dispatch(chosen);
        prices.look_up(stepped.obs, values, best);
        let &Stepped { rewards, terminated, passed, .. } = stepped;
        match *ends {
            Ends::Score { .. } => {
                let counted = &counted[..rows];
                let end = |i: usize, reward: f32| counted[i] + reward;
                arch().dispatch(Came { rewards, terminated, best, idle, luck, end, next: |_, value| value });
            }
            Ends::Chance { win } => {
                let end = |_: usize, reward: f32| 0.5 + 0.5 * reward / win;
                if passed.is_empty() {
                    arch().dispatch(Came {
                        rewards,
                        terminated,
                        best,
                        idle,
                        luck,
                        end,
                        next: |_, value| value,
                    });
                } else {
                    let passed = &passed[..rows];
                    let next = |i: usize, value: f32| select(passed[i], 1.0 - value, value);
                    arch().dispatch(Came { rewards, terminated, best, idle, luck, end, next });
                }
            }
        }
        if begun_anew {
            idle.fill(false);
        } else {
            idle.copy_from_slice(terminated);
        }
        self.count(stepped.obs);
    }
}

/// Writes the value of the chosen actions into `luck`, to be subtracted from the result.
struct Chosen<'a> {
    actions: &'a [u8],
    values: &'a [f32],
    best: &'a [f32],
    idle: &'a [bool],
    regret: &'a mut [f32],
    luck: &'a mut [f32],
    rows: usize,
}

impl NullaryFnOnce for Chosen<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Chosen { actions, values, best, idle, regret, luck, rows } = self;
        let (actions, best, idle) = (&actions[..rows], &best[..rows], &idle[..rows]);
        let (regret, luck) = (&mut regret[..rows], &mut luck[..rows]);
        if values.len() == 2 * rows {
            let (stop, go) = values.split_at(rows);
            let (stop, go) = (&stop[..rows], &go[..rows]);
            for i in 0..rows {
                let value = select(actions[i] == 0, stop[i], go[i]);
                regret[i] = select(idle[i], 0.0, best[i] - value);
                luck[i] = value;
            }
        } else {
            for i in 0..rows {
                let value = values[usize::from(actions[i]) * rows + i];
                regret[i] = if idle[i] { 0.0 } else { best[i] - value };
                luck[i] = value;
            }
        }
    }
}

/// Adds the result of a step to the negative of what was expected.
struct Came<'a, E, N> {
    rewards: &'a [f32],
    terminated: &'a [bool],
    best: &'a [f32],
    idle: &'a [bool],
    luck: &'a mut [f32],
    /// Turns the final reward into the value of the end.
    end: E,
    /// Turns the value of a position to the seat that decides into its value here.
    next: N,
}

impl<E: Fn(usize, f32) -> f32, N: Fn(usize, f32) -> f32> NullaryFnOnce for Came<'_, E, N> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Came { rewards, terminated, best, idle, luck, end, next } = self;
        let rows = luck.len();
        let (rewards, terminated, best, idle) =
            (&rewards[..rows], &terminated[..rows], &best[..rows], &idle[..rows]);
        for i in 0..rows {
            let came = select(terminated[i], end(i, rewards[i]), next(i, best[i]));
            luck[i] = select(idle[i], 0.0, came - luck[i]);
        }
    }
}

/// Selects one of two numbers without a branch: nobody can predict the ends of matches, and loops without branches become vectors.
#[inline(always)]
fn select(condition: bool, yes: f32, no: f32) -> f32 {
    let mask = u32::from(condition).wrapping_neg();
    f32::from_bits(yes.to_bits() & mask | no.to_bits() & !mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_number_of_its_own() {
        let mut taken = vec![false; STATES];
        for state in states() {
            assert!(!std::mem::replace(&mut taken[state.number], true), "{state:?}");
        }
        assert!(taken.iter().filter(|taken| **taken).count() > 4767);
    }

    #[test]
    fn every_turn_of_a_table_has_a_number_of_its_own() {
        let numbers = [
            TurnFormat::table(false, false, 3, 4),
            TurnFormat::table(false, true, 3, 4),
            TurnFormat::table(false, true, 12, 25),
            TurnFormat::table(true, true, 14, 16),
            TurnFormat::table(true, false, 14, 14),
        ];
        assert_eq!(numbers, [43, 212, 351, 372, 402]);
        assert!(numbers.iter().all(|&number| usize::from(number) < TurnFormat::Table.turns()));
    }
}
