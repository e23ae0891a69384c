//! The last resort: a hostile bot can kill its supervisor, and then its children belong to nobody. The arena's process
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
/// The supervisors that run now: all other children of this process are orphans.
static SUPERVISORS: Mutex<BTreeSet<Pid>> = Mutex::new(BTreeSet::new());

/// For programs whose only children are bots: this process adopts what they leave behind, and no other process of the user can
/// look into it, or trace it.
pub fn own_processes() {
    let _ = prctl::set_dumpable(false);
    if prctl::set_child_subreaper(true).is_ok() {
        ADOPTS.store(true, Ordering::Relaxed);
    }
}

/// Starts a supervisor. The lock is held, so that it is not taken for an orphan between its start and its entry.
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
