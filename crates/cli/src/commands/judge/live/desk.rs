//! The judge's commands and their effects, the same at a prompt on the screen and in plain text.

use super::paper::{Change, Paper};
use crate::{
    commands::judge::words::{
        Said, Tone, alone, complaint, effects, mistake, progress, said, state, whispers,
    },
    error::{Error, ExitKind},
};
use necrodome_judge::{
    book::Book,
    report,
    script::{Command, Line, Mistake, Parsed, Word, parse, parse_bytes},
};
use std::{collections::BTreeSet, io, path::Path};

/// The commands besides those of the script.
pub const WORDS: [&str; 9] = ["undo", "redo", "who", "what if", "whisper", "state", "public", "help", "quit"];

pub const HELP: &str = "\
The game:   HUMAN name, ZOMBIE name, SET option value, GAME_START
            INTERACT a b (i), ANTIDOTE a (a), END a (e), NEXT_TURN (nt)
            i tim! kiril*2: tim takes a precaution, kiril applies two viruses
            names can be shortened; names with spaces stand in quotes; # begins a comment
Looking:    who: who has not met anyone yet
            what if i tim kiril*2: what it would do, without doing it
            state: who is what; public: what may be read aloud
Telling:    whisper: what each player may know, one after the other
Mending:    undo: takes back the last command; redo: does it again
            quit: leaves; everything is in the script already";

/// The reply to what the judge typed.
#[derive(Debug, Default)]
pub struct Reply {
    pub lines: Vec<Said>,
    pub then: Then,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Then {
    #[default]
    Next,
    /// The same input again: it was not carried out, although nothing is wrong with it.
    Again,
    /// The judge tells each player what they may know.
    Whisper,
    Leave,
}

/// How a command changes the script.
enum Writes {
    Line,
    Undo,
    Redo,
}

/// A game that is being judged.
pub struct Desk {
    paper: Paper,
    book: Book,
    /// The lines that were taken back, each with its place. The last one is the first to be restored.
    undone: Vec<(usize, Vec<u8>)>,
    /// Whether the judge was just asked whether to take back GAME_START.
    asked: bool,
}

impl Desk {
    /// Opens a script, or begins one, and says where the game stands.
    pub fn open(path: &Path) -> Result<(Self, Vec<Said>), Error> {
        let paper = Paper::open(path)?;
        let (_, parsed) = parse_bytes(paper.bytes());
        let desk = Desk { book: Book::of(&parsed), paper, undone: Vec::new(), asked: false };
        let what = if desk.paper.bytes().is_empty() { "a new script" } else { "goes on" };
        let mut lines =
            vec![said(Tone::Heading, format!("{}: {what}, {}", path.display(), progress(&desk.book)))];
        lines.extend(parsed.dialect.note().map(|note| said(Tone::Announce, note)));
        lines.extend(desk.complaints());
        if desk.paper.is_unfinished() {
            let text = "the last line has no line break: it counts, but check that it is complete";
            lines.push(said(Tone::Wrong, text));
        }
        Ok((desk, lines))
    }

    pub fn book(&self) -> &Book {
        &self.book
    }

    pub fn path(&self) -> &Path {
        self.paper.path()
    }

    /// Returns the mistakes of the script, which the desk leaves alone.
    fn complaints(&self) -> Vec<Said> {
        let mut lines: Vec<Said> = self.book.mistakes().iter().map(mistake).collect();
        if !lines.is_empty() {
            lines.push(said(Tone::Wrong, "these lines don't count; they are left as they are"));
        }
        lines
    }

