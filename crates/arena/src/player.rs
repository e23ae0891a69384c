//! Players make the decisions for a seat: built-in bots, processes, people.

use crate::fault::{Fault, FaultKind, harmless};
use necrodome_rules::{
    bot::Bot,
    game::{Game, Move, Outcome, Seat},
    names::Names,
    words::count,
};
use necrodome_solve::Solution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{cmp::Reverse, collections::BTreeMap, sync::Arc, time::Duration};

/// What a player is told when a match begins.
#[derive(Debug, Clone)]
pub struct MatchStart<'a> {
    /// Its seat.
    pub seat: Seat,
    /// The names of all entries, by seat.
    pub names: &'a Names,
    /// A seed for its own randomness, unrelated to the match's dice.
    pub seed: u32,
}

/// The answer to a question, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer<A> {
    /// An action, and the reason if the player gives one.
    Act(A, Option<String>),
    /// An action of which a part was malformed.
    Partly {
        /// The part that stands by the game's rule for a bad action.
        action: A,
        /// The reason that the player gave.
        reason: Option<String>,
        /// The fault in the rest.
        fault: Fault,
    },
    /// Nothing usable: the game's rule for a bad action applies.
    Fault(Fault),
    /// A person left the table: the match cannot go on.
    Quit,
    /// The arena lacks something, and says what: the match cannot go on, but no player is at fault.
    Arena(String),
}

/// The resources that a player has used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effort {
    /// Decisions made.
    pub decisions: u64,
    /// CPU time used for them.
    pub cpu: Duration,
    /// Instructions used for them, by players whose work is measured in instructions.
    pub fuel: u64,
    /// What the calls of a language model took; zero for other players.
    pub usage: Usage,
    /// Decisions that were priced, in a solved game.
    pub priced: u64,
    /// The total regret of the priced decisions, in billionths of a win (of a point in games for one), so that sums are exact.
    pub regret_nanos: u64,
}

impl std::ops::AddAssign for Effort {
    fn add_assign(&mut self, other: Self) {
        self.decisions += other.decisions;
        self.cpu += other.cpu;
        self.fuel += other.fuel;
        self.usage += other.usage;
        self.priced += other.priced;
        self.regret_nanos += other.regret_nanos;
    }
}

/// What calls to a language model took. Money is in billionths of the currency of the price list, so that sums are exact.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Usage {
    /// Calls, including those that were answered from the book.
    pub calls: u64,
    /// Tokens of the prompts, including cached ones.
    pub input_tokens: u64,
    /// Tokens of the prompts that the endpoint had cached.
    pub cached_tokens: u64,
    /// Tokens of the answers, including reasoning.
    pub output_tokens: u64,
    /// Tokens of the answers that were spent on reasoning.
    pub reasoning_tokens: u64,
    /// What the calls cost when they were made.
    pub cost_nanos: u64,
    /// How long the endpoint took.
    pub waited: Duration,
    /// Answers that could not be used, including those after which the model was asked again.
    pub unusable: u64,
    /// The same, by what was wrong with them. Older stores do not say.
    pub unusable_by_kind: BTreeMap<FaultKind, u64>,
    /// Decisions without a usable answer after all tries: the game's rule for a bad action decided.
    pub lost: u64,
    /// Calls of a model without known prices: if there are any, the cost is not known either.
    pub unpriced: u64,
    /// The models that answered.
    pub answered_by: AnsweredBy,
}

/// The models that answered, as the endpoint calls them, with the number of calls. The name is empty if the endpoint gives none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct AnsweredBy(pub BTreeMap<String, u64>);

impl AnsweredBy {
    /// The most names to keep apart: an endpoint might give another one in every answer. The rest counts under [`OTHERS`](Self::OTHERS).
    pub const MOST: usize = 20;
    /// The name under which all others are counted.
    pub const OTHERS: &str = "others";

    /// Returns the count for one call.
    pub fn one(model: &str) -> Self {
        AnsweredBy(BTreeMap::from([(model.to_owned(), 1)]))
    }

