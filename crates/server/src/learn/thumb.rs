//! Rules of thumb for Zombie Dice, and what they cost against perfect play: exact numbers, no simulation.

use crate::{
    Limits, Refusal, Site,
    film::Unit,
    json::Asked,
    live::lock,
    places::{Origin, Places},
};
use axum::{Json, extract::State};
use necrodome_rules::zombie_dice::{GOAL, Race, RaceRules, Solo, SoloRules};
use necrodome_solve::{
    Position, Solvable,
    exact::{Inexact, Policy, RaceProfile, Scores, solo_policy},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock},
};
use tokio::{sync::Semaphore, task::spawn_blocking};

/// How many brains to stop with, for no, one and two shotguns. `None` means roll on.
type Stops = [Option<u32>; 3];

/// The rules for a single turn. A test shows that no other numbers in their place cost less.
const SOLO: [(&str, Stops); 5] = [
    ("Stop at the first shotgun", [None, Some(1), Some(1)]),
    ("Stop at the second shotgun", [None, None, Some(1)]),
    ("Stop with 3 brains", [Some(3); 3]),
    ("Stop with 6 brains, or at the second shotgun", [Some(6), Some(6), Some(1)]),
    (
        "No shotgun: roll. One shotgun: stop with 5 brains. Two shotguns: stop with 1 brain",
        [None, Some(5), Some(1)],
    ),
];

/// The rules for the race to 13 brains. With 13 brains they all stop.
const RACE: [(&str, Stops); 5] = [
    SOLO[0],
    SOLO[1],
    ("Stop with 4 brains", [Some(4); 3]),
    ("Stop with 7 brains, or at the second shotgun", [Some(7), Some(7), Some(1)]),
    (
        "No shotgun: roll. One shotgun: stop with 6 brains. Two shotguns: stop with 2 brains",
        [None, Some(6), Some(2)],
    ),
];

/// The largest number of brains that a rule may name: there are thirteen dice.
const MOST: u32 = 13;

/// Rules of thumb of a format, and perfect play beside them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Thumbs {
    /// The unit of the values.
    pub unit: Unit,
    /// Perfect play.
    pub perfect: Played,
    /// The rules, the cheapest first.
    pub rules: Vec<Thumb>,
}

/// A rule of thumb.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Thumb {
    /// The rule in words.
    pub words: &'static str,
    /// How many brains to stop with, for no, one and two shotguns; null means roll on.
    pub stop: [Option<u32>; 3],
    /// What it scores.
    pub played: Played,
}

/// The exact results of a way to play.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Played {
    /// The expected brains of a turn, or the chance of winning a race against a perfect player, averaged over both seats.
    pub value: f64,
    /// How much more perfect play is worth.
    pub cost: f64,
    /// The probability that the first turn banks each number of brains, from 0.
    pub scores: Vec<f64>,
}

/// A player who follows the numbers alone, and in the race stops at the goal.
struct ByNumbers(Stops);

impl Policy for ByNumbers {
    fn rolls(&mut self, scores: Scores, positions: &[Position]) -> Result<Vec<f64>, Inexact> {
        let missing = match scores {
            Scores::Race { own, .. } => GOAL.saturating_sub(own),
            Scores::Solo | Scores::Table(_) => u32::MAX,
        };
        let rolls = |position: &Position| {
            let shotguns = usize::from(position.shots.total()).min(self.0.len() - 1);
            let stop = self.0[shotguns].map_or(missing, |stop| stop.min(missing));
            f64::from(u8::from(position.brains < stop))
        };
        Ok(positions.iter().map(rolls).collect())
    }
}

impl Played {
    fn solo(stops: Stops) -> Result<Self, Refusal> {
        let exact = solo_policy(&SoloRules::default(), &mut ByNumbers(stops)).map_err(Refusal::internal)?;
        Ok(Played { value: exact.score, cost: exact.best - exact.score, scores: exact.distribution })
    }

    fn race(stops: Stops) -> Result<Self, Refusal> {
        let rules = RaceRules::default();
        let solution = Race::solve(&rules, 2).map_err(Refusal::internal)?;
        let profile = RaceProfile::of_policy(&rules, &mut ByNumbers(stops)).map_err(Refusal::internal)?;
        let value = profile.against_optimal(&rules, &solution).mean;
        Ok(Played { value, cost: 0.5 - value, scores: profile.first_turn().to_vec() })
    }

    fn perfect(race: bool) -> Result<Self, Refusal> {
        if race {
            let rules = RaceRules::default();
            let solution = Race::solve(&rules, 2).map_err(Refusal::internal)?;
            let scores = solution.prices(0, 0).distribution(rules.first_roll);
            return Ok(Played { value: 0.5, cost: 0.0, scores });
        }
        let solution = Solo::solve(&SoloRules::default(), 1).map_err(Refusal::internal)?;
        Ok(Played { value: solution.value(), cost: 0.0, scores: solution.distribution() })
    }
}

impl Thumbs {
    fn new(race: bool) -> Result<Self, Refusal> {
        let played = if race { Played::race } else { Played::solo };
        let rule = |&(words, stop): &(&'static str, Stops)| Ok(Thumb { words, stop, played: played(stop)? });
        let listed = if race { &RACE } else { &SOLO };
        let mut rules = listed.iter().map(rule).collect::<Result<Vec<_>, Refusal>>()?;
        rules.sort_by(|one, other| one.played.cost.total_cmp(&other.played.cost));
        let unit = if race { Unit::Chance } else { Unit::Points };
        Ok(Thumbs { unit, perfect: Played::perfect(race)?, rules })
    }
}

/// The format that a request asks for.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Format {
    #[serde(default)]
    race: bool,
}

