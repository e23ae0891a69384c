//! Converts the scripts and set-ups of an older judge into those of this one.

use crate::{
    book::{Book, OLDER},
    config::{Config, ConfigError, keys, today},
    script::{Command, Dialect, Line, Mistake, Parsed, Script, set},
};
use serde_saphyr::Location;
use std::collections::BTreeSet;

/// Converts an older script: the rules are set by name, and the game starts with a line of its own. Lines that
/// do not count are left out.
pub fn script(parsed: &Parsed, book: &Book) -> Script {
    let mut script = Script::default();
    let mut push = |command: Option<Command>, comment: Option<String>| {
        let number = script.next_number();
        script.lines.push(Line::new(number, command, comment));
    };
    push(None, Some(" Converted from the script of an older judge.".to_owned()));
    set(book.rules()).for_each(|command| push(Some(command), None));
    let left_out: BTreeSet<usize> = book.mistakes().iter().flat_map(Mistake::lines).collect();
    let started = book.records().first().map(|record| record.line);
    for Line { number, command, comment, .. } in &parsed.script.lines {
        let starts = matches!(command, Some(Command::Start(_)));
        if started == Some(*number) {
            push(Some(Command::Start(Vec::new())), comment.clone().filter(|_| starts));
        }
        if !starts && !left_out.contains(number) {
            push(command.clone(), comment.clone());
        }
    }
    script
}

/// Converts an older set-up: keys get today's names, and the defaults of older judges are written out.
/// The rest stays unchanged.
pub fn set_up(text: &str, config: &Config) -> Result<String, ConfigError> {
    let same = Config { dialect: Dialect::Current, ..config.clone() };
    // YAML has more forms than anybody uses: what came of it is checked.
    rewrite(text).filter(|new| Config::parse(new).as_ref() == Ok(&same)).ok_or_else(|| {
        let message =
            "this set-up cannot be converted: expected plain keys, one a line, and no end mark".to_owned();
        ConfigError { line: 1, column: 1, message }
    })
}

fn rewrite(text: &str) -> Option<String> {
    let offset = |place: Location| place.span().byte_offset().map(|offset| offset as usize);
    let root = keys(text)?;
    let is_missing = |option: &str| root.value.keys().all(|key| today(key) != option);
    let missing =
        OLDER.iter().filter(|(option, _)| is_missing(option)).map(|(name, value)| format!("{name}: {value}"));
    let mut places = Vec::new();
    for (key, value) in &root.value {
        places.push((offset(value.referenced)?, key));
    }
    places.sort_unstable();
    let mut text = text.to_owned();
    // From the end, so that what comes before stays in its place.
    for (value, key) in places.into_iter().rev() {
        let start = text.get(..value)?.rfind(key.as_str())?;
        text.replace_range(start..start + key.len(), today(key));
    }
    let start = offset(root.referenced)?;
    if text.get(start..)?.starts_with('{') {
        text.insert_str(start + 1, &missing.map(|pair| pair + ", ").collect::<String>());
    } else {
        let indent = " ".repeat((root.referenced.column() - 1) as usize);
        let end = if text.ends_with('\n') { "" } else { "\n" };
        text += end;
        text.extend(missing.map(|pair| format!("{indent}{pair}\n")));
    }
    Some(text)
}
