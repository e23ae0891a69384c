//! A chart of regret against cost, which marks the entries that no other one beats in both.

use super::print::money;
use crate::commands::analyze::ledger::Scale;
use necrodome_arena::exam::{ExamEntry, ExamReport};
use plotters::prelude::*;

const SIZE: (u32, u32) = (960, 540);
const FRONT: RGBColor = RGBColor(43, 122, 21);
const OTHER: RGBColor = RGBColor(90, 90, 90);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// Returns the name of an entry. It adds how far an incomplete entry got, and whether its price is unknown.
fn label(entry: &ExamEntry, questions: usize) -> String {
    let mut label = entry.name.clone();
    if !entry.complete {
        label += &format!(" (not complete: {} of {questions})", entry.answered);
    }
    if entry.cost.is_none() {
        label += " (price unknown)";
    }
    label
}

/// What a name belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Point,
    /// A point from which the line of the front goes on to the right.
    Corner,
    Line,
}

/// The box of a name, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Label {
    x: i32,
    y: i32,
    width: i32,
}

impl Label {
    const HEIGHT: i32 = 17;

    fn meets(&self, other: &Label) -> bool {
        let (right, others_right) = (self.x + self.width, other.x + other.width);
        self.x < others_right && other.x < right && (self.y - other.y).abs() < Self::HEIGHT
    }

    /// Returns the nearest free place for a name with this many letters: beside a point on the right, then on the left, or above
    /// a line; from there up and down.
    fn place(near: (i32, i32), letters: usize, mark: Mark, taken: &[Label]) -> Label {
        let (wide, high) = (SIZE.0 as i32, SIZE.1 as i32);
        let width = 8 * letters as i32;
        let (right, left) = (near.0 + 9, near.0 - 9 - width);
        let (sides, up) = match mark {
            Mark::Point => ([right, left], 8),
            Mark::Corner => ([right, left], Self::HEIGHT + 3),
            Mark::Line => ([left, left - 40], 16),
        };
        let first = near.1 - up;
        let steps = (0..high / Self::HEIGHT).flat_map(|step| [-step, step]);
        let places = steps.flat_map(|step| sides.map(|x| (x, first + step * Self::HEIGHT)));
        let labels = places.map(|(x, y)| Label { x: x.min(wide - width).max(0), y, width });
        let is_free = |label: &Label| {
            (0..=high - Self::HEIGHT).contains(&label.y) && !taken.iter().any(|other| label.meets(other))
        };
        // A chart without any room left has more names than anybody reads.
        labels.into_iter().find(is_free).unwrap_or(Label { x: right, y: first, width })
    }
}

