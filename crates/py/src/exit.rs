//! The end of the interpreter.
//!
//! A thread that returns to an interpreter that is shutting down is unwound through Rust, and crashes the process.
//! So the shutdown waits for the threads inside, and stops later ones for good.

use pyo3::prelude::*;
use std::{
    cell::Cell,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, ThreadId},
    time::{Duration, Instant},
};

/// The number of threads inside.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// The thread that shuts the interpreter down, if any. It may still enter.
static ENDS: OnceLock<ThreadId> = OnceLock::new();
/// The longest wait at shutdown: an opponent may think forever.
const PATIENCE: Duration = Duration::from_secs(5);

thread_local! {
    /// How many times this thread has entered: an opponent may have environments of its own.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Shows that a thread is inside: it works without the interpreter's lock, or calls Python from Rust.
pub struct Inside(());

impl Inside {
    /// Enters. After the shutdown has begun it does not return, except on the thread that shuts down.
    pub fn enter(py: Python<'_>) -> Self {
        if DEPTH.get() == 0 {
            INSIDE.fetch_add(1, SeqCst);
            if ENDS.get().is_some_and(|ends| *ends != thread::current().id()) {
                INSIDE.fetch_sub(1, SeqCst);
                py.detach(|| {
                    loop {
                        thread::park();
                    }
                });
            }
        }
        DEPTH.set(DEPTH.get() + 1);
        Inside(())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() == 0 {
            INSIDE.fetch_sub(1, SeqCst);
        }
    }
}

/// Begins the shutdown: waits for the threads inside, for a few seconds at most, and lets no others in.
#[pyfunction]
pub fn close(py: Python<'_>) {
    _ = ENDS.set(thread::current().id());
    py.detach(|| {
        let begun = Instant::now();
        while INSIDE.load(SeqCst) > 0 && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
    });
}
