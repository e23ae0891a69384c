//! From words on the command line to a game, its rules, and bots on its seats.

use crate::error::Error;
use necrodome_rules::{
    bot::{Bot, BotSpec, BuiltIn},
    catalog::{GameId, Listed},
    chance::Seeded,
    game::Seat,
    names::{MAX_NAME, Names},
    options::{self, OptionError},
};

/// The game with this id.
pub fn game(name: &str) -> Result<GameId, Error> {
    GameId::ALL.into_iter().find(|id| id.as_str() == name).ok_or_else(|| Error::UnknownGame {
        name: name.to_owned(),
        valid: GameId::ALL.iter().map(ToString::to_string).collect(),
    })
}

/// The rules of a game with `option=value` settings on top.
pub fn rules<G: Listed>(settings: &[String]) -> Result<G::Rules, Error> {
    let parse = || -> Result<G::Rules, OptionError> {
        options::parse(&settings.iter().map(|text| options::split_pair(text)).collect::<Result<Vec<_>, _>>()?)
    };
    parse().map_err(|source| Error::Option { context: format!("{} --set", G::ID), source })
}

/// A bot on a seat.
pub struct Entry<G: Listed> {
    pub name: String,
    pub spec: BotSpec,
    pub bot: Box<dyn Bot<G>>,
}

/// One entry for each word, each bot with its own randomness. Bots that come twice are numbered.
pub fn entries<G: Listed>(words: &[String], seed: u64) -> Result<Vec<Entry<G>>, Error> {
    let built_ins = G::built_ins();
    let mut entries: Vec<Entry<G>> = Vec::new();
    for (seat, word) in words.iter().enumerate() {
        let refuse = |source| Error::Option { context: format!("bot {word:?}"), source };
        let spec: BotSpec = word.parse().map_err(refuse)?;
        let built_in = find(&built_ins, &spec.name)?;
        let bot = built_in.build(&spec, Seeded::new(seed, "bot", seat as u64)).map_err(refuse)?;
        let name = unique_name(&spec, &entries);
        entries.push(Entry { name, spec, bot });
    }
    Ok(entries)
}

/// The names of the seats.
pub fn names<G: Listed>(entries: &[Entry<G>]) -> Result<Names, Error> {
    let names = Names::new(entries.iter().map(|entry| &entry.name));
    names.map_err(|source| Error::Setup { game: G::ID, source })
}

fn find<'a, G: Listed>(built_ins: &'a [BuiltIn<G>], name: &str) -> Result<&'a BuiltIn<G>, Error> {
    built_ins.iter().find(|built_in| built_in.name == name).ok_or_else(|| Error::UnknownBot {
        game: G::ID,
        name: name.to_owned(),
        valid: built_ins.iter().map(|built_in| built_in.name.to_owned()).collect(),
    })
}

fn unique_name<G: Listed>(spec: &BotSpec, taken: &[Entry<G>]) -> String {
    let full = spec.to_string();
    (1..)
        .map(|number| {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            full.chars().take(MAX_NAME - suffix.len()).collect::<String>() + &suffix
        })
        .find(|name| taken.iter().all(|entry| entry.name != *name))
        .unwrap_or(full)
}

/// A seat's name, painted in the colour of the seat.
pub fn painted(names: &Names, seat: Seat) -> crate::paint::Painted<&str> {
    crate::paint::of_entry(seat.index(), &names[seat])
}
