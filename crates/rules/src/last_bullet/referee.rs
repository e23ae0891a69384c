//! A match of Last Bullet. A turn is the eight numbered steps of the rulebook, one function each.

use super::action::{Action, Direction, Illegal, Order};
use super::board::{Kind, Piece, Square, Torus};
use super::event::{Event, Replaced, ShotResult};
use super::numbers::Numbers;
use super::rules::{BULLETS, LastBulletRules, RANGE, VISION};
use super::sight::Sight;
use super::view::{CORPSE, LastBulletView, WhoIs, ZOMBIE, look};
use super::{moves, zombies};
use crate::{
    chance::Chance,
    game::{Audience, Game, Log, Move, Outcome, Rejected, Seat, within_limit},
    names::{Names, SetupError},
};
use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::{iter, mem, ops::RangeInclusive};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct LastBullet {
    rules: LastBulletRules,
    entries: Names,
    clock: u32,
    /// All pieces. A piece never leaves its place in this list: it changes its kind and number, and new ones are
    /// added at the end. The copies come first, entry by entry, so the number of a living copy is its index.
    pieces: Vec<Piece>,
    numbers: Numbers,
    /// The last clock at which each entry had a living copy.
    scores: Vec<u32>,

    // What follows is derived from the above.
    torus: Torus,
    /// `Zombie`, `DeadBody`, then the entries.
    names: Names,
    /// For each square the index of its piece, or `EMPTY`.
    board: Vec<u32>,
    /// How many copies of each entry live.
    living: Vec<u32>,
    /// The entries with a living copy, unless the match is over.
    to_act: Vec<Seat>,
    occupied: Sight,
    players: Sight,
}

/// Joins the names of this game: the game's own, then the entries.
fn with_own_names(entries: &Names) -> Result<Names, SetupError> {
    let own = [ZOMBIE, CORPSE];
    entries.expect_none_of(&own)?;
    Names::new(own.into_iter().chain(entries.iter()))
}

const EMPTY: u32 = u32::MAX;

/// What a piece does in a turn.
#[derive(Debug, Clone, Copy)]
enum Choice {
    Move(Direction),
    Shoot(u32),
}

impl LastBullet {
    /// The side of the torus.
    pub fn side(&self) -> u16 {
        self.torus.side()
    }

    /// Turns finished.
    pub fn clock(&self) -> u32 {
        self.clock
    }

    /// All pieces.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The piece on a square.
    pub fn piece_at(&self, square: Square) -> Option<&Piece> {
        self.pieces.get(self.board[self.torus.index(square)] as usize)
    }

    /// The name of a piece.
    pub fn name(&self, who: WhoIs) -> &str {
        &self.names[Seat(who.0)]
    }

    /// Steps 1 to 3, which come before the decisions.
    fn begin_turn(&mut self, chance: &mut impl Chance, log: &mut impl Log<Event>) {
        self.rise(chance, log);
        self.bite(log);
        self.score();
        self.look_around();
    }

    /// Step 1: a zombie rises and replaces whatever stood there.
    fn rise(&mut self, chance: &mut impl Chance, log: &mut impl Log<Event>) {
        let at = chance.uniform(self.torus.squares() as u32) as usize;
        let square = self.torus.square(at);
        let number = self.new_number();
        let zombie = Piece { kind: Kind::Zombie, number, square, bullets: 0 };
        let mut replaced = None;
        match self.pieces.get_mut(self.board[at] as usize) {
            Some(piece) => {
                let old = mem::replace(piece, zombie);
                replaced = Some(Replaced { who: old.kind.into(), number: old.number });
                log.record(
                    self.audience(square, old.player(), log),
                    Event::Rose { square, number, replaced },
                );
                self.lose(old.kind, log);
            }
            None => {
                self.board[at] = self.pieces.len() as u32;
                self.pieces.push(zombie);
                log.record(self.audience(square, None, log), Event::Rose { square, number, replaced });
            }
        }
    }

