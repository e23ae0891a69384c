//! A real terminal for the binary. It waits for what a person would see, never for a fixed time.

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use std::{
    io::{Read, Write},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

/// After this long a test has failed.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    /// All output without escape codes.
    text: String,
    /// What comes before has been expected already.
    seen: usize,
    /// Bytes of a character that is not complete yet.
    rest: Vec<u8>,
    emulator: vt100::Parser,
    /// The settings of the terminal before the program, in words.
    before: String,
}

impl Terminal {
    pub fn run(words: &[&str]) -> Self {
        Self::run_with(words, &[])
    }

    /// Runs with these variables in the environment.
    pub fn run_with(words: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::run_sized(words, variables, 100)
    }

    /// Runs in a window of this many columns.
    pub fn run_sized(words: &[&str], variables: &[(&str, &str)], cols: u16) -> Self {
        let pair =
            native_pty_system().openpty(PtySize { rows: 30, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
        let before = settings(&*pair.master);
        let mut command = CommandBuilder::new(assert_cmd::cargo::cargo_bin!("necrodome"));
        command.args(words);
        command.env("TERM", "xterm-256color");
        command.env_remove("NO_COLOR");
        command.env_remove("COLUMNS");
        command.env_remove("CLICOLOR_FORCE");
        for (name, value) in variables {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The slave's end closes with the program, which ends the reading.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        Terminal {
            master: pair.master,
            child,
            keyboard,
            output,
            text: String::new(),
            seen: 0,
            rest: Vec::new(),
            emulator: vt100::Parser::new(30, cols, 0),
            before,
        }
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Takes in what comes next; `false` once there is no more.
    fn take_in(&mut self, deadline: Instant) -> bool {
        let Ok(bytes) = self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) else {
            return false;
        };
        self.emulator.process(&bytes);
        self.rest.extend(bytes);
        // Neither a character nor an escape code may be cut: only whole lines, or all if it can be read.
        if let Ok(whole) = std::str::from_utf8(&self.rest) {
            self.text = format!("{}{whole}", self.text);
            self.rest.clear();
        }
        true
    }

    /// The output so far.
    pub fn output(&self) -> &str {
        &self.text
    }

    /// The output so far without escape codes.
    pub fn plain(&self) -> String {
        anstream::adapter::strip_str(&self.text).to_string().replace('\r', "")
    }

    /// Waits for text that comes after all that was expected before.
    pub fn expect(&mut self, wanted: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let plain = self.plain();
            if let Some(place) = plain[self.seen..].find(wanted) {
                self.seen += place + wanted.len();
                return;
            }
            assert!(self.take_in(deadline), "no {wanted:?} after {:?} in:\n{plain}", &plain[..self.seen]);
        }
    }

    /// Waits until the screen shows the text.
    pub fn expect_on_screen(&mut self, wanted: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.screen().contains(wanted) {
            assert!(self.take_in(deadline), "no {wanted:?} on:\n{}", self.screen());
        }
    }

    /// What is on the screen.
    pub fn screen(&self) -> String {
        self.emulator.screen().contents().replace('\u{a0}', " ")
    }

    /// Waits for the end of the program and takes in all its output.
    pub fn exit_code(&mut self) -> u32 {
        let status = self.wait();
        assert_eq!(status.signal(), None);
        status.exit_code()
    }

    /// Waits for the program to be ended by a signal, and gives its name.
    pub fn ending_signal(&mut self) -> String {
        self.wait().signal().expect("ended by a signal").to_owned()
    }

    fn wait(&mut self) -> ExitStatus {
        let status = self.child.wait().unwrap();
        let deadline = Instant::now() + PATIENCE;
        while self.take_in(deadline) {}
        status
    }

    /// Waits until keys come one by one.
    pub fn await_raw_mode(&self) {
        let deadline = Instant::now() + PATIENCE;
        while settings(&*self.master) == self.before {
            assert!(Instant::now() < deadline, "never in raw mode");
            thread::yield_now();
        }
    }

    /// Asks the program to end, as `kill` does.
    pub fn terminate(&self) {
        let pid = self.child.process_id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    }

    /// The terminal is as it was: same settings, plain screen, the cursor there.
    pub fn assert_restored(&self) {
        assert_eq!(settings(&*self.master), self.before);
        assert!(!self.emulator.screen().alternate_screen());
        assert!(!self.emulator.screen().hide_cursor());
    }
}

fn settings(master: &(dyn MasterPty + Send)) -> String {
    format!("{:?}", master.get_termios().unwrap())
}
