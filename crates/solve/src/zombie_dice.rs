//! The three formats of Zombie Dice as solved games; they differ in the values of the ends of a turn.

use crate::{
    exact::{Asked, Exact, ExactRace, Inexact, RaceProfile, solo},
    export::Array,
    position::{self, Impossible},
    race::RaceSolution,
    solo::SoloSolution,
    solution::{Meter, Price, Roll, Shelf, Solution, Solvable, Unsolved, Worth, to_first},
    table::{Standing, TableSolution},
    turn::{Graph, Position, Spot, TurnPrices},
};
use necrodome_rules::{
    bot::Bot,
    catalog::Listed,
    game::{Audience, Game, Log, Move, Seat},
    options::Bounded,
    words::count,
    zombie_dice::{
        Action, Die, Event, FirstRoll, GOAL, OutOfDice, Race, RaceRules, RaceView, Rolled, Solo, SoloRules,
        SoloView, Table, TableRules, TableView, Tiebreak, Turn, TurnView, words,
    },
};
use std::{ops::Range, sync::Arc};

/// A limit of this many rounds changes no value by as much as a rounding error: players who want to win have banked
/// thirteen brains long before, whatever the other does.
pub const ROUNDS: u32 = 200;

/// A format of Zombie Dice, solved: prices for every turn.
pub trait TurnSolution: Send + Sync + 'static {
    /// The prices of the turn of `seat`, by the scores of the seats and whether it is a tiebreak.
    fn turn(&self, seat: Seat, scores: [u32; 2], tiebreak: bool) -> TurnPrices<'_>;

    /// The positions of a turn.
    fn graph(&self) -> &Graph;

    /// The rule for a turn whose dice are used up.
    fn out_of_dice(&self) -> OutOfDice {
        self.graph().out_of_dice()
    }

    /// Turns a value to the mover into a value to seat 0.
    fn to_first(&self, seat: Seat, value: f64) -> f64 {
        to_first(seat, value)
    }
}

impl TurnSolution for SoloSolution {
    fn turn(&self, _: Seat, _: [u32; 2], _: bool) -> TurnPrices<'_> {
        self.prices()
    }

    fn graph(&self) -> &Graph {
        self.graph()
    }

    fn to_first(&self, _: Seat, value: f64) -> f64 {
        value
    }
}

impl TurnSolution for RaceSolution {
    fn turn(&self, seat: Seat, scores: [u32; 2], _: bool) -> TurnPrices<'_> {
        let own = seat.index().min(1);
        self.prices(scores[own].min(GOAL - 1), scores[1 - own].min(GOAL - 1))
    }

    fn graph(&self) -> &Graph {
        self.graph()
    }
}

impl TurnSolution for TableSolution {
    fn turn(&self, seat: Seat, scores: [u32; 2], tiebreak: bool) -> TurnPrices<'_> {
        let [first, second] = scores;
        self.prices(match (seat.0, tiebreak) {
            (0, true) => Standing::TiebreakFirst,
            (_, true) => Standing::TiebreakSecond { behind: first.saturating_sub(second) },
            (0, false) => Standing::First { own: first.min(GOAL - 1), other: second.min(GOAL - 1) },
            (_, false) if first >= GOAL => Standing::Chase { behind: first - second.min(GOAL - 1) },
            (_, false) => Standing::Second { own: second.min(GOAL - 1), other: first },
        })
    }

    fn graph(&self) -> &Graph {
        self.graph()
    }
}

/// What the price of a turn depends on, in a view of any format.
trait TurnSeen: AsRef<TurnView> {
    fn seat(&self) -> Seat;
    fn scores(&self) -> [u32; 2];
    fn tiebreak(&self) -> bool {
        false
    }
    /// Checks that somebody can have a turn with these scores.
    fn goes_on(&self) -> Result<(), Impossible>;
}

impl TurnSeen for SoloView {
    fn seat(&self) -> Seat {
        Seat(0)
    }

    fn scores(&self) -> [u32; 2] {
        [0; 2]
    }

    fn goes_on(&self) -> Result<(), Impossible> {
        Ok(())
    }
}

impl TurnSeen for RaceView {
    /// The race is the same for both seats: the viewer counts as first.
    fn seat(&self) -> Seat {
        Seat(0)
    }

