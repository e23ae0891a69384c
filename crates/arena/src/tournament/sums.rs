//! The running sums of a stored tournament: what reports and the rule for stopping are made from. They read a block once, and
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
    /// By entry: its place in the standings; none of those who have left.
    members: Vec<Option<usize>>,
    matches: u64,
    /// The test between two claims, if the plan has one.
    test: Option<EloTest>,
    /// What went wrong in the blocks that were read from a store.
    notes: Notes,
    /// By entry: the same for matches without any fault.
    clean: Vec<Clean>,
    /// By entry of the plan: how hard each has thought in the blocks that were read from a store.
    efforts: Vec<Effort>,
}

/// What an entry has achieved in matches in which nobody misbehaved.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Clean {
    games: u64,
    wins: f64,
}

impl Clean {
    /// Wins per match, if there was one.
    pub fn win_rate(self) -> Option<f64> {
        (self.games > 0).then(|| self.wins / self.games as f64)
    }
}

impl Sums {
    /// The sums of no blocks.
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

    /// Adds the blocks that were stored since the last time, up to one that is not added.
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
                let is_clean = |&(index, _): &(usize, &Outcome)| !dirty.contains(&(number, index as u32));
                for (index, outcome) in block.iter().enumerate().filter(is_clean) {
                    self.add_clean(&seatings[index], outcome);
                }
                self.add(schedule, &block, luck);
            }
            if self.blocks < until {
                return Err(damaged());
            }
        }
        Ok(())
    }

    /// How hard each entry of the plan has thought.
    pub(super) fn efforts(&self) -> &[Effort] {
        &self.efforts
    }

    /// Notes what went wrong in some blocks. Gives the matches in which something did.
    fn note_faults(
        &mut self,
        schedule: &Schedule,
        store: &Store,
        blocks: Range<u32>,
    ) -> Result<BTreeSet<(u32, u32)>, StoreError> {
        let mut dirty = BTreeSet::new();
        for (block, number, faults) in store.faults(blocks)? {
            let damaged = || StoreError::Damaged("a fault does not fit the plan".into());
            let seatings = schedule.seatings(block);
            let seating = seatings.get(number as usize).ok_or_else(damaged)?;
            if !self.is_seated(seating) {
                continue;
            }
            let lost = faults.iter().any(|fault| !fault.fault.kind.is_warning());
            for fault in faults {
                let entry = *seating.get(fault.seat.index()).ok_or_else(damaged)?;
                self.notes.fault(entry, &fault.fault, || format!("block {block}, match {number}"));
            }
            if lost {
                dirty.insert((block, number));
            }
        }
        Ok(dirty)
    }

    /// Whether all of those at a table are in the standings still.
    fn is_seated(&self, seating: &[usize]) -> bool {
        seating.iter().all(|&entry| self.members[entry].is_some())
    }

    fn add_clean(&mut self, seating: &[usize], outcome: &Outcome) {
        if !self.is_seated(seating) {
            return;
        }
        let winners = outcome.places.iter().filter(|&&place| place == 1).count();
        for (&entry, &place) in seating.iter().zip(&outcome.places) {
            let Some(member) = self.members[entry] else { continue };
            let clean = &mut self.clean[member];
            clean.games += 1;
            clean.wins += if place == 1 { 1.0 / winners as f64 } else { 0.0 };
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

    /// Blocks in the sums.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// What went wrong in the blocks that were read from a store.
    pub(super) fn notes(&self) -> Notes {
        self.notes.clone()
    }

    /// What an entry has achieved in matches without faults.
    pub(super) fn clean(&self, entry: usize) -> Clean {
        self.clean[entry]
    }

    /// Matches in the sums.
    pub fn matches(&self) -> u64 {
        self.matches
    }

    /// What decides the standings.
    pub fn measure(&self) -> Measure {
        self.tally.design().measure
    }

    /// All that can be said after these blocks.
    pub fn standings(&self, plan: &Plan, confidence: Confidence) -> Standings {
        self.tally.standings(confidence, plan.rank_by)
    }

    /// How many blocks would probably tell two entries apart.
    pub(super) fn blocks_needed(&self, plan: &Plan, one: usize, other: usize) -> Option<u64> {
        self.tally.blocks_needed(one, other, plan.rank_by)
    }

    /// How far one entry is ahead of another, and what it takes to see that or a `difference`.
    pub(super) fn gap(&self, plan: &Plan, one: usize, other: usize, difference: Option<f64>) -> Option<Gap> {
        self.tally.gap(one, other, plan.rank_by, difference, plan.blocks.into())
    }

    /// Which claim has won the test, if the plan has one.
    pub fn tested(&self) -> Option<Side> {
        self.test.as_ref()?.verdict()
    }

    /// Why a tournament that stops early stops here, if it does.
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

/// The share of matches in which the first entry placed better than the second, a tie counted half.
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
