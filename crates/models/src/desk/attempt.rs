//! One try of a call: from reading the key to writing the book.

use super::{About, Desk};
use crate::{
    Finish, Model, Money, Reply,
    book::Kept,
    budget::Held,
    http::{Lost, Response},
    key::Key,
    pace::Permit,
    wire::{self, Request, Said, Sent, Took},
};
use serde_json::Value;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Why a try failed.
#[derive(Debug)]
pub(super) struct Trouble {
    pub why: String,
    pub status: Option<u16>,
    pub is_worth_another_try: bool,
    /// The wait that the endpoint asks for.
    pub retry_after: Option<Duration>,
    /// What the user should change, if another try cannot help.
    pub hint: Option<String>,
}

impl Trouble {
    fn passing(why: String) -> Self {
        Trouble { why, status: None, is_worth_another_try: true, retry_after: None, hint: None }
    }

    fn lasting(why: String, hint: Option<String>) -> Self {
        Trouble { is_worth_another_try: false, hint, ..Trouble::passing(why) }
    }
}

/// One try of a call.
pub(super) struct OneTry {
    pub desk: Desk,
    pub model: Arc<Model>,
    pub request: Arc<Request>,
    pub attempt: u32,
}

impl OneTry {
    /// Makes the call. When this returns, the reply is in the book.
    pub fn make(self, body: String, permit: Permit, held: Held) -> Result<Reply, Trouble> {
        let OneTry { desk, model, request, attempt } = self;
        let key = model.key_env.as_ref().map(Key::read).transpose();
        let key = key.map_err(|why| {
            let hint = format!("set the environment variable that {} names", whose_key(&model));
            Trouble::lasting(format!("{} {why}", whose_key(&model)), Some(hint))
        })?;
        let (started, sent) = (Instant::now(), Sent::new(&model, body.len()));
        let response = match desk.0.client.post(&model, key.as_ref(), body) {
            Ok(response) => response,
            Err(Lost { why, was_sent, is_lasting }) => {
                if was_sent {
                    held.lose();
                }
                return Err(match is_lasting {
                    true => {
                        let hint = format!(
                            "check base_url in {}, and SSL_CERT_FILE if the endpoint has a certificate of its own",
                            table_of(&model)
                        );
                        Trouble::lasting(why, Some(hint))
                    }
                    // Nobody has heard the question: the place may be wrong.
                    false if !was_sent => {
                        let hint = format!("start the server, or correct base_url in {}", table_of(&model));
                        Trouble { hint: Some(hint), ..Trouble::passing(why) }
                    }
                    false => Trouble::passing(why),
                });
            }
        };
        // As the book keeps it.
        let latency = Duration::from_micros(started.elapsed().as_micros() as u64);
        let said = wire::read(&response.text, sent);
        // A filter's refusal comes with a status that blames the request.
        let is_filtered =
            response.status < 500 && said.as_ref().is_ok_and(|said| said.finish == Finish::Filter);
        if !(200..300).contains(&response.status) && !is_filtered {
            // The others need not find out by themselves, unless it is not worth waiting for.
            let pause = response.retry_after.filter(|&pause| pause <= desk.0.patience.for_model(&model));
            pause.into_iter().for_each(|pause| permit.pause(pause));
            if may_be_charged(&response) {
                held.lose();
            }
            return Err(refused(&model, response));
        }
        let said = match said {
            Ok(said) => said,
            Err(why) => {
                held.lose();
                // A page for people: no endpoint is there, and none will be the next time.
                return Err(match response.text.trim_start().starts_with('<') {
                    true => {
                        let hint = format!("correct base_url in {}: a web page is there", table_of(&model));
                        Trouble::lasting("the answer is a web page".into(), Some(hint))
                    }
                    false => Trouble::passing(why),
                });
            }
        };
        let (said, answer) = without(key.as_ref(), said, response.text);
        let (tokens, cost) = (said.tokens, Money::of(&model, &said.tokens));
        permit.correct(tokens.total());
        held.settle(tokens, cost);
        let reply = said.reply(Took { tokens, cost, latency, attempt });
        let kept = desk
            .generation(&model)
            .and_then(|generation| desk.0.book.keep(&model, &request, &answer, reply, generation));
        let Kept { reply, before } = kept.map_err(|error| Trouble::lasting(error.to_string(), error.hint))?;
        desk.tell(&model, &reply, before);
        Ok(reply)
    }
}

/// Removes a key that shows only once the parts of a text are joined, from what was said and from its body.
fn without(key: Option<&Key>, said: Said, answer: String) -> (Said, String) {
    let Some(key) = key else { return (said, answer) };
    let clean = said.clone().map(|text| key.remove(text));
    let answer = if clean == said { answer } else { clean.body() };
    (clean, answer)
}

impl Desk {
    /// Notes anything unusual about an answer.
    fn tell(&self, model: &Model, reply: &Reply, before: Option<String>) {
        if let Some(before) = before {
            let note = format!(
                "the endpoint now answers as {:?}, and has answered as {before:?} before; answers in the book stay as they are",
                reply.model
            );
            self.note(model, About::AnotherModel, &note);
        }
        if reply.tokens.estimated {
            let note = "the endpoint does not count tokens, or not well; they are estimated";
            self.note(model, About::Counts, note);
        }
    }
}

/// The place where a table names the variable of its key. The name itself is never shown: it may be the key, by mistake.
fn whose_key(model: &Model) -> String {
    format!("key_env of {}", table_of(model))
}

/// The name of a table and its file, as the user can find them.
fn table_of(model: &Model) -> String {
    format!("[models.{}] in {}", model.name, model.file.display())
}

/// Whether an endpoint may charge for a call that it refused: it gave up on the way, or says what it has used.
fn may_be_charged(response: &Response) -> bool {
    let body: Value = serde_json::from_str(&response.text).unwrap_or_default();
    matches!(response.status, 408 | 500 | 502 | 504 | 520..=529) || !body["usage"].is_null()
}

/// Makes the error for a response whose status is not success.
fn refused(model: &Model, response: Response) -> Trouble {
    let Response { status, retry_after, location, text } = response;
    let why = match status {
        300..=399 => {
            let place = location.map_or("elsewhere".into(), |location| format!("to {location:?}"));
            format!("status {status}: the endpoint sends us {place}, where we do not go (base_url)")
        }
        401 | 403 => match &model.key_env {
            Some(_) => {
                let whose = whose_key(model);
                format!("status {status}: the endpoint refuses the key ({whose} names its variable)")
            }
            None => format!("status {status}: the endpoint wants a key (key_env)"),
        },
        402 => format!("status {status}: the endpoint wants money"),
        _ => format!("status {status}"),
    };
    let why = match wire::quote(&text).filter(|_| !(300..400).contains(&status)) {
        Some(quote) => format!("{why}: {quote}"),
        None => why,
    };
    let is_worth_another_try = matches!(status, 408 | 409 | 425 | 429 | 500..);
    let table = table_of(model);
    let hint = match (status, &model.key_env) {
        (401 | 403, Some(_)) => {
            format!("put a valid key into the variable that {} names", whose_key(model))
        }
        (401 | 403, None) => format!("name the variable that holds the key: key_env in {table}"),
        (402, _) => format!("top up the account of the key ({} names its variable)", whose_key(model)),
        (404, _) => format!("check model and base_url in {table}"),
        (300..=399, _) => format!("set base_url in {table} to the address that answers"),
        _ => format!("check the parameters in {table}"),
    };
    let hint = (!is_worth_another_try).then_some(hint);
    Trouble { why, status: Some(status), is_worth_another_try, retry_after, hint }
}