    fn scores(&self) -> [u32; 2] {
        [self.score, self.opponent_score]
    }

    fn goes_on(&self) -> Result<(), Impossible> {
        position::race_goes_on(self.score, self.opponent_score)
    }
}

impl TurnSeen for TableView {
    fn seat(&self) -> Seat {
        self.seat
    }

    fn scores(&self) -> [u32; 2] {
        [0, 1].map(|seat| self.scores.get(seat).copied().unwrap_or(0))
    }

    fn tiebreak(&self) -> bool {
        self.tiebreak
    }

    fn goes_on(&self) -> Result<(), Impossible> {
        position::for_two::<Table>(self.scores.len(), self.seat)?;
        Standing::of(self.seat, self.scores(), self.tiebreak).map(|_| ())
    }
}

fn seen<'a>(solution: &'a impl TurnSolution, view: &impl TurnSeen) -> TurnPrices<'a> {
    solution.turn(view.seat(), view.scores(), view.tiebreak())
}

fn check(solution: &impl TurnSolution, view: &impl TurnSeen) -> Result<(), Impossible> {
    view.goes_on()?;
    solution.graph().find(&Position::of(view.as_ref())?).map(|_| ())
}

fn price(solution: &impl TurnSolution, view: &impl TurnSeen, choice: &Move<Action>) -> f64 {
    let prices = seen(solution, view);
    let turn: &TurnView = view.as_ref();
    match choice {
        Move::Act(Action::Go) => prices.go(solution.graph().spot_of(&turn.into())),
        Move::Act(Action::Stop) => prices.banked(turn.brains),
        Move::Forfeit => prices.banked(0),
    }
}

fn best(solution: &impl TurnSolution, view: &impl TurnSeen) -> Action {
    let spot = solution.graph().spot_of(&Position::from(view.as_ref()));
    if seen(solution, view).rolls(spot) { Action::Go } else { Action::Stop }
}

/// Follows the turns of a match.
///
/// The values of rolls are scattered over many megabytes. So the meter only notes where they are while the match goes on, and
/// fetches those of all its rolls together, which the processor does for many at a time.
#[derive(Debug)]
pub struct TurnMeter<F> {
    solution: Arc<F>,
    turn: Turn,
    scores: [u32; 2],
    tiebreak: bool,
    /// The turns in which dice were rolled.
    turns: Vec<TurnOf>,
    /// The results of the rolls of all turns.
    rolls: Vec<After>,
    /// Whether the last of the turns may go on.
    open: bool,
    /// Whether somebody has taken the last roll.
    taken: bool,
}

/// Whose turn it is, what its prices depend on, and the number of its first roll.
#[derive(Debug, Clone, Copy)]
struct TurnOf {
    seat: Seat,
    tiebreak: bool,
    scores: [u32; 2],
    first: usize,
}

/// The result of a roll.
#[derive(Debug, Clone, Copy)]
enum After {
    GoOn(Spot),
    Banked(u32),
    Bust,
    /// Dice that no referee rolls change nothing.
    Nothing,
}

impl<F: TurnSolution> TurnMeter<F> {
    fn new(solution: Arc<F>) -> Self {
        TurnMeter {
            solution,
            turn: Turn::START,
            scores: [0; 2],
            tiebreak: false,
            turns: Vec::new(),
            rolls: Vec::new(),
            open: false,
            taken: true,
        }
    }

    fn start_turn(&mut self) {
        (self.turn, self.open) = (Turn::START, false);
    }

    #[inline]
    fn hear(&mut self, event: &Event) {
        match event {
            Event::Rolled { seat, hand, .. } => self.roll(*seat, *hand),
            Event::TurnEnded { seat, score, .. } => {
                self.start_turn();
                if let Some(own) = self.scores.get_mut(seat.index()) {
                    *own = *score;
                }
            }
            Event::TiebreakStarted { .. } => self.tiebreak = true,
        }
    }

    #[inline]
    fn roll(&mut self, seat: Seat, hand: [Die; 3]) {
        if !self.open {
            let (tiebreak, scores, first) = (self.tiebreak, self.scores, self.rolls.len());
            self.turns.push(TurnOf { seat, tiebreak, scores, first });
            self.open = true;
        }
        let graph = self.solution.graph();
        self.rolls.push(match self.turn.land(hand, graph.out_of_dice()) {
            Some(Rolled::GoOn) => After::GoOn(graph.spot_of_turn(&self.turn)),
            Some(Rolled::OutOfDice) => After::Banked(self.turn.brains()),
            Some(Rolled::Busted) => After::Bust,
            None => After::Nothing,
        });
        self.taken = false;
    }