    /// Step 2: players next to a zombie that was there before the step become zombies.
    fn bite(&mut self, log: &mut impl Log<Event>) {
        let is_zombie = |square| self.piece_at(square).is_some_and(|piece| piece.kind == Kind::Zombie);
        let is_bitten =
            |piece: &Piece| piece.player().is_some() && self.torus.neighbours(piece.square).any(is_zombie);
        let bitten: Vec<usize> = (0..self.copies()).filter(|&index| is_bitten(&self.pieces[index])).collect();
        for index in bitten {
            let zombie = self.new_number();
            let piece = &mut self.pieces[index];
            let old = mem::replace(
                piece,
                Piece { kind: Kind::Zombie, number: zombie, bullets: 0, square: piece.square },
            );
            if let Some(seat) = old.player() {
                let audience = self.audience(old.square, Some(seat), log);
                log.record(audience, Event::Bitten { seat, number: old.number, zombie });
            }
            self.lose(old.kind, log);
        }
    }

    /// Step 3: an entry with at least one living copy scores the current clock.
    fn score(&mut self) {
        for (score, &living) in self.scores.iter_mut().zip(&self.living) {
            if living > 0 {
                *score = self.clock;
            }
        }
    }

    /// Works out which copies see each other, and which entries have to decide.
    fn look_around(&mut self) {
        self.occupied.reset(self.pieces.iter().map(|piece| piece.square));
        let players = self.pieces.iter().filter(|piece| piece.player().is_some());
        self.players.reset(players.map(|piece| piece.square));
        self.to_act.clear();
        let seats = Seat::all(self.living.len()).iter();
        self.to_act.extend(seats.filter(|seat| self.living[seat.index()] > 0));
    }

    /// Step 4, players: turns the orders of each entry into choices. Checks all orders before it changes anything.
    fn take_orders(&self, moves: &[Move<Action>]) -> Result<Vec<Choice>, Rejected<Illegal>> {
        let mut choices = vec![Choice::Move(Direction::Stay); self.pieces.len()];
        let mut ordered = vec![false; self.copies()];
        for (&seat, entry) in self.to_act.iter().zip(moves) {
            let Move::Act(Action { orders }) = entry else { continue };
            for &order in orders {
                let copy = order.copy();
                let index = copy as usize;
                let owner = self.pieces[..self.copies()].get(index).and_then(Piece::player);
                if owner != Some(seat) {
                    return Err(Rejected::Illegal { seat, why: Illegal::NotYours { copy } });
                }
                if mem::replace(&mut ordered[index], true) {
                    return Err(Rejected::Illegal { seat, why: Illegal::Twice { copy } });
                }
                choices[index] = match order {
                    Order::Move { direction, .. } => Choice::Move(direction),
                    Order::Shoot { target, .. } => Choice::Shoot(target),
                };
            }
        }
        Ok(choices)
    }

    /// Step 4, zombies.
    fn move_zombies(&self, choices: &mut [Choice], chance: &mut impl Chance) {
        for (piece, choice) in self.pieces.iter().zip(choices) {
            if piece.kind == Kind::Zombie {
                *choice = Choice::Move(zombies::decide(piece.square, &self.players, chance));
            }
        }
    }

    /// Step 5: all shots are fired at once; a player or zombie that is hit becomes a corpse and does not move.
    fn shoot(&mut self, choices: &mut [Choice], log: &mut impl Log<Event>) {
        let mut hits: Vec<usize> = Vec::new();
        for (index, choice) in choices.iter_mut().enumerate() {
            let Choice::Shoot(target) = *choice else { continue };
            *choice = Choice::Move(Direction::Stay);
            let shooter = self.pieces[index];
            let Some(seat) = shooter.player() else { continue };
            let mut result = ShotResult::NoBullet;
            if shooter.bullets > 0 {
                self.pieces[index].bullets -= 1;
                result = ShotResult::Missed;
                if let Some(hit) = self.in_range(shooter.square, target) {
                    hits.push(hit);
                    result = ShotResult::Hit;
                }
            }
            let audience = self.audience(shooter.square, Some(seat), log);
            log.record(audience, Event::Shot { seat, number: shooter.number, target, result });
        }
        hits.sort_unstable();
        hits.dedup();
        for index in hits {
            let old = self.pieces[index];
            if old.kind == Kind::Corpse {
                continue;
            }
            let corpse = self.new_number();
            self.pieces[index].kind = Kind::Corpse;
            self.pieces[index].number = corpse;
            choices[index] = Choice::Move(Direction::Stay);
            let audience = self.audience(old.square, old.player(), log);
            log.record(audience, Event::Killed { who: old.kind.into(), number: old.number, corpse });
            self.lose(old.kind, log);
        }
    }

