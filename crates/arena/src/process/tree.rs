//! Finds all processes below one, from `/proc`.

use nix::unistd::Pid;
use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
};

/// Returns all living processes below `root`.
pub(super) fn descendants(root: Pid) -> Vec<Pid> {
    all_below(root).into_iter().filter(|&pid| stat(pid).is_some()).collect()
}

/// Returns all processes below `root`, including dead ones that have not been waited for.
pub(super) fn all_below(root: Pid) -> Vec<Pid> {
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        found.extend(children(found[next]));
        next += 1;
    }
    found.split_off(1)
}

/// Returns the processes that the threads of another have started or adopted.
pub(super) fn children(parent: Pid) -> Vec<Pid> {
    let threads = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let numbers = lists.flat_map(|list| list.split_whitespace().map(str::parse).collect::<Vec<_>>());
    numbers.flatten().map(Pid::from_raw).collect()
}

/// Returns the number of threads of a process.
pub(super) fn threads(pid: Pid) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).map_or(0, |threads| threads.count())
}

/// Returns what proc(5) says about a living process, or `None` if that cannot be read.
pub(super) fn stat(pid: Pid) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold spaces and brackets, so what follows is counted from its end.
    let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_whitespace().collect();
    // The state, field 3, is the first here.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let dead = matches!(*fields.first()?, "Z" | "X");
    (!dead).then_some(Stat { waited: number(16)? + number(17)? })
}

/// The facts about a process.
pub(super) struct Stat {
    /// CPU time of ended processes that it waited for, in clock ticks.
    pub waited: u64,
}

/// Returns the bytes of memory of a process that are not part of a file on disk.
pub(super) fn memory(pid: Pid) -> u64 {
    sum_of_fields(&format!("/proc/{pid}/status"), &["RssAnon:", "RssShmem:"])
}

/// Returns the same, with memory that several processes share divided among them.
pub(super) fn shared_memory(pid: Pid) -> u64 {
    let file = format!("/proc/{pid}/smaps_rollup");
    match File::open(&file) {
        // Of a program that may be run and not be read, nobody can say what it shares.
        Err(error) if is_closed(pid, &error) => memory(pid),
        _ => sum_of_fields(&file, &["Pss_Anon:", "Pss_Shmem:"]),
    }
}

/// Returns how many files a process has open, or the most that it may have if they cannot be seen.
pub(super) fn open_files(pid: Pid, most: u64) -> u64 {
    match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(files) => files.count() as u64,
        Err(error) if is_closed(pid, &error) => most,
        Err(_) => 0,
    }
}

/// Whether a process lives but cannot be looked into; the files of a dead one cannot be seen either.
fn is_closed(pid: Pid, error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && stat(pid).is_some()
}

/// Returns how many sockets some processes have together. A process whose files cannot be seen counts as if all its files were sockets.
pub(super) fn sockets(all: &[Pid], most_files: u64) -> u64 {
    let (mut found, mut unseen) = (BTreeSet::new(), 0);
    for pid in all {
        match fs::read_dir(format!("/proc/{pid}/fd")) {
            Ok(files) => {
                let links = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
                found
                    .extend(links.filter(|link| link.as_os_str().as_encoded_bytes().starts_with(b"socket:")));
            }
            Err(error) if is_closed(*pid, &error) => unseen += most_files,
            // It has ended.
            Err(_) => {}
        }
    }
    found.len() as u64 + unseen
}

fn sum_of_fields(file: &str, names: &[&str]) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let field = |line: &str| {
        let value = names.iter().find_map(|name| line.strip_prefix(name))?;
        value.split_whitespace().next()?.parse::<u64>().ok()
    };
    text.lines().filter_map(field).sum::<u64>() << 10
}
