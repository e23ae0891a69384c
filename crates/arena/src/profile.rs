//! The profile of a bot: what its decisions cost, in which situations, and what it would gain without its worst habits.

use crate::{
    fault::{Fault, Notes, SeatFault, Trouble},
    lineup::LineupError,
    player::{Answer, MatchStart, Player, Through},
    run::{RunError, run_match},
    stats::{Estimate, without_luck},
};
use necrodome_rules::{
    catalog::Listed,
    chance::{Chance, Seed, Seeded},
    game::{Game, Logged, Move, Seat},
    names::{Names, SetupError},
};
use necrodome_solve::{
    Audit, Ledger, LedgerEntry, Solution, Solver,
    exact::{Asked, Inexact},
};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The most habits that are shown.
const HABITS: usize = 10;
/// A cost below this is rounding.
const NOTHING: f64 = 1e-9;

/// What a bot's decisions cost. Costs are chances to win, or points in a game for one.
#[derive(Debug, Clone, Serialize)]
pub struct Profile {
    /// Matches played.
    pub matches: usize,
    /// Decisions that the bot made in them.
    pub decisions: usize,
    /// Wins per match (a shared win counts one half), or points in a game for one.
    pub result: Option<Estimate>,
    /// The same with the luck of the dice taken out.
    pub luck_adjusted: Option<Estimate>,
    /// The mean cost of a decision.
    pub regret_per_decision: Option<Estimate>,
    /// The cost of all decisions of a match together.
    pub regret_per_match: Option<Estimate>,
    /// The costs by kind of decision, the most expensive kind first.
    pub kinds: Vec<DecisionKind>,
    /// The most expensive habits.
    pub habits: Vec<Habit>,
    /// What the bot would gain without these habits; `None` if it has no habits, or if the new matches were not wanted or not played.
    pub without_habits: Option<Cured>,
    /// The reason why fewer blocks were played than planned: the arena or an endpoint failed, or a budget is used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// What went wrong in the matches, and what the players have written to standard error.
    #[serde(flatten)]
    pub trouble: Trouble,
}

/// Decisions of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct DecisionKind {
    /// What they have in common.
    pub kind: String,
    /// The number of decisions.
    pub decisions: usize,
    /// The number of decisions that were not the best.
    pub mistakes: usize,
    /// Their cost per match.
    pub regret_per_match: Option<Estimate>,
}

/// Something that the bot does again and again.
#[derive(Debug, Clone, Serialize)]
pub struct Habit {
    /// What the bot does, and when.
    pub habit: String,
    /// The mean cost of each time.
    pub cost: f64,
    /// How often it was seen.
    pub times: usize,
    /// The mean number of matches between two times.
    pub matches_between: f64,
    /// The cost per match.
    pub regret_per_match: f64,
}

/// The results of new matches, played by the bot without its worst habits.
#[derive(Debug, Clone, Serialize)]
pub struct Cured {
    /// Wins per match, or points, with the luck taken out.
    pub luck_adjusted: Option<Estimate>,
    /// The difference from the bot as it is, with the same seeds, with the luck taken out.
    pub gain: Option<Estimate>,
}

/// Makes the players of the profile: the bot, and an opponent if the game is for two. They play many matches.
pub type MakePlayers<'a, G> = &'a dyn Fn() -> Result<Vec<Box<dyn Player<G>>>, LineupError>;

/// The plan of a profile.
pub struct ProfilePlan<'a, G: Listed> {
    /// The names: the bot's, then the opponent's if there is one.
    pub names: &'a Names,
    /// The rules.
    pub rules: &'a G::Rules,
    /// The solver of the game.
    pub solver: Solver<G>,
    /// The solution under these rules.
    pub solution: Arc<dyn Solution<G>>,
    /// The seed from which everything follows.
    pub seed: Seed,
    /// The number of blocks: each seed is played from every seat.
    pub blocks: u32,
    /// Whether new matches show what the bot would gain without its habits. They make it three times as many decisions.
    pub mend: bool,
}

