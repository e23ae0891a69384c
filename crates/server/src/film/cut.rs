//! A step of a match as its happenings. When somebody's turn ends, the referee plays on to the next decision, so that the log of
//! one step may hold the dice of the next player. A film shows what belongs to one player at a time.

use necrodome_arena::replay::{Moment, Replay, ReplayError};
use necrodome_rules::{
    catalog::Listed,
    game::{Game, Logged, Seat},
    infection::{self, Infection},
    own_part,
    tokyo::{self, Tokyo},
    zombie_dice as zd,
};

/// What happened to one player in a step.
pub(super) struct Part<'a, E> {
    /// Whose happening it is; nobody's if it concerns everybody.
    pub player: Option<Seat>,
    pub log: &'a [Logged<E>],
}

/// Where an event belongs.
pub(super) enum Whose {
    /// To what happens already.
    Same,
    /// To this player, or to everybody.
    Of(Option<Seat>),
    /// It begins a happening, whoever was there before.
    Begins(Seat),
}

type Sort<E> = fn(&E) -> Whose;

fn sort<G: Listed>() -> Sort<G::Event> {
    let own: Option<Sort<G::Event>> = own_part![
        dice as Sort<<zd::Table as Game>::Event>,
        tokyo as Sort<<Tokyo as Game>::Event>,
        infection as Sort<<Infection as Game>::Event>,
    ];
    own.unwrap_or(|_| Whose::Same)
}

fn dice(event: &zd::Event) -> Whose {
    match event {
        zd::Event::Rolled { seat, .. } | zd::Event::TurnEnded { seat, .. } => Whose::Of(Some(*seat)),
        zd::Event::TiebreakStarted { .. } => Whose::Same,
    }
}

fn tokyo(event: &tokyo::Event) -> Whose {
    use tokyo::Event::*;
    match event {
        TurnStarted { seat, .. } => Whose::Begins(*seat),
        Hit { by: seat, .. }
        | Rolled { seat, .. }
        | Scored { seat, .. }
        | Decided { seat, .. }
        | Healed { seat, .. }
        | Entered { seat, .. } => Whose::Of(Some(*seat)),
    }
}

/// The end of a turn concerns everybody.
fn infection(event: &infection::Event) -> Whose {
    use infection::Event::*;
    match event {
        MetNobody { .. } | Turned { .. } | Announced { .. } => Whose::Of(None),
        _ => Whose::Same,
    }
}

/// The happenings of a step, at least one; the first is of whoever decided. In the set-up it is of whoever comes first.
fn cut<E>(log: &[Logged<E>], mover: Option<Seat>, sort: Sort<E>) -> Vec<Part<'_, E>> {
    let mut parts = vec![Part { player: mover, log: &log[..0] }];
    let mut start = 0;
    for (at, Logged { event, .. }) in log.iter().enumerate() {
        let Some(last) = parts.last_mut() else { break };
        let next = match sort(event) {
            Whose::Same => None,
            Whose::Of(player) => Some(player).filter(|player| *player != last.player),
            Whose::Begins(player) => Some(Some(player)),
        };
        match next {
            Some(player) if at == 0 && mover.is_none() => *last = Part { player, log: &log[..=at] },
            Some(player) => {
                start = at;
                parts.push(Part { player, log: &log[at..=at] });
            }
            None => last.log = &log[start..=at],
        }
    }
    parts
}

/// Plays a match; `watch` is given the happenings of each step.
pub(super) fn follow<G: Listed>(
    replay: &Replay<G>,
    mut watch: impl FnMut(&Moment<G>, &[Part<G::Event>]) -> Result<(), ReplayError>,
) -> Result<(), ReplayError> {
    let sort = sort::<G>();
    let mut mover = None;
    replay.follow(|moment| {
        let parts = cut(moment.log, mover, sort);
        mover = moment.game.to_act().first().copied();
        watch(&moment, &parts)
    })
}
