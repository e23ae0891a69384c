//! The last resort: a hostile bot can kill its supervisor, and then no process looks after its children. The arena's process
//! adopts them and kills them.

use super::tree::{children, descendants};
use nix::{
    sys::{
        prctl,
        signal::{Signal, kill},
        wait::{WaitPidFlag, waitpid},
    },
    unistd::{Pid, getpid},
};
use std::{
    collections::BTreeSet,
    io,
    process::{Child, Command},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

static ADOPTS: AtomicBool = AtomicBool::new(false);
/// The running supervisors: all other children of this process are orphans.
static SUPERVISORS: Mutex<BTreeSet<Pid>> = Mutex::new(BTreeSet::new());

/// Prepares a program whose only children are bots: this process adopts what they leave behind, and other processes of the user cannot
/// look into it or trace it.
pub fn own_processes() {
    let _ = prctl::set_dumpable(false);
    if prctl::set_child_subreaper(true).is_ok() {
        ADOPTS.store(true, Ordering::Relaxed);
    }
}

/// Starts a supervisor. It holds the lock, so that the new process is not taken for an orphan before it is registered.
pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut supervisors = SUPERVISORS.lock().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn()?;
    supervisors.insert(Pid::from_raw(child.id() as i32));
    Ok(child)
}

pub(super) fn left(supervisor: Pid) {
    SUPERVISORS.lock().unwrap_or_else(PoisonError::into_inner).remove(&supervisor);
}

/// Kills all processes that this one has adopted from supervisors that have ended.
pub(super) fn kill_all() {
    if !ADOPTS.load(Ordering::Relaxed) {
        return;
    }
    loop {
        let supervisors = SUPERVISORS.lock().unwrap_or_else(PoisonError::into_inner);
        let orphans: Vec<Pid> =
            children(getpid()).into_iter().filter(|child| !supervisors.contains(child)).collect();
        if orphans.is_empty() {
            return;
        }
        for &orphan in &orphans {
            for below in descendants(orphan) {
                let _ = kill(below, Signal::SIGKILL);
            }
            let _ = kill(orphan, Signal::SIGKILL);
            let _ = waitpid(orphan, Some(WaitPidFlag::WNOHANG));
        }
        drop(supervisors);
        std::thread::sleep(Duration::from_millis(1));
    }
}
