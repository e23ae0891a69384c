//! Tournaments on the pages: started, watched, stopped and resumed, always with the results of the arena.

use crate::visitor::{Visitor, config, site};
use necrodome_arena::{
    entry::EntrySpec,
    replay,
    tournament::{self, Archive, Format, Plan, PlannedEntry, Schedule, Store},
};
use necrodome_rules::{catalog::Listed, game::Game, zombie_dice::Race};
use necrodome_server::{Config, Limits, ServeError, Site};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::{fs, path::Path, sync::atomic::AtomicBool};
use tempfile::TempDir;

fn race(blocks: u32) -> Value {
    json!({
        "game": "zombie-dice-race",
        "entries": [{ "bot": "greedy" }, { "bot": "stop-at:brains=3", "name": "Ada" }],
        "blocks": blocks,
        "seed": 7,
    })
}

/// Returns the hash that the arena computes for the same plan.
fn hash_of_the_arena(blocks: u32) -> String {
    let entry = |name: &str, bot: &str| PlannedEntry::new(name, bot);
    let plan = Plan {
        options: serde_json::to_value(<Race as Game>::Rules::default()).unwrap(),
        ..Plan::new(
            Race::ID,
            vec![entry("greedy", "greedy"), entry("Ada", "stop-at:brains=3")],
            Format::RoundRobin,
            2,
            blocks,
            7,
        )
    };
    let parse = |entry: &PlannedEntry| EntrySpec::parse(&entry.bot, Path::new(".")).unwrap();
    let entries: Vec<EntrySpec> = plan.entries.iter().map(parse).collect();
    let mut store = Store::in_memory(&plan).unwrap();
    let never = AtomicBool::new(false);
    tournament::run(&plan, &entries, &"unused".into(), &mut store, 1, &never, &mut |_| {}).unwrap();
    tournament::report(&plan, &Schedule::new(&plan, Race::SEATS).unwrap(), &store).unwrap().hash.unwrap()
}

async fn begin(host: &mut Visitor, wanted: Value) -> i64 {
    host.post("/api/tournaments", wanted).await.ok()["id"].as_i64().unwrap()
}

/// Watches a tournament until it is no longer running.
async fn watch_to_the_end(viewer: &mut Visitor, id: i64) -> Value {
    let mut live = viewer.follow(&format!("/api/tournaments/{id}/stream")).await;
    let mut blocks = 0;
    loop {
        let view = live.next().await.expect("the stream goes on while the server does");
        assert!(view["line"]["blocks"].as_u64().unwrap() >= blocks, "blocks do not vanish");
        blocks = view["line"]["blocks"].as_u64().unwrap();
        if view["line"]["state"] != "running" {
            return view;
        }
    }
}

#[tokio::test]
async fn a_tournament_is_started_by_the_host_and_watched_by_everybody() {
    let site = site();
    let (mut host, mut guest) = (Visitor::host(&site).await, Visitor::stranger(&site));
    let id = begin(&mut host, race(3000)).await;
    let (view, other) = tokio::join!(watch_to_the_end(&mut guest, id), watch_to_the_end(&mut host, id));
    assert_eq!(view["line"]["state"], "finished");
    assert_eq!((view["line"]["blocks"].clone(), view["line"]["matches"].clone()), (3000.into(), 6000.into()));
    assert_eq!(view["hash"], hash_of_the_arena(3000));
    assert_eq!(other["hash"], view["hash"]);
    assert_eq!(view["seen"], 3000);
    assert!(!view["summary"].as_array().unwrap().is_empty(), "{view}");
    assert_eq!(view["standings"].as_array().unwrap().len(), 2);
    let best = &view["standings"][0];
    assert!(best["win_rate"]["low"].as_f64() < best["win_rate"]["mean"].as_f64());
    assert!(best["luck_adjusted"].is_object() && best["rating"]["high"].is_number());
    assert!(view["meetings"][0][1]["better"].as_f64() > Some(0.5));
    assert_eq!(view["history"].as_array().unwrap().last().unwrap()["blocks"], 3000);
    assert_eq!(guest.get(&format!("/api/tournaments/{id}")).await.ok()["hash"], view["hash"]);

    let list = guest.get("/api/tournaments").await.ok();
    assert_eq!(list["tournaments"][0]["id"], id);
    assert_eq!(list["tournaments"][0]["leaders"], json!([best["name"]]));
    let home = guest.get("/api/home").await.ok();
    assert_eq!((home["running"].clone(), home["recent"][0]["state"].clone()), (json!([]), "finished".into()));
}

