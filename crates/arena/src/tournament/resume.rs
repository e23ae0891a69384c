//! Decides which tournament of a file continues with a plan: the same one, one with a changed line-up, a new edition, or none.

use super::{
    Archive, Claims, Plan, PlannedEntry, Schedule, Store, StoreError, Sums, TournamentError,
    archive::add_plan,
    formats::{self, Seats},
    sealed,
    stages::{self, LineUp},
};
use crate::{dice::Secret, process::Limits, stats::RankBy};
use necrodome_rules::{chance::Seed, options::plain};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// A tournament in a file, ready to continue.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The tournament in its file.
    pub store: Store,
    /// The plan, with all entries that ever took part.
    pub plan: Plan,
    /// The entries that joined since the last time.
    pub joined: Vec<String>,
    /// The entries that left.
    pub left: Vec<String>,
    /// Whether it began as a new edition beside another one, because the line-up is different.
    pub edition: bool,
}

/// What to do with a plan in a file.
enum Choice {
    /// This tournament continues.
    GoOn(Store, Box<Plan>),
    /// A new edition begins beside the old one.
    Edition,
    /// The first tournament begins.
    Begin,
}

impl Archive {
    /// Returns the seed of a tournament with the same plan except for the seed or, if there is none, the seed of the last tournament.
    pub fn seed_of(&self, plan: &Plan) -> Result<Option<Seed>, StoreError> {
        let stores = self.stores()?;
        let alike = stores.iter().find(|(_, stored)| {
            let same_seed = Plan { seed: stored.seed, ..plan.clone() };
            differences(stored, &same_seed).is_empty() && stages::compare(stored, plan) != LineUp::Other
        });
        Ok(alike.or(stores.last()).map(|(_, stored)| stored.seed))
    }

    /// Returns the tournament that continues with this plan, or begins it in an empty file. It refuses a file that has only other tournaments.
    ///
    /// If entries have come or gone, only what is missing is played or, if all entries sit in each match, a new edition begins beside the
    /// old one. A changed program is refused unless `renewed` is true: then it is a new entry, or makes a new edition.
    ///
    /// `secret` is the secret of a tournament that is to be played again.
    pub fn resume(&self, asked: &Plan, renewed: bool, secret: Option<&Secret>) -> Result<Opened, StoreError> {
        match self.choose(asked, renewed)? {
            Choice::GoOn(store, stored) => self.go_on(store, &stored, asked, secret),
            Choice::Edition => Ok(Opened { edition: true, ..self.begun(asked, secret)? }),
            Choice::Begin => self.begun(asked, secret),
        }
    }

    /// Returns the plan with which [`Archive::resume`] would continue, and the number of blocks played already. Changes nothing.
    pub fn outlook(&self, asked: &Plan, renewed: bool) -> Result<(Plan, u32), StoreError> {
        match self.choose(asked, renewed)? {
            Choice::GoOn(store, stored) => {
                let played = store.blocks()?;
                Ok((stages::go_on(&stored, played, asked), played))
            }
            Choice::Edition | Choice::Begin => Ok((asked.clone(), 0)),
        }
    }

    /// Chooses the tournament that continues.
    fn choose(&self, asked: &Plan, renewed: bool) -> Result<Choice, StoreError> {
        let (mut refused, mut edited, mut changed) = (None, None, None);
        // The newest first: there may be several editions.
        for (store, stored) in self.stores()?.into_iter().rev() {
            let mut differences = differences(&stored, asked);
            let line_up = stages::compare(&stored, asked);
            if line_up == LineUp::Other {
                differences.push(other_entries(&stored, asked));
            }
            let names = other_programs(&stored, asked);
            if !differences.is_empty() {
                refused = refused.or(Some(StoreError::OtherPlan { differences }));
            } else if !(names.is_empty() || renewed) {
                edited = edited.or(changed.is_none().then_some(StoreError::OtherProgram { names }));
            } else if line_up == LineUp::Same && names.is_empty() {
                return Ok(Choice::GoOn(store, Box::new(stored)));
            } else if edited.is_none() {
                changed = changed.or(Some((store, stored)));
            }
        }
        match (changed, edited.or(refused)) {
            (Some((store, stored)), _) if store.blocks()? == 0 || stages::can_go_on(&stored, asked) => {
                Ok(Choice::GoOn(store, Box::new(stored)))
            }
            (Some(_), _) => Ok(Choice::Edition),
            (None, Some(why)) => Err(why),
            (None, None) => Ok(Choice::Begin),
        }
    }

    /// Begins a new tournament. If programs take part, its dice are secret, unless the plan wants them public; `secret` is the secret of
    /// a tournament that is to be played again.
    pub fn begun(&self, plan: &Plan, secret: Option<&Secret>) -> Result<Opened, StoreError> {
        let mut plan = plan.clone();
        let secret = sealed::seal(&mut plan, 0, secret, |_| Ok(true))?;
        let store = self.insert(&plan, secret.as_slice())?;
        Ok(Opened { store, plan, joined: Vec::new(), left: Vec::new(), edition: false })
    }

