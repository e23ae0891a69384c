//! The judge's book: a game as the script records it, command by command.

use crate::script::{Cause, Command, Dialect, Line, Mistake, Parsed, Shared, Side, Word, nearest};
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

/// The defaults of older scripts, and of older set-ups.
pub(crate) const OLDER: [(&str, &str); 2] = [("rules", "classic"), ("max_turns", "10000")];

/// The most mistakes that are shown. A file with more is not a script.
pub const SHOWN: usize = 100;

/// The state of a game after some lines of its script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Book {
    names: Vec<String>,
    zombies: Vec<bool>,
    /// Names in lower case, in order: a prefix is a range.
    index: BTreeMap<String, Seat>,
    settings: Vec<(String, String)>,
    rules: InfectionRules,
    party: Option<Party>,
    /// Whether the turn has just been closed because everybody had ended theirs.
    closed_by_itself: bool,
    records: Vec<Record>,
    mistakes: Vec<Mistake>,
    /// The mistake that caused others, by cause.
    blamed: BTreeMap<Cause, usize>,
    /// Whether the first command starts the game, as in older scripts.
    starts_itself: bool,
    /// Whether there is a `SET`, perhaps further down. No older script has one.
    sets: bool,
}

/// The effect of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Record {
    /// The line of the script.
    pub line: usize,
    /// The event.
    #[serde(flatten)]
    pub what: What,
}

/// An event, as the judge knows it.
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
    /// A player joined late.
    Joined {
        /// The player.
        seat: Seat,
        /// What they were told.
        private: PrivateReport,
    },
    /// Two players met.
    Contact {
        /// The two sides.
        sides: [ContactSide; 2],
    },
    /// A player took the antidote.
    Antidote {
        /// The player.
        seat: Seat,
        /// The player before.
        before: Player,
        /// The player after.
        after: Player,
        /// The antidotes they had before, in the classic rules: without one nothing happens.
        #[serde(skip_serializing_if = "Option::is_none")]
        antidotes: Option<u32>,
    },
    /// A player ended their turn.
    Ended {
        /// The player.
        seat: Seat,
    },
    /// A turn was closed.
    TurnClosed {
        /// The number of the turn, from 1.
        turn: u32,
        /// The players who met nobody, and so broke a rule.
        without_contact: Vec<Seat>,
        /// The players who became zombies.
        turned: Vec<Seat>,
        /// What everybody was told.
        public: PublicReport,
        /// What each player was told.
        private: Vec<PrivateReport>,
        /// How the game ended, or `None` if it goes on.
        ending: Option<Ending>,
    },
}

/// One side of a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ContactSide {
    /// The player.
    pub seat: Seat,
    /// What they committed.
    pub commit: Commitment,
    /// The player before.
    pub before: Player,
    /// The player after.
    pub after: Player,
}

impl Book {
    /// Plays a whole script. Wrong lines are left out and listed as mistakes.
    pub fn of(parsed: &Parsed) -> Self {
        let mut book = Book::of_dialect(parsed.dialect);
        let sets = |line: &Line| matches!(line.command, Some(Command::Set { .. }));
        book.sets = parsed.script.lines.iter().any(sets);
        let mut unread = parsed.mistakes.iter().peekable();
        for line in &parsed.script.lines {
            while let Some(mistake) = unread.next_if(|mistake| mistake.line < line.number) {
                book.blame(mistake.clone());
            }
            // What is wrong stands in the book already.
            let _ = book.write(line);
        }
        unread.for_each(|mistake| book.blame(mistake.clone()));
        book
    }

    /// Makes an empty book for a script of this dialect. Older scripts have no limit on turns unless they name one.
    fn of_dialect(dialect: Dialect) -> Self {
        let mut book = Book { starts_itself: dialect == Dialect::Older, ..Book::default() };
        if book.starts_itself {
            book.settings = OLDER.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
            book.rules = options::parse(&book.settings).unwrap_or_default();
        }
        book
    }

