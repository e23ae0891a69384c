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

/// A race of three, or what is made of it.
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

/// The hash of the tournament on one machine, and how many blocks it took.
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

    /// The shard in a store of its own.
    fn merge(&self, shards: &[&Shard]) -> Result<Merged, PartError> {
        let files: Vec<PathBuf> =
            shards.iter().enumerate().map(|(number, shard)| self.keep(shard, &number.to_string())).collect();
        merge(&self.path("store"), &files, None, &mut |_| {})
    }
}

/// The last byte of the first block belongs to a score: another one is a forgery that nobody sees.
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

/// Whoever writes a shard can make its hash fit. Nothing in it may break a store.
#[test]
fn a_shard_that_lies_about_its_contents_is_refused() {
    let file = race();
    type Lie = fn(&mut Shard);
    let lies: [(&str, Lie); 11] = [
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
    ];
    for (expected, lie) in lies {
        let mut shard = played(&file, 0..4);
        lie(&mut shard);
        let error = Shard::parse(&shard.bytes().unwrap(), Path::new("x")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// The same shard with other words in its header, and a hash that fits.
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

/// Whoever makes the hash fit can change any byte of what is inside, and leave any of them out: it is read or refused, and merged or
/// refused, and nothing breaks.
#[test]
fn any_byte_of_a_shard_can_be_forged() {
    let bytes = played(&race(), 0..2).bytes().unwrap();
    let start = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1;
    let body = zstd::decode_all(&bytes[start..bytes.len() - blake3::OUT_LEN]).unwrap();
    let mut header: serde_json::Value = serde_json::from_slice(&bytes[18..start]).unwrap();
    let mut sealed = |body: &[u8]| {
        header["size"] = body.len().into();
        let mut bytes = [format!("necrodome-shard 1\n{header}\n").as_bytes(), body].concat();
        bytes.extend(blake3::hash(&bytes).as_bytes());
        bytes
    };
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
        let mut merger = Merger { archive: Archive::in_memory().unwrap(), open: None };
        merger.add(vec![(shard, PathBuf::from("x"))]).unwrap();
        let (plan, store) = merger.tournament().unwrap();
        let schedule = Schedule::of(plan).unwrap();
        super::super::report(plan, &schedule, store).unwrap();
    }
}

/// A shard with the same few results again and again: 28 MB of them.
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

/// What becomes much smaller when it is compressed is left as it is: whoever reads it would take it for a bomb.
#[test]
fn the_same_result_a_million_times_can_be_written_and_read() {
    let shard = repeated();
    let again = Shard::parse(&shard.bytes().unwrap(), Path::new("x")).unwrap();
    assert_eq!(again.rows.chunks[0].results, shard.rows.chunks[0].results);
}

/// What lies on the disk in the middle of a merge is what a kill would leave.
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
    let all = merger.take(&mut shards).unwrap();
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

/// A store has blocks of many machines: the one that played the block is named.
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
    forge(&mut forged, 7);
    let error = folder.merge(&[&forged]).unwrap_err().to_string();
    assert!(error.contains("once by bob") && error.contains("once by mallory"), "{error}");
}

/// A shard that waits is not sealed like the rows of tournaments: it is checked when its time has come.
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

/// A tournament that stops when it is decided stops at the same block, whatever was played beyond it.
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

#[test]
fn an_audit_finds_misbehaviour_that_was_made_up() {
    let (file, folder) = (race(), Folder::new());
    let mut forged = played(&file, 0..BLOCKS);
    let faults = r#"[{"seat":0,"step":1,"kind":"crash","detail":"\u001b[2Jit crashed"}]"#.to_owned();
    forged
        .rows
        .details
        .insert(0, super::super::store::DetailRow { block: 4, number: 0, faults, replay: None });
    folder.merge(&[&forged]).unwrap();
    let (store, plan) = Archive::read(&folder.path("store")).unwrap().stores().unwrap().pop().unwrap();
    let stop = AtomicBool::new(false);
    let audit = audit(&store, &file, &nobody(), (BLOCKS, 1.into()), &stop, &mut |_, _| {}).unwrap();
    assert_eq!(audit.differ.iter().map(|differ| differ.block).collect::<Vec<_>>(), [4]);
    // And no escape sequence reaches a terminal.
    let report = super::super::report(&plan, &Schedule::of(&plan).unwrap(), &store).unwrap();
    assert!(!report.trouble.faults[0].first.contains('\u{1b}'));
    assert!(report.trouble.faults[0].first.contains("?[2Jit crashed"));
}

#[test]
fn what_a_store_says_gives_nothing_away() {
    let sent = planned(|plan| {
        plan.sandbox = Some(crate::process::Level::Limits);
        plan.gifts.network = true;
    });
    let folder = Folder::new();
    folder.merge(&[&played(&race(), 0..2)]).unwrap();
    let (store, _) = Archive::read(&folder.path("store")).unwrap().stores().unwrap().pop().unwrap();
    let heard = PlanFile::of_store(sent.plan(), &store, None).unwrap();
    let error = heard.launcher(nobody()).unwrap_err().to_string();
    assert!(error.contains("name the plan that you wrote (--plan)"), "{error}");
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

/// A small zip file can have megabytes of zeros, and lie about them.
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