    /// Reads the changes that others have made to the script.
    pub fn refresh(&mut self) -> Result<Vec<Said>, Error> {
        match self.paper.look() {
            // An editor that replaces the script takes it away for a moment.
            Ok(Change::None | Change::Gone) => Ok(Vec::new()),
            Ok(Change::Written) => {
                self.undone.clear();
                self.book = read(self.paper.bytes()).1;
                let text = format!("somebody else has changed the script: {}", progress(&self.book));
                let mut lines = vec![said(Tone::Wrong, text)];
                lines.extend(self.complaints());
                Ok(lines)
            }
            Err(error) if error.kind == ExitKind::InUse => Err(error),
            // It may come back; until then nothing can be written.
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Writes the script again if it has disappeared, before anything is added to it.
    fn ensure(&mut self) -> io::Result<Vec<Said>> {
        match self.paper.look() {
            Ok(Change::Gone) => {
                self.paper.replace(self.paper.bytes().to_vec())?;
                Ok(vec![said(Tone::Wrong, "the script was gone: it has been written again, complete")])
            }
            Ok(_) => Ok(Vec::new()),
            Err(error) => Err(io::Error::other(error.what)),
        }
    }

    /// Carries out what the judge typed. Its effects are on the disk when this returns.
    pub fn command(&mut self, typed: &str) -> Result<Reply, Error> {
        let news = self.refresh()?;
        let changed = !news.is_empty();
        let mut answer = Reply { lines: news, then: Then::Next };
        let typed = typed.trim();
        let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let asked = std::mem::take(&mut self.asked) && !changed;
        let writes = match words.as_slice() {
            [] => return Ok(answer),
            ["quit" | "exit" | "q"] => {
                answer.then = Then::Leave;
                return Ok(answer);
            }
            ["help" | "?"] => {
                answer.lines.extend(HELP.lines().map(|line| said(Tone::Plain, line)));
                return Ok(answer);
            }
            ["state"] => {
                answer.lines.extend(state(&self.book));
                return Ok(answer);
            }
            ["whisper" | "whispers"] => {
                if whispers(&self.book).is_empty() {
                    answer
                        .lines
                        .push(said(Tone::Plain, "there is nothing to whisper before the game starts"));
                } else {
                    answer.then = Then::Whisper;
                }
                return Ok(answer);
            }
            ["public"] => {
                answer.lines.extend(announced(&self.book));
                return Ok(answer);
            }
            ["who", ..] => {
                answer.lines.push(alone(&self.book));
                return Ok(answer);
            }
            ["what", "if", ..] => {
                answer.lines.extend(self.what_if(after_words(typed, 2)));
                return Ok(answer);
            }
            ["undo"] if !changed && self.undo_ends_game() => {
                self.asked = true;
                let text = "that takes back GAME_START, and the game with it: type yes if you mean it";
                answer.lines.push(said(Tone::Wrong, text));
                return Ok(answer);
            }
            ["yes"] if asked => Writes::Undo,
            ["undo"] => Writes::Undo,
            ["redo"] => Writes::Redo,
            _ => Writes::Line,
        };
        if changed {
            let text = "your command was not carried out: look at the change, then give it again";
            answer.lines.push(said(Tone::Wrong, text));
            answer.then = Then::Again;
            return Ok(answer);
        }
        match self.ensure() {
            Ok(news) => answer.lines.extend(news),
            Err(error) => return Ok(unwritten(&error)),
        }
        let done = match writes {
            Writes::Line => self.write(typed),
            Writes::Undo => self.undo(),
            Writes::Redo => self.redo(),
        };
        answer.lines.extend(done.lines);
        Ok(answer)
    }

    /// Carries out a line of the script and appends it.
    fn write(&mut self, typed: &str) -> Reply {
        let line = match self.understand(typed) {
            Ok(Some(line)) => line,
            Ok(None) => return Reply::default(),
            Err(mistake) => return one_line(refused(&mistake)),
        };
        let mut next = self.book.clone();
        if let Err(mistake) = next.write(&line) {
            return one_line(refused(&mistake));
        }
        if let Err(error) = self.paper.append(&line.to_string()) {
            return unwritten(&error);
        }
        self.undone.clear();
        let lines = done(&self.book, &next, &line);
        self.book = next;
        Reply { lines, then: Then::Next }
    }

    /// Parses a line as if it stood at the end of the script, and writes out all names.
    fn understand(&self, typed: &str) -> Result<Option<Line>, Mistake> {
        let Parsed { script, mistakes, .. } = parse(typed);
        if let Some(mut mistake) = mistakes.into_iter().next() {
            let first = typed.split_whitespace().next().unwrap_or_default().to_lowercase();
            let near = |word: &&&str| strsim::jaro_winkler(&first, word) > 0.85;
            if let (None, Some(word)) = (&mistake.help, WORDS.iter().find(near)) {
                mistake.help = Some(format!("did you mean {word}?"));
            }
            return Err(mistake);
        }
        let Some(mut line) = script.lines.into_iter().next() else { return Ok(None) };
        line.number = self.paper.next_line();
        let spell = |word: &mut Word| {
            if let Some(seat) = self.book.player(&word.text) {
                word.text.clone_from(&self.book.names()[seat.index()]);
            }
        };
        match &mut line.command {
            Some(Command::Interact(one, other)) => {
                spell(&mut one.name);
                spell(&mut other.name);
            }
            Some(Command::Antidote(name) | Command::End(name)) => spell(name),
            _ => {}
        }
        Ok(Some(line))
    }

    /// Says what a line would do.
    fn what_if(&self, typed: &str) -> Vec<Said> {
        let mut next = self.book.clone();
        let line = match self.understand(typed) {
            Ok(Some(line)) if line.command.is_some() => line,
            Ok(_) => return vec![said(Tone::Wrong, "what if what? Such as: what if i tim kiril*2")],
            Err(mistake) => return vec![refused(&mistake)],
        };
        let mut lines = vec![said(Tone::Heading, format!("if {line}"))];
        match next.write(&line) {
            Ok(()) => lines.extend(done(&self.book, &next, &line)),
            Err(mistake) => lines.push(refused(&mistake)),
        }
        lines.push(said(Tone::Faint, "nothing was done"));
        lines
    }

    /// Returns the last line that counts.
    fn last_line(&self) -> Option<Line> {
        let (parsed, _) = read(self.paper.bytes());
        let wrong = wrong_lines(&self.book);
        let counts = |line: &Line| line.command.is_some() && !wrong.contains(&line.number);
        parsed.script.lines.into_iter().rev().find(counts)
    }

    fn undo_ends_game(&self) -> bool {
        self.last_line().is_some_and(|line| matches!(line.command, Some(Command::Start(_))))
    }

    /// Takes back the last line that counts. Comments and mistakes stay.
    fn undo(&mut self) -> Reply {
        let Some(last) = self.last_line() else {
            return one_line(said(Tone::Plain, "there is nothing to take back"));
        };
        let mut lines = split(self.paper.bytes());
        let place = last.number - 1;
        if place >= lines.len() {
            return one_line(said(Tone::Plain, "there is nothing to take back"));
        }
        let taken = lines.remove(place);
        if let Err(error) = self.paper.replace(lines.concat()) {
            return unwritten(&error);
        }
        self.undone.push((place, taken));
        self.again(format!("taken back: {}", tame(&last.to_string())))
    }

    /// Restores the line that was taken back last.
    fn redo(&mut self) -> Reply {
        let Some((place, taken)) = self.undone.last() else {
            return one_line(said(Tone::Plain, "there is nothing to do again"));
        };
        let mut lines = split(self.paper.bytes());
        let mut line = taken.clone();
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        lines.insert((*place).min(lines.len()), line);
        if let Err(error) = self.paper.replace(lines.concat()) {
            return unwritten(&error);
        }
        self.undone.pop();
        self.again(format!("done again: {}", tame(&text)))
    }

    /// Replays the script from its start, after a change.
    fn again(&mut self, what: String) -> Reply {
        let before = std::mem::replace(&mut self.book, read(self.paper.bytes()).1);
        let mut lines = vec![said(Tone::Plain, what)];
        if progress(&before) != progress(&self.book) {
            lines.push(said(Tone::Heading, format!("now: {}", progress(&self.book))));
        }
        // One line less can make sense of another, or take it away.
        if wrong_lines(&before).len() != wrong_lines(&self.book).len() {
            lines.push(said(Tone::Wrong, "other lines of the script mean something else now:"));
            lines.extend(self.complaints());
        }
        Reply { lines, then: Then::Next }
    }
}

fn read(bytes: &[u8]) -> (Parsed, Book) {
    let (_, parsed) = parse_bytes(bytes);
    let book = Book::of(&parsed);
    (parsed, book)
}

fn wrong_lines(book: &Book) -> BTreeSet<usize> {
    book.mistakes().iter().flat_map(Mistake::lines).collect()
}

fn split(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// Returns the rest of a text after its first `count` words.
pub fn after_words(text: &str, count: usize) -> &str {
    (0..count).fold(text.trim_start(), |rest, _| {
        rest.find(char::is_whitespace).map_or("", |end| rest[end..].trim_start())
    })
}

/// Replaces control characters: a script can contain anything, and a terminal must not obey it.
fn tame(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn one_line(line: Said) -> Reply {
    Reply { lines: vec![line], then: Then::Next }
}

fn refused(mistake: &Mistake) -> Said {
    said(Tone::Wrong, format!("refused, column {}: {}", mistake.column, complaint(mistake)))
}

fn unwritten(error: &io::Error) -> Reply {
    one_line(said(Tone::Wrong, format!("not done: the script can't be written: {error}")))
}

fn announced(book: &Book) -> Vec<Said> {
    let public = report::public(book);
    if public.is_empty() {
        return vec![said(Tone::Plain, "nothing has been announced yet")];
    }
    public.lines().filter(|line| !line.is_empty()).map(|line| said(Tone::Announce, line)).collect()
}

/// Says what a line did to the book.
fn done(before: &Book, after: &Book, line: &Line) -> Vec<Said> {
    let plain = |text: String| vec![said(Tone::Plain, text)];
    match &line.command {
        None => plain("noted".to_owned()),
        Some(Command::Human(name)) => plain(format!("{} joins as a human; {}", name.text, progress(after))),
        Some(Command::Zombie(name)) => plain(format!("{} joins as a zombie; {}", name.text, progress(after))),
        Some(Command::Set { option, value }) => plain(format!("{} is {}", option.text, value.text)),
        Some(_) => {
            let new = &after.records()[before.records().len()..];
            if new.is_empty() {
                return plain("the turn was over already".to_owned());
            }
            effects(after, new)
        }
    }
}
