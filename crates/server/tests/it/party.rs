//! Parties over the network: who sees what, who may do what, and that nothing is lost.

use crate::visitor::{Answer, HeldFile, Visitor, config, is_waiting, site};
use necrodome_judge::{book::Book, script};
use necrodome_server::{Config, Limits, Site, party};
use serde_json::{Value, json};
use std::{pin::pin, time::Duration};

/// A time later than any deadline.
const FAR: u64 = u64::MAX / 2;

struct Table {
    host: Visitor,
    guests: Vec<Visitor>,
    path: String,
}

impl Table {
    /// Opens a room with guests who have joined.
    async fn new(site: &Site, guests: usize, rules: Value) -> Self {
        let mut host = Visitor::host(site).await;
        let room = host.post("/api/party", json!({ "rules": rules })).await.ok();
        let path = format!("/api/party/{}", room["id"].as_str().unwrap());
        let mut table = Table { host, guests: Vec::new(), path };
        for guest in 0..guests {
            let mut visitor = Visitor::stranger(site);
            let name = format!("Guest {guest}");
            let joined = visitor.post(&table.at("/join"), json!({ "name": name })).await.ok();
            assert_eq!(joined["number"], guest);
            table.guests.push(visitor);
        }
        table
    }

    async fn started(site: &Site, guests: usize, rules: Value) -> Self {
        let mut table = Table::new(site, guests, rules).await;
        table.order(json!({ "type": "start" })).await;
        table
    }

    fn at(&self, rest: &str) -> String {
        format!("{}{rest}", self.path)
    }

    #[track_caller]
    fn refused(answer: Answer, status: u16) -> String {
        answer.refused(status)
    }

    async fn order(&mut self, order: Value) {
        let path = self.at("/host");
        self.host.post(&path, order).await.ok();
    }

    async fn act(&mut self, guest: usize, action: Value) -> Answer {
        let path = self.at("/act");
        self.guests[guest].post(&path, action).await
    }

    async fn view(&mut self, guest: usize) -> Value {
        let path = self.path.clone();
        self.guests[guest].get(&path).await.ok()
    }

    /// Lets two guests meet; each commits what the rules allow.
    async fn meet(&mut self, a: usize, b: usize) {
        self.act(a, json!({ "type": "propose", "to": b })).await.ok();
        self.act(b, json!({ "type": "accept", "with": a })).await.ok();
        for (one, other) in [(a, b), (b, a)] {
            let play = self.view(one).await["seat"]["play"].clone();
            let told = &play["told"];
            let known = told["stock"].as_u64().unwrap().saturating_sub(play["applied"].as_u64().unwrap());
            let commit = match told["identity"].as_str().unwrap() {
                "zombie" if known > 0 => json!({ "type": "virus", "count": 1 }),
                "human" if one % 3 == 0 => json!({ "type": "precaution" }),
                _ => json!({ "type": "none" }),
            };
            self.act(one, json!({ "type": "commit", "with": other, "commit": commit })).await.ok();
        }
    }

    /// Returns the book that the script makes. The script must have no mistake.
    async fn book(&mut self) -> Book {
        let path = self.at("/script");
        let text = self.host.get(&path).await.text();
        let book = Book::of(&script::parse(&text));
        assert_eq!(book.mistakes(), [], "{text}");
        book
    }
}

