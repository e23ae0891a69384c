//! The world of a module: the functions of WASI preview 1. There are three open files, and none can be opened.

use crate::stderr::Stderr;
use wasmi::{
    Caller, Engine, Error, Extern, FuncType, Linker, StoreLimits, TrapCode, Val, ValType, errors::HostError,
};

/// The name of the interface in modules.
pub const NAMESPACE: &str = "wasi_snapshot_preview1";

/// Fuel for each call, plus one unit for each byte that it moves.
const CALL: u64 = 100;
/// The most buffers or events in one call.
const MAX_LIST: u32 = 1024;
/// The time at which the clock starts: 2000-01-01, in nanoseconds.
const EPOCH: u64 = 946_684_800_000_000_000;
/// The nanoseconds on the clock per instruction: a million instructions are a millisecond.
const TICK: u64 = 1;

/// An error number of WASI.
type Errno = i32;
const SUCCESS: Errno = 0;
const BADF: Errno = 8;
const FAULT: Errno = 21;
const INVAL: Errno = 28;
const SPIPE: Errno = 70;

const STDIN: i32 = 0;
const STDOUT: i32 = 1;
const STDERR: i32 = 2;

/// The reason why a host function gives control back to the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The module wants to read, but there is no input yet.
    Input,
    /// The module has written more than fits into its output.
    Flood,
    /// The module has raised a signal against itself.
    Raise(i32),
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::Input => f.write_str("it waits for input"),
            Stop::Flood => f.write_str("it has written too much"),
            Stop::Raise(signal) => write!(f, "it has raised signal {signal}"),
        }
    }
}

impl HostError for Stop {}

/// A call that waits for input.
#[derive(Debug, Clone, Copy)]
pub enum Waiting {
    Read { buffers: i32, count: i32, read: i32 },
    Poll { asked: i32, events: i32, count: i32, told: i32 },
}

/// The world of one module.
#[derive(Default)]
pub struct Wasi {
    pub limits: StoreLimits,
    words: Vec<String>,
    /// Input of the module, of which it has read the first `read` bytes.
    pub input: Vec<u8>,
    read: usize,
    pub input_ended: bool,
    /// Output of the module that has not been read yet.
    pub output: Vec<u8>,
    /// The most bytes of `output`.
    room: usize,
    pub log: Stderr,
    closed: [bool; 3],
    pub waiting: Option<Waiting>,
    /// Fuel used in earlier runs; below, fuel granted to this one.
    pub spent: u64,
    pub granted: u64,
    /// Nanoseconds that the module has slept.
    slept: u64,
    pub random: Random,
}

/// Random numbers that follow from what the module was told, so they reveal nothing new.
#[derive(Default)]
pub struct Random {
    told: blake3::Hasher,
    drawn: u64,
}

impl Random {
    /// Changes all later numbers.
    pub fn stir(&mut self, line: &[u8]) {
        self.told.update(&(line.len() as u64).to_le_bytes()).update(line);
        self.drawn = 0;
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        let mut stream = self.told.finalize_xof();
        stream.set_position(self.drawn);
        stream.fill(bytes);
        self.drawn += bytes.len() as u64;
    }
}

impl Wasi {
    /// Returns the world of a module with this command line, which may write `room` bytes before they are read.
    pub fn new(words: &[String], room: usize, limits: StoreLimits) -> Self {
        Wasi { words: words.to_vec(), room, limits, ..Wasi::default() }
    }

    /// Returns nanoseconds since the start: instructions, and sleep.
    fn elapsed(&self, left: u64) -> u64 {
        let used = self.spent.saturating_add(self.granted.saturating_sub(left));
        used.saturating_mul(TICK).saturating_add(self.slept)
    }

    fn is_open(&self, fd: i32) -> bool {
        usize::try_from(fd).is_ok_and(|fd| self.closed.get(fd) == Some(&false))
    }

    /// Whether standard output was closed.
    pub fn is_mute(&self) -> bool {
        !self.is_open(STDOUT)
    }

    /// Whether a read would return something, or the end of the input.
    pub fn has_input(&self) -> bool {
        self.unread() > 0 || self.input_ended
    }

    fn unread(&self) -> usize {
        self.input.len() - self.read
    }

    /// Completes the call that waited, now that there is input. Returns the result of the call and its cost in fuel.
    pub fn go_on(&mut self, memory: &mut [u8], left: u64) -> (Errno, u64) {
        let done = match self.waiting.take() {
            Some(Waiting::Read { buffers, count, read }) => self.read(memory, buffers, count, read),
            Some(Waiting::Poll { asked, events, count, told }) => {
                self.poll(memory, left, asked, events, count, told)
            }
            None => Err(INVAL),
        };
        let (errno, bytes) = done.unwrap_or_else(|errno| (errno, 0));
        (errno, CALL + bytes)
    }

