//! A batch of matches that are played one by one: for games without a kernel of their own.

use crate::{
    batch::{Autoreset, Batch, Out},
    bytes,
    field::Field,
    parts::Part,
    seated::Seated,
    stream::Stream,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// One match, as a batch needs it.
pub trait Lane: Clone + Send {
    /// What is the same for all matches of a batch.
    type Setup: Clone + Send + Sync + Serialize;
    /// All of a match but its set-up, to be written down.
    type Saved: Serialize + DeserializeOwned;

    /// What the numbers of an observation mean.
    fn fields(setup: &Self::Setup) -> Vec<Field>;
    /// How many actions there are: at most 256.
    fn actions(setup: &Self::Setup) -> usize;
    /// How many seats a match has.
    fn seats(setup: &Self::Setup) -> usize;

    /// A new match, brought to its first decision.
    fn begin(setup: &Self::Setup, stream: &mut Stream) -> Self;
    /// Plays an action in a match that is not over and gives the reward of the seat that acted. What the rules say about a
    /// bad action is done.
    fn play(&mut self, action: u8, stream: &mut Stream) -> f32;
    /// Whether the match is over.
    fn is_over(&self) -> bool;
    /// The seat that decides, or decided last if the match is over.
    fn seat(&self) -> usize;
    /// Writes what this seat sees.
    fn observe(&self, setup: &Self::Setup, out: &mut [i16]);
    /// Marks the actions that this seat may choose.
    fn mask(&self, out: &mut [bool]);
    /// What the match has given to each seat.
    fn returns(&self, out: &mut [f32]);

    /// The match, to be written down.
    fn save(&self) -> Self::Saved;
    /// The match that was written down.
    fn restore(setup: &Self::Setup, saved: Self::Saved) -> Result<Self, String>;
}

/// Matches played one by one.
#[derive(Debug, Clone)]
pub struct Rows<L: Lane> {
    setup: L::Setup,
    /// How many numbers an observation has.
    width: usize,
    threads: usize,
    rows: Vec<Row<L>>,
    /// What the last match that ended in each row gave to its seats.
    final_rewards: Vec<f32>,
}

#[derive(Debug, Clone)]
struct Row<L> {
    lane: L,
    stream: Stream,
}

impl<L: Lane> Row<L> {
    fn begin(&mut self, setup: &L::Setup) {
        self.lane = L::begin(setup, &mut self.stream);
    }
}

/// What [`Batch::save`] writes: the set-up as JSON, matches with their streams, final rewards.
#[derive(Serialize, Deserialize)]
struct Saved<M> {
    setup: String,
    rows: Vec<(M, Stream)>,
    final_rewards: Vec<f32>,
}

impl<L: Lane> Rows<L> {
    /// New matches, one for each row, with the row's number as its seed.
    pub fn new(setup: L::Setup, rows: usize, threads: usize) -> Result<Self, String> {
        if rows == 0 || threads == 0 {
            return Err(format!("expected at least one row and one thread, got {rows} and {threads}"));
        }
        let final_rewards = vec![0.0; rows * L::seats(&setup)];
        let row = |seed| {
            let mut stream = Stream::new(seed);
            Row { lane: L::begin(&setup, &mut stream), stream }
        };
        let rows = (0..rows as u64).map(row).collect();
        Ok(Rows { width: L::fields(&setup).len(), threads, rows, final_rewards, setup })
    }

    fn setup_json(&self) -> String {
        serde_json::to_string(&self.setup).expect("rules are written in JSON everywhere")
    }
}

impl<L: Lane> Batch for Rows<L> {
    type Cell = i16;

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn fields(&self) -> Vec<Field> {
        L::fields(&self.setup)
    }

    fn actions(&self) -> usize {
        L::actions(&self.setup)
    }

    fn matches(&self) -> usize {
        self.rows.len()
    }

    fn seed(&mut self, one: usize, seed: u64) {
        self.rows[one].stream = Stream::new(seed);
    }

    fn reset(&mut self, which: Option<&[bool]>, out: &mut Out<'_, i16>) {
        let mut part = Part::whole(out);
        let mut obs = vec![0; self.width];
        for (index, row) in self.rows.iter_mut().enumerate() {
            if which.is_none_or(|which| which[index]) {
                row.begin(&self.setup);
            }
            row.lane.observe(&self.setup, &mut obs);
            part.obs.set_row(index, &obs);
            part.rewards[index] = 0.0;
            part.terminated[index] = row.lane.is_over();
            part.truncated[index] = false;
        }
    }

    fn step(&mut self, actions: &[u8], autoreset: Autoreset, out: &mut Out<'_, i16>) {
        let shared = &Shared::<L> { setup: &self.setup, width: self.width, autoreset };
        if self.threads == 1 {
            return shared.play(&mut self.rows, actions, &mut self.final_rewards, Part::whole(out));
        }
        let seats = L::seats(&self.setup);
        let size = self.rows.len().div_ceil(self.threads);
        let rows = self.rows.chunks_mut(size).zip(actions.chunks(size));
        let written = self.final_rewards.chunks_mut(size * seats).zip(Part::cut(out, size));
        rayon::scope(|scope| {
            for ((rows, actions), (final_rewards, part)) in rows.zip(written) {
                scope.spawn(move |_| shared.play(rows, actions, final_rewards, part));
            }
        });
    }

    fn masks(&self, out: &mut [bool]) {
        let actions = self.actions();
        for (row, mask) in self.rows.iter().zip(out.chunks_exact_mut(actions)) {
            row.lane.mask(mask);
        }
    }

    fn save(&self) -> Vec<u8> {
        let rows = self.rows.iter().map(|row| (row.lane.save(), row.stream.clone())).collect();
        bytes::write(&Saved { setup: self.setup_json(), rows, final_rewards: self.final_rewards.clone() })
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        let saved: Saved<L::Saved> = bytes::read(state)?;
        let (setup, rows) = (self.setup_json(), self.rows.len());
        if saved.setup != setup || saved.rows.len() != rows {
            return Err(format!(
                "expected the state of {rows} rows of {setup}, got {} of {}: restore it into a batch like the one that \
                 was saved",
                saved.rows.len(),
                saved.setup
            ));
        }
        if saved.final_rewards.len() != self.final_rewards.len() {
            return Err("expected final rewards for each seat of each row".to_owned());
        }
        let restore = |(index, (lane, stream))| match L::restore(&self.setup, lane) {
            Ok(lane) => Ok(Row { lane, stream }),
            Err(why) => Err(format!("row {index}: {why}")),
        };
        self.rows = saved.rows.into_iter().enumerate().map(restore).collect::<Result<_, String>>()?;
        self.final_rewards = saved.final_rewards;
        Ok(())
    }
}

impl<L: Lane> Seated for Rows<L> {
    fn seats(&self) -> usize {
        L::seats(&self.setup)
    }

    fn to_act(&self, out: &mut [u8]) {
        out.iter_mut().zip(&self.rows).for_each(|(out, row)| *out = row.lane.seat() as u8);
    }

    fn final_rewards(&self) -> &[f32] {
        &self.final_rewards
    }
}

/// What a step has in common for all rows.
struct Shared<'a, L: Lane> {
    setup: &'a L::Setup,
    width: usize,
    autoreset: Autoreset,
}

