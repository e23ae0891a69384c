//! A set of seats as bits: possible partners are found, counted and drawn without a list.

use crate::game::Seat;
use alloc::{borrow::Cow, vec::Vec};
use core::fmt;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A set of seats, in ascending order. Its JSON is the list of the seats.
#[derive(Clone, Default)]
pub struct SeatSet(Vec<u64>);

impl SeatSet {
    pub(super) fn insert(&mut self, seat: Seat) {
        let word = seat.index() / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (seat.index() % 64);
    }

    pub(super) fn remove(&mut self, seat: Seat) {
        if let Some(word) = self.0.get_mut(seat.index() / 64) {
            *word &= !(1 << (seat.index() % 64));
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Makes this set `seats` minus the seats whose bit is set in `bits`, which is at least as long.
    #[inline]
    pub(super) fn set_to_difference(&mut self, seats: &SeatSet, bits: &[u64]) {
        // One word is all that most games need, and is faster without a loop.
        if let ([to], [word], [bits]) = (&mut self.0[..], &seats.0[..], bits) {
            *to = word & !bits;
            return;
        }
        self.0.resize(seats.0.len(), 0);
        for ((to, word), bits) in self.0.iter_mut().zip(&seats.0).zip(bits) {
            *to = word & !bits;
        }
    }

    /// Whether the set contains the seat.
    pub fn contains(&self, seat: Seat) -> bool {
        self.0.get(seat.index() / 64).is_some_and(|word| word >> (seat.index() % 64) & 1 == 1)
    }

    /// The number of seats in the set.
    #[inline]
    pub fn len(&self) -> usize {
        match self.0[..] {
            [word] => word.count_ones() as usize,
            ref words => words.iter().map(|word| word.count_ones() as usize).sum(),
        }
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// The seat at a place, counted from 0, or `None` if the set is smaller.
    #[inline(always)]
    pub fn nth(&self, mut place: usize) -> Option<Seat> {
        for (number, &word) in (0..).zip(&self.0) {
            if let Some(bit) = nth_bit(word, place as u64) {
                return Some(Seat(64 * number + bit));
            }
            place -= word.count_ones() as usize;
        }
        None
    }

    /// The seats, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Seat> + '_ {
        (0..64 * self.0.len()).map(|seat| Seat(seat as u16)).filter(|&seat| self.contains(seat))
    }
}

/// The position of the set bit at a place, counted from 0.
///
/// Nobody can predict it, so a loop over the bits would make the processor guess wrong every time. Instead this counts all
/// bytes at once, and then all bits of the right byte (Vigna, Broadword Implementation of Rank/Select Queries).
#[inline(always)]
fn nth_bit(word: u64, place: u64) -> Option<u16> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    // How many bytes of `sums`, which are below 128 and ascend, are at most `limit`.
    let at_most = |sums: u64, limit: u64| {
        let marks = (limit.wrapping_mul(ONES) | HIGH).wrapping_sub(sums) & HIGH;
        (marks >> 7).wrapping_mul(ONES) >> 56
    };
    let twos = word - (word >> 1 & 0x5555_5555_5555_5555);
    let fours = (twos & 0x3333_3333_3333_3333) + (twos >> 2 & 0x3333_3333_3333_3333);
    let bytes = (fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    // Each byte: the bits that are set in it and below.
    let sums = bytes.wrapping_mul(ONES);
    if place >= sums >> 56 {
        return None;
    }
    let shift = 8 * at_most(sums, place);
    let rest = place - (sums << 8 >> shift & 0xff);
    // Each bit of the byte in a byte of its own, as its highest.
    let spread = (((word >> shift & 0xff) * ONES) & 0x8040_2010_0804_0201) + 0x7f * ONES;
    let sums = (spread >> 7 & ONES).wrapping_mul(ONES);
    Some((shift + at_most(sums, rest)) as u16)
}

impl PartialEq for SeatSet {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for SeatSet {}

impl FromIterator<Seat> for SeatSet {
    fn from_iter<I: IntoIterator<Item = Seat>>(seats: I) -> Self {
        let mut set = SeatSet::default();
        seats.into_iter().for_each(|seat| set.insert(seat));
        set
    }
}

impl fmt::Debug for SeatSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<const N: usize> PartialEq<[Seat; N]> for SeatSet {
    fn eq(&self, seats: &[Seat; N]) -> bool {
        self.iter().eq(seats.iter().copied())
    }
}

impl Serialize for SeatSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for SeatSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Seat>::deserialize(deserializer)?.into_iter().collect())
    }
}

impl JsonSchema for SeatSet {
    fn inline_schema() -> bool {
        Vec::<Seat>::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        Vec::<Seat>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Seat>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::{Chance, Seeded};
    use alloc::vec;

    fn set(seats: &[u16]) -> SeatSet {
        seats.iter().map(|&seat| Seat(seat)).collect()
    }

    #[test]
    fn counts_and_picks_as_a_sorted_list_does() {
        let seats = [0, 5, 63, 64, 65, 200, 447, 448, 499, 511];
        let all = set(&seats);
        assert_eq!((all.len(), all.is_empty()), (seats.len(), false));
        assert_eq!(all, seats.map(Seat));
        for (place, &seat) in seats.iter().enumerate() {
            assert_eq!(all.nth(place), Some(Seat(seat)));
        }
        assert_eq!(all.nth(seats.len()), None);
        assert!(all.contains(Seat(447)) && !all.contains(Seat(446)) && !all.contains(Seat(u16::MAX)));
        assert!(set(&[]).is_empty() && set(&[]).nth(0).is_none());
    }

    #[test]
    fn bits_are_found_as_by_counting() {
        let mut chance = Seeded::new(1, "words", 0);
        let mut word = || u64::from(chance.uniform(u32::MAX)) << 32 | u64::from(chance.uniform(u32::MAX));
        let mut words = vec![0, 1, 1 << 63, u64::MAX, 0xff, 0xff << 56, 0x8080_8080_8080_8080];
        // Of all densities.
        words.extend((0..300).flat_map(|_| [word(), word() & word() & word(), word() | word() | word()]));
        for word in words {
            let bits: Vec<u16> = (0..64).filter(|bit| word >> bit & 1 == 1).collect();
            for place in 0..70 {
                assert_eq!(nth_bit(word, place), bits.get(place as usize).copied(), "{place} of {word:#x}");
            }
            assert_eq!(nth_bit(word, u64::MAX), None);
        }
    }

    #[test]
    fn seats_come_and_go() {
        let mut some = set(&[1, 2, 3, 70]);
        some.remove(Seat(2));
        some.insert(Seat(64));
        assert_eq!(some, [Seat(1), Seat(3), Seat(64), Seat(70)]);
        let mut rest = set(&[400]);
        rest.set_to_difference(&some, &[1 << 3, 1]);
        assert_eq!(rest, [Seat(1), Seat(70)]);
        rest.remove(Seat(70));
        rest.remove(Seat(400));
        assert_eq!(rest, set(&[1]), "however long they are");
        rest.clear();
        assert!(rest.is_empty());
    }

    #[test]
    fn its_json_is_a_list() {
        assert_eq!(serde_json::to_string(&set(&[u16::MAX])).unwrap(), "[65535]");
        let some = set(&[3, 1, 300]);
        assert_eq!(serde_json::to_string(&some).unwrap(), "[1,3,300]");
        assert_eq!(serde_json::from_str::<SeatSet>("[300,1,3]").unwrap(), some);
    }
}
