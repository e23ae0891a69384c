//! The survivor's window on the whole terminal, and its keys.

use super::{
    Steering, shoot, walk,
    window::{self, Cell, SIDE, targets},
};
use crate::games::last_bullet::tell::letter;
use crate::human::{
    Gone, OwnSeat,
    keys::{Keys, LEAVE, Pressed},
    restore::{FullScreen, RawMode, clean_screen},
};
use necrodome_rules::{
    catalog::Listed,
    last_bullet::{Action, CopyView, Direction, LastBullet, LastBulletView, Seen},
};
use ratatui::{
    Frame,
    crossterm::event::KeyCode,
    layout::{Constraint, Layout, Rect},
    style::{Color, Style, Stylize},
    text::{Line, Span},
    widgets::{Block, Clear, Paragraph, Wrap},
};

/// What the keys mean at the moment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Walking,
    /// The person is asked for the letter of a target.
    Aiming,
    /// The rules are shown.
    Reading,
    /// The person is asked whether they really want to leave.
    Leaving,
}

/// Letters for targets.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";

/// Draws the window and handles keys until there is an order.
pub fn ask(
    memory: &mut Steering,
    keys: &mut Keys,
    place: &OwnSeat,
    view: &LastBulletView,
) -> Result<Action, Gone> {
    if memory.screen.is_none() {
        memory.screen = Some(FullScreen::enter()?);
    }
    // A key that is typed while the picture is drawn would be echoed into it, and what follows would be drawn beside its place.
    let _raw = RawMode::enter()?;
    // Made anew for each question: what was typed while others thought has been echoed over the picture.
    let mut terminal = clean_screen()?;
    let mut mode = Mode::Walking;
    let mut hint = String::new();
    let action = loop {
        let Some(copy) = memory.survivor(view) else { break Action::default() };
        let picture = Scene { place, view, copy, news: &memory.news, mode, hint: &hint };
        terminal.draw(|frame| picture.draw(frame))?;
        let Pressed::Key(key) = keys.press()? else {
            terminal = clean_screen()?;
            continue;
        };
        hint.clear();
        mode = match (mode, key) {
            (Mode::Reading, _) => Mode::Walking,
            (Mode::Leaving, KeyCode::Char('y' | 'Y')) => return Err(Gone::Left),
            (Mode::Leaving, _) => Mode::Walking,
            (Mode::Aiming, KeyCode::Char(letter)) => {
                let target = LETTERS.find(letter).and_then(|place| targets(view, copy).get(place).copied());
                match target {
                    Some(target) => break shoot(copy, target.number),
                    None => Mode::Aiming,
                }
            }
            (Mode::Aiming, _) => Mode::Walking,
            (Mode::Walking, KeyCode::Char('?')) => Mode::Reading,
            (Mode::Walking, KeyCode::Char('q')) => Mode::Leaving,
            (Mode::Walking, KeyCode::Char('f')) if copy.bullets == 0 => {
                hint = "You have no bullet.".to_owned();
                Mode::Walking
            }
            (Mode::Walking, KeyCode::Char('f')) if targets(view, copy).is_empty() => {
                hint = "Nobody is within range 5.".to_owned();
                Mode::Walking
            }
            (Mode::Walking, KeyCode::Char('f')) => Mode::Aiming,
            (Mode::Walking, KeyCode::Tab | KeyCode::Char('o')) => {
                memory.next(view);
                Mode::Walking
            }
            (Mode::Walking, key) => match direction(key) {
                Some(direction) => break walk(copy, direction),
                None => Mode::Walking,
            },
        };
    };
    memory.news.clear();
    Ok(action)
}

/// Parses an arrow key, one of the letters hjklyubn, or a digit as on a number pad.
fn direction(key: KeyCode) -> Option<Direction> {
    Some(match key {
        KeyCode::Up | KeyCode::Char('k' | '8') => Direction::North,
        KeyCode::Down | KeyCode::Char('j' | '2') => Direction::South,
        KeyCode::Left | KeyCode::Char('h' | '4') => Direction::West,
        KeyCode::Right | KeyCode::Char('l' | '6') => Direction::East,
        KeyCode::Home | KeyCode::Char('y' | '7') => Direction::Northwest,
        KeyCode::PageUp | KeyCode::Char('u' | '9') => Direction::Northeast,
        KeyCode::End | KeyCode::Char('b' | '1') => Direction::Southwest,
        KeyCode::PageDown | KeyCode::Char('n' | '3') => Direction::Southeast,
        KeyCode::Char('.' | '5') => Direction::Stay,
        _ => return None,
    })
}

/// Everything on the screen.
struct Scene<'a> {
    place: &'a OwnSeat,
    view: &'a LastBulletView,
    copy: &'a CopyView,
    news: &'a [String],
    mode: Mode,
    hint: &'a str,
}