#[tokio::test]
async fn twelve_guests_play_a_party_to_its_end() {
    let site = site();
    let mut table =
        Table::started(&site, 12, json!({ "zombies": 2, "max_turns": 4, "start_antibodies": 1 })).await;
    for turn in 1..=4 {
        if table.view(0).await["board"]["phase"] == "over" {
            break;
        }
        assert_eq!(table.view(0).await["board"]["turn"], turn);
        for round in 0..3 {
            for a in 0..6 {
                table.meet(a, 6 + (a + round) % 6).await;
            }
        }
        for guest in 0..12 {
            if guest % 4 == 0 && table.view(guest).await["seat"]["play"]["may_antidote"] == true {
                table.act(guest, json!({ "type": "antidote" })).await.ok();
            }
            table.act(guest, json!({ "type": "end" })).await.ok();
        }
    }
    let seen = table.view(3).await;
    assert_eq!(seen["board"]["phase"], "over", "{seen}");
    assert!(!seen["board"]["result"]["winners"].as_array().unwrap().is_empty());
    let book = table.book().await;
    let ending = book.party().unwrap().ending();
    assert!(ending.is_some());
    let told = &seen["seat"]["play"]["told"];
    assert_eq!(
        *told,
        serde_json::to_value(book.party().unwrap().private_report(necrodome_rules::game::Seat(3))).unwrap()
    );
    let judged = table.host.get(&table.at("/judge")).await.ok();
    assert_eq!(judged["players"].as_array().unwrap().len(), 12);
    assert!(judged["report"].as_str().unwrap().contains("The game is over"));
}

#[tokio::test]
async fn everybody_sees_only_what_is_theirs() {
    let site = site();
    let mut table = Table::started(&site, 4, json!({ "start_antibodies": 1 })).await;
    let mut stranger = Visitor::stranger(&site);
    let seen = stranger.get(&table.path).await.ok();
    assert_eq!((&seen["seat"], &seen["host"]), (&Value::Null, &Value::Null));
    assert!(!seen.to_string().contains("told"), "{seen}");
    let guest = table.view(2).await;
    assert_eq!((&guest["seat"]["number"], &guest["host"]), (&json!(2), &Value::Null));
    let host = table.host.get(&table.path).await.ok();
    assert_eq!(host["seat"], Value::Null);
    assert_eq!(host["host"]["players"].as_array().unwrap().len(), 4);
    // The host may play, too: only who asks for the judge's view is told roles.
    assert!(!host.to_string().contains("role") && !host.to_string().contains("infected"), "{host}");
    // The wall shows what everybody may see, also in the host's browser.
    let mut wall = table.host.get(&table.at("?as=wall")).await.ok();
    assert_eq!(wall["away"].take(), json!([0, 1, 2, 3]), "and whose phone is not there");
    wall["away"] = json!([]);
    assert_eq!(wall, seen);
    for path in ["/judge", "/script"] {
        for visitor in [&mut stranger, &mut table.guests[0].clone()] {
            Table::refused(visitor.get(&table.at(path)).await, 403);
        }
    }
    Table::refused(stranger.get("/api/party").await, 403);
    Table::refused(stranger.post("/api/party", json!({})).await, 403);
    Table::refused(table.guests[0].clone().post(&table.at("/host"), json!({ "type": "close" })).await, 403);
    Table::refused(table.guests[0].clone().post(&table.at("/offer"), json!({ "player": 1 })).await, 403);
    Table::refused(stranger.get(&table.at("/code.svg")).await, 403);
    assert!(stranger.get(&table.at("/qr.svg")).await.text().contains("<svg"));
    assert!(table.guests[1].clone().get(&table.at("/code.svg")).await.text().contains("<svg"));
}

#[tokio::test]
async fn nobody_acts_for_another() {
    let site = site();
    let mut table = Table::started(&site, 4, json!({})).await;
    let mut stranger = Visitor::stranger(&site);
    Table::refused(stranger.post(&table.at("/act"), json!({ "type": "end" })).await, 403);
    // A seat of another room is none here.
    let other = Table::new(&site, 1, json!({})).await;
    let mut foreign = other.guests[0].clone();
    let key = foreign.cookies.values().next().unwrap().clone();
    let id = table.path.rsplit('/').next().unwrap().to_owned();
    foreign.cookies.insert(format!("necrodome-party-{id}"), key);
    Table::refused(foreign.post(&table.at("/act"), json!({ "type": "end" })).await, 403);
    table.act(0, json!({ "type": "propose", "to": 1 })).await.ok();
    // Only who was asked can answer, and only who takes part can commit.
    Table::refused(table.act(2, json!({ "type": "accept", "with": 0 })).await, 409);
    Table::refused(table.act(0, json!({ "type": "accept", "with": 0 })).await, 409);
    table.act(1, json!({ "type": "accept", "with": 0 })).await.ok();
    let commit = json!({ "type": "commit", "with": 0, "commit": { "type": "none" } });
    Table::refused(table.act(2, commit).await, 409);
    // A second seat for the same phone, and a second phone for the same name.
    Table::refused(table.guests[0].clone().post(&table.at("/join"), json!({ "name": "Twice" })).await, 409);
    Table::refused(stranger.post(&table.at("/join"), json!({ "name": "guest 0" })).await, 400);
}

