//! All move at once, and whoever wants what another wants stays where it was.

use super::shape::{STAY, Shape};
use super::world::{NOBODY, World};
use crate::observe::last_bullet::MOVES;
use necrodome_rules::last_bullet::Square;

/// The occupant of a square wants to leave it. The other bits count who wants to go there.
const LEAVES: u8 = 0x80;

/// What a turn needs besides the world: lists that keep their memory. Between turns, nobody walks and nothing is
/// claimed.
#[derive(Debug, Clone)]
pub(super) struct Scratch {
    /// Who wants to walk.
    walkers: Vec<u32>,
    /// The move of each walker, by piece; all others stay.
    headings: Vec<u8>,
    /// Who wants which square, by place.
    claims: Vec<u8>,
    walks: Vec<Walk>,
    /// Those who were sent home, until it is known what that means for others.
    sent_home: Vec<u32>,
    /// Pieces that are about to die.
    pub(super) doomed: Vec<u32>,
    /// The squares in the order in which a new world takes them.
    pub(super) deck: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Walk {
    piece: u32,
    home: u32,
    goal: u32,
    /// The square of the goal.
    to: Square,
}

impl Scratch {
    pub(super) fn new(shape: &Shape) -> Self {
        Scratch {
            walkers: Vec::new(),
            headings: vec![STAY; shape.squares()],
            claims: vec![0; shape.padded()],
            walks: Vec::new(),
            sent_home: Vec::new(),
            doomed: Vec::new(),
            deck: Vec::new(),
        }
    }

    /// A piece wants to move.
    #[inline(always)]
    pub(super) fn walk(&mut self, piece: usize, direction: u8) {
        if direction != STAY {
            self.headings[piece] = direction;
            self.walkers.push(piece as u32);
        }
    }

    /// A piece does not move after all.
    #[inline(always)]
    pub(super) fn stop(&mut self, piece: usize) {
        self.headings[piece] = STAY;
    }
}

/// Moves everybody who wants to move and can.
#[inline(always)]
pub(super) fn settle(world: &mut World, shape: &Shape, scratch: &mut Scratch) {
    claim(world, shape, scratch);
    clash(world, shape, scratch);
    carry_out(world, scratch);
}

/// Notes what everybody wants.
#[inline(always)]
fn claim(world: &World, shape: &Shape, scratch: &mut Scratch) {
    scratch.walks.clear();
    for piece in scratch.walkers.drain(..) {
        let direction = scratch.headings[piece as usize];
        if direction == STAY {
            continue;
        }
        let from = world.squares[piece as usize];
        let to = shape.go(from, direction);
        let (home, goal) = (shape.place(from), shape.place(to));
        scratch.claims[home] |= LEAVES;
        scratch.claims[goal] += 1;
        scratch.walks.push(Walk { piece, home: home as u32, goal: goal as u32, to });
    }
}

/// Stops everybody who wants a square that another wants or keeps.
///
/// Who is sent home keeps that square, so whoever wanted it is sent home too. Nobody else can be concerned: all who
/// wanted a contested square have left the contest together.
#[inline(always)]
fn clash(world: &World, shape: &Shape, scratch: &mut Scratch) {
    let Scratch { headings, claims, walks, sent_home, .. } = scratch;
    for walk in &*walks {
        let (claim, taken) = (claims[walk.goal as usize], world.looks[walk.goal as usize] != 0);
        if claim & !LEAVES > 1 || taken && claim & LEAVES == 0 {
            headings[walk.piece as usize] = STAY;
            sent_home.push(walk.piece);
        }
    }
    while let Some(piece) = sent_home.pop() {
        let home = world.squares[piece as usize];
        let claim = &mut claims[shape.place(home)];
        *claim &= !LEAVES;
        if *claim == 0 {
            continue;
        }
        for direction in (0..MOVES as u8).filter(|&direction| direction != STAY) {
            // From there, this direction leads to the home.
            let there = shape.go(home, MOVES as u8 - 1 - direction);
            let other = world.index[shape.place(there)];
            if other != NOBODY && headings[other as usize] == direction {
                headings[other as usize] = STAY;
                sent_home.push(other);
            }
        }
    }
}

/// Moves those who still want to, and forgets all wishes.
#[inline(always)]
fn carry_out(world: &mut World, scratch: &mut Scratch) {
    for walk in &scratch.walks {
        scratch.claims[walk.home as usize] = 0;
        scratch.claims[walk.goal as usize] = 0;
        if scratch.headings[walk.piece as usize] != STAY {
            world.leave(walk.piece as usize, walk.home as usize);
        }
    }
    for walk in &scratch.walks {
        let heading = &mut scratch.headings[walk.piece as usize];
        if *heading != STAY {
            *heading = STAY;
            world.enter(walk.piece as usize, walk.goal as usize, walk.to);
        }
    }
}
