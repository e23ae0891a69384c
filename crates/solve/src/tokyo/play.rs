//! Tokyo as a solved game: prices of choices, the luck of rolls, the perfect player.

use super::{
    Place, ResolvedTurn, Start, TokyoSolution,
    dice::{self, HANDFULS, Handfuls},
    habits, position,
    rolls::{Rolls, ValueOf, number},
    sheet::Sheet,
};
use crate::{
    export::Array,
    position::{Impossible, refuse},
    solution::{Meter, Price, Roll, Shelf, Solution, Solvable, Unsolved, Worth, to_first},
};
use necrodome_rules::{
    bot::Bot,
    catalog::Listed,
    game::{Audience, Log, Move, Seat},
    tokyo::{Action, Dice, Event, Face, MAX_HEALTH, Monster, Phase, Tokyo, TokyoRules, TokyoView},
};
use std::sync::Arc;

/// The beginning of the current turn, for two of the monsters.
fn turn_start(view: &TokyoView, other: Monster) -> Start {
    let mover = view.monsters[view.current.index()];
    let place = match view.in_tokyo {
        None => Place::Empty,
        Some(seat) if seat == view.current => Place::Inside,
        Some(_) => Place::Outside,
    };
    let bonus = if place == Place::Inside { 2 } else { 0 };
    let points = |points: u32| points.min(super::POINTS as u32 - 1) as u8;
    Start {
        place,
        health: mover.health.max(1),
        other_health: other.health.max(1),
        points: points(mover.points.saturating_sub(bonus)),
        other_points: points(other.points),
    }
}

/// The values of staying and leaving to the monster in Tokyo that the current one has hit.
fn yielding(solution: &TokyoSolution, view: &TokyoView, own: Monster) -> Yielding {
    let attacker = view.monsters[view.current.index()];
    let heals = view.dice.iter().filter(|&&die| die == Face::Heal).count() as u8;
    let points = |points: u32| points.min(super::POINTS as u32 - 1) as u8;
    let turn = ResolvedTurn {
        health: (attacker.health + heals).min(MAX_HEALTH),
        other_health: own.health.max(1),
        points: points(attacker.points),
        other_points: points(own.points),
    };
    Yielding { stay: 1.0 - turn.held(&solution.values), leave: 1.0 - turn.enters(&solution.values) }
}

struct Yielding {
    stay: f64,
    leave: f64,
}

/// The other monster of a match for two.
fn opponent(view: &TokyoView) -> Monster {
    let other = view.monsters.iter().enumerate().find(|(seat, _)| *seat != view.current.index());
    other.map_or(Monster { health: 1, points: 0 }, |(_, monster)| *monster)
}

impl TokyoSolution {
    /// The value of every choice of a turn.
    pub fn rolls(&self, start: &Start) -> Rolls {
        Rolls::new(self, start)
    }

    fn rolls_of(&self, view: &TokyoView) -> Rolls {
        self.rolls(&turn_start(view, opponent(view)))
    }

    /// The best dice to keep.
    fn keep(&self, view: &TokyoView, other: Monster, rerolls_left: u8) -> Action {
        let tables = Handfuls::get();
        let full = tables.full(&view.dice);
        let kept = self.policy().keep(self, &turn_start(view, other), rerolls_left, full);
        Action::Keep { dice: dice::marks(&view.dice, kept) }
    }

    fn choose(&self, view: &TokyoView, other: Monster) -> Action {
        match view.phase {
            Phase::Rolling { rerolls_left } => self.keep(view, other, rerolls_left),
            Phase::Yielding { .. } | Phase::Over => {
                let Yielding { stay, leave } = yielding(self, view, view.monsters[view.seat.index()]);
                if leave > stay { Action::Yield } else { Action::Stay }
            }
        }
    }
}

impl Solution<Tokyo> for TokyoSolution {
    fn start(&self) -> f64 {
        self.value(&Start::MATCH)
    }

    fn worth(&self, scores: Option<[u32; 2]>, seat: Option<Seat>) -> Result<Worth, Impossible> {
        match (scores, seat) {
            (None, None) => Ok(Worth::new(self.start(), "chance to win for the first of two monsters")),
            _ => refuse("points and seats alone make no position of Tokyo: health and place count, too"),
        }
    }