    /// Returns the models in words, such as `tiny-1 (20 calls), tiny-2 (1 call)`, safe to show, or `None` if no model answered.
    pub fn words(&self) -> Option<String> {
        let name = |name: &str| match name {
            "" => "a model without a name".to_owned(),
            name => name.chars().map(harmless).collect(),
        };
        let mut all: Vec<(&String, u64)> = self.0.iter().map(|(name, calls)| (name, *calls)).collect();
        all.sort_by_key(|(_, calls)| Reverse(*calls));
        match &all[..] {
            [] => None,
            [(only, _)] => Some(name(only)),
            all => {
                let each = |(of, calls): &(&String, u64)| format!("{} ({})", name(of), count(*calls, "call"));
                Some(all.iter().map(each).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl std::ops::AddAssign for AnsweredBy {
    fn add_assign(&mut self, other: Self) {
        for (name, calls) in other.0 {
            let fits = self.0.contains_key(&name) || self.0.len() < Self::MOST;
            let name = if fits { name } else { Self::OTHERS.to_owned() };
            let sum = self.0.entry(name).or_default();
            *sum = sum.saturating_add(calls);
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        // What calls took is read from a book, and one that somebody has changed may say anything.
        self.calls = self.calls.saturating_add(other.calls);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.cost_nanos = self.cost_nanos.saturating_add(other.cost_nanos);
        self.waited = self.waited.saturating_add(other.waited);
        self.unusable = self.unusable.saturating_add(other.unusable);
        for (kind, times) in other.unusable_by_kind {
            let sum = self.unusable_by_kind.entry(kind).or_default();
            *sum = sum.saturating_add(times);
        }
        self.lost = self.lost.saturating_add(other.lost);
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
        self.answered_by += other.answered_by;
    }
}

impl Usage {
    /// Returns the cost of the calls in the currency of the price list, or `None` if a price is not known.
    pub fn cost(&self) -> Option<f64> {
        (self.unpriced == 0).then_some(self.cost_nanos as f64 / 1e9)
    }
}

/// Makes the decisions for a seat, over many matches.
///
/// The arena asks all players that are to act ([`ask`](Player::ask)) before it waits for the first answer
/// ([`answer`](Player::answer)), so that processes think at the same time.
pub trait Player<G: Game> {
    /// Called when a match begins.
    fn start(&mut self, start: &MatchStart);

    /// Called when something has happened that the seat may hear of: `heard` holds nothing else.
    fn hear(&mut self, heard: &[&G::Event]);

    /// Whether the player wants to hear of events at all.
    fn listens(&self) -> bool {
        true
    }

    /// Asks for a decision.
    fn ask(&mut self, view: &G::View);

    /// Returns the answer to the last question.
    fn answer(&mut self, view: &G::View) -> Answer<G::Action>;

    /// Called if the last action was against the rules; the game has gone on without it.
    fn refused(&mut self, why: &str);

    /// Called when the match is over. Returns faults that did not come with an answer.
    fn end(&mut self, outcome: &Outcome) -> Vec<Fault>;

    /// Whether the player was ever ready to play. Known once its first match is over.
    fn has_started(&self) -> bool {
        true
    }

    /// Whether the player promises to answer the same view always in the same way.
    fn is_deterministic(&self) -> bool {
        false
    }

    /// Returns how many players of this entry may be asked at the same time: more than one if each mostly waits, as for the endpoint of a
    /// language model.
    fn streams(&self) -> usize {
        1
    }

    /// Says that this is copy `number` of the same entry, from 0. A player that keeps answers to the same question keeps them apart by copy.
    fn be_copy(&mut self, _number: u64) {}

    /// Returns what the player has used since the last call.
    fn take_effort(&mut self) -> Effort {
        Effort::default()
    }

    /// Ends the player after its last match. Returns what went wrong at the end, and the player's log.
    fn close(&mut self) -> (Vec<Fault>, String) {
        (Vec::new(), String::new())
    }
}

/// A built-in bot as a player.
pub struct BuiltInPlayer<G: Game>(pub Box<dyn Bot<G>>);

impl<G: Game> Player<G> for BuiltInPlayer<G> {
    fn start(&mut self, _: &MatchStart) {}

    fn hear(&mut self, _: &[&G::Event]) {}

    fn listens(&self) -> bool {
        false
    }

    fn ask(&mut self, _: &G::View) {}

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        Answer::Act(self.0.act(view), None)
    }

    fn refused(&mut self, _: &str) {}

    fn end(&mut self, _: &Outcome) -> Vec<Fault> {
        Vec::new()
    }
}

/// A player whose answers pass through a function, which may record or change them. Everything else is left to the player.
pub struct Through<G: Game, F> {
    inner: Box<dyn Player<G>>,
    pass: F,
}

impl<G: Game, F: FnMut(&G::View, Answer<G::Action>) -> Answer<G::Action>> Through<G, F> {
    /// Wraps a player. The function gets each view and the player's answer to it.
    pub fn new(inner: Box<dyn Player<G>>, pass: F) -> Self {
        Through { inner, pass }
    }
}

impl<G: Game, F: FnMut(&G::View, Answer<G::Action>) -> Answer<G::Action>> Player<G> for Through<G, F> {
    fn start(&mut self, start: &MatchStart) {
        self.inner.start(start);
    }

    fn hear(&mut self, heard: &[&G::Event]) {
        self.inner.hear(heard);
    }

    fn listens(&self) -> bool {
        self.inner.listens()
    }

    fn ask(&mut self, view: &G::View) {
        self.inner.ask(view);
    }

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        (self.pass)(view, self.inner.answer(view))
    }

    fn refused(&mut self, why: &str) {
        self.inner.refused(why);
    }

    fn end(&mut self, outcome: &Outcome) -> Vec<Fault> {
        self.inner.end(outcome)
    }

    fn has_started(&self) -> bool {
        self.inner.has_started()
    }

    fn is_deterministic(&self) -> bool {
        self.inner.is_deterministic()
    }

    fn streams(&self) -> usize {
        self.inner.streams()
    }

    fn be_copy(&mut self, number: u64) {
        self.inner.be_copy(number);
    }

    fn take_effort(&mut self) -> Effort {
        self.inner.take_effort()
    }

    fn close(&mut self) -> (Vec<Fault>, String) {
        self.inner.close()
    }
}

/// A player whose decisions are priced, in a solved game. It plays no differently.
pub struct Priced<G: Game> {
    inner: Box<dyn Player<G>>,
    solution: Arc<dyn Solution<G>>,
    priced: u64,
    regret_nanos: u64,
}

impl<G: Game> Priced<G> {
    /// Wraps a player, with a solution for the prices.
    pub fn new(inner: Box<dyn Player<G>>, solution: Arc<dyn Solution<G>>) -> Self {
        Priced { inner, solution, priced: 0, regret_nanos: 0 }
    }
}

/// Whether an action would be accepted, as far as the view shows.
pub(crate) fn is_legal<G: Game>(view: &G::View, action: &G::Action) -> bool {
    G::legal_actions(view).is_none_or(|mut legal| legal.any(|legal| legal == *action))
}

/// Returns the move that the referee will make of an answer, or `None` if the match cannot go on.
fn made_of<G: Game>(view: &G::View, answer: &Answer<G::Action>) -> Option<Move<G::Action>> {
    match answer {
        Answer::Act(action, _) | Answer::Partly { action, .. } if is_legal::<G>(view, action) => {
            Some(Move::Act(action.clone()))
        }
        Answer::Act(action, _) | Answer::Partly { action, .. } => {
            Some(G::salvage(view, action).map_or(Move::Forfeit, Move::Act))
        }
        Answer::Fault(_) => Some(Move::Forfeit),
        Answer::Quit | Answer::Arena(_) => None,
    }
}

impl<G: Game> Player<G> for Priced<G> {
    fn start(&mut self, start: &MatchStart) {
        self.inner.start(start);
    }

    fn hear(&mut self, heard: &[&G::Event]) {
        self.inner.hear(heard);
    }

    fn listens(&self) -> bool {
        self.inner.listens()
    }

    fn ask(&mut self, view: &G::View) {
        self.inner.ask(view);
    }

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        let answer = self.inner.answer(view);
        if let Some(choice) = made_of::<G>(view, &answer) {
            let best = self.solution.price(view, &Move::Act(self.solution.best(view)));
            let regret = best - self.solution.price(view, &choice);
            self.priced += 1;
            // Rounding may make it less than nothing; a cast takes that for 0.
            self.regret_nanos += (regret * 1e9).round() as u64;
        }
        answer
    }

    fn refused(&mut self, why: &str) {
        self.inner.refused(why);
    }

    fn end(&mut self, outcome: &Outcome) -> Vec<Fault> {
        self.inner.end(outcome)
    }

    fn has_started(&self) -> bool {
        self.inner.has_started()
    }

    fn is_deterministic(&self) -> bool {
        self.inner.is_deterministic()
    }

    fn streams(&self) -> usize {
        self.inner.streams()
    }

    fn be_copy(&mut self, number: u64) {
        self.inner.be_copy(number);
    }

    fn take_effort(&mut self) -> Effort {
        let (priced, regret_nanos) =
            (std::mem::take(&mut self.priced), std::mem::take(&mut self.regret_nanos));
        Effort { priced, regret_nanos, ..self.inner.take_effort() }
    }

    fn close(&mut self) -> (Vec<Fault>, String) {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_usage_end_at_the_largest_number() {
        let most = Usage {
            calls: u64::MAX,
            input_tokens: u64::MAX,
            cached_tokens: u64::MAX,
            output_tokens: u64::MAX,
            reasoning_tokens: u64::MAX,
            cost_nanos: u64::MAX,
            waited: Duration::MAX,
            unusable: u64::MAX,
            unusable_by_kind: BTreeMap::from([(FaultKind::Empty, u64::MAX)]),
            lost: u64::MAX,
            unpriced: u64::MAX,
            answered_by: AnsweredBy(BTreeMap::from([("m".to_owned(), u64::MAX)])),
        };
        let mut sum = most.clone();
        sum += most.clone();
        assert_eq!(sum, most);
    }

    #[test]
    fn an_endpoint_with_many_names_does_not_fill_the_store() {
        let mut sum = AnsweredBy::default();
        assert_eq!(sum.words(), None);
        sum += AnsweredBy::one("b");
        assert_eq!(sum.words().as_deref(), Some("b"));
        for name in ["a", "b", ""] {
            sum += AnsweredBy::one(name);
        }
        assert_eq!(sum.words().as_deref(), Some("b (2 calls), a model without a name (1 call), a (1 call)"));
        (0..1000).for_each(|number| sum += AnsweredBy::one(&format!("m{number}")));
        assert_eq!((sum.0.len(), sum.0.values().sum::<u64>()), (AnsweredBy::MOST + 1, 1004));
        assert!(sum.0[AnsweredBy::OTHERS] > 900);
    }
}
