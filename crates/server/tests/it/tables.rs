//! Tables at which people play: whole games by requests, and everything that must not work.

use crate::visitor::{Answer, HeldFile, Live, Visitor, config, is_waiting, site};
use axum::http::StatusCode;
use necrodome_server::{Config, Limits, Site};
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};
use std::{fs, os::unix::fs::PermissionsExt, path::Path, pin::pin, time::Duration};

/// Somebody at a table.
struct Person {
    browser: Visitor,
    id: String,
    live: Live,
    state: Value,
}

impl Person {
    /// Opens a table.
    async fn open(site: &Site, table: Value) -> Person {
        let mut browser = Visitor::stranger(site);
        let state = browser.post("/api/tables", table).await.ok();
        Self::sitting(browser, state["id"].as_str().unwrap()).await
    }

    /// Joins a table.
    async fn join(site: &Site, id: &str, name: &str) -> Person {
        let mut browser = Visitor::stranger(site);
        browser.post(&format!("/api/tables/{id}/join"), json!({ "name": name })).await.ok();
        Self::sitting(browser, id).await
    }

    async fn sitting(mut browser: Visitor, id: &str) -> Person {
        let live = browser.follow(&format!("/api/tables/{id}/stream")).await;
        let mut person = Person { browser, id: id.to_owned(), live, state: Value::Null };
        person.look().await;
        person
    }

    async fn look(&mut self) -> &Value {
        self.state = self.live.next().await.expect("the table is there");
        &self.state
    }

    fn path(&self, what: &str) -> String {
        format!("/api/tables/{}/{what}", self.id)
    }

    /// Waits until they have to decide; returns false when the match is over.
    async fn asked(&mut self) -> bool {
        loop {
            if self.state["question"].is_u64() {
                return true;
            }
            if matches!(self.state["phase"].as_str(), Some("over" | "ended")) {
                return false;
            }
            self.look().await;
        }
    }

    async fn act(&mut self, action: Value) -> Answer {
        let body = json!({ "question": self.state["question"], "action": action });
        self.browser.post(&self.path("act"), body).await
    }

    /// Answers a question, and waits for the result.
    async fn play(&mut self, action: Value) {
        let question = self.state["question"].clone();
        self.act(action).await.ok();
        while self.state["question"] == question {
            self.look().await;
        }
    }

    async fn play_to_the_end(&mut self) -> usize {
        let mut decisions = 0;
        while self.asked().await {
            self.play(sensible(&self.state)).await;
            decisions += 1;
            assert!(decisions < 2000, "this game does not end: {}", self.state);
        }
        decisions
    }
}

/// Returns an action that brings a match closer to its end.
fn sensible(state: &Value) -> Value {
    let view = &state["scene"]["view"];
    match state["game"].as_str().unwrap() {
        "tokyo" if view["phase"]["type"] == "yielding" => json!({ "type": "yield" }),
        "tokyo" => {
            let keep = |face: &Value| face == "attack" || face == "three";
            let dice: Vec<bool> = view["dice"].as_array().unwrap().iter().map(keep).collect();
            json!({ "type": "keep", "dice": dice })
        }
        "infection" => match view["question"]["type"].as_str().unwrap() {
            "answer" => json!({ "type": "answer", "commit": { "type": "none" } }),
            _ if view["has_met"] == true || view["partners"] == json!([]) => json!({ "type": "end" }),
            _ => json!({ "type": "contact", "with": view["partners"][0], "commit": { "type": "none" } }),
        },
        "last-bullet" => {
            let copy = &view["copies"][0]["number"];
            json!({ "orders": [{ "type": "move", "copy": copy, "direction": "north" }] })
        }
        _ if view["turn"]["brains"].as_u64() >= Some(2) => json!({ "type": "stop" }),
        _ => json!({ "type": "go" }),
    }
}

fn table(game: &str, bots: &[&str]) -> Value {
    json!({ "game": game, "name": "Ada", "bots": bots })
}

#[tokio::test]
async fn every_game_is_played_to_its_end() {
    let site = site();
    for (game, bots, options) in [
        ("zombie-dice", vec!["cautious", "greedy"], json!({})),
        ("zombie-dice-solo", vec![], json!({})),
        ("zombie-dice-race", vec!["stop-at:brains=4"], json!({})),
        ("tokyo", vec!["angry", "random"], json!({})),
        ("infection", vec!["careful", "spreader", "random"], json!({ "max_turns": 3 })),
        ("last-bullet", vec!["gunner", "runner"], json!({ "copies": 5, "max_turns": 20 })),
    ] {
        let wanted = json!({ "game": game, "name": "Ada", "bots": bots, "options": options });
        let mut ada = Person::open(&site, wanted).await;
        let decisions = ada.play_to_the_end().await;
        assert!(decisions > 0, "{game}");
        assert_eq!(ada.state["phase"], "over", "{game}: {}", ada.state);
        assert_eq!(ada.state["outcome"]["places"].as_array().unwrap().len(), 1 + bots.len());

        let replay = ada.browser.get(&ada.path("replay")).await;
        assert_eq!(replay.status, StatusCode::OK, "{game}");
        let unpacked = necrodome_arena::replay::unpack(&replay.body[..]).unwrap();
        assert_eq!(unpacked.game, game);
        let film = ada.browser.get(&ada.path("film")).await.ok();
        assert_eq!(film["outcome"], ada.state["outcome"], "{game}");
        // What is over is shown to whoever comes later, too.
        let seen = Visitor::stranger(&site).get(&format!("/api/tables/{}", ada.id)).await.ok();
        assert_eq!(seen["outcome"], ada.state["outcome"]);
    }
}