    /// Lists a mistake, or adds its line to the mistake that caused it.
    fn blame(&mut self, mistake: Mistake) {
        let Shared { of, makes, .. } = mistake.shared.as_deref().cloned().unwrap_or_default();
        let known = of.as_ref().and_then(|cause| self.blamed.get(cause)).copied();
        let first = known.unwrap_or(self.mistakes.len());
        self.blamed.extend([of, makes].into_iter().flatten().map(|cause| (cause, first)));
        if known.is_none() {
            self.mistakes.push(mistake);
        } else if let Some(shared) = &mut self.mistakes[first].shared {
            shared.also.push(mistake.line);
        }
    }

    /// Carries out a line. On a mistake, only the list of mistakes changes.
    pub fn write(&mut self, line: &Line) -> Result<(), Mistake> {
        let done = self.carry_out(line);
        if let Err(mistake) = &done {
            self.blame(mistake.clone());
        }
        done
    }

    fn carry_out(&mut self, line: &Line) -> Result<(), Mistake> {
        let Some(command) = &line.command else { return Ok(()) };
        let plays = !matches!(
            command,
            Command::Set { .. } | Command::Human(_) | Command::Zombie(_) | Command::Start(_)
        );
        if plays {
            let failed = self.blamed.contains_key(&Cause::NotStarted);
            if self.starts_itself && self.party.is_none() && !failed {
                self.start(line, &[])?;
            }
            self.playing(line)?;
        }
        let closed_by_itself = std::mem::take(&mut self.closed_by_itself);
        let done = match command {
            Command::Set { option, value } => self.set(line, option, value),
            Command::Human(name) => self.join(line, name, false),
            Command::Zombie(name) => self.join(line, name, true),
            Command::Start(counts) => self.start(line, counts),
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
        if self.starts_itself {
            let mut mistake =
                mistake(line, &line.span, "a script of an older judge can't set options", "expected no SET");
            mistake.help = Some("necrodome judge convert rewrites the script".into());
            return Err(mistake);
        }
        self.sets = true;
        match self.with(&[(&option.text, &value.text)]) {
            Ok(set) => {
                (self.settings, self.rules) = set;
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

    /// Adds some settings. Returns all of them, and the rules that follow.
    fn with(&self, more: &[(&str, &str)]) -> Result<(Vec<(String, String)>, InfectionRules), OptionError> {
        let is_new = |(name, _): &&(String, String)| more.iter().all(|(other, _)| other != name);
        let mut settings: Vec<(String, String)> = self.settings.iter().filter(is_new).cloned().collect();
        settings.extend(more.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())));
        let rules = options::parse(&settings)?;
        Ok((settings, rules))
    }

    /// Sets the rules that the counts of an older `GAME_START` stand for: the turns, or both limits.
    fn count(&mut self, line: &Line, counts: &[Word]) -> Result<(), Mistake> {
        let (names, help): (&[&str], _) = match counts {
            [] => return Ok(()),
            [_] => (&["max_turns"], "write SET max_turns above it instead"),
            [_, _] => (
                &["interaction_limit", "antidote_limit"],
                "write SET rules classic, SET interaction_limit and SET antidote_limit above it instead",
            ),
            [_, _, more, ..] => {
                let expected = "expected at most two counts: the limits of contacts and of antidotes";
                return Err(mistake(line, &more.span, "there are too many counts", expected));
            }
        };
        if self.sets {
            let message = "counts after GAME_START don't go together with SET";
            let mut mistake = mistake(line, &counts[0].span, message, "expected GAME_START alone");
            mistake.help = Some(help.into());
            return Err(mistake);
        }
        let mut more = OLDER.to_vec();
        let mut set = None;
        for (&name, word) in names.iter().zip(counts) {
            // Without a limit nobody has to begin a contact.
            let value = if name == "interaction_limit" && word.text == "0" { "none" } else { &word.text };
            more.retain(|(other, _)| *other != name);
            more.push((name, value));
            let wrong = |error: OptionError| {
                mistake(line, &word.span, error.to_string(), "expected a number of turns")
            };
            set = Some(self.with(&more).map_err(wrong)?);
        }
        (self.settings, self.rules) = set.unwrap_or_default();
        Ok(())
    }

    fn join(&mut self, line: &Line, name: &Word, zombie: bool) -> Result<(), Mistake> {
        let key = name.text.to_lowercase();
        self.seat_at(line, name, key.clone(), zombie).map_err(|mistake| mistake.makes(Cause::Refused(key)))
    }

    fn seat_at(&mut self, line: &Line, name: &Word, key: String, zombie: bool) -> Result<(), Mistake> {
        if self.rules.is_classic() {
            self.before_start(line)?;
        }
        if let Some(&seat) = self.index.get(&key) {
            let message = format!("{:?} is {:?}, who plays already", name.text, self.names[seat.index()]);
            return Err(mistake(line, &name.span, message, "expected a name that is not taken"));
        }
        if self.names.len() == Party::MAX_PLAYERS {
            let message = format!("there are {} players already", Party::MAX_PLAYERS);
            return Err(mistake(line, &name.span, message, "expected no more players").of(Cause::Full));
        }
        if name.text.chars().count() > MAX_NAME || name.text.chars().any(char::is_control) {
            let expected = format!("expected a name of at most {MAX_NAME} characters");
            return Err(mistake(line, &name.span, "this name can't be used", expected));
        }
        if let Some(party) = &mut self.party {
            match party.join(zombie) {
                Ok(seat) => {
                    let what = What::Joined { seat, private: party.private_report(seat) };
                    self.records.push(Record { line: line.number, what });
                }
                Err(refused) => return Err(self.refuse(line, &refused, &[], &[])),
            }
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
                Err(mistake(line, &line.span, "the game has started", expected).of(Cause::Started))
            }
        }
    }

    fn start(&mut self, line: &Line, counts: &[Word]) -> Result<(), Mistake> {
        self.before_start(line)?;
        self.open(line, counts).map_err(|mistake| mistake.makes(Cause::NotStarted))
    }

    fn open(&mut self, line: &Line, counts: &[Word]) -> Result<(), Mistake> {
        if self.names.len() < 2 {
            let message = format!("a game needs at least two players, and there are {}", self.names.len());
            let expected = "expected HUMAN and ZOMBIE lines before GAME_START";
            let mistake = mistake(line, &line.span, message, expected);
            // Those who were refused are missing.
            return Err(match self.refused("") {
                Some(cause) => mistake.of(cause),
                None => mistake,
            });
        }
        self.count(line, counts)?;
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
        let antidotes = party.classic(seat).map(|known| known.antidotes);
        let taken = match party.antidote(seat) {
            // Older judges took no notice, and neither does the player.
            Err(Refused::NoAntidote { .. }) => Ok(()),
            taken => taken.map(|_| ()),
        };
        let after = party.players()[seat.index()];
        if let Err(refused) = taken {
            return Err(self.refuse(line, &refused, &[seat], &[name]));
        }
        self.records
            .push(Record { line: line.number, what: What::Antidote { seat, before, after, antidotes } });
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
        let without_contact = party.offenders();
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
            // Older judges let the last turn last.
            Err(Refused::Over) if self.rules.is_classic() => Ok(()),
            Err(refused) => Err(self.refuse(line, &refused, &[], &[])),
        }
    }

