//! Rows that hold stay unchanged: each match is played beside a lone one that is stepped only when the first does not hold.

use crate::{
    arrays::{Arrays, MODES, batch},
    last_bullet,
};
use necrodome_batch::{
    actions::HOLD,
    batched::{Autoreset, Batched},
    kernel::{Kernel, MemoryOrder},
    last_bullet::LastBulletBatch,
    refereed::RefereedBatch,
    stream::Stream,
    tokyo::TokyoBatch,
    zombie_dice::{RaceBatch, SoloBatch, TableBatch},
};
use necrodome_rules::{
    chance::Chance,
    last_bullet::Direction,
    options::Bounded,
    tokyo::TokyoRules,
    zombie_dice::{OutOfDice, Race, RaceRules, SoloRules, TableRules},
};
use std::fmt::Debug;

/// The arrays of some rows: observations, last observations, rewards, flags.
type Told<T> = (Vec<T>, Vec<T>, Vec<f32>, Vec<bool>, Vec<bool>);

/// The arrays of one match's rows. Last observations are undefined in rows that have not just ended.
fn told<K: Kernel>(batch: &Batched<K>, arrays: &Arrays<K::Cell>, one: usize, ended: bool) -> Told<K::Cell> {
    let each = batch.rows() / batch.matches();
    let rows = one * each..(one + 1) * each;
    let cells = |cells: &[K::Cell], order: MemoryOrder| -> Vec<K::Cell> {
        match order {
            MemoryOrder::Columns => cells.iter().skip(one).step_by(batch.rows()).copied().collect(),
            MemoryOrder::Rows => cells[one * each * batch.width()..][..each * batch.width()].to_vec(),
        }
    };
    (
        cells(&arrays.obs, K::ORDER),
        // What rows saw last, where all of them have ended.
        if ended { cells(&arrays.final_obs, K::FINAL_ORDER) } else { Vec::new() },
        arrays.rewards[rows.clone()].to_vec(),
        arrays.terminated[rows.clone()].to_vec(),
        arrays.truncated[rows].to_vec(),
    )
}

/// Whether the only match of a batch is over and waits: in Last Bullet, whether nobody lives.
fn is_over<K: Kernel>(batch: &Batched<K>, arrays: &Arrays<K::Cell>) -> bool {
    let mut alive = vec![true; batch.rows()];
    batch.alive(&mut alive);
    !alive.contains(&true) || arrays.terminated.iter().all(|&over| over)
}

/// Plays some matches, each of which holds in about half of the steps, beside lone ones.
fn stays<K: Kernel<Cell: PartialEq + Debug>>(
    mode: Autoreset,
    matches: usize,
    make: impl Fn(usize) -> Batched<K>,
) {
    let begin = |matches: usize, first_seed: usize| {
        let mut batch = make(matches);
        let mut arrays = Arrays::new(&batch, K::Cell::default());
        batch.autoreset = mode;
        (0..matches).for_each(|one| batch.seed(one, (first_seed + one) as u64));
        batch.reset(None, &mut arrays.out());
        (batch, arrays)
    };
    let (mut together, mut arrays) = begin(matches, 7);
    let mut alone: Vec<_> = (0..matches).map(|one| begin(1, 7 + one)).collect();
    let (each, seats) = (together.rows() / matches, together.seats());
    let mut chance = Stream::new(3);
    let (mut held_over, mut ends) = (0, 0);
    for step in 0..150 {
        let holds: Vec<bool> = (0..matches).map(|_| chance.uniform(2) == 0).collect();
        let action = |row: usize| match holds[row / each] {
            true => HOLD,
            false => chance.uniform(together.actions() as u32) as u8,
        };
        let actions: Vec<u8> = (0..together.rows()).map(action).collect();
        together.step(&actions, &mut arrays.out());
        for (one, (lone, own)) in alone.iter_mut().enumerate() {
            let place = format!("match {one}, step {step}, {mode:?}");
            if holds[one] {
                own.rewards.fill(0.0);
                held_over += usize::from(is_over(lone, own) && mode != Autoreset::SameStep);
                // Those that began in the step before are not over.
                lone.reset(Some(&[false]), &mut own.out());
            } else {
                lone.step(&actions[one * each..][..each], &mut own.out());
            }
            let ended = !holds[one] && mode == Autoreset::SameStep && own.terminated.iter().all(|&over| over);
            ends += usize::from(own.terminated.contains(&true));
            assert_eq!(told(&together, &arrays, one, ended), told(lone, own, 0, ended), "{place}");
            if lone.takes_turns() {
                let rewards = &together.final_rewards()[one * seats..][..seats];
                assert_eq!(rewards, lone.final_rewards(), "{place}");
            }
        }
    }
    assert!(ends > 0 && (held_over > 0 || mode == Autoreset::SameStep), "{mode:?}: {ends} {held_over}");
    // The whole state, streams included.
    let (mut masks, mut own_masks) =
        (vec![false; together.rows() * together.actions()], vec![false; each * together.actions()]);
    together.step(&vec![HOLD; together.rows()], &mut arrays.out());
    together.masks(&mut masks);
    let kept = together.save();
    together.step(&vec![HOLD; together.rows()], &mut arrays.out());
    assert_eq!(together.save(), kept);
    for ((lone, _), masks) in alone.iter().zip(masks.chunks_exact(own_masks.len())) {
        lone.masks(&mut own_masks);
        assert_eq!(masks, own_masks);
    }
}

