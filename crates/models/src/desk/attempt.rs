//! One try of a call: from the key to the book.

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
    /// How long the endpoint asks to wait.
    pub retry_after: Option<Duration>,
}

impl Trouble {
    fn passing(why: String) -> Self {
        Trouble { why, status: None, is_worth_another_try: true, retry_after: None }
    }

    fn lasting(why: String) -> Self {
        Trouble { is_worth_another_try: false, ..Trouble::passing(why) }
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
    /// Makes the call. What comes is in the book when this returns.
    pub fn make(self, body: String, permit: Permit, held: Held) -> Result<Reply, Trouble> {
        let OneTry { desk, model, request, attempt } = self;
        let key = model.key_env.as_ref().map(Key::read).transpose();
        let key = key.map_err(|why| Trouble::lasting(format!("{} {why}", whose_key(&model))))?;
        let (started, sent) = (Instant::now(), Sent::new(&model, body.len()));
        let response = match desk.0.client.post(&model, key.as_ref(), body) {
            Ok(response) => response,
            Err(Lost { why, was_sent, is_lasting }) => {
                if was_sent {
                    held.lose();
                }
                return Err(Trouble { is_worth_another_try: !is_lasting, ..Trouble::passing(why) });
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
            let pause = response.retry_after.filter(|&pause| pause <= desk.0.patience.in_all);
            pause.into_iter().for_each(|pause| permit.pause(pause));
            return Err(refused(&model, response));
        }
        let said = match said {
            Ok(said) => said,
            Err(why) => {
                held.lose();
                return Err(Trouble::passing(why));
            }
        };
        let (said, answer) = without(key.as_ref(), said, response.text);
        let (tokens, cost) = (said.tokens, Money::of(&model, &said.tokens));
        permit.correct(tokens.total());
        held.settle(tokens, cost);
        let reply = said.reply(Took { tokens, cost, latency, attempt });
        let kept = desk
            .generation()
            .and_then(|generation| desk.0.book.keep(&model, &request, &answer, reply, generation));
        let Kept { reply, before } = kept.map_err(|error| Trouble::lasting(error.to_string()))?;
        desk.tell(&model, &reply, before);
        Ok(reply)
    }
}

/// What was said, and the body that said it, without a key that shows only where the parts of a text are put together.
fn without(key: Option<&Key>, said: Said, answer: String) -> (Said, String) {
    let Some(key) = key else { return (said, answer) };
    let clean = said.clone().map(|text| key.remove(text));
    let answer = if clean == said { answer } else { clean.body() };
    (clean, answer)
}

impl Desk {
    /// Tells what is odd about an answer.
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

/// Where a table says which variable holds its key. The name itself is never shown: it may be the key, by mistake.
fn whose_key(model: &Model) -> String {
    format!("key_env of [models.{}] in {}", model.name, model.file.display())
}

/// What came with a status that is no answer.
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
        _ => format!("status {status}"),
    };
    let why = match wire::quote(&text).filter(|_| !(300..400).contains(&status)) {
        Some(quote) => format!("{why}: {quote}"),
        None => why,
    };
    let is_worth_another_try = matches!(status, 408 | 409 | 425 | 429 | 500..);
    Trouble { why, status: Some(status), is_worth_another_try, retry_after }
}
