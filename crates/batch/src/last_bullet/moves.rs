//! The moves of a turn: all at once. Pieces that want the same square stay where they are.

use super::observe::{MOVES, code::EMPTY};
use super::set::Pieces;
use super::shape::Shape;
use super::world::World;
use necrodome_rules::last_bullet::Square;

/// The lists that a turn needs besides the world. They keep their memory.
#[derive(Debug, Clone)]
pub struct Scratch {
    /// The pieces that want to move, and of them those that cannot.
    walks: Vec<Walk>,
    blocked: Vec<Walk>,
    /// The claims on each square, by place.
    claims: Vec<u8>,
    /// The pieces that do not move whatever they want: marked by piece, and listed.
    pub(super) halted: Vec<bool>,
    sent_home: Vec<u32>,
    /// Pieces that are about to die.
    pub(super) doomed: Vec<u32>,
    /// The squares in the order in which a new world takes them.
    pub(super) deck: Vec<u32>,
    /// The survivors who lived before the turn.
    pub(super) lived: Pieces,
}

#[derive(Debug, Clone, Copy)]
struct Walk {
    piece: u32,
    /// The places that the piece leaves and wants.
    home: u32,
    goal: u32,
    /// The square of the goal.
    to: Square,
}

/// A flag: the piece on this square wants to leave it.
const LEAVES: u8 = 0x80;
/// A flag: several pieces want this square. A single one is stored as its move, counted from 1.
const SEVERAL: u8 = 0x40;

impl Scratch {
    pub(super) fn new(shape: &Shape) -> Self {
        Scratch {
            walks: Vec::new(),
            blocked: Vec::new(),
            claims: vec![0; shape.padded()],
            halted: vec![false; shape.squares()],
            sent_home: Vec::new(),
            doomed: Vec::new(),
            deck: Vec::new(),
            lived: Pieces::default(),
        }
    }

    /// Notes that a piece wants to move from its square.
    #[inline(always)]
    pub(super) fn walk(&mut self, shape: &Shape, piece: usize, from: Square, direction: u8) {
        let to = shape.go(from, direction);
        let (home, goal) = (shape.place(from), shape.place(to));
        self.claims[home] |= LEAVES;
        let claim = &mut self.claims[goal];
        let wish = if *claim & !LEAVES == 0 { direction + 1 } else { SEVERAL };
        *claim |= wish;
        self.walks.push(Walk { piece: piece as u32, home: home as u32, goal: goal as u32, to });
    }

    /// Moves every piece that wants to move and can.
    #[inline(always)]
    pub(super) fn settle(&mut self, world: &mut World, shape: &Shape) {
        self.block(world);
        self.send_home(world, shape);
        self.carry_out(world);
    }

    /// Separates the pieces that want a contested square. Without a branch: nobody can predict which they are.
    fn block(&mut self, world: &World) {
        let Scratch { walks, blocked, claims, .. } = self;
        blocked.clear();
        blocked.extend_from_slice(walks);
        let (mut free, mut stopped) = (0, 0);
        for place in 0..walks.len() {
            let walk = walks[place];
            let claim = claims[walk.goal as usize];
            let kept = (world.looks[walk.goal as usize] != EMPTY) & (claim & LEAVES == 0);
            let stops = kept | (claim & SEVERAL != 0);
            walks[free] = walk;
            blocked[stopped] = walk;
            free += usize::from(!stops);
            stopped += usize::from(stops);
        }
        walks.truncate(free);
        blocked.truncate(stopped);
    }

    /// Sends a blocked piece home. It keeps its square, so the piece that wanted this square is sent home too, and so on.
    ///
    /// Only one piece can want it: two of them would have been sent home already.
    fn send_home(&mut self, world: &World, shape: &Shape) {
        let Scratch { claims, blocked, halted, sent_home, .. } = self;
        for walk in blocked {
            let (mut piece, mut place) = (walk.piece as usize, walk.home as usize);
            loop {
                claims[place] &= !LEAVES;
                let wish = claims[place];
                if wish == 0 || wish & SEVERAL != 0 {
                    break;
                }
                // From there, its move leads to this home.
                let there = shape.go(world.squares[piece], MOVES as u8 - wish);
                place = shape.place(there);
                piece = world.index[place] as usize;
                halted[piece] = true;
                sent_home.push(piece as u32);
            }
        }
    }

    /// Moves the pieces that still can, and clears all claims.
    fn carry_out(&mut self, world: &mut World) {
        let Scratch { walks, blocked, claims, halted, sent_home, .. } = self;
        for walk in &*blocked {
            claims[walk.home as usize] = 0;
            claims[walk.goal as usize] = 0;
        }
        for walk in &*walks {
            claims[walk.home as usize] = 0;
            claims[walk.goal as usize] = 0;
            if !halted[walk.piece as usize] {
                world.leave(walk.piece as usize, walk.home as usize);
            }
        }
        for walk in walks.drain(..) {
            if !halted[walk.piece as usize] {
                world.enter(walk.piece as usize, walk.goal as usize, walk.to);
            }
        }
        for piece in sent_home.drain(..) {
            halted[piece as usize] = false;
        }
    }
}