#[tokio::test]
async fn a_slip_is_refused_with_the_rule_and_costs_nothing() {
    let site = site();
    let mut ada = Person::open(&site, table("tokyo", &["angry"])).await;
    assert!(ada.asked().await);
    let before = ada.state["scene"]["view"].clone();
    let why = ada.act(json!({ "type": "stay" })).await.refused(400);
    assert!(why.contains("expected which dice to keep"), "{why}");
    for nonsense in [json!({}), json!(7), json!({ "type": "keep", "dice": [true] }), Value::Null] {
        let why = ada.act(nonsense.clone()).await.refused(400);
        assert!(why.contains("no action of Tokyo"), "{nonsense}: {why}");
    }
    let seen = ada.browser.get(&format!("/api/tables/{}", ada.id)).await.ok();
    assert_eq!(seen["scene"]["view"], before);
    assert_eq!(seen["question"], ada.state["question"]);

    let mut bea = Person::open(&site, table("last-bullet", &["runner"])).await;
    assert!(bea.asked().await);
    let foreign = json!({ "orders": [{ "type": "move", "copy": 99_999, "direction": "north" }] });
    let why = bea.act(foreign).await.refused(400);
    assert!(why.contains("not a living copy"), "{why}");
}

#[tokio::test]
async fn a_click_counts_once() {
    let site = site();
    let mut ada = Person::open(&site, table("zombie-dice-solo", &[])).await;
    assert!(ada.asked().await);
    let question = ada.state["question"].clone();
    let go = json!({ "question": question, "action": { "type": "go" } });
    let path = ada.path("act");
    let (one, other) = (ada.browser.clone(), ada.browser.clone());
    let ask = |mut browser: Visitor| {
        let (path, go) = (path.clone(), go.clone());
        async move { browser.post(&path, go).await.status }
    };
    let mut both = [ask(one).await, ask(other).await];
    both.sort();
    assert_eq!(both, [StatusCode::NO_CONTENT, StatusCode::CONFLICT]);
}

#[tokio::test]
async fn two_people_play_at_one_table_and_each_acts_only_for_itself() {
    let site = site();
    let wanted = json!({ "game": "zombie-dice", "name": "Ada", "friends": 1, "bots": ["cautious"] });
    let mut ada = Person::open(&site, wanted).await;
    assert_eq!(ada.state["phase"], "waiting");
    assert!(ada.state["link"].as_str().unwrap().ends_with(&format!("/tables/{}", ada.id)));
    let mut stranger = Visitor::stranger(&site);
    for (name, why) in
        [("ada", "is taken"), ("", "is empty"), ("cautious", "is taken"), ("\u{202e}x", "invisible")]
    {
        let said = stranger.post(&ada.path("join"), json!({ "name": name })).await.refused(400);
        assert!(said.contains(why), "{name:?}: {said}");
    }
    ada.act(json!({ "type": "go" })).await.refused(400);
    let mut bea = Person::join(&site, &ada.id, "Bea").await;
    assert_eq!(bea.state["you"], 1);
    stranger.post(&ada.path("join"), json!({ "name": "Cy" })).await.refused(409);
    bea.browser.clone().post(&ada.path("join"), json!({ "name": "Bea 2" })).await.refused(409);

    assert!(ada.asked().await);
    // It is Ada's turn: neither Bea nor somebody from outside can decide for her.
    let act = json!({ "question": ada.state["question"], "action": { "type": "stop" } });
    bea.browser.post(&ada.path("act"), act.clone()).await.refused(409);
    stranger.post(&ada.path("act"), act.clone()).await.refused(403);
    let mut thief = Visitor::stranger(&site);
    thief.cookies.insert(format!("necrodome-table-{}", ada.id), "AAAAAAAAAAAAAAAAAAAAAAAA".to_owned());
    thief.post(&ada.path("act"), act).await.refused(403);

    let (mut turns, mut over) = ([0, 0], false);
    while !over {
        for (person, turns) in [&mut ada, &mut bea].into_iter().zip(&mut turns) {
            while person.state["question"].is_u64() {
                *turns += 1;
                person.play(sensible(&person.state)).await;
            }
        }
        let [one, other] = [&mut ada, &mut bea];
        tokio::select! {
            _ = one.look() => {}
            _ = other.look() => {}
        }
        over = [&ada, &bea].iter().any(|person| person.state["phase"] == "over");
    }
    assert!(turns[0] > 0 && turns[1] > 0, "{turns:?}");
}