/// The reason why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// A player cannot play.
    #[error(transparent)]
    Lineup(#[from] LineupError),
    /// A match cannot be played.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The names cannot be used at one table.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A player never became ready to play, so there is nothing to look at.
    #[error("{name} did not start")]
    NoStart {
        /// Its name.
        name: String,
        /// What went wrong.
        trouble: Trouble,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// The sums over decisions of one kind.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    decisions: usize,
    mistakes: usize,
    regret: f64,
}

impl Tally {
    fn add(&mut self, regret: f64) {
        self.decisions += 1;
        self.mistakes += usize::from(regret > NOTHING);
        self.regret += regret;
    }
}

/// The sums over a bot's decisions in the matches of one block.
#[derive(Debug, Default)]
pub struct PlayedBlock {
    matches: usize,
    result: f64,
    luck: f64,
    all: Tally,
    kinds: BTreeMap<String, Tally>,
    habits: BTreeMap<String, Tally>,
}

impl PlayedBlock {
    /// Adds a match in which the bot had this seat.
    pub fn add<G: Listed>(
        &mut self,
        ledger: &Ledger<G>,
        bot: Seat,
        solver: &Solver<G>,
        solution: &dyn Solution<G>,
    ) {
        let result = if bot.0 == 0 { ledger.result } else { 1.0 - ledger.result };
        self.matches += 1;
        self.result += result;
        self.luck += ledger.luck(bot);
        for entry in &ledger.entries {
            let LedgerEntry::Decision { seat, view, chosen, regret, .. } = entry else { continue };
            if *seat != bot {
                continue;
            }
            self.all.add(*regret);
            self.kinds.entry((solver.kind)(view)).or_default().add(*regret);
            if *regret > NOTHING {
                let habit = (solver.habit)(view, chosen, &solution.best(view));
                self.habits.entry(habit).or_default().add(*regret);
            }
        }
    }
}

/// Plays blocks of matches and audits them. Then it plays new blocks, with the bot as it is and without its worst habits: new ones, since
/// the habits were found in blocks where they happened to cost most. `progress` gets the number of finished blocks and the total, and
/// returns whether to go on.
pub fn profile<G: Listed>(
    plan: &ProfilePlan<G>,
    players: MakePlayers<G>,
    progress: &mut dyn FnMut(u32, u32) -> bool,
) -> Result<Profile, ProfileError> {
    let blocks = plan.blocks;
    let all = if plan.mend { 3 * blocks } else { blocks };
    let mut notes = Notes::default();
    let (plain, mut stopped) = plan.play(players()?, 0, &mut notes, &mut |done| progress(done, all))?;
    let habits = habits(&plain);
    let cured = if habits.is_empty() || !plan.mend || stopped.is_some() {
        None
    } else {
        // The same faults come again: those of the first matches are told.
        let mut untold = Notes::default();
        let (again, early) =
            plan.play(players()?, 1, &mut untold, &mut |done| progress(blocks + done, all))?;
        let mut players = players()?;
        let inner = players.remove(0);
        let worst: BTreeSet<String> = habits.iter().map(|habit| habit.habit.clone()).collect();
        let (solver, solution) = (plan.solver.clone(), plan.solution.clone());
        let mend = move |view: &G::View, answer| mended(&solver, &*solution, &worst, view, answer);
        players.insert(0, Box::new(Through::new(inner, mend)));
        let (mended, late) =
            plan.play(players, 1, &mut untold, &mut |done| progress(2 * blocks + done, all))?;
        stopped = early.or(late);
        stopped.is_none().then_some((again, mended))
    };
    // A share of wins, or points of which there is no most.
    let best = if *G::SEATS.end() == 1 { f64::INFINITY } else { 1.0 };
    let whole = regret_per_match(&plain);
    let most = whole.and_then(|whole| whole.high).unwrap_or(f64::INFINITY);
    let names: BTreeSet<&String> = plain.iter().flat_map(|block| block.kinds.keys()).collect();
    let kind = |name: &String| {
        let of = |block: &PlayedBlock| block.kinds.get(name).copied().unwrap_or_default();
        DecisionKind {
            kind: name.clone(),
            decisions: plain.iter().map(|block| of(block).decisions).sum(),
            mistakes: plain.iter().map(|block| of(block).mistakes).sum(),
            // A part costs no more than the whole.
            regret_per_match: per_match(&plain, |block| of(block).regret)
                .map(|cost| regret(cost.within(0.0, most))),
        }
    };
    let mut kinds: Vec<DecisionKind> = names.into_iter().map(kind).collect();
    let cost = |kind: &DecisionKind| kind.regret_per_match.map_or(0.0, |cost| cost.mean);
    kinds.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    let matches = |block: &PlayedBlock| block.matches as f64;
    let result = |blocks: Vec<(f64, f64)>| match best.is_finite() {
        true => Estimate::of_shares(blocks),
        false => Estimate::of_blocks(blocks).map(|points| points.within(0.0, best).if_they_differ()),
    };
    let adjusted = |blocks: &[PlayedBlock]| {
        let sums = |block: &PlayedBlock| (matches(block), block.result, block.luck);
        result(without_luck(&blocks.iter().map(sums).collect::<Vec<_>>()))
    };
    let without_habits = cured.map(|(again, mended)| {
        let difference = |(plain, mended): (&PlayedBlock, &PlayedBlock)| {
            (matches(plain), mended.result - plain.result, mended.luck - plain.luck)
        };
        let gain: Vec<_> = again.iter().zip(&mended).map(difference).collect();
        let gain = Estimate::of_blocks(without_luck(&gain)).map(Estimate::if_they_differ);
        Cured { luck_adjusted: adjusted(&mended), gain }
    });
    Ok(Profile {
        matches: plain.iter().map(|block| block.matches).sum(),
        decisions: plain.iter().map(|block| block.all.decisions).sum(),
        result: result(plain.iter().map(|block| (matches(block), block.result)).collect()),
        luck_adjusted: adjusted(&plain),
        regret_per_decision: Estimate::of_blocks(
            plain.iter().map(|block| (block.all.decisions as f64, block.all.regret)),
        )
        .map(regret),
        regret_per_match: whole,
        kinds,
        habits,
        without_habits,
        stopped,
        trouble: plan.named(notes),
    })
}

/// Returns the cost of all decisions of a match together.
pub fn regret_per_match(blocks: &[PlayedBlock]) -> Option<Estimate> {
    per_match(blocks, |block| block.all.regret).map(regret)
}

/// Returns an average over matches.
fn per_match(blocks: &[PlayedBlock], value: impl Fn(&PlayedBlock) -> f64) -> Option<Estimate> {
    Estimate::of_blocks(blocks.iter().map(|block| (block.matches as f64, value(block))))
}

/// Returns the cost of decisions, which is never negative.
fn regret(cost: Estimate) -> Estimate {
    cost.within(0.0, f64::INFINITY).if_they_differ()
}

/// Returns the habits with the highest total cost.
pub fn habits(blocks: &[PlayedBlock]) -> Vec<Habit> {
    let matches: usize = blocks.iter().map(|block| block.matches).sum();
    let mut habits: BTreeMap<&String, Tally> = BTreeMap::new();
    for (name, tally) in blocks.iter().flat_map(|block| &block.habits) {
        let sum = habits.entry(name).or_default();
        sum.decisions += tally.decisions;
        sum.regret += tally.regret;
    }
    let mut habits: Vec<(&String, Tally)> = habits.into_iter().collect();
    habits.sort_by(|a, b| b.1.regret.total_cmp(&a.1.regret));
    let habit = |(name, tally): (&String, Tally)| Habit {
        habit: name.clone(),
        cost: tally.regret / tally.decisions as f64,
        times: tally.decisions,
        matches_between: matches as f64 / tally.decisions as f64,
        regret_per_match: tally.regret / matches as f64,
    };
    habits.into_iter().take(HABITS).map(habit).collect()
}

impl<G: Listed> ProfilePlan<'_, G> {
    /// Plays all blocks, or as many as the arena can; if not all, it also returns the reason.
    fn play(
        &self,
        mut players: Vec<Box<dyn Player<G>>>,
        series: u64,
        notes: &mut Notes,
        progress: &mut dyn FnMut(u32) -> bool,
    ) -> Result<(Vec<PlayedBlock>, Option<String>), ProfileError> {
        let mut seeds = Seeded::new(self.seed, "profile", series);
        let mut blocks = Vec::with_capacity(self.blocks as usize);
        let turned = Names::new(Vec::from(self.names.clone()).into_iter().rev())?;
        let mut stopped = None;
        for done in 0..self.blocks {
            if !progress(done) {
                return Err(ProfileError::Interrupted);
            }
            let seed = u64::from(seeds.uniform(u32::MAX)) << 32 | u64::from(seeds.uniform(u32::MAX));
            let mut block = PlayedBlock::default();
            let (ledger, faults) = match self.audit(self.names, seed, &mut players) {
                // What was played before stands.
                Err(RunError::Arena(why)) => {
                    stopped = Some(why);
                    break;
                }
                audited => audited?,
            };
            block.add(&ledger, Seat(0), &self.solver, &*self.solution);
            for fault in &faults {
                notes.fault(fault.seat.index(), &fault.fault, || format!("block {done}, match 0"));
            }
            if let [_, _] = players.as_slice() {
                players.reverse();
                let audited = self.audit(&turned, seed, &mut players);
                players.reverse();
                let (ledger, faults) = match audited {
                    Err(RunError::Arena(why)) => {
                        stopped = Some(why);
                        break;
                    }
                    audited => audited?,
                };
                block.add(&ledger, Seat(1), &self.solver, &*self.solution);
                for fault in &faults {
                    notes.fault(1 - fault.seat.index(), &fault.fault, || format!("block {done}, match 1"));
                }
            }
            if let Some(entry) = players.iter().position(|player| !player.has_started()) {
                close(&mut players, notes);
                let name = self.names[Seat(entry as u16)].to_owned();
                return Err(ProfileError::NoStart { name, trouble: self.named(std::mem::take(notes)) });
            }
            blocks.push(block);
        }
        close(&mut players, notes);
        Ok((blocks, stopped))
    }

    fn named(&self, notes: Notes) -> Trouble {
        notes.named(|entry| self.names[Seat(entry as u16)].to_owned())
    }

    fn audit(
        &self,
        names: &Names,
        seed: u64,
        players: &mut [Box<dyn Player<G>>],
    ) -> Result<(Ledger<G>, Vec<SeatFault>), RunError> {
        let mut states: Vec<(G, Vec<Logged<G::Event>>)> = Vec::new();
        let watch = |game: &G, log: &[Logged<G::Event>]| states.push((game.clone(), log.to_vec()));
        let finished = run_match(names, self.rules, seed, players, watch)?;
        let mut audit = Audit::new(self.solution.clone());
        let mut steps = finished.recording.steps.iter();
        for (game, log) in &states {
            audit.happen(log);
            if let Some(step) = steps.next() {
                audit.decide(game, &step.moves);
            }
        }
        Ok((audit.finish(&finished.outcome), finished.faults))
    }
}

