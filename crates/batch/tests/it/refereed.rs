//! Referees in batches: a batch does what its referees do, in every mode, and restores what it saved.

use crate::arrays::{Arrays, MODES, batch, begun, future, same_for_all};
use necrodome_batch::{
    batched::Autoreset,
    observe::Observe,
    refereed::{Refereed, RefereedBatch},
    stream::Stream,
};
use necrodome_rules::{
    chance::Chance,
    game::{Move, Seat, Silent},
    infection::Infection,
    names::Names,
    options::Bounded,
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, Table, TableRules},
};

fn tables(seats: usize, rows: usize, threads: usize, seed: u64) -> (RefereedBatch<Table>, Arrays) {
    begun(batch(&TableRules::default(), seats, rows, threads).unwrap(), seed)
}

/// Compares one row with a referee with the same stream.
fn agree<G: Observe>(seats: usize, seed: u64, mode: Autoreset, steps: usize) {
    let rules = G::Rules::default();
    let batch: RefereedBatch<G> = batch(&rules, seats, 1, 1).unwrap();
    let (mut batch, mut arrays) = begun(batch, seed);
    batch.autoreset = mode;

    let names = Names::new((0..seats).map(|seat| format!("seat {seat}"))).unwrap();
    let mut stream = Stream::new(seed);
    let begin = |stream: &mut Stream| {
        let game = G::new(&names, &rules, stream, &mut Silent).unwrap();
        // A first roll that is not asked for can end a turn.
        let seat = game.to_act()[0];
        (game, seat)
    };
    let (mut game, mut seat) = begin(&mut stream);
    let mut final_rewards = vec![0.0; seats];
    let mut players = Stream::new(!seed);
    let observe = |game: &G, seat: Seat| {
        let mut obs = vec![-1; G::fields(&rules, seats).len()];
        G::observe(&rules, &game.view(seat), &mut obs);
        obs
    };
    let mut ends = 0;
    for step in 0..steps {
        let action = players.uniform(G::actions(seats) as u32);
        batch.step(&[action as u8], &mut arrays.out());

        let (mut reward, mut terminated) = (0.0, false);
        if !game.to_act().is_empty() {
            let (mut before, mut after) = (vec![0.0; seats], vec![0.0; seats]);
            game.returns(&mut before);
            let chosen = G::action(&game.view(seat), action as usize).map_or(Move::Forfeit, Move::Act);
            if game.apply(&[chosen], &mut stream, &mut Silent).is_err() {
                game.apply(&[Move::Forfeit], &mut stream, &mut Silent).unwrap();
            }
            game.returns(&mut after);
            reward = after[seat.index()] - before[seat.index()];
            terminated = game.to_act().is_empty();
            seat = game.to_act().first().copied().unwrap_or(seat);
            if terminated {
                ends += 1;
                final_rewards = after;
            }
            if terminated && mode == Autoreset::SameStep {
                assert_eq!(arrays.final_obs, observe(&game, seat), "step {step}");
                (game, seat) = begin(&mut stream);
            }
        } else if mode == Autoreset::Disabled {
            terminated = true;
        } else {
            (game, seat) = begin(&mut stream);
        }
        assert_eq!(arrays.obs, observe(&game, seat), "step {step}");
        assert_eq!((arrays.rewards[0], arrays.terminated[0]), (reward, terminated), "step {step}");
        assert!(!arrays.truncated[0]);
        let kept = if seats > 1 { &final_rewards[..] } else { &[] };
        assert_eq!(batch.final_rewards(), kept, "step {step}");
        let mut to_act = [u8::MAX];
        batch.to_act(&mut to_act);
        assert_eq!(usize::from(to_act[0]), seat.index(), "step {step}");
    }
    assert!(ends > if mode == Autoreset::Disabled { 0 } else { 3 });
}

#[test]
fn rows_do_what_their_referee_does() {
    for mode in MODES {
        agree::<Table>(2, 1, mode, 1000);
        agree::<Table>(5, 2, mode, 2000);
        agree::<Race>(2, 3, mode, 1000);
        agree::<Solo>(1, 4, mode, 200);
        agree::<Tokyo>(4, 5, mode, 2000);
        agree::<Infection>(4, 6, mode, 4000);
    }
}

#[test]
fn neither_threads_nor_other_rows_change_an_episode() {
    same_for_all(130, |rows, threads| tables(3, rows, threads, 9));
}

#[test]
fn a_table_can_have_ninety_nine_seats() {
    let (mut crowd, mut arrays) = tables(99, 2, 1, 4);
    future(&mut crowd, &mut arrays, Autoreset::NextStep, 5000);
    let sum: f32 = crowd.final_rewards().iter().sum();
    assert!(crowd.final_rewards().contains(&1.0) && sum.abs() < 1e-3, "{:?}", crowd.final_rewards());
    let too_many = batch::<Refereed<Table>>(&TableRules::default(), 100, 1, 1).unwrap_err().to_string();
    assert_eq!(too_many, "expected 2 to 99 players, got 100");
}

#[test]
fn saved_rows_have_the_same_future() {
    let (mut original, mut arrays) = tables(3, 20, 1, 21);
    future(&mut original, &mut arrays, Autoreset::Disabled, 60);
    let state = original.save();
    let (mut other, mut other_arrays) = tables(3, 20, 2, 1);
    other.restore(&state).unwrap();
    assert_eq!(other.save(), state);
    for mode in MODES {
        other_arrays.final_obs.clone_from(&arrays.final_obs);
        let expected = future(&mut original, &mut arrays, mode, 60);
        assert_eq!(future(&mut other, &mut other_arrays, mode, 60), expected, "{mode:?}");
    }
}

#[test]
fn what_such_a_batch_did_not_save_is_refused() {
    let (mut tables_of_3, _) = tables(3, 4, 1, 5);
    let state = tables_of_3.save();
    let rules = TableRules { max_rounds: Some(Bounded::new(3)), ..TableRules::default() };
    let limited: RefereedBatch<Table> = batch(&rules, 3, 4, 1).unwrap();
    for other in [tables(3, 5, 1, 5).0, tables(4, 4, 1, 5).0, limited] {
        let why = tables_of_3.restore(&other.save()).unwrap_err();
        assert!(why.starts_with("expected the state of 4 matches with {\"names\":["), "{why}");
    }
    assert!(tables_of_3.restore(&state[1..]).unwrap_err().contains("with a wrong checksum"));
    assert_eq!(tables_of_3.save(), state, "nothing has changed");
}

/// Stopping after the first roll banks its brains: the first seat's observation shows them at its next turn.
#[test]
fn the_observation_is_that_of_the_seat_that_decides() {
    let (mut batch, mut arrays) = tables(2, 1, 1, 8);
    let stop = 0;
    let fields = batch.fields();
    let field = |name: &str| fields.iter().position(|field| field.name == name).unwrap();
    let brains = arrays.obs[field("brains")];
    let mut to_act = [0];
    batch.to_act(&mut to_act);
    let first = to_act;
    batch.step(&[stop], &mut arrays.out());
    batch.to_act(&mut to_act);
    assert_ne!(to_act, first);
    assert_eq!(arrays.obs[field("score_1")], brains, "as the other sees it");
    batch.step(&[stop], &mut arrays.out());
    batch.to_act(&mut to_act);
    assert_eq!(to_act, first);
    assert_eq!(arrays.obs[field("score_0")], brains, "as it sees itself");
}