    /// The index of the piece with this number, if it stands within range.
    fn in_range(&self, from: Square, number: u32) -> Option<usize> {
        let reach = i32::from(RANGE);
        (-reach..=reach)
            .flat_map(|dy| (-reach..=reach).map(move |dx| (dx, dy)))
            .map(|(dx, dy)| self.board[self.torus.index(self.torus.step(from, dx, dy))])
            .find(|&at| at != EMPTY && self.pieces[at as usize].number == number)
            .map(|at| at as usize)
    }

    /// Step 6: all moves at once.
    fn move_all(&mut self, choices: &[Choice]) {
        let homes: Vec<Square> = self.pieces.iter().map(|piece| piece.square).collect();
        let wanted = |(&home, choice): (&Square, &Choice)| match choice {
            Choice::Move(direction) => {
                let (dx, dy) = direction.offset();
                self.torus.step(home, dx, dy)
            }
            Choice::Shoot(_) => home,
        };
        let mut wants: Vec<Square> = homes.iter().zip(choices).map(wanted).collect();
        moves::settle(self.torus, &homes, &mut wants);
        for (&home, &to) in homes.iter().zip(&wants) {
            if home != to {
                self.board[self.torus.index(home)] = EMPTY;
            }
        }
        for (index, (&home, &to)) in homes.iter().zip(&wants).enumerate() {
            if home != to {
                self.board[self.torus.index(to)] = index as u32;
                self.pieces[index].square = to;
            }
        }
    }

    /// Step 7: living players next to a corpse share its bullets equally; the remainder is lost.
    fn scavenge(&mut self, log: &mut impl Log<Event>) {
        for index in 0..self.pieces.len() {
            let corpse = self.pieces[index];
            if corpse.kind != Kind::Corpse || corpse.bullets == 0 {
                continue;
            }
            let mut near = [0; 8];
            let mut count = 0;
            for square in self.torus.neighbours(corpse.square) {
                let at = self.board[self.torus.index(square)];
                if at != EMPTY && self.pieces[at as usize].player().is_some() {
                    near[count] = at as usize;
                    count += 1;
                }
            }
            if count == 0 {
                continue;
            }
            let bullets = corpse.bullets / count as u32;
            self.pieces[index].bullets = 0;
            for &at in &near[..count] {
                let piece = &mut self.pieces[at];
                piece.bullets += bullets;
                if let (Some(seat), true) = (piece.player(), bullets > 0) {
                    let (number, corpse, square) = (piece.number, corpse.number, piece.square);
                    let audience = self.audience(square, Some(seat), log);
                    log.record(audience, Event::Scavenged { seat, number, corpse, bullets });
                }
            }
        }
    }

    /// Step 8: the clock advances, and the match goes on while a copy lives.
    fn tick(&mut self, chance: &mut impl Chance, log: &mut impl Log<Event>) {
        self.clock += 1;
        if self.living.iter().all(|&living| living == 0) || self.is_out_of_turns() {
            self.look_around();
            self.to_act.clear();
        } else {
            self.begin_turn(chance, log);
        }
    }

    fn is_out_of_turns(&self) -> bool {
        self.rules.max_turns.is_some_and(|max| self.clock >= max.get())
    }

    /// The audience of an event on a square: the entry whose copy it happens to, and those with a living copy that sees it.
    fn audience(&self, square: Square, own: Option<Seat>, log: &impl Log<Event>) -> Audience {
        if !log.asks_for_audience() {
            return Audience::Judge;
        }
        let reach = i32::from(VISION);
        let mut seats: Vec<Seat> = own.into_iter().collect();
        for (dx, dy) in (-reach..=reach).flat_map(|dx| (-reach..=reach).map(move |dy| (dx, dy))) {
            let near = self.piece_at(self.torus.step(square, dx, dy));
            seats.extend(near.and_then(Piece::player));
        }
        seats.sort_unstable();
        seats.dedup();
        Audience::Seats(seats)
    }

    /// Counts a piece of this kind as lost.
    fn lose(&mut self, kind: Kind, log: &mut impl Log<Event>) {
        if let Kind::Player(seat) = kind {
            let living = &mut self.living[seat.index()];
            *living -= 1;
            if *living == 0 {
                let score = self.scores[seat.index()];
                log.record(Audience::Seats(vec![seat]), Event::EntryOut { seat, score });
            }
        }
    }

    /// Returns the number for a new piece; lower numbers belong to the copies.
    fn new_number(&mut self) -> u32 {
        self.copies() as u32 + self.numbers.next()
    }