#[tokio::test]
async fn a_new_arena_has_samples_to_look_at() {
    let folder = tempfile::tempdir().unwrap();
    let store = Some(folder.path().join("arena.sqlite"));
    let config = || Config { samples: true, store: store.clone(), ..config() };
    let site = Site::open(config()).unwrap();
    let mut guest = Visitor::stranger(&site);
    for id in 1..=3 {
        let view = watch_to_the_end(&mut guest, id).await;
        assert_eq!((&view["line"]["state"], &view["line"]["sample"]), (&"finished".into(), &true.into()));
        // Nobody is called the best whom the standings do not call the first.
        let standings = view["standings"].as_array().unwrap();
        let first = standings.iter().filter(|standing| standing["best_rank"] == 1);
        let first: Vec<&Value> = first.map(|standing| &standing["name"]).collect();
        assert_eq!(view["line"]["leaders"], json!(first));
        assert!(standings.iter().all(|standing| !standing["name"].as_str().unwrap().contains('=')), "{view}");
        // However quickly it was played, there is a race to watch.
        let points: Vec<u64> = view["history"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point["blocks"].as_u64().unwrap())
            .collect();
        assert!(points.len() > 20 && points.is_sorted(), "{points:?}");
    }
    let home = guest.get("/api/home").await.ok();
    let film = &home["films"][0];
    let path =
        format!("/api/tournaments/{}/matches/{}/{}/film", film["tournament"], film["block"], film["number"]);
    assert_eq!(guest.get(&path).await.ok()["game"], film["game"]);
    // One of them shows luck and mistakes.
    let moments = guest.get("/api/tournaments/1/moments").await.ok();
    assert_eq!(moments["moments"][0]["kind"], "luck");
    // They are played once, and the host's own are no samples.
    drop((guest, site));
    let site = Site::open(config()).unwrap();
    let mut host = Visitor::host(&site).await;
    let id = begin(&mut host, race(1)).await;
    assert_eq!(id, 4);
    assert_eq!(watch_to_the_end(&mut host, id).await["line"]["sample"], false);
}

#[tokio::test]
async fn pausing_changes_no_result() {
    let site = site();
    let mut host = Visitor::host(&site).await;
    let id = begin(&mut host, race(30_000)).await;
    let path = |what: &str| format!("/api/tournaments/{id}/{what}");
    host.post(&path("pause"), json!({})).await.ok();
    assert!(host.post(&path("pause"), json!({})).await.refused(409).contains("paused"));
    host.post(&path("resume"), json!({})).await.ok();
    let mut live = host.follow(&path("stream")).await;
    while live.next().await.unwrap()["line"]["blocks"] == 0 {}
    // In the middle, unless this machine is very fast: then its last matches end it before it can wait.
    if host.post(&path("pause"), json!({})).await.status.is_success() {
        let resumed = host.post(&path("resume"), json!({})).await;
        assert!(resumed.status.is_success() || resumed.refused(409).contains("finished"));
    }
    let view = watch_to_the_end(&mut host, id).await;
    assert_eq!(view["line"]["state"], "finished");
    assert_eq!(view["hash"], hash_of_the_arena(30_000));
}

