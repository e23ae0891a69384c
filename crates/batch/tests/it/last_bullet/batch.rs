//! The promises of a batch: seeds, threads, autoreset, saving.

use super::{Run, Style, UNTOUCHED, Written, choose, rules};
use crate::arrays;
use necrodome_batch::{
    batched::{Autoreset, BatchError},
    last_bullet::LastBulletBatch,
    last_bullet::observe::{ACTIONS, CELLS, WINDOW},
    stream::Stream,
};
use necrodome_rules::{last_bullet::LastBulletRules, names::SetupError};

/// The part of the arrays for one world.
fn of_world(written: &Written, world: usize, rows: usize) -> Written {
    let (row, cell) = (world * rows..(world + 1) * rows, world * rows * CELLS..(world + 1) * rows * CELLS);
    Written {
        rows,
        obs: written.obs[cell.clone()].to_vec(),
        final_obs: written.final_obs[cell].to_vec(),
        rewards: written.rewards[row.clone()].to_vec(),
        terminated: written.terminated[row.clone()].to_vec(),
        truncated: written.truncated[row].to_vec(),
    }
}

/// Records everything that one world writes in some steps, with actions that depend only on its seed.
fn film(seeds: &[u64], threads: usize, autoreset: Autoreset) -> Vec<Vec<Written>> {
    let rules = rules(6, 0.06, Some(25));
    let mut run = Run::new(seeds, 3, &rules, threads);
    let rows = run.rows_of_a_world();
    let mut chances: Vec<Stream> = seeds.iter().map(|&seed| Stream::new(seed + 100)).collect();
    let mut films = vec![Vec::new(); seeds.len()];
    for _ in 0..60 {
        let masks = run.masks();
        let actions: Vec<u8> = masks
            .chunks_exact(rows * ACTIONS)
            .zip(&mut chances)
            .flat_map(|(masks, chance)| choose(Style::Mixed, masks, chance))
            .collect();
        run.step(&actions, autoreset);
        for (world, film) in films.iter_mut().enumerate() {
            film.push(of_world(&run.written, world, rows));
        }
    }
    films
}

#[test]
fn a_seed_gives_the_same_episodes_in_any_company_and_on_any_number_of_threads() {
    for autoreset in [Autoreset::NextStep, Autoreset::SameStep, Autoreset::Disabled] {
        let seeds: Vec<u64> = (0..7).collect();
        let films = film(&seeds, 1, autoreset);
        for threads in [2, 3, 7, 20] {
            assert!(film(&seeds, threads, autoreset) == films, "{threads} threads, {autoreset:?}");
        }
        for &seed in &seeds {
            assert!(film(&[seed], 1, autoreset)[0] == films[seed as usize], "alone, {autoreset:?}");
        }
        assert!(films[0] != films[1], "other seeds, other episodes");
    }
}

/// Plays on until some world has ended.
fn until_over(run: &mut Run, autoreset: Autoreset, over: impl Fn(&Run) -> bool) {
    let mut chance = Stream::new(11);
    for _ in 0..10_000 {
        let actions = choose(Style::Walk, &run.masks(), &mut chance);
        run.step(&actions, autoreset);
        if over(run) {
            return;
        }
    }
    panic!("no world has ended");
}

#[test]
fn the_next_step_begins_a_world_that_has_ended() {
    let mut run = Run::new(&[1, 2], 2, &rules(4, 0.1, None), 1);
    until_over(&mut run, Autoreset::NextStep, |run| run.batch.is_over(0));
    let rows = run.rows_of_a_world();
    let end = of_world(&run.written, 0, rows);
    assert!(end.terminated.contains(&true), "the last has died");
    assert!(end.truncated.iter().all(|&cut| !cut));
    assert!(end.obs.iter().all(|&number| number == 0));
    assert!(end.rewards.iter().all(|&reward| reward == 0.0));
    assert!(!run.batch.is_over(1), "worlds end on their own");
    run.step(&vec![4; 2 * rows], Autoreset::NextStep);
    assert_eq!(run.batch.clock(0), 0);
    let begun = of_world(&run.written, 0, rows);
    let lives = &run.alive()[..rows];
    assert!(lives.contains(&true));
    for (row, &lives) in lives.iter().enumerate() {
        assert!(!begun.terminated[row], "who is dead from the beginning has no episode");
        assert_eq!(begun.obs[row * CELLS + WINDOW * WINDOW / 2], if lives { 3 } else { 0 });
    }
    assert!(begun.rewards.iter().all(|&reward| reward == 0.0));
    assert!(run.written.final_obs.iter().all(|&number| number == UNTOUCHED));
}

