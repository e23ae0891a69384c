//! Bodies of requests: JSON of a known type, or a refusal that says where it is wrong.

use crate::{Refusal, guard::is_slow};
use axum::{
    Json,
    extract::{FromRequest, Request, rejection::JsonRejection},
};
use serde::de::DeserializeOwned;

/// A body of JSON.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        match Json::from_request(request, state).await {
            Ok(Json(body)) => Ok(Body(body)),
            Err(JsonRejection::MissingJsonContentType(_)) => {
                Err(Refusal::wrong_kind("expected a body of content-type application/json"))
            }
            Err(JsonRejection::BytesRejection(why)) => Err(match why.status().as_u16() {
                413 => Refusal::too_large("the body is larger than this request takes"),
                _ if is_slow(&why) => Refusal::slow("the request takes too long to arrive"),
                _ => Refusal::bad(why.body_text()),
            }),
            Err(why) => Err(Refusal::bad(why.body_text())),
        }
    }
}
