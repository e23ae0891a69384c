//! The card of Infection.

use super::{Action, Event, Infection, InfectionView, built_ins, words};
use crate::{
    bot::BuiltIn,
    card::{Bound, Card},
    catalog::Listed,
    game::Move,
    names::Names,
    words::{Text, Told},
};
use alloc::{string::String, vec::Vec};

impl Listed for Infection {
    const CARD: Card = Card {
        rules: "\
How to win: zombies win when no human is left; a human wins as the only one left, or when time is up.
You are human, infected or a zombie; the infected are told that they are human. Meet at least one other player each turn.
  human + human      each gains an antibody, unless one takes a precaution
  human + infected   the human is infected, unless they take a precaution
  human + zombie     the human is infected, unless they take a precaution; viruses cancel antibodies
  zombie + zombie    each gains a virus
A precaution costs an antibody. So does the antidote, which makes an infected player human again.
After each turn the infected lose an antibody, and those who have none left become zombies.",
        hint: "view.question says whether you choose a partner of view.partners or answer one; an action is a contact, \
               an answer or an end, each with an optional commit and antidote.",
        open: false,
        opponents: &["careful", "spreader", "careful", "spreader", "random"],
        stand_in: "careful",
        line_up: &["careful", "spreader", "random", "careful:reserve=3", "spreader:dose=2"],
        blocks: 500,
        most_people: 30,
        options_for_people: &[("max_turns", "5"), ("start_antibodies", "2"), ("start_viruses", "1")],
        bounds_for_people: &[Bound { option: "max_turns", least: 1.0, most: 50.0 }],
        ..Card::new(
            "infection",
            "Infection",
            "A party game of hidden infection: a judge tells each player only what they may know.",
        )
    };

    fn built_ins() -> Vec<BuiltIn<Self>> {
        built_ins()
    }

    fn tell(event: &Event, names: &Names) -> Vec<Told> {
        words::tell(event, names)
    }

    fn situation(view: &InfectionView, names: &Names) -> Text {
        words::situation(view, names)
    }

    fn choice(_: &InfectionView, choice: &Move<Action>, names: &Names) -> Text {
        words::choice(choice, names)
    }

    fn label(_: &InfectionView, action: &Action, names: &Names) -> String {
        words::label(*action, names)
    }

    fn score(score: i64) -> String {
        words::score(score)
    }
}
