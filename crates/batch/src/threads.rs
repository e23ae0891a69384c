//! The threads that step large batches.
//!
//! They are not those of `rayon::scope`: a process that was forked has none of its parent's threads, and would wait for them
//! forever. So each process has its own.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, PoisonError};

/// The threads of this process, one for each core, started when they are first needed.
pub(crate) fn pool() -> &'static ThreadPool {
    static POOL: Mutex<Option<(u32, &ThreadPool)>> = Mutex::new(None);
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    match *pool {
        Some((owner, threads)) if owner == process => threads,
        _ => {
            let threads = ThreadPoolBuilder::new().thread_name(|index| format!("batch-{index}")).build();
            // Never dropped: those of the parent are not there to be told to end.
            let threads = Box::leak(Box::new(threads.expect("a thread for each core can be started")));
            *pool = Some((process, threads));
            threads
        }
    }
}
