//! The questions of an exam, and how they are drawn.
//!
//! A draw is one decision of a match between built-in bots; each decision of the match is equally likely. In matches with even numbers the
//! bots are perfect players, in the others they come from the game's usual line-up. Decisions in which all options are worth the same are
//! left out. The positions of a large pool of draws are cut into bands by what is at stake. The bands with more at stake, where a mistake
//! costs most, supply more questions. A band supplies the positions that came up first. No position is asked twice, but one that comes up
//! often in play counts for more: its weight is its share of the pool, divided by the probability that it was chosen (Horvitz and Thompson,
//! "A generalization of sampling without replacement from a finite universe", 1952).

use necrodome_rules::{
    bot::Decide,
    catalog::Listed,
    chance::{Chance, Seed, Seeded},
    game::{Game, Logged, Move, Seat},
    names::{Names, SetupError},
};
use necrodome_solve::{
    OPTIMAL, Price, Solution, Solver, Unsolved,
    bots::{BotError, decider},
    solver,
};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// The fewest positions of an exam: every band has several.
pub const LEAST_POSITIONS: usize = 20;
/// The most positions of an exam.
pub const MOST_POSITIONS: usize = 10_000;
/// Draws of the pool for each position of the exam. With this many, the pool's own error hardly counts.
const DRAWS: usize = 10;
const LEAST_DRAWS: usize = 2000;
/// Two prices with a smaller difference than this are equal but for rounding.
pub(super) const NOTHING: f64 = 1e-9;
/// The number of bands of what is at stake. They have equal numbers of different positions.
const BANDS: usize = 4;

/// A position with a decision to make.
#[derive(Debug, Clone)]
pub struct Question<G: Game> {
    /// The seat that decides.
    pub seat: Seat,
    /// The position.
    pub game: G,
    /// The seat's view.
    pub view: G::View,
    /// The events that the seat has heard since its last decision.
    pub heard: Vec<G::Event>,
    /// The value of every option.
    pub prices: Vec<Price<G::Action>>,
    /// The value of the best option.
    pub best: f64,
    /// The value of the best option minus that of the worst.
    pub stake: f64,
    /// The kind of the decision.
    pub kind: String,
    /// The number of its band.
    pub band: usize,
    /// Its weight in its band: 1 if it came up once in the pool.
    pub times: f64,
}

/// Decisions with about as much at stake.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// The lowest stake.
    pub from: f64,
    /// The highest stake.
    pub to: f64,
    /// The band's share of the pool.
    pub weight: f64,
    /// The number of questions from it.
    pub questions: usize,
}

/// The questions of an exam: a function of the game, its rules, the number of positions and the seed.
pub struct Paper<G: Listed> {
    /// The solver of the game.
    pub solver: Solver<G>,
    /// Its solution.
    pub solution: Arc<dyn Solution<G>>,
    /// The seed.
    pub seed: Seed,
    /// The number of positions that the user asked for.
    pub positions: usize,
    /// The questions, in the order in which they are asked: any beginning of the list has a fair share of each band. There are
    /// fewer than `positions` if not enough different positions came up.
    pub questions: Vec<Question<G>>,
    /// The bands, the one with least at stake first.
    pub bands: Vec<Band>,
    /// The number of draws with something at stake; the shares of the bands come from these.
    pub pool: usize,
    /// The share of all decisions in which nothing was at stake.
    pub idle: f64,
}

/// The reason why there are no questions.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// The game is not solved.
    #[error(transparent)]
    Unsolved(#[from] Unsolved),
    /// A built-in bot cannot play under these rules.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// A match cannot be set up under these rules.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// Under these rules nothing is ever at stake, or a built-in bot broke a rule.
    #[error("the arena's own bots come to no decision in which something is at stake")]
    Nothing,
}

