//! A visitor who sends requests to the server without a socket, and keeps its cookies as a browser does.

use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header},
};
use http_body_util::BodyExt;
use necrodome_server::{Config, Limits, Site, app};
use serde::Serialize;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::mpsc::{Sender, channel},
    thread::JoinHandle,
    time::Duration,
};
use tower::ServiceExt;

/// Opens a site that lives as long as the test, without limits on how often a visitor may ask.
pub fn site() -> Site {
    Site::open(config()).unwrap()
}

/// Returns its configuration.
pub fn config() -> Config {
    let limits = Limits { rate: u32::MAX, burst: u32::MAX, ..Limits::default() };
    let host_names = ["arena.example", "x"].map(str::to_owned).into();
    Config { limits, host_names, ..Config::default() }
}

/// A browser.
#[derive(Clone)]
pub struct Visitor {
    router: Router,
    pub cookies: BTreeMap<String, String>,
}

/// An answer of the server.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    /// Returns the body as JSON, or null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the JSON of a success; fails the test on a refusal.
    #[track_caller]
    pub fn ok(self) -> Value {
        assert!(self.status.is_success(), "{}: {}", self.status, self.text());
        self.json()
    }

    /// Returns the error text of a refusal with this status.
    #[track_caller]
    pub fn refused(self, status: u16) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        self.json()["error"].as_str().unwrap_or_default().to_owned()
    }
}

impl Visitor {
    /// Returns a visitor without any key.
    pub fn stranger(site: &Site) -> Self {
        Visitor { router: app(site.clone()), cookies: BTreeMap::new() }
    }

    /// Returns a visitor who has opened the host's link.
    pub async fn host(site: &Site) -> Self {
        let mut host = Self::stranger(site);
        let answer = host.get(&format!("/host/{}", site.host_key().to_text())).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        host
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    pub async fn post(&mut self, path: &str, body: impl Serialize) -> Answer {
        self.post_text(path, serde_json::to_string(&body).unwrap()).await
    }

    /// Posts any body, and claims that it is JSON.
    pub async fn post_text(&mut self, path: &str, body: impl Into<Body>) -> Answer {
        let request = Request::builder().method(Method::POST).uri(path);
        self.send(request.header(header::CONTENT_TYPE, "application/json").body(body.into()).unwrap()).await
    }

    /// Sends a request with the cookies, and waits for the whole answer.
    pub async fn send(&mut self, request: Request<Body>) -> Answer {
        let response = self.open(request).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// Sends a request with the cookies; the answer may be a stream.
    pub async fn open(&mut self, mut request: Request<Body>) -> axum::response::Response {
        if !self.cookies.is_empty() {
            let shown: Vec<String> =
                self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request.headers_mut().insert(header::COOKIE, HeaderValue::from_str(&shown.join("; ")).unwrap());
        }
        let response = self.router.clone().oneshot(request).await.unwrap();
        for cookie in response.headers().get_all(header::SET_COOKIE) {
            let cookie = cookie.to_str().unwrap();
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        response
    }

    /// Returns the next `count` values of a live page.
    pub async fn watch(&mut self, path: &str, count: usize) -> Vec<Value> {
        let mut stream = self.follow(path).await;
        let mut seen = Vec::new();
        while seen.len() < count {
            match stream.next().await {
                Some(value) => seen.push(value),
                None => break,
            }
        }
        seen
    }

    /// Opens a live page.
    pub async fn follow(&mut self, path: &str) -> Live {
        let response = self.open(Request::get(path).body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        Live { body: response.into_body(), rest: String::new() }
    }
}

/// A live page that is open.
pub struct Live {
    body: Body,
    rest: String,
}

impl Live {
    /// Returns the next value, or `None` when the stream has ended.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.rest.split_once("\n\n") {
                let data: String = event.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
                self.rest = rest.to_owned();
                if !data.is_empty() {
                    return Some(serde_json::from_str(&data).unwrap());
                }
                continue;
            }
            let frame = self.body.frame().await?.ok()?;
            self.rest += &String::from_utf8_lossy(frame.data_ref()?);
        }
    }
}

/// Whether a request has no answer yet.
pub async fn is_waiting(request: impl Future) -> bool {
    tokio::time::timeout(Duration::ZERO, request).await.is_err()
}

/// The file, locked so that nobody can read or write it.
pub struct HeldFile {
    release: Sender<()>,
    holder: JoinHandle<bool>,
}

impl HeldFile {
    pub fn of(site: &Site) -> Self {
        let ((release, released), (held, is_held)) = (channel(), channel());
        let db = site.db().clone();
        let holder = std::thread::spawn(move || {
            let _connection = db.lock();
            held.send(()).unwrap();
            // Nobody can release it if the thread of the test waits for it, too: then it is let go some time.
            released.recv_timeout(Duration::from_secs(60)).is_ok()
        });
        is_held.recv().unwrap();
        HeldFile { release, holder }
    }

    /// Unlocks the file. Nothing must have waited for it on the thread of the test.
    #[track_caller]
    pub fn let_go(self) {
        let _ = self.release.send(());
        assert!(self.holder.join().unwrap(), "a thread that answers requests has waited for the file");
    }
}