#[tokio::test]
async fn a_show_takes_its_time_until_the_host_has_seen_enough_and_changes_no_result() {
    let folder = TempDir::new().unwrap();
    let with_file = || Config { store: Some(folder.path().join("arena.sqlite")), ..config() };
    let id = {
        let site = Site::open(with_file()).unwrap();
        let mut host = Visitor::host(&site).await;
        let mut wanted = race(3000);
        wanted["pace"] = json!("show");
        let id = begin(&mut host, wanted).await;
        let mut live = host.follow(&format!("/api/tournaments/{id}/stream")).await;
        let mut view = live.next().await.unwrap();
        while view["line"]["blocks"] == 0 {
            view = live.next().await.unwrap();
        }
        assert_eq!((&view["line"]["state"], &view["pace"]), (&"running".into(), &"show".into()));
        assert!(view["line"]["blocks"].as_u64() < Some(1500), "{}", view["line"]);
        id
    };
    // A restart does not make it faster.
    let site = Site::open(with_file()).unwrap();
    let (mut host, mut guest) = (Visitor::host(&site).await, Visitor::stranger(&site));
    let view = guest.get(&format!("/api/tournaments/{id}")).await.ok();
    assert_eq!((&view["line"]["state"], &view["pace"]), (&"running".into(), &"show".into()));
    let hurry = format!("/api/tournaments/{id}/hurry");
    assert!(guest.post(&hurry, json!({})).await.refused(403).contains("host"));
    host.post(&hurry, json!({})).await.ok();
    let view = watch_to_the_end(&mut guest, id).await;
    assert_eq!((&view["line"]["state"], &view["pace"]), (&"finished".into(), &"fast".into()));
    assert_eq!(view["hash"], hash_of_the_arena(3000));
    assert!(host.post(&hurry, json!({})).await.refused(409).contains("finished already"));
}

#[tokio::test]
async fn who_plays_alone_has_scores_over_time_and_no_ratings() {
    let site = site();
    let mut host = Visitor::host(&site).await;
    let mut of = async |by: &str, measure: &str| {
        let entries = json!([{ "bot": "greedy" }, { "bot": "cautious" }]);
        let wanted =
            json!({ "game": "zombie-dice-solo", "entries": entries, "blocks": 50, "seed": 7, "rank_by": by });
        let id = begin(&mut host, wanted).await;
        let view = watch_to_the_end(&mut host, id).await;
        let last = view["history"].as_array().unwrap().last().unwrap();
        for standing in view["standings"].as_array().unwrap() {
            let entry = standing["entry"].as_u64().unwrap() as usize;
            assert_eq!(last["values"][entry], standing[measure]["mean"], "{standing}");
        }
    };
    of("luck-adjusted", "luck_adjusted").await;
    of("plain", "mean_score").await;
}

#[tokio::test]
async fn a_cancelled_tournament_keeps_what_it_has() {
    let site = site();
    let mut host = Visitor::host(&site).await;
    let id = begin(&mut host, race(10_000_000)).await;
    host.post(&format!("/api/tournaments/{id}/cancel"), json!({})).await.ok();
    let view = watch_to_the_end(&mut host, id).await;
    assert_eq!(view["line"]["state"], "cancelled");
    let words = host.post(&format!("/api/tournaments/{id}/resume"), json!({})).await.refused(409);
    assert!(words.contains("cancelled"), "{words}");
}

#[tokio::test]
async fn a_new_server_goes_on_where_the_old_one_was() {
    let folder = TempDir::new().unwrap();
    let with_file = || Config { store: Some(folder.path().join("arena.sqlite")), ..config() };
    let (id, paused);
    {
        let site = Site::open(with_file()).unwrap();
        let busy = Site::open(with_file()).err().unwrap();
        assert!(matches!(busy, ServeError::Store { .. }) && busy.to_string().contains("in use"), "{busy}");
        let mut host = Visitor::host(&site).await;
        id = begin(&mut host, race(100_000)).await;
        paused = begin(&mut host, race(5_000_000)).await;
        host.post(&format!("/api/tournaments/{paused}/pause"), json!({})).await.ok();
        let first = host.watch(&format!("/api/tournaments/{id}/stream"), 1).await;
        assert_eq!(first[0]["line"]["state"], "running", "there is something left to do");
    }
    let site = Site::open(with_file()).unwrap();
    let mut guest = Visitor::stranger(&site);
    let view = watch_to_the_end(&mut guest, id).await;
    assert_eq!(view["line"]["state"], "finished");
    assert_eq!(view["hash"], hash_of_the_arena(100_000));
    assert_eq!(guest.get(&format!("/api/tournaments/{paused}")).await.ok()["line"]["state"], "paused");
}

