//! The pages, embedded in the binary, and the viewer for files that open from disk.

use crate::Refusal;
use axum::{
    http::{HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use rust_embed::{Embed, EmbeddedFile};

#[derive(Embed)]
#[folder = "$OUT_DIR/web"]
struct Web;

/// What is shown where the pages should be.
const NOT_INCLUDED: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Necrodome</title>\
<h1>The pages are not included</h1><p>This necrodome was built where Node.js was missing. The arena works, its pages do not. \
Install Node.js 20 or newer with npm, and build again: <code>cargo build --release</code></p></html>";

/// Whether the pages were built into this program.
pub fn included() -> bool {
    Web::get("index.html").is_some()
}

/// The script and the style sheet of the viewer for files that open from disk.
pub(crate) fn viewer() -> Option<(String, String)> {
    let text = |name: &str| String::from_utf8(Web::get(name)?.data.into_owned()).ok();
    Some((text("viewer/viewer.js")?, text("viewer/viewer.css")?))
}

/// A file of the pages, or the page that finds its way by the address.
pub(crate) async fn page(method: Method, address: Uri) -> Response {
    if !matches!(method, Method::GET | Method::HEAD) {
        return Refusal::missing("there is no such request").into_response();
    }
    let path = address.path().trim_start_matches('/');
    match Web::get(path).filter(|_| !path.is_empty()) {
        Some(file) => sent(file, path.starts_with("assets/")),
        // Addresses of pages have no dot in their last part; what has one is a file that is not there.
        None if path.rsplit('/').next().is_some_and(|last| last.contains('.')) => {
            Refusal::missing("there is no such file").into_response()
        }
        None => match Web::get("index.html") {
            Some(file) => sent(file, false),
            None => {
                let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
                (StatusCode::SERVICE_UNAVAILABLE, html, NOT_INCLUDED).into_response()
            }
        },
    }
}

/// `lasting`: the name holds a hash of the contents, so it can be kept for ever.
fn sent(file: EmbeddedFile, lasting: bool) -> Response {
    let kind = HeaderValue::from_str(file.metadata.mimetype());
    let kind = kind.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    let cache = if lasting { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, HeaderValue::from_static(cache))];
    (headers, file.data).into_response()
}
