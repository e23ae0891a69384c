//! Replays prove themselves: a replay of a real match verifies, and nothing else does. Changed, cut, foreign and random files give
//! an error that says what is wrong, never a panic.

use necrodome_arena::{
    lineup::built_in,
    player::{BuiltInPlayer, Player},
    replay::{Bounds, Moment, Replay, ReplayError, open, unpack, unpack_within},
    run::{Finished, run_match},
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    chance::Seeded,
    last_bullet::LastBullet,
    names::Names,
    options::{parse, split_pair},
    tokyo::Tokyo,
    with_game,
    zombie_dice::Table,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::{
    io::{self, Read, Write},
    path::Path,
    sync::LazyLock,
    time::Duration,
};

/// A match between built-in bots.
fn play<G: Listed>(bots: &[&str], settings: &[&str], seed: u64) -> Finished<G> {
    let settings: Vec<_> = settings.iter().map(|pair| split_pair(pair).unwrap()).collect();
    let rules: G::Rules = parse(&settings).unwrap();
    let names = Names::new(bots.iter().enumerate().map(|(seat, bot)| format!("{bot} {seat}"))).unwrap();
    let mut players: Vec<Box<dyn Player<G>>> = Vec::new();
    for (seat, bot) in bots.iter().enumerate() {
        let bot =
            built_in::<G>(&bot.parse().unwrap(), &rules, Seeded::new(seed, "bot", seat as u64)).unwrap();
        players.push(Box::new(BuiltInPlayer(bot)));
    }
    run_match(&names, &rules, seed, &mut players, |_, _| {}).unwrap()
}

/// Everybody who plays a game out of the box, in a short match.
fn play_short<G: Listed>(seed: u64) -> Finished<G> {
    let all: Vec<&str> = G::built_ins().iter().map(|bot| bot.name).collect();
    let seats = all.len().clamp(*G::SEATS.start(), (*G::SEATS.end()).min(6));
    let bots: Vec<&str> = all.iter().cycle().take(seats).copied().collect();
    let settings: &[&str] = match G::ID {
        "last-bullet" => &["copies=3", "max_turns=12"],
        "infection" => &["max_turns=2", "start_antibodies=2"],
        _ => &[],
    };
    play(&bots, settings, seed)
}

/// Reads a replay as whoever has one does: the file says which game it is.
fn read<G: Listed>(packed: &[u8]) -> Result<Replay<G>, ReplayError> {
    let unpacked = unpack(packed)?;
    if unpacked.game != G::ID {
        return Err(ReplayError::Foreign(unpacked.game));
    }
    unpacked.parse()
}

/// Reads a replay and plays it again.
fn verify<G: Listed>(packed: &[u8]) -> Result<(), ReplayError> {
    read::<G>(packed)?.play(|_, _, _| Ok(()))
}

fn try_text(packed: &[u8]) -> io::Result<String> {
    let mut text = String::new();
    zstd::Decoder::new(packed)?.read_to_string(&mut text)?;
    Ok(text)
}

fn text(packed: &[u8]) -> String {
    try_text(packed).unwrap()
}

/// The lines of a replay: header, steps, end.
fn lines(packed: &[u8]) -> Vec<Value> {
    text(packed).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn pack_text(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 1).unwrap()
}

fn pack_lines(lines: &[Value]) -> Vec<u8> {
    pack_text(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())
}

fn round_trip<G: Listed>() {
    for seed in 0..5 {
        let finished = play_short::<G>(seed);
        assert!(finished.faults.is_empty(), "{}: {:?}", G::ID, finished.faults);
        let packed = finished.recording.pack().unwrap();
        assert_eq!(unpack(packed.as_slice()).unwrap().game, G::ID);
        let replay = read::<G>(&packed).unwrap();
        assert_eq!(replay.outcome, finished.outcome);
        assert_eq!(replay.steps, finished.recording.steps() as usize);
        let mut seen = Vec::new();
        let mut last = None;
        let played = replay.play(|step, game, _| {
            seen.push(step);
            last = game.outcome();
            Ok(())
        });
        played.unwrap_or_else(|error| panic!("{} seed {seed}: {error}", G::ID));
        assert_eq!(seen, (0..=replay.steps).collect::<Vec<_>>());
        assert_eq!(last, Some(finished.outcome));
        replay.check_dice(seed.into()).unwrap();
        // Who stops at once throws no dice, and the first few may be the same.
        let mut picks = 0;
        let count = |moment: Moment<G>| {
            picks += moment.step.map_or(0, |step| step.picks.len());
            Ok(())
        };
        replay.follow(count).unwrap();
        if picks > 5 {
            let other = replay.check_dice((seed + 1).into());
            assert!(matches!(other, Err(ReplayError::Dice { .. })), "{} has the dice of two seeds", G::ID);
        }
    }
}

#[test]
fn every_game_comes_back_as_it_was_played() {
    for id in GameId::ALL {
        with_game!(id, G => round_trip::<G>());
    }
}

#[test]
fn the_watcher_can_stop_it() {
    let packed = play_short::<Tokyo>(1).recording.pack().unwrap();
    let error = read::<Tokyo>(&packed).unwrap().play(|step, _, _| match step {
        3 => Err(io::Error::other("seen enough")),
        _ => Ok(()),
    });
    assert_eq!(error.unwrap_err().to_string(), "seen enough");
}

/// The ways to all values inside a line that hold no others.
fn leaves(value: &Value, way: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| leaves(item, format!("{way}/{i}"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, item)| leaves(item, format!("{way}/{name}"), found));
        }
        _ => found.push(way),
    }
}