#[tokio::test]
async fn names_are_checked_and_a_seat_can_be_left_before_the_start() {
    let site = site();
    let mut table = Table::new(&site, 2, json!({})).await;
    let mut third = Visitor::stranger(&site);
    for name in ["", "guest 1", "a\nb", "\"x\"", &"x".repeat(41), "\u{202e}"] {
        Table::refused(third.post(&table.at("/join"), json!({ "name": name })).await, 400);
    }
    third.post(&table.at("/join"), json!({ "name": "  <b>Zoë</b> #1!  " })).await.ok();
    third.post(&table.at("/act"), json!({ "type": "leave" })).await.ok();
    assert_eq!(third.get(&table.path).await.ok()["seat"], Value::Null);
    third.post(&table.at("/join"), json!({ "name": "<b>Zoë</b> #1!" })).await.ok();
    table.order(json!({ "type": "start" })).await;
    assert_eq!(table.book().await.names()[2], "<b>Zoë</b> #1!");
}

#[tokio::test]
async fn a_server_that_is_gone_in_the_middle_of_a_turn_has_lost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let config = || Config { store: Some(folder.path().join("arena.sqlite")), ..config() };
    let first = Site::open(config()).unwrap();
    let mut table = Table::started(&first, 5, json!({ "start_antibodies": 2 })).await;
    table.meet(0, 1).await;
    table.act(2, json!({ "type": "propose", "to": 3 })).await.ok();
    table.act(3, json!({ "type": "accept", "with": 2 })).await.ok();
    table.act(2, json!({ "type": "commit", "with": 3, "commit": { "type": "none" } })).await.ok();
    table.act(4, json!({ "type": "propose", "to": 0 })).await.ok();
    let script = table.host.get(&table.at("/script")).await.text();
    let without_times = |mut view: Value| {
        let play = &mut view["seat"]["play"];
        for part in ["proposal", "contact"] {
            if let Some(open) = play[part].as_object_mut() {
                open.remove("deadline");
            }
        }
        for waiting in play["waiting"].as_array_mut().unwrap() {
            waiting.as_object_mut().unwrap().remove("deadline");
        }
        view
    };
    let mut before = Vec::new();
    for guest in 0..5 {
        before.push(without_times(table.view(guest).await));
    }
    // What has the file must let go of it, as a process that is killed does.
    let cookies: Vec<_> = table.guests.iter().map(|guest| guest.cookies.clone()).collect();
    let (host, path) = (table.host.cookies.clone(), table.path.clone());
    drop((table, first));
    let second = Site::open(config()).unwrap();
    let visitor = |cookies| {
        let mut visitor = Visitor::stranger(&second);
        visitor.cookies = cookies;
        visitor
    };
    let guests = cookies.into_iter().map(visitor).collect();
    let mut table = Table { host: visitor(host), guests, path };
    assert_eq!(table.host.get(&table.at("/script")).await.text(), script);
    for (guest, before) in before.into_iter().enumerate() {
        assert_eq!(without_times(table.view(guest).await), before);
    }
    table.act(3, json!({ "type": "commit", "with": 2, "commit": { "type": "none" } })).await.ok();
    assert_eq!(table.view(3).await["seat"]["play"]["met"][0]["with"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_many_do_at_once_is_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let config = || Config { store: Some(folder.path().join("arena.sqlite")), ..config() };
    let site = Site::open(config()).unwrap();
    let mut table = Table::new(&site, 0, json!({})).await;
    let mut joining = tokio::task::JoinSet::new();
    for guest in 0..60 {
        let (mut visitor, path) = (Visitor::stranger(&site), table.at("/join"));
        // Every third wants a name that is taken by another.
        let name = format!("Guest {}", guest - guest % 3 + (guest % 3) % 2);
        joining.spawn(async move { visitor.post(&path, json!({ "name": name })).await.status.as_u16() });
    }
    let mut answers = joining.join_all().await;
    answers.sort_unstable();
    assert_eq!(answers, [vec![200; 40], vec![400; 20]].concat());
    let before = table.host.get(&table.path.clone()).await.ok();
    assert_eq!(before["board"]["players"].as_array().unwrap().len(), 40);
    let (cookies, path) = (table.host.cookies.clone(), table.path.clone());
    drop((table, site));
    let mut host = Visitor::stranger(&Site::open(config()).unwrap());
    host.cookies = cookies;
    assert_eq!(host.get(&path).await.ok(), before);
}

/// One thread answers all requests here. A request that waits for the file must not keep it from the others.
#[tokio::test]
async fn while_a_room_is_written_others_are_answered() {
    let site = site();
    let mut table = Table::new(&site, 1, json!({})).await;
    let mut stranger = Visitor::stranger(&site);
    for (path, body) in [
        ("/api/party".to_owned(), json!({})),
        (table.at("/join"), json!({ "name": "Bea" })),
        (table.at("/host"), json!({ "type": "add_bots", "bot": "careful", "count": 3 })),
        (table.at("/offer"), json!({ "player": 0 })),
    ] {
        let file = HeldFile::of(&site);
        let mut host = table.host.clone();
        let mut writing = pin!(host.post(&path, body));
        assert!(is_waiting(writing.as_mut()).await, "{path}: written without the file");
        for _ in 0..400 {
            stranger.get(&table.path).await.ok();
        }
        table.host.get("/api/party").await.ok();
        assert!(is_waiting(writing.as_mut()).await, "{path}: answered before it was written");
        file.let_go();
        writing.await.ok();
    }
}

#[tokio::test]
async fn what_waits_for_too_long_is_over() {
    let site = site();
    let mut table = Table::started(&site, 4, json!({})).await;
    table.act(0, json!({ "type": "propose", "to": 1 })).await.ok();
    table.act(2, json!({ "type": "propose", "to": 3 })).await.ok();
    table.act(3, json!({ "type": "accept", "with": 2 })).await.ok();
    party::tick(&site, 0);
    assert_eq!(table.view(0).await["seat"]["play"]["proposal"]["with"], 1, "not yet");
    party::tick(&site, FAR);
    let play = table.view(0).await["seat"]["play"].clone();
    assert_eq!((&play["proposal"], &play["news"][0]["what"]), (&Value::Null, &json!("lapsed")));
    assert_eq!(table.view(3).await["seat"]["play"]["met"][0]["with"], 2, "none was committed, and they met");
}

#[tokio::test]
async fn bots_play_among_guests_and_alone() {
    let site = Site::open(Config { bot_pace: Duration::ZERO, ..config() }).unwrap();
    let mut table = Table::new(&site, 2, json!({ "zombies": 2, "max_turns": 3, "start_viruses": 2 })).await;
    table.order(json!({ "type": "add_bots", "bot": "spreader:dose=2", "count": 3 })).await;
    table.order(json!({ "type": "add_bots", "bot": "careful", "count": 3 })).await;
    Table::refused(
        table
            .host
            .clone()
            .post(&table.at("/host"), json!({ "type": "add_bots", "bot": "x", "count": 1 }))
            .await,
        400,
    );
    table.order(json!({ "type": "start" })).await;
    for player in 0..2 {
        table.order(json!({ "type": "replace", "player": player, "bot": "random" })).await;
    }
    assert_eq!(table.view(0).await["seat"], Value::Null, "the phone has lost its seat");
    for time in 0..2000 {
        party::tick(&site, time * 100);
        if table.view(0).await["board"]["phase"] == "over" {
            break;
        }
    }
    assert_eq!(table.view(0).await["board"]["phase"], "over");
    assert!(table.book().await.party().unwrap().ending().is_some());
}

#[tokio::test]
async fn bots_are_added_all_or_none() {
    let site = site();
    let mut table = Table::new(&site, 1, json!({})).await;
    let add = |count: u32| json!({ "type": "add_bots", "bot": "careful", "count": count });
    let players = |view: Value| view["board"]["players"].as_array().unwrap().len();
    for _ in 0..4 {
        table.order(add(100)).await;
    }
    let before = table.view(0).await;
    assert_eq!(players(before.clone()), 401);
    // There is room for 99 of them.
    let path = table.at("/host");
    assert!(Table::refused(table.host.post(&path, add(100)).await, 503).contains("as many players"));
    assert_eq!(table.view(0).await, before);
    table.order(add(99)).await;
    assert_eq!(players(table.view(0).await), 500);
}

#[tokio::test]
async fn a_seat_is_handed_to_a_new_phone() {
    let site = site();
    let mut table = Table::started(&site, 3, json!({})).await;
    let offer = table.host.post(&table.at("/offer"), json!({ "player": 1 })).await.ok();
    let link = offer["link"].as_str().unwrap().to_owned();
    let ticket = link.split("#seat=").nth(1).unwrap();
    assert!(offer["picture"].as_str().unwrap().contains("<svg"));
    let mut phone = Visitor::stranger(&site);
    Table::refused(phone.post(&table.at("/join"), json!({ "ticket": "guess" })).await, 403);
    assert_eq!(table.view(1).await["seat"]["number"], 1, "until the link is used");
    assert_eq!(phone.post(&table.at("/join"), json!({ "ticket": ticket })).await.ok()["number"], 1);
    assert_eq!(phone.get(&table.path).await.ok()["seat"]["number"], 1);
    assert_eq!(table.view(1).await["seat"], Value::Null);
    Table::refused(Visitor::stranger(&site).post(&table.at("/join"), json!({ "ticket": ticket })).await, 403);
}

#[tokio::test]
async fn live_pages_show_changes_and_only_changes() {
    let site = site();
    let mut table = Table::new(&site, 3, json!({})).await;
    let mut guest = table.guests[0].clone().follow(&table.at("/stream")).await;
    let mut other = table.guests[2].clone().follow(&table.at("/stream")).await;
    assert_eq!(guest.next().await.unwrap()["board"]["phase"], "lobby");
    assert_eq!(other.next().await.unwrap()["board"]["phase"], "lobby");
    table.order(json!({ "type": "start" })).await;
    assert_eq!(guest.next().await.unwrap()["board"]["phase"], "playing");
    assert_eq!(other.next().await.unwrap()["board"]["phase"], "playing");
    let host = table.host.get(&table.path).await.ok();
    let connected: Vec<&Value> =
        host["host"]["players"].as_array().unwrap().iter().map(|player| &player["connected"]).collect();
    assert_eq!(connected, [&json!(true), &json!(false), &json!(true)]);
    table.meet(0, 1).await;
    let seen = guest.next().await.unwrap();
    assert_eq!(seen["board"], Value::Null, "what has not changed is not sent again");
    table.act(2, json!({ "type": "propose", "to": 0 })).await.ok();
    let seen = other.next().await.unwrap();
    assert_eq!(seen["seat"]["play"]["proposal"]["with"], 0, "a contact of others has sent nothing: {seen}");
    table.order(json!({ "type": "close" })).await;
    assert_eq!(other.next().await.unwrap()["board"]["phase"], "closed");
}

#[tokio::test]
async fn a_code_proposes_or_accepts() {
    let site = site();
    let mut table = Table::started(&site, 3, json!({})).await;
    let code = table.view(1).await["seat"]["code"].as_str().unwrap().to_lowercase();
    table.act(0, json!({ "type": "scan", "code": code })).await.ok();
    let code = table.view(0).await["seat"]["code"].clone();
    table.act(1, json!({ "type": "scan", "code": code })).await.ok();
    assert_eq!(table.view(0).await["seat"]["play"]["contact"]["with"], 1);
    Table::refused(table.act(2, json!({ "type": "scan", "code": "0000" })).await, 404);
}

#[tokio::test]
async fn there_are_so_many_rooms_and_no_more() {
    let limits = Limits { rooms: 2, ..config().limits };
    let site = Site::open(Config { limits, ..config() }).unwrap();
    let mut first = Table::new(&site, 0, json!({})).await;
    Table::new(&site, 0, json!({})).await;
    Table::refused(first.host.post("/api/party", json!({})).await, 503);
    assert_eq!(first.host.get("/api/party").await.ok().as_array().unwrap().len(), 2);
    first.order(json!({ "type": "close" })).await;
    Table::refused(first.host.post(&first.at("/host"), json!({ "type": "start" })).await, 409);
    first.host.post("/api/party", json!({})).await.ok();
    Table::refused(first.host.get(&first.path.clone()).await, 404);
}

#[tokio::test]
async fn the_host_undoes_forces_and_removes() {
    let site = site();
    let mut table = Table::started(&site, 4, json!({})).await;
    table.meet(0, 1).await;
    let last = table.host.get(&table.path).await.ok()["host"]["last"].clone();
    assert_eq!(last, json!([0, 1]));
    Table::refused(
        table.host.post(&table.at("/host"), json!({ "type": "undo", "players": [1, 2] })).await,
        409,
    );
    table.order(json!({ "type": "undo", "players": last })).await;
    let play = table.view(0).await["seat"]["play"].clone();
    assert_eq!((&play["met"], &play["news"][0]["what"]), (&json!([]), &json!("undone")));
    table.order(json!({ "type": "end_for", "player": 3 })).await;
    assert_eq!(table.view(0).await["ended"], json!([3]));
    table.order(json!({ "type": "remove", "player": 2 })).await;
    assert_eq!(table.view(2).await["seat"], Value::Null);
    table.order(json!({ "type": "end_turn", "turn": 1 })).await;
    Table::refused(table.host.post(&table.at("/host"), json!({ "type": "end_turn", "turn": 1 })).await, 409);
    assert_eq!(table.view(0).await["board"]["announcements"][1]["met_nobody"], json!([0, 1, 2, 3]));
    assert_eq!(table.book().await.party().unwrap().turns(), 1);
}

#[tokio::test]
async fn no_request_breaks_the_server() {
    use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
    let site = site();
    let mut table = Table::started(&site, 4, json!({})).await;
    let mut runner = TestRunner::deterministic();
    let words = prop::sample::select(vec![
        "type", "propose", "to", "accept", "with", "commit", "virus", "count", "end", "antidote", "scan",
        "code", "undo", "players", "replace", "player", "bot", "random", "offer", "end_turn", "turn", "name",
        "ticket",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u32..5).prop_map(Value::from),
        words.clone().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    let object = leaf.prop_recursive(3, 20, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((words.clone(), inner), 0..5).prop_map(|pairs| pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<Value>()),
        ]
    });
    for round in 0..400 {
        let body = object.new_tree(&mut runner).unwrap().current();
        for path in ["/act", "/host", "/join", "/offer"] {
            let path = table.at(path);
            let visitor = if round % 2 == 0 { &mut table.host } else { &mut table.guests[round % 4] };
            let answer = visitor.post(&path, &body).await;
            assert!(answer.status.as_u16() < 500, "{path} {body}: {} {}", answer.status, answer.text());
        }
    }
    for id in ["", "%00", "%ff", "..", "%C3%84", "AAAAAA/../x", &"A".repeat(5000)] {
        let answer = table.host.get(&format!("/api/party/{id}")).await;
        assert!(answer.status.as_u16() < 500, "{id}");
    }
    assert_eq!(table.host.get(&table.path.clone()).await.status, 200);
}

