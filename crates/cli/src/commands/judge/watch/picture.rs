//! A script as its file has it now: which lines count, which are wrong, which are unfinished.

use crate::commands::judge::words::{Said, Tone, mistake, said, state};
use necrodome_judge::{
    book::Book,
    script::{Dialect, parse_bytes},
};

/// The current state of a script.
pub struct Picture {
    bytes: Vec<u8>,
    /// All lines that end with a line break.
    pub text: String,
    /// The last line, if it has no line break: somebody may still be typing it, so it does not count yet.
    pub unfinished: String,
    pub book: Book,
    pub dialect: Dialect,
    /// Why the picture may be out of date.
    pub note: Option<String>,
}

impl Picture {
    pub fn of(bytes: Vec<u8>) -> Self {
        let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |place| place + 1);
        let (complete, rest) = bytes.split_at(end);
        let (text, parsed) = parse_bytes(complete);
        let book = Book::of(&parsed);
        let (text, unfinished) = (text.into_owned(), String::from_utf8_lossy(rest).into_owned());
        Picture { text, unfinished, book, dialect: parsed.dialect, note: None, bytes }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns what is wrong or unfinished, one line each.
    pub fn complaints(&self) -> Vec<Said> {
        let mut lines: Vec<Said> = self.note.iter().map(|note| said(Tone::Wrong, note)).collect();
        lines.extend(self.dialect.note().map(|note| said(Tone::Faint, note)));
        lines.extend(self.book.mistakes().iter().map(mistake));
        if !self.unfinished.trim().is_empty() {
            let line = self.text.matches('\n').count() + 1;
            let text = format!("line {line} does not count yet: finish it with a line break");
            lines.push(said(Tone::Faint, text));
        }
        lines
    }

    /// Returns the whole picture as plain lines.
    pub fn lines(&self) -> Vec<Said> {
        let mut lines = state(&self.book);
        lines.extend(self.complaints());
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_a_line_break_does_not_count() {
        let start = "human tim\nhuman kiril\nstart\n";
        for half in ["", "i", "i tim", "i tim kir", "i tim kiril", "  ", "\u{301}"] {
            let picture = Picture::of(format!("{start}{half}").into_bytes());
            assert_eq!(picture.book.records().len(), 1, "{half:?}");
            assert_eq!(picture.book.mistakes(), [], "{half:?}");
            assert_eq!(picture.unfinished, half);
        }
        assert_eq!(Picture::of(format!("{start}i tim kir\n").into_bytes()).book.records().len(), 2);
    }

    #[test]
    fn every_beginning_of_a_script_has_a_picture() {
        let script =
            "human tim\nhuman \"Anna Ö\"\nzombie kiril\nset max_turns 3\nstart\ni t! k*2\nnonsense\nnt\n";
        let whole = Picture::of(script.into());
        assert_eq!(whole.book.mistakes().len(), 2);
        for end in 0..script.len() {
            // Cut anywhere, even inside of a character.
            let picture = Picture::of(script.as_bytes()[..end].to_vec());
            assert!(picture.book.records().len() <= whole.book.records().len());
            assert!(!picture.lines().is_empty());
        }
    }
}