#[tokio::test]
async fn who_leaves_is_replaced_by_a_bot_and_the_last_one_ends_the_match() {
    let site = site();
    let mut ada = Person::open(&site, json!({ "game": "tokyo", "name": "Ada", "friends": 1 })).await;
    let mut bea = Person::join(&site, &ada.id, "Bea").await;
    bea.browser.post(&ada.path("leave"), json!({})).await.ok();
    ada.play_to_the_end().await;
    assert_eq!(ada.state["phase"], "over");
    assert_eq!(ada.state["seats"][1]["name"], "Bea");
    assert!(ada.state["seats"][1]["bot"].is_string());
    bea.browser.post(&ada.path("act"), json!({ "question": 1, "action": {} })).await.refused(403);

    let mut cy = Person::open(&site, table("tokyo", &["angry"])).await;
    cy.browser.post(&cy.path("leave"), json!({})).await.ok();
    assert!(cy.live.next().await.is_none(), "the table is gone");
}

#[tokio::test]
async fn who_is_away_can_be_replaced_after_a_while() {
    let limits = Limits { patience: Duration::ZERO, ..config().limits };
    let site = Site::open(Config { limits, ..config() }).unwrap();
    let mut ada = Person::open(&site, json!({ "game": "tokyo", "name": "Ada", "friends": 2 })).await;
    let bea = Person::join(&site, &ada.id, "Bea").await;
    let mut cy = Person::join(&site, &ada.id, "Cy").await;
    let away = |state: &Value, seat: usize| state["seats"][seat]["away_since"].is_u64();
    while ada.state["phase"] != "playing" || away(&ada.state, 1) || away(&ada.state, 2) {
        ada.look().await;
    }
    let replace = |seat: usize| json!({ "seat": seat });
    let path = ada.path("replace");
    for (seat, why) in [(1, "they are here"), (0, "your own seat"), (7, "nobody plays on this seat")] {
        let said = ada.browser.post(&path, replace(seat)).await.refused(409);
        assert!(said.contains(why), "{said}");
    }
    Visitor::stranger(&site).post(&path, replace(1)).await.refused(403);

    let mut gone = bea.browser.clone();
    drop(bea);
    while !away(&ada.state, 1) {
        ada.look().await;
    }
    ada.browser.post(&path, replace(1)).await.ok();
    while ada.state["seats"][1]["left"] != true {
        ada.look().await;
    }
    assert_eq!(ada.state["seats"][1]["name"], "Bea");
    assert_eq!(ada.state["seats"][1]["bot"], "point-hunter");
    assert_eq!(gone.get(&format!("/api/tables/{}", ada.id)).await.ok()["you"], Value::Null);
    tokio::join!(ada.play_to_the_end(), cy.play_to_the_end());
    assert_eq!(ada.state["phase"], "over");

    // The same people play again: whoever asks first opens the table, and whoever has left is a bot.
    let mut browser = ada.browser.clone();
    gone.post(&ada.path("rematch"), json!({})).await.refused(403);
    let next = browser.post(&ada.path("rematch"), json!({})).await.ok();
    assert_eq!((&next["phase"], &next["you"]), (&json!("waiting"), &json!(0)));
    assert_ne!(next["id"], ada.id.as_str());
    while cy.state["next"] != next["id"] {
        cy.look().await;
    }
    let joined = cy.browser.post(&ada.path("rematch"), json!({})).await.ok();
    assert_eq!((&joined["id"], &joined["seats"][1]["name"]), (&next["id"], &json!("Cy")));
    let twice = cy.browser.post(&ada.path("rematch"), json!({})).await.ok();
    assert_eq!((&twice["id"], &twice["you"]), (&next["id"], &json!(1)));
    assert_eq!(joined["seats"][2]["bot"], "point-hunter");
}

/// Bea leaves, the server is started again, and Bea takes her seat back: she decides again, and only she.
#[tokio::test]
async fn who_was_replaced_takes_the_seat_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("arena.sqlite");
    let site = site_in(&store);
    let mut ada = Person::open(
        &site,
        json!({ "game": "last-bullet", "name": "Ada", "friends": 1,
        "options": { "copies": 5, "max_turns": 40 } }),
    )
    .await;
    let mut bea = Person::join(&site, &ada.id, "Bea").await;
    let back = ada.path("return");
    bea.browser.post(&back, json!({})).await.refused(409);
    Visitor::stranger(&site).post(&back, json!({})).await.refused(403);
    assert!(ada.asked().await && bea.asked().await);
    bea.browser.post(&ada.path("leave"), json!({})).await.ok();
    // Bea's bot has answered for her: without it Ada would not be asked again.
    ada.play(sensible(&ada.state)).await;
    assert!(ada.asked().await);
    let (id, cookies) = (ada.id.clone(), [ada.browser.cookies.clone(), bea.browser.cookies.clone()]);
    drop((ada, bea, site));

    let site = site_in(&store);
    let [mut ada, mut bea] = cookies.map(|cookies| {
        let mut browser = Visitor::stranger(&site);
        browser.cookies = cookies;
        browser
    });
    let seen = bea.get(&format!("/api/tables/{id}")).await.ok();
    assert_eq!((&seen["you"], &seen["replaced"]), (&Value::Null, &json!(1)));
    assert_eq!(ada.get(&format!("/api/tables/{id}")).await.ok()["replaced"], Value::Null);
    bea.post(&back, json!({})).await.ok();
    let (mut ada, mut bea) = (Person::sitting(ada, &id).await, Person::sitting(bea, &id).await);
    assert_eq!((&bea.state["you"], &bea.state["replaced"]), (&json!(1), &Value::Null));
    assert_eq!(
        (&bea.state["seats"][1]["bot"], &bea.state["seats"][1]["left"]),
        (&Value::Null, &json!(false))
    );
    // The bot may have answered the question of this turn; the next one is Bea's own.
    assert!(ada.asked().await);
    ada.play(sensible(&ada.state)).await;
    assert!(bea.asked().await);
    bea.play(sensible(&bea.state)).await;
    tokio::join!(ada.play_to_the_end(), bea.play_to_the_end());
    assert_eq!(bea.state["phase"], "over");
}

