//! The checks before every request.

use crate::visitor::{Visitor, config, is_waiting, site};
use axum::{
    body::Body,
    http::{Method, Request, StatusCode, header},
};
use futures_util::future::join_all;
use necrodome_server::{Config, Limits, Site, listen};
use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
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

/// Other sites may embed films, but only on pages where nothing else can be done.
#[tokio::test]
async fn only_films_to_embed_may_be_framed() {
    let mut stranger = Visitor::stranger(&site());
    let pages_included = necrodome_server::pages_included();
    let embed = stranger.get("/embed/tournaments/1/matches/0/0").await;
    let policy = embed.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert_eq!(policy.contains("frame-ancestors *"), pages_included, "{policy}");
    assert!(policy.contains("default-src 'none'") && policy.contains("form-action 'none'"), "{policy}");
    for path in
        ["/embed", "/embedded", "/tournaments/1/matches/0/0", "/api/tournaments/1", "/embed/nothing.js"]
    {
        let answer = stranger.get(path).await;
        let policy = answer.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
    }
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
    let mut stranger = Visitor::stranger(&Site::open(Config { host_names: Vec::new(), ..config() }).unwrap());
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

/// Starts a server on a real socket. It ends when the sender is dropped.
async fn serve(limits: Limits) -> (SocketAddr, oneshot::Sender<()>, tokio::task::JoinHandle<()>) {
    serve_site(Site::open(Config { limits, ..config() }).unwrap()).await
}

async fn serve_site(site: Site) -> (SocketAddr, oneshot::Sender<()>, tokio::task::JoinHandle<()>) {
    let listening = listen((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
    let address = listening.address().unwrap();
    let (end, ended) = oneshot::channel::<()>();
    let task = tokio::spawn(listening.serve(site, async {
        let _ = ended.await;
    }));
    (address, end, task)
}

/// Sends some bytes and nothing more, and returns what comes back.
async fn sent(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // Who is refused early is not listened to until the end.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

/// Sends a request that closes the connection, and returns what comes back.
async fn asked(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

async fn said(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    stream.read_to_end(&mut text).await.unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

#[tokio::test]
async fn too_many_connections_get_a_clear_answer() {
    let (address, end, task) = serve(Limits { connections: 2, address_share: 100, ..config().limits }).await;
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

/// Connects from another address of this machine.
async fn connect_from(last: u8, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into()).unwrap();
    socket.connect(to).await.unwrap()
}

/// Returns the first line of an answer.
async fn status(stream: &mut TcpStream) -> String {
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    String::from_utf8_lossy(&first).into_owned()
}

const ASK: &[u8] = b"GET /api/site HTTP/1.1\r\nhost: x\r\n\r\n";

#[tokio::test]
async fn one_address_cannot_take_all_connections() {
    let (address, end, task) = serve(Limits { connections: 4, ..config().limits }).await;
    let mut greedy = vec![connect_from(2, address).await, connect_from(2, address).await];
    for stream in &mut greedy {
        stream.write_all(b"GET /api").await.unwrap();
    }
    let answer = said(connect_from(2, address).await).await;
    assert!(answer.starts_with("HTTP/1.1 429") && answer.contains("retry-after"), "{answer}");
    let mut modest = connect_from(3, address).await;
    modest.write_all(ASK).await.unwrap();
    assert_eq!(status(&mut modest).await, "HTTP/1.1 200");
    drop((greedy, modest));
    end.send(()).unwrap();
    task.await.unwrap();
}

#[tokio::test]
async fn one_address_cannot_take_all_live_pages() {
    let site = Site::open(Config { limits: Limits { streams: 2, ..config().limits }, ..config() }).unwrap();
    let mut host = Visitor::host(&site).await;
    let room = host.post("/api/party", serde_json::json!({})).await.ok()["id"].as_str().unwrap().to_owned();
    let (address, end, task) = serve_site(site).await;
    let ask = format!("GET /api/party/{room}/stream HTTP/1.1\r\nhost: x\r\n\r\n");
    let mut open = Vec::new();
    for (from, expected) in [(2, "200"), (2, "429"), (3, "200"), (4, "503")] {
        let mut stream = connect_from(from, address).await;
        stream.write_all(ask.as_bytes()).await.unwrap();
        assert_eq!(status(&mut stream).await, format!("HTTP/1.1 {expected}"), "address {from}");
        open.push(stream);
    }
    drop(open);
    end.send(()).unwrap();
    task.await.unwrap();
}

#[tokio::test]
async fn one_address_cannot_take_all_tables_or_seats() {
    let limits = Limits { tables: 4, address_share: 50, ..config().limits };
    let site = Site::open(Config { limits, ..config() }).unwrap();
    let mut stranger = Visitor::stranger(&site);
    let table = serde_json::json!({ "game": "zombie-dice", "name": "Ada", "friends": 1 });
    let first = stranger.post("/api/tables", &table).await.ok()["id"].as_str().unwrap().to_owned();
    stranger.post("/api/tables", &table).await.ok();
    let refused = stranger.post("/api/tables", &table).await;
    assert_eq!(refused.headers[header::RETRY_AFTER], "2");
    assert!(refused.refused(429).contains("from this address"));
    assert!(stranger.post(&format!("/api/tables/{first}/leave"), ()).await.status.is_success());
    stranger.post("/api/tables", &table).await.ok();

    // One in a hundred of 500 seats, and twice as many may come at once.
    let limits = Limits { address_share: 1, ..config().limits };
    let site = Site::open(Config { limits, ..config() }).unwrap();
    let mut host = Visitor::host(&site).await;
    let room = host.post("/api/party", serde_json::json!({})).await.ok()["id"].as_str().unwrap().to_owned();
    let joins = (0..8).map(async |number| {
        let mut guest = Visitor::stranger(&site);
        let name = serde_json::json!({ "name": format!("guest {number}") });
        let answer = guest.post(&format!("/api/party/{room}/join"), name).await;
        (guest, answer)
    });
    // All at once: nobody slips in while the others are being seated.
    let (mut seated, refused): (Vec<_>, Vec<_>) =
        join_all(joins).await.into_iter().partition(|(_, answer)| answer.status.is_success());
    assert_eq!((seated.len(), refused.len()), (5, 3));
    for (_, answer) in refused {
        assert!(answer.refused(429).contains("players from this address"));
    }
    // Those who leave make room for others, but not again and again without a pause.
    let (mut guest, _) = seated.remove(0);
    let leave = serde_json::json!({ "type": "leave" });
    let mut joined = 5;
    let refused = loop {
        assert!(guest.post(&format!("/api/party/{room}/act"), &leave).await.status.is_success());
        guest = Visitor::stranger(&site);
        let name = serde_json::json!({ "name": format!("another {joined}") });
        let answer = guest.post(&format!("/api/party/{room}/join"), name).await;
        if !answer.status.is_success() {
            break answer;
        }
        joined += 1;
    };
    assert!(joined >= 10, "{joined}");
    assert!(refused.refused(429).contains("joins too often"));
    // The host is not one of them.
    let bots = serde_json::json!({ "type": "add_bots", "bot": "careful", "count": 100 });
    assert!(host.post(&format!("/api/party/{room}/host"), bots).await.status.is_success());
}

/// Replays that arrive slowly do not keep others from watching.
#[tokio::test]
async fn slow_uploads_do_not_stop_films() {
    let limits = Limits { films: 1, address_share: 100, ..config().limits };
    let site = Site::open(Config { limits, ..config() }).unwrap();
    let upload = |body: Body| {
        let mut visitor = Visitor::stranger(&site);
        Box::pin(async move { visitor.send(Request::post("/api/film").body(body).unwrap()).await })
    };
    let never = || Body::from_stream(futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let mut slow = Vec::new();
    for _ in 0..4 {
        let mut one = upload(never());
        assert!(is_waiting(&mut one).await);
        slow.push(one);
    }
    assert_eq!(upload(Body::from(crate::film::large())).await.status, StatusCode::OK);
    // But there are not many from one address.
    slow.push(upload(never()));
    assert!(is_waiting(slow.last_mut().unwrap()).await);
    assert!(upload(never()).await.refused(429).contains("being sent from this address"));
}

/// A visitor who sends a byte now and then is cut off when the time for the whole request is over.
#[tokio::test]
async fn slow_senders_are_cut_off() {
    let slow = Duration::from_millis(300);
    let (address, end, task) = serve(Limits { slow_head: slow, slow_body: slow, ..config().limits }).await;
    let heads = [
        "POST /api/film HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n",
        "POST /api/tables HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 60000\r\n\r\n",
        "POST /api/film HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n",
        "GET /api/site HTTP/1.1\r\nx-slow: ",
    ];
    for (number, head) in heads.iter().enumerate() {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let (mut from, mut to) = stream.split();
        let piece: &[u8] = if head.contains("chunked") { b"1\r\nx\r\n" } else { b"x" };
        let drip = async {
            while to.write_all(piece).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            std::future::pending::<()>().await;
        };
        let mut answer = Vec::new();
        tokio::select! {
            () = drip => {}
            // It may be cut off in the middle of what it sends.
            _ = from.read_to_end(&mut answer) => {}
        }
        let answer = String::from_utf8_lossy(&answer);
        let is_head = number == 3;
        assert!(answer.starts_with("HTTP/1.1 408") || is_head && answer.is_empty(), "{head}: {answer}");
    }
    end.send(()).unwrap();
    task.await.unwrap();
}

/// An answer that nobody takes is dropped, and its place becomes free again.
#[tokio::test]
async fn slow_readers_are_cut_off() {
    let limits = Limits { slow_reader: Duration::from_millis(300), films: 1, ..config().limits };
    let (address, end, task) = serve(limits).await;
    let replay = crate::film::large();
    let head = format!("POST /api/film HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", replay.len());
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(&[head.as_bytes(), &replay].concat()).await.unwrap();
    assert_eq!(status(&mut idle).await, "HTTP/1.1 200");
    let mut refused = 0;
    loop {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&[head.as_bytes(), &replay].concat()).await.unwrap();
        match status(&mut stream).await.as_str() {
            "HTTP/1.1 200" => break,
            "HTTP/1.1 503" => refused += 1,
            other => panic!("{other}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(refused > 0, "the film is small enough to be sent without anybody who takes it");
    drop(idle);
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
        b"GET /\xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /api/site HTTP/1.1\r\nhost: \xff\r\n\r\n",
        b"GET /api/site HTTP/1.1\r\nhost : x\r\n\r\n",
        // Two lengths, and a length beside pieces: whoever stands before us might see another request in it.
        b"POST /api/film HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ncontent-length: 50\r\n\r\nGET /api/site HTTP/1.1\r\nhost: x\r\n\r\n",
        b"POST /api/film HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /api/site HTTP/1.1\r\nhost: x\r\n\r\n",
        b"POST /api/film HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        b"POST /api/film HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    ] {
        let answer = sent(address, garbage).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
        assert!(answer.matches("HTTP/1.1 ").count() <= 1, "a request was smuggled: {answer}");
    }
    let many = "x-nothing: 1\r\n".repeat(5_000);
    let long = "x".repeat(1 << 20);
    for head in [
        format!("GET /api/site HTTP/1.1\r\nhost: x\r\n{many}\r\n"),
        format!("GET /api/site HTTP/1.1\r\nhost: x\r\nx-nothing: {long}\r\n\r\n"),
        format!("GET /api/site?{long} HTTP/1.1\r\nhost: x\r\n\r\n"),
        format!("GET /api/party/{long} HTTP/1.1\r\nhost: x\r\n\r\n"),
    ] {
        let answer = sent(address, head.as_bytes()).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let query = "x".repeat(30_000);
    for path in [
        format!("/api/party/AAAAA?as={query}"),
        format!("/api/tournaments/1/matches?from={query}&count=%ff%fe"),
        "/api/tournaments/%2e%2e%2f%2e%2e/matches/%00/1/film".to_owned(),
        "/api/tables/..%2f..%2f..%2fetc%2fpasswd/replay".to_owned(),
        "/api/learn/stopping?shotguns=99999999999999999999".to_owned(),
    ] {
        let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let answer = asked(address, head.as_bytes()).await;
        assert!(
            answer.starts_with("HTTP/1.1 4") && answer.contains("\"error\""),
            "{path:.60}: {answer:.300}"
        );
    }
    let deep = "[".repeat(60_000);
    for body in
        [&b"\xff\xfe\xfd"[..], b"{", b"nul", b"{\"game\":1e999}", deep.as_bytes(), b"{\"name\":\"\\ud800\"}"]
    {
        for path in ["/api/tables", "/api/advise", "/api/party/AAAAA/join", "/api/tables/x/act"] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let answer = asked(address, &[head.as_bytes(), body].concat()).await;
            assert!(
                answer.starts_with("HTTP/1.1 4") && answer.contains("\"error\""),
                "{path}: {answer:.300}"
            );
        }
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
