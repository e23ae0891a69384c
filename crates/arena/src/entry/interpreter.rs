//! What a program runs with, such as `Python 3.12.3`: a note for reports. It is never compared, and nothing fails without it.

use super::{EntryKind, EntrySpec};
use crate::process::Program;
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

/// Programs that run others and tell their version, by their names without a version.
const KNOWN: [&str; 9] = ["python", "node", "ruby", "java", "perl", "php", "deno", "bun", "julia"];
/// How long one may take to tell.
const PATIENCE: Duration = Duration::from_secs(2);

/// What each entry runs with, where it is known. Each interpreter is asked once.
pub fn versions(entries: &[EntrySpec]) -> Vec<Option<String>> {
    let mut known = BTreeMap::new();
    let mut version = |entry: &EntrySpec| {
        let EntryKind::Program(program) = &entry.kind else { return None };
        let word = program.words.first()?;
        // A path may lead elsewhere from another folder; a name is looked up in the same way from all.
        let key = (word.clone(), word.contains('/').then(|| program.folder.clone()));
        known.entry(key).or_insert_with(|| asked(program)).clone()
    };
    entries.iter().map(&mut version).collect()
}

/// The first line that an interpreter says about its version.
fn asked(Program { words, folder }: &Program) -> Option<String> {
    const LONGEST: usize = 80;
    let word = words.first()?;
    let name = Path::new(word).file_name()?.to_str()?;
    KNOWN.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')).then_some(())?;
    let path = if word.contains('/') { folder.join(word) } else { word.into() };
    let mut child = Command::new(path)
        .arg("--version")
        .current_dir(folder)
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
    Some(line.chars().filter(|c| !c.is_control()).take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn an_interpreter_is_asked_once_and_never_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let script = |name: &str, body: &str| {
            let path = folder.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        script("python3.99", "echo >> asked; echo; echo 'Python 3.99'; echo 'and more'");
        script("node", "exit 3");
        script("ruby", "sleep 3600");
        script("mybot", "echo 'not asked' >> asked");
        let parse = |text: &str| EntrySpec::parse(text, folder.path()).unwrap();
        let entries =
            ["greedy", "cmd:./python3.99 a.py", "cmd:./python3.99 b.py", "cmd:./node", "cmd:./ruby"];
        let entries: Vec<_> = entries.into_iter().chain(["./mybot"]).map(parse).collect();
        let python = Some("Python 3.99".to_owned());
        assert_eq!(versions(&entries), [None, python.clone(), python, None, None, None]);
        assert_eq!(fs::read_to_string(folder.path().join("asked")).unwrap(), "\n");
    }
}
