//! One playthrough of each game, decision by decision, in a file that a person can read.
//!
//! A change in these files is a change of the rules, of a bot, or of the JSON that bots speak. Update them only on
//! purpose: `INSTA_UPDATE=always cargo test -p necrodome-rules golden`, then read the difference.

use necrodome_rules::{
    bot::{Bot, BotSpec},
    catalog::Listed,
    chance::{Recorder, Seeded},
    game::{Audience, Logged, Seat},
    infection::Infection,
    last_bullet::LastBullet,
    names::Names,
    options::{parse, split_pair},
    play::decide,
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, Table},
};
use serde::Serialize;
use std::fmt::Write;

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn playthrough<G: Listed>(seed: u64, bots: &[&str], settings: &[&str]) -> String {
    let settings: Vec<_> = settings.iter().map(|pair| split_pair(pair).unwrap()).collect();
    let rules: G::Rules = parse(&settings).unwrap();
    let names = Names::new(bots.iter().enumerate().map(|(seat, bot)| format!("{bot} {seat}"))).unwrap();
    let built_ins = G::built_ins();
    let build = |(seat, bot): (usize, &&str)| -> Box<dyn Bot<G>> {
        let spec: BotSpec = bot.parse().unwrap();
        let built_in = built_ins.iter().find(|built_in| built_in.name == spec.name).unwrap();
        built_in.build(&spec, Seeded::new(seed, "bot", seat as u64)).unwrap()
    };
    let mut players: Vec<_> = bots.iter().enumerate().map(build).collect();

    let mut text = String::new();
    writeln!(text, "game   {} (seed {seed})\nrules  {}\nnames  {}", G::ID, json(&rules), json(&names))
        .unwrap();
    let mut chance = Recorder::new(Seeded::new(seed, "match", 0));
    let (mut log, mut told) = (Vec::new(), 0);
    let mut game = G::new(&names, &rules, &mut chance, &mut log).unwrap();
    let mut views: Vec<_> = Seat::all(bots.len()).iter().map(|&seat| game.view(seat)).collect();
    let mut moves = Vec::new();
    for decision in 1.. {
        writeln!(text, "picks  {}", json(&&chance.picks()[told..])).unwrap();
        told = chance.picks().len();
        log.drain(..).for_each(|logged| event(&mut text, &logged));
        if let Some(outcome) = game.outcome() {
            writeln!(text, "\nend    {}", json(&outcome)).unwrap();
            return text;
        }
        decide(&game, &mut players, &mut views, &mut moves);
        for (&seat, choice) in game.to_act().iter().zip(&moves) {
            writeln!(text, "\ndecision {decision}, seat {seat}").unwrap();
            writeln!(text, "view   {}\nmove   {}", json(&views[seat.index()]), json(choice)).unwrap();
        }
        game.apply(&moves, &mut chance, &mut log).unwrap();
    }
    text
}

fn event<E: Serialize>(text: &mut String, logged: &Logged<E>) {
    let audience = match &logged.audience {
        Audience::Everyone => "to all".to_owned(),
        Audience::Seat(seat) => format!("to {seat}"),
        Audience::Pair(one, other) => format!("to {one}, {other}"),
        Audience::Seats(seats) => {
            let seats: Vec<String> = seats.iter().map(ToString::to_string).collect();
            format!("to {}", if seats.is_empty() { "nobody".to_owned() } else { seats.join(" ") })
        }
        Audience::Judge => "judge".to_owned(),
    };
    writeln!(text, "{audience:<6} {}", json(&logged.event)).unwrap();
}

#[test]
fn zombie_dice() {
    insta::assert_snapshot!(playthrough::<Table>(4, &["greedy", "cautious", "random"], &[]));
}

#[test]
fn zombie_dice_solo() {
    insta::assert_snapshot!(playthrough::<Solo>(2, &["stop-at:brains=4"], &["out_of_dice=recycle_brains"]));
}

#[test]
fn zombie_dice_race() {
    insta::assert_snapshot!(playthrough::<Race>(1, &["greedy", "stop-at:brains=3,shotguns=2"], &[]));
}

#[test]
fn last_bullet() {
    let bots = ["gunner", "runner", "huddle", "wander"];
    insta::assert_snapshot!(playthrough::<LastBullet>(1, &bots, &["copies=3", "max_turns=12"]));
}

#[test]
fn infection() {
    let bots = ["careful", "spreader", "random", "careful", "spreader", "random"];
    let settings = ["zombies=2", "start_antibodies=3", "start_viruses=2", "max_turns=3"];
    insta::assert_snapshot!(playthrough::<Infection>(1, &bots, &settings));
}

#[test]
fn tokyo() {
    insta::assert_snapshot!(playthrough::<Tokyo>(1, &["angry", "point-hunter", "random"], &[]));
}