impl<G: Listed> Paper<G> {
    /// Draws the questions.
    pub fn set(rules: &G::Rules, positions: usize, seed: Seed) -> Result<Self, PaperError> {
        let solver = solver::<G>().ok_or(Unsolved::Game { game: G::ID })?;
        let seats = 2.clamp(*G::SEATS.start(), *G::SEATS.end());
        let solution = (solver.solve)(rules, seats)?;
        let hall = Hall::<G>::new(rules, seats, seed)?;
        let draws = (DRAWS * positions).max(LEAST_DRAWS);
        let (mut pool, mut decisions) = (Pool::default(), 0_u32);
        for number in 0..draws as u64 {
            // In solo a first roll that is not asked for may end it all.
            let Some(drawn) = hall.draw(number)? else { continue };
            decisions += 1;
            let prices = solution.prices(&drawn.view);
            let ends = |pick: fn(f64, f64) -> f64| prices.iter().map(|price| price.value).reduce(pick);
            let best = ends(f64::max).unwrap_or_default();
            let stake = best - ends(f64::min).unwrap_or_default();
            if stake > NOTHING {
                pool.add(Question { kind: (solver.kind)(&drawn.view), prices, best, stake, ..drawn });
            }
        }
        let pooled = pool.draws.len();
        if pooled == 0 {
            return Err(PaperError::Nothing);
        }
        let (bands, questions) = pool.choose(positions);
        let idle = 1.0 - pooled as f64 / f64::from(decisions);
        Ok(Paper { solver, solution, seed, positions, questions, bands, pool: pooled, idle })
    }

    /// Returns the names at the table. They are the same for all entries, so that all get the same question.
    pub fn names(&self, question: &Question<G>) -> Names {
        at_table(question.seat, question.game.seats())
    }

    /// Returns the value of the best decision on a question minus the value of this one.
    pub fn regret(&self, question: &Question<G>, choice: &Move<G::Action>) -> f64 {
        (question.best - self.solution.price(&question.view, choice)).max(0.0)
    }

    /// Returns the regret at which a decision is a blunder: a twentieth of a win, or a tenth of what a perfect player scores alone.
    pub fn blunder(&self) -> f64 {
        if *G::SEATS.end() == 1 { 0.1 * self.solution.start() } else { 0.05 }
    }
}

/// Returns names: `Player` on a seat, and `Opponent` on the other if there is one.
fn at_table(seat: Seat, seats: usize) -> Names {
    let name = |&other: &Seat| if other == seat { "Player" } else { "Opponent" };
    #[allow(clippy::expect_used)] // Two names that differ and that anybody may have.
    Names::new(Seat::all(seats).iter().map(name)).expect("names that differ")
}

/// The bots and rules with which draws are played.
struct Hall<'a, G: Listed> {
    rules: &'a G::Rules,
    names: Names,
    seed: Seed,
    perfect: Decide<G>,
    ordinary: Vec<Decide<G>>,
}

impl<'a, G: Listed> Hall<'a, G> {
    fn new(rules: &'a G::Rules, seats: usize, seed: Seed) -> Result<Self, PaperError> {
        let bot = |text: &str| -> Result<Decide<G>, PaperError> {
            // The names of a card are well-formed, which a test of the catalog holds.
            Ok(decider::<G>(&text.parse().map_err(|_| PaperError::Nothing)?, rules)?)
        };
        let ordinary = G::CARD.entries().map(|(_, text)| bot(text)).collect::<Result<_, _>>()?;
        Ok(Hall { rules, names: at_table(Seat(0), seats), seed, perfect: bot(OPTIMAL)?, ordinary })
    }

    /// Returns the decision of one draw, or `None` if the match had none. Prices and everything that follows from them are filled in later.
    fn draw(&self, number: u64) -> Result<Option<Question<G>>, PaperError> {
        let mut lots = Seeded::new(self.seed, "exam draw", number);
        let mut chance = Seeded::new(self.seed, "exam match", number);
        let mut pick = || match number % 2 {
            0 => &self.perfect,
            _ => &self.ordinary[lots.uniform(self.ordinary.len() as u32) as usize],
        };
        let bots: Vec<&Decide<G>> = (0..self.names.len()).map(|_| pick()).collect();
        let mut log: Vec<Logged<G::Event>> = Vec::new();
        let mut game = G::new(&self.names, self.rules, &mut chance, &mut log)?;
        let mut heard_before = vec![0; self.names.len()];
        let (mut decisions, mut drawn) = (0_u64, None);
        while let [seat] = *game.to_act() {
            let view = game.view(seat);
            let own = || Seeded::new(self.seed, "exam bot", number << 24 | decisions);
            let action = bots[seat.index()](&view, &own);
            decisions += 1;
            // Each of the decisions so far is as likely to be the one that is kept.
            if lots.uniform(decisions as u32) == 0 {
                let since = log[heard_before[seat.index()]..].iter();
                let heard = since.filter(|logged| logged.audience.includes(seat));
                drawn = Some(Question {
                    seat,
                    game: game.clone(),
                    view,
                    heard: heard.map(|logged| logged.event.clone()).collect(),
                    prices: Vec::new(),
                    best: 0.0,
                    stake: 0.0,
                    kind: String::new(),
                    band: 0,
                    times: 1.0,
                });
            }
            heard_before[seat.index()] = log.len();
            if game.apply(&[Move::Act(action)], &mut chance, &mut log).is_err() {
                return Ok(None);
            }
        }
        Ok(drawn)
    }
}

