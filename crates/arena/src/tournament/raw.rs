//! Reads sealed rows from the bytes of a store without SQLite, even if the tables around them are damaged: a row that fits its seal is
//! what was written, wherever it is.

use super::{
    chain::{HEADS, PARTS, Part},
    log::{self, Log},
};
use rusqlite::types::{Value, ValueRef};
use std::{collections::BTreeMap, fs, io, path::Path};

/// SQLite's default page size, which necrodome never changes.
const PAGE: usize = 4096;
/// The type of a column with a seal, as records encode it: 32 bytes.
const SEAL: u8 = 12 + 2 * 32;
/// The longest row that is searched for a changed bit: the search takes the square of its length.
const SHORT: usize = 8192;
/// The most rows that are searched.
const SEARCHES: u32 = 100;

/// The sound rows of a table by tournament and key, without their seals.
pub(super) type Rows = BTreeMap<(i64, Vec<i64>), Vec<Value>>;

/// The sound rows of a file.
#[derive(Debug, Default)]
pub(super) struct Salvage {
    rows: [Rows; PARTS.len()],
    /// The number of rows that were written, by tournament and table.
    pub written: BTreeMap<(i64, String), i64>,
    /// The number of rows in which one changed bit was put right.
    pub mended: u32,
    searches: u32,
}

impl Salvage {
    /// Reads a store and its log.
    pub fn of(store: &Path) -> io::Result<Self> {
        let file = fs::read(store)?;
        let log = fs::read(log::path_of(store)).unwrap_or_default();
        let mut pages: Vec<&[u8]> = file.chunks_exact(PAGE).collect();
        for (number, page) in
            Log::read(&log).iter().flat_map(Log::pages).filter(|(_, page)| page.len() == PAGE)
        {
            let place = (number as usize).saturating_sub(1);
            // No file grows by more than the log is long.
            if place < pages.len() + log.len() / PAGE + 1 {
                pages.resize(pages.len().max(place + 1), &[]);
                pages[place] = page;
            }
        }
        let mut salvage = Salvage::default();
        for page in &pages {
            for at in 0..page.len() {
                if let Some(record) = record(&pages, page, at) {
                    salvage.take(&record);
                }
            }
        }
        Ok(salvage)
    }

    /// Returns the sound rows of a table.
    pub fn rows(&self, part: &Part) -> &Rows {
        let place = PARTS.iter().position(|own| own == part).unwrap_or_default();
        &self.rows[place]
    }

    fn take(&mut self, record: &[u8]) {
        if self.take_sound(record) || record.len() > SHORT || self.searches == SEARCHES {
            return;
        }
        self.searches += 1;
        let mut record = record.to_vec();
        for bit in 0..record.len() * 8 {
            record[bit / 8] ^= 1 << (bit % 8);
            if self.take_sound(&record) {
                self.mended += 1;
                return;
            }
            record[bit / 8] ^= 1 << (bit % 8);
        }
    }

    /// Keeps a row if it fits its seal.
    fn take_sound(&mut self, record: &[u8]) -> bool {
        let Some(values) = values(record) else { return false };
        let Some((&ValueRef::Blob(seal), values)) = values.split_first() else { return false };
        let fits =
            |part: &&Part| part.columns == values.len() + 1 && part.seal(values.iter().copied()) == *seal;
        if fits(&&HEADS) {
            if let [ValueRef::Integer(tournament), ValueRef::Text(part), ValueRef::Integer(rows), _] = values
            {
                let part = String::from_utf8_lossy(part).into_owned();
                let most = self.written.entry((*tournament, part)).or_default();
                // Heads of before may still lie about.
                *most = (*most).max(*rows);
            }
            return true;
        }
        let Some(place) = PARTS.iter().position(|part| fits(&part)) else { return false };
        let number =
            |value: &ValueRef| if let ValueRef::Integer(number) = value { Some(*number) } else { None };
        let key: Option<Vec<i64>> = values[..=PARTS[place].keys()].iter().map(number).collect();
        let Some((tournament, key)) = key.as_ref().and_then(|key| key.split_first()) else { return false };
        let Ok(values) = values.iter().map(|value| Value::try_from(*value)).collect() else { return false };
        self.rows[place].insert((*tournament, key.to_vec()), values);
        true
    }
}

/// Reads a number of variable length as SQLite writes it: the highest bits first.
fn pull(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for place in 0..9 {
        let byte = u64::from(*bytes.get(*at)?);
        *at += 1;
        if place == 8 {
            return Some(number << 8 | byte);
        }
        number = number << 7 | byte & 0x7f;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Returns the record of a row that may begin at this place of a page.
fn record(pages: &[&[u8]], page: &[u8], mut at: usize) -> Option<Vec<u8>> {
    let length = usize::try_from(pull(page, &mut at)?).ok()?;
    pull(page, &mut at)?;
    let starts = |byte: &u8| *byte == SEAL;
    if length <= 34 || length > pages.len() * PAGE || !page.get(at + 1).is_some_and(starts) {
        return None;
    }
    // How much of it is on its page is in the description of the file format.
    let (most, least) = (PAGE - 35, (PAGE - 12) * 32 / 255 - 23);
    if length <= most {
        return Some(page.get(at..at + length)?.to_vec());
    }
    let here = least + (length - least) % (PAGE - 4);
    let here = if here <= most { here } else { least };
    let mut record = page.get(at..at + here)?.to_vec();
    let number = |bytes: &[u8]| Some(u32::from_be_bytes(*bytes.first_chunk()?) as usize);
    let mut next = number(page.get(at + here..)?)?;
    while record.len() < length {
        let more = *pages.get(next.checked_sub(1)?)?;
        let rest = more.get(4..)?;
        record.extend_from_slice(&rest[..rest.len().min(length - record.len())]);
        next = number(more)?;
    }
    Some(record)
}

/// Returns the columns of a record, or `None` if it is not one.
fn values(record: &[u8]) -> Option<Vec<ValueRef<'_>>> {
    let mut at = 0;
    let mut body = usize::try_from(pull(record, &mut at)?).ok()?;
    let end = body;
    let mut values = Vec::new();
    while at < end {
        let kind = pull(record, &mut at)?;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind as usize,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return None,
            _ => usize::try_from((kind - 12) / 2).ok()?,
        };
        let bytes = record.get(body..body.checked_add(length)?)?;
        body += length;
        values.push(match kind {
            0 => ValueRef::Null,
            8 | 9 => ValueRef::Integer(kind as i64 - 8),
            1..=6 => {
                let negative = bytes.first().is_some_and(|byte| *byte >= 0x80);
                let start = if negative { -1 } else { 0 };
                ValueRef::Integer(bytes.iter().fold(start, |number, byte| number << 8 | i64::from(*byte)))
            }
            7 => ValueRef::Real(f64::from_be_bytes(*bytes.first_chunk()?)),
            _ if kind % 2 == 0 => ValueRef::Blob(bytes),
            _ => ValueRef::Text(bytes),
        });
    }
    (at == end && body == record.len()).then_some(values)
}
