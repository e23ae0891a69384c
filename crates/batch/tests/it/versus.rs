//! A learner against opponents: the same as a referee with the same bots, in every mode, inside or outside.

use crate::arrays::{Arrays, MODES, begun, future, same_for_all};
use necrodome_batch::{
    actions::HOLD,
    batched::{Autoreset, BatchSetup, Batched},
    kernel::Views,
    observe::Observe,
    refereed::Refereed,
    stream::Stream,
    tokyo::TokyoKernel,
    versus::{LearnerSeat, LineUp, Opponent, Versus, VersusBatch},
    zombie_dice::{DiceKernel, RaceFormat},
};
use necrodome_rules::{
    bot::{BotSpec, Decide},
    catalog::Listed,
    chance::{Chance, Seeded},
    game::{Move, Seat, Silent},
    infection::Infection,
    names::Names,
    tokyo::Tokyo,
    zombie_dice::{Race, Table},
};

type RaceKernel = DiceKernel<RaceFormat>;

fn bot<G: Listed>(spec: &str) -> Decide<G> {
    let spec: BotSpec = spec.parse().unwrap();
    G::built_ins().iter().find(|bot| bot.name == spec.name).unwrap().decide(&spec).unwrap()
}

/// Makes a line-up of opponents by name; an empty name is one outside.
fn line_up<G: Listed>(specs: &[&str], seat: LearnerSeat) -> LineUp<G> {
    let opponent = |spec: &&str| match *spec {
        "" => Opponent::Outside,
        spec => Opponent::Inside(bot::<G>(spec)),
    };
    LineUp { opponents: specs.iter().map(opponent).collect(), seat }
}

fn batch<K: Views<Game: Listed>>(
    specs: &[&str],
    seat: LearnerSeat,
    matches: usize,
    threads: usize,
) -> VersusBatch<K> {
    let autoreset = Autoreset::NextStep;
    let setup = BatchSetup { rules: Default::default(), seats: specs.len() + 1, matches, threads, autoreset };
    VersusBatch::against(&setup, line_up(specs, seat)).unwrap()
}

/// Compares one row, step by step, with a referee with the same stream and the same bots.
fn agree<G: Observe + Listed>(specs: &[&str], seat: u16, seed: u64, mode: Autoreset, steps: usize) {
    let (rules, seats) = (G::Rules::default(), specs.len() + 1);
    let made = batch::<Refereed<G>>(specs, LearnerSeat::Fixed(seat as u8), 1, 1);
    let (mut batch, mut arrays) = begun(made, seed);
    batch.autoreset = mode;

    let names = Names::new((0..seats).map(|seat| format!("seat {seat}"))).unwrap();
    let bots: Vec<Decide<G>> = specs.iter().map(|spec| bot::<G>(spec)).collect();
    let (mut stream, mut decisions) = (Stream::new(seed), 0);
    let mut let_others_play = |game: &mut G, stream: &mut Stream| {
        while let Some(&other) = game.to_act().first().filter(|&&other| other != Seat(seat)) {
            let decide = &bots[other.index() - usize::from(other.0 > seat)];
            let view = game.view(other);
            let action = decide(&view, &|| Seeded::new(seed, "opponent", decisions));
            let number = G::number(&view, &action);
            decisions += 1;
            let action = G::action(&view, number.into()).unwrap();
            game.apply(&[Move::Act(action)], stream, &mut Silent).unwrap();
        }
    };
    let begin = |stream: &mut Stream, let_others_play: &mut dyn FnMut(&mut G, &mut Stream)| loop {
        let mut game = G::new(&names, &rules, stream, &mut Silent).unwrap();
        let_others_play(&mut game, stream);
        if !game.to_act().is_empty() {
            return game;
        }
    };
    let observe = |game: &G| {
        let mut obs = vec![-1; G::fields(&rules, seats).len()];
        G::observe(&rules, &game.view(Seat(seat)), &mut obs);
        obs
    };
    let mut game = begin(&mut stream, &mut let_others_play);
    assert_eq!(arrays.obs, observe(&game));
    let mut players = Stream::new(!seed);
    let mut ends = 0;
    for step in 0..steps {
        let action = players.uniform(G::actions(seats) as u32);
        batch.step(&[action as u8], &mut arrays.out());
        let (mut reward, mut terminated) = (0.0, false);
        if !game.to_act().is_empty() {
            let view = game.view(Seat(seat));
            let chosen = G::action(&view, action as usize).map_or(Move::Forfeit, Move::Act);
            if game.apply(&[chosen], &mut stream, &mut Silent).is_err() {
                game.apply(&[Move::Forfeit], &mut stream, &mut Silent).unwrap();
            }
            let_others_play(&mut game, &mut stream);
            terminated = game.to_act().is_empty();
            if terminated {
                let mut returns = vec![0.0; seats];
                game.returns(&mut returns);
                assert_eq!(batch.final_rewards(), returns);
                reward = returns[usize::from(seat)];
                ends += 1;
            }
            if terminated && mode == Autoreset::SameStep {
                assert_eq!(arrays.final_obs, observe(&game), "step {step}");
                game = begin(&mut stream, &mut let_others_play);
            }
        } else if mode == Autoreset::Disabled {
            terminated = true;
        } else {
            game = begin(&mut stream, &mut let_others_play);
        }
        assert_eq!(arrays.obs, observe(&game), "step {step}, {mode:?}");
        assert_eq!((arrays.rewards[0], arrays.terminated[0]), (reward, terminated), "step {step}");
    }
    assert!(ends >= if mode == Autoreset::Disabled { 1 } else { 2 }, "{ends} ends");
}