    /// Calls `each` with every roll of some of the turns.
    #[inline]
    fn each_roll(&self, turns: Range<usize>, mut each: impl FnMut(Roll)) {
        for number in turns {
            let TurnOf { seat, tiebreak, scores, first } = self.turns[number];
            let end = self.turns.get(number + 1).map_or(self.rolls.len(), |next| next.first);
            let prices = self.solution.turn(seat, scores, tiebreak);
            // Where the turn is, and what it is worth to roll there, if that is kept.
            let kept_go = prices.kept_go();
            let mut spot = self.solution.graph().start_spot();
            let mut go = kept_go(spot);
            for after in &self.rolls[first..end] {
                let before = if go.is_nan() { prices.go(spot) } else { go };
                let after = match *after {
                    After::GoOn(next) => {
                        (spot, go) = (next, kept_go(next));
                        if go.is_nan() { prices.value(next) } else { prices.better(next, go) }
                    }
                    After::Banked(brains) => prices.banked(brains),
                    After::Bust => prices.bust(),
                    After::Nothing => before,
                };
                let [before, after] = [before, after].map(|value| self.solution.to_first(seat, value));
                each(Roll { seat, before, after });
            }
        }
    }
}

impl<F: TurnSolution> Log<Event> for TurnMeter<F> {
    fn record(&mut self, _: Audience, event: Event) {
        self.hear(&event);
    }
}

impl<F: TurnSolution> Meter<Event> for TurnMeter<F> {
    fn luck(&self) -> f64 {
        let mut luck = 0.0;
        self.each_roll(0..self.turns.len(), |roll| luck += roll.after - roll.before);
        luck
    }

    fn luck_of(&mut self, events: &[Event]) -> f64 {
        self.restart();
        events.iter().for_each(|event| self.hear(event));
        self.luck()
    }

    fn take(&mut self) -> Option<Roll> {
        let fresh = !std::mem::replace(&mut self.taken, true);
        let mut last = None;
        self.each_roll(self.turns.len().saturating_sub(1)..self.turns.len(), |roll| last = Some(roll));
        last.filter(|_| fresh)
    }

    fn restart(&mut self) {
        self.start_turn();
        (self.scores, self.tiebreak) = ([0; 2], false);
        self.turns.clear();
        self.rolls.clear();
        self.taken = true;
    }
}

macro_rules! solution {
    ($solution:ty, $game:ty, start: |$own:ident| $start:expr, positions: |$it:ident| $positions:expr) => {
        impl Solution<$game> for $solution {
            fn start(&self) -> f64 {
                let $own = self;
                $start
            }

            fn worth(&self, scores: Option<[u32; 2]>, seat: Option<Seat>) -> Result<Worth, Impossible> {
                self.worth(scores, seat)
            }

            fn positions(&self) -> usize {
                let $it = self;
                $positions
            }

            fn check(&self, view: &<$game as Game>::View) -> Result<(), Impossible> {
                check(self, view)
            }

            fn prices(&self, view: &<$game as Game>::View) -> Vec<Price<Action>> {
                let actions = [Action::Go, Action::Stop];
                actions.map(|action| Price { action, value: price(self, view, &Move::Act(action)) }).into()
            }

            fn price(&self, view: &<$game as Game>::View, choice: &Move<Action>) -> f64 {
                price(self, view, choice)
            }

            fn best(&self, view: &<$game as Game>::View) -> Action {
                best(self, view)
            }

            fn arrays(&self) -> Vec<Array> {
                <$solution>::arrays(self)
            }

            fn meter(self: Arc<Self>) -> Box<dyn Meter<Event>> {
                Box::new(TurnMeter::new(self))
            }
        }
    };
}

solution!(SoloSolution, Solo, start: |own| own.value(), positions: |own| own.positions());
solution!(RaceSolution, Race, start: |own| own.value(0, 0), positions: |own| own.positions());
solution!(TableSolution, Table, start: |own| own.prices(Standing::First { own: 0, other: 0 }).start(),
    positions: |own| own.positions());

