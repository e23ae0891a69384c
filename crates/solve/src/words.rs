//! Positions, choices and habits in words, and what else is known only game by game.

use crate::{
    exact::{Asked, ExactRace, ExactSolo, Inexact, RaceProfile, solo},
    solution::Solvable,
};
use necrodome_rules::{
    game::Move,
    infection::Infection,
    last_bullet::LastBullet,
    tokyo::{self, Face, Phase, Tokyo, TokyoView},
    zombie_dice::{
        self, Action, Colour, Counts, Event, GOAL, Race, RaceRules, RaceView, Solo, SoloRules, SoloView,
        Table, TableView, TurnView,
    },
};
use serde::Serialize;

/// A game whose decisions can be explained. The games that are not solved have nothing to say.
pub trait Explain: Solvable {
    /// What a player sees, in a few words.
    fn situation(_view: &Self::View) -> String {
        String::new()
    }

    /// A choice, as what the player does: `rolls`, `keeps attack attack`.
    fn choice(_view: &Self::View, _choice: &Move<Self::Action>) -> String {
        String::new()
    }

    /// What was rolled.
    fn roll(_event: &Self::Event) -> String {
        String::new()
    }

    /// The kind of decision: few, so that each comes up often.
    fn kind(_view: &Self::View) -> String {
        String::new()
    }

    /// What was done where something else was best, without what does not make it a habit.
    fn habit(_view: &Self::View, _choice: &Move<Self::Action>, _best: &Self::Action) -> String {
        String::new()
    }

    /// What a bot is worth exactly, alone or against another; none where that is not worked out. `progress` hears which share of
    /// the questions is asked.
    fn exact(
        _rules: &Self::Rules,
        _bot: &mut dyn Asked<Self>,
        _against: Option<&mut dyn Asked<Self>>,
        _progress: &mut dyn FnMut(f64),
    ) -> Option<Result<Exact, Inexact>> {
        None
    }
}

/// What a bot is worth exactly.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Exact {
    /// In solo.
    Solo(ExactSolo),
    /// In the race.
    Race(ExactRace),
}

impl Explain for LastBullet {}

impl Explain for Infection {}

fn count(number: u32, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// `green green red`.
fn colours(counts: Counts) -> String {
    let dice = Colour::ALL.into_iter().flat_map(|c| std::iter::repeat_n(colour(c), counts[c].into()));
    dice.collect::<Vec<_>>().join(" ")
}

fn colour(colour: Colour) -> &'static str {
    match colour {
        Colour::Green => "green",
        Colour::Yellow => "yellow",
        Colour::Red => "red",
    }
}

/// The dice of a turn: `3 brains, 2 shotguns, feet green green`.
pub fn turn(turn: &TurnView) -> String {
    if turn.hand.is_none() {
        return "nothing rolled yet".to_owned();
    }
    let text = format!("{}, {}", count(turn.brains, "brain"), count(turn.shotguns.into(), "shotgun"));
    match turn.footsteps() {
        feet if feet.total() == 0 => text,
        feet => format!("{text}, feet {}", colours(feet)),
    }
}

/// `green brain, red shotgun, red shotgun`.
fn dice_roll(event: &Event) -> String {
    let Event::Rolled { hand, .. } = event else { return String::new() };
    let face = |face: zombie_dice::Face| match face {
        zombie_dice::Face::Brain => "brain",
        zombie_dice::Face::Footsteps => "feet",
        zombie_dice::Face::Shotgun => "shotgun",
    };
    hand.map(|die| format!("{} {}", colour(die.colour), face(die.face))).join(", ")
}

fn dice_choice(choice: &Move<Action>) -> &'static str {
    match choice {
        Move::Act(Action::Go) => "rolls",
        Move::Act(Action::Stop) => "stops",
        Move::Forfeit => "gives no valid answer and loses the turn",
    }
}

fn shotguns(turn: &TurnView) -> String {
    match turn.hand {
        None => "before the first roll".to_owned(),
        Some(_) => format!("with {}", count(turn.shotguns.into(), "shotgun")),
    }
}