#[tokio::test]
async fn a_turn_ends_when_its_time_is_over() {
    let site = site();
    let mut host = Visitor::host(&site).await;
    let opened = json!({ "rules": { "max_turns": 9 }, "turn_limit": 60 });
    let room = host.post("/api/party", opened).await.ok();
    let path = format!("/api/party/{}", room["id"].as_str().unwrap());
    let bots = json!({ "type": "add_bots", "bot": "careful", "count": 6 });
    for order in [bots, json!({ "type": "start" })] {
        host.post(&format!("{path}/host"), order).await.ok();
    }
    let seen = host.get(&path).await.ok();
    let deadline = seen["turn_deadline"].as_u64().unwrap();
    party::tick(&site, 0);
    assert_eq!(host.get(&path).await.ok()["board"]["turn"], 1, "not yet");
    party::tick(&site, deadline);
    let seen = host.get(&path).await.ok();
    assert_eq!(seen["board"]["turn"], 2);
    assert!(seen["turn_deadline"].as_u64().unwrap() > deadline);
}

#[tokio::test]
async fn codes_carry_the_address_that_the_host_has_chosen() {
    let again = "necrodome serve --store /arena.sqlite --bind 0.0.0.0";
    let here = Config { host_names: Vec::new(), open_command: again.to_owned(), ..config() };
    let mut table = Table::new(&Site::open(here).unwrap(), 2, json!({})).await;
    let doors = table.host.get(&table.path).await.ok()["host"]["doors"].clone();
    assert_eq!((&doors["here_only"], &doors["command"]), (&json!(true), &json!(again)));
    let order = json!({ "type": "address", "address": "http://127.0.0.1:7666" });
    Table::refused(table.host.post(&table.at("/host"), order).await, 400);

    let site = Site::open(Config { host_names: vec!["arena.example".into()], ..config() }).unwrap();
    let mut table = Table::new(&site, 2, json!({})).await;
    let link = |seen: &Value| seen["board"]["link"].as_str().unwrap().to_owned();
    assert!(link(&table.view(0).await).starts_with("http://127.0.0.1:7666/party/"));
    let picture = table.host.get(&table.at("/qr.svg")).await.text();
    table.order(json!({ "type": "address", "address": "https://arena.example" })).await;
    assert!(link(&table.view(0).await).starts_with("https://arena.example/party/"));
    assert_ne!(table.host.get(&table.at("/qr.svg")).await.text(), picture);
    let order = json!({ "type": "address", "address": "https://elsewhere.example" });
    let why = Table::refused(table.host.post(&table.at("/host"), order).await, 400);
    assert!(why.contains("https://elsewhere.example"), "{why}");
}

