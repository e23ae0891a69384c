//! Questions and answers as lines of text, for pipes, scripts and terminals that cannot do more.

use super::{Controls, Gone, Meant, OwnSeat};
use crate::paint::page;
use necrodome_rules::catalog::Listed;
use std::io::{self, IsTerminal, Write};

/// Standard input and output, line by line.
pub struct Lines;

impl Lines {
    /// Shows the question and reads lines until one is a valid choice.
    pub fn ask<G: Listed>(
        &mut self,
        controls: &mut dyn Controls<G>,
        place: &OwnSeat,
        view: &G::View,
        hint: Option<&dyn Fn() -> String>,
    ) -> Result<G::Action, Gone> {
        let mut out = anstream::stdout();
        controls.show(&mut out, place, view)?;
        loop {
            // Only a terminal echoes what is typed, with its end of line.
            let end = if io::stdin().is_terminal() { "> " } else { "?\n" };
            write!(out, "{}{end}", controls.words(place, view))?;
            out.flush()?;
            let line = self.read()?;
            match line.as_str() {
                "" => {}
                "?" | "help" | "rules" => writeln!(out, "{}", page(G::CARD.rules))?,
                "hint" | "h" if hint.is_some() => {
                    writeln!(out, "{}", hint.map_or(String::new(), |hint| hint()))?
                }
                "q" | "quit" => return Err(Gone::Left),
                line => match controls.read(place, view, line) {
                    Ok(Meant::Act(action)) => return Ok(action),
                    Ok(Meant::Again) => controls.show(&mut out, place, view)?,
                    Err(why) => writeln!(out, "{why}")?,
                },
            }
        }
    }

    fn read(&mut self) -> Result<String, Gone> {
        let mut line = String::new();
        match io::stdin().read_line(&mut line) {
            Ok(0) => Err(Gone::InputEnded),
            Ok(_) => Ok(line.trim().to_owned()),
            // Not text: asked again like any other bad input.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok("(not text)".to_owned()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Says what was expected and what came.
pub fn expected(what: &str, came: &str) -> String {
    let came: String = came.chars().take(80).collect();
    format!("Expected {what}, got {came:?}.")
}
