//! Identifies visitors by unguessable keys, in cookies that no script can read.
//!
//! The host's key is part of the link that the server prints when it starts, a new one each time. A seat's key is made when
//! somebody takes the seat. Only hashes of keys are stored.

use crate::{Db, Refusal, Site};
use axum::{
    extract::{FromRequestParts, Path, State},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use data_encoding::BASE64URL_NOPAD;
use std::fmt;

/// A secret that nobody can guess.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

/// The hash of a key, the only part of it that is stored. Comparing two hashes takes the same time whatever they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyHash(blake3::Hash);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// Makes a new key of 144 random bits.
    pub fn random() -> Self {
        let mut bytes = [0; 18];
        // Without randomness from the system no key is safe, and the server must not go on.
        getrandom::fill(&mut bytes).expect("the system gives random bytes");
        Key(BASE64URL_NOPAD.encode(&bytes))
    }

    /// Reads a key from its text.
    pub fn from_text(text: &str) -> Self {
        Key(text.to_owned())
    }

    /// Returns the key as text.
    pub fn to_text(&self) -> String {
        self.0.clone()
    }

    /// Returns the hash of the key.
    pub fn hash(&self) -> KeyHash {
        KeyHash(blake3::hash(self.0.as_bytes()))
    }
}

impl KeyHash {
    /// Returns the hash as text, for the file.
    pub fn to_text(self) -> String {
        self.0.to_hex().to_string()
    }

    /// Reads a hash from the file, or returns `None` if the text is not one.
    pub fn from_text(text: &str) -> Option<Self> {
        Some(KeyHash(blake3::Hash::from_hex(text).ok()?))
    }
}

/// The host's key of this start, and the hashes of all keys that make a browser the host's.
#[derive(Debug)]
pub struct HostKeys {
    /// The new key. It is printed once and never stored.
    pub new: Key,
    known: Vec<KeyHash>,
}

impl HostKeys {
    /// How many starts a host's link stays valid for, so that a host is still the host after a restart.
    const STARTS: usize = 8;
    const SETTING: &str = "host key hashes";
    /// The setting under which older versions stored the key itself.
    const PLAIN: &str = "host key";

    /// Makes a new key, and reads the hashes of the earlier ones that are still valid.
    pub fn open(db: &Db) -> rusqlite::Result<Self> {
        let new = Key::random();
        let mut known = vec![new.hash()];
        if let Some(plain) = db.setting(Self::PLAIN)? {
            known.push(Key::from_text(&plain).hash());
        }
        let kept = db.setting(Self::SETTING)?.unwrap_or_default();
        known.extend(kept.lines().filter_map(KeyHash::from_text));
        known.truncate(Self::STARTS);
        let lines: Vec<String> = known.iter().map(|hash| hash.to_text()).collect();
        db.set(Self::SETTING, &lines.join("\n"))?;
        if db.setting(Self::PLAIN)?.is_some() {
            db.forget(Self::PLAIN)?;
        }
        Ok(HostKeys { new, known })
    }

    /// Whether a key makes a browser the host's.
    pub fn know(&self, shown: KeyHash) -> bool {
        self.known.contains(&shown)
    }
}

const HOST: &str = "necrodome-host";

/// Makes a cookie that scripts cannot read and other sites cannot use.
fn cookie(name: &str, key: &Key) -> HeaderValue {
    let text = format!("{name}={}; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict", key.0);
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

/// Returns the name of the cookie for a seat in a room or at a table.
fn seat_cookie(kind: &str, id: &str) -> String {
    format!("necrodome-{kind}-{id}")
}

/// Returns a response that gives the browser a seat's key. `id` may have only letters, digits and dashes.
pub fn with_seat(kind: &str, id: &str, key: &Key, response: impl IntoResponse) -> Response {
    let mut response = response.into_response();
    response.headers_mut().append(header::SET_COOKIE, cookie(&seat_cookie(kind, id), key));
    response
}

/// Returns the hash of the seat's key that the browser has shown, or `None` if it has shown none.
pub fn shown(headers: &HeaderMap, kind: &str, id: &str) -> Option<KeyHash> {
    shown_as(headers, &seat_cookie(kind, id))
}

/// Returns the hash of the key in the cookie of this name. Our cookies need no decoding: they hold letters, digits, dashes and
/// underscores.
fn shown_as(headers: &HeaderMap, name: &str) -> Option<KeyHash> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies =
        lines.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    let (_, value) = cookies.find(|(shown, _)| *shown == name)?;
    Some(Key::from_text(value).hash())
}

/// Whether the browser is the host's. As an extractor it never refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsHost(pub bool);

impl FromRequestParts<Site> for IsHost {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Self::Rejection> {
        Ok(IsHost(shown_as(&parts.headers, HOST).is_some_and(|shown| site.host_keys().know(shown))))
    }
}

/// Proof that the request comes from the host. As an extractor it refuses everybody else.
#[derive(Debug, Clone, Copy)]
pub struct Host;

impl FromRequestParts<Site> for Host {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Refusal> {
        match IsHost::from_request_parts(parts, site).await {
            Ok(IsHost(true)) => Ok(Host),
            _ => Err(Refusal::forbidden("this is for the host")
                .hint("open the link that `necrodome serve` has printed")),
        }
    }
}

/// `GET /host/KEY`: the link that makes a browser the host's.
pub async fn become_host(State(site): State<Site>, Path(key): Path<String>) -> Response {
    let key = Key::from_text(&key);
    if !site.host_keys().know(key.hash()) {
        return Refusal::forbidden("this is not the host's link")
            .hint("copy the whole link that `necrodome serve` has printed")
            .into_response();
    }
    let headers =
        [(header::SET_COOKIE, cookie(HOST, &key)), (header::LOCATION, HeaderValue::from_static("/"))];
    (StatusCode::SEE_OTHER, headers).into_response()
}
