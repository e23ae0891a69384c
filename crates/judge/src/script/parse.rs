//! Turns text into commands. Every line is parsed separately, so that a mistake affects only its own line.

use super::{Cause, Command, KEYWORDS, Keyword, Line, Mistake, Script, Side, Word, nearest};
use necrodome_rules::infection::Commitment;
use serde::Serialize;
use std::{
    borrow::Cow,
    fs::File,
    io::{self, ErrorKind, Read},
    ops::Range,
    path::Path,
};
use winnow::{
    LocatingSlice, ModalResult, Parser,
    ascii::digit0,
    combinator::{alt, opt, preceded, repeat, terminated},
    token::{rest, take_till, take_while},
};

/// The result of parsing a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parsed {
    /// The lines that make sense.
    pub script: Script,
    /// The mistakes in the other lines, in order.
    pub mistakes: Vec<Mistake>,
    /// The judge that the text was written for.
    pub dialect: Dialect,
}

/// The judge that a script or a set-up was written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// This one.
    #[default]
    Current,
    /// The judge of the classic rules: the game starts with counts, or by itself, and never ends by itself.
    Older,
}

impl Dialect {
    /// A note for the user about a file in this dialect, in one line, if there is anything to say.
    pub fn note(self) -> Option<&'static str> {
        (self == Dialect::Older).then_some("written for an older judge: the classic rules apply")
    }

    /// Recognises the dialect of a script. No older script sets options. Older judges wrote such help into their scripts, and
    /// read counts after `GAME_START`.
    fn of(script: &Script) -> Self {
        let commands = || script.lines.iter().filter_map(|line| line.command.as_ref());
        let sets = commands().any(|command| matches!(command, Command::Set { .. }));
        let counts =
            commands().any(|command| matches!(command, Command::Start(counts) if !counts.is_empty()));
        let help = |line: &Line| line.comment.as_ref().is_some_and(|comment| comment.contains("<player>"));
        if !sets && (counts || script.lines.iter().any(help)) { Dialect::Older } else { Dialect::Current }
    }
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    /// A name in quotes.
    Quoted(&'a str),
    /// A quote that is not closed.
    Unclosed,
    /// Precaution.
    Bang,
    /// Viruses, with their number as it was written.
    Star(&'a str),
}

type Input<'a> = LocatingSlice<&'a str>;

fn is_special(c: char) -> bool {
    c.is_whitespace() || matches!(c, '!' | '*' | '#' | '"')
}

fn quoted<'a>(input: &mut Input<'a>) -> ModalResult<Token<'a>> {
    let (text, closed) = preceded('"', (take_till(0.., '"'), opt('"'))).parse_next(input)?;
    Ok(if closed.is_some() { Token::Quoted(text) } else { Token::Unclosed })
}

fn token<'a>(input: &mut Input<'a>) -> ModalResult<(Token<'a>, Range<usize>)> {
    alt((
        quoted,
        '!'.value(Token::Bang),
        preceded('*', digit0).map(Token::Star),
        take_till(1.., is_special).map(Token::Word),
    ))
    .with_span()
    .parse_next(input)
}

fn space<'a>(input: &mut Input<'a>) -> ModalResult<&'a str> {
    take_while(0.., char::is_whitespace).parse_next(input)
}

type Tokens<'a> = (Vec<(Token<'a>, Range<usize>)>, Option<&'a str>);

/// Splits a line into tokens and its comment.
fn tokens<'a>(input: &mut Input<'a>) -> ModalResult<Tokens<'a>> {
    let pieces = preceded(space, repeat(0.., terminated(token, space)));
    (pieces, opt(preceded('#', rest))).parse_next(input)
}

/// The largest script, and its longest line, in bytes. The script of a long evening has a few thousand short lines.
const MAX_SCRIPT: u64 = 4 << 20;
const MAX_LINE: usize = 20_000;

