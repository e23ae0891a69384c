//! The dice of a tournament. If programs take part, the dice follow from the seed and a secret, which is sealed before the first match
//! (the plan has its hash) and revealed after the last. A revealed secret is useless for more blocks: those get a new one.

use super::{
    Plan, PlannedEntry, Schedule, Store, StoreError, Sums, TournamentError, archive::add_plan, chain::SECRETS,
};
use crate::{
    dice::{Dice, Secret},
    model,
};
use necrodome_rules::chance::{Chance, Seed, Seeded};
use rusqlite::{Connection, types::ValueRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A secret from which the dice of some blocks follow, together with the seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SealedDice {
    /// The first block; the last one is just before the first of the next secret.
    pub first: u32,
    /// The BLAKE3 hash of the secret, which proves that it was not chosen later.
    pub commitment: String,
    /// The secret; missing until all blocks are played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
}

/// The dice of a tournament, match by match.
#[derive(Debug, Clone)]
pub struct TournamentDice {
    public: Dice,
    /// The sealed dice, each with the first block that uses them.
    sealed: Vec<(u32, Dice)>,
    /// Whether all matches of a block have the same dice.
    shared: bool,
}

impl TournamentDice {
    /// Returns the dice of a plan; `secrets` are those that it is committed to.
    pub fn new(plan: &Plan, secrets: &[Secret]) -> Result<Self, StoreError> {
        let sealed = &plan.sealed_dice;
        let fit = |(sealed, secret): (&SealedDice, &Secret)| sealed.commitment == secret.commitment();
        if sealed.len() != secrets.len() || !sealed.iter().zip(secrets).all(fit) {
            return Err(StoreError::Damaged("the secret of the dice does not fit its hash".into()));
        }
        Ok(TournamentDice {
            public: plan.seed.into(),
            sealed: sealed.iter().zip(secrets).map(|(s, secret)| (s.first, secret.dice(plan.seed))).collect(),
            shared: plan.seats == 1 || plan.older,
        })
    }

    /// Returns the dice of a match. Each match has its own: matches that share their dice usually tell less than as many that do not, and
    /// a program could remember the dice for the next match. Entries that play alone share the dice of the block, so that their
    /// scores can be compared.
    pub fn of_match(&self, block: u32, number: usize) -> Dice {
        let sealed = self.sealed.iter().rfind(|(first, _)| *first <= block);
        let Dice { dice, bots } = sealed.map_or(self.public, |(_, dice)| *dice);
        let number = if self.shared { 0 } else { number as u64 };
        let index = number << 32 | u64::from(block);
        let own = seed_of_match(dice, index);
        Dice { dice: own, bots: if bots == dice { own } else { seed_of_match(bots, index) } }
    }
}

fn seed_of_match(seed: Seed, index: u64) -> Seed {
    let mut chance = Seeded::new(seed, "block", index);
    match seed.short() {
        // As it always was for short seeds.
        Some(_) => (u64::from(chance.uniform(1 << 21)) << 32 | u64::from(chance.uniform(u32::MAX))).into(),
        None => chance.seed(),
    }
}

/// Seals new dice for the blocks from `played` on, if they need some: if programs take part and the dice are not public, or if a `secret`
/// is given to play a tournament again. Returns the new secret, which must be kept.
pub(super) fn seal(
    plan: &mut Plan,
    played: u32,
    secret: Option<&Secret>,
    goes_on: impl FnOnce(&Plan) -> Result<bool, StoreError>,
) -> Result<Option<Secret>, StoreError> {
    let last = plan.sealed_dice.last();
    let is_secret = last.is_some_and(|last| last.secret.is_none());
    let is_given = |given: &Secret| last.is_some_and(|last| last.commitment == given.commitment());
    let other = |why: &str| Err(StoreError::OtherPlan { differences: vec![why.to_owned()] });
    match secret {
        Some(given) if is_given(given) => return Ok(None),
        Some(_) if plan.public_dice => return Err(StoreError::PublicSecret),
        Some(_) if last.is_some() => return other("the secret of its dice is another one"),
        Some(_) if last.is_none() && played > 0 => return other("its dice are public there, secret here"),
        None if last.is_some() && plan.public_dice => return other("its dice are secret there, public here"),
        _ => {}
    }
    let is_wanted = secret.is_some() || plan.has_programs() && !plan.public_dice;
    if !is_wanted || is_secret || !goes_on(plan)? {
        return Ok(None);
    }
    let secret = secret.cloned().map_or_else(Secret::random, Ok)?;
    plan.sealed_dice.push(SealedDice { first: played, commitment: secret.commitment(), secret: None });
    Ok(Some(secret))
}

/// Stores the secret of the dice from a block on, if there is one.
pub(super) fn keep(
    connection: &Connection,
    id: i64,
    first: u32,
    secret: Option<&Secret>,
) -> Result<(), StoreError> {
    if let Some(secret) = secret {
        let row = [ValueRef::Integer(first.into()), ValueRef::Blob(secret.bytes())];
        SECRETS.append(connection, id, [&row])?;
    }
    Ok(())
}

/// Whether there is anything left to play.
pub(super) fn goes_on(plan: &Plan, store: &Store) -> Result<bool, TournamentError> {
    let schedule = Schedule::of(plan)?;
    if store.blocks()? >= schedule.end() {
        return Ok(false);
    }
    if !plan.stops_early() {
        return Ok(true);
    }
    let mut sums = Sums::new(plan, &schedule);
    sums.catch_up(&schedule, store)?;
    Ok(sums.stop(plan).is_none())
}

impl Plan {
    /// Whether a program takes part. A language model does not count: it cannot compute what it is not told.
    pub fn has_programs(&self) -> bool {
        let is_program =
            |entry: &PlannedEntry| entry.fingerprint.is_some() && !entry.bot.starts_with(model::PREFIX);
        self.members().any(|member| is_program(&self.entries[member]))
    }
}

impl Store {
    /// Returns the dice of the tournament, whether its secrets were revealed or not.
    pub fn dice(&self, plan: &Plan) -> Result<TournamentDice, StoreError> {
        TournamentDice::new(plan, &self.secrets(plan)?)
    }

    /// Returns the secrets of its dice, revealed or not.
    pub(super) fn secrets(&self, plan: &Plan) -> Result<Vec<Secret>, StoreError> {
        // Older files have no such table.
        if plan.sealed_dice.is_empty() {
            return Ok(Vec::new());
        }
        let connection = self.archive().connection();
        let mut query =
            connection.prepare_cached("SELECT secret FROM secrets WHERE tournament = ?1 ORDER BY first")?;
        let rows = query.query_map([self.id()], |row| row.get::<_, Vec<u8>>(0))?;
        // What is no secret fits no hash.
        Ok(rows
            .collect::<Result<Vec<_>, _>>()?
            .iter()
            .filter_map(|bytes| Secret::from_bytes(bytes))
            .collect())
    }

    /// Returns the plan as it is stored.
    fn plan(&self) -> Result<Plan, StoreError> {
        let stored = self.archive().store(self.id())?;
        Ok(stored.ok_or_else(|| StoreError::Damaged("the plan is missing".into()))?.1)
    }

    /// Returns the sealed dice of the plan, with the revealed secrets.
    pub(super) fn sealed_dice(&self, plan: &Plan) -> Result<Vec<SealedDice>, StoreError> {
        if plan.sealed_dice.is_empty() { Ok(Vec::new()) } else { Ok(self.plan()?.sealed_dice) }
    }

    /// Reveals the secrets, when all is played.
    pub(super) fn reveal(&self, plan: &Plan) -> Result<(), StoreError> {
        if self.sealed_dice(plan)?.iter().all(|sealed| sealed.secret.is_some()) {
            return Ok(());
        }
        let mut plan = self.plan()?;
        let secrets = self.secrets(&plan)?;
        TournamentDice::new(&plan, &secrets)?;
        for (sealed, secret) in plan.sealed_dice.iter_mut().zip(secrets) {
            sealed.secret = Some(secret);
        }
        let mut connection = self.archive().connection();
        let transaction = connection.savepoint()?;
        add_plan(&transaction, self.id(), &plan)?;
        Ok(transaction.commit()?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, schedule::tests::plan};
    use super::*;
    use std::collections::HashSet;

    fn secret() -> Secret {
        Secret::random().unwrap()
    }

    fn dice(plan: &Plan) -> TournamentDice {
        TournamentDice::new(plan, &[]).unwrap()
    }

    /// These seeds are a promise: tournaments of older versions are played again with them.
    #[test]
    fn matches_of_short_seeds_have_the_seeds_that_they_always_had() {
        let dice = dice(&plan(Format::Table, 3, 3));
        let seeds: Vec<String> = [(0, 0), (5, 2)].map(|(b, n)| dice.of_match(b, n).dice.to_string()).to_vec();
        assert_eq!(seeds, ["8557132082369885", "2358564073994192"]);
    }

    #[test]
    fn matches_have_dice_of_their_own() {
        for seed in [Seed::from(1), Seed::new(1 << 100)] {
            let dice = dice(&Plan { seed, ..plan(Format::Table, 3, 3) });
            let matches = (0..1000).flat_map(|block| (0..6).map(move |number| (block, number)));
            let seeds: HashSet<Seed> =
                matches.map(|(block, number)| dice.of_match(block, number).dice).collect();
            assert_eq!(seeds.len(), 6000);
            let wide = seeds.iter().filter(|seed| seed.short().is_none()).count();
            assert_eq!(wide, if seed.short().is_some() { 0 } else { 6000 });
        }
    }

    #[test]
    fn who_plays_alone_meets_the_dice_of_the_others() {
        let dice = dice(&plan(Format::RoundRobin, 3, 1));
        assert_eq!(dice.of_match(5, 2), dice.of_match(5, 0));
        assert_ne!(dice.of_match(5, 0), dice.of_match(6, 0));
    }

    #[test]
    fn each_secret_is_that_of_its_blocks() {
        let (one, other) = (secret(), secret());
        let sealed =
            |first, secret: &Secret| SealedDice { first, commitment: secret.commitment(), secret: None };
        let sealed_dice = vec![sealed(3, &one), sealed(10, &other)];
        let with = Plan { sealed_dice, ..plan(Format::Table, 2, 2) };
        let (public, secrets) = (dice(&plan(Format::Table, 2, 2)), [one.clone(), other.clone()]);
        let mixed = TournamentDice::new(&with, &secrets).unwrap();
        let of = |secret: &Secret| TournamentDice { public: secret.dice(with.seed), ..public.clone() };
        for (block, expected) in
            [(0, &public), (2, &public), (3, &of(&one)), (9, &of(&one)), (10, &of(&other))]
        {
            assert_eq!(mixed.of_match(block, 1), expected.of_match(block, 1), "block {block}");
        }
        for wrong in [&[][..], std::slice::from_ref(&one), &[other, one.clone()]] {
            assert!(
                TournamentDice::new(&with, wrong).unwrap_err().to_string().contains("does not fit its hash")
            );
        }
    }
}
