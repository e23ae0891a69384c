//! Dice as small boxes.

use crate::paint::Painted;
use anstyle::Style;
use std::io::{self, Write};

/// A die to be drawn.
pub struct Drawn {
    pub style: Style,
    /// In the upper edge.
    pub label: String,
    pub face: &'static str,
    /// Set apart by a double edge with this word in the lower one.
    pub mark: Option<&'static str>,
}

/// How many lines [`draw`] takes.
pub const HEIGHT: u16 = 3;

/// Draws dice side by side, with room for the longest face of the game.
pub fn draw(out: &mut dyn Write, longest: &str, dice: &[Drawn]) -> io::Result<()> {
    let width = 2 + longest.len();
    for row in 0..HEIGHT {
        let line: Vec<String> =
            dice.iter().map(|die| Painted(die.style, die.row(row, width)).to_string()).collect();
        writeln!(out, "  {}", line.join(" "))?;
    }
    Ok(())
}

impl Drawn {
    fn row(&self, row: u16, width: usize) -> String {
        let (edge, side, corners) = match self.mark {
            None => ('─', '│', ['┌', '┐', '└', '┘']),
            Some(_) => ('═', '║', ['╔', '╗', '╚', '╝']),
        };
        let filled = |text: &str| {
            let end: String = std::iter::repeat_n(edge, width.saturating_sub(text.len() + 1)).collect();
            format!("{edge}{text}{end}")
        };
        let [up_left, up_right, down_left, down_right] = corners;
        match row {
            0 => format!("{up_left}{}{up_right}", filled(&self.label)),
            1 => format!("{side}{:^width$}{side}", self.face),
            _ => format!("{down_left}{}{down_right}", filled(self.mark.unwrap_or(""))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_close() {
        let die = |face, mark| Drawn { style: Style::new(), label: "1".to_owned(), face, mark };
        let mut out = Vec::new();
        draw(&mut out, "attack", &[die("attack", None), die("3", Some("keep"))]).unwrap();
        let drawn = "  ┌─1──────┐ ╔═1══════╗\n  │ attack │ ║   3    ║\n  └────────┘ ╚═keep═══╝\n";
        assert_eq!(String::from_utf8(out).unwrap(), drawn);
    }
}
