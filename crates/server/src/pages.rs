//! The pages, embedded in the binary, and the viewer for files that open from disk.

use crate::Refusal;
use axum::{
    http::{Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};

/// The files made by the build script: their paths and contents.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

fn file(path: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, data)| *data)
}

/// The page that is shown if the pages were not built.
const NOT_INCLUDED: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Necrodome</title>\
<h1>The pages are not included</h1><p>This necrodome was built where Node.js was missing. The arena works, its pages do not. \
Install Node.js 20 or newer with npm, and build again: <code>cargo build --release</code></p></html>";

/// Whether the pages were built into this program.
pub fn included() -> bool {
    file("index.html").is_some()
}

/// Returns the script and the style sheet of the viewer for files that open from disk, or `None` if they were not built.
pub(crate) fn viewer() -> Option<(&'static str, &'static str)> {
    let text = |path: &str| std::str::from_utf8(file(path)?).ok();
    Some((text("viewer/viewer.js")?, text("viewer/viewer.css")?))
}

/// Returns a file of the pages, or the main page, which does its own routing.
pub(crate) async fn page(method: Method, address: Uri) -> Response {
    if !matches!(method, Method::GET | Method::HEAD) {
        return Refusal::missing("there is no such request").into_response();
    }
    let path = address.path().trim_start_matches('/');
    match file(path) {
        Some(data) => sent(path, data),
        // Addresses of pages have no dot in their last part; what has one is a file that is not there.
        None if path.rsplit('/').next().is_some_and(|last| last.contains('.')) => {
            Refusal::missing("there is no such file").into_response()
        }
        None => match file("index.html") {
            Some(data) => sent("index.html", data),
            None => {
                let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
                (StatusCode::SERVICE_UNAVAILABLE, html, NOT_INCLUDED).into_response()
            }
        },
    }
}

fn sent(path: &str, data: &'static [u8]) -> Response {
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    };
    // The name of an asset holds a hash of its contents, so it can be kept for ever.
    let lasting = path.starts_with("assets/");
    let cache = if lasting { "public, max-age=31536000, immutable" } else { "no-cache" };
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, cache)], data).into_response()
}
