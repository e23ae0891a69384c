//! A match of Tokyo. The turn follows the numbered steps of the rulebook.

use super::dice::{Dice, Face, count, roll, victory_points};
use crate::{
    chance::Chance,
    game::{Audience, Game, Log, Move, Outcome, Rejected, Seat, within_limit},
    names::{Names, SetupError},
    options::Bounded,
};
use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::ops::RangeInclusive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A monster's health at the start, and the most it can have.
pub const MAX_HEALTH: u8 = 10;
/// Victory points that win the match at once.
pub const GOAL: u32 = 20;
/// Rerolls after the first roll of a turn.
const REROLLS: u8 = 2;

/// The options of Tokyo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TokyoRules {
    /// The most turns (each monster's turn counts as one), after which the living monsters with the most victory points
    /// win.
    pub max_turns: Option<Bounded<1, 1_000_000>>,
}

/// One monster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Monster {
    /// Health; 0 is out of the game.
    pub health: u8,
    /// Victory points.
    pub points: u32,
}

impl Monster {
    /// Whether the monster is still in the game.
    pub fn is_alive(&self) -> bool {
        self.health > 0
    }
}

/// A choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "TokyoAction")]
pub enum Action {
    /// Keep some dice and roll the others again. Keeping all six ends the rolling.
    Keep {
        /// For each die, whether it is kept.
        dice: [bool; 6],
    },
    /// Leave Tokyo.
    Yield,
    /// Stay in Tokyo.
    Stay,
}

impl Action {
    /// Keeps the dice whose face satisfies `wanted`.
    pub fn keep_where(dice: &Dice, wanted: impl Fn(Face) -> bool) -> Self {
        Action::Keep { dice: dice.map(wanted) }
    }
}

/// Why an action is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// Yield or stay while rolling.
    #[error("expected which dice to keep (keep), got yield or stay")]
    Rolling,
    /// Keep when asked whether to leave Tokyo.
    #[error("expected yield or stay, got keep")]
    Yielding,
}

/// The decision that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "TokyoPhase")]
pub enum Phase {
    /// The current monster names the dice to keep.
    Rolling {
        /// The number of rerolls left.
        rerolls_left: u8,
    },
    /// The monster in Tokyo may leave it.
    Yielding {
        /// The damage it has just taken.
        damage: u8,
    },
    /// The match has ended.
    Over,
}

/// An event. Everybody may hear of it: nothing in this game is hidden.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "TokyoEvent")]
pub enum Event {
    /// A monster's turn began.
    TurnStarted {
        /// Whose turn.
        seat: Seat,
        /// Points for being in Tokyo: 2 or 0.
        points: u32,
    },
    /// Dice were rolled.
    Rolled {
        /// The monster that rolled.
        seat: Seat,
        /// The faces of the dice now.
        dice: Dice,
        /// The dice that had been kept.
        kept: [bool; 6],
    },
    /// Numbers brought points.
    Scored {
        /// The monster that scored.
        seat: Seat,
        /// The points.
        points: u32,
    },
    /// A monster was hit.
    Hit {
        /// The attacker.
        by: Seat,
        /// The monster that was hit.
        seat: Seat,
        /// The damage.
        damage: u8,
        /// The health that is left; 0 is out of the game.
        health: u8,
    },
    /// The monster in Tokyo decided to leave or to stay.
    Decided {
        /// The monster in Tokyo.
        seat: Seat,
        /// Whether it leaves.
        yields: bool,
    },
    /// A monster healed.
    Healed {
        /// The monster that healed.
        seat: Seat,
        /// Its health now.
        health: u8,
    },
    /// A monster entered Tokyo.
    Entered {
        /// The monster that entered.
        seat: Seat,
        /// Points for it: 1.
        points: u32,
    },
}

