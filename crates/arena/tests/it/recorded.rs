//! The same seeds give the same results, and old replays prove themselves: recordings of earlier versions still hold.

use necrodome_arena::{
    entry::EntrySpec,
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
        "6eb3e4cfb4be0e864a89756848086eed4571017985c5818a8a23da44f0e4b1b6",
    ),
    (
        "zombie-dice",
        "round-robin",
        "greedy cautious random",
        "5d4d85c1bf470470ae06521741fff304a9c8ea0e6f0b3e498c408c40d85f1ca3",
    ),
    (
        "zombie-dice",
        "gauntlet",
        "greedy cautious random",
        "e655d286789a7c2fb2df1719c439181b9ef5d73268026a3888652eed19925a0f",
    ),
    (
        "zombie-dice-solo",
        "round-robin",
        "greedy cautious random",
        "8949c9985e046e89447c853ca9c4c9792ca4ad0763cba99ab4dcde25729b9358",
    ),
    (
        "zombie-dice-race",
        "round-robin",
        "greedy cautious optimal",
        "438441564b36ace02ea6f25eeeec832e4b38be8b610c236dac8c5171e3c26f67",
    ),
    (
        "zombie-dice-race",
        "gauntlet",
        "greedy cautious random",
        "7cbcc792058a29517bad34f05584c7b0e6ae53b07fbe47f669db5d1c1cec359b",
    ),
    (
        "tokyo",
        "table",
        "angry point-hunter random",
        "2596296a9ea27a190763ba266ebe216a322a18c34f7dd6bd065ada2e07e6bbb7",
    ),
    (
        "tokyo",
        "round-robin",
        "angry point-hunter optimal",
        "5066600fc2da92c0c73954ac3e1f59c7a1eacff8f67a8c5155eb88c2c8d68296",
    ),
    (
        "tokyo",
        "gauntlet",
        "angry point-hunter random",
        "b9c3f7f1fe2d24abf7eccab584010a11d07852e90fee65900f6d47271787b0cc",
    ),
    (
        "tokyo",
        "battle",
        "angry point-hunter random",
        "a84af42209c666c95178db6b018b20a7e315e8b23f6030264c065cdd70a42458",
    ),
    (
        "infection",
        "table",
        "careful spreader random random",
        "aed6cb7f68d62e7b796d913eaad88891a004866cab38e06dd9837732b76bf32d",
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
        "38be15959ea0838b2469fb22c70d3ae45952b0a4005b683467cae0b23e326a10",
    ),
    (
        "last-bullet",
        "table",
        "gunner runner huddle",
        "cc9978b8f137e538bad40d912c5e3c1676b676d1d8425c19340f81e02497e708",
    ),
    (
        "last-bullet",
        "round-robin",
        "gunner runner huddle",
        "caf37cee924252a090fd65ba339bd811cb4c40bc477590caeb238580e54cd3f2",
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
        options: serde_json::to_value(&rules).unwrap(),
        ..Plan::new(
            G::ID,
            names.into_iter().zip(bots.split(' ')).map(|(name, bot)| PlannedEntry::new(name, bot)).collect(),
            format,
            natural_seats(format, entries.len(), G::SEATS),
            6,
            42,
        )
    };
    let mut store = Store::in_memory(&plan).unwrap();
    run(&plan, &entries, &"unused".into(), &mut store, 2, &AtomicBool::new(false), &mut |_| {}).unwrap();
    report(&plan, &Schedule::new(&plan, G::SEATS).unwrap(), &store).unwrap().hash.unwrap()
}

#[test]
fn the_same_seed_gives_the_same_tournament_as_ever() {
    let changed = HASHES.into_iter().filter_map(|(game, format, bots, expected)| {
        let id: GameId = game.parse().unwrap();
        let came = with_game!(id, G => hash::<G>(Format::named(format).unwrap(), bots));
        (came != expected).then_some((game, format, expected, came))
    });
    let changed: Vec<_> = changed.collect();
    assert!(changed.is_empty(), "{changed:#?}");
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
