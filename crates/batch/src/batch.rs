//! What a batch of matches is: the contract between a kernel and everything around it.

use crate::field::Field;

/// Many matches side by side, stepped at once.
///
/// A row is what one decision is asked for: a match in a sequential game, one survivor of one match in Last Bullet.
/// What happens in a row's match depends only on its seed and on the actions: not on the number of rows, nor on threads.
pub trait Batch: Clone + Send {
    /// A number of an observation.
    type Cell: Copy + Default + Send + Sync + 'static;

    /// How many rows there are.
    fn rows(&self) -> usize;

    /// What the numbers of a row's observation mean.
    fn fields(&self) -> Vec<Field>;

    /// How many actions there are; an action is a number below it.
    fn actions(&self) -> usize;

    /// How many seeds there are: one for each match.
    fn matches(&self) -> usize;

    /// Starts the stream of chance of a match from a seed. Nothing else changes until it is reset.
    fn seed(&mut self, one: usize, seed: u64);

    /// Begins new matches, all or those that are marked, and writes everybody's observation.
    fn reset(&mut self, which: Option<&[bool]>, out: &mut Out<'_, Self::Cell>);

    /// Plays one action in each row. Actions have been checked to be below [`actions`](Batch::actions).
    fn step(&mut self, actions: &[u8], autoreset: Autoreset, out: &mut Out<'_, Self::Cell>);

    /// Which actions are legal now: for each row, [`actions`](Batch::actions) flags.
    fn masks(&self, out: &mut [bool]);

    /// The whole state, streams included.
    fn save(&self) -> Vec<u8>;

    /// Brings back a state that [`save`](Batch::save) gave for a batch of the same shape. On `Err` nothing has changed.
    fn restore(&mut self, state: &[u8]) -> Result<(), String>;
}

/// What happens in a row after its episode has ended (as in Gymnasium).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Autoreset {
    /// The next step begins a new one, whatever its action.
    NextStep,
    /// The same step begins a new one; the last observation of the old one goes to `final_obs`.
    SameStep,
    /// Nothing until `reset`: the row stays as it is, its reward is 0.
    Disabled,
}

/// Where a step writes. Every slice is as long as there are rows, observations times the number of fields.
#[derive(Debug)]
pub struct Out<'a, T> {
    /// Observations: all rows of the first field, then all of the second, and so on (or row by row where a kernel says
    /// so).
    pub obs: &'a mut [T],
    /// With [`Autoreset::SameStep`]: the last observation of rows that ended. In other rows it means nothing.
    pub final_obs: &'a mut [T],
    /// Rewards.
    pub rewards: &'a mut [f32],
    /// The episode has ended by the rules.
    pub terminated: &'a mut [bool],
    /// The episode was cut off.
    pub truncated: &'a mut [bool],
}
