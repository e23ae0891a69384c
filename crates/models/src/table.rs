//! Models, as `[models.NAME]` tables describe them.

use crate::{Budget, Form, Money, Price, key::KeyEnv};
use necrodome_rules::misread::{Format, Misread};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    fmt,
    net::IpAddr,
    ops::{Range, RangeInclusive},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use toml::Spanned;

/// Whether a prompt lists the legal actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Legal {
    /// The prompt lists them.
    #[default]
    Shown,
    /// The prompt does not list them: the model must know the rules.
    Hidden,
}

/// How far the answers of a model are shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Samples {
    /// Shared by all matches: a question has the same answer in each.
    #[default]
    Question,
    /// Not shared: every match asks for itself.
    Match,
}

/// The words in which a model is told a game whose own way of telling it is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disguise {
    /// Those of the game, to compare the others with.
    RealWords,
    /// Invented ones, by a seed.
    Invented(u64),
}

impl Disguise {
    const REAL_WORDS: &str = "real-words";

    /// As tables say it.
    fn json(self) -> Value {
        match self {
            Disguise::RealWords => Self::REAL_WORDS.into(),
            Disguise::Invented(seed) => seed.into(),
        }
    }
}

/// A model, as its table describes it. The key itself is never part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The name of the table.
    pub name: String,
    /// The address of the endpoint, without `/chat/completions`.
    pub base_url: String,
    /// The model as the endpoint calls it.
    pub model: String,
    /// The environment variable that holds the key.
    pub key_env: Option<KeyEnv>,
    /// The variant of the prompt: a built-in one, or a folder relative to that of [`file`](Model::file).
    pub prompt: String,
    /// The form of answers. Without it, the desk finds one that works ([`Desk::form`](crate::Desk::form)).
    pub answers: Option<Form>,
    /// Whether prompts list the legal actions.
    pub legal: Legal,
    /// The seed of the disguise, in which prompts rename everything in a game.
    pub disguise: Option<Disguise>,
    /// Whether matches share answers.
    pub samples: Samples,
    /// The number of further questions after an answer that cannot be used.
    pub retries: u32,
    /// Parameters that are passed on to the endpoint unchanged.
    pub parameters: Map<String, Value>,
    /// The price of input, if known.
    pub input_price: Option<Price>,
    /// The price of input that the endpoint had cached, if it differs.
    pub cached_price: Option<Price>,
    /// The price of output, if known.
    pub output_price: Option<Price>,
    /// The most requests per minute.
    pub requests_per_minute: Option<u32>,
    /// The most tokens per minute, input and output.
    pub tokens_per_minute: Option<u32>,
    /// The most calls at once.
    pub concurrency: u32,
    /// The longest time for a call.
    pub timeout: Duration,
    /// The limits of this model's calls in one run.
    pub budget: Budget,
    /// The file of the table.
    pub file: PathBuf,
}

impl Model {
    /// A hash of everything that changes the model's answers, as 16 hexadecimal digits, apart from the text of prompts.
    pub fn fingerprint(&self) -> String {
        let mut all = vec![json!([
            self.base_url,
            self.model,
            self.prompt,
            self.answers.map(Form::as_str),
            self.legal == Legal::Shown,
            self.disguise.map(Disguise::json),
            self.retries,
            self.parameters,
        ])];
        // Stores from before there were samples know the rest by itself.
        if self.samples == Samples::Match {
            all.push("match".into());
        }
        let all: String = all.iter().map(Value::to_string).collect();
        blake3::hash(all.as_bytes()).to_hex()[..16].to_owned()
    }

    /// The folder of its file, to which paths in its table are relative.
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    /// The prices of input and output, if both are known.
    pub fn prices(&self) -> Option<(Price, Price)> {
        self.input_price.zip(self.output_price)
    }

    /// The most tokens of an answer, if the parameters limit them.
    pub fn most_output(&self) -> Option<u64> {
        let limit = |name| self.parameters.get(name).and_then(Value::as_u64);
        // Endpoints know one or the other; with both, it is not known which they heed.
        Some(limit("max_completion_tokens").max(limit("max_tokens"))?.min(MOST_TOKENS))
    }
}

impl Model {
    /// Whether nobody on the way can read what is sent.
    pub(crate) fn is_private(&self) -> bool {
        self.base_url.starts_with("https://") || self.is_local()
    }