/// The view of a monster: everything but the coming dice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokyoView {
    /// This monster's seat.
    pub seat: Seat,
    /// The monster whose turn it is.
    pub current: Seat,
    /// All monsters by seat.
    pub monsters: Vec<Monster>,
    /// The monster in Tokyo.
    pub in_tokyo: Option<Seat>,
    /// The dice of this turn.
    pub dice: Dice,
    /// The decision that is open.
    pub phase: Phase,
    /// The number of this turn, from 1; each monster's turn counts.
    pub turn: u32,
}

/// A match.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Tokyo {
    rules: TokyoRules,
    monsters: Vec<Monster>,
    in_tokyo: Option<Seat>,
    current: Seat,
    dice: Dice,
    phase: Phase,
    /// The number of this turn, from 1; each monster's turn counts.
    turn: u32,
}

impl Tokyo {
    /// Plays step 1 and the first roll of step 2.
    fn start_turn(&mut self, chance: &mut impl Chance, log: &mut impl Log<Event>) {
        self.turn += 1;
        let seat = self.current;
        let points = if self.in_tokyo == Some(seat) { 2 } else { 0 };
        log.record(Audience::Everyone, Event::TurnStarted { seat, points });
        self.monster(seat).points += points;
        if self.is_won() {
            return self.end();
        }
        self.phase = Phase::Rolling { rerolls_left: REROLLS };
        self.roll([false; 6], chance, log);
    }

    /// Plays step 2.
    fn roll(&mut self, kept: [bool; 6], chance: &mut impl Chance, log: &mut impl Log<Event>) {
        roll(&mut self.dice, kept, chance);
        log.record(Audience::Everyone, Event::Rolled { seat: self.current, dice: self.dice, kept });
    }

    /// Plays on after the player has named the dice to keep.
    fn keep(
        &mut self,
        kept: [bool; 6],
        rerolls_left: u8,
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) {
        let mut rerolls_left = rerolls_left - 1;
        if kept == [true; 6] {
            rerolls_left = 0;
        } else {
            self.roll(kept, chance, log);
        }
        if rerolls_left > 0 {
            self.phase = Phase::Rolling { rerolls_left };
        } else {
            self.resolve(chance, log);
        }
    }

    /// Plays step 3 up to the decision of a monster that was hit in Tokyo: points, then attacks.
    fn resolve(&mut self, chance: &mut impl Chance, log: &mut impl Log<Event>) {
        let seat = self.current;
        let points = victory_points(&self.dice);
        if points > 0 {
            self.monster(seat).points += points;
            log.record(Audience::Everyone, Event::Scored { seat, points });
        }
        if self.is_won() {
            return self.end();
        }
        let damage = count(&self.dice, Face::Attack);
        if damage > 0 {
            self.attack(damage, log);
        }
        if self.is_won() {
            return self.end();
        }
        match self.in_tokyo {
            Some(target) if damage > 0 && target != seat => self.phase = Phase::Yielding { damage },
            _ => self.finish_turn(chance, log),
        }
    }

    /// Attacks: from inside Tokyo everyone outside, from outside the monster in Tokyo.
    fn attack(&mut self, damage: u8, log: &mut impl Log<Event>) {
        let by = self.current;
        let inside = self.in_tokyo == Some(by);
        for index in 0..self.monsters.len() {
            let seat = Seat(index as u16);
            let is_target = if inside { seat != by } else { self.in_tokyo == Some(seat) };
            let monster = &mut self.monsters[index];
            if is_target && monster.is_alive() {
                monster.health = monster.health.saturating_sub(damage);
                let health = monster.health;
                log.record(Audience::Everyone, Event::Hit { by, seat, damage, health });
                if health == 0 && self.in_tokyo == Some(seat) {
                    self.in_tokyo = None;
                }
            }
        }
    }

