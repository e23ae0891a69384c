//! The running sums of a stored tournament, from which reports and the rule for stopping are made. They read each block once, and
//! their size does not depend on the number of blocks.

use super::{Claims, Plan, Schedule, Stop, Store, StoreError, formats, results};
use crate::{
    fault::Notes,
    player::Effort,
    stats::{
        ALPHA, Confidence, Design, EloTest, Gap, Match, Measure, Side, Standings, Tally, Verdict, is_look,
    },
};
use necrodome_rules::game::Outcome;
use std::{cmp::Ordering, collections::BTreeSet, ops::Range};

/// Sums over the first blocks of a tournament.
#[derive(Debug, Clone)]
pub struct Sums {
    tally: Tally,
    blocks: u32,
    /// By entry of the plan: its number among the members, or `None` if it has left.
    members: Vec<Option<usize>>,
    matches: u64,
    /// The test between two claims, if the plan has one.
    test: Option<EloTest>,
    /// The faults in the blocks that were read from a store.
    notes: Notes,
    /// By member: its results, and those in matches without a fault of its own.
    clean: Vec<Clean>,
    /// By entry of the plan: its effort in the blocks that were read from a store.
    efforts: Vec<Effort>,
}

/// The largest table whose seats are told apart when results in matches without faults are compared with all results.
const TOLD_APART: usize = 8;

/// The results of an entry in matches without a fault of its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Clean {
    /// Matches in which it did not misbehave.
    pub matches: u64,
    /// Whether it has misbehaved.
    pub misbehaved: bool,
    /// By member that it met.
    met: Vec<Met>,
}

/// The matches in which two entries met.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Met {
    games: u64,
    clean: u64,
    clean_wins: f64,
}

impl Clean {
    /// Returns wins per match, as often against each opponent as in all matches, so that an easier line-up is not taken for better
    /// play. `None` if the entry has never misbehaved, or always against one of its opponents.
    pub fn win_rate(&self) -> Option<f64> {
        let games: u64 = self.met.iter().map(|met| met.games).sum();
        let met = self.met.iter().filter(|met| met.games > 0);
        let share = |met: &Met| {
            let wins = met.clean_wins / met.clean as f64;
            (met.clean > 0).then(|| met.games as f64 / games as f64 * wins)
        };
        let rate: Option<f64> = met.map(share).sum();
        rate.filter(|_| self.misbehaved && games > 0)
    }
}

impl Sums {
    /// Returns the sums of no blocks.
    pub fn new(plan: &Plan, schedule: &Schedule) -> Self {
        let entries = plan.members().count();
        let mut members = vec![None; plan.entries.len()];
        plan.members().enumerate().for_each(|(place, entry)| members[entry] = Some(place));
        let rules = formats::rules(plan.format);
        let alone = plan.seats == 1;
        Sums {
            tally: Tally::stratified(
                Design {
                    entries,
                    // Those who play alone are compared as if they had played together.
                    seats: if alone { entries } else { plan.seats },
                    measure: if alone { Measure::MeanScore } else { rules.measure },
                    rotates: rules.rotates && !alone,
                },
                // They share their dice, too, so their groups belong together.
                if alone { vec![vec![1.0; entries]] } else { schedule.weights().to_vec() },
            ),
            blocks: 0,
            members,
            matches: 0,
            test: plan.test.map(|Claims { elo0, elo1 }| EloTest::new(elo0, elo1, ALPHA, ALPHA)),
            notes: Notes::default(),
            clean: vec![Clean::default(); entries],
            efforts: vec![Effort::default(); plan.entries.len()],
        }
    }

    /// Adds the blocks that were stored since the last time.
    pub fn catch_up(&mut self, schedule: &Schedule, store: &Store) -> Result<(), StoreError> {
        self.catch_up_to(schedule, store, u32::MAX)
    }

    /// Adds the blocks that were stored since the last time, up to but not including `end`.
    pub fn catch_up_to(&mut self, schedule: &Schedule, store: &Store, end: u32) -> Result<(), StoreError> {
        let damaged = || StoreError::Damaged("a block does not fit the plan".into());
        let stored = store.blocks()?;
        if schedule.stage() > stored {
            return Err(StoreError::Damaged("a stage begins behind the last block".into()));
        }
        let end = end.min(stored);
        while self.blocks < end {
            let chunk = store.chunk(self.blocks)?.ok_or_else(damaged)?;
            let luck = chunk.luck(schedule)?;
            let until = chunk.end()?.min(end);
            let dirty = self.note_faults(schedule, store, self.blocks..until)?;
            let seen = self.blocks.checked_sub(chunk.first).ok_or_else(damaged)? as usize;
            for (own, effort) in self.efforts.iter_mut().zip(&chunk.efforts).filter(|_| seen == 0) {
                *own += effort.clone();
            }
            for (index, block) in
                results::blocks(&chunk.results, schedule, chunk.first).enumerate().skip(seen)
            {
                if self.blocks == until && until < chunk.end()? {
                    break;
                }
                if index >= chunk.blocks as usize {
                    return Err(damaged());
                }
                let (number, block) = (self.blocks, block.ok_or_else(damaged)?);
                let before = schedule.matches_before(number) - schedule.matches_before(chunk.first);
                let luck = luck.as_ref().map_or(&[][..], |luck| &luck[before as usize..][..block.len()]);
                let seatings = schedule.seatings(number);
                for (index, outcome) in block.iter().enumerate() {
                    let is_dirty = |entry| dirty.contains(&(number, index as u32, entry));
                    self.add_clean(&seatings[index], outcome, is_dirty);
                }
                self.add(schedule, &block, luck);
            }
            if self.blocks < until {
                return Err(damaged());
            }
        }
        Ok(())
    }

