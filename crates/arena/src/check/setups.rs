//! What each game has in store: numbers of seats, options, and positions that bots stumble over.

use crate::protocol::MAX_LISTED;
use necrodome_rules::{
    game::Game,
    infection::{Identity, Infection, InfectionView, Question},
    last_bullet::{CopyView, LastBullet, LastBulletView, WhoIs},
    tokyo::{Phase, Tokyo, TokyoView},
    zombie_dice::{Race, Solo, Table, TurnView},
};
use necrodome_solve::Solvable;

/// Whether a view is one that was looked for.
pub type Wanted<G> = fn(&<G as Game>::View) -> bool;

/// A kind of match to be played, and what is to be seen in it.
pub struct Setup<G: Game> {
    /// How many seats.
    pub seats: usize,
    /// Options of the rules, `name=value`, with spaces between.
    pub set: &'static str,
    /// How many matches are played for each seat that is tried.
    pub matches: usize,
    /// Positions to be shown: what they are, which built-in bots get there, and how they are known.
    pub positions: Vec<(&'static str, &'static [&'static str], Wanted<G>)>,
}

/// A game with a gauntlet for its bots.
pub trait Gauntlet: Solvable {
    /// Whom the bot plays against. The first one's answers are shown as examples.
    const OPPONENTS: &'static [&'static str];
    /// Matches that one process has to last.
    const STAMINA: usize;
    /// Steps to look for a position.
    const PATIENCE: usize;

    /// What to play. The first is the one that the protocol is checked with.
    fn setups() -> Vec<Setup<Self>>;
}

/// Bots that go on as long as they can, so that cups run empty.
const BOLD: &[&str] = &["stop-at:brains=13,shotguns=3"];

fn nearly_empty_cup(turn: &TurnView) -> bool {
    turn.cup.total() <= 1
}

/// More brains than dice that show them.
fn recycled(turn: &TurnView) -> bool {
    turn.brains > u32::from(turn.brain_dice.total())
}

fn no_roll_yet(turn: &TurnView) -> bool {
    turn.hand.is_none()
}

fn two_shotguns(turn: &TurnView) -> bool {
    turn.shotguns == 2 && turn.brains >= 6
}

impl Gauntlet for Solo {
    const OPPONENTS: &'static [&'static str] = &["greedy", "cautious", "random"];
    const STAMINA: usize = 300;
    const PATIENCE: usize = 1_000_000;

    fn setups() -> Vec<Setup<Self>> {
        vec![
            Setup {
                seats: 1,
                set: "",
                matches: 40,
                positions: vec![
                    ("before the first roll", BOLD, |view| no_roll_yet(&view.turn)),
                    ("a nearly empty cup", BOLD, |view| nearly_empty_cup(&view.turn)),
                    ("two shotguns and six brains", BOLD, |view| two_shotguns(&view.turn)),
                ],
            },
            Setup {
                seats: 1,
                set: "out_of_dice=recycle_brains first_roll=mandatory",
                matches: 40,
                positions: vec![("brains that went back into the cup", BOLD, |view| recycled(&view.turn))],
            },
        ]
    }
}

impl Gauntlet for Race {
    const OPPONENTS: &'static [&'static str] = &["greedy", "cautious", "random"];
    const STAMINA: usize = 100;
    const PATIENCE: usize = 1_000_000;

    fn setups() -> Vec<Setup<Self>> {
        vec![
            Setup {
                seats: 2,
                set: "",
                matches: 10,
                positions: vec![
                    ("before the first roll", BOLD, |view| no_roll_yet(&view.turn)),
                    ("a nearly empty cup", BOLD, |view| nearly_empty_cup(&view.turn)),
                    ("far behind", &["greedy"], |view| view.score == 0 && view.opponent_score == 12),
                    ("both need one more", &["greedy"], |view| view.score == 12 && view.opponent_score == 12),
                ],
            },
            Setup {
                seats: 2,
                set: "out_of_dice=recycle_brains first_roll=mandatory max_rounds=5",
                matches: 10,
                positions: vec![("brains that went back into the cup", BOLD, |view| recycled(&view.turn))],
            },
        ]
    }
}

