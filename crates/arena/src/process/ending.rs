//! How a bot ended, as its supervisor tells the arena. An exit code cannot carry that: all 256 values belong to the bot.
//!
//! The supervisor writes it as the last bytes of standard error, when no other process is left that could write there.

use super::Limits;
use crate::fault::{Fault, FaultKind};
use nix::{errno::Errno, sys::signal::Signal};

/// The number of bytes of an ending.
pub(super) const BYTES: usize = 3;

/// How a bot ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ending {
    /// What happened to its first process.
    pub how: How,
    /// Whether it left other processes behind.
    pub left: bool,
}

/// What happened to a bot's first process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It ended with this exit code.
    Exited(u8),
    /// It was ended by this signal.
    Signalled(u8),
    /// The program could not be started; this is the system's error code.
    NotStarted(u8),
    /// Its sandbox could not be set up; this is the system's error code.
    NotConfined(u8),
    /// It did not end on SIGTERM.
    IgnoredSigterm,
    /// It was killed when the arena asked for it.
    Killed,
    /// All its processes together held too much memory.
    Memory,
    /// It had too many processes.
    Processes,
    /// It wrote too much into its temporary folder.
    Disk,
    /// Its supervisor was killed.
    Unknown,
}

impl From<How> for Ending {
    fn from(how: How) -> Self {
        Ending { how, left: false }
    }
}

impl Ending {
    pub(super) fn to_bytes(self) -> [u8; BYTES] {
        let (kind, value) = match self.how {
            How::Exited(code) => (b'e', code),
            How::Signalled(signal) => (b's', signal),
            How::NotStarted(errno) => (b'n', errno),
            How::NotConfined(errno) => (b'c', errno),
            How::IgnoredSigterm => (b't', 0),
            How::Killed => (b'k', 0),
            How::Memory => (b'm', 0),
            How::Processes => (b'p', 0),
            How::Disk => (b'd', 0),
            How::Unknown => (b'?', 0),
        };
        [kind, value, u8::from(self.left)]
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let &[kind, value, left] = bytes else { return How::Unknown.into() };
        let how = match kind {
            b'e' => How::Exited(value),
            b's' => How::Signalled(value),
            b'n' => How::NotStarted(value),
            b'c' => How::NotConfined(value),
            b't' => How::IgnoredSigterm,
            b'k' => How::Killed,
            b'm' => How::Memory,
            b'p' => How::Processes,
            b'd' => How::Disk,
            _ => How::Unknown,
        };
        Ending { how, left: left != 0 }
    }

    /// Returns what the arena lacked, if that is why the bot could not start.
    pub(super) fn shortage(self) -> Option<Errno> {
        match self.how {
            How::NotConfined(errno) => Some(Errno::from_raw(errno.into())),
            How::NotStarted(errno) => Some(Errno::from_raw(errno.into())).filter(|errno| is_shortage(*errno)),
            _ => None,
        }
    }

    /// Returns the fault of a bot that ended in the middle of a match.
    pub(super) fn fault(self, limits: &Limits) -> Fault {
        let (kind, detail) = match self.how {
            _ if self.left => (FaultKind::LeftChildren, "left processes behind, which were killed".into()),
            How::Exited(0) => (FaultKind::Exit, "the process ended with exit code 0".into()),
            How::Exited(code) => (FaultKind::Crash, format!("the process ended with exit code {code}")),
            How::Signalled(number) => {
                let signal = Signal::try_from(i32::from(number));
                let name = signal.map_or_else(|_| number.to_string(), |signal| signal.to_string());
                (FaultKind::Crash, format!("the process was ended by signal {name}"))
            }
            How::NotStarted(errno) | How::NotConfined(errno) => {
                let why = Errno::from_raw(errno.into()).desc();
                (FaultKind::NoStart, format!("the program could not be started: {why}"))
            }
            How::IgnoredSigterm => (FaultKind::IgnoredSigterm, "did not end on SIGTERM".into()),
            How::Killed => (FaultKind::Crash, "the process was killed".into()),
            How::Memory => {
                let detail = format!("all its processes held more than {} MB of memory", limits.memory_mb);
                (FaultKind::Crash, detail)
            }
            How::Processes => {
                let detail = format!("more than {} processes at once", limits.processes);
                (FaultKind::LeftChildren, detail)
            }
            How::Disk => {
                let detail = format!("more than {} MB of temporary files, or too many", limits.file_mb);
                (FaultKind::Crash, detail)
            }
            How::Unknown => (FaultKind::Crash, "the process that watched over it was killed".into()),
        };
        Fault::new(kind, detail)
    }
}

/// Whether this error means that the system is short of something for the moment.
pub(super) fn is_shortage(errno: Errno) -> bool {
    use Errno::{EAGAIN, EDQUOT, EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOSPC};
    [EAGAIN, EDQUOT, EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOSPC].contains(&errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_is_told_apart() {
        let hows = (0..=255)
            .flat_map(|n| [How::Exited(n), How::Signalled(n), How::NotStarted(n), How::NotConfined(n)]);
        let rest = [How::IgnoredSigterm, How::Killed, How::Memory, How::Processes, How::Disk, How::Unknown];
        for how in hows.chain(rest) {
            for left in [false, true] {
                let ending = Ending { how, left };
                assert_eq!(Ending::from_bytes(&ending.to_bytes()), ending);
            }
        }
        assert_eq!(Ending::from_bytes(b"no"), How::Unknown.into());
    }

    /// Python's `sys.exit(-1)` is exit code 255, and 240 can only come from the bot.
    #[test]
    fn exit_codes_and_signals_are_told_apart() {
        for (how, words) in [
            (How::Exited(1), "the process ended with exit code 1"),
            (How::Exited(240), "the process ended with exit code 240"),
            (How::Exited(255), "the process ended with exit code 255"),
            (How::Signalled(Signal::SIGSEGV as u8), "the process was ended by signal SIGSEGV"),
        ] {
            assert_eq!(Ending::from(how).fault(&Limits::default()), Fault::new(FaultKind::Crash, words));
        }
    }
}
