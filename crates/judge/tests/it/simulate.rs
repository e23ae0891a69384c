//! Simulations: the referee's own games, the same on any number of threads, with numbers that make sense.

use necrodome_judge::simulate::{
    Bounds, Report, SimulateError, Simulator, State, Tally, balance, on_threads, sized,
};
use necrodome_rules::{
    bot::{Bot, BotSpec},
    chance::Seeded,
    game::{Game, Silent},
    infection::{Action, Ending, Identity, Infection, InfectionRules, InfectionView, built_ins},
    names::Names,
    options::{parse, split_pair},
    play::play,
};
use std::{
    cell::RefCell,
    rc::Rc,
    sync::atomic::{AtomicU64, Ordering},
};

const SEED: u64 = 7;

fn spec(text: &str) -> BotSpec {
    text.parse().unwrap()
}

fn rules(zombies: u32, turns: u32, settings: &[&str]) -> InfectionRules {
    let pairs: Vec<_> = settings.iter().map(|pair| split_pair(pair).unwrap()).collect();
    sized(&parse(&pairs).unwrap(), zombies, turns).unwrap()
}

fn simulator(players: usize, zombies: u32, turns: u32, plays: [&str; 2]) -> Simulator {
    let [humans, zombie_play] = plays.map(spec);
    Simulator::new(players, rules(zombies, turns, &[]), &humans, &zombie_play).unwrap()
}

fn run(simulator: &Simulator, games: u64) -> Tally {
    simulator.run(SEED, 0..games, &|_| true).unwrap()
}

fn report(players: usize, zombies: u32, turns: u32, games: u64) -> Report {
    let simulator = simulator(players, zombies, turns, ["careful", "spreader"]);
    run(&simulator, games).report(turns as usize).unwrap()
}

#[test]
fn what_suits_the_number_of_players_gives_both_sides_a_chance() {
    for players in [4, 10, 20, 40, 65, 100, 200, 300] {
        let rules = InfectionRules::default().suited(players);
        let simulator = Simulator::new(players, rules, &spec("careful"), &spec("spreader")).unwrap();
        let report = run(&simulator, 200).report(rules.max_turns.get() as usize).unwrap();
        let share = report.zombies_win.rate;
        assert!((0.3..0.7).contains(&share), "{players} players: the zombies win {share}");
    }
}

type Boxed = Box<dyn Bot<Infection>>;

/// Plays as a human until the player is told to be a zombie, with bots that all players share.
struct Shared([Rc<RefCell<Boxed>>; 2]);

impl Bot<Infection> for Shared {
    fn act(&mut self, view: &InfectionView) -> Action {
        let which = usize::from(view.told.identity == Identity::Zombie);
        self.0[which].borrow_mut().act(view)
    }
}

#[test]
fn the_games_are_those_of_the_referee() {
    for (players, plays) in
        [(30, ["careful", "spreader"]), (9, ["random", "random"]), (70, ["spreader:dose=2", "careful"])]
    {
        let simulator = simulator(players, 2, 6, plays);
        let names = Names::new((1..=players).map(|number| number.to_string())).unwrap();
        for number in 0..20 {
            let build = |text: &str, purpose| -> Rc<RefCell<Boxed>> {
                let spec = spec(text);
                let bot = built_ins().into_iter().find(|bot| bot.name == spec.name).unwrap();
                Rc::new(RefCell::new(bot.build(&spec, Seeded::new(SEED, purpose, number)).unwrap()))
            };
            let shared =
                [build(plays[0], "judge simulate humans"), build(plays[1], "judge simulate zombies")];
            let mut bots: Vec<Boxed> =
                (0..players).map(|_| Box::new(Shared(shared.clone())) as Boxed).collect();
            let mut chance = Seeded::new(SEED, "judge simulate", number);
            let mut game = Infection::new(&names, simulator.rules(), &mut chance, &mut Silent).unwrap();
            let outcome = play(&mut game, &mut bots, &mut chance, &mut Silent).unwrap();
            let (turns, ending) = simulator.play(SEED, number).unwrap();
            assert_eq!(Some(ending), game.party().ending(), "game {number} of {players}");
            assert_eq!(turns.len() as u32 - 1, outcome.turns);
            let humans = game.party().players().iter().filter(|player| player.identity() == Identity::Human);
            assert_eq!(usize::from(turns.last().unwrap().humans), humans.count());
        }
    }
}

/// Balance relies on this: a game of many turns also shows how a shorter one would have ended.
#[test]
fn no_bot_plays_otherwise_because_of_the_number_of_turns() {
    for human in built_ins() {
        for zombie in built_ins() {
            let plays = [human.name, zombie.name];
            let (long, short) = (simulator(12, 2, 9, plays), simulator(12, 2, 3, plays));
            for number in 0..20 {
                let (long, long_ending) = long.play(SEED, number).unwrap();
                let (short, ending) = short.play(SEED, number).unwrap();
                assert_eq!(short, long[..long.len().min(4)], "{plays:?}");
                assert_eq!(
                    ending,
                    if long.len() <= 4 { long_ending } else { Ending::HumansWin },
                    "{plays:?}"
                );
            }
        }
    }
}

