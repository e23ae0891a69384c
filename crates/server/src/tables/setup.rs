//! How a table is set up. It is checked before anybody sits down, so that the match can really begin.

use super::state::NewTable;
use crate::{
    Refusal,
    film::is_usual,
    keys::{Key, KeyHash},
};
use necrodome_arena::{
    dice::{Dice, random_seed},
    entry::{EntryKind, EntrySpec, name_all},
};
use necrodome_rules::{
    bot::BotSpec,
    card::Bound,
    catalog::{GameId, Listed, UnknownGame},
    chance::{Seed, Seeded},
    game::{Seat, Silent},
    names::Names,
    options::{self, NoOptions},
    with_game,
};
use necrodome_solve::{OPTIMAL, solver};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{fmt::Display, ops::RangeInclusive};

/// How many seconds a decision may take, if there is a clock.
const CLOCK: RangeInclusive<u32> = 1..=3600;

/// A table, as the file keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub game: String,
    /// All options of the rules.
    pub options: Value,
    pub coach: bool,
    pub seed: Seed,
    /// The seed of the bots. Files of older versions have none, and use `seed` for both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bots_seed: Option<Seed>,
    /// Seconds for each decision of a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<u32>,
    pub seats: Vec<SeatSetup>,
}

/// A seat: open while it has no name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SeatSetup {
    pub name: Option<String>,
    /// The bot that plays it.
    pub bot: Option<String>,
    /// The hash of the key of the person whose seat it is.
    pub key: Option<String>,
    /// Whether that person has left, and a bot plays until they come back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
}

impl SeatSetup {
    fn person(name: &str, key: KeyHash) -> Self {
        SeatSetup { name: Some(name.to_owned()), key: Some(key.to_text()), ..SeatSetup::default() }
    }

    fn bot(name: Option<String>, bot: &str) -> Self {
        SeatSetup { name, bot: Some(bot.to_owned()), ..SeatSetup::default() }
    }

    /// Whether a person plays here.
    pub fn has_person(&self) -> bool {
        self.key.is_some() && !self.left
    }
}

impl Setup {
    /// Returns the source of the dice.
    pub fn dice(&self) -> Dice {
        Dice { dice: self.seed, bots: self.bots_seed.unwrap_or(self.seed) }
    }

    /// Checks a request for a table, and gives the visitor the first seat. `programs` are the programs that may sit at their table.
    pub fn new(wanted: &NewTable, key: &Key, programs: Programs, host: bool) -> Result<Self, Refusal> {
        with_game!(wanted.game.parse::<GameId>()?, G => Self::checked::<G>(wanted, key, programs, host))
    }

    fn checked<G: Listed>(
        wanted: &NewTable,
        key: &Key,
        programs: Programs,
        host: bool,
    ) -> Result<Self, Refusal> {
        let mut rules = rules::<G>(&wanted.options)?;
        bound::<G>(&mut rules)?;
        let may_solve = host || is_usual::<G>(&rules);
        if !may_solve && wanted.bots.iter().any(|bot| bot.starts_with(OPTIMAL)) {
            return Err(Refusal::bad(format!("{OPTIMAL} plays by the usual rules only"))
                .hint("choose another bot, or ask the host to open the table"));
        }
        if let Some(clock) = wanted.clock.filter(|clock| !CLOCK.contains(clock)) {
            return Err(Refusal::bad(format!(
                "clock: expected {} to {} seconds for a decision, got {clock}",
                CLOCK.start(),
                CLOCK.end()
            )));
        }
        let count = 1 + usize::from(wanted.friends) + wanted.bots.len();
        if count > G::CARD.most_people {
            return Err(Refusal::bad(format!(
                "{}: expected at most {} seats at a table, got {count}",
                G::ID,
                G::CARD.most_people
            )));
        }
        for text in &wanted.bots {
            bot::<G>(text, programs)?;
        }
        // Named as they are written, programs too; what is there twice gets a number.
        let bots = wanted.bots.iter().map(|text| {
            let spec = BotSpec { name: text.clone(), params: Vec::new() };
            EntrySpec { name: None, text: text.clone(), kind: EntryKind::BuiltIn(spec) }
        });
        let maker =
            EntrySpec { name: Some(wanted.name.clone()), text: String::new(), kind: EntryKind::Human };
        let entries: Vec<EntrySpec> = [maker].into_iter().chain(bots).collect();
        let names = name_all(&entries).map_err(Refusal::bad)?;
        let bots = wanted.bots.iter().zip(names.iter().skip(1));
        let bots = bots.map(|(bot, name)| SeatSetup::bot(Some(name.to_owned()), bot));
        let friends = (0..wanted.friends).map(|_| SeatSetup::default());
        let setup = Setup {
            game: G::ID.to_owned(),
            options: serde_json::to_value(&rules).map_err(Refusal::internal)?,
            coach: wanted.coach && may_solve,
            // Too many to try them all against the dice that were seen, and two that have nothing to do with each other.
            seed: random_seed().map_err(Refusal::internal)?,
            bots_seed: Some(random_seed().map_err(Refusal::internal)?),
            clock: wanted.clock,
            seats: [SeatSetup::person(&wanted.name, key.hash())]
                .into_iter()
                .chain(friends)
                .chain(bots)
                .collect(),
        };
        setup.try_out::<G>(&rules)?;
        Ok(setup)
    }

