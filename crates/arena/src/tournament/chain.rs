//! Makes a store notice damage: every row carries a seal, a BLAKE3 hash of everything in it. The seals of each part of a tournament form
//! a chain, whose end is kept in `heads`. A changed row does not fit its seal; a missing one does not fit the chain.
//!
//! Rows are only ever added. Each seal stands for itself, so damage in one row does not cast doubt on the others.

use super::{StoreError, archive::Archive};
use crate::own;
use rusqlite::{
    Connection, Row, params, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, iter,
};

/// A table whose rows are sealed. Its columns are the seal, the tournament, then those that order the rows, then the rest.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub table: &'static str,
    pub sql: &'static str,
    /// The columns that order the rows of a tournament.
    order: &'static str,
    /// The number of columns, including the seal.
    pub columns: usize,
}

/// The plans; the last one applies.
pub(super) const PLANS: Part = Part {
    table: "plans",
    sql: "CREATE TABLE plans (
    seal BLOB NOT NULL, tournament INT NOT NULL, revision INT NOT NULL, unsealed INT NOT NULL, plan TEXT NOT NULL,
    PRIMARY KEY (tournament, revision)
)",
    order: "revision",
    columns: 5,
};

/// The packed results of blocks that were stored together (see results.rs), the luck of seat 0 in each match as 32-bit floats, and each
/// entry's effort as JSON. The effort is measured, so it is not part of the result.
pub(super) const CHUNKS: Part = Part {
    table: "chunks",
    sql: "CREATE TABLE chunks (
    seal BLOB NOT NULL, tournament INT NOT NULL, first INT NOT NULL, blocks INT NOT NULL, results BLOB NOT NULL,
    luck BLOB NOT NULL, efforts TEXT NOT NULL, PRIMARY KEY (tournament, first)
)",
    order: "first",
    columns: 7,
};

/// Matches with faults or a replay.
pub(super) const DETAILS: Part = Part {
    table: "details",
    sql: "CREATE TABLE details (
    seal BLOB NOT NULL, tournament INT NOT NULL, block INT NOT NULL, number INT NOT NULL, faults TEXT NOT NULL, replay BLOB,
    PRIMARY KEY (tournament, block, number)
)",
    order: "block, number",
    columns: 6,
};

/// The last faults and logs when a process ended.
pub(super) const CLOSINGS: Part = Part {
    table: "closings",
    sql: "CREATE TABLE closings (
    seal BLOB NOT NULL, tournament INT NOT NULL, number INT NOT NULL, entry INT NOT NULL, faults TEXT NOT NULL,
    log TEXT NOT NULL, PRIMARY KEY (tournament, number)
)",
    order: "number",
    columns: 6,
};

/// The secrets of the dice (see sealed.rs).
pub(super) const SECRETS: Part = Part {
    table: "secrets",
    sql: "CREATE TABLE secrets (
    seal BLOB NOT NULL, tournament INT NOT NULL, first INT NOT NULL, secret BLOB NOT NULL, PRIMARY KEY (tournament, first)
)",
    order: "first",
    columns: 4,
};

/// The end of the chain of each part of a tournament.
pub(super) const HEADS: Part = Part {
    table: "heads",
    sql: "CREATE TABLE heads (
    seal BLOB NOT NULL, tournament INT NOT NULL, part TEXT NOT NULL, rows INT NOT NULL, chain BLOB NOT NULL,
    PRIMARY KEY (tournament, part)
)",
    order: "part",
    columns: 5,
};

/// All chained tables. A new table is added here and in [`place`].
pub(super) const PARTS: [Part; 5] = [PLANS, CHUNKS, DETAILS, CLOSINGS, SECRETS];

pub(super) type Seal = [u8; blake3::OUT_LEN];

/// The number of rows of a part of a tournament, and a hash over all their seals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub rows: i64,
    chain: Seal,
}

impl Head {
    fn add(&mut self, seal: &[u8]) {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.chain).update(seal);
        (self.rows, self.chain) = (self.rows + 1, *hasher.finalize().as_bytes());
    }
}