    fn positions(&self) -> usize {
        self.turns()
    }

    fn check(&self, view: &TokyoView) -> Result<(), Impossible> {
        position::check(view)
    }

    fn prices(&self, view: &TokyoView) -> Vec<Price<Action>> {
        match view.phase {
            Phase::Rolling { rerolls_left } => {
                let rolls = self.rolls_of(view);
                let marks = |mask: u32| std::array::from_fn(|die| mask >> die & 1 == 1);
                let mut known = [false; HANDFULS];
                let mut fresh = |kept: &[bool; 6]| {
                    !std::mem::replace(&mut known[Handfuls::get().kept(&view.dice, *kept)], true)
                };
                let masks = (0..64).map(marks).filter(|kept| fresh(kept));
                let price = |kept| Price {
                    action: Action::Keep { dice: kept },
                    value: rolls.keep(&view.dice, kept, rerolls_left),
                };
                masks.map(price).collect()
            }
            Phase::Yielding { .. } => {
                let actions = [Action::Yield, Action::Stay];
                actions.map(|action| Price { action, value: self.price(view, &Move::Act(action)) }).into()
            }
            Phase::Over => Vec::new(),
        }
    }

    fn price(&self, view: &TokyoView, choice: &Move<Action>) -> f64 {
        match (view.phase, choice) {
            (Phase::Rolling { rerolls_left }, choice) => {
                let kept = match choice {
                    Move::Act(Action::Keep { dice }) => *dice,
                    _ => [true; 6],
                };
                self.rolls_of(view).keep(&view.dice, kept, rerolls_left)
            }
            (Phase::Yielding { .. } | Phase::Over, choice) => {
                let Yielding { stay, leave } = yielding(self, view, view.monsters[view.seat.index()]);
                if *choice == Move::Act(Action::Yield) { leave } else { stay }
            }
        }
    }

    fn best(&self, view: &TokyoView) -> Action {
        self.choose(view, opponent(view))
    }

    fn arrays(&self) -> Vec<Array> {
        TokyoSolution::arrays(self)
    }

    fn meter(self: Arc<Self>) -> Box<dyn Meter<Event>> {
        Box::new(TokyoMeter::new(self))
    }
}

const FRESH: Monster = Monster { health: MAX_HEALTH, points: 0 };

/// Follows the rolls of a match.
///
/// The values of rolls are scattered over many megabytes. So the meter only notes where they are while the match goes on, and
/// fetches those of all its rolls together, which the processor does for many at a time.
#[derive(Debug)]
pub struct TokyoMeter {
    solution: Arc<TokyoSolution>,
    tables: &'static Handfuls,
    monsters: [Monster; 2],
    in_tokyo: Option<Seat>,
    /// The number of the current turn's beginning.
    turn: usize,
    /// The current turn's rolls, if the solution has no room to keep them.
    unkept: Option<Box<Rolls>>,
    rerolls_left: u8,
    dice: Dice,
    rolled: Vec<Noted>,
    /// Whether somebody has taken the last roll.
    taken: bool,
}

/// A roll, and where its values are.
#[derive(Debug, Clone, Copy)]
enum Noted {
    Kept { seat: Seat, turn: u32, before: ValueOf, after: ValueOf },
    Unkept(Roll),
}

impl TokyoMeter {
    fn new(solution: Arc<TokyoSolution>) -> Self {
        TokyoMeter {
            solution,
            tables: Handfuls::get(),
            monsters: [FRESH; 2],
            in_tokyo: None,
            turn: 0,
            unkept: None,
            rerolls_left: 0,
            dice: [Face::One; 6],
            rolled: Vec::new(),
            taken: true,
        }
    }

    fn monster(&mut self, seat: Seat) -> &mut Monster {
        &mut self.monsters[seat.index().min(1)]
    }

