//! Reads what requests bring: JSON in the body, or names and values in the address. Both become a known type, or a refusal that
//! says in plain words what is wrong.

use crate::{Refusal, guard::is_slow};
use axum::{
    Json,
    extract::{FromRequest, FromRequestParts, Query, Request, rejection::JsonRejection},
};
use necrodome_rules::misread::{Format, Misread, Object};
use serde::de::DeserializeOwned;

/// A JSON body.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        match Json::from_request(request, state).await {
            Ok(Json(Object(body))) => Ok(Body(body)),
            Err(JsonRejection::MissingJsonContentType(_)) => {
                Err(Refusal::wrong_kind("expected a body of content-type application/json"))
            }
            Err(JsonRejection::BytesRejection(why)) => Err(match why.status().as_u16() {
                413 => Refusal::too_large("the body is larger than this request takes"),
                _ if is_slow(&why) => Refusal::slow("the request takes too long to arrive"),
                _ => Refusal::bad(why.body_text()),
            }),
            Err(JsonRejection::JsonSyntaxError(why)) => {
                Err(Refusal::bad(format!("the body is no JSON: {}", in_words(&why.body_text()))))
            }
            Err(why) => Err(Refusal::bad(in_words(&why.body_text()))),
        }
    }
}

/// The query of the address: the part after the question mark.
pub struct Asked<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut axum::http::request::Parts, state: &S) -> Result<Self, Refusal> {
        let asked = Query::from_request_parts(parts, state).await;
        asked.map(|Query(asked)| Asked(asked)).map_err(|why| Refusal::bad(in_words(&why.body_text())))
    }
}

/// Returns the reason at the end of a message of axum: `Failed to ...: reason`.
fn reason(text: &str) -> &str {
    text.split_once(": ").map_or(text, |(_, reason)| reason)
}

/// Turns `Failed to ...: dice.feet: invalid type: null, expected u8 at line 1 column 9` into `dice.feet: expected a whole number,
/// 0 or more, got null`. The position is left out, since a body is one long line.
fn in_words(text: &str) -> String {
    let reason = reason(text);
    let reason = reason.rsplit_once(" at line ").map_or(reason, |(reason, _)| reason);
    match reason.split_once(": ").filter(|(path, _)| !path.contains(' ')) {
        Some((path, reason)) => format!("{path}: {}", Misread::new(reason, Format::Json)),
        None => Misread::new(reason, Format::Json).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_axum_become_those_of_json() {
        for (text, words) in [
            (
                "Failed to deserialize the JSON body into the target type: dice.feet: invalid type: null, expected u8 at line 1 column 9",
                "dice.feet: expected a whole number, 0 or more, got null",
            ),
            (
                "Failed to deserialize the JSON body into the target type: invalid type: string \"a: b\", expected u32 at line 1 column 9",
                "expected a whole number, 0 or more, got \"a: b\"",
            ),
            (
                "Failed to parse the request body as JSON: blocks: EOF while parsing an object at line 1 column 15",
                "blocks: the JSON ends too soon",
            ),
            (
                "Failed to deserialize query string: level: invalid digit found in string",
                "level: expected a whole number",
            ),
        ] {
            assert_eq!(in_words(text), words);
        }
    }
}
