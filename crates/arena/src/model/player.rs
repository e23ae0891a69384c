//! A language model as a player.

use super::{
    Disguise, ModelEntry,
    answer::{self, Unusable},
    answer_schema,
    prompt::{Scene, Setting},
    schema::{raw, types_of},
};
use crate::{
    fault::Fault,
    lineup::Terms,
    player::{Answer, AnsweredBy, Effort, MatchStart, Player, Usage},
};
use necrodome_models::{Answers, AskError, Form, Legal, Look, Message, Question, Reply, Role, Samples};
use necrodome_rules::{
    catalog::Listed,
    game::{Outcome, Seat},
    names::{Names, SetupError},
    words::{self, Told},
};
use serde_json::value::RawValue;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// The most legal actions that are listed, such as all ways to keep six dice: a longer list costs more than it helps.
const MOST_LISTED: usize = 64;
/// The most characters of an unusable answer that the model is shown again.
const MOST_REPEATED: usize = 4000;

/// A language model as a player. It remembers only what has happened since its last decision.
///
/// It thinks on its own thread, so that models that decide at the same time think at the same time.
pub struct ModelPlayer<G: Listed> {
    table: Arc<Table<G>>,
    heard: Vec<String>,
    thinking: Option<thread::JoinHandle<Thought<G>>>,
    effort: Effort,
}

/// The result of thinking, and what it took.
type Thought<G> = (Answer<<G as necrodome_rules::game::Game>::Action>, Usage);

/// Everything that a model needs in a match.
#[derive(Clone)]
struct Table<G: Listed> {
    entry: ModelEntry,
    rules: G::Rules,
    seat: Seat,
    /// The players are named after their seats: a model does not need the real names, and they might be meant to confuse it.
    names: Names,
    disguise: Option<Disguise>,
    /// The schema of all actions.
    schema: Arc<RawValue>,
    /// A different number for each copy of the same entry, so that each copy gets its own answers.
    salt: u64,
    /// A number for the match if it gets its own answers; 0 if it shares them with other matches.
    own: u64,
    /// How often each question was asked in this match.
    asked: Arc<Mutex<HashMap<[u8; 32], u64>>>,
}

impl<G: Listed> ModelPlayer<G> {
    /// Returns a model as a player at the table.
    pub fn new(entry: &ModelEntry, terms: &Terms<G::Rules>) -> Result<Self, SetupError> {
        let disguise = entry.model.disguise.map(|words| Disguise::of(G::CARD.document, words));
        let table = Table {
            entry: entry.clone(),
            rules: terms.rules.clone(),
            seat: Seat(0),
            names: Names::new((0..terms.seats).map(|seat| format!("Player {seat}")))?,
            disguise,
            schema: answer_schema::<G>(None),
            salt: 0,
            own: 0,
            asked: Arc::default(),
        };
        Ok(ModelPlayer { table: table.into(), heard: Vec::new(), thinking: None, effort: Effort::default() })
    }
}

/// One decision of a model, with the conversation.
#[derive(Debug)]
pub struct Rehearsal<A> {
    /// The answer, or why the arena could not get one.
    pub answer: Answer<A>,
    /// The conversation.
    pub said: Vec<Message>,
    /// What the calls took.
    pub usage: Usage,
}

/// The result of a decision for an estimate.
pub(super) enum Tried<A> {
    /// The model decided.
    Decided {
        /// The answer, or why the arena could not get one.
        answer: Answer<A>,
        /// What the calls took.
        usage: Usage,
        /// Whether a call was made.
        is_paid: bool,
    },
    /// The book has no answer to this question. `None` if it is not even known in which form to ask.
    Open(Option<[u8; 32]>),
}

impl<G: Listed> ModelPlayer<G> {
    /// Decides once, as in a match, and keeps the conversation.
    pub fn rehearse(&self, view: &G::View) -> Rehearsal<G::Action> {
        let (mut usage, mut said) = (Usage::default(), Vec::new());
        let answer = self.table.converse(view, Vec::new(), &mut usage, &mut said, &mut |q| self.table.ask(q));
        Rehearsal { answer: answer.unwrap_or_else(Answer::Arena), said, usage }
    }

