//! Live pages, by server-sent events. A viewer who comes, or comes back, begins with the current state; what they missed does not matter.

use crate::{Refusal, Site, places::Origin};
use axum::response::{
    IntoResponse, Response,
    sse::{Event, KeepAlive, Sse},
};
use futures_util::stream;
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::sync::watch;

/// Sends the result of `look` now and after each change in `changes`. A result that equals the last one is not sent again, so a
/// viewer cannot count changes that are hidden from them. The stream ends when `look` returns `None`, or when `changes` is dropped.
pub(crate) fn live<T: Send + Sync + 'static>(
    site: &Site,
    origin: Origin,
    mut changes: watch::Receiver<T>,
    look: impl FnMut() -> Option<Arc<str>> + Send + 'static,
) -> Result<Response, Refusal> {
    let place = site.viewer(origin)?;
    changes.mark_changed();
    let state = (changes, site.closing(), look, None::<Arc<str>>, place);
    let events = stream::unfold(state, async |(mut changes, mut closing, mut look, last, place)| {
        loop {
            tokio::select! {
                changed = changes.changed() => changed.ok()?,
                _ = closing.wait_for(|closing| *closing) => return None,
            }
            let seen = look()?;
            if last.as_ref() != Some(&seen) {
                let event = Ok::<_, Infallible>(Event::default().data(&*seen));
                return Some((event, (changes, closing, look, Some(seen), place)));
            }
        }
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response())
}

/// Returns the value as JSON on one line.
pub(crate) fn to_json(value: &impl serde::Serialize) -> Arc<str> {
    // The types of messages have no maps with odd keys, so this cannot fail.
    serde_json::to_string(value).unwrap_or_default().into()
}
