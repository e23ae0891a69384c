//! The judge's book: a game as the script tells it, command by command.

use crate::script::{Command, Line, Mistake, Parsed, Side, Word, nearest};
use necrodome_rules::{
    game::Seat,
    infection::{
        Commitment, Ending, InfectionRules, Party, Player, PrivateReport, PublicReport, Refused, Role,
    },
    names::MAX_NAME,
    options::{self, OptionError},
};
use serde::Serialize;
use std::{collections::BTreeMap, ops::Range};

/// A game up to some line of its script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Book {
    names: Vec<String>,
    zombies: Vec<bool>,
    /// Names in lower case, in order: a prefix is a range.
    index: BTreeMap<String, Seat>,
    settings: Vec<(String, String)>,
    rules: InfectionRules,
    party: Option<Party>,
    /// The turn has just been closed because everybody had ended it.
    closed_by_itself: bool,
    records: Vec<Record>,
    mistakes: Vec<Mistake>,
}

/// What a line did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Record {
    /// The line of the script.
    pub line: usize,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// What happened, as the judge knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum What {
    /// The game began.
    Started {
        /// What everybody was told.
        public: PublicReport,
        /// What each player was told.
        private: Vec<PrivateReport>,
    },
    /// Two players met.
    Contact {
        /// Both sides.
        sides: [ContactSide; 2],
    },
    /// A player took the antidote.
    Antidote {
        /// Who.
        seat: Seat,
        /// What they were before.
        before: Player,
        /// What they are now.
        after: Player,
    },
    /// A player ended their turn.
    Ended {
        /// Who.
        seat: Seat,
    },
    /// A turn was closed.
    TurnClosed {
        /// Which, from 1.
        turn: u32,
        /// Who met nobody, and so broke a rule.
        without_contact: Vec<Seat>,
        /// Who became a zombie.
        turned: Vec<Seat>,
        /// What everybody was told.
        public: PublicReport,
        /// What each player was told.
        private: Vec<PrivateReport>,
        /// How the game ended, if it did.
        ending: Option<Ending>,
    },
}

/// One side of a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ContactSide {
    /// Who.
    pub seat: Seat,
    /// What they committed.
    pub commit: Commitment,
    /// What they were before.
    pub before: Player,
    /// What they are now.
    pub after: Player,
}

impl Book {
    /// Plays a whole script. What is wrong is left out and listed.
    pub fn of(parsed: &Parsed) -> Self {
        let mut book = Book::default();
        let mut unread = parsed.mistakes.iter().peekable();
        for line in &parsed.script.lines {
            while let Some(mistake) = unread.next_if(|mistake| mistake.line < line.number) {
                book.mistakes.push(mistake.clone());
            }
            // What is wrong stands in the book already.
            let _ = book.write(line);
        }
        book.mistakes.extend(unread.cloned());
        book
    }

    /// Carries out a line. On a mistake nothing has changed but the list of mistakes.
    pub fn write(&mut self, line: &Line) -> Result<(), Mistake> {
        let done = self.carry_out(line);
        if let Err(mistake) = &done {
            self.mistakes.push(mistake.clone());
        }
        done
    }

    fn carry_out(&mut self, line: &Line) -> Result<(), Mistake> {
        let Some(command) = &line.command else { return Ok(()) };
        let closed_by_itself = std::mem::take(&mut self.closed_by_itself);
        let done = match command {
            Command::Set { option, value } => self.set(line, option, value),
            Command::Human(name) => self.join(line, name, false),
            Command::Zombie(name) => self.join(line, name, true),
            Command::Start => self.start(line),
            Command::Interact(one, other) => self.interact(line, one, other),
            Command::Antidote(name) => self.antidote(line, name),
            Command::End(name) => self.end(line, name),
            // Everybody had ended the turn, and the judge says that it is over: it is.
            Command::NextTurn if closed_by_itself => Ok(()),
            Command::NextTurn => self.next_turn(line),
        };
        if done.is_err() {
            self.closed_by_itself = closed_by_itself;
        }
        done
    }

    fn set(&mut self, line: &Line, option: &Word, value: &Word) -> Result<(), Mistake> {
        self.before_start(line)?;
        let mut settings = self.settings.clone();
        settings.retain(|(name, _)| *name != option.text);
        settings.push((option.text.clone(), value.text.clone()));
        match options::parse::<InfectionRules>(&settings) {
            Ok(rules) => {
                (self.settings, self.rules) = (settings, rules);
                Ok(())
            }
            Err(error) => {
                let span =
                    if matches!(error, OptionError::Unknown { .. }) { &option.span } else { &value.span };
                let mut mistake =
                    mistake(line, span, error.to_string(), "expected an option of the rules and its value");
                if let OptionError::Unknown { name, valid } = &error {
                    let near = nearest(name, valid.iter().map(String::as_str));
                    mistake.help = near.map(|near| format!("did you mean {near}?"));
                }
                Err(mistake)
            }
        }
    }

