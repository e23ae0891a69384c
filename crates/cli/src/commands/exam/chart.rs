//! Regret against cost as a picture, with the entries that no other one beats in both.

use super::print::money;
use crate::commands::analyze::ledger::Scale;
use necrodome_arena::exam::{ExamEntry, ExamReport};
use plotters::prelude::*;

const SIZE: (u32, u32) = (960, 540);
const FRONT: RGBColor = RGBColor(43, 122, 21);
const OTHER: RGBColor = RGBColor(90, 90, 90);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// The points (cost, regret) that no other one beats: none is as cheap with less regret, or cheaper with as little. The cheapest first.
fn front(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut least = f64::INFINITY;
    points.retain(|point| {
        let before = least;
        least = before.min(point.1);
        point.1 < before
    });
    points
}

/// The chart. Each entry is a point with its interval; the front is a stair.
pub fn draw(
    title: &str,
    report: &ExamReport,
    scale: &Scale,
) -> Result<String, DrawingAreaErrorKind<std::io::Error>> {
    let entries: Vec<&ExamEntry> = report.entries.iter().filter(|entry| entry.regret.is_some()).collect();
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let highest = most(&mut entries.iter().filter_map(|entry| entry.regret_high.or(entry.regret)));
    let dearest = most(&mut entries.iter().map(|entry| entry.cost_per_decision));
    let (top, end) = (1.08 * highest.max(1e-9), if dearest > 0.0 { 1.15 * dearest } else { 1.0 });
    let points = entries.iter().filter_map(|entry| Some((entry.cost_per_decision, entry.regret?)));
    let front = front(points.collect());
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(format!("{title}: regret and cost of a decision"), ("sans-serif", 22))
            .margin(14)
            .x_label_area_size(42)
            .y_label_area_size(70)
            .build_cartesian_2d(-0.03 * end..end, 0.0..top)?;
        let cost = |cost: &f64| {
            if dearest > 0.0 {
                money(*cost)
            } else if *cost == 0.0 {
                "0".to_owned()
            } else {
                String::new()
            }
        };
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .label_style(("sans-serif", 14))
            .x_desc("cost of a decision (green: none is better at this price)")
            .y_desc(if report.unit == "points" { "regret, points" } else { "regret, chance to win" })
            .x_label_formatter(&cost)
            .y_label_formatter(&|regret| scale.show(*regret))
            .draw()?;
        let mut stair: Vec<(f64, f64)> = Vec::new();
        for &(cost, regret) in &front {
            stair.extend(stair.last().map(|&(_, before)| (cost, before)));
            stair.push((cost, regret));
        }
        stair.extend(stair.last().map(|&(_, regret)| (end, regret)));
        chart.draw_series([PathElement::new(stair, FRONT.mix(0.6).stroke_width(2))])?;
        let mut taken: Vec<(i32, i32)> = Vec::new();
        for entry in entries {
            let at = (entry.cost_per_decision, entry.regret.unwrap_or_default());
            let colour = if front.contains(&at) { FRONT } else { OTHER };
            if let (Some(low), Some(high)) = (entry.regret_low, entry.regret_high) {
                chart.draw_series([PathElement::new([(at.0, low), (at.0, high)], colour.stroke_width(2))])?;
            }
            chart.draw_series([Circle::new(at, 5, colour.filled())])?;
            // Names of entries at nearly the same place stand below each other.
            let (x, mut y) = chart.backend_coord(&at);
            while taken.iter().any(|&(left, above)| (left - x).abs() < 150 && (above - y).abs() < 17) {
                y -= 17;
            }
            taken.push((x, y));
            let style = ("sans-serif", 15).into_font().color(&colour);
            area.draw(&Text::new(entry.name.clone(), (x + 9, y - 8), style))?;
        }
        area.present()?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_has_those_that_nobody_beats_in_both() {
        let points = vec![(0.0, 0.3), (1.0, 0.1), (2.0, 0.1), (3.0, 0.05), (0.0, 0.2)];
        assert_eq!(front(points), [(0.0, 0.2), (1.0, 0.1), (3.0, 0.05)]);
    }
}
