//! Checks a language model. Matches would cost money, so it tries each form of answers once, then asks for one first decision.

use super::{Candidate, CheckError, Finding, Findings, Said, Verdict, matches::Hall, shortened};
use crate::{
    lineup::{LineupError, Terms},
    model::{ModelEntry, ModelPlayer, Rehearsal},
    player::Answer,
};
use necrodome_models::{Form, Money, Role};
use necrodome_rules::{
    catalog::Listed,
    chance::Seeded,
    game::{Move, Silent},
    words::count,
};

/// The forms of answers, with their names.
const FORMS: [(Form, &str); 3] =
    [(Form::Schema, "json schema"), (Form::Tool, "tool call"), (Form::Line, "last line")];

pub(super) fn check<G: Listed>(
    candidate: &Candidate,
    entry: &ModelEntry,
    hall: &Hall<G>,
    notes: &mut Findings,
) -> Result<(), CheckError> {
    let terms = Terms {
        launcher: candidate.launcher.clone(),
        limits: candidate.limits,
        rules: hall.rules.clone(),
        seats: hall.setup.seats,
    };
    let player = ModelPlayer::<G>::new(entry, &terms).map_err(LineupError::from)?;
    for (form, name) in FORMS {
        let finding = match entry.desk().try_form(entry.model(), &player.schema(), form) {
            Ok(trial) if trial.works => Finding::ok(name, "works"),
            Ok(trial) => {
                let came = match trial.outcome {
                    Ok(reply) => format!("got {:?}", shortened(&reply.text)),
                    Err(why) => why.to_string(),
                };
                let text = format!("does not work: {came}");
                Finding { check: name, verdict: Verdict::Warning, text, wrong: None }
            }
            Err(error) => {
                notes.add(Finding::fail(name, error.to_string(), None));
                return Ok(());
            }
        };
        notes.add(finding);
    }
    let mut chance = Seeded::new(1, "check", 0);
    let game = G::new(&hall.names, &hall.rules, &mut chance, &mut Silent)?;
    let Some(&seat) = game.to_act().first() else { return Ok(()) };
    let view = game.view(seat);
    let Rehearsal { answer, said, usage } = player.rehearse(&view);
    let took = format!(
        "{}, {} tokens in, {} out, cost {}",
        count(usage.calls, "call"),
        usage.input_tokens,
        usage.output_tokens,
        usage.cost().map_or("?".to_owned(), |_| Money { nanos: usage.cost_nanos }.to_string())
    );
    notes.add(match answer {
        Answer::Act(action, _) => {
            let chosen = Move::Act(action);
            let choice = G::choice(&view, &chosen, &hall.names);
            // Where several decide at once, the others do nothing here.
            let moves =
                game.to_act().iter().map(|&other| if other == seat { chosen.clone() } else { Move::Forfeit });
            match game.clone().apply(&moves.collect::<Vec<_>>(), &mut chance, &mut Silent) {
                Ok(()) => Finding::ok("decision", format!("{choice} ({took})")),
                Err(rejected) => {
                    Finding::fail("decision", format!("illegal: {choice}: {rejected} ({took})"), None)
                }
            }
        }
        Answer::Partly { fault, .. } | Answer::Fault(fault) => {
            Finding::fail("decision", format!("{fault} ({took})"), None)
        }
        Answer::Arena(why) => Finding::fail("decision", why, None),
        Answer::Quit => Finding::fail("decision", "it has left", None),
    });
    notes.report.transcript = said
        .into_iter()
        .map(|message| Said {
            by: match message.role {
                Role::System => "system",
                Role::User => "arena",
                Role::Assistant => "model",
            },
            text: message.text,
        })
        .collect();
    Ok(())
}
