//! {{name}}, a bot for {{game}}.
//!
//! {{hint}}
//!
//! The arena writes one JSON object a line to standard input and reads one a line from standard output.
//! Print notes of your own to standard error: `eprintln!("thinking")`
//! Build it with `cargo build --release`, then let the arena check it:
//! necrodome check-bot {{game}} target/release/{{crate}}

use serde_json::{json, Value};
use std::io::{self, BufRead, Write};

{{only last-bullet}}
const DIRECTIONS: [&str; 9] =
    ["north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest", "stay"];

{{end}}
/// Returns an action. This is the place for your own ideas: `view` is all that you know.
{{only last-bullet}}
fn choose(view: &Value, _legal: Option<&Vec<Value>>, random: &mut Random) -> Value {
    // There are too many legal actions to list: give an order to each copy.
    let copies = view["copies"].as_array().map_or(&[][..], Vec::as_slice);
    let orders: Vec<Value> = copies.iter().map(|copy| order(copy, random)).collect();
    json!({"orders": orders})
}

/// What one copy does. Here it walks in a random direction.
fn order(copy: &Value, random: &mut Random) -> Value {
    json!({"type": "move", "copy": copy["number"], "direction": random.pick(&DIRECTIONS)})
}
{{end}}
{{only infection}}
fn choose(view: &Value, legal: Option<&Vec<Value>>, random: &mut Random) -> Value {
    // Every legal action, where they are few.
    if let Some(legal) = legal {
        return random.pick(legal).clone();
    }
    match view["partners"].as_array() {
        Some(partners) if view["question"]["type"] == "choose" => {
            json!({"type": "contact", "with": random.pick(partners)})
        }
        _ => json!({"type": "answer"}),
    }
}
{{end}}
{{not last-bullet infection}}
fn choose(_view: &Value, legal: Option<&Vec<Value>>, random: &mut Random) -> Value {
    // Every legal action.
    legal.map_or(Value::Null, |legal| random.pick(legal).clone())
}
{{end}}

/// Random numbers that follow from the seed of the match (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.next() as usize % list.len()]
    }
}

fn main() -> io::Result<()> {
    let mut random = Random(1);
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let answer = match message["type"].as_str() {
            Some("hello") => json!({"type": "ready", "protocol": 1}),
            Some("start") => {
                random = Random(message["seed"].as_u64().unwrap_or(1)); // the same match, the same choices
                continue;
            }
            // You can add a "reason": a text that is shown beside the action.
            Some("decide") => {
                let action = choose(&message["view"], message["legal"].as_array(), &mut random);
                json!({"id": message["id"], "action": action})
            }
            _ => continue, // "end", and whatever later versions may add
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
