//! A running module: it runs when it is asked, until it waits for more input, and never longer than its fuel lasts.

use super::{
    Module,
    wasi::{Stop, Wasi},
};
use crate::{
    diagnosis::{Language, Silent},
    fault::{Fault, FaultKind},
    process::{Limits, early_output},
    protocol::excerpt,
};
use wasmi::{Error, Memory, ResumableCall, ResumableCallHostTrap, Store, StoreLimitsBuilder, TrapCode, Val};

/// The most elements of all tables.
const MAX_ELEMENTS: usize = 1 << 20;
/// Units of fuel in a million.
pub const MILLION: u64 = 1_000_000;

/// A running module.
pub(crate) struct Machine {
    module: Module,
    store: Store<Wasi>,
    state: State,
    max_line: usize,
    /// Whether the bot has ever written a whole line.
    has_spoken: bool,
}

enum State {
    /// It has not run yet.
    Fresh,
    /// It waits for input.
    Waiting(ResumableCallHostTrap, Memory),
    /// It will never run again.
    Ended(Fault),
}

impl Machine {
    /// Returns a module whose lines have at most `max_line` bytes. It does not run until it is asked something.
    pub(crate) fn new(module: &Module, limits: &Limits, max_line: usize) -> Self {
        let memory = usize::try_from(limits.wasm_memory_mb.saturating_mul(1 << 20)).unwrap_or(usize::MAX);
        let bounds = StoreLimitsBuilder::new().memory_size(memory).table_elements(MAX_ELEMENTS).build();
        // A little more than a line, so that an endless one is noticed.
        let wasi = Wasi::new(&module.words, max_line.saturating_add(4096), bounds);
        let mut store = Store::new(module.module.engine(), wasi);
        store.limiter(|wasi| &mut wasi.limits);
        Machine { module: module.clone(), store, state: State::Fresh, max_line, has_spoken: false }
    }

    /// Returns the language that the bot is written in.
    pub(crate) fn language(&self) -> Language {
        self.module.language()
    }

    /// Returns what the module has written to standard error.
    pub(crate) fn log(&self) -> &[u8] {
        self.store.data().log.text()
    }

    /// Returns the fuel that it has used so far.
    pub(crate) fn spent(&self) -> u64 {
        self.store.data().spent
    }

    /// Begins a match: from here on random numbers follow from what the module is told in it.
    pub(crate) fn begin_match(&mut self, seed: u32) {
        let wasi = self.store.data_mut();
        wasi.random = Default::default();
        wasi.log.begin_match(seed, 0);
    }

    /// Sends a line that needs no answer. The module reads it when it runs next.
    pub(crate) fn tell(&mut self, line: &[u8]) {
        let wasi = self.store.data_mut();
        wasi.random.stir(line);
        wasi.input.extend_from_slice(line);
        wasi.input.push(b'\n');
    }

    /// Sends a line that needs an answer. Earlier output is a flood; but if `forgiving`, one line that was not meant as an
    /// answer may stay to be read later.
    pub(crate) fn send(&mut self, line: &[u8], forgiving: bool) -> Result<(), Fault> {
        if let Some(fault) = early_output(&self.store.data().output, forgiving, self.language()) {
            return Err(fault);
        }
        self.tell(line);
        Ok(())
    }

    /// Returns the next line of the module. Runs the module if it has not written it yet.
    pub(crate) fn receive(&mut self, fuel: u64) -> Result<Vec<u8>, Fault> {
        if !self.store.data().output.contains(&b'\n') {
            self.run(fuel);
        }
        let output = &mut self.store.data_mut().output;
        match output.iter().position(|&byte| byte == b'\n') {
            Some(end) if end <= self.max_line => {
                self.has_spoken = true;
                Ok(output.drain(..=end).take(end).collect())
            }
            None if output.len() <= self.max_line => Err(self.silence()),
            _ => {
                let detail = format!("a line of more than {} bytes: {}", self.max_line, excerpt(output));
                Err(Fault::new(FaultKind::Oversized, detail))
            }
        }
    }

    /// Returns the fault of a module that does not answer.
    fn silence(&self) -> Fault {
        let Wasi { output, log, .. } = self.store.data();
        let fault = match &self.state {
            // It did not wait, but compute.
            State::Ended(fault) if fault.kind == FaultKind::Timeout => return fault.clone(),
            State::Ended(fault) => fault.clone(),
            _ if self.store.data().is_mute() => Fault::new(FaultKind::Closed, "standard output was closed"),
            _ => Fault::new(FaultKind::Timeout, "it waits for more input instead of answering"),
        };
        let (language, has_spoken) = (self.language(), self.has_spoken);
        Silent { language, program: None, has_spoken, unfinished: output, log: log.text() }.of(fault)
    }

