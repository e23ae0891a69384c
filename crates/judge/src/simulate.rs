//! Simulations of a party: many games between built-in bots, played by the real referee.
//!
//! A player plays one way while they are told to be human, and another once they are told to be a zombie. Every game has
//! its own randomness, derived from the seed and the number of the game, and results are counts: they are the same in
//! any order and on any number of threads.

mod balance;
mod interval;
mod tally;

pub use balance::{Balance, Bounds, Cell, balance};
pub use interval::{Estimate, Quantile, Share};
pub use tally::{Report, Spread, State, Tally, TurnReport};

use necrodome_rules::{
    bot::{Bot, BotSpec, BuiltIn},
    chance::{Seed, Seeded},
    game::{Game, Rejected, Silent},
    infection::{Ending, Identity, Illegal, Infection, InfectionRules, InfectionView, built_ins},
    names::{Names, SetupError},
    options::OptionError,
};
use rayon::prelude::*;
use std::ops::Range;

/// Why a simulation failed.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// There is no such built-in bot.
    #[error("infection has no bot {name:?}: expected one of {}", .valid.join(", "))]
    UnknownBot {
        /// The name that was given.
        name: String,
        /// The bots that exist.
        valid: Vec<String>,
    },
    /// The parameters of a bot are wrong.
    #[error("bot {text:?}: {source}")]
    Params {
        /// The bot, as it was written.
        text: String,
        /// What is wrong.
        source: OptionError,
    },
    /// The referee refuses the set-up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A bot broke the rules, which is a bug in this program.
    #[error("a built-in bot broke the rules: {0}")]
    Bot(#[from] Rejected<Illegal>),
    /// The system refuses to start threads.
    #[error("can't start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
}

/// Changes the number of zombies and of turns in the rules.
pub fn sized(rules: &InfectionRules, zombies: u32, turns: u32) -> Result<InfectionRules, SimulateError> {
    let refuse = |option| move |why| SimulateError::Setup(SetupError::Option { option, why });
    Ok(InfectionRules {
        zombies: zombies.try_into().map_err(refuse("zombies"))?,
        max_turns: turns.try_into().map_err(refuse("max_turns"))?,
        ..*rules
    })
}

/// Runs work on `threads` threads, or on one for each core.
pub fn on_threads<R: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<R, SimulateError> + Send,
) -> Result<R, SimulateError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build()?.install(work)
}

/// The number of games that one thread plays in a row.
const CHUNK: u64 = 16;

/// Plays games of one set-up.
pub struct Simulator {
    names: Names,
    rules: InfectionRules,
    humans: Play,
    zombies: Play,
}

/// A way to play.
struct Play {
    bot: BuiltIn<Infection>,
    spec: BotSpec,
}

impl Play {
    fn find(spec: &BotSpec) -> Result<Self, SimulateError> {
        let mut bots = built_ins();
        let Some(found) = bots.iter().position(|bot| bot.name == spec.name) else {
            let valid = bots.iter().map(|bot| bot.name.to_owned()).collect();
            return Err(SimulateError::UnknownBot { name: spec.name.clone(), valid });
        };
        let play = Play { bot: bots.swap_remove(found), spec: spec.clone() };
        play.build(Seeded::new(0, "trial", 0))?;
        Ok(play)
    }

    fn build(&self, chance: Seeded) -> Result<Box<dyn Bot<Infection>>, SimulateError> {
        let refuse = |source| SimulateError::Params { text: self.spec.to_string(), source };
        self.bot.build(&self.spec, chance).map_err(refuse)
    }
}

impl Simulator {
    /// Makes a simulator: the number of players, the rules, and the bots for players who are told to be human or a zombie.
    pub fn new(
        players: usize,
        rules: InfectionRules,
        humans: &BotSpec,
        zombies: &BotSpec,
    ) -> Result<Self, SimulateError> {
        let names = Names::new((1..=players).map(|number| number.to_string()))?;
        // Refused before anything is played.
        Infection::new(&names, &rules, &mut Seeded::new(0, "trial", 0), &mut Silent)?;
        Ok(Simulator { names, rules, humans: Play::find(humans)?, zombies: Play::find(zombies)? })
    }

    /// The number of players.
    pub fn players(&self) -> usize {
        self.names.len()
    }

    /// The rules.
    pub fn rules(&self) -> &InfectionRules {
        &self.rules
    }

    /// The randomness of one game: of the referee, and of the players who are told to be human or zombies.
    ///
    /// All humans share a stream, and so do all zombies. That is as good as one for each player, and costs three streams a
    /// game instead of sixty.
    fn chances(seed: Seed, number: u64) -> [Seeded; 3] {
        ["judge simulate", "judge simulate humans", "judge simulate zombies"]
            .map(|purpose| Seeded::new(seed, purpose, number))
    }

    /// Plays one game. Returns its state at the start and at the end of each turn, and how it ended.
    pub fn play(&self, seed: impl Into<Seed>, number: u64) -> Result<(Vec<State>, Ending), SimulateError> {
        let mut turns = Vec::new();
        let ending = self.game(seed.into(), number, &mut None, &mut turns, &|| true)?;
        Ok((turns, ending))
    }

    /// Plays one game. `turns` becomes its state at the start and at the end of each turn; `go_on` is called after each.
    fn game(
        &self,
        seed: Seed,
        number: u64,
        view: &mut Option<InfectionView>,
        turns: &mut Vec<State>,
        go_on: &(impl Fn() -> bool + ?Sized),
    ) -> Result<Ending, SimulateError> {
        let [mut chance, humans, zombies] = Self::chances(seed, number);
        let (mut humans, mut zombies) = (self.humans.build(humans)?, self.zombies.build(zombies)?);
        let mut game = Infection::new(&self.names, &self.rules, &mut chance, &mut Silent)?;
        turns.clear();
        turns.push(State::of(game.party()));
        while let Some(&seat) = game.to_act().first() {
            let view = match view {
                Some(view) => {
                    game.refresh_view(seat, view);
                    view
                }
                None => view.insert(game.view(seat)),
            };
            let bot = match view.told.identity {
                Identity::Human => &mut humans,
                Identity::Zombie => &mut zombies,
            };
            game.answer(&bot.act(view), &mut chance, &mut Silent)?;
            if game.party().turns() as usize == turns.len() {
                turns.push(State::of(game.party()));
                if !go_on() {
                    return Err(SimulateError::Stopped);
                }
            }
        }
        game.party().ending().ok_or(SimulateError::Bot(Rejected::Over))
    }

    /// Plays the games with these numbers on the threads of the current pool. `progress` is called with the number of newly
    /// finished games (0 in the middle of one) and says whether to go on.
    pub fn run(
        &self,
        seed: impl Into<Seed>,
        games: Range<u64>,
        progress: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<Tally, SimulateError> {
        let seed = seed.into();
        let empty = || Tally::new(self.players());
        let chunks = games.end.saturating_sub(games.start).div_ceil(CHUNK);
        (0..chunks)
            .into_par_iter()
            .try_fold(empty, |mut tally, chunk| {
                let start = games.start + chunk * CHUNK;
                let (mut view, mut turns) = (None, Vec::new());
                for number in start..games.end.min(start + CHUNK) {
                    let ending = self.game(seed, number, &mut view, &mut turns, &|| progress(0))?;
                    tally.add(&turns, ending);
                    if !progress(1) {
                        return Err(SimulateError::Stopped);
                    }
                }
                Ok(tally)
            })
            .try_reduce(empty, |one, other| Ok(one.merge(&other)))
    }
}
