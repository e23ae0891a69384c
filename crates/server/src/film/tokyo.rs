//! Tokyo: nothing is hidden in it, so any seat's view shows it all.

use super::{Filmed, Footage, Frames};
use necrodome_rules::{
    game::{Game, Logged, Seat},
    tokyo::{Event, Tokyo, TokyoRules, TokyoView},
};

impl Filmed for Tokyo {
    type Scene = TokyoView;

    fn camera(_: &TokyoRules) -> impl FnMut(&Self, &[Logged<Event>]) -> TokyoView {
        |game, _| game.view(Seat(0))
    }

    fn footage(frames: Frames<Self>) -> Footage {
        Footage::Tokyo(frames)
    }
}
