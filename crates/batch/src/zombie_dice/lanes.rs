//! The dice of sixty-four turns, side by side: plain arrays that the compiler vectorises.
//!
//! Nothing here branches on what the dice show, and every number is a `u16`, so that a vector holds as many turns as it
//! can. Conditions are masks of 16 bits, all or none: only AVX-512 has room for single bits. Counts of dice are kept as sums:
//! green, green and yellow, all. Then a draw or a die needs only two comparisons. Chance is four words of 16 bits for each roll:
//! three draws from the cup and one for all three faces.

use crate::parts::for_marked;
use necrodome_rules::zombie_dice::{Colour, Counts, DICE, Die, Face, TurnView};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use serde::{Deserialize, Serialize};

/// The number of turns in a block.
pub const LANES: usize = 64;

/// One number of every turn in a block.
pub type Column = [u16; LANES];

/// Returns all bits or none.
#[inline(always)]
pub fn mask(condition: bool) -> u16 {
    u16::from(condition).wrapping_neg()
}

/// Whether `a` is less than `b`, as a mask, for numbers below 2^15 or signed ones: vectors compare them as such.
#[inline(always)]
pub fn below(a: u16, b: u16) -> u16 {
    mask((a as i16) < (b as i16))
}

/// Returns the first number if the mask is set, else the second.
#[inline(always)]
pub fn pick(mask: u16, one: u16, other: u16) -> u16 {
    other ^ ((one ^ other) & mask)
}

/// Calls `work` for each lane whose mask is set.
#[inline(always)]
pub fn marked(masks: &Column, work: impl FnMut(usize)) {
    for_marked::<{ LANES / 4 }>(bytemuck::cast(masks.map(u16::to_le)), LANES, work);
}

/// Calls `work` for each colour, or die. Not a loop: a loop over lanes becomes vectors only if it contains no other loop, and
/// the compiler unrolls small ones too late.
#[inline(always)]
pub fn three(mut work: impl FnMut(usize)) {
    work(0);
    work(1);
    work(2);
}

/// All dice: green, green and yellow, all.
const ALL: [u16; 3] =
    [DICE.green as u16, (DICE.green + DICE.yellow) as u16, (DICE.green + DICE.yellow + DICE.red) as u16];

/// The number of ways in which three dice can fall.
const FACES: u16 = 6 * 6 * 6;

/// The limit of the lower half of a product with [`FACES`], below which its word is drawn again.
const FACES_REJECTED: u16 = ((1 << 16) % FACES as u32) as u16;

/// A limit that holds for every number of dice up to thirteen.
const SUSPECT: u16 = 9;

/// The limit for a draw, by the number of dice in the cup.
const REJECTED: [u16; 16] = {
    let mut rejected = [0; 16];
    let mut dice = 1;
    while dice < 16 {
        rejected[dice as usize] = ((1 << 16) % dice) as u16;
        dice += 1;
    }
    rejected
};

/// The dice of one turn. Dice are counted as sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub brains: u16,
    pub shotguns: u16,
    pub cup: [u16; 3],
    pub feet: [u16; 3],
    /// Brain dice set aside. They are kept only if they can come back.
    pub brain_dice: [u16; 3],
}

/// The result of a roll, as masks.
pub struct Rolled {
    /// The third shotgun.
    pub busted: u16,
    /// Fewer than three dice are left, and the turn is over.
    pub out_of_dice: u16,
}

impl Turn {
    /// The start of a turn: all dice in the cup.
    pub const START: Turn = Turn { brains: 0, shotguns: 0, cup: ALL, feet: [0; 3], brain_dice: [0; 3] };

    /// Whether nothing has been rolled yet, as a mask. Thirteen brains can all be back in the cup.
    #[inline(always)]
    pub fn is_fresh(&self) -> u16 {
        // The cup never has more.
        !below(self.cup[2], ALL[2]) & below(self.brains, 1)
    }

    /// Whether such dice are possible: the counts are sums, and no larger than the game's.
    pub fn is_possible(&self) -> bool {
        let sums = [self.cup, self.feet, self.brain_dice];
        let all: [u32; 3] = std::array::from_fn(|c| sums.iter().map(|sums| u32::from(sums[c])).sum());
        sums.iter().all(|sums| sums.is_sorted())
            && (0..3).all(|c| all[c] <= ALL[c].into())
            && all[1] - all[0] <= (ALL[1] - ALL[0]).into()
            && all[2] - all[1] <= (ALL[2] - ALL[1]).into()
            && self.feet[2] <= 3
            && self.shotguns <= 5
            && self.brains < 1 << 14
    }