    /// Returns the game.
    pub fn game(&self) -> Result<GameId, UnknownGame> {
        self.game.parse()
    }

    /// Returns a request for the same table, from a person of this name: those who have left are now bots, and the other people can join.
    pub fn again(&self, name: String) -> Result<NewTable, Refusal> {
        let Value::Object(options) = self.options.clone() else {
            return Err(Refusal::internal("the options of a table are no object"));
        };
        Ok(NewTable {
            game: self.game.clone(),
            name,
            bots: self.seats.iter().filter_map(|seat| seat.bot.clone()).collect(),
            friends: self.people().saturating_sub(1) as u16,
            options,
            coach: self.coach,
            clock: self.clock,
        })
    }

    /// Checks that a match can begin with these names and rules; open seats get temporary names.
    fn try_out<G: Listed>(&self, rules: &G::Rules) -> Result<(), Refusal> {
        let names = self.seats.iter().enumerate();
        let names =
            names.map(|(seat, s)| s.name.clone().unwrap_or_else(|| format!("open seat {}", seat + 1)));
        let names = Names::new(names).map_err(Refusal::bad)?;
        G::new(&names, rules, &mut Seeded::new(0, "trial", 0), &mut Silent).map_err(Refusal::bad)?;
        Ok(())
    }

    /// Gives the first open seat to a person.
    pub fn join(&mut self, name: &str, key: KeyHash) -> Result<(), Refusal> {
        let Some(open) = self.seats.iter().position(|seat| seat.name.is_none()) else {
            return Err(Refusal::conflict("all seats of this table are taken"));
        };
        let mut wanted = self.clone();
        wanted.seats[open] = SeatSetup::person(name, key);
        with_game!(self.game()?, G => {
            let rules = serde_json::from_value(self.options.clone()).map_err(Refusal::internal)?;
            wanted.try_out::<G>(&rules)?;
        });
        *self = wanted;
        Ok(())
    }

    /// Fills all open seats with bots.
    pub fn fill(&mut self) -> Result<(), Refusal> {
        let stand_in = self.game()?.card().stand_in;
        for place in 0..self.seats.len() {
            if self.seats[place].name.is_some() {
                continue;
            }
            let taken: Vec<String> =
                self.seats.iter().flat_map(|seat| &seat.name).map(|name| name.to_lowercase()).collect();
            let numbered = |number: usize| {
                if number == 1 { stand_in.to_owned() } else { format!("{stand_in}-{number}") }
            };
            let name = (1..).map(numbered).find(|name| !taken.contains(name));
            self.seats[place] = SeatSetup::bot(name, stand_in);
        }
        Ok(())
    }

    /// Takes a person from their seat. During a match, a bot plays until they come back.
    pub fn leave(&mut self, seat: Seat) -> Result<(), Refusal> {
        let is_full = self.is_full();
        let stand_in = self.game()?.card().stand_in;
        let place = &mut self.seats[seat.index()];
        if is_full {
            (place.bot, place.left) = (Some(stand_in.to_owned()), true);
        } else {
            *place = SeatSetup::default();
        }
        Ok(())
    }

    /// Gives a person back their seat, on which a bot has played for them.
    pub fn come_back(&mut self, seat: Seat) {
        let place = &mut self.seats[seat.index()];
        (place.bot, place.left) = (None, false);
    }

    /// Whether all seats are taken.
    pub fn is_full(&self) -> bool {
        self.seats.iter().all(|seat| seat.name.is_some())
    }

    /// Returns the seat of the person with this key, unless a bot plays for them.
    pub fn seat_of(&self, key: Option<KeyHash>) -> Option<Seat> {
        self.held(key).filter(|seat| !self.seats[seat.index()].left)
    }