/// Ends all players, and notes their last faults and logs.
fn close<G: Game>(players: &mut [Box<dyn Player<G>>], notes: &mut Notes) {
    for (entry, player) in players.iter_mut().enumerate() {
        let (faults, log) = player.close();
        faults.iter().for_each(|fault| notes.fault(entry, fault, || "the end".to_owned()));
        notes.log(entry, &log);
    }
}

/// Returns the answer of a bot without its worst habits: where it would show one, it plays perfectly instead.
fn mended<G: Listed>(
    solver: &Solver<G>,
    solution: &dyn Solution<G>,
    habits: &BTreeSet<String>,
    view: &G::View,
    answer: Answer<G::Action>,
) -> Answer<G::Action> {
    let choice = match &answer {
        Answer::Act(action, _) | Answer::Partly { action, .. } => Move::Act(action.clone()),
        Answer::Fault(_) | Answer::Quit | Answer::Arena(_) => return answer,
    };
    let best = solution.best(view);
    let cost = solution.price(view, &Move::Act(best.clone())) - solution.price(view, &choice);
    let is_habit = cost > NOTHING && habits.contains(&(solver.habit)(view, &choice, &best));
    if is_habit { Answer::Act(best, None) } else { answer }
}

/// A player that is asked in every state that it can reach.
pub struct Surveyed<G: Listed> {
    player: Box<dyn Player<G>>,
    names: Names,
    asked: usize,
    /// Every `again`-th answer is checked by asking again: every one of a built-in bot, fewer of a process, which takes longer.
    again: usize,
    quits: fn() -> bool,
}

