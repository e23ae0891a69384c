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
        merge(&self.path("store"), &files, None)
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
fn a_plan_is_read_as_it_was_written_and_not_when_it_was_edited() {
    let folder = Folder::new();
    let file = planned(|plan| plan.seed = necrodome_rules::chance::Seed::new(u128::MAX));
    let text = file.text(&folder.path("")).unwrap();
    let write = |text: &str| std::fs::write(folder.path("plan.toml"), text).unwrap();
    write(&text);
    let again = PlanFile::read(&folder.path("plan.toml")).unwrap();
    assert_eq!((again.plan(), again.id()), (file.plan(), file.id()));
    for (from, to) in
        [("blocks = 40", "blocks = 41"), ("cautious", "careful"), ("seats = 2", "seats = \"2\"")]
    {
        write(&text.replacen(from, to, 1));
        let error = PlanFile::read(&folder.path("plan.toml")).unwrap_err();
        assert!(matches!(error, PartError::Edited { .. }), "{error}");
    }
    for text in ["", "a = 1", "[plan", "\0"] {
        write(text);
        assert!(matches!(PlanFile::read(&folder.path("plan.toml")).unwrap_err(), PartError::Foreign { .. }));
    }
}