    /// The number of copies at the start; they are the first pieces.
    fn copies(&self) -> usize {
        self.scores.len() * self.rules.copies.get() as usize
    }
}

impl Game for LastBullet {
    const SEATS: RangeInclusive<usize> = 1..=500;
    type Rules = LastBulletRules;
    type Action = Action;
    type View = LastBulletView;
    type Event = Event;
    type Illegal = Illegal;

    fn new(
        names: &Names,
        rules: &LastBulletRules,
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<Self, SetupError> {
        names.expect_seats(Self::SEATS)?;
        let all_names = with_own_names(names)?;
        let torus = Torus::new(rules.side(names.len())?);
        let copies = rules.copies.get() as usize;
        let mut squares: Vec<u32> = (0..torus.squares() as u32).collect();
        let pieces: Vec<Piece> = (0..names.len() * copies)
            .map(|index| {
                // The first `index` squares are taken.
                let other = index + chance.uniform((squares.len() - index) as u32) as usize;
                squares.swap(index, other);
                Piece {
                    kind: Kind::Player(Seat((index / copies) as u16)),
                    number: index as u32,
                    square: torus.square(squares[index] as usize),
                    bullets: BULLETS,
                }
            })
            .collect();
        let saved = Saved {
            rules: *rules,
            entries: names.clone(),
            clock: 0,
            numbers: Numbers::new(chance),
            pieces,
            scores: vec![0; names.len()],
            over: false,
        };
        let mut game = saved.into_game(torus, all_names);
        game.begin_turn(chance, log);
        Ok(game)
    }

    fn seats(&self) -> usize {
        self.entries.len()
    }

    fn rules(&self) -> &LastBulletRules {
        &self.rules
    }

    fn to_act(&self) -> &[Seat] {
        &self.to_act
    }

    fn view(&self, seat: Seat) -> LastBulletView {
        let mut view = LastBulletView {
            clock: self.clock,
            side: self.side(),
            names: self.names.clone(),
            me: WhoIs::entry(seat),
            copies: Vec::new(),
        };
        self.refresh_view(seat, &mut view);
        view
    }

    fn refresh_view(&self, seat: Seat, view: &mut LastBulletView) {
        view.clock = self.clock;
        view.side = self.side();
        if view.names != self.names {
            view.names = self.names.clone();
        }
        view.me = WhoIs::entry(seat);
        let copies = self.rules.copies.get() as usize;
        let own = &self.pieces[seat.index() * copies..][..copies];
        look(
            own.iter().filter(|piece| piece.player().is_some()),
            self.torus,
            &self.occupied,
            |square| &self.pieces[self.board[self.torus.index(square)] as usize],
            &mut view.copies,
        );
    }

    /// Too many to list: any combination of one order for each copy.
    fn legal_actions(_: &LastBulletView) -> Option<impl Iterator<Item = Action>> {
        None::<iter::Empty<Action>>
    }

    fn read_action(json: &Value) -> Result<(Action, Option<String>), serde_json::Error> {
        Action::read(json)
    }

    fn apply(
        &mut self,
        moves: &[Move<Action>],
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<(), Rejected<Illegal>> {
        self.check_count(moves)?;
        let mut choices = self.take_orders(moves)?;
        self.move_zombies(&mut choices, chance);
        self.shoot(&mut choices, log);
        self.move_all(&choices);
        self.scavenge(log);
        self.tick(chance, log);
        Ok(())
    }

    /// Keeps the first order for each copy and drops orders for pieces that are not the entry's copies.
    fn salvage(view: &LastBulletView, action: &Action) -> Option<Action> {
        let mut waits = vec![true; view.copies.len()];
        let stands = |order: &&Order| {
            let own = view.copies.binary_search_by_key(&order.copy(), |own| own.number);
            own.is_ok_and(|index| mem::replace(&mut waits[index], false))
        };
        Some(Action { orders: action.orders.iter().filter(stands).copied().collect() })
    }

    fn outcome(&self) -> Option<Outcome> {
        let scores = || self.scores.iter().map(|&score| score.into()).collect();
        self.to_act.is_empty().then(|| Outcome::ranked(&self.scores, scores(), self.clock))
    }

    fn invariants(&self) -> Result<(), String> {
        within_limit([self.clock])?;
        for (index, piece) in self.pieces.iter().enumerate() {
            if self.board[self.torus.index(piece.square)] != index as u32 {
                return Err(format!("the board does not know of piece {index}: {piece:?}"));
            }
        }
        if self.board.iter().filter(|&&at| at != EMPTY).count() != self.pieces.len() {
            return Err("the board knows of pieces that do not exist".to_string());
        }
        let bullets: u64 = self.pieces.iter().map(|piece| u64::from(piece.bullets)).sum();
        if bullets > self.copies() as u64 * u64::from(BULLETS) {
            return Err(format!("{bullets} bullets: more than there were at the start"));
        }
        if self.scores.iter().any(|&score| score > self.clock) {
            return Err("somebody lived longer than the match".to_string());
        }
        let mut numbers: Vec<u32> = self.pieces.iter().map(|piece| piece.number).collect();
        numbers.sort_unstable();
        if numbers.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("two pieces have the same number".to_string());
        }
        let copies = self.copies() as u32;
        if numbers.iter().any(|&number| number >= copies && !self.numbers.has_given(number - copies)) {
            return Err("a number has not been given out yet".to_string());
        }
        self.numbers.invariants()
    }
}

/// A match without what can be derived from the rest: its JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    rules: LastBulletRules,
    entries: Names,
    clock: u32,
    pieces: Vec<Piece>,
    numbers: Numbers,
    scores: Vec<u32>,
    over: bool,
}

