//! Referees in rows: a batch does what its referees do, in every mode, and brings back what it saved.

use crate::table::{MODES, Table, begun, future, same_for_all};
use necrodome_batch::{
    batch::{Autoreset, Batch},
    observe::Observe,
    refereed::{Refereed, Setup},
    rows::Rows,
    seated::Seated,
    stream::Stream,
};
use necrodome_rules::{
    chance::Chance,
    game::{Move, Seat, Silent},
    names::Names,
    options::Bounded,
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, Table as ZombieDice, TableRules},
};

type ZombieRows = Rows<Refereed<ZombieDice>>;

fn tables(seats: usize, rows: usize, threads: usize, seed: u64) -> (ZombieRows, Table) {
    let setup = Setup::new(seats, TableRules::default()).unwrap();
    begun(Rows::new(setup, rows, threads).unwrap(), seed)
}

/// One row, against a referee with the same stream.
fn agree<G>(seats: usize, seed: u64, mode: Autoreset, steps: usize)
where
    G: Observe<Rules: Send + Sync, View: Send> + Send,
{
    let rules = G::Rules::default();
    let setup = Setup::<G>::new(seats, rules.clone()).unwrap();
    let (mut batch, mut table) = begun(Rows::<Refereed<G>>::new(setup, 1, 1).unwrap(), seed);

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
        batch.step(&[action as u8], mode, &mut table.out());

        let (mut reward, mut terminated) = (0.0, false);
        if !game.to_act().is_empty() {
            let (mut before, mut after) = (vec![0.0; seats], vec![0.0; seats]);
            game.returns(&mut before);
            let chosen = G::action(&game.view(seat), action as usize).unwrap();
            if game.apply(&[Move::Act(chosen)], &mut stream, &mut Silent).is_err() {
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
                assert_eq!(table.final_obs, observe(&game, seat), "step {step}");
                (game, seat) = begin(&mut stream);
            }
        } else if mode == Autoreset::Disabled {
            terminated = true;
        } else {
            (game, seat) = begin(&mut stream);
        }
        assert_eq!(table.obs, observe(&game, seat), "step {step}");
        assert_eq!((table.rewards[0], table.terminated[0]), (reward, terminated), "step {step}");
        assert!(!table.truncated[0]);
        assert_eq!(batch.final_rewards(), final_rewards, "step {step}");
        let mut to_act = [u8::MAX];
        batch.to_act(&mut to_act);
        assert_eq!(usize::from(to_act[0]), seat.index(), "step {step}");
    }
    assert!(ends > if mode == Autoreset::Disabled { 0 } else { 3 });
}

#[test]
fn rows_do_what_their_referee_does() {
    for mode in MODES {
        agree::<ZombieDice>(2, 1, mode, 1000);
        agree::<ZombieDice>(5, 2, mode, 2000);
        agree::<Race>(2, 3, mode, 1000);
        agree::<Solo>(1, 4, mode, 200);
        agree::<Tokyo>(4, 5, mode, 2000);
    }
}

#[test]
fn neither_threads_nor_other_rows_change_an_episode() {
    same_for_all(130, |rows, threads| tables(3, rows, threads, 9));
}

#[test]
fn a_table_can_have_ninety_nine_seats() {
    let (mut batch, mut table) = tables(99, 2, 1, 4);
    future(&mut batch, &mut table, Autoreset::NextStep, 5000);
    let sum: f32 = batch.final_rewards().iter().sum();
    assert!(batch.final_rewards().contains(&1.0) && sum.abs() < 1e-3, "{:?}", batch.final_rewards());
    let too_many = Setup::<ZombieDice>::new(100, TableRules::default()).unwrap_err().to_string();
    assert_eq!(too_many, "expected 2 to 99 players, got 100");
}

#[test]
fn saved_rows_have_the_same_future() {
    let (mut original, mut table) = tables(3, 20, 1, 21);
    future(&mut original, &mut table, Autoreset::Disabled, 60);
    let state = original.save();
    let (mut other, mut other_table) = tables(3, 20, 2, 1);
    other.restore(&state).unwrap();
    assert_eq!(other.save(), state);
    for mode in MODES {
        other_table.final_obs.clone_from(&table.final_obs);
        let expected = future(&mut original, &mut table, mode, 60);
        assert_eq!(future(&mut other, &mut other_table, mode, 60), expected, "{mode:?}");
    }
}

#[test]
fn what_such_a_batch_did_not_save_is_refused() {
    let (mut batch, _) = tables(3, 4, 1, 5);
    let state = batch.save();
    let rules = TableRules { max_rounds: Some(Bounded::new(3)), ..TableRules::default() };
    let limited: ZombieRows = Rows::new(Setup::new(3, rules).unwrap(), 4, 1).unwrap();
    for other in [tables(3, 5, 1, 5).0, tables(4, 4, 1, 5).0, limited] {
        let why = batch.restore(&other.save()).unwrap_err();
        assert!(why.starts_with("expected the state of 4 rows of {\"names\":["), "{why}");
    }
    assert!(batch.restore(&state[1..]).unwrap_err().contains("with a wrong checksum"));
    assert_eq!(batch.save(), state, "nothing has changed");
}

/// Stopping after the first roll banks what it brought: the first seat's observation says so at its next turn.
#[test]
fn the_observation_is_that_of_the_seat_that_decides() {
    let (mut batch, mut table) = tables(2, 1, 1, 8);
    let stop = 0;
    let fields = batch.fields();
    let field = |name: &str| fields.iter().position(|field| field.name == name).unwrap();
    let brains = table.obs[field("brains")];
    let mut to_act = [0];
    batch.to_act(&mut to_act);
    let first = to_act;
    batch.step(&[stop], Autoreset::NextStep, &mut table.out());
    batch.to_act(&mut to_act);
    assert_ne!(to_act, first);
    assert_eq!(table.obs[field("score_1")], brains, "as the other sees it");
    batch.step(&[stop], Autoreset::NextStep, &mut table.out());
    batch.to_act(&mut to_act);
    assert_eq!(to_act, first);
    assert_eq!(table.obs[field("score_0")], brains, "as it sees itself");
}
