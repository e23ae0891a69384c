//! The pictures of the strategy, and the calculator.

use crate::visitor::{Visitor, site};
use necrodome_rules::{
    chance::Seeded,
    zombie_dice::{Action, Solo, SoloView},
};
use necrodome_solve::{
    Solution, Solvable,
    bots::built_in,
    exact::{Asked, Inexact, solo as solo_bot},
};
use serde_json::{Value, json};

fn counts(green: u8, yellow: u8, red: u8) -> Value {
    json!({ "green": green, "yellow": yellow, "red": red })
}

fn solo(brains: Value, shotguns: Value, feet: Value) -> Value {
    json!({ "game": "zombie-dice-solo", "dice": { "brains": brains, "shotguns": shotguns, "feet": feet } })
}

#[tokio::test]
async fn the_calculator_knows_what_the_solution_knows() {
    let mut visitor = Visitor::stranger(&site());
    let none = || counts(0, 0, 0);
    // Before the first roll a turn is worth what the solution says, and stopping banks nothing.
    let advice = visitor.post("/api/advise", solo(none(), none(), none())).await.ok();
    let start = Solo::solve(&Default::default(), 1).unwrap().start();
    assert_eq!(advice["options"][0]["label"], "roll");
    assert!((advice["options"][0]["value"].as_f64().unwrap() - start).abs() < 1e-9);
    assert_eq!(advice["options"][1]["value"], 0.0);
    // Ten brains and two shotguns: nobody rolls again.
    let advice =
        visitor.post("/api/advise", solo(counts(5, 3, 0), counts(0, 0, 2), counts(1, 0, 0))).await.ok();
    assert_eq!(advice["options"][0], json!({ "label": "stop and bank 8", "value": 8.0, "cost": 0.0 }));
    assert!(advice["options"][1]["cost"].as_f64().unwrap() > 1.0);
}

#[tokio::test]
async fn every_solved_game_can_be_asked() {
    let mut visitor = Visitor::stranger(&site());
    let dice = json!({ "brains": counts(2, 0, 0), "shotguns": counts(0, 0, 1), "feet": counts(0, 1, 0) });
    for (position, options) in [
        (json!({ "game": "zombie-dice-race", "dice": dice, "score": 7, "other": 9 }), 2),
        (json!({ "game": "zombie-dice", "dice": dice, "score": 11, "other": 14, "second": true }), 2),
        (
            json!({ "game": "tokyo", "health": [6, 4], "points": [12, 15], "place": "in",
                "asked": { "type": "rolling", "dice": ["one", "one", "two", "three", "heal", "attack"], "rerolls": 2 } }),
            48,
        ),
        (
            json!({ "game": "tokyo", "health": [3, 8], "points": [10, 12], "place": "in",
                "asked": { "type": "hit", "heals": 0 } }),
            2,
        ),
    ] {
        let advice = visitor.post("/api/advise", &position).await.ok();
        let values: Vec<f64> = advice["options"]
            .as_array()
            .unwrap()
            .iter()
            .map(|option| option["value"].as_f64().unwrap())
            .collect();
        assert_eq!(values.len(), options, "{position}: {advice}");
        assert!(values.is_sorted_by(|a, b| a >= b), "{advice}");
        assert!(values.iter().all(|value| (0.0..=1.0).contains(value)), "{advice}");
    }
}

