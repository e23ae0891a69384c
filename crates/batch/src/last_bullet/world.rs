//! One world: a match of Last Bullet in plain arrays. A turn has the steps of the rulebook, in the referee's order, and
//! asks chance the same questions, so that the same stream gives the same match.

use super::moves::Scratch;
use super::observe::{
    ACTIONS, MOVES, REACH, TARGETS,
    code::{self, CORPSE, EMPTY, ZOMBIE},
};
use super::set::{Pieces, Squares, pop, wrap_rows};
use super::shape::{STAY, Shape};
use super::zombies::chase;
use crate::stream::Stream;
use necrodome_rules::{
    chance::Chance,
    last_bullet::{BULLETS, RANGE, Square},
};

/// The look of a survivor of the first entry; those of the other entries follow.
pub(super) const SURVIVOR: u8 = code::OTHER;
/// The look of a survivor whose entry has no number in the current group.
pub(super) const ANOTHER: u8 = u8::MAX;
/// The number of entries with numbers of their own. With more entries, groups of them look one after the other.
pub(super) const GROUP: usize = (ANOTHER - SURVIVOR) as usize;

/// The keys of the referee's secret numbers. Pieces have no such numbers here, but the stream must draw as the referee's does.
const SECRETS: usize = 4;

/// The look of an entry's survivors.
pub(super) fn survivor(entry: usize) -> u8 {
    if entry < GROUP { SURVIVOR + entry as u8 } else { ANOTHER }
}

/// A match.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    pub(super) stream: Stream,
    pub(super) clock: u32,
    /// Whether the match is over, until it begins anew.
    pub(super) over: bool,

    // The pieces, in the referee's order: the survivors entry by entry, whatever becomes of them, then who rose.
    /// The kind of each piece: corpse, zombie, or from [`SURVIVOR`] on the entry of a survivor.
    pub(super) kinds: Vec<u8>,
    pub(super) squares: Vec<Square>,
    pub(super) bullets: Vec<u32>,

    // What follows is derived from the pieces.
    /// The look of each square of the padded board.
    pub(super) looks: Vec<u8>,
    /// The index of the piece on each occupied square, by place; the margin is not kept.
    pub(super) index: Vec<u32>,
    /// The squares of the living.
    players: Squares,
    pub(super) living: Pieces,
    zombies: Pieces,
    /// The corpses with bullets.
    loaded: Pieces,
    pub(super) alive: usize,
}

impl World {
    /// Makes an empty world, to be begun.
    pub(super) fn new(shape: &Shape, stream: Stream) -> Self {
        World {
            stream,
            clock: 0,
            over: true,
            kinds: Vec::new(),
            squares: Vec::new(),
            bullets: Vec::new(),
            looks: vec![EMPTY; shape.padded() + shape.stride()],
            index: vec![0; shape.padded()],
            players: Squares::new(shape),
            living: Pieces::default(),
            zombies: Pieces::default(),
            loaded: Pieces::default(),
            alive: 0,
        }
    }

    /// Begins a new match and plays up to its first decision. If nobody lives to decide, it begins another.
    pub(super) fn begin(&mut self, shape: &Shape, scratch: &mut Scratch) {
        loop {
            self.clock = 0;
            self.populate(shape, scratch);
            for _ in 0..SECRETS {
                self.stream.uniform(u32::MAX);
            }
            self.begin_turn(shape, scratch);
            if self.alive > 0 {
                break;
            }
        }
        self.over = false;
        self.wrap(shape);
    }

    /// Puts every survivor on its own random square.
    fn populate(&mut self, shape: &Shape, scratch: &mut Scratch) {
        let deck = &mut scratch.deck;
        deck.clear();
        deck.extend(0..shape.squares() as u32);
        for taken in 0..shape.survivors() {
            let other = taken + self.stream.uniform((deck.len() - taken) as u32) as usize;
            deck.swap(taken, other);
        }
        let squares = deck[..shape.survivors()].iter().map(|&index| shape.square(index as usize));
        self.squares.clear();
        self.squares.extend(squares);
        self.kinds.clear();
        self.kinds.extend((0..shape.survivors()).map(|piece| survivor(piece / shape.copies)));
        self.bullets.clear();
        self.bullets.resize(shape.survivors(), BULLETS);
        self.derive(shape);
    }

