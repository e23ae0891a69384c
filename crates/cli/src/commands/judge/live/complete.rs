//! Completes the beginning of a command or a name.

use super::desk::{WORDS, after_words};
use necrodome_judge::{book::Book, script};
use necrodome_rules::{infection::InfectionRules, options};

/// The possible completions of what is typed.
#[derive(Debug, PartialEq, Eq)]
pub struct Completion {
    /// Where the last word begins, in bytes.
    pub from: usize,
    /// All words that it could become.
    pub candidates: Vec<String>,
}

impl Completion {
    /// Returns what is typed, completed as far as all candidates agree.
    pub fn apply(&self, typed: &str) -> String {
        let kept = typed.get(..self.from).unwrap_or(typed);
        match self.candidates.as_slice() {
            [] => typed.to_owned(),
            [one] => format!("{kept}{one} "),
            several => {
                let word = typed.get(self.from..).unwrap_or("");
                let common = common(several);
                if common.chars().count() > word.chars().count() {
                    format!("{kept}{common}")
                } else {
                    typed.to_owned()
                }
            }
        }
    }
}

/// Returns the common beginning of all words, regardless of case.
fn common(words: &[String]) -> String {
    let Some((first, others)) = words.split_first() else { return String::new() };
    let same = |place: usize, letter: char| {
        let equal = |other: char| other.to_lowercase().eq(letter.to_lowercase());
        others.iter().all(|word| word.chars().nth(place).is_some_and(equal))
    };
    first.chars().enumerate().take_while(|&(place, letter)| same(place, letter)).map(|(_, c)| c).collect()
}

/// Completes what is typed up to the cursor.
pub fn complete(book: &Book, typed: &str) -> Completion {
    let from = last_word(typed);
    let word = &typed[from..];
    let mut before = typed[..from].trim_start();
    let two: Vec<String> = before.split_whitespace().take(2).map(str::to_lowercase).collect();
    let what_if = two == ["what", "if"];
    if what_if {
        before = after_words(before, 2);
    }
    let mut words = before.split_whitespace();
    let candidates = match words.next().map(str::to_lowercase).as_deref() {
        None => {
            let own = WORDS.iter().copied().filter(|_| !what_if);
            starting(script::commands().chain(own), word)
        }
        Some("set") if words.next().is_none() => {
            let infos = options::describe::<InfectionRules>();
            starting(infos.iter().map(|info| info.name.as_str()), word)
        }
        Some("what") if two == ["what"] => starting(["if"].into_iter(), word),
        Some("interact" | "touch" | "i" | "t" | "antidote" | "a" | "end" | "e") => {
            let bare = word.trim_start_matches('"');
            let names = starting(book.names().iter().map(String::as_str), bare);
            names.into_iter().map(quoted).collect()
        }
        Some(_) => Vec::new(),
    };
    Completion { from, candidates }
}

fn starting<'a>(words: impl Iterator<Item = &'a str>, beginning: &str) -> Vec<String> {
    let beginning = beginning.to_lowercase();
    words.filter(|word| word.to_lowercase().starts_with(&beginning)).map(str::to_owned).collect()
}

/// Returns where the last word begins; a name in open quotes is one word.
fn last_word(typed: &str) -> usize {
    let mut start = 0;
    let mut open = false;
    for (place, letter) in typed.char_indices() {
        if letter == '"' {
            open = !open;
            if open {
                start = place;
            }
        } else if letter.is_whitespace() && !open {
            start = place + letter.len_utf8();
        }
    }
    start
}

fn quoted(name: String) -> String {
    let special = |c: char| c.is_whitespace() || matches!(c, '!' | '*' | '#');
    if name.contains(special) { format!("\"{name}\"") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_judge::script::parse;

    fn completed(typed: &str) -> (String, Vec<String>) {
        let book = Book::of(&parse("human Tim\nhuman tom\nzombie \"Anna Maria\"\nhuman Öl\nstart\n"));
        let completion = complete(&book, typed);
        (completion.apply(typed), completion.candidates)
    }

    #[test]
    fn commands_names_and_options_are_completed() {
        assert_eq!(completed("int").0, "INTERACT ");
        assert_eq!(completed("und").0, "undo ");
        assert_eq!(
            completed("wh"),
            ("wh".to_owned(), ["who", "what if", "whisper"].map(str::to_owned).to_vec())
        );
        assert_eq!(completed("i ti").0, "i Tim ");
        assert_eq!(completed("i t"), ("i t".to_owned(), vec!["Tim".to_owned(), "tom".to_owned()]));
        assert_eq!(completed("i tim an").0, "i tim \"Anna Maria\" ");
        assert_eq!(completed("i tim \"anna m").0, "i tim \"Anna Maria\" ");
        assert_eq!(completed("what if e ö").0, "what if e Öl ");
        assert_eq!(completed("what if un").0, "what if un");
        assert_eq!(completed("what i").0, "what if ");
        assert_eq!(completed("set max").0, "set max_turns ");
        assert_eq!(completed("n").0, "NEXT_TURN ");
    }

    #[test]
    fn what_cannot_be_completed_stays() {
        for typed in ["", "human t", "i tim! zzz", "set max_turns 1", "i \"", "\"", "ß i", "# tim", "what"] {
            let (after, _) = completed(typed);
            assert!(after.starts_with(typed) || typed == "what", "{typed:?}: {after:?}");
        }
    }
}
