//! The gauntlet for a bot: the protocol over a raw process, seeded matches in every seat, and positions that are rare but
//! real. It reports what the bot did right and wrong, one finding at a time.

mod matches;
mod models;
mod positions;
mod protocol;
mod trials;
mod wire;

use crate::{
    entry::{EntryKind, EntrySpec},
    fault::Fault,
    lineup::{LineupError, built_in},
    process::{Launcher, Limits},
};
use matches::Hall;
use necrodome_rules::{
    bot::BotSpec,
    catalog::Listed,
    chance::Seeded,
    game::Game,
    names::{Names, SetupError},
    options::{self, OptionError},
};
use serde::Serialize;
use std::time::Duration;
use trials::{Trials, trials};

/// The bot that is checked, and how.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    /// The bot.
    pub entry: &'a EntrySpec,
    /// Its name.
    pub name: &'a str,
    /// The arena's own program, which supervises processes.
    pub launcher: Launcher,
    /// The limits on processes.
    pub limits: Limits,
    /// Options of the rules that apply to every match.
    pub settings: &'a [(String, String)],
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The check passed.
    Ok,
    /// The bot must be changed.
    Fail,
    /// Forgiven, but should be changed; the text says how.
    Warning,
    /// Not tried; the text says why.
    Skipped,
}

/// The result of one check, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The name of the check, in a word or two.
    pub check: &'static str,
    /// The result.
    pub verdict: Verdict,
    /// The bot's behaviour, in one sentence.
    pub text: String,
    /// The message that the bot got wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<Wrong>,
}

/// A message that a bot got wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wrong {
    /// The message that the bot was sent; the middle of a long one is left out.
    pub message: String,
    /// The bot's reply.
    pub came: String,
    /// An answer that would have been right.
    pub expected: String,
    /// What to do about it, if the arena can tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, text: impl Into<String>) -> Self {
        Finding { check, verdict: Verdict::Ok, text: text.into(), wrong: None }
    }

    fn fail(check: &'static str, text: impl Into<String>, wrong: Option<Wrong>) -> Self {
        Finding { check, verdict: Verdict::Fail, text: text.into(), wrong }
    }

    fn skipped(check: &'static str, text: impl Into<String>) -> Self {
        Finding { check, verdict: Verdict::Skipped, text: text.into(), wrong: None }
    }
}

/// All findings of a check.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CheckReport {
    /// The findings, in the order in which they were made.
    pub findings: Vec<Finding>,
    /// What the bot wrote to standard error, up to 64 KiB for each time it was started.
    pub log: String,
    /// The messages to and from a language model for one decision.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transcript: Vec<Said>,
}

/// One message of a conversation with a language model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// The speaker: `system`, `arena` or `model`.
    pub by: &'static str,
    /// The text.
    pub text: String,
}

impl CheckReport {
    /// Returns the number of failed checks.
    pub fn failures(&self) -> usize {
        self.findings.iter().filter(|finding| finding.verdict == Verdict::Fail).count()
    }
}

/// The reason why a bot could not be checked at all.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The bot cannot play this game.
    #[error(transparent)]
    Lineup(#[from] LineupError),
    /// The options do not fit the game.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// No match can be set up with these options or this name.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// Puts a bot through the gauntlet. `tell` is called with each finding as it is made.
pub fn check_bot<G: Listed>(
    candidate: &Candidate,
    tell: &mut dyn FnMut(&Finding),
) -> Result<CheckReport, CheckError> {
    match &candidate.entry.kind {
        EntryKind::Human => return Err(LineupError::Human.into()),
        EntryKind::BuiltIn(spec) => {
            let bot = built_in::<G>(spec, &G::Rules::default(), Seeded::new(0, "check", 0));
            drop(bot.map_err(LineupError::from)?)
        }
        EntryKind::Program(_) | EntryKind::Wasm(_) | EntryKind::Guest(_) | EntryKind::Model(_) => {}
    }
    let mut notes = Findings { report: CheckReport::default(), tell };
    let halls = open_halls::<G>(candidate)?;
    let Some(first) = halls.first() else { return Ok(notes.report) };
    if let EntryKind::Model(model) = &candidate.entry.kind {
        models::check(candidate, model, first, &mut notes)?;
        return Ok(notes.report);
    }
    if matches!(candidate.entry.kind, EntryKind::Program(_) | EntryKind::Wasm(_)) {
        if !protocol::check(candidate, first, &mut notes) {
            return Ok(notes.report);
        }
    } else {
        notes.add(Finding::skipped("protocol", "this bot is no process"));
    }
    matches::check(candidate, &halls, &mut notes)?;
    Ok(notes.report)
}

/// Returns the setups of a game, with the user's options on top. It leaves out a setup that those options rule out, unless it is the first.
fn open_halls<G: Listed>(candidate: &Candidate) -> Result<Vec<Hall<G>>, CheckError> {
    let mut halls = Vec::new();
    let Trials { opponents, stamina, patience, setups } = trials::<G>();
    for (index, setup) in setups.into_iter().enumerate() {
        let rules = rules_with::<G>(setup.set, candidate.settings)?;
        let names = names(candidate.name, setup.seats)?;
        let mut chance = Seeded::new(0, "check", 0);
        match G::new(&names, &rules, &mut chance, &mut necrodome_rules::game::Silent) {
            Ok(_) => {
                halls.push(Hall { setup, rules, names, opponents: opponents.clone(), stamina, patience })
            }
            Err(error) if index == 0 => return Err(error.into()),
            Err(_) => {}
        }
    }
    Ok(halls)
}

/// Returns the rules with the user's options, and with those of the setup that the user did not set.
fn rules_with<G: Game>(set: &str, settings: &[(String, String)]) -> Result<G::Rules, OptionError> {
    let own = set.split_whitespace().map(options::split_pair).collect::<Result<Vec<_>, _>>()?;
    let free = own.into_iter().filter(|(name, _)| settings.iter().all(|(given, _)| given != name));
    options::parse(&free.chain(settings.iter().cloned()).collect::<Vec<_>>())
}

/// Returns names with the candidate in the first seat, and opponents in the others.
fn names(candidate: &str, seats: usize) -> Result<Names, SetupError> {
    let free = |name: &String| name.to_lowercase() != candidate.to_lowercase();
    let others = (1..).map(|number| format!("opponent-{number}")).filter(free);
    Names::new(std::iter::once(candidate.to_owned()).chain(others).take(seats))
}

/// Returns the same names with the first one moved to another seat.
fn seated(names: &Names, seat: usize) -> Result<Names, SetupError> {
    let mut names: Vec<String> = names.clone().into();
    names[..=seat].rotate_left(1);
    Names::new(names)
}

/// The findings so far.
struct Findings<'a> {
    report: CheckReport,
    tell: &'a mut dyn FnMut(&Finding),
}