    /// Derives boards and sets from the pieces.
    pub(super) fn derive(&mut self, shape: &Shape) {
        self.looks.fill(EMPTY);
        self.players.clear();
        let sets = [&mut self.living, &mut self.zombies, &mut self.loaded];
        let [living, zombies, loaded] = sets.map(|set| {
            set.clear();
            set
        });
        self.alive = 0;
        for (piece, (&kind, &at)) in self.kinds.iter().zip(&self.squares).enumerate() {
            self.looks[shape.place(at)] = kind;
            self.index[shape.place(at)] = piece as u32;
            match kind {
                SURVIVOR.. => {
                    self.alive += 1;
                    living.insert(piece);
                    self.players.insert(at);
                }
                ZOMBIE => zombies.insert(piece),
                _ if self.bullets[piece] > 0 => loaded.insert(piece),
                _ => {}
            }
        }
        self.wrap(shape);
    }

    /// Plays a turn: one action for each survivor; those of the dead are ignored.
    pub(super) fn turn(&mut self, shape: &Shape, actions: &[u8], scratch: &mut Scratch) {
        self.shoot(shape, actions, scratch);
        self.move_zombies(shape, scratch);
        self.move_survivors(shape, actions, scratch);
        self.fall(shape, scratch);
        scratch.settle(self, shape);
        self.players.wrap();
        self.scavenge(shape, scratch);
        self.clock += 1;
        if self.alive == 0 || self.is_out_of_turns(shape) {
            self.over = true;
        } else {
            self.begin_turn(shape, scratch);
            self.over = self.alive == 0;
        }
        self.wrap_looks(shape);
    }

    pub(super) fn is_out_of_turns(&self, shape: &Shape) -> bool {
        shape.max_turns.is_some_and(|max| self.clock >= max)
    }

    /// Plays the steps before the decisions.
    fn begin_turn(&mut self, shape: &Shape, scratch: &mut Scratch) {
        self.rise(shape);
        self.bite(shape, scratch);
    }

    /// Lets a zombie rise and replace whatever stood there.
    fn rise(&mut self, shape: &Shape) {
        let at = shape.square(self.stream.uniform(shape.squares() as u32) as usize);
        let place = shape.place(at);
        if self.looks[place] == EMPTY {
            self.index[place] = self.kinds.len() as u32;
            self.looks[place] = ZOMBIE;
            self.zombies.insert(self.kinds.len());
            self.kinds.push(ZOMBIE);
            self.squares.push(at);
            self.bullets.push(0);
        } else {
            self.turn_into_zombie(self.index[place] as usize, shape);
            self.players.wrap();
        }
    }

    /// Makes zombies of the survivors next to a zombie that was there before.
    fn bite(&mut self, shape: &Shape, scratch: &mut Scratch) {
        let bitten = &mut scratch.doomed;
        for mut word in self.zombies.words() {
            while let Some(zombie) = pop(&mut word) {
                let at = self.squares[zombie];
                let mut near = (0, self.players.around(at));
                while let Some(direction) = pop(&mut near) {
                    let there = shape.go(at, direction as u8);
                    bitten.push(self.index[shape.place(there)]);
                }
            }
        }
        if !bitten.is_empty() {
            for piece in bitten.drain(..) {
                self.turn_into_zombie(piece as usize, shape);
            }
            self.players.wrap();
        }
    }

    fn turn_into_zombie(&mut self, piece: usize, shape: &Shape) {
        self.lose(piece);
        self.kinds[piece] = ZOMBIE;
        self.bullets[piece] = 0;
        self.looks[shape.place(self.squares[piece])] = ZOMBIE;
        self.zombies.insert(piece);
    }

    /// Takes a piece out of the sets of its kind.
    fn lose(&mut self, piece: usize) {
        match self.kinds[piece] {
            SURVIVOR.. => {
                self.alive -= 1;
                self.living.remove(piece);
                self.players.remove(self.squares[piece]);
            }
            ZOMBIE => self.zombies.remove(piece),
            _ => self.loaded.remove(piece),
        }
    }