/// A rule that a visitor wants to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tried {
    #[serde(default)]
    race: bool,
    /// How many brains to stop with, for no, one and two shotguns.
    none: Option<u32>,
    one: Option<u32>,
    two: Option<u32>,
}

/// How many requests may wait for a computation. Each takes a fraction of a second.
const WAITING: usize = 16;

/// Lets one request at a time compute: for a race, thousands of questions are asked of the solution.
pub(crate) struct Desk {
    queue: Arc<Places>,
    turn: Arc<Semaphore>,
    /// The results of all rules that were tried. There are only a few thousand rules.
    known: Arc<Mutex<BTreeMap<Tried, Played>>>,
}

impl Desk {
    pub fn new(limits: &Limits) -> Self {
        Desk {
            queue: Places::new(WAITING, limits.address_share),
            turn: Arc::new(Semaphore::new(1)),
            known: Arc::default(),
        }
    }
}

pub(super) async fn list(
    State(site): State<Site>,
    Asked(Format { race }): Asked<Format>,
) -> Result<Json<Thumbs>, Refusal> {
    static LISTS: [OnceLock<Thumbs>; 2] = [OnceLock::new(), OnceLock::new()];
    let kept = &LISTS[usize::from(race)];
    if let Some(known) = kept.get() {
        return Ok(Json(known.clone()));
    }
    let turn = site.desk().turn.clone().acquire_owned().await.map_err(Refusal::internal)?;
    let made = spawn_blocking(move || {
        let _turn = turn;
        match kept.get() {
            Some(known) => Ok(known.clone()),
            None => Thumbs::new(race).map(|made| kept.get_or_init(|| made).clone()),
        }
    });
    made.await.map_err(Refusal::internal)?.map(Json)
}

pub(super) async fn one(
    State(site): State<Site>,
    origin: Origin,
    Asked(tried): Asked<Tried>,
) -> Result<Json<Played>, Refusal> {
    let Tried { race, none, one, two } = tried;
    let stops = [none, one, two];
    if let Some(bad) = stops.iter().flatten().find(|stop| !(1..=MOST).contains(*stop)) {
        return Err(Refusal::bad(format!("expected to stop with 1 to {MOST} brains, got {bad}")));
    }
    let desk = site.desk();
    let known = desk.known.clone();
    if let Some(played) = lock(&known).get(&tried) {
        return Ok(Json(played.clone()));
    }
    let place = desk.queue.take(origin).map_err(|crowded| crowded.refuse("rules being computed"))?;
    let turn = desk.turn.clone().acquire_owned().await.map_err(Refusal::internal)?;
    // Visitors who give up do not let the next one in before this is computed.
    let played = spawn_blocking(move || {
        let _held = (place, turn);
        let before = lock(&known).get(&tried).cloned();
        let played =
            before.map_or_else(|| if race { Played::race(stops) } else { Played::solo(stops) }, Ok)?;
        lock(&known).insert(tried, played.clone());
        Ok(played)
    });
    played.await.map_err(Refusal::internal)?.map(Json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use axum::http::StatusCode;
    use futures_util::future::join_all;
    use std::{net::Ipv4Addr, time::Duration};
    use tokio::time::timeout;

    fn cheapest(cost: impl Fn(Stops) -> f64, family: impl Iterator<Item = Stops>) -> Stops {
        family.min_by(|one, other| cost(*one).total_cmp(&cost(*other))).unwrap()
    }

    #[test]
    fn no_other_numbers_cost_less() {
        for (listed, played) in [(SOLO, Played::solo as fn(Stops) -> _), (RACE, Played::race)] {
            let cost = |stops: Stops| played(stops).unwrap().cost;
            assert_eq!(cheapest(cost, (1..=8).map(|n| [Some(n); 3])), listed[2].1);
            assert_eq!(cheapest(cost, (1..=8).map(|n| [Some(n), Some(n), Some(1)])), listed[3].1);
            let by_shotguns = (1..=8).flat_map(|one| (1..=3).map(move |two| [None, Some(one), Some(two)]));
            assert_eq!(cheapest(cost, by_shotguns), listed[4].1);
        }
    }
    /// One address cannot make everybody else wait, and what was computed once is not computed again.
    #[tokio::test]
    async fn the_queue_is_short_and_each_address_has_a_share() {
        let site = Site::open(Config::default()).unwrap();
        let [ada, eve] = [1, 2].map(|last| Origin::of(Ipv4Addr::new(10, 0, 0, last).into()));
        let ask = |origin, two| {
            let tried = Tried { race: false, none: None, one: Some(5), two: Some(two) };
            Box::pin(one(State(site.clone()), origin, Asked(tried)))
        };
        assert!(ask(eve, 13).await.is_ok());
        // Somebody's rule is being computed.
        let held = site.desk().turn.clone().acquire_owned().await.unwrap();
        let mut waiting = Vec::new();
        for two in 1..=8 {
            let mut asked = ask(eve, two);
            assert!(timeout(Duration::ZERO, &mut asked).await.is_err(), "request {two} does not wait");
            waiting.push(asked);
        }
        let refused = timeout(Duration::ZERO, ask(eve, 9)).await.expect("no answer").unwrap_err();
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        let mut asked = ask(ada, 9);
        assert!(timeout(Duration::ZERO, &mut asked).await.is_err(), "there is a place left for others");
        let known = timeout(Duration::ZERO, ask(eve, 13)).await.expect("it is known");
        assert!(known.is_ok());
        drop(held);
        waiting.push(asked);
        assert!(join_all(waiting).await.iter().all(Result::is_ok));
    }
}
