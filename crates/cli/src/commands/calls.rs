//! `necrodome calls`: the questions to language models, their answers, and what they cost.

use crate::{
    error::{Error, ExitKind},
    numbers::above_zero,
    paint::{WIDTH, bold, count, dim, harmless, say, wrapped, yellow},
};
use necrodome_arena::{fault, player::AnsweredBy};
use necrodome_models::{Book, Call, Finish, Money, Texts, Tokens, Wanted};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    time::Duration,
};

/// Show the calls of language models that were kept
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome calls night.store                      what models were asked in a tournament (night.store.calls)
  necrodome calls                                  the calls of matches and exams, in the user's cache folder
  necrodome calls night.store --show 7             one call: the prompt, the answer, all counts
  necrodome calls night.store --finish length      answers that were cut off
  necrodome calls night.store --model mini --last 20
  necrodome calls night.store --json --texts > calls.jsonl

A cost is ? where prices were not known. Times are UTC. Nothing is changed, and nothing is asked. Exit codes: 0 done, 1 the book is
damaged or cannot be read, 2 there is no such call.")]
pub struct Args {
    /// The book of calls, or the store that it lies beside; by default the one in the user's cache folder
    book: Option<PathBuf>,
    /// Only calls of this table [models.NAME], or of the model with this name, whether it was asked for or gave the answer
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Only calls that ended like this: stop, length, content_filter or other
    #[arg(long, value_name = "HOW", value_parser = finish)]
    finish: Option<Finish>,
    /// Only the last calls
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    last: Option<u64>,
    /// Show all of one call
    #[arg(long, value_name = "NUMBER", value_parser = above_zero::<u64>, conflicts_with_all = ["model", "finish", "last"])]
    show: Option<u64>,
    /// Print one JSON document per line, one for each call
    #[arg(long)]
    json: bool,
    /// With --json: include the whole request and the whole answer
    #[arg(long, requires = "json")]
    texts: bool,
}

fn finish(word: &str) -> Result<Finish, String> {
    let names = Finish::ALL.map(Finish::as_str).join(", ");
    let found = Finish::ALL.into_iter().find(|finish| finish.as_str() == word);
    found.ok_or_else(|| format!("expected one of {names}"))
}

pub fn run(args: &Args) -> Result<(), Error> {
    let path = match &args.book {
        None => Book::usual_place()?,
        Some(path) => Some(Book::beside(path)).filter(|beside| beside.exists()).unwrap_or(path.clone()),
    };
    let book = Book::read(&path).map_err(|error| Error { kind: ExitKind::Usage, ..error.into() })?;
    let wanted = Wanted {
        id: args.show.map(|number| i64::try_from(number).unwrap_or(i64::MAX)),
        model: args.model.as_deref(),
        finish: args.finish,
        last: args.last,
        texts: args.texts || args.show.is_some(),
    };
    let mut out = BufWriter::new(anstream::stdout().lock());
    let mut list = List::default();
    let mut shown = 0;
    book.each(&wanted, |call| -> Result<(), Error> {
        shown += 1;
        match (args.json, &call.texts) {
            (true, _) => writeln!(out, "{}", plain(&document(&call)))?,
            (false, Some(texts)) => whole(&mut out, &call, texts)?,
            (false, None) => list.add(&mut out, &call)?,
        }
        Ok(())
    })?;
    match args.show {
        Some(number) if shown == 0 => {
            let what = format!("there is no call {number} in {}", path.display());
            return Err(Error::usage(what).hint("`necrodome calls BOOK` lists them, with their numbers"));
        }
        None if shown == 0 => say(format_args!("no such calls in {}", harmless(&path.display().to_string()))),
        None if !args.json => list.end(&mut out, &path)?,
        _ => {}
    }
    Ok(out.flush()?)
}

/// Returns JSON in which characters that a terminal would obey are escaped. They occur only in strings.
fn plain(document: &Value) -> String {
    let text = document.to_string();
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if fault::harmless(c) == c {
            plain.push(c);
            continue;
        }
        c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| plain.push_str(&format!("\\u{unit:04x}")));
    }
    plain
}

fn document(call: &Call) -> Value {
    let Tokens { input, cached, output, reasoning, estimated } = call.tokens;
    let question: String = call.question.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut document = json!({
        "number": call.id,
        "at": call.at,
        "table": call.name,
        "base_url": call.base_url,
        "model": call.model,
        "answered_by": call.answered_by,
        "finish": call.finish.as_str(),
        "input_tokens": input,
        "cached_tokens": cached,
        "output_tokens": output,
        "reasoning_tokens": reasoning,
        "estimated": estimated,
        "cost": call.cost.map(number),
        "seconds": call.latency.as_secs_f64(),
        "attempt": call.attempt,
        "question": question,
        "sample": call.salt,
        "checksum": call.sealed,
    });
    if let Some(texts) = &call.texts {
        let parsed = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.into());
        document["request"] = parsed(&texts.request);
        document["answer"] = parsed(&texts.answer);
    }
    document
}