impl Scene<'_> {
    fn draw(&self, frame: &mut Frame) {
        // Two columns for each square, so that the window looks square.
        let width = 2 * SIDE as u16 + 3;
        let columns = Layout::horizontal([Constraint::Length(width), Constraint::Min(0)]).spacing(1);
        let [left, right] = columns.areas(frame.area());
        let window = Rect { height: left.height.min(SIDE as u16 + 2), ..left };
        let title = format!(" {}: clock {} ", &self.place.names[self.place.seat], self.view.clock);
        frame.render_widget(Paragraph::new(self.board()).block(Block::bordered().title(title)), window);
        frame.render_widget(Paragraph::new(self.panel()).wrap(Wrap { trim: false }), right);
        if self.mode == Mode::Reading {
            let rules = Paragraph::new(format!("{}\n\nAny key goes back.", LastBullet::CARD.rules));
            frame.render_widget(Clear, frame.area());
            let block = Block::bordered().title(" Rules ");
            frame.render_widget(rules.wrap(Wrap { trim: false }).block(block), frame.area());
        }
    }

    fn board(&self) -> Vec<Line<'static>> {
        let mut rows: Vec<Vec<Span>> = window::cells(self.view, self.copy)
            .iter()
            .map(|row| row.iter().map(|cell| span(*cell)).collect())
            .collect();
        if self.mode == Mode::Aiming {
            for (letter, target) in LETTERS.chars().zip(targets(self.view, self.copy)) {
                let (x, y) = window::place(&target);
                rows[y][x] = Span::raw(letter.to_string()).black().on_yellow();
            }
        }
        let spaced = |row: Vec<Span<'static>>| {
            let gap = || std::iter::once(Span::raw(" "));
            Line::from_iter(gap().chain(row.into_iter().flat_map(|cell| [cell, Span::raw(" ")])))
        };
        rows.into_iter().map(spaced).collect()
    }

    fn panel(&self) -> Vec<Line<'static>> {
        let copy = self.copy;
        let spare = self.view.copies.len() - 1;
        let mut lines = vec![
            Line::from(format!("bullets: {}", copy.bullets)).bold(),
            Line::from(format!("spare survivors: {spare}")),
            Line::from(format!("at {}, {} of {}", copy.x, copy.y, self.view.side)).dim(),
            Line::default(),
        ];
        lines.extend(self.news.iter().rev().take(4).map(|news| Line::from(news.clone()).red()));
        match self.mode {
            Mode::Walking | Mode::Reading => lines.extend(self.keys()),
            Mode::Leaving => lines.push(Line::from(LEAVE).yellow()),
            Mode::Aiming => {
                lines.push(Line::from("Shoot whom? (Escape: nobody)").yellow());
                lines.extend(LETTERS.chars().zip(targets(self.view, copy)).take(12).map(
                    |(letter, target)| {
                        let Seen { who, dx, dy, .. } = target;
                        let about = window::whereabouts(self.view, who, dx.into(), dy.into());
                        Line::from(format!("{letter} {about}"))
                    },
                ));
            }
        }
        lines
    }

    fn keys(&self) -> Vec<Line<'static>> {
        let mut lines: Vec<Line> = [
            "arrows, hjklyubn or 1-9 walk",
            ". stay   f shoot",
            "o another survivor",
            "? rules  q quit",
            "",
            "@ you  o yours  z zombie  x corpse",
        ]
        .map(Line::from)
        .to_vec();
        let others = self.place.names.iter().enumerate().filter(|&(seat, _)| seat != self.place.seat.index());
        lines.extend(others.take(6).map(|(seat, name)| {
            let seat = necrodome_rules::game::Seat(seat as u16);
            Line::from(vec![span(Cell::Other(seat)), Span::raw(format!(" {name}"))])
        }));
        lines.push(Line::from(self.hint.to_owned()).yellow());
        lines
    }
}

fn span(cell: Cell) -> Span<'static> {
    match cell {
        Cell::Empty => Span::styled("\u{b7}", Style::new().dim()),
        Cell::Zombie => Span::raw("z").green().bold(),
        Cell::Corpse => Span::raw("x"),
        Cell::Steered => Span::raw("@").bold().reversed(),
        Cell::Own => Span::raw("o").bold(),
        Cell::Other(seat) => {
            const COLOURS: [Color; 6] = [
                Color::LightYellow,
                Color::LightCyan,
                Color::LightMagenta,
                Color::LightBlue,
                Color::LightRed,
                Color::White,
            ];
            Span::styled(letter(seat).to_string(), COLOURS[seat.index() % COLOURS.len()])
        }
    }
}
