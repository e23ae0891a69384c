//! Handles Ctrl-C (SIGINT) and SIGTERM, whatever the program inherited: shells start background jobs with SIGINT ignored.
//!
//! A signal ends the program as usual, but the terminal is restored first. Long work takes the `flag`: then the first signal only
//! sets it, so that the work can stop properly and report, and the second ends the program.

use crate::human::restore;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};
use std::{
    io,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

static TAKEN: AtomicBool = AtomicBool::new(false);
static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static LEFT: AtomicBool = AtomicBool::new(false);

/// Leaves Ctrl-C to another program that has the terminal, such as a pager.
pub fn leave_to_others() {
    LEFT.store(true, Ordering::SeqCst);
}

/// Handles the signals from now on. For the start of `main`.
pub fn watch() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let heed = move || {
        for signal in signals.forever() {
            let left = signal == SIGINT && LEFT.load(Ordering::SeqCst);
            if !left && (!TAKEN.load(Ordering::SeqCst) || STOP.swap(true, Ordering::SeqCst)) {
                restore::restore();
                // Ends the program; there is nothing to do about a failure.
                let _ = emulate_default_handler(signal);
            }
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(heed)?;
    Ok(())
}

/// Returns the flag that the first signal sets; from now on that is all the first signal does.
pub fn flag() -> &'static AtomicBool {
    TAKEN.store(true, Ordering::SeqCst);
    &STOP
}

/// Returns the flag for code that keeps it; signals still end the program until somebody calls `flag`.
pub fn shared() -> Arc<AtomicBool> {
    STOP.clone()
}
