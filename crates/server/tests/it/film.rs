//! Films show what happened in every game; a file that is not a replay is refused with an explanation.

use crate::visitor::{Answer, Visitor, config, site};
use axum::{
    body::Body,
    http::{Method, Request, header},
};
use necrodome_arena::{
    lineup::built_in,
    player::{BuiltInPlayer, Player},
    replay::{Bounds, ReplayError},
    run::run_match,
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    chance::Seeded,
    game::Outcome,
    infection::Infection,
    last_bullet::LastBullet,
    names::Names,
    options::{parse, split_pair},
    tokyo::Tokyo,
    with_game,
    zombie_dice::{Race, Solo, Table},
};
use necrodome_server::{Limits, Site, film::Size};
use proptest::prelude::*;
use serde_json::Value;
use std::{io::Read, sync::LazyLock};

/// Returns the packed replay of a match between built-in bots.
fn replay<G: Listed>(bots: &[&str], settings: &[&str], seed: u64) -> Vec<u8> {
    let names: Vec<String> = bots.iter().enumerate().map(|(seat, bot)| format!("{bot} {seat}")).collect();
    replay_of::<G>(bots, &names, settings, seed)
}

fn replay_of<G: Listed>(bots: &[&str], names: &[String], settings: &[&str], seed: u64) -> Vec<u8> {
    let settings: Vec<_> = settings.iter().map(|pair| split_pair(pair).unwrap()).collect();
    let rules: G::Rules = parse(&settings).unwrap();
    let names = Names::new(names).unwrap();
    let mut players: Vec<Box<dyn Player<G>>> = Vec::new();
    for (seat, bot) in bots.iter().enumerate() {
        let bot = built_in::<G>(&bot.parse().unwrap(), &rules, Seeded::new(seed, "bot", seat as u64));
        players.push(Box::new(BuiltInPlayer(bot.unwrap())));
    }
    run_match(&names, &rules, seed, &mut players, |_, _| {}).unwrap().recording.pack().unwrap()
}

/// Returns the packed replay of a short match between a game's own players.
fn short<G: Listed>(seed: u64) -> Vec<u8> {
    let all: Vec<&str> = G::built_ins().iter().map(|bot| bot.name).collect();
    let seats = all.len().clamp(*G::SEATS.start(), (*G::SEATS.end()).min(6));
    let bots: Vec<&str> = all.iter().cycle().take(seats).copied().collect();
    let settings: &[&str] = match G::ID {
        "last-bullet" => &["copies=3", "max_turns=12"],
        "infection" => &["max_turns=3", "start_antibodies=2"],
        _ => &[],
    };
    replay::<G>(&bots, settings, seed)
}

/// Returns a replay whose film is larger than the buffers between two sockets.
pub fn large() -> Vec<u8> {
    replay::<Infection>(&["random"; 250], &["start_antibodies=9"], 1)
}

/// Returns the film that the pages get.
fn film(packed: Vec<u8>) -> Value {
    serde_json::from_slice(&filmed(packed).unwrap()).unwrap()
}

