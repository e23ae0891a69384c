//! Finds matches in a stored tournament: some of them, in another order, or those that are worth a look. A search uses only the
//! stored results and luck; for single rolls and decisions the first matches are played again.

use super::{PlayedMatch, Schedule, Store, StoreError, matches};
use necrodome_rules::game::Seat;
use std::{cmp::Ordering, collections::BTreeMap};

/// The number of matches that are read at once.
const PAGE: usize = 10_000;
/// The most matches that are searched; a tournament can have a hundred million.
pub const SEARCHED: u64 = 1_000_000;
/// The most matches that are played again to find the rolls and decisions that are worth a look.
pub const REPLAYED: u64 = 5_000;

/// The wanted matches, and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Search {
    /// Only matches in which this entry plays.
    pub entry: Option<usize>,
    /// Only matches that `entry` has won (or not), shared wins included; without `entry`, only those with (or without) a sole winner.
    pub won: Option<bool>,
    /// Only matches with faults.
    pub faults: bool,
    /// The order; `None` for that of the schedule.
    pub by: Option<By>,
    /// Whether the order is reversed.
    pub ascending: bool,
}

/// What matches are sorted by, the highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The luck of the wanted entry, or else of the luckiest seat.
    Luck,
    /// Turns.
    Turns,
    /// The winner's lead.
    Margin,
    /// The score of the wanted entry, or else the highest score.
    Score,
    /// Faults.
    Faults,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The matches of the page.
    pub matches: Vec<PlayedMatch>,
    /// The number of matches found.
    pub total: u64,
    /// The number of matches searched.
    pub searched: u64,
}

impl Search {
    /// Whether it wants all matches in the order of the schedule.
    pub fn is_all(&self) -> bool {
        *self == Search::default()
    }

    fn takes(&self, played: &PlayedMatch) -> bool {
        let seat = self.entry.map(|entry| played.entries.iter().position(|seated| *seated == entry));
        let won = match seat {
            Some(None) => return false,
            Some(Some(seat)) => played.result.places[seat] == 1,
            None => played.winner().is_some(),
        };
        self.won.is_none_or(|wanted| wanted == won)
            && (!self.faults || played.faults.iter().any(|&count| count > 0))
    }

    fn key(&self, by: By, played: &PlayedMatch) -> f64 {
        let seat = self.entry.and_then(|entry| played.entries.iter().position(|seated| *seated == entry));
        let most = |scores: &[i64]| scores.iter().copied().max().unwrap_or_default();
        match by {
            By::Luck => match (seat, played.luck) {
                (Some(seat), Some(_)) => played.luck_of(seat).unwrap_or_default().into(),
                (None, Some(luck)) if played.entries.len() > 1 => luck.abs().into(),
                (_, luck) => luck.unwrap_or_default().into(),
            },
            By::Turns => played.result.turns.into(),
            By::Margin => played.margin().unwrap_or_default() as f64,
            By::Score => {
                seat.map_or_else(|| most(&played.result.scores), |seat| played.result.scores[seat]) as f64
            }
            By::Faults => played.faults.iter().sum::<u32>().into(),
        }
    }

    /// Returns a page of the wanted matches.
    pub fn run(
        &self,
        schedule: &Schedule,
        store: &Store,
        from: usize,
        count: usize,
    ) -> Result<Found, StoreError> {
        let wanted = from + count;
        let mut kept: Vec<(f64, PlayedMatch)> = Vec::new();
        let (mut total, mut searched) = (0, 0);
        while searched < SEARCHED {
            let page = matches(schedule, store, searched, PAGE)?;
            if page.is_empty() {
                break;
            }
            searched += page.len() as u64;
            for played in page.into_iter().filter(|played| self.takes(played)) {
                total += 1;
                match self.by {
                    Some(by) => kept.push((self.key(by, &played), played)),
                    None if kept.len() < wanted => kept.push((0.0, played)),
                    None => {}
                }
            }
            if kept.len() > wanted + PAGE {
                self.order(&mut kept);
                kept.truncate(wanted);
            }
        }
        self.order(&mut kept);
        let matches = kept.into_iter().skip(from).take(count).map(|(_, played)| played).collect();
        Ok(Found { matches, total, searched })
    }