    fn join(&mut self, line: &Line, name: &Word, zombie: bool) -> Result<(), Mistake> {
        self.before_start(line)?;
        let key = name.text.to_lowercase();
        if let Some(&seat) = self.index.get(&key) {
            let message = format!("{:?} is {:?}, who plays already", name.text, self.names[seat.index()]);
            return Err(mistake(line, &name.span, message, "expected a name that is not taken"));
        }
        if self.names.len() == Party::MAX_PLAYERS {
            let message = format!("there are {} players already", Party::MAX_PLAYERS);
            return Err(mistake(line, &name.span, message, "expected no more players"));
        }
        if name.text.chars().count() > MAX_NAME || name.text.chars().any(char::is_control) {
            let expected = format!("expected a name of at most {MAX_NAME} characters");
            return Err(mistake(line, &name.span, "this name cannot be used", expected));
        }
        self.index.insert(key, Seat(self.names.len() as u16));
        self.names.push(name.text.clone());
        self.zombies.push(zombie);
        Ok(())
    }

    fn before_start(&self, line: &Line) -> Result<(), Mistake> {
        match self.party {
            None => Ok(()),
            Some(_) => {
                let expected = "expected INTERACT, ANTIDOTE, END or NEXT_TURN";
                Err(mistake(line, &line.span, "the game has started", expected))
            }
        }
    }

    fn start(&mut self, line: &Line) -> Result<(), Mistake> {
        self.before_start(line)?;
        if self.names.len() < 2 {
            let message = format!("a game needs at least two players, and there are {}", self.names.len());
            return Err(mistake(
                line,
                &line.span,
                message,
                "expected HUMAN and ZOMBIE lines before GAME_START",
            ));
        }
        let party = Party::new(&self.zombies, &self.rules);
        let what = What::Started { public: party.public_report(), private: private(&party) };
        self.party = Some(party);
        self.records.push(Record { line: line.number, what });
        Ok(())
    }

    fn interact(&mut self, line: &Line, one: &Side, other: &Side) -> Result<(), Mistake> {
        let seats = [self.seat(line, &one.name)?, self.seat(line, &other.name)?];
        let party = self.playing(line)?;
        let before = seats.map(|seat| party.players()[seat.index()]);
        let met = party.contact((seats[0], one.commit), (seats[1], other.commit));
        let after = seats.map(|seat| party.players()[seat.index()]);
        if let Err(refused) = met {
            return Err(self.refuse(line, &refused, &seats, &[&one.name, &other.name]));
        }
        let commits = [one.commit, other.commit];
        let side =
            |i: usize| ContactSide { seat: seats[i], commit: commits[i], before: before[i], after: after[i] };
        self.records.push(Record { line: line.number, what: What::Contact { sides: [side(0), side(1)] } });
        Ok(())
    }

    fn antidote(&mut self, line: &Line, name: &Word) -> Result<(), Mistake> {
        let seat = self.seat(line, name)?;
        let party = self.playing(line)?;
        let before = party.players()[seat.index()];
        let taken = party.antidote(seat);
        let after = party.players()[seat.index()];
        if let Err(refused) = taken {
            return Err(self.refuse(line, &refused, &[seat], &[name]));
        }
        self.records.push(Record { line: line.number, what: What::Antidote { seat, before, after } });
        Ok(())
    }

    fn end(&mut self, line: &Line, name: &Word) -> Result<(), Mistake> {
        let seat = self.seat(line, name)?;
        let party = self.playing(line)?;
        let ended = party.end(seat);
        let all = party.all_ended();
        if let Err(refused) = ended {
            return Err(self.refuse(line, &refused, &[seat], &[name]));
        }
        self.records.push(Record { line: line.number, what: What::Ended { seat } });
        if all {
            self.next_turn(line)?;
            self.closed_by_itself = true;
        }
        Ok(())
    }

    fn next_turn(&mut self, line: &Line) -> Result<(), Mistake> {
        let party = self.playing(line)?;
        let without_contact = party.without_contact().collect();
        let turned = party.next_turn();
        let what = turned.map(|turned| What::TurnClosed {
            turn: party.turns(),
            without_contact,
            turned,
            public: party.public_report(),
            private: private(party),
            ending: party.ending(),
        });
        match what {
            Ok(what) => {
                self.records.push(Record { line: line.number, what });
                Ok(())
            }
            Err(refused) => Err(self.refuse(line, &refused, &[], &[])),
        }
    }

    fn playing(&mut self, line: &Line) -> Result<&mut Party, Mistake> {
        self.party.as_mut().ok_or_else(|| {
            mistake(
                line,
                &line.span,
                "the game has not started",
                "expected HUMAN, ZOMBIE or GAME_START before this",
            )
        })
    }