#[test]
fn rows_that_hold_stay_as_they_are() {
    for mode in MODES {
        for out_of_dice in [OutOfDice::EndTurn, OutOfDice::RecycleBrains] {
            let rules = SoloRules { out_of_dice, ..Default::default() };
            stays(mode, 70, |rows| -> SoloBatch { batch(&rules, 1, rows, 1).unwrap() });
            let rules = RaceRules { out_of_dice, max_rounds: Some(Bounded::new(6)), ..Default::default() };
            stays(mode, 70, |rows| -> RaceBatch { batch(&rules, 2, rows, 1).unwrap() });
        }
        for seats in [2, 5] {
            let rules = TableRules { max_rounds: Some(Bounded::new(3)), ..Default::default() };
            stays(mode, 70, |rows| -> TableBatch { batch(&rules, seats, rows, 1).unwrap() });
            let rules = TokyoRules { max_turns: Some(Bounded::new(12)) };
            stays(mode, 70, |rows| -> TokyoBatch { batch(&rules, seats, rows, 1).unwrap() });
        }
        stays(mode, 10, |rows| -> RefereedBatch<Race> { batch(&Default::default(), 2, rows, 1).unwrap() });
        let rules = last_bullet::rules(6, 0.06, Some(25));
        stays(mode, 5, |worlds| -> LastBulletBatch { batch(&rules, 3, worlds, 1).unwrap() });
        stays(mode, 5, |worlds| last_bullet::versus::against(&["gunner", "wander"], &rules, worlds));
    }
}

/// The clock of a world goes on while somebody acts.
#[test]
fn a_survivor_that_holds_among_others_stays_where_it_is() {
    let stay = Direction::ALL.iter().position(|direction| *direction == Direction::Stay).unwrap() as u8;
    let worlds: LastBulletBatch = batch(&last_bullet::rules(6, 0.06, Some(25)), 3, 5, 1).unwrap();
    let mut arrays = Arrays::new(&worlds, 0);
    let (mut holding, mut staying) = (worlds.clone(), worlds);
    holding.reset(None, &mut arrays.out());
    staying.reset(None, &mut arrays.out());
    let mut chance = Stream::new(5);
    for _ in 0..20 {
        let actions: Vec<u8> = (0..holding.rows()).map(|_| chance.uniform(130) as u8).collect();
        let with = |other: u8| -> Vec<u8> {
            let choose = |(row, &action): (usize, &u8)| if row % 3 == 1 { other } else { action };
            actions.iter().enumerate().map(choose).collect()
        };
        holding.step(&with(HOLD), &mut arrays.out());
        staying.step(&with(stay), &mut arrays.out());
        assert_eq!(holding.save(), staying.save());
    }
}