    /// Decides for an estimate: with answers from the book, or else by calls if allowed. A question without an answer counts as asked,
    /// so that it is a different sample when it comes again.
    pub(super) fn try_to_decide(&mut self, view: &G::View, may_call: bool) -> Tried<G::Action> {
        let table = self.table.clone();
        let ModelEntry { desk, model, .. } = &table.entry;
        let may_call = may_call && desk.answers() != Answers::Only;
        let heard = std::mem::take(&mut self.heard);
        if let Err(AskError::NotKept(_)) = desk.form(model, &table.disguised(&table.schema)) {
            return Tried::Open(None);
        }
        let (mut usage, mut open, mut is_paid) = (Usage::default(), None, false);
        let mut ask = |question: &Question| {
            let Look { question: hash, reply } =
                desk.look(model, question).map_err(|error| error.to_string())?;
            match reply {
                Some(reply) => Ok(reply),
                None if may_call => {
                    is_paid = true;
                    table.ask(question)
                }
                None => {
                    open = Some(hash);
                    Err("not asked".to_owned())
                }
            }
        };
        let answer = table.converse(view, heard, &mut usage, &mut Vec::new(), &mut ask);
        match (answer, open) {
            (Err(_), Some(question)) => Tried::Open(Some(question)),
            (answer, _) => Tried::Decided { answer: answer.unwrap_or_else(Answer::Arena), usage, is_paid },
        }
    }

    /// Returns the schema of the model's answers, in the words that it is told.
    pub fn schema(&self) -> Arc<RawValue> {
        self.table.disguised(&self.table.schema)
    }
}

impl<G: Listed> Player<G> for ModelPlayer<G> {
    fn start(&mut self, start: &MatchStart) {
        self.heard.clear();
        let own = match self.table.entry.model.samples {
            Samples::Question => 0,
            // Above 0. It follows from the seed, the block, the match and the seat, whoever plays it and when.
            Samples::Match => 1 + u64::from(start.seed),
        };
        let asked = Arc::default();
        self.table = Table { seat: start.seat, own, asked, ..(*self.table).clone() }.into();
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
        self.effort.usage.lost += u64::from(matches!(answer, Answer::Fault(_)));
        answer
    }

    fn refused(&mut self, _: &str) {}

    fn end(&mut self, _: &Outcome) -> Vec<Fault> {
        Vec::new()
    }

    fn streams(&self) -> usize {
        self.table.entry.model.concurrency as usize
    }

    fn be_copy(&mut self, number: u64) {
        self.table = Table { salt: number, ..(*self.table).clone() }.into();
    }

    fn take_effort(&mut self) -> Effort {
        std::mem::take(&mut self.effort)
    }
}

impl<G: Listed> Table<G> {
    /// Describes an event in words. A disguised model gets the event's JSON instead: the words of a game give it away.
    fn told(&self, event: &G::Event) -> Vec<String> {
        let told = match &self.disguise {
            Some(disguise) => {
                let told = words::of_event(event);
                vec![Told { text: disguise.code(&told.text.to_string()).into(), ..told }]
            }
            None => G::tell(event, &self.names),
        };
        let told = told.into_iter().filter(|told| !told.text.is_empty());
        told.map(|told| told.sentence(&self.names).to_string()).collect()
    }

    /// Returns what the model is told before one decision.
    fn scene(&self, view: &G::View, events: Vec<String>, form: Form, schema: &RawValue) -> Scene {
        let disguise = self.disguise.as_ref();
        let code = |json: String| disguise.map_or(json.clone(), |disguise| disguise.code(&json));
        let situation = match disguise {
            // In words first, so that its parts stand in the same order whatever they are called.
            Some(disguise) => disguise.code(&words::of_json(&serde_json::to_value(view).unwrap_or_default())),
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
            view: code(json(view)),
            events,
            legal: listed.iter().map(|action| code(json(action))).collect(),
            why: String::new(),
        }
    }

    /// Returns a schema in the words that the model is told.
    fn disguised(&self, schema: &Arc<RawValue>) -> Arc<RawValue> {
        match &self.disguise {
            Some(disguise) => raw(disguise.code(schema.get())),
            None => schema.clone(),
        }
    }