    fn read(
        &mut self,
        memory: &mut [u8],
        buffers: i32,
        count: i32,
        read: i32,
    ) -> Result<(Errno, u64), Errno> {
        let mut total = 0;
        for (at, len) in lists(memory, buffers, count)? {
            let take = self.unread().min(len as usize);
            slice(memory, at, take)?.copy_from_slice(&self.input[self.read..][..take]);
            self.read += take;
            total += take;
        }
        if self.unread() == 0 {
            self.input.clear();
            self.read = 0;
        }
        put(memory, read, &(total as u32).to_le_bytes())?;
        Ok((SUCCESS, total as u64))
    }

    /// Tells the module which of the events that it waits for have come. If it waits for nothing but time, it has slept.
    fn poll(
        &mut self,
        memory: &mut [u8],
        left: u64,
        asked: i32,
        events: i32,
        count: i32,
        told: i32,
    ) -> Result<(Errno, u64), Errno> {
        let now = self.elapsed(left);
        let mut came = Vec::new();
        let mut alarms = Vec::new();
        for number in 0..count as u32 {
            let wish: [u8; 48] = get(memory, asked, number * 48)?;
            let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| wish[at + byte]));
            let fd = long(16) as i32;
            let mut event = [0; 32];
            event[..8].copy_from_slice(&wish[..8]);
            event[10] = wish[8];
            match wish[8] {
                0 => {
                    let (timeout, absolute) = (long(24), wish[40] & 1 == 1);
                    let epoch = if fd == 0 { EPOCH } else { 0 };
                    let at =
                        if absolute { timeout.saturating_sub(epoch) } else { now.saturating_add(timeout) };
                    alarms.push((at, event));
                }
                1 | 2 if !self.is_open(fd) => {
                    event[8] = BADF as u8;
                    came.push(event);
                }
                1 if fd == STDIN && !self.has_input() => {}
                1 => {
                    event[16..24].copy_from_slice(&(self.unread() as u64).to_le_bytes());
                    came.push(event);
                }
                2 => {
                    event[16..24].copy_from_slice(&4096_u64.to_le_bytes());
                    came.push(event);
                }
                _ => return Err(INVAL),
            }
        }
        if came.is_empty()
            && let Some(first) = alarms.iter().map(|(at, _)| *at).min()
        {
            self.slept = self.slept.saturating_add(first.saturating_sub(now));
            came.extend(alarms.iter().filter(|(at, _)| *at <= first).map(|(_, event)| event));
        }
        for (number, event) in came.iter().enumerate() {
            put(memory, events.wrapping_add(32 * number as i32), event)?;
        }
        put(memory, told, &(came.len() as u32).to_le_bytes())?;
        Ok((SUCCESS, 32 * came.len() as u64))
    }

    /// Whether the module waits for input that is not there, and for no event that has come already.
    fn polls_for_input(&self, memory: &mut [u8], asked: i32, count: i32) -> Result<bool, Errno> {
        let mut waits = false;
        for number in 0..count as u32 {
            let wish: [u8; 48] = get(memory, asked, number * 48)?;
            let fd = i32::from_le_bytes(std::array::from_fn(|byte| wish[16 + byte]));
            match wish[8] {
                0 => {}
                1 if fd == STDIN && self.is_open(fd) && !self.has_input() => waits = true,
                _ => return Ok(false),
            }
        }
        Ok(waits)
    }

    fn write(
        &mut self,
        memory: &mut [u8],
        fd: i32,
        buffers: i32,
        count: i32,
        written: i32,
    ) -> Result<bool, Errno> {
        let mut total = 0;
        for (at, len) in lists(memory, buffers, count)? {
            let bytes = slice(memory, at, len as usize)?;
            total += len;
            if fd != STDOUT {
                self.log.write(bytes);
                continue;
            }
            let fits = bytes.len().min(self.room.saturating_sub(self.output.len()));
            self.output.extend_from_slice(&bytes[..fits]);
            if fits < bytes.len() {
                return Ok(false);
            }
        }
        put(memory, written, &total.to_le_bytes())?;
        Ok(true)
    }
}

