//! The card of Last Bullet.

use super::{Action, Direction, Event, LastBullet, LastBulletView, Order, built_ins, words};
use crate::{
    bot::BuiltIn,
    card::{Bound, Card, Format},
    catalog::Listed,
    game::Move,
    names::Names,
    words::{Text, Told},
};
use alloc::{string::String, vec, vec::Vec};

impl Listed for LastBullet {
    const CARD: Card = Card {
        rules: "\
How to win: outlive everybody else. Your score is the last clock at which one of your survivors lived.
The board wraps around. You see 8 squares far; a gun reaches 5.
Each turn a zombie rises somewhere, and zombies bite everybody next to them.
Then all decide at once: step in one of eight directions, shoot, or stay.
Zombies walk toward the nearest living player that they see.
A shot kills its target. Stand next to a corpse to take its bullets.
Two who want the same square both stay where they are.
You steer one survivor (@). Your others (o) stay where they are: they are your spare lives.",
        hint: "view.copies has your living copies, each with its bullets and whom it sees as [dx, dy, who, number]; an \
               action is {\"orders\": [...]}, at most one move or shoot for each copy.",
        open: false,
        opponents: &["gunner", "runner", "huddle"],
        stand_in: "runner",
        line_up: &["gunner", "runner", "huddle", "wander", "stand-still"],
        format: Format::Battle,
        blocks: 20,
        line_limit: 4 << 20,
        // A few lives, and a board that can be crossed. More would be a battle, not a table.
        options_for_people: &[("copies", "5"), ("max_turns", "150")],
        bounds_for_people: &[
            Bound { option: "copies", least: 1.0, most: 20.0 },
            Bound { option: "density", least: 0.005, most: 1.0 },
            // The last bot can live for a very long time, and nobody wants to wait for it.
            Bound { option: "max_turns", least: 1.0, most: 500.0 },
        ],
        ..Card::new(
            "last-bullet",
            "Last Bullet",
            "King of the hill on a torus: hundreds of survivors, rising zombies, three bullets.",
        )
    };

    fn built_ins() -> Vec<BuiltIn<Self>> {
        built_ins()
    }

    fn example(view: &LastBulletView) -> Option<Action> {
        let copy = view.copies.first()?.number;
        Some(Action { orders: vec![Order::Move { copy, direction: Direction::North }] })
    }

    fn tell(event: &Event, names: &Names) -> Vec<Told> {
        words::tell(event, names)
    }

    fn situation(view: &LastBulletView, _: &Names) -> Text {
        words::situation(view)
    }

    fn choice(_: &LastBulletView, choice: &Move<Action>, _: &Names) -> Text {
        words::choice(choice)
    }

    fn score(score: i64) -> String {
        words::score(score)
    }
}