#[tokio::test]
async fn nobody_is_replaced_at_once() {
    let site = site();
    let mut ada = Person::open(&site, json!({ "game": "tokyo", "name": "Ada", "friends": 1 })).await;
    drop(Person::join(&site, &ada.id, "Bea").await);
    let why = ada.browser.post(&ada.path("replace"), json!({ "seat": 1 })).await.refused(409);
    assert!(why.contains("they are here") || why.contains("less than 60 seconds"), "{why}");
    ada.browser.post(&ada.path("rematch"), json!({})).await.refused(409);
}

#[tokio::test]
async fn when_time_is_up_a_bot_decides_this_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("arena.sqlite");
    let site = site_in(&store);
    let wanted = json!({ "game": "tokyo", "name": "Ada", "bots": ["angry"], "clock": 1 });
    let mut ada = Person::open(&site, wanted).await;
    assert!(ada.asked().await);
    assert!(ada.state["seats"][0]["deadline"].is_u64());
    let late = ada.state["question"].clone();
    while ada.state["question"] == late {
        ada.look().await;
    }
    assert_eq!(ada.state["you"], 0, "the seat is still hers");
    // Whoever comes after the bell has nothing to say about it.
    let act = json!({ "question": late, "action": { "type": "keep", "dice": vec![true; 6] } });
    ada.browser.post(&ada.path("act"), act).await.refused(409);
    // What was decided then is in the file like everything else.
    let (cookies, id, heard) =
        (ada.browser.cookies.clone(), ada.id.clone(), ada.state["scene"]["heard"].clone());
    drop((ada, site));
    let site = site_in(&store);
    let mut browser = Visitor::stranger(&site);
    browser.cookies = cookies;
    let mut again = Person::sitting(browser, &id).await;
    while again.state["scene"]["heard"].as_u64() < heard.as_u64() {
        again.look().await;
    }
    let why = Visitor::stranger(&site)
        .post("/api/tables", json!({ "game": "tokyo", "name": "Ada", "bots": ["angry"], "clock": 0 }))
        .await
        .refused(400);
    assert!(why.contains("expected 1 to 3600 seconds"), "{why}");
}

#[tokio::test]
async fn whoever_does_not_want_to_wait_begins_with_bots() {
    let site = site();
    let mut ada = Person::open(&site, json!({ "game": "tokyo", "name": "Ada", "friends": 2 })).await;
    Visitor::stranger(&site).post(&ada.path("start"), json!({})).await.refused(403);
    ada.browser.post(&ada.path("start"), json!({})).await.ok();
    assert!(ada.asked().await);
    let bots = ada.state["seats"].as_array().unwrap().iter().filter(|seat| seat["bot"].is_string()).count();
    assert_eq!(bots, 2);
    ada.browser.post(&ada.path("start"), json!({})).await.refused(409);
}