/// Returns a part of the module's memory.
fn slice(memory: &mut [u8], at: u32, len: usize) -> Result<&mut [u8], Errno> {
    memory.get_mut(at as usize..).and_then(|rest| rest.get_mut(..len)).ok_or(FAULT)
}

fn put(memory: &mut [u8], at: i32, bytes: &[u8]) -> Result<(), Errno> {
    slice(memory, at as u32, bytes.len())?.copy_from_slice(bytes);
    Ok(())
}

fn get<const N: usize>(memory: &mut [u8], at: i32, offset: u32) -> Result<[u8; N], Errno> {
    let at = (at as u32).checked_add(offset).ok_or(FAULT)?;
    slice(memory, at, N)?.try_into().map_err(|_| FAULT)
}

/// Returns the buffers of a call that reads or writes.
fn lists(memory: &mut [u8], at: i32, count: i32) -> Result<Vec<(u32, u32)>, Errno> {
    let count = count as u32;
    if count > MAX_LIST {
        return Err(INVAL);
    }
    let buffer = |number: u32| {
        let pair: [u8; 8] = get(memory, at, number * 8)?;
        let [at, len] = [0, 4].map(|from| u32::from_le_bytes(std::array::from_fn(|byte| pair[from + byte])));
        Ok((at, len))
    };
    (0..count).map(buffer).collect()
}

/// Charges fuel for a call.
fn charge(caller: &mut Caller<Wasi>, bytes: u64) -> Result<(), Error> {
    let left = caller.get_fuel()?.checked_sub(CALL.saturating_add(bytes));
    caller.set_fuel(left.unwrap_or(0))?;
    left.map(|_| ()).ok_or_else(|| TrapCode::OutOfFuel.into())
}

/// Returns the memory of the module and its world.
fn parts<'a>(caller: &'a mut Caller<Wasi>) -> Result<(&'a mut [u8], &'a mut Wasi), Error> {
    match caller.get_export("memory") {
        Some(Extern::Memory(memory)) => Ok(memory.data_and_store_mut(caller)),
        _ => Err(Error::new("it exports no memory")),
    }
}

/// Returns the result of a call: an error number, or 0 for success.
fn number(result: Result<(), Errno>) -> Result<Errno, Error> {
    Ok(result.err().unwrap_or(SUCCESS))
}

/// Returns the number of bytes in a list of buffers.
fn total(memory: &mut [u8], at: i32, count: i32) -> u64 {
    lists(memory, at, count).map_or(0, |lists| lists.iter().map(|(_, len)| u64::from(*len)).sum())
}

fn fd_read(mut caller: Caller<Wasi>, fd: i32, buffers: i32, count: i32, read: i32) -> Result<Errno, Error> {
    let (memory, wasi) = parts(&mut caller)?;
    if fd != STDIN || !wasi.is_open(fd) {
        charge(&mut caller, 0)?;
        return Ok(BADF);
    }
    if !wasi.has_input() {
        wasi.waiting = Some(Waiting::Read { buffers, count, read });
        return Err(Error::host(Stop::Input));
    }
    let result = wasi.read(memory, buffers, count, read);
    let (errno, bytes) = result.unwrap_or_else(|errno| (errno, 0));
    charge(&mut caller, bytes)?;
    Ok(errno)
}

fn fd_write(
    mut caller: Caller<Wasi>,
    fd: i32,
    buffers: i32,
    count: i32,
    written: i32,
) -> Result<Errno, Error> {
    let (memory, _) = parts(&mut caller)?;
    let bytes = total(memory, buffers, count);
    charge(&mut caller, bytes)?;
    let (memory, wasi) = parts(&mut caller)?;
    if !(STDOUT..=STDERR).contains(&fd) || !wasi.is_open(fd) {
        return Ok(BADF);
    }
    match wasi.write(memory, fd, buffers, count, written) {
        Ok(true) => Ok(SUCCESS),
        Ok(false) => Err(Error::host(Stop::Flood)),
        Err(errno) => Ok(errno),
    }
}

fn poll_oneoff(
    mut caller: Caller<Wasi>,
    asked: i32,
    events: i32,
    count: i32,
    told: i32,
) -> Result<Errno, Error> {
    charge(&mut caller, 48 * u64::from(count as u32))?;
    if !(1..=MAX_LIST as i32).contains(&count) {
        return Ok(INVAL);
    }
    let left = caller.get_fuel()?;
    let (memory, wasi) = parts(&mut caller)?;
    match wasi.polls_for_input(memory, asked, count) {
        Ok(true) => {
            wasi.waiting = Some(Waiting::Poll { asked, events, count, told });
            Err(Error::host(Stop::Input))
        }
        Ok(false) => Ok(wasi
            .poll(memory, left, asked, events, count, told)
            .map_or_else(|errno| errno, |(errno, _)| errno)),
        Err(errno) => Ok(errno),
    }
}