#[tokio::test]
async fn strangers_watch_and_touch_nothing() {
    let site = site();
    let (mut host, mut stranger) = (Visitor::host(&site).await, Visitor::stranger(&site));
    assert!(stranger.post("/api/tournaments", race(5)).await.refused(403).contains("host"));
    let id = begin(&mut host, race(10_000_000)).await;
    for what in ["pause", "resume", "cancel"] {
        let words = stranger.post(&format!("/api/tournaments/{id}/{what}"), json!({})).await.refused(403);
        assert!(words.contains("host"), "{what}: {words}");
    }
    assert_eq!(stranger.get(&format!("/api/tournaments/{id}")).await.ok()["line"]["state"], "running");
    for path in ["/api/tournaments/99", "/api/tournaments/x/stream", "/api/tournaments/-1/matches"] {
        assert!(stranger.get(path).await.refused(404).contains("no tournament"), "{path}");
    }
}

#[tokio::test]
async fn no_more_run_than_may() {
    let limits = Limits { tournaments: 1, ..config().limits };
    let site = Site::open(Config { limits, ..config() }).unwrap();
    let mut host = Visitor::host(&site).await;
    let id = begin(&mut host, race(10_000_000)).await;
    let refused = host.post("/api/tournaments", race(5)).await;
    assert_eq!(refused.headers["retry-after"], "2");
    assert!(refused.refused(503).contains("1 tournaments are running"));
    host.post(&format!("/api/tournaments/{id}/pause"), json!({})).await.ok();
    let second = begin(&mut host, race(10_000_000)).await;
    assert!(
        host.post(&format!("/api/tournaments/{id}/resume"), json!({})).await.refused(503).contains("running")
    );
    host.post(&format!("/api/tournaments/{second}/cancel"), json!({})).await.ok();
    host.post(&format!("/api/tournaments/{id}/resume"), json!({})).await.ok();
}

