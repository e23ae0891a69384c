//! The table: rounds of 2 to 99 seats, a last round when somebody has 13, tiebreaks.
//!
//! Seats are kept as the one to act sees them: its own score, then the next seat's, and so on. So the observation needs no
//! rotation, and when the turn passes, all numbers move up by one place. The facts needed at the end of a round, the
//! best score and how many have it, are updated with every turn. Only the seats left out of a tiebreak, which a
//! turn must skip, and the places at the end are worked out match by match: that is rare.

use super::{
    kernel::{DiceFormat, Played, Settled, Told, TurnRules, any},
    lanes::{Column, Counters, LANES, Turn, below, marked, mask, pick},
    observe::InRound,
};
use necrodome_rules::{
    game::Seat,
    zombie_dice::{GOAL, Table, TableRules, TableView, Tiebreak, TurnView},
};
use serde::{Deserialize, Serialize};

const LEFT_OUT: u16 = InRound::LeftOut as u16;
const WAITS: u16 = InRound::Waits as u16;
const PLAYS: u16 = InRound::Plays as u16;
const PLAYED: u16 = InRound::Played as u16;

/// The seats of tables, and the rounds that they play.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub struct TableFormat {
    /// The seat to act.
    own: Place,
    /// The others, around the table from the next one on.
    others: Vec<Place>,
    /// The seat to act.
    mover: Column,
    /// The best score, and the number of seats that have it.
    best: Column,
    tied: Column,
    /// The number of seats that play in this round, and of those that wait for their turn.
    playing: Column,
    waiting: Column,
    /// Whether this is a tiebreak, as a mask.
    tiebreak: Column,
    /// The rounds finished: as many as an observation can hold, and all.
    shown: Column,
    rounds: Counters,
    /// The effects of the last step, as masks: it ended a round, and it began a tiebreak.
    closes: Column,
    breaks: Column,
    /// The number of seats, and whether a tiebreak is one round, as a mask. The same in all lanes: a single number that is read
    /// beside the columns would keep the compiler from vectorising.
    seats: Column,
    one_round: Column,
}

/// A seat of each match.
#[derive(Debug, Clone)]
#[repr(align(64))]
struct Place {
    score: Column,
    /// The status of the seat in this round: an [`InRound`].
    in_round: Column,
}

impl Place {
    const fn new(in_round: u16) -> Self {
        Place { score: [0; LANES], in_round: [in_round; LANES] }
    }
}

/// A saved table, seat by seat.
#[derive(Serialize, Deserialize)]
pub struct SavedTable {
    scores: Vec<u16>,
    playing: Vec<bool>,
    mover: u16,
    rounds: u32,
    tiebreak: bool,
}

impl TableFormat {
    fn seat_count(&self) -> usize {
        self.others.len() + 1
    }

    /// The places in one match, by seat.
    fn by_seat(&self, i: usize) -> impl Iterator<Item = (u16, u16)> {
        let (seats, mover) = (self.seat_count(), usize::from(self.mover[i]));
        (0..seats).map(move |seat| match (seat + seats - mover) % seats {
            0 => (self.own.score[i], self.own.in_round[i]),
            steps => (self.others[steps - 1].score[i], self.others[steps - 1].in_round[i]),
        })
    }

    /// Moves all up by one place where the turn passes, and clears the table where a match begins. `BREAKS` is set if a tiebreak
    /// begins in some lane: seats without the best score are left out of it.
    #[inline(always)]
    fn turn_table<const BREAKS: bool>(&mut self, told: &Told) {
        let TableFormat { own, others, closes, breaks, best, .. } = self;
        let step = |i: usize, here: &mut Place, next: &Place| {
            let (passed, again) = (told.passed[i], told.again[i]);
            let score = pick(passed, next.score[i], here.score[i]);
            let mut in_round = pick(passed, next.in_round[i], here.in_round[i]);
            let takes_part = below(LEFT_OUT, in_round) & WAITS;
            in_round = pick(closes[i] & passed, takes_part, in_round);
            if BREAKS {
                in_round = pick(breaks[i], mask(score == best[i]) & WAITS, in_round);
            }
            here.score[i] = score & !again;
            here.in_round[i] = pick(again, WAITS, in_round);
        };
        let last = Place { score: own.score, in_round: [PLAYED; LANES] };
        if let Some(first) = others.first() {
            for i in 0..LANES {
                step(i, own, first);
            }
        }
        for here in 0..others.len() {
            let (before, after) = others.split_at_mut(here + 1);
            let next = after.first().unwrap_or(&last);
            for i in 0..LANES {
                step(i, &mut before[here], next);
            }
        }
    }

