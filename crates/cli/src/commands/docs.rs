//! `necrodome docs` and `necrodome rules`: the documents inside the program.

use crate::{
    documents::{DOCUMENTS, Page},
    error::Error,
    interrupt, lineup,
    paint::{bold, dim, is_dumb},
};
use necrodome_arena::model::Variant;
use std::{
    env,
    fmt::Write as _,
    io::{self, IsTerminal, Write},
    process::{Command, Stdio},
};

/// Print a document, or the list of them
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome docs                     the list
  necrodome docs protocol            how bots and the arena talk
  necrodome docs schema/infection    the messages of Infection as JSON Schema
  necrodome docs prompts/plain/system > my-prompt/system.txt
  necrodome docs python | less

On a terminal, documents are shown by $PAGER (or less).")]
pub struct Args {
    /// Which document; without one, the list
    page: Option<String>,
}

/// Print the rules of a game
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  necrodome rules last-bullet\n  necrodome rules zombie-dice-race")]
pub struct RulesArgs {
    /// Which game (see `necrodome games`)
    game: String,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let Some(page) = &args.page else { return list() };
    if let Some((_, text)) = prompts().find(|(name, _)| name == page.trim_end_matches(".txt")) {
        return Ok(io::stdout().write_all(text.as_bytes())?);
    }
    let document = Page::find(page).ok_or_else(|| {
        let documents = DOCUMENTS.iter().map(|document| document.page().to_owned());
        let valid: Vec<String> = documents.chain(prompts().map(|(name, _)| name)).collect();
        let unknown = Error::usage(format!("there is no document {page:?}"));
        unknown.near(page, &valid).hint("`necrodome docs` lists them")
    })?;
    show(document)
}

/// Returns the templates of the built-in prompts, by names such as `prompts/plain/system`.
fn prompts() -> impl Iterator<Item = (String, &'static str)> {
    Variant::ALL.iter().flat_map(|variant| {
        let name = |file: &str| format!("prompts/{}/{}", variant.name, file.trim_end_matches(".txt"));
        variant.files().map(move |(file, text)| (name(file), text))
    })
}

pub fn rules(args: &RulesArgs) -> Result<(), Error> {
    let id = lineup::game(&args.game)?;
    match Page::of_game(&id.card()) {
        Some(document) => show(document),
        // No page, but what is told at the table.
        None => Ok(writeln!(anstream::stdout(), "{}", id.card().rules)?),
    }
}

fn list() -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    for document in DOCUMENTS {
        writeln!(out, "  {} {}", bold(format!("{:<24}", document.page())), dim(document.title()))?;
    }
    for (name, _) in prompts() {
        writeln!(
            out,
            "  {} {}",
            bold(format!("{name:<24}")),
            dim("Template of a prompt for language models")
        )?;
    }
    Ok(())
}

/// Prints a document: on a terminal one screen at a time, with headings and programs set off; elsewhere as it was written.
fn show(document: &Page) -> Result<(), Error> {
    if !io::stdout().is_terminal() || is_dumb() {
        return Ok(io::stdout().write_all(document.text.as_bytes())?);
    }
    // As git does it: colours, no pager for what fits on the screen, and the text stays there; an empty PAGER means no pager.
    let less = env::var("LESS").unwrap_or_else(|_| "FRX".to_owned());
    let colours = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
    let text =
        if colours && less.contains(['R', 'r']) { painted(document.text) } else { document.text.to_owned() };
    let words =
        shell_words::split(&env::var("PAGER").unwrap_or_else(|_| "less".to_owned())).unwrap_or_default();
    let Some((program, arguments)) = words.split_first() else { return Ok(print(&text)?) };
    interrupt::leave_to_others();
    let spawned = Command::new(program).args(arguments).env("LESS", less).stdin(Stdio::piped()).spawn();
    let Ok(mut pager) = spawned else { return Ok(print(&text)?) };
    if let Some(mut input) = pager.stdin.take() {
        // Who has seen enough quits: the rest finds no reader.
        let _ = input.write_all(text.as_bytes());
    }
    pager.wait()?;
    Ok(())
}

fn print(text: &str) -> io::Result<()> {
    anstream::stdout().write_all(text.as_bytes())
}

fn painted(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len() * 2);
    let mut program = false;
    for line in markdown.lines() {
        let fence = line.starts_with("```");
        program ^= fence;
        // Writing to a string cannot fail.
        let _ = match line {
            line if program || fence => writeln!(text, "{}", dim(line)),
            line if line.starts_with('#') => writeln!(text, "{}", bold(line)),
            line => writeln!(text, "{line}"),
        };
    }
    text
}
