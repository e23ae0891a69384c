//! Makes every request as a stranger, as a guest with seats and as the host: who is let in, and what nobody is ever told.

use crate::visitor::{Visitor, config};
use axum::{
    body::Body,
    http::{Request, StatusCode, header},
};
use necrodome_server::{Config, Site};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// A request, and who may make it. The body of a `POST` is one that would be carried out for a visitor who may.
struct Route {
    path: &'static str,
    body: Option<Value>,
    /// The expected status for a stranger, for a guest and for the host.
    expect: [u16; 3],
}

fn get(path: &'static str, expect: [u16; 3]) -> Route {
    Route { path, body: None, expect }
}

fn post(path: &'static str, body: Value, expect: [u16; 3]) -> Route {
    Route { path, body: Some(body), expect }
}

const ALL: [u16; 3] = [200; 3];
const HOST: [u16; 3] = [403, 403, 200];

/// Returns all requests. Those that change the most come last; `stranger` and `guest` are refused where it counts.
fn routes() -> Vec<Route> {
    let entries = json!([{"bot": "angry"}, {"bot": "random"}]);
    vec![
        get("/site", ALL),
        get("/home", ALL),
        get("/play", ALL),
        get("/learn/stopping", ALL),
        get("/learn/drill", ALL),
        get("/learn/thumb", ALL),
        get("/learn/thumbs", ALL),
        get("/tournaments", ALL),
        get("/tournaments/{id}", ALL),
        get("/tournaments/{id}/stream", ALL),
        get("/tournaments/{id}/matches", ALL),
        get("/tournaments/{id}/moments", ALL),
        // They may tell of files on the host's machine.
        get("/tournaments/{id}/matches/{block}/{number}/logs", HOST),
        get("/tournaments/{id}/matches/{block}/{number}/replay", ALL),
        get("/tournaments/{id}/matches/{block}/{number}/film", ALL),
        get("/tables/{id}", ALL),
        get("/tables/{id}/stream", ALL),
        // The match goes on: its replay would tell everything.
        get("/tables/{id}/film", [409; 3]),
        get("/tables/{id}/replay", [409; 3]),
        get("/party", HOST),
        get("/party/{id}", ALL),
        get("/party/{id}/stream", ALL),
        get("/party/{id}/judge", HOST),
        get("/party/{id}/script", HOST),
        get("/party/{id}/qr.svg", ALL),
        get("/party/{id}/code.svg", [403, 200, 403]),
        post("/film", json!({}), [400; 3]),
        post("/advise", json!({}), [400; 3]),
        post("/tables", json!({"game": "no such game", "name": "x"}), [400; 3]),
        post("/tables/{id}/join", json!({"name": "x"}), [409; 3]),
        post("/tables/{id}/start", json!({}), [403, 409, 403]),
        post("/tables/{id}/act", json!({"question": 999_999, "action": {"type": "end"}}), [403, 409, 403]),
        post("/tables/{id}/replace", json!({"seat": 1}), [403, 409, 403]),
        post("/tables/{id}/return", json!({}), [403, 409, 403]),
        post("/tables/{id}/rematch", json!({}), [403, 409, 403]),
        // The game goes on, and late guests are welcome, but not without a name.
        post("/party/{id}/join", json!({"name": ""}), [400, 409, 400]),
        post("/party/{id}/act", json!({"type": "withdraw"}), [403, 409, 403]),
        post("/party/{id}/offer", json!({"player": 1}), HOST),
        post("/party/{id}/host", json!({"type": "end_for", "player": 1}), [403, 403, 204]),
        post("/party", json!({}), HOST),
        post("/tournaments/{id}/pause", json!({}), [403, 403, 409]),
        post("/tournaments/{id}/hurry", json!({}), [403, 403, 409]),
        post("/tournaments/{id}/resume", json!({}), [403, 403, 409]),
        post("/tournaments/{id}/cancel", json!({}), [403, 403, 409]),
        post("/tournaments", json!({"game": "tokyo", "entries": entries, "blocks": 1}), HOST),
        // The only person leaves, and the table is gone.
        post("/tables/{id}/leave", json!({}), [403, 204, 404]),
    ]
}

/// A server with a finished tournament, and a table and a party that are going on.
struct World {
    site: Site,
    visitors: [Visitor; 3],
    ids: BTreeMap<&'static str, String>,
    folder: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bot = folder.path().join("private-bot.py");
        fs::write(&bot, "").unwrap();
        let bots = folder.path().join("bots.toml");
        fs::write(&bots, "[[bot]]\nname = \"ada\"\nrun = \"./private-bot.py\"\n").unwrap();
        let site = Site::open(Config {
            store: Some(folder.path().join("arena.sqlite")),
            launcher: "/private/launcher".into(),
            bots: Some(bots),
            ..config()
        })
        .unwrap();
        let mut host = Visitor::host(&site).await;
        let mut guest = Visitor::stranger(&site);

        let entries = json!([{"bot": "greedy"}, {"bot": "cautious"}]);
        let plan = json!({"game": "zombie-dice", "entries": entries, "blocks": 2});
        let tournament = host.post("/api/tournaments", plan).await.ok()["id"].to_string();
        let mut live = host.follow(&format!("/api/tournaments/{tournament}/stream")).await;
        while live.next().await.unwrap()["line"]["state"] != "finished" {}