impl Findings<'_> {
    fn add(&mut self, finding: Finding) {
        (self.tell)(&finding);
        self.report.findings.push(finding);
    }

    /// Warns once that the bot writes more than answers.
    fn chatter(&mut self, fault: &Fault) {
        if !self.has_warned() {
            let text = format!("chatter, forgiven once a match: {}", fault.words());
            self.add(Finding { check: "output", verdict: Verdict::Warning, text, wrong: None });
        }
    }

    fn has_warned(&self) -> bool {
        self.report.findings.iter().any(|finding| finding.verdict == Verdict::Warning)
    }

    fn has_failed(&self, check: &str) -> bool {
        let failed = |finding: &Finding| finding.check == check && finding.verdict == Verdict::Fail;
        self.report.findings.iter().any(failed)
    }

    fn add_log(&mut self, log: &[u8]) {
        self.report.log += &String::from_utf8_lossy(log);
    }
}

/// Returns a text that fits on a few lines: the middle of a long one is left out.
fn shortened(text: &str) -> String {
    const HEAD: usize = 360;
    const TAIL: usize = 120;
    let length = text.chars().count();
    if length <= HEAD + TAIL {
        return text.to_owned();
    }
    let head: String = text.chars().take(HEAD).collect();
    let tail: String = text.chars().skip(length - TAIL).collect();
    format!("{head} ... {tail}")
}

/// Returns JSON for anything in the protocol; such types cannot fail to serialise.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Returns an answer that would have been right: that of a built-in bot.
fn example<G: Listed>(bot: &str, view: &G::View, id: u64) -> String {
    let spec = BotSpec { name: bot.to_owned(), params: Vec::new() };
    let action = built_in::<G>(&spec, &G::Rules::default(), Seeded::new(0, "check", 0))
        .map(|mut bot| json(&bot.act(view)));
    let answer = format!("{{\"id\":{id},\"action\":{}}}", action.unwrap_or_default());
    match G::legal_actions(view).map(|legal| legal.take(2).count()) {
        Some(2) => format!("{answer}, or another of the legal actions"),
        Some(_) => answer,
        None => format!("{}, or other orders for your own copies, one each at most", shortened(&answer)),
    }
}

fn ms(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(shortened("short"), "short");
        let long = format!("a{}z", "é".repeat(1000));
        let cut = shortened(&long);
        assert!(cut.starts_with('a') && cut.ends_with('z') && cut.chars().count() < 500);
    }

    #[test]
    fn the_candidate_can_sit_anywhere_and_have_any_name() {
        let names = names("Opponent-2", 4).unwrap();
        assert_eq!(Vec::from(names.clone()), ["Opponent-2", "opponent-1", "opponent-3", "opponent-4"]);
        let names = seated(&names, 2).unwrap();
        assert_eq!(Vec::from(names), ["opponent-1", "opponent-3", "Opponent-2", "opponent-4"]);
    }

    #[test]
    fn options_of_the_user_go_before_those_of_a_setup() {
        let rounds = |given: &[(String, String)]| {
            let rules = rules_with::<necrodome_rules::zombie_dice::Race>("max_rounds=9", given).unwrap();
            json(&rules)
        };
        assert!(rounds(&[]).contains(r#""max_rounds":9"#));
        assert!(rounds(&[("max_rounds".to_owned(), "5".to_owned())]).contains(r#""max_rounds":5"#));
    }
}