impl Part {
    /// Returns how many columns order the rows of a tournament.
    pub fn keys(&self) -> usize {
        self.order.split(", ").count()
    }

    /// Returns the seal of a row: a hash of the table's name and all columns except the seal itself.
    pub fn seal<'v>(&self, values: impl IntoIterator<Item = ValueRef<'v>>) -> Seal {
        own::seal(&format!("necrodome store 6 {}", self.table), values)
    }

    /// Whether a row with all its columns is as it was written.
    pub fn is_sound(&self, row: &Row) -> bool {
        let values = (1..self.columns).map(|column| row.get_ref(column));
        let Ok(values) = values.collect::<Result<Vec<_>, _>>() else { return false };
        matches!(row.get_ref(0), Ok(ValueRef::Blob(seal)) if seal == self.seal(values))
    }

    /// Adds rows, each without seal and tournament, to a tournament, within the caller's transaction.
    pub fn append<'v, Row: AsRef<[ValueRef<'v>]>>(
        &self,
        connection: &Connection,
        tournament: i64,
        rows: impl IntoIterator<Item = Row>,
    ) -> rusqlite::Result<()> {
        let mut rows = rows.into_iter().peekable();
        if rows.peek().is_none() {
            return Ok(());
        }
        let mut head = self.head(connection, tournament)?;
        let places = vec!["?"; self.columns].join(", ");
        // Views of older versions go by the same names.
        let mut insert =
            connection.prepare_cached(&format!("INSERT INTO main.{} VALUES ({places})", self.table))?;
        for row in rows {
            let values = iter::once(ValueRef::Integer(tournament)).chain(row.as_ref().iter().copied());
            let seal = self.seal(values.clone());
            let values = iter::once(ValueRef::Blob(&seal)).chain(values).map(ToSqlOutput::Borrowed);
            insert.execute(params_from_iter(values))?;
            head.add(&seal);
        }
        let (part, chain) = (ValueRef::Text(self.table.as_bytes()), ValueRef::Blob(&head.chain));
        let seal = HEADS.seal([ValueRef::Integer(tournament), part, ValueRef::Integer(head.rows), chain]);
        connection
            .prepare_cached(
                "INSERT INTO heads VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (tournament, part)
                 DO UPDATE SET seal = excluded.seal, rows = excluded.rows, chain = excluded.chain",
            )?
            .execute(params![seal, tournament, self.table, head.rows, head.chain])?;
        Ok(())
    }

    /// Returns the end of the chain of a tournament.
    pub fn head(&self, connection: &Connection, tournament: i64) -> rusqlite::Result<Head> {
        let mut query =
            connection.prepare_cached("SELECT rows, chain FROM heads WHERE tournament = ?1 AND part = ?2")?;
        let mut rows = query.query(params![tournament, self.table])?;
        let Some(row) = rows.next()? else { return Ok(Head::default()) };
        Ok(Head { rows: row.get(0)?, chain: row.get(1)? })
    }

    /// Names a changed row for users, as far as it can still be read.
    fn place(&self, row: &Row) -> Damage {
        let number = |column: usize| row.get::<_, i64>(column).ok();
        let block = |column: usize| row.get::<_, u32>(column).ok();
        let (tournament, mut blocks) = (number(1), None);
        let what = match self.table {
            "plans" => "the plan".to_owned(),
            "chunks" => {
                blocks = block(2)
                    .map(|first| (first, first.saturating_add(block(3).unwrap_or(1).saturating_sub(1))));
                blocks.map_or("some blocks".to_owned(), words_of_blocks)
            }
            "details" => {
                blocks = block(2).map(|block| (block, block));
                match (block(2), block(3)) {
                    (Some(block), Some(number)) => format!("match {block}.{number}"),
                    _ => "a match".to_owned(),
                }
            }
            "closings" => "what a program said at its end".to_owned(),
            "secrets" => "the secret of its dice".to_owned(),
            _ => "the end of a chain".to_owned(),
        };
        Damage { tournament, part: self.table, blocks, what: format!("{what} {CHANGED}") }
    }
}

const CHANGED: &str = "changed since written";

