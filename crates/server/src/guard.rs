//! The checks before every request: who may ask at all, how often, and what a browser may do with the answer.

use crate::{Config, Limits, Refusal, Site, live::now, places::Origin, refusal::Cause};
use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use hyper::body::{Frame, SizeHint};
use nix::{ifaddrs::getifaddrs, unistd::gethostname};
use std::{
    error::Error,
    iter,
    net::IpAddr,
    num::NonZero,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::time::{Instant, Sleep, sleep_until};
use tower_http::{
    catch_panic::CatchPanicLayer, compression::CompressionLayer, set_header::SetResponseHeaderLayer,
};

/// The usual content policy: no inline script or style, nothing from other sites, and no embedding in frames.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The policy for films that other sites may embed: these pages have nothing to click on, so no click can be hijacked.
const EMBED_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *";

/// Puts the checks around all routes.
pub(crate) fn around(router: Router, site: Site) -> Router {
    let always = |name: &'static str, value: &'static str| {
        SetResponseHeaderLayer::overriding(HeaderName::from_static(name), HeaderValue::from_static(value))
    };
    router
        .layer(CompressionLayer::new())
        .layer(CatchPanicLayer::custom(|_| Refusal::internal("a request has panicked").into_response()))
        .layer(middleware::from_fn_with_state(site, check))
        .layer(middleware::map_response(usual_policy))
        .layer(always("x-content-type-options", "nosniff"))
        .layer(always("referrer-policy", "no-referrer"))
        .layer(always("cross-origin-opener-policy", "same-origin"))
        .layer(always("cross-origin-resource-policy", "same-origin"))
}

/// Sets the usual content policy on every response for which `check` has set no other.
async fn usual_policy(mut response: Response) -> Response {
    let usual = HeaderValue::from_static(CONTENT_POLICY);
    response.headers_mut().entry(header::CONTENT_SECURITY_POLICY).or_insert(usual);
    response
}

async fn check(State(site): State<Site>, origin: Origin, request: Request, next: Next) -> Response {
    let api = request.uri().path().starts_with("/api/");
    let embedded = request.uri().path().starts_with("/embed/");
    let refuse = |refusal: Refusal| if api { refusal.into_response() } else { refusal.page() };
    if !site.may_ask(origin) {
        return refuse(Refusal::too_often("too many requests from this address").hint("wait a moment"));
    }
    if let Err(refusal) = same_site(&site, request.method(), request.headers()) {
        return refuse(refusal);
    }
    let until = Instant::now() + site.limits().slow_body;
    let request = request.map(|body| Body::new(InTime { body, until: Box::pin(sleep_until(until)) }));
    let mut response = next.run(request).await;
    if let Some(Cause(cause)) = response.extensions().get() {
        complain!("error: {cause}");
    }
    if embedded && response.status().is_success() {
        let policy = HeaderValue::from_static(EMBED_POLICY);
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    if api {
        let headers = response.headers_mut();
        // What one viewer may see is not for a cache.
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        // The clock of all deadlines: that of the `date` may be set at any time.
        headers.insert(HeaderName::from_static("necrodome-clock"), HeaderValue::from(now()));
    }
    response
}

/// The body of a request that must arrive completely by a deadline, however many pieces it comes in.
struct InTime {
    body: Body,
    until: Pin<Box<Sleep>>,
}

#[derive(Debug, thiserror::Error)]
#[error("the body takes too long to arrive")]
struct Slow;

/// Whether an error means that a body took too long to arrive.
pub(crate) fn is_slow(error: &(dyn Error + 'static)) -> bool {
    iter::successors(Some(error), |error| (*error).source()).any(|error| error.is::<Slow>())
}

impl HttpBody for InTime {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.until.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(axum::Error::new(Slow))));
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Refuses a request that comes from another site. A request may come from our own pages, or from no page at all; other sites can
/// make a browser ask, but cannot hide that they did.
fn same_site(site: &Site, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let host = text(header::HOST).unwrap_or_default();
    let is_known = || known_here(site.config(), name_in(host));
    if headers.get_all(header::HOST).iter().count() > 1 || !host.is_empty() && !is_known() {
        // A foreign name that leads here: a page elsewhere that wants to pass for ours.
        let name = name_in(host);
        let refusal = Refusal::forbidden(format!("this arena is not known as {name:?}"));
        return Err(match site.config().bind.is_loopback() {
            true => refusal.hint("to let others in, start it with: necrodome serve --bind 0.0.0.0"),
            false => refusal,
        }
        .hint(format!("if this name is yours, start the arena with: necrodome serve --host-name {name}")));
    }
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    let foreign = || Refusal::forbidden("this request comes from another site");
    if let Some(origin) = text(header::ORIGIN)
        && origin.split_once("://").is_none_or(|(_, of)| of != host)
    {
        return Err(foreign());
    }
    match text(HeaderName::from_static("sec-fetch-site")) {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => Err(foreign()),
    }
}

/// Returns the name in a `host` header, without the port.
fn name_in(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// Whether the server is known by this name: a name or address of this machine, or a name that the host has configured.
fn known_here(config: &Config, name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    if is("localhost") || config.host_names.iter().any(|own| is(own)) {
        return true;
    }
    match name.parse::<IpAddr>() {
        Ok(address) if address.is_loopback() => true,
        _ if config.bind.is_loopback() => false,
        // Networks come and go, so we look each time.
        Ok(address) => address == config.bind || has_address(address),
        Err(_) => gethostname().is_ok_and(|own| {
            let own = own.to_string_lossy();
            is(&own) || is(&format!("{own}.local"))
        }),
    }
}

fn has_address(address: IpAddr) -> bool {
    own_addresses().any(|own| own == address)
}

/// Returns the addresses of this machine.
pub(crate) fn own_addresses() -> impl Iterator<Item = IpAddr> {
    let all = getifaddrs().into_iter().flatten().filter_map(|interface| interface.address);
    all.filter_map(|own| {
        let v4 = own.as_sockaddr_in().map(|own| IpAddr::V4(own.ip()));
        v4.or_else(|| own.as_sockaddr_in6().map(|own| IpAddr::V6(own.ip())))
    })
}

fn at_least_one(number: u32) -> NonZero<u32> {
    NonZero::new(number).unwrap_or(NonZero::<u32>::MIN)
}

/// Limits how often each address may ask.
pub(crate) struct Visitors(DefaultKeyedRateLimiter<Origin>);

impl Visitors {
    pub fn new(limits: &Limits) -> Self {
        let quota = Quota::per_second(at_least_one(limits.rate)).allow_burst(at_least_one(limits.burst));
        Visitors(RateLimiter::keyed(quota))
    }

    /// Limits how often each address may do something: `burst` times at once, and `rate` times a minute in the long run.
    pub fn per_minute(rate: u32, burst: usize) -> Self {
        let burst = at_least_one(u32::try_from(burst).unwrap_or(u32::MAX));
        Visitors(RateLimiter::keyed(Quota::per_minute(at_least_one(rate)).allow_burst(burst)))
    }

    pub fn may_ask(&self, origin: Origin) -> bool {
        // Addresses that have been quiet are forgotten before they are too many.
        if self.0.len() > 10_000 {
            self.0.retain_recent();
        }
        self.0.check_key(&origin).is_ok()
    }
}