/// Another value of the same type.
fn changed(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => json!(number.as_f64().unwrap() / 2.0),
        Value::Number(number) => json!(number.as_i64().unwrap() ^ 1),
        Value::String(text) => json!(format!("{text}x")),
        Value::Bool(flag) => json!(!flag),
        other => json!([other]),
    }
}

/// Changes each value in each line on its own. Gives those whose change was not noticed.
fn unnoticed<G: Listed>(seed: u64) -> Vec<String> {
    let original = lines(&play_short::<G>(seed).recording.pack().unwrap());
    verify::<G>(&pack_lines(&original))
        .expect("the same content, packed by someone else, is the same replay");
    let mut unnoticed = Vec::new();
    for (number, line) in original.iter().enumerate() {
        let mut ways = Vec::new();
        leaves(line, String::new(), &mut ways);
        for way in ways {
            let mut lines = original.clone();
            let place = lines[number].pointer_mut(&way).unwrap();
            *place = changed(place);
            if verify::<G>(&pack_lines(&lines)).is_ok() {
                unnoticed.push(format!(
                    "{} line {}: {way} = {}",
                    G::ID,
                    number + 1,
                    line.pointer(&way).unwrap()
                ));
            }
        }
    }
    unnoticed
}

#[test]
fn names_options_and_reasons_are_part_of_what_is_proved() {
    let mut original = lines(&play_short::<Table>(1).recording.pack().unwrap());
    original[0]["entries"].as_array_mut().unwrap().swap(0, 1);
    verify::<Table>(&pack_lines(&original)).expect_err("the winner has another name");
    let mut original = lines(&play_short::<Table>(1).recording.pack().unwrap());
    original[1]["reasons"] = json!(["because I was told to"]);
    verify::<Table>(&pack_lines(&original)).expect_err("words were put into a mouth");
}

#[test]
fn a_single_changed_value_is_noticed() {
    let all: Vec<String> =
        GameId::ALL.into_iter().flat_map(|id| with_game!(id, G => unnoticed::<G>(1))).collect();
    assert!(all.is_empty(), "changes that were not noticed:\n{}", all.join("\n"));
}

/// Leaves out, doubles and swaps whole lines and single picks.
fn rearranged<G: Listed>(seed: u64) {
    let original = lines(&play_short::<G>(seed).recording.pack().unwrap());
    verify::<G>(&pack_lines(&original)).expect("nothing was changed yet");
    let refuse = |what: &str, number: usize, lines: &[Value]| {
        let is_noticed = lines == original || verify::<G>(&pack_lines(lines)).is_err();
        assert!(is_noticed, "{}, line {}: {what} was not noticed", G::ID, number + 1);
    };
    for (number, line) in original.iter().enumerate() {
        let mut lines = original.clone();
        lines.remove(number);
        refuse("left out", number, &lines);
        let mut lines = original.clone();
        lines.insert(number, line.clone());
        refuse("doubled", number, &lines);
        if number + 1 < original.len() {
            let mut lines = original.clone();
            lines.swap(number, number + 1);
            refuse("swapped with the next", number, &lines);
        }
        if line["picks"].is_array() {
            let mut lines = original.clone();
            lines[number]["picks"].as_array_mut().unwrap().push(json!(0));
            refuse("a pick more", number, &lines);
            let mut lines = original.clone();
            lines[number]["picks"].as_array_mut().unwrap().pop();
            refuse("a pick less", number, &lines);
        }
    }
}

#[test]
fn lines_and_picks_left_out_doubled_or_swapped_are_noticed() {
    for id in GameId::ALL {
        with_game!(id, G => rearranged::<G>(2));
    }
}

