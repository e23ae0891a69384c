//! Guests play on the thread that runs the tournament, and count like any other entry.

use necrodome_arena::{
    entry::{EntryKind, EntrySpec},
    fault::Fault,
    guest::Invitation,
    lineup::built_in,
    player::{Answer, BuiltInPlayer, MatchStart, Player},
    tournament::{Format, Plan, PlannedEntry, Schedule, Stop, Store, TournamentError, report, run},
};
use necrodome_rules::{
    chance::Seeded,
    game::Outcome,
    tokyo::Tokyo,
    zombie_dice::{Action, Race, RaceRules, RaceView},
};
use std::{
    path::Path,
    sync::atomic::AtomicBool,
    thread::{self, ThreadId},
};

/// A built-in bot that comes as a guest, and stays on its thread.
struct Homebody {
    home: ThreadId,
    bot: BuiltInPlayer<Race>,
}

impl Player<Race> for Homebody {
    fn start(&mut self, _: &MatchStart) {
        assert_eq!(thread::current().id(), self.home);
    }

    fn hear(&mut self, _: &[&<Race as necrodome_rules::game::Game>::Event]) {}

    fn ask(&mut self, _: &RaceView) {}

    fn answer(&mut self, view: &RaceView) -> Answer<Action> {
        assert_eq!(thread::current().id(), self.home);
        self.bot.answer(view)
    }

    fn refused(&mut self, _: &str) {}

    fn end(&mut self, _: &Outcome) -> Vec<Fault> {
        Vec::new()
    }
}

fn entry(bot: &str) -> EntrySpec {
    EntrySpec::parse(bot, Path::new(".")).unwrap()
}

fn plan(blocks: u32) -> Plan {
    let entries = ["greedy", "cautious"].map(|bot| PlannedEntry::new(bot, bot)).into();
    Plan {
        options: serde_json::to_value(RaceRules::default()).unwrap(),
        ..Plan::new("zombie-dice-race", entries, Format::RoundRobin, 2, blocks, 7)
    }
}

fn play(plan: &Plan, second: EntrySpec, store: &mut Store) -> Result<Stop, TournamentError> {
    let entries = [entry("greedy"), second];
    run(plan, &entries, &"unused".into(), store, 3, &AtomicBool::new(false), &mut |_| {})
}

fn guest() -> EntrySpec {
    let home = thread::current().id();
    let come = move |_: &str, terms: &necrodome_arena::lineup::Terms<RaceRules>| {
        let bot = built_in::<Race>(&"cautious".parse().unwrap(), &terms.rules, Seeded::new(0, "bot", 0));
        Box::new(Homebody { home, bot: BuiltInPlayer(bot.unwrap()) }) as Box<dyn Player<Race>>
    };
    EntrySpec { kind: EntryKind::Guest(Invitation::new::<Race>(come)), ..entry("cautious") }
}

/// With replays and without, in one go and in two.
#[test]
fn a_tournament_with_a_guest_is_the_one_with_the_same_bot() {
    let text = |store: &Store, plan: &Plan| {
        serde_json::to_string(&report(plan, &Schedule::of(plan).unwrap(), store).unwrap()).unwrap()
    };
    let plan = plan(40);
    let mut expected = Store::in_memory(&plan).unwrap();
    assert_eq!(play(&plan, entry("cautious"), &mut expected).unwrap(), Stop::Done);
    let expected = text(&expected, &plan);
    for keeps_replays in [true, false] {
        let store = Store::in_memory(&plan).unwrap();
        let mut store = if keeps_replays { store } else { store.without_replays() };
        assert_eq!(play(&plan, guest(), &mut store).unwrap(), Stop::Done);
        assert_eq!(text(&store, &plan), expected);
        assert_eq!(store.replay(0, 1).unwrap().is_some(), keeps_replays);
    }
}

#[test]
fn a_guest_of_another_game_is_refused() {
    let plan = plan(2);
    let elsewhere = Invitation::new::<Tokyo>(|_, _| unreachable!("nobody plays Tokyo here"));
    let spec = EntrySpec { kind: EntryKind::Guest(elsewhere), ..entry("cautious") };
    let refused = play(&plan, spec, &mut Store::in_memory(&plan).unwrap()).unwrap_err().to_string();
    assert_eq!(refused, "cautious was invited to another game than zombie-dice-race");
}
