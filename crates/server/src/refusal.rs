//! Refusals of requests: a status, what was expected and what came, and hints, but nothing about the inside of the server.

use axum::{
    Json,
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};
use necrodome_arena::tournament::{MatchError, StoreError};
use necrodome_rules::catalog::UnknownGame;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::{self, Display};

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    status: StatusCode,
    body: Refused,
    cause: Option<Cause>,
}

/// An internal error that belongs to a response: for the host's terminal, not for the viewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause(pub String);

/// The body of every refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Refused {
    /// What is wrong: what was expected, and what came.
    pub error: String,
    /// What to do about it.
    pub hints: Vec<String>,
}

impl Refusal {
    fn new(status: StatusCode, error: impl Display) -> Self {
        Refusal { status, body: Refused { error: error.to_string(), hints: Vec::new() }, cause: None }
    }

    /// 400: the request makes no sense.
    pub fn bad(error: impl Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// 403: this viewer may not do that.
    pub fn forbidden(error: impl Display) -> Self {
        Self::new(StatusCode::FORBIDDEN, error)
    }

    /// 404: there is no such thing.
    pub fn missing(error: impl Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// 408: the request takes too long to arrive.
    pub fn slow(error: impl Display) -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, error)
    }

    /// 409: this is not possible now.
    pub fn conflict(error: impl Display) -> Self {
        Self::new(StatusCode::CONFLICT, error)
    }

    /// 413: the request is too large.
    pub fn too_large(error: impl Display) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, error)
    }

    /// 415: the wrong kind of body.
    pub fn wrong_kind(error: impl Display) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, error)
    }

    /// 429: too many requests from one place.
    pub fn too_often(error: impl Display) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, error)
    }

    /// 503: the arena is full.
    pub fn full(error: impl Display) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error)
    }

    /// 500: our fault. The cause is for the host's terminal, not for the viewer.
    pub fn internal(cause: impl Display) -> Self {
        let refusal = Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the arena has made a mistake");
        Refusal { cause: Some(Cause(cause.to_string())), ..refusal }.hint("the host's terminal says more")
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Display) -> Self {
        self.body.hints.push(hint.to_string());
        self
    }

    /// Returns an error only for a fault of the server; other refusals are ignored.
    pub(crate) fn unless_ours(self) -> Result<(), Self> {
        if self.cause.is_some() { Err(self) } else { Ok(()) }
    }

    /// Returns the refusal as a page, for people who have opened a link.
    pub(crate) fn page(&self) -> Response {
        let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
        let hints = self.body.hints.iter().map(|hint| format!("<p>{}</p>", escaped(hint)));
        let page = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Necrodome</title><h1>{}</h1>{}</html>",
            escaped(&self.body.error),
            hints.collect::<String>()
        );
        (self.status, Html(page)).into_response()
    }

    /// Returns the status.
    pub fn status(&self) -> StatusCode {
        self.status
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if let Some(cause) = self.cause {
            response.extensions_mut().insert(cause);
        }
        if self.status == StatusCode::TOO_MANY_REQUESTS || self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert("retry-after", axum::http::HeaderValue::from_static("2"));
        }
        response
    }
}

/// For the host: the cause, if there is one, else the refusal.
impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.cause.as_ref().map_or(&self.body.error, |Cause(cause)| cause))
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Refusal::internal(error)
    }
}

impl From<MatchError> for Refusal {
    fn from(error: MatchError) -> Self {
        match error {
            MatchError::NoBlock { .. } | MatchError::NoMatch { .. } | MatchError::NotKept => {
                Refusal::missing(error)
            }
            other => Refusal::internal(other),
        }
    }
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        Refusal::internal(error)
    }
}

impl From<UnknownGame> for Refusal {
    fn from(unknown: UnknownGame) -> Self {
        Refusal::bad(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_beside_the_response_and_not_in_it() {
        let refusal = Refusal::internal("disk full at /home/ada");
        assert_eq!(refusal.to_string(), "disk full at /home/ada", "for the host's terminal");
        assert!(!serde_json::to_string(&refusal.body).unwrap().contains("ada"));
        let response = refusal.into_response();
        assert_eq!(response.extensions().get(), Some(&Cause("disk full at /home/ada".into())));
        assert_eq!(Refusal::bad("no").into_response().extensions().get::<Cause>(), None);
    }

    #[test]
    fn hints_are_told_in_order() {
        let body = Refusal::full("no").hint("wait").hint("or pay").body;
        assert_eq!(body.hints, ["wait", "or pay"]);
    }
}
