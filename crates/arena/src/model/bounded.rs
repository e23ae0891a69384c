//! Keeps templates from filling the memory. MiniJinja counts the steps of a template, but one step can double a text: so templates only
//! put texts together by writing them one after the other, and the page on which they write has an end.

use minijinja::{Environment, Error, ErrorKind, value::Value};
use std::io;

/// The longest text that a template makes, in bytes.
pub(super) const LONGEST: usize = 1 << 20;

/// The filters that make nothing much longer than what they are given.
const FILTERS: [&str; 21] = [
    "abs",
    "bool",
    "capitalize",
    "count",
    "default",
    "first",
    "float",
    "int",
    "join",
    "last",
    "length",
    "list",
    "lower",
    "max",
    "min",
    "reverse",
    "round",
    "sort",
    "title",
    "trim",
    "upper",
];

/// The statements of templates.
const STATEMENTS: [&str; 6] = ["for", "endfor", "if", "elif", "else", "endif"];

/// The text that a template has made so far.
#[derive(Debug, Default)]
pub(super) struct Page {
    bytes: Vec<u8>,
    is_full: bool,
}

impl Page {
    /// Whether there was more than the page holds.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_full |= self.bytes.len() + bytes.len() > LONGEST;
        if self.is_full {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes from templates what makes long texts.
pub(super) fn restrict(templates: &mut Environment) {
    templates.remove_global("namespace");
    templates.add_filter("join", join);
}

/// Joins the items of a list, like the filter of MiniJinja, up to the longest text.
fn join(list: Value, between: Option<String>) -> Result<String, Error> {
    let between = between.unwrap_or_default();
    let mut text = String::new();
    for (place, item) in list.try_iter()?.enumerate() {
        let item = item.to_string();
        if text.len() + between.len() + item.len() > LONGEST {
            let why = format!("the text is longer than {} MB", LONGEST >> 20);
            return Err(Error::new(ErrorKind::InvalidOperation, why));
        }
        text += if place > 0 { &between } else { "" };
        text += &item;
    }
    Ok(text)
}

/// Checks that a template has only the statements, filters and operators that cannot make a text from many copies of another.
/// A template that is not well-formed may pass: the parser refuses it.
pub(super) fn check(text: &str) -> Result<(), String> {
    let mut rest = text;
    while let Some(start) = rest.find("{{").into_iter().chain(rest.find("{%")).chain(rest.find("{#")).min() {
        let line = || 1 + text[..text.len() - rest.len() + start].matches('\n').count();
        let (opening, inside) = rest[start..].split_at(2);
        if opening == "{#" {
            rest = inside.find("#}").map_or("", |end| &inside[end + 2..]);
            continue;
        }
        let closing = if opening == "{{" { "}}" } else { "%}" };
        let (words, after) = words(inside, closing);
        refused(&words, opening == "{%").map_or(Ok(()), |why| Err(format!("line {}: {why}", line())))?;
        rest = after;
    }
    Ok(())
}

/// Splits the inside of a tag into words and signs, without the texts in quotes. Returns what follows the tag, too.
fn words<'a>(inside: &'a str, closing: &str) -> (Vec<&'a str>, &'a str) {
    let (mut words, mut rest) = (Vec::new(), inside);
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(closing) {
            return (words, after);
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            '"' | '\'' => {
                let mut is_escaped = false;
                let end = rest[1..].find(|c| {
                    let ends = c == first && !is_escaped;
                    is_escaped = c == '\\' && !is_escaped;
                    ends
                });
                end.map_or(rest.len(), |end| end + 2)
            }
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        if !first.is_whitespace() {
            words.push(word);
        }
        rest = after;
    }
    (words, "")
}

/// Says what is not allowed in a tag.
fn refused(words: &[&str], is_statement: bool) -> Option<String> {
    let mut open = words.iter().skip_while(|word| ["-", "+"].contains(word));
    if let Some(statement) = open.next().filter(|word| is_statement && !STATEMENTS.contains(word)) {
        return Some(format!(
            "prompts have no {{% {statement} %}}: expected one of {}",
            STATEMENTS.join(", ")
        ));
    }
    if is_statement && words.contains(&"recursive") {
        return Some("a loop in a prompt cannot be recursive".to_owned());
    }
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let inner = words.strip_suffix(&["-"]).or_else(|| words.strip_suffix(&["+"])).unwrap_or(words);
    for (place, word) in inner.iter().enumerate() {
        let next = inner.get(place + 1);
        match *word {
            "|" if next.is_none_or(|filter| !FILTERS.contains(filter)) => {
                let filter = next.unwrap_or(&"");
                return Some(format!(
                    "prompts have no filter {filter}: expected one of {}",
                    FILTERS.join(", ")
                ));
            }
            "~" | "*" => {
                return Some(format!(
                    "prompts have no {word}: write texts one after the other, {{{{ a }}}}{{{{ b }}}}"
                ));
            }
            "+" if place > 0 && !next.is_some_and(is_number) => {
                return Some("in prompts, + adds a number: {{ seat + 1 }}".to_owned());
            }
            _ => {}
        }
    }
    None
}
