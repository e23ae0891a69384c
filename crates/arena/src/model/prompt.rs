//! Prompts: three text templates in a folder, built in or a user's own copy.

use super::Disguise;
use minijinja::{Environment, UndefinedBehavior, value::Value};
use necrodome_models::Form;
use necrodome_own as own;
use necrodome_rules::{card::Card, catalog::Listed};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The files of a variant: what a model is told once, with each decision, and after an answer that cannot be used.
const FILES: [&str; 3] = ["system.txt", "decision.txt", "again.txt"];

/// Steps of a template, so that a loop in one ends.
const FUEL: u64 = 1_000_000;

/// What the templates may use.
const VARIABLES: [&str; 14] = [
    "about",
    "events",
    "form",
    "legal",
    "options",
    "rules",
    "rules_in_short",
    "schema",
    "seat",
    "seats",
    "situation",
    "title",
    "view",
    "why",
];

/// A variant that is part of the program.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// What it is like.
    pub about: &'static str,
    texts: [&'static str; 3],
}

macro_rules! variant {
    ($name:literal, $about:literal) => {
        Variant {
            name: $name,
            about: $about,
            texts: [
                include_str!(concat!("../../../../bots/prompts/", $name, "/system.txt")),
                include_str!(concat!("../../../../bots/prompts/", $name, "/decision.txt")),
                include_str!(concat!("../../../../bots/prompts/", $name, "/again.txt")),
            ],
        }
    };
}

impl Variant {
    /// All of them.
    pub const ALL: [Variant; 2] = [
        variant!("plain", "all of the rules, the situation in words and as JSON"),
        variant!("short", "the rules on half a screen, and few words: fewer tokens"),
    ];

    /// Its files: names and texts.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        FILES.into_iter().zip(self.texts)
    }
}

/// Why a prompt cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// There is no such variant, nor such a folder.
    #[error(
        "there is no variant {prompt:?}, nor a folder {}: expected {}, or a folder with {}",
        folder.display(),
        Variant::ALL.map(|variant| variant.name).join(", "),
        FILES.join(", ")
    )]
    Unknown {
        /// What the table says.
        prompt: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// A file cannot be read.
    #[error("{}: {why}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A template is not well-formed.
    #[error("{file}: {why}")]
    Template {
        /// The file.
        file: String,
        /// What is wrong, and where.
        why: String,
    },
    /// A template uses what there is not.
    #[error("{file}: there is no {{{{ {name} }}}}: expected one of {}", VARIABLES.join(", "))]
    Variable {
        /// The file.
        file: String,
        /// The name.
        name: String,
    },
}

/// The templates of a variant, ready to be filled in.
#[derive(Debug)]
pub struct Prompts {
    templates: Environment<'static>,
    hash: String,
}

/// What is the same in every decision of a match.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Setting {
    title: String,
    about: String,
    rules: String,
    rules_in_short: String,
    options: String,
    seats: usize,
    seat: u16,
    form: &'static str,
    schema: String,
}

/// What a decision adds to it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Scene {
    #[serde(flatten)]
    pub setting: Setting,
    pub situation: String,
    pub view: String,
    pub events: Vec<String>,
    pub legal: Vec<String>,
    pub why: String,
}

impl Prompts {
    /// The built-in variant of this name, or the templates in a folder, as seen from `folder`.
    pub fn load(prompt: &str, folder: &Path) -> Result<Self, PromptError> {
        if let Some(variant) = Variant::ALL.iter().find(|variant| variant.name == prompt) {
            return Self::new(variant.texts.map(str::to_owned));
        }
        let folder = folder.join(prompt);
        if !folder.is_dir() {
            return Err(PromptError::Unknown { prompt: prompt.to_owned(), folder });
        }
        let read = |file: &str| {
            let path = folder.join(file);
            own::read_text(&path).map_err(|error| PromptError::Unread { path, why: error.to_string() })
        };
        let [system, decision, again] = FILES.map(read);
        Self::new([system?, decision?, again?])
    }

    fn new(texts: [String; 3]) -> Result<Self, PromptError> {
        let hash = texts.iter().fold(blake3::Hasher::new(), |mut hasher, text| {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
            hasher
        });
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.set_fuel(Some(FUEL));
        templates.set_trim_blocks(true);
        templates.set_lstrip_blocks(true);
        for (file, text) in FILES.into_iter().zip(texts) {
            let refuse = |error: minijinja::Error| {
                let line = error.line().map_or(String::new(), |line| format!("line {line}: "));
                let why = error.detail().map_or(error.kind().to_string(), str::to_owned);
                PromptError::Template { file: file.to_owned(), why: line + &why }
            };
            templates.add_template_owned(file, text).map_err(refuse)?;
            let used = templates.get_template(file).map_err(refuse)?.undeclared_variables(false);
            let known =
                |name: &str| VARIABLES.contains(&name) || templates.globals().any(|(own, _)| own == name);
            let mut unknown: Vec<String> = used.into_iter().filter(|name| !known(name)).collect();
            unknown.sort();
            if let Some(name) = unknown.into_iter().next() {
                return Err(PromptError::Variable { file: file.to_owned(), name });
            }
        }
        Ok(Prompts { templates, hash: hash.finalize().to_hex()[..32].to_owned() })
    }

