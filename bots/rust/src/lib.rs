//! The part that all bots share: read a message, answer it if it asks for an answer, until the input ends.

use serde_json::{Value, json};
use std::io::{self, BufRead, Write};

/// Plays matches: `choose` gets a view and gives an action and a reason for it.
///
/// Messages that need no answer (start, end, and whatever later versions may add) are ignored.
pub fn play(mut choose: impl FnMut(&Value) -> (Value, String)) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let answer = match message["type"].as_str() {
            Some("hello") => json!({"type": "ready", "protocol": 1, "deterministic": true}),
            Some("decide") => {
                let (action, reason) = choose(&message["view"]);
                json!({"id": message["id"], "action": action, "reason": reason})
            }
            _ => continue,
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

/// A number in a message. What is missing counts as 0.
pub fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

/// A list in a message. What is missing counts as empty.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
