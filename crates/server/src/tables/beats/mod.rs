//! Plays back to a viewer what happened at a table, one thing after the other, as they saw it.
//!
//! A viewer hears only what the referee lets them hear, and the number of a beat counts only what they heard. So nobody can tell
//! from a number how much was hidden from them.

mod tokyo;
mod zombie_dice;

use super::state::Beat;
use necrodome_rules::{
    catalog::Listed,
    game::{Audience, Game, Logged, Seat},
    own_part,
    tokyo::Tokyo,
    zombie_dice as zd,
};
use std::{collections::VecDeque, sync::Arc};

/// How many beats are kept for each viewer, the last ones.
const KEPT: usize = 40;

/// Updates the view of a seat to how it looked right after an event in the middle of a step. Returns whether to show that view
/// separately; if not, the event is shown together with the next one.
type Draw<G> = Box<dyn FnMut(&mut <G as Game>::View, &<G as Game>::Event, Seat) -> bool + Send>;

type MakeDraw<G> = fn(&<G as Game>::Rules) -> Draw<G>;

/// Returns the function that draws the middle of a step, or `None` if each step of the game is a single beat.
fn draw<G: Listed>(rules: &G::Rules) -> Option<Draw<G>> {
    let own: Option<MakeDraw<G>> = own_part![
        zombie_dice::draw::<zd::Table> as MakeDraw<zd::Table>,
        zombie_dice::draw::<zd::Race> as MakeDraw<zd::Race>,
        zombie_dice::draw::<zd::Solo> as MakeDraw<zd::Solo>,
        tokyo::draw as MakeDraw<Tokyo>,
    ];
    own.map(|make| make(rules))
}

/// Somebody who follows a match: a person in a seat, or a spectator.
pub(super) struct Follower<G: Listed> {
    seat: Option<Seat>,
    draw: Option<Draw<G>>,
    /// The view they see, or `None` for a spectator of a game with secrets.
    view: Option<Arc<G::View>>,
    heard: u32,
    beats: VecDeque<Kept<G>>,
}

/// A beat that is kept.
struct Kept<G: Listed> {
    number: u32,
    /// The length of the match's log before the step that this beat belongs to.
    from: usize,
    events: Vec<G::Event>,
    view: Option<Arc<G::View>>,
}

impl<G: Listed> Follower<G> {
    pub fn new(seat: Option<Seat>, rules: &G::Rules) -> Self {
        Follower { seat, draw: draw::<G>(rules), view: None, heard: 0, beats: VecDeque::new() }
    }

    pub fn seat(&self) -> Option<Seat> {
        self.seat
    }

    /// Whether this seat, or a spectator, hears of an event.
    pub fn hears(seat: Option<Seat>, logged: &Logged<G::Event>) -> bool {
        match seat {
            Some(seat) => logged.audience.includes(seat),
            None => logged.audience == Audience::Everyone,
        }
    }

    /// Records a step: `log` is what happened in it, `from` the length of the match's log before it.
    pub fn follow(&mut self, game: &G, log: &[Logged<G::Event>], from: usize) {
        let seat = self.seat;
        let through = seat.unwrap_or_default();
        let after = (seat.is_some() || G::CARD.open).then(|| Arc::new(game.view(through)));
        let heard = log.iter().filter(move |logged| Self::hears(seat, logged)).map(|logged| &logged.event);
        match (self.draw.take(), &after) {
            (Some(mut draw), Some(after)) => {
                let mut view = G::View::clone(self.view.as_ref().unwrap_or(after));
                let mut events = Vec::new();
                for event in heard {
                    events.push(event.clone());
                    if draw(&mut view, event, through) {
                        self.keep(from, std::mem::take(&mut events), Some(Arc::new(view.clone())));
                    }
                }
                if !events.is_empty() {
                    self.keep(from, events, Some(Arc::new(view)));
                }
                self.draw = Some(draw);
            }
            (draw, _) => {
                let events: Vec<G::Event> = heard.cloned().collect();
                if !events.is_empty() {
                    self.keep(from, events, after.clone());
                }
                self.draw = draw;
            }
        }
        self.view = after;
    }

    fn keep(&mut self, from: usize, events: Vec<G::Event>, view: Option<Arc<G::View>>) {
        self.heard += 1;
        self.beats.push_back(Kept { number: self.heard, from, events, view });
        if self.beats.len() > KEPT {
            self.beats.pop_front();
        }
    }

