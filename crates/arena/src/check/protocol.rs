//! The protocol, over a raw process: sends messages that a well-behaved arena may send one day, and checks the replies.

use super::{
    Candidate, Finding, Findings, Wrong, example, json,
    matches::{Hall, no_outcome},
    positions::{RarePosition, hunt},
    shortened,
    wire::{Cost, Stage, Wire},
};
use crate::{
    diagnosis::{Asked, Language, of_line},
    fault::{Fault, FaultKind},
    player::Answer,
    protocol::{
        IN_ACT, IN_READY, MAX_LISTED, Message, PROTOCOL, Ready, ToBot, excerpt, expect_id, is_chatter,
        parse_act, parse_ready, to_line,
    },
};
use necrodome_rules::{
    catalog::Listed,
    names::{Names, SetupError},
};
use serde_json::{Value, json};

/// The right answer to `hello`.
const READY: &str = r#"{"type":"ready","protocol":1}"#;
/// Ids for decisions. A bot must repeat them, not count.
const IDS: [u64; 7] = [2, 3, 10, 11, 999, 1_000_000_007, 7];

/// Checks the protocol. Returns false if the bot does not start or fails at its first decision, so that nothing else can be tried.
pub(super) fn check<G: Listed>(candidate: &Candidate, hall: &Hall<G>, notes: &mut Findings) -> bool {
    let mut talk = Talk { candidate, hall, process: None, ready: None, known: Vec::new(), forgiving: true };
    if !talk.hello(notes) {
        return false;
    }
    let position = |names: &Names| hunt::<G>(names, &hall.rules, &hall.opponents, hall.patience, |_| true);
    let Some(first) = position(&hall.names) else { return true };
    if !talk.first_answer(&first, notes) {
        return false;
    }
    talk.ids(&first, notes);
    talk.unknown(&first, notes);
    if let Some(odd) = odd_names(&hall.names).ok().and_then(|names| position(&names)) {
        talk.odd_names(&odd, notes);
    }
    talk.deterministic(&first, notes);
    talk.end(notes);
    true
}

/// Returns the names with quotes, backslashes and letters of other alphabets for the opponents.
fn odd_names(names: &Names) -> Result<Names, SetupError> {
    let odd = |(number, name): (usize, &str)| match number {
        0 => name.to_owned(),
        number => format!("\"É\\n眠い\" {{{number}}}"),
    };
    Names::new(names.iter().enumerate().map(odd))
}

/// A conversation with one running bot; a new one is started after a fault.
struct Talk<'a, G: Listed> {
    candidate: &'a Candidate<'a>,
    hall: &'a Hall<G>,
    process: Option<Wire>,
    ready: Option<Ready>,
    /// Kinds of faults that the bot has shown in plain questions.
    known: Vec<FaultKind>,
    /// Whether a line that is not an answer is still forgiven in this match.
    forgiving: bool,
}

/// A mistake in a conversation.
struct Failure {
    kind: FaultKind,
    wrong: Wrong,
}

