//! Positions that bots for Infection stumble over.

use super::{Setup, Trials};
use crate::protocol::MAX_LISTED;
use necrodome_rules::{
    game::Game,
    infection::{Identity, Infection, InfectionView, Question},
};

fn chooses(view: &InfectionView) -> bool {
    view.question == Question::Choose
}

fn is_zombie(view: &InfectionView) -> bool {
    view.told.identity == Identity::Zombie
}

pub(super) fn trials() -> Trials<Infection> {
    const RANDOM: &[&str] = &["random"];
    Trials {
        opponents: vec!["random", "careful", "spreader"],
        stamina: 30,
        patience: 100_000,
        setups: vec![
            Setup {
                seats: 5,
                set: "start_antibodies=2 start_viruses=1",
                matches: 3,
                positions: vec![
                    ("a human who chooses", RANDOM, |view| chooses(view) && !is_zombie(view)),
                    ("a human who is picked", RANDOM, |view| !chooses(view) && !is_zombie(view)),
                    ("a human without antibodies", RANDOM, |view| {
                        chooses(view) && !is_zombie(view) && view.told.stock == 0
                    }),
                    ("a zombie with viruses who chooses", RANDOM, |view| {
                        chooses(view) && is_zombie(view) && !view.has_met && view.known_viruses() > 0
                    }),
                    ("a zombie without viruses who is picked", RANDOM, |view| {
                        !chooses(view) && is_zombie(view) && view.known_viruses() == 0
                    }),
                    ("a zombie that has applied all its viruses", RANDOM, |view| {
                        is_zombie(view) && view.applied > 0 && view.known_viruses() == 0
                    }),
                ],
            },
            Setup {
                seats: 2,
                set: "",
                matches: 3,
                positions: vec![("nobody left to meet, so that the turn has to end", RANDOM, |view| {
                    chooses(view) && view.partners.is_empty()
                })],
            },
            Setup {
                seats: 12,
                set: "zombies=3 start_viruses=2 surplus_virus=lost",
                matches: 1,
                positions: vec![],
            },
            Setup {
                seats: 40,
                set: "zombies=20 start_viruses=30 max_turns=2",
                matches: 1,
                positions: vec![("more legal actions than are listed", RANDOM, |view| {
                    chooses(view) && Infection::few_legal_actions(view, MAX_LISTED).is_none()
                })],
            },
            Setup {
                seats: 3,
                set: "zombies=0 max_turns=2",
                matches: 2,
                positions: vec![("the last turn", RANDOM, |view| view.public.turns + 1 == view.max_turns)],
            },
        ],
    }
}