#[test]
fn a_learner_meets_what_a_referee_would_show_it() {
    for mode in MODES {
        for seat in 0..2 {
            agree::<Race>(&["random"], seat, 3, mode, 400);
            agree::<Tokyo>(&["random"], seat, 4, mode, 2000);
        }
        for seat in 0..3 {
            agree::<Table>(&["greedy", "random"], seat, 5, mode, 400);
            agree::<Infection>(&["careful", "spreader:dose=2"], seat, 6, mode, 3000);
        }
    }
}

#[test]
fn lanes_play_as_alone() {
    let rotating = |rows, threads| {
        begun(batch::<RaceKernel>(&["stop-at:brains=2"], LearnerSeat::Rotating, rows, threads), 17)
    };
    same_for_all(130, rotating);
    let made =
        |rows, threads| begun(batch::<RaceKernel>(&["random"], LearnerSeat::Fixed(1), rows, threads), 17);
    same_for_all(130, made);
}

/// Answers for opponents outside as the bots inside would, until none of them waits.
fn answer<K: Views<Game: Listed>>(
    batch: &mut Batched<Versus<K>>,
    arrays: &mut Arrays,
    bots: &[Decide<K::Game>],
    seat: u8,
) -> usize {
    let mut asked = 0;
    while let Some(waits) = batch.waits() {
        let act = |(row, seat_of): (usize, &Option<u8>)| match *seat_of {
            None => HOLD,
            Some(other) => {
                let view = batch.view(row, Seat(other.into()));
                let mut seen = vec![0; batch.width()];
                batch.observe(row, Seat(other.into()), &mut seen);
                assert_eq!(arrays.row(row), seen, "the row shows what the opponent sees");
                let decide = &bots[usize::from(other) - usize::from(other > seat)];
                K::Game::number(&view, &decide(&view, &|| unreachable!()))
            }
        };
        let answers: Vec<u8> = waits.iter().enumerate().map(act).collect();
        asked += answers.iter().filter(|&&answer| answer != HOLD).count();
        batch.step(&answers, &mut arrays.out());
    }
    asked
}

#[test]
fn it_makes_no_difference_who_asks_the_opponents() {
    let bots = || vec![bot::<Tokyo>("angry"), bot::<Tokyo>("point-hunter")];
    for mode in MODES {
        let seat = LearnerSeat::Fixed(1);
        for specs in [["", ""], ["", "point-hunter"], ["angry", ""]] {
            let (mut outside, mut arrays) = begun(batch::<TokyoKernel>(&specs, seat, 70, 2), 9);
            let inside = batch::<TokyoKernel>(&["angry", "point-hunter"], seat, 70, 2);
            let (mut inside, mut expected) = begun(inside, 9);
            let mut asked = answer(&mut outside, &mut arrays, &bots(), 1);
            assert_eq!(arrays.obs, expected.obs);
            for step in 0..60 {
                (inside.autoreset, outside.autoreset) = (mode, mode);
                let actions: Vec<u8> =
                    (0..70).map(|row| Stream::new(step * 70 + row).uniform(66) as u8).collect();
                inside.step(&actions, &mut expected.out());
                outside.step(&actions, &mut arrays.out());
                asked += answer(&mut outside, &mut arrays, &bots(), 1);
                assert_eq!(arrays, expected, "step {step}, {mode:?}, {specs:?}");
                assert_eq!(inside.final_rewards(), outside.final_rewards());
            }
            assert!(asked > 500, "{asked}");
        }
    }
}

#[test]
fn what_is_saved_goes_on() {
    for seat in [LearnerSeat::Fixed(0), LearnerSeat::Rotating] {
        let (mut race, mut arrays) = begun(batch::<RaceKernel>(&["random"], seat, 67, 1), 4);
        future(&mut race, &mut arrays, Autoreset::NextStep, 30);
        let saved = race.save();
        let told = future(&mut race, &mut arrays.clone(), Autoreset::NextStep, 50);
        let mut again = batch::<RaceKernel>(&["random"], seat, 67, 2);
        again.restore(&saved).unwrap();
        assert_eq!(again.save(), saved);
        assert_eq!(future(&mut again, &mut arrays, Autoreset::NextStep, 50), told);
    }
    let (race, _) = begun(batch::<RaceKernel>(&["random"], LearnerSeat::Fixed(0), 2, 1), 4);
    let mut other = batch::<RaceKernel>(&["random"], LearnerSeat::Fixed(1), 2, 1);
    assert!(other.restore(&race.save()).is_err(), "another seat");
}

/// Over many races the learner's chance in either seat is that of the bot it plays like, and no row repeats another.
#[test]
fn seats_rotate() {
    let (mut race, mut arrays) = begun(batch::<RaceKernel>(&["greedy"], LearnerSeat::Rotating, 64, 1), 1);
    let seats = |race: &Batched<Versus<RaceKernel>>| {
        let mut seats = vec![None; 64];
        race.learner(&mut seats);
        seats.into_iter().map(Option::unwrap).collect::<Vec<u8>>()
    };
    let first = seats(&race);
    let ones = first.iter().filter(|&&seat| seat == 1).count();
    assert!((16..48).contains(&ones), "{ones} begin in the second seat");
    race.autoreset = Autoreset::SameStep;
    let mut matches = vec![0; 64];
    for step in 0..300u64 {
        let actions: Vec<u8> =
            (0..64).map(|row| Stream::new(step * 64 + row).uniform(3).min(1) as u8).collect();
        race.step(&actions, &mut arrays.out());
        matches.iter_mut().zip(&arrays.terminated).for_each(|(count, &over)| *count += u8::from(over));
    }
    assert!(matches.iter().all(|&count| count > 1), "{matches:?}");
    let expected: Vec<u8> = first.iter().zip(&matches).map(|(seat, matches)| (seat + matches) % 2).collect();
    assert_eq!(seats(&race), expected);
}