#[test]
fn without_zombies_the_humans_win_after_the_last_turn() {
    let report = report(10, 0, 5, 200);
    assert_eq!((report.humans_win.games, report.zombies_win.games), (200, 0));
    assert!(report.humans_win.low > 0.97 && report.humans_win.low < 1.0 && report.humans_win.high == 1.0);
    assert_eq!((report.length.mean.mean, report.length.median.value), (5.0, 5));
    assert_eq!(report.turns.len(), 6, "the start and five turns");
    for turn in &report.turns {
        assert_eq!(turn.humans.quartiles().map(|quartile| quartile.value), [10; 3]);
        assert_eq!(turn.zombies.mean.mean, 0.0);
        assert_eq!(turn.running.games, if turn.turn < 5 { 200 } else { 0 });
    }
}

#[test]
fn one_human_never_needs_a_second_turn() {
    // Alone against zombies: it is the survivor, or it is bitten, after one turn.
    let report = report(6, 5, 8, 300);
    assert_eq!(report.humans_win.games, 0);
    assert_eq!(report.length.mean.mean, 1.0);
    assert_eq!(report.zombies_win.games + report.survivor_wins.games, 300);
}

/// The zombies' own chance does not always grow with their number: sometimes a single survivor wins instead.
#[test]
fn more_zombies_and_more_turns_leave_the_humans_less() {
    let humans = |zombies, turns| report(20, zombies, turns, 1500).humans_win;
    let rates = [1, 2, 4, 6].map(|zombies| humans(zombies, 3));
    assert!(rates.windows(2).all(|pair| pair[0].low > pair[1].high), "{rates:?}");
    let rates = [2, 3, 4].map(|turns| humans(3, turns));
    assert!(rates.windows(2).all(|pair| pair[0].low > pair[1].high), "{rates:?}");
    let zombies = [2, 3, 5].map(|turns| report(20, 3, turns, 1500).zombies_win);
    assert!(zombies.windows(2).all(|pair| pair[0].high < pair[1].low), "{zombies:?}");
}

#[test]
fn the_numbers_fit_each_other() {
    let report = report(15, 2, 6, 1000);
    let shares = [report.zombies_win, report.survivor_wins, report.humans_win];
    assert_eq!(shares.iter().map(|share| share.games).sum::<u64>(), 1000);
    assert!(shares.iter().all(|share| share.low <= share.rate && share.rate <= share.high));
    for turn in &report.turns {
        assert!((turn.humans.mean.mean + turn.zombies.mean.mean - 15.0).abs() < 1e-9);
        assert!(turn.infected.mean.mean <= turn.humans.mean.mean);
        for spread in [turn.humans, turn.zombies, turn.infected] {
            assert!(spread.mean.low <= spread.mean.mean && spread.mean.mean <= spread.mean.high);
            let values = spread.quartiles().map(|quartile| quartile.value);
            assert!(values.is_sorted(), "{values:?}");
        }
    }
    let humans: Vec<f64> = report.turns.iter().map(|turn| turn.humans.mean.mean).collect();
    assert!(
        humans.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9),
        "nobody becomes human again: {humans:?}"
    );
    assert!(report.turns[1..].iter().any(|turn| turn.infected.mean.mean > 0.0));
}

/// Works out everything again from the single games, the slow way.
#[test]
fn the_report_is_that_of_the_single_games() {
    let (games, turns) = (101, 6);
    let simulator = simulator(15, 2, turns, ["random", "spreader"]);
    let report = run(&simulator, games).report(turns as usize).unwrap();
    let all: Vec<(Vec<State>, Ending)> =
        (0..games).map(|number| simulator.play(SEED, number).unwrap()).collect();
    let sorted = |value: &dyn Fn(&[State]) -> u16| -> Vec<u16> {
        let mut values: Vec<u16> = all.iter().map(|(states, _)| value(states)).collect();
        values.sort_unstable();
        values
    };
    // Of 101 values in order, the 26th, 51st and 76th.
    let quartiles = |values: &[u16]| [25, 50, 75].map(|place| usize::from(values[place]));
    let mean = |values: &[u16]| values.iter().map(|&value| f64::from(value)).sum::<f64>() / games as f64;
    for turn in &report.turns {
        let last = |states: &[State]| states[turn.turn.min(states.len() - 1)];
        for (spread, values) in [
            (turn.humans, sorted(&|states| last(states).humans)),
            (turn.zombies, sorted(&|states| 15 - last(states).humans)),
            (turn.infected, sorted(&|states| last(states).infected)),
        ] {
            assert_eq!(
                spread.quartiles().map(|quartile| quartile.value),
                quartiles(&values),
                "turn {}",
                turn.turn
            );
            assert!((spread.mean.mean - mean(&values)).abs() < 1e-9);
        }
    }
    let lengths = sorted(&|states| states.len() as u16 - 1);
    assert_eq!(report.length.quartiles().map(|quartile| quartile.value), quartiles(&lengths));
    let won = all.iter().filter(|(_, ending)| *ending == Ending::ZombiesWin).count();
    assert_eq!(report.zombies_win.games, won as u64);
}