#[tokio::test]
async fn what_cannot_be_played_is_refused_with_words() {
    let site = site();
    let mut host = Visitor::host(&site).await;
    let with = |what: &str, value: Value| {
        let mut wanted = race(5);
        wanted[what] = value;
        wanted
    };
    let decided = |what: &str, value: Value| {
        let mut wanted = with(what, value);
        wanted["until_decided"] = json!(true);
        wanted
    };
    let bots = |bot: &str| with("entries", json!([{ "bot": "greedy" }, { "bot": bot }]));
    let here = format!("{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
    for (wanted, message) in [
        (with("game", json!("chess")), "no game \"chess\""),
        (with("options", json!({ "max_rounds": 0 })), "option max_rounds"),
        (with("options", json!({ "nothing": 1 })), "unknown option"),
        (with("format", json!("cup")), "no format"),
        (with("seats", json!(7)), "seats"),
        (with("blocks", json!(0)), "blocks"),
        (with("blocks", json!(4_000_000_000_u32)), "blocks"),
        (with("seed", json!(-1)), "hexadecimal digits after 0x"),
        (with("entries", json!([{ "bot": "greedy" }])), "entr"),
        (
            with("entries", json!([{ "bot": "greedy", "name": "x" }, { "bot": "random", "name": "X" }])),
            "taken",
        ),
        (with("entries", json!(vec![json!({ "bot": "greedy" }); 101])), "at most 100"),
        (with("strange", json!(1)), "strange"),
        (with("margin", json!(0.02)), "margin means nothing without until decided"),
        (decided("margin", json!(-1)), "expected a number above 0, such as 0.02, got -1"),
        (decided("margin", json!(2)), "expected a number below 1, got 2"),
        (decided("test", json!({ "elo0": 0, "elo1": 9 })), "two rules for stopping"),
        (with("test", json!({ "elo0": 9, "elo1": 0 })), "the smaller one first, such as 0,10, got 9,0"),
        (with("rank_by", json!("luck")), "rank_by"),
        (bots("gredy"), "no bot"),
        (bots("stop-at:brains=nothing"), "brains"),
        (bots("cmd:python3 -c 1"), "by its name"),
        (bots("./ada.py"), "by its name"),
        (bots("ada.py"), "by its name"),
        (bots(&here), "by its name"),
        (bots("human"), "by its name"),
        (bots("x=cmd:true"), "x=cmd"),
        (bots("x=./ada.py"), "by its name"),
    ] {
        let words = host.post("/api/tournaments", &wanted).await.refused(400);
        assert!(words.contains(message), "{wanted}: {words}");
        assert!(
            !words.contains("Cargo.toml\" (") && !words.contains("No such file"),
            "no look at files: {words}"
        );
    }
    assert_eq!(host.get("/api/tournaments").await.ok()["tournaments"], json!([]), "nothing was begun");
}

#[tokio::test]
async fn a_margin_a_test_and_the_measure_are_those_of_the_command_line() {
    let site = site();
    let mut host = Visitor::host(&site).await;
    let mut end = async |more: Value| {
        let mut wanted = race(100_000);
        wanted.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let id = begin(&mut host, wanted).await;
        watch_to_the_end(&mut host, id).await
    };
    let test = end(json!({ "test": { "elo0": -2000, "elo1": -1000 } })).await;
    assert_eq!(test["line"]["state"], "decided");
    assert!(test["summary"].to_string().contains("Elo better than"), "{}", test["summary"]);
    let twins = json!([{ "bot": "greedy" }, { "bot": "greedy", "name": "twin" }]);
    let margin = end(json!({ "until_decided": true, "margin": 0.2, "entries": twins })).await;
    assert_eq!(margin["line"]["state"], "decided", "twins are never told apart, but surely close");
    let measure = async |by: &str| {
        let mut host = Visitor::host(&site).await;
        let mut wanted = race(5);
        wanted["rank_by"] = json!(by);
        let id = begin(&mut host, wanted).await;
        watch_to_the_end(&mut host, id).await["order"].clone()
    };
    assert_eq!(
        (measure("plain").await, measure("luck-adjusted").await),
        (json!("win-rate"), json!("luck-adjusted"))
    );
}

#[tokio::test]
async fn programs_take_part_by_the_names_that_the_host_gave_them() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("secret.py"), "import numpie\n").unwrap();
    let bots = folder.path().join("bots.toml");
    let text = "[[bot]]\nname = \"ada\"\nrun = \"./secret.py\"\ngames = [\"zombie-dice-race\"]\n";
    fs::write(&bots, text).unwrap();
    // A supervisor that says that the program does not start, and what it has logged.
    let launcher = folder.path().join("launcher");
    fs::write(&launcher, "#!/bin/sh\nprintf \"No module named 'numpie'\\nn\\002\\000\" >&2\n").unwrap();
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).unwrap();
    let site =
        Site::open(Config { bots: Some(bots.clone()), launcher: launcher.into(), ..config() }).unwrap();
    let (mut host, mut guest) = (Visitor::host(&site).await, Visitor::stranger(&site));
    let games = host.get("/api/site").await.ok()["games"].clone();
    let allowed =
        |id: &str| games.as_array().unwrap().iter().find(|game| game["id"] == id).unwrap()["allowed"].clone();
    assert_eq!((allowed("zombie-dice-race"), allowed("tokyo")), (json!(["ada"]), json!([])));
    assert!(!guest.get("/api/site").await.text().contains("ada"), "guests are not told");

    let wanted =
        |game: &str| json!({ "game": game, "entries": [{ "bot": "ada" }, { "bot": "random" }], "blocks": 2 });
    assert!(host.post("/api/tournaments", wanted("tokyo")).await.refused(400).contains("no bot \"ada\""));
    let id = begin(&mut host, wanted("zombie-dice-race")).await;
    let view = watch_to_the_end(&mut guest, id).await;
    // That it cannot start is told to all, but where it lies only to the host.
    assert_eq!(
        (view["faults"][0]["name"].clone(), view["faults"][0]["kind"].clone()),
        ("ada".into(), "no_start".into())
    );
    let hint = view["faults"][0]["hint"].as_str().unwrap();
    assert!(hint.contains("there is no module numpie"), "{view}");
    assert!(view["host"].is_null() && !view.to_string().contains("secret.py"), "{view}");
    let seen = host.get(&format!("/api/tournaments/{id}")).await.ok();
    assert!(seen["host"]["first_faults"][0].as_str().unwrap().contains("match 0"), "{seen}");
    let replay = guest.get(&format!("/api/tournaments/{id}/matches/1/0/replay")).await;
    replay::unpack(&replay.body[..]).unwrap();

    fs::write(&bots, "[[bot]]\nname = \"ada\"\nrun = \"./nowhere.py\"\n").unwrap();
    let wrong = Site::open(Config { bots: Some(bots), ..config() }).err().unwrap().to_string();
    assert!(wrong.contains("bots.toml, line 3"), "{wrong}");
}

