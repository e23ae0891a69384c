//! Prompts: three text templates in a folder, built in or a user's own copy.

use super::{
    Disguise,
    bounded::{self, Page},
};
use minijinja::{Environment, UndefinedBehavior, value::Value};
use necrodome_models::Form;
use necrodome_own as own;
use necrodome_rules::{card::Card, catalog::Listed};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The files of a variant: what a model is told once, with each decision, and after an answer that cannot be used.
const FILES: [&str; 3] = ["system.txt", "decision.txt", "again.txt"];

/// The most steps of a template, so that a loop in one ends.
const FUEL: u64 = 1_000_000;

/// The variables that templates may use.
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
    /// A short description.
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
    /// All built-in variants.
    pub const ALL: [Variant; 2] = [
        variant!("plain", "all of the rules, the situation in words and as JSON"),
        variant!("short", "the rules on half a screen, and few words: fewer tokens"),
    ];

    /// Returns its files: names and texts.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        FILES.into_iter().zip(self.texts)
    }
}

/// The reason why a prompt cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// There is no such variant and no such folder.
    #[error(
        "there is no variant {prompt:?}, nor a folder {}: expected {}, or a folder with {}",
        folder.display(),
        Variant::ALL.map(|variant| variant.name).join(", "),
        FILES.join(", ")
    )]
    Unknown {
        /// The name of the prompt in the model's table.
        prompt: String,
        /// The folder that the arena looked for.
        folder: PathBuf,
    },
    /// A file cannot be read.
    #[error("{}: {why}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// The reason.
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
    /// A template uses a variable that does not exist.
    #[error("{file}: there is no {{{{ {name} }}}}: expected one of {}", VARIABLES.join(", "))]
    Variable {
        /// The file.
        file: String,
        /// The name of the variable.
        name: String,
    },
}

/// The templates of a variant, ready to be filled in.
#[derive(Debug)]
pub struct Prompts {
    templates: Environment<'static>,
    hash: String,
}

/// The part of a prompt that is the same in every decision of a match.
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

/// The setting, and what one decision adds to it.
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
    /// Loads the built-in variant with this name, or the templates in a folder relative to `folder`.
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
        bounded::restrict(&mut templates);
        for (file, text) in FILES.into_iter().zip(texts) {
            let refuse = |error: minijinja::Error| {
                let line = error.line().map_or(String::new(), |line| format!("line {line}: "));
                let why = error.detail().map_or(error.kind().to_string(), str::to_owned);
                PromptError::Template { file: file.to_owned(), why: line + &why }
            };
            bounded::check(&text).map_err(|why| PromptError::Template { file: file.to_owned(), why })?;
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

    /// Returns a hash of all texts.
    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the text that a model is told once.
    pub(super) fn system(&self, scene: &Scene) -> Result<String, String> {
        self.filled(FILES[0], scene)
    }

    /// Returns the text of a decision.
    pub(super) fn decision(&self, scene: &Scene) -> Result<String, String> {
        self.filled(FILES[1], scene)
    }

    /// Returns the text about an answer that cannot be used.
    pub(super) fn again(&self, scene: &Scene) -> Result<String, String> {
        self.filled(FILES[2], scene)
    }

    fn filled(&self, file: &str, scene: &Scene) -> Result<String, String> {
        let refuse = |error: minijinja::Error| format!("the prompt {file}: {error}");
        let template = self.templates.get_template(file).map_err(refuse)?;
        let mut page = Page::default();
        let filled = template.render_captured_to(Value::from_serialize(scene), &mut page).map(drop);
        if page.is_full() {
            return Err(format!("the prompt {file}: the text is longer than {} MB", bounded::LONGEST >> 20));
        }
        filled.map_err(refuse)?;
        Ok(page.text().trim().to_owned())
    }
}

impl Setting {
    /// Returns the setting of a match, disguised if there is a disguise.
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

/// Returns the rules of a game, followed by those of a variant that an option chooses (`rules=classic`).
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
    fn a_template_that_loops_is_stopped() {
        let rounds = |outer: u32| {
            let text = format!(
                "{{% for a in range({outer}) %}}{{% for b in range(1000) %}}.{{% endfor %}}{{% endfor %}}"
            );
            let prompts = Prompts::new([String::new(), text, String::new()]).unwrap();
            let rules = necrodome_rules::pig::PigRules::default();
            let setting = Setting::new::<necrodome_rules::pig::Pig>(&rules, (2, 0), Form::Line, "{}", None);
            let (situation, view, why) = Default::default();
            prompts.decision(&Scene { setting, situation, view, events: vec![], legal: vec![], why })
        };
        assert_eq!(rounds(2).map(|text| text.len()), Ok(2000));
        let stopped = rounds(10_000).unwrap_err();
        assert!(stopped.starts_with("the prompt decision.txt: ") && stopped.contains("fuel"), "{stopped}");
    }

    #[test]
    fn a_template_cannot_fill_the_memory() {
        let filled = |text: &str| {
            let prompts = Prompts::new([String::new(), text.to_owned(), String::new()])
                .map_err(|error| error.to_string())?;
            let rules = necrodome_rules::pig::PigRules::default();
            let setting = Setting::new::<necrodome_rules::pig::Pig>(&rules, (2, 0), Form::Line, "{}", None);
            let (situation, view, why) = Default::default();
            let legal = vec!["a|b~c".to_owned(), "d".to_owned()];
            prompts.decision(&Scene { setting, situation, view, events: vec![], legal, why })
        };
        // Each of these took gigabytes, or minutes.
        for (text, why) in [
            ("{% for i in range(40) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}", "{% set"),
            ("{%- with a = 1 %}{% endwith %}", "{% with"),
            ("{% for x in legal recursive %}{{ loop(x) }}{% endfor %}", "recursive"),
            ("{{ rules ~ rules }}", "~"),
            ("{{ rules + rules }}", "+"),
            ("{{ rules * 100 }}", "*"),
            ("{{ '%1000000000d'|format(3) }}", "format"),
            ("{{ rules|replace('a', rules)|replace('a', rules) }}", "replace"),
            ("{{ rules | indent(2000000000) }}", "indent"),
            ("{% for i in range(9999) %}{{ rules }}{{ rules }}{% endfor %}", "longer than 1 MB"),
            ("{% for i in range(9999)|map('upper') %}{% endfor %}", "map"),
            ("{{ range(9999)|join(rules) }}{{ range(9999)|join(rules) }}", "longer than 1 MB"),
        ] {
            let refused = filled(text).unwrap_err();
            assert!(refused.starts_with("decision.txt: ") || refused.starts_with("the prompt "), "{refused}");
            assert!(refused.contains(why), "{text}: {refused}");
        }
        for (text, expected) in [
            ("{{ legal | join(' ~ ') }}, {{ seat + 1 }} of {{ legal|length }}", "a|b~c ~ d, 1 of 2"),
            ("with ~ and * + |format {# {% set x %} #}{{ 'it\\'s ~' }}", "with ~ and * + |format it's ~"),
            ("{% if legal and seat == 0 %}{{ title|upper }}{% endif %}", "PIG"),
        ] {
            assert_eq!(filled(text), Ok(expected.to_owned()));
        }
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
