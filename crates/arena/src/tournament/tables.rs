//! The tables of a store, and the way from those of older versions.

use super::StoreError;
use rusqlite::Connection;

/// "NECR": says that an SQLite file is one of ours.
const APPLICATION: i32 = 0x4e45_4352;
/// The version of the tables.
pub(super) const VERSION: i32 = 5;

const TABLES: &str = "
CREATE TABLE tournament (id INTEGER PRIMARY KEY AUTOINCREMENT, plan TEXT NOT NULL);
-- The results of blocks that were stored together, packed; see results.rs.
CREATE TABLE results (
    tournament INTEGER NOT NULL, first INTEGER NOT NULL, blocks INTEGER NOT NULL, packed BLOB NOT NULL,
    PRIMARY KEY (tournament, first)
);
-- The luck of seat 0 in each match of those blocks, as 32-bit floats.
CREATE TABLE luck (
    tournament INTEGER NOT NULL, first INTEGER NOT NULL, packed BLOB NOT NULL, PRIMARY KEY (tournament, first)
);
-- Matches with faults or a replay.
CREATE TABLE detail (
    tournament INTEGER NOT NULL, block INTEGER NOT NULL, number INTEGER NOT NULL, faults TEXT NOT NULL, replay BLOB,
    PRIMARY KEY (tournament, block, number)
);
-- How hard each entry has thought, over all blocks; measured, so not part of the result.
CREATE TABLE effort (
    tournament INTEGER NOT NULL, entry INTEGER NOT NULL, decisions INTEGER NOT NULL, nanoseconds INTEGER NOT NULL,
    PRIMARY KEY (tournament, entry)
);
-- What was left to say when a process ended.
CREATE TABLE closing (tournament INTEGER NOT NULL, entry INTEGER NOT NULL, faults TEXT NOT NULL, log TEXT NOT NULL);
";

/// From version 1: luck was not measured.
const FROM_1: &str = "CREATE TABLE luck (first INTEGER PRIMARY KEY, packed BLOB NOT NULL);";

/// From version 2: a file was one tournament. Its tables make way for those of many.
const FROM_2_AWAY: &str = "
ALTER TABLE plan RENAME TO old_plan; ALTER TABLE results RENAME TO old_results; ALTER TABLE luck RENAME TO old_luck;
ALTER TABLE detail RENAME TO old_detail; ALTER TABLE effort RENAME TO old_effort;
ALTER TABLE closing RENAME TO old_closing;
";
const FROM_2_BACK: &str = "
INSERT INTO tournament SELECT 1, plan FROM old_plan LIMIT 1;
INSERT INTO results SELECT 1, first, blocks, packed FROM old_results;
INSERT INTO luck SELECT 1, first, packed FROM old_luck;
INSERT INTO detail SELECT 1, block, number, faults, replay FROM old_detail;
INSERT INTO effort SELECT 1, entry, decisions, nanoseconds FROM old_effort;
INSERT INTO closing SELECT 1, entry, faults, log FROM old_closing ORDER BY rowid;
DROP TABLE old_plan; DROP TABLE old_results; DROP TABLE old_luck; DROP TABLE old_detail; DROP TABLE old_effort;
DROP TABLE old_closing;
";

/// Views that show version 2 as the current one, without a change to the file.
const VIEWS_OF_2: &str = "
CREATE TEMP VIEW tournament AS SELECT 1 AS id, json_set(plan, '$.older', json('true')) AS plan FROM main.plan LIMIT 1;
CREATE TEMP VIEW results AS SELECT 1 AS tournament, first, blocks, packed FROM main.results;
CREATE TEMP VIEW detail AS SELECT 1 AS tournament, block, number, faults, replay FROM main.detail;
CREATE TEMP VIEW effort AS SELECT 1 AS tournament, entry, decisions, nanoseconds FROM main.effort;
CREATE TEMP VIEW closing AS SELECT rowid, 1 AS tournament, entry, faults, log FROM main.closing;
";
const LUCK_OF_2: &str = "CREATE TEMP VIEW luck AS SELECT 1 AS tournament, first, packed FROM main.luck;";
const LUCK_OF_1: &str = "CREATE TEMP VIEW luck AS SELECT 1 AS tournament, 0 AS first, x'' AS packed WHERE 0;";

/// Tournaments of version 3 were seated otherwise.
const FROM_3: &str = "UPDATE tournament SET plan = json_set(plan, '$.older', json('true'));";
const VIEW_OF_3: &str = "
CREATE TEMP VIEW tournament AS SELECT id, json_set(plan, '$.older', json('true')) AS plan FROM main.tournament;
";

/// Makes the tables in a file that has none.
pub(super) fn make(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

/// Shows the tables of an older version as those of today, without a change to the file.
pub(super) fn show(connection: &Connection) -> Result<(), StoreError> {
    let version = version(connection)?;
    // Version 4 knew no stages; its tables are those of today.
    if version >= 4 {
        return Ok(());
    }
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    if version == 3 {
        return Ok(connection.execute_batch(VIEW_OF_3)?);
    }
    connection.execute_batch(VIEWS_OF_2)?;
    Ok(connection.execute_batch(if version < 2 { LUCK_OF_1 } else { LUCK_OF_2 })?)
}

pub(super) fn check_version(connection: &Connection) -> Result<(), StoreError> {
    let application: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if application != APPLICATION {
        return Err(StoreError::Foreign);
    }
    match version(connection)? {
        1..=VERSION => Ok(()),
        came => Err(StoreError::Version { came }),
    }
}

fn version(connection: &Connection) -> Result<i32, StoreError> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Brings a file of an older version up to date, or leaves it as it is. What it holds stays the same.
pub(super) fn upgrade(connection: &mut Connection) -> Result<(), StoreError> {
    let version = version(connection)?;
    if version == VERSION {
        return Ok(());
    }
    let transaction = connection.transaction()?;
    if version < 2 {
        transaction.execute_batch(FROM_1)?;
    }
    if version < 3 {
        transaction.execute_batch(FROM_2_AWAY)?;
        transaction.execute_batch(TABLES)?;
        transaction.execute_batch(FROM_2_BACK)?;
    }
    if version < 4 {
        transaction.execute_batch(FROM_3)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}
