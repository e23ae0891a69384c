//! A chart of the winning chance over a match.

use necrodome_rules::{catalog::Listed, game::Seat, names::Names};
use necrodome_solve::{Ledger, LedgerEntry};
use plotters::prelude::*;

const SIZE: (u32, u32) = (960, 480);
const LINE: RGBColor = RGBColor(31, 90, 160);
const MISTAKE: RGBColor = RGBColor(200, 40, 40);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// Draws the first seat's chance (or expected points) after each entry of the ledger. The worst decisions are marked and numbered.
pub fn draw<G: Listed>(
    names: &Names,
    ledger: &Ledger<G>,
) -> Result<String, DrawingAreaErrorKind<std::io::Error>> {
    let alone = *G::SEATS.end() == 1;
    let scale = if alone { 1.0 } else { 100.0 };
    let after = |entry: &LedgerEntry<G>| match entry {
        LedgerEntry::Decision { after, .. }
        | LedgerEntry::Roll { after, .. }
        | LedgerEntry::Limit { after, .. } => after * scale,
    };
    let points: Vec<(f64, f64)> = [ledger.start * scale]
        .into_iter()
        .chain(ledger.entries.iter().map(after))
        .enumerate()
        .map(|(number, value)| (number as f64, value))
        .collect();
    let highest = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let top = if alone { (highest + 1.0).ceil() } else { 100.0 };
    let end = (points.len().max(2) - 1) as f64;
    let (title, axis) = if alone {
        (format!("{}: {}", G::TITLE, &names[Seat(0)]), "expected points".to_owned())
    } else {
        let [one, other] = [Seat(0), Seat(1)].map(|seat| &names[seat]);
        (format!("{}: {one} against {other}", G::TITLE), format!("chance of {one} to win, %"))
    };
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 22))
            .margin(14)
            .x_label_area_size(42)
            .y_label_area_size(58)
            .build_cartesian_2d(0.0..end, 0.0..top)?;
        let mesh = &mut chart.configure_mesh();
        mesh.light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .label_style(("sans-serif", 14))
            .x_desc("decisions and rolls (red: the most expensive decisions, the worst is 1)")
            .y_desc(axis)
            .x_label_formatter(&|x| format!("{x:.0}"))
            .y_label_formatter(&|y| format!("{y:.0}"))
            .draw()?;
        if !alone {
            chart.draw_series([PathElement::new([(0.0, 50.0), (end, 50.0)], BLACK.mix(0.35))])?;
        }
        chart.draw_series([PathElement::new(points.clone(), LINE.stroke_width(2))])?;
        for (place, decision) in (1..).zip(ledger.worst()) {
            let at = points[decision.number + 1];
            // Above the point where there is room, else below.
            let shift = if at.1 > top * 0.9 { 10 } else { -24 };
            let mark = EmptyElement::at(at)
                + Circle::new((0, 0), 5, MISTAKE.filled())
                + Text::new(place.to_string(), (-4, shift), ("sans-serif", 15).into_font().color(&MISTAKE));
            chart.draw_series([mark])?;
        }
        area.present()?;
    }
    Ok(svg)
}