#[tokio::test]
async fn the_odds_of_the_next_roll_add_up() {
    let mut visitor = Visitor::stranger(&site());
    let feet = solo(counts(1, 0, 0), counts(0, 0, 2), counts(3, 0, 0));
    let tokyo = json!({ "game": "tokyo", "health": [6, 4], "points": [12, 15], "place": "in",
        "asked": { "type": "rolling", "dice": ["one", "one", "two", "three", "heal", "attack"], "rerolls": 2 } });
    for position in [&feet, &tokyo] {
        let odds = visitor.post("/api/advise", position).await.ok()["odds"].clone();
        let outcomes = odds["outcomes"].as_array().unwrap();
        let all: f64 = outcomes.iter().map(|outcome| outcome["chance"].as_f64().unwrap()).sum();
        assert!((all - 1.0).abs() < 1e-12, "{odds}");
    }
    // Three green dice with two shotguns on the table: each has one shotgun on six sides.
    let odds = visitor.post("/api/advise", &feet).await.ok()["odds"].clone();
    let lost = odds["outcomes"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(lost["words"], "a third shotgun: the turn is lost");
    assert!((lost["chance"].as_f64().unwrap() - 91.0 / 216.0).abs() < 1e-12, "{lost}");
    // Whoever is asked to leave Tokyo rolls nothing.
    let hit = json!({ "game": "tokyo", "health": [3, 8], "points": [10, 12], "place": "in", "asked": { "type": "hit", "heals": 0 } });
    assert_eq!(visitor.post("/api/advise", &hit).await.ok()["odds"], Value::Null);
}

#[tokio::test]
async fn rules_of_thumb_cost_what_the_bots_that_follow_them_lose() {
    let mut visitor = Visitor::stranger(&site());
    let number = |value: &Value| value.as_f64().unwrap();
    for (race, perfect) in [(false, Solo::solve(&Default::default(), 1).unwrap().start()), (true, 0.5)] {
        let list = visitor.get(&format!("/api/learn/thumbs?race={race}")).await.ok();
        assert!((number(&list["perfect"]["value"]) - perfect).abs() < 1e-9, "{list}");
        let rules = list["rules"].as_array().unwrap();
        assert_eq!(rules.len(), 5);
        for rule in rules {
            let played = &rule["played"];
            assert!(number(&played["cost"]) > 0.0, "{rule}");
            assert!((number(&played["value"]) + number(&played["cost"]) - perfect).abs() < 1e-9, "{rule}");
            let all: f64 = played["scores"].as_array().unwrap().iter().map(number).sum();
            assert!((all - 1.0).abs() < 1e-9, "{rule}");
            // The same rule, tried by somebody.
            let tried: Vec<String> = ["none", "one", "two"]
                .iter()
                .zip(rule["stop"].as_array().unwrap())
                .filter(|(_, stop)| !stop.is_null())
                .map(|(shotguns, stop)| format!("&{shotguns}={stop}"))
                .collect();
            let address = format!("/api/learn/thumb?race={race}{}", tried.concat());
            assert_eq!(visitor.get(&address).await.ok()["cost"], played["cost"]);
        }
        // The built-in bot `cautious` stops at the first shotgun, too.
        let cautious = rules.iter().find(|rule| rule["words"] == "Stop at the first shotgun").unwrap();
        if !race {
            let exact = exact_score("cautious");
            assert!((number(&cautious["played"]["value"]) - exact).abs() < 1e-9, "{cautious} {exact}");
        }
    }
}

/// Returns the expected score of a built-in bot in solo, from its choices in every view that can occur.
fn exact_score(name: &str) -> f64 {
    struct Built(Box<dyn necrodome_rules::bot::Bot<Solo>>);
    impl Asked<Solo> for Built {
        fn act(&mut self, view: &SoloView) -> Result<Action, Inexact> {
            Ok(self.0.act(view))
        }
    }
    let bot =
        built_in::<Solo>(&name.parse().unwrap(), &Default::default(), Seeded::new(1, "bot", 0)).unwrap();
    solo_bot(&Default::default(), &mut Built(bot), |_| {}).unwrap().score
}

#[tokio::test]
async fn impossible_positions_are_refused_with_the_reason() {
    let mut visitor = Visitor::stranger(&site());
    let none = || counts(0, 0, 0);
    let tokyo = |health: Value, points: Value, place: &str, asked: Value| json!({ "game": "tokyo", "health": health, "points": points, "place": place, "asked": asked });
    let dice =
        json!({ "type": "rolling", "dice": ["one", "one", "two", "three", "heal", "attack"], "rerolls": 2 });
    for (position, why) in [
        (solo(none(), counts(0, 0, 3), none()), "the turn is over"),
        (solo(counts(7, 0, 0), none(), none()), "at most 6 green"),
        (solo(counts(250, 0, 0), counts(250, 0, 0), none()), "at most 6 green"),
        (solo(none(), none(), counts(2, 2, 0)), "at most 3 footsteps"),
        (solo(counts(1, 0, 0), none(), none()), "at least three dice"),
        (solo(counts(6, 4, 1), none(), none()), "only 2 dice left"),
        (tokyo(json!([0, 4]), json!([1, 1]), "in", dice.clone()), "expected 1 to 10"),
        (tokyo(json!([5, 4]), json!([1, 20]), "in", dice.clone()), "fewer than 20"),
        (tokyo(json!([5, 4]), json!([1, 1]), "empty", dice.clone()), "only on the first turn"),
        (tokyo(json!([5, 4]), json!([1, 0]), "out", dice.clone()), "at least 1 point"),
        (tokyo(json!([5, 4]), json!([2, 0]), "in", dice), "at least 3 points"),
        (tokyo(json!([10, 4]), json!([2, 0]), "in", json!({ "type": "hit", "heals": 0 })), "health below 10"),
        (
            json!({ "game": "infection" }),
            "expected one of \"zombie-dice-solo\", \"zombie-dice-race\", \"zombie-dice\", \"tokyo\", got \"infection\"",
        ),
        (
            solo(counts(1, 0, 0), none(), json!({ "green": "x" })),
            "expected a whole number, 0 or more, got \"x\"",
        ),
        (json!("x"), "expected an object, got \"x\""),
        (json!(["tokyo", {}]), "expected an object, got a list"),
    ] {
        let said = visitor.post("/api/advise", &position).await.refused(400);
        assert!(said.contains(why), "{position}: {said}");
    }
    visitor.get("/api/learn/stopping?shotguns=3").await.refused(400);
    visitor.get("/api/learn/stopping?shotguns=1&own=13").await.refused(400);
    for (address, why) in [
        ("stopping?shotguns=x", "shotguns: expected a whole number"),
        ("stopping", "expected a key \"shotguns\""),
        ("thumb?two=0", "expected to stop with 1 to 13 brains, got 0"),
        ("thumbs?race=maybe", "race: "),
    ] {
        let said = visitor.get(&format!("/api/learn/{address}")).await.refused(400);
        assert!(said.contains(why), "{address}: {said}");
    }
}

#[tokio::test]
async fn the_picture_agrees_with_the_calculator() {
    let mut visitor = Visitor::stranger(&site());
    for shotguns in 0..=2 {
        let picture = visitor.get(&format!("/api/learn/stopping?shotguns={shotguns}")).await.ok();
        let rows = picture["rows"].as_array().unwrap();
        // All ways to have none to three feet.
        assert_eq!(rows.len(), 1 + 3 + 6 + 10);
        for row in rows {
            for (brains, cell) in row["cells"].as_array().unwrap().iter().enumerate() {
                if !cell.is_null() {
                    assert_eq!(cell["stop"].as_f64(), Some(brains as f64));
                    let share = cell["rolls"].as_f64().unwrap();
                    assert!((0.0..=1.0 + 1e-9).contains(&share), "{cell}");
                }
            }
        }
    }
    // Three feet and nothing else: there is only one position, and it must be that of the calculator.
    let picture = visitor.get("/api/learn/stopping?shotguns=0").await.ok();
    let feet = counts(1, 1, 1);
    let row = picture["rows"].as_array().unwrap().iter().find(|row| row["feet"] == feet).unwrap();
    let advice = visitor.post("/api/advise", solo(counts(0, 0, 0), counts(0, 0, 0), feet)).await.ok();
    let (roll, exact) =
        (row["cells"][0]["roll"].as_f64().unwrap(), advice["options"][0]["value"].as_f64().unwrap());
    assert!((roll - exact).abs() < 1e-9, "{roll} {exact}");

    // In a race that is nearly lost one dares more.
    let margin = |picture: &Value| {
        let cell = &picture["rows"][0]["cells"][4];
        cell["roll"].as_f64().unwrap() - cell["stop"].as_f64().unwrap()
    };
    let ahead = visitor.get("/api/learn/stopping?shotguns=2&own=9&other=0").await.ok();
    let behind = visitor.get("/api/learn/stopping?shotguns=2&own=0&other=12").await.ok();
    assert!(margin(&ahead) < 0.0, "{}", margin(&ahead));
    assert!(margin(&behind) > margin(&ahead) + 0.01, "{} {}", margin(&ahead), margin(&behind));
}

#[tokio::test]
async fn a_drill_gets_harder_with_its_level() {
    let mut visitor = Visitor::stranger(&site());
    for game in ["zombie-dice-solo", "zombie-dice-race", "tokyo"] {
        let mut leads = Vec::new();
        for level in 1..=10 {
            let address = format!("/api/learn/drill?game={game}&level={level}&number=7");
            let exercise = visitor.get(&address).await.ok();
            assert_eq!((&exercise["game"], &exercise["level"]), (&json!(game), &json!(level)));
            assert!(exercise["view"].is_object() && !exercise["situation"].as_str().unwrap().is_empty());
            let costs =
                exercise["options"].as_array().unwrap().iter().map(|one| one["cost"].as_f64().unwrap());
            let costs: Vec<f64> = costs.collect();
            assert!(costs[0] == 0.0 && costs.is_sorted(), "{game}: {costs:?}");
            leads.push(*costs.iter().find(|cost| **cost > 0.0).unwrap());
            // The same number is the same position.
            assert_eq!(visitor.get(&address).await.ok(), exercise);
        }
        assert!(leads.is_sorted_by(|one, other| one >= other), "{game}: {leads:?}");
        let other = visitor.get(&format!("/api/learn/drill?game={game}&level=3&number=8")).await.ok();
        let one = visitor.get(&format!("/api/learn/drill?game={game}&level=3&number=7")).await.ok();
        assert_ne!(one["view"], other["view"], "{game}");
    }
    for (query, words) in [
        ("game=tokyo&level=11&number=1", "expected a level from 1 to 10"),
        ("game=chess&level=1&number=1", "no game"),
        ("game=infection&level=1&number=1", "solved"),
        ("game=tokyo&level=1", "number"),
    ] {
        let told = visitor.get(&format!("/api/learn/drill?{query}")).await.refused(400);
        assert!(told.contains(words), "{query}: {told}");
    }
}