fn filmed(packed: impl Into<Vec<u8>>) -> Result<Vec<u8>, ReplayError> {
    necrodome_server::film::film(packed, &Size::PAGE).map(|film| film.json)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn outcome(film: &Value) -> Outcome {
    serde_json::from_value(film["outcome"].clone()).unwrap()
}

#[test]
fn there_is_a_frame_for_every_step_of_every_game() {
    for (id, seed) in GameId::WITH_EXAMPLES.iter().copied().flat_map(|id| [(id, 1), (id, 2), (id, 3)]) {
        let film = film(with_game!(id, G => short::<G>(seed)));
        assert_eq!(film["game"], id.as_str());
        assert_eq!(list(&film["names"]).len(), outcome(&film).places.len());
        let frames = list(&film["frames"]);
        let steps = film["steps"].as_u64().unwrap();
        if id == GameId::LastBullet {
            assert_eq!(film["battle"]["turns"], steps);
            assert!(frames.is_empty());
            continue;
        }
        assert_eq!(frames.len() as u64, steps + 1, "{id}");
        assert!(steps > 0, "{id}");
        assert_eq!(frames[0]["choice"], Value::Null, "{id}: nobody decides in the set-up");
        for (number, pair) in frames.windows(2).enumerate() {
            let (before, after) = (&pair[0], &pair[1]);
            let step = number + 1;
            if !after["choice"].is_null() {
                assert_eq!(before["next"], after["player"], "{id}, step {step}");
            }
            assert_ne!(after["words"], "", "{id}, step {step}");
            let turns = [before, after].map(|frame| frame["turn"].as_u64().unwrap());
            assert!(turns[1] == turns[0] || turns[1] == turns[0] + 1, "{id}, step {step}: {turns:?}");
        }
        // The example marks no turns.
        if GameId::ALL.contains(&id) {
            assert_eq!(frames.last().unwrap()["turn"], film["outcome"]["turns"], "{id}");
        }
        assert_eq!(frames.last().unwrap()["next"], Value::Null, "{id}: nobody decides after the end");
    }
}

/// The text and the board of a step belong to its player.
#[test]
fn a_step_belongs_to_one_player() {
    for seed in 0..10 {
        let films = [
            film(replay::<Table>(&["greedy", "cautious", "random"], &[], seed)),
            film(replay::<Table>(&["greedy", "cautious"], &[], seed)),
            film(replay::<Race>(&["greedy", "random"], &["first_roll=mandatory"], seed)),
            film(replay::<Tokyo>(&["angry", "point-hunter", "random"], &[], seed)),
            film(replay::<Tokyo>(&["angry", "point-hunter"], &[], seed)),
        ];
        for film in films {
            let mut without_choice = 0;
            for (step, frame) in list(&film["frames"]).iter().enumerate() {
                let (game, player) = (&film["game"], &frame["player"]);
                for told in list(&frame["told"]).iter().filter(|told| !told["seat"].is_null()) {
                    assert_eq!(told["seat"], *player, "{game}, step {step}: {told}");
                }
                for ended in frame["scene"]["ended"].as_array().into_iter().flatten() {
                    assert_eq!(ended["seat"], *player, "{game}, step {step}");
                }
                let (dice, decided) = (&frame["scene"]["dice"], list(&frame["events"]).first());
                if game == "tokyo" && decided.is_none_or(|event| event["type"] != "decided") {
                    assert_eq!(frame["scene"]["current"], *player, "step {step}");
                    let rolls = list(&frame["events"]).iter().filter(|event| event["type"] == "rolled");
                    assert!(rolls.clone().count() <= 1 && rolls.clone().all(|roll| roll["dice"] == *dice));
                }
                without_choice += u32::from(step > 0 && frame["choice"].is_null());
            }
            assert!(without_choice > 0, "the referee has rolled for somebody");
        }
    }
}

/// A roll is priced in the step that shows it.
#[test]
fn values_belong_to_the_player_of_their_step() {
    let films = [
        film(replay::<Table>(&["cautious", "greedy"], &[], 2)),
        film(replay::<Tokyo>(&["angry", "point-hunter"], &[], 3)),
        film(replay::<Race>(&["greedy", "random"], &[], 1)),
    ];
    for film in films {
        for entry in list(&film["values"]["entries"]).iter().filter(|entry| entry["type"] != "limit") {
            let frame = &film["frames"][entry["step"].as_u64().unwrap() as usize];
            assert_eq!(entry["seat"], frame["player"], "{}: {entry}", film["game"]);
            assert!(entry["type"] != "decision" || !frame["choice"].is_null());
        }
    }
}

#[test]
fn the_last_scene_is_the_outcome() {
    for seed in 0..10 {
        let table = film(replay::<Table>(&["greedy", "cautious", "random"], &[], seed));
        let last = &list(&table["frames"]).last().unwrap()["scene"];
        assert_eq!(last["view"]["scores"], table["outcome"]["scores"]);

        let tokyo = film(replay::<Tokyo>(&["angry", "point-hunter", "random"], &[], seed));
        let monsters = list(&list(&tokyo["frames"]).last().unwrap()["scene"]["monsters"]);
        let points: Vec<i64> = monsters.iter().map(|monster| monster["points"].as_i64().unwrap()).collect();
        assert_eq!(points, outcome(&tokyo).scores);
    }
}

#[test]
fn a_film_says_how_the_match_ended() {
    let solo = film(replay::<Solo>(&["greedy"], &[], 5));
    assert_eq!(solo["result"], format!("greedy 0: {}", solo["scores"][0].as_str().unwrap()));
    let race = film(replay::<Race>(&["greedy", "random"], &[], 5));
    let winner = outcome(&race).winners().next().unwrap();
    assert_eq!(race["result"], format!("{} wins", race["names"][winner.index()].as_str().unwrap()));
    // Where many win, the game itself says who.
    let bots = ["spreader"; 6];
    let mut parties = (0..20).map(|seed| film(replay::<Infection>(&bots, &[], seed)));
    let party = parties.find(|party| outcome(party).winners().count() > 1).unwrap();
    assert!(party["result"].as_str().unwrap().starts_with("The end: "), "{}", party["result"]);
    // Nothing moves in a single turn, so all who are left share the win.
    let battle = film(replay::<LastBullet>(&["stand-still"; 6], &["copies=9", "max_turns=1"], 1));
    assert_eq!(battle["result"], "6 share the win");
}

/// No view has the dice of a finished turn any more, so they are reconstructed from its rolls.
#[test]
fn ended_turns_show_the_dice_as_they_lay() {
    let (mut busted, mut ended) = (0, 0);
    for seed in 0..20 {
        let film = film(replay::<Race>(&["greedy", "random"], &[], seed));
        for frame in list(&film["frames"]) {
            let parts = |turn: &Value| ["seat", "why", "banked"].map(|part| turn[part].clone());
            let told = list(&frame["events"]).iter().filter(|event| event["type"] == "turn_ended");
            let turns = list(&frame["scene"]["ended"]);
            assert_eq!(turns.iter().map(parts).collect::<Vec<_>>(), told.map(parts).collect::<Vec<_>>());
            for turn in turns {
                ended += 1;
                let shotguns = turn["turn"]["shotguns"].as_u64().unwrap();
                if turn["why"] == "busted" {
                    busted += 1;
                    assert!(shotguns >= 3 && turn["banked"] == 0);
                } else {
                    assert!(shotguns < 3 && turn["banked"] == turn["turn"]["brains"]);
                }
            }
        }
    }
    assert!(busted > 10 && ended > 2 * busted, "{busted} of {ended}: the bots do both");
}

/// Scenes hold only what changed; together they make up the whole party.
#[test]
fn the_party_can_be_put_together_from_its_changes() {
    let bots = ["careful", "spreader", "random", "random", "spreader", "careful", "random", "spreader"];
    for seed in 0..8 {
        let film = film(replay::<Infection>(&bots, &["start_antibodies=2"], seed));
        let mut roles: Vec<Value> = vec![Value::Null; bots.len()];
        let frames = list(&film["frames"]);
        for frame in frames {
            for player in list(&frame["scene"]["changed"]) {
                roles[player["seat"].as_u64().unwrap() as usize] = player["role"].clone();
            }
            for event in list(&frame["events"]).iter().filter(|event| event["type"] == "announced") {
                let humans = roles.iter().filter(|role| **role != "zombie").count();
                assert_eq!(event["report"]["humans"], humans, "what is announced is what is shown");
            }
        }
        assert!(roles.iter().all(Value::is_string), "the set-up shows everybody");
        assert_eq!(frames.last().unwrap()["scene"]["turns"], film["outcome"]["turns"]);
    }
}

#[test]
fn values_add_up_and_their_marks_are_the_worst() {
    let films = [
        replay::<Race>(&["greedy", "random"], &[], 1),
        replay::<Table>(&["cautious", "greedy"], &[], 2),
        replay::<Tokyo>(&["angry", "point-hunter"], &[], 3),
        replay::<Solo>(&["random"], &[], 4),
    ];
    let number = |value: &Value| value.as_f64().unwrap();
    for packed in films {
        let film = film(packed);
        let (game, values) = (&film["game"], &film["values"]);
        assert_eq!(values["unit"] == "points", list(&film["names"]).len() == 1);
        let mut value = number(&values["start"]);
        let mut costs = Vec::new();
        for entry in list(&values["entries"]) {
            assert!((number(&entry["before"]) - value).abs() < 1e-9, "{game}: {value}, then {entry}");
            value = number(&entry["after"]);
            if entry["type"] == "decision" {
                let (options, best) = (list(&entry["options"]), number(&entry["best"]));
                assert!((best - number(&options[0]["value"])).abs() < 1e-12, "the best option comes first");
                let marked: Vec<_> = options.iter().filter(|option| option["chosen"] == true).collect();
                assert_eq!(marked.len(), 1, "{game}: {entry}");
                let (worth, regret) = (number(&entry["value"]), number(&entry["regret"]));
                assert!((number(&marked[0]["value"]) - worth).abs() < 1e-9);
                assert!((best - worth - regret).abs() < 1e-12);
                costs.push(regret);
            }
        }
        assert!((value - number(&values["result"])).abs() < 1e-9, "{game}");
        costs.sort_by(|a, b| b.total_cmp(a));
        let worst = list(&values["worst"]).iter().map(|place| {
            let entry = &values["entries"][place.as_u64().unwrap() as usize];
            assert_eq!(entry["type"], "decision");
            number(&entry["regret"])
        });
        let worst: Vec<f64> = worst.collect();
        assert_eq!(worst, costs[..worst.len()]);
        assert!(!worst.is_empty() || costs.iter().all(|cost| *cost < 1e-5));
    }
}

#[test]
fn games_that_are_not_solved_have_no_values() {
    for packed in [replay::<Table>(&["greedy", "cautious", "random"], &[], 1), short::<Infection>(1)] {
        assert_eq!(film(packed)["values"], Value::Null);
    }
}

async fn upload(site: &Site, packed: impl Into<Body>) -> Answer {
    let request = Request::builder().method(Method::POST).uri("/api/film");
    let request = request.header(header::CONTENT_TYPE, "application/octet-stream").body(packed.into());
    Visitor::stranger(site).send(request.unwrap()).await
}

/// Returns a replay with changed lines, packed again.
fn changed(packed: &[u8], change: impl Fn(&mut Vec<String>)) -> Vec<u8> {
    let mut text = String::new();
    zstd::Decoder::new(packed).unwrap().read_to_string(&mut text).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    zstd::encode_all(lines.join("\n").as_bytes(), 1).unwrap()
}

#[tokio::test]
async fn a_file_is_shown_and_other_files_are_refused_with_words() {
    let site = site();
    let good = replay::<Race>(&["greedy", "cautious"], &[], 3);
    let shown = upload(&site, good.clone()).await.ok();
    assert_eq!(shown["game"], "zombie-dice-race");
    assert_eq!(shown["steps"].as_u64().unwrap() + 1, shown["frames"].as_array().unwrap().len() as u64);

    let half = good[..good.len() / 2].to_vec();
    let cases: [(Vec<u8>, &str); 8] = [
        (Vec::new(), "not a necrodome replay"),
        (b"%PDF-1.7 not a replay".to_vec(), "not a necrodome replay"),
        (zstd::encode_all(&b"{\"format\":\"other\"}"[..], 1).unwrap(), "not a necrodome replay"),
        (
            changed(&good, |lines| lines[0] = lines[0].replace("zombie-dice-race", "chess")),
            "no game \"chess\"",
        ),
        (changed(&good, |lines| lines[0] = lines[0].replace("\"version\":1", "\"version\":9")), "version 9"),
        (changed(&good, |lines| drop(lines.pop())), "cut off"),
        (changed(&good, |lines| lines[0] = lines[0].replace("greedy 0", "someone")), "was changed"),
        (half, "replay"),
    ];
    for (packed, words) in cases {
        let told = upload(&site, packed).await.refused(400);
        assert!(told.contains(words), "expected {words:?}, got {told:?}");
    }
}

#[tokio::test]
async fn too_large_is_said_before_it_is_read() {
    let replay = Bounds { packed: 1000, ..Size::PAGE.replay };
    let limits = Limits { film: Size { replay, ..Size::PAGE }, ..config().limits };
    let site = Site::open(necrodome_server::Config { limits, ..config() }).unwrap();
    assert!(upload(&site, vec![0; 2000]).await.refused(413).contains("at most"));
}

/// A small file can unpack to a huge one, so unpacking stops early.
#[tokio::test]
async fn a_bomb_is_refused() {
    let good = replay::<Race>(&["greedy", "cautious"], &[], 3);
    let bomb = changed(&good, |lines| lines[1] = " ".repeat(300 << 20));
    assert!(bomb.len() < 1 << 20, "it is small: {}", bomb.len());
    let told = upload(&site(), bomb).await.refused(413);
    assert!(told.contains("too large"), "{told}");
}

/// Names come from other people and may contain anything.
#[test]
fn a_name_cannot_break_out_of_a_page() {
    let evil = "</script><script>alert(1)</script>".to_owned();
    let packed = replay_of::<Race>(&["greedy", "cautious"], &[evil.clone(), "<!--".to_owned()], &[], 3);
    let film = necrodome_server::film::film(packed, &Size::FILE).unwrap();
    assert!(film.title.contains(&evil), "{}", film.title);
    // Without the pages there is nothing to write; the parts of the page are tested where they are put together.
    let Some(page) = necrodome_server::film::page(&[film]) else { return };
    assert!(!page.contains("<script>alert(1)"), "the name has left its place");
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("Content-Security-Policy"));
}

static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| replay::<Tokyo>(&["angry", "point-hunter"], &[], 3));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is sent, the answer is a film or a refusal, never a panic.
    #[test]
    fn damaged_files_are_refused_or_shown(at in 0.0..1.0, with in any::<u8>(), line in 0usize..200, cut in 0usize..400) {
        let good = &*GOOD;
        let mut damaged = good.clone();
        let place = (at * damaged.len() as f64) as usize;
        damaged[place] ^= with;
        let _ = filmed(damaged);
        let damaged = changed(good, |lines| {
            let line = line % lines.len();
            let keep = lines[line].char_indices().map(|(i, _)| i).nth(cut).unwrap_or(0);
            lines[line].truncate(keep);
        });
        prop_assert!(filmed(damaged).is_err(), "a line that was cut is missed");
    }
}
