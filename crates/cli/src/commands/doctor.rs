//! `necrodome doctor`: how well this machine can run bots, and what keeps it from more.

use super::print_json;
use crate::{
    error::Error,
    lineup,
    paint::{bold, column, dim, green, line, yellow},
};
use necrodome_arena::{
    entry::version_of,
    process::{Level, Reach, delegated_group},
};
use nix::sys::resource::{Resource, getrlimit};
use serde::Serialize;
use std::{fs, io::Write};

/// Show how well this machine can confine programs, what they can run with, and what would improve it
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome doctor
  necrodome doctor --json

The levels of --sandbox: full (namespaces, Landlock and seccomp: a bot sees its own folder, the system's programs, and nobody else),
strict (Landlock and seccomp), limits (CPU time, memory, processes and files only). `necrodome docs security` says what each
protects.")]
pub struct Args {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Doctor {
    /// The best level of confinement, which `--sandbox auto` takes.
    sandbox: &'static str,
    kernel: String,
    checks: Vec<Check>,
}

#[derive(Serialize)]
struct Check {
    what: &'static str,
    ok: bool,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let launcher = lineup::own_program()?;
    let best = Level::best(&launcher);
    let mut checks = vec![
        level("full", Level::Full.reached(&launcher), best.hint()),
        level(
            "strict",
            Level::Strict.reached(&launcher),
            Some("Landlock needs Linux 5.13 or newer, and `landlock` in the list of `lsm=`"),
        ),
        memory(),
        user(),
        open_files(),
    ];
    checks.extend(["python3", "node", "ruby", "java"].map(runtime));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned();
    let doctor = Doctor { sandbox: best.as_str(), kernel, checks };
    if args.json {
        return print_json(&doctor);
    }
    const COLUMN: usize = 18;
    let mut out = anstream::stdout().lock();
    writeln!(out, "{} {best}", bold("Programs are confined:"))?;
    let about = format!("by {} (Linux {})", best.about(), doctor.kernel);
    line(&mut out, 0, &dim(about).to_string())?;
    for Check { what, ok, found, hint } in &doctor.checks {
        let mark = if *ok { green("ok  ") } else { yellow("no  ") };
        writeln!(out, "{mark}  {}  {}", bold(format!("{what:<10}")), column(found, COLUMN))?;
        if let Some(hint) = hint {
            writeln!(out, "{:COLUMN$}{}", "", column(&format!("hint: {hint}"), COLUMN))?;
        }
    }
    Ok(())
}

fn level(what: &'static str, reach: &Reach, hint: Option<&str>) -> Check {
    let hint = hint.filter(|_| reach.is_err()).map(str::to_owned);
    let found =
        reach.as_ref().err().cloned().unwrap_or_else(|| "a program was started in it, and ended well".into());
    Check { what, ok: reach.is_ok(), found, hint }
}

/// Checks that the user is not root, whose processes the system does not limit.
fn user() -> Check {
    let root = nix::unistd::geteuid().is_root();
    let found = if root { "root: the system does not limit its processes" } else { "an ordinary user" };
    let hint = root.then(|| "run strangers' programs as an ordinary user".to_owned());
    Check { what: "user", ok: !root, found: found.into(), hint }
}

/// Checks whether the kernel limits the memory of all processes of a bot, or the arena has to measure it.
fn memory() -> Check {
    let group = delegated_group();
    let looks = |why| format!("the arena measures what each bot holds, many times a second ({why})");
    Check {
        what: "memory",
        ok: group.is_ok(),
        found: group.map_or_else(looks, |_| "the kernel bounds it, by a control group for each bot".into()),
        hint: group.err().map(|_| "systemd-run --user --scope -p Delegate=yes necrodome ...".to_owned()),
    }
}

/// Checks how many files may be open: each program takes three.
fn open_files() -> Check {
    const ENOUGH: u64 = 1024;
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap_or_default();
    let hint = (most < ENOUGH).then(|| format!("`ulimit -Hn {ENOUGH}` as root, or fewer --threads"));
    Check { what: "open files", ok: most >= ENOUGH, found: format!("up to {most}"), hint }
}

fn runtime(what: &'static str) -> Check {
    let version = version_of(what);
    let found = version.clone().unwrap_or_else(|| "not found: bots that need it cannot play here".into());
    Check { what, ok: version.is_some(), found, hint: None }
}
