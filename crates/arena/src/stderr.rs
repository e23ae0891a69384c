//! What a bot writes to standard error. A heading by the arena says to which match the lines below it belong.

/// The most bytes of a log that are kept.
const MOST: usize = 64 << 10;
/// The seed of a match stands in its `start` message, too.
const HEADING: &str = "[necrodome: match with seed ";

/// What was written in one run of a program.
#[derive(Debug, Default)]
pub(crate) struct Stderr {
    text: Vec<u8>,
    /// The match whose heading comes before the next text, after so many more bytes.
    next: Option<(usize, u32)>,
}

impl Stderr {
    /// Begins the lines of a match. `late` bytes of what was written before are still to come. A match in which nothing is written
    /// has no heading.
    pub fn begin_match(&mut self, seed: u32, late: usize) {
        self.next = Some((late, seed));
    }

    /// Adds what the bot has written. What does not fit is thrown away.
    pub fn write(&mut self, mut said: &[u8]) {
        if let Some((late, seed)) = self.next {
            let before;
            (before, said) = said.split_at(late.min(said.len()));
            self.add(before);
            self.next = Some((late - before.len(), seed));
            if said.is_empty() {
                return;
            }
            self.next = None;
            let newline = if self.text.last().is_none_or(|&last| last == b'\n') { "" } else { "\n" };
            self.add(format!("{newline}{HEADING}{seed}]\n").as_bytes());
        }
        self.add(said);
    }

    fn add(&mut self, bytes: &[u8]) {
        let fits = bytes.len().min(MOST.saturating_sub(self.text.len()));
        self.text.extend_from_slice(&bytes[..fits]);
    }

    /// Returns all that was kept.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

/// Returns the lines of a log without the headings of matches.
pub fn lines(log: &str) -> impl Iterator<Item = &str> {
    log.lines().filter(|line| !line.starts_with(HEADING))
}

/// Returns a log as the bot wrote it.
pub(crate) fn without_headings(log: &str) -> String {
    log.split_inclusive('\n').filter(|line| !line.starts_with(HEADING)).collect()
}

/// Returns the heading of a match.
pub(crate) fn heading(seed: u32) -> String {
    format!("{HEADING}{seed}]")
}

/// Returns what was written in the match with this seed, or nothing.
pub(crate) fn of_match(log: &str, seed: u32) -> String {
    let heading = heading(seed);
    let (mut lines, mut inside) = (Vec::new(), false);
    for line in log.lines() {
        match line.starts_with(HEADING) {
            true => inside = line == heading,
            false if inside => lines.push(line),
            false => {}
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_belong_to_the_match_in_which_they_were_written() {
        let mut log = Stderr::default();
        log.write(b"hello\n");
        log.begin_match(7, 0);
        log.write(b"one\nhalf a ");
        // The last bytes of the first match come late.
        log.begin_match(8, 5);
        log.write(b"li");
        log.write(b"ne\nsecond\n");
        log.begin_match(9, 0);
        // A match without a word.
        log.begin_match(10, 0);
        log.write(b"last");
        let text = String::from_utf8(log.text().to_vec()).unwrap();
        assert_eq!(of_match(&text, 7), "one\nhalf a line");
        assert_eq!(of_match(&text, 8), "second");
        assert_eq!(of_match(&text, 9), "");
        assert_eq!(of_match(&text, 10), "last");
        assert_eq!(without_headings("a\n[necrodome: match with seed 7]\nb\n\nc"), "a\nb\n\nc");
        assert_eq!(lines(&text).collect::<Vec<_>>(), ["hello", "one", "half a line", "second", "last"]);
    }

    #[test]
    fn who_says_nothing_has_no_log_and_who_says_much_a_short_one() {
        let mut log = Stderr::default();
        log.begin_match(1, 3);
        log.write(b"abc");
        assert_eq!(log.text(), b"abc");
        let mut log = Stderr::default();
        log.begin_match(1, 0);
        log.write(b"");
        assert_eq!(log.text(), b"");
        log.write(&[b'x'; MOST]);
        log.begin_match(2, 0);
        log.write(b"more");
        assert_eq!(log.text().len(), MOST);
    }
}