    /// Continues a tournament, perhaps with another line-up.
    fn go_on(
        &self,
        store: Store,
        stored: &Plan,
        asked: &Plan,
        secret: Option<&Secret>,
    ) -> Result<Opened, StoreError> {
        // What cannot be read is left as it is.
        let damaged = |error: TournamentError| match error {
            TournamentError::Store(error) => error,
            other => StoreError::Damaged(other.to_string()),
        };
        let played = store.blocks()?;
        let mut plan = stages::go_on(stored, played, asked);
        plan.sealed_dice.clone_from(&stored.sealed_dice);
        let goes_on = |plan: &Plan| sealed::goes_on(plan, &store).map_err(damaged);
        let secret = sealed::seal(&mut plan, played, secret, goes_on)?;
        let names = |of: &Plan, without: &Plan| {
            let members = of.members().map(|member| &of.entries[member]);
            let is_new = |entry: &&PlannedEntry| {
                let same = |&other: &usize| {
                    without.entries[other].name == entry.name
                        && !entry.is_other(without.entries[other].fingerprint.as_deref())
                };
                !without.members().any(|other| same(&other))
            };
            members.filter(is_new).map(|entry| entry.name.clone()).collect::<Vec<_>>()
        };
        let (joined, left) = (names(&plan, stored), names(stored, &plan));
        let is_new = (&plan.entries, &plan.stages) != (&stored.entries, &stored.stages);
        let notes = |plan: &Plan| (plan.blocks, plan.grown, plan.sandbox, plan.gifts.clone());
        let noted = notes(&plan) == notes(stored);
        if is_new {
            let schedule = Schedule::of(stored).map_err(damaged)?;
            Sums::new(stored, &schedule).catch_up(&schedule, &store)?;
        }
        if is_new || !noted || secret.is_some() || plan.public_dice != stored.public_dice {
            let mut connection = self.connection();
            let transaction = connection.transaction()?;
            add_plan(&transaction, store.id(), &plan)?;
            sealed::keep(&transaction, store.id(), played, secret.as_ref())?;
            transaction.commit()?;
        }
        Ok(Opened { store, plan, joined, left, edition: false })
    }
}

/// Returns the entries whose programs differ from those of the stored plan. Older plans have no fingerprints.
fn other_programs(stored: &Plan, asked: &Plan) -> Vec<String> {
    let changed = asked.entries.iter().filter(|entry| {
        stored.place_of(entry).is_some() && stages::version(&stored.entries, entry).is_none()
    });
    changed.map(|entry| entry.name.clone()).collect()
}

/// Says how the entries of two plans differ.
fn other_entries(stored: &Plan, asked: &Plan) -> String {
    let entries = |plan: &Plan| {
        let entry = |PlannedEntry { name, bot, .. }: &PlannedEntry| {
            if name == bot { name.clone() } else { format!("{name}={bot}") }
        };
        plan.entries.iter().map(entry).collect::<Vec<_>>().join(", ")
    };
    let clash = asked.entries.iter().find_map(|entry| Some((stages::namesake(stored, entry)?, entry)));
    match clash {
        Some((known, entry)) => {
            let (name, there, here) = (&entry.name, &known.bot, &entry.bot);
            format!("the name {name} belongs to {there} there, and to {here} here")
        }
        None => format!("the entries are {} there, {} here", entries(stored), entries(asked)),
    }
}

/// Says how two plans differ, apart from their entries. More blocks than before do not count as a difference: the tournament continues.
fn differences(stored: &Plan, asked: &Plan) -> Vec<String> {
    // The compiler says when a field is missing here.
    let Plan {
        game,
        options,
        entries: _,
        format,
        seats,
        blocks: _,
        seed,
        until_decided,
        margin,
        test,
        rank_by,
        limits,
        sandbox: _,
        gifts: _,
        older,
        grown: _,
        stages: _,
        public_dice,
        sealed_dice: _,
    } = stored;
    let until = |decided: bool| if decided { "it is decided" } else { "all blocks are played" }.to_owned();
    if *older && !asked.older {
        return vec!["an older necrodome began it, and seated the entries otherwise".to_owned()];
    }
    let mut all = Vec::new();
    let mut differ = |what: &str, stored: String, asked: String| {
        if stored != asked {
            all.push(format!("{what} {stored} there, {asked} here"));
        }
    };
    differ("the game is", game.clone(), asked.game.clone());
    differ("the format is", format.as_str().to_owned(), asked.format.as_str().to_owned());
    // Where everybody has a seat, the entries tell.
    if formats::rules(asked.format).seats != Seats::All {
        differ("the number of seats is", seats.to_string(), asked.seats.to_string());
    }
    differ("the seed is", seed.to_string(), asked.seed.to_string());
    if *public_dice && asked.has_programs() {
        let dice = |public| if public { "public" } else { "secret" }.to_owned();
        differ("its dice are", dice(true), dice(asked.public_dice));
    }
    differ("it is played until", until(*until_decided), until(asked.until_decided));
    let claims = |test: &Option<Claims>| {
        test.map_or("none".to_owned(), |Claims { elo0, elo1 }| format!("{elo0},{elo1}"))
    };
    differ("the test is", claims(test), claims(&asked.test));
    // What it is ranked by matters only to when it stops.
    if *until_decided {
        let by = |rank_by: &RankBy| plain(&serde_json::to_value(rank_by).unwrap_or_default());
        differ("it is ranked by", by(rank_by), by(&asked.rank_by));
        let of = |margin: &Option<f64>| margin.map_or("none".to_owned(), |margin| margin.to_string());
        differ("the margin is", of(margin), of(&asked.margin));
    }
    let table = |limits: &Limits| serde_json::to_value(limits).unwrap_or_default();
    let tables =
        [("option", options.clone(), asked.options.clone()), ("limit", table(limits), table(&asked.limits))];
    for (what, stored, asked) in &tables {
        let keys = [stored, asked].into_iter().filter_map(Value::as_object).flat_map(Map::keys);
        for key in keys.collect::<BTreeSet<_>>() {
            differ(&format!("the {what} {key} is"), plain(&stored[key]), plain(&asked[key]));
        }
    }
    all
}
