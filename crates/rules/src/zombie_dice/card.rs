//! The cards of the formats of Zombie Dice.

use super::{Action, Event, Race, RaceView, Solo, SoloView, Table, TableView, built_ins, words};
use crate::{
    bot::BuiltIn,
    card::{Card, Format},
    catalog::Listed,
    game::Move,
    names::Names,
    words::{Text, Told},
};
use alloc::{format, string::String, vec::Vec};

/// Joins the winning condition and the rules of a turn.
macro_rules! rules {
    ($wins:literal) => {
        concat!(
            "How to win: ",
            $wins,
            "
You are a zombie, the dice are people: 6 green (easy), 4 yellow, 3 red (hard).
Roll: you roll three dice, first those that showed footsteps, then new ones from the cup.
Brains and shotguns are set aside. Three shotguns end the turn, and you bank nothing.
Stop: you bank one point for each brain of the turn.
  green   3 brains  2 footsteps  1 shotgun
  yellow  2 brains  2 footsteps  2 shotguns
  red     1 brain   2 footsteps  3 shotguns"
        )
    };
}

/// Makes a card with what all formats share.
const fn card(id: &'static str, title: &'static str, about: &'static str) -> Card {
    Card {
        document: "zombie-dice",
        hint: "view.turn has your brains, shotguns, hand and what is left in the cup; an action is \
               {\"type\": \"go\"} or {\"type\": \"stop\"}.",
        stand_in: "cautious",
        line_up: &["greedy", "cautious", "random", "patient=stop-at:brains=5,shotguns=2"],
        ..Card::new(id, title, about)
    }
}

impl Listed for Table {
    const CARD: Card = Card {
        rules: rules!(
            "bank the most brains. Once somebody has 13, the others finish the round; those tied for the lead play \
             another one."
        ),
        opponents: &["cautious", "greedy"],
        ..card(
            "zombie-dice",
            "Zombie Dice",
            "Push your luck at a table of many: once somebody has 13 brains, the most brains win.",
        )
    };

    fn built_ins() -> Vec<BuiltIn<Self>> {
        built_ins()
    }

    fn tell(event: &Event, names: &Names) -> Vec<Told> {
        words::tell(event, names)
    }

    fn situation(view: &TableView, _: &Names) -> Text {
        let own = view.scores[view.seat.index()];
        let others = view.scores.iter().enumerate().filter(|(seat, _)| *seat != view.seat.index());
        let best = others.map(|(_, &score)| score).max().unwrap_or(0);
        let round = if view.tiebreak { "tiebreak, " } else { "" };
        let turn = if view.played == 0 { "first in the round, " } else { "" };
        format!("{round}{turn}{own} to {best} banked, {}", words::turn(&view.turn)).into()
    }

    fn choice(_: &TableView, choice: &Move<Action>, _: &Names) -> Text {
        words::choice(choice)
    }

    fn label(view: &TableView, action: &Action, _: &Names) -> String {
        words::label(&view.turn, *action)
    }

    fn key(_: &TableView, action: &Action) -> Option<char> {
        Some(words::key(*action))
    }

    fn score(score: i64) -> String {
        words::score(score)
    }
}

impl Listed for Solo {
    const CARD: Card = Card {
        rules: rules!("you have one turn. Bank as many brains as you can."),
        format: Format::RoundRobin,
        most_people: 1,
        ..card(
            "zombie-dice-solo",
            "Zombie Dice, solo",
            "One turn of Zombie Dice as a decision problem: bank as many brains as you can.",
        )
    };

    fn built_ins() -> Vec<BuiltIn<Self>> {
        built_ins()
    }

    fn tell(event: &Event, names: &Names) -> Vec<Told> {
        words::tell(event, names)
    }

    fn situation(view: &SoloView, _: &Names) -> Text {
        words::turn(&view.turn).into()
    }

    fn choice(_: &SoloView, choice: &Move<Action>, _: &Names) -> Text {
        words::choice(choice)
    }

    fn label(view: &SoloView, action: &Action, _: &Names) -> String {
        words::label(&view.turn, *action)
    }

    fn key(_: &SoloView, action: &Action) -> Option<char> {
        Some(words::key(*action))
    }

    fn score(score: i64) -> String {
        words::score(score)
    }
}

impl Listed for Race {
    const CARD: Card = Card {
        rules: rules!("be the first to bank 13 brains."),
        opponents: &["cautious"],
        format: Format::RoundRobin,
        most_people: 2,
        ..card(
            "zombie-dice-race",
            "Zombie Dice, race",
            "Two players take turns: the first to bank 13 brains wins at once.",
        )
    };

    fn built_ins() -> Vec<BuiltIn<Self>> {
        built_ins()
    }

    fn tell(event: &Event, names: &Names) -> Vec<Told> {
        words::tell(event, names)
    }

    fn situation(view: &RaceView, _: &Names) -> Text {
        format!("{} to {} banked, {}", view.score, view.opponent_score, words::turn(&view.turn)).into()
    }

    fn choice(_: &RaceView, choice: &Move<Action>, _: &Names) -> Text {
        words::choice(choice)
    }

    fn label(view: &RaceView, action: &Action, _: &Names) -> String {
        words::label(&view.turn, *action)
    }

    fn key(_: &RaceView, action: &Action) -> Option<char> {
        Some(words::key(*action))
    }

    fn score(score: i64) -> String {
        words::score(score)
    }
}