/// A viewer of a game with secrets must get the same, whatever is hidden from them.
#[tokio::test]
async fn nobody_sees_what_is_hidden_from_it() {
    let site = site();
    for (game, bots) in [("infection", vec!["careful", "spreader"]), ("last-bullet", vec!["runner"])] {
        let wanted = json!({ "game": game, "name": "Ada", "friends": 1, "bots": bots });
        let mut ada = Person::open(&site, wanted).await;
        let mut bea = Person::join(&site, &ada.id, "Bea").await;
        for person in [&mut ada, &mut bea] {
            while person.state["scene"].is_null() {
                person.look().await;
            }
        }
        let mut stranger = Visitor::stranger(&site);
        let watched = stranger.get(&format!("/api/tables/{}", ada.id)).await.ok();
        assert!(watched["scene"]["view"].is_null(), "{game}: {watched}");
        assert!(watched["seats"].as_array().unwrap().iter().all(|seat| seat["to_act"] == false), "{watched}");
        let public = |kind: &&String| ["announced", "ended"].contains(&kind.as_str());
        assert_eq!(kinds(&watched).iter().find(|kind| !public(kind)), None, "{game}: {watched}");
        let words = told(&watched);
        for private in
            ["is told", "meets", "commits", "antidote", "turns into", "survivor", "shoots", "corpse"]
        {
            assert!(!words.contains(private), "{game}: {words}");
        }
        for (person, own) in [(&ada, 0), (&bea, 1)] {
            assert_eq!(person.state["scene"]["seat"], own, "{game}");
            let words = told(&person.state);
            for judge in ["commits", "becomes", "turns into", "antidote"] {
                assert!(!words.contains(judge), "{game}: {words}");
            }
            for line in words.lines().filter(|line| line.contains("is told")) {
                assert!(line.starts_with(&format!("{own} ")), "{line}");
            }
            assert!(game != "infection" || words.contains("is told: "), "{words}");
            for judge in ["resolved", "antidote", "turned"] {
                assert!(!kinds(&person.state).iter().any(|kind| kind == judge), "{game}: {}", person.state);
            }
            // The numbers of what they saw say nothing of what they did not.
            let beats = person.state["scene"]["beats"].as_array().unwrap();
            let numbers: Vec<u64> = beats.iter().map(|beat| beat["number"].as_u64().unwrap()).collect();
            assert_eq!(numbers, (1..=beats.len() as u64).collect::<Vec<_>>());
            assert_eq!(person.state["scene"]["heard"], beats.len());
            // Whose turn it is would tell who met whom: only one's own is shown.
            for (place, seat) in person.state["seats"].as_array().unwrap().iter().enumerate() {
                assert!(place == own || seat["to_act"] == false, "{game}: {}", person.state);
            }
        }
    }
}

