//! Zombie Dice (table, solo and race): looks two rolls ahead.
//!
//! The idea: a position is worth what could be banked now, or the mean worth of the positions after one more
//! roll, if that is more. All hands that can come are counted with their exact probability.

use example_bots::{list, number, play};
use serde_json::{Value, json};

/// Brains, footsteps and shotguns among the six sides of a green, a yellow and a red die.
const SIDES: [[f64; 3]; 3] = [[3., 2., 1.], [2., 2., 2.], [1., 2., 3.]];
const COLOURS: [&str; 3] = ["green", "yellow", "red"];

/// Dice are counted by colour: green, yellow, red.
#[derive(Clone, Copy)]
struct Turn {
    brains: i64,
    shotguns: i64,
    footsteps: [i64; 3],
    cup: [i64; 3],
}

impl Turn {
    fn read(turn: &Value) -> Turn {
        let footsteps = |colour: &str| {
            let is_one = |die: &&Value| die["colour"] == colour && die["face"] == "footsteps";
            list(&turn["hand"]).iter().filter(is_one).count() as i64
        };
        Turn {
            brains: number(&turn["brains"]),
            shotguns: number(&turn["shotguns"]),
            footsteps: COLOURS.map(footsteps),
            cup: COLOURS.map(|colour| number(&turn["cup"][colour])),
        }
    }

    /// The worth with at most `rolls` more rolls.
    fn worth(self, rolls: u32) -> f64 {
        if self.shotguns >= 3 {
            return 0.;
        }
        let enough_dice = self.footsteps.iter().chain(&self.cup).sum::<i64>() >= 3;
        let bank = self.brains as f64;
        if rolls == 0 || !enough_dice { bank } else { bank.max(self.after_roll(rolls - 1)) }
    }

    /// The mean worth after a roll.
    fn after_roll(self, rolls: u32) -> f64 {
        self.fill_hand(self.footsteps, rolls)
    }

    /// Draws until there are three dice in the hand, then rolls them.
    fn fill_hand(self, hand: [i64; 3], rolls: u32) -> f64 {
        if hand.iter().sum::<i64>() == 3 {
            return Turn { footsteps: [0; 3], ..self }.roll(hand, rolls);
        }
        let dice = self.cup.iter().sum::<i64>() as f64;
        let mut mean = 0.;
        for colour in (0..3).filter(|&colour| self.cup[colour] > 0) {
            let (mut next, mut hand) = (self, hand);
            next.cup[colour] -= 1;
            hand[colour] += 1;
            mean += self.cup[colour] as f64 / dice * next.fill_hand(hand, rolls);
        }
        mean
    }

    /// Rolls the dice of the hand one by one.
    fn roll(self, mut hand: [i64; 3], rolls: u32) -> f64 {
        let Some(colour) = (0..3).find(|&colour| hand[colour] > 0) else {
            return self.worth(rolls);
        };
        hand[colour] -= 1;
        let [brain, footsteps, shotgun] = SIDES[colour].map(|sides| sides / 6.);
        let mut feet = self.footsteps;
        feet[colour] += 1;
        brain * Turn { brains: self.brains + 1, ..self }.roll(hand, rolls)
            + footsteps * Turn { footsteps: feet, ..self }.roll(hand, rolls)
            + shotgun * Turn { shotguns: self.shotguns + 1, ..self }.roll(hand, rolls)
    }
}

fn choose(view: &Value) -> (Value, String) {
    let turn = Turn::read(&view["turn"]);
    let say = |action: &str, reason: String| (json!({"type": action}), reason);
    if view["scores"].is_array() {
        // At the table: when somebody else has 13, this is the last turn, and stopping behind the leader is
        // losing.
        let seat = number(&view["seat"]) as usize;
        let others = list(&view["scores"]).iter().enumerate().filter(|&(other, _)| other != seat);
        let leader = others.map(|(_, score)| number(score)).max().unwrap_or(0);
        if leader >= 13 && number(&view["scores"][seat]) + turn.brains < leader {
            return say("go", "the last round, and I am behind".into());
        }
    } else if view["score"].is_number() && number(&view["score"]) + turn.brains >= 13 {
        return say("stop", "that wins the race".into());
    }
    let go = turn.after_roll(1);
    let action = if go > turn.brains as f64 { "go" } else { "stop" };
    say(action, format!("to go is worth {go:.2} brains, to stop {}", turn.brains))
}

fn main() -> std::io::Result<()> {
    play(choose)
}
