//! A language model that sits at the table.

use super::{
    Disguise, ModelEntry, answer, answer_schema,
    prompt::{Scene, Setting},
    schema::{raw, types_of},
};
use crate::{
    fault::Fault,
    lineup::Terms,
    player::{Answer, Effort, MatchStart, Player, Usage},
};
use necrodome_models::{Form, Legal, Message, Question, Reply, Role};
use necrodome_rules::{
    catalog::Listed,
    game::{Outcome, Seat},
    names::{Names, SetupError},
    words,
};
use serde_json::value::RawValue;
use std::{sync::Arc, thread};

/// Legal actions are listed when they are no more than this: a longer list costs more than it helps.
const MOST_LISTED: usize = 32;
/// The longest answer that a model is shown again when it could not be used, in characters.
const MOST_REPEATED: usize = 4000;

/// A language model as a player. It remembers nothing but what has happened since its last decision.
///
/// It thinks on a thread of its own, so that models who decide at the same time think at the same time.
pub struct ModelPlayer<G: Listed> {
    table: Arc<Table<G>>,
    heard: Vec<String>,
    thinking: Option<thread::JoinHandle<Thought<G>>>,
    effort: Effort,
}

/// What came of thinking, and what it took.
type Thought<G> = (Answer<<G as necrodome_rules::game::Game>::Action>, Usage);

/// All that a model needs in a match.
#[derive(Clone)]
struct Table<G: Listed> {
    entry: ModelEntry,
    rules: G::Rules,
    seat: Seat,
    /// Players go by their seats: what others are called is no business of a model's, and might be meant to confuse it.
    names: Names,
    disguise: Option<Disguise>,
    /// The schema of all actions.
    schema: Arc<RawValue>,
}

impl<G: Listed> ModelPlayer<G> {
    /// A model that has sat down.
    pub fn new(entry: &ModelEntry, terms: &Terms<G::Rules>) -> Result<Self, SetupError> {
        let disguise = entry.model.disguise.map(|seed| Disguise::new(G::CARD.document, seed));
        let table = Table {
            entry: entry.clone(),
            rules: terms.rules.clone(),
            seat: Seat(0),
            names: Names::new((0..terms.seats).map(|seat| format!("Player {seat}")))?,
            disguise,
            schema: answer_schema::<G>(None),
        };
        Ok(ModelPlayer { table: table.into(), heard: Vec::new(), thinking: None, effort: Effort::default() })
    }
}

/// One decision of a model, with all that was said.
#[derive(Debug)]
pub struct Rehearsal<A> {
    /// The answer, or why the arena could not get one.
    pub answer: Answer<A>,
    /// The conversation.
    pub said: Vec<Message>,
    /// What it took.
    pub usage: Usage,
}

impl<G: Listed> ModelPlayer<G> {
    /// Decides once, as it would in a match, and keeps what was said.
    pub fn rehearse(&self, view: &G::View) -> Rehearsal<G::Action> {
        let (mut usage, mut said) = (Usage::default(), Vec::new());
        let answer = self.table.converse(view, Vec::new(), &mut usage, &mut said);
        Rehearsal { answer: answer.unwrap_or_else(Answer::Arena), said, usage }
    }

    /// The schema of its answers, in the words that it is told.
    pub fn schema(&self) -> Arc<RawValue> {
        self.table.disguised(&self.table.schema)
    }
}

impl<G: Listed> Player<G> for ModelPlayer<G> {
    fn start(&mut self, start: &MatchStart) {
        self.heard.clear();
        self.table = Table { seat: start.seat, ..(*self.table).clone() }.into();
    }

    fn hear(&mut self, heard: &[&G::Event]) {
        let told = heard.iter().flat_map(|event| self.table.told(event));
        self.heard.extend(told);
    }

    fn ask(&mut self, view: &G::View) {
        let (table, heard, view) = (self.table.clone(), std::mem::take(&mut self.heard), view.clone());
        self.thinking = thread::Builder::new().spawn(move || table.think(&view, heard)).ok();
    }

    fn answer(&mut self, _: &G::View) -> Answer<G::Action> {
        let thought = self.thinking.take().and_then(|thinking| thinking.join().ok());
        let Some((answer, usage)) = thought else {
            return Answer::Arena("a thread to ask a model on".to_owned());
        };
        self.effort.decisions += 1;
        self.effort.usage += usage;
        answer
    }

    fn refused(&mut self, _: &str) {}

    fn end(&mut self, _: &Outcome) -> Vec<Fault> {
        Vec::new()
    }

    fn take_effort(&mut self) -> Effort {
        std::mem::take(&mut self.effort)
    }
}

impl<G: Listed> Table<G> {
    /// An event in words. In disguise it is told as its JSON: the words of a game give it away.
    fn told(&self, event: &G::Event) -> Vec<String> {
        match &self.disguise {
            Some(disguise) => {
                let json = disguise.code(&json(event));
                let told = serde_json::from_str::<serde_json::Value>(&json).map(|json| words::of_event(&json));
                told.iter().map(|told| told.sentence(&self.names).to_string()).collect()
            }
            None => {
                let told = G::tell(event, &self.names).into_iter();
                told.filter(|told| !told.text.is_empty())
                    .map(|told| told.sentence(&self.names).to_string())
                    .collect()
            }
        }
    }