impl<G: Listed> Talk<'_, G> {
    fn hello_line(&self) -> Vec<u8> {
        let hello: Message<G> = ToBot::Hello {
            protocol: PROTOCOL,
            game: G::ID,
            options: &self.hall.rules,
            seats: self.hall.setup.seats,
            name: self.candidate.name,
        };
        to_line(&hello)
    }

    /// Starts and greets the bot. Returns it with its first line and the cost of that line.
    fn greet(&mut self, notes: &mut Findings) -> Result<(Wire, Vec<u8>, Cost), Fault> {
        let no_program = || Err(Fault::new(FaultKind::NoStart, "this bot is no program"));
        let mut process = Wire::open(self.candidate, &G::CARD).unwrap_or_else(no_program)?;
        process.send(&self.hello_line(), true)?;
        match receive(&mut process, Stage::Start, IN_READY, &mut self.forgiving, notes) {
            Ok((line, used)) => Ok((process, line, used)),
            Err(fault) => {
                notes.add_log(process.log());
                Err(fault)
            }
        }
    }

    /// Checks that the bot starts, says `ready` and speaks the right version.
    fn hello(&mut self, notes: &mut Findings) -> bool {
        let message = String::from_utf8_lossy(&self.hello_line()).into_owned();
        let wrong = |fault: Fault, came: &str| {
            let (came, expected) = (shortened(came), READY.to_owned());
            Some(Wrong { message, came, expected, hint: fault.hint })
        };
        let (process, line, used) = match self.greet(notes) {
            Ok(greeted) => greeted,
            Err(fault) => {
                let (text, came) = (format!("does not say ready ({fault})"), fault.detail.clone());
                notes.add(Finding::fail("start", text, wrong(fault, &came)));
                return false;
            }
        };
        let came = String::from_utf8_lossy(&line).into_owned();
        let version =
            serde_json::from_slice(&line).ok().and_then(|line: Value| line.get("protocol")?.as_u64());
        match parse_ready(&line) {
            Ok(ready) => {
                let allowed = process.allowed(Stage::Start).number();
                let (number, unit) = (used.number(), used.unit());
                let text = format!("says ready after {number} {unit}, where {allowed} are allowed");
                notes.add(Finding::ok("start", text));
                notes.add(Finding::ok("protocol", format!("speaks version {PROTOCOL}")));
                self.ready = Some(ready);
                self.process = Some(process);
                true
            }
            Err(why) => {
                let check = if version.is_some() { "protocol" } else { "start" };
                let fault = Fault::new(FaultKind::NoStart, why.clone());
                let fault = of_line(fault, &line, &Asked::Hello, process.language());
                notes.add(Finding::fail(check, why, wrong(fault, &came)));
                false
            }
        }
    }

    /// Returns the running process, or starts a new one.
    fn process(&mut self, notes: &mut Findings) -> Result<&mut Wire, Failure> {
        if self.process.is_none() {
            let message = String::from_utf8_lossy(&self.hello_line()).into_owned();
            let (process, _, _) = self.greet(notes).map_err(|fault| Failure {
                kind: FaultKind::NoStart,
                wrong: Wrong {
                    message,
                    came: fault.to_string(),
                    expected: READY.to_owned(),
                    hint: fault.hint,
                },
            })?;
            self.process = Some(process);
        }
        match &mut self.process {
            Some(process) => Ok(process),
            None => Err(Failure {
                kind: FaultKind::NoStart,
                wrong: Wrong {
                    message: String::new(),
                    came: String::new(),
                    expected: READY.to_owned(),
                    hint: None,
                },
            }),
        }
    }

    /// Tells the bot that a match begins; `extra` is a field that it does not know.
    fn start(
        &mut self,
        position: &RarePosition<G>,
        seed: u32,
        extra: Option<&Value>,
        notes: &mut Findings,
    ) -> Result<(), Failure> {
        let names: Vec<String> = position.names.clone().into();
        let start: Message<G> = ToBot::Start { seat: position.seat, names: &names, seed };
        let line = to_line(&with_extra(&start, extra));
        self.forgiving = true;
        self.process(notes)?.tell(&line);
        Ok(())
    }

    fn tell_end(&mut self) {
        if let Some(process) = &mut self.process {
            let outcome = no_outcome(self.hall.setup.seats);
            let end: Message<G> = ToBot::End { outcome: &outcome };
            process.tell(&to_line(&end));
        }
    }

    /// Asks for a decision and judges the answer. After a fault it drops the process, unless the bot can play on.
    fn ask(
        &mut self,
        position: &RarePosition<G>,
        id: u64,
        extra: Option<&Value>,
        notes: &mut Findings,
    ) -> Result<G::Action, Failure> {
        let view = &position.view;
        let legal = G::few_legal_actions(view, MAX_LISTED);
        let question: Message<G> = ToBot::Decide { id, view, legal };
        let mut question = with_extra(&question, extra);
        if let (Some(extra), Some(Value::Object(view))) = (extra, question.get_mut("view")) {
            view.insert("future_field".to_owned(), extra.clone());
        }
        let line = to_line(&question);
        let mut forgiving = self.forgiving;
        let process = self.process(notes)?;
        let mut came = String::new();
        let sent = process.send(&line, forgiving);
        let received = sent.and_then(|()| receive(process, Stage::Decision, IN_ACT, &mut forgiving, notes));
        let answer = received.and_then(|(line, _)| {
            came = String::from_utf8_lossy(&line).into_owned();
            let answer = parse_act::<G>(&line, id, |came| expect_id(came, id));
            answer.map_err(|fault| of_line(fault, &line, &Asked::decision::<G>(id, view), process.language()))
        });
        self.forgiving = forgiving;
        let judged = answer.and_then(|answer| match answer {
            Answer::Act(action, _) => match position.judge(&action) {
                Ok(()) => Ok(action),
                Err(why) => Err(Fault::new(FaultKind::Illegal, why)),
            },
            Answer::Partly { fault, .. } | Answer::Fault(fault) => Err(fault),
            Answer::Quit | Answer::Arena(_) => Err(Fault::new(FaultKind::Exit, "it has left")),
        });
        judged.map_err(|fault| {
            if !fault.kind.is_survivable()
                && let Some(process) = self.process.take()
            {
                notes.add_log(process.log());
            }
            let came = if came.is_empty() { fault.to_string() } else { format!("{came} ({fault})") };
            let message = shortened(&String::from_utf8_lossy(&line));
            let wrong = Wrong {
                message,
                came: shortened(&came),
                expected: example::<G>(self.hall.example(), view, id),
                hint: fault.hint,
            };
            Failure { kind: fault.kind, wrong }
        })
    }

    /// Asks for the first decision. Returns whether the bot can be asked more.
    fn first_answer(&mut self, position: &RarePosition<G>, notes: &mut Findings) -> bool {
        let started = self.start(position, 1, None, notes);
        match started.and_then(|()| self.ask(position, 1, None, notes)) {
            Ok(action) => {
                let text = format!("answers its first decision: {}", shortened(&json(&action)));
                notes.add(Finding::ok("first answer", text));
                true
            }
            Err(Failure { kind, wrong }) => {
                self.known.push(kind);
                notes.add(Finding::fail("first answer", kind.to_string(), Some(wrong)));
                kind.is_survivable()
            }
        }
    }

    fn ids(&mut self, position: &RarePosition<G>, notes: &mut Findings) {
        for id in IDS {
            match self.ask(position, id, None, notes) {
                Ok(_) => {}
                Err(Failure { kind: FaultKind::WrongId, wrong }) => {
                    self.known.push(FaultKind::WrongId);
                    let text = "answers with another id than that of the decision".to_owned();
                    return notes.add(Finding::fail("ids", text, Some(wrong)));
                }
                Err(Failure { kind, wrong }) => {
                    self.known.push(kind);
                    let text = format!("{kind}, when asked several times");
                    return notes.add(Finding::fail("answers", text, Some(wrong)));
                }
            }
        }
        self.tell_end();
        notes.add(Finding::ok("ids", "repeats the id of each decision, whatever it is"));
    }

    /// Returns a failure, or a skipped check if the bot fails in the same way at plain questions: then it says nothing about this check.
    fn blame(&self, check: &'static str, text: String, Failure { kind, wrong }: Failure) -> Finding {
        match self.known.contains(&kind) {
            true => skipped(check, kind),
            false => Finding::fail(check, text, Some(wrong)),
        }
    }

    /// Checks that the bot ignores unknown messages and fields: later versions may add some.
    fn unknown(&mut self, position: &RarePosition<G>, notes: &mut Findings) {
        let extra = json!({"nested": [1, {"type": "decide"}, null, "}\""], "id": 3});
        let message = json!({"type": "future_message", "id": 12, "future_field": extra}).to_string();
        let told = self.process(notes).map(|process| {
            process.tell(message.as_bytes());
            process.unasked()
        });
        match told {
            Ok(came) if came.is_empty() => {}
            Ok(came) if is_chatter(&came, IN_ACT) => {
                let language = self.process.as_ref().map(Wire::language).unwrap_or_default();
                notes.chatter(&chatter(&came, "came", language));
            }
            Ok(came) => {
                let came = shortened(&String::from_utf8_lossy(&came));
                let wrong = Wrong {
                    message,
                    came,
                    expected: "no answer: the message is ignored".to_owned(),
                    hint: Some("answer only messages whose `type` you know".to_owned()),
                };
                let text = "answers a message that it cannot know".to_owned();
                return notes.add(Finding::fail("unknown messages", text, Some(wrong)));
            }
            Err(Failure { kind, wrong }) => {
                return notes.add(Finding::fail("unknown messages", kind.to_string(), Some(wrong)));
            }
        }
        // Without anything new first: was it the message or the field?
        let started = self.start(position, 2, None, notes);
        if let Err(failure) = started.and_then(|()| self.ask(position, 20, None, notes)) {
            let text = format!("{}, after a message of an unknown type", failure.kind);
            let wrong = Wrong { message, ..failure.wrong };
            notes.add(self.blame("unknown messages", text, Failure { wrong, ..failure }));
        } else {
            notes.add(Finding::ok("unknown messages", "ignores a message of an unknown type"));
        }
        let started = self.start(position, 3, Some(&extra), notes);
        match started.and_then(|()| self.ask(position, 21, Some(&extra), notes)) {
            Ok(_) => notes.add(Finding::ok("unknown fields", "ignores unknown fields of messages and views")),
            Err(failure) => {
                let text = format!("{}, when start, decide and view have a field more", failure.kind);
                notes.add(self.blame("unknown fields", text, failure));
            }
        }
        self.tell_end();
    }

    fn odd_names(&mut self, position: &RarePosition<G>, notes: &mut Findings) {
        if position.names.len() < 2 {
            return;
        }
        let started = self.start(position, 4, None, notes);
        match started.and_then(|()| self.ask(position, 22, None, notes)) {
            Ok(_) => {
                notes.add(Finding::ok("names", "reads names with quotes, backslashes and other alphabets"))
            }
            Err(failure) => {
                let names: Vec<String> = position.names.clone().into();
                let text =
                    format!("{}, in a match with the names {}", failure.kind, shortened(&json(&names)));
                notes.add(self.blame("names", text, failure));
            }
        }
        self.tell_end();
    }

    /// Asks a bot that promises the same answer to the same view twice, in matches with different seeds.
    fn deterministic(&mut self, first: &RarePosition<G>, notes: &mut Findings) {
        if self.ready.as_ref().is_none_or(|ready| !ready.deterministic) {
            return notes
                .add(Finding::ok("deterministic", "does not promise the same answer to the same view"));
        }
        let others = self.hall.setup.positions.iter();
        let others = others.filter_map(|(_, bots, wanted)| {
            hunt::<G>(&self.hall.names, &self.hall.rules, bots, self.hall.patience, *wanted)
        });
        let positions: Vec<_> = std::iter::once(first.clone()).chain(others).collect();
        for (id, position) in (100..).step_by(2).zip(&positions) {
            let mut answer = |id: u64| {
                self.start(position, id as u32, None, notes)?;
                let action = self.ask(position, id, None, notes);
                self.tell_end();
                action
            };
            match (answer(id), answer(id + 1)) {
                (Ok(one), Ok(other)) if one == other => {}
                (Ok(one), Ok(other)) => {
                    let message = shortened(&json(&position.view));
                    let came = format!("{}, then {}", shortened(&json(&one)), shortened(&json(&other)));
                    let expected = "the same action twice, or no \"deterministic\" in ready".to_owned();
                    let wrong = Wrong { message, came, expected, hint: None };
                    let text = "promises the same answer to the same view, and gives another".to_owned();
                    return notes.add(Finding::fail("deterministic", text, Some(wrong)));
                }
                (Err(failure), _) | (_, Err(failure)) => {
                    // A bot that gives no answer breaks no promise: what it did is a failure of its own.
                    let kind = failure.kind;
                    if !self.known.contains(&kind) {
                        let text = "in a position from a match".to_owned();
                        notes.add(Finding::fail(kind.as_str(), text, Some(failure.wrong)));
                    }
                    return notes.add(skipped("deterministic", kind));
                }
            }
        }
        let text = format!("gives the same answer to the same view, as promised ({} views)", positions.len());
        notes.add(Finding::ok("deterministic", text));
    }

    /// Checks that the bot writes nothing but answers, and ends at the end of input.
    fn end(&mut self, notes: &mut Findings) {
        let Some(mut process) = self.process.take() else {
            return notes.add(Finding::skipped("end of input", "the process has ended before"));
        };
        let came = process.unasked();
        if came.is_empty() && notes.has_warned() {
            // Told already.
        } else if came.is_empty() {
            notes.add(Finding::ok("output", "writes nothing but answers to standard output"));
        } else if is_chatter(&came, IN_ACT) {
            notes.chatter(&chatter(&came, "came at the end of a match", process.language()));
        } else {
            let wrong = Wrong {
                message: "the end of a match".to_owned(),
                came: shortened(&String::from_utf8_lossy(&came)),
                expected: "nothing".to_owned(),
                hint: of_line(Fault::new(FaultKind::Flood, ""), &came, &Asked::Nothing, process.language())
                    .hint,
            };
            let text = "writes what nobody has asked for to standard output".to_owned();
            notes.add(Finding::fail("output", text, Some(wrong)));
        }
        let (ends, fault, log) = process.finish();
        notes.add_log(&log);
        let left = fault.as_ref().is_some_and(|fault| fault.kind == FaultKind::LeftChildren);
        match (ends, &fault) {
            (true, _) => notes.add(Finding::ok("end of input", "ends when its input ends")),
            (false, fault) => {
                let came = match fault {
                    Some(fault) if !left => fault.to_string(),
                    _ => "the process lived on until SIGTERM".to_owned(),
                };
                let wrong = Wrong {
                    message: "(standard input is closed)".to_owned(),
                    came,
                    expected: "the process ends by itself within a second".to_owned(),
                    hint: None,
                };
                let text = "does not end when its input ends".to_owned();
                notes.add(Finding::fail("end of input", text, Some(wrong)));
            }
        }
        match fault {
            Some(fault) if left => notes.add(Finding::fail("processes", fault.to_string(), None)),
            _ => notes.add(Finding::ok("processes", "leaves no processes behind")),
        }
    }
}