/// Returns the kinds of all events that are shown, in order.
fn kinds(state: &Value) -> Vec<String> {
    let beats = state["scene"]["beats"].as_array().unwrap().iter();
    let events = beats.flat_map(|beat| beat["events"].as_array().unwrap());
    events.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_happened_since_a_decision_is_shown_beat_by_beat() {
    let site = site();
    let mut ada = Person::open(&site, table("tokyo", &["angry", "angry"])).await;
    let (mut seen, mut decisions) = (0, 0);
    while ada.asked().await {
        let scene = &ada.state["scene"];
        let beats = scene["beats"].as_array().unwrap();
        let (heard, first) = (scene["heard"].as_u64().unwrap(), &beats[0]);
        assert_eq!(first["number"], seen + 1, "what is new begins where the last decision was made");
        assert_eq!(beats.last().unwrap()["number"], heard);
        let lines: u64 = beats.iter().map(|beat| beat["told"].as_u64().unwrap()).sum();
        assert_eq!(scene["fresh"], lines, "each beat has its words");
        seen = heard;
        ada.play(sensible(&ada.state)).await;
        decisions += 1;
    }
    assert!(decisions > 3);
}

/// Returns the lines of text, each with its seat.
fn told(state: &Value) -> String {
    let line = |told: &Value| {
        let text: String =
            told["text"].as_array().unwrap().iter().map(|span| span["text"].as_str().unwrap()).collect();
        format!("{} {text}\n", told["seat"])
    };
    state["scene"]["told"].as_array().unwrap().iter().map(line).collect()
}

/// A secret commitment of another seat changes nothing that is shown to those who wait.
#[tokio::test]
async fn a_secret_commitment_is_not_told_by_the_table() {
    let site = site();
    let options = json!({ "start_antibodies": 3, "zombies": 0, "max_turns": 2 });
    for commit in [json!({ "type": "none" }), json!({ "type": "precaution" })] {
        let wanted = json!({ "game": "infection", "name": "Ada", "friends": 2, "options": options.clone() });
        let mut people = vec![Person::open(&site, wanted).await];
        for name in ["Bea", "Cy"] {
            let id = people[0].id.clone();
            people.push(Person::join(&site, &id, name).await);
        }
        for person in &mut people {
            while person.state["scene"].is_null() {
                person.look().await;
            }
        }
        let mover = people.iter().position(|person| person.state["question"].is_u64()).unwrap();
        let with = (mover + 1) % 3;
        let (waiting, spectator) = ((mover + 2) % 3, Visitor::stranger(&site));
        let path = format!("/api/tables/{}", people[0].id);
        let mut before = Vec::new();
        for browser in [&people[waiting].browser, &spectator] {
            before.push(browser.clone().get(&path).await.ok());
        }
        let contact = json!({ "type": "contact", "with": with, "commit": commit });
        people[mover].act(contact).await.ok();
        assert!(people[with].asked().await);
        for (browser, before) in [&people[waiting].browser, &spectator].into_iter().zip(before) {
            assert_eq!(browser.clone().get(&path).await.ok(), before);
        }
        // Whoever was picked knows by whom, and nothing of what was committed.
        let view = &people[with].state["scene"]["view"];
        assert_eq!(view["question"], json!({ "type": "answer", "to": mover }));
        assert!(!people[with].state.to_string().contains("precaution\",\"commit"));
    }
}

#[tokio::test]
async fn the_coach_tells_what_a_decision_has_cost() {
    let site = site();
    let wanted = json!({ "game": "zombie-dice-solo", "name": "Ada", "coach": true });
    let mut ada = Person::open(&site, wanted).await;
    assert!(ada.asked().await);
    assert!(ada.state["scene"]["coach"].is_null(), "the coach says nothing before the decision");
    ada.play(json!({ "type": "stop" })).await;
    assert!(!ada.asked().await);
    let word = &ada.state["scene"]["coach"];
    let (best, value, cost) = (word["best"].as_f64().unwrap(), word["value"].as_f64(), word["cost"].as_f64());
    // Stopping before the first roll throws away all that a turn is worth.
    assert_eq!((value, cost), (Some(0.0), Some(best)));
    assert!(best > 1.0 && word["unit"] == "points", "{word}");
    assert_eq!(word["options"][0]["label"], "roll");
    assert_eq!(word["options"][1]["chosen"], true);

    let mut bea =
        Person::open(&site, json!({ "game": "zombie-dice-solo", "name": "Bea", "coach": true })).await;
    assert!(bea.asked().await);
    bea.play(json!({ "type": "go" })).await;
    bea.asked().await;
    assert_eq!(bea.state["scene"]["coach"]["cost"], 0.0);
    assert!(bea.state["scene"]["coach"]["luck"].is_f64(), "{}", bea.state);

    // Where there is no solution, it says so.
    let wanted = json!({ "game": "zombie-dice", "name": "Cy", "bots": ["greedy", "greedy"], "coach": true });
    let mut cy = Person::open(&site, wanted).await;
    assert!(cy.asked().await);
    assert_eq!(cy.state["coach"], false);
    assert!(cy.state["note"].as_str().unwrap().contains("two seats"), "{}", cy.state["note"]);
}

/// The author of a program at the table sees what is wrong with it; a hint may quote a legal action, so where players have secrets
/// it waits for the end.
#[tokio::test]
async fn what_a_program_does_wrong_is_shown_at_its_seat() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bot.py"), "import numpie\n").unwrap();
    let bots = folder.path().join("bots.toml");
    fs::write(&bots, "[[bot]]\nname = \"bob\"\nrun = \"./bot.py\"\n").unwrap();
    // A supervisor that says that the program does not start, and what it has logged.
    let launcher = folder.path().join("launcher");
    fs::write(&launcher, "#!/bin/sh\nprintf \"No module named 'numpie'\\nn\\002\\000\" >&2\n").unwrap();
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).unwrap();
    let site = Site::open(Config { bots: Some(bots), launcher: launcher.into(), ..config() }).unwrap();
    for (game, options, is_open) in
        [("zombie-dice", json!({ "max_rounds": 2 }), true), ("infection", json!({ "max_turns": 2 }), false)]
    {
        let mut host = Visitor::host(&site).await;
        let wanted = json!({ "game": game, "name": "Ada", "bots": ["bob", "random"], "options": options });
        let id = host.post("/api/tables", wanted).await.ok()["id"].as_str().unwrap().to_owned();
        let mut ada = Person::sitting(host, &id).await;
        let mut seen = ada.state["seats"][1]["fault"].clone();
        assert!(ada.asked().await);
        while seen.is_null() {
            ada.play(sensible(&ada.state)).await;
            assert!(ada.asked().await, "{game}: no fault was shown");
            seen = ada.state["seats"][1]["fault"].clone();
        }
        assert_eq!((seen["kind"].as_str(), seen["hint"].is_string()), (Some("no_start"), is_open), "{game}");
        ada.play_to_the_end().await;
        let seats = &ada.state["seats"];
        assert!(seats[1]["fault"]["hint"].as_str().unwrap().contains("there is no module numpie"));
        assert!(seats[0]["fault"].is_null() && seats[2]["fault"].is_null(), "{game}: {seats}");
    }
}

fn site_in(store: &Path) -> Site {
    Site::open(Config { store: Some(store.to_owned()), ..config() }).unwrap()
}

/// Returns a person who has made three decisions in a match that is going on.
async fn in_the_middle(site: &Site, wanted: Value) -> Person {
    'matches: loop {
        let mut ada = Person::open(site, wanted.clone()).await;
        for _ in 0..3 {
            if !ada.asked().await {
                continue 'matches;
            }
            ada.play(sensible(&ada.state)).await;
        }
        if ada.asked().await {
            return ada;
        }
    }
}

