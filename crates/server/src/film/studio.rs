//! Films on request. A film takes a thread for a while and memory, so few are made at a time.

use super::film;
use crate::{Refusal, Site};
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::State,
    http::header,
    response::{IntoResponse, Response},
    routing::post,
};
use necrodome_arena::replay::ReplayError;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::spawn_blocking,
    time::timeout,
};

/// Films that are made at the same time.
const AT_ONCE: usize = 2;
/// Whoever waits longer for a place is told to come back.
const PATIENCE: Duration = Duration::from_secs(5);
/// A file that takes longer to arrive is not waited for: it holds a place.
const SLOW_FILE: Duration = Duration::from_secs(60);

/// Where films are made.
pub(crate) struct Studio(Arc<Semaphore>);

impl Studio {
    pub fn new() -> Self {
        Studio(Arc::new(Semaphore::new(AT_ONCE)))
    }

    async fn place(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        match timeout(PATIENCE, self.0.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Refusal::full("too many replays are being looked at").hint("try again in a moment")),
        }
    }
}

pub(crate) fn routes() -> Router<Site> {
    Router::new().route("/film", post(upload))
}

/// A replay file from the viewer's disk.
async fn upload(State(site): State<Site>, body: Body) -> Result<Response, Refusal> {
    let place = site.studio().place().await?;
    let limit = site.limits().upload;
    let read = timeout(SLOW_FILE, to_bytes(body, limit)).await;
    let read = read.map_err(|_| Refusal::bad("the file takes too long to arrive"))?;
    let packed = read.map_err(|_| {
        Refusal::too_large(format!("expected a replay of at most {} MB", limit >> 20))
            .hint("`necrodome replay FILE --html OUT.html` writes a page for it")
    })?;
    make(place, packed).await
}

/// The answer that shows a stored replay.
pub(crate) async fn show(site: &Site, packed: Vec<u8>) -> Result<Response, Refusal> {
    make(site.studio().place().await?, packed).await
}

async fn make(
    place: OwnedSemaphorePermit,
    packed: impl AsRef<[u8]> + Send + 'static,
) -> Result<Response, Refusal> {
    let made = spawn_blocking(move || {
        let _place = place;
        film(packed.as_ref()).map(|film| serde_json::to_vec(&film))
    });
    let json = made.await.map_err(Refusal::internal)?.map_err(refused)?.map_err(Refusal::internal)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

fn refused(error: ReplayError) -> Refusal {
    let refusal = match error {
        ReplayError::TooLarge(_) => Refusal::too_large(error.to_string()),
        _ => Refusal::bad(error.to_string()),
    };
    refusal
        .hint("expected a file that `necrodome match --replay FILE` or a download of this site has written")
}
