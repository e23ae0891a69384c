//! What stands before every request: who may ask at all, how often, and what a browser may do with the answer.

use crate::{Limits, Refusal, Site, listen::From, refusal::Cause};
use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::{
    net::{IpAddr, Ipv4Addr},
    num::NonZero,
    time::Duration,
};
use tower_http::{
    catch_panic::CatchPanicLayer, compression::CompressionLayer, set_header::SetResponseHeaderLayer,
    timeout::RequestBodyTimeoutLayer,
};

/// No inline script or style, nothing from elsewhere, in nobody's frame.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A body that comes slower than this is not waited for.
const SLOW_BODY: Duration = Duration::from_secs(20);

/// Puts the guards around all routes.
pub(crate) fn around(router: Router, site: Site) -> Router {
    let always = |name: &'static str, value: &'static str| {
        SetResponseHeaderLayer::overriding(HeaderName::from_static(name), HeaderValue::from_static(value))
    };
    router
        .layer(CompressionLayer::new())
        .layer(RequestBodyTimeoutLayer::new(SLOW_BODY))
        .layer(CatchPanicLayer::custom(|_| Refusal::internal("a request has panicked").into_response()))
        .layer(middleware::from_fn_with_state(site, check))
        .layer(always("content-security-policy", CONTENT_POLICY))
        .layer(always("x-content-type-options", "nosniff"))
        .layer(always("referrer-policy", "no-referrer"))
        .layer(always("cross-origin-opener-policy", "same-origin"))
        .layer(always("cross-origin-resource-policy", "same-origin"))
}

async fn check(State(site): State<Site>, request: Request, next: Next) -> Response {
    let from = request.extensions().get::<From>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |from| from.0);
    if !site.may_ask(from) {
        return Refusal::too_often("too many requests from this address")
            .hint("wait a moment")
            .into_response();
    }
    if let Err(refusal) = same_site(&site, request.method(), request.headers()) {
        return refusal.into_response();
    }
    let api = request.uri().path().starts_with("/api/");
    let mut response = next.run(request).await;
    if let Some(Cause(cause)) = response.extensions().get() {
        complain!("error: {cause}");
    }
    if api {
        // What one viewer may see is not for a cache.
        response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
    response
}

/// Whether a request comes from our own pages, or from no page at all. Other sites can make a browser ask, but not hide that
/// they did.
fn same_site(site: &Site, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    if site.config().loopback && !host.is_empty() && !is_loopback(host) {
        // A foreign name that leads here: a page elsewhere that wants to pass for ours.
        return Err(Refusal::forbidden(format!("expected a request to this machine, got one to {host:?}"))
            .hint("start the server with --bind to let others in"));
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

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// How often each address has asked.
pub(crate) struct Visitors(DefaultKeyedRateLimiter<IpAddr>);

impl Visitors {
    pub fn new(limits: &Limits) -> Self {
        let at_least_one = |number: u32| NonZero::new(number).unwrap_or(NonZero::<u32>::MIN);
        let quota = Quota::per_second(at_least_one(limits.rate)).allow_burst(at_least_one(limits.burst));
        Visitors(RateLimiter::keyed(quota))
    }

    pub fn may_ask(&self, from: IpAddr) -> bool {
        // Addresses that have been quiet are forgotten before they are too many.
        if self.0.len() > 10_000 {
            self.0.retain_recent();
        }
        self.0.check_key(&from).is_ok()
    }
}
