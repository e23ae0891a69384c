//! The end of the interpreter.
//!
//! A thread that comes back to an interpreter which is being taken down is unwound through Rust, and takes the process down with
//! it. So the end waits for those who are inside, and whoever comes later stops for good.

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

/// Threads that are inside.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// The thread that ends the interpreter, once it does. It goes on to the end.
static ENDS: OnceLock<ThreadId> = OnceLock::new();
/// How long the end waits: an opponent may think for ever.
const PATIENCE: Duration = Duration::from_secs(5);

thread_local! {
    /// How often this thread is inside: an opponent may have environments of its own.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A thread is inside: it works without the interpreter's lock, or calls Python from Rust.
pub struct Inside(());

impl Inside {
    /// Enters. Does not return once the interpreter ends, unless the thread that ends it calls.
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

/// The interpreter is about to end: waits for those who are inside, and lets nobody else in.
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
