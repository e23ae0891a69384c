//! Infection: the treasurer. Antibodies are points at the end and life until then, so they are spent with
//! thought.
//!
//! The idea: early in the game a human meets others to gain antibodies; near the end it keeps to one contact,
//! behind a precaution. It takes the antidote only when it can afford it and another turn follows. A zombie
//! with viruses spends them at once, on as many players as possible.

use example_bots::{list, number, play};
use serde_json::{Value, json};

fn choose(view: &Value) -> (Value, String) {
    if view["told"]["identity"] == "human" { human(view) } else { zombie(view) }
}

/// The partner after the own seat, going around, so that not all run to the same one.
fn partner(view: &Value) -> Option<i64> {
    let partners = list(&view["partners"]);
    let after = partners.iter().find(|partner| number(partner) > number(&view["seat"]));
    after.or(partners.first()).map(number)
}

fn human(view: &Value) -> (Value, String) {
    let (stock, public) = (number(&view["told"]["stock"]), &view["public"]);
    let turns_left = number(&view["max_turns"]) - number(&public["turns"]);
    let (humans, zombies) = (number(&public["humans"]), number(&public["zombies"]));
    let dangerous = 3 * zombies >= humans || turns_left <= 1;

    let commit = if dangerous && stock >= 2 { "precaution" } else { "none" };
    let commit = json!({"type": commit});
    if view["question"]["type"] == "answer" {
        return (json!({"type": "answer", "commit": commit}), format!("{stock} antibodies to lose"));
    }
    // The first contact is a duty. A second one is for the poor, in safe times.
    let wants_more = !dangerous && stock <= 1 && list(&view["partners"]).len() > humans as usize / 2;
    let met = view["has_met"] == true;
    match partner(view) {
        Some(with) if !met || wants_more => {
            (json!({"type": "contact", "with": with, "commit": commit}), "good day".into())
        }
        _ => {
            let antidote = dangerous && stock >= 3 && turns_left > 1;
            let reason = if antidote { "better safe than sorry" } else { "enough for today" };
            (json!({"type": "end", "antidote": antidote}), reason.into())
        }
    }
}

fn zombie(view: &Value) -> (Value, String) {
    let viruses = number(&view["told"]["stock"]) - number(&view["applied"]);
    let partners = list(&view["partners"]).len() as i64;
    // The same dose for everybody who is still to come, at least one while there are any.
    let dose = (viruses / (partners + 1)).max(1).min(viruses);
    let commit = if dose > 0 { json!({"type": "virus", "count": dose}) } else { json!({"type": "none"}) };
    if view["question"]["type"] == "answer" {
        return (json!({"type": "answer", "commit": commit}), "a guest!".into());
    }
    match partner(view) {
        Some(with) => {
            (json!({"type": "contact", "with": with, "commit": commit}), format!("{viruses} viruses"))
        }
        None => (json!({"type": "end"}), "nobody is left".into()),
    }
}

fn main() -> std::io::Result<()> {
    play(choose)
}