/// Plays several matches, in every mode of autoreset.
#[test]
fn a_survivor_ends_once() {
    for mode in [Autoreset::NextStep, Autoreset::SameStep] {
        let mut run = Run::new(&[1, 2, 3], 2, &rules(4, 0.1, Some(4)), 1);
        let rows = run.batch.rows();
        let mut chance = Stream::new(5);
        let (mut ends, mut deaths, mut cut) = (0, 0, 0);
        for _ in 0..300 {
            let before = run.alive();
            let were_over: Vec<bool> = (0..3).map(|world| run.batch.is_over(world)).collect();
            let actions = choose(Style::Walk, &run.masks(), &mut chance);
            run.step(&actions, mode);
            let after = run.alive();
            for row in 0..rows {
                let world = row / run.rows_of_a_world();
                let (died, was_cut) = (run.written.terminated[row], run.written.truncated[row]);
                assert!(before[row] && !were_over[world] || !(died || was_cut), "only the living end");
                assert!(!(died && was_cut));
                if mode == Autoreset::NextStep && !were_over[world] {
                    assert_eq!(died || was_cut, before[row] && !after[row]);
                }
                if died && mode == Autoreset::SameStep {
                    assert!(run.written.final_obs[row * CELLS..][..CELLS].iter().all(|&cell| cell == 0));
                }
                ends += usize::from(died || was_cut);
                deaths += usize::from(died);
                cut += usize::from(was_cut);
            }
        }
        assert!(
            deaths > 10 && cut > 0 && ends == deaths + cut,
            "{mode:?}: {deaths} died, {cut} were cut off"
        );
    }
}

#[test]
fn the_same_step_begins_a_world_and_tells_the_last_observation() {
    let rules = rules(4, 0.06, Some(5));
    let mut run = Run::new(&[1, 2], 2, &rules, 1);
    let mut other = run.clone();
    let rows = run.batch.rows();
    for _ in 0..4 {
        run.step(&vec![4; rows], Autoreset::SameStep);
        other.step(&vec![4; rows], Autoreset::Disabled);
        let (mut ours, theirs) = (run.written.clone(), &other.written);
        ours.final_obs.clone_from(&theirs.final_obs);
        assert!(ours == *theirs, "no world has ended");
    }
    run.step(&vec![4; rows], Autoreset::SameStep);
    other.step(&vec![4; rows], Autoreset::Disabled);
    let (ours, theirs) = (&run.written, &other.written);
    assert!(ours.final_obs == theirs.obs, "the end as seen by who does not begin anew");
    assert_eq!((&ours.rewards, &ours.truncated), (&theirs.rewards, &theirs.truncated));
    assert_eq!(ours.terminated, theirs.terminated);
    assert!(ours.truncated.contains(&true) && ours.rewards.contains(&1.0));
    assert_eq!((run.batch.clock(0), run.batch.is_over(0)), (0, false));
    assert!(ours.obs != theirs.obs, "the beginning of another world");
}