fn number(money: Money) -> f64 {
    money.nanos as f64 / 1e9
}

/// Formats an amount of money in 8 columns if possible; an amount above 0 never looks like 0.
fn cost(money: Option<Money>) -> String {
    match money.map(number) {
        None => "?".to_owned(),
        Some(amount) if amount > 0.0 && amount < 1e-6 => format!("{amount:.1e}"),
        Some(amount) if amount < 10.0 => format!("{amount:.6}"),
        Some(amount) => format!("{amount:.2}"),
    }
}

/// Formats a number in 6 columns.
fn tokens(tokens: u64) -> String {
    if tokens < 1_000_000 { tokens.to_string() } else { format!("{:.1}M", tokens as f64 / 1e6) }
}

fn seconds(latency: Duration) -> String {
    let seconds = latency.as_secs_f64();
    if seconds < 100.0 { format!("{seconds:.2}") } else { format!("{seconds:.0}") }
}

/// Returns the beginning of an untrusted text.
fn head(text: &str, most: usize) -> String {
    let text = line(text);
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text,
    }
}

/// Returns the end of an untrusted text: that is where the names of models differ.
fn tail(text: &str, most: usize) -> String {
    let text = line(text);
    let length = text.chars().count();
    match length > most {
        true => std::iter::once('…').chain(text.chars().skip(length + 1 - most)).collect(),
        false => text,
    }
}

/// Returns an untrusted text in one line.
fn line(text: &str) -> String {
    harmless(text).replace('\n', " ")
}

/// The list of calls while it is printed.
#[derive(Default)]
struct List {
    date: String,
    tables: BTreeMap<String, Total>,
}

/// The totals of the calls of one table.
#[derive(Default)]
struct Total {
    calls: u64,
    tokens: Tokens,
    cost: Money,
    unpriced: u64,
    waited: Duration,
    asked: BTreeSet<String>,
    answered_by: AnsweredBy,
}

impl List {
    fn add(&mut self, out: &mut impl Write, call: &Call) -> Result<(), Error> {
        let (date, time) = call.at.split_once('T').unwrap_or(("?", "?"));
        if self.tables.is_empty() {
            let head =
                row("call", "UTC", "table", "model", "answer by", ["finish", "tokens", "cost", "s", "try"]);
            writeln!(out, "{}", bold(head))?;
        }
        if self.date != date {
            writeln!(out, "{}", dim(date))?;
            self.date = date.to_owned();
        }
        let answered = match call.answered_by.as_str() {
            "" => "?".to_owned(),
            name if name == call.model => "same".to_owned(),
            name => tail(name, ANSWERED),
        };
        let finish = if call.finish == Finish::Filter { "filter" } else { call.finish.as_str() };
        let row = row(
            &call.id.to_string(),
            time.trim_end_matches('Z'),
            &head(&call.name, TABLE),
            &head(&call.model, ASKED),
            &answered,
            [
                finish,
                &tokens(call.tokens.total()),
                &cost(call.cost),
                &seconds(call.latency),
                &call.attempt.to_string(),
            ],
        );
        let is_odd = call.finish != Finish::Stop;
        writeln!(out, "{}", if is_odd { yellow(row).to_string() } else { row })?;
        self.tables.entry(call.name.clone()).or_default().add(call);
        Ok(())
    }