#[tokio::test]
async fn a_restart_in_the_middle_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("arena.sqlite");
    for (game, bots) in [
        ("zombie-dice", vec!["random", "greedy"]),
        ("infection", vec!["random", "random"]),
        ("last-bullet", vec!["wander", "runner"]),
        ("tokyo", vec!["random"]),
    ] {
        let first = site_in(&store);
        let ada = in_the_middle(&first, table(game, &bots)).await;
        let wanted = json!({ "game": "tokyo", "name": "Bea", "friends": 1 });
        let waiting = Person::open(&first, wanted).await.id;
        let (cookies, id, state) = (ada.browser.cookies.clone(), ada.id.clone(), ada.state.clone());
        drop((ada, first));

        let second = site_in(&store);
        // The same cookies, another server.
        let mut browser = Visitor::stranger(&second);
        browser.cookies = cookies;
        let mut again = Person::sitting(browser, &id).await;
        while again.state["question"] != state["question"] {
            again.look().await;
        }
        assert_eq!(again.state, state, "{game}");
        again.play_to_the_end().await;
        assert_eq!(again.state["phase"], "over", "{game}");

        let mut late = Person::join(&second, &waiting, "Cy").await;
        while late.state["phase"] != "playing" {
            late.look().await;
        }
        let outcome = again.state["outcome"].clone();
        drop((late, again, second));
        let third = site_in(&store);
        let seen = Visitor::stranger(&third).get(&format!("/api/tables/{id}")).await.ok();
        assert_eq!(seen["outcome"], outcome, "{game}");
    }
}

/// One thread answers all requests here. A request that waits for the file must not keep it from the others.
#[tokio::test]
async fn while_a_table_is_written_others_are_answered() {
    let site = site();
    let two = |name: &str| json!({ "game": "tokyo", "name": name, "friends": 1 });
    let three = |name: &str| json!({ "game": "tokyo", "name": name, "friends": 2 });
    let ada = Person::open(&site, three("Ada")).await;
    let bea = Person::open(&site, three("Bea")).await;
    let cy = Person::open(&site, two("Cy")).await;
    let dora = Person::join(&site, &cy.id, "Dora").await;
    let mut eve = Person::open(&site, table("zombie-dice-solo", &[])).await;
    assert!(eve.asked().await);
    let mut over = Person::open(&site, table("zombie-dice-solo", &[])).await;
    over.play_to_the_end().await;
    let paths: Vec<String> = [&ada, &bea, &cy, &eve].map(|one| format!("/api/tables/{}", one.id)).into();

    let go = json!({ "question": eve.state["question"], "action": { "type": "go" } });
    let stranger = Visitor::stranger(&site);
    for (mut browser, path, body) in [
        (stranger.clone(), "/api/tables".to_owned(), table("tokyo", &["angry"])),
        (stranger.clone(), ada.path("join"), json!({ "name": "Fay" })),
        (bea.browser.clone(), bea.path("start"), json!({})),
        (dora.browser.clone(), dora.path("leave"), json!({})),
        (ada.browser.clone(), ada.path("leave"), json!({})),
        (eve.browser.clone(), eve.path("act"), go),
    ] {
        let file = HeldFile::of(&site);
        let mut writing = pin!(browser.post(&path, body));
        assert!(is_waiting(writing.as_mut()).await, "{path}: written without the file");
        for path in paths.iter().cycle().take(400) {
            stranger.clone().get(path).await.ok();
        }
        assert!(is_waiting(writing.as_mut()).await, "{path}: answered before it was written");
        file.let_go();
        writing.await.ok();
    }
    let file = HeldFile::of(&site);
    let (mut one, path) = (stranger.clone(), over.path("replay"));
    let mut reading = pin!(one.get(&path));
    assert!(is_waiting(reading.as_mut()).await);
    file.let_go();
    assert_eq!(reading.await.status, StatusCode::OK);
}

#[tokio::test]
async fn who_leaves_a_match_that_is_over_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("arena.sqlite");
    let site = site_in(&store);
    let mut ada = Person::open(&site, json!({ "game": "tokyo", "name": "Ada", "friends": 1 })).await;
    let mut bea = Person::join(&site, &ada.id, "Bea").await;
    tokio::join!(ada.play_to_the_end(), bea.play_to_the_end());
    bea.browser.post(&ada.path("leave"), json!({})).await.ok();
    let (id, outcome) = (ada.id.clone(), ada.state["outcome"].clone());
    drop((ada, bea, site));
    let seen = Visitor::stranger(&site_in(&store)).get(&format!("/api/tables/{id}")).await.ok();
    assert_eq!((&seen["phase"], &seen["outcome"]), (&json!("over"), &outcome));
}

#[tokio::test]
async fn there_are_only_so_many_tables() {
    let limits = Limits { tables: 2, address_share: 100, ..config().limits };
    let site = Site::open(Config { limits, ..config() }).unwrap();
    let mut first = Person::open(&site, table("zombie-dice-solo", &[])).await;
    let _second = Person::open(&site, table("tokyo", &["angry"])).await;
    let why = Visitor::stranger(&site).post("/api/tables", table("tokyo", &["angry"])).await.refused(503);
    assert!(why.contains("all 2 tables are taken"), "{why}");
    // A finished one makes room.
    first.play_to_the_end().await;
    Person::open(&site, table("tokyo", &["angry"])).await;
}