    /// Plays the end of step 3 (healing), step 4, and the start of the next turn.
    fn finish_turn(&mut self, chance: &mut impl Chance, log: &mut impl Log<Event>) {
        let seat = self.current;
        let heals = count(&self.dice, Face::Heal);
        let monster = self.monster(seat);
        let health = (monster.health + heals).min(MAX_HEALTH);
        if self.in_tokyo != Some(seat) && health > self.monster(seat).health {
            self.monster(seat).health = health;
            log.record(Audience::Everyone, Event::Healed { seat, health });
        }
        if self.in_tokyo.is_none() {
            self.in_tokyo = Some(seat);
            self.monster(seat).points += 1;
            log.record(Audience::Everyone, Event::Entered { seat, points: 1 });
        }
        if self.is_won() || self.rules.max_turns.is_some_and(|max| self.turn == max.get()) {
            return self.end();
        }
        self.current = self.next_alive(seat);
        self.start_turn(chance, log);
    }

    fn next_alive(&self, seat: Seat) -> Seat {
        let seats = self.monsters.len();
        (1..=seats)
            .map(|step| Seat(((seat.index() + step) % seats) as u16))
            .find(|next| self.monsters[next.index()].is_alive())
            .unwrap_or(seat)
    }

    fn monster(&mut self, seat: Seat) -> &mut Monster {
        &mut self.monsters[seat.index()]
    }

    fn alive(&self) -> usize {
        self.monsters.iter().filter(|monster| monster.is_alive()).count()
    }

    /// Whether a monster has 20 points or is the only one alive.
    fn is_won(&self) -> bool {
        self.alive() == 1 || self.monsters.iter().any(|monster| monster.points >= GOAL)
    }

    fn end(&mut self) {
        self.phase = Phase::Over;
    }
}

impl Game for Tokyo {
    const SEATS: RangeInclusive<usize> = 2..=6;
    type Rules = TokyoRules;
    type Action = Action;
    type View = TokyoView;
    type Event = Event;
    type Illegal = Illegal;

