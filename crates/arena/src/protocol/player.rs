//! A player who speaks the protocol, over any transport.

use super::{
    IN_ACT, IN_READY, MAX_LISTED, Message, PROTOCOL, ToBot, excerpt,
    parse::{Ids, is_chatter, parse_act, parse_ready},
    to_line,
};
use crate::{
    fault::{Fault, FaultKind},
    player::{Answer, Effort, MatchStart, Player},
};
use necrodome_rules::{catalog::Listed, game::Outcome};

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// The bot has failed: the game's rule for a bad action applies.
    Fault(Fault),
    /// The arena lacks something: no fault of the bot's, and the match has no result.
    Arena(String),
}

impl From<Fault> for Silence {
    fn from(fault: Fault) -> Self {
        Silence::Fault(fault)
    }
}

/// Carries messages to a bot and back. Lines come and go without their end of line.
pub trait Transport {
    /// Whether the bot is there and was greeted.
    fn is_open(&self) -> bool;

    /// Brings the bot here, if it may still come, and greets it. Gives its answer.
    fn open(&mut self, hello: &[u8]) -> Result<Vec<u8>, Silence>;

    /// The answer to the greeting was no good: the bot is not there.
    fn turn_away(&mut self);

    /// A match begins.
    fn begin_match(&mut self) {}

    /// A message that wants no answer.
    fn tell(&mut self, line: &[u8]);

    /// A message that wants no answer, and can wait for the one after it.
    fn mention(&mut self, line: &[u8]) {
        self.tell(line);
    }

    /// A message that wants an answer. `forgiving`: a line that is not an answer may have come before it.
    fn ask(&mut self, line: &[u8], forgiving: bool) -> Result<(), Silence>;

    /// The answer to the last question.
    fn answer(&mut self) -> Result<Vec<u8>, Silence>;

    /// The line after one that was not an answer, in what is left of the time; by default there is none, and the first one was
    /// `first`, a fault.
    fn another(&mut self, first: Fault) -> Result<Vec<u8>, Silence> {
        Err(first.into())
    }

    /// The last answer was at fault.
    fn at_fault(&mut self, fault: &Fault);

    /// What the bot has used since this was last asked for.
    fn take_effort(&mut self) -> Effort {
        Effort::default()
    }

    /// There will be no more matches. Gives what went wrong at the end, and what the bot has written to its log.
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
    /// Why there will be no answer to the question that was put.
    pending: Option<Silence>,
    next_id: u64,
    ids: Ids,
    /// Whether a line that is not an answer is still forgiven in this match.
    forgiving: bool,
    /// What was forgiven in this match.
    forgiven: Option<Fault>,
    /// How the match began, for a bot that comes in the middle of it.
    start_line: Vec<u8>,
}

impl<G: Listed, T: Transport> ProtocolPlayer<G, T> {
    /// A bot at the other end of `transport`.
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

    /// Sees to it that the bot is there and knows of the match. `told` says whether it has heard how the match began.
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
            let next = self.transport.another(Fault::new(FaultKind::NoStart, why.clone()));
            let chatter = std::mem::replace(&mut answer, next.inspect_err(|_| self.transport.turn_away())?);
            ready = parse_ready(&answer);
            if ready.is_ok() {
                self.forgive(&chatter);
            }
        }
        let ready = ready.map_err(|why| {
            self.transport.turn_away();
            Fault::new(FaultKind::NoStart, why)
        })?;
        (self.wants_events, self.deterministic, self.started) = (ready.events, ready.deterministic, true);
        self.ids = Ids::default();
        self.transport.tell(&self.start_line);
        Ok(())
    }

    fn put_question(&mut self, view: &G::View) -> Result<(), Silence> {
        self.next_id += 1;
        let legal = G::few_legal_actions(view, MAX_LISTED);
        let question: Message<G> = ToBot::Decide { id: self.next_id, view, legal };
        let line = to_line(&question);
        self.ensure_open(true)?;
        self.transport.ask(&line, self.forgiving)
    }

    fn take_answer(&mut self) -> Result<Answer<G::Action>, Silence> {
        if let Some(silence) = self.pending.take() {
            return Err(silence);
        }
        let line = self.transport.answer()?;
        let mut parsed = self.read(&line);
        if let Err(fault) = &parsed
            && fault.kind == FaultKind::Garbage
            && self.forgives(&line, IN_ACT)
        {
            let next = self.transport.another(fault.clone()).inspect_err(|silence| {
                if let Silence::Fault(fault) = silence {
                    self.transport.at_fault(fault);
                }
            })?;
            parsed = self.read(&next);
            if parsed.as_ref().err().is_none_or(|fault| fault.kind != FaultKind::Garbage) {
                self.forgive(&line);
            }
        }
        if let Err(fault) | Ok(Answer::Partly { fault, .. }) = &parsed {
            self.transport.at_fault(fault);
        }
        Ok(parsed?)
    }

    fn read(&mut self, line: &[u8]) -> Result<Answer<G::Action>, Fault> {
        parse_act::<G>(line, self.next_id, |came| self.ids.check(came, self.next_id))
    }

    /// Whether this line, which is not what was expected, is no fault if the next one is. Asked once a match.
    fn forgives(&mut self, line: &[u8], word: &str) -> bool {
        self.forgiving && is_chatter(line, word) && std::mem::take(&mut self.forgiving)
    }

    fn forgive(&mut self, line: &[u8]) {
        let detail = format!("{} came before the answer", excerpt(line));
        self.forgiven = Some(Fault::new(FaultKind::Chatter, detail));
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
        self.transport.begin_match();
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

    fn answer(&mut self, _: &G::View) -> Answer<G::Action> {
        match self.take_answer() {
            Ok(answer) => answer,
            Err(Silence::Fault(fault)) => Answer::Fault(fault),
            Err(Silence::Arena(what)) => Answer::Arena(format!("{} cannot be started: {what}", self.name)),
        }
    }

    /// A program is not told.
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