    /// What a model is told before one decision.
    fn scene(&self, view: &G::View, events: Vec<String>, form: Form, schema: &RawValue) -> Scene {
        let disguise = self.disguise.as_ref();
        let code = |json: String| disguise.map_or(json.clone(), |disguise| disguise.code(&json));
        let view_json = code(json(view));
        let situation = match disguise {
            Some(_) => words::of_json(&serde_json::from_str(&view_json).unwrap_or_default()),
            None => G::situation(view, &self.names).to_string(),
        };
        let seats = (self.names.len(), self.seat.0);
        let listed = match self.entry.model.legal {
            Legal::Shown => G::few_legal_actions(view, MOST_LISTED).unwrap_or_default(),
            Legal::Hidden => Vec::new(),
        };
        Scene {
            setting: Setting::new::<G>(&self.rules, seats, form, schema.get(), disguise),
            situation,
            view: view_json,
            events,
            legal: listed.iter().map(|action| code(json(action))).collect(),
            why: String::new(),
        }
    }

    /// A schema in the words that the model is told.
    fn disguised(&self, schema: &Arc<RawValue>) -> Arc<RawValue> {
        match &self.disguise {
            Some(disguise) => raw(disguise.code(schema.get())),
            None => schema.clone(),
        }
    }

    /// The schema of the answer to a question: of all types of actions, or of those that are legal if the model may know.
    fn schema_now(&self, view: &G::View) -> Arc<RawValue> {
        let types = match self.entry.model.legal {
            Legal::Shown => G::few_legal_actions(view, crate::protocol::MAX_LISTED),
            Legal::Hidden => None,
        };
        let types = types.and_then(|actions| types_of(&actions));
        types.map_or(self.schema.clone(), |types| answer_schema::<G>(Some(&types)))
    }

    /// Asks until there is an answer that can be used, or the model may not be asked again.
    fn think(&self, view: &G::View, heard: Vec<String>) -> Thought<G> {
        let mut usage = Usage::default();
        let answer = self.converse(view, heard, &mut usage, &mut Vec::new()).unwrap_or_else(Answer::Arena);
        (answer, usage)
    }

    /// The answer of the model, or why the arena cannot get one. `said` takes all that was said.
    fn converse(
        &self,
        view: &G::View,
        heard: Vec<String>,
        usage: &mut Usage,
        said: &mut Vec<Message>,
    ) -> Result<Answer<G::Action>, String> {
        let ModelEntry { desk, model, prompts, .. } = &self.entry;
        let disguise = self.disguise.as_ref();
        let trouble = |error: necrodome_models::AskError| format!("model {}: {error}", model.name);
        let form = desk.form(model, &self.disguised(&self.schema)).map_err(trouble)?;
        let schema = self.schema_now(view);
        // What is told once names all actions: then it stays the same, and endpoints need not read it again.
        let system = prompts.system(&self.scene(view, Vec::new(), form, &self.schema))?;
        let mut scene = self.scene(view, heard, form, &schema);
        let say = |role, text| Message { role, text };
        said.extend([say(Role::System, system), say(Role::User, prompts.decision(&scene)?)]);
        let schema = self.disguised(&schema);
        let mut faults = Vec::new();
        loop {
            let question = Question { messages: said.clone(), schema: schema.clone(), form, salt: 0 };
            let reply = desk.ask(model, &question).map_err(trouble)?;
            *usage += usage_of(&reply);
            let text: String = reply.text.chars().take(MOST_REPEATED).collect();
            let text = if text.trim().is_empty() { "(nothing)".to_owned() } else { text };
            said.push(say(Role::Assistant, text));
            let (fault, stands) = match answer::read::<G>(&reply, view, disguise) {
                Ok(answer) => return Ok(noted(answer, &faults)),
                Err(unusable) => unusable,
            };
            usage.unusable += 1;
            if faults.len() >= model.retries as usize {
                return Ok(noted(stands, &faults));
            }
            let why = format!("{} ({})", fault.detail, fault.kind);
            scene.why = disguise.map_or(why.clone(), |disguise| disguise.prose(&why));
            said.push(say(Role::User, prompts.again(&scene)?));
            faults.push(fault);
        }
    }
}

/// What a call took.
fn usage_of(reply: &Reply) -> Usage {
    Usage {
        calls: 1,
        input_tokens: reply.tokens.input,
        cached_tokens: reply.tokens.cached,
        output_tokens: reply.tokens.output,
        reasoning_tokens: reply.tokens.reasoning,
        cost_nanos: reply.cost.nanos,
        waited: reply.latency,
        unusable: 0,
    }
}

/// The same answer, whose reason says what came before it: replays show it.
fn noted<A>(answer: Answer<A>, faults: &[Fault]) -> Answer<A> {
    let noted = |reason: Option<String>| match faults {
        [] => reason,
        faults => {
            let faults: Vec<String> = faults.iter().map(Fault::to_string).collect();
            let reason = reason.map_or(String::new(), |reason| format!(" {reason}"));
            Some(format!("(asked again after {}){reason}", faults.join("; then ")))
        }
    };
    match answer {
        Answer::Act(action, reason) => Answer::Act(action, noted(reason)),
        Answer::Partly { action, reason, fault } => Answer::Partly { action, reason: noted(reason), fault },
        Answer::Fault(Fault { kind, detail }) if !faults.is_empty() => {
            Answer::Fault(Fault::new(kind, format!("{detail} (after {} before)", faults.len())))
        }
        other => other,
    }
}

/// Views, events and actions have no maps with odd keys, so this cannot fail.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