#[test]
fn each_kind_of_change_has_an_error_of_its_own() {
    let original = lines(&play_short::<Tokyo>(3).recording.pack().unwrap());
    let error = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut lines = original.clone();
        change(&mut lines);
        verify::<Tokyo>(&pack_lines(&lines)).unwrap_err().to_string()
    };
    let last = original.len() - 1;
    let cases: [(&str, String); 13] = [
        (
            "format version 2, and this necrodome reads version 1",
            error(&|lines| lines[0]["version"] = json!(2)),
        ),
        ("this is not a necrodome replay (chess)", error(&|lines| lines[0]["format"] = json!("chess"))),
        ("line 1 of the replay: ", error(&|lines| lines[0]["options"] = json!({"fast": true}))),
        ("line 1 of the replay: ", error(&|lines| lines[0]["entries"] = json!(["a", "A"]))),
        ("the replay's set-up is refused: ", error(&|lines| lines[0]["entries"] = json!(["alone"]))),
        ("line 3 of the replay: ", error(&|lines| lines[2]["moves"] = json!("all"))),
        ("step 2 of the replay is against the rules: ", error(&|lines| lines[2]["moves"] = json!([]))),
        ("step 0 of the replay: ", error(&|lines| lines[0]["picks"] = json!([]))),
        ("the replay is cut off after", error(&|lines| drop(lines.pop()))),
        ("the match is over", error(&|lines| lines.insert(last, lines[last - 1].clone()))),
        ("stops before the match is over", error(&|lines| drop(lines.remove(last - 1)))),
        ("it ends differently than it says", error(&|lines| lines[last]["end"]["turns"] = json!(1))),
        ("it has other ", error(&|lines| lines[last]["hash"] = json!("0".repeat(64)))),
    ];
    for (expected, error) in cases {
        assert!(error.contains(expected), "expected {expected:?}, got {error:?}");
    }
}

#[test]
fn foreign_files_are_refused_as_such() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice();
    let zstd_of_text = pack_text("brains!\nbrains!\n");
    let zstd_of_nothing = pack_text("");
    let other_json = pack_text("{\"game\":\"tokyo\"}\n");
    for file in [b"".as_slice(), b"brains", png, &zstd_of_text, &zstd_of_nothing, &other_json] {
        let error = unpack(file).unwrap_err();
        assert!(matches!(error, ReplayError::Foreign(_)), "{error:?}");
        assert!(error.to_string().starts_with("this is not a necrodome replay"), "{error}");
    }
    let missing = open(Path::new("/no/such/file.replay")).unwrap_err();
    assert!(
        matches!(missing, ReplayError::Io(_)) && missing.to_string().contains("No such file"),
        "{missing}"
    );
}

