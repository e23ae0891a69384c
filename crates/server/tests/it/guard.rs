//! What stands before every request.

use crate::visitor::{Visitor, config, site};
use axum::{
    body::Body,
    http::{Method, Request, StatusCode, header},
};
use necrodome_server::{Config, Limits, Site, listen};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::oneshot,
};

#[tokio::test]
async fn every_answer_forbids_what_browsers_should_not_do() {
    let mut stranger = Visitor::stranger(&site());
    for path in ["/", "/api/site", "/api/nothing", "/assets/nothing.js", "/host/wrong", "/party/x"] {
        let answer = stranger.get(path).await;
        let policy = answer.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff", "{path}");
        assert_eq!(answer.headers["referrer-policy"], "no-referrer", "{path}");
    }
    assert_eq!(stranger.get("/api/site").await.headers[header::CACHE_CONTROL], "no-store");
}

fn posted(headers: &[(&'static str, &'static str)]) -> Request<Body> {
    let mut request = Request::builder().method(Method::POST).uri("/api/party");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.header(header::CONTENT_TYPE, "application/json").body(Body::from("{}")).unwrap()
}

#[tokio::test]
async fn other_sites_cannot_act_in_the_name_of_a_visitor() {
    let mut host = Visitor::host(&site()).await;
    let own = ("host", "arena.example:7666");
    for foreign in [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("origin", "http://arena.example:80"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let words = host.send(posted(&[own, foreign])).await.refused(403);
        assert!(words.contains("another site"), "{foreign:?}: {words}");
    }
    for fine in
        [("origin", "http://arena.example:7666"), ("sec-fetch-site", "same-origin"), ("x-nothing", "1")]
    {
        assert_ne!(host.send(posted(&[own, fine])).await.status, StatusCode::FORBIDDEN, "{fine:?}");
    }
}

#[tokio::test]
async fn a_foreign_name_does_not_lead_to_a_server_for_this_machine() {
    let mut stranger = Visitor::stranger(&Site::open(Config { loopback: true, ..config() }).unwrap());
    let ask =
        |host: &'static str| Request::get("/api/site").header("host", host).body(Body::empty()).unwrap();
    for foreign in [
        "evil.example",
        "evil.example:7666",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "[::2]",
    ] {
        assert_eq!(stranger.send(ask(foreign)).await.status, StatusCode::FORBIDDEN, "{foreign}");
    }
    for own in ["localhost:7666", "127.0.0.1:7666", "127.0.0.1", "[::1]:7666", "LOCALHOST"] {
        assert_eq!(stranger.send(ask(own)).await.status, StatusCode::OK, "{own}");
    }
}

#[tokio::test]
async fn who_asks_too_often_is_told_to_wait() {
    let limits = Limits { rate: 1, burst: 5, ..Limits::default() };
    let mut stranger = Visitor::stranger(&Site::open(Config { limits, ..config() }).unwrap());
    let mut refused = None;
    for _ in 0..10 {
        let answer = stranger.get("/api/site").await;
        if !answer.status.is_success() {
            refused = Some(answer);
            break;
        }
    }
    let answer = refused.expect("ten requests at once are too many");
    assert_eq!(answer.headers[header::RETRY_AFTER], "2");
    assert!(answer.refused(429).contains("too many requests"));
}

#[tokio::test]
async fn bodies_are_limited_and_must_say_what_they_are() {
    let mut host = Visitor::host(&site()).await;
    let large = format!("{{\"x\":\"{}\"}}", "x".repeat(100_000));
    assert!(host.post_text("/api/tournaments", large).await.refused(413).contains("larger"));
    let plain =
        Request::post("/api/tournaments").header(header::CONTENT_TYPE, "text/plain").body(Body::from("{}"));
    assert!(host.send(plain.unwrap()).await.refused(415).contains("application/json"));
    let words = host.post_text("/api/tournaments", "{\"game\": 7}").await.refused(400);
    assert!(words.contains("game"), "{words}");
}

#[tokio::test]
async fn the_host_is_who_has_the_key() {
    let site = site();
    let mut stranger = Visitor::stranger(&site);
    assert_eq!(stranger.get("/api/site").await.ok()["host"], false);
    assert!(stranger.get("/host/not-the-key").await.refused(403).contains("not the host's link"));
    stranger.cookies.insert("necrodome-host".to_owned(), "guess".to_owned());
    assert_eq!(stranger.get("/api/site").await.ok()["host"], false);
    let answer = stranger.get(&format!("/host/{}", site.host_key().to_text())).await;
    let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert_eq!(stranger.get("/api/site").await.ok()["host"], true);
}

#[tokio::test]
async fn the_host_stays_the_host_after_a_restart_and_no_key_is_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arena.sqlite");
    let config = Config { store: Some(path.clone()), ..config() };
    let old = "an-old-key-that-was-kept-as-it-is";
    // As it was kept before.
    let db = necrodome_server::Db::open(Some(&path)).unwrap();
    db.set("host key", old).unwrap();
    drop(db);
    assert!(holds(&path, old));
    let first = Site::open(config.clone()).unwrap().host_key().to_text();
    assert!(!holds(&path, old) && !holds(&path, &first));
    let site = Site::open(config.clone()).unwrap();
    assert_ne!(site.host_key().to_text(), first, "each start has a link of its own");
    for key in [old, &first, &site.host_key().to_text()] {
        let mut host = Visitor::stranger(&site);
        host.get(&format!("/host/{key}")).await;
        assert_eq!(host.get("/api/site").await.ok()["host"], true);
    }
    drop(site);
    // Links do not live for ever.
    (0..8).for_each(|_| drop(Site::open(config.clone()).unwrap()));
    let mut late = Visitor::stranger(&Site::open(config).unwrap());
    assert!(late.get(&format!("/host/{first}")).await.refused(403).contains("not the host's link"));
}