/// Reports standard output as a terminal, so that libraries flush it at each end of line.
fn fd_fdstat_get(mut caller: Caller<Wasi>, fd: i32, at: i32) -> Result<Errno, Error> {
    charge(&mut caller, 24)?;
    let (memory, wasi) = parts(&mut caller)?;
    if !wasi.is_open(fd) {
        return Ok(BADF);
    }
    const UNKNOWN: u8 = 0;
    const TERMINAL: u8 = 2;
    const READ: u8 = 1 << 1;
    const WRITE: u8 = 1 << 6;
    let mut stat = [0; 24];
    (stat[0], stat[8]) = if fd == STDIN { (UNKNOWN, READ) } else { (TERMINAL, WRITE) };
    number(put(memory, at, &stat))
}

fn fd_filestat_get(mut caller: Caller<Wasi>, fd: i32, at: i32) -> Result<Errno, Error> {
    charge(&mut caller, 64)?;
    let (memory, wasi) = parts(&mut caller)?;
    if !wasi.is_open(fd) {
        return Ok(BADF);
    }
    let mut stat = [0; 64];
    stat[16] = if fd == STDIN { 0 } else { 2 };
    number(put(memory, at, &stat))
}

fn fd_close(mut caller: Caller<Wasi>, fd: i32) -> Result<Errno, Error> {
    charge(&mut caller, 0)?;
    let wasi = caller.data_mut();
    if !wasi.is_open(fd) {
        return Ok(BADF);
    }
    wasi.closed[fd as usize] = true;
    Ok(SUCCESS)
}

/// Answers for files that cannot seek.
fn no_seek(mut caller: Caller<Wasi>, fd: i32) -> Result<Errno, Error> {
    charge(&mut caller, 0)?;
    Ok(if caller.data().is_open(fd) { SPIPE } else { BADF })
}

fn clock_time_get(mut caller: Caller<Wasi>, clock: i32, _precision: i64, at: i32) -> Result<Errno, Error> {
    charge(&mut caller, 8)?;
    let left = caller.get_fuel()?;
    let (memory, wasi) = parts(&mut caller)?;
    let epoch = if clock == 0 { EPOCH } else { 0 };
    number(put(memory, at, &epoch.saturating_add(wasi.elapsed(left)).to_le_bytes()))
}

fn clock_res_get(mut caller: Caller<Wasi>, _clock: i32, at: i32) -> Result<Errno, Error> {
    charge(&mut caller, 8)?;
    number(put(parts(&mut caller)?.0, at, &TICK.to_le_bytes()))
}

fn random_get(mut caller: Caller<Wasi>, at: i32, len: i32) -> Result<Errno, Error> {
    charge(&mut caller, u64::from(len as u32))?;
    let (memory, wasi) = parts(&mut caller)?;
    number(slice(memory, at as u32, len as u32 as usize).map(|bytes| wasi.random.fill(bytes)))
}

/// Returns how many words there are, and the bytes of all of them including their ends.
fn args_sizes_get(mut caller: Caller<Wasi>, count: i32, bytes: i32) -> Result<Errno, Error> {
    charge(&mut caller, 8)?;
    let (memory, wasi) = parts(&mut caller)?;
    let all: usize = wasi.words.iter().map(|word| word.len() + 1).sum();
    let put_both = put(memory, count, &(wasi.words.len() as u32).to_le_bytes())
        .and_then(|()| put(memory, bytes, &(all as u32).to_le_bytes()));
    number(put_both)
}

fn args_get(mut caller: Caller<Wasi>, pointers: i32, text: i32) -> Result<Errno, Error> {
    let all: usize = caller.data().words.iter().map(|word| word.len() + 1).sum();
    charge(&mut caller, all as u64)?;
    let (memory, wasi) = parts(&mut caller)?;
    let mut put_all = || {
        let mut end = text;
        for (number, word) in wasi.words.iter().enumerate() {
            put(memory, pointers.wrapping_add(4 * number as i32), &end.to_le_bytes())?;
            put(memory, end, word.as_bytes())?;
            end = end.wrapping_add(word.len() as i32);
            put(memory, end, &[0])?;
            end = end.wrapping_add(1);
        }
        Ok(())
    };
    number(put_all())
}