    /// The dice as the referee shows them. If the colour of dice set aside no longer matters, the brains come first, and get the easy
    /// dice before the others; so do those of the hand that do not show footsteps.
    pub fn view<const RECYCLE: bool>(&self) -> TurnView {
        let by_colour =
            |sums: [u16; 3]| [sums[0], sums[1] - sums[0], sums[2] - sums[1]].map(|count| count as u8);
        let counts = |[green, yellow, red]: [u8; 3]| Counts { green, yellow, red };
        let (cup, feet) = (by_colour(self.cup), by_colour(self.feet));
        let all = by_colour(ALL);
        let mut aside: [u8; 3] = std::array::from_fn(|c| all[c] - cup[c] - feet[c]);
        let mut brains_left = self.brains;
        let mut brain_dice = by_colour(self.brain_dice);
        for c in 0..3 {
            if !RECYCLE {
                brain_dice[c] = aside[c].min(brains_left as u8);
                brains_left -= u16::from(brain_dice[c]);
            }
            aside[c] -= brain_dice[c];
        }
        TurnView {
            brains: self.brains.into(),
            shotguns: self.shotguns as u8,
            hand: (self.is_fresh() == 0).then(|| hand(feet, [cup, brain_dice], aside)),
            cup: counts(cup),
            brain_dice: counts(brain_dice),
        }
    }

    /// Begins a new turn where the mask is set.
    #[inline(always)]
    pub fn restart(&mut self, condition: u16) {
        self.brains &= !condition;
        self.shotguns &= !condition;
        three(|c| {
            self.cup[c] = pick(condition, ALL[c], self.cup[c]);
            self.feet[c] &= !condition;
            self.brain_dice[c] &= !condition;
        });
    }

    /// Rolls where `go` is set: the footsteps and what is drawn from the cup. Works like `Turn::roll` of the rules.
    #[inline(always)]
    pub fn roll<const RECYCLE: bool>(&mut self, go: u16, draws: [u16; 3], mut faces: u16) -> Rolled {
        let [mut green, mut easy, mut all] = self.cup;
        let [mut hand_green, mut hand_easy, held] = self.feet;
        // Where masks are added or taken away, they are minus one or nothing.
        three(|draw| {
            let wanted = go & below(held, 3 - draw as u16);
            let place = high(draws[draw], all);
            let (is_green, is_easy) = (wanted & below(place, green), wanted & below(place, easy));
            green = green.wrapping_add(is_green);
            easy = easy.wrapping_add(is_easy);
            all = all.wrapping_add(wanted);
            hand_green = hand_green.wrapping_sub(is_green);
            hand_easy = hand_easy.wrapping_sub(is_easy);
        });
        self.cup = [green, easy, all];

        let mut feet = [0u16; 3];
        three(|die| {
            // Green dice first. A side is one of six: first the brains (red dice have one, green ones three), then two
            // footsteps, then the shotguns.
            let (is_green, is_easy) = (below(die as u16, hand_green), below(die as u16, hand_easy));
            let side = high(faces, 6).wrapping_add(is_green).wrapping_add(is_easy);
            faces = faces.wrapping_mul(6);
            let brain = go & below(side, 1);
            let shotgun = go & below(2, side);
            let foot = !(brain | shotgun);
            self.brains = self.brains.wrapping_sub(brain);
            self.shotguns = self.shotguns.wrapping_sub(shotgun);
            let counts = [is_green, is_easy, !0];
            three(|c| {
                feet[c] = feet[c].wrapping_sub(foot & counts[c]);
                if RECYCLE {
                    self.brain_dice[c] = self.brain_dice[c].wrapping_sub(brain & counts[c]);
                }
            });
        });

        let busted = go & below(2, self.shotguns);
        let few = go & !busted & below(all.wrapping_add(feet[2]), 3);
        three(|c| {
            self.feet[c] = pick(go, feet[c], self.feet[c]);
            if RECYCLE {
                self.cup[c] = self.cup[c].wrapping_add(self.brain_dice[c] & few);
                self.brain_dice[c] &= !few;
            }
        });
        Rolled { busted, out_of_dice: if RECYCLE { 0 } else { few } }
    }
}

/// The hand of a roll: the footsteps, then the dice set aside, brains and shotguns; if the brain dice have gone back
/// into the cup, some of those.
fn hand(feet: [u8; 3], brains: [[u8; 3]; 2], shotguns: [u8; 3]) -> [Die; 3] {
    let [back, aside] = brains;
    let piles =
        [(Face::Footsteps, feet), (Face::Brain, aside), (Face::Shotgun, shotguns), (Face::Brain, back)];
    let dice = piles.into_iter().flat_map(|(face, counts)| {
        let die = move |colour| Die { colour, face };
        Colour::ALL
            .into_iter()
            .zip(counts)
            .flat_map(move |(colour, n)| std::iter::repeat_n(die(colour), n.into()))
    });
    let mut hand = [Die { colour: Colour::Green, face: Face::Brain }; 3];
    hand.iter_mut().zip(dice).for_each(|(place, die)| *place = die);
    hand.sort();
    hand
}

