//! A player that speaks the protocol, over any transport.

use super::{
    IN_ACT, IN_READY, MAX_LISTED, Message, PROTOCOL, ToBot, excerpt,
    parse::{Ids, is_chatter, parse_act, parse_ready},
    to_line,
};
use crate::{
    diagnosis::{Asked, Language, of_line},
    fault::{Fault, FaultKind},
    player::{Answer, Effort, MatchStart, Player},
};
use necrodome_rules::{catalog::Listed, game::Outcome};

/// The reason why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// The bot has failed: the game's rule for a bad action applies.
    Fault(Fault),
    /// The arena lacks something: not the bot's fault, and the match has no result.
    Arena(String),
}

impl From<Fault> for Silence {
    fn from(fault: Fault) -> Self {
        Silence::Fault(fault)
    }
}

/// Carries messages to a bot and back. Lines are given without their line ends.
pub trait Transport {
    /// Whether the bot is running and was greeted.
    fn is_open(&self) -> bool;

    /// Returns the language that the bot is written in, for hints.
    fn language(&self) -> Language {
        Language::Other
    }

    /// Starts the bot, if it may still be started, and greets it. Returns its answer.
    fn open(&mut self, hello: &[u8]) -> Result<Vec<u8>, Silence>;

    /// Drops the bot because its answer to the greeting was wrong.
    fn turn_away(&mut self);

    /// Called when the match with this seed begins.
    fn begin_match(&mut self, _seed: u32) {}

    /// Sends a message that needs no answer.
    fn tell(&mut self, line: &[u8]);

    /// Sends a message that needs no answer and can wait for the next one.
    fn mention(&mut self, line: &[u8]) {
        self.tell(line);
    }

    /// Sends a message that needs an answer. `forgiving`: a line that is not an answer may have come before it.
    fn ask(&mut self, line: &[u8], forgiving: bool) -> Result<(), Silence>;

    /// Returns the answer to the last question.
    fn answer(&mut self) -> Result<Vec<u8>, Silence>;

    /// Returns the line after one that was not an answer, in the time that is left. By default there is none, and the fault is `first`, that
    /// of the first line.
    fn another(&mut self, first: Fault) -> Result<Vec<u8>, Silence> {
        Err(first.into())
    }

    /// Called if the last answer had a fault.
    fn at_fault(&mut self, fault: &Fault);

    /// Returns what the bot has used since the last call.
    fn take_effort(&mut self) -> Effort {
        Effort::default()
    }

    /// Ends the bot after its last match. Returns what went wrong at the end, and the bot's log.
    fn close(&mut self) -> (Vec<Fault>, String) {
        (Vec::new(), String::new())
    }
}

/// A bot that speaks the protocol. It is greeted when its first match begins.
pub struct ProtocolPlayer<G: Listed, T> {
    transport: T,
    name: String,
    rules: G::Rules,
    seats: usize,
    wants_events: bool,
    deterministic: bool,
    /// Whether it was ready at least once.
    started: bool,
    /// The reason why there will be no answer to the last question.
    pending: Option<Silence>,
    next_id: u64,
    ids: Ids,
    /// Whether a line that is not an answer is still forgiven in this match.
    forgiving: bool,
    /// The fault that was forgiven in this match.
    forgiven: Option<Fault>,
    /// The message that began the match, for a bot that is restarted in the middle of it.
    start_line: Vec<u8>,
}

impl<G: Listed, T: Transport> ProtocolPlayer<G, T> {
    /// Returns a player for the bot at the other end of `transport`.
    pub fn new(transport: T, name: &str, rules: &G::Rules, seats: usize) -> Self {
        ProtocolPlayer {
            transport,
            name: name.to_owned(),
            rules: rules.clone(),
            seats,
            wants_events: false,
            deterministic: false,
            started: false,
            pending: None,
            next_id: 0,
            ids: Ids::default(),
            forgiving: true,
            forgiven: None,
            start_line: Vec::new(),
        }
    }

    /// Makes sure that the bot is running and knows of the match. `told` says whether it has got the message that began the match.
    fn ensure_open(&mut self, told: bool) -> Result<(), Silence> {
        if self.transport.is_open() {
            if !told {
                self.transport.tell(&self.start_line);
            }
            return Ok(());
        }
        let hello: Message<G> = ToBot::Hello {
            protocol: PROTOCOL,
            game: G::ID,
            options: &self.rules,
            seats: self.seats,
            name: &self.name,
        };
        let mut answer = self.transport.open(&to_line(&hello))?;
        let mut ready = parse_ready(&answer);
        if let Err(why) = &ready
            && self.forgives(&answer, IN_READY)
        {
            let next = self.transport.another(self.not_ready(why, &answer));
            let chatter = std::mem::replace(&mut answer, next.inspect_err(|_| self.transport.turn_away())?);
            ready = parse_ready(&answer);
            if ready.is_ok() {
                self.forgive(&chatter, &Asked::Hello);
            }
        }
        let ready = ready.map_err(|why| {
            self.transport.turn_away();
            self.not_ready(&why, &answer)
        })?;
        (self.wants_events, self.deterministic, self.started) = (ready.events, ready.deterministic, true);
        self.ids = Ids::default();
        self.transport.tell(&self.start_line);
        Ok(())
    }

