//! What a referee needs of a game to be played by numbers: the layouts of `necrodome_batch::observe`, for games that ask a
//! seat for one decision and for Last Bullet, which asks it for one for each survivor.

use necrodome_batch::{
    field::Field,
    observe::{Observe, by_place, last_bullet},
};
use necrodome_rules::{
    game::{Game, Seat},
    infection::{Infection, InfectionView},
    last_bullet::{Action as Orders, CopyView, LastBullet, LastBulletRules, LastBulletView},
    tokyo::{Tokyo, TokyoView},
    zombie_dice::{Race, RaceView, Solo, SoloView, Table, TableView},
};
use numpy::Element;
use serde_json::Value;

/// A game that is played by numbers. A seat has as many rows as it has decisions to make now.
pub trait Numbers: Game<Rules: Send + Sync, Event: Send + Sync> + Send + Sync {
    /// A number of an observation.
    type Cell: Element + Copy + Default;
    /// Whether a seat makes any number of decisions, each with an observation of its own.
    const MANY: bool;

    /// How many seats there are.
    fn seats(&self) -> usize;
    /// The number of each decision that a seat with this view makes: the survivor; 0 where there is but one.
    fn decisions(view: &Self::View) -> Vec<u32>;
    /// What the numbers of a row mean.
    fn fields(rules: &Self::Rules, seats: usize) -> Vec<Field>;
    /// Writes all rows.
    fn observe(rules: &Self::Rules, view: &Self::View, out: &mut [Self::Cell]);
    /// How many actions there are.
    fn actions(seats: usize) -> usize;
    /// Marks the actions that are legal, row by row.
    fn mask(view: &Self::View, out: &mut [bool]);
    /// What a seat does when it chooses these numbers, one for each row; otherwise the number that is not possible.
    fn action(view: &Self::View, chosen: &[usize]) -> Result<Self::Action, usize>;
    /// What each seat has got so far.
    fn returns(&self, out: &mut [f32]);
    /// The rules in the JSON of a state.
    fn rules_in(state: &Value) -> &Value {
        &state["rules"]
    }
}

macro_rules! one_decision {
    ($Game:ty, $View:ty, $seats:expr $(, $rules:literal)?) => {
        impl Numbers for $Game {
            type Cell = i16;
            const MANY: bool = false;

            fn seats(&self) -> usize {
                let seats: fn(&$Game) -> usize = $seats;
                seats(self)
            }

            fn decisions(_: &$View) -> Vec<u32> {
                vec![0]
            }

            fn fields(rules: &Self::Rules, seats: usize) -> Vec<Field> {
                <$Game as Observe>::fields(rules, seats)
            }

            fn observe(rules: &Self::Rules, view: &$View, out: &mut [i16]) {
                <$Game as Observe>::observe(rules, view, out);
            }

            fn actions(seats: usize) -> usize {
                <$Game as Observe>::actions(seats)
            }

            fn mask(view: &$View, out: &mut [bool]) {
                <$Game as Observe>::mask(view, out);
            }

            fn action(view: &$View, chosen: &[usize]) -> Result<Self::Action, usize> {
                <$Game as Observe>::action(view, chosen[0]).ok_or(chosen[0])
            }

            fn returns(&self, out: &mut [f32]) {
                <$Game as Observe>::returns(self, out);
            }

            $(fn rules_in(state: &Value) -> &Value {
                &state[$rules]["rules"]
            })?
        }
    };
}

one_decision!(Solo, SoloView, |_| 1);
one_decision!(Race, RaceView, |_| 2);
one_decision!(Table, TableView, |game| game.view(Seat(0)).scores.len());
one_decision!(Tokyo, TokyoView, |game| game.view(Seat(0)).monsters.len());
one_decision!(Infection, InfectionView, |game| game.party().players().len(), "party");

impl Numbers for LastBullet {
    type Cell = u8;
    const MANY: bool = true;

    fn seats(&self) -> usize {
        // Zombies and corpses have names too.
        self.view(Seat(0)).names.len() - 2
    }

    fn decisions(view: &LastBulletView) -> Vec<u32> {
        view.copies.iter().map(|copy| copy.number).collect()
    }

    fn fields(_: &LastBulletRules, _: usize) -> Vec<Field> {
        last_bullet::fields()
    }

    fn observe(_: &LastBulletRules, view: &LastBulletView, out: &mut [u8]) {
        let rows = view.copies.iter().zip(out.chunks_exact_mut(last_bullet::CELLS));
        rows.for_each(|(copy, out)| last_bullet::observe(view, copy, out));
    }

    fn actions(_: usize) -> usize {
        last_bullet::ACTIONS
    }

    fn mask(view: &LastBulletView, out: &mut [bool]) {
        let rows = view.copies.iter().zip(out.chunks_exact_mut(last_bullet::ACTIONS));
        rows.for_each(|(copy, out)| last_bullet::mask(copy, out));
    }

    fn action(view: &LastBulletView, chosen: &[usize]) -> Result<Orders, usize> {
        let order = |(copy, &action): (&CopyView, &usize)| last_bullet::order(copy, action).ok_or(action);
        Ok(Orders { orders: view.copies.iter().zip(chosen).map(order).collect::<Result<_, _>>()? })
    }

    fn returns(&self, out: &mut [f32]) {
        match self.outcome() {
            Some(outcome) => out.copy_from_slice(&by_place(&outcome)),
            None => out.fill(0.0),
        }
    }
}