/// The turns of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub struct Turns {
    pub brains: Column,
    pub shotguns: Column,
    pub cup: [Column; 3],
    pub feet: [Column; 3],
    pub brain_dice: [Column; 3],
}

impl Turns {
    /// The start of all turns: every die in the cup.
    pub const START: Turns = Turns {
        brains: [0; LANES],
        shotguns: [0; LANES],
        cup: [[ALL[0]; LANES], [ALL[1]; LANES], [ALL[2]; LANES]],
        feet: [[0; LANES]; 3],
        brain_dice: [[0; LANES]; 3],
    };

    /// One turn.
    #[inline(always)]
    pub fn get<const RECYCLE: bool>(&self, i: usize) -> Turn {
        let mut turn = Turn { brains: self.brains[i], shotguns: self.shotguns[i], ..Turn::START };
        three(|c| {
            turn.cup[c] = self.cup[c][i];
            turn.feet[c] = self.feet[c][i];
            if RECYCLE {
                turn.brain_dice[c] = self.brain_dice[c][i];
            }
        });
        turn
    }

    /// Changes one turn.
    #[inline(always)]
    pub fn set<const RECYCLE: bool>(&mut self, i: usize, turn: Turn) {
        self.brains[i] = turn.brains;
        self.shotguns[i] = turn.shotguns;
        three(|c| {
            self.cup[c][i] = turn.cup[c];
            self.feet[c][i] = turn.feet[c];
            if RECYCLE {
                self.brain_dice[c][i] = turn.brain_dice[c];
            }
        });
    }
}

/// Numbers of 32 bits that count turns or rounds. Their halves are kept apart, because a loop over numbers of different
/// widths makes poor vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub struct Counters {
    low: Column,
    high: Column,
}

impl Counters {
    /// Counters at 0.
    pub const ZERO: Counters = Counters { low: [0; LANES], high: [0; LANES] };

    /// One of the numbers.
    pub fn get(&self, i: usize) -> u32 {
        u32::from(self.low[i]) | u32::from(self.high[i]) << 16
    }

    /// Changes one of them.
    pub fn set(&mut self, i: usize, number: u32) {
        (self.low[i], self.high[i]) = (number as u16, (number >> 16) as u16);
    }

    /// Whether one of them is this number, as a mask.
    #[inline(always)]
    pub fn is(&self, i: usize, number: u32) -> u16 {
        mask(self.low[i] == number as u16) & mask(self.high[i] == (number >> 16) as u16)
    }

    /// Adds 1 where the first mask is set, and starts from 0 where the second is.
    #[inline(always)]
    pub fn count(&mut self, i: usize, more: u16, again: u16) {
        let low = self.low[i].wrapping_sub(more);
        let carry = more & mask(low == 0);
        self.low[i] = low & !again;
        self.high[i] = self.high[i].wrapping_sub(carry) & !again;
    }
}

/// The upper half of a product: turns a word into one of `0..n`.
#[inline(always)]
fn high(word: u16, n: u16) -> u16 {
    ((u32::from(word) * u32::from(n)) >> 16) as u16
}

/// The words of chance for one roll of every turn in a block.
#[repr(align(64))]
pub struct Words {
    pub draws: [Column; 3],
    pub faces: Column,
}

/// A stream of chance for each turn of a block: xoroshiro64**, whose state is two words of 32 bits.
///
/// The streams of even lanes and of odd lanes are kept apart. So the halves of two words of 32 bits make a pair of
/// 16-bit words that lie where their lanes do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(align(64))]
pub struct Streams {
    even: Half,
    odd: Half,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(align(64))]
struct Half {
    a: [u32; LANES / 2],
    b: [u32; LANES / 2],
}

impl Half {
    const NONE: Half = Half { a: [0; LANES / 2], b: [0; LANES / 2] };

    /// Draws the next word of one stream.
    #[inline(always)]
    fn next(&mut self, i: usize) -> u32 {
        let (a, b) = (self.a[i], self.b[i] ^ self.a[i]);
        self.a[i] = a.rotate_left(26) ^ b ^ (b << 9);
        self.b[i] = b.rotate_left(13);
        let mixed = a.wrapping_mul(0x9E37_79BB).rotate_left(5);
        mixed.wrapping_add(mixed << 2)
    }
}

impl Default for Streams {
    fn default() -> Self {
        let mut streams = Streams { even: Half::NONE, odd: Half::NONE };
        (0..LANES).for_each(|i| streams.seed(i, 0));
        streams
    }
}

