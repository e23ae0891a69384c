//! Zombie Dice as numbers: the dice of the turn, and the scores if there is more than one player.

use crate::{
    field::Field,
    observe::{Observe, Writer, around, by_place, number},
};
use necrodome_rules::{
    game::Game,
    zombie_dice::{
        Action, Colour, Counts, DICE, GOAL, OutOfDice, Race, RaceRules, RaceView, Solo, SoloRules, SoloView,
        Table, TableRules, TableView, TurnView, WIN_REWARD,
    },
};

/// The most brains if no dice come back: all thirteen dice.
const MOST_BRAINS: i16 = 13;
/// The most shotguns: two, and a roll of three more.
const MOST_SHOTGUNS: i16 = 5;

/// The actions: 0 stops, 1 goes.
const ACTIONS: [Action; 2] = [Action::Stop, Action::Go];

const fn name(colour: Colour) -> &'static str {
    match colour {
        Colour::Green => "green",
        Colour::Yellow => "yellow",
        Colour::Red => "red",
    }
}

/// The most brains of a turn: unlimited where brain dice come back.
fn most_brains(out_of_dice: OutOfDice) -> i16 {
    match out_of_dice {
        OutOfDice::EndTurn => MOST_BRAINS,
        OutOfDice::RecycleBrains => i16::MAX,
    }
}

fn turn_fields(out_of_dice: OutOfDice) -> Vec<Field> {
    let mut fields = vec![
        Field::new("brains", "Brains of this turn.", 0, most_brains(out_of_dice)),
        Field::new("shotguns", "Shotguns of this turn; three end it.", 0, MOST_SHOTGUNS),
    ];
    let mut by_colour = |what: &str, about: &str, most: fn(Colour) -> u8| {
        for colour in Colour::ALL {
            let (name, about) = (name(colour), about.replace('*', name(colour)));
            fields.push(Field::new(format!("{what}_{name}"), about, 0, most(colour).into()));
        }
    };
    by_colour("cup", "Dice in the cup that are *.", |colour| DICE[colour]);
    by_colour("feet", "Footsteps in the hand, to be rolled again, that are *.", |colour| DICE[colour].min(3));
    if out_of_dice == OutOfDice::RecycleBrains {
        by_colour("brain", "Brain dice set aside that are *: they come back when dice run out.", |colour| {
            DICE[colour]
        });
    }
    fields
}

fn put_turn(out_of_dice: OutOfDice, turn: &TurnView, out: &mut Writer<'_>) {
    let by_colour = |dice: Counts| Colour::ALL.map(|colour| dice[colour].into());
    out.put([number(turn.brains), turn.shotguns.into()]);
    out.put(by_colour(turn.cup));
    out.put(by_colour(turn.footsteps()));
    if out_of_dice == OutOfDice::RecycleBrains {
        out.put(by_colour(turn.brain_dice));
    }
}

/// The most that can be banked in a race: 12, and a last turn.
fn most_score(out_of_dice: OutOfDice) -> i16 {
    most_brains(out_of_dice).saturating_add(GOAL as i16 - 1)
}

impl Observe for Solo {
    fn fields(rules: &SoloRules, _: usize) -> Vec<Field> {
        turn_fields(rules.out_of_dice)
    }

    fn observe(rules: &SoloRules, view: &SoloView, out: &mut [i16]) {
        let mut out = Writer::new(out);
        put_turn(rules.out_of_dice, &view.turn, &mut out);
        out.finish();
    }

    fn actions(_: usize) -> usize {
        ACTIONS.len()
    }

    fn action(_: &SoloView, index: usize) -> Option<Action> {
        ACTIONS.get(index).copied()
    }

    fn number(_: &SoloView, action: &Action) -> u8 {
        (*action == Action::Go).into()
    }

    fn mask(_: &SoloView, out: &mut [bool]) {
        out.fill(true);
    }

    /// The provisional score: what the player would bank now.
    fn returns(&self, out: &mut [f32]) {
        out.fill(self.provisional_score() as f32);
    }
}