    /// Returns the effort of each entry of the plan.
    pub(super) fn efforts(&self) -> &[Effort] {
        &self.efforts
    }

    /// Notes the faults in some blocks. Returns the matches in which an entry lost an action, with the entry.
    fn note_faults(
        &mut self,
        schedule: &Schedule,
        store: &Store,
        blocks: Range<u32>,
    ) -> Result<BTreeSet<(u32, u32, usize)>, StoreError> {
        let mut dirty = BTreeSet::new();
        for (block, number, faults) in store.faults(blocks)? {
            let damaged = || StoreError::Damaged("a fault does not fit the plan".into());
            let seatings = schedule.seatings(block);
            let seating = seatings.get(number as usize).ok_or_else(damaged)?;
            if !self.is_seated(seating) {
                continue;
            }
            for fault in faults {
                let entry = *seating.get(fault.seat.index()).ok_or_else(damaged)?;
                self.notes.fault(entry, &fault.fault, || format!("block {block}, match {number}"));
                if !fault.fault.kind.is_warning() {
                    dirty.insert((block, number, entry));
                }
            }
        }
        Ok(dirty)
    }

    /// Whether all entries at a table are still in the standings.
    fn is_seated(&self, seating: &[usize]) -> bool {
        seating.iter().all(|&entry| self.members[entry].is_some())
    }

    fn add_clean(&mut self, seating: &[usize], outcome: &Outcome, is_dirty: impl Fn(usize) -> bool) {
        // Those who play alone win every match.
        if seating.len() > 1 && self.is_seated(seating) {
            let members: Vec<usize> = seating.iter().filter_map(|&entry| self.members[entry]).collect();
            add_clean(&mut self.clean, &members, outcome, |seat| is_dirty(seating[seat]));
        }
    }

    /// Adds the next block; `luck` is that of the first seat of each match, or empty.
    pub(super) fn add(&mut self, schedule: &Schedule, block: &[Outcome], luck: &[f32]) {
        let number = self.blocks;
        let seatings = schedule.seatings(number);
        self.blocks += 1;
        if schedule.seats() == 1 {
            self.matches += block.len() as u64;
            // On the same seed, as if they had played together.
            let scores: Vec<i64> = block.iter().map(|result| result.scores[0]).collect();
            let places = Outcome::ranked(&scores, Vec::new(), 0).places;
            let luck: Vec<f64> = luck.iter().map(|&luck| luck.into()).collect();
            let luck = (luck.len() == scores.len()).then_some(&luck[..]);
            let entries = seatings.concat();
            return self.tally.add([Match { entries: &entries, places: &places, scores: &scores, luck }]);
        }
        if let Some(test) = &mut self.test {
            test.push(points_of_first(&seatings, block));
        }
        let count = seatings.iter().filter(|seating| self.is_seated(seating)).count();
        self.matches += count as u64;
        // All tables of the block in one list: there are millions of them. One with somebody who has left has no stratum.
        let members = seatings.iter().flatten().map(|&entry| self.members[entry].unwrap_or_default());
        let members: Vec<usize> = members.collect();
        // What one of two has gained the other has lost.
        let luck: Vec<[f64; 2]> = luck.iter().map(|&luck| [luck.into(), (-luck).into()]).collect();
        let matches = block.iter().zip(members.chunks(schedule.seats())).enumerate();
        self.tally.add_parts(matches.filter_map(|(index, (result, entries))| {
            let stratum = schedule.stratum(number, index)?;
            let luck = luck.get(index).map(|luck| &luck[..]).filter(|luck| luck.len() == entries.len());
            let played = Match { entries, places: &result.places, scores: &result.scores, luck };
            Some((stratum, played))
        }));
    }

    /// Returns the number of blocks in the sums.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Returns the faults in the blocks that were read from a store.
    pub(super) fn notes(&self) -> Notes {
        self.notes.clone()
    }