    /// Passes the turn on in one match until it comes to a seat that plays in this round.
    #[cold]
    #[inline(never)]
    fn skip_left_out(&mut self, i: usize) {
        let mut places: Vec<(u16, u16)> = self.by_seat(i).collect();
        let seats = places.len();
        let mover = usize::from(self.mover[i]);
        let next = (0..seats).map(|steps| (mover + steps) % seats).find(|&seat| places[seat].1 != LEFT_OUT);
        let next = next.unwrap_or(mover);
        places.rotate_left(next);
        self.mover[i] = next as u16;
        for (place, (score, in_round)) in std::iter::once(&mut self.own).chain(&mut self.others).zip(places) {
            (place.score[i], place.in_round[i]) = (score, in_round);
        }
    }
}

impl DiceFormat for TableFormat {
    type Game = Table;
    type Basis = (TableRules, usize);
    type Saved = SavedTable;
    const NUMBERS: usize = 2;

    fn turn_rules(rules: &TableRules) -> TurnRules {
        let max_turns = rules.max_rounds.map_or(u32::MAX, |max| max.get());
        TurnRules { out_of_dice: rules.out_of_dice, first_roll: rules.first_roll, max_turns }
    }

    fn basis(rules: &TableRules, seats: usize) -> (TableRules, usize) {
        (*rules, seats)
    }

    fn new(rules: &TableRules, seats: usize) -> Self {
        let all = seats as u16;
        TableFormat {
            own: Place::new(PLAYS),
            others: vec![Place::new(WAITS); seats - 1],
            mover: [0; LANES],
            best: [0; LANES],
            tied: [all; LANES],
            playing: [all; LANES],
            waiting: [all - 1; LANES],
            tiebreak: [0; LANES],
            shown: [0; LANES],
            rounds: Counters::ZERO,
            closes: [0; LANES],
            breaks: [0; LANES],
            seats: [all; LANES],
            one_round: [mask(rules.tiebreak == Tiebreak::OneRound); LANES],
        }
    }

    #[inline(always)]
    fn is_last(&self, i: usize, max_rounds: u32) -> u16 {
        self.rounds.is(i, max_rounds.wrapping_sub(1))
    }

    #[inline(always)]
    fn settle(&mut self, i: usize, turn: &Turn, played: &Played) -> Settled {
        let banks = played.stopped | played.rolled.out_of_dice;
        let ended = banks | played.rolled.busted;
        let banked = turn.brains & banks;
        let own = self.own.score[i].wrapping_add(banked);
        let leads = below(self.best[i], own);
        let joins = !leads & !below(own, self.best[i]) & below(0, banked);
        self.own.score[i] = own;
        self.best[i] = pick(leads, own, self.best[i]);
        self.tied[i] = pick(leads, 1, self.tied[i].wrapping_add(joins & 1));

        let closes = ended & below(self.waiting[i], 1);
        let reached = !below(self.best[i], GOAL as u16);
        let decided = below(self.tied[i], 2) | (self.tiebreak[i] & self.one_round[i]);
        let over = closes & (played.last | (reached & decided));
        self.closes[i] = closes;
        self.breaks[i] = closes & reached & !over;
        self.shown[i] = self.shown[i].wrapping_add(closes & below(self.shown[i], i16::MAX as u16) & 1);
        Settled { over, ended, reward: 0 }
    }

    #[inline(always)]
    fn proceed(&mut self, i: usize, passed: u16, again: u16) {
        let all = self.seats[i];
        let (closes, breaks) = (self.closes[i] & passed, self.breaks[i]);
        let playing = pick(breaks, self.tied[i], self.playing[i]);
        let waiting = pick(closes, playing, self.waiting[i]).wrapping_sub(passed & 1);
        self.playing[i] = pick(again, all, playing);
        self.waiting[i] = pick(again, all.wrapping_sub(1), waiting);
        self.best[i] &= !again;
        self.tied[i] = pick(again, all, self.tied[i]);
        self.tiebreak[i] = (self.tiebreak[i] | breaks) & !again;
        self.shown[i] &= !again;
        self.rounds.count(i, self.closes[i], again);
    }