    /// Returns the salt of a question: the first time in a match, that of the copy or the match. When the same question comes again, the
    /// answer is another sample; otherwise a model could go round in circles for ever.
    fn salt_of(&self, said: &[Message]) -> u64 {
        let mut hasher = blake3::Hasher::new();
        for Message { role, text } in said {
            hasher.update(&[*role as u8]).update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let times = asked.entry(*hasher.finalize().as_bytes()).or_default();
        let sample = std::mem::replace(times, *times + 1);
        salt(self.salt, self.own, sample)
    }

    /// Returns the schema of the answer to a question: of all types of actions, or of the legal ones if the model may know them.
    fn schema_now(&self, view: &G::View) -> Arc<RawValue> {
        let types = match self.entry.model.legal {
            Legal::Shown => G::few_legal_actions(view, crate::protocol::MAX_LISTED),
            Legal::Hidden => None,
        };
        let types = types.and_then(|actions| types_of(&actions));
        types.map_or(self.schema.clone(), |types| answer_schema::<G>(Some(&types)))
    }

    /// Asks until an answer can be used, or the model may not be asked again.
    fn think(&self, view: &G::View, heard: Vec<String>) -> Thought<G> {
        let mut usage = Usage::default();
        let answer =
            self.converse(view, heard, &mut usage, &mut Vec::new(), &mut |question| self.ask(question));
        (answer.unwrap_or_else(Answer::Arena), usage)
    }

    /// Asks the model.
    fn ask(&self, question: &Question) -> Result<Reply, String> {
        self.entry.desk.ask(&self.entry.model, question).map_err(|error| error.to_string())
    }

    /// Returns the answer of the model, or why the arena cannot get one. `said` collects the conversation, and `ask` asks the model.
    fn converse(
        &self,
        view: &G::View,
        heard: Vec<String>,
        usage: &mut Usage,
        said: &mut Vec<Message>,
        ask: &mut dyn FnMut(&Question) -> Result<Reply, String>,
    ) -> Result<Answer<G::Action>, String> {
        let ModelEntry { desk, model, prompts, .. } = &self.entry;
        let disguise = self.disguise.as_ref();
        let trouble = |error: AskError| error.to_string();
        // A template that cannot be filled in fails again until somebody corrects it.
        let unfilled = |why: String| {
            let hint = format!("correct the prompt {:?} of [models.{}]", model.prompt, model.name);
            trouble(desk.in_the_way(AskError::Stuck { why, hint: Some(hint) }))
        };
        let form = desk.form(model, &self.disguised(&self.schema)).map_err(trouble)?;
        let schema = self.schema_now(view);
        // What is told once names all actions: then it stays the same, and endpoints need not read it again.
        let system = prompts.system(&self.scene(view, Vec::new(), form, &self.schema)).map_err(unfilled)?;
        let mut scene = self.scene(view, heard, form, &schema);
        let say = |role, text| Message { role, text };
        said.extend([
            say(Role::System, system),
            say(Role::User, prompts.decision(&scene).map_err(unfilled)?),
        ]);
        let schema = self.disguised(&schema);
        let mut faults = Vec::new();
        loop {
            let salt = self.salt_of(said);
            let question = Question { messages: said.clone(), schema: schema.clone(), form, salt };
            let reply = ask(&question)?;
            *usage += usage_of(&reply);
            let text: String = reply.text.chars().take(MOST_REPEATED).collect();
            let text = if text.trim().is_empty() { "(nothing)".to_owned() } else { text };
            said.push(say(Role::Assistant, text));
            let Unusable { fault, stands } = *match answer::read::<G>(&reply, view, disguise) {
                Ok(answer) => return Ok(noted(answer, &faults)),
                Err(unusable) => unusable,
            };
            usage.unusable += 1;
            *usage.unusable_by_kind.entry(fault.kind).or_default() += 1;
            if faults.len() >= model.retries as usize {
                return Ok(noted(stands, &faults));
            }
            let why = format!("{} ({})", fault.detail, fault.kind);
            scene.why = disguise.map_or(why.clone(), |disguise| disguise.prose(&why));
            said.push(say(Role::User, prompts.again(&scene).map_err(unfilled)?));
            faults.push(fault);
        }
    }
}

/// Returns the salt of a sample. The first sample of each copy has the salt from before there were samples, so kept answers stay valid.
fn salt(copy: u64, own: u64, sample: u64) -> u64 {
    if (own, sample) == (0, 0) {
        return copy;
    }
    let mut hasher = blake3::Hasher::new();
    for part in [copy, own, sample] {
        hasher.update(&part.to_le_bytes());
    }
    let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// Returns what a call took.
fn usage_of(reply: &Reply) -> Usage {
    Usage {
        calls: 1,
        input_tokens: reply.tokens.input,
        cached_tokens: reply.tokens.cached,
        output_tokens: reply.tokens.output,
        reasoning_tokens: reply.tokens.reasoning,
        cost_nanos: reply.cost.unwrap_or_default().nanos,
        unpriced: u64::from(reply.cost.is_none()),
        waited: reply.latency,
        answered_by: AnsweredBy::one(&reply.model),
        ..Usage::default()
    }
}

/// Adds the faults of earlier answers to the reason, so that replays show them.
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
        Answer::Fault(Fault { kind, detail, .. }) if !faults.is_empty() => Answer::Fault(Fault::new(
            kind,
            format!(
                "{detail} (after {} that could not be used)",
                words::count(faults.len() as u64, "answer")
            ),
        )),
        other => other,
    }
}