/// Reads a script or a set-up. A file that can't be one, because of its size or because it isn't text, is a single error.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let refuse = |why: String| Err(io::Error::new(ErrorKind::InvalidData, why));
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_SCRIPT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_SCRIPT {
        return refuse(format!("the file is too large: expected at most {} MB", MAX_SCRIPT >> 20));
    }
    if let Some(place) = binary(&bytes) {
        let why =
            format!("this is not a script: expected lines of text, got binary data at byte {}", place + 1);
        return refuse(why);
    }
    match bytes.split(|&byte| byte == b'\n').position(|line| line.len() > MAX_LINE) {
        Some(line) => refuse(format!("line {} is too long: expected at most {MAX_LINE} bytes", line + 1)),
        None => Ok(bytes),
    }
}

/// The place where a file shows that it isn't text: a byte 0, which no text has, or the first byte outside UTF-8 if there are
/// too many of those for a text in an old encoding.
fn binary(bytes: &[u8]) -> Option<usize> {
    let zero = bytes.iter().position(|&byte| byte == 0);
    zero.or_else(|| {
        let broken: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
        let first = bytes.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
        (broken * MOST_BROKEN > bytes.len()).then_some(first)
    })
}

/// The share of bytes outside UTF-8 that text in an old encoding stays below: one in this many.
const MOST_BROKEN: usize = 4;

/// Parses a script. Bytes that are not text are shown as such, and make their line a mistake if they stand in a command.
pub fn parse_bytes(bytes: &[u8]) -> (Cow<'_, str>, Parsed) {
    let text = String::from_utf8_lossy(bytes);
    let parsed = parse(&text);
    (text, parsed)
}

/// Parses a script.
pub fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    let mut start = 0;
    for (number, line) in (1..).zip(text.split('\n')) {
        // A byte order mark is no part of the first command.
        let skipped = if number == 1 && line.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let content = line[skipped..].strip_suffix('\r').unwrap_or(&line[skipped..]);
        match parse_line(content, number, start + skipped) {
            Ok(line) => parsed.script.lines.push(line),
            Err(mistake) => parsed.mistakes.push(mistake),
        }
        start += line.len() + 1;
    }
    // What follows the last line break is no line of its own if there is nothing.
    if text.ends_with('\n') || text.is_empty() {
        parsed.script.lines.pop();
    }
    parsed.dialect = Dialect::of(&parsed.script);
    parsed
}

/// The rest of a line while it is parsed.
struct Rest<'a> {
    tokens: std::vec::IntoIter<(Token<'a>, Range<usize>)>,
    text: &'a str,
    number: usize,
    /// The place of the line in the whole text.
    start: usize,
    /// The end of what has been parsed, in the line.
    end: usize,
}

fn parse_line(text: &str, number: usize, start: usize) -> Result<Line, Mistake> {
    // Every character is part of some piece, so this cannot fail.
    let (tokens, comment) = tokens.parse_next(&mut LocatingSlice::new(text)).unwrap_or_default();
    let first = tokens.first().map_or(0, |(_, span)| span.start);
    let last = tokens.last().map_or(first, |(_, span)| span.end);
    let mut rest = Rest { tokens: tokens.into_iter(), text, number, start, end: 0 };
    let command = rest.command()?;
    Ok(Line {
        number,
        span: start + first..start + last,
        command,
        comment: comment.map(|comment| comment.trim_end().to_owned()),
        start,
        text: text.to_owned(),
    })
}

impl<'a> Rest<'a> {
    fn next(&mut self) -> Option<(Token<'a>, Range<usize>)> {
        let next = self.tokens.next()?;
        self.end = next.1.end;
        Some(next)
    }