#[tokio::test]
async fn what_cannot_be_played_is_refused() {
    let mut stranger = Visitor::stranger(&site());
    for (wanted, why) in [
        (table("chess", &[]), "there is no game"),
        (table("tokyo", &[]), "2 to 6 players"),
        (table("zombie-dice-solo", &["greedy"]), "at most 1 seats"),
        (table("tokyo", &["angry"; 6]), "at most 6 seats"),
        (table("tokyo", &["nobody"]), "expected a bot (random, angry"),
        (table("tokyo", &["./evil.sh"]), "expected a bot"),
        (table("tokyo", &["cmd:touch /tmp/owned"]), "bot \"cmd:touch"),
        (table("tokyo", &["human"]), "expected a bot"),
        (table("tokyo", &["optimal:x=1"]), "optimal"),
        (table("zombie-dice", &["stop-at:brains=many"]), "brains"),
        (json!({ "game": "last-bullet", "name": "Ada", "options": { "copies": 1000 } }), "at most 20"),
        (
            json!({ "game": "last-bullet", "name": "Ada", "options": { "density": 0.00001 } }),
            "at least 0.005",
        ),
        (json!({ "game": "last-bullet", "name": "Zombie" }), "reserved"),
        (
            json!({ "game": "infection", "name": "Ada", "bots": ["random"], "options": { "max_turns": 51 } }),
            "at most 50",
        ),
        (
            json!({ "game": "infection", "name": "Ada", "bots": ["random"], "options": { "zombies": 2 } }),
            "fewer zombies",
        ),
        (
            json!({ "game": "tokyo", "name": "Ada", "bots": ["angry"], "options": { "speed": 1 } }),
            "unknown option",
        ),
        (json!({ "game": "tokyo", "name": "Ada", "bots": ["angry"], "extra": 1 }), "unknown key \"extra\""),
        (json!([]), "expected an object, got a list"),
        (json!({ "game": "tokyo", "name": " ", "bots": ["angry"] }), "begins or ends with a space"),
    ] {
        let said = stranger.post("/api/tables", &wanted).await.refused(400);
        assert!(said.contains(why), "{wanted}: {said}");
    }
    stranger.get("/api/tables/nothing").await.refused(404);
    stranger.get("/api/tables/nothing/stream").await.refused(404);
    stranger.get("/api/tables/nothing/replay").await.refused(404);
    stranger.post("/api/tables/nothing/join", json!({ "name": "Ada" })).await.refused(404);
}

#[tokio::test]
async fn programs_play_against_the_host_only() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.py"), "import sys\n").unwrap();
    let bots = folder.path().join("bots.toml");
    std::fs::write(&bots, "[[bot]]\nname = \"mine\"\nrun = \"./mine.py\"\n").unwrap();
    let site = Site::open(Config { bots: Some(bots), ..config() }).unwrap();
    let why = Visitor::stranger(&site).post("/api/tables", table("tokyo", &["mine"])).await.refused(400);
    assert!(why.contains("expected a bot") && !why.contains("mine.py"), "{why}");
    let opened = Visitor::host(&site).await.post("/api/tables", table("tokyo", &["mine", "mine"])).await.ok();
    assert_eq!(opened["seats"][1]["name"], "mine");
    assert_eq!(opened["seats"][2]["name"], "mine-2");
}

#[tokio::test]
async fn a_match_that_goes_on_has_no_replay() {
    let site = site();
    let mut ada = Person::open(&site, table("infection", &["careful", "random"])).await;
    assert!(ada.asked().await);
    ada.browser.get(&ada.path("replay")).await.refused(409);
    ada.browser.get(&ada.path("film")).await.refused(409);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["go", "stop", "keep", "yield", "tokyo", "infection", "contact", "virus"])
            .prop_map(Value::from),
    ];
    let keys = || {
        prop::sample::select(vec![
            "game",
            "name",
            "bots",
            "friends",
            "options",
            "coach",
            "question",
            "action",
            "type",
            "dice",
            "with",
            "commit",
            "count",
            "orders",
            "copy",
            "direction",
            "target",
            "max_turns",
            "copies",
        ])
    };
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(keys().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

#[test]
fn no_body_makes_the_server_fail() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let site = site();
    let people: Vec<Person> = runtime.block_on(async {
        let mut people = Vec::new();
        for (game, bots) in [
            ("zombie-dice", vec!["cautious"]),
            ("tokyo", vec!["angry"]),
            ("infection", vec!["random", "random"]),
            ("last-bullet", vec!["runner"]),
        ] {
            let mut person = Person::open(&site, table(game, &bots)).await;
            assert!(person.asked().await);
            people.push(person);
        }
        people
    });
    let body = (any_json(), any::<bool>(), 0..people.len());
    let check = |(value, as_action, which): (Value, bool, usize)| {
        let person = &people[which];
        let mut browser = person.browser.clone();
        runtime.block_on(async {
            for path in [person.path("act"), person.path("join"), "/api/tables".to_owned()] {
                let body = match as_action && path.ends_with("act") {
                    true => json!({ "question": person.state["question"], "action": value }),
                    false => value.clone(),
                };
                let answer = browser.post(&path, &body).await;
                let full = answer.status == StatusCode::SERVICE_UNAVAILABLE;
                prop_assert!(!answer.status.is_server_error() || full, "{path} {body}: {}", answer.status);
            }
            Ok(())
        })
    };
    TestRunner::new(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })
        .run(&body, check)
        .unwrap();
}
