//! The end of the interpreter.
//!
//! A thread that comes back from a kernel while the interpreter is being taken down takes the process down with it. So the end
//! waits for the kernels that are running, and those that begin after that keep the interpreter's lock.

use pyo3::prelude::*;
use std::sync::RwLock;

/// Those who work without the interpreter's lock are readers; the end is the writer.
static OPEN: RwLock<()> = RwLock::new(());

/// Does some short work without the interpreter's lock, unless the interpreter is about to end.
pub fn detach<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    match OPEN.try_read() {
        Ok(_open) => py.detach(work),
        Err(_) => work(),
    }
}

/// The interpreter is about to end: waits for all who work without its lock, and lets nobody do so any more.
#[pyfunction]
pub fn close(py: Python<'_>) {
    py.detach(|| std::mem::forget(OPEN.write()));
}