/// Draws the chart. Language models are points with their intervals, with a stair for the front among them; the other entries are
/// lines for comparison. If nobody costs anything, all entries are points.
pub fn draw(
    title: &str,
    report: &ExamReport,
    scale: &Scale,
) -> Result<String, DrawingAreaErrorKind<std::io::Error>> {
    let entries = report.entries.iter().filter(|entry| entry.regret.is_some());
    let costs = report.entries.iter().any(|entry| entry.cost.is_some_and(|cost| cost > 0.0));
    let (points, lines): (Vec<&ExamEntry>, Vec<&ExamEntry>) =
        entries.partition(|entry| !costs || (entry.calls > 0 && entry.cost.is_some()));
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let shown = || points.iter().chain(&lines);
    let highest = most(&mut shown().filter_map(|entry| entry.regret_high.or(entry.regret)));
    let dearest = most(&mut points.iter().filter_map(|entry| entry.cost_per_decision));
    let (top, end) = (1.08 * highest.max(1e-9), if costs { 1.2 * dearest } else { 1.0 });
    let place =
        |entry: &&ExamEntry| (entry.cost_per_decision.unwrap_or_default(), entry.regret.unwrap_or_default());
    let is_front = |entry: &&ExamEntry| entry.bargain.on_front == Some(true);
    let mut front: Vec<(f64, f64)> = points.iter().filter(|entry| is_front(entry)).map(place).collect();
    front.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(format!("{title}: regret and cost of a decision"), ("sans-serif", 22))
            .margin(14)
            .margin_right(30)
            .x_label_area_size(42)
            .y_label_area_size(70)
            .build_cartesian_2d(-0.03 * end..end, -0.03 * top..top)?;
        // The lowest mark may be -0, or a little less than nothing.
        let above = |value: f64| if value > 0.0 { value } else { 0.0 };
        let cost = |&cost: &f64| if costs || cost <= 0.0 { money(above(cost)) } else { String::new() };
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .label_style(("sans-serif", 14))
            .x_desc("cost of a decision (green: none is better at this price)")
            .y_desc(if report.unit == "points" { "regret, points" } else { "regret, chance to win" })
            .x_label_formatter(&cost)
            .y_label_formatter(&|&regret| scale.show(above(regret)))
            .draw()?;
        let mut stair: Vec<(f64, f64)> = Vec::new();
        for &(cost, regret) in &front {
            stair.extend(stair.last().map(|&(_, before)| (cost, before)));
            stair.push((cost, regret));
        }
        stair.extend(stair.last().map(|&(_, regret)| (end, regret)));
        chart.draw_series([PathElement::new(stair, FRONT.mix(0.6).stroke_width(2))])?;
        for entry in &points {
            let at = place(entry);
            let colour = if is_front(entry) { FRONT } else { OTHER };
            if let (Some(low), Some(high)) = (entry.regret_low, entry.regret_high) {
                chart.draw_series([PathElement::new([(at.0, low), (at.0, high)], colour.stroke_width(2))])?;
            }
            chart.draw_series([Circle::new(at, 5, colour.filled())])?;
        }
        for entry in &lines {
            let regret = place(entry).1;
            let ends = [(-0.03 * end, regret), (end, regret)];
            chart.draw_series([PathElement::new(ends, OTHER.mix(0.5))])?;
        }
        let mut taken: Vec<Label> = Vec::new();
        for (entry, is_line) in
            points.iter().map(|entry| (entry, false)).chain(lines.iter().map(|entry| (entry, true)))
        {
            let at = place(entry);
            let colour = if !is_line && is_front(entry) { FRONT } else { OTHER };
            let name = label(entry, report.questions);
            // The name of a line stands at its right end.
            let near = chart.backend_coord(&if is_line { (end, at.1) } else { at });
            let mark = match is_line {
                true => Mark::Line,
                false if is_front(entry) => Mark::Corner,
                false => Mark::Point,
            };
            let free = Label::place(near, name.chars().count(), mark, &taken);
            let style = ("sans-serif", 15).into_font().color(&colour);
            area.draw(&Text::new(name, (free.x, free.y), style))?;
            taken.push(free);
        }
        area.present()?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_arena::{
        entry::{EntryKind, EntrySpec},
        exam::{Candidate, Paper, sit},
        fault::Fault,
        guest::Invitation,
        lineup::Terms,
        player::{Answer, Effort, MatchStart, Player, Usage},
        process::Limits,
    };
    use necrodome_rules::{
        game::Outcome,
        zombie_dice::{Action, Event, Solo, SoloRules, SoloView},
    };
    use std::{path::PathBuf, sync::atomic::AtomicBool, time::Duration};

    #[test]
    fn names_do_not_overlap() {
        // All at the same place, nearly so, at the edges, and of all lengths.
        let near = |number: i32| match number % 4 {
            0 => (480, 270),
            1 => (480 + number, 270 - number),
            2 => (955, 5),
            _ => (90, 530),
        };
        let mut taken: Vec<Label> = Vec::new();
        for number in 0..48 {
            let letters = 4 + (number as usize * 7) % 26;
            let mark = [Mark::Line, Mark::Point, Mark::Corner][number as usize % 3];
            taken.push(Label::place(near(number), letters, mark, &taken));
        }
        for (place, one) in taken.iter().enumerate() {
            assert!(one.x >= 0 && one.x + one.width <= SIZE.0 as i32, "{one:?} leaves the picture");
            assert!(one.y >= 0 && one.y + Label::HEIGHT <= SIZE.1 as i32, "{one:?} leaves the picture");
            for other in &taken[place + 1..] {
                assert!(!one.meets(other), "{one:?} meets {other:?}");
            }
        }
        // The line of the front strikes no name through.
        let corner = Label::place((480, 270), 5, Mark::Corner, &[]);
        assert!(corner.x > 480 && corner.y + Label::HEIGHT < 270, "{corner:?}");
        let (a, b) = (Label { x: 0, y: 0, width: 20 }, Label { x: 19, y: 16, width: 5 });
        assert!(a.meets(&b) && !a.meets(&Label { x: 20, ..b }) && !a.meets(&Label { y: 17, ..b }));
    }

    /// A policy that stops with this many brains, at this price.
    struct Paid(u32, u64);

    impl Player<Solo> for Paid {
        fn start(&mut self, _: &MatchStart) {}

        fn hear(&mut self, _: &[&Event]) {}

        fn ask(&mut self, _: &SoloView) {}

        fn answer(&mut self, view: &SoloView) -> Answer<Action> {
            Answer::Act(if view.turn.brains >= self.0 { Action::Stop } else { Action::Go }, None)
        }

        fn refused(&mut self, _: &str) {}

        fn end(&mut self, _: &Outcome) -> Vec<Fault> {
            Vec::new()
        }

        fn take_effort(&mut self) -> Effort {
            let usage = Usage {
                calls: 1,
                input_tokens: 900,
                output_tokens: 40,
                cost_nanos: self.1,
                ..Usage::default()
            };
            Effort { usage: Usage { waited: Duration::from_millis(1500), ..usage }, ..Effort::default() }
        }
    }

    #[test]
    fn who_costs_money_is_a_point_and_bots_are_lines() {
        let guest = |name: &str, brains: u32, cost: u64| EntrySpec {
            name: Some(name.to_owned()),
            text: name.to_owned(),
            kind: EntryKind::Guest(Invitation::new::<Solo>(move |_, _| Box::new(Paid(brains, cost)))),
        };
        let bot = |text: &str| EntrySpec::parse(text, std::path::Path::new(".")).unwrap();
        let entries = [
            guest("small", 1, 200_000),
            guest("vast", 3, 5_000_000),
            guest("fool", 9, 3_000_000),
            bot("random"),
            bot("optimal"),
        ];
        let candidates = Candidate::all(&entries, ["small", "vast", "fool", "random", "optimal"].into_iter());
        let rules = SoloRules::default();
        let terms = Terms { launcher: PathBuf::new().into(), limits: Limits::default(), rules, seats: 1 };
        let paper = Paper::<Solo>::set(&rules, 40, 1.into()).unwrap();
        let sat = sit(&paper, &candidates, &terms, &AtomicBool::new(false), &mut |_, _| {}).unwrap();
        let report = ExamReport::new(&paper, &rules, &candidates, &sat);
        let vast = report.entries.iter().find(|entry| entry.name == "vast").unwrap();
        assert_eq!((vast.calls, vast.tokens, vast.output_tokens), (40, 40 * 940, 1600));
        assert!((vast.cost.unwrap() - 0.2).abs() < 1e-12 && vast.latency.unwrap().median == 1.5);
        let svg = draw("Solo", &report, &Scale::of::<Solo>()).unwrap();
        assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
        assert!(["small", "vast", "fool", "random", "optimal"].iter().all(|name| svg.contains(name)));
        let page = super::super::page::exam("Solo", &report, &Scale::of::<Solo>()).into_string();
        assert!(page.contains("What it took") && page.contains("<svg width"));
    }
}
