//! One request over HTTP, with limits for everything that comes back.

use crate::{Model, key::Key};
use necrodome_own as own;
use std::{
    env,
    error::Error,
    io,
    path::Path,
    time::{Duration, SystemTime},
};
use ureq::{
    Agent, Timeout,
    http::HeaderMap,
    tls::{self, PemItem, RootCerts, TlsConfig},
};

/// The longest answer that is read, in bytes.
const LONGEST: u64 = 2 << 20;

/// The longest file of certificates, in bytes.
const MOST_CERTIFICATES: u64 = 16 << 20;

/// A response, without the key.
#[derive(Debug)]
pub(crate) struct Response {
    pub status: u16,
    /// The wait that the endpoint asks for.
    pub retry_after: Option<Duration>,
    /// The address to which the endpoint redirects.
    pub location: Option<String>,
    pub text: String,
}

/// Why there is no response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub why: String,
    /// Whether the endpoint may have answered all the same, and charge for it.
    pub was_sent: bool,
    /// Whether another try would fail in the same way.
    pub is_lasting: bool,
}

impl Lost {
    fn lasting(why: String) -> Self {
        Lost { why, was_sent: false, is_lasting: true }
    }
}

/// The variable that names a file of certificates to trust instead of the usual ones, as for OpenSSL and curl.
const CERTIFICATES: &str = "SSL_CERT_FILE";

/// The connections to endpoints, or why there cannot be any.
#[derive(Debug, Clone)]
pub(crate) struct Client(Result<Agent, String>);

impl Client {
    pub fn new() -> Self {
        Client(trusted().map(Self::agent))
    }

    fn agent(trusted: RootCerts) -> Agent {
        let config = Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(trusted).build())
            .http_status_as_error(false)
            // A redirect would carry the key, or the prompt, to somebody else.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("necrodome/", env!("CARGO_PKG_VERSION")))
            .max_idle_connections(64)
            .max_idle_connections_per_host(64)
            // A connection that the endpoint has closed meanwhile costs a try.
            .max_idle_age(Duration::from_secs(5));
        config.build().into()
    }

    /// Sends a body to a model's endpoint and reads the response.
    pub fn post(&self, model: &Model, key: Option<&Key>, body: String) -> Result<Response, Lost> {
        let clean = |text: String| match key {
            Some(key) => key.remove_from_json(text),
            None => text,
        };
        let lost = |error: ureq::Error| {
            let lost = lost(model, &error);
            Lost { why: clean(lost.why), ..lost }
        };
        let agent = self.0.as_ref().map_err(|why| Lost::lasting(why.clone()))?;
        let request = agent.post(format!("{}/chat/completions", model.base_url)).config();
        // No proxy knows the way back to this machine.
        let request = if model.is_local() { request.proxy(None) } else { request };
        let mut request = request
            .timeout_global(Some(model.timeout))
            .build()
            .header("content-type", "application/json")
            .header("accept", "application/json");
        if let Some(key) = key {
            request = request.header("authorization", key.header());
        }
        let mut response = request.send(body).map_err(lost)?;
        let bytes = response.body_mut().with_config().limit(LONGEST).read_to_vec().map_err(lost)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let headers = response.headers();
        Ok(Response {
            status: response.status().as_u16(),
            retry_after: retry_after(headers, SystemTime::now()),
            location: header(headers, "location").map(|location| clean(location.to_owned())),
            text: clean(text),
        })
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Reads `Retry-After`, in seconds or as a date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = header(headers, "retry-after")?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// Describes what went wrong.
fn lost(model: &Model, error: &ureq::Error) -> Lost {
    let sent = |why: String| Lost { why, was_sent: true, is_lasting: false };
    let unsent = |why: String| Lost { why, was_sent: false, is_lasting: false };
    let slow = || format!("no answer within {} s (timeout_s)", model.timeout.as_secs());
    match error {
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => unsent("no connection in time".into()),
        ureq::Error::Timeout(_) => sent(slow()),
        ureq::Error::BodyExceedsLimit(_) => sent(format!("the answer is longer than {} MB", LONGEST >> 20)),
        ureq::Error::HostNotFound => unsent("there is no such host".into()),
        ureq::Error::ConnectionFailed => unsent("no connection".into()),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::BadUri(_) => Lost::lasting(reason(error)),
        // What rustls finds wrong with a certificate comes as such an error, too.
        ureq::Error::Io(inner) if is_about_tls(inner) => Lost::lasting(reason(inner)),
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            sent("the connection ended before the answer did".into())
        }
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            unsent("nobody listens there".into())
        }
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => sent(slow()),
        ureq::Error::Io(error) => sent(reason(error)),
        error => sent(reason(error)),
    }
}

fn is_about_tls(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData && error.get_ref().is_some()
}

/// The certificates that the client trusts.
fn trusted() -> Result<RootCerts, String> {
    let Some(path) = env::var_os(CERTIFICATES).filter(|path| !path.is_empty()) else {
        return Ok(RootCerts::WebPki);
    };
    let told = |why: String| format!("{CERTIFICATES} names {}: {why}", path.display());
    let pem =
        own::read_bytes(Path::new(&path), MOST_CERTIFICATES).map_err(|error| told(error.to_string()))?;
    let certificates = tls::parse_pem(&pem).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
        Ok(_) => None,
        Err(error) => Some(Err(told(reason(&error)))),
    });
    match certificates.collect::<Result<Vec<_>, _>>()? {
        empty if empty.is_empty() => Err(told("expected certificates in PEM form, got none".into())),
        certificates => Ok(certificates.into()),
    }
}

/// The innermost reason of an error, which says most.
fn reason(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        for (text, seconds) in [
            ("7", Some(7.0)),
            ("0.5", Some(0.5)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60.0)),
            ("Sun, 06 Nov 1994 08:48:37 GMT", Some(0.0)),
            ("soon", None),
            ("-1", None),
            ("1e300", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", text.parse().unwrap());
            assert_eq!(retry_after(&headers, now), seconds.map(Duration::from_secs_f64), "{text}");
        }
    }
}
