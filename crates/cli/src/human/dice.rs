//! Draws dice as small boxes.

use crate::paint::{Painted, width};
use anstyle::Style;
use std::io::{self, Write};

/// A die to draw.
pub struct Drawn {
    pub style: Style,
    /// The text in the upper edge.
    pub label: String,
    pub face: &'static str,
    /// A word for the lower edge. A die with one has a double edge.
    pub mark: Option<&'static str>,
}

/// How many lines a die takes.
const HEIGHT: u16 = 3;

/// Draws dice side by side, in as many rows as the terminal needs, with room for the longest face of the game. Returns the number
/// of lines.
pub fn draw(out: &mut dyn Write, longest: &str, dice: &[Drawn]) -> io::Result<u16> {
    draw_within(width(), out, longest, dice)
}

fn draw_within(columns: usize, out: &mut dyn Write, longest: &str, dice: &[Drawn]) -> io::Result<u16> {
    let width = 2 + longest.len();
    // Two spaces at the left; each die has two sides, and a space behind all but the last.
    let fitting = (columns.saturating_sub(1) / (width + 3)).max(1);
    let rows = dice.len().div_ceil(fitting).max(1);
    let mut lines = 0;
    // As many in each row, so that six dice are twice three and not five and one.
    for dice in dice.chunks(dice.len().div_ceil(rows).max(1)) {
        for row in 0..HEIGHT {
            let line: Vec<String> =
                dice.iter().map(|die| Painted(die.style, die.row(row, width)).to_string()).collect();
            writeln!(out, "  {}", line.join(" "))?;
            lines += 1;
        }
    }
    Ok(lines)
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
        draw_within(80, &mut out, "attack", &[die("attack", None), die("3", Some("keep"))]).unwrap();
        let drawn = "  ┌─1──────┐ ╔═1══════╗\n  │ attack │ ║   3    ║\n  └────────┘ ╚═keep═══╝\n";
        assert_eq!(String::from_utf8(out).unwrap(), drawn);
    }

    #[test]
    fn six_dice_fit_any_terminal() {
        let dice =
            || (0..6).map(|_| Drawn { style: Style::new(), label: "1".to_owned(), face: "heal", mark: None });
        for (columns, rows) in [(120, 1), (80, 1), (67, 1), (66, 2), (60, 2), (20, 6)] {
            let mut out = Vec::new();
            let lines = draw_within(columns, &mut out, "attack", &dice().collect::<Vec<_>>()).unwrap();
            let drawn = String::from_utf8(out).unwrap();
            assert_eq!((lines, drawn.lines().count()), (3 * rows, 3 * usize::from(rows)), "{columns}");
            assert!(drawn.lines().all(|line| line.chars().count() <= columns), "{columns}: {drawn}");
        }
    }
}