#[test]
fn threads_and_pieces_make_no_difference() {
    let simulator = simulator(20, 3, 8, ["careful", "spreader"]);
    let on = |threads| on_threads(Some(threads), || simulator.run(SEED, 0..500, &|_| true)).unwrap();
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(5));
    let pieces = [0..3, 3..250, 250..500].map(|range| simulator.run(SEED, range, &|_| true).unwrap());
    let merged = pieces.iter().fold(Tally::new(20), |all, piece| all.merge(piece));
    assert_eq!(one, merged);
    assert_ne!(one, simulator.run(SEED + 1, 0..500, &|_| true).unwrap());
}

#[test]
fn it_counts_and_stops_when_told() {
    let simulator = simulator(10, 2, 4, ["careful", "spreader"]);
    let heard = AtomicU64::new(0);
    simulator.run(SEED, 0..77, &|games| heard.fetch_add(games, Ordering::Relaxed) < 1000).unwrap();
    assert_eq!(heard.into_inner(), 77);
    let stopped = simulator.run(SEED, 0..1_000_000_000, &|_| false);
    assert!(matches!(stopped, Err(SimulateError::Stopped)));
}

#[test]
fn what_cannot_be_played_is_refused() {
    let set_up = |players, zombies, humans: &str| {
        Simulator::new(players, rules(zombies, 8, &[]), &spec(humans), &spec("spreader")).err()
    };
    assert!(matches!(set_up(1, 0, "careful"), Some(SimulateError::Setup(_))));
    assert!(matches!(set_up(501, 0, "careful"), Some(SimulateError::Setup(_))));
    assert!(matches!(set_up(5, 5, "careful"), Some(SimulateError::Setup(_))), "nobody to bite");
    let unknown = set_up(5, 1, "carefull");
    assert!(
        matches!(unknown, Some(SimulateError::UnknownBot { valid, .. }) if valid.contains(&"careful".to_owned()))
    );
    assert!(matches!(set_up(5, 1, "careful:reserve=0"), Some(SimulateError::Params { .. })));
    assert!(set_up(2, 1, "careful:reserve=3").is_none());
    assert!(
        sized(&InfectionRules::default(), 500, 8).is_err()
            && sized(&InfectionRules::default(), 1, 0).is_err()
    );
    assert!(Tally::new(5).report(8).is_none());
}

fn race(bounds: &Bounds, threads: usize) -> necrodome_judge::simulate::Balance {
    let plays = [&spec("careful"), &spec("spreader")];
    let race = || balance(20, &InfectionRules::default(), plays, bounds, SEED, &|_| {}, &|_| true);
    on_threads(Some(threads), race).unwrap().unwrap()
}

#[test]
fn balance_finds_the_fairest_cell() {
    let bounds = Bounds { max_zombies: 7, max_turns: 6, games: 2000 };
    let found = race(&bounds, 2);
    assert_eq!(found, race(&bounds, 1));
    assert_eq!(found.cells.len(), 42);
    let fairest = found.fairest();
    assert!(fairest.windows(2).all(|pair| pair[0].unfairness.mean <= pair[1].unfairness.mean));
    let best = found.recommended;
    assert!(best.unfairness.low <= fairest[0].unfairness.high);
    // Nothing that may be as fair is shorter.
    let limit = found.cells.iter().map(|cell| cell.unfairness.high).fold(1.0, f64::min);
    let equals = fairest.iter().filter(|cell| cell.unfairness.low <= limit);
    assert_eq!(equals.clone().count(), found.candidates);
    assert!(equals.clone().all(|cell| cell.length.mean >= best.length.mean));
    // Hopeless rows are given up, the best is not.
    assert_eq!(fairest[0].games, 2000);
    assert!(found.cells.iter().any(|cell| cell.games < 2000), "nothing was dropped");
}

#[test]
fn a_cell_is_what_simulating_it_alone_gives() {
    let found = race(&Bounds { max_zombies: 4, max_turns: 6, games: 300 }, 2);
    for cell in found.cells.iter().filter(|cell| cell.turns % 2 == 0) {
        let alone = report(20, cell.zombies, cell.turns, cell.games);
        assert_eq!(cell.zombies_win, alone.zombies_win);
        assert_eq!(cell.survivor_wins, alone.survivor_wins);
        assert_eq!(cell.humans_win, alone.humans_win);
        assert_eq!(cell.length, alone.length.mean);
    }
}
