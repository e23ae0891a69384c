//! The socket: it limits the number of connections, and closes those that neither ask nor read for long.

use crate::{
    Limits, Site, app,
    places::{Crowded, Origin, Places},
};
use axum::{body::Body, http::Request};
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::{
    io::{self, IoSlice},
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{Sleep, sleep, timeout},
};
use tower::ServiceExt;

/// How long open requests may take to finish when the server ends.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// How many visitors can be told at the same time that the server is full.
const TURNED_AWAY: usize = 16;

/// A server with an open port.
pub struct Listening {
    listener: TcpListener,
}

/// Opens the port. Nothing is answered before [`Listening::serve`].
pub async fn listen(address: SocketAddr) -> io::Result<Listening> {
    Ok(Listening { listener: TcpListener::bind(address).await? })
}

/// Raises this process's limit on open files as far as the system allows, and returns how many connections fit: half of that limit,
/// including visitors who are turned away. The other half is for tournaments and the store.
pub fn room_for_connections() -> usize {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return usize::MAX };
    let files = setrlimit(Resource::RLIMIT_NOFILE, hard, hard).map_or(soft, |()| hard);
    usize::try_from(files / 2).unwrap_or(usize::MAX).saturating_sub(TURNED_AWAY).max(1)
}

impl Listening {
    /// Returns the address, with the port that the system chose if it was asked to.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers requests until `end` completes; then it ends all streams and finishes open requests.
    pub async fn serve(self, site: Site, end: impl Future<Output = ()>) {
        let Limits { connections, address_share, slow_head, slow_reader, .. } = *site.limits();
        let places = Places::new(connections, address_share);
        let turned_away = Arc::new(Semaphore::new(TURNED_AWAY));
        let router = app(site.clone());
        tokio::spawn(crate::party::keep_time(site.clone()));
        let connections = GracefulShutdown::new();
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(slow_head).max_buf_size(64 << 10);
        tokio::pin!(end);
        loop {
            let (stream, peer) = tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok(accepted) => accepted,
                    // Out of descriptors, or a connection that is gone already: others may still come.
                    Err(_) => {
                        sleep(Duration::from_millis(20)).await;
                        continue;
                    }
                },
                () = &mut end => break,
            };
            let origin = Origin::of(peer.ip());
            let place = match places.take(origin) {
                Ok(place) => place,
                Err(crowded) => {
                    // When even those are many who are told so, the rest is told nothing.
                    if let Ok(telling) = turned_away.clone().try_acquire_owned() {
                        tokio::spawn(async move {
                            turn_away(stream, crowded).await;
                            drop(telling);
                        });
                    }
                    continue;
                }
            };
            let _ = stream.set_nodelay(true);
            let router = router.clone();
            let service = tower::service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(origin);
                router.clone().oneshot(request.map(Body::new))
            });
            let service = TowerToHyperService::new(service);
            let stream = TokioIo::new(Impatient { stream, patience: slow_reader, stalled: None });
            let connection = connections.watch(http.serve_connection(stream, service));
            tokio::spawn(async move {
                // A viewer that goes away in the middle is no error of ours.
                let _ = connection.await;
                drop(place);
            });
        }
        site.close();
        let _ = timeout(LAST_WORDS, connections.shutdown()).await;
    }
}

/// Tells a visitor that the server is full, rather than leaving the connection silent.
async fn turn_away(mut stream: TcpStream, crowded: Crowded) {
    let (status, error) = match crowded {
        Crowded::Everywhere => ("503 Service Unavailable", "the arena has as many visitors as it can take"),
        Crowded::Here => ("429 Too Many Requests", "this address has as many connections as one may have"),
    };
    let body = format!(r#"{{"error":"{error}","hints":["try again in a moment"]}}"#);
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nretry-after: 2\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let _ = timeout(Duration::from_secs(1), stream.write_all(answer.as_bytes())).await;
    let _ = timeout(Duration::from_secs(1), stream.shutdown()).await;
}

/// A connection that is closed when the other side reads nothing for long: unsent data takes up our memory.
struct Impatient {
    stream: TcpStream,
    patience: Duration,
    /// Runs out when the other side has read nothing for too long; `None` while it reads.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Impatient {
    fn heed<T>(&mut self, context: &mut Context, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Impatient {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context, buffer: &mut ReadBuf) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Impatient {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let me = self.get_mut();
        let written = Pin::new(&mut me.stream).poll_write(context, bytes);
        me.heed(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context,
        parts: &[IoSlice],
    ) -> Poll<io::Result<usize>> {
        let me = self.get_mut();
        let written = Pin::new(&mut me.stream).poll_write_vectored(context, parts);
        me.heed(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
