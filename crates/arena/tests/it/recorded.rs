//! The same seeds give the same results, and old replays prove themselves: what was recorded by an earlier version holds.

use necrodome_arena::{
    entry::EntrySpec,
    process::Limits,
    replay::unpack,
    tournament::{Format, Plan, PlannedEntry, Schedule, Store, natural_seats, report, run},
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    options::{parse, split_pair},
    with_game,
};
use std::{fs, path::Path, sync::atomic::AtomicBool};

/// Game, format, entries, and the hash of a tournament of 6 blocks with seed 42.
const HASHES: [(&str, &str, &str, &str); 15] = [
    (
        "zombie-dice",
        "table",
        "greedy cautious random",
        "5033ce7f3d56de68f2dc9dc56051e4fdd13172144968e0e19ad4bccfc2163ef0",
    ),
    (
        "zombie-dice",
        "round-robin",
        "greedy cautious random",
        "9e0ff7069faa44937f6b5b5c0735670646bf8306a2fca4686a74751415fb112f",
    ),
    (
        "zombie-dice",
        "gauntlet",
        "greedy cautious random",
        "cb24b86f717d3530d11dcd652680fc488a278a6aabc90de3d59552a819cc58a4",
    ),
    (
        "zombie-dice-solo",
        "round-robin",
        "greedy cautious random",
        "5e24d6d5f38477157885ba2875f92a61c9f77cdff16256b85fc4398b652bf9d7",
    ),
    (
        "zombie-dice-race",
        "round-robin",
        "greedy cautious optimal",
        "6f9e7a9adca6f95bcd77f99984b86d64e17f9e8f508acd13b32178b4fbcd021c",
    ),
    (
        "zombie-dice-race",
        "gauntlet",
        "greedy cautious random",
        "974f1050cbe50b70d793a1a2e9d899a9c3086c67bde78cdc0b9d1a85e413d0a6",
    ),
    (
        "tokyo",
        "table",
        "angry point-hunter random",
        "5d4423e9d6f775af1befd67bc8007665a555683c13daba2081d34ccf099290da",
    ),
    (
        "tokyo",
        "round-robin",
        "angry point-hunter optimal",
        "beea30dc33783b82328f7b481a5b44f8e1d7eee1675d1134c20961ead4ed8929",
    ),
    (
        "tokyo",
        "gauntlet",
        "angry point-hunter random",
        "0fbb207e14376ecee4165fdb61588f5de8b259e4a24583512cdfa3eb27adf61e",
    ),
    (
        "tokyo",
        "battle",
        "angry point-hunter random",
        "a89e6cd1014ab26efc4da2592c8606b3a013b9c1e60264b5713f45fbf22c5d7a",
    ),
    (
        "infection",
        "table",
        "careful spreader random random",
        "205e5c1b4471e932287f2ce4dd578e34ee9c4746ee5434e332f71c4f650d6004",
    ),
    (
        "infection",
        "round-robin",
        "careful spreader random",
        "98f861ca74320d0989a1921c41b45fb38c79cf65496f1e3a8cbab2a70ad3312c",
    ),
    (
        "last-bullet",
        "battle",
        "gunner runner huddle",
        "cb52cae0f571409ade8b4a47960af22e4482dfd37b67c339b74ab4f067dc0bbd",
    ),
    (
        "last-bullet",
        "table",
        "gunner runner huddle",
        "cf08cace76cc7b40264f15ccc88ab7bd8645dd4bcc305b374c1c49683dab8033",
    ),
    (
        "last-bullet",
        "round-robin",
        "gunner runner huddle",
        "f74523ded7e0a1f365f9fa875dbd7d073e10c95e12a8ee0cf4ae4250ff0d5da5",
    ),
];

fn hash<G: Listed>(format: Format, bots: &str) -> String {
    let entries: Vec<EntrySpec> =
        bots.split(' ').map(|bot| EntrySpec::parse(bot, Path::new(".")).unwrap()).collect();
    let names = Vec::from(necrodome_arena::entry::name_all(&entries).unwrap());
    let settings: &[&str] = if G::ID == "last-bullet" { &["copies=5", "max_turns=60"] } else { &[] };
    let settings: Vec<_> = settings.iter().map(|pair| split_pair(pair).unwrap()).collect();
    let rules: G::Rules = parse(&settings).unwrap();
    let plan = Plan {
        game: G::ID.into(),
        options: serde_json::to_value(&rules).unwrap(),
        entries: names
            .into_iter()
            .zip(bots.split(' '))
            .map(|(name, bot)| PlannedEntry { name, bot: bot.into() })
            .collect(),
        format,
        seats: natural_seats(format, entries.len(), G::SEATS),
        blocks: 6,
        seed: 42,
        until_decided: false,
        limits: Limits::default(),
    };
    let mut store = Store::in_memory(&plan).unwrap();
    run(&plan, &entries, &"unused".into(), &mut store, 2, &AtomicBool::new(false), &mut |_| {}).unwrap();
    report(&plan, &Schedule::new(&plan, G::SEATS).unwrap(), &store).unwrap().hash
}

#[test]
fn the_same_seed_gives_the_same_tournament_as_ever() {
    for (game, format, bots, expected) in HASHES {
        let id: GameId = game.parse().unwrap();
        let format = Format::named(format).unwrap();
        let came = with_game!(id, G => hash::<G>(format, bots));
        assert_eq!(came, expected, "{game}, {}", format.as_str());
    }
}

#[test]
fn replays_of_earlier_versions_prove_themselves() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/recorded");
    for id in GameId::ALL {
        let packed = fs::read(folder.join(format!("{id}.replay"))).unwrap();
        let unpacked = unpack(packed.as_slice()).unwrap();
        with_game!(id, G => unpacked.parse::<G>().unwrap().play(|_, _, _| Ok(()))).unwrap();
    }
}