    /// Runs the module on what it was told, and returns what it wrote without being asked for.
    pub(crate) fn unasked(&mut self, fuel: u64) -> Vec<u8> {
        self.run(fuel);
        std::mem::take(&mut self.store.data_mut().output)
    }

    /// Ends the input. Returns whether the module ends by itself.
    pub(crate) fn end_input(&mut self, fuel: u64) -> bool {
        self.store.data_mut().input_ended = true;
        self.run(fuel);
        matches!(&self.state, State::Ended(fault) if fault.kind != FaultKind::Timeout)
    }

    /// Runs until it waits for input or ends.
    fn run(&mut self, fuel: u64) {
        if matches!(&self.state, State::Waiting(..)) && !self.store.data().has_input() {
            return;
        }
        let ended = || State::Ended(Fault::new(FaultKind::Crash, "it has ended"));
        self.store.data_mut().granted = fuel;
        let outcome = match std::mem::replace(&mut self.state, ended()) {
            State::Ended(fault) => {
                self.state = State::Ended(fault);
                return;
            }
            State::Fresh => self.start(fuel),
            State::Waiting(call, memory) => self.go_on(call, memory, fuel),
        };
        let left = self.store.get_fuel().unwrap_or(0);
        let mut used = fuel - left.min(fuel);
        self.state = match outcome {
            Ok((ResumableCall::HostTrap(call), memory))
                if call.host_error().downcast_ref() == Some(&Stop::Input) =>
            {
                State::Waiting(call, memory)
            }
            Ok((ResumableCall::HostTrap(call), _)) => State::Ended(self.fault_of(call.host_error(), fuel)),
            Ok((ResumableCall::OutOfFuel(_), _)) => {
                State::Ended(self.fault_of(&TrapCode::OutOfFuel.into(), fuel))
            }
            Ok((ResumableCall::Finished, _)) => State::Ended(self.fault_of(&Error::i32_exit(0), fuel)),
            Err(error) => State::Ended(self.fault_of(&error, fuel)),
        };
        if matches!(&self.state, State::Ended(fault) if fault.kind == FaultKind::Timeout) {
            used = fuel;
        }
        let wasi = self.store.data_mut();
        wasi.spent = wasi.spent.saturating_add(used);
        wasi.granted = 0;
    }

    fn start(&mut self, fuel: u64) -> Result<(ResumableCall, Memory), Error> {
        self.store.set_fuel(fuel)?;
        let instance = self.module.linker.instantiate_and_start(&mut self.store, &self.module.module)?;
        let both = (instance.get_func(&self.store, "_start"), instance.get_memory(&self.store, "memory"));
        let (Some(start), Some(memory)) = both else {
            return Err(Error::new("it exports no _start or memory"));
        };
        Ok((start.call_resumable(&mut self.store, &[], &mut [])?, memory))
    }

    fn go_on(
        &mut self,
        call: ResumableCallHostTrap,
        memory: Memory,
        fuel: u64,
    ) -> Result<(ResumableCall, Memory), Error> {
        let (bytes, wasi) = memory.data_and_store_mut(&mut self.store);
        let (errno, cost) = wasi.go_on(bytes, fuel);
        let Some(left) = fuel.checked_sub(cost) else { return Err(TrapCode::OutOfFuel.into()) };
        self.store.set_fuel(left)?;
        Ok((call.resume(&mut self.store, &[Val::I32(errno)], &mut [])?, memory))
    }

    /// Returns the fault of a module that does not run any more.
    fn fault_of(&self, error: &Error, fuel: u64) -> Fault {
        if let Some(code) = error.i32_exit_status() {
            let kind = if code == 0 { FaultKind::Exit } else { FaultKind::Crash };
            return Fault::new(kind, format!("the module ended with exit code {code}"));
        }
        if error.as_trap_code() == Some(TrapCode::OutOfFuel) {
            let allowed = millions(fuel);
            return Fault::new(FaultKind::Timeout, format!("all {allowed} million instructions are used up"));
        }
        match error.downcast_ref() {
            Some(Stop::Flood) => {
                let output = &self.store.data().output;
                Fault::new(
                    FaultKind::Flood,
                    format!("more than {} bytes at once: {}", output.len(), excerpt(output)),
                )
            }
            Some(Stop::Input) => {
                Fault::new(FaultKind::Crash, "it reads its input before its function _start")
            }
            Some(Stop::Raise(_)) | None => {
                Fault::new(FaultKind::Crash, format!("the module has failed: {error}"))
            }
        }
    }
}

/// Returns fuel in millions, as people read it.
pub(crate) fn millions(fuel: u64) -> String {
    let millions = fuel as f64 / MILLION as f64;
    if fuel.is_multiple_of(MILLION) { format!("{millions:.0}") } else { format!("{millions:.3}") }
}
