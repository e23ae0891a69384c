//! The socket: so many connections and no more, and nobody may keep one open without asking.

use crate::{Site, app};
use axum::{body::Body, http::Request};
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::timeout,
};
use tower::ServiceExt;

/// The head of a request must be here by then.
const SLOW_HEAD: Duration = Duration::from_secs(15);
/// Open requests may finish so long when the server ends.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Where a request comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct From(pub IpAddr);

/// A server that listens.
pub struct Listening {
    listener: TcpListener,
}

/// Takes the port. Nothing is answered before [`Listening::serve`].
pub async fn listen(address: SocketAddr) -> io::Result<Listening> {
    Ok(Listening { listener: TcpListener::bind(address).await? })
}

impl Listening {
    /// The address, with the port that the system has chosen if it was asked to.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `end` comes; then no stream goes on, and open requests are finished.
    pub async fn serve(self, site: Site, end: impl Future<Output = ()>) {
        let places = Arc::new(Semaphore::new(site.limits().connections));
        let router = app(site.clone());
        tokio::spawn(crate::party::keep_time(site.clone()));
        let connections = GracefulShutdown::new();
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(SLOW_HEAD).max_buf_size(64 << 10);
        tokio::pin!(end);
        loop {
            let (stream, peer) = tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok(accepted) => accepted,
                    // Out of descriptors, or a connection that is gone already: others may still come.
                    Err(_) => {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        continue;
                    }
                },
                () = &mut end => break,
            };
            let Ok(place) = places.clone().try_acquire_owned() else {
                tokio::spawn(turn_away(stream));
                continue;
            };
            let _ = stream.set_nodelay(true);
            let router = router.clone();
            let service = tower::service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(From(peer.ip()));
                router.clone().oneshot(request.map(Body::new))
            });
            let service = TowerToHyperService::new(service);
            let connection = connections.watch(http.serve_connection(TokioIo::new(stream), service));
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

/// A clear answer instead of silence.
async fn turn_away(mut stream: TcpStream) {
    let body =
        r#"{"error":"the arena has as many visitors as it can take","hints":["try again in a moment"]}"#;
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 2\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let _ = timeout(Duration::from_secs(1), stream.write_all(answer.as_bytes())).await;
    let _ = timeout(Duration::from_secs(1), stream.shutdown()).await;
}