/// Returns JSON. Views, events and actions have no maps with odd keys, so this cannot fail.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        lineup::built_in,
        process::{Launcher, Limits},
    };
    use necrodome_models::{Budget, Desk, Models};
    use necrodome_rules::{
        bot::BotSpec,
        catalog::GameId,
        chance::Seeded,
        game::{Logged, Move},
        infection::Infection,
        tokyo::Tokyo,
        with_game,
    };
    use serde_json::Value;
    use std::{collections::BTreeSet, path::Path};

    /// Returns a model that is never asked.
    fn entry(lines: &str) -> ModelEntry {
        let text = format!("[models.a]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n{lines}\n");
        let models = Models::parse(&text, Path::new("models.toml")).unwrap();
        let desk = Desk::new(models, None, Answers::Only, Budget::default(), Arc::default()).unwrap();
        ModelEntry::new(&desk, "a").unwrap()
    }

    /// What a model is told before one decision.
    struct Told<A> {
        text: String,
        scene: Scene,
        /// The schema of the answer.
        schema: String,
        /// The choice of the bot that played for it.
        chosen: A,
    }

    /// Returns what a model in every seat is told in a match of bots.
    fn told<G: Listed>(lines: &str) -> Vec<Told<G::Action>> {
        const STEPS: usize = 60;
        let seats = G::CARD.opponents.len() + 1;
        let launcher = Launcher::from(std::path::PathBuf::from("nothing"));
        let terms = Terms { launcher, limits: Limits::default(), rules: G::Rules::default(), seats };
        let table = ModelPlayer::<G>::new(&entry(lines), &terms).unwrap().table;
        let spec = BotSpec { name: G::CARD.stand_in.to_owned(), params: Vec::new() };
        let mut bot = built_in::<G>(&spec, &terms.rules, Seeded::new(5, "bot", 0)).unwrap();
        let (mut chance, mut log) = (Seeded::new(5, "match", 0), Vec::<Logged<G::Event>>::new());
        let names = Names::new((0..seats).map(|seat| format!("p{seat}"))).unwrap();
        let mut game = G::new(&names, &terms.rules, &mut chance, &mut log).unwrap();
        let mut all = Vec::new();
        for _ in 0..STEPS {
            let mut moves = Vec::new();
            for &seat in game.to_act() {
                let (view, prompts) = (game.view(seat), &table.entry.prompts);
                let heard = log.iter().filter(|logged| logged.audience.includes(seat));
                let heard = heard.flat_map(|logged| table.told(&logged.event)).collect();
                let schema = table.schema_now(&view);
                let scene = table.scene(&view, heard, Form::Line, &schema);
                let text = prompts.system(&scene).unwrap() + &prompts.decision(&scene).unwrap();
                let chosen = bot.act(&view);
                moves.push(Move::Act(chosen.clone()));
                let schema = table.disguised(&schema).get().to_owned();
                all.push(Told { text, scene, schema, chosen });
            }
            log.clear();
            if moves.is_empty() || game.apply(&moves, &mut chance, &mut log).is_err() {
                break;
            }
        }
        assert!(all.len() > 1);
        all
    }

    fn words(text: &str) -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_ascii_alphabetic());
        words.map(str::to_ascii_lowercase).filter(|word| !word.is_empty()).collect()
    }

    #[test]
    fn in_disguise_no_word_of_the_game_is_told_and_answers_find_back() {
        fn check<G: Listed>(prompt: &str) {
            let disguise = Disguise::new(G::CARD.document, 7);
            let (hidden, symbols) = disguise.hidden();
            let leaks = |text: &str| -> Vec<String> {
                words(text).into_iter().filter(|word| hidden.contains(word.as_str())).collect()
            };
            for Told { text, scene, schema, chosen } in
                told::<G>(&format!("disguise = 7\nprompt = {prompt:?}"))
            {
                assert!(leaks(&text).is_empty(), "{}: {:?} in {text}", G::ID, leaks(&text));
                // Where the schema goes beside the prompt it is told, too.
                assert!(leaks(&schema).is_empty(), "{}: {:?} in {schema}", G::ID, leaks(&schema));
                let shown =
                    words(&format!("{} {} {}", scene.view, scene.events.join(" "), scene.legal.join(" ")));
                assert!(shown.iter().all(|word| !symbols.contains(word.as_str())), "{}: {shown:?}", G::ID);
                // What a model answers in its words is what it means.
                let action = serde_json::to_value(&chosen).unwrap();
                let answered: Value = serde_json::from_str(&disguise.code(&action.to_string())).unwrap();
                assert_eq!(disguise.undo_json(&answered), action);
            }
        }
        for id in GameId::ALL {
            with_game!(id, G => ["plain", "short"].map(check::<G>));
        }
    }

    /// What differs between a disguise and its control is words, and nothing else.
    #[test]
    fn real_words_are_told_in_the_form_of_a_disguise() {
        fn check<G: Listed>(prompt: &str) {
            let of = |words: &str| told::<G>(&format!("disguise = {words}\nprompt = {prompt:?}"));
            let disguise = Disguise::new(G::CARD.document, 7);
            for (real, told) in of("\"real-words\"").into_iter().zip(of("7")) {
                assert_eq!(disguise.code(&real.scene.view), told.scene.view, "{}", G::ID);
                assert_eq!(disguise.code(&real.schema), told.schema, "{}", G::ID);
                assert_eq!(disguise.code(&real.scene.situation), told.scene.situation, "{}", G::ID);
                let events = real.scene.events.iter().map(|event| disguise.code(event));
                assert_eq!(events.collect::<Vec<_>>(), told.scene.events, "{}", G::ID);
                let lines = |text: &str| text.lines().count();
                assert_eq!(lines(&real.text), lines(&told.text), "{}", G::ID);
            }
        }
        for id in GameId::ALL {
            with_game!(id, G => ["plain", "short"].map(check::<G>));
        }
    }

    /// Every name in the JSON of a game, in its options and in its title is hidden, or could belong to any game.
    #[test]
    fn no_name_of_a_game_is_forgotten_in_its_disguise() {
        const NEUTRAL: &str = "by current decided dice entered in left max over phase points rerolls rolled rolling scored scores \
            seat stay started turn turns type clock copies copy density direction east entry me missed move names no \
            north northeast northwest number orders out replaced result score seen side south southeast southwest square target west who x y \
            announced answer applied carry choose classic commit commitments count effect effects end ended ending failed has identity \
            interaction is limit lost met most nobody none partners public question report resolved rules seats standard start stock surplus \
            to told turned wait was win wins with broken colour face first forfeited free go hand mandatory of one opponent played \
            playing recycle roll round rounds stop stopped tiebreak until why";
        // The rest of a title gives no game away.
        const TITLES: [&str; 4] = ["dice", "last", "race", "solo"];
        fn names(schema: &Value, found: &mut BTreeSet<String>) {
            match schema {
                Value::Object(fields) => {
                    for (key, value) in fields {
                        match (key.as_str(), value) {
                            ("properties", Value::Object(properties)) => {
                                properties.keys().for_each(|name| found.extend(words(name)));
                            }
                            ("const", Value::String(name)) => found.extend(words(name)),
                            ("enum", names) => found.extend(words(&names.to_string())),
                            _ => {}
                        }
                        names(value, found);
                    }
                }
                Value::Array(items) => items.iter().for_each(|item| names(item, found)),
                _ => {}
            }
        }
        fn check<G: Listed>() {
            let disguise = Disguise::new(G::CARD.document, 1);
            let (hidden, symbols) = disguise.hidden();
            let mut found = BTreeSet::new();
            names(&schemars::schema_for!(G::View).to_value(), &mut found);
            names(&schemars::schema_for!(G::Action).to_value(), &mut found);
            names(&schemars::schema_for!(G::Event).to_value(), &mut found);
            names(&schemars::schema_for!(G::Rules).to_value(), &mut found);
            found.extend(
                words(G::TITLE)
                    .into_iter()
                    .chain(words(G::ID))
                    .filter(|word| !TITLES.contains(&word.as_str())),
            );
            let neutral = words(NEUTRAL);
            let known = |word: &String| {
                hidden.contains(word.as_str()) || symbols.contains(word.as_str()) || neutral.contains(word)
            };
            let forgotten: Vec<String> = found.into_iter().filter(|word| !known(word)).collect();
            assert!(forgotten.is_empty(), "{}: {forgotten:?}", G::ID);
        }
        for id in GameId::ALL {
            with_game!(id, G => check::<G>());
        }
    }

    #[test]
    fn a_prompt_has_the_rules_the_view_the_events_and_the_actions() {
        let shown = told::<Tokyo>("");
        let first = &shown[0];
        for part in ["2 to 6 monsters", "## What a bot sees and says", &first.scene.view, "ANSWER: {"] {
            assert!(first.text.contains(part), "{part}: {}", first.text);
        }
        assert!(
            first.text.contains("Player 0 begins a turn") || first.text.contains("Player 0 rolls"),
            "{}",
            first.text
        );
        // Every die may be kept or not.
        assert_eq!(first.scene.legal.len(), 64);
        let yields = shown.iter().find(|told| told.scene.view.contains("yielding")).unwrap();
        assert_eq!(yields.scene.legal, [r#"{"type":"yield"}"#, r#"{"type":"stay"}"#]);
        assert!(yields.text.contains("Your legal actions are:"));

        let hidden = told::<Tokyo>("legal = \"hidden\"");
        assert!(hidden.iter().all(|told| told.scene.legal.is_empty()));
        // Nor does the schema tell.
        assert!(hidden.iter().all(|told| told.text.contains(r#""const":"keep""#)));
        assert!(shown.iter().any(|told| !told.text.contains(r#""const":"keep""#)));
    }

    #[test]
    fn a_question_that_comes_back_in_a_match_is_another_sample() {
        let salts = |lines: &str, seed: u32| {
            let launcher = Launcher::from(std::path::PathBuf::from("nothing"));
            let terms = Terms { launcher, limits: Limits::default(), rules: Default::default(), seats: 2 };
            let mut player = ModelPlayer::<Tokyo>::new(&entry(lines), &terms).unwrap();
            let names = Names::new(["a", "b"].map(String::from)).unwrap();
            player.start(&MatchStart { seat: Seat(0), names: &names, seed });
            let say = |text: &str| [Message { role: Role::User, text: text.to_owned() }];
            ["x", "y", "x", "x"].map(|text| player.table.salt_of(&say(text)))
        };
        let shared = salts("", 1);
        assert_eq!(shared, salts("", 2), "matches share samples");
        assert_eq!((shared[0], shared[1]), (0, 0), "the first is what books have kept before");
        assert_eq!(BTreeSet::from(shared).len(), 3, "{shared:?}");
        let own = salts("samples = \"match\"", 1);
        assert_eq!(own, salts("samples = \"match\"", 1), "the same match has the same samples");
        let other = salts("samples = \"match\"", 2);
        assert!(own.iter().all(|salt| !shared.contains(salt) && !other.contains(salt)));
    }

    #[test]
    fn a_seat_of_infection_is_told_what_it_may_know() {
        for told in told::<Infection>("") {
            let events = told.scene.events.join("\n");
            // Who commits what, and what comes of it, is the judge's.
            assert!(!events.contains("commits") && !events.contains("becomes"), "{events}");
        }
    }

    #[test]
    fn an_edited_table_or_prompt_is_another_entry() {
        let fingerprint = |lines| entry(lines).fingerprint().to_owned();
        let plain = fingerprint("");
        assert_eq!(fingerprint("prompt = \"plain\"\nconcurrency = 3"), plain);
        for other in [
            "prompt = \"short\"",
            "legal = \"hidden\"",
            "disguise = 1",
            "disguise = \"real-words\"",
            "retries = 0",
            "samples = \"match\"",
        ] {
            assert_ne!(fingerprint(other), plain, "{other}");
        }
    }
}