impl Streams {
    /// Starts a stream anew, like `Xoroshiro64StarStar::seed_from_u64`.
    pub fn seed(&mut self, i: usize, seed: u64) {
        self.set(i, SplitMix64::seed_from_u64(seed).next_u64());
    }

    /// The state of a stream.
    pub fn get(&self, i: usize) -> u64 {
        let half = if i.is_multiple_of(2) { &self.even } else { &self.odd };
        u64::from(half.a[i / 2]) | u64::from(half.b[i / 2]) << 32
    }

    /// Sets the state of a stream. A state of zero would never change.
    pub fn set(&mut self, i: usize, state: u64) {
        let state = if state == 0 { 1 } else { state };
        let half = self.half(i);
        half.a[i / 2] = state as u32;
        half.b[i / 2] = (state >> 32) as u32;
    }

    fn half(&mut self, i: usize) -> &mut Half {
        if i.is_multiple_of(2) { &mut self.even } else { &mut self.odd }
    }

    /// Draws words for a roll of every turn. Each word is fair for its use.
    #[inline(always)]
    pub fn words(&mut self, turns: &Turns) -> Words {
        let mut pairs = [[0u32; LANES / 2]; 4];
        for i in 0..LANES / 2 {
            let (even, odd) = (self.even.next(i), self.odd.next(i));
            pairs[0][i] = (even >> 16) | (odd & 0xFFFF_0000);
            pairs[1][i] = (even & 0xFFFF) | (odd << 16);
            let (even, odd) = (self.even.next(i), self.odd.next(i));
            pairs[2][i] = (even >> 16) | (odd & 0xFFFF_0000);
            pairs[3][i] = (even & 0xFFFF) | (odd << 16);
        }
        let [first, second, third, faces] = pairs.map(apart);
        let mut words = Words { draws: [first, second, third], faces };

        // A word may have to be drawn again only if the lower half of its product is below the number of outcomes
        // (Lemire). That is so for one turn in five hundred, which is looked at more closely.
        let mut left_over = [0u16; LANES];
        for i in 0..LANES {
            let all = turns.cup[2][i];
            let faces = words.faces[i].wrapping_mul(FACES);
            left_over[i] = words.draws[0][i]
                .wrapping_mul(all)
                .min(words.draws[1][i].wrapping_mul(all.wrapping_sub(1)))
                .min(words.draws[2][i].wrapping_mul(all.wrapping_sub(2)))
                .min(faces.saturating_sub(FACES_REJECTED - SUSPECT));
        }
        if left_over.iter().fold(u16::MAX, |least, &one| least.min(one)) < SUSPECT {
            self.reconsider(turns, &left_over, &mut words);
        }
        words
    }

    /// Resets streams to their state before, where the mask is set.
    #[inline(always)]
    pub fn go_back(&mut self, held: &Column, before: &Streams) {
        for i in 0..LANES / 2 {
            // Sign-extended, so that all bits are set or none.
            let (even, odd) = (held[2 * i] as i16 as u32, held[2 * i + 1] as i16 as u32);
            for (half, was, mask) in [(&mut self.even, &before.even, even), (&mut self.odd, &before.odd, odd)]
            {
                half.a[i] ^= (half.a[i] ^ was.a[i]) & mask;
                half.b[i] ^= (half.b[i] ^ was.b[i]) & mask;
            }
        }
    }

    /// Draws again the words of those suspects that need it.
    #[cold]
    #[inline(never)]
    fn reconsider(&mut self, turns: &Turns, left_over: &Column, words: &mut Words) {
        marked(&left_over.map(|left_over| mask(left_over < SUSPECT)), |i| {
            while words.must_be_drawn_again(i, turns.cup[2][i], turns.feet[2][i]) {
                let half = self.half(i);
                let (first, second) = (half.next(i / 2), half.next(i / 2));
                words.draws[0][i] = (first >> 16) as u16;
                words.draws[1][i] = first as u16;
                words.draws[2][i] = (second >> 16) as u16;
                words.faces[i] = second as u16;
            }
        });
    }
}

/// Splits pairs into words of 16 bits.
#[inline(always)]
fn apart(pairs: [u32; LANES / 2]) -> Column {
    let words: Column = bytemuck::cast(pairs.map(u32::to_le));
    words.map(u16::from_le)
}

impl Words {
    #[inline(always)]
    fn must_be_drawn_again(&self, i: usize, in_cup: u16, on_feet: u16) -> bool {
        let mut again = self.faces[i].wrapping_mul(FACES) < FACES_REJECTED;
        for draw in 0..3 {
            let outcomes = in_cup.saturating_sub(draw);
            let left_over = self.draws[usize::from(draw)][i].wrapping_mul(outcomes);
            again |= (on_feet + draw < 3) & (left_over < REJECTED[usize::from(outcomes & 15)]);
        }
        again
    }
}