    /// Fires all shots at once: pieces that are hit are only noted. They will not move.
    fn shoot(&mut self, shape: &Shape, actions: &[u8], scratch: &mut Scratch) {
        for mut word in self.living.words() {
            while let Some(piece) = pop(&mut word) {
                // Above the shots is only `HOLD`.
                if !(MOVES..ACTIONS).contains(&actions[piece].into()) || self.bullets[piece] == 0 {
                    continue;
                }
                self.bullets[piece] -= 1;
                let target = i32::from(actions[piece]) - MOVES as i32;
                let (dx, dy) = (target % TARGETS as i32, target / TARGETS as i32);
                let reach = i32::from(RANGE);
                let there = shape.place(shape.step(self.squares[piece], dx - reach, dy - reach));
                if self.looks[there] != EMPTY {
                    scratch.doomed.push(self.index[there]);
                    scratch.halted[self.index[there] as usize] = true;
                }
            }
        }
    }

    /// Lets zombies decide, also those about to fall, since the referee asks chance for them, too.
    fn move_zombies(&mut self, shape: &Shape, scratch: &mut Scratch) {
        for mut word in self.zombies.words() {
            while let Some(zombie) = pop(&mut word) {
                let at = self.squares[zombie];
                let step = chase(at, &self.players);
                let direction = step.unwrap_or_else(|| self.stream.uniform(MOVES as u32) as u8);
                if direction != STAY && !scratch.halted[zombie] {
                    scratch.walk(shape, zombie, at, direction);
                }
            }
        }
    }

    fn move_survivors(&mut self, shape: &Shape, actions: &[u8], scratch: &mut Scratch) {
        for mut word in self.living.words() {
            while let Some(piece) = pop(&mut word) {
                let direction = actions[piece];
                if direction < MOVES as u8 && direction != STAY && !scratch.halted[piece] {
                    scratch.walk(shape, piece, self.squares[piece], direction);
                }
            }
        }
    }

    /// Makes corpses of the pieces that were hit.
    fn fall(&mut self, shape: &Shape, scratch: &mut Scratch) {
        for piece in scratch.doomed.drain(..) {
            let piece = piece as usize;
            scratch.halted[piece] = false;
            if self.kinds[piece] == CORPSE {
                continue;
            }
            self.lose(piece);
            self.kinds[piece] = CORPSE;
            self.looks[shape.place(self.squares[piece])] = CORPSE;
            if self.bullets[piece] > 0 {
                self.loaded.insert(piece);
            }
        }
    }

    /// Takes a piece off its place, before it enters another.
    #[inline(always)]
    pub(super) fn leave(&mut self, piece: usize, home: usize) {
        self.looks[home] = EMPTY;
        if self.kinds[piece] >= SURVIVOR {
            self.players.remove(self.squares[piece]);
        }
    }

    /// Puts a piece that has left its place on another.
    #[inline(always)]
    pub(super) fn enter(&mut self, piece: usize, goal: usize, to: Square) {
        self.looks[goal] = self.kinds[piece];
        self.index[goal] = piece as u32;
        self.squares[piece] = to;
        if self.kinds[piece] >= SURVIVOR {
            self.players.insert(to);
        }
    }

    /// Shares a corpse's bullets equally among the survivors next to it; the remainder is lost.
    fn scavenge(&mut self, shape: &Shape, scratch: &mut Scratch) {
        let emptied = &mut scratch.doomed;
        for mut word in self.loaded.words() {
            while let Some(corpse) = pop(&mut word) {
                let at = self.squares[corpse];
                let near = self.players.around(at);
                if near == 0 {
                    continue;
                }
                let share = self.bullets[corpse] / near.count_ones();
                self.bullets[corpse] = 0;
                emptied.push(corpse as u32);
                let mut near = (0, near);
                while let Some(direction) = pop(&mut near) {
                    let there = shape.place(shape.go(at, direction as u8));
                    self.bullets[self.index[there] as usize] += share;
                }
            }
        }
        for corpse in emptied.drain(..) {
            self.loaded.remove(corpse as usize);
        }
    }

    /// Copies what lies beyond the edges into the margins.
    fn wrap(&mut self, shape: &Shape) {
        self.players.wrap();
        self.wrap_looks(shape);
    }

    pub(super) fn wrap_looks(&mut self, shape: &Shape) {
        let (side, stride) = (shape.side, shape.stride());
        for row in self.looks.chunks_exact_mut(stride).skip(REACH).take(side) {
            row.copy_within(side..side + REACH, 0);
            row.copy_within(REACH..2 * REACH, side + REACH);
        }
        wrap_rows(&mut self.looks[..], stride, side);
    }
}