fn dice_habit(view: &TurnView, choice: &Move<Action>) -> String {
    format!("with {} it {}", turn(view), dice_choice(choice))
}

macro_rules! dice_words {
    (|$view:ident: $type:ty| $scores:expr) => {
        fn situation($view: &$type) -> String {
            format!("{}{}", $scores, turn(&$view.turn))
        }

        fn choice(_: &$type, choice: &Move<Action>) -> String {
            dice_choice(choice).to_owned()
        }

        fn roll(event: &Event) -> String {
            dice_roll(event)
        }

        fn habit(view: &$type, choice: &Move<Action>, _: &Action) -> String {
            dice_habit(&view.turn, choice)
        }
    };
}

impl Explain for Solo {
    dice_words!(|view: SoloView| "");

    fn kind(view: &SoloView) -> String {
        shotguns(&view.turn)
    }

    fn exact(
        rules: &SoloRules,
        bot: &mut dyn Asked<Solo>,
        _: Option<&mut dyn Asked<Solo>>,
        progress: &mut dyn FnMut(f64),
    ) -> Option<Result<Exact, Inexact>> {
        Some(solo(rules, bot, progress).map(Exact::Solo))
    }
}

impl Explain for Race {
    dice_words!(|view: RaceView| format!("{} to {} banked, ", view.score, view.opponent_score));

    fn kind(view: &RaceView) -> String {
        shotguns(&view.turn)
    }

    fn exact(
        rules: &RaceRules,
        bot: &mut dyn Asked<Race>,
        against: Option<&mut dyn Asked<Race>>,
        progress: &mut dyn FnMut(f64),
    ) -> Option<Result<Exact, Inexact>> {
        let bots = if against.is_some() { 2.0 } else { 1.0 };
        let solution = match Race::solve(rules, 2) {
            Ok(solution) => solution,
            Err(_) => return None,
        };
        let ask = || {
            let own = RaceProfile::ask(rules, bot, |share| progress(share / bots))?;
            let other = match against {
                Some(other) => {
                    let asked = RaceProfile::ask(rules, other, |share| progress((1.0 + share) / bots));
                    Some(asked.map_err(|why| Inexact::Other(Box::new(why)))?)
                }
                None => None,
            };
            let against = other.map(|other| own.against(&other, rules)).transpose()?;
            Ok(Exact::Race(ExactRace {
                against_optimal: own.against_optimal(rules, &solution),
                against,
                best_response: own.best_response(rules, &solution),
                views: own.views,
            }))
        };
        Some(ask())
    }
}

impl Explain for Table {
    dice_words!(|view: TableView| {
        let own = view.scores[view.seat.index()];
        let others = view.scores.iter().enumerate().filter(|(seat, _)| *seat != view.seat.index());
        let best = others.map(|(_, &score)| score).max().unwrap_or(0);
        let round = if view.tiebreak { "tiebreak, " } else { "" };
        let turn = if view.played == 0 { "first in the round, " } else { "" };
        format!("{round}{turn}{own} to {best} banked, ")
    });

    fn kind(view: &TableView) -> String {
        let last = view.playing.iter().take(view.played.into());
        let last = last.map(|seat| view.scores[seat.index()]).any(|score| score >= GOAL);
        let round = match (view.tiebreak, last) {
            (true, _) => "in a tiebreak, ",
            (false, true) => "in the last round, ",
            (false, false) => "",
        };
        format!("{round}{}", shotguns(&view.turn))
    }
}

fn face(face: Face) -> &'static str {
    match face {
        Face::One => "1",
        Face::Two => "2",
        Face::Three => "3",
        Face::Heal => "heal",
        Face::Attack => "attack",
    }
}

fn faces(dice: impl IntoIterator<Item = Face>) -> String {
    let mut dice: Vec<Face> = dice.into_iter().collect();
    dice.sort_unstable();
    dice.into_iter().map(face).collect::<Vec<_>>().join(" ")
}

fn kept(view: &TokyoView, keep: [bool; 6]) -> impl Iterator<Item = Face> {
    view.dice.into_iter().zip(keep).filter(|(_, kept)| *kept).map(|(die, _)| die)
}

