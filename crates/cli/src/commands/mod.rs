//! One module for each command.

pub mod advise;
pub mod analyze;
pub mod audit;
pub mod bots;
pub mod calls;
pub mod check_bot;
mod costs;
pub mod docs;
pub mod doctor;
pub mod exam;
pub mod games;
pub mod judge;
pub mod merge;
pub mod new_bot;
pub mod pack;
pub mod play;
pub mod play_match;
pub mod replay;
pub mod report;
pub mod serve;
pub mod shard;
pub mod shell;
pub mod solve;
pub mod store;
pub mod tournament;
mod trouble;

use crate::{error::Error, paint::count};
use necrodome_arena::tournament::{Archive, Plan, Store, StoreError};
use serde::Serialize;
use std::{io::Write, path::Path};

/// Prints one JSON document on standard output.
fn print_json(document: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(document).map_err(std::io::Error::from)?;
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(())
}

/// Returns the tournament with this number in a store, or the only one. `example` shows how to name one, with `{}` for the number.
fn stored(path: &Path, number: Option<u32>, example: &str) -> Result<(Store, Plan), Error> {
    if path.is_dir() {
        return Err(Error::at(path.display(), "this is a folder, not a store"));
    }
    let failed = |error: StoreError| Error::store(path, &error);
    let mut stores = Archive::read(path).and_then(|archive| archive.stores()).map_err(failed)?;
    let described = |(store, plan): &(Store, Plan)| {
        let names: Vec<&str> = plan.members().map(|member| plan.entries[member].name.as_str()).collect();
        let blocks = store.blocks().map_or(String::new(), |blocks| format!("; {}", count(blocks, "block")));
        format!("{} ({}: {}{blocks})", store.id(), plan.game, names.join(", "))
    };
    let all: Vec<String> = stores.iter().map(described).collect();
    let found = match number {
        Some(number) => stores.iter().position(|(store, _)| store.id() == i64::from(number)),
        None if all.len() <= 1 => (!all.is_empty()).then_some(0),
        None => {
            let hint =
                format!("say which one, such as {}", example.replace("{}", &stores[0].0.id().to_string()));
            let all = all.join(", ");
            return Err(Error::usage(format!("the store has several tournaments: {all}")).hint(hint));
        }
    };
    match (found, number) {
        (Some(found), _) => Ok(stores.swap_remove(found)),
        (None, Some(number)) if !all.is_empty() => {
            let all = all.join(", ");
            Err(Error::usage(format!("the store has no tournament {number}: it has {all}")))
        }
        (None, _) => Err(Error::usage("the store has no tournament yet")),
    }
}

/// Refuses to write two outputs to one file, or over the input. Each path comes with the name that the user knows it by.
fn keep_apart(files: &[(&str, Option<&Path>)]) -> Result<(), Error> {
    let named: Vec<_> =
        files.iter().filter_map(|(flag, path)| Some((flag, tournament::absolute((*path)?)))).collect();
    for (index, (flag, path)) in named.iter().enumerate() {
        if let Some((other, _)) = named[..index].iter().find(|(_, other)| other == path) {
            return Err(Error::usage(format!("{other} and {flag} name the same file"))
                .hint("choose another path for one of them"));
        }
    }
    Ok(())
}
