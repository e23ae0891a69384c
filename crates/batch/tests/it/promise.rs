//! The promises of all batches: seeds and saved states stay the same in every version, a reset writes everything.

use crate::{
    arrays::{Arrays, batch},
    last_bullet,
};
use necrodome_batch::{
    batched::{Autoreset, Batched},
    kernel::Kernel,
    last_bullet::LastBulletBatch,
    stream::Stream,
    tokyo::{TokyoBatch, TokyoKernel},
    zombie_dice::{DiceKernel, RaceBatch, RaceFormat, SoloBatch, SoloFormat, TableBatch, TableFormat},
};
use necrodome_rules::chance::Chance;

/// The checksums of everything that a reset and some steps write, and of the state after them.
fn checksums<K: Kernel<Cell: Into<i64>>>(mut batch: Batched<K>, mode: Autoreset) -> (u32, u32) {
    let mut arrays = Arrays::new(&batch, K::Cell::default());
    let mut masks = vec![false; arrays.rows * batch.actions()];
    let mut chance = Stream::new(4);
    let mut hasher = crc32fast::Hasher::new();
    batch.autoreset = mode;
    (0..batch.matches()).for_each(|one| batch.seed(one, 40 + one as u64));
    batch.reset(None, &mut arrays.out());
    for step in 0..200 {
        if step > 0 {
            let action = |_| chance.uniform(batch.actions() as u32) as u8;
            let actions: Vec<u8> = (0..arrays.rows).map(action).collect();
            batch.step(&actions, &mut arrays.out());
        }
        batch.masks(&mut masks);
        let Arrays { rows, obs, rewards, terminated, truncated, .. } = &arrays;
        // In rows that have not ended, the last observation means nothing.
        let ended = (0..*rows).filter(|&row| terminated[row] || truncated[row]);
        let last = ended.flat_map(|row| arrays.last_row(K::FINAL_ORDER, row));
        obs.iter().copied().chain(last).for_each(|cell| hasher.update(&cell.into().to_le_bytes()));
        rewards.iter().for_each(|reward| hasher.update(&reward.to_le_bytes()));
        let flags = [terminated, truncated, &masks].into_iter().flatten();
        flags.for_each(|&flag| hasher.update(&[flag.into()]));
    }
    let mut state = batch.save();
    // With its own checksum, every state would have the same.
    state.truncate(state.len() - 4);
    (hasher.finalize(), crc32fast::hash(&state))
}

#[test]
fn seeds_and_saved_states_stay() {
    let all = |mode| {
        let solo: SoloBatch = batch(&Default::default(), 1, 100, 1).unwrap();
        let race: RaceBatch = batch(&Default::default(), 2, 100, 1).unwrap();
        let tables: TableBatch = batch(&Default::default(), 3, 20, 1).unwrap();
        let tokyo: TokyoBatch = batch(&Default::default(), 4, 100, 1).unwrap();
        let worlds: LastBulletBatch = batch(&last_bullet::rules(6, 0.06, Some(25)), 3, 5, 1).unwrap();
        [
            checksums(solo, mode),
            checksums(race, mode),
            checksums(tables, mode),
            checksums(tokyo, mode),
            checksums(worlds, mode),
        ]
    };
    let next_step = [
        (3231315220, 1271834702),
        (657085553, 1948457227),
        (3752135844, 739057627),
        (3078072813, 2810357089),
        (624804208, 743051574),
    ];
    let same_step = [
        (70648039, 3630801915),
        (521428371, 2851291447),
        (2210162968, 3958329813),
        (978749128, 2380303324),
        (3022213076, 2592594963),
    ];
    let disabled = [
        (3979350521, 2256510327),
        (586167722, 2315765747),
        (2389685766, 3561304816),
        (2753661307, 2096916537),
        (1063904430, 919308495),
    ];
    let modes = [Autoreset::NextStep, Autoreset::SameStep, Autoreset::Disabled];
    assert_eq!(modes.map(all), [next_step, same_step, disabled]);
}

/// Plays until some matches are over, then resets none of them: everything but the rewards is written again.
fn resets<K: Kernel<Cell: PartialEq + std::fmt::Debug>>(mut batch: Batched<K>) {
    let nothing = K::Cell::default();
    let mut played = Arrays::new(&batch, nothing);
    batch.autoreset = Autoreset::Disabled;
    batch.reset(None, &mut played.out());
    for step in 0..40 {
        let actions = vec![step % 2; batch.rows()];
        batch.step(&actions, &mut played.out());
    }
    let mut again = Arrays::new(&batch, nothing);
    batch.reset(Some(&vec![false; batch.matches()]), &mut again.out());
    played.rewards.fill(0.0);
    assert_eq!(again, played);
    // In Last Bullet it is told once.
    assert!(played.terminated.contains(&true) || batch.has_many_rows());
}

#[test]
fn a_reset_writes_everything_for_all_games() {
    for threads in [1, 3] {
        resets::<DiceKernel<SoloFormat>>(batch(&Default::default(), 1, 200, threads).unwrap());
        resets::<DiceKernel<RaceFormat>>(batch(&Default::default(), 2, 200, threads).unwrap());
        resets::<DiceKernel<TableFormat>>(batch(&Default::default(), 2, 200, threads).unwrap());
        resets::<TokyoKernel>(batch(&Default::default(), 2, 200, threads).unwrap());
        let worlds: LastBulletBatch = batch(&last_bullet::rules(6, 0.06, Some(25)), 3, 5, threads).unwrap();
        resets(worlds);
    }
}