#[tokio::test]
async fn every_match_can_be_listed_and_replayed() {
    let site = site();
    let (mut host, mut guest) = (Visitor::host(&site).await, Visitor::stranger(&site));
    let id = begin(&mut host, race(40)).await;
    watch_to_the_end(&mut guest, id).await;
    let path = |rest: &str| format!("/api/tournaments/{id}/matches{rest}");
    let all = guest.get(&path("?count=200")).await.ok();
    assert_eq!((all["total"].clone(), all["matches"].as_array().unwrap().len()), (80.into(), 80));
    let some = guest.get(&path("?from=33&count=5")).await.ok();
    assert_eq!(some["matches"].as_array().unwrap()[..], all["matches"].as_array().unwrap()[33..38]);
    assert_eq!(guest.get(&path("?from=80")).await.ok()["matches"], json!([]));
    assert_eq!(guest.get(&path("?from=99999999999999")).await.ok()["matches"], json!([]));
    assert!(guest.get(&path("?from=-1")).await.refused(400).contains("whole number"));

    let told = &some["matches"][0];
    assert_eq!((told["block"].clone(), told["number"].clone()), (16.into(), 1.into()));
    assert_eq!(told["names"], json!(["Ada", "greedy"]), "seats have changed");
    assert!(told["luck"].is_number());
    let answer = guest.get(&path("/16/1/replay")).await;
    assert!(answer.headers["content-disposition"].to_str().unwrap().contains("tournament-1-16.1.replay"));
    let replay: replay::Replay<Race> = replay::unpack(&answer.body[..]).unwrap().parse().unwrap();
    assert_eq!(json!(replay.outcome.places), told["places"]);
    assert_eq!(json!(replay.outcome.scores), told["scores"]);
    let film = guest.get(&path("/16/1/film")).await.ok();
    assert_eq!(film["names"], told["names"]);
    assert!(guest.get(&path("/40/0/film")).await.refused(404).contains("no block 40"));
    assert!(guest.get(&path("/0/2/replay")).await.refused(404).contains("no match 2"));
    assert!(guest.get(&path("/0/x/replay")).await.refused(404).contains("no match"));
}