impl Gauntlet for Table {
    const OPPONENTS: &'static [&'static str] = &["greedy", "cautious", "random"];
    const STAMINA: usize = 50;
    const PATIENCE: usize = 1_000_000;

    fn setups() -> Vec<Setup<Self>> {
        vec![
            Setup {
                seats: 2,
                set: "",
                matches: 8,
                positions: vec![
                    ("a nearly empty cup", BOLD, |view| nearly_empty_cup(&view.turn)),
                    ("two shotguns and six brains", BOLD, |view| two_shotguns(&view.turn)),
                ],
            },
            Setup {
                seats: 5,
                set: "tiebreak=until_broken first_roll=free",
                matches: 4,
                positions: vec![
                    ("before the first roll", BOLD, |view| no_roll_yet(&view.turn)),
                    ("a tiebreak", &["greedy"], |view| view.tiebreak),
                    ("the last turn of the last round", &["greedy"], |view| {
                        !view.tiebreak && view.played == 4 && view.scores.iter().any(|&score| score >= 13)
                    }),
                ],
            },
            Setup {
                seats: 99,
                set: "out_of_dice=recycle_brains max_rounds=4",
                matches: 2,
                positions: vec![
                    ("a table of 99", &["greedy"], |view| view.played == 98),
                    ("brains that went back into the cup", BOLD, |view| recycled(&view.turn)),
                ],
            },
        ]
    }
}

/// The health of the monster that is asked.
fn health(view: &TokyoView) -> u8 {
    view.monsters[view.seat.index()].health
}

fn yielding(view: &TokyoView) -> bool {
    matches!(view.phase, Phase::Yielding { .. })
}

impl Gauntlet for Tokyo {
    const OPPONENTS: &'static [&'static str] = &["angry", "point-hunter", "random"];
    const STAMINA: usize = 30;
    const PATIENCE: usize = 500_000;

    fn setups() -> Vec<Setup<Self>> {
        vec![
            Setup {
                seats: 2,
                set: "",
                matches: 5,
                positions: vec![
                    ("nobody in Tokyo", &["angry"], |view| view.in_tokyo.is_none()),
                    ("hit in Tokyo, with 1 health left", &["angry"], |view| {
                        yielding(view) && health(view) == 1
                    }),
                    ("one point short of the goal", &["point-hunter"], |view| {
                        view.monsters[view.seat.index()].points == 19
                    }),
                ],
            },
            Setup { seats: 4, set: "max_turns=9", matches: 3, positions: vec![] },
            Setup {
                seats: 6,
                set: "",
                matches: 2,
                positions: vec![
                    ("six monsters, the last reroll", &["angry", "random"], |view| {
                        view.phase == Phase::Rolling { rerolls_left: 1 }
                    }),
                    ("six monsters, hit in Tokyo", &["angry", "random"], yielding),
                    ("all but two monsters out", &["angry"], |view| {
                        view.monsters.iter().filter(|monster| monster.is_alive()).count() == 2
                    }),
                ],
            },
        ]
    }
}

/// Somebody in sight who is beyond the edge of the board, so that the window wraps.
fn sees_around_the_edge(copy: &CopyView, side: u16) -> bool {
    let inside = |place: u16, step: i8| (0..i32::from(side)).contains(&(i32::from(place) + i32::from(step)));
    copy.seen.iter().any(|seen| !inside(copy.x, seen.dx) || !inside(copy.y, seen.dy))
}

fn any_copy(view: &LastBulletView, wanted: impl Fn(&CopyView) -> bool) -> bool {
    view.copies.iter().any(wanted)
}