impl Observe for Race {
    fn fields(rules: &RaceRules, _: usize) -> Vec<Field> {
        let most = most_score(rules.out_of_dice);
        let mut fields = turn_fields(rules.out_of_dice);
        fields.push(Field::new("score", "Brains that this player has banked.", 0, most));
        fields.push(Field::new("opponent_score", "Brains that the other player has banked.", 0, most));
        fields
    }

    fn observe(rules: &RaceRules, view: &RaceView, out: &mut [i16]) {
        let mut out = Writer::new(out);
        put_turn(rules.out_of_dice, &view.turn, &mut out);
        out.put([number(view.score), number(view.opponent_score)]);
        out.finish();
    }

    fn actions(_: usize) -> usize {
        ACTIONS.len()
    }

    fn action(_: &RaceView, index: usize) -> Option<Action> {
        ACTIONS.get(index).copied()
    }

    fn number(_: &RaceView, action: &Action) -> u8 {
        (*action == Action::Go).into()
    }

    fn mask(_: &RaceView, out: &mut [bool]) {
        out.fill(true);
    }

    /// The returns: +10 for a won race, -10 for a lost one.
    fn returns(&self, out: &mut [f32]) {
        match self.outcome() {
            Some(outcome) => {
                let worth = by_place(&outcome);
                out.iter_mut().zip(worth).for_each(|(out, worth)| *out = WIN_REWARD as f32 * worth);
            }
            None => out.fill(0.0),
        }
    }
}

/// The status of a seat in the round that is being played.
#[derive(Clone, Copy)]
pub(super) enum InRound {
    /// It does not play in the tiebreak.
    LeftOut,
    /// Its turn will come.
    Waits,
    /// It is its turn.
    Plays,
    /// It has had its turn.
    Played,
}

impl Observe for Table {
    fn fields(rules: &TableRules, seats: usize) -> Vec<Field> {
        let mut fields = turn_fields(rules.out_of_dice);
        let rounds = rules.max_rounds.map_or(i16::MAX, |max| number(max.get()));
        fields.push(Field::new("rounds", "Rounds finished.", 0, rounds));
        fields.push(Field::new("tiebreak", "1 in a round that only those tied for the lead play.", 0, 1));
        for steps in 0..seats {
            let whose = match steps {
                0 => "this player".to_owned(),
                1 => "the next player".to_owned(),
                _ => format!("the player {steps} seats on"),
            };
            // A tiebreak, and another, add to scores that are beyond the goal.
            let about = format!("Brains that {whose} has banked.");
            fields.push(Field::new(format!("score_{steps}"), about, 0, i16::MAX));
            let about = format!(
                "What {whose} does in this round: 0 left out of it, 1 their turn will come, 2 it is their turn, 3 they have had it."
            );
            fields.push(Field::new(format!("turn_{steps}"), about, 0, InRound::Played as i16));
        }
        fields
    }

    fn observe(rules: &TableRules, view: &TableView, out: &mut [i16]) {
        let mut out = Writer::new(out);
        put_turn(rules.out_of_dice, &view.turn, &mut out);
        out.put([number(view.rounds), view.tiebreak.into()]);
        let played = usize::from(view.played);
        for seat in around(view.seat, view.scores.len()) {
            let in_round = match view.playing.binary_search(&seat) {
                Err(_) => InRound::LeftOut,
                Ok(place) if place < played => InRound::Played,
                Ok(place) if place == played => InRound::Plays,
                Ok(_) => InRound::Waits,
            };
            out.put([number(view.scores[seat.index()]), in_round as i16]);
        }
        out.finish();
    }

    fn actions(_: usize) -> usize {
        ACTIONS.len()
    }

    fn action(_: &TableView, index: usize) -> Option<Action> {
        ACTIONS.get(index).copied()
    }

    fn number(_: &TableView, action: &Action) -> u8 {
        (*action == Action::Go).into()
    }

    fn mask(_: &TableView, out: &mut [bool]) {
        out.fill(true);
    }
}