/// Returns the bot's answer and its cost. Once per match it forgives a line that is not an answer, if an answer follows.
fn receive(
    process: &mut Wire,
    stage: Stage,
    word: &str,
    forgiving: &mut bool,
    notes: &mut Findings,
) -> Result<(Vec<u8>, Cost), Fault> {
    let first = process.receive(stage)?;
    if !*forgiving || !is_chatter(&first.0, word) {
        return Ok(first);
    }
    *forgiving = false;
    match process.receive(stage) {
        Ok(second) if !is_chatter(&second.0, word) => {
            notes.chatter(&chatter(&first.0, "came before the answer", process.language()));
            Ok(second)
        }
        Ok(second) => Ok(second),
        // The first line is shown: that none followed it tells less.
        Err(fault) if fault.kind == FaultKind::Timeout => Ok(first),
        Err(fault) => Err(fault),
    }
}

/// A check that is skipped because an earlier failure makes it meaningless.
fn skipped(check: &'static str, kind: FaultKind) -> Finding {
    Finding::skipped(check, format!("cannot be told because of the {kind} above"))
}

/// The fault for an unrequested line that is forgiven.
fn chatter(line: &[u8], when: &str, language: Language) -> Fault {
    let fault = Fault::new(FaultKind::Chatter, format!("{} {when}", excerpt(line)));
    of_line(fault, line, &Asked::Nothing, language)
}

/// Returns a message as JSON, with one more field.
fn with_extra(message: &impl serde::Serialize, extra: Option<&Value>) -> Value {
    let mut value = serde_json::to_value(message).unwrap_or_default();
    if let (Some(extra), Value::Object(fields)) = (extra, &mut value) {
        fields.insert("future_field".to_owned(), extra.clone());
    }
    value
}