    /// Sorts matches. Equals stay in the order of the schedule.
    fn order(&self, kept: &mut [(f64, PlayedMatch)]) {
        kept.sort_by(|(one, _), (other, _)| {
            let order = other.total_cmp(one);
            if self.ascending { order.reverse() } else { order }
        });
    }
}

impl PlayedMatch {
    /// Returns the seat that won alone.
    pub fn winner(&self) -> Option<usize> {
        let mut first = self.result.winners();
        first.next().filter(|_| first.next().is_none() && self.entries.len() > 1).map(Seat::index)
    }

    /// Returns the difference between the winner's score and the best of the others.
    pub fn margin(&self) -> Option<u64> {
        let winner = self.winner()?;
        let scores = self.result.scores.iter().enumerate();
        let best = scores.filter(|(seat, _)| *seat != winner).map(|(_, score)| *score).max()?;
        Some(self.result.scores[winner].abs_diff(best))
    }

    /// Returns what its result makes worth a look.
    fn highlights(&self) -> impl Iterator<Item = Highlight> {
        let (turns, winner) = (self.result.turns.into(), self.winner());
        let of = |kind, seat, amount| Highlight { kind, seat, amount, step: None };
        let long = (self.entries.len() > 1).then(|| of(MomentKind::Long, winner.unwrap_or(0), turns));
        let close =
            winner.zip(self.margin()).map(|(winner, margin)| of(MomentKind::Close, winner, margin as f64));
        long.into_iter().chain(close)
    }
}

/// The reasons why a match is worth a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MomentKind {
    /// A roll favoured a seat most.
    Luck,
    /// A decision of a seat cost most.
    Mistakes,
    /// The winner's chance was lowest.
    Comeback,
    /// The winner's lead was smallest.
    Close,
    /// The match took the most turns.
    Long,
}

impl MomentKind {
    /// All kinds.
    pub const ALL: [MomentKind; 5] =
        [MomentKind::Luck, MomentKind::Mistakes, MomentKind::Comeback, MomentKind::Close, MomentKind::Long];
}

/// What is worth a look in a match.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Highlight {
    /// The reason.
    pub kind: MomentKind,
    /// The seat that it is about.
    pub seat: usize,
    /// The size: luck, cost and chance in what the game counts, a difference of scores, or turns.
    pub amount: f64,
    /// The step of the film, if it is about a single one.
    pub step: Option<u32>,
}

/// A match that is worth a look.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchMoment {
    /// What is worth it.
    pub highlight: Highlight,
    /// The match.
    pub played: PlayedMatch,
}

/// Orders moments, the better one first. Of two equal ones the longer match is better.
fn order(one: (Highlight, &PlayedMatch), other: (Highlight, &PlayedMatch)) -> Ordering {
    let order = match one.0.kind {
        MomentKind::Close | MomentKind::Comeback => one.0.amount.total_cmp(&other.0.amount),
        _ => other.0.amount.total_cmp(&one.0.amount),
    };
    order.then(other.1.result.turns.cmp(&one.1.result.turns))
}

/// The best moments of a tournament so far. Matches are looked at only once.
#[derive(Debug, Clone, Default)]
pub struct Moments {
    /// The number of matches that were looked at.
    pub seen: u64,
    /// The number of those that were played again.
    pub replayed: u64,
    /// The best moments of each kind and entry, the best first.
    best: BTreeMap<(MomentKind, usize), Vec<MatchMoment>>,
    /// The least and the most of each kind: if they are equal, no match is special.
    reach: BTreeMap<MomentKind, (f64, f64)>,
}

/// The most moments of a kind that are kept for an entry.
const KEPT: usize = 5;

impl Moments {
    /// Looks at the matches that were played since the last time. `replay` plays a match of a solved game again and returns its
    /// best rolls, decisions and chances, or `None` if there is no replay of it.
    pub fn catch_up(
        &mut self,
        schedule: &Schedule,
        store: &Store,
        replay: impl Fn(&PlayedMatch) -> Option<Vec<Highlight>>,
    ) -> Result<(), StoreError> {
        while self.seen < SEARCHED {
            let page = matches(schedule, store, self.seen, PAGE)?;
            if page.is_empty() {
                break;
            }
            for played in &page {
                if self.seen < REPLAYED
                    && played.luck.is_some()
                    && let Some(found) = replay(played)
                {
                    self.replayed += 1;
                    found.into_iter().for_each(|highlight| self.add(highlight, played));
                }
                played.highlights().for_each(|highlight| self.add(highlight, played));
                self.seen += 1;
            }
        }
        Ok(())
    }