    /// Prints the totals of each table.
    fn end(&self, out: &mut impl Write, path: &Path) -> Result<(), Error> {
        const NAME: usize = 17;
        let right = |cells: [&str; 6]| {
            let [calls, input, cached, output, cost, seconds] = cells;
            format!("{calls:>8} {input:>10} {cached:>10} {output:>10} {cost:>11} {seconds:>8}")
        };
        let heads = right(["calls", "input", "cached", "output", "cost", "s/call"]);
        writeln!(out, "\n{}", bold(format!("{:<NAME$}{heads}", "table")))?;
        for (name, total) in &self.tables {
            let Tokens { input, cached, output, .. } = total.tokens;
            let known = (total.unpriced == 0).then_some(total.cost);
            let cells = [
                &total.calls.to_string(),
                &input.to_string(),
                &cached.to_string(),
                &output.to_string(),
                &cost(known),
                &seconds(total.waited.div_f64(total.calls.max(1) as f64)),
            ];
            writeln!(out, "{:<NAME$}{}", head(name, NAME - 1), right(cells.map(String::as_str)))?;
        }
        writeln!(out)?;
        for (name, total) in &self.tables {
            let asked = total.asked.iter().map(|model| line(model)).collect::<Vec<_>>().join(", ");
            let answered = total.answered_by.words().unwrap_or_default();
            let text = format!("{}: asked for {asked}, answered by {answered}", line(name));
            wrapped(&text, 0).iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
        let path = harmless(&path.display().to_string());
        let calls = count(self.tables.values().map(|total| total.calls).sum::<u64>(), "call");
        for line in wrapped(&format!("{calls} in {path}; --show NUMBER shows all of one"), 0) {
            writeln!(out, "{}", dim(line))?;
        }
        Ok(())
    }
}

impl Total {
    fn add(&mut self, call: &Call) {
        // As many as anybody reads.
        const MOST: usize = 20;
        self.calls += 1;
        self.tokens += call.tokens;
        self.cost += call.cost.unwrap_or_default();
        self.unpriced += u64::from(call.cost.is_none());
        self.waited = self.waited.saturating_add(call.latency);
        if self.asked.len() < MOST {
            self.asked.insert(call.model.clone());
        }
        self.answered_by += AnsweredBy::one(&call.answered_by);
    }
}

const TABLE: usize = 8;
const ASKED: usize = 11;
const ANSWERED: usize = 10;

/// Formats a row of the list, in 80 columns.
fn row(number: &str, time: &str, table: &str, model: &str, answered: &str, rest: [&str; 5]) -> String {
    let [finish, tokens, cost, seconds, attempt] = rest;
    format!(
        "{number:>6} {time:<8} {table:<TABLE$} {model:<ASKED$} {answered:<ANSWERED$} {finish:<6} {tokens:>6} {cost:>8} {seconds:>5} \
         {attempt:>3}"
    )
}

/// Prints everything about a call.
fn whole(out: &mut impl Write, call: &Call, texts: &Texts) -> Result<(), Error> {
    let Tokens { input, cached, output, reasoning, estimated } = call.tokens;
    let estimated = if estimated { ", estimated: the endpoint did not count them, or not well" } else { "" };
    let question: String = call.question.iter().map(|byte| format!("{byte:02x}")).collect();
    let sealed = if call.sealed { "fits" } else { "none: an older version kept this call" };
    writeln!(out, "{}", bold(format!("call {}", call.id)))?;
    for (what, text) in [
        ("at", call.at.clone()),
        ("table", call.name.clone()),
        ("endpoint", call.base_url.clone()),
        ("asked for", call.model.clone()),
        ("answered by", if call.answered_by.is_empty() { "?".into() } else { call.answered_by.clone() }),
        ("finish", call.finish.as_str().to_owned()),
        ("input", format!("{input} tokens, {cached} of them cached{estimated}")),
        ("output", format!("{output} tokens, {reasoning} of them for reasoning")),
        ("cost", call.cost.map_or("?".to_owned(), |cost| cost.to_string())),
        ("took", format!("{:.3} s, try {}", call.latency.as_secs_f64(), call.attempt)),
        ("sample", call.salt.to_string()),
        ("question", question),
        ("checksum", sealed.to_owned()),
    ] {
        let text = crate::paint::column(&line(&text), 13);
        writeln!(out, "{} {text}", dim(format!("{what:<12}")))?;
    }
    for message in &texts.messages {
        said(out, message.role.as_str(), &message.text)?;
    }
    said(out, "the rest of the request", &rest(&texts.request))?;
    let reply = &texts.reply;
    for (what, text) in [("reasoning", &reply.reasoning), ("refusal", &reply.refusal)] {
        if let Some(text) = text {
            said(out, what, text)?;
        }
    }
    said(out, "answer", if reply.text.is_empty() { "(nothing)" } else { &reply.text })
}

/// Returns a request without its messages.
fn rest(request: &str) -> String {
    let Ok(Value::Object(mut request)) = serde_json::from_str(request) else { return String::new() };
    request.remove("messages");
    serde_json::to_string_pretty(&request).unwrap_or_default()
}

/// Prints a text under a heading.
fn said(out: &mut impl Write, who: &str, text: &str) -> Result<(), Error> {
    let heading = format!("── {who} ");
    writeln!(out, "\n{}", bold(format!("{heading:─<WIDTH$}")))?;
    for line in harmless(text).lines() {
        // A line that fits stays as it is, indented.
        match line.chars().count() <= WIDTH {
            true => writeln!(out, "{line}")?,
            false => wrapped(line, 0).iter().try_for_each(|line| writeln!(out, "{line}"))?,
        }
    }
    Ok(())
}
