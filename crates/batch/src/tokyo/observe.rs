//! Tokyo as numbers: the question, the dice, and the monsters.

use crate::{
    field::Field,
    observe::{Observe, Writer, around, number},
};
use necrodome_rules::tokyo::{Action, Face, GOAL, MAX_HEALTH, Phase, Tokyo, TokyoRules, TokyoView};

/// The number of ways to keep dice: bit i of the action is die i.
const KEEPS: usize = 64;
/// The action that leaves Tokyo.
pub(super) const YIELD: usize = KEEPS;
/// The action that stays in Tokyo.
const STAY: usize = KEEPS + 1;
/// The number of actions.
pub(super) const ACTIONS: usize = KEEPS + 2;

/// The most points of a monster: one short of the goal, and six threes.
const MOST_POINTS: i16 = GOAL as i16 - 1 + 6;

impl Observe for Tokyo {
    fn fields(_: &TokyoRules, seats: usize) -> Vec<Field> {
        let mut fields = vec![
            Field::new(
                "phase",
                "What is decided: 0 which dice to keep, 1 whether to leave Tokyo, 2 nothing.",
                0,
                2,
            ),
            Field::new(
                "rerolls_left",
                "How often the current monster may still reroll; 0 when it does not roll.",
                0,
                2,
            ),
            Field::new(
                "damage",
                "The damage that the monster in Tokyo has just taken, when it may leave.",
                0,
                6,
            ),
        ];
        for die in 1..=6 {
            let about = format!("What die {die} shows: 0 one, 1 two, 2 three, 3 heal, 4 attack.");
            fields.push(Field::new(format!("die_{die}"), about, 0, Face::Attack as i16));
        }
        for steps in 0..seats {
            let whose = match steps {
                0 => "this monster".to_owned(),
                1 => "the next monster".to_owned(),
                _ => format!("the monster {steps} seats on"),
            };
            let mut add = |name: &str, about: String, high: i16| {
                fields.push(Field::new(format!("{name}_{steps}"), about, 0, high));
            };
            add("health", format!("Health of {whose}; 0 is out of the game."), MAX_HEALTH.into());
            add("points", format!("Victory points of {whose}."), MOST_POINTS);
            add("in_tokyo", format!("1 if {whose} is in Tokyo."), 1);
            add("current", format!("1 if it is the turn of {whose}."), 1);
        }
        fields
    }

    fn observe(_: &TokyoRules, view: &TokyoView, out: &mut [i16]) {
        let mut out = Writer::new(out);
        out.put(match view.phase {
            Phase::Rolling { rerolls_left } => [0, rerolls_left.into(), 0],
            Phase::Yielding { damage } => [1, 0, damage.into()],
            Phase::Over => [2, 0, 0],
        });
        out.put(view.dice.map(|face| face as i16));
        for seat in around(view.seat, view.monsters.len()) {
            let monster = view.monsters[seat.index()];
            let (in_tokyo, current) = (view.in_tokyo == Some(seat), view.current == seat);
            out.put([monster.health.into(), number(monster.points), in_tokyo.into(), current.into()]);
        }
        out.finish();
    }

    fn actions(_: usize) -> usize {
        ACTIONS
    }

    fn action(_: &TokyoView, index: usize) -> Option<Action> {
        match index {
            0..KEEPS => Some(Action::Keep { dice: std::array::from_fn(|die| index >> die & 1 == 1) }),
            YIELD => Some(Action::Yield),
            STAY => Some(Action::Stay),
            _ => None,
        }
    }

    fn number(_: &TokyoView, action: &Action) -> u8 {
        match action {
            Action::Keep { dice } => (0..).zip(dice).map(|(die, &kept)| u8::from(kept) << die).sum(),
            Action::Yield => YIELD as u8,
            Action::Stay => STAY as u8,
        }
    }

    fn mask(view: &TokyoView, out: &mut [bool]) {
        out[..KEEPS].fill(matches!(view.phase, Phase::Rolling { .. }));
        out[KEEPS..].fill(matches!(view.phase, Phase::Yielding { .. }));
    }
}
