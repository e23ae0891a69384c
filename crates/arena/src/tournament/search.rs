//! Finds matches in a stored tournament: some of them, in another order, or those that are worth a look. It uses only the
//! stored results and luck, so it does not play any match again.

use super::{PlayedMatch, Schedule, Store, StoreError, matches};
use necrodome_rules::game::Seat;
use std::{cmp::Ordering, collections::BTreeMap};

/// The number of matches that are read at once.
const PAGE: usize = 10_000;
/// The most matches that are searched; a tournament can have a hundred million.
pub const SEARCHED: u64 = 1_000_000;

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
}

/// The reasons why a match is worth a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MomentKind {
    /// The dice favoured a seat most.
    Luck,
    /// The decisions of a seat cost most: the result is worse than start and luck explain.
    Mistakes,
    /// The winner had the worst luck.
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

/// A match that is worth a look.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchMoment {
    /// The reason.
    pub kind: MomentKind,
    /// The seat that it is about.
    pub seat: usize,
    /// The size: luck and cost in what the game counts, a difference of scores, or turns.
    pub amount: f64,
    /// The match.
    pub played: PlayedMatch,
}

impl MatchMoment {
    /// Orders moments, the better one first. Of two close finishes the longer one is better.
    fn order(&self, other: &Self) -> Ordering {
        let order = match self.kind {
            MomentKind::Close => self.amount.total_cmp(&other.amount),
            _ => other.amount.total_cmp(&self.amount),
        };
        order.then(other.played.result.turns.cmp(&self.played.result.turns))
    }
}

/// The best moments of a tournament so far. Matches are looked at only once.
#[derive(Debug, Clone, Default)]
pub struct Moments {
    /// The number of matches that were looked at.
    pub seen: u64,
    /// The best moments of each kind and entry, the best first.
    best: BTreeMap<(MomentKind, usize), Vec<MatchMoment>>,
    /// The least and the most of each kind: if they are equal, no match is special.
    reach: BTreeMap<MomentKind, (f64, f64)>,
}

/// The most moments of a kind that are kept for an entry.
const KEPT: usize = 5;

impl Moments {
    /// Looks at the matches that were played since the last time. `start` is the value of a match for its first seat before it
    /// begins, if the game is solved.
    pub fn catch_up(
        &mut self,
        schedule: &Schedule,
        store: &Store,
        start: Option<f64>,
    ) -> Result<(), StoreError> {
        while self.seen < SEARCHED {
            let page = matches(schedule, store, self.seen, PAGE)?;
            if page.is_empty() {
                break;
            }
            self.seen += page.len() as u64;
            for played in &page {
                for (kind, seat, amount) in found(played, start) {
                    self.add(kind, seat, amount, played);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, kind: MomentKind, seat: usize, amount: f64, played: &PlayedMatch) {
        let reach = self.reach.entry(kind).or_insert((amount, amount));
        *reach = (reach.0.min(amount), reach.1.max(amount));
        let best = self.best.entry((kind, played.entries[seat])).or_default();
        if let [.., last] = best.as_slice()
            && best.len() == KEPT
        {
            let worse = if kind == MomentKind::Close { amount > last.amount } else { amount < last.amount };
            if worse {
                return;
            }
        }
        let moment = MatchMoment { kind, seat, amount, played: played.clone() };
        let place = best.partition_point(|other| other.order(&moment).is_le());
        best.insert(place, moment);
        best.truncate(KEPT);
    }

    /// Returns the best moments of a kind, of one entry or of all.
    pub fn best(&self, kind: MomentKind, entry: Option<usize>, count: usize) -> Vec<&MatchMoment> {
        if self.reach.get(&kind).is_none_or(|(least, most)| least == most) {
            return Vec::new();
        }
        let of = self.best.range((kind, 0)..=(kind, usize::MAX));
        let of = of.filter(|((_, other), _)| entry.is_none_or(|entry| entry == *other));
        let mut all: Vec<&MatchMoment> = of.flat_map(|(_, best)| best).collect();
        all.sort_by(|one, other| one.order(other));
        all.truncate(count);
        all
    }
}

/// Returns the reasons why a match is worth a look.
fn found(played: &PlayedMatch, start: Option<f64>) -> Vec<(MomentKind, usize, f64)> {
    let seats = played.entries.len();
    let mut found = Vec::new();
    if seats > 1 {
        found.push((MomentKind::Long, played.winner().unwrap_or(0), played.result.turns.into()));
    }
    if let (Some(winner), Some(margin)) = (played.winner(), played.margin()) {
        found.push((MomentKind::Close, winner, margin as f64));
    }
    let Some(luck) = played.luck.map(f64::from) else { return found };
    let lucky = if luck < 0.0 && seats > 1 { 1 } else { 0 };
    found.push((MomentKind::Luck, lucky, if seats > 1 { luck.abs() } else { luck }));
    if let Some(winner) = played.winner() {
        let own = if winner == 0 { luck } else { -luck };
        if own < 0.0 {
            found.push((MomentKind::Comeback, winner, -own));
        }
    }
    if let Some(start) = start {
        let result = match (seats, played.winner()) {
            (1, _) => played.result.scores[0] as f64,
            (_, None) => 0.5,
            (_, Some(winner)) => {
                if winner == 0 {
                    1.0
                } else {
                    0.0
                }
            }
        };
        // What the first has lost by decisions beyond what the second has.
        let lost = start + luck - result;
        found.push((
            MomentKind::Mistakes,
            usize::from(lost < 0.0 && seats > 1),
            if seats > 1 { lost.abs() } else { lost },
        ));
    }
    found
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
        for one in &matches {
            found(one, Some(0.5))
                .into_iter()
                .for_each(|(kind, seat, amount)| moments.add(kind, seat, amount, one));
        }
        let best = |kind, entry| {
            let best = moments.best(kind, entry, 9).into_iter();
            best.map(|moment| (moment.played.number, moment.seat)).collect::<Vec<_>>()
        };
        assert_eq!(best(MomentKind::Luck, None), [(0, 0), (1, 0), (3, 1), (2, 1)]);
        assert_eq!(best(MomentKind::Luck, Some(1)), [(1, 0), (2, 1)]);
        // Entry 0 won match 1 on seat 1, whose luck was -0.3.
        assert_eq!(best(MomentKind::Comeback, None), [(1, 1), (3, 0)]);
        assert_eq!(best(MomentKind::Close, None), [(3, 0), (1, 1), (0, 0), (2, 1)]);
        assert_eq!(best(MomentKind::Long, None)[0], (1, 1));
        // In match 1 the first had 0.5 and luck of 0.3, and lost all the same.
        assert_eq!(best(MomentKind::Mistakes, None)[0], (1, 0));
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