#[test]
fn without_autoreset_a_world_stays_as_it_ended_until_it_is_reset() {
    let rules = rules(4, 0.06, Some(5));
    let mut run = Run::new(&[1, 2], 2, &rules, 1);
    until_over(&mut run, Autoreset::Disabled, |run| run.batch.is_over(0) && run.batch.is_over(1));
    let mut end = run.written.clone();
    assert!(end.rewards.contains(&1.0) && end.truncated.contains(&true));
    run.step(&vec![0; run.batch.rows()], Autoreset::Disabled);
    end.rewards.fill(0.0);
    end.truncated.fill(false);
    end.terminated.fill(false);
    assert!(run.written == end, "an episode ends once");
    let rows = run.rows_of_a_world();
    run.reset(Some(&[false, true]));
    assert_eq!((run.batch.clock(0), run.batch.clock(1)), (5, 0));
    assert!(of_world(&run.written, 0, rows) == of_world(&end, 0, rows));
    assert!(of_world(&run.written, 1, rows) != of_world(&end, 1, rows));
    assert!(!run.batch.is_over(1));
}

#[test]
fn seeding_changes_nothing_until_the_reset() {
    let mut run = Run::new(&[1], 2, &rules(4, 0.06, None), 1);
    let before: Vec<_> = run.batch.pieces(0).collect();
    run.batch.seed(0, 77);
    assert_eq!(run.batch.pieces(0).collect::<Vec<_>>(), before);
    run.reset(None);
    let begun = run.written.clone();
    assert!(begun == Run::new(&[77], 2, &rules(4, 0.06, None), 1).written);
    run.reset(None);
    assert!(begun != run.written, "the stream goes on");
}

#[test]
fn a_saved_batch_goes_on_as_it_would_have() {
    let rules = rules(6, 0.06, Some(20));
    let mut run = Run::new(&[1, 2, 3], 3, &rules, 1);
    let mut chance = Stream::new(3);
    for steps in [0, 7, 13, 1] {
        for _ in 0..steps {
            let actions = choose(Style::Mixed, &run.masks(), &mut chance);
            run.step(&actions, Autoreset::NextStep);
        }
        let mut again = Run::new(&[5, 6, 7], 3, &rules, 2);
        again.batch.restore(&run.batch.save()).unwrap();
        assert_eq!(again.batch.save(), run.batch.save());
        let mut ahead = run.clone();
        for _ in 0..30 {
            let actions = choose(Style::Mixed, &ahead.masks(), &mut chance);
            ahead.step(&actions, Autoreset::NextStep);
            again.step(&actions, Autoreset::NextStep);
            assert!(ahead.written == again.written);
        }
    }
}

#[test]
fn a_state_of_something_else_is_refused_and_changes_nothing() {
    let mut run = Run::new(&[1, 2], 1, &rules(2, 0.06, Some(20)), 1);
    let before = run.batch.save();
    let mut refused = |state: &[u8], why: &str| {
        let error = run.batch.restore(state).unwrap_err();
        assert!(error.contains(why), "{error}");
        assert_eq!(run.batch.save(), before);
    };
    refused(b"no state", "expected a saved state");
    let save = |worlds, entries, rules| {
        let batch: LastBulletBatch = arrays::batch(&rules, entries, worlds, 1).unwrap();
        batch.save()
    };
    refused(&save(1, 1, rules(2, 0.06, Some(20))), "expected the state of 2 matches with {");
    refused(&save(2, 1, rules(3, 0.06, Some(20))), "\"copies\":2,\"entries\":1");
    refused(&save(2, 2, rules(1, 0.06, Some(20))), "\"copies\":1,\"entries\":2");
    refused(&save(2, 1, rules(2, 0.06, None)), "\"max_turns\":null");
}

#[test]
fn set_ups_that_cannot_be_are_refused() {
    let refused = |entries, rules: &LastBulletRules| {
        let made: Result<LastBulletBatch, _> = arrays::batch(rules, entries, 1, 1);
        match made.unwrap_err() {
            BatchError::Game(why) => why,
            why => panic!("{why}"),
        }
    };
    assert!(matches!(refused(0, &rules(1, 0.06, None)), SetupError::Seats { came: 0, .. }));
    assert!(matches!(refused(501, &rules(1, 0.06, None)), SetupError::Seats { came: 501, .. }));
    let empty = rules(10_000, 0.000_001, None);
    assert!(matches!(refused(2, &empty), SetupError::Option { option: "density", .. }));
}
