//! Where a part of a tournament was played, and with which software.

use crate::process::Level;
use serde::{Deserialize, Serialize};
use std::{fmt, fs, sync::OnceLock};

/// The origin of a part: where it was played, and with which software. It is a note: no result depends on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The version of necrodome.
    pub version: String,
    /// A hash of the program, or of the Python module, that played it.
    pub build: String,
    /// The name of the machine.
    pub host: String,
    /// Which node of a cluster it is, if it is one: several may have one name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// A hash of the files beside the bots, where they were unpacked from a pack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bots: Option<String>,
    /// Its processor.
    pub cpu: String,
    /// Its system.
    pub system: String,
    /// The level of confinement of programs, or `None` if no program takes part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Level>,
    /// The number of threads.
    pub threads: usize,
    /// The number of seconds that it took.
    pub seconds: f64,
}

impl Origin {
    /// Returns the version and the build of necrodome in words.
    pub fn program(&self) -> String {
        format!("necrodome {}, build {}", harmless(&self.version), harmless(&self.build))
    }

    /// Returns this machine as an origin.
    pub fn here(sandbox: Option<Level>, threads: usize) -> Self {
        let system = nix::sys::utsname::uname().ok();
        let text = |text: Option<&std::ffi::OsStr>| {
            text.map_or("unknown".to_owned(), |text| text.to_string_lossy().into_owned())
        };
        let release = text(system.as_ref().map(|system| system.release()));
        Origin {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: build().to_owned(),
            host: text(system.as_ref().map(|system| system.nodename())),
            node: None,
            bots: None,
            cpu: cpu(),
            system: format!("{} {release}", text(system.as_ref().map(|system| system.sysname()))),
            sandbox,
            threads,
            seconds: 0.0,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Origin { host, node, cpu, .. } = self;
        let node = node.as_ref().map_or(String::new(), |node| format!("node {}, ", harmless(node)));
        write!(f, "{} ({node}{}, {})", harmless(host), self.program(), harmless(cpu))
    }
}

/// A file of a stranger's says what it likes.
fn harmless(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}

fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or(std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// Returns a hash of the file that contains this code.
fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| own_file().unwrap_or_else(|| "unknown".to_owned()))
}

fn own_file() -> Option<String> {
    // Inside Python that is the module, not the interpreter: whatever this function was loaded from.
    let here = own_file as *const () as usize;
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let is_here = |line: &&str| {
        let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
        let ends = range.map(|(from, to)| (usize::from_str_radix(from, 16), usize::from_str_radix(to, 16)));
        matches!(ends, Some((Ok(from), Ok(to))) if (from..to).contains(&here))
    };
    let line = maps.lines().find(is_here)?;
    let file = fs::File::open(&line[line.find('/')?..]).ok()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file).ok()?;
    Some(hasher.finalize().to_hex()[..16].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_is_that_of_this_very_program() {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(fs::File::open("/proc/self/exe").unwrap()).unwrap();
        assert_eq!(build(), &hasher.finalize().to_hex()[..16]);
        assert!(!Origin::here(None, 1).host.is_empty());
    }
}