pub(super) fn words_of_blocks((first, last): (u32, u32)) -> String {
    if first == last { format!("block {first}") } else { format!("blocks {first} to {last}") }
}

/// One thing that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The tournament, if it is known.
    pub tournament: Option<i64>,
    /// The part that is damaged: `plans`, `chunks` (results), `details` (faults and replays), `closings`, `heads`, `log` or `file`.
    pub part: &'static str,
    /// The first and the last affected block, if they are known.
    pub blocks: Option<(u32, u32)>,
    /// What is wrong, in words.
    pub what: String,
}

impl Damage {
    /// Returns damage to the file itself.
    pub(super) fn of_file(what: impl Into<String>) -> Self {
        Damage { tournament: None, part: "file", blocks: None, what: what.into() }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tournament {
            Some(tournament) => write!(f, "tournament {tournament}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// Returns an error for damage, if there is any: the first few things that are wrong, and how many more.
pub(super) fn refuse(damage: &[Damage]) -> Result<(), StoreError> {
    const TOLD: usize = 3;
    if damage.is_empty() {
        return Ok(());
    }
    let mut told: Vec<String> = damage.iter().take(TOLD).map(Damage::to_string).collect();
    told.extend((damage.len() > TOLD).then(|| format!("and {} more", damage.len() - TOLD)));
    Err(StoreError::Damaged(told.join("; ")))
}

/// Returns everything that is not as it was written, as far as SQLite can read the file.
pub(super) fn examine(connection: &Connection) -> Vec<Damage> {
    let mut damage = match definitions(connection) {
        Ok(damage) => damage,
        Err(error) => vec![unreadable("the definitions of its tables", &error)],
    };
    if !damage.is_empty() {
        return damage;
    }
    let mut found: BTreeMap<(i64, &str), Head> = BTreeMap::new();
    for part in &PARTS {
        if let Err(error) = examine_rows(connection, part, &mut found, &mut damage) {
            let last = found.keys().rev().find(|(_, table)| *table == part.table).map(|(id, _)| *id);
            let rows = last.and_then(|last| found.get(&(last, part.table))).map_or(0, |head| head.rows);
            let what = format!("{} after row {rows} of tournament {}", part.table, last.unwrap_or(1));
            damage.push(unreadable(&what, &error));
        }
    }
    if let Err(error) = examine_heads(connection, &found, &mut damage) {
        damage.push(unreadable("the ends of chains", &error));
    }
    // The rows say more than the pages they are on, so these come last.
    match pages(connection) {
        Ok(messages) => {
            damage.extend(messages.into_iter().map(|what| Damage::of_file(format!("pages: {what}"))))
        }
        Err(error) => damage.push(unreadable("its pages", &error)),
    }
    damage
}

fn unreadable(what: &str, error: &rusqlite::Error) -> Damage {
    Damage::of_file(format!("{what} cannot be read ({error})"))
}

/// Returns the damage that SQLite itself finds.
pub(super) fn pages(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut query = connection.prepare("PRAGMA integrity_check(10)")?;
    let messages = query.query_map([], |row| row.get::<_, String>(0))?;
    // The name of the schema says nothing, and each message is one line.
    let plain = |text: String| text.replace("*** in database main ***\n", "").replace('\n', "; ");
    Ok(messages
        .collect::<rusqlite::Result<Vec<_>>>()?
        .into_iter()
        .filter(|text| text != "ok")
        .map(plain)
        .collect())
}

/// Checks that the tables are still defined as they were made.
fn definitions(connection: &Connection) -> rusqlite::Result<Vec<Damage>> {
    let mut query =
        connection.prepare("SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'table'")?;
    let rows = query.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
    })?;
    let made = rows.collect::<rusqlite::Result<BTreeSet<_>>>()?;
    let is_missing = |part: &&Part| !made.contains(&(part.table.into(), part.table.into(), part.sql.into()));
    let missing = PARTS.iter().chain([&HEADS]).filter(is_missing);
    Ok(missing
        .map(|part| Damage::of_file(format!("the definition of the table {} {CHANGED}", part.table)))
        .collect())
}

fn examine_rows<'p>(
    connection: &Connection,
    part: &'p Part,
    found: &mut BTreeMap<(i64, &'p str), Head>,
    damage: &mut Vec<Damage>,
) -> rusqlite::Result<()> {
    let mut query =
        connection.prepare(&format!("SELECT * FROM {} ORDER BY tournament, {}", part.table, part.order))?;
    let mut rows = query.query([])?;
    // The block that the next chunk begins with.
    let mut next = (0, 0);
    while let Some(row) = rows.next()? {
        let place = part.place(row);
        if !part.is_sound(row) {
            damage.push(place.clone());
        }
        let Some(tournament) = place.tournament else { continue };
        if let ("chunks", Some((first, last))) = (part.table, place.blocks) {
            let due = if next.0 == tournament { next.1 } else { 0 };
            if first > due {
                let blocks = Some((due, first - 1));
                let what = format!("{} missing", words_of_blocks((due, first - 1)));
                damage.push(Damage { blocks, what, ..place });
            }
            next = (tournament, last.saturating_add(1));
        }
        found.entry((tournament, part.table)).or_default().add(&row.get::<_, Vec<u8>>(0).unwrap_or_default());
    }
    Ok(())
}

/// Compares the rows that were found with the ends of the chains.
fn examine_heads(
    connection: &Connection,
    found: &BTreeMap<(i64, &str), Head>,
    damage: &mut Vec<Damage>,
) -> rusqlite::Result<()> {
    let mut query = connection.prepare("SELECT * FROM heads ORDER BY tournament, part")?;
    let mut rows = query.query([])?;
    let mut ends = BTreeMap::new();
    while let Some(row) = rows.next()? {
        if HEADS.is_sound(row) {
            ends.insert(
                (row.get(1)?, row.get::<_, String>(2)?),
                Head { rows: row.get(3)?, chain: row.get(4)? },
            );
        } else {
            damage.push(HEADS.place(row));
        }
    }
    let keys: BTreeSet<(i64, &str)> = ends
        .keys()
        .map(|(tournament, part)| (*tournament, part.as_str()))
        .chain(found.keys().copied())
        .collect();
    for (tournament, table) in keys {
        let (rows, end) = (
            found.get(&(tournament, table)).copied().unwrap_or_default(),
            ends.get(&(tournament, table.to_owned())),
        );
        let what = match end {
            Some(end) if *end == rows => continue,
            Some(end) if end.rows != rows.rows => {
                format!("{table} has {} rows, and {} were written", rows.rows, end.rows)
            }
            Some(_) => format!("the seals of {table} {CHANGED}"),
            None => format!("the end of the chain of {table} is missing"),
        };
        let part = PARTS.iter().find(|part| part.table == table).map_or("heads", |part| part.table);
        damage.push(Damage { tournament: Some(tournament), part, blocks: None, what });
    }
    Ok(())
}

impl Archive {
    /// Refuses a row that is not as it was written. Older versions have no seals.
    pub(super) fn check(&self, part: &Part, row: &Row) -> Result<(), StoreError> {
        if !self.is_sealed() || part.is_sound(row) {
            return Ok(());
        }
        refuse(&[part.place(row)])
    }

    /// Refuses a tournament with a missing row. The contents of rows are checked when they are read.
    pub(super) fn check_chains(&self, tournament: i64) -> Result<(), StoreError> {
        if !self.is_sealed() {
            return Ok(());
        }
        let connection = self.connection();
        for part in &PARTS {
            let mut head = Head::default();
            let seals =
                format!("SELECT seal FROM {} WHERE tournament = ?1 ORDER BY {}", part.table, part.order);
            let mut query = connection.prepare_cached(&seals)?;
            let mut rows = query.query([tournament])?;
            while let Some(row) = rows.next()? {
                head.add(&row.get::<_, Vec<u8>>(0)?);
            }
            if head != part.head(&connection, tournament)? {
                let what = format!("the chain of {} is broken", part.table);
                return refuse(&[Damage {
                    tournament: Some(tournament),
                    part: part.table,
                    blocks: None,
                    what,
                }]);
            }
        }
        Ok(())
    }
}
