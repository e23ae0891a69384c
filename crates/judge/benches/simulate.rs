//! Measures games of 30 players and 8 turns a second on one core: `cargo bench -p necrodome-judge`. The baseline is the plain way
//! of playing them: every player has their own boxed bot.

#![allow(clippy::unwrap_used)]

use necrodome_judge::simulate::{Simulator, Tally, on_threads, sized};
use necrodome_rules::{
    bot::{Bot, BotSpec, BuiltIn},
    chance::Seeded,
    game::{Game, Silent},
    infection::{Action, Ending, Identity, Infection, InfectionRules, InfectionView, built_ins},
    names::Names,
    play::play,
};
use std::{cell::RefCell, rc::Rc, time::Instant};

const PLAYERS: usize = 30;
const ZOMBIES: u32 = 4;
const TURNS: u32 = 8;
const ROUNDS: u64 = 40;
const GAMES: u64 = 500;

/// Plays as a human until the bot is told that it is a zombie.
struct Both<B>(B, B);

impl<B: Bot<Infection>> Bot<Infection> for Both<B> {
    fn act(&mut self, view: &InfectionView) -> Action {
        match view.told.identity {
            Identity::Human => self.0.act(view),
            Identity::Zombie => self.1.act(view),
        }
    }
}

/// A bot that several players share.
#[derive(Clone)]
struct Shared(Rc<RefCell<Box<dyn Bot<Infection>>>>);

impl Bot<Infection> for Shared {
    fn act(&mut self, view: &InfectionView) -> Action {
        self.0.borrow_mut().act(view)
    }
}

struct Plain {
    names: Names,
    rules: InfectionRules,
    bots: Vec<BuiltIn<Infection>>,
    specs: [BotSpec; 2],
}

impl Plain {
    fn build(&self, which: usize, chance: Seeded) -> Box<dyn Bot<Infection>> {
        let spec = &self.specs[which];
        self.bots.iter().find(|bot| bot.name == spec.name).unwrap().build(spec, chance).unwrap()
    }

    fn game(&self, bots: &mut [Box<dyn Bot<Infection>>], number: u64) -> (u32, Ending) {
        let mut chance = Seeded::new(1, "judge simulate", number);
        let mut game = Infection::new(&self.names, &self.rules, &mut chance, &mut Silent).unwrap();
        let outcome = play(&mut game, bots, &mut chance, &mut Silent).unwrap();
        (outcome.turns, game.party().ending().unwrap())
    }

    /// Plays a game in which each player has their own bots and their own randomness.
    fn boxed(&self, number: u64) -> (u32, Ending) {
        let seat = |seat: usize| -> Box<dyn Bot<Infection>> {
            let chance = |purpose| Seeded::new(number, purpose, seat as u64);
            Box::new(Both(self.build(0, chance("human")), self.build(1, chance("zombie"))))
        };
        self.game(&mut (0..PLAYERS).map(seat).collect::<Vec<_>>(), number)
    }

    /// Plays the very game that the simulation plays.
    fn same(&self, number: u64) -> (u32, Ending) {
        let shared = |which, purpose| {
            Shared(Rc::new(RefCell::new(self.build(which, Seeded::new(1, purpose, number)))))
        };
        let (humans, zombies) = (shared(0, "judge simulate humans"), shared(1, "judge simulate zombies"));
        let seat = |_| -> Box<dyn Bot<Infection>> { Box::new(Both(humans.clone(), zombies.clone())) };
        self.game(&mut (0..PLAYERS).map(seat).collect::<Vec<_>>(), number)
    }
}

fn main() {
    let rules = sized(&InfectionRules::default(), ZOMBIES, TURNS).unwrap();
    let specs: [BotSpec; 2] = ["careful", "spreader"].map(|name| name.parse().unwrap());
    let simulator = Simulator::new(PLAYERS, rules, &specs[0], &specs[1]).unwrap();
    let names = Names::new((1..=PLAYERS).map(|number| number.to_string())).unwrap();
    let plain = Plain { names, rules, bots: built_ins(), specs };

    for number in 0..500 {
        let (turns, ending) = simulator.play(1, number).unwrap();
        assert_eq!((turns.len() as u32 - 1, ending), plain.same(number), "game {number}");
    }

    let mut tally = Tally::new(PLAYERS);
    let (mut fast, mut slow, mut boxed_wins) = (f64::INFINITY, f64::INFINITY, 0);
    // In turns, so that a busy machine slows both; the best round counts.
    for round in 0..ROUNDS {
        let start = Instant::now();
        let range = round * GAMES..(round + 1) * GAMES;
        tally = on_threads(Some(1), || simulator.run(1, range, &|_| true)).unwrap().merge(&tally);
        fast = fast.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        for number in round * GAMES..(round + 1) * GAMES {
            boxed_wins += u64::from(plain.boxed(number).1 == Ending::ZombiesWin);
        }
        slow = slow.min(start.elapsed().as_secs_f64());
    }
    let report = tally.report(TURNS as usize).unwrap();
    let (all, wins) = (ROUNDS * GAMES, report.zombies_win);
    // Both are estimates: their difference has an error of its own, of which 4 are more than luck.
    let boxed_rate = boxed_wins as f64 / all as f64;
    let error = (2.0 * wins.rate * (1.0 - wins.rate) / all as f64).sqrt();
    assert!((boxed_rate - wins.rate).abs() < 4.0 * error, "{boxed_rate} and {}", wins.rate);

    let [fast, slow] = [fast, slow].map(|seconds| GAMES as f64 / seconds);
    println!("simulate, {PLAYERS} players, {ZOMBIES} zombies, {TURNS} turns, one core");
    println!("  simulation            {fast:>8.0} games/s");
    println!("  boxed bots (baseline) {slow:>8.0} games/s");
    println!("  ratio                 {:>8.2}", fast / slow);
    println!(
        "  zombies win {:.4} [{:.4}, {:.4}] in {all} games; with boxed bots {boxed_rate:.4}",
        wins.rate, wins.low, wins.high
    );
}