/// A small file can hold a lot, so it is read up to a bound and no further.
#[test]
fn what_is_larger_than_the_bounds_is_refused() {
    let packed = play::<LastBullet>(&["runner", "gunner"], &["copies=20"], 1).recording.pack().unwrap();
    let text = text(&packed);
    let longest = text.split_inclusive('\n').map(str::len).max().unwrap();
    let exact = Bounds {
        packed: packed.len(),
        unpacked: text.len() as u64,
        line: longest as u64,
        steps: text.lines().count() - 2,
        time: Duration::MAX,
    };
    let read = |bounds: &Bounds| {
        let replay: Replay<LastBullet> = unpack_within(packed.as_slice(), bounds)?.parse()?;
        replay.play(|_, _, _| Ok(()))
    };
    read(&exact).unwrap();
    for (bounds, words) in [
        (Bounds { packed: exact.packed - 1, ..exact }, "expected a file of at most"),
        (Bounds { unpacked: exact.unpacked - 1, ..exact }, "when unpacked"),
        (Bounds { line: exact.line - 1, ..exact }, "line "),
        (Bounds { steps: exact.steps - 1, ..exact }, "steps"),
        (Bounds { time: Duration::ZERO, ..exact }, "it takes longer than 0 seconds"),
    ] {
        let error = read(&bounds).unwrap_err();
        assert!(matches!(error, ReplayError::TooLarge(_)), "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
    }
    // What looks back too far takes too much memory to unpack.
    let mut far = zstd::Encoder::new(Vec::new(), 1).unwrap();
    far.window_log(24).unwrap();
    far.write_all(text.as_bytes()).unwrap();
    assert!(matches!(unpack(far.finish().unwrap()), Err(ReplayError::Foreign(_))));
}

#[test]
fn a_replay_of_another_game_does_not_verify() {
    let packed = play_short::<Tokyo>(1).recording.pack().unwrap();
    let error = unpack(packed.as_slice()).unwrap().parse::<Table>().unwrap_err();
    assert!(error.to_string().contains("line 1 of the replay"), "{error}");
}

/// A replay of each game, packed.
static PACKED: LazyLock<Vec<(GameId, Vec<u8>)>> = LazyLock::new(|| {
    let pack = |id| (id, with_game!(id, G => play_short::<G>(4).recording.pack().unwrap()));
    GameId::ALL.into_iter().map(pack).collect()
});

fn verify_as(id: GameId, packed: &[u8]) -> Result<(), ReplayError> {
    with_game!(id, G => verify::<G>(packed))
}

#[test]
fn a_file_that_was_cut_is_refused_wherever_the_cut_is() {
    for (id, packed) in PACKED.iter() {
        let step = (packed.len() / 300).max(1);
        for length in (0..packed.len()).step_by(step).chain(packed.len().saturating_sub(40)..packed.len()) {
            let cut = verify_as(*id, &packed[..length]);
            let is_clear = matches!(cut, Err(ReplayError::Foreign(_) | ReplayError::Cut { .. }));
            assert!(is_clear, "{id}: {length} of {} bytes: {cut:?}", packed.len());
        }
        // Cut before it was packed: in the middle of a line, or after one.
        let text = text(packed);
        for length in (1..text.len() - 1).step_by((text.len() / 200).max(1)) {
            let cut = verify_as(*id, &pack_text(&text[..length]));
            let is_clear = matches!(cut, Err(ReplayError::Foreign(_) | ReplayError::Cut { .. }));
            assert!(is_clear, "{id}: {length} of {} bytes of text: {cut:?}", text.len());
        }
    }
}

#[test]
fn what_is_appended_is_noticed() {
    for (id, packed) in PACKED.iter() {
        for more in [b"\n".as_slice(), b"brains", &packed[..20], packed, &pack_text("{}\n")] {
            let longer = [packed.as_slice(), more].concat();
            assert!(verify_as(*id, &longer).is_err(), "{id}: {} bytes more", more.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_foreign(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let error = unpack(bytes.as_slice()).unwrap_err();
        prop_assert!(matches!(error, ReplayError::Foreign(_)), "{error}");
    }

    #[test]
    fn random_lines_are_refused(header in any::<bool>(), lines in proptest::collection::vec("\\PC{0,60}", 0..8)) {
        for (id, packed) in PACKED.iter() {
            let text = text(packed);
            let first = if header { text.lines().next().unwrap() } else { "{}" };
            let file = pack_text(&format!("{first}\n{}", lines.join("\n")));
            prop_assert!(verify_as(*id, &file).is_err());
        }
    }

    #[test]
    fn a_changed_byte_is_noticed_or_changes_nothing_that_is_read(
        game in 0..GameId::ALL.len(), at in any::<prop::sample::Index>(), to in any::<u8>(),
    ) {
        let (id, packed) = &PACKED[game];
        let mut bytes = packed.clone();
        let at = at.index(bytes.len());
        bytes[at] = to;
        if verify_as(*id, &bytes).is_ok() {
            prop_assert_eq!(try_text(&bytes).ok(), Some(text(packed)));
        }
    }

    #[test]
    fn a_changed_character_is_noticed_or_means_the_same(
        game in 0..GameId::ALL.len(), at in any::<prop::sample::Index>(), to in "[ -~]",
    ) {
        let (id, packed) = &PACKED[game];
        let mut changed = text(packed);
        let at = at.index(changed.len());
        changed.replace_range(at..=at, &to);
        let file = pack_text(&changed);
        if verify_as(*id, &file).is_ok() {
            prop_assert_eq!(lines(&file), lines(packed));
        }
    }
}

#[test]
fn a_large_match_of_last_bullet_stays_small() {
    const TURNS: usize = 3000;
    const LIMIT: usize = 5_000_000;
    let kinds = ["gunner", "runner", "huddle", "wander"];
    let bots: Vec<&str> = kinds.into_iter().cycle().take(20).collect();
    let finished = play::<LastBullet>(&bots, &["copies=50"], 1);
    let packed = finished.recording.pack().unwrap();
    let turns = finished.outcome.turns as usize;
    // The first turns, with all copies alive, are the largest: a long match needs less for each.
    let per_turn = packed.len().div_ceil(turns);
    println!("{turns} turns, {} bytes, {per_turn} bytes a turn", packed.len());
    assert!(per_turn * TURNS < LIMIT, "{per_turn} bytes a turn, {turns} turns, {} bytes", packed.len());
    verify::<LastBullet>(&packed).unwrap();
}