    /// Returns the results of a member in matches without a fault of its own.
    pub(super) fn clean(&self, entry: usize) -> &Clean {
        &self.clean[entry]
    }

    /// Returns the number of matches in the sums.
    pub fn matches(&self) -> u64 {
        self.matches
    }

    /// Returns what decides the standings.
    pub fn measure(&self) -> Measure {
        self.tally.design().measure
    }

    /// Returns the standings after these blocks.
    pub fn standings(&self, plan: &Plan, confidence: Confidence) -> Standings {
        self.tally.standings(confidence, plan.rank_by)
    }

    /// Returns how many blocks would probably tell two entries apart.
    pub(super) fn blocks_needed(&self, plan: &Plan, one: usize, other: usize) -> Option<u64> {
        self.tally.blocks_needed(one, other, plan.rank_by)
    }

    /// Returns how far one entry is ahead of another, and what it takes to see that or a `difference`.
    pub(super) fn gap(&self, plan: &Plan, one: usize, other: usize, difference: Option<f64>) -> Option<Gap> {
        self.tally.gap(one, other, plan.rank_by, difference, plan.blocks.into())
    }

    /// Returns the claim that has won the test, if the plan has one.
    pub fn tested(&self) -> Option<Side> {
        self.test.as_ref()?.verdict()
    }

    /// Returns why a tournament that stops early stops here, if it does.
    pub(super) fn stop(&self, plan: &Plan) -> Option<Stop> {
        if self.tested().is_some() {
            return Some(Stop::Decided);
        }
        if !plan.until_decided || !is_look(self.tally.blocks()) {
            return None;
        }
        match self.tally.verdict(plan.rank_by, plan.margin) {
            Verdict::Open => None,
            Verdict::Decided => Some(Stop::Decided),
            Verdict::Close => Some(Stop::Close),
        }
    }
}

/// Adds a match to the results of those who met in it. `is_dirty` says of a seat whether it has misbehaved.
fn add_clean(clean: &mut [Clean], members: &[usize], outcome: &Outcome, is_dirty: impl Fn(usize) -> bool) {
    let winners = outcome.places.iter().filter(|&&place| place == 1).count();
    let count = clean.len();
    for (seat, (&own, &place)) in members.iter().zip(&outcome.places).enumerate() {
        let is_clean = !is_dirty(seat);
        let won = if place == 1 { 1.0 / winners as f64 } else { 0.0 };
        let clean = &mut clean[own];
        clean.matches += u64::from(is_clean);
        clean.misbehaved |= !is_clean;
        clean.met.resize(count, Met::default());
        let is_large = members.len() > TOLD_APART;
        // At a large table it is as if it had met only itself.
        for &other in members.iter().filter(|&&other| (other == own) == is_large) {
            let met = &mut clean.met[other];
            met.games += 1;
            met.clean += u64::from(is_clean);
            met.clean_wins += if is_clean { won } else { 0.0 };
        }
    }
}

/// Returns the share of matches in which the first entry placed better than the second; a tie counts half.
fn points_of_first(seatings: &[Vec<usize>], block: &[Outcome]) -> f64 {
    let points = |(seating, outcome): (&Vec<usize>, &Outcome)| {
        let first = seating.iter().position(|&entry| entry == 0).unwrap_or(0);
        match outcome.places[first].cmp(&outcome.places[1 - first]) {
            Ordering::Less => 1.0,
            Ordering::Equal => 0.5,
            Ordering::Greater => 0.0,
        }
    };
    seatings.iter().zip(block).map(points).sum::<f64>() / block.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate of each entry from matches of two: who met, who won, and who misbehaved.
    fn rates(matches: &[([usize; 2], usize, Option<usize>)]) -> Vec<Option<f64>> {
        let mut clean = vec![Clean::default(); 3];
        for (members, winner, misbehaved) in matches {
            let places = members.map(|member| if member == *winner { 1 } else { 2 }).to_vec();
            let outcome = Outcome { places, scores: vec![0, 0], turns: 1 };
            add_clean(&mut clean, members, &outcome, |seat| Some(members[seat]) == *misbehaved);
        }
        clean.iter().map(Clean::win_rate).collect()
    }

    #[test]
    fn matches_without_misbehaviour_are_those_of_the_same_line_up() {
        // 1 misbehaves against 0 only; 0 and 2 never do, whoever else does.
        let (weak, strong) = (([0, 1], 0, Some(1)), ([1, 2], 2, None));
        assert_eq!(
            rates(&[weak, strong, ([0, 2], 2, None)]),
            [None, None, None],
            "nothing is left against 0"
        );
        // One clean match of three against 0: won. One of one against 2: lost. Three of four matches are against 0.
        let rates = rates(&[weak, weak, ([0, 1], 1, None), strong]);
        assert_eq!(rates, [None, Some(0.75), None]);
    }
}