impl Saved {
    /// Derives the rest. The caller has checked that each piece stands on a square of its own.
    fn into_game(self, torus: Torus, names: Names) -> LastBullet {
        let mut board = vec![EMPTY; torus.squares()];
        let mut living = vec![0; self.scores.len()];
        for (index, piece) in self.pieces.iter().enumerate() {
            board[torus.index(piece.square)] = index as u32;
            if let Some(seat) = piece.player() {
                living[seat.index()] += 1;
            }
        }
        let mut game = LastBullet {
            rules: self.rules,
            entries: self.entries,
            clock: self.clock,
            pieces: self.pieces,
            numbers: self.numbers,
            scores: self.scores,
            torus,
            names,
            board,
            living,
            to_act: Vec::new(),
            occupied: Sight::new(torus, iter::empty()),
            players: Sight::new(torus, iter::empty()),
        };
        game.look_around();
        if self.over {
            game.to_act.clear();
        }
        game
    }

    /// Checks that pieces, names and scores fit each other and the board.
    fn check(&self, side: u16) -> Result<(), String> {
        let seats = self.entries.len();
        if self.scores.len() != seats {
            return Err(format!("{} scores for {seats} names", self.scores.len()));
        }
        let copies = self.rules.copies.get() as usize;
        if self.pieces.len() < seats * copies {
            return Err(format!("{} pieces for {seats} entries of {copies} copies", self.pieces.len()));
        }
        let mut taken: Vec<Square> = self.pieces.iter().map(|piece| piece.square).collect();
        taken.sort_unstable();
        if taken.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("two pieces on one square".to_string());
        }
        if taken.iter().any(|square| square.x >= side || square.y >= side) {
            return Err(format!("a piece stands off the board of side {side}"));
        }
        for (index, piece) in self.pieces.iter().enumerate() {
            let place = (index / copies, piece.number as usize);
            if piece.player().is_some_and(|seat| (seat.index(), index) != place || seat.index() >= seats) {
                return Err(format!("piece {index} cannot be {piece:?}"));
            }
        }
        let alive = self.pieces.iter().any(|piece| piece.player().is_some());
        let out_of_turns = self.rules.max_turns.is_some_and(|max| self.clock >= max.get());
        if self.over == (alive && !out_of_turns) {
            return Err(format!("over is {} at clock {}", self.over, self.clock));
        }
        Ok(())
    }
}

impl TryFrom<Saved> for LastBullet {
    type Error = String;

    fn try_from(saved: Saved) -> Result<Self, String> {
        let refuse = |error: SetupError| error.to_string();
        saved.entries.expect_seats(Self::SEATS).map_err(refuse)?;
        let names = with_own_names(&saved.entries).map_err(refuse)?;
        let side = saved.rules.side(saved.entries.len()).map_err(refuse)?;
        saved.check(side)?;
        Ok(saved.into_game(Torus::new(side), names))
    }
}

impl From<LastBullet> for Saved {
    fn from(game: LastBullet) -> Saved {
        Saved {
            rules: game.rules,
            entries: game.entries,
            clock: game.clock,
            pieces: game.pieces,
            numbers: game.numbers,
            scores: game.scores,
            over: game.to_act.is_empty(),
        }
    }
}