/// Positions in the order in which they came up.
struct Pool<G: Game> {
    /// The different positions.
    found: Vec<Question<G>>,
    /// The index in `found` of the position with each view.
    places: HashMap<String, usize>,
    /// The index in `found` for each draw.
    draws: Vec<usize>,
}

impl<G: Game> Default for Pool<G> {
    fn default() -> Self {
        Pool { found: Vec::new(), places: HashMap::new(), draws: Vec::new() }
    }
}

impl<G: Game> Pool<G> {
    fn add(&mut self, question: Question<G>) {
        let key = serde_json::to_string(&question.view).unwrap_or_default();
        let place = *self.places.entry(key).or_insert_with(|| {
            self.found.push(question);
            self.found.len() - 1
        });
        self.draws.push(place);
    }

    /// Cuts the positions into bands and chooses the questions: twice as many from the second band as from the first, and so on.
    fn choose(mut self, positions: usize) -> (Vec<Band>, Vec<Question<G>>) {
        let mut bands = self.cut();
        let shares = (1..=bands.len()).sum::<usize>();
        let mut chosen: Vec<(f64, Question<G>)> = Vec::new();
        for (number, band) in bands.iter_mut().enumerate() {
            // Differences of rounded sums, so that all positions are given.
            let upto = |rank: usize| (positions * rank * (rank + 1) / 2 + shares / 2) / shares;
            let picked = self.pick(number, upto(number + 1) - upto(number));
            band.questions = picked.len();
            let place = |order: usize| (order as f64 + 0.5) / picked.len() as f64;
            chosen.extend(picked.iter().enumerate().map(|(order, &(question, times))| {
                (place(order), Question { times, ..self.found[question].clone() })
            }));
        }
        // Any beginning has a fair share of each band.
        chosen.sort_by(|a, b| a.0.total_cmp(&b.0));
        (bands, chosen.into_iter().map(|(_, question)| question).collect())
    }

    /// Cuts bands with equal numbers of positions; equal stakes stay together.
    fn cut(&mut self) -> Vec<Band> {
        let mut stakes: Vec<f64> = self.found.iter().map(|question| question.stake).collect();
        stakes.sort_by(f64::total_cmp);
        let mut bands: Vec<Band> = Vec::new();
        let mut from = 0;
        for part in 1..=BANDS {
            let end = stakes[(stakes.len() * part).div_ceil(BANDS) - 1] + NOTHING;
            let to = stakes.partition_point(|&stake| stake <= end);
            if to > from {
                bands.push(Band { from: stakes[from], to: stakes[to - 1], weight: 0.0, questions: 0 });
                from = to;
            }
        }
        for question in &mut self.found {
            question.band = bands.partition_point(|band| band.to < question.stake);
        }
        for &question in &self.draws {
            bands[self.found[question].band].weight += 1.0 / self.draws.len() as f64;
        }
        bands
    }

    /// Returns the positions of a band that came up first, each with its weight.
    fn pick(&self, band: usize, most: usize) -> Vec<(usize, f64)> {
        let draws: Vec<usize> =
            self.draws.iter().copied().filter(|&question| self.found[question].band == band).collect();
        let mut counts: HashMap<usize, u32> = HashMap::new();
        draws.iter().for_each(|&question| *counts.entry(question).or_default() += 1);
        let mut picked: Vec<usize> = Vec::new();
        let mut seen = HashSet::new();
        let mut looked = draws.len();
        for (number, &question) in draws.iter().enumerate() {
            if picked.len() == most && !seen.contains(&question) {
                looked = number;
                break;
            }
            if seen.insert(question) {
                picked.push(question);
            }
        }
        let share = looked as f64 / draws.len() as f64;
        let counting = |question: usize| {
            let count = counts[&question];
            // In any order of the draws, none of the first ones is one of so many.
            let missed: f64 = (0..count)
                .map(|other| {
                    let (all, left) = (draws.len() as f64, f64::from(other));
                    ((all - looked as f64 - left) / (all - left)).max(0.0)
                })
                .product();
            (question, f64::from(count) * share / (1.0 - missed))
        };
        picked.into_iter().map(counting).collect()
    }
}