    fn new(
        names: &Names,
        rules: &TokyoRules,
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<Self, SetupError> {
        names.expect_seats(Self::SEATS)?;
        let mut game = Tokyo {
            rules: *rules,
            monsters: vec![Monster { health: MAX_HEALTH, points: 0 }; names.len()],
            in_tokyo: None,
            current: Seat(0),
            dice: [Face::One; 6],
            phase: Phase::Over,
            turn: 0,
        };
        game.start_turn(chance, log);
        Ok(game)
    }

    fn seats(&self) -> usize {
        self.monsters.len()
    }

    fn rules(&self) -> &TokyoRules {
        &self.rules
    }

    #[inline]
    fn to_act(&self) -> &[Seat] {
        match (self.phase, self.in_tokyo) {
            (Phase::Rolling { .. }, _) => self.current.alone(),
            (Phase::Yielding { .. }, Some(seat)) => seat.alone(),
            _ => &[],
        }
    }

    #[inline]
    fn view(&self, seat: Seat) -> TokyoView {
        TokyoView {
            seat,
            current: self.current,
            monsters: self.monsters.clone(),
            in_tokyo: self.in_tokyo,
            dice: self.dice,
            phase: self.phase,
            turn: self.turn,
        }
    }

    #[inline]
    fn refresh_view(&self, seat: Seat, view: &mut TokyoView) {
        let mut monsters = core::mem::take(&mut view.monsters);
        monsters.clone_from(&self.monsters);
        *view = TokyoView {
            seat,
            current: self.current,
            monsters,
            in_tokyo: self.in_tokyo,
            dice: self.dice,
            phase: self.phase,
            turn: self.turn,
        };
    }

    fn legal_actions(view: &TokyoView) -> Option<impl Iterator<Item = Action>> {
        let keep = |mask: u32| Action::Keep { dice: core::array::from_fn(|die| mask >> die & 1 == 1) };
        let (keeps, others): (_, &[Action]) = match view.phase {
            Phase::Rolling { .. } => (0..64, &[]),
            Phase::Yielding { .. } => (0..0, &[Action::Yield, Action::Stay]),
            Phase::Over => (0..0, &[]),
        };
        Some(keeps.map(keep).chain(others.iter().copied()))
    }

    fn apply(
        &mut self,
        moves: &[Move<Action>],
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<(), Rejected<Illegal>> {
        self.check_count(moves)?;
        let seat = self.to_act()[0];
        let illegal = |why| Err(Rejected::Illegal { seat, why });
        match (self.phase, &moves[0]) {
            (Phase::Rolling { rerolls_left }, Move::Act(Action::Keep { dice })) => {
                self.keep(*dice, rerolls_left, chance, log);
            }
            (Phase::Rolling { rerolls_left }, Move::Forfeit) => {
                self.keep([true; 6], rerolls_left, chance, log);
            }
            (Phase::Rolling { .. }, Move::Act(Action::Yield | Action::Stay)) => {
                return illegal(Illegal::Rolling);
            }
            (Phase::Yielding { .. }, Move::Act(Action::Keep { .. })) => return illegal(Illegal::Yielding),
            (Phase::Yielding { .. }, choice) => {
                let yields = matches!(choice, Move::Act(Action::Yield));
                log.record(Audience::Everyone, Event::Decided { seat, yields });
                if yields {
                    self.in_tokyo = None;
                }
                self.finish_turn(chance, log);
            }
            (Phase::Over, _) => return Err(Rejected::Over),
        }
        Ok(())
    }

    /// Ranks the winner first, then the living by points; those who are out share the last place.
    fn outcome(&self) -> Option<Outcome> {
        if self.phase != Phase::Over {
            return None;
        }
        let rank = |monster: &Monster| monster.is_alive().then_some(monster.points);
        let ranks: Vec<_> = self.monsters.iter().map(rank).collect();
        let scores = self.monsters.iter().map(|monster| monster.points.into()).collect();
        Some(Outcome::ranked(&ranks, scores, self.turn))
    }

    fn invariants(&self) -> Result<(), String> {
        within_limit(self.monsters.iter().map(|monster| monster.points).chain([self.turn]))?;
        let seats = self.monsters.len();
        if !Self::SEATS.contains(&seats) || self.current.index() >= seats {
            return Err(format!("seat {} of {seats} monsters", self.current));
        }
        if self.in_tokyo.is_some_and(|seat| seat.index() >= seats) {
            return Err(format!("seat {:?} of {seats} in Tokyo", self.in_tokyo));
        }
        if self.monsters.iter().any(|monster| monster.health > MAX_HEALTH) {
            return Err("a monster has more than full health".to_string());
        }
        if self.in_tokyo.is_some_and(|seat| !self.monsters[seat.index()].is_alive()) {
            return Err("a dead monster is in Tokyo".to_string());
        }
        if self.monsters.iter().filter(|monster| monster.points >= GOAL).count() > 1 {
            return Err("two monsters have won".to_string());
        }
        let turns_left = self.rules.max_turns.map(|max| max.get().checked_sub(self.turn));
        let over = self.phase == Phase::Over;
        let fits = if self.is_won() { over } else { !over || turns_left == Some(Some(0)) };
        if !fits || self.alive() == 0 || turns_left == Some(None) || self.turn == 0 {
            return Err(format!("phase {:?} in turn {} with {:?}", self.phase, self.turn, self.monsters));
        }
        let current_alive = self.monsters[self.current.index()].is_alive();
        match self.phase {
            Phase::Rolling { rerolls_left } if !(1..=REROLLS).contains(&rerolls_left) => {
                Err(format!("{rerolls_left} rerolls left"))
            }
            Phase::Rolling { .. } if !current_alive => Err("a dead monster rolls".to_string()),
            Phase::Yielding { damage } if !(1..=6).contains(&damage) => Err(format!("{damage} damage")),
            Phase::Yielding { .. } if !current_alive || self.in_tokyo.is_none_or(|s| s == self.current) => {
                Err("nobody to yield".to_string())
            }
            _ => Ok(()),
        }
    }
}