    #[inline(always)]
    fn pass_on(&mut self, told: &Told) {
        if any(&self.breaks) {
            self.turn_table::<true>(told)
        } else {
            self.turn_table::<false>(told)
        }
        let mut astray = [0; LANES];
        for i in 0..LANES {
            let next = self.mover[i].wrapping_add(told.passed[i] & 1);
            self.mover[i] = next & below(next, self.seats[i]) & !told.again[i];
            astray[i] = told.passed[i] & below(self.own.in_round[i], 1);
        }
        if any(&astray) {
            marked(&astray, |i| self.skip_left_out(i));
        }
        self.own.in_round = [PLAYS; LANES];
        (self.closes, self.breaks) = ([0; LANES], [0; LANES]);
    }

    #[inline(always)]
    fn numbers(&self, i: usize) -> [u16; 2] {
        [self.shown[i], self.tiebreak[i] & 1]
    }

    #[inline(always)]
    fn seats(&self) -> impl Iterator<Item = &Column> {
        std::iter::once(&self.own).chain(&self.others).flat_map(|place| [&place.score, &place.in_round])
    }

    fn to_act(&self, i: usize) -> u8 {
        self.mover[i] as u8
    }

    fn view(&self, i: usize, seat: Seat, turn: TurnView) -> TableView {
        let takes_part =
            |(seat, (_, in_round)): (u16, (u16, u16))| (in_round != LEFT_OUT).then_some(Seat(seat));
        TableView {
            turn,
            seat,
            scores: self.by_seat(i).map(|(score, _)| score.into()).collect(),
            playing: (0..).zip(self.by_seat(i)).filter_map(takes_part).collect(),
            played: self.by_seat(i).filter(|&(_, in_round)| in_round == PLAYED).count() as u16,
            rounds: self.rounds.get(i),
            tiebreak: self.tiebreak[i] != 0,
        }
    }

    fn results(&mut self, i: usize, _: i16, out: &mut [f32]) -> f32 {
        let score =
            |steps: usize| if steps == 0 { self.own.score[i] } else { self.others[steps - 1].score[i] };
        let (seats, mover) = (self.seat_count(), usize::from(self.mover[i]));
        for steps in 0..seats {
            // As `by_place`: whoever is behind is worth as much as whoever is ahead costs.
            let worth = (0..seats)
                .map(|other| i16::from(score(other) < score(steps)) - i16::from(score(other) > score(steps)));
            out[(mover + steps) % seats] = f32::from(worth.sum::<i16>()) / (seats - 1) as f32;
        }
        out[mover]
    }

    fn save(&self, i: usize) -> SavedTable {
        SavedTable {
            scores: self.by_seat(i).map(|(score, _)| score).collect(),
            playing: self.by_seat(i).map(|(_, in_round)| in_round != LEFT_OUT).collect(),
            mover: self.mover[i],
            rounds: self.rounds.get(i),
            tiebreak: self.tiebreak[i] != 0,
        }
    }

    fn restore(&mut self, i: usize, saved: SavedTable) -> bool {
        let SavedTable { scores, playing, mover, rounds, tiebreak } = saved;
        let (seats, mover) = (self.seat_count(), usize::from(mover));
        let fits = scores.len() == seats && playing.len() == seats && playing.get(mover) == Some(&true);
        if !fits
            || scores.iter().any(|&score| score >= 1 << 14)
            || !(tiebreak || playing.iter().all(|&plays| plays))
        {
            return false;
        }
        let in_round = |seat: usize| match (playing[seat], seat.cmp(&mover)) {
            (false, _) => LEFT_OUT,
            (true, std::cmp::Ordering::Less) => PLAYED,
            (true, std::cmp::Ordering::Equal) => PLAYS,
            (true, std::cmp::Ordering::Greater) => WAITS,
        };
        for (steps, place) in std::iter::once(&mut self.own).chain(&mut self.others).enumerate() {
            let seat = (mover + steps) % seats;
            (place.score[i], place.in_round[i]) = (scores[seat], in_round(seat));
        }
        let best = scores.iter().copied().max().unwrap_or_default();
        let count = |of: &dyn Fn(usize) -> bool| (0..seats).filter(|&seat| of(seat)).count() as u16;
        self.mover[i] = mover as u16;
        self.best[i] = best;
        self.tied[i] = count(&|seat| scores[seat] == best);
        self.playing[i] = count(&|seat| playing[seat]);
        self.waiting[i] = count(&|seat| in_round(seat) == WAITS);
        self.tiebreak[i] = mask(tiebreak);
        self.shown[i] = rounds.min(i16::MAX as u32) as u16;
        self.rounds.set(i, rounds);
        true
    }
}
