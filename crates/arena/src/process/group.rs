//! A control group (version 2) for each bot, if the system gives the arena one, as `systemd-run --user --scope -p Delegate=yes` does:
//! in it the kernel itself limits what all processes of a bot hold together, at every moment.

use super::Limits;
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

/// The control group of one bot and its supervisors. Dropping it kills every process in it.
#[derive(Debug)]
pub(super) struct Group(PathBuf);

impl Group {
    /// What the supervisors of a bot need on top of the bot: bytes of memory, and processes.
    const SUPERVISORS: (u64, u64) = (64 << 20, 4);

    /// Makes a group with these limits, or returns `None` if the system does not let the arena make groups.
    pub fn new(limits: &Limits) -> io::Result<Option<Self>> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let Ok(all) = delegated() else { return Ok(None) };
        let group = Group(all.join(format!("bot-{}", NUMBER.fetch_add(1, Ordering::Relaxed))));
        fs::create_dir(&group.0)?;
        let (bytes, processes) = Self::SUPERVISORS;
        let memory = limits.memory_mb.saturating_mul(1 << 20).saturating_add(bytes);
        let tasks = limits.processes.saturating_mul(2).saturating_add(processes);
        fs::write(group.0.join("memory.max"), memory.to_string())?;
        fs::write(group.0.join("pids.max"), tasks.to_string())?;
        // A machine without swap has no such bound.
        let _ = fs::write(group.0.join("memory.swap.max"), "0");
        Ok(Some(group))
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Whether the kernel has killed a process in it because memory ran out.
    pub fn starved(&self) -> bool {
        let events = fs::read_to_string(self.0.join("memory.events")).unwrap_or_default();
        let kills = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
        kills.is_some_and(|kills| kills != "0")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
        // Those who were killed leave it a moment later.
        for _ in 0..1_000 {
            match fs::remove_dir(&self.0) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    thread::sleep(Duration::from_millis(1));
                }
                _ => return,
            }
        }
    }
}

/// Moves this process into a group.
pub(super) fn enter(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), "0")
}

/// Returns the group in which bots get theirs, or why there is none. The first call moves the arena into a group below it: a group with
/// limits may not hold both processes and groups.
pub fn delegated() -> Result<&'static Path, &'static str> {
    static GROUP: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    GROUP.get_or_init(claim).as_deref().map_err(String::as_str)
}

fn claim() -> Result<PathBuf, String> {
    let own = own().ok_or("this system has no control groups of version 2")?;
    let read = |file: &str| fs::read_to_string(own.join(file)).unwrap_or_default();
    let controllers = read("cgroup.controllers");
    if let Some(missing) =
        ["memory", "pids"].iter().find(|name| !controllers.split_whitespace().any(|has| has == **name))
    {
        return Err(format!("the arena's control group has no controller for {missing}"));
    }
    if read("cgroup.procs").split_whitespace().any(|process| process != std::process::id().to_string()) {
        return Err("other processes are in the arena's control group".into());
    }
    let arena = own.join("arena");
    let claimed = || -> io::Result<()> {
        fs::create_dir(&arena)?;
        enter(&arena)?;
        fs::write(own.join("cgroup.subtree_control"), "+memory +pids")
    };
    claimed().map_err(|error| {
        let _ = enter(&own);
        let _ = fs::remove_dir(&arena);
        format!("the arena's control group is not left to it: {error}")
    })?;
    Ok(own)
}

/// Returns the folder of the group that this process is in.
fn own() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut fields = left.split(' ').skip(3);
        let (root, place) = (fields.next()?, fields.next()?);
        let below = Path::new(path).strip_prefix(root).ok()?;
        (right.split(' ').next() == Some("cgroup2")).then(|| Path::new(place).join(below))
    })
}
