//! Finds out what a bot runs with, such as `Python 3.12.3`: a note for reports. It is never compared, and nothing fails without it.

use super::{EntryKind, EntrySpec};
use crate::wasm::RUNTIME;
use necrodome_rules::names::is_invisible;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::{
    collections::BTreeMap,
    io::Read,
    os::fd::AsFd,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Interpreters that can print their version, by their names without a version.
const KNOWN: [&str; 9] = ["python", "node", "ruby", "java", "perl", "php", "deno", "bun", "julia"];
/// How long an interpreter may take to print it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Returns what each entry runs with, such as an interpreter and its version, if known. It asks each interpreter once.
pub fn versions(entries: &[EntrySpec]) -> Vec<Option<String>> {
    let mut known = BTreeMap::new();
    let mut version = |entry: &EntrySpec| {
        let program = match &entry.kind {
            EntryKind::Program(program) => program,
            EntryKind::Wasm(_) => return Some(RUNTIME.to_owned()),
            EntryKind::Model(model) => return Some(model.model().model.clone()),
            _ => return None,
        };
        let word = program.words.first().filter(|_| program.interpreter.is_none())?;
        known.entry(word.clone()).or_insert_with(|| version_of(word)).clone()
    };
    entries.iter().map(&mut version).collect()
}

/// Returns what an interpreter with this name prints about its version.
pub fn version_of(word: &str) -> Option<String> {
    const LONGEST: usize = 80;
    let name = Path::new(word).file_name()?.to_str()?;
    KNOWN.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')).then_some(())?;
    // Whoever is found by a path may be a stranger's program under a good name, and is not run outside of the sandbox.
    (!word.contains('/')).then_some(())?;
    let mut child = Command::new(word)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let deadline = Instant::now() + PATIENCE;
    let succeeded = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
            _ => {
                let _ = (child.kill(), child.wait());
                return None;
            }
        }
    };
    // What it said is in the pipe; a process that it left behind may keep the pipe open for ever.
    let mut stdout = child.stdout.take()?;
    fcntl(stdout.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).ok()?;
    let mut said = [0; 4096];
    let length = stdout.read(&mut said).ok()?;
    let said = String::from_utf8_lossy(&said[..length]);
    let line = said.lines().map(str::trim).find(|line| !line.is_empty()).filter(|_| succeeded)?;
    Some(line.chars().filter(|c| !is_invisible(*c)).take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn interpreters_tell_their_version_and_strangers_are_not_run() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["python3.99", "mybot"] {
            let path = folder.path().join(name);
            fs::write(&path, "#!/bin/sh\necho 'run' >> ran; echo 'Python 3.99'\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let parse = |text: &str| EntrySpec::parse(text, folder.path()).unwrap();
        let entries = ["greedy", "cmd:python3 a.py", "cmd:./python3.99 b.py", "./mybot"].map(parse);
        let versions = versions(&entries);
        assert!(versions[1].as_ref().is_some_and(|version| version.starts_with("Python 3.")), "{versions:?}");
        assert_eq!([&versions[0], &versions[2], &versions[3]], [&None, &None, &None]);
        assert!(!folder.path().join("ran").exists());
    }
}