    fn add(&mut self, highlight: Highlight, played: &PlayedMatch) {
        let Highlight { kind, seat, amount, .. } = highlight;
        let reach = self.reach.entry(kind).or_insert((amount, amount));
        *reach = (reach.0.min(amount), reach.1.max(amount));
        let best = self.best.entry((kind, played.entries[seat])).or_default();
        let new = (highlight, played);
        let place = best.partition_point(|other| order((other.highlight, &other.played), new).is_le());
        if place < KEPT {
            best.insert(place, MatchMoment { highlight, played: played.clone() });
            best.truncate(KEPT);
        }
    }

    /// Returns the best moments of a kind, of one entry or of all.
    pub fn best(&self, kind: MomentKind, entry: Option<usize>, count: usize) -> Vec<&MatchMoment> {
        if self.reach.get(&kind).is_none_or(|(least, most)| least == most) {
            return Vec::new();
        }
        let of = self.best.range((kind, 0)..=(kind, usize::MAX));
        let of = of.filter(|((_, other), _)| entry.is_none_or(|entry| entry == *other));
        let mut all: Vec<&MatchMoment> = of.flat_map(|(_, best)| best).collect();
        all.sort_by(|one, other| order((one.highlight, &one.played), (other.highlight, &other.played)));
        all.truncate(count);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::game::Outcome;

    fn played(number: u32, entries: [usize; 2], scores: [i64; 2], luck: f32, turns: u32) -> PlayedMatch {
        let places = if scores[0] > scores[1] { vec![1, 2] } else { vec![2, 1] };
        let result = Outcome { places, scores: scores.into(), turns };
        PlayedMatch {
            block: 0,
            number,
            entries: entries.into(),
            result,
            luck: Some(luck),
            faults: vec![0; 2],
        }
    }

    #[test]
    fn moments_are_the_extremes_of_their_kind_and_entry() {
        let mut moments = Moments::default();
        let matches = [
            played(0, [0, 1], [13, 4], 0.4, 9),
            played(1, [1, 0], [12, 14], 0.3, 20),
            played(2, [0, 1], [3, 15], -0.1, 5),
            played(3, [1, 0], [13, 12], -0.2, 11),
        ];
        // The winner's chance was lower when it fell behind further in dice.
        let lowest = |luck: f32| Highlight {
            kind: MomentKind::Comeback,
            seat: usize::from(luck > 0.0),
            amount: 0.5 - f64::from(luck.abs()),
            step: Some(7),
        };
        for one in &matches {
            let all = one.highlights().chain([lowest(one.luck.unwrap())]);
            all.for_each(|highlight| moments.add(highlight, one));
        }
        let best = |kind, entry| {
            let best = moments.best(kind, entry, 9).into_iter();
            best.map(|moment| (moment.played.number, moment.highlight.seat)).collect::<Vec<_>>()
        };
        assert_eq!(best(MomentKind::Comeback, None), [(0, 1), (1, 1), (3, 0), (2, 0)]);
        assert_eq!(best(MomentKind::Comeback, Some(1)), [(0, 1), (3, 0)]);
        assert_eq!(best(MomentKind::Close, None), [(3, 0), (1, 1), (0, 0), (2, 1)]);
        assert_eq!(best(MomentKind::Long, None)[0], (1, 1));
        assert_eq!(best(MomentKind::Luck, None), []);
    }

    #[test]
    fn a_search_takes_and_sorts() {
        let one = played(0, [0, 1], [13, 4], 0.4, 9);
        let other = played(1, [1, 0], [12, 14], 0.3, 20);
        let won = Search { entry: Some(1), won: Some(true), ..Search::default() };
        assert!(!won.takes(&one) && !won.takes(&other));
        assert!(Search { won: Some(false), ..won }.takes(&other));
        assert!(!Search { entry: Some(2), ..Search::default() }.takes(&one));
        assert!(!Search { faults: true, ..Search::default() }.takes(&one));
        let luck = Search { entry: Some(1), by: Some(By::Luck), ..Search::default() };
        assert!(luck.key(By::Luck, &one) < 0.0 && luck.key(By::Luck, &other) > 0.0);
        assert_eq!((luck.key(By::Margin, &one), luck.key(By::Score, &other)), (9.0, 12.0));
    }
}
