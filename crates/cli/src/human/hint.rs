//! Hints: what a perfect player would do, and what every other choice costs.

use crate::{
    commands::advise::{PricedChoice, Unit, write_choices},
    paint::{bold, line},
};
use necrodome_rules::{catalog::Listed, names::Names};
use necrodome_solve::{OPTIMAL, Solution, Solver, Unsolved, solver};
use std::{
    cell::OnceCell,
    io::{self, Write},
    sync::Arc,
};

/// A perfect player who advises a person.
pub struct Coach<G: Listed> {
    solver: Solver<G>,
    rules: G::Rules,
    seats: usize,
    /// The solution, once the person has asked for a hint.
    solution: OnceCell<Result<Arc<dyn Solution<G>>, Unsolved>>,
}

impl<G: Listed> Coach<G> {
    /// Returns the coach, or `None` if the game is not solved.
    pub fn new(rules: &G::Rules, seats: usize) -> Option<Self> {
        Some(Coach { solver: solver::<G>()?, rules: rules.clone(), seats, solution: OnceCell::new() })
    }

    /// Says what to do in this view.
    pub fn hint(&self, view: &G::View, names: &Names) -> String {
        let mut out = Vec::new();
        // Writing to memory cannot fail.
        let _ = self.write(&mut out, view, names);
        String::from_utf8_lossy(&out).trim_end().to_owned()
    }

    fn write(&self, out: &mut dyn Write, view: &G::View, names: &Names) -> io::Result<()> {
        let label = |action: &G::Action| G::label(view, action, names);
        match self.solution.get_or_init(|| (self.solver.solve)(&self.rules, self.seats)) {
            Ok(solution) => {
                let best = solution.best(view);
                line(out, 2, &bold(format!("Perfect play: {}.", label(&best))).to_string())?;
                let priced = solution.prices(view).into_iter();
                let mut choices: Vec<PricedChoice<G::Action>> =
                    priced.map(|price| PricedChoice { label: label(&price.action), price }).collect();
                // Of equals the one that a perfect player takes comes first.
                choices.sort_by(|a, b| {
                    let is_best = |choice: &PricedChoice<G::Action>| choice.price.action == best;
                    is_best(b).cmp(&is_best(a)).then(b.price.value.total_cmp(&a.price.value))
                });
                write_choices(out, Unit::of::<G>(), &choices)
            }
            Err(why) => {
                let best = (self.solver.optimal)(&self.rules)().act(view);
                let would = label(&best);
                line(
                    out,
                    2,
                    &format!(
                        "No exact hint: {why}. The bot {OPTIMAL}, strong but not perfect here, would {would}."
                    ),
                )
            }
        }
    }
}