        let bots = ["careful", "spreader", "random"];
        let table =
            guest.post("/api/tables", json!({"game": "infection", "name": "Guest", "bots": bots})).await;
        let table = table.ok()["id"].as_str().unwrap().to_owned();

        let party = host.post("/api/party", json!({"rules": {"zombies": 1}})).await.ok();
        let party = party["id"].as_str().unwrap().to_owned();
        guest.post(&format!("/api/party/{party}/join"), json!({"name": "Guest"})).await.ok();
        for name in ["Ada", "Ben", "Cleo"] {
            let mut other = Visitor::stranger(&site);
            other.post(&format!("/api/party/{party}/join"), json!({ "name": name })).await.ok();
        }
        host.post(&format!("/api/party/{party}/host"), json!({"type": "start"})).await;

        let ids = BTreeMap::from([("tournaments", tournament), ("tables", table), ("party", party)]);
        World { visitors: [Visitor::stranger(&site), guest, host], site, ids, folder }
    }

    fn path(&self, route: &str) -> String {
        let kind = route.trim_start_matches('/').split('/').next().unwrap();
        let id = self.ids.get(kind).map_or("", String::as_str);
        let query = match route {
            "/learn/stopping" => "?shotguns=1",
            "/learn/drill" => "?game=zombie-dice-solo&level=1&number=1",
            "/learn/thumb" => "?one=5",
            _ => "",
        };
        format!("/api{}{query}", route.replace("{id}", id).replace("{block}", "0").replace("{number}", "1"))
    }

    /// Sends a request and returns the answer; for a live page, the first message.
    async fn ask(&mut self, who: usize, route: &Route) -> (StatusCode, String) {
        let path = self.path(route.path);
        let visitor = &mut self.visitors[who];
        if route.path.ends_with("/stream") {
            let first = visitor.follow(&path).await.next().await.unwrap();
            return (StatusCode::OK, first.to_string());
        }
        let request = match &route.body {
            None => Request::get(path).body(Body::empty()),
            Some(body) => Request::post(path)
                .header(header::CONTENT_TYPE, "application/json")
                .body(Body::from(body.to_string())),
        };
        let answer = visitor.send(request.unwrap()).await;
        (answer.status, answer.text())
    }

    /// Returns what nobody may ever be told: keys, their hashes, files on the host's disk, and the seeds of whatever is going on.
    fn secrets(&self) -> BTreeSet<String> {
        let keys = self.visitors.iter().flat_map(|visitor| visitor.cookies.values());
        let hashes = keys.clone().map(|key| blake3::hash(key.as_bytes()).to_string());
        let mut secrets: BTreeSet<String> = keys.cloned().chain(hashes).collect();
        secrets.extend(["/private/launcher", "private-bot"].map(str::to_owned));
        secrets.insert(self.folder.path().display().to_string());
        secrets.extend(self.seeds());
        secrets
    }

    /// Returns all seeds in the file, those of the party and of the table.
    fn seeds(&self) -> Vec<String> {
        let connection = self.site.db().lock();
        let mut seeds = Vec::new();
        for query in ["SELECT input FROM party_input", "SELECT setup FROM play_table"] {
            let mut query = connection.prepare(query).unwrap();
            let rows = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
            for text in rows.map(Result::unwrap) {
                let kept: Value = serde_json::from_str(&text).unwrap();
                let places = [&kept["seed"], &kept["bots_seed"], &kept["open"]["seed"]];
                seeds.extend(places.into_iter().filter_map(Value::as_str).map(str::to_owned));
            }
        }
        assert_eq!(seeds.len(), 3, "the seeds of the party and of the table are kept where this test looks");
        seeds
    }
}

#[tokio::test]
async fn everybody_gets_what_is_theirs_and_nobody_a_secret() {
    let mut world = World::new().await;
    let secrets = world.secrets();
    for route in routes() {
        for (who, name) in ["a stranger", "a guest", "the host"].into_iter().enumerate() {
            let (status, text) = world.ask(who, &route).await;
            assert_eq!(status.as_u16(), route.expect[who], "{} as {name}: {text}", route.path);
            for secret in &secrets {
                assert!(!text.contains(secret.as_str()), "{} tells {name} {secret}", route.path);
            }
            // Who is infected, only the judge knows.
            let judge = route.path.ends_with("/judge") || route.path.ends_with("/script");
            let rules = ["/site", "/learn"].iter().any(|path| route.path.starts_with(path));
            let told = ["\"infected\"", "\"role\"", "ZOMBIE"].iter().find(|word| text.contains(*word));
            assert!(judge || rules || told.is_none(), "{} tells {name} {told:?}", route.path);
        }
    }
}

/// Collects the routes in the source, so that no new one can be forgotten here.
fn routes_of_the_source(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            routes_of_the_source(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let routes = text.split(".route(").skip(1);
            found.extend(
                routes.filter_map(|rest| {
                    Some(rest.trim_start().strip_prefix('"')?.split('"').next()?.to_owned())
                }),
            );
        }
    }
}

#[test]
fn every_route_is_asked() {
    let mut found = BTreeSet::new();
    routes_of_the_source(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.remove("/host/{key}"), "the test reads no routes");
    let asked: BTreeSet<String> = routes().iter().map(|route| route.path.to_owned()).collect();
    assert_eq!(found, asked);
}