/// A tournament that the command line began is shown too, and can be resumed here.
#[tokio::test]
async fn a_file_of_the_command_line_is_taken_up() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("night.store");
    let entry = |bot: &str| PlannedEntry::new(bot, bot);
    let plan = Plan::new("tokyo", vec![entry("angry"), entry("./mine.py")], Format::Table, 2, 10, 1);
    drop(Archive::open(&path).unwrap().begin(&plan).unwrap());
    let site = Site::open(Config { store: Some(path), ..config() }).unwrap();
    let mut host = Visitor::host(&site).await;
    let line = host.get("/api/home").await.ok()["recent"][0].clone();
    assert_eq!((line["state"].clone(), line["names"][1].clone()), ("paused".into(), "./mine.py".into()));
    let words = host.post("/api/tournaments/1/resume", json!({})).await.refused(400);
    assert!(words.contains("by its name"), "a file in a plan is not run either: {words}");
    assert_eq!(host.get("/api/tournaments/1").await.ok()["line"]["state"], "paused");
}

/// Returns the blocks and numbers of the matches in a list, in order.
fn places(list: &Value) -> Vec<(u64, u64)> {
    let matches = list["matches"].as_array().unwrap();
    matches.iter().map(|one| (one["block"].as_u64().unwrap(), one["number"].as_u64().unwrap())).collect()
}

#[tokio::test]
async fn matches_are_searched_and_sorted() {
    let site = site();
    let (mut host, mut guest) = (Visitor::host(&site).await, Visitor::stranger(&site));
    let id = begin(&mut host, race(40)).await;
    watch_to_the_end(&mut guest, id).await;
    let address = format!("/api/tournaments/{id}/matches");
    let all = guest.get(&format!("{address}?count=200")).await.ok();
    let all = all["matches"].as_array().unwrap().clone();
    assert_eq!(all.len(), 80);
    let number = |one: &Value, part: &str| one[part].as_f64().unwrap();

    let long = guest.get(&format!("{address}?sort=turns&count=10")).await.ok();
    let turns: Vec<f64> =
        long["matches"].as_array().unwrap().iter().map(|one| number(one, "turns")).collect();
    assert_eq!(turns[0], all.iter().map(|one| number(one, "turns")).fold(0.0, f64::max));
    assert!(turns.is_sorted_by(|one, other| one >= other), "{turns:?}");
    let next = guest.get(&format!("{address}?sort=turns&count=5&from=5")).await.ok();
    assert_eq!(places(&long)[5..], places(&next), "pages follow each other");
    let short = guest.get(&format!("{address}?sort=turns&order=up&count=1")).await.ok();
    assert_eq!(
        number(&short["matches"][0], "turns"),
        all.iter().map(|one| number(one, "turns")).fold(f64::MAX, f64::min)
    );

    let won = guest.get(&format!("{address}?entry=Ada&result=won&count=200")).await.ok();
    let lost = guest.get(&format!("{address}?entry=Ada&result=lost&count=200")).await.ok();
    assert_eq!(won["total"].as_u64().unwrap() + lost["total"].as_u64().unwrap(), 80);
    for one in won["matches"].as_array().unwrap() {
        let seat = one["names"].as_array().unwrap().iter().position(|name| name == "Ada").unwrap();
        assert_eq!(one["places"][seat], 1);
    }
    // The neighbours of a match, for the way from one to the next.
    let around = guest.get(&format!("{address}?around=3.1&count=3")).await.ok();
    assert_eq!(places(&around), [(3, 0), (3, 1), (4, 0)]);
    assert_eq!(places(&guest.get(&format!("{address}?around=0.0&count=2")).await.ok())[0], (0, 0));

    for (query, words) in [
        ("sort=colour", "expected one of luck, turns, margin, score, faults"),
        ("entry=Zoe", "there is no entry"),
        ("result=draw", "expected one of won, lost"),
        ("from=-1", "expected a whole number"),
        ("sort=luck&from=99999999", "expected to begin at"),
    ] {
        let told = guest.get(&format!("{address}?{query}")).await.refused(400);
        assert!(told.contains(words), "{query}: {told}");
    }
}