    /// Returns the fault of a bot with a wrong answer to the greeting.
    fn not_ready(&self, why: &str, answer: &[u8]) -> Fault {
        of_line(Fault::new(FaultKind::NoStart, why), answer, &Asked::Hello, self.transport.language())
    }

    fn put_question(&mut self, view: &G::View) -> Result<(), Silence> {
        self.next_id += 1;
        let legal = G::few_legal_actions(view, MAX_LISTED);
        let question: Message<G> = ToBot::Decide { id: self.next_id, view, legal };
        let line = to_line(&question);
        self.ensure_open(true)?;
        self.transport.ask(&line, self.forgiving)
    }

    fn take_answer(&mut self, view: &G::View) -> Result<Answer<G::Action>, Silence> {
        if let Some(silence) = self.pending.take() {
            return Err(silence);
        }
        let line = self.transport.answer()?;
        let mut parsed = self.read(&line, view);
        if let Err(fault) = &parsed
            && fault.kind == FaultKind::Garbage
            && self.forgives(&line, IN_ACT)
        {
            let next = self.transport.another(fault.clone()).inspect_err(|silence| {
                if let Silence::Fault(fault) = silence {
                    self.transport.at_fault(fault);
                }
            })?;
            parsed = self.read(&next, view);
            if parsed.as_ref().err().is_none_or(|fault| fault.kind != FaultKind::Garbage) {
                self.forgive(&line, &Asked::Nothing);
            }
        }
        if let Err(fault) | Ok(Answer::Partly { fault, .. }) = &parsed {
            self.transport.at_fault(fault);
        }
        Ok(parsed?)
    }

    fn read(&mut self, line: &[u8], view: &G::View) -> Result<Answer<G::Action>, Fault> {
        let read = parse_act::<G>(line, self.next_id, |came| self.ids.check(came, self.next_id));
        let hinted = |fault| {
            let asked = Asked::decision::<G>(self.next_id, view);
            of_line(fault, line, &asked, self.transport.language())
        };
        match read {
            Ok(Answer::Partly { action, reason, fault }) => {
                Ok(Answer::Partly { action, reason, fault: hinted(fault) })
            }
            read => read.map_err(hinted),
        }
    }

    /// Whether this unexpected line is forgiven if the next one is right. It is, at most once per match.
    fn forgives(&mut self, line: &[u8], word: &str) -> bool {
        self.forgiving && is_chatter(line, word) && std::mem::take(&mut self.forgiving)
    }

    fn forgive(&mut self, line: &[u8], asked: &Asked) {
        let detail = format!("{} came before the answer", excerpt(line));
        let fault = Fault::new(FaultKind::Chatter, detail);
        self.forgiven = Some(of_line(fault, line, asked, self.transport.language()));
    }

    fn pending_fault(&mut self) -> Option<Fault> {
        match self.pending.take()? {
            Silence::Fault(fault) => Some(fault),
            Silence::Arena(_) => None,
        }
    }
}

impl<G: Listed, T: Transport> Player<G> for ProtocolPlayer<G, T> {
    fn start(&mut self, start: &MatchStart) {
        let names: Vec<String> = start.names.iter().map(str::to_owned).collect();
        let message: Message<G> = ToBot::Start { seat: start.seat, names: &names, seed: start.seed };
        self.start_line = to_line(&message);
        self.transport.begin_match(start.seed);
        self.forgiving = true;
        self.pending = self.ensure_open(false).err();
    }

    fn hear(&mut self, heard: &[&G::Event]) {
        if self.transport.is_open() {
            let message: Message<G> = ToBot::Events { events: heard };
            self.transport.mention(&to_line(&message));
        }
    }

    fn listens(&self) -> bool {
        self.wants_events
    }

    fn ask(&mut self, view: &G::View) {
        if self.pending.is_none() {
            self.pending = self.put_question(view).err();
        }
    }

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        match self.take_answer(view) {
            Ok(answer) => answer,
            Err(Silence::Fault(fault)) => Answer::Fault(fault),
            Err(Silence::Arena(what)) => Answer::Arena(format!("{} cannot be started: {what}", self.name)),
        }
    }

    /// Does nothing: programs are not told.
    fn refused(&mut self, _: &str) {}

    fn end(&mut self, outcome: &Outcome) -> Vec<Fault> {
        if self.transport.is_open() {
            let message: Message<G> = ToBot::End { outcome };
            self.transport.tell(&to_line(&message));
        }
        self.forgiven.take().into_iter().chain(self.pending_fault()).collect()
    }

    fn has_started(&self) -> bool {
        self.started
    }

    /// Known once the first match has begun.
    fn is_deterministic(&self) -> bool {
        self.deterministic
    }

    fn take_effort(&mut self) -> Effort {
        self.transport.take_effort()
    }

    fn close(&mut self) -> (Vec<Fault>, String) {
        let pending = self.pending_fault();
        let (faults, log) = self.transport.close();
        (pending.into_iter().chain(faults).collect(), log)
    }
}
