//! Turns commands into text, which parses to the same commands.

use super::{Command, KEYWORDS, Keyword, Line, Script, Side, Word};
use necrodome_rules::infection::Commitment;
use std::fmt::{self, Display, Formatter, Write};

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Display for Line {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(command) = &self.command {
            write!(f, "{command}")?;
        }
        match (&self.command, &self.comment) {
            (Some(_), Some(comment)) => write!(f, " #{comment}"),
            (None, Some(comment)) => write!(f, "#{comment}"),
            (_, None) => Ok(()),
        }
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let keyword = |keyword: Keyword| {
            let found = KEYWORDS.iter().find(|(other, _)| *other == keyword);
            found.map_or("", |(_, forms)| forms[0])
        };
        match self {
            Command::Set { option, value } => write!(f, "{} {option} {value}", keyword(Keyword::Set)),
            Command::Human(name) => write!(f, "{} {name}", keyword(Keyword::Human)),
            Command::Zombie(name) => write!(f, "{} {name}", keyword(Keyword::Zombie)),
            Command::Start(counts) => {
                f.write_str(keyword(Keyword::Start))?;
                counts.iter().try_for_each(|count| write!(f, " {count}"))
            }
            Command::Interact(one, other) => write!(f, "{} {one} {other}", keyword(Keyword::Interact)),
            Command::Antidote(name) => write!(f, "{} {name}", keyword(Keyword::Antidote)),
            Command::End(name) => write!(f, "{} {name}", keyword(Keyword::End)),
            Command::NextTurn => f.write_str(keyword(Keyword::NextTurn)),
        }
    }
}

impl Display for Side {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        match self.commit {
            Commitment::None => Ok(()),
            Commitment::Precaution => f.write_char('!'),
            Commitment::Virus { count } => write!(f, "*{count}"),
        }
    }
}

impl Display for Word {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let special = |c: char| c.is_whitespace() || matches!(c, '!' | '*' | '#');
        if self.text.contains(special) { write!(f, "\"{}\"", self.text) } else { f.write_str(&self.text) }
    }
}