    fn mistake(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> Mistake {
        Mistake {
            line: self.number,
            column: 1 + self.text[..span.start].chars().count(),
            span: self.start + span.start..self.start + span.end,
            message: message.into(),
            expected: expected.into(),
            help: None,
            shared: None,
        }
    }

    /// Makes the mistake for a line that ends too early.
    fn missing(&self, expected: &str) -> Mistake {
        let end = self.end;
        self.mistake(end..end, "the line ends too early", format!("expected {expected}"))
    }

    fn command(&mut self) -> Result<Option<Command>, Mistake> {
        let Some((token, span)) = self.next() else { return Ok(None) };
        let Token::Word(word) = token else {
            let mistake = self.mistake(span, "this is no command", "expected a command such as INTERACT");
            return Err(mistake);
        };
        let name = match self.tokens.as_slice().first() {
            Some((Token::Word(name) | Token::Quoted(name), _)) => Some(name.to_lowercase()),
            _ => None,
        };
        let refused = |keyword, mistake: Mistake| match (keyword, name) {
            (Keyword::Start, _) => mistake.makes(Cause::NotStarted),
            (Keyword::Human | Keyword::Zombie, Some(name)) => mistake.makes(Cause::Refused(name)),
            _ => mistake,
        };
        let written = |forms: &[&str]| forms.iter().any(|form| form.eq_ignore_ascii_case(word));
        let Some((keyword, _)) = KEYWORDS.iter().find(|(_, forms)| written(forms)) else {
            let all = KEYWORDS.iter().flat_map(|(_, forms)| forms.iter().copied());
            let mut mistake = self.mistake(
                span,
                format!("there is no command {word:?}"),
                "expected HUMAN, ZOMBIE, GAME_START, INTERACT (i), ANTIDOTE (a), END (e) or NEXT_TURN (nt)",
            );
            let Some(near) = nearest(word, all.filter(|form| form.len() > 2)) else { return Err(mistake) };
            mistake.help = Some(format!("did you mean {near}?"));
            let meant = KEYWORDS.iter().find(|(_, forms)| forms[0] == near);
            return Err(match meant {
                Some((keyword, _)) => refused(*keyword, mistake),
                None => mistake,
            });
        };
        self.arguments(*keyword).map(Some).map_err(|mistake| refused(*keyword, mistake))
    }

    /// Parses what follows the first word of a command.
    fn arguments(&mut self, keyword: Keyword) -> Result<Command, Mistake> {
        let command = match keyword {
            Keyword::Set => {
                let option = self.name("an option of the rules")?;
                Command::Set { option, value: self.name("its value")? }
            }
            Keyword::Human => Command::Human(self.name("the player's name")?),
            Keyword::Zombie => Command::Zombie(self.name("the player's name")?),
            Keyword::Start => Command::Start(self.counts()),
            Keyword::Interact => {
                let one = self.side("who meets somebody")?;
                Command::Interact(one, self.side("whom they meet")?)
            }
            Keyword::Antidote => Command::Antidote(self.name("who takes the antidote")?),
            Keyword::End => Command::End(self.name("who ends their turn")?),
            Keyword::NextTurn => Command::NextTurn,
        };
        match self.next() {
            None => Ok(command),
            Some((Token::Bang | Token::Star(_), span)) => Err(self.mistake(
                span,
                "only who meets somebody commits anything",
                "expected the end of the line",
            )),
            Some((_, span)) => {
                let mut mistake =
                    self.mistake(span, "there is too much in this line", "expected the end of the line");
                mistake.help = Some("names with spaces stand in quotes, comments begin with #".into());
                Err(mistake)
            }
        }
    }

    /// Parses all words up to the end of the line.
    fn counts(&mut self) -> Vec<Word> {
        let mut counts = Vec::new();
        while let Some(&(Token::Word(text), _)) = self.tokens.as_slice().first() {
            let Some((_, span)) = self.next() else { break };
            counts.push(Word { text: text.to_owned(), span: self.start + span.start..self.start + span.end });
        }
        counts
    }

    fn name(&mut self, expected: &str) -> Result<Word, Mistake> {
        let Some((token, span)) = self.next() else { return Err(self.missing(expected)) };
        let text = match token {
            Token::Word(text) => text,
            Token::Quoted(text) if !text.trim().is_empty() => text,
            Token::Unclosed => {
                return Err(self.mistake(
                    span,
                    "the quotes are not closed",
                    "expected \" at the end of the name",
                ));
            }
            _ => return Err(self.mistake(span, "this is no name", format!("expected {expected}"))),
        };
        Ok(Word { text: text.to_owned(), span: self.start + span.start..self.start + span.end })
    }

    fn side(&mut self, expected: &str) -> Result<Side, Mistake> {
        let name = self.name(expected)?;
        let mut commit = Commitment::None;
        while let Some((Token::Bang | Token::Star(_), _)) = self.tokens.as_slice().first() {
            let Some((token, span)) = self.next() else { break };
            if commit != Commitment::None {
                let expected = "expected ! (precaution) or * and a number (viruses), once";
                return Err(self.mistake(span, "one side commits one thing", expected));
            }
            commit = match token {
                Token::Star(digits) => {
                    let Ok(count) = digits.parse() else {
                        let expected = "expected a number of viruses, such as *2";
                        return Err(self.mistake(span, "how many viruses?", expected));
                    };
                    Commitment::Virus { count }
                }
                _ => Commitment::Precaution,
            };
        }
        Ok(Side { name, commit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<String> {
        let parsed = parse(text);
        assert_eq!(parsed.mistakes, [], "{text:?}");
        parsed.script.lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn short_and_long_forms_mean_the_same() {
        let text = "i tim kiril\nTOUCH Tim! KIRIL*2\nt tim ! kiril *2 # why\n a tim\ne \"Anna Maria\"\nnr\n";
        assert_eq!(
            commands(text),
            [
                "INTERACT tim kiril",
                "INTERACT Tim! KIRIL*2",
                "INTERACT tim! kiril*2 # why",
                "ANTIDOTE tim",
                "END \"Anna Maria\"",
                "NEXT_TURN"
            ]
        );
        assert_eq!(
            commands("set max_turns 9\r\nh a\r\nz b\r\nstart"),
            ["SET max_turns 9", "HUMAN a", "ZOMBIE b", "GAME_START"]
        );
        assert_eq!(commands("\n  \n# only this\n"), ["", "", "# only this"]);
        assert_eq!(commands("\u{feff}nt"), ["NEXT_TURN"]);
        assert_eq!(commands(""), [""; 0]);
    }

    #[test]
    fn mistakes_say_where_and_what_was_expected() {
        for (line, column, message, expected) in [
            ("intract a b", 1, "there is no command \"intract\"", "expected HUMAN"),
            ("i tim", 6, "the line ends too early", "expected whom they meet"),
            ("i", 2, "the line ends too early", "expected who meets somebody"),
            ("i tim kiril olga", 13, "there is too much in this line", "expected the end of the line"),
            ("i tim!*2 kiril", 7, "one side commits one thing", "once"),
            ("i tim* kiril", 6, "how many viruses?", "such as *2"),
            ("i tim*99999999999 kiril", 6, "how many viruses?", "such as *2"),
            ("a tim!", 6, "only who meets somebody commits anything", "expected the end of the line"),
            ("e \"tim", 3, "the quotes are not closed", "expected \""),
            ("e \" \"", 3, "this is no name", "expected who ends their turn"),
            ("! i", 1, "this is no command", "expected a command"),
            ("i ü ö ä", 7, "there is too much in this line", "expected the end of the line"),
        ] {
            let parsed = parse(&format!("nt\n{line}\nnt\n"));
            assert_eq!(parsed.script.lines.len(), 2, "{line}");
            let [mistake] = parsed.mistakes.as_slice() else { panic!("{line}: {:?}", parsed.mistakes) };
            assert_eq!(
                (mistake.line, mistake.column, mistake.message.as_str()),
                (2, column, message),
                "{line}"
            );
            assert!(mistake.expected.contains(expected), "{line}: {}", mistake.expected);
        }
        assert_eq!(parse("intract a b").mistakes[0].help.as_deref(), Some("did you mean INTERACT?"));
    }

    #[test]
    fn bytes_that_are_no_text_are_a_mistake_of_their_line() {
        let (text, parsed) = parse_bytes(b"nt\n\xff\xfe a\nnt");
        assert_eq!(text.lines().count(), 3);
        assert_eq!((parsed.mistakes.len(), parsed.mistakes[0].line), (1, 2));
        assert_eq!(parsed.script.lines.len(), 2);
    }
}