    fn start_turn(&mut self, seat: Seat) {
        let own = seat.index().min(1);
        let place = match self.in_tokyo {
            None => Place::Empty,
            Some(inside) if inside == seat => Place::Inside,
            Some(_) => Place::Outside,
        };
        let (mover, other) = (self.monsters[own], self.monsters[1 - own]);
        let start = Start {
            place,
            health: mover.health,
            other_health: other.health,
            points: mover.points as u8,
            other_points: other.points as u8,
        };
        let known = self.solution.known_rolls();
        self.turn = number(&start);
        self.unkept = match known.has(self.turn) {
            true => None,
            false => known.learn(&self.solution, &start).map(Box::new),
        };
        self.rerolls_left = 3;
    }

    fn roll(&mut self, seat: Seat, dice: Dice, kept: [bool; 6]) {
        let before = match self.rerolls_left {
            3 => ValueOf::START,
            left => ValueOf::kept(self.tables, self.tables.kept(&self.dice, kept), left),
        };
        self.rerolls_left = self.rerolls_left.saturating_sub(1);
        let after = ValueOf::rolled(self.tables, self.tables.full(&dice), self.rerolls_left);
        self.dice = dice;
        self.rolled.push(match &self.unkept {
            None => Noted::Kept { seat, turn: self.turn as u32, before, after },
            Some(rolls) => Noted::Unkept(valued(rolls, seat, before, after)),
        });
        self.taken = false;
    }

    fn fetch(&self, noted: &Noted) -> Option<Roll> {
        match *noted {
            Noted::Kept { seat, turn, before, after } => {
                let rolls = self.solution.known_rolls().get(turn as usize)?;
                Some(valued(rolls, seat, before, after))
            }
            Noted::Unkept(roll) => Some(roll),
        }
    }
}

fn valued(rolls: &Rolls, seat: Seat, before: ValueOf, after: ValueOf) -> Roll {
    let [before, after] = [before, after].map(|value| to_first(seat, rolls.get(value)));
    Roll { seat, before, after }
}

impl Log<Event> for TokyoMeter {
    fn record(&mut self, _: Audience, event: Event) {
        self.hear(&event);
    }
}

impl TokyoMeter {
    #[inline]
    fn hear(&mut self, event: &Event) {
        match *event {
            Event::TurnStarted { seat, points } => {
                self.start_turn(seat);
                self.monster(seat).points += points;
            }
            Event::Rolled { seat, dice, kept } => self.roll(seat, dice, kept),
            Event::Scored { seat, points } => self.monster(seat).points += points,
            Event::Hit { seat, health, .. } | Event::Healed { seat, health } => {
                self.monster(seat).health = health;
            }
            Event::Decided { yields, .. } => {
                if yields {
                    self.in_tokyo = None;
                }
            }
            Event::Entered { seat, points } => {
                self.in_tokyo = Some(seat);
                self.monster(seat).points += points;
            }
        }
    }
}

impl Meter<Event> for TokyoMeter {
    fn luck(&self) -> f64 {
        let rolls = self.rolled.iter().filter_map(|noted| self.fetch(noted));
        rolls.fold(0.0, |luck, roll| luck + (roll.after - roll.before))
    }

    fn luck_of(&mut self, events: &[Event]) -> f64 {
        self.restart();
        events.iter().for_each(|event| self.hear(event));
        self.luck()
    }

    fn take(&mut self) -> Option<Roll> {
        let fresh = !std::mem::replace(&mut self.taken, true);
        self.rolled.last().filter(|_| fresh).and_then(|noted| self.fetch(noted))
    }

    fn restart(&mut self) {
        (self.monsters, self.in_tokyo) = ([FRESH; 2], None);
        self.rolled.clear();
        self.taken = true;
    }
}

/// The solution as a bot.
#[derive(Debug, Clone)]
pub struct PerfectMonster(Arc<TokyoSolution>);

impl Bot<Tokyo> for PerfectMonster {
    fn act(&mut self, view: &TokyoView) -> Action {
        match view.monsters.iter().filter(|monster| monster.is_alive()).count() {
            _ if view.monsters.len() == 2 => self.0.choose(view, opponent(view)),
            0..=3 => self.0.choose(view, as_for_two(view)),
            _ => in_a_crowd(view),
        }
    }
}