    fn playing(&mut self, line: &Line) -> Result<&mut Party, Mistake> {
        self.party.as_mut().ok_or_else(|| {
            let expected = "expected HUMAN, ZOMBIE or GAME_START before this";
            let mistake = mistake(line, &line.span, "the game has not started", expected);
            mistake.of(Cause::NotStarted)
        })
    }

    /// Finds a player by their name or the beginning of it.
    fn seat(&self, line: &Line, word: &Word) -> Result<Seat, Mistake> {
        let key = word.text.to_lowercase();
        self.find(&key).map_err(|found| match found {
            Found::Nobody => {
                let message = format!("nobody is called {:?}", word.text);
                let expected = "expected the name of a player, or its beginning";
                let mut mistake = mistake(line, &word.span, message, expected);
                let cause = self.refused(&key).unwrap_or(Cause::Unknown(key));
                // To look at all names takes long: once for each name, and not for a script that is none.
                if self.mistakes.len() < SHOWN && !self.blamed.contains_key(&cause) {
                    let near = nearest(&word.text, self.names.iter().map(String::as_str));
                    mistake.help = near.map(|near| format!("did you mean {near}?"));
                }
                mistake.of(cause)
            }
            Found::Several(names) => {
                let message = format!("{:?} could be {}", word.text, names.join(", "));
                mistake(line, &word.span, message, "expected more of the name").of(Cause::Unknown(key))
            }
        })
    }

