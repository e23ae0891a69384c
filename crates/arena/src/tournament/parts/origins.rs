//! The origins of the blocks of a store: notes next to the tables of tournaments, on which no result depends.

use super::{super::Store, Origin, PartError};
use rusqlite::params;
use std::{collections::BTreeSet, ops::Range};

pub(super) const TABLE: &str = "CREATE TABLE IF NOT EXISTS shards_merged
    (tournament INT NOT NULL, first INT NOT NULL, end INT NOT NULL, origin TEXT NOT NULL)";

/// The origin of each stretch of blocks. Blocks that were not merged have none.
pub(super) struct Origins(Vec<(Range<u32>, Origin)>);

impl Origins {
    /// Notes where some blocks were played.
    pub fn note(store: &Store, blocks: Range<u32>, origin: &Origin) -> Result<(), PartError> {
        let text = serde_json::to_string(origin).unwrap_or_default();
        store
            .archive()
            .connection()
            .prepare_cached("INSERT INTO shards_merged VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![store.id(), blocks.start, blocks.end, text])?;
        Ok(())
    }

    /// Returns the origins in a store.
    pub fn of(store: &Store) -> Result<Self, PartError> {
        let connection = store.archive().connection();
        if !connection.table_exists(Some("main"), "shards_merged")? {
            return Ok(Origins(Vec::new()));
        }
        let mut query = connection
            .prepare_cached("SELECT first, end, origin FROM shards_merged WHERE tournament = ?1")?;
        let rows =
            query.query_map([store.id()], |row| Ok((row.get(0)?..row.get(1)?, row.get::<_, String>(2)?)))?;
        let mut all = Vec::new();
        for row in rows {
            let (blocks, origin) = row?;
            all.extend(serde_json::from_str(&origin).ok().map(|origin| (blocks, origin)));
        }
        Ok(Origins(all))
    }

    /// Returns the versions and builds of necrodome.
    pub fn programs(&self) -> BTreeSet<String> {
        self.0.iter().map(|(_, origin)| origin.program()).collect()
    }

    /// One that knows which files lay beside the bots.
    pub fn with_bots(&self) -> Option<&Origin> {
        self.0.iter().map(|(_, origin)| origin).find(|origin| origin.bots.is_some())
    }

    /// Returns the origin of a block.
    pub fn of_block(&self, block: u32) -> Option<&Origin> {
        self.0.iter().find(|(blocks, _)| blocks.contains(&block)).map(|(_, origin)| origin)
    }

    /// Returns how many blocks come from the same machine and program.
    pub fn blocks_of(&self, origin: &Origin) -> u32 {
        let same = |other: &Origin| {
            (&other.host, &other.node, &other.build) == (&origin.host, &origin.node, &origin.build)
        };
        let blocks = self.0.iter().filter(|(_, other)| same(other)).map(|(blocks, _)| blocks.len() as u32);
        blocks.sum()
    }
}
