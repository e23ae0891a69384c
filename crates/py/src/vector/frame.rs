//! Frames: the arrays that a step returns to Python, written in turn.

use super::buffer::{Buffer, Written};
use necrodome_batch::{
    batched::{Batched, Out},
    kernel::{Kernel, MemoryOrder},
};
use numpy::Element;
use pyo3::prelude::*;

/// The number of frames kept for reuse: enough for a program that holds on to the last two or three steps.
const KEPT: usize = 4;

/// The arrays of a frame besides the observations.
#[derive(Clone, Copy)]
pub struct Extras {
    /// Whether it marks the episodes that have ended.
    pub ended: bool,
    /// Whether it has the last observations, for new episodes that begin in the same step.
    pub final_obs: bool,
    /// Whether it has the legal actions, if they change.
    pub masks: bool,
    /// Whether it marks the living, if a match has many rows.
    pub alive: bool,
    /// Whether it has the final rewards of the seats, if they take turns.
    pub final_rewards: bool,
}

/// The arrays of one step.
pub struct Frame<T: Element> {
    pub obs: Buffer<T>,
    pub final_obs: Option<Buffer<T>>,
    pub rewards: Buffer<f32>,
    pub terminated: Buffer<bool>,
    pub truncated: Buffer<bool>,
    /// Rows whose episode has ended in this step.
    pub ended: Option<Buffer<bool>>,
    pub masks: Option<Buffer<bool>>,
    pub alive: Option<Buffer<bool>>,
    pub final_rewards: Option<Buffer<f32>>,
}

impl<T: Element> Frame<T> {
    fn new<K: Kernel<Cell = T>>(py: Python<'_>, batch: &Batched<K>, extras: Extras) -> PyResult<Self> {
        let (rows, width) = (batch.rows(), batch.width());
        let cells = |order| match order {
            MemoryOrder::Columns => Buffer::columns(py, rows, width),
            MemoryOrder::Rows => Buffer::rows(py, rows, width),
        };
        let flags = || Buffer::row(py, rows);
        let masks = || Buffer::rows(py, rows, batch.actions());
        let final_rewards = || Buffer::rows(py, rows, batch.seats());
        Ok(Frame {
            obs: cells(K::ORDER)?,
            final_obs: extras.final_obs.then(|| cells(K::FINAL_ORDER)).transpose()?,
            rewards: Buffer::row(py, rows)?,
            terminated: flags()?,
            truncated: flags()?,
            ended: extras.ended.then(flags).transpose()?,
            masks: extras.masks.then(masks).transpose()?,
            alive: extras.alive.then(flags).transpose()?,
            final_rewards: extras.final_rewards.then(final_rewards).transpose()?,
        })
    }

    fn is_free(&self, py: Python<'_>) -> bool {
        let free = |flags: &Option<Buffer<bool>>| flags.as_ref().is_none_or(|flags| flags.is_free(py));
        self.obs.is_free(py)
            && self.rewards.is_free(py)
            && self.terminated.is_free(py)
            && self.truncated.is_free(py)
            && self.final_obs.as_ref().is_none_or(|last| last.is_free(py))
            && free(&self.ended)
            && free(&self.masks)
            && free(&self.alive)
            && self.final_rewards.as_ref().is_none_or(|rewards| rewards.is_free(py))
    }

    /// Opens all arrays for writing.
    pub fn write<'py>(&self, py: Python<'py>) -> PyResult<WrittenFrame<'py, T>> {
        Ok(WrittenFrame {
            obs: self.obs.write(py)?,
            final_obs: open(&self.final_obs, py)?,
            rewards: self.rewards.write(py)?,
            terminated: self.terminated.write(py)?,
            truncated: self.truncated.write(py)?,
            ended: open(&self.ended, py)?,
            masks: open(&self.masks, py)?,
            alive: open(&self.alive, py)?,
            final_rewards: open(&self.final_rewards, py)?,
        })
    }
}

fn open<'py, T: Element>(buffer: &Option<Buffer<T>>, py: Python<'py>) -> PyResult<Option<Written<'py, T>>> {
    buffer.as_ref().map(|buffer| buffer.write(py)).transpose()
}

/// The arrays of a frame that a kernel is writing.
pub struct WrittenFrame<'py, T: Element> {
    obs: Written<'py, T>,
    final_obs: Option<Written<'py, T>>,
    rewards: Written<'py, f32>,
    terminated: Written<'py, bool>,
    truncated: Written<'py, bool>,
    ended: Option<Written<'py, bool>>,
    masks: Option<Written<'py, bool>>,
    alive: Option<Written<'py, bool>>,
    final_rewards: Option<Written<'py, f32>>,
}

/// The numbers of a frame, to be written without the interpreter's lock.
pub struct Cells<'a, T> {
    pub out: Out<'a, T>,
    pub ended: Option<&'a mut [bool]>,
    pub masks: Option<&'a mut [bool]>,
    pub alive: Option<&'a mut [bool]>,
    pub final_rewards: Option<&'a mut [f32]>,
}

impl<T: Element> WrittenFrame<'_, T> {
    /// All numbers.
    pub fn cells(&mut self) -> Cells<'_, T> {
        Cells {
            out: Out {
                obs: self.obs.cells(),
                final_obs: self.final_obs.as_mut().map(Written::cells).unwrap_or_default(),
                rewards: self.rewards.cells(),
                terminated: self.terminated.cells(),
                truncated: self.truncated.cells(),
            },
            ended: self.ended.as_mut().map(Written::cells),
            masks: self.masks.as_mut().map(Written::cells),
            alive: self.alive.as_mut().map(Written::cells),
            final_rewards: self.final_rewards.as_mut().map(Written::cells),
        }
    }
}

/// The frames that are written: as far as Python can tell, a new one for each step.
///
/// A frame is reused once nothing refers to any of its arrays. Without copies there is only one frame.
pub struct Frames<T: Element> {
    frames: Vec<Frame<T>>,
    /// The index of the frame written last.
    current: usize,
    copy: bool,
    extras: Extras,
}

impl<T: Element> Frames<T> {
    pub fn new(copy: bool, extras: Extras) -> Self {
        Frames { frames: Vec::new(), current: 0, copy, extras }
    }

    /// Chooses the frame of the next step and opens it.
    pub fn open<'py, K: Kernel<Cell = T>>(
        &mut self,
        py: Python<'py>,
        batch: &Batched<K>,
    ) -> PyResult<WrittenFrame<'py, T>> {
        let count = self.frames.len();
        let next = if self.copy {
            (1..=count).map(|step| (self.current + step) % count).find(|&one| self.frames[one].is_free(py))
        } else {
            (count > 0).then_some(0)
        };
        // One whose arrays were made read-only is given up.
        if let Some(next) = next
            && let Ok(written) = self.frames[next].write(py)
        {
            self.current = next;
            return Ok(written);
        }
        let new = Frame::new(py, batch, self.extras)?;
        if count < if self.copy { KEPT } else { 1 } {
            self.frames.push(new);
            self.current = count;
        } else {
            // The oldest makes room; whoever holds its arrays keeps them.
            self.current = (self.current + 1) % count;
            self.frames[self.current] = new;
        }
        self.frames[self.current].write(py)
    }

    /// The frame that was opened last.
    pub fn current(&self) -> &Frame<T> {
        &self.frames[self.current]
    }
}