    /// Returns the seat of the person with this key, if a bot plays for them.
    pub fn left_by(&self, key: Option<KeyHash>) -> Option<Seat> {
        self.held(key).filter(|seat| self.seats[seat.index()].left)
    }

    fn held(&self, key: Option<KeyHash>) -> Option<Seat> {
        let key = key?;
        let holds = |seat: &SeatSetup| seat.key.as_deref().and_then(KeyHash::from_text) == Some(key);
        self.seats.iter().position(holds).map(|place| Seat(place as u16))
    }

    /// Returns how many people play.
    pub fn people(&self) -> usize {
        self.seats.iter().filter(|seat| seat.has_person()).count()
    }

    /// Returns the bots by seat. The seat of a person has `None`, even while a bot plays for them.
    pub fn bots<G: Listed>(&self, programs: Programs) -> Result<Vec<Option<EntrySpec>>, Refusal> {
        let own = |seat: &SeatSetup| seat.bot.clone().filter(|_| seat.key.is_none());
        let bot = |seat: &SeatSetup| own(seat).map(|text| bot::<G>(&text, programs)).transpose();
        self.seats.iter().map(bot).collect()
    }

    /// Returns the names, once all seats are taken.
    pub fn names(&self) -> Result<Names, Refusal> {
        let names = self.seats.iter().map(|seat| seat.name.as_deref().unwrap_or_default());
        Names::new(names).map_err(Refusal::bad)
    }
}

/// Returns the rules that suit a table, changed by the given options.
pub(crate) fn rules<G: Listed>(options: &Map<String, Value>) -> Result<G::Rules, Refusal> {
    let usual = G::CARD.options_for_people.iter().filter(|(name, _)| !options.contains_key(*name));
    let usual = usual.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let set = options.iter().map(|(name, value)| (name.clone(), options::plain(value)));
    let pairs: Vec<_> = usual.chain(set).collect();
    options::parse(&pairs).map_err(|why| Refusal::bad(format!("{}: {why}", G::ID)))
}

/// Limits the options so that there is room for many tables, or says which option is too large.
fn bound<G: Listed>(rules: &mut G::Rules) -> Result<(), Refusal> {
    let mut options = serde_json::to_value(&*rules).map_err(Refusal::internal)?;
    for Bound { option, least, most } in G::CARD.bounds_for_people {
        let value = &mut options[*option];
        match value.as_f64() {
            Some(number) if number < *least => {
                return Err(Refusal::bad(format!(
                    "{option}: expected at least {least} at a table, got {number}"
                )));
            }
            Some(number) if number > *most => {
                return Err(Refusal::bad(format!(
                    "{option}: expected at most {most} at a table, got {number}"
                )));
            }
            Some(_) => {}
            // No limit at all.
            None => *value = json!(*most as u64),
        }
    }
    *rules = serde_json::from_value(options).map_err(Refusal::internal)?;
    Ok(())
}

/// The most characters in the specification of a bot.
const LONGEST_BOT: usize = 200;

/// Finds a program by its name.
pub(crate) type Programs<'a> = &'a dyn Fn(&str) -> Option<EntrySpec>;

/// Checks and returns an allowed program or a built-in bot, without building a bot that takes long to build.
pub(crate) fn bot<G: Listed>(text: &str, programs: Programs) -> Result<EntrySpec, Refusal> {
    if let Some(program) = programs(text) {
        return Ok(program);
    }
    let bad = |why: &dyn Display| Refusal::bad(format!("bot {text:?}: {why}"));
    if text.len() > LONGEST_BOT {
        return Err(Refusal::bad(format!("expected a bot in at most {LONGEST_BOT} characters")));
    }
    let spec: BotSpec = text.parse().map_err(|why| bad(&why))?;
    let built_ins = G::built_ins();
    match built_ins.iter().find(|bot| bot.name == spec.name) {
        Some(bot) => drop(bot.build(&spec, Seeded::new(0, "trial", 0)).map_err(|why| bad(&why))?),
        None if spec.name == OPTIMAL && solver::<G>().is_some() => {
            options::parse::<NoOptions>(&spec.params).map_err(|why| bad(&why))?;
        }
        None => {
            let names = built_ins.iter().map(|bot| bot.name).chain(solver::<G>().map(|_| OPTIMAL));
            let names = names.collect::<Vec<_>>().join(", ");
            return Err(Refusal::bad(format!("{}: expected a bot ({names}), got {text:?}", G::ID)));
        }
    }
    Ok(EntrySpec { name: None, text: text.to_owned(), kind: EntryKind::BuiltIn(spec) })
}