#[tokio::test]
async fn moments_are_the_extremes_of_single_rolls_and_decisions() {
    let site = site();
    let (mut host, mut guest) = (Visitor::host(&site).await, Visitor::stranger(&site));
    let id = begin(&mut host, race(40)).await;
    watch_to_the_end(&mut guest, id).await;
    let all = guest.get(&format!("/api/tournaments/{id}/matches?count=200")).await.ok();
    let found = guest.get(&format!("/api/tournaments/{id}/moments")).await.ok();
    assert_eq!((&found["searched"], &found["replayed"]), (&json!(80), &json!(80)));
    let of = |found: &Value, kind: &str| -> Vec<Value> {
        found["moments"].as_array().unwrap().iter().filter(|one| one["kind"] == kind).cloned().collect()
    };
    for kind in ["luck", "mistakes", "comeback", "close", "long"] {
        assert!((1..=5).contains(&of(&found, kind).len()), "{kind}");
    }
    // The films of all matches are searched by hand: no roll, decision or comeback in them is greater.
    let (mut luckiest, mut worst, mut lowest) = (0.0_f64, 0.0_f64, 1.0_f64);
    for one in all["matches"].as_array().unwrap() {
        let (block, number) = (&one["block"], &one["number"]);
        let film = guest.get(&format!("/api/tournaments/{id}/matches/{block}/{number}/film")).await.ok();
        let first_won = film["values"]["result"] == 1.0;
        for entry in film["values"]["entries"].as_array().unwrap() {
            let of_first = entry["seat"] == 0;
            if let Some(luck) = entry["luck"].as_f64() {
                luckiest = luckiest.max(if of_first { luck } else { -luck });
            }
            worst = worst.max(entry["regret"].as_f64().unwrap_or_default());
            if entry["type"] != "limit" && film["values"]["result"] != 0.5 {
                let after = entry["after"].as_f64().unwrap();
                lowest = lowest.min(if first_won { after } else { 1.0 - after });
            }
        }
    }
    for (kind, extreme) in [("luck", luckiest), ("mistakes", worst), ("comeback", lowest)] {
        let moment = &of(&found, kind)[0];
        assert!((moment["amount"].as_f64().unwrap() - extreme).abs() < 1e-3, "{kind} {extreme}: {moment}");
        // The film has it at the same step.
        let (block, number) = (&moment["played"]["block"], &moment["played"]["number"]);
        let film = guest.get(&format!("/api/tournaments/{id}/matches/{block}/{number}/film")).await.ok();
        let peaks = film["values"]["peaks"].as_array().unwrap();
        let peak = peaks.iter().find(|peak| peak["name"] == kind).unwrap();
        assert_eq!((&peak["step"], &peak["seat"]), (&moment["step"], &moment["seat"]), "{kind}");
        let entry = &film["values"]["entries"][peak["entry"].as_u64().unwrap() as usize];
        assert_eq!(entry["step"], moment["step"], "{kind}");
    }

    let of_ada = guest.get(&format!("/api/tournaments/{id}/moments?entry=Ada")).await.ok();
    for one in of_ada["moments"].as_array().unwrap() {
        assert_eq!(one["played"]["names"][one["seat"].as_u64().unwrap() as usize], "Ada");
    }
}

#[tokio::test]
async fn logs_of_a_match_are_for_the_host() {
    let site = site();
    let (mut host, mut guest) = (Visitor::host(&site).await, Visitor::stranger(&site));
    let id = begin(&mut host, race(2)).await;
    watch_to_the_end(&mut guest, id).await;
    let address = format!("/api/tournaments/{id}/matches/0/0/logs");
    assert!(guest.get(&address).await.refused(403).contains("for the host"));
    let logs = host.get(&address).await.ok();
    assert_eq!((&logs["faults"], &logs["logs"]), (&json!([]), &json!([])));
}
