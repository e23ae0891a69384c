//! A film and its viewer as one file that opens from disk. A film cannot inject anything into the page: its JSON contains no `<`,
//! and only the script and style sheet whose hashes are in the file may run.

use super::Reel;
use crate::pages;
use data_encoding::BASE64;
use sha2::{Digest, Sha256};

/// Returns the page, or `None` if the viewer was not built into this program.
pub fn page(films: &[Reel]) -> Option<String> {
    let (script, style) = pages::viewer()?;
    let json: Option<Vec<&str>> = films.iter().map(|film| std::str::from_utf8(&film.json).ok()).collect();
    let title = match films {
        [film] => film.title.clone(),
        films => format!("{} matches", films.len()),
    };
    Some(assemble(&title, script, style, &format!("[{}]", json?.join(","))))
}

fn assemble(title: &str, script: &str, style: &str, json: &str) -> String {
    // Inside a script these two would be read as HTML. They stand in strings of the viewer, where an escape is the same.
    let script = script.replace("</script", "<\\/script").replace("<!--", "\\x3C!--");
    let style = style.replace("</", "<\\/");
    let json = json.replace('<', "\\u003c");
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data: blob:; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(&style),
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"dark light\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{} · Necrodome</title>\n<style>{style}</style>\n</head>\n<body>\n\
         <noscript>This replay needs JavaScript.</noscript>\n<div id=\"app\"></div>\n\
         <script type=\"application/json\" id=\"film\">{json}</script>\n<script>{script}</script>\n</body>\n</html>\n",
        escaped(title),
    )
}

fn hash(text: &str) -> String {
    BASE64.encode(&Sha256::digest(text.as_bytes()))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_film_can_leave_its_place() {
        let evil = "</script></title><script>alert(1)</script><!--";
        let json = serde_json::to_string(&[evil]).unwrap();
        let page = assemble(evil, "let a = '</script><!--';", "p::after { content: '</style>' }", &json);
        assert_eq!(page.matches("<script").count(), 2, "the film and the viewer");
        assert_eq!(page.matches("</script").count(), 2);
        assert_eq!(page.matches("</title").count(), 1);
        assert_eq!(page.matches("</style").count(), 1);
        assert_eq!(page.matches("<!--").count(), 0);
        // What the viewer reads is what was written.
        let start = page.find("id=\"film\">").unwrap() + "id=\"film\">".len();
        let end = start + page[start..].find("</script").unwrap();
        assert_eq!(serde_json::from_str::<Vec<String>>(&page[start..end]).unwrap(), [evil]);
    }

    #[test]
    fn the_policy_names_what_may_run() {
        let page = assemble("t", "go()", "p{}", "{}");
        assert!(page.contains(&format!("script-src 'sha256-{}'", hash("go()"))));
        assert!(page.contains(&format!("style-src 'sha256-{}'", hash("p{}"))));
    }
}