/// A solution as a bot.
#[derive(Debug)]
pub struct Perfect<S>(Arc<S>);

impl<S> Clone for Perfect<S> {
    fn clone(&self) -> Self {
        Perfect(self.0.clone())
    }
}

impl Bot<Solo> for Perfect<SoloSolution> {
    fn act(&mut self, view: &SoloView) -> Action {
        best(&*self.0, view)
    }
}

impl Bot<Race> for Perfect<RaceSolution> {
    fn act(&mut self, view: &RaceView) -> Action {
        best(&*self.0, view)
    }
}

impl Bot<Table> for Perfect<TableSolution> {
    fn act(&mut self, view: &TableView) -> Action {
        let prices = match view.scores.len() {
            2 => seen(&*self.0, view),
            _ => self.0.prices(as_for_two(view)),
        };
        let spot = self.0.graph().spot_of(&Position::from(&view.turn));
        if prices.rolls(spot) { Action::Go } else { Action::Stop }
    }
}

/// The brains of a perfect player's turn, rounded: what those who are still to move are expected to add.
const NEXT_TURN: u32 = 2;

/// The standing at a table of many, as if only the strongest of the others were there. Not exact.
///
/// Before the last round that is the player with the most brains; among equals one who has yet to move in this round, since
/// they have the last word. In the last round and in tiebreaks there is one turn to beat the best of those who have played,
/// and of those who are still to move with a turn's worth of brains more.
fn as_for_two(view: &TableView) -> Standing {
    let own = view.scores[view.seat.index()];
    let (played, rest) = view.playing.split_at(view.playing.len().min(view.played.into()));
    let best = |seats: &[Seat]| {
        let others = seats.iter().filter(|&&seat| seat != view.seat);
        others.map(|seat| view.scores[seat.index()]).max()
    };
    let (played, to_come) = (best(played), best(rest));
    let last_round = view.tiebreak || played.is_some_and(|score| score >= GOAL);
    if last_round {
        let target = played.max(to_come.map(|score| score + NEXT_TURN)).unwrap_or(own);
        return match target.saturating_sub(own) {
            0 => Standing::TiebreakSecond { behind: 0 },
            behind => Standing::Chase { behind },
        };
    }
    let own = own.min(GOAL - 1);
    match (played, to_come) {
        (played, Some(other)) if played <= Some(other) => Standing::First { own, other: other.min(GOAL - 1) },
        (played, _) => Standing::Second { own, other: played.unwrap_or(0).min(GOAL - 1) },
    }
}

fn shotguns(turn: &TurnView) -> String {
    match turn.hand {
        None => "before the first roll".to_owned(),
        Some(_) => format!("with {}", count(turn.shotguns, "shotgun")),
    }
}

fn habit(turn: &TurnView, choice: &Move<Action>) -> String {
    format!("with {} it {}", words::turn(turn), words::choice(choice))
}

fn check_rounds(game: &'static str, rounds: Option<Bounded<1, 1_000_000>>) -> Result<(), Unsolved> {
    match rounds.map(Bounded::get) {
        Some(value) if value < ROUNDS => Err(Unsolved::Limit {
            game,
            option: "max_rounds",
            value,
            expected: "none, or 200 and more, which players who want to win never reach",
        }),
        _ => Ok(()),
    }
}

fn solved_solo(rules: &SoloRules) -> Arc<SoloSolution> {
    static SHELF: Shelf<SoloRules, SoloSolution> = Shelf::new();
    SHELF.get(*rules, || SoloSolution::new(rules))
}

impl Solvable for Solo {
    type Solution = SoloSolution;
    type Optimal = Perfect<SoloSolution>;
    const OPTIMAL: &'static str = "Plays perfectly: no one has a higher expected score.";

    fn solve(rules: &SoloRules, _: usize) -> Result<Arc<SoloSolution>, Unsolved> {
        Ok(solved_solo(rules))
    }

    fn optimal(rules: &SoloRules) -> Self::Optimal {
        Perfect(solved_solo(rules))
    }

    fn kind(view: &SoloView) -> String {
        shotguns(&view.turn)
    }

    fn habit(view: &SoloView, choice: &Move<Action>, _: &Action) -> String {
        habit(&view.turn, choice)
    }