    /// Whether the endpoint is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        let host = self.base_url.split('/').nth(2).unwrap_or_default();
        // Without the port; the address of IPv6 stands in brackets.
        let host = host.strip_prefix('[').map_or(host.split(':').next(), |host| host.split(']').next());
        let host = host.unwrap_or_default();
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

/// A number of tokens that no call takes.
pub(crate) const MOST_TOKENS: u64 = 10_000_000;

/// Models by name.
#[derive(Debug, Clone, Default)]
pub struct Models {
    models: BTreeMap<String, Arc<Model>>,
}

impl Models {
    /// Reads a file that holds tables: one with nothing else, or that of a tournament, which names its game.
    pub fn parse_file(text: &str, path: &Path) -> Result<Self, TableError> {
        let is_tournament = |file: toml::Table| file.contains_key("game");
        match toml::from_str(text).is_ok_and(is_tournament) {
            true => Self::parse_within(text, path),
            false => Self::parse(text, path),
        }
    }

    /// Reads a file that holds only `[models.NAME]` tables. `path` is for errors, and for relative paths in the file.
    pub fn parse(text: &str, path: &Path) -> Result<Self, TableError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            #[serde(default)]
            models: Tables,
        }
        let file = Source { text, path };
        let File { models } = toml::from_str(text).map_err(|error| file.mistake(&error))?;
        file.models(models)
    }

    /// Reads the `[models.NAME]` tables of a file that holds other things, too, such as a tournament.
    pub fn parse_within(text: &str, path: &Path) -> Result<Self, TableError> {
        #[derive(Deserialize)]
        struct File {
            #[serde(default)]
            models: Tables,
        }
        let file = Source { text, path };
        let File { models } = toml::from_str(text).map_err(|error| file.mistake(&error))?;
        file.models(models)
    }

    /// Adds the models of another file, which replace those of the same name.
    pub fn with(mut self, others: Models) -> Self {
        self.models.extend(others.models);
        self
    }

    /// A model by its name.
    pub fn get(&self, name: &str) -> Option<&Arc<Model>> {
        self.models.get(name)
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.models.keys().map(String::as_str)
    }

    /// The name most like a given one, or `None` if none is near.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.names())
    }
}

/// A mistake in a table: `file:line:column: what is wrong`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableError {
    /// The file.
    pub path: PathBuf,
    /// Line and column, from 1.
    pub place: Option<(usize, usize)>,
    /// What is wrong, and what was expected.
    pub why: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.why)
    }
}

impl std::error::Error for TableError {}

