//! Films and replays on request. Making a film occupies a thread and memory, so only a few are made at a time. An answer stays in
//! memory until the visitor has received it, so only a few requests are accepted at a time.

use super::{Size, film};
use crate::{
    Limits, Refusal, Site,
    guard::is_slow,
    places::{Origin, Place, Places},
};
use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderName, header},
    response::{IntoResponse, Response},
    routing::post,
};
use futures_util::{StreamExt, stream};
use necrodome_arena::replay::ReplayError;
use std::{
    io, iter,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    task::spawn_blocking,
    time::{sleep, timeout},
};

/// The most films that are made at the same time.
const AT_ONCE: usize = 2;
/// The most replays that are being sent by visitors at the same time.
const UPLOADS: usize = 16;
/// One visitor sends one replay at a time, so an address gets only a part of its usual share.
const UPLOAD_PART: u32 = 3;
/// The longest wait for a film to be started; after that the visitor is asked to come back later.
const PATIENCE: Duration = Duration::from_secs(15);
/// How often a waiting request checks whether a film can be started.
const LOOK: Duration = Duration::from_millis(50);
/// The longest time to send an answer; after that it is cut off.
const SENDING: Duration = Duration::from_secs(300);
/// Bytes of each piece that is sent.
const PIECE: usize = 64 << 10;

/// The place where films are made.
pub(crate) struct Studio {
    uploads: Arc<Places>,
    visitors: Arc<Places>,
    making: Arc<Places>,
    size: Size,
}

/// A visitor who has asked for a film or a replay.
pub(crate) struct Customer {
    origin: Origin,
    place: Place,
}

impl Studio {
    pub fn new(limits: &Limits) -> Self {
        Studio {
            uploads: Places::new(UPLOADS, limits.address_share / UPLOAD_PART),
            visitors: Places::new(limits.films, limits.address_share),
            making: Places::new(AT_ONCE, limits.address_share),
            size: limits.film,
        }
    }

    /// Admits a visitor, if there is a place left.
    pub fn enter(&self, origin: Origin) -> Result<Customer, Refusal> {
        let place = self.visitors.take(origin).map_err(|crowded| crowded.refuse("replays looked at"))?;
        Ok(Customer { origin, place })
    }

    /// Makes the film of a packed replay, and sends it. The host's own matches may use any rules.
    pub async fn show(
        &self,
        customer: Customer,
        packed: Vec<u8>,
        of_host: bool,
    ) -> Result<Response, Refusal> {
        let turn = async {
            loop {
                match self.making.take(customer.origin) {
                    Ok(turn) => break turn,
                    Err(_) => sleep(LOOK).await,
                }
            }
        };
        let turn = timeout(PATIENCE, turn).await.map_err(|_| {
            Refusal::full("too many replays are being looked at").hint("try again in a moment")
        })?;
        let size = Size { solve_anything: of_host, ..self.size };
        let made = spawn_blocking(move || {
            let _turn = turn;
            film(packed, &size)
        });
        let film = made.await.map_err(Refusal::internal)?.map_err(refused)?;
        Ok(customer.send([(header::CONTENT_TYPE, "application/json".to_owned())], film.json))
    }
}

impl Customer {
    /// Returns an answer that keeps the visitor's place until all of it is sent.
    pub fn send<const N: usize>(self, headers: [(HeaderName, String); N], bytes: Vec<u8>) -> Response {
        let until = Instant::now() + SENDING;
        let (place, mut left) = (self.place, Bytes::from(bytes));
        let pieces = iter::from_fn(move || {
            let _held = &place;
            match left.len().min(PIECE) {
                0 => None,
                _ if Instant::now() > until => Some(Err(io::Error::from(io::ErrorKind::TimedOut))),
                piece => Some(Ok(left.split_to(piece))),
            }
        });
        let pieces = stream::iter(pieces);
        (headers, Body::from_stream(pieces)).into_response()
    }
}

pub(crate) fn routes() -> Router<Site> {
    Router::new().route("/film", post(upload))
}

/// Films a replay file from the viewer's disk. It takes a place among the films only when all of it has arrived, so that slow senders
/// do not keep others from watching.
async fn upload(State(site): State<Site>, origin: Origin, body: Body) -> Result<Response, Refusal> {
    let _sending =
        site.studio().uploads.take(origin).map_err(|crowded| crowded.refuse("replays being sent"))?;
    let limit = site.studio().size.replay.packed;
    let mut packed = Vec::new();
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| match is_slow(&error) {
            true => Refusal::slow("the file takes too long to arrive"),
            false => Refusal::bad("the file has not arrived as a whole"),
        })?;
        if packed.len() + piece.len() > limit {
            return Err(Refusal::too_large(format!("expected a replay of at most {} MB", limit >> 20))
                .hint("`necrodome replay FILE --html OUT.html` writes a page for it"));
        }
        packed.extend_from_slice(&piece);
    }
    let customer = site.studio().enter(origin)?;
    site.studio().show(customer, packed, false).await
}

fn refused(error: ReplayError) -> Refusal {
    let refusal = match error {
        ReplayError::TooLarge(_) => Refusal::too_large(error.to_string()),
        _ => Refusal::bad(error.to_string()),
    };
    refusal
        .hint("expected a file that `necrodome match --replay FILE` or a download of this site has written")
}
