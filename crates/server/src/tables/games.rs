//! What each game adds to a table: who sees what, whom a person plays against, and how large a table may be.

use super::state::{Scene, SceneOf};
use necrodome_rules::{
    game::{Audience, Logged, Seat},
    infection::{Infection, InfectionRules},
    last_bullet::{self, LastBullet, LastBulletRules, WhoIs},
    options::Bounded,
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, Table},
};
use necrodome_solve::Explain;

/// A game that people play at a table of the server.
pub(crate) trait Seated:
    Explain<Rules: Send + Sync, Action: Send + Sync, View: Send + Sync, Event: Send + Sync> + Send + Sync
{
    /// Whether nothing is hidden: then everybody sees the board and whose turn it is.
    const OPEN: bool;
    /// Whom a person plays against when nobody is named.
    const OPPONENTS: &'static [&'static str];
    /// Who plays on for a person that has left, and for one that never came.
    const STAND_IN: &'static str;
    /// The most seats of a table.
    const MOST_SEATS: usize;
    /// Options that are set for a table of people, as they are written.
    const OPTIONS: &'static [(&'static str, &'static str)] = &[];

    /// What the referee shows, as a message.
    fn scene(scene: SceneOf<Self::View, Self::Event, Self::Action>) -> Scene;

    /// Whether a seat may hear of this.
    fn hears(seat: Seat, logged: &Logged<Self::Event>) -> bool {
        logged.audience.includes(seat)
    }

    /// Keeps a table small enough for everybody to have one, or says which option is too large.
    fn bound(_rules: &mut Self::Rules) -> Result<(), String> {
        Ok(())
    }
}

/// What everybody may hear of, also without a seat.
pub(crate) fn is_public<E>(logged: &Logged<E>) -> bool {
    logged.audience == Audience::Everyone
}

impl Seated for Table {
    const OPEN: bool = true;
    const OPPONENTS: &'static [&'static str] = &["cautious", "greedy"];
    const STAND_IN: &'static str = "cautious";
    const MOST_SEATS: usize = 12;

    fn scene(scene: SceneOf<Self::View, Self::Event, Self::Action>) -> Scene {
        Scene::ZombieDice(scene)
    }
}

impl Seated for Solo {
    const OPEN: bool = true;
    const OPPONENTS: &'static [&'static str] = &[];
    const STAND_IN: &'static str = "cautious";
    const MOST_SEATS: usize = 1;

    fn scene(scene: SceneOf<Self::View, Self::Event, Self::Action>) -> Scene {
        Scene::ZombieDiceSolo(scene)
    }
}

impl Seated for Race {
    const OPEN: bool = true;
    const OPPONENTS: &'static [&'static str] = &["optimal"];
    const STAND_IN: &'static str = "cautious";
    const MOST_SEATS: usize = 2;

    fn scene(scene: SceneOf<Self::View, Self::Event, Self::Action>) -> Scene {
        Scene::ZombieDiceRace(scene)
    }
}

impl Seated for Tokyo {
    const OPEN: bool = true;
    const OPPONENTS: &'static [&'static str] = &["angry", "point-hunter"];
    const STAND_IN: &'static str = "point-hunter";
    const MOST_SEATS: usize = 6;

    fn scene(scene: SceneOf<Self::View, Self::Event, Self::Action>) -> Scene {
        Scene::Tokyo(scene)
    }
}

/// A party that goes on longer than anybody at a table would.
const MOST_TURNS: u32 = 50;

impl Seated for Infection {
    const OPEN: bool = false;
    const OPPONENTS: &'static [&'static str] = &["careful", "spreader", "careful", "spreader", "random"];
    const STAND_IN: &'static str = "careful";
    const MOST_SEATS: usize = 30;
    const OPTIONS: &'static [(&'static str, &'static str)] =
        &[("max_turns", "5"), ("start_antibodies", "2"), ("start_viruses", "1")];

    fn scene(scene: SceneOf<Self::View, Self::Event, Self::Action>) -> Scene {
        Scene::Infection(scene)
    }

    fn bound(rules: &mut InfectionRules) -> Result<(), String> {
        match rules.max_turns.get() {
            turns if turns > MOST_TURNS => {
                Err(format!("max_turns: expected at most {MOST_TURNS} at a table, got {turns}"))
            }
            _ => Ok(()),
        }
    }
}

/// More would be a battle, not a table.
const MOST_COPIES: u32 = 20;
const LEAST_DENSITY: f64 = 0.005;
const MOST_CLOCK: u32 = 500;

impl Seated for LastBullet {
    const OPEN: bool = false;
    const OPPONENTS: &'static [&'static str] = &["gunner", "runner", "huddle"];
    const STAND_IN: &'static str = "runner";
    const MOST_SEATS: usize = 12;
    const OPTIONS: &'static [(&'static str, &'static str)] = &[("copies", "5"), ("max_turns", "150")];

    fn scene(scene: SceneOf<Self::View, Self::Event, Self::Action>) -> Scene {
        Scene::LastBullet(scene)
    }

    /// An entry knows the fate of its own survivors; all else is for the judge, or seen in the window.
    fn hears(seat: Seat, logged: &Logged<last_bullet::Event>) -> bool {
        use last_bullet::Event;
        match &logged.event {
            Event::Rose { replaced, .. } => replaced.is_some_and(|old| old.who == WhoIs::entry(seat)),
            Event::Killed { who, .. } => *who == WhoIs::entry(seat),
            Event::Bitten { seat: own, .. }
            | Event::Shot { seat: own, .. }
            | Event::Scavenged { seat: own, .. }
            | Event::EntryOut { seat: own, .. } => *own == seat,
        }
    }

    fn bound(rules: &mut LastBulletRules) -> Result<(), String> {
        if rules.copies.get() > MOST_COPIES {
            return Err(format!(
                "copies: expected at most {MOST_COPIES} at a table, got {}",
                rules.copies.get()
            ));
        }
        let density = f64::from(rules.density);
        if density < LEAST_DENSITY {
            return Err(format!("density: expected at least {LEAST_DENSITY} at a table, got {density}"));
        }
        // The last bot can live for a very long time, and nobody wants to wait for it.
        let turns = rules.max_turns.map_or(MOST_CLOCK, Bounded::get);
        rules.max_turns = Some(Bounded::try_from(turns.min(MOST_CLOCK))?);
        Ok(())
    }
}
