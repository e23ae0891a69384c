//! The tables of a store, and how tables of older versions are brought up to date.

use super::{
    StoreError,
    chain::{self, Damage, HEADS, PARTS},
};
use rusqlite::{Connection, types::ValueRef};

/// "NECR": marks an SQLite file as a necrodome store.
pub(super) const APPLICATION: i32 = 0x4e45_4352;
/// The version of the tables.
pub(super) const VERSION: i32 = 6;

/// Version 1 did not measure luck. Versions 1 and 2 had one tournament per file. These views show both as version 3.
const VIEWS_OF_2: &str = "
CREATE TEMP VIEW tournament AS SELECT 1 AS id, plan FROM main.plan LIMIT 1;
CREATE TEMP VIEW results AS SELECT 1 AS tournament, first, blocks, packed FROM main.results;
CREATE TEMP VIEW detail AS SELECT 1 AS tournament, block, number, faults, replay FROM main.detail;
CREATE TEMP VIEW effort AS SELECT 1 AS tournament, entry, decisions, nanoseconds FROM main.effort;
CREATE TEMP VIEW closing AS SELECT rowid, 1 AS tournament, entry, faults, log FROM main.closing;
";
const LUCK_OF_2: &str = "CREATE TEMP VIEW luck AS SELECT 1 AS tournament, first, packed FROM main.luck;";
const LUCK_OF_1: &str = "CREATE TEMP VIEW luck AS SELECT 1 AS tournament, 0 AS first, x'' AS packed WHERE 0;";

/// Versions 3 to 5 had no seals, and summed up each entry's efforts. These views show them as version 6.
const VIEWS_OF_5: &str = "
CREATE TEMP VIEW chunks AS SELECT x'' AS seal, results.tournament, results.first, blocks, results.packed AS results,
    coalesce(luck.packed, x'') AS luck,
    CASE results.first WHEN 0 THEN (SELECT json_group_array(json_array(decisions, nanoseconds)) FROM (
        SELECT decisions, nanoseconds FROM effort WHERE effort.tournament = results.tournament ORDER BY entry
    )) ELSE '[]' END AS efforts
    FROM results LEFT JOIN luck ON luck.tournament = results.tournament AND luck.first = results.first;
CREATE TEMP VIEW details AS SELECT x'' AS seal, tournament, block, number, faults, replay FROM detail;
CREATE TEMP VIEW closings AS SELECT x'' AS seal, tournament,
    row_number() OVER (PARTITION BY tournament ORDER BY rowid) - 1 AS number, entry, faults, log FROM closing;
";
const PLANS_OF_5: &str = "CREATE TEMP VIEW plans AS SELECT x'' AS seal, id AS tournament, 0 AS revision,
    (SELECT coalesce(sum(blocks), 0) FROM results WHERE results.tournament = id) AS unsealed, PLAN AS plan
    FROM tournament;";

/// The tables that older versions had.
const SHOWN: [&str; 4] = ["plans", "chunks", "details", "closings"];

/// Makes the tables in an empty file.
pub(super) fn make(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    define(&transaction)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    Ok(transaction.commit()?)
}

fn define(connection: &Connection) -> rusqlite::Result<()> {
    for part in PARTS.iter().chain([&HEADS]) {
        connection.execute(&part.sql.replacen("TABLE ", "TABLE main.", 1), [])?;
    }
    connection.pragma_update(None, "user_version", VERSION)
}

/// Shows the tables of an older version as those of today, without changing the file.
pub(super) fn show(connection: &Connection) -> Result<(), StoreError> {
    let version = version(connection)?;
    if version >= VERSION {
        return Ok(());
    }
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    if version < 3 {
        connection.execute_batch(VIEWS_OF_2)?;
        connection.execute_batch(if version < 2 { LUCK_OF_1 } else { LUCK_OF_2 })?;
    }
    // Tournaments of versions before 4 were seated otherwise; version 4 knew no stages.
    let plan = if version < 4 { "json_set(plan, '$.older', json('true'))" } else { "plan" };
    connection.execute_batch(VIEWS_OF_5)?;
    Ok(connection.execute_batch(&PLANS_OF_5.replace("PLAN AS", &format!("{plan} AS")))?)
}

/// Checks that the file is a necrodome store of a known version. Returns the version.
pub(super) fn check_version(connection: &Connection) -> Result<i32, StoreError> {
    let application: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if application != APPLICATION {
        return Err(StoreError::Foreign);
    }
    let version = version(connection)?;
    let sealed = connection.table_exists(Some("main"), HEADS.table)?;
    match version {
        1..VERSION if sealed => chain::refuse(&[Damage::of_file("the version of the file")])?,
        1..=VERSION => {}
        came => return Err(StoreError::Version { came }),
    }
    Ok(version)
}

fn version(connection: &Connection) -> Result<i32, StoreError> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Brings a file of an older version up to date. Its contents stay the same, and are sealed from now on.
pub(super) fn upgrade(connection: &mut Connection) -> Result<(), StoreError> {
    let version = version(connection)?;
    if version == VERSION {
        return Ok(());
    }
    show(connection)?;
    let transaction = connection.transaction()?;
    define(&transaction)?;
    for part in PARTS.iter().filter(|part| SHOWN.contains(&part.table)) {
        let mut query = transaction.prepare(&format!("SELECT * FROM temp.{}", part.table))?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let values = (2..part.columns).map(|column| row.get_ref(column));
            let values: Vec<ValueRef> = values.collect::<Result<_, _>>()?;
            part.append(&transaction, row.get(1)?, [&values])?;
        }
    }
    for view in SHOWN {
        transaction.execute_batch(&format!("DROP VIEW temp.{view}"))?;
    }
    for old in ["tournament", "results", "luck", "detail", "effort", "closing", "plan"] {
        transaction
            .execute_batch(&format!("DROP VIEW IF EXISTS temp.{old}; DROP TABLE IF EXISTS main.{old}"))?;
    }
    Ok(transaction.commit()?)
}
