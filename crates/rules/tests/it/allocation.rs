//! Built-in line-ups of the dice games play without allocating once a match has begun, and lists of actions that are too
//! long to show are never built.

use necrodome_rules::{
    bot::{Bot, BotSpec},
    catalog::Listed,
    chance::Seeded,
    game::{Game, Move, Seat, Silent},
    infection::Infection,
    names::Names,
    play::decide,
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, Table},
};

/// Plays matches, and counts decisions and the allocations made between the first decision and the last.
fn measure<G: Listed>(bots: &[&str]) -> (u64, u64) {
    let names = Names::new((0..bots.len()).map(|seat| format!("bot {seat}"))).unwrap();
    let built_ins = G::built_ins();
    let build = |bot: &&str| -> Box<dyn Bot<G>> {
        let spec: BotSpec = bot.parse().unwrap();
        let built_in = built_ins.iter().find(|built_in| built_in.name == spec.name).unwrap();
        built_in.build(&spec, Seeded::new(1, "bot", 0)).unwrap()
    };
    let mut players: Vec<_> = bots.iter().map(build).collect();
    let mut moves: Vec<Move<G::Action>> = Vec::with_capacity(bots.len());
    let (mut decisions, mut allocations) = (0, 0);
    for seed in 0..50 {
        let mut chance = Seeded::new(seed, "match", 0);
        let mut game = G::new(&names, &G::Rules::default(), &mut chance, &mut Silent).unwrap();
        let mut views: Vec<_> = Seat::all(bots.len()).iter().map(|&seat| game.view(seat)).collect();
        let during = allocation_counter::measure(|| {
            while !game.to_act().is_empty() {
                decide(&game, &mut players, &mut views, &mut moves);
                game.apply(&moves, &mut chance, &mut Silent).unwrap();
                decisions += 1;
            }
        });
        allocations += during.count_total;
    }
    (decisions, allocations)
}

#[test]
fn a_decision_in_a_dice_game_allocates_nothing() {
    for (game, (decisions, allocations)) in [
        ("solo", measure::<Solo>(&["greedy"])),
        ("race", measure::<Race>(&["greedy", "cautious"])),
        ("tokyo", measure::<Tokyo>(&["angry", "point-hunter", "random", "angry"])),
    ] {
        assert!(decisions > 100, "{game}: {decisions} decisions");
        assert_eq!(allocations, 0, "{game}: in {decisions} decisions");
    }
}

/// A tiebreak names the tied seats in an event, which is the one allocation of a table game.
#[test]
fn a_decision_at_the_table_allocates_nothing() {
    let (decisions, allocations) = measure::<Table>(&["greedy", "cautious", "stop-at:brains=3"]);
    assert!(decisions > 1000, "{decisions} decisions");
    assert!(allocations < 20, "{allocations} allocations in {decisions} decisions of 50 matches");
}

/// In a large party a zombie with many viruses has hundreds of thousands of actions.
#[test]
fn a_list_of_actions_that_is_too_long_is_not_built() {
    const MOST: usize = 256;
    let settings = [("zombies", "399"), ("start_viruses", "1000")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let rules = necrodome_rules::options::parse(&settings).unwrap();
    let names = Names::new((0..400).map(|seat| format!("player {seat}"))).unwrap();
    let game = Infection::new(&names, &rules, &mut Seeded::new(1, "match", 0), &mut Silent).unwrap();
    let view = game.view(game.to_act()[0]);
    let all = Infection::legal_actions(&view).unwrap().count();
    assert!(all > 100_000, "{all} actions");
    let during = allocation_counter::measure(|| assert_eq!(Infection::few_legal_actions(&view, MOST), None));
    // A vector that grows to its size takes up to four times as much.
    let most = 4 * (MOST + 1) * size_of::<<Infection as Game>::Action>();
    assert!(during.bytes_total <= most as u64, "{} bytes, where {most} are enough", during.bytes_total);
    let few = Infection::few_legal_actions(&view, all).unwrap();
    assert!(few.into_iter().eq(Infection::legal_actions(&view).unwrap()));
}