    fn exact(
        rules: &SoloRules,
        bot: &mut dyn Asked<Solo>,
        _: Option<&mut dyn Asked<Solo>>,
        progress: &mut dyn FnMut(f64),
    ) -> Option<Result<Exact, Inexact>> {
        Some(solo(rules, bot, progress).map(Exact::Solo))
    }
}

fn solved_race(rules: &RaceRules) -> Arc<RaceSolution> {
    static SHELF: Shelf<(OutOfDice, FirstRoll), RaceSolution> = Shelf::new();
    let RaceRules { out_of_dice, first_roll, .. } = *rules;
    SHELF.get((out_of_dice, first_roll), || RaceSolution::new(out_of_dice, first_roll))
}

impl Solvable for Race {
    type Solution = RaceSolution;
    type Optimal = Perfect<RaceSolution>;
    const OPTIMAL: &'static str = "Plays perfectly: no one wins more often against it. (Ignores max_rounds.)";

    fn solve(rules: &RaceRules, _: usize) -> Result<Arc<RaceSolution>, Unsolved> {
        check_rounds(Self::ID, rules.max_rounds)?;
        Ok(solved_race(rules))
    }

    fn optimal(rules: &RaceRules) -> Self::Optimal {
        Perfect(solved_race(rules))
    }

    fn kind(view: &RaceView) -> String {
        shotguns(&view.turn)
    }

    fn habit(view: &RaceView, choice: &Move<Action>, _: &Action) -> String {
        habit(&view.turn, choice)
    }

    fn exact(
        rules: &RaceRules,
        bot: &mut dyn Asked<Race>,
        against: Option<&mut dyn Asked<Race>>,
        progress: &mut dyn FnMut(f64),
    ) -> Option<Result<Exact, Inexact>> {
        let bots = if against.is_some() { 2.0 } else { 1.0 };
        let solution = match Race::solve(rules, 2) {
            Ok(solution) => solution,
            Err(_) => return None,
        };
        let ask = || {
            let own = RaceProfile::ask(rules, bot, |share| progress(share / bots))?;
            let other = match against {
                Some(other) => {
                    let asked = RaceProfile::ask(rules, other, |share| progress((1.0 + share) / bots));
                    Some(asked.map_err(|why| Inexact::Other(Box::new(why)))?)
                }
                None => None,
            };
            let against = other.map(|other| own.against(&other, rules)).transpose()?;
            Ok(Exact::Race(ExactRace {
                against_optimal: own.against_optimal(rules, &solution),
                against,
                best_response: own.best_response(rules, &solution),
                views: own.views,
            }))
        };
        Some(ask())
    }
}

fn solved_table(rules: &TableRules) -> Arc<TableSolution> {
    static SHELF: Shelf<(OutOfDice, FirstRoll, Tiebreak), TableSolution> = Shelf::new();
    let TableRules { out_of_dice, first_roll, tiebreak, .. } = *rules;
    SHELF.get((out_of_dice, first_roll, tiebreak), || TableSolution::new(out_of_dice, first_roll, tiebreak))
}

impl Solvable for Table {
    type Solution = TableSolution;
    type Optimal = Perfect<TableSolution>;
    const OPTIMAL: &'static str = "Plays perfectly at a table for two. With more seats it plays as if only the strongest \
                                   opponent were there: good, but not exact. (Ignores max_rounds.)";

    fn solve(rules: &TableRules, seats: usize) -> Result<Arc<TableSolution>, Unsolved> {
        if seats != 2 {
            return Err(Unsolved::Seats { game: Self::ID, seats });
        }
        check_rounds(Self::ID, rules.max_rounds)?;
        Ok(solved_table(rules))
    }

    fn optimal(rules: &TableRules) -> Self::Optimal {
        Perfect(solved_table(rules))
    }

    fn kind(view: &TableView) -> String {
        let last = view.playing.iter().take(view.played.into());
        let last = last.map(|seat| view.scores[seat.index()]).any(|score| score >= GOAL);
        let round = match (view.tiebreak, last) {
            (true, _) => "in a tiebreak, ",
            (false, true) => "in the last round, ",
            (false, false) => "",
        };
        format!("{round}{}", shotguns(&view.turn))
    }

    fn habit(view: &TableView, choice: &Move<Action>, _: &Action) -> String {
        habit(&view.turn, choice)
    }
}