    /// Returns the number of beats so far, and those since the log had this length. `lines` counts the lines of text for an event.
    pub fn since(&self, length: usize, lines: impl Fn(&G::Event) -> usize) -> (u32, Vec<Beat>) {
        let fresh = self.beats.iter().filter(|kept| kept.from >= length);
        let beat = |kept: &Kept<G>| Beat {
            number: kept.number,
            told: kept.events.iter().map(&lines).sum(),
            events: kept.events.iter().map(|event| serde_json::to_value(event).unwrap_or_default()).collect(),
            view: kept.view.as_ref().and_then(|view| serde_json::to_value(&**view).ok()),
        };
        (self.heard, fresh.map(beat).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_arena::{player::BuiltInPlayer, player::Player, run::run_match};
    use necrodome_rules::{
        bot::BotSpec,
        chance::{Seed, Seeded},
        game::Move,
        names::Names,
    };

    /// Checks that a game's own drawings agree with the referee at the end of each step.
    fn check<G: Listed>(seats: usize, agrees: impl Fn(&G::View, &G::View, &G::Event) -> bool) {
        let names = Names::new((0..seats).map(|seat| format!("p{seat}"))).unwrap();
        let rules = G::Rules::default();
        for match_number in 0..20u64 {
            let mut players: Vec<Box<dyn Player<G>>> = Vec::new();
            for seat in 0..seats as u64 {
                let spec = BotSpec { name: "random".into(), params: Vec::new() };
                let bot = G::built_ins().into_iter().find(|bot| bot.name == "random").unwrap();
                let bot = bot.build(&spec, Seeded::new(match_number, "bot", seat)).unwrap();
                players.push(Box::new(BuiltInPlayer(bot)));
            }
            let mut all: Vec<Follower<G>> = [None, Some(Seat(0)), Some(Seat(seats as u16 - 1))]
                .map(|seat| Follower::new(seat, &rules))
                .into();
            let mut length = 0;
            run_match(&names, &rules, Seed::from(match_number), &mut players, |game: &G, log| {
                for follower in &mut all {
                    let heard = follower.heard;
                    follower.follow(game, log, length);
                    let own = game.view(follower.seat.unwrap_or_default());
                    let events: Vec<G::Event> = follower
                        .beats
                        .iter()
                        .filter(|kept| kept.number > heard)
                        .flat_map(|kept| kept.events.clone())
                        .collect();
                    let heard: Vec<G::Event> = log.iter().map(|logged| logged.event.clone()).collect();
                    assert_eq!(events, heard, "everything is shown, in order");
                    if let Some(last) =
                        follower.beats.back().filter(|kept| kept.from == length && !log.is_empty())
                    {
                        let (shown, event) = (last.view.as_ref().unwrap(), last.events.last().unwrap());
                        assert!(agrees(shown, &own, event), "{event:?}: {shown:?} is shown, {own:?} it is");
                    }
                }
                length += log.len();
            })
            .unwrap();
        }
    }

    #[test]
    fn pictures_in_the_middle_of_a_step_lead_to_the_end_of_it() {
        check::<zd::Table>(3, |shown, is, last| {
            shown.scores == is.scores && (!matches!(last, zd::Event::Rolled { .. }) || shown == is)
        });
        check::<zd::Race>(2, |shown, is, last| {
            (shown.score, shown.opponent_score) == (is.score, is.opponent_score)
                && (!matches!(last, zd::Event::Rolled { .. }) || shown == is)
        });
        check::<Tokyo>(4, |shown, is, last| {
            use necrodome_rules::tokyo::Event;
            let same =
                (shown.current, &shown.monsters, shown.in_tokyo) == (is.current, &is.monsters, is.in_tokyo);
            same && (!matches!(last, Event::Rolled { .. })
                || (shown.dice, shown.phase) == (is.dice, is.phase))
        });
    }

    /// A roll that ends a turn is shown before the next player's dice.
    #[test]
    fn the_fatal_roll_is_a_beat_of_its_own() {
        let names = Names::new(["Ada", "Bob"]).unwrap();
        let rules = zd::TableRules::default();
        let mut found = 0;
        for seed in 0..40u64 {
            let (mut log, mut chance) = (Vec::new(), Seeded::new(seed, "match", 0));
            let mut game = zd::Table::new(&names, &rules, &mut chance, &mut log).unwrap();
            let mut ada = Follower::<zd::Table>::new(Some(Seat(0)), &rules);
            ada.follow(&game, &log, 0);
            while game.to_act() == [Seat(0)] {
                log.clear();
                game.apply(&[Move::Act(zd::Action::Go)], &mut chance, &mut log).unwrap();
                ada.follow(&game, &log, 0);
            }
            let Some(end) = ada.beats.iter().position(|kept| {
                matches!(kept.events[..], [zd::Event::TurnEnded { why: zd::TurnEnd::Busted, .. }])
            }) else {
                continue;
            };
            found += 1;
            for kept in [&ada.beats[end - 1], &ada.beats[end]] {
                let turn = kept.view.as_ref().unwrap().turn;
                assert!(turn.shotguns >= 3 && turn.hand.is_some(), "{turn:?}");
            }
        }
        assert!(found > 10, "{found}");
    }
}