fn holds(path: &std::path::Path, text: &str) -> bool {
    let log = path.with_extension("sqlite-wal");
    [path, &log]
        .into_iter()
        .filter_map(|path| std::fs::read(path).ok())
        .any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}

/// A server on a real socket; it ends when the sender is dropped.
async fn serve(limits: Limits) -> (SocketAddr, oneshot::Sender<()>, tokio::task::JoinHandle<()>) {
    let listening = listen((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
    let address = listening.address().unwrap();
    let (end, ended) = oneshot::channel::<()>();
    let site = Site::open(Config { limits, ..config() }).unwrap();
    let task = tokio::spawn(listening.serve(site, async {
        let _ = ended.await;
    }));
    (address, end, task)
}

async fn said(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    stream.read_to_end(&mut text).await.unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

#[tokio::test]
async fn too_many_connections_get_a_clear_answer() {
    let (address, end, task) = serve(Limits { connections: 2, ..config().limits }).await;
    let ask = b"GET /api/site HTTP/1.1\r\nhost: x\r\n\r\n";
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(ask).await.unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        open.push(stream);
    }
    let answer = said(TcpStream::connect(address).await.unwrap()).await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("as many visitors"), "{answer}");
    drop(open);
    end.send(()).unwrap();
    task.await.unwrap();
}

#[tokio::test]
async fn garbage_on_the_socket_hurts_only_its_sender() {
    let (address, end, task) = serve(config().limits).await;
    for garbage in [
        &b"\0\x01\x02\xff\xfe\r\n\r\n"[..],
        b"GET",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /api/site HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        stream.shutdown().await.unwrap();
        let answer = said(stream).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /api/site HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    assert!(said(stream).await.starts_with("HTTP/1.1 200"));
    end.send(()).unwrap();
    task.await.unwrap();
}

#[tokio::test]
async fn files_are_found_and_pages_find_themselves() {
    let mut stranger = Visitor::stranger(&site());
    assert_eq!(stranger.get("/api/no-such-thing").await.status, StatusCode::NOT_FOUND);
    assert_eq!(stranger.get("/no-such-file.js").await.status, StatusCode::NOT_FOUND);
    for path in ["/", "/play", "/tournaments/7/matches/1/2", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd"]
    {
        let answer = stranger.get(path).await;
        let expected =
            if necrodome_server::pages_included() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        assert_eq!(answer.status, expected, "{path}");
        assert_eq!(
            answer.headers[header::CONTENT_TYPE].to_str().unwrap().split(';').next(),
            Some("text/html")
        );
        assert!(answer.text().contains("Necrodome"), "{path}");
    }
    let delete = Request::builder().method(Method::DELETE).uri("/").body(Body::empty()).unwrap();
    assert_eq!(stranger.send(delete).await.status, StatusCode::NOT_FOUND);
}