impl<L: Lane> Shared<'_, L> {
    /// A step of some rows.
    fn play(&self, rows: &mut [Row<L>], actions: &[u8], final_rewards: &mut [f32], mut part: Part<'_, i16>) {
        let final_rewards = final_rewards.chunks_mut(L::seats(self.setup));
        let mut obs = vec![0; self.width];
        for (index, ((row, &action), final_rewards)) in
            rows.iter_mut().zip(actions).zip(final_rewards).enumerate()
        {
            let had_ended = row.lane.is_over();
            part.rewards[index] = if had_ended { 0.0 } else { row.lane.play(action, &mut row.stream) };
            let is_over = row.lane.is_over();
            if is_over && !had_ended {
                row.lane.returns(final_rewards);
            }
            let begins = match self.autoreset {
                Autoreset::Disabled => false,
                Autoreset::NextStep => had_ended,
                Autoreset::SameStep => is_over,
            };
            if begins {
                if !had_ended {
                    row.lane.observe(self.setup, &mut obs);
                    part.final_obs.set_row(index, &obs);
                }
                row.begin(self.setup);
            }
            row.lane.observe(self.setup, &mut obs);
            part.obs.set_row(index, &obs);
            part.terminated[index] = is_over && !(begins && had_ended);
            part.truncated[index] = false;
        }
    }
}