fn place(view: &TokyoView) -> &'static str {
    match view.in_tokyo {
        None => "with Tokyo empty",
        Some(seat) if seat == view.seat => "in Tokyo",
        Some(_) => "outside",
    }
}

/// Health in bands, so that habits come up more than once.
fn band(health: u8) -> &'static str {
    match health {
        0..=3 => "1-3",
        4..=6 => "4-6",
        _ => "7-10",
    }
}

/// The kinds of faces that `more` has more dice of than `less`.
fn surplus(more: &[Face], less: &[Face]) -> Vec<&'static str> {
    let number = |dice: &[Face], face: Face| dice.iter().filter(|&&die| die == face).count();
    let surplus = Face::ALL.into_iter().filter(|&face| number(more, face) > number(less, face));
    surplus
        .map(|face| match face {
            Face::One => "ones",
            Face::Two => "twos",
            Face::Three => "threes",
            Face::Heal => "heals",
            Face::Attack => "attacks",
        })
        .collect()
}

impl Explain for Tokyo {
    fn situation(view: &TokyoView) -> String {
        let own = view.monsters[view.seat.index()];
        let others = view.monsters.iter().enumerate().filter(|(seat, _)| *seat != view.seat.index());
        let others = others.map(|(_, monster)| format!("{}/{}", monster.health, monster.points));
        let others = others.collect::<Vec<_>>().join(", ");
        let ask = match view.phase {
            Phase::Rolling { rerolls_left } => {
                format!("{}, dice {}", count(rerolls_left.into(), "reroll") + " left", faces(view.dice))
            }
            Phase::Yielding { damage } => format!("hit for {damage}"),
            Phase::Over => "over".to_owned(),
        };
        format!(
            "{}, health {} and {} (others {others}), {ask}",
            place(view),
            own.health,
            count(own.points, "point")
        )
    }

    fn choice(view: &TokyoView, choice: &Move<tokyo::Action>) -> String {
        match choice {
            Move::Act(tokyo::Action::Keep { dice }) if *dice == [true; 6] => "keeps all".to_owned(),
            Move::Act(tokyo::Action::Keep { dice }) if *dice == [false; 6] => "rerolls all".to_owned(),
            Move::Act(tokyo::Action::Keep { dice }) => format!("keeps {}", faces(kept(view, *dice))),
            Move::Act(tokyo::Action::Yield) => "leaves Tokyo".to_owned(),
            Move::Act(tokyo::Action::Stay) => "stays in Tokyo".to_owned(),
            Move::Forfeit => "gives no valid answer".to_owned(),
        }
    }

    fn roll(event: &tokyo::Event) -> String {
        match event {
            tokyo::Event::Rolled { dice, .. } => faces(*dice),
            _ => String::new(),
        }
    }

    fn kind(view: &TokyoView) -> String {
        match view.phase {
            Phase::Rolling { rerolls_left } => {
                format!("{}, {} left", place(view), count(rerolls_left.into(), "reroll"))
            }
            Phase::Yielding { .. } | Phase::Over => "hit in Tokyo".to_owned(),
        }
    }

    fn habit(view: &TokyoView, choice: &Move<tokyo::Action>, best: &tokyo::Action) -> String {
        let health = view.monsters[view.seat.index()].health;
        match (choice, best) {
            (Move::Act(tokyo::Action::Keep { dice }), tokyo::Action::Keep { dice: better }) => {
                let [own, better]: [Vec<Face>; 2] = [*dice, *better].map(|keep| kept(view, keep).collect());
                let (keeps, drops) = (surplus(&own, &better), surplus(&better, &own));
                let mut wrong = Vec::new();
                if !keeps.is_empty() {
                    wrong.push(format!("keeps {} that should be rerolled", keeps.join(" and ")));
                }
                if !drops.is_empty() {
                    wrong.push(format!("rerolls {} that should be kept", drops.join(" and ")));
                }
                format!("{} with health {} it {}", place(view), band(health), wrong.join(" and "))
            }
            _ => format!("hit in Tokyo with health {health} left it {}", Self::choice(view, choice)),
        }
    }
}