/// The action in a match of three or more: nobody can be beaten one by one, and points decide. It keeps dice for the best
/// result of this turn: points first, then hits, and health when it is low. Not exact: the weights are those that won most
/// against the other bots.
fn in_a_crowd(view: &TokyoView) -> Action {
    let own = view.monsters[view.seat.index()];
    let Phase::Rolling { rerolls_left } = view.phase else {
        // The two points of the next turn win; and while it can be borne, they are worth being hit.
        let wins = own.points + 2 >= necrodome_rules::tokyo::GOAL && own.health > 3;
        return if wins || own.health >= 6 { Action::Stay } else { Action::Yield };
    };
    let inside = view.in_tokyo == Some(view.seat);
    let tables = Handfuls::get();
    let worth = |result: &dice::Result| {
        if own.points + u32::from(result.points) >= necrodome_rules::tokyo::GOAL {
            return 100.0;
        }
        let heals = if inside { 0 } else { result.heals.min(MAX_HEALTH - own.health) };
        let heal = match own.health {
            0..=3 => 0.9,
            4..=6 => 0.4,
            _ => 0.05,
        };
        let attack = if inside { 0.2 } else { 0.5 };
        f64::from(result.points) + heal * f64::from(heals) + attack * f64::from(result.attacks)
    };
    let mut sheet = Sheet::<1>::new();
    for (last, &result) in sheet.last.iter_mut().zip(&tables.result) {
        *last = [worth(&tables.results[usize::from(result)])];
    }
    sheet.keep_once(tables);
    if rerolls_left > 1 {
        sheet.keep_twice(tables);
    }
    let marks = |mask: u32| std::array::from_fn(|die| mask >> die & 1 == 1);
    let value = |kept: &[bool; 6]| sheet.kept[tables.kept(&view.dice, *kept)][0];
    let best = (0..64).map(marks).max_by(|a, b| value(a).total_cmp(&value(b)));
    Action::Keep { dice: best.unwrap_or([true; 6]) }
}

/// The opponents as one monster: the health of the one that can be hit from outside (from inside: of the weakest of those
/// who are nearest to winning), and the most points that any of them has. Not exact.
fn as_for_two(view: &TokyoView) -> Monster {
    let alive = |seat: &usize| view.monsters[*seat].is_alive();
    let others = (0..view.monsters.len()).filter(|&seat| seat != view.current.index()).filter(alive);
    let others = others.map(|seat| view.monsters[seat]);
    let points = others.clone().map(|monster| monster.points).max().unwrap_or(0);
    let target = match view.in_tokyo {
        Some(seat) if seat != view.current => Some(view.monsters[seat.index()]),
        _ => others.filter(|monster| monster.points == points).min_by_key(|monster| monster.health),
    };
    Monster { health: target.map_or(MAX_HEALTH, |monster| monster.health), points }
}

fn solved() -> Arc<TokyoSolution> {
    static SHELF: Shelf<(), TokyoSolution> = Shelf::new();
    SHELF.get((), TokyoSolution::new)
}

impl Solvable for Tokyo {
    type Solution = TokyoSolution;
    type Optimal = PerfectMonster;
    const OPTIMAL: &'static str = "Plays perfectly against one monster. Against two it takes them for one, against more \
                                   it hunts points turn by turn: good, but not exact. (Ignores max_turns.)";

    fn solve(rules: &TokyoRules, seats: usize) -> Result<Arc<TokyoSolution>, Unsolved> {
        if seats != 2 {
            return Err(Unsolved::Seats { game: Self::ID, seats });
        }
        if let Some(limit) = rules.max_turns {
            let (option, value) = ("max_turns", limit.get());
            return Err(Unsolved::Limit { game: Self::ID, option, value, expected: "none" });
        }
        Ok(solved())
    }

    fn optimal(_: &TokyoRules) -> PerfectMonster {
        PerfectMonster(solved())
    }

    fn kind(view: &TokyoView) -> String {
        habits::kind(view)
    }

    fn habit(view: &TokyoView, choice: &Move<Action>, best: &Action) -> String {
        habits::habit(view, choice, best)
    }
}
