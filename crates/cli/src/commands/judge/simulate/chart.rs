//! A chart of the humans and zombies over the turns.

use necrodome_judge::simulate::{Report, Spread, TurnReport};
use plotters::prelude::*;

const SIZE: (u32, u32) = (960, 540);
const GRID: RGBColor = RGBColor(225, 225, 225);
const HUMANS: RGBColor = RGBColor(31, 90, 160);
const ZOMBIES: RGBColor = RGBColor(60, 130, 50);
const INFECTED: RGBColor = RGBColor(200, 120, 20);

/// A curve: its name, its colour, and its values in each turn.
type Curve = (&'static str, RGBColor, fn(&TurnReport) -> &Spread);

const CURVES: [Curve; 3] = [
    ("humans (as told)", HUMANS, |turn| &turn.humans),
    ("zombies", ZOMBIES, |turn| &turn.zombies),
    ("infected among the humans", INFECTED, |turn| &turn.infected),
];

/// Draws medians as lines and quartiles as bands.
pub fn draw(title: &str, report: &Report) -> Result<String, DrawingAreaErrorKind<std::io::Error>> {
    let end = report.turns.len().max(2) as f64 - 1.0;
    let highest = report.turns.iter().flat_map(|turn| [&turn.humans, &turn.zombies]);
    let top = highest.map(|spread| spread.upper_quartile.value).max().unwrap_or(0).max(1) as f64 * 1.05;
    let line = |of: fn(&TurnReport) -> &Spread, quartile: usize| -> Vec<(f64, f64)> {
        let point = |turn: &TurnReport| (turn.turn as f64, of(turn).quartiles()[quartile].value as f64);
        report.turns.iter().map(point).collect()
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
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .label_style(("sans-serif", 14))
            // Turns are whole: no marks between them.
            .x_labels((end as usize + 1).min(21))
            .x_desc("turns finished")
            .y_desc("players (line: median, band: quartiles)")
            .x_label_formatter(&|x| if x.fract() == 0.0 { format!("{x:.0}") } else { String::new() })
            .y_label_formatter(&|y| format!("{y:.0}"))
            .draw()?;
        for (_, colour, of) in CURVES {
            let mut band = line(of, 0);
            band.extend(line(of, 2).into_iter().rev());
            chart.draw_series([Polygon::new(band, colour.mix(0.18).filled())])?;
        }
        for (name, colour, of) in CURVES {
            chart
                .draw_series([PathElement::new(line(of, 1), colour.stroke_width(3))])?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], colour.stroke_width(3)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::MiddleRight)
            .legend_area_size(30)
            .label_font(("sans-serif", 15))
            .background_style(WHITE.mix(0.85))
            .border_style(GRID)
            .draw()?;
        area.present()?;
    }
    Ok(svg)
}
