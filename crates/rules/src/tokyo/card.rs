//! The card of Tokyo.

use super::{Action, Event, Tokyo, TokyoView, built_ins, words};
use crate::{
    bot::BuiltIn,
    card::Card,
    catalog::Listed,
    game::Move,
    names::Names,
    words::{Text, Told},
};
use alloc::{string::String, vec::Vec};

impl Listed for Tokyo {
    const CARD: Card = Card {
        rules: "\
How to win: be the first monster with 20 points, or the last one standing.
Roll six dice; then, up to twice, keep some and roll the others again.
  1 2 3    three alike are worth their number, each further one a point more
  attack   in Tokyo you hit everyone outside, outside you hit the monster in Tokyo
  heal     1 health each, up to 10, outside Tokyo only
A monster that is hit in Tokyo may leave it. If Tokyo is empty at the end of your turn, you enter it: 1 point.
If you start a turn in Tokyo: 2 points.",
        hint: "view.phase says whether you are rolling or asked to leave Tokyo; an action is \
               {\"type\": \"keep\", \"dice\": [six times true or false]}, {\"type\": \"yield\"} or {\"type\": \"stay\"}.",
        opponents: &["angry", "point-hunter"],
        stand_in: "point-hunter",
        line_up: &["angry", "point-hunter", "random"],
        most_people: 6,
        ..Card::new(
            "tokyo",
            "Tokyo",
            "Monsters, six dice, keep and reroll: 20 points or the last one standing wins.",
        )
    };

    fn built_ins() -> Vec<BuiltIn<Self>> {
        built_ins()
    }

    fn tell(event: &Event, names: &Names) -> Vec<Told> {
        words::tell(event, names)
    }

    fn situation(view: &TokyoView, _: &Names) -> Text {
        words::situation(view)
    }

    fn choice(view: &TokyoView, choice: &Move<Action>, _: &Names) -> Text {
        words::choice(view, choice)
    }

    fn label(view: &TokyoView, action: &Action, _: &Names) -> String {
        words::label(view, action)
    }

    fn key(_: &TokyoView, action: &Action) -> Option<char> {
        words::key(action)
    }
}