/// The name most like a given one, or `None` if none is near.
fn nearest<'a>(name: &str, valid: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |candidate: &str| strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase());
    valid
        .map(|candidate| (likeness(candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

type Tables = BTreeMap<Spanned<String>, Table>;

/// A table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    base_url: Spanned<String>,
    model: Spanned<String>,
    key_env: Option<Spanned<toml::Value>>,
    prompt: Option<Spanned<String>>,
    answers: Option<Spanned<String>>,
    legal: Option<Spanned<String>>,
    disguise: Option<Spanned<toml::Value>>,
    samples: Option<Spanned<String>>,
    retries: Option<Spanned<u64>>,
    #[serde(default)]
    parameters: BTreeMap<Spanned<String>, Spanned<toml::Value>>,
    input_price: Option<Spanned<f64>>,
    cached_price: Option<Spanned<f64>>,
    output_price: Option<Spanned<f64>>,
    requests_per_minute: Option<Spanned<u64>>,
    tokens_per_minute: Option<Spanned<u64>>,
    concurrency: Option<Spanned<u64>>,
    timeout_s: Option<Spanned<u64>>,
    budget: Option<Spanned<f64>>,
    budget_tokens: Option<u64>,
}

/// The parameters that the arena itself sets in a request.
const RESERVED: [&str; 10] = [
    "function_call",
    "functions",
    "messages",
    "model",
    "n",
    "response_format",
    "stream",
    "stream_options",
    "tool_choice",
    "tools",
];

/// Whether a parameter is a secret by its name, or holds one: the book keeps parameters, so keys must not be among them.
fn is_secret(name: &str, value: &Value) -> bool {
    const SECRETS: [&str; 7] =
        ["accesstoken", "apikey", "authorization", "authtoken", "bearer", "password", "secret"];
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    let is_within = |value: &Value| match value {
        Value::Object(pairs) => pairs.iter().any(|(name, value)| is_secret(name, value)),
        Value::Array(values) => values.iter().any(|value| is_secret("", value)),
        _ => false,
    };
    SECRETS.iter().any(|secret| plain.contains(secret)) || is_within(value)
}

/// The forms of answers as tables name them.
const FORMS: [(&str, Option<Form>); 4] =
    [("auto", None), ("schema", Some(Form::Schema)), ("tool", Some(Form::Tool)), ("line", Some(Form::Line))];

/// A file that is being read.
struct Source<'a> {
    text: &'a str,
    path: &'a Path,
}

impl Source<'_> {
    fn models(&self, tables: Tables) -> Result<Models, TableError> {
        let models = tables.into_iter().map(|(name, table)| {
            let model = self.model(&name, table)?;
            Ok((name.into_inner(), Arc::new(model)))
        });
        Ok(Models { models: models.collect::<Result<_, TableError>>()? })
    }

    fn model(&self, name: &Spanned<String>, table: Table) -> Result<Model, TableError> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.get_ref().is_empty() || !name.get_ref().chars().all(is_word) {
            let why = format!("expected a name of letters, digits, - _ and . only, got {:?}", name.get_ref());
            return Err(self.refuse(name.span(), why));
        }
        let key_env = table.key_env.map(|key_env| self.variable(key_env)).transpose()?;
        let price = |price: Option<Spanned<f64>>| Ok(self.money("a price", price)?.map(Price));
        Ok(Model {
            name: name.get_ref().clone(),
            base_url: self.url(&table.base_url)?,
            model: self.text("the name of a model", &table.model)?,
            key_env,
            prompt: table.prompt.map_or(Ok("plain".into()), |prompt| self.text("a variant", &prompt))?,
            answers: self.one_of(table.answers, &FORMS)?,
            legal: self.one_of(table.legal, &[("shown", Legal::Shown), ("hidden", Legal::Hidden)])?,
            disguise: table.disguise.map(|disguise| self.disguise(disguise)).transpose()?,
            samples: self
                .one_of(table.samples, &[("question", Samples::Question), ("match", Samples::Match)])?,
            retries: self.number(table.retries, 0..=10)?.unwrap_or(1),
            parameters: self.parameters(table.parameters)?,
            input_price: price(table.input_price)?,
            cached_price: price(table.cached_price)?,
            output_price: price(table.output_price)?,
            requests_per_minute: self.number(table.requests_per_minute, 1..=1_000_000)?,
            tokens_per_minute: self.number(table.tokens_per_minute, 1..=1_000_000_000)?,
            concurrency: self.number(table.concurrency, 1..=1024)?.unwrap_or(8),
            timeout: Duration::from_secs(self.number(table.timeout_s, 1..=3600)?.unwrap_or(120).into()),
            budget: Budget { money: self.money("an amount", table.budget)?, tokens: table.budget_tokens },
            file: self.path.to_owned(),
        })
    }

    fn text(&self, what: &str, text: &Spanned<String>) -> Result<String, TableError> {
        match text.get_ref().trim() {
            "" => Err(self.refuse(text.span(), format!("expected {what}, got nothing"))),
            text => Ok(text.to_owned()),
        }
    }

    fn disguise(&self, disguise: Spanned<toml::Value>) -> Result<Disguise, TableError> {
        let real = Disguise::REAL_WORDS;
        match disguise.get_ref() {
            toml::Value::String(word) if word == real => return Ok(Disguise::RealWords),
            toml::Value::Integer(seed) => {
                if let Ok(seed) = u64::try_from(*seed) {
                    return Ok(Disguise::Invented(seed));
                }
            }
            _ => {}
        }
        let why =
            format!("expected a seed (a whole number, 0 or more) or {real:?}, got {}", disguise.get_ref());
        Err(self.refuse(disguise.span(), why))
    }

    /// Reads the name of an environment variable. Errors do not show the text, since it may be the key itself.
    fn variable(&self, name: Spanned<toml::Value>) -> Result<KeyEnv, TableError> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name =
            |name: &str| name.chars().all(is_word) && !name.starts_with(|c: char| c.is_ascii_digit());
        if let Some(text) = name.get_ref().as_str()
            && !text.is_empty()
            && is_name(text)
        {
            return Ok(KeyEnv(text.to_owned()));
        }
        let why = "expected the name of an environment variable: letters, digits and _, no digit first";
        let refused = self.refuse(name.span(), why.into());
        Err(TableError {
            hint: Some("put the key into a variable, and the variable's name here".into()),
            ..refused
        })
    }

    /// Reads the address of an endpoint, without parts that may be secret.
    fn url(&self, url: &Spanned<String>) -> Result<String, TableError> {
        let text = url.get_ref().trim().trim_end_matches('/');
        let text = text.strip_suffix("/chat/completions").unwrap_or(text);
        let rest = text.strip_prefix("https://").or(text.strip_prefix("http://"));
        let host = rest.and_then(|rest| rest.split('/').next()).unwrap_or_default();
        if host.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            let why =
                format!("expected an address such as \"https://api.openai.com/v1\", got {:?}", url.get_ref());
            return Err(self.refuse(url.span(), why));
        }
        if text.contains(['?', '#']) || host.contains('@') {
            let why = "expected an address without a user, a password, ? or #".into();
            let hint = "keys go into the environment variable that key_env names";
            return Err(TableError { hint: Some(hint.into()), ..self.refuse(url.span(), why) });
        }
        Ok(text.to_owned())
    }

    /// The meaning of a word in a list; without a word, that of the first.
    fn one_of<T: Copy>(&self, word: Option<Spanned<String>>, all: &[(&str, T)]) -> Result<T, TableError> {
        let named = |name: &str| all.iter().find(|(known, _)| *known == name);
        let Some(word) = word else { return Ok(all[0].1) };
        if let Some((_, meaning)) = named(word.get_ref()) {
            return Ok(*meaning);
        }
        let names: Vec<String> = all.iter().map(|(name, _)| format!("{name:?}")).collect();
        let why = format!("expected one of {}, got {:?}", names.join(", "), word.get_ref());
        let hint = nearest(word.get_ref(), all.iter().map(|(name, _)| *name));
        let hint = hint.map(|near| format!("did you mean {near}?"));
        Err(TableError { hint, ..self.refuse(word.span(), why) })
    }

    fn number(
        &self,
        number: Option<Spanned<u64>>,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, TableError> {
        let Some(number) = number else { return Ok(None) };
        let value = u32::try_from(*number.get_ref()).ok().filter(|value| range.contains(value));
        let why = || {
            format!(
                "expected a whole number from {} to {}, got {}",
                range.start(),
                range.end(),
                number.get_ref()
            )
        };
        value.map(Some).ok_or_else(|| self.refuse(number.span(), why()))
    }

    fn money(&self, what: &str, amount: Option<Spanned<f64>>) -> Result<Option<Money>, TableError> {
        let Some(amount) = amount else { return Ok(None) };
        let why = || format!("expected {what} from 0 to {}, got {}", Money::MOST, amount.get_ref());
        let money = Money::from_number(*amount.get_ref());
        money.map(Some).ok_or_else(|| self.refuse(amount.span(), why()))
    }

    fn parameters(
        &self,
        table: BTreeMap<Spanned<String>, Spanned<toml::Value>>,
    ) -> Result<Map<String, Value>, TableError> {
        let parameter = |(name, value): (Spanned<String>, Spanned<toml::Value>)| {
            if RESERVED.contains(&name.get_ref().as_str()) {
                return Err(self.refuse(name.span(), format!("the arena itself sets {:?}", name.get_ref())));
            }
            let span = value.span();
            let json = json_of(value.into_inner())
                .ok_or_else(|| self.refuse(span, "expected what JSON can say".into()))?;
            if is_secret(name.get_ref(), &json) {
                let why =
                    format!("{:?} must not hold a key: parameters are kept with the calls", name.get_ref());
                let hint = "put the key into an environment variable, and the variable's name into key_env";
                return Err(TableError { hint: Some(hint.into()), ..self.refuse(name.span(), why) });
            }
            Ok((name.into_inner(), json))
        };
        table.into_iter().map(parameter).collect()
    }

    /// Describes a mistake that the parser found, in terms of TOML.
    fn mistake(&self, error: &toml::de::Error) -> TableError {
        let (why, hint) = match Misread::new(error.message(), Format::Toml) {
            // In TOML, a dot in a name that is not quoted begins another table.
            Misread::Key { name, .. } if name.starts_with(|c: char| c.is_ascii_digit()) => {
                let hint = "put a name with a dot in quotes, such as [models.\"gpt-4.1\"]";
                (format!("unknown key {name:?}"), Some(hint.to_owned()))
            }
            Misread::Key { name, known } => {
                let hint = match nearest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("there are {}", known.join(", ")),
                };
                (format!("unknown key {name:?}"), Some(hint))
            }
            Misread::Other(why) => (why, None),
        };
        let place = error.span().map(|span| self.place(span.start));
        TableError { path: self.path.to_owned(), place, why, hint }
    }

    fn refuse(&self, span: Range<usize>, why: String) -> TableError {
        TableError { path: self.path.to_owned(), place: Some(self.place(span.start)), why, hint: None }
    }

    fn place(&self, byte: usize) -> (usize, usize) {
        let before = self.text.get(..byte).unwrap_or(self.text);
        let line = 1 + before.matches('\n').count();
        (line, 1 + before.rsplit('\n').next().unwrap_or_default().chars().count())
    }
}

/// Converts a value of TOML into JSON, or returns `None` if JSON has no such value.
fn json_of(value: toml::Value) -> Option<Value> {
    Some(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)?.into(),
        toml::Value::Boolean(value) => value.into(),
        toml::Value::Datetime(_) => return None,
        toml::Value::Array(values) => values.into_iter().map(json_of).collect::<Option<Vec<_>>>()?.into(),
        toml::Value::Table(table) => {
            let pairs = table.into_iter().map(|(name, value)| Some((name, json_of(value)?)));
            Value::Object(pairs.collect::<Option<_>>()?)
        }
    })
}