impl Gauntlet for LastBullet {
    const OPPONENTS: &'static [&'static str] = &["wander", "gunner", "runner", "huddle"];
    const STAMINA: usize = 20;
    const PATIENCE: usize = 5_000;

    fn setups() -> Vec<Setup<Self>> {
        const SHOOTERS: &[&str] = &["gunner", "huddle"];
        vec![
            Setup {
                seats: 3,
                set: "copies=5 max_turns=80",
                matches: 2,
                positions: vec![
                    ("a corpse next to a copy", SHOOTERS, |view| {
                        any_copy(view, |copy| {
                            copy.seen.iter().any(|seen| seen.who == WhoIs::CORPSE && seen.distance() == 1)
                        })
                    }),
                    ("a zombie close by, and no bullets", SHOOTERS, |view| {
                        any_copy(view, |copy| {
                            copy.bullets == 0
                                && copy
                                    .seen
                                    .iter()
                                    .any(|seen| seen.who == WhoIs::ZOMBIE && seen.distance() <= 3)
                        })
                    }),
                    ("a window that wraps around the edge", SHOOTERS, |view| {
                        any_copy(view, |copy| sees_around_the_edge(copy, view.side))
                    }),
                    ("one copy left", SHOOTERS, |view| view.copies.len() == 1),
                ],
            },
            Setup {
                seats: 1,
                set: "copies=1 max_turns=200",
                matches: 4,
                positions: vec![("a board no larger than the window", SHOOTERS, |view| view.side == 17)],
            },
            Setup {
                seats: 4,
                set: "copies=50 max_turns=25",
                matches: 1,
                positions: vec![
                    ("fifty copies", SHOOTERS, |view| view.copies.len() == 50),
                    ("more than twenty in sight", SHOOTERS, |view| {
                        any_copy(view, |copy| copy.seen.len() > 20)
                    }),
                ],
            },
            Setup {
                seats: 2,
                set: "copies=2 density=0.0005 max_turns=60",
                matches: 2,
                positions: vec![("nobody in sight", SHOOTERS, |view| {
                    view.copies.iter().all(|copy| copy.seen.is_empty())
                })],
            },
            Setup { seats: 20, set: "copies=10 density=0.25 max_turns=10", matches: 1, positions: vec![] },
        ]
    }
}

fn chooses(view: &InfectionView) -> bool {
    view.question == Question::Choose
}

fn is_zombie(view: &InfectionView) -> bool {
    view.told.identity == Identity::Zombie
}

impl Gauntlet for Infection {
    const OPPONENTS: &'static [&'static str] = &["random", "careful", "spreader"];
    const STAMINA: usize = 30;
    const PATIENCE: usize = 100_000;

    fn setups() -> Vec<Setup<Self>> {
        const RANDOM: &[&str] = &["random"];
        vec![
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
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{names, positions::hunt, rules_with};
    use necrodome_rules::{catalog::GameId, with_game};

    /// Every position comes up with the game's own options, and a built-in bot's answer to it is legal.
    fn positions_exist<G: Gauntlet>() {
        for setup in G::setups() {
            let rules = rules_with::<G>(setup.set, &[]).unwrap();
            let names = names("me", setup.seats).unwrap();
            for (what, bots, wanted) in setup.positions {
                let position = hunt::<G>(&names, &rules, bots, wanted);
                let position = position.unwrap_or_else(|| panic!("{}: {what}", G::ID));
                assert_eq!(&position.names[position.seat], "me", "{}: {what}", G::ID);
                assert!(wanted(&position.view), "{}: {what}", G::ID);
                let mut bots = crate::check::positions::line_up::<G>(G::OPPONENTS, 1, 0).unwrap();
                position.judge(&bots[0].act(&position.view)).unwrap();
            }
        }
    }

    #[test]
    fn all_positions_come_up() {
        for id in GameId::ALL {
            with_game!(id, G => positions_exist::<G>());
        }
    }
}