    /// Finds a player who could not join and whose name begins with `key`.
    fn refused(&self, key: &str) -> Option<Cause> {
        let (cause, _) = self.blamed.range(Cause::Refused(key.to_owned())..).next()?;
        matches!(cause, Cause::Refused(name) if name.starts_with(key)).then(|| cause.clone())
    }

    /// Finds a player by a name in lower case.
    fn find(&self, key: &str) -> Result<Seat, Found> {
        if let Some(&seat) = self.index.get(key) {
            return Ok(seat);
        }
        let mut starting = self.index.range(key.to_owned()..).take_while(|(name, _)| name.starts_with(key));
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

    /// Makes the mistake for a command that the rules forbid, with names instead of seats.
    fn refuse(&self, line: &Line, refused: &Refused, seats: &[Seat], words: &[&Word]) -> Mistake {
        let name = |seat: &Seat| &self.names[seat.index()];
        let (who, message, expected) = match refused {
            Refused::Over => (None, "the game is over".to_owned(), "expected no more commands"),
            Refused::Full => (None, "the game is full".to_owned(), "expected no more players"),
            Refused::NoLatecomers => {
                (None, "by the classic rules nobody can join late".to_owned(), "expected no more players")
            }
            Refused::NoSuchPlayer { seat } => {
                (Some(seat), "there is no such player".to_owned(), "expected a player")
            }
            Refused::Itself { seat } => {
                (Some(seat), format!("{} can't meet themselves", name(seat)), "expected two players")
            }
            Refused::Again { a, b } => {
                let message = format!("{} and {} have already met in this turn", name(a), name(b));
                (None, message, "expected two who have not met since the last NEXT_TURN")
            }
            Refused::Ended { seat } => {
                let message = format!("{} has ended their turn", name(seat));
                (Some(seat), message, "expected players who have not ended their turn")
            }
            Refused::NoAntidote { seat } => (
                Some(seat),
                format!("{} has no antidote left", name(seat)),
                "expected a player with an antidote",
            ),
            Refused::NoCommitments { seat } => {
                let message =
                    format!("{} commits something, but the classic rules have no commitments", name(seat));
                (Some(seat), message, "expected a name without ! and *")
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
                let message = format!("{} is not a zombie, and only zombies apply viruses", name(seat));
                (Some(seat), message, "expected a zombie")
            }
            Refused::ZeroViruses { seat } => {
                (Some(seat), format!("{} applies no virus", name(seat)), "expected at least *1, or nothing")
            }
            Refused::TooManyViruses { seat, count, has } => {
                let message = format!("{} applies {count} viruses but has {has}", name(seat));
                (Some(seat), message, "expected no more viruses than they have")
            }
        };
        let of = who.and_then(|seat| seats.iter().rposition(|other| other == seat));
        let span = of.map_or(line.span.clone(), |place| words[place].span.clone());
        let mistake = mistake(line, &span, message, expected);
        if *refused == Refused::Over { mistake.of(Cause::Over) } else { mistake }
    }

    /// The names of all players, by seat.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The rules of the game.
    pub fn rules(&self) -> &InfectionRules {
        &self.rules
    }

    /// The state of the game, or `None` before it starts.
    pub fn party(&self) -> Option<&Party> {
        self.party.as_ref()
    }

    /// Whether each player joined as a zombie, by seat.
    pub fn zombies(&self) -> &[bool] {
        &self.zombies
    }

    /// Everything that happened, in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The mistakes in the script, by line.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    /// Finds a player by their name or the beginning of it.
    pub fn player(&self, name: &str) -> Option<Seat> {
        self.find(&name.to_lowercase()).ok()
    }

    /// The players who have met nobody in this turn.
    pub fn without_contact(&self) -> Vec<Seat> {
        self.party.as_ref().map_or(Vec::new(), |party| party.without_contact().collect())
    }
}

/// Why no player has a name.
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
        shared: None,
    }
}

/// The name of a role at the end of the game, for reports.
pub fn role_word(role: Role) -> &'static str {
    match role {
        Role::Human => "human",
        Role::Infected => "infected",
        Role::Zombie => "zombie",
    }
}