fn environ_sizes_get(mut caller: Caller<Wasi>, count: i32, bytes: i32) -> Result<Errno, Error> {
    charge(&mut caller, 8)?;
    let memory = parts(&mut caller)?.0;
    number(put(memory, count, &[0; 4]).and_then(|()| put(memory, bytes, &[0; 4])))
}

/// Functions that need a file, a folder or a socket, which do not exist; `i` is a number of 32 bits, `I` one of 64.
const REFUSED: [(&str, &str); 28] = [
    ("fd_advise", "iIIi"),
    ("fd_allocate", "iII"),
    ("fd_datasync", "i"),
    ("fd_fdstat_set_flags", "ii"),
    ("fd_fdstat_set_rights", "iII"),
    ("fd_filestat_set_size", "iI"),
    ("fd_filestat_set_times", "iIIi"),
    ("fd_pread", "iiiIi"),
    ("fd_prestat_dir_name", "iii"),
    ("fd_prestat_get", "ii"),
    ("fd_pwrite", "iiiIi"),
    ("fd_readdir", "iiiIi"),
    ("fd_renumber", "ii"),
    ("fd_sync", "i"),
    ("path_create_directory", "iii"),
    ("path_filestat_get", "iiiii"),
    ("path_filestat_set_times", "iiiiIIi"),
    ("path_link", "iiiiiii"),
    ("path_open", "iiiiiIIii"),
    ("path_readlink", "iiiiii"),
    ("path_remove_directory", "iii"),
    ("path_rename", "iiiiii"),
    ("path_symlink", "iiiii"),
    ("path_unlink_file", "iii"),
    ("sock_accept", "iii"),
    ("sock_recv", "iiiiii"),
    ("sock_send", "iiiii"),
    ("sock_shutdown", "ii"),
];

/// Returns everything that a module can import.
pub fn linker(engine: &Engine) -> Result<Linker<Wasi>, Error> {
    let mut linker = Linker::new(engine);
    linker
        .func_wrap(NAMESPACE, "args_get", args_get)?
        .func_wrap(NAMESPACE, "args_sizes_get", args_sizes_get)?
        .func_wrap(NAMESPACE, "clock_res_get", clock_res_get)?
        .func_wrap(NAMESPACE, "clock_time_get", clock_time_get)?
        .func_wrap(NAMESPACE, "environ_get", |mut caller: Caller<Wasi>, _: i32, _: i32| {
            charge(&mut caller, 0).map(|()| SUCCESS)
        })?
        .func_wrap(NAMESPACE, "environ_sizes_get", environ_sizes_get)?
        .func_wrap(NAMESPACE, "fd_close", fd_close)?
        .func_wrap(NAMESPACE, "fd_fdstat_get", fd_fdstat_get)?
        .func_wrap(NAMESPACE, "fd_filestat_get", fd_filestat_get)?
        .func_wrap(NAMESPACE, "fd_read", fd_read)?
        .func_wrap(NAMESPACE, "fd_seek", |caller: Caller<Wasi>, fd: i32, _: i64, _: i32, _: i32| {
            no_seek(caller, fd)
        })?
        .func_wrap(NAMESPACE, "fd_tell", |caller: Caller<Wasi>, fd: i32, _: i32| no_seek(caller, fd))?
        .func_wrap(NAMESPACE, "fd_write", fd_write)?
        .func_wrap(NAMESPACE, "poll_oneoff", poll_oneoff)?
        .func_wrap(NAMESPACE, "proc_exit", |_: Caller<Wasi>, code: i32| -> Result<(), Error> {
            Err(Error::i32_exit(code))
        })?
        .func_wrap(NAMESPACE, "proc_raise", |_: Caller<Wasi>, signal: i32| -> Result<Errno, Error> {
            Err(Error::host(Stop::Raise(signal)))
        })?
        .func_wrap(NAMESPACE, "random_get", random_get)?
        .func_wrap(NAMESPACE, "sched_yield", |mut caller: Caller<Wasi>| {
            charge(&mut caller, 0).map(|()| SUCCESS)
        })?;
    for (name, types) in REFUSED {
        let types = types.chars().map(|kind| if kind == 'I' { ValType::I64 } else { ValType::I32 });
        let refuse = move |mut caller: Caller<Wasi>, _: &[Val], results: &mut [Val]| {
            charge(&mut caller, 0)?;
            results[0] = Val::I32(BADF);
            Ok(())
        };
        linker.func_new(NAMESPACE, name, FuncType::new(types.collect::<Vec<_>>(), [ValType::I32]), refuse)?;
    }
    Ok(linker)
}