#[tokio::test]
async fn the_wall_shows_who_is_away_and_who_comes_late() {
    let site = site();
    let mut table = Table::started(&site, 3, json!({ "max_turns": 5 })).await;
    let mut wall = Visitor::stranger(&site).follow(&table.at("/stream?as=wall")).await;
    assert_eq!(wall.next().await.unwrap()["away"], json!([0, 1, 2]));
    let mut guest = table.guests[1].clone().follow(&table.at("/stream")).await;
    guest.next().await.unwrap();
    assert_eq!(wall.next().await.unwrap()["away"], json!([0, 2]));
    drop(guest);
    assert_eq!(wall.next().await.unwrap()["away"], json!([0, 1, 2]));
    let mut late = Visitor::stranger(&site);
    late.post(&table.at("/join"), json!({ "name": "Late" })).await.ok();
    assert_eq!(wall.next().await.unwrap()["board"]["late"][0]["name"], "Late");
    let seen = late.get(&table.path).await.ok();
    assert_eq!((&seen["seat"]["number"], &seen["seat"]["play"]), (&json!(3), &Value::Null));
    table.order(json!({ "type": "end_turn", "turn": 1 })).await;
    assert_eq!(late.get(&table.path).await.ok()["seat"]["play"]["told"]["identity"], "human");
    table.book().await;
}
