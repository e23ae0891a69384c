//! Arbitrary bodies of requests, the first byte names the address: every answer is a success or a refusal of the visitor's fault,
//! never one of the server.

#![no_main]

use axum::{
    Router,
    body::Body,
    http::{Request, header},
};
use http_body_util::BodyExt;
use libfuzzer_sys::fuzz_target;
use necrodome_server::{Config, Limits, Site, app};
use std::sync::LazyLock;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

struct Arena {
    router: Router,
    /// What a host shows to be known.
    cookie: String,
    /// Where bodies go to.
    addresses: Vec<String>,
    runtime: Runtime,
}

/// An arena in memory where nothing long is begun: its tables and rooms are taken.
static ARENA: LazyLock<Arena> = LazyLock::new(|| {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let limits =
        Limits { rate: u32::MAX, burst: u32::MAX, tables: 1, rooms: 1, tournaments: 0, ..Limits::default() };
    let site = runtime.block_on(async { Site::open(Config { limits, ..Config::default() }).unwrap() });
    let router = app(site.clone());
    let host = Request::get(format!("/host/{}", site.host_key().to_text())).body(Body::empty()).unwrap();
    let greeted = runtime.block_on(router.clone().oneshot(host)).unwrap();
    let cookie = greeted.headers()[header::SET_COOKIE].to_str().unwrap();
    let mut arena = Arena {
        cookie: cookie.split(';').next().unwrap().to_owned(),
        addresses: ["film", "advise", "party", "tables", "tournaments"]
            .map(|at| format!("/api/{at}"))
            .to_vec(),
        router,
        runtime,
    };
    let opened = |arena: &Arena, at: usize, body: &str| {
        let (status, answer) = arena.ask(at, body.as_bytes());
        assert!(status < 300, "{}", String::from_utf8_lossy(&answer));
        serde_json::from_slice::<serde_json::Value>(&answer).unwrap()["id"].to_string().replace('"', "")
    };
    let party = opened(&arena, 2, "{}");
    let table = opened(&arena, 3, r#"{"game":"tokyo","name":"Ada","friends":2}"#);
    let within = ["join", "act", "host", "offer"].map(|to| format!("/api/party/{party}/{to}"));
    let at_table = ["join", "start", "act"].map(|to| format!("/api/tables/{table}/{to}"));
    arena.addresses.extend(within.into_iter().chain(at_table));
    arena
});

impl Arena {
    fn ask(&self, at: usize, body: &[u8]) -> (u16, Vec<u8>) {
        let request = Request::post(&self.addresses[at % self.addresses.len()])
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::COOKIE, &self.cookie)
            .body(Body::from(body.to_vec()))
            .unwrap();
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let status = response.status().as_u16();
            (status, response.into_body().collect().await.unwrap().to_bytes().to_vec())
        })
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&at, body)) = bytes.split_first() else { return };
    let (status, answer) = ARENA.ask(usize::from(at.wrapping_sub(b'0')), body);
    // 503: what is full says so.
    assert!(status < 500 || status == 503, "{status}: {}", String::from_utf8_lossy(&answer));
});
