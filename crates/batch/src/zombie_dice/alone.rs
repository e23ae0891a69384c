//! Single turns, played by the referee with the dice that the kernel rolls: the same seed and the same actions give the
//! same turns, alone or in a batch.

use crate::{bytes, observe::Observe};
use necrodome_rules::{
    chance::Chance,
    game::{self, Game, Move, Seat, Silent},
    names::Names,
    zombie_dice::{Action, Counts, FirstRoll, Solo, SoloRules, SoloView},
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoroshiro64StarStar;

/// Turns of Zombie Dice, one after the other.
///
/// As in a batch, a turn with a mandatory first roll begins before it, with one legal action.
#[derive(Debug, Clone)]
pub struct SoloTurn {
    rules: SoloRules,
    game: Solo,
    stream: Xoroshiro64StarStar,
}

impl SoloTurn {
    /// Makes a turn that begins.
    pub fn new(rules: &SoloRules) -> Self {
        SoloTurn { rules: *rules, game: begun(rules), stream: Xoroshiro64StarStar::seed_from_u64(0) }
    }

    /// The rules.
    pub fn rules(&self) -> &SoloRules {
        &self.rules
    }

    /// The referee. Its rules do not force the first roll.
    pub fn game(&self) -> &Solo {
        &self.game
    }

    /// Starts the stream of chance from a seed. Nothing else changes.
    pub fn seed(&mut self, seed: u64) {
        self.stream = Xoroshiro64StarStar::seed_from_u64(seed);
    }

    /// Begins a new turn, whose stream goes on.
    pub fn begin(&mut self) {
        self.game = begun(&self.rules);
    }

    /// Whether the turn is over.
    pub fn is_over(&self) -> bool {
        self.game.to_act().is_empty()
    }

    /// The player's view.
    pub fn view(&self) -> SoloView {
        self.game.view(Seat(0))
    }

    /// Writes the observation.
    pub fn observe(&self, out: &mut [i16]) {
        Solo::observe(&self.rules, &self.view(), out);
    }

    /// Whether the player may stop: not before a first roll that is mandatory.
    pub fn may_stop(&self) -> bool {
        self.rules.first_roll == FirstRoll::Free || self.view().turn.hand.is_some()
    }

    /// Rolls, or stops where that is allowed, and returns the reward. Nothing happens in a turn that is over.
    pub fn play(&mut self, goes: bool) -> f32 {
        let before = self.game.provisional_score() as f32;
        let turn = self.view().turn;
        let mut dice = Dice { picks: picks(&mut self.stream, turn.cup, turn.footsteps()), next: 0 };
        let action = if goes || !self.may_stop() { Action::Go } else { Action::Stop };
        // Refused only when the turn is over.
        let _ = self.game.apply(&[Move::Act(action)], &mut dice, &mut Silent);
        self.game.provisional_score() as f32 - before
    }

    /// Saves the whole state, with its stream.
    pub fn save(&self) -> Vec<u8> {
        let game = serde_json::to_string(&self.game).expect("referees are written in JSON everywhere");
        bytes::write(&(self.rules, game, &self.stream))
    }

    /// Restores what [`save`](SoloTurn::save) returned for the same rules. On `Err` nothing has changed.
    pub fn restore(&mut self, saved: &[u8]) -> Result<(), String> {
        let (rules, game, stream): (SoloRules, String, Xoroshiro64StarStar) = bytes::read(saved)?;
        let game: Solo = game::restore(&game).map_err(|why| why.to_string())?;
        if rules != self.rules || game.rules().out_of_dice != rules.out_of_dice {
            return Err("expected a turn with the same rules, got one with others".to_owned());
        }
        (self.game, self.stream) = (game, stream);
        Ok(())
    }
}

/// Makes a turn before its first roll.
fn begun(rules: &SoloRules) -> Solo {
    let free = SoloRules { first_roll: FirstRoll::Free, ..*rules };
    let names = Names::new(["you"]).expect("a name");
    Solo::new(&names, &free, &mut Dice::default(), &mut Silent).expect("one seat, as the game wants it")
}

/// The dice of a roll, as picks in order.
#[derive(Default)]
struct Dice {
    picks: [usize; 6],
    next: usize,
}

impl Chance for Dice {
    fn uniform(&mut self, _: u32) -> u32 {
        self.pick(&[]) as u32
    }

    fn pick(&mut self, _: &[u32]) -> usize {
        self.next += 1;
        self.picks.get(self.next - 1).copied().unwrap_or_default()
    }
}

/// Draws the picks of a roll as the kernel does: four words of 16 bits, all drawn again while one of those that are used would
/// be unfair. First the colours that come from the cup, then the face of each die, green dice first.
fn picks(stream: &mut Xoroshiro64StarStar, cup: Counts, feet: Counts) -> [usize; 6] {
    let draws = 3 - u32::from(feet.total());
    let unfair = |word: u32, outcomes: u32| word * outcomes % 65_536 < 65_536 % outcomes.max(1);
    let outcomes = |draw: u32| u32::from(cup.total()).saturating_sub(draw);
    loop {
        let (first, second) = (stream.next_u32(), stream.next_u32());
        let words = [first >> 16, first & 0xffff, second >> 16];
        let faces = second & 0xffff;
        if unfair(faces, 216) || (0..draws).any(|draw| unfair(words[draw as usize], outcomes(draw))) {
            continue;
        }
        let (mut cup, mut hand) = (cup.weights(), feet.weights());
        let (mut picks, mut next) = ([0; 6], 0);
        for draw in 0..draws {
            let place = (words[draw as usize] * outcomes(draw)) >> 16;
            let colour = usize::from(place >= cup[0]) + usize::from(place >= cup[0] + cup[1]);
            cup[colour] = cup[colour].saturating_sub(1);
            hand[colour] += 1;
            picks[next] = colour;
            next += 1;
        }
        let roll = (faces * 216) >> 16;
        let colours = (0..3).flat_map(|colour| std::iter::repeat_n(colour, hand[colour as usize] as usize));
        for (colour, side) in colours.zip([roll / 36, roll / 6 % 6, roll % 6]) {
            let brains: u32 = 3 - colour;
            picks[next] = usize::from(side >= brains) + usize::from(side >= brains + 2);
            next += 1;
        }
        return picks;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        batched::{Autoreset, BatchSetup, Out},
        zombie_dice::SoloBatch,
    };
    use necrodome_rules::zombie_dice::OutOfDice;

    /// Compares under all rules, with both ways to begin anew, in turns that are long enough to bring dice back.
    #[test]
    fn a_turn_alone_is_a_turn_in_a_batch() {
        const ROWS: usize = 70;
        for out_of_dice in [OutOfDice::EndTurn, OutOfDice::RecycleBrains] {
            for first_roll in [FirstRoll::Free, FirstRoll::Mandatory] {
                for autoreset in [Autoreset::NextStep, Autoreset::SameStep] {
                    agree(SoloRules { out_of_dice, first_roll }, autoreset, ROWS);
                }
            }
        }
    }

    fn agree(rules: SoloRules, autoreset: Autoreset, rows: usize) {
        let setup = BatchSetup { rules, seats: 1, matches: rows, threads: 1, autoreset };
        let mut batch = SoloBatch::new(&setup).unwrap();
        let width = batch.width();
        let (mut obs, mut final_obs) = (vec![0; rows * width], vec![0; rows * width]);
        let (mut rewards, mut terminated, mut truncated) =
            (vec![0.0; rows], vec![false; rows], vec![false; rows]);
        let mut turns = vec![SoloTurn::new(&rules); rows];
        for (row, turn) in turns.iter_mut().enumerate() {
            turn.seed(row as u64);
        }
        for step in 0..300u32 {
            // Mostly go: one in nine stops.
            let actions: Vec<u8> = (0..rows as u32).map(|row| u8::from((step * 7 + row) % 9 > 0)).collect();
            batch.step(
                &actions,
                &mut Out {
                    obs: &mut obs,
                    final_obs: &mut final_obs,
                    rewards: &mut rewards,
                    terminated: &mut terminated,
                    truncated: &mut truncated,
                },
            );
            for (row, turn) in turns.iter_mut().enumerate() {
                let (reward, over) = if turn.is_over() {
                    turn.begin();
                    (0.0, false)
                } else {
                    (turn.play(actions[row] > 0), turn.is_over())
                };
                if over && autoreset == Autoreset::SameStep {
                    turn.begin();
                }
                let mut seen = vec![0; width];
                turn.observe(&mut seen);
                let told: Vec<i16> = obs.iter().skip(row).step_by(rows).copied().collect();
                assert_eq!(
                    (rewards[row], terminated[row], told),
                    (reward, over, seen),
                    "step {step}, row {row}"
                );
            }
        }
    }

    #[test]
    fn a_saved_turn_goes_on() {
        let rules = SoloRules { out_of_dice: OutOfDice::RecycleBrains, ..SoloRules::default() };
        let mut turn = SoloTurn::new(&rules);
        turn.seed(7);
        turn.play(true);
        let saved = turn.save();
        let mut other = SoloTurn::new(&rules);
        other.restore(&saved).unwrap();
        for _ in 0..3 {
            assert_eq!(turn.play(true), other.play(true));
            assert_eq!(turn.view(), other.view());
        }
        assert!(SoloTurn::new(&SoloRules::default()).restore(&saved).unwrap_err().contains("the same rules"));
        assert!(other.restore(&saved[1..]).is_err());
    }
}