    /// A hash of all texts.
    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    /// What a model is told once.
    pub(super) fn system(&self, scene: &Scene) -> Result<String, String> {
        self.filled(FILES[0], scene)
    }

    /// A decision.
    pub(super) fn decision(&self, scene: &Scene) -> Result<String, String> {
        self.filled(FILES[1], scene)
    }

    /// What is said about an answer that cannot be used.
    pub(super) fn again(&self, scene: &Scene) -> Result<String, String> {
        self.filled(FILES[2], scene)
    }

    fn filled(&self, file: &str, scene: &Scene) -> Result<String, String> {
        let template = self.templates.get_template(file);
        let filled = template.and_then(|template| template.render(Value::from_serialize(scene)));
        filled.map(|text| text.trim().to_owned()).map_err(|error| format!("the prompt {file}: {error}"))
    }
}

impl Setting {
    /// The setting of a match, in other words if there is a disguise.
    pub fn new<G: Listed>(
        rules: &G::Rules,
        (seats, seat): (usize, u16),
        form: Form,
        schema: &str,
        disguise: Option<&Disguise>,
    ) -> Self {
        let prose = |text: &str| disguise.map_or(text.to_owned(), |disguise| disguise.prose(text));
        let code = |json: &str| disguise.map_or(json.to_owned(), |disguise| disguise.code(json));
        let Card { title, about, rules: in_short, .. } = G::CARD;
        let options = serde_json::to_value(rules).unwrap_or_default();
        Setting {
            title: prose(title),
            about: prose(about),
            rules: prose(&rules_of(&G::CARD, &options)),
            rules_in_short: prose(in_short),
            options: code(&options.to_string()),
            seats,
            seat,
            form: match form {
                Form::Schema => "schema",
                Form::Tool => "tool",
                Form::Line => "line",
            },
            schema: code(schema),
        }
    }
}

/// The documents with the rules, by name.
const DOCUMENTS: [(&str, &str); 5] = [
    ("zombie-dice", include_str!("../../../../docs/rules/zombie-dice.md")),
    ("last-bullet", include_str!("../../../../docs/rules/last-bullet.md")),
    ("infection", include_str!("../../../../docs/rules/infection.md")),
    ("infection-classic", include_str!("../../../../docs/rules/infection-classic.md")),
    ("tokyo", include_str!("../../../../docs/rules/tokyo.md")),
];

/// The rules of a game, with those of a variant that an option chooses (`rules=classic`) behind them.
fn rules_of(card: &Card, options: &serde_json::Value) -> String {
    let document = |name: &str| DOCUMENTS.iter().find(|(own, _)| *own == name).map(|(_, text)| *text);
    let Some(rules) = document(card.document) else { return card.rules.to_owned() };
    let chosen = options.as_object().into_iter().flat_map(|options| options.values());
    let chosen = chosen.filter_map(|value| document(&format!("{}-{}", card.document, value.as_str()?)));
    std::iter::once(rules).chain(chosen).map(str::trim).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::catalog::GameId;
    use std::fs;

    #[test]
    fn every_game_has_its_rules() {
        for id in GameId::ALL {
            let rules = rules_of(&id.card(), &serde_json::json!({}));
            assert!(rules.contains("## What a bot sees and says"), "{id}");
        }
        let classic = rules_of(&GameId::Infection.card(), &serde_json::json!({"rules": "classic"}));
        assert!(classic.contains(include_str!("../../../../docs/rules/infection-classic.md").trim()));
    }

    #[test]
    fn mistakes_in_templates_are_found_before_anything_starts() {
        let folder = tempfile::tempdir().unwrap();
        let with = |decision: &str| {
            for (file, text) in Variant::ALL[0].files() {
                fs::write(folder.path().join(file), text).unwrap();
            }
            fs::write(folder.path().join("decision.txt"), decision).unwrap();
            Prompts::load("", folder.path())
                .map(|prompts| prompts.hash().to_owned())
                .map_err(|e| e.to_string())
        };
        let plain = Prompts::load("plain", Path::new("nowhere")).unwrap();
        assert_eq!(with(Variant::ALL[0].texts[1]).unwrap(), plain.hash());
        assert_ne!(with("{{ view }}").unwrap(), plain.hash());
        let unknown = with("{{ vew }}").unwrap_err();
        assert!(
            unknown.starts_with("decision.txt: there is no {{ vew }}: expected one of about, "),
            "{unknown}"
        );
        let open = with("\n{% if view %}").unwrap_err();
        assert!(open.starts_with("decision.txt: line 2: "), "{open}");
        fs::remove_file(folder.path().join("again.txt")).unwrap();
        nix::unistd::mkfifo(&folder.path().join("again.txt"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let pipe = Prompts::load("", folder.path()).unwrap_err().to_string();
        assert!(pipe.ends_with("again.txt: is no regular file"), "{pipe}");
        let missing = Prompts::load("plan", folder.path()).unwrap_err().to_string();
        assert!(missing.contains("expected plain, short, or a folder with system.txt"), "{missing}");
    }
}