    /// Finds a player by their name or by the beginning of it.
    fn seat(&self, line: &Line, word: &Word) -> Result<Seat, Mistake> {
        self.find(&word.text).map_err(|found| {
            let mut mistake = match found {
                Found::Nobody => {
                    let message = format!("nobody is called {:?}", word.text);
                    mistake(line, &word.span, message, "expected the name of a player, or how it begins")
                }
                Found::Several(names) => {
                    let message = format!("{:?} could be {}", word.text, names.join(", "));
                    mistake(line, &word.span, message, "expected more of the name")
                }
            };
            let near = nearest(&word.text, self.names.iter().map(String::as_str));
            if mistake.message.starts_with("nobody") {
                mistake.help = near.map(|near| format!("did you mean {near}?"));
            }
            mistake
        })
    }

    fn find(&self, text: &str) -> Result<Seat, Found> {
        let key = text.to_lowercase();
        if let Some(&seat) = self.index.get(&key) {
            return Ok(seat);
        }
        let mut starting = self.index.range(key.clone()..).take_while(|(name, _)| name.starts_with(&key));
        match (starting.next(), starting.next()) {
            (Some((_, &seat)), None) => Ok(seat),
            (None, _) => Err(Found::Nobody),
            (Some(first), Some(second)) => {
                let more = [first, second].into_iter().chain(starting);
                let names: Vec<String> =
                    more.take(6).map(|(_, seat)| self.names[seat.index()].clone()).collect();
                Err(Found::Several(names))
            }
        }
    }

    /// A command that the rules forbid, with names instead of seats.
    fn refuse(&self, line: &Line, refused: &Refused, seats: &[Seat], words: &[&Word]) -> Mistake {
        let name = |seat: &Seat| &self.names[seat.index()];
        let (who, message, expected) = match refused {
            Refused::Over => (None, "the game is over".to_owned(), "expected no more commands"),
            Refused::NoSuchPlayer { seat } => {
                (Some(seat), "there is no such player".to_owned(), "expected a player")
            }
            Refused::Itself { seat } => {
                (Some(seat), format!("{} cannot meet themselves", name(seat)), "expected two players")
            }
            Refused::Again { a, b } => {
                let message = format!("{} and {} have met in this turn already", name(a), name(b));
                (None, message, "expected two who have not met since the last NEXT_TURN")
            }
            Refused::Ended { seat } => {
                let message = format!("{} has ended their turn", name(seat));
                (Some(seat), message, "expected players who have not ended their turn")
            }
            Refused::NoAntibody { seat } => {
                let message = format!("{} has no antibody to spend", name(seat));
                (Some(seat), message, "expected a player with antibodies")
            }
            Refused::Zombie { seat } => {
                let message = format!("{} is a zombie, and zombies have no antibodies", name(seat));
                (Some(seat), message, "expected a human")
            }
            Refused::NotZombie { seat } => {
                let message = format!("{} is no zombie, and only zombies apply viruses", name(seat));
                (Some(seat), message, "expected a zombie")
            }
            Refused::ZeroViruses { seat } => {
                (Some(seat), format!("{} applies no virus", name(seat)), "expected at least *1, or nothing")
            }
            Refused::TooManyViruses { seat, count, has } => {
                let message = format!("{} applies {count} viruses and has {has}", name(seat));
                (Some(seat), message, "expected no more viruses than they have")
            }
        };
        let of = who.and_then(|seat| seats.iter().rposition(|other| other == seat));
        let span = of.map_or(line.span.clone(), |place| words[place].span.clone());
        mistake(line, &span, message, expected)
    }

    /// All players by seat.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The rules of the game.
    pub fn rules(&self) -> &InfectionRules {
        &self.rules
    }

    /// The state of the game, once it has started.
    pub fn party(&self) -> Option<&Party> {
        self.party.as_ref()
    }

    /// Who joined as a zombie.
    pub fn zombies(&self) -> &[bool] {
        &self.zombies
    }

    /// All that happened, in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// All that is wrong with the script, by line.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    /// A player by their name or by the beginning of it.
    pub fn player(&self, name: &str) -> Option<Seat> {
        self.find(name).ok()
    }

    /// Those who have met nobody in this turn.
    pub fn without_contact(&self) -> Vec<Seat> {
        self.party.as_ref().map_or(Vec::new(), |party| party.without_contact().collect())
    }
}

/// Why a name is nobody's.
enum Found {
    Nobody,
    Several(Vec<String>),
}

fn private(party: &Party) -> Vec<PrivateReport> {
    Seat::all(party.players().len()).iter().map(|&seat| party.private_report(seat)).collect()
}

fn mistake(
    line: &Line,
    span: &Range<usize>,
    message: impl Into<String>,
    expected: impl Into<String>,
) -> Mistake {
    Mistake {
        line: line.number,
        column: line.column(span.start),
        span: span.clone(),
        message: message.into(),
        expected: expected.into(),
        help: None,
    }
}

/// What a player counts as in the end: for reports.
pub fn role_word(role: Role) -> &'static str {
    match role {
        Role::Human => "human",
        Role::Infected => "infected",
        Role::Zombie => "zombie",
    }
}
