//! A value that threads share and wait for, until the user wants to stop.

use crate::AskError;
use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The interval at which waiting threads check whether to stop: a signal handler cannot wake them.
pub(crate) const GLANCE: Duration = Duration::from_millis(20);

/// A value, and a condition variable that is notified when it changes.
#[derive(Debug, Default)]
pub(crate) struct Waiting<T> {
    value: Mutex<T>,
    bell: Condvar,
}

impl<T> Waiting<T> {
    pub fn new(value: T) -> Self {
        Waiting { value: Mutex::new(value), bell: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        // Every change is whole before anything can panic.
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the value, and wakes the waiting threads.
    pub fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let result = change(&mut self.lock());
        self.bell.notify_all();
        result
    }

    /// Waits until `ready` returns something. It is called again after each change, and after a short while.
    pub fn until<R>(
        &self,
        stop: &dyn Fn() -> bool,
        mut ready: impl FnMut(&mut T) -> Option<R>,
    ) -> Result<R, AskError> {
        let mut value = self.lock();
        loop {
            if stop() {
                return Err(AskError::Interrupted);
            }
            if let Some(result) = ready(&mut value) {
                return Ok(result);
            }
            value = self.bell.wait_timeout(value, GLANCE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