/// The number of questions that are asked as one match: few enough that no time limit of a match runs out.
const QUESTIONS: usize = 200;

impl<G: Listed> Surveyed<G> {
    /// Takes a player whose answer depends only on its view. `quits` says when to give up.
    pub fn new(player: Box<dyn Player<G>>, names: &Names, again: usize, quits: fn() -> bool) -> Self {
        Surveyed { player, names: names.clone(), asked: 0, again, quits }
    }

    /// Ends the player. Returns what went wrong at the end, and the player's log.
    pub fn close(&mut self) -> (Vec<Fault>, String) {
        self.player.close()
    }
}

impl<G: Listed> Asked<G> for Surveyed<G> {
    fn act(&mut self, view: &G::View) -> Result<G::Action, Inexact> {
        if (self.quits)() {
            return Err(Inexact::Interrupted);
        }
        if self.asked.is_multiple_of(QUESTIONS) {
            // From another seat with another seed each time: a function of the view does not look at them.
            let matches = self.asked / QUESTIONS;
            let seat = Seat((matches % self.names.iter().count()) as u16);
            self.player.start(&MatchStart { seat, names: &self.names, seed: matches as u32 });
        }
        self.asked += 1;
        self.player.ask(view);
        match self.player.answer(view) {
            Answer::Act(action, _) => Ok(action),
            Answer::Partly { fault, .. } | Answer::Fault(fault) => {
                Err(Inexact::Silent(format!("{}: {}", fault.kind, fault.detail)))
            }
            Answer::Quit => Err(Inexact::Silent("it has left".to_owned())),
            Answer::Arena(what) => Err(Inexact::Silent(what)),
        }
    }

    fn again(&self) -> usize {
        self.again
    }
}
